//! The permutation-summed linear map, y[t][f] = Σ_π Σ_c w[π][c][f] x[t∘π][c],
//! and the gradient of its weights.
//!
//! Rows have the shape `[columns][lanes]`. The gradient with respect to x is the same map with
//! transposed weights and inverse permutations, so it has no kernel of its own.

use super::vector::{Kernel, Vector};
use crate::plan::TILE;

/// One tensor a map reads.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// The first column read, of tuple 0.
    pub(crate) x: *const f32,
    /// f32 from one tuple to the next.
    pub(crate) stride: usize,
    /// Columns read.
    pub(crate) columns: usize,
    /// `[feature tile][π][column][TILE]`.
    pub(crate) weights: *const f32,
    /// f32 from one feature tile to the next.
    pub(crate) tile_stride: usize,
}

/// What the accumulators start from.
#[derive(Clone, Copy)]
pub(crate) enum Start {
    /// What the output holds.
    Output,
    /// Zero.
    Zero,
    /// A bias (`[features]`), plus for each position k of the tuple the
    /// features `[k][features]` of the tuple without it.
    Compose {
        bias: *const f32,
        /// `[O^(n-1)][n * features][lanes]`, or null for none.
        expanded: *const f32,
    },
}

/// y[t] for every live tuple t.
pub(crate) struct Map<'a> {
    pub(crate) live: &'a [u32],
    /// `[π][live]`.
    pub(crate) permuted: &'a [u32],
    /// `[k][live]`.
    pub(crate) without: &'a [u32],
    pub(crate) arity: usize,
    pub(crate) start: Start,
    pub(crate) runs: &'a [Run],
    /// The first output column, of tuple 0.
    pub(crate) y: *mut f32,
    pub(crate) y_stride: usize,
    /// Output columns, a multiple of [`TILE`].
    pub(crate) outputs: usize,
    pub(crate) activate: bool,
}

impl Kernel for Map<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let n = self.live.len();
        let mut i = 0;
        // SAFETY: the tiles cover 0..n; the engine vouches for the tensors.
        unsafe {
            if V::WIDE {
                while i + 6 <= n {
                    self.tile::<V, 6>(i);
                    i += 6;
                }
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

impl Map<'_> {
    /// Tuples `live[i..i + T]`.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize>(&self, i: usize) {
        let n = self.live.len();
        let lanes = V::LANES;
        // SAFETY: i + T <= n, the tables have n entries a permutation or
        // position, and every index in them is a row of the tensors.
        unsafe {
            for f in (0..self.outputs).step_by(TILE) {
                let mut acc = [[V::splat(0.0); TILE]; T];
                match self.start {
                    Start::Zero => {}
                    Start::Output => {
                        for (t, acc) in acc.iter_mut().enumerate() {
                            let row = *self.live.get_unchecked(i + t) as usize * self.y_stride;
                            for (j, a) in acc.iter_mut().enumerate() {
                                *a = V::load(self.y.add(row + (f + j) * lanes));
                            }
                        }
                    }
                    Start::Compose { bias, expanded } => {
                        for (t, acc) in acc.iter_mut().enumerate() {
                            for (j, a) in acc.iter_mut().enumerate() {
                                *a = V::splat(*bias.add(f + j));
                            }
                            if !expanded.is_null() {
                                for k in 0..self.arity {
                                    let tuple = *self.without.get_unchecked(k * n + i + t);
                                    let row = tuple as usize * self.arity + k;
                                    let at = expanded.add((row * self.outputs + f) * lanes);
                                    for (j, a) in acc.iter_mut().enumerate() {
                                        *a = a.add(V::load(at.add(j * lanes)));
                                    }
                                }
                            }
                        }
                    }
                }
                let acc = self.sweep::<V, T>(i, f, acc);
                for (t, acc) in acc.iter().enumerate() {
                    let row = *self.live.get_unchecked(i + t) as usize * self.y_stride;
                    for (j, a) in acc.iter().enumerate() {
                        let a = if self.activate { a.sigmoid() } else { *a };
                        a.store(self.y.add(row + (f + j) * lanes));
                    }
                }
            }
        }
    }

    /// acc[t][j] + Σ_π Σ_c w[π][c][f + j] x[t∘π][c] over all runs. By value, so
    /// that the accumulators stay in registers whatever the caller does with them.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // both indices run over both arrays
    unsafe fn sweep<V: Vector, const T: usize>(
        &self,
        i: usize,
        f: usize,
        mut acc: [[V; TILE]; T],
    ) -> [[V; TILE]; T] {
        let n = self.live.len();
        let perms = self.permuted.len() / n;
        // SAFETY: i + T <= n, the table has n entries a permutation, and
        // every index in it is a row of the tensors.
        unsafe {
            for run in self.runs {
                let mut w = run.weights.add(f / TILE * run.tile_stride);
                for p in 0..perms {
                    let mut x = [run.x; T];
                    for t in 0..T {
                        let tuple = *self.permuted.get_unchecked(p * n + i + t);
                        x[t] = run.x.add(tuple as usize * run.stride);
                    }
                    for c in 0..run.columns {
                        let mut v = [V::splat(0.0); T];
                        for t in 0..T {
                            v[t] = V::load(x[t].add(c * V::LANES));
                        }
                        for j in 0..TILE {
                            let weight = V::splat(*w.add(j));
                            for t in 0..T {
                                acc[t][j] = v[t].mul_add(weight, acc[t][j]);
                            }
                        }
                        w = w.wrapping_add(TILE);
                    }
                }
            }
        }
        acc
    }
}

