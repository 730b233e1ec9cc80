//! States of a problem with the features that are counted in them, and how long that takes, for a
//! comparison with another program.
//!
//! `features DOMAIN PROBLEM STATES ROUNDS` prints one JSON object: `states`, the atoms of so many
//! different states along a random walk, static ones left out; `counts`, for each of them pairs of a
//! colour and how often it occurs; and microseconds of CPU time a state for counting from scratch
//! (`count`), for the score from scratch (`score`) and for the score by difference (`difference`).

#[path = "common/clock.rs"]
mod clock;
#[path = "common/load.rs"]
mod load;
#[path = "common/walk.rs"]
mod walk;

use std::collections::HashSet;

use homing_learner::{CountsFunction, FeatureCounter, GraphSpec};
use homing_nlm::SplitMix64;
use homing_planner::{ActionId, Task};

/// The atoms that hold, as `on a b`; what stands for a part of a condition is left out.
fn atoms(task: &Task, state: &[u32]) -> Vec<String> {
    let mut props = Vec::new();
    task.encoding().unpack(state, &mut props);
    let problem = task.problem();
    let mut shown = Vec::new();
    for prop in props {
        let prop = &task.propositions()[prop.index()];
        if prop.is_helper || !prop.positive {
            continue;
        }
        let mut text = problem.domain.predicates[prop.atom.predicate.index()]
            .name
            .clone();
        for &object in &prop.atom.arguments {
            text.push(' ');
            text.push_str(&problem.objects[object.index()].name);
        }
        shown.push(text);
    }
    shown
}

/// Microseconds of CPU time that one of `count` takes; `work` is done again and again for a second.
fn microseconds(count: usize, mut work: impl FnMut()) -> f64 {
    1e6 * clock::mean_over(1.0, &mut work) / count.max(1) as f64
}

/// Different states along a random walk, each with its applicable actions.
fn different(task: &Task, states: usize) -> Vec<(Vec<u32>, Vec<ActionId>)> {
    let mut seen = HashSet::new();
    let new = walk::walk(task).take(100 * states);
    new.filter(|(state, _)| seen.insert(state.clone()))
        .take(states)
        .collect()
}

#[allow(clippy::print_stdout)]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [domain, problem, states, rounds] = &arguments[..] else {
        panic!("features DOMAIN PROBLEM STATES ROUNDS");
    };
    let (states, rounds) = (
        states.parse().expect("a number"),
        rounds.parse().expect("a number"),
    );
    let task = load::load(domain, problem);
    let walk = different(&task, states);
    let spec = GraphSpec::of_tasks(&[&task], rounds, false);
    let mut counter = FeatureCounter::new(&task, &spec);
    let counts: Vec<Vec<(u64, u32)>> = walk.iter().map(|(s, _)| counter.count(s)).collect();
    let mut random = SplitMix64::new(2);
    let colours: HashSet<u64> = counts.iter().flatten().map(|&(colour, _)| colour).collect();
    let mut colours: Vec<u64> = colours.into_iter().collect();
    colours.sort_unstable();
    let mut weight = || [random.below(9999) as i32 - 5000, 0];
    let weights = colours.iter().map(|&colour| (colour, weight())).collect();
    let function = CountsFunction::new(spec, 1, weights);
    let count = microseconds(walk.len(), || {
        for (state, _) in &walk {
            std::hint::black_box(counter.count(state));
        }
    });
    let mut scratch = function.scratch_scorer(&task);
    let score = microseconds(walk.len(), || {
        for (state, _) in &walk {
            scratch.enter(state);
            std::hint::black_box(scratch.scores()[0]);
        }
    });
    let children = walk.iter().map(|(_, actions)| actions.len()).sum();
    let mut scorer = function.scorer(&task);
    let difference = microseconds(children, || {
        for (state, actions) in &walk {
            scorer.enter(state);
            for &action in actions {
                std::hint::black_box(scorer.child(action).scores[0]);
            }
        }
    });
    let nodes: u64 = counts.iter().flatten().map(|&(_, n)| u64::from(n)).sum();
    let shown: Vec<Vec<String>> = walk.iter().map(|(state, _)| atoms(&task, state)).collect();
    // Colours as text: not every reader of JSON keeps 64 bits.
    let counts: Vec<Vec<(String, u32)>> = counts
        .iter()
        .map(|row| row.iter().map(|&(c, n)| (format!("{c:016x}"), n)).collect())
        .collect();
    let object = serde_json::json!({
        "states": shown, "counts": counts, "colours": colours.len(), "nodes": nodes,
        "children": children, "count": count, "score": score, "difference": difference,
    });
    println!("{object}");
}
