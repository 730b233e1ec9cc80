//! `homing view`: the pictures of the page, without a server.

mod records;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use clap::Args;
use homing::files::write_whole;
use homing::input::{defines, read_bytes};
use homing::models::AUTO;
use homing::{ProblemSource, SearchConfig, SolveLimits, SolveRequest};
use homing_planner::{HeuristicKind, Plan, SearchKind};
use homing_serve::{Event, Events, Job, carry_out, replay, with_data};
use serde_json::{Value, json};

use crate::args::{heuristic_parser, parse_count};
use crate::exit::{Exit, Failure};
use crate::input::problem_source;
use crate::output::print;
use crate::watch::catch_interrupts;

use records::{is_recorded, of_records, of_solves};

/// Draw a plan, a search or records as one HTML file
///
/// With a problem and a plan: the plan to step through, with the state after each step. With a
/// problem alone: greedy search with a heuristic beside the same with a model, and the plan found.
/// With a problem and records of `homing solve --json`: those plans and searches. With records of
/// `homing solve --json`, `evaluate` or `experiment`, or logs of `homing train --learner nlm`: what
/// was solved, h beside H, goals and loss. The file needs no server and no network.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing view [OPTIONS] [DOMAIN] PROBLEM [PLAN|RECORDS...]\n       \
                      homing view [OPTIONS] RECORDS...",
    after_help = "Example:\n  homing view domain.pddl problem.pddl plan.txt",
    after_long_help = "Examples:\n  \
                       homing view domain.pddl problem.pddl plan.txt\n  \
                       homing view --model m.safetensors --out h.html p.pddl\n  \
                       homing view p.pddl ff.json add.json\n  \
                       homing view results/evaluations.jsonl"
)]
pub(crate) struct View {
    /// A problem, with its domain before it and a plan or records behind it; or files and
    /// folders of records
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Where the page goes
    #[arg(
        long,
        default_value = "view.html",
        value_name = "FILE",
        help_heading = "Output"
    )]
    out: PathBuf,

    /// The heuristic of the first search
    #[arg(long, value_parser = heuristic_parser(), default_value_t, help_heading = "Searches")]
    heuristic: HeuristicKind,

    /// The model of the second search; auto: the one that ships for this domain, if one does
    #[arg(long, default_value = AUTO, value_name = "FILE", help_heading = "Searches")]
    model: PathBuf,

    /// End each search after so many evaluations
    #[arg(long, default_value_t = 20_000, value_name = "N", value_parser = parse_count, help_heading = "Searches")]
    max_evaluations: u64,
}

pub(crate) fn run(arguments: &View) -> anyhow::Result<Exit> {
    catch_interrupts();
    let files = &arguments.files;
    let mut recorded = Vec::new();
    for file in files {
        recorded.push(is_recorded(file)?);
    }
    let first = recorded.iter().position(|&is| is);
    let data = match first {
        Some(0) if recorded.iter().all(|&is| is) => of_records(files)?,
        Some(0) => return Err(bad("a problem stands before its records".to_owned())),
        Some(first) if recorded[first..].iter().all(|&is| is) => {
            of_solves(arguments, &files[..first], &files[first..])?
        }
        Some(_) => return Err(bad("records stand behind all other files".to_owned())),
        None if defines(&files[files.len() - 1])?.is_none() => of_plan(files)?,
        None => of_searches(arguments)?,
    };
    write_whole(&arguments.out, with_data(&data).as_bytes())?;
    print(&format!("{}\n", arguments.out.display()))?;
    Ok(Exit::Success)
}

fn bad(message: String) -> anyhow::Error {
    Failure::because(Exit::BadInput, message)
}

fn name(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// A plan with its states.
fn of_plan(files: &[PathBuf]) -> anyhow::Result<Value> {
    let Some((plan, problem)) = files.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        return Err(bad(format!(
            "{} is no problem, and a plan needs its problem before it",
            files[0].display()
        )));
    };
    let loaded = problem_source(problem)?.load()?.value;
    let bytes = read_bytes(plan)?;
    let parsed = Plan::parse(&String::from_utf8_lossy(&bytes));
    let parsed = parsed.map_err(|error| bad(format!("{}: {error}", plan.display())))?;
    Ok(json!({"title": loaded.name, "replay": replay(&loaded, &parsed)}))
}

/// Two searches on the same problem.
fn of_searches(arguments: &View) -> anyhow::Result<Value> {
    let problem = problem_source(&arguments.files)?;
    let loaded = problem.load()?.value;
    let has_model =
        arguments.model.as_os_str() != AUTO || homing::models::find(&loaded.domain).is_some();
    let h = arguments.heuristic;
    let mut sides = vec![(format!("h: {h}, {}", h.description()), None)];
    if has_model {
        let model = arguments.model.clone();
        sides.push((format!("H: model {}", model.display()), Some(model)));
    }
    let (mut races, mut plan) = (Vec::new(), None);
    for (title, model) in sides {
        let search = SearchConfig {
            search: SearchKind::Gbfs,
            heuristic: h,
            model,
            ..SearchConfig::default()
        };
        let (states, result) = search_for(&problem, search, arguments.max_evaluations)?;
        let end = match result["plan_length"].as_u64() {
            Some(length) => format!("plan of {length} steps"),
            None => format!(
                "no plan ({})",
                result["outcome"].as_str().unwrap_or_default()
            ),
        };
        let title = format!("{title}: {end}, {} evaluations", result["evaluations"]);
        races.push(json!({"title": title, "states": states}));
        if result["replay"].is_object() {
            plan = Some(result["replay"].clone());
        }
    }
    Ok(json!({"title": loaded.name, "races": races, "replay": plan}))
}

/// What a job says, kept.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no thread panics here").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Searches; the states it looked at, and its result.
fn search_for(
    problem: &ProblemSource,
    search: SearchConfig,
    max_evaluations: u64,
) -> anyhow::Result<(Vec<Value>, Value)> {
    let request = SolveRequest {
        problem: problem.clone(),
        search,
        limits: SolveLimits {
            max_evaluations: Some(max_evaluations),
            ..SolveLimits::default()
        },
    };
    let kept = Kept::default();
    let job = Job::Solve {
        request: Box::new(request),
        trace: true,
        debugger: None,
    };
    carry_out(job, &Events::new(Box::new(kept.clone())));
    let said = kept.0.lock().expect("no thread panics here");
    let mut states = Vec::new();
    for line in String::from_utf8_lossy(&said).lines() {
        match serde_json::from_str::<Event>(line)? {
            Event::States { states: more } => states.extend(more.iter().map(|state| json!(state))),
            Event::Done { result } => return Ok((states, result)),
            Event::Failed { message, .. } => return Err(bad(message)),
            _ => {}
        }
    }
    Err(Failure::because(Exit::Bug, "a search said nothing"))
}
