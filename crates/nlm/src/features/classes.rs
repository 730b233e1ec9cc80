//! The finite first layers.
//!
//! Inputs are boolean. Where no proposition has arity 3, a triple of the first layer reads only the
//! pairs of its orbit, and these have one of few patterns of bits. A triple of the second reads triples and pairs of the
//! first, and these pairs are a function of the types of their objects besides. So the triples of these layers, and
//! whatever later layers compute from them by a linear map, are tables over classes of orbits: the kinds of the
//! pairs {x, y}, {x, z} and {y, z}, x <= y <= z. The kind of a pair is its class (types and pattern, see
//! `pair_classes`), or, where there are too many of those, its pattern alone.
//!
//! The tables depend on the weights alone and are kept from structure to structure. An
//! entry is computed by the same operations whatever was there before it.

use super::{FeatureEngine, Job};
use crate::buffer::Buffer;
use crate::index::Index;
use crate::kernels::class_tables::{ClassSlots, ClassTable, KindParts};
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::orbit::{SIX, orbit_count};
use crate::plan::{BLOCK, Plan};
use std::ops::Range;
use std::ptr::null_mut;

/// Classes times features a table holds; a structure with more classes has fewer layers finite.
const TABLE_ROOM: usize = 1 << 18;

/// The layers of a structure whose triples are finite, and how orbits reach their class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Finite {
    /// The first so many layers: 0, 1, or, where kinds are classes of pairs, 2.
    pub(super) layers: usize,
    /// Pairs with their neighbours, instead of orbit by orbit.
    pub(super) sparse: bool,
}

impl Finite {
    pub(super) const NOT: Self = Self {
        layers: 0,
        sparse: false,
    };

    /// Columns of `own[3]` that hold triples of these layers: the first, since no proposition
    /// has arity 3.
    pub(super) fn columns(self, plan: &Plan) -> usize {
        let kept = |layer: &usize| kept(plan, *layer);
        (0..self.layers).filter(kept).count() * plan.features
    }

    /// Those of them that a layer's triples read.
    pub(super) fn read_by(self, plan: &Plan, layer: usize) -> Range<usize> {
        let all = self.columns(plan);
        let map = plan.layers[layer].get(3).and_then(|c| c.own.as_ref());
        map.map_or(0..0, |map| {
            map.columns.start.min(all)..map.columns.end.min(all)
        })
    }
}

/// Whether a layer's triples are read by others than reduce.
fn kept(plan: &Plan, layer: usize) -> bool {
    plan.layers[layer]
        .get(3)
        .is_some_and(|compose| compose.column.is_some())
}

/// Whether the first layer has triples that read boolean pairs and nothing else.
pub(super) fn may_be_finite(plan: &Plan) -> bool {
    plan.max_arity == 3
        && plan.inputs(3) == 0
        && (1..=32).contains(&plan.inputs(2))
        && plan.layers[0].get(3).is_some_and(|c| c.expand.is_some())
}

/// Classes of orbits over one numbering of the kinds of pairs.
#[derive(Default)]
pub(crate) struct Classes {
    /// The numbering of kinds these tables belong to, and so the weights.
    numbering: u64,
    /// How often classes were numbered afresh.
    restarts: u64,
    /// The kinds xy, xz, yz of each class.
    members: Vec<[u32; 3]>,
    /// Open addressing.
    entries: Vec<u64>,
    /// How many classes have their tables.
    filled: usize,
    /// For each finite layer `[class][Q' / 8][6][8]`: activations.
    slots: [Buffer; 2],
    /// `[class][finite columns / 8][6][8]`: their coefficients.
    coefficients: Buffer,
    /// For each later layer what it reads of them: `[class][Q' / 8][6][8]`.
    tables: Vec<Buffer>,
}

/// Bits of a kind in a key. An entry is a key and, below it, a class.
const KIND_BITS: u32 = 14;
const CLASS_BITS: u32 = 64 - 3 * KIND_BITS;
/// As many kinds of pairs can be told apart.
pub(super) const MOST_KINDS: usize = (1 << KIND_BITS) - 1;
/// No entry: there are fewer kinds than such a key would have.
const FREE: u64 = u64::MAX;

/// How far to the left the kinds of xy, xz and yz stand in a key.
pub(super) const IN_KEY: [u32; 3] = [2 * KIND_BITS, KIND_BITS, 0];

#[inline]
fn key([xy, xz, yz]: [u32; 3]) -> u64 {
    u64::from(xy) << IN_KEY[0] | u64::from(xz) << IN_KEY[1] | u64::from(yz)
}

/// The kinds in a key.
fn kinds_in(key: u64) -> [u32; 3] {
    IN_KEY.map(|shift| (key >> shift) as u32 & ((1 << KIND_BITS) - 1))
}

