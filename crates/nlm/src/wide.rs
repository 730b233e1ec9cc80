//! The objects-in-lanes engine: one structure of many objects, inference only.
//!
//! Tensors of arity n have the last object in lanes: `own[0]` is
//! `[columns][lanes]` with equal lanes, `own[1]` is `[block][columns][lanes]`,
//! `own[2]` is `[x][block of y][columns][lanes]`, and a transposed copy of it holds
//! (y, x) at (x, y). The kernels perform the operations of the states-in-lanes
//! engine in the same order, so both give the same bits, and which one runs is
//! a matter of speed alone.

mod triples;

use crate::buffer::Buffer;
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::map::{Map, Run, Start};
use crate::kernels::orbit::SIX;
use crate::kernels::triples::{EndReduction, Orbits};
use crate::kernels::vector::HALF;
use crate::kernels::windows::{ReduceLanes, penalties, window_starts};
use crate::plan::{ComposePlan, MapPlan, Plan, TILE};
use crate::prepared::{ComposeWeights, MapWeights};
use crate::simd::Simd;
use crate::structure::Structure;
use std::ptr::null;

const LANES: usize = HALF;

/// Coefficients of triples are stored up to this many bytes; beyond, every layer
/// recomputes those of the layers before it.
const STORED_BYTES: usize = 192 << 20;

#[derive(Default)]
pub(crate) struct WideEngine {
    /// Recompute always, for tests.
    always_recompute: bool,
    objects: usize,
    distinct: bool,
    /// 0, 1, 2, ...
    rows: Vec<u32>,
    /// For pairs: the row of y and the row of x among the expanded.
    without: Vec<u32>,
    zeros: Vec<u32>,
    windows: usize,
    window_of: Vec<usize>,
    penalties: Vec<f32>,
    own: [Buffer; 3],
    red: [Buffer; 3],
    own_t: Buffer,
    red_t: Buffer,
    pure: Buffer,
    expanded: Buffer,
    /// One a layer: `[x][6][features][width]`.
    pairs: Vec<Buffer>,
    red_pairs: Buffer,
    coefficients: Buffer,
    inputs: Buffer,
    scratch: Buffer,
}

/// What one run needs.
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) weights: &'a [Vec<ComposeWeights>],
    pub(crate) simd: Simd,
    pub(crate) structure: &'a Structure,
}

/// The weights of one permuted copy of a map.
fn run(x: &Buffer, stride: usize, map: &MapPlan, weights: &MapWeights, copy: usize) -> Run {
    let columns = map.columns.len();
    Run {
        x: x.as_ptr().wrapping_add(map.columns.start * LANES),
        stride: stride * LANES,
        columns,
        weights: weights.forward.as_ptr().wrapping_add(copy * columns * TILE),
        tile_stride: weights.forward.len() / map.outputs * TILE,
    }
}

impl WideEngine {
    pub(crate) fn bytes(&self) -> usize {
        let several = self.own.iter().chain(&self.red).chain(&self.pairs);
        let singles = [
            &self.own_t,
            &self.red_t,
            &self.pure,
            &self.expanded,
            &self.red_pairs,
            &self.coefficients,
            &self.inputs,
            &self.scratch,
        ];
        several.map(Buffer::bytes).sum::<usize>()
            + singles.into_iter().map(Buffer::bytes).sum::<usize>()
    }

    fn blocks(&self) -> usize {
        self.objects.div_ceil(LANES)
    }

    fn width(&self) -> usize {
        (self.blocks() + 1) * LANES
    }

    fn rows_at(&self, arity: usize) -> usize {
        match arity {
            0 => 1,
            1 => self.blocks(),
            _ => self.objects * self.blocks(),
        }
    }

    fn orbits(&self) -> Orbits {
        Orbits {
            objects: self.objects,
            distinct: self.distinct,
        }
    }

