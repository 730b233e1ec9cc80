//! An experiment as array jobs of Slurm: one for training, one for the searches, one job for the
//! report, each after the one before it.
//!
//! A task of an array does one chunk. Nothing here is needed to know what is done: that stands in
//! the records. Jobs are followed by others however they end (`afterany`), since a chunk that failed
//! leaves the rest of the work worth doing.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;

use homing_lab::experiment::{Chunk, Plan, Stage};
use homing_lab::layout::ExperimentFolder;
use serde::{Deserialize, Serialize};

use super::chunk::{agree, chunks_as_agreed};
use super::{Done, LoadedExperiment, write_source};
use crate::error::Error;
use crate::files::{make_folder, write_whole};

/// What is asked of Slurm for each job. What is left out is left to the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmSettings {
    /// `--partition`
    pub partition: Option<String>,
    /// `--account`
    pub account: Option<String>,
    /// `--time`, for each chunk
    pub time: Option<SlurmTime>,
    /// `--mem` in bytes, for each chunk
    pub memory: Option<u64>,
    /// Tasks at a time in a chunk, and `--cpus-per-task`; 1 by default.
    pub jobs: Option<NonZeroUsize>,
    /// Chunks of an array at a time.
    pub throttle: Option<NonZeroUsize>,
    /// Further options, each a line after `#SBATCH`.
    pub lines: Vec<String>,
    /// MaxArraySize, if the cluster should not be asked.
    pub max_array_size: Option<NonZeroUsize>,
    /// Chunks of an array; by default as many as fill half of the time.
    pub chunks: Option<NonZeroUsize>,
}

/// A time as Slurm writes it: `90`, `1:30:00`, `2-12`, `2-12:30:00`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SlurmTime {
    text: String,
    /// The same in seconds.
    pub seconds: u64,
}

impl std::str::FromStr for SlurmTime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected a time such as 90 (minutes), 1:30:00 or 2-12:00:00".to_owned();
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        let (days, rest) = match text.split_once('-') {
            Some((days, rest)) => (Some(number(days)?), rest),
            None => (None, text),
        };
        let fields: Vec<u64> = rest.split(':').map(number).collect::<Result<_, _>>()?;
        let seconds = match (days, fields.as_slice()) {
            (None, &[minutes]) => minutes * 60,
            (None, &[minutes, seconds]) => minutes * 60 + seconds,
            (None, &[hours, minutes, seconds]) => hours * 3600 + minutes * 60 + seconds,
            (Some(days), fields) if fields.len() <= 3 => {
                let units = [3600, 60, 1];
                let rest = fields.iter().zip(units).map(|(field, unit)| field * unit);
                days * 86_400 + rest.sum::<u64>()
            }
            _ => return Err(wrong()),
        };
        if seconds == 0 {
            return Err(wrong());
        }
        Ok(Self {
            text: text.to_owned(),
            seconds,
        })
    }
}

impl TryFrom<String> for SlurmTime {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<SlurmTime> for String {
    fn from(time: SlurmTime) -> Self {
        time.text
    }
}

impl SlurmSettings {
    fn jobs(&self) -> usize {
        self.jobs.map_or(1, NonZeroUsize::get)
    }

    /// When a chunk ends by itself: so long before Slurm ends it that it can write what it has.
    fn stop_after(&self) -> Option<u64> {
        let time = self.time.as_ref()?.seconds;
        let margin = (time / 20).max(60).min(time / 2);
        Some(time - margin)
    }

    /// The memory that a search may take: what is left beside the process that holds the plan,
    /// less what a search may take past its limit.
    fn task_memory(&self, plan: &Plan) -> Result<Option<u64>, Error> {
        const MIB: u64 = 1 << 20;
        let Some(memory) = self.memory else {
            return Ok(None);
        };
        let tasks = (plan.trainings.len() + plan.evaluations.len()) as u64;
        let own = 64 * MIB + 2048 * tasks;
        let each = memory.saturating_sub(own) / self.jobs() as u64;
        let limit = each.saturating_sub((each / 20).max(32 * MIB));
        if limit < 32 * MIB {
            return Err(Error::Request(format!(
                "{} MiB of memory are too few: a job needs {} MiB for the plan of this experiment, \
                 and more for its tasks",
                memory / MIB,
                own / MIB
            )));
        }
        Ok(Some(limit))
    }

