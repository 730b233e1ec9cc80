//! Compose at arity 3 with states in lanes, backward.

use super::orbit::{
    AC, BC, CANONICAL, SIX, fourier_gradient, inverse_gradient, load_six, pairs, product, store_six,
};
use super::triples::Orbits;
use super::vector::{Kernel, Vector};
use crate::plan::TILE;

/// How many entries attain each maximum and minimum.
pub(crate) struct CountTies {
    pub(crate) orbits: Orbits,
    /// `[orbit][features][6][lanes]` from the first column of the output.
    pub(crate) slots: *const f32,
    pub(crate) slots_stride: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// The extrema of the slots: `[O^2][columns][lanes]`.
    pub(crate) best: *const f32,
    pub(crate) best_stride: usize,
    /// `[O^2][features * quantifiers][lanes]`, zero before.
    pub(crate) ties: *mut f32,
}

impl Kernel for CountTies {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let n = self.orbits.objects;
        let lanes = V::LANES;
        let columns = self.features * (1 + usize::from(self.both));
        let mut slots = self.slots;
        // SAFETY: rows and features are within the tensors, orbits are counted in the
        // order of storage.
        unsafe {
            let one = V::splat(1.0);
            for x in 0..n {
                for y in self.orbits.after(x)..n {
                    for z in self.orbits.after(y)..n {
                        let rows = pairs(x, y, z, n);
                        let canonical = &CANONICAL[usize::from(x == y)][usize::from(y == z)];
                        for s in 0..SIX {
                            if !canonical[s] {
                                continue;
                            }
                            let best = self.best.add(rows[s] * self.best_stride);
                            let ties = self.ties.add(rows[s] * columns * lanes);
                            for q in 0..self.features {
                                let v = V::load(slots.add((q * SIX + s) * lanes));
                                let at = ties.add(q * lanes);
                                let tied = v.where_equal(V::load(best.add(q * lanes)), one);
                                V::load(at).add(tied).store(at);
                                if self.both {
                                    let q = q + self.features;
                                    let at = ties.add(q * lanes);
                                    let tied = v.where_equal(V::load(best.add(q * lanes)), one);
                                    V::load(at).add(tied).store(at);
                                }
                            }
                        }
                        slots = slots.wrapping_add(self.slots_stride);
                    }
                }
            }
        }
    }
}

/// From ties to the share of each tied entry.
pub(crate) struct Shares<'a> {
    pub(crate) live: &'a [u32],
    /// Columns of the reduction.
    pub(crate) columns: usize,
    pub(crate) red: *const f32,
    pub(crate) d_red: *const f32,
    pub(crate) red_stride: usize,
    /// Whether the reduction was over pre-activations.
    pub(crate) activate: bool,
    /// Ties on entry, shares on return.
    pub(crate) shares: *mut f32,
}

impl Kernel for Shares<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let lanes = V::LANES;
        // SAFETY: rows and columns are within the tensors.
        unsafe {
            for &row in self.live {
                for c in 0..self.columns {
                    let from = row as usize * self.red_stride + c * lanes;
                    let at = self.shares.add((row as usize * self.columns + c) * lanes);
                    // No tie at all means no tuple: then nobody asks for a share.
                    let ties = V::load(at).max(V::splat(1.0));
                    let mut share = V::load(self.d_red.add(from)).div(ties);
                    if self.activate {
                        let s = V::load(self.red.add(from));
                        share = share.mul(s.mul(V::splat(1.0).sub(s)));
                    }
                    share.store(at);
                }
            }
        }
    }
}

