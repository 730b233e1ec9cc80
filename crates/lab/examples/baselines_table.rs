//! Records of `baselines` to tables beside the paper's columns.
//!
//! ```text
//! cargo run --release -p homing-lab --example baselines_table -- baselines.jsonl > tables.md
//! ```
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::process::ExitCode;

use homing_lab::{DomainName, Parameters};
use serde::Deserialize;

#[derive(Deserialize)]
struct Record {
    domain: DomainName,
    problem: String,
    parameters: Parameters,
    heuristic: String,
    max_evaluations: u64,
    outcome: String,
    evaluations: u64,
    generated: u64,
    plan_cost: Option<u64>,
    search_cpu_seconds: f64,
}

const HEURISTICS: [&str; 3] = ["blind", "add", "ff"];

/// The paper's Table "Coverage of GBFS with 100,000 node evaluations limit": the number of
/// problems, and how many GBFS solves with blind, h_add and h_FF.
fn paper(domain: DomainName) -> (u32, [u32; 3]) {
    match domain {
        DomainName::Blocks => (250, [0, 126, 87]),
        DomainName::Ferry => (250, [0, 138, 250]),
        DomainName::Gripper => (250, [0, 250, 250]),
        DomainName::Logistics => (250, [0, 106, 243]),
        DomainName::Miconic => (442, [171, 442, 442]),
        DomainName::Parking => (700, [0, 607, 700]),
        DomainName::Satellite => (250, [0, 249, 222]),
        DomainName::Visitall => (252, [252, 252, 252]),
    }
}

/// The difference of two rates and its standard error if the true rates are equal.
fn difference(ours: u32, of: u32, theirs: u32, out_of: u32) -> (f64, f64) {
    let (ours, of, theirs, out_of) = (
        f64::from(ours),
        f64::from(of),
        f64::from(theirs),
        f64::from(out_of),
    );
    let pooled = (ours + theirs) / (of + out_of);
    let error = (pooled * (1.0 - pooled) * (1.0 / of + 1.0 / out_of)).sqrt();
    (ours / of - theirs / out_of, error)
}

/// The size that settings of a domain are ordered by, and their label.
fn size(parameters: &Parameters) -> (Vec<u64>, String) {
    let label = parameters.label();
    let numbers = label.split('-').map(|part| part.parse().unwrap_or(0));
    (numbers.collect(), label)
}

fn tables(records: &BTreeMap<(DomainName, String, String), Record>) {
    println!(
        "| domain | heuristic | ours | rate | paper | rate | difference | standard error | beyond 2 s.e. | ours, if repeated states count |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---|---:|");
    let mut sums = [[0_u32; 4]; 3];
    for domain in DomainName::ALL {
        let (out_of, solved_in_paper) = paper(domain);
        for (index, heuristic) in HEURISTICS.into_iter().enumerate() {
            let runs: Vec<&Record> = records
                .values()
                .filter(|run| run.domain == domain && run.heuristic == heuristic)
                .collect();
            if runs.is_empty() {
                continue;
            }
            let of = runs.len() as u32;
            let solved = runs.iter().filter(|run| run.outcome == "solved");
            let ours = solved.clone().count() as u32;
            let strict = solved
                .filter(|run| run.generated <= run.max_evaluations)
                .count();
            let theirs = solved_in_paper[index];
            let (gap, error) = difference(ours, of, theirs, out_of);
            let beyond = if gap.abs() > 2.0 * error {
                "**yes**"
            } else {
                "no"
            };
            println!(
                "| {domain} | {heuristic} | {ours}/{of} | {:.1} % | {theirs}/{out_of} | {:.1} % | {:+.1} | {:.1} | {beyond} | {strict} |",
                100.0 * f64::from(ours) / f64::from(of),
                100.0 * f64::from(theirs) / f64::from(out_of),
                100.0 * gap,
                100.0 * error,
            );
            for (sum, value) in sums[index].iter_mut().zip([ours, of, theirs, out_of]) {
                *sum += value;
            }
        }
    }
    for (heuristic, [ours, of, theirs, out_of]) in HEURISTICS.into_iter().zip(sums) {
        if of > 0 {
            println!(
                "| all | {heuristic} | {ours}/{of} | {:.1} % | {theirs}/{out_of} | {:.1} % | | | | |",
                100.0 * f64::from(ours) / f64::from(of),
                100.0 * f64::from(theirs) / f64::from(out_of),
            );
        }
    }
    println!("\n## By size\n");
    println!(
        "Solved, and for solved problems the medians of evaluations and plan cost; the sum of CPU seconds of search.\n"
    );
    println!("| domain | parameters | heuristic | solved | evaluations | plan cost | CPU s |");
    println!("|---|---|---|---:|---:|---:|---:|");
    let mut by_size: BTreeMap<_, Vec<&Record>> = BTreeMap::new();
    for run in records.values() {
        let place = HEURISTICS.iter().position(|&name| name == run.heuristic);
        let key = (run.domain, size(&run.parameters), place);
        by_size.entry(key).or_default().push(run);
    }
    for ((domain, (_, label), _), runs) in by_size {
        let solved: Vec<&&Record> = runs.iter().filter(|r| r.outcome == "solved").collect();
        let median = |mut values: Vec<u64>| {
            values.sort_unstable();
            let middle = values.get(values.len() / 2);
            middle.map_or_else(|| "-".to_owned(), ToString::to_string)
        };
        let seconds: f64 = runs.iter().map(|run| run.search_cpu_seconds).sum();
        println!(
            "| {domain} | {label} | {} | {}/{} | {} | {} | {seconds:.1} |",
            runs[0].heuristic,
            solved.len(),
            runs.len(),
            median(solved.iter().map(|run| run.evaluations).collect()),
            median(solved.iter().filter_map(|run| run.plan_cost).collect()),
        );
    }
}

fn main() -> ExitCode {
    let mut records = BTreeMap::new();
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("baselines_table: {path}: {error}");
                return ExitCode::from(33);
            }
        };
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match serde_json::from_str::<Record>(line) {
                Ok(run) => {
                    let key = (run.domain, run.problem.clone(), run.heuristic.clone());
                    records.insert(key, run);
                }
                Err(error) => eprintln!("baselines_table: {path}: a line is left out: {error}"),
            }
        }
    }
    if records.is_empty() {
        eprintln!("baselines_table: no records; give files that `baselines` wrote");
        return ExitCode::from(33);
    }
    tables(&records);
    ExitCode::SUCCESS
}
