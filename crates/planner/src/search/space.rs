//! The search space as a search has met it: states, how each was reached, counts and limits.
//! All searches share it.

use crate::heuristic::{Estimate, Heuristic};
use crate::plan::Plan;
use crate::registry::{Registry, StateId};
use crate::search::{Limit, Limits, Outcome, SearchResult, Statistics};
use crate::successors::SuccessorGenerator;
use crate::task::{ActionId, Task};
use crate::watch::{Met, Progress, Stop, Verdict, Watch, ask_for_room};

/// How a state was reached.
#[derive(Clone, Copy)]
struct Step {
    parent: StateId,
    action: ActionId,
}

/// What came of generating a successor.
pub(super) struct Generated {
    pub(super) state: StateId,
    pub(super) is_new: bool,
}

/// What came of expanding a state.
pub(super) enum Expanded {
    /// A goal was generated.
    Goal(StateId),
    /// The new states are those from here on.
    New { from: StateId },
}

/// The states met so far, and the one place that expands, evaluates and counts.
pub(super) struct SearchSpace<'a> {
    pub(super) task: &'a Task,
    pub(super) registry: Registry,
    generator: SuccessorGenerator,
    /// Set once the watch has said stop: nothing is evaluated or expanded from then on.
    stopped: Option<Stop>,
    steps: Vec<Step>,
    limits: Limits,
    watch: &'a mut dyn Watch,
    /// Whether the watch looks at states.
    shows: bool,
    pub(super) statistics: Statistics,
    best: Option<f64>,
    applicable: Vec<ActionId>,
    parent_words: Vec<u32>,
    words: Vec<u32>,
}

/// States evaluated between two looks at the limits: enough for a network to work well.
const MAX_BATCH: usize = 1024;

pub(super) const INITIAL: StateId = StateId(0);

impl<'a> SearchSpace<'a> {
    /// With the initial state stored.
    pub(super) fn new(task: &'a Task, limits: Limits, watch: &'a mut dyn Watch) -> Self {
        let mut registry = Registry::new(task.encoding().words());
        registry.insert(&task.initial_state());
        let (generator, stopped) = match SuccessorGenerator::watched(task, watch) {
            Ok(generator) => (generator, None),
            Err(stop) => (SuccessorGenerator::without_actions(), Some(stop)),
        };
        Self {
            task,
            statistics: Statistics {
                bytes_per_state: registry.bytes_per_state() as u64,
                ..Statistics::default()
            },
            registry,
            generator,
            stopped,
            steps: vec![Step {
                parent: INITIAL,
                action: ActionId(0),
            }],
            limits,
            shows: watch.looks_at_states(),
            watch,
            best: None,
            applicable: Vec::new(),
            parent_words: Vec::new(),
            words: Vec::new(),
        }
    }

    pub(super) fn is_goal(&self, state: StateId) -> bool {
        self.task.is_goal(self.registry.state(state))
    }

    /// How many evaluations are left; `u64::MAX` without a limit.
    pub(super) fn evaluations_left(&self) -> u64 {
        let most = self.limits.max_evaluations.unwrap_or(u64::MAX);
        most.saturating_sub(self.statistics.evaluations)
    }

    /// Evaluates the states from `from` up to `to`, all of them new.
    pub(super) fn evaluate(
        &mut self,
        heuristic: &mut dyn Heuristic,
        from: StateId,
        to: StateId,
        estimates: &mut Vec<Estimate>,
    ) -> Result<(), Limit> {
        estimates.clear();
        let mut next = from;
        while next != to {
            // The estimate of a state does not depend on its batch: a large one is taken in parts.
            // Whoever generated these states has asked before the first.
            if next != from {
                self.poll()?;
            }
            let end = StateId::from_index(to.index().min(next.index() + MAX_BATCH));
            heuristic.evaluate(self.registry.range(next, end), estimates);
            let evaluated = end.index() - from.index();
            assert_eq!(estimates.len(), evaluated, "one estimate a state");
            self.statistics.evaluations += (end.index() - next.index()) as u64;
            for index in next.index()..end.index() {
                let estimate = estimates[index - from.index()].finite();
                match estimate {
                    Some(value) if self.best.is_none_or(|best| value < best) => {
                        self.best = Some(value);
                    }
                    Some(_) => {}
                    None => self.statistics.dead_ends += 1,
                }
                if self.shows {
                    let verdict = estimate.map_or(Verdict::DeadEnd, Verdict::Estimate);
                    self.show(StateId::from_index(index), verdict);
                }
            }
            next = end;
        }
        Ok(())
    }

    /// Shows a state to the watch.
    fn show(&mut self, state: StateId, verdict: Verdict) {
        let step = self.steps[state.index()];
        let reached = (state != INITIAL).then_some((step.parent, step.action));
        let met = Met {
            state,
            reached,
            verdict,
        };
        self.watch.met(self.task, met);
    }

