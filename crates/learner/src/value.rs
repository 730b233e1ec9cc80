//! The seam for value functions: what is learnt, whatever its kind.
//!
//! A value function is learnt for a domain; prepared for a task, where all that is static is folded
//! in; and then asked about states. Every kind answers in batches, as a [`Heuristic`]. Some can
//! also tell a child from its parent and an action alone, as a [`SuccessorScorer`]: searches use
//! that where they can. A kind saves itself as named arrays under a header that names the kind, and
//! [`AnyModel`] reads whichever comes.
//!
//! How one is learnt is another matter: fitted in one go ([`fit`](crate::fit)), or improved step by
//! step along a gradient ([`Improvable`], or the paper's [`Trainer`](crate::Trainer)). Where data
//! come from and what is asked of the function are parts of the configuration of their own
//! ([`LearnConfig`](crate::LearnConfig)).
//!
//! Another kind is a file that implements [`ValueFunction`], a variant of [`ValueKind`] and of
//! [`AnyModel`], and a variant of [`FunctionConfig`](crate::FunctionConfig).

use std::fmt;

use homing_pddl::Domain;
use homing_planner::search::SuccessorScorer;
use homing_planner::{Heuristic, Task};
use serde::{Deserialize, Serialize};

use crate::compute::Compute;
use crate::container::Opened;
use crate::counts::{CountsHeuristic, CountsModel};
use crate::gnn::GnnModel;
use crate::hgn::{HgnHeuristic, HgnModel};
use crate::learned::Learned;
use crate::model::{Model, ModelError};
use crate::signature::Signature;

/// Kinds of value functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    /// The paper's network, a correction to a classical heuristic: [`Model`].
    Nlm,
    /// Counts of colours: [`CountsModel`].
    Counts,
    /// The graph network with PPO, a policy and a value: [`GnnModel`].
    Gnn,
    /// A hypergraph network, one of the paper's baselines: [`HgnModel`].
    Hgn,
}

impl ValueKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Nlm, Self::Counts, Self::Hgn, Self::Gnn];

    /// Its name, as files and users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nlm => "nlm",
            Self::Counts => "counts",
            Self::Gnn => "gnn",
            Self::Hgn => "hgn",
        }
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What every header says.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    /// Which kind it is.
    pub kind: ValueKind,
    /// The name of the domain it was learnt for.
    pub domain: &'a str,
    /// What it expects of a domain.
    pub signature: &'a Signature,
}

/// What was learnt for a domain.
pub trait ValueFunction: Send + Sync {
    /// Its kind and its domain.
    fn label(&self) -> Label<'_>;

    /// Which kind it is.
    fn kind(&self) -> ValueKind {
        self.label().kind
    }

    /// The name of the domain it was learnt for.
    fn domain(&self) -> &str {
        self.label().domain
    }

    /// Whether a domain is the one it was learnt for. Here, in the order of declarations too, which
    /// a network's features have.
    ///
    /// # Errors
    ///
    /// With everything that differs.
    fn check_domain(&self, domain: &Domain) -> Result<(), ModelError> {
        self.label().signature.check(domain)
    }

    /// Prepares it for a task, to evaluate batches. The number of threads never changes a value.
    ///
    /// # Errors
    ///
    /// If it was learnt for another domain, or the task is too large for it.
    fn heuristic<'t>(
        &self,
        task: &'t Task,
        compute: Compute,
    ) -> Result<Box<dyn Heuristic + Send + 't>, ModelError>;

    /// Prepares it for a task, to score the successors of one parent at a time; `None` if it has to
    /// see states.
    ///
    /// # Errors
    ///
    /// If it was learnt for another domain.
    fn scorer<'t>(
        &self,
        task: &'t Task,
    ) -> Result<Option<Box<dyn SuccessorScorer + Send + 't>>, ModelError> {
        self.check_domain(&task.problem().domain)?;
        Ok(None)
    }

    /// The bytes of its file: the same function gives the same bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn to_file(&self) -> Result<Vec<u8>, ModelError>;
}

/// A value function with parameters that follow a gradient.
///
/// States of one call are of one task, named by its place among those that the function was
/// prepared for: batches of a network need states of one shape.
pub trait Improvable {
    /// The value of each state, the less the better.
    fn values(&mut self, task: usize, states: &[&[u32]]) -> Vec<f32>;

    /// Takes one step against the gradient of a loss, of which `slopes` are the derivatives by the
    /// value of each state.
    fn improve(&mut self, task: usize, states: &[&[u32]], slopes: &[f32]);
}

