//! Laws that hold on any task, checked on hundreds of random ones against an explorer that tries
//! every tuple of objects.

mod common;

use std::collections::HashMap;
use std::sync::Arc;

use common::{
    PlainSpace, Random, cost, evaluate, explore_by, parse_texts, plain, projected, random_problem,
};
use homing_pddl::Problem;
use homing_planner::heuristic::{Add, Ff, Max};
use homing_planner::search::{Limits, Outcome, astar, dijkstra, gbfls, gbfs, weighted_astar};
use homing_planner::{
    Costs, GroundError, Heuristic, HeuristicKind, PropId, Registry, Spare, StateId, Task, ground,
    ground_sparing,
};

/// Spaces larger than this are left out.
const LARGEST: usize = 4_000;
const SEEDS: u64 = 1_500;

/// All reachable states of a ground task, by the definition of an action.
fn explore(task: &Task) -> Registry {
    explore_by(task, |state, action| {
        let mut props = Vec::new();
        task.encoding().unpack(state, &mut props);
        assert!(task.pre(action).iter().all(|prop| props.contains(prop)));
        props.retain(|prop| !task.del(action).contains(prop));
        let added = task.add(action).iter();
        let new: Vec<PropId> = added
            .filter(|prop| !props.contains(prop))
            .copied()
            .collect();
        props.extend(new);
        task.encoding().pack(&props)
    })
}

#[test]
fn searches_and_heuristics_agree_with_the_plain_explorer() {
    let (mut checked, mut solvable, mut unreachable, mut with_dead_ends, mut dropped) =
        (0, 0, 0, 0, 0);
    for seed in 0..SEEDS {
        let problem = random_problem(seed);
        let Some(space) = PlainSpace::explore(&problem, LARGEST) else {
            continue;
        };
        let perfect = space.perfect();
        checked += 1;
        let task = match ground(&problem, &mut ()) {
            Ok(task) => task,
            Err(GroundError::Unsolvable { .. }) => {
                assert_eq!(perfect[0], None, "seed {seed}: a plan exists");
                unreachable += 1;
                continue;
            }
            Err(error) => panic!("seed {seed}: {error}"),
        };
        solvable += usize::from(perfect[0].is_some());

        let registry = explore(&task);
        let projected = projected(&task, &space.states, &space.perfect());
        assert_eq!(
            registry.len(),
            projected.len(),
            "seed {seed}: state spaces differ"
        );
        dropped += usize::from(projected.len() < space.states.len());
        let (mut max, mut add, mut ff) = (
            Max::new(&task, Costs::Task),
            Add::new(&task, Costs::Task),
            Ff::new(&task, Costs::Task),
        );
        for id in (0..registry.len()).map(StateId::from_index) {
            let state = registry.state(id);
            let distance = projected[&plain(&task, state)];
            let [max, add, ff] = [&mut max as &mut dyn Heuristic, &mut add, &mut ff]
                .map(|heuristic| evaluate(heuristic, state));
            assert!(
                max <= ff && ff <= add,
                "seed {seed}: {max:?} {ff:?} {add:?}"
            );
            match distance {
                Some(perfect) => assert!(max.finite().unwrap() <= perfect as f64, "seed {seed}"),
                None => with_dead_ends += usize::from(max.finite().is_none()),
            }
            assert_eq!(max.finite().is_none(), add.finite().is_none());
        }

        let limits = Limits::default();
        let optimum = perfect[0];
        let found = dijkstra(&task, Costs::Task, limits, &mut ());
        assert_eq!(cost(&problem, &found), optimum, "seed {seed}: Dijkstra");
        for kind in HeuristicKind::ALL {
            let mut heuristic = kind.build(&task, Costs::Task);
            let heuristic = heuristic.as_mut();
            let found = astar(&task, heuristic, Costs::Task, limits, &mut ());
            // Blind is 1 before the goal: no overestimate where actions cost at least 1.
            let free = task.actions().any(|action| task.cost(action) == 0);
            if kind.is_admissible() || kind == HeuristicKind::Blind && !free {
                assert_eq!(cost(&problem, &found), optimum, "seed {seed}: A*");
                for weight in [1.0, 1.5, 3.0] {
                    let found =
                        weighted_astar(&task, heuristic, weight, Costs::Task, limits, &mut ());
                    let found = cost(&problem, &found);
                    assert_eq!(found.is_some(), optimum.is_some());
                    if let (Some(found), Some(optimum)) = (found, optimum) {
                        assert!(
                            found as f64 <= weight * optimum as f64,
                            "seed {seed}: WA* {weight}"
                        );
                    }
                }
            }
            assert_eq!(
                cost(&problem, &found).is_some(),
                optimum.is_some(),
                "seed {seed}"
            );
            let found = gbfs(&task, heuristic, limits, &mut ());
            assert_eq!(
                cost(&problem, &found).is_some(),
                optimum.is_some(),
                "seed {seed}: GBFS"
            );
            assert!(found.statistics.evaluations <= found.statistics.stored);
            let found = gbfls(&task, heuristic, limits, &mut ());
            assert_eq!(
                cost(&problem, &found).is_some(),
                optimum.is_some(),
                "seed {seed}: GBFLS"
            );
        }
    }
    println!(
        "{checked} tasks: {solvable} solvable, {unreachable} with unreachable goals, {with_dead_ends} dead ends, {dropped} with something irrelevant"
    );
    assert!(checked >= 500 && solvable >= 200 && unreachable >= 50 && with_dead_ends >= 100);
    assert!(dropped >= 50);
}

