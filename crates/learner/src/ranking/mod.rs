//! Learning the order of siblings.
//!
//! A greedy search asks one thing of a score: that among the children of a state the best one come
//! first. So that is what is learnt: the best child scores below each worse sibling and below its
//! parent, and what leads nowhere scores above states with a way to the goal. Three parts:
//!
//! - `examples`: where data come from. [`gather`] walks through small problems; others may fill a
//!   [`TrainingSet`] as well.
//! - `pairs`: states that are to be told apart, as differences of counts.
//! - `fit`: the logistic loss over pairs, minimised by a few passes of stochastic gradients.
//!
//! What follows a gradient step by step learns from the same samples (`gradual`): [`RankingTrainer`]
//! does so with the paper's network.

mod checkpoint;
mod examples;
mod fit;
mod gradual;
mod network;
mod pairs;
mod sigmoid;

pub(crate) use examples::size_of;
pub use examples::{ExactConfig, GatherReport, TrainingProblem, TrainingSet, gather};
pub use fit::{FitReport, RankingConfig, fit, fit_watched};
pub use network::RankingTrainer;
