//! The delete relaxation: h_max, h_add, h_FF.
//!
//! One pass of a generalised Dijkstra algorithm gives each proposition the cost of its cheapest
//! achiever, where the cost of an action is its own plus the sum (add) or the maximum (max) of the
//! costs of its preconditions. It ends when the last goal is settled.
//!
//! h_FF takes the cheapest achiever of each goal, then of its preconditions, and so on, and counts
//! the distinct actions. Of equally cheap achievers the one with the lowest id counts. (Actions
//! that cost nothing are an exception: the first one found stays, lest two propositions support
//! one another.)

use crate::csr::Csr;
use crate::heuristic::queue::CostQueue;
use crate::heuristic::{Costs, Estimate, Heuristic};
use crate::registry::States;
use crate::task::{PropId, Task};

/// Not reached. Real costs saturate below it.
const UNREACHED: u32 = u32::MAX;
const MAX_COST: u32 = u32::MAX - 1;

/// How the costs of preconditions combine.
trait Combine {
    fn combine(a: u32, b: u32) -> u32;
}

struct Sum;
impl Combine for Sum {
    #[inline]
    fn combine(a: u32, b: u32) -> u32 {
        plus(a, b)
    }
}

struct Maximum;
impl Combine for Maximum {
    #[inline]
    fn combine(a: u32, b: u32) -> u32 {
        a.max(b)
    }
}

/// An action in one pass.
#[derive(Clone, Copy)]
struct Counter {
    /// Preconditions not yet settled.
    missing: u32,
    /// The combined cost of those that are.
    cost: u32,
}

/// The cost of a proposition and its cheapest achiever in one word, so that one comparison decides
/// by cost, then by action: cost in the high half, action in the low one.
type Best = u64;

const NO_ACTION: u32 = u32::MAX;

/// The sum of two costs; costs saturate.
#[inline]
fn plus(a: u32, b: u32) -> u32 {
    a.saturating_add(b).min(MAX_COST)
}

#[inline]
fn best(cost: u32, action: u32) -> Best {
    u64::from(cost) << 32 | u64::from(action)
}

#[inline]
fn cost_of(best: Best) -> u32 {
    (best >> 32) as u32
}

#[inline]
fn action_of(best: Best) -> u32 {
    best as u32
}

/// What an action with several preconditions does once all of them are settled.
#[derive(Clone, Copy)]
struct Firing {
    own_cost: u32,
    /// Its range in `Relaxation::adds`.
    first: u32,
    end: u32,
}

/// An action with a single precondition is an edge to each proposition it adds: no counting.
#[derive(Clone, Copy)]
struct Edge {
    to: u32,
    own_cost: u32,
    action: u32,
}

/// The relaxed task, and the working memory of a pass over it.
struct Relaxation<'a> {
    task: &'a Task,
    costs: Vec<u32>,
    /// By proposition: the actions that need it and nothing else.
    edges: Csr<Edge>,
    /// By proposition: the other actions that need it.
    needed_by: Csr<u32>,
    /// By action.
    firings: Vec<Firing>,
    /// Added propositions, action by action.
    adds: Vec<u32>,
    /// Counters as they are before a pass.
    fresh: Vec<Counter>,
    without_pre: Vec<u32>,
    is_goal: Vec<bool>,
    counters: Vec<Counter>,
    pass: Pass,
    state: Vec<PropId>,
}

/// What is known of each proposition, and which are to be settled.
struct Pass {
    best: Vec<Best>,
    queue: CostQueue,
}

impl Pass {
    /// An action achieves a proposition at a cost, its own included.
    #[inline(always)]
    fn achieve(&mut self, prop: u32, cost: u32, own_cost: u32, action: u32) {
        let candidate = best(cost, action);
        let known = &mut self.best[prop as usize];
        if candidate < *known {
            if cost < cost_of(*known) {
                *known = candidate;
                self.queue.push(cost, prop);
            } else if own_cost > 0 {
                *known = candidate;
            }
        }
    }
}