    fn poll(&mut self) -> Result<(), Limit> {
        let progress = Progress::Search {
            evaluations: self.statistics.evaluations,
            expansions: self.statistics.expansions,
            best: self.best,
        };
        let stopped = self.stopped.or_else(|| self.watch.poll(progress));
        stopped.map_or(Ok(()), |stop| Err(Limit::Stopped(stop)))
    }

    /// Evaluates the initial state, if the limit allows one evaluation.
    pub(super) fn evaluate_initial(
        &mut self,
        heuristic: &mut dyn Heuristic,
    ) -> Result<Estimate, Limit> {
        if self.evaluations_left() == 0 {
            return Err(Limit::Evaluations);
        }
        self.poll()?;
        let mut estimates = Vec::new();
        self.evaluate(heuristic, INITIAL, StateId(1), &mut estimates)?;
        self.statistics.initial_estimate = estimates[0].finite();
        Ok(estimates[0])
    }

    /// Counts an expansion and lists the applicable actions; how many there are.
    pub(super) fn begin_expansion(&mut self, state: StateId) -> Result<usize, Limit> {
        if self
            .limits
            .max_expansions
            .is_some_and(|most| self.statistics.expansions >= most)
        {
            return Err(Limit::Expansions);
        }
        self.poll()?;
        self.statistics.expansions += 1;
        self.parent_words.clear();
        self.parent_words
            .extend_from_slice(self.registry.state(state));
        self.generator
            .applicable(&self.parent_words, &mut self.applicable);
        let growth = self.registry.growth(self.applicable.len());
        ask_for_room(growth, self.watch).map_err(Limit::Stopped)?;
        Ok(self.applicable.len())
    }

    pub(super) fn applicable(&self, index: usize) -> ActionId {
        self.applicable[index]
    }

    /// Generates the successor by the applicable action of an index.
    pub(super) fn generate(&mut self, parent: StateId, index: usize) -> Generated {
        let action = self.applicable[index];
        self.words.clear();
        self.words.extend_from_slice(&self.parent_words);
        self.task.apply(action, &mut self.words);
        self.statistics.generated += 1;
        let (state, is_new) = self.registry.insert(&self.words);
        if is_new {
            self.steps.push(Step { parent, action });
        }
        Generated { state, is_new }
    }

    /// Expands a state with early goal detection: successors go to `children` in order, the
    /// estimates of those not met before to `estimates`. One batch gives the counts that
    /// evaluating one by one would: the states before a goal are evaluated, and the first one past
    /// the limit ends the search.
    pub(super) fn expand_greedily(
        &mut self,
        state: StateId,
        heuristic: &mut dyn Heuristic,
        children: &mut Vec<StateId>,
        estimates: &mut Vec<Estimate>,
    ) -> Result<Expanded, Limit> {
        children.clear();
        let successors = self.begin_expansion(state)?;
        let from = self.registry.next_id();
        let left = self.evaluations_left();
        let mut goal = None;
        let mut out_of_budget = false;
        for index in 0..successors {
            let generated = self.generate(state, index);
            if generated.is_new {
                if self.is_goal(generated.state) {
                    goal = Some(generated.state);
                    break;
                }
                if (generated.state.index() - from.index()) as u64 == left {
                    out_of_budget = true;
                    break;
                }
            }
            children.push(generated.state);
        }
        let cut = usize::from(goal.is_some() || out_of_budget);
        let to = StateId::from_index(self.registry.len() - cut);
        let evaluated = self.evaluate(heuristic, from, to, estimates);
        match goal {
            // A goal is one, even if the time is up.
            Some(goal) => Ok(Expanded::Goal(goal)),
            None if evaluated.is_err() => evaluated.map(|()| Expanded::New { from }),
            None if out_of_budget => Err(Limit::Evaluations),
            None => Ok(Expanded::New { from }),
        }
    }

    /// A cheaper way to a state was found.
    pub(super) fn reroute(&mut self, state: StateId, parent: StateId, action: ActionId) {
        self.steps[state.index()] = Step { parent, action };
    }

    /// The actions that led to a state.
    fn plan(&self, mut state: StateId) -> Plan {
        let mut actions = Vec::new();
        while state != INITIAL {
            let step = self.steps[state.index()];
            actions.push(step.action);
            state = step.parent;
        }
        actions.reverse();
        Plan::from_actions(self.task, &actions)
    }

    pub(super) fn solved(mut self, goal: StateId, peak_open: u64) -> SearchResult {
        self.show(goal, Verdict::Goal);
        let plan = self.plan(goal);
        self.end(Outcome::Solved(plan), peak_open)
    }

    pub(super) fn end(self, outcome: Outcome, peak_open: u64) -> SearchResult {
        let mut statistics = self.statistics;
        statistics.stored = self.registry.len() as u64;
        statistics.peak_open = peak_open;
        SearchResult {
            outcome,
            statistics,
        }
    }
}
