//! States as graphs (Rivlin, Hazan and Karpas 2020): objects are nodes, ordered pairs of different
//! objects are edges, predicates of arity 0, 1 and 2 are features of the graph, its nodes and its
//! edges, for the state before, the state, and the goal. Facts p(x, x) have no edge, and are left
//! out.
//!
//! Edges of one source that look the same form a class: the network gives them the same value, and
//! takes their maximum in one go. What looks the same in any graph has one number ([`Kinds`]). An
//! action is the list of its effects.

use homing_pddl::model::{Atom, ObjectId};
use homing_planner::{ActionId, PropId, Task};

use super::kinds::{Kinds, Level, words};
use super::shape::{Block, GnnError, GraphShape};
use crate::encode::{goal_literals, has_negative_goals};

/// Where an atom stands in a graph; the objects that it does not have are 0.
#[derive(Clone, Copy, Debug)]
struct Place {
    arity: usize,
    at: usize,
    x: usize,
    y: usize,
}

/// An effect of an action.
#[derive(Clone, Copy, Debug)]
struct GroundEffect {
    place: Place,
    adds: bool,
}

/// An effect of an action in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BatchEffect {
    pub(crate) arity: usize,
    /// The place of its predicate among those of its arity.
    pub(crate) at: usize,
    pub(crate) adds: bool,
    /// The graph or the node as the second block leaves it, or the edge in it.
    pub(crate) subject: u32,
    /// The nodes of an edge.
    pub(crate) ends: (u32, u32),
}

/// Lists one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lists<T> {
    pub(crate) starts: Vec<u32>,
    pub(crate) items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self {
            starts: vec![0],
            items: Vec::new(),
        }
    }
}

impl<T> Lists<T> {
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn list(&self, index: usize) -> &[T] {
        &self.items[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    fn end(&mut self) {
        self.starts.push(self.items.len() as u32);
    }

    fn clear(&mut self) {
        self.starts.truncate(1);
        self.items.clear();
    }
}

/// Graphs of several states. What they consist of are numbers of the [`Kinds`] that they were drawn
/// with; actions are numbered through all graphs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    /// By graph, as the second block leaves it.
    pub(crate) graphs: Vec<u32>,
    /// By graph: its actions, numbered through.
    pub(crate) actions: Lists<u32>,
    /// By action.
    pub(crate) effects: Lists<BatchEffect>,
}

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.graphs.clear();
        self.actions.clear();
        self.effects.clear();
    }
}

/// Draws the graphs of the states of one task.
pub(crate) struct Drawer<'t> {
    task: &'t Task,
    shape: GraphShape,
    objects: usize,
    /// What all states share.
    globals: Vec<u32>,
    nodes: Vec<u32>,
    edges: Vec<u32>,
    /// By proposition; `None` for those that another one speaks for.
    places: Vec<Option<Place>>,
    /// Propositions that stand for an atom by being false.
    complements: Vec<PropId>,
    /// By action.
    effects: Lists<GroundEffect>,
    // Of the state at hand.
    pub(super) bits: Bits,
    grouped: Grouped,
    props: Vec<PropId>,
}

/// The features of a graph, of its nodes and of all pairs of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Bits {
    pub(super) globals: Vec<u32>,
    pub(super) nodes: Vec<u32>,
    pub(super) edges: Vec<u32>,
}

/// The classes of a graph's edges, and the numbers of what it consists of.
#[derive(Clone, Debug, Default)]
struct Grouped {
    /// By pair of nodes: the class of the edge among those of its source.
    class_of: Vec<u32>,
    /// By node: the edges that leave it as they go into a block, one a class.
    edges: Lists<u32>,
    /// By node, as it goes into a block.
    nodes: Vec<u32>,
    // For each node anew.
    order: Vec<usize>,
    sets: Vec<Vec<u32>>,
    view: Vec<u32>,
}

impl Grouped {
    /// Takes nodes through a block; gives the graph as it comes out.
    fn pass(&mut self, level: &mut Level, graph: u32) -> u32 {
        let n = self.nodes.len();
        let mut out = vec![graph];
        let nodes = &self.nodes;
        self.order.clear();
        self.order.extend(0..n);
        self.order.sort_unstable_by_key(|&x| nodes[x]);
        for x in 0..n {
            let edges = self.edges.list(x);
            self.sets
                .resize(self.sets.len().max(edges.len()), Vec::new());
            self.sets.iter_mut().for_each(Vec::clear);
            for &y in self.order.iter().filter(|&&y| y != x) {
                let set = &mut self.sets[self.class_of[x * n + y] as usize];
                if set.last() != Some(&nodes[y]) {
                    set.push(nodes[y]);
                }
            }
            self.view.clear();
            for (&edge, set) in edges.iter().zip(&self.sets) {
                let set = level.targets.id(set);
                self.view.push(level.classes.id(&[edge, set]));
            }
            self.view.sort_unstable();
            let view = level.views.id(&self.view);
            out.push(level.nodes.id(&[view, graph, nodes[x]]));
        }
        self.nodes.clear();
        self.nodes.extend_from_slice(&out[1..]);
        level.graphs.id(&out)
    }
}

