//! How the linear maps of a network are laid out for the kernels.
//!
//! The kernels keep, for each arity n, two tensors: `own`, shape `[O^n][own columns]`, the channels
//! of z/n from the input and every layer, and `red`, shape `[O^n][red columns]`, what reduce makes
//! of z/n+1. A layer reads a contiguous range of each.
//! Linear maps commute with copying, so the part of compose that reads
//! expand(z/n-1) becomes a map at arity n-1 (`expand`) whose result is
//! broadcast.
//!
//! In the tree of `docs/nlm.md`: by class, values and gradients; made once a network.

use crate::config::{LayerShape, NlmConfig, Operation, Part, Source};
use crate::params::{ParamLayout, factorial, permutations};
use std::ops::Range;

/// Features are in lanes, and a vector holds eight: every output has a multiple of them.
pub(crate) const BLOCK: usize = 8;

pub(crate) fn padded(features: usize) -> usize {
    features.next_multiple_of(BLOCK)
}

/// A permutation-summed linear map at one arity:
/// y[t][f] = Σ_π Σ_c w[π][c][f] x[t∘π][c].
#[derive(Clone, Debug)]
pub(crate) struct MapPlan {
    /// The arity of its input and output tuples.
    pub(crate) arity: usize,
    /// The columns it reads.
    pub(crate) columns: Range<usize>,
    /// The first of these columns that needs a gradient.
    pub(crate) learned_from: usize,
    /// Output features, a multiple of [`BLOCK`].
    pub(crate) outputs: usize,
    /// `[π][c][f / BLOCK]`: the parameters of [`BLOCK`] outputs.
    pub(crate) blocks: Vec<ParamBlock>,
}

/// The parameters of [`BLOCK`] outputs: they follow one another, and padding comes last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ParamBlock {
    first: u32,
    count: u32,
}

impl ParamBlock {
    /// Where they are in the flat buffer.
    #[inline]
    pub(crate) fn range(self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// Their values, zero for padding.
    #[inline]
    pub(crate) fn values(self, flat: &[f32]) -> [f32; BLOCK] {
        let values = &flat[self.range()];
        // Nearly always a whole block.
        if let Some(all) = values.first_chunk() {
            return *all;
        }
        let mut padded = [0.0; BLOCK];
        padded[..values.len()].copy_from_slice(values);
        padded
    }

    /// Adds to what belongs to these parameters.
    #[inline]
    pub(crate) fn add(self, d: &[f32; BLOCK], flat: &mut [f32]) {
        let sums = &mut flat[self.range()];
        if let Some(all) = sums.first_chunk_mut::<BLOCK>() {
            for (sum, d) in all.iter_mut().zip(d) {
                *sum += d;
            }
            return;
        }
        for (sum, d) in sums.iter_mut().zip(d) {
            *sum += d;
        }
    }
}

/// The maps of one compose operation.
#[derive(Clone, Debug)]
pub(crate) struct ComposePlan {
    /// Reads `own[n-1]`, gives n * Q' features: for each position k of an
    /// n-tuple, what the tuple without position k contributes.
    pub(crate) expand: Option<MapPlan>,
    /// Reads `own[n]`.
    pub(crate) own: Option<MapPlan>,
    /// Reads `red[n]`.
    pub(crate) red: Option<MapPlan>,
    /// The parameters of the bias.
    pub(crate) bias: Range<usize>,
    /// Where the output goes in `own[n]`; `None` where no later layer reads
    /// it but through reduce.
    pub(crate) column: Option<usize>,
    /// Where its reduction goes in `red[n-1]`; `None` at arity 0, and where nothing reads it.
    pub(crate) red_column: Option<usize>,
}

/// Everything about the shape of a network up to arity 3 that the kernels need.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Q' = Q rounded up to a multiple of [`BLOCK`].
    pub(crate) features: usize,
    pub(crate) quantifiers: usize,
    pub(crate) distinct: bool,
    pub(crate) max_arity: usize,
    pub(crate) input_channels: Vec<usize>,
    /// Columns of `own[n]`, `red[n]`, n = 0..=M.
    pub(crate) own_columns: Vec<usize>,
    pub(crate) red_columns: Vec<usize>,
    /// `[layer][arity]`.
    pub(crate) layers: Vec<Vec<ComposePlan>>,
}

