//! Conditions of any shape, conditional effects and axioms: random small tasks against an explorer
//! that takes every definition at its word.

// Modules of a test are private to it.
#![allow(unreachable_pub)]

#[path = "../common/mod.rs"]
mod common;
mod generator;

use std::collections::HashSet;
use std::sync::Arc;

use common::explorer::{Replay, Space, Step, all_steps, replay};
use common::random::Random;
use common::{cost, evaluate, explore_by, parse_texts, plain, projected};
use generator::{game_texts, random_adl_problem, random_game};
use homing_pddl::Problem;
use homing_planner::heuristic::{Landmarks, Max};
use homing_planner::search::{Limits, astar, dijkstra, gbfs};
use homing_planner::{
    Costs, GroundError, HeuristicKind, Plan, PlanError, PlanStep, PropId, Registry, StateId,
    SuccessorGenerator, Task, ground,
};

/// Spaces larger than this are left out.
const LARGEST: usize = 300;
const SEEDS: u64 = 6_000;
const GAMES: u64 = 600;

/// All reachable states of a ground task.
fn explore(task: &Task) -> Registry {
    explore_by(task, |state, action| {
        let mut next = state.to_vec();
        task.apply(action, &mut next);
        check_diff(task, state, &next);
        next
    })
}

/// The difference of two states, against its definition.
fn check_diff(task: &Task, old: &[u32], new: &[u32]) {
    let mut found = Vec::new();
    task.encoding().difference(old, new, &mut found);
    found.sort_unstable();
    let differs =
        |prop: &PropId| task.encoding().holds(*prop, old) != task.encoding().holds(*prop, new);
    let all = (0..task.propositions().len()).map(PropId::from_index);
    assert_eq!(found, all.filter(differs).collect::<Vec<_>>());
}

/// What the tasks were like.
#[derive(Debug, Default)]
struct Tally {
    checked: usize,
    solvable: usize,
    /// Solvable, but not by doing nothing.
    interesting: usize,
    unreachable: usize,
    with_effects: usize,
    with_axioms: usize,
    with_helpers: usize,
    dead_ends: usize,
}

fn check(problem: &Arc<Problem>, seed: u64, tally: &mut Tally) {
    let Some(space) = Space::explore(problem, LARGEST) else {
        return;
    };
    tally.checked += 1;
    let optimum = space.perfect()[0];
    let task = match ground(problem, &mut ()) {
        Ok(task) => task,
        Err(GroundError::Unsolvable { .. }) => {
            assert_eq!(optimum, None, "seed {seed}: a plan exists");
            tally.unreachable += 1;
            return;
        }
        Err(error) => panic!("seed {seed}: {error}"),
    };
    tally.solvable += usize::from(optimum.is_some());
    tally.interesting += usize::from(optimum.is_some() && !space.goals[0]);
    let mut actions = task.actions();
    tally.with_effects +=
        usize::from(actions.any(|action| task.conditional_effects(action).next().is_some()));
    tally.with_axioms += usize::from(task.has_axioms());
    tally.with_helpers += usize::from(task.propositions().iter().any(|prop| prop.is_helper));

    let registry = explore(&task);
    let projected = projected(&task, &space.states, &space.perfect());
    assert_eq!(
        registry.len(),
        projected.len(),
        "seed {seed}: state spaces differ"
    );
    let mut max = Max::new(&task, Costs::Task);
    for id in (0..registry.len()).map(StateId::from_index) {
        let state = registry.state(id);
        let distance = projected.get(&plain(&task, state));
        let distance = distance.unwrap_or_else(|| panic!("seed {seed}: no such state"));
        if task.is_goal(state) {
            assert_eq!(*distance, Some(0), "seed {seed}");
        }
        match (distance, evaluate(&mut max, state).finite()) {
            (Some(perfect), Some(max)) => assert!(max <= *perfect as f64, "seed {seed}"),
            (Some(_), None) => panic!("seed {seed}: no dead end"),
            (None, max) => tally.dead_ends += usize::from(max.is_none()),
        }
    }

    let limits = Limits::default();
    let found = dijkstra(&task, Costs::Task, limits, &mut ());
    assert_eq!(cost(problem, &found), optimum, "seed {seed}: Dijkstra");
    for kind in HeuristicKind::ALL {
        let mut heuristic = kind.build(&task, Costs::Task);
        let found = gbfs(&task, heuristic.as_mut(), limits, &mut ());
        let found = cost(problem, &found);
        assert_eq!(
            found.is_some(),
            optimum.is_some(),
            "seed {seed}: GBFS {}",
            kind.name()
        );
        let found = astar(&task, heuristic.as_mut(), Costs::Task, limits, &mut ());
        let found = cost(problem, &found);
        if kind.is_admissible() {
            assert_eq!(found, optimum, "seed {seed}: A*");
        }
        assert_eq!(
            found.is_some(),
            optimum.is_some(),
            "seed {seed}: A* {}",
            kind.name()
        );
    }
}

