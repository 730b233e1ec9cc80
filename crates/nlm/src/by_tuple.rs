//! Values and gradients tuple by tuple: the way of networks that classes do not serve.
//!
//! For every arity, and nothing but products of matrices: permuting commutes with a linear map, so
//!
//! ```text
//! out(t) = sigmoid( b + Σ_π (W_π in)(t∘π) ),
//! ```
//!
//! where all W_π are applied to each array at once, as it is, and what comes out is read where t∘π
//! is; of expand(z/n-1) where t∘π without its last object is. Nothing is shared between tuples that
//! look alike, so it is slower than by class. One structure at a time.
//!
//! In the tree of `docs/nlm.md`: BY TUPLE, of `evaluate` and of `backward`.

use crate::config::{Operation, Part, Source};
use crate::kernels::Level;
use crate::kernels::product::{multiply_add, multiply_transposed_add, transposed_multiply_add};
use crate::kernels::rows::Sigmoids;
use crate::kernels::view::RowsMut;
use crate::nlm::Nlm;
use crate::params::{factorial, permutations};
use crate::plan::BLOCK;
use crate::structure::Structure;
use crate::tuning::INDICES;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tuples of one arity that can matter, in lexicographic order, one a row.
///
/// With `distinct`, a tuple that repeats an object is read only by tuples that
/// repeat it too, and by no reduction: it never reaches the value, so it has no row.
pub(crate) struct Tuples {
    /// `[tuple as a number in base O]`: its row, or [`NO_ROW`].
    row_of: Vec<u32>,
    /// `[π][row]`: the row of the tuple ∘ π, π in lexicographic order.
    permuted: Vec<Vec<u32>>,
    rows: usize,
    /// How many tuples differ from one in nothing but their last object; they follow one another.
    per: usize,
}

const NO_ROW: u32 = u32::MAX;

fn number(tuple: impl Iterator<Item = usize>, objects: usize) -> usize {
    tuple.fold(0, |at, x| at * objects + x)
}

impl Tuples {
    fn new(objects: usize, distinct: bool, arity: usize) -> Self {
        let mut row_of = vec![NO_ROW; objects.pow(arity as u32)];
        let mut tuples: Vec<Vec<usize>> = Vec::new();
        for (index, row) in row_of.iter_mut().enumerate() {
            let power = |i: usize| objects.pow((arity - 1 - i) as u32);
            let t: Vec<usize> = (0..arity).map(|i| index / power(i) % objects).collect();
            if !(distinct && (1..arity).any(|i| t[..i].contains(&t[i]))) {
                *row = tuples.len() as u32;
                tuples.push(t);
            }
        }
        let permuted = permutations(arity).into_iter().map(|p| {
            let of = |t: &Vec<usize>| row_of[number(p.iter().map(|&j| t[j]), objects)];
            tuples.iter().map(of).collect()
        });
        let taken = if distinct { arity.saturating_sub(1) } else { 0 };
        Self {
            permuted: permuted.collect(),
            rows: tuples.len(),
            per: objects.saturating_sub(taken),
            row_of,
        }
    }
}

/// The tuples of every arity, by object count, largest arity and whether objects are distinct.
#[derive(Default)]
pub(crate) struct TupleIndices(BTreeMap<(usize, usize, bool), Arc<Vec<Tuples>>>);

impl TupleIndices {
    fn get(&mut self, objects: usize, nlm: &Nlm) -> Arc<Vec<Tuples>> {
        if self.0.len() > INDICES {
            self.0.clear();
        }
        let (arity, distinct) = (nlm.config().max_arity, nlm.config().distinct);
        let new = |n| Tuples::new(objects, distinct, n);
        let all = self.0.entry((objects, arity, distinct));
        all.or_insert_with(|| Arc::new((0..=arity).map(new).collect()))
            .clone()
    }
}

