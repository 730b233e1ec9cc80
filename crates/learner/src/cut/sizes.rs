//! What was too large before will be too large again.
//!
//! A walk that ends at its limit is wasted, and there is a plain sign that it will: a problem with at
//! least as many objects of each type as one that was too large.

use super::index::Index;
use super::kept::Kept;

/// Problems that were too large, by their objects of each type.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    /// Objects by class, and the states there were at least.
    too_large: Vec<(Vec<u32>, usize)>,
}

impl Sizes {
    /// Whether a problem with these objects will have more states than allowed, as far as is known.
    pub(super) fn foresee(&self, index: &Index<'_>, kept: &Kept, states: usize) -> bool {
        let counts = index.counts(kept);
        let has_more = |fewer: &[u32]| fewer.iter().zip(&counts).all(|(a, b)| a <= b);
        let mut known = self.too_large.iter();
        known.any(|(fewer, more_than)| states <= *more_than && has_more(fewer))
    }

    /// A problem with these objects has more states than that.
    pub(super) fn note(&mut self, index: &Index<'_>, kept: &Kept, states: usize) {
        self.too_large.push((index.counts(kept), states));
    }
}
