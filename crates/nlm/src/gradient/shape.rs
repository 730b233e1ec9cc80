//! Which networks have their gradients computed by classes, and what classes know of them.

use crate::plan::Plan;

/// How the triples of a layer come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Triples {
    /// They are a function of the class of their orbit.
    ByClass,
    /// A table over classes and what their pairs add; nothing but reduce reads them.
    WithPairs,
}

/// What of a network is a function of classes: of the type of an object, of the class of a pair, of
/// the class of an orbit.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// The columns of pairs from 0 on that are functions of the class of a pair.
    pub(super) known: usize,
    /// For each layer that has triples.
    pub(super) triples: Vec<Option<Triples>>,
}

/// Types are sets of unary propositions, patterns sets of binary ones both ways: 64 bits each.
const UNARY: usize = 64;
const BINARY: usize = 32;
/// Classes of pairs are counted with 21 bits, and so are pairs.
const MAX_OBJECTS: usize = 1024;

impl Shape {
    /// `None` where a layer's triples are kept and not a function of the class of their orbit, which is so
    /// from seven layers on, or where some input does not fit a class.
    pub(crate) fn of(plan: &Plan) -> Option<Self> {
        if plan.max_arity > 3
            || plan.inputs(3) > 0
            || plan.inputs(2) > BINARY
            || plan.inputs(1) > UNARY
        {
            return None;
        }
        // Pairs of the first layer read the types of their objects and their pattern; those of later layers
        // read outputs that are no function of either.
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

    /// Whether structures of so many objects are computed by classes.
    pub(crate) fn takes(&self, objects: usize) -> bool {
        objects <= MAX_OBJECTS
    }

    /// How many structures of so many objects form a group: enough to share classes, few enough for their
    /// tensors to stay near.
    pub(crate) fn group(objects: usize) -> usize {
        ((1 << 16) / objects.pow(3)).clamp(1, 32)
    }
}
