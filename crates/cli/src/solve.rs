//! `homing solve`.

use std::sync::Arc;

use homing_learner::Model;
use homing_pddl::Problem;
use homing_planner::search::{Limit, Limits, Outcome, SearchOptions, SearchResult, Statistics};
use homing_planner::{Costs, GroundError, Heuristic, Plan, Stop, Task, ground};
use serde::Serialize;

use crate::args::Solve;
use crate::exit::{Exit, Failure};
use crate::input::{Warnings, domain_and_problem, load_problem};
use crate::model::{learned, load_model_for};
use crate::output::{PlanFile, print, say};
use crate::resources::{cpu_seconds, peak_bytes, resident_bytes};
use crate::watch::{LimitWatch, catch_interrupts};

/// Everything `--json` prints. A field that does not apply is null.
#[derive(Serialize)]
struct Record {
    outcome: &'static str,
    domain: String,
    problem: String,
    heuristic: Option<String>,
    model: Option<String>,
    search: String,
    weight: Option<f64>,
    unit_cost: bool,
    plan: Option<Vec<String>>,
    plan_length: Option<usize>,
    plan_cost: Option<u64>,
    validated: bool,
    initial_h: Option<f64>,
    evaluations: u64,
    expansions: u64,
    generated: u64,
    reopened: u64,
    dead_ends: u64,
    stored: u64,
    peak_open: u64,
    bytes_per_state: u64,
    objects: usize,
    actions: usize,
    propositions: usize,
    variables: usize,
    parse_seconds: f64,
    ground_seconds: f64,
    search_seconds: f64,
    total_seconds: f64,
    ready_cpu_seconds: f64,
    search_cpu_seconds: f64,
    total_cpu_seconds: f64,
    peak_memory_kb: Option<u64>,
    version: &'static str,
}

/// Wall-clock and CPU time since the program began.
#[derive(Clone, Copy)]
struct Moment {
    wall: std::time::Instant,
    cpu: f64,
}

impl Moment {
    fn now() -> Self {
        Self {
            wall: std::time::Instant::now(),
            cpu: cpu_seconds(),
        }
    }

    fn wall_since(&self, earlier: &Self) -> f64 {
        (self.wall - earlier.wall).as_secs_f64()
    }
}

/// Without the digits that subtraction makes up.
fn whole_nanoseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

pub(crate) fn run(arguments: &Solve) -> anyhow::Result<Exit> {
    let start = Moment::now();
    catch_interrupts();
    let (domain, problem) = domain_and_problem(&arguments.files)?;
    if arguments.memory_limit.is_some() && resident_bytes().is_none() {
        return Err(Failure::because(
            Exit::BadInput,
            "--memory-limit needs /proc/self/status, which this system does not have",
        ));
    }
    let plan_file = arguments
        .plan_file
        .as_deref()
        .map(PlanFile::prepare)
        .transpose()?;
    let warnings = if arguments.verbose {
        Warnings::Show
    } else {
        Warnings::Count
    };
    // Made here, so that reading counts against the time limit.
    let mut watch = LimitWatch::new(arguments.time_limit, arguments.memory_limit, arguments.json);
    let problem = load_problem(&domain, &problem, warnings)?;
    let model = match &arguments.model {
        Some(path) => Some(load_model_for(path, &problem.domain)?),
        None => None,
    };
    let parsed = Moment::now();
    let grounded = ground(&problem, &mut watch);
    let ready = Moment::now();
    watch.finish();
    let (task, result) = match grounded {
        Ok(task) => {
            if arguments.verbose {
                describe(&task, &parsed, &ready, &start);
            }
            let result = search(&task, arguments, model.as_ref(), &mut watch)?;
            (Some(task), result)
        }
        Err(error) => (None, without_task(&error)?),
    };
    watch.finish();
    let end = Moment::now();
    let report = Report {
        arguments,
        problem: &problem,
        task: task.as_ref(),
        model: model.as_ref(),
        result: &result,
    };
    let cost = report.validate()?;
    let record = report.record([start, parsed, ready, end], cost);
    report.deliver(&record, plan_file.as_ref())
}

/// The outcome of a problem that never got to search.
fn without_task(error: &GroundError) -> anyhow::Result<SearchResult> {
    let outcome = match error {
        GroundError::Unsolvable { .. } => {
            say(&format!("{error}\n"));
            Outcome::Unsolvable
        }
        GroundError::MissingCost { .. } => {
            return Err(Failure::because(Exit::BadPddl, error.to_string()));
        }
        GroundError::Stopped(stop) => Outcome::LimitReached(Limit::Stopped(*stop)),
    };
    Ok(SearchResult {
        outcome,
        statistics: Statistics::default(),
    })
}

