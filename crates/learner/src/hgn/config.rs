//! What can be set about STRIPS-HGN.

use serde::{Deserialize, Serialize};

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
        let mut problems = Vec::new();
        let mut must = |holds: bool, text: &str| {
            if !holds {
                problems.push(text.to_owned());
            }
        };
        let within = |number: usize, most: usize| (1..=most).contains(&number);
        must(within(self.width, 1024), "`width` must be from 1 to 1024");
        must(within(self.rounds, 1000), "`rounds` must be from 1 to 1000");
        must(
            (2..=100).contains(&self.folds),
            "`folds` must be from 2 to 100",
        );
        must(within(self.bins, 1000), "`bins` must be from 1 to 1000");
        must(self.epochs > 0, "`epochs` must be at least 1");
        must(
            self.learning_rate > 0.0 && self.learning_rate.is_finite(),
            "`learning_rate` must be positive",
        );
        must(
            self.l2 >= 0.0 && self.l2.is_finite(),
            "`l2` must not be negative",
        );
        must(
            self.label_evaluations > 0,
            "`label_evaluations` must be at least 1",
        );
        problems
    }
}
