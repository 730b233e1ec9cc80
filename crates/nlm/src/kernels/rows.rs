//! Maps and reductions with features in lanes: a row `[columns]` of f32 a tuple, and one
//! structure at a time. Every vector is full whatever the number of objects or structures.

use super::map::{Map, Start};
use super::vector::{Kernel, Vector};

/// A [`Map`] over rows: strides are in f32, weights are `[output block][π][column][8]`.
pub(crate) struct RowMap<'a>(pub(crate) Map<'a>);

impl Kernel for RowMap<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let n = self.0.live.len();
        let mut i = 0;
        // SAFETY: the tiles cover 0..n; the engine vouches for the tensors.
        unsafe {
            if V::WIDE {
                while i + 10 <= n {
                    self.tile::<V, 10>(i);
                    i += 10;
                }
            }
            while i + 6 <= n {
                self.tile::<V, 6>(i);
                i += 6;
            }
            while i + 2 <= n {
                self.tile::<V, 2>(i);
                i += 2;
            }
            while i < n {
                self.tile::<V, 1>(i);
                i += 1;
            }
        }
    }
}

impl RowMap<'_> {
    /// Tuples `live[i..i + T]`.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize>(&self, i: usize) {
        let map = &self.0;
        let n = map.live.len();
        // SAFETY: i + T <= n, the tables have n entries a permutation or
        // position, and every index in them is a row of the tensors.
        unsafe {
            for f in (0..map.outputs).step_by(V::LANES) {
                let mut acc = [V::splat(0.0); T];
                if let Start::Compose { bias, expanded } = map.start {
                    acc = [V::load(bias.add(f)); T];
                    if !expanded.is_null() {
                        for (t, a) in acc.iter_mut().enumerate() {
                            for k in 0..map.arity {
                                let tuple = *map.without.get_unchecked(k * n + i + t);
                                let row = tuple as usize * map.arity + k;
                                *a = a.add(V::load(expanded.add(row * map.outputs + f)));
                            }
                        }
                    }
                }
                let acc = self.sweep::<V, T>(i, f, acc);
                for (t, a) in acc.iter().enumerate() {
                    let row = *map.live.get_unchecked(i + t) as usize * map.y_stride;
                    let a = if map.activate { a.sigmoid() } else { *a };
                    a.store(map.y.add(row + f));
                }
            }
        }
    }

    /// acc[t] + Σ_π Σ_c w[π][c] x[t∘π][c] over all runs. By value, so that the
    /// accumulators stay in registers.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // one index runs over several arrays
    unsafe fn sweep<V: Vector, const T: usize>(
        &self,
        i: usize,
        f: usize,
        mut acc: [V; T],
    ) -> [V; T] {
        let map = &self.0;
        let n = map.live.len();
        let perms = map.permuted.len() / n;
        // SAFETY: i + T <= n, the table has n entries a permutation, and
        // every index in it is a row of the tensors.
        unsafe {
            for run in map.runs {
                let mut w = run.weights.add(f / V::LANES * run.tile_stride);
                for p in 0..perms {
                    let mut x = [run.x; T];
                    for t in 0..T {
                        let tuple = *map.permuted.get_unchecked(p * n + i + t);
                        x[t] = run.x.add(tuple as usize * run.stride);
                    }
                    for c in 0..run.columns {
                        let weight = V::load(w);
                        for t in 0..T {
                            acc[t] = V::splat(*x[t].add(c)).mul_add(weight, acc[t]);
                        }
                        w = w.wrapping_add(V::LANES);
                    }
                }
            }
        }
        acc
    }
}

/// red[t] = max (and min) over the members of t.
pub(crate) struct ReduceRows<'a> {
    /// `[target][per]`: the rows reduced into each target.
    pub(crate) members: &'a [u32],
    pub(crate) targets: usize,
    /// The first column, of row 0.
    pub(crate) x: *const f32,
    pub(crate) x_stride: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// Whether x are pre-activations.
    pub(crate) activate: bool,
    /// The first output column, of target 0: maxima, then minima.
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
}

impl Kernel for ReduceRows<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let per = self.members.len() / self.targets;
        // SAFETY: every index is a row of the tensors.
        unsafe {
            for t in 0..self.targets {
                let red = self.red.add(t * self.red_stride);
                let members = self.members.get_unchecked(t * per..(t + 1) * per);
                for f in (0..self.features).step_by(V::LANES) {
                    let mut max = V::splat(f32::NEG_INFINITY);
                    let mut min = V::splat(f32::INFINITY);
                    for &row in members {
                        let v = V::load(self.x.add(row as usize * self.x_stride + f));
                        max = v.max(max);
                        min = v.min(min);
                    }
                    if members.is_empty() {
                        // Nothing exists; everything holds of nothing.
                        max = V::splat(0.0);
                        min = V::splat(1.0);
                    } else if self.activate {
                        max = max.sigmoid();
                        min = min.sigmoid();
                    }
                    max.store(red.add(f));
                    if self.both {
                        min.store(red.add(self.features + f));
                    }
                }
            }
        }
    }
}

/// Starts a reduction into rows at ∓infinity.
pub(crate) struct StartRows {
    pub(crate) rows: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
}

impl Kernel for StartRows {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: rows and features are within the tensor.
        unsafe {
            for row in 0..self.rows {
                let at = self.red.add(row * self.red_stride);
                for f in (0..self.features).step_by(V::LANES) {
                    V::splat(f32::NEG_INFINITY).store(at.add(f));
                    if self.both {
                        V::splat(f32::INFINITY).store(at.add(self.features + f));
                    }
                }
            }
        }
    }
}

/// Ends a reduction into rows: over no tuple it is 0 and 1; over pre-activations a
/// sigmoid is due.
pub(crate) struct EndRows {
    pub(crate) rows: usize,
    /// Whether the reductions were over no tuple.
    pub(crate) empty: bool,
    pub(crate) activate: bool,
    pub(crate) features: usize,
    pub(crate) both: bool,
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
}

impl Kernel for EndRows {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        if !self.empty && !self.activate {
            return;
        }
        let columns = self.features * (1 + usize::from(self.both));
        // SAFETY: rows and features are within the tensor.
        unsafe {
            for row in 0..self.rows {
                for c in (0..columns).step_by(V::LANES) {
                    let at = self.red.add(row * self.red_stride + c);
                    if self.empty {
                        V::splat(f32::from(u8::from(c >= self.features))).store(at);
                    } else {
                        V::load(at).sigmoid().store(at);
                    }
                }
            }
        }
    }
}
