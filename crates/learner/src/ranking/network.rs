//! The paper's network, trained to rank: the same function and the same model file as by
//! reinforcement, with another objective and other data.

use std::collections::HashMap;
use std::time::Instant;

use homing_nlm::{Adam, Nlm, Prepared, Simd, SplitMix64, Structure, Workspace};
use homing_planner::{Costs, Estimate, Heuristic, States, Task};

use super::examples::{TrainingProblem, TrainingSet};
use super::gradual::rank_step;
use crate::compute::Compute;
use crate::config::{NetworkObjective, TrainConfig};
use crate::encode::{Encoder, has_negative_goals};
use crate::model::{FORMAT_VERSION, Model, ModelHeader, TrainingSummary};
use crate::network_training::Ground;
use crate::record::{SgdRecord, StepRecord, Timings, TrainError};
use crate::shaping::Mdp;
use crate::signature::Signature;
use crate::value::Improvable;

/// How many losses the summary is a mean of.
const RECENT: usize = 100;

/// A task that the network is trained on.
struct RankedTask<'t> {
    task: &'t Task,
    encoder: Encoder,
    base: Box<dyn Heuristic + Send + 't>,
    /// What the heuristic says of states met so far: samples come up again and again.
    known: HashMap<Box<[u32]>, Estimate>,
}

impl RankedTask<'_> {
    fn estimate(&mut self, state: &[u32]) -> Estimate {
        if let Some(&known) = self.known.get(state) {
            return known;
        }
        let mut estimates = Vec::with_capacity(1);
        self.base.evaluate(States::one(state), &mut estimates);
        self.known.insert(state.into(), estimates[0]);
        estimates[0]
    }
}

/// H = h_γ − residual, whose residual follows the gradient.
struct Ranker<'t> {
    nlm: Nlm,
    simd: Simd,
    mdp: Mdp,
    parameters: Vec<f32>,
    adam: Adam,
    prepared: Prepared,
    workspace: Workspace,
    gradient: Vec<f32>,
    tasks: Vec<RankedTask<'t>>,
    structures: Vec<Structure>,
    /// Means over the states last looked at; the loss is left to whoever knows it.
    means: SgdRecord,
    timings: Timings,
}

impl Ranker<'_> {
    /// Writes the encodings of states into the first of `structures`.
    fn encode(&mut self, task: usize, states: &[&[u32]]) {
        while self.structures.len() < states.len() {
            self.structures.push(Structure::default());
        }
        let task = &mut self.tasks[task];
        for (state, structure) in states.iter().zip(&mut self.structures) {
            task.encoder.encode(task.task, state, structure);
        }
    }

    /// Whether the last step left numbers that can be gone on with.
    fn check(&self, step: u64) -> Result<(), TrainError> {
        let parts = [
            (&self.gradient[..], "gradient"),
            (self.adam.moments().1, "square of the gradient"),
        ];
        for (numbers, what) in parts {
            if numbers.iter().any(|number| !number.is_finite()) {
                return Err(TrainError::Diverged { step, what });
            }
        }
        Ok(())
    }
}

impl Improvable for Ranker<'_> {
    fn values(&mut self, task: usize, states: &[&[u32]]) -> Vec<f32> {
        let start = Instant::now();
        self.encode(task, states);
        let task = &mut self.tasks[task];
        let estimates: Vec<Estimate> = states.iter().map(|state| task.estimate(state)).collect();
        self.timings.planning += start.elapsed();
        let start = Instant::now();
        let batch: Vec<&Structure> = self.structures[..states.len()].iter().collect();
        let residuals = self
            .prepared
            .evaluate(&batch, &mut self.workspace)
            .expect("the encoder gives what the network reads");
        self.timings.network += start.elapsed();
        let mut means = SgdRecord::default();
        let finite = estimates.iter().filter(|h| h.finite().is_some()).count();
        let size = finite.max(1) as f64;
        let mut values = Vec::with_capacity(states.len());
        for ((state, estimate), residual) in states.iter().zip(&estimates).zip(residuals) {
            // What the heuristic knows to be a dead end needs no learning.
            let Some(h) = estimate.finite() else {
                values.push(f32::INFINITY);
                continue;
            };
            let is_goal = task.task.is_goal(state);
            let potential = self.mdp.potential(h, is_goal);
            let value = f64::from(residual) + potential;
            means.value += value / size;
            means.discounted_h -= potential / size;
            means.h += if is_goal { 0.0 } else { h } / size;
            means.learned_h += self.mdp.undiscounted(value) / size;
            values.push(-(residual + potential as f32));
        }
        self.means = means;
        values
    }

    fn improve(&mut self, task: usize, states: &[&[u32]], slopes: &[f32]) {
        self.encode(task, states);
        let start = Instant::now();
        let batch: Vec<&Structure> = self.structures[..states.len()].iter().collect();
        // The value falls where the residual rises.
        self.prepared
            .backward(
                &batch,
                &mut self.workspace,
                |index, _| -slopes[index],
                &mut self.gradient,
            )
            .expect("the encoder gives what the network reads");
        self.adam.step(&mut self.parameters, &self.gradient);
        self.prepared = self.nlm.prepare(&self.parameters, self.simd);
        self.timings.network += start.elapsed();
    }
}

