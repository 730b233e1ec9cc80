//! Reading tasks.

use std::sync::Arc;

use homing_pddl::{Source, read_problem};
use homing_planner::{Task, ground};

/// The task of two files; what is wrong with them ends the program.
pub(crate) fn load(domain: &str, problem: &str) -> Task {
    let read = |path: &str| {
        let text = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        Source::new(path, text)
    };
    let (problem, messages) = read_problem(&read(domain), &read(problem));
    let problem = problem.unwrap_or_else(|| panic!("{messages}"));
    ground(&Arc::new(problem), &mut ()).unwrap_or_else(|error| panic!("{error}"))
}
