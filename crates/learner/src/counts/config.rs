//! What can be set about counts as a value function.

use homing_planner::heuristic::HeuristicKind;
use serde::{Deserialize, Serialize};

/// The settings of a function that counts colours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CountsConfig {
    /// How often colours take in those next to them. More than two rounds fit training problems
    /// better, carry over worse, and cannot be evaluated by difference.
    pub rounds: usize,
    /// Whether a second order is learnt, with features of static relations past the first round.
    pub second_head: bool,
    /// Whether static relations tell their objects nothing ([`GraphSpec`](super::GraphSpec)): one
    /// order then, of few colours. Otherwise that is one of the candidates.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
    /// Whether features are counted that one object can change in great numbers
    /// ([`GraphSpec`](super::GraphSpec)). Candidates with quiet relations do without them.
    #[serde(skip_serializing_if = "is_true")]
    pub hubs: bool,
    /// Colours at the most; those met later are left out.
    pub max_features: usize,
    /// Classical heuristics as further features: what is learnt then corrects them, as the paper's
    /// network does.
    pub heuristics: Vec<HeuristicKind>,
}

fn is_true(holds: &bool) -> bool {
    *holds
}

impl Default for CountsConfig {
    fn default() -> Self {
        Self {
            rounds: 2,
            second_head: true,
            quiet: false,
            hubs: true,
            max_features: 200_000,
            heuristics: Vec::new(),
        }
    }
}

impl CountsConfig {
    /// Everything that is wrong with it, in words.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.rounds > MAX_ROUNDS {
            problems.push(format!("`rounds` must be at most {MAX_ROUNDS}"));
        }
        if self.max_features == 0 {
            problems.push("`max_features` must be at least 1".to_owned());
        }
        problems
    }
}

/// More rounds than any domain has use for: colours multiply with each.
const MAX_ROUNDS: usize = 10;
