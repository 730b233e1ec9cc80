//! Objects that nothing tells apart: of several steps that differ only in such objects, one is
//! enough.
//!
//! Two objects can be swapped if the swap maps the task onto itself: same types, same static atoms,
//! same function values, same goals, same propositions and same ground actions, each with the one in
//! the place of the other. If besides the same atoms of a state hold of both, the swap leaves the
//! state as it is, and for every step with the one there is a step with the other that leads to the
//! same state but for their names. A search that takes only the first of them finds a plan whenever
//! there is one: the swap turns any plan that begins with another into one that begins with the
//! first.
//!
//! Two hundred slices of bread are one class, so that a state with two million ways to make a
//! sandwich has a handful of successors.
//!
//! Sets of atoms and actions are compared by sums of 64-bit hashes. Classes of which two members
//! occur in one atom or one action are left alone: then every swap can be seen one object at a time.

use homing_pddl::model::{Atom, ObjectId};

use crate::csr::Csr;
use crate::hash::hash_words;
use crate::successors::SuccessorGenerator;
use crate::task::{ActionId, PropId, Proposition, Task};
use crate::watch::{Pace, Stop, Watch};

/// Stands for the object that is looked at; no object has this number.
const SELF: u32 = u32::MAX;

/// Not a member of any class.
const NONE: u32 = u32::MAX;

/// What is hashed of an object, so that an atom is not taken for an action of the same numbers.
#[derive(Clone, Copy)]
enum Kind {
    Type,
    Static,
    Value,
    Proposition,
    Complement,
    Goal,
    Action,
}

/// The classes of interchangeable objects of a task.
#[derive(Debug)]
pub struct Interchangeable {
    /// By object: its member number, or [`NONE`]. Members of a class follow one another.
    member: Vec<u32>,
    /// Where each class begins, and where the last ends.
    classes: Vec<u32>,
    /// By proposition: members that it mentions, each with the hash of how.
    mentions: Csr<(u32, u64)>,
    /// Variables with a proposition that mentions a member.
    variables: Vec<u32>,
    /// By member: what holds of it in the state that was looked at last.
    holds: Vec<u64>,
    /// By member: whether it is the first of those that nothing tells apart in that state.
    first: Vec<bool>,
    /// The same in the state before, where two are compared.
    first_before: Vec<bool>,
    /// By proposition: whether every action that needs it has the members that it mentions among its
    /// arguments. A condition on all objects of a type is one that has not.
    is_own: Vec<bool>,
    /// By proposition that holds in that state: whether it mentions a member that is not the first.
    is_refused: Vec<bool>,
    /// Propositions of that state that mention a member.
    props: Vec<PropId>,
    order: Vec<u32>,
}

impl Interchangeable {
    /// Finds the classes; none at all where two objects are never alike.
    ///
    /// # Errors
    ///
    /// If the watch says stop.
    pub fn of(task: &Task, watch: &mut dyn Watch) -> Result<Option<Self>, Stop> {
        let mut pace = Pace::building(watch, "interchangeable objects")?;
        // A helper stands for a condition of many objects without naming them.
        if task.propositions().iter().any(|prop| prop.is_helper) {
            return Ok(None);
        }
        let mut signatures = lifted_signatures(task);
        for (index, prop) in task.propositions().iter().enumerate() {
            pace.work(1)?;
            note(&mut signatures, sightings_in(prop));
            if task
                .goal()
                .binary_search(&PropId::from_index(index))
                .is_ok()
            {
                let name = [prop.atom.predicate.0, 0];
                note(
                    &mut signatures,
                    sightings(Kind::Goal, name, &prop.atom.arguments),
                );
            }
        }
        // Most tasks have no candidates: then the actions, which are many, are not looked at.
        let mut class = classes_of(&signatures, task.problem().domain.constants.len());
        if class.iter().all(|&class| class == NONE) {
            return Ok(None);
        }
        for action in task.actions() {
            pace.work(1)?;
            let name = [task.schema(action).0, 0];
            let seen = sightings(Kind::Action, name, task.arguments(action));
            note(
                &mut signatures,
                seen.filter(|(object, _)| class[object.index()] != NONE),
            );
        }
        class = classes_of(&signatures, task.problem().domain.constants.len());
        drop_tied(task, &mut class, &mut pace)?;
        Self::of_classes(task, &class, &mut pace)
    }

