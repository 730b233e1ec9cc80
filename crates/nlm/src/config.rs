//! The hyperparameters of a network and the shapes that follow from them.
//!
//! In the tree of `docs/nlm.md`: before it. M and L, which decide the way, are here.

use std::fmt;
use std::ops::Range;

/// The largest `max_arity` (M) the kernels accept: 5! permutations are the
/// last that fit a sensible weight matrix.
pub const MAX_ARITY: usize = 5;
/// The largest number of features (Q) a layer may have.
pub const MAX_FEATURES: usize = 64;

/// Which quantifiers `reduce` computes over the last object axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifiers {
    /// The maximum (∃), as in the paper.
    Exists,
    /// The maximum and the minimum (∃ and ∀), concatenated in this order.
    ExistsForall,
}

impl Quantifiers {
    /// How many reduced channels each channel gives: 1 or 2.
    pub fn count(self) -> usize {
        match self {
            Self::Exists => 1,
            Self::ExistsForall => 2,
        }
    }
}

/// What the value of a network is read off, in its last layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Readout {
    /// The nullary output, as in the paper.
    #[default]
    Nullary,
    /// The nullary output and the sum over all objects of the unary one: a value that can grow with
    /// the structure.
    Sum,
}

/// The hyperparameters of a neural logic machine (Sec. "Neural Logic Machines").
///
/// The default is the paper's: M = 3, L = 6, Q = 8, maximum only, tuples that
/// repeat an object kept, skip connections on, the nullary readout;
/// `input_channels` is empty and must be set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NlmConfig {
    /// Channels of the input array z/n for n = 0..=N, N = length - 1.
    pub input_channels: Vec<usize>,
    /// M: the largest arity of an intermediate array.
    pub max_arity: usize,
    /// L: the number of layers with weights.
    pub layers: usize,
    /// Q: the features each compose operation gives.
    pub features: usize,
    /// What `reduce` computes.
    pub quantifiers: Quantifiers,
    /// Whether `reduce` leaves out tuples that repeat an object. A maximum
    /// over no tuple is 0 (nothing exists), a minimum over none is 1.
    pub distinct: bool,
    /// Whether a layer reads the input and every earlier output (true) or the
    /// previous output only (false).
    pub skip_connections: bool,
    /// What the value is.
    pub readout: Readout,
}

impl Default for NlmConfig {
    fn default() -> Self {
        Self {
            input_channels: Vec::new(),
            max_arity: 3,
            layers: 6,
            features: 8,
            quantifiers: Quantifiers::Exists,
            distinct: false,
            skip_connections: true,
            readout: Readout::Nullary,
        }
    }
}

/// One thing that is wrong with an [`NlmConfig`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// `input_channels` has no channel at any arity.
    NoInput,
    /// An input array has more axes than intermediate arrays may have (N > M).
    InputArityAboveMax {
        /// N.
        input_arity: usize,
        /// M.
        max_arity: usize,
    },
    /// M is above [`MAX_ARITY`].
    MaxArityTooLarge {
        /// M.
        max_arity: usize,
    },
    /// There are too few layers to come down from M to 0 (L < M + 1).
    TooFewLayers {
        /// L.
        layers: usize,
        /// M.
        max_arity: usize,
    },
    /// The readout sums over objects, but no array has an axis for them (M = 0).
    NothingToSum,
    /// Q is 0 or above [`MAX_FEATURES`].
    FeaturesOutOfRange {
        /// Q.
        features: usize,
    },
    /// An input array has more channels than an index can name (65,536).
    TooManyChannels {
        /// The arity of that array.
        arity: usize,
        /// Its channels.
        channels: usize,
    },
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoInput => write!(f, "the network has no input channel at any arity"),
            Self::InputArityAboveMax {
                input_arity,
                max_arity,
            } => write!(
                f,
                "the input has arity {input_arity} but max_arity is {max_arity}: \
                 max_arity must be at least the input's arity"
            ),
            Self::MaxArityTooLarge { max_arity } => {
                write!(
                    f,
                    "max_arity is {max_arity}; at most {MAX_ARITY} is supported"
                )
            }
            Self::TooFewLayers { layers, max_arity } => write!(
                f,
                "{layers} layers cannot come down from arity {max_arity} to 0: \
                 layers must be at least max_arity + 1 = {}",
                max_arity + 1
            ),
            Self::NothingToSum => write!(
                f,
                "a readout that sums over objects needs max_arity to be at least 1"
            ),
            Self::FeaturesOutOfRange { features } => {
                write!(
                    f,
                    "features is {features}; it must lie in 1..={MAX_FEATURES}"
                )
            }
            Self::TooManyChannels { arity, channels } => write!(
                f,
                "the input of arity {arity} has {channels} channels; at most 65536 are supported"
            ),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Several [`ConfigError`]s: everything wrong with a configuration at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                write!(f, "; ")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

