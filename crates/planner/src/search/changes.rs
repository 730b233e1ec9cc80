//! What a step makes true and what it makes false.

use crate::task::{ActionId, PropId, Task};

/// What the step looked at last changes. Its lists are kept from step to step.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// What was false before the step and is true after it.
    pub(super) added: Vec<PropId>,
    /// What was true before the step and is false after it.
    pub(super) removed: Vec<PropId>,
    /// Rough nanoseconds of listing them, beyond looking at the lists of actions.
    pub(super) work: u64,
    words: Vec<u32>,
    props: Vec<PropId>,
}

impl Changes {
    /// Looks at a step from a state.
    pub(super) fn list(&mut self, task: &Task, state: &[u32], action: ActionId) {
        let encoding = task.encoding();
        self.added.clear();
        self.removed.clear();
        if task.is_strips() {
            let add = task.add(action);
            let new = add.iter().filter(|prop| !encoding.holds(**prop, state));
            self.added.extend(new);
            let lost = task
                .del(action)
                .iter()
                .filter(|prop| encoding.holds(**prop, state) && add.binary_search(prop).is_err());
            self.removed.extend(lost);
            return;
        }
        // What conditional effects and axioms do depends on the state.
        self.work += task.change_work(action);
        self.words.clear();
        self.words.extend_from_slice(state);
        task.apply(action, &mut self.words);
        self.props.clear();
        encoding.difference(state, &self.words, &mut self.props);
        for &prop in &self.props {
            match encoding.holds(prop, &self.words) {
                true => self.added.push(prop),
                false => self.removed.push(prop),
            }
        }
    }
}
