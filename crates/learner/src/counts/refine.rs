//! Colours of one state from scratch, for any number of rounds.

use homing_planner::{PropId, Task};

use super::colour::{Colour, aged, mix, told};
use super::graph::{TaskGraph, properties};
use super::making::Making;
use super::relations::GraphSpec;

/// Counts the colours of states of one task.
pub struct FeatureCounter<'t> {
    task: &'t Task,
    graph: TaskGraph,
    rounds: usize,
    props: Vec<PropId>,
    truth: Vec<bool>,
    /// The atoms that are shown, in ascending order.
    present: Vec<u32>,
    /// By round, then by object.
    objects: Vec<Vec<Colour>>,
    /// By round, then by place in `present`.
    atoms: Vec<Vec<Colour>>,
    /// What an object is told, by object.
    bags: Vec<Vec<u64>>,
}

impl<'t> FeatureCounter<'t> {
    /// For the states of a task, as a specification draws them.
    pub fn new(task: &'t Task, spec: &GraphSpec) -> Self {
        let graph = TaskGraph::new(task, spec);
        let rounds = spec.rounds;
        Self {
            task,
            rounds,
            props: Vec::new(),
            truth: Vec::new(),
            present: Vec::new(),
            objects: vec![Vec::new(); rounds + 1],
            atoms: vec![Vec::new(); rounds + 1],
            bags: vec![Vec::new(); graph.objects.len()],
            graph,
        }
    }

    /// The colours of a packed state in ascending order, each with how often it occurs over all
    /// rounds.
    pub fn count(&mut self, state: &[u32]) -> Vec<(u64, u32)> {
        self.colour(state);
        let mut colours = Vec::new();
        self.for_each(|colour| colours.push(colour));
        colours.sort_unstable();
        let runs = colours.chunk_by(|a, b| a == b);
        runs.map(|run| (run[0], run.len() as u32)).collect()
    }

    /// Colours a packed state.
    pub(crate) fn colour(&mut self, state: &[u32]) {
        self.props.clear();
        self.task.encoding().unpack(state, &mut self.props);
        self.graph.truth(&self.props, &mut self.truth);
        self.present.clear();
        for column in self.objects.iter_mut().chain(&mut self.atoms) {
            column.clear();
        }
        self.objects[0].extend_from_slice(&self.graph.objects);
        for (atom, colours) in self.graph.colours.iter().enumerate() {
            let colour = colours[usize::from(self.truth[atom])];
            if colour != 0 {
                self.present.push(atom as u32);
                self.atoms[0].push(colour);
            }
        }
        for round in 0..self.rounds {
            self.refine(round);
        }
    }

    fn refine(&mut self, round: usize) {
        for bag in &mut self.bags {
            bag.clear();
        }
        for (place, &atom) in self.present.iter().enumerate() {
            let own = self.atoms[round][place];
            let mut colour = aged(own);
            let tells = self.graph.tells(atom as usize);
            let arguments = &self.graph.arguments[self.graph.slots(atom as usize)];
            for (position, &object) in arguments.iter().enumerate() {
                colour = mix(colour, self.objects[round][object as usize]);
                if tells {
                    self.bags[object as usize].push(told(own, position));
                }
            }
            self.atoms[round + 1].push(colour);
        }
        for (object, bag) in self.bags.iter_mut().enumerate() {
            // A set: what is told twice counts once.
            bag.sort_unstable();
            bag.dedup();
            let sum = bag.iter().fold(0, |sum: u64, &x| sum.wrapping_add(x));
            let own = self.objects[round][object];
            self.objects[round + 1].push(mix(own, sum));
        }
    }

