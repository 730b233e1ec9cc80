//! A state as a set of ground atoms, and lifted conditions and effects evaluated in it directly.
//!
//! Nothing here knows of grounding. What a condition asks for is looked up among the facts
//! ([`Query`]); a `forall` tries the objects of its types one by one; an axiom is looked at again
//! where a fact is new that it asks for.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use homing_pddl::model::{
    ActionSchema, Atom, Axiom, Condition, Equality, Formula, Literal, ObjectId, Parameter,
    PredicateId, Term,
};
use homing_pddl::{Domain, Problem, ShownFormula};

use super::facts::Facts;
use super::query::Query;
use super::{names, objects_by_name};

/// All axioms.
enum Axioms {
    /// Those of one level after the other: none asks for a negation of its own level.
    Levels(Vec<Vec<Derivation>>),
    /// A predicate may depend on its own negation, for other arguments.
    Circular(Vec<Derivation>),
}

/// An axiom whose condition is one formula.
struct Derivation {
    predicate: PredicateId,
    parameters: Vec<Parameter>,
    body: Formula,
    /// A `forall` in it asks for what is derived along with it.
    asks_for_all: bool,
}

/// A state under replay.
#[derive(Clone)]
pub struct World<'a> {
    problem: &'a Problem,
    named: Rc<HashMap<&'a str, ObjectId>>,
    /// What is true, derived atoms included.
    facts: Facts,
    axioms: Rc<Axioms>,
    /// The derived atoms that count as true under a negation, where these are not the facts.
    negated: Option<HashSet<Atom<ObjectId>>>,
    /// A derived atom that is neither true nor false.
    unsettled: Option<Atom<ObjectId>>,
}

/// What a parameter stands for.
pub(super) fn value(term: Term, arguments: &[ObjectId]) -> ObjectId {
    match term {
        Term::Object(object) => object,
        Term::Parameter(parameter) => arguments[parameter],
    }
}

fn ground(atom: &Atom<Term>, arguments: &[ObjectId]) -> Atom<ObjectId> {
    let terms = atom.arguments.iter();
    Atom {
        predicate: atom.predicate,
        arguments: terms.map(|&term| value(term, arguments)).collect(),
    }
}

/// Whether everything that a formula mentions is among the first `bound` variables.
fn is_bound(formula: &Formula, bound: usize) -> bool {
    let known = |term: &Term| !matches!(term, Term::Parameter(index) if *index >= bound);
    match formula {
        Formula::Literal(literal) => literal.atom.arguments.iter().all(known),
        Formula::Equality(equality) => known(&equality.left) && known(&equality.right),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(|part| is_bound(part, bound)),
        // Its own variables come last, whatever they are.
        Formula::Forall(..) | Formula::Exists(..) => false,
    }
}

/// A condition as one formula.
fn whole(condition: &Condition<Term>) -> Formula {
    let literals = condition.literals.iter().cloned().map(Formula::Literal);
    let equalities = condition.equalities.iter().cloned().map(Formula::Equality);
    let formulas = condition.formulas.iter().cloned();
    Formula::And(literals.chain(equalities).chain(formulas).collect())
}

impl<'a> World<'a> {
    /// The initial state of a problem.
    pub(super) fn new(problem: &'a Problem) -> Self {
        let domain = &problem.domain;
        let init = problem.init.iter().cloned();
        let mut world = Self {
            problem,
            named: Rc::new(objects_by_name(problem)),
            facts: Facts::new(init, asks_by_parts(problem), changing(domain)),
            axioms: Rc::new(levels(&domain.axioms)),
            negated: None,
            unsettled: None,
        };
        world.derive();
        world
    }

