//! Which objects are near which pairs.
//!
//! Most pairs of objects of two types are of one kind, usually without any relation, the common one. Where few are not, the extrema over triples of
//! finite layers, and of a layer after them that only reduce reads, need O^2 times the number of neighbours, and one product of
//! matrices over (max, +). An object is near a if the two are not of their common kind. Objects that are near neither a nor b differ by type only. They come in segments, since objects
//! are named by type, and with the pair {a, b} all of a segment have one class.

use super::classes::{Classes, IN_KEY};
use super::pair_classes::PairClasses;
use super::{FeatureEngine, Job};
use crate::bits::is_symmetric;
use crate::index::Index;
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::sparse::{Far, Near, NearPair, Neighbour};
use crate::plan::BLOCK;
use std::ptr::null;

/// With fewer objects it takes longer to find neighbours than to go through all orbits.
const FEW_OBJECTS: usize = 36;
/// See [`Sparse::ordered`].
const RELATED: u32 = 2;
/// No class yet, or no kind.
const NONE: u32 = u32::MAX;

/// As many as there are types at most.
const SEGMENTS: usize = super::pair_classes::TYPES;

/// Runs of objects that a class does not tell apart.
#[derive(Default)]
pub(super) struct Segments {
    /// Where each ends.
    ends: Vec<u32>,
    /// The segment of each object.
    of: Vec<u8>,
    /// `[segment][segment]`: the common kind of pairs with objects of these, the first no later than the second.
    common: Vec<u32>,
}

/// What is known of a kind of pairs while common ones are chosen.
#[derive(Clone, Copy)]
struct Known {
    count: u32,
    segments: [u8; 2],
}

impl Segments {
    /// One for all objects: the kind of a pair is its pattern.
    pub(super) fn whole(&mut self, objects: usize) {
        self.ends.clear();
        self.ends.push(objects as u32);
        self.of.clear();
        self.of.resize(objects, 0);
    }

    /// One a type: the kind of a pair is its class.
    pub(super) fn by_type(&mut self, pairs: &PairClasses) {
        self.ends.clear();
        self.of.clear();
        let mut types: Vec<u16> = Vec::new();
        for (x, &of) in pairs.type_of().iter().enumerate() {
            if types.last() != Some(&of) {
                types.push(of);
                self.ends.push(0);
            }
            self.of.push((types.len() - 1) as u8);
            self.ends[types.len() - 1] = x as u32 + 1;
        }
    }

    /// Chooses the kind that most pairs of two segments have; of two that are equally common the one with the lesser bits, since the
    /// numbers of kinds depend on what came before. Between objects of one segment the relation must be the same both ways:
    /// which of two comes first is open there.
    fn choose_common(
        &mut self,
        kinds: &[u32],
        bits: impl Fn(u32) -> u64,
        channels: usize,
        index: &Index,
    ) {
        let all = kinds.iter().max().map_or(0, |&kind| kind as usize + 1);
        let mut known = vec![
            Known {
                count: 0,
                segments: [0; 2]
            };
            all
        ];
        for (&[a, b], &kind) in index.ends.iter().zip(kinds) {
            let known = &mut known[kind as usize];
            known.count += 1;
            known.segments = [self.of[a as usize], self.of[b as usize]];
        }
        self.common.clear();
        self.common.resize(self.len() * self.len(), NONE);
        for (kind, of) in (0..).zip(&known) {
            let [a, b] = of.segments.map(usize::from);
            if of.count == 0 || (a == b && !is_symmetric(bits(kind), channels)) {
                continue;
            }
            let best = &mut self.common[a * self.ends.len() + b];
            let rank = |kind: u32| (known[kind as usize].count, std::cmp::Reverse(bits(kind)));
            if *best == NONE || rank(kind) > rank(*best) {
                *best = kind;
            }
        }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// The common kind of pairs with objects of these segments.
    fn common(&self, a: usize, b: usize) -> u32 {
        self.common[a.min(b) * self.len() + a.max(b)]
    }

    /// How many objects each has.
    fn sizes(&self) -> Counts {
        let mut sizes = [0; SEGMENTS];
        let mut from = 0;
        for (size, &end) in sizes.iter_mut().zip(&self.ends) {
            *size = (end - from) as u16;
            from = end;
        }
        sizes
    }
}

/// How many objects of each segment.
type Counts = [u16; SEGMENTS];

/// What is left of `all`; where an object is taken twice it is to be given back.
fn less(all: &Counts, taken: &Counts) -> Counts {
    std::array::from_fn(|s| all[s].wrapping_sub(taken[s]))
}

/// The neighbours of every pair of one structure.
#[derive(Default)]
pub(crate) struct Sparse {
    /// Whatever the object count, for tests.
    pub(super) always: bool,
    pub(super) segments: Segments,
    pairs: Vec<NearPair>,
    neighbours: Vec<Neighbour>,
    /// The kinds of far objects some pair has, and what they are, listed as neighbours are.
    far: Vec<NearPair>,
    far_objects: Vec<Neighbour>,
    /// By kind of pair, the segments and the place in `far` met last.
    far_of_kind: Vec<(u32, u32)>,
    /// `[kind][segment][2]`: six times the class of the orbits with a far object there, plus the slot
    /// of (a, b, z), of (b, a, z).
    far_classes: Vec<[u32; 2]>,
    /// The pairs that are not of the common kind.
    uncommon: Vec<[u32; 2]>,
    /// `[i][j]`: four times the kind of {i, j}, plus [`RELATED`] where it is not the common one, plus one where i > j.
    ordered: Vec<u32>,
    /// For each object those near it, one after the other, and where they end.
    related: Vec<u32>,
    related_ends: Vec<u32>,
    /// How many those are.
    related_counts: Vec<Counts>,
    /// The keys of the classes of neighbours, of the pairs at work.
    keys: Vec<u64>,
}

impl Sparse {
    pub(crate) fn bytes(&self) -> usize {
        (self.pairs.capacity() + self.far.capacity()) * size_of::<NearPair>()
            + (self.neighbours.capacity() + self.far_objects.capacity()) * size_of::<Neighbour>()
            + (self.far_of_kind.capacity() + self.far_classes.capacity()) * 8
            + (self.ordered.capacity() + self.related.capacity()) * 4
            + self.uncommon.capacity() * 8
    }