    /// Calls `visit` with every colour that counts as a feature, as often as it occurs.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(Colour)) {
        self.for_each_node(|colour, _| visit(colour));
    }

    /// As [`for_each`](Self::for_each), with the node. Nodes come in the order of rounds.
    pub(crate) fn for_each_node(&self, mut visit: impl FnMut(Colour, Node)) {
        let shallow = self.graph.shallow as u32;
        let shallow = self.present.partition_point(|&atom| atom < shallow);
        for (round, (objects, atoms)) in self.objects.iter().zip(&self.atoms).enumerate() {
            for (index, &colour) in objects.iter().enumerate() {
                visit(colour, Node::Object { round, index });
            }
            let shown = if round <= 1 { atoms.len() } else { shallow };
            for (place, &colour) in atoms[..shown].iter().enumerate() {
                visit(colour, Node::Atom { round, place });
            }
        }
    }

    /// Whether a node is a static relation past the first round. A colour of such a node is never
    /// one of another, since static relations have names of their own kind.
    pub(crate) fn is_late_static(&self, node: Node) -> bool {
        match node {
            Node::Object { .. } => false,
            Node::Atom { round, place } => {
                round > 1 && self.present[place] as usize >= self.graph.relations
            }
        }
    }

    /// Whether a node is an atom that a hub may change past the first round.
    pub(crate) fn is_of_hub(&self, node: Node) -> bool {
        match node {
            Node::Object { .. } => false,
            Node::Atom { round, place } => {
                let (predicate, _) = self.graph.first_makings[self.present[place] as usize];
                round > 1 && self.graph.of_hubs[predicate as usize]
            }
        }
    }

    /// How the colour of a node of the state coloured last was made.
    pub(crate) fn making(&self, node: Node) -> Making {
        match node {
            Node::Object { round: 0, index } => self.first_object(index),
            Node::Atom { round: 0, place } => self.first_atom(place),
            Node::Object { round, index } => {
                let mut told: Vec<(Colour, u32)> = self
                    .neighbours(index)
                    .map(|(place, position)| (self.atoms[round - 1][place], position as u32))
                    .collect();
                told.sort_unstable();
                told.dedup();
                Making::LaterObject {
                    own: self.objects[round - 1][index],
                    told,
                }
            }
            Node::Atom { round, place } => {
                let atom = self.present[place] as usize;
                let arguments = self.graph.arguments[self.graph.slots(atom)].iter();
                Making::LaterAtom {
                    own: self.atoms[round - 1][place],
                    objects: arguments
                        .map(|&object| self.objects[round - 1][object as usize])
                        .collect(),
                }
            }
        }
    }

    /// The nodes that a node's colour was made of.
    pub(crate) fn parts(&self, node: Node) -> Vec<Node> {
        match node {
            Node::Object { round: 0, .. } | Node::Atom { round: 0, .. } => Vec::new(),
            Node::Object { round, index } => {
                let own = Node::Object {
                    round: round - 1,
                    index,
                };
                let around = self.neighbours(index).map(|(place, _)| Node::Atom {
                    round: round - 1,
                    place,
                });
                std::iter::once(own).chain(around).collect()
            }
            Node::Atom { round, place } => {
                let own = Node::Atom {
                    round: round - 1,
                    place,
                };
                let atom = self.present[place] as usize;
                let arguments = self.graph.arguments[self.graph.slots(atom)].iter();
                let around = arguments.map(|&index| Node::Object {
                    round: round - 1,
                    index: index as usize,
                });
                std::iter::once(own).chain(around).collect()
            }
        }
    }

    /// The colour of a node of the state coloured last.
    pub(crate) fn colour_of(&self, node: Node) -> Colour {
        match node {
            Node::Object { round, index } => self.objects[round][index],
            Node::Atom { round, place } => self.atoms[round][place],
        }
    }

    /// The atoms that tell an object something, each by its place among those shown and with the
    /// object's position in it.
    fn neighbours(&self, object: usize) -> impl Iterator<Item = (usize, usize)> {
        self.present
            .iter()
            .enumerate()
            .filter(|&(_, &atom)| self.graph.tells(atom as usize))
            .flat_map(move |(place, &atom)| {
                let arguments = self.graph.arguments[self.graph.slots(atom as usize)].iter();
                let here = arguments.enumerate();
                here.filter(move |&(_, &other)| other as usize == object)
                    .map(move |(position, _)| (place, position))
            })
    }

    fn first_object(&self, index: usize) -> Making {
        let problem = self.task.problem();
        let domain = &problem.domain;
        let object = &problem.objects[index];
        let names = |mut names: Vec<String>| {
            names.sort_unstable();
            names
        };
        let types = object.types.iter();
        Making::Object {
            constant: (index < domain.constants.len()).then(|| object.name.clone()),
            types: names(
                types
                    .map(|t| domain.types[t.index()].name.clone())
                    .collect(),
            ),
            properties: names(
                properties(self.task, index)
                    .map(|predicate| domain.predicates[predicate].name.clone())
                    .collect(),
            ),
        }
    }

    fn first_atom(&self, place: usize) -> Making {
        let atom = self.present[place] as usize;
        let (predicate, statuses) = self.graph.first_makings[atom];
        let domain = &self.task.problem().domain;
        Making::Atom {
            predicate: domain.predicates[predicate as usize].name.clone(),
            status: statuses[usize::from(self.truth[atom])].expect("the atom is shown"),
        }
    }
}

/// A node of the graph after some rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Object {
        round: usize,
        index: usize,
    },
    /// An atom, by its place among those shown.
    Atom {
        round: usize,
        place: usize,
    },
}