    fn prepare(&mut self, job: &Job<'_>) {
        let plan = job.plan;
        let objects = job.structure.objects();
        if self.objects != objects || self.distinct != plan.distinct {
            self.objects = objects;
            self.distinct = plan.distinct;
            let blocks = self.blocks();
            let rows = objects * blocks;
            self.rows = (0..rows as u32).collect();
            self.zeros = vec![0; rows];
            self.without = (0..rows).map(|r| (r % blocks) as u32).collect();
            self.without
                .extend((0..rows).map(|r| (blocks + r / blocks) as u32));
            (self.windows, self.window_of) = window_starts(self.orbits(), LANES);
            self.penalties = penalties(LANES);
        }
        for n in 0..=plan.max_arity.min(2) {
            let rows = self.rows_at(n) * LANES;
            self.own[n].reserve(rows * plan.own_columns[n]);
            self.red[n].reserve(rows * plan.red_columns[n]);
        }
        let top = self.rows_at(plan.max_arity.min(2)) * LANES;
        self.pure.reserve(top * plan.features);
        let expanded = if plan.max_arity == 3 { 3 * top } else { top };
        let with_splats = 2 * (self.blocks() + objects) * LANES;
        self.expanded
            .reserve(expanded.max(with_splats) * plan.features);
        if plan.max_arity >= 2 {
            self.own_t.reserve(top * plan.own_columns[2]);
            self.red_t.reserve(top * plan.red_columns[2]);
        }
        self.scratch.reserve(
            (4 * plan.features).max(self.blocks()) * LANES
                + plan.own_columns.get(3).map_or(0, |c| c * SIX * LANES),
        );
    }

    /// Whether the coefficients of every window are kept.
    fn stored(&self, plan: &Plan) -> bool {
        let columns = plan.own_columns.get(3).copied().unwrap_or(0);
        !self.always_recompute && self.windows * columns * SIX * LANES * 4 <= STORED_BYTES
    }

    /// The value of one structure.
    pub(crate) fn forward(&mut self, job: &Job<'_>) -> f32 {
        self.prepare(job);
        self.load(job);
        if job.plan.max_arity == 3 {
            self.load_triples(job);
        }
        for (layer, composes) in job.plan.layers.iter().enumerate() {
            for (n, compose) in composes.iter().enumerate() {
                let weights = &job.weights[layer][n];
                self.expand(job, compose, weights);
                if n == 3 {
                    self.triples(job, layer);
                } else {
                    self.compose(job, n, compose, weights);
                }
            }
        }
        self.pure.at(0)
    }

    /// Writes the true propositions up to arity 2, and what reduce makes of them.
    fn load(&mut self, job: &Job<'_>) {
        let plan = job.plan;
        let blocks = self.blocks();
        let top = plan.max_arity.min(2);
        for n in 0..=top {
            for row in 0..self.rows_at(n) {
                let columns = plan.own_columns[n] * LANES;
                self.own[n].fill(row * columns, plan.inputs(n) * LANES, 0.0);
                if n == 2 {
                    self.own_t.fill(row * columns, plan.inputs(n) * LANES, 0.0);
                }
                let columns = plan.red_columns[n] * LANES;
                let inputs = plan.inputs(n + 1) * plan.quantifiers * LANES;
                self.red[n].fill(row * columns, inputs, 0.0);
                if n == 2 {
                    self.red_t.fill(row * columns, inputs, 0.0);
                }
            }
        }
        let at = |x: usize, columns: usize, c: usize| (x / LANES * columns + c) * LANES + x % LANES;
        for (c, _) in job.structure.propositions(0) {
            self.own[0].fill(c * LANES, LANES, 1.0);
        }
        for (c, x) in job.structure.propositions(1) {
            let i = at(usize::from(x[0]), plan.own_columns[1], c);
            if self.own[1].at(i) == 0.0 {
                self.own[1].set(i, 1.0);
                self.red[0].fill(c * LANES, LANES, 1.0);
                if plan.quantifiers == 2 {
                    self.red[0].add((plan.inputs(1) + c) * LANES, 1.0);
                }
            }
        }
        if plan.quantifiers == 2 {
            for c in plan.inputs(1)..2 * plan.inputs(1) {
                let holds = self.red[0].at(c * LANES) == self.objects as f32;
                self.red[0].fill(c * LANES, LANES, f32::from(u8::from(holds)));
            }
        }
        for (c, x) in job.structure.propositions(2) {
            let (x, y) = (usize::from(x[0]), usize::from(x[1]));
            if plan.distinct && x == y {
                continue;
            }
            let columns = plan.own_columns[2];
            let i = x * blocks * columns * LANES + at(y, columns, c);
            if self.own[2].at(i) == 0.0 {
                self.own[2].set(i, 1.0);
                let i = y * blocks * columns * LANES + at(x, columns, c);
                self.own_t.set(i, 1.0);
                let columns = plan.red_columns[1];
                self.red[1].set(at(x, columns, c), 1.0);
                if plan.quantifiers == 2 {
                    self.red[1].add(at(x, columns, plan.inputs(2) + c), 1.0);
                }
            }
        }
        if plan.quantifiers == 2 && top >= 1 {
            let all = self.objects - usize::from(plan.distinct);
            for x in 0..self.objects {
                for c in plan.inputs(2)..2 * plan.inputs(2) {
                    let i = at(x, plan.red_columns[1], c);
                    let holds = self.red[1].at(i) == all as f32;
                    self.red[1].set(i, f32::from(u8::from(holds)));
                }
            }
        }
    }

