//! Trained models and their files: safetensors, the header in its metadata.

use std::fmt;

use homing_nlm::{MAX_OBJECTS, Nlm};
use homing_pddl::Domain;
use safetensors::tensor::Dtype;
use serde::{Deserialize, Serialize};

use crate::config::{ConfigProblems, TrainConfig};
use crate::container::{Array, Opened, read_weights, write};
use crate::encode::Channels;
use crate::gnn::GnnError;
use crate::signature::{Difference, Signature};
use crate::value::ValueKind;

/// The version of the format written. Files of a newer one are refused.
pub const FORMAT_VERSION: u32 = 1;

/// What a training run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingSummary {
    /// Goals reached.
    pub goals: u64,
    /// Episodes begun.
    pub episodes: u64,
    /// Problems trained on.
    pub problems: u64,
    /// Mean loss of the last 100 SGD steps; 0 where there was none.
    pub loss: f64,
}

/// Everything about a model but its weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelHeader {
    /// The version of the format.
    pub format_version: u32,
    /// The domain's name; another name with the same signature will do.
    pub domain: String,
    /// What it expects of a domain.
    pub signature: Signature,
    /// How it was trained.
    pub config: TrainConfig,
    /// The seed of the run.
    pub seed: u64,
    /// Steps taken.
    pub steps: u64,
    /// The version of homing that trained it.
    pub revision: String,
    /// What the run came to.
    pub summary: TrainingSummary,
}

/// A value function for a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Everything but the weights.
    pub header: ModelHeader,
    /// The weights, as one run of numbers.
    pub parameters: Vec<f32>,
}

/// Why a file is not a model that can be used.
#[derive(Debug)]
pub enum ModelError {
    /// Not a safetensors file, or cut short.
    Broken(String),
    /// A safetensors file, but none of ours.
    NoHeader,
    /// The checksum is that of other bytes.
    Corrupted,
    /// Our header cannot be read.
    BadHeader(String),
    /// Written by a newer homing.
    NewerFormat {
        /// The version found.
        found: u32,
    },
    /// It is of a kind that this version does not know.
    UnknownKind {
        /// The kind found.
        found: String,
    },
    /// It is a model of another kind than the one asked for.
    OtherKind {
        /// The kind found.
        found: ValueKind,
        /// The kind asked for.
        expected: ValueKind,
    },
    /// The weights do not fit the network that the header describes.
    Weights {
        /// The tensor.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The header's configuration makes no network.
    Config(ConfigProblems),
    /// The graph network cannot read the domain or the problem.
    Graph(GnnError),
    /// The problem has more objects than a network can tell apart.
    TooManyObjects {
        /// How many it has.
        objects: usize,
    },
    /// An action of the problem has more effects or conditions than the network has places for.
    TooFewPlaces {
        /// Places for effects and for conditions.
        places: [usize; 2],
        /// How many there are of them.
        needed: [usize; 2],
    },
    /// The domain is not the one it was trained for.
    OtherDomain {
        /// What differs.
        differences: Vec<Difference>,
    },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(reason) => write!(f, "the model file is damaged or cut short ({reason})"),
            Self::Corrupted => write!(
                f,
                "the model file is damaged (its checksum does not fit its content)"
            ),
            Self::NoHeader => write!(f, "this safetensors file is not a model of homing"),
            Self::BadHeader(reason) => write!(f, "the model's header cannot be read ({reason})"),
            Self::NewerFormat { found } => write!(
                f,
                "the model has format {found}, this homing reads up to {FORMAT_VERSION}: use a newer homing"
            ),
            Self::UnknownKind { found } => write!(
                f,
                "the model is of kind `{found}`, which this homing does not know: use a newer homing"
            ),
            Self::OtherKind { found, expected } => {
                write!(f, "the model is of kind `{found}`, not `{expected}`")
            }
            Self::Weights { name, reason } => write!(f, "the model's `{name}` is wrong: {reason}"),
            Self::TooManyObjects { objects } => write!(
                f,
                "the problem has {objects} objects; a network reads {MAX_OBJECTS} at the most"
            ),
            Self::Graph(error) => write!(f, "{error}"),
            Self::TooFewPlaces { places, needed } => write!(
                f,
                "actions of the problem have up to {} effects and {} conditions; the network was \
                 trained with places for {} and {}: train it on problems that have such actions",
                needed[0], needed[1], places[0], places[1]
            ),
            Self::Config(problem) => write!(f, "the model's configuration is wrong: {problem}"),
            Self::OtherDomain { differences } => {
                write!(f, "the model was trained for another domain:")?;
                for difference in differences {
                    write!(f, "\n  {difference}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for ModelError {}

/// The bytes of numbers as files have them.
pub(crate) fn to_bytes(numbers: &[f32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    let (chunks, _) = bytes.as_chunks::<4>();
    chunks
        .iter()
        .map(|&chunk| f32::from_le_bytes(chunk))
        .collect()
}

impl Model {
    /// The network that the header describes.
    ///
    /// # Errors
    ///
    /// If there is no such network.
    pub fn network(&self) -> Result<Nlm, ModelError> {
        network(&self.header.config, &self.channels()).map_err(ModelError::Config)
    }

    /// The channels of the network's input.
    pub(crate) fn channels(&self) -> Channels {
        Channels::new(
            &self.header.signature,
            self.header.config.types_as_predicates,
            self.header.config.negative_goals,
        )
    }

    /// Whether a domain is the one it was trained for.
    ///
    /// # Errors
    ///
    /// With everything that differs.
    pub fn check_domain(&self, domain: &Domain) -> Result<(), ModelError> {
        self.header.signature.check(domain)
    }

    /// The file's bytes: the same model gives the same bytes.
    ///
    /// # Errors
    ///
    /// If the header describes no network.
    pub fn to_file(&self) -> Result<Vec<u8>, ModelError> {
        let nlm = self.network()?;
        if self.parameters.len() != nlm.parameter_count() {
            return Err(ModelError::Weights {
                name: "parameters".to_owned(),
                reason: format!(
                    "expected {}, found {}",
                    nlm.parameter_count(),
                    self.parameters.len()
                ),
            });
        }
        let bytes = to_bytes(&self.parameters);
        let arrays = nlm.views().iter().map(|view| Array {
            name: view.name.clone(),
            dtype: Dtype::F32,
            shape: view.shape.clone(),
            bytes: &bytes[view.range.start * 4..view.range.end * 4],
        });
        write(arrays.collect(), &self.header, &[&bytes])
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// If they are not a whole model of a format this version knows.
    pub fn from_file(bytes: &[u8]) -> Result<Self, ModelError> {
        let opened = Opened::new(bytes)?;
        opened.expect_kind(ValueKind::Nlm)?;
        let header: ModelHeader = opened.header()?;
        let mut model = Self {
            header,
            parameters: Vec::new(),
        };
        let nlm = model.network()?;
        model.parameters = vec![0.0; nlm.parameter_count()];
        for view in nlm.views() {
            let weights = read_weights(&opened.tensors, &view.name, &view.shape)?;
            model.parameters[view.range.clone()].copy_from_slice(&weights);
        }
        // Last, so that what is wrong in a way that can be named is named.
        opened.check_sum(&model.header, &[&to_bytes(&model.parameters)])?;
        Ok(model)
    }
}

/// The network of a configuration for these channels.
pub(crate) fn network(config: &TrainConfig, channels: &Channels) -> Result<Nlm, ConfigProblems> {
    config.check(channels.count().to_vec())
}
