//! The log of a run: JSON lines, and an event file for TensorBoard.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use homing_learner::{StepRecord, tensorboard};
use serde_json::json;

use super::Run;
use crate::input::cannot_read;
use crate::output::write_whole;
use crate::output::{cannot_write, make_folder};

pub(crate) struct Log {
    lines: BufWriter<File>,
    lines_path: PathBuf,
    events: BufWriter<File>,
    events_path: PathBuf,
}

fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |time| time.as_secs_f64())
}

impl Log {
    /// Opens the log of a run that has taken `steps` steps: what it says of later ones, written
    /// before the run was cut off, goes.
    pub(crate) fn open(run: &Run, steps: u64) -> anyhow::Result<Self> {
        let lines_path = run.beside("jsonl");
        let kept = if steps > 0 {
            lines_up_to(&lines_path, steps)?
        } else {
            String::new()
        };
        write_whole(&lines_path, kept.as_bytes())?;
        // A folder for each run: TensorBoard takes all files of a folder for one.
        let folder = run.beside("events");
        make_folder(&folder)?;
        if steps == 0 {
            remove_events(&folder);
        }
        // Padded: TensorBoard reads the files of a run in the order of their names.
        let events_path = folder.join(format!("events.out.tfevents.{steps:010}"));
        write_whole(&events_path, &tensorboard::file_header(now()))?;
        let append = |path: &Path| {
            let file = OpenOptions::new().append(true).open(path);
            file.map(BufWriter::new)
                .map_err(|error| cannot_write(path, &error))
        };
        Ok(Self {
            lines: append(&lines_path)?,
            events: append(&events_path)?,
            lines_path,
            events_path,
        })
    }

    pub(crate) fn write(&mut self, record: &StepRecord) -> anyhow::Result<()> {
        let sgd = record.sgd;
        let line = json!({
            "step": record.step,
            "goals": record.goals,
            "resets": record.resets,
            "stored": record.stored,
            "loss": sgd.map(|s| s.loss),
            "target": sgd.map(|s| s.target),
            "value": sgd.map(|s| s.value),
            "h_discounted": sgd.map(|s| s.discounted_h),
            "h": sgd.map(|s| s.h),
            "H": sgd.map(|s| s.learned_h),
        });
        writeln!(self.lines, "{line}").map_err(|error| cannot_write(&self.lines_path, &error))?;
        let mut values = vec![
            ("goals", record.goals as f64),
            ("resets", record.resets as f64),
        ];
        if let Some(sgd) = sgd {
            values.extend([
                ("loss", sgd.loss),
                ("target", sgd.target),
                ("value", sgd.value),
                ("h_discounted", sgd.discounted_h),
                ("h", sgd.h),
                ("H", sgd.learned_h),
            ]);
        }
        let event = tensorboard::scalars(now(), record.step, &values);
        self.events
            .write_all(&event)
            .map_err(|error| cannot_write(&self.events_path, &error))
    }

    pub(crate) fn flush(&mut self) -> anyhow::Result<()> {
        self.lines
            .flush()
            .and_then(|()| self.lines.get_ref().sync_data())
            .map_err(|error| cannot_write(&self.lines_path, &error))?;
        self.events
            .flush()
            .and_then(|()| self.events.get_ref().sync_data())
            .map_err(|error| cannot_write(&self.events_path, &error))
    }
}

/// Takes away the event files of an earlier run.
fn remove_events(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("events.out.tfevents.") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The whole lines of a log up to a step.
fn lines_up_to(path: &Path, steps: u64) -> anyhow::Result<String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(cannot_read(path, &error)),
    };
    let mut kept = String::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| cannot_read(path, &error))?;
        let step = serde_json::from_str::<serde_json::Value>(&line)
            .ok()
            .and_then(|value| value["step"].as_u64());
        match step {
            Some(step) if step <= steps => {
                kept.push_str(&line);
                kept.push('\n');
            }
            _ => break,
        }
    }
    Ok(kept)
}
