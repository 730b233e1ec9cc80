//! Limits and signals are promises: worst cases, each in a process of its own, measured from
//! outside.
#![cfg(target_os = "linux")]

mod measured;
#[path = "../commands/runs.rs"]
#[allow(dead_code)] // of what the tests of the other commands use
mod runs;
mod signals;
mod slow;
mod worst;
mod worst_cases;
