//! The first layer's pairs a class of pairs. See `docs/nlm.md`, "The finite first layers".

use super::vector::{Kernel, Vector};

/// Copies what a table says of the class of each pair to where the pair lies.
pub(crate) struct CopyPairs<'a> {
    /// The class of each pair.
    pub(crate) classes: &'a [u32],
    /// `[class][record]`, which begins with the rows of (a, b) and (b, a).
    pub(crate) table: *const f32,
    pub(crate) record: usize,
    pub(crate) features: usize,
    /// `[row][features]`.
    pub(crate) y: *mut f32,
}

impl Kernel for CopyPairs<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: classes are within the table, pairs and features within the tensors.
        unsafe {
            let len = 2 * self.features;
            for (pair, &class) in self.classes.iter().enumerate() {
                let from = self.table.add(class as usize * self.record);
                let to = self.y.add(pair * len);
                for i in (0..len).step_by(V::LANES) {
                    V::load(from.add(i)).store(to.add(i));
                }
            }
        }
    }
}
