//! Tables over classes of orbits.
//!
//! A triple of the first layer reads the pairs of its orbit and nothing else, if no proposition has
//! arity 3. A triple of the second reads triples and pairs of the first. So the triples of these
//! layers, and whatever later layers compute from them by a linear map, are functions of the class
//! of their orbit.
//!
//! The tables depend on the weights alone and are kept from structure to structure. An entry is
//! computed by the same operations whatever was there before it.

use super::pair_tables::PairTables;
use super::{Finite, Job, ValuesByClass, finite_layers, may_be_finite};
use crate::classes::{Classes, key, parts};
use crate::index::Index;
use crate::kernels::buffer::Buffer;
use crate::kernels::classes::{ClassCompose, Coefficients};
use crate::kernels::orbit::SIX;
use crate::kernels::orbit_rows::Table;
use crate::kernels::view::RowsMut;
use crate::plan::{BLOCK, Plan};

#[derive(Default)]
pub(crate) struct OrbitTables {
    /// How many classes have their tables, and the classes of the pairs of each.
    members: Vec<[u32; 3]>,
    /// For each finite layer `[class][Q' / 8][6][8]`: activations.
    slots: [Buffer; 2],
    /// `[class][finite columns / 8][6][8]`: their coefficients.
    coefficients: Buffer,
    /// For each later layer what it reads of them: `[class][Q' / 8][6][8]`.
    tables: Vec<Buffer>,
}

impl OrbitTables {
    pub(crate) fn bytes(&self) -> usize {
        let buffers = self.slots.iter().chain(&self.tables);
        buffers.map(Buffer::bytes).sum::<usize>()
            + self.coefficients.bytes()
            + self.members.capacity() * 12
    }

    /// What is known of a layer's triples: their activations where they are finite, else what they
    /// read of finite layers, if anything.
    pub(super) fn table(&self, plan: &Plan, layer: usize, finite: Finite) -> Option<Table<'_>> {
        let slots = if layer < finite.layers {
            &self.slots[layer]
        } else if finite.read_by(plan, layer).is_empty() {
            return None;
        } else {
            &self.tables[layer]
        };
        Some(Table {
            slots: slots.as_slice(),
            classes: self.members.len(),
        })
    }

    pub(super) fn restart(&mut self) {
        self.members.clear();
    }

    /// Activations, coefficients and tables of new classes.
    fn fill(&mut self, job: &Job<'_>, finite: Finite, classes: &Classes, pairs: &PairTables) {
        let plan = job.plan;
        self.tables.resize_with(plan.layers.len(), Buffer::default);
        let (done, all) = (self.members.len(), classes.orbits.len());
        if done == all {
            return;
        }
        let new = &classes.orbits.keys()[done..];
        self.members.extend(new.iter().map(|&key| parts(key)));
        let stride = plan.features * SIX;
        let width = finite.columns(plan) * SIX;
        self.coefficients.extend(done * width, all * width);
        for (layer, composes) in plan.layers.iter().enumerate() {
            let is_finite = layer < finite.layers;
            let columns = Finite {
                layers: layer.min(finite.layers),
                ..finite
            }
            .read_by(plan, layer);
            if !is_finite && columns.is_empty() {
                continue;
            }
            let to = if is_finite {
                &mut self.slots[layer]
            } else {
                &mut self.tables[layer]
            };
            to.extend(done * stride, all * stride);
            let own = &mut self.coefficients.as_mut_slice()[done * width..];
            let own = RowsMut::new(own, width);
            let column = composes[3].column.filter(|_| is_finite);
            let map = composes[3].own.as_ref().filter(|_| !columns.is_empty());
            job.level.run(&ClassCompose {
                classes: &self.members[done..],
                pairs: is_finite.then(|| pairs.parts(layer)),
                from: map.map(|map| Coefficients {
                    of: own.read().from(columns.start * SIX),
                    columns: columns.len(),
                    weights: &job.weights[layer][3].orbit.rows
                        [(columns.start - map.columns.start) * SIX * BLOCK..],
                    width: map.columns.len(),
                }),
                features: plan.features,
                slots: RowsMut::new(&mut to.as_mut_slice()[done * stride..], stride),
                activate: is_finite,
                output: column.map(|column| own.from(column * SIX)),
            });
        }
    }
}

impl ValuesByClass {
    /// Finds the classes of the structure's objects, pairs and orbits, with tables for all of them.
    pub(super) fn classify(&mut self, job: &Job<'_>, index: &Index) -> Finite {
        if !may_be_finite(job.plan) {
            return Finite::NOT;
        }
        if self.generation != job.generation {
            self.restart(job);
        }
        // A structure that is refused twice has too many classes of its own.
        let found = self.find(job, index).or_else(|| {
            self.restart(job);
            self.find(job, index)
        });
        let Some(finite) = found else {
            self.restart(job);
            return Finite::NOT;
        };
        self.pair_tables.fill(job, &self.classes);
        self.orbit_tables
            .fill(job, finite, &self.classes, &self.pair_tables);
        finite
    }

