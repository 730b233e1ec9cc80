//! Experiments: a file says what is trained and evaluated; a plan lists the tasks of it.
//!
//! [`Spec`] is the file, [`Plan`] the tasks with the key of each: a hash of everything that decides
//! its result. What is there under its key is not done again, so that a change of the file redoes
//! only what it touches. [`Plan::chunks`] cuts the tasks into parts for several machines.

mod chunks;
mod gnn;
mod hgn;
mod plan;
mod settings;
mod spec;
mod task;

pub use chunks::Chunk;
pub use gnn::GnnSpec;
pub use hgn::HgnSpec;
pub use plan::{
    EvaluationTask, NamedText, OwnFiles, Plan, ProblemFile, ProblemSet, SelectionTask,
    TrainingTask, spread,
};
pub use settings::Settings;
pub use spec::{EvaluateSpec, OwnDomain, SelectSpec, Spec, SpecError, TrainSpec};
pub use task::{Costs, Stage, Task};
