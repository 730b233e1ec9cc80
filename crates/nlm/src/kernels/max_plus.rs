//! The reduction of triples that read no triples and that only reduce reads.
//!
//! There pre[x, y, z] = ((b + C[y, z]) + B[x, z]) + A[x, y], and A does not depend on z, so
//! its maximum over z is a product of matrices over (max, +), plus A. Rounding is monotone, so
//! the sum after the maximum has the bits of the maximum after the sums.

use super::vector::{Kernel, Vector};

/// red[x][y] = opt over z of (c[z][y] + b[x][z]) + a[x][y], for all y in vectors.
pub(crate) struct MaxPlus {
    pub(crate) objects: usize,
    /// Leave out z = x; z = y must hold ∓infinity in c.
    pub(crate) distinct: bool,
    pub(crate) features: usize,
    pub(crate) minimum: bool,
    /// f32 in a row.
    pub(crate) width: usize,
    /// `[x][features][width]` with f32 from one x to the next: b over z, a over y, and
    /// for c over y with z in the place of x.
    pub(crate) b: *const f32,
    pub(crate) a: *const f32,
    pub(crate) c: *const f32,
    pub(crate) stride: usize,
    /// `[x][features][width]`.
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
}

impl Kernel for MaxPlus {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let n = self.objects;
        // SAFETY: x, z, y and features are within the tensors, whose rows have
        // whole vectors.
        unsafe {
            for q in 0..self.features {
                for y in (0..n).step_by(V::LANES) {
                    let mut x = 0;
                    while x + 4 <= n {
                        self.tile::<V, 4>(q, x, y);
                        x += 4;
                    }
                    while x < n {
                        self.tile::<V, 1>(q, x, y);
                        x += 1;
                    }
                }
            }
        }
    }
}

impl MaxPlus {
    /// Rows x .. x + X, one vector of y.
    #[inline(always)]
    unsafe fn tile<V: Vector, const X: usize>(&self, q: usize, x: usize, y: usize) {
        let n = self.objects;
        let start = if self.minimum {
            f32::INFINITY
        } else {
            f32::NEG_INFINITY
        };
        // SAFETY: see `run`.
        unsafe {
            let mut best = [V::splat(start); X];
            let c = self.c.add(q * self.width + y);
            let b = self.b.add(x * self.stride + q * self.width);
            for z in 0..n {
                let c = V::load(c.add(z * self.stride));
                if self.distinct && z.wrapping_sub(x) < X {
                    for i in (0..X).filter(|i| x + i != z) {
                        let v = c.add(V::splat(*b.add(i * self.stride + z)));
                        best[i] = self.better(best[i], v);
                    }
                } else {
                    for (i, best) in best.iter_mut().enumerate() {
                        let v = c.add(V::splat(*b.add(i * self.stride + z)));
                        *best = self.better(*best, v);
                    }
                }
            }
            for (i, best) in best.iter().enumerate() {
                let at = (x + i) * self.stride + q * self.width + y;
                let to = (x + i) * self.red_stride + q * self.width + y;
                best.add(V::load(self.a.add(at))).store(self.red.add(to));
            }
        }
    }

    #[inline(always)]
    unsafe fn better<V: Vector>(&self, best: V, v: V) -> V {
        // SAFETY: the caller has the instructions.
        unsafe {
            if self.minimum {
                best.min(v)
            } else {
                best.max(v)
            }
        }
    }
}
