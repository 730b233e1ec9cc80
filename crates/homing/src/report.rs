//! Reports: records in, a folder with a page, CSV and LaTeX out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use homing_lab::experiment::Spec;
use homing_lab::layout::{ExperimentFolder, REPORT_PAGE};
use homing_lab::record::{Evaluation, Record, RecordError, Training, read};
use homing_lab::report::{ReportOptions, render};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files::write_together;

/// Records to make a report of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportRequest {
    /// Folders with files of records, and such files.
    pub records: Vec<PathBuf>,
    /// The folder to write to; by default `report` beside the first records.
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// The title; by default that of the experiment that made the records.
    #[serde(default)]
    pub title: Option<String>,
    /// In figures of the rate solved by size, plans found within so many evaluations count.
    #[serde(default)]
    pub threshold: Option<u64>,
    /// The same for single domains, by their names.
    #[serde(default)]
    pub thresholds: BTreeMap<String, u64>,
}

impl ReportRequest {
    /// The report of a folder, with everything as usual.
    pub fn of(folder: &Path) -> Self {
        Self {
            records: vec![folder.to_owned()],
            out: None,
            title: None,
            threshold: None,
            thresholds: BTreeMap::new(),
        }
    }

    /// The title that was asked for, else that of the experiment that made the records.
    fn title(&self) -> String {
        if let Some(title) = &self.title {
            return title.clone();
        }
        let [folder] = self.records.as_slice() else {
            return String::new();
        };
        let spec = ExperimentFolder::new(folder).spec();
        let text = std::fs::read_to_string(spec).unwrap_or_default();
        let title = Spec::parse(&text).map(|spec| spec.title);
        title.unwrap_or_default()
    }

    fn out(&self) -> PathBuf {
        if let Some(out) = &self.out {
            return out.clone();
        }
        let first = self.records.first().map_or(Path::new(""), PathBuf::as_path);
        let folder = if first.is_dir() {
            first
        } else {
            first.parent().unwrap_or(Path::new(""))
        };
        ExperimentFolder::new(folder).report()
    }
}

/// A report that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRecord {
    /// What it comes to, in a few sentences.
    pub summary: String,
    /// Its page.
    pub page: PathBuf,
}

/// Makes a report. The same records always give the same bytes.
///
/// # Errors
///
/// If records cannot be read, or there are none, or the report cannot be written.
pub fn report(request: &ReportRequest) -> Result<ReportRecord, Error> {
    let found = read_records(&request.records)?;
    let options = ReportOptions {
        title: request.title(),
        threshold: request.threshold,
        thresholds: request.thresholds.clone(),
    };
    let report = render(&found.evaluations, &found.trainings, &options);
    let out = request.out();
    write_together(&out, &report.files)?;
    Ok(ReportRecord {
        summary: report.summary,
        page: out.join(REPORT_PAGE),
    })
}

/// The records of all files, in the order they were named.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// Of searches.
    pub evaluations: Vec<Evaluation>,
    /// Of trainings.
    pub trainings: Vec<Training>,
}

/// Reads folders with files of records, and such files.
///
/// # Errors
///
/// If records cannot be read, or there are none.
pub fn read_records(paths: &[PathBuf]) -> Result<Records, Error> {
    let mut found = Records::default();
    for path in paths {
        found.add(path)?;
    }
    if found.evaluations.is_empty() && found.trainings.is_empty() {
        let names: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        return Err(Error::Request(format!(
            "there are no records in {}",
            names.join(", ")
        )));
    }
    Ok(found)
}

fn read_all<R: Record>(path: &Path, into: &mut Vec<R>) -> Result<(), Error> {
    let found = read(path).map_err(|error| match error {
        RecordError::Io { path, error } => Error::Read { path, error },
        line @ RecordError::Line { .. } => Error::Record(line),
    })?;
    into.extend(found);
    Ok(())
}

impl Records {
    fn add(&mut self, path: &Path) -> Result<(), Error> {
        if !path.is_dir() {
            return self.add_file(path);
        }
        let folder = ExperimentFolder::new(path);
        let (evaluations, trainings) = (folder.evaluations(), folder.trainings());
        if !evaluations.exists() && !trainings.exists() {
            return Err(Error::Request(format!(
                "there is neither {} nor {} in {}",
                ExperimentFolder::EVALUATIONS,
                ExperimentFolder::TRAININGS,
                path.display()
            )));
        }
        if evaluations.exists() {
            read_all(&evaluations, &mut self.evaluations)?;
        }
        if trainings.exists() {
            read_all(&trainings, &mut self.trainings)?;
        }
        Ok(())
    }

    /// A file may bear any name: its first line tells which kind of records it holds.
    fn add_file(&mut self, path: &Path) -> Result<(), Error> {
        match first_line_is_of_training(path)? {
            true => read_all(path, &mut self.trainings),
            false => read_all(path, &mut self.evaluations),
        }
    }
}

fn first_line_is_of_training(path: &Path) -> Result<bool, Error> {
    use std::io::BufRead;
    let first = || -> std::io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut file = std::io::BufReader::new(std::fs::File::open(path)?);
        file.read_until(b'\n', &mut line)?;
        Ok(line)
    };
    let line = first().map_err(|error| Error::read(path, error))?;
    let fields: Option<BTreeMap<String, serde_json::Value>> = serde_json::from_slice(&line).ok();
    Ok(fields.is_some_and(|fields| fields.contains_key("curve")))
}
