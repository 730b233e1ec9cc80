//! The log of a run: JSON lines, and an event file for TensorBoard.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use homing_lab::layout::ModelFiles;
use homing_learner::{StepRecord, tensorboard};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files::{make_folder, write_whole};

/// How the names of event files begin: TensorBoard looks for that.
const EVENTS_PREFIX: &str = "events.out.tfevents.";

/// A line of the log: what a step did. What SGD did is null before there was enough to learn from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Mean of H over the batch, undiscounted.
    #[serde(rename = "H")]
    pub learned_h: Option<f64>,
    /// Goals reached so far.
    pub goals: u64,
    /// Mean of h over the batch, undiscounted.
    pub h: Option<f64>,
    /// Mean of h_γ over the batch.
    pub h_discounted: Option<f64>,
    /// Mean loss of the batch.
    pub loss: Option<f64>,
    /// Episodes ended so far.
    pub resets: u64,
    /// The step, counted from 1.
    pub step: u64,
    /// States in the replay memory.
    pub stored: u64,
    /// Mean of the targets of the batch.
    pub target: Option<f64>,
    /// Mean of V over the batch.
    pub value: Option<f64>,
}

impl From<&StepRecord> for LogLine {
    fn from(record: &StepRecord) -> Self {
        let sgd = record.sgd;
        Self {
            learned_h: sgd.map(|sgd| sgd.learned_h),
            goals: record.goals,
            h: sgd.map(|sgd| sgd.h),
            h_discounted: sgd.map(|sgd| sgd.discounted_h),
            loss: sgd.map(|sgd| sgd.loss),
            resets: record.resets,
            step: record.step,
            stored: record.stored,
            target: sgd.and_then(|sgd| sgd.target),
            value: sgd.map(|sgd| sgd.value),
        }
    }
}

/// The whole lines of a log. A last line without its end is of a run that is still writing, or was
/// killed.
pub fn read_log(text: &str) -> impl Iterator<Item = LogLine> {
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    text[..whole]
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
}

pub(super) struct Log {
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
    pub(super) fn open(files: &ModelFiles, steps: u64) -> Result<Self, Error> {
        let lines_path = files.log();
        let kept = if steps > 0 {
            lines_up_to(&lines_path, steps)?
        } else {
            String::new()
        };
        write_whole(&lines_path, kept.as_bytes())?;
        // A folder for each run: TensorBoard takes all files of a folder for one.
        let folder = files.events();
        make_folder(&folder)?;
        if steps == 0 {
            remove_events(&folder);
        }
        // Padded: TensorBoard reads the files of a run in the order of their names.
        let events_path = folder.join(format!("{EVENTS_PREFIX}{steps:010}"));
        write_whole(&events_path, &tensorboard::file_header(now()))?;
        let append = |path: &Path| {
            let file = OpenOptions::new().append(true).open(path);
            file.map(BufWriter::new)
                .map_err(|error| Error::write(path, error))
        };
        Ok(Self {
            lines: append(&lines_path)?,
            events: append(&events_path)?,
            lines_path,
            events_path,
        })
    }

    pub(super) fn write(&mut self, record: &StepRecord) -> Result<(), Error> {
        let line = serde_json::to_string(&LogLine::from(record)).map_err(Error::bug)?;
        writeln!(self.lines, "{line}").map_err(|error| Error::write(&self.lines_path, error))?;
        let mut values = vec![
            ("goals", record.goals as f64),
            ("resets", record.resets as f64),
        ];
        if let Some(sgd) = record.sgd {
            values.push(("loss", sgd.loss));
            values.extend(sgd.target.map(|target| ("target", target)));
            values.extend([
                ("value", sgd.value),
                ("h_discounted", sgd.discounted_h),
                ("h", sgd.h),
                ("H", sgd.learned_h),
            ]);
        }
        let event = tensorboard::scalars(now(), record.step, &values);
        self.events
            .write_all(&event)
            .map_err(|error| Error::write(&self.events_path, error))
    }

    pub(super) fn flush(&mut self) -> Result<(), Error> {
        self.lines
            .flush()
            .and_then(|()| self.lines.get_ref().sync_data())
            .map_err(|error| Error::write(&self.lines_path, error))?;
        self.events
            .flush()
            .and_then(|()| self.events.get_ref().sync_data())
            .map_err(|error| Error::write(&self.events_path, error))
    }
}

/// Takes away the event files of an earlier run.
fn remove_events(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_string_lossy().starts_with(EVENTS_PREFIX) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The whole lines of a log up to a step.
fn lines_up_to(path: &Path, steps: u64) -> Result<String, Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(Error::read(path, error)),
    };
    let mut kept = String::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| Error::read(path, error))?;
        match serde_json::from_str::<LogLine>(&line) {
            Ok(read) if read.step <= steps => {
                kept.push_str(&line);
                kept.push('\n');
            }
            _ => break,
        }
    }
    Ok(kept)
}
