//! Flags of `homing train` and `homing model`.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use homing::train::MayRaise;
use homing_learner::{
    BucketBy, CapacityOf, GnnConfig, NetworkObjective, NetworkReadout, Policy, Reduce, Returns,
    Reward, TrainConfig, ValueKind,
};
use homing_planner::HeuristicKind;

use crate::args::{heuristic_parser, parse_seconds, parse_size};

/// Look into a trained model
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  homing model show blocks.safetensors")]
pub(crate) struct ModelCommand {
    #[command(subcommand)]
    pub(crate) action: ModelAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelAction {
    /// Print what a model file holds
    ///
    /// Prints the domain it was trained for, how training went, the features that weigh most in words
    /// or the heuristic that is corrected, the predicates and actions a domain must have, and the
    /// configuration as TOML.
    #[command(after_help = "Example:\n  homing model show blocks.safetensors")]
    Show {
        /// A model file that `homing train` wrote
        file: PathBuf,

        /// So many features in words, the weightiest first
        #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
        features: usize,
    },

    /// List the models that ship with homing
    ///
    /// Prints the name, the domain, the features and the length of each, with the predicates that a
    /// domain must have for it.
    #[command(after_help = "Example:\n  homing model list")]
    List,

    /// Say how much of a problem a model has seen before
    ///
    /// Looks at the initial state and at states along a random walk, and prints which share of their
    /// colours occurred in training, by round. Colours that did not weigh nothing: where these are
    /// many, the model's score says little.
    #[command(
        override_usage = "homing model trust MODEL [DOMAIN] PROBLEM",
        after_help = "Example:\n  homing model trust blocks.safetensors large.pddl"
    )]
    Trust {
        /// A model file of `homing train`, of counts
        model: PathBuf,

        /// The domain and the problem; without DOMAIN, `domain.pddl` or `domain-PROBLEM` is taken
        #[arg(required = true, num_args = 1..=2, value_name = "FILES")]
        files: Vec<PathBuf>,

        /// Print one JSON object instead of text
        #[arg(long, help_heading = "Output")]
        json: bool,
    },
}

/// Learn from small problems of a domain, to solve large ones
///
/// Walks through the small ones among the problems, learns in which order the children of a state
/// should be tried, compares a few candidates on the largest problems, and writes the best to a model
/// file for `homing solve --model`: in seconds. The same problems, settings and seed give the same
/// file. With `--learner nlm` it trains the paper's network, a correction to a classical heuristic.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing train [OPTIONS] [DOMAIN] FILES...",
    after_help = "Example:\n  homing train --out blocks.safetensors domain.pddl small/",
    after_long_help = "Examples:\n  \
                       homing train domain.pddl small/\n  \
                       homing train --budget 30 --out blocks.safetensors \\\n    \
                       domain.pddl small/\n  \
                       homing train --learner nlm --heuristic add --seeds 0..5 \\\n    \
                       --out models domain.pddl small/\n  \
                       homing train --learner nlm --preset paper \\\n    \
                       --select validation/blocks --out blocks.safetensors \\\n    \
                       domain.pddl small/\n  \
                       homing train --tabular --heuristic ff tiny.pddl\n\n\
                       A setting given as an option goes over the file of --config, and that over \
                       --budget or the preset. docs/learning.md says what counts learn.\n\n\
                       With --learner nlm, beside the model go its configuration (.toml), a log of \
                       every step (.jsonl, and a folder .events for TensorBoard) and, while it \
                       runs, a checkpoint. Ctrl-C writes a checkpoint and ends with exit code 130, \
                       and --memory-limit with 22; the same command with --resume goes on. docs/training.md says what is \
                       computed."
)]
pub(crate) struct Train {
    /// The domain, then problem files or folders of them; without DOMAIN, `domain.pddl` beside
    /// the first problem is taken
    #[arg(required_unless_present = "select", value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,

    /// Where the model goes; with --seeds a folder [default: the domain's name, .safetensors]
    #[arg(long, value_name = "MODEL", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    /// What learns
    #[arg(long, value_parser = learner_parser(), default_value_t = ValueKind::Counts, help_heading = "The run")]
    pub(crate) learner: ValueKind,