/// A model of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyModel {
    /// A neural logic machine.
    Nlm(Box<Model>),
    /// Counts of colours.
    Counts(Box<CountsModel>),
    /// The graph network with PPO.
    Gnn(Box<GnnModel>),
    /// A hypergraph network.
    Hgn(Box<HgnModel>),
}

impl AnyModel {
    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// If they are not a whole model of a kind and format this version knows.
    pub fn from_file(bytes: &[u8]) -> Result<Self, ModelError> {
        match Opened::new(bytes)?.kind()? {
            ValueKind::Nlm => Model::from_file(bytes).map(|model| Self::Nlm(Box::new(model))),
            ValueKind::Counts => {
                CountsModel::from_file(bytes).map(|model| Self::Counts(Box::new(model)))
            }
            ValueKind::Gnn => GnnModel::from_file(bytes).map(|model| Self::Gnn(Box::new(model))),
            ValueKind::Hgn => HgnModel::from_file(bytes).map(|model| Self::Hgn(Box::new(model))),
        }
    }

    /// The name of the domain that it was trained on.
    pub fn domain(&self) -> &str {
        self.function().label().domain
    }

    /// What it can do.
    pub fn function(&self) -> &dyn ValueFunction {
        match self {
            Self::Nlm(model) => &**model,
            Self::Counts(model) => &**model,
            Self::Gnn(model) => &**model,
            Self::Hgn(model) => &**model,
        }
    }
}

impl From<Model> for AnyModel {
    fn from(model: Model) -> Self {
        Self::Nlm(Box::new(model))
    }
}

impl From<GnnModel> for AnyModel {
    fn from(model: GnnModel) -> Self {
        Self::Gnn(Box::new(model))
    }
}

impl From<CountsModel> for AnyModel {
    fn from(model: CountsModel) -> Self {
        Self::Counts(Box::new(model))
    }
}

impl From<HgnModel> for AnyModel {
    fn from(model: HgnModel) -> Self {
        Self::Hgn(Box::new(model))
    }
}

impl ValueFunction for Model {
    fn label(&self) -> Label<'_> {
        Label {
            kind: ValueKind::Nlm,
            domain: &self.header.domain,
            signature: &self.header.signature,
        }
    }

    fn heuristic<'t>(
        &self,
        task: &'t Task,
        compute: Compute,
    ) -> Result<Box<dyn Heuristic + Send + 't>, ModelError> {
        Ok(Box::new(Learned::new(self, task, compute)?))
    }

    fn to_file(&self) -> Result<Vec<u8>, ModelError> {
        Self::to_file(self)
    }
}

impl ValueFunction for CountsModel {
    fn label(&self) -> Label<'_> {
        Label {
            kind: self.header.kind,
            domain: &self.header.domain,
            signature: &self.header.signature,
        }
    }

    /// Colours are made of names: the order of declarations does not matter.
    fn check_domain(&self, domain: &Domain) -> Result<(), ModelError> {
        self.header.signature.check_names(domain)
    }

    fn heuristic<'t>(
        &self,
        task: &'t Task,
        _compute: Compute,
    ) -> Result<Box<dyn Heuristic + Send + 't>, ModelError> {
        self.check_domain(&task.problem().domain)?;
        Ok(Box::new(CountsHeuristic::new(&self.function, task)))
    }

    fn scorer<'t>(
        &self,
        task: &'t Task,
    ) -> Result<Option<Box<dyn SuccessorScorer + Send + 't>>, ModelError> {
        self.check_domain(&task.problem().domain)?;
        // A score that lacks the classical heuristics it is to correct is none.
        let alone = self.function.heuristics().is_empty();
        Ok(alone.then(|| self.function.scorer(task)))
    }

    fn to_file(&self) -> Result<Vec<u8>, ModelError> {
        Self::to_file(self)
    }
}

impl ValueFunction for HgnModel {
    fn label(&self) -> Label<'_> {
        Label {
            kind: self.header.kind,
            domain: &self.header.domain,
            signature: &self.header.signature,
        }
    }

    fn check_domain(&self, domain: &Domain) -> Result<(), ModelError> {
        Self::check_domain(self, domain)
    }

    fn heuristic<'t>(
        &self,
        task: &'t Task,
        compute: Compute,
    ) -> Result<Box<dyn Heuristic + Send + 't>, ModelError> {
        Ok(Box::new(HgnHeuristic::new(self, task, compute)?))
    }

    fn to_file(&self) -> Result<Vec<u8>, ModelError> {
        Self::to_file(self)
    }
}
