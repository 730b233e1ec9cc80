//! The states-in-lanes engine: one group of structures, a lane each, forward
//! and backward.
//!
//! Every lane goes through the same operations in the same order, so the value of
//! a structure does not depend on its neighbours or on the width of the group.

use crate::buffer::Buffer;
use crate::kernels::map::{ComposeGradient, Map, MapGradient, Run, Start};
use crate::kernels::orbit::{SIX, orbit_count};
use crate::kernels::reduce::{ActivationGradient, NullaryGradient, Reduce};
use crate::kernels::vector::{self, Kernel};
use crate::params::factorial;
use crate::plan::{ComposePlan, MapPlan, NONE, Plan, TILE};
use crate::prepared::{ComposeWeights, MapWeights};
use crate::simd::Simd;
use crate::structure::Structure;
use crate::tuples::Tuples;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tensors of one group; kept between groups to save allocations.
#[derive(Default)]
pub(crate) struct Engine {
    tables: BTreeMap<(usize, usize, bool), Arc<Tuples>>,
    /// `own[n]`: `[O^n][own columns][lanes]`; where triples are handled by
    /// orbits, `own[3]` is `[orbit][own columns][6][lanes]`, coefficients.
    pub(crate) own: Vec<Buffer>,
    /// `red[n]`: `[O^n][red columns][lanes]`.
    pub(crate) red: Vec<Buffer>,
    /// `pure[n]`: pre-activations `[O^n][Q'][lanes]` that only reduce reads.
    pub(crate) pure: Vec<Buffer>,
    /// `[O^(n-1)][n Q'][lanes]`, of the compose operation at work.
    pub(crate) expanded: Buffer,
    pub(crate) d_own: Vec<Buffer>,
    pub(crate) d_red: Vec<Buffer>,
    pub(crate) d_pre: Buffer,
    pub(crate) d_expanded: Buffer,
    /// Triples by orbits: the slots of `own[3]`, `[orbit][own columns][6][lanes]`.
    pub(crate) slots: Buffer,
    /// Extrema of pre-activations, `[O^2][Q' * quantifiers][lanes]`.
    pub(crate) best: Buffer,
    /// Ties, then shares, of a reduction: the same shape.
    pub(crate) shares: Buffer,
}

/// One group: at most `lanes` structures of one object count.
pub(crate) struct Group<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) weights: &'a [Vec<ComposeWeights>],
    pub(crate) simd: Simd,
    pub(crate) objects: usize,
    pub(crate) structures: &'a [&'a Structure],
}

pub(crate) fn dispatch<K: Kernel>(simd: Simd, kernel: &K) {
    // SAFETY: a `Simd` in a group was checked to be supported when the weights
    // were prepared; the engine sized every buffer from the plan and filled
    // every index table from the same object count.
    unsafe { vector::run(simd, kernel) }
}

impl Engine {
    pub(crate) fn bytes(&self) -> usize {
        let vectors = [&self.own, &self.red, &self.pure, &self.d_own, &self.d_red];
        let singles = [
            &self.expanded,
            &self.d_pre,
            &self.d_expanded,
            &self.slots,
            &self.best,
            &self.shares,
        ];
        vectors
            .into_iter()
            .flatten()
            .map(Buffer::bytes)
            .sum::<usize>()
            + singles.into_iter().map(Buffer::bytes).sum::<usize>()
    }

    fn tuples(&mut self, objects: usize, arity: usize, distinct: bool) -> Arc<Tuples> {
        // Tables of large object counts are rarely shared; bound what is kept.
        if self.tables.len() > 64 {
            self.tables.clear();
        }
        self.tables
            .entry((objects, arity, distinct))
            .or_insert_with(|| Arc::new(Tuples::new(objects, arity, distinct)))
            .clone()
    }

    fn all_tuples(&mut self, group: &Group<'_>) -> Vec<Arc<Tuples>> {
        (0..=group.plan.table_arity())
            .map(|n| self.tuples(group.objects, n, group.plan.distinct))
            .collect()
    }

    /// Makes room for every tensor of the forward pass.
    fn reserve(&mut self, group: &Group<'_>) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let arities = plan.max_arity + 1;
        for buffers in [&mut self.own, &mut self.red, &mut self.pure] {
            buffers.resize_with(arities.max(buffers.len()), Buffer::default);
        }
        let mut expanded = 0;
        for n in 0..arities {
            let rows = group.objects.pow(n as u32) * lanes;
            if n <= plan.table_arity() {
                self.own[n].reserve(rows * plan.own_columns[n]);
                self.red[n].reserve(rows * plan.red_columns[n]);
                self.pure[n].reserve(rows * plan.features);
            }
            if n + 1 < arities {
                expanded = expanded.max(rows * (n + 1) * plan.features);
            }
        }
        self.expanded.reserve(expanded);
    }

