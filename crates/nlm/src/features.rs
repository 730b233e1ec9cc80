//! The engine with features in lanes, inference only.
//!
//! Tensors are rows of f32, `[tuple][columns]`, those of a few structures of one object count one after
//! the other, so that maps over few rows fill the processor. Pairs lie in twos, (a, b) and (b, a), see
//! [`Index`], and what maps read of them are sums and differences, see [`PairMap`]. Which operations a structure goes through depends on the network and on the
//! structure alone, so its value does too.

mod classes;
mod load;
mod pair_classes;
mod patterns;
mod sparse;
mod triples;

use crate::buffer::Buffer;
use crate::index::Index;
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::rows::{PairMap, ReduceRows, RowMap, RowRun, Starts};
use crate::object_order::ObjectOrder;
use crate::plan::{BLOCK, ComposePlan, MapPlan, Plan};
use crate::prepared::{ComposeWeights, MapWeights};
use crate::simd::Simd;
use crate::structure::Structure;
use classes::{Classes, Finite};
use pair_classes::{PairClasses, Reader};
use patterns::Patterns;
use sparse::Sparse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// How many structures of so many objects are worked on at once: few enough for what belongs to their pairs to stay in the
/// nearest caches.
fn group_of(objects: usize) -> usize {
    const PAIRS: usize = 384;
    const MOST: usize = 16;
    (PAIRS / (objects * (objects + 1) / 2)).clamp(1, MOST)
}

#[derive(Default)]
pub(crate) struct FeatureEngine {
    /// Recompute triples always, for tests.
    always_recompute: bool,
    /// Take kinds of pairs for patterns always, for tests.
    never_typed: bool,
    indices: BTreeMap<(usize, bool), Arc<Index>>,
    /// How many structures are at work, and which of them code that takes them one by one is at.
    count: usize,
    at: usize,
    own: [Buffer; 3],
    red: [Buffer; 3],
    /// What reduce reads, of the compose operation at work: `[tuple][Q']`.
    raw: Buffer,
    /// Extrema of triples: `[row][Q' for each quantifier]`.
    best: Buffer,
    /// `[tuple of n - 1][n Q']`, of the compose operation at work.
    expanded: Buffer,
    /// What pairs contribute to triples, one a layer: `[row][3][Q']`.
    pairs: Vec<Buffer>,
    names: ObjectOrder,
    patterns: Patterns,
    /// Classes of orbits by the classes of their pairs, and by their patterns.
    typed: Classes,
    untyped: Classes,
    pair_classes: PairClasses,
    sparse: Sparse,
    /// See [`Far`](crate::kernels::sparse::Far): both factors, then the product.
    far: Buffer,
    /// The class of each orbit.
    orbit_classes: Vec<u32>,
    coefficients: Buffer,
    /// Coefficients of the input, where those of layers are not stored.
    inputs: Buffer,
}

/// What one run needs.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) weights: &'a [Vec<ComposeWeights>],
    /// Tells these weights from all others.
    pub(crate) generation: u64,
    pub(crate) simd: Simd,
    pub(crate) structure: &'a Structure,
}

fn run(x: &Buffer, stride: usize, map: &MapPlan, weights: &MapWeights) -> RowRun {
    RowRun {
        x: x.as_ptr().wrapping_add(map.columns.start),
        stride,
        columns: map.columns.len(),
        weights: weights.rows.as_ptr(),
        width: map.columns.len(),
    }
}

impl FeatureEngine {
    pub(crate) fn bytes(&self) -> usize {
        let several = self.own.iter().chain(&self.red).chain(&self.pairs);
        let singles = [
            &self.raw,
            &self.best,
            &self.far,
            &self.expanded,
            &self.coefficients,
            &self.inputs,
        ];
        several.map(Buffer::bytes).sum::<usize>()
            + singles.into_iter().map(Buffer::bytes).sum::<usize>()
            + self.orbit_classes.capacity() * 4
            + self.patterns.bytes()
            + self.typed.bytes()
            + self.untyped.bytes()
            + self.pair_classes.bytes()
            + self.sparse.bytes()
    }

    fn index(&mut self, objects: usize, distinct: bool) -> Arc<Index> {
        // Tables of large object counts are rarely shared; bound what is kept.
        if self.indices.len() > 64 {
            self.indices.clear();
        }
        self.indices
            .entry((objects, distinct))
            .or_insert_with(|| Arc::new(Index::new(objects, distinct, group_of(objects))))
            .clone()
    }

