//! What the records hold, in words.

use std::collections::BTreeSet;

use super::Content;
use super::pair::{Pair, stopped_short};
use super::record_index::RecordIndex;
use super::text::{counted, integer};

/// Of more machines or revisions than this the summary names the first only.
const MOST_NAMED: usize = 4;

/// "a", "a and b", "a, b and c"
pub(super) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// What the records hold, in words.
pub(super) fn summary(content: &Content<'_>) -> String {
    let index = content.index;
    let mut sentences = Vec::new();
    if !index.runs.is_empty() {
        sentences.push(searches(index));
        if let [only] = index.groups.as_slice() {
            sentences.push(only.label.clone());
        }
    }
    if !index.trainings.is_empty() {
        sentences.push(counted(
            index.trainings.len(),
            "run of training",
            "runs of training",
        ));
    }
    if !index.runs.is_empty() {
        sentences.push(missing(content));
        sentences.extend(not_counted(index));
    }
    sentences.extend(origin(index));
    let mut text = sentences.join(". ");
    if !text.ends_with('.') {
        text.push('.');
    }
    text
}

/// How many runs of what.
fn searches(index: &RecordIndex<'_>) -> String {
    let tried: BTreeSet<usize> = index.runs.iter().map(|run| run.domain).collect();
    let problems = tried
        .iter()
        .map(|&place| index.domains[place].problems.len());
    let mut sentence = format!(
        "{} of {} in {}",
        counted(index.runs.len(), "run", "runs"),
        counted(problems.sum(), "problem", "problems"),
        counted(tried.len(), "domain", "domains"),
    );
    let models = || {
        index
            .runs
            .iter()
            .filter_map(|run| run.record.model.as_ref())
    };
    let files: BTreeSet<&str> = models().map(|model| model.sha256.as_str()).collect();
    if !files.is_empty() {
        let seeds: BTreeSet<u64> = models().map(|model| model.seed).collect();
        sentence.push_str(&format!(
            ", with {} of {}",
            counted(files.len(), "trained model", "trained models"),
            counted(seeds.len(), "seed", "seeds"),
        ));
    }
    sentence
}

/// Whether all runs are there that a comparison needs.
fn missing(content: &Content<'_>) -> String {
    let pairs = || {
        let rows = content.sections.iter().flat_map(|section| &section.rows);
        rows.map(|row| &row.pair)
    };
    match pairs().map(Pair::missing).sum::<usize>() {
        0 => "No run is missing".to_owned(),
        missing => {
            let there: usize = pairs()
                .map(|pair| pair.base_there + pair.learned_there)
                .sum();
            format!(
                "{} of {} runs are there",
                integer(there as u64),
                integer((there + missing) as u64)
            )
        }
    }
}

/// Runs that ended before their time, and runs that others stand for.
fn not_counted(index: &RecordIndex<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    let short = index
        .runs
        .iter()
        .filter(|run| stopped_short(run.record) && !run.superseded)
        .count();
    if short > 0 {
        sentences.push(format!(
            "{} stopped by time, memory or a failure, before the limit on evaluations, and counted as unsolved",
            counted(short, "run was", "runs were")
        ));
    }
    let superseded = index.runs.iter().filter(|run| run.superseded).count();
    if superseded > 0 {
        sentences.push(format!(
            "{} repeated by one with other limits on time or memory and not counted",
            counted(superseded, "run is", "runs are")
        ));
    }
    sentences
}

/// Revisions and machines.
fn origin(index: &RecordIndex<'_>) -> Vec<String> {
    let runs = || index.runs.iter().map(|run| run.record);
    let trainings = || index.trainings.iter().map(|run| run.record);
    let revisions: BTreeSet<&str> = runs()
        .map(|record| record.revision.as_str())
        .chain(trainings().map(|record| record.revision.as_str()))
        .collect();
    let machines: BTreeSet<&str> = runs()
        .map(|record| record.machine.as_str())
        .chain(trainings().map(|record| record.machine.as_str()))
        .collect();
    if revisions.is_empty() {
        return Vec::new();
    }
    vec![
        named(revisions, "Revision", "Revisions"),
        named(machines, "Machine:", "Machines:"),
    ]
}

fn named(words: BTreeSet<&str>, one: &str, many: &str) -> String {
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    if words.len() > MOST_NAMED {
        let more = words.split_off(MOST_NAMED - 1).len();
        words.push(format!("{more} more"));
    }
    let which = if words.len() == 1 { one } else { many };
    format!("{which} {}", listed(&words))
}
