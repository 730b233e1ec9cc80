//! Doing the tasks of an experiment.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use homing_lab::experiment::{Plan, ProblemSet};
use homing_lab::layout::{DOMAIN_FILE, ExperimentFolder, TEMPORARY_PREFIX};
use homing_lab::record::{Appender, Evaluation};
use homing_lab::schedule::{self, Entry, Executed, Status};
use homing_lab::suite::MANIFEST_FILE;

use super::Done;
use crate::error::Error;
use crate::evaluate::{Run, plan_file};
use crate::files::{NewFolder, make_folder};
use crate::observe::Observer;

/// A folder of problems appears whole; one that is there is that of the same problems, since its
/// name has their hash.
fn write_problems(path: &Path, set: &ProblemSet) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    let new = NewFolder::prepare(path)?;
    new.write(DOMAIN_FILE, &set.domain_text)?;
    for problem in &set.problems {
        new.write(&problem.file, &problem.text)?;
    }
    if let Some(manifest) = &set.manifest {
        new.write(MANIFEST_FILE, &manifest.to_json())?;
    }
    new.finish()
}

/// Holds the folder of an experiment: two at work in one would write over one another.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the folder, and removes what a killed run had begun to write.
    ///
    /// # Errors
    ///
    /// If another process holds it, or it cannot be written.
    pub fn take(folder: &ExperimentFolder) -> Result<Self, Error> {
        make_folder(&folder.path)?;
        let path = folder.lock();
        let file = File::create(&path).map_err(|error| Error::write(&path, error))?;
        if file.try_lock().is_err() {
            return Err(Error::Request(format!(
                "another homing is at work in {}: wait for it, or name another folder",
                folder.path.display()
            )));
        }
        // Nobody else is at work here.
        for place in [folder.path.clone(), folder.models(), folder.problems()] {
            for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if name.to_string_lossy().starts_with(TEMPORARY_PREFIX) {
                    let _ = std::fs::remove_file(entry.path());
                    let _ = std::fs::remove_dir_all(entry.path());
                }
            }
        }
        Ok(Self { _file: file })
    }
}

/// One thing to do, by its place in the plan.
#[derive(Clone, Copy)]
enum Task {
    Train(usize),
    Evaluate(usize),
}

/// Tasks that are alike: what some took tells what the others will.
#[derive(PartialEq, Eq, Hash)]
struct Alike<'a> {
    problems: usize,
    heuristic: &'a str,
    learned: bool,
}

/// Does the tasks of an experiment, each in a process of its own.
pub struct Runner<'a> {
    pub(super) folder: &'a ExperimentFolder,
    pub(super) plan: &'a Plan,
    /// The command `homing`, which does each task.
    pub(super) command: &'a Path,
    pub(super) observer: &'a dyn Observer,
    done: Done,
    pub(super) trainings: Mutex<Appender>,
    evaluations: Mutex<Appender>,
    /// SHA-256 of each model that is there, by its training.
    pub(super) models: Mutex<HashMap<usize, String>>,
    /// Where plans go, if they are to be kept.
    plans: Option<PathBuf>,
}

impl<'a> Runner<'a> {
    /// Writes the problems and opens the files of records. Whoever does so holds the folder's
    /// [`FolderLock`].
    ///
    /// # Errors
    ///
    /// If a file cannot be read or written.
    pub fn open(
        folder: &'a ExperimentFolder,
        plan: &'a Plan,
        command: &'a Path,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let done = Done::read(folder, plan)?;
        make_folder(&folder.models())?;
        for set in &plan.sets {
            write_problems(&folder.file(&set.folder), set)?;
        }
        let models = (0..plan.trainings.len())
            .filter_map(|task| Some((task, done.training(task)?.model_sha256.clone())));
        Ok(Self {
            folder,
            plan,
            command,
            observer,
            models: Mutex::new(models.collect()),
            done,
            plans: None,
            trainings: Mutex::new(Appender::open(&folder.trainings())?),
            evaluations: Mutex::new(Appender::open(&folder.evaluations())?),
        })
    }

