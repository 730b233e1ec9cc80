//! Training of the graph network by PPO: from problems to a model with a policy, with a log of its
//! iterations and checkpoints to go on from.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use homing_lab::layout::ModelFiles;
use homing_learner::{
    AnyModel, Compute, GnnConfig, GnnModel, GnnTrainer, IterationRecord, TrainError,
};
use homing_planner::Stop;
use serde::{Deserialize, Serialize};

use super::{TaskSession, TrainEnd, TrainRecord, differences, expect_no_folder, stop_now};
use crate::error::Error;
use crate::files::write_whole;
use crate::input::read_bytes;
use crate::resources::{MemoryGauge, VERSION, cpu_seconds, peak_bytes};

/// How the graph network is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GnnTraining {
    /// The settings.
    pub config: GnnConfig,
    /// Iterations between checkpoints; 0: one is written only when the run is stopped.
    pub checkpoint_every: u64,
    /// Whether a log is written.
    pub log: bool,
}

impl Default for GnnTraining {
    fn default() -> Self {
        Self {
            config: GnnConfig::default(),
            checkpoint_every: 10,
            log: true,
        }
    }
}

/// What came of training the graph network. `docs/formats.md` describes each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GnnRecord {
    /// The settings.
    pub config: GnnConfig,
    /// CPU seconds of the process.
    pub cpu_seconds: f64,
    /// The domain's name.
    pub domain: String,
    /// Episodes.
    pub episodes: u64,
    /// Iterations.
    pub iterations: u64,
    /// The share of the last iteration's episodes that came to a goal.
    pub last_rate: f64,
    /// The model's file.
    pub model: String,
    /// Bytes of that file.
    pub model_bytes: u64,
    /// Parameters of the network.
    pub parameters: u64,
    /// Peak memory of the process in KiB, where the system tells.
    pub peak_memory_kb: Option<u64>,
    /// Problems trained on.
    pub problems: u64,
    /// Wall-clock seconds of the run, from where it went on.
    pub seconds: f64,
    /// The seed.
    pub seed: u64,
    /// Episodes that came to a goal.
    pub solved: u64,
    /// Actions taken.
    pub steps: u64,
    /// Updates of the parameters.
    pub updates: u64,
    /// The version of homing.
    pub version: String,
}

/// A line of the log: an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IterationLine {
    /// The iteration, counted from 1.
    pub iteration: u64,
    /// Episodes.
    pub episodes: u64,
    /// Those that came to a goal.
    pub solved: u64,
    /// Actions taken.
    pub steps: u64,
    /// Updates made.
    pub updates: u64,
    /// Mean of log π before − log π now at the last update.
    pub divergence: f64,
    /// Mean of the clipped surrogate there, with a minus.
    pub surrogate: f64,
    /// Mean of the squared error of V there.
    pub value_error: f64,
}

impl From<&IterationRecord> for IterationLine {
    fn from(record: &IterationRecord) -> Self {
        Self {
            iteration: record.iteration,
            episodes: record.episodes,
            solved: record.solved,
            steps: record.steps,
            updates: record.updates,
            divergence: record.divergence,
            surrogate: record.surrogate,
            value_error: record.value_error,
        }
    }
}

/// What runs of all seeds have in common.
pub(super) type GnnSession<'a> = TaskSession<'a, GnnTraining>;