/// dw[π][c][f] += Σ_t Σ_lanes x[t∘π][c] dy[t][f].
pub(crate) struct MapGradient<'a> {
    pub(crate) live: &'a [u32],
    pub(crate) permuted: &'a [u32],
    pub(crate) x: *const f32,
    pub(crate) x_stride: usize,
    pub(crate) columns: usize,
    pub(crate) dy: *const f32,
    pub(crate) dy_stride: usize,
    pub(crate) outputs: usize,
    /// `[π][columns][outputs]`.
    pub(crate) dw: *mut f32,
}

impl Kernel for MapGradient<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        if self.live.is_empty() {
            return;
        }
        let perms = self.permuted.len() / self.live.len();
        // SAFETY: the tiles stay within `columns` and `outputs`.
        unsafe {
            for p in 0..perms {
                for f in (0..self.outputs).step_by(TILE) {
                    let mut c = 0;
                    if V::WIDE {
                        while c + 6 <= self.columns {
                            self.tile::<V, 6>(p, c, f);
                            c += 6;
                        }
                    }
                    while c + 2 <= self.columns {
                        self.tile::<V, 2>(p, c, f);
                        c += 2;
                    }
                    while c < self.columns {
                        self.tile::<V, 1>(p, c, f);
                        c += 1;
                    }
                }
            }
        }
    }
}

impl MapGradient<'_> {
    #[inline(always)]
    unsafe fn tile<V: Vector, const C: usize>(&self, p: usize, c: usize, f: usize) {
        let n = self.live.len();
        let lanes = V::LANES;
        // SAFETY: c + C <= columns, f + TILE <= outputs, every index is a row.
        unsafe {
            let mut acc = [[V::splat(0.0); TILE]; C];
            for i in 0..n {
                let tuple = *self.permuted.get_unchecked(p * n + i) as usize;
                let x = self.x.add(tuple * self.x_stride + c * lanes);
                let row = *self.live.get_unchecked(i) as usize;
                let dy = self.dy.add(row * self.dy_stride + f * lanes);
                let mut d = [V::splat(0.0); TILE];
                for (j, d) in d.iter_mut().enumerate() {
                    *d = V::load(dy.add(j * lanes));
                }
                for (k, acc) in acc.iter_mut().enumerate() {
                    let v = V::load(x.add(k * lanes));
                    for (j, a) in acc.iter_mut().enumerate() {
                        *a = v.mul_add(d[j], *a);
                    }
                }
            }
            for (k, acc) in acc.iter().enumerate() {
                for (j, a) in acc.iter().enumerate() {
                    let at = (p * self.columns + c + k) * self.outputs + f + j;
                    *self.dw.add(at) += a.sum();
                }
            }
        }
    }
}

/// Adds dy[t][f] to what each tuple took from the tuples without one position,
/// and sums it over tuples and lanes for the bias.
pub(crate) struct ComposeGradient<'a> {
    pub(crate) live: &'a [u32],
    pub(crate) without: &'a [u32],
    pub(crate) arity: usize,
    pub(crate) dy: *const f32,
    pub(crate) outputs: usize,
    /// `[O^(n-1)][n * outputs][lanes]`, or null.
    pub(crate) d_expanded: *mut f32,
    /// `[outputs]`.
    pub(crate) d_bias: *mut f32,
}

impl Kernel for ComposeGradient<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let n = self.live.len();
        let lanes = V::LANES;
        // SAFETY: every index is a row of the tensors.
        unsafe {
            for f in 0..self.outputs {
                let mut sum = V::splat(0.0);
                for i in 0..n {
                    let row = *self.live.get_unchecked(i) as usize;
                    let d = V::load(self.dy.add((row * self.outputs + f) * lanes));
                    sum = sum.add(d);
                    if !self.d_expanded.is_null() {
                        for k in 0..self.arity {
                            let tuple = *self.without.get_unchecked(k * n + i) as usize;
                            let row = (tuple * self.arity + k) * self.outputs + f;
                            let at = self.d_expanded.add(row * lanes);
                            V::load(at).add(d).store(at);
                        }
                    }
                }
                *self.d_bias.add(f) += sum.sum();
            }
        }
    }
}
