//! Help, version, and mistakes on the command line.

use crate::runs::{fixture, run};

#[test]
fn help_texts() {
    for (name, arguments) in [
        ("help", &["--help"][..]),
        ("help-solve", &["solve", "--help"]),
        ("help-solve-short", &["solve", "-h"]),
        ("help-validate", &["validate", "--help"]),
        ("help-check", &["check", "--help"]),
        ("help-train", &["train", "--help"]),
        ("help-report", &["report", "--help"]),
        ("help-model-show", &["model", "show", "--help"]),
    ] {
        let run = crate::runs::run_with(arguments).ends_with(0);
        assert_eq!(run.stderr, "");
        insta::assert_snapshot!(name, run.stdout);
    }
}

#[test]
fn version() {
    let run = run!["--version"].ends_with(0);
    assert_eq!(
        run.stdout,
        format!("homing {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn no_arguments_show_help_on_standard_error() {
    let run = crate::runs::run_with::<&str>([])
        .ends_with(33)
        .says("Usage: homing")
        .says("solve");
    assert_eq!(run.stdout, "");
}

#[test]
fn wrong_arguments_end_with_33_and_a_hint() {
    let problem = fixture("valid/lamp/p01.pddl");
    let problem = problem.to_str().expect("UTF-8");
    for (arguments, hint) in [
        (&["frobnicate"][..], "unrecognized subcommand 'frobnicate'"),
        (&["solv", problem], "a similar subcommand exists: 'solve'"),
        (&["solve"], "Usage: homing solve [OPTIONS] [DOMAIN] PROBLEM"),
        (
            &["solve", "a", "b", "c"],
            "Usage: homing solve [OPTIONS] [DOMAIN] PROBLEM",
        ),
        (
            &["solve", "--heuristic", "lmcut", problem],
            "[possible values: blind, max, add, ff]",
        ),
        (
            &["solve", "--search", "bfs", problem],
            "[possible values: gbfs, gbfls, astar, wastar, dijkstra]",
        ),
        (
            &["solve", "--max-evaluations", "many", problem],
            "expected a whole number",
        ),
        (
            &["solve", "--max-expansions", "-5", problem],
            "expected a whole number",
        ),
        (
            &["solve", "--time-limit", "-1", problem],
            "expected a number of seconds",
        ),
        (
            &["solve", "--memory-limit", "lots", problem],
            "expected a size such as 500M or 4G",
        ),
        (
            &["solve", "--weight", "-2", problem],
            "a weight is a number that is not negative",
        ),
        (&["solve", "--plan", "x", problem], "'--plan-file'"),
        (
            &["validate", problem],
            "Usage: homing validate [DOMAIN] PROBLEM PLAN",
        ),
        (&["check"], "Usage: homing check DOMAIN [PROBLEM]"),
    ] {
        let run = crate::runs::run_with(arguments).ends_with(33).says(hint);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}
