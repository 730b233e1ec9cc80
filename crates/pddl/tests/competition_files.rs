//! Every competition problem and every small problem beside the repository is read without a
//! complaint, and printing is the inverse of reading.

use std::path::{Path, PathBuf};

use homing_pddl::{Problem, Severity, Source, check_domain, parse, read_problem};

fn read(path: &Path) -> std::sync::Arc<Source> {
    Source::new(path.display().to_string(), std::fs::read(path).unwrap())
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    folders
}

fn reread(problem: &Problem) -> Problem {
    let domain = Source::new("domain", problem.domain.to_string().into_bytes());
    let text = Source::new("problem", problem.to_string().into_bytes());
    let (again, messages) = read_problem(&domain, &text);
    again.unwrap_or_else(|| panic!("printed text is not read again:\n{messages}"))
}

#[test]
fn every_shared_problem_is_read_and_printing_inverts_reading() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if !shared.is_dir() {
        eprintln!("skipped: there is no `shared` folder beside the repository");
        return;
    }
    let mut problems = 0;
    for folder in ["benchmarks", "instances"]
        .iter()
        .flat_map(|f| folders(&shared.join(f)))
    {
        let domain = read(&folder.join("domain.pddl"));
        for path in folders(&folder) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("domain") {
                let (domain, messages) = check_domain(&parse(&read(&path)).0);
                assert!(domain.is_some() && messages.usable(), "{messages}");
                continue;
            }
            let (problem, messages) = read_problem(&domain, &read(&path));
            let problem = problem.unwrap_or_else(|| panic!("{messages}"));
            assert_eq!(messages.count(Severity::Error), 0);
            assert_eq!(reread(&problem), problem, "{}", path.display());
            problems += 1;
        }
    }
    assert!(problems > 700, "only {problems} problems were found");
}
