use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use homing_lab::record::{CurvePoint, Training, read};
use homing_lab::report::{ReportOptions, render};

use crate::runs::{Run, entries, fixture, homing, root, run_with};
use crate::{evaluations, kill_until_done, timeless, timeless_training};

const TINY: &str = r#"
title = "tiny"
domains = ["blocks"]
heuristics = ["blind", "ff"]
seeds = 2

[train]
problems = 20
config.steps = 250
config.layers = 4

[select]
problems = 2
every = 100
max_evaluations = 30

[evaluate]
problems = 3
max_evaluations = 60
"#;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn file(&self, text: &str) -> PathBuf {
        let path = self.folder.path().join("experiment.toml");
        std::fs::write(&path, text).expect("a file");
        path
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn arguments(&self, text: &str, name: &str) -> Vec<OsString> {
        let file = self.file(text);
        let out = self.out(name);
        ["experiment".into(), file.into(), "--out".into(), out.into()].into()
    }

    fn run(&self, text: &str, name: &str) -> Run {
        run_with(self.arguments(text, name))
    }
}

fn trainings(folder: &Path) -> Vec<Training> {
    read(&folder.join("training.jsonl")).expect("records")
}

#[test]
fn the_whole_path_runs_once() {
    let place = Place::new();
    let out = place.out("a");
    let run = place.run(TINY, "a").ends_with(0);
    assert!(run.stdout.contains("22 of 22 tasks done"), "{run:#?}");
    let models = trainings(&out);
    assert_eq!(models.len(), 4);
    for model in &models {
        assert!(out.join(&model.model).is_file());
        assert_eq!(model.steps, 250);
        assert!(model.selected_step.is_some_and(|step| step <= 250));
        assert_eq!(
            model.curve.last(),
            Some(&CurvePoint {
                step: 250,
                goals: model.goals
            })
        );
        assert!(
            model
                .curve
                .is_sorted_by_key(|point| (point.step, point.goals))
        );
    }
    assert_eq!(
        evaluations(&out.join("evaluations.jsonl")).len(),
        3 * (2 + 4)
    );
    // Again: nothing is done twice.
    let before = std::fs::read(out.join("evaluations.jsonl")).unwrap();
    place.run(TINY, "a").ends_with(0);
    assert_eq!(
        std::fs::read(out.join("evaluations.jsonl")).unwrap(),
        before
    );

    // A change of the limit keeps the models; the old runs are put aside.
    let changed = TINY.replace("max_evaluations = 60", "max_evaluations = 70");
    place.run(&changed, "a").ends_with(0);
    let again = trainings(&out);
    assert_eq!(again, models);
    let records = evaluations(&out.join("evaluations.jsonl"));
    assert_eq!(records.len(), 18);
    assert!(
        records
            .iter()
            .all(|record| record.max_evaluations == Some(70))
    );
    assert_eq!(
        evaluations(&out.join("earlier/evaluations.jsonl")).len(),
        18
    );
    // And back: they are there.
    place.run(TINY, "a").ends_with(0);
    assert_eq!(
        std::fs::read(out.join("evaluations.jsonl")).unwrap(),
        before
    );
}

#[test]
fn killed_again_and_again_it_ends_with_the_same_records_and_report() {
    let place = Place::new();
    let calm = place.out("calm");
    place.run(TINY, "calm").ends_with(0);
    let start = || -> Child {
        homing()
            .args(place.arguments(TINY, "killed"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("homing starts")
    };
    let kills = kill_until_done(start, Duration::from_millis(20), Duration::from_millis(60));
    println!("{kills} kills");
    assert!(kills >= 3, "{kills}");
    let killed = place.out("killed");
    let runs = |folder: &Path| timeless(evaluations(&folder.join("evaluations.jsonl")));
    let models = |folder: &Path| timeless_training(trainings(folder));
    assert_eq!(runs(&killed), runs(&calm));
    assert_eq!(models(&killed), models(&calm));
    // The report is a function of the records, so it is the same but for times.
    let report =
        |folder: &Path| render(&runs(folder), &models(folder), &ReportOptions::default()).files;
    assert_eq!(report(&killed), report(&calm));
    let reported = |folder: &Path| entries(&folder.join("report"));
    assert_eq!(reported(&killed), reported(&calm));
    let files = |folder: &Path| entries(&folder.join("models"));
    assert_eq!(files(&killed), files(&calm));
    // A kill between a record and the removal of what training wrote besides.
    let before = files(&calm);
    let model = calm.join("models").join(&before[0]);
    std::fs::write(model.with_extension("config.toml"), "").expect("a file");
    std::fs::create_dir(model.with_extension("events")).expect("a folder");
    // And one while the report is written.
    let half = calm.join("report/.homing-report-half");
    std::fs::create_dir(&half).expect("a folder");
    std::fs::write(half.join("index.html"), "").expect("a file");
    place.run(TINY, "calm").ends_with(0);
    assert_eq!(files(&calm), before);
    assert_eq!(reported(&calm), reported(&killed));
}

#[test]
fn a_dry_run_lists_the_tasks_and_touches_nothing() {
    let place = Place::new();
    let mut arguments = place.arguments(TINY, "a");
    arguments.push("--dry-run".into());
    let run = run_with(arguments).ends_with(0);
    assert!(
        run.stdout.contains("train and select blocks, ff"),
        "{run:#?}"
    );
    assert!(run.stdout.contains("gbfs blocks, H-blind"), "{run:#?}");
    assert!(!place.out("a").exists());
}

#[test]
fn a_task_that_fails_does_not_stop_the_others() {
    let place = Place::new();
    let text = format!(
        "{TINY}\n[own.other]\ndomain = 'd/domain.pddl'\ntrain = 'd'\nselect = 'd'\nevaluate = 'd'\n[train.domain.other]\nlearning_rate = 1e30\n"
    );
    let own = place.out("d");
    std::fs::create_dir(&own).unwrap();
    for name in ["domain.pddl", "p01.pddl", "p02.pddl", "p03.pddl"] {
        std::fs::copy(fixture("valid/blocks").join(name), own.join(name)).unwrap();
    }
    let run = place.run(&text, "a").ends_with(2);
    let run = run.says("training models/other-ff-0-").says("diverged");
    run.says("searches left out for want of training models/other-");
    let records = evaluations(&place.out("a/evaluations.jsonl"));
    // Blocks wholly, and the bases of the other.
    assert_eq!(records.len(), 18 + 2 * 3);
    assert_eq!(trainings(&place.out("a")).len(), 4);
}

#[test]
fn mistakes_in_the_file_are_shown() {
    let place = Place::new();
    place
        .run("title = 3", "a")
        .ends_with(33)
        .says("experiment.toml");
    place
        .run("title = 'x'", "a")
        .ends_with(33)
        .says("no domain is named");
    let missing = "title = 'x'\nseeds = 1\n[own.other]\ndomain = 'none.pddl'\ntrain = 'none'\n";
    place.run(missing, "a").ends_with(33).says("none.pddl");
    assert!(!place.out("a").exists());
}

#[test]
fn the_experiments_that_come_with_homing_can_be_planned() {
    let folder = root().join("experiments");
    for name in entries(&folder) {
        let place = Place::new();
        let out = place.out("a");
        let file = folder.join(&name);
        let arguments: [OsString; 5] = [
            "experiment".into(),
            file.into(),
            "--out".into(),
            out.into(),
            "--dry-run".into(),
        ];
        let run = run_with(arguments).ends_with(0);
        assert!(run.stdout.contains("\nall "), "{name}: {run:#?}");
    }
}
