//! What can be set about training. Every choice is a field; the presets name the paper's text, the
//! program that made the paper's tables, and what we recommend.

use std::fmt;

use homing_nlm::{ConfigErrors, Nlm, NlmConfig, Quantifiers, Readout};
use homing_planner::HeuristicKind;
use serde::{Deserialize, Serialize};

use crate::encode::Channels;
use crate::signature::Signature;

/// More layers than any network here has use for: a larger number is a slip.
const MAX_LAYERS: usize = 100;

/// What a step is rewarded with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reward {
    /// Minus its cost, also into the goal (the paper's text).
    Cost,
    /// Minus its cost, but nothing for the step into the goal (the paper's program).
    CostButLast,
    /// 1 for the step into the goal, else 0.
    Goal,
}

/// How an action is chosen while training.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Sampled from softmax(Q / temperature).
    Softmax,
    /// The first one of largest Q.
    Greedy,
}

/// Which states share a bucket of the replay memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BucketBy {
    /// Those of problems with as many objects.
    ObjectCount,
    /// Those of problems with the same names of objects.
    ObjectNames,
}

/// What the capacity of the replay memory is a limit of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityOf {
    /// All buckets together.
    Memory,
    /// Each bucket.
    Bucket,
}

/// What the network's `reduce` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// Maximum (∃).
    Exists,
    /// Maximum and minimum (∃, ∀).
    ExistsForall,
}

/// What the network is asked for, and from which data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkObjective {
    /// The paper's: values that agree with those one step later, along walks of its own
    /// ([`Trainer`](crate::Trainer)).
    #[default]
    TemporalDifference,
    /// The order of siblings, on true distances ([`RankingTrainer`](crate::RankingTrainer)).
    Ranking,
}

impl NetworkObjective {
    /// Files of the paper's learning do not name it: they stay as they were.
    fn is_papers(&self) -> bool {
        *self == Self::TemporalDifference
    }
}

/// What the network's value is read off, in its last layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkReadout {
    /// The nullary output (the paper's).
    #[default]
    Nullary,
    /// That, and the sum over all objects of the unary output: a value that can grow with the
    /// problem.
    Sum,
}

impl NetworkReadout {
    /// Files of the paper's network do not name it: they stay as they were.
    fn is_papers(&self) -> bool {
        *self == Self::Nullary
    }
}

/// The settings of a training run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// The heuristic that is corrected.
    pub heuristic: HeuristicKind,
    /// Whether every action costs 1, whatever the problem says.
    pub unit_cost: bool,
    /// Environment steps; one SGD step follows each, once there is enough to learn from.
    pub steps: u64,
    /// γ
    pub gamma: f64,
    /// What a step is rewarded with.
    pub reward: Reward,
    /// L: layers of the network.
    pub layers: usize,
    /// M: largest arity in the network.
    pub max_arity: usize,
    /// Q: features of each layer and arity.
    pub features: usize,
    /// What `reduce` computes.
    pub reduce: Reduce,
    /// Whether `reduce` leaves out tuples that repeat an object.
    pub distinct: bool,
    /// Whether the network is told the types of objects.
    pub types_as_predicates: bool,
    /// Whether what goals forbid has channels of its own. A run turns this on by itself where the goal
    /// of one of its problems forbids something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub negative_goals: bool,
    /// D: actions of an episode at the most.
    pub max_episode_length: usize,
    /// How an action is chosen.
    pub policy: Policy,
    /// τ
    pub temperature: f64,
    /// Step size of Adam.
    pub learning_rate: f32,
    /// States of an SGD step.
    pub batch_size: usize,
    /// The target network is renewed every so many SGD steps; 0: there is none.
    pub target_every: u64,
    /// States that the replay memory holds.
    pub replay_capacity: usize,
    /// What that is a limit of.
    pub capacity_of: CapacityOf,
    /// Which states share a bucket.
    pub bucket_by: BucketBy,
    /// States stored before the first SGD step.
    pub warm_up: usize,
    /// What the network is asked for.
    #[serde(skip_serializing_if = "NetworkObjective::is_papers")]
    pub objective: NetworkObjective,
    /// What the network's value is.
    #[serde(skip_serializing_if = "NetworkReadout::is_papers")]
    pub readout: NetworkReadout,
}

impl TrainConfig {
    /// The paper's text.
    pub fn paper() -> Self {
        Self {
            heuristic: HeuristicKind::Ff,
            unit_cost: true,
            steps: 50_000,
            gamma: 0.999_999,
            reward: Reward::Cost,
            layers: 6,
            max_arity: 3,
            features: 8,
            reduce: Reduce::Exists,
            distinct: false,
            types_as_predicates: false,
            negative_goals: false,
            max_episode_length: 40,
            policy: Policy::Greedy,
            temperature: 1.0,
            learning_rate: 1e-3,
            batch_size: 25,
            target_every: 0,
            replay_capacity: 6_000,
            capacity_of: CapacityOf::Memory,
            bucket_by: BucketBy::ObjectCount,
            warm_up: 100,
            objective: NetworkObjective::TemporalDifference,
            readout: NetworkReadout::Nullary,
        }
    }

