//! The learned baselines, the graph network with PPO above all, as a user meets them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::runs::{entries, homing, run};
use crate::training::{bytes, folder};

/// A few problems of two places and two cars, in `small`.
fn small(folder: &Path) -> PathBuf {
    let out = folder.join("small");
    run![
        "generate",
        "ferry",
        "--locations",
        "2",
        "--cars",
        "2",
        "--seeds",
        "0..9",
        "--out",
        out
    ]
    .ends_with(0);
    out
}

/// So little that it takes a second or two.
const SETTINGS: [&str; 9] = [
    "--learner",
    "gnn",
    "--width",
    "16",
    "--iterations",
    "6",
    "--episodes",
    "12",
    "--json",
];

/// Starts a command that goes on from its checkpoint, and kills it, until its model is there.
fn kill_until_there(model: &Path, command: impl Fn() -> Command) {
    let mut pause = 40;
    while !model.exists() {
        let mut killed = command()
            .stdout(Stdio::null())
            .spawn()
            .expect("homing starts");
        std::thread::sleep(Duration::from_millis(pause));
        killed.kill().expect("a signal");
        killed.wait().expect("an end");
        // A slow machine gets there as well.
        pause += pause / 2;
    }
}

#[test]
fn a_hypergraph_network_killed_again_and_again_has_the_same_bytes_on_any_number_of_threads() {
    let folder = folder();
    let small = small(folder.path());
    let config = folder.path().join("hgn.toml");
    std::fs::write(&config, "width = 8\nrounds = 3\nepochs = 12\nfolds = 3\n").expect("a file");
    let model = |name: &str| folder.path().join(format!("{name}.safetensors"));
    let command = |name: &str, jobs: &str| {
        let mut command = homing();
        command.args(["train", "--learner", "hgn", "--resume", "--jobs", jobs]);
        command.args(["--checkpoint-every", "1", "--config"]);
        command
            .arg(&config)
            .arg("--out")
            .arg(model(name))
            .arg(&small);
        command
    };
    for (name, jobs) in [("one", "1"), ("three", "3")] {
        let straight = command(name, jobs).output().expect("homing starts");
        assert!(straight.status.success(), "{straight:?}");
    }
    assert!(bytes(model("one")) == bytes(model("three")));
    kill_until_there(&model("killed"), || command("killed", "2"));
    assert!(bytes(model("one")) == bytes(model("killed")));
}

#[test]
fn killed_again_and_again_a_run_ends_with_the_same_bytes_on_any_number_of_threads() {
    let folder = folder();
    let small = small(folder.path());
    let model = |name: &str| folder.path().join(format!("{name}.safetensors"));
    let command = |name: &str, jobs: &str| {
        let mut command = homing();
        command.arg("train").args(SETTINGS);
        command.args(["--checkpoint-every", "1", "--resume", "--jobs", jobs]);
        command
            .args(["--select-every", "2", "--select"])
            .arg(&small);
        command.arg("--out").arg(model(name)).arg(&small);
        command
    };
    let straight = command("one", "1").output().expect("homing starts");
    assert!(straight.status.success(), "{straight:?}");
    let record: Value = serde_json::from_slice(&straight.stdout).expect("one object");
    assert_eq!(record["learner"], "gnn");
    // Those behind the snapshot that was kept.
    let episodes = record["episodes"].as_u64().expect("a number");
    assert!([24, 48, 72].contains(&episodes), "{episodes}");
    assert_eq!(record["config"]["width"], 16);
    let three = command("three", "3").output().expect("homing starts");
    assert!(three.status.success(), "{three:?}");
    assert!(bytes(model("one")) == bytes(model("three")));
    kill_until_there(&model("killed"), || command("killed", "2"));
    assert!(bytes(model("one")) == bytes(model("killed")));
    let log = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a log");
    assert_eq!(log("one.jsonl"), log("killed.jsonl"));
    assert_eq!(log("one.jsonl").lines().count(), 6);
    let left = entries(folder.path());
    assert!(
        !left
            .iter()
            .any(|name| name.starts_with("killed.checkpoint")),
        "{left:?}"
    );
    assert!(
        !left.iter().any(|name| name.starts_with("killed.best")),
        "{left:?}"
    );
    let again = command("one", "1").output().expect("homing starts");
    assert!(again.status.success(), "{again:?}");
}

#[test]
fn its_policy_guides_searches() {
    let folder = folder();
    let small = small(folder.path());
    let model = folder.path().join("m.safetensors");
    let mut train = homing();
    train.arg("train").args(SETTINGS).arg("--out").arg(&model);
    let output = train.arg(&small).output().expect("homing starts");
    assert!(output.status.success(), "{output:?}");
    let problem = small.join("2-2-s3.pddl");
    for search in ["gbfs-h", "gbfs-v", "gbfls-h", "gbfls-v", "gbfls-h-found"] {
        let run = run![
            "solve",
            "--model",
            model,
            "--search",
            search,
            "--max-evaluations",
            "5000",
            "--json",
            problem
        ]
        .ends_with(0);
        let record: Value = serde_json::from_str(&run.stdout).expect("one object");
        assert_eq!(record["outcome"], "solved", "{search}");
        assert_eq!(record["heuristic"], "gnn");
        assert_eq!(record["search"], search);
        assert_eq!(record["validated"], true);
    }
    // It is a heuristic for the others, and they are none for these searches.
    run!["solve", "--model", model, "--search", "gbfs", problem].ends_with(0);
    run!["solve", "--search", "gbfs-h", problem]
        .ends_with(33)
        .says("guided by a policy");
    let shown = run!["model", "show", model].ends_with(0);
    assert!(
        shown.stdout.contains("a graph network by PPO"),
        "{shown:#?}"
    );
    let records = folder.path().join("runs.jsonl");
    run![
        "evaluate",
        "--model",
        model,
        "--search",
        "gbfs-h,gbfs-v-found",
        "--max-evaluations",
        "200",
        "--out",
        records,
        problem
    ]
    .ends_with(0);
    let text = std::fs::read_to_string(&records).expect("records");
    assert_eq!(text.lines().count(), 2, "{text}");
    run!["train", "--learner", "gnn", "--layers", "3", &small]
        .ends_with(33)
        .says("--layers is not for --learner gnn");
    run![
        "train",
        "--learner",
        "gnn",
        "--select-evaluations",
        "9",
        &small
    ]
    .ends_with(33)
    .says("--select-evaluations is not for --learner gnn, which selects by walks");
    run!["train", "--learner", "hgn", &small, "--select"]
        .ends_with(33)
        .says("--select is not for --learner hgn, which keeps the epoch that is best");
    run!["train", "--width", "3", small]
        .ends_with(33)
        .says("--width is for --learner gnn");
}
