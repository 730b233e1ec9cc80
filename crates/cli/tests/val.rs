//! Plans of competition problems before VAL, the validator of the planning competitions.
//!
//! Optional: it needs the folder `shared/benchmarks` beside the repository and, in `HOMING_VAL`,
//! the path of VAL's `Validate` (`dev/val/README.md`).

use std::path::{Path, PathBuf};
use std::process::Command;

/// Problems of a domain that are tried, the smallest files first.
const PER_DOMAIN: usize = 4;

/// What a plan may take to find.
const LIMITS: [&str; 6] = [
    "--max-evaluations",
    "20000",
    "--time-limit",
    "20",
    "--memory-limit",
    "2G",
];

#[test]
fn val_accepts_the_plans_of_fifty_competition_problems() {
    let Some(validate) = std::env::var_os("HOMING_VAL") else {
        eprintln!("skipped: HOMING_VAL is not set (dev/val/README.md)");
        return;
    };
    let benchmarks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/benchmarks");
    if !benchmarks.is_dir() {
        eprintln!("skipped: there is no folder `shared/benchmarks` beside the repository");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan");
    let (mut accepted, mut unsolved, mut rejected) = (0, Vec::new(), Vec::new());
    for domain_folder in entries(&benchmarks) {
        let domain = domain_folder.join("domain.pddl");
        for problem in smallest_problems(&domain_folder) {
            let name = problem.strip_prefix(&benchmarks).expect("a file of it");
            let name = name.display().to_string();
            let solved = Command::new(env!("CARGO_BIN_EXE_homing"))
                .arg("solve")
                .args(LIMITS)
                .arg("--plan-file")
                .arg(&plan)
                .args([&domain, &problem])
                .output()
                .expect("homing starts");
            match solved.status.code() {
                Some(0) => {}
                Some(11 | 12 | 22 | 23) => {
                    unsolved.push(name);
                    continue;
                }
                _ => panic!("{name}: {}", String::from_utf8_lossy(&solved.stderr)),
            }
            let summary = String::from_utf8_lossy(&solved.stdout).into_owned();
            let judged = Command::new(&validate)
                .args([&domain, &problem, &plan])
                .output()
                .expect("HOMING_VAL is a program");
            let verdict = String::from_utf8_lossy(&judged.stdout).into_owned();
            let value = value_of(&verdict, &["Value:", "Final value:"]);
            let valid = verdict.lines().any(|line| line.starts_with("Plan valid"));
            if judged.status.success() && valid && value == value_of(&summary, &["Plan cost:"]) {
                accepted += 1;
            } else {
                rejected.push(format!("{name}: VAL says {value:?}\n{verdict}"));
            }
        }
    }
    eprintln!(
        "VAL accepted {accepted} plans; {} problems not solved within the limits: {}",
        unsolved.len(),
        unsolved.join(" ")
    );
    assert!(rejected.is_empty(), "{}", rejected.join("\n"));
    assert!(accepted >= 50, "only {accepted} plans");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

fn smallest_problems(folder: &Path) -> Vec<PathBuf> {
    let mut files = entries(folder);
    files.retain(|path| {
        let name = path
            .file_name()
            .map_or_else(Default::default, |name| name.to_string_lossy());
        name.ends_with(".pddl") && !name.starts_with("domain")
    });
    files.sort_by_key(|path| path.metadata().map_or(0, |file| file.len()));
    files.truncate(PER_DOMAIN);
    files
}

/// The number behind one of these words.
fn value_of(text: &str, starts: &[&str]) -> Option<f64> {
    let rest = |line: &str| {
        starts
            .iter()
            .find_map(|start| line.trim().strip_prefix(start).map(str::to_owned))
    };
    text.lines().find_map(rest)?.trim().parse().ok()
}
