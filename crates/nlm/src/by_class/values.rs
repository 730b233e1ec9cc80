//! Values by class.
//!
//! Which operations a structure goes through depends on the network and on the structure alone, so
//! its value does too.
//!
//! In the tree of `docs/nlm.md`: by class, where `evaluate` goes in.

use super::layers::Layers;
use super::{Indices, Network};
use crate::structure::Structure;
use crate::tuning;

/// How many structures of so many objects are worked on at once.
fn group_of(objects: usize) -> usize {
    let pairs = objects * (objects + 1) / 2;
    (tuning::PAIRS_AT_ONCE / pairs).clamp(1, tuning::STRUCTURES_AT_ONCE)
}

#[derive(Default)]
pub(crate) struct ValuesByClass {
    /// Tables start afresh for every group, for tests.
    no_room: bool,
    indices: Indices,
    /// The weights that classes and tables belong to; none have the number 0.
    generation: u64,
    layers: Layers,
}

impl ValuesByClass {
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
        for (group, values) in structures.chunks(size).zip(values.chunks_mut(size)) {
            let classes = &self.layers.classes;
            let many = classes.pairs() > tuning::PAIR_ROOM
                || classes.orbits.len() * plan.features > tuning::ORBIT_ROOM
                || self.no_room;
            if self.generation != generation || many {
                self.generation = generation;
                self.layers.restart();
            }
            self.layers.forward(network, &index, group);
            for (value, v) in values.iter_mut().zip(self.layers.values(network, &index)) {
                *value = v;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::reference::Reference;
    use crate::small_cases::{close, levels};
    use crate::{Nlm, NlmConfig, Quantifiers};

    impl ValuesByClass {
        /// With plenty of room and with none, orbits and neighbours.
        pub(crate) fn for_tests() -> [Self; 3] {
            let [plain, mut little, mut sparse] = std::array::from_fn(|_| Self::default());
            little.no_room = true;
            sparse.layers.sparse.always = true;
            [plain, little, sparse]
        }
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
                assert_eq!(way.layers.sparse.at_work, sparse);
            }
        }
    }
}
