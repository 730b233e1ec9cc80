//! Flags and arguments.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use homing::{LazyConfig, LearnWhen};
use homing_learner::Simd;
use homing_planner::search::{SearchOptions, Walk};
use homing_planner::{HeuristicKind, SearchKind};

use crate::exit::{Exit, Failure};
pub(crate) use crate::train::args::{ModelCommand, Train};

/// A planner that learns
///
/// homing finds plans for classical planning problems in PDDL. From small problems of a domain it
/// learns, by reinforcement learning, a correction to a classical heuristic, and uses it on larger
/// problems of the same domain.
#[derive(Debug, Parser)]
#[command(
    name = "homing",
    version,
    max_term_width = 100,
    after_help = "Example:\n  homing solve domain.pddl problem.pddl\n\n\
                  `homing COMMAND --help` explains a command; `homing man` prints manual pages.",
    after_long_help = "Examples:\n  \
                       homing check domain.pddl problem.pddl\n  \
                       homing solve domain.pddl problem.pddl\n  \
                       homing train --out m.safetensors domain.pddl small/\n  \
                       homing solve --model m.safetensors domain.pddl big.pddl\n\n\
                       `homing COMMAND --help` explains a command, `homing COMMAND -h` in brief; \
                       `homing man` prints manual pages, `homing completions` what a shell needs \
                       to complete commands.\n\n\
                       Exit codes (the blocks are Fast Downward's):\n    \
                       0  done: solved, valid, nothing wrong, written\n    \
                       1  the plan is invalid (validate)\n    \
                       2  some tasks failed (evaluate, experiment)\n   \
                       11  there is no plan\n   \
                       12  limit on evaluations or expansions reached\n   \
                       22  memory limit reached\n   \
                       23  time limit reached\n   \
                       31  bad PDDL\n   \
                       32  a bug in homing\n   \
                       33  bad arguments, or files that cannot be used\n   \
                       34  PDDL that homing does not support\n  \
                       130  interrupted"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Quickstart(crate::quickstart::Quickstart),
    Solve(Solve),
    Validate(Validate),
    Check(Check),
    Train(Box<Train>),
    Model(ModelCommand),
    Generate(crate::generate::Generate),
    Suite(crate::suite::Suite),
    Cut(crate::cut::Cut),
    Evaluate(crate::evaluate::Evaluate),
    Experiment(crate::experiment::Experiment),
    Report(crate::report::Report),
    Serve(crate::serve::Serve),
    View(crate::view::View),
    Lsp(crate::lsp::Lsp),
    Work(crate::work::Work),
    Completions(crate::manual::Completions),
    Man(crate::manual::Man),
}

/// Find a plan for a problem
///
/// Searches for a plan, replays it from the actions of the domain, and prints it with statistics.
/// Without a limit the search goes on until there is a plan, or none is possible.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing solve [OPTIONS] [DOMAIN] PROBLEM",
    after_help = "Example:\n  homing solve --heuristic add domain.pddl problem.pddl",
    after_long_help = "Examples:\n  \
                       homing solve problem.pddl\n  \
                       homing solve --heuristic add --plan-file plan.txt \\\n    \
                       domain.pddl problem.pddl\n  \
                       homing solve --model blocks.safetensors \\\n    \
                       --max-evaluations 100000 large.pddl\n  \
                       homing solve --anytime --time-limit 60 --plan-file plan \\\n    \
                       problem.pddl\n  \
                       homing solve --search astar --heuristic max \\\n    \
                       --time-limit 60 --memory-limit 4G problem.pddl\n\n\
                       An evaluation is one call of the heuristic on one state. The plan, the \
                       summary and the fields of --json are described in docs/formats.md. Exit \
                       codes: 0 solved, 11 unsolvable, 12 limit on evaluations or expansions, 22 \
                       memory, 23 time; `homing --help` lists all."
)]
pub(crate) struct Solve {
    /// The domain and the problem; without DOMAIN, `domain.pddl` or `domain-PROBLEM` is taken
    #[arg(required = true, num_args = 1..=2, value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,

    /// Order in which states are expanded
    #[arg(long, value_parser = search_parser(), default_value_t = SearchKind::Lazy, help_heading = "Search")]
    pub(crate) search: SearchKind,

    /// Estimate of the cost to the goal
    #[arg(long, value_parser = heuristic_parser(), default_value_t, help_heading = "Search")]
    pub(crate) heuristic: HeuristicKind,

