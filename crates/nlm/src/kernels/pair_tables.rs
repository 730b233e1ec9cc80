//! The first layer's pairs a class of pairs. See `docs/nlm.md`, "The finite first layers".

use super::vector::{Kernel, Vector};

/// Copies what a table says of the class of each pair to where the pair lies.
pub(crate) struct CopyPairs<'a> {
    /// The class of each pair.
    pub(crate) classes: &'a [u32],
    /// `[class][record]`, which begins with the rows of (a, b) and (b, a), their sum and difference.
    pub(crate) table: *const f32,
    pub(crate) record: usize,
    /// Where in a record what both add to triples begins, `[2][3][features]`.
    pub(crate) parts: usize,
    pub(crate) features: usize,
    /// `[row][features]`.
    pub(crate) y: *mut f32,
    /// The first column, of row 0.
    pub(crate) sums: *mut f32,
    pub(crate) sums_stride: usize,
    /// `[row][3][features]`, or null.
    pub(crate) expanded: *mut f32,
}

impl Kernel for CopyPairs<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: classes are within the table, pairs and features within the tensors.
        unsafe {
            let features = self.features;
            for (pair, &class) in self.classes.iter().enumerate() {
                let from = self.table.add(class as usize * self.record);
                copy::<V>(from, self.y.add(2 * pair * features), 2 * features);
                let sums = self.sums.add(2 * pair * self.sums_stride);
                copy::<V>(from.add(2 * features), sums, features);
                copy::<V>(from.add(3 * features), sums.add(self.sums_stride), features);
                if !self.expanded.is_null() {
                    let to = self.expanded.add(6 * pair * features);
                    copy::<V>(from.add(self.parts), to, 6 * features);
                }
            }
        }
    }
}

/// Copies whole vectors.
#[inline(always)]
unsafe fn copy<V: Vector>(from: *const f32, to: *mut f32, len: usize) {
    // SAFETY: the caller gives both.
    unsafe {
        for i in (0..len).step_by(V::LANES) {
            V::load(from.add(i)).store(to.add(i));
        }
    }
}
