//! What of an experiment is done already, and its files of records.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use homing_lab::experiment::{Costs, Plan, Stage, Task};
use homing_lab::layout::{ExperimentFolder, ModelFiles};
use homing_lab::record::{self, Evaluation, Failure, Outcome, Record, Trace, Training};
use homing_lab::suite::text_hash;

use super::part::{FAILURES, part_files};
use crate::error::Error;
use crate::files::{make_folder, write_whole};

/// A model that is there, as its record says.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// SHA-256 of it.
    pub sha256: String,
    /// CPU seconds that it took.
    pub cpu_seconds: f64,
}

/// What is done already, by the order of the plan.
#[derive(Clone, Debug)]
pub struct Done {
    trained: Vec<Option<Trained>>,
    /// CPU seconds of each search that was made.
    searched: Vec<Option<f64>>,
    /// Why tasks failed that are not done.
    failed: BTreeMap<Task, String>,
}

/// Files of records, the folder's own before those of processes that share the work.
fn files_of(folder: &ExperimentFolder, stage: Stage) -> Vec<PathBuf> {
    let earlier = folder.earlier();
    let (name, own) = match stage {
        Stage::Train => (
            ExperimentFolder::TRAININGS,
            [folder.trainings(), earlier.trainings()],
        ),
        Stage::Search => (
            ExperimentFolder::EVALUATIONS,
            [folder.evaluations(), earlier.evaluations()],
        ),
    };
    let own = own.into_iter().filter(|path| path.exists());
    own.chain(part_files(folder, name)).collect()
}

/// The models of these trainings that are there.
pub(super) fn trained(
    folder: &ExperimentFolder,
    plan: &Plan,
    tasks: &[usize],
) -> Result<HashMap<usize, Trained>, Error> {
    let places: HashMap<&str, usize> = tasks
        .iter()
        .map(|&at| (plan.trainings[at].key.as_str(), at))
        .collect();
    // Several records of a key differ if a model was lost and trained on another machine.
    let mut recorded: HashMap<usize, Vec<Trained>> = HashMap::new();
    for path in files_of(folder, Stage::Train) {
        record::scan(&path, |trace: Trace| {
            let place = places.get(trace.key.as_str());
            if let (Some(&at), Some(sha256)) = (place, trace.model_sha256) {
                recorded.entry(at).or_default().push(Trained {
                    sha256,
                    cpu_seconds: trace.cpu_seconds,
                });
            }
        })?;
    }
    let there = recorded.into_iter().filter_map(|(at, records)| {
        // A model that was lost or changed counts as not trained.
        let model = std::fs::read(folder.file(&plan.trainings[at].model)).ok()?;
        let hash = text_hash(&model);
        let record = records.into_iter().find(|record| record.sha256 == hash)?;
        Some((at, record))
    });
    Ok(there.collect())
}

impl Done {
    /// Reads the records of a folder. A model that was lost or changed counts as not trained.
    ///
    /// # Errors
    ///
    /// If records cannot be read.
    pub fn read(folder: &ExperimentFolder, plan: &Plan) -> Result<Self, Error> {
        let all: Vec<usize> = (0..plan.trainings.len()).collect();
        let mut there = trained(folder, plan, &all)?;
        let trained: Vec<Option<Trained>> = all.iter().map(|at| there.remove(at)).collect();
        let mut searched = vec![None; plan.evaluations.len()];
        let mut failed = BTreeMap::new();
        let places: HashMap<&str, Task> = plan.tasks().map(|task| (plan.key(task), task)).collect();
        for path in files_of(folder, Stage::Search) {
            record::scan(&path, |trace: Trace| {
                let Some(&Task::Search(at)) = places.get(trace.key.as_str()) else {
                    return;
                };
                let model = plan.evaluations[at].training;
                if trace.outcome == Some(Outcome::Failed) {
                    failed.insert(Task::Search(at), trace.error.unwrap_or_default());
                } else if model.is_none_or(|model| trained[model].is_some()) {
                    searched[at] = Some(trace.cpu_seconds);
                }
            })?;
        }
        for path in part_files(folder, FAILURES) {
            record::scan(&path, |failure: Failure| {
                if let Some(&task) = places.get(failure.key.as_str()) {
                    failed.insert(task, failure.reason);
                }
            })?;
        }
        let mut done = Self {
            trained,
            searched,
            failed,
        };
        let done_since: HashSet<Task> = done.costs_of_done().map(|(task, _)| task).collect();
        done.failed.retain(|task, _| !done_since.contains(task));
        Ok(done)
    }

    /// The model of a training of the plan, if it is there.
    pub fn model(&self, training: usize) -> Option<&Trained> {
        self.trained[training].as_ref()
    }

    /// CPU seconds of a task, if it is done.
    pub fn seconds(&self, task: Task) -> Option<f64> {
        match task {
            Task::Train(at) => self.trained[at].as_ref().map(|model| model.cpu_seconds),
            Task::Search(at) => self.searched[at],
        }
    }

    /// Whether a task is done.
    pub fn is_done(&self, task: Task) -> bool {
        self.seconds(task).is_some()
    }

    /// Tasks that failed when they were last tried, and why.
    pub fn failed(&self) -> &BTreeMap<Task, String> {
        &self.failed
    }

