//! The delete relaxation: h_max, h_add, h_FF.
//!
//! One pass of a generalised Dijkstra algorithm gives each proposition the cost of its cheapest
//! achiever, where the cost of an action is its own plus the sum (add) or the maximum (max) of the
//! costs of its preconditions. It ends when the last goal is settled.
//!
//! What an action does under a condition is a rule of its own, which needs the precondition and the
//! condition. An axiom is a rule that costs nothing. A negated derived proposition that does not
//! depend on itself is defined by axioms too; one that does is free, which keeps h_max admissible
//! and dead ends true. In what follows, "action" stands for rule.
//!
//! h_FF takes the cheapest achiever of each goal, then of its preconditions, and so on, and counts
//! the distinct actions. Of equally cheap achievers the one with the lowest id counts. (Actions
//! that cost nothing are an exception: the first one found stays, lest two propositions support
//! one another.)

use std::collections::HashSet;

use hashbrown::HashTable;

use crate::csr::Csr;
use crate::hash::hash_words;
use crate::heuristic::queue::CostQueue;
use crate::heuristic::{Costs, Estimate, Evaluation, Heuristic, HeuristicKind, Node};
use crate::registry::States;
use crate::task::{ActionId, PropId, Task};
use crate::watch::{Pace, Stop, Watch, table_growth};

/// Not reached. Real costs saturate below it.
const UNREACHED: u32 = u32::MAX;
const MAX_COST: u32 = u32::MAX - 1;

/// How the costs of preconditions combine. Propositions are settled in the order of their costs.
trait Combine {
    /// Counts a precondition that is settled, where [`fits`](Relaxation::fits) says that sums do.
    fn settle(counter: Counter, cost: u32) -> Counter;
    /// The same where sums may be too large: costs saturate.
    fn settle_large(counter: Counter, cost: u32) -> Counter;
    /// What all preconditions cost together, the last of them this much.
    fn cost(counter: Counter, last: u32) -> u32;
}

struct Sum;
impl Combine for Sum {
    #[inline(always)]
    fn settle(counter: Counter, cost: u32) -> Counter {
        counter.wrapping_add(u64::from(cost).wrapping_sub(ONE_MISSING))
    }

    #[inline(always)]
    fn settle_large(counter: Counter, cost: u32) -> Counter {
        let sum = plus(counter as u32, cost);
        (counter - ONE_MISSING) >> 32 << 32 | u64::from(sum)
    }

    #[inline(always)]
    fn cost(counter: Counter, _: u32) -> u32 {
        counter as u32
    }
}

struct Maximum;
impl Combine for Maximum {
    #[inline(always)]
    fn settle(counter: Counter, _: u32) -> Counter {
        counter - ONE_MISSING
    }

    #[inline(always)]
    fn settle_large(counter: Counter, cost: u32) -> Counter {
        Self::settle(counter, cost)
    }

    /// None before it costs more.
    #[inline(always)]
    fn cost(_: Counter, last: u32) -> u32 {
        last
    }
}

/// A rule in one pass, in one word: how many preconditions are not settled yet in the high half, the
/// sum of the costs of those that are in the low one.
type Counter = u64;

const ONE_MISSING: Counter = 1 << 32;

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

/// An action adds a proposition.
#[derive(Clone, Copy)]
struct Effect {
    to: u32,
    action: u32,
}

/// An effect of an action with a single precondition.
#[derive(Clone, Copy)]
struct Edge {
    own_cost: u32,
    effect: Effect,
}

/// Actions with the same preconditions and the same cost.
#[derive(Clone, Copy)]
struct Rule {
    own_cost: u32,
    /// Its range in `Relaxation::effects`.
    first: u32,
    end: u32,
}

