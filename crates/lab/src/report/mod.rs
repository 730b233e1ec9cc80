//! Reports: a pure function of records.
//!
//! [`render`] makes one page of HTML that needs nothing else, and tables as CSV and LaTeX. The
//! records are put in order, runs that may be compared are paired, the statistics
//! are computed, and then written down. Nothing depends on the order of the records, on a clock or
//! on the machine. `docs/report.md` says what each number means.

mod coverage;
mod csv;
mod figures;
mod goals;
mod heuristics;
mod latex;
mod objects;
mod page;
mod pair;
mod record_index;
mod runs;
mod summary;
mod svg;
mod tables;
mod text;
mod time;
mod variants;
mod wins;

use std::collections::BTreeMap;

use self::record_index::RecordIndex;
pub use self::text::integer;
use crate::record::{Evaluation, Training};

/// What can be chosen about a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportOptions {
    /// The page's title; "Report" if empty.
    pub title: String,
    /// In figures of the rate solved against objects, plans count only within so many evaluations.
    pub threshold: Option<u64>,
    /// The same for single domains, by the name in the report or in PDDL.
    pub thresholds: BTreeMap<String, u64>,
}

/// A report: the files of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Names and bytes.
    pub files: Vec<(String, Vec<u8>)>,
    /// What the records hold, in a sentence or two.
    pub summary: String,
}

/// The statistics of h and H in one domain.
struct Row<'a> {
    pair: pair::Pair<'a>,
    coverage: coverage::Coverage,
    wins: Option<wins::Wins>,
    bins: Vec<objects::Bin>,
    threshold: Option<u64>,
    time: time::Time,
}

/// The rows of a group.
struct Section<'a> {
    group: usize,
    rows: Vec<Row<'a>>,
}

/// The rows of a way of training.
struct TrainingSection<'a> {
    variant: usize,
    rows: Vec<goals::GoalsRow<'a>>,
}

/// All that a report says.
struct Content<'a> {
    index: &'a RecordIndex<'a>,
    sections: Vec<Section<'a>>,
    /// One for each way of training that has records.
    training: Vec<TrainingSection<'a>>,
}

impl<'a> Content<'a> {
    fn new(index: &'a RecordIndex<'a>, options: &ReportOptions) -> Self {
        let sections = index.groups.iter().enumerate().map(|(place, group)| {
            let rows = pair::pairs(index, group).into_iter().map(|pair| {
                let domain = &index.domains[pair.domain];
                let own = |name: &str| options.thresholds.get(name).copied();
                let in_pddl = domain.paper.and_then(|paper| {
                    own(paper.name).or_else(|| paper.also.iter().find_map(|name| own(name)))
                });
                let threshold = own(&domain.label).or(in_pddl).or(options.threshold);
                let bins = objects::objects(&pair, domain, &objects::edges(domain), threshold);
                Row {
                    coverage: coverage::coverage(&pair),
                    wins: wins::wins(&pair),
                    bins,
                    threshold,
                    time: time::time(&pair),
                    pair,
                }
            });
            Section {
                group: place,
                rows: rows.collect(),
            }
        });
        let training = (0..index.variants.len())
            .map(|variant| TrainingSection {
                variant,
                rows: goals::goals(index, variant),
            })
            .filter(|section| !section.rows.is_empty());
        Self {
            index,
            sections: sections.collect(),
            training: training.collect(),
        }
    }

    /// Training with this heuristic in this domain, of the group's way of training.
    fn training_of(
        &self,
        section: &Section<'_>,
        domain: usize,
        heuristic: &str,
    ) -> Option<&goals::Goals<'a>> {
        let variant = self.index.groups[section.group].variant?;
        let mut training = self.training.iter();
        let training = training.find(|training| training.variant == variant)?;
        let row = training.rows.iter().find(|row| row.domain == domain)?;
        row.cells.iter().find(|cell| cell.heuristic == heuristic)
    }
}

/// Makes a report of records.
pub fn render(
    evaluations: &[Evaluation],
    trainings: &[Training],
    options: &ReportOptions,
) -> Report {
    let index = RecordIndex::new(evaluations, trainings);
    let content = Content::new(&index, options);
    let files = [
        ("index.html", page::page(&content, options)),
        ("coverage.csv", csv::coverage(&content)),
        ("wins.csv", csv::wins(&content)),
        ("goals.csv", csv::goals(&content)),
        ("solved-by-objects.csv", csv::objects(&content)),
        ("time.csv", csv::time(&content)),
        ("runs.csv", csv::runs(&content)),
        ("trainings.csv", csv::trainings(&content)),
        ("coverage.tex", latex::coverage(&content)),
        ("wins.tex", latex::wins(&content)),
        ("goals.tex", latex::goals(&content)),
    ];
    Report {
        files: files
            .into_iter()
            .map(|(name, text)| (name.to_owned(), text.into_bytes()))
            .collect(),
        summary: summary::summary(&content),
    }
}
