//! Drawing the problems of a suite.

use std::collections::HashMap;

use homing_pddl::Problem;

use super::manifest::{Dropped, Manifest, ManifestProblem, Reason, content_hash, is_trivial};
use crate::domains::{DomainName, ParameterError, Parameters};

/// One problem to be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// From these parameters.
    pub parameters: Parameters,
    /// With this seed.
    pub seed: u64,
}

impl Draw {
    /// The name of the problem's file.
    pub fn file(&self) -> String {
        format!("{}.pddl", self.parameters.stem(self.seed))
    }
}

/// A problem that was drawn and kept.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Where it came from.
    pub draw: Draw,
    /// The problem.
    pub problem: Problem,
    /// [`content_hash`] of it.
    pub content: String,
}

/// What was kept and what was not.
#[derive(Clone, Debug, Default)]
pub struct Collection {
    /// Kept, in the order drawn.
    pub instances: Vec<Instance>,
    /// Dropped.
    pub dropped: Vec<Dropped>,
}

impl Collection {
    /// What is to be written about it. All problems must be of one domain.
    pub fn manifest(&self, suite: Option<super::Suite>, domain: DomainName) -> Manifest {
        let problems = self.instances.iter().map(|instance| {
            let mut entry = ManifestProblem::new(
                instance.draw.file(),
                &instance.problem,
                &instance.problem.to_string(),
                instance.content.clone(),
            );
            entry.parameters = Some(instance.draw.parameters);
            entry.seed = Some(instance.draw.seed);
            entry
        });
        Manifest::new(
            suite,
            &domain.domain().name,
            domain.text(),
            problems.collect(),
            self.dropped.clone(),
        )
    }
}

/// Draws problems; leaves out trivial ones and those equal to an earlier one but for the name.
/// `progress` is told how many are done.
///
/// # Errors
///
/// If parameters are impossible.
pub fn draw(draws: &[Draw], mut progress: impl FnMut(usize)) -> Result<Collection, ParameterError> {
    let mut collection = Collection::default();
    let mut seen: HashMap<String, String> = HashMap::new();
    for (index, &draw) in draws.iter().enumerate() {
        let problem = draw.parameters.generate(draw.seed)?;
        let content = content_hash(&problem);
        let reason = if is_trivial(&problem) {
            Some(Reason::Trivial)
        } else {
            seen.get(&content)
                .map(|of| Reason::Duplicate { of: of.clone() })
        };
        match reason {
            Some(reason) => collection.dropped.push(Dropped {
                file: draw.file(),
                parameters: Some(draw.parameters),
                seed: Some(draw.seed),
                reason,
            }),
            None => {
                seen.insert(content.clone(), draw.file());
                collection.instances.push(Instance {
                    draw,
                    problem,
                    content,
                });
            }
        }
        progress(index + 1);
    }
    Ok(collection)
}
