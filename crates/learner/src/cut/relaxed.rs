//! Relaxed plans that differ: h_add under random costs.
//!
//! One exploration gives every goal the same truck. With other costs it is another truck; so each
//! goal of a cut takes its plan from an exploration of its own. All explorations share one index of
//! preconditions, and stop once every goal is settled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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

/// Work between two looks at the watch.
const POLL_EVERY: u64 = 200_000;

/// Explorations of one task: by proposition the action that achieves it first.
#[derive(Debug)]
pub(super) struct Explorations {
    achievers: Vec<Vec<u32>>,
}

impl Explorations {
    /// As many as wanted, fewer where they would take more work than allowed, but one.
    pub(super) fn new(
        task: &Task,
        config: &CutConfig,
        random: &mut SplitMix64,
        poll: &mut dyn FnMut() -> Option<Stop>,
    ) -> Result<Self, Stop> {
        let needed_by = Lists::new(task.propositions().len(), |pair| {
            for action in task.actions() {
                for prop in task.pre(action) {
                    pair(prop.index(), action.0);
                }
            }
        });
        let mut work = needed_by.total() as u64;
        let mut achievers = Vec::new();
        while achievers.len() < config.explorations.max(1) {
            let before = work;
            let spread = config.spreads[achievers.len() % config.spreads.len()];
            let mut exploration = Exploration {
                task,
                needed_by: &needed_by,
                salt: random.next_u64(),
                spread: (f64::from(ONE) * spread) as u32,
                work: 0,
            };
            achievers.push(exploration.run(poll)?);
            work += exploration.work;
            if work + (work - before) > config.exploration_work {
                break;
            }
        }
        Ok(Self { achievers })
    }

    pub(super) fn len(&self) -> usize {
        self.achievers.len()
    }

    /// The relaxed plan of a proposition in one of the explorations: its actions, each after those
    /// that it needs. Among preconditions chance says which comes first.
    pub(super) fn plan(
        &self,
        task: &Task,
        exploration: usize,
        wanted: PropId,
        random: &mut SplitMix64,
    ) -> Vec<ActionId> {
        let achievers = &self.achievers[exploration];
        let mut plan = Vec::new();
        let mut seen = std::collections::HashSet::new();
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
}

/// One exploration under way.
struct Exploration<'a> {
    task: &'a Task,
    needed_by: &'a Lists,
    salt: u64,
    spread: u32,
    work: u64,
}

impl Exploration<'_> {
    /// A random cost that needs no table.
    fn cost(&self, action: u32) -> u32 {
        let bits = SplitMix64::new(self.salt ^ u64::from(action) << 17).next_u64() >> 32;
        ONE + (bits * u64::from(self.spread + 1) >> 32) as u32
    }

    fn run(&mut self, poll: &mut dyn FnMut() -> Option<Stop>) -> Result<Vec<u32>, Stop> {
        let task = self.task;
        let mut pass = Pass {
            costs: vec![u32::MAX; task.propositions().len()],
            achievers: vec![NEVER; task.propositions().len()],
            queue: BinaryHeap::new(),
        };
        for prop in task.init() {
            pass.achieve(*prop, 0, INITIAL);
        }
        let mut missing: Vec<(u32, u32)> = Vec::with_capacity(task.action_count());
        for action in task.actions() {
            let (pre, own) = (task.pre(action).len() as u32, self.cost(action.0));
            missing.push((pre, own));
            if pre == 0 {
                self.fire(action, own, &mut pass);
            }
        }
        let mut is_goal = vec![false; task.propositions().len()];
        for goal in task.goal() {
            is_goal[goal.index()] = true;
        }
        let mut goals = task.goal().len();
        let mut polled = self.work;
        while let Some(Reverse((cost, prop))) = pass.queue.pop() {
            let prop = prop as usize;
            if pass.costs[prop] != cost {
                continue;
            }
            goals -= usize::from(is_goal[prop]);
            if goals == 0 {
                break;
            }
            self.work += 1 + self.needed_by.of(prop).len() as u64;
            for &action in self.needed_by.of(prop) {
                let (left, so_far) = &mut missing[action as usize];
                *left -= 1;
                *so_far = so_far.saturating_add(cost);
                if *left == 0 {
                    let cost = *so_far;
                    self.fire(ActionId(action), cost, &mut pass);
                }
            }
            if self.work >= polled + POLL_EVERY {
                polled = self.work;
                if let Some(stop) = poll() {
                    return Err(stop);
                }
            }
        }
        Ok(pass.achievers)
    }

    fn fire(&mut self, action: ActionId, cost: u32, pass: &mut Pass) {
        self.work += self.task.add(action).len() as u64;
        for &prop in self.task.add(action) {
            pass.achieve(prop, cost, action.0);
        }
    }
}

/// What is known of each proposition, and which are to be settled.
struct Pass {
    costs: Vec<u32>,
    achievers: Vec<u32>,
    queue: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Pass {
    fn achieve(&mut self, prop: PropId, cost: u32, by: u32) {
        let known = &mut self.costs[prop.index()];
        if cost < *known {
            *known = cost;
            self.achievers[prop.index()] = by;
            self.queue.push(Reverse((cost, prop.0)));
        }
    }
}