/// From the gradients of activations and reductions to those of P, of the
/// broadcast pairs, of the bias and of the coefficients read.
pub(crate) struct TriplesGradient {
    pub(crate) orbits: Orbits,
    pub(crate) slots: *const f32,
    pub(crate) slots_stride: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    pub(crate) best: *const f32,
    pub(crate) best_stride: usize,
    pub(crate) shares: *const f32,
    /// `[orbit][own columns][6][lanes]`: gradient of the coefficients of this
    /// output, or null where only reduce reads it.
    pub(crate) d_output: *const f32,
    pub(crate) own_stride: usize,
    /// `[O^2][3][features][lanes]`, zero before, or null.
    pub(crate) d_expanded: *mut f32,
    /// `[features][lanes]`, zero before.
    pub(crate) d_bias: *mut f32,
    /// `[orbit][features][6][lanes]`: gradient of P.
    pub(crate) d_pre: *mut f32,
    /// First learned column read: `[orbit][own columns][6][lanes]`.
    pub(crate) d_own: *mut f32,
    /// Learned columns, a multiple of [`TILE`].
    pub(crate) learned: usize,
    /// `[column tile][feature][TILE][6]`.
    pub(crate) transposed: *const f32,
}

impl Kernel for TriplesGradient {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let n = self.orbits.objects;
        let mut orbit = 0;
        // SAFETY: orbits are counted in the order of storage.
        unsafe {
            for x in 0..n {
                for y in self.orbits.after(x)..n {
                    for z in self.orbits.after(y)..n {
                        let rows = pairs(x, y, z, n);
                        let canonical = &CANONICAL[usize::from(x == y)][usize::from(y == z)];
                        for q in 0..self.features {
                            self.feature::<V>(orbit, &rows, canonical, q);
                        }
                        let d_pre = self.d_pre.add(orbit * self.features * SIX * V::LANES);
                        for c in (0..self.learned).step_by(TILE) {
                            if V::WIDE {
                                self.tile::<V, 4>(orbit, d_pre, c, 0);
                            } else {
                                self.tile::<V, 2>(orbit, d_pre, c, 0);
                                self.tile::<V, 2>(orbit, d_pre, c, 2);
                            }
                        }
                        orbit += 1;
                    }
                }
            }
        }
    }
}

impl TriplesGradient {
    #[inline(always)]
    unsafe fn feature<V: Vector>(
        &self,
        orbit: usize,
        rows: &[usize; 6],
        canonical: &[bool; 6],
        q: usize,
    ) {
        let lanes = V::LANES;
        let columns = self.features * (1 + usize::from(self.both));
        // SAFETY: orbit, rows and features are within the tensors.
        unsafe {
            let at = orbit * self.slots_stride + q * SIX * lanes;
            let slots = load_six::<V>(self.slots.add(at));
            let mut d = [V::splat(0.0); SIX];
            if !self.d_output.is_null() {
                let at = orbit * self.own_stride + q * SIX * lanes;
                d = fourier_gradient(load_six::<V>(self.d_output.add(at)));
            }
            for s in 0..SIX {
                if canonical[s] {
                    let best = self.best.add(rows[s] * self.best_stride + q * lanes);
                    let shares = self.shares.add((rows[s] * columns + q) * lanes);
                    let share = slots[s].where_equal(V::load(best), V::load(shares));
                    d[s] = d[s].add(share);
                    if self.both {
                        let offset = self.features * lanes;
                        let best = V::load(best.add(offset));
                        let share = slots[s].where_equal(best, V::load(shares.add(offset)));
                        d[s] = d[s].add(share);
                    }
                }
            }
            if !self.d_output.is_null() {
                for s in 0..SIX {
                    let slope = slots[s].mul(V::splat(1.0).sub(slots[s]));
                    d[s] = d[s].mul(slope);
                }
            }
            let p = inverse_gradient(d);
            store_six(p, self.d_pre.add((orbit * self.features + q) * SIX * lanes));
            let bias = self.d_bias.add(q * lanes);
            // The trivial coefficient is the sum of the slots.
            V::load(bias).add(p[0]).store(bias);
            if !self.d_expanded.is_null() {
                let width = self.features * lanes;
                let e = self.d_expanded.add(q * lanes);
                for s in 0..SIX {
                    let bc = e.add(rows[BC[s]] * 3 * width);
                    V::load(bc).add(d[s]).store(bc);
                    let ac = e.add(rows[AC[s]] * 3 * width + width);
                    V::load(ac).add(d[s]).store(ac);
                    let ab = e.add(rows[s] * 3 * width + 2 * width);
                    V::load(ab).add(d[s]).store(ab);
                }
            }
        }
    }

