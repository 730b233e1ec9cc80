//! What trainings on tasks have in common: the tasks, a model that may be there already, and runs
//! that go step by step with a checkpoint to go on from.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use homing_lab::layout::ModelFiles;
use homing_learner::AnyModel;
use homing_planner::{Stop, Task};
use serde::Serialize;

use super::{LoadedTasks, SelectConfig, TrainEnd, TrainRequest, Validation, load_tasks};
use crate::error::Error;
use crate::files::write_whole;
use crate::observe::Observer;

/// A learner that needs tasks and its settings: what runs of all seeds have in common.
pub(super) struct TaskSession<'a, T> {
    pub(super) request: &'a TrainRequest,
    pub(super) training: &'a T,
    pub(super) tasks: Vec<Arc<Task>>,
    /// What snapshots are tried on, where the learner has some.
    pub(super) validation: Option<Validation<'a>>,
    pub(super) observer: &'a dyn Observer,
}

/// A run in steps.
pub(super) trait Stepwise {
    /// Steps taken so far.
    fn steps(&self) -> u64;

    /// Whether all are taken.
    fn is_finished(&self) -> bool;

    /// Takes one and tells of it, or says why the run is to end before its time.
    fn step(&mut self) -> Result<Option<Stop>, Error>;

    /// The bytes of a checkpoint.
    fn checkpoint(&self) -> Result<Vec<u8>, Error>;
}

impl<'a, T> TaskSession<'a, T> {
    pub(super) fn load(
        request: &'a TrainRequest,
        training: &'a T,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        Self::load_selecting(request, training, None, observer)
    }

    /// With problems to try snapshots on.
    pub(super) fn load_selecting(
        request: &'a TrainRequest,
        training: &'a T,
        select: Option<&'a SelectConfig>,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let memory = request.memory_limit;
        let LoadedTasks { domain, tasks } = load_tasks(&request.files, None, memory, observer)?;
        let validation = Validation::load(select, &domain, &tasks, memory, observer)?;
        Ok(Self {
            request,
            training,
            tasks,
            validation,
            observer,
        })
    }

    /// Whether to go on from the checkpoint of a run.
    pub(super) fn goes_on(&self, files: &ModelFiles) -> bool {
        self.request.resume && files.checkpoint().exists()
    }

    /// The model of a run that came to its end, and the bytes of its file, where it is there and to
    /// be taken: it is written last.
    pub(super) fn finished<M>(
        &self,
        files: &ModelFiles,
        pick: impl FnOnce(AnyModel) -> Option<M>,
    ) -> Option<(M, usize)> {
        if !self.request.resume {
            return None;
        }
        let bytes = std::fs::read(&files.model).ok()?;
        let model = pick(AnyModel::from_file(&bytes).ok()?)?;
        Some((model, bytes.len()))
    }

    /// Takes the steps of a run that are left, with a checkpoint after every so many; 0: only where
    /// it is stopped. `Some` if it is.
    pub(super) fn go(
        &self,
        files: &ModelFiles,
        every: u64,
        run: &mut dyn Stepwise,
    ) -> Result<Option<TrainEnd>, Error> {
        let checkpoint = files.checkpoint();
        while !run.is_finished() {
            if let Some(by) = run.step()? {
                self.observer.finishing();
                write_whole(&checkpoint, &run.checkpoint()?)?;
                return Ok(Some(TrainEnd::Stopped {
                    steps: run.steps(),
                    checkpoint: Some(checkpoint),
                    by,
                }));
            }
            if every > 0 && run.steps().is_multiple_of(every) {
                write_whole(&checkpoint, &run.checkpoint()?)?;
            }
        }
        Ok(None)
    }

    /// Writes the model of a run that came to its end, which then needs no checkpoint.
    pub(super) fn finish(&self, files: &ModelFiles, model: &[u8]) -> Result<(), Error> {
        write_whole(&files.model, model)?;
        let _ = std::fs::remove_file(files.checkpoint());
        Ok(())
    }
}

/// A model cannot be written where a folder is: known now, not when the training is done.
pub(super) fn expect_no_folder(files: &ModelFiles) -> Result<(), Error> {
    let path = &files.model;
    if path.is_dir() {
        return Err(Error::ModelIsFolder { path: path.clone() });
    }
    Ok(())
}

/// A checkpoint has to be of the run that goes on from it: the same settings, the same seed.
pub(super) fn expect_same_run<C: Serialize>(
    checkpoint: &Path,
    (was, its_seed): (&C, u64),
    (is, seed): (&C, u64),
) -> Result<(), Error> {
    let mut other = differences(was, is)?;
    if its_seed != seed {
        other.push(format!("seed ({its_seed}, not {seed})"));
    }
    if other.is_empty() {
        return Ok(());
    }
    Err(Error::OtherSettings {
        checkpoint: checkpoint.to_owned(),
        differences: other,
    })
}

/// The fields in which two configurations differ, as `name (one, not other)`.
fn differences<C: Serialize>(one: &C, other: &C) -> Result<Vec<String>, Error> {
    let (one, other) = (
        toml::Table::try_from(one).map_err(Error::bug)?,
        toml::Table::try_from(other).map_err(Error::bug)?,
    );
    // Some fields are left out where they have their usual value.
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let shown = |value: Option<&toml::Value>| {
        value.map_or_else(|| "the usual".to_owned(), ToString::to_string)
    };
    let differing = names.into_iter().filter_map(|name| {
        let (value, theirs) = (one.get(name), other.get(name));
        (theirs != value).then(|| format!("{name} ({}, not {})", shown(value), shown(theirs)))
    });
    Ok(differing.collect())
}