    fn costs_of_done(&self) -> impl Iterator<Item = (Task, f64)> {
        let trained = self.trained.iter().enumerate();
        let trained =
            trained.filter_map(|(at, model)| Some((Task::Train(at), model.as_ref()?.cpu_seconds)));
        let searched = self.searched.iter().enumerate();
        let searched = searched.filter_map(|(at, took)| Some((Task::Search(at), (*took)?)));
        trained.chain(searched)
    }

    /// What tasks cost, as far as the records tell.
    pub fn costs(&self, plan: &Plan) -> Costs {
        Costs::measured(plan, self.costs_of_done())
    }

    /// How many tasks of the plan are not done.
    pub fn missing(&self) -> usize {
        self.trained.len() + self.searched.len() - self.costs_of_done().count()
    }

    /// Leaves in the files of the folder what the plan asks for, in an order that does not depend
    /// on who was done first, and puts the rest aside. The files of those who share the work stay
    /// as they are: whoever writes one may be at it.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or written.
    pub fn tidy(&self, folder: &ExperimentFolder, plan: &Plan) -> Result<(), Error> {
        let earlier = folder.earlier();
        let models: HashMap<&str, Option<&Trained>> = plan
            .trainings
            .iter()
            .zip(&self.trained)
            .map(|(task, model)| (task.key.as_str(), model.as_ref()))
            .collect();
        let trainings = read_all(folder, Stage::Train, |record: &Training| {
            let model = models.get(record.key.as_str()).copied().flatten();
            model.is_none_or(|model| model.sha256 == record.model_sha256)
        })?;
        let trainings = Tidied::new(
            &trainings,
            |key| models.contains_key(key),
            |record| {
                (
                    record.domain.clone(),
                    record.heuristic.clone(),
                    record.seed,
                    record.key.clone(),
                )
            },
        );
        trainings.write(&folder.trainings(), &earlier, &earlier.trainings())?;
        let evaluations = read_all(folder, Stage::Search, |record: &Evaluation| {
            record.outcome != Outcome::Failed
        })?;
        let wanted = plan.evaluations.iter();
        let wanted: HashSet<&str> = wanted.map(|task| task.planned.key.as_str()).collect();
        let evaluations = Tidied::new(
            &evaluations,
            |key| wanted.contains(key),
            |record| {
                (
                    record.domain.clone(),
                    record.search.clone(),
                    record.configuration(),
                    record.model.as_ref().map(|model| model.seed),
                    record.problem.clone(),
                    record.key.clone(),
                )
            },
        );
        evaluations.write(&folder.evaluations(), &earlier, &earlier.evaluations())
    }

    /// Removes what a kill left behind between a record and its end. Nobody may be training here.
    pub(super) fn remove_working_files(&self, folder: &ExperimentFolder, plan: &Plan) {
        for (task, done) in plan.trainings.iter().zip(&self.trained) {
            if done.is_some() {
                ModelFiles::of(folder.file(&task.model)).remove_working_files();
            }
        }
    }
}

/// All records, one of each key: the first that is good, else the first.
fn read_all<R: Record>(
    folder: &ExperimentFolder,
    stage: Stage,
    good: impl Fn(&R) -> bool,
) -> Result<Vec<R>, Error> {
    let mut records: Vec<R> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for path in files_of(folder, stage) {
        for record in record::read::<R>(&path)? {
            match places.get(record.key()) {
                Some(&at) if good(&record) && !good(&records[at]) => records[at] = record,
                Some(_) => {}
                None => {
                    places.insert(record.key().to_owned(), records.len());
                    records.push(record);
                }
            }
        }
    }
    Ok(records)
}

/// Records in order: those that are asked for, and the others.
struct Tidied<'a, R> {
    here: Vec<&'a R>,
    aside: Vec<&'a R>,
}

impl<'a, R: Record> Tidied<'a, R> {
    fn new<O: Ord>(
        records: &'a [R],
        wanted: impl Fn(&str) -> bool,
        order: impl Fn(&R) -> O,
    ) -> Self {
        let (mut here, mut aside): (Vec<&R>, Vec<&R>) =
            records.iter().partition(|record| wanted(record.key()));
        here.sort_by_cached_key(|record| order(record));
        aside.sort_by_cached_key(|record| order(record));
        Self { here, aside }
    }

    fn write(&self, path: &Path, earlier: &ExperimentFolder, aside: &Path) -> Result<(), Error> {
        if !self.aside.is_empty() {
            make_folder(&earlier.path)?;
            write_records(aside, &self.aside)?;
        }
        if !self.here.is_empty() || path.exists() {
            write_records(path, &self.here)?;
        }
        Ok(())
    }
}

/// Writes a file of records, unless it is there as it should be.
fn write_records<R: Record>(path: &Path, records: &[&R]) -> Result<(), Error> {
    let mut text = String::new();
    for record in records {
        text.push_str(&serde_json::to_string(record).map_err(Error::bug)?);
        text.push('\n');
    }
    if std::fs::read(path).is_ok_and(|bytes| bytes == text.as_bytes()) {
        return Ok(());
    }
    write_whole(path, text.as_bytes())
}