    /// Writes the true propositions, and what reduce makes of them.
    fn load(&mut self, group: &Group<'_>, tuples: &[Arc<Tuples>]) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let objects = group.objects;
        for (n, table) in tuples.iter().enumerate() {
            for row in 0..objects.pow(n as u32) {
                let columns = plan.inputs(n) * lanes;
                self.own[n].fill(row * plan.own_columns[n] * lanes, columns, 0.0);
                let columns = plan.inputs(n + 1) * plan.quantifiers * lanes;
                self.red[n].fill(row * plan.red_columns[n] * lanes, columns, 0.0);
            }
            for (lane, structure) in group.structures.iter().enumerate() {
                for (channel, x) in structure.propositions(n) {
                    let row = x.iter().fold(0, |at, &x| at * objects + usize::from(x));
                    if !table.dead.is_empty() && table.dead[row] {
                        continue;
                    }
                    let at = (row * plan.own_columns[n] + channel) * lanes + lane;
                    if self.own[n].at(at) != 0.0 {
                        continue;
                    }
                    self.own[n].set(at, 1.0);
                    if n > 0 {
                        let red = &mut self.red[n - 1];
                        let row = (row / objects) * plan.red_columns[n - 1];
                        red.set((row + channel) * lanes + lane, 1.0);
                        if plan.quantifiers == 2 {
                            let at = (row + plan.inputs(n) + channel) * lanes + lane;
                            red.set(at, red.at(at) + 1.0);
                        }
                    }
                }
            }
            if n > 0 && plan.quantifiers == 2 {
                // From how many hold to whether all do.
                let channels = plan.inputs(n);
                let all = if plan.distinct {
                    objects.saturating_sub(n - 1)
                } else {
                    objects
                };
                for &t in &tuples[n - 1].live {
                    let at = (t as usize * plan.red_columns[n - 1] + channels) * lanes;
                    for i in at..at + channels * lanes {
                        let holds = self.red[n - 1].at(i) == all as f32;
                        self.red[n - 1].set(i, f32::from(u8::from(holds)));
                    }
                }
            }
        }
    }

    /// The value of each structure of the group; `training` keeps what
    /// [`Engine::backward`] reads.
    pub(crate) fn forward(&mut self, group: &Group<'_>, values: &mut [f32], training: bool) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let tuples = self.all_tuples(group);
        self.reserve(group);
        self.load(group, &tuples);
        if plan.orbits() {
            self.load_triples(group, training);
        }
        for (layer, composes) in plan.layers.iter().enumerate() {
            for (n, compose) in composes.iter().enumerate() {
                let weights = &group.weights[layer][n];
                self.expand(group, &tuples, compose, weights);
                if n > plan.table_arity() {
                    self.compose_triples(group, &tuples[2], compose, weights, training);
                } else {
                    self.compose(group, &tuples, n, compose, weights);
                }
            }
        }
        for (lane, value) in values.iter_mut().enumerate() {
            *value = self.pure[0].at(lane);
        }
        debug_assert!(values.len() <= lanes);
    }

    fn own_run(&self, plan: &Plan, map: &MapPlan, weights: &MapWeights, lanes: usize) -> Run {
        Run {
            x: self.own[map.arity]
                .as_ptr()
                .wrapping_add(map.columns.start * lanes),
            stride: plan.own_columns[map.arity] * lanes,
            columns: map.columns.len(),
            weights: weights.forward.as_ptr(),
            tile_stride: weights.forward.len() / map.outputs * TILE,
        }
    }

    fn red_run(&self, plan: &Plan, map: &MapPlan, weights: &MapWeights, lanes: usize) -> Run {
        Run {
            x: self.red[map.arity]
                .as_ptr()
                .wrapping_add(map.columns.start * lanes),
            stride: plan.red_columns[map.arity] * lanes,
            columns: map.columns.len(),
            weights: weights.forward.as_ptr(),
            tile_stride: weights.forward.len() / map.outputs * TILE,
        }
    }

    /// What a compose operation takes from the arity below.
    fn expand(
        &mut self,
        group: &Group<'_>,
        tuples: &[Arc<Tuples>],
        compose: &ComposePlan,
        weights: &ComposeWeights,
    ) {
        let Some(map) = &compose.expand else { return };
        let lanes = group.simd.lanes();
        let table = &tuples[map.arity];
        let runs = [self.own_run(group.plan, map, &weights.expand, lanes)];
        dispatch(
            group.simd,
            &Map {
                live: &table.live,
                permuted: &table.permuted,
                without: &[],
                arity: map.arity,
                start: weights.expand_start(),
                runs: &runs,
                y: self.expanded.as_mut_ptr(),
                y_stride: map.outputs * lanes,
                outputs: map.outputs,
                activate: false,
            },
        );
    }