/// Where the channels of each source start in the columns of one arity.
#[derive(Clone, Debug, Default)]
struct Columns {
    starts: Vec<(Source, usize, usize)>,
    total: usize,
}

impl Columns {
    fn push(&mut self, source: Source, width: usize) {
        self.starts.push((source, self.total, width));
        self.total += width;
    }

    fn start(&self, source: Source) -> usize {
        self.find(source).0
    }

    fn find(&self, source: Source) -> (usize, usize) {
        let mut all = self.starts.iter();
        let found = all.find(|s| s.0 == source);
        let &(_, start, width) = found.expect("a source a layer reads has columns");
        (start, width)
    }
}

/// One channel a map reads: its row in the weight matrix and its column.
struct Channel {
    row: usize,
    column: usize,
}

impl Plan {
    pub(crate) fn new(config: &NlmConfig, shapes: &[LayerShape], layout: &ParamLayout) -> Self {
        let features = padded(config.features);
        let quantifiers = config.quantifiers.count();
        let max_arity = config.max_arity;
        let mut own = vec![Columns::default(); max_arity + 2];
        let mut red = vec![Columns::default(); max_arity + 2];
        for (arity, &channels) in config.input_channels.iter().enumerate() {
            own[arity].push(Source::Input, input_columns(channels, arity));
            if arity > 0 {
                red[arity - 1].push(Source::Input, channels * quantifiers);
            }
        }
        // What only reduce reads is kept apart, not in a column.
        let pure = |layer: usize, arity: usize| {
            shapes
                .get(layer + 1)
                .is_none_or(|next| next.out_arity < arity)
        };
        // The last layer is read by nobody.
        let is_reduced = |layer: usize, arity: usize| arity > 0 && layer + 1 < shapes.len();
        for (layer, shape) in shapes.iter().enumerate() {
            for arity in 0..=shape.out_arity {
                if !pure(layer, arity) {
                    own[arity].push(Source::Layer(layer), features);
                }
                if is_reduced(layer, arity) {
                    red[arity - 1].push(Source::Layer(layer), features * quantifiers);
                }
            }
        }
        let layers = shapes
            .iter()
            .enumerate()
            .map(|(layer, shape)| {
                (0..=shape.out_arity)
                    .map(|arity| {
                        let builder = MapBuilder {
                            parts: shape.parts(arity, config.quantifiers),
                            features: shape.features,
                            arity,
                            per_copy: shape.compose_channels(arity, config.quantifiers),
                            weight: layout.weight(layer, arity).start,
                        };
                        let source = Source::Layer(layer);
                        ComposePlan {
                            expand: builder.expand(&own),
                            own: builder.of([Operation::AsItIs; 2], &own[arity]),
                            red: builder.of([Operation::Exists, Operation::Forall], &red[arity]),
                            bias: layout.bias(layer, arity),
                            column: (!pure(layer, arity)).then(|| own[arity].start(source)),
                            red_column: is_reduced(layer, arity)
                                .then(|| red[arity - 1].start(source)),
                        }
                    })
                    .collect()
            })
            .collect();
        Self {
            features,
            quantifiers,
            distinct: config.distinct,
            max_arity,
            input_channels: config.input_channels.clone(),
            own_columns: own[..=max_arity].iter().map(|c| c.total).collect(),
            red_columns: red[..=max_arity].iter().map(|c| c.total).collect(),
            layers,
        }
    }

    /// Columns of `own` that hold the input at an arity: its channels, and padding behind them.
    pub(crate) fn input_columns(&self, arity: usize) -> usize {
        input_columns(self.inputs(arity), arity)
    }

    /// Input channels at an arity, 0 beyond N.
    pub(crate) fn inputs(&self, arity: usize) -> usize {
        self.input_channels.get(arity).copied().unwrap_or(0)
    }
}

/// Coefficients of triples lie in blocks of columns, of which each layer begins one.
fn input_columns(channels: usize, arity: usize) -> usize {
    if arity == 3 {
        padded(channels)
    } else {
        channels
    }
}

struct MapBuilder {
    parts: Vec<Part>,
    features: usize,
    arity: usize,
    /// C: rows of the weight matrix a permuted copy takes.
    per_copy: usize,
    weight: usize,
}

