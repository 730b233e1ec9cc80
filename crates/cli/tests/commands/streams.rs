//! Signals, closed pipes and full outputs.
#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::runs::{Run, endless_problem, entries, fixture, homing};

/// Interrupts an endless search once it is under way.
fn interrupt(signal: &str, extra: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let problem = endless_problem(folder.path());
    let mut child = homing()
        .args(["solve", "-v", "--search", "dijkstra", "--plan-file"])
        .arg(folder.path().join("plan"))
        .args(extra)
        .arg(problem)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("homing starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut messages = String::new();
    while !messages.contains("grounded in") {
        let read = stderr.read_line(&mut messages).expect("text");
        assert_ne!(read, 0, "homing ended early: {messages}");
    }
    let kill = format!("kill -{signal} {}", child.id());
    let sent = Command::new("sh").args(["-c", &kill]).status();
    assert!(sent.expect("a shell").success());
    stderr.read_to_string(&mut messages).expect("text");
    let output = child.wait_with_output().expect("homing ends");
    assert_eq!(entries(folder.path()), ["domain.pddl", "endless.pddl"]);
    Run {
        stderr: messages,
        ..Run::from(output)
    }
}

#[test]
fn ctrl_c_ends_with_130_and_statistics() {
    let run = interrupt("INT", &[]).ends_with(130);
    assert_eq!(run.line("No plan found: "), "interrupted.");
    run.line("Expanded ");
    run.line("Total time: ");
}

#[test]
fn termination_ends_the_same_way_and_json_stays_json() {
    let run = interrupt("TERM", &["--json"]).ends_with(130);
    let record: serde_json::Value = serde_json::from_str(&run.stdout).expect("one object");
    assert_eq!(record["outcome"], "interrupted");
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let mut child = homing()
        .arg("solve")
        .arg(fixture("valid/blocks/p03.pddl"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("homing starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("homing ends");
    let run = Run::from(output).ends_with(0);
    assert_eq!(run.stderr, "");
}

#[test]
fn messages_that_nobody_reads_change_nothing() {
    let mut child = homing()
        .args(["solve", "-v"])
        .arg(fixture("valid/blocks/p03.pddl"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("homing starts");
    drop(child.stderr.take());
    let output = child.wait_with_output().expect("homing ends");
    Run::from(output).ends_with(0).line("Solution found!");
}

fn full() -> Option<File> {
    let file = File::options().write(true).open("/dev/full").ok();
    if file.is_none() {
        eprintln!("skipped: there is no /dev/full");
    }
    file
}

#[test]
fn a_full_standard_output_is_said() {
    let problem = fixture("valid/lamp/p01.pddl");
    let problem = problem.to_str().expect("UTF-8");
    for arguments in [
        &["solve", problem][..],
        &["solve", "--json", problem],
        &["check", problem],
        &["--help"],
        &["--version"],
    ] {
        let Some(full) = full() else { return };
        let output = homing().args(arguments).stdout(full).output();
        Run::from(output.expect("homing starts"))
            .ends_with(33)
            .says("homing: cannot write to standard output: the disk is full");
    }
}

#[test]
fn a_full_standard_error_keeps_the_exit_code() {
    let problem = fixture("valid/unsolvable/p01.pddl");
    let problem = problem.to_str().expect("UTF-8");
    for (arguments, code) in [
        (&["solve", problem][..], 11),
        (&["solve", "nope.pddl"], 33),
        (&["nonsense"], 33),
    ] {
        let Some(full) = full() else { return };
        let output = homing().args(arguments).stderr(full).output();
        Run::from(output.expect("homing starts")).ends_with(code);
    }
}
