//! Rounds of windows over a plan.

use std::ops::Range;

use super::ImproveStatistics;
use super::eliminate::eliminate;
use super::order::{Together, reorder};
use super::trace::{Needed, is_plan, price};
use super::window::{Found, Window, WindowSearch};
use crate::heuristic::Costs;
use crate::random::Random;
use crate::search::Limit;
use crate::successors::SuccessorGenerator;
use crate::task::{ActionId, Task};
use crate::watch::{Stop, Watch};

/// Rough nanoseconds, per action of the task, of building what windows need.
const BUILD_WORK: u64 = 400;

/// Rough nanoseconds, per action of the plan, of putting it in another order.
const REORDER_WORK: u64 = 600;

/// Actions in a window and evaluations for it, in the first round.
const FIRST_SIZE: usize = 8;
const FIRST_EVALUATIONS: u64 = 100;

/// Orders by chosen objects in each round.
const FOCUSES: usize = 6;

/// A plan made shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Improved {
    /// The actions.
    pub actions: Vec<ActionId>,
    /// What they cost.
    pub cost: u64,
    /// What it took.
    pub statistics: ImproveStatistics,
    /// Why it ended before its work was done, if the watch said so.
    pub stop: Option<Stop>,
}

/// Makes a plan shorter, with so much work at the most: first by elimination, then, if the work is
/// enough to build what is needed, by windows. The plan never becomes more costly, and is one that
/// was replayed.
pub fn improve(
    task: &Task,
    actions: &[ActionId],
    costs: Costs,
    work: u64,
    watch: &mut dyn Watch,
) -> Improved {
    let eliminated = eliminate(task, actions, costs, work, watch);
    let mut improved = Improved {
        cost: 0,
        statistics: ImproveStatistics {
            eliminated: (actions.len() - eliminated.actions.len()) as u64,
            work: eliminated.work,
            ..ImproveStatistics::default()
        },
        actions: eliminated.actions,
        stop: eliminated.stop,
    };
    let build = task.action_count() as u64 * BUILD_WORK;
    let left = work.saturating_sub(eliminated.work);
    if improved.stop.is_none() && left > 2 * build {
        let generator = SuccessorGenerator::new(task);
        let mut improver = Improver::new(task, &generator, costs, 0);
        improver.start(&improved.actions);
        while improver.statistics().work < left
            && !improver.has_settled()
            && !improver.plan().is_empty()
        {
            let left = left - improver.statistics().work;
            if let Limit::Stopped(stop) = improver.run(left, watch) {
                improved.stop = Some(stop);
                break;
            }
            improver.take_improvement();
        }
        let windows = improver.statistics();
        improved.actions = improver.plan().to_vec();
        improved.statistics = ImproveStatistics {
            eliminated: improved.statistics.eliminated + windows.eliminated,
            work: improved.statistics.work + windows.work,
            ..windows
        };
    }
    improved.cost = price(task, costs, &improved.actions).0;
    improved
}

/// How hard the windows of a round are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Effort {
    size: usize,
    evaluations: u64,
    slack: u64,
}

impl Effort {
    const FIRST: Self = Self {
        size: FIRST_SIZE,
        evaluations: FIRST_EVALUATIONS,
        slack: 0,
    };

    /// More of everything; windows larger than the plan become small again.
    fn next(self, plan_length: usize) -> Self {
        let grown = self.size.saturating_mul(3) / 2;
        let (size, slack) = match self.size >= plan_length {
            true => (FIRST_SIZE, self.slack + 10),
            false => (grown, self.slack),
        };
        Self {
            size,
            slack,
            evaluations: self.evaluations.saturating_mul(3) / 2,
        }
    }
}

