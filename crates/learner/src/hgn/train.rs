//! Training: one network a fold, all folds one epoch at a time.
//!
//! A fold's network sees the samples of the other folds one by one, in a new order each epoch; the
//! fold itself judges it. What is kept is the epoch of the least loss of each fold, then the best
//! fold. Folds have nothing to do with each other, so threads take one each; an epoch that is
//! stopped on the way is as if it had not begun.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use homing_nlm::{Adam, SplitMix64};
use homing_planner::{Progress, Stop, Task, Watch};
use homing_tape::Buffers;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::config::HgnConfig;
use super::folds::{bins, deal, draw_more, shuffle};
use super::graph::{Hypergraph, Places, places_of};
use super::labels::{LabelReport, Labelled, label};
use super::model::{FoldReport, HgnModel, HgnReport};
use super::network::{Example, Indices, Network};
use crate::checkpoint::hash;
use crate::compute::Compute;
use crate::model::{from_bytes, to_bytes};
use crate::seal::{holds, seal, unseal};
use crate::signature::{MixedDomains, Signature};
use crate::teamwork::for_all;

/// Why nothing can be trained.
#[derive(Debug, PartialEq)]
pub enum HgnError {
    /// There is nothing to learn from.
    NoProblems,
    /// A problem is of another domain than the first.
    MixedDomains(MixedDomains),
    /// The configuration is wrong.
    Config(Vec<String>),
    /// There are fewer samples than folds.
    TooFewSamples(LabelReport),
    /// Every start that was drawn gives 0 everywhere.
    DeadStart {
        /// How many were drawn.
        draws: usize,
    },
    /// The checkpoint is damaged, or of another run.
    Checkpoint(String),
    /// The outside ended it.
    Stopped(Stop),
}

impl From<MixedDomains> for HgnError {
    fn from(mixed: MixedDomains) -> Self {
        Self::MixedDomains(mixed)
    }
}

impl fmt::Display for HgnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProblems => write!(f, "there are no problems to learn from"),
            Self::MixedDomains(mixed) => write!(f, "{mixed}"),
            Self::Config(problems) => write!(f, "{}", problems.join("; ")),
            Self::TooFewSamples(report) => write!(
                f,
                "{} states of optimal plans are too few to learn from: {} problems are too large, {} \
                 have no plan; give smaller problems, or raise `label_evaluations`",
                report.samples, report.too_large, report.unsolvable
            ),
            Self::DeadStart { draws } => write!(
                f,
                "{draws} starts were drawn, and all give 0 everywhere, so that nothing can be learnt; \
                 try another seed, or raise `redraws`"
            ),
            Self::Checkpoint(reason) => write!(f, "the checkpoint cannot be used ({reason})"),
            Self::Stopped(_) => write!(f, "training was stopped"),
        }
    }
}

impl std::error::Error for HgnError {}

impl From<Stop> for HgnError {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// How far training is.
#[derive(Clone, Debug, PartialEq)]
pub struct HgnProgress {
    /// Epochs done.
    pub epoch: usize,
    /// Of so many.
    pub of: usize,
    /// Mean loss of the epoch over the samples trained on, by fold.
    pub training: Vec<f64>,
    /// The least loss on the samples left out so far, by fold.
    pub best: Vec<f64>,
}

/// A state with its label, ready for the tape.
struct Sample {
    problem: usize,
    kinds: Arc<[u32]>,
    label: f32,
}

/// A network under way.
#[derive(Clone)]
struct Fold {
    parameters: Vec<f32>,
    adam: Adam,
    random: SplitMix64,
    best: Vec<f32>,
    report: FoldReport,
    /// Mean loss of the last epoch over what it was trained on.
    training: f64,
}

/// A run of training.
pub struct HgnTrainer {
    tasks: Vec<Arc<Task>>,
    config: HgnConfig,
    seed: u64,
    compute: Compute,
    network: Network,
    places: Places,
    graphs: Vec<(Hypergraph, Indices)>,
    samples: Vec<Sample>,
    /// The fold of each sample.
    fold_of: Vec<usize>,
    labels: LabelReport,
    folds: Vec<Fold>,
    epoch: usize,
}

/// A stream of random numbers of its own for each purpose.
fn stream(seed: u64, purpose: u64) -> SplitMix64 {
    SplitMix64::new(SplitMix64::new(seed ^ purpose.rotate_left(32)).next_u64())
}

impl HgnTrainer {
    /// Finds optimal plans and draws a start for each fold. The number of threads changes no bit.
    ///
    /// # Errors
    ///
    /// If the problems or the configuration are of no use, or the watch says stop.
    pub fn new(
        tasks: &[Arc<Task>],
        config: &HgnConfig,
        seed: u64,
        compute: impl Into<Compute>,
        watch: &mut dyn Watch,
    ) -> Result<Self, HgnError> {
        let mut trainer = Self::prepared(tasks, config, seed, compute.into(), watch)?;
        let folds: Vec<usize> = (0..config.folds).collect();
        let threads = trainer.compute.threads;
        let drawn = for_all(&folds, threads, watch, |&fold, _| Ok(trainer.begin(fold)))?;
        trainer.folds = drawn.into_iter().collect::<Result<_, _>>()?;
        Ok(trainer)
    }

