//! Problems that are small to write and too large to ground, to read or to search.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A domain and a problem in files of their own.
pub(crate) struct Files {
    pub(crate) domain: PathBuf,
    pub(crate) problem: PathBuf,
    /// Removed with this.
    pub(crate) folder: tempfile::TempDir,
}

fn files(domain: &str, problem: &str) -> Files {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path
    };
    Files {
        domain: write("domain.pddl", domain),
        problem: write("problem.pddl", problem),
        folder,
    }
}

fn problem(objects: &[String], init: &str, goal: &str) -> String {
    format!(
        "(define (problem p) (:domain d) (:objects {})\n(:init {init})\n(:goal {goal}))",
        objects.join(" ")
    )
}

fn objects(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("o{index}")).collect()
}

/// One action with six places, and sixty objects for each: 4.7e10 ground actions.
pub(crate) fn wide_action() -> Files {
    let domain = "(define (domain d) (:predicates (p ?a ?b ?c ?d ?e ?f) (o ?a))
        (:action spin :parameters (?a ?b ?c ?d ?e ?f)
         :precondition (and (o ?a) (o ?b) (o ?c) (o ?d) (o ?e) (o ?f))
         :effect (p ?a ?b ?c ?d ?e ?f)))";
    let objects = objects(60);
    let init: String = objects.iter().map(|name| format!("(o {name})")).collect();
    files(domain, &problem(&objects, &init, "(p o1 o1 o1 o1 o1 o1)"))
}

/// Every pair of twenty thousand objects can be linked, and links add up.
pub(crate) fn many_objects() -> Files {
    let domain = "(define (domain d) (:predicates (linked ?a ?b))
        (:action link :parameters (?a ?b) :precondition (linked ?a ?a) :effect (linked ?b ?a))
        (:action pass :parameters (?a ?b) :precondition (linked ?a ?b) :effect (linked ?a ?a)))";
    let objects = objects(20_000);
    let goal = "(linked o19999 o19998)";
    files(domain, &problem(&objects, "(linked o0 o0)", goal))
}

/// Fourteen objects, each beside every other, out of thirteen: a join of 13! dead ends.
pub(crate) fn deep_join() -> Files {
    let places = 14;
    let parameters: Vec<String> = (0..places).map(|index| format!("?x{index}")).collect();
    let mut conditions = String::new();
    for left in 0..places {
        for right in 0..left {
            let _ = write!(conditions, "(beside ?x{left} ?x{right}) ");
        }
    }
    let domain = format!(
        "(define (domain d) (:predicates (beside ?a ?b) (done))
        (:action sit :parameters ({}) :precondition (and {conditions}) :effect (done)))",
        parameters.join(" ")
    );
    let objects = objects(places - 1);
    let mut init = String::new();
    for left in &objects {
        for right in objects.iter().filter(|&right| right != left) {
            let _ = write!(init, "(beside {left} {right}) ");
        }
    }
    files(&domain, &problem(&objects, &init, "(done)"))
}

/// A problem's file of many megabytes.
pub(crate) fn huge_file() -> Files {
    let domain = "(define (domain d) (:predicates (beside ?a ?b) (done))
        (:action end :parameters (?a) :precondition (beside ?a ?a) :effect (done)))";
    let objects = objects(1000);
    let mut init = String::new();
    for left in &objects {
        for right in &objects {
            let _ = writeln!(init, "(beside {left} {right})");
        }
    }
    files(domain, &problem(&objects, &init, "(done)"))
}

/// A long row of rooms, all of which are to be seen: a landmark each, and orders among all.
pub(crate) fn many_landmarks() -> Files {
    let domain = "(define (domain d) (:predicates (at ?a) (seen ?a) (next ?a ?b))
        (:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b))
         :effect (and (at ?b) (not (at ?a))))
        (:action back :parameters (?a ?b) :precondition (and (at ?b) (next ?a ?b))
         :effect (and (at ?a) (not (at ?b))))
        (:action look :parameters (?a) :precondition (at ?a) :effect (seen ?a)))";
    let objects = objects(12_000);
    let mut init = "(at o6000)".to_owned();
    for pair in objects.windows(2) {
        let _ = write!(init, "(next {} {}) ", pair[0], pair[1]);
    }
    let goal: String = objects
        .iter()
        .map(|name| format!("(seen {name}) "))
        .collect();
    files(domain, &problem(&objects, &init, &format!("(and {goal})")))
}

/// Blocks on a table, to be piled up: a network that looks at three of them at a time looks at
/// millions of triples in each state.
pub(crate) fn many_blocks(domain: &Path) -> Files {
    let text = std::fs::read_to_string(domain).expect("a domain");
    let blocks: Vec<String> = (0..180).map(|block| format!("b{block}")).collect();
    let mut init = "(arm-empty) ".to_owned();
    for block in &blocks {
        let _ = write!(init, "(on-table {block}) (clear {block}) ");
    }
    let mut goal = String::new();
    for pair in blocks.windows(2) {
        let _ = write!(goal, "(on {} {}) ", pair[0], pair[1]);
    }
    let problem = problem(&blocks, &init, &format!("(and {goal})"));
    let name = text
        .split_once("(domain ")
        .and_then(|(_, rest)| rest.split_once(')'))
        .expect("a name");
    files(
        &text,
        &problem.replace("(:domain d)", &format!("(:domain {})", name.0)),
    )
}
