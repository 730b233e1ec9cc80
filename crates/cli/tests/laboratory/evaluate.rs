use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use homing_lab::record::{Evaluation, Outcome};

use crate::runs::{Run, fixture, homing, run_with};
use crate::{evaluations, kill_until_done, timeless};

fn arguments(records: &Path, extra: &[&str]) -> Vec<OsString> {
    let mut all: Vec<OsString> = vec!["evaluate".into(), "--out".into(), records.into()];
    all.extend(extra.iter().map(OsString::from));
    all.push(fixture("valid/blocks").into());
    all
}

fn evaluate(records: &Path, extra: &[&str]) -> Run {
    run_with(arguments(records, extra))
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let records = folder.path().join("new/evaluations.jsonl");
    (folder, records)
}

#[test]
fn every_run_leaves_one_record() {
    let (_folder, records) = folder();
    let run = evaluate(
        &records,
        &["--heuristic", "blind,ff", "--max-evaluations", "50"],
    );
    let problems = std::fs::read_dir(fixture("valid/blocks")).unwrap().count() - 1;
    let run = run.ends_with(0);
    assert!(
        run.stdout
            .contains(&format!("{} runs made, 0 were there", 2 * problems)),
        "{run:#?}"
    );
    let there = evaluations(&records);
    assert_eq!(there.len(), 2 * problems);
    for record in &there {
        assert!(record.evaluations <= 50);
        assert_eq!(record.search, "gbfs");
        assert_eq!(record.max_evaluations, Some(50));
        assert_eq!(record.solved(), record.validated);
        assert_eq!(record.solved(), record.plan_cost.is_some());
        assert!(record.objects > 0 && record.cpu_seconds > 0.0 && !record.machine.is_empty());
    }
    assert!(there.iter().any(|record| record.outcome == Outcome::Limit));
    assert!(there.iter().any(|record| record.outcome == Outcome::Solved));

    // Again: nothing to do, nothing changed.
    let before = std::fs::read(&records).unwrap();
    let run = evaluate(
        &records,
        &["--heuristic", "blind,ff", "--max-evaluations", "50"],
    );
    assert!(run.ends_with(0).stdout.contains("0 runs made"));
    assert_eq!(std::fs::read(&records).unwrap(), before);
    // Another limit is another run.
    let run = evaluate(&records, &["--heuristic", "ff", "--max-evaluations", "60"]);
    assert!(
        run.ends_with(0)
            .stdout
            .contains(&format!("{problems} runs made"))
    );
}

#[test]
fn a_model_runs_beside_its_base_and_plans_are_kept() {
    let (folder, records) = folder();
    let model = folder.path().join("m.safetensors");
    let problem = fixture("valid/blocks/p01.pddl");
    run_with([
        OsString::from("train"),
        "--learner".into(),
        "nlm".into(),
        "--heuristic".into(),
        "add".into(),
        "--steps".into(),
        "30".into(),
        "--no-log".into(),
        "--seed".into(),
        "7".into(),
        "--out".into(),
        model.clone().into(),
        problem.clone().into(),
    ])
    .ends_with(0);
    let plans = folder.path().join("plans");
    run_with([
        OsString::from("evaluate"),
        "--heuristic".into(),
        "add".into(),
        "--model".into(),
        folder.path().into(),
        "--out".into(),
        records.clone().into(),
        "--plans".into(),
        plans.clone().into(),
        problem.clone().into(),
    ])
    .ends_with(0);
    let there = evaluations(&records);
    let mut names: Vec<String> = there.iter().map(Evaluation::configuration).collect();
    names.sort();
    assert_eq!(names, ["H-add", "add"]);
    let learned = there
        .iter()
        .find_map(|record| record.model.as_ref())
        .unwrap();
    assert_eq!((learned.seed, learned.steps), (7, 30));
    for name in ["p01-gbfs-add.plan", "p01-gbfs-H-add-7.plan"] {
        let plan = plans.join(name);
        run_with([
            OsString::from("validate"),
            problem.clone().into(),
            plan.into(),
        ])
        .ends_with(0);
    }
}

#[test]
fn killed_again_and_again_it_makes_each_run_once() {
    let (folder, records) = folder();
    let extra = [
        "--heuristic",
        "blind,max,add,ff",
        "--jobs",
        "2",
        "--search",
        "gbfs,astar",
    ];
    let calm = folder.path().join("calm.jsonl");
    evaluate(&calm, &extra).ends_with(0);
    let start = || -> Child {
        homing()
            .args(arguments(&records, &extra))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("homing starts")
    };
    let kills = kill_until_done(start, Duration::from_millis(10), Duration::from_millis(15));
    assert!(kills >= 2, "{kills}");
    let sorted = |path: &Path| {
        let mut records = timeless(evaluations(path));
        records.sort_by(|one, other| one.key.cmp(&other.key));
        records
    };
    assert_eq!(sorted(&records), sorted(&calm));
    // Each run once: as many lines as records.
    let lines = std::fs::read_to_string(&records).unwrap().lines().count();
    assert_eq!(lines, sorted(&records).len());
}

#[test]
fn half_a_line_is_of_a_killed_run() {
    let (_folder, records) = folder();
    let extra = ["--heuristic", "ff"];
    evaluate(&records, &extra).ends_with(0);
    let whole = std::fs::read_to_string(&records).unwrap();
    std::fs::write(&records, &whole[..whole.len() - 20]).unwrap();
    let run = evaluate(&records, &extra).ends_with(0);
    assert!(
        run.stdout.contains("1 runs made") || run.stdout.contains("1 run made"),
        "{run:#?}"
    );
    assert_eq!(evaluations(&records).len(), whole.lines().count());
}

#[test]
fn what_is_wrong_is_said_before_anything_runs() {
    let (folder, records) = folder();
    evaluate(&records, &[])
        .ends_with(33)
        .says("name heuristics with --heuristic");
    let missing = folder.path().join("none.safetensors");
    evaluate(&records, &["--model", missing.to_str().unwrap()])
        .ends_with(33)
        .says("none.safetensors");
    evaluate(&records, &["--model", folder.path().to_str().unwrap()])
        .ends_with(33)
        .says("there are no models");
    assert!(!records.exists());
    std::fs::create_dir_all(records.parent().unwrap()).unwrap();
    std::fs::write(&records, "{\"format\": 1}\nno record\n").unwrap();
    evaluate(&records, &["--heuristic", "ff"])
        .ends_with(33)
        .says("evaluations.jsonl:1: not a record");
    assert_eq!(
        std::fs::read_to_string(&records).unwrap().lines().count(),
        2
    );
}

#[test]
fn records_become_properties_for_the_reports_of_lab() {
    let (folder, records) = folder();
    let lab = folder.path().join("lab");
    let options = [
        "--heuristic",
        "blind,ff",
        "--max-evaluations",
        "50",
        "--lab",
    ];
    let options = [&options[..], &[lab.to_str().unwrap()]].concat();
    evaluate(&records, &options).ends_with(0);
    let text = std::fs::read_to_string(lab.join("properties")).unwrap();
    let runs: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    let there = evaluations(&records);
    assert_eq!(runs.len(), there.len());
    for record in &there {
        let algorithm = format!("gbfs-{}", record.configuration());
        let run = &runs[&format!("{algorithm}-{}-{}", record.domain, record.problem)];
        assert_eq!(run["coverage"], u8::from(record.solved()));
        assert_eq!(run["algorithm"], *algorithm);
        assert_eq!(run.get("evaluations").is_some(), record.solved());
    }
}