/// The relaxed task, and the working memory of a pass over it.
pub(super) struct Relaxation<'a> {
    task: &'a Task,
    costs: Vec<u32>,
    /// By proposition: the effects of actions that need it and nothing else. No counting for these.
    edges: Csr<Edge>,
    /// By proposition: the rules that need it.
    needed_by: Csr<u32>,
    rules: Vec<Rule>,
    /// Rule by rule.
    effects: Vec<Effect>,
    /// Counters of the rules as they are before a pass.
    fresh: Vec<Counter>,
    /// While a settled proposition costs no more than this, no sum saturates, be it of preconditions
    /// alone or with a rule's own cost: no proposition settled before costs more.
    fits: u32,
    /// Rules without preconditions.
    without_pre: Vec<u32>,
    /// What is to be reached: the task's goal, or another in its place.
    goal: Vec<PropId>,
    is_goal: Vec<bool>,
    counters: Vec<Counter>,
    pass: Pass,
    state: Vec<PropId>,
    /// Counted work of all passes, in rough nanoseconds.
    pub(super) work: u64,
}

/// Rough nanoseconds of touching an effect or a counter, and of the fixed part of settling a
/// proposition, measured over the competition problems.
const TOUCH_WORK: u64 = 3;
const SETTLE_WORK: u64 = 14;

/// What is known of each proposition, and which are to be settled.
struct Pass {
    best: Vec<Best>,
    queue: CostQueue,
}

/// What a pass looks at and writes to, as slices: in the inner loops their places stay in registers.
struct Firing<'p> {
    rules: &'p [Rule],
    effects: &'p [Effect],
    best: &'p mut [Best],
    queue: &'p mut CostQueue,
}

impl Firing<'_> {
    /// An action achieves a proposition at a cost, its own included.
    #[inline(always)]
    fn achieve(&mut self, effect: Effect, cost: u32, own_cost: u32) {
        let candidate = best(cost, effect.action);
        let known = &mut self.best[effect.to as usize];
        if candidate < *known {
            if cost < cost_of(*known) {
                *known = candidate;
                self.queue.push(cost, effect.to);
            } else if own_cost > 0 {
                *known = candidate;
            }
        }
    }

    /// The preconditions of a rule are all settled; how many effects it has. `total` makes its cost
    /// of theirs and its own.
    #[inline(always)]
    fn fire(&mut self, rule: u32, pre_cost: u32, total: impl Fn(u32, u32) -> u32) -> usize {
        let Rule {
            own_cost,
            first,
            end,
        } = self.rules[rule as usize];
        let cost = total(pre_cost, own_cost);
        let effects = self.effects;
        // Most have one: no loop is set up for it.
        if end - first == 1 {
            self.achieve(effects[first as usize], cost, own_cost);
            return 1;
        }
        for &effect in &effects[first as usize..end as usize] {
            self.achieve(effect, cost, own_cost);
        }
        (end - first) as usize
    }

    /// Counts a proposition of a large cost for the rules that need it, and fires those which need
    /// no more; how many effects these have.
    #[cold]
    #[inline(never)]
    fn settle_large<C: Combine>(
        &mut self,
        (edges, needed_by): (&[Edge], &[u32]),
        counters: &mut [Counter],
        cost: u32,
    ) -> usize {
        for &Edge { own_cost, effect } in edges {
            self.achieve(effect, plus(cost, own_cost), own_cost);
        }
        let mut touched = 0;
        for &rule in needed_by {
            let counter = &mut counters[rule as usize];
            *counter = C::settle_large(*counter, cost);
            if *counter < ONE_MISSING {
                touched += self.fire(rule, C::cost(*counter, cost), plus);
            }
        }
        touched
    }
}