    fn expand(&mut self, job: &Job<'_>, compose: &ComposePlan, weights: &ComposeWeights) {
        let Some(map) = &compose.expand else { return };
        let n = map.arity;
        let stride = job.plan.own_columns[n];
        let mut runs = vec![run(&self.own[n], stride, map, &weights.expand, 0)];
        if n == 2 {
            runs.push(run(&self.own_t, stride, map, &weights.expand, 1));
        }
        let rows = self.rows_at(n);
        dispatch(
            job.simd,
            &Map {
                live: &self.rows[..rows],
                permuted: &self.rows[..rows],
                without: &[],
                arity: n,
                start: weights.expand_start(),
                runs: &runs,
                y: self.expanded.as_mut_ptr(),
                y_stride: map.outputs * LANES,
                outputs: map.outputs,
                activate: false,
            },
        );
        if n == 1 {
            // The part of x is one number for all y: spread it over the lanes.
            let blocks = self.blocks();
            let features = map.outputs / 2;
            let expanded = self.expanded.as_mut_slice();
            for x in 0..self.objects {
                for q in features..2 * features {
                    let from = (x / LANES * map.outputs + q) * LANES + x % LANES;
                    let to = ((blocks + x) * map.outputs + q) * LANES;
                    let v = expanded[from];
                    expanded[to..to + LANES].fill(v);
                }
            }
        }
    }

    fn compose(
        &mut self,
        job: &Job<'_>,
        n: usize,
        compose: &ComposePlan,
        weights: &ComposeWeights,
    ) {
        let plan = job.plan;
        let features = weights.bias.len();
        let rows = self.rows_at(n);
        let (own_stride, red_stride) = (plan.own_columns[n], plan.red_columns[n]);
        let mut runs = Vec::with_capacity(4);
        if let Some(map) = &compose.own {
            runs.push(run(&self.own[n], own_stride, map, &weights.own, 0));
            if n == 2 {
                runs.push(run(&self.own_t, own_stride, map, &weights.own, 1));
            }
        }
        if let Some(map) = &compose.red {
            runs.push(run(&self.red[n], red_stride, map, &weights.red, 0));
            if n == 2 {
                runs.push(run(&self.red_t, red_stride, map, &weights.red, 1));
            }
        }
        let (y, y_stride) = match compose.column {
            Some(column) => (
                self.own[n].as_mut_ptr().wrapping_add(column * LANES),
                own_stride * LANES,
            ),
            None => (self.pure.as_mut_ptr(), features * LANES),
        };
        dispatch(
            job.simd,
            &Map {
                live: &self.rows[..rows],
                permuted: &self.rows[..rows],
                without: if n == 2 {
                    &self.without
                } else {
                    &self.zeros[..rows]
                },
                arity: n,
                start: Start::Compose {
                    bias: weights.bias.as_ptr(),
                    expanded: match &compose.expand {
                        Some(_) => self.expanded.as_ptr(),
                        None => null(),
                    },
                },
                runs: &runs,
                y,
                y_stride,
                outputs: features,
                activate: compose.column.is_some(),
            },
        );
        if n == 2
            && let Some(column) = compose.column
        {
            self.transpose(plan, column, features);
        }
        let Some(column) = compose.red_column else {
            return;
        };
        let both = plan.quantifiers == 2;
        let red_stride = plan.red_columns[n - 1] * LANES;
        let red = self.red[n - 1].as_mut_ptr().wrapping_add(column * LANES);
        dispatch(
            job.simd,
            &ReduceLanes {
                rows: if n == 2 { self.objects } else { 1 },
                objects: self.objects,
                distinct: plan.distinct,
                x: y,
                x_stride: y_stride,
                features,
                both,
                red,
                red_stride,
                penalties: self.scratch.as_mut_ptr(),
            },
        );
        dispatch(
            job.simd,
            &EndReduction {
                live: &self.rows[..self.rows_at(n - 1)],
                empty: plan.distinct && self.objects < n,
                activate: compose.column.is_none(),
                features,
                both,
                red,
                red_stride,
                best: std::ptr::null_mut(),
            },
        );
    }

