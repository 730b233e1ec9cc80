//! Which objects are near which pairs.
//!
//! Where few pairs stand in a relation, the extrema over triples of finite layers, and of a
//! layer after them that only reduce reads, need O^2 times the number of neighbours, and one product of
//! matrices over (max, +). Objects that are near neither a nor b differ by type only. They come in segments, since objects
//! are named by type, and with the pair {a, b} all of a segment have one class.

use super::classes::Classes;
use super::index::Index;
use super::pair_classes::PairClasses;
use super::patterns::Patterns;
use super::{FeatureEngine, Job};
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::sparse::{Far, Near, NearPair, Neighbour};
use crate::plan::BLOCK;
use std::ptr::null;

/// With fewer objects it takes longer to find neighbours than to go through all orbits.
const FEW_OBJECTS: usize = 32;
/// No class yet, or no kind.
const NONE: u32 = u32::MAX;

/// Runs of objects that a class does not tell apart.
#[derive(Default)]
pub(super) struct Segments {
    /// Where each ends.
    ends: Vec<u32>,
    /// The segment of each object.
    of: Vec<u8>,
    /// `[segment][segment]`: the kind of an empty pair with objects of these, the first no later than the second.
    empty: Vec<u32>,
}

impl Segments {
    /// One for all objects: the kind of a pair is its pattern.
    pub(super) fn whole(&mut self, objects: usize) {
        self.ends.clear();
        self.ends.push(objects as u32);
        self.of.clear();
        self.of.resize(objects, 0);
        self.empty.clear();
        self.empty.push(0);
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
        self.empty.clear();
        for &a in &types {
            let of = types.iter().map(|&b| pairs.empty(a, b).unwrap_or(NONE));
            self.empty.extend(of);
        }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// The kind of an empty pair with objects of these segments.
    fn empty(&self, a: usize, b: usize) -> u32 {
        self.empty[a.min(b) * self.len() + a.max(b)]
    }

    /// How many objects each has.
    fn sizes(&self) -> [u32; SEGMENTS] {
        let mut sizes = [0; SEGMENTS];
        let mut from = 0;
        for (size, &end) in sizes.iter_mut().zip(&self.ends) {
            *size = end - from;
            from = end;
        }
        sizes
    }
}

/// As many as there are types at most.
const SEGMENTS: usize = super::pair_classes::TYPES;

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
    /// `[i][j]`: twice the kind of {i, j}, plus one where i > j.
    ordered: Vec<u32>,
    /// For each object those it stands in a relation with, one after the other, and where they end.
    related: Vec<u32>,
    related_ends: Vec<u32>,
}

impl Sparse {
    pub(crate) fn bytes(&self) -> usize {
        (self.pairs.capacity() + self.far.capacity()) * size_of::<NearPair>()
            + (self.neighbours.capacity() + self.far_objects.capacity()) * size_of::<Neighbour>()
            + (self.far_of_kind.capacity() + self.far_classes.capacity()) * 8
            + (self.ordered.capacity() + self.related.capacity()) * 4
    }

    /// Whether there are so few that going through them is quicker than orbit by orbit.
    pub(super) fn suits(&self, patterns: &Patterns, index: &Index) -> bool {
        let n = index.objects;
        let many = n >= FEW_OBJECTS && 6 * patterns.related().len() <= n * n;
        index.rows(2) > 0 && (many || self.always)
    }

