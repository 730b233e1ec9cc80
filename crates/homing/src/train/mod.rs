//! Training: a request, the run, and the record of it. By ranking (`counts`), the paper's network
//! with its log, checkpoints and selection, or a hypergraph network (`hgn`).

mod counts;
mod gnn;
mod hgn;
mod log;
mod select;
mod session;
mod validation;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use homing_lab::layout::ModelFiles;
use homing_learner::{
    Compute, ExactConfig, LearnConfig, Model, NetworkObjective, NetworkTraining, RankingTrainer,
    Signature, Simd, Timings, TrainConfig, TrainError, Trainer, TrainingSet, ValueFunction, gather,
};
use homing_planner::{GroundError, Stop, Task, ground};
use serde::{Deserialize, Serialize};

use self::counts::CountsSession;
use self::gnn::GnnSession;
use self::hgn::HgnSession;
use self::log::Log;
use self::select::{BySearch, Selection};
use self::session::{expect_no_folder, expect_same_run};
use crate::compute::{compute, simd_name};
use crate::error::Error;
use crate::files::{make_folder, write_whole};
use crate::input::{ProblemFiles, load_problem, read_bytes};
use crate::model::load_network;
use crate::observe::{LimitWatch, Notice, Observer};
use crate::resources::{MemoryGauge, VERSION, cpu_seconds, peak_bytes};

pub use self::counts::{CountsRecord, DEFAULT_BUDGET, within_budget};
pub use self::gnn::{GnnRecord, GnnTraining};
pub use self::hgn::{HgnRecord, HgnTraining};
pub use self::log::{LogLine, read_log};
pub use self::validation::SelectionProblems;

/// A model to train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainRequest {
    /// The domain, if it is not beside the problems, then problems and folders of them.
    pub files: Vec<PathBuf>,
    /// Where the model goes. For several seeds this is a folder.
    pub model: PathBuf,
    /// What learns, and its settings.
    #[serde(default)]
    pub learner: Learner,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
    /// Whether to go on from what is beside the model: a model that is there with these settings
    /// and this seed is taken, and the network's training goes on from its checkpoint.
    #[serde(default)]
    pub resume: bool,
    /// Threads; all cores by default.
    #[serde(default)]
    pub threads: Option<NonZeroUsize>,
    /// Vector instructions of a network; the best the processor has by default.
    #[serde(default, with = "simd_name")]
    pub simd: Option<Simd>,
    /// Bytes of memory at the most; no part of what decides the model.
    #[serde(default)]
    pub memory_limit: Option<u64>,
}

impl TrainRequest {
    /// A run by ranking on these problems with the recommended settings.
    pub fn new(files: Vec<PathBuf>, model: impl Into<PathBuf>) -> Self {
        Self {
            files,
            model: model.into(),
            learner: Learner::default(),
            seed: 0,
            resume: false,
            threads: None,
            simd: None,
            memory_limit: None,
        }
    }
}

/// What learns, and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Learner {
    /// Counts of colours, by ranking siblings; [`within_budget`] gives settings.
    Counts(Box<LearnConfig>),
    /// The paper's network, by reinforcement learning.
    Nlm(Box<NlmTraining>),
    /// The graph network, by PPO.
    Gnn(Box<GnnTraining>),
    /// A hypergraph network, on optimal plans.
    Hgn(Box<HgnTraining>),
}

impl Default for Learner {
    fn default() -> Self {
        Self::Counts(Box::default())
    }
}

/// How the paper's network is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NlmTraining {
    /// The settings.
    #[serde(default)]
    pub config: TrainConfig,
    /// Which of the settings may be raised to fit the domain.
    #[serde(default)]
    pub may_raise: MayRaise,
    /// How a snapshot is chosen; without it the last one is the model.
    #[serde(default)]
    pub select: Option<SelectConfig>,
    /// Steps between checkpoints; 0: one is written only when the run is stopped.
    #[serde(default = "default_every")]
    pub checkpoint_every: u64,
    /// Whether a log is written.
    #[serde(default = "default_log")]
    pub log: bool,
}

fn default_every() -> u64 {
    1_000
}

