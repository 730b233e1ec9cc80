//! A run with its time and its peak memory, as the system sees them.

use std::ffi::OsStr;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::runs::homing;

/// Past a limit the command has half a second. A machine that runs many tests at once may give a
/// process nothing for longer than that.
const LATE: f64 = 3.0;

/// What a run left behind, and what it took.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Wall-clock seconds from the start, or from the signal.
    pub(crate) seconds: f64,
    pub(crate) peak_bytes: u64,
}

impl Measured {
    /// The JSON object that it printed.
    #[track_caller]
    pub(crate) fn record(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// Fails unless it ended in this way, with a record that says so.
    #[track_caller]
    pub(crate) fn ended(self, code: i32, outcome: &str) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert_eq!(self.record()["outcome"], outcome, "{self:#?}");
        self
    }

    /// Fails if it took longer than its time limit allows.
    #[track_caller]
    pub(crate) fn within_seconds(self, limit: f64) -> Self {
        assert!(self.seconds <= limit + LATE, "{self:#?}");
        self
    }

    /// Fails if it took more memory than its limit allows: a twentieth or 32 MiB more.
    #[track_caller]
    pub(crate) fn within_bytes(self, limit: u64) -> Self {
        let most = limit + (limit / 20).max(32 << 20);
        assert!(self.peak_bytes <= most, "more than {most}: {self:#?}");
        self
    }
}

/// The most memory that a process has had so far.
fn peak_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Runs `homing`; a signal may be sent after a while.
pub(crate) fn measure<A: AsRef<OsStr>>(
    arguments: impl IntoIterator<Item = A>,
    signal: Option<(Signal, Duration)>,
) -> Measured {
    let mut child = homing()
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("homing starts");
    let reader = |mut source: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut text = String::new();
            source.read_to_string(&mut text).expect("UTF-8");
            text
        })
    };
    let stdout = reader(Box::new(child.stdout.take().expect("it was asked for")));
    let stderr = reader(Box::new(child.stderr.take().expect("it was asked for")));
    let mut start = Instant::now();
    let mut pending = signal;
    let mut peak = 0;
    let status = loop {
        peak = peak.max(peak_bytes(child.id()).unwrap_or(0));
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if let Some((signal, after)) = pending
            && start.elapsed() >= after
        {
            let pid = Pid::from_child(&child);
            kill_process(pid, signal).expect("it is running");
            pending = None;
            start = Instant::now();
        }
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().expect("a child");
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let seconds = start.elapsed().as_secs_f64();
    let measured = Measured {
        code: status.code(),
        stdout: stdout.join().expect("it is read"),
        stderr: stderr.join().expect("it is read"),
        seconds,
        peak_bytes: peak,
    };
    // What it says of itself is no less than what was seen in time.
    let own = serde_json::from_str::<Value>(&measured.stdout).ok();
    let own = own.and_then(|record| record["peak_memory_kb"].as_u64());
    Measured {
        peak_bytes: peak.max(own.unwrap_or(0) * 1024),
        ..measured
    }
}
