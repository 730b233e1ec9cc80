//! Extrema of triples whose value is a table over classes plus what pairs contribute, where
//! most pairs are empty.
//!
//! For a pair (a, b) most objects z stand in no relation to either. All of these have one
//! class, so the table gives one number t for them, and
//!
//! ```text
//! max_z (t + A(a,b) + B(a,z) + C(b,z)) = (t + A(a,b)) + max_z (B(a,z) + C(b,z)),
//! ```
//!
//! a product of matrices over (max, +) ([`Far`]). The few others are taken one by one ([`Near`]).

use super::vector::{Kernel, Vector};

/// far[i][j] = max (and min) over z of b[i][z] + c[j][z]. NaN marks a z left out: a maximum or
/// minimum with NaN as its first operand is the second.
pub(crate) struct Far {
    pub(crate) objects: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// `[object][z][features]`.
    pub(crate) b: *const f32,
    pub(crate) c: *const f32,
    /// `[i][j][features for each quantifier]`.
    pub(crate) far: *mut f32,
}

impl Kernel for Far {
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

impl Far {
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
        // SAFETY: objects and features are within the tensors.
        unsafe {
            let mut max = [[V::splat(f32::NEG_INFINITY); T]; T];
            let mut min = [[V::splat(f32::INFINITY); T]; T];
            for z in 0..n {
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
            }
            for h in 0..T {
                for k in 0..T {
                    let to = self.far.add(((i + h) * n + j + k) * columns + f);
                    max[h][k].store(to);
                    if BOTH {
                        min[h][k].store(to.add(self.features));
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
    /// The class of the orbits with an object that is no neighbour, (a, b, z) in order.
    pub(crate) class: u32,
    /// Whether there is such an object.
    pub(crate) far: bool,
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
    /// See [`Far`]; read where `expanded` is.
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
    /// What the table says of a class and slot.
    #[inline(always)]
    unsafe fn look_up<V: Vector>(&self, at: u32, f: usize) -> V {
        let (class, slot) = (at as usize / 6, at as usize % 6);
        // SAFETY: the class is in the table.
        unsafe {
            V::load(
                self.table
                    .add((class * self.features + f) * 6 + slot * V::LANES),
            )
        }
    }

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
                if PAIRS || pair.far {
                    let rest = [
                        self.look_up::<V>(6 * pair.class, f).add(parts[0]),
                        self.look_up::<V>(6 * pair.class + 2, f).add(parts[1]),
                    ];
                    (max, min) = (rest, rest);
                    if PAIRS {
                        // Infinite where nothing is far.
                        let (a, b) = (pair.a as usize, pair.b as usize);
                        let ab = self.far.add((a * self.objects + b) * columns + f);
                        let ba = self.far.add((b * self.objects + a) * columns + f);
                        max = [V::load(ab).add(rest[0]), V::load(ba).add(rest[1])];
                        if BOTH {
                            let (ab, ba) = (ab.add(self.features), ba.add(self.features));
                            min = [V::load(ab).add(rest[0]), V::load(ba).add(rest[1])];
                        }
                    }
                }
                for near in self.neighbours.get_unchecked(from..pair.end as usize) {
                    let mut ab = self.look_up::<V>(near.ab, f);
                    let mut ba = self.look_up::<V>(near.ba, f);
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
