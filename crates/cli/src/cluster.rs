//! `homing experiment --on slurm` and `homing experiment status`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use homing::experiment::slurm::{SlurmPlan, SlurmRequest, SlurmSettings, SlurmTime, Submitted};
use homing::experiment::{ExperimentStatus, StageStatus, load, load_of_folder, status};
use homing_lab::layout::ExperimentFolder;

use crate::args::parse_size;
use crate::exit::{Exit, Failure};
use crate::output::{clear_line, print, say, show_line};
use crate::progress::{TaskProgress, bar, duration};
use crate::watch::interrupted;

/// Where the work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Array jobs of Slurm
    Slurm,
}

/// What is asked of a cluster.
#[derive(Debug, Args)]
pub(crate) struct Cluster {
    /// Submit the work as jobs of a cluster, and return
    #[arg(long, value_name = "CLUSTER", value_enum, help_heading = "A cluster")]
    on: Option<Engine>,

    /// Submit what is missing of what was submitted before, with the same options
    #[arg(long, requires = "on", help_heading = "A cluster")]
    again: bool,

    /// Partition of the jobs
    #[arg(long, value_name = "NAME", requires = "on", help_heading = "A cluster")]
    partition: Option<String>,

    /// Account that the jobs are charged to
    #[arg(long, value_name = "NAME", requires = "on", help_heading = "A cluster")]
    account: Option<String>,

    /// Time for a job: minutes, hours:minutes:seconds or days-hours
    #[arg(long, value_name = "TIME", requires = "on", value_parser = str::parse::<SlurmTime>, help_heading = "A cluster")]
    time: Option<SlurmTime>,

    /// Memory for a job
    #[arg(long, value_name = "SIZE", requires = "on", value_parser = parse_size, help_heading = "A cluster")]
    mem: Option<u64>,

    /// Jobs of an array at a time
    #[arg(long, value_name = "N", requires = "on", help_heading = "A cluster")]
    throttle: Option<NonZeroUsize>,

    /// A further option for sbatch, as in --sbatch=--qos=long; may be given several times
    #[arg(
        long,
        value_name = "OPTION",
        requires = "on",
        allow_hyphen_values = true,
        help_heading = "A cluster"
    )]
    sbatch: Vec<String>,

    /// Chunks of an array [default: as many as fill half of the time, or an hour each]
    #[arg(long, value_name = "N", requires = "on", help_heading = "A cluster")]
    chunks: Option<NonZeroUsize>,

    /// MaxArraySize of the cluster [default: what it says]
    #[arg(long, value_name = "N", requires = "on", help_heading = "A cluster")]
    max_array_size: Option<NonZeroUsize>,
}

impl Cluster {
    pub(crate) fn wanted(&self) -> bool {
        self.on.is_some()
    }

    /// What is asked for, over what was asked for before.
    fn settings(
        &self,
        jobs: Option<NonZeroUsize>,
        folder: &ExperimentFolder,
    ) -> anyhow::Result<SlurmSettings> {
        let before = match self.again {
            true => Submitted::read(folder)?,
            false => None,
        };
        let before = before.map(|before| before.settings).unwrap_or_default();
        Ok(SlurmSettings {
            partition: self.partition.clone().or(before.partition),
            account: self.account.clone().or(before.account),
            time: self.time.clone().or(before.time),
            memory: self.mem.or(before.memory),
            jobs: jobs.or(before.jobs),
            throttle: self.throttle.or(before.throttle),
            lines: match self.sbatch.is_empty() {
                true => before.lines,
                false => self.sbatch.clone(),
            },
            max_array_size: self.max_array_size.or(before.max_array_size),
            chunks: self.chunks.or(before.chunks),
        })
    }

    /// Submits the jobs, or shows them.
    pub(crate) fn run(
        &self,
        file: &Path,
        out: &Path,
        jobs: Option<NonZeroUsize>,
        dry_run: bool,
    ) -> anyhow::Result<Exit> {
        let absolute = |path: &Path| {
            let wrong = |error| format!("{}: {error}", path.display());
            std::path::absolute(path)
                .map_err(|error| Failure::because(Exit::BadInput, wrong(error)))
        };
        // A script is started somewhere else.
        let (file, out) = (absolute(file)?, absolute(out)?);
        let loaded = load(&file, &TaskProgress::new("tasks"))?;
        let request = SlurmRequest {
            settings: self.settings(jobs, &ExperimentFolder::new(&out))?,
            file,
            folder: out,
            command: crate::command_file()?,
            again: self.again,
        };
        if dry_run {
            print(&scripts(&request.plan(&loaded)?))?;
            return Ok(Exit::Success);
        }
        let (planned, ids) = request.submit(&loaded)?;
        print(&submitted(&request, &planned, &ids))?;
        Ok(Exit::Success)
    }
}

/// What `--dry-run` shows.
fn scripts(planned: &SlurmPlan) -> String {
    let mut text = String::new();
    for (at, job) in planned.jobs.iter().enumerate() {
        let after = match at {
            0 => "",
            _ => ", after those before it",
        };
        let cost = cost(job.chunks, job.longest, job.seconds);
        text.push_str(&format!("{}: {cost}{after}\n\n", job.name));
        for line in job.script.lines() {
            text.push_str(&format!("    {line}\n"));
        }
        text.push('\n');
    }
    if planned.jobs.is_empty() {
        text.push_str("nothing is missing\n");
    }
    text
}

