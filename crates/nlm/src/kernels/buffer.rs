//! A growing f32 buffer on cache-line boundaries.
//!
//! In the tree of `docs/nlm.md`: by class, the memory of all tensors.

use super::view::{Rows, RowsMut};
use crate::plan::BLOCK;

/// Copies whole blocks of eight in place: a call would take longer than so few.
pub(crate) fn copy_blocks(from: &[f32], to: &mut [f32]) {
    let (from, _) = from.as_chunks::<BLOCK>();
    for (to, from) in to.as_chunks_mut::<BLOCK>().0.iter_mut().zip(from) {
        *to = *from;
    }
}

/// f32 aligned to 64 bytes; keeps its memory when less is asked for.
#[derive(Default)]
pub(crate) struct Buffer {
    data: Vec<f32>,
    /// Where the aligned part begins.
    start: usize,
    len: usize,
}

impl Buffer {
    /// Makes room for `len` f32: zero when fresh, else what was there before.
    pub(crate) fn reserve(&mut self, len: usize) {
        if self.len < len {
            // A fresh zeroed allocation: growing would copy stale contents.
            self.data = Vec::new();
            self.data = vec![0.0; len + 15];
            self.start = self.data.as_ptr().align_offset(64).min(15);
            self.len = len;
        }
    }

    /// Makes room for `len` f32 of which the first `kept` keep what they are; what follows is
    /// anything.
    pub(crate) fn extend(&mut self, kept: usize, len: usize) {
        if self.len < len {
            let mut larger = Self::default();
            larger.reserve(len.next_power_of_two());
            larger.as_mut_slice()[..kept].copy_from_slice(&self.as_slice()[..kept]);
            *self = larger;
        }
    }

    /// Makes room for `len` f32 and sets them to zero.
    pub(crate) fn zeroed(&mut self, len: usize) {
        if self.len < len {
            self.reserve(len);
        } else {
            self.data[self.start..self.start + len].fill(0.0);
        }
    }

    pub(crate) fn as_slice(&self) -> &[f32] {
        &self.data[self.start..self.start + self.len]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [f32] {
        &mut self.data[self.start..self.start + self.len]
    }

    /// Rows for a kernel to read.
    pub(crate) fn view(&self, stride: usize) -> Rows<'_> {
        Rows::new(self.as_slice(), stride)
    }

    /// Rows for a kernel to write and to read.
    pub(crate) fn view_mut(&mut self, stride: usize) -> RowsMut<'_> {
        RowsMut::new(self.as_mut_slice(), stride)
    }
}