    fn compose(
        &mut self,
        group: &Group<'_>,
        tuples: &[Arc<Tuples>],
        n: usize,
        compose: &ComposePlan,
        weights: &ComposeWeights,
    ) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let table = &tuples[n];
        let features = weights.bias.len();
        let mut runs = Vec::with_capacity(2);
        if let Some(map) = &compose.own {
            runs.push(self.own_run(plan, map, &weights.own, lanes));
        }
        if let Some(map) = &compose.red {
            runs.push(self.red_run(plan, map, &weights.red, lanes));
        }
        let (y, y_stride) = match compose.column {
            Some(column) => (
                self.own[n].as_mut_ptr().wrapping_add(column * lanes),
                plan.own_columns[n] * lanes,
            ),
            None => (self.pure[n].as_mut_ptr(), features * lanes),
        };
        dispatch(
            group.simd,
            &Map {
                live: &table.live,
                permuted: &table.permuted,
                without: &table.without,
                arity: n,
                start: Start::Compose {
                    bias: weights.bias.as_ptr(),
                    expanded: match &compose.expand {
                        Some(_) => self.expanded.as_ptr(),
                        None => std::ptr::null(),
                    },
                },
                runs: &runs,
                y,
                y_stride,
                outputs: features,
                activate: compose.column.is_some(),
            },
        );
        if let Some(column) = compose.red_column {
            dispatch(
                group.simd,
                &Reduce {
                    live: &tuples[n - 1].live,
                    dead: &table.dead,
                    objects: group.objects,
                    x: y,
                    x_stride: y_stride,
                    features,
                    both: plan.quantifiers == 2,
                    activate: compose.column.is_none(),
                    red: self.red[n - 1].as_mut_ptr().wrapping_add(column * lanes),
                    red_stride: plan.red_columns[n - 1] * lanes,
                },
            );
        }
    }

    /// Adds to `gradient` the gradient of Σ d_values[i] * value(i), after
    /// [`Engine::forward`] on the same group.
    pub(crate) fn backward(&mut self, group: &Group<'_>, d_values: &[f32], gradient: &mut [f32]) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let tuples = self.all_tuples(group);
        let arities = plan.max_arity + 1;
        for buffers in [&mut self.d_own, &mut self.d_red] {
            buffers.resize_with(arities.max(buffers.len()), Buffer::default);
        }
        let mut d_pre = 0;
        for n in 0..arities {
            let rows = if n <= plan.table_arity() {
                group.objects.pow(n as u32) * lanes
            } else {
                orbit_count(group.objects, plan.distinct) * SIX * lanes
            };
            self.d_own[n].zeroed(rows * plan.own_columns[n]);
            self.d_red[n].zeroed(rows * plan.red_columns[n]);
            d_pre = d_pre.max(rows * plan.features);
        }
        self.d_pre.reserve(d_pre);
        for (layer, composes) in plan.layers.iter().enumerate().rev() {
            for (n, compose) in composes.iter().enumerate() {
                let weights = &group.weights[layer][n];
                if n > plan.table_arity() {
                    self.triples_gradient(group, &tuples[2], compose, weights, gradient);
                    self.expand_gradient(group, &tuples, compose, weights, gradient);
                    continue;
                }
                if layer + 1 == plan.layers.len() {
                    self.d_pre.fill(0, weights.bias.len() * lanes, 0.0);
                    for (lane, &d) in d_values.iter().enumerate() {
                        self.d_pre.set(lane, d);
                    }
                } else {
                    self.activation_gradient(group, &tuples, n, compose, weights);
                }
                self.compose_gradient(group, &tuples, n, compose, weights, gradient);
            }
        }
    }

    /// Fills `d_pre` of one compose operation.
    fn activation_gradient(
        &mut self,
        group: &Group<'_>,
        tuples: &[Arc<Tuples>],
        n: usize,
        compose: &ComposePlan,
        weights: &ComposeWeights,
    ) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let features = weights.bias.len();
        let (x, d_own, x_stride) = match compose.column {
            Some(column) => (
                self.own[n].as_ptr().wrapping_add(column * lanes),
                self.d_own[n].as_ptr().wrapping_add(column * lanes),
                plan.own_columns[n] * lanes,
            ),
            None => (self.pure[n].as_ptr(), std::ptr::null(), features * lanes),
        };
        let Some(column) = compose.red_column else {
            dispatch(
                group.simd,
                &NullaryGradient {
                    s: x,
                    d_own,
                    features,
                    d_pre: self.d_pre.as_mut_ptr(),
                },
            );
            return;
        };
        dispatch(
            group.simd,
            &ActivationGradient {
                live: &tuples[n - 1].live,
                dead: &tuples[n].dead,
                objects: group.objects,
                features,
                both: plan.quantifiers == 2,
                x,
                x_stride,
                d_own,
                red: self.red[n - 1].as_ptr().wrapping_add(column * lanes),
                d_red: self.d_red[n - 1].as_ptr().wrapping_add(column * lanes),
                red_stride: plan.red_columns[n - 1] * lanes,
                d_pre: self.d_pre.as_mut_ptr(),
            },
        );
    }

    /// From `d_pre` to the weights and to what the compose operation read.
    fn compose_gradient(
        &mut self,
        group: &Group<'_>,
        tuples: &[Arc<Tuples>],
        n: usize,
        compose: &ComposePlan,
        weights: &ComposeWeights,
        gradient: &mut [f32],
    ) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let outputs = weights.bias.len();
        let mut d_bias = vec![0.0; outputs];
        let d_expanded = match &compose.expand {
            Some(map) => {
                let rows = group.objects.pow(map.arity as u32) * lanes;
                self.d_expanded.zeroed(rows * map.outputs);
                self.d_expanded.as_mut_ptr()
            }
            None => std::ptr::null_mut(),
        };
        dispatch(
            group.simd,
            &ComposeGradient {
                live: &tuples[n].live,
                without: &tuples[n].without,
                arity: n,
                dy: self.d_pre.as_ptr(),
                outputs,
                d_expanded,
                d_bias: d_bias.as_mut_ptr(),
            },
        );
        for (g, d) in gradient[compose.bias.clone()].iter_mut().zip(&d_bias) {
            *g += d;
        }
        let d_pre = self.d_pre.as_ptr();
        if let Some(map) = &compose.own {
            let x = self.own_run(plan, map, &weights.own, lanes);
            let dx = self.d_own[map.arity].as_mut_ptr();
            map_gradient(
                group,
                &tuples[n],
                map,
                &weights.own,
                &x,
                dx,
                d_pre,
                gradient,
            );
        }
        if let Some(map) = &compose.red {
            let x = self.red_run(plan, map, &weights.red, lanes);
            let dx = self.d_red[map.arity].as_mut_ptr();
            map_gradient(
                group,
                &tuples[n],
                map,
                &weights.red,
                &x,
                dx,
                d_pre,
                gradient,
            );
        }
        self.expand_gradient(group, tuples, compose, weights, gradient);
    }

    /// From `d_expanded` to the arity below.
    fn expand_gradient(
        &mut self,
        group: &Group<'_>,
        tuples: &[Arc<Tuples>],
        compose: &ComposePlan,
        weights: &ComposeWeights,
        gradient: &mut [f32],
    ) {
        let lanes = group.simd.lanes();
        if let Some(map) = &compose.expand {
            let x = self.own_run(group.plan, map, &weights.expand, lanes);
            let dx = self.d_own[map.arity].as_mut_ptr();
            let dy = self.d_expanded.as_ptr();
            map_gradient(
                group,
                &tuples[map.arity],
                map,
                &weights.expand,
                &x,
                dx,
                dy,
                gradient,
            );
        }
    }
}

