//! Values by class, up to arity 3.
//!
//! Tensors are rows of f32, `[tuple][columns]`, those of a few structures of one object count one
//! after the other, so that maps over few rows fill the processor. Pairs lie in twos, (a, b) and
//! (b, a), see [`Index`], and what maps read of them are sums and differences, see [`PairMap`].
//! Which operations a structure goes through depends on the network and on the structure alone, so
//! its value does too.

mod orbit_tables;
mod pair_tables;
mod sparse;
mod triples;
mod tuning;

use crate::classes::Classes;
use crate::index::Index;
use crate::inputs::Inputs;
use crate::kernels::Level;
use crate::kernels::buffer::Buffer;
use crate::kernels::rows::{PairMap, ReduceRows, RowMap, Source};
use crate::kernels::view::Rows;
use crate::plan::{BLOCK, ComposePlan, MapPlan, Plan};
use crate::prepared::{ComposeWeights, MapWeights};
use crate::structure::Structure;
use orbit_tables::{OrbitTables, kept};
pub(crate) use pair_tables::to_halves;
use pair_tables::{PairTables, Reader, known};
use sparse::Sparse;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// How many structures of so many objects are worked on at once.
fn group_of(objects: usize) -> usize {
    let pairs = objects * (objects + 1) / 2;
    (tuning::PAIRS_AT_ONCE / pairs).clamp(1, tuning::STRUCTURES_AT_ONCE)
}

/// How much tables hold; a structure with more classes of its own is computed orbit by orbit.
struct Room {
    pairs: usize,
    /// Times features.
    orbits: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            pairs: tuning::PAIR_ROOM,
            orbits: tuning::ORBIT_ROOM,
        }
    }
}

#[derive(Default)]
pub(crate) struct ValuesByClass {
    /// Recompute triples always, for tests.
    always_recompute: bool,
    room: Room,
    indices: BTreeMap<(usize, bool), Arc<Index>>,
    /// How many structures are at work, which of them code that takes them one by one is at, and
    /// what of them is finite.
    count: usize,
    at: usize,
    finite: Finite,
    inputs: Inputs,
    /// The weights that classes and tables belong to, and how often these started afresh.
    generation: u64,
    restarts: u64,
    classes: Classes,
    pair_tables: PairTables,
    orbit_tables: OrbitTables,
    /// The class of each orbit.
    orbit_classes: Vec<u32>,
    sparse: Sparse,
    /// See [`Far`](crate::kernels::sparse::Far): both factors, then the product.
    far: Buffer,
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
    coefficients: Buffer,
    /// Coefficients of the input, where those of layers are not stored.
    coefficient_inputs: Buffer,
}

/// What of a structure is a function of classes, and how orbits reach their class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Finite {
    /// The first so many layers' triples, and the first layer's pairs if there is such a layer.
    layers: usize,
    /// Pairs with their neighbours, instead of orbit by orbit.
    sparse: bool,
}

impl Finite {
    const NOT: Self = Self {
        layers: 0,
        sparse: false,
    };

    /// Columns of `own[3]` that hold triples of these layers: the first, since no proposition
    /// has arity 3.
    fn columns(self, plan: &Plan) -> usize {
        let kept = |layer: &usize| kept(plan, *layer);
        (0..self.layers).filter(kept).count() * plan.features
    }

    /// Those of them that a layer's triples read.
    fn read_by(self, plan: &Plan, layer: usize) -> Range<usize> {
        let all = self.columns(plan);
        let map = plan.layers[layer].get(3).and_then(|c| c.own.as_ref());
        map.map_or(0..0, |map| {
            map.columns.start.min(all)..map.columns.end.min(all)
        })
    }
}

/// Whether this way can take a network: its propositions fit sets of bits.
pub(crate) fn takes(plan: &Plan) -> bool {
    plan.max_arity <= 3 && plan.inputs(1) <= Inputs::MOST && plan.inputs(2) <= Inputs::MOST
}

/// Whether the first layer has triples and pairs that read types and patterns and nothing else.
fn may_be_finite(plan: &Plan) -> bool {
    let pairs = plan.layers[0].get(2);
    let triples = plan.layers[0].get(3);
    plan.inputs(3) == 0
        && triples.is_some_and(|compose| compose.expand.is_some())
        && pairs.is_some_and(|compose| {
            compose.red.is_none() && compose.own.is_some() && compose.column == Some(plan.inputs(2))
        })
}

/// The layers whose triples are a function of classes, of a network that may be finite.
fn finite_layers(plan: &Plan) -> usize {
    let second = plan
        .layers
        .get(1)
        .and_then(|layer| layer.get(3)?.expand.as_ref());
    if second.is_some_and(|map| map.columns.end <= known(plan)) {
        2
    } else {
        1
    }
}