fn cost(chunks: usize, longest: f64, seconds: f64) -> String {
    if seconds == 0.0 {
        return "one job".to_owned();
    }
    let plural = if chunks == 1 { "" } else { "s" };
    format!(
        "{chunks} chunk{plural}, {} of a core at most, {} the longest",
        duration(seconds),
        duration(longest)
    )
}

fn submitted(request: &SlurmRequest, planned: &SlurmPlan, ids: &[String]) -> String {
    let mut text = String::new();
    for (job, id) in planned.jobs.iter().zip(ids) {
        let cost = cost(job.chunks, job.longest, job.seconds);
        text.push_str(&format!("job {id}, {}: {cost}\n", job.name));
        let time = request.settings.time.as_ref();
        if time.is_some_and(|time| job.longest > time.seconds as f64) {
            text.push_str("  longer than its time, perhaps: --again goes on with what is left\n");
        }
    }
    let folder = request.folder.display();
    match ids.is_empty() {
        true => text.push_str("nothing is missing\n"),
        false => text.push_str(&format!(
            "how far it is: homing experiment status {folder}\n"
        )),
    }
    text
}

/// Say how far an experiment is
///
/// From the records in its folder, whoever makes them, and from the queue of the cluster where it
/// answers.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  homing experiment status quick")]
pub(crate) struct Status {
    /// The folder of the experiment
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Look again every few seconds, until all is done or Ctrl-C
    #[arg(long, help_heading = "Output")]
    watch: bool,
}

pub(crate) fn show_status(arguments: &Status) -> anyhow::Result<Exit> {
    let folder = ExperimentFolder::new(&arguments.folder);
    let plan = load_of_folder(&folder, &TaskProgress::new("tasks"))?.plan;
    let mut now = status(&folder, &plan)?;
    while arguments.watch && now.all().done < now.all().total && !interrupted() {
        show_line(&line(&now));
        for _ in 0..30 {
            if !interrupted() {
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        now = status(&folder, &plan)?;
    }
    if arguments.watch {
        clear_line();
    }
    print(&text(&arguments.folder, &now))?;
    for (reason, count) in &now.failures {
        let plural = if *count == 1 { "" } else { "s" };
        say(&format!("homing: {count} task{plural} failed: {reason}\n"));
    }
    Ok(match now.all().failed {
        0 => Exit::Success,
        _ => Exit::SomeFailed,
    })
}

/// In a line: how far, what it cost, what is left.
fn line(now: &ExperimentStatus) -> String {
    let all = now.all();
    let failed = match all.failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    format!(
        "{} {}/{} tasks, {} running{failed}; {} of a core used, about {} left",
        bar(all.done as u64, all.total as u64, 24),
        all.done,
        all.total,
        now.running(),
        duration(all.seconds_used),
        duration(all.seconds_left)
    )
}

fn text(folder: &Path, now: &ExperimentStatus) -> String {
    let row = |name: &str, stage: &StageStatus| {
        format!(
            "{name:8}{:>8}{:>8}{:>8}{:>12}{:>12}\n",
            stage.done,
            stage.failed,
            stage.missing(),
            duration(stage.seconds_used),
            duration(stage.seconds_left)
        )
    };
    let mut text = format!(
        "{:8}{:>8}{:>8}{:>8}{:>12}{:>12}\n",
        "", "done", "failed", "missing", "core used", "core left"
    );
    for (stage, of) in &now.stages {
        text.push_str(&row(stage.name(), of));
    }
    text.push_str(&row("all", &now.all()));
    let plural = |count: usize| if count == 1 { "" } else { "es" };
    let processes = now.at_work.len();
    text.push_str(&format!(
        "{processes} process{} at work, {} running at a time\n",
        plural(processes),
        now.running()
    ));
    for process in now.at_work.iter().take(8) {
        text.push_str(&format!(
            "  {} on {}, process {}\n",
            process.work, process.host, process.process
        ));
    }
    if let Some(queued) = &now.queued {
        let running = queued.iter().filter(|job| job.running()).count();
        let waiting: Vec<_> = queued.iter().filter(|job| !job.running()).collect();
        text.push_str(&format!(
            "queue: {running} running, {} waiting",
            waiting.len()
        ));
        let mut reasons: Vec<&str> = waiting.iter().map(|job| job.reason.as_str()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        if !reasons.is_empty() {
            text.push_str(&format!(" ({})", reasons.join(", ")));
        }
        text.push('\n');
    }
    let idle = now.at_work.is_empty() && now.queued.as_ref().is_none_or(Vec::is_empty);
    if now.all().done < now.all().total && idle {
        let how = match now.submitted {
            Some(_) => " --on slurm --again",
            None => "",
        };
        text.push_str(&format!(
            "to go on: homing experiment FILE --out {}{how}\n",
            folder.display()
        ));
    }
    text
}
