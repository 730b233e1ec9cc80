//! `homing evaluate` and `homing experiment` as a user meets them.

mod evaluate;
mod experiment;
mod quickstart;
#[path = "../commands/runs.rs"]
#[allow(dead_code, unused_imports, unused_macros)] // of what the tests of the other commands use
mod runs;
mod scale;
mod sharing;
mod slurm;

use std::path::Path;
use std::time::{Duration, Instant};

use homing_lab::record::{Evaluation, Training};

/// Runs without what differs from one time to the next.
fn timeless(mut records: Vec<Evaluation>) -> Vec<Evaluation> {
    for record in &mut records {
        record.cpu_seconds = 0.0;
        record.search_cpu_seconds = 0.0;
        record.memory_bytes = None;
    }
    records
}

fn timeless_training(mut records: Vec<Training>) -> Vec<Training> {
    for record in &mut records {
        record.cpu_seconds = 0.0;
        record.network_seconds = 0.0;
        record.planning_seconds = 0.0;
        record.memory_bytes = None;
    }
    records
}

fn evaluations(path: &Path) -> Vec<Evaluation> {
    homing_lab::record::read(path).expect("records")
}

/// Starts a command again and again and kills it a little later each time, until it comes to its
/// end; tells how often it was killed.
fn kill_until_done(
    start: impl Fn() -> std::process::Child,
    mut wait: Duration,
    longer: Duration,
) -> u32 {
    let mut kills = 0;
    loop {
        let mut child = start();
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait().expect("a child") {
                assert!(
                    status.success(),
                    "{:#?}",
                    runs::Run::from(child.wait_with_output().unwrap())
                );
                return kills;
            }
            if begun.elapsed() >= wait {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("a child");
        child.wait().expect("a child");
        kills += 1;
        wait += longer;
    }
}
