//! What runs that train the paper's network have in common, whatever they ask of it.

use crate::config::TrainConfig;
use crate::model::Model;
use crate::ranking::RankingTrainer;
use crate::record::{StepRecord, Timings, TrainError};
use crate::trainer::Trainer;

/// A run that trains the paper's network, step by step.
pub trait NetworkTraining {
    /// Steps taken so far.
    fn steps(&self) -> u64;

    /// How it is configured.
    fn config(&self) -> &TrainConfig;

    /// The seed.
    fn seed(&self) -> u64;

    /// Where the time went so far.
    fn timings(&self) -> Timings;

    /// Takes a step.
    ///
    /// # Errors
    ///
    /// If a number ceases to be finite.
    fn step(&mut self) -> Result<StepRecord, TrainError>;

    /// The model as it is now.
    fn model(&self) -> Model;

    /// The bytes of a checkpoint file: with it, a run goes on as if it had never been stopped.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    fn checkpoint(&self) -> Result<Vec<u8>, TrainError>;
}

macro_rules! is_network_training {
    ($trainer:ident) => {
        impl NetworkTraining for $trainer<'_> {
            fn steps(&self) -> u64 {
                $trainer::steps(self)
            }

            fn config(&self) -> &TrainConfig {
                $trainer::config(self)
            }

            fn seed(&self) -> u64 {
                $trainer::seed(self)
            }

            fn timings(&self) -> Timings {
                $trainer::timings(self)
            }

            fn step(&mut self) -> Result<StepRecord, TrainError> {
                $trainer::step(self)
            }

            fn model(&self) -> Model {
                $trainer::model(self)
            }

            fn checkpoint(&self) -> Result<Vec<u8>, TrainError> {
                $trainer::checkpoint(self)
            }
        }
    };
}

is_network_training!(Trainer);
is_network_training!(RankingTrainer);
