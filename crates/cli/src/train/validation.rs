//! The problems to select a snapshot by: those of a folder, or of the domain's suite `validation`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing_lab::suite::{Instance, draw};
use homing_lab::{DomainName, Suite};
use homing_learner::Signature;
use homing_pddl::{Domain, Problem, Source, check_problem, parse};
use homing_planner::{Task, ground};

use super::args::Train;
use super::load_tasks;
use crate::exit::{Exit, Failure};
use crate::output::say;

/// So many problems of the suite are taken: every snapshot is tried on all of them, and a failure
/// costs all evaluations.
const TAKEN: usize = 24;

pub(crate) enum Validation<'a> {
    Suite,
    Folder(&'a PathBuf),
}

/// The files to train on, and what to select by.
///
/// `--select` takes the next word for its folder, as flags do. In `train --select small/blocks`
/// that would leave nothing to train on, so there the word is what is trained on.
pub(crate) fn separate(arguments: &Train) -> anyhow::Result<(&[PathBuf], Option<Validation<'_>>)> {
    let files = arguments.files.as_slice();
    match &arguments.select {
        None => Ok((files, None)),
        Some(Some(word)) if files.is_empty() => {
            Ok((std::slice::from_ref(word), Some(Validation::Suite)))
        }
        Some(Some(word)) if word.is_file() => Err(Failure::because(
            Exit::BadInput,
            format!(
                "--select takes a folder, and {0} is a file; if {0} is to be trained on, write \
                 --select behind the problems",
                word.display()
            ),
        )),
        Some(Some(folder)) => Ok((files, Some(Validation::Folder(folder)))),
        Some(None) if files.is_empty() => Err(Failure::because(
            Exit::BadInput,
            "no problems to train on are given",
        )),
        Some(None) => Ok((files, Some(Validation::Suite))),
    }
}

impl Validation<'_> {
    /// Grounds the problems. `domain` is the file of the domain that is trained on, `tasks` what is
    /// trained on.
    pub(crate) fn load(&self, domain: &Path, tasks: &[Task]) -> anyhow::Result<Vec<Task>> {
        match self {
            Self::Folder(folder) => Ok(load_tasks(std::slice::from_ref(*folder), Some(domain))?.1),
            // Without tasks training ends with a better message.
            Self::Suite => match tasks.first() {
                Some(task) => of_suite(&task.problem().domain),
                None => Ok(Vec::new()),
            },
        }
    }
}

fn of_suite(domain: &Arc<Domain>) -> anyhow::Result<Vec<Task>> {
    let signature = Signature::of(domain);
    let name = DomainName::ALL
        .into_iter()
        // Constants are no part of a signature; none of the eight has any.
        .find(|name| domain.constants.is_empty() && Signature::of(name.domain()) == signature)
        .ok_or_else(|| {
            let all = DomainName::ALL.map(DomainName::as_str).join(", ");
            let message = format!(
                "domain {} has no validation problems: its predicates, types and actions are not \
                 those of {all}; `--select FOLDER` selects by problems of yours",
                domain.name
            );
            Failure::because(Exit::BadInput, message)
        })?;
    let drawn = draw(&Suite::Validation.draws(name), |_| {})
        .map_err(|error| Failure::because(Exit::Bug, error.to_string()))?;
    let all = &drawn.instances;
    say(&format!(
        "homing: snapshots are tried on {TAKEN} of the {} problems of `homing generate --suite validation --domain {name}`\n",
        all.len(),
    ));
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
fn of_domain(instance: &Instance, domain: &Arc<Domain>) -> anyhow::Result<Task> {
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
        Failure::because(
            Exit::BadInput,
            format!("validation problem {file} does not fit this domain: {why}"),
        )
    };
    let problem = match problem {
        Some(problem) if diagnostics.usable() => Arc::new(problem),
        _ => return Err(failed(&diagnostics)),
    };
    ground(&problem, &mut ()).map_err(|error| failed(&error))
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