    /// Keeps the plans, in the folder's own place for them.
    ///
    /// # Errors
    ///
    /// If that cannot be made.
    pub fn keep_plans(&mut self) -> Result<(), Error> {
        let plans = self.folder.plans();
        make_folder(&plans)?;
        self.plans = Some(plans);
        Ok(())
    }

    /// What is missing, what each task needs first, and which are alike.
    fn entries(&self) -> Vec<Entry<Task>> {
        let mut entries: Vec<Entry<Task>> = Vec::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        let mut groups: HashMap<Alike<'_>, usize> = HashMap::new();
        for (at, task) in self.plan.trainings.iter().enumerate() {
            if self.done.training(at).is_none() {
                places.insert(at, entries.len());
                let next = groups.len();
                let alike = Alike {
                    problems: task.problems,
                    heuristic: task.config.heuristic.name(),
                    learned: true,
                };
                entries.push(Entry {
                    task: Task::Train(at),
                    needs: Vec::new(),
                    cost: task.cost,
                    group: *groups.entry(alike).or_insert(next),
                });
            }
        }
        for (at, task) in self.plan.evaluations.iter().enumerate() {
            if self.done.evaluation(at).is_none() {
                let next = groups.len();
                let alike = Alike {
                    problems: task.problems,
                    heuristic: task.planned.heuristic.as_deref().unwrap_or_default(),
                    learned: task.training.is_some(),
                };
                let needs = task.training.and_then(|training| places.get(&training));
                entries.push(Entry {
                    task: Task::Evaluate(at),
                    needs: needs.copied().into_iter().collect(),
                    cost: task.cost,
                    group: *groups.entry(alike).or_insert(next),
                });
            }
        }
        entries
    }

    /// Does what is missing; tells what failed.
    pub fn work(&self, workers: usize) -> Vec<String> {
        let entries = self.entries();
        let execute = |task: &Task| {
            let done = match *task {
                Task::Train(at) => self.train(at),
                Task::Evaluate(at) => self.evaluate(at).map(|ended| match ended {
                    Some(record) => record.error.map_or(Executed::Done, Executed::Failed),
                    None => Executed::Stopped,
                }),
            };
            done.unwrap_or_else(|error| Executed::Failed(error.to_string()))
        };
        let stopped = || self.observer.stopped();
        let statuses = schedule::run(&entries, workers, &stopped, &execute, &|now| {
            self.observer.task_ended(now);
        });
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
            let plural = if count == 1 { "" } else { "es" };
            failures.push(format!(
                "{count} search{plural} left out for want of {}",
                self.name(entries[other].task)
            ));
        }
        failures
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

    /// Makes a run of the plan and records it; `None` if it was stopped.
    ///
    /// # Errors
    ///
    /// If the run cannot begin, or its record cannot be written.
    pub fn evaluate(&self, at: usize) -> Result<Option<Evaluation>, Error> {
        let task = &self.plan.evaluations[at];
        let set = self.folder.file(&self.plan.sets[task.problems].folder);
        let mut run = Run {
            domain: set.join(DOMAIN_FILE),
            problem: set.join(&task.planned.problem),
            model: None,
            plan: self
                .plans
                .as_deref()
                .map(|folder| plan_file(folder, &task.planned)),
            planned: task.planned.clone(),
        };
        if let Some(training) = task.training {
            run.model = Some(self.folder.file(&self.plan.trainings[training].model));
            let models = self.models.lock().expect("no worker panics");
            if let (Some(model), Some(hash)) = (&mut run.planned.model, models.get(&training)) {
                model.sha256.clone_from(hash);
            }
        }
        let Some(record) = run.make(self.command, self.observer)? else {
            return Ok(None);
        };
        let mut evaluations = self.evaluations.lock().expect("no worker panics");
        evaluations.append(&record)?;
        drop(evaluations);
        self.observer.evaluated(&record);
        Ok(Some(record))
    }
}