impl<'a> Relaxation<'a> {
    pub(super) fn watched(
        task: &'a Task,
        costs: Costs,
        watch: &mut dyn Watch,
    ) -> Result<Self, Stop> {
        let mut pace = Pace::building(watch, "relaxed actions")?;
        let rule_pre = task.rule_pre();
        let costs: Vec<u32> = (0..rule_pre.len())
            .map(|rule| {
                let action = task.rule_action(rule);
                action.map_or(0, |action| costs.of(task, action))
            })
            .collect();
        // No path costs more: to add more makes no difference.
        let own_cost = |rule: usize| costs[rule].min(MAX_COST);
        let dearest = (0..costs.len()).map(own_cost).max().unwrap_or(0);
        let alike = alike(rule_pre, &mut pace)?;
        let useful = useful_adds(task, &costs, &alike, &mut pace)?;
        let effects_of = |action: u32| {
            let added = useful.row(action as usize).iter();
            added.map(move |&to| Effect { to, action })
        };
        let none = Edge {
            own_cost: 0,
            effect: Effect { to: 0, action: 0 },
        };
        let edges = Csr::from_pairs(task.propositions.len(), none, || {
            let single = rule_pre
                .rows()
                .enumerate()
                .filter(|(_, pre)| pre.len() == 1);
            single.flat_map(|(action, pre)| {
                let own_cost = own_cost(action);
                effects_of(action as u32)
                    .map(move |effect| (pre[0].index(), Edge { own_cost, effect }))
            })
        });
        // Actions with the same preconditions share a counter. Where some cost nothing, the order in
        // which effects are found decides among achievers: each action keeps its own place.
        let share = costs.iter().all(|&cost| cost > 0);
        let (mut rules, mut effects) = (Vec::new(), Vec::new());
        let (mut fresh, mut without_pre) = (Vec::new(), Vec::new());
        let mut widest = 1;
        let mut needs: Vec<(PropId, u32)> = Vec::new();
        for (action, pre) in rule_pre.rows().enumerate() {
            pace.work(2)?;
            if pre.len() == 1 {
                continue;
            }
            let mut members = match share {
                true => alike.row(action).to_vec(),
                false => vec![action as u32],
            };
            members.retain(|&member| !useful.row(member as usize).is_empty());
            members.sort_by_key(|&member| costs[member as usize]);
            for same_cost in members.chunk_by(|&a, &b| costs[a as usize] == costs[b as usize]) {
                let rule = rules.len() as u32;
                let first = effects.len() as u32;
                effects.extend(same_cost.iter().flat_map(|&member| effects_of(member)));
                rules.push(Rule {
                    own_cost: own_cost(same_cost[0] as usize),
                    first,
                    end: effects.len() as u32,
                });
                fresh.push(pre.len() as Counter * ONE_MISSING);
                widest = widest.max(pre.len());
                if pre.is_empty() {
                    without_pre.push(rule);
                }
                needs.extend(pre.iter().map(|&prop| (prop, rule)));
            }
        }
        let needed_by = Csr::from_pairs(task.propositions.len(), 0u32, || {
            needs.iter().map(|&(prop, rule)| (prop.index(), rule))
        });
        let mut is_goal = vec![false; task.propositions.len()];
        task.goal
            .iter()
            .for_each(|prop| is_goal[prop.index()] = true);
        // For the last table, and what a pass works with.
        let passes = rules.len() * size_of::<Counter>() + task.propositions.len() * 16;
        pace.room(passes)?;
        Ok(Self {
            task,
            costs,
            edges,
            needed_by,
            rules,
            effects,
            fresh,
            fits: (MAX_COST - dearest) / u32::try_from(widest).unwrap_or(MAX_COST),
            without_pre,
            goal: task.goal.clone(),
            is_goal,
            counters: Vec::new(),
            pass: Pass {
                best: vec![0; task.propositions.len()],
                queue: CostQueue::default(),
            },
            state: Vec::new(),
            work: 0,
        })
    }

    /// Puts another goal in the place of the one there was.
    fn set_goal(&mut self, goal: &[PropId]) {
        for prop in std::mem::take(&mut self.goal) {
            self.is_goal[prop.index()] = false;
        }
        self.goal.extend_from_slice(goal);
        goal.iter()
            .for_each(|prop| self.is_goal[prop.index()] = true);
    }