    /// Whether there are objects enough to ask.
    pub(super) fn may_suit(&self, index: &Index) -> bool {
        index.rows(2) > 0 && (index.objects >= FEW_OBJECTS || self.always)
    }

    /// Whether so few pairs are not of the common kind that going through neighbours is quicker than orbit by orbit. Segments are
    /// known; `bits` is the pattern of a kind.
    pub(super) fn suits(
        &mut self,
        kinds: &[u32],
        bits: impl Fn(u32) -> u64,
        channels: usize,
        index: &Index,
    ) -> bool {
        let n = index.objects;
        let segments = &mut self.segments;
        segments.choose_common(kinds, bits, channels, index);
        self.uncommon.clear();
        for (&[a, b], &kind) in index.ends.iter().zip(kinds) {
            let [of_a, of_b] = [a, b].map(|x| usize::from(segments.of[x as usize]));
            if segments.common(of_a, of_b) != kind {
                self.uncommon.push([a, b]);
            }
        }
        6 * self.uncommon.len() <= n * n || self.always
    }

    /// The objects near each object, and the kinds of all pairs.
    fn relate(&mut self, kinds: &[u32], index: &Index) {
        let n = index.objects;
        // With `distinct` there is no pair (i, i); any kind will do.
        self.ordered.clear();
        self.ordered.resize(n * n, 0);
        let mut all = kinds.iter();
        for a in 0..n {
            for (b, &kind) in (index.orbits().after(a)..n).zip(&mut all) {
                self.ordered[a * n + b] = kind << 2;
                self.ordered[b * n + a] = kind << 2 | u32::from(a != b);
            }
        }
        let ends = &mut self.related_ends;
        ends.clear();
        ends.resize(n + 1, 0);
        for &[a, b] in &self.uncommon {
            ends[a as usize + 1] += 1;
            ends[b as usize + 1] += u32::from(a != b);
        }
        for x in 0..n {
            ends[x + 1] += ends[x];
        }
        self.related.resize(ends[n] as usize, 0);
        self.related_counts.clear();
        self.related_counts.resize(n, [0; SEGMENTS]);
        // From where each begins to where it ends.
        for &[a, b] in &self.uncommon {
            for (x, y) in [(a, b), (b, a)].into_iter().take(1 + usize::from(a != b)) {
                let end = &mut ends[x as usize];
                self.related[*end as usize] = y;
                let segment = usize::from(self.segments.of[y as usize]);
                self.related_counts[x as usize][segment] += 1;
                *end += 1;
                self.ordered[x as usize * n + y as usize] |= RELATED;
            }
        }
    }

    fn related_to(&self, x: usize) -> std::ops::Range<usize> {
        let from = x
            .checked_sub(1)
            .map_or(0, |before| self.related_ends[before]);
        from as usize..self.related_ends[x] as usize
    }