impl<'a> Relaxation<'a> {
    fn new(task: &'a Task, costs: Costs) -> Self {
        let actions = &task.actions;
        let costs: Vec<u32> = task
            .actions()
            .map(|action| costs.of(task, action))
            .collect();
        let edges = Csr::from_pairs(
            task.propositions.len(),
            Edge {
                to: 0,
                own_cost: 0,
                action: 0,
            },
            || {
                let single = actions
                    .pre
                    .rows()
                    .enumerate()
                    .filter(|(_, pre)| pre.len() == 1);
                single.flat_map(|(action, pre)| {
                    let own_cost = costs[action];
                    actions.add.row(action).iter().map(move |prop| {
                        (
                            pre[0].index(),
                            Edge {
                                to: prop.0,
                                own_cost,
                                action: action as u32,
                            },
                        )
                    })
                })
            },
        );
        let needed_by = Csr::from_pairs(task.propositions.len(), 0u32, || {
            let several = actions
                .pre
                .rows()
                .enumerate()
                .filter(|(_, pre)| pre.len() > 1);
            several
                .flat_map(|(action, pre)| pre.iter().map(move |prop| (prop.index(), action as u32)))
        });
        let mut adds: Vec<u32> = Vec::with_capacity(actions.add.items().len());
        let firings = (0..actions.add.len())
            .map(|action| {
                let first = adds.len() as u32;
                adds.extend(actions.add.row(action).iter().map(|prop| prop.0));
                Firing {
                    own_cost: costs[action],
                    first,
                    end: adds.len() as u32,
                }
            })
            .collect();
        let fresh = actions
            .pre
            .rows()
            .map(|pre| Counter {
                missing: pre.len() as u32,
                cost: 0,
            })
            .collect();
        let mut is_goal = vec![false; task.propositions.len()];
        task.goal
            .iter()
            .for_each(|prop| is_goal[prop.index()] = true);
        Self {
            task,
            costs,
            edges,
            needed_by,
            firings,
            adds,
            fresh,
            without_pre: (0..actions.pre.len())
                .filter(|&action| actions.pre.row(action).is_empty())
                .map(|action| action as u32)
                .collect(),
            is_goal,
            counters: Vec::new(),
            pass: Pass {
                best: vec![0; task.propositions.len()],
                queue: CostQueue::default(),
            },
            state: Vec::new(),
        }
    }

    /// Settles propositions in the order of their costs until all goals are settled; `false` if
    /// they never are.
    fn explore<C: Combine>(&mut self, state: &[u32]) -> bool {
        self.state.clear();
        self.task.encoding.unpack(state, &mut self.state);
        self.counters.clear();
        self.counters.extend_from_slice(&self.fresh);
        let Self {
            edges,
            needed_by,
            firings,
            adds,
            is_goal,
            counters,
            pass,
            ..
        } = self;
        pass.best.fill(best(UNREACHED, NO_ACTION));
        pass.queue.clear();
        for &prop in &self.state {
            pass.best[prop.index()] = best(0, NO_ACTION);
            pass.queue.push(0, prop.0);
        }
        let fire = |action: u32, pre_cost: u32, pass: &mut Pass| {
            let Firing {
                own_cost,
                first,
                end,
            } = firings[action as usize];
            let cost = plus(pre_cost, own_cost);
            for &prop in &adds[first as usize..end as usize] {
                pass.achieve(prop, cost, own_cost, action);
            }
        };
        for &action in &self.without_pre {
            fire(action, 0, pass);
        }
        let mut goals = self.task.goal.len();
        if goals == 0 {
            return true;
        }
        while let Some((cost, prop)) = pass.queue.pop() {
            let prop = prop as usize;
            if cost_of(pass.best[prop]) != cost {
                continue;
            }
            if is_goal[prop] {
                goals -= 1;
                if goals == 0 {
                    return true;
                }
            }
            for edge in edges.row(prop) {
                pass.achieve(
                    edge.to,
                    plus(cost, edge.own_cost),
                    edge.own_cost,
                    edge.action,
                );
            }
            for &action in needed_by.row(prop) {
                let counter = &mut counters[action as usize];
                counter.missing -= 1;
                counter.cost = C::combine(counter.cost, cost);
                if counter.missing == 0 {
                    fire(action, counter.cost, pass);
                }
            }
        }
        false
    }