    /// Settles propositions in the order of their costs until all goals are settled; `false` if
    /// they never are.
    fn explore<C: Combine>(&mut self, state: &[u32]) -> bool {
        self.state.clear();
        self.task.encoding.unpack(state, &mut self.state);
        self.counters.clear();
        self.counters.extend_from_slice(&self.fresh);
        let Self { edges, pass, .. } = self;
        let (needed_by, is_goal) = (&self.needed_by, &self.is_goal[..]);
        let counters = &mut self.counters[..];
        let mut firing = Firing {
            rules: &self.rules,
            effects: &self.effects,
            best: &mut pass.best,
            queue: &mut pass.queue,
        };
        firing.best.fill(best(UNREACHED, NO_ACTION));
        firing.queue.clear();
        for &prop in &self.state {
            firing.best[prop.index()] = best(0, NO_ACTION);
            firing.queue.push(0, prop.0);
        }
        let mut touched = (counters.len() + firing.best.len()) / 8;
        let mut settled = 0;
        for &rule in &self.without_pre {
            touched += firing.fire(rule, 0, plus);
        }
        let mut goals = self.goal.len();
        while goals > 0 {
            let Some((cost, prop)) = firing.queue.pop() else {
                break;
            };
            let prop = prop as usize;
            if cost_of(firing.best[prop]) != cost {
                continue;
            }
            settled += 1;
            if is_goal[prop] {
                goals -= 1;
                if goals == 0 {
                    break;
                }
            }
            let (row, needed_by) = (edges.row(prop), needed_by.row(prop));
            touched += row.len() + needed_by.len();
            if cost > self.fits {
                touched += firing.settle_large::<C>((row, needed_by), counters, cost);
                continue;
            }
            for &Edge { own_cost, effect } in row {
                firing.achieve(effect, cost.wrapping_add(own_cost), own_cost);
            }
            for &rule in needed_by {
                let counter = &mut counters[rule as usize];
                *counter = C::settle(*counter, cost);
                if *counter < ONE_MISSING {
                    touched += firing.fire(rule, C::cost(*counter, cost), u32::wrapping_add);
                }
            }
        }
        self.work += touched as u64 * TOUCH_WORK + settled * SETTLE_WORK;
        goals == 0
    }

    /// Which propositions can be reached from a state, deletes ignored, if `without` never becomes
    /// true. `reached` is by proposition.
    pub(super) fn reach_without(
        &mut self,
        state: &[PropId],
        without: Option<PropId>,
        reached: &mut Vec<bool>,
    ) {
        reached.clear();
        reached.resize(self.task.propositions.len(), false);
        self.counters.clear();
        self.counters.extend_from_slice(&self.fresh);
        let mut open = std::mem::take(&mut self.state);
        open.clear();
        let mut touched = (self.counters.len() + reached.len()) as u64 / 8;
        let mut reach = |prop: u32, open: &mut Vec<PropId>| {
            if !reached[prop as usize] && without != Some(PropId(prop)) {
                reached[prop as usize] = true;
                open.push(PropId(prop));
            }
        };
        state.iter().for_each(|prop| reach(prop.0, &mut open));
        let fire = |rule: u32| {
            let Rule { first, end, .. } = self.rules[rule as usize];
            &self.effects[first as usize..end as usize]
        };
        for &rule in &self.without_pre {
            fire(rule)
                .iter()
                .for_each(|effect| reach(effect.to, &mut open));
        }
        let mut settled = 0;
        while let Some(prop) = open.pop() {
            settled += 1;
            let edges = self.edges.row(prop.index());
            let needed_by = self.needed_by.row(prop.index());
            touched += (edges.len() + needed_by.len()) as u64;
            edges
                .iter()
                .for_each(|edge| reach(edge.effect.to, &mut open));
            for &rule in needed_by {
                let counter = &mut self.counters[rule as usize];
                *counter -= ONE_MISSING;
                if *counter < ONE_MISSING {
                    let effects = fire(rule);
                    touched += effects.len() as u64;
                    effects
                        .iter()
                        .for_each(|effect| reach(effect.to, &mut open));
                }
            }
        }
        self.state = open;
        self.work += touched * TOUCH_WORK + settled * SETTLE_WORK;
    }

