//! Records: one JSON line for each run, and files of them that survive being killed.
//!
//! A run of a search leaves an [`Evaluation`], a run of training a [`Training`]. Everything a
//! report says is computed from these; `docs/formats.md` describes each field.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the records written. Records of a newer one are refused.
pub const RECORD_FORMAT: u32 = 1;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// With a plan that was replayed.
    Solved,
    /// With the proof that there is none.
    Unsolvable,
    /// At the limit on evaluations or expansions.
    Limit,
    /// At the limit on time: more would have been allowed in evaluations.
    TimeLimit,
    /// At the limit on memory.
    MemoryLimit,
    /// The process failed; `error` says how.
    Failed,
}

/// A trained model, as a run names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelOfRun {
    /// Its file.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// The seed it was trained with.
    pub seed: u64,
    /// The steps it was trained for.
    pub steps: u64,
}

/// One run of one search on one problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// [`RECORD_FORMAT`]
    pub format: u32,
    /// Hash of everything that decides the run but its time: files, model, search, limits.
    pub key: String,
    /// The domain: one of the eight by its short name, any other as the experiment or its PDDL calls it.
    pub domain: String,
    /// SHA-256 of the domain's file.
    pub domain_sha256: String,
    /// The problem's file name.
    pub problem: String,
    /// SHA-256 of the problem's file.
    pub problem_sha256: String,
    /// |O|: objects, the domain's constants included.
    pub objects: usize,
    /// The base heuristic h: `blind`, `max`, `add` or `ff`; `null` where the search uses none.
    pub heuristic: Option<String>,
    /// The model that corrects it: then the run is of H. `null` for h alone.
    pub model: Option<ModelOfRun>,
    /// `gbfs`, `gbfls`, `astar`, `wastar` or `dijkstra`.
    pub search: String,
    /// The weight of `wastar`.
    pub weight: Option<f64>,
    /// Whether every action was taken to cost 1.
    pub unit_cost: bool,
    /// The limit on evaluations.
    pub max_evaluations: Option<u64>,
    /// The limit on wall-clock seconds.
    pub time_limit: Option<f64>,
    /// The limit on memory in bytes.
    pub memory_limit: Option<u64>,
    /// How it ended.
    pub outcome: Outcome,
    /// What went wrong, for [`Outcome::Failed`].
    pub error: Option<String>,
    /// States whose heuristic value was computed.
    pub evaluations: u64,
    /// Successors generated, repeated states included.
    pub generated: u64,
    /// States expanded.
    pub expansions: u64,
    /// Steps of the plan.
    pub plan_length: Option<usize>,
    /// Cost of the plan.
    pub plan_cost: Option<u64>,
    /// Whether the plan was replayed from the lifted actions and holds.
    pub validated: bool,
    /// CPU seconds of the search.
    pub search_cpu_seconds: f64,
    /// CPU seconds of the process: reading and grounding too.
    pub cpu_seconds: f64,
    /// Peak memory of the process in bytes, where the system tells.
    pub memory_bytes: Option<u64>,
    /// The version of homing that ran.
    pub revision: String,
    /// The machine it ran on, in words.
    pub machine: String,
}

impl Evaluation {
    /// How tables call the configuration: `ff`, or `H-ff` with a model.
    pub fn configuration(&self) -> String {
        let heuristic = self.heuristic.as_deref().unwrap_or("none");
        match self.model {
            Some(_) => format!("H-{heuristic}"),
            None => heuristic.to_owned(),
        }
    }

    /// Whether it counts as covered.
    pub fn solved(&self) -> bool {
        self.outcome == Outcome::Solved
    }
}

/// Goals reached up to a step of training; `[step, goals]` in a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct CurvePoint {
    /// The step.
    pub step: u64,
    /// Goals reached up to it.
    pub goals: u64,
}

impl From<(u64, u64)> for CurvePoint {
    fn from((step, goals): (u64, u64)) -> Self {
        Self { step, goals }
    }
}

