//! The product of dense matrices: for networks by tuple, and for those of other crates.
//!
//! Each entry of the result is one chain of multiply-adds in ascending order of the summed index,
//! begun at the entry that is there: how rows are grouped into calls, tiles and blocks changes no
//! bit, so that a row's result never depends on the batch it is in.
//!
//! In the tree of `docs/nlm.md`: by tuple.

use super::vector::{Kernel, Lanes, Level, Vector, tiles};
use super::view::{Rows, RowsMut, times};
use crate::plan::BLOCK;
use crate::simd::Simd;
use crate::tuning::DEPTH;
use std::ops::Range;

/// c += a · b, all row by row: a `[m, k]`, b `[k, n]`, c `[m, n]`.
///
/// # Panics
///
/// If a length is not that of its shape, or the processor lacks the instructions of `simd`.
pub fn multiply_add(simd: Simd, a: &[f32], b: &[f32], c: &mut [f32], shape: [usize; 3]) {
    let [_, k, n] = shape;
    product(simd, (a, [k, 1]), (b, [n, 1]), c, shape);
}

/// c += aᵀ · b, all row by row: a `[k, m]`, b `[k, n]`, c `[m, n]`.
///
/// # Panics
///
/// As for [`multiply_add`].
pub fn transposed_multiply_add(simd: Simd, a: &[f32], b: &[f32], c: &mut [f32], shape: [usize; 3]) {
    let [m, _, n] = shape;
    product(simd, (a, [1, m]), (b, [n, 1]), c, shape);
}

/// c += a · bᵀ, all row by row: a `[m, k]`, b `[n, k]`, c `[m, n]`.
///
/// # Panics
///
/// As for [`multiply_add`].
pub fn multiply_transposed_add(simd: Simd, a: &[f32], b: &[f32], c: &mut [f32], shape: [usize; 3]) {
    let [_, k, _] = shape;
    product(simd, (a, [k, 1]), (b, [1, k]), c, shape);
}

/// A matrix, and how far apart its rows and its columns are.
type Factor<'a> = (&'a [f32], [usize; 2]);

/// Copies some rows and columns to `to`, rows of `width` filled up with zeros.
fn pack(
    (b, [down, right]): Factor<'_>,
    rows: Range<usize>,
    columns: Range<usize>,
    width: usize,
    to: &mut Vec<f32>,
) {
    to.clear();
    if right == 1 {
        for row in rows {
            to.extend_from_slice(&b[row * down..][columns.clone()]);
            to.resize(to.len().next_multiple_of(width), 0.0);
        }
        return;
    }
    to.resize(rows.len() * width, 0.0);
    for (at, column) in columns.enumerate() {
        let entries = b[column * right + rows.start * down..].iter();
        for (to, x) in to.chunks_exact_mut(width).zip(entries.step_by(down)) {
            to[at] = *x;
        }
    }
}

/// c += a · b.
fn product(simd: Simd, (a, strides): Factor<'_>, b: Factor<'_>, c: &mut [f32], shape: [usize; 3]) {
    let (level, [m, k, n]) = (Level::new(simd), shape);
    assert_eq!(a.len(), m * k, "the length of a");
    assert_eq!(b.0.len(), k * n, "the length of b");
    assert_eq!(c.len(), m * n, "the length of c");
    if m == 0 || k == 0 || n == 0 {
        return;
    }
    let lanes = level.wide_lanes();
    let mut packed = Vec::new();
    for from in (0..k).step_by(DEPTH) {
        let depth = DEPTH.min(k - from);
        for first in (0..n).step_by(2 * lanes) {
            // Panels of two vectors, or of one where that is enough.
            let widths = [BLOCK, lanes, 2 * lanes].into_iter();
            let mut enough = widths.skip_while(|&width| width < n - first);
            let width = enough.next().unwrap_or(2 * lanes);
            let columns = width.min(n - first);
            let (mut panel, mut stride) = (&b.0[from * b.1[0]..], b.1[0]);
            if columns == width && b.1[1] == 1 {
                panel = &panel[first..];
            } else {
                let (rows, columns) = (from..from + depth, first..first + columns);
                pack(b, rows, columns, width, &mut packed);
                (panel, stride) = (&packed, width);
            }
            level.run(&Panel {
                a: &a[from * strides[1]..],
                strides,
                b: Rows::new(panel, stride),
                c: RowsMut::new(&mut c[first..], n),
                m,
                depth,
                columns,
                width,
            });
        }
    }
}