    fn of_classes(task: &Task, class: &[u32], pace: &mut Pace<'_>) -> Result<Option<Self>, Stop> {
        let mut objects: Vec<usize> = (0..class.len()).filter(|&o| class[o] != NONE).collect();
        if objects.is_empty() {
            return Ok(None);
        }
        objects.sort_by_key(|&object| (class[object], object));
        let mut member = vec![NONE; class.len()];
        let mut classes = Vec::new();
        for (index, &object) in objects.iter().enumerate() {
            if index == 0 || class[object] != class[objects[index - 1]] {
                classes.push(index as u32);
            }
            member[object] = index as u32;
        }
        classes.push(objects.len() as u32);
        let mut mentions = Csr::default();
        for prop in task.propositions() {
            let seen = sightings_in(prop).map(|(object, hash)| (member[object.index()], hash));
            mentions.push_row(seen.filter(|&(member, _)| member != NONE));
        }
        let mut is_own = vec![true; task.propositions().len()];
        for action in task.actions() {
            pace.work(1)?;
            for prop in task.pre(action) {
                let arguments = task.arguments(action);
                let is_argument = |&(seen, _): &(u32, u64)| {
                    arguments
                        .iter()
                        .any(|&object| member[object.index()] == seen)
                };
                if !mentions.row(prop.index()).iter().all(is_argument) {
                    is_own[prop.index()] = false;
                }
            }
        }
        let mut variables: Vec<u32> = (0..mentions.len())
            .filter(|&prop| !mentions.row(prop).is_empty())
            .map(|prop| task.encoding().place(PropId::from_index(prop)).0 as u32)
            .collect();
        variables.sort_unstable();
        variables.dedup();
        Ok(Some(Self {
            member,
            classes,
            mentions,
            variables,
            holds: vec![0; objects.len()],
            first: vec![true; objects.len()],
            first_before: Vec::new(),
            is_refused: vec![false; is_own.len()],
            is_own,
            props: Vec::new(),
            order: Vec::new(),
        }))
    }

    /// The classes, as objects.
    pub fn classes(&self) -> Vec<Vec<ObjectId>> {
        let mut classes = vec![Vec::new(); self.classes.len() - 1];
        for (object, &member) in self.member.iter().enumerate() {
            if member != NONE {
                let class = self.classes.partition_point(|&begin| begin <= member) - 1;
                classes[class].push(ObjectId(object as u32));
            }
        }
        classes
    }

    /// Whether this action is the first of those that differ only in objects that nothing tells
    /// apart in the state that was looked at last.
    fn is_first(&self, task: &Task, action: ActionId) -> bool {
        task.arguments(action).iter().all(|object| {
            let member = self.member[object.index()];
            member == NONE || self.first[member as usize]
        })
    }

    /// Lists the applicable actions of a state, of those alike only the first.
    pub fn applicable(
        &mut self,
        task: &Task,
        generator: &SuccessorGenerator,
        state: &[u32],
        actions: &mut Vec<ActionId>,
    ) {
        if !self.look_at(task, state) {
            return generator.applicable(state, actions);
        }
        let enter = |prop: PropId| !self.is_refused[prop.index()];
        generator.applicable_within(state, enter, actions);
        self.keep_firsts(task, actions);
    }

    /// Whether each object that is the first of those alike after a step was so before it: then every
    /// action that is the first of those alike now, and was possible before, was the first then. Leaves
    /// the state after the step as the one looked at last.
    pub(crate) fn keeps_firsts(&mut self, task: &Task, before: &[u32], after: &[u32]) -> bool {
        self.look_at(task, before);
        let mut first_before = std::mem::take(&mut self.first_before);
        first_before.clone_from(&self.first);
        self.look_at(task, after);
        let firsts = self.first.iter().zip(&first_before);
        let keeps = { firsts }.all(|(&after, &before)| before || !after);
        self.first_before = first_before;
        keeps
    }

    /// Leaves out the actions that are like an earlier one in the state looked at last.
    pub(crate) fn keep_firsts(&self, task: &Task, actions: &mut Vec<ActionId>) {
        actions.retain(|&action| self.is_first(task, action));
    }

    /// Finds out which objects nothing tells apart in a state; `false` if there are none.
    fn look_at(&mut self, task: &Task, state: &[u32]) -> bool {
        self.holds.fill(0);
        self.props.clear();
        let variables = self.variables.iter();
        let told = variables.filter_map(|&variable| task.encoding().true_prop(variable, state));
        self.props
            .extend(told.filter(|prop| !self.mentions.row(prop.index()).is_empty()));
        for prop in &self.props {
            for &(member, hash) in self.mentions.row(prop.index()) {
                let holds = &mut self.holds[member as usize];
                *holds = holds.wrapping_add(hash);
            }
        }
        let mut any = false;
        for class in self.classes.windows(2) {
            let holds = &self.holds;
            self.order.clear();
            self.order.extend(class[0]..class[1]);
            self.order
                .sort_unstable_by_key(|&member| (holds[member as usize], member));
            for (index, &member) in self.order.iter().enumerate() {
                let before = index.checked_sub(1).map(|index| self.order[index]);
                let is_first =
                    before.is_none_or(|before| holds[before as usize] != holds[member as usize]);
                self.first[member as usize] = is_first;
                any |= !is_first;
            }
        }
        if any {
            for prop in &self.props {
                let mentions = self.mentions.row(prop.index());
                let later = |&(member, _): &(u32, u64)| !self.first[member as usize];
                self.is_refused[prop.index()] =
                    self.is_own[prop.index()] && mentions.iter().any(later);
            }
        }
        any
    }
}