    /// Gradient of the coefficients of learned columns c + j .. c + j + J.
    #[inline(always)]
    unsafe fn tile<V: Vector, const J: usize>(
        &self,
        orbit: usize,
        d_pre: *const f32,
        c: usize,
        j: usize,
    ) {
        let lanes = V::LANES;
        // SAFETY: orbit and columns are within the tensors.
        unsafe {
            let d_own = self
                .d_own
                .add(orbit * self.own_stride + (c + j) * SIX * lanes);
            let mut acc = [[V::splat(0.0); SIX]; J];
            for (i, a) in acc.iter_mut().enumerate() {
                *a = load_six(d_own.add(i * SIX * lanes));
            }
            let weights = self.transposed.add((c * self.features + j) * SIX);
            let acc = product::<V, J>(d_pre, self.features, weights, acc);
            for (i, a) in acc.iter().enumerate() {
                store_six(*a, d_own.add(i * SIX * lanes));
            }
        }
    }
}

/// dŴ[c][q] += Σ over orbits and lanes of ĝ_cᵀ dP_q.
pub(crate) struct OrbitWeightGradient {
    pub(crate) orbits: usize,
    pub(crate) own: *const f32,
    pub(crate) own_stride: usize,
    pub(crate) columns: usize,
    pub(crate) d_pre: *const f32,
    pub(crate) features: usize,
    /// `[column][feature][6]`.
    pub(crate) dw: *mut f32,
}

impl Kernel for OrbitWeightGradient {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles stay within columns and features.
        unsafe {
            for q in (0..self.features).step_by(2) {
                let mut c = 0;
                if V::WIDE {
                    while c + 2 <= self.columns {
                        self.tile::<V, 2, 1>(c, q);
                        self.tile::<V, 2, 1>(c, q + 1);
                        c += 2;
                    }
                }
                while c < self.columns {
                    self.tile::<V, 1, 1>(c, q);
                    self.tile::<V, 1, 1>(c, q + 1);
                    c += 1;
                }
            }
        }
    }
}

impl OrbitWeightGradient {
    #[inline(always)]
    unsafe fn tile<V: Vector, const C: usize, const Q: usize>(&self, c: usize, q: usize) {
        let lanes = V::LANES;
        // SAFETY: c + C <= columns, q + Q <= features.
        unsafe {
            let mut acc = [[[V::splat(0.0); SIX]; Q]; C];
            let mut own = self.own.add(c * SIX * lanes);
            let mut d_pre = self.d_pre.add(q * SIX * lanes);
            for _ in 0..self.orbits {
                for (j, acc) in acc.iter_mut().enumerate() {
                    let g = load_six::<V>(own.add(j * SIX * lanes));
                    for (i, a) in acc.iter_mut().enumerate() {
                        let d = load_six::<V>(d_pre.add(i * SIX * lanes));
                        a[0] = g[0].mul_add(d[0], a[0]);
                        a[1] = g[1].mul_add(d[1], a[1]);
                        a[2] = g[2].mul_add(d[2], a[2]);
                        a[3] = g[2].mul_add(d[3], a[3]);
                        a[4] = g[3].mul_add(d[2], a[4]);
                        a[5] = g[3].mul_add(d[3], a[5]);
                        a[2] = g[4].mul_add(d[4], a[2]);
                        a[3] = g[4].mul_add(d[5], a[3]);
                        a[4] = g[5].mul_add(d[4], a[4]);
                        a[5] = g[5].mul_add(d[5], a[5]);
                    }
                }
                own = own.wrapping_add(self.own_stride);
                d_pre = d_pre.wrapping_add(self.features * SIX * lanes);
            }
            for (j, acc) in acc.iter().enumerate() {
                for (i, a) in acc.iter().enumerate() {
                    for (k, a) in a.iter().enumerate() {
                        let at = ((c + j) * self.features + q + i) * SIX + k;
                        *self.dw.add(at) += a.sum();
                    }
                }
            }
        }
    }
}
