//! The logistic loss over pairs, minimised by Adagrad.

use homing_nlm::SplitMix64;
use homing_planner::heuristic::HeuristicKind;
use homing_planner::{Pace, Stop, Watch};
use serde::{Deserialize, Serialize};

use super::examples::TrainingSet;
use super::pairs::{Features, Pairs, pair_up};
use super::sigmoid::falling_sigmoid;
use crate::counts::{CountsConfig, CountsFunction, GraphSpec, WEIGHT_SCALE};
use crate::exact::shuffle;
use crate::faults::Faults;

/// How an order is learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RankingConfig {
    /// Passes over all pairs.
    pub epochs: usize,
    /// Step size of Adagrad.
    pub learning_rate: f64,
    /// How much large weights cost.
    pub l2: f64,
    /// Pairs of siblings at the most.
    pub max_pairs: usize,
    /// Worse states that one best child is paired with at the most.
    pub pairs_per_state: usize,
    /// Random solvable states that a dead end is paired with.
    pub dead_pairs: usize,
    /// How many times a pair of siblings the pair of a parent and its best child weighs. Without a
    /// number it is 1, and 30 where classical heuristics are features. Unless it is 1, only the best
    /// child that scores least is asked to score less than its parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descent: Option<f64>,
    /// The weight that a trap starts with: a feature that only dead ends have. A dead end then
    /// scores above what has a way to the goal, however much else speaks for it. A file that does not
    /// name it is older than traps.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub trap: f64,
}

/// What a step down weighs where classical heuristics are features. Such a model is for one queue, and
/// one queue leaves a state without a better child only after all that score less. A wrong order of
/// siblings costs a few evaluations.
const DESCENT: f64 = 30.0;

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Default for RankingConfig {
    fn default() -> Self {
        Self {
            epochs: 40,
            learning_rate: 0.1,
            l2: 1e-3,
            max_pairs: 250_000,
            pairs_per_state: 12,
            dead_pairs: 3,
            descent: None,
            trap: 1000.0,
        }
    }
}

impl RankingConfig {
    /// Everything that is wrong with it, in words.
    pub fn problems(&self) -> Vec<String> {
        let mut faults = Faults::default();
        faults.at_least_one("epochs", self.epochs as u64);
        faults.positive("learning_rate", self.learning_rate);
        faults.not_negative("l2", self.l2);
        faults.at_least_one("max_pairs", self.max_pairs as u64);
        faults.at_least_one("pairs_per_state", self.pairs_per_state as u64);
        if let Some(descent) = self.descent {
            faults.positive("descent", descent);
        }
        faults.all()
    }

    /// How much the pair of a parent and its best child weighs beside these features.
    pub(super) fn descent_with(&self, heuristics: &[HeuristicKind]) -> f64 {
        let usual = if heuristics.is_empty() { 1.0 } else { DESCENT };
        self.descent.unwrap_or(usual)
    }
}

/// What a fit came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitReport {
    /// Colours seen.
    pub features: usize,
    /// Pairs learnt from.
    pub pairs: usize,
    /// The share of pairs in the right order, by head; a tie counts half.
    pub accuracy: Vec<f64>,
}

/// Weights larger than this (times [`WEIGHT_SCALE`]) are cut: sums of them must not overflow.
const MAX_WEIGHT: f64 = 16_000_000.0;

/// Squares of gradients before the first one.
const FIRST_SQUARE: f64 = 1e-3;

/// A pair this far in the right order teaches nothing more.
const LEAST_GRADIENT: f64 = 1e-4;

/// The weight that a heuristic starts with.
const FIRST_ESTIMATE_WEIGHT: f64 = 0.5;

/// Fits weights to a training set. With static relations in `spec.deep` there are two heads: the
/// first without features of these past the first round, the second with them.
pub fn fit(
    set: &TrainingSet,
    spec: &GraphSpec,
    function: &CountsConfig,
    config: &RankingConfig,
    seed: u64,
) -> (CountsFunction, FitReport) {
    fit_watched(set, spec, function, config, seed, &mut ()).expect("nobody stops it")
}

