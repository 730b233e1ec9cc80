//! Extrema of triples whose value is a table over classes plus what pairs contribute, where
//! most pairs of objects of two types are of one class.
//!
//! For a pair (a, b) most objects z stand in no relation to either. All of these that are of one
//! type have one class, so the table gives one number t for them, and
//!
//! ```text
//! max_z (t + A(a,b) + B(a,z) + C(b,z)) = A(a,b) + (t + max_z (B(a,z) + C(b,z))),
//! ```
//!
//! a product of matrices over (max, +) ([`Far`]). The few others are taken one by one ([`Near`]).
//!
//! In the tree of `docs/nlm.md`: by class, values alone, pairs with their neighbours.

use super::orbit::{SIX, Table};
use super::vector::{Kernel, Vector};
use super::view::{Rows, RowsMut, all_below, times};
use crate::plan::BLOCK;

/// far[i][j] = max (and min) over types of what the table says of one, plus max (min) over z of it
/// of b[i][z] + c[j][z]. NaN marks a z left out: a maximum or minimum with NaN as its first operand
/// is the second.
pub(crate) struct Far<'a> {
    pub(crate) objects: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// `[object][z][features]`.
    pub(crate) b: &'a [f32],
    pub(crate) c: &'a [f32],
    /// Where the objects z of each type end.
    pub(crate) segments: &'a [u32],
    /// `[i][j]`: four times the class of the pair, and in the last bit which of its rows (i, j) is.
    pub(crate) pairs: &'a [u32],
    /// `[class of a pair][type][row]`: six times a class of orbits, plus a slot.
    pub(crate) classes: &'a [[u32; 2]],
    pub(crate) table: Table<'a>,
    /// `[i][j]`: features for each quantifier.
    pub(crate) far: RowsMut<'a>,
}

/// What the table says of six times a class plus a slot.
#[inline(always)]
unsafe fn look_up<V: Vector>(table: *const f32, at: u32, features: usize, f: usize) -> V {
    let (class, slot) = (at as usize / SIX, at as usize % SIX);
    // SAFETY: the class is in the table.
    unsafe { V::load(table.add((class * features + f) * SIX + slot * BLOCK)) }
}

// SAFETY: the tiles cover i, j and z below the number of objects, which `check` asks for.
unsafe impl Kernel for Far<'_> {
    #[inline(always)]
    fn check(&self) {
        let (n, features) = (self.objects, self.features);
        assert!(features.is_multiple_of(BLOCK));
        let squared = times(n, n);
        assert!(self.b.len().min(self.c.len()) >= times(squared, features));
        all_below(self.segments, n + 1);
        assert!(self.pairs.len() >= squared);
        let known = times(4, self.classes.len() / self.segments.len().max(1));
        all_below(&self.pairs[..squared], known);
        self.table.check(features);
        all_below(self.classes.as_flattened(), times(SIX, self.table.classes));
        self.far
            .check(squared, features * (1 + usize::from(self.both)));
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: see `tile`.
        unsafe {
            if self.both {
                self.rows::<V, true>();
            } else {
                self.rows::<V, false>();
            }
        }
    }
}

