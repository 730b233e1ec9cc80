//! Ranking for functions that follow a gradient: a few samples at a time.

use homing_nlm::SplitMix64;
use homing_planner::{Progress, Stop, Watch};

use super::examples::TrainingSet;
use super::sigmoid::{falling_sigmoid, logistic_loss};
use crate::exact::Sample;
use crate::value::Improvable;

/// Samples of one problem that a step learns from.
const SAMPLES: usize = 4;

/// Best children of a sample that take part, and states that should come behind them.
const BEST: usize = 3;
const WORSE: usize = 8;

/// Losses that the report is a mean of.
const RECENT: usize = 100;

/// What ranking by gradients came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GradualReport {
    /// Mean loss of the last steps.
    pub(crate) loss: f64,
    /// The share of pairs in the right order, over the last steps.
    pub(crate) accuracy: f64,
}

/// One sample of a step: where its states stand in the batch.
struct Part {
    best: std::ops::Range<usize>,
    worse: std::ops::Range<usize>,
}

/// Takes so many steps: each draws a problem and a few of its samples, and lowers the logistic loss
/// of their pairs.
pub(crate) fn rank_by_gradients(
    set: &TrainingSet,
    function: &mut dyn Improvable,
    steps: u64,
    random: &mut SplitMix64,
    watch: &mut dyn Watch,
) -> Result<GradualReport, Stop> {
    let mut recent: Vec<(f64, f64)> = Vec::new();
    for step in 0..steps {
        let progress = Progress::Search {
            evaluations: step,
            expansions: step,
            best: None,
        };
        if let Some(stop) = watch.poll(progress) {
            return Err(stop);
        }
        let task = random.below(set.problems.len());
        let samples = &set.problems[task].samples;
        let mut states: Vec<&[u32]> = Vec::new();
        let parts: Vec<Part> = (0..SAMPLES)
            .map(|_| take(&samples[random.below(samples.len())], &mut states))
            .collect();
        if states.is_empty() {
            continue;
        }
        let values = function.values(task, &states);
        let (slopes, loss, accuracy) = slopes(&parts, &values);
        function.improve(task, &states, &slopes);
        if recent.len() == RECENT {
            recent.remove(0);
        }
        recent.push((loss, accuracy));
    }
    let mean = |part: fn(&(f64, f64)) -> f64| {
        recent.iter().map(part).sum::<f64>() / recent.len().max(1) as f64
    };
    Ok(GradualReport {
        loss: mean(|recent| recent.0),
        accuracy: mean(|recent| recent.1),
    })
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

/// The derivatives of the mean loss over all pairs by the value of each state; the loss; the share
/// of pairs in the right order. States whose value is not finite take no part.
fn slopes(parts: &[Part], values: &[f32]) -> (Vec<f32>, f64, f64) {
    let mut slopes = vec![0.0; values.len()];
    let (mut loss, mut right, mut pairs) = (0.0, 0.0, 0u32);
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
                right += f64::from(u8::from(margin > 0.0));
                pairs += 1;
            }
        }
    }
    let scale = 1.0 / f64::from(pairs.max(1));
    let slopes = slopes.iter().map(|slope| (slope * scale) as f32).collect();
    (slopes, loss * scale, right * scale)
}
