//! Doing the tasks of an experiment.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use homing_lab::experiment::{Plan, ProblemSet};
use homing_lab::record::{Appender, Evaluation};
use homing_lab::schedule::{self, Entry, Executed, Status};
use homing_lab::suite::MANIFEST_FILE;

use super::{EVALUATIONS, TRAINING, There};
use crate::evaluate::{Run, plan_file, record_failure};
use crate::folder::NewFolder;
use crate::output::make_folder;
use crate::progress::TaskProgress;
use crate::watch::interrupted;

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
    pub(super) folder: &'a Path,
    pub(super) plan: &'a Plan,
    there: There,
    pub(super) trainings: Mutex<Appender>,
    evaluations: Mutex<Appender>,
    /// SHA-256 of each model that is there, by its training.
    pub(super) models: Mutex<HashMap<usize, String>>,
    /// Where plans go, if they are to be kept.
    pub(crate) plans: Option<PathBuf>,
}

impl<'a> Laboratory<'a> {
    pub(crate) fn open(folder: &'a Path, plan: &'a Plan, there: There) -> anyhow::Result<Self> {
        let models = folder.join("models");
        make_folder(&models)?;
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
            let record = &there.trainings()[(*at)?];
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
    pub(super) fn work(&self, workers: usize) -> anyhow::Result<Vec<String>> {
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
