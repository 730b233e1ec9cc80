//! `homing report`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use homing_lab::experiment::Spec;
use homing_lab::record::{Evaluation, Record, RecordError, Training, read};
use homing_lab::report::{ReportOptions, render};

use crate::exit::{Exit, Failure};
use crate::experiment::{EVALUATIONS, TRAINING};
use crate::input::cannot_read;
use crate::output::{cannot_write, make_folder, print, wrapped, write_whole};

/// Make a page, CSV and LaTeX of the records of runs
///
/// Writes index.html, a page that needs no network, and the tables as CSV and LaTeX. The same
/// records always give the same bytes; docs/report.md explains every number.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing report [OPTIONS] RECORDS...",
    after_help = "Example:\n  homing report results",
    after_long_help = "Examples:\n  \
                       homing report results\n  \
                       homing report --out both \\\n    \
                       results-1 results-2/evaluations.jsonl"
)]
pub(crate) struct Report {
    /// Folders with evaluations.jsonl and training.jsonl (one may be missing), or such files
    #[arg(required = true, value_name = "RECORDS")]
    records: Vec<PathBuf>,

    /// The folder to write to [default: `report` beside the first records]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,

    /// The page's title [default: that of the experiment]
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        help_heading = "Output"
    )]
    title: String,

    /// In figures of the rate solved by size, count plans found within N evaluations only; once
    /// for all, or as DOMAIN=N
    #[arg(long, value_name = "[DOMAIN=]N", value_parser = parse_threshold, help_heading = "Output")]
    threshold: Vec<(Option<String>, u64)>,
}

impl Report {
    /// The report of a folder, as the command gives it without options.
    pub(crate) fn of(folder: &Path) -> Self {
        Self {
            records: vec![folder.to_owned()],
            out: None,
            title: String::new(),
            threshold: Vec::new(),
        }
    }

    /// The title that was asked for, else that of the experiment that made the records.
    fn title(&self) -> String {
        if !self.title.is_empty() {
            return self.title.clone();
        }
        let [folder] = self.records.as_slice() else {
            return String::new();
        };
        let text = std::fs::read_to_string(folder.join("experiment.toml")).unwrap_or_default();
        let title = Spec::parse(&text).map(|spec| spec.title);
        title.unwrap_or_default()
    }
}

fn parse_threshold(text: &str) -> Result<(Option<String>, u64), String> {
    let (domain, number) = match text.rsplit_once('=') {
        Some((domain, number)) => (Some(domain.to_owned()), number),
        None => (None, text),
    };
    let number = number
        .parse()
        .map_err(|_| format!("`{number}` is not a number of evaluations"))?;
    Ok((domain, number))
}

/// The records of all files, in the order they were named.
#[derive(Default)]
struct Found {
    evaluations: Vec<Evaluation>,
    trainings: Vec<Training>,
}

fn because(message: String) -> anyhow::Error {
    Failure::because(Exit::BadInput, message)
}

fn read_all<R: Record>(path: &Path, into: &mut Vec<R>) -> anyhow::Result<()> {
    let found = read(path).map_err(|error| match error {
        RecordError::Io { path, error } => cannot_read(&path, &error),
        line @ RecordError::Line { .. } => because(line.to_string()),
    })?;
    into.extend(found);
    Ok(())
}

impl Found {
    fn add(&mut self, path: &Path) -> anyhow::Result<()> {
        if !path.is_dir() {
            return self.add_file(path);
        }
        let [evaluations, training] = [EVALUATIONS, TRAINING].map(|name| path.join(name));
        let there = [&evaluations, &training].map(|file| file.exists());
        if there == [false, false] {
            return Err(because(format!(
                "there is neither {EVALUATIONS} nor {TRAINING} in {}",
                path.display()
            )));
        }
        if there[0] {
            read_all(&evaluations, &mut self.evaluations)?;
        }
        if there[1] {
            read_all(&training, &mut self.trainings)?;
        }
        Ok(())
    }

    /// A file may bear any name: its first line tells which kind of records it holds.
    fn add_file(&mut self, path: &Path) -> anyhow::Result<()> {
        match first_line_is_of_training(path)? {
            true => read_all(path, &mut self.trainings),
            false => read_all(path, &mut self.evaluations),
        }
    }
}

fn first_line_is_of_training(path: &Path) -> anyhow::Result<bool> {
    use std::io::BufRead;
    let first = || -> std::io::Result<Vec<u8>> {
        let mut line = Vec::new();
        let mut file = std::io::BufReader::new(std::fs::File::open(path)?);
        file.read_until(b'\n', &mut line)?;
        Ok(line)
    };
    let line = first().map_err(|error| cannot_read(path, &error))?;
    let fields: Option<BTreeMap<String, serde_json::Value>> = serde_json::from_slice(&line).ok();
    Ok(fields.is_some_and(|fields| fields.contains_key("curve")))
}

/// `report` in the folder of the first records.
fn default_out(first: &Path) -> PathBuf {
    let folder = if first.is_dir() {
        first
    } else {
        first.parent().unwrap_or(Path::new(""))
    };
    folder.join("report")
}

/// Writes all files beside their places and then moves them there, so that a full disk leaves what
/// was there before.
fn write_all(out: &Path, files: &[(String, Vec<u8>)]) -> anyhow::Result<()> {
    make_folder(out)?;
    let folder = tempfile::Builder::new()
        .prefix(".homing-report-")
        .tempdir_in(out)
        .map_err(|error| cannot_write(out, &error))?;
    for (name, bytes) in files {
        write_whole(&folder.path().join(name), bytes)?;
    }
    for (name, _) in files {
        let path = out.join(name);
        std::fs::rename(folder.path().join(name), &path)
            .map_err(|error| cannot_write(&path, &error))?;
    }
    Ok(())
}

pub(crate) fn run(arguments: &Report) -> anyhow::Result<Exit> {
    let mut found = Found::default();
    for path in &arguments.records {
        found.add(path)?;
    }
    if found.evaluations.is_empty() && found.trainings.is_empty() {
        let names: Vec<String> = arguments
            .records
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        return Err(because(format!(
            "there are no records in {}",
            names.join(", ")
        )));
    }
    let mut options = ReportOptions {
        title: arguments.title(),
        ..ReportOptions::default()
    };
    for (domain, most) in &arguments.threshold {
        match domain {
            Some(domain) => {
                options.thresholds.insert(domain.clone(), *most);
            }
            None => options.threshold = Some(*most),
        }
    }
    let report = render(&found.evaluations, &found.trainings, &options);
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| default_out(&arguments.records[0]));
    write_all(&out, &report.files)?;
    print(&format!(
        "{}\n{}\n",
        wrapped(&report.summary),
        out.join("index.html").display()
    ))?;
    Ok(Exit::Success)
}
