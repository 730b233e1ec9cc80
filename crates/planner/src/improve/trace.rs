//! A plan carried out: the states on its way, and what the rest of it needs at each.

use crate::heuristic::Costs;
use crate::task::{ActionId, PropId, Task};

/// The cost of a plan, then its length: plans are compared by both.
pub(super) type Price = (u64, usize);

/// What a sequence of actions costs.
pub(super) fn price(task: &Task, costs: Costs, actions: &[ActionId]) -> Price {
    let all = actions.iter();
    let cost = all.map(|&action| u64::from(costs.of(task, action))).sum();
    (cost, actions.len())
}

/// Whether an action is applicable in a state.
#[inline]
pub(super) fn is_applicable(task: &Task, action: ActionId, state: &[u32]) -> bool {
    let mut pre = task.pre(action).iter();
    pre.all(|&prop| task.encoding().holds(prop, state))
}

/// Whether a sequence of actions is a plan.
pub(super) fn is_plan(task: &Task, actions: &[ActionId]) -> bool {
    let mut state = task.initial_state();
    for &action in actions {
        if !is_applicable(task, action, &state) {
            return false;
        }
        task.apply(action, &mut state);
    }
    task.is_goal(&state)
}

/// The facts that the rest of a plan needs, going back from the goal: without what an action adds,
/// with what it needs. What does not hold before an action was brought about by it, whatever way,
/// and is not needed yet.
pub(super) struct Needed {
    is_needed: Vec<bool>,
    facts: Vec<PropId>,
    at: usize,
}

impl Needed {
    /// At the end of a plan.
    pub(super) fn new(task: &Task, plan_length: usize) -> Self {
        let mut needed = Self {
            is_needed: vec![false; task.propositions().len()],
            facts: task.goal().to_vec(),
            at: plan_length,
        };
        for fact in &needed.facts {
            needed.is_needed[fact.index()] = true;
        }
        needed
    }

    /// The plan before this point has become so much shorter.
    pub(super) fn moved_to(&mut self, at: usize) {
        self.at = at;
    }

    /// What is needed in the state before the action at `at`, which is no later than asked before.
    pub(super) fn back_to(
        &mut self,
        task: &Task,
        actions: &[ActionId],
        states: &[Vec<u32>],
        at: usize,
    ) -> &[PropId] {
        while self.at > at {
            self.at -= 1;
            let (action, before) = (actions[self.at], &states[self.at]);
            for fact in task.add(action) {
                self.is_needed[fact.index()] = false;
            }
            let is_needed = &mut self.is_needed;
            self.facts.retain(|fact| {
                let still = is_needed[fact.index()] && task.encoding().holds(*fact, before);
                is_needed[fact.index()] = still;
                still
            });
            for &fact in task.pre(action) {
                if !std::mem::replace(&mut is_needed[fact.index()], true) {
                    self.facts.push(fact);
                }
            }
        }
        &self.facts
    }
}
