//! How far an experiment is, from its records: whoever does it, and wherever.

use std::collections::BTreeMap;

use homing_lab::experiment::{Plan, Stage};
use homing_lab::layout::ExperimentFolder;

use super::part::at_work;
use super::slurm::{Queued, Submitted, queue};
use super::{AtWork, Done, LoadedExperiment, Source, load};
use crate::error::Error;
use crate::observe::Observer;

/// How far the tasks of a stage are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageStatus {
    /// All tasks.
    pub total: usize,
    /// Tasks that are done.
    pub done: usize,
    /// Tasks that failed when they were last tried.
    pub failed: usize,
    /// CPU seconds of what is done.
    pub seconds_used: f64,
    /// CPU seconds that the rest is thought to take.
    pub seconds_left: f64,
}

impl StageStatus {
    /// Tasks that are neither done nor failed.
    pub fn missing(&self) -> usize {
        self.total - self.done - self.failed
    }
}

/// How far an experiment is.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentStatus {
    /// Training and searches.
    pub stages: BTreeMap<Stage, StageStatus>,
    /// Processes that are at work in the folder, as far as this machine can see.
    pub at_work: Vec<AtWork>,
    /// How failures are explained, and how many tasks have each explanation.
    pub failures: BTreeMap<String, usize>,
    /// Jobs on a cluster, where some were submitted.
    pub submitted: Option<Submitted>,
    /// Those in the queue, where it answers.
    pub queued: Option<Vec<Queued>>,
}

impl ExperimentStatus {
    /// All stages together.
    pub fn all(&self) -> StageStatus {
        let mut all = StageStatus::default();
        for stage in self.stages.values() {
            all.total += stage.total;
            all.done += stage.done;
            all.failed += stage.failed;
            all.seconds_used += stage.seconds_used;
            all.seconds_left += stage.seconds_left;
        }
        all
    }

    /// Tasks that are being done now, as far as this machine can see.
    pub fn running(&self) -> usize {
        self.at_work.iter().map(|process| process.jobs).sum()
    }
}

/// Plans the experiment that was last run in a folder.
///
/// # Errors
///
/// If there is none, or it cannot be planned any more.
pub fn load_of_folder(
    folder: &ExperimentFolder,
    observer: &dyn Observer,
) -> Result<LoadedExperiment, Error> {
    let source = std::fs::read(folder.source()).ok();
    let source: Option<Source> = source.and_then(|text| serde_json::from_slice(&text).ok());
    // Paths in the file are relative to where it was; without these, the copy will do.
    let file = source
        .map(|source| source.file)
        .filter(|file| file.exists())
        .unwrap_or_else(|| folder.spec());
    if !file.exists() {
        return Err(Error::Request(format!(
            "there is no experiment in {}",
            folder.path.display()
        )));
    }
    load(&file, observer)
}

/// Reads how far an experiment is.
///
/// # Errors
///
/// If records cannot be read.
pub fn status(folder: &ExperimentFolder, plan: &Plan) -> Result<ExperimentStatus, Error> {
    let done = Done::read(folder, plan)?;
    let costs = done.costs(plan);
    let mut stages: BTreeMap<Stage, StageStatus> = BTreeMap::new();
    for task in plan.tasks() {
        let stage = stages.entry(task.stage()).or_default();
        stage.total += 1;
        match done.seconds(task) {
            Some(seconds) => {
                stage.done += 1;
                stage.seconds_used += seconds;
            }
            None => stage.seconds_left += costs.of(plan, task),
        }
    }
    let mut failures: BTreeMap<String, usize> = BTreeMap::new();
    for (task, reason) in done.failed() {
        stages.entry(task.stage()).or_default().failed += 1;
        *failures.entry(reason.clone()).or_default() += 1;
    }
    let submitted = Submitted::read(folder)?;
    let queued = submitted.as_ref().and_then(|jobs| queue(&jobs.ids()));
    Ok(ExperimentStatus {
        stages,
        at_work: at_work(folder),
        failures,
        submitted,
        queued,
    })
}
