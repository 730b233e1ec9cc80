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

pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("experiment.toml"), text).expect("a file");
        Self { folder }
    }

    pub(crate) fn out(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn arguments(&self, name: &str, extra: &[&str]) -> Vec<OsString> {
        let file = self.folder.path().join("experiment.toml");
        let out = self.out(name).into();
        let mut all = vec!["experiment".into(), file.into(), "--out".into(), out];
        all.extend(extra.iter().map(OsString::from));
        all
    }

    pub(crate) fn run(&self, name: &str, extra: &[&str]) -> Run {
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
pub(crate) fn same(one: &Path, other: &Path) {
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

/// One model, and four searches.
const LEAST: &str = r#"
title = "least"
domains = ["blocks"]
heuristics = ["ff"]
seeds = 1

[train]
problems = 2
config.steps = 20
config.layers = 4

[evaluate]
problems = 2
max_evaluations = 20
"#;

/// Lines of files of records in `parts/`.
fn lines_of_parts(folder: &Path, name: &str) -> usize {
    let parts = folder.join("parts");
    let files = entries(&parts)
        .into_iter()
        .filter(|file| file.ends_with(name));
    let text = files.map(|file| std::fs::read_to_string(parts.join(file)).expect("records"));
    text.map(|text| text.lines().count()).sum()
}

#[test]
fn two_processes_lose_and_double_no_record_in_a_hundred_tries() {
    let place = Place::new(LEAST);
    place.run("whole", &[]).ends_with(0);
    let mut doubled = 0;
    for number in 0..100 {
        let name = format!("try-{number}");
        // Both the same, or each its own half.
        let (one, other) = if number % 2 == 0 {
            (["--chunk", "1/1"], ["--chunk", "1/1"])
        } else {
            (["--chunk", "1/2"], ["--chunk", "2/2"])
        };
        let (one, other) = (place.start(&name, &one), place.start(&name, &other));
        end(one).ends_with(0);
        end(other).ends_with(0);
        let out = place.out(&name);
        assert_eq!(lines_of_parts(&out, ".training.jsonl"), 1, "{name}");
        doubled += lines_of_parts(&out, ".evaluations.jsonl") - 4;
        place.run(&name, &["--only", "report"]).ends_with(0);
        same(&out, &place.out("whole"));
        std::fs::remove_dir_all(out).expect("a folder");
    }
    println!("{doubled} searches were made twice, and recorded once");
}

/// Runs in a disk of its own that is too small, and then a little larger, until all fits: first the
/// trainings, then the searches, whose records need a page now and then.
const FULL_DISK: &str = r#"
set -eu
size=64
step=0
mount -t tmpfs -o size=${size}k,mode=755 tmpfs "$DISK"
for only in train search; do
    until "$@" --only $only >"$KEEP/said-$step" 2>&1; do
        code=$?
        step=$((step + 1))
        cat "$DISK"/parts/*.evaluations.jsonl >"$KEEP/records-$step" 2>/dev/null || true
        # 33: it could not begin. 2: it could not go on. 32 would be a panic.
        [ $code = 33 ] || [ $code = 2 ] || exit 9
        if [ $only = train ]; then size=$((size * 5 / 4)); else size=$((size + 4)); fi
        [ $size -lt 20000 ] || exit 8
        mount -o remount,size=${size}k "$DISK"
    done
    size=$(df -k --output=used "$DISK" | tail -n 1 | tr -d ' ')
    mount -o remount,size=${size}k "$DISK"
done
cp -r "$DISK" "$KEEP/out"
"#;

#[test]
fn a_full_disk_loses_nothing() {
    let place = Place::new(TINY);
    place.run("whole", &[]).ends_with(0);
    let (disk, keep) = (place.out("disk"), place.out("keep"));
    std::fs::create_dir(&disk).expect("a folder");
    std::fs::create_dir(&keep).expect("a folder");
    let own_mounts = ["--user", "--map-root-user", "--mount"];
    let mut command = std::process::Command::new("unshare");
    command.args(own_mounts);
    let mut probe = std::process::Command::new("unshare");
    probe
        .args(own_mounts)
        .args(["mount", "-t", "tmpfs", "tmpfs"])
        .arg(&disk);
    if !probe.output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no small disk can be mounted here (unshare --mount)");
        return;
    }
    command
        .args(["sh", "-c", FULL_DISK, "sh", env!("CARGO_BIN_EXE_homing")])
        .args(place.arguments("disk", &[]))
        .env("DISK", &disk)
        .env("KEEP", &keep);
    let run = Run::from(command.output().expect("a shell"));
    assert_eq!(run.code, Some(0), "{run:#?}");
    let full = entries(&keep)
        .into_iter()
        .filter(|name| name.starts_with("said-"))
        .filter(|name| {
            let said = std::fs::read_to_string(keep.join(name)).expect("a file");
            said.contains("disk is full") || said.contains("No space left")
        });
    let full = full.count();
    assert!(full >= 3, "the disk was full {full} times");
    println!("the disk was full {full} times");
    // What was recorded once is there ever after.
    let mut before = BTreeSet::new();
    for step in 1.. {
        let path = keep.join(format!("records-{step}"));
        if !path.exists() {
            break;
        }
        let keys: BTreeSet<String> = evaluations(&path)
            .iter()
            .map(|record| record.key.clone())
            .collect();
        assert!(keys.is_superset(&before), "step {step}");
        println!("step {step}: {} searches recorded", keys.len());
        before = keys;
    }
    assert!(!before.is_empty(), "it was never full between two searches");
    std::fs::rename(keep.join("out"), place.out("kept")).expect("a folder");
    place.run("kept", &["--only", "report"]).ends_with(0);
    same(&place.out("kept"), &place.out("whole"));
}

#[test]
fn the_status_counts_what_is_done_and_what_is_not() {
    let place = Place::new(TINY);
    let out = place.out("a");
    let status = || {
        let arguments: [OsString; 3] = ["experiment".into(), "status".into(), (&out).into()];
        run_with(arguments)
    };
    let there_is_none = status().ends_with(33);
    there_is_none.says("there is no experiment in");
    place.run("a", &["--only", "train"]).ends_with(0);
    let words = |run: &Run, row: &str| -> Vec<String> {
        let cells = run.line(row).split_whitespace().take(3);
        cells.map(str::to_owned).collect()
    };
    let run = status().ends_with(0);
    assert_eq!(words(&run, "train"), ["4", "0", "0"], "{run:#?}");
    assert_eq!(words(&run, "search"), ["0", "0", "12"], "{run:#?}");
    assert!(run.stdout.contains("to go on: "), "{run:#?}");
    place.run("a", &["--chunk", "1/2"]).ends_with(0);
    let half = status().ends_with(0);
    assert_eq!(words(&half, "train"), ["4", "0", "0"], "{half:#?}");
    assert_ne!(words(&half, "search"), ["0", "0", "12"], "{half:#?}");
    place.run("a", &["--chunk", "2/2"]).ends_with(0);
    let run = status().ends_with(0);
    assert_eq!(words(&run, "all"), ["16", "0", "0"], "{run:#?}");
    assert!(!run.stdout.contains("to go on: "), "{run:#?}");
}

#[test]
fn a_task_that_lacks_memory_fails_and_can_be_tried_again() {
    let place = Place::new(LEAST);
    place.run("whole", &[]).ends_with(0);
    place
        .run("a", &["--chunk", "1/1", "--task-memory", "1M"])
        .ends_with(2)
        .says("exit status: 22 (the memory limit was reached")
        .says("it needs more memory than the 1 MiB there are");
    let arguments: [OsString; 3] = ["experiment".into(), "status".into(), place.out("a").into()];
    let run = run_with(arguments).ends_with(2);
    let failed = |row: &str| run.line(row).split_whitespace().nth(1).map(str::to_owned);
    assert_eq!(failed("train").as_deref(), Some("1"), "{run:#?}");
    // Those with the model wait for it.
    assert_eq!(failed("search").as_deref(), Some("2"), "{run:#?}");
    place.run("a", &["--chunk", "1/1"]).ends_with(0);
    place.run("a", &["--only", "report"]).ends_with(0);
    same(&place.out("a"), &place.out("whole"));
}

#[test]
fn a_dry_run_for_slurm_shows_the_scripts_and_touches_nothing() {
    let place = Place::new(TINY);
    let options = [
        "--on",
        "slurm",
        "--dry-run",
        "--partition",
        "short",
        "--account",
        "us",
        "--time",
        "2:00:00",
        "--mem",
        "4G",
        "--throttle",
        "7",
        "--chunks",
        "3",
        "--max-array-size",
        "1001",
        "--sbatch=--qos=long",
    ];
    let run = place.run("a", &options).ends_with(0);
    assert!(!place.out("a").exists());
    let folder = place.folder.path().display().to_string();
    let text = run.stdout.replace(&folder, "/PLACE");
    let text = text.replace(env!("CARGO_BIN_EXE_homing"), "/BIN/homing");
    insta::assert_snapshot!("slurm-dry-run", text);
    place
        .run("a", &["--on", "slurm", "--dry-run", "--mem", "64M"])
        .ends_with(33)
        .says("are too few");
    place
        .run("a", &["--on", "slurm", "--dry-run", "--time", "soon"])
        .ends_with(33)
        .says("expected a time such as 90 (minutes)");
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