impl GnnSession<'_> {
    pub(super) fn train(
        &self,
        files: &ModelFiles,
        seed: u64,
        compute: Compute,
    ) -> Result<TrainEnd, Error> {
        let start = Instant::now();
        expect_no_folder(files)?;
        let checkpoint = files.checkpoint();
        let going_on = self.request.resume && checkpoint.exists();
        if self.request.resume
            && !going_on
            && let Some(model) = self.finished(&files.model, seed)
        {
            let record = record(files, &model, start)?;
            return Ok(TrainEnd::AlreadyThere(record));
        }
        let mut trainer = self.begin(&checkpoint, seed, compute, going_on)?;
        let config = toml::to_string(&self.training.config).map_err(Error::bug)?;
        write_whole(&files.config(), config.as_bytes())?;
        if !going_on {
            // Of a run that is not gone on with: a later one must not take it up.
            let _ = std::fs::remove_file(&checkpoint);
        }
        let mut log = self.training.log.then(|| Log::open(files, &trainer));
        let gauge = MemoryGauge::default();
        let stop = || stop_now(self.request, self.observer, &gauge);
        while trainer.iteration() < self.training.config.iterations && stop().is_none() {
            let record = trainer.step_unless(&|| stop().is_some());
            let Some(record) = record.map_err(Error::train)? else {
                break;
            };
            self.observer
                .iteration(seed, &record, self.training.config.iterations);
            if let Some(log) = &mut log {
                log.write(&record)?;
            }
            let every = self.training.checkpoint_every;
            if every > 0 && record.iteration.is_multiple_of(every) {
                save(&trainer, &checkpoint)?;
            }
        }
        if trainer.iteration() < self.training.config.iterations {
            self.observer.finishing();
            save(&trainer, &checkpoint)?;
            return Ok(TrainEnd::Stopped {
                steps: trainer.iteration(),
                checkpoint: Some(checkpoint),
                by: stop().unwrap_or(Stop::Interrupted),
            });
        }
        let model = trainer.model();
        write_whole(&files.model, &model.to_file().map_err(Error::bug)?)?;
        // A finished run needs none.
        let _ = std::fs::remove_file(&checkpoint);
        Ok(TrainEnd::Trained(record(files, &model, start)?))
    }

    /// A trainer at the start of a run, or where its checkpoint is.
    fn begin(
        &self,
        checkpoint: &Path,
        seed: u64,
        compute: Compute,
        going_on: bool,
    ) -> Result<GnnTrainer<'_>, Error> {
        let config = &self.training.config;
        if !going_on {
            let begun = GnnTrainer::new(&self.tasks, config.clone(), seed, compute);
            return begun.map_err(Error::train);
        }
        let resumed = GnnTrainer::resume(&self.tasks, &read_bytes(checkpoint)?, compute);
        let mut trainer = resumed.map_err(|error| Error::Train {
            checkpoint: matches!(error, TrainError::Checkpoint(_)).then(|| checkpoint.to_owned()),
            error,
        })?;
        // A run may be made longer, or cut off where it is.
        if trainer.iteration() <= config.iterations {
            trainer.set_iterations(config.iterations);
        }
        let mut other = differences(trainer.config(), config)?;
        if trainer.seed() != seed {
            other.push(format!("seed ({}, not {seed})", trainer.seed()));
        }
        if !other.is_empty() {
            return Err(Error::OtherSettings {
                checkpoint: checkpoint.to_owned(),
                differences: other,
            });
        }
        Ok(trainer)
    }

    /// The model of this run, if it is there: it is written last.
    fn finished(&self, path: &Path, seed: u64) -> Option<GnnModel> {
        let bytes = std::fs::read(path).ok()?;
        match AnyModel::from_file(&bytes).ok()? {
            AnyModel::Gnn(model)
                if model.header.config == self.training.config && model.header.seed == seed =>
            {
                Some(*model)
            }
            _ => None,
        }
    }
}

fn save(trainer: &GnnTrainer<'_>, path: &Path) -> Result<(), Error> {
    write_whole(path, &trainer.checkpoint().map_err(Error::train)?)
}

fn record(files: &ModelFiles, model: &GnnModel, start: Instant) -> Result<TrainRecord, Error> {
    let (header, summary) = (&model.header, &model.header.summary);
    let bytes = std::fs::metadata(&files.model);
    let bytes = bytes.map_err(|error| Error::read(&files.model, error))?;
    Ok(TrainRecord::Gnn(Box::new(GnnRecord {
        config: header.config.clone(),
        cpu_seconds: cpu_seconds(),
        domain: header.domain.clone(),
        episodes: summary.episodes,
        iterations: header.config.iterations,
        last_rate: summary.last_rate,
        model: files.model.display().to_string(),
        model_bytes: bytes.len(),
        parameters: model.parameters.len() as u64,
        peak_memory_kb: peak_bytes().map(|bytes| bytes / 1024),
        problems: summary.problems,
        seconds: start.elapsed().as_secs_f64(),
        seed: header.seed,
        solved: summary.solved,
        steps: summary.steps,
        updates: summary.updates,
        version: VERSION.to_owned(),
    })))
}

/// The log of a run: a line an iteration. Lines past the checkpoint that a run goes on from are
/// written again.
struct Log {
    path: std::path::PathBuf,
    kept: String,
    file: Option<std::fs::File>,
}

impl Log {
    fn open(files: &ModelFiles, trainer: &GnnTrainer<'_>) -> Self {
        let path = files.log();
        let old = match trainer.iteration() {
            0 => String::new(),
            _ => std::fs::read_to_string(&path).unwrap_or_default(),
        };
        let behind = |line: &&str| {
            let line = serde_json::from_str::<IterationLine>(line);
            line.is_ok_and(|line| line.iteration <= trainer.iteration())
        };
        let kept = old.lines().filter(behind);
        Self {
            kept: kept.flat_map(|line| [line, "\n"]).collect(),
            file: None,
            path,
        }
    }

    fn write(&mut self, record: &IterationRecord) -> Result<(), Error> {
        let failed = |error| Error::write(&self.path, error);
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut file = std::fs::File::create(&self.path).map_err(failed)?;
                file.write_all(self.kept.as_bytes()).map_err(failed)?;
                self.file.insert(file)
            }
        };
        let line = serde_json::to_string(&IterationLine::from(record)).map_err(Error::bug)?;
        file.write_all((line + "\n").as_bytes()).map_err(failed)
    }
}
