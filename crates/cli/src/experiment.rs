//! `homing experiment`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use homing::experiment::{ChunkNumber, Done, Share, load};
use homing::resources::threads;
use homing::{ExperimentRecord, ExperimentRequest};
use homing_lab::experiment::{Plan, Stage};
use homing_lab::layout::ExperimentFolder;

use crate::args::{parse_positive, parse_size};
use crate::cluster::{Cluster, Status};
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
    override_usage = "homing experiment [OPTIONS] --out DIR FILE\n       homing experiment status DIR",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Example:\n  homing experiment experiments/quick.toml --out quick",
    after_long_help = "Examples:\n  \
                       homing experiment experiments/quick.toml --out quick\n  \
                       homing experiment experiments/quick.toml --out quick \\\n    \
                       --on slurm --time 1:00:00 --mem 4G --dry-run\n  \
                       homing experiment status quick\n\n\
                       docs/experiments.md describes the file and the folder, docs/cluster.md how \
                       several machines share the work."
)]
pub(crate) struct Experiment {
    #[command(subcommand)]
    command: Option<Other>,

    /// The experiment: a TOML file (docs/experiments.md)
    #[arg(value_name = "FILE", required = true)]
    file: Option<PathBuf>,

    /// The folder of the experiment
    #[arg(long, value_name = "DIR", required = true, help_heading = "Output")]
    out: Option<PathBuf>,

    /// Tasks at a time, each on one core [default: all cores; 1 in jobs of a cluster]
    #[arg(long, value_name = "N", help_heading = "The run")]
    jobs: Option<NonZeroUsize>,

    /// List the tasks or show the jobs, with what they are thought to cost, and do nothing
    #[arg(long, help_heading = "The run")]
    dry_run: bool,

    /// Do one of N chunks of about equal cost, while other processes do the others
    #[arg(long, value_name = "I/N", value_parser = str::parse::<ChunkNumber>, help_heading = "Sharing the work")]
    chunk: Option<ChunkNumber>,

    /// Do only one part of the work
    #[arg(
        long,
        value_name = "PART",
        value_enum,
        help_heading = "Sharing the work"
    )]
    only: Option<Only>,

    /// Begin nothing after so many seconds, and end what is at hand
    #[arg(long, value_name = "SECONDS", value_parser = parse_positive, help_heading = "Sharing the work")]
    stop_after: Option<u64>,

    /// Memory that a training or a search may take; one that needs more fails, and is tried again
    /// next time
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Sharing the work")]
    task_memory: Option<u64>,

    #[command(flatten)]
    cluster: Cluster,
}

#[derive(Debug, Subcommand)]
enum Other {
    Status(Status),
}

/// A part of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Only {
    /// Train the models
    Train,
    /// Search with the models that are trained
    Search,
    /// Bring the records together and report
    Report,
}

impl Experiment {
    fn file(&self) -> &Path {
        self.file.as_deref().expect("it is required")
    }

    fn out(&self) -> &Path {
        self.out.as_deref().expect("it is required")
    }

    fn share(&self) -> Share {
        let stage = match self.only {
            Some(Only::Report) => return Share::Report,
            Some(Only::Train) => Some(Stage::Train),
            Some(Only::Search) => Some(Stage::Search),
            None => None,
        };
        match (self.chunk, stage) {
            (None, None) => Share::All,
            (chunk, stage) => Share::Chunk {
                chunk: chunk.unwrap_or(ChunkNumber::WHOLE),
                stage,
            },
        }
    }
}

pub(crate) fn run(arguments: &Experiment) -> anyhow::Result<Exit> {
    catch_interrupts();
    if let Some(Other::Status(arguments)) = &arguments.command {
        return crate::cluster::show_status(arguments);
    }
    let (file, out) = (arguments.file(), arguments.out());
    if arguments.cluster.wanted() {
        let jobs = arguments.jobs;
        return arguments.cluster.run(file, out, jobs, arguments.dry_run);
    }
    let progress = TaskProgress::new("tasks");
    if arguments.dry_run {
        let plan = load(file, &progress)?.plan;
        let done = Done::read(&ExperimentFolder::new(out), &plan)?;
        print(&listing(&plan, &done, threads(arguments.jobs)))?;
        return Ok(Exit::Success);
    }
    let request = ExperimentRequest {
        file: file.to_owned(),
        folder: out.to_owned(),
        jobs: arguments.jobs,
        command: crate::command_file()?,
        share: arguments.share(),
        stop_after: arguments.stop_after,
        task_memory: arguments.task_memory,
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
    // Trainings come first.
    let mut rows: BTreeMap<(Stage, String), Row> = BTreeMap::new();
    let costs = done.costs(plan);
    for task in plan.tasks() {
        let row = rows.entry((task.stage(), plan.kind(task))).or_default();
        row.tasks += 1;
        if done.is_done(task) {
            row.done += 1;
        } else {
            row.seconds += costs.of(plan, task);
        }
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

fn conclude(arguments: &Experiment, record: &ExperimentRecord) -> anyhow::Result<Exit> {
    print(&format!(
        "{}: {} of {} tasks done\n",
        arguments.out().display(),
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
    if record.missing > 0 && record.failures.is_empty() {
        say("homing: the rest is not done yet; the same command goes on\n");
    }
    Ok(if record.missing > 0 {
        Exit::SomeFailed
    } else {
        Exit::Success
    })
}
