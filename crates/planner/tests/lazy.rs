//! The parts of the lazy search beside plain exploration: steps that are left out because others are
//! like them, a worker that looks for what is new, and one that reaches one goal after another.

mod common;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use common::random::Random;
use common::{PlainSpace, parse_texts, random_problem, valid_fixtures};
use homing_pddl::Problem;
use homing_planner::search::{Deferred, DeferredConfig, Finder, Limits, Outcome};
use homing_planner::{
    ActionId, Costs, Heuristic, HeuristicKind, Interchangeable, SuccessorGenerator, Task, ground,
};

/// Random problems with more states than this are left out.
const LARGEST: usize = 400;

/// The length of a shortest plan over the steps that `list` gives, if there is a plan; an error with
/// more states than `most`.
fn shortest(
    task: &Task,
    most: usize,
    mut list: impl FnMut(&[u32], &mut Vec<ActionId>),
) -> Result<Option<usize>, ()> {
    let start = task.initial_state();
    let mut depths = HashMap::from([(start.clone(), 0)]);
    let mut open = VecDeque::from([start]);
    let mut actions = Vec::new();
    while let Some(state) = open.pop_front() {
        if task.is_goal(&state) {
            return Ok(Some(depths[&state]));
        }
        let depth = depths[&state] + 1;
        list(&state, &mut actions);
        for &action in &actions {
            let mut next = state.clone();
            task.apply(action, &mut next);
            if !depths.contains_key(&next) {
                depths.insert(next.clone(), depth);
                open.push_back(next);
            }
        }
        if depths.len() > most {
            return Err(());
        }
    }
    Ok(None)
}

/// Compares the shortest plans with and without steps that are like others: whether some were left
/// out, and whether there is a plan. Nothing if no objects are alike, or with too many states.
fn same_shortest(task: &Task, most: usize) -> Option<(bool, bool)> {
    let generator = SuccessorGenerator::new(task);
    let mut alike = Interchangeable::of(task, &mut ()).expect("nothing says stop")?;
    let all = shortest(task, most, |state, actions| {
        generator.applicable(state, actions);
    })
    .ok()?;
    let mut left_out = 0;
    let first = shortest(task, most, |state, actions| {
        generator.applicable(state, actions);
        let listed = actions.len();
        alike.applicable(task, &generator, state, actions);
        left_out += listed - actions.len();
    });
    assert_eq!(first, Ok(all), "{}", task.problem().name);
    Some((left_out > 0, all.is_some()))
}

const SNACKS: &str = "(define (domain snacks)
  (:requirements :strips :typing :negative-preconditions)
  (:types bread filling snack child)
  (:predicates (has-bread ?b - bread) (has-filling ?f - filling) (sweet ?f - filling)
               (free ?s - snack) (made ?s - snack) (sweet-snack ?s - snack)
               (likes-sweet ?c - child) (served ?c - child))
  (:action make :parameters (?s - snack ?b - bread ?f - filling)
    :precondition (and (free ?s) (has-bread ?b) (has-filling ?f) (not (sweet ?f)))
    :effect (and (made ?s) (not (free ?s)) (not (has-bread ?b)) (not (has-filling ?f))))
  (:action make-sweet :parameters (?s - snack ?b - bread ?f - filling)
    :precondition (and (free ?s) (has-bread ?b) (has-filling ?f) (sweet ?f))
    :effect (and (sweet-snack ?s) (not (free ?s)) (not (has-bread ?b)) (not (has-filling ?f))))
  (:action serve :parameters (?c - child ?s - snack)
    :precondition (and (made ?s) (not (likes-sweet ?c)))
    :effect (and (served ?c) (not (made ?s))))
  (:action serve-sweet :parameters (?c - child ?s - snack)
    :precondition (and (sweet-snack ?s) (likes-sweet ?c))
    :effect (and (served ?c) (not (sweet-snack ?s)))))";

/// So many children, the last of whom likes it sweet, and as much of everything.
fn snacks(children: usize) -> Task {
    let names = |prefix: &str| {
        let names = (1..=children).map(|index| format!("{prefix}{index}"));
        names.collect::<Vec<_>>()
    };
    let each = |names: &[String], atom: &str| {
        let atoms = names.iter().map(|name| format!("({atom} {name})"));
        atoms.collect::<String>()
    };
    let [bread, filling, snack, child] = ["b", "f", "s", "c"].map(names);
    let problem = format!(
        "(define (problem snacks) (:domain snacks)
           (:objects {} - bread {} - filling {} - snack {} - child)
           (:init {} {} {} (sweet f{children}) (likes-sweet c{children}))
           (:goal (and {})))",
        bread.join(" "),
        filling.join(" "),
        snack.join(" "),
        child.join(" "),
        each(&bread, "has-bread"),
        each(&filling, "has-filling"),
        each(&snack, "free"),
        each(&child, "served"),
    );
    ground(&parse_texts(SNACKS, &problem), &mut ()).expect("it can be solved")
}

