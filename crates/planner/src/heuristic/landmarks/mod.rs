//! Landmarks: facts that are true at some time in every plan, and the order in which they come.
//!
//! [`Landmarks::find`] finds them in the delete relaxation; [`LandmarkCount`] is the heuristic that
//! counts those which are still to come.

mod count;
mod graph;

pub use count::LandmarkCount;
pub use graph::{Landmark, Landmarks};
