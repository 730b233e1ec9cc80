//! Models of counts and their files: safetensors, the header in its metadata.
//!
//! The array `makings` holds how each colour was made ([`stream`](super::stream)), `weights` one
//! whole number for each head and colour. Colours themselves are not stored: they are made again.

use homing_planner::heuristic::HeuristicKind;
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use super::model::CountsFunction;
use super::relations::GraphSpec;
use super::stream::{decode, encode};
use super::table::{HEADS, Weights};
use crate::container::{Array, Opened, write};
use crate::learn::{LearnConfig, LearnReport};
use crate::model::{FORMAT_VERSION, ModelError};
use crate::signature::Signature;
use crate::value::ValueKind;

/// Everything about a model of counts but its colours and weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountsHeader {
    /// The version of the format.
    pub format_version: u32,
    /// [`ValueKind::Counts`]
    pub kind: ValueKind,
    /// The domain's name; another name with the same signature will do.
    pub domain: String,
    /// What it expects of a domain.
    pub signature: Signature,
    /// How it was learnt.
    pub config: LearnConfig,
    /// The seed of the run.
    pub seed: u64,
    /// The version of homing that learnt it.
    pub revision: String,
    /// What the run came to.
    pub report: LearnReport,
    /// How graphs are drawn.
    pub graph: GraphSpec,
    /// How many orders it offers.
    pub heads: usize,
    /// The head that a search with one queue goes by.
    pub main_head: usize,
    /// Classical heuristics among its features, each with its weights by head.
    pub heuristics: Vec<(HeuristicKind, [i32; 2])>,
    /// Names that the array `makings` refers to.
    pub names: Vec<String>,
}

/// What was learnt about a domain by counting colours.
#[derive(Clone, Debug, PartialEq)]
pub struct CountsModel {
    /// Everything but colours and weights.
    pub header: CountsHeader,
    /// Colours and weights.
    pub function: CountsFunction,
}

/// Names of the arrays.
const MAKINGS: &str = "makings";
const WEIGHTS: &str = "weights";

impl CountsModel {
    /// A model of a function that was fitted, with where it comes from.
    pub(crate) fn new(
        function: CountsFunction,
        domain: &homing_pddl::Domain,
        config: LearnConfig,
        seed: u64,
        report: LearnReport,
    ) -> Self {
        let (names, _) = encode(function.makings());
        Self {
            header: CountsHeader {
                format_version: FORMAT_VERSION,
                kind: ValueKind::Counts,
                domain: domain.name.clone(),
                signature: Signature::of(domain),
                config,
                seed,
                revision: env!("CARGO_PKG_VERSION").to_owned(),
                report,
                graph: function.spec().clone(),
                heads: function.heads(),
                main_head: function.main_head(),
                heuristics: function.heuristics().to_vec(),
                names,
            },
            function,
        }
    }

    /// The file's bytes: the same model gives the same bytes.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn to_file(&self) -> Result<Vec<u8>, ModelError> {
        let (_, stream) = encode(self.function.makings());
        let weights: Vec<i32> = self
            .function
            .makings()
            .iter()
            .flat_map(|making| self.function.weight(making.colour())[..self.header.heads].to_vec())
            .collect();
        let stream: Vec<u8> = stream.iter().flat_map(|n| n.to_le_bytes()).collect();
        let weights: Vec<u8> = weights.iter().flat_map(|n| n.to_le_bytes()).collect();
        let arrays = vec![
            Array {
                name: MAKINGS.to_owned(),
                dtype: Dtype::U32,
                shape: vec![stream.len() / 4],
                bytes: &stream,
            },
            Array {
                name: WEIGHTS.to_owned(),
                dtype: Dtype::I32,
                shape: vec![self.function.makings().len(), self.header.heads],
                bytes: &weights,
            },
        ];
        write(arrays, &self.header, &[&stream, &weights])
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    ///
    /// If they are not a whole model of counts of a format this version knows.
    pub fn from_file(bytes: &[u8]) -> Result<Self, ModelError> {
        let opened = Opened::new(bytes)?;
        opened.expect_kind(ValueKind::Counts)?;
        let header: CountsHeader = opened.header()?;
        if !(1..=HEADS).contains(&header.heads) || header.main_head >= header.heads {
            return Err(ModelError::BadHeader("its heads are wrong".to_owned()));
        }
        let problems = header.config.problems();
        if !problems.is_empty() || header.graph.rounds > 10 {
            return Err(ModelError::BadHeader(format!(
                "its configuration is wrong: {}",
                problems.join("; ")
            )));
        }
        let stream_bytes = array(&opened.tensors, MAKINGS, Dtype::U32)?;
        let weight_bytes = array(&opened.tensors, WEIGHTS, Dtype::I32)?;
        let (chunks, _) = stream_bytes.as_chunks::<4>();
        let stream: Vec<u32> = chunks.iter().map(|&c| u32::from_le_bytes(c)).collect();
        let made = decode(&header.names, &stream).ok_or_else(|| ModelError::Weights {
            name: MAKINGS.to_owned(),
            reason: "it does not describe colours".to_owned(),
        })?;
        let (chunks, _) = weight_bytes.as_chunks::<4>();
        if chunks.len() != made.len() * header.heads {
            return Err(ModelError::Weights {
                name: WEIGHTS.to_owned(),
                reason: format!(
                    "expected {} of {} heads, found {}",
                    made.len(),
                    header.heads,
                    chunks.len()
                ),
            });
        }
        let mut weights: Vec<(u64, Weights)> = Vec::with_capacity(made.len());
        for ((colour, _), chunks) in made.iter().zip(chunks.chunks_exact(header.heads)) {
            let mut by_head = [0; HEADS];
            for (weight, &chunk) in by_head.iter_mut().zip(chunks) {
                *weight = i32::from_le_bytes(chunk);
            }
            weights.push((*colour, by_head));
        }
        // A colour that comes twice, or a weight no fit would give, is damage that the seal finds
        // as well; but a file without one must not make us panic.
        let mut colours: Vec<u64> = weights.iter().map(|&(colour, _)| colour).collect();
        colours.sort_unstable();
        let twice = colours.windows(2).any(|pair| pair[0] == pair[1]);
        let absurd = weights
            .iter()
            .flat_map(|(_, w)| w)
            .any(|w| w.abs() > MAX_WEIGHT);
        if twice || absurd {
            return Err(ModelError::Weights {
                name: WEIGHTS.to_owned(),
                reason: "a colour comes twice or weighs too much".to_owned(),
            });
        }
        // Last, so that what is wrong in a way that can be named is named.
        opened.check_sum(&header, &[stream_bytes, weight_bytes])?;
        let function = CountsFunction::new(header.graph.clone(), header.heads, weights)
            .with_heuristics(header.heuristics.clone())
            .with_main_head(header.main_head)
            .with_makings(made.into_iter().map(|(_, making)| making).collect());
        Ok(Self { header, function })
    }
}

/// Weights beyond this are no fit's: sums of them might overflow.
const MAX_WEIGHT: i32 = 1 << 24;

fn array<'b>(tensors: &SafeTensors<'b>, name: &str, dtype: Dtype) -> Result<&'b [u8], ModelError> {
    let wrong = |reason: String| ModelError::Weights {
        name: name.to_owned(),
        reason,
    };
    let tensor = tensors
        .tensor(name)
        .map_err(|_| wrong("it is missing".to_owned()))?;
    if tensor.dtype() != dtype {
        return Err(wrong(format!(
            "expected {dtype:?}, found {:?}",
            tensor.dtype()
        )));
    }
    Ok(tensor.data())
}
