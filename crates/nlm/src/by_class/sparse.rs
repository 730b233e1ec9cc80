//! Which objects are near which pairs.
//!
//! Most pairs of objects of two types are of one class, usually without any relation, the common
//! one. Where few are not, the extrema over triples of finite layers, and of a layer after them
//! that only reduce reads, need O^2 times the number of neighbours, and one product of matrices
//! over (max, +). An object is near a if the two are not of their common class. Objects that are
//! near neither a nor b differ by type only. They come in segments, since objects are named by
//! type, and with the pair {a, b} all of a segment have one class.
//!
//! In the tree of `docs/nlm.md`: by class, values alone, where there are many objects and few
//! neighbours; it also decides whether that is so.

use super::Network;
use crate::classes::{Classes, IN_KEY};
use crate::index::Index;
use crate::kernels::buffer::{Buffer, copy_blocks};
use crate::kernels::orbit::Table;
use crate::kernels::sparse::{Far, Near, NearPair, Neighbour, Start};
use crate::kernels::view::RowsMut;
use crate::tuning::{self, SEGMENTS};

/// See [`Sparse::ordered`].
const RELATED: u32 = 2;
/// No class yet.
const NONE: u32 = u32::MAX;

/// Runs of objects of one type.
#[derive(Default)]
pub(super) struct Segments {
    /// Where each ends.
    ends: Vec<u32>,
    /// The segment of each object.
    of: Vec<u8>,
    /// `[segment][segment]`: the common class of pairs with objects of these, the first no later
    /// than the second.
    common: Vec<u32>,
}

impl Segments {
    /// One a type; false where there are too many.
    fn find(&mut self, types: &[u32]) -> bool {
        self.ends.clear();
        self.of.clear();
        let mut last = None;
        for (x, &of) in types.iter().enumerate() {
            if last != Some(of) {
                last = Some(of);
                self.ends.push(0);
                if self.ends.len() > SEGMENTS {
                    return false;
                }
            }
            let segment = self.ends.len() - 1;
            self.of.push(segment as u8);
            self.ends[segment] = x as u32 + 1;
        }
        true
    }

    /// Chooses the class that most pairs of two segments have; of two that are equally common the
    /// one with the lesser bits, since the numbers of classes depend on what came before. Between
    /// objects of one segment the relation must be the same both ways: which of two comes first is
    /// open there.
    fn choose_common(&mut self, of_pairs: &[u32], classes: &Classes, index: &Index) {
        let all = of_pairs.iter().max().map_or(0, |&class| class as usize + 1);
        // How many pairs a class has, and of which segments.
        let mut known = vec![(0, [0; 2]); all];
        for (&[a, b], &class) in index.ends().iter().zip(of_pairs) {
            let (count, segments) = &mut known[class as usize];
            *count += 1;
            *segments = [self.of[a as usize], self.of[b as usize]];
        }
        let rank = |class: u32| {
            let [ab, ba] = classes.sides(class);
            (known[class as usize].0, std::cmp::Reverse([ba, ab]))
        };
        self.common.clear();
        self.common.resize(self.len() * self.len(), NONE);
        for (class, &(count, segments)) in (0..).zip(&known) {
            let [a, b] = segments.map(usize::from);
            let both_ways = || classes.sides(class)[0] == classes.sides(class)[1];
            if count == 0 || (a == b && !both_ways()) {
                continue;
            }
            let best = &mut self.common[a * self.ends.len() + b];
            if *best == NONE || rank(class) > rank(*best) {
                *best = class;
            }
        }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// The common class of pairs with objects of these segments.
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
    /// Whether the structure at work goes by neighbours.
    pub(super) at_work: bool,
    segments: Segments,
    pairs: Vec<NearPair>,
    neighbours: Vec<Neighbour>,
    /// The sets of far objects some pair has, and what they are, listed as neighbours are.
    far: Vec<NearPair>,
    far_objects: Vec<Neighbour>,
    /// By class of pairs, the segments and the place in `far` met last.
    far_of_pair: Vec<(u32, u32)>,
    /// `[class of pairs][segment][2]`: six times the class of the orbits with a far object there,
    /// plus the slot of (a, b, z), of (b, a, z).
    far_classes: Vec<[u32; 2]>,
    /// The pairs that are not of the common class.
    uncommon: Vec<[u32; 2]>,
    /// `[i][j]`: four times the class of {i, j}, plus [`RELATED`] where it is not the common one,
    /// plus one where i > j.
    ordered: Vec<u32>,
    /// For each object those near it, one after the other, and where they end.
    related: Vec<u32>,
    related_ends: Vec<u32>,
    /// How many those are.
    related_counts: Vec<Counts>,
    /// The keys of the classes of neighbours, of the pairs at work.
    keys: Vec<u64>,
    /// See [`Far`]: both factors, then the product; or the extrema over the sets in `far`.
    far_values: Buffer,
}

impl Sparse {
    /// Whether there are objects enough, and so few pairs not of the common class, that going
    /// through neighbours is quicker than orbit by orbit.
    pub(super) fn suits(&mut self, classes: &Classes, index: &Index) -> bool {
        let n = index.objects();
        let enough = n >= tuning::FEW_OBJECTS || self.always;
        if index.rows(2) == 0 || !enough || !self.segments.find(classes.type_of()) {
            return false;
        }
        let of_pairs = &classes.of_pairs;
        let segments = &mut self.segments;
        segments.choose_common(of_pairs, classes, index);
        self.uncommon.clear();
        for (&[a, b], &class) in index.ends().iter().zip(of_pairs) {
            let [of_a, of_b] = [a, b].map(|x| usize::from(segments.of[x as usize]));
            if segments.common(of_a, of_b) != class {
                self.uncommon.push([a, b]);
            }
        }
        tuning::MANY_NEIGHBOURS * self.uncommon.len() <= n * n || self.always
    }

