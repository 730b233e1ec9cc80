//! PDDL text to a checked lifted problem, or to messages that say what is wrong with it and where.
//!
//! Two steps: [`parse`] makes nested lists of a file's text and repairs what parentheses are
//! missing; [`check_domain`] and [`check_problem`] resolve names, types and arities. Both go on
//! after a mistake and report all of them. [`read_problem`] is both steps for both files.
//!
//! What is read, and what is answered with "not supported", stands in `docs/pddl-support.md`.

mod check;
mod diagnostic;
mod index;
mod lexer;
pub mod model;
mod names;
mod print;
mod source;
mod suggest;
mod tree;

pub use check::{check_domain, check_problem, read_problem};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use model::{Domain, Problem};
pub use names::{Declaration, NameKind};
pub use print::ShownFormula;
pub use source::{Place, Source, Span};
pub use tree::{Tree, parse};
