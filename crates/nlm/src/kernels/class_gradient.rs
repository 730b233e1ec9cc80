//! Triples a class of orbits, forward and backward. See `docs/nlm.md`, "Gradients by classes".
//!
//! Coefficients and slots are `[class][column block][6][8]`.

use super::orbit::{
    AC, BC, SIX, fourier, fourier_gradient, inverse, inverse_gradient, load_six, store_six,
};
use super::orbit_rows::{pair_slots, product};
use super::rows_gradient::{add, slope};
use super::vector::{Kernel, Vector, sigmoids};
use crate::plan::BLOCK;

/// Coefficients of classes that a map reads or writes.
#[derive(Clone, Copy)]
pub(crate) struct Coefficients {
    /// The first column, of class 0.
    pub(crate) at: *mut f32,
    /// f32 from one class to the next.
    pub(crate) stride: usize,
    pub(crate) columns: usize,
}

/// The rows of the pair classes of a class of orbits: xy, xz, yx, yz, zx, zy.
#[inline(always)]
fn rows([xy, xz, yz]: [u32; 3]) -> [usize; SIX] {
    let [xy, xz, yz] = [xy, xz, yz].map(|p| 2 * p as usize);
    [xy, xz, xy + 1, yz, xz + 1, yz + 1]
}

/// Compose at arity 3, a class at a time.
pub(crate) struct ClassCompose<'a> {
    /// The pair classes xy, xz, yz of each class.
    pub(crate) classes: &'a [[u32; 3]],
    /// `[row of a pair class][3][features]`, or null for zero.
    pub(crate) expanded: *const f32,
    pub(crate) from: Coefficients,
    /// `[feature block][column][6][8]`.
    pub(crate) weights: *const f32,
    pub(crate) features: usize,
    /// Activations where there is an output, else pre-activations.
    pub(crate) slots: *mut f32,
    /// Where the coefficients of the activations go (stride as `from`), or null.
    pub(crate) output: *mut f32,
}

impl Kernel for ClassCompose<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles cover all classes.
        unsafe {
            let mut i = 0;
            while i < self.classes.len() {
                i += if V::WIDE && i + 4 <= self.classes.len() {
                    self.tile::<V, 4>(i)
                } else {
                    self.tile::<V, 1>(i)
                };
            }
        }
    }
}

impl ClassCompose<'_> {
    /// Classes i .. i + T. Returns T.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize>(&self, i: usize) -> usize {
        let features = self.features;
        // SAFETY: classes and features are within the tensors.
        unsafe {
            for f in (0..features).step_by(V::LANES) {
                let mut acc = [[V::splat(0.0); SIX]; T];
                if self.from.columns > 0 {
                    let mut from = [self.from.at.cast_const(); T];
                    for (t, from) in from.iter_mut().enumerate() {
                        *from = from.add((i + t) * self.from.stride);
                    }
                    let weights = self.weights.add(f * self.from.columns * SIX);
                    acc = product(from, self.from.columns, weights, acc);
                }
                for (t, acc) in acc.into_iter().enumerate() {
                    let mut slots = inverse(acc);
                    if !self.expanded.is_null() {
                        let rows = rows(*self.classes.get_unchecked(i + t));
                        let pairs =
                            pair_slots::<V>(self.expanded, self.expanded, features, f, &rows);
                        for (slot, pairs) in slots.iter_mut().zip(pairs) {
                            *slot = pairs.add(*slot);
                        }
                    }
                    if !self.output.is_null() {
                        slots = sigmoids(slots);
                        let to = self.output.add((i + t) * self.from.stride + f * SIX);
                        store_six(fourier(slots), to);
                    }
                    store_six(slots, self.slots.add(((i + t) * features + f) * SIX));
                }
            }
        }
        T
    }
}

/// From the gradients of slots to those of P, and to what classes took from their pairs.
pub(crate) struct ClassToPre<'a> {
    pub(crate) classes: &'a [[u32; 3]],
    pub(crate) features: usize,
    /// The gradients of slots on entry, of P on return.
    pub(crate) d: *mut f32,
    /// Activations; null where `d` is of pre-activations already.
    pub(crate) slots: *const f32,
    /// The gradients of the coefficients of these activations, where there are any.
    pub(crate) d_output: *const f32,
    pub(crate) stride: usize,
    /// `[row of a pair class][3][features]`, added to, or null.
    pub(crate) d_expanded: *mut f32,
}

