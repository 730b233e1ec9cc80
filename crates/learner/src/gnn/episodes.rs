//! Episodes with a frozen policy, several in step so that the network runs on all of them at once.

use std::sync::Arc;

use homing_nlm::{Simd, SplitMix64};
use homing_planner::heuristic::Ff;
use homing_planner::search::sample;
use homing_planner::{ActionId, Costs, Heuristic, States, SuccessorGenerator, Task};

use super::draw::{Batch, Drawer};
use super::evaluate::Evaluator;
use super::network::Network;
use super::policy::{log_softmax, softmax};
use super::shape::GnnError;

/// An episode may have so many times the steps of the relaxed plan.
const DEPTH_FACTOR: f64 = 5.0;

/// What h_FF is taken for where there is no relaxed plan.
const DEPTH_WITHOUT_PLAN: f64 = 50.0;

/// A problem to train on.
pub(crate) struct Ground<'t> {
    pub(crate) task: &'t Task,
    generator: SuccessorGenerator,
    initial: Vec<u32>,
    /// Steps of an episode at the most: 5 h_FF(I).
    pub(crate) most_steps: usize,
}

impl<'t> Ground<'t> {
    pub(crate) fn new(task: &'t Task) -> Self {
        let initial = task.initial_state();
        let mut estimates = Vec::new();
        Ff::new(task, Costs::Unit).evaluate(States::one(&initial), &mut estimates);
        let length = estimates[0].finite().unwrap_or(DEPTH_WITHOUT_PLAN);
        Self {
            task,
            generator: SuccessorGenerator::new(task),
            initial,
            most_steps: ((DEPTH_FACTOR * length) as usize).max(1),
        }
    }
}

/// A step of an episode.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) before: Vec<u32>,
    pub(crate) state: Vec<u32>,
    pub(crate) actions: Vec<ActionId>,
    /// The action taken, by its place.
    pub(crate) pick: usize,
    /// log π of it.
    pub(crate) log: f32,
    /// V of the state.
    pub(crate) value: f32,
}

/// An episode.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Episode {
    /// The problem, by index.
    pub(crate) ground: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) solved: bool,
}

/// An episode under way.
struct Running<'g, 't> {
    ground: &'g Ground<'t>,
    drawer: Drawer<'t>,
    random: SplitMix64,
    episode: Episode,
    before: Vec<u32>,
    state: Vec<u32>,
    over: bool,
}

/// Runs episodes of these problems, each with its own generator. What others are run beside it
/// changes no episode. Told to stop, it leaves them where they are.
pub(crate) fn run(
    grounds: &[Ground<'_>],
    starts: Vec<(usize, SplitMix64)>,
    network: &Arc<Network>,
    parameters: &Arc<[f32]>,
    simd: Simd,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Episode>, GnnError> {
    let mut evaluator = Evaluator::new(Arc::clone(network), Arc::clone(parameters), simd);
    let mut running = Vec::with_capacity(starts.len());
    for (index, random) in starts {
        let ground = &grounds[index];
        running.push(Running {
            ground,
            drawer: Drawer::new(ground.task, &network.shape)?,
            random,
            episode: Episode {
                ground: index,
                steps: Vec::new(),
                solved: false,
            },
            before: ground.initial.clone(),
            state: ground.initial.clone(),
            over: false,
        });
    }
    let mut batch = Batch::default();
    let (mut logits, mut values) = (Vec::new(), Vec::new());
    loop {
        evaluator.begin(&mut batch);
        let mut lists = Vec::new();
        for (at, one) in running.iter_mut().enumerate().filter(|(_, one)| !one.over) {
            let mut actions = Vec::new();
            one.ground.generator.applicable(&one.state, &mut actions);
            if actions.is_empty() || one.episode.steps.len() == one.ground.most_steps {
                one.over = true;
                continue;
            }
            let kinds = &mut evaluator.kinds;
            one.drawer
                .draw(&one.before, &one.state, &actions, kinds, &mut batch);
            lists.push((at, actions));
        }
        if lists.is_empty() || stop() {
            break;
        }
        evaluator.evaluate(&batch, &mut logits, &mut values);
        for (graph, (at, actions)) in lists.into_iter().enumerate() {
            let ends = &batch.actions.starts[graph..graph + 2];
            let logits = &logits[ends[0] as usize..ends[1] as usize];
            running[at].go_on(actions, logits, values[graph]);
        }
    }
    Ok(running.into_iter().map(|one| one.episode).collect())
}

impl Running<'_, '_> {
    /// Takes an action as the policy says.
    fn go_on(&mut self, actions: Vec<ActionId>, logits: &[f32], value: f32) {
        let mut probabilities = Vec::new();
        softmax(logits, &mut probabilities);
        let pick = sample(&probabilities, self.random.unit()).expect("there are actions");
        let mut next = self.state.clone();
        let task = self.ground.task;
        task.apply(actions[pick], &mut next);
        self.episode.steps.push(Step {
            before: std::mem::replace(&mut self.before, self.state.clone()),
            state: std::mem::replace(&mut self.state, next),
            actions,
            pick,
            log: log_softmax(logits, pick),
            value,
        });
        if task.is_goal(&self.state) {
            self.episode.solved = true;
            self.over = true;
        }
    }
}
