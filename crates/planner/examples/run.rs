//! Reads, grounds and searches, and nothing else: what the planner itself costs.
//!
//! ```text
//! cargo build --release -p homing-planner --example run
//! valgrind --tool=callgrind target/release/examples/run DOMAIN PROBLEM ff gbfs 3000
//! ```
//!
//! The heuristic, the search and the most evaluations come after the files.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use homing_pddl::{Source, read_problem};
use homing_planner::search::{Limits, SearchOptions};
use homing_planner::{Costs, HeuristicKind, SearchKind, ground};

/// States expanded at the most.
const MAX_EXPANSIONS: u64 = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [domain, problem, heuristic, search, evaluations] = &words[..] else {
        return Err("wanted: DOMAIN PROBLEM HEURISTIC SEARCH EVALUATIONS".into());
    };
    let read = |path: &str| -> Result<_, Box<dyn Error>> {
        Ok(Source::new(path.to_owned(), std::fs::read(path)?))
    };
    let (problem, messages) = read_problem(&read(domain)?, &read(problem)?);
    let problem = problem.ok_or_else(|| messages.to_string())?;
    let task = ground(&Arc::new(problem), &mut ())?;
    let kind: HeuristicKind = heuristic.parse()?;
    let mut heuristic = kind
        .build_watched(&task, Costs::Task, &mut ())
        .expect("nothing says stop");
    let options = SearchOptions {
        costs: Costs::Task,
        limits: Limits {
            max_evaluations: Some(evaluations.parse()?),
            max_expansions: Some(MAX_EXPANSIONS),
        },
        ..SearchOptions::default()
    };
    let kind: SearchKind = search.parse()?;
    let result = kind.run(&task, heuristic.as_mut(), &options, &mut ());
    println!("{:?}, work {}", result.statistics, heuristic.work());
    Ok(())
}
