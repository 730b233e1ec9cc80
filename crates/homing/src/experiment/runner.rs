//! Doing the tasks of an experiment.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use homing_lab::experiment::{Plan, ProblemSet, Task};
use homing_lab::layout::{DOMAIN_FILE, ExperimentFolder};
use homing_lab::record::{Evaluation, Failure, RECORD_FORMAT, Record};
use homing_lab::schedule::{self, Entry, Executed, Status};
use homing_lab::suite::MANIFEST_FILE;

use super::Done;
use super::part::{FAILURES, Part, Records};
use crate::error::Error;
use crate::evaluate::Run;
use crate::files::{NewFolder, make_folder};
use crate::observe::{Notice, Observer};
use crate::resources::machine;

/// A folder of problems appears whole; one that is there is that of the same problems, since its
/// name has their hash.
fn write_problems(path: &Path, set: &ProblemSet) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    let write = || -> Result<(), Error> {
        let new = NewFolder::prepare(path)?;
        new.write(DOMAIN_FILE, &set.domain_text)?;
        for problem in &set.problems {
            new.write(&problem.file, &problem.text)?;
        }
        if let Some(manifest) = &set.manifest {
            new.write(MANIFEST_FILE, &manifest.to_json())?;
        }
        new.finish()
    };
    match write() {
        // Somebody else was faster.
        Err(_) if path.join(DOMAIN_FILE).is_file() => Ok(()),
        written => written,
    }
}

/// Passes on what happens, and ends the work for reasons of its own too.
pub(super) struct Bounded<'a> {
    observer: &'a dyn Observer,
    /// When the work is to end.
    until: Option<Instant>,
    /// Records cannot be written: whatever is done would be lost.
    unwritable: AtomicBool,
}

impl Observer for Bounded<'_> {
    fn stopped(&self) -> bool {
        self.observer.stopped()
            || self.until.is_some_and(|until| Instant::now() >= until)
            || self.unwritable.load(Ordering::Relaxed)
    }

    fn finishing(&self) {
        self.observer.finishing();
    }

    fn notice(&self, notice: &Notice) {
        self.observer.notice(notice);
    }

    fn task_ended(&self, progress: schedule::Progress) {
        self.observer.task_ended(progress);
    }

    fn evaluated(&self, record: &Evaluation) {
        self.observer.evaluated(record);
    }
}

/// What is known before the work begins.
pub(super) struct Work<'a> {
    pub(super) folder: &'a ExperimentFolder,
    pub(super) plan: &'a Plan,
    pub(super) done: &'a Done,
    /// The command `homing`, which does each task.
    pub(super) command: &'a Path,
    /// Tasks at a time.
    pub(super) workers: usize,
    /// When the work is to end.
    pub(super) until: Option<Instant>,
    /// Bytes of memory that a task may take.
    pub(super) memory: Option<u64>,
}

/// Does tasks of an experiment, each in a process of its own.
pub(super) struct Runner<'a> {
    pub(super) folder: &'a ExperimentFolder,
    pub(super) plan: &'a Plan,
    pub(super) command: &'a Path,
    pub(super) observer: Bounded<'a>,
    done: &'a Done,
    workers: usize,
    pub(super) memory: Option<u64>,
    pub(super) trainings: Mutex<Records>,
    evaluations: Mutex<Records>,
    failures: Mutex<Records>,
    /// SHA-256 of each model that is there, by its training.
    pub(super) models: Mutex<HashMap<usize, String>>,
    /// The files of this process.
    _part: Part,
}

impl<'a> Runner<'a> {
    /// Writes the problems and gets ready. Who holds the folder alone writes records into the files
    /// of the folder; who shares it, into files of his own.
    pub(super) fn open(
        work: &Work<'a>,
        share: Option<&str>,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let (folder, plan, done) = (work.folder, work.plan, work.done);
        make_folder(&folder.models())?;
        for set in &plan.sets {
            write_problems(&folder.file(&set.folder), set)?;
        }
        let part = Part::begin(folder, share.unwrap_or("all"), work.workers)?;
        let records = |name: &str, whole: PathBuf| {
            let path = share.map_or(whole, |_| part.file(name));
            Mutex::new(Records::new(path))
        };
        let models = (0..plan.trainings.len())
            .filter_map(|task| Some((task, done.model(task)?.sha256.clone())));
        Ok(Self {
            folder,
            plan,
            command: work.command,
            observer: Bounded {
                observer,
                until: work.until,
                unwritable: AtomicBool::new(false),
            },
            done,
            workers: work.workers,
            memory: work.memory,
            models: Mutex::new(models.collect()),
            trainings: records(ExperimentFolder::TRAININGS, folder.trainings()),
            evaluations: records(ExperimentFolder::EVALUATIONS, folder.evaluations()),
            failures: Mutex::new(Records::new(part.file(FAILURES))),
            _part: part,
        })
    }

