//! Every search with every heuristic on every valid fixture, each plan replayed.

mod common;

use common::explorer::Space;
use common::valid_fixtures;
use homing_planner::search::{Outcome, SearchKind, SearchOptions};
use homing_planner::{Costs, GroundError, HeuristicKind, ground};

#[test]
fn every_search_with_every_heuristic_solves_every_valid_fixture() {
    let mut plans = 0;
    for (name, problem) in valid_fixtures() {
        let space = Space::explore(&problem, 50_000)
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
            let options = SearchOptions {
                costs,
                weight: 3.0,
                ..SearchOptions::default()
            };
            for kind in HeuristicKind::ALL {
                let mut heuristic = kind.build(&task, costs);
                assert_eq!(heuristic.name(), kind.name());
                for search in SearchKind::without_policy() {
                    let result = search.run(&task, heuristic.as_mut(), &options, &mut ());
                    let place = format!("{name}, {search}, {kind}, {costs:?}");
                    match result.outcome {
                        Outcome::Solved(plan) => {
                            let validated = plan
                                .validate(&problem)
                                .unwrap_or_else(|e| panic!("{place}: {e}"));
                            assert!(validated.cost >= optimum.expect("unsolvable"), "{place}");
                            if search == SearchKind::Dijkstra && costs == Costs::Task {
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
    assert!(plans >= 900);
}