impl Far<'_> {
    #[inline(always)]
    unsafe fn rows<V: Vector, const BOTH: bool>(&self) {
        let n = self.objects;
        // SAFETY: see `tile`; there are at least as many objects as a tile has, and the last
        // tile may compute what is there already.
        unsafe {
            for f in (0..self.features).step_by(BLOCK) {
                if V::WIDE && n >= 3 {
                    self.tiles::<V, 3, BOTH>(f);
                } else if n >= 2 {
                    self.tiles::<V, 2, BOTH>(f);
                } else {
                    self.tiles::<V, 1, BOTH>(f);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn tiles<V: Vector, const T: usize, const BOTH: bool>(&self, f: usize) {
        let n = self.objects;
        // SAFETY: see `tile`.
        unsafe {
            for i in (0..n).step_by(T) {
                for j in (0..n).step_by(T) {
                    self.tile::<V, T, BOTH>(f, i.min(n - T), j.min(n - T));
                }
            }
        }
    }

    /// Features f .. f + 8 of i .. i + T and j .. j + T.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // both indices run over both arrays
    unsafe fn tile<V: Vector, const T: usize, const BOTH: bool>(
        &self,
        f: usize,
        i: usize,
        j: usize,
    ) {
        let n = self.objects;
        let row = n * self.features;
        // SAFETY: objects, classes and features are within the tensors.
        unsafe {
            let mut z = 0;
            for (s, &end) in self.segments.iter().enumerate() {
                let mut max = [[V::splat(f32::NEG_INFINITY); T]; T];
                let mut min = [[V::splat(f32::INFINITY); T]; T];
                while z < end as usize {
                    let at = z * self.features + f;
                    let mut c = [V::splat(0.0); T];
                    for k in 0..T {
                        c[k] = V::load(self.c.as_ptr().add((j + k) * row + at));
                    }
                    for h in 0..T {
                        let b = V::load(self.b.as_ptr().add((i + h) * row + at));
                        for k in 0..T {
                            let v = b.add(c[k]);
                            max[h][k] = v.max(max[h][k]);
                            if BOTH {
                                min[h][k] = v.min(min[h][k]);
                            }
                        }
                    }
                    z += 1;
                }
                for h in 0..T {
                    for k in 0..T {
                        let at = (i + h) * n + j + k;
                        let pair = *self.pairs.get_unchecked(at) as usize;
                        let classes = pair / 4 * self.segments.len() + s;
                        let class = self.classes.get_unchecked(classes)[pair % 2];
                        let t = look_up::<V>(self.table.slots.as_ptr(), class, self.features, f);
                        let to = self.far.row(at).add(f);
                        let mut max = max[h][k].add(t);
                        let mut min = min[h][k].add(t);
                        if s > 0 {
                            max = max.max(V::load(to));
                            if BOTH {
                                min = min.min(V::load(to.add(self.features)));
                            }
                        }
                        max.store(to);
                        if BOTH {
                            min.store(to.add(self.features));
                        }
                    }
                }
            }
        }
    }
}

/// An object z near a pair (a, b): in a relation with a or with b.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    /// Six times the class of the orbit, plus the slot of (a, b, z), of (b, a, z).
    pub(crate) ab: u32,
    pub(crate) ba: u32,
    /// The rows of (a, z) and of (b, z).
    pub(crate) az: u32,
    pub(crate) bz: u32,
}

/// One pair a <= b.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NearPair {
    /// Where its neighbours end; they begin where those of the pair before end.
    pub(crate) end: u32,
    /// What is far from it, where the table says all.
    pub(crate) far: u32,
    pub(crate) a: u32,
    pub(crate) b: u32,
}

/// The extrema over all objects, for every pair.
pub(crate) struct Near<'a> {
    pub(crate) objects: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    pub(crate) pairs: &'a [NearPair],
    pub(crate) neighbours: &'a [Neighbour],
    pub(crate) table: Table<'a>,
    /// Where extrema start, and, unless the table says all, what pairs contribute.
    pub(crate) start: Start<'a>,
    /// `[row]`: features for each quantifier.
    pub(crate) best: RowsMut<'a>,
}

/// Where the extrema of a pair start. Rows have features for each quantifier.
#[derive(Clone, Copy)]
pub(crate) enum Start<'a> {
    /// At nothing.
    Nothing,
    /// At what is far: `[far][2]`, and how many of these there are.
    Far(Rows<'a>, usize),
    /// At what [`Far`] says, `[a][b]`; and pairs contribute `[row][3][features]`.
    Pairs(Rows<'a>, &'a [f32]),
}

