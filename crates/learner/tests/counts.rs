//! Counts of colours: by difference and from scratch, whatever the names and the order of things.

mod common;

use std::collections::BTreeSet;

use common::{fixtures, parse_texts, root, task, text};
use homing_learner::{CountsFunction, FeatureCounter, GraphSpec};
use homing_nlm::SplitMix64;
use homing_planner::{ActionId, SuccessorGenerator, Task};

/// States along random walks, some of them far apart one after the other.
fn walks(task: &Task, random: &mut SplitMix64, states: usize) -> Vec<Vec<u32>> {
    let generator = SuccessorGenerator::new(task);
    let mut actions: Vec<ActionId> = Vec::new();
    let mut state = task.initial_state();
    let mut met = vec![state.clone()];
    while met.len() < states {
        generator.applicable(&state, &mut actions);
        if actions.is_empty() || random.below(12) == 0 {
            state = met[random.below(met.len())].clone();
        } else {
            task.apply(actions[random.below(actions.len())], &mut state);
        }
        met.push(state.clone());
    }
    met
}

/// A function with random weights for most of the colours of these states, heads apart.
fn random_function(
    task: &Task,
    spec: GraphSpec,
    states: &[Vec<u32>],
    random: &mut SplitMix64,
) -> CountsFunction {
    let mut counter = FeatureCounter::new(task, &spec);
    let colours: BTreeSet<u64> = states
        .iter()
        .flat_map(|state| counter.count(state))
        .map(|(colour, _)| colour)
        .collect();
    let mut weights = Vec::new();
    for colour in colours {
        if random.below(8) > 0 {
            let weight = |random: &mut SplitMix64| random.below(40_000) as i32 - 20_000;
            weights.push((colour, [weight(random), weight(random)]));
        }
    }
    CountsFunction::new(spec, 2, weights)
}

#[test]
fn scores_by_difference_are_those_from_scratch_in_every_fixture() {
    let mut random = SplitMix64::new(11);
    let (mut compared, mut goals) = (0, 0);
    for (name, task) in fixtures() {
        let states = walks(&task, &mut random, 60);
        let specs = [(0, false), (1, true), (2, false), (2, true), (3, true)]
            .map(|(rounds, deep)| GraphSpec::of_tasks(&[&task], rounds, deep));
        let quiet =
            [2, 3].map(|rounds| GraphSpec::of_tasks(&[&task], rounds, true).quiet(&[&task]));
        for spec in specs.into_iter().chain(quiet) {
            let rounds = spec.rounds;
            let function = random_function(&task, spec, &states, &mut random);
            let mut difference = function.scorer(&task);
            let mut scratch = function.scratch_scorer(&task);
            let generator = SuccessorGenerator::new(&task);
            let mut actions = Vec::new();
            for state in &states {
                difference.enter(state);
                scratch.enter(state);
                assert_eq!(
                    difference.scores(),
                    scratch.scores(),
                    "{name}, {rounds} rounds"
                );
                generator.applicable(state, &mut actions);
                for &action in &actions {
                    let child = scratch.child(action);
                    assert_eq!(difference.child(action), child, "{name}, {rounds} rounds");
                    compared += 1;
                    goals += u32::from(child.is_goal());
                }
                // Nothing of the children stays.
                assert_eq!(difference.scores(), scratch.scores(), "{name}");
            }
            assert!(difference.work() > 0);
        }
    }
    assert!(compared > 5000 && goals > 50, "{compared} {goals}");
}

#[test]
fn a_scorer_of_one_head_repeats_it() {
    for (_, task) in fixtures() {
        let spec = GraphSpec::of_tasks(&[&task], 2, false);
        let mut counter = FeatureCounter::new(&task, &spec);
        let initial = task.initial_state();
        let counts = counter.count(&initial);
        let weights = counts.iter().map(|&(colour, _)| (colour, [3, 0])).collect();
        let function = CountsFunction::new(spec, 1, weights);
        let mut scorer = function.scorer(&task);
        scorer.enter(&initial);
        let sum: i64 = counts.iter().map(|&(_, count)| i64::from(count) * 3).sum();
        assert_eq!(scorer.scores(), [sum; 2]);
        assert_eq!(scorer.heads(), 1);
    }
}

/// Names of objects and the order in which a file lists things are not what a model learns from.
#[test]
fn names_and_order_do_not_matter() {
    let domain = text(&root().join("fixtures/valid/blocks/domain.pddl"));
    let mixed = domain.replacen("(clear ?x)\n", "(on ?x ?y)\n", 1).replacen(
        "(on ?x ?y))\n",
        "(clear ?x))\n",
        1,
    );
    assert_ne!(domain, mixed);
    let problem = "(define (problem p) (:domain blocks) (:objects a b c d)
        (:init (arm-empty) (on-table a) (on b a) (clear b) (on-table c) (clear c) (on-table d)
          (clear d))
        (:goal (and (on a b) (on d c))))";
    let renamed = "(define (problem p) (:domain blocks) (:objects z y b x)
        (:init (on-table x) (clear x) (on b z) (clear b) (on-table z) (on-table y) (arm-empty)
          (clear y))
        (:goal (and (on y x) (on z b))))";
    let counts = |domain: &str, problem: &str| {
        let task = task(&parse_texts(domain, problem)).expect("it has a plan");
        let spec = GraphSpec::of_tasks(&[&task], 2, true);
        FeatureCounter::new(&task, &spec).count(&task.initial_state())
    };
    let expected = counts(&domain, problem);
    assert!(expected.len() > 10);
    assert_eq!(counts(&mixed, problem), expected);
    assert_eq!(counts(&domain, renamed), expected);
    let other = problem
        .replace("(on d c)", "(on c d)")
        .replace("(on a b)", "(on a c)");
    assert_ne!(counts(&domain, &other), expected);
}