    pub(super) fn problem(&self) -> &'a Problem {
        self.problem
    }

    pub(super) fn named(&self) -> &HashMap<&'a str, ObjectId> {
        &self.named
    }

    /// Whether the same is true in another one.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.facts.is_same(&other.facts)
    }

    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..self.problem.objects.len()).map(ObjectId::from_index)
    }

    /// Whether a variable may stand for an object.
    pub(super) fn may_be(&self, variable: &Parameter, object: ObjectId) -> bool {
        let object = &self.problem.objects[object.index()];
        self.problem.domain.fits(&object.types, &variable.types)
    }

    /// Whether there is an object that a variable may stand for.
    pub(super) fn is_inhabited(&self, variable: &Parameter) -> bool {
        self.objects().any(|object| self.may_be(variable, object))
    }

    /// What is true, in order.
    pub fn true_atoms(&self) -> Vec<&Atom<ObjectId>> {
        let mut atoms: Vec<&Atom<ObjectId>> = self.facts.atoms().collect();
        atoms.sort_by_key(|atom| (atom.predicate, &atom.arguments));
        atoms
    }

    /// Whether a formula holds, given values of its free variables.
    pub(super) fn holds(&self, formula: &Formula, bound: &mut Vec<ObjectId>) -> bool {
        match formula {
            Formula::Literal(Literal { atom, positive }) => {
                let fact = ground(atom, bound);
                match &self.negated {
                    Some(negated)
                        if !positive && self.problem.domain.is_derived(atom.predicate) =>
                    {
                        !negated.contains(&fact)
                    }
                    _ => self.facts.contains(&fact) == *positive,
                }
            }
            Formula::Equality(Equality { left, right, equal }) => {
                (value(*left, bound) == value(*right, bound)) == *equal
            }
            Formula::And(parts) => parts.iter().all(|part| self.holds(part, bound)),
            Formula::Or(parts) => parts.iter().any(|part| self.holds(part, bound)),
            Formula::Exists(variables, body) => {
                Query::solutions(self, bound, variables, body, &mut |_| true)
            }
            Formula::Forall(variables, body) => !self.fails(variables, body, bound),
        }
    }

    /// Whether `body` is false under some values of `variables`. What is known early to be true is
    /// not gone into.
    fn fails(&self, variables: &[Parameter], body: &Formula, bound: &mut Vec<ObjectId>) -> bool {
        let parts = match body {
            Formula::Or(parts) => parts.as_slice(),
            _ => &[],
        };
        let known = bound.len();
        if parts
            .iter()
            .any(|part| is_bound(part, known) && self.holds(part, bound))
        {
            return false;
        }
        let Some((variable, rest)) = variables.split_first() else {
            return !self.holds(body, bound);
        };
        self.objects().any(|object| {
            if !self.may_be(variable, object) {
                return false;
            }
            bound.push(object);
            let fails = self.fails(rest, body, bound);
            bound.pop();
            fails
        })
    }

    /// Derives all that axioms derive from what is true.
    fn derive(&mut self) {
        let axioms = Rc::clone(&self.axioms);
        match &*axioms {
            Axioms::Levels(levels) => levels.iter().for_each(|level| self.derive_level(level)),
            Axioms::Circular(all) => self.derive_circular(all),
        }
    }

    /// What is certain and what is possible approach each other: what is possible follows where
    /// only the certain denies, what is certain where all that is possible denies.
    fn derive_circular(&mut self, all: &[Derivation]) {
        let domain = &self.problem.domain;
        let derived = |world: &Self| -> HashSet<Atom<ObjectId>> {
            let atoms = world.facts.atoms();
            atoms
                .filter(|atom| domain.is_derived(atom.predicate))
                .cloned()
                .collect()
        };
        let given = self.facts.clone();
        let mut certain = HashSet::new();
        loop {
            self.facts = given.clone();
            self.negated = Some(std::mem::take(&mut certain));
            self.derive_level(all);
            let before = self.negated.replace(derived(self));
            self.facts = given.clone();
            self.derive_level(all);
            certain = derived(self);
            if Some(&certain) == before.as_ref() {
                break;
            }
        }
        let possible = self.negated.take().expect("just set");
        let open = possible.difference(&certain);
        self.unsettled = open
            .min_by_key(|atom| (atom.predicate, &atom.arguments))
            .cloned();
    }

    /// A derived atom that is neither true nor false here, as PDDL: axioms let it depend on its own
    /// negation.
    pub(super) fn unsettled(&self) -> Option<String> {
        let atom = self.unsettled.as_ref()?;
        let predicate = &self.problem.domain.predicates[atom.predicate.index()];
        Some(names(self.problem, &predicate.name, &atom.arguments))
    }

    /// First all that follows by itself; then, as long as there are new facts, what follows from
    /// each of them together with the others.
    fn derive_level(&mut self, level: &[Derivation]) {
        let mut new: Vec<Atom<ObjectId>> = Vec::new();
        let mut next = 0;
        let mut first = true;
        loop {
            for axiom in level.iter().filter(|axiom| first || axiom.asks_for_all) {
                let found = self.consequences(axiom, None);
                self.learn(found, &mut new);
            }
            first = false;
            if next == new.len() {
                return;
            }
            while next < new.len() {
                let fact = new[next].clone();
                next += 1;
                for axiom in level {
                    let found = self.consequences(axiom, Some(&fact));
                    self.learn(found, &mut new);
                }
            }
        }
    }

    /// What an axiom derives and is not known yet; only what it derives with a fact, if one is given.
    fn consequences(
        &self,
        axiom: &Derivation,
        with: Option<&Atom<ObjectId>>,
    ) -> Vec<Atom<ObjectId>> {
        let mut found = Vec::new();
        let mut note = |arguments: &[ObjectId]| {
            let atom = Atom {
                predicate: axiom.predicate,
                arguments: arguments.to_vec(),
            };
            if !self.facts.contains(&atom) {
                found.push(atom);
            }
            axiom.parameters.is_empty()
        };
        let (parameters, body) = (&axiom.parameters, &axiom.body);
        match with {
            None => {
                Query::solutions(self, &[], parameters, body, &mut note);
            }
            Some(fact) => Query::solutions_with(self, parameters, body, fact, &mut note),
        }
        found
    }

    fn learn(&mut self, found: Vec<Atom<ObjectId>>, new: &mut Vec<Atom<ObjectId>>) {
        for atom in found {
            if self.facts.insert(atom.clone()) {
                new.push(atom);
            }
        }
    }

    /// Applies an action, whether it is applicable or not.
    pub(super) fn apply(&mut self, schema: &ActionSchema, arguments: &[ObjectId]) {
        let mut del: Vec<Atom<ObjectId>> = Vec::new();
        let mut add: Vec<Atom<ObjectId>> = Vec::new();
        del.extend(schema.del.iter().map(|atom| ground(atom, arguments)));
        add.extend(schema.add.iter().map(|atom| ground(atom, arguments)));
        for effect in &schema.conditional {
            let condition = whole(&effect.condition);
            let mut note = |values: &[ObjectId]| {
                del.extend(effect.del.iter().map(|atom| ground(atom, values)));
                add.extend(effect.add.iter().map(|atom| ground(atom, values)));
                false
            };
            Query::solutions(self, arguments, &effect.parameters, &condition, &mut note);
        }
        let domain = &self.problem.domain;
        let is_derived = |predicate| domain.is_derived(predicate);
        self.facts
            .change(&del, add, is_derived, !domain.axioms.is_empty());
        self.derive();
    }

    /// The first part of a condition that does not hold, as PDDL.
    pub(super) fn violation(
        &self,
        condition: &Condition<Term>,
        arguments: &[ObjectId],
    ) -> Option<String> {
        let Formula::And(parts) = whole(condition) else {
            unreachable!("a condition is a conjunction");
        };
        let mut bound = arguments.to_vec();
        let part = parts.iter().find(|part| !self.holds(part, &mut bound))?;
        Some(self.show(part, arguments))
    }

    /// The first part of the goal that does not hold, as PDDL.
    pub(super) fn goal_violation(&self) -> Option<String> {
        let goal = &self.problem.goal;
        let negated = |text: String, positive: bool| {
            if positive {
                text
            } else {
                format!("(not {text})")
            }
        };
        for literal in &goal.literals {
            if self.facts.contains(&literal.atom) != literal.positive {
                let predicate = &self.problem.domain.predicates[literal.atom.predicate.index()];
                let text = names(self.problem, &predicate.name, &literal.atom.arguments);
                return Some(negated(text, literal.positive));
            }
        }
        for equality in &goal.equalities {
            if (equality.left == equality.right) != equality.equal {
                let text = names(self.problem, "=", &[equality.left, equality.right]);
                return Some(negated(text, equality.equal));
            }
        }
        let mut formulas = goal.formulas.iter();
        let formula = formulas.find(|formula| !self.holds(formula, &mut Vec::new()))?;
        Some(self.show(formula, &[]))
    }

    /// A formula as PDDL, objects in the place of the first variables.
    fn show(&self, formula: &Formula, arguments: &[ObjectId]) -> String {
        let mut shown = formula.clone();
        substitute(&mut shown, arguments);
        let shown = ShownFormula {
            formula: &shown,
            domain: &self.problem.domain,
            objects: &self.problem.objects,
            scope: &vec![""; arguments.len()],
        };
        shown.to_string()
    }
}

