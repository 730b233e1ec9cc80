//! The engine with features in lanes: one structure at a time, inference only.
//!
//! Tensors are rows of f32, `[tuple][columns]`. Pairs lie in twos, (a, b) and (b, a), see
//! [`Index`]. Which operations a structure goes through depends on the network and on the
//! structure alone, so its value does too.

mod classes;
mod index;
mod triples;

use crate::buffer::Buffer;
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::map::{Map, Run, Start};
use crate::kernels::rows::{ReduceRows, RowMap};
use crate::plan::{BLOCK, ComposePlan, MapPlan, Plan};
use crate::prepared::{ComposeWeights, MapWeights};
use crate::simd::Simd;
use crate::structure::Structure;
use classes::Classes;
use index::Index;
use std::collections::BTreeMap;
use std::ptr::null;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct FeatureEngine {
    /// Recompute triples always, for tests.
    always_recompute: bool,
    indices: BTreeMap<(usize, bool), Arc<Index>>,
    own: [Buffer; 3],
    red: [Buffer; 3],
    /// Pre-activations `[tuple][Q']` that only reduce reads.
    pure: Buffer,
    /// `[tuple of n - 1][n Q']`, of the compose operation at work.
    expanded: Buffer,
    /// What pairs contribute to triples, one a layer: `[row][3][Q']`.
    pairs: Vec<Buffer>,
    classes: Classes,
    /// The class of each orbit in the first layer.
    orbit_classes: Vec<u32>,
    coefficients: Buffer,
    /// Coefficients of the input, where those of layers are not stored.
    inputs: Buffer,
}

/// What one run needs.
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) weights: &'a [Vec<ComposeWeights>],
    /// Tells these weights from all others.
    pub(crate) generation: u64,
    pub(crate) simd: Simd,
    pub(crate) structure: &'a Structure,
}

fn run(x: &Buffer, stride: usize, map: &MapPlan, weights: &MapWeights) -> Run {
    Run {
        x: x.as_ptr().wrapping_add(map.columns.start),
        stride,
        columns: map.columns.len(),
        weights: weights.rows.as_ptr(),
        tile_stride: weights.rows.len() / map.outputs * BLOCK,
    }
}

impl FeatureEngine {
    pub(crate) fn bytes(&self) -> usize {
        let several = self.own.iter().chain(&self.red).chain(&self.pairs);
        let singles = [&self.pure, &self.expanded, &self.coefficients, &self.inputs];
        several.map(Buffer::bytes).sum::<usize>()
            + singles.into_iter().map(Buffer::bytes).sum::<usize>()
            + self.orbit_classes.capacity() * 4
            + self.classes.bytes()
    }

    fn index(&mut self, objects: usize, distinct: bool) -> Arc<Index> {
        // Tables of large object counts are rarely shared; bound what is kept.
        if self.indices.len() > 64 {
            self.indices.clear();
        }
        self.indices
            .entry((objects, distinct))
            .or_insert_with(|| Arc::new(Index::new(objects, distinct)))
            .clone()
    }

    /// The value of one structure.
    pub(crate) fn forward(&mut self, job: &Job<'_>) -> f32 {
        let plan = job.plan;
        let index = self.index(job.structure.objects(), plan.distinct);
        self.reserve(plan, &index);
        self.load(job, &index);
        let finite = plan.max_arity == 3 && self.classify(job, &index);
        if plan.max_arity == 3 {
            self.load_triples(job, &index, finite);
        }
        for (layer, composes) in plan.layers.iter().enumerate() {
            for (n, compose) in composes.iter().enumerate() {
                let weights = &job.weights[layer][n];
                if n == 3 {
                    self.triples(job, &index, layer, finite);
                } else {
                    self.compose(job, &index, n, compose, weights);
                }
            }
        }
        self.pure.at(0)
    }

    fn reserve(&mut self, plan: &Plan, index: &Index) {
        let top = plan.max_arity.min(2);
        for n in 0..=top {
            let rows = index.tables[n].live.len();
            self.own[n].reserve(rows * plan.own_columns[n]);
            self.red[n].reserve(rows * plan.red_columns[n]);
        }
        self.pure
            .reserve(index.tables[top].live.len() * plan.features + plan.features);
        self.expanded.reserve(2 * index.objects * plan.features);
    }

