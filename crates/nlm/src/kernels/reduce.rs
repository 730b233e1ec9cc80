//! Maximum and minimum over the last object axis, and their gradients.
//!
//! Where a layer's activations are kept, the maximum is over activations;
//! where only reduce reads them, it is over pre-activations, and one sigmoid
//! follows: sigmoid is monotone.

use super::vector::{Kernel, Vector};

/// red[t'] = max (and min) over z of x[t', z].
pub(crate) struct Reduce<'a> {
    /// Live tuples of arity n - 1.
    pub(crate) live: &'a [u32],
    /// Dead tuples of arity n; empty when none is.
    pub(crate) dead: &'a [bool],
    pub(crate) objects: usize,
    /// The first column, of tuple 0.
    pub(crate) x: *const f32,
    pub(crate) x_stride: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// Whether x are pre-activations.
    pub(crate) activate: bool,
    /// The first output column, of tuple 0: maxima, then minima.
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
}

impl Kernel for Reduce<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let lanes = V::LANES;
        // SAFETY: every index is a row of the tensors.
        unsafe {
            for &t in self.live {
                let t = t as usize;
                let red = self.red.add(t * self.red_stride);
                for q in 0..self.features {
                    let mut max = V::splat(f32::NEG_INFINITY);
                    let mut min = V::splat(f32::INFINITY);
                    let mut empty = true;
                    for tuple in t * self.objects..(t + 1) * self.objects {
                        if self.dead.is_empty() || !*self.dead.get_unchecked(tuple) {
                            empty = false;
                            let v = V::load(self.x.add(tuple * self.x_stride + q * lanes));
                            max = max.max(v);
                            min = min.min(v);
                        }
                    }
                    if empty {
                        // Nothing exists; everything holds of nothing.
                        max = V::splat(0.0);
                        min = V::splat(1.0);
                    } else if self.activate {
                        max = max.sigmoid();
                        min = min.sigmoid();
                    }
                    max.store(red.add(q * lanes));
                    if self.both {
                        min.store(red.add((self.features + q) * lanes));
                    }
                }
            }
        }
    }
}

/// d_pre[t][q] of one compose output, from the gradients of its activation and
/// of its reduction. Tied entries share equally.
pub(crate) struct ActivationGradient<'a> {
    /// Live tuples of arity n - 1.
    pub(crate) live: &'a [u32],
    pub(crate) dead: &'a [bool],
    pub(crate) objects: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// Activations, or pre-activations where only reduce reads them.
    pub(crate) x: *const f32,
    pub(crate) x_stride: usize,
    /// Gradient of the activations (same stride as x), or null where
    /// only reduce reads them.
    pub(crate) d_own: *const f32,
    pub(crate) red: *const f32,
    pub(crate) d_red: *const f32,
    pub(crate) red_stride: usize,
    /// `[O^n][features][lanes]`.
    pub(crate) d_pre: *mut f32,
}

impl Kernel for ActivationGradient<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let lanes = V::LANES;
        // SAFETY: every index is a row of the tensors.
        unsafe {
            let one = V::splat(1.0);
            for &t in self.live {
                let t = t as usize;
                let tuples = t * self.objects..(t + 1) * self.objects;
                for q in 0..self.features {
                    let mut max = V::splat(f32::NEG_INFINITY);
                    let mut min = V::splat(f32::INFINITY);
                    for tuple in tuples.clone() {
                        if self.dead.is_empty() || !*self.dead.get_unchecked(tuple) {
                            let v = V::load(self.x.add(tuple * self.x_stride + q * lanes));
                            max = max.max(v);
                            min = min.min(v);
                        }
                    }
                    let mut ties_max = V::splat(0.0);
                    let mut ties_min = V::splat(0.0);
                    for tuple in tuples.clone() {
                        if self.dead.is_empty() || !*self.dead.get_unchecked(tuple) {
                            let v = V::load(self.x.add(tuple * self.x_stride + q * lanes));
                            ties_max = ties_max.add(v.where_equal(max, one));
                            ties_min = ties_min.add(v.where_equal(min, one));
                        }
                    }
                    let at = t * self.red_stride + q * lanes;
                    let mut share_max = V::load(self.d_red.add(at)).div(ties_max);
                    let mut share_min = V::splat(0.0);
                    let at_min = at + self.features * lanes;
                    if self.both {
                        share_min = V::load(self.d_red.add(at_min)).div(ties_min);
                    }
                    if self.d_own.is_null() {
                        let s = V::load(self.red.add(at));
                        share_max = share_max.mul(s.mul(one.sub(s)));
                        if self.both {
                            let s = V::load(self.red.add(at_min));
                            share_min = share_min.mul(s.mul(one.sub(s)));
                        }
                    }
                    for tuple in tuples.clone() {
                        if self.dead.is_empty() || !*self.dead.get_unchecked(tuple) {
                            let at = tuple * self.x_stride + q * lanes;
                            let v = V::load(self.x.add(at));
                            let mut d = v.where_equal(max, share_max);
                            if self.both {
                                d = d.add(v.where_equal(min, share_min));
                            }
                            if !self.d_own.is_null() {
                                d = d.add(V::load(self.d_own.add(at)));
                                d = d.mul(v.mul(one.sub(v)));
                            }
                            d.store(self.d_pre.add((tuple * self.features + q) * lanes));
                        }
                    }
                }
            }
        }
    }
}

/// d_pre = d_own s (1 - s) over the columns of nullary outputs, which no reduction reads.
pub(crate) struct NullaryGradient {
    pub(crate) s: *const f32,
    pub(crate) d_own: *const f32,
    pub(crate) features: usize,
    pub(crate) d_pre: *mut f32,
}

impl Kernel for NullaryGradient {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the pointers are good for `features` vectors.
        unsafe {
            for q in 0..self.features {
                let s = V::load(self.s.add(q * V::LANES));
                let d = V::load(self.d_own.add(q * V::LANES));
                d.mul(s.mul(V::splat(1.0).sub(s)))
                    .store(self.d_pre.add(q * V::LANES));
            }
        }
    }
}
