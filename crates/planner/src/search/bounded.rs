//! Weighted A* with deferred evaluation, for plans that cost less than a bound.
//!
//! Steps wait under f = g + w h of the state they start from. Each heuristic has a queue for all
//! steps and one for those by preferred actions; queues alternate, and those of preferred actions
//! get a head start whenever an estimate is the best so far. A state reached at less cost is
//! expanded again. Whatever reaches the bound is left out: once nothing waits any more, no plan
//! costs less than the bound.
//!
//! A plan that was found becomes the bound, and the search can go on from there.

use super::queue::{KeyQueue, LIST_WORK, QUEUE_WORK, STORE_WORK, Waiting};
use super::{Limit, Statistics};
use crate::heuristic::{Costs, Evaluation, Heuristic, Node};
use crate::registry::StateId;
use crate::successors::SuccessorGenerator;
use crate::task::{ActionId, Task};
use crate::visited::Visited;
use crate::watch::{Progress, Watch};

/// How far ahead queues of preferred actions get on a new best estimate, in turns.
const BOOST: i64 = 1000;

/// What came of running a [`Bounded`] search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundedOutcome {
    /// A plan that costs less than the bound, which its cost now is.
    Better(Vec<ActionId>),
    /// There is no plan that costs less.
    Exhausted,
    /// A limit was reached; the search can go on.
    LimitReached(Limit),
}

/// One queue.
struct Queue {
    heuristic: usize,
    only_preferred: bool,
    steps: KeyQueue,
    /// Turns taken, less head starts: the queue with the least is next.
    turns: i64,
}

/// Weighted A* under a bound.
pub struct Bounded<'a> {
    task: &'a Task,
    generator: &'a SuccessorGenerator,
    heuristics: Vec<Box<dyn Heuristic + 'a>>,
    costs: Costs,
    weight: u64,
    bound: u64,
    visited: Visited,
    /// g by state.
    path_costs: Vec<u64>,
    dead: Vec<bool>,
    queues: Vec<Queue>,
    best_estimates: Vec<f64>,
    evaluations: Vec<Evaluation>,
    statistics: Statistics,
    counted: u64,
    work: u64,
    applicable: Vec<ActionId>,
    is_preferred: Vec<bool>,
    words: Vec<u32>,
}

impl<'a> Bounded<'a> {
    /// A search for plans that cost less than a bound under `costs`. The heuristics may go by other
    /// costs.
    ///
    /// # Panics
    ///
    /// If there is no heuristic.
    pub fn new(
        task: &'a Task,
        generator: &'a SuccessorGenerator,
        heuristics: Vec<Box<dyn Heuristic + 'a>>,
        costs: Costs,
        weight: u64,
        bound: u64,
    ) -> Self {
        assert!(!heuristics.is_empty(), "nothing to search by");
        let visited = Visited::new(task);
        let mut queues = Vec::new();
        for heuristic in 0..heuristics.len() {
            for only_preferred in [false, true] {
                queues.push(Queue {
                    heuristic,
                    only_preferred,
                    steps: KeyQueue::default(),
                    turns: 0,
                });
            }
        }
        queues[0].steps.push(0, Waiting::ROOT);
        Self {
            task,
            generator,
            evaluations: vec![Evaluation::default(); heuristics.len()],
            best_estimates: vec![f64::INFINITY; heuristics.len()],
            counted: heuristics.iter().map(|heuristic| heuristic.work()).sum(),
            heuristics,
            costs,
            weight,
            bound,
            statistics: Statistics {
                bytes_per_state: visited.registry().bytes_per_state() as u64,
                ..Statistics::default()
            },
            visited,
            path_costs: vec![0],
            dead: vec![false],
            queues,
            work: 0,
            applicable: Vec::new(),
            is_preferred: vec![false; task.action_count()],
            words: Vec::new(),
        }
    }

