//! All values of variables under which a lifted condition holds.
//!
//! A condition is a list of formulas that are still open. What mentions no variable without a value
//! is tested; otherwise an atom that is asked for gives its variables the values of each fact that
//! matches, a disjunction is tried part by part, and what is left takes any object of its type.

use std::rc::Rc;

use homing_pddl::model::{Atom, Equality, Formula, Literal, ObjectId, Parameter, Term};

use super::world::World;

/// A formula to be made true, and the slots of the variables that it can mention.
#[derive(Clone)]
struct Open<'a> {
    formula: &'a Formula,
    slots: Rc<[usize]>,
}

/// Called with the values of the first slots; to be content ends the search.
type Found<'f> = &'f mut dyn FnMut(&[ObjectId]) -> bool;

/// A search for values.
pub(super) struct Query<'w, 'a> {
    world: &'w World<'a>,
    /// The values of slots so far.
    values: Vec<Option<ObjectId>>,
    /// What a slot may stand for.
    parameters: Vec<&'w Parameter>,
    /// The first slots, whose values are asked for: each way to choose them is found once at least.
    wanted: usize,
}

impl<'w, 'a> Query<'w, 'a> {
    /// A query about a formula whose first variables have the values `given`, and whose next ones
    /// are `asked`. Tells `found` the values of both.
    pub(super) fn solutions(
        world: &'w World<'a>,
        given: &[ObjectId],
        asked: &'w [Parameter],
        body: &'w Formula,
        found: Found<'_>,
    ) -> bool {
        let mut query = Self::new(world, given, asked);
        let slots = (0..query.values.len()).collect();
        let open = vec![Open {
            formula: body,
            slots,
        }];
        query.solve(open, found)
    }

    /// The same where one of the atoms that the formula asks for is `fact`. Does not look inside
    /// `forall`.
    pub(super) fn solutions_with(
        world: &'w World<'a>,
        asked: &'w [Parameter],
        body: &'w Formula,
        fact: &Atom<ObjectId>,
        found: Found<'_>,
    ) {
        let mut query = Self::new(world, &[], asked);
        let slots = (0..query.values.len()).collect();
        query.enter(body, &slots, &mut Vec::new(), fact, found);
    }

    fn new(world: &'w World<'a>, given: &[ObjectId], asked: &'w [Parameter]) -> Self {
        let mut values: Vec<Option<ObjectId>> = given.iter().map(|&value| Some(value)).collect();
        values.resize(given.len() + asked.len(), None);
        Self {
            world,
            wanted: values.len(),
            values,
            parameters: asked.iter().collect(),
        }
    }

    /// The value of a term, or the slot that has none yet.
    fn value(&self, term: Term, slots: &[usize]) -> Result<ObjectId, usize> {
        match term {
            Term::Object(object) => Ok(object),
            Term::Parameter(index) => self.values[slots[index]].ok_or(slots[index]),
        }
    }

