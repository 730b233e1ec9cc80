//! Colours of one state from scratch, for any number of rounds.

use homing_planner::{PropId, Task};

use super::colour::{Colour, aged, mix, told};
use super::graph::TaskGraph;
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
            let arguments = &self.graph.arguments[self.graph.slots(atom as usize)];
            for (position, &object) in arguments.iter().enumerate() {
                colour = mix(colour, self.objects[round][object as usize]);
                self.bags[object as usize].push(told(own, position));
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
        self.for_each_marked(|colour, _| visit(colour));
    }

    /// As [`for_each`](Self::for_each); says also whether a colour is that of a static relation
    /// past the first round. One that is never is another, since static relations have names of
    /// their own kind.
    pub(crate) fn for_each_marked(&self, mut visit: impl FnMut(Colour, bool)) {
        let place_of = |first: usize| {
            self.present
                .partition_point(|&atom| (atom as usize) < first)
        };
        let (relations, shallow) = (place_of(self.graph.relations), place_of(self.graph.shallow));
        for (round, (objects, atoms)) in self.objects.iter().zip(&self.atoms).enumerate() {
            objects.iter().for_each(|&colour| visit(colour, false));
            let shown = if round <= 1 { atoms.len() } else { shallow };
            for (place, &colour) in atoms[..shown].iter().enumerate() {
                visit(colour, round > 1 && place >= relations);
            }
        }
    }
}