    /// Numbers afresh.
    fn restart(&mut self, job: &Job<'_>) {
        self.generation = job.generation;
        self.restarts += 1;
        self.classes.clear();
        self.pair_tables.restart(job.plan);
        self.orbit_tables.restart();
    }

    /// The classes of the structure; none where there is no room for them.
    fn find(&mut self, job: &Job<'_>, index: &Index) -> Option<Finite> {
        let (classes, sparse) = (&mut self.classes, &mut self.sparse);
        classes.find(&self.inputs, index, self.at);
        if classes.pairs() > self.room.pairs {
            return None;
        }
        let finite = Finite {
            layers: finite_layers(job.plan),
            sparse: sparse.suits(classes, index, self.at),
        };
        let most = self.room.orbits / job.plan.features;
        if finite.sparse && !sparse.list(classes, index, self.at, most) {
            return None;
        }
        // With neighbours and no layer beyond the finite ones that keeps triples, orbits need none.
        let mut layers = finite.layers..job.plan.layers.len();
        let needed = !finite.sparse || layers.any(|layer| kept(job.plan, layer));
        let count = if needed { index.pairs().orbits() } else { 0 };
        self.orbit_classes.resize((self.at + 1) * count, 0);
        let to = &mut self.orbit_classes[self.at * count..];
        of_orbits(classes, index, self.at, most, to).then_some(finite)
    }
}

/// Whether a layer's triples are read by others than reduce.
pub(super) fn kept(plan: &Plan, layer: usize) -> bool {
    let compose = plan.layers[layer].get(3);
    compose.is_some_and(|compose| compose.column.is_some())
}

