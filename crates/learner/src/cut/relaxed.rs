//! Relaxed plans that differ: h_add under random costs.
//!
//! One exploration gives every goal the same truck. With other costs it is another truck; so each
//! goal of a cut takes its plan from an exploration of its own. All explorations share one index of
//! preconditions, and stop once the goals they look for are settled.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use homing_nlm::SplitMix64;
use homing_pddl::model::ObjectId;
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

/// The rules of the delete relaxation: the actions, then what these do under conditions, then the
/// axioms. What axioms do not derive is taken to be within reach.
pub(super) struct Rules<'t> {
    task: &'t Task,
    /// Past the actions.
    further: Vec<Rule>,
}

/// A rule that is no action.
struct Rule {
    pre: Vec<PropId>,
    add: Vec<PropId>,
    /// The action it is an effect of; axioms have none.
    action: Option<ActionId>,
}

impl<'t> Rules<'t> {
    fn new(task: &'t Task) -> Self {
        let mut further = Vec::new();
        if !task.is_strips() {
            for action in task.actions() {
                further.extend(task.conditional_effects(action).map(|effect| Rule {
                    pre: merged(task.pre(action), effect.condition),
                    add: effect.add.to_vec(),
                    action: Some(action),
                }));
            }
            further.extend(task.axioms().map(|(head, body)| Rule {
                pre: body.to_vec(),
                add: vec![head],
                action: None,
            }));
            let positive = |prop: PropId| task.propositions()[prop.index()].positive;
            let derived = (0..task.propositions().len()).map(PropId::from_index);
            let underived = derived.filter(|&prop| task.is_derived(prop) && !positive(prop));
            further.extend(underived.map(|prop| Rule {
                pre: Vec::new(),
                add: vec![prop],
                action: None,
            }));
        }
        Self { task, further }
    }

    fn len(&self) -> usize {
        self.task.action_count() + self.further.len()
    }

    fn get(&self, rule: u32) -> Result<ActionId, &Rule> {
        match (rule as usize).checked_sub(self.task.action_count()) {
            None => Ok(ActionId(rule)),
            Some(further) => Err(&self.further[further]),
        }
    }

    /// What a rule needs.
    pub(super) fn pre(&self, rule: u32) -> &[PropId] {
        match self.get(rule) {
            Ok(action) => self.task.pre(action),
            Err(rule) => &rule.pre,
        }
    }

    /// What it makes true.
    pub(super) fn add(&self, rule: u32) -> &[PropId] {
        match self.get(rule) {
            Ok(action) => self.task.add(action),
            Err(rule) => &rule.add,
        }
    }

    /// The action it is, or is an effect of.
    pub(super) fn action(&self, rule: u32) -> Option<ActionId> {
        match self.get(rule) {
            Ok(action) => Some(action),
            Err(rule) => rule.action,
        }
    }

    /// Shows every object that a rule needs: the arguments of its action; what else takes part in
    /// an effect or an axiom.
    pub(super) fn objects(&self, rule: u32, found: &mut dyn FnMut(&[ObjectId])) {
        if let Some(action) = self.action(rule) {
            found(self.task.arguments(action));
        }
        if let Err(rule) = self.get(rule) {
            for prop in rule.pre.iter().chain(&rule.add) {
                found(&self.task.propositions()[prop.index()].atom.arguments);
            }
        }
    }
}

fn merged(a: &[PropId], b: &[PropId]) -> Vec<PropId> {
    let mut both = [a, b].concat();
    both.sort_unstable();
    both.dedup();
    both
}

/// Explores the delete relaxation of a task, time and again.
pub(super) struct Explorer<'t> {
    task: &'t Task,
    pub(super) rules: Rules<'t>,
    needed_by: Lists,
    /// By rule: preconditions not yet settled, and the cost of those that are.
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
        let rules = Rules::new(task);
        let needed_by = Lists::new(propositions, |pair| {
            for rule in 0..rules.len() as u32 {
                for prop in rules.pre(rule) {
                    pair(prop.index(), rule);
                }
            }
        });
        Self {
            task,
            rules,
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
        self.work += (propositions + self.rules.len()) as u64 / RESETS;
        self.costs.clear();
        self.costs.resize(propositions, u32::MAX);
        self.achievers.clear();
        self.achievers.resize(propositions, NEVER);
        self.counters.clear();
        let rules = 0..self.rules.len() as u32;
        let pre = |rule| self.rules.pre(rule).len() as u32;
        self.counters
            .extend(rules.clone().map(|rule| (pre(rule), 0)));
        self.queue.clear();
        for &prop in state {
            self.achieve(prop, 0, INITIAL);
        }
        for rule in rules {
            if self.counters[rule as usize].0 == 0 {
                self.fire(rule, self.cost(rule, costs));
            }
        }
    }

    fn settle(&mut self, prop: usize, cost: u32, costs: RandomCosts) {
        let waiting = self.needed_by.of(prop).len();
        self.work += 1 + waiting as u64;
        for at in 0..waiting {
            let rule = self.needed_by.of(prop)[at];
            let (missing, so_far) = &mut self.counters[rule as usize];
            *missing -= 1;
            *so_far = so_far.saturating_add(cost);
            if *missing == 0 {
                let so_far = *so_far;
                let cost = so_far.saturating_add(self.cost(rule, costs));
                self.fire(rule, cost);
            }
        }
    }

    /// Axioms cost next to nothing; but something, so that achievers form no circles.
    fn cost(&self, rule: u32, costs: RandomCosts) -> u32 {
        self.rules
            .action(rule)
            .map_or(1, |action| costs.of(action.0))
    }

    fn fire(&mut self, rule: u32, cost: u32) {
        let added = self.rules.add(rule).len();
        self.work += added as u64;
        for at in 0..added {
            self.achieve(self.rules.add(rule)[at], cost, rule);
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
    pub(super) fn plan(&self, wanted: PropId, random: &mut SplitMix64) -> Vec<u32> {
        relaxed_plan(&self.rules, &self.achievers, wanted, random)
    }
}

/// Explorations of one task from its initial state: by proposition the rule that achieves it.
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
        rules: &Rules<'_>,
        wanted: PropId,
        random: &mut SplitMix64,
    ) -> Vec<u32> {
        let exploration = random.below(self.len());
        relaxed_plan(rules, &self.achievers[exploration], wanted, random)
    }
}

/// The rules that a proposition needs, each after those that it needs. Among preconditions chance
/// says which comes first.
fn relaxed_plan(
    rules: &Rules<'_>,
    achievers: &[u32],
    wanted: PropId,
    random: &mut SplitMix64,
) -> Vec<u32> {
    let mut plan = Vec::new();
    let mut seen = HashSet::new();
    // A rule is met twice: on the way down, and when all it needs is in the plan.
    let mut stack = vec![(achievers[wanted.index()], false)];
    while let Some((rule, done)) = stack.pop() {
        if rule == INITIAL || rule == NEVER {
            continue;
        }
        if done {
            plan.push(rule);
        } else if seen.insert(rule) {
            stack.push((rule, true));
            let pre = rules.pre(rule);
            let turn = random.below(pre.len().max(1));
            for at in 0..pre.len() {
                let prop = pre[(at + turn) % pre.len()];
                stack.push((achievers[prop.index()], false));
            }
        }
    }
    plan
}
