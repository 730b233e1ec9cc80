//! Backward through maps and reductions with features in lanes.
//!
//! Pairs are kept as sums and differences, see [`rows`](super::rows); there the gradient of u, the sum
//! of the gradients of (a, b) and (b, a), meets sums alone, and that of v, their difference,
//! differences alone. So a map over pairs is two maps over rows, the even and the odd ones, and needs no kernel of its own.

use super::vector::{Kernel, Vector};
use crate::plan::BLOCK;

/// dw[c][f] = Σ_t x[t][c] dy[t][f].
pub(crate) struct WeightGradient<'a> {
    /// The rows t whose dy is not zero.
    pub(crate) rows: &'a [u32],
    /// The first column, of row 0.
    pub(crate) x: *const f32,
    pub(crate) x_stride: usize,
    pub(crate) columns: usize,
    pub(crate) dy: *const f32,
    pub(crate) dy_stride: usize,
    /// A multiple of 8.
    pub(crate) outputs: usize,
    /// `[columns][outputs]`.
    pub(crate) dw: *mut f32,
}

impl Kernel for WeightGradient<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles stay within columns and outputs.
        unsafe {
            for f in (0..self.outputs).step_by(V::LANES) {
                let mut c = 0;
                while c < self.columns {
                    let left = self.columns - c;
                    c += if V::WIDE && left >= 24 {
                        self.tile::<V, 24>(c, f)
                    } else if V::WIDE && left >= 16 {
                        self.tile::<V, 16>(c, f)
                    } else if left >= 8 {
                        self.tile::<V, 8>(c, f)
                    } else if self.columns >= 8 {
                        // Some columns again: a tile of few waits for its own sums.
                        self.tile::<V, 8>(self.columns - 8, f)
                    } else if left >= 4 {
                        self.tile::<V, 4>(c, f)
                    } else if left >= 2 {
                        self.tile::<V, 2>(c, f)
                    } else {
                        self.tile::<V, 1>(c, f)
                    };
                }
            }
        }
    }
}

impl WeightGradient<'_> {
    /// Columns c .. c + C and features f .. f + 8. Returns C.
    #[inline(always)]
    unsafe fn tile<V: Vector, const C: usize>(&self, c: usize, f: usize) -> usize {
        // SAFETY: the caller gives columns and features that exist.
        unsafe {
            let mut acc = [V::splat(0.0); C];
            let (x, dy) = (self.x.wrapping_add(c), self.dy.wrapping_add(f));
            for &row in self.rows {
                let x = x.add(row as usize * self.x_stride);
                let d = V::load(dy.add(row as usize * self.dy_stride));
                for (k, a) in acc.iter_mut().enumerate() {
                    *a = V::splat(*x.add(k)).mul_add(d, *a);
                }
            }
            for (k, a) in acc.iter().enumerate() {
                a.store(self.dw.add((c + k) * self.outputs + f));
            }
        }
        C
    }
}

/// dx[t][c] += Σ_f w[c][f] dy[t][f].
pub(crate) struct InputGradient<'a> {
    /// The rows t whose dy is not zero.
    pub(crate) rows: &'a [u32],
    pub(crate) dy: *const f32,
    pub(crate) dy_stride: usize,
    pub(crate) outputs: usize,
    /// `[column block][output][8]`.
    pub(crate) weights: *const f32,
    /// A multiple of 8.
    pub(crate) columns: usize,
    /// The first of these columns, of row 0.
    pub(crate) dx: *mut f32,
    pub(crate) dx_stride: usize,
}

impl Kernel for InputGradient<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        const THREE: usize = 3 * BLOCK;
        // SAFETY: the passes cover all columns and outputs, which are whole blocks.
        unsafe {
            let mut f = 0;
            while f < self.outputs {
                // As many weights as there are registers for.
                let three = V::WIDE && f + THREE <= self.outputs;
                let mut c = 0;
                while c < self.columns {
                    let left = self.columns - c;
                    c += if three {
                        self.pass::<V, 1, THREE>(c, f)
                    } else if V::WIDE && left >= THREE {
                        self.pass::<V, 3, BLOCK>(c, f)
                    } else if V::WIDE && left >= 2 * BLOCK {
                        self.pass::<V, 2, BLOCK>(c, f)
                    } else {
                        self.pass::<V, 1, BLOCK>(c, f)
                    };
                }
                f += if three { THREE } else { BLOCK };
            }
        }
    }
}

impl InputGradient<'_> {
    /// Columns c .. c + 8 B from outputs f .. f + K, row by row: the weights stay in registers. Returns 8 B.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // one index runs over several arrays
    unsafe fn pass<V: Vector, const B: usize, const K: usize>(&self, c: usize, f: usize) -> usize {
        // SAFETY: the caller gives columns and outputs that exist.
        unsafe {
            let mut w = [[V::splat(0.0); B]; K];
            for k in 0..K {
                for b in 0..B {
                    let at = (c + b * BLOCK) * self.outputs + (f + k) * V::LANES;
                    w[k][b] = V::load(self.weights.add(at));
                }
            }
            for &row in self.rows {
                let dy = self.dy.add(row as usize * self.dy_stride + f);
                let dx = self.dx.add(row as usize * self.dx_stride + c);
                let mut acc = [V::splat(0.0); B];
                for b in 0..B {
                    acc[b] = V::load(dx.add(b * V::LANES));
                }
                for k in 0..K {
                    let d = V::splat(*dy.add(k));
                    for b in 0..B {
                        acc[b] = d.mul_add(w[k][b], acc[b]);
                    }
                }
                for b in 0..B {
                    acc[b].store(dx.add(b * V::LANES));
                }
            }
        }
        B * BLOCK
    }
}