#[test]
fn searches_agree_with_the_explorer_on_random_tasks() {
    let mut tally = Tally::default();
    for seed in 0..SEEDS {
        check(&random_adl_problem(seed), seed, &mut tally);
    }
    println!("{tally:?}");
    assert!(
        tally.checked >= 2_000 && tally.solvable >= 1_000,
        "{tally:?}"
    );
    assert!(
        tally.with_effects >= 300 && tally.with_axioms >= 300,
        "{tally:?}"
    );
    assert!(
        tally.with_helpers >= 100 && tally.unreachable >= 50,
        "{tally:?}"
    );
}

/// Derived predicates that depend on their own negation, but no fact does.
#[test]
fn searches_agree_with_the_explorer_on_random_games() {
    let mut tally = Tally::default();
    for seed in 0..GAMES {
        let problem = random_game(seed);
        check(&problem, seed, &mut tally);
        let steps = random_steps(&problem, seed);
        let end = replay(&problem, &steps);
        assert_eq!(validated(&problem, &steps), end, "seed {seed}: {steps:?}");
    }
    println!("{tally:?}");
    assert!(
        tally.interesting >= 100 && tally.with_axioms >= 200,
        "{tally:?}"
    );
}

#[test]
fn a_fact_that_depends_on_its_own_negation_is_shown() {
    let (domain, problem) = game_texts(&[(2, 1), (1, 0), (0, 2)], &[], "(win o0)");
    let problem = parse_texts(&domain, &problem);
    let error = ground(&problem, &mut ()).expect_err("it is not settled who wins");
    assert_eq!(
        error.to_string(),
        "the derived fact (win o2) depends on its own negation: (win o2) asks for not (win o1), \
         which asks for (win o0), which asks for (win o2)"
    );
    let plan = Plan::default();
    let error = plan
        .validate(&problem)
        .expect_err("it is not settled who wins");
    let step = 0;
    let atom = "(win o0)".to_owned();
    assert_eq!(error, PlanError::Unsettled { step, atom });
}

/// How the validator says that a replay ends.
fn validated(problem: &Problem, steps: &[Step]) -> Replay {
    let steps = steps.iter().map(|(action, arguments)| {
        let arguments = arguments.iter();
        PlanStep {
            name: problem.domain.actions[*action].name.clone(),
            arguments: arguments
                .map(|&object| problem.objects[object as usize].name.clone())
                .collect(),
        }
    });
    let plan = Plan {
        steps: steps.collect(),
    };
    match plan.validate(problem) {
        Ok(_) => Replay::ReachesGoal,
        Err(PlanError::Goal { .. }) => Replay::MissesGoal,
        Err(PlanError::Precondition { step, .. }) => Replay::StopsAt(step),
        Err(error) => panic!("{error}"),
    }
}

/// Whatever is done, at random: most steps are applicable, some are not, few end at a goal.
fn random_steps(problem: &Problem, seed: u64) -> Vec<Step> {
    let all = all_steps(problem);
    let mut random = Random(seed);
    let mut steps: Vec<Step> = Vec::new();
    for _ in 0..random.below(6) {
        if all.is_empty() {
            break;
        }
        steps.push(all[random.below(all.len())].clone());
        let stops = matches!(replay(problem, &steps), Replay::StopsAt(_));
        if stops && random.chance(80) {
            steps.pop();
        }
    }
    steps
}

