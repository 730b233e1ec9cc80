//! What the records hold, in words.

use std::collections::BTreeSet;

use super::Content;
use super::pair::stopped_short;
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
        let models: BTreeSet<&str> = index
            .runs
            .iter()
            .filter_map(|run| Some(run.record.model.as_ref()?.sha256.as_str()))
            .collect();
        if !models.is_empty() {
            let seeds: BTreeSet<u64> = index
                .runs
                .iter()
                .filter_map(|run| Some(run.record.model.as_ref()?.seed))
                .collect();
            sentence.push_str(&format!(
                ", with {} of {}",
                counted(models.len(), "trained model", "trained models"),
                counted(seeds.len(), "seed", "seeds"),
            ));
        }
        sentences.push(sentence);
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
    let missing: usize = content
        .sections
        .iter()
        .flat_map(|section| &section.rows)
        .map(|row| row.pair.missing())
        .sum();
    if !index.runs.is_empty() {
        sentences.push(match missing {
            0 => "No run is missing".to_owned(),
            _ => {
                let there: usize = content
                    .sections
                    .iter()
                    .flat_map(|section| &section.rows)
                    .map(|row| row.pair.base_there + row.pair.learned_there)
                    .sum();
                format!(
                    "{} of {} runs are there",
                    integer(there as u64),
                    integer((there + missing) as u64)
                )
            }
        });
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
    }
    let revisions: BTreeSet<&str> = index
        .runs
        .iter()
        .map(|run| run.record.revision.as_str())
        .chain(
            index
                .trainings
                .iter()
                .map(|run| run.record.revision.as_str()),
        )
        .collect();
    let machines: BTreeSet<&str> = index
        .runs
        .iter()
        .map(|run| run.record.machine.as_str())
        .chain(
            index
                .trainings
                .iter()
                .map(|run| run.record.machine.as_str()),
        )
        .collect();
    let name = |words: BTreeSet<&str>, one: &str, many: &str| {
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        if words.len() > MOST_NAMED {
            let more = words.split_off(MOST_NAMED - 1).len();
            words.push(format!("{more} more"));
        }
        format!(
            "{} {}",
            if words.len() == 1 { one } else { many },
            listed(&words)
        )
    };
    if !revisions.is_empty() {
        sentences.push(name(revisions, "Revision", "Revisions"));
        sentences.push(name(machines, "Machine:", "Machines:"));
    }
    let mut text = sentences.join(". ");
    if !text.ends_with('.') {
        text.push('.');
    }
    text
}