/// Makes a plan shorter for as long as it is run.
pub struct Improver<'a> {
    task: &'a Task,
    costs: Costs,
    /// Finer costs, which tell plans of one cost apart.
    finer: Costs,
    search: WindowSearch<'a>,
    plan: Vec<ActionId>,
    states: Vec<Vec<u32>>,
    needed: Needed,
    effort: Effort,
    /// Which order of this round is being worked on.
    phase: usize,
    /// Windows of this order still to come; the last one first.
    pending: Vec<Range<usize>>,
    improved_in_round: bool,
    improved: bool,
    random: Random,
    statistics: ImproveStatistics,
    own_work: u64,
}

impl<'a> Improver<'a> {
    /// For plans of a task.
    pub fn new(task: &'a Task, generator: &'a SuccessorGenerator, costs: Costs, seed: u64) -> Self {
        let most = task.actions().map(|action| costs.of(task, action)).max();
        let least = task.actions().map(|action| costs.of(task, action)).min();
        let finer = if most == least {
            Costs::Unit
        } else {
            let factor = ((1 << 20) / most.unwrap_or(1).max(1)).clamp(1, 64);
            Costs::Scaled { factor }
        };
        Self {
            task,
            costs,
            finer,
            search: WindowSearch::new(task, generator, finer),
            plan: Vec::new(),
            states: Vec::new(),
            needed: Needed::new(task, 0),
            effort: Effort::FIRST,
            phase: 0,
            pending: Vec::new(),
            improved_in_round: false,
            improved: false,
            random: Random::new(seed),
            statistics: ImproveStatistics::default(),
            own_work: task.action_count() as u64 * BUILD_WORK,
        }
    }

    /// Begins with a plan, which must be one.
    pub fn start(&mut self, plan: &[ActionId]) {
        self.plan = plan.to_vec();
        self.effort = Effort::FIRST;
        self.phase = 0;
        self.improved_in_round = false;
        self.improved = false;
        self.pending.clear();
    }

    /// The plan as it is now.
    pub fn plan(&self) -> &[ActionId] {
        &self.plan
    }

    /// What the plan costs.
    pub fn cost(&self) -> u64 {
        price(self.task, self.costs, &self.plan).0
    }

    /// What was done so far.
    pub fn statistics(&self) -> ImproveStatistics {
        ImproveStatistics {
            evaluations: self.search.evaluations,
            work: self.own_work + self.search.work(),
            ..self.statistics
        }
    }

    /// Whether a whole round has brought nothing: small windows are all tried.
    pub fn has_tried_small(&self) -> bool {
        self.effort != Effort::FIRST
    }

    /// Whether windows as large as the plan have brought nothing. More work may still bring
    /// something, but seldom does.
    pub fn has_settled(&self) -> bool {
        self.effort.slack > 0
    }

    /// Whether the plan has become shorter since this was asked last.
    pub fn take_improvement(&mut self) -> bool {
        std::mem::take(&mut self.improved)
    }

    /// Works on the plan until it is shorter, a round has ended, so much work is done, or the watch
    /// says stop.
    pub fn run(&mut self, more_work: u64, watch: &mut dyn Watch) -> Limit {
        let most = self.statistics().work.saturating_add(more_work);
        while self.statistics().work < most && !self.plan.is_empty() {
            let worked = match self.pending.pop() {
                Some(window) => self.solve_again(window, watch),
                None => self.next_order(most - self.statistics().work, watch),
            };
            if let Err(stop) = worked {
                return Limit::Stopped(stop);
            }
            if self.improved || self.phase == 0 && self.pending.is_empty() {
                break;
            }
        }
        Limit::Work
    }

