//! What runs that train the paper's network have in common, whatever they ask of it.

use homing_nlm::{MAX_OBJECTS, Nlm};
use homing_planner::Task;

use crate::config::{ConfigProblem, ConfigProblems, NetworkObjective, TrainConfig};
use crate::encode::Channels;
use crate::model::{Model, network};
use crate::ranking::RankingTrainer;
use crate::record::{StepRecord, Timings, TrainError};
use crate::signature::Signature;
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

/// What a run stands on, whatever is asked of the network: a domain that all problems share, and a
/// network for it.
pub(crate) struct Ground {
    pub(crate) signature: Signature,
    pub(crate) domain: String,
    pub(crate) channels: Channels,
    pub(crate) nlm: Nlm,
}

impl Ground {
    /// For tasks and a configuration in which all is decided; `objective` is that of the run.
    pub(crate) fn of(
        tasks: &[&Task],
        config: &TrainConfig,
        objective: NetworkObjective,
    ) -> Result<Self, TrainError> {
        if config.objective != objective {
            let must = match objective {
                NetworkObjective::TemporalDifference => {
                    "be `temporal-difference` to learn from walks"
                }
                NetworkObjective::Ranking => "be `ranking` to learn from true distances",
            };
            let field = "objective";
            let problems = vec![ConfigProblem::Field { field, must }];
            return Err(TrainError::Config(ConfigProblems(problems)));
        }
        let first = tasks.first().ok_or(TrainError::NoProblems)?;
        let signature = Signature::shared(first, tasks.iter().copied())?;
        for (problem, task) in tasks.iter().enumerate() {
            let objects = task.problem().objects.len();
            if objects > MAX_OBJECTS {
                return Err(TrainError::TooManyObjects { problem, objects });
            }
        }
        let channels = Channels::new(
            &signature,
            config.types_as_predicates,
            config.negative_goals,
        );
        Ok(Self {
            domain: first.problem().domain.name.clone(),
            nlm: network(config, &channels)?,
            signature,
            channels,
        })
    }
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
