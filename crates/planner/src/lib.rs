//! The planner under homing: grounding, heuristics, search, plans.
//!
//! [`ground`] makes a [`Task`] of a checked problem; a [`Heuristic`] estimates its states in
//! batches; [`search`] looks for a [`Plan`]; [`Plan::validate`] replays it from the lifted actions.
//! The planner reads no files and no clocks: a [`Watch`] looks on from outside and may end it.

mod anytime;
mod apply;
mod closure;
mod components;
mod csr;
mod encoding;
mod ground;
mod hash;
pub mod heuristic;
pub mod improve;
mod interchange;
mod invariants;
mod names;
mod plan;
mod random;
mod registry;
pub mod search;
mod successors;
mod task;
#[cfg(test)]
mod test_tasks;
mod visited;
mod watch;

pub use anytime::{Anytime, AnytimeConfig, AnytimeEnd, anytime};
pub use encoding::Encoding;
pub use ground::{GroundError, LargestAction, Spare, ground, ground_sparing};
pub use heuristic::{Costs, Estimate, Evaluation, Heuristic, HeuristicKind, Node};
pub use interchange::Interchangeable;
pub use names::UnknownName;
pub use plan::{Plan, PlanError, PlanStep, PlanSyntaxError, Validated, World};
pub use registry::{Registry, StateId, States};
pub use search::SearchKind;
pub use successors::SuccessorGenerator;
pub use task::{ActionId, ActionName, Effect, PropId, Proposition, Task};
pub use visited::Visited;
pub use watch::{Met, Pace, Progress, Stop, Verdict, Watch};
