//! The network written plainly, in f64, in the paper's words: expand, reduce,
//! permute, concatenate, one linear map, sigmoid. Slow and obviously right; the
//! fast kernels are tested against it.
//!
//! In the tree of `docs/nlm.md`: beside it. Both ways are tested against this.

use crate::config::{Operation, Part, Source};
use crate::nlm::Nlm;
use crate::params::permutations;
use crate::structure::Structure;

/// An array z/n of shape `[O^n, channels]`, tuples in lexicographic order.
#[derive(Clone, Debug)]
struct Array {
    channels: usize,
    data: Vec<f64>,
}

impl Array {
    fn zeros(arity: usize, channels: usize, objects: usize) -> Self {
        Self {
            channels,
            data: vec![0.0; objects.pow(arity as u32) * channels],
        }
    }

    fn row(&self, tuple: usize) -> &[f64] {
        &self.data[tuple * self.channels..(tuple + 1) * self.channels]
    }

    fn row_mut(&mut self, tuple: usize) -> &mut [f64] {
        &mut self.data[tuple * self.channels..(tuple + 1) * self.channels]
    }
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

fn index(t: impl Iterator<Item = usize>, objects: usize) -> usize {
    t.fold(0, |i, x| i * objects + x)
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// What the backward pass needs of one compose operation.
struct Compose {
    parts: Vec<Part>,
    /// The concatenation, before the permuted copies.
    input: Array,
    output: Array,
}

/// The value of a structure and, on demand, its gradient.
pub struct Reference<'a> {
    nlm: &'a Nlm,
    parameters: Vec<f64>,
    objects: usize,
    inputs: Vec<Array>,
    /// `[layer][arity]`.
    layers: Vec<Vec<Compose>>,
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
        let inputs = nlm.config().input_channels.iter().enumerate();
        let inputs = inputs.map(|(arity, &channels)| {
            let mut z = Array::zeros(arity, channels, objects);
            for (channel, x) in structure.propositions(arity) {
                let x = x.iter().map(|&x| usize::from(x));
                z.row_mut(index(x, objects))[channel] = 1.0;
            }
            z
        });
        let mut run = Self {
            nlm,
            parameters: parameters.to_vec(),
            objects,
            inputs: inputs.collect(),
            layers: Vec::new(),
        };
        for (layer, shape) in nlm.shapes().iter().enumerate() {
            let composed = (0..=shape.out_arity).map(|arity| run.compose(layer, arity));
            let composed = composed.collect();
            run.layers.push(composed);
        }
        run
    }

    /// The value: the one feature of the last layer, summed over all that it is a feature of.
    pub fn value(&self) -> f64 {
        let composed = self.layers.last().expect("a layer");
        composed.iter().flat_map(|c| &c.output.data).sum()
    }

    fn source(&self, part: &Part) -> &Array {
        match part.source {
            Source::Input => &self.inputs[part.arity],
            Source::Layer(layer) => &self.layers[layer][part.arity].output,
        }
    }

    /// The tuples of this arity that reduce into tuple t.
    fn members(&self, t: usize, arity: usize) -> impl Iterator<Item = usize> + Clone {
        let (objects, distinct) = (self.objects, self.nlm.config().distinct);
        let repeats = move |index: usize| {
            let t = tuple(index, arity, objects);
            (1..arity).any(|i| t[..i].contains(&t[i]))
        };
        (t * objects..(t + 1) * objects).filter(move |&member| !(distinct && repeats(member)))
    }

    /// Channel c of what a part is at tuple t.
    fn read(&self, part: &Part, t: usize, c: usize) -> f64 {
        let z = self.source(part);
        let members = self.members(t, part.arity).map(|m| z.row(m)[c]);
        match part.operation {
            Operation::Expand => z.row(t / self.objects)[c],
            Operation::AsItIs => z.row(t)[c],
            // Every entry lies in [0, 1], so the empty cases are harmless.
            Operation::Exists => members.fold(0.0, f64::max),
            Operation::Forall => members.fold(1.0, f64::min),
        }
    }

    /// `[π][t]`: the tuple t∘π.
    fn permuted(&self, arity: usize) -> Vec<Vec<usize>> {
        let tuples = 0..self.objects.pow(arity as u32);
        let permute = |p: &Vec<usize>, t: usize| {
            let x = tuple(t, arity, self.objects);
            index(p.iter().map(|&i| x[i]), self.objects)
        };
        let all = permutations(arity);
        let all = all.iter().map(|p| tuples.clone().map(|t| permute(p, t)));
        all.map(Iterator::collect).collect()
    }