/// How each object stands in an atom, an action or a value: the rest of it, with the object's own
/// places marked, and the place at which it is seen, so that the same atom counts once a place.
fn sightings(
    kind: Kind,
    name: [u32; 2],
    arguments: &[ObjectId],
) -> impl Iterator<Item = (ObjectId, u64)> + '_ {
    arguments.iter().enumerate().map(move |(index, &object)| {
        let marked = arguments
            .iter()
            .map(|&other| if other == object { SELF } else { other.0 });
        let head = [kind as u32, name[0], name[1], index as u32];
        (object, hash_words(head.into_iter().chain(marked)))
    })
}

/// The sightings in a proposition or its complement.
fn sightings_in(prop: &Proposition) -> impl Iterator<Item = (ObjectId, u64)> + '_ {
    let kind = match prop.positive {
        true => Kind::Proposition,
        false => Kind::Complement,
    };
    sightings(kind, [prop.atom.predicate.0, 0], &prop.atom.arguments)
}

/// Adds sightings to the signatures of their objects.
fn note(signatures: &mut [u64], sightings: impl Iterator<Item = (ObjectId, u64)>) {
    for (object, hash) in sightings {
        let signature = &mut signatures[object.index()];
        *signature = signature.wrapping_add(hash);
    }
}

/// By object: its types, what always holds of it, and the values that functions give it.
fn lifted_signatures(task: &Task) -> Vec<u64> {
    let problem = task.problem();
    let mut signatures = vec![0u64; problem.objects.len()];
    for (signature, object) in signatures.iter_mut().zip(&problem.objects) {
        for kind in &object.types {
            let hash = hash_words([Kind::Type as u32, kind.0].into_iter());
            *signature = signature.wrapping_add(hash);
        }
    }
    let dynamic: std::collections::HashSet<&Atom<ObjectId>> =
        task.propositions().iter().map(|prop| &prop.atom).collect();
    for atom in problem.init.iter().filter(|atom| !dynamic.contains(atom)) {
        let name = [atom.predicate.0, 0];
        note(
            &mut signatures,
            sightings(Kind::Static, name, &atom.arguments),
        );
    }
    for value in &problem.values {
        let name = [value.function.0, value.value];
        note(
            &mut signatures,
            sightings(Kind::Value, name, &value.arguments),
        );
    }
    signatures
}

/// By object: the first object with the same signature, or [`NONE`] if there is no other. The first
/// objects are constants: the domain itself can tell them apart.
fn classes_of(signatures: &[u64], constants: usize) -> Vec<u32> {
    let mut order: Vec<usize> = (constants..signatures.len()).collect();
    order.sort_by_key(|&object| (signatures[object], object));
    let mut class = vec![NONE; signatures.len()];
    for alike in order.chunk_by(|&a, &b| signatures[a] == signatures[b]) {
        if alike.len() > 1 {
            alike
                .iter()
                .for_each(|&object| class[object] = alike[0] as u32);
        }
    }
    class
}

/// Leaves alone the classes of which two members are in one atom or one action.
fn drop_tied(task: &Task, class: &mut [u32], pace: &mut Pace<'_>) -> Result<(), Stop> {
    let mut tied = vec![false; class.len()];
    let mut look = |arguments: &[ObjectId]| {
        for (index, &object) in arguments.iter().enumerate() {
            let own = class[object.index()];
            let again = arguments[index + 1..]
                .iter()
                .any(|&other| other != object && class[other.index()] == own);
            if own != NONE && again {
                tied[own as usize] = true;
            }
        }
    };
    for prop in task.propositions() {
        look(&prop.atom.arguments);
    }
    for atom in &task.problem().init {
        look(&atom.arguments);
    }
    for value in &task.problem().values {
        look(&value.arguments);
    }
    for action in task.actions() {
        pace.work(1)?;
        look(task.arguments(action));
    }
    for own in class.iter_mut() {
        if *own != NONE && tied[*own as usize] {
            *own = NONE;
        }
    }
    Ok(())
}