    /// The settings of the program that made the paper's tables.
    pub fn reference() -> Self {
        Self {
            steps: 10_000,
            gamma: 0.999,
            reward: Reward::CostButLast,
            layers: 5,
            reduce: Reduce::ExistsForall,
            distinct: true,
            policy: Policy::Softmax,
            target_every: 400,
            capacity_of: CapacityOf::Bucket,
            bucket_by: BucketBy::ObjectNames,
            ..Self::paper()
        }
    }

    /// A preset by its name.
    pub fn preset(name: &str) -> Option<Self> {
        match name {
            "paper" => Some(Self::paper()),
            "reference" => Some(Self::reference()),
            "default" => Some(Self::default()),
            _ => None,
        }
    }

    /// Raises what is allowed to be raised to the least with which the network can read a domain:
    /// M to its widest predicate, then L to M + 1. Returns the fields that were raised.
    pub fn raise_to_fit(
        &mut self,
        signature: &Signature,
        max_arity_may: bool,
        layers_may: bool,
    ) -> Vec<&'static str> {
        let mut raised = Vec::new();
        let channels = Channels::new(signature, self.types_as_predicates, self.negative_goals);
        let widest = channels.count().len() - 1;
        if max_arity_may && self.max_arity < widest {
            self.max_arity = widest;
            raised.push("max_arity");
        }
        if layers_may && self.layers < self.max_arity + 1 {
            self.layers = self.max_arity + 1;
            raised.push("layers");
        }
        raised
    }

    fn network(&self, input_channels: Vec<usize>) -> NlmConfig {
        NlmConfig {
            input_channels,
            max_arity: self.max_arity,
            layers: self.layers,
            features: self.features,
            quantifiers: match self.reduce {
                Reduce::Exists => Quantifiers::Exists,
                Reduce::ExistsForall => Quantifiers::ExistsForall,
            },
            distinct: self.distinct,
            skip_connections: true,
            readout: match self.readout {
                NetworkReadout::Nullary => Readout::Nullary,
                NetworkReadout::Sum => Readout::Sum,
            },
        }
    }

    /// Everything that is wrong with the numbers, network aside.
    fn problems(&self) -> Vec<ConfigProblem> {
        let positive = |number: f64| number > 0.0 && number.is_finite();
        let wrong = [
            (
                !(self.gamma > 0.0 && self.gamma < 1.0),
                "gamma",
                "lie between 0 and 1, both excluded",
            ),
            (!positive(self.temperature), "temperature", "be positive"),
            (
                !positive(self.learning_rate.into()),
                "learning_rate",
                "be positive",
            ),
            (self.batch_size == 0, "batch_size", "be at least 1"),
            (
                self.max_episode_length == 0,
                "max_episode_length",
                "be at least 1",
            ),
            (
                self.replay_capacity < self.batch_size,
                "replay_capacity",
                "be at least the batch size",
            ),
            // Or the memory might never hold enough for the first SGD step.
            (
                self.replay_capacity < self.warm_up,
                "replay_capacity",
                "be at least the warm-up",
            ),
            (self.layers > MAX_LAYERS, "layers", "be at most 100"),
        ];
        wrong
            .into_iter()
            .filter(|(is_wrong, ..)| *is_wrong)
            .map(|(_, field, must)| ConfigProblem::Field { field, must })
            .collect()
    }

    /// The network for a domain with these input channels, by arity.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the configuration.
    pub(crate) fn check(&self, input_channels: Vec<usize>) -> Result<Nlm, ConfigProblems> {
        let mut problems = self.problems();
        // So many layers would take all memory before anything else could be said.
        if self.layers > MAX_LAYERS {
            return Err(ConfigProblems(problems));
        }
        match Nlm::new(self.network(input_channels)) {
            Ok(network) if problems.is_empty() => Ok(network),
            Ok(_) => Err(ConfigProblems(problems)),
            Err(errors) => {
                problems.push(ConfigProblem::Network(errors));
                Err(ConfigProblems(problems))
            }
        }
    }
}

/// Starts equal to `reference`; a field moves only where measurement over the eight domains shows
/// a gain.
impl Default for TrainConfig {
    fn default() -> Self {
        Self::reference()
    }
}

/// Everything that is wrong with a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigProblems(pub Vec<ConfigProblem>);

impl fmt::Display for ConfigProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigProblems {}

/// One thing that is wrong with a configuration.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigProblem {
    /// A number is out of range.
    Field {
        /// The field.
        field: &'static str,
        /// What it must do.
        must: &'static str,
    },
    /// The network cannot be built.
    Network(ConfigErrors),
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field { field, must } => write!(f, "`{field}` must {must}"),
            Self::Network(errors) => write!(f, "{errors}"),
        }
    }
}

impl std::error::Error for ConfigProblem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_wrong_is_told() {
        let config = TrainConfig {
            gamma: 1.5,
            batch_size: 0,
            layers: 1,
            ..TrainConfig::default()
        };
        let problems = config.check(vec![0, 1, 1]).expect_err("three mistakes");
        assert_eq!(
            problems.to_string(),
            "`gamma` must lie between 0 and 1, both excluded; `batch_size` must be at least 1; \
             1 layers cannot come down from arity 3 to 0: layers must be at least max_arity + 1 = 4"
        );
    }
}