/// Where a key is looked for first among so many entries.
#[inline]
fn home(key: u64, entries: usize) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (entries - 1)
}

#[inline]
fn class_in(entry: u64) -> u32 {
    (entry & ((1 << CLASS_BITS) - 1)) as u32
}

impl Classes {
    pub(crate) fn bytes(&self) -> usize {
        let buffers = self.slots.iter().chain(&self.tables);
        buffers.map(Buffer::bytes).sum::<usize>()
            + self.coefficients.bytes()
            + self.members.capacity() * 12
            + self.entries.capacity() * 8
    }

    /// `[class][Q' / 8][6][8]`: the activations of a finite layer.
    pub(super) fn slots(&self, layer: usize) -> *const f32 {
        self.slots[layer].as_ptr()
    }

    /// `[class][Q' / 8][6][8]`: what a later layer reads of the finite ones.
    pub(super) fn table(&self, layer: usize) -> *const f32 {
        self.tables[layer].as_ptr()
    }

    fn restart(&mut self, numbering: u64) {
        self.numbering = numbering;
        self.restarts += 1;
        self.members.clear();
        self.entries.clear();
        self.entries.resize(1 << 11, FREE);
        self.filled = 0;
    }

    /// Makes sure that classes are over this numbering.
    pub(super) fn belong_to(&mut self, numbering: u64) {
        if self.numbering != numbering {
            self.restart(numbering);
        }
    }

