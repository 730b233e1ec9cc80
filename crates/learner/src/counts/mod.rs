//! Counts of what is locally true, as a value function.
//!
//! A state is a graph: its objects, and the atoms that are true in it or that the goal speaks of,
//! each joined to its arguments. Every node starts with a colour (type, predicate, wanted or not)
//! and takes in the colours next to it, round by round. How often each colour occurs describes the
//! state; a weighted sum of these numbers scores it. The sum grows with the problem, and so carries
//! over from small problems to large ones.
//!
//! - [`GraphSpec`] says how a domain's graphs are drawn: rounds, and which static relations.
//! - `graph` draws the graph of a task once; `refine` colours one state from scratch.
//! - `difference` tells the score of a child from what an action changes, in well under a
//!   microsecond, to the same number as from scratch.

mod colour;
mod config;
mod difference;
mod file;
mod graph;
mod heuristic;
mod layout;
mod making;
mod model;
mod refine;
mod relations;
mod scratch;
mod stream;
mod table;
mod trust;
mod words;

pub(crate) use colour::ColourMap;
pub use config::CountsConfig;
pub use file::{CountsHeader, CountsModel};
pub use heuristic::CountsHeuristic;
pub(crate) use making::Making;
pub use model::{CountsFunction, WEIGHT_SCALE};
pub use refine::FeatureCounter;
pub(crate) use refine::Node;
pub use relations::GraphSpec;
pub use trust::Trust;
pub use words::FeatureInWords;