fn default_log() -> bool {
    true
}

impl Default for NlmTraining {
    fn default() -> Self {
        Self {
            config: TrainConfig::default(),
            may_raise: MayRaise::default(),
            select: None,
            checkpoint_every: default_every(),
            log: default_log(),
        }
    }
}

/// Settings that may be raised to the least with which a network can read the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MayRaise {
    /// [`TrainConfig::max_arity`]
    pub max_arity: bool,
    /// [`TrainConfig::layers`]
    pub layers: bool,
}

impl Default for MayRaise {
    fn default() -> Self {
        Self {
            max_arity: true,
            layers: true,
        }
    }
}

/// How a snapshot is chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectConfig {
    /// The problems to try snapshots on.
    pub problems: SelectionProblems,
    /// Steps between snapshots.
    #[serde(default = "default_every")]
    pub every: u64,
    /// Evaluations of each search at the most.
    #[serde(default = "default_evaluations")]
    pub max_evaluations: u64,
}

fn default_evaluations() -> u64 {
    2_000
}

impl SelectConfig {
    /// With the usual distances between snapshots.
    pub fn new(problems: SelectionProblems) -> Self {
        Self {
            problems,
            every: default_every(),
            max_evaluations: default_evaluations(),
        }
    }
}

/// What came of a run: what `homing train --json` prints and what runs of an experiment are read
/// back from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "learner", rename_all = "kebab-case")]
pub enum TrainRecord {
    /// By ranking.
    Counts(Box<CountsRecord>),
    /// The paper's network.
    Nlm(Box<NlmRecord>),
    /// The graph network.
    Gnn(Box<GnnRecord>),
    /// A hypergraph network.
    Hgn(Box<HgnRecord>),
}

impl TrainRecord {
    /// The model's file.
    pub fn model(&self) -> &str {
        match self {
            Self::Counts(record) => &record.model,
            Self::Nlm(record) => &record.model,
            Self::Gnn(record) => &record.model,
            Self::Hgn(record) => &record.model,
        }
    }
}

/// What came of training the paper's network. `docs/formats.md` describes each field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NlmRecord {
    /// The effective configuration, field by field.
    pub config: BTreeMap<String, serde_json::Value>,
    /// CPU seconds of the process.
    pub cpu_seconds: f64,
    /// The domain's name.
    pub domain: String,
    /// Episodes.
    pub episodes: u64,
    /// Goals reached.
    pub goals: u64,
    /// Mean loss of the last 100 SGD steps.
    pub loss: f64,
    /// The model's file.
    pub model: String,
    /// Of wall-clock time, the share of the network.
    pub network_seconds: f64,
    /// Peak memory of the process in KiB, where the system tells.
    pub peak_memory_kb: Option<u64>,
    /// Of wall-clock time, the share of successors, base heuristics and encodings.
    pub planning_seconds: f64,
    /// Problems trained on.
    pub problems: u64,
    /// The seed.
    pub seed: u64,
    /// Steps taken; with selection, up to the snapshot that was kept.
    pub steps: u64,
    /// The version of homing.
    pub version: String,
}

