//! Which objects are near which pairs.
//!
//! Where few pairs stand in a relation, the extrema over triples of the first layer, and of a
//! second that only reduce reads, need O^2 times the number of neighbours, and one product of
//! matrices over (max, +).

use super::classes::Classes;
use super::index::Index;
use super::patterns::Patterns;
use super::{FeatureEngine, Job};
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::sparse::{Far, Near, NearPair, Neighbour};
use crate::plan::BLOCK;
use std::ptr::null;

/// With fewer objects it takes longer to find neighbours than to go through all orbits.
const FEW_OBJECTS: usize = 32;

/// The neighbours of every pair of one structure.
#[derive(Default)]
pub(crate) struct Sparse {
    /// Whatever the object count, for tests.
    pub(super) always: bool,
    pub(super) pairs: Vec<NearPair>,
    pub(super) neighbours: Vec<Neighbour>,
    /// For each object those it stands in a relation with.
    of: Vec<Vec<u32>>,
}

impl Sparse {
    pub(crate) fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<NearPair>()
            + self.neighbours.capacity() * size_of::<Neighbour>()
    }

    /// Whether there are so few that going through them is quicker than orbit by orbit.
    pub(super) fn suits(&self, patterns: &Patterns, index: &Index) -> bool {
        let n = index.objects;
        let many = n >= FEW_OBJECTS && 6 * patterns.related().len() <= n * n;
        index.rows(2) > 0 && (many || self.always)
    }

    /// Lists them; false where there are more classes than `room`.
    pub(super) fn list(
        &mut self,
        classes: &mut Classes,
        patterns: &Patterns,
        index: &Index,
        room: usize,
    ) -> bool {
        let n = index.objects;
        self.of.truncate(n);
        self.of.iter_mut().for_each(Vec::clear);
        self.of.resize_with(n, Vec::new);
        for &[a, b] in patterns.related() {
            self.of[a as usize].push(b);
            if a != b {
                self.of[b as usize].push(a);
            }
        }
        self.pairs.clear();
        self.neighbours.clear();
        let all = if index.distinct {
            n.saturating_sub(2)
        } else {
            n
        };
        let pattern_of_row = |row: u32| patterns.of_pair()[row as usize / 2];
        for a in 0..n {
            if classes.len() > room {
                return false;
            }
            let rows_a = index.rows_of(a);
            for b in index.orbits().after(a)..n {
                let rows_b = index.rows_of(b);
                let ab = pattern_of_row(rows_a[b]);
                let first = self.neighbours.len();
                for &z in &self.of[a] {
                    let (az, bz) = (rows_a[z as usize], rows_b[z as usize]);
                    let patterns = [ab, pattern_of_row(az), pattern_of_row(bz)];
                    if !(index.distinct && z as usize == b) {
                        let near = neighbour(classes, [a, b, z as usize], patterns, az, bz);
                        self.neighbours.push(near);
                    }
                }
                // Those of b that are not neighbours of a.
                for &z in &self.of[b] {
                    let (az, bz) = (rows_a[z as usize], rows_b[z as usize]);
                    let patterns = [ab, pattern_of_row(az), pattern_of_row(bz)];
                    if !(index.distinct && z as usize == a) && patterns[1] == 0 {
                        let near = neighbour(classes, [a, b, z as usize], patterns, az, bz);
                        self.neighbours.push(near);
                    }
                }
                self.pairs.push(NearPair {
                    end: self.neighbours.len() as u32,
                    class: classes.class([ab, 0, 0]),
                    far: self.neighbours.len() - first < all,
                    a: a as u32,
                    b: b as u32,
                });
            }
        }
        classes.len() <= room
    }
}

/// The neighbour z of the pair a <= b. Its place among the three is as good as random, so
/// nothing branches on it.
#[inline]
fn neighbour(
    classes: &mut Classes,
    [a, b, z]: [usize; 3],
    patterns: [u32; 3],
    az: u32,
    bz: u32,
) -> Neighbour {
    /// By place: where the patterns of ab, az and bz stand in the class, and the slots of
    /// (a, b, z) and (b, a, z).
    const PLACES: [([usize; 3], [u32; 2]); 3] = [
        ([2, 0, 1], [3, 5]),
        ([1, 0, 2], [1, 4]),
        ([0, 1, 2], [0, 2]),
    ];
    let (places, slots) = &PLACES[usize::from(z >= a) + usize::from(z >= b)];
    let mut kinds = [0; 3];
    for (pattern, &place) in patterns.iter().zip(places) {
        kinds[place] = *pattern;
    }
    let class = 6 * classes.class(kinds);
    Neighbour {
        ab: class + slots[0],
        ba: class + slots[1],
        az,
        bz,
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
        if let Some(layer) = layer {
            self.far
                .reserve(n * n * features * (2 + job.plan.quantifiers));
            self.lay_out_far(index, layer, features);
            let b = self.far.as_mut_ptr();
            dispatch(
                job.simd,
                &Far {
                    objects: n,
                    features,
                    both,
                    b,
                    c: b.wrapping_add(n * n * features),
                    far: b.wrapping_add(2 * n * n * features),
                },
            );
        }
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
                far: self.far.as_ptr().wrapping_add(2 * n * n * features),
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
            for &z in self.sparse.of[a].iter().chain(itself) {
                let at = start + z as usize * features;
                b[at..at + features].fill(f32::NAN);
                rest[at..at + features].fill(f32::NAN);
            }
        }
    }
}
