//! `homing solve --anytime` and `--improve`: numbered plans, each better than the last.

use std::path::Path;

use serde_json::Value;

use crate::runs::{Run, endless_problem, entries, fixture, run};

/// The cost that the comment of a plan file tells.
fn cost(path: &Path) -> u64 {
    let text = std::fs::read_to_string(path).expect("a plan");
    let comment = text.lines().last().expect("a comment");
    let cost = comment.strip_prefix("; cost = ").expect("the cost");
    let cost = cost.split(' ').next().expect("a number");
    cost.parse().expect("a number")
}

fn record(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).expect("one object")
}

#[test]
fn better_plans_are_numbered_until_the_best() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan");
    // Of an earlier run that found more.
    for number in 1..=40 {
        std::fs::write(folder.path().join(format!("plan.{number}")), "old").expect("a file");
    }
    let problem = fixture("valid/delivery/p02.pddl");
    let best = record(&run!["solve", "--search", "dijkstra", "--json", problem].ends_with(0));
    let run = run!["solve", "--anytime", "--json", "--plan-file", plan, problem].ends_with(0);
    let record = record(&run);
    assert_eq!(record["outcome"], "solved");
    assert_eq!(record["optimal"], true);
    assert_eq!(record["plan_cost"], best["plan_cost"]);
    let plans = record["plans"].as_array().expect("plans");
    let names: Vec<String> = (1..=plans.len()).map(|n| format!("plan.{n}")).collect();
    assert_eq!(entries(folder.path()), names, "and none of the old ones");
    let costs: Vec<u64> = names.iter().map(|n| cost(&folder.path().join(n))).collect();
    assert!(costs.is_sorted_by(|a, b| a > b), "{costs:?}");
    for ((plan, cost), name) in plans.iter().zip(&costs).zip(&names) {
        assert_eq!(plan["cost"], *cost);
        assert!(plan["length"].is_u64() && plan["seconds"].is_f64());
        run!["validate", problem, folder.path().join(name)].ends_with(0);
    }
    assert_eq!(plans.last().expect("a plan")["cost"], record["plan_cost"]);
}

#[test]
fn a_time_limit_leaves_the_best_plan_and_ends_with_0() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = endless_problem(folder.path());
    let plan = folder.path().join("plan");
    let run = run![
        "solve",
        "--anytime",
        "--time-limit",
        "4",
        "--plan-file",
        plan,
        problem
    ]
    .ends_with(0);
    assert!(run.line("Plan 1: ").starts_with("cost "), "{run:#?}");
    run.line("Solution found!");
    let shown: u64 = run.line("Plan cost: ").parse().expect("a number");
    let plans = entries(folder.path());
    let plans: Vec<&String> = plans.iter().filter(|n| n.starts_with("plan.")).collect();
    let costs = plans.iter().map(|name| cost(&folder.path().join(name)));
    assert_eq!(costs.min(), Some(shown), "{plans:?}");
}

#[test]
fn without_a_plan_the_limit_tells() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan");
    let problem = fixture("valid/blocks/p03.pddl");
    let run = run![
        "solve",
        "--anytime",
        "--time-limit",
        "0",
        "--plan-file",
        plan,
        problem
    ];
    run.ends_with(23).line("No plan found: ");
    let problem = fixture("valid/unsolvable/p02.pddl");
    run!["solve", "--anytime", "--plan-file", plan, problem].ends_with(11);
    assert!(entries(folder.path()).is_empty());
}

#[test]
fn plans_are_shown_where_no_file_is_named() {
    let problem = fixture("valid/lamp/p01.pddl");
    let run = run!["solve", "--anytime", problem].ends_with(0);
    assert!(run.stdout.contains("(screw-in)\n(press)\n"), "{run:#?}");
    run.line("Plan 1: ");
    run.line("Plan cost: ");
}

#[test]
fn a_folder_that_is_not_there_is_said_first() {
    let problem = fixture("valid/lamp/p01.pddl");
    run!["solve", "--anytime", "--plan-file", "no/such/plan", problem]
        .ends_with(33)
        .says("there is no folder");
}

#[test]
fn an_improved_plan_costs_no_more_and_counts_stay() {
    for problem in ["valid/delivery/p02.pddl", "valid/blocks/p03.pddl"] {
        let problem = fixture(problem);
        let [with, without] = ["yes", "no"].map(|answer| {
            let run = run![
                "solve",
                "--json",
                "--search",
                "gbfs",
                "--improve",
                answer,
                problem
            ];
            record(&run.ends_with(0))
        });
        assert!(with["plan_cost"].as_u64() <= without["plan_cost"].as_u64());
        for count in ["evaluations", "expansions", "generated"] {
            assert_eq!(with[count], without[count], "{count}");
        }
        assert_eq!(with["plans"], Value::Null);
        assert_eq!(with["optimal"], Value::Null);
    }
}