impl MapBuilder {
    /// The channels of the parts with these operations.
    fn channels(&self, operations: [Operation; 2], columns: &Columns) -> Vec<Channel> {
        let parts = self.parts.iter();
        let parts = parts.filter(|p| operations.contains(&p.operation) && !p.channels.is_empty());
        let channels = parts.flat_map(|part| {
            let (mut start, width) = columns.find(part.source);
            if part.operation == Operation::Forall {
                start += width / 2;
            }
            let places = part.channels.clone().zip(start..);
            places.map(|(row, column)| Channel { row, column })
        });
        channels.collect()
    }

    fn first_learned(columns: &Columns) -> usize {
        match columns.starts.first() {
            Some(&(Source::Input, start, width)) => start + width,
            _ => 0,
        }
    }

    fn map(
        &self,
        channels: &[Channel],
        columns: &Columns,
        arity: usize,
        outputs: usize,
        target: impl Fn(usize) -> (usize, usize),
    ) -> Option<MapPlan> {
        let start = channels.iter().map(|c| c.column).min()?;
        let last = channels.iter().map(|c| c.column).max()?;
        // To the end of the block, padding included: gradients come in tiles.
        let learned_from = Self::first_learned(columns).max(start);
        let end = if last < learned_from {
            last + 1
        } else {
            learned_from + padded(last + 1 - learned_from)
        };
        let (width, features) = (end - start, self.features);
        let mut blocks = vec![ParamBlock::default(); factorial(arity) * width * outputs / BLOCK];
        for copy in 0..factorial(self.arity) {
            let (permutation, first_output) = target(copy);
            for channel in channels {
                let column = permutation * width + channel.column - start;
                let to = &mut blocks[(column * outputs + first_output) / BLOCK..];
                let row = copy * self.per_copy + channel.row;
                for (f, block) in (0..features).step_by(BLOCK).zip(to) {
                    debug_assert_eq!(block.count, 0);
                    block.first = (self.weight + row * features + f) as u32;
                    block.count = (features - f).min(BLOCK) as u32;
                }
            }
        }
        Some(MapPlan {
            arity,
            columns: start..end,
            learned_from: learned_from.min(end),
            outputs,
            blocks,
        })
    }

    fn expand(&self, own: &[Columns]) -> Option<MapPlan> {
        let n = self.arity.checked_sub(1)?;
        let channels = self.channels([Operation::Expand; 2], &own[n]);
        let width = padded(self.features);
        let smaller = permutations(n);
        let copies = permutations(self.arity);
        self.map(&channels, &own[n], n, self.arity * width, |copy| {
            // The copy reads positions p[0..n]; p[n] is the one it leaves out.
            let p = &copies[copy];
            let left_out = p[n];
            let rest = p[..n].iter();
            let rest: Vec<usize> = rest.map(|&i| i - usize::from(i > left_out)).collect();
            let order = smaller.iter().position(|s| *s == rest);
            (order.expect("a permutation of the rest"), left_out * width)
        })
    }

    /// The map of parts with these operations, over tuples of the arity of compose.
    fn of(&self, operations: [Operation; 2], columns: &Columns) -> Option<MapPlan> {
        let channels = self.channels(operations, columns);
        let outputs = padded(self.features);
        self.map(&channels, columns, self.arity, outputs, |copy| (copy, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Quantifiers, Readout, layer_shapes};

    #[test]
    fn every_parameter_has_exactly_one_place() {
        for (skip, features) in [(true, 8), (false, 8), (true, 3), (false, 1)] {
            let config = NlmConfig {
                input_channels: vec![1, 0, 2],
                max_arity: 3,
                layers: 6,
                features,
                quantifiers: Quantifiers::ExistsForall,
                distinct: false,
                skip_connections: skip,
                readout: [Readout::Nullary, Readout::Sum][usize::from(features == 8)],
            };
            let shapes = layer_shapes(&config);
            let layout = ParamLayout::new(&config, &shapes);
            let plan = Plan::new(&config, &shapes, &layout);
            let mut seen = vec![0; layout.total];
            for compose in plan.layers.iter().flatten() {
                for p in compose.bias.clone() {
                    seen[p] += 1;
                }
                for map in [&compose.expand, &compose.own, &compose.red]
                    .into_iter()
                    .flatten()
                {
                    for p in map.blocks.iter().flat_map(|block| block.range()) {
                        seen[p] += 1;
                    }
                    assert_eq!((map.columns.end - map.learned_from) % BLOCK, 0);
                }
            }
            assert!(seen.iter().all(|&n| n == 1));
        }
    }
}
