//! States as graphs (Rivlin, Hazan and Karpas 2020): objects are nodes, ordered pairs of different
//! objects are edges, predicates of arity 0, 1 and 2 are features of the graph, its nodes and its
//! edges, for the state before, the state, and the goal. Facts p(x, x) have no edge, and are left
//! out.
//!
//! Edges of one source that look the same form a class: the network gives them the same value, and
//! takes their maximum in one go. An action is the list of its effects.

use homing_pddl::model::{Atom, ObjectId};
use homing_planner::{ActionId, PropId, Task};

use super::kinds::{Kinds, words};
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
    /// The graph, the node, or the class of the edge.
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

/// Graphs of several states. Kinds and combinations are numbers of the [`Kinds`] that they were
/// drawn with; nodes, classes and actions are numbered through all graphs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    /// By graph: the kinds of its nodes.
    pub(crate) nodes: Lists<u32>,
    /// By node: the combinations of its classes.
    pub(crate) classes: Lists<u32>,
    /// By class: the nodes its edges go to.
    pub(crate) members: Lists<u32>,
    /// By class: the kinds of these nodes, each once.
    pub(crate) member_kinds: Lists<u32>,
    /// By graph: the features of the whole graph.
    pub(crate) globals: Vec<f32>,
    /// By graph: its actions, numbered through.
    pub(crate) actions: Lists<u32>,
    /// By action.
    pub(crate) effects: Lists<BatchEffect>,
}

impl Batch {
    pub(crate) fn graphs(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.classes.clear();
        self.members.clear();
        self.member_kinds.clear();
        self.globals.clear();
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
    globals: Vec<f32>,
    nodes: Vec<u64>,
    edges: Vec<u64>,
    /// By proposition; `None` for those that another one speaks for.
    places: Vec<Option<Place>>,
    /// Propositions that stand for an atom by being false.
    complements: Vec<PropId>,
    /// By action.
    effects: Lists<GroundEffect>,
    // Of the state at hand.
    node_bits: Vec<u64>,
    edge_bits: Vec<u64>,
    class_of: Vec<u32>,
    props: Vec<PropId>,
}

fn set(bits: &mut [u64], stride: usize, row: usize, at: usize) {
    bits[row * stride + at / 64] |= 1 << (at % 64);
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
            globals: vec![0.0; shape.width(0)],
            nodes: vec![0; objects * words(shape.width(1))],
            edges: vec![0; objects * objects * words(shape.width(2))],
            places: Vec::new(),
            complements: Vec::new(),
            effects: Lists::default(),
            node_bits: Vec::new(),
            edge_bits: Vec::new(),
            class_of: Vec::new(),
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
        let (mut globals, mut nodes) = (
            std::mem::take(&mut self.globals),
            std::mem::take(&mut self.nodes),
        );
        let mut edges = std::mem::take(&mut self.edges);
        for atom in task.statics() {
            for block in [Block::Before, Block::Now] {
                if let Some(place) = self.place(atom) {
                    self.mark(place, block, &mut globals, &mut nodes, &mut edges);
                }
            }
        }
        for (atom, _) in goal_literals(task) {
            let Some(place) = self.place(atom) else {
                continue;
            };
            self.mark(place, Block::Goal, &mut globals, &mut nodes, &mut edges);
            let at = self.shape.mentioned(place.arity);
            match place.arity {
                1 => set(&mut nodes, words(self.shape.width(1)), place.x, at),
                2 => {
                    let row = place.x * self.objects + place.y;
                    set(&mut edges, words(self.shape.width(2)), row, at);
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
                    self.mark(place, block, &mut globals, &mut nodes, &mut edges);
                }
            }
        }
        (self.globals, self.nodes, self.edges) = (globals, nodes, edges);
    }

