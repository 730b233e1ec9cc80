//! How wide the input of the graph network is for a domain.

use std::fmt;

use homing_pddl::model::PredicateId;

use crate::signature::Signature;

/// Why the graph network cannot read a domain or a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GnnError {
    /// A graph has nodes and edges, and nothing for more objects at once.
    Arity {
        /// The predicate.
        predicate: String,
        /// Its arity.
        arity: usize,
    },
    /// Actions are read as the sum of their effects, which must not depend on the state.
    NotStrips {
        /// The problem.
        problem: String,
    },
    /// What a goal forbids has no place in the input.
    NegativeGoal {
        /// The problem.
        problem: String,
    },
}

impl fmt::Display for GnnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arity { predicate, arity } => write!(
                f,
                "the graph network reads predicates of at most 2 objects, and `{predicate}` has \
                 {arity}"
            ),
            Self::NotStrips { problem } => write!(
                f,
                "the graph network reads actions without conditional effects and no derived \
                 predicates, and problem `{problem}` has some"
            ),
            Self::NegativeGoal { problem } => write!(
                f,
                "the graph network reads goals that say what must hold, and that of problem \
                 `{problem}` forbids something"
            ),
        }
    }
}

impl std::error::Error for GnnError {}

/// Which feature a predicate or a type is, among those of its arity: 0 for the whole graph, 1 for
/// nodes, 2 for edges.
///
/// Features come in blocks: those of the state before, of the state, of the goal. Nodes and edges
/// have one more: whether the goal says something of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphShape {
    /// By predicate: arity and place.
    places: Vec<(usize, usize)>,
    /// The place of the first type among the unary features; the others follow.
    first_type: usize,
    /// Features of a block by arity, each at least 1.
    counts: [usize; 3],
}

/// The block of the state before, of the state and of the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    Before,
    Now,
    Goal,
}

impl GraphShape {
    /// For a domain of this signature. Types, `object` included, are unary features after the
    /// predicates.
    ///
    /// # Errors
    ///
    /// If a predicate has more than two arguments.
    pub fn new(signature: &Signature) -> Result<Self, GnnError> {
        let mut counts = [0; 3];
        let mut places = Vec::with_capacity(signature.predicates.len());
        for (name, arity) in &signature.predicates {
            let Some(count) = counts.get_mut(*arity) else {
                return Err(GnnError::Arity {
                    predicate: name.clone(),
                    arity: *arity,
                });
            };
            places.push((*arity, *count));
            *count += 1;
        }
        let first_type = counts[1];
        counts[1] += 1 + signature.types.len();
        Ok(Self {
            places,
            first_type,
            counts: counts.map(|count| count.max(1)),
        })
    }

    /// Features of a block of this arity.
    pub fn count(&self, arity: usize) -> usize {
        self.counts[arity]
    }

    /// Input features of the graph (arity 0), of a node (1) or of an edge (2).
    pub fn width(&self, arity: usize) -> usize {
        3 * self.counts[arity] + usize::from(arity > 0)
    }

    /// The arity of a predicate and its place among the features of a block.
    pub(crate) fn place(&self, predicate: PredicateId) -> (usize, usize) {
        self.places[predicate.index()]
    }

    /// The place of a type among the unary features.
    pub(crate) fn type_place(&self, index: usize) -> usize {
        self.first_type + index
    }

    /// Where a place of a block is in the input.
    pub(crate) fn feature(&self, arity: usize, block: Block, place: usize) -> usize {
        block as usize * self.counts[arity] + place
    }

    /// Where it stands that the goal says something of a node or an edge.
    pub(crate) fn mentioned(&self, arity: usize) -> usize {
        3 * self.counts[arity]
    }
}
