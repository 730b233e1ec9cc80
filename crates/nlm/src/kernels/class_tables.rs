//! The first layer's triples a class of orbits, and what later layers read of them. See `docs/nlm.md`,
//! "The finite first layer".

use super::orbit::{SIX, fourier, inverse, store_six};
use super::orbit_rows::{pair_slots, product};
use super::vector::{Kernel, Vector, sigmoids};

/// The activations of classes of orbits and their coefficients, from what the patterns of
/// their pairs contribute.
pub(crate) struct ClassSlots<'a> {
    /// The patterns xy, xz, yz of each class.
    pub(crate) classes: &'a [[u16; 3]],
    /// `[pattern][2][3][features]`.
    pub(crate) expanded: *const f32,
    pub(crate) features: usize,
    /// `[class][feature block][6][8]`.
    pub(crate) slots: *mut f32,
    pub(crate) coefficients: *mut f32,
}

impl Kernel for ClassSlots<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: patterns and features are within the tensors.
        unsafe {
            for (i, class) in self.classes.iter().enumerate() {
                let [xy, xz, yz] = class.map(|p| 2 * usize::from(p));
                let rows = [xy, xz, xy + 1, yz, xz + 1, yz + 1];
                for f in (0..self.features).step_by(V::LANES) {
                    let mut slots =
                        pair_slots::<V>(self.expanded, self.expanded, self.features, f, &rows);
                    slots = sigmoids(slots);
                    let at = i * self.features * SIX + f * SIX;
                    store_six(slots, self.slots.add(at));
                    store_six(fourier(slots), self.coefficients.add(at));
                }
            }
        }
    }
}

/// What a later layer reads of the coefficients of classes: Σ_π W_π z_3(t∘π) in six orders.
pub(crate) struct ClassTable {
    pub(crate) classes: usize,
    pub(crate) features: usize,
    pub(crate) coefficients: *const f32,
    /// `[feature block][column][6][8]` with this stride between blocks.
    pub(crate) weights: *const f32,
    pub(crate) block_stride: usize,
    pub(crate) table: *mut f32,
}

impl Kernel for ClassTable {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: classes and features are within the tensors.
        unsafe {
            for i in 0..self.classes {
                for f in (0..self.features).step_by(V::LANES) {
                    let acc = product::<V, 1>(
                        [self.coefficients.add(i * self.features * SIX)],
                        self.features,
                        self.weights.add(f / V::LANES * self.block_stride),
                        [[V::splat(0.0); SIX]],
                    );
                    let at = i * self.features * SIX + f * SIX;
                    store_six(inverse(acc[0]), self.table.add(at));
                }
            }
        }
    }
}