impl Kernel for ClassToPre<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let features = self.features;
        // SAFETY: classes and features are within the tensors.
        unsafe {
            for (i, &class) in self.classes.iter().enumerate() {
                let rows = rows(class);
                for f in (0..features).step_by(V::LANES) {
                    let at = (i * features + f) * SIX;
                    let mut d = load_six::<V>(self.d.add(at));
                    if !self.slots.is_null() {
                        let from = self.d_output.add(i * self.stride + f * SIX);
                        let more = fourier_gradient(load_six::<V>(from));
                        let slots = load_six::<V>(self.slots.add(at));
                        for s in 0..SIX {
                            d[s] = d[s].add(more[s]).mul(slope(slots[s]));
                        }
                    }
                    if !self.d_expanded.is_null() {
                        let e = self.d_expanded.add(f);
                        for s in 0..SIX {
                            add(e.add(rows[BC[s]] * 3 * features), d[s]);
                            add(e.add((rows[AC[s]] * 3 + 1) * features), d[s]);
                            add(e.add((rows[s] * 3 + 2) * features), d[s]);
                        }
                    }
                    store_six(inverse_gradient(d), self.d.add(at));
                }
            }
        }
    }
}

/// dĝ_c += Σ_q dP_q Ŵ_{c,q}ᵀ.
pub(crate) struct ClassInputGradient {
    pub(crate) classes: usize,
    pub(crate) features: usize,
    pub(crate) d_pre: *const f32,
    /// `[column block][feature][6][8]`, matrices transposed.
    pub(crate) weights: *const f32,
    pub(crate) to: Coefficients,
}

impl Kernel for ClassInputGradient {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles cover every class once.
        unsafe {
            let mut i = 0;
            while i < self.classes {
                i += if V::WIDE && i + 4 <= self.classes {
                    self.tile::<V, 4>(i)
                } else {
                    self.tile::<V, 1>(i)
                };
            }
        }
    }
}

impl ClassInputGradient {
    /// Classes i .. i + T. Returns T.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize>(&self, i: usize) -> usize {
        // SAFETY: classes and columns are within the tensors.
        unsafe {
            let mut from = [self.d_pre; T];
            for (t, from) in from.iter_mut().enumerate() {
                *from = from.add((i + t) * self.features * SIX);
            }
            for c in (0..self.to.columns).step_by(V::LANES) {
                let to = self.to.at.add(i * self.to.stride + c * SIX);
                let mut acc = [[V::splat(0.0); SIX]; T];
                for (t, acc) in acc.iter_mut().enumerate() {
                    *acc = load_six(to.add(t * self.to.stride));
                }
                let weights = self.weights.add(c * self.features * SIX);
                acc = product(from, self.features, weights, acc);
                for (t, acc) in acc.into_iter().enumerate() {
                    store_six(acc, to.add(t * self.to.stride));
                }
            }
        }
        T
    }
}

/// dŴ_{c,q} = Σ over classes of ĝ_cᵀ dP_q.
pub(crate) struct ClassWeightGradient {
    pub(crate) classes: usize,
    pub(crate) features: usize,
    pub(crate) from: Coefficients,
    pub(crate) d_pre: *const f32,
    /// `[column][6][features]`.
    pub(crate) dw: *mut f32,
}

impl Kernel for ClassWeightGradient {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles stay within columns and features; columns are whole blocks.
        unsafe {
            for f in (0..self.features).step_by(V::LANES) {
                let mut c = 0;
                while c < self.from.columns {
                    c += if V::WIDE && c + 4 <= self.from.columns {
                        self.tile::<V, 4>(c, f)
                    } else {
                        self.tile::<V, 1>(c, f)
                    };
                }
            }
        }
    }
}

impl ClassWeightGradient {
    /// Columns c .. c + C, which are of one block, and features f .. f + 8. Returns C.
    #[inline(always)]
    unsafe fn tile<V: Vector, const C: usize>(&self, c: usize, f: usize) -> usize {
        // SAFETY: the caller gives columns and features that exist.
        unsafe {
            let mut acc = [[V::splat(0.0); SIX]; C];
            let mut g = self
                .from
                .at
                .add(c / BLOCK * SIX * BLOCK + c % BLOCK)
                .cast_const();
            let mut d_pre = self.d_pre.add(f * SIX);
            for _ in 0..self.classes {
                let d = load_six::<V>(d_pre);
                for (k, a) in acc.iter_mut().enumerate() {
                    let g = |i: usize| V::splat(*g.add(i * BLOCK + k));
                    a[0] = g(0).mul_add(d[0], a[0]);
                    a[1] = g(1).mul_add(d[1], a[1]);
                    a[2] = g(2).mul_add(d[2], a[2]);
                    a[3] = g(2).mul_add(d[3], a[3]);
                    a[4] = g(3).mul_add(d[2], a[4]);
                    a[5] = g(3).mul_add(d[3], a[5]);
                    a[2] = g(4).mul_add(d[4], a[2]);
                    a[3] = g(4).mul_add(d[5], a[3]);
                    a[4] = g(5).mul_add(d[4], a[4]);
                    a[5] = g(5).mul_add(d[5], a[5]);
                }
                g = g.wrapping_add(self.from.stride);
                d_pre = d_pre.wrapping_add(self.features * SIX);
            }
            for (j, a) in acc.iter().enumerate() {
                for (k, a) in a.iter().enumerate() {
                    a.store(self.dw.add(((c + j) * SIX + k) * self.features + f));
                }
            }
        }
        C
    }
}