    /// Copies columns of `own[2]` to the transposed tensor.
    fn transpose(&mut self, plan: &Plan, column: usize, features: usize) {
        let blocks = self.blocks();
        let columns = plan.own_columns[2];
        let from = self.own[2].as_slice();
        let to = self.own_t.as_mut_slice();
        // Square by square of lanes, so that both sides stay in cache.
        for x_block in 0..blocks {
            for y_block in 0..blocks {
                for q in 0..features {
                    for x in lanes_of(x_block, self.objects) {
                        let row = (x * blocks + y_block) * columns + column + q;
                        let source = &from[row * LANES..][..LANES];
                        for y in lanes_of(y_block, self.objects) {
                            let row = (y * blocks + x_block) * columns + column + q;
                            to[row * LANES + x % LANES] = source[y % LANES];
                        }
                    }
                }
            }
        }
    }
}

/// The objects in the lanes of a block.
fn lanes_of(block: usize, objects: usize) -> std::ops::Range<usize> {
    block * LANES..((block + 1) * LANES).min(objects)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Nlm, NlmConfig, Quantifiers};

    fn star(objects: usize, arity: usize) -> Structure {
        let mut s = Structure::new(objects);
        for x in 0..objects {
            s.insert(0, &[x, (x * x + 1) % objects]);
            if arity == 3 {
                s.insert(0, &[x, (x * 7) % objects, (x + 3) % objects]);
            }
        }
        s
    }

    #[test]
    fn recomputing_triples_changes_no_bit() {
        for distinct in [false, true] {
            for channels in [vec![0, 0, 1], vec![0, 0, 1, 1]] {
                let arity = channels.len() - 1;
                let nlm = Nlm::new(NlmConfig {
                    input_channels: channels,
                    quantifiers: Quantifiers::ExistsForall,
                    distinct,
                    ..NlmConfig::default()
                })
                .unwrap();
                let prepared = nlm.prepare(&nlm.init(3), Simd::best());
                for objects in [1, 2, 3, 9, 19] {
                    let structure = star(objects, arity);
                    let job = prepared.job(&structure);
                    let mut stores = WideEngine::default();
                    let mut recomputes = WideEngine {
                        always_recompute: true,
                        ..WideEngine::default()
                    };
                    let (a, b) = (stores.forward(&job), recomputes.forward(&job));
                    assert_eq!(a.to_bits(), b.to_bits());
                }
            }
        }
    }

    #[test]
    fn two_hundred_and_fifty_objects_stay_under_a_gibibyte() {
        let nlm = Nlm::new(NlmConfig {
            input_channels: vec![2, 6, 2],
            quantifiers: Quantifiers::ExistsForall,
            ..NlmConfig::default()
        })
        .unwrap();
        let prepared = nlm.prepare(&nlm.init(3), Simd::best());
        let structure = star(250, 2);
        let mut engine = WideEngine::default();
        assert!(engine.forward(&prepared.job(&structure)).is_finite());
        assert!(engine.bytes() < 1 << 30, "{} bytes", engine.bytes());
    }
}