    /// Everything but the folds.
    fn prepared(
        tasks: &[Arc<Task>],
        config: &HgnConfig,
        seed: u64,
        compute: Compute,
        watch: &mut dyn Watch,
    ) -> Result<Self, HgnError> {
        let first = tasks.first().ok_or(HgnError::NoProblems)?;
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(HgnError::Config(problems));
        }
        Signature::shared(first, tasks.iter().map(Arc::as_ref))?;
        let (labelled, labels) = label(tasks, config.label_evaluations, compute.threads, watch)?;
        if labelled.len() < config.folds {
            return Err(HgnError::TooFewSamples(labels));
        }
        let places = tasks.iter().fold(Places::default(), |places, task| {
            places.max(places_of(task))
        });
        let graphs: Vec<(Hypergraph, Indices)> = tasks
            .iter()
            .map(|task| {
                let graph = Hypergraph::new(task, places);
                let indices = Indices::new(&graph);
                (graph, indices)
            })
            .collect();
        let mut random = stream(seed, 1);
        let chosen = with_more(labelled, config, &mut random);
        let steps: Vec<usize> = chosen.iter().map(|sample| sample.steps).collect();
        let fold_of = deal(&bins(&steps, config.bins), config.folds, &mut random);
        let mut kinds = Vec::new();
        let samples = chosen
            .iter()
            .map(|sample| {
                let problem = sample.problem;
                graphs[problem]
                    .0
                    .kinds(&tasks[problem], &sample.state, &mut kinds);
                Sample {
                    problem,
                    kinds: kinds.as_slice().into(),
                    label: sample.steps as f32,
                }
            })
            .collect();
        Ok(Self {
            tasks: tasks.to_vec(),
            config: config.clone(),
            seed,
            compute,
            network: Network::new(config, places),
            places,
            graphs,
            samples,
            fold_of,
            labels,
            folds: Vec::new(),
            epoch: 0,
        })
    }