    fn goal_costs(&self) -> impl Iterator<Item = u32> {
        let goal = self.goal.iter();
        goal.map(|prop| cost_of(self.pass.best[prop.index()]))
    }
}

/// What each action adds that no action before it adds under the same preconditions for as much.
///
/// The earlier one is always counted first, costs no more and wins every tie, so that leaving the
/// later one out changes no cost and no cheapest achiever. (An earlier action that costs nothing
/// wins ties only against its like.)
fn useful_adds(
    task: &Task,
    costs: &[u32],
    alike: &Csr<u32>,
    pace: &mut Pace<'_>,
) -> Result<Csr<u32>, Stop> {
    let rule_add = task.rule_add();
    // By proposition: the last action met that adds it, and the group it belongs to.
    let mut met = vec![(NO_ACTION, NO_ACTION); task.propositions.len()];
    let mut useless: HashSet<(u32, PropId)> = HashSet::new();
    for (group, members) in alike.rows().enumerate() {
        if members.len() < 2 {
            continue;
        }
        for &action in members {
            pace.work(2)?;
            let own_cost = costs[action as usize];
            for &prop in rule_add.row(action as usize) {
                let (in_group, other) = met[prop.index()];
                let other_cost = costs.get(other as usize).copied().unwrap_or(UNREACHED);
                if in_group == group as u32
                    && other_cost <= own_cost
                    && (other_cost > 0 || own_cost == 0)
                {
                    useless.insert((action, prop));
                } else {
                    met[prop.index()] = (group as u32, action);
                }
            }
        }
    }
    let mut useful = Csr::default();
    for (action, added) in rule_add.rows().enumerate() {
        pace.work(1)?;
        let kept = added
            .iter()
            .filter(|&&prop| useless.is_empty() || !useless.contains(&(action as u32, prop)));
        useful.push_row(kept.map(|prop| prop.0));
    }
    Ok(useful)
}

/// Actions with the same preconditions, in their order, under the first of them.
fn alike(pre: &Csr<PropId>, pace: &mut Pace<'_>) -> Result<Csr<u32>, Stop> {
    let row = |action: u32| pre.row(action as usize);
    let hash = |action: u32| hash_words(row(action).iter().map(|prop| prop.0));
    let mut firsts: HashTable<u32> = HashTable::new();
    let mut first_of: Vec<u32> = Vec::with_capacity(pre.len());
    for action in 0..pre.len() as u32 {
        pace.work(4)?;
        pace.room(table_growth(&firsts, 1))?;
        let same = |&other: &u32| row(other) == row(action);
        let entry = firsts.entry(hash(action), same, |&other| hash(other));
        first_of.push(*entry.or_insert(action).get());
    }
    Ok(Csr::from_pairs(pre.len(), 0u32, || {
        let pairs = first_of.iter().enumerate();
        pairs.map(|(action, &first)| (first as usize, action as u32))
    }))
}

/// h_max: the most expensive goal; admissible.
pub struct Max<'a>(Relaxation<'a>);

impl<'a> Max<'a> {
    /// For a task.
    pub fn new(task: &'a Task, costs: Costs) -> Self {
        Self::watched(task, costs, &mut ()).expect("nothing says stop")
    }

    /// For a task, unless the watch says stop first.
    ///
    /// # Errors
    ///
    /// If it does.
    pub fn watched(task: &'a Task, costs: Costs, watch: &mut dyn Watch) -> Result<Self, Stop> {
        Ok(Self(Relaxation::watched(task, costs, watch)?))
    }
}

impl Heuristic for Max<'_> {
    fn name(&self) -> &str {
        HeuristicKind::Max.name()
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

    fn work(&self) -> u64 {
        self.0.work
    }
}

