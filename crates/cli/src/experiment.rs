//! `homing experiment`.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::Args;
use homing_lab::experiment::{OwnFiles, Plan, ProblemFile, ProblemSet, Spec, TrainingTask};
use homing_lab::record::{self, Appender, Evaluation, Outcome, RECORD_FORMAT, Record, Training};
use homing_lab::schedule::{self, Entry, Executed, Status};
use homing_lab::suite::{MANIFEST_FILE, text_hash};
use homing_learner::Signature;
use serde::Deserialize;

use crate::child;
use crate::evaluate::{Run, plan_file, record_failure};
use crate::exit::{Exit, Failure};
use crate::folder::NewFolder;
use crate::input::{Warnings, load_domain, load_problem, read_bytes};
use crate::model::threads;
use crate::output::{print, say, write_whole};
use crate::progress::{TaskProgress, duration};
use crate::resources::machine;
use crate::train::{cannot_write, expand};
use crate::watch::{catch_interrupts, interrupted};

/// Generate, train, select, evaluate and report as a file says
///
/// Killed and started again, it goes on; after a change of FILE it redoes only what the change
/// touches. The folder holds the problems, the models, the records and the report.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  homing experiment experiments/quick.toml --out quick")]
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
/// Records of runs that the experiment, as it is now, does not ask for.
const EARLIER: &str = "earlier";

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
    std::fs::create_dir_all(&arguments.out)
        .map_err(|error| cannot_write(&arguments.out, &error))?;
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

/// What is done already.
pub(crate) struct There {
    trainings: Vec<Training>,
    pub(crate) evaluations: Vec<Evaluation>,
    /// By the plan's order: the record of each task, by index, if it is done.
    pub(crate) trained: Vec<Option<usize>>,
    pub(crate) evaluated: Vec<Option<usize>>,
}

fn read_all<R: Record>(folder: &Path, name: &str) -> anyhow::Result<Vec<R>> {
    let mut records: Vec<R> = Vec::new();
    // Earlier ones first: where both have a key, the one in the folder itself holds.
    for path in [folder.join(EARLIER).join(name), folder.join(name)] {
        if path.exists() {
            records.extend(record::read::<R>(&path).map_err(|error| record_failure(&error))?);
        }
    }
    Ok(records)
}

impl There {
    pub(crate) fn read(folder: &Path, plan: &Plan) -> anyhow::Result<Self> {
        let trainings: Vec<Training> = read_all(folder, TRAINING)?;
        let evaluations: Vec<Evaluation> = read_all(folder, EVALUATIONS)?;
        let by_key: HashMap<&str, usize> = keys(&trainings);
        let trained = plan.trainings.iter().map(|task| {
            let at = *by_key.get(task.key.as_str())?;
            // A model that was lost or changed is trained again.
            let model = std::fs::read(folder.join(&task.model)).ok()?;
            (text_hash(&model) == trainings[at].model_sha256).then_some(at)
        });
        let trained: Vec<Option<usize>> = trained.collect();
        let by_key: HashMap<&str, usize> = keys(&evaluations);
        let evaluated = plan.evaluations.iter().map(|task| {
            let at = *by_key.get(task.planned.key.as_str())?;
            let with_model = task.training.is_none_or(|at| trained[at].is_some());
            (with_model && evaluations[at].outcome != Outcome::Failed).then_some(at)
        });
        let evaluated = evaluated.collect();
        Ok(Self {
            trainings,
            evaluations,
            trained,
            evaluated,
        })
    }