    /// The value of each structure; all have as many objects as the first.
    pub(crate) fn evaluate(
        &mut self,
        job: &Job<'_>,
        structures: &[&Structure],
        values: &mut [f32],
    ) {
        let index = self.index(job.structure.objects(), job.plan.distinct);
        self.reserve(job.plan, &index);
        let groups = structures.chunks(index.group);
        for (group, values) in groups.zip(values.chunks_mut(index.group)) {
            if group.len() > 1 && self.forward(job, &index, group, values) {
                continue;
            }
            for (structure, value) in group.iter().zip(values) {
                let alone = (std::slice::from_ref(structure), std::slice::from_mut(value));
                let done = self.forward(job, &index, alone.0, alone.1);
                debug_assert!(done, "one structure always can be");
            }
        }
    }

    /// The values of a group; false where its structures cannot be computed together.
    fn forward(
        &mut self,
        job: &Job<'_>,
        index: &Index,
        group: &[&Structure],
        values: &mut [f32],
    ) -> bool {
        let plan = job.plan;
        self.count = group.len();
        let Some(finite) = self.enter(job, index, group) else {
            return false;
        };
        for (layer, composes) in plan.layers.iter().enumerate() {
            for (n, compose) in composes.iter().enumerate() {
                let weights = &job.weights[layer][n];
                if n == 3 {
                    for at in 0..group.len() {
                        self.at = at;
                        self.triples(job, index, layer, finite);
                    }
                } else if n == 2 && layer == 0 && self.pair_classes.used() {
                    self.pairs_by_class(job, index, compose);
                } else {
                    self.compose(job, index, [layer, n], compose, weights);
                }
            }
        }
        // The last layer has rows of [`BLOCK`] features of which one is real.
        for (at, value) in values.iter_mut().enumerate() {
            *value = self.raw.at(at * BLOCK);
        }
        true
    }

    /// Finds the classes of the structures of a group and loads them. None where they cannot be computed
    /// together: not by classes of orbits and pairs all of them, or with tables that started afresh.
    fn enter(&mut self, job: &Job<'_>, index: &Index, group: &[&Structure]) -> Option<Finite> {
        let mut all = Finite::NOT;
        let mut fresh = 0;
        for (at, structure) in group.iter().enumerate() {
            let job = &Job { structure, ..*job };
            self.at = at;
            self.names
                .find(structure, pair_classes::may_be_finite(job.plan));
            let finite = self.classify(job, index);
            let restarts = self.restarts();
            if at == 0 {
                (all, fresh) = (finite, restarts);
            }
            if group.len() > 1
                && (!self.pair_classes.used()
                    || finite.sparse
                    || finite.layers == 0
                    || finite != all
                    || restarts != fresh)
            {
                return None;
            }
            if self.pair_classes.used() {
                self.load_bits(job, index);
            } else {
                self.clear(job.plan, index);
                self.load(job, index);
            }
            if at == 0 && job.plan.max_arity == 3 {
                self.load_triples(job, index, finite);
            }
        }
        Some(all)
    }

    fn reserve(&mut self, plan: &Plan, index: &Index) {
        let top = plan.max_arity.min(2);
        for n in 0..=top {
            let rows = index.group * index.rows(n);
            self.own[n].reserve(rows * plan.own_columns[n]);
            self.red[n].reserve(rows * plan.red_columns[n]);
        }
        let rows = index.rows(top);
        self.raw.reserve(index.group * (rows + 1) * plan.features);
        self.best
            .reserve(2 * rows * plan.features * plan.quantifiers);
        self.expanded
            .reserve(index.group * 2 * index.objects * plan.features);
    }

    /// Sets all inputs to false.
    fn clear(&mut self, plan: &Plan, index: &Index) {
        for n in 0..=plan.max_arity.min(2) {
            let rows = self.count * index.rows(n);
            let (inputs, reduced) = (plan.inputs(n), plan.inputs(n + 1) * plan.quantifiers);
            self.own[n].clear_columns(rows, plan.own_columns[n], inputs);
            self.red[n].clear_columns(rows, plan.red_columns[n], reduced);
        }
    }

