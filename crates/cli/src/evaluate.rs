//! `homing evaluate`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use homing::{EvaluateRecord, EvaluateRequest, SolveLimits};
use homing_lab::record::Evaluation;
use homing_planner::search::SearchOptions;
use homing_planner::{HeuristicKind, SearchKind};

use crate::args::{heuristic_parser, parse_count, parse_seconds, parse_size, search_parser};
use crate::exit::{Exit, Failure};
use crate::output::{print, say};
use crate::progress::TaskProgress;
use crate::watch::catch_interrupts;

/// Run heuristics and models on many problems and record every run
///
/// Each run is a process of its own on one core and leaves one JSON line. Killed and started again, the
/// command does only what is missing.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing evaluate [OPTIONS] --out RECORDS [DOMAIN] PROBLEMS...",
    after_help = "Example:\n  homing evaluate --heuristic ff --out runs.jsonl large/",
    after_long_help = "Examples:\n  \
                       homing evaluate --heuristic ff --model m.safetensors \\\n    \
                       --max-evaluations 100000 --out runs.jsonl large/\n\n\
                       `homing report` makes tables and figures of the records."
)]
pub(crate) struct Evaluate {
    /// The domain, then problem files or folders of them; without DOMAIN, `domain.pddl` beside
    /// the first problem is taken
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Run these heuristics; several with commas or by naming the option again
    #[arg(
        long,
        value_parser = heuristic_parser(),
        value_delimiter = ',',
        value_name = "H",
        help_heading = "What is run"
    )]
    heuristic: Vec<HeuristicKind>,

    /// Run these trained models: files, or folders of them
    #[arg(long, value_name = "FILE", help_heading = "What is run")]
    model: Vec<PathBuf>,

    /// Search with each of these
    #[arg(
        long,
        value_parser = search_parser(),
        value_delimiter = ',',
        default_value = SearchKind::default().name(),
        value_name = "S",
        help_heading = "What is run"
    )]
    search: Vec<SearchKind>,

    /// Weight of the heuristic in weighted A*
    #[arg(long, default_value_t = SearchOptions::DEFAULT_WEIGHT, value_name = "W", value_parser = crate::args::parse_weight, help_heading = "What is run")]
    weight: f64,

    /// Let every action cost 1, whatever the problem says
    #[arg(long, help_heading = "What is run")]
    unit_cost: bool,

    /// Runs at a time, each on one core [default: all cores]
    #[arg(long, value_name = "N", help_heading = "What is run")]
    jobs: Option<NonZeroUsize>,

    /// Stop a run after so many heuristic evaluations
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Limits")]
    max_evaluations: Option<u64>,

    /// Stop a run after so many seconds of wall-clock time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Limits")]
    time_limit: Option<f64>,

    /// Stop a run when it uses so much memory: 500M, 4G; without a letter, MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    memory_limit: Option<u64>,

    /// The file of records, one JSON line a run; what is in it is not run again
    #[arg(long, value_name = "RECORDS", help_heading = "Output")]
    out: PathBuf,

    /// Write the plans to this folder
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    plans: Option<PathBuf>,

    /// Write all records to this folder, too, as downward-lab's `properties`
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    lab: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Evaluate) -> anyhow::Result<Exit> {
    catch_interrupts();
    if arguments.heuristic.is_empty() && arguments.model.is_empty() {
        return Err(Failure::because(
            Exit::BadInput,
            "nothing to evaluate: name heuristics with --heuristic, models with --model, or both",
        ));
    }
    let request = EvaluateRequest {
        files: arguments.files.clone(),
        heuristics: arguments.heuristic.clone(),
        models: arguments.model.clone(),
        searches: arguments.search.clone(),
        weight: arguments.weight,
        unit_cost: arguments.unit_cost,
        limits: SolveLimits {
            max_evaluations: arguments.max_evaluations,
            max_expansions: None,
            time_limit: arguments.time_limit,
            memory_limit: arguments.memory_limit,
        },
        jobs: arguments.jobs,
        records: arguments.out.clone(),
        plans: arguments.plans.clone(),
        command: crate::command_file()?,
    };
    let progress = TaskProgress::new("runs");
    let record = homing::evaluate(&request, &progress);
    progress.finish();
    let record = record?;
    if let Some(folder) = &arguments.lab {
        homing::write_properties(&arguments.out, folder)?;
    }
    summarise(arguments, &record)
}

/// What runs that share a line of the summary have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Line<'a> {
    configuration: String,
    search: &'a str,
    seed: Option<u64>,
}

/// A line for each configuration that was run now, and what is missing.
fn summarise(arguments: &Evaluate, record: &EvaluateRecord) -> anyhow::Result<Exit> {
    let EvaluateRecord { before, made, .. } = record;
    let mut lines: BTreeMap<Line<'_>, Vec<&Evaluation>> = BTreeMap::new();
    for record in made {
        let line = Line {
            configuration: record.configuration(),
            search: &record.search,
            seed: record.model.as_ref().map(|model| model.seed),
        };
        lines.entry(line).or_default().push(record);
    }
    let mut text = String::new();
    for (line, records) in lines {
        let solved = records.iter().filter(|record| record.solved()).count();
        let seed = line
            .seed
            .map_or_else(String::new, |seed| format!(", seed {seed}"));
        text.push_str(&format!(
            "{} with {}{seed}: {solved} of {} solved\n",
            line.search,
            line.configuration,
            records.len()
        ));
    }
    text.push_str(&format!(
        "{}: {} runs made, {before} were there\n",
        arguments.out.display(),
        made.len()
    ));
    print(&text)?;
    for record in made.iter().filter(|record| record.error.is_some()) {
        say(&format!(
            "homing: {} with {} failed: {}\n",
            record.problem,
            record.configuration(),
            record.error.as_deref().unwrap_or_default()
        ));
    }
    if record.missing() > 0 {
        say(&format!(
            "homing: stopped with {} runs missing; the same command goes on\n",
            record.missing()
        ));
        return Ok(Exit::Interrupted);
    }
    if made.iter().any(|record| record.error.is_some()) {
        return Ok(Exit::SomeFailed);
    }
    Ok(Exit::Success)
}
