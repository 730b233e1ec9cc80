//! A small search from one state to some facts, for less than a bound.
//!
//! A* with h_FF and deferred evaluation: steps wait under f of the state they start from, those by
//! preferred actions ahead of others. h_FF is good to go by but may overestimate: the search is not
//! complete, and does not prove anything.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::heuristic::{Costs, Evaluation, Ff, Heuristic};
use crate::registry::{Registry, StateId};
use crate::successors::SuccessorGenerator;
use crate::task::{ActionId, PropId, Task};
use crate::watch::{Progress, Stop, Watch};

/// Rough nanoseconds of building a state, and of queueing a step.
const STORE_WORK: u64 = 250;
const QUEUE_WORK: u64 = 60;

/// What to look for.
pub(super) struct Window<'a> {
    pub(super) from: &'a [u32],
    /// Distinct facts.
    pub(super) to: &'a [PropId],
    /// What the way must cost less than, under the costs of the search.
    pub(super) bound: u64,
    /// How far over the bound, or over the first estimate, an estimate may be, in hundredths.
    pub(super) slack: u64,
    pub(super) max_evaluations: u64,
    /// For those who look on: the cost of the plan.
    pub(super) plan_cost: u64,
}

/// What came of a window.
pub(super) enum Found {
    Cheaper(Vec<ActionId>),
    Nothing,
    Stopped(Stop),
}

struct Reached {
    parent: StateId,
    action: ActionId,
    path_cost: u64,
}

/// A step that waits: by f, then preferred ones, then by h, then first in, first out.
type Waiting = Reverse<(u64, bool, u64, u64, StateId, ActionId)>;

/// The states met in one window.
struct Space {
    registry: Registry,
    reached: Vec<Reached>,
    open: BinaryHeap<Waiting>,
    arrivals: u64,
}

/// What windows of one task share.
pub(super) struct WindowSearch<'a> {
    task: &'a Task,
    generator: &'a SuccessorGenerator,
    costs: Costs,
    heuristic: Ff<'a>,
    evaluation: Evaluation,
    applicable: Vec<ActionId>,
    is_preferred: Vec<bool>,
    words: Vec<u32>,
    pub(super) evaluations: u64,
    own_work: u64,
}

impl<'a> WindowSearch<'a> {
    pub(super) fn new(task: &'a Task, generator: &'a SuccessorGenerator, costs: Costs) -> Self {
        Self {
            task,
            generator,
            costs,
            heuristic: Ff::new(task, costs),
            evaluation: Evaluation::default(),
            applicable: Vec::new(),
            is_preferred: vec![false; task.action_count()],
            words: Vec::new(),
            evaluations: 0,
            own_work: 0,
        }
    }

    /// All work so far, in rough nanoseconds.
    pub(super) fn work(&self) -> u64 {
        self.own_work + self.heuristic.work()
    }

    /// Looks for a cheaper way.
    pub(super) fn run(&mut self, window: &Window<'_>, watch: &mut dyn Watch) -> Found {
        let encoding = self.task.encoding();
        let holds = |state: &[u32]| window.to.iter().all(|&fact| encoding.holds(fact, state));
        if holds(window.from) {
            return Found::Cheaper(Vec::new());
        }
        self.heuristic.set_goal(window.to);
        let last_evaluation = self.evaluations + window.max_evaluations;
        let mut space = Space {
            registry: Registry::new(encoding.words()),
            reached: Vec::new(),
            open: BinaryHeap::new(),
            arrivals: 0,
        };
        let (start, _) = space.registry.insert(window.from);
        space.reached.push(Reached {
            parent: start,
            action: ActionId(0),
            path_cost: 0,
        });
        let Some(first) = self.expand(&mut space, start, window.bound, u64::MAX) else {
            return Found::Nothing;
        };
        let ceiling = window
            .bound
            .max(first + 1)
            .saturating_mul(100 + window.slack)
            / 100;
        while let Some(Reverse((_, _, _, _, parent, action))) = space.open.pop() {
            if self.evaluations >= last_evaluation {
                break;
            }
            let Some(id) = self.take(&mut space, parent, action, window.bound) else {
                continue;
            };
            if holds(space.registry.state(id)) {
                return Found::Cheaper(space.way_to(id));
            }
            let cost = window.plan_cost;
            if let Some(stop) = watch.poll(Progress::Improving { cost }) {
                return Found::Stopped(stop);
            }
            self.expand(&mut space, id, window.bound, ceiling);
        }
        Found::Nothing
    }

    /// The state that a step leads to, if it is new or reached at less cost, and below the bound.
    fn take(
        &mut self,
        space: &mut Space,
        parent: StateId,
        action: ActionId,
        bound: u64,
    ) -> Option<StateId> {
        self.own_work += STORE_WORK;
        let own_cost = u64::from(self.costs.of(self.task, action));
        let path_cost = space.reached[parent.index()].path_cost + own_cost;
        if path_cost >= bound {
            return None;
        }
        self.words.clear();
        self.words.extend_from_slice(space.registry.state(parent));
        self.task.apply(action, &mut self.words);
        let (id, is_new) = space.registry.insert(&self.words);
        let step = Reached {
            parent,
            action,
            path_cost,
        };
        if is_new {
            space.reached.push(step);
        } else if path_cost < space.reached[id.index()].path_cost {
            space.reached[id.index()] = step;
        } else {
            return None;
        }
        Some(id)
    }

    /// Evaluates a state and queues the steps from it, unless its f reaches the ceiling; its
    /// estimate, unless it is a dead end.
    fn expand(&mut self, space: &mut Space, id: StateId, bound: u64, ceiling: u64) -> Option<u64> {
        self.evaluations += 1;
        let state = space.registry.state(id);
        self.heuristic.evaluate_state(state, &mut self.evaluation);
        let estimate = self.evaluation.estimate.finite()? as u64;
        let path_cost = space.reached[id.index()].path_cost;
        let f = path_cost.saturating_add(estimate);
        if f >= ceiling {
            return Some(estimate);
        }
        for action in &self.evaluation.preferred {
            self.is_preferred[action.index()] = true;
        }
        self.generator.applicable(state, &mut self.applicable);
        self.own_work += self.applicable.len() as u64 * QUEUE_WORK;
        for &action in &self.applicable {
            let own_cost = u64::from(self.costs.of(self.task, action));
            if path_cost + own_cost < bound {
                let other = !self.is_preferred[action.index()];
                let arrival = space.arrivals;
                space
                    .open
                    .push(Reverse((f, other, estimate, arrival, id, action)));
                space.arrivals += 1;
            }
        }
        for action in &self.evaluation.preferred {
            self.is_preferred[action.index()] = false;
        }
        Some(estimate)
    }
}

impl Space {
    fn way_to(&self, mut at: StateId) -> Vec<ActionId> {
        let mut actions = Vec::new();
        while at.index() != 0 {
            let step = &self.reached[at.index()];
            actions.push(step.action);
            at = step.parent;
        }
        actions.reverse();
        actions
    }
}
