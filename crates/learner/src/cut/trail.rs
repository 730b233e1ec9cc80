//! Trails: true plans for a few goals, walked in the task itself.
//!
//! A relaxed plan forgets what it uses up: its objects are too few where fuel levels or sandwiches
//! are counted, and its ways do not join. A trail is a plan that was carried out. The relaxed plan
//! of a goal is followed as far as its actions apply, then another one is made from where that leads,
//! and so on, goal after goal. What a trail does not need is then left out again.
//!
//! Over the objects of a trail its actions apply as they do in the task, so that a cut made of them
//! has a plan; and it has just what that plan uses: resources are as scarce as they can be. The same
//! holds for any part of a trail from one of its states to a later one.

use std::collections::HashSet;

use homing_nlm::SplitMix64;
use homing_planner::{ActionId, Effect, PropId, Task};

use super::config::CutConfig;
use super::index::Index;
use super::relaxed::{Explorer, RandomCosts};

/// A plan from the initial state.
pub(super) struct Trail {
    pub(super) actions: Vec<ActionId>,
    /// One more than actions, the initial state first.
    pub(super) states: Vec<Vec<u32>>,
    /// The goals it was made for.
    pub(super) goals: Vec<usize>,
}

/// A part of a trail, and what it is good for.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) trail: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Whether all preconditions of an action hold.
fn applies(task: &Task, action: ActionId, state: &[u32]) -> bool {
    let mut pre = task.pre(action).iter();
    pre.all(|&prop| task.encoding().holds(prop, state))
}

/// Whether an action makes something true.
fn brings(task: &Task, action: ActionId, state: &[u32]) -> bool {
    let is_new = |prop: &PropId| !task.encoding().holds(*prop, state);
    task.add(action).iter().any(is_new)
        || taking_place(task, action, state).any(|effect| effect.add.iter().any(is_new))
}

/// The conditional effects of an action that take place in a state.
pub(super) fn taking_place<'a>(
    task: &'a Task,
    action: ActionId,
    state: &'a [u32],
) -> impl Iterator<Item = Effect<'a>> {
    let effects = task.conditional_effects(action);
    effects.filter(|effect| {
        let mut condition = effect.condition.iter();
        condition.all(|&prop| task.encoding().holds(prop, state))
    })
}

/// Walks towards goals, one after the other; `None` if that leads nowhere.
pub(super) fn walk(
    explorer: &mut Explorer<'_>,
    index: &Index<'_>,
    config: &CutConfig,
    goals: &[usize],
    random: &mut SplitMix64,
) -> Option<Trail> {
    let task = index.task;
    let mut steps = Steps {
        task,
        state: task.initial_state(),
        actions: Vec::new(),
        most: config.trail_steps,
    };
    let most_work = config.exploration_work + config.trail_work;
    let mut met: HashSet<Vec<u32>> = HashSet::new();
    let mut props = Vec::new();
    for &goal in goals {
        let Some(wanted) = index.goal_props[goal] else {
            continue;
        };
        for round in 0..config.trail_rounds {
            if explorer.work >= most_work
                || task.encoding().holds(wanted, &steps.state)
                || !met.insert(steps.state.clone())
            {
                break;
            }
            props.clear();
            task.encoding().unpack(&steps.state, &mut props);
            let spread = config.spreads[round % config.spreads.len()];
            let costs = RandomCosts::new(spread, random);
            if !explorer.explore(&props, &[wanted], costs) {
                break;
            }
            let mut plan: Vec<ActionId> = Vec::new();
            for rule in explorer.plan(wanted, random) {
                if let Some(action) = explorer.rules.action(rule)
                    && !plan.contains(&action)
                {
                    plan.push(action);
                }
            }
            if !steps.follow(plan) {
                break;
            }
        }
    }
    let wanted: Vec<PropId> = achieved(index, goals, &task.initial_state(), &steps.state)
        .into_iter()
        .filter_map(|goal| index.goal_props[goal])
        .collect();
    if !wanted.is_empty() {
        steps.actions = needed(task, &steps.actions, &wanted);
    }
    (!steps.actions.is_empty()).then(|| Trail {
        states: task.states_along(&steps.actions),
        actions: steps.actions,
        goals: goals.to_vec(),
    })
}

/// The goals that hold in a later state and not in an earlier one.
pub(super) fn achieved(
    index: &Index<'_>,
    goals: &[usize],
    before: &[u32],
    after: &[u32],
) -> Vec<usize> {
    let encoding = index.task.encoding();
    let won = |prop: PropId| encoding.holds(prop, after) && !encoding.holds(prop, before);
    let goals = goals.iter().copied();
    goals
        .filter(|&goal| index.goal_props[goal].is_some_and(won))
        .collect()
}

/// Actions carried out so far.
struct Steps<'t> {
    task: &'t Task,
    state: Vec<u32>,
    actions: Vec<ActionId>,
    most: usize,
}

impl Steps<'_> {
    /// Carries out what applies of a relaxed plan and brings something new, in its order, until
    /// nothing more does. Says whether anything did.
    fn follow(&mut self, mut plan: Vec<ActionId>) -> bool {
        let before = self.actions.len();
        loop {
            let left = plan.len();
            plan.retain(|&action| {
                let go = self.actions.len() < self.most
                    && applies(self.task, action, &self.state)
                    && brings(self.task, action, &self.state);
                if go {
                    self.task.apply(action, &mut self.state);
                    self.actions.push(action);
                }
                !go
            });
            if plan.len() == left {
                return self.actions.len() > before;
            }
        }
    }
}

/// A plan without what it does not need: each action in turn is left out, with all that no longer
/// apply then, if the goals still come true.
fn needed(task: &Task, actions: &[ActionId], wanted: &[PropId]) -> Vec<ActionId> {
    let mut plan = actions.to_vec();
    let mut at = 0;
    let mut state = task.initial_state();
    while at < plan.len() {
        let mut shorter = plan[..at].to_vec();
        let mut end = state.clone();
        for &action in &plan[at + 1..] {
            if applies(task, action, &end) {
                task.apply(action, &mut end);
                shorter.push(action);
            }
        }
        if wanted.iter().all(|&prop| task.encoding().holds(prop, &end)) {
            plan = shorter;
        } else {
            task.apply(plan[at], &mut state);
            at += 1;
        }
    }
    plan
}