fn substitute(formula: &mut Formula, arguments: &[ObjectId]) {
    let put = |term: &mut Term| {
        if let Term::Parameter(index) = term
            && let Some(&object) = arguments.get(*index)
        {
            *term = Term::Object(object);
        }
    };
    match formula {
        Formula::Literal(literal) => literal.atom.arguments.iter_mut().for_each(put),
        Formula::Equality(equality) => {
            [&mut equality.left, &mut equality.right]
                .into_iter()
                .for_each(put);
        }
        Formula::And(parts) | Formula::Or(parts) => {
            parts
                .iter_mut()
                .for_each(|part| substitute(part, arguments));
        }
        Formula::Forall(_, body) | Formula::Exists(_, body) => substitute(body, arguments),
    }
}

/// Whether a replay looks facts up by parts of their arguments: where there are quantifiers,
/// conditional effects or axioms.
fn asks_by_parts(problem: &Problem) -> bool {
    let domain = &problem.domain;
    let any = |condition: &Condition<Term>| !condition.formulas.is_empty();
    !domain.axioms.is_empty()
        || !problem.goal.formulas.is_empty()
        || domain
            .actions
            .iter()
            .any(|action| any(&action.precondition) || !action.conditional.is_empty())
}

/// The predicates that actions change or axioms derive.
fn changing(domain: &Domain) -> Vec<bool> {
    let mut changing = vec![false; domain.predicates.len()];
    for action in &domain.actions {
        let conditional = action.conditional.iter();
        let conditional = conditional.flat_map(|effect| effect.add.iter().chain(&effect.del));
        for atom in action.add.iter().chain(&action.del).chain(conditional) {
            changing[atom.predicate.index()] = true;
        }
    }
    for axiom in &domain.axioms {
        changing[axiom.predicate.index()] = true;
    }
    changing
}

