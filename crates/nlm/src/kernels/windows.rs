//! Compose at arity 3 with objects in lanes: for one structure, the third object
//! of an orbit (x <= y <= z) runs over windows of consecutive lanes.
//!
//! Operation for operation this is [`super::triples`], so the two give the same bits.

use super::orbit::{CANONICAL, SIX, fourier, inverse, product, store_six};
use super::triples::Orbits;
use super::vector::{Kernel, Vector, prefetch};
use crate::plan::TILE;

/// One layer's compose at arity 3.
pub(crate) struct Step {
    /// First column read and how many.
    pub(crate) from: usize,
    pub(crate) columns: usize,
    /// `[feature tile][column][TILE][6]`.
    pub(crate) weights: *const f32,
    pub(crate) bias: *const f32,
    /// `[x][6][features][width]`: what (x, z) and then what (z, x) contributes
    /// as the pair without position 0 (the bias added), 1, 2. Null for nothing.
    pub(crate) pairs: *const f32,
    /// The column where the coefficients of the activations go, if any.
    pub(crate) output: Option<usize>,
}

/// The last of `steps` over every window; the steps before it
/// recompute what the last reads where it is not stored.
pub(crate) struct Windows<'a> {
    pub(crate) orbits: Orbits,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// f32 in a row over z, a window more than the objects.
    pub(crate) width: usize,
    pub(crate) steps: &'a [Step],
    /// `[window][own columns][6][lanes]`, or one window where `own_stride` is 0.
    pub(crate) own: *mut f32,
    pub(crate) own_stride: usize,
    /// With `own_stride` 0: the input columns of every window.
    pub(crate) inputs: *const f32,
    pub(crate) input_columns: usize,
    /// `[x][2][quantifiers * features][width]`: extrema of the pairs (x, z),
    /// then (z, x), started at ∓infinity.
    pub(crate) red: *mut f32,
    /// `[2][quantifiers * features][lanes]` to work in.
    pub(crate) row: *mut f32,
    /// `[x = y][y = first z][lanes in use][6][lanes]`: infinity where a slot
    /// takes no part in the reduction, 0 elsewhere.
    pub(crate) penalties: *const f32,
}

/// See [`Windows::penalties`].
pub(crate) fn penalties(lanes: usize) -> Vec<f32> {
    let mut all = Vec::new();
    for canonical in &CANONICAL {
        for last_equal in [false, true] {
            for used in 0..=lanes {
                let slots = canonical[0].iter().zip(&canonical[1]);
                for (&apart, &equal) in slots {
                    for lane in 0..lanes {
                        let slot = if last_equal && lane == 0 {
                            equal
                        } else {
                            apart
                        };
                        let takes_part = lane < used && slot;
                        all.push(if takes_part { 0.0 } else { f32::INFINITY });
                    }
                }
            }
        }
    }
    all
}

/// How many windows there are, and the first of each (x, y).
pub(crate) fn window_starts(orbits: Orbits, lanes: usize) -> (usize, Vec<usize>) {
    let n = orbits.objects;
    let mut starts = vec![0; n * n];
    let mut next = 0;
    for x in 0..n {
        for y in orbits.after(x)..n {
            starts[x * n + y] = next;
            next += n.saturating_sub(orbits.after(y)).div_ceil(lanes);
        }
    }
    (next, starts)
}

/// Where a window lies.
#[derive(Clone, Copy)]
struct Window {
    x: usize,
    y: usize,
    /// The z of lane 0.
    z: usize,
    own: *mut f32,
    /// Null where every slot of every lane takes part.
    penalties: *const f32,
}

