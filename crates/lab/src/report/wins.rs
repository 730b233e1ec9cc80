//! Wins: on how many problems H needs fewer evaluations than h, and on how many more.

use super::pair::{Pair, Series};
use crate::statistics::mean;

pub(super) struct Wins {
    pub(super) problems: usize,
    pub(super) best_seed: u64,
    /// Problems where H of the best seed, and where h, has fewer evaluations.
    pub(super) best: (usize, usize),
    /// The same, in the mean over the seeds.
    pub(super) mean: (f64, f64),
    pub(super) seeds: usize,
}

/// `None` where there is no h or no H.
pub(super) fn wins(pair: &Pair<'_>) -> Option<Wins> {
    let base = pair.base.as_deref()?;
    let best = pair.best_seed()?;
    let count = |series: &Series<'_>| {
        let mut wins = (0, 0);
        for (learned, base) in series.runs.iter().zip(base) {
            // A failure is more than any success, whatever it cost.
            let cost = |run| Pair::solved_with(run).unwrap_or(u64::MAX);
            let (learned, base) = (cost(learned), cost(base));
            wins.0 += usize::from(learned < base);
            wins.1 += usize::from(base < learned);
        }
        wins
    };
    let all: Vec<(usize, usize)> = pair.series.iter().map(count).collect();
    let share = |of: fn(&(usize, usize)) -> usize| {
        let values: Vec<f64> = all.iter().map(|wins| of(wins) as f64).collect();
        mean(&values).unwrap_or_default()
    };
    Some(Wins {
        problems: pair.problems.len(),
        best_seed: pair.series[best].seed,
        best: all[best],
        mean: (share(|wins| wins.0), share(|wins| wins.1)),
        seeds: all.len(),
    })
}
