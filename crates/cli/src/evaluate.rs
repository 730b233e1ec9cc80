//! `homing evaluate`.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::Args;
use homing_lab::DomainName;
use homing_lab::record::{self, Appender, Evaluation, ModelOfRun, Outcome, RecordError};
use homing_lab::schedule::{self, Entry, Executed, Status};
use homing_lab::suite::text_hash;
use homing_planner::search::SearchOptions;
use homing_planner::{HeuristicKind, SearchKind};
use serde::Deserialize;

use crate::args::{heuristic_parser, parse_count, parse_seconds, parse_size, search_parser};
use crate::child;
use crate::exit::{Exit, Failure};
use crate::input::{Warnings, entries, expand, load_problem, read_bytes};
use crate::model::{load_model_for, threads};
use crate::output::{make_folder, parent, print, say};
use crate::progress::TaskProgress;
use crate::resources::machine;
use crate::watch::{catch_interrupts, interrupted};

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
}

/// What `solve --json` says, as far as a record needs it.
#[derive(Deserialize)]
struct Answer {
    outcome: String,
    evaluations: u64,
    generated: u64,
    expansions: u64,
    plan_length: Option<usize>,
    plan_cost: Option<u64>,
    validated: bool,
    search_cpu_seconds: f64,
    total_cpu_seconds: f64,
    peak_memory_kb: Option<u64>,
}

/// A run to be made.
pub(crate) struct Run {
    pub(crate) domain: PathBuf,
    pub(crate) problem: PathBuf,
    pub(crate) model: Option<PathBuf>,
    pub(crate) plan: Option<PathBuf>,
    /// The record, as far as it is known.
    pub(crate) planned: Evaluation,
}

impl Run {
    fn arguments(&self) -> Vec<OsString> {
        let planned = &self.planned;
        let mut arguments: Vec<OsString> = vec!["solve".into(), "--json".into()];
        let mut put = |name: &str, value: OsString| arguments.extend([name.into(), value]);
        put("--search", planned.search.clone().into());
        match (&self.model, &planned.heuristic) {
            (Some(model), _) => {
                put("--model", model.clone().into());
                put("--threads", "1".into());
            }
            (None, Some(heuristic)) => put("--heuristic", heuristic.into()),
            (None, None) => {}
        }
        if let Some(weight) = planned.weight {
            put("--weight", weight.to_string().into());
        }
        if let Some(limit) = planned.max_evaluations {
            put("--max-evaluations", limit.to_string().into());
        }
        if let Some(limit) = planned.time_limit {
            put("--time-limit", limit.to_string().into());
        }
        if let Some(limit) = planned.memory_limit {
            put("--memory-limit", format!("{}K", limit >> 10).into());
        }
        if let Some(plan) = &self.plan {
            put("--plan-file", plan.clone().into());
        }
        if planned.unit_cost {
            arguments.push("--unit-cost".into());
        }
        arguments.extend([
            "--".into(),
            self.domain.clone().into(),
            self.problem.clone().into(),
        ]);
        arguments
    }

    /// Makes the run. `None` if it was interrupted. A run that fails leaves a record that says so.
    pub(crate) fn make(&self) -> anyhow::Result<Option<Evaluation>> {
        let mut record = self.planned.clone();
        record.revision = env!("HOMING_REVISION").to_owned();
        record.machine = machine().to_owned();
        let Some(finished) = child::run(&self.arguments())? else {
            return Ok(None);
        };
        let answer = serde_json::from_str::<Answer>(finished.stdout.trim());
        let outcome = answer
            .as_ref()
            .ok()
            .and_then(|answer| match answer.outcome.as_str() {
                "solved" => Some(Outcome::Solved),
                "unsolvable" => Some(Outcome::Unsolvable),
                "limit" => Some(Outcome::Limit),
                "time-limit" => Some(Outcome::TimeLimit),
                "memory-limit" => Some(Outcome::MemoryLimit),
                _ => None,
            });
        let (Ok(answer), Some(outcome)) = (answer, outcome) else {
            record.error = Some(finished.reason());
            return Ok(Some(record));
        };
        record.outcome = outcome;
        record.evaluations = answer.evaluations;
        record.generated = answer.generated;
        record.expansions = answer.expansions;
        record.plan_length = answer.plan_length;
        record.plan_cost = answer.plan_cost;
        record.validated = answer.validated;
        record.search_cpu_seconds = answer.search_cpu_seconds;
        record.cpu_seconds = answer.total_cpu_seconds;
        record.memory_bytes = answer.peak_memory_kb.map(|kilobytes| kilobytes * 1024);
        Ok(Some(record))
    }
}

