//! The competition problems beside the repository: all of them ground, and optimal costs are the
//! published ones.

mod common;

use common::{load, problem_files, shared, sorted_entries};
use homing_planner::heuristic::{Add, Ff, Max};
use homing_planner::search::{Limits, Outcome, astar};
use homing_planner::{Costs, GroundError, Heuristic, States, ground};

#[test]
fn every_shared_problem_grounds_and_evaluates() {
    let Some(shared) = shared() else { return };
    let mut problems = 0;
    let mut unsolvable = Vec::new();
    for folder in ["benchmarks", "instances"]
        .iter()
        .flat_map(|f| sorted_entries(&shared.join(f)))
    {
        for path in problem_files(&folder) {
            let problem = load(&folder.join("domain.pddl"), &path);
            let task = match ground(&problem, &mut ()) {
                Ok(task) => task,
                Err(GroundError::Unsolvable { .. }) => {
                    unsolvable.push(path.strip_prefix(&shared).unwrap().display().to_string());
                    continue;
                }
                Err(error) => panic!("{}: {error}", path.display()),
            };
            let state = task.initial_state();
            let mut estimates = Vec::new();
            Add::new(&task, Costs::Unit).evaluate(States::one(&state), &mut estimates);
            Ff::new(&task, Costs::Unit).evaluate(States::one(&state), &mut estimates);
            let [add, ff] = estimates[..] else {
                panic!("two estimates")
            };
            assert!(ff <= add && ff.finite().is_some(), "{}", path.display());
            problems += 1;
        }
    }
    assert!(problems > 700, "only {problems} problems");
    // The one problem whose goal is out of reach even without deletes, as Fast Downward agrees.
    assert_eq!(unsolvable, ["benchmarks/mystery/prob07.pddl"]);
}

/// Optimal costs as published with the competitions' optimal tracks and the literature on
/// admissible heuristics.
const OPTIMA: [(&str, u64); 20] = [
    ("blocks/probBLOCKS-4-1", 10),
    ("blocks/probBLOCKS-5-1", 10),
    ("blocks/probBLOCKS-6-1", 10),
    ("gripper/prob01", 11),
    ("gripper/prob04", 29),
    ("miconic/s1-0", 4),
    ("logistics00/probLOGISTICS-4-0", 20),
    ("driverlog/p01", 7),
    ("depot/p01", 10),
    ("zenotravel/p01", 1),
    ("zenotravel/p04", 8),
    ("rovers/p01", 10),
    ("rovers/p04", 8),
    ("tpp/p01", 5),
    ("tpp/p04", 14),
    ("satellite/p01-pfile1", 9),
    ("freecell/p01", 8),
    ("mystery/prob01", 5),
    ("pipesworld-notankage/p01-net1-b6-g2", 5),
    ("scanalyzer-08-strips/p01", 18),
];

#[test]
fn astar_finds_the_published_optimal_costs() {
    let Some(shared) = shared() else { return };
    for (name, optimum) in OPTIMA {
        let path = shared.join("benchmarks").join(format!("{name}.pddl"));
        let problem = load(&path.with_file_name("domain.pddl"), &path);
        let task = ground(&problem, &mut ()).unwrap();
        let mut max = Max::new(&task, Costs::Task);
        let result = astar(&task, &mut max, Costs::Task, Limits::default(), &mut ());
        let Outcome::Solved(plan) = result.outcome else {
            panic!("{name} is solvable")
        };
        assert_eq!(plan.validate(&problem).unwrap().cost, optimum, "{name}");
    }
}
