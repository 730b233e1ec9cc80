//! Ranking for functions that follow a gradient: a few samples at a time.

use homing_nlm::SplitMix64;

use super::examples::TrainingSet;
use super::sigmoid::{falling_sigmoid, logistic_loss};
use crate::exact::Sample;
use crate::value::Improvable;

/// Samples of one problem that a step learns from.
const SAMPLES: usize = 4;

/// Best children of a sample that take part, and states that should come behind them.
const BEST: usize = 3;
const WORSE: usize = 8;

/// One sample of a step: where its states stand in the batch.
struct Part {
    best: std::ops::Range<usize>,
    worse: std::ops::Range<usize>,
}

/// Draws a problem and a few of its samples, and lowers the logistic loss of their pairs. The loss
/// before that; `None` where the samples have no pair.
pub(super) fn rank_step(
    set: &TrainingSet,
    function: &mut dyn Improvable,
    random: &mut SplitMix64,
) -> Option<f64> {
    let task = random.below(set.problems.len());
    let samples = &set.problems[task].samples;
    let mut states: Vec<&[u32]> = Vec::new();
    let parts: Vec<Part> = (0..SAMPLES)
        .map(|_| take(&samples[random.below(samples.len())], &mut states))
        .collect();
    if states.is_empty() {
        return None;
    }
    let values = function.values(task, &states);
    let (slopes, loss) = slopes(&parts, &values)?;
    function.improve(task, &states, &slopes);
    Some(loss)
}

/// Puts the states of a sample that take part into the batch.
fn take<'s>(sample: &'s Sample, states: &mut Vec<&'s [u32]>) -> Part {
    let start = states.len();
    let Some(best) = sample.best_child() else {
        return Part {
            best: start..start,
            worse: start..start,
        };
    };
    let is_best = |place: &usize| *place > 0 && sample.distance(*place) == Some(best);
    let is_worse = |place: &usize| sample.distance(*place).is_none_or(|d| d > best);
    let all = 0..sample.len();
    states.extend(
        all.clone()
            .filter(is_best)
            .take(BEST)
            .map(|p| sample.state(p)),
    );
    let middle = states.len();
    states.extend(all.filter(is_worse).take(WORSE).map(|p| sample.state(p)));
    Part {
        best: start..middle,
        worse: middle..states.len(),
    }
}

/// The derivatives of the mean loss over all pairs by the value of each state, and the loss; `None`
/// where there is no pair. States whose value is not finite take no part.
fn slopes(parts: &[Part], values: &[f32]) -> Option<(Vec<f32>, f64)> {
    let mut slopes = vec![0.0; values.len()];
    let (mut loss, mut pairs) = (0.0, 0u32);
    for part in parts {
        for best in part.best.clone() {
            for worse in part.worse.clone() {
                let margin = f64::from(values[worse]) - f64::from(values[best]);
                if !margin.is_finite() {
                    continue;
                }
                let slope = falling_sigmoid(margin);
                slopes[best] += slope;
                slopes[worse] -= slope;
                loss += logistic_loss(margin);
                pairs += 1;
            }
        }
    }
    if pairs == 0 {
        return None;
    }
    let scale = 1.0 / f64::from(pairs);
    let slopes = slopes.iter().map(|slope| (slope * scale) as f32).collect();
    Some((slopes, loss * scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs within a part only, each counted once; what is not finite is left out.
    #[test]
    fn slopes_are_those_of_finite_differences() {
        let parts = [
            Part {
                best: 0..2,
                worse: 2..5,
            },
            Part {
                best: 5..6,
                worse: 6..8,
            },
        ];
        let values = [0.3, -1.0, 0.5, f32::INFINITY, -2.0, 1.5, 1.0, 4.0];
        let (exact, _) = slopes(&parts, &values).expect("pairs");
        let step = 1.0 / 1024.0;
        for place in 0..values.len() {
            let loss = |by: f32| {
                let mut moved = values;
                moved[place] += by;
                slopes(&parts, &moved).expect("pairs").1
            };
            let slope = (loss(step) - loss(-step)) / (2.0 * f64::from(step));
            let error = (slope - f64::from(exact[place])).abs();
            assert!(error < 1e-6, "{slope} {} at {place}", exact[place]);
        }
        assert_eq!(exact[3], 0.0);
        let all: f32 = exact.iter().sum();
        assert!(all.abs() < 1e-6, "{all}");
        assert!(slopes(&[], &values).is_none());
    }
}