    /// Limits of the experiment that the jobs could not keep.
    fn check(&self, loaded: &LoadedExperiment) -> Result<(), Error> {
        let Some(evaluate) = &loaded.spec.evaluate else {
            return Ok(());
        };
        let there = self.task_memory(&loaded.plan)?;
        if let (Some(there), Some(asked)) = (there, evaluate.memory_limit)
            && asked << 20 > there
        {
            return Err(Error::Request(format!(
                "the experiment gives a search {asked} MiB, and the jobs have only {} MiB for it: \
                 ask for more memory",
                there >> 20
            )));
        }
        if let (Some(there), Some(asked)) = (self.stop_after(), evaluate.time_limit)
            && asked > there as f64
        {
            return Err(Error::Request(format!(
                "the experiment gives a search {asked} s, and the jobs end after {there} s: ask \
                 for more time"
            )));
        }
        Ok(())
    }

    /// The largest number of chunks in an array.
    fn most_chunks(&self) -> usize {
        // What Slurm has by default. The largest index is one less.
        const DEFAULT: usize = 1001;
        let asked = self.max_array_size.map(NonZeroUsize::get);
        let size = asked.or_else(max_array_size).unwrap_or(DEFAULT);
        size.saturating_sub(1).max(1)
    }

    /// How many chunks so many tasks make: each about half of the time there is, or an hour.
    fn chunks(&self, tasks: usize, seconds: f64) -> NonZeroUsize {
        const HOUR: f64 = 3600.0;
        let time = self.stop_after().map_or(HOUR, |time| time as f64 / 2.0);
        let filling = || (seconds / (time * self.jobs() as f64)).ceil() as usize;
        let count = self.chunks.map_or_else(filling, NonZeroUsize::get);
        let count = count.clamp(1, self.most_chunks().min(tasks.max(1)));
        NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN)
    }
}

fn max_array_size() -> Option<usize> {
    let text = answer(Command::new("scontrol").args(["show", "config"])).ok()?;
    let line = text.lines().find(|line| line.starts_with("MaxArraySize"))?;
    line.split('=').nth(1)?.trim().parse().ok()
}

/// What a command prints.
fn answer(command: &mut Command) -> Result<String, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| Error::Request(format!("cannot run {name}: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Request(format!("{name}: {}", said.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A job that was submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmittedJob {
    /// Its number in Slurm.
    pub id: String,
    /// `train`, `search` or `report`.
    pub name: String,
}

/// What was submitted for a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// The plan it was for.
    pub plan: String,
    /// What was asked for.
    pub settings: SlurmSettings,
    /// Into how many chunks training and searches were cut.
    pub chunks: [NonZeroUsize; 2],
    /// All jobs so far.
    pub jobs: Vec<SubmittedJob>,
}

impl Submitted {
    fn path(folder: &ExperimentFolder) -> PathBuf {
        folder.slurm().join("submitted.json")
    }

    /// What was submitted for a folder, if anything was.
    ///
    /// # Errors
    ///
    /// If the file that says so cannot be read.
    pub fn read(folder: &ExperimentFolder) -> Result<Option<Self>, Error> {
        let path = Self::path(folder);
        match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|error| Error::bad_file(&path, error)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::read(&path, error)),
        }
    }

    fn write(&self, folder: &ExperimentFolder) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).map_err(Error::bug)?;
        write_whole(&Self::path(folder), &text)
    }

    /// The numbers of all jobs.
    pub fn ids(&self) -> Vec<&str> {
        self.jobs.iter().map(|job| job.id.as_str()).collect()
    }
}

