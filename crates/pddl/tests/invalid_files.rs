//! Every file in `fixtures/invalid` gets the messages its snapshot shows.
//!
//! A file called `domain-…` is read as a domain, one called `problem-…` as a problem of
//! `_domain.pddl`, which is sound. A file called `warning-…` is either and must stay usable.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing_pddl::{
    Diagnostics, Domain, Problem, Severity, Source, check_domain, check_problem, parse,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/invalid")
}

fn read(name: &str) -> Arc<Source> {
    Source::new(
        format!("fixtures/invalid/{name}.pddl"),
        std::fs::read(folder().join(format!("{name}.pddl"))).unwrap(),
    )
}

/// The names of all files but `_domain.pddl`, without their ending.
fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".pddl").map(str::to_owned))
        .filter(|name| name != "_domain")
        .collect();
    names.sort();
    names
}

fn domain_of(source: &Arc<Source>) -> (Option<Domain>, Diagnostics) {
    let (tree, mut messages) = parse(source);
    let (domain, more) = check_domain(&tree);
    messages.append(more);
    (domain, messages)
}

fn problem_of(source: &Arc<Source>) -> (Option<Problem>, Diagnostics) {
    let (domain, messages) = domain_of(&read("_domain"));
    assert!(messages.messages().is_empty(), "{messages}");
    let (tree, mut messages) = parse(source);
    let (problem, more) = check_problem(&tree, &Arc::new(domain.unwrap()));
    messages.append(more);
    (problem, messages)
}

fn is_problem(name: &str, source: &Source) -> bool {
    name.starts_with("problem-")
        || (!name.starts_with("domain-") && source.text().contains(":goal"))
}

/// The messages of a file, and whether anything came of it.
fn messages(name: &str) -> (bool, Diagnostics) {
    let source = read(name);
    if is_problem(name, &source) {
        let (problem, messages) = problem_of(&source);
        (problem.is_some(), messages)
    } else {
        let (domain, messages) = domain_of(&source);
        (domain.is_some(), messages)
    }
}

#[test]
fn every_message_is_as_its_snapshot_shows() {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for name in names() {
            let (_, messages) = messages(&name);
            insta::assert_snapshot!(name.as_str(), messages.to_string());
        }
    });
}

#[test]
fn only_files_with_nothing_but_warnings_are_usable() {
    for name in names() {
        let (found, messages) = messages(&name);
        if name.starts_with("warning-") {
            assert!(found && messages.usable(), "{name}:\n{messages}");
            assert!(messages.count(Severity::Warning) > 0, "{name}");
        } else {
            assert!(!messages.usable(), "{name} is taken as sound:\n{messages}");
        }
        let unsupported = messages.worst() == Some(Severity::Unsupported);
        assert_eq!(
            unsupported,
            name.contains("-unsupported-"),
            "{name}:\n{messages}"
        );
    }
}

/// One slip of the pen is one message: nothing that follows from it is reported as well.
#[test]
fn one_mistake_gives_one_message() {
    let mut wrong = String::new();
    for name in names() {
        let (_, messages) = messages(&name);
        let count = messages.messages().len();
        let sound = match name.as_str() {
            "domain-many-mistakes" | "problem-many-mistakes" => count >= 12,
            // Both arguments are wrong.
            "problem-swapped-arguments" => count == 2,
            _ => count == 1,
        };
        if !sound {
            wrong.push_str(&format!("==== {name}\n{messages}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn there_are_enough_different_mistakes() {
    assert!(names().len() >= 100, "{}", names().len());
}

#[test]
fn every_snapshot_belongs_to_a_file() {
    let names = names();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = file.strip_suffix(".snap") {
            assert!(
                names.iter().any(|known| known == name),
                "{file} is left over"
            );
        }
    }
}
