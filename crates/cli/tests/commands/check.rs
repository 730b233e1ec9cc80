//! `homing check`: diagnostics, and what was understood.

use crate::runs::{fixture, run};

fn without_time(text: &str) -> String {
    let lines = text.lines().map(|line| match line.find("grounded in") {
        Some(_) => "  grounded in      ..",
        None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_domain_alone() {
    let run = run!["check", fixture("valid/harbour/domain.pddl")].ends_with(0);
    insta::assert_snapshot!("check-domain", run.stdout);
}

#[test]
fn a_problem_alone_and_a_pair() {
    let problem = fixture("valid/delivery/p02.pddl");
    let alone = run!["check", problem].ends_with(0);
    let pair = run!["check", fixture("valid/delivery/domain.pddl"), problem].ends_with(0);
    assert_eq!(without_time(&alone.stdout), without_time(&pair.stdout));
    insta::assert_snapshot!("check-pair", without_time(&pair.stdout));
}

#[test]
fn what_grounding_proves_is_a_finding_and_no_failure() {
    let run = run!["check", fixture("valid/unsolvable/p01.pddl")].ends_with(0);
    assert_eq!(
        run.line("  unsolvable: "),
        "the goal (visited isle) can never be reached"
    );
}

#[test]
fn mistakes_are_shown_on_standard_error() {
    let run = run!["check", fixture("invalid/domain-many-mistakes.pddl")]
        .ends_with(31)
        .says("domain-many-mistakes.pddl:");
    assert_eq!(run.stdout, "");
    assert!(run.stderr.matches("error: ").count() > 1, "{run:#?}");
}

#[test]
fn an_unsupported_construct_ends_with_34() {
    run![
        "check",
        fixture("invalid/domain-unsupported-durative-action.pddl")
    ]
    .ends_with(34)
    .says("not supported: ");
}

#[test]
fn warnings_are_shown_and_the_files_are_fine() {
    run![
        "check",
        fixture("invalid/warning-types-without-typing.pddl")
    ]
    .ends_with(0)
    .says("warning: ");
}

#[test]
fn a_problem_without_its_domain() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = folder.path().join("p.pddl");
    std::fs::copy(fixture("valid/lamp/p01.pddl"), &problem).expect("a problem");
    run!["check", problem]
        .ends_with(33)
        .says("no domain is given");
}
