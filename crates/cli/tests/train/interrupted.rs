//! Runs that are stopped, and go on as if nothing had been.
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::runs::{Run, entries, fixture, homing, run_with};
use crate::training::{HASTY, arguments, bytes, event_files, folder, log};

const STEPS: u64 = 4000;

fn flags(extra: &[&str]) -> Vec<String> {
    let mut flags: Vec<String> = HASTY.iter().map(ToString::to_string).collect();
    flags.extend(["--steps".to_owned(), STEPS.to_string()]);
    if !extra.contains(&"--checkpoint-every") {
        flags.extend(["--checkpoint-every".to_owned(), "50".to_owned()]);
    }
    flags.extend(extra.iter().map(ToString::to_string));
    flags
}

fn arguments_of(model: &Path, extra: &[&str]) -> Vec<std::ffi::OsString> {
    let flags = flags(extra);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    arguments("blocks", model, &flags)
}

fn start(model: &Path, extra: &[&str]) -> Child {
    homing()
        .args(arguments_of(model, extra))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("homing starts")
}

/// Waits until a file is there.
fn await_file(path: &Path) {
    let start = Instant::now();
    while !path.exists() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{}",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Kills runs at moments a little later each time, until one comes to its end.
fn kill_until_done(model: &Path, extra: &[&str]) -> u32 {
    let mut kills = 0;
    let mut wait = Duration::from_millis(15);
    let mut extra = extra.to_vec();
    loop {
        let mut child = start(model, &extra);
        let begun = Instant::now();
        while begun.elapsed() < wait {
            if let Some(status) = child.try_wait().expect("a child") {
                assert!(
                    status.success(),
                    "{:#?}",
                    Run::from(child.wait_with_output().unwrap())
                );
                return kills;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("a child");
        let output = child.wait_with_output().expect("a child");
        let killed = output.status.code().is_none();
        kills += u32::from(killed);
        if !killed {
            Run::from(output).ends_with(0);
            return kills;
        }
        if !extra.contains(&"--resume") {
            extra.push("--resume");
        }
        wait += Duration::from_millis(17);
    }
}

#[test]
fn killed_again_and_again_a_run_ends_with_the_same_files() {
    let folder = folder();
    let calm = folder.path().join("calm.safetensors");
    run_with(arguments_of(&calm, &[])).ends_with(0);
    let model = folder.path().join("m.safetensors");
    let kills = kill_until_done(&model, &[]);
    println!("{kills} kills");
    assert!(kills >= 3, "{kills}");
    for end in ["safetensors", "jsonl", "toml"] {
        let same = bytes(model.with_extension(end)) == bytes(calm.with_extension(end));
        assert!(same, "{end} differs after {kills} kills");
    }
    assert!(!folder.path().join("m.checkpoint").exists());
}

#[test]
fn killed_again_and_again_the_same_snapshot_is_selected() {
    let folder = folder();
    let validation = fixture("valid/blocks");
    let validation = validation.to_str().expect("UTF-8");
    let select = ["--select", validation, "--select-every", "50"];
    let calm = folder.path().join("calm.safetensors");
    run_with(arguments_of(&calm, &select)).ends_with(0);
    let model = folder.path().join("m.safetensors");
    let kills = kill_until_done(&model, &select);
    assert!(kills >= 3, "{kills}");
    assert!(bytes(&model) == bytes(&calm));
    assert!(!folder.path().join("m.best").exists());
}

fn interrupt(child: Child) -> Run {
    let kill = format!("kill -INT {}", child.id());
    let sent = Command::new("sh").args(["-c", &kill]).status();
    assert!(sent.expect("a shell").success());
    Run::from(child.wait_with_output().expect("homing ends"))
}

#[test]
fn ctrl_c_writes_a_checkpoint_to_go_on_from() {
    let folder = folder();
    let calm = folder.path().join("calm.safetensors");
    run_with(arguments_of(&calm, &[])).ends_with(0);
    let model = folder.path().join("m.safetensors");
    // No checkpoint but that of the interrupt.
    let child = start(&model, &["--checkpoint-every", "0"]);
    await_file(&folder.path().join("m.jsonl"));
    std::thread::sleep(Duration::from_millis(20));
    let run = interrupt(child)
        .ends_with(130)
        .says("homing: stopped at step ");
    let checkpoint = folder.path().join("m.checkpoint");
    let run = run.says(&format!(
        "; --resume goes on from {}\n",
        checkpoint.display()
    ));
    assert_eq!(run.stdout, "");
    assert!(checkpoint.exists());
    assert!(!model.exists());
    let stopped: u64 = run
        .stderr
        .split("stopped at step ")
        .nth(1)
        .and_then(|rest| rest.split(';').next())
        .and_then(|step| step.parse().ok())
        .expect("a step");
    let lines = log(&folder.path().join("m.jsonl"));
    assert_eq!(lines.len() as u64, stopped);

    // Other settings are another run.
    run_with(arguments_of(
        &model,
        &["--resume", "--gamma", "0.9", "--seed", "5"],
    ))
    .ends_with(33)
    .says("is of a run with other settings: gamma (0.999, not 0.9), seed (0, not 5)");
    // A damaged checkpoint is left for its owner to look at.
    let whole = bytes(&checkpoint);
    std::fs::write(&checkpoint, &whole[..whole.len() / 2]).expect("a file");
    run_with(arguments_of(&model, &["--resume"]))
        .ends_with(33)
        .says("m.checkpoint: the checkpoint cannot be used: it is damaged or cut short");
    std::fs::write(&checkpoint, &whole).expect("a file");

    run_with(arguments_of(&model, &["--resume", "--jobs", "1"])).ends_with(0);
    assert!(bytes(&model) == bytes(&calm));
    assert!(bytes(model.with_extension("jsonl")) == bytes(calm.with_extension("jsonl")));
    assert_eq!(event_files(&folder.path().join("m.events")).len(), 2);
    assert!(!checkpoint.exists());

    // A run that is done is not done again.
    let run = run_with(arguments_of(&model, &["--resume"])).ends_with(0);
    assert!(
        run.stderr
            .contains("is there already, trained with these settings"),
        "{run:#?}"
    );
    assert_eq!(run.stdout, "");
}

#[test]
fn a_memory_limit_writes_a_checkpoint_and_more_memory_comes_to_the_same_model() {
    let folder = folder();
    let train = |model: &Path, extra: &[&str]| {
        let mut flags = vec!["--steps", "150", "--warm-up", "20", "--batch-size", "64"];
        flags.extend(extra);
        run_with(arguments("blocks", model, &flags))
    };
    let calm = folder.path().join("calm.safetensors");
    train(&calm, &[]).ends_with(0);
    let model = folder.path().join("m.safetensors");
    let checkpoint = folder.path().join("m.checkpoint");
    // The least limit with which a run comes to its first steps.
    let reached = "homing: the memory limit was reached at step ";
    let limits = (4..64).map(|size| format!("{size}M"));
    let begun = limits.into_iter().find_map(|limit| {
        let run = train(&model, &["--memory-limit", &limit]).ends_with(22);
        assert_eq!(run.stdout, "");
        let step = run.stderr.split(reached).nth(1)?.split(';').next()?;
        (step != "0").then_some(run)
    });
    begun
        .expect("a limit between that of reading and that of training")
        .says(" with a larger --memory-limit\n");
    assert!(checkpoint.exists() && !model.exists());
    train(&model, &["--resume", "--memory-limit", "2G"]).ends_with(0);
    assert!(bytes(&model) == bytes(&calm));
    assert!(!checkpoint.exists());

    // By ranking there is no checkpoint.
    let ranked = folder.path().join("r.safetensors");
    let small = fixture("valid/blocks");
    let mut arguments: Vec<std::ffi::OsString> = ["train", "--memory-limit", "1M", "--out"]
        .map(Into::into)
        .to_vec();
    arguments.extend([ranked.clone().into(), small.into()]);
    run_with(arguments)
        .ends_with(22)
        .says("homing: the memory limit was reached");
    assert!(!ranked.exists());
}

#[test]
fn several_seeds_are_stopped_and_go_on() {
    let folder = folder();
    let calm = folder.path().join("calm");
    let seeds = ["--seeds", "0..3", "--jobs", "2"];
    run_with(arguments_of(&calm, &seeds)).ends_with(0);
    let out = folder.path().join("out");
    let child = start(&out, &seeds);
    await_file(&out.join("seed-1.jsonl"));
    std::thread::sleep(Duration::from_millis(20));
    interrupt(child).ends_with(130);
    let mut resume = seeds.to_vec();
    resume.push("--resume");
    run_with(arguments_of(&out, &resume)).ends_with(0);
    assert_eq!(entries(&out), entries(&calm));
    for seed in 0..3 {
        for end in ["safetensors", "jsonl"] {
            let name = format!("seed-{seed}.{end}");
            assert!(bytes(out.join(&name)) == bytes(calm.join(&name)), "{name}");
        }
    }
}

/// A checkpoint of a run that was given up must not be taken for one of the run begun anew.
#[test]
fn a_run_begun_anew_forgets_the_old_checkpoint() {
    let folder = folder();
    let model = folder.path().join("m.safetensors");
    let child = start(&model, &["--seed", "1"]);
    let checkpoint = folder.path().join("m.checkpoint");
    await_file(&checkpoint);
    interrupt(child).ends_with(130);
    let mut child = start(&model, &["--checkpoint-every", "0"]);
    // The log begins anew once the checkpoint is gone.
    let begun = Instant::now();
    while checkpoint.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("a child");
    child.wait().expect("a child");
    let calm = folder.path().join("calm.safetensors");
    run_with(arguments_of(&calm, &[])).ends_with(0);
    run_with(arguments_of(&model, &["--resume"])).ends_with(0);
    assert!(bytes(&model) == bytes(&calm));
}
