//! homing as a library: requests in, records out.
//!
//! [`solve`] finds a plan, [`train`] learns a heuristic for a domain, [`evaluate`] runs heuristics
//! and models on many problems, [`experiment`] does all of that as a file says, and [`report`]
//! makes tables of the records. Requests and records are plain data. An [`Observer`] looks on and
//! may end the work; the library itself prints nothing and reads no environment variables.
//!
//! ```
#![doc = include_str!("../examples/train_and_solve.rs")]
//! ```

mod better;
pub mod child;
mod compute;
mod error;
mod evaluate;
pub mod experiment;
pub mod files;
mod here;
pub mod input;
mod lazy;
mod model;
pub mod models;
mod observe;
mod report;
pub mod resources;
pub mod settings;
mod solve;
pub mod train;
mod underway;

pub use better::PlanFound;
pub use error::{Blame, Error};
pub use evaluate::{EvaluateRecord, EvaluateRequest, evaluate, write_properties};
pub use experiment::{ExperimentRecord, ExperimentRequest, experiment};
pub use here::{LearnHereConfig, LearnedHere};
pub use input::{Loaded, ProblemSource};
pub use lazy::{LazyConfig, LearnWhen};
pub use model::{load_model, load_model_for};
pub use observe::{LimitWatch, Notice, Observer, PlanningProgress};
pub use report::{Records, ReportRecord, ReportRequest, read_records, report};
pub use solve::{
    Outcome, SearchConfig, SolveLimits, SolveRecord, SolveRequest, TaskSize, solve, solve_task,
};
pub use train::{Learner, NlmTraining, SelectConfig, TrainEnd, TrainRecord, TrainRequest, train};
pub use underway::Underway;