    /// Leaves in the files what the plan asks for, in an order that does not depend on who was
    /// done first, and puts the rest aside.
    pub(crate) fn tidy(&self, folder: &Path, plan: &Plan) -> anyhow::Result<()> {
        let wanted: HashMap<&str, ()> = plan
            .trainings
            .iter()
            .map(|t| (t.key.as_str(), ()))
            .collect();
        tidy_file(folder, TRAINING, &self.trainings, &wanted, |record| {
            let of = (record.domain.clone(), record.heuristic.clone());
            (of, record.seed, record.key.clone())
        })?;
        let wanted = plan.evaluations.iter();
        let wanted: HashMap<&str, ()> = wanted.map(|e| (e.planned.key.as_str(), ())).collect();
        tidy_file(folder, EVALUATIONS, &self.evaluations, &wanted, |record| {
            let seed = record.model.as_ref().map(|model| model.seed);
            let of = (record.domain.clone(), record.search.clone());
            (
                of,
                record.configuration(),
                seed,
                record.problem.clone(),
                record.key.clone(),
            )
        })
    }

    pub(crate) fn trainings(&self) -> &[Training] {
        &self.trainings
    }

    fn undone(&self) -> usize {
        let open = |tasks: &[Option<usize>]| tasks.iter().filter(|task| task.is_none()).count();
        open(&self.trained) + open(&self.evaluated)
    }
}

/// The last record of a key holds.
fn keys<R: Record>(records: &[R]) -> HashMap<&str, usize> {
    let places = records.iter().enumerate();
    places.map(|(at, record)| (record.key(), at)).collect()
}

fn tidy_file<R: Record, O: Ord>(
    folder: &Path,
    name: &str,
    records: &[R],
    wanted: &HashMap<&str, ()>,
    order: impl Fn(&R) -> O,
) -> anyhow::Result<()> {
    let last = keys(records);
    let mut here: Vec<&R> = Vec::new();
    let mut aside: Vec<&R> = Vec::new();
    for (at, record) in records.iter().enumerate() {
        if last[record.key()] != at {
            continue;
        }
        if wanted.contains_key(record.key()) {
            here.push(record);
        } else {
            aside.push(record);
        }
    }
    let write = |path: &Path, records: &mut Vec<&R>| -> anyhow::Result<()> {
        records.sort_by_cached_key(|record| order(record));
        let mut text = String::new();
        for record in records {
            text.push_str(&serde_json::to_string(record)?);
            text.push('\n');
        }
        if std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes()) {
            return Ok(());
        }
        write_whole(path, text.as_bytes())
    };
    if !aside.is_empty() {
        let earlier = folder.join(EARLIER);
        std::fs::create_dir_all(&earlier).map_err(|error| cannot_write(&earlier, &error))?;
        write(&earlier.join(name), &mut aside)?;
    }
    if !here.is_empty() || folder.join(name).exists() {
        write(&folder.join(name), &mut here)?;
    }
    Ok(())
}

/// A folder of problems appears whole; one that is there is that of the same problems, since its
/// name has their hash.
fn write_problems(folder: &Path, set: &ProblemSet) -> anyhow::Result<()> {
    let path = folder.join(&set.folder);
    if path.is_dir() {
        return Ok(());
    }
    let new = NewFolder::prepare(&path)?;
    new.write("domain.pddl", &set.domain_text)?;
    for problem in &set.problems {
        new.write(&problem.file, &problem.text)?;
    }
    if let Some(manifest) = &set.manifest {
        new.write(MANIFEST_FILE, &manifest.to_json())?;
    }
    new.finish()
}

/// One thing to do, by its place in the plan.
#[derive(Clone, Copy)]
enum Task {
    Train(usize),
    Evaluate(usize),
}

pub(crate) struct Laboratory<'a> {
    folder: &'a Path,
    plan: &'a Plan,
    there: There,
    trainings: Mutex<Appender>,
    evaluations: Mutex<Appender>,
    /// SHA-256 of each model that is there, by its training.
    models: Mutex<HashMap<usize, String>>,
    /// Where plans go, if they are to be kept.
    pub(crate) plans: Option<PathBuf>,
}