#[test]
fn the_validator_agrees_with_the_explorer_on_random_steps() {
    let mut ends = [0; 3];
    for seed in 0..SEEDS {
        let problem = random_adl_problem(seed);
        let steps = random_steps(&problem, seed);
        let end = replay(&problem, &steps);
        assert_eq!(validated(&problem, &steps), end, "seed {seed}: {steps:?}");
        ends[match end {
            Replay::StopsAt(_) => 0,
            Replay::MissesGoal => 1,
            Replay::ReachesGoal => 2,
        }] += 1;
    }
    println!("{ends:?}");
    assert!(ends.iter().all(|&count| count >= 300), "{ends:?}");
}

/// The states that can be reached before any of `facts` was true, and those where one of them is
/// true for the first time, each with the state just before it.
fn before_first(task: &Task, facts: &[PropId]) -> (Vec<Vec<u32>>, Vec<[Vec<u32>; 2]>) {
    let holds = |state: &[u32]| {
        let mut facts = facts.iter();
        facts.any(|&fact| task.encoding().holds(fact, state))
    };
    let initial = task.initial_state();
    let (mut open, mut first) = (Vec::new(), Vec::new());
    if holds(&initial) {
        return (open, first);
    }
    let generator = SuccessorGenerator::new(task);
    let mut seen: HashSet<Vec<u32>> = HashSet::from([initial.clone()]);
    open.push(initial);
    let (mut at, mut actions) = (0, Vec::new());
    while at < open.len() {
        let state = open[at].clone();
        generator.applicable(&state, &mut actions);
        for &action in &actions {
            let mut next = state.clone();
            task.apply(action, &mut next);
            if holds(&next) {
                first.push([state.clone(), next]);
            } else if seen.insert(next.clone()) {
                open.push(next);
            }
        }
        at += 1;
    }
    (open, first)
}

#[test]
fn no_goal_is_reached_without_a_landmark() {
    let (mut tasks, mut checked, mut orders) = (0, 0, 0);
    for seed in 0..SEEDS / 2 {
        let problem = random_adl_problem(seed);
        if Space::explore(&problem, LARGEST).is_none() {
            continue;
        }
        let Ok(task) = ground(&problem, &mut ()) else {
            continue;
        };
        if task.is_strips() {
            continue;
        }
        tasks += 1;
        let found = Landmarks::find(&task, &mut ()).expect("nothing stops it");
        for landmark in found.all() {
            let (without, first) = before_first(&task, &landmark.facts);
            assert!(
                !without.iter().any(|state| task.is_goal(state)),
                "seed {seed}: {landmark:?}"
            );
            checked += usize::from(!without.is_empty());
            for &earlier in &landmark.just_before {
                let facts = &found.all()[earlier as usize].facts;
                for [state, _] in &first {
                    let mut facts = facts.iter();
                    assert!(
                        facts.any(|&fact| task.encoding().holds(fact, state)),
                        "seed {seed}: {earlier} before {landmark:?}"
                    );
                    orders += 1;
                }
            }
        }
    }
    println!("{tasks} tasks, {checked} landmarks, {orders} orders");
    assert!(tasks >= 500 && checked >= 400 && orders >= 300);
}

/// h_max and h_add with unit costs, straight from their definitions: what an action does under a
/// condition needs both, an axiom costs nothing, and the complement of a derived proposition that
/// depends on itself is free.
fn plain_values(task: &Task, state: &[u32]) -> Option<[f64; 2]> {
    let mut rules: Vec<(Vec<PropId>, Vec<PropId>, f64)> = Vec::new();
    for action in task.actions() {
        let pre = task.pre(action);
        rules.push((pre.to_vec(), task.add(action).to_vec(), 1.0));
        for effect in task.conditional_effects(action) {
            let needed = [pre, effect.condition].concat();
            rules.push((needed, effect.add.to_vec(), 1.0));
        }
    }
    for (head, body) in task.axioms() {
        rules.push((body.to_vec(), vec![head], 0.0));
    }
    let all = (0..task.propositions().len()).map(PropId::from_index);
    let free =
        all.filter(|&prop| task.is_derived(prop) && !task.propositions()[prop.index()].positive);
    rules.push((Vec::new(), free.collect(), 0.0));
    let mut holds = Vec::new();
    task.encoding().unpack(state, &mut holds);
    let settle = |combine: fn(f64, f64) -> f64| {
        let mut cost = vec![f64::INFINITY; task.propositions().len()];
        holds.iter().for_each(|prop| cost[prop.index()] = 0.0);
        let mut changed = true;
        while changed {
            changed = false;
            for (needed, added, own) in &rules {
                let needed = needed.iter().map(|prop| cost[prop.index()]);
                let way = own + needed.fold(0.0, combine);
                for prop in added {
                    if way < cost[prop.index()] {
                        cost[prop.index()] = way;
                        changed = true;
                    }
                }
            }
        }
        let goals = task.goal().iter().map(|prop| cost[prop.index()]);
        goals.fold(0.0, combine)
    };
    let [max, add] = [settle(f64::max), settle(|a, b| a + b)];
    max.is_finite().then_some([max, add])
}

