//! Forward search for a plan (paper, Appendix "Greedy Best First Search").
//!
//! All searches share one `SearchSpace`: states are stored once in a registry, new successors of a node are
//! evaluated as one batch, and limits end a search cleanly with its statistics. An evaluation is
//! one heuristic call on a state not met before. Ties in the open list go first in, first out, in
//! the order of generation: schemas as declared, then arguments.

mod astar;
mod bounded;
mod changes;
mod deferred;
mod descent;
mod enabled;
mod gbfls;
mod gbfs;
mod guided;
mod kind;
mod novelty;
mod open;
mod policy;
mod queue;
mod scorer;
mod serial;
mod space;

use crate::plan::Plan;
use crate::watch::Stop;

pub use astar::{astar, dijkstra, weighted_astar};
pub use bounded::{Bounded, BoundedOutcome};
pub use deferred::{Deferred, DeferredConfig, Finder, Trust};
pub use gbfls::gbfls;
pub use gbfs::gbfs;
pub use kind::{SearchKind, SearchOptions};
pub use policy::{Policy, PolicyKey, PolicySearch, Walk, policy_search, sample};
pub use scorer::{ChildScore, SCORER_HEADS, SuccessorScorer};

/// When to give up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Heuristic evaluations at the most.
    pub max_evaluations: Option<u64>,
    /// Expansions at the most.
    pub max_expansions: Option<u64>,
}

/// Which limit ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::max_evaluations`]
    Evaluations,
    /// [`Limits::max_expansions`]
    Expansions,
    /// The work that one run of a [`Deferred`] search may take.
    Work,
    /// The watch said so.
    Stopped(Stop),
}

/// How a search ended. None of these is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is a plan.
    Solved(Plan),
    /// There is none: every state that can be reached was looked at or is a dead end.
    Unsolvable,
    /// A limit was reached first.
    LimitReached(Limit),
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// States evaluated.
    pub evaluations: u64,
    /// Successors scored by what was learned, without being built.
    pub scored: u64,
    /// States expanded.
    pub expansions: u64,
    /// Successors generated, repeated ones included.
    pub generated: u64,
    /// States expanded again on a cheaper path.
    pub reopened: u64,
    /// Evaluated states that are dead ends.
    pub dead_ends: u64,
    /// States stored.
    pub stored: u64,
    /// The most entries the open list had.
    pub peak_open: u64,
    /// Bytes of one packed state.
    pub bytes_per_state: u64,
    /// The estimate of the initial state, `None` for a dead end or if it was never evaluated.
    pub initial_estimate: Option<f64>,
}

/// A search's end and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// How it ended.
    pub outcome: Outcome,
    /// What it took.
    pub statistics: Statistics,
}