// SAFETY: the pairs in the order of their rows, their neighbours and objects, which `check` asks
// for.
unsafe impl Kernel for Near<'_> {
    #[inline(always)]
    fn check(&self) {
        let features = self.features;
        let columns = features * (1 + usize::from(self.both));
        assert!(features.is_multiple_of(BLOCK));
        self.table.check(features);
        let rows = times(2, self.pairs.len());
        self.best.check(rows, columns);
        let (mut end, mut in_order) = (0, true);
        let mut most = [0; 3];
        for pair in self.pairs {
            in_order &= end <= pair.end;
            end = pair.end;
            most = [
                most[0].max(pair.far),
                most[1].max(pair.a),
                most[2].max(pair.b),
            ];
        }
        assert!(in_order && end as usize <= self.neighbours.len());
        let (far, object) = (most[0] as usize, most[1].max(most[2]) as usize);
        // Four maxima, one a field: so they are one vector.
        let mut most = [0; 4];
        for near in self.neighbours {
            let fields = [near.ab, near.ba, near.az, near.bz];
            most = std::array::from_fn(|i| most[i].max(fields[i]));
        }
        let (slot, row) = (most[0].max(most[1]) as usize, most[2].max(most[3]) as usize);
        assert!(self.neighbours.is_empty() || slot < times(SIX, self.table.classes));
        match self.start {
            Start::Nothing => {}
            Start::Far(rows, count) => {
                assert!(self.pairs.is_empty() || far < count);
                rows.check(times(2, count), columns);
            }
            Start::Pairs(rows, expanded) => {
                assert!(self.pairs.is_empty() || object < self.objects);
                rows.check(times(self.objects, self.objects), columns);
                let most = self.pairs.len().saturating_mul(2).max(row + 1);
                assert!(expanded.len() >= times(most, 3 * features));
            }
        }
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: see `pass`.
        unsafe {
            for f in (0..self.features).step_by(BLOCK) {
                match (self.both, self.start) {
                    (false, Start::Pairs(..)) => self.pass::<V, false, true>(f),
                    (true, Start::Pairs(..)) => self.pass::<V, true, true>(f),
                    (false, _) => self.pass::<V, false, false>(f),
                    (true, _) => self.pass::<V, true, false>(f),
                }
            }
        }
    }
}

impl Near<'_> {
    /// Features f .. f + 8 of every pair.
    #[inline(always)]
    unsafe fn pass<V: Vector, const BOTH: bool, const PAIRS: bool>(&self, f: usize) {
        let (features, table) = (self.features, self.table.slots.as_ptr());
        let (far, expanded) = match self.start {
            Start::Nothing => (None, &[][..]),
            Start::Far(far, _) => (Some(far), &[][..]),
            Start::Pairs(far, expanded) => (Some(far), expanded),
        };
        // What a row contributes as the pair without position k.
        let part = |row: u32, k: usize| {
            let at = (row as usize * 3 + k) * features + f;
            // SAFETY: the row is in the tensor.
            unsafe { V::load(expanded.as_ptr().add(at)) }
        };
        let mut from = 0;
        // SAFETY: pairs, rows, classes and features are within the tensors.
        unsafe {
            for (p, pair) in self.pairs.iter().enumerate() {
                let mut max = [V::splat(f32::NEG_INFINITY); 2];
                let mut min = [V::splat(f32::INFINITY); 2];
                let mut parts = [V::splat(0.0); 2];
                if PAIRS {
                    let row = 2 * p as u32;
                    parts = [part(row, 2), part(row + 1, 2)];
                }
                if let Some(far) = far {
                    let (a, b) = (pair.a as usize, pair.b as usize);
                    let rows = if PAIRS {
                        [a * self.objects + b, b * self.objects + a]
                    } else {
                        [0, 1].map(|row| 2 * pair.far as usize + row)
                    };
                    // Infinite where nothing is far.
                    let [ab, ba] = rows.map(|row| far.row(row).wrapping_add(f));
                    max = [V::load(ab).add(parts[0]), V::load(ba).add(parts[1])];
                    if BOTH {
                        let (ab, ba) = (ab.add(features), ba.add(features));
                        min = [V::load(ab).add(parts[0]), V::load(ba).add(parts[1])];
                    }
                }
                for near in self.neighbours.get_unchecked(from..pair.end as usize) {
                    let mut ab = look_up::<V>(table, near.ab, features, f);
                    let mut ba = look_up::<V>(table, near.ba, features, f);
                    if PAIRS {
                        ab = ab.add(parts[0]).add(part(near.bz, 0)).add(part(near.az, 1));
                        ba = ba.add(parts[1]).add(part(near.az, 0)).add(part(near.bz, 1));
                    }
                    max = [ab.max(max[0]), ba.max(max[1])];
                    if BOTH {
                        min = [ab.min(min[0]), ba.min(min[1])];
                    }
                }
                from = pair.end as usize;
                for (row, (max, min)) in (2 * p..).zip(max.into_iter().zip(min)) {
                    let to = self.best.row(row).add(f);
                    max.store(to);
                    if BOTH {
                        min.store(to.add(features));
                    }
                }
            }
        }
    }
}
