//! What a model of an experiment is trained as.

use homing_learner::{GnnConfig, HgnConfig, TrainConfig, ValueKind};
use serde::Serialize;

/// The settings of a model to train, by kind. Written without the kind: the fields tell it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Settings {
    /// The paper's network.
    Nlm(TrainConfig),
    /// A hypergraph network.
    Hgn(HgnConfig),
    /// A graph network.
    Gnn(GnnConfig),
}

impl Settings {
    /// What is trained.
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Nlm(_) => ValueKind::Nlm,
            Self::Hgn(_) => ValueKind::Hgn,
            Self::Gnn(_) => ValueKind::Gnn,
        }
    }

    /// What records call its heuristic: that which it corrects, or its kind.
    pub fn heuristic(&self) -> &'static str {
        match self {
            Self::Nlm(config) => config.heuristic.name(),
            Self::Hgn(_) => ValueKind::Hgn.name(),
            Self::Gnn(_) => ValueKind::Gnn.name(),
        }
    }

    /// Steps of training; epochs of a hypergraph network, iterations of a graph network.
    pub fn steps(&self) -> u64 {
        match self {
            Self::Nlm(config) => config.steps,
            Self::Hgn(config) => config.epochs as u64,
            Self::Gnn(config) => config.iterations,
        }
    }
}
