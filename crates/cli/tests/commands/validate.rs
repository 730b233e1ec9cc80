//! `homing validate`: what VAL would say, and why.

use std::path::{Path, PathBuf};

use crate::runs::{Run, fixture, run};

fn written(folder: &Path, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join("plan");
    std::fs::write(&path, text).expect("a plan");
    path
}

fn validate(problem: &str, plan: impl AsRef<[u8]>) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    run!["validate", fixture(problem), written(folder.path(), plan)]
}

#[test]
fn a_valid_plan_is_said_to_be_one() {
    let run = validate("valid/lamp/p01.pddl", "(screw-in)\n(press)\n").ends_with(0);
    assert_eq!(run.stdout, "Plan valid\nValue: 2\n");
    assert_eq!(run.stderr, "");
}

#[test]
fn with_a_metric_the_value_is_the_cost() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan");
    let (domain, problem) = (
        fixture("valid/delivery/domain.pddl"),
        fixture("valid/delivery/p02.pddl"),
    );
    let solved = run!["solve", "--plan-file", plan, domain, problem].ends_with(0);
    let valid = run!["validate", domain, problem, plan].ends_with(0);
    assert_eq!(valid.line("Value: "), solved.line("Plan cost: "));
    assert_ne!(
        format!("{} step(s).", valid.line("Value: ")),
        solved.line("Plan length: ")
    );
}

#[test]
fn other_ways_to_write_a_plan() {
    for plan in [
        "; found by hand\n\n  ( SCREW-IN )  ; a comment\n(Press)",
        "0: (screw-in)\r\n1: (press)\r\n",
        "0.000: (screw-in) [1.000]\n1.001: (press) [1.000]\n",
    ] {
        validate("valid/lamp/p01.pddl", plan).ends_with(0);
    }
}

#[test]
fn an_invalid_plan_ends_with_1_and_the_reason() {
    for (problem, plan, reason) in [
        (
            "valid/lamp/p01.pddl",
            "(press)\n",
            "step 1: (press) needs (bulb), which does not hold",
        ),
        (
            "valid/lamp/p01.pddl",
            "(screw-in)\n(push)\n",
            "step 2: the domain has no action `push`",
        ),
        (
            "valid/lamp/p01.pddl",
            "(screw-in lamp)\n",
            "step 1: `screw-in` takes 0 arguments, but 1 are given",
        ),
        (
            "valid/lamp/p01.pddl",
            "(screw-in)\n",
            "the goal (on) does not hold at the end",
        ),
        (
            "valid/lamp/p01.pddl",
            "",
            "the goal (on) does not hold at the end",
        ),
        (
            "valid/gripper/p01.pddl",
            "(move nowhere nowhere)\n",
            "step 1: the problem has no object `nowhere`",
        ),
    ] {
        let run = validate(problem, plan).ends_with(1);
        assert_eq!(run.stdout, format!("Plan invalid\n{reason}\n"));
    }
}

#[test]
fn an_object_of_another_type_is_no_argument() {
    let run = validate("valid/gripper/p01.pddl", "(move attic red)").ends_with(1);
    assert_eq!(
        run.stdout,
        "Plan invalid\nstep 1: `red` does not fit the type of `?to`\n"
    );
}

#[test]
fn text_that_is_no_plan_ends_with_33() {
    for (plan, place, found) in [
        ("(screw-in)\npress\n", "line 2", "`press`"),
        ("(screw-in\n", "line 1", "`(screw-in`"),
        ("()\n", "line 1", "`()`"),
        ("(screw-in) (press)\n", "line 1", "`(screw-in) (press)`"),
    ] {
        let run = validate("valid/lamp/p01.pddl", plan)
            .ends_with(33)
            .says(place)
            .says(found)
            .says("expected `(action object ...)`");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn a_binary_file_is_no_plan() {
    validate("valid/lamp/p01.pddl", [0u8, 159, 146, 150, 255])
        .ends_with(33)
        .says("is not a text file");
}

#[test]
fn a_forgotten_plan_is_noticed() {
    run![
        "validate",
        fixture("valid/lamp/domain.pddl"),
        fixture("valid/lamp/p01.pddl")
    ]
    .ends_with(33)
    .says("p01.pddl holds a problem, where a plan is expected: the plan comes last");
}

#[test]
fn a_missing_plan_is_named() {
    run!["validate", fixture("valid/lamp/p01.pddl"), "no-such-plan"]
        .ends_with(33)
        .says("cannot read no-such-plan: there is no such file or folder");
}
