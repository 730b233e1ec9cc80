//! From a lifted problem to a ground [`Task`].

mod circuit;
mod definitions;
mod instantiate;
mod join;
mod program;
mod prune;
mod reach;
mod relation;
mod simplify;
mod strata;

use std::fmt;
use std::sync::Arc;

use homing_pddl::Problem;

use crate::encoding::Encoding;
use crate::invariants::mutex_groups;
use crate::task::Task;
use crate::watch::{Stop, Watch};

/// Why there is no task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroundError {
    /// A goal cannot be reached even if nothing is ever deleted: there is no plan.
    Unsolvable {
        /// The goal, as PDDL.
        goal: String,
    },
    /// The cost of a reachable action is not given in the initial state.
    MissingCost {
        /// The action, as plans show it.
        action: String,
        /// The function with its arguments, as PDDL.
        function: String,
    },
    /// The watch ended it.
    Stopped(Stop),
}

impl fmt::Display for GroundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsolvable { goal } => write!(f, "the goal {goal} can never be reached"),
            Self::MissingCost { action, function } => write!(
                f,
                "the initial state gives no value for {function}, which {action} costs"
            ),
            Self::Stopped(_) => write!(f, "stopped while grounding"),
        }
    }
}

impl std::error::Error for GroundError {}

/// Grounds a problem: relaxed reachability by joins over indexed facts, then simplification.
///
/// Static propositions leave the preconditions and are kept aside; an action that deletes and adds
/// the same proposition keeps it; actions that differ in nothing are merged; negative conditions
/// become propositions of their own.
///
/// # Errors
///
/// If a goal is unreachable, a cost is missing, or `watch` ends it.
///
/// ```
/// # use std::sync::Arc;
/// # use homing_pddl::{Source, read_problem};
/// # let domain = b"(define (domain lamp) (:predicates (on)) (:action press :effect (on)))";
/// # let problem = b"(define (problem dark) (:domain lamp) (:init) (:goal (on)))";
/// # let (problem, _) = read_problem(
/// #     &Source::new("domain.pddl", domain.to_vec()),
/// #     &Source::new("dark.pddl", problem.to_vec()),
/// # );
/// let problem = Arc::new(problem.unwrap());
/// let task = homing_planner::ground(&problem, &mut ()).unwrap();
/// assert_eq!(task.action_count(), 1);
/// ```
pub fn ground(problem: &Arc<Problem>, watch: &mut dyn Watch) -> Result<Task, GroundError> {
    let program = program::Program::new(problem);
    let reachable = reach::reach(problem, &program, watch).map_err(GroundError::Stopped)?;
    let mut raw = instantiate::instantiate(problem, &program, &reachable, watch)?;
    drop(reachable);
    if !raw.axioms.head.is_empty() {
        strata::derive_initial(&mut raw);
    }
    prune::prune_unreachable(&mut raw);
    let mut task = simplify::simplify(problem, &raw)?;
    drop(raw);
    let groups = mutex_groups(&task);
    task.encoding = Encoding::new(&task, &groups);
    for group in groups {
        task.groups.push_row(group);
    }
    Ok(task)
}