impl NlmRecord {
    fn new(files: &ModelFiles, model: &Model, timings: Timings) -> Result<Self, Error> {
        let header = &model.header;
        // By way of a value: a field in single precision has all the digits of double precision.
        let config = serde_json::to_value(&header.config)
            .and_then(serde_json::from_value)
            .map_err(Error::bug)?;
        Ok(Self {
            config,
            cpu_seconds: cpu_seconds(),
            domain: header.domain.clone(),
            episodes: header.summary.episodes,
            goals: header.summary.goals,
            loss: header.summary.loss,
            model: files.model.display().to_string(),
            network_seconds: timings.network.as_secs_f64(),
            peak_memory_kb: peak_bytes().map(|bytes| bytes / 1024),
            planning_seconds: timings.planning.as_secs_f64(),
            problems: header.summary.problems,
            seed: header.seed,
            steps: header.steps,
            version: VERSION.to_owned(),
        })
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainEnd {
    /// The model is written.
    Trained(TrainRecord),
    /// The model was there, trained with the same settings.
    AlreadyThere(TrainRecord),
    /// The run was stopped; the same request with [`TrainRequest::resume`] comes to the same model.
    Stopped {
        /// Steps taken so far.
        steps: u64,
        /// What it can go on from; `None` where it begins again.
        checkpoint: Option<PathBuf>,
        /// What ended it.
        by: Stop,
    },
}

/// The end of a run whose problems were not even read; any other error stays one.
fn stopped_reading(error: Error) -> Result<TrainEnd, Error> {
    match error {
        Error::Ground {
            error: GroundError::Stopped { stop: by, .. },
            ..
        } if by == Stop::Memory => Ok(TrainEnd::Stopped {
            steps: 0,
            checkpoint: None,
            by,
        }),
        error => Err(error),
    }
}

/// Why a run is to end before its time, if it is.
fn stop_now(request: &TrainRequest, observer: &dyn Observer, gauge: &MemoryGauge) -> Option<Stop> {
    if observer.stopped() {
        return Some(Stop::Interrupted);
    }
    let limit = request.memory_limit?;
    (gauge.resident()? > limit).then_some(Stop::Memory)
}

/// A run of any kind, loaded.
enum Prepared<'a> {
    Counts(CountsSession<'a>),
    Gnn(GnnSession<'a>),
    Nlm(Session<'a>),
    Hgn(HgnSession<'a>),
}

impl<'a> Prepared<'a> {
    fn load(request: &'a TrainRequest, observer: &'a dyn Observer) -> Result<Self, Error> {
        Ok(match &request.learner {
            Learner::Counts(config) => {
                Self::Counts(CountsSession::load(request, config, observer)?)
            }
            Learner::Nlm(training) => Self::Nlm(Session::load(request, training, observer)?),
            Learner::Gnn(training) => Self::Gnn(gnn::load(request, training, observer)?),
            Learner::Hgn(training) => Self::Hgn(HgnSession::load(request, training, observer)?),
        })
    }

    fn train(&self, files: &ModelFiles, seed: u64, compute: Compute) -> Result<TrainEnd, Error> {
        match self {
            Self::Counts(session) => session.train(files, seed, compute.threads),
            Self::Nlm(session) => session.train(files, seed, compute),
            Self::Gnn(session) => session.train(files, seed, compute),
            Self::Hgn(session) => session.train(files, seed, compute),
        }
    }
}

/// Trains a model.
///
/// # Errors
///
/// If the problems or settings are of no use, or a file cannot be written.
pub fn train(request: &TrainRequest, observer: &dyn Observer) -> Result<TrainEnd, Error> {
    let session = match Prepared::load(request, observer) {
        Ok(session) => session,
        Err(error) => return stopped_reading(error),
    };
    let files = ModelFiles::of(&request.model);
    let compute = compute(request.threads, request.simd);
    session.train(&files, request.seed, compute)
}

/// Trains a model for each seed, as many side by side as there are threads, into the folder
/// `request.model`. `each` is told how a run ended as soon as it has.
///
/// # Errors
///
/// As [`train`]; the runs that began before the first error come to their end.
pub fn train_seeds(
    request: &TrainRequest,
    seeds: Range<u64>,
    observer: &dyn Observer,
    each: &(dyn Fn(&TrainEnd) + Sync),
) -> Result<Vec<TrainEnd>, Error> {
    let session = match Prepared::load(request, observer) {
        Ok(session) => session,
        Err(error) => {
            let end = stopped_reading(error)?;
            each(&end);
            return Ok(vec![end]);
        }
    };
    make_folder(&request.model)?;
    let runs: Vec<(u64, ModelFiles)> = seeds
        .map(|seed| (seed, ModelFiles::of_seed(&request.model, seed)))
        .collect();
    let compute = compute(request.threads, request.simd);
    if let [(seed, files)] = runs.as_slice() {
        let end = session.train(files, *seed, compute)?;
        each(&end);
        return Ok(vec![end]);
    }
    let alone = Compute {
        threads: 1,
        ..compute
    };
    let next = AtomicUsize::new(0);
    let ends: Mutex<Vec<Result<TrainEnd, Error>>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..compute.threads.min(runs.len()) {
            scope.spawn(|| {
                while let Some((seed, files)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if observer.stopped() {
                        break;
                    }
                    let end = session.train(files, *seed, alone);
                    if let Ok(end) = &end {
                        each(end);
                    }
                    ends.lock().expect("no thread panics here").push(end);
                }
            });
        }
    });
    ends.into_inner()
        .expect("no thread panics here")
        .into_iter()
        .collect()
}

/// Problems that were read and grounded.
#[derive(Clone, Debug)]
pub struct LoadedTasks {
    /// The domain's file.
    pub domain: PathBuf,
    /// The tasks; problems without a plan are left out.
    pub tasks: Vec<Arc<Task>>,
}

/// Reads and grounds every problem; those without a plan are left out with a notice. Where no domain
/// is named and none is beside the problems, it is `otherwise`. Past `memory_limit` bytes it stops.
///
/// # Errors
///
/// If a file cannot be read, or its PDDL cannot be used.
pub fn load_tasks(
    files: &[PathBuf],
    otherwise: Option<&Path>,
    memory_limit: Option<u64>,
    observer: &dyn Observer,
) -> Result<LoadedTasks, Error> {
    let files = ProblemFiles::find(files, otherwise)?;
    let mut tasks = Vec::new();
    for path in &files.problems {
        let problem = load_problem(&files.domain, path)?.value;
        match ground(&problem, &mut LimitWatch::new(None, memory_limit, observer)) {
            Ok(task) => tasks.push(Arc::new(task)),
            Err(error @ GroundError::Unsolvable { .. }) => {
                observer.notice(&Notice::LeftOut {
                    file: path.clone(),
                    error,
                });
            }
            Err(error) => {
                return Err(Error::Ground {
                    file: Some(path.clone()),
                    error,
                });
            }
        }
    }
    Ok(LoadedTasks {
        domain: files.domain,
        tasks,
    })
}

/// Gives the network the arity and the layers that the domain of the tasks needs, as far as they may
/// be raised.
pub fn raise_to_fit(
    config: &mut TrainConfig,
    may_raise: MayRaise,
    tasks: &[Arc<Task>],
    observer: &dyn Observer,
) {
    let Some(task) = tasks.first() else {
        return;
    };
    let signature = Signature::of(&task.problem().domain);
    for field in config.raise_to_fit(&signature, may_raise.max_arity, may_raise.layers) {
        let value = match field {
            "max_arity" => config.max_arity,
            _ => config.layers,
        };
        observer.notice(&Notice::Raised { field, value });
    }
}

/// What runs of all seeds have in common.
struct Session<'a> {
    request: &'a TrainRequest,
    training: &'a NlmTraining,
    /// The request's, fitted to the domain.
    config: TrainConfig,
    tasks: Vec<Arc<Task>>,
    validation: Option<Validation<'a>>,
    observer: &'a dyn Observer,
}

/// What snapshots are tried on.
struct Validation<'a> {
    config: &'a SelectConfig,
    tasks: Vec<Arc<Task>>,
}

impl<'a> Validation<'a> {
    fn load(
        config: Option<&'a SelectConfig>,
        domain: &Path,
        tasks: &[Arc<Task>],
        memory: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<Option<Self>, Error> {
        let Some(config) = config else {
            return Ok(None);
        };
        let tasks = config.problems.load(domain, tasks, memory, observer)?;
        Ok(Some(Self { config, tasks }))
    }

    /// Known at the start, not after a thousand steps.
    fn expect_domain_of(&self, model: &dyn ValueFunction) -> Result<(), Error> {
        for task in &self.tasks {
            let problem = task.problem();
            let fits = model.check_domain(&problem.domain);
            fits.map_err(|error| Error::Selection {
                problem: problem.name.clone(),
                error,
            })?;
        }
        Ok(())
    }
}

impl<'a> Session<'a> {
    fn load(
        request: &'a TrainRequest,
        training: &'a NlmTraining,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let memory = request.memory_limit;
        let LoadedTasks { domain, tasks } = load_tasks(&request.files, None, memory, observer)?;
        let mut config = training.config.clone();
        raise_to_fit(&mut config, training.may_raise, &tasks, observer);
        let select = training.select.as_ref();
        let validation = Validation::load(select, &domain, &tasks, memory, observer)?;
        Ok(Self {
            request,
            training,
            config,
            tasks,
            validation,
            observer,
        })
    }

