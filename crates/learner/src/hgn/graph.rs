//! The hypergraph of a task: what all its states share.
//!
//! A node is a proposition, an edge a rule of the delete relaxation: an action, or what an action
//! does under a condition, or an axiom. An edge has places for receivers (what it adds) and senders
//! (its conditions). Which proposition stands in which place follows from predicates and from the
//! action's parameters alone: renaming objects changes nothing. The original sorts by the atoms'
//! text, which is the same wherever a list has a predicate at most once.

use homing_pddl::model::ObjectId;
use homing_planner::{PropId, Task};
use homing_tape::{NONE, Segments};
use serde::{Deserialize, Serialize};

/// Places of an edge: the most receivers and senders of the training problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// For what is added (R).
    pub receivers: usize,
    /// For conditions (S).
    pub senders: usize,
}

impl Places {
    pub(crate) fn total(self) -> usize {
        self.receivers + self.senders
    }

    /// Room for both.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            receivers: self.receivers.max(other.receivers),
            senders: self.senders.max(other.senders),
        }
    }

    pub(crate) fn hold(self, other: Self) -> bool {
        self.max(other) == self
    }
}

/// An edge before its places are known.
struct Edge {
    receivers: Vec<PropId>,
    senders: Vec<PropId>,
}

/// The edges of a task, each list in order.
fn edges(task: &Task) -> Vec<Edge> {
    let domain = &task.problem().domain;
    let mut edges = Vec::new();
    let sorted = |mut list: Vec<PropId>, arguments: &[ObjectId]| {
        list.sort_by_cached_key(|prop| {
            let proposition = &task.propositions()[prop.index()];
            let atom = &proposition.atom;
            let name = match proposition.is_helper {
                true => String::new(),
                false => domain.predicates[atom.predicate.index()].name.clone(),
            };
            // Where a predicate comes twice, by the parameters that it is about. What is about
            // none is told apart by nothing but its place in the task.
            let about: Vec<usize> = atom
                .arguments
                .iter()
                .map(|object| arguments.iter().position(|other| other == object))
                .map(|place| place.unwrap_or(usize::MAX))
                .collect();
            (name, proposition.positive, about, *prop)
        });
        list
    };
    for action in task.actions() {
        let arguments = task.arguments(action);
        let senders = task.pre(action).to_vec();
        edges.push(Edge {
            receivers: sorted(task.add(action).to_vec(), arguments),
            senders: sorted(senders.clone(), arguments),
        });
        for effect in task.conditional_effects(action) {
            let mut senders = senders.clone();
            senders.extend_from_slice(effect.condition);
            senders.sort_unstable();
            senders.dedup();
            edges.push(Edge {
                receivers: sorted(effect.add.to_vec(), arguments),
                senders: sorted(senders, arguments),
            });
        }
    }
    for (head, body) in task.axioms() {
        edges.push(Edge {
            receivers: vec![head],
            senders: sorted(body.to_vec(), &[]),
        });
    }
    edges
}

/// The places that a task needs.
pub(crate) fn places_of(task: &Task) -> Places {
    edges(task).iter().fold(Places::default(), |places, edge| {
        places.max(Places {
            receivers: edge.receivers.len(),
            senders: edge.senders.len(),
        })
    })
}

/// The hypergraph of a task.
#[derive(Clone, Debug)]
pub(crate) struct Hypergraph {
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
    /// How many of the places are receivers'.
    pub(crate) receivers: usize,
    /// The proposition in each place, receivers first, for each edge: `edges` by places; [`NONE`]
    /// where a place is empty.
    pub(crate) places: Vec<u32>,
    /// The edges that have a node among their receivers, for each node.
    pub(crate) into: Segments,
    /// Distinct pairs of numbers of senders and receivers.
    pub(crate) shapes: Vec<[usize; 2]>,
    /// Which of them each edge has.
    pub(crate) shape_of: Vec<u32>,
    /// Whether the goal wants a node.
    pub(crate) wanted: Vec<bool>,
}

impl Hypergraph {
    /// # Panics
    ///
    /// If the task needs more places.
    pub(crate) fn new(task: &Task, places: Places) -> Self {
        let edges = edges(task);
        let nodes = task.propositions().len();
        let mut graph = Self {
            nodes,
            edges: edges.len(),
            receivers: places.receivers,
            places: Vec::with_capacity(edges.len() * places.total()),
            into: Segments::from_lists([]),
            shapes: Vec::new(),
            shape_of: Vec::with_capacity(edges.len()),
            wanted: vec![false; nodes],
        };
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for (number, edge) in edges.iter().enumerate() {
            let lists = [
                (&edge.receivers, places.receivers),
                (&edge.senders, places.senders),
            ];
            for (list, room) in lists {
                assert!(list.len() <= room, "an edge fits its places");
                let filled = list.iter().map(|prop| prop.index() as u32);
                graph.places.extend(filled);
                graph.places.extend((list.len()..room).map(|_| NONE));
            }
            for prop in &edge.receivers {
                into[prop.index()].push(number as u32);
            }
            let shape = [edge.senders.len(), edge.receivers.len()];
            let known = graph.shapes.iter().position(|&other| other == shape);
            let shape = known.unwrap_or_else(|| {
                graph.shapes.push(shape);
                graph.shapes.len() - 1
            });
            graph.shape_of.push(shape as u32);
        }
        graph.into = Segments::from_lists(into.iter().map(Vec::as_slice));
        for prop in task.goal() {
            graph.wanted[prop.index()] = true;
        }
        graph
    }

    /// The kind of each node in a state, by its two features: 1 if true, 2 more if wanted.
    pub(crate) fn kinds(&self, task: &Task, state: &[u32], kinds: &mut Vec<u32>) {
        kinds.clear();
        kinds.extend(self.wanted.iter().map(|&wanted| u32::from(wanted) * 2));
        let mut holding = Vec::new();
        task.encoding().unpack(state, &mut holding);
        for prop in holding {
            kinds[prop.index()] |= 1;
        }
    }
}

/// The two features of each kind of node: true, wanted.
pub(crate) const KINDS: [f32; 8] = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