    fn goal_costs(&self) -> impl Iterator<Item = u32> {
        self.task
            .goal
            .iter()
            .map(|prop| cost_of(self.pass.best[prop.index()]))
    }
}

/// h_max: the most expensive goal; admissible.
pub struct Max<'a>(Relaxation<'a>);

impl<'a> Max<'a> {
    /// For a task.
    pub fn new(task: &'a Task, costs: Costs) -> Self {
        Self(Relaxation::new(task, costs))
    }
}

impl Heuristic for Max<'_> {
    fn name(&self) -> &str {
        "max"
    }

    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        for state in states.iter() {
            estimates.push(if self.0.explore::<Maximum>(state) {
                Estimate::new(f64::from(self.0.goal_costs().max().unwrap_or(0)))
            } else {
                Estimate::DEAD_END
            });
        }
    }
}

/// h_add: the sum over the goals.
pub struct Add<'a>(Relaxation<'a>);

impl<'a> Add<'a> {
    /// For a task.
    pub fn new(task: &'a Task, costs: Costs) -> Self {
        Self(Relaxation::new(task, costs))
    }
}

impl Heuristic for Add<'_> {
    fn name(&self) -> &str {
        "add"
    }

    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        for state in states.iter() {
            estimates.push(if self.0.explore::<Sum>(state) {
                Estimate::new(self.0.goal_costs().map(f64::from).sum())
            } else {
                Estimate::DEAD_END
            });
        }
    }
}

/// h_FF: the cost of a relaxed plan made of the cheapest achievers under h_add.
pub struct Ff<'a> {
    relaxation: Relaxation<'a>,
    /// Marks by evaluation: a proposition or action with the current mark is in the relaxed plan.
    in_plan: Vec<u32>,
    action_in_plan: Vec<u32>,
    mark: u32,
    open: Vec<PropId>,
}

impl<'a> Ff<'a> {
    /// For a task.
    pub fn new(task: &'a Task, costs: Costs) -> Self {
        Self {
            relaxation: Relaxation::new(task, costs),
            in_plan: vec![0; task.propositions.len()],
            action_in_plan: vec![0; task.action_count()],
            mark: 0,
            open: Vec::new(),
        }
    }

    fn relaxed_plan_cost(&mut self) -> f64 {
        let task = self.relaxation.task;
        if self.mark == u32::MAX {
            self.in_plan.fill(0);
            self.action_in_plan.fill(0);
            self.mark = 0;
        }
        self.mark += 1;
        let mut total = 0.0;
        self.open.clear();
        self.open.extend_from_slice(&task.goal);
        while let Some(prop) = self.open.pop() {
            if std::mem::replace(&mut self.in_plan[prop.index()], self.mark) == self.mark {
                continue;
            }
            let action = action_of(self.relaxation.pass.best[prop.index()]);
            if action == NO_ACTION {
                continue;
            }
            let action = action as usize;
            if std::mem::replace(&mut self.action_in_plan[action], self.mark) != self.mark {
                total += f64::from(self.relaxation.costs[action]);
                self.open.extend_from_slice(task.actions.pre.row(action));
            }
        }
        total
    }
}

impl Heuristic for Ff<'_> {
    fn name(&self) -> &str {
        "ff"
    }

    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        for state in states.iter() {
            estimates.push(if self.relaxation.explore::<Sum>(state) {
                Estimate::new(self.relaxed_plan_cost())
            } else {
                Estimate::DEAD_END
            });
        }
    }
}
