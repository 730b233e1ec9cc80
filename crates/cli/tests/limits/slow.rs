//! The same seed gives the same plan, whatever the machine: with one thread or several, and where
//! the clock runs several times as fast as the program. Counters decide, no clock does.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::runs::{homing, run};

/// A problem that is drawn.
fn draw(folder: &Path, domain: &str, size: &[&str]) -> PathBuf {
    let place = folder.join(domain);
    let mut command = homing();
    command.args(["generate", domain, "--seeds", "3", "--out"]);
    let output = command.arg(&place).args(size).output().expect("it starts");
    assert!(output.status.success(), "{output:?}");
    let files = std::fs::read_dir(&place).expect("a folder");
    let mut files = files.map(|entry| entry.expect("an entry").path());
    let is_problem = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "pddl") && !path.ends_with("domain.pddl")
    };
    files.find(is_problem).expect("a problem")
}

/// What a run prints without what it measures.
fn counted(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    let mut record = serde_json::from_slice(&output.stdout).expect("JSON");
    drop_measurements(&mut record);
    record
}

fn drop_measurements(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.retain(|name, _| !name.ends_with("seconds") && name != "peak_memory_kb");
        fields.values_mut().for_each(drop_measurements);
    }
}

/// Lets a run have a moment now and then: it sees the clock go on while it stands still. How often
/// it stood still comes with what it printed.
fn with_pauses(command: &mut Command) -> (Output, usize) {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut printed = child.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let mut stdout = Vec::new();
        printed.read_to_end(&mut stdout).expect("it is read");
        stdout
    });
    // Nobody waits for the child before the loop ends, so its number stays its own.
    let pid = Pid::from_child(&child);
    let mut pauses = 0;
    while !reader.is_finished() {
        let begin = Instant::now();
        sleep(Duration::from_millis(3));
        kill_process(pid, Signal::STOP).expect("it is there");
        // Twice as long as it ran, however late this was: others may keep the machine busy.
        sleep(begin.elapsed() * 2);
        pauses += 1;
        kill_process(pid, Signal::CONT).expect("it is there");
    }
    let output = Output {
        status: child.wait().expect("it ends"),
        stdout: reader.join().expect("a reader"),
        stderr: Vec::new(),
    };
    (output, pauses)
}

#[test]
fn neither_threads_nor_a_slow_machine_change_a_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = folder.path().join("early.toml");
    // Learning begins early and is brief: a few runs at a third of the speed.
    std::fs::write(
        &settings,
        "first_work = 2_000_000\nnovel_work = 0\n[cut]\ncuts = 30\nstates = 60_000\n",
    )
    .expect("a file");
    let problems = [
        draw(folder.path(), "blocks", &["--blocks", "40"]),
        draw(folder.path(), "parking", &["--curbs", "14", "--cars", "16"]),
    ];
    let mut stood_still = 0;
    for problem in &problems {
        for seed in ["0", "1"] {
            let solve = |threads: &str| {
                let mut command = homing();
                command.args(["solve", "--json", "--seed", seed, "--threads", threads]);
                command.arg("--learn-config").arg(&settings).arg(problem);
                command
            };
            let one = counted(&solve("1").output().expect("it starts"));
            assert_eq!(one["outcome"], "solved");
            assert!(one["learned"]["cuts"].as_u64() > Some(0), "{one}");
            let four = counted(&solve("4").output().expect("it starts"));
            assert_eq!(one, four, "{}", problem.display());
            let (output, pauses) = with_pauses(&mut solve("1"));
            assert_eq!(one, counted(&output), "{}", problem.display());
            stood_still += pauses;
        }
    }
    assert!(stood_still > 5, "only {stood_still} pauses show nothing");
}

#[test]
fn seeds_do_change_what_is_learnt() {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = draw(folder.path(), "blocks", &["--blocks", "15"]);
    let learned = |seed: &str| -> Value {
        let run = run![
            "solve", "--json", "--learn", "first", "--seed", seed, problem
        ];
        let record: Value = serde_json::from_str(&run.ends_with(0).stdout).expect("JSON");
        record["learned"]["states"].clone()
    };
    assert_ne!(learned("0"), learned("1"));
}
