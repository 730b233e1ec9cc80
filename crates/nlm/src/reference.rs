//! The network written plainly, in f64, in the paper's words: expand, reduce,
//! permute, concatenate, one linear map, sigmoid. Slow and obviously right; the
//! fast kernels are tested against it.

use crate::config::{Quantifiers, Source};
use crate::nlm::Nlm;
use crate::params::permutations;
use crate::structure::Structure;

/// An array z/n of shape `[O; n] x [channels]`, row-major, channels last.
#[derive(Clone, Debug)]
struct Array {
    arity: usize,
    channels: usize,
    data: Vec<f64>,
}

/// The objects of the tuple with this row-major index.
fn tuple(mut index: usize, arity: usize, objects: usize) -> Vec<usize> {
    let mut t = vec![0; arity];
    for x in t.iter_mut().rev() {
        *x = index % objects;
        index /= objects;
    }
    t
}

fn index(t: &[usize], objects: usize) -> usize {
    t.iter().fold(0, |i, &x| i * objects + x)
}

fn repeats(t: &[usize]) -> bool {
    (1..t.len()).any(|i| t[..i].contains(&t[i]))
}

impl Array {
    fn zeros(arity: usize, channels: usize, objects: usize) -> Self {
        Self {
            arity,
            channels,
            data: vec![0.0; objects.pow(arity as u32) * channels],
        }
    }

    fn tuples(&self, objects: usize) -> usize {
        objects.pow(self.arity as u32)
    }

    fn row(&self, tuple: usize) -> &[f64] {
        &self.data[tuple * self.channels..(tuple + 1) * self.channels]
    }

    fn row_mut(&mut self, tuple: usize) -> &mut [f64] {
        &mut self.data[tuple * self.channels..(tuple + 1) * self.channels]
    }

    fn add(&mut self, other: &Self) {
        for (a, b) in self.data.iter_mut().zip(&other.data) {
            *a += b;
        }
    }
}

/// Copies along a new last axis: `[O^n, C] -> [O^(n+1), C]`.
fn expand(z: &Array, objects: usize) -> Array {
    let mut out = Array::zeros(z.arity + 1, z.channels, objects);
    for t in 0..out.tuples(objects) {
        out.row_mut(t).copy_from_slice(z.row(t / objects));
    }
    out
}

fn expand_backward(d: &Array, objects: usize) -> Array {
    let mut out = Array::zeros(d.arity - 1, d.channels, objects);
    for t in 0..d.tuples(objects) {
        for (o, g) in out.row_mut(t / objects).iter_mut().zip(d.row(t)) {
            *o += g;
        }
    }
    out
}

/// Maximum (and minimum) over the last axis:
/// `[O^n, C] -> [O^(n-1), C * quantifiers]`, maxima first.
fn reduce(z: &Array, objects: usize, quantifiers: Quantifiers, distinct: bool) -> Array {
    let mut out = Array::zeros(z.arity - 1, z.channels * quantifiers.count(), objects);
    for t in 0..out.tuples(objects) {
        for c in 0..z.channels {
            let (mut max, mut min) = (0.0f64, 1.0f64);
            for z_tuple in t * objects..(t + 1) * objects {
                // Every entry lies in [0, 1], so the empty cases are harmless.
                if !(distinct && repeats(&tuple(z_tuple, z.arity, objects))) {
                    max = max.max(z.row(z_tuple)[c]);
                    min = min.min(z.row(z_tuple)[c]);
                }
            }
            out.row_mut(t)[c] = max;
            if quantifiers == Quantifiers::ExistsForall {
                out.row_mut(t)[z.channels + c] = min;
            }
        }
    }
    out
}

/// Each reduced entry gives its gradient in equal parts to the entries that
/// attain it. Also returns how much gradient hangs on maxima and minima so
/// narrow that f32 rounding could name another winner.
fn reduce_backward(
    z: &Array,
    reduced: &Array,
    d: &Array,
    objects: usize,
    distinct: bool,
) -> (Array, f64) {
    let mut out = Array::zeros(z.arity, z.channels, objects);
    let mut at_stake = 0.0;
    for t in 0..reduced.tuples(objects) {
        for r in 0..reduced.channels {
            let c = r % z.channels;
            let best = reduced.row(t)[r];
            let slope = best * (1.0 - best);
            let mut narrow = false;
            let mut winners = Vec::new();
            for z_tuple in t * objects..(t + 1) * objects {
                if distinct && repeats(&tuple(z_tuple, z.arity, objects)) {
                    continue;
                }
                // Equal up to rounding counts as equal: entries that are the
                // same function of the weights may be summed in another order.
                let lead = (z.row(z_tuple)[c] - best).abs();
                if lead <= 1e-13 {
                    winners.push(z_tuple);
                } else {
                    narrow |= lead <= (1e-5 * slope).max(3e-7);
                }
            }
            if narrow {
                at_stake += d.row(t)[r].abs() * slope;
            }
            for &w in &winners {
                out.row_mut(w)[c] += d.row(t)[r] / winners.len() as f64;
            }
        }
    }
    (out, at_stake)
}

