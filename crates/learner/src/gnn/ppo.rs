//! Proximal policy optimisation (Schulman et al. 2017) of the graph network, as the program of
//! Rivlin, Hazan and Karpas does it.
//!
//! An iteration runs episodes with the policy as it is, then moves the parameters a few times, each
//! time by the gradient over all steps of these episodes, until the policy has gone far enough from
//! the one that acted. The number of threads changes no bit: every episode has a generator of its
//! own, drawn from the seed, the iteration and its place, and gradients of fixed chunks are added in
//! their order.

use std::borrow::Borrow;
use std::sync::Arc;

use homing_nlm::{Adam, SplitMix64};
use homing_planner::Task;
use homing_tape::{Buffers, Segments, Tape, add_up};
use serde::{Deserialize, Serialize};

use super::config::GnnConfig;
use super::draw::{Batch, Drawer};
use super::episodes::{Episode, Ground, Step, run};
use super::model::{GnnModel, GnnSummary};
use super::network::{Index, Network};
use super::shape::GraphShape;
use crate::compute::Compute;
use crate::record::TrainError;
use crate::signature::Signature;
use crate::teamwork::for_all;

/// Episodes that run in step.
pub(super) const IN_STEP: usize = 10;

/// Steps of one chunk of the gradient at the most.
const CHUNK: usize = 150;

/// What an iteration came to; a line of a run's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IterationRecord {
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

/// Training of the graph network.
pub struct GnnTrainer<'t> {
    pub(super) config: GnnConfig,
    pub(super) seed: u64,
    pub(super) grounds: Vec<Ground<'t>>,
    network: Arc<Network>,
    pub(super) parameters: Vec<f32>,
    pub(super) adam: Adam,
    pub(super) iteration: u64,
    pub(super) summary: GnnSummary,
    compute: Compute,
    buffers: Vec<Buffers>,
}

/// Steps of episodes as the tape takes them.
pub(super) struct Chunk {
    index: Index,
    actions: Segments,
    picks: Arc<[u32]>,
    logs: Arc<[f32]>,
    advantages: Arc<[f32]>,
    returns: Arc<[f32]>,
    /// One over the steps of the batch that it is part of.
    share: f32,
}

/// Sums over a chunk.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    divergence: f64,
    surrogate: f64,
    pub(super) value_error: f64,
}

/// A generator for one thing of a run.
pub(super) fn generator(seed: u64, iteration: u64, place: u64) -> SplitMix64 {
    let mut random = SplitMix64::new(seed);
    for number in [iteration, place] {
        random = SplitMix64::new(random.next_u64() ^ number.wrapping_mul(0xd134_2543_de82_ef95));
    }
    random
}