impl From<CurvePoint> for (u64, u64) {
    fn from(point: CurvePoint) -> Self {
        (point.step, point.goals)
    }
}

/// One run of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// [`RECORD_FORMAT`]
    pub format: u32,
    /// Hash of everything that decides the run: files, configuration, seed.
    pub key: String,
    /// The domain: one of the eight by its short name, any other as the experiment or its PDDL calls it.
    pub domain: String,
    /// SHA-256 of the domain's file.
    pub domain_sha256: String,
    /// SHA-256 over the SHA-256s of the problems' files.
    pub problems_sha256: String,
    /// Problems trained on.
    pub problems: u64,
    /// The base heuristic: `blind`, `max`, `add` or `ff`.
    pub heuristic: String,
    /// The seed.
    pub seed: u64,
    /// The effective configuration, field by field.
    pub config: BTreeMap<String, serde_json::Value>,
    /// Steps taken.
    pub steps: u64,
    /// Goals reached in them.
    pub goals: u64,
    /// Episodes.
    pub episodes: u64,
    /// Mean loss of the last 100 SGD steps.
    pub loss: f64,
    /// Goals reached up to a step, about a hundred of them.
    pub curve: Vec<CurvePoint>,
    /// The step of the snapshot that was kept, where one was selected.
    pub selected_step: Option<u64>,
    /// The model's file.
    pub model: String,
    /// SHA-256 of it.
    pub model_sha256: String,
    /// CPU seconds of the process.
    pub cpu_seconds: f64,
    /// Of wall-clock time, the share of the network.
    pub network_seconds: f64,
    /// Of wall-clock time, the share of successors, base heuristics and encodings.
    pub planning_seconds: f64,
    /// Peak memory of the process in bytes, where the system tells.
    pub memory_bytes: Option<u64>,
    /// The version of homing that ran.
    pub revision: String,
    /// The machine it ran on, in words.
    pub machine: String,
}

/// A task that failed, in `failures.jsonl` of a part of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// [`RECORD_FORMAT`]
    pub format: u32,
    /// The key of the task.
    pub key: String,
    /// The task, in words.
    pub task: String,
    /// Why.
    pub reason: String,
    /// The machine it ran on, in words.
    pub machine: String,
}

/// What is enough to know that a run was made, of an [`Evaluation`] or a [`Training`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// [`RECORD_FORMAT`]
    pub format: u32,
    /// What identifies the run.
    pub key: String,
    /// How it ended, if it was a search.
    pub outcome: Option<Outcome>,
    /// What went wrong, if it failed.
    pub error: Option<String>,
    /// SHA-256 of the model, if it was a training.
    pub model_sha256: Option<String>,
    /// CPU seconds of the process.
    pub cpu_seconds: f64,
}

/// What kinds of records have in common.
pub trait Record: Serialize + DeserializeOwned {
    /// [`RECORD_FORMAT`] of whoever wrote it.
    fn format(&self) -> u32;
    /// What identifies the run.
    fn key(&self) -> &str;
}

impl Record for Evaluation {
    fn format(&self) -> u32 {
        self.format
    }

    fn key(&self) -> &str {
        &self.key
    }
}

impl Record for Failure {
    fn format(&self) -> u32 {
        self.format
    }

    fn key(&self) -> &str {
        &self.key
    }
}

impl Record for Trace {
    fn format(&self) -> u32 {
        self.format
    }

    fn key(&self) -> &str {
        &self.key
    }
}

impl Record for Training {
    fn format(&self) -> u32 {
        self.format
    }

    fn key(&self) -> &str {
        &self.key
    }
}

/// Why records cannot be read or written.
#[derive(Debug)]
pub enum RecordError {
    /// The file cannot be read or written.
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line is no record.
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Line { path, line, reason } => {
                write!(f, "{}:{line}: not a record: {reason}", path.display())
            }
        }
    }
}

impl std::error::Error for RecordError {}

