//! What of an experiment is done already, and its files of records.

use std::collections::HashMap;
use std::path::Path;

use homing_lab::experiment::Plan;
use homing_lab::record::{self, Evaluation, Outcome, Record, Training};
use homing_lab::suite::text_hash;

use super::training::WorkingFiles;
use super::{EVALUATIONS, TRAINING};
use crate::evaluate::record_failure;
use crate::output::{make_folder, write_whole};

/// Records of runs that the experiment, as it is now, does not ask for.
const EARLIER: &str = "earlier";

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
        for (task, done) in plan.trainings.iter().zip(&self.trained) {
            // A kill may have come between the record and this.
            if done.is_some() {
                WorkingFiles::of(&folder.join(&task.model)).remove();
            }
        }
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

    pub(super) fn undone(&self) -> usize {
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
        make_folder(&earlier)?;
        write(&earlier.join(name), &mut aside)?;
    }
    if !here.is_empty() || folder.join(name).exists() {
        write(&folder.join(name), &mut here)?;
    }
    Ok(())
}
