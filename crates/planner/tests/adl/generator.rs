//! Random small problems with everything that a condition and an effect can be made of.

use std::fmt::Write as _;
use std::sync::Arc;

use homing_pddl::Problem;

use crate::common::{Random, parse_texts};

/// Arities of the predicates `p0`, `p1`, ... that actions change.
const ARITIES: [usize; 5] = [0, 1, 1, 2, 2];
/// Arities of the derived predicates `d0`, `d1`, ...
const DERIVED: [usize; 4] = [0, 1, 1, 2];
const TYPES: [&str; 3] = ["t", "u", "object"];
const OBJECTS: [&str; 4] = ["c", "o1", "o2", "o3"];

/// Writes formulas over what is in scope.
struct Writer {
    random: Random,
    predicates: usize,
    derived: usize,
    /// Terms in scope.
    terms: Vec<String>,
    /// Number of the next variable.
    fresh: usize,
}

impl Writer {
    fn atom_of(&mut self, name: &str, arity: usize) -> String {
        let mut text = format!("({name}");
        for _ in 0..arity {
            let term = self.random.below(self.terms.len());
            write!(text, " {}", self.terms[term]).unwrap();
        }
        text + ")"
    }

    fn basic_atom(&mut self) -> String {
        let predicate = self.random.below(self.predicates);
        self.atom_of(&format!("p{predicate}"), ARITIES[predicate])
    }

    /// An atom that may be derived: below `positive` where it is asked for, below `negative` where
    /// its negation is.
    fn atom(&mut self, sign: bool, positive: usize, negative: usize) -> String {
        let below = if sign { positive } else { negative };
        if below > 0 && self.random.chance(35) {
            let derived = self.random.below(below);
            return self.atom_of(&format!("d{derived}"), DERIVED[derived]);
        }
        self.basic_atom()
    }

    /// A variable of some type, in scope until `leave`.
    fn enter(&mut self) -> (String, usize) {
        let variable = format!("?x{}", self.fresh);
        self.fresh += 1;
        let kept = self.terms.len();
        let declared = format!("{variable} - {}", TYPES[self.random.below(3)]);
        self.terms.push(variable);
        (declared, kept)
    }

