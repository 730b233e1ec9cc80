//! The manifest of any folder of problems.

use std::collections::HashMap;

use homing_pddl::Problem;

use super::manifest::{
    Dropped, Manifest, ManifestProblem, Reason, content_hash, is_trivial, text_hash,
};

/// A checked problem and the file it was read from.
#[derive(Clone, Debug)]
pub struct FileProblem {
    /// The file's name.
    pub file: String,
    /// Its text.
    pub text: String,
    /// The problem.
    pub problem: Problem,
}

/// Sorts problems into those that make a suite and those to be left out.
pub fn collect(files: &[FileProblem]) -> (Vec<ManifestProblem>, Vec<Dropped>) {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let mut seen: HashMap<String, &str> = HashMap::new();
    for FileProblem {
        file,
        text,
        problem,
    } in files
    {
        let content = content_hash(problem);
        let reason = if is_trivial(problem) {
            Some(Reason::Trivial)
        } else {
            seen.get(&content)
                .map(|&of| Reason::Duplicate { of: of.to_owned() })
        };
        match reason {
            Some(reason) => dropped.push(Dropped {
                file: file.clone(),
                parameters: None,
                seed: None,
                reason,
            }),
            None => {
                seen.insert(content.clone(), file);
                kept.push(ManifestProblem::new(file.clone(), problem, text, content));
            }
        }
    }
    (kept, dropped)
}

/// The manifest of problems found in a folder, in the order given. What an earlier manifest of the
/// folder says about the origin of files that have not changed is kept, and so is their order.
pub fn manifest_of_files(
    domain: &str,
    domain_text: &str,
    files: &[FileProblem],
    earlier: Option<&Manifest>,
) -> Manifest {
    let (mut problems, mut dropped) = collect(files);
    let mut suite = None;
    if let Some(earlier) = earlier {
        let known: HashMap<&str, (usize, &ManifestProblem)> = earlier
            .problems
            .iter()
            .enumerate()
            .map(|(at, old)| (old.file.as_str(), (at, old)))
            .collect();
        let find = |problem: &ManifestProblem| {
            let found = known.get(problem.file.as_str()).copied();
            found.filter(|(_, old)| old.sha256 == problem.sha256)
        };
        for problem in &mut problems {
            if let Some((_, old)) = find(problem) {
                problem.parameters = old.parameters;
                problem.seed = old.seed;
            }
        }
        problems.sort_by_cached_key(|problem| find(problem).map_or(usize::MAX, |(at, _)| at));
        let unchanged = problems.len() == earlier.problems.len()
            && problems.iter().all(|problem| find(problem).is_some())
            && earlier.domain_sha256 == text_hash(domain_text.as_bytes());
        if unchanged {
            suite = earlier.suite;
            // What was dropped before it got a file is not found in the folder.
            let found = dropped.len();
            for old in &earlier.dropped {
                if !dropped[..found].iter().any(|new| new.file == old.file) {
                    dropped.push(old.clone());
                }
            }
        }
    }
    Manifest::new(suite, domain, domain_text, problems, dropped)
}