    fn example(&self, at: usize) -> Example<'_> {
        let sample = &self.samples[at];
        let (graph, indices) = &self.graphs[sample.problem];
        Example {
            graph,
            indices,
            kinds: &sample.kinds,
            label: sample.label,
        }
    }

    /// A start for a fold: one that gives more than 0 somewhere.
    fn begin(&self, fold: usize) -> Result<Fold, HgnError> {
        let mut random = stream(self.seed, 2 + fold as u64);
        let mut buffers = Buffers::default();
        for redrawn in 0..=self.config.redraws {
            let parameters = self.network.init(&mut random);
            let mut mine = self.members(fold, false);
            let alive = mine.any(|at| {
                let example = self.example(at);
                let simd = self.compute.simd;
                let loss = self
                    .network
                    .loss(&parameters, &example, simd, &mut buffers, None);
                loss.alive
            });
            drop(mine);
            if alive {
                let samples = [false, true].map(|judge| self.members(fold, judge).count());
                return Ok(Fold {
                    best: parameters.clone(),
                    adam: Adam::with(parameters.len(), self.config.learning_rate, self.config.l2),
                    parameters,
                    random,
                    report: FoldReport {
                        samples,
                        redrawn,
                        loss: f64::MAX,
                        epoch: 0,
                    },
                    training: 0.0,
                });
            }
        }
        Err(HgnError::DeadStart {
            draws: self.config.redraws + 1,
        })
    }

    /// The samples that a fold's network is trained on, or those that judge it.
    fn members(&self, fold: usize, judge: bool) -> impl Iterator<Item = usize> + '_ {
        (0..self.samples.len()).filter(move |&at| (self.fold_of[at] == fold) == judge)
    }

    /// Whether all epochs are done.
    pub fn is_finished(&self) -> bool {
        self.epoch >= self.config.epochs
    }

    /// Epochs done.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// What became of the training problems.
    pub fn labels(&self) -> &LabelReport {
        &self.labels
    }

    /// Trains every fold for one epoch.
    ///
    /// # Errors
    ///
    /// If the watch says stop; then nothing of the epoch is kept.
    pub fn train_epoch(&mut self, watch: &mut dyn Watch) -> Result<HgnProgress, Stop> {
        let numbered: Vec<usize> = (0..self.folds.len()).collect();
        let folds = for_all(&numbered, self.compute.threads, watch, |&fold, watch| {
            self.fold_epoch(fold, watch)
        })?;
        self.folds = folds;
        self.epoch += 1;
        Ok(HgnProgress {
            epoch: self.epoch,
            of: self.config.epochs,
            training: self.folds.iter().map(|fold| fold.training).collect(),
            best: self.folds.iter().map(|fold| fold.report.loss).collect(),
        })
    }

    fn fold_epoch(&self, number: usize, watch: &mut dyn Watch) -> Result<Fold, Stop> {
        let mut fold = self.folds[number].clone();
        let simd = self.compute.simd;
        let mut buffers = Buffers::default();
        let mut gradient = vec![0.0; fold.parameters.len()];
        let mut order: Vec<usize> = self.members(number, false).collect();
        shuffle(&mut order, &mut fold.random);
        let mut sum = 0.0;
        for &at in &order {
            let working = Progress::Building { what: "networks" };
            if let Some(stop) = watch.poll(working) {
                return Err(stop);
            }
            gradient.fill(0.0);
            let example = self.example(at);
            let wanted = Some(&mut gradient[..]);
            let loss = self
                .network
                .loss(&fold.parameters, &example, simd, &mut buffers, wanted);
            sum += loss.mean;
            fold.adam.step(&mut fold.parameters, &gradient);
        }
        fold.training = sum / order.len().max(1) as f64;
        let (mut sum, mut count) = (0.0, 0);
        for at in self.members(number, true) {
            let example = self.example(at);
            let loss = self
                .network
                .loss(&fold.parameters, &example, simd, &mut buffers, None);
            sum += loss.mean;
            count += 1;
        }
        let loss = sum / f64::from(count.max(1));
        if loss < fold.report.loss {
            fold.report.loss = loss;
            fold.report.epoch = self.epoch + 1;
            fold.best.copy_from_slice(&fold.parameters);
        }
        Ok(fold)
    }

    /// The best network so far.
    pub fn model(&self) -> HgnModel {
        let loss = |fold: &usize| self.folds[*fold].report.loss;
        let chosen = (0..self.folds.len())
            .min_by(|a, b| loss(a).total_cmp(&loss(b)))
            .expect("there are folds");
        let report = HgnReport {
            labels: self.labels.clone(),
            folds: self.folds.iter().map(|fold| fold.report.clone()).collect(),
            chosen,
        };
        HgnModel::new(
            &self.tasks[0].problem().domain,
            self.config.clone(),
            self.seed,
            report,
            self.places,
            self.folds[chosen].best.clone(),
        )
    }
}

/// The samples themselves, or so many drawn of them where there are too few.
fn with_more(
    labelled: Vec<Labelled>,
    config: &HgnConfig,
    random: &mut SplitMix64,
) -> Vec<Labelled> {
    if labelled.len() >= config.least_samples {
        return labelled;
    }
    let steps: Vec<usize> = labelled.iter().map(|sample| sample.steps).collect();
    let drawn = draw_more(&bins(&steps, config.bins), config.least_samples, random);
    drawn.into_iter().map(|at| labelled[at].clone()).collect()
}

/// The version of the checkpoint's format.
const VERSION: u32 = 1;
const KEY: &str = "homing-hgn-checkpoint";

/// Everything of a checkpoint that is no array.
#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    config: HgnConfig,
    seed: u64,
    /// One hash a problem: a run goes on with the problems it began with.
    problems: Vec<u64>,
    epoch: usize,
    folds: Vec<SavedFold>,
}

#[derive(Serialize, Deserialize)]
struct SavedFold {
    random: u64,
    adam_steps: u32,
    report: FoldReport,
}

