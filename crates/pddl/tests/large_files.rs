//! Large and deep files are read in linear time and without recursion. Times are shown, not
//! asserted: `cargo test -p homing-pddl --test large_files -- --nocapture`.

use std::fmt::Write as _;
use std::time::Instant;

use homing_pddl::{Diagnostics, Problem, Source, read_problem};

const DOMAIN: &str = "(define (domain roads)
  (:requirements :strips :typing :negative-preconditions)
  (:types place)
  (:predicates (road ?from ?to - place) (at ?p - place))
  (:action drive
    :parameters (?from ?to - place)
    :precondition (and (at ?from) (road ?from ?to))
    :effect (and (at ?to) (not (at ?from)))))";

const PROBLEM: &str = "(define (problem p) (:domain roads) (:objects a b - place)
  (:init (at a)) (:goal (at b)))";

fn read(domain: &str, problem: &str) -> (Option<Problem>, Diagnostics) {
    let started = Instant::now();
    let read = read_problem(
        &Source::new("domain.pddl", domain.as_bytes().to_vec()),
        &Source::new("problem.pddl", problem.as_bytes().to_vec()),
    );
    // Showing the messages is part of the work.
    let shown = read.1.to_string().len();
    eprintln!(
        "{} bytes read in {:?}, {shown} bytes of messages",
        domain.len() + problem.len(),
        started.elapsed()
    );
    read
}

/// A problem with `places` places and `facts` facts, one of them about each of `unknown` places
/// that do not exist.
fn roads(places: usize, facts: usize, unknown: usize, separator: &str) -> String {
    let mut text = String::from("(define (problem many) (:domain roads) (:objects");
    for place in 0..places {
        write!(text, " place-{place}").unwrap();
    }
    text.push_str(" - place) (:init (at place-0)");
    for fact in 1..facts {
        let from = fact % places;
        let to = (from + 1 + fact / places) % places;
        write!(text, "{separator}(road place-{from} place-{to})").unwrap();
    }
    for at in 0..unknown {
        write!(text, "{separator}(road plaza-{at} place-0)").unwrap();
    }
    text.push_str(") (:goal (at place-1)))");
    text
}

#[test]
fn three_hundred_thousand_facts() {
    for separator in ["\n", " "] {
        let (problem, messages) = read(DOMAIN, &roads(1_000, 300_000, 0, separator));
        let problem = problem.unwrap_or_else(|| panic!("{messages}"));
        assert_eq!(problem.init.len(), 300_000);
        assert_eq!(problem.objects.len(), 1_000);
    }
}

#[test]
fn a_hundred_thousand_mistakes_are_counted() {
    for separator in ["\n", " "] {
        let (problem, messages) = read(DOMAIN, &roads(10_000, 10_000, 100_000, separator));
        assert!(problem.is_none());
        assert_eq!(messages.messages().len(), 100);
        assert!(messages.to_string().ends_with("\n... and 99900 more\n"));
        assert!(messages.to_string().contains("did you mean `place-"));
    }
}

#[test]
fn many_types_declared_twice() {
    let mut types = String::new();
    for t in 0..20_000 {
        write!(types, " t{t} - v{t} t{t} - u{t}").unwrap();
    }
    let domain = DOMAIN.replace("(:types place", &format!("(:types place {types}"));
    let (problem, messages) = read(&domain, PROBLEM);
    assert!(problem.is_some());
    assert_eq!(messages.messages().len(), 100);
}

/// The message about depth; there must be no other one like it.
fn depth_message(domain: &str, problem: &str) -> Diagnostics {
    let (read, messages) = read(domain, problem);
    assert!(read.is_none());
    let about_depth = messages
        .messages()
        .iter()
        .filter(|message| message.message.contains("nested more than 1000 deep"))
        .count();
    assert_eq!(about_depth, 1, "{messages}");
    messages
}

fn nested(depth: usize, head: &str, inner: &str) -> String {
    format!(
        "{}{inner}{}",
        format!("({head} ").repeat(depth),
        ")".repeat(depth)
    )
}

#[test]
fn nesting_too_deep_is_a_message() {
    for depth in [1_001, 100_000] {
        for head in ["", "and", "not", "at"] {
            let goal = nested(depth, head, "(at b)");
            depth_message(DOMAIN, &PROBLEM.replace("(at b)", &goal));
            depth_message(DOMAIN, &PROBLEM.replace("(at a)", &goal));
            let condition = nested(depth, head, "(at ?to)");
            depth_message(
                &DOMAIN.replace("(at ?from) (road", &format!("{condition} (road")),
                PROBLEM,
            );
            depth_message(
                &DOMAIN.replace("(at ?to) (not", &format!("{condition} (not")),
                PROBLEM,
            );
        }
    }
}

#[test]
fn nesting_too_deep_and_never_closed_is_two_messages() {
    let messages = depth_message(DOMAIN, &PROBLEM.replace("(at b)", &"(and ".repeat(100_000)));
    assert!(messages.to_string().contains("never closed"), "{messages}");
}

#[test]
fn deep_nesting_within_bounds_is_read() {
    let goal = nested(900, "and", "(at b)");
    let (problem, messages) = read(DOMAIN, &PROBLEM.replace("(at b)", &goal));
    assert_eq!(
        problem
            .unwrap_or_else(|| panic!("{messages}"))
            .goal
            .literals
            .len(),
        1
    );
    let negations = nested(901, "not", "(at b)");
    let (problem, _) = read(DOMAIN, &PROBLEM.replace("(at b)", &negations));
    assert!(!problem.unwrap().goal.literals[0].positive);
}

#[test]
fn parentheses_that_need_repair_again_and_again() {
    const TIMES: usize = 50_000;
    for piece in [
        "(:init)) ",
        "(:init (at a))) ",
        "(:init (at a ",
        "(at a ",
        "(at a)) ",
        "at a) ",
        "(:action x :effect (at a))) ",
        "(:action x) :effect (at a) ",
        "(:action x (and :effect ",
        ":effect ",
        "(and at a ",
        "(and at a) ",
        ":init (at a) ",
        "(define ",
        "((((( ",
        "))))) ",
        "- -a a- - ",
        "\" ",
        "é",
    ] {
        let filler = piece.repeat(TIMES);
        for problem in [
            PROBLEM.replace("(at a)", &filler),
            PROBLEM.replace("(:init", &format!("{filler} (:init")),
            filler.clone(),
            format!("(define {filler}"),
        ] {
            assert!(read(DOMAIN, &problem).0.is_none(), "{piece}");
        }
        for domain in [
            DOMAIN.replace("(road ?from ?to - place)", &filler),
            DOMAIN.replace("(at ?from) (road", &format!("{filler} (road")),
            DOMAIN.replace("(:types", &format!("{filler} (:types")),
        ] {
            assert!(read(&domain, PROBLEM).0.is_none(), "{piece}");
        }
    }
}