/// What one run needs.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) weights: &'a [Vec<ComposeWeights>],
    /// Tells these weights from all others.
    pub(crate) generation: u64,
    pub(crate) level: Level,
    pub(crate) structure: &'a Structure,
}

/// All that a map reads of a tensor.
fn source<'a>(x: &'a Buffer, stride: usize, map: &MapPlan, weights: &'a MapWeights) -> Source<'a> {
    Source {
        x: x.view(stride).from(map.columns.start),
        columns: map.columns.len(),
        weights: &weights.rows,
        width: map.columns.len(),
    }
}

impl ValuesByClass {
    pub(crate) fn bytes(&self) -> usize {
        let several = self.own.iter().chain(&self.red).chain(&self.pairs);
        let singles = [
            &self.raw,
            &self.best,
            &self.far,
            &self.expanded,
            &self.coefficients,
            &self.coefficient_inputs,
        ];
        several.chain(singles).map(Buffer::bytes).sum::<usize>()
            + self.orbit_classes.capacity() * 4
            + self.inputs.bytes()
            + self.classes.bytes()
            + self.pair_tables.bytes()
            + self.orbit_tables.bytes()
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
        let groups = structures.chunks(index.group());
        for (group, values) in groups.zip(values.chunks_mut(index.group())) {
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
        if !self.enter(job, index, group) {
            return false;
        }
        for (layer, composes) in plan.layers.iter().enumerate() {
            for (n, compose) in composes.iter().enumerate() {
                if n == 3 {
                    for at in 0..group.len() {
                        self.at = at;
                        self.triples(job, index, layer);
                    }
                } else if n == 2 && layer == 0 && self.finite.layers > 0 {
                    self.pairs_by_class(job, index, compose);
                } else {
                    self.compose(job, index, [layer, n]);
                }
            }
        }
        // The last layer has rows of [`BLOCK`] features of which one is real.
        for (at, value) in values.iter_mut().enumerate() {
            *value = self.raw.at(at * BLOCK);
        }
        true
    }

    /// Finds the classes of the structures of a group and loads them. False where they cannot be
    /// computed together: not by classes orbit by orbit all of them, or with tables that started
    /// afresh.
    fn enter(&mut self, job: &Job<'_>, index: &Index, group: &[&Structure]) -> bool {
        let plan = job.plan;
        let mut fresh = 0;
        for (at, structure) in group.iter().enumerate() {
            let job = &Job { structure, ..*job };
            self.at = at;
            self.inputs.read(structure, index, may_be_finite(plan));
            let finite = self.classify(job, index);
            if at == 0 {
                (self.finite, fresh) = (finite, self.restarts);
            }
            let alike = finite == self.finite && fresh == self.restarts;
            if group.len() > 1 && (finite.sparse || finite.layers == 0 || !alike) {
                return false;
            }
            let (own, red) = (&mut self.own, &mut self.red);
            self.inputs.write(structure, plan, index, at, own, red);
            if finite.layers == 0 && plan.max_arity >= 2 {
                self.inputs.write_pairs(plan, index, at, &mut own[2]);
            }
            if at == 0 && plan.max_arity == 3 {
                self.load_triples(job, index);
            }
        }
        true
    }

    fn reserve(&mut self, plan: &Plan, index: &Index) {
        let top = plan.max_arity.min(2);
        for n in 0..=top {
            let rows = index.group() * index.rows(n);
            self.own[n].reserve(rows * plan.own_columns[n]);
            self.red[n].reserve(rows * plan.red_columns[n]);
        }
        let rows = index.rows(top);
        self.raw.reserve(index.group() * (rows + 1) * plan.features);
        self.best
            .reserve(2 * rows * plan.features * plan.quantifiers);
        self.expanded
            .reserve(index.group() * 2 * index.objects() * plan.features);
    }

    /// What a compose operation takes from objects or from the structure, into `expanded`.
    fn expand(&mut self, job: &Job<'_>, index: &Index, weights: &ComposeWeights, map: &MapPlan) {
        let n = map.arity;
        job.level.run(&RowMap {
            rows: self.count * index.rows(n),
            in_parts: n == 0,
            bias: None,
            expanded: None,
            sources: &[source(
                &self.own[n],
                job.plan.own_columns[n],
                map,
                &weights.expand,
            )],
            y: self.expanded.view_mut(map.outputs),
            outputs: map.outputs,
            activate: false,
        });
    }

    /// What pairs contribute to the triples of a layer, for all structures, into `pairs`.
    fn expand_pairs(&mut self, job: &Job<'_>, index: &Index, layer: usize, map: &MapPlan) {
        let weights = &job.weights[layer][3];
        let mut own = source(&self.own[2], job.plan.own_columns[2], map, &weights.expand);
        let mut starts = None;
        if self.finite.layers > 0 {
            let (by, classes) = ([layer, Reader::Triples as usize], &self.classes.of_pairs);
            (starts, own) = self.pair_tables.start(job.plan, by, classes, own, map);
        }
        job.level.run(&PairMap {
            pairs: self.count * index.rows(2) / 2,
            bias: Some(&weights.expand_bias),
            starts,
            expanded: None,
            sources: &[own],
            outputs: map.outputs,
            activate: false,
            y: self.pairs[layer].view_mut(map.outputs),
            sums: None,
        });
    }

    fn compose(&mut self, job: &Job<'_>, index: &Index, [layer, n]: [usize; 2]) {
        let plan = job.plan;
        let (compose, weights) = (&plan.layers[layer][n], &job.weights[layer][n]);
        if let Some(map) = &compose.expand {
            self.expand(job, index, weights, map);
        }
        let expanded = compose.expand.as_ref().map(|_| self.expanded.as_slice());
        let rows = self.count * index.rows(n);
        let outputs = weights.bias.len();
        let activate = compose.column.is_some();
        let own = self.own[n].view_mut(plan.own_columns[n]);
        let mut starts = None;
        let mut sources = [Source::NONE; 2];
        let mut used = 0;
        if let Some(map) = &compose.own {
            let mut source = Source {
                x: own.read().from(map.columns.start),
                columns: map.columns.len(),
                weights: &weights.own.rows,
                width: map.columns.len(),
            };
            if n == 2 && self.finite.layers > 0 {
                let (by, classes) = ([layer, Reader::Pairs as usize], &self.classes.of_pairs);
                (starts, source) = self.pair_tables.start(plan, by, classes, source, map);
            }
            sources[0] = source;
            used = 1;
        }
        if let Some(map) = &compose.red {
            sources[used] = source(&self.red[n], plan.red_columns[n], map, &weights.red);
            used += 1;
        }
        let sources = &sources[..used];
        let raw = self.raw.view_mut(outputs);
        let output = compose.column.map(|column| own.from(column));
        let y = if n == 2 {
            job.level.run(&PairMap {
                pairs: rows / 2,
                bias: Some(&weights.bias),
                starts,
                expanded: expanded.map(|expanded| (expanded, index.ends())),
                sources,
                outputs,
                activate,
                y: raw,
                sums: output,
            });
            raw
        } else {
            let y = output.unwrap_or(raw);
            job.level.run(&RowMap {
                rows,
                in_parts: n == 0,
                bias: Some(&weights.bias),
                expanded: expanded.map(|expanded| (expanded, index.owners())),
                sources,
                y,
                outputs,
                activate,
            });
            y
        };
        if n > 0 {
            let red = &mut self.red[n - 1];
            reduce(job, index, [self.count, n], compose, y.read(), red);
        }
    }
}

/// Reduces the output y of a compose operation, of so many structures and this arity.
fn reduce(
    job: &Job<'_>,
    index: &Index,
    [count, n]: [usize; 2],
    compose: &ComposePlan,
    y: Rows<'_>,
    red: &mut Buffer,
) {
    let plan = job.plan;
    let column = compose.red_column.expect("above arity 0");
    job.level.run(&ReduceRows {
        members: index.members(n),
        per: index.per_target(n),
        targets: count * index.rows(n - 1),
        x: y,
        rows: count * index.rows(n),
        features: plan.features,
        both: plan.quantifiers == 2,
        activate: compose.column.is_none(),
        red: red.view_mut(plan.red_columns[n - 1]).from(column),
    });
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
    use crate::{Nlm, NlmConfig, Quantifiers, Simd};

    impl ValuesByClass {
        /// With plenty of room and with none, orbits and neighbours, stored and recomputed.
        pub(crate) fn for_tests() -> [Self; 4] {
            let [plain, mut little, mut sparse, mut recomputes] =
                std::array::from_fn(|_| Self::default());
            little.room = Room {
                pairs: 3,
                orbits: 40,
            };
            sparse.sparse.always = true;
            recomputes.always_recompute = true;
            recomputes.room.pairs = 0;
            [plain, little, sparse, recomputes]
        }

        pub(crate) fn value(&mut self, job: &Job<'_>) -> f32 {
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
                    let mut stores = ValuesByClass::default();
                    let mut recomputes = ValuesByClass {
                        always_recompute: true,
                        ..ValuesByClass::default()
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
                    let mut all = ValuesByClass::default();
                    let mut near = ValuesByClass::default();
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
        let mut engine = ValuesByClass::default();
        assert!(engine.value(&prepared.job(&structure)).is_finite());
        assert!(engine.bytes() < 1 << 30, "{} bytes", engine.bytes());
    }
}