/// The weights of every compose operation, `[layer][arity]`, `[channel][π][feature]`.
pub(crate) type Weights = Vec<Vec<Vec<f32>>>;

/// From `[π][channel][feature]`.
pub(crate) fn weights(nlm: &Nlm, parameters: &[f32]) -> Weights {
    let of = |(layer, arity): (usize, usize)| {
        let flat = &parameters[nlm.layout().weight(layer, arity)];
        let mut to = vec![0.0; flat.len()];
        let features = nlm.shapes()[layer].features;
        for (from, at) in flat
            .chunks_exact(features)
            .zip(places(flat.len(), arity, features))
        {
            to[at..at + features].copy_from_slice(from);
        }
        to
    };
    let shapes = nlm.shapes().iter().enumerate();
    let layer = |(layer, out_arity)| (0..=out_arity).map(|n| of((layer, n))).collect();
    shapes
        .map(|(l, shape)| layer((l, shape.out_arity)))
        .collect()
}

/// Where in `[channel][π][feature]` the rows of `[π][channel][feature]` are.
fn places(len: usize, arity: usize, features: usize) -> impl Iterator<Item = usize> {
    let copies = factorial(arity);
    let channels = len / features / copies;
    let row = move |row: usize| (row % channels * copies + row / channels) * features;
    (0..copies * channels).map(row)
}

/// An array z/n of the input or of a layer, `[row][channels]`, its maxima and minima over the last
/// object, and the gradients of all three.
#[derive(Default)]
struct Array {
    channels: usize,
    of: [Vec<f32>; 3],
    d: [Vec<f32>; 3],
}

/// What a compose operation reads of the array of a part: of which source, z itself, its maxima or
/// its minima, and whether of the tuple without its last object.
fn read(part: &Part) -> (usize, usize, bool) {
    let source = match part.source {
        Source::Input => 0,
        Source::Layer(layer) => layer + 1,
    };
    match part.operation {
        Operation::Expand => (source, 0, true),
        Operation::AsItIs => (source, 0, false),
        Operation::Exists => (source, 1, false),
        Operation::Forall => (source, 2, false),
    }
}

/// The arrays of one structure, `[source][arity]`: of the input, then of every layer.
pub(crate) struct ByTuple<'a> {
    nlm: &'a Nlm,
    parameters: &'a [f32],
    weights: &'a Weights,
    level: Level,
    tuples: Arc<Vec<Tuples>>,
    arrays: Vec<Vec<Array>>,
}

impl<'a> ByTuple<'a> {
    /// Runs the network on a structure.
    pub(crate) fn new(
        nlm: &'a Nlm,
        (parameters, weights): (&'a [f32], &'a Weights),
        level: Level,
        indices: &mut TupleIndices,
        structure: &Structure,
    ) -> Self {
        let (config, objects) = (nlm.config(), structure.objects());
        let mut new = Self {
            nlm,
            parameters,
            weights,
            level,
            tuples: indices.get(objects, nlm),
            arrays: Vec::new(),
        };
        let inputs = config.input_channels.iter().enumerate();
        let inputs: Vec<Array> = inputs
            .map(|(n, &channels)| {
                let mut z = vec![0.0; new.tuples[n].rows * channels];
                for (channel, x) in structure.propositions(n) {
                    let at = number(x.iter().map(|&x| usize::from(x)), objects);
                    let row = new.tuples[n].row_of[at];
                    if row != NO_ROW {
                        z[row as usize * channels + channel] = 1.0;
                    }
                }
                new.array(n, channels, z)
            })
            .collect();
        new.arrays.push(inputs);
        for (layer, shape) in nlm.shapes().iter().enumerate() {
            let composed = (0..=shape.out_arity).map(|n| new.compose(layer, n));
            let composed = composed.collect();
            new.arrays.push(composed);
        }
        new
    }