    /// Solves a window again.
    fn solve_again(&mut self, window: Range<usize>, watch: &mut dyn Watch) -> Result<(), Stop> {
        let (from, to) = (window.start, window.end);
        let old = &self.plan[from..to];
        let facts = self.needed.back_to(self.task, &self.plan, &self.states, to);
        self.statistics.windows += 1;
        let request = Window {
            from: &self.states[from],
            to: facts,
            bound: price(self.task, self.finer, old).0,
            slack: self.effort.slack,
            max_evaluations: self.effort.evaluations,
            plan_cost: price(self.task, self.costs, &self.plan).0,
        };
        let new = match self.search.run(&request, watch) {
            Found::Cheaper(new) => new,
            Found::Nothing => return Ok(()),
            Found::Stopped(stop) => return Err(stop),
        };
        let mut plan = self.plan.clone();
        plan.splice(from..to, new.iter().copied());
        let better = price(self.task, self.costs, &plan) < price(self.task, self.costs, &self.plan);
        if !better || !is_plan(self.task, &plan) {
            return Ok(());
        }
        let end = from + new.len();
        self.plan = plan;
        self.states = self.task.states_along(&self.plan);
        self.needed.moved_to(end);
        // Windows behind this one are done; those that reach into it end where it ends now.
        let shorter = to - end.min(to);
        for window in &mut self.pending {
            if window.end >= to {
                window.end -= shorter;
            }
            window.end = window.end.min(end);
            window.start = window.start.min(window.end);
        }
        self.statistics.shortened += 1;
        self.improved = true;
        self.improved_in_round = true;
        Ok(())
    }

    /// Puts the plan in its next order and lists the windows.
    fn next_order(&mut self, work: u64, watch: &mut dyn Watch) -> Result<(), Stop> {
        if self.phase == 0 {
            self.eliminate(work, watch)?;
        }
        let phase = self.phase;
        self.phase += 1;
        let mut within = 0..self.plan.len();
        let mut size = self.effort.size;
        if phase == 0 {
            // As it is.
        } else if phase <= FOCUSES {
            within = self.focus();
        } else if phase == FOCUSES + 1 {
            self.take_order(&Together::Neighbours);
        } else if phase == FOCUSES + 2 {
            size *= 2;
        } else {
            if !self.improved_in_round {
                self.effort = self.effort.next(self.plan.len());
            }
            self.improved_in_round = false;
            self.phase = 0;
            return Ok(());
        }
        self.own_work += self.plan.len() as u64 * REORDER_WORK;
        self.states = self.task.states_along(&self.plan);
        self.needed = Needed::new(self.task, self.plan.len());
        let stride = (size / 2).max(1);
        let mut start = within.start;
        loop {
            let end = (start + size).min(within.end);
            if end > start {
                self.pending.push(start..end);
            }
            if end >= within.end {
                break;
            }
            start += stride;
        }
        Ok(())
    }

    fn eliminate(&mut self, work: u64, watch: &mut dyn Watch) -> Result<(), Stop> {
        let eliminated = eliminate(self.task, &self.plan, self.costs, work, watch);
        self.own_work += eliminated.work;
        let gone = self.plan.len() - eliminated.actions.len();
        self.statistics.eliminated += gone as u64;
        self.plan = eliminated.actions;
        self.improved |= gone > 0;
        self.improved_in_round |= gone > 0;
        eliminated.stop.map_or(Ok(()), Err)
    }

    fn take_order(&mut self, together: &Together<'_>) -> Range<usize> {
        let Some(new) = reorder(self.task, &self.plan, together) else {
            return 0..0;
        };
        self.plan = new.actions;
        new.block
    }

    /// Draws some objects and lets the actions that have them stand together.
    fn focus(&mut self) -> Range<usize> {
        let mut objects = Vec::new();
        let drawn = 1 + self.random.below(2);
        for _ in 0..drawn {
            let index = self.random.below(self.plan.len());
            let arguments = self.task.arguments(self.plan[index]);
            if !arguments.is_empty() {
                objects.push(arguments[self.random.below(arguments.len())]);
            }
        }
        let (task, plan) = (self.task, self.plan.clone());
        let is_chosen = |index: usize| {
            let mut arguments = task.arguments(plan[index]).iter();
            arguments.any(|argument| objects.contains(argument))
        };
        self.take_order(&Together::Chosen(&is_chosen))
    }
}
