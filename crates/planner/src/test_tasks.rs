//! Small tasks for unit tests.

use std::sync::Arc;

use homing_pddl::{Source, read_problem};

use crate::ground::ground;
use crate::task::{ActionId, PropId, Task};

/// The task of a domain and a problem. Both are given without what every file says: `domain` is
/// predicates and actions, `problem` objects, initial state and goal.
pub(crate) fn task(domain: &str, problem: &str) -> Task {
    let domain = format!("(define (domain test) {domain})");
    let problem = format!("(define (problem test) (:domain test) {problem})");
    let (problem, messages) = read_problem(
        &Source::new("domain.pddl", domain.into_bytes()),
        &Source::new("problem.pddl", problem.into_bytes()),
    );
    let problem = Arc::new(problem.unwrap_or_else(|| panic!("{messages}")));
    ground(&problem, &mut ()).expect("it can be grounded")
}

/// The action of a name, as `drive a b`.
pub(crate) fn action(task: &Task, name: &str) -> ActionId {
    let mut all = task.actions();
    all.find(|&action| action_name(task, action) == name)
        .unwrap_or_else(|| panic!("no action `{name}`"))
}

/// The name of an action, as `drive a b`.
pub(crate) fn action_name(task: &Task, action: ActionId) -> String {
    let name = task.action_name(action).to_string();
    name.trim_matches(['(', ')']).to_owned()
}

/// The proposition of a name, as `at truck b`.
pub(crate) fn prop(task: &Task, name: &str) -> PropId {
    let mut all = (0..task.propositions().len()).map(PropId::from_index);
    all.find(|&prop| prop_name(task, prop) == name)
        .unwrap_or_else(|| panic!("no proposition `{name}`"))
}

/// The name of a proposition, as `at truck b`.
pub(crate) fn prop_name(task: &Task, prop: PropId) -> String {
    let problem = task.problem();
    let atom = &task.propositions()[prop.index()].atom;
    let mut name = problem.domain.predicates[atom.predicate.index()]
        .name
        .clone();
    for object in &atom.arguments {
        name.push(' ');
        name.push_str(&problem.objects[object.index()].name);
    }
    name
}

/// The state after these actions, each of which is applicable.
pub(crate) fn state_after(task: &Task, names: &[&str]) -> Vec<u32> {
    let mut state = task.initial_state();
    for name in names {
        let action = action(task, name);
        let mut pre = task.pre(action).iter();
        assert!(
            pre.all(|&prop| task.encoding.holds(prop, &state)),
            "`{name}` cannot be applied"
        );
        task.apply(action, &mut state);
    }
    state
}