/// What `train --json` says, as far as a record needs it.
#[derive(Deserialize)]
struct Answer {
    steps: u64,
    goals: u64,
    episodes: u64,
    problems: u64,
    loss: f64,
    config: BTreeMap<String, serde_json::Value>,
    cpu_seconds: f64,
    network_seconds: f64,
    planning_seconds: f64,
    peak_memory_kb: Option<u64>,
}

impl<'a> Laboratory<'a> {
    pub(crate) fn open(folder: &'a Path, plan: &'a Plan, there: There) -> anyhow::Result<Self> {
        let models = folder.join("models");
        std::fs::create_dir_all(&models).map_err(|error| cannot_write(&models, &error))?;
        for set in &plan.sets {
            write_problems(folder, set)?;
        }
        let open = |name: &str| {
            let opened = Appender::open(&folder.join(name));
            opened
                .map(Mutex::new)
                .map_err(|error| record_failure(&error))
        };
        let models = there.trained.iter().enumerate();
        let models = models.filter_map(|(task, at)| {
            let record = &there.trainings[(*at)?];
            Some((task, record.model_sha256.clone()))
        });
        Ok(Self {
            folder,
            plan,
            models: Mutex::new(models.collect()),
            there,
            plans: None,
            trainings: open(TRAINING)?,
            evaluations: open(EVALUATIONS)?,
        })
    }

    /// Does what is missing; tells what failed.
    fn work(&self, workers: usize) -> anyhow::Result<Vec<String>> {
        let mut entries: Vec<Entry<Task>> = Vec::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut groups: HashMap<(usize, &str, bool), usize> = HashMap::new();
        for (at, task) in self.plan.trainings.iter().enumerate() {
            if self.there.trained[at].is_none() {
                places.insert(at, entries.len());
                let next = groups.len();
                let group = (task.problems, task.config.heuristic.name(), true);
                entries.push(Entry {
                    task: Task::Train(at),
                    needs: Vec::new(),
                    cost: task.cost,
                    group: *groups.entry(group).or_insert(next),
                });
            }
        }
        for (at, task) in self.plan.evaluations.iter().enumerate() {
            if self.there.evaluated[at].is_none() {
                let next = groups.len();
                let heuristic = task.planned.heuristic.as_deref().unwrap_or_default();
                let group = (task.problems, heuristic, task.training.is_some());
                let needs = task.training.and_then(|training| places.get(&training));
                entries.push(Entry {
                    task: Task::Evaluate(at),
                    needs: needs.copied().into_iter().collect(),
                    cost: task.cost,
                    group: *groups.entry(group).or_insert(next),
                });
            }
        }
        let progress = TaskProgress::new("tasks");
        let execute = |task: &Task| {
            let done = match *task {
                Task::Train(at) => self.train(at),
                Task::Evaluate(at) => self.evaluate(at),
            };
            match done {
                Ok(executed) => executed,
                Err(error) => Executed::Failed(error.to_string()),
            }
        };
        let statuses = schedule::run(&entries, workers, &interrupted, &execute, &|now| {
            progress.show(now);
        });
        progress.finish();
        let mut failures = Vec::new();
        let mut left_out: BTreeMap<usize, usize> = BTreeMap::new();
        for (entry, status) in entries.iter().zip(statuses) {
            match status {
                Status::Failed(reason) => {
                    failures.push(format!("{}: {reason}", self.name(entry.task)));
                }
                Status::Needs(other) => *left_out.entry(other).or_default() += 1,
                Status::Done | Status::Stopped => {}
            }
        }
        for (other, count) in left_out {
            let plural = if count == 1 { "" } else { "s" };
            failures.push(format!(
                "{count} search{} left out for want of {}",
                if count == 1 { plural } else { "es" },
                self.name(entries[other].task)
            ));
        }
        Ok(failures)
    }

