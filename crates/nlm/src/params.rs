//! The weights of a network: one flat buffer, with a name and a shape for
//! each part of it.
//!
//! In the tree of `docs/nlm.md`: before it. Both ways read this buffer.

use crate::config::{LayerShape, NlmConfig};
use crate::random::SplitMix64;
use std::ops::Range;

/// One named part of the flat parameter buffer.
///
/// A weight has shape `[n! * C, Q]`: for each permutation π of the object
/// axes in lexicographic order, for each of the C channels of
/// concat(expand(z/n-1), z/n, reduce(z/n+1)), the weights to the Q features.
/// The copy for π reads the tuple (x_π(1), ..., x_π(n)). A bias has shape `[Q]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamView {
    /// `layer{l}.arity{n}.weight` or `.bias`, l counted from 1.
    pub name: String,
    /// The layer, counted from 0.
    pub layer: usize,
    /// The arity n of the compose operation.
    pub arity: usize,
    /// Row-major shape.
    pub shape: Vec<usize>,
    /// Where it lies in the flat buffer.
    pub range: Range<usize>,
}

/// Where every weight and bias lies in the flat buffer.
#[derive(Clone, Debug)]
pub(crate) struct ParamLayout {
    /// Weight, then bias, for each layer, for each arity from 0.
    pub(crate) views: Vec<ParamView>,
    pub(crate) total: usize,
    first_of_layer: Vec<usize>,
}

pub(crate) fn factorial(n: usize) -> usize {
    (1..=n).product()
}

impl ParamLayout {
    pub(crate) fn new(config: &NlmConfig, shapes: &[LayerShape]) -> Self {
        let mut views = Vec::new();
        let mut first_of_layer = Vec::new();
        let mut at = 0;
        for (layer, shape) in shapes.iter().enumerate() {
            first_of_layer.push(views.len());
            for arity in 0..=shape.out_arity {
                let fan_in = factorial(arity) * shape.compose_channels(arity, config.quantifiers);
                let mut push = |kind: &str, dims: Vec<usize>| {
                    let len: usize = dims.iter().product();
                    views.push(ParamView {
                        name: format!("layer{}.arity{arity}.{kind}", layer + 1),
                        layer,
                        arity,
                        shape: dims,
                        range: at..at + len,
                    });
                    at += len;
                };
                push("weight", vec![fan_in, shape.features]);
                push("bias", vec![shape.features]);
            }
        }
        Self {
            views,
            total: at,
            first_of_layer,
        }
    }

    pub(crate) fn weight(&self, layer: usize, arity: usize) -> Range<usize> {
        self.views[self.first_of_layer[layer] + 2 * arity]
            .range
            .clone()
    }

    pub(crate) fn bias(&self, layer: usize, arity: usize) -> Range<usize> {
        self.views[self.first_of_layer[layer] + 2 * arity + 1]
            .range
            .clone()
    }

    /// Weights from a truncated normal with standard deviation
    /// 1/sqrt(fan-in), biases zero.
    pub(crate) fn init(&self, seed: u64) -> Vec<f32> {
        let mut random = SplitMix64::new(seed);
        let mut flat = vec![0.0; self.total];
        for view in &self.views {
            if let [fan_in, _] = view.shape[..] {
                let deviation = 1.0 / (fan_in.max(1) as f64).sqrt();
                for w in &mut flat[view.range.clone()] {
                    *w = (deviation * random.truncated_normal()) as f32;
                }
            }
        }
        flat
    }
}

/// The permutations of 0..n in lexicographic order.
pub(crate) fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::with_capacity(factorial(n));
    for first in 0..n {
        for rest in permutations(n - 1) {
            let mut p = vec![first];
            p.extend(rest.iter().map(|&i| if i >= first { i + 1 } else { i }));
            all.push(p);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Quantifiers, layer_shapes};

    fn blocks(layers: usize) -> (NlmConfig, ParamLayout) {
        // clear/1 on-table/1 arm-empty/0 holding/1 on/2, twice (state, goal).
        let config = NlmConfig {
            input_channels: vec![2, 6, 2],
            layers,
            quantifiers: Quantifiers::ExistsForall,
            ..NlmConfig::default()
        };
        config.check().unwrap();
        let shapes = layer_shapes(&config);
        let layout = ParamLayout::new(&config, &shapes);
        (config, layout)
    }

    #[test]
    fn blocks_has_the_parameter_counts_of_the_reference() {
        assert_eq!(blocks(6).1.total, 11_967);
        assert_eq!(blocks(5).1.total, 6_615);
        assert_eq!(blocks(4).1.total, 2_991);
    }

    #[test]
    fn views_tile_the_buffer_and_names_are_unique() {
        let (_, layout) = blocks(6);
        let mut at = 0;
        let mut names = std::collections::BTreeSet::new();
        for view in &layout.views {
            assert_eq!(view.range.start, at);
            assert_eq!(view.range.len(), view.shape.iter().product::<usize>());
            at = view.range.end;
            assert!(names.insert(view.name.clone()));
        }
        assert_eq!(at, layout.total);
        assert_eq!(layout.views[0].name, "layer1.arity0.weight");
    }

    #[test]
    fn init_is_seeded_and_scaled() {
        let (_, layout) = blocks(6);
        let a = layout.init(7);
        assert_eq!(a, layout.init(7));
        assert_ne!(a, layout.init(8));
        let view = layout
            .views
            .iter()
            .find(|v| v.name == "layer3.arity3.weight")
            .unwrap();
        let w = &a[view.range.clone()];
        let var = w.iter().map(|x| x * x).sum::<f32>() / w.len() as f32;
        assert!((var * view.shape[0] as f32 - 1.0).abs() < 0.1);
        assert!(a[layout.bias(2, 3)].iter().all(|&b| b == 0.0));
    }

    #[test]
    fn permutations_are_lexicographic() {
        assert_eq!(
            permutations(3),
            [
                [0, 1, 2],
                [0, 2, 1],
                [1, 0, 2],
                [1, 2, 0],
                [2, 0, 1],
                [2, 1, 0]
            ]
        );
        assert_eq!(permutations(4).len(), 24);
        assert_eq!(permutations(0), [Vec::<usize>::new()]);
    }
}