    /// Use a model of `homing train`; auto: the one that ships for this domain
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "heuristic",
        help_heading = "Search"
    )]
    pub(crate) model: Option<PathBuf>,

    /// Threads that evaluate the model [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,

    /// Weight of the heuristic in weighted A*
    #[arg(
        long,
        default_value_t = SearchOptions::DEFAULT_WEIGHT,
        value_name = "W",
        value_parser = parse_weight,
        allow_negative_numbers = true,
        help_heading = "Search"
    )]
    pub(crate) weight: f64,

    /// How walks go [gbfls-h, gbfls-v]
    #[arg(long, value_parser = walk_parser(), default_value = "sample", value_name = "HOW", help_heading = "Search")]
    pub(crate) walk: Walk,

    /// When to learn from small problems cut out of this one, without a model [lazy search]
    #[arg(long, value_parser = learn_parser(), default_value = "auto", value_name = "WHEN", help_heading = "Lazy search")]
    pub(crate) learn: LearnWhen,

    /// A TOML file that says how to learn from this problem, for experiments [docs/cutting.md]
    #[arg(long, value_name = "FILE", help_heading = "Lazy search")]
    pub(crate) learn_config: Option<PathBuf>,

    /// Seed of what is drawn [lazy search, walks]
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = "Search")]
    pub(crate) seed: u64,

    /// Do not count landmarks
    #[arg(long, help_heading = "Lazy search")]
    pub(crate) no_landmarks: bool,

    /// Do not prefer the actions of relaxed plans
    #[arg(long, help_heading = "Lazy search")]
    pub(crate) no_preferred: bool,

    /// Take every step, also those that differ only in objects that nothing tells apart
    #[arg(long, help_heading = "Lazy search")]
    pub(crate) no_interchange: bool,

    /// Keep actions that no plan can have
    #[arg(long, help_heading = "Lazy search")]
    pub(crate) keep_doomed: bool,

    /// Add a queue that draws states by type, a way off plateaus
    #[arg(long, help_heading = "Lazy search")]
    pub(crate) by_type: bool,

    /// Turns ahead that preferred actions get when an estimate is the best yet
    #[arg(long, default_value_t = LazyConfig::default().boost, value_name = "N", help_heading = "Lazy search")]
    pub(crate) boost: i64,

    /// The part of the work that goes by the learned score, 0 to 1
    #[arg(long, default_value_t = LazyConfig::default().share, value_name = "PART", value_parser = parse_share, allow_negative_numbers = true, help_heading = "Lazy search")]
    pub(crate) share: f64,

    /// The part of the work that looks for what is new, 0 to 1, when there is no plan soon
    #[arg(long, default_value_t = LazyConfig::default().novelty, value_name = "PART", value_parser = parse_share, allow_negative_numbers = true, help_heading = "Lazy search")]
    pub(crate) novelty: f64,

    /// The part of the work that reaches one goal after another, 0 to 1, when there is no plan at once
    #[arg(long, default_value_t = LazyConfig::default().serial, value_name = "PART", value_parser = parse_share, allow_negative_numbers = true, help_heading = "Lazy search")]
    pub(crate) serial: f64,

    /// The part of the work that goes down by the learned score, 0 to 1, as long as it gets on
    #[arg(long, default_value_t = LazyConfig::default().descent, value_name = "PART", value_parser = parse_share, allow_negative_numbers = true, help_heading = "Lazy search")]
    pub(crate) descent: f64,

    /// Make a plan shorter before it is shown, for a tenth of the work of the search at the most
    #[arg(long, action = clap::ArgAction::Set, value_parser = yes_or_no_parser(), default_value = "yes", value_name = "yes|no", hide_possible_values = true, help_heading = "Plans")]
    pub(crate) improve: bool,

    /// Go on after the first plan: look for better ones until a limit, Ctrl-C, or the optimum;
    /// --plan-file NAME then writes each at once, to NAME.1, NAME.2, ...
    #[arg(long, help_heading = "Plans")]
    pub(crate) anytime: bool,

    /// Let every action cost 1, whatever the problem says
    #[arg(long, help_heading = "Search")]
    pub(crate) unit_cost: bool,

    /// Stop after so many heuristic evaluations [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true, help_heading = "Limits")]
    pub(crate) max_evaluations: Option<u64>,

    /// Stop after so many expansions [default: no limit]
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true, help_heading = "Limits")]
    pub(crate) max_expansions: Option<u64>,

    /// Stop after so many seconds of wall-clock time [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true, help_heading = "Limits")]
    pub(crate) time_limit: Option<f64>,

    /// Stop when so much memory is in use: 500M, 4G; a bare number is MiB [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true, help_heading = "Limits")]
    pub(crate) memory_limit: Option<u64>,

    /// Write the plan to this file instead of standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) plan_file: Option<PathBuf>,

    /// Print one JSON object with all results instead of text
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Post the states of the search to a search debugger, such as that of VS Code
    #[arg(long, value_name = "URL", value_parser = parse_debugger, help_heading = "Output")]
    pub(crate) search_tree_dump: Option<u16>,

    /// Say more about what is being done, on standard error
    #[arg(short, long, help_heading = "Output")]
    pub(crate) verbose: bool,
}