fn set(bits: &mut [u32], stride: usize, row: usize, at: usize) {
    bits[row * stride + at / 32] |= 1 << (at % 32);
}

impl<'t> Drawer<'t> {
    /// For a task of the domain that the shape is of.
    ///
    /// # Errors
    ///
    /// If the network cannot read the task.
    pub(crate) fn new(task: &'t Task, shape: &GraphShape) -> Result<Self, GnnError> {
        let problem = task.problem();
        let name = || problem.name.clone();
        if !task.is_strips() {
            return Err(GnnError::NotStrips { problem: name() });
        }
        if has_negative_goals(task) {
            return Err(GnnError::NegativeGoal { problem: name() });
        }
        let objects = problem.objects.len();
        let mut drawer = Self {
            task,
            objects,
            globals: vec![0; words(shape.width(0))],
            nodes: vec![0; objects * words(shape.width(1))],
            edges: vec![0; objects * objects * words(shape.width(2))],
            places: Vec::new(),
            complements: Vec::new(),
            effects: Lists::default(),
            bits: Bits::default(),
            grouped: Grouped::default(),
            props: Vec::new(),
            shape: shape.clone(),
        };
        drawer.draw_what_stays();
        drawer.place_propositions();
        drawer.list_effects();
        Ok(drawer)
    }

    fn place(&self, atom: &Atom<ObjectId>) -> Option<Place> {
        let (arity, at) = self.shape.place(atom.predicate);
        let object = |index: usize| atom.arguments.get(index).map_or(0, |o| o.index());
        let (x, y) = (object(0), object(1));
        (arity < 2 || x != y).then_some(Place { arity, at, x, y })
    }

    /// Static propositions, types and the goal.
    fn draw_what_stays(&mut self) {
        let task = self.task;
        let mut bits = Bits {
            globals: std::mem::take(&mut self.globals),
            nodes: std::mem::take(&mut self.nodes),
            edges: std::mem::take(&mut self.edges),
        };
        for atom in task.statics() {
            for block in [Block::Before, Block::Now] {
                if let Some(place) = self.place(atom) {
                    self.mark(place, block, &mut bits);
                }
            }
        }
        for (atom, _) in goal_literals(task) {
            let Some(place) = self.place(atom) else {
                continue;
            };
            self.mark(place, Block::Goal, &mut bits);
            let at = self.shape.mentioned(place.arity);
            match place.arity {
                1 => set(&mut bits.nodes, words(self.shape.width(1)), place.x, at),
                2 => {
                    let row = place.x * self.objects + place.y;
                    set(&mut bits.edges, words(self.shape.width(2)), row, at);
                }
                _ => {}
            }
        }
        for (x, object) in task.problem().objects.iter().enumerate() {
            for declared in &object.types {
                let place = Place {
                    arity: 1,
                    at: self.shape.type_place(declared.index()),
                    x,
                    y: 0,
                };
                for block in [Block::Before, Block::Now] {
                    self.mark(place, block, &mut bits);
                }
            }
        }
        (self.globals, self.nodes, self.edges) = (bits.globals, bits.nodes, bits.edges);
    }

    /// Says in the input that something holds.
    fn mark(&self, place: Place, block: Block, bits: &mut Bits) {
        let at = self.shape.feature(place.arity, block, place.at);
        let stride = words(self.shape.width(place.arity));
        match place.arity {
            0 => set(&mut bits.globals, stride, 0, at),
            1 => set(&mut bits.nodes, stride, place.x, at),
            _ => set(
                &mut bits.edges,
                stride,
                place.x * self.objects + place.y,
                at,
            ),
        }
    }

    fn place_propositions(&mut self) {
        let propositions = self.task.propositions();
        let has_positive: std::collections::HashSet<&Atom<ObjectId>> = propositions
            .iter()
            .filter(|p| p.positive)
            .map(|p| &p.atom)
            .collect();
        for (index, proposition) in propositions.iter().enumerate() {
            let spoken_for = !proposition.positive && has_positive.contains(&proposition.atom);
            let place = if proposition.is_helper || spoken_for {
                None
            } else {
                self.place(&proposition.atom)
            };
            if place.is_some() && !proposition.positive {
                self.complements.push(PropId::from_index(index));
            }
            self.places.push(place);
        }
    }

    fn list_effects(&mut self) {
        let task = self.task;
        for action in task.actions() {
            for (props, adds) in [(task.add(action), true), (task.del(action), false)] {
                for prop in props {
                    let positive = task.propositions()[prop.index()].positive;
                    if let Some(place) = self.places[prop.index()] {
                        self.effects.items.push(GroundEffect {
                            place,
                            adds: adds == positive,
                        });
                    }
                }
            }
            self.effects.end();
        }
    }

