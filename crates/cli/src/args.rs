//! Flags and arguments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use crate::train::args::{ModelCommand, Train};

/// A planner that learns: classical planning with heuristics, and heuristics made better by
/// reinforcement learning.
#[derive(Debug, Parser)]
#[command(
    name = "homing",
    version,
    about = "A planner that learns",
    max_term_width = 100,
    after_help = "Exit codes follow Fast Downward: 0 solved, 11 unsolvable, 12 limit reached, \
                  22/23 memory/time limit reached, 31 bad PDDL, 32 a bug in homing, 33 bad \
                  arguments or files, 34 not supported."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find a plan for a problem
    Solve(Solve),
    /// Check a plan step by step against a problem
    Validate(Validate),
    /// Check PDDL files and show what was understood
    Check(Check),
    /// Learn a heuristic for a domain from small problems
    Train(Box<Train>),
    /// Look into a trained model
    Model(ModelCommand),
    /// Draw random problems of the paper's eight domains
    Generate(crate::generate::Generate),
    /// Check a folder of problems and write its manifest
    Suite(crate::suite::Suite),
    /// Run heuristics and models on many problems and record every run
    Evaluate(crate::evaluate::Evaluate),
    /// Generate, train, select, evaluate and report as a file says
    Experiment(crate::experiment::Experiment),
    /// Make a page, CSV and LaTeX of the records of an experiment
    Report(crate::report::Report),
}

#[derive(Debug, Args)]
#[command(
    override_usage = "homing solve [OPTIONS] [DOMAIN] PROBLEM",
    after_help = "Example:\n  homing solve --heuristic add --plan-file plan.txt domain.pddl problem.pddl"
)]
pub(crate) struct Solve {
    /// The domain and the problem; without DOMAIN, `domain.pddl` beside the problem is taken
    #[arg(required = true, num_args = 1..=2, value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,

    /// Estimate of the cost to the goal
    #[arg(long, value_enum, default_value_t = HeuristicName::Ff)]
    pub(crate) heuristic: HeuristicName,

    /// Use a trained model as the heuristic
    #[arg(long, value_name = "FILE", conflicts_with = "heuristic")]
    pub(crate) model: Option<PathBuf>,

    /// Threads that evaluate the model; all cores by default
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,

    /// Order in which states are expanded
    #[arg(long, value_enum, default_value_t = SearchName::Gbfs)]
    pub(crate) search: SearchName,

    /// Weight of the heuristic in weighted A*
    #[arg(long, default_value_t = 2.0, value_name = "W", value_parser = parse_weight, allow_negative_numbers = true)]
    pub(crate) weight: f64,

    /// Let every action cost 1, whatever the problem says
    #[arg(long)]
    pub(crate) unit_cost: bool,

    /// Stop after so many heuristic evaluations
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true, help_heading = "Limits")]
    pub(crate) max_evaluations: Option<u64>,

    /// Stop after so many expansions
    #[arg(long, value_name = "N", value_parser = parse_count, allow_negative_numbers = true, help_heading = "Limits")]
    pub(crate) max_expansions: Option<u64>,

    /// Stop after so many seconds of wall-clock time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true, help_heading = "Limits")]
    pub(crate) time_limit: Option<f64>,

    /// Stop when so much memory is in use: 500M, 4G; without a letter, MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size, allow_negative_numbers = true, help_heading = "Limits")]
    pub(crate) memory_limit: Option<u64>,

    /// Write the plan to this file instead of standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) plan_file: Option<PathBuf>,

    /// Print one JSON object with all results instead of text
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,

    /// Say more about what is being done
    #[arg(short, long, help_heading = "Output")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "homing validate [DOMAIN] PROBLEM PLAN",
    after_help = "Example:\n  homing validate domain.pddl problem.pddl plan.txt"
)]
pub(crate) struct Validate {
    /// The domain, the problem and the plan; without DOMAIN, `domain.pddl` beside the problem
    #[arg(required = true, num_args = 1..=3, value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "homing check DOMAIN [PROBLEM]",
    after_help = "Example:\n  homing check domain.pddl problem.pddl"
)]
pub(crate) struct Check {
    /// The domain, and a problem of it; a problem alone is checked with `domain.pddl` beside it
    #[arg(required = true, num_args = 1..=2, value_name = "FILES")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HeuristicName {
    /// 1 everywhere but at a goal
    Blind,
    /// The most expensive goal of the delete relaxation (admissible)
    Max,
    /// The sum over the goals of the delete relaxation
    Add,
    /// The cost of a relaxed plan
    Ff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchName {
    /// Greedy best first search
    Gbfs,
    /// Greedy best first search with lookahead
    Gbfls,
    /// A*
    Astar,
    /// Weighted A*
    Wastar,
    /// Dijkstra's algorithm (uses no heuristic)
    Dijkstra,
}

/// The name users type for a value.
pub(crate) fn typed_name(value: &impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned())
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

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