    /// Runs `find`, which adds the classes of one structure until it finds too many. If so, starts afresh: a
    /// structure that is refused has too many classes of its own.
    pub(super) fn within_room(
        &mut self,
        plan: &Plan,
        mut find: impl FnMut(&mut Self, usize) -> bool,
    ) -> bool {
        let room = TABLE_ROOM / plan.features;
        if find(self, room) {
            return true;
        }
        self.restart(self.numbering);
        find(self, room) || {
            self.restart(self.numbering);
            false
        }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// The class of orbits with the kinds of pairs in this key.
    #[inline]
    pub(super) fn class(&mut self, key: u64) -> u32 {
        let entry = self.entries[home(key, self.entries.len())];
        if entry >> CLASS_BITS == key {
            return class_in(entry);
        }
        self.look_further(key)
    }

    /// Takes the classes of many keys, one after the other.
    #[inline]
    pub(super) fn of_keys(&mut self, keys: &[u64], mut take: impl FnMut(usize, u32)) {
        let mut i = 0;
        while i < keys.len() {
            let entries = &self.entries[..];
            while let Some(&key) = keys.get(i) {
                let entry = entries[home(key, entries.len())];
                if entry >> CLASS_BITS != key {
                    break;
                }
                take(i, class_in(entry));
                i += 1;
            }
            if let Some(&key) = keys.get(i) {
                take(i, self.look_further(key));
                i += 1;
            }
        }
    }

    /// The class of a key that is not at its first place, a new one if it is nowhere.
    #[cold]
    fn look_further(&mut self, key: u64) -> u32 {
        let mut at = home(key, self.entries.len());
        while self.entries[at] != FREE {
            if self.entries[at] >> CLASS_BITS == key {
                return class_in(self.entries[at]);
            }
            at = (at + 1) & (self.entries.len() - 1);
        }
        let class = self.members.len() as u32;
        self.members.push(kinds_in(key));
        self.entries[at] = key << CLASS_BITS | u64::from(class);
        if self.members.len() * 8 > self.entries.len() {
            self.grow();
        }
        class
    }

    fn grow(&mut self) {
        let entries = self.entries.len() * 2;
        self.entries.clear();
        self.entries.resize(entries, FREE);
        for (class, &kinds) in self.members.iter().enumerate() {
            let key = key(kinds);
            let mut at = home(key, self.entries.len());
            while self.entries[at] != FREE {
                at = (at + 1) & (entries - 1);
            }
            self.entries[at] = key << CLASS_BITS | class as u64;
        }
    }

    /// The class of every orbit there is room for, in the order of the kernels; false where there are more
    /// classes than `most`.
    fn of_orbits(&mut self, index: &Index, kinds: &[u32], most: usize, to: &mut [u32]) -> bool {
        let n = index.objects;
        let (pairs, orbits) = (index.pairs(), index.orbits());
        if to.is_empty() {
            return true;
        }
        let mut next = 0;
        for x in 0..n {
            for y in orbits.after(x)..n {
                let first = orbits.after(y);
                let len = n.saturating_sub(first);
                if len == 0 {
                    continue;
                }
                let xy = kinds[pairs.index(x, y)];
                let (xz, yz) = (pairs.index(x, first), pairs.index(y, first));
                let (xz, yz) = (&kinds[xz..xz + len], &kinds[yz..yz + len]);
                let run = &mut to[next..next + len];
                next += len;
                for ((to, &xz), &yz) in run.iter_mut().zip(xz).zip(yz) {
                    *to = self.class(key([xy, xz, yz]));
                }
                if self.members.len() > most {
                    return false;
                }
            }
        }
        true
    }

    /// Activations, coefficients and tables of new classes. `parts` is, for each finite layer, what
    /// pairs of each kind add to its triples.
    fn fill(&mut self, job: &Job<'_>, parts: &[KindParts]) {
        let plan = job.plan;
        let finite = Finite {
            layers: parts.len(),
            sparse: false,
        };
        self.tables.resize_with(plan.layers.len(), Buffer::default);
        let (done, all) = (self.filled, self.members.len());
        if done == all {
            return;
        }
        self.filled = all;
        let stride = plan.features * SIX;
        let width = finite.columns(plan) * SIX;
        self.coefficients.extend(done * width, all * width);
        for (layer, &kinds) in parts.iter().enumerate() {
            let slots = &mut self.slots[layer];
            slots.extend(done * stride, all * stride);
            let slots = slots.as_mut_slice()[done * stride..].as_mut_ptr();
            if layer > 0 {
                self.read(job, finite, layer, done, slots);
            }
            let to = match plan.layers[layer][3].column {
                Some(column) => {
                    let at = done * width + column * SIX;
                    self.coefficients.as_mut_slice()[at..].as_mut_ptr()
                }
                None => null_mut(),
            };
            dispatch(
                job.simd,
                &ClassSlots {
                    classes: &self.members[done..],
                    kinds,
                    features: plan.features,
                    add: layer > 0,
                    slots,
                    coefficients: to,
                    coefficients_stride: width,
                },
            );
        }
        for layer in parts.len()..plan.layers.len() {
            if !finite.read_by(plan, layer).is_empty() {
                let table = &mut self.tables[layer];
                table.extend(done * stride, all * stride);
                let table = table.as_mut_slice()[done * stride..].as_mut_ptr();
                self.read(job, finite, layer, done, table);
            }
        }
    }

    /// What a layer reads of the finite layers before it, for the classes from `done` on.
    fn read(&self, job: &Job<'_>, finite: Finite, layer: usize, done: usize, to: *mut f32) {
        let plan = job.plan;
        let columns = Finite {
            layers: layer.min(finite.layers),
            ..finite
        }
        .read_by(plan, layer);
        let width = finite.columns(plan) * SIX;
        let map = plan.layers[layer][3]
            .own
            .as_ref()
            .expect("it reads columns");
        dispatch(
            job.simd,
            &ClassTable {
                classes: self.members.len() - done,
                features: plan.features,
                coefficients: self.coefficients.as_slice()[done * width + columns.start * SIX..]
                    .as_ptr(),
                coefficients_stride: width,
                columns: columns.len(),
                weights: job.weights[layer][3].orbit.rows.as_ptr(),
                block_stride: map.columns.len() * SIX * BLOCK,
                table: to,
            },
        );
    }
}

impl FeatureEngine {
    /// Finds the classes of the structure's objects, pairs and orbits, with tables for all of them.
    pub(super) fn classify(&mut self, job: &Job<'_>, index: &Index) -> Finite {
        self.pair_classes.leave();
        if !may_be_finite(job.plan) || !self.patterns.find(job, index, &self.names) {
            return Finite::NOT;
        }
        self.pair_classes
            .find(job, index, self.at, &self.names, &self.patterns);
        let by_types = if self.pair_classes.used() && !self.never_typed {
            self.by_types(job, index)
        } else {
            None
        };
        by_types
            .or_else(|| self.by_patterns(job, index))
            .unwrap_or(Finite::NOT)
    }

    /// Kinds of pairs are their classes.
    fn by_types(&mut self, job: &Job<'_>, index: &Index) -> Option<Finite> {
        let pairs = &self.pair_classes;
        let parts = pairs.parts()?;
        let kinds = &pairs.of_pair()[self.at * index.rows(2) / 2..];
        let sparse = self.sparse.may_suit(index) && {
            self.sparse.segments.by_type(pairs);
            let bits = |kind| self.patterns.known()[pairs.pattern(kind)];
            self.sparse.suits(kinds, bits, job.plan.inputs(2), index)
        };
        let finite = Finite { layers: 2, sparse };
        let room = room_for_orbits(&mut self.orbit_classes, job.plan, index, self.at, finite);
        self.typed.belong_to(pairs.numbering());
        let few = self.typed.within_room(job.plan, |classes, most| {
            (!sparse || self.sparse.list(classes, kinds, index, most))
                && classes.of_orbits(index, kinds, most, room)
        });
        few.then(|| {
            self.typed.fill(job, &parts);
            finite
        })
    }

