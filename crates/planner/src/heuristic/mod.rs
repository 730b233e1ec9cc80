//! Heuristics: estimates of the cost from a state to the goal.
//!
//! A heuristic evaluates states in batches. The classical ones gain little from that; a network
//! cannot do without. The classical heuristics here rest on the delete relaxation (paper,
//! Sec. "Domain-Independent Heuristics for Classical Planning"): [`Max`], [`Add`], [`Ff`].

mod kind;
mod landmarks;
mod queue;
mod relaxation;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::registry::{StateId, States};
use crate::task::{ActionId, PropId, Task};
use crate::visited::Visited;

pub use kind::HeuristicKind;
pub use landmarks::{Landmark, LandmarkCount, Landmarks};
pub use relaxation::{Add, Ff, Max};

/// An estimate of the cost to the goal, or the knowledge that there is no way.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub struct Estimate(f64);

impl Estimate {
    /// There is no plan from here.
    pub const DEAD_END: Self = Self(f64::INFINITY);

    /// An estimate.
    ///
    /// # Panics
    ///
    /// If the cost is not finite.
    pub fn new(cost: f64) -> Self {
        assert!(
            cost.is_finite(),
            "an estimate is finite; a dead end has a name of its own"
        );
        Self(cost)
    }

    /// The estimate, `None` for a dead end.
    pub fn finite(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }
}

impl fmt::Debug for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.finite() {
            Some(cost) => write!(f, "Estimate({cost})"),
            None => write!(f, "DEAD_END"),
        }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.finite() {
            Some(cost) => write!(f, "{cost}"),
            None => write!(f, "infinite"),
        }
    }
}

/// What actions cost to a heuristic and to a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Costs {
    /// What the problem says.
    #[default]
    Task,
    /// 1 each.
    Unit,
    /// What the problem says, times a factor, and 1 on top: among plans of one cost the shorter is
    /// the cheaper, and no action is free. Costs saturate.
    Scaled {
        /// The factor.
        factor: u32,
    },
}

impl Costs {
    /// 1 each, or what the problem says.
    pub const fn unit_if(unit_cost: bool) -> Self {
        if unit_cost { Self::Unit } else { Self::Task }
    }

    /// The cost of an action.
    #[inline]
    pub fn of(self, task: &Task, action: ActionId) -> u32 {
        match self {
            Self::Task => task.cost(action),
            Self::Unit => 1,
            Self::Scaled { factor } => {
                let scaled = task.cost(action).saturating_mul(factor);
                scaled.saturating_add(1)
            }
        }
    }
}

/// A state of a search, with the way that led to it.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    /// All states of the search.
    pub visited: &'a Visited,
    /// This one.
    pub id: StateId,
}

impl<'a> Node<'a> {
    /// The packed state.
    pub fn state(&self) -> &'a [u32] {
        self.visited.state(self.id)
    }
}

/// What a heuristic says of a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The estimate of the cost to the goal.
    pub estimate: Estimate,
    /// Applicable actions that look useful, in no particular order.
    pub preferred: Vec<ActionId>,
}

impl Default for Evaluation {
    fn default() -> Self {
        Self {
            estimate: Estimate(0.0),
            preferred: Vec::new(),
        }
    }
}

/// Estimates the cost from states to the goal.
pub trait Heuristic {
    /// Its short name, as users type it.
    fn name(&self) -> &str;

    /// Appends an estimate for each state, in order. The estimate of a state does not depend on
    /// the others of its batch. A dead end must be a true one: searches prune it.
    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>);

    /// Evaluates the new successors of one parent, reached by these actions, as one batch: what
    /// works by difference can use the parent. Equal to [`evaluate`](Self::evaluate).
    fn evaluate_successors(
        &mut self,
        _parent: &[u32],
        _actions: &[ActionId],
        states: States<'_>,
        estimates: &mut Vec<Estimate>,
    ) {
        self.evaluate(states, estimates);
    }

    /// Evaluates one state of a search, and names preferred actions where the heuristic has any.
    /// May depend on the way to the state.
    fn evaluate_node(&mut self, node: Node<'_>, evaluation: &mut Evaluation) {
        evaluation.preferred.clear();
        let mut estimates = Vec::with_capacity(1);
        self.evaluate(States::one(node.state()), &mut estimates);
        evaluation.estimate = estimates[0];
    }

    /// Appends what a relaxed plan from this state makes true or needs, and gives its cost; nothing
    /// where the heuristic has no relaxed plans.
    fn relaxed_plan(&mut self, _state: &[u32], _facts: &mut Vec<PropId>) -> Option<Estimate> {
        None
    }

    /// What all evaluations so far took, in rough nanoseconds: counted, not timed, so that runs
    /// repeat. Searches that share work between several parts go by it.
    fn work(&self) -> u64 {
        0
    }
}

impl<H: Heuristic + ?Sized> Heuristic for &mut H {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        (**self).evaluate(states, estimates);
    }

    fn evaluate_successors(
        &mut self,
        parent: &[u32],
        actions: &[ActionId],
        states: States<'_>,
        estimates: &mut Vec<Estimate>,
    ) {
        (**self).evaluate_successors(parent, actions, states, estimates);
    }

    fn evaluate_node(&mut self, node: Node<'_>, evaluation: &mut Evaluation) {
        (**self).evaluate_node(node, evaluation);
    }

    fn relaxed_plan(&mut self, state: &[u32], facts: &mut Vec<PropId>) -> Option<Estimate> {
        (**self).relaxed_plan(state, facts)
    }

    fn work(&self) -> u64 {
        (**self).work()
    }
}

/// blind(s) = 1, and 0 at a goal.
pub struct Blind<'a> {
    task: &'a Task,
}

impl<'a> Blind<'a> {
    /// For a task.
    pub fn new(task: &'a Task) -> Self {
        Self { task }
    }
}

impl Heuristic for Blind<'_> {
    fn name(&self) -> &str {
        HeuristicKind::Blind.name()
    }

    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        estimates.extend(
            states
                .iter()
                .map(|state| Estimate::new(if self.task.is_goal(state) { 0.0 } else { 1.0 })),
        );
    }
}