/// Whether a `forall` in a formula asks for one of some predicates.
fn asks_for_all(formula: &Formula, of: &dyn Fn(PredicateId) -> bool) -> bool {
    match formula {
        Formula::Literal(_) | Formula::Equality(_) => false,
        Formula::And(parts) | Formula::Or(parts) => parts.iter().any(|part| asks_for_all(part, of)),
        Formula::Exists(_, body) => asks_for_all(body, of),
        Formula::Forall(_, body) => {
            let mut any = false;
            uses(body, &mut |atom, _| any |= of(atom.predicate));
            any
        }
    }
}

/// Sorts axioms into levels, if there are any such: a predicate comes after those it negates, and
/// not before those it asks for.
fn levels(axioms: &[Axiom]) -> Axioms {
    let mut level = vec![0usize; axioms.len()];
    loop {
        let mut changed = false;
        for at in 0..axioms.len() {
            let mut wanted = level[at];
            uses(&whole(&axioms[at].condition), &mut |atom, positive| {
                for (other, axiom) in axioms.iter().enumerate() {
                    if axiom.predicate == atom.predicate {
                        wanted = wanted.max(level[other] + usize::from(!positive));
                    }
                }
            });
            // All axioms of a predicate stand on one level.
            for other in 0..axioms.len() {
                if axioms[other].predicate == axioms[at].predicate && level[other] < wanted {
                    if wanted > axioms.len() {
                        let all = vec![0; axioms.len()];
                        return Axioms::Circular(derivations(axioms, &all, 0));
                    }
                    level[other] = wanted;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let count = level.iter().max().map_or(0, |&highest| highest + 1);
    let on = |at: usize| derivations(axioms, &level, at);
    Axioms::Levels((0..count).map(on).collect())
}

/// The axioms of level `at`.
fn derivations(axioms: &[Axiom], level: &[usize], at: usize) -> Vec<Derivation> {
    let of = |predicate| {
        let mut all = axioms.iter().zip(level);
        all.any(|(axiom, &level)| level == at && axiom.predicate == predicate)
    };
    let here = axioms.iter().zip(level).filter(|(_, level)| **level == at);
    let derivations = here.map(|(axiom, _)| {
        let body = whole(&axiom.condition);
        Derivation {
            predicate: axiom.predicate,
            parameters: axiom.parameters.clone(),
            asks_for_all: asks_for_all(&body, &of),
            body,
        }
    });
    derivations.collect()
}

fn uses(formula: &Formula, found: &mut dyn FnMut(&Atom<Term>, bool)) {
    match formula {
        Formula::Literal(literal) => found(&literal.atom, literal.positive),
        Formula::Equality(_) => {}
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter().for_each(|part| uses(part, found));
        }
        Formula::Forall(_, body) | Formula::Exists(_, body) => uses(body, found),
    }
}
