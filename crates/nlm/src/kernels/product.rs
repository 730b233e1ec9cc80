//! The product of dense matrices, for networks other than the one of this crate.
//!
//! Each entry of the result is one chain of multiply-adds in ascending order of the summed index,
//! begun at the entry that is there: how rows are grouped into calls, tiles and blocks changes no
//! bit, so that a row's result never depends on the batch it is in.

use super::vector::{Kernel, Level, Vector};
use super::view::{Rows, RowsMut, times};
use crate::plan::BLOCK;
use crate::simd::Simd;
use crate::tuning::DEPTH;

/// c += a · b, all row by row: a `[m, k]`, b `[k, n]`, c `[m, n]`.
///
/// # Panics
///
/// If a length is not that of its shape, or the processor lacks the instructions of `simd`.
pub fn multiply_add(simd: Simd, a: &[f32], b: &[f32], c: &mut [f32], [m, k, n]: [usize; 3]) {
    assert_eq!(a.len(), m * k, "the length of a");
    product(simd, a, [k, 1], b, c, [m, k, n]);
}

/// c += aᵀ · b, all row by row: a `[k, m]`, b `[k, n]`, c `[m, n]`.
///
/// # Panics
///
/// As for [`multiply_add`].
pub fn transposed_multiply_add(
    simd: Simd,
    a: &[f32],
    b: &[f32],
    c: &mut [f32],
    [m, k, n]: [usize; 3],
) {
    assert_eq!(a.len(), m * k, "the length of a");
    product(simd, a, [1, m], b, c, [m, k, n]);
}

/// c += a · b, where entry (i, p) of a is at i·`strides[0]` + p·`strides[1]`.
fn product(
    simd: Simd,
    a: &[f32],
    strides: [usize; 2],
    b: &[f32],
    c: &mut [f32],
    [m, k, n]: [usize; 3],
) {
    let level = Level::new(simd);
    assert_eq!(b.len(), k * n, "the length of b");
    assert_eq!(c.len(), m * n, "the length of c");
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    // Panels of two vectors, or of one where that is enough.
    let width = if n <= BLOCK { BLOCK } else { 2 * BLOCK };
    // Panels that lie close together are read faster; for few rows they are not worth the copy.
    let as_it_is = n.is_multiple_of(width) && (n == width || m <= 16);
    let packed;
    let (panels, panel_step, b_stride) = if as_it_is {
        (b, width, n)
    } else {
        packed = pack(b, k, n, width);
        (&packed[..], k * width, width)
    };
    level.run(&Product {
        a,
        a_row: strides[0],
        a_column: strides[1],
        b: panels,
        panel_step,
        b_stride,
        c: RowsMut::new(c, n),
        m,
        k,
        n,
        width,
    });
}

/// Columns in panels of `width`, one after the other, the last one filled up with zeros.
fn pack(b: &[f32], k: usize, n: usize, width: usize) -> Vec<f32> {
    let mut packed = vec![0.0; n.div_ceil(width) * k * width];
    for (panel, to) in packed.chunks_exact_mut(k * width).enumerate() {
        let first = panel * width;
        let columns = width.min(n - first);
        for (row, to) in b.chunks_exact(n).zip(to.chunks_exact_mut(width)) {
            to[..columns].copy_from_slice(&row[first..first + columns]);
        }
    }
    packed
}

struct Product<'a> {
    a: &'a [f32],
    a_row: usize,
    a_column: usize,
    b: &'a [f32],
    panel_step: usize,
    b_stride: usize,
    c: RowsMut<'a>,
    m: usize,
    k: usize,
    n: usize,
    /// One vector or two.
    width: usize,
}

// SAFETY: the tiles cover m rows, k entries of the summed index and the panels of n columns, which
// `check` asks for.
unsafe impl Kernel for Product<'_> {
    #[inline(always)]
    fn check(&self) {
        let last = |count: usize, step: usize| times(count.saturating_sub(1), step);
        assert!(self.width == BLOCK || self.width == 2 * BLOCK);
        assert!(last(self.m, self.a_row) + last(self.k, self.a_column) < self.a.len());
        let from = last(self.n.div_ceil(self.width), self.panel_step);
        Rows::new(self.b, self.b_stride)
            .from(from)
            .check(self.k, self.width);
        self.c.check(self.m, self.n);
        assert_eq!(self.c.stride(), self.n);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: blocks and panels stay within the shapes.
        unsafe {
            for from in (0..self.k).step_by(DEPTH) {
                let depth = DEPTH.min(self.k - from);
                for panel in 0..self.n.div_ceil(self.width) {
                    if self.width == BLOCK {
                        self.panel::<V, 1>(panel, from, depth);
                    } else {
                        self.panel::<V, 2>(panel, from, depth);
                    }
                }
            }
        }
    }
}

