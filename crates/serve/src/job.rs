//! What a child process is asked to do, as one JSON object on its standard input; and the messages
//! that come back, one JSON object a line.

use std::path::PathBuf;

use homing::{Learner, SolveRequest};
use homing_lab::DomainName;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Work for a child process. Paths in it are the server's own: clients name models, never files.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Job {
    /// Check PDDL: a domain, and problems of it.
    Check {
        /// The domain.
        domain: String,
        /// Problems.
        problems: Vec<String>,
    },
    /// Find a plan.
    Solve {
        /// The problem, and how.
        request: Box<SolveRequest>,
        /// Whether the states that the search looks at are told.
        trace: bool,
        /// The port on this machine where a search debugger listens.
        debugger: Option<u16>,
    },
    /// Replay a plan, and tell the states on the way.
    Replay {
        /// The domain.
        domain: String,
        /// The problem.
        problem: String,
        /// The plan.
        plan: String,
    },
    /// Draw problems.
    Generate {
        /// The domain.
        domain: DomainName,
        /// Sizes, as names of files carry them.
        sizes: String,
        /// The first seed.
        seed: u64,
        /// How many problems.
        count: u64,
    },
    /// Train a model.
    Train {
        /// The domain.
        domain: String,
        /// Small problems of it.
        problems: Vec<String>,
        /// What learns.
        learner: Learner,
        /// The seed.
        seed: u64,
        /// Where the model goes.
        out: PathBuf,
    },
    /// Tell what a model is.
    Model {
        /// Its file, or its name among those that ship.
        model: ModelPlace,
    },
}

/// Where a model is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelPlace {
    /// In the program itself, under this name.
    Shipped(String),
    /// In a file of the server.
    File(PathBuf),
}

/// The limits of a child process, on its command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobLimits {
    /// Seconds.
    pub seconds: f64,
    /// Bytes.
    pub memory: u64,
}

/// What a child process says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// It waits for its turn behind so many others.
    Queued {
        /// How many.
        ahead: usize,
    },
    /// How far it is.
    Progress {
        /// In words.
        text: String,
        /// States evaluated.
        #[serde(default)]
        evaluations: u64,
        /// The least estimate.
        #[serde(default)]
        best: Option<f64>,
    },
    /// Something worth knowing.
    Notice {
        /// In a sentence.
        text: String,
    },
    /// States that the search has looked at: number, number of the parent or -1, kind, value, depth.
    States {
        /// One each.
        states: Vec<(u32, i64, StateKind, Option<f64>, u32)>,
    },
    /// Steps of training, each with goals and loss.
    Steps {
        /// Step, goals so far, loss.
        steps: Vec<(u64, u64, Option<f64>)>,
        /// All steps of the run.
        of: u64,
    },
    /// It is done.
    Done {
        /// What came of it.
        result: Value,
    },
    /// It failed.
    Failed {
        /// Why, in sentences.
        message: String,
        /// What is wrong with the PDDL, if that is it.
        #[serde(default)]
        diagnostics: Vec<Finding>,
    },
}

/// How a state was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateKind {
    /// Evaluated by a heuristic.
    Estimate,
    /// Scored by what was learned.
    Score,
    /// A dead end.
    Dead,
    /// A goal.
    Goal,
}

/// A message about PDDL, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `DOMAIN`, or `PROBLEM:` and a number from 0.
    pub location: String,
    /// `error` or `warning`.
    pub severity: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Where it begins: line and column, from 1.
    pub from: (usize, usize),
    /// Where it ends: line and column, from 1; the column is past the last character.
    pub to: (usize, usize),
}

impl Finding {
    /// In one sentence, with line and column.
    pub fn sentence(&self) -> String {
        let (line, column) = self.from;
        let place = match self.location.as_str() {
            "DOMAIN" => "domain",
            _ => "problem",
        };
        let mut text = format!(
            "{}: {place}, line {line}, column {column}: {}",
            self.severity, self.message
        );
        if let Some(help) = &self.help {
            text.push_str(&format!(" ({help})"));
        }
        text
    }
}
