//! How the graph network is trained.

use serde::{Deserialize, Serialize};

use crate::faults::Faults;

/// What a step is worth by the end of its episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Returns {
    /// As found in the program: k steps before the last, γ to the (k + 1)(k + 2)/2 − 1.
    #[default]
    Growing,
    /// γ to the k.
    Usual,
}

/// Settings of PPO with the graph network. The defaults are those found in the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GnnConfig {
    /// Features H of nodes, edges and graphs.
    pub width: usize,
    /// Iterations: episodes, then updates.
    pub iterations: u64,
    /// Episodes of an iteration.
    pub episodes: usize,
    /// Updates of an iteration at the most, each over all its steps.
    pub updates: usize,
    /// Steps whose mean is one term of the loss; the terms are added up.
    pub batch: usize,
    /// Discount γ.
    pub gamma: f64,
    /// What a step is worth.
    pub returns: Returns,
    /// How far the ratio of probabilities counts, either way.
    pub clip: f32,
    /// The weight of the mean of −log π(a) over the actions taken.
    pub entropy: f32,
    /// An update after which log π has fallen by more than this on average is the last.
    pub max_divergence: f64,
    /// Step size of Adam.
    pub learning_rate: f32,
    /// What the step size is multiplied by after each iteration.
    pub decay: f64,
    /// Penalty on the squares of parameters.
    pub l2: f32,
}

impl Default for GnnConfig {
    fn default() -> Self {
        Self {
            width: 256,
            iterations: 1_000,
            episodes: 100,
            updates: 20,
            batch: 300,
            gamma: 0.99,
            returns: Returns::Growing,
            clip: 0.2,
            entropy: 0.01,
            max_divergence: 0.015,
            learning_rate: 1e-4,
            decay: 1.0,
            l2: 1e-5,
        }
    }
}

/// Networks wider than this are a slip of the finger.
const MAX_WIDTH: usize = 4_096;

impl GnnConfig {
    /// Everything that is wrong with it, in words.
    pub fn problems(&self) -> Vec<String> {
        let mut faults = Faults::default();
        faults.within("width", self.width, 1..=MAX_WIDTH);
        faults.at_least_one("episodes", self.episodes as u64);
        faults.at_least_one("updates", self.updates as u64);
        faults.at_least_one("batch", self.batch as u64);
        faults.above_zero_at_most_one("gamma", self.gamma);
        let clips = self.clip > 0.0 && self.clip < 1.0;
        faults.must(clips, "`clip` must be between 0 and 1");
        let finite = self.entropy.is_finite();
        faults.must(finite, "`entropy` must be a number");
        faults.positive("max_divergence", self.max_divergence);
        faults.positive("learning_rate", self.learning_rate.into());
        faults.above_zero_at_most_one("decay", self.decay);
        faults.not_negative("l2", self.l2.into());
        faults.all()
    }

    /// What each step of an episode is worth, the last step last.
    pub(crate) fn returns(&self, steps: usize, solved: bool) -> Vec<f32> {
        let mut worth = if solved { 1.0 } else { 0.0 };
        let mut returns = vec![0.0; steps];
        let mut factor = self.gamma;
        for at in (0..steps).rev() {
            returns[at] = worth as f32;
            if self.returns == Returns::Growing {
                factor *= self.gamma;
            }
            worth *= factor;
        }
        returns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_are_those_of_the_notes() {
        let config = GnnConfig::default();
        let found = config.returns(41, true);
        let at = |k: usize| found[40 - k];
        assert_eq!(at(0), 1.0);
        let rounded = |x: f32, places: f32| (x * places).round() / places;
        assert_eq!(rounded(at(10), 100.0), 0.52);
        assert_eq!(rounded(at(20), 100.0), 0.10);
        assert_eq!(rounded(at(40), 10_000.0), 0.0002);
        let usual = GnnConfig {
            returns: Returns::Usual,
            ..config.clone()
        };
        let usual = usual.returns(3, true);
        assert!((usual[0] - 0.9801).abs() < 1e-6 && usual[2] == 1.0);
        assert_eq!(config.returns(3, false), [0.0; 3]);
        assert_eq!(config.problems(), Vec::<String>::new());
    }
}