fn concat(parts: &[Array], arity: usize, objects: usize) -> Array {
    let channels = parts.iter().map(|p| p.channels).sum();
    let mut out = Array::zeros(arity, channels, objects);
    for t in 0..out.tuples(objects) {
        let mut at = 0;
        for p in parts {
            out.row_mut(t)[at..at + p.channels].copy_from_slice(p.row(t));
            at += p.channels;
        }
    }
    out
}

fn slice(z: &Array, from: usize, channels: usize, objects: usize) -> Array {
    let mut out = Array::zeros(z.arity, channels, objects);
    for t in 0..z.tuples(objects) {
        out.row_mut(t)
            .copy_from_slice(&z.row(t)[from..from + channels]);
    }
    out
}

/// Concatenates the n! copies with permuted object axes.
fn permute(z: &Array, objects: usize) -> Array {
    let copies: Vec<Array> = permutations(z.arity)
        .iter()
        .map(|p| {
            let mut copy = Array::zeros(z.arity, z.channels, objects);
            for t in 0..z.tuples(objects) {
                let x = tuple(t, z.arity, objects);
                let permuted: Vec<usize> = p.iter().map(|&i| x[i]).collect();
                copy.row_mut(t)
                    .copy_from_slice(z.row(index(&permuted, objects)));
            }
            copy
        })
        .collect();
    concat(&copies, z.arity, objects)
}

fn permute_backward(d: &Array, channels: usize, objects: usize) -> Array {
    let mut out = Array::zeros(d.arity, channels, objects);
    for (k, p) in permutations(d.arity).iter().enumerate() {
        for t in 0..d.tuples(objects) {
            let x = tuple(t, d.arity, objects);
            let permuted: Vec<usize> = p.iter().map(|&i| x[i]).collect();
            let from = &d.row(t)[k * channels..(k + 1) * channels];
            let to = out.row_mut(index(&permuted, objects));
            for (o, g) in to.iter_mut().zip(from) {
                *o += g;
            }
        }
    }
    out
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// What the backward pass needs of one compose operation.
struct Compose {
    /// After permutation: `[O^n, n! * C]`.
    permuted: Array,
    /// Channels of expand, own and reduced parts.
    parts: [usize; 3],
    output: Array,
}

/// What the backward pass needs of one layer.
struct Layer {
    reads: Vec<Array>,
    composed: Vec<Compose>,
}

/// The value of a structure and, on demand, its gradient.
pub struct Reference<'a> {
    nlm: &'a Nlm,
    parameters: Vec<f64>,
    objects: usize,
    layers: Vec<Layer>,
}

/// The gradient of a value with respect to every parameter.
pub struct ReferenceGradient {
    /// One entry a parameter.
    pub gradient: Vec<f64>,
    /// The gradient (of pre-activations, summed without sign) that passes
    /// through maxima and minima whose winner leads by no more than f32
    /// rounding: f32 kernels may rightly send that part elsewhere.
    pub at_stake: f64,
}

impl<'a> Reference<'a> {
    /// Runs the network on one structure.
    ///
    /// # Panics
    ///
    /// If the parameters or the structure do not fit the network.
    pub fn forward(nlm: &'a Nlm, parameters: &[f64], structure: &Structure) -> Self {
        assert_eq!(parameters.len(), nlm.parameter_count());
        let objects = structure.objects();
        let config = nlm.config();
        let inputs: Vec<Array> = config
            .input_channels
            .iter()
            .enumerate()
            .map(|(arity, &channels)| {
                let mut z = Array::zeros(arity, channels, objects);
                for (channel, x) in structure.propositions(arity) {
                    let x: Vec<usize> = x.iter().map(|&x| usize::from(x)).collect();
                    z.row_mut(index(&x, objects))[channel] = 1.0;
                }
                z
            })
            .collect();
        let mut layers: Vec<Layer> = Vec::new();
        for (l, shape) in nlm.shapes().iter().enumerate() {
            let last = l + 1 == config.layers;
            let reads: Vec<Array> = shape
                .reads
                .iter()
                .enumerate()
                .map(|(arity, blocks)| {
                    let parts: Vec<Array> = blocks
                        .iter()
                        .map(|b| match b.source {
                            Source::Input => inputs[arity].clone(),
                            Source::Layer(k) => layers[k].composed[arity].output.clone(),
                        })
                        .collect();
                    concat(&parts, arity, objects)
                })
                .collect();
            let composed = (0..=shape.out_arity)
                .map(|arity| {
                    let absent = |arity| Array::zeros(arity, 0, objects);
                    let expanded = match arity {
                        0 => absent(0),
                        n => reads.get(n - 1).map_or(absent(n), |z| expand(z, objects)),
                    };
                    let own = reads.get(arity).cloned().unwrap_or(absent(arity));
                    let reduced = reads.get(arity + 1).map_or(absent(arity), |z| {
                        reduce(z, objects, config.quantifiers, config.distinct)
                    });
                    let parts = [expanded.channels, own.channels, reduced.channels];
                    let permuted =
                        permute(&concat(&[expanded, own, reduced], arity, objects), objects);
                    let weight = &parameters[nlm.layout().weight(l, arity)];
                    let bias = &parameters[nlm.layout().bias(l, arity)];
                    let mut output = Array::zeros(arity, shape.features, objects);
                    for t in 0..output.tuples(objects) {
                        for q in 0..shape.features {
                            let mut sum = bias[q];
                            for (i, x) in permuted.row(t).iter().enumerate() {
                                sum += x * weight[i * shape.features + q];
                            }
                            output.row_mut(t)[q] = if last { sum } else { sigmoid(sum) };
                        }
                    }
                    Compose {
                        permuted,
                        parts,
                        output,
                    }
                })
                .collect();
            layers.push(Layer { reads, composed });
        }
        Self {
            nlm,
            parameters: parameters.to_vec(),
            objects,
            layers,
        }
    }

