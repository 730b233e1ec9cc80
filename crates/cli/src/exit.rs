//! Exit codes, in Fast Downward's blocks (`docs/exit-codes.md`).

use std::fmt;

use homing::{Blame, Outcome};

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Solved, valid, or nothing wrong.
    Success = 0,
    /// `homing validate`: the plan is none.
    PlanInvalid = 1,
    /// `homing evaluate` and `homing experiment`: some of the tasks failed.
    SomeFailed = 2,
    /// There is no plan.
    Unsolvable = 11,
    /// A limit on evaluations or expansions was reached without a plan.
    LimitReached = 12,
    /// The memory limit was reached without a plan.
    MemoryLimit = 22,
    /// The time limit was reached without a plan.
    TimeLimit = 23,
    /// The PDDL is wrong.
    BadPddl = 31,
    /// A mistake of our own.
    Bug = 32,
    /// Bad arguments, or other input or output that failed.
    BadInput = 33,
    /// The PDDL uses what homing does not read.
    Unsupported = 34,
    /// Ended by Ctrl-C or a signal of the same meaning.
    Interrupted = 130,
}

impl From<Blame> for Exit {
    fn from(blame: Blame) -> Self {
        match blame {
            Blame::Pddl => Self::BadPddl,
            Blame::Unsupported => Self::Unsupported,
            Blame::Request => Self::BadInput,
            Blame::Homing => Self::Bug,
            Blame::Stopped => Self::Interrupted,
        }
    }
}

impl From<Outcome> for Exit {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Solved => Self::Success,
            Outcome::Unsolvable => Self::Unsolvable,
            Outcome::Limit => Self::LimitReached,
            Outcome::TimeLimit => Self::TimeLimit,
            Outcome::MemoryLimit => Self::MemoryLimit,
            Outcome::Interrupted => Self::Interrupted,
        }
    }
}

/// A failure that says itself how the program should end. Its message has been shown already if it
/// is empty.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
}

impl Failure {
    /// A failure with a message.
    pub(crate) fn because(exit: Exit, message: impl Into<String>) -> anyhow::Error {
        Self {
            exit,
            message: message.into(),
        }
        .into()
    }

    /// A failure whose message has been shown.
    pub(crate) fn silent(exit: Exit) -> anyhow::Error {
        Self::because(exit, "")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