/// Reads a file of records. A last line without its end is of a run that was killed while it was
/// written, and is left out. Where a key comes twice, the last record holds.
///
/// # Errors
///
/// If the file cannot be read, or a whole line is no record of a format known here.
pub fn read<R: Record>(path: &Path) -> Result<Vec<R>, RecordError> {
    let mut records: Vec<R> = Vec::new();
    let mut places = std::collections::HashMap::new();
    scan(path, |record: R| {
        match places.entry(record.key().to_owned()) {
            std::collections::hash_map::Entry::Occupied(place) => {
                let at: usize = *place.get();
                records[at] = record;
            }
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(records.len());
                records.push(record);
            }
        }
    })?;
    Ok(records)
}

/// Goes through a file of records line by line, as [`read`] does, and keeps none of them.
///
/// # Errors
///
/// If the file cannot be read, or a whole line is no record of a format known here.
pub fn scan<R: Record>(path: &Path, mut each: impl FnMut(R)) -> Result<(), RecordError> {
    let io = |error| RecordError::Io {
        path: path.to_owned(),
        error,
    };
    let mut file = io::BufReader::new(File::open(path).map_err(io)?);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        file.read_until(b'\n', &mut line).map_err(io)?;
        if line.last() != Some(&b'\n') {
            break;
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let wrong = |reason: String| RecordError::Line {
            path: path.to_owned(),
            line: number,
            reason,
        };
        let record: R = serde_json::from_slice(&line).map_err(|error| wrong(error.to_string()))?;
        if record.format() > RECORD_FORMAT {
            return Err(wrong(format!(
                "it has format {}, this homing reads up to {RECORD_FORMAT}: use a newer homing",
                record.format()
            )));
        }
        each(record);
    }
    Ok(())
}

/// A file that records are appended to, each with a single write.
#[derive(Debug)]
pub struct Appender {
    path: PathBuf,
    file: File,
    /// Where a line begins that could not be written to its end, and is still to be cut off.
    half: Option<u64>,
}

impl Appender {
    /// Opens or makes the file. What a killed run left of a last line is cut off.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened for writing.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new()
                .create(true)
                .read(true)
                .append(true)
                .open(path)?;
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(0))?;
            file.read_to_end(&mut bytes)?;
            let whole = bytes.iter().rposition(|&byte| byte == b'\n');
            let whole = whole.map_or(0, |end| end + 1);
            if whole < bytes.len() {
                file.set_len(whole as u64)?;
            }
            Ok(file)
        };
        Ok(Self {
            path: path.to_owned(),
            file: open().map_err(|error| RecordError::Io {
                path: path.to_owned(),
                error,
            })?,
            half: None,
        })
    }

    /// Appends a record: one line, one write, so that lines of several writers never mix. When this
    /// returns, the line is on the disk.
    ///
    /// # Errors
    ///
    /// If the line cannot be written; what is before it is not touched.
    pub fn append(&mut self, record: &impl Record) -> Result<(), RecordError> {
        let mut line = serde_json::to_string(record).map_err(|error| RecordError::Line {
            path: self.path.clone(),
            line: 0,
            reason: error.to_string(),
        })?;
        line.push('\n');
        self.write(line.as_bytes())
            .map_err(|error| RecordError::Io {
                path: self.path.clone(),
                error,
            })
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if let Some(start) = self.half {
            self.file.set_len(start)?;
            self.half = None;
        }
        let start = self.file.metadata()?.len();
        let mut written = 0;
        let result = loop {
            match self.file.write(&line[written..]) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
            if written == line.len() {
                // A disk of another machine may tell only now that it is full.
                break self.file.sync_data();
            }
        };
        // The next line would make a wrong one of what a full disk left of this one. A line that
        // somebody else has appended meanwhile is never cut off.
        let alone =
            || -> io::Result<bool> { Ok(self.file.metadata()?.len() == start + written as u64) };
        if result.is_err() && written > 0 && alone().unwrap_or(true) {
            self.half = self.file.set_len(start).is_err().then_some(start);
        }
        result
    }
}
