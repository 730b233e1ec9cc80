//! `homing experiment`.

mod laboratory;
mod there;
mod training;

use std::collections::BTreeMap;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use homing_lab::experiment::{OwnFiles, Plan, ProblemFile, Spec};
use homing_learner::Signature;

use crate::exit::{Exit, Failure};
use crate::input::{Warnings, expand, load_domain, load_problem, read_bytes};
use crate::model::threads;
use crate::output::{cannot_write, make_folder, print, say, write_whole};
use crate::progress::duration;
use crate::watch::{catch_interrupts, interrupted};
pub(crate) use laboratory::Laboratory;
pub(crate) use there::There;

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

/// File names in the folder.
pub(crate) const EVALUATIONS: &str = "evaluations.jsonl";
pub(crate) const TRAINING: &str = "training.jsonl";

pub(crate) fn run(arguments: &Experiment) -> anyhow::Result<Exit> {
    catch_interrupts();
    let text = read_bytes(&arguments.file)?;
    let wrong = |error: &dyn std::fmt::Display| {
        let message = format!("{}: {error}", arguments.file.display());
        Failure::because(Exit::BadInput, message)
    };
    let spec = std::str::from_utf8(&text).map_err(|error| wrong(&error))?;
    let spec = Spec::parse(spec).map_err(|error| wrong(&error))?;
    let own = own_files(&arguments.file, &spec)?;
    let plan = Plan::new(&spec, &own).map_err(|error| wrong(&error))?;
    let workers = threads(arguments.jobs);
    if arguments.dry_run {
        let there = There::read(&arguments.out, &plan)?;
        print(&listing(&plan, &there, workers))?;
        return Ok(Exit::Success);
    }
    make_folder(&arguments.out)?;
    let _lock = lock(&arguments.out)?;
    remove_leftovers(&arguments.out);
    write_whole(&arguments.out.join("experiment.toml"), &text)?;
    let there = There::read(&arguments.out, &plan)?;
    there.tidy(&arguments.out, &plan)?;
    let laboratory = Laboratory::open(&arguments.out, &plan, there)?;
    let failures = laboratory.work(workers)?;
    let there = There::read(&arguments.out, &plan)?;
    there.tidy(&arguments.out, &plan)?;
    conclude(arguments, &plan, &there, &failures)
}

/// Two experiments in one folder would write over one another.
pub(crate) fn lock(folder: &Path) -> anyhow::Result<File> {
    let path = folder.join(".lock");
    let file = File::create(&path).map_err(|error| cannot_write(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(Failure::because(
            Exit::BadInput,
            format!(
                "another homing is at work in {}: wait for it, or name another folder",
                folder.display()
            ),
        )),
    }
}

/// What a killed run had begun to write. Nobody else is at work here: we hold the lock.
pub(crate) fn remove_leftovers(folder: &Path) {
    for place in [
        folder.to_owned(),
        folder.join("models"),
        folder.join("problems"),
    ] {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(".homing-") {
                let _ = std::fs::remove_file(entry.path());
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Reads and checks the files of domains that are not ours.
pub(crate) fn own_files(file: &Path, spec: &Spec) -> anyhow::Result<BTreeMap<String, OwnFiles>> {
    let around = file.parent().unwrap_or(Path::new(""));
    let mut all = BTreeMap::new();
    for (name, own) in &spec.own {
        let domain = around.join(&own.domain);
        let read = |folder: Option<&PathBuf>| -> anyhow::Result<Vec<ProblemFile>> {
            let Some(folder) = folder else {
                return Ok(Vec::new());
            };
            let (_, paths) = expand(&[domain.clone(), around.join(folder)], None)?;
            let read = |path: &PathBuf| {
                let problem = load_problem(&domain, path, Warnings::Hide)?;
                let name = path.file_name().unwrap_or_default();
                Ok(ProblemFile {
                    file: name.to_string_lossy().into_owned(),
                    text: String::from_utf8_lossy(&read_bytes(path)?).into_owned(),
                    objects: problem.objects.len(),
                })
            };
            paths.iter().map(read).collect()
        };
        let files = OwnFiles {
            domain_text: String::from_utf8_lossy(&read_bytes(&domain)?).into_owned(),
            signature: Signature::of(&load_domain(&domain)?),
            train: read(Some(&own.train))?,
            select: read(own.select.as_ref())?,
            evaluate: read(own.evaluate.as_ref())?,
        };
        all.insert(name.clone(), files);
    }
    Ok(all)
}

/// What `--dry-run` shows.
fn listing(plan: &Plan, there: &There, workers: usize) -> String {
    #[derive(Default)]
    struct Row {
        tasks: usize,
        done: usize,
        seconds: f64,
    }
    let mut rows: BTreeMap<(usize, String), Row> = BTreeMap::new();
    let mut add = |stage: usize, name: String, done: bool, cost: f64| {
        let row = rows.entry((stage, name)).or_default();
        row.tasks += 1;
        row.done += usize::from(done);
        row.seconds += if done { 0.0 } else { cost };
    };
    for (task, done) in plan.trainings.iter().zip(&there.trained) {
        let domain = &plan.sets[task.problems].domain;
        let with = if task.select.is_some() {
            " and select"
        } else {
            ""
        };
        let name = format!("train{with} {domain}, {}", task.config.heuristic.name());
        add(0, name, done.is_some(), task.cost);
    }
    for (task, done) in plan.evaluations.iter().zip(&there.evaluated) {
        let planned = &task.planned;
        let name = format!(
            "{} {}, {}",
            planned.search,
            planned.domain,
            planned.configuration()
        );
        add(1, name, done.is_some(), task.cost);
    }
    let width = rows
        .keys()
        .map(|(_, name)| name.chars().count())
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
    for ((_, name), row) in &rows {
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

fn conclude(
    arguments: &Experiment,
    plan: &Plan,
    there: &There,
    failures: &[String],
) -> anyhow::Result<Exit> {
    let total = plan.trainings.len() + plan.evaluations.len();
    let undone = there.undone();
    print(&format!(
        "{}: {} of {total} tasks done\n",
        arguments.out.display(),
        total - undone
    ))?;
    if undone < total {
        crate::report::run(&crate::report::Report::of(&arguments.out))?;
    }
    for failure in failures {
        say(&format!("homing: {failure}\n"));
    }
    if interrupted() {
        say("homing: stopped; the same command goes on\n");
        return Ok(Exit::Interrupted);
    }
    Ok(if undone > 0 {
        Exit::SomeFailed
    } else {
        Exit::Success
    })
}
