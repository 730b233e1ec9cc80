//! What the lab's tests share: the folder of shared problems and its settings.

#![allow(dead_code, unreachable_pub)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing_lab::compare::Setting;
use homing_lab::{DomainName, Parameters};
use homing_pddl::{Problem, Source, read_problem};

/// The folder of problems of the field's generators beside the repository, if it is there.
pub fn field_instances() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/instances");
    if folder.is_dir() {
        Some(folder)
    } else {
        eprintln!("skipped: there is no `shared/instances` folder beside the repository");
        None
    }
}

pub fn read(domain: &str, file: &str, text: Vec<u8>) -> Problem {
    let (problem, messages) = read_problem(
        &Source::new("domain.pddl", domain.as_bytes().to_vec()),
        &Source::new(file, text),
    );
    problem.unwrap_or_else(|| panic!("{messages}"))
}

/// How many problems the field's generators were asked for with each setting.
pub fn drawn(domain: DomainName) -> usize {
    match domain {
        DomainName::Blocks | DomainName::Gripper | DomainName::Visitall => 12,
        DomainName::Miconic => 8,
        DomainName::Parking => 4,
        DomainName::Ferry => 3,
        DomainName::Logistics | DomainName::Satellite => 1,
    }
}

/// The field's problems of a domain, read against our own domain file, by their parameters.
pub fn settings(folder: &Path, domain: DomainName) -> Vec<Setting> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join(domain.as_str()))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("domain.pddl"))
        .collect();
    files.sort();
    let mut settings: BTreeMap<String, Setting> = BTreeMap::new();
    for path in files {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let (label, seed) = stem.rsplit_once("-s").unwrap();
        let seed: usize = seed.parse().unwrap();
        assert!(seed < drawn(domain), "{stem}");
        let parameters = Parameters::from_label(domain, label).expect(stem);
        let text = std::fs::read(&path).unwrap();
        let problem = Arc::new(read(domain.text(), stem, text));
        let entry = settings.entry(label.to_owned());
        let setting = entry.or_insert_with(|| Setting {
            parameters,
            drawn: drawn(domain),
            problems: Vec::new(),
        });
        setting.problems.push(problem);
    }
    let mut settings: Vec<Setting> = settings.into_values().collect();
    // Two cars that change places on two curbs: the field gives such problems out, we do not.
    settings.retain(|setting| setting.parameters.label() != "2-2" || domain != DomainName::Parking);
    settings
}