impl<'t> GnnTrainer<'t> {
    /// At the start of a run on these problems, all of one domain. Those whose goal holds already
    /// are left out.
    ///
    /// # Errors
    ///
    /// If the settings are wrong, the network cannot read the domain, or there is nothing to learn.
    pub fn new<T: Borrow<Task>>(
        tasks: &'t [T],
        config: GnnConfig,
        seed: u64,
        compute: Compute,
    ) -> Result<Self, TrainError> {
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(TrainError::Settings(problems));
        }
        let Some(first) = tasks.first() else {
            return Err(TrainError::NoProblems);
        };
        let signature = Signature::shared(first.borrow(), tasks.iter().map(Borrow::borrow))?;
        let shape = GraphShape::new(&signature).map_err(TrainError::Graph)?;
        let mut grounds = Vec::new();
        for task in tasks {
            let task = task.borrow();
            // Known now, not in the middle of an iteration.
            Drawer::new(task, &shape).map_err(TrainError::Graph)?;
            if !task.is_goal(&task.initial_state()) {
                grounds.push(Ground::new(task));
            }
        }
        if grounds.is_empty() {
            return Err(TrainError::NothingToLearn);
        }
        let network = Network::new(&shape, config.width);
        let parameters = network.layout.init(&mut SplitMix64::new(seed));
        let adam = Adam::with(parameters.len(), config.learning_rate, config.l2);
        Ok(Self {
            summary: GnnSummary {
                problems: grounds.len() as u64,
                ..GnnSummary::default()
            },
            config,
            seed,
            grounds,
            network: Arc::new(network),
            parameters,
            adam,
            iteration: 0,
            buffers: vec![Buffers::default(); compute.threads.max(1)],
            compute,
        })
    }

    pub(super) fn network(&self) -> &Arc<Network> {
        &self.network
    }

    pub(super) fn compute(&self) -> Compute {
        self.compute
    }

    /// The settings.
    pub fn config(&self) -> &GnnConfig {
        &self.config
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Lets the run end after so many iterations: its length decides nothing else about it.
    pub fn set_iterations(&mut self, iterations: u64) {
        self.config.iterations = iterations;
    }

    /// Iterations done.
    pub fn iteration(&self) -> u64 {
        self.iteration
    }

    /// The model as it is now.
    pub fn model(&self) -> GnnModel {
        let domain = &self.grounds[0].task.problem().domain;
        let header = GnnModel::header(domain, self.config.clone(), self.seed, self.summary);
        GnnModel::new(header, self.parameters.clone()).expect("the trainer's own network")
    }

    /// One iteration.
    ///
    /// # Errors
    ///
    /// If a number is no longer finite.
    pub fn step(&mut self) -> Result<IterationRecord, TrainError> {
        let record = self.step_unless(&|| false)?;
        Ok(record.expect("nothing says stop"))
    }

    /// One iteration, unless it is told to stop: then it leaves everything as it was before, and
    /// gives `None`.
    ///
    /// # Errors
    ///
    /// If a number is no longer finite.
    pub fn step_unless(
        &mut self,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<IterationRecord>, TrainError> {
        let before = (self.parameters.clone(), self.adam.clone());
        let (iteration, summary) = (self.iteration, self.summary);
        let record = self.play_and_learn(stop)?;
        if stop() {
            (self.parameters, self.adam) = before;
            (self.iteration, self.summary) = (iteration, summary);
            return Ok(None);
        }
        Ok(Some(record))
    }

    /// Where it is told to stop, what it leaves behind is of no use.
    fn play_and_learn(
        &mut self,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<IterationRecord, TrainError> {
        let episodes = self.episodes(stop)?;
        let solved = episodes.iter().filter(|episode| episode.solved).count() as u64;
        let steps: usize = episodes.iter().map(|episode| episode.steps.len()).sum();
        self.iteration += 1;
        let mut record = IterationRecord {
            iteration: self.iteration,
            episodes: episodes.len() as u64,
            solved,
            steps: steps as u64,
            ..IterationRecord::default()
        };
        let chunks = self.chunks(&episodes);
        let rate = f64::from(self.config.learning_rate)
            * self.config.decay.powi((self.iteration - 1) as i32);
        self.adam.learning_rate = rate as f32;
        while record.updates < self.config.updates as u64 && steps > 0 && !stop() {
            let sums = self.update(&chunks, stop)?;
            record.updates += 1;
            let mean = |sum: f64| sum / steps as f64;
            record.divergence = mean(sums.divergence);
            record.surrogate = mean(sums.surrogate);
            record.value_error = mean(sums.value_error);
            if record.divergence > self.config.max_divergence {
                break;
            }
        }
        let summary = &mut self.summary;
        summary.episodes += record.episodes;
        summary.solved += solved;
        summary.steps += record.steps;
        summary.updates += record.updates;
        summary.last_rate = solved as f64 / episodes.len() as f64;
        Ok(record)
    }

    /// The episodes of an iteration.
    pub(super) fn episodes(
        &self,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Episode>, TrainError> {
        let places: Vec<u64> = (0..self.config.episodes as u64).collect();
        let groups: Vec<&[u64]> = places.chunks(IN_STEP).collect();
        let parameters: Arc<[f32]> = self.parameters.as_slice().into();
        let groups = for_all(&groups, self.compute.threads, &mut (), |group, _| {
            let starts = group.iter().map(|&place| {
                let mut random = generator(self.seed, self.iteration, place);
                (random.below(self.grounds.len()), random)
            });
            Ok(run(
                &self.grounds,
                starts.collect(),
                &self.network,
                &parameters,
                self.compute.simd,
                stop,
            ))
        });
        let groups = groups.expect("nothing says stop").into_iter();
        let groups: Result<Vec<_>, _> = groups.collect();
        let groups = groups.map_err(TrainError::Graph)?;
        Ok(groups.into_iter().flatten().collect())
    }

    /// All steps of all episodes, in chunks that lie within batches.
    fn chunks(&self, episodes: &[Episode]) -> Vec<Chunk> {
        let mut steps = Vec::new();
        for episode in episodes {
            let returns = self.config.returns(episode.steps.len(), episode.solved);
            for (step, worth) in episode.steps.iter().zip(returns) {
                steps.push((episode.ground, step, worth));
            }
        }
        self.chunks_of(&steps)
    }

    /// Chunks of steps, each with its problem and its worth.
    pub(super) fn chunks_of(&self, steps: &[(usize, &Step, f32)]) -> Vec<Chunk> {
        let mut parts = Vec::new();
        for batch in steps.chunks(self.config.batch) {
            let share = 1.0 / batch.len() as f32;
            parts.extend(batch.chunks(CHUNK).map(|part| (part, share)));
        }
        let chunks = for_all(&parts, self.compute.threads, &mut (), |(part, share), _| {
            let shape = &self.network.shape;
            let mut kinds = self.network.kinds();
            let mut batch = Batch::default();
            let mut drawer: Option<(usize, Drawer<'_>)> = None;
            for &(ground, step, _) in *part {
                // Steps of an episode come one after the other.
                if drawer.as_ref().is_none_or(|(of, _)| *of != ground) {
                    let task = self.grounds[ground].task;
                    let new = Drawer::new(task, shape).expect("it was read before");
                    drawer = Some((ground, new));
                }
                let (_, drawer) = drawer.as_mut().expect("just made");
                drawer.draw(
                    &step.before,
                    &step.state,
                    &step.actions,
                    &mut kinds,
                    &mut batch,
                );
            }
            let all = part.iter();
            Ok(Chunk {
                actions: Segments::new(batch.actions.starts.clone(), batch.actions.items.clone()),
                picks: all.clone().map(|(_, step, _)| step.pick as u32).collect(),
                logs: all.clone().map(|(_, step, _)| step.log).collect(),
                advantages: all
                    .clone()
                    .map(|(_, step, worth)| worth - step.value)
                    .collect(),
                returns: all.map(|(_, _, worth)| *worth).collect(),
                index: Index::new(&kinds, &batch),
                share: *share,
            })
        });
        chunks.expect("nothing says stop")
    }

    /// Moves the parameters once.
    pub(super) fn update(
        &mut self,
        chunks: &[Chunk],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Sums, TrainError> {
        let mut gradient = vec![0.0; self.parameters.len()];
        let (network, parameters) = (&self.network, &self.parameters);
        let (config, simd) = (&self.config, self.compute.simd);
        let sums = add_up(
            chunks.len(),
            &mut self.buffers,
            &mut gradient,
            |at, buffers, gradient| {
                if stop() {
                    return Sums::default();
                }
                let mut tape =
                    Tape::new(&network.layout, parameters, simd, std::mem::take(buffers));
                let sums = chunks[at].losses(network, config, &mut tape, gradient);
                *buffers = tape.into_buffers();
                sums
            },
        );
        if !gradient.iter().all(|x| x.is_finite()) {
            return Err(TrainError::Diverged {
                step: self.iteration,
                what: "gradient",
            });
        }
        self.adam.step(&mut self.parameters, &gradient);
        Ok(sums.iter().fold(Sums::default(), |sum, part| Sums {
            divergence: sum.divergence + part.divergence,
            surrogate: sum.surrogate + part.surrogate,
            value_error: sum.value_error + part.value_error,
        }))
    }
}

impl Chunk {
    /// Adds the gradient of the loss.
    fn losses(
        &self,
        network: &Network,
        config: &GnnConfig,
        tape: &mut Tape<'_>,
        gradient: &mut [f32],
    ) -> Sums {
        let outputs = network.record(tape, &self.index);
        let log = tape.log_softmax_pick(outputs.logits, &self.actions, Arc::clone(&self.picks));
        let surrogate = tape.clipped_surrogate(
            log,
            Arc::clone(&self.logs),
            Arc::clone(&self.advantages),
            config.clip,
        );
        let error = tape.squared_error(outputs.values, Arc::clone(&self.returns));
        let sum = |tape: &Tape<'_>, var| -> f64 {
            let values: &[f32] = tape.value(var);
            values.iter().map(|&x| f64::from(x)).sum()
        };
        let sums = Sums {
            divergence: self.logs.iter().map(|&x| f64::from(x)).sum::<f64>() - sum(tape, log),
            surrogate: sum(tape, surrogate),
            value_error: sum(tape, error),
        };
        let weights = [
            (surrogate, self.share),
            (error, self.share),
            (log, config.entropy * self.share),
        ];
        tape.backward(&weights, gradient);
        sums
    }
}
