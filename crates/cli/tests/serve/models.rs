//! What is told about models, and what servers leave behind.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Served;

fn homing(arguments: &[&str], folder: &Path) {
    let output = Command::new(env!("CARGO_BIN_EXE_homing"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

fn told(served: &Served, name: &str) -> Value {
    let events = served.work(&json!({"job": "model", "model": name}));
    let last = events.last().expect("an event");
    assert_eq!(last["event"], "done", "{last}");
    last["result"].clone()
}

#[test]
fn every_model_that_is_offered_has_its_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let draw = [
        "generate", "blocks", "--blocks", "3", "--seeds", "0..3", "--out", "small",
    ];
    homing(&draw, folder.path());
    let train = [
        "train",
        "--learner",
        "nlm",
        "--steps",
        "40",
        "--out",
        "models/net.safetensors",
        "small",
    ];
    std::fs::create_dir(folder.path().join("models")).expect("made");
    homing(&train, folder.path());
    let evaluate = [
        "evaluate",
        "--model",
        "models/net.safetensors",
        "--out",
        "evaluations.jsonl",
        "small",
    ];
    homing(&evaluate, folder.path());
    let models = folder.path().join("models");
    let served = Served::new(&["--models", models.to_str().expect("a name")]);

    let net = told(&served, "net");
    assert_eq!(net["curve"]["of"], 40);
    let steps = net["curve"]["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 40);
    assert_eq!(steps[39][0], 40);
    let evaluated = net["evaluated"].as_array().expect("searches");
    let runs: u64 = evaluated.iter().filter_map(|one| one["of"].as_u64()).sum();
    assert_eq!(runs, 3, "{evaluated:?}");
    assert_eq!(net["note"], Value::Null);

    // Records that cannot be read are said to be so, and do not hide the model.
    std::fs::write(folder.path().join("evaluations.jsonl"), "{}\n").expect("written");
    let net = told(&served, "net");
    assert_eq!(net["steps"], 40);
    assert!(net["note"].is_string(), "{net}");
    assert!(!net.to_string().contains(models.to_str().expect("a name")));

    // Those that ship say how their candidates did.
    let (_, offer) = served.get("/offer");
    let offered = offer["models"].as_array().expect("models");
    assert!(offered.len() > 10);
    for model in offered {
        let name = model["name"].as_str().expect("a name");
        let told = told(&served, name);
        let held_out = told["held_out"].as_u64().unwrap_or(0);
        let candidates = told["candidates"].as_array();
        let known = candidates.is_some_and(|all| all.iter().any(|one| one["chosen"] == true));
        assert!(name == "net" || known, "{name}: {held_out} {told}");
    }
}

/// The folders of servers in a folder for temporary files.
fn folders(parent: &Path) -> usize {
    let entries = std::fs::read_dir(parent).expect("a folder").flatten();
    entries
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .starts_with("homing-serve-")
        })
        .count()
}

#[test]
fn what_a_killed_server_left_is_removed_by_the_next() {
    let parent = tempfile::tempdir().expect("a folder");
    let start = || {
        let mut child = Command::new(env!("CARGO_BIN_EXE_homing"))
            .args(["serve", "--port", "0"])
            .env("TMPDIR", parent.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it was asked for");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line)
            .expect("a line");
        child
    };
    let mut killed = start();
    let other = start();
    assert_eq!(folders(parent.path()), 2, "both are in use");
    killed.kill().expect("it is there");
    killed.wait().expect("it ends");
    assert_eq!(folders(parent.path()), 2);
    let third = start();
    assert_eq!(folders(parent.path()), 2, "what nobody uses is gone");
    for mut child in [third, other] {
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("it is there");
        let end = Instant::now() + Duration::from_secs(20);
        while child.try_wait().expect("a child").is_none() {
            assert!(Instant::now() < end, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    assert_eq!(folders(parent.path()), 0);
}