/// Gives the gradient of maxima (and minima) over the members of each target to the members that
/// attain them, in equal parts.
pub(crate) struct ReduceGradient<'a> {
    /// `[target][per]`: the rows reduced into each target.
    pub(crate) members: &'a [u32],
    pub(crate) targets: usize,
    /// The first column, of row 0.
    pub(crate) x: *const f32,
    pub(crate) x_stride: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// The reductions where x are pre-activations, else null.
    pub(crate) red: *const f32,
    pub(crate) d_red: *const f32,
    pub(crate) red_stride: usize,
    /// `[row][features]`, added to.
    pub(crate) d: *mut f32,
}

impl Kernel for ReduceGradient<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: see `target`.
        unsafe {
            if self.both {
                self.all::<V, true>();
            } else {
                self.all::<V, false>();
            }
        }
    }
}

impl ReduceGradient<'_> {
    #[inline(always)]
    unsafe fn all<V: Vector, const BOTH: bool>(&self) {
        let per = self.members.len() / self.targets;
        // SAFETY: every index is a row of the tensors.
        unsafe {
            for t in 0..self.targets {
                let members = self.members.get_unchecked(t * per..(t + 1) * per);
                for f in (0..self.features).step_by(V::LANES) {
                    self.target::<V, BOTH>(members, t * self.red_stride + f, f);
                }
            }
        }
    }

    /// Features f .. f + 8 of one target, whose reductions lie at `at`.
    #[inline(always)]
    unsafe fn target<V: Vector, const BOTH: bool>(&self, members: &[u32], at: usize, f: usize) {
        // SAFETY: every index is a row of the tensors.
        unsafe {
            let one = V::splat(1.0);
            let x = self.x.add(f);
            let mut max = V::splat(f32::NEG_INFINITY);
            let mut min = V::splat(f32::INFINITY);
            for &row in members {
                let v = V::load(x.add(row as usize * self.x_stride));
                max = v.max(max);
                if BOTH {
                    min = v.min(min);
                }
            }
            let mut ties_max = V::splat(0.0);
            let mut ties_min = V::splat(0.0);
            for &row in members {
                let v = V::load(x.add(row as usize * self.x_stride));
                ties_max = ties_max.add(v.where_equal(max, one));
                if BOTH {
                    ties_min = ties_min.add(v.where_equal(min, one));
                }
            }
            let mut share_max = V::load(self.d_red.add(at)).div(ties_max);
            let mut share_min = V::splat(0.0);
            if BOTH {
                share_min = V::load(self.d_red.add(at + self.features)).div(ties_min);
            }
            if !self.red.is_null() {
                let s = V::load(self.red.add(at));
                share_max = share_max.mul(s.mul(one.sub(s)));
                if BOTH {
                    let s = V::load(self.red.add(at + self.features));
                    share_min = share_min.mul(s.mul(one.sub(s)));
                }
            }
            for &row in members {
                let v = V::load(x.add(row as usize * self.x_stride));
                let to = self.d.add(row as usize * self.features + f);
                let mut d = V::load(to).add(v.where_equal(max, share_max));
                if BOTH {
                    d = d.add(v.where_equal(min, share_min));
                }
                d.store(to);
            }
        }
    }
}

/// From the gradients of the sum and the difference of (a, b) and (b, a) to their own.
pub(crate) struct FromSums {
    pub(crate) pairs: usize,
    /// The first column, of row 0.
    pub(crate) d_sums: *const f32,
    pub(crate) stride: usize,
    pub(crate) features: usize,
    /// `[row][features]`.
    pub(crate) d: *mut f32,
}

impl Kernel for FromSums {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: pairs and features are within the tensors.
        unsafe {
            for pair in 0..self.pairs {
                let from = self.d_sums.add(2 * pair * self.stride);
                let to = self.d.add(2 * pair * self.features);
                for f in (0..self.features).step_by(V::LANES) {
                    let sum = V::load(from.add(f));
                    let difference = V::load(from.add(self.stride + f));
                    sum.add(difference).store(to.add(f));
                    sum.sub(difference).store(to.add(self.features + f));
                }
            }
        }
    }
}

/// From the gradients of the outputs of (a, b) and (b, a) to those of u and v, and to what the
/// pairs took from their objects.
pub(crate) struct PairsToPre<'a> {
    pub(crate) pairs: usize,
    /// `[row][features]`: activations; null where d is of pre-activations already.
    pub(crate) y: *const f32,
    pub(crate) features: usize,
    /// `[row][features]`: the gradients of (a, b), (b, a) on entry, of u, v on return.
    pub(crate) d: *mut f32,
    /// The objects a and b of each pair.
    pub(crate) ends: &'a [[u32; 2]],
    /// `[object][2][features]`, added to, or null.
    pub(crate) d_expanded: *mut f32,
    /// `[features]`, added to.
    pub(crate) d_bias: *mut f32,
}

