//! Triples with features in lanes.
//!
//! Pairs come in twos: row 2p is (a, b) with a <= b, row 2p + 1 is (b, a), and for one a the
//! pairs follow one another over b. So an orbit (x, y, z) reads two runs over z and one fixed place.
//! An orbit that repeats an object is computed like any other: slots that name one tuple are
//! equal as functions, and a maximum takes an entry twice without harm.

use super::orbit::{AC, BC, SIX, fourier, inverse, load_six, store_six};
use super::triples::Orbits;
use super::vector::{Kernel, Vector, sigmoids};
use crate::plan::BLOCK;

/// f32 of the six slots of eight features.
const SLOTS: usize = SIX * BLOCK;

/// Where the pairs of a structure lie.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<'a> {
    pub(crate) orbits: Orbits,
    /// The pair (x, x) would have the index `starts[x] + x`, whether it exists or not.
    pub(crate) starts: &'a [usize],
}

impl Pairs<'_> {
    /// The index of the pair a <= b.
    #[inline(always)]
    pub(crate) fn index(&self, a: usize, b: usize) -> usize {
        self.starts[a].wrapping_add(b)
    }

    /// The rows xy, xz, yx, yz, zx, zy.
    #[inline(always)]
    fn rows(&self, x: usize, y: usize, z: usize) -> [usize; SIX] {
        let (xy, xz, yz) = (
            2 * self.index(x, y),
            2 * self.index(x, z),
            2 * self.index(y, z),
        );
        [xy, xz, xy + 1, yz, xz + 1, yz + 1]
    }
}

/// Keeps the greater of a maximum and the lesser of a minimum.
#[inline(always)]
pub(super) unsafe fn keep<V: Vector, const BOTH: bool>(
    at: *mut f32,
    features: usize,
    max: V,
    min: V,
) {
    // SAFETY: the caller gives a place for both.
    unsafe {
        max.max(V::load(at)).store(at);
        if BOTH {
            let at = at.add(features);
            min.min(V::load(at)).store(at);
        }
    }
}

/// What (a, b) and (b, a) contribute as the pair without position 0, 1, 2.
#[inline(always)]
pub(super) unsafe fn six_parts<V: Vector>(at: *const f32, features: usize) -> ([V; 3], [V; 3]) {
    // SAFETY: the caller gives the two rows of a pair.
    unsafe {
        let ba = at.add(3 * features);
        let (ab1, ab2) = (at.add(features), at.add(2 * features));
        let (ba1, ba2) = (ba.add(features), ba.add(2 * features));
        (
            [V::load(at), V::load(ab1), V::load(ab2)],
            [V::load(ba), V::load(ba1), V::load(ba2)],
        )
    }
}

/// Coefficients a step reads: `columns` of them from this column on.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// A multiple of 8.
    pub(crate) from: usize,
    pub(crate) columns: usize,
    /// `[column][6][8]`, of the first feature block.
    pub(crate) weights: *const f32,
}

/// One layer's compose at arity 3.
pub(crate) struct Step {
    pub(crate) parts: Vec<Part>,
    /// f32 from one feature block of the weights to the next.
    pub(crate) block_stride: usize,
    /// `[class][feature block][6][8]`, or null.
    pub(crate) table: *const f32,
    /// `[row][3][features]`, the bias in the first of the three, or null.
    pub(crate) expanded: *const f32,
    /// For where `expanded` is null.
    pub(crate) bias: *const f32,
    /// The column where the coefficients of the activations go, if any.
    pub(crate) output: Option<usize>,
}

/// The last of `steps` over every orbit; the steps before it recompute what the last
/// reads where it is not stored.
pub(crate) struct OrbitRows<'a> {
    pub(crate) pairs: Pairs<'a>,
    pub(crate) classes: &'a [u32],
    pub(crate) features: usize,
    pub(crate) both: bool,
    pub(crate) steps: &'a [Step],
    /// `[orbit][column block][6][8]`; with `own_stride` 0 room for four orbits of
    /// `columns` columns.
    pub(crate) own: *mut f32,
    pub(crate) own_stride: usize,
    /// Columns of coefficients, a multiple of 8.
    pub(crate) columns: usize,
    /// With `own_stride` 0: the input columns of every orbit.
    pub(crate) inputs: *const f32,
    pub(crate) input_columns: usize,
    /// As in [`LookUp`].
    pub(crate) best: *mut f32,
}

impl Kernel for OrbitRows<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: see `rows`.
        unsafe {
            // Eight features are the rule, and then offsets are constants.
            match (self.features == BLOCK, self.both) {
                (true, false) => self.rows::<V, BLOCK, false>(),
                (true, true) => self.rows::<V, BLOCK, true>(),
                (false, false) => self.rows::<V, 0, false>(),
                (false, true) => self.rows::<V, 0, true>(),
            }
        }
    }
}

