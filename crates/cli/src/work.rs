//! `homing work`: one job of the server, in a process of its own.

use std::io::Read;
use std::time::{Duration, Instant};

use clap::Args;
use homing::Outcome;
use homing_serve::{Event, Events, Job, carry_out};

use crate::args::{parse_seconds, parse_size};
use crate::exit::{Exit, Failure};
use crate::guard::{Bounds, Guard};
use crate::watch::catch_signals;

/// Carry out one job of `homing serve`
///
/// Reads a job as JSON from standard input and writes events as lines of JSON. `homing serve` starts
/// this for each request; there is no reason to do so by hand.
#[derive(Debug, Args)]
#[command(hide = true, after_help = "Example:\n  homing work --time-limit 10")]
pub(crate) struct Work {
    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Limits")]
    time_limit: Option<f64>,

    /// End when so much memory is in use
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Limits")]
    memory_limit: Option<u64>,
}

pub(crate) fn run(arguments: &Work) -> anyhow::Result<Exit> {
    let start = Instant::now();
    catch_signals();
    let events = Events::new(Box::new(std::io::stdout()));
    let bounds = Bounds {
        start,
        time: arguments
            .time_limit
            .and_then(|limit| Duration::try_from_secs_f64(limit).ok()),
        memory: arguments.memory_limit,
    };
    let theirs = events.clone();
    let guard = Guard::set(
        bounds,
        Box::new(move |outcome| {
            let message = match outcome {
                Outcome::TimeLimit => "the time limit was reached",
                Outcome::MemoryLimit => "the memory limit was reached",
                _ => "interrupted",
            };
            theirs.tell(&Event::Failed {
                message: message.to_owned(),
                diagnostics: Vec::new(),
            });
            outcome.into()
        }),
    );
    let mut text = Vec::new();
    let read = std::io::stdin().read_to_end(&mut text);
    let wrong = |error: String| Failure::because(Exit::BadInput, format!("no job: {error}"));
    read.map_err(|error| wrong(error.to_string()))?;
    let job: Job = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    carry_out(job, &events);
    guard.dismiss();
    Ok(Exit::Success)
}
