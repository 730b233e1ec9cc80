//! Coverage: problems solved, by h and by H over its seeds.

use super::pair::{Pair, stopped_short};
use crate::record::Evaluation;
use crate::statistics::{mean, standard_error};

/// From this rate on, of both h and H, a domain is too easy for coverage to tell them apart.
pub(super) const NEARLY_ALL: f64 = 0.9;

/// What a table says about H beside h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Nothing: too close, one seed only, or nothing to compare with.
    None,
    /// H solves more, by more than the standard error.
    Better,
    /// H solves fewer, by more than the standard error.
    Worse,
    /// Both solve nearly all.
    Caution,
}

impl Mark {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Caution => "caution",
        }
    }
}

pub(super) struct Learned {
    /// Problems solved, seed by seed.
    pub(super) seeds: Vec<(u64, usize)>,
    pub(super) mean: f64,
    /// `None` of a single seed.
    pub(super) standard_error: Option<f64>,
    pub(super) best: usize,
    pub(super) best_seed: u64,
    pub(super) stopped_short: usize,
}

pub(super) struct Coverage {
    pub(super) problems: usize,
    pub(super) base: Option<usize>,
    pub(super) base_stopped_short: usize,
    pub(super) learned: Option<Learned>,
    pub(super) mark: Mark,
}

fn solved(runs: &[&Evaluation]) -> usize {
    runs.iter().filter(|run| run.solved()).count()
}

fn short(runs: &[&Evaluation]) -> usize {
    runs.iter().filter(|run| stopped_short(run)).count()
}

pub(super) fn coverage(pair: &Pair<'_>) -> Coverage {
    let problems = pair.problems.len();
    let seeds: Vec<(u64, usize)> = pair
        .series
        .iter()
        .map(|series| (series.seed, solved(&series.runs)))
        .collect();
    let counts: Vec<f64> = seeds.iter().map(|(_, solved)| *solved as f64).collect();
    // The first of the best: the order of seeds decides, not chance.
    let best = seeds
        .iter()
        .rev()
        .max_by_key(|(_, solved)| *solved)
        .copied();
    let learned = mean(&counts)
        .zip(best)
        .map(|(mean, (best_seed, best))| Learned {
            mean,
            standard_error: standard_error(&counts),
            best,
            best_seed,
            stopped_short: pair.series.iter().map(|series| short(&series.runs)).sum(),
            seeds,
        });
    let base = pair.base.as_deref().map(solved);
    let mark = match (base, &learned) {
        (Some(base), Some(learned)) => mark(base as f64, learned, problems as f64),
        _ => Mark::None,
    };
    Coverage {
        problems,
        base,
        base_stopped_short: pair.base.as_deref().map_or(0, short),
        learned,
        mark,
    }
}

fn mark(base: f64, learned: &Learned, problems: f64) -> Mark {
    if base.min(learned.mean) >= NEARLY_ALL * problems {
        return Mark::Caution;
    }
    match learned.standard_error {
        Some(error) if learned.mean - base > error => Mark::Better,
        Some(error) if base - learned.mean > error => Mark::Worse,
        _ => Mark::None,
    }
}
