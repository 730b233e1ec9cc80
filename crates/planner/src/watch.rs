//! How the outside looks into a long computation and ends it.
//!
//! The planner knows neither clocks nor terminals: whoever runs it passes a [`Watch`], which is
//! shown how far things are and may answer that it is time to stop.

/// How far a computation is.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    /// Grounding has found so many actions.
    Grounding {
        /// Reachable ground actions so far.
        actions: usize,
    },
    /// Small problems are being cut out of a task.
    Cutting {
        /// Cuts made so far.
        cuts: usize,
        /// States walked through so far, in all that was tried.
        states: u64,
    },
    /// Landmarks are being looked for.
    Landmarks {
        /// Landmarks so far.
        found: usize,
    },
    /// A plan is being made shorter.
    Improving {
        /// What it costs now.
        cost: u64,
    },
    /// A search is under way.
    Search {
        /// States evaluated so far.
        evaluations: u64,
        /// States expanded so far.
        expansions: u64,
        /// The least finite estimate met so far.
        best: Option<f64>,
    },
}

/// Why the outside ended a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Out of time.
    Time,
    /// Out of memory.
    Memory,
    /// The user asked for it.
    Interrupted,
}

/// Looks on and may end a computation. It is asked often: it should answer within nanoseconds.
pub trait Watch {
    /// Shown the progress, says whether to stop.
    fn poll(&mut self, progress: Progress) -> Option<Stop>;
}

/// Never stops anything.
impl Watch for () {
    fn poll(&mut self, _: Progress) -> Option<Stop> {
        None
    }
}
