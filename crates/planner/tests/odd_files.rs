//! Files that other planners read and that look like slips: what homing makes of them.

// Modules of a test are private to it.
#![allow(unreachable_pub)]

mod common;

use common::{cost, parse_texts};
use homing_planner::search::{Limits, astar};
use homing_planner::{Costs, HeuristicKind, Plan, PlanError, ground};

/// Four actions of one name, two types that are one, and a predicate called `either`.
const DOMAIN: &str = "(define (domain twins) (:requirements :adl :action-costs)
  (:types a - b b - a c)
  (:predicates (either ?x - a) (define ?x - b) (on ?x - c))
  (:functions (total-cost) - number)
  (:action go :parameters (?x - a) :precondition (not (either ?x))
    :effect (and (either ?x) (increase (total-cost) 5)))
  (:action go :parameters (?x - a) :precondition (either ?x)
    :effect (and (define ?x) (increase (total-cost) 2)))
  (:action go :parameters (?x - a)
    :effect (and (either ?x) (increase (total-cost) 4)))
  (:action go :parameters (?y - c ?x - b) :precondition (define ?x)
    :effect (and (on ?y) (increase (total-cost) 1))))";

const PROBLEM: &str = "(define (problem p) (:domain twins) (:objects x - a y - b z - c) (:init)
  (:goal (and (define x) (define y) (on z))) (:metric minimize (total-cost)))";

#[test]
fn a_step_of_a_plan_is_whichever_action_of_its_name_fits() {
    let problem = parse_texts(DOMAIN, PROBLEM);
    let task = ground(&problem, &mut ()).unwrap();
    let mut blind = HeuristicKind::Blind.build(&task, Costs::Task);
    let limits = Limits::default();
    let found = astar(&task, blind.as_mut(), Costs::Task, limits, &mut ());
    assert_eq!(cost(&problem, &found), Some(13));

    let plan = Plan::parse("(go x)\n(go y)\n(go x)\n(go y)\n(go z y)\n").unwrap();
    assert_eq!(plan.validate(&problem).unwrap().cost, 13);
    let actions = plan.to_actions(&task).expect("every step is an action");
    assert_eq!(Plan::from_actions(&task, &actions), plan);
    let costs: Vec<u32> = actions.iter().map(|&action| task.cost(action)).collect();
    assert_eq!(costs, [4, 4, 2, 2, 1]);
}

#[test]
fn a_plan_that_fits_no_action_of_the_name_is_told_why() {
    let problem = parse_texts(DOMAIN, PROBLEM);
    let wrong = |text: &str| Plan::parse(text).unwrap().validate(&problem).unwrap_err();
    assert!(matches!(
        wrong("(go x)\n(go z x)\n"),
        PlanError::Precondition { step: 2, .. }
    ));
    assert!(matches!(
        wrong("(go x)\n(go x)\n(go z x)\n"),
        PlanError::Goal { .. }
    ));
    assert!(matches!(
        wrong("(go x)\n(come x)\n"),
        PlanError::UnknownAction { step: 2, .. }
    ));
    assert!(matches!(
        wrong("(go nobody)\n"),
        PlanError::UnknownObject { step: 1, .. }
    ));
}

#[test]
fn of_several_increases_the_last_one_counts() {
    let domain = "(define (domain twice) (:requirements :strips :action-costs)
      (:predicates (a) (b)) (:functions (total-cost) (toll) - number)
      (:action both :effect (and (increase (total-cost) 5) (a)
        (and (increase (total-cost) (toll)) (increase (total-cost) 2))))
      (:action toll :precondition (a)
        :effect (and (increase (total-cost) 1) (b) (increase (total-cost) (toll)))))";
    let problem = "(define (problem p) (:domain twice) (:init (= (toll) 7))
      (:goal (b)) (:metric minimize (total-cost)))";
    let problem = parse_texts(domain, problem);
    let task = ground(&problem, &mut ()).unwrap();
    let costs: Vec<u32> = task.actions().map(|action| task.cost(action)).collect();
    assert_eq!(costs, [2, 7], "Fast Downward's optimal cost is 9 too");
    let plan = Plan::parse("(both)\n(toll)\n").unwrap();
    assert_eq!(plan.validate(&problem).unwrap().cost, 9);
}