    /// The objects each object stands in a relation with.
    fn relate(&mut self, patterns: &Patterns, objects: usize) {
        let ends = &mut self.related_ends;
        ends.clear();
        ends.resize(objects + 1, 0);
        for &[a, b] in patterns.related() {
            ends[a as usize + 1] += 1;
            ends[b as usize + 1] += u32::from(a != b);
        }
        for x in 0..objects {
            ends[x + 1] += ends[x];
        }
        self.related.resize(ends[objects] as usize, 0);
        // From where each begins to where it ends.
        for &[a, b] in patterns.related() {
            for (x, y) in [(a, b), (b, a)].into_iter().take(1 + usize::from(a != b)) {
                let end = &mut ends[x as usize];
                self.related[*end as usize] = y;
                *end += 1;
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
        patterns: &Patterns,
        kinds: &[u32],
        index: &Index,
        most: usize,
    ) -> bool {
        let n = index.objects;
        self.relate(patterns, n);
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
        // With `distinct` there is no pair (i, i); any kind will do.
        self.ordered.clear();
        self.ordered.resize(n * n, 0);
        let sizes = self.segments.sizes();
        let empty = |row: u32| patterns.of_pair()[row as usize / 2] == 0;
        let kind = |row: u32| kinds[row as usize / 2];
        for a in 0..n {
            if classes.len() > most {
                return false;
            }
            let rows_a = index.rows_of(a);
            for b in index.orbits().after(a)..n {
                let rows_b = index.rows_of(b);
                let ab = kind(rows_a[b]);
                self.ordered[a * n + b] = 2 * ab;
                self.ordered[b * n + a] = 2 * ab + u32::from(a != b);
                let mut far = sizes;
                if index.distinct {
                    for x in [a, b] {
                        far[usize::from(self.segments.of[x])] -= 1;
                    }
                }
                for (own, other, of_a) in [(a, b, true), (b, a, false)] {
                    for i in self.related_to(own) {
                        let z = self.related[i] as usize;
                        let (az, bz) = (rows_a[z], rows_b[z]);
                        // Those of b that are neighbours of a have been met.
                        if (index.distinct && z == other) || !(of_a || empty(az)) {
                            continue;
                        }
                        let near = [ab, kind(az), kind(bz)];
                        let [ab, ba] =
                            slots(classes, usize::from(z >= a) + usize::from(z >= b), near);
                        self.neighbours.push(Neighbour { ab, ba, az, bz });
                        far[usize::from(self.segments.of[z])] -= 1;
                    }
                }
                let far = self.far_of(classes, ab, [a, b], &far);
                self.pairs.push(NearPair {
                    end: self.neighbours.len() as u32,
                    far,
                    a: a as u32,
                    b: b as u32,
                });
            }
        }
        // Where no object is far any class will do, but there must be one.
        if classes.len() == 0 {
            classes.class([0; 3]);
        }
        for class in self.far_classes.iter_mut().flatten() {
            if *class == NONE {
                *class = 0;
            }
        }
        classes.len() <= most
    }

    /// The place of what is far from the pair {a, b}, given how many objects of each segment are.
    fn far_of(
        &mut self,
        classes: &mut Classes,
        kind: u32,
        [a, b]: [usize; 2],
        far: &[u32; SEGMENTS],
    ) -> u32 {
        let mut segments = 0;
        for (s, &left) in far.iter().enumerate() {
            segments |= u32::from(left > 0) << s;
        }
        let (met, place) = self.far_of_kind[kind as usize];
        if met == segments {
            return place;
        }
        let [a, b] = [a, b].map(|x| usize::from(self.segments.of[x]));
        for s in (0..self.segments.len()).filter(|s| segments >> s & 1 == 1) {
            let at = kind as usize * self.segments.len() + s;
            if self.far_classes[at][0] == NONE {
                // Of objects of one type, whose order among the three is open, the last.
                let place = usize::from(s >= a) + usize::from(s >= b);
                let kinds = [kind, self.segments.empty(a, s), self.segments.empty(b, s)];
                self.far_classes[at] = slots(classes, place, kinds);
            }
            let [ab, ba] = self.far_classes[at];
            self.far_objects.push(Neighbour {
                ab,
                ba,
                az: 0,
                bz: 0,
            });
        }
        let place = self.far.len() as u32;
        self.far.push(NearPair {
            end: self.far_objects.len() as u32,
            far: 0,
            a: 0,
            b: 0,
        });
        self.far_of_kind[kind as usize] = (segments, place);
        place
    }
}

/// Six times the class of the orbit of a pair a <= b and z, plus the slot of (a, b, z), of (b, a, z), given the
/// kinds of ab, az and bz and the place of z among the three. The place is as good as random, so
/// nothing branches on it.
#[inline]
fn slots(classes: &mut Classes, place: usize, kinds: [u32; 3]) -> [u32; 2] {
    /// By place: where the kinds stand in the class, and the slots.
    const PLACES: [([usize; 3], [u32; 2]); 3] = [
        ([2, 0, 1], [3, 5]),
        ([1, 0, 2], [1, 4]),
        ([0, 1, 2], [0, 2]),
    ];
    let (places, slots) = &PLACES[place];
    let mut sorted = [0; 3];
    for (kind, &place) in kinds.iter().zip(places) {
        sorted[place] = *kind;
    }
    let class = 6 * classes.class(sorted);
    slots.map(|slot| class + slot)
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