    fn name(&self, task: Task) -> String {
        match task {
            Task::Train(at) => format!("training {}", self.plan.trainings[at].model),
            Task::Evaluate(at) => {
                let planned = &self.plan.evaluations[at].planned;
                let seed = planned.model.as_ref().map(|m| format!(" seed {}", m.seed));
                format!(
                    "{} of {} {} with {}{}",
                    planned.search,
                    planned.domain,
                    planned.problem,
                    planned.configuration(),
                    seed.unwrap_or_default()
                )
            }
        }
    }

    pub(crate) fn train(&self, at: usize) -> anyhow::Result<Executed> {
        let task = &self.plan.trainings[at];
        let model = self.folder.join(&task.model);
        let stem = model.with_extension("");
        let beside = |end: &str| {
            let mut name = stem.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        };
        let config = beside(".config.toml");
        write_whole(&config, toml::to_string(&task.config)?.as_bytes())?;
        let set = self.folder.join(&self.plan.sets[task.problems].folder);
        let mut arguments: Vec<OsString> = ["train", "--json", "--resume", "--jobs", "1"]
            .map(OsString::from)
            .to_vec();
        let mut put = |name: &str, value: OsString| arguments.extend([name.into(), value]);
        put("--config", config.clone().into());
        put("--seed", task.seed.to_string().into());
        put("--out", model.clone().into());
        if let Some((set, select)) = &task.select {
            let folder = self.folder.join(&self.plan.sets[*set].folder);
            let mut value = OsString::from("--select=");
            value.push(folder);
            put("--select-every", select.every.to_string().into());
            put(
                "--select-evaluations",
                select.max_evaluations.to_string().into(),
            );
            arguments.push(value);
        }
        arguments.extend(["--".into(), set.clone().into()]);
        let Some(finished) = child::run(&arguments)? else {
            return Ok(Executed::Stopped);
        };
        let answer = serde_json::from_str::<Answer>(finished.stdout.trim());
        let (true, Ok(answer)) = (finished.status.success(), answer) else {
            return Ok(Executed::Failed(finished.reason()));
        };
        let log = beside(".jsonl");
        let record = self.training_record(task, &answer, &Curve::of(&log, task.config.steps))?;
        let appended = self
            .trainings
            .lock()
            .expect("no worker panics")
            .append(&record);
        appended.map_err(|error| record_failure(&error))?;
        let mut models = self.models.lock().expect("no worker panics");
        models.insert(at, record.model_sha256);
        // The record has what the report needs of them.
        let _ = std::fs::remove_file(log);
        let _ = std::fs::remove_file(config);
        let _ = std::fs::remove_dir_all(beside(".events"));
        Ok(Executed::Done)
    }

    fn training_record(
        &self,
        task: &TrainingTask,
        answer: &Answer,
        curve: &Curve,
    ) -> anyhow::Result<Training> {
        let set = &self.plan.sets[task.problems];
        Ok(Training {
            format: RECORD_FORMAT,
            key: task.key.clone(),
            domain: set.domain.clone(),
            domain_sha256: text_hash(set.domain_text.as_bytes()),
            problems_sha256: set.key.clone(),
            problems: answer.problems,
            heuristic: task.config.heuristic.name().to_owned(),
            seed: task.seed,
            config: answer.config.clone(),
            steps: task.config.steps,
            goals: curve.goals.unwrap_or(answer.goals),
            episodes: curve.episodes.unwrap_or(answer.episodes),
            loss: answer.loss,
            curve: curve.points.clone(),
            selected_step: task.select.as_ref().map(|_| answer.steps),
            model: task.model.clone(),
            model_sha256: text_hash(&read_bytes(&self.folder.join(&task.model))?),
            cpu_seconds: answer.cpu_seconds,
            network_seconds: answer.network_seconds,
            planning_seconds: answer.planning_seconds,
            memory_bytes: answer.peak_memory_kb.map(|kilobytes| kilobytes * 1024),
            revision: env!("HOMING_REVISION").to_owned(),
            machine: machine().to_owned(),
        })
    }