/// A job, or a task of an array, that is in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The job's number.
    pub job: String,
    /// `RUNNING`, `PENDING` and the like.
    pub state: String,
    /// Why it waits.
    pub reason: String,
}

impl Queued {
    /// Whether it is at work.
    pub fn running(&self) -> bool {
        self.state == "RUNNING" || self.state == "COMPLETING"
    }
}

/// What of these jobs is in the queue; `None` where there is no queue that answers.
pub fn queue(jobs: &[&str]) -> Option<Vec<Queued>> {
    let arguments = ["--noheader", "--array", "--me", "--format=%F|%T|%r"];
    let text = answer(Command::new("squeue").args(arguments)).ok()?;
    let lines = text.lines().filter_map(|line| {
        let mut fields = line.trim().split('|');
        let queued = Queued {
            job: fields.next()?.to_owned(),
            state: fields.next()?.to_owned(),
            reason: fields.next()?.to_owned(),
        };
        jobs.contains(&queued.job.as_str()).then_some(queued)
    });
    Some(lines.collect())
}

/// A job to submit.
#[derive(Clone, Debug, PartialEq)]
pub struct SlurmJob {
    /// `train`, `search` or `report`.
    pub name: &'static str,
    /// Its script, as it will be submitted.
    pub script: String,
    /// How many chunks it does.
    pub chunks: usize,
    /// CPU seconds that the dearest of them is thought to take.
    pub longest: f64,
    /// CPU seconds that all of them are thought to take.
    pub seconds: f64,
}

/// An experiment for Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlurmRequest {
    /// The file that describes it.
    pub file: PathBuf,
    /// The folder for everything it makes.
    pub folder: PathBuf,
    /// The command `homing`.
    pub command: PathBuf,
    /// What is asked of Slurm.
    pub settings: SlurmSettings,
    /// Submit what is missing, although it was submitted before.
    pub again: bool,
}

/// Jobs for what is missing of an experiment, and how it was cut.
#[derive(Clone, Debug)]
pub struct SlurmPlan {
    /// The jobs, each after the one before it. Empty if nothing is missing.
    pub jobs: Vec<SlurmJob>,
    submitted: Submitted,
}

impl SlurmRequest {
    /// The jobs for what is missing; nothing is written.
    ///
    /// # Errors
    ///
    /// If the limits of the experiment do not fit the jobs, or records cannot be read.
    pub fn plan(&self, loaded: &LoadedExperiment) -> Result<SlurmPlan, Error> {
        let folder = ExperimentFolder::new(&self.folder);
        let plan = &loaded.plan;
        self.settings.check(loaded)?;
        let done = Done::read(&folder, plan)?;
        let identity = plan.identity();
        let before = Submitted::read(&folder)?;
        // Cut as before, a chunk that was nearly done is so still.
        let same = before.as_ref().filter(|before| before.plan == identity);
        let chunks = match same {
            Some(before) => before.chunks,
            None => Stage::ALL.map(|stage| self.count(plan, &done, stage)),
        };
        let mut jobs = Vec::new();
        for (stage, count) in Stage::ALL.into_iter().zip(chunks) {
            let cut = chunks_as_agreed(&folder, plan, &done, stage, count)?;
            jobs.extend(self.array(plan, &done, stage, &cut)?);
        }
        if !jobs.is_empty() {
            jobs.push(self.report_job());
        }
        Ok(SlurmPlan {
            jobs,
            submitted: Submitted {
                plan: identity,
                settings: self.settings.clone(),
                chunks,
                jobs: before.map(|before| before.jobs).unwrap_or_default(),
            },
        })
    }

    fn count(&self, plan: &Plan, done: &Done, stage: Stage) -> NonZeroUsize {
        let costs = done.costs(plan);
        let tasks = plan.tasks_of(Some(stage));
        let missing = tasks.filter(|&task| !done.is_done(task));
        let (mut count, mut seconds) = (0, 0.0);
        for task in missing {
            count += 1;
            seconds += costs.of(plan, task);
        }
        self.settings.chunks(count, seconds)
    }