    /// Lists them, given the kind of each pair; false where there are more classes than `most`.
    pub(super) fn list(
        &mut self,
        classes: &mut Classes,
        kinds: &[u32],
        index: &Index,
        most: usize,
    ) -> bool {
        let n = index.objects;
        self.relate(kinds, index);
        self.pairs.clear();
        self.neighbours.clear();
        self.far.clear();
        self.far_objects.clear();
        let known = kinds.iter().max().map_or(0, |&kind| kind as usize + 1);
        self.far_of_kind.clear();
        self.far_of_kind.resize(known, (NONE, 0));
        self.far_classes.clear();
        self.far_classes
            .resize(known * self.segments.len(), [NONE; 2]);
        let sizes = self.segments.sizes();
        let mut at_hand = vec![0; 2 * n + 1];
        for a in 0..n {
            if classes.len() > most {
                return false;
            }
            let first = self.neighbours.len();
            self.keys.clear();
            let (rows_a, kinds_a) = (index.rows_of(a), &self.ordered[a * n..(a + 1) * n]);
            let near_a = &self.related[self.related_to(a)];
            let left_a = less(&sizes, &self.related_counts[a]);
            for b in index.orbits().after(a)..n {
                let (rows_b, kinds_b) = (index.rows_of(b), &self.ordered[b * n..(b + 1) * n]);
                let ab = kinds_a[b] >> 2;
                // Those of b that are neighbours of a are at hand already. Which are is as good as
                // random, so nothing branches on it.
                let mut count = 0;
                for &z in near_a {
                    at_hand[count] = z;
                    count += usize::from(!(index.distinct & (z as usize == b)));
                }
                let mut left = less(&left_a, &self.related_counts[b]);
                for &z in &self.related[self.related_to(b)] {
                    at_hand[count] = z;
                    let met = kinds_a[z as usize] & RELATED != 0;
                    let segment = usize::from(self.segments.of[z as usize]) % SEGMENTS;
                    left[segment] = left[segment].wrapping_add(u16::from(met));
                    count += usize::from(!met & !(index.distinct & (z as usize == a)));
                }
                if index.distinct && kinds_a[b] & RELATED == 0 {
                    for x in [a, b] {
                        left[usize::from(self.segments.of[x])] -= 1;
                    }
                }
                let mut far = 0;
                for (s, left) in left[..self.segments.len()].iter().enumerate() {
                    far |= u32::from(*left > 0) << s;
                }
                let at_hand = &at_hand[..count];
                let place = |z: usize| &PLACES[usize::from(z >= a) + usize::from(z >= b)];
                self.keys.extend(at_hand.iter().map(|&z| {
                    let z = z as usize;
                    place(z).key([ab, kinds_a[z] >> 2, kinds_b[z] >> 2])
                }));
                self.neighbours.extend(at_hand.iter().map(|&z| {
                    let z = z as usize;
                    let [ab, ba] = place(z).slots;
                    let (az, bz) = (rows_a[z], rows_b[z]);
                    Neighbour { ab, ba, az, bz }
                }));
                let (met, mut place) = self.far_of_kind[ab as usize];
                if met != far {
                    place = self.far.len() as u32;
                    self.far_of_kind[ab as usize] = (far, place);
                    let segments = [a, b].map(|x| usize::from(self.segments.of[x]));
                    far_from(
                        &self.segments,
                        classes,
                        &mut self.far_classes,
                        ab,
                        segments,
                        far,
                        &mut self.far_objects,
                    );
                    self.far.push(NearPair {
                        end: self.far_objects.len() as u32,
                        far: 0,
                        a: 0,
                        b: 0,
                    });
                }
                self.pairs.push(NearPair {
                    end: self.neighbours.len() as u32,
                    far: place,
                    a: a as u32,
                    b: b as u32,
                });
            }
            let neighbours = &mut self.neighbours[first..];
            classes.of_keys(&self.keys, |i, class| {
                neighbours[i].ab += 6 * class;
                neighbours[i].ba += 6 * class;
            });
        }
        // Where no object is far any class will do, but there must be one.
        if classes.len() == 0 {
            classes.class(0);
        }
        for class in self.far_classes.iter_mut().flatten() {
            if *class == NONE {
                *class = 0;
            }
        }
        classes.len() <= most
    }
}

/// Adds what is far from a pair of this kind with objects of these segments: one object of each segment
/// of the set `far`.
fn far_from(
    segments: &Segments,
    classes: &mut Classes,
    far_classes: &mut [[u32; 2]],
    kind: u32,
    [a, b]: [usize; 2],
    far: u32,
    to: &mut Vec<Neighbour>,
) {
    for s in (0..segments.len()).filter(|s| far >> s & 1 == 1) {
        let class = &mut far_classes[kind as usize * segments.len() + s];
        if class[0] == NONE {
            // After the objects of its own type: among these its place is open.
            let place = usize::from(s >= a) + usize::from(s >= b);
            let kinds = [kind, segments.common(a, s), segments.common(b, s)];
            let place = &PLACES[place];
            let of = 6 * classes.class(place.key(kinds));
            *class = place.slots.map(|slot| of + slot);
        }
        let [ab, ba] = *class;
        to.push(Neighbour {
            ab,
            ba,
            az: 0,
            bz: 0,
        });
    }
}

/// Where z stands among a <= b and z.
struct Place {
    /// Where in a key the kinds of ab, az and bz stand.
    shifts: [u32; 3],
    /// The slots of (a, b, z) and (b, a, z).
    slots: [u32; 2],
}

/// By how many of a and b are no later than z.
const PLACES: [Place; 3] = [
    Place {
        shifts: [IN_KEY[2], IN_KEY[0], IN_KEY[1]],
        slots: [3, 5],
    },
    Place {
        shifts: [IN_KEY[1], IN_KEY[0], IN_KEY[2]],
        slots: [1, 4],
    },
    Place {
        shifts: [IN_KEY[0], IN_KEY[1], IN_KEY[2]],
        slots: [0, 2],
    },
];

impl Place {
    /// The key of the class, given the kinds of ab, az and bz.
    #[inline]
    fn key(&self, [ab, az, bz]: [u32; 3]) -> u64 {
        let of = |kind: u32, shift: u32| u64::from(kind) << (shift % 64);
        of(ab, self.shifts[0]) | of(az, self.shifts[1]) | of(bz, self.shifts[2])
    }
}

impl FeatureEngine {
    /// The extrema over triples by neighbours; with the pairs of `layer`, or by the table alone.
    pub(super) fn near(
        &mut self,
        job: &Job<'_>,
        index: &Index,
        table: *const f32,
        layer: Option<usize>,
    ) {
        let features = job.plan.features;
        let both = job.plan.quantifiers == 2;
        let n = index.objects;
        let far = if let Some(layer) = layer {
            let columns = features * job.plan.quantifiers;
            self.far.reserve(n * n * (2 * features + columns));
            self.lay_out_far(index, layer, features);
            let b = self.far.as_mut_ptr();
            let far = b.wrapping_add(2 * n * n * features);
            dispatch(
                job.simd,
                &Far {
                    objects: n,
                    features,
                    both,
                    b,
                    c: b.wrapping_add(n * n * features),
                    segments: &self.sparse.segments.ends,
                    kinds: &self.sparse.ordered,
                    classes: &self.sparse.far_classes,
                    table,
                    far,
                },
            );
            far
        } else {
            let rows = 2 * self.sparse.far.len();
            self.far.reserve(rows * features * job.plan.quantifiers);
            let far = self.far.as_mut_ptr();
            dispatch(
                job.simd,
                &Near {
                    objects: n,
                    features,
                    both,
                    pairs: &self.sparse.far,
                    neighbours: &self.sparse.far_objects,
                    table,
                    expanded: null(),
                    far: null(),
                    best: far,
                },
            );
            far
        };
        dispatch(
            job.simd,
            &Near {
                objects: n,
                features,
                both,
                pairs: &self.sparse.pairs,
                neighbours: &self.sparse.neighbours,
                table,
                expanded: match layer {
                    Some(layer) => self.pairs[layer].as_ptr(),
                    None => null(),
                },
                far,
                best: self.best.as_mut_ptr(),
            },
        );
    }

