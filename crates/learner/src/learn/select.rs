//! Candidates compared by what they are for: searches on problems larger than those of the fit.

use std::sync::Arc;

use homing_planner::search::{Deferred, DeferredConfig, Limit, Limits, Outcome};
use homing_planner::{Heuristic, Stop, Task, Watch};

use super::{CandidateRecord, LearnProgress, SelectionConfig};
use crate::counts::{CountsFunction, CountsHeuristic};
use crate::ranking::FitReport;
use crate::teamwork::for_all;

/// A function that may become the model.
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) rounds: usize,
    pub(super) samples: usize,
    pub(super) seed: u64,
    pub(super) function: CountsFunction,
    pub(super) fit: FitReport,
}

/// The candidate that was kept, and how all did.
pub(super) struct Choice {
    pub(super) candidate: Candidate,
    pub(super) records: Vec<CandidateRecord>,
    pub(super) index: usize,
}

/// What a search came to: whether it found a plan, and its work.
#[derive(Clone, Copy, Default)]
struct Searched {
    solved: bool,
    work: u64,
}

/// Compares candidates by problems solved, then by work; the first of equals is kept.
pub(super) fn compare(
    mut candidates: Vec<Candidate>,
    problems: &[Arc<Task>],
    config: &SelectionConfig,
    threads: usize,
    watch: &mut dyn Watch,
    tell: &mut dyn FnMut(&LearnProgress),
) -> Result<Choice, Stop> {
    let mut records = Vec::with_capacity(candidates.len());
    for candidate in &candidates {
        let searched = if candidates.len() == 1 {
            Vec::new()
        } else {
            for_all(problems, threads, watch, |task, watch| {
                search(&candidate.function, task, config, watch)
            })?
        };
        let record = CandidateRecord {
            name: candidate.name.clone(),
            rounds: candidate.rounds,
            heads: candidate.function.heads(),
            samples: candidate.samples,
            seed: candidate.seed,
            fit: candidate.fit.clone(),
            solved: searched.iter().filter(|search| search.solved).count(),
            work: searched.iter().map(|search| search.work).sum(),
        };
        tell(&LearnProgress::Compared {
            record: record.clone(),
            of: candidates.len(),
        });
        records.push(record);
    }
    let index = (0..records.len())
        .min_by_key(|&index| {
            (
                std::cmp::Reverse(records[index].solved),
                records[index].work,
            )
        })
        .expect("there is a candidate");
    let mut candidate = candidates.swap_remove(index);
    if candidate.function.heads() == 2 {
        let head = better_head(&candidate, &records);
        candidate.function = candidate.function.with_main_head(head);
    }
    Ok(Choice {
        candidate,
        records,
        index,
    })
}

/// The head of a candidate of two that did better alone.
fn better_head(candidate: &Candidate, records: &[CandidateRecord]) -> usize {
    let alone = |name: &str| {
        let name = format!("{}, {name} head alone", candidate.name);
        let record = records.iter().find(|record| record.name == name);
        record.map(|record| (std::cmp::Reverse(record.solved), record.work))
    };
    match (alone("first"), alone("second")) {
        (Some(first), Some(second)) if second < first => 1,
        _ => 0,
    }
}

/// A search by the learned order alone: what differs between candidates is all that guides it.
fn search(
    function: &CountsFunction,
    task: &Task,
    config: &SelectionConfig,
    watch: &mut dyn Watch,
) -> Result<Searched, Stop> {
    let settings = DeferredConfig::default();
    let mut search = if function.heuristics().is_empty() {
        let mut search = Deferred::new(task, Vec::new(), settings);
        search.add_scorer(function.scorer(task));
        search
    } else {
        let heuristic: Box<dyn Heuristic> = Box::new(CountsHeuristic::new(function, task));
        Deferred::new(task, vec![heuristic], settings)
    };
    match search.run(Limits::default(), Some(config.work), watch) {
        Outcome::LimitReached(Limit::Stopped(stop)) => Err(stop),
        outcome => {
            let solved = matches!(outcome, Outcome::Solved(_));
            // One that gives up early has not done better than one that goes on.
            let work = if solved { search.work() } else { config.work };
            Ok(Searched { solved, work })
        }
    }
}