    /// All work so far in rough nanoseconds: counted, so that runs repeat.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// What was done so far.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.statistics;
        statistics.stored = self.visited.len() as u64;
        statistics
    }

    /// A cheaper plan came from elsewhere.
    pub fn lower_bound_to(&mut self, bound: u64) {
        self.bound = self.bound.min(bound);
    }

    /// Searches until a plan below the bound is found, there is none, so much more work is done, or
    /// the watch says stop.
    pub fn run(&mut self, more_work: u64, watch: &mut dyn Watch) -> BoundedOutcome {
        let most = self.work.saturating_add(more_work);
        while self.work < most {
            let Some(step) = self.pop() else {
                return BoundedOutcome::Exhausted;
            };
            let reached = self.take(step);
            self.work += STORE_WORK;
            let Some(id) = reached else { continue };
            if self.task.is_goal(self.visited.state(id)) {
                self.bound = self.path_costs[id.index()];
                return BoundedOutcome::Better(self.visited.actions_to(id));
            }
            let progress = Progress::Search {
                evaluations: self.statistics.evaluations,
                expansions: self.statistics.expansions,
                best: Some(self.best_estimates[0]).filter(|best| best.is_finite()),
            };
            if let Some(stop) = watch.poll(progress) {
                return BoundedOutcome::LimitReached(Limit::Stopped(stop));
            }
            if self.evaluate(id) {
                self.expand(id);
            } else {
                self.dead[id.index()] = true;
                self.statistics.dead_ends += 1;
            }
        }
        BoundedOutcome::LimitReached(Limit::Work)
    }

    /// The next step of the queue whose turn it is.
    fn pop(&mut self) -> Option<Waiting> {
        loop {
            let waiting = self
                .queues
                .iter_mut()
                .filter(|queue| !queue.steps.is_empty());
            let queue = waiting.min_by_key(|queue| queue.turns)?;
            if let Some(step) = queue.steps.pop() {
                queue.turns += 1;
                return Some(step);
            }
        }
    }

    /// The state that a step leads to, if it is new or reached at less cost, and below the bound.
    fn take(&mut self, step: Waiting) -> Option<StateId> {
        if step == Waiting::ROOT {
            return (self.bound > 0).then_some(Visited::INITIAL);
        }
        let own_cost = u64::from(self.costs.of(self.task, step.action));
        let path_cost = self.path_costs[step.parent.index()] + own_cost;
        if path_cost >= self.bound {
            return None;
        }
        self.words.clear();
        self.words
            .extend_from_slice(self.visited.state(step.parent));
        self.task.apply(step.action, &mut self.words);
        let (id, is_new) = self.visited.insert(&self.words, step.parent, step.action);
        if is_new {
            self.path_costs.push(path_cost);
            self.dead.push(false);
            return Some(id);
        }
        if path_cost >= self.path_costs[id.index()] || self.dead[id.index()] {
            return None;
        }
        self.path_costs[id.index()] = path_cost;
        self.visited.reroute(id, step.parent, step.action);
        self.statistics.reopened += 1;
        Some(id)
    }

    /// Evaluates a state with every heuristic; `false` for a dead end.
    fn evaluate(&mut self, id: StateId) -> bool {
        self.statistics.evaluations += 1;
        let visited = &self.visited;
        let mut alive = true;
        let mut progress = false;
        for (index, heuristic) in self.heuristics.iter_mut().enumerate() {
            let evaluation = &mut self.evaluations[index];
            heuristic.evaluate_node(Node { visited, id }, evaluation);
            let Some(estimate) = evaluation.estimate.finite() else {
                alive = false;
                break;
            };
            if estimate < self.best_estimates[index] {
                self.best_estimates[index] = estimate;
                progress = true;
            }
        }
        let counted = self.heuristics.iter().map(|heuristic| heuristic.work());
        let counted = counted.sum();
        self.work += counted - self.counted;
        self.counted = counted;
        if alive && progress {
            // At most so far ahead: head starts that added up would starve the other queues.
            let others = self.queues.iter().filter(|queue| !queue.only_preferred);
            let ahead = others.map(|queue| queue.turns).min().unwrap_or(0) - BOOST;
            let preferred = self.queues.iter_mut().filter(|queue| queue.only_preferred);
            preferred.for_each(|queue| queue.turns = queue.turns.min(ahead));
        }
        alive
    }

    /// Queues the steps from a state that was evaluated just now.
    fn expand(&mut self, id: StateId) {
        self.statistics.expansions += 1;
        for action in self.evaluations.iter().flat_map(|e| &e.preferred) {
            self.is_preferred[action.index()] = true;
        }
        self.generator
            .applicable(self.visited.state(id), &mut self.applicable);
        let path_cost = self.path_costs[id.index()];
        for queue in &mut self.queues {
            let estimate = self.evaluations[queue.heuristic].estimate.finite();
            let estimate = estimate.unwrap_or(0.0).max(0.0) as u64;
            let key = path_cost.saturating_add(self.weight.saturating_mul(estimate));
            for &action in &self.applicable {
                let child_cost = path_cost + u64::from(self.costs.of(self.task, action));
                let wanted = !queue.only_preferred || self.is_preferred[action.index()];
                if wanted && child_cost < self.bound {
                    queue.steps.push(key, Waiting { parent: id, action });
                }
            }
        }
        for action in self.evaluations.iter().flat_map(|e| &e.preferred) {
            self.is_preferred[action.index()] = false;
        }
        let successors = self.applicable.len() as u64;
        self.statistics.generated += successors;
        self.work += successors * (LIST_WORK + QUEUE_WORK * self.queues.len() as u64);
    }
}
