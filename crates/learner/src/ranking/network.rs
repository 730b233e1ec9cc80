//! The paper's network, trained to rank: the same function and the same model file as by
//! reinforcement, with another objective and other data.

use homing_nlm::{Adam, MAX_OBJECTS, Nlm, Prepared, Simd, SplitMix64, Structure, Workspace};
use homing_planner::{Costs, Estimate, Heuristic, States, Stop, Task, Watch};

use super::examples::{TrainingProblem, TrainingSet};
use super::gradual::rank_by_gradients;
use crate::compute::Compute;
use crate::config::TrainConfig;
use crate::encode::{Channels, Encoder, has_negative_goals};
use crate::model::{FORMAT_VERSION, Model, ModelHeader, TrainingSummary, network};
use crate::record::TrainError;
use crate::shaping::Mdp;
use crate::signature::Signature;
use crate::value::Improvable;

/// A task that the network is trained on.
struct RankedTask<'t> {
    task: &'t Task,
    encoder: Encoder,
    base: Box<dyn Heuristic + Send + 't>,
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
    estimates: Vec<Estimate>,
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
}

impl Improvable for Ranker<'_> {
    fn values(&mut self, task: usize, states: &[&[u32]]) -> Vec<f32> {
        self.encode(task, states);
        let batch: Vec<&Structure> = self.structures[..states.len()].iter().collect();
        let residuals = self
            .prepared
            .evaluate(&batch, &mut self.workspace)
            .expect("the encoder gives what the network reads");
        self.estimates.clear();
        let task = &mut self.tasks[task];
        for state in states {
            task.base.evaluate(States::one(state), &mut self.estimates);
        }
        let values = states.iter().zip(&self.estimates).zip(residuals);
        values
            .map(|((state, estimate), residual)| match estimate.finite() {
                // What the heuristic knows to be a dead end needs no learning.
                None => f32::INFINITY,
                Some(_) if task.task.is_goal(state) => -residual,
                Some(h) => -(residual + self.mdp.potential(h, false) as f32),
            })
            .collect()
    }

    fn improve(&mut self, task: usize, states: &[&[u32]], slopes: &[f32]) {
        self.encode(task, states);
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
    }
}

/// How training a network to rank ended.
pub enum RankedNetwork {
    /// The model.
    Trained(Box<Model>),
    /// The outside ended it.
    Stopped(Stop),
}

/// Trains the paper's network to rank. Of the configuration, the network, the heuristic, the step
/// size and the number of steps count.
///
/// # Errors
///
/// If the problems or the configuration are of no use, or numbers cease to be finite.
pub fn rank_network(
    set: &TrainingSet,
    config: &TrainConfig,
    seed: u64,
    compute: impl Into<Compute>,
    watch: &mut dyn Watch,
) -> Result<RankedNetwork, TrainError> {
    let first = set.problems.first().ok_or(TrainError::NoProblems)?;
    let domain = &first.task.problem().domain;
    let signature = Signature::of(domain);
    let too_many = set.problems.iter().position(|problem| {
        let objects = problem.task.problem().objects.len();
        objects > MAX_OBJECTS
    });
    if let Some(problem) = too_many {
        let objects = set.problems[problem].task.problem().objects.len();
        return Err(TrainError::TooManyObjects { problem, objects });
    }
    let mut config = config.clone();
    let forbidding = |problem: &TrainingProblem| has_negative_goals(&problem.task);
    config.negative_goals |= set.problems.iter().any(forbidding);
    let config = &config;
    let channels = Channels::new(
        &signature,
        config.types_as_predicates,
        config.negative_goals,
    );
    let nlm = network(config, &channels)?;
    let Compute { threads, simd } = compute.into();
    let parameters = nlm.init(seed);
    let mut adam = Adam::new(parameters.len());
    adam.learning_rate = config.learning_rate;
    let costs = Costs::unit_if(config.unit_cost);
    let tasks = set.problems.iter().map(|problem| RankedTask {
        task: &problem.task,
        encoder: Encoder::new(&problem.task, &channels),
        base: config.heuristic.build(&problem.task, costs),
    });
    let mut ranker = Ranker {
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
        estimates: Vec::new(),
        parameters,
        nlm,
    };
    let mut random = SplitMix64::new(SplitMix64::new(seed ^ 0x4E4C_4D52).next_u64());
    let report = match rank_by_gradients(set, &mut ranker, config.steps, &mut random, watch) {
        Ok(report) => report,
        Err(stop) => return Ok(RankedNetwork::Stopped(stop)),
    };
    if ranker.parameters.iter().any(|weight| !weight.is_finite()) {
        return Err(TrainError::Diverged {
            step: config.steps,
            what: "weight",
        });
    }
    Ok(RankedNetwork::Trained(Box::new(Model {
        header: ModelHeader {
            format_version: FORMAT_VERSION,
            domain: domain.name.clone(),
            signature,
            config: config.clone(),
            seed,
            steps: config.steps,
            revision: env!("CARGO_PKG_VERSION").to_owned(),
            summary: TrainingSummary {
                goals: 0,
                episodes: 0,
                problems: set.problems.len() as u64,
                loss: report.loss,
            },
        },
        parameters: ranker.parameters,
    })))
}