    fn evaluate(&self, at: usize) -> anyhow::Result<Executed> {
        Ok(match self.evaluate_and_tell(at)? {
            Some(record) => record.error.map_or(Executed::Done, Executed::Failed),
            None => Executed::Stopped,
        })
    }

    /// Makes a run, records it, and tells what was recorded; `None` if it was interrupted.
    pub(crate) fn evaluate_and_tell(&self, at: usize) -> anyhow::Result<Option<Evaluation>> {
        let task = &self.plan.evaluations[at];
        let set = self.folder.join(&self.plan.sets[task.problems].folder);
        let mut run = Run {
            domain: set.join("domain.pddl"),
            problem: set.join(&task.planned.problem),
            model: None,
            plan: self
                .plans
                .as_deref()
                .map(|folder| plan_file(folder, &task.planned)),
            planned: task.planned.clone(),
        };
        if let Some(training) = task.training {
            run.model = Some(self.folder.join(&self.plan.trainings[training].model));
            let models = self.models.lock().expect("no worker panics");
            if let (Some(model), Some(hash)) = (&mut run.planned.model, models.get(&training)) {
                model.sha256.clone_from(hash);
            }
        }
        let Some(record) = run.make()? else {
            return Ok(None);
        };
        let appended = self
            .evaluations
            .lock()
            .expect("no worker panics")
            .append(&record);
        appended.map_err(|error| record_failure(&error))?;
        Ok(Some(record))
    }
}

/// What a log says of the whole run: a model that was selected knows only what was before it.
struct Curve {
    /// Goals up to about a hundred steps.
    points: Vec<(u64, u64)>,
    goals: Option<u64>,
    episodes: Option<u64>,
}

impl Curve {
    fn of(log: &Path, steps: u64) -> Self {
        #[derive(Deserialize)]
        struct Line {
            step: u64,
            goals: u64,
            resets: u64,
        }
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let every = (steps / 100).max(1);
        let lines = text.lines();
        let lines: Vec<Line> = lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let kept = lines
            .iter()
            .filter(|line| line.step.is_multiple_of(every) || line.step == steps);
        Self {
            points: kept.map(|line| (line.step, line.goals)).collect(),
            goals: lines.last().map(|line| line.goals),
            episodes: lines.last().map(|line| line.resets),
        }
    }
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
    for set in &plan.sets {
        add(
            0,
            format!("problems of {}, {}", set.domain, set.problems.len()),
            false,
            0.1,
        );
    }
    for (task, done) in plan.trainings.iter().zip(&there.trained) {
        let domain = &plan.sets[task.problems].domain;
        let with = if task.select.is_some() {
            " and select"
        } else {
            ""
        };
        let name = format!("train{with} {domain}, {}", task.config.heuristic.name());
        add(1, name, done.is_some(), task.cost);
    }
    for (task, done) in plan.evaluations.iter().zip(&there.evaluated) {
        let planned = &task.planned;
        let name = format!(
            "{} {}, {}",
            planned.search,
            planned.domain,
            planned.configuration()
        );
        add(2, name, done.is_some(), task.cost);
    }
    let width = rows
        .keys()
        .map(|(_, name)| name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = format!(
        "{:width$}  {:>6}  {:>6}  {:>14}\n",
        "task", "number", "done", "one core, up to"
    );
    let mut total = Row::default();
    for ((_, name), row) in &rows {
        let cost = duration(row.seconds);
        text.push_str(&format!(
            "{name:width$}  {:>6}  {:>6}  {cost:>14}\n",
            row.tasks, row.done
        ));
        total.tasks += row.tasks;
        total.done += row.done;
        total.seconds += row.seconds;
    }
    let cost = duration(total.seconds);
    text.push_str(&format!(
        "{:width$}  {:>6}  {:>6}  {cost:>14}\n",
        "all", total.tasks, total.done
    ));
    let plural = if workers == 1 { "" } else { "s" };
    text.push_str(&format!(
        "with {workers} core{plural} up to {}; a search that finds a plan soon takes less\n",
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