/// A run that trains the paper's network to rank: the objective
/// [`Ranking`](NetworkObjective::Ranking). What a step does depends on the examples, the
/// configuration and the seed alone. Of the configuration, the network, the heuristic with γ and
/// reward, the step size of Adam and the number of steps count.
pub struct RankingTrainer<'s> {
    pub(super) set: &'s TrainingSet,
    pub(super) config: TrainConfig,
    pub(super) seed: u64,
    signature: Signature,
    domain: String,
    ranker: Ranker<'s>,
    pub(super) random: SplitMix64,
    pub(super) steps: u64,
    /// The losses of the last 100 steps, as a ring.
    pub(super) recent_losses: Vec<f64>,
}

impl<'s> RankingTrainer<'s> {
    /// Begins a run on examples ([`gather`](super::gather) makes some). The number of threads never
    /// changes a number.
    ///
    /// # Errors
    ///
    /// If the examples or the configuration are of no use.
    pub fn new(
        set: &'s TrainingSet,
        mut config: TrainConfig,
        seed: u64,
        compute: impl Into<Compute>,
    ) -> Result<Self, TrainError> {
        let forbidding = |problem: &TrainingProblem| has_negative_goals(&problem.task);
        config.negative_goals |= set.problems.iter().any(forbidding);
        Self::begin(set, config, seed, compute)
    }

    /// Begins a run with a configuration in which all is decided.
    pub(super) fn begin(
        set: &'s TrainingSet,
        config: TrainConfig,
        seed: u64,
        compute: impl Into<Compute>,
    ) -> Result<Self, TrainError> {
        let tasks: Vec<&Task> = set.problems.iter().map(|problem| &*problem.task).collect();
        let Ground {
            signature,
            domain,
            channels,
            nlm,
        } = Ground::of(&tasks, &config, NetworkObjective::Ranking)?;
        let Compute { threads, simd } = compute.into();
        let parameters = nlm.init(seed);
        let mut adam = Adam::new(parameters.len());
        adam.learning_rate = config.learning_rate;
        let costs = Costs::unit_if(config.unit_cost);
        let tasks = set.problems.iter().map(|problem| RankedTask {
            task: &problem.task,
            encoder: Encoder::new(&problem.task, &channels),
            base: config.heuristic.build(&problem.task, costs),
            known: HashMap::new(),
        });
        let ranker = Ranker {
            simd,
            mdp: Mdp {
                gamma: config.gamma,
                reward: config.reward,
            },
            adam,
            prepared: nlm.prepare(&parameters, simd),
            workspace: Workspace::new(threads),
            gradient: vec![0.0; parameters.len()],
            tasks: tasks.collect(),
            structures: Vec::new(),
            means: SgdRecord::default(),
            timings: Timings::default(),
            parameters,
            nlm,
        };
        Ok(Self {
            set,
            signature,
            domain,
            ranker,
            // Weights and samples must not share their numbers.
            random: SplitMix64::new(SplitMix64::new(seed ^ 0x4E4C_4D52).next_u64()),
            steps: 0,
            recent_losses: Vec::new(),
            config,
            seed,
        })
    }

    /// Steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How it is configured.
    pub fn config(&self) -> &TrainConfig {
        &self.config
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Where the time went so far.
    pub fn timings(&self) -> Timings {
        self.ranker.timings
    }

    /// Draws a few samples of one problem and lowers the loss of their pairs.
    ///
    /// # Errors
    ///
    /// If a number ceases to be finite.
    pub fn step(&mut self) -> Result<StepRecord, TrainError> {
        self.steps += 1;
        let loss = rank_step(self.set, &mut self.ranker, &mut self.random);
        self.ranker.check(self.steps)?;
        if let Some(loss) = loss {
            if self.recent_losses.len() == RECENT {
                self.recent_losses.remove(0);
            }
            self.recent_losses.push(loss);
        }
        let samples = self.set.problems.iter().map(|of| of.samples.len());
        Ok(StepRecord {
            step: self.steps,
            goals: 0,
            resets: 0,
            stored: samples.sum::<usize>() as u64,
            sgd: loss.map(|loss| SgdRecord {
                loss,
                ..self.ranker.means
            }),
        })
    }

    /// The model as it is now.
    pub fn model(&self) -> Model {
        let losses = &self.recent_losses;
        let count = losses.len().max(1) as f64;
        Model {
            header: ModelHeader {
                format_version: FORMAT_VERSION,
                domain: self.domain.clone(),
                signature: self.signature.clone(),
                config: self.config.clone(),
                seed: self.seed,
                steps: self.steps,
                revision: env!("CARGO_PKG_VERSION").to_owned(),
                summary: TrainingSummary {
                    goals: 0,
                    episodes: 0,
                    problems: self.set.problems.len() as u64,
                    // Added to 0: the sum of nothing is -0.0.
                    loss: 0.0 + losses.iter().sum::<f64>() / count,
                },
            },
            parameters: self.ranker.parameters.clone(),
        }
    }

    /// The weights, and the moments of Adam with its steps: what a checkpoint has to keep.
    pub(super) fn learnt(&self) -> (&[f32], (&[f32], &[f32]), u32) {
        let ranker = &self.ranker;
        (
            &ranker.parameters,
            ranker.adam.moments(),
            ranker.adam.steps(),
        )
    }

    /// Takes up what a checkpoint has kept; all are of the length of the weights.
    pub(super) fn restore(&mut self, [weights, first, second]: [&[f32]; 3], adam_steps: u32) {
        let ranker = &mut self.ranker;
        ranker.parameters.copy_from_slice(weights);
        ranker.prepared = ranker.nlm.prepare(&ranker.parameters, ranker.simd);
        ranker.adam.restore(adam_steps, first, second);
    }
}
