//! Several processes on the folder of one experiment.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use homing_lab::record::{Record, Training, read};
use homing_lab::report::{ReportOptions, render};

use crate::runs::{Run, entries, homing, run_with};
use crate::{evaluations, kill_until_done, timeless, timeless_training};

const TINY: &str = r#"
title = "shared"
domains = ["blocks", "gripper"]
heuristics = ["ff"]
seeds = 2

[train]
problems = 5
config.steps = 60
config.layers = 4

[evaluate]
problems = 2
max_evaluations = 40
"#;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("experiment.toml"), text).expect("a file");
        Self { folder }
    }

    fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn arguments(&self, name: &str, extra: &[&str]) -> Vec<OsString> {
        let file = self.folder.path().join("experiment.toml");
        let out = self.out(name).into();
        let mut all = vec!["experiment".into(), file.into(), "--out".into(), out];
        all.extend(extra.iter().map(OsString::from));
        all
    }

    fn run(&self, name: &str, extra: &[&str]) -> Run {
        run_with(self.arguments(name, extra))
    }

    fn start(&self, name: &str, extra: &[&str]) -> Child {
        homing()
            .args(self.arguments(name, extra))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("homing starts")
    }
}

#[track_caller]
fn end(child: Child) -> Run {
    Run::from(child.wait_with_output().expect("a child"))
}

fn trainings(folder: &Path) -> Vec<Training> {
    read(&folder.join("training.jsonl")).expect("records")
}

/// Fails unless both folders hold the same, times aside, and each record once.
#[track_caller]
fn same(one: &Path, other: &Path) {
    let runs = |folder: &Path| timeless(evaluations(&folder.join("evaluations.jsonl")));
    let models = |folder: &Path| timeless_training(trainings(folder));
    assert_eq!(runs(one), runs(other));
    assert_eq!(models(one), models(other));
    let report =
        |folder: &Path| render(&runs(folder), &models(folder), &ReportOptions::default()).files;
    assert_eq!(report(one), report(other));
    let files = |folder: &Path, of: &str| entries(&folder.join(of));
    for of in ["report", "models", "problems"] {
        assert_eq!(files(one, of), files(other, of));
    }
    for file in ["evaluations.jsonl", "training.jsonl"] {
        let lines = |folder: &Path| {
            let text = std::fs::read_to_string(folder.join(file)).expect("records");
            text.lines().count()
        };
        assert_eq!(lines(one), lines(other));
    }
    let keys: BTreeSet<String> = runs(one).iter().map(|r| r.key().to_owned()).collect();
    assert_eq!(keys.len(), runs(one).len());
}

#[test]
fn chunks_together_are_the_experiment() {
    let place = Place::new(TINY);
    place.run("whole", &[]).ends_with(0);
    for number in ["1/3", "2/3", "3/3"] {
        place.run("chunks", &["--chunk", number]).ends_with(0);
    }
    let run = place.run("chunks", &["--only", "report"]).ends_with(0);
    assert!(run.stdout.contains("16 of 16 tasks done"), "{run:#?}");
    same(&place.out("chunks"), &place.out("whole"));

    // Stage by stage; without models nothing is searched with them.
    place
        .run("stages", &["--only", "search", "--chunk", "1/2"])
        .ends_with(2)
        .says("left out for want of training");
    place.run("stages", &["--only", "train"]).ends_with(0);
    place
        .run("stages", &["--only", "search", "--chunk", "1/2"])
        .ends_with(0);
    let run = place.run("stages", &["--only", "report"]).ends_with(2);
    assert!(!run.stdout.contains("16 of 16 tasks done"), "{run:#?}");
    place
        .run("stages", &["--only", "search", "--chunk", "2/2"])
        .ends_with(0);
    place.run("stages", &["--only", "report"]).ends_with(0);
    same(&place.out("stages"), &place.out("whole"));
    // A whole run finds all of it done.
    place.run("stages", &[]).ends_with(0);
    same(&place.out("stages"), &place.out("whole"));
}

#[test]
fn chunks_that_are_killed_go_on() {
    let place = Place::new(TINY);
    place.run("whole", &[]).ends_with(0);
    let start = || place.start("killed", &["--chunk", "1/1"]);
    let kills = kill_until_done(start, Duration::from_millis(20), Duration::from_millis(40));
    assert!(kills >= 3, "{kills}");
    place.run("killed", &["--only", "report"]).ends_with(0);
    same(&place.out("killed"), &place.out("whole"));
}

#[test]
fn what_is_wrong_with_a_chunk_is_said() {
    let place = Place::new(TINY);
    place
        .run("a", &["--chunk", "4/3"])
        .ends_with(33)
        .says("expected a chunk such as 3/8");
    place.run("a", &["--only", "report"]).ends_with(2);
}