impl Kernel for Windows<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let n = self.orbits.objects;
        let lanes = V::LANES;
        let quantified = self.features * (1 + usize::from(self.both));
        let mut index = 0;
        // SAFETY: windows are counted in the order of storage; rows over z have room for
        // a window that starts at the last object.
        unsafe {
            for x in 0..n {
                for y in self.orbits.after(x)..n {
                    let first = self.orbits.after(y);
                    for back in 0..2 {
                        let row = self.row.add(back * quantified * lanes);
                        for q in 0..self.features {
                            V::splat(f32::NEG_INFINITY).store(row.add(q * lanes));
                        }
                        for q in self.features..quantified {
                            V::splat(f32::INFINITY).store(row.add(q * lanes));
                        }
                    }
                    for z in (first..n).step_by(lanes) {
                        let used = (n - z).min(lanes);
                        let last_equal = z == y;
                        let window = Window {
                            x,
                            y,
                            z,
                            own: self.own.wrapping_add(index * self.own_stride),
                            penalties: if x == y || last_equal || used < lanes {
                                let case = usize::from(x == y) * 2 + usize::from(last_equal);
                                let at = (case * (lanes + 1) + used) * SIX * lanes;
                                self.penalties.add(at)
                            } else {
                                std::ptr::null()
                            },
                        };
                        if self.own_stride == 0 && self.input_columns > 0 {
                            let len = self.input_columns * SIX * lanes;
                            let from = self.inputs.add(index * len);
                            std::ptr::copy_nonoverlapping(from, window.own, len);
                        }
                        let last = self.steps.len() - 1;
                        if self.own_stride > 0 {
                            let next = window.own.wrapping_add(self.own_stride);
                            let step = &self.steps[last];
                            let from = next.wrapping_add(step.from * SIX * lanes);
                            prefetch(from, step.columns * SIX * lanes);
                        }
                        for (i, step) in self.steps.iter().enumerate() {
                            for f in (0..self.features).step_by(TILE) {
                                if V::WIDE {
                                    self.tile::<V, 4>(step, &window, f, 0, i == last);
                                } else {
                                    self.tile::<V, 2>(step, &window, f, 0, i == last);
                                    self.tile::<V, 2>(step, &window, f, 2, i == last);
                                }
                            }
                        }
                        index += 1;
                    }
                    self.end_row::<V>(x, y);
                }
            }
        }
    }
}

