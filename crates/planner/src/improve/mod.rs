//! Plans made shorter: actions that are not needed go, and parts of a plan are solved again.
//!
//! Nothing here rests on what actions are made of alone: preconditions and effects say what looks
//! promising, and every change is replayed from the initial state before it counts. So it works for
//! conditional effects and axioms too, only less often.
//!
//! - [`eliminate`](eliminate()) takes actions out of a plan with all that hangs on them.
//! - A **window** is a run of actions that stand together. The rest of the plan needs some of the
//!   facts at its end, not all of them; a small search looks for a cheaper way to these.
//! - What belongs together does not always stand together. Between rounds of windows the plan is
//!   put in **another order** that keeps every action's effects: the actions of one object beside
//!   each other, for instance.
//!
//! Work is counted, not timed, so that runs repeat.

mod eliminate;
mod improver;
mod order;
mod trace;
mod window;

pub use eliminate::eliminate;
pub use improver::{Improved, Improver, improve};

/// What it took to make a plan shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImproveStatistics {
    /// Actions taken out by elimination.
    pub eliminated: u64,
    /// Windows solved again.
    pub windows: u64,
    /// Windows for which a cheaper way was found.
    pub shortened: u64,
    /// States evaluated in windows.
    pub evaluations: u64,
    /// All work, in rough nanoseconds.
    pub work: u64,
}