    fn train(&self, files: &ModelFiles, seed: u64, compute: Compute) -> Result<TrainEnd, Error> {
        expect_no_folder(files)?;
        let checkpoint = files.checkpoint();
        let going_on = self.request.resume && checkpoint.exists();
        if self.request.resume && !going_on && self.is_finished(files, seed) {
            let model = load_network(&files.model)?;
            let record = NlmRecord::new(files, &model, Timings::default())?;
            return Ok(TrainEnd::AlreadyThere(TrainRecord::Nlm(Box::new(record))));
        }
        let examples = match self.examples(seed, compute.threads)? {
            Ok(examples) => examples,
            // Nothing is lost: examples are gathered again.
            Err(by) => {
                return Ok(TrainEnd::Stopped {
                    steps: 0,
                    checkpoint: going_on.then_some(checkpoint),
                    by,
                });
            }
        };
        let mut trainer = self.begin(files, seed, compute, going_on, examples.as_ref())?;
        let trainer = trainer.as_mut();
        let mut selection = match &self.validation {
            Some(validation) => {
                Some(self.selection(files, trainer, validation, compute, going_on)?)
            }
            None => None,
        };
        let config = toml::to_string(&self.config).map_err(Error::bug)?;
        write_whole(&files.config(), config.as_bytes())?;
        if !going_on {
            // Of a run that is not gone on with: a later one must not take it up, since the log
            // begins anew.
            let _ = std::fs::remove_file(&checkpoint);
        }
        let mut log = if self.training.log {
            Some(Log::open(files, trainer.steps())?)
        } else {
            None
        };
        let gauge = MemoryGauge::default();
        let mut stop = stop_now(self.request, self.observer, &gauge);
        while trainer.steps() < self.config.steps && stop.is_none() {
            self.step(trainer, files, log.as_mut(), selection.as_mut())?;
            stop = stop_now(self.request, self.observer, &gauge);
        }
        // A run whose last step is done needs no more memory.
        let done = trainer.steps() >= self.config.steps;
        if let Some(by) = stop.filter(|&by| !done || by == Stop::Interrupted) {
            self.observer.finishing();
            save(trainer, &checkpoint, log.as_mut())?;
            return Ok(TrainEnd::Stopped {
                steps: trainer.steps(),
                checkpoint: Some(checkpoint),
                by,
            });
        }
        if let Some(log) = &mut log {
            log.flush()?;
        }
        let mut model = trainer.model();
        if let Some(mut selection) = selection {
            selection.consider(model)?;
            model = selection.best()?;
        }
        write_whole(&files.model, &model.to_file().map_err(Error::bug)?)?;
        // A finished run needs neither.
        let _ = std::fs::remove_file(&checkpoint);
        let _ = std::fs::remove_file(files.best());
        let record = NlmRecord::new(files, &model, trainer.timings())?;
        Ok(TrainEnd::Trained(TrainRecord::Nlm(Box::new(record))))
    }