/// The gradients of one map: its weights into `gradient`, its input into `dx`
/// (column 0 of tuple 0 of the whole tensor).
#[allow(clippy::too_many_arguments)]
fn map_gradient(
    group: &Group<'_>,
    table: &Tuples,
    map: &MapPlan,
    weights: &MapWeights,
    x: &Run,
    dx: *mut f32,
    dy: *const f32,
    gradient: &mut [f32],
) {
    let lanes = group.simd.lanes();
    let mut dw = vec![0.0; map.params.len()];
    dispatch(
        group.simd,
        &MapGradient {
            live: &table.live,
            permuted: &table.permuted,
            x: x.x,
            x_stride: x.stride,
            columns: x.columns,
            dy,
            dy_stride: map.outputs * lanes,
            outputs: map.outputs,
            dw: dw.as_mut_ptr(),
        },
    );
    for (&p, d) in map.params.iter().zip(&dw) {
        if p != NONE {
            gradient[p as usize] += d;
        }
    }
    let learned = map.columns.end - map.learned_from;
    if learned > 0 {
        let run = Run {
            x: dy,
            stride: map.outputs * lanes,
            columns: map.outputs,
            weights: weights.transposed.as_ptr(),
            tile_stride: factorial(map.arity) * map.outputs * TILE,
        };
        dispatch(
            group.simd,
            &Map {
                live: &table.live,
                permuted: &table.inverse,
                without: &[],
                arity: map.arity,
                start: Start::Output,
                runs: &[run],
                y: dx.wrapping_add(map.learned_from * lanes),
                y_stride: x.stride,
                outputs: learned,
                activate: false,
            },
        );
    }
}
