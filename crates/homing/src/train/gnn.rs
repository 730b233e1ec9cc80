//! Training of the graph network by PPO: from problems to a model with a policy, with a log of its
//! iterations and checkpoints to go on from.

use std::cmp::Reverse;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use homing_lab::layout::ModelFiles;
use homing_learner::{
    AnyModel, Compute, GnnConfig, GnnModel, GnnRollouts, GnnTrainer, IterationRecord, TrainError,
};
use homing_planner::Stop;
use serde::{Deserialize, Serialize};

use super::select::{Judge, Score, Selection};
use super::session::{Stepwise, TaskSession, expect_no_folder, expect_same_run};
use super::{SelectConfig, TrainEnd, TrainRecord, TrainRequest, stop_now};
use crate::error::Error;
use crate::files::write_whole;
use crate::input::read_bytes;
use crate::observe::Observer;
use crate::resources::{MemoryGauge, VERSION, cpu_seconds, peak_bytes};

/// How the graph network is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GnnTraining {
    /// The settings.
    pub config: GnnConfig,
    /// How a snapshot is chosen, by walks of the policy; without it the last one is the model.
    pub select: Option<SelectConfig>,
    /// Iterations between checkpoints; 0: one is written only when the run is stopped.
    pub checkpoint_every: u64,
    /// Whether a log is written.
    pub log: bool,
}

impl Default for GnnTraining {
    fn default() -> Self {
        Self {
            config: GnnConfig::default(),
            select: None,
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

/// What runs of all seeds have in common.
pub(super) type GnnSession<'a> = TaskSession<'a, GnnTraining>;

pub(super) fn load<'a>(
    request: &'a TrainRequest,
    training: &'a GnnTraining,
    observer: &'a dyn Observer,
) -> Result<GnnSession<'a>, Error> {
    GnnSession::load_selecting(request, training, training.select.as_ref(), observer)
}

/// Walks that a snapshot is judged by, as the program found has them.
const WALKS: usize = 100;

/// Snapshots are judged by what their policy comes to without a search.
struct ByWalks<'a> {
    rollouts: GnnRollouts<'a>,
    compute: Compute,
}

impl Judge<GnnModel> for ByWalks<'_> {
    fn score(&self, model: &GnnModel) -> Result<Score, Error> {
        let score = self.rollouts.score(model, WALKS, self.compute);
        let score = score.map_err(|error| Error::Model { path: None, error })?;
        Ok(Score {
            solved: score.solved,
            spent: Reverse(score.steps),
        })
    }
}

/// The choice among snapshots.
struct Snapshots<'a> {
    selection: Selection<GnnModel, ByWalks<'a>>,
    /// Iterations between them.
    every: u64,
}

/// A run, iteration by iteration.
struct Run<'a> {
    trainer: GnnTrainer<'a>,
    selection: Option<Snapshots<'a>>,
    session: &'a GnnSession<'a>,
    gauge: MemoryGauge,
    log: Option<Log>,
}

impl Run<'_> {
    fn stop(&self) -> Option<Stop> {
        stop_now(self.session.request, self.session.observer, &self.gauge)
    }
}

impl Stepwise for Run<'_> {
    fn steps(&self) -> u64 {
        self.trainer.iteration()
    }

    fn is_finished(&self) -> bool {
        self.trainer.iteration() >= self.session.training.config.iterations
    }

    fn step(&mut self) -> Result<Option<Stop>, Error> {
        if let Some(by) = self.stop() {
            return Ok(Some(by));
        }
        let (request, observer) = (self.session.request, self.session.observer);
        let stop = || stop_now(request, observer, &self.gauge).is_some();
        let record = self.trainer.step_unless(&stop).map_err(Error::train)?;
        let Some(record) = record else {
            return Ok(Some(self.stop().unwrap_or(Stop::Interrupted)));
        };
        let of = self.session.training.config.iterations;
        observer.iteration(self.trainer.seed(), &record, of);
        if let Some(log) = &mut self.log {
            log.write(&record)?;
        }
        // Before the next checkpoint: what it has behind it must not be lost to a resumed run.
        if let Some(snapshots) = &mut self.selection
            && record.iteration.is_multiple_of(snapshots.every)
        {
            snapshots.selection.consider(self.trainer.model())?;
        }
        Ok(None)
    }

    fn checkpoint(&self) -> Result<Vec<u8>, Error> {
        self.trainer.checkpoint().map_err(Error::train)
    }
}

impl GnnSession<'_> {
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
            AnyModel::Gnn(model) if model.header.config == *config && model.header.seed == seed => {
                Some(*model)
            }
            _ => None,
        };
        if !going_on && let Some((model, _)) = self.finished(files, of_this_run) {
            let record = record(files, &model, start)?;
            return Ok(TrainEnd::AlreadyThere(record));
        }
        let checkpoint = files.checkpoint();
        let trainer = self.begin(&checkpoint, seed, compute, going_on)?;
        let text = toml::to_string(config).map_err(Error::bug)?;
        write_whole(&files.config(), text.as_bytes())?;
        if !going_on {
            // Of a run that is not gone on with: a later one must not take it up.
            let _ = std::fs::remove_file(&checkpoint);
        }
        let mut run = Run {
            selection: self.selection(files, &trainer, compute, going_on)?,
            log: self.training.log.then(|| Log::open(files, &trainer)),
            trainer,
            session: self,
            gauge: MemoryGauge::default(),
        };
        if let Some(stopped) = self.go(files, self.training.checkpoint_every, &mut run)? {
            return Ok(stopped);
        }
        let mut model = run.trainer.model();
        if let Some(Snapshots { mut selection, .. }) = run.selection {
            selection.consider(model)?;
            model = selection.best()?;
        }
        self.finish(files, &model.to_file().map_err(Error::bug)?)?;
        let _ = std::fs::remove_file(files.best());
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
        let was = (trainer.config(), trainer.seed());
        expect_same_run(checkpoint, was, (config, seed))?;
        Ok(trainer)
    }

    /// The selection among snapshots, with the best one so far where a run goes on.
    fn selection<'v>(
        &'v self,
        files: &ModelFiles,
        trainer: &GnnTrainer<'_>,
        compute: Compute,
        going_on: bool,
    ) -> Result<Option<Snapshots<'v>>, Error> {
        let Some(validation) = &self.validation else {
            return Ok(None);
        };
        let model = trainer.model();
        validation.expect_domain_of(&model)?;
        let rollouts = GnnRollouts::new(&validation.tasks, &model, trainer.seed());
        let rollouts = rollouts.map_err(|error| Error::Model { path: None, error })?;
        let mut selection = Selection::new(ByWalks { rollouts, compute }, files.best());
        if going_on && files.best().exists() {
            let best = GnnModel::from_file(&read_bytes(&files.best())?);
            selection.consider(best.map_err(|error| Error::Model {
                path: Some(files.best()),
                error,
            })?)?;
        }
        Ok(Some(Snapshots {
            selection,
            every: validation.config.every.max(1),
        }))
    }
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
            let line = serde_json::from_str::<IterationRecord>(line);
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
        let line = serde_json::to_string(record).map_err(Error::bug)?;
        file.write_all((line + "\n").as_bytes()).map_err(failed)
    }
}