/// h_add: the sum over the goals.
pub struct Add<'a>(Relaxation<'a>);

impl<'a> Add<'a> {
    /// For a task.
    pub fn new(task: &'a Task, costs: Costs) -> Self {
        Self::watched(task, costs, &mut ()).expect("nothing says stop")
    }

    /// For a task, unless the watch says stop first.
    ///
    /// # Errors
    ///
    /// If it does.
    pub fn watched(task: &'a Task, costs: Costs, watch: &mut dyn Watch) -> Result<Self, Stop> {
        Ok(Self(Relaxation::watched(task, costs, watch)?))
    }
}

impl Heuristic for Add<'_> {
    fn name(&self) -> &str {
        HeuristicKind::Add.name()
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

    fn work(&self) -> u64 {
        self.0.work
    }
}

/// h_FF: the cost of a relaxed plan made of the cheapest achievers under h_add.
pub struct Ff<'a> {
    relaxation: Relaxation<'a>,
    /// Marks by evaluation: a proposition, action or rule with the current mark is in the relaxed
    /// plan.
    in_plan: Vec<u32>,
    action_in_plan: Vec<u32>,
    rule_in_plan: Vec<u32>,
    mark: u32,
    open: Vec<PropId>,
    /// The actions of the last relaxed plan.
    plan: Vec<ActionId>,
}

impl<'a> Ff<'a> {
    /// For a task.
    pub fn new(task: &'a Task, costs: Costs) -> Self {
        Self::watched(task, costs, &mut ()).expect("nothing says stop")
    }

    /// For a task, unless the watch says stop first.
    ///
    /// # Errors
    ///
    /// If it does.
    pub fn watched(task: &'a Task, costs: Costs, watch: &mut dyn Watch) -> Result<Self, Stop> {
        Ok(Self {
            relaxation: Relaxation::watched(task, costs, watch)?,
            in_plan: vec![0; task.propositions.len()],
            action_in_plan: vec![0; task.action_count()],
            rule_in_plan: vec![0; task.rule_pre().len()],
            mark: 0,
            open: Vec::new(),
            plan: Vec::new(),
        })
    }

    /// The goals and all that the relaxed plan of a state needs, sorted; `None` for a dead end.
    pub(super) fn relaxed_plan_facts(&mut self, state: &[u32]) -> Option<Vec<PropId>> {
        self.relaxation.explore::<Sum>(state).then(|| {
            self.relaxed_plan_cost();
            let props = (0..self.in_plan.len()).filter(|&prop| self.in_plan[prop] == self.mark);
            props.map(PropId::from_index).collect()
        })
    }

    /// Estimates the way to these propositions from now on, in place of the task's goal. They are
    /// distinct.
    pub(crate) fn set_goal(&mut self, goal: &[PropId]) {
        self.relaxation.set_goal(goal);
    }

    /// Evaluates a state. Preferred are the applicable actions of the relaxed plan.
    pub(crate) fn evaluate_state(&mut self, state: &[u32], evaluation: &mut Evaluation) {
        evaluation.preferred.clear();
        if !self.relaxation.explore::<Sum>(state) {
            evaluation.estimate = Estimate::DEAD_END;
            return;
        }
        evaluation.estimate = Estimate::new(self.relaxed_plan_cost());
        let task = self.relaxation.task;
        let applicable = |action: &&ActionId| {
            let mut pre = task.pre(**action).iter();
            pre.all(|&prop| task.encoding.holds(prop, state))
        };
        let useful = self.plan.iter().filter(applicable);
        evaluation.preferred.extend(useful.copied());
    }

