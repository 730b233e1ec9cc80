//! What a kernel may touch: rows of f32 with a stride, checked at its door.
//!
//! A view holds a place, how much lies behind it and how far apart rows are. It is made from a
//! slice, so it is good for as long as the slice is borrowed. Several views of one buffer may be
//! at work in one kernel, which reads some columns of a row and writes others; so what may be
//! written is borrowed as cells are, never as `&mut [f32]` twice.
//!
//! In the tree of `docs/nlm.md`: below every leaf.

use std::cell::Cell;
use std::marker::PhantomData;

/// Rows of a tensor: row i begins `i * stride` after the first.
#[derive(Clone, Copy)]
pub(crate) struct View<'a, const WRITE: bool> {
    at: *const f32,
    len: usize,
    stride: usize,
    of: PhantomData<&'a [Cell<f32>]>,
}

/// Rows that a kernel reads.
pub(crate) type Rows<'a> = View<'a, false>;
/// Rows that a kernel writes, and may read.
pub(crate) type RowsMut<'a> = View<'a, true>;

/// Whether so many rows of so many columns lie within `len`.
#[inline(always)]
fn fits(len: usize, stride: usize, rows: usize, columns: usize) -> bool {
    let last = rows.saturating_sub(1).saturating_mul(stride);
    rows == 0 || columns == 0 || last.saturating_add(columns) <= len
}

impl<const WRITE: bool> View<'_, WRITE> {
    const fn at(at: *const f32, len: usize, stride: usize) -> Self {
        Self {
            at,
            len,
            stride,
            of: PhantomData,
        }
    }

    /// The same rows without what comes before this column; of no rows, nothing.
    #[inline(always)]
    pub(crate) fn from(mut self, column: usize) -> Self {
        self.at = self.at.wrapping_add(column);
        self.len = self.len.saturating_sub(column);
        self
    }

    /// The rows from this one on.
    pub(crate) fn after(self, rows: usize) -> Self {
        self.from(rows * self.stride)
    }

    /// Every so-many-th row.
    pub(crate) fn every(mut self, rows: usize) -> Self {
        self.stride *= rows;
        self
    }

    /// # Panics
    ///
    /// Unless there are so many rows of so many columns.
    #[inline(always)]
    pub(super) fn check(&self, rows: usize, columns: usize) {
        let fits = fits(self.len, self.stride, rows, columns);
        assert!(fits, "{rows} rows of {columns} columns in a tensor");
    }

    #[inline(always)]
    pub(super) fn stride(&self) -> usize {
        self.stride
    }
}

impl<'a> Rows<'a> {
    pub(crate) const NONE: Self = Self::new(&[], 0);

    pub(crate) const fn new(data: &'a [f32], stride: usize) -> Self {
        Self::at(data.as_ptr(), data.len(), stride)
    }

    /// Where a row begins, if there is one.
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> *const f32 {
        self.at.wrapping_add(row.wrapping_mul(self.stride))
    }
}

impl<'a> RowsMut<'a> {
    pub(crate) fn new(data: &'a mut [f32], stride: usize) -> Self {
        Self::at(data.as_mut_ptr(), data.len(), stride)
    }

    /// The same rows, to be read.
    #[inline(always)]
    pub(crate) fn read(self) -> Rows<'a> {
        Rows::at(self.at, self.len, self.stride)
    }

    /// Where a row begins, if there is one.
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> *mut f32 {
        self.read().row(row).cast_mut()
    }
}

/// # Panics
///
/// If the product is no size that memory can have.
#[inline(always)]
pub(super) fn times(a: usize, b: usize) -> usize {
    a.checked_mul(b).expect("a size that memory can have")
}

/// # Panics
///
/// Unless every index is below the bound.
#[inline(always)]
pub(super) fn all_below(indices: &[u32], bound: usize) {
    let most = indices.iter().fold(0, |most, &i| most.max(i)) as usize;
    assert!(indices.is_empty() || most < bound, "{most} of {bound}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_holds_what_its_tensor_holds() {
        let mut data = [0.0; 23];
        let view = RowsMut::new(&mut data, 8);
        view.check(2, 15);
        view.check(3, 7);
        view.check(0, 99);
        view.from(2).check(3, 5);
        view.after(1).check(2, 7);
        view.every(2).check(2, 7);
        for (rows, columns) in [(3, 8), (4, 1), (1, 24), (usize::MAX, 8)] {
            let refused = std::panic::catch_unwind(|| {
                let data = [0.0; 23];
                Rows::new(&data, 8).check(rows, columns);
            });
            assert!(refused.is_err(), "{rows} {columns}");
        }
    }

    #[test]
    #[should_panic(expected = "7 of 7")]
    fn an_index_beyond_the_rows_is_refused() {
        all_below(&[0, 7, 3], 7);
    }
}
