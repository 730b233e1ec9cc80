//! The problems to select a snapshot by: those of a folder, or of the domain's suite `validation`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing_lab::suite::{Instance, draw};
use homing_lab::{DomainName, Suite};
use homing_learner::Signature;
use homing_pddl::{Domain, Problem, Source, check_problem, parse};
use homing_planner::{Task, ground};
use serde::{Deserialize, Serialize};

use super::load_tasks;
use crate::error::Error;
use crate::observe::{Notice, Observer};

/// So many problems of the suite are taken: every snapshot is tried on all of them, and a failure
/// costs all evaluations.
const TAKEN: usize = 24;

/// Problems to select a snapshot by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelectionProblems {
    /// Some of the suite `validation` of the domain, which must be one of the eight.
    Suite,
    /// Those of a folder.
    Folder(PathBuf),
}

impl SelectionProblems {
    /// Grounds the problems. `domain` is the file of the domain that is trained on, `tasks` what is
    /// trained on.
    pub(super) fn load(
        &self,
        domain: &Path,
        tasks: &[Arc<Task>],
        memory_limit: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<Vec<Arc<Task>>, Error> {
        match self {
            Self::Folder(folder) => {
                let files = std::slice::from_ref(folder);
                Ok(load_tasks(files, Some(domain), memory_limit, observer)?.tasks)
            }
            // Without tasks training ends with a better message.
            Self::Suite => match tasks.first() {
                Some(task) => of_suite(&task.problem().domain, observer),
                None => Ok(Vec::new()),
            },
        }
    }
}

fn of_suite(domain: &Arc<Domain>, observer: &dyn Observer) -> Result<Vec<Arc<Task>>, Error> {
    let signature = Signature::of(domain);
    let name = DomainName::ALL
        .into_iter()
        // Constants are no part of a signature; none of the eight has any.
        .find(|name| domain.constants.is_empty() && Signature::of(name.domain()) == signature)
        .ok_or_else(|| Error::NoValidationSuite {
            domain: domain.name.clone(),
        })?;
    let drawn = draw(&Suite::Validation.draws(name), |_| {})?;
    let all = &drawn.instances;
    observer.notice(&Notice::SelectsBySuite {
        taken: TAKEN,
        of: all.len(),
        domain: name,
    });
    spread(all)
        .map(|instance| of_domain(instance, domain))
        .collect()
}

/// At equal distances, so that all settings have their share.
fn spread(all: &[Instance]) -> impl Iterator<Item = &Instance> {
    (0..TAKEN).map(|index| &all[index * all.len() / TAKEN])
}

/// The problem for the domain that is trained on, whose name and conditions may differ from those
/// of the domain it was drawn for.
fn of_domain(instance: &Instance, domain: &Arc<Domain>) -> Result<Arc<Task>, Error> {
    let file = instance.draw.file();
    let problem = Problem {
        domain: Arc::clone(domain),
        ..instance.problem.clone()
    };
    let source = Source::new(file.clone(), problem.to_string().into_bytes());
    let (tree, mut diagnostics) = parse(&source);
    let (problem, messages) = check_problem(&tree, domain);
    diagnostics.append(messages);
    let failed = |why: &dyn std::fmt::Display| {
        Error::Request(format!(
            "validation problem {file} does not fit this domain: {why}"
        ))
    };
    let problem = match problem {
        Some(problem) if diagnostics.usable() => Arc::new(problem),
        _ => return Err(failed(&diagnostics)),
    };
    let task = ground(&problem, &mut ()).map_err(|error| failed(&error))?;
    Ok(Arc::new(task))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_of_the_suite_is_taken() {
        for domain in DomainName::ALL {
            let suite = draw(&Suite::Validation.draws(domain), |_| {}).expect("a suite");
            let taken: Vec<String> = spread(&suite.instances)
                .map(|instance| instance.draw.parameters.label())
                .collect();
            for setting in Suite::Validation.parameters(domain) {
                let label = setting.label();
                let count = taken.iter().filter(|other| **other == label).count();
                assert!(count >= 2, "{label}: {count}");
            }
            let mut files: Vec<String> = spread(&suite.instances).map(|i| i.draw.file()).collect();
            files.sort_unstable();
            files.dedup();
            assert_eq!(files.len(), TAKEN);
        }
    }
}