impl NlmConfig {
    /// N: the largest arity of an input array with a place in the
    /// configuration (its channels may be none).
    pub fn input_arity(&self) -> usize {
        self.input_channels.len().saturating_sub(1)
    }

    /// Every reason why this configuration describes no network.
    pub fn check(&self) -> Result<(), ConfigErrors> {
        let mut errors = Vec::new();
        if self.input_channels.iter().all(|&c| c == 0) {
            errors.push(ConfigError::NoInput);
        }
        if self.input_arity() > self.max_arity {
            errors.push(ConfigError::InputArityAboveMax {
                input_arity: self.input_arity(),
                max_arity: self.max_arity,
            });
        }
        if self.max_arity > MAX_ARITY {
            errors.push(ConfigError::MaxArityTooLarge {
                max_arity: self.max_arity,
            });
        }
        if self.layers < self.max_arity + 1 {
            errors.push(ConfigError::TooFewLayers {
                layers: self.layers,
                max_arity: self.max_arity,
            });
        }
        if self.readout == Readout::Sum && self.max_arity == 0 {
            errors.push(ConfigError::NothingToSum);
        }
        if !(1..=MAX_FEATURES).contains(&self.features) {
            errors.push(ConfigError::FeaturesOutOfRange {
                features: self.features,
            });
        }
        for (arity, &channels) in self.input_channels.iter().enumerate() {
            if channels > 1 << 16 {
                errors.push(ConfigError::TooManyChannels { arity, channels });
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(ConfigErrors(errors))
        }
    }

    /// The largest output arity of each layer: up by one from N to M, then
    /// M, then down by one to 0 at the last, or to 1 where the readout sums.
    pub(crate) fn layer_arities(&self) -> Vec<usize> {
        let least = match self.readout {
            Readout::Nullary => 0,
            Readout::Sum => 1,
        };
        (1..=self.layers)
            .map(|l| {
                (self.input_arity() + l)
                    .min(self.max_arity)
                    .min((self.layers - l).max(least))
            })
            .collect()
    }
}

/// Where the channels of an array that a layer reads come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The network's input.
    Input,
    /// The output of this layer (counted from 0).
    Layer(usize),
}

/// The arrays one layer reads and writes.
#[derive(Clone, Debug)]
pub(crate) struct LayerShape {
    /// Output features: Q, or 1 in the last layer.
    pub(crate) features: usize,
    /// The largest output arity.
    pub(crate) out_arity: usize,
    /// For each arity that exists at this layer: the blocks of channels of
    /// z/n in the order of concatenation.
    pub(crate) reads: Vec<Vec<Block>>,
}

/// A run of channels with one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) source: Source,
    pub(crate) channels: usize,
}

impl LayerShape {
    /// What the compose operation at arity n concatenates: expand(z/n-1), z/n, reduce(z/n+1).
    pub(crate) fn parts(&self, n: usize, quantifiers: Quantifiers) -> Vec<Part> {
        use Operation::{AsItIs, Exists, Expand, Forall};
        let operations = [
            (Expand, n.checked_sub(1)),
            (AsItIs, Some(n)),
            (Exists, Some(n + 1)),
            (Forall, Some(n + 1)),
        ];
        let (mut parts, mut first) = (Vec::new(), 0);
        for (operation, arity) in operations.into_iter().take(2 + quantifiers.count()) {
            let Some(arity) = arity else { continue };
            for block in self.reads.get(arity).into_iter().flatten() {
                let channels = first..first + block.channels;
                first = channels.end;
                parts.push(Part {
                    operation,
                    source: block.source,
                    arity,
                    channels,
                });
            }
        }
        parts
    }

    /// C of the compose operation at `arity`.
    pub(crate) fn compose_channels(&self, arity: usize, quantifiers: Quantifiers) -> usize {
        let parts = self.parts(arity, quantifiers);
        parts.last().map_or(0, |part| part.channels.end)
    }
}

/// What is done to an array to read it at arity n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Copies along a new last axis.
    Expand,
    AsItIs,
    /// The maximum over the last axis.
    Exists,
    /// The minimum over the last axis.
    Forall,
}

