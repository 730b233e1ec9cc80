//! Candidates compared by what they are for: searches on problems larger than those of the fit.

use std::sync::Arc;

use homing_planner::search::{Deferred, DeferredConfig, Limit, Limits, Outcome, Trust, gbfs};
use homing_planner::{Heuristic, HeuristicKind, States, Stop, Task, Watch};

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

/// What a search came to: whether it found a plan, its work, and its evaluations where it was by one
/// queue.
#[derive(Clone, Copy, Default)]
struct Searched {
    solved: bool,
    work: u64,
    evaluations: u64,
}

/// The candidate that corrects its heuristics by nothing.
pub(super) const HEURISTICS_ALONE: &str = "heuristics alone";

/// One heuristic of several, and nothing else.
pub(super) fn one_alone(kind: HeuristicKind) -> String {
    format!("{kind} alone")
}

/// Several heuristics are kept only if they take at most this part of the evaluations that the best one
/// of them takes alone, in the geometric mean; and so is a correction beside the heuristics alone. What
/// saves little on small problems may lead astray on large ones.
const MORE_PAYS: f64 = 0.9;

/// Of candidates that solve as many problems, a later one is kept only if it takes less than this
/// part of the work: less than that is chance.
const CLEARLY_LESS: f64 = 0.7;

/// And only if it saves so much of it a problem, in rough nanoseconds.
const WORTH_IT: u64 = 10_000_000;

/// Compares candidates by problems solved, then by work.
pub(super) fn compare(
    mut candidates: Vec<Candidate>,
    problems: &[Arc<Task>],
    config: &SelectionConfig,
    threads: usize,
    watch: &mut dyn Watch,
    tell: &mut dyn FnMut(&LearnProgress),
) -> Result<Choice, Stop> {
    let mut records = Vec::with_capacity(candidates.len());
    let mut logarithms = Vec::with_capacity(candidates.len());
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
        logarithms.push(mean_logarithm(&searched));
    }
    let best = best(&records, problems.len() as u64);
    let kinds = candidates
        .iter()
        .flat_map(|candidate| candidate.function.heuristics());
    let names: Vec<String> = kinds.map(|&(kind, _)| one_alone(kind)).collect();
    let index = unless_less_does(best, &records, &logarithms, &names);
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

/// Of evaluations, over problems.
fn mean_logarithm(searched: &[Searched]) -> f64 {
    let logarithms = searched.iter().map(|s| (s.evaluations.max(1) as f64).ln());
    logarithms.sum::<f64>() / searched.len().max(1) as f64
}

/// The index of the record to go by.
fn best(records: &[CandidateRecord], problems: u64) -> usize {
    let mut best = 0;
    for (index, record) in records.iter().enumerate().skip(1) {
        let kept = &records[best];
        let clearly_less = (record.work as f64) < CLEARLY_LESS * kept.work as f64
            && record.work + WORTH_IT * problems < kept.work;
        if record.solved > kept.solved || (record.solved == kept.solved && clearly_less) {
            best = index;
        }
    }
    best
}

/// The index of the record to go by, or that of what is simpler where more does not pay: one heuristic
/// before several, heuristics before their correction. By record, `logarithms` has the mean logarithm
/// of evaluations; `singles` are the names of those of one heuristic.
fn unless_less_does(
    best: usize,
    records: &[CandidateRecord],
    logarithms: &[f64],
    singles: &[String],
) -> usize {
    let single = (0..records.len()).filter(|&index| singles.contains(&records[index].name));
    let single = single.min_by(|&a, &b| {
        let solved = records[b].solved.cmp(&records[a].solved);
        solved.then(logarithms[a].total_cmp(&logarithms[b]))
    });
    let several = records.iter().position(|r| r.name == HEURISTICS_ALONE);
    let more = [several, Some(best)].into_iter().flatten();
    let kept = more.fold(single, |less, more| match less {
        Some(less) => {
            let pays = logarithms[more] <= logarithms[less] + MORE_PAYS.ln();
            let is_kept = records[more].solved > records[less].solved
                || (records[more].solved == records[less].solved && pays);
            Some(if is_kept { more } else { less })
        }
        None => Some(more),
    });
    kept.unwrap_or(best)
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
    let (outcome, work, evaluations) = if function.heuristics().is_empty() {
        let mut search = Deferred::new(task, Vec::new(), DeferredConfig::default());
        search.add_scorer(function.scorer(task), Trust::High);
        let outcome = search.run(Limits::default(), Some(config.work), watch);
        (outcome, search.work(), 0)
    } else {
        with_one_queue(function, task, config, watch)
    };
    match outcome {
        Outcome::LimitReached(Limit::Stopped(stop)) => Err(stop),
        outcome => {
            let solved = matches!(outcome, Outcome::Solved(_));
            // One that gives up early has not done better than one that goes on.
            let work = if solved { work } else { config.work };
            Ok(Searched {
                solved,
                work,
                evaluations,
            })
        }
    }
}

