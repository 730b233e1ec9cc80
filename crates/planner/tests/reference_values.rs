//! Heuristic values equal those of pyperplan, stored with the command that made them
//! (`dev/reference/README.md`).

mod common;

use std::collections::HashMap;
use std::sync::Arc;

use common::{load, pack, plain_apply, plain_initial, root};
use homing_planner::heuristic::{Add, Ff, Max};
use homing_planner::{Costs, Estimate, GroundError, Heuristic, States, Task, ground};
use serde_json::Value;

fn value(heuristic: &mut dyn Heuristic, state: &[u32]) -> Estimate {
    let mut estimates = Vec::new();
    heuristic.evaluate(States::one(state), &mut estimates);
    estimates[0]
}

fn expected(value: &Value) -> Estimate {
    value.as_f64().map_or(Estimate::DEAD_END, Estimate::new)
}

/// Compares every state of a file; how many there are, and at how many h_FF is determined.
fn compare(file: &str) -> (usize, usize) {
    let text = std::fs::read_to_string(root().join("fixtures/reference").join(file)).unwrap();
    let (mut states, mut determined) = (0, 0);
    let mut tasks: HashMap<String, Option<Arc<Task>>> = HashMap::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let [domain, path] = ["domain", "problem"].map(|key| record[key].as_str().unwrap());
        let task = tasks.entry(path.to_owned()).or_insert_with(|| {
            match ground(&load(&root().join(domain), &root().join(path)), &mut ()) {
                Ok(task) => Some(Arc::new(task)),
                Err(GroundError::Unsolvable { .. }) => None,
                Err(error) => panic!("{path}: {error}"),
            }
        });
        let Some(task) = task else {
            assert!(record["add"][0].is_null(), "{path}: the goal is reachable");
            continue;
        };
        let (mut add, mut max, mut ff) = (
            Add::new(task, Costs::Unit),
            Max::new(task, Costs::Unit),
            Ff::new(task, Costs::Unit),
        );
        let mut state = plain_initial(task.problem());
        let walk = record["walk"].as_array().unwrap();
        for step in 0..=walk.len() {
            if step > 0 {
                state = plain_apply(task.problem(), &state, walk[step - 1].as_str().unwrap());
            }
            let packed = pack(task, &state);
            let place = format!("{path}, walk {walk:?}, state {step}");
            let found = value(&mut add, &packed);
            assert_eq!(found, expected(&record["add"][step]), "h_add, {place}");
            let highest = found;
            let lowest = value(&mut max, &packed);
            assert_eq!(lowest, expected(&record["max"][step]), "h_max, {place}");
            let found = value(&mut ff, &packed);
            assert!(lowest <= found && found <= highest, "h_FF, {place}");
            if record["unique"][step].as_bool().unwrap() {
                assert_eq!(found, expected(&record["ff"][step]), "h_FF, {place}");
                determined += 1;
            }
            states += 1;
        }
    }
    eprintln!("{file}: {states} states, h_FF determined at {determined}");
    (states, determined)
}

#[test]
fn values_of_our_own_problems_equal_pyperplans() {
    let (states, determined) = compare("own.jsonl");
    assert!(states >= 200 && determined >= 50, "{states} {determined}");
}

#[test]
fn values_of_shared_problems_equal_pyperplans() {
    if common::shared().is_some() {
        let (states, determined) = compare("shared.jsonl");
        assert!(
            states >= 2_000 && determined >= 500,
            "{states} {determined}"
        );
    }
}