    fn relaxed_plan_cost(&mut self) -> f64 {
        let task = self.relaxation.task;
        let (rule_pre, is_strips) = (task.rule_pre(), task.is_strips());
        if self.mark == u32::MAX {
            self.in_plan.fill(0);
            self.action_in_plan.fill(0);
            self.rule_in_plan.fill(0);
            self.mark = 0;
        }
        self.mark += 1;
        let mut total = 0.0;
        self.plan.clear();
        self.open.clear();
        self.open.extend_from_slice(&self.relaxation.goal);
        while let Some(prop) = self.open.pop() {
            if std::mem::replace(&mut self.in_plan[prop.index()], self.mark) == self.mark {
                continue;
            }
            let action = action_of(self.relaxation.pass.best[prop.index()]);
            if action == NO_ACTION {
                continue;
            }
            let rule = action as usize;
            if std::mem::replace(&mut self.rule_in_plan[rule], self.mark) == self.mark {
                continue;
            }
            self.open.extend_from_slice(rule_pre.row(rule));
            // An action counts once, however many of its effects are made use of. Where rules are
            // actions, each is met once.
            let action = match is_strips {
                true => ActionId::from_index(rule),
                false => {
                    let Some(action) = task.rule_action(rule) else {
                        continue;
                    };
                    let in_plan = &mut self.action_in_plan[action.index()];
                    if std::mem::replace(in_plan, self.mark) == self.mark {
                        continue;
                    }
                    action
                }
            };
            total += f64::from(self.relaxation.costs[rule]);
            self.plan.push(action);
        }
        total
    }
}

impl Heuristic for Ff<'_> {
    fn name(&self) -> &str {
        HeuristicKind::Ff.name()
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

    fn evaluate_node(&mut self, node: Node<'_>, evaluation: &mut Evaluation) {
        self.evaluate_state(node.state(), evaluation);
    }

    fn work(&self) -> u64 {
        self.relaxation.work
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_tasks::task;

    fn value(mut heuristic: impl Heuristic, state: &[u32]) -> Option<f64> {
        let mut estimates = Vec::new();
        heuristic.evaluate(States::one(state), &mut estimates);
        estimates[0].finite()
    }

    #[test]
    fn costs_saturate() {
        // Three preconditions of two thousand million each: their sum does not fit into a word.
        let task = task(
            "(:predicates (a) (b) (c) (end)) (:functions (total-cost))
             (:action get-a :effect (and (a) (increase (total-cost) 2000000000)))
             (:action get-b :effect (and (b) (increase (total-cost) 2000000000)))
             (:action get-c :effect (and (c) (increase (total-cost) 2000000000)))
             (:action finish :precondition (and (a) (b) (c))
                             :effect (and (end) (increase (total-cost) 1)))",
            "(:init (= (total-cost) 0)) (:goal (end)) (:metric minimize (total-cost))",
        );
        let state = task.initial_state();
        let most = Some(f64::from(MAX_COST));
        assert_eq!(value(Add::new(&task, Costs::Task), &state), most);
        assert_eq!(
            value(Max::new(&task, Costs::Task), &state),
            Some(2_000_000_001.0)
        );
        assert_eq!(
            value(Ff::new(&task, Costs::Task), &state),
            Some(6_000_000_001.0)
        );
        assert_eq!(value(Add::new(&task, Costs::Unit), &state), Some(4.0));
        assert_eq!(value(Max::new(&task, Costs::Unit), &state), Some(2.0));
    }

    #[test]
    fn both_ways_to_count_a_precondition_agree_where_sums_fit() {
        for missing in 1..4 {
            for (sum, cost) in [(0, 0), (5, 7), (1 << 20, 1 << 30)] {
                let counter = missing * ONE_MISSING + sum;
                let settled = Sum::settle(counter, cost);
                assert_eq!(settled, Sum::settle_large(counter, cost));
                assert_eq!(settled >> 32, missing - 1);
                assert_eq!(Sum::cost(settled, cost), sum as u32 + cost);
                assert_eq!(Maximum::settle(counter, cost) >> 32, missing - 1);
                assert_eq!(Maximum::cost(settled, cost), cost);
            }
        }
    }
}
