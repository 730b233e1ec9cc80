//! What can be set about STRIPS-HGN.

use serde::{Deserialize, Serialize};

use crate::faults::Faults;

/// How a hypergraph network is made and trained. The defaults are those of its authors, with
/// epochs in the place of wall-clock time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HgnConfig {
    /// Numbers that the network keeps of a node, an edge or the whole (d).
    pub width: usize,
    /// Rounds of message passing.
    pub rounds: usize,
    /// Whether the numbers of nodes and edges are part of the input.
    pub global_features: bool,
    /// Parts of the data; each is left out of the training of one network, and judges it.
    pub folds: usize,
    /// Classes of labels, by quantiles, that folds have the same share of.
    pub bins: usize,
    /// Fewer samples than this are drawn again, with replacement, up to this number.
    pub least_samples: usize,
    /// Passes over the data, for each fold.
    pub epochs: usize,
    /// The learning rate of Adam.
    pub learning_rate: f32,
    /// The L2 penalty, part of the gradient.
    pub l2: f32,
    /// Evaluations of the search for an optimal plan at the most; a problem that needs more is left
    /// out.
    pub label_evaluations: u64,
    /// How often a start whose output is 0 everywhere, and so would never learn, is drawn again.
    pub redraws: usize,
}

impl Default for HgnConfig {
    fn default() -> Self {
        Self {
            width: 32,
            rounds: 10,
            global_features: false,
            folds: 5,
            bins: 4,
            least_samples: 60,
            epochs: 100,
            learning_rate: 1e-3,
            l2: 2.5e-4,
            label_evaluations: 1_000_000,
            redraws: 100,
        }
    }
}

impl HgnConfig {
    /// Everything that is wrong with it, in words.
    pub fn problems(&self) -> Vec<String> {
        let mut faults = Faults::default();
        faults.within("width", self.width, 1..=1024);
        faults.within("rounds", self.rounds, 1..=1000);
        faults.within("folds", self.folds, 2..=100);
        faults.within("bins", self.bins, 1..=1000);
        faults.at_least_one("epochs", self.epochs as u64);
        faults.positive("learning_rate", self.learning_rate.into());
        faults.not_negative("l2", self.l2.into());
        faults.at_least_one("label_evaluations", self.label_evaluations);
        faults.all()
    }
}