    /// The value: the one feature of the last layer, summed over all that it is a feature of.
    pub fn value(&self) -> f64 {
        let composed = &self.layers.last().expect("a layer").composed;
        composed.iter().flat_map(|c| &c.output.data).sum()
    }

    /// The gradient of `d_value` times the value.
    pub fn backward(&self, d_value: f64) -> ReferenceGradient {
        let objects = self.objects;
        let config = self.nlm.config();
        let mut gradient = vec![0.0; self.parameters.len()];
        let mut at_stake = 0.0;
        // d_outputs[l][n]: the gradient of the output of layer l at arity n.
        let mut d_outputs: Vec<Vec<Array>> = self
            .layers
            .iter()
            .map(|layer| {
                layer
                    .composed
                    .iter()
                    .map(|c| Array::zeros(c.output.arity, c.output.channels, objects))
                    .collect()
            })
            .collect();
        for d in d_outputs.last_mut().expect("a layer") {
            d.data.fill(d_value);
        }
        for (l, shape) in self.nlm.shapes().iter().enumerate().rev() {
            let last = l + 1 == config.layers;
            let layer = &self.layers[l];
            let mut d_reads: Vec<Array> = layer
                .reads
                .iter()
                .map(|z| Array::zeros(z.arity, z.channels, objects))
                .collect();
            for (arity, c) in layer.composed.iter().enumerate() {
                let weight_at = self.nlm.layout().weight(l, arity);
                let bias_at = self.nlm.layout().bias(l, arity);
                let features = shape.features;
                let mut d_permuted = Array::zeros(arity, c.permuted.channels, objects);
                for t in 0..c.output.tuples(objects) {
                    for q in 0..features {
                        let s = c.output.row(t)[q];
                        let slope = if last { 1.0 } else { s * (1.0 - s) };
                        let d = d_outputs[l][arity].row(t)[q] * slope;
                        gradient[bias_at.start + q] += d;
                        for i in 0..c.permuted.channels {
                            let w = weight_at.start + i * features + q;
                            gradient[w] += d * c.permuted.row(t)[i];
                            d_permuted.row_mut(t)[i] += d * self.parameters[w];
                        }
                    }
                }
                let [expanded, own, reduced] = c.parts;
                let d = permute_backward(&d_permuted, expanded + own + reduced, objects);
                if expanded > 0 {
                    let d = slice(&d, 0, expanded, objects);
                    d_reads[arity - 1].add(&expand_backward(&d, objects));
                }
                if own > 0 {
                    d_reads[arity].add(&slice(&d, expanded, own, objects));
                }
                if reduced > 0 {
                    let d = slice(&d, expanded + own, reduced, objects);
                    let z = &layer.reads[arity + 1];
                    let r = reduce(z, objects, config.quantifiers, config.distinct);
                    let (d, narrow) = reduce_backward(z, &r, &d, objects, config.distinct);
                    at_stake += narrow;
                    d_reads[arity + 1].add(&d);
                }
            }
            for (arity, blocks) in shape.reads.iter().enumerate() {
                let mut at = 0;
                for b in blocks {
                    if let Source::Layer(k) = b.source {
                        let d = slice(&d_reads[arity], at, b.channels, objects);
                        d_outputs[k][arity].add(&d);
                    }
                    at += b.channels;
                }
            }
        }
        ReferenceGradient { gradient, at_stake }
    }
}
