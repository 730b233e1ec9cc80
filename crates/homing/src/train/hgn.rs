//! Training a hypergraph network: from problems to a model, with a checkpoint after every so many
//! epochs.

use std::time::Instant;

use homing_lab::layout::ModelFiles;
use homing_learner::{
    AnyModel, Compute, HgnConfig, HgnError, HgnModel, HgnReport, HgnTrainer, ValueKind,
};
use homing_planner::Stop;
use serde::{Deserialize, Serialize};

use super::session::{Stepwise, TaskSession, expect_no_folder};
use super::{TrainEnd, TrainRecord};
use crate::error::Error;
use crate::input::read_bytes;
use crate::observe::{LimitWatch, Observer};
use crate::resources::{VERSION, cpu_seconds, peak_bytes};

/// How a hypergraph network is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HgnTraining {
    /// The settings.
    pub config: HgnConfig,
    /// Epochs between checkpoints; 0: one is written only when the run is stopped.
    pub checkpoint_every: u64,
}

impl Default for HgnTraining {
    fn default() -> Self {
        Self {
            config: HgnConfig::default(),
            checkpoint_every: 10,
        }
    }
}

/// What came of training a hypergraph network. `docs/formats.md` describes each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HgnRecord {
    /// The settings.
    pub config: HgnConfig,
    /// CPU seconds of the process.
    pub cpu_seconds: f64,
    /// The domain's name.
    pub domain: String,
    /// The model's file.
    pub model: String,
    /// Weights of the network.
    pub parameters: u64,
    /// Peak memory of the process in KiB, where the system tells.
    pub peak_memory_kb: Option<u64>,
    /// Problems given, those without a plan left out.
    pub problems: u64,
    /// Optimal plans, and the folds.
    pub report: HgnReport,
    /// Wall-clock seconds of the run.
    pub seconds: f64,
    /// The seed.
    pub seed: u64,
    /// The version of homing.
    pub version: String,
}

/// What runs of all seeds have in common.
pub(super) type HgnSession<'a> = TaskSession<'a, HgnTraining>;

/// A run, epoch by epoch.
struct Run<'a> {
    trainer: HgnTrainer,
    watch: LimitWatch<'a>,
    observer: &'a dyn Observer,
    seed: u64,
}

impl Stepwise for Run<'_> {
    fn steps(&self) -> u64 {
        self.trainer.epoch() as u64
    }

    fn is_finished(&self) -> bool {
        self.trainer.is_finished()
    }

    fn step(&mut self) -> Result<Option<Stop>, Error> {
        match self.trainer.train_epoch(&mut self.watch) {
            Ok(progress) => self.observer.epoch(self.seed, &progress),
            Err(by) => return Ok(Some(by)),
        }
        Ok(None)
    }

    fn checkpoint(&self) -> Result<Vec<u8>, Error> {
        self.trainer.checkpoint().map_err(Error::bug)
    }
}

fn stopped(stop: Stop) -> bool {
    matches!(stop, Stop::Interrupted | Stop::Time | Stop::Memory)
}

impl HgnSession<'_> {
    pub(super) fn train(
        &self,
        files: &ModelFiles,
        seed: u64,
        compute: Compute,
    ) -> Result<TrainEnd, Error> {
        let start = Instant::now();
        expect_no_folder(files)?;
        let going_on = self.goes_on(files);
        let config = &self.training.config;
        let of_this_run = |model| match model {
            AnyModel::Hgn(model) if model.header.config == *config && model.header.seed == seed => {
                Some(*model)
            }
            _ => None,
        };
        if !going_on && let Some((model, _)) = self.finished(files, of_this_run) {
            return Ok(TrainEnd::AlreadyThere(self.record(files, &model, start)));
        }
        let checkpoint = files.checkpoint();
        let mut watch = LimitWatch::new(None, self.request.memory_limit, self.observer);
        let begun = if going_on {
            let bytes = read_bytes(&checkpoint)?;
            HgnTrainer::resume(&self.tasks, config, seed, compute, &mut watch, &bytes)
        } else {
            // Of a run that is not gone on with: a later one must not take it up.
            let _ = std::fs::remove_file(&checkpoint);
            HgnTrainer::new(&self.tasks, config, seed, compute, &mut watch)
        };
        let trainer = match begun {
            Ok(trainer) => trainer,
            // Nothing is lost: plans are found again in no time.
            Err(HgnError::Stopped(stop)) if stopped(stop) => {
                return Ok(TrainEnd::Stopped {
                    steps: 0,
                    checkpoint: going_on.then_some(checkpoint),
                    by: stop,
                });
            }
            Err(error) => return Err(self.failed(error, files)),
        };
        let mut run = Run {
            trainer,
            watch,
            observer: self.observer,
            seed,
        };
        if let Some(stopped) = self.go(files, self.training.checkpoint_every, &mut run)? {
            return Ok(stopped);
        }
        let model = run.trainer.model();
        self.finish(files, &model.to_file().map_err(Error::bug)?)?;
        Ok(TrainEnd::Trained(self.record(files, &model, start)))
    }

    fn failed(&self, error: HgnError, files: &ModelFiles) -> Error {
        let checkpoint = matches!(error, HgnError::Checkpoint(_)).then(|| files.checkpoint());
        Error::Hgn { checkpoint, error }
    }

    fn record(&self, files: &ModelFiles, model: &HgnModel, start: Instant) -> TrainRecord {
        let header = &model.header;
        debug_assert_eq!(header.kind, ValueKind::Hgn);
        TrainRecord::Hgn(Box::new(HgnRecord {
            config: header.config.clone(),
            cpu_seconds: cpu_seconds(),
            domain: header.domain.clone(),
            model: files.model.display().to_string(),
            parameters: model.parameter_count() as u64,
            peak_memory_kb: peak_bytes().map(|bytes| bytes / 1024),
            problems: self.tasks.len() as u64,
            report: header.report.clone(),
            seconds: start.elapsed().as_secs_f64(),
            seed: header.seed,
            version: VERSION.to_owned(),
        }))
    }
}