    /// The value: the one feature of the last layer, all objects together where it has one a piece.
    pub(crate) fn value(&self) -> f32 {
        let outputs = &self.arrays[self.arrays.len() - 1];
        let value = outputs[0].of[0][0];
        match outputs.get(1) {
            Some(unary) => sum(value, unary.of[0].iter().copied()),
            None => value,
        }
    }

    /// With what reduce makes of it.
    fn array(&self, arity: usize, channels: usize, z: Vec<f32>) -> Array {
        let mut of = [z, Vec::new(), Vec::new()];
        if arity > 0 {
            let (targets, per) = (self.tuples[arity - 1].rows, self.tuples[arity].per);
            // Every entry lies in [0, 1]: nothing exists, everything holds of nothing.
            let (mut max, mut min) = (vec![0.0f32; targets * channels], vec![]);
            min.resize(targets * channels, 1.0f32);
            for (row, z) in of[0].chunks_exact(channels.max(1)).enumerate() {
                let target = row / per * channels..(row / per + 1) * channels;
                let both = max[target.clone()].iter_mut().zip(&mut min[target]);
                for ((max, min), &z) in both.zip(z) {
                    (*max, *min) = (max.max(z), min.min(z));
                }
            }
            (of[1], of[2]) = (max, min);
        }
        let d = of.each_ref().map(|of| vec![0.0; of.len()]);
        Array { channels, of, d }
    }

    /// What a compose operation reads, in the order of its weights.
    fn parts(&self, layer: usize, n: usize) -> Vec<Part> {
        self.nlm.shapes()[layer].parts(n, self.nlm.config().quantifiers)
    }

    /// Zeros for what all W_π give at every tuple without its last object, and at every tuple.
    fn products(&self, n: usize, width: usize) -> [Vec<f32>; 2] {
        let below = n.checked_sub(1).map_or(0, |below| self.tuples[below].rows);
        [below, self.tuples[n].rows].map(|rows| vec![0.0; rows * width])
    }

    /// Where these are that a row reads, of so many features.
    fn places(&self, n: usize, row: usize, features: usize) -> impl Iterator<Item = [usize; 2]> {
        let Tuples { permuted, per, .. } = &self.tuples[n];
        let width = permuted.len() * features;
        permuted.iter().enumerate().map(move |(p, permuted)| {
            let row = permuted[row] as usize;
            [row / per, row].map(|row| row * width + p * features)
        })
    }

    fn compose(&self, layer: usize, n: usize) -> Array {
        let weights = &self.weights[layer][n];
        let bias = &self.parameters[self.nlm.layout().bias(layer, n)];
        let (features, width) = (bias.len(), bias.len() * factorial(n));
        let mut products = self.products(n, width);
        for part in self.parts(layer, n) {
            let (source, which, expand) = read(&part);
            let x = &self.arrays[source][part.arity].of[which];
            let y = &mut products[usize::from(!expand)];
            let weights = &weights[part.channels.start * width..part.channels.end * width];
            let shape = [y.len() / width, part.channels.len(), width];
            multiply_add(self.level.simd(), x, weights, y, shape);
        }
        let mut z = bias.repeat(self.tuples[n].rows);
        for (row, z) in z.chunks_exact_mut(features).enumerate() {
            for [below, own] in self.places(n, row, features) {
                add(z, &products[1][own..own + features]);
                if n > 0 {
                    add(z, &products[0][below..below + features]);
                }
            }
        }
        if layer + 1 < self.nlm.config().layers {
            let len = z.len();
            z.resize(len.next_multiple_of(BLOCK), 0.0);
            self.level.run(&Sigmoids {
                len: z.len(),
                x: RowsMut::new(&mut z, 0),
            });
            z.truncate(len);
        }
        self.array(n, features, z)
    }