    fn compose(&self, layer: usize, arity: usize) -> Compose {
        let (shape, quantifiers) = (&self.nlm.shapes()[layer], self.nlm.config().quantifiers);
        let parts = shape.parts(arity, quantifiers);
        let channels = shape.compose_channels(arity, quantifiers);
        let mut input = Array::zeros(arity, channels, self.objects);
        let tuples = self.objects.pow(arity as u32);
        for part in &parts {
            for t in 0..tuples {
                for (c, to) in part.channels.clone().enumerate() {
                    input.row_mut(t)[to] = self.read(part, t, c);
                }
            }
        }
        let features = shape.features;
        let weight = &self.parameters[self.nlm.layout().weight(layer, arity)];
        let bias = &self.parameters[self.nlm.layout().bias(layer, arity)];
        let mut output = Array::zeros(arity, features, self.objects);
        let permuted = self.permuted(arity);
        for t in 0..tuples {
            let sums = output.row_mut(t);
            sums.copy_from_slice(bias);
            let copies = permuted.iter().flat_map(|of| input.row(of[t]));
            for (x, weights) in copies.zip(weight.chunks_exact(features)) {
                for (sum, w) in sums.iter_mut().zip(weights) {
                    *sum += x * w;
                }
            }
            if layer + 1 < self.nlm.config().layers {
                sums.iter_mut().for_each(|sum| *sum = sigmoid(*sum));
            }
        }
        Compose {
            parts,
            input,
            output,
        }
    }

    /// The gradient of `d_value` times the value.
    pub fn backward(&self, d_value: f64) -> ReferenceGradient {
        let mut result = ReferenceGradient {
            gradient: vec![0.0; self.parameters.len()],
            at_stake: 0.0,
        };
        // `[layer][arity]`: the gradients of outputs.
        let zeros =
            |(arity, c): (usize, &Compose)| Array::zeros(arity, c.output.channels, self.objects);
        let layers = self.layers.iter();
        let mut d_outputs: Vec<Vec<Array>> = layers
            .map(|layer| layer.iter().enumerate().map(zeros).collect())
            .collect();
        for d in d_outputs.last_mut().expect("a layer") {
            d.data.fill(d_value);
        }
        for (layer, composed) in self.layers.iter().enumerate().rev() {
            for (arity, compose) in composed.iter().enumerate() {
                let d = std::mem::take(&mut d_outputs[layer][arity].data);
                let d_input = self.compose_backward([layer, arity], &d, &mut result.gradient);
                for part in &compose.parts {
                    if let Source::Layer(source) = part.source {
                        let d_source = &mut d_outputs[source][part.arity];
                        result.at_stake += self.read_backward(part, &d_input, d_source);
                    }
                }
            }
        }
        result
    }

    /// From the gradient of an output to that of the parameters, and of the concatenation.
    fn compose_backward(
        &self,
        [layer, arity]: [usize; 2],
        d_output: &[f64],
        gradient: &mut [f64],
    ) -> Array {
        let Compose { input, output, .. } = &self.layers[layer][arity];
        let layout = self.nlm.layout();
        let (weights, bias) = (layout.weight(layer, arity), layout.bias(layer, arity));
        let (features, channels) = (output.channels, input.channels);
        let mut d_input = Array::zeros(arity, channels, self.objects);
        let permuted = self.permuted(arity);
        for (at, (&d, &y)) in d_output.iter().zip(&output.data).enumerate() {
            let last = layer + 1 == self.nlm.config().layers;
            let d = if last { d } else { d * y * (1.0 - y) };
            let (t, q) = (at / features, at % features);
            gradient[bias.start + q] += d;
            for (k, of) in permuted.iter().enumerate() {
                for c in 0..channels {
                    let w = weights.start + (k * channels + c) * features + q;
                    gradient[w] += d * input.row(of[t])[c];
                    d_input.row_mut(of[t])[c] += d * self.parameters[w];
                }
            }
        }
        d_input
    }

    /// From the gradient of the concatenation to that of one array it was made of. Each reduced
    /// entry gives its gradient in equal parts to the entries that attain it. Returns how much
    /// gradient hangs on maxima and minima so narrow that f32 rounding could name another winner.
    fn read_backward(&self, part: &Part, d_input: &Array, d_source: &mut Array) -> f64 {
        let z = self.source(part);
        let mut at_stake = 0.0;
        for t in 0..d_input.data.len() / d_input.channels {
            for (c, from) in part.channels.clone().enumerate() {
                let d = d_input.row(t)[from];
                match part.operation {
                    Operation::Expand => d_source.row_mut(t / self.objects)[c] += d,
                    Operation::AsItIs => d_source.row_mut(t)[c] += d,
                    Operation::Exists | Operation::Forall => {
                        let best = self.read(part, t, c);
                        let slope = best * (1.0 - best);
                        // Equal up to rounding counts as equal: entries that are the
                        // same function of the weights may be summed in another order.
                        let lead = |&m: &usize| (z.row(m)[c] - best).abs();
                        let members = self.members(t, part.arity);
                        let (winners, others): (Vec<usize>, Vec<usize>) =
                            members.partition(|m| lead(m) <= 1e-13);
                        let narrow = (1e-5 * slope).max(3e-7);
                        if others.iter().any(|m| lead(m) <= narrow) {
                            at_stake += d.abs() * slope;
                        }
                        for &winner in &winners {
                            d_source.row_mut(winner)[c] += d / winners.len() as f64;
                        }
                    }
                }
            }
        }
        at_stake
    }
}
