//! The decision process and its shaping (paper, Sec. "Planning Heuristics as Dense Rewards").
//!
//! With an action of cost c, the reward is −(1 − γ^c)/(1 − γ) and what follows is discounted by
//! γ^c: for c = 1 the paper's −1 and γ. The value of a state h* from the goal is then −h*_γ, so
//! that the potential φ = −h_γ leaves the residual 0 where h is perfect.

use crate::config::Reward;

/// h_γ = (1 − γ^h) / (1 − γ): what a way of cost h costs when discounted.
///
/// ```
/// let h = homing_learner::discounted(3.0, 0.5);
/// assert!((h - (1.0 + 0.5 + 0.25)).abs() < 1e-12);
/// ```
pub fn discounted(h: f64, gamma: f64) -> f64 {
    let log = (gamma - 1.0).ln_1p();
    -(h * log).exp_m1() / (1.0 - gamma)
}

/// The inverse of [`discounted`]; infinite at and beyond its bound 1 / (1 − γ).
pub fn undiscounted(discounted: f64, gamma: f64) -> f64 {
    let rest = -(1.0 - gamma) * discounted;
    if rest <= -1.0 {
        return f64::INFINITY;
    }
    rest.ln_1p() / (gamma - 1.0).ln_1p()
}

/// The decision process: rewards, discounts and potentials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mdp {
    /// γ
    pub gamma: f64,
    /// What a step is rewarded with.
    pub reward: Reward,
}

impl Mdp {
    /// r: the reward of an action of this cost.
    pub fn reward(&self, cost: u32, into_goal: bool) -> f64 {
        match self.reward {
            Reward::CostButLast if into_goal => 0.0,
            Reward::Cost | Reward::CostButLast => -discounted(f64::from(cost), self.gamma),
            Reward::Goal => f64::from(u8::from(into_goal)),
        }
    }

    /// γ^c: what the value of the successor is worth.
    pub fn discount(&self, cost: u32) -> f64 {
        match self.reward {
            // Where the way is free, only its length counts.
            Reward::Goal => self.gamma,
            Reward::Cost | Reward::CostButLast => self.gamma.powf(f64::from(cost)),
        }
    }

    /// φ: what the heuristic says the value is; 0 at a goal.
    pub fn potential(&self, h: f64, is_goal: bool) -> f64 {
        match self.reward {
            _ if is_goal => 0.0,
            Reward::Cost | Reward::CostButLast => -discounted(h, self.gamma),
            // 1, discounted by all steps but the last.
            Reward::Goal => self.gamma.powf((h - 1.0).max(0.0)),
        }
    }

    /// r̂ = r + γ φ(s') − φ(s): the shaped reward.
    pub fn shaped_reward(&self, cost: u32, into_goal: bool, from: f64, to: f64) -> f64 {
        self.reward(cost, into_goal) + self.discount(cost) * to - from
    }

    /// A value as an estimate of the cost to the goal, undiscounted.
    pub fn undiscounted(&self, value: f64) -> f64 {
        match self.reward {
            Reward::Cost | Reward::CostButLast => undiscounted(-value, self.gamma),
            Reward::Goal => 1.0 + value.max(f64::MIN_POSITIVE).ln() / self.gamma.ln(),
        }
    }
}

/// The expectation of `values` under softmax(values / temperature).
pub(crate) fn softmax_mean(values: &[f64], temperature: f64) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut weight, mut sum) = (0.0, 0.0);
    for &value in values {
        let w = ((value - most) / temperature).exp();
        weight += w;
        sum += w * value;
    }
    sum / weight
}

/// The index that softmax(values / temperature) gives for a number drawn from [0, 1).
pub(crate) fn softmax_pick(values: &[f64], temperature: f64, unit: f64) -> usize {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weight = |value: f64| ((value - most) / temperature).exp();
    let total: f64 = values.iter().map(|&value| weight(value)).sum();
    let mut rest = unit * total;
    for (index, &value) in values.iter().enumerate() {
        rest -= weight(value);
        if rest < 0.0 {
            return index;
        }
    }
    values.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_discounted_heuristic_is_right_at_gammas_near_one() {
        // The sum of γ^t for t = 0..h, term by term in f64 with γ = 1 - 1e-6, exact to 1e-13.
        let gamma = 0.999_999;
        for h in [1u32, 2, 3, 10, 100, 1000, 100_000] {
            let sum: f64 = (0..h)
                .map(|t| (f64::from(t) * (gamma - 1.0f64).ln_1p()).exp())
                .sum();
            let closed = discounted(f64::from(h), gamma);
            assert!((closed / sum - 1.0).abs() < 1e-9, "{h}: {closed} {sum}");
        }
    }

    #[test]
    fn undiscounting_inverts_discounting() {
        for gamma in [0.5, 0.99, 0.999, 0.999_999] {
            for h in [0.0, 1.0, 7.0, 40.5] {
                // Near the bound 1 / (1 − γ) no digits are left to invert.
                if h * (1.0 - gamma) > 10.0 {
                    continue;
                }
                let back = undiscounted(discounted(h, gamma), gamma);
                assert!((back - h).abs() < 1e-6 * h.max(1.0), "{gamma} {h} {back}");
            }
        }
        assert_eq!(undiscounted(2.5, 0.5), f64::INFINITY);
    }

    #[test]
    fn softmax_takes_its_values_with_their_probabilities() {
        let values = [0.0, 2f64.ln()];
        assert!((softmax_mean(&values, 1.0) - 2.0 / 3.0 * 2f64.ln()).abs() < 1e-12);
        assert_eq!(softmax_pick(&values, 1.0, 0.32), 0);
        assert_eq!(softmax_pick(&values, 1.0, 0.34), 1);
        assert_eq!(softmax_pick(&[-1e9, 0.0], 1.0, 0.0), 1);
    }
}
