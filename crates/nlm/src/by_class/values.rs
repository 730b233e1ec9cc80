//! Values by class.
//!
//! Which operations a structure goes through depends on the network and on the structure alone, so
//! its value does too.

use super::layers::{Group, Layers};
use super::shape::Triples;
use super::sparse::Sparse;
use super::{Indices, Network};
use crate::classes::{Classes, key};
use crate::index::Index;
use crate::inputs::Inputs;
use crate::kernels::buffer::Buffer;
use crate::kernels::look_up::LookUp;
use crate::kernels::rows::EndRows;
use crate::plan::BLOCK;
use crate::structure::Structure;
use crate::tuning;
use std::ops::Range;

/// How many structures of so many objects are worked on at once.
fn group_of(objects: usize) -> usize {
    let pairs = objects * (objects + 1) / 2;
    (tuning::PAIRS_AT_ONCE / pairs).clamp(1, tuning::STRUCTURES_AT_ONCE)
}

/// How many classes tables hold before they start afresh.
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
    room: Room,
    indices: Indices,
    /// The weights that classes and tables belong to; none have the number 0.
    generation: u64,
    pub(super) layers: Layers,
    /// The class of each orbit of the structures at work, unless these go by neighbours.
    orbit_classes: Vec<u32>,
    pub(super) sparse: Sparse,
    /// Extrema of triples: `[row][Q' for each quantifier]`.
    pub(super) best: Buffer,
    /// See [`Far`](crate::kernels::sparse::Far): both factors, then the product.
    pub(super) far: Buffer,
}

impl ValuesByClass {
    pub(crate) fn bytes(&self) -> usize {
        self.best.bytes()
            + self.far.bytes()
            + self.orbit_classes.capacity() * 4
            + self.layers.bytes()
            + self.sparse.bytes()
    }

    /// The value of each structure; all have equally many objects. `generation` tells the weights
    /// from all others.
    pub(crate) fn evaluate(
        &mut self,
        network: &Network<'_>,
        generation: u64,
        structures: &[&Structure],
        values: &mut [f32],
    ) {
        let (plan, objects) = (network.plan, structures[0].objects());
        (self.layers.values_only, self.layers.tables.activated) = (true, true);
        let size = group_of(objects);
        let index = self.indices.get(size, objects, plan.distinct);
        self.layers.reserve(network, &index);
        self.best
            .reserve(2 * index.rows(2) * plan.features * plan.quantifiers);
        for (group, values) in structures.chunks(size).zip(values.chunks_mut(size)) {
            let classes = &self.layers.classes;
            let many = classes.pairs() > self.room.pairs
                || classes.orbits.len() * plan.features > self.room.orbits;
            if self.generation != generation || many {
                self.generation = generation;
                self.layers.restart();
            }
            self.forward(network, &index, group);
            for (value, v) in values.iter_mut().zip(self.layers.values(network, &index)) {
                *value = v;
            }
        }
    }

    fn forward(&mut self, network: &Network<'_>, index: &Index, structures: &[&Structure]) {
        for (at, structure) in structures.iter().enumerate() {
            self.layers.enter(network, index, at, structure);
            if network.plan.max_arity == 3 {
                self.find_orbits(network, index, at);
            }
        }
        self.layers.fill(network);
        let count = structures.len();
        let group = Group { index, count };
        for (layer, composes) in network.plan.layers.iter().enumerate() {
            for n in 0..composes.len().min(3) {
                self.layers.compose(network, group, [layer, n]);
            }
            if composes.len() > 3 {
                self.triples(network, group, layer);
            }
        }
    }

    /// Finds the classes of the orbits of a structure, the `at`-th at work: all, or neighbours.
    fn find_orbits(&mut self, network: &Network<'_>, index: &Index, at: usize) {
        let Layers {
            classes, inputs, ..
        } = &mut self.layers;
        // Where there are objects enough a structure is alone in its group.
        let alone = index.group() == 1 || self.sparse.always;
        let suits = alone && network.plan.inputs(3) == 0 && self.sparse.suits(classes, index);
        self.sparse.at_work = suits;
        if suits {
            self.sparse.list(classes, index);
        } else {
            of_orbits(classes, inputs, index, at, &mut self.orbit_classes);
        }
    }

