//! Records as the `properties` file that the reports of Lab read.
//!
//! Lab (downward-lab) keeps the results of an experiment in a folder with one file, `properties`: a
//! JSON object with an object for each run. Its reports compare runs by `algorithm`, `domain` and
//! `problem`, and take a table's values from tasks that every algorithm has one for. So counts and
//! times are given for runs that found a plan, as Fast Downward's parsers do; the memory and the time
//! of the process, and how it ended, for all.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::record::{Evaluation, Outcome};

/// The name of the file.
pub const PROPERTIES: &str = "properties";

/// The text of the file. Of several records of the same run the last one counts.
pub fn properties(records: &[Evaluation]) -> String {
    let names = algorithms(records);
    let runs: BTreeMap<String, Value> = records
        .iter()
        .map(|record| {
            let algorithm = &names[&Distinct::of(record)];
            let id = format!("{algorithm}-{}-{}", record.domain, record.problem);
            (id, run(record, algorithm))
        })
        .collect();
    let mut text = serde_json::to_string_pretty(&runs).unwrap_or_default();
    text.push('\n');
    text
}

/// What tells one algorithm from another, but for the files it is run on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Distinct {
    name: String,
    model: Option<String>,
    limits: String,
}

impl Distinct {
    fn of(record: &Evaluation) -> Self {
        let mut name = format!("{}-{}", record.search, record.configuration());
        if let Some(weight) = record.weight {
            name.push_str(&format!("-w{weight}"));
        }
        if record.unit_cost {
            name.push_str("-unit");
        }
        if let Some(model) = &record.model {
            name.push_str(&format!("-s{}", model.seed));
        }
        let mut limits = String::new();
        if let Some(evaluations) = record.max_evaluations {
            limits.push_str(&format!("-e{evaluations}"));
        }
        if let Some(seconds) = record.time_limit {
            limits.push_str(&format!("-t{seconds}"));
        }
        if let Some(bytes) = record.memory_limit {
            limits.push_str(&format!("-m{}", bytes >> 20));
        }
        Self {
            name,
            model: record.model.as_ref().map(|model| model.sha256.clone()),
            limits,
        }
    }
}

/// A name for each algorithm: search and heuristic, and as much of the rest as tells it from the
/// others. The models of several domains are one algorithm where they have the same seed.
fn algorithms(records: &[Evaluation]) -> BTreeMap<Distinct, String> {
    let mut models: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    let mut limits: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for record in records {
        let distinct = Distinct::of(record);
        let of_domain = (record.domain.as_str(), distinct.name.clone());
        models
            .entry(of_domain)
            .or_default()
            .extend(distinct.model.clone());
        limits
            .entry(distinct.name)
            .or_default()
            .push(distinct.limits);
    }
    let several = |values: &Vec<String>| values.iter().any(|value| *value != values[0]);
    records
        .iter()
        .map(|record| {
            let distinct = Distinct::of(record);
            let of_domain = (record.domain.as_str(), distinct.name.clone());
            let mut name = distinct.name.clone();
            if several(&models[&of_domain]) {
                let hash = distinct.model.as_deref().unwrap_or_default();
                name.push_str(&format!("-{}", &hash[..hash.len().min(8)]));
            }
            if several(&limits[&distinct.name]) {
                name.push_str(&distinct.limits);
            }
            (distinct, name)
        })
        .collect()
}

/// What Lab calls it; its reports know these words.
fn error(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Solved => "success",
        Outcome::Unsolvable => "search-unsolvable",
        Outcome::Limit => "search-unsolved-incomplete",
        Outcome::TimeLimit => "search-out-of-time",
        Outcome::MemoryLimit => "search-out-of-memory",
        Outcome::Failed => "search-critical-error",
    }
}