/// Some columns of c, one or two vectors of them.
struct Panel<'a> {
    a: &'a [f32],
    /// Between rows of a, between columns of a.
    strides: [usize; 2],
    b: Rows<'a>,
    c: RowsMut<'a>,
    m: usize,
    depth: usize,
    columns: usize,
    /// The columns that b has: `columns` rounded up to one vector or two.
    width: usize,
}

/// More than the lanes of two vectors of any level.
const ROOM: usize = 32;

// SAFETY: the tiles cover m rows, `depth` entries of the summed index and `columns` columns, which
// `check` asks for; of b they read whole vectors, `width` columns.
unsafe impl Kernel for Panel<'_> {
    #[inline(always)]
    fn check(&self) {
        let last = |count: usize, step: usize| times(count.saturating_sub(1), step);
        let end = last(self.m, self.strides[0]).saturating_add(last(self.depth, self.strides[1]));
        assert!(end < self.a.len());
        assert!(self.columns <= self.width && self.width <= ROOM);
        self.b.check(self.depth, self.width);
        self.c.check(self.m, self.columns);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let lanes = <V::Wide as Lanes>::LANES;
        assert!([V::LANES, lanes, 2 * lanes].contains(&self.width));
        // SAFETY: the panel has one vector or two of columns.
        unsafe {
            if self.width == V::LANES {
                self.rows::<V, 1>(V::WIDE);
            } else if self.width == lanes {
                self.rows::<V::Wide, 1>(V::WIDE);
            } else {
                self.rows::<V::Wide, 2>(V::WIDE);
            }
        }
    }
}

impl Panel<'_> {
    /// All rows, in tiles.
    #[inline(always)]
    unsafe fn rows<L: Lanes, const N: usize>(&self, many_registers: bool) {
        // SAFETY: rows stay below m.
        unsafe {
            tiles!(row of self.m;
                12 if many_registers => self.tile::<L, 12, N>(row),
                4 if true => self.tile::<L, 4, N>(row),
                1 if true => self.tile::<L, 1, N>(row),
            );
        }
    }

    /// M rows of N vectors, in registers.
    #[inline(always)]
    unsafe fn tile<L: Lanes, const M: usize, const N: usize>(&self, row: usize) {
        let [a_row, a_column] = self.strides;
        let whole = self.columns == self.width;
        // SAFETY: the rows row..row + M exist; of the panel's columns those that c has are read and
        // written in place, or through `edge`, which has room for two vectors a row.
        unsafe {
            let a = self.a.as_ptr().add(row * a_row);
            let mut edge = [[0.0_f32; ROOM]; M];
            let mut sums = [[L::splat(0.0); N]; M];
            for (i, (sums, edge)) in sums.iter_mut().zip(&mut edge).enumerate() {
                let mut at = self.c.row(row + i).cast_const();
                if !whole {
                    at.copy_to_nonoverlapping(edge.as_mut_ptr(), self.columns);
                    at = edge.as_ptr();
                }
                for (j, sum) in sums.iter_mut().enumerate() {
                    *sum = L::load(at.add(j * L::LANES));
                }
            }
            for p in 0..self.depth {
                let mut vectors = [L::splat(0.0); N];
                for (j, vector) in vectors.iter_mut().enumerate() {
                    *vector = L::load(self.b.row(p).add(j * L::LANES));
                }
                for (i, sums) in sums.iter_mut().enumerate() {
                    let factor = L::splat(*a.add(i * a_row + p * a_column));
                    for (sum, vector) in sums.iter_mut().zip(vectors) {
                        *sum = factor.mul_add(vector, *sum);
                    }
                }
            }
            for (i, (sums, edge)) in sums.iter().zip(&mut edge).enumerate() {
                let at = self.c.row(row + i);
                let to = if whole { at } else { edge.as_mut_ptr() };
                for (j, sum) in sums.iter().enumerate() {
                    sum.store(to.add(j * L::LANES));
                }
                if !whole {
                    at.copy_from_nonoverlapping(edge.as_ptr(), self.columns);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::small_cases::levels;

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
            for simd in levels() {
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
                let mut turned_b = vec![0.0; k * n];
                for p in 0..k {
                    for j in 0..n {
                        turned_b[j * k + p] = b[p * n + j];
                    }
                }
                let mut again = start.clone();
                multiply_transposed_add(simd, &a, &turned_b, &mut again, [m, k, n]);
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
