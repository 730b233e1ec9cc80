//! What of an experiment is done already, and its files of records.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use homing_lab::experiment::Plan;
use homing_lab::layout::{ExperimentFolder, ModelFiles};
use homing_lab::record::{self, Evaluation, Outcome, Record, Training};
use homing_lab::suite::text_hash;

use crate::error::Error;
use crate::files::{make_folder, write_whole};

/// What is done already, by the order of the plan.
#[derive(Clone, Debug)]
pub struct Done {
    trainings: Vec<Training>,
    evaluations: Vec<Evaluation>,
    /// The place of each task's record, if it is done.
    trained: Vec<Option<usize>>,
    evaluated: Vec<Option<usize>>,
}

fn read_all<R: Record>(earlier: &Path, now: &Path) -> Result<Vec<R>, Error> {
    let mut records: Vec<R> = Vec::new();
    // Earlier ones first: where both have a key, the one in the folder itself holds.
    for path in [earlier, now] {
        if path.exists() {
            records.extend(record::read::<R>(path)?);
        }
    }
    Ok(records)
}

impl Done {
    /// Reads the records of a folder. A model that was lost or changed counts as not trained.
    ///
    /// # Errors
    ///
    /// If records cannot be read.
    pub fn read(folder: &ExperimentFolder, plan: &Plan) -> Result<Self, Error> {
        let earlier = folder.earlier();
        let trainings: Vec<Training> = read_all(&earlier.trainings(), &folder.trainings())?;
        let evaluations: Vec<Evaluation> = read_all(&earlier.evaluations(), &folder.evaluations())?;
        let by_key = places(&trainings);
        let trained = plan.trainings.iter().map(|task| {
            let at = *by_key.get(task.key.as_str())?;
            let model = std::fs::read(folder.file(&task.model)).ok()?;
            (text_hash(&model) == trainings[at].model_sha256).then_some(at)
        });
        let trained: Vec<Option<usize>> = trained.collect();
        let by_key = places(&evaluations);
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

    /// The record of a training of the plan, if it is done.
    pub fn training(&self, task: usize) -> Option<&Training> {
        self.trained[task].map(|at| &self.trainings[at])
    }

    /// The record of an evaluation of the plan, if it is done.
    pub fn evaluation(&self, task: usize) -> Option<&Evaluation> {
        self.evaluated[task].map(|at| &self.evaluations[at])
    }

    /// How many tasks of the plan are not done.
    pub fn missing(&self) -> usize {
        let open = |tasks: &[Option<usize>]| tasks.iter().filter(|task| task.is_none()).count();
        open(&self.trained) + open(&self.evaluated)
    }

    /// Leaves in the files what the plan asks for, in an order that does not depend on who was
    /// done first, and puts the rest aside.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn tidy(&self, folder: &ExperimentFolder, plan: &Plan) -> Result<(), Error> {
        for (task, done) in plan.trainings.iter().zip(&self.trained) {
            // A kill may have come between the record and this.
            if done.is_some() {
                ModelFiles::of(folder.file(&task.model)).remove_working_files();
            }
        }
        let earlier = folder.earlier();
        let wanted = plan.trainings.iter().map(|task| task.key.as_str());
        let trainings = Tidied::new(&self.trainings, &wanted.collect(), |record| {
            (
                record.domain.clone(),
                record.heuristic.clone(),
                record.seed,
                record.key.clone(),
            )
        });
        trainings.write(&folder.trainings(), &earlier, &earlier.trainings())?;
        let wanted = plan.evaluations.iter();
        let wanted = wanted.map(|task| task.planned.key.as_str());
        let evaluations = Tidied::new(&self.evaluations, &wanted.collect(), |record| {
            (
                record.domain.clone(),
                record.search.clone(),
                record.configuration(),
                record.model.as_ref().map(|model| model.seed),
                record.problem.clone(),
                record.key.clone(),
            )
        });
        evaluations.write(&folder.evaluations(), &earlier, &earlier.evaluations())
    }
}

/// Where the record of each key is; the last one of a key holds.
fn places<R: Record>(records: &[R]) -> HashMap<&str, usize> {
    let places = records.iter().enumerate();
    places.map(|(at, record)| (record.key(), at)).collect()
}

/// Records in order: those that are asked for, and the others.
struct Tidied<'a, R> {
    here: Vec<&'a R>,
    aside: Vec<&'a R>,
}

impl<'a, R: Record> Tidied<'a, R> {
    fn new<O: Ord>(records: &'a [R], wanted: &HashSet<&str>, order: impl Fn(&R) -> O) -> Self {
        let last = places(records);
        let mut here: Vec<&R> = Vec::new();
        let mut aside: Vec<&R> = Vec::new();
        for (at, record) in records.iter().enumerate() {
            if last[record.key()] != at {
                continue;
            }
            if wanted.contains(record.key()) {
                here.push(record);
            } else {
                aside.push(record);
            }
        }
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