/// The same under a watch, which is asked after each problem and each pass.
///
/// # Errors
///
/// If the watch says stop.
pub fn fit_watched(
    set: &TrainingSet,
    spec: &GraphSpec,
    function: &CountsConfig,
    config: &RankingConfig,
    seed: u64,
    watch: &mut dyn Watch,
) -> Result<(CountsFunction, FitReport), Stop> {
    let mut random = SplitMix64::new(SplitMix64::new(seed ^ 0x5241_4E4B).next_u64());
    let (features, pairs) = pair_up(set, spec, function, config, &mut random, watch)?;
    // A second order that could not differ from the first would only take its time. Where relations
    // are quiet, an order without them would see no more than objects by themselves.
    let heads = if !spec.quiet && pairs.tell_apart_by(&features.is_late_static) {
        2
    } else {
        1
    };
    let mut weights: Vec<(u64, [i32; 2])> = features
        .colours
        .iter()
        .map(|&colour| (colour, [0; 2]))
        .collect();
    let mut estimates = vec![[0; 2]; function.heuristics.len()];
    let mut accuracy = Vec::new();
    for head in 0..heads {
        let learner = Learner::new(&features, &pairs, config, heads == 2 && head == 0);
        let fitted = learner.run(random.clone(), watch)?;
        for (weight, &new) in weights.iter_mut().zip(&fitted.weights) {
            weight.1[head] = whole(new);
        }
        for (weight, &new) in estimates.iter_mut().zip(&fitted.estimates) {
            weight[head] = whole(new);
        }
        accuracy.push(share_in_order(&pairs, &weights, &estimates, head));
    }
    let report = FitReport {
        features: features.colours.len(),
        pairs: pairs.len(),
        accuracy,
    };
    let mut spec = spec.clone();
    if heads == 1 && !spec.quiet {
        spec.deep.clear();
    }
    let heuristics = function.heuristics.iter().copied().zip(estimates).collect();
    let function = CountsFunction::new(spec, heads, weights)
        .with_heuristics(heuristics)
        .with_makings(features.makings);
    Ok((function, report))
}

/// A weight as it is stored.
fn whole(weight: f64) -> i32 {
    (weight * f64::from(WEIGHT_SCALE))
        .round()
        .clamp(-MAX_WEIGHT, MAX_WEIGHT) as i32
}

/// The share of pairs that whole weights put into the right order.
fn share_in_order(
    pairs: &Pairs,
    weights: &[(u64, [i32; 2])],
    estimates: &[[i32; 2]],
    head: usize,
) -> f64 {
    let mut right = 0.0;
    for pair in 0..pairs.len() {
        let counts = pairs.differences(pair).iter();
        let counts: f64 = counts
            .map(|&(id, by)| f64::from(weights[id as usize].1[head]) * f64::from(by))
            .sum();
        let estimated = pairs.estimates(pair).iter().zip(estimates);
        let estimated: f64 = estimated
            .map(|(&by, weight)| f64::from(weight[head]) * f64::from(by))
            .sum();
        let sum = counts + estimated;
        right += if sum > 0.0 {
            1.0
        } else if sum == 0.0 {
            0.5
        } else {
            0.0
        };
    }
    right / pairs.len().max(1) as f64
}

/// One fit.
struct Learner<'a> {
    pairs: &'a Pairs,
    config: &'a RankingConfig,
    /// By feature: whether it takes part.
    takes_part: Vec<bool>,
    /// By feature: the weight it starts with.
    first_weights: Vec<f64>,
}

/// Weights as they were fitted.
struct Fitted {
    weights: Vec<f64>,
    estimates: Vec<f64>,
}

