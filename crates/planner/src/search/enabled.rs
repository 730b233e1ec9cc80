//! What a step makes possible.
//!
//! A worker that takes only steps which are the first to make something true need not look at all
//! successors of a state. What could be done before the last step was looked at there, and what it
//! makes true was seen; it is new nowhere. Only what could not be done before counts: actions with a
//! condition that the last step made true. Of fifty trucks one has moved; the roads of the other
//! forty-nine are of no interest.

use crate::csr::Csr;
use crate::task::{ActionId, PropId, Task};
use crate::watch::{Stop, Watch, ask_for_room};

use super::changes::Changes;

/// Conditions of all actions at the most: where there are more, memory is for states.
const MOST_CONDITIONS: usize = 1 << 25;

/// Actions by what they need.
#[derive(Debug)]
pub(super) struct Enabled {
    /// By proposition: the actions that need it.
    needing: Csr<ActionId>,
    changes: Changes,
}

impl Enabled {
    /// The table of a task; none where conditional effects or axioms make more possible than
    /// conditions say, or where it would be too large.
    ///
    /// # Errors
    ///
    /// If the watch says stop.
    pub(super) fn of(task: &Task, watch: &mut dyn Watch) -> Result<Option<Self>, Stop> {
        let conditions: usize = task.actions().map(|action| task.pre(action).len()).sum();
        if !task.is_strips() || conditions > MOST_CONDITIONS {
            return Ok(None);
        }
        ask_for_room(conditions * size_of::<ActionId>(), watch)?;
        let needing = Csr::from_pairs(task.propositions().len(), ActionId(0), || {
            task.actions().flat_map(|action| {
                let pre = task.pre(action).iter();
                pre.map(move |prop| (prop.index(), action))
            })
        });
        Ok(Some(Self {
            needing,
            changes: Changes::default(),
        }))
    }

    /// Looks at a step from a state.
    pub(super) fn look_at(&mut self, task: &Task, before: &[u32], step: ActionId) {
        self.changes.list(task, before, step);
    }

    /// The actions that need a proposition.
    pub(super) fn needing(&self, prop: PropId) -> &[ActionId] {
        self.needing.row(prop.index())
    }

    /// What the step looked at last has made true.
    pub(super) fn added(&self) -> &[PropId] {
        &self.changes.added
    }

    /// Actions that [`list`](Self::list) would look at.
    pub(super) fn candidates(&self) -> usize {
        let added = self.changes.added.iter();
        added.map(|prop| self.needing.row(prop.index()).len()).sum()
    }

    /// Puts what the step looked at last has made possible in the state it led to into `actions`, in
    /// their order.
    pub(super) fn list(&self, task: &Task, after: &[u32], actions: &mut Vec<ActionId>) {
        actions.clear();
        let encoding = task.encoding();
        for prop in &self.changes.added {
            let needing = self.needing.row(prop.index()).iter();
            actions.extend(needing.filter(|&&action| {
                let mut pre = task.pre(action).iter();
                pre.all(|needed| encoding.holds(*needed, after))
            }));
        }
        actions.sort_unstable();
        actions.dedup();
    }

