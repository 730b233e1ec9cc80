//! Flags of `homing train` and `homing model`.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use homing_learner::{BaseHeuristic, BucketBy, CapacityOf, Policy, Reduce, Reward, TrainConfig};

use crate::args::HeuristicName;

#[derive(Debug, Args)]
pub(crate) struct ModelCommand {
    #[command(subcommand)]
    pub(crate) action: ModelAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelAction {
    /// Print what a model file holds
    Show {
        /// The model
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
#[command(
    override_usage = "homing train [OPTIONS] --out MODEL [DOMAIN] PROBLEMS...",
    after_help = "Example:\n  homing train --heuristic ff --out blocks.safetensors domains/blocks/domain.pddl problems/\n\n\
                  Beside the model go its configuration (.toml), a log of every step (.jsonl and a \
                  TensorBoard event file) and a checkpoint to --resume from."
)]
pub(crate) struct Train {
    /// The domain, then problem files or folders of them; without DOMAIN, `domain.pddl` beside
    /// the first problem is taken
    #[arg(required_unless_present = "select", value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,

    /// Where the model goes; with --seeds a folder
    #[arg(long, value_name = "MODEL", required_unless_present = "tabular")]
    pub(crate) out: Option<PathBuf>,

    /// The heuristic to correct
    #[arg(long, value_enum)]
    pub(crate) heuristic: Option<HeuristicName>,

    /// Settings to start from
    #[arg(long, value_enum, default_value_t = Preset::Default)]
    pub(crate) preset: Preset,

    /// A TOML file of settings, over those of the preset
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Seed of the run
    #[arg(long, default_value_t = 0, value_name = "N", conflicts_with = "seeds")]
    pub(crate) seed: u64,

    /// Train several seeds side by side: 0..20
    #[arg(long, value_name = "A..B", value_parser = parse_seeds)]
    pub(crate) seeds: Option<Range<u64>>,

    /// Threads; all cores by default
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Go on from the checkpoint beside the model
    #[arg(long)]
    pub(crate) resume: bool,

    /// Write a checkpoint every so many steps; 0: only when interrupted
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    pub(crate) checkpoint_every: u64,

    /// Write no log
    #[arg(long)]
    pub(crate) no_log: bool,

    /// Keep the snapshot that solves most of the problems of a folder, not the last one; without
    /// FOLDER, of the suite `validation`, which the eight domains of `homing generate` have
    #[arg(
        long,
        value_name = "FOLDER",
        num_args = 0..=1,
        help_heading = "Selection"
    )]
    pub(crate) select: Option<Option<PathBuf>>,

    /// Steps between snapshots
    #[arg(
        long,
        default_value_t = 1_000,
        value_name = "N",
        help_heading = "Selection"
    )]
    pub(crate) select_every: u64,

    /// Evaluations of each search in the selection
    #[arg(
        long,
        default_value_t = 2_000,
        value_name = "N",
        help_heading = "Selection"
    )]
    pub(crate) select_evaluations: u64,

    /// Solve the problems exactly by value iteration and print the values; for small problems
    #[arg(long)]
    pub(crate) tabular: bool,

    #[command(flatten)]
    pub(crate) settings: Settings,
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

/// One flag for each field of the configuration.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings (over preset and file)")]
pub(crate) struct Settings {
    /// Environment and SGD steps
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Discount γ
    #[arg(long, value_name = "X")]
    gamma: Option<f64>,
    /// Reward: cost, cost-but-last or goal
    #[arg(long, value_name = "KIND", value_parser = parse_word::<Reward>)]
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
    /// Quantifiers: exists or exists-forall
    #[arg(long, value_name = "KIND", value_parser = parse_word::<Reduce>)]
    reduce: Option<Reduce>,
    /// Leave out tuples that repeat an object
    #[arg(long, value_name = "BOOL")]
    distinct: Option<bool>,
    /// Tell the network the types of objects
    #[arg(long, value_name = "BOOL")]
    types_as_predicates: Option<bool>,
    /// Actions D of an episode at the most
    #[arg(long, value_name = "N")]
    max_episode_length: Option<usize>,
    /// Policy while training: softmax or greedy
    #[arg(long, value_name = "KIND", value_parser = parse_word::<Policy>)]
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
    /// Limit of the memory or of each bucket
    #[arg(long, value_name = "KIND", value_parser = parse_word::<CapacityOf>)]
    capacity_of: Option<CapacityOf>,
    /// Buckets by object-count or object-names
    #[arg(long, value_name = "KIND", value_parser = parse_word::<BucketBy>)]
    bucket_by: Option<BucketBy>,
    /// States stored before the first SGD step
    #[arg(long, value_name = "N")]
    warm_up: Option<usize>,
}

impl Settings {
    /// Which of those that depend on the domain were given.
    pub(super) fn given(&self) -> super::Given {
        super::Given {
            max_arity: self.max_arity.is_some(),
            layers: self.layers.is_some(),
        }
    }

    /// Puts the flags that were given over a configuration.
    pub(crate) fn apply(&self, config: &mut TrainConfig) {
        macro_rules! put {
            ($($field:ident),+ $(,)?) => {$(
                if let Some(value) = self.$field.clone() {
                    config.$field = value;
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
        );
    }
}

/// The base heuristic that a name on the command line means.
pub(crate) fn base(name: HeuristicName) -> BaseHeuristic {
    match name {
        HeuristicName::Blind => BaseHeuristic::Blind,
        HeuristicName::Max => BaseHeuristic::Max,
        HeuristicName::Add => BaseHeuristic::Add,
        HeuristicName::Ff => BaseHeuristic::Ff,
    }
}

/// Reads a word as the configuration file would.
fn parse_word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
        .map_err(|error| error.to_string())
}

fn parse_seeds(text: &str) -> Result<Range<u64>, String> {
    let parsed = text.split_once("..").and_then(|(first, end)| {
        let range = first.trim().parse().ok()?..end.trim().parse().ok()?;
        (range.start < range.end).then_some(range)
    });
    parsed.ok_or_else(|| "expected a range of seeds such as 0..20".to_owned())
}
