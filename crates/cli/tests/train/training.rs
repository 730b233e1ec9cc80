//! Short runs, and what they leave behind.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::runs::{Run, fixture, run_with};

/// Flags of a run in which everything happens within some 200 steps.
pub(crate) const HASTY: [&str; 14] = [
    "--layers",
    "4",
    "--features",
    "4",
    "--batch-size",
    "8",
    "--warm-up",
    "20",
    "--target-every",
    "10",
    "--replay-capacity",
    "60",
    "--max-episode-length",
    "9",
];

/// `homing train` of the network with these flags on a folder of fixtures.
pub(crate) fn arguments(folder: &str, out: &Path, flags: &[&str]) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = ["train", "--learner", "nlm", "--out"]
        .map(OsString::from)
        .to_vec();
    arguments.push(out.into());
    arguments.extend(flags.iter().map(OsString::from));
    arguments.push(fixture(&format!("valid/{folder}")).into());
    arguments
}

/// Trains; hasty flags and a number of steps are added.
pub(crate) fn train(folder: &str, out: &Path, steps: u64, flags: &[&str]) -> Run {
    let steps = steps.to_string();
    let mut all = HASTY.to_vec();
    all.extend(["--steps", &steps]);
    all.extend(flags);
    run_with(arguments(folder, out, &all))
}

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

pub(crate) fn bytes(path: impl AsRef<Path>) -> Vec<u8> {
    let path = path.as_ref();
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The log, one object a line.
pub(crate) fn log(path: &Path) -> Vec<Value> {
    let text = String::from_utf8(bytes(path)).expect("UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("an object a line"))
        .collect()
}

/// The event files of a run, in order.
pub(crate) fn event_files(folder: &Path) -> Vec<PathBuf> {
    crate::runs::entries(folder)
        .into_iter()
        .map(|name| folder.join(name))
        .collect()
}