    /// Samples with true distances, where the objective asks for them; the inner error where the
    /// outside ended it.
    fn examples(
        &self,
        seed: u64,
        threads: usize,
    ) -> Result<Result<Option<TrainingSet>, Stop>, Error> {
        if self.config.objective == NetworkObjective::TemporalDifference {
            return Ok(Ok(None));
        }
        let data = ExactConfig {
            unit_cost: self.config.unit_cost,
            ..ExactConfig::default()
        };
        let mut watch = LimitWatch::new(None, self.request.memory_limit, self.observer);
        let (set, report) = match gather(&self.tasks, &data, seed, threads, &mut watch) {
            Ok(gathered) => gathered,
            Err(stop) => return Ok(Err(stop)),
        };
        if set.problems.is_empty() && !self.tasks.is_empty() {
            return Err(Error::train(TrainError::NothingWalked {
                too_large: report.too_large,
                unsolvable: report.unsolvable,
            }));
        }
        Ok(Ok(Some(set)))
    }

    /// A trainer at the start of a run, or where its checkpoint is.
    fn begin<'s>(
        &'s self,
        files: &ModelFiles,
        seed: u64,
        compute: Compute,
        going_on: bool,
        examples: Option<&'s TrainingSet>,
    ) -> Result<Box<dyn NetworkTraining + 's>, Error> {
        fn boxed<'s, T: NetworkTraining + 's>(trainer: T) -> Box<dyn NetworkTraining + 's> {
            Box::new(trainer)
        }
        if !going_on {
            let config = self.config.clone();
            let begun = match examples {
                None => Trainer::new(&self.tasks, config, seed, compute).map(boxed),
                Some(set) => RankingTrainer::new(set, config, seed, compute).map(boxed),
            };
            return begun.map_err(Error::train);
        }
        let checkpoint = files.checkpoint();
        let bytes = read_bytes(&checkpoint)?;
        let resumed = match examples {
            None => Trainer::resume(&self.tasks, &bytes, compute).map(boxed),
            Some(set) => RankingTrainer::resume(set, &bytes, compute).map(boxed),
        };
        let trainer = resumed.map_err(|error| Error::Train {
            checkpoint: matches!(error, TrainError::Checkpoint(_)).then(|| checkpoint.clone()),
            error,
        })?;
        let was = (trainer.config(), trainer.seed());
        let mut config = self.config.clone();
        // A run turns this on by itself.
        config.negative_goals |= was.0.negative_goals;
        expect_same_run(&checkpoint, was, (&config, seed))?;
        Ok(trainer)
    }

    fn step(
        &self,
        trainer: &mut dyn NetworkTraining,
        files: &ModelFiles,
        mut log: Option<&mut Log>,
        selection: Option<&mut Selection<Model, BySearch<'_>>>,
    ) -> Result<(), Error> {
        let record = trainer.step().map_err(Error::train)?;
        if let Some(log) = &mut log {
            log.write(&record)?;
        }
        self.observer.training_step(trainer.seed(), &record);
        // Selection first: what a checkpoint has behind it must not be lost to a resumed run.
        if let (Some(selection), Some(validation)) = (selection, &self.validation)
            && record.step.is_multiple_of(validation.config.every)
        {
            selection.consider(trainer.model())?;
        }
        let every = self.training.checkpoint_every;
        if every > 0 && record.step.is_multiple_of(every) {
            save(trainer, &files.checkpoint(), log)?;
        }
        Ok(())
    }

    /// Whether the model of this run is there: it is written last.
    fn is_finished(&self, files: &ModelFiles, seed: u64) -> bool {
        let model = std::fs::read(&files.model)
            .ok()
            .and_then(|bytes| Model::from_file(&bytes).ok());
        model.is_some_and(|model| model.header.config == self.config && model.header.seed == seed)
    }

    /// The selection among snapshots, with the best one so far where a run goes on.
    fn selection<'v>(
        &self,
        files: &ModelFiles,
        trainer: &dyn NetworkTraining,
        validation: &'v Validation<'_>,
        compute: Compute,
        going_on: bool,
    ) -> Result<Selection<Model, BySearch<'v>>, Error> {
        validation.expect_domain_of(&trainer.model())?;
        let best = files.best();
        let judge = BySearch {
            tasks: &validation.tasks,
            max_evaluations: validation.config.max_evaluations,
            compute,
        };
        let mut selection = Selection::new(judge, best.clone());
        if going_on && best.exists() {
            selection.consider(load_network(&best)?)?;
        }
        Ok(selection)
    }
}

/// Writes a checkpoint.
fn save(trainer: &dyn NetworkTraining, path: &Path, log: Option<&mut Log>) -> Result<(), Error> {
    // The log first: it may run ahead of the checkpoint, never behind.
    if let Some(log) = log {
        log.flush()?;
    }
    write_whole(path, &trainer.checkpoint().map_err(Error::train)?)
}