    /// nlm, gnn: write no log
    #[arg(long, help_heading = "Output")]
    pub(crate) no_log: bool,

    /// Print one JSON object a run, with all results, instead of a line of text
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// nlm, hgn, gnn: write a checkpoint every so many steps, epochs or iterations; 0: only when
    /// interrupted [default: 1000 steps, 10 epochs or iterations]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub(crate) checkpoint_every: Option<u64>,

    /// counts: about so many seconds of one core at the most, as bounds that are counted, so that
    /// runs repeat [default: 120]
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = parse_seconds,
        allow_negative_numbers = true,
        help_heading = "The run"
    )]
    pub(crate) budget: Option<f64>,

    /// Take a model that is there with these settings; nlm, hgn, gnn: go on from the checkpoint beside
    /// it
    #[arg(long, help_heading = "The run")]
    pub(crate) resume: bool,

    /// Seed of the run
    #[arg(
        long,
        default_value_t = 0,
        value_name = "N",
        conflicts_with = "seeds",
        help_heading = "The run"
    )]
    pub(crate) seed: u64,

    /// Train several seeds side by side: 0..20 is 0 to 19
    #[arg(long, value_name = "A..B", value_parser = parse_seeds, help_heading = "The run")]
    pub(crate) seeds: Option<Range<u64>>,

    /// Threads [default: all cores]
    #[arg(long, value_name = "N", help_heading = "The run")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Stop when so much memory is in use: 500M, 4G; a bare number is MiB [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true, help_heading = "The run")]
    pub(crate) memory_limit: Option<u64>,

    /// Solve the problems exactly by value iteration instead, and print the values; for small
    /// problems
    #[arg(long, help_heading = "The run")]
    pub(crate) tabular: bool,

    /// nlm, gnn: keep the snapshot that solves most of the problems of a folder, not the last one;
    /// without FOLDER, of the suite `validation`, which the eight domains of `homing generate` have
    #[arg(
        long,
        value_name = "FOLDER",
        num_args = 0..=1,
        help_heading = "Selection"
    )]
    pub(crate) select: Option<Option<PathBuf>>,

    /// nlm, gnn: steps or iterations between snapshots [default: 1000 or 15]
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub(crate) select_every: Option<u64>,

    /// nlm: evaluations of each search in the selection, at the most [default: 2000]
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub(crate) select_evaluations: Option<u64>,

    /// nlm: settings to start from
    #[arg(long, value_enum, help_heading = "Settings")]
    pub(crate) preset: Option<Preset>,

    /// A TOML file of settings, over those of the preset
    #[arg(long, value_name = "FILE", help_heading = "Settings")]
    pub(crate) config: Option<PathBuf>,

    /// nlm: the heuristic to correct; counts: a heuristic as a further feature, dearer
    #[arg(long, value_parser = heuristic_parser(), help_heading = "Settings")]
    pub(crate) heuristic: Option<HeuristicKind>,

    /// counts: how often colours take in those next to them
    #[arg(long, value_name = "N", help_heading = "Settings")]
    pub(crate) rounds: Option<usize>,

    #[command(flatten)]
    pub(crate) settings: Settings,

    #[command(flatten)]
    pub(crate) gnn: GnnSettings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// What we recommend
    Default,
    /// The program that made the paper's tables
    Reference,
    /// The paper's text
    Paper,
}

impl Preset {
    pub(crate) fn config(self) -> TrainConfig {
        match self {
            Self::Default => TrainConfig::default(),
            Self::Reference => TrainConfig::reference(),
            Self::Paper => TrainConfig::paper(),
        }
    }
}

/// Flags for the settings of PPO that one is likely to change; the others go into a file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings of --learner gnn")]
pub(crate) struct GnnSettings {
    /// Features of nodes, edges and graphs [default: 256]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Iterations: episodes, then updates [default: 1000]
    #[arg(long, value_name = "N")]
    iterations: Option<u64>,
    /// Episodes of an iteration [default: 100]
    #[arg(long, value_name = "N")]
    episodes: Option<usize>,
    /// Updates of an iteration, at the most [default: 20]
    #[arg(long, value_name = "N")]
    updates: Option<usize>,
    /// What a step is worth by the end of its episode: with an exponent that grows, as found, or the
    /// usual discount [default: growing]
    #[arg(long, value_name = "KIND", value_parser = one_of::<Returns>(&["growing", "usual"]))]
    returns: Option<Returns>,
}

