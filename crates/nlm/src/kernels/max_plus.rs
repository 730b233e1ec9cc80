//! The reduction of triples that read no triples and that only reduce reads.
//!
//! There pre[x, y, z] = ((b + C[y, z]) + B[x, z]) + A[x, y], and A does not depend on z, so
//! its maximum over z is a product of matrices over (max, +), plus A. Rounding is monotone, so
//! the sum after the maximum has the bits of the maximum after the sums.

use super::vector::{Kernel, Vector};

/// red[x][y] = opt over z of (c[z][y] + b[x][z]) + a[x][y], for all y in vectors.
pub(crate) struct MaxPlus<const MINIMUM: bool> {
    pub(crate) objects: usize,
    /// Leave out z = x; z = y must hold ∓infinity in c.
    pub(crate) distinct: bool,
    pub(crate) features: usize,
    /// f32 in a row.
    pub(crate) width: usize,
    /// `[x][features][width]` with `stride` f32 from one x to the next: b over z, a over
    /// y, and for c over y with z in the place of x.
    pub(crate) b: *const f32,
    pub(crate) a: *const f32,
    pub(crate) c: *const f32,
    pub(crate) stride: usize,
    /// `[x][features][width]`.
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
}

impl<const MINIMUM: bool> Kernel for MaxPlus<MINIMUM> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let blocks = self.objects.div_ceil(V::LANES);
        // SAFETY: x, z, y and features are within the tensors, whose rows have
        // whole vectors.
        unsafe {
            for q in 0..self.features {
                let mut block = 0;
                while block + 4 <= blocks {
                    self.rows::<V, 4>(q, block * V::LANES);
                    block += 4;
                }
                while block < blocks {
                    self.rows::<V, 1>(q, block * V::LANES);
                    block += 1;
                }
            }
        }
    }
}

impl<const MINIMUM: bool> MaxPlus<MINIMUM> {
    /// Every x, Y vectors of y.
    #[inline(always)]
    unsafe fn rows<V: Vector, const Y: usize>(&self, q: usize, y: usize) {
        let n = self.objects;
        let mut x = 0;
        // SAFETY: see `run`.
        unsafe {
            if V::WIDE {
                while x + 4 <= n {
                    self.tile::<V, 4, Y>(q, x, y);
                    x += 4;
                }
            }
            while x + 2 <= n {
                self.tile::<V, 2, Y>(q, x, y);
                x += 2;
            }
            while x < n {
                self.tile::<V, 1, Y>(q, x, y);
                x += 1;
            }
        }
    }

    /// Rows x .. x + X, Y vectors of y.
    #[inline(always)]
    unsafe fn tile<V: Vector, const X: usize, const Y: usize>(&self, q: usize, x: usize, y: usize) {
        // SAFETY: see `run`.
        unsafe {
            let start = if MINIMUM {
                f32::INFINITY
            } else {
                f32::NEG_INFINITY
            };
            let mut best = [[V::splat(start); Y]; X];
            if self.distinct {
                best = self.sweep(best, q, x, y, 0, x);
                for z in x..x + X {
                    // One of the rows leaves this z out.
                    let kept = best[z - x];
                    best = self.sweep(best, q, x, y, z, z + 1);
                    best[z - x] = kept;
                }
                best = self.sweep(best, q, x, y, x + X, self.objects);
            } else {
                best = self.sweep(best, q, x, y, 0, self.objects);
            }
            for (i, best) in best.iter().enumerate() {
                for (k, best) in best.iter().enumerate() {
                    let column = q * self.width + y + k * V::LANES;
                    let a = V::load(self.a.add((x + i) * self.stride + column));
                    let to = self.red.add((x + i) * self.red_stride + column);
                    best.add(a).store(to);
                }
            }
        }
    }

    /// The best so far and z in from..to. By value: accumulators in registers.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // both indices run over both arrays
    #[allow(clippy::too_many_arguments)]
    unsafe fn sweep<V: Vector, const X: usize, const Y: usize>(
        &self,
        mut best: [[V; Y]; X],
        q: usize,
        x: usize,
        y: usize,
        from: usize,
        to: usize,
    ) -> [[V; Y]; X] {
        // SAFETY: see `run`.
        unsafe {
            let c = self.c.add(q * self.width + y);
            let b = self.b.add(x * self.stride + q * self.width);
            for z in from..to {
                let mut cs = [V::splat(0.0); Y];
                for k in 0..Y {
                    cs[k] = V::load(c.add(z * self.stride + k * V::LANES));
                }
                for i in 0..X {
                    let b = V::splat(*b.add(i * self.stride + z));
                    for k in 0..Y {
                        let v = cs[k].add(b);
                        best[i][k] = if MINIMUM {
                            best[i][k].min(v)
                        } else {
                            best[i][k].max(v)
                        };
                    }
                }
            }
        }
        best
    }
}
