//! The relaxation against its definition, and what grounding leaves out before it.

mod common;

use common::{Random, parse_texts, random_problem};
use homing_planner::heuristic::{Add, Ff, Max};
use homing_planner::{Costs, Estimate, Heuristic, States, SuccessorGenerator, Task, ground};

fn evaluate(heuristic: &mut dyn Heuristic, state: &[u32]) -> Option<f64> {
    let mut estimates: Vec<Estimate> = Vec::new();
    heuristic.evaluate(States::one(state), &mut estimates);
    estimates[0].finite()
}

/// h_max, h_add and h_FF with unit costs, straight from their definitions: every action is tried
/// until nothing changes, and the first of the cheapest achievers is taken.
fn plain_values(task: &Task, state: &[u32]) -> Option<[f64; 3]> {
    let mut holds = Vec::new();
    task.encoding().unpack(state, &mut holds);
    let settle = |combine: fn(f64, f64) -> f64| {
        let mut cost = vec![f64::INFINITY; task.propositions().len()];
        holds.iter().for_each(|prop| cost[prop.index()] = 0.0);
        let way = |action, cost: &[f64]| {
            let pre = task.pre(action).iter().map(|prop| cost[prop.index()]);
            1.0 + pre.fold(0.0, combine)
        };
        loop {
            let mut changed = false;
            for action in task.actions() {
                let new = way(action, &cost);
                for prop in task.add(action) {
                    if new < cost[prop.index()] {
                        cost[prop.index()] = new;
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        let achievers: Vec<_> = (0..cost.len())
            .map(|prop| {
                task.actions().find(|&action| {
                    task.add(action).iter().any(|p| p.index() == prop)
                        && way(action, &cost) == cost[prop]
                })
            })
            .collect();
        (cost, achievers)
    };
    let (max, _) = settle(f64::max);
    let (add, achievers) = settle(|a, b| a + b);
    let goals = || task.goal().iter().map(|prop| prop.index());
    if goals().any(|goal| add[goal].is_infinite()) {
        return None;
    }
    let mut plan = Vec::new();
    let mut open: Vec<usize> = goals().collect();
    while let Some(prop) = open.pop() {
        if add[prop] == 0.0 {
            continue;
        }
        let action = achievers[prop].expect("a proposition that is reached has an achiever");
        if !plan.contains(&action) {
            plan.push(action);
            open.extend(task.pre(action).iter().map(|prop| prop.index()));
        }
    }
    Some([
        goals().map(|goal| max[goal]).fold(0.0, f64::max),
        goals().map(|goal| add[goal]).sum(),
        plan.len() as f64,
    ])
}

#[test]
fn values_follow_from_the_definitions() {
    let mut compared = 0;
    for seed in 0..8_000 {
        let Ok(task) = ground(&random_problem(seed), &mut ()) else {
            continue;
        };
        let generator = SuccessorGenerator::new(&task);
        let mut heuristics: [Box<dyn Heuristic + '_>; 3] = [
            Box::new(Max::new(&task, Costs::Unit)),
            Box::new(Add::new(&task, Costs::Unit)),
            Box::new(Ff::new(&task, Costs::Unit)),
        ];
        let random = &mut Random(seed);
        let mut state = task.initial_state();
        let mut actions = Vec::new();
        for _ in 0..8 {
            let expected = plain_values(&task, &state);
            for (index, heuristic) in heuristics.iter_mut().enumerate() {
                assert_eq!(
                    evaluate(heuristic.as_mut(), &state),
                    expected.map(|values| values[index]),
                    "h_{} of seed {seed}",
                    heuristic.name()
                );
            }
            compared += usize::from(expected.is_some_and(|values| values[2] > 1.0));
            generator.applicable(&state, &mut actions);
            if actions.is_empty() {
                break;
            }
            task.apply(actions[random.below(actions.len())], &mut state);
        }
    }
    assert!(
        compared > 200,
        "only {compared} values were worth comparing"
    );
}

/// The two flights share preconditions and differ in nothing but where they end and what is left.
#[test]
fn actions_with_the_same_preconditions_keep_their_own_achievements() {
    let domain = "(define (domain flights) (:predicates (at ?c) (fuel ?l) (next ?a ?b) (city ?c))
      (:action fly :parameters (?from ?to ?a ?b)
        :precondition (and (city ?from) (city ?to) (at ?from) (fuel ?a) (next ?b ?a))
        :effect (and (not (at ?from)) (at ?to) (not (fuel ?a)) (fuel ?b))))";
    let problem = "(define (problem p) (:domain flights) (:objects a b c d full half empty)
      (:init (city a) (city b) (city c) (city d) (at a) (fuel full) (next half full) (next empty half))
      (:goal (and (at d) (fuel empty))))";
    let task = ground(&parse_texts(domain, problem), &mut ()).unwrap();
    let state = task.initial_state();
    let expected = plain_values(&task, &state).unwrap();
    assert_eq!(expected, [2.0, 3.0, 3.0]);
    let found = [
        evaluate(&mut Max::new(&task, Costs::Task), &state),
        evaluate(&mut Add::new(&task, Costs::Task), &state),
        evaluate(&mut Ff::new(&task, Costs::Task), &state),
    ];
    assert_eq!(found, expected.map(Some));
}

/// Sending claims the radio and gives it back, which is no change: only what the wanted picture
/// needs is relevant.
#[test]
fn a_resource_claimed_and_given_back_makes_nothing_relevant() {
    let domain = "(define (domain pictures) (:predicates (radio) (here ?p) (have ?p) (sent ?p))
      (:action take :parameters (?p) :precondition (here ?p) :effect (have ?p))
      (:action send :parameters (?p) :precondition (and (radio) (have ?p))
        :effect (and (not (radio)) (radio) (sent ?p)))
      (:action drop :parameters (?p) :precondition (have ?p) :effect (not (have ?p))))";
    let problem = "(define (problem p) (:domain pictures) (:objects a b c)
      (:init (radio) (here a) (here b) (here c)) (:goal (sent b)))";
    let task = ground(&parse_texts(domain, problem), &mut ()).unwrap();
    let names: Vec<String> = task
        .propositions()
        .iter()
        .map(|prop| {
            let problem = task.problem();
            let arguments = prop.atom.arguments.iter();
            let objects: Vec<&str> = arguments
                .map(|object| &*problem.objects[object.index()].name)
                .collect();
            let predicate = &problem.domain.predicates[prop.atom.predicate.index()].name;
            format!("{predicate} {}", objects.join(" "))
        })
        .collect();
    assert_eq!(names, ["have b", "sent b"]);
}