/// Where the plan of a run goes: `p01-gbfs-H-ff-0.plan`.
pub(crate) fn plan_file(folder: &Path, planned: &Evaluation) -> PathBuf {
    let stem = planned.problem.trim_end_matches(".pddl");
    let seed = planned
        .model
        .as_ref()
        .map(|model| format!("-{}", model.seed));
    folder.join(format!(
        "{stem}-{}-{}{}.plan",
        planned.search,
        planned.configuration(),
        seed.unwrap_or_default()
    ))
}

pub(crate) fn record_failure(error: &RecordError) -> anyhow::Error {
    Failure::because(Exit::BadInput, error.to_string())
}

/// Records that are there and need not be made again: failures are tried again.
pub(crate) fn records_there(path: &Path) -> anyhow::Result<Vec<Evaluation>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut there: Vec<Evaluation> = record::read(path).map_err(|error| record_failure(&error))?;
    there.retain(|record| record.outcome != Outcome::Failed);
    Ok(there)
}

pub(crate) fn run(arguments: &Evaluate) -> anyhow::Result<Exit> {
    catch_interrupts();
    if arguments.heuristic.is_empty() && arguments.model.is_empty() {
        return Err(Failure::because(
            Exit::BadInput,
            "nothing to evaluate: name heuristics with --heuristic, models with --model, or both",
        ));
    }
    let runs = planned(arguments)?;
    make_folder(parent(&arguments.out))?;
    if let Some(folder) = &arguments.plans {
        make_folder(folder)?;
    }
    let there = records_there(&arguments.out)?;
    let there: HashSet<&str> = there.iter().map(|record| record.key.as_str()).collect();
    let total = runs.len();
    let missing: Vec<Run> = runs
        .into_iter()
        .filter(|run| !there.contains(run.planned.key.as_str()))
        .collect();
    let appender = Appender::open(&arguments.out).map_err(|error| record_failure(&error))?;
    let made = make_all(&missing, threads(arguments.jobs), &Mutex::new(appender))?;
    summarise(arguments, total, total - missing.len(), &made)
}

/// Makes runs and appends their records; says in the end which there are.
fn make_all(
    runs: &[Run],
    workers: usize,
    appender: &Mutex<Appender>,
) -> anyhow::Result<Vec<Evaluation>> {
    let made = Mutex::new(Vec::new());
    let entries: Vec<Entry<&Run>> = runs
        .iter()
        .map(|run| Entry {
            task: run,
            needs: Vec::new(),
            cost: 1.0,
            // Runs of one configuration, most likely on problems of like size, are alike.
            group: usize::from(run.model.is_some()),
        })
        .collect();
    let execute = |run: &&Run| match run.make() {
        Ok(Some(record)) => {
            let appended = appender.lock().expect("no worker panics").append(&record);
            made.lock().expect("no worker panics").push(record);
            match appended {
                Ok(()) => Executed::Done,
                Err(error) => Executed::Failed(error.to_string()),
            }
        }
        Ok(None) => Executed::Stopped,
        Err(error) => Executed::Failed(error.to_string()),
    };
    let progress = TaskProgress::new("runs");
    let statuses = schedule::run(&entries, workers, &interrupted, &execute, &|now| {
        progress.show(now);
    });
    progress.finish();
    // Not a run that failed, which is a record, but a record that cannot be written.
    let unwritten = statuses.into_iter().find_map(|status| match status {
        Status::Failed(reason) => Some(reason),
        _ => None,
    });
    match unwritten {
        Some(reason) => Err(Failure::because(Exit::BadInput, reason)),
        None => Ok(made.into_inner().expect("no worker panics")),
    }
}

