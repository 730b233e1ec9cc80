//! Six worst cases under limits of time and memory.

use std::ffi::OsString;

use serde_json::Value;

use crate::measured::{Measured, measure};
use crate::runs::{fixture, run, run_with};
use crate::worst::{self, Files};

/// `homing solve --json` with these flags.
fn solve(files: &Files, flags: &[&str]) -> Measured {
    let mut arguments: Vec<OsString> = vec!["solve".into(), "--json".into()];
    arguments.extend(flags.iter().map(OsString::from));
    arguments.extend([files.domain.clone().into(), files.problem.clone().into()]);
    measure(arguments, None)
}

const MEMORY: u64 = 200 << 20;

#[test]
fn wide_actions() {
    let files = worst::wide_action();
    let run = solve(&files, &["--time-limit", "1"])
        .ended(23, "time-limit")
        .within_seconds(1.0);
    assert!(run.stderr.contains("action `spin` has "), "{run:#?}");
    assert!(
        run.stderr.contains("out of up to 4.7e10 (?a: 60, "),
        "{run:#?}"
    );
    let run = solve(&files, &["--memory-limit", "200M", "--time-limit", "50"])
        .ended(22, "memory-limit")
        .within_bytes(MEMORY);
    assert!(run.stderr.contains("action `spin` has "), "{run:#?}");
}

#[test]
fn many_objects() {
    let files = worst::many_objects();
    solve(&files, &["--time-limit", "1"])
        .ended(23, "time-limit")
        .within_seconds(1.0);
    solve(&files, &["--memory-limit", "200M", "--time-limit", "50"])
        .ended(22, "memory-limit")
        .within_bytes(MEMORY);
}

#[test]
fn deep_joins() {
    let run = solve(&worst::deep_join(), &["--time-limit", "1"])
        .ended(23, "time-limit")
        .within_seconds(1.0)
        .within_bytes(MEMORY);
    assert!(run.stderr.contains("action `sit` has 0 ground"), "{run:#?}");
}

#[test]
fn huge_files() {
    let files = worst::huge_file();
    solve(&files, &["--memory-limit", "60M", "--time-limit", "50"])
        .ended(22, "memory-limit")
        .within_bytes(60 << 20);
    let run = solve(&files, &["--time-limit", "0.05"])
        .ended(23, "time-limit")
        .within_seconds(0.05);
    assert!(run.record()["parse_seconds"].as_f64() > Some(0.0));
}

#[test]
fn one_slow_evaluation() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("model.safetensors");
    let blocks = fixture("valid/blocks");
    run![
        "train",
        "--learner",
        "nlm",
        "--steps",
        "1",
        "--max-arity",
        "3",
        "--out",
        model,
        "--no-log",
        blocks
    ]
    .ends_with(0);
    let files = worst::many_blocks(&fixture("valid/blocks/domain.pddl"));
    let model = model.to_str().expect("a path").to_owned();
    let flags = ["--search", "gbfs", "--model", &model, "--threads", "1"];
    let run = solve(&files, &[&flags[..], &["--time-limit", "1"]].concat())
        .ended(23, "time-limit")
        .within_seconds(1.0);
    assert!(run.record()["actions"].as_u64() > Some(0), "{run:#?}");
    solve(
        &files,
        &[&flags[..], &["--memory-limit", "40M", "--time-limit", "50"]].concat(),
    )
    .ended(22, "memory-limit")
    .within_bytes(40 << 20);
}

#[test]
fn a_large_landmark_graph() {
    let files = worst::many_landmarks();
    let flags = ["--search", "gbfs", "--heuristic", "landmarks"];
    solve(&files, &[&flags[..], &["--time-limit", "1"]].concat())
        .ended(23, "time-limit")
        .within_seconds(1.0);
    solve(
        &files,
        &[&flags[..], &["--memory-limit", "60M", "--time-limit", "50"]].concat(),
    )
    .ended(22, "memory-limit")
    .within_bytes(60 << 20);
}

/// What the children of `homing evaluate` do not bring back in time is recorded as such.
#[test]
fn children_keep_to_their_limits() {
    let files = worst::wide_action();
    let records = files.folder.path().join("records.jsonl");
    let mut arguments: Vec<OsString> = ["evaluate", "--heuristic", "ff", "--time-limit", "1"]
        .map(OsString::from)
        .to_vec();
    arguments.extend(["--memory-limit".into(), "200M".into(), "--out".into()]);
    arguments.extend([records.clone().into()]);
    arguments.extend([files.domain.clone().into(), files.problem.clone().into()]);
    run_with(arguments).ends_with(0);
    let text = std::fs::read_to_string(records).expect("records");
    let record: Value = serde_json::from_str(text.trim()).expect("one record");
    let outcome = record["outcome"].as_str().expect("an outcome");
    assert!(["time-limit", "memory-limit"].contains(&outcome), "{text}");
}
