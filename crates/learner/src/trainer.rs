//! Training: RTDP for classical planning (paper, Alg. "VI, RTDP, RTDP for Classical Planning").
//!
//! Each step acts once and learns once. Acting: the value of every successor by the online network,
//! an action drawn from the softmax of Q. Learning: a batch of stored states, each with the
//! expectation of Q under the target network as its target, and one step of Adam on the residual.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::time::Instant;

use homing_nlm::{Adam, Nlm, Prepared, Simd, SplitMix64, Structure, Workspace};
use homing_planner::{Costs, Task};

use crate::compute::Compute;
use crate::config::{BucketBy, NetworkObjective, Policy, TrainConfig};
use crate::encode::has_negative_goals;
use crate::model::{FORMAT_VERSION, Model, ModelHeader, TrainingSummary};
use crate::network_training::Ground;
use crate::record::{SgdRecord, StepRecord, Timings, TrainError};
use crate::replay::{Entry, Replay};
use crate::shaping::{Mdp, softmax_mean, softmax_pick};
use crate::signature::Signature;
use crate::state_space::{INITIAL, Node, Position, StateSpace, Successor};

/// A training run. Each call of [`step`](Self::step) is one step of the algorithm; what a step does
/// depends on the tasks, the configuration and the seed alone.
pub struct Trainer<'t> {
    pub(crate) config: TrainConfig,
    pub(crate) seed: u64,
    signature: Signature,
    domain: String,
    mdp: Mdp,
    nlm: Nlm,
    simd: Simd,
    workspace: Workspace,
    pub(crate) spaces: Vec<StateSpace<'t>>,
    /// The spaces there is something to learn in.
    pub(crate) learnable: Vec<u32>,
    pub(crate) replay: Replay,
    pub(crate) random: SplitMix64,
    pub(crate) parameters: Vec<f32>,
    pub(crate) target_parameters: Vec<f32>,
    pub(crate) adam: Adam,
    online: Prepared,
    target: Prepared,
    /// Renewed with the target network, so that values of an older one are not taken for its.
    target_version: u32,
    pub(crate) steps: u64,
    pub(crate) sgd_steps: u64,
    pub(crate) goals: u64,
    pub(crate) resets: u64,
    pub(crate) episode: Option<Episode>,
    /// The losses of the last 100 SGD steps, as a ring.
    pub(crate) recent_losses: Vec<f64>,
    gradient: Vec<f32>,
    structures: Vec<Structure>,
    timings: Timings,
}

/// The episode under way.
#[derive(Clone, Copy)]
pub(crate) struct Episode {
    pub(crate) position: Position,
    /// Actions taken.
    pub(crate) length: usize,
}

/// How many losses the summary is a mean of.
const RECENT: usize = 100;

impl<'t> Trainer<'t> {
    /// Begins a run on tasks, owned or shared. The number of threads never changes a number.
    ///
    /// # Errors
    ///
    /// If the problems or the configuration are of no use.
    pub fn new<T: Borrow<Task>>(
        tasks: &'t [T],
        mut config: TrainConfig,
        seed: u64,
        compute: impl Into<Compute>,
    ) -> Result<Self, TrainError> {
        let mut all = tasks.iter().map(Borrow::borrow);
        config.negative_goals |= all.any(has_negative_goals);
        Self::begin(tasks, config, seed, compute)
    }

