//! The ground task: propositions, actions, and how states are packed.

use std::fmt;
use std::sync::Arc;

use homing_pddl::Problem;
use homing_pddl::index_type;
use homing_pddl::model::{Atom, ObjectId, SchemaId};

use crate::csr::Csr;
use crate::encoding::Encoding;

index_type! {
    /// Index of a dynamic proposition of a [`Task`].
    PropId,
    /// Index of a ground action of a [`Task`].
    ActionId,
}

/// A dynamic proposition: one that holds in some reachable states and not in others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposition {
    /// The ground atom.
    pub atom: Atom<ObjectId>,
    /// `false` for the complement of the atom, which exists where a precondition or goal is
    /// negative.
    pub positive: bool,
}

/// Ground actions by column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Actions {
    pub(crate) schema: Vec<SchemaId>,
    pub(crate) arguments: Csr<ObjectId>,
    pub(crate) pre: Csr<PropId>,
    pub(crate) add: Csr<PropId>,
    pub(crate) del: Csr<PropId>,
    pub(crate) cost: Vec<u32>,
}

/// A ground task: what [`ground`](crate::ground) makes of a problem.
///
/// Actions stand in the order of their schemas, then of their arguments; propositions in the order
/// of predicates, then of arguments, complements last.
#[derive(Clone, Debug)]
pub struct Task {
    pub(crate) problem: Arc<Problem>,
    pub(crate) propositions: Vec<Proposition>,
    pub(crate) statics: Vec<Atom<ObjectId>>,
    pub(crate) actions: Actions,
    pub(crate) init: Vec<PropId>,
    pub(crate) goal: Vec<PropId>,
    pub(crate) groups: Csr<PropId>,
    pub(crate) encoding: Encoding,
}

impl Task {
    /// The lifted problem it came from.
    pub fn problem(&self) -> &Arc<Problem> {
        &self.problem
    }

    /// The dynamic propositions.
    pub fn propositions(&self) -> &[Proposition] {
        &self.propositions
    }

    /// The propositions that hold in every reachable state.
    pub fn statics(&self) -> &[Atom<ObjectId>] {
        &self.statics
    }

    /// The number of ground actions.
    pub fn action_count(&self) -> usize {
        self.actions.cost.len()
    }

    /// All ground actions.
    pub fn actions(&self) -> impl ExactSizeIterator<Item = ActionId> + use<> {
        (0..self.action_count()).map(ActionId::from_index)
    }

    /// The schema of an action.
    pub fn schema(&self, action: ActionId) -> SchemaId {
        self.actions.schema[action.index()]
    }

    /// The objects an action's parameters stand for.
    pub fn arguments(&self, action: ActionId) -> &[ObjectId] {
        self.actions.arguments.row(action.index())
    }

    /// pre(a), sorted; static propositions left out.
    pub fn pre(&self, action: ActionId) -> &[PropId] {
        self.actions.pre.row(action.index())
    }

    /// add(a), sorted; without what pre(a) has and nothing deletes.
    pub fn add(&self, action: ActionId) -> &[PropId] {
        self.actions.add.row(action.index())
    }

    /// del(a), sorted; disjoint from add(a).
    pub fn del(&self, action: ActionId) -> &[PropId] {
        self.actions.del.row(action.index())
    }

    /// cost(a).
    pub fn cost(&self, action: ActionId) -> u32 {
        self.actions.cost[action.index()]
    }

    /// Whether every action costs 1.
    pub fn is_unit_cost(&self) -> bool {
        self.actions.cost.iter().all(|&cost| cost == 1)
    }

    /// I: the dynamic propositions true at the start, sorted.
    pub fn init(&self) -> &[PropId] {
        &self.init
    }

    /// G: the dynamic propositions that must hold, sorted.
    pub fn goal(&self) -> &[PropId] {
        &self.goal
    }

    /// Groups of propositions of which at most one is true in every reachable state, as far as they
    /// were found; each sorted, with two members at least. A proposition may be in several.
    pub fn mutex_groups(&self) -> impl ExactSizeIterator<Item = &[PropId]> {
        self.groups.rows()
    }

    /// How states are packed.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// The initial state, packed.
    pub fn initial_state(&self) -> Vec<u32> {
        self.encoding.pack(&self.init)
    }

    /// Applies an action to a packed state in place, whether it is applicable or not.
    #[inline]
    pub fn apply(&self, action: ActionId, state: &mut [u32]) {
        for effect in self.encoding.effects.row(action.index()) {
            let word = &mut state[effect.word as usize];
            *word = *word & !effect.mask | effect.value;
        }
    }

    /// Whether a packed state is a goal.
    #[inline]
    pub fn is_goal(&self, state: &[u32]) -> bool {
        self.encoding
            .goal
            .iter()
            .all(|condition| condition.holds(state))
    }

    /// An action as plans show it: `(stack a b)`.
    pub fn action_name(&self, action: ActionId) -> ActionName<'_> {
        ActionName { task: self, action }
    }
}

/// Shows an action as `(name argument...)`.
#[derive(Clone, Copy, Debug)]
pub struct ActionName<'a> {
    task: &'a Task,
    action: ActionId,
}

impl fmt::Display for ActionName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = &self.task.problem;
        let schema = self.task.schema(self.action);
        write!(f, "({}", problem.domain.actions[schema.index()].name)?;
        for argument in self.task.arguments(self.action) {
            write!(f, " {}", problem.objects[argument.index()].name)?;
        }
        write!(f, ")")
    }
}