impl OrbitRows<'_> {
    /// Every orbit. F is the number of features, or 0.
    #[inline(always)]
    unsafe fn rows<V: Vector, const F: usize, const BOTH: bool>(&self) {
        let n = self.pairs.orbits.objects;
        let mut orbit = 0;
        // SAFETY: orbits are counted in the order of storage, tiles end with the row.
        unsafe {
            for x in 0..n {
                for y in self.pairs.orbits.after(x)..n {
                    let mut z = self.pairs.orbits.after(y);
                    while z < n {
                        if V::WIDE && z + 4 <= n {
                            self.tile::<V, 4, F, BOTH>(orbit, x, y, z);
                            (orbit, z) = (orbit + 4, z + 4);
                        } else if V::WIDE && z + 2 <= n {
                            self.tile::<V, 2, F, BOTH>(orbit, x, y, z);
                            (orbit, z) = (orbit + 2, z + 2);
                        } else {
                            self.tile::<V, 1, F, BOTH>(orbit, x, y, z);
                            (orbit, z) = (orbit + 1, z + 1);
                        }
                    }
                }
            }
        }
    }

    /// Orbits (x, y, z) .. (x, y, z + T).
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize, const F: usize, const BOTH: bool>(
        &self,
        orbit: usize,
        x: usize,
        y: usize,
        z: usize,
    ) {
        let features = if F > 0 { F } else { self.features };
        // SAFETY: see `run`.
        unsafe {
            let stride = self.columns * SIX;
            let mut own = [self.own; T];
            for (t, own) in own.iter_mut().enumerate() {
                if self.own_stride > 0 {
                    *own = own.add((orbit + t) * self.own_stride);
                } else {
                    *own = own.add(t * stride);
                    let len = self.input_columns * SIX;
                    if len > 0 {
                        let from = self.inputs.add((orbit + t) * len);
                        std::ptr::copy_nonoverlapping(from, *own, len);
                    }
                }
            }
            let last = self.steps.len() - 1;
            for (i, step) in self.steps.iter().enumerate() {
                for f in (0..features).step_by(V::LANES) {
                    let mut acc = [[V::splat(0.0); SIX]; T];
                    for part in &step.parts {
                        let weights = part.weights.add(f / V::LANES * step.block_stride);
                        let mut from = [self.own.cast_const(); T];
                        for (from, own) in from.iter_mut().zip(own) {
                            *from = own.add(part.from * SIX);
                        }
                        acc = product(from, part.columns, weights, acc);
                    }
                    for t in 0..T {
                        let rows = self.pairs.rows(x, y, z + t);
                        let mut slots =
                            pair_slots::<V>(step.expanded, step.bias, features, f, &rows);
                        if !step.parts.is_empty() {
                            let sums = inverse(acc[t]);
                            for (slot, sum) in slots.iter_mut().zip(sums) {
                                *slot = slot.add(sum);
                            }
                        }
                        if !step.table.is_null() {
                            let class = *self.classes.get_unchecked(orbit + t) as usize;
                            let at = class * features * SIX + f * SIX;
                            let sums = load_six::<V>(step.table.add(at));
                            for (slot, sum) in slots.iter_mut().zip(sums) {
                                *slot = slot.add(sum);
                            }
                        }
                        if let Some(column) = step.output {
                            slots = sigmoids(slots);
                            store_six(fourier(slots), own[t].add((column + f) * SIX));
                        }
                        if i == last {
                            self.reduce::<V, BOTH>(&rows, features, f, slots);
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn reduce<V: Vector, const BOTH: bool>(
        &self,
        rows: &[usize; SIX],
        features: usize,
        f: usize,
        slots: [V; SIX],
    ) {
        let columns = features * (1 + usize::from(BOTH));
        // SAFETY: rows and features are within the tensors.
        unsafe {
            for (row, slot) in rows.iter().zip(slots) {
                keep::<V, BOTH>(self.best.add(row * columns + f), features, slot, slot);
            }
        }
    }
}

/// What the pairs of an orbit contribute to its slots: features f .. f + 8.
#[inline(always)]
pub(super) unsafe fn pair_slots<V: Vector>(
    expanded: *const f32,
    bias: *const f32,
    features: usize,
    f: usize,
    rows: &[usize; SIX],
) -> [V; SIX] {
    // SAFETY: rows and features are within the tensors.
    unsafe {
        if expanded.is_null() {
            return [V::load(bias.add(f)); SIX];
        }
        let mut slots = [V::splat(0.0); SIX];
        for (s, slot) in slots.iter_mut().enumerate() {
            let bc = V::load(expanded.add(rows[BC[s]] * 3 * features + f));
            let ac = V::load(expanded.add((rows[AC[s]] * 3 + 1) * features + f));
            let ab = V::load(expanded.add((rows[s] * 3 + 2) * features + f));
            *slot = bc.add(ac).add(ab);
        }
        slots
    }
}

/// acc + Σ_c ĝ_c Ŵ_c for T orbits. By value, so that the accumulators stay in registers.
///
/// `g`: `[column block][6][8]` each, `w`: `[column][6][8]`.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // one index runs over several arrays
pub(super) unsafe fn product<V: Vector, const T: usize>(
    g: [*const f32; T],
    columns: usize,
    mut w: *const f32,
    mut acc: [[V; SIX]; T],
) -> [[V; SIX]; T] {
    // SAFETY: the caller gives `columns` columns of g and w.
    unsafe {
        for c in 0..columns {
            let at = c / BLOCK * SLOTS + c % BLOCK;
            let [w0, w1, w11, w12, w21, w22] = load_six::<V>(w);
            for t in 0..T {
                let x = g[t].add(at);
                let a = &mut acc[t];
                a[0] = V::splat(*x).mul_add(w0, a[0]);
                a[1] = V::splat(*x.add(BLOCK)).mul_add(w1, a[1]);
                let v = V::splat(*x.add(2 * BLOCK));
                a[2] = v.mul_add(w11, a[2]);
                a[3] = v.mul_add(w12, a[3]);
                let v = V::splat(*x.add(4 * BLOCK));
                a[4] = v.mul_add(w11, a[4]);
                a[5] = v.mul_add(w12, a[5]);
                let v = V::splat(*x.add(3 * BLOCK));
                a[2] = v.mul_add(w21, a[2]);
                a[3] = v.mul_add(w22, a[3]);
                let v = V::splat(*x.add(5 * BLOCK));
                a[4] = v.mul_add(w21, a[4]);
                a[5] = v.mul_add(w22, a[5]);
            }
            w = w.wrapping_add(SLOTS);
        }
    }
    acc
}
