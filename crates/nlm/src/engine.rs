//! The states-in-lanes engine: one group of structures, a lane each, forward
//! and backward.
//!
//! Every lane goes through the same operations in the same order, so the value of
//! a structure does not depend on its neighbours or on the width of the group.

mod backward;
mod triples;
mod weights;

pub(crate) use triples::{orbit_index, slots_of, ternary};
pub(crate) use weights::{ComposeWeights, prepare};

use crate::buffer::Buffer;
use crate::kernels::dispatch;
use crate::kernels::map::{Map, Run, Start};
use crate::kernels::reduce::Reduce;
use crate::plan::{ComposePlan, MapPlan, Plan, TILE};
use crate::simd::Simd;
use crate::structure::Structure;
use crate::tuples::Tuples;
use std::collections::BTreeMap;
use std::sync::Arc;
use weights::MapWeights;

/// The tensors of one group; kept between groups to save allocations.
#[derive(Default)]
pub(crate) struct Engine {
    tables: BTreeMap<(usize, usize, bool), Arc<Tuples>>,
    /// `own[n]`: `[O^n][own columns][lanes]`; where triples are handled by
    /// orbits, `own[3]` is `[orbit][own columns][6][lanes]`, coefficients.
    own: Vec<Buffer>,
    /// `red[n]`: `[O^n][red columns][lanes]`.
    red: Vec<Buffer>,
    /// `pure[n]`: pre-activations `[O^n][Q'][lanes]` that only reduce reads.
    pure: Vec<Buffer>,
    /// `[O^(n-1)][n Q'][lanes]`, of the compose operation at work.
    expanded: Buffer,
    d_own: Vec<Buffer>,
    d_red: Vec<Buffer>,
    d_pre: Buffer,
    d_expanded: Buffer,
    /// Triples by orbits: the slots of `own[3]`, `[orbit][own columns][6][lanes]`.
    slots: Buffer,
    /// Extrema of pre-activations, `[O^2][Q' * quantifiers][lanes]`.
    best: Buffer,
    /// Ties, then shares, of a reduction: the same shape.
    shares: Buffer,
}

/// One group: at most `lanes` structures of one object count.
pub(crate) struct Group<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) weights: &'a [Vec<ComposeWeights>],
    pub(crate) simd: Simd,
    pub(crate) objects: usize,
    pub(crate) structures: &'a [&'a Structure],
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
}
