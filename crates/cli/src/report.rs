//! `homing report`.

use std::path::PathBuf;

use clap::Args;
use homing::{ReportRecord, ReportRequest};

use crate::exit::Exit;
use crate::output::{print, wrapped};
use crate::watch::catch_interrupts;

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

pub(crate) fn run(arguments: &Report) -> anyhow::Result<Exit> {
    catch_interrupts();
    let mut request = ReportRequest {
        records: arguments.records.clone(),
        out: arguments.out.clone(),
        title: Some(arguments.title.clone()).filter(|title| !title.is_empty()),
        threshold: None,
        thresholds: std::collections::BTreeMap::new(),
    };
    for (domain, most) in &arguments.threshold {
        match domain {
            Some(domain) => {
                request.thresholds.insert(domain.clone(), *most);
            }
            None => request.threshold = Some(*most),
        }
    }
    show(&homing::report(&request)?)?;
    Ok(Exit::Success)
}

/// Says what a report comes to and where it is.
pub(crate) fn show(report: &ReportRecord) -> anyhow::Result<()> {
    print(&format!(
        "{}\n{}\n",
        wrapped(&report.summary),
        report.page.display()
    ))
}