/// Check a plan step by step against a problem
///
/// Replays the plan from the actions of the domain, whatever planner made it. Prints `Plan valid`
/// and the cost, or `Plan invalid` and the first step or goal that fails.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing validate [DOMAIN] PROBLEM PLAN",
    after_help = "Example:\n  homing validate domain.pddl problem.pddl plan.txt",
    after_long_help = "Example:\n  homing validate domain.pddl problem.pddl plan.txt\n\n\
                       A plan has one action a line, `(name argument ...)`; docs/formats.md says \
                       what else is read. Exit codes: 0 valid, 1 invalid, 33 no plan file."
)]
pub(crate) struct Validate {
    /// The domain, the problem and the plan; without DOMAIN, `domain.pddl` or `domain-PROBLEM`
    #[arg(required = true, num_args = 1..=3, value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
}

/// Check PDDL files and show what was understood
///
/// Shows every mistake in the files at once, each with its place and its reason, and otherwise what
/// the files hold and what grounding makes of them.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing check DOMAIN [PROBLEM]",
    after_help = "Example:\n  homing check domain.pddl problem.pddl",
    after_long_help = "Examples:\n  \
                       homing check domain.pddl\n  \
                       homing check domain.pddl problem.pddl\n\n\
                       What homing reads of PDDL is in docs/pddl-support.md. Exit codes: 0 nothing \
                       wrong, or warnings only; 31 bad PDDL; 34 PDDL that is not supported."
)]
pub(crate) struct Check {
    /// The domain, and a problem of it; without it, `domain.pddl` or `domain-PROBLEM` is taken
    #[arg(required = true, num_args = 1..=2, value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
}

/// One of the planner's heuristics, by its name.
pub(crate) fn heuristic_parser() -> impl TypedValueParser<Value = HeuristicKind> {
    let of = |kind: HeuristicKind| PossibleValue::new(kind.name()).help(kind.description());
    PossibleValuesParser::new(HeuristicKind::ALL.map(of))
        .try_map(|name| name.parse::<HeuristicKind>())
}

/// One of the planner's searches, by its name.
pub(crate) fn search_parser() -> impl TypedValueParser<Value = SearchKind> {
    let of = |kind: SearchKind| PossibleValue::new(kind.name()).help(kind.description());
    PossibleValuesParser::new(SearchKind::ALL.map(of)).try_map(|name| name.parse::<SearchKind>())
}

/// How walks go, by its name.
fn walk_parser() -> impl TypedValueParser<Value = Walk> {
    let of = |walk: Walk| PossibleValue::new(walk.name()).help(walk.description());
    PossibleValuesParser::new(Walk::ALL.map(of)).map(|name| {
        let mut all = Walk::ALL.into_iter();
        all.find(|walk| walk.name() == name)
            .expect("one of the names")
    })
}

/// When to learn, by its name.
fn learn_parser() -> impl TypedValueParser<Value = LearnWhen> {
    let of = |when: LearnWhen| PossibleValue::new(when.name()).help(when.description());
    PossibleValuesParser::new(LearnWhen::ALL.map(of)).map(|name| {
        let mut all = LearnWhen::ALL.into_iter();
        all.find(|when| when.name() == name)
            .expect("one of the names")
    })
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a part is a number from 0 to 1".to_owned()),
    }
}

/// The vector instructions that the variable `HOMING_SIMD` asks for.
pub(crate) fn simd_from_environment() -> anyhow::Result<Option<Simd>> {
    let Some(name) = std::env::var_os("HOMING_SIMD") else {
        return Ok(None);
    };
    let simd = Simd::named(&name.to_string_lossy());
    let wrong = |error| Failure::because(Exit::BadInput, format!("HOMING_SIMD: {error}"));
    Ok(Some(simd.map_err(wrong)?))
}

/// `yes` or `no`.
pub(crate) fn yes_or_no_parser() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["yes", "no"]).map(|answer| answer == "yes")
}

fn parse_debugger(text: &str) -> Result<u16, String> {
    homing_serve::port_of(text).map_err(|error| error.to_string())
}

pub(crate) fn parse_weight(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(weight) if weight.is_finite() && weight >= 0.0 => Ok(weight),
        _ => Err("a weight is a number that is not negative".to_owned()),
    }
}

pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| "expected a whole number".to_owned())
}

pub(crate) fn parse_positive(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("expected a whole number from 1".to_owned()),
    }
}

pub(crate) fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('s').parse::<f64>() {
        Ok(seconds) if seconds.is_finite() && seconds >= 0.0 => Ok(seconds),
        _ => Err("expected a number of seconds".to_owned()),
    }
}

pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "k" | "kb" | "kib" => 1 << 10,
        "" | "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        _ => return Err("expected a size such as 500M or 4G".to_owned()),
    };
    match digits.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok((number * unit as f64) as u64),
        _ => Err("expected a size such as 500M or 4G".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("512"), Ok(512 << 20));
        assert_eq!(parse_size("1.5g"), Ok(3 << 29));
        assert_eq!(parse_size("64KiB"), Ok(64 << 10));
        assert!(parse_size("lots").is_err());
        assert!(parse_size("-3M").is_err());
    }
}