    /// Writes the true propositions up to arity 2, and what reduce makes of them.
    fn load(&mut self, job: &Job<'_>, index: &Index) {
        let plan = job.plan;
        let top = plan.max_arity.min(2);
        for n in 0..=top {
            let (own, red) = (plan.own_columns[n], plan.red_columns[n]);
            let (inputs, reduced) = (plan.inputs(n), plan.inputs(n + 1) * plan.quantifiers);
            for row in 0..index.tables[n].live.len() {
                self.own[n].fill(row * own, inputs, 0.0);
                self.red[n].fill(row * red, reduced, 0.0);
            }
        }
        for (c, _) in job.structure.propositions(0) {
            self.own[0].set(c, 1.0);
        }
        for n in 1..=top {
            let (own, red) = (plan.own_columns[n], plan.red_columns[n - 1]);
            let inputs = plan.inputs(n);
            for (c, x) in job.structure.propositions(n) {
                let (target, row) = match *x {
                    [x] => (0, usize::from(x)),
                    [x, y] if plan.distinct && x == y => continue,
                    [x, y] => (usize::from(x), index.row(usize::from(x), usize::from(y))),
                    _ => unreachable!("pairs at most"),
                };
                if self.own[n].at(row * own + c) != 0.0 {
                    continue;
                }
                self.own[n].set(row * own + c, 1.0);
                if n == 2 && x[0] == x[1] {
                    self.own[n].set((row + 1) * own + c, 1.0);
                }
                self.red[n - 1].set(target * red + c, 1.0);
                if plan.quantifiers == 2 {
                    self.red[n - 1].add(target * red + inputs + c, 1.0);
                }
            }
            if plan.quantifiers == 2 {
                // From how many hold to whether all do.
                let all = index.members(n).len() / index.tables[n - 1].live.len();
                for target in 0..index.tables[n - 1].live.len() {
                    for i in target * red + inputs..target * red + 2 * inputs {
                        let holds = self.red[n - 1].at(i) == all as f32;
                        self.red[n - 1].set(i, f32::from(u8::from(holds)));
                    }
                }
            }
        }
    }

    /// What a compose operation takes from the arity below, into `to`.
    fn expand(
        &mut self,
        job: &Job<'_>,
        index: &Index,
        map: &MapPlan,
        weights: &ComposeWeights,
        to: *mut f32,
    ) {
        let n = map.arity;
        let table = &index.tables[n];
        let runs = [run(
            &self.own[n],
            job.plan.own_columns[n],
            map,
            &weights.expand,
        )];
        dispatch(
            job.simd,
            &RowMap(Map {
                live: &table.live,
                permuted: &table.permuted,
                without: &[],
                arity: n,
                start: weights.expand_start(),
                runs: &runs,
                y: to,
                y_stride: map.outputs,
                outputs: map.outputs,
                activate: false,
            }),
        );
    }

    fn compose(
        &mut self,
        job: &Job<'_>,
        index: &Index,
        n: usize,
        compose: &ComposePlan,
        weights: &ComposeWeights,
    ) {
        let plan = job.plan;
        if let Some(map) = &compose.expand {
            let to = self.expanded.as_mut_ptr();
            self.expand(job, index, map, weights, to);
        }
        let table = &index.tables[n];
        let features = weights.bias.len();
        let mut runs = Vec::with_capacity(2);
        if let Some(map) = &compose.own {
            runs.push(run(&self.own[n], plan.own_columns[n], map, &weights.own));
        }
        if let Some(map) = &compose.red {
            runs.push(run(&self.red[n], plan.red_columns[n], map, &weights.red));
        }
        let (y, y_stride) = match compose.column {
            Some(column) => (
                self.own[n].as_mut_ptr().wrapping_add(column),
                plan.own_columns[n],
            ),
            None => (self.pure.as_mut_ptr(), features),
        };
        dispatch(
            job.simd,
            &RowMap(Map {
                live: &table.live,
                permuted: &table.permuted,
                without: &table.without,
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
            }),
        );
        let Some(column) = compose.red_column else {
            return;
        };
        dispatch(
            job.simd,
            &ReduceRows {
                members: index.members(n),
                targets: index.tables[n - 1].live.len(),
                x: y,
                x_stride: y_stride,
                features,
                both: plan.quantifiers == 2,
                activate: compose.column.is_none(),
                red: self.red[n - 1].as_mut_ptr().wrapping_add(column),
                red_stride: plan.red_columns[n - 1],
            },
        );
    }
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
                    layers: 7,
                    quantifiers: Quantifiers::ExistsForall,
                    distinct,
                    ..NlmConfig::default()
                })
                .unwrap();
                let prepared = nlm.prepare(&nlm.init(3), Simd::best());
                for objects in [1, 2, 3, 9, 19] {
                    let structure = star(objects, arity);
                    let job = prepared.job(&structure);
                    let mut stores = FeatureEngine::default();
                    let mut recomputes = FeatureEngine {
                        always_recompute: true,
                        ..FeatureEngine::default()
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
        let mut engine = FeatureEngine::default();
        assert!(engine.forward(&prepared.job(&structure)).is_finite());
        assert!(engine.bytes() < 1 << 30, "{} bytes", engine.bytes());
    }
}
