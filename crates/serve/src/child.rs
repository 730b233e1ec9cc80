//! A job in a process of its own: one that crashes or runs wild takes nobody with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use homing::child::PARENT_VARIABLE;

use crate::job::{Event, Job, JobLimits};

/// Bytes that a job may say, at the most.
const MOST_OUTPUT: u64 = 256 << 20;

/// A job ends itself at its limits; one that does not is ended so much later.
const OVERRUN: Duration = Duration::from_secs(3);

/// How a job ended.
#[derive(Debug)]
pub(crate) enum End {
    /// Its last event has been passed on.
    Told,
    /// It was stopped.
    Stopped,
    /// Without a last word.
    Lost(String),
}

/// The arguments of the command that carries out a job.
fn arguments(limits: &JobLimits) -> [String; 5] {
    [
        "work".to_owned(),
        "--time-limit".to_owned(),
        limits.seconds.to_string(),
        "--memory-limit".to_owned(),
        format!("{}K", limits.memory >> 10),
    ]
}

/// Kills the process, whatever happens.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a job. `each` is told its events line by line and ends it with `false`; it is asked with
/// `None` now and then.
pub(crate) fn run(
    command: &Path,
    folder: &Path,
    job: &Job,
    limits: &JobLimits,
    each: &mut dyn FnMut(Option<&str>) -> bool,
) -> End {
    let mut start = Command::new(command);
    start
        .args(arguments(limits))
        .env(PARENT_VARIABLE, std::process::id().to_string())
        // What a job leaves behind when it is killed goes with the server's folder.
        .env("TMPDIR", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    // Ctrl-C is for the server; it ends the others.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut start, 0);
    let mut child = match start.spawn() {
        Ok(child) => Killed(child),
        Err(error) => return End::Lost(format!("no process can be started: {error}")),
    };
    let (Some(mut stdin), Some(stdout)) = (child.0.stdin.take(), child.0.stdout.take()) else {
        return End::Lost("the process has no pipes".to_owned());
    };
    let Ok(text) = serde_json::to_vec(job) else {
        return End::Lost("the job cannot be written".to_owned());
    };
    let (lines, said) = sync_channel::<String>(16);
    let until = Instant::now() + Duration::from_secs_f64(limits.seconds) + OVERRUN;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A child that ended early does not read it all.
            let _ = stdin.write_all(&text);
        });
        scope.spawn(move || {
            for line in BufReader::new(stdout.take(MOST_OUTPUT)).lines() {
                let Ok(line) = line else { return };
                if lines.send(line).is_err() {
                    return;
                }
            }
        });
        let end = loop {
            match said.recv_timeout(Duration::from_millis(50)) {
                Ok(line) => {
                    if !each(Some(&line)) {
                        break End::Stopped;
                    }
                    if is_last(&line) {
                        break End::Told;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if !each(None) {
                        break End::Stopped;
                    }
                    if Instant::now() > until {
                        break End::Lost("the time limit was reached".to_owned());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    break End::Lost(last_words(&mut child.0));
                }
            }
        };
        // Before the threads are waited for: their pipes end with it.
        drop(child);
        drop(said);
        end
    })
}

/// Whether an event is the last of its job. By its first letters: events can be long.
fn is_last(line: &str) -> bool {
    ["{\"event\":\"done\"", "{\"event\":\"failed\""]
        .iter()
        .any(|begin| line.starts_with(begin))
}

fn last_words(child: &mut Child) -> String {
    match child.wait().map(|status| status.code()) {
        Ok(Some(22)) => "the memory limit was reached".to_owned(),
        Ok(Some(23)) => "the time limit was reached".to_owned(),
        Ok(Some(32)) => "this is a bug in homing; please report it with the PDDL".to_owned(),
        _ => "the work ended without a result: it may have run out of memory".to_owned(),
    }
}

/// Runs a job and returns its last event.
pub(crate) fn last_event(
    command: &Path,
    folder: &Path,
    job: &Job,
    limits: &JobLimits,
    goes_on: &mut dyn FnMut() -> bool,
) -> Option<Event> {
    let mut last = None;
    let end = run(command, folder, job, limits, &mut |line| {
        if let Some(line) = line.filter(|line| is_last(line)) {
            last = serde_json::from_str(line).ok();
        }
        goes_on()
    });
    match end {
        End::Told if last.is_some() => last,
        End::Stopped => None,
        End::Told => Some(failed("the result cannot be read".to_owned())),
        End::Lost(message) => Some(failed(message)),
    }
}

pub(crate) fn failed(message: String) -> Event {
    Event::Failed {
        message,
        diagnostics: Vec::new(),
    }
}

/// The command that carries out jobs, and the folder for what they leave.
#[derive(Clone, Debug)]
pub(crate) struct Workshop {
    pub(crate) command: PathBuf,
    pub(crate) folder: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_is_known_by_its_beginning() {
        let done = Event::Done {
            result: serde_json::json!([1]),
        };
        for (event, last) in [
            (done, true),
            (failed("x".to_owned()), true),
            (Event::Queued { ahead: 1 }, false),
        ] {
            let line = serde_json::to_string(&event).expect("JSON");
            assert_eq!(is_last(&line), last, "{line}");
        }
    }
}
