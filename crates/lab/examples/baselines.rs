//! GBFS with blind, h_add and h_FF on a suite: one line of JSON for each run.
//!
//! ```text
//! cargo run --release -p homing-lab --example baselines -- --jobs 16 --out baselines.jsonl
//! ```
//!
//! Options: `--suite NAME` (paper-test), `--domain D` (all), `--heuristic H` (blind, add and ff),
//! `--evaluations N` (100,000), `--sample N` (so many problems a domain, spread evenly over its
//! sizes; all), `--jobs N` (1), `--out FILE` (standard output). Problems are drawn in memory. If
//! the file is there, runs it has are not done again: an interrupted experiment goes on.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use homing_lab::suite::{Instance, draw};
use homing_lab::{DomainName, Parameters, Suite};
use homing_planner::heuristic::{Add, Blind, Ff};
use homing_planner::search::{Limit, Limits, Outcome, SearchResult, gbfs};
use homing_planner::{Costs, Heuristic, Task, ground};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

const HEURISTICS: [&str; 3] = ["blind", "add", "ff"];

struct Options {
    suite: Suite,
    domains: Vec<DomainName>,
    heuristics: Vec<&'static str>,
    evaluations: u64,
    sample: Option<usize>,
    jobs: usize,
    out: Option<PathBuf>,
}

/// One run.
#[derive(Serialize)]
struct Record<'a> {
    suite: Suite,
    domain: DomainName,
    problem: &'a str,
    parameters: Parameters,
    seed: u64,
    objects: usize,
    search: &'a str,
    heuristic: &'a str,
    max_evaluations: u64,
    outcome: &'a str,
    evaluations: u64,
    generated: u64,
    expansions: u64,
    dead_ends: u64,
    initial_estimate: Option<f64>,
    plan_cost: Option<u64>,
    ground_cpu_seconds: f64,
    search_cpu_seconds: f64,
    version: &'a str,
}

/// What tells runs apart.
#[derive(Deserialize, PartialEq, Eq, Hash)]
struct Key {
    suite: Suite,
    problem: String,
    heuristic: String,
    max_evaluations: u64,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        suite: Suite::PaperTest,
        domains: DomainName::ALL.to_vec(),
        heuristics: HEURISTICS.to_vec(),
        evaluations: 100_000,
        sample: None,
        jobs: 1,
        out: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments
            .next()
            .ok_or_else(|| format!("{flag} needs a value"))?;
        let number = || {
            let number = value.parse::<u64>().ok().filter(|&number| number > 0);
            number.ok_or_else(|| format!("{flag} needs a number above 0"))
        };
        match flag.as_str() {
            "--suite" => options.suite = value.parse().map_err(|e| format!("{e}"))?,
            "--domain" => options.domains = vec![value.parse().map_err(|e| format!("{e}"))?],
            "--heuristic" => {
                let found = HEURISTICS.into_iter().find(|&name| name == value);
                let unknown = || format!("there are {}", HEURISTICS.join(", "));
                options.heuristics = vec![found.ok_or_else(unknown)?];
            }
            "--evaluations" => options.evaluations = number()?,
            "--sample" => options.sample = Some(number()? as usize),
            "--jobs" => options.jobs = number()? as usize,
            "--out" => options.out = Some(PathBuf::from(value)),
            _ => return Err(format!("unknown option {flag}")),
        }
    }
    Ok(options)
}

/// CPU seconds of this thread.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The problems of the experiment.
fn problems(options: &Options) -> Result<Vec<Instance>, String> {
    let mut all = Vec::new();
    for &domain in &options.domains {
        let draws = options.suite.draws(domain);
        let collection = draw(&draws, |_| ()).map_err(|error| error.to_string())?;
        let found = collection.instances;
        let wanted = options.sample.unwrap_or(found.len()).min(found.len());
        for index in 0..wanted {
            all.push(found[index * found.len() / wanted].clone());
        }
    }
    Ok(all)
}