/// The class of every orbit there is room for, in the order of the kernels; false where there are
/// more classes than `most`.
fn of_orbits(classes: &mut Classes, index: &Index, at: usize, most: usize, to: &mut [u32]) -> bool {
    if to.is_empty() {
        return true;
    }
    let (n, pairs) = (index.objects(), index.pairs());
    let own = std::mem::take(&mut classes.of_pairs);
    let of = &own[at * index.rows(2) / 2..];
    let mut next = 0;
    let mut few = true;
    for x in 0..n {
        for y in pairs.after(x)..n {
            let first = pairs.after(y);
            let len = n.saturating_sub(first);
            if len == 0 || !few {
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
            few = classes.orbits.len() <= most;
        }
    }
    classes.of_pairs = own;
    few
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::reference::Reference;
    use crate::values_by_class::Room;
    use crate::{Nlm, NlmConfig, Quantifiers, Simd, Structure};

    /// Objects of `types` types in any order, and as many binary propositions as `facts` says.
    fn random(
        rng: &mut SplitMix64,
        objects: usize,
        types: usize,
        facts: usize,
        binary: usize,
    ) -> Structure {
        let mut s = Structure::new(objects);
        for x in 0..objects {
            let of = rng.below(types);
            for c in (0..5).filter(|c| of >> c & 1 == 1) {
                s.insert(c, &[x]);
            }
        }
        for _ in 0..facts {
            let (c, x, y) = (rng.below(binary), rng.below(objects), rng.below(objects));
            s.insert(c, &[x, y]);
            if c == 2 {
                // Both ways, so that three channels have 32 patterns.
                s.insert(c, &[y, x]);
            }
        }
        s
    }

    fn close(value: f32, right: f64, what: &str) {
        let error = (f64::from(value) - right).abs();
        assert!(
            error <= 1e-5 * right.abs().max(1.0),
            "{value} {right}: {what}"
        );
    }

    fn levels() -> impl Iterator<Item = Simd> {
        [Simd::Portable, Simd::Avx2, Simd::Avx512]
            .into_iter()
            .filter(|s| s.supported())
    }

    /// By class and orbit by orbit, all orbits and neighbours, in a fresh workspace and in one that
    /// has met more classes than it has room for.
    #[test]
    fn all_ways_give_the_value_of_the_reference() {
        let mut rng = SplitMix64::new(0x5eed);
        for (layers, features, distinct, skip_connections, quantifiers) in [
            (4, 8, false, true, Quantifiers::Exists),
            (5, 8, false, true, Quantifiers::ExistsForall),
            (5, 8, true, false, Quantifiers::ExistsForall),
            (6, 8, false, true, Quantifiers::Exists),
            (6, 11, true, true, Quantifiers::ExistsForall),
            (6, 8, false, false, Quantifiers::ExistsForall),
            (7, 8, false, true, Quantifiers::ExistsForall),
            (7, 3, true, false, Quantifiers::Exists),
            (8, 9, false, true, Quantifiers::Exists),
        ] {
            let nlm = Nlm::new(NlmConfig {
                input_channels: vec![1, 5, 6],
                layers,
                features,
                quantifiers,
                distinct,
                skip_connections,
                ..NlmConfig::default()
            })
            .unwrap();
            let parameters = nlm.init(5);
            let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
            let structures: Vec<Structure> = (0..64)
                .map(|i| {
                    let objects = 1 + rng.below(8);
                    let (types, facts) = (1 + rng.below(12), rng.below(2 * objects * objects));
                    random(&mut rng, objects, types, facts, 3 + i / 16)
                })
                .collect();
            let right: Vec<f64> = structures
                .iter()
                .map(|s| Reference::forward(&nlm, &exact, s).value())
                .collect();
            for simd in levels() {
                let what = format!("{layers} {features} {distinct} {simd}");
                let prepared = nlm.prepare(&parameters, simd);
                let with_room = |[pairs, orbits]: [usize; 2], always_sparse| {
                    let mut way = ValuesByClass {
                        room: Room { pairs, orbits },
                        ..ValuesByClass::default()
                    };
                    way.sparse.always = always_sparse;
                    way
                };
                let plenty = [1 << 13, 1 << 18];
                let little = [12, 30 * plan_features(&nlm)];
                let ways = [
                    (little, false),
                    (plenty, true),
                    (little, true),
                    (plenty, false),
                ];
                let mut used = ways.map(|(room, sparse)| with_room(room, sparse));
                let mut by_class = [0; 2];
                for (structure, &right) in structures.iter().zip(&right) {
                    let job = prepared.job(structure);
                    for (used, (room, sparse)) in used.iter_mut().zip(ways) {
                        let value = used.value(&job);
                        close(value, right, &what);
                        let fresh = with_room(room, sparse).value(&job);
                        assert_eq!(value.to_bits(), fresh.to_bits(), "{what} {sparse}");
                    }
                    by_class[usize::from(used[0].finite.layers > 0)] += 1;
                    assert_eq!(used[3].finite.layers, if layers > 4 { 2 } else { 1 });
                }
                assert!(used[0].restarts > 1 && used[3].restarts == 1, "{what}");
                assert!(by_class[0] > 5 && by_class[1] > 5, "{what}: {by_class:?}");
            }
        }
    }

    fn plan_features(nlm: &Nlm) -> usize {
        crate::plan::padded(nlm.config().features)
    }

    /// A relation that nearly all pairs stand in is as good as one that few do, if it holds both
    /// ways.
    #[test]
    fn what_most_pairs_have_in_common_makes_no_neighbours() {
        let nlm = Nlm::new(NlmConfig {
            input_channels: vec![0, 2, 2],
            layers: 6,
            ..NlmConfig::default()
        })
        .unwrap();
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
                close(way.value(&prepared.job(&structure)), right, "38 objects");
                assert_eq!(way.finite, Finite { layers: 2, sparse });
            }
        }
    }

    /// Structures with more classes of orbits than tables hold.
    #[test]
    fn too_many_classes_are_refused_whatever_came_before() {
        let nlm = Nlm::new(NlmConfig {
            input_channels: vec![1, 5, 6],
            layers: 5,
            features: 64,
            quantifiers: Quantifiers::ExistsForall,
            ..NlmConfig::default()
        })
        .unwrap();
        let parameters = nlm.init(5);
        let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
        let mut rng = SplitMix64::new(77);
        let prepared = nlm.prepare(&parameters, Simd::best());
        let mut used = ValuesByClass::default();
        let (mut layers, mut afresh) = (Vec::new(), Vec::new());
        for (objects, types, facts, binary) in [
            (9, 3, 9, 1),
            (40, 16, 500, 1),
            (9, 4, 9, 2),
            (40, 16, 2500, 3),
            (32, 16, 300, 1),
            (31, 16, 300, 1),
            (9, 3, 9, 1),
        ] {
            let structure = random(&mut rng, objects, types, facts, binary);
            let job = prepared.job(&structure);
            let restarts = used.restarts;
            let value = used.value(&job);
            afresh.push(used.restarts - restarts);
            let mut fresh = ValuesByClass::default();
            assert_eq!(value.to_bits(), fresh.value(&job).to_bits());
            assert_eq!(used.finite, fresh.finite);
            layers.push(used.finite.layers);
            if objects < 10 {
                close(
                    value,
                    Reference::forward(&nlm, &exact, &structure).value(),
                    "few objects",
                );
            }
        }
        assert_eq!(layers, [2, 0, 2, 0, 2, 2, 2]);
        // The sixth has room of its own, but not beside the fifth.
        assert_eq!(afresh, [1, 2, 0, 2, 0, 1, 0]);
    }
}