fn run(record: &Evaluation, algorithm: &str) -> Value {
    let mut run = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            run.insert(name.to_owned(), value);
        }
    };
    put("algorithm", json!(algorithm));
    put("domain", json!(record.domain));
    put("problem", json!(record.problem));
    put("id", json!([algorithm, record.domain, record.problem]));
    put("coverage", json!(u8::from(record.solved())));
    let unsolvable = record.outcome == Outcome::Unsolvable;
    put("unsolvable", json!(u8::from(unsolvable)));
    put("error", json!(error(record.outcome)));
    if let Some(error) = &record.error {
        put("unexplained_errors", json!([error]));
    }
    put("objects", json!(record.objects));
    put("planner_time", json!(record.cpu_seconds));
    let kib = record.memory_bytes.map(|bytes| bytes / 1024);
    put("raw_memory", json!(kib));
    put("limit_evaluations", json!(record.max_evaluations));
    put("limit_time", json!(record.time_limit));
    put("limit_memory", json!(record.memory_limit));
    put("global_revision", json!(record.revision));
    put("node", json!(record.machine));
    if record.solved() {
        put("evaluations", json!(record.evaluations));
        put("expansions", json!(record.expansions));
        put("generated", json!(record.generated));
        put("plan_length", json!(record.plan_length));
        put("cost", json!(record.plan_cost));
        put("search_time", json!(record.search_cpu_seconds));
        put("total_time", json!(record.cpu_seconds));
        put("memory", json!(kib));
    }
    Value::Object(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ModelOfRun, RECORD_FORMAT};

    fn record(domain: &str, problem: &str, outcome: Outcome) -> Evaluation {
        Evaluation {
            format: RECORD_FORMAT,
            key: format!("{domain}{problem}"),
            domain: domain.to_owned(),
            domain_sha256: String::new(),
            problem: problem.to_owned(),
            problem_sha256: String::new(),
            objects: 3,
            heuristic: Some("ff".to_owned()),
            model: None,
            search: "gbfs".to_owned(),
            weight: None,
            unit_cost: false,
            max_evaluations: Some(100),
            time_limit: None,
            memory_limit: None,
            outcome,
            error: None,
            evaluations: 12,
            generated: 30,
            expansions: 11,
            plan_length: Some(6),
            plan_cost: Some(7),
            validated: true,
            search_cpu_seconds: 0.5,
            cpu_seconds: 0.75,
            memory_bytes: Some(4096),
            revision: "1".to_owned(),
            machine: "here".to_owned(),
        }
    }

    fn with_model(domain: &str, sha256: &str) -> Evaluation {
        Evaluation {
            model: Some(ModelOfRun {
                file: "m".to_owned(),
                sha256: sha256.to_owned(),
                seed: 4,
                steps: 10,
            }),
            ..record(domain, "p1", Outcome::Solved)
        }
    }

    fn parsed(records: &[Evaluation]) -> BTreeMap<String, Value> {
        serde_json::from_str(&properties(records)).unwrap()
    }

    #[test]
    fn a_run_with_a_plan_has_counts_and_one_without_has_not() {
        let records = [
            record("blocks", "p1", Outcome::Solved),
            record("blocks", "p2", Outcome::TimeLimit),
        ];
        let runs = parsed(&records);
        let solved = &runs["gbfs-ff-blocks-p1"];
        assert_eq!(solved["id"], json!(["gbfs-ff", "blocks", "p1"]));
        assert_eq!(solved["coverage"], 1);
        assert_eq!(solved["error"], "success");
        assert_eq!(solved["evaluations"], 12);
        assert_eq!(solved["cost"], 7);
        assert_eq!(solved["memory"], 4);
        let ended = &runs["gbfs-ff-blocks-p2"];
        assert_eq!(ended["coverage"], 0);
        assert_eq!(ended["error"], "search-out-of-time");
        assert_eq!(ended["planner_time"], 0.75);
        assert!(ended.get("evaluations").is_none() && ended.get("search_time").is_none());
    }

    #[test]
    fn a_failure_is_an_unexplained_error() {
        let failed = Evaluation {
            error: Some("it crashed".to_owned()),
            ..record("blocks", "p1", Outcome::Failed)
        };
        let runs = parsed(&[failed]);
        assert_eq!(
            runs["gbfs-ff-blocks-p1"]["unexplained_errors"],
            json!(["it crashed"])
        );
    }

    #[test]
    fn algorithms_that_differ_have_names_that_differ() {
        let longer = Evaluation {
            max_evaluations: Some(200),
            ..record("blocks", "p1", Outcome::Solved)
        };
        let weighted = Evaluation {
            search: "wastar".to_owned(),
            weight: Some(2.0),
            unit_cost: true,
            ..record("blocks", "p1", Outcome::Solved)
        };
        let records = [
            record("blocks", "p1", Outcome::Solved),
            longer,
            weighted,
            with_model("blocks", "aaaaaaaaaa"),
            with_model("blocks", "bbbbbbbbbb"),
            with_model("ferry", "cccccccccc"),
        ];
        let names: Vec<String> = parsed(&records).into_keys().collect();
        assert_eq!(
            names,
            [
                "gbfs-H-ff-s4-aaaaaaaa-blocks-p1",
                "gbfs-H-ff-s4-bbbbbbbb-blocks-p1",
                "gbfs-H-ff-s4-ferry-p1",
                "gbfs-ff-e100-blocks-p1",
                "gbfs-ff-e200-blocks-p1",
                "wastar-ff-w2-unit-blocks-p1",
            ]
        );
    }
}
