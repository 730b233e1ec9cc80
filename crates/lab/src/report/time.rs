//! Time: CPU seconds where both h and H find a plan, and evaluations per second.

use super::pair::Pair;
use crate::record::Evaluation;
use crate::statistics::median;

pub(super) struct Time {
    /// Pairs of runs, one of h and one of H with some seed, that both found a plan.
    pub(super) both: usize,
    /// Median CPU seconds of the process over these pairs.
    pub(super) base_seconds: Option<f64>,
    pub(super) learned_seconds: Option<f64>,
    /// Evaluations over CPU seconds of the search, all compared runs together.
    pub(super) base_rate: Option<f64>,
    pub(super) learned_rate: Option<f64>,
}

fn rate<'a>(runs: impl Iterator<Item = &'a &'a Evaluation>) -> Option<f64> {
    let (mut evaluations, mut seconds) = (0.0, 0.0);
    for run in runs {
        evaluations += run.evaluations as f64;
        seconds += run.search_cpu_seconds;
    }
    (seconds > 0.0).then(|| evaluations / seconds)
}

pub(super) fn time(pair: &Pair<'_>) -> Time {
    let (mut base, mut learned) = (Vec::new(), Vec::new());
    if let Some(runs) = &pair.base {
        for series in &pair.series {
            for (h, ours) in runs.iter().zip(&series.runs) {
                if h.solved() && ours.solved() {
                    base.push(h.cpu_seconds);
                    learned.push(ours.cpu_seconds);
                }
            }
        }
        if pair.series.is_empty() {
            // Nothing to compare with: over the problems that h solves.
            let solved = runs.iter().filter(|run| run.solved());
            base.extend(solved.map(|run| run.cpu_seconds));
        }
    }
    Time {
        both: learned.len(),
        base_seconds: median(&base),
        learned_seconds: median(&learned),
        base_rate: rate(pair.base.iter().flatten()),
        learned_rate: rate(pair.series.iter().flat_map(|series| &series.runs)),
    }
}
