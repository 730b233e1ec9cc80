//! From a lifted problem to a ground [`Task`].

mod circuit;
mod definitions;
mod doomed;
mod explosion;
mod instantiate;
mod join;
mod pairing;
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
use crate::watch::{Pace, Stop, Watch};

use pairing::{Pairing, WORTH_IT};

pub use explosion::LargestAction;

/// Why there is no task.
#[derive(Clone, Debug, PartialEq)]
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
    /// What axioms derive is not settled.
    Unstratified {
        /// Derived facts, as PDDL: each asks for the next, the first for the negation of the second,
        /// and the last is the first again.
        circle: Vec<String>,
    },
    /// The watch ended it.
    Stopped {
        /// Why.
        stop: Stop,
        /// The action that is most to blame, where one is known.
        largest: Option<Box<LargestAction>>,
    },
}

impl From<Stop> for GroundError {
    fn from(stop: Stop) -> Self {
        Self::Stopped {
            stop,
            largest: None,
        }
    }
}

impl fmt::Display for GroundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsolvable { goal } => write!(f, "the goal {goal} can never be reached"),
            Self::MissingCost { action, function } => write!(
                f,
                "the initial state gives no value for {function}, which {action} costs"
            ),
            Self::Unstratified { circle } => {
                let (first, rest) = circle.split_first().expect("a circle has facts");
                write!(
                    f,
                    "the derived fact {first} depends on its own negation: {first} asks for not {}",
                    rest.join(", which asks for ")
                )
            }
            Self::Stopped { stop, largest } => {
                let why = match stop {
                    Stop::Time => "the time limit was reached",
                    Stop::Memory => "the memory limit was reached",
                    Stop::Interrupted => "stopped",
                };
                write!(f, "{why} while grounding")?;
                match largest {
                    Some(largest) => write!(f, ": {largest}"),
                    None => Ok(()),
                }
            }
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
/// If a goal is unreachable, a cost is missing, a derived fact depends on its own negation, or
/// `watch` ends it.
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
    ground_sparing(problem, Spare::default(), watch)
}

/// What a search for a plan can do without. Other searches are compared by what they look at: they
/// have every action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spare {
    /// Where objects that nothing tells apart are made of objects that are used up, each is paired with
    /// one of them, and there are no ground actions for other pairs. A plan of the same cost remains
    /// wherever there is one.
    pub like: bool,
    /// Actions that no plan can have are left out, as far as they are found, and actions that wait for
    /// a goal in every plan have it as a precondition. All plans remain.
    pub doomed: bool,
}

/// As [`ground`], without what can be spared.
///
/// # Errors
///
/// As [`ground`].
pub fn ground_sparing(
    problem: &Arc<Problem>,
    spare: Spare,
    watch: &mut dyn Watch,
) -> Result<Task, GroundError> {
    let mut program = program::Program::new(problem);
    if spare.like
        && let Some(pairing) = Pairing::of(problem, WORTH_IT)
    {
        program.pair(pairing);
    }
    ground_program(problem, &program, spare.doomed, watch)
}

fn ground_program(
    problem: &Arc<Problem>,
    program: &program::Program,
    without_doomed: bool,
    watch: &mut dyn Watch,
) -> Result<Task, GroundError> {
    let reachable = reach::reach(problem, program, watch).map_err(|ended| {
        let largest = LargestAction::of(problem, program, &ended.found);
        GroundError::Stopped {
            stop: ended.stop,
            largest: largest.map(Box::new),
        }
    })?;
    let largest = LargestAction::in_all(problem, program, &reachable);
    write_out(problem, program, reachable, without_doomed, watch).map_err(|error| match error {
        GroundError::Stopped { stop, .. } => GroundError::Stopped {
            stop,
            largest: largest.map(Box::new),
        },
        error => error,
    })
}

/// The task of what can be reached.
fn write_out(
    problem: &Arc<Problem>,
    program: &program::Program,
    reachable: reach::Reachable,
    without_doomed: bool,
    watch: &mut dyn Watch,
) -> Result<Task, GroundError> {
    let mut raw = instantiate::instantiate(problem, program, &reachable, watch)?;
    drop(reachable);
    if !raw.axioms.head.is_empty() {
        strata::derive_initial(&mut raw);
    }
    Pace::building(watch, "ground actions")?;
    prune::prune_unreachable(&mut raw);
    let mut task = simplify::simplify(problem, &mut raw, watch)?;
    drop(raw);
    let groups = mutex_groups(&task, watch)?;
    if without_doomed {
        doomed::leave_out_doomed(&mut task, &groups, watch)?;
    }
    task.encoding = Encoding::new(&task, &groups, watch)?;
    for group in groups {
        task.groups.push_row(group);
    }
    Ok(task)
}