    /// Adds to `gradient` the gradient of `d_value` times the value.
    pub(crate) fn backward(mut self, d_value: f32, gradient: &mut [f32]) {
        let last = self.arrays.len() - 1;
        for output in &mut self.arrays[last] {
            output.d[0].fill(d_value);
        }
        for source in (1..=last).rev() {
            for n in 0..self.arrays[source].len() {
                let mut array = std::mem::take(&mut self.arrays[source][n]);
                if n > 0 {
                    share(&mut array, self.tuples[n].per);
                }
                if source < last {
                    for (d, z) in array.d[0].iter_mut().zip(&array.of[0]) {
                        *d *= z * (1.0 - z);
                    }
                }
                self.compose_gradient(source - 1, n, &array, gradient);
            }
        }
    }

    /// From the gradient of the pre-activations of a compose operation to its weights and to what
    /// it read.
    fn compose_gradient(&mut self, layer: usize, n: usize, output: &Array, gradient: &mut [f32]) {
        let (layout, simd) = (self.nlm.layout(), self.level.simd());
        let weights = &self.weights[layer][n];
        let (features, width) = (output.channels, output.channels * factorial(n));
        let mut d_products = self.products(n, width);
        let rows = output.d[0].chunks_exact(features).enumerate();
        // A maximum gives its gradient to few entries, so many rows have none.
        for (row, d) in rows.filter(|(_, d)| d.iter().any(|&d| d != 0.0)) {
            add(&mut gradient[layout.bias(layer, n)], d);
            for [below, own] in self.places(n, row, features) {
                add(&mut d_products[1][own..own + features], d);
                if n > 0 {
                    add(&mut d_products[0][below..below + features], d);
                }
            }
        }
        let mut dw = vec![0.0; weights.len()];
        for part in self.parts(layer, n) {
            let (source, which, expand) = read(&part);
            let array = &mut self.arrays[source][part.arity];
            let dy = &d_products[usize::from(!expand)];
            let of = part.channels.start * width..part.channels.end * width;
            let (rows, channels) = (dy.len() / width, part.channels.len());
            let dw = &mut dw[of.clone()];
            transposed_multiply_add(simd, &array.of[which], dy, dw, [channels, rows, width]);
            if source > 0 {
                let dx = &mut array.d[which];
                multiply_transposed_add(simd, dy, &weights[of], dx, [rows, width, channels]);
            }
        }
        let sums = gradient[layout.weight(layer, n)].chunks_exact_mut(features);
        for (sums, at) in sums.zip(places(dw.len(), n, features)) {
            add(sums, &dw[at..at + features]);
        }
    }
}

/// A value to which every object adds. In double precision: the order of objects should not be seen.
pub(crate) fn sum(nullary: f32, unary: impl Iterator<Item = f32>) -> f32 {
    unary.fold(f64::from(nullary), |sum, v| sum + f64::from(v)) as f32
}

/// Adds, whole blocks first: most have one.
fn add(sums: &mut [f32], d: &[f32]) {
    let (blocks, rest) = sums.as_chunks_mut::<BLOCK>();
    let (d_blocks, d_rest) = d.as_chunks::<BLOCK>();
    for (block, d) in blocks.iter_mut().zip(d_blocks) {
        *block = std::array::from_fn(|i| block[i] + d[i]);
    }
    for (sum, d) in rest.iter_mut().zip(d_rest) {
        *sum += d;
    }
}

/// Gives the gradients of maxima and minima over `per` rows to those that attain them, in equal
/// parts.
fn share(array: &mut Array, per: usize) {
    let channels = array.channels;
    let [z, best @ ..] = &array.of;
    let [d, d_best @ ..] = &mut array.d;
    for (best, d_best) in best.iter().zip(d_best) {
        for (i, (&best, &d_best)) in best.iter().zip(&*d_best).enumerate() {
            let first = i / channels * per * channels + i % channels;
            let members = (0..per).map(|k| first + k * channels);
            let winners = members.filter(|&at| z[at] == best);
            let share = d_best / winners.clone().count() as f32;
            if d_best != 0.0 {
                winners.for_each(|at| d[at] += share);
            }
        }
    }
}
