//! Which networks are computed by class, and what classes know of them.
//!
//! In the tree of `docs/nlm.md`: the branch between by class and by tuple.

use crate::inputs::Inputs;
use crate::plan::{MapPlan, Plan};
use crate::tuning;
use std::ops::Range;

/// How the triples of a layer come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Triples {
    /// They are a function of the class of their orbit.
    ByClass,
    /// A table over classes and what their pairs add; nothing but reduce reads them.
    WithPairs,
}

/// What of a network is a function of classes: of the type of an object, of the class of a pair,
/// of the class of an orbit.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// The columns of pairs from 0 on that are functions of the class of a pair.
    pub(super) known: usize,
    /// For each layer that has triples.
    pub(super) triples: Vec<Option<Triples>>,
}

impl Shape {
    /// `None` where a layer's triples are kept and not a function of the class of their orbit,
    /// which is so from seven layers on, or where some input does not fit a class.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        if !Inputs::fit(plan) {
            return None;
        }
        // Pairs of the first layer read the types of their objects and their pattern; those of
        // later layers read outputs that are no function of either.
        let mut known = plan.inputs(2);
        if plan.layers[0].get(2).is_some_and(|c| c.column.is_some()) {
            known += plan.features;
        }
        let mut triples = Vec::new();
        for layer in &plan.layers {
            let Some(compose) = layer.get(3) else {
                triples.push(None);
                continue;
            };
            let by_class = compose
                .expand
                .as_ref()
                .is_none_or(|map| map.columns.end <= known);
            if !by_class && compose.column.is_some() {
                return None;
            }
            triples.push(Some(if by_class {
                Triples::ByClass
            } else {
                Triples::WithPairs
            }));
        }
        Some(Self { known, triples })
    }

    /// How many structures of so many objects form a group whose gradient is computed at once:
    /// enough to share classes, few enough for their tensors to stay near.
    pub(crate) fn group(objects: usize) -> usize {
        (tuning::TRIPLES_AT_ONCE / objects.pow(3)).clamp(1, tuning::GRADIENTS_AT_ONCE)
    }

    /// The columns of a map over pairs: those that classes know, and the others.
    pub(super) fn split(&self, map: &MapPlan) -> [Range<usize>; 2] {
        let known = self.known.clamp(map.columns.start, map.columns.end);
        [map.columns.start..known, known..map.columns.end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::layer_shapes;
    use crate::params::ParamLayout;
    use crate::{NlmConfig, Quantifiers};

    fn shape(input_channels: Vec<usize>, layers: usize, skip_connections: bool) -> Option<Shape> {
        let config = NlmConfig {
            input_channels,
            layers,
            quantifiers: Quantifiers::Exists,
            skip_connections,
            ..NlmConfig::default()
        };
        let shapes = layer_shapes(&config);
        let layout = ParamLayout::new(&config, &shapes);
        Shape::of(&Plan::new(&config, &shapes, &layout))
    }

    #[test]
    fn triples_are_a_function_of_classes_in_the_first_two_layers() {
        use Triples::{ByClass, WithPairs};
        for skip in [false, true] {
            let of = |channels: &[usize], layers| {
                let shape = shape(channels.to_vec(), layers, skip)?;
                Some(shape.triples.into_iter().flatten().collect::<Vec<_>>())
            };
            let blocks = [2, 6, 2];
            assert_eq!(of(&blocks, 4), Some(vec![ByClass]));
            assert_eq!(of(&blocks, 5), Some(vec![ByClass, ByClass]));
            assert_eq!(of(&blocks, 6), Some(vec![ByClass, ByClass, WithPairs]));
            assert_eq!(of(&blocks, 7), None);
            assert_eq!(of(&[1, 2], 6), Some(vec![ByClass, WithPairs]));
            assert_eq!(of(&[1], 6), Some(vec![WithPairs]));
            let ternary = of(&[1, 1, 1, 1], 6);
            assert_eq!(ternary, Some(vec![ByClass, ByClass, WithPairs]));
            assert_eq!(of(&[1, 1, 1, 64], 6), None);
            assert_eq!(of(&[1, 1, 70], 6), None);
            assert_eq!(of(&[1, 70, 1], 6), None);
        }
    }

    #[test]
    fn groups_are_smaller_the_more_objects_there_are() {
        assert_eq!(Shape::group(1), 32);
        assert_eq!(Shape::group(12), 32);
        assert_eq!(Shape::group(20), 8);
        assert_eq!(Shape::group(1000), 1);
    }
}
