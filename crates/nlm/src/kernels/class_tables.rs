//! The triples of finite layers a class of orbits, and what later layers read of them. See `docs/nlm.md`,
//! "The finite first layers".

use super::orbit::{AC, BC, SIX, fourier, inverse, load_six, store_six};
use super::orbit_rows::product;
use super::vector::{Kernel, Vector, sigmoids};

/// What pairs of each kind add to triples: at `kind * stride` the two rows of the pair, `[2][3][features]`.
#[derive(Clone, Copy)]
pub(crate) struct KindParts {
    pub(crate) parts: *const f32,
    pub(crate) stride: usize,
}

/// The activations of classes of orbits and their coefficients, from what the kinds of
/// their pairs contribute.
pub(crate) struct ClassSlots<'a> {
    /// The kinds xy, xz, yz of each class.
    pub(crate) classes: &'a [[u32; 3]],
    pub(crate) kinds: KindParts,
    pub(crate) features: usize,
    /// Whether `slots` holds what the layer reads of earlier triples already.
    pub(crate) add: bool,
    /// `[class][feature block][6][8]`.
    pub(crate) slots: *mut f32,
    /// The first column, of class 0, or null.
    pub(crate) coefficients: *mut f32,
    pub(crate) coefficients_stride: usize,
}

impl Kernel for ClassSlots<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let features = self.features;
        // SAFETY: kinds and features are within the tensors.
        unsafe {
            for (i, class) in self.classes.iter().enumerate() {
                let [xy, xz, yz] = class.map(|kind| {
                    let at = kind as usize * self.kinds.stride;
                    self.kinds.parts.add(at)
                });
                let reverse = 3 * features;
                let rows = [
                    xy,
                    xz,
                    xy.add(reverse),
                    yz,
                    xz.add(reverse),
                    yz.add(reverse),
                ];
                for f in (0..features).step_by(V::LANES) {
                    let at = self.slots.add((i * features + f) * SIX);
                    let mut slots = [V::splat(0.0); SIX];
                    for (s, slot) in slots.iter_mut().enumerate() {
                        let bc = V::load(rows[BC[s]].add(f));
                        let ac = V::load(rows[AC[s]].add(features + f));
                        let ab = V::load(rows[s].add(2 * features + f));
                        *slot = bc.add(ac).add(ab);
                    }
                    if self.add {
                        for (slot, sum) in slots.iter_mut().zip(load_six::<V>(at)) {
                            *slot = slot.add(sum);
                        }
                    }
                    slots = sigmoids(slots);
                    store_six(slots, at);
                    if !self.coefficients.is_null() {
                        let at = i * self.coefficients_stride + f * SIX;
                        store_six(fourier(slots), self.coefficients.add(at));
                    }
                }
            }
        }
    }
}

/// What a later layer reads of the coefficients of classes: Σ_π W_π z_3(t∘π) in six orders.
pub(crate) struct ClassTable {
    pub(crate) classes: usize,
    pub(crate) features: usize,
    /// The first column read, of class 0: `[column block][6][8]` a class.
    pub(crate) coefficients: *const f32,
    pub(crate) coefficients_stride: usize,
    pub(crate) columns: usize,
    /// `[feature block][column][6][8]` with this stride between blocks.
    pub(crate) weights: *const f32,
    pub(crate) block_stride: usize,
    /// `[class][feature block][6][8]`.
    pub(crate) table: *mut f32,
}

impl Kernel for ClassTable {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let mut i = 0;
        // SAFETY: the tiles cover all classes.
        unsafe {
            while V::WIDE && i + 4 <= self.classes {
                self.tile::<V, 4>(i);
                i += 4;
            }
            while i < self.classes {
                self.tile::<V, 1>(i);
                i += 1;
            }
        }
    }
}

impl ClassTable {
    /// The classes i .. i + T. Each has its own sums, so that T changes no bit.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize>(&self, i: usize) {
        // SAFETY: classes and features are within the tensors.
        unsafe {
            for f in (0..self.features).step_by(V::LANES) {
                let mut from = [self.coefficients; T];
                for (t, from) in from.iter_mut().enumerate() {
                    *from = from.add((i + t) * self.coefficients_stride);
                }
                let weights = self.weights.add(f / V::LANES * self.block_stride);
                let acc = product::<V, T>(from, self.columns, weights, [[V::splat(0.0); SIX]; T]);
                for (t, acc) in acc.into_iter().enumerate() {
                    let at = ((i + t) * self.features + f) * SIX;
                    store_six(inverse(acc), self.table.add(at));
                }
            }
        }
    }
}
