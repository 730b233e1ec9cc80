//! What lies around a model's file: the log of its training, and the records of the experiment that
//! it is of.

use std::collections::BTreeMap;
use std::path::Path;

use homing::Error;
use homing::input::read_bytes;
use homing_lab::layout::{ExperimentFolder, ModelFiles};
use homing_lab::record::{Evaluation, Record, RecordError, Training, scan};
use serde_json::{Value, json};

use crate::runs::curve;

/// Adds the curve and the coverage of a model to what its file says, where there are any: a log
/// stands beside the file, records in the same folder or in the one above.
pub(crate) fn add(told: &mut Value, file: &Path) -> Result<(), Error> {
    let log = ModelFiles::of(file).log();
    if log.is_file() {
        let bytes = read_bytes(&log)?;
        if let Some((of, steps)) = curve(&String::from_utf8_lossy(&bytes)) {
            told["curve"] = json!({"of": of, "steps": steps});
        }
    }
    let folders = file.ancestors().skip(1).take(2);
    let folders: Vec<ExperimentFolder> = folders.map(ExperimentFolder::new).collect();
    if !folders
        .iter()
        .any(|at| at.evaluations().is_file() || at.trainings().is_file())
    {
        return Ok(());
    }
    let sha256 = homing_lab::suite::text_hash(&read_bytes(file)?);
    for folder in folders {
        if told["curve"].is_null() {
            each(&folder.trainings(), |run: Training| {
                if run.model_sha256 == sha256 {
                    let points = run.curve.iter().map(|at| json!([at.step, at.goals, null]));
                    told["curve"] = json!({"of": run.steps, "steps": points.collect::<Vec<_>>()});
                }
            })?;
        }
        let mut solved: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        each(&folder.evaluations(), |run: Evaluation| {
            if run
                .model
                .as_ref()
                .is_some_and(|model| model.sha256 == sha256)
            {
                let counts = solved.entry(run.search.clone()).or_default();
                counts.0 += u64::from(run.solved());
                counts.1 += 1;
            }
        })?;
        if !solved.is_empty() {
            let rows = solved.iter();
            let rows = rows.map(
                |(search, (solved, of))| json!({"search": search, "solved": solved, "of": of}),
            );
            told["evaluated"] = json!(rows.collect::<Vec<_>>());
            break;
        }
    }
    Ok(())
}

/// The records of a file that may be missing.
fn each<R: Record>(file: &Path, each: impl FnMut(R)) -> Result<(), Error> {
    if !file.is_file() {
        return Ok(());
    }
    scan(file, each).map_err(|error| match error {
        RecordError::Io { path, error } => Error::Read { path, error },
        line @ RecordError::Line { .. } => Error::Record(line),
    })
}
