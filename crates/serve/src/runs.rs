//! Records of evaluations and trainings as the data of pictures.

use std::collections::BTreeMap;

use homing::train::read_log;
use homing_lab::record::{Evaluation, Training};
use serde_json::{Value, json};

/// Names in the order of their first appearance, each with its number.
#[derive(Default)]
struct Names {
    numbers: BTreeMap<String, usize>,
    list: Vec<String>,
}

impl Names {
    /// The number of what `key` identifies and `shown` names.
    fn number(&mut self, key: String, shown: &str) -> usize {
        let next = self.list.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.list.push(shown.to_owned());
        }
        number
    }
}

/// How a run was made, in words that tell it from the others; the search only where there are
/// several.
fn configuration(run: &Evaluation, several: bool) -> String {
    let mut name = run.configuration();
    if several {
        name.push_str(&format!(" {}", run.search));
        if let Some(weight) = run.weight {
            name.push_str(&format!(" {weight}"));
        }
    }
    name
}

/// Runs of searches: names of domains, problems and configurations, and a row of numbers a run. The
/// same runs in any order give the same data.
pub fn runs(evaluations: &[Evaluation]) -> Value {
    let mut sorted: Vec<&Evaluation> = evaluations.iter().collect();
    sorted.sort_by(|a, b| {
        let order = |run: &Evaluation| {
            (
                run.domain.clone(),
                run.objects,
                run.problem.clone(),
                run.problem_sha256.clone(),
                run.model.is_some(),
                run.key.clone(),
            )
        };
        order(a).cmp(&order(b))
    });
    let how = |run: &Evaluation| (run.search.clone(), run.weight.map(f64::to_bits));
    let several = sorted.windows(2).any(|pair| how(pair[0]) != how(pair[1]));
    let mut configurations: Vec<String> = sorted
        .iter()
        .map(|run| configuration(run, several))
        .collect();
    configurations.sort_by_key(|name| (base(name).to_owned(), name.starts_with("H-")));
    configurations.dedup();
    let (mut domains, mut problems) = (Names::default(), Names::default());
    let rows: Vec<Value> = sorted
        .iter()
        .map(|run| {
            let name = configuration(run, several);
            let configuration = configurations.iter().position(|one| *one == name);
            json!([
                domains.number(run.domain.clone(), &run.domain),
                problems.number(
                    format!("{} {}", run.domain_sha256, run.problem_sha256),
                    &run.problem
                ),
                configuration,
                run.outcome,
                run.evaluations,
                run.expansions,
                run.plan_length,
                run.plan_cost,
                run.cpu_seconds,
            ])
        })
        .collect();
    json!({
        "domains": domains.list, "problems": problems.list, "configurations": configurations,
        "rows": rows,
    })
}

/// The heuristic below a configuration: what a learned one stands beside.
fn base(name: &str) -> &str {
    name.strip_prefix("H-").unwrap_or(name)
}

/// As many points of a curve as a screen has room for.
const MOST_POINTS: usize = 1000;

/// The curve in a log of training: its last step, and steps with goals and the mean loss since the
/// one before. `None` where there is no whole line.
pub fn curve(log: &str) -> Option<(u64, Vec<Value>)> {
    let lines: Vec<_> = read_log(log).collect();
    let last = lines.last()?;
    let every = lines.len().div_ceil(MOST_POINTS);
    let points = lines.chunks(every).map(|part| {
        let losses: Vec<f64> = part.iter().filter_map(|line| line.loss).collect();
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        let end = &part[part.len() - 1];
        json!([end.step, end.goals, (!losses.is_empty()).then_some(mean)])
    });
    Some((last.step, points.collect()))
}

/// Runs of training: the goals reached, one line each.
pub fn trainings(trainings: &[Training]) -> Value {
    let mut sorted: Vec<&Training> = trainings.iter().collect();
    sorted.sort_by_key(|run| {
        let name = (run.domain.clone(), run.heuristic.clone());
        (name, run.seed, run.key.clone())
    });
    let lines = sorted.iter().map(|run| {
        let points: Vec<_> = run.curve.iter().map(|at| (at.step, at.goals)).collect();
        json!({
            "domain": run.domain, "heuristic": run.heuristic, "seed": run.seed, "points": points,
            "goals": run.goals, "steps": run.steps, "episodes": run.episodes, "loss": run.loss,
            "problems": run.problems, "selected": run.selected_step, "cpu_seconds": run.cpu_seconds,
        })
    });
    json!(lines.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(problem: &str, heuristic: &str, model: bool, search: &str) -> Evaluation {
        serde_json::from_value(json!({
            "format": 1, "key": format!("{problem}{heuristic}{model}{search}"), "domain": "d",
            "domain_sha256": "d", "problem": problem, "problem_sha256": problem, "objects": 3,
            "heuristic": heuristic, "search": search, "weight": null, "unit_cost": false,
            "model": model.then(|| json!({"file": "m", "sha256": "m", "seed": 0, "steps": 1})),
            "max_evaluations": null, "time_limit": null, "memory_limit": null,
            "outcome": "solved", "error": null, "evaluations": 5, "generated": 9, "expansions": 4,
            "plan_length": 2, "plan_cost": 2, "validated": true, "search_cpu_seconds": 0.5,
            "cpu_seconds": 1.0, "memory_bytes": null, "revision": "r", "machine": "m",
        }))
        .expect("a record")
    }

    #[test]
    fn the_order_of_records_does_not_matter_and_h_stands_before_its_correction() {
        let mut list = vec![
            run("p2", "ff", true, "gbfs"),
            run("p1", "ff", false, "gbfs"),
            run("p1", "ff", true, "gbfs"),
            run("p1", "add", false, "gbfs"),
        ];
        let data = runs(&list);
        assert_eq!(data["configurations"], json!(["add", "ff", "H-ff"]));
        assert_eq!(data["problems"], json!(["p1", "p2"]));
        assert_eq!(data["rows"][3], json!([0, 1, 2, "solved", 5, 4, 2, 2, 1.0]));
        list.reverse();
        assert_eq!(runs(&list), data);
        list.push(run("p1", "ff", false, "astar"));
        let names = &runs(&list)["configurations"];
        assert_eq!(
            *names,
            json!(["add gbfs", "ff astar", "ff gbfs", "H-ff gbfs"])
        );
    }
}
