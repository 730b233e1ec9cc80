//! Wins: on how many problems H needs fewer evaluations than h, and on how many more.

use super::pair::{Pair, Series};
use crate::statistics::mean;

/// Problems where H, and where h, has fewer evaluations.
#[derive(Clone, Copy, Default)]
pub(super) struct Fewer<T> {
    pub(super) learned: T,
    pub(super) base: T,
}

pub(super) struct Wins {
    pub(super) problems: usize,
    pub(super) best_seed: u64,
    /// With the best seed.
    pub(super) best: Fewer<usize>,
    /// In the mean over the seeds.
    pub(super) mean: Fewer<f64>,
    pub(super) seeds: usize,
}

/// `None` where there is no h or no H.
pub(super) fn wins(pair: &Pair<'_>) -> Option<Wins> {
    let base = pair.base.as_deref()?;
    let best = pair.best_seed()?;
    let count = |series: &Series<'_>| {
        let mut fewer = Fewer::default();
        for (learned, base) in series.runs.iter().zip(base) {
            // A failure is more than any success, whatever it cost.
            let cost = |run| Pair::solved_with(run).unwrap_or(u64::MAX);
            let (learned, base) = (cost(learned), cost(base));
            fewer.learned += usize::from(learned < base);
            fewer.base += usize::from(base < learned);
        }
        fewer
    };
    let all: Vec<Fewer<usize>> = pair.series.iter().map(count).collect();
    let share = |of: fn(&Fewer<usize>) -> usize| {
        let values: Vec<f64> = all.iter().map(|fewer| of(fewer) as f64).collect();
        mean(&values).unwrap_or_default()
    };
    Some(Wins {
        problems: pair.problems.len(),
        best_seed: pair.series[best].seed,
        best: all[best],
        mean: Fewer {
            learned: share(|fewer| fewer.learned),
            base: share(|fewer| fewer.base),
        },
        seeds: all.len(),
    })
}
