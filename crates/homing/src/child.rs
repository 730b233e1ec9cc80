//! Runs of the command `homing` as processes of their own: one that crashes or takes too much
//! memory takes nobody with it, and its CPU time and memory are its own.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use homing_planner::SearchKind;
use serde::de::DeserializeOwned;

use crate::input::ProblemSource;
use crate::observe::Observer;
use crate::solve::SolveRequest;

/// The environment variable in which a run finds the process that it works for.
pub const PARENT_VARIABLE: &str = "HOMING_CHILD_OF";

/// The exit code of a run that was interrupted.
const INTERRUPTED: i32 = 130;

/// What a run left behind.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Finished {
    /// The record that it printed, if it did.
    pub(crate) fn record<R: DeserializeOwned>(&self) -> Option<R> {
        serde_json::from_str(self.stdout.trim()).ok()
    }

    /// Whether a signal ended it that was meant for all of the work: a cluster sends such signals to
    /// every process of a job.
    pub(crate) fn interrupted(&self) -> bool {
        self.status.code() == Some(INTERRUPTED)
    }

    /// In a line: how it ended and the last it said.
    pub(crate) fn reason(&self) -> String {
        let said = self.stderr.trim().lines().last().unwrap_or("").trim();
        let said = said.strip_prefix("homing: ").unwrap_or(said);
        if said.is_empty() {
            self.status.to_string()
        } else {
            format!("{} ({said})", self.status)
        }
    }
}

/// The arguments with which the command `homing` carries out a request and prints its record.
pub fn solve_arguments(request: &SolveRequest, plan_file: Option<&Path>) -> Vec<OsString> {
    let (config, limits) = (&request.search, &request.limits);
    let mut arguments: Vec<OsString> = vec!["solve".into(), "--json".into()];
    let mut put = |name: &str, value: OsString| arguments.extend([name.into(), value]);
    put("--search", config.search.name().into());
    match &config.model {
        Some(model) => {
            put("--model", model.clone().into());
        }
        None if config.search.uses_heuristic() => {
            put("--heuristic", config.heuristic.name().into());
        }
        None => {}
    }
    if let Some(threads) = config.threads {
        put("--threads", threads.to_string().into());
    }
    if config.search.uses_weight() {
        put("--weight", config.weight.to_string().into());
    }
    if let Some(limit) = limits.max_evaluations {
        put("--max-evaluations", limit.to_string().into());
    }
    if let Some(limit) = limits.max_expansions {
        put("--max-expansions", limit.to_string().into());
    }
    if let Some(limit) = limits.time_limit {
        put("--time-limit", limit.to_string().into());
    }
    if let Some(limit) = limits.memory_limit {
        put("--memory-limit", format!("{}K", limit >> 10).into());
    }
    if let Some(plan) = plan_file {
        put("--plan-file", plan.into());
    }
    put(
        "--improve",
        if config.improve { "yes" } else { "no" }.into(),
    );
    if config.search == SearchKind::Lazy || config.search.uses_policy() {
        put("--seed", config.seed.to_string().into());
    }
    if config.search.uses_policy() {
        put("--walk", config.walk.name().into());
    }
    if config.search == SearchKind::Lazy {
        put("--learn", config.learn.name().into());
        if let Some(path) = &config.learn_config {
            put("--learn-config", path.into());
        }
        put("--boost", config.lazy.boost.to_string().into());
        put("--share", config.lazy.share.to_string().into());
        put("--novelty", config.lazy.novelty.to_string().into());
        put("--serial", config.lazy.serial.to_string().into());
        put("--descent", config.lazy.descent.to_string().into());
        let mut switch = |on: bool, name: &str| {
            if on {
                arguments.push(name.into());
            }
        };
        switch(!config.lazy.landmarks, "--no-landmarks");
        switch(!config.lazy.preferred, "--no-preferred");
        switch(!config.lazy.interchange, "--no-interchange");
        switch(!config.lazy.doomed, "--keep-doomed");
        switch(config.lazy.by_type, "--by-type");
    }
    if config.anytime {
        arguments.push("--anytime".into());
    }
    if config.unit_cost {
        arguments.push("--unit-cost".into());
    }
    arguments.push("--".into());
    match &request.problem {
        ProblemSource::Files { domain, problem } => {
            arguments.extend(domain.iter().map(|domain| domain.clone().into()));
            arguments.push(problem.clone().into());
        }
        ProblemSource::Text { .. } => unreachable!("runs are of files"),
    }
    arguments
}

/// A run that is so far past its time limit is ended: it has lost its wits.
const OVERRUN: Duration = Duration::from_secs(5);

/// Runs the command with these arguments. `None` if the work was stopped: the run is ended then. A
/// run keeps to its limits itself; one that does not is ended, and leaves no record.
pub(crate) fn run(
    command: &Path,
    arguments: &[OsString],
    time_limit: Option<f64>,
    observer: &dyn Observer,
) -> std::io::Result<Option<Finished>> {
    let mut command = Command::new(command);
    command
        .args(arguments)
        .env(PARENT_VARIABLE, std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Ctrl-C is for the one that the user started; it ends the others.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let mut stdout = child.stdout.take().expect("it was asked for");
    let mut stderr = child.stderr.take().expect("it was asked for");
    // Read all the while: a full pipe would make the run wait for ever.
    let reader = |source: &mut dyn Read| {
        let mut bytes = Vec::new();
        let _ = source.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    std::thread::scope(|scope| {
        let out = scope.spawn(|| reader(&mut stdout));
        let err = scope.spawn(|| reader(&mut stderr));
        let mut pause = Duration::from_millis(1);
        let start = Instant::now();
        let limit = time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok());
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if observer.stopped() {
                observer.finishing();
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
            if limit.is_some_and(|limit| start.elapsed() > limit.saturating_add(OVERRUN)) {
                let _ = child.kill();
                break Some(child.wait()?);
            }
            std::thread::sleep(pause);
            pause = (pause * 3 / 2).min(Duration::from_millis(50));
        };
        let (stdout, stderr) = (
            out.join().expect("reading does not panic"),
            err.join().expect("reading does not panic"),
        );
        Ok(status.map(|status| Finished {
            status,
            stdout,
            stderr,
        }))
    })
}