    /// The array of the chunks in which something is missing.
    fn array(
        &self,
        plan: &Plan,
        done: &Done,
        stage: Stage,
        cut: &[Chunk],
    ) -> Result<Option<SlurmJob>, Error> {
        let costs = done.costs(plan);
        let mut numbers = Vec::new();
        let (mut longest, mut all) = (0.0_f64, 0.0);
        for (at, chunk) in cut.iter().enumerate() {
            let missing = chunk.tasks.iter().filter(|&&task| !done.is_done(task));
            let costs: Vec<f64> = missing.map(|&task| costs.of(plan, task)).collect();
            if !costs.is_empty() {
                numbers.push(at + 1);
                let seconds: f64 = costs.iter().sum();
                longest = longest.max(seconds);
                all += seconds;
            }
        }
        if numbers.is_empty() {
            return Ok(None);
        }
        let throttle = self.settings.throttle;
        let throttle = throttle.map(|most| format!("%{most}")).unwrap_or_default();
        let mut lines = vec![format!("--array={}{throttle}", ranges(&numbers))];
        if let Some(memory) = self.settings.memory {
            lines.push(format!("--mem={}M", memory >> 20));
        }
        lines.push(format!("--cpus-per-task={}", self.settings.jobs()));
        let mut arguments = format!(
            "--only {} --chunk $SLURM_ARRAY_TASK_ID/{} --jobs {}",
            stage.name(),
            cut.len(),
            self.settings.jobs()
        );
        if let Some(seconds) = self.settings.stop_after() {
            arguments.push_str(&format!(" --stop-after {seconds}"));
        }
        if let Some(memory) = self.settings.task_memory(plan)? {
            arguments.push_str(&format!(" --task-memory {}M", memory >> 20));
        }
        Ok(Some(SlurmJob {
            name: stage.name(),
            script: self.script(stage.name(), "-%a", &lines, &arguments),
            chunks: numbers.len(),
            longest,
            seconds: all,
        }))
    }

    fn report_job(&self) -> SlurmJob {
        let memory = self.settings.memory;
        let lines: Vec<String> = memory
            .map(|memory| format!("--mem={}M", memory >> 20))
            .into_iter()
            .collect();
        SlurmJob {
            name: "report",
            script: self.script("report", "", &lines, "--only report"),
            chunks: 1,
            longest: 0.0,
            seconds: 0.0,
        }
    }

    fn script(&self, name: &str, number: &str, lines: &[String], arguments: &str) -> String {
        let settings = &self.settings;
        let log = self.folder.join("slurm").join("log");
        let mut all = vec![
            format!("--job-name=homing-{name}"),
            format!("--output=\"{}/{name}{number}.txt\"", log.display()),
            // A chunk may run again.
            "--open-mode=append".to_owned(),
        ];
        all.extend_from_slice(lines);
        let named = [
            ("partition", settings.partition.clone()),
            ("account", settings.account.clone()),
            ("time", settings.time.clone().map(String::from)),
        ];
        for (option, value) in named {
            all.extend(value.map(|value| format!("--{option}={value}")));
        }
        all.extend(settings.lines.iter().cloned());
        let mut script = "#!/bin/bash\n".to_owned();
        for line in all {
            script.push_str(&format!("#SBATCH {line}\n"));
        }
        // In place of the shell: signals of Slurm reach it then.
        script.push_str(&format!(
            "exec {} experiment {} \\\n    --out {} \\\n    {arguments}\n",
            quoted(&self.command),
            quoted(&self.file),
            quoted(&self.folder)
        ));
        script
    }