/// A line for each configuration that was run now, and what is missing.
fn summarise(
    arguments: &Evaluate,
    total: usize,
    before: usize,
    made: &[Evaluation],
) -> anyhow::Result<Exit> {
    let mut lines: BTreeMap<(String, String, Option<u64>), Vec<&Evaluation>> = BTreeMap::new();
    for record in made {
        let seed = record.model.as_ref().map(|model| model.seed);
        let group = (record.configuration(), record.search.clone(), seed);
        lines.entry(group).or_default().push(record);
    }
    let mut text = String::new();
    for ((configuration, search, seed), records) in lines {
        let solved = records.iter().filter(|record| record.solved()).count();
        let seed = seed.map_or_else(String::new, |seed| format!(", seed {seed}"));
        text.push_str(&format!(
            "{search} with {configuration}{seed}: {solved} of {} solved\n",
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
    if made.len() + before < total {
        say(&format!(
            "homing: stopped with {} runs missing; the same command goes on\n",
            total - before - made.len()
        ));
        return Ok(Exit::Interrupted);
    }
    if made.iter().any(|record| record.error.is_some()) {
        return Ok(Exit::SomeFailed);
    }
    Ok(Exit::Success)
}

/// A domain's name in records: the short one of the eight, else that of its PDDL.
fn domain_name(text: &[u8], pddl: &str) -> String {
    let ours = DomainName::ALL
        .into_iter()
        .find(|name| name.text().as_bytes() == text);
    ours.map_or_else(|| pddl.to_owned(), |name| name.as_str().to_owned())
}

/// Model files: those named, and those in folders that are named.
fn model_files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut found = entries(path)?;
        found.retain(|file| file.extension().is_some_and(|end| end == "safetensors"));
        if found.is_empty() {
            return Err(Failure::because(
                Exit::BadInput,
                format!("there are no models (*.safetensors) in {}", path.display()),
            ));
        }
        files.extend(found);
    }
    Ok(files)
}

/// All runs that are asked for. Every file is read once here, so that what is wrong with one shows
/// before hours of work.
fn planned(arguments: &Evaluate) -> anyhow::Result<Vec<Run>> {
    let (domain, problems) = expand(&arguments.files, None)?;
    let domain_text = read_bytes(&domain)?;
    let models = model_files(&arguments.model)?;
    let mut loaded: Vec<(PathBuf, ModelOfRun, &'static str)> = Vec::new();
    let mut runs = Vec::new();
    let mut name = String::new();
    for (index, path) in problems.iter().enumerate() {
        let problem = load_problem(&domain, path, Warnings::Hide)?;
        if index == 0 {
            name = domain_name(&domain_text, &problem.domain.name);
            for file in &models {
                let model = load_model_for(file, &problem.domain)?;
                let of_run = ModelOfRun {
                    file: file.display().to_string(),
                    sha256: text_hash(&read_bytes(file)?),
                    seed: model.header.seed,
                    steps: model.header.steps,
                };
                loaded.push((file.clone(), of_run, model.header.config.heuristic.name()));
            }
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let mut planned = Evaluation::planned(
            (&name, &String::from_utf8_lossy(&domain_text)),
            (&file, &String::from_utf8_lossy(&read_bytes(path)?)),
            problem.objects.len(),
        );
        planned.unit_cost = arguments.unit_cost;
        planned.max_evaluations = arguments.max_evaluations;
        planned.time_limit = arguments.time_limit;
        planned.memory_limit = arguments.memory_limit;
        let mut push = |planned: Evaluation, model: Option<&PathBuf>| {
            let plans = arguments.plans.as_deref();
            let plan = plans.map(|folder| plan_file(folder, &planned));
            runs.push(Run {
                domain: domain.clone(),
                problem: path.clone(),
                model: model.cloned(),
                plan,
                planned,
            });
        };
        for search in &arguments.search {
            planned.search = search.name().to_owned();
            planned.weight = search.uses_weight().then_some(arguments.weight);
            planned.model = None;
            if !search.uses_heuristic() {
                planned.heuristic = None;
                planned.key = planned.key_for(None);
                push(planned.clone(), None);
                continue;
            }
            for heuristic in &arguments.heuristic {
                planned.heuristic = Some(heuristic.name().to_owned());
                planned.key = planned.key_for(None);
                push(planned.clone(), None);
            }
            for (file, model, heuristic) in &loaded {
                planned.heuristic = Some((*heuristic).to_owned());
                planned.model = Some(model.clone());
                planned.key = planned.key_for(Some(&model.sha256));
                push(planned.clone(), Some(file));
            }
        }
    }
    Ok(runs)
}