/// One part of what a compose operation concatenates: some array z/`arity`, and which channels of
/// the concatenation these are.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) operation: Operation,
    pub(crate) source: Source,
    pub(crate) arity: usize,
    pub(crate) channels: Range<usize>,
}

/// The shapes of every layer of a checked configuration.
pub(crate) fn layer_shapes(config: &NlmConfig) -> Vec<LayerShape> {
    let out_arities = config.layer_arities();
    let mut reads: Vec<Vec<Block>> = config
        .input_channels
        .iter()
        .map(|&channels| {
            vec![Block {
                source: Source::Input,
                channels,
            }]
        })
        .collect();
    let mut shapes = Vec::with_capacity(config.layers);
    for (layer, &out_arity) in out_arities.iter().enumerate() {
        let features = if layer + 1 == config.layers {
            1
        } else {
            config.features
        };
        shapes.push(LayerShape {
            features,
            out_arity,
            reads: reads.clone(),
        });
        if !config.skip_connections {
            reads.clear();
        }
        for arity in 0..=out_arity {
            if arity == reads.len() {
                reads.push(Vec::new());
            }
            reads[arity].push(Block {
                source: Source::Layer(layer),
                channels: features,
            });
        }
    }
    shapes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arities_go_up_stay_and_come_down() {
        let config = |layers| NlmConfig {
            input_channels: vec![2, 6, 2],
            layers,
            ..NlmConfig::default()
        };
        assert_eq!(config(6).layer_arities(), [3, 3, 3, 2, 1, 0]);
        assert_eq!(config(5).layer_arities(), [3, 3, 2, 1, 0]);
        assert_eq!(config(4).layer_arities(), [3, 2, 1, 0]);
        let tall = NlmConfig {
            input_channels: vec![0, 1],
            max_arity: 4,
            layers: 8,
            ..NlmConfig::default()
        };
        assert_eq!(tall.layer_arities(), [2, 3, 4, 4, 3, 2, 1, 0]);
        let summed = NlmConfig {
            readout: Readout::Sum,
            ..config(5)
        };
        assert_eq!(summed.layer_arities(), [3, 3, 2, 1, 1]);
    }

    /// The order of the weights in models on file.
    #[test]
    fn compose_reads_the_arity_below_its_own_and_the_one_above() {
        use Operation::{AsItIs, Exists, Expand, Forall};
        let config = NlmConfig {
            input_channels: vec![2, 6, 1],
            features: 8,
            ..NlmConfig::default()
        };
        let (input, first) = (Source::Input, Source::Layer(0));
        let parts = layer_shapes(&config)[1].parts(1, Quantifiers::ExistsForall);
        let parts = parts.iter();
        let parts = parts.map(|p| (p.operation, p.source, p.arity, p.channels.clone()));
        assert_eq!(
            parts.collect::<Vec<_>>(),
            [
                (Expand, input, 0, 0..2),
                (Expand, first, 0, 2..10),
                (AsItIs, input, 1, 10..16),
                (AsItIs, first, 1, 16..24),
                (Exists, input, 2, 24..25),
                (Exists, first, 2, 25..33),
                (Forall, input, 2, 33..34),
                (Forall, first, 2, 34..42),
            ]
        );
        let nullary = layer_shapes(&config)[0].parts(0, Quantifiers::Exists);
        assert_eq!(nullary.last().unwrap().channels, 2..8);
    }

    #[test]
    fn a_sum_over_objects_needs_an_axis_for_them() {
        let config = NlmConfig {
            input_channels: vec![1],
            max_arity: 0,
            readout: Readout::Sum,
            ..NlmConfig::default()
        };
        let errors = config.check().unwrap_err();
        assert_eq!(errors.0, [ConfigError::NothingToSum]);
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let config = NlmConfig {
            input_channels: vec![0, 0, 0, 0],
            max_arity: 2,
            layers: 2,
            features: 0,
            ..NlmConfig::default()
        };
        let errors = config.check().unwrap_err();
        assert_eq!(
            errors.0,
            [
                ConfigError::NoInput,
                ConfigError::InputArityAboveMax {
                    input_arity: 3,
                    max_arity: 2
                },
                ConfigError::TooFewLayers {
                    layers: 2,
                    max_arity: 2
                },
                ConfigError::FeaturesOutOfRange { features: 0 },
            ]
        );
        assert!(
            errors
                .to_string()
                .contains("layers must be at least max_arity + 1 = 3")
        );
    }
}