    /// Slots of variables with values given from outside come first and have no parameter here.
    fn parameter(&self, slot: usize) -> &'w Parameter {
        self.parameters[slot - (self.values.len() - self.parameters.len())]
    }

    fn may_be(&self, slot: usize, object: ObjectId) -> bool {
        self.world.may_be(self.parameter(slot), object)
    }

    /// Gives the slots of an atom's arguments the values of a fact, noting which; false where they
    /// do not agree.
    fn unify(
        &mut self,
        atom: &Atom<Term>,
        slots: &[usize],
        fact: &[ObjectId],
        set: &mut Vec<usize>,
    ) -> bool {
        for (&term, &object) in atom.arguments.iter().zip(fact) {
            match self.value(term, slots) {
                Ok(value) if value != object => return false,
                Ok(_) => {}
                Err(slot) => {
                    if !self.may_be(slot, object) {
                        return false;
                    }
                    self.values[slot] = Some(object);
                    set.push(slot);
                }
            }
        }
        true
    }

    fn unset(&mut self, set: &[usize]) {
        for &slot in set {
            self.values[slot] = None;
        }
    }

    /// New slots for the variables of a quantifier.
    fn open_scope(&mut self, variables: &'w [Parameter], slots: &[usize]) -> Rc<[usize]> {
        let from = self.values.len();
        self.parameters.extend(variables);
        self.values.resize(from + variables.len(), None);
        slots
            .iter()
            .copied()
            .chain(from..self.values.len())
            .collect()
    }

    fn close_scopes(&mut self, slots: usize) {
        self.parameters
            .truncate(self.parameters.len() - (self.values.len() - slots));
        self.values.truncate(slots);
    }

    /// Whether all variables that a formula mentions have values. Those that it binds itself come
    /// after the slots.
    fn is_bound(&self, formula: &Formula, slots: &[usize]) -> bool {
        let known = |term: &Term| match *term {
            Term::Parameter(index) if index < slots.len() => self.values[slots[index]].is_some(),
            _ => true,
        };
        match formula {
            Formula::Literal(literal) => literal.atom.arguments.iter().all(known),
            Formula::Equality(equality) => known(&equality.left) && known(&equality.right),
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().all(|part| self.is_bound(part, slots))
            }
            Formula::Forall(_, body) | Formula::Exists(_, body) => self.is_bound(body, slots),
        }
    }

    /// Whether a formula holds all of whose variables have values.
    fn holds(&self, open: &Open<'w>) -> bool {
        // A slot without a value is one that the formula does not mention: any object will do.
        let some = ObjectId::from_index(0);
        let slots = open.slots.iter();
        let mut bound = slots
            .map(|&slot| self.values[slot].unwrap_or(some))
            .collect();
        self.world.holds(open.formula, &mut bound)
    }

    /// Finds the ways to make all of `open` true.
    fn solve(&mut self, open: Vec<Open<'w>>, found: Found<'_>) -> bool {
        let slots = self.values.len();
        let done = match self.reduced(open) {
            Some(rest) => self.branch(&rest, found),
            None => false,
        };
        self.close_scopes(slots);
        done
    }

    /// Takes apart what can be, and tests what can be tested; nothing if a test fails.
    fn reduced(&mut self, mut open: Vec<Open<'w>>) -> Option<Vec<Open<'w>>> {
        let mut rest = Vec::with_capacity(open.len());
        while let Some(next) = open.pop() {
            match next.formula {
                Formula::And(parts) => open.extend(next.parts(parts)),
                _ if self.is_bound(next.formula, &next.slots) => {
                    if !self.holds(&next) {
                        return None;
                    }
                }
                Formula::Exists(variables, body) => open.push(Open {
                    slots: self.open_scope(variables, &next.slots),
                    formula: body,
                }),
                _ => rest.push(next),
            }
        }
        Some(rest)
    }

    /// Gives a variable a value in all ways that may make `open` true.
    fn branch(&mut self, open: &[Open<'w>], found: Found<'_>) -> bool {
        let without = |at: usize| {
            let mut rest = open.to_vec();
            rest.remove(at);
            rest
        };
        if let Some((at, atom)) = self.cheapest_atom(open) {
            return self.each_fact(atom, &open[at].slots, &without(at), found);
        }
        for (at, next) in open.iter().enumerate() {
            if let Some((slot, object)) = self.forced(next) {
                let fits = self.may_be(slot, object);
                return fits && self.with_value(slot, object, &without(at), found);
            }
        }
        for (at, next) in open.iter().enumerate() {
            if let Formula::Or(parts) = next.formula
                && parts.iter().all(gives_values)
            {
                let rest = without(at);
                for part in next.parts(parts) {
                    let mut open = rest.clone();
                    open.push(part);
                    if self.solve(open, found) {
                        return true;
                    }
                }
                return false;
            }
        }
        self.each_object(open, found)
    }

    /// The atom asked for that the fewest facts come near to.
    fn cheapest_atom(&self, open: &[Open<'w>]) -> Option<(usize, &'w Atom<Term>)> {
        let mut best: Option<(usize, usize, &'w Atom<Term>)> = None;
        for (at, next) in open.iter().enumerate() {
            if let Formula::Literal(Literal {
                atom,
                positive: true,
            }) = next.formula
            {
                let known = self.known(atom, &next.slots);
                let count = self.world.facts().candidates(atom.predicate, &known).len();
                if best.is_none_or(|(least, ..)| count < least) {
                    best = Some((count, at, atom));
                }
            }
        }
        best.map(|(_, at, atom)| (at, atom))
    }

    fn known(&self, atom: &Atom<Term>, slots: &[usize]) -> Vec<Option<ObjectId>> {
        let terms = atom.arguments.iter();
        terms.map(|&term| self.value(term, slots).ok()).collect()
    }

    /// The value that an equality forces on a variable.
    fn forced(&self, open: &Open<'w>) -> Option<(usize, ObjectId)> {
        let Formula::Equality(Equality {
            left,
            right,
            equal: true,
        }) = open.formula
        else {
            return None;
        };
        match (
            self.value(*left, &open.slots),
            self.value(*right, &open.slots),
        ) {
            (Ok(object), Err(slot)) | (Err(slot), Ok(object)) => Some((slot, object)),
            _ => None,
        }
    }

    /// Goes on with every fact that an atom matches.
    fn each_fact(
        &mut self,
        atom: &Atom<Term>,
        slots: &[usize],
        rest: &[Open<'w>],
        found: Found<'_>,
    ) -> bool {
        let known = self.known(atom, slots);
        let world = self.world;
        let candidates = world.facts().candidates(atom.predicate, &known);
        for index in 0..candidates.len() {
            let mut set = Vec::new();
            let done = self.unify(atom, slots, candidates.row(index), &mut set)
                && self.solve(rest.to_vec(), found);
            self.unset(&set);
            if done {
                return true;
            }
        }
        false
    }

    fn with_value(
        &mut self,
        slot: usize,
        object: ObjectId,
        rest: &[Open<'w>],
        found: Found<'_>,
    ) -> bool {
        self.values[slot] = Some(object);
        let done = self.solve(rest.to_vec(), found);
        self.values[slot] = None;
        done
    }

    /// Goes on with every object that the next variable without a value may stand for.
    fn each_object(&mut self, open: &[Open<'w>], found: Found<'_>) -> bool {
        let mentioned = |slot: usize| {
            open.iter().any(|next| {
                let mut index = next.slots.iter().position(|&own| own == slot);
                index
                    .take()
                    .is_some_and(|index| mentions(next.formula, index))
            })
        };
        let without = (0..self.values.len()).filter(|&slot| self.values[slot].is_none());
        // What is neither asked for nor mentioned needs an object to stand for, no matter which.
        let (asked, free): (Vec<usize>, Vec<usize>) =
            without.partition(|&slot| slot < self.wanted || mentioned(slot));
        let world = self.world;
        if !free
            .iter()
            .all(|&slot| world.is_inhabited(self.parameter(slot)))
        {
            return false;
        }
        let Some(&slot) = asked.first() else {
            let values = self.values[..self.wanted].iter();
            let values: Vec<ObjectId> = values
                .map(|value| value.expect("no slot is left"))
                .collect();
            return found(&values);
        };
        for object in world.objects() {
            if self.may_be(slot, object) && self.with_value(slot, object, open, found) {
                return true;
            }
        }
        false
    }

    /// Looks for the places where a formula asks for `fact`, and finds the ways to make the formula
    /// true with it; `rest` must be true besides.
    fn enter(
        &mut self,
        formula: &'w Formula,
        slots: &Rc<[usize]>,
        rest: &mut Vec<Open<'w>>,
        fact: &Atom<ObjectId>,
        found: Found<'_>,
    ) {
        match formula {
            Formula::Literal(Literal { atom, positive }) => {
                if !positive || atom.predicate != fact.predicate {
                    return;
                }
                let mut set = Vec::new();
                if self.unify(atom, slots, &fact.arguments, &mut set) {
                    self.solve(rest.clone(), found);
                }
                self.unset(&set);
            }
            Formula::And(parts) => {
                let before = rest.len();
                for (at, part) in parts.iter().enumerate() {
                    let others = parts.iter().enumerate().filter(|(other, _)| *other != at);
                    rest.extend(others.map(|(_, formula)| Open {
                        formula,
                        slots: Rc::clone(slots),
                    }));
                    self.enter(part, slots, rest, fact, found);
                    rest.truncate(before);
                }
            }
            Formula::Or(parts) => {
                for part in parts {
                    self.enter(part, slots, rest, fact, found);
                }
            }
            Formula::Exists(variables, body) => {
                let before = self.values.len();
                let slots = self.open_scope(variables, slots);
                self.enter(body, &slots, rest, fact, found);
                self.close_scopes(before);
            }
            Formula::Equality(_) | Formula::Forall(..) => {}
        }
    }
}

impl<'w> Open<'w> {
    fn parts(&self, parts: &'w [Formula]) -> impl Iterator<Item = Open<'w>> {
        parts.iter().map(|formula| Open {
            formula,
            slots: Rc::clone(&self.slots),
        })
    }
}

/// Whether making a formula true gives variables values by more than trying objects.
fn gives_values(formula: &Formula) -> bool {
    match formula {
        Formula::Literal(literal) => literal.positive,
        Formula::Equality(equality) => equality.equal,
        Formula::And(parts) => parts.iter().any(gives_values),
        Formula::Or(parts) => parts.iter().all(gives_values),
        Formula::Exists(_, body) => gives_values(body),
        Formula::Forall(..) => false,
    }
}

/// Whether a formula mentions the variable of this index.
fn mentions(formula: &Formula, index: usize) -> bool {
    let is = |term: &Term| *term == Term::Parameter(index);
    match formula {
        Formula::Literal(literal) => literal.atom.arguments.iter().any(is),
        Formula::Equality(equality) => is(&equality.left) || is(&equality.right),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().any(|part| mentions(part, index)),
        Formula::Forall(_, body) | Formula::Exists(_, body) => mentions(body, index),
    }
}
