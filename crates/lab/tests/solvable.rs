//! Every problem parses back, grounds, is not trivial, and has a plan.
//!
//! Small problems are solved by search. For large ones a plan is made by the argument that the
//! generator's documentation gives; either way it is replayed by the validator.

mod common;
#[path = "common/recipes.rs"]
mod recipes;

use std::sync::Arc;

use homing_lab::suite::{Draw, draw, is_trivial};
use homing_lab::{DomainName, Suite};
use homing_pddl::Problem;
use homing_planner::heuristic::Ff;
use homing_planner::search::{Limits, Outcome, gbfs};
use homing_planner::{Costs, Plan, ground};

fn search(problem: &Arc<Problem>) -> Plan {
    let task = ground(problem, &mut ()).unwrap();
    let limits = Limits {
        max_evaluations: Some(100_000),
        max_expansions: None,
    };
    let result = gbfs(&task, &mut Ff::new(&task, Costs::Unit), limits, &mut ());
    match result.outcome {
        Outcome::Solved(plan) => plan,
        other => panic!("{}: {other:?}", problem.name),
    }
}

/// Draws a problem, reads it back from its text, checks that it grounds.
fn problem_of(draw: &Draw) -> Arc<Problem> {
    let problem = draw.parameters.generate(draw.seed).unwrap();
    let domain = draw.parameters.domain();
    let text = problem.to_string();
    let again = common::read(domain.text(), &problem.name, text.clone().into_bytes());
    assert_eq!(again, problem);
    assert_eq!(again.to_string(), text);
    Arc::new(again)
}

/// The first seeds of a setting that do not give a trivial problem; none if all do.
fn sample(suite: Suite, domain: DomainName, seeds: usize) -> Vec<Draw> {
    let mut all = Vec::new();
    for parameters in suite.parameters(domain) {
        let draws = suite.seeds(domain).map(|seed| Draw { parameters, seed });
        let kept = draws.filter(|draw| !is_trivial(&parameters.generate(draw.seed).unwrap()));
        all.extend(kept.take(seeds));
    }
    all
}

#[test]
fn small_problems_are_solved_by_search() {
    for suite in [Suite::PaperTrain, Suite::Validation] {
        for domain in DomainName::ALL {
            let draws = sample(suite, domain, 1);
            assert!(!draws.is_empty());
            for draw in draws {
                let problem = problem_of(&draw);
                assert!(search(&problem).validate(&problem).is_ok());
            }
        }
    }
}

#[test]
fn large_problems_have_plans() {
    for suite in [Suite::PaperTest, Suite::Validation] {
        for domain in DomainName::ALL {
            for draw in sample(suite, domain, 1) {
                let problem = problem_of(&draw);
                assert!(!is_trivial(&problem));
                assert!(ground(&problem, &mut ()).is_ok(), "{}", problem.name);
                let plan = recipes::plan(domain, &problem);
                let verdict = plan.validate(&problem);
                assert!(verdict.is_ok(), "{}: {verdict:?}", problem.name);
            }
        }
    }
}

/// Minutes: `cargo test -p homing-lab --test solvable -- --ignored`
#[test]
#[ignore = "every problem of every suite: minutes"]
fn every_problem_of_every_suite_has_a_plan() {
    for suite in Suite::ALL {
        for domain in DomainName::ALL {
            let collection = draw(&suite.draws(domain), |_| ()).unwrap();
            let kept = collection.instances.len();
            for instance in &collection.instances {
                let problem = problem_of(&instance.draw);
                assert!(ground(&problem, &mut ()).is_ok(), "{}", problem.name);
                let plan = recipes::plan(domain, &problem);
                let verdict = plan.validate(&problem);
                assert!(verdict.is_ok(), "{}: {verdict:?}", problem.name);
            }
            eprintln!(
                "{suite} {domain}: {kept} kept, all with plans; {} dropped",
                collection.dropped.len()
            );
        }
    }
}
