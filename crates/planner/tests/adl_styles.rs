//! Small domains in the style of the competitions', beside what Fast Downward says of them.
//!
//! The values are those of Fast Downward (up-fast-downward 1.0.0, `dev/adl/compare.py fixtures/adl`),
//! but for the two problems that it does not read.

// Modules of a test are private to it.
#![allow(unreachable_pub)]

mod common;

use common::explorer::Space;
use common::{cost, evaluate, load, problem_files, root, sorted_entries};
use homing_planner::search::{Limits, astar};
use homing_planner::{Costs, HeuristicKind, ground};

/// The problem, its optimal cost, h_max and h_add of its initial state.
const VALUES: [(&str, u64, f64, f64); 15] = [
    ("apron/p01", 4, 3.0, 6.0),
    ("assembly-line/p01", 10, 5.0, 14.0),
    ("blind-cleaner/p01", 10, 5.0, 18.0),
    ("cards/p01", 2, 1.0, 2.0),
    ("controller/p01", 5, 4.0, 12.0),
    ("couples/p01", 6, 5.0, 32.0),
    ("hops/p01", 6, 4.0, 8.0),
    ("informers/p01", 3, 1.0, 2.0),
    ("loop/p01", 6, 4.0, 9.0),
    ("polarity/p01", 10, 9.0, 10.0),
    // Recursion through `forall`, which Fast Downward makes a negation of: not read there.
    ("signals/p01", 2, 1.0, 3.0),
    ("signals/p02", 2, 1.0, 2.0),
    ("sliding/p01", 3, 3.0, 3.0),
    // Fast Downward multiplies the disjunctions of the goal out, and h_add is 8 there.
    ("soup/p01", 8, 3.0, 10.0),
    ("wires/p01", 10, 5.0, 15.0),
];

#[test]
fn optimal_costs_and_estimates_are_those_of_fast_downward() {
    let mut expected = VALUES.iter();
    for folder in sorted_entries(&root().join("fixtures/adl")) {
        for path in problem_files(&folder) {
            let &(name, optimum, max, add) = expected.next().expect("a value for each problem");
            assert!(path.with_extension("").ends_with(name), "{name}: {path:?}");
            let problem = load(&folder.join("domain.pddl"), &path);
            let task = ground(&problem, &mut ()).unwrap_or_else(|e| panic!("{name}: {e}"));
            let initial = task.initial_state();
            for (kind, value) in [(HeuristicKind::Max, max), (HeuristicKind::Add, add)] {
                let mut heuristic = kind.build(&task, Costs::Task);
                let estimate = evaluate(heuristic.as_mut(), &initial).finite();
                assert_eq!(estimate, Some(value), "{name}, {kind}");
            }
            let mut blind = HeuristicKind::Blind.build(&task, Costs::Task);
            let limits = Limits::default();
            let found = astar(&task, blind.as_mut(), Costs::Task, limits, &mut ());
            assert_eq!(cost(&problem, &found), Some(optimum), "{name}");
            let space = Space::explore(&problem, 500);
            if let Some(space) = space {
                assert_eq!(space.perfect()[0], Some(optimum), "{name}, explored");
            }
        }
    }
    assert_eq!(expected.next(), None, "a problem for each value");
}