/// A problem of a few things, each in one place at a time, with few ways from one to another that
/// depend on where other things are: much is lost once it is left.
fn random_one_way_problem(seed: u64) -> Arc<Problem> {
    let mut random = Random(seed);
    let (things, places) = (2 + random.below(3), 3 + random.below(3));
    let mut text: String = (0..places).map(|place| format!(" c{place}")).collect();
    text = format!("(define (domain ways) (:constants{text}) (:predicates");
    for thing in 0..things {
        text += &format!(" (at{thing} ?c)");
    }
    text += ")";
    for way in 0..things * (places + random.below(2 * places)) {
        let (thing, from, to) = (
            random.below(things),
            random.below(places),
            random.below(places),
        );
        let mut pre = format!("(at{thing} c{from})");
        let mut effect = format!("(not (at{thing} c{from})) (at{thing} c{to})");
        let other = (thing + 1 + random.below(things - 1)) % things;
        if random.chance(60) {
            let [here, there] = [0; 2].map(|_| random.below(places));
            pre += &format!(" (at{other} c{here})");
            if random.chance(30) && here != there {
                effect += &format!(" (not (at{other} c{here})) (at{other} c{there})");
            }
        }
        text += &format!(
            " (:action a{way} :parameters () :precondition (and {pre}) :effect (and {effect}))"
        );
    }
    text += ")";
    let mut facts = || -> String {
        let facts = (0..things).map(|thing| format!(" (at{thing} c{})", random.below(places)));
        facts.collect()
    };
    let (init, goal) = (facts(), facts());
    let problem = format!("(define (problem p) (:domain ways) (:init{init}) (:goal (and{goal})))");
    parse_texts(&text, &problem)
}

/// A step that some plan takes from a state that can be reached is there still, and can be taken.
#[test]
fn no_plan_needs_what_is_left_out_as_doomed() {
    let (mut checked, mut dropped, mut waiting, mut left) = (0, 0, 0, 0);
    for seed in 0..3 * SEEDS {
        let problem = match seed % 3 {
            0 => random_problem(seed),
            _ => random_one_way_problem(seed),
        };
        let Some(space) = PlainSpace::explore(&problem, LARGEST) else {
            continue;
        };
        let perfect = space.perfect();
        let Ok(task) = ground(&problem, &mut ()) else {
            continue;
        };
        let spare = Spare {
            doomed: true,
            ..Spare::default()
        };
        let spared = ground_sparing(&problem, spare, &mut ()).expect("the task can be grounded");
        assert_eq!(spared.propositions(), task.propositions());
        if perfect[0].is_none_or(|perfect| perfect == 0) {
            continue;
        }
        checked += 1;
        dropped += task.action_count() - spared.action_count();
        let name = |task: &Task, action| (task.schema(action), task.arguments(action).to_vec());
        let kept: HashMap<_, _> = spared
            .actions()
            .map(|action| (name(&spared, action), action))
            .collect();
        let projected = projected(&task, &space.states, &perfect);
        let registry = explore(&task);
        for id in (0..registry.len()).map(StateId::from_index) {
            let state = registry.state(id);
            let holds = |prop: &PropId| task.encoding().holds(*prop, state);
            for action in task.actions() {
                if !task.pre(action).iter().all(holds) {
                    continue;
                }
                let mut next = state.to_vec();
                task.apply(action, &mut next);
                let kept = kept.get(&name(&task, action));
                let is_there = kept.is_some_and(|&kept| spared.pre(kept).iter().all(holds));
                let leads_on = projected[&plain(&task, &next)].is_some();
                assert!(
                    is_there || !leads_on,
                    "seed {seed}: {} is missing",
                    task.action_name(action)
                );
                waiting += usize::from(kept.is_some() && !is_there);
                left += usize::from(is_there && !leads_on);
            }
        }
    }
    // Of the steps into dead ends, some are left out, and some are not noticed.
    assert!(checked > 700 && dropped > 1_000 && waiting > 500 && left > 1_000);
}

#[test]
fn limits_end_a_search_with_the_counts_they_name() {
    for seed in 0..300 {
        let problem = random_problem(seed);
        let Ok(task) = ground(&problem, &mut ()) else {
            continue;
        };
        let unlimited = gbfs(
            &task,
            &mut Ff::new(&task, Costs::Task),
            Limits::default(),
            &mut (),
        );
        let evaluations = unlimited.statistics.evaluations;
        for most in [
            0,
            1,
            2,
            evaluations / 2,
            evaluations.saturating_sub(1),
            evaluations,
        ] {
            let limits = Limits {
                max_evaluations: Some(most),
                ..Limits::default()
            };
            let limited = gbfs(&task, &mut Ff::new(&task, Costs::Task), limits, &mut ());
            assert!(limited.statistics.evaluations <= most);
            if most >= evaluations {
                assert_eq!(limited.outcome, unlimited.outcome, "seed {seed}");
                assert_eq!(limited.statistics, unlimited.statistics);
            } else {
                assert!(
                    matches!(limited.outcome, Outcome::LimitReached(_)),
                    "seed {seed} {most}"
                );
                assert_eq!(limited.statistics.evaluations, most);
            }
        }
        let limits = Limits {
            max_expansions: Some(1),
            ..Limits::default()
        };
        let limited = dijkstra(&task, Costs::Task, limits, &mut ());
        assert!(limited.statistics.expansions <= 1);
    }
}
