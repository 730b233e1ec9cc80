//! Every search with every heuristic on every valid fixture, each plan replayed.

mod common;

use common::{PlainSpace, valid_fixtures};
use homing_planner::heuristic::{Add, Blind, Ff, Max};
use homing_planner::search::{
    Limits, Outcome, SearchResult, astar, dijkstra, gbfls, gbfs, weighted_astar,
};
use homing_planner::{Costs, GroundError, Heuristic, ground};

#[test]
fn every_search_with_every_heuristic_solves_every_valid_fixture() {
    let mut plans = 0;
    for (name, problem) in valid_fixtures() {
        let space = PlainSpace::explore(&problem, 50_000)
            .unwrap_or_else(|| panic!("{name}: too large a fixture"));
        let optimum = space.perfect()[0];
        let task = match ground(&problem, &mut ()) {
            Ok(task) => task,
            Err(GroundError::Unsolvable { .. }) => {
                assert_eq!(optimum, None, "{name}");
                continue;
            }
            Err(error) => panic!("{name}: {error}"),
        };
        for costs in [Costs::Task, Costs::Unit] {
            let mut heuristics: [Box<dyn Heuristic>; 4] = [
                Box::new(Blind::new(&task)),
                Box::new(Max::new(&task, costs)),
                Box::new(Add::new(&task, costs)),
                Box::new(Ff::new(&task, costs)),
            ];
            for heuristic in &mut heuristics {
                let heuristic = heuristic.as_mut();
                let limits = Limits::default();
                let results: [(&str, SearchResult); 5] = [
                    ("gbfs", gbfs(&task, heuristic, limits, &mut ())),
                    ("gbfls", gbfls(&task, heuristic, limits, &mut ())),
                    ("astar", astar(&task, heuristic, costs, limits, &mut ())),
                    (
                        "wastar",
                        weighted_astar(&task, heuristic, 3.0, costs, limits, &mut ()),
                    ),
                    ("dijkstra", dijkstra(&task, costs, limits, &mut ())),
                ];
                for (search, result) in results {
                    let place = format!("{name}, {search}, {}, {costs:?}", heuristic.name());
                    match result.outcome {
                        Outcome::Solved(plan) => {
                            let validated = plan
                                .validate(&problem)
                                .unwrap_or_else(|e| panic!("{place}: {e}"));
                            assert!(validated.cost >= optimum.expect("unsolvable"), "{place}");
                            if search == "dijkstra" && costs == Costs::Task {
                                assert_eq!(Some(validated.cost), optimum, "{place}");
                            }
                            plans += 1;
                        }
                        Outcome::Unsolvable => assert_eq!(optimum, None, "{place}"),
                        Outcome::LimitReached(limit) => panic!("{place}: {limit:?}"),
                    }
                }
            }
        }
    }
    println!("{plans} plans validated");
    assert!(plans >= 600);
}