    /// Whether the step looked at last has made an action possible, if it is.
    pub(super) fn needs_added(&self, task: &Task, action: ActionId) -> bool {
        let is_added = |prop: &PropId| self.changes.added.contains(prop);
        task.pre(action).iter().any(is_added)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interchange::Interchangeable;
    use crate::random::Random;
    use crate::successors::SuccessorGenerator;
    use crate::test_tasks::task;

    #[test]
    fn what_a_step_makes_possible_is_what_was_not_before() {
        let task = task(
            "(:types place thing) (:constants depot - place)
             (:predicates (at ?t - thing ?p - place) (next ?a ?b - place) (free) (held ?t - thing)
                          (here ?p - place))
             (:action go :parameters (?a ?b - place) :precondition (and (here ?a) (next ?a ?b))
                         :effect (and (here ?b) (not (here ?a))))
             (:action take :parameters (?t - thing ?p - place)
                         :precondition (and (here ?p) (at ?t ?p) (free))
                         :effect (and (held ?t) (not (at ?t ?p)) (not (free))))
             (:action put :parameters (?t - thing ?p - place)
                         :precondition (and (here ?p) (held ?t))
                         :effect (and (at ?t ?p) (free) (not (held ?t))))",
            "(:objects p q r - place x y z - thing)
             (:init (here p) (free) (at x p) (at y q) (at z r) (next p q) (next q r) (next r p)
                    (next r depot) (next depot q))
             (:goal (and (at x depot) (at y depot) (at z depot)))",
        );
        let generator = SuccessorGenerator::new(&task);
        let mut enabled = Enabled::of(&task, &mut ())
            .expect("nothing says stop")
            .expect("a task without conditional effects");
        let mut random = Random::new(7);
        let [mut before, mut after, mut listed] = [Vec::new(), Vec::new(), Vec::new()];
        let mut state = task.initial_state();
        let mut new = 0;
        for _ in 0..500 {
            generator.applicable(&state, &mut before);
            let step = before[random.below(before.len())];
            enabled.look_at(&task, &state, step);
            task.apply(step, &mut state);
            generator.applicable(&state, &mut after);
            enabled.list(&task, &state, &mut listed);
            assert!(enabled.candidates() >= listed.len());
            let not_before = after.iter().filter(|action| !before.contains(action));
            assert_eq!(listed, not_before.clone().copied().collect::<Vec<_>>());
            let needing = after.iter().filter(|a| enabled.needs_added(&task, **a));
            assert_eq!(listed, needing.copied().collect::<Vec<_>>());
            new += not_before.count();
        }
        assert!(new > 500, "{new}");
    }

    #[test]
    fn what_is_the_first_of_those_alike_now_was_so_before_or_is_noticed() {
        // Four slices are alike until one is taken: then the next is the first, and could have been
        // taken before.
        let task = task(
            "(:types slice plate) (:predicates (there ?s - slice) (on ?s - slice ?p - plate))
             (:action put :parameters (?s - slice ?p - plate) :precondition (there ?s)
                          :effect (and (on ?s ?p) (not (there ?s))))
             (:action back :parameters (?s - slice ?p - plate) :precondition (on ?s ?p)
                           :effect (and (there ?s) (not (on ?s ?p))))",
            "(:objects a b c d - slice p q - plate) (:init (there a) (there b) (there c) (there d))
             (:goal (and (not (there a)) (not (there b)) (not (there c)) (not (there d))))",
        );
        let generator = SuccessorGenerator::new(&task);
        let alike = Interchangeable::of(&task, &mut ()).expect("nothing says stop");
        let mut alike = alike.expect("slices are alike");
        let mut enabled = Enabled::of(&task, &mut ())
            .expect("nothing says stop")
            .expect("a task without conditional effects");
        let mut random = Random::new(3);
        let [mut before, mut after, mut listed] = [Vec::new(), Vec::new(), Vec::new()];
        let mut state = task.initial_state();
        let mut kept = [0, 0];
        for _ in 0..500 {
            alike.applicable(&task, &generator, &state, &mut before);
            let earlier = state.clone();
            let step = before[random.below(before.len())];
            enabled.look_at(&task, &state, step);
            task.apply(step, &mut state);
            alike.applicable(&task, &generator, &state, &mut after);
            let keeps = alike.keeps_firsts(&task, &earlier, &state);
            kept[usize::from(keeps)] += 1;
            if keeps {
                enabled.list(&task, &state, &mut listed);
                alike.keep_firsts(&task, &mut listed);
                let missed =
                    |action: &&ActionId| !before.contains(action) && !listed.contains(action);
                assert_eq!(after.iter().find(missed), None);
            }
        }
        assert!(kept.iter().all(|&count| count > 20), "{kept:?}");
    }
}