#[test]
fn objects_that_nothing_tells_apart_are_found() {
    let task = snacks(4);
    let alike = Interchangeable::of(&task, &mut ()).expect("nothing says stop");
    let mut alike = alike.expect("bread is bread");
    let names = |class: &Vec<_>| {
        let object = |id: &homing_pddl::model::ObjectId| &task.problem().objects[id.index()].name;
        class
            .iter()
            .map(object)
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut classes: Vec<String> = alike.classes().iter().map(names).collect();
    classes.sort();
    assert_eq!(
        classes,
        ["b1 b2 b3 b4", "c1 c2 c3", "f1 f2 f3", "s1 s2 s3 s4"]
    );
    // At the start there are two ways to make a snack, not 16 + 48.
    let generator = SuccessorGenerator::new(&task);
    let mut actions = Vec::new();
    alike.applicable(&task, &generator, &task.initial_state(), &mut actions);
    let actions: Vec<String> = actions
        .iter()
        .map(|&a| task.action_name(a).to_string())
        .collect();
    assert_eq!(actions, ["(make s1 b1 f1)", "(make-sweet s1 b1 f4)"]);
    assert_eq!(same_shortest(&snacks(3), 100_000), Some((true, true)));
}

/// A random problem with two groups of things of which nothing tells the members apart at first, and
/// places that differ.
fn random_groups(seed: u64) -> Arc<Problem> {
    let mut random = Random(seed);
    let atoms = ["(p ?x)", "(q ?x)", "(r ?x ?y)", "(s ?y)", "(z)"];
    let mut domain = String::from(
        "(define (domain groups) (:requirements :strips :typing :negative-preconditions)
         (:types thing place) (:predicates (p ?x - thing) (q ?x - thing) (r ?x - thing ?y - place)
         (s ?y - place) (z))",
    );
    for action in 0..3 + random.below(3) {
        let mut condition = String::new();
        let mut effect = String::new();
        for text in [&mut condition, &mut effect] {
            for _ in 0..1 + random.below(3) {
                let atom = atoms[random.below(atoms.len())];
                *text += &match random.chance(35) {
                    true => format!(" (not {atom})"),
                    false => format!(" {atom}"),
                };
            }
        }
        domain += &format!(
            "(:action a{action} :parameters (?x - thing ?y - place)
               :precondition (and{condition}) :effect (and{effect}))"
        );
    }
    domain += ")";
    let mut init = String::new();
    let mut goal = String::new();
    for group in ["a", "b"] {
        for atom in ["(p ?x)", "(q ?x)", "(r ?x u)", "(r ?x v)"] {
            let [holds, wanted] = [random.chance(50), random.chance(25)];
            for member in 1..=3 {
                let atom = atom.replace("?x", &format!("{group}{member}"));
                init += if holds { &atom } else { "" };
                goal += if wanted { &atom } else { "" };
            }
        }
    }
    init += if random.chance(50) { "(s u)" } else { "(z)" };
    let problem = format!(
        "(define (problem groups-{seed}) (:domain groups)
           (:objects a1 a2 a3 b1 b2 b3 - thing u v - place)
           (:init {init}) (:goal (and {goal})))"
    );
    parse_texts(&domain, &problem)
}

#[test]
fn leaving_out_like_steps_keeps_a_shortest_plan() {
    let (mut tried, mut solved, mut shorter) = (0, 0, 0);
    for seed in 0..3_000 {
        let problem = random_groups(seed);
        let Ok(task) = ground(&problem, &mut ()) else {
            continue;
        };
        if let Some((is_shorter, is_solvable)) = same_shortest(&task, 3_000) {
            tried += 1;
            shorter += usize::from(is_shorter);
            solved += usize::from(is_shorter && is_solvable);
        }
    }
    assert!(
        shorter > 200 && solved > 100,
        "{shorter} of {tried} have like steps, {solved} of them a plan"
    );
}