    /// Appends the graph of a state that was reached from `before`, with these actions.
    pub(crate) fn draw(
        &mut self,
        before: &[u32],
        state: &[u32],
        actions: &[ActionId],
        kinds: &mut Kinds,
        batch: &mut Batch,
    ) {
        self.fill(before, state);
        self.group(kinds);
        let mut grouped = std::mem::take(&mut self.grouped);
        let graph = kinds.graphs.id(&self.bits.globals);
        let graph = grouped.pass(&mut kinds.first, graph);
        for (x, &node) in grouped.nodes.iter().enumerate() {
            let (from, to) = (grouped.edges.starts[x], grouped.edges.starts[x + 1]);
            for edge in &mut grouped.edges.items[from as usize..to as usize] {
                *edge = kinds.second_edges.id(&[node, *edge]);
            }
        }
        let graph = grouped.pass(&mut kinds.second, graph);
        batch.graphs.push(graph);
        self.grouped = grouped;
        self.append_actions(graph, actions, batch);
    }

    /// The features of a state that was reached from `before`.
    pub(super) fn fill(&mut self, before: &[u32], state: &[u32]) {
        let mut bits = std::mem::take(&mut self.bits);
        bits.globals.clone_from(&self.globals);
        bits.nodes.clone_from(&self.nodes);
        bits.edges.clone_from(&self.edges);
        for (block, state) in [(Block::Before, before), (Block::Now, state)] {
            self.mark_state(block, state, &mut bits);
        }
        self.bits = bits;
    }

    fn mark_state(&mut self, block: Block, state: &[u32], bits: &mut Bits) {
        let encoding = self.task.encoding();
        let mut props = std::mem::take(&mut self.props);
        props.clear();
        encoding.unpack(state, &mut props);
        let propositions = self.task.propositions();
        let positive = props
            .iter()
            .filter(|prop| propositions[prop.index()].positive);
        let complements = self.complements.iter();
        let absent = complements.filter(|&&prop| !encoding.holds(prop, state));
        for prop in positive.chain(absent) {
            if let Some(place) = self.places[prop.index()] {
                self.mark(place, block, bits);
            }
        }
        self.props = props;
    }

    /// The kinds of nodes, and the classes of their edges with their combinations.
    fn group(&mut self, kinds: &mut Kinds) {
        let n = self.objects;
        let (node_stride, edge_stride) = (words(self.shape.width(1)), words(self.shape.width(2)));
        let Grouped {
            class_of,
            edges: classes,
            nodes,
            ..
        } = &mut self.grouped;
        nodes.clear();
        let each = self.bits.nodes.chunks_exact(node_stride);
        nodes.extend(each.map(|bits| kinds.nodes.id(bits)));
        class_of.clear();
        class_of.resize(n * n, 0);
        classes.clear();
        let edges = &self.bits.edges;
        let of = |x: usize, y: usize| &edges[(x * n + y) * edge_stride..][..edge_stride];
        // Of the classes of one source, the first member of each.
        let mut heads: Vec<usize> = Vec::new();
        for x in 0..n {
            heads.clear();
            for y in (0..n).filter(|&y| y != x) {
                let same = heads.iter().position(|&head| of(x, head) == of(x, y));
                let class = same.unwrap_or_else(|| {
                    heads.push(y);
                    heads.len() - 1
                });
                class_of[x * n + y] = class as u32;
            }
            for &head in &heads {
                let edge = kinds.edges.id(of(x, head));
                classes.items.push(kinds.combinations.id(&[nodes[x], edge]));
            }
            classes.end();
        }
    }

    /// The effects of an action: arity, predicate, whether it is added, objects.
    pub(super) fn effects_of(
        &self,
        action: ActionId,
    ) -> impl Iterator<Item = (usize, usize, bool, usize, usize)> {
        let effects = self.effects.list(action.index()).iter();
        effects.map(|effect| {
            let Place { arity, at, x, y } = effect.place;
            (arity, at, effect.adds, x, y)
        })
    }

    fn append_actions(&self, graph: u32, actions: &[ActionId], batch: &mut Batch) {
        let Grouped {
            class_of,
            edges,
            nodes,
            ..
        } = &self.grouped;
        for action in actions {
            batch.actions.items.push(batch.effects.len() as u32);
            for (arity, at, adds, x, y) in self.effects_of(*action) {
                let class = || class_of[x * self.objects + y] as usize;
                batch.effects.items.push(BatchEffect {
                    arity,
                    at,
                    adds,
                    subject: match arity {
                        0 => graph,
                        1 => nodes[x],
                        _ => edges.list(x)[class()],
                    },
                    ends: if arity == 0 {
                        (0, 0)
                    } else {
                        (nodes[x], nodes[y])
                    },
                });
            }
            batch.effects.end();
        }
        batch.actions.end();
    }
}