    /// Writes a record. If that cannot be done, all work ends: it would be lost.
    pub(super) fn write(
        &self,
        records: &Mutex<Records>,
        record: &impl Record,
    ) -> Result<(), Error> {
        let written = records.lock().expect("no worker panics").append(record);
        if written.is_err() {
            self.observer.unwritable.store(true, Ordering::Relaxed);
        }
        written
    }

    /// What of these tasks is missing, and what each needs first; and the trainings that are missed
    /// and not among them, with the number of searches that need each.
    fn entries(&self, tasks: &[Task]) -> (Vec<Entry<Task>>, BTreeMap<usize, usize>) {
        let mut entries: Vec<Entry<Task>> = Vec::new();
        let mut missed: BTreeMap<usize, usize> = BTreeMap::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut groups: HashMap<String, usize> = HashMap::new();
        for &task in tasks.iter().filter(|&&task| !self.done.is_done(task)) {
            let mut needs = Vec::new();
            match task {
                Task::Train(at) => {
                    places.insert(at, entries.len());
                }
                Task::Search(at) => {
                    if let Some(training) = self.plan.evaluations[at].training
                        && self.done.model(training).is_none()
                    {
                        let Some(&place) = places.get(&training) else {
                            *missed.entry(training).or_default() += 1;
                            continue;
                        };
                        needs.push(place);
                    }
                }
            }
            let next = groups.len();
            entries.push(Entry {
                task,
                needs,
                cost: self.plan.cost(task),
                group: *groups.entry(self.plan.kind(task)).or_insert(next),
            });
        }
        (entries, missed)
    }

    /// Does what is missing of these tasks, which come in the order of the plan; tells what failed.
    pub(super) fn work(&self, tasks: &[Task]) -> Vec<String> {
        let (entries, mut left_out) = self.entries(tasks);
        let execute = |task: &Task| {
            let executed = match *task {
                Task::Train(at) => self.train(at),
                Task::Search(at) => self.evaluate(at),
            };
            let executed = executed.unwrap_or_else(|error| Executed::Failed(error.to_string()));
            if let Executed::Failed(reason) = &executed {
                self.note_failure(*task, reason);
            }
            executed
        };
        let stopped = || self.observer.stopped();
        let statuses = schedule::run(&entries, self.workers, &stopped, &execute, &|now| {
            self.observer.task_ended(now);
        });
        let mut failures = Vec::new();
        for (entry, status) in entries.iter().zip(statuses) {
            match status {
                Status::Failed(reason) => {
                    failures.push(format!("{}: {reason}", self.plan.name(entry.task)));
                }
                Status::Needs(other) => {
                    if let Task::Train(at) = entries[other].task {
                        *left_out.entry(at).or_default() += 1;
                    }
                }
                Status::Done | Status::Stopped => {}
            }
        }
        for (training, count) in left_out {
            let plural = if count == 1 { "" } else { "es" };
            failures.push(format!(
                "{count} search{plural} left out for want of {}",
                self.plan.name(Task::Train(training))
            ));
        }
        failures
    }

    /// Leaves a note for `homing experiment status`.
    fn note_failure(&self, task: Task, reason: &str) {
        let failure = Failure {
            format: RECORD_FORMAT,
            key: self.plan.key(task).to_owned(),
            task: self.plan.name(task),
            reason: reason.to_owned(),
            machine: machine().to_owned(),
        };
        // A note that cannot be written is told in the end all the same.
        let _ = self
            .failures
            .lock()
            .expect("no worker panics")
            .append(&failure);
    }

    /// Makes a run of the plan and records it.
    fn evaluate(&self, at: usize) -> Result<Executed, Error> {
        let task = &self.plan.evaluations[at];
        let set = self.folder.file(&self.plan.sets[task.problems].folder);
        let mut run = Run {
            domain: set.join(DOMAIN_FILE),
            problem: set.join(&task.planned.problem),
            model: None,
            plan: None,
            planned: task.planned.clone(),
            memory: self.memory,
        };
        if let Some(training) = task.training {
            run.model = Some(self.folder.file(&self.plan.trainings[training].model));
            let models = self.models.lock().expect("no worker panics");
            if let (Some(model), Some(hash)) = (&mut run.planned.model, models.get(&training)) {
                model.sha256.clone_from(hash);
            }
        }
        let Some(record) = run.make(self.command, &self.observer)? else {
            return Ok(Executed::Stopped);
        };
        self.write(&self.evaluations, &record)?;
        self.observer.evaluated(&record);
        Ok(record.error.map_or(Executed::Done, Executed::Failed))
    }
}
