//! Compose at arity 3 with states in lanes, forward.

use super::orbit::{AC, BC, CANONICAL, SIX, fourier, inverse, pairs, product, store_six};
use super::vector::{Kernel, Vector, prefetch, sigmoids};
use crate::plan::TILE;

/// The orbits of a group, in the order they are stored.
#[derive(Clone, Copy)]
pub(crate) struct Orbits {
    pub(crate) objects: usize,
    /// Leave out orbits that repeat an object.
    pub(crate) distinct: bool,
}

impl Orbits {
    /// The first y and z after x and y.
    #[inline(always)]
    pub(crate) fn after(self, x: usize) -> usize {
        x + usize::from(self.distinct)
    }
}

/// pre = bias + broadcast pairs + Σ over permutations, its activation, its reduction.
pub(crate) struct Triples {
    pub(crate) orbits: Orbits,
    /// First column read: `[orbit][columns][6][lanes]`, coefficients.
    pub(crate) own: *const f32,
    pub(crate) own_stride: usize,
    pub(crate) columns: usize,
    /// `[feature tile][column][TILE][6]`.
    pub(crate) weights: *const f32,
    /// `[O^2][3][features][lanes]`, the bias in the first of the three, or null.
    pub(crate) expanded: *const f32,
    /// `[features]`, for where `expanded` is null.
    pub(crate) bias: *const f32,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// Where the coefficients of the activations go (stride `own_stride`);
    /// null where only reduce reads the output, and then
    /// the reduction is over pre-activations.
    pub(crate) output: *mut f32,
    /// Where the slots go for the backward pass, or null.
    pub(crate) slots: *mut f32,
    pub(crate) slots_stride: usize,
    /// `[O^2][columns][lanes]`, maxima then minima, started at ∓infinity.
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
}

impl Kernel for Triples {
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
                        let next = self.own.wrapping_add((orbit + 1) * self.own_stride);
                        prefetch(next, self.columns * SIX * V::LANES);
                        for f in (0..self.features).step_by(TILE) {
                            if V::WIDE {
                                self.tile::<V, 4>(orbit, &rows, canonical, f, 0);
                            } else {
                                self.tile::<V, 2>(orbit, &rows, canonical, f, 0);
                                self.tile::<V, 2>(orbit, &rows, canonical, f, 2);
                            }
                        }
                        orbit += 1;
                    }
                }
            }
        }
    }
}

impl Triples {
    /// Features f + j .. f + j + J of one orbit.
    #[inline(always)]
    unsafe fn tile<V: Vector, const J: usize>(
        &self,
        orbit: usize,
        rows: &[usize; 6],
        canonical: &[bool; 6],
        f: usize,
        j: usize,
    ) {
        let lanes = V::LANES;
        // SAFETY: orbit, rows and features are within the tensors.
        unsafe {
            let own = self.own.wrapping_add(orbit * self.own_stride);
            let weights = self.weights.wrapping_add((f * self.columns + j) * SIX);
            let zero = [[V::splat(0.0); SIX]; J];
            let acc = product::<V, J>(own, self.columns, weights, zero);
            for (i, acc) in acc.iter().enumerate() {
                let q = f + j + i;
                let mut slots = [V::splat(*self.bias.add(q)); SIX];
                if !self.expanded.is_null() {
                    let width = self.features * lanes;
                    let e = self.expanded.add(q * lanes);
                    for (s, slot) in slots.iter_mut().enumerate() {
                        let bc = V::load(e.add(rows[BC[s]] * 3 * width));
                        let ac = V::load(e.add(rows[AC[s]] * 3 * width + width));
                        let ab = V::load(e.add(rows[s] * 3 * width + 2 * width));
                        *slot = bc.add(ac).add(ab);
                    }
                }
                if self.columns > 0 {
                    let sums = inverse(*acc);
                    for (slot, sum) in slots.iter_mut().zip(sums) {
                        *slot = slot.add(sum);
                    }
                }
                if !self.output.is_null() {
                    slots = sigmoids(slots);
                    let to = orbit * self.own_stride + q * SIX * lanes;
                    store_six(fourier(slots), self.output.add(to));
                }
                if !self.slots.is_null() {
                    let to = orbit * self.slots_stride + q * SIX * lanes;
                    store_six(slots, self.slots.add(to));
                }
                for (s, slot) in slots.iter().enumerate() {
                    if canonical[s] {
                        let at = self.red.add(rows[s] * self.red_stride + q * lanes);
                        V::load(at).max(*slot).store(at);
                        if self.both {
                            let at = at.add(self.features * lanes);
                            V::load(at).min(*slot).store(at);
                        }
                    }
                }
            }
        }
    }
}

/// Starts a reduction at ∓infinity.
pub(crate) struct StartReduction {
    pub(crate) rows: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
}

impl Kernel for StartReduction {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: rows and features are within the tensor.
        unsafe {
            for row in 0..self.rows {
                let at = self.red.add(row * self.red_stride);
                for q in 0..self.features {
                    V::splat(f32::NEG_INFINITY).store(at.add(q * V::LANES));
                    if self.both {
                        let at = at.add((self.features + q) * V::LANES);
                        V::splat(f32::INFINITY).store(at);
                    }
                }
            }
        }
    }
}

/// Ends a reduction: over no tuple it is 0 and 1; over pre-activations a
/// sigmoid is due, and the backward pass wants what stood there before.
pub(crate) struct EndReduction<'a> {
    pub(crate) live: &'a [u32],
    /// Whether the reductions were over no tuple.
    pub(crate) empty: bool,
    pub(crate) activate: bool,
    pub(crate) features: usize,
    pub(crate) both: bool,
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
    /// `[O^2][features * quantifiers][lanes]`, or null.
    pub(crate) best: *mut f32,
}

impl Kernel for EndReduction<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let lanes = V::LANES;
        let columns = self.features * (1 + usize::from(self.both));
        // SAFETY: rows and features are within the tensors.
        unsafe {
            for &row in self.live {
                for c in 0..columns {
                    let at = self.red.add(row as usize * self.red_stride + c * lanes);
                    let v = V::load(at);
                    if !self.best.is_null() {
                        v.store(self.best.add((row as usize * columns + c) * lanes));
                    }
                    if self.empty {
                        V::splat(f32::from(u8::from(c >= self.features))).store(at);
                    } else if self.activate {
                        v.sigmoid().store(at);
                    }
                }
            }
        }
    }
}