impl<'a> Learner<'a> {
    fn new(
        features: &Features,
        pairs: &'a Pairs,
        config: &'a RankingConfig,
        without_late_statics: bool,
    ) -> Self {
        let kinds = features.is_late_static.iter().zip(&features.is_of_hub);
        let takes_part: Vec<bool> = kinds
            .map(|(&late, &of_hub)| !(of_hub || late && without_late_statics))
            .collect();
        let traps = features.is_trap.iter().zip(&takes_part);
        let first = traps.map(|(&trap, &takes_part)| match trap && takes_part {
            true => config.trap,
            false => 0.0,
        });
        Self {
            pairs,
            config,
            first_weights: first.collect(),
            takes_part,
        }
    }

    fn run(&self, mut random: SplitMix64, watch: &mut dyn Watch) -> Result<Fitted, Stop> {
        let mut fitted = Fitted {
            weights: self.first_weights.clone(),
            estimates: vec![FIRST_ESTIMATE_WEIGHT; self.pairs.heuristics()],
        };
        let mut squares = vec![FIRST_SQUARE; fitted.weights.len()];
        let mut estimate_squares = vec![FIRST_SQUARE; fitted.estimates.len()];
        let mut order: Vec<u32> = (0..self.pairs.len() as u32)
            .filter(|&pair| !self.is_settled(pair as usize))
            .collect();
        for _ in 0..self.config.epochs {
            Pace::building(watch, "orders")?;
            shuffle(&mut order, &mut random);
            for &pair in &order {
                let pair = pair as usize;
                let margin = self.margin(pair, &fitted);
                let gradient = -falling_sigmoid(margin);
                if gradient > -LEAST_GRADIENT {
                    continue;
                }
                // One way down is enough: the others are left alone.
                if !self.is_best_step(pair, margin, &fitted) {
                    continue;
                }
                let gradient = gradient * self.pairs.weight(pair);
                self.step(pair, gradient, &mut fitted.weights, &mut squares);
                let estimates = self.pairs.estimates(pair).iter().enumerate();
                for (index, &by) in estimates {
                    let weight = &mut fitted.estimates[index];
                    let square = &mut estimate_squares[index];
                    let slope = gradient * f64::from(by);
                    *square += slope * slope;
                    // A heuristic is followed or not followed, never fled from.
                    *weight -= self.config.learning_rate * slope / square.sqrt();
                    *weight = weight.max(0.0);
                }
            }
        }
        Ok(fitted)
    }

    /// Whether a trap decides a pair: there is nothing to learn from it.
    fn is_settled(&self, pair: usize) -> bool {
        let differences = self.pairs.differences(pair).iter();
        { differences }.any(|&(id, _)| self.first_weights[id as usize] > 0.0)
    }

    /// Whether a pair with this margin is the best step down from its parent; no step down is.
    fn is_best_step(&self, pair: usize, margin: f64, fitted: &Fitted) -> bool {
        let mut others = self.pairs.steps(pair).iter().map(|&other| other as usize);
        others.all(|other| other == pair || self.margin(other, fitted) <= margin)
    }

    /// By how much the worse state of a pair scores above the better one.
    fn margin(&self, pair: usize, fitted: &Fitted) -> f64 {
        let mut margin = 0.0;
        for &(id, by) in self.pairs.differences(pair) {
            if self.takes_part[id as usize] {
                margin += fitted.weights[id as usize] * f64::from(by);
            }
        }
        let estimates = self.pairs.estimates(pair).iter().zip(&fitted.estimates);
        margin
            + estimates
                .map(|(&by, weight)| f64::from(by) * weight)
                .sum::<f64>()
    }

    fn step(&self, pair: usize, gradient: f64, weights: &mut [f64], squares: &mut [f64]) {
        for &(id, by) in self.pairs.differences(pair) {
            let id = id as usize;
            if self.takes_part[id] {
                let slope = gradient * f64::from(by) + self.config.l2 * weights[id];
                squares[id] += slope * slope;
                weights[id] -= self.config.learning_rate * slope / squares[id].sqrt();
            }
        }
    }
}
