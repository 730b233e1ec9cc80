//! Reading files, and showing what is wrong with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing::input::domain_beside;
use homing::{Loaded, ProblemSource};
use homing_pddl::{Diagnostics, Domain, Problem, Severity};

use crate::exit::{Exit, Failure};
use crate::output::say;

/// The domain and problem files of `[DOMAIN] PROBLEM`.
pub(crate) fn domain_and_problem(files: &[PathBuf]) -> anyhow::Result<(PathBuf, PathBuf)> {
    match files {
        [domain, problem] => Ok((domain.clone(), problem.clone())),
        [problem] => Ok((domain_beside(problem)?, problem.clone())),
        _ => Err(Failure::because(
            Exit::BadInput,
            "expected a domain and a problem",
        )),
    }
}

/// The same, as a source of a problem.
pub(crate) fn problem_source(files: &[PathBuf]) -> anyhow::Result<ProblemSource> {
    let (domain, problem) = domain_and_problem(files)?;
    Ok(ProblemSource::files(domain, problem))
}

/// How much to say about files that can be used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Warnings {
    Show,
    Count,
}

/// Shows warnings on standard error, or how many there are.
pub(crate) fn show_warnings(diagnostics: &Diagnostics, how: Warnings) {
    match how {
        Warnings::Show if !diagnostics.messages().is_empty() => say(&format!("{diagnostics}\n")),
        Warnings::Count => {
            let count = diagnostics.count(Severity::Warning);
            let plural = if count == 1 { "" } else { "s" };
            if count > 0 {
                say(&format!(
                    "{count} warning{plural} about the input; `homing check` shows them\n"
                ));
            }
        }
        Warnings::Show => {}
    }
}

/// What was read, its warnings shown.
fn shown<T>(loaded: Loaded<T>, warnings: Warnings) -> T {
    show_warnings(&loaded.warnings, warnings);
    loaded.value
}

/// Reads and checks a domain and a problem.
pub(crate) fn load_problem(
    domain: &Path,
    problem: &Path,
    warnings: Warnings,
) -> anyhow::Result<Arc<Problem>> {
    let loaded = homing::input::load_problem(domain, problem)?;
    Ok(shown(loaded, warnings))
}

/// Reads and checks a domain alone.
pub(crate) fn load_domain(path: &Path) -> anyhow::Result<Domain> {
    Ok(shown(homing::input::load_domain(path)?, Warnings::Show))
}
