//! Trained models and their files: safetensors, the header in its metadata.

use std::collections::HashMap;
use std::fmt;

use homing_nlm::{MAX_OBJECTS, Nlm, ParamView};
use homing_pddl::Domain;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::config::{ConfigProblems, TrainConfig};
use crate::encode::Channels;
use crate::seal::{holds, seal, unseal};
use crate::signature::{Difference, Signature};

/// The version of the format written. Files of a newer one are refused.
pub const FORMAT_VERSION: u32 = 1;

/// The key of the header in the file's metadata.
const HEADER_KEY: &str = "homing";

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
    /// The weights do not fit the network that the header describes.
    Weights {
        /// The tensor.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The header's configuration makes no network.
    Config(ConfigProblems),
    /// The problem has more objects than a network can tell apart.
    TooManyObjects {
        /// How many it has.
        objects: usize,
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
            Self::Weights { name, reason } => write!(f, "the model's `{name}` is wrong: {reason}"),
            Self::TooManyObjects { objects } => write!(
                f,
                "the problem has {objects} objects; a network reads {MAX_OBJECTS} at the most"
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
        )
    }

    /// Whether a domain is the one it was trained for.
    ///
    /// # Errors
    ///
    /// With everything that differs.
    pub fn check_domain(&self, domain: &Domain) -> Result<(), ModelError> {
        let differences = self.header.signature.differences(&Signature::of(domain));
        if differences.is_empty() {
            Ok(())
        } else {
            Err(ModelError::OtherDomain { differences })
        }
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
        let mut tensors = Vec::new();
        for view in nlm.views() {
            let range = view.range.start * 4..view.range.end * 4;
            let tensor = TensorView::new(Dtype::F32, view.shape.clone(), &bytes[range])
                .map_err(|error| ModelError::Broken(error.to_string()))?;
            tensors.push((view.name.clone(), tensor));
        }
        let header = serde_json::to_string(&self.header)
            .map_err(|error| ModelError::BadHeader(error.to_string()))?;
        let header = seal(&header, [bytes.as_slice()]);
        // One entry alone: a map has no order, and the same model gives the same bytes.
        let metadata = HashMap::from([(HEADER_KEY.to_owned(), header)]);
        safetensors::serialize(tensors, Some(metadata))
            .map_err(|error| ModelError::Broken(error.to_string()))
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// If they are not a whole model of a format this version knows.
    pub fn from_file(bytes: &[u8]) -> Result<Self, ModelError> {
        let broken = |error: safetensors::SafeTensorError| ModelError::Broken(error.to_string());
        let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let header = metadata
            .metadata()
            .as_ref()
            .and_then(|metadata| metadata.get(HEADER_KEY))
            .ok_or(ModelError::NoHeader)?;
        // The version first: the rest may look different in a newer one.
        let bad = |error: serde_json::Error| ModelError::BadHeader(error.to_string());
        let mut value: serde_json::Value = serde_json::from_str(header).map_err(bad)?;
        let sum = unseal(&mut value);
        let version = value
            .get("format_version")
            .and_then(serde_json::Value::as_u64);
        match version {
            Some(found) if found > u64::from(FORMAT_VERSION) => {
                return Err(ModelError::NewerFormat {
                    found: u32::try_from(found).unwrap_or(u32::MAX),
                });
            }
            Some(_) => {}
            None => return Err(ModelError::BadHeader("it has no format version".to_owned())),
        }
        let header: ModelHeader = serde_json::from_value(value).map_err(bad)?;
        let mut model = Self {
            header,
            parameters: Vec::new(),
        };
        let nlm = model.network()?;
        model.parameters = vec![0.0; nlm.parameter_count()];
        for view in nlm.views() {
            let weights = read_view(&tensors, view)?;
            model.parameters[view.range.clone()].copy_from_slice(&weights);
        }
        // Last, so that what is wrong in a way that can be named is named.
        if let Some(sum) = sum {
            let header = serde_json::to_string(&model.header).map_err(bad)?;
            if !holds(&sum, &header, [to_bytes(&model.parameters).as_slice()]) {
                return Err(ModelError::Corrupted);
            }
        }
        Ok(model)
    }
}

/// The network of a configuration for these channels.
pub(crate) fn network(config: &TrainConfig, channels: &Channels) -> Result<Nlm, ConfigProblems> {
    config.check(channels.count().to_vec())
}

fn read_view(tensors: &SafeTensors<'_>, view: &ParamView) -> Result<Vec<f32>, ModelError> {
    let wrong = |reason: String| ModelError::Weights {
        name: view.name.clone(),
        reason,
    };
    let tensor = tensors
        .tensor(&view.name)
        .map_err(|_| wrong("it is missing".to_owned()))?;
    if tensor.dtype() != Dtype::F32 || tensor.shape() != view.shape {
        return Err(wrong(format!(
            "expected F32 {:?}, found {:?} {:?}",
            view.shape,
            tensor.dtype(),
            tensor.shape()
        )));
    }
    let weights = from_bytes(tensor.data());
    if weights.iter().any(|weight| !weight.is_finite()) {
        return Err(wrong("it holds numbers that are not finite".to_owned()));
    }
    Ok(weights)
}