impl HgnTrainer {
    fn header(&self) -> Header {
        let folds = self.folds.iter().map(|fold| SavedFold {
            random: fold.random.state(),
            adam_steps: fold.adam.steps(),
            report: fold.report.clone(),
        });
        Header {
            version: VERSION,
            config: self.config.clone(),
            seed: self.seed,
            problems: self.tasks.iter().map(|task| hash(task)).collect(),
            epoch: self.epoch,
            folds: folds.collect(),
        }
    }

    /// The bytes of a checkpoint: with it, a run goes on as if it had never been stopped.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn checkpoint(&self) -> Result<Vec<u8>, HgnError> {
        let broken = |error: &dyn fmt::Display| HgnError::Checkpoint(error.to_string());
        let mut numbers = Vec::new();
        for fold in &self.folds {
            let (first, second) = fold.adam.moments();
            for part in [&fold.parameters, &fold.best, first, second] {
                numbers.extend_from_slice(part);
            }
        }
        let bytes = to_bytes(&numbers);
        let shape = vec![self.folds.len(), 4, self.network.layout.len()];
        let tensor = TensorView::new(Dtype::F32, shape, &bytes).map_err(|e| broken(&e))?;
        let header = serde_json::to_string(&self.header()).map_err(|e| broken(&e))?;
        let sealed = seal(&header, [&bytes[..]]);
        let metadata = HashMap::from([(KEY.to_owned(), sealed)]);
        safetensors::serialize([("folds", tensor)], Some(metadata)).map_err(|e| broken(&e))
    }

    /// Goes on from a checkpoint of the same problems, configuration and seed.
    ///
    /// # Errors
    ///
    /// As [`Self::new`], and if the bytes are none or of another run.
    pub fn resume(
        tasks: &[Arc<Task>],
        config: &HgnConfig,
        seed: u64,
        compute: impl Into<Compute>,
        watch: &mut dyn Watch,
        bytes: &[u8],
    ) -> Result<Self, HgnError> {
        let broken = |error: &dyn fmt::Display| HgnError::Checkpoint(error.to_string());
        let mut trainer = Self::prepared(tasks, config, seed, compute.into(), watch)?;
        let (header, numbers) = read_checkpoint(bytes)?;
        let own = trainer.header();
        if (
            header.version,
            &header.config,
            header.seed,
            &header.problems,
        ) != (own.version, &own.config, own.seed, &own.problems)
        {
            return Err(broken(
                &"it belongs to other problems, settings or another seed",
            ));
        }
        let len = trainer.network.layout.len();
        if header.folds.len() != config.folds || numbers.len() != config.folds * 4 * len {
            return Err(broken(&"it has another number of weights"));
        }
        trainer.epoch = header.epoch;
        for (saved, parts) in header.folds.into_iter().zip(numbers.chunks_exact(4 * len)) {
            let part = |at: usize| &parts[at * len..(at + 1) * len];
            let mut adam = Adam::with(len, config.learning_rate, config.l2);
            adam.restore(saved.adam_steps, part(2), part(3));
            trainer.folds.push(Fold {
                parameters: part(0).to_vec(),
                best: part(1).to_vec(),
                adam,
                random: SplitMix64::new(saved.random),
                report: saved.report,
                training: 0.0,
            });
        }
        Ok(trainer)
    }
}

fn read_checkpoint(bytes: &[u8]) -> Result<(Header, Vec<f32>), HgnError> {
    let broken = |error: &dyn fmt::Display| HgnError::Checkpoint(error.to_string());
    let tensors = SafeTensors::deserialize(bytes).map_err(|e| broken(&e))?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| broken(&e))?;
    let text = metadata
        .metadata()
        .as_ref()
        .and_then(|metadata| metadata.get(KEY))
        .ok_or_else(|| broken(&"it is none of this learner"))?;
    let mut value: serde_json::Value = serde_json::from_str(text).map_err(|e| broken(&e))?;
    let sum = unseal(&mut value).ok_or_else(|| broken(&"it has no checksum"))?;
    let header: Header = serde_json::from_value(value).map_err(|e| broken(&e))?;
    let array = tensors.tensor("folds").map_err(|e| broken(&e))?;
    let own = serde_json::to_string(&header).map_err(|e| broken(&e))?;
    if !holds(&sum, &own, [array.data()]) {
        return Err(broken(&"its checksum does not fit its content"));
    }
    Ok((header, from_bytes(array.data())))
}
