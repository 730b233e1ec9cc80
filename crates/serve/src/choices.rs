//! What clients may choose when they ask for a plan: names and numbers, as JSON or as typed text.

use homing::{ProblemSource, SearchConfig, SolveLimits, SolveRequest};
use homing_planner::{HeuristicKind, SearchKind};
use serde_json::{Map, Value, json};

use crate::models::Models;

/// The text of a field; `None` if it is missing, empty or null.
pub(crate) fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// A number, or a text that is one: editors send what was typed.
fn number(fields: &Map<String, Value>, name: &str) -> Result<Option<f64>, String> {
    let value = match fields.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(value) => value.as_f64(),
    };
    match value {
        Some(number) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
        _ => Err(format!("`{name}` should be a number that is not negative")),
    }
}

/// The request that the fields of a body make. `longest` and `memory` are what a client may have.
pub(crate) fn solve_request(
    fields: &Map<String, Value>,
    models: &Models,
    longest: f64,
    memory: u64,
) -> Result<SolveRequest, String> {
    let required = |name: &str| {
        text(fields, name)
            .map(str::to_owned)
            .ok_or_else(|| format!("the {name} is missing: the field `{name}` should be its text"))
    };
    let mut search = SearchConfig::default();
    if let Some(name) = text(fields, "search") {
        search.search = name
            .parse::<SearchKind>()
            .map_err(|error| error.to_string())?;
    }
    if let Some(name) = text(fields, "heuristic") {
        search.heuristic = name
            .parse::<HeuristicKind>()
            .map_err(|error| error.to_string())?;
    }
    if let Some(name) = text(fields, "model").filter(|name| *name != "none") {
        search.model = Some(models.file_for_solving(name)?);
    }
    if let Some(weight) = number(fields, "weight")? {
        search.weight = weight;
    }
    if let Some(seed) = number(fields, "seed")? {
        search.seed = seed as u64;
    }
    // Many clients share the machine: one does not take all cores.
    search.threads = std::num::NonZeroUsize::new(1);
    let seconds = number(fields, "time_limit")?.filter(|seconds| *seconds > 0.0);
    let evaluations = number(fields, "max_evaluations")?.map(|most| most as u64);
    Ok(SolveRequest {
        problem: ProblemSource::Text {
            domain: required("domain")?,
            problem: required("problem")?,
        },
        search,
        limits: SolveLimits {
            max_evaluations: evaluations.filter(|most| *most > 0),
            time_limit: Some(seconds.unwrap_or(longest).min(longest)),
            memory_limit: Some(memory),
            ..SolveLimits::default()
        },
    })
}

/// The choices of a solve service, as its manifest lists them.
pub(crate) fn manifest_arguments(models: &Models) -> Value {
    let choice = |name: &str| json!({"display_value": name, "value": name});
    let default = SearchConfig::default();
    // The default comes first: editors that list the choices have the first one under the cursor.
    let mut searches: Vec<SearchKind> = SearchKind::without_policy().collect();
    searches.sort_by_key(|kind| *kind != default.search);
    let searches: Vec<Value> = searches.iter().map(|kind| choice(kind.name())).collect();
    let mut heuristics = HeuristicKind::ALL;
    heuristics.sort_by_key(|kind| *kind != default.heuristic);
    let heuristics = heuristics.map(|kind| choice(kind.name()));
    let names = models.list();
    let names = names.as_array().into_iter().flatten();
    let names = names.filter_map(|model| model["name"].as_str());
    let models: Vec<Value> = ["none", "auto"]
        .into_iter()
        .chain(names)
        .map(choice)
        .collect();
    json!([
        {"name": "domain", "type": "file", "description": "domain file"},
        {"name": "problem", "type": "file", "description": "problem file"},
        {"name": "search", "type": "categorical", "description": "order in which states are expanded",
         "choices": searches, "default": default.search.name()},
        {"name": "heuristic", "type": "categorical", "description": "estimate of the cost to the goal",
         "choices": heuristics, "default": default.heuristic.name()},
        {"name": "model", "type": "categorical",
         "description": "a trained model; auto: the one that ships for the domain",
         "choices": models, "default": "none"},
        {"name": "time_limit", "type": "int", "description": "seconds at the most", "default": 30},
    ])
}