/// Solves with all workers that need no model, from the first step on.
fn solve(task: &Task, config: DeferredConfig) -> (Outcome, Option<Finder>) {
    let heuristics: Vec<Box<dyn Heuristic + '_>> = vec![HeuristicKind::Ff.build(task, Costs::Unit)];
    let mut search = Deferred::new(task, heuristics, config);
    search.add_novelty();
    search.add_serial();
    let outcome = search.run(Limits::default(), None, &mut ());
    (outcome, search.found_by())
}

#[test]
fn with_the_novel_worker_a_search_is_still_complete() {
    let (mut novel, mut solved) = (0, 0);
    for seed in 0..1500 {
        let problem = random_problem(seed);
        let Some(space) = PlainSpace::explore(&problem, LARGEST) else {
            continue;
        };
        let Ok(task) = ground(&problem, &mut ()) else {
            continue;
        };
        for interchange in [false, true] {
            let config = DeferredConfig {
                interchange,
                novelty: 0.7,
                serial: 0.0,
                ..DeferredConfig::default()
            };
            let (outcome, found_by) = solve(&task, config);
            match outcome {
                Outcome::Solved(plan) => {
                    plan.validate(&problem).expect("plans hold");
                    solved += 1;
                    novel += usize::from(found_by == Some(Finder::Novel));
                }
                Outcome::Unsolvable => assert_eq!(space.perfect()[0], None, "seed {seed}"),
                Outcome::LimitReached(limit) => panic!("there was no limit: {limit:?}"),
            }
        }
    }
    assert!(
        novel > 50,
        "{novel} of {solved} plans are the novel worker's"
    );
}

#[test]
fn the_novel_worker_alone_solves_what_it_can_and_ends() {
    let (mut novel, mut all) = (0, 0);
    for (name, problem) in valid_fixtures() {
        let Ok(task) = ground(&problem, &mut ()) else {
            continue;
        };
        let config = DeferredConfig {
            novelty: 0.999_999,
            serial: 0.0,
            ..DeferredConfig::default()
        };
        let (outcome, found_by) = solve(&task, config);
        let Outcome::Solved(plan) = outcome else {
            assert_eq!(outcome, Outcome::Unsolvable, "{name}");
            continue;
        };
        plan.validate(&problem).expect("plans hold");
        all += 1;
        novel += usize::from(found_by == Some(Finder::Novel));
    }
    assert!(2 * novel > all, "{novel} of {all} fixtures");
}

#[test]
fn with_the_serial_worker_a_search_is_still_complete() {
    let (mut serial, mut solved) = (0, 0);
    for seed in 0..1500 {
        let problem = random_problem(seed);
        let Some(space) = PlainSpace::explore(&problem, LARGEST) else {
            continue;
        };
        let Ok(task) = ground(&problem, &mut ()) else {
            continue;
        };
        let config = DeferredConfig {
            novelty: 0.0,
            serial: 0.95,
            ..DeferredConfig::default()
        };
        let (outcome, found_by) = solve(&task, config);
        match outcome {
            Outcome::Solved(plan) => {
                plan.validate(&problem).expect("plans hold");
                solved += 1;
                serial += usize::from(found_by == Some(Finder::Serial));
            }
            Outcome::Unsolvable => assert_eq!(space.perfect()[0], None, "seed {seed}"),
            Outcome::LimitReached(limit) => panic!("there was no limit: {limit:?}"),
        }
    }
    assert!(
        serial > 20,
        "{serial} of {solved} plans are the serial worker's"
    );
}

#[test]
fn the_serial_worker_alone_solves_most_fixtures_that_it_is_for() {
    let (mut serial, mut all) = (0, 0);
    for (name, problem) in valid_fixtures() {
        let Ok(task) = ground(&problem, &mut ()) else {
            continue;
        };
        let config = DeferredConfig {
            novelty: 0.0,
            serial: 0.999_999,
            ..DeferredConfig::default()
        };
        let (outcome, found_by) = solve(&task, config);
        let Outcome::Solved(plan) = outcome else {
            assert_eq!(outcome, Outcome::Unsolvable, "{name}");
            continue;
        };
        plan.validate(&problem).expect("plans hold");
        let is_for = task.is_strips() && task.goal().len() > 1 && !plan.steps.is_empty();
        all += usize::from(is_for);
        serial += usize::from(found_by == Some(Finder::Serial));
    }
    assert!(
        4 * serial > 3 * all && all > 5,
        "{serial} of {all} fixtures"
    );
}
