//! What became of the problems that were tried.

use std::fmt;

/// Counts of a cutter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutStatistics {
    /// Explorations of the delete relaxation.
    pub explorations: usize,
    /// Trails walked.
    pub trails: usize,
    /// Problems tried.
    pub tries: usize,
    /// Cuts made.
    pub cuts: usize,
    /// Tries given up because a trail led nowhere.
    pub no_trail: usize,
    /// Tries that looked like an earlier one.
    pub duplicates: usize,
    /// Tries whose goal cannot be reached even if nothing is deleted.
    pub unreachable: usize,
    /// Tries without a plan.
    pub unsolvable: usize,
    /// Tries with too many states, transitions or actions.
    pub too_large: usize,
    /// Tries not walked through because ones with no more objects were too large.
    pub foreseen: usize,
    /// Tries in which nothing is to be done: no state but goals and dead ends.
    pub trivial: usize,
    /// Tries that could not be grounded for another reason: an action whose cost is not given.
    pub not_grounded: usize,
    /// Actions listed in all groundings.
    pub actions: u64,
    /// States walked through in all tries.
    pub states: u64,
    /// Transitions followed in all tries; of spaces too large, at least so many as it has states.
    pub transitions: u64,
}

impl fmt::Display for CutStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cuts of {} tries ({} too large, {} unreachable, {} unsolvable, {} duplicates, {} trivial), {} states",
            self.cuts,
            self.tries,
            self.too_large,
            self.unreachable + self.not_grounded,
            self.unsolvable,
            self.duplicates,
            self.trivial,
            self.states
        )
    }
}
