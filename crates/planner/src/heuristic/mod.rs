//! Heuristics: estimates of the cost from a state to the goal.
//!
//! A heuristic evaluates states in batches. The classical ones gain little from that; a network
//! cannot do without. The classical heuristics here rest on the delete relaxation (paper,
//! Sec. "Domain-Independent Heuristics for Classical Planning"): [`Max`], [`Add`], [`Ff`].

mod kind;
mod queue;
mod relaxation;

use std::fmt;

use crate::registry::States;
use crate::task::Task;

pub use kind::HeuristicKind;
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Costs {
    /// What the problem says.
    #[default]
    Task,
    /// 1 each.
    Unit,
}

impl Costs {
    /// The cost of an action.
    #[inline]
    pub fn of(self, task: &Task, action: crate::task::ActionId) -> u32 {
        match self {
            Self::Task => task.cost(action),
            Self::Unit => 1,
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
