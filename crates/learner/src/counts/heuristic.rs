//! Counts as a heuristic, for searches that know nothing of scores by difference.

use homing_planner::search::SuccessorScorer;
use homing_planner::{ActionId, Costs, Estimate, Heuristic, States, Task};

use super::model::{CountsFunction, WEIGHT_SCALE};

/// A classical heuristic that is a feature, with its weight.
struct Base<'t> {
    heuristic: Box<dyn Heuristic + Send + 't>,
    weight: f64,
}

/// The score of a state as an estimate: it says which of two states is nearer to the goal, not how
/// near, and may be negative. What a classical heuristic among its features proves to be a dead end
/// is one.
pub struct CountsHeuristic<'t> {
    name: String,
    head: usize,
    scorer: Box<dyn SuccessorScorer + Send + 't>,
    bases: Vec<Base<'t>>,
    estimates: Vec<Estimate>,
    scores: Vec<i64>,
}

impl<'t> CountsHeuristic<'t> {
    /// Prepares a function for a task.
    pub fn new(function: &CountsFunction, task: &'t Task) -> Self {
        let head = function.main_head();
        let mut name = "counts".to_owned();
        let bases = function.heuristics().iter().map(|&(kind, weights)| {
            name += &format!("-{}", kind.name());
            Base {
                heuristic: kind.build(task, Costs::Unit),
                weight: f64::from(weights[head]) / f64::from(WEIGHT_SCALE),
            }
        });
        let bases = bases.collect();
        Self {
            name,
            head,
            scorer: function.scorer(task),
            bases,
            estimates: Vec::new(),
            scores: Vec::new(),
        }
    }

    /// Joins the scores of states with the classical heuristics.
    fn join(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        let first = estimates.len();
        let scale = f64::from(WEIGHT_SCALE);
        let scores = self.scores.iter().map(|&score| score as f64 / scale);
        estimates.extend(scores.map(Estimate::new));
        for base in &mut self.bases {
            self.estimates.clear();
            base.heuristic.evaluate(states, &mut self.estimates);
            for (sum, part) in estimates[first..].iter_mut().zip(&self.estimates) {
                *sum = match (sum.finite(), part.finite()) {
                    (Some(sum), Some(part)) => Estimate::new(sum + base.weight * part),
                    _ => Estimate::DEAD_END,
                };
            }
        }
    }
}

impl Heuristic for CountsHeuristic<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        self.scores.clear();
        for state in states.iter() {
            // By difference from the state before: siblings are close to one another.
            self.scorer.enter(state);
            self.scores.push(self.scorer.scores()[self.head]);
        }
        self.join(states, estimates);
    }

    fn evaluate_successors(
        &mut self,
        parent: &[u32],
        actions: &[ActionId],
        states: States<'_>,
        estimates: &mut Vec<Estimate>,
    ) {
        self.scores.clear();
        self.scorer.enter(parent);
        for &action in actions {
            let child = self.scorer.child(action);
            self.scores.push(child.scores[self.head]);
        }
        self.join(states, estimates);
    }

    fn work(&self) -> u64 {
        let bases = self.bases.iter().map(|base| base.heuristic.work());
        self.scorer.work() + bases.sum::<u64>()
    }
}
