//! What can be set about counts as a value function.

use homing_planner::heuristic::HeuristicKind;
use serde::{Deserialize, Serialize};

use crate::faults::Faults;

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
        let mut faults = Faults::default();
        let few = self.rounds <= MAX_ROUNDS;
        faults.must(few, format!("`rounds` must be at most {MAX_ROUNDS}"));
        faults.at_least_one("max_features", self.max_features as u64);
        faults.all()
    }
}

/// More rounds than any domain has use for: colours multiply with each.
const MAX_ROUNDS: usize = 10;