impl Product<'_> {
    /// One panel of columns for all rows.
    #[inline(always)]
    unsafe fn panel<V: Vector, const N: usize>(&self, panel: usize, from: usize, depth: usize) {
        let mut row = 0;
        // SAFETY: rows stay below m.
        unsafe {
            if V::WIDE {
                while row + 12 <= self.m {
                    self.tile::<V, 12, N>(row, panel, from, depth);
                    row += 12;
                }
            }
            while row + 4 <= self.m {
                self.tile::<V, 4, N>(row, panel, from, depth);
                row += 4;
            }
            while row < self.m {
                self.tile::<V, 1, N>(row, panel, from, depth);
                row += 1;
            }
        }
    }

    /// M rows of one panel of N vectors, in registers.
    #[inline(always)]
    unsafe fn tile<V: Vector, const M: usize, const N: usize>(
        &self,
        row: usize,
        panel: usize,
        from: usize,
        depth: usize,
    ) {
        let columns = (self.n - panel * self.width).min(self.width);
        // SAFETY: the rows row..row + M exist; of the panel's columns those that c has are read and
        // written in place, or through `edge`, which has room for two vectors a row.
        unsafe {
            let a = self.a.as_ptr().add(row * self.a_row + from * self.a_column);
            let b = self
                .b
                .as_ptr()
                .add(panel * self.panel_step + from * self.b_stride);
            let c = self.c.row(row).add(panel * self.width);
            let mut edge = [[0.0_f32; 2 * BLOCK]; M];
            let whole = columns == self.width;
            let mut sums = [[V::splat(0.0); N]; M];
            for (i, (sums, edge)) in sums.iter_mut().zip(&mut edge).enumerate() {
                let mut at = c.add(i * self.n).cast_const();
                if !whole {
                    at.copy_to_nonoverlapping(edge.as_mut_ptr(), columns);
                    at = edge.as_ptr();
                }
                for (j, sum) in sums.iter_mut().enumerate() {
                    *sum = V::load(at.add(j * BLOCK));
                }
            }
            for p in 0..depth {
                let mut vectors = [V::splat(0.0); N];
                for (j, vector) in vectors.iter_mut().enumerate() {
                    *vector = V::load(b.add(p * self.b_stride + j * BLOCK));
                }
                for (i, sums) in sums.iter_mut().enumerate() {
                    let factor = V::splat(*a.add(i * self.a_row + p * self.a_column));
                    for (sum, vector) in sums.iter_mut().zip(vectors) {
                        *sum = factor.mul_add(vector, *sum);
                    }
                }
            }
            for (i, (sums, edge)) in sums.iter().zip(&mut edge).enumerate() {
                let at = c.add(i * self.n);
                let to = if whole { at } else { edge.as_mut_ptr() };
                for (j, sum) in sums.iter().enumerate() {
                    sum.store(to.add(j * BLOCK));
                }
                if !whole {
                    at.copy_from_nonoverlapping(edge.as_ptr(), columns);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    fn random(len: usize, random: &mut SplitMix64) -> Vec<f32> {
        (0..len).map(|_| random.unit() as f32 - 0.5).collect()
    }

    fn shapes() -> Vec<[usize; 3]> {
        let mut shapes = vec![
            [1, 1, 1],
            [13, 300, 33],
            [40, 32, 32],
            [17, 600, 64],
            [0, 3, 3],
        ];
        for m in [1, 3, 5, 12, 29] {
            for n in [1, 7, 8, 16, 17, 31, 48, 65] {
                shapes.push([m, 11, n]);
            }
        }
        shapes
    }

    #[test]
    fn agrees_with_the_definition_at_every_level() {
        let mut draw = SplitMix64::new(5);
        for [m, k, n] in shapes() {
            let a = random(m * k, &mut draw);
            let b = random(k * n, &mut draw);
            let start = random(m * n, &mut draw);
            let mut turned = vec![0.0; m * k];
            for i in 0..m {
                for p in 0..k {
                    turned[p * m + i] = a[i * k + p];
                }
            }
            let levels = [Simd::Portable, Simd::Avx2, Simd::Avx512];
            for simd in levels.into_iter().filter(|level| level.supported()) {
                let mut c = start.clone();
                multiply_add(simd, &a, &b, &mut c, [m, k, n]);
                for i in 0..m {
                    for j in 0..n {
                        let exact: f64 = (0..k)
                            .map(|p| f64::from(a[i * k + p]) * f64::from(b[p * n + j]))
                            .sum();
                        let exact = exact + f64::from(start[i * n + j]);
                        let found = f64::from(c[i * n + j]);
                        assert!((found - exact).abs() < 1e-4, "{simd} {m} {k} {n}");
                    }
                }
                let mut again = start.clone();
                transposed_multiply_add(simd, &turned, &b, &mut again, [m, k, n]);
                assert_eq!(c, again, "{simd} {m} {k} {n}");
            }
        }
    }

    #[test]
    fn a_row_does_not_depend_on_its_batch() {
        let mut draw = SplitMix64::new(6);
        let [m, k, n] = [31, 270, 40];
        let (a, b) = (random(m * k, &mut draw), random(k * n, &mut draw));
        for simd in [Simd::Portable, Simd::best()] {
            let mut all = vec![0.0; m * n];
            multiply_add(simd, &a, &b, &mut all, [m, k, n]);
            for (row, expected) in a.chunks_exact(k).zip(all.chunks_exact(n)) {
                let mut alone = vec![0.0; n];
                multiply_add(simd, row, &b, &mut alone, [1, k, n]);
                assert_eq!(alone, expected);
            }
        }
    }
}
