//! The graph network with PPO (Rivlin, Hazan and Karpas 2020; in the paper GBFS-GNN): a policy and a
//! value of states, learnt by acting.
//!
//! [`GnnTrainer`] trains as [`GnnConfig`] says; a [`GnnModel`] is what it learnt, and guides the
//! searches of the planner that ask a [`Policy`](homing_planner::search::Policy).

mod checkpoint;
mod config;
mod draw;
mod episodes;
mod evaluate;
mod kinds;
mod model;
mod network;
mod policy;
mod ppo;
#[doc(hidden)]
pub mod probe;
mod rollouts;
mod shape;
#[cfg(test)]
mod tests;

pub use config::{GnnConfig, Returns};
pub use model::{GnnHeader, GnnModel, GnnSummary};
pub use ppo::{GnnTrainer, IterationRecord};
pub use rollouts::{GnnRollouts, RolloutScore};
pub use shape::{GnnError, GraphShape};