fn describe(task: &Task, parsed: &Moment, ready: &Moment, start: &Moment) {
    say(&format!(
        "read in {:.3} s, grounded in {:.3} s: {} actions, {} propositions in {} variables, {} bytes a state\n",
        parsed.wall_since(start),
        ready.wall_since(parsed),
        task.action_count(),
        task.propositions().len(),
        task.encoding().variable_count(),
        task.encoding().words() * 4,
    ));
}

fn costs(arguments: &Solve) -> Costs {
    if arguments.unit_cost {
        Costs::Unit
    } else {
        Costs::Task
    }
}

fn search(
    task: &Task,
    arguments: &Solve,
    model: Option<&Model>,
    watch: &mut LimitWatch,
) -> anyhow::Result<SearchResult> {
    let costs = costs(arguments);
    let options = SearchOptions {
        costs,
        weight: arguments.weight,
        limits: Limits {
            max_evaluations: arguments.max_evaluations,
            max_expansions: arguments.max_expansions,
        },
    };
    let mut heuristic: Box<dyn Heuristic> = match model {
        Some(model) => Box::new(learned(model, task, arguments.threads)?),
        None => arguments.heuristic.build(task, costs),
    };
    Ok(arguments
        .search
        .run(task, heuristic.as_mut(), &options, watch))
}

fn outcome_word(outcome: &Outcome) -> (&'static str, Exit) {
    match outcome {
        Outcome::Solved(_) => ("solved", Exit::Success),
        Outcome::Unsolvable => ("unsolvable", Exit::Unsolvable),
        Outcome::LimitReached(Limit::Evaluations | Limit::Expansions | Limit::Work) => {
            ("limit", Exit::LimitReached)
        }
        Outcome::LimitReached(Limit::Stopped(Stop::Time)) => ("time-limit", Exit::TimeLimit),
        Outcome::LimitReached(Limit::Stopped(Stop::Memory)) => ("memory-limit", Exit::MemoryLimit),
        Outcome::LimitReached(Limit::Stopped(Stop::Interrupted)) => {
            ("interrupted", Exit::Interrupted)
        }
    }
}

/// What is said about a search.
struct Report<'a> {
    arguments: &'a Solve,
    problem: &'a Arc<Problem>,
    task: Option<&'a Task>,
    model: Option<&'a Model>,
    result: &'a SearchResult,
}

