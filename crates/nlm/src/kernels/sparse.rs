//! Extrema of triples whose value is a table over classes plus what pairs contribute, where
//! most pairs are empty.
//!
//! For a pair (a, b) most objects z stand in no relation to either. All of these that are of one type, a segment, have one
//! class, so the table gives one number t for them, and
//!
//! ```text
//! max_z (t + A(a,b) + B(a,z) + C(b,z)) = A(a,b) + (t + max_z (B(a,z) + C(b,z))),
//! ```
//!
//! a product of matrices over (max, +) ([`Far`]). The few others are taken one by one ([`Near`]).

use super::vector::{Kernel, Vector};

/// far[i][j] = max (and min) over segments of what the table says of one, plus max (min) over z in it of
/// b[i][z] + c[j][z]. NaN marks a z left out: a maximum or minimum with NaN as its first operand is the second.
pub(crate) struct Far<'a> {
    pub(crate) objects: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// `[object][z][features]`.
    pub(crate) b: *const f32,
    pub(crate) c: *const f32,
    /// Where each segment of z ends.
    pub(crate) segments: &'a [u32],
    /// `[i][j]`: twice the kind of the pair, and which of its rows (i, j) is.
    pub(crate) kinds: &'a [u32],
    /// `[kind][segment][row]`: six times a class, plus a slot.
    pub(crate) classes: &'a [[u32; 2]],
    /// `[class][feature block][6][8]`.
    pub(crate) table: *const f32,
    /// `[i][j][features for each quantifier]`.
    pub(crate) far: *mut f32,
}

/// What the table says of six times a class plus a slot.
#[inline(always)]
unsafe fn look_up<V: Vector>(table: *const f32, at: u32, features: usize, f: usize) -> V {
    let (class, slot) = (at as usize / 6, at as usize % 6);
    // SAFETY: the class is in the table.
    unsafe { V::load(table.add((class * features + f) * 6 + slot * V::LANES)) }
}

impl Kernel for Far<'_> {
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
            for f in (0..self.features).step_by(V::LANES) {
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
        let columns = self.features * (1 + usize::from(BOTH));
        // SAFETY: objects, kinds, classes and features are within the tensors.
        unsafe {
            let mut z = 0;
            for (s, &end) in self.segments.iter().enumerate() {
                let mut max = [[V::splat(f32::NEG_INFINITY); T]; T];
                let mut min = [[V::splat(f32::INFINITY); T]; T];
                while z < end as usize {
                    let at = z * self.features + f;
                    let mut c = [V::splat(0.0); T];
                    for k in 0..T {
                        c[k] = V::load(self.c.add((j + k) * row + at));
                    }
                    for h in 0..T {
                        let b = V::load(self.b.add((i + h) * row + at));
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
                        let kind = *self.kinds.get_unchecked(at) as usize;
                        let classes = kind / 2 * self.segments.len() + s;
                        let class = self.classes.get_unchecked(classes)[kind % 2];
                        let t = look_up::<V>(self.table, class, self.features, f);
                        let to = self.far.add(at * columns + f);
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
#[derive(Clone, Copy, Debug)]
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
    /// `[class][feature block][6][8]`.
    pub(crate) table: *const f32,
    /// `[row][3][features]`, or null where the table says all.
    pub(crate) expanded: *const f32,
    /// Where extrema start: with `expanded` see [`Far`], else `[far][2][features for each quantifier]`, or null
    /// for nothing.
    pub(crate) far: *const f32,
    /// `[row][features for each quantifier]`.
    pub(crate) best: *mut f32,
}

impl Kernel for Near<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: see `pass`.
        unsafe {
            for f in (0..self.features).step_by(V::LANES) {
                match (self.both, self.expanded.is_null()) {
                    (false, false) => self.pass::<V, false, true>(f),
                    (true, false) => self.pass::<V, true, true>(f),
                    (false, true) => self.pass::<V, false, false>(f),
                    (true, true) => self.pass::<V, true, false>(f),
                }
            }
        }
    }
}

impl Near<'_> {
    /// What a row contributes as the pair without position k.
    #[inline(always)]
    unsafe fn part<V: Vector>(&self, row: u32, k: usize, f: usize) -> V {
        // SAFETY: the row is in the tensor.
        unsafe {
            V::load(
                self.expanded
                    .add((row as usize * 3 + k) * self.features + f),
            )
        }
    }

    /// Features f .. f + 8 of every pair.
    #[inline(always)]
    unsafe fn pass<V: Vector, const BOTH: bool, const PAIRS: bool>(&self, f: usize) {
        let columns = self.features * (1 + usize::from(BOTH));
        let mut from = 0;
        // SAFETY: pairs, rows, classes and features are within the tensors.
        unsafe {
            for (p, pair) in self.pairs.iter().enumerate() {
                let mut max = [V::splat(f32::NEG_INFINITY); 2];
                let mut min = [V::splat(f32::INFINITY); 2];
                let mut parts = [V::splat(0.0); 2];
                if PAIRS {
                    let row = 2 * p as u32;
                    parts = [self.part(row, 2, f), self.part(row + 1, 2, f)];
                }
                if PAIRS || !self.far.is_null() {
                    let (a, b) = (pair.a as usize, pair.b as usize);
                    let [ab, ba] = if PAIRS {
                        [a * self.objects + b, b * self.objects + a]
                    } else {
                        [0, 1].map(|row| 2 * pair.far as usize + row)
                    };
                    // Infinite where nothing is far.
                    let (ab, ba) = (
                        self.far.add(ab * columns + f),
                        self.far.add(ba * columns + f),
                    );
                    max = [V::load(ab).add(parts[0]), V::load(ba).add(parts[1])];
                    if BOTH {
                        let (ab, ba) = (ab.add(self.features), ba.add(self.features));
                        min = [V::load(ab).add(parts[0]), V::load(ba).add(parts[1])];
                    }
                }
                for near in self.neighbours.get_unchecked(from..pair.end as usize) {
                    let mut ab = look_up::<V>(self.table, near.ab, self.features, f);
                    let mut ba = look_up::<V>(self.table, near.ba, self.features, f);
                    if PAIRS {
                        ab = ab.add(parts[0]).add(self.part(near.bz, 0, f));
                        ab = ab.add(self.part(near.az, 1, f));
                        ba = ba.add(parts[1]).add(self.part(near.az, 0, f));
                        ba = ba.add(self.part(near.bz, 1, f));
                    }
                    max = [ab.max(max[0]), ba.max(max[1])];
                    if BOTH {
                        min = [ab.min(min[0]), ba.min(min[1])];
                    }
                }
                from = pair.end as usize;
                let to = self.best.add(2 * p * columns + f);
                max[0].store(to);
                max[1].store(to.add(columns));
                if BOTH {
                    min[0].store(to.add(self.features));
                    min[1].store(to.add(columns + self.features));
                }
            }
        }
    }
}
