use std::ffi::OsString;
use std::path::Path;

use crate::evaluations;
use crate::runs::{Run, entries, run_with};

fn quickstart(out: &Path, extra: &[&str]) -> Run {
    let mut all: Vec<OsString> = vec!["quickstart".into(), "--out".into(), out.into()];
    all.extend(["--steps", "200", "--max-evaluations", "300"].map(OsString::from));
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
    for line in ["Training: goals reached", "h_FF", "solved: ", "index.html"] {
        assert!(run.stdout.contains(line), "no `{line}` in {run:#?}");
    }
    assert_eq!(evaluations(&out.join("evaluations.jsonl")).len(), 24);
    let solved = evaluations(&out.join("evaluations.jsonl"));
    let solved = solved.iter().filter(|record| record.solved()).count();
    assert_eq!(entries(&out.join("plans")).len(), solved);
    assert!(out.join("report/index.html").is_file());
    assert_eq!(entries(&out.join("models")).len(), 2);
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

    // As an experiment it is done.
    let file = out.join("experiment.toml");
    let run = run_with([
        OsString::from("experiment"),
        file.into(),
        "--out".into(),
        out.clone().into(),
    ]);
    assert!(run.ends_with(0).stdout.contains("25 of 25 tasks done"));
    assert_eq!(
        std::fs::read(out.join("evaluations.jsonl")).unwrap(),
        before
    );
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