    /// Begins a run with a configuration in which all is decided.
    pub(crate) fn begin<T: Borrow<Task>>(
        tasks: &'t [T],
        config: TrainConfig,
        seed: u64,
        compute: impl Into<Compute>,
    ) -> Result<Self, TrainError> {
        let objective = NetworkObjective::TemporalDifference;
        let tasks: Vec<&'t Task> = tasks.iter().map(Borrow::borrow).collect();
        let Ground {
            signature,
            domain,
            channels,
            nlm,
        } = Ground::of(&tasks, &config, objective)?;
        let Compute { threads, simd } = compute.into();
        let mdp = Mdp {
            gamma: config.gamma,
            reward: config.reward,
        };
        let costs = Costs::unit_if(config.unit_cost);
        let (buckets, bucket_count) = buckets(&tasks, config.bucket_by);
        let mut spaces: Vec<StateSpace<'t>> = tasks
            .iter()
            .zip(buckets)
            .map(|(task, bucket)| {
                StateSpace::new(task, bucket, config.heuristic, costs, mdp, &channels)
            })
            .collect();
        let learnable: Vec<u32> = (0..spaces.len() as u32)
            .filter(|&index| {
                let space = &mut spaces[index as usize];
                !space.node(INITIAL).is_goal && !space.is_dead(INITIAL)
            })
            .collect();
        if learnable.is_empty() {
            return Err(TrainError::NothingToLearn);
        }
        let parameters = nlm.init(seed);
        let mut adam = Adam::new(parameters.len());
        adam.learning_rate = config.learning_rate;
        let online = nlm.prepare(&parameters, simd);
        Ok(Self {
            signature,
            domain,
            mdp,
            simd,
            workspace: Workspace::new(threads),
            spaces,
            learnable,
            replay: Replay::new(bucket_count, config.replay_capacity, config.capacity_of),
            // Weights and walks must not share their numbers.
            random: SplitMix64::new(SplitMix64::new(seed ^ 0x5741_4C4B).next_u64()),
            target_parameters: parameters.clone(),
            adam,
            target: online.clone(),
            online,
            target_version: 1,
            steps: 0,
            sgd_steps: 0,
            goals: 0,
            resets: 0,
            episode: None,
            recent_losses: Vec::new(),
            gradient: vec![0.0; parameters.len()],
            parameters,
            structures: Vec::new(),
            timings: Timings::default(),
            nlm,
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
        self.timings
    }

    /// Acts once, then learns once.
    ///
    /// # Errors
    ///
    /// If a number ceases to be finite.
    pub fn step(&mut self) -> Result<StepRecord, TrainError> {
        self.steps += 1;
        self.act()?;
        let sgd = if self.replay.len() >= self.config.warm_up {
            self.learn()?
        } else {
            None
        };
        Ok(StepRecord {
            step: self.steps,
            goals: self.goals,
            resets: self.resets,
            stored: self.replay.len() as u64,
            sgd,
        })
    }

    /// The model as it is now.
    pub fn model(&self) -> Model {
        let losses = &self.recent_losses;
        let loss = if losses.is_empty() {
            // The sum of nothing is -0.0.
            0.0
        } else {
            losses.iter().sum::<f64>() / losses.len() as f64
        };
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
                    goals: self.goals,
                    episodes: self.resets + u64::from(self.episode.is_some()),
                    problems: self.learnable.len() as u64,
                    loss,
                },
            },
            parameters: self.parameters.clone(),
        }
    }

    /// Puts a state into the replay memory, with all that learning from it takes but the network.
    pub(crate) fn store(&mut self, position: Position, seen: bool) {
        let start = Instant::now();
        let entered = &mut self.spaces[position.space as usize];
        entered.enter(position.node);
        let left = self.replay.push(entered.bucket, position, seen);
        if let Some(left) = left {
            let Position { space, node } = left.position;
            self.spaces[space as usize].leave(node);
        }
        self.timings.planning += start.elapsed();
    }

    /// One action of the episode under way, or the first one of a new episode.
    fn act(&mut self) -> Result<(), TrainError> {
        let Episode { position, length } = match self.episode {
            Some(episode) => episode,
            None => {
                let space = self.learnable[self.random.below(self.learnable.len())];
                let position = Position {
                    space,
                    node: INITIAL,
                };
                self.store(position, false);
                Episode {
                    position,
                    length: 0,
                }
            }
        };
        let space = position.space;
        let start = Instant::now();
        let successors: Vec<Successor> = self.spaces[space as usize].expand(position.node).to_vec();
        self.timings.planning += start.elapsed();
        let positions: Vec<Position> = successors
            .iter()
            .map(|&Successor { node, .. }| Position { space, node })
            .collect();
        let residuals = self.residuals(&positions, Network::Online);
        let values: Vec<f64> = successors
            .iter()
            .zip(&residuals)
            .map(|(successor, &residual)| self.action_value(space, *successor, residual))
            .collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(TrainError::Diverged {
                step: self.steps,
                what: "value of an action",
            });
        }
        let chosen = match self.config.policy {
            Policy::Softmax => {
                let unit = self.random.unit();
                softmax_pick(&values, self.config.temperature, unit)
            }
            Policy::Greedy => {
                let mut best = 0;
                for (index, value) in values.iter().enumerate() {
                    if *value > values[best] {
                        best = index;
                    }
                }
                best
            }
        };
        let next = successors[chosen].node;
        let start = Instant::now();
        let is_dead = self.spaces[space as usize].is_dead(next);
        self.timings.planning += start.elapsed();
        let is_goal = self.spaces[space as usize].node(next).is_goal;
        if !is_dead {
            self.store(Position { space, node: next }, false);
        }
        self.goals += u64::from(is_goal);
        let over = is_goal || is_dead || length + 1 == self.config.max_episode_length;
        self.resets += u64::from(over);
        self.episode = (!over).then_some(Episode {
            position: Position { space, node: next },
            length: length + 1,
        });
        Ok(())
    }

    fn node(&self, position: Position) -> &Node {
        self.spaces[position.space as usize].node(position.node)
    }

    /// Q(s, a) = r + γ V(s'), with V(s') = residual(s') + φ(s'), and 0 at a goal.
    fn action_value(&self, space: u32, successor: Successor, residual: f32) -> f64 {
        let node = self.spaces[space as usize].node(successor.node);
        let value = if node.is_goal {
            0.0
        } else {
            f64::from(residual) + node.potential
        };
        self.mdp.reward(successor.cost, node.is_goal) + self.mdp.discount(successor.cost) * value
    }

    /// The network's residual at states of equal object count.
    fn residuals(&mut self, positions: &[Position], which: Network) -> Vec<f32> {
        if positions.is_empty() {
            return Vec::new();
        }
        self.encode(positions);
        let start = Instant::now();
        let prepared = match which {
            Network::Online => &self.online,
            Network::Target => &self.target,
        };
        let batch: Vec<&Structure> = self.structures[..positions.len()].iter().collect();
        let residuals = prepared
            .evaluate(&batch, &mut self.workspace)
            .expect("spaces encode what the network reads");
        self.timings.network += start.elapsed();
        residuals
    }

    /// Writes the encodings of states into the first of `structures`.
    fn encode(&mut self, positions: &[Position]) {
        let start = Instant::now();
        while self.structures.len() < positions.len() {
            self.structures.push(Structure::default());
        }
        for (&Position { space, node }, structure) in positions.iter().zip(&mut self.structures) {
            self.spaces[space as usize].encode(node, structure);
        }
        self.timings.planning += start.elapsed();
    }

    /// One step of stochastic gradient descent; `None` if no bucket holds a batch.
    fn learn(&mut self) -> Result<Option<SgdRecord>, TrainError> {
        if self.config.target_every == 0 || self.sgd_steps.is_multiple_of(self.config.target_every)
        {
            self.renew_target();
        }
        let Some(batch) = self.replay.draw(self.config.batch_size, &mut self.random) else {
            return Ok(None);
        };
        let targets = self.targets(&batch);
        let potentials: Vec<f64> = batch
            .iter()
            .map(|entry| self.node(entry.position).potential)
            .collect();
        let positions: Vec<Position> = batch.iter().map(|entry| entry.position).collect();
        self.encode(&positions);
        let start = Instant::now();
        let size = batch.len() as f64;
        let structures: Vec<&Structure> = self.structures[..batch.len()].iter().collect();
        // V − target = residual − (target − φ)
        let residual_targets: Vec<f64> = targets
            .iter()
            .zip(&potentials)
            .map(|(target, potential)| target - potential)
            .collect();
        let residuals = self
            .online
            .backward(
                &structures,
                &mut self.workspace,
                |index, residual| ((f64::from(residual) - residual_targets[index]) / size) as f32,
                &mut self.gradient,
            )
            .expect("spaces encode what the network reads");
        let mut record = SgdRecord {
            target: Some(targets.iter().fold(0.0, |sum, target| sum + target / size)),
            ..SgdRecord::default()
        };
        for (index, entry) in batch.iter().enumerate() {
            let node = self.node(entry.position);
            let value = f64::from(residuals[index]) + potentials[index];
            let error = value - targets[index];
            record.loss += 0.5 * error * error / size;
            record.value += value / size;
            record.discounted_h -= potentials[index] / size;
            record.h += if node.is_goal { 0.0 } else { node.h } / size;
            record.learned_h += self.mdp.undiscounted(value) / size;
        }
        if !record.loss.is_finite() {
            return Err(TrainError::Diverged {
                step: self.steps,
                what: "loss",
            });
        }
        if self.gradient.iter().any(|g| !g.is_finite()) {
            return Err(TrainError::Diverged {
                step: self.steps,
                what: "gradient",
            });
        }
        self.adam.step(&mut self.parameters, &self.gradient);
        // A square that overflows would make every later step 0, and nobody would notice.
        if self
            .adam
            .moments()
            .1
            .iter()
            .any(|square| !square.is_finite())
        {
            return Err(TrainError::Diverged {
                step: self.steps,
                what: "square of the gradient",
            });
        }
        self.online = self.nlm.prepare(&self.parameters, self.simd);
        self.sgd_steps += 1;
        if self.recent_losses.len() == RECENT {
            self.recent_losses.remove(0);
        }
        self.recent_losses.push(record.loss);
        self.timings.network += start.elapsed();
        Ok(Some(record))
    }

    fn renew_target(&mut self) {
        self.target_parameters.copy_from_slice(&self.parameters);
        self.target = self.online.clone();
        self.target_version += 1;
    }

    /// The target of each state: 0 at a goal, else the expectation of Q under its own softmax.
    fn targets(&mut self, batch: &[Entry]) -> Vec<f64> {
        let version = self.target_version;
        let start = Instant::now();
        let mut wanted: Vec<Position> = Vec::new();
        for entry in batch {
            let at = entry.position;
            let space = &mut self.spaces[at.space as usize];
            if space.node(at.node).is_goal {
                continue;
            }
            for index in 0..space.expand(at.node).len() {
                let successor = space.expand(at.node)[index].node;
                let node = space.node_mut(successor);
                if node.target_version != version && !node.is_goal {
                    // Marked now, so that it is listed once; its value follows below.
                    node.target_version = version;
                    wanted.push(Position {
                        space: at.space,
                        node: successor,
                    });
                }
            }
        }
        self.timings.planning += start.elapsed();
        let residuals = self.residuals(&wanted, Network::Target);
        for (&Position { space, node }, residual) in wanted.iter().zip(residuals) {
            self.spaces[space as usize].node_mut(node).target = residual;
        }
        batch
            .iter()
            .map(|entry| {
                let Position { space, node } = entry.position;
                if self.spaces[space as usize].node(node).is_goal {
                    return 0.0;
                }
                let successors = self.spaces[space as usize].expand(node).to_vec();
                let values: Vec<f64> = successors
                    .iter()
                    .map(|&successor| {
                        let target = self.spaces[space as usize].node(successor.node).target;
                        self.action_value(space, successor, target)
                    })
                    .collect();
                softmax_mean(&values, self.config.temperature)
            })
            .collect()
    }

    /// Takes up the weights of a checkpoint.
    pub(crate) fn restore_weights(&mut self, parameters: Vec<f32>, target: Vec<f32>) {
        self.online = self.nlm.prepare(&parameters, self.simd);
        self.target = self.nlm.prepare(&target, self.simd);
        self.parameters = parameters;
        self.target_parameters = target;
        self.target_version += 1;
    }
}

#[derive(Clone, Copy)]
enum Network {
    Online,
    Target,
}

/// The bucket of each task, and how many there are.
fn buckets(tasks: &[&Task], by: BucketBy) -> (Vec<usize>, usize) {
    let mut index: HashMap<(usize, Vec<&str>), usize> = HashMap::new();
    let buckets = tasks
        .iter()
        .map(|task| {
            let objects = &task.problem().objects;
            let names = match by {
                BucketBy::ObjectCount => Vec::new(),
                BucketBy::ObjectNames => {
                    let mut names: Vec<&str> = objects.iter().map(|o| o.name.as_str()).collect();
                    names.sort_unstable();
                    names
                }
            };
            let next = index.len();
            *index.entry((objects.len(), names)).or_insert(next)
        })
        .collect();
    (buckets, index.len())
}
