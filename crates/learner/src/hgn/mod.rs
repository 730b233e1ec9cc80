//! STRIPS-HGN (Shen, Trevizan, Thiébaux 2020), one of the two learned baselines of the paper: a
//! hypergraph network that estimates the length of an optimal plan.
//!
//! The input is the delete relaxation of a task as a hypergraph ([`graph`]): propositions are
//! nodes, and an action is an edge from its conditions to what it adds. Ten rounds of one network
//! with the same weights ([`network`]) go over it; what is left of all nodes and edges is one
//! number. It is trained on the states of optimal plans of small problems, several networks on as
//! many folds of the data, of which the best is kept ([`train`]). In a search only the last round
//! counts, and what does not depend on the state is computed once ([`evaluate`]).
//!
//! `docs/baselines-learned.md` says what is like the original and what is not.

mod config;
mod evaluate;
mod folds;
mod graph;
mod labels;
mod model;
mod network;
mod probe;
mod train;

pub use config::HgnConfig;
pub use evaluate::HgnHeuristic;
pub use graph::Places;
pub use labels::LabelReport;
pub use model::{FoldReport, HgnHeader, HgnModel, HgnReport};
#[doc(hidden)]
pub use probe::HgnProbe;
pub use train::{HgnError, HgnProgress, HgnTrainer};