    /// Kinds of pairs are their patterns.
    fn by_patterns(&mut self, job: &Job<'_>, index: &Index) -> Option<Finite> {
        let patterns = &self.patterns;
        let kinds = patterns.of_pair();
        let sparse = self.sparse.may_suit(index) && {
            self.sparse.segments.whole(index.objects);
            let bits = |kind: u32| patterns.known()[kind as usize];
            self.sparse.suits(kinds, bits, job.plan.inputs(2), index)
        };
        let finite = Finite { layers: 1, sparse };
        let room = room_for_orbits(&mut self.orbit_classes, job.plan, index, self.at, finite);
        self.untyped.belong_to(patterns.numbering());
        let few = self.untyped.within_room(job.plan, |classes, most| {
            (!sparse || self.sparse.list(classes, kinds, index, most))
                && classes.of_orbits(index, kinds, most, room)
        });
        few.then(|| {
            self.untyped.fill(job, &[patterns.parts(job.plan.features)]);
            finite
        })
    }

    /// How often tables started afresh: what was found before is then of no use.
    pub(super) fn restarts(&self) -> u64 {
        self.pair_classes.numbering() + self.typed.restarts + self.untyped.restarts
    }

    /// The classes that the layers of the structure at hand are finite by.
    pub(super) fn classes(&self, finite: Finite) -> &Classes {
        if finite.layers == 2 {
            &self.typed
        } else {
            &self.untyped
        }
    }
}

/// Where the classes of the orbits of one structure of a group go: nowhere if pairs are taken with their neighbours
/// and no layer beyond the finite ones keeps triples.
fn room_for_orbits<'a>(
    all: &'a mut Vec<u32>,
    plan: &Plan,
    index: &Index,
    at: usize,
    finite: Finite,
) -> &'a mut [u32] {
    let needed =
        !finite.sparse || (finite.layers..plan.layers.len()).any(|layer| kept(plan, layer));
    let count = if needed {
        orbit_count(index.objects, index.distinct)
    } else {
        0
    };
    all.resize((at + 1) * count, 0);
    &mut all[at * count..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::reference::Reference;
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

    /// Kinds of pairs by type and by pattern, orbit by orbit and with neighbours, in a fresh workspace and in one that has met more patterns and
    /// types than it numbers.
    #[test]
    fn all_kinds_give_the_value_of_the_reference() {
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
                let mut used = FeatureEngine::default();
                let engine = |(always_sparse, never_typed)| {
                    let mut engine = FeatureEngine::default();
                    engine.sparse.always = always_sparse;
                    engine.never_typed = never_typed;
                    engine
                };
                let ways = [(false, true), (true, false), (true, true)];
                let mut others = ways.map(engine);
                for (structure, &right) in structures.iter().zip(&right) {
                    let job = prepared.job(structure);
                    let value = used.value(&job);
                    close(value, right, &what);
                    for (other, way) in others.iter_mut().zip(ways) {
                        let value = other.value(&job);
                        close(value, right, &what);
                        let fresh = engine(way).value(&job);
                        assert_eq!(value.to_bits(), fresh.to_bits(), "{what} {way:?}");
                    }
                    let fresh = FeatureEngine::default().value(&job);
                    assert_eq!(value.to_bits(), fresh.to_bits(), "{what}");
                }
                assert!(
                    used.patterns.numbering() > 1,
                    "{what}: {} patterns",
                    used.patterns.known().len()
                );
                assert_eq!(layers > 4, used.typed.len() > 0);
            }
        }
    }

    /// A relation that nearly all pairs stand in is as good as one that few do, if it holds both ways.
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
                let mut engine = FeatureEngine::default();
                close(engine.value(&prepared.job(&structure)), right, "38 objects");
                let index = Index::new(objects, false, 1);
                let finite = engine.classify(&prepared.job(&structure), &index);
                assert_eq!(finite, Finite { layers: 2, sparse });
            }
        }
    }

    /// Structures with more classes than a table holds: by type, and by pattern too.
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
        let mut used = FeatureEngine::default();
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
            let restarts = used.typed.restarts;
            let value = used.value(&job);
            afresh.push(used.typed.restarts - restarts);
            let mut fresh = FeatureEngine::default();
            assert_eq!(value.to_bits(), fresh.value(&job).to_bits());
            let index = Index::new(objects, false, 1);
            let finite = used.classify(&job, &index);
            assert_eq!(finite, fresh.classify(&job, &index));
            layers.push(finite.layers);
            if objects < 10 {
                close(
                    value,
                    Reference::forward(&nlm, &exact, &structure).value(),
                    "few objects",
                );
            }
        }
        assert_eq!(layers, [2, 1, 2, 0, 2, 2, 2]);
        // The sixth has room of its own, but not beside the fifth.
        assert_eq!(afresh, [1, 2, 0, 2, 0, 1, 0]);
    }
}