    /// Compose at arity 3 and its reduction, for every structure.
    fn triples(&mut self, network: &Network<'_>, group: Group<'_>, layer: usize) {
        let columns = network.plan.features * network.plan.quantifiers;
        if network.shape.triples[layer] == Some(Triples::WithPairs) {
            self.layers.expand_pairs(network, group, layer);
            for at in 0..group.count {
                if self.sparse.at_work {
                    self.near(network, group.index, layer);
                } else {
                    self.look_up(network, group.index, at, layer..layer + 1);
                }
                self.end(network, group.index, at, layer, 0..columns);
            }
            return;
        }
        if self.sparse.at_work {
            self.near(network, group.index, layer);
            return self.end(network, group.index, 0, layer, 0..columns);
        }
        let by_class = network.shape.by_class();
        if layer == by_class.start {
            // All of them at once.
            for at in 0..group.count {
                self.look_up(network, group.index, at, by_class.clone());
                let end = by_class.len() * columns;
                for (i, layer) in by_class.clone().enumerate() {
                    self.end(network, group.index, at, layer, i * columns..end);
                }
            }
        }
    }

    /// The reductions of layers whose triples are in tables, but for what pairs add.
    fn look_up(&mut self, network: &Network<'_>, index: &Index, at: usize, layers: Range<usize>) {
        let plan = network.plan;
        self.start(network, index, layers.len());
        let tables = [layers.start, layers.end - 1].map(|layer| self.layers.tables.table(layer));
        let with_pairs = network.shape.triples[layers.start] == Some(Triples::WithPairs);
        let pairs = at * index.rows(2) * 3 * plan.features;
        let orbits = index.pairs().orbits();
        network.level.run(&LookUp {
            pairs: index.pairs(),
            classes: &self.orbit_classes[at * orbits..(at + 1) * orbits],
            tables: &tables[..layers.len()],
            expanded: with_pairs.then(|| &self.layers.pairs.as_slice()[pairs..]),
            features: plan.features,
            both: plan.quantifiers == 2,
            best: self
                .best
                .view_mut(layers.len() * plan.features * plan.quantifiers),
        });
    }

    /// Ends the reduction of a layer's triples. `best` is where rows have its extrema, up to the
    /// end of the row.
    fn end(
        &mut self,
        network: &Network<'_>,
        index: &Index,
        at: usize,
        layer: usize,
        best: Range<usize>,
    ) {
        let plan = network.plan;
        let column = plan.layers[layer][3].red_column;
        let column = column.expect("triples are reduced");
        let red = self.layers.red[2].view_mut(plan.red_columns[2]);
        network.level.run(&EndRows {
            pairs: index.rows(2) / 2,
            empty: !index.has_triples(),
            activate: network.shape.triples[layer] == Some(Triples::WithPairs),
            features: plan.features,
            columns: plan.features * plan.quantifiers,
            best: self.best.view(best.end).from(best.start),
            red: red.after(at * index.rows(2)).from(column),
        });
    }

    /// Starts the reductions of so many layers at ∓infinity.
    fn start(&mut self, network: &Network<'_>, index: &Index, layers: usize) {
        let (features, quantifiers) = (network.plan.features, network.plan.quantifiers);
        let rows = index.rows(2) * layers * quantifiers;
        let best = &mut self.best.as_mut_slice()[..rows * features];
        if quantifiers == 1 {
            return best.fill(f32::NEG_INFINITY);
        }
        let (blocks, _) = best.as_chunks_mut::<BLOCK>();
        for both in blocks.chunks_exact_mut(2 * features / BLOCK) {
            let (max, min) = both.split_at_mut(features / BLOCK);
            max.fill([f32::NEG_INFINITY; BLOCK]);
            min.fill([f32::INFINITY; BLOCK]);
        }
    }
}