    /// Says in the input that something holds.
    fn mark(
        &self,
        place: Place,
        block: Block,
        globals: &mut [f32],
        nodes: &mut [u64],
        edges: &mut [u64],
    ) {
        let at = self.shape.feature(place.arity, block, place.at);
        let stride = words(self.shape.width(place.arity));
        match place.arity {
            0 => globals[at] = 1.0,
            1 => set(nodes, stride, place.x, at),
            _ => set(edges, stride, place.x * self.objects + place.y, at),
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
        let mut nodes = std::mem::take(&mut self.node_bits);
        let mut edges = std::mem::take(&mut self.edge_bits);
        nodes.clone_from(&self.nodes);
        edges.clone_from(&self.edges);
        let from = batch.globals.len();
        batch.globals.extend_from_slice(&self.globals);
        for (block, state) in [(Block::Before, before), (Block::Now, state)] {
            self.mark_state(
                block,
                state,
                &mut batch.globals[from..],
                &mut nodes,
                &mut edges,
            );
        }
        self.group(&nodes, &edges, kinds, batch);
        self.append_actions(actions, batch);
        (self.node_bits, self.edge_bits) = (nodes, edges);
    }

    fn mark_state(
        &mut self,
        block: Block,
        state: &[u32],
        globals: &mut [f32],
        nodes: &mut [u64],
        edges: &mut [u64],
    ) {
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
                self.mark(place, block, globals, nodes, edges);
            }
        }
        self.props = props;
    }

    /// Appends nodes and the classes of their edges.
    fn group(&mut self, nodes: &[u64], edges: &[u64], kinds: &mut Kinds, batch: &mut Batch) {
        let n = self.objects;
        let (node_stride, edge_stride) = (words(self.shape.width(1)), words(self.shape.width(2)));
        let first = batch.nodes.items.len() as u32;
        for bits in nodes.chunks_exact(node_stride) {
            batch.nodes.items.push(kinds.nodes.id(bits));
        }
        batch.nodes.end();
        self.class_of.clear();
        self.class_of.resize(n * n, 0);
        let of = |x: usize, y: usize| &edges[(x * n + y) * edge_stride..][..edge_stride];
        // Of the classes of one source, the first member of each.
        let mut heads: Vec<usize> = Vec::new();
        for x in 0..n {
            heads.clear();
            let first_class = batch.classes.items.len();
            for y in (0..n).filter(|&y| y != x) {
                let same = heads.iter().position(|&head| of(x, head) == of(x, y));
                let class = same.unwrap_or_else(|| {
                    heads.push(y);
                    heads.len() - 1
                });
                self.class_of[x * n + y] = (first_class + class) as u32;
            }
            for (class, &head) in heads.iter().enumerate() {
                let source = batch.nodes.items[first as usize + x];
                let edge = kinds.edges.id(of(x, head));
                batch.classes.items.push(kinds.combination(source, edge));
                let start = batch.member_kinds.items.len();
                for y in (0..n).filter(|&y| y != x) {
                    if self.class_of[x * n + y] == (first_class + class) as u32 {
                        batch.members.items.push(first + y as u32);
                        let kind = batch.nodes.items[first as usize + y];
                        if !batch.member_kinds.items[start..].contains(&kind) {
                            batch.member_kinds.items.push(kind);
                        }
                    }
                }
                batch.members.end();
                batch.member_kinds.end();
            }
            batch.classes.end();
        }
    }

    fn append_actions(&self, actions: &[ActionId], batch: &mut Batch) {
        let graph = batch.nodes.len() as u32 - 1;
        let first = batch.nodes.starts[graph as usize];
        for action in actions {
            batch.actions.items.push(batch.effects.len() as u32);
            for effect in self.effects.list(action.index()) {
                let Place { arity, at, x, y } = effect.place;
                let ends = (first + x as u32, first + y as u32);
                batch.effects.items.push(BatchEffect {
                    arity,
                    at,
                    adds: effect.adds,
                    subject: match arity {
                        0 => graph,
                        1 => ends.0,
                        _ => self.class_of[x * self.objects + y],
                    },
                    ends,
                });
            }
            batch.effects.end();
        }
        batch.actions.end();
    }
}
