//! Names, types and arities resolved: from a [`Tree`] to a [`Domain`] or a [`Problem`].
//!
//! Checking goes on after a mistake, so that one run reports all of them. What a mistake leaves
//! unknown (a type that does not exist, say) fits everywhere, so that it is reported once.

mod action;
mod derived;
mod domain;
mod effect;
mod formula;
mod problem;
mod sections;
mod types;
mod vocabulary;

use std::sync::Arc;

pub use domain::check_domain;
pub use problem::check_problem;

use crate::diagnostic::Diagnostics;
use crate::model::Problem;
use crate::source::Source;
use crate::tree::parse;

/// Parses and checks a domain and a problem: everything between two files and a [`Problem`].
///
/// The problem is there exactly when nothing worse than a warning was found. A problem is checked
/// against its domain only where the domain itself is sound.
///
/// ```
/// use homing_pddl::{Source, read_problem};
///
/// let domain = b"(define (domain lamp)
///   (:predicates (on))
///   (:action press :effect (on)))";
/// let problem = b"(define (problem dark) (:domain lamp) (:init) (:goal (on)))";
/// let (problem, messages) = read_problem(
///     &Source::new("domain.pddl", domain.to_vec()),
///     &Source::new("dark.pddl", problem.to_vec()),
/// );
/// assert!(messages.messages().is_empty());
/// assert_eq!(problem.unwrap().goal.literals.len(), 1);
/// ```
pub fn read_problem(domain: &Arc<Source>, problem: &Arc<Source>) -> (Option<Problem>, Diagnostics) {
    let (domain_tree, mut diagnostics) = parse(domain);
    let (domain, messages) = check_domain(&domain_tree);
    diagnostics.append(messages);
    let domain_usable = diagnostics.usable();
    let (problem_tree, messages) = parse(problem);
    diagnostics.append(messages);
    let mut checked = None;
    if let (Some(domain), true) = (domain, domain_usable) {
        let (problem, messages) = check_problem(&problem_tree, &Arc::new(domain));
        diagnostics.append(messages);
        checked = problem;
    }
    (checked.filter(|_| diagnostics.usable()), diagnostics)
}
