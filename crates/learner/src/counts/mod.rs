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
mod difference;
mod graph;
mod layout;
mod model;
mod refine;
mod relations;
mod scratch;
mod table;

pub use model::{CountsFunction, WEIGHT_SCALE};
pub use refine::FeatureCounter;
pub use relations::GraphSpec;