    /// The objects near each object, and the classes of all pairs.
    fn relate(&mut self, of_pairs: &[u32], index: &Index) {
        let n = index.objects();
        // With `distinct` there is no pair (i, i); any class will do.
        self.ordered.clear();
        self.ordered.resize(n * n, 0);
        let mut all = of_pairs.iter();
        for a in 0..n {
            for (b, &class) in (index.after(a)..n).zip(&mut all) {
                self.ordered[a * n + b] = class << 2;
                self.ordered[b * n + a] = class << 2 | u32::from(a != b);
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
        let before = x.checked_sub(1);
        let from = before.map_or(0, |before| self.related_ends[before]);
        from as usize..self.related_ends[x] as usize
    }

    /// Lists them.
    pub(super) fn list(&mut self, classes: &mut Classes, index: &Index) {
        let n = index.objects();
        let of_pairs = &classes.of_pairs;
        let known = of_pairs.iter().max().map_or(0, |&class| class as usize + 1);
        self.relate(of_pairs, index);
        self.pairs.clear();
        self.neighbours.clear();
        self.far.clear();
        self.far_objects.clear();
        self.far_of_pair.clear();
        self.far_of_pair.resize(known, (NONE, 0));
        self.far_classes.clear();
        self.far_classes
            .resize(known * self.segments.len(), [NONE; 2]);
        let sizes = self.segments.sizes();
        let mut at_hand = vec![0; 2 * n + 1];
        for a in 0..n {
            let first = self.neighbours.len();
            self.keys.clear();
            let (rows_a, classes_a) = (index.rows_of(a), &self.ordered[a * n..(a + 1) * n]);
            let near_a = &self.related[self.related_to(a)];
            let left_a = less(&sizes, &self.related_counts[a]);
            for b in index.after(a)..n {
                let (rows_b, classes_b) = (index.rows_of(b), &self.ordered[b * n..(b + 1) * n]);
                let ab = classes_a[b] >> 2;
                // Those of b that are neighbours of a are at hand already. Which are is as good as
                // random, so nothing branches on it.
                let mut count = 0;
                for &z in near_a {
                    at_hand[count] = z;
                    count += usize::from(!(index.distinct() & (z as usize == b)));
                }
                let mut left = less(&left_a, &self.related_counts[b]);
                for &z in &self.related[self.related_to(b)] {
                    at_hand[count] = z;
                    let met = classes_a[z as usize] & RELATED != 0;
                    let segment = usize::from(self.segments.of[z as usize]) % SEGMENTS;
                    left[segment] = left[segment].wrapping_add(u16::from(met));
                    count += usize::from(!met & !(index.distinct() & (z as usize == a)));
                }
                if index.distinct() && classes_a[b] & RELATED == 0 {
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
                    place(z).key([ab, classes_a[z] >> 2, classes_b[z] >> 2])
                }));
                self.neighbours.extend(at_hand.iter().map(|&z| {
                    let z = z as usize;
                    let [ab, ba] = place(z).slots;
                    let (az, bz) = (rows_a[z], rows_b[z]);
                    Neighbour { ab, ba, az, bz }
                }));
                let (met, mut place) = self.far_of_pair[ab as usize];
                if met != far {
                    place = self.far.len() as u32;
                    self.far_of_pair[ab as usize] = (far, place);
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
                    let end = self.far_objects.len() as u32;
                    self.far.push(NearPair {
                        end,
                        ..NearPair::default()
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
            for (near, &key) in neighbours.iter_mut().zip(&self.keys) {
                let class = classes.orbits.number(key);
                near.ab += 6 * class;
                near.ba += 6 * class;
            }
        }
        // Where no object is far any class will do, but there must be one.
        if classes.orbits.len() == 0 {
            classes.orbits.number(0);
        }
        for class in self.far_classes.iter_mut().flatten() {
            if *class == NONE {
                *class = 0;
            }
        }
    }
}

/// Adds what is far from a pair of this class with objects of these segments: one object of each
/// segment of the set `far`.
fn far_from(
    segments: &Segments,
    classes: &mut Classes,
    far_classes: &mut [[u32; 2]],
    pair: u32,
    [a, b]: [usize; 2],
    far: u32,
    to: &mut Vec<Neighbour>,
) {
    for s in (0..segments.len()).filter(|s| far >> s & 1 == 1) {
        let class = &mut far_classes[pair as usize * segments.len() + s];
        if class[0] == NONE {
            // After the objects of its own type: among these its place is open.
            let place = usize::from(s >= a) + usize::from(s >= b);
            let pairs = [pair, segments.common(a, s), segments.common(b, s)];
            let place = &PLACES[place];
            let of = 6 * classes.orbits.number(place.key(pairs));
            *class = place.slots.map(|slot| of + slot);
        }
        let [ab, ba] = *class;
        let (az, bz) = (0, 0);
        to.push(Neighbour { ab, ba, az, bz });
    }
}

/// Where z stands among a <= b and z.
struct Place {
    /// Where in a key the classes of ab, az and bz stand.
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
    /// The key of the class, given those of ab, az and bz.
    #[inline]
    fn key(&self, [ab, az, bz]: [u32; 3]) -> u64 {
        let of = |class: u32, shift: u32| u64::from(class) << (shift % 64);
        of(ab, self.shifts[0]) | of(az, self.shifts[1]) | of(bz, self.shifts[2])
    }
}

impl Sparse {
    /// The extrema over triples of a layer by neighbours: with its pairs, or by the table alone.
    pub(super) fn near(
        &mut self,
        network: &Network<'_>,
        index: &Index,
        table: Table<'_>,
        pairs: Option<&[f32]>,
        best: RowsMut<'_>,
    ) {
        let (n, features) = (index.objects(), network.plan.features);
        let (both, columns) = (
            network.plan.quantifiers == 2,
            features * network.plan.quantifiers,
        );
        let mut buffer = std::mem::take(&mut self.far_values);
        let near = Near {
            objects: n,
            features,
            both,
            pairs: &self.pairs,
            neighbours: &self.neighbours,
            table,
            start: Start::Nothing,
            best,
        };
        let start = if let Some(pairs) = pairs {
            buffer.reserve(n * n * (2 * features + columns));
            let (factors, far) = buffer.as_mut_slice().split_at_mut(2 * n * n * features);
            let (b, c) = factors.split_at_mut(n * n * features);
            self.lay_out_far(index, pairs, features, b, c);
            let far = RowsMut::new(far, columns);
            network.level.run(&Far {
                objects: n,
                features,
                both,
                b,
                c,
                segments: &self.segments.ends,
                pairs: &self.ordered,
                classes: &self.far_classes,
                table,
                far,
            });
            Start::Pairs(far.read(), pairs)
        } else {
            buffer.reserve(2 * self.far.len() * columns);
            let far = buffer.view_mut(columns);
            network.level.run(&Near {
                pairs: &self.far,
                neighbours: &self.far_objects,
                best: far,
                ..near
            });
            Start::Far(far.read(), self.far.len())
        };
        network.level.run(&Near { start, ..near });
        self.far_values = buffer;
    }

    /// What pairs (a, z) contribute without position 1, into b, and without position 0, into c,
    /// with NaN for an object z near a.
    fn lay_out_far(
        &self,
        index: &Index,
        pairs: &[f32],
        features: usize,
        b: &mut [f32],
        c: &mut [f32],
    ) {
        let n = index.objects();
        for a in 0..n {
            let start = a * n * features;
            for (z, &row) in index.rows_of(a).iter().enumerate() {
                // With `distinct` the pair (a, a) has no row; it is left out below.
                let from = &pairs[row as usize * 3 * features..][..2 * features];
                let (first, second) = from.split_at(features);
                let at = start + z * features;
                copy_blocks(first, &mut c[at..at + features]);
                copy_blocks(second, &mut b[at..at + features]);
            }
            let own = a as u32;
            let itself = index.distinct().then_some(&own);
            for &z in self.related[self.related_to(a)].iter().chain(itself) {
                let at = start + z as usize * features;
                b[at..at + features].fill(f32::NAN);
                c[at..at + features].fill(f32::NAN);
            }
        }
    }
}
