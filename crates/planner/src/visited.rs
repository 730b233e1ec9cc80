//! The states a search has met, and how each was reached first.

use crate::registry::{Registry, StateId};
use crate::task::{ActionId, Task};

/// How a state was reached.
#[derive(Clone, Copy, Debug)]
struct Step {
    parent: StateId,
    action: ActionId,
}

/// Every state met, once, with the step that led to it.
pub struct Visited {
    registry: Registry,
    steps: Vec<Step>,
}

impl Visited {
    /// The id of the initial state.
    pub const INITIAL: StateId = StateId(0);

    /// With the initial state of a task.
    pub fn new(task: &Task) -> Self {
        let mut registry = Registry::new(task.encoding().words());
        registry.insert(&task.initial_state());
        let nowhere = Step {
            parent: Self::INITIAL,
            action: ActionId(0),
        };
        Self {
            registry,
            steps: vec![nowhere],
        }
    }

    /// Stores a state reached by an action; says whether it is new. A state keeps its first step.
    #[inline]
    pub fn insert(&mut self, state: &[u32], parent: StateId, action: ActionId) -> (StateId, bool) {
        let (id, is_new) = self.registry.insert(state);
        if is_new {
            self.steps.push(Step { parent, action });
        }
        (id, is_new)
    }

    /// A cheaper way to a state was found.
    pub fn reroute(&mut self, state: StateId, parent: StateId, action: ActionId) {
        self.steps[state.index()] = Step { parent, action };
    }

    /// The states themselves.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// A state's words.
    #[inline]
    pub fn state(&self, id: StateId) -> &[u32] {
        self.registry.state(id)
    }

    /// The state before, and the action that led from it; `None` for the initial state.
    pub fn reached_from(&self, id: StateId) -> Option<(StateId, ActionId)> {
        let step = self.steps[id.index()];
        (id != Self::INITIAL).then_some((step.parent, step.action))
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.registry.len()
    }

    /// Whether there is none; never, as the initial state is there.
    pub fn is_empty(&self) -> bool {
        self.registry.is_empty()
    }

    /// The actions that led to a state.
    pub fn actions_to(&self, state: StateId) -> Vec<ActionId> {
        let back = std::iter::successors(self.reached_from(state), |&(parent, _)| {
            self.reached_from(parent)
        });
        let mut actions: Vec<ActionId> = back.map(|(_, action)| action).collect();
        actions.reverse();
        actions
    }
}
