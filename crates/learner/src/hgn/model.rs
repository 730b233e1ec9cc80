//! A trained network and its file.

use homing_pddl::Domain;
use homing_planner::Task;
use serde::{Deserialize, Serialize};

use super::config::HgnConfig;
use super::graph::{Hypergraph, Places, places_of};
use super::labels::LabelReport;
use super::network::Network;
use crate::container::{Opened, matrices, write};
use crate::model::{FORMAT_VERSION, ModelError, to_bytes};
use crate::signature::Signature;
use crate::value::ValueKind;

/// How the network of one fold did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldReport {
    /// Samples it was trained on, and samples that judged it.
    pub samples: [usize; 2],
    /// Starts that were drawn again, since nothing would have been learnt from them.
    pub redrawn: usize,
    /// The least loss on the samples left out.
    pub loss: f64,
    /// The epoch that had it, counted from 1.
    pub epoch: usize,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HgnReport {
    /// What became of the training problems.
    pub labels: LabelReport,
    /// The folds.
    pub folds: Vec<FoldReport>,
    /// The fold whose network was kept.
    pub chosen: usize,
}

/// Everything about a hypergraph network but its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HgnHeader {
    /// The version of the format.
    pub format_version: u32,
    /// [`ValueKind::Hgn`]
    pub kind: ValueKind,
    /// The domain's name; another name with the same signature will do.
    pub domain: String,
    /// What it expects of a domain.
    pub signature: Signature,
    /// How it was trained.
    pub config: HgnConfig,
    /// The seed of the run.
    pub seed: u64,
    /// The version of homing that trained it.
    pub revision: String,
    /// What the run came to.
    pub report: HgnReport,
    /// The most receivers and senders of an action in the training problems (R, S).
    pub places: Places,
}

/// A hypergraph network for a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct HgnModel {
    /// Everything but the weights.
    pub header: HgnHeader,
    /// The weights, as one run of numbers.
    pub parameters: Vec<f32>,
}

impl HgnModel {
    pub(crate) fn new(
        domain: &Domain,
        config: HgnConfig,
        seed: u64,
        report: HgnReport,
        places: Places,
        parameters: Vec<f32>,
    ) -> Self {
        Self {
            header: HgnHeader {
                format_version: FORMAT_VERSION,
                kind: ValueKind::Hgn,
                domain: domain.name.clone(),
                signature: Signature::of(domain),
                config,
                seed,
                revision: env!("CARGO_PKG_VERSION").to_owned(),
                report,
                places,
            },
            parameters,
        }
    }

    pub(crate) fn network(&self) -> Network {
        Network::new(&self.header.config, self.header.places)
    }

    /// How many weights it has.
    pub fn parameter_count(&self) -> usize {
        self.parameters.len()
    }

    /// Whether a domain is the one it was trained for. Names alone count: the order of declarations
    /// does not matter.
    ///
    /// # Errors
    ///
    /// With everything that differs.
    pub fn check_domain(&self, domain: &Domain) -> Result<(), ModelError> {
        self.header.signature.check_names(domain)
    }

    /// The hypergraph of a task, if there are places enough.
    pub(crate) fn graph_of(&self, task: &Task) -> Result<Hypergraph, ModelError> {
        self.check_domain(&task.problem().domain)?;
        let needed = places_of(task);
        let places = self.header.places;
        if !places.hold(needed) {
            return Err(ModelError::TooFewPlaces {
                places: [places.receivers, places.senders],
                needed: [needed.receivers, needed.senders],
            });
        }
        Ok(Hypergraph::new(task, places))
    }

    /// The file's bytes: the same model gives the same bytes.
    ///
    /// # Errors
    ///
    /// If the weights are not those of the network that the header describes.
    pub fn to_file(&self) -> Result<Vec<u8>, ModelError> {
        let layout = self.network().layout;
        if self.parameters.len() != layout.len() {
            return Err(ModelError::Weights {
                name: "parameters".to_owned(),
                reason: format!("expected {}, found {}", layout.len(), self.parameters.len()),
            });
        }
        let bytes = to_bytes(&self.parameters);
        let arrays = matrices(&layout, &bytes);
        write(arrays, &self.header, &[&bytes])
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// If they are not a whole hypergraph network of a format this version knows.
    pub fn from_file(bytes: &[u8]) -> Result<Self, ModelError> {
        let opened = Opened::new(bytes)?;
        opened.expect_kind(ValueKind::Hgn)?;
        let header: HgnHeader = opened.header()?;
        let problems = header.config.problems();
        if !problems.is_empty() || header.places.total() > 1000 {
            return Err(ModelError::BadHeader(format!(
                "its configuration is wrong: {}",
                problems.join("; ")
            )));
        }
        let mut model = Self {
            header,
            parameters: Vec::new(),
        };
        model.parameters = opened.weights(&model.network().layout)?;
        // Last, so that what is wrong in a way that can be named is named.
        opened.check_sum(&model.header, &[&to_bytes(&model.parameters)])?;
        Ok(model)
    }
}
