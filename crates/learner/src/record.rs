//! What a training run tells: its steps, where its time went, and why it cannot go on.

use std::fmt;
use std::time::Duration;

use homing_nlm::MAX_OBJECTS;

use crate::config::ConfigProblems;
use crate::gnn::GnnError;
use crate::signature::MixedDomains;

/// Why training cannot begin or go on.
#[derive(Debug)]
pub enum TrainError {
    /// There is nothing to train on.
    NoProblems,
    /// A problem is of another domain than the first.
    MixedDomains(MixedDomains),
    /// A problem has more objects than a network can tell apart.
    TooManyObjects {
        /// Which problem, counted from 0.
        problem: usize,
        /// How many it has.
        objects: usize,
    },
    /// The configuration is wrong.
    Config(ConfigProblems),
    /// Settings of the graph network are wrong.
    Settings(Vec<String>),
    /// The graph network cannot read the domain or a problem.
    Graph(GnnError),
    /// Every problem is solved already or cannot be solved.
    NothingToLearn,
    /// No problem could be walked through, so that there are no true distances to learn from.
    NothingWalked {
        /// Problems that are too large.
        too_large: usize,
        /// Problems without a plan, or with nothing to do.
        unsolvable: usize,
    },
    /// A number ceased to be finite.
    Diverged {
        /// The step.
        step: u64,
        /// What it was.
        what: &'static str,
    },
    /// A checkpoint cannot be used.
    Checkpoint(String),
}

impl From<MixedDomains> for TrainError {
    fn from(mixed: MixedDomains) -> Self {
        Self::MixedDomains(mixed)
    }
}

impl fmt::Display for TrainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProblems => write!(f, "there are no problems to train on"),
            Self::MixedDomains(mixed) => write!(f, "{mixed}"),
            Self::TooManyObjects { problem, objects } => write!(
                f,
                "problem {} has {objects} objects; a network reads {MAX_OBJECTS} at the most",
                problem + 1
            ),
            Self::Config(problem) => write!(f, "{problem}"),
            Self::Settings(problems) => f.write_str(&problems.join("\n")),
            Self::Graph(error) => write!(f, "{error}"),
            Self::NothingToLearn => {
                write!(
                    f,
                    "every problem holds its goal already or is a dead end from the start"
                )
            }
            Self::NothingWalked {
                too_large,
                unsolvable,
            } => write!(
                f,
                "no problem could be walked through: {too_large} too large, {unsolvable} without a \
                 plan or with nothing to do; the objective `ranking` needs smaller problems"
            ),
            Self::Diverged { step, what } => write!(
                f,
                "training diverged: the {what} is not a finite number at step {step}; try a smaller learning rate"
            ),
            Self::Checkpoint(reason) => write!(f, "the checkpoint cannot be used: {reason}"),
        }
    }
}

impl std::error::Error for TrainError {}

impl From<ConfigProblems> for TrainError {
    fn from(problems: ConfigProblems) -> Self {
        Self::Config(problems)
    }
}

/// What one step did: everything the paper plots.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepRecord {
    /// The step, counted from 1.
    pub step: u64,
    /// Goals reached so far.
    pub goals: u64,
    /// Episodes ended so far.
    pub resets: u64,
    /// States stored.
    pub stored: u64,
    /// What was learnt; `None` before there was enough to learn from.
    pub sgd: Option<SgdRecord>,
}

/// Means over the batch of an SGD step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SgdRecord {
    /// ½ (V − target)², or the logistic loss of pairs.
    pub loss: f64,
    /// The target, where the objective has one.
    pub target: Option<f64>,
    /// V, before the step.
    pub value: f64,
    /// h_γ
    pub discounted_h: f64,
    /// h, undiscounted.
    pub h: f64,
    /// H = −V, undiscounted.
    pub learned_h: f64,
}

/// Where the time of a run went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// Forward and backward passes, Adam, preparation of weights.
    pub network: Duration,
    /// Successors, base heuristics and encodings.
    pub planning: Duration,
}