    /// A formula in which derived predicates from `positive` on are not asked for, and the negation
    /// of those from `negative` on is not.
    fn formula(&mut self, depth: usize, sign: bool, positive: usize, negative: usize) -> String {
        let choice = if depth == 0 { 0 } else { self.random.below(12) };
        match choice {
            0..=3 => match self.random.chance(30) {
                true => format!("(not {})", self.atom(!sign, positive, negative)),
                false => self.atom(sign, positive, negative),
            },
            4 => {
                let (a, b) = (
                    self.random.below(self.terms.len()),
                    self.random.below(self.terms.len()),
                );
                let equality = format!("(= {} {})", self.terms[a], self.terms[b]);
                match self.random.chance(50) {
                    true => format!("(not {equality})"),
                    false => equality,
                }
            }
            5..=7 => {
                let word = ["and", "or"][self.random.below(2)];
                let mut text = format!("({word}");
                for _ in 0..self.random.below(4) {
                    write!(
                        text,
                        " {}",
                        self.formula(depth - 1, sign, positive, negative)
                    )
                    .unwrap();
                }
                text + ")"
            }
            8 => {
                let left = self.formula(depth - 1, !sign, positive, negative);
                let right = self.formula(depth - 1, sign, positive, negative);
                format!("(imply {left} {right})")
            }
            9 => format!(
                "(not {})",
                self.formula(depth - 1, !sign, positive, negative)
            ),
            _ => {
                let word = ["forall", "exists"][self.random.below(2)];
                let (declared, kept) = self.enter();
                let body = self.formula(depth - 1, sign, positive, negative);
                self.terms.truncate(kept);
                format!("({word} ({declared}) {body})")
            }
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let derived = self.derived;
        self.formula(depth, true, derived, derived)
    }

    fn effect(&mut self, depth: usize) -> String {
        let choice = if depth == 0 { 0 } else { self.random.below(10) };
        match choice {
            0..=4 => match self.random.chance(45) {
                true => format!("(not {})", self.basic_atom()),
                false => self.basic_atom(),
            },
            5 => {
                let parts: Vec<String> = (0..2).map(|_| self.effect(depth - 1)).collect();
                format!("(and {})", parts.join(" "))
            }
            6 | 7 => {
                let condition = self.condition(2);
                format!("(when {condition} {})", self.effect(depth - 1))
            }
            _ => {
                let (declared, kept) = self.enter();
                let body = self.effect(depth - 1);
                self.terms.truncate(kept);
                format!("(forall ({declared}) {body})")
            }
        }
    }
}

fn write_domain(writer: &mut Writer, costs: bool) -> String {
    let mut text = String::from(
        "(define (domain random) (:requirements :adl :derived-predicates :action-costs)\n\
         (:types t u) (:constants c - t)\n(:predicates",
    );
    let declare = |text: &mut String, name: String, arity: usize| {
        write!(text, " ({name}{})", &" ?a ?b"[..3 * arity]).unwrap();
    };
    for (index, &arity) in ARITIES.iter().enumerate().take(writer.predicates) {
        declare(&mut text, format!("p{index}"), arity);
    }
    for (index, &arity) in DERIVED.iter().enumerate().take(writer.derived) {
        declare(&mut text, format!("d{index}"), arity);
    }
    text += ") (:functions (total-cost) - number)\n";
    for (derived, &arity) in DERIVED.iter().enumerate().take(writer.derived) {
        for _ in 0..1 + writer.random.below(2) {
            writer.terms = vec!["c".to_owned()];
            let mut head = format!("(d{derived}");
            for parameter in 0..arity {
                let kind = TYPES[writer.random.below(3)];
                write!(head, " ?v{parameter} - {kind}").unwrap();
                writer.terms.push(format!("?v{parameter}"));
            }
            // Its own negation, and that of later ones, would not be stratified.
            let body = writer.formula(3, true, derived + 1, derived);
            writeln!(text, "(:derived {head}) {body})").unwrap();
        }
    }
    for action in 0..2 + writer.random.below(3) {
        writer.terms = vec!["c".to_owned()];
        write!(text, "(:action a{action} :parameters (").unwrap();
        for parameter in 0..writer.random.below(3) {
            let kind = TYPES[writer.random.below(3)];
            write!(text, " ?v{parameter} - {kind}").unwrap();
            writer.terms.push(format!("?v{parameter}"));
        }
        let depth = writer.random.below(4);
        let precondition = writer.condition(depth);
        write!(text, ") :precondition {precondition} :effect (and").unwrap();
        for _ in 0..2 + writer.random.below(3) {
            write!(text, " {}", writer.effect(3)).unwrap();
        }
        if costs {
            write!(text, " (increase (total-cost) {})", writer.random.below(4)).unwrap();
        }
        text += "))\n";
    }
    text + ")"
}

/// A random domain and a problem of it.
pub fn random_adl_problem(seed: u64) -> Arc<Problem> {
    let mut random = Random(seed ^ 0xAD1);
    let costs = random.chance(50);
    let mut writer = Writer {
        predicates: 2 + random.below(ARITIES.len() - 1),
        derived: match random.chance(60) {
            true => 1 + random.below(DERIVED.len()),
            false => 0,
        },
        random,
        terms: Vec::new(),
        fresh: 0,
    };
    let domain = write_domain(&mut writer, costs);
    let count = 2 + writer.random.below(3);
    let mut problem = String::from("(define (problem p) (:domain random) (:objects");
    for (index, object) in OBJECTS.iter().enumerate().take(count).skip(1) {
        write!(problem, " {object} - {}", TYPES[index % 2]).unwrap();
    }
    problem += ") (:init";
    writer.terms = OBJECTS[..count].iter().map(|&o| o.to_owned()).collect();
    for _ in 0..writer.random.below(8) {
        write!(problem, " {}", writer.basic_atom()).unwrap();
    }
    let goals: Vec<String> = (0..1 + writer.random.below(2))
        .map(|_| {
            let depth = writer.random.below(4);
            writer.condition(depth)
        })
        .collect();
    write!(problem, ") (:goal (and {}))", goals.join(" ")).unwrap();
    if costs {
        problem += " (:metric minimize (total-cost))";
    }
    parse_texts(&domain, &(problem + ")"))
}

/// A game on positions `o0`, `o1`, ...: a position is won where a move that is not blocked leads to
/// one that is not. Moves can be blocked and freed.
pub fn game_texts(
    moves: &[(usize, usize)],
    blocked: &[(usize, usize)],
    goal: &str,
) -> (String, String) {
    let domain = "(define (domain game) (:requirements :adl :derived-predicates)
  (:predicates (move ?a ?b) (blocked ?a ?b) (win ?p) (safe ?p))
  (:derived (win ?p)
    (exists (?q) (and (move ?p ?q) (not (blocked ?p ?q)) (not (win ?q)))))
  (:derived (safe ?p)
    (or (not (win ?p)) (exists (?q) (and (move ?p ?q) (safe ?q) (not (win ?q)) (blocked ?p ?q)))))
  (:action block
    :parameters (?a ?b)
    :precondition (and (move ?a ?b) (not (blocked ?a ?b)) (or (win ?b) (not (safe ?a))))
    :effect (blocked ?a ?b))
  (:action free
    :parameters (?a ?b)
    :precondition (and (blocked ?a ?b) (imply (win ?a) (safe ?b)))
    :effect (and (not (blocked ?a ?b))
      (forall (?c) (when (and (win ?c) (blocked ?b ?c)) (not (blocked ?b ?c)))))))";
    let list = |name: &str, pairs: &[(usize, usize)]| -> String {
        let facts = pairs.iter().map(|(a, b)| format!("({name} o{a} o{b}) "));
        facts.collect()
    };
    let problem = format!(
        "(define (problem p) (:domain game) (:objects o0 o1 o2 o3 o4) (:init {}{}) (:goal {goal}))",
        list("move", moves),
        list("blocked", blocked)
    );
    (domain.to_owned(), problem)
}

/// A random game in which no position is met twice.
pub fn random_game(seed: u64) -> Arc<Problem> {
    let mut random = Random(seed);
    let (mut moves, mut blocked) = (Vec::new(), Vec::new());
    for from in 1..5 {
        for to in 0..from {
            if moves.len() < 6 && random.chance(60) {
                moves.push((from, to));
                if random.chance(40) {
                    blocked.push((from, to));
                }
            }
        }
    }
    let mut literal = || {
        let atom = format!(
            "({} o{})",
            ["win", "safe"][random.below(2)],
            random.below(5)
        );
        match random.chance(50) {
            true => atom,
            false => format!("(not {atom})"),
        }
    };
    let goal = format!("(and {} (or {} {}))", literal(), literal(), literal());
    let (domain, problem) = game_texts(&moves, &blocked, &goal);
    parse_texts(&domain, &problem)
}