/// Plain GBFS, which a function that corrects classical heuristics is for. As many evaluations as the
/// work allows if all were like the first.
fn with_one_queue(
    function: &CountsFunction,
    task: &Task,
    config: &SelectionConfig,
    watch: &mut dyn Watch,
) -> (Outcome, u64, u64) {
    let mut heuristic = CountsHeuristic::new(function, task);
    let initial = task.initial_state();
    heuristic.evaluate(States::one(&initial), &mut Vec::new());
    let evaluations = config.work / heuristic.work().max(1);
    let limits = Limits {
        max_evaluations: Some(evaluations.max(1)),
        ..Limits::default()
    };
    let found = gbfs(task, &mut heuristic, limits, watch);
    let work = heuristic.work().min(config.work);
    (found.outcome, work, found.statistics.evaluations)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, solved: usize, work: u64) -> CandidateRecord {
        CandidateRecord {
            name: name.to_owned(),
            rounds: 2,
            heads: 1,
            samples: 1,
            seed: 0,
            fit: FitReport::default(),
            solved,
            work,
        }
    }

    #[test]
    fn a_correction_that_saves_little_gives_way_to_its_heuristics() {
        let kept = |solved: usize, evaluations: f64| {
            let records = [record("counts", solved, 1), record(HEURISTICS_ALONE, 5, 1)];
            unless_less_does(0, &records, &[evaluations.ln(), 1000f64.ln()], &[])
        };
        assert_eq!(kept(5, 950.0), 1);
        assert_eq!(kept(5, 850.0), 0);
        // Whoever solves more stays.
        assert_eq!(kept(6, 2000.0), 0);
        let without = [record("counts", 5, 1)];
        assert_eq!(unless_less_does(0, &without, &[0.0], &[]), 0);
    }

    #[test]
    fn several_heuristics_that_save_little_give_way_to_the_best_of_them() {
        let singles = ["ff alone".to_owned(), "add alone".to_owned()];
        let kept = |solved: [usize; 4], evaluations: [f64; 4]| {
            let names = ["counts", HEURISTICS_ALONE, "ff alone", "add alone"];
            let records = names.iter().zip(solved);
            let records: Vec<_> = records
                .map(|(name, solved)| record(name, solved, 1))
                .collect();
            unless_less_does(0, &records, &evaluations.map(f64::ln), &singles)
        };
        let same = [5; 4];
        assert_eq!(kept(same, [114.0, 111.0, 105.0, 110.0]), 2);
        assert_eq!(kept(same, [60.0, 111.0, 105.0, 110.0]), 0);
        assert_eq!(kept(same, [89.0, 90.0, 110.0, 105.0]), 1);
        // Who solves more comes first.
        assert_eq!(kept([5, 5, 4, 5], [114.0, 111.0, 50.0, 110.0]), 3);
        assert_eq!(kept([6, 5, 5, 5], [300.0, 111.0, 105.0, 110.0]), 0);
    }

    #[test]
    fn the_first_is_kept_unless_another_is_clearly_better() {
        let best = |records: &[(usize, u64)]| {
            let records: Vec<_> = records.iter().map(|&(s, w)| record("", s, w)).collect();
            best(&records, 10)
        };
        let second = 1_000_000_000;
        assert_eq!(best(&[(5, second), (5, second * 8 / 10)]), 0);
        assert_eq!(best(&[(5, second), (5, second / 2)]), 1);
        // A few milliseconds are chance.
        assert_eq!(best(&[(5, second / 100), (5, second / 1000)]), 0);
        assert_eq!(best(&[(5, second), (6, 9 * second), (5, 0)]), 1);
    }
}
