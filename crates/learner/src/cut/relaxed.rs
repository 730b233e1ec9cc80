//! Relaxed plans that differ: h_add under random costs.
//!
//! One exploration gives every goal the same truck. With other costs it is another truck; so each
//! goal of a cut takes its plan from an exploration of its own. All explorations share one index of
//! preconditions, and stop once the goals they look for are settled.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use homing_nlm::SplitMix64;
use homing_planner::{ActionId, PropId, Stop, Task};

use super::config::CutConfig;
use super::lists::Lists;

/// True at the start: nothing needs to achieve it.
const INITIAL: u32 = u32::MAX;
/// Not reached.
const NEVER: u32 = u32::MAX - 1;

/// Random costs are whole numbers: this one stands for 1.
const ONE: u32 = 64;

/// Entries of a table that are reset in the time of one unit of work.
const RESETS: u64 = 16;

/// Random costs of actions, without a table.
#[derive(Clone, Copy)]
pub(super) struct RandomCosts {
    salt: u64,
    spread: u64,
}

impl RandomCosts {
    /// Costs from 1 to 1 + `spread`.
    pub(super) fn new(spread: f64, random: &mut SplitMix64) -> Self {
        Self {
            salt: random.next_u64(),
            spread: (f64::from(ONE) * spread) as u64 + 1,
        }
    }

    fn of(self, action: u32) -> u32 {
        let bits = SplitMix64::new(self.salt ^ (u64::from(action) << 17)).next_u64() >> 32;
        ONE + ((bits * self.spread) >> 32) as u32
    }
}

/// Explores the delete relaxation of a task, time and again.
pub(super) struct Explorer<'t> {
    task: &'t Task,
    needed_by: Lists,
    /// By action: preconditions not yet settled, and the cost of those that are.
    counters: Vec<(u32, u32)>,
    costs: Vec<u32>,
    achievers: Vec<u32>,
    is_goal: Vec<bool>,
    queue: BinaryHeap<Reverse<(u32, u32)>>,
    /// Conditions and effects touched so far.
    pub(super) work: u64,
}

impl<'t> Explorer<'t> {
    pub(super) fn new(task: &'t Task) -> Self {
        let propositions = task.propositions().len();
        let needed_by = Lists::new(propositions, |pair| {
            for action in task.actions() {
                for prop in task.pre(action) {
                    pair(prop.index(), action.0);
                }
            }
        });
        Self {
            task,
            work: needed_by.total() as u64,
            needed_by,
            counters: Vec::new(),
            costs: Vec::new(),
            achievers: Vec::new(),
            is_goal: vec![false; propositions],
            queue: BinaryHeap::new(),
        }
    }

    /// Settles propositions in the order of their costs until all goals are; says whether they are.
    pub(super) fn explore(
        &mut self,
        state: &[PropId],
        goals: &[PropId],
        costs: RandomCosts,
    ) -> bool {
        self.reset(state, costs);
        let mut missing = 0;
        for goal in goals {
            missing += usize::from(!std::mem::replace(&mut self.is_goal[goal.index()], true));
        }
        while missing > 0
            && let Some(Reverse((cost, prop))) = self.queue.pop()
        {
            let prop = prop as usize;
            if self.costs[prop] == cost {
                missing -= usize::from(self.is_goal[prop]);
                self.settle(prop, cost, costs);
            }
        }
        for goal in goals {
            self.is_goal[goal.index()] = false;
        }
        missing == 0
    }

    fn reset(&mut self, state: &[PropId], costs: RandomCosts) {
        let task = self.task;
        let propositions = task.propositions().len();
        self.work += (propositions + task.action_count()) as u64 / RESETS;
        self.costs.clear();
        self.costs.resize(propositions, u32::MAX);
        self.achievers.clear();
        self.achievers.resize(propositions, NEVER);
        self.counters.clear();
        let counters = task.actions().map(|a| (task.pre(a).len() as u32, 0));
        self.counters.extend(counters);
        self.queue.clear();
        for &prop in state {
            self.achieve(prop, 0, INITIAL);
        }
        for action in task.actions() {
            if self.counters[action.index()].0 == 0 {
                self.fire(action, costs.of(action.0));
            }
        }
    }

