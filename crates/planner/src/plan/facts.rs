//! The atoms that are true, and those with a given object in a given place.

use std::collections::{HashMap, HashSet};

use homing_pddl::model::{Atom, ObjectId, PredicateId};

/// The atoms of one predicate. The order of the rows says nothing: whoever asks takes all of them.
#[derive(Clone, Default)]
struct Rows {
    rows: Vec<Vec<ObjectId>>,
    /// The rows with an object in a position.
    with: HashMap<(usize, ObjectId), Vec<usize>>,
}

impl Rows {
    fn insert(&mut self, arguments: &[ObjectId]) {
        let row = self.rows.len();
        self.rows.push(arguments.to_vec());
        for (position, &object) in arguments.iter().enumerate() {
            self.with.entry((position, object)).or_default().push(row);
        }
    }
}

/// A set of ground atoms.
#[derive(Clone)]
pub(super) struct Facts {
    atoms: HashSet<Atom<ObjectId>>,
    /// For each predicate, where the set is looked into by parts of atoms.
    index: Option<Vec<Rows>>,
    /// The predicates whose atoms may change.
    changing: Vec<bool>,
}

impl Facts {
    /// A set of atoms, with an index if `indexed`. The atoms of predicates that are not `changing`
    /// stay what they are.
    pub(super) fn new(
        atoms: impl Iterator<Item = Atom<ObjectId>>,
        indexed: bool,
        changing: Vec<bool>,
    ) -> Self {
        let mut facts = Self {
            atoms: atoms.collect(),
            index: None,
            changing,
        };
        if indexed {
            let mut index: Vec<Rows> = Vec::new();
            index.resize_with(facts.changing.len(), Rows::default);
            for atom in &facts.atoms {
                index[atom.predicate.index()].insert(&atom.arguments);
            }
            facts.index = Some(index);
        }
        facts
    }

    /// All of them, in no order.
    pub(super) fn atoms(&self) -> impl Iterator<Item = &Atom<ObjectId>> {
        self.atoms.iter()
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.atoms == other.atoms
    }

    pub(super) fn contains(&self, atom: &Atom<ObjectId>) -> bool {
        self.atoms.contains(atom)
    }

    /// Adds an atom; false if it was there.
    pub(super) fn insert(&mut self, atom: Atom<ObjectId>) -> bool {
        if self.atoms.contains(&atom) {
            return false;
        }
        if let Some(index) = &mut self.index {
            index[atom.predicate.index()].insert(&atom.arguments);
        }
        self.atoms.insert(atom)
    }

    /// Takes `del` away, then adds `add`, and drops all atoms of `derived` predicates.
    pub(super) fn change(
        &mut self,
        del: &[Atom<ObjectId>],
        add: Vec<Atom<ObjectId>>,
        derived: impl Fn(PredicateId) -> bool,
        any_derived: bool,
    ) {
        for atom in del {
            self.atoms.remove(atom);
        }
        self.atoms.extend(add);
        if any_derived {
            self.atoms.retain(|atom| !derived(atom.predicate));
        }
        if let Some(index) = &mut self.index {
            for (rows, _) in index.iter_mut().zip(&self.changing).filter(|(_, c)| **c) {
                *rows = Rows::default();
            }
            for atom in &self.atoms {
                let predicate = atom.predicate.index();
                if self.changing[predicate] {
                    index[predicate].insert(&atom.arguments);
                }
            }
        }
    }

    fn rows(&self, predicate: PredicateId) -> &Rows {
        let index = self.index.as_ref().expect("asked for by parts of atoms");
        &index[predicate.index()]
    }

    /// The atoms of a predicate that agree with the known arguments in one place at least; all of
    /// them where nothing is known. As few as one place tells.
    pub(super) fn candidates(
        &self,
        predicate: PredicateId,
        known: &[Option<ObjectId>],
    ) -> Candidates<'_> {
        let rows = self.rows(predicate);
        let mut best: Option<&[usize]> = None;
        for (position, object) in known.iter().enumerate() {
            let Some(object) = *object else { continue };
            let some = rows.with.get(&(position, object));
            let some: &[usize] = some.map_or(&[], Vec::as_slice);
            if best.is_none_or(|best| some.len() < best.len()) {
                best = Some(some);
            }
        }
        Candidates {
            rows: &rows.rows,
            some: best,
        }
    }
}

/// Argument lists of atoms.
#[derive(Clone, Copy)]
pub(super) struct Candidates<'a> {
    rows: &'a [Vec<ObjectId>],
    /// Those among them that are meant, if not all.
    some: Option<&'a [usize]>,
}

impl<'a> Candidates<'a> {
    pub(super) fn len(self) -> usize {
        self.some.map_or(self.rows.len(), <[usize]>::len)
    }

    pub(super) fn row(self, index: usize) -> &'a [ObjectId] {
        &self.rows[self.some.map_or(index, |some| some[index])]
    }
}
