//! Ways of training: what tells models apart that are not to be thrown together.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::heuristics::NO_HEURISTIC;
use super::record_index::Labels;
use crate::record::{Evaluation, Training};

/// What a record says about how the model was trained.
type Fields = BTreeMap<String, String>;

/// The ways of training, and which one each run of training and each model (by its hash) is of.
///
/// Two ways differ in fields that vary within one domain and heuristic. What only differs between
/// domains, as the number of layers does in the paper, belongs to one and the same experiment.
pub(super) fn variants<'a>(
    evaluations: &[&'a Evaluation],
    trainings: &[&'a Training],
    labels: &Labels<'_>,
) -> (
    Vec<String>,
    BTreeMap<&'a str, usize>,
    BTreeMap<&'a str, usize>,
) {
    let fields = |run: &Training| -> Fields {
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
    };
    let mut values: BTreeMap<(usize, &str, String), BTreeSet<Option<String>>> = BTreeMap::new();
    let all: Vec<Fields> = trainings.iter().map(|run| fields(run)).collect();
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    for (run, fields) in trainings.iter().zip(&all) {
        let domain = labels.place(&run.domain, &run.domain_sha256);
        for &name in &names {
            values
                .entry((domain, &run.heuristic, name.clone()))
                .or_default()
                .insert(fields.get(name).cloned());
        }
    }
    let varied: BTreeSet<String> = values
        .into_iter()
        .filter(|(_, found)| found.len() > 1)
        .map(|((_, _, name), _)| name)
        .collect();
    let key = |fields: &Fields| -> Vec<(String, String)> {
        varied
            .iter()
            .map(|name| {
                let value = fields.get(name).map_or("unset", String::as_str);
                (name.clone(), value.trim_matches('"').to_owned())
            })
            .collect()
    };

    // Models whose training left no record here: all that is known are their steps, and these
    // matter only where one seed has several models.
    let known: BTreeMap<&str, &Fields> = trainings
        .iter()
        .zip(&all)
        .map(|(run, fields)| (run.model_sha256.as_str(), fields))
        .collect();
    let mut steps: BTreeMap<(usize, &str, u64), BTreeSet<u64>> = BTreeMap::new();
    let mut models: BTreeMap<&str, u64> = BTreeMap::new();
    for run in evaluations {
        if let Some(model) = &run.model {
            models.insert(&model.sha256, model.steps);
            if !known.contains_key(model.sha256.as_str()) {
                let domain = labels.place(&run.domain, &run.domain_sha256);
                let heuristic = run.heuristic.as_deref().unwrap_or(NO_HEURISTIC);
                let entry = steps.entry((domain, heuristic, model.seed)).or_default();
                entry.insert(model.steps);
            }
        }
    }
    let steps_matter = steps.values().any(|found| found.len() > 1);

    let of_training: Vec<(&str, Vec<(String, String)>)> = trainings
        .iter()
        .zip(&all)
        .map(|(run, fields)| (run.key.as_str(), key(fields)))
        .collect();
    let of_model: Vec<(&str, Vec<(String, String)>)> = models
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
    let mut keys: Vec<&Vec<(String, String)>> = of_training
        .iter()
        .chain(&of_model)
        .map(|(_, key)| key)
        .collect();
    keys.sort_by(|a, b| by_value(a, b));
    keys.dedup();
    let place = |key: &Vec<(String, String)>| {
        keys.binary_search_by(|other| by_value(other, key))
            .unwrap_or_default()
    };
    let places = |of: &[(&'a str, Vec<(String, String)>)]| -> BTreeMap<&'a str, usize> {
        of.iter().map(|(name, key)| (*name, place(key))).collect()
    };
    let label = |key: &Vec<(String, String)>| {
        let parts: Vec<String> = key
            .iter()
            .map(|(name, value)| format!("{} {value}", name.replace('_', " ")))
            .collect();
        parts.join(", ")
    };
    (
        keys.iter().map(|key| label(key)).collect(),
        places(&of_training),
        places(&of_model),
    )
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
