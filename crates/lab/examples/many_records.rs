//! Writes records of an experiment as large as asked for, to measure reports with.
//!
//!     cargo run --release -p homing-lab --example many_records -- DIR 100000
//!
//! The paper's eight domains, three heuristics and twenty seeds; as many problems as give the
//! number of records.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use homing_lab::paper;
use homing_lab::record::{Evaluation, ModelOfRun, Outcome, Training};

const SEEDS: u64 = 20;
const LIMIT: u64 = 100_000;

/// Numbers that look drawn: the finalizer of splitmix64.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

fn hash(parts: &[u64]) -> String {
    let value = parts
        .iter()
        .fold(1, |so_far, part| mix(so_far ^ mix(*part + 77)));
    (1..=4)
        .map(|part| format!("{:016x}", mix(value ^ part)))
        .collect()
}

fn evaluation(domain: u64, problem: u64, heuristic: u64, seed: Option<u64>) -> Evaluation {
    let paper = &paper::DOMAINS[domain as usize];
    let place = [domain, problem, heuristic, seed.map_or(0, |seed| seed + 1)];
    let objects = 10 + problem % 40;
    let luck = mix(place.iter().fold(9, |sum, part| sum * 131 + part)) % 1000;
    let scale = [300, 9, 6][heuristic as usize] * if seed.is_some() { 2 } else { 7 };
    let needed = objects * objects * scale * (luck + 50) / 500 + objects;
    let solved = needed < LIMIT;
    let evaluations = needed.min(LIMIT);
    let seconds = evaluations as f64 / if seed.is_some() { 4000.0 } else { 90_000.0 };
    Evaluation {
        format: 1,
        key: hash(&place),
        domain: (*paper.also.first().unwrap_or(&paper.name)).to_owned(),
        domain_sha256: hash(&[domain]),
        problem: format!("{}-{objects}-s{}.pddl", paper.name, 2_000_000 + problem),
        problem_sha256: hash(&[domain, problem]),
        objects: objects as usize,
        heuristic: Some(paper::HEURISTICS[heuristic as usize].to_string()),
        model: seed.map(|seed| ModelOfRun {
            file: format!("models/{}-{heuristic}-{seed}.safetensors", paper.name),
            sha256: hash(&[domain, heuristic, seed, 5]),
            seed,
            steps: 10_000,
        }),
        search: "gbfs".to_owned(),
        weight: None,
        unit_cost: false,
        max_evaluations: Some(LIMIT),
        time_limit: None,
        memory_limit: None,
        outcome: if solved {
            Outcome::Solved
        } else {
            Outcome::Limit
        },
        error: None,
        evaluations,
        generated: evaluations * 2,
        expansions: evaluations / 4,
        plan_length: solved.then_some(objects as usize * 3),
        plan_cost: solved.then_some(objects * 3),
        validated: solved,
        search_cpu_seconds: seconds,
        cpu_seconds: seconds + 0.01,
        memory_bytes: Some(30_000_000 + evaluations * 100),
        revision: "0.1.0".to_owned(),
        machine: "a machine".to_owned(),
    }
}

fn training(domain: u64, heuristic: u64, seed: u64) -> Training {
    let paper = &paper::DOMAINS[domain as usize];
    let goals = 300 + 150 * heuristic + mix(domain * 1000 + heuristic * 100 + seed) % 90;
    Training {
        format: 1,
        key: hash(&[domain, heuristic, seed, 6]),
        domain: (*paper.also.first().unwrap_or(&paper.name)).to_owned(),
        domain_sha256: hash(&[domain]),
        problems_sha256: hash(&[domain, 7]),
        problems: 300,
        heuristic: paper::HEURISTICS[heuristic as usize].to_string(),
        seed,
        config: BTreeMap::from([("layers".to_owned(), 5.into())]),
        steps: 10_000,
        goals,
        episodes: goals + 90,
        loss: 0.2,
        curve: (1..=100)
            .map(|k| (k * 100, goals * k * k / 10_000).into())
            .collect(),
        selected_step: None,
        model: "model.safetensors".to_owned(),
        model_sha256: hash(&[domain, heuristic, seed, 5]),
        cpu_seconds: 20.0,
        network_seconds: 18.0,
        planning_seconds: 1.0,
        memory_bytes: None,
        revision: "0.1.0".to_owned(),
        machine: "a machine".to_owned(),
    }
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(Ok(wanted))) = (
        arguments.next().map(PathBuf::from),
        arguments.next().map(|number| number.parse::<u64>()),
    ) else {
        return Err(std::io::Error::other("usage: many_records DIR NUMBER"));
    };
    std::fs::create_dir_all(&folder)?;
    let open = |name: &str| std::fs::File::create(folder.join(name)).map(std::io::BufWriter::new);
    let mut lines = open("evaluations.jsonl")?;
    let seeds = || std::iter::once(None).chain((0..SEEDS).map(Some));
    for number in 0..wanted.div_ceil((SEEDS + 1) * 3) {
        for heuristic in 0..3 {
            for seed in seeds() {
                let run = evaluation(number % 8, number / 8, heuristic, seed);
                writeln!(lines, "{}", serde_json::to_string(&run)?)?;
            }
        }
    }
    lines.flush()?;
    let mut lines = open("training.jsonl")?;
    for domain in 0..8 {
        for heuristic in 0..3 {
            for seed in 0..SEEDS {
                writeln!(
                    lines,
                    "{}",
                    serde_json::to_string(&training(domain, heuristic, seed))?
                )?;
            }
        }
    }
    lines.flush()
}
