//! `manifest.json`: what a folder of problems holds and where each came from.

use std::collections::BTreeMap;

use homing_pddl::Problem;
use homing_planner::Plan;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Suite;
use crate::domains::Parameters;

/// The name of the file.
pub const MANIFEST_FILE: &str = "manifest.json";

/// A folder of problems of one domain. `docs/formats.md` describes the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this format, 1.
    pub format: u32,
    /// The version of homing that wrote it.
    pub homing: String,
    /// The suite, if the problems are one of ours.
    pub suite: Option<Suite>,
    /// The domain's name in PDDL.
    pub domain: String,
    /// SHA-256 of `domain.pddl`.
    pub domain_sha256: String,
    /// The problems, in the order of the suite, or of their file names.
    pub problems: Vec<ManifestProblem>,
    /// What was drawn or found and does not belong to the suite.
    pub dropped: Vec<Dropped>,
}

/// A problem of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ManifestProblem {
    /// Its file.
    pub file: String,
    /// What it was drawn from, if it was.
    pub parameters: Option<Parameters>,
    /// With which seed.
    pub seed: Option<u64>,
    /// |O|: objects, the domain's constants included.
    pub objects: usize,
    /// Objects by the type they are declared with.
    pub objects_by_type: BTreeMap<String, usize>,
    /// Propositions true at the start.
    pub initial_facts: usize,
    /// Goals.
    pub goals: usize,
    /// SHA-256 of the file.
    pub sha256: String,
    /// SHA-256 of what homing prints for the problem, its name left out.
    pub content_sha256: String,
}

/// A problem left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// Its file, or what it would have been called.
    pub file: String,
    /// What it was drawn from, if it was.
    pub parameters: Option<Parameters>,
    /// With which seed.
    pub seed: Option<u64>,
    /// Why.
    #[serde(flatten)]
    pub reason: Reason,
}

/// Why a problem is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "lowercase")]
pub enum Reason {
    /// The goal holds at the start.
    Trivial,
    /// It equals an earlier problem but for the name.
    Duplicate {
        /// The earlier one's file.
        of: String,
    },
}

impl Manifest {
    /// A manifest of this version.
    pub fn new(
        suite: Option<Suite>,
        domain: &str,
        domain_text: &str,
        problems: Vec<ManifestProblem>,
        dropped: Vec<Dropped>,
    ) -> Self {
        Self {
            format: 1,
            homing: env!("CARGO_PKG_VERSION").to_owned(),
            suite,
            domain: domain.to_owned(),
            domain_sha256: text_hash(domain_text.as_bytes()),
            problems,
            dropped,
        }
    }

    /// The text of the file.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a manifest has no odd keys");
        text + "\n"
    }
}

impl ManifestProblem {
    /// What there is to say about a problem of unknown origin.
    pub fn new(file: String, problem: &Problem, text: &str, content: String) -> Self {
        let mut by_type = BTreeMap::new();
        for object in &problem.objects {
            let names: Vec<&str> = object
                .types
                .iter()
                .map(|of| problem.domain.types[of.index()].name.as_str())
                .collect();
            *by_type.entry(names.join("|")).or_insert(0) += 1;
        }
        Self {
            file,
            parameters: None,
            seed: None,
            objects: problem.objects.len(),
            objects_by_type: by_type,
            initial_facts: problem.init.len(),
            goals: problem.goal.literals.len()
                + problem.goal.equalities.len()
                + problem.goal.formulas.len(),
            sha256: text_hash(text.as_bytes()),
            content_sha256: content,
        }
    }
}

/// SHA-256 in hexadecimal.
pub fn text_hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// SHA-256 of the problem as homing prints it, its name left out: problems that differ in no more
/// than name, layout and comments have the same.
pub fn content_hash(problem: &Problem) -> String {
    let text = problem.to_string();
    // The first line holds the name and nothing else.
    let rest = text.split_once('\n').map_or("", |(_, rest)| rest);
    text_hash(rest.as_bytes())
}

/// Whether the goal holds at the start.
pub fn is_trivial(problem: &Problem) -> bool {
    Plan::default().validate(problem).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domains::{blocks, gripper};

    #[test]
    fn the_name_is_no_part_of_the_content() {
        let parameters = blocks::Parameters { blocks: 4 };
        let mut problem = blocks::generate(&parameters, 1).unwrap();
        let before = content_hash(&problem);
        problem.name = "other".to_owned();
        assert_eq!(content_hash(&problem), before);
        problem.init.pop();
        assert_ne!(content_hash(&problem), before);
    }

    #[test]
    fn hashes_are_sha256() {
        assert_eq!(
            text_hash(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn a_goal_that_holds_is_trivial() {
        let parameters = gripper::Parameters { balls: 1 };
        let trivial = (0..40)
            .filter(|&seed| is_trivial(&gripper::generate(&parameters, seed).unwrap()))
            .count();
        assert!((8..32).contains(&trivial), "{trivial} of 40");
    }
}