impl Windows<'_> {
    /// The row over z of one reduced column: `back` 0 for pairs (x, z), 1 for (z, x).
    #[inline(always)]
    unsafe fn red_row(&self, x: usize, back: usize, column: usize) -> *mut f32 {
        let quantified = self.features * (1 + usize::from(self.both));
        // SAFETY: x and column are within the tensor.
        unsafe {
            self.red
                .add(((x * 2 + back) * quantified + column) * self.width)
        }
    }

    /// Brings the extrema over z of the pairs (x, y) and (y, x) to their places.
    #[inline(always)]
    unsafe fn end_row<V: Vector>(&self, x: usize, y: usize) {
        let quantified = self.features * (1 + usize::from(self.both));
        // SAFETY: x, y and columns are within the tensors.
        unsafe {
            for back in 0..2 {
                for c in 0..quantified {
                    let v = V::load(self.row.add((back * quantified + c) * V::LANES));
                    let at = self.red_row(x, back, c).add(y);
                    *at = if c < self.features {
                        v.greatest().max(*at)
                    } else {
                        v.least().min(*at)
                    };
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn tile<V: Vector, const J: usize>(
        &self,
        step: &Step,
        window: &Window,
        f: usize,
        j: usize,
        reduce: bool,
    ) {
        let lanes = V::LANES;
        let Window { x, y, z, .. } = *window;
        // SAFETY: window, rows and features are within the tensors.
        unsafe {
            let own = window.own.wrapping_add(step.from * SIX * lanes);
            let weights = step.weights.wrapping_add((f * step.columns + j) * SIX);
            let zero = [[V::splat(0.0); SIX]; J];
            let acc = product::<V, J>(own, step.columns, weights, zero);
            for (i, acc) in acc.iter().enumerate() {
                let q = f + j + i;
                let mut slots = [V::splat(*step.bias.add(q)); SIX];
                if !step.pairs.is_null() {
                    let width = self.width;
                    let next = self.features * width;
                    let px = step.pairs.add((x * SIX * self.features + q) * width);
                    let py = step.pairs.add((y * SIX * self.features + q) * width);
                    // (x, z) and (z, x), then (y, z) and (z, y), then (x, y) and (y, x).
                    let (xz, zx) = (px.add(z), px.add(3 * next + z));
                    let (yz, zy) = (py.add(z), py.add(3 * next + z));
                    let (xy, yx) = (px.add(y), px.add(3 * next + y));
                    slots = [
                        V::load(yz)
                            .add(V::load(xz.add(next)))
                            .add(V::splat(*xy.add(2 * next))),
                        V::load(zy)
                            .add(V::splat(*xy.add(next)))
                            .add(V::load(xz.add(2 * next))),
                        V::load(xz)
                            .add(V::load(yz.add(next)))
                            .add(V::splat(*yx.add(2 * next))),
                        V::load(zx)
                            .add(V::splat(*yx.add(next)))
                            .add(V::load(yz.add(2 * next))),
                        V::splat(*xy)
                            .add(V::load(zy.add(next)))
                            .add(V::load(zx.add(2 * next))),
                        V::splat(*yx)
                            .add(V::load(zx.add(next)))
                            .add(V::load(zy.add(2 * next))),
                    ];
                }
                if step.columns > 0 {
                    let sums = inverse(*acc);
                    for (slot, sum) in slots.iter_mut().zip(sums) {
                        *slot = slot.add(sum);
                    }
                }
                if let Some(column) = step.output {
                    for slot in &mut slots {
                        *slot = slot.sigmoid();
                    }
                    let to = window.own.add((column + q) * SIX * lanes);
                    store_six(fourier(slots), to);
                }
                if reduce {
                    self.reduce(window, q, slots);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn reduce<V: Vector>(&self, window: &Window, q: usize, slots: [V; SIX]) {
        let lanes = V::LANES;
        let quantified = self.features * (1 + usize::from(self.both));
        let Window { x, y, z, .. } = *window;
        // SAFETY: rows and features are within the tensors.
        unsafe {
            let mut high = slots;
            let mut low = slots;
            if !window.penalties.is_null() {
                for s in 0..SIX {
                    let penalty = V::load(window.penalties.add(s * lanes));
                    high[s] = slots[s].sub(penalty);
                    low[s] = slots[s].add(penalty);
                }
            }
            let targets = |c: usize| {
                [
                    self.row.add(c * lanes),
                    self.red_row(x, 0, c).add(z),
                    self.row.add((quantified + c) * lanes),
                    self.red_row(y, 0, c).add(z),
                    self.red_row(x, 1, c).add(z),
                    self.red_row(y, 1, c).add(z),
                ]
            };
            let at = targets(q);
            for s in 0..SIX {
                V::load(at[s]).max(high[s]).store(at[s]);
            }
            if self.both {
                let at = targets(self.features + q);
                for s in 0..SIX {
                    V::load(at[s]).min(low[s]).store(at[s]);
                }
            }
        }
    }
}

/// Maximum and minimum over the lanes and blocks of rows: `[row][block][columns][lanes]`.
pub(crate) struct ReduceLanes {
    /// Rows, 1 for unary tensors.
    pub(crate) rows: usize,
    pub(crate) objects: usize,
    /// Leave out the object of the row.
    pub(crate) distinct: bool,
    pub(crate) x: *const f32,
    pub(crate) x_stride: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// With several rows, lane r % lanes of block r / lanes; with one row,
    /// every lane of block 0.
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
    /// `[blocks][lanes]` to work in.
    pub(crate) penalties: *mut f32,
}

impl Kernel for ReduceLanes {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let lanes = V::LANES;
        let blocks = self.objects.div_ceil(lanes);
        // SAFETY: rows, blocks and features are within the tensors.
        unsafe {
            for row in 0..self.rows {
                for y in 0..blocks * lanes {
                    let out = y >= self.objects || (self.distinct && self.rows > 1 && y == row);
                    *self.penalties.add(y) = if out { f32::INFINITY } else { 0.0 };
                }
                for q in 0..self.features {
                    let mut max = V::splat(f32::NEG_INFINITY);
                    let mut min = V::splat(f32::INFINITY);
                    for block in 0..blocks {
                        let at = (row * blocks + block) * self.x_stride + q * lanes;
                        let v = V::load(self.x.add(at));
                        let penalty = V::load(self.penalties.add(block * lanes));
                        max = max.max(v.sub(penalty));
                        min = min.min(v.add(penalty));
                    }
                    let min_at = self.features + q;
                    if self.rows == 1 {
                        V::splat(max.greatest()).store(self.red.add(q * lanes));
                        if self.both {
                            V::splat(min.least()).store(self.red.add(min_at * lanes));
                        }
                    } else {
                        let to = self.red.add(row / lanes * self.red_stride + row % lanes);
                        *to.add(q * lanes) = max.greatest();
                        if self.both {
                            *to.add(min_at * lanes) = min.least();
                        }
                    }
                }
            }
        }
    }
}