    /// Writes the true propositions up to arity 2, and what reduce makes of them.
    fn load(&mut self, job: &Job<'_>, index: &Index) {
        let plan = job.plan;
        let top = plan.max_arity.min(2);
        for (c, _) in job.structure.propositions(0) {
            self.own[0].set(self.at * plan.own_columns[0] + c, 1.0);
        }
        for n in 1..=top {
            let (own, red) = (plan.own_columns[n], plan.red_columns[n - 1]);
            let inputs = plan.inputs(n);
            let (rows, targets) = (self.at * index.rows(n), self.at * index.rows(n - 1));
            for (c, x) in job.structure.propositions(n) {
                let (target, row) = match *x {
                    [x] => (0, self.names.of(x)),
                    [x, y] if plan.distinct && x == y => continue,
                    [x, y] => {
                        let (x, y) = (self.names.of(x), self.names.of(y));
                        (x, index.row(x, y))
                    }
                    _ => unreachable!("pairs at most"),
                };
                let (target, row) = (targets + target, rows + row);
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
            if n == 2 {
                let rows = rows..rows + index.rows(2);
                to_sums(&mut self.own[2], rows, own, inputs);
            }
            if plan.quantifiers == 2 {
                // From how many hold to whether all do.
                let all = index.per_target(n);
                for target in targets..targets + index.rows(n - 1) {
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
        [layer, arity]: [usize; 2],
        map: &MapPlan,
        to: *mut f32,
    ) {
        let n = map.arity;
        let weights = &job.weights[layer][arity];
        let stride = job.plan.own_columns[n];
        let mut runs = [run(&self.own[n], stride, map, &weights.expand)];
        let bias = if weights.expand_bias.is_empty() {
            null()
        } else {
            weights.expand_bias.as_ptr()
        };
        if n == 2 {
            let starts =
                self.pair_classes
                    .start(job.plan, layer, Reader::Triples, &mut runs[0], map);
            dispatch(
                job.simd,
                &PairMap {
                    pairs: self.count * index.rows(2) / 2,
                    ends: &index.ends,
                    bias,
                    starts,
                    expanded: null(),
                    runs: &runs,
                    outputs: map.outputs,
                    activate: false,
                    y: to,
                    y_stride: map.outputs,
                    sums: null_mut(),
                    sums_stride: 0,
                },
            );
        } else {
            dispatch(
                job.simd,
                &RowMap {
                    rows: self.count * index.rows(n),
                    in_parts: n == 0,
                    bias,
                    expanded: null(),
                    owners: &[],
                    runs: &runs,
                    y: to,
                    y_stride: map.outputs,
                    outputs: map.outputs,
                    activate: false,
                },
            );
        }
    }

    fn compose(
        &mut self,
        job: &Job<'_>,
        index: &Index,
        [layer, n]: [usize; 2],
        compose: &ComposePlan,
        weights: &ComposeWeights,
    ) {
        let plan = job.plan;
        let mut expanded = null();
        if let Some(map) = &compose.expand {
            let to = self.expanded.as_mut_ptr();
            self.expand(job, index, [layer, n], map, to);
            expanded = self.expanded.as_ptr();
        }
        let outputs = weights.bias.len();
        let mut runs = [RowRun::NONE; 2];
        let mut used = 0;
        let mut starts = Starts::NONE;
        if let Some(map) = &compose.own {
            let mut run = run(&self.own[n], plan.own_columns[n], map, &weights.own);
            if n == 2 {
                let by = Reader::Pairs;
                starts = self.pair_classes.start(plan, layer, by, &mut run, map);
            }
            runs[0] = run;
            used = 1;
        }
        if let Some(map) = &compose.red {
            runs[used] = run(&self.red[n], plan.red_columns[n], map, &weights.red);
            used += 1;
        }
        let runs = &runs[..used];
        let own = match compose.column {
            Some(column) => self.own[n].as_mut_ptr().wrapping_add(column),
            None => null_mut(),
        };
        let (mut y, mut y_stride) = (self.raw.as_mut_ptr(), outputs);
        let bias = weights.bias.as_ptr();
        let activate = compose.column.is_some();
        if n == 2 {
            dispatch(
                job.simd,
                &PairMap {
                    pairs: self.count * index.rows(2) / 2,
                    ends: &index.ends,
                    bias,
                    starts,
                    expanded,
                    runs,
                    outputs,
                    activate,
                    y,
                    y_stride,
                    sums: own,
                    sums_stride: plan.own_columns[2],
                },
            );
        } else {
            if !own.is_null() {
                (y, y_stride) = (own, plan.own_columns[n]);
            }
            dispatch(
                job.simd,
                &RowMap {
                    rows: self.count * index.rows(n),
                    in_parts: n == 0,
                    bias,
                    expanded,
                    owners: &index.owners,
                    runs,
                    y,
                    y_stride,
                    outputs,
                    activate,
                },
            );
        }
        self.reduce(job, index, n, compose, y, y_stride);
    }

    /// Reduces the output y of a compose operation, if anything reads the reduction.
    fn reduce(
        &mut self,
        job: &Job<'_>,
        index: &Index,
        n: usize,
        compose: &ComposePlan,
        y: *const f32,
        y_stride: usize,
    ) {
        let plan = job.plan;
        let Some(column) = compose.red_column else {
            return;
        };
        dispatch(
            job.simd,
            &ReduceRows {
                members: index.members(n),
                per: index.per_target(n),
                targets: self.count * index.rows(n - 1),
                x: y,
                x_stride: y_stride,
                features: plan.features,
                both: plan.quantifiers == 2,
                activate: compose.column.is_none(),
                red: self.red[n - 1].as_mut_ptr().wrapping_add(column),
                red_stride: plan.red_columns[n - 1],
            },
        );
    }
}

/// From the rows of (a, b) and (b, a) to their sum and difference, in the first `columns` columns.
fn to_sums(tensor: &mut Buffer, rows: Range<usize>, stride: usize, columns: usize) {
    if columns == 0 {
        return;
    }
    let rows = rows.start * stride..rows.end * stride;
    for pair in tensor.as_mut_slice()[rows].chunks_exact_mut(2 * stride) {
        let (sums, differences) = pair.split_at_mut(stride);
        for (s, d) in sums[..columns].iter_mut().zip(differences) {
            (*s, *d) = (*s + *d, *s - *d);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;
    use crate::{Nlm, NlmConfig, Quantifiers};

    impl FeatureEngine {
        pub(super) fn value(&mut self, job: &Job<'_>) -> f32 {
            let mut value = [0.0];
            self.evaluate(job, &[job.structure], &mut value);
            value[0]
        }
    }

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
                    let (a, b) = (stores.value(&job), recomputes.value(&job));
                    assert_eq!(a.to_bits(), b.to_bits());
                }
            }
        }
    }

    #[test]
    fn neighbours_give_the_value_of_all_orbits() {
        for (seed, layers) in [(3, 4), (4, 5), (5, 5), (6, 6)] {
            for (distinct, quantifiers) in [
                (false, Quantifiers::Exists),
                (true, Quantifiers::ExistsForall),
                (false, Quantifiers::ExistsForall),
            ] {
                let nlm = Nlm::new(NlmConfig {
                    input_channels: vec![1, 1, 2],
                    layers,
                    features: 8 + layers % 2,
                    quantifiers,
                    distinct,
                    ..NlmConfig::default()
                })
                .unwrap();
                let parameters = nlm.init(seed);
                let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
                let levels = [Simd::Portable, Simd::Avx2, Simd::Avx512];
                for simd in levels.into_iter().filter(|s| s.supported()) {
                    let prepared = nlm.prepare(&parameters, simd);
                    let mut all = FeatureEngine::default();
                    let mut near = FeatureEngine::default();
                    near.sparse.always = true;
                    for objects in 1..=13 {
                        let mut structure = star(objects, 2);
                        if objects % 2 == 0 {
                            structure.insert(1, &[0, objects - 1]);
                            structure.insert(1, &[objects / 2, objects / 2]);
                        }
                        let job = prepared.job(&structure);
                        let value = Reference::forward(&nlm, &exact, &structure).value();
                        for v in [all.value(&job), near.value(&job)] {
                            let error = (f64::from(v) - value).abs();
                            assert!(error <= 1e-5 * value.abs().max(1.0), "{v} {value} {simd}");
                        }
                    }
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
        assert!(engine.value(&prepared.job(&structure)).is_finite());
        assert!(engine.bytes() < 1 << 30, "{} bytes", engine.bytes());
    }
}
