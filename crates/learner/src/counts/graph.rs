//! The graph of a task: what all its states share.
//!
//! Objects and atoms are numbered. Atoms that may change come first, then those that are true in
//! every state; among these last the static relations without features past the first round.

use std::collections::HashMap;

use homing_pddl::model::{Atom, ObjectId};
use homing_planner::{PropId, Task};

use super::colour::{Colour, Status, of_atom, of_object};
use super::relations::{GraphSpec, static_predicates};

/// Marks a proposition that has no node.
pub(crate) const NO_ATOM: u32 = u32::MAX;

/// Objects and atoms of a task, with their first colours.
pub(crate) struct TaskGraph {
    /// First colours of objects.
    pub(crate) objects: Vec<Colour>,
    /// The arguments of atom `a` are `arguments[starts[a]..starts[a + 1]]`.
    pub(crate) starts: Vec<u32>,
    pub(crate) arguments: Vec<u32>,
    /// First colours of atoms, [where false, where true]; 0: such an atom is not shown.
    pub(crate) colours: Vec<[Colour; 2]>,
    /// The predicate of each atom, and what it is [where false, where true].
    pub(crate) first_makings: Vec<(u32, [Option<Status>; 2])>,
    /// Atoms from this one on are of static relations.
    pub(crate) relations: usize,
    /// Atoms from this one on have no features past the first round.
    pub(crate) shallow: usize,
    /// Whether static relations with features past the first round tell their objects nothing.
    quiet: bool,
    /// By predicate: whether its atoms are those of hubs.
    pub(crate) of_hubs: Vec<bool>,
    /// By proposition: its atom or [`NO_ATOM`], and whether the atom is true where the proposition
    /// is.
    pub(crate) atom_of: Vec<(u32, bool)>,
}

/// What the goal says about atoms.
struct Wishes<'t> {
    /// `true`: must hold; `false`: must not.
    by_atom: HashMap<&'t Atom<ObjectId>, bool>,
}

impl<'t> Wishes<'t> {
    fn new(task: &'t Task) -> Self {
        let literals = task.problem().goal.literals.iter();
        let mut by_atom: HashMap<_, _> = literals.map(|l| (&l.atom, l.positive)).collect();
        // What the goal became in grounding, where it was more than literals.
        for prop in task.goal() {
            let proposition = &task.propositions()[prop.index()];
            if !proposition.is_helper {
                by_atom.insert(&proposition.atom, proposition.positive);
            }
        }
        Self { by_atom }
    }

    /// What an atom is [where false, where true].
    fn statuses(&self, atom: &Atom<ObjectId>) -> [Option<Status>; 2] {
        match self.by_atom.get(atom) {
            None => [None, Some(Status::True)],
            Some(true) => [Some(Status::Wanted), Some(Status::Reached)],
            Some(false) => [Some(Status::Absent), Some(Status::Unwanted)],
        }
    }
}

impl TaskGraph {
    pub(crate) fn new(task: &Task, spec: &GraphSpec) -> Self {
        let domain = &task.problem().domain;
        let is_static = static_predicates(domain);
        let named = |list: &[String], atom: &Atom<ObjectId>| {
            list.contains(&domain.predicates[atom.predicate.index()].name)
        };
        let wishes = Wishes::new(task);
        let mut graph = Self {
            objects: first_colours(task, &is_static),
            starts: vec![0],
            arguments: Vec::new(),
            colours: Vec::new(),
            first_makings: Vec::new(),
            relations: 0,
            shallow: 0,
            quiet: spec.quiet,
            of_hubs: { domain.predicates.iter() }
                .map(|predicate| spec.hubs.contains(&predicate.name))
                .collect(),
            atom_of: Vec::new(),
        };
        graph.add_propositions(task, &wishes);
        // A fluent that never changes in this problem is a fluent all the same.
        let of_fluents = |atom: &&Atom<ObjectId>| !is_static[atom.predicate.index()];
        for atom in task.statics().iter().filter(of_fluents) {
            graph.add(task, atom, wishes.statuses(atom));
        }
        graph.relations = graph.colours.len();
        let relations = || {
            let relation = |atom: &&Atom<ObjectId>| {
                is_static[atom.predicate.index()]
                    && atom.arguments.len() >= 2
                    && named(&spec.shown, atom)
            };
            task.statics().iter().filter(relation)
        };
        for deep in [true, false] {
            graph.shallow = graph.colours.len();
            for atom in relations().filter(|atom| named(&spec.deep, atom) == deep) {
                graph.add(task, atom, [None, Some(Status::Static)]);
            }
        }
        graph
    }