/// The class of every orbit of the `at`-th structure, in the order of the kernels.
fn of_orbits(classes: &mut Classes, inputs: &Inputs, index: &Index, at: usize, to: &mut Vec<u32>) {
    let (n, pairs) = (index.objects(), index.pairs());
    to.resize((at + 1) * pairs.orbits(), 0);
    let to = &mut to[at * pairs.orbits()..];
    let own = std::mem::take(&mut classes.of_pairs);
    let of = &own[at * index.rows(2) / 2..];
    let mut next = 0;
    for x in 0..n {
        for y in pairs.after(x)..n {
            let first = pairs.after(y);
            let len = n.saturating_sub(first);
            if len == 0 {
                continue;
            }
            let xy = of[pairs.index(x, y)];
            let (xz, yz) = (pairs.index(x, first), pairs.index(y, first));
            let (xz, yz) = (&of[xz..xz + len], &of[yz..yz + len]);
            let run = &mut to[next..next + len];
            next += len;
            for ((to, &xz), &yz) in run.iter_mut().zip(xz).zip(yz) {
                *to = classes.orbits.number(key([xy, xz, yz]));
            }
        }
    }
    classes.of_pairs = own;
    for triple in inputs.triples() {
        let key = classes.marked(index, at, triple);
        to[pairs.orbit(triple.0)] = classes.orbits.number(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::reference::Reference;
    use crate::{Nlm, NlmConfig, Quantifiers, Simd};

    impl ValuesByClass {
        /// With plenty of room and with none, orbits and neighbours.
        pub(crate) fn for_tests() -> [Self; 3] {
            let [plain, mut little, mut sparse] = std::array::from_fn(|_| Self::default());
            little.room = Room {
                pairs: 3,
                orbits: 40,
            };
            sparse.sparse.always = true;
            [plain, little, sparse]
        }
    }

    fn close(value: f32, right: f64, what: &str) {
        let error = (f64::from(value) - right).abs();
        let bound = 1e-5 * right.abs().max(1.0);
        assert!(error <= bound, "{value} {right}: {what}");
    }

    fn levels() -> impl Iterator<Item = Simd> {
        let all = [Simd::Portable, Simd::Avx2, Simd::Avx512];
        all.into_iter().filter(|simd| simd.supported())
    }

    fn network(input_channels: Vec<usize>, layers: usize) -> NlmConfig {
        NlmConfig {
            input_channels,
            layers,
            quantifiers: Quantifiers::ExistsForall,
            ..NlmConfig::default()
        }
    }

    /// Objects of `types` types in any order, and binary and ternary propositions.
    fn random(
        rng: &mut SplitMix64,
        objects: usize,
        types: usize,
        [binary, ternary]: [usize; 2],
    ) -> Structure {
        let mut s = Structure::new(objects);
        for x in 0..objects {
            let of = rng.below(types);
            for c in (0..5).filter(|c| of >> c & 1 == 1) {
                s.insert(c, &[x]);
            }
        }
        for _ in 0..binary {
            let (c, x, y) = (rng.below(6), rng.below(objects), rng.below(objects));
            s.insert(c, &[x, y]);
            if c == 2 {
                s.insert(c, &[y, x]);
            }
        }
        for _ in 0..ternary {
            let tuple: [usize; 3] = std::array::from_fn(|_| rng.below(objects));
            s.insert(rng.below(3), &tuple);
        }
        s
    }

    /// All orbits and neighbours, in a fresh workspace, in one that has met other structures and in
    /// one that keeps starting afresh.
    #[test]
    fn all_ways_give_the_value_of_the_reference() {
        let mut rng = SplitMix64::new(0x5eed);
        for (layers, features, distinct, skip_connections, quantifiers, ternary) in [
            (4, 8, false, true, Quantifiers::Exists, false),
            (5, 8, false, true, Quantifiers::ExistsForall, false),
            (5, 8, true, false, Quantifiers::ExistsForall, true),
            (6, 8, false, true, Quantifiers::Exists, true),
            (6, 11, true, true, Quantifiers::ExistsForall, false),
            (6, 8, false, false, Quantifiers::ExistsForall, true),
            (4, 3, true, false, Quantifiers::Exists, true),
            (6, 9, true, true, Quantifiers::ExistsForall, true),
        ] {
            let channels = if ternary {
                vec![1, 5, 6, 3]
            } else {
                vec![1, 5, 6]
            };
            let nlm = Nlm::new(NlmConfig {
                features,
                quantifiers,
                distinct,
                skip_connections,
                ..network(channels, layers)
            })
            .unwrap();
            let parameters = nlm.init(5);
            let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
            let structures: Vec<Structure> = (0..48)
                .map(|_| {
                    let objects = 1 + rng.below(8);
                    let facts = rng.below(2 * objects * objects);
                    let ternary = if ternary { rng.below(3 * facts + 1) } else { 0 };
                    let types = 1 + rng.below(12);
                    random(&mut rng, objects, types, [facts, ternary])
                })
                .collect();
            let right = structures
                .iter()
                .map(|s| Reference::forward(&nlm, &exact, s));
            let right: Vec<f64> = right.map(|r| r.value()).collect();
            for simd in levels() {
                let what = format!("{layers} {features} {distinct} {simd}");
                let prepared = nlm.prepare(&parameters, simd);
                let mut used = ValuesByClass::for_tests();
                for (structure, &right) in structures.iter().zip(&right) {
                    let fresh = ValuesByClass::for_tests();
                    for (used, mut fresh) in used.iter_mut().zip(fresh) {
                        let value = prepared.value(used, structure);
                        close(value, right, &what);
                        let fresh = prepared.value(&mut fresh, structure);
                        assert_eq!(value.to_bits(), fresh.to_bits(), "{what}");
                    }
                }
                let classes = |way: &ValuesByClass| way.layers.classes.pairs();
                assert!(classes(&used[0]) > 4 * classes(&used[1]), "{what}");
            }
        }
    }

    /// A relation that nearly all pairs stand in is as good as one that few do, if it holds both
    /// ways.
    #[test]
    fn what_most_pairs_have_in_common_makes_no_neighbours() {
        let nlm = Nlm::new(network(vec![0, 2, 2], 6)).unwrap();
        let parameters = nlm.init(5);
        let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
        let objects = 38;
        for (both_ways, sparse) in [(true, true), (false, false)] {
            let mut structure = Structure::new(objects);
            for x in 0..objects {
                structure.insert(x % 2, &[x]);
                structure.insert(1, &[x, (x * x + 1) % objects]);
                for y in (0..objects).filter(|&y| y != x && (both_ways || x > y)) {
                    structure.insert(0, &[x, y]);
                }
            }
            let right = Reference::forward(&nlm, &exact, &structure).value();
            for simd in levels() {
                let prepared = nlm.prepare(&parameters, simd);
                let mut way = ValuesByClass::default();
                close(prepared.value(&mut way, &structure), right, "38 objects");
                assert_eq!(way.sparse.at_work, sparse);
            }
        }
    }

    #[test]
    fn two_hundred_and_fifty_objects_stay_under_a_gibibyte() {
        let nlm = Nlm::new(network(vec![2, 6, 2], 6)).unwrap();
        let prepared = nlm.prepare(&nlm.init(3), Simd::best());
        let mut structure = Structure::new(250);
        for x in 0..250 {
            structure.insert(0, &[x, (x * x + 1) % 250]);
        }
        let mut way = ValuesByClass::default();
        assert!(prepared.value(&mut way, &structure).is_finite());
        assert!(way.bytes() < 1 << 30, "{} bytes", way.bytes());
    }
}