impl GnnSettings {
    /// Puts the flags that were given over a configuration; the names of their fields.
    pub(crate) fn apply(&self, config: &mut GnnConfig) -> Vec<&'static str> {
        let mut given = Vec::new();
        macro_rules! put {
            ($($field:ident),+ $(,)?) => {$(
                if let Some(value) = self.$field {
                    config.$field = value;
                    given.push(stringify!($field));
                }
            )+};
        }
        put!(width, iterations, episodes, updates, returns);
        given
    }
}

/// One flag for each field of the configuration of the network's training.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings of --learner nlm")]
pub(crate) struct Settings {
    /// Environment steps, each with an SGD step
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Discount γ
    #[arg(long, value_name = "X")]
    gamma: Option<f64>,
    /// Reward: minus the cost, the same but for the step into the goal, or 1 at the goal
    #[arg(long, value_name = "KIND", value_parser = one_of::<Reward>(&["cost", "cost-but-last", "goal"]))]
    reward: Option<Reward>,
    /// Let every action cost 1
    #[arg(long, value_name = "BOOL")]
    unit_cost: Option<bool>,
    /// Layers L of the network
    #[arg(long, value_name = "N")]
    layers: Option<usize>,
    /// Largest arity M in the network
    #[arg(long, value_name = "N")]
    max_arity: Option<usize>,
    /// Features Q of each layer and arity
    #[arg(long, value_name = "N")]
    features: Option<usize>,
    /// Quantifiers of the network
    #[arg(long, value_name = "KIND", value_parser = one_of::<Reduce>(&["exists", "exists-forall"]))]
    reduce: Option<Reduce>,
    /// Leave out tuples that repeat an object
    #[arg(long, value_name = "BOOL")]
    distinct: Option<bool>,
    /// Tell the network the types of objects
    #[arg(long, value_name = "BOOL")]
    types_as_predicates: Option<bool>,
    /// Actions D of an episode, at the most
    #[arg(long, value_name = "N")]
    max_episode_length: Option<usize>,
    /// Policy while training
    #[arg(long, value_name = "KIND", value_parser = one_of::<Policy>(&["softmax", "greedy"]))]
    policy: Option<Policy>,
    /// Temperature τ of the softmax
    #[arg(long, value_name = "X")]
    temperature: Option<f64>,
    /// Step size of Adam
    #[arg(long, value_name = "X")]
    learning_rate: Option<f32>,
    /// States of an SGD step
    #[arg(long, value_name = "N")]
    batch_size: Option<usize>,
    /// SGD steps between renewals of the target network; 0: none
    #[arg(long, value_name = "N")]
    target_every: Option<u64>,
    /// States the replay memory holds
    #[arg(long, value_name = "N")]
    replay_capacity: Option<usize>,
    /// Whether that is a limit of the memory or of each bucket
    #[arg(long, value_name = "KIND", value_parser = one_of::<CapacityOf>(&["memory", "bucket"]))]
    capacity_of: Option<CapacityOf>,
    /// Which problems share a bucket: as many objects, or the same names
    #[arg(long, value_name = "KIND", value_parser = one_of::<BucketBy>(&["object-count", "object-names"]))]
    bucket_by: Option<BucketBy>,
    /// States stored before the first SGD step
    #[arg(long, value_name = "N")]
    warm_up: Option<usize>,
    /// Objective: the paper's, by walks, or the order of siblings on true distances
    #[arg(long, value_name = "KIND", value_parser = one_of::<NetworkObjective>(&["temporal-difference", "ranking"]))]
    objective: Option<NetworkObjective>,
    /// Value of the network: its nullary output, or with it the sum of its unary one over objects
    #[arg(long, value_name = "KIND", value_parser = one_of::<NetworkReadout>(&["nullary", "sum"]))]
    readout: Option<NetworkReadout>,
}

