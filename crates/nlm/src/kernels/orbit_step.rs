//! The triples of a layer after a finite first, orbit by orbit, where coefficients are stored.
//!
//! What [`OrbitRows`](super::orbit_rows::OrbitRows) does with one step, operation by operation, for
//! eight features: every offset is a constant, what the pair {x, y} adds is loaded once, and its
//! extrema stay in registers.

use super::orbit::{SIX, fourier, inverse, load_six, store_six};
use super::orbit_rows::{Pairs, Step, keep, product, six_parts};
use super::vector::{Kernel, Vector, sigmoids};
use crate::plan::BLOCK;

/// f32 of the six slots of eight features.
const SLOTS: usize = SIX * BLOCK;

pub(crate) struct OrbitStep<'a> {
    pub(crate) pairs: Pairs<'a>,
    pub(crate) classes: &'a [u32],
    pub(crate) both: bool,
    /// With a table and with pairs, for eight features.
    pub(crate) step: &'a Step,
    /// `[orbit][column block][6][8]`.
    pub(crate) own: *mut f32,
    pub(crate) own_stride: usize,
    /// `[row][8 for each quantifier]`, maxima then minima, started at ∓infinity.
    pub(crate) best: *mut f32,
}

impl Kernel for OrbitStep<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: see `pass`.
        unsafe {
            match (self.both, self.step.parts.is_empty(), self.step.output) {
                (false, true, _) => self.pass::<V, false, false, true>(),
                (true, true, _) => self.pass::<V, true, false, true>(),
                (false, false, None) => self.pass::<V, false, true, false>(),
                (true, false, None) => self.pass::<V, true, true, false>(),
                (false, false, Some(_)) => self.pass::<V, false, true, true>(),
                (true, false, Some(_)) => self.pass::<V, true, true, true>(),
            }
        }
    }
}

/// What the orbits (x, y, z) of one x and y share, and where the next lies.
struct Run<V> {
    xy: ([V; 3], [V; 3]),
    max: [V; 2],
    min: [V; 2],
    class: *const u32,
    own: *mut f32,
    parts: [*const f32; 2],
    best: [*mut f32; 2],
}

impl OrbitStep<'_> {
    #[inline(always)]
    unsafe fn pass<V: Vector, const BOTH: bool, const PARTS: bool, const OUTPUT: bool>(&self) {
        let n = self.pairs.orbits.objects;
        let columns = BLOCK * (1 + usize::from(BOTH));
        // SAFETY: orbits are counted in the order of storage; rows are within the tensors.
        unsafe {
            let expanded = self.step.expanded;
            let mut class = self.classes.as_ptr();
            let mut own = self.own;
            for x in 0..n {
                for y in self.pairs.orbits.after(x)..n {
                    let first = self.pairs.orbits.after(y);
                    if first >= n {
                        continue;
                    }
                    let xy = self.pairs.index(x, y);
                    let (xz, yz) = (self.pairs.index(x, first), self.pairs.index(y, first));
                    let mut run = Run {
                        xy: six_parts::<V>(expanded.add(xy * SLOTS), BLOCK),
                        max: [V::splat(f32::NEG_INFINITY); 2],
                        min: [V::splat(f32::INFINITY); 2],
                        class,
                        own,
                        parts: [expanded.add(xz * SLOTS), expanded.add(yz * SLOTS)],
                        best: [
                            self.best.add(xz * 2 * columns),
                            self.best.add(yz * 2 * columns),
                        ],
                    };
                    let mut left = n - first;
                    if PARTS && V::WIDE {
                        while left >= 4 {
                            self.tile::<V, 4, BOTH, PARTS, OUTPUT>(&mut run);
                            left -= 4;
                        }
                        if left >= 2 {
                            self.tile::<V, 2, BOTH, PARTS, OUTPUT>(&mut run);
                            left -= 2;
                        }
                    }
                    for _ in 0..left {
                        self.tile::<V, 1, BOTH, PARTS, OUTPUT>(&mut run);
                    }
                    (class, own) = (run.class, run.own);
                    let at = self.best.add(xy * 2 * columns);
                    keep::<V, BOTH>(at, BLOCK, run.max[0], run.min[0]);
                    keep::<V, BOTH>(at.add(columns), BLOCK, run.max[1], run.min[1]);
                }
            }
        }
    }

    /// The next T orbits.
    #[inline(always)]
    unsafe fn tile<
        V: Vector,
        const T: usize,
        const BOTH: bool,
        const PARTS: bool,
        const OUTPUT: bool,
    >(
        &self,
        run: &mut Run<V>,
    ) {
        let columns = BLOCK * (1 + usize::from(BOTH));
        // SAFETY: see `pass`.
        unsafe {
            let mut acc = [[V::splat(0.0); SIX]; T];
            if PARTS {
                for part in &self.step.parts {
                    let mut from = [run.own.cast_const(); T];
                    for (t, from) in from.iter_mut().enumerate() {
                        *from = from.add(t * self.own_stride + part.from * SIX);
                    }
                    acc = product(from, part.columns, part.weights, acc);
                }
            }
            let ([xy0, xy1, xy2], [yx0, yx1, yx2]) = run.xy;
            for acc in acc {
                let ([xz0, xz1, xz2], [zx0, zx1, zx2]) = six_parts::<V>(run.parts[0], BLOCK);
                let ([yz0, yz1, yz2], [zy0, zy1, zy2]) = six_parts::<V>(run.parts[1], BLOCK);
                let mut slots = [
                    yz0.add(xz1).add(xy2),
                    zy0.add(xy1).add(xz2),
                    xz0.add(yz1).add(yx2),
                    zx0.add(yx1).add(yz2),
                    xy0.add(zy1).add(zx2),
                    yx0.add(zx1).add(zy2),
                ];
                if PARTS {
                    let sums = inverse(acc);
                    for (slot, sum) in slots.iter_mut().zip(sums) {
                        *slot = slot.add(sum);
                    }
                }
                let sums = load_six::<V>(self.step.table.add(*run.class as usize * SLOTS));
                for (slot, sum) in slots.iter_mut().zip(sums) {
                    *slot = slot.add(sum);
                }
                if OUTPUT {
                    slots = sigmoids(slots);
                    let column = self.step.output.unwrap_or(0);
                    store_six(fourier(slots), run.own.add(column * SIX));
                }
                run.max = [slots[0].max(run.max[0]), slots[2].max(run.max[1])];
                if BOTH {
                    run.min = [slots[0].min(run.min[0]), slots[2].min(run.min[1])];
                }
                for (at, ab, ba) in [
                    (run.best[0], slots[1], slots[4]),
                    (run.best[1], slots[3], slots[5]),
                ] {
                    keep::<V, BOTH>(at, BLOCK, ab, ab);
                    keep::<V, BOTH>(at.add(columns), BLOCK, ba, ba);
                }
                run.class = run.class.wrapping_add(1);
                run.own = run.own.wrapping_add(self.own_stride);
                run.parts = run.parts.map(|p| p.wrapping_add(SLOTS));
                run.best = run.best.map(|p| p.wrapping_add(2 * columns));
            }
        }
    }
}