/// The runs that a file of records has.
fn done(path: &PathBuf) -> Result<HashSet<Key>, String> {
    let Ok(file) = File::open(path) else {
        return Ok(HashSet::new());
    };
    let mut keys = HashSet::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| error.to_string())?;
        // The last line may be cut short.
        if let Ok(key) = serde_json::from_str(&line) {
            keys.insert(key);
        }
    }
    Ok(keys)
}

fn search(task: &Task, name: &str, evaluations: u64) -> SearchResult {
    let mut heuristic: Box<dyn Heuristic + '_> = match name {
        "blind" => Box::new(Blind::new(task)),
        "add" => Box::new(Add::new(task, Costs::Unit)),
        _ => Box::new(Ff::new(task, Costs::Unit)),
    };
    let limits = Limits {
        max_evaluations: Some(evaluations),
        max_expansions: None,
    };
    gbfs(task, heuristic.as_mut(), limits, &mut ())
}

/// Runs one search and gives its record as a line.
fn run(options: &Options, instance: &Instance, heuristic: &str) -> String {
    let problem = Arc::new(instance.problem.clone());
    let start = cpu_seconds();
    let task = ground(&problem, &mut ()).expect("our problems ground");
    let ready = cpu_seconds();
    let result = search(&task, heuristic, options.evaluations);
    let end = cpu_seconds();
    let (outcome, plan_cost) = match &result.outcome {
        Outcome::Solved(plan) => {
            let valid = plan.validate(&problem).expect("a plan must be valid");
            ("solved", Some(valid.cost))
        }
        Outcome::Unsolvable => ("unsolvable", None),
        Outcome::LimitReached(Limit::Evaluations) => ("evaluations", None),
        Outcome::LimitReached(_) => ("stopped", None),
    };
    let record = Record {
        suite: options.suite,
        domain: instance.draw.parameters.domain(),
        problem: &problem.name,
        parameters: instance.draw.parameters,
        seed: instance.draw.seed,
        objects: problem.objects.len(),
        search: "gbfs",
        heuristic,
        max_evaluations: options.evaluations,
        outcome,
        evaluations: result.statistics.evaluations,
        generated: result.statistics.generated,
        expansions: result.statistics.expansions,
        dead_ends: result.statistics.dead_ends,
        initial_estimate: result.statistics.initial_estimate,
        plan_cost,
        ground_cpu_seconds: ready - start,
        search_cpu_seconds: end - ready,
        version: env!("CARGO_PKG_VERSION"),
    };
    serde_json::to_string(&record).expect("a record has no odd keys") + "\n"
}

fn experiment(options: &Options) -> Result<(), String> {
    let done = options.out.as_ref().map_or(Ok(HashSet::new()), done)?;
    let problems = problems(options)?;
    let mut runs: Vec<(&Instance, &'static str)> = Vec::new();
    for instance in &problems {
        for &heuristic in &options.heuristics {
            let key = Key {
                suite: options.suite,
                problem: instance.problem.name.clone(),
                heuristic: heuristic.to_owned(),
                max_evaluations: options.evaluations,
            };
            if !done.contains(&key) {
                runs.push((instance, heuristic));
            }
        }
    }
    let out: Box<dyn Write + Send> = match &options.out {
        Some(path) => {
            let file = OpenOptions::new().create(true).append(true).open(path);
            let mut file = file.map_err(|error| format!("{}: {error}", path.display()))?;
            if !done.is_empty() {
                // Ends a line that may have been cut short.
                file.write_all(b"\n").map_err(|error| error.to_string())?;
            }
            Box::new(file)
        }
        None => Box::new(std::io::stdout()),
    };
    let out = Mutex::new(out);
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                while let Some((instance, heuristic)) =
                    runs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let line = run(options, instance, heuristic);
                    let mut out = out.lock().expect("no writer panics");
                    if let Err(error) = out.write_all(line.as_bytes()).and_then(|()| out.flush()) {
                        *failure.lock().expect("no writer panics") = Some(error.to_string());
                        return;
                    }
                }
            });
        }
    });
    failure
        .into_inner()
        .expect("no writer panics")
        .map_or(Ok(()), Err)
}

fn main() -> ExitCode {
    match options().and_then(|options| experiment(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("baselines: {message}");
            ExitCode::from(33)
        }
    }
}
