//! By class: what is a function of the class of a pair or of an orbit is computed once a class.
//!
//! Structures with equally many objects go through the network together, rows of one after those
//! of another. Pairs lie in twos, (a, b) and (b, a), see [`Index`], and what maps read of them are
//! sums and differences, see [`PairMap`](crate::kernels::rows::PairMap).
//!
//! [`ValuesByClass`] and [`GradientsByClass`] go through the same layers over rows ([`layers`])
//! with the same tables over classes ([`tables`]). Values keep their tables for as long as the
//! weights are the same, and know of triples no more than their extrema; gradients keep what the
//! backward pass reads.
//!
//! In the tree of `docs/nlm.md`: BY CLASS, of `evaluate` and of `backward`.

mod backward;
mod gradients;
mod layers;
mod orbits;
mod shape;
mod sparse;
mod tables;
mod triples;
mod values;
mod weights;

pub(crate) use gradients::GradientsByClass;
pub(crate) use shape::Shape;
pub(crate) use values::ValuesByClass;
pub(crate) use weights::{Transposed, transpose};

use crate::index::Index;
use crate::kernels::Level;
use crate::plan::Plan;
use crate::prepared::ComposeWeights;
use crate::tuning;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A network and its weights.
#[derive(Clone, Copy)]
pub(crate) struct Network<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shape: &'a Shape,
    pub(crate) weights: &'a [Vec<ComposeWeights>],
    /// Of a backward pass.
    pub(crate) transposed: &'a [Vec<Transposed>],
    pub(crate) level: Level,
}

/// Indices by the number of structures and of objects, and whether objects are distinct.
#[derive(Default)]
struct Indices(BTreeMap<(usize, usize, bool), Arc<Index>>);

impl Indices {
    fn get(&mut self, group: usize, objects: usize, distinct: bool) -> Arc<Index> {
        // Those of large object counts are rarely shared; bound what is kept.
        if self.0.len() > tuning::INDICES {
            self.0.clear();
        }
        let new = || Arc::new(Index::new(objects, distinct, group));
        let of = self.0.entry((group, objects, distinct));
        of.or_insert_with(new).clone()
    }
}