    /// An atom for each proposition. A complement speaks for its atom only where the atom itself
    /// was left out.
    fn add_propositions(&mut self, task: &Task, wishes: &Wishes<'_>) {
        let propositions = task.propositions();
        let positive: std::collections::HashSet<&Atom<ObjectId>> = propositions
            .iter()
            .filter(|p| p.positive)
            .map(|p| &p.atom)
            .collect();
        for proposition in propositions {
            // Nor does a helper say what others do not.
            let is_spoken_for = !proposition.positive && positive.contains(&proposition.atom);
            if proposition.is_helper || is_spoken_for {
                self.atom_of.push((NO_ATOM, false));
                continue;
            }
            let atom = self.colours.len() as u32;
            self.atom_of.push((atom, proposition.positive));
            let statuses = wishes.statuses(&proposition.atom);
            self.add(task, &proposition.atom, statuses);
        }
    }

    fn add(&mut self, task: &Task, atom: &Atom<ObjectId>, statuses: [Option<Status>; 2]) {
        let name = &task.problem().domain.predicates[atom.predicate.index()].name;
        let objects = atom.arguments.iter().map(|object| object.0);
        self.arguments.extend(objects);
        self.starts.push(self.arguments.len() as u32);
        let colours = statuses.map(|status| status.map_or(0, |status| of_atom(name, status)));
        self.colours.push(colours);
        self.first_makings.push((atom.predicate.0, statuses));
    }

    pub(crate) fn atom_count(&self) -> usize {
        self.colours.len()
    }

    /// Whether an atom tells its objects what it is.
    #[inline]
    pub(crate) fn tells(&self, atom: usize) -> bool {
        !(self.quiet && (self.relations..self.shallow).contains(&atom))
    }

    /// Where the arguments of an atom stand in `arguments`.
    #[inline]
    pub(crate) fn slots(&self, atom: usize) -> std::ops::Range<usize> {
        self.starts[atom] as usize..self.starts[atom + 1] as usize
    }

    /// Puts the truth of every atom into `truth`: that of a state of which `props` are the true
    /// propositions.
    pub(crate) fn truth(&self, props: &[PropId], truth: &mut Vec<bool>) {
        truth.clear();
        truth.resize(self.atom_count(), true);
        for &(atom, positive) in self.atom_of.iter().filter(|(atom, _)| *atom != NO_ATOM) {
            truth[atom as usize] = !positive;
        }
        for prop in props {
            let (atom, positive) = self.atom_of[prop.index()];
            if atom != NO_ATOM {
                truth[atom as usize] = positive;
            }
        }
    }
}

/// Unary predicates that hold of an object for ever.
pub(crate) fn properties(task: &Task, object: usize) -> impl Iterator<Item = usize> {
    let is_static = static_predicates(&task.problem().domain);
    task.statics()
        .iter()
        .filter(move |atom| atom.arguments.len() == 1 && atom.arguments[0].index() == object)
        .map(|atom| atom.predicate.index())
        .filter(move |&predicate| is_static[predicate])
}

/// First colours of objects: constants by name, types, and properties that never change.
fn first_colours(task: &Task, is_static: &[bool]) -> Vec<Colour> {
    let problem = task.problem();
    let domain = &problem.domain;
    let mut properties: Vec<Vec<&str>> = vec![Vec::new(); problem.objects.len()];
    for atom in task.statics() {
        if let [object] = atom.arguments[..]
            && is_static[atom.predicate.index()]
        {
            let name = &domain.predicates[atom.predicate.index()].name;
            properties[object.index()].push(name);
        }
    }
    let objects = problem.objects.iter().zip(&properties).enumerate();
    objects
        .map(|(index, (object, properties))| {
            let constant = (index < domain.constants.len()).then_some(object.name.as_str());
            let types: Vec<&str> = object
                .types
                .iter()
                .map(|t| domain.types[t.index()].name.as_str())
                .collect();
            of_object(constant, &types, properties)
        })
        .collect()
}
