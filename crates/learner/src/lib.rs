//! Learning a value function for a planning domain, as a correction to a classical heuristic.
//!
//! A [`Trainer`] walks in small problems and learns ([`TrainConfig`] says how); a [`Model`] is what
//! it learnt, and goes to a file and back; [`Learned`] is the model as a heuristic for any search.
//! [`Tabular`] solves the same decision process exactly where it is small.

mod checkpoint;
mod config;
mod encode;
mod encodings;
mod learned;
mod model;
mod record;
mod replay;
mod seal;
mod shaping;
mod signature;
mod tabular;
pub mod tensorboard;
mod trainer;
mod world;

pub use config::{BucketBy, CapacityOf, ConfigProblem, Policy, Reduce, Reward, TrainConfig};
pub use encode::{Channels, Encoder};
pub use learned::Learned;
pub use model::{FORMAT_VERSION, Model, ModelError, ModelHeader, TrainingSummary};
pub use record::{SgdRecord, StepRecord, Timings, TrainError};
pub use shaping::{Mdp, discounted, undiscounted};
pub use signature::{Difference, Signature};
pub use tabular::{Solution, Tabular, TooLarge};
pub use trainer::Trainer;
