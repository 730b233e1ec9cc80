use std::ffi::OsString;
use std::path::Path;

use crate::evaluations;
use crate::runs::{Run, entries, run_with};

fn quickstart(out: &Path, extra: &[&str]) -> Run {
    let mut all: Vec<OsString> = vec!["quickstart".into(), "--out".into(), out.into()];
    all.extend(["--largest", "20", "--time-limit", "30"].map(OsString::from));
    all.extend(extra.iter().map(OsString::from));
    run_with(all)
}

#[test]
fn it_leaves_model_plans_records_report_and_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("q");
    let run = quickstart(&out, &[]).ends_with(0);
    // No terminal: plain lines.
    assert!(
        !run.stdout.contains('\x1b') && !run.stderr.contains('\x1b'),
        "{run:#?}"
    );
    for line in [
        "Learning from 2 to 6 blocks",
        "candidate",
        "h_FF",
        "of 2 with h_FF, 2 of 2 with what was learnt",
        "index.html",
    ] {
        assert!(run.stdout.contains(line), "no `{line}` in {run:#?}");
    }
    let records = evaluations(&out.join("evaluations.jsonl"));
    assert_eq!(records.len(), 4);
    let solved = records.iter().filter(|record| record.solved()).count();
    assert_eq!(entries(&out.join("plans")).len(), solved);
    assert!(out.join("report/index.html").is_file());
    assert!(out.join("blocks.safetensors").is_file());
    let readme = std::fs::read_to_string(out.join("README.txt")).unwrap();
    assert!(readme.contains("--out mine.safetensors domain.pddl small/"));

    // Again: nothing is run, the same is shown.
    let before = std::fs::read(out.join("evaluations.jsonl")).unwrap();
    let again = quickstart(&out, &[]).ends_with(0);
    assert!(
        again.stdout.contains("the model is there already"),
        "{again:#?}"
    );
    assert!(again.stdout.contains(run.line("solved: ")), "{again:#?}");
    assert_eq!(
        std::fs::read(out.join("evaluations.jsonl")).unwrap(),
        before
    );
    // With other settings the folder is left alone.
    quickstart(&out, &["--seed", "1"])
        .ends_with(33)
        .says("is not empty");
}

#[test]
fn a_folder_of_something_else_is_not_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("thesis.tex"), "years of work").unwrap();
    quickstart(folder.path(), &[])
        .ends_with(33)
        .says("is not empty");
    assert_eq!(entries(folder.path()), ["thesis.tex"]);
}