    /// Submits jobs for what is missing; the numbers of the jobs.
    ///
    /// # Errors
    ///
    /// If it was submitted before and [`again`](Self::again) is not set, if jobs of it are in the
    /// queue, or if Slurm does not take a job.
    pub fn submit(&self, loaded: &LoadedExperiment) -> Result<(SlurmPlan, Vec<String>), Error> {
        let folder = ExperimentFolder::new(&self.folder);
        if let Some(before) = Submitted::read(&folder)? {
            self.refuse_twice(&before)?;
        }
        let mut planned = self.plan(loaded)?;
        let mut ids: Vec<String> = Vec::new();
        if planned.jobs.is_empty() {
            return Ok((planned, ids));
        }
        make_folder(&folder.slurm().join("log"))?;
        write_source(&folder, &self.file, loaded)?;
        let done = Done::read(&folder, &loaded.plan)?;
        for (stage, count) in Stage::ALL.into_iter().zip(planned.submitted.chunks) {
            agree(&folder, &loaded.plan, &done, Some(stage), count)?;
        }
        for job in &planned.jobs {
            let path = folder.slurm().join(format!("{}.sh", job.name));
            write_whole(&path, job.script.as_bytes())?;
            let mut command = Command::new("sbatch");
            command.arg("--parsable");
            if !ids.is_empty() {
                command.arg(format!("--dependency=afterany:{}", ids.join(":")));
            }
            let text = answer(command.arg(&path))?;
            let id = text.trim().split(';').next().unwrap_or_default().to_owned();
            ids.push(id.clone());
            planned.submitted.jobs.push(SubmittedJob {
                id,
                name: job.name.to_owned(),
            });
            // After each: what is in the queue is known, whatever comes.
            planned.submitted.write(&folder)?;
        }
        Ok((planned, ids))
    }

    fn refuse_twice(&self, before: &Submitted) -> Result<(), Error> {
        if !self.again {
            return Err(Error::Request(format!(
                "{} was submitted before, as {}: `homing experiment status` says how far it is, \
                 and --again submits what is missing",
                self.folder.display(),
                before.ids().join(", ")
            )));
        }
        let queued = queue(&before.ids()).ok_or_else(|| {
            Error::Request("squeue does not answer: are jobs of this still running?".to_owned())
        })?;
        let mut ids: Vec<&str> = queued.iter().map(|queued| queued.job.as_str()).collect();
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        Err(Error::Request(format!(
            "jobs of {} are in the queue: wait for them, or end them with `scancel {}`",
            self.folder.display(),
            ids.join(" ")
        )))
    }
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// `1-3,7,9-10`
fn ranges(numbers: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let runs = runs.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    runs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_slurm() {
        let seconds = |text: &str| text.parse::<SlurmTime>().map(|time| time.seconds);
        for (text, expected) in [
            ("90", 5400),
            ("1:30", 90),
            ("1:30:00", 5400),
            ("2-12", 216_000),
            ("2-12:30", 217_800),
            ("2-12:30:05", 217_805),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in ["", "0", "x", "1:2:3:4", "1-", "-5"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn chunks_end_before_slurm_ends_them() {
        let stop = |text: &str| {
            let time = text.parse().ok();
            SlurmSettings {
                time,
                ..SlurmSettings::default()
            }
            .stop_after()
        };
        assert_eq!(stop("1"), Some(30));
        assert_eq!(stop("10"), Some(540));
        assert_eq!(stop("10:00:00"), Some(34_200));
    }

    #[test]
    fn arrays_fit_the_largest_that_the_cluster_takes() {
        let settings = SlurmSettings {
            max_array_size: NonZeroUsize::new(11),
            ..SlurmSettings::default()
        };
        assert_eq!(settings.chunks(500_000, 1e9).get(), 10);
        assert_eq!(settings.chunks(4, 1e9).get(), 4);
        assert_eq!(settings.chunks(500_000, 7000.0).get(), 2);
        assert_eq!(settings.chunks(0, 0.0).get(), 1);
    }

    #[test]
    fn numbers_are_written_as_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10]), "1-3,7,9-10");
        assert_eq!(ranges(&[5]), "5");
    }
}