#[test]
fn relaxed_values_follow_from_the_definitions() {
    let mut compared = 0;
    for seed in 0..SEEDS {
        let Ok(task) = ground(&random_adl_problem(seed), &mut ()) else {
            continue;
        };
        if task.is_strips() {
            continue;
        }
        let generator = SuccessorGenerator::new(&task);
        let random = &mut common::Random(seed);
        let mut state = task.initial_state();
        let mut actions = Vec::new();
        for _ in 0..6 {
            let expected = plain_values(&task, &state);
            let [max, add, ff] =
                [HeuristicKind::Max, HeuristicKind::Add, HeuristicKind::Ff].map(|kind| {
                    let mut heuristic = kind.build(&task, Costs::Unit);
                    evaluate(heuristic.as_mut(), &state).finite()
                });
            assert_eq!(
                max,
                expected.map(|values| values[0]),
                "h_max of seed {seed}"
            );
            assert_eq!(
                add,
                expected.map(|values| values[1]),
                "h_add of seed {seed}"
            );
            assert!(
                ff.is_some() == add.is_some() && ff <= add,
                "h_FF of seed {seed}"
            );
            compared += usize::from(expected.is_some_and(|values| values[1] > 0.0));
            generator.applicable(&state, &mut actions);
            if actions.is_empty() {
                break;
            }
            task.apply(actions[random.below(actions.len())], &mut state);
        }
    }
    println!("{compared} states");
    assert!(compared >= 400, "{compared}");
}

/// Every move asks that every place be safe: listed out, that would be places to the third power.
#[test]
fn a_long_condition_that_many_actions_share_is_listed_once() {
    let domain = "(define (domain streets) (:requirements :adl) (:types place)
      (:predicates (at ?p - place) (safe ?p - place) (next ?a ?b - place))
      (:action calm :parameters (?p - place) :precondition (not (safe ?p)) :effect (safe ?p))
      (:action riot :parameters (?p - place) :precondition (at ?p) :effect (not (safe ?p)))
      (:action go :parameters (?a ?b - place)
        :precondition (and (at ?a) (forall (?p - place) (safe ?p)))
        :effect (and (at ?b) (not (at ?a)))))";
    let places = 60;
    let names: Vec<String> = (0..places).map(|place| format!("p{place}")).collect();
    let safe: Vec<String> = names[2..]
        .iter()
        .map(|name| format!("(safe {name})"))
        .collect();
    let problem = format!(
        "(define (problem p) (:domain streets) (:objects {} - place)
          (:init (at p0) {}) (:goal (at p{})))",
        names.join(" "),
        safe.join(" "),
        places - 1
    );
    let problem = common::parse_texts(domain, &problem);
    let task = ground(&problem, &mut ()).unwrap();
    let listed: usize = task.actions().map(|action| task.pre(action).len()).sum();
    assert!(listed < 20_000 + 4 * task.action_count(), "{listed}");
    let mut max = Max::new(&task, Costs::Task);
    assert_eq!(
        evaluate(&mut max, &task.initial_state()).finite(),
        Some(2.0)
    );
    let found = astar(&task, &mut max, Costs::Task, Limits::default(), &mut ());
    assert_eq!(cost(&problem, &found), Some(3));
}