    /// What pairs (a, z) contribute without position 1, then without position 0, with NaN for
    /// an object z near a.
    fn lay_out_far(&mut self, index: &Index, layer: usize, features: usize) {
        let n = index.objects;
        let expanded = self.pairs[layer].as_slice();
        let (b, rest) = self.far.as_mut_slice().split_at_mut(n * n * features);
        for a in 0..n {
            let start = a * n * features;
            for (z, &row) in index.rows_of(a).iter().enumerate() {
                // With `distinct` the pair (a, a) has no row; it is left out below.
                let from = &expanded[row as usize * 3 * features..][..2 * features];
                let at = start + z * features;
                for (f, from) in from.chunks_exact(BLOCK).enumerate() {
                    let f = f * BLOCK;
                    let to = if f < features {
                        &mut rest[at + f..at + f + BLOCK]
                    } else {
                        &mut b[at + f - features..at + f - features + BLOCK]
                    };
                    to.copy_from_slice(from);
                }
            }
            let own = a as u32;
            let itself = index.distinct.then_some(&own);
            let related = &self.sparse.related[self.sparse.related_to(a)];
            for &z in related.iter().chain(itself) {
                let at = start + z as usize * features;
                b[at..at + features].fill(f32::NAN);
                rest[at..at + features].fill(f32::NAN);
            }
        }
    }
}
