//! `homing experiment`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use homing::experiment::{Done, load};
use homing::resources::threads;
use homing::{ExperimentRecord, ExperimentRequest};
use homing_lab::experiment::Plan;
use homing_lab::layout::ExperimentFolder;

use crate::exit::Exit;
use crate::output::{print, say};
use crate::progress::{TaskProgress, duration};
use crate::watch::{catch_interrupts, interrupted};

/// Generate, train, select, evaluate and report as a file says
///
/// Killed and started again, it goes on; after a change of FILE it redoes only what the change
/// touches. The folder holds the problems, the models, the records and the report.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing experiment [OPTIONS] --out DIR FILE",
    after_help = "Example:\n  homing experiment experiments/quick.toml --out quick"
)]
pub(crate) struct Experiment {
    /// The experiment: a TOML file (docs/experiments.md)
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The folder of the experiment
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: PathBuf,

    /// Tasks at a time, each on one core [default: all cores]
    #[arg(long, value_name = "N", help_heading = "The run")]
    jobs: Option<NonZeroUsize>,

    /// List the tasks and what they are thought to cost, and do nothing
    #[arg(long, help_heading = "The run")]
    dry_run: bool,
}

pub(crate) fn run(arguments: &Experiment) -> anyhow::Result<Exit> {
    catch_interrupts();
    let progress = TaskProgress::new("tasks");
    if arguments.dry_run {
        let plan = load(&arguments.file, &progress)?.plan;
        let done = Done::read(&ExperimentFolder::new(&arguments.out), &plan)?;
        print(&listing(&plan, &done, threads(arguments.jobs)))?;
        return Ok(Exit::Success);
    }
    let request = ExperimentRequest {
        file: arguments.file.clone(),
        folder: arguments.out.clone(),
        jobs: arguments.jobs,
        command: crate::command_file()?,
    };
    let record = homing::experiment(&request, &progress);
    progress.finish();
    conclude(arguments, &record?)
}

/// What `--dry-run` shows.
fn listing(plan: &Plan, done: &Done, workers: usize) -> String {
    #[derive(Default)]
    struct Row {
        tasks: usize,
        done: usize,
        seconds: f64,
    }
    /// Trainings come first.
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    struct Kind {
        evaluates: bool,
        name: String,
    }
    let mut rows: BTreeMap<Kind, Row> = BTreeMap::new();
    let mut add = |kind: Kind, done: bool, cost: f64| {
        let row = rows.entry(kind).or_default();
        row.tasks += 1;
        row.done += usize::from(done);
        row.seconds += if done { 0.0 } else { cost };
    };
    for (at, task) in plan.trainings.iter().enumerate() {
        let domain = &plan.sets[task.problems].domain;
        let with = if task.select.is_some() {
            " and select"
        } else {
            ""
        };
        let kind = Kind {
            evaluates: false,
            name: format!("train{with} {domain}, {}", task.config.heuristic),
        };
        add(kind, done.training(at).is_some(), task.cost);
    }
    for (at, task) in plan.evaluations.iter().enumerate() {
        let planned = &task.planned;
        let configuration = planned.configuration();
        let kind = Kind {
            evaluates: true,
            name: format!("{} {}, {configuration}", planned.search, planned.domain),
        };
        add(kind, done.evaluation(at).is_some(), task.cost);
    }
    let width = rows
        .keys()
        .map(|kind| kind.name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for set in &plan.sets {
        let (domain, problems) = (&set.domain, set.problems.len());
        text.push_str(&format!("problems of {domain}: {problems}\n"));
    }
    text.push_str(&format!(
        "\n{:width$}  {:>6}  {:>6}  {:>15}\n",
        "task", "number", "done", "one core, up to"
    ));
    let mut total = Row::default();
    for (Kind { name, .. }, row) in &rows {
        let cost = duration(row.seconds);
        text.push_str(&format!(
            "{name:width$}  {:>6}  {:>6}  {cost:>15}\n",
            row.tasks, row.done
        ));
        total.tasks += row.tasks;
        total.done += row.done;
        total.seconds += row.seconds;
    }
    let cost = duration(total.seconds);
    text.push_str(&format!(
        "{:width$}  {:>6}  {:>6}  {cost:>15}\n",
        "all", total.tasks, total.done
    ));
    let plural = if workers == 1 { "" } else { "s" };
    text.push_str(&format!(
        "on {workers} core{plural} up to {}; less where searches end soon\n",
        duration(total.seconds / workers as f64)
    ));
    text
}

fn conclude(arguments: &Experiment, record: &ExperimentRecord) -> anyhow::Result<Exit> {
    print(&format!(
        "{}: {} of {} tasks done\n",
        arguments.out.display(),
        record.total - record.missing,
        record.total
    ))?;
    if let Some(report) = &record.report {
        crate::report::show(report)?;
    }
    for failure in &record.failures {
        say(&format!("homing: {failure}\n"));
    }
    if interrupted() {
        say("homing: stopped; the same command goes on\n");
        return Ok(Exit::Interrupted);
    }
    Ok(if record.missing > 0 {
        Exit::SomeFailed
    } else {
        Exit::Success
    })
}