    fn settle(&mut self, prop: usize, cost: u32, costs: RandomCosts) {
        let waiting = self.needed_by.of(prop).len();
        self.work += 1 + waiting as u64;
        for at in 0..waiting {
            let action = self.needed_by.of(prop)[at];
            let (missing, so_far) = &mut self.counters[action as usize];
            *missing -= 1;
            *so_far = so_far.saturating_add(cost);
            if *missing == 0 {
                let cost = so_far.saturating_add(costs.of(action));
                self.fire(ActionId(action), cost);
            }
        }
    }

    fn fire(&mut self, action: ActionId, cost: u32) {
        let task = self.task;
        self.work += task.add(action).len() as u64;
        for &prop in task.add(action) {
            self.achieve(prop, cost, action.0);
        }
    }

    fn achieve(&mut self, prop: PropId, cost: u32, by: u32) {
        let known = &mut self.costs[prop.index()];
        if cost < *known {
            *known = cost;
            self.achievers[prop.index()] = by;
            self.queue.push(Reverse((cost, prop.0)));
        }
    }

    /// The relaxed plan of a proposition settled in the last exploration.
    pub(super) fn plan(&self, wanted: PropId, random: &mut SplitMix64) -> Vec<ActionId> {
        relaxed_plan(self.task, &self.achievers, wanted, random)
    }
}

/// Explorations of one task from its initial state: by proposition the action that achieves it.
pub(super) struct Explorations {
    achievers: Vec<Vec<u32>>,
}

impl Explorations {
    /// As many as wanted, fewer where they would take more work than allowed, but one.
    pub(super) fn new(
        explorer: &mut Explorer<'_>,
        config: &CutConfig,
        random: &mut SplitMix64,
        poll: &mut dyn FnMut() -> Option<Stop>,
    ) -> Result<Self, Stop> {
        let task = explorer.task;
        let mut achievers = Vec::new();
        while achievers.len() < config.explorations.max(1) {
            if let Some(stop) = poll() {
                return Err(stop);
            }
            let before = explorer.work;
            let spread = config.spreads[achievers.len() % config.spreads.len()];
            explorer.explore(task.init(), task.goal(), RandomCosts::new(spread, random));
            achievers.push(explorer.achievers.clone());
            if explorer.work + (explorer.work - before) > config.exploration_work {
                break;
            }
        }
        Ok(Self { achievers })
    }

    pub(super) fn len(&self) -> usize {
        self.achievers.len()
    }

    /// The relaxed plan of a proposition in one of the explorations.
    pub(super) fn plan(
        &self,
        task: &Task,
        wanted: PropId,
        random: &mut SplitMix64,
    ) -> Vec<ActionId> {
        let exploration = random.below(self.len());
        relaxed_plan(task, &self.achievers[exploration], wanted, random)
    }
}

/// The actions that a proposition needs, each after those that it needs. Among preconditions chance
/// says which comes first.
fn relaxed_plan(
    task: &Task,
    achievers: &[u32],
    wanted: PropId,
    random: &mut SplitMix64,
) -> Vec<ActionId> {
    let mut plan = Vec::new();
    let mut seen = HashSet::new();
    // An action is met twice: on the way down, and when all it needs is in the plan.
    let mut stack = vec![(achievers[wanted.index()], false)];
    while let Some((action, done)) = stack.pop() {
        if action == INITIAL || action == NEVER {
            continue;
        }
        let id = ActionId(action);
        if done {
            plan.push(id);
        } else if seen.insert(action) {
            stack.push((action, true));
            let pre = task.pre(id);
            let turn = random.below(pre.len().max(1));
            for at in 0..pre.len() {
                let prop = pre[(at + turn) % pre.len()];
                stack.push((achievers[prop.index()], false));
            }
        }
    }
    plan
}
