//! Ways of training: what tells models apart that are not to be thrown together.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::heuristics::NO_HEURISTIC;
use super::record_index::Labels;
use crate::record::{Evaluation, Training};

/// What a record says about how the model was trained.
type Fields = BTreeMap<String, String>;

/// What tells a way of training from the others: fields that vary, and their values.
type Key = Vec<(String, String)>;

/// The ways of training, and which one each run of training and each model is of.
pub(super) struct Variants<'a> {
    /// Each in words; a single one has none.
    pub(super) labels: Vec<String>,
    /// By the key of the run.
    pub(super) of_training: BTreeMap<&'a str, usize>,
    /// By the hash of the model's file.
    pub(super) of_model: BTreeMap<&'a str, usize>,
}

/// Finds the ways of training.
///
/// Two ways differ in fields that vary within one domain and heuristic. What only differs between
/// domains, as the number of layers does in the paper, belongs to one and the same experiment.
pub(super) fn variants<'a>(
    evaluations: &[&'a Evaluation],
    trainings: &[&'a Training],
    labels: &Labels<'_>,
) -> Variants<'a> {
    let all: Vec<Fields> = trainings.iter().map(|run| fields(run)).collect();
    let varied = varied(trainings, &all, labels);
    let key = |fields: &Fields| -> Key {
        let of_field = |name: &String| {
            let value = fields.get(name).map_or("unset", String::as_str);
            (name.clone(), value.trim_matches('"').to_owned())
        };
        varied.iter().map(of_field).collect()
    };
    let known: BTreeMap<&str, &Fields> = trainings
        .iter()
        .zip(&all)
        .map(|(run, fields)| (run.model_sha256.as_str(), fields))
        .collect();
    let steps_matter = steps_matter(evaluations, &known, labels);
    let of_training: Vec<(&str, Key)> = trainings
        .iter()
        .zip(&all)
        .map(|(run, fields)| (run.key.as_str(), key(fields)))
        .collect();
    let models: BTreeMap<&str, u64> = evaluations
        .iter()
        .filter_map(|run| run.model.as_ref())
        .map(|model| (model.sha256.as_str(), model.steps))
        .collect();
    let of_model: Vec<(&str, Key)> = models
        .into_iter()
        .map(|(sha256, steps)| {
            let key = match known.get(sha256) {
                Some(fields) => key(fields),
                None if steps_matter => vec![("steps".to_owned(), steps.to_string())],
                None if varied.is_empty() => Vec::new(),
                None => vec![("settings".to_owned(), "not recorded".to_owned())],
            };
            (sha256, key)
        })
        .collect();
    let mut keys: Vec<&Key> = of_training
        .iter()
        .chain(&of_model)
        .map(|(_, key)| key)
        .collect();
    keys.sort_by(|a, b| by_value(a, b));
    keys.dedup();
    let places = |of: &[(&'a str, Key)]| -> BTreeMap<&'a str, usize> {
        let place = |key: &Key| keys.binary_search_by(|other| by_value(other, key));
        of.iter()
            .map(|(name, key)| (*name, place(key).unwrap_or_default()))
            .collect()
    };
    Variants {
        labels: keys.iter().map(|key| label(key)).collect(),
        of_training: places(&of_training),
        of_model: places(&of_model),
    }
}

/// The settings of a run, and what it was trained on.
fn fields(run: &Training) -> Fields {
    let mut fields: Fields = run
        .config
        .iter()
        .filter(|(name, _)| name.as_str() != "seed")
        .map(|(name, value)| (name.clone(), value.to_string()))
        .collect();
    fields.insert("steps".to_owned(), run.steps.to_string());
    fields.insert(
        "training problems".to_owned(),
        run.problems_sha256.chars().take(8).collect(),
    );
    fields
}

/// The fields that vary within one domain and heuristic.
fn varied(trainings: &[&Training], all: &[Fields], labels: &Labels<'_>) -> BTreeSet<String> {
    let mut values: BTreeMap<(usize, &str, &String), BTreeSet<Option<&String>>> = BTreeMap::new();
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    for (run, fields) in trainings.iter().zip(all) {
        let domain = labels.place(&run.domain, &run.domain_sha256);
        for &name in &names {
            let found = values.entry((domain, &run.heuristic, name)).or_default();
            found.insert(fields.get(name));
        }
    }
    values
        .into_iter()
        .filter(|(_, found)| found.len() > 1)
        .map(|((_, _, name), _)| name.clone())
        .collect()
}

/// Of models whose training left no record here, all that is known are their steps, and these matter
/// only where one seed has several models.
fn steps_matter(
    evaluations: &[&Evaluation],
    known: &BTreeMap<&str, &Fields>,
    labels: &Labels<'_>,
) -> bool {
    let mut steps: BTreeMap<(usize, &str, u64), BTreeSet<u64>> = BTreeMap::new();
    for run in evaluations {
        if let Some(model) = &run.model
            && !known.contains_key(model.sha256.as_str())
        {
            let domain = labels.place(&run.domain, &run.domain_sha256);
            let heuristic = run.heuristic.as_deref().unwrap_or(NO_HEURISTIC);
            let entry = steps.entry((domain, heuristic, model.seed)).or_default();
            entry.insert(model.steps);
        }
    }
    steps.values().any(|found| found.len() > 1)
}

/// A way of training in words.
fn label(key: &Key) -> String {
    let parts: Vec<String> = key
        .iter()
        .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
        .collect();
    parts.join(", ")
}

/// Numbers by their size, everything else by its letters.
fn by_value(a: &[(String, String)], b: &[(String, String)]) -> Ordering {
    for ((a_name, a_value), (b_name, b_value)) in a.iter().zip(b) {
        let order = a_name.cmp(b_name).then_with(|| {
            let numbers = (a_value.parse::<f64>(), b_value.parse::<f64>());
            match numbers {
                (Ok(a_number), Ok(b_number)) => a_number.total_cmp(&b_number),
                _ => Ordering::Equal,
            }
            .then_with(|| a_value.cmp(b_value))
        });
        if order.is_ne() {
            return order;
        }
    }
    a.len().cmp(&b.len())
}
