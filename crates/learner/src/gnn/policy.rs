//! A model of the graph network as the policy of a search, and as a heuristic.

use std::sync::Arc;

use homing_nlm::{Simd, exp, ln};
use homing_planner::search::Policy;
use homing_planner::{ActionId, Estimate, Heuristic, States, Task};

use super::draw::{Batch, Drawer};
use super::evaluate::Evaluator;
use super::model::GnnModel;
use super::shape::GnnError;
use crate::value::ValueKind;

/// States of one run of the network at the most: the weights are then read often enough.
const MOST: usize = 64;

/// exp(x) over the sum of exp(x).
pub(crate) fn softmax(logits: &[f32], probabilities: &mut Vec<f64>) {
    probabilities.clear();
    let greatest = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    probabilities.extend(logits.iter().map(|&x| exp(f64::from(x) - greatest)));
    let total: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|p| *p /= total);
}

/// The logarithm of the softmax of one of them.
pub(crate) fn log_softmax(logits: &[f32], pick: usize) -> f32 {
    let greatest = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let total: f64 = logits.iter().map(|&x| exp(f64::from(x) - greatest)).sum();
    (f64::from(logits[pick]) - greatest - ln(total)) as f32
}

/// π and V of the states of one task.
pub(crate) struct GnnPolicy<'t> {
    drawer: Drawer<'t>,
    evaluator: Evaluator,
    batch: Batch,
    logits: Vec<f32>,
    values: Vec<f32>,
}

impl<'t> GnnPolicy<'t> {
    pub(crate) fn new(model: &GnnModel, task: &'t Task, simd: Simd) -> Result<Self, GnnError> {
        let network = model.network();
        let drawer = Drawer::new(task, &network.shape)?;
        let parameters = model.parameters.as_slice().into();
        Ok(Self {
            drawer,
            evaluator: Evaluator::new(Arc::clone(network), parameters, simd),
            batch: Batch::default(),
            logits: Vec::new(),
            values: Vec::new(),
        })
    }

    /// V of each state, told from which it was reached.
    fn values_of<'s>(&mut self, pairs: &[(&'s [u32], &'s [u32])], mut each: impl FnMut(f64)) {
        for some in pairs.chunks(MOST) {
            self.evaluator.begin(&mut self.batch);
            for (before, state) in some {
                let kinds = &mut self.evaluator.kinds;
                self.drawer.draw(before, state, &[], kinds, &mut self.batch);
            }
            self.evaluator
                .evaluate(&self.batch, &mut self.logits, &mut self.values);
            self.values.iter().for_each(|&value| each(value.into()));
        }
    }
}

impl Policy for GnnPolicy<'_> {
    fn evaluate(
        &mut self,
        previous: &[u32],
        state: &[u32],
        actions: &[ActionId],
        probabilities: &mut Vec<f64>,
    ) -> f64 {
        self.evaluator.begin(&mut self.batch);
        let kinds = &mut self.evaluator.kinds;
        self.drawer
            .draw(previous, state, actions, kinds, &mut self.batch);
        self.evaluator
            .evaluate(&self.batch, &mut self.logits, &mut self.values);
        softmax(&self.logits, probabilities);
        self.values[0].into()
    }

    fn values(&mut self, previous: &[u32], states: &[u32], values: &mut Vec<f64>) {
        values.clear();
        // States of no words are all the same; whoever has several does not come here.
        let stride = previous.len().max(1);
        let pairs: Vec<_> = states
            .chunks_exact(stride)
            .map(|state| (previous, state))
            .collect();
        self.values_of(&pairs, |value| values.push(value));
    }
}

/// 1 − V as a heuristic for searches that know states alone: each is taken for one that nothing led
/// to, as the initial state is.
pub(crate) struct GnnHeuristic<'t> {
    task: &'t Task,
    policy: GnnPolicy<'t>,
}

impl<'t> GnnHeuristic<'t> {
    pub(crate) fn new(model: &GnnModel, task: &'t Task, simd: Simd) -> Result<Self, GnnError> {
        Ok(Self {
            task,
            policy: GnnPolicy::new(model, task, simd)?,
        })
    }
}

impl Heuristic for GnnHeuristic<'_> {
    fn name(&self) -> &str {
        ValueKind::Gnn.name()
    }

    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        let pairs: Vec<_> = states.iter().map(|state| (state, state)).collect();
        let from = estimates.len();
        self.policy
            .values_of(&pairs, |value| estimates.push(Estimate::new(1.0 - value)));
        for (estimate, state) in estimates[from..].iter_mut().zip(states.iter()) {
            if self.task.is_goal(state) {
                *estimate = Estimate::new(0.0);
            }
        }
    }
}