impl Report<'_> {
    fn plan(&self) -> Option<&Plan> {
        match &self.result.outcome {
            Outcome::Solved(plan) => Some(plan),
            Outcome::Unsolvable | Outcome::LimitReached(_) => None,
        }
    }

    /// The plan's cost, once its replay has shown that it is one.
    fn validate(&self) -> anyhow::Result<Option<u64>> {
        let Some(plan) = self.plan() else {
            return Ok(None);
        };
        match plan.validate(self.problem) {
            Ok(validated) => Ok(Some(validated.cost)),
            Err(error) => Err(Failure::because(
                Exit::Bug,
                format!("the search returned a plan that does not hold: {error}"),
            )),
        }
    }

    fn record(&self, [start, parsed, ready, end]: [Moment; 4], cost: Option<u64>) -> Record {
        let statistics = &self.result.statistics;
        Record {
            outcome: outcome_word(&self.result.outcome).0,
            domain: self.problem.domain.name.clone(),
            problem: self.problem.name.clone(),
            heuristic: self
                .arguments
                .search
                .uses_heuristic()
                .then(|| match self.model {
                    Some(model) => format!("H-{}", model.header.config.heuristic.name()),
                    None => self.arguments.heuristic.name().to_owned(),
                }),
            model: self
                .arguments
                .model
                .as_ref()
                .map(|path| path.display().to_string()),
            search: self.arguments.search.name().to_owned(),
            weight: self
                .arguments
                .search
                .uses_weight()
                .then_some(self.arguments.weight),
            unit_cost: self.arguments.unit_cost,
            plan: self
                .plan()
                .map(|plan| plan.steps.iter().map(ToString::to_string).collect()),
            plan_length: self.plan().map(|plan| plan.steps.len()),
            plan_cost: cost,
            validated: cost.is_some(),
            initial_h: statistics.initial_estimate,
            evaluations: statistics.evaluations,
            expansions: statistics.expansions,
            generated: statistics.generated,
            reopened: statistics.reopened,
            dead_ends: statistics.dead_ends,
            stored: statistics.stored,
            peak_open: statistics.peak_open,
            bytes_per_state: statistics.bytes_per_state,
            objects: self.problem.objects.len(),
            actions: self.task.map_or(0, Task::action_count),
            propositions: self.task.map_or(0, |task| task.propositions().len()),
            variables: self.task.map_or(0, |task| task.encoding().variable_count()),
            parse_seconds: parsed.wall_since(&start),
            ground_seconds: ready.wall_since(&parsed),
            search_seconds: end.wall_since(&ready),
            total_seconds: end.wall_since(&start),
            ready_cpu_seconds: whole_nanoseconds(ready.cpu),
            search_cpu_seconds: whole_nanoseconds(end.cpu - ready.cpu),
            // Not what ran in this process before, as `cargo run` does.
            total_cpu_seconds: whole_nanoseconds(end.cpu - start.cpu),
            peak_memory_kb: peak_bytes().map(|bytes| bytes / 1024),
            version: env!("CARGO_PKG_VERSION"),
        }
    }

    /// Writes the plan file, then everything else.
    fn deliver(&self, record: &Record, file: Option<&PlanFile>) -> anyhow::Result<Exit> {
        let plan_text = self
            .plan()
            .map(|plan| plan.file_text(record.plan_cost.unwrap_or(0), !self.problem.minimize_cost));
        let written = match (&plan_text, file) {
            (Some(text), Some(file)) => file.write(text),
            _ => Ok(()),
        };
        // A plan that could not be written is shown instead: it may have taken hours.
        let show_plan = file.is_none() || written.is_err();
        if self.arguments.json {
            print(&(serde_json::to_string(record)? + "\n"))?;
        } else {
            let plan_text = plan_text.filter(|_| show_plan);
            print(&self.text(record, plan_text.as_deref()))?;
        }
        written?;
        Ok(outcome_word(&self.result.outcome).1)
    }

    /// The summary, in the lines that the field's tools read.
    fn text(&self, record: &Record, plan: Option<&str>) -> String {
        let mut text = String::new();
        let mut line = |content: String| {
            text.push_str(&content);
            text.push('\n');
        };
        match &self.result.outcome {
            Outcome::Solved(found) => {
                line("Solution found!".to_owned());
                if let Some(plan) = plan {
                    line(plan.trim_end().to_owned());
                }
                line(format!("Plan length: {} step(s).", found.steps.len()));
                line(format!("Plan cost: {}", record.plan_cost.unwrap_or(0)));
            }
            Outcome::Unsolvable => line("There is no plan: the problem is unsolvable.".to_owned()),
            Outcome::LimitReached(limit) => line(format!(
                "No plan found: {}.",
                match limit {
                    Limit::Evaluations => "the limit on evaluations was reached",
                    Limit::Expansions => "the limit on expansions was reached",
                    Limit::Work => "the limit on work was reached",
                    Limit::Stopped(Stop::Time) => "the time limit was reached",
                    Limit::Stopped(Stop::Memory) => "the memory limit was reached",
                    Limit::Stopped(Stop::Interrupted) => "interrupted",
                }
            )),
        }
        if record.evaluations > 0 {
            let estimate = record
                .initial_h
                .map_or_else(|| "infinite".to_owned(), |value| value.to_string());
            line(format!(
                "Initial heuristic value for {}: {estimate}",
                record.heuristic.as_deref().unwrap_or_default()
            ));
        }
        line(format!("Expanded {} state(s).", record.expansions));
        line(format!("Reopened {} state(s).", record.reopened));
        line(format!("Evaluated {} state(s).", record.evaluations));
        line(format!("Evaluations: {}", record.evaluations));
        line(format!("Generated {} state(s).", record.generated));
        line(format!("Dead ends: {} state(s).", record.dead_ends));
        line(format!(
            "Stored states: {} of {} bytes",
            record.stored, record.bytes_per_state
        ));
        line(format!("Peak open list: {}", record.peak_open));
        line(format!("Search time: {:.6}s", record.search_cpu_seconds));
        line(format!("Total time: {:.6}s", record.total_cpu_seconds));
        if let Some(peak) = record.peak_memory_kb {
            line(format!("Peak memory: {peak} KB"));
        }
        text
    }
}