impl Kernel for PairsToPre<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let features = self.features;
        // SAFETY: pairs, objects and features are within the tensors.
        unsafe {
            for f in (0..features).step_by(V::LANES) {
                let mut bias = V::load(self.d_bias.add(f));
                for row in (0..2 * self.pairs).step_by(2) {
                    let at = self.d.add(row * features + f);
                    let (mut ab, mut ba) = (V::load(at), V::load(at.add(features)));
                    if !self.y.is_null() {
                        let y = self.y.add(row * features + f);
                        ab = ab.mul(slope(V::load(y)));
                        ba = ba.mul(slope(V::load(y.add(features))));
                    }
                    if !self.d_expanded.is_null() {
                        let [a, b] = self.ends.get_unchecked(row / 2).map(|x| x as usize);
                        let b = self.d_expanded.add(b * 2 * features + f);
                        add(b, ab);
                        add(b.add(features), ba);
                        let a = self.d_expanded.add(a * 2 * features + f);
                        add(a, ba);
                        add(a.add(features), ab);
                    }
                    let u = ab.add(ba);
                    u.store(at);
                    ab.sub(ba).store(at.add(features));
                    bias = bias.add(u);
                }
                bias.store(self.d_bias.add(f));
            }
        }
    }
}

/// y (1 - y).
#[inline(always)]
pub(super) unsafe fn slope<V: Vector>(y: V) -> V {
    // SAFETY: the caller has the instructions.
    unsafe { y.mul(V::splat(1.0).sub(y)) }
}

/// Adds to what lies there.
#[inline(always)]
pub(super) unsafe fn add<V: Vector>(to: *mut f32, x: V) {
    // SAFETY: the caller gives a place for a vector.
    unsafe { V::load(to).add(x).store(to) }
}

/// From the gradients of outputs of arity 0 and 1 to those of pre-activations, and to what the rows
/// of a structure took from the arity below.
pub(crate) struct RowsToPre {
    pub(crate) rows: usize,
    /// Rows of a structure.
    pub(crate) per: usize,
    /// Activations, from the first column of row 0 on; null where d is of pre-activations already.
    pub(crate) y: *const f32,
    pub(crate) y_stride: usize,
    pub(crate) features: usize,
    /// `[row][features]`.
    pub(crate) d: *mut f32,
    /// `[structure][features]`, or null.
    pub(crate) d_expanded: *mut f32,
    /// `[features]`, added to.
    pub(crate) d_bias: *mut f32,
}

impl Kernel for RowsToPre {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: rows and features are within the tensors.
        unsafe {
            for f in (0..self.features).step_by(V::LANES) {
                let mut bias = V::load(self.d_bias.add(f));
                for structure in 0..self.rows / self.per {
                    let mut sum = V::splat(0.0);
                    for row in structure * self.per..(structure + 1) * self.per {
                        let at = self.d.add(row * self.features + f);
                        let mut d = V::load(at);
                        if !self.y.is_null() {
                            d = d.mul(slope(V::load(self.y.add(row * self.y_stride + f))));
                            d.store(at);
                        }
                        sum = sum.add(d);
                    }
                    if !self.d_expanded.is_null() {
                        sum.store(self.d_expanded.add(structure * self.features + f));
                    }
                    bias = bias.add(sum);
                }
                bias.store(self.d_bias.add(f));
            }
        }
    }
}

/// Copies the columns of one output out of wider rows.
pub(crate) struct CopyRows {
    pub(crate) rows: usize,
    pub(crate) from: *const f32,
    pub(crate) stride: usize,
    pub(crate) features: usize,
    /// `[row][features]`.
    pub(crate) to: *mut f32,
}

impl Kernel for CopyRows {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: rows and features are within the tensors.
        unsafe {
            for row in 0..self.rows {
                for f in (0..self.features).step_by(V::LANES) {
                    V::load(self.from.add(row * self.stride + f))
                        .store(self.to.add(row * self.features + f));
                }
            }
        }
    }
}

/// Adds what belongs to each pair to what belongs to its class.
pub(crate) struct AddByClass<'a> {
    /// The pairs to add.
    pub(crate) pairs: &'a [u32],
    pub(crate) classes: &'a [u32],
    /// `[pair][width]`.
    pub(crate) d: *const f32,
    /// A multiple of 8.
    pub(crate) width: usize,
    /// `[class][width]`.
    pub(crate) sums: *mut f32,
}

impl Kernel for AddByClass<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: classes and pairs are within the tensors.
        unsafe {
            for &pair in self.pairs {
                let class = *self.classes.get_unchecked(pair as usize) as usize;
                let from = self.d.add(pair as usize * self.width);
                let to = self.sums.add(class * self.width);
                for f in (0..self.width).step_by(V::LANES) {
                    add(to.add(f), V::load(from.add(f)));
                }
            }
        }
    }
}