impl Settings {
    /// Which of those that depend on the domain were not given.
    pub(super) fn left_open(&self) -> MayRaise {
        MayRaise {
            max_arity: self.max_arity.is_none(),
            layers: self.layers.is_none(),
        }
    }

    /// Puts the flags that were given over a configuration; the names of their fields.
    pub(crate) fn apply(&self, config: &mut TrainConfig) -> Vec<&'static str> {
        let mut given = Vec::new();
        macro_rules! put {
            ($($field:ident),+ $(,)?) => {$(
                if let Some(value) = self.$field.clone() {
                    config.$field = value;
                    given.push(stringify!($field));
                }
            )+};
        }
        put!(
            steps,
            gamma,
            reward,
            unit_cost,
            layers,
            max_arity,
            features,
            reduce,
            distinct,
            types_as_predicates,
            max_episode_length,
            policy,
            temperature,
            learning_rate,
            batch_size,
            target_every,
            replay_capacity,
            capacity_of,
            bucket_by,
            warm_up,
            objective,
            readout,
        );
        given
    }
}

/// What another learner has in common with the paper's network.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shared {
    pub(super) log: bool,
    pub(super) checkpoints: bool,
    pub(super) selection: bool,
}

impl Train {
    /// The first option given that is of use to the paper's network only, as it is written; those
    /// aside of what the learner has too.
    pub(super) fn of_the_network(&self, has: Shared) -> Option<String> {
        let others = [
            (self.no_log && !has.log, "no_log"),
            (
                self.checkpoint_every.is_some() && !has.checkpoints,
                "checkpoint_every",
            ),
            (self.select.is_some() && !has.selection, "select"),
            (
                self.select_every.is_some() && !has.selection,
                "select_every",
            ),
            (self.select_evaluations.is_some(), "select_evaluations"),
            (self.preset.is_some(), "preset"),
        ];
        let given = others.iter().find(|(given, _)| *given).map(|(_, at)| *at);
        let setting = || {
            self.settings
                .apply(&mut TrainConfig::default())
                .first()
                .copied()
        };
        given.or_else(setting).map(written)
    }

    /// The first option given that is of use to the graph network only.
    pub(super) fn of_gnn(&self) -> Option<String> {
        let given = self.gnn.apply(&mut GnnConfig::default());
        given.first().map(|field| written(field))
    }

    /// The first option given that is of use to training by ranking only.
    pub(super) fn of_counts(&self) -> Option<&'static str> {
        let others = [
            (self.budget.is_some(), "--budget"),
            (self.rounds.is_some(), "--rounds"),
        ];
        others.iter().find(|(given, _)| *given).map(|(_, at)| *at)
    }
}

/// A field as its option is written.
fn written(field: &str) -> String {
    format!("--{}", field.replace('_', "-"))
}

fn learner_parser() -> impl TypedValueParser<Value = ValueKind> {
    let help = |kind| match kind {
        ValueKind::Counts => "Counts of what is locally true, learnt by ranking, in seconds",
        ValueKind::Nlm => "The paper's network, a correction to a heuristic, in minutes or hours",
        ValueKind::Hgn => "A hypergraph network on optimal plans, a baseline of the paper",
        ValueKind::Gnn => "A graph network with a policy, by PPO, a baseline of the paper",
    };
    let words = [
        ValueKind::Counts,
        ValueKind::Nlm,
        ValueKind::Hgn,
        ValueKind::Gnn,
    ];
    PossibleValuesParser::new(words.map(|kind| PossibleValue::new(kind.name()).help(help(kind))))
        .try_map(|word| serde_json::from_value(serde_json::Value::String(word)))
}

/// One of these words, read as the configuration file would.
fn one_of<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: serde::de::DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words)
        .try_map(|word| serde_json::from_value::<T>(serde_json::Value::String(word)))
}

fn parse_seeds(text: &str) -> Result<Range<u64>, String> {
    let parsed = text.split_once("..").and_then(|(first, end)| {
        let range = first.trim().parse().ok()?..end.trim().parse().ok()?;
        (range.start < range.end).then_some(range)
    });
    parsed.ok_or_else(|| "expected a range of seeds such as 0..20".to_owned())
}
