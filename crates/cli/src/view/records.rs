//! Pictures of what was recorded: searches of `homing solve --json`, records of evaluations and
//! trainings, logs of training.

use std::path::{Path, PathBuf};

use homing::input::read_bytes;
use homing::train::LogLine;
use homing::{SearchConfig, SolveRecord, read_records};
use homing_planner::search::SearchOptions;
use homing_planner::{HeuristicKind, Plan};
use homing_serve::{curve, replay, runs, trainings};
use serde_json::{Value, json};

use super::{View, bad, name, search_for};
use crate::input::problem_source;
use crate::output::say;

/// What a file of JSON holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Steps of a training.
    Log,
    /// Records of an experiment.
    Records,
    /// Records of `homing solve --json`.
    Solves,
}

/// Whether a file is JSON, or a folder of records: neither PDDL nor a plan begins with a brace.
pub(super) fn is_recorded(path: &Path) -> anyhow::Result<bool> {
    if path.is_dir() {
        return Ok(true);
    }
    let bytes = read_bytes(path)?;
    Ok(bytes.trim_ascii_start().first() == Some(&b'{'))
}

/// What a file of JSON holds, by the fields of its first object.
fn kind(path: &Path) -> anyhow::Result<Kind> {
    if path.is_dir() {
        return Ok(Kind::Records);
    }
    let bytes = read_bytes(path)?;
    let first = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
    let first = first.take(1).find_map(Result::ok).unwrap_or(Value::Null);
    if serde_json::from_value::<LogLine>(first.clone()).is_ok() {
        Ok(Kind::Log)
    } else if first["key"].is_string() {
        Ok(Kind::Records)
    } else if serde_json::from_value::<SolveRecord>(first).is_ok() {
        Ok(Kind::Solves)
    } else {
        Err(bad(format!(
            "{} holds neither records of `homing solve --json`, `evaluate` or `experiment` nor a \
             log of `homing train --learner nlm`",
            path.display()
        )))
    }
}

/// The page of records alone.
pub(super) fn of_records(files: &[PathBuf]) -> anyhow::Result<Value> {
    let mut data = json!({"title": name(&files[0])});
    let (mut curves, mut solves, mut folders) = (Vec::new(), Vec::new(), Vec::new());
    for file in files {
        match kind(file)? {
            Kind::Log => curves.push(of_log(file)?),
            Kind::Solves => solves.extend(read_solves(file)?),
            Kind::Records => folders.push(file.clone()),
        }
    }
    if !folders.is_empty() {
        let records = read_records(&folders)?;
        if !records.evaluations.is_empty() {
            data["runs"] = runs(&records.evaluations);
        }
        if !records.trainings.is_empty() {
            data["trainings"] = trainings(&records.trainings);
        }
    }
    if !curves.is_empty() {
        data["curves"] = json!(curves);
    }
    if !solves.is_empty() {
        data["solves"] = json!(solves.iter().map(Solve::data).collect::<Vec<_>>());
    }
    Ok(data)
}

/// Goals and loss of a run of training.
fn of_log(file: &Path) -> anyhow::Result<Value> {
    let bytes = read_bytes(file)?;
    let text = String::from_utf8_lossy(&bytes);
    let Some((last, points)) = curve(&text) else {
        return Err(bad(format!("{} has no whole line", file.display())));
    };
    Ok(json!({"title": name(file), "of": last, "steps": points}))
}

/// A record of a search, and what to call it.
struct Solve {
    title: String,
    record: SolveRecord,
}

impl Solve {
    fn data(&self) -> Value {
        json!({"title": self.title, "record": self.record})
    }

    /// The search that the record tells of.
    fn config(&self) -> SearchConfig {
        let record = &self.record;
        let heuristic = record.heuristic.as_deref().unwrap_or_default();
        let base = heuristic.strip_prefix("H-").unwrap_or(heuristic);
        let known = HeuristicKind::ALL.into_iter();
        SearchConfig {
            search: record.search,
            heuristic: known
                .into_iter()
                .find(|kind| kind.name() == base)
                .unwrap_or_default(),
            model: record.model.as_ref().map(PathBuf::from),
            weight: record.weight.unwrap_or(SearchOptions::DEFAULT_WEIGHT),
            unit_cost: record.unit_cost,
            ..SearchConfig::default()
        }
    }
}

/// The records of a file; several may follow one another.
fn read_solves(file: &Path) -> anyhow::Result<Vec<Solve>> {
    let bytes = read_bytes(file)?;
    let stream = serde_json::Deserializer::from_slice(&bytes).into_iter::<SolveRecord>();
    let records: Result<Vec<SolveRecord>, _> = stream.collect();
    let records = records.map_err(|error| {
        bad(format!(
            "{}: not a record of `homing solve --json`: {error}",
            file.display()
        ))
    })?;
    let several = records.len() > 1;
    let solves = records.into_iter().enumerate().map(|(index, record)| {
        let number = if several {
            format!(" {}", index + 1)
        } else {
            String::new()
        };
        let title = format!("{}{number}", name(file));
        Solve { title, record }
    });
    Ok(solves.collect())
}

/// Records of searches on a problem that is there: their plans with the states, and the searches
/// themselves, which are done again as the records say.
pub(super) fn of_solves(
    arguments: &View,
    problem: &[PathBuf],
    files: &[PathBuf],
) -> anyhow::Result<Value> {
    let source = problem_source(problem)?;
    let loaded = source.load()?.value;
    let mut solves = Vec::new();
    for file in files {
        if kind(file)? != Kind::Solves {
            return Err(bad(format!(
                "{} is no record of `homing solve --json`: leave out the problem",
                file.display()
            )));
        }
        solves.extend(read_solves(file)?);
    }
    let (mut races, mut plan) = (Vec::new(), None);
    for solve in &solves {
        let record = &solve.record;
        if record.problem != loaded.name {
            return Err(bad(format!(
                "{} is of the problem {}, not of {}",
                solve.title, record.problem, loaded.name
            )));
        }
        if let (Some(steps), None) = (&record.plan, &plan) {
            let parsed = Plan::parse(&steps.join("\n"));
            let parsed = parsed.map_err(|error| bad(format!("{}: {error}", solve.title)))?;
            plan = Some(replay(&loaded, &parsed));
        }
        let searched = search_for(&source, solve.config(), arguments.max_evaluations);
        let (states, result) = match searched {
            Ok(searched) => searched,
            Err(error) => {
                let title = &solve.title;
                say(&format!("{title}: its search is not drawn: {error:#}\n"));
                continue;
            }
        };
        races.push(json!({"title": race_title(solve, &result), "states": states}));
    }
    let solves: Vec<Value> = solves.iter().map(Solve::data).collect();
    let races = (!races.is_empty()).then_some(races);
    Ok(json!({"title": loaded.name, "solves": solves, "races": races, "replay": plan}))
}

/// What a search was, and whether it went as the record says.
fn race_title(solve: &Solve, result: &Value) -> String {
    let record = &solve.record;
    let heuristic = record.heuristic.as_deref().unwrap_or("no heuristic");
    let mut title = format!("{}: {} with {heuristic}", solve.title, record.search);
    let again = result["evaluations"].as_u64().unwrap_or(0);
    if again == record.evaluations {
        title.push_str(&format!(", {again} evaluations, as recorded"));
    } else {
        title.push_str(&format!(
            ", {again} evaluations here, {} in the record",
            record.evaluations
        ));
    }
    title
}
