//! Models of the graph network and their files: safetensors, the header in its metadata, one tensor
//! for each matrix.

use std::sync::Arc;

use homing_nlm::Simd;
use homing_pddl::Domain;
use homing_planner::search::Policy;
use homing_planner::{Heuristic, Task};
use serde::{Deserialize, Serialize};

use super::config::GnnConfig;
use super::network::Network;
use super::policy::{GnnHeuristic, GnnPolicy};
use super::shape::{GnnError, GraphShape};
use crate::compute::Compute;
use crate::container::{Opened, matrices, write};
use crate::model::{FORMAT_VERSION, ModelError, to_bytes};
use crate::signature::Signature;
use crate::value::{Label, ValueFunction, ValueKind};

/// What a run of training came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GnnSummary {
    /// Problems trained on.
    pub problems: u64,
    /// Episodes.
    pub episodes: u64,
    /// Episodes that came to a goal.
    pub solved: u64,
    /// Actions taken.
    pub steps: u64,
    /// Updates of the parameters.
    pub updates: u64,
    /// The share of the last iteration's episodes that came to a goal.
    pub last_rate: f64,
}

/// Everything about a model but its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GnnHeader {
    /// The version of the format.
    pub format_version: u32,
    /// [`ValueKind::Gnn`]
    pub kind: ValueKind,
    /// The domain's name; another name with the same signature will do.
    pub domain: String,
    /// What it expects of a domain.
    pub signature: Signature,
    /// How it was trained.
    pub config: GnnConfig,
    /// The seed of the run.
    pub seed: u64,
    /// The version of homing that trained it.
    pub revision: String,
    /// What the run came to.
    pub summary: GnnSummary,
}

/// A policy and a value of states, learnt by PPO.
#[derive(Clone, Debug)]
pub struct GnnModel {
    /// Everything but the weights.
    pub header: GnnHeader,
    /// The weights, as one run of numbers.
    pub parameters: Vec<f32>,
    network: Arc<Network>,
}

impl PartialEq for GnnModel {
    fn eq(&self, other: &Self) -> bool {
        // The network follows from the header.
        self.header == other.header && self.parameters == other.parameters
    }
}

/// The network that a header describes.
fn network_of(header: &GnnHeader) -> Result<Arc<Network>, ModelError> {
    let problems = header.config.problems();
    if !problems.is_empty() {
        return Err(ModelError::BadHeader(format!(
            "its configuration is wrong: {}",
            problems.join("; ")
        )));
    }
    let shape = GraphShape::new(&header.signature)?;
    Ok(Arc::new(Network::new(&shape, header.config.width)))
}

impl From<GnnError> for ModelError {
    fn from(error: GnnError) -> Self {
        Self::Graph(error)
    }
}

impl GnnModel {
    /// A model of these weights.
    ///
    /// # Errors
    ///
    /// If the header describes no network, or one of another size.
    pub(crate) fn new(header: GnnHeader, parameters: Vec<f32>) -> Result<Self, ModelError> {
        let network = network_of(&header)?;
        if parameters.len() != network.layout.len() {
            return Err(ModelError::Weights {
                name: "parameters".to_owned(),
                reason: format!(
                    "expected {}, found {}",
                    network.layout.len(),
                    parameters.len()
                ),
            });
        }
        Ok(Self {
            header,
            parameters,
            network,
        })
    }

    pub(crate) fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// The header of a model for a domain.
    pub(crate) fn header(
        domain: &Domain,
        config: GnnConfig,
        seed: u64,
        summary: GnnSummary,
    ) -> GnnHeader {
        GnnHeader {
            format_version: FORMAT_VERSION,
            kind: ValueKind::Gnn,
            domain: domain.name.clone(),
            signature: Signature::of(domain),
            config,
            seed,
            revision: env!("CARGO_PKG_VERSION").to_owned(),
            summary,
        }
    }

    /// The file's bytes: the same model gives the same bytes.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn to_file(&self) -> Result<Vec<u8>, ModelError> {
        let bytes = to_bytes(&self.parameters);
        let arrays = matrices(&self.network.layout, &bytes);
        write(arrays, &self.header, &[&bytes])
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// If they are not a whole model of this kind and a format this version knows.
    pub fn from_file(bytes: &[u8]) -> Result<Self, ModelError> {
        let opened = Opened::new(bytes)?;
        opened.expect_kind(ValueKind::Gnn)?;
        let header: GnnHeader = opened.header()?;
        let network = network_of(&header)?;
        let parameters = opened.weights(&network.layout)?;
        // Last, so that what is wrong in a way that can be named is named.
        opened.check_sum(&header, &[&to_bytes(&parameters)])?;
        Ok(Self {
            header,
            parameters,
            network,
        })
    }

    /// Prepares it for a task, to guide a search.
    ///
    /// # Errors
    ///
    /// If it was learnt for another domain, or cannot read the task.
    pub fn policy<'t>(
        &self,
        task: &'t Task,
        simd: Simd,
    ) -> Result<Box<dyn Policy + Send + 't>, ModelError> {
        ValueFunction::check_domain(self, &task.problem().domain)?;
        Ok(Box::new(GnnPolicy::new(self, task, simd)?))
    }
}

impl ValueFunction for GnnModel {
    fn label(&self) -> Label<'_> {
        Label {
            kind: self.header.kind,
            domain: &self.header.domain,
            signature: &self.header.signature,
        }
    }

    fn heuristic<'t>(
        &self,
        task: &'t Task,
        compute: Compute,
    ) -> Result<Box<dyn Heuristic + Send + 't>, ModelError> {
        self.check_domain(&task.problem().domain)?;
        Ok(Box::new(GnnHeuristic::new(self, task, compute.simd)?))
    }

    fn to_file(&self) -> Result<Vec<u8>, ModelError> {
        Self::to_file(self)
    }
}
