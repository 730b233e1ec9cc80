//! Scores of successors, one parent at a time.
//!
//! What is learned as counts of local patterns can be told of a child by what an action changes. So
//! the scorer is shown a parent once, and then asked about its actions one after the other; no
//! state is built for a child.

use crate::task::ActionId;

/// Orders that one scorer can offer: each is a queue of its own in a search.
pub const SCORER_HEADS: usize = 2;

/// What a scorer says of one successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildScore {
    /// By head, the less the better. Heads past [`SuccessorScorer::heads`] repeat the first.
    pub scores: [i64; SCORER_HEADS],
    /// Goals that do not hold in the successor.
    pub open_goals: usize,
}

impl ChildScore {
    /// Whether the successor is a goal.
    pub fn is_goal(&self) -> bool {
        self.open_goals == 0
    }
}

/// Scores the successors of one state at a time.
///
/// Scores are whole numbers, so that a sum by difference equals a sum from scratch. A score says
/// which of several states to look at first; it is no estimate of cost and prunes nothing.
pub trait SuccessorScorer {
    /// How many orders it offers: 1 to [`SCORER_HEADS`].
    fn heads(&self) -> usize;

    /// Makes a packed state the parent.
    fn enter(&mut self, state: &[u32]);

    /// The scores of the parent.
    fn scores(&self) -> [i64; SCORER_HEADS];

    /// The scores of the successor by an action, which must be applicable in the parent.
    fn child(&mut self, action: ActionId) -> ChildScore;

    /// What all calls so far took, in rough nanoseconds: counted, not timed, so that runs repeat.
    fn work(&self) -> u64;
}
