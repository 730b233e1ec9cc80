//! A state as a set of ground atoms, and lifted conditions and effects evaluated in it directly.
//!
//! Nothing here knows of grounding: a quantifier tries the objects of its types one by one, an axiom
//! all arguments, until nothing new is derived.

use std::collections::HashSet;

use homing_pddl::model::{
    ActionSchema, Atom, Axiom, Condition, Equality, Formula, Literal, ObjectId, Parameter, Term,
};
use homing_pddl::{Problem, ShownFormula};

use super::names;

type Facts = HashSet<Atom<ObjectId>>;

/// A state under replay.
pub struct World<'a> {
    problem: &'a Problem,
    /// What is true, derived atoms included.
    facts: Facts,
    /// Axioms of one level after the other.
    levels: Vec<Vec<&'a Axiom>>,
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
        let mut world = Self {
            problem,
            facts: problem.init.iter().cloned().collect(),
            levels: levels(&problem.domain.axioms),
        };
        world.derive();
        world
    }

    /// What is true, in order.
    pub fn facts(&self) -> Vec<&Atom<ObjectId>> {
        let mut facts: Vec<&Atom<ObjectId>> = self.facts.iter().collect();
        facts.sort_by_key(|atom| (atom.predicate, &atom.arguments));
        facts
    }

    /// Whether a formula holds, given values of its free variables.
    fn holds(&self, formula: &Formula, bound: &mut Vec<ObjectId>) -> bool {
        match formula {
            Formula::Literal(Literal { atom, positive }) => {
                self.facts.contains(&ground(atom, bound)) == *positive
            }
            Formula::Equality(Equality { left, right, equal }) => {
                (value(*left, bound) == value(*right, bound)) == *equal
            }
            Formula::And(parts) => parts.iter().all(|part| self.holds(part, bound)),
            Formula::Or(parts) => parts.iter().any(|part| self.holds(part, bound)),
            Formula::Exists(variables, body) => {
                self.try_all(variables, body, true, bound, &mut |_| true)
            }
            Formula::Forall(variables, body) => {
                !self.try_all(variables, body, false, bound, &mut |_| true)
            }
        }
    }

    /// Tries values for `variables` until `found` is content with one under which `body` is `wanted`.
    /// What is known early to be otherwise is not gone into.
    fn try_all(
        &self,
        variables: &[Parameter],
        body: &Formula,
        wanted: bool,
        bound: &mut Vec<ObjectId>,
        found: &mut dyn FnMut(&[ObjectId]) -> bool,
    ) -> bool {
        let parts = match (body, wanted) {
            (Formula::And(parts), true) | (Formula::Or(parts), false) => parts.as_slice(),
            _ => &[],
        };
        let hopeless = |bound: &mut Vec<ObjectId>| {
            parts
                .iter()
                .any(|part| is_bound(part, bound.len()) && self.holds(part, bound) != wanted)
        };
        if hopeless(bound) {
            return false;
        }
        let Some((variable, rest)) = variables.split_first() else {
            return self.holds(body, bound) == wanted && found(bound);
        };
        for (index, object) in self.problem.objects.iter().enumerate() {
            if !self.problem.domain.fits(&object.types, &variable.types) {
                continue;
            }
            bound.push(ObjectId::from_index(index));
            let done = self.try_all(rest, body, wanted, bound, found);
            bound.pop();
            if done {
                return true;
            }
        }
        false
    }

    /// Derives all that axioms derive from what is true.
    fn derive(&mut self) {
        for level in 0..self.levels.len() {
            loop {
                let mut new: Vec<Atom<ObjectId>> = Vec::new();
                for axiom in &self.levels[level] {
                    let body = whole(&axiom.condition);
                    let mut note = |arguments: &[ObjectId]| {
                        let atom = Atom {
                            predicate: axiom.predicate,
                            arguments: arguments.to_vec(),
                        };
                        if !self.facts.contains(&atom) {
                            new.push(atom);
                        }
                        false
                    };
                    self.try_all(&axiom.parameters, &body, true, &mut Vec::new(), &mut note);
                }
                if new.is_empty() {
                    break;
                }
                self.facts.extend(new);
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
            let mut bound = arguments.to_vec();
            self.try_all(&effect.parameters, &condition, true, &mut bound, &mut note);
        }
        for atom in &del {
            self.facts.remove(atom);
        }
        self.facts.extend(add);
        if !self.levels.is_empty() {
            let domain = &self.problem.domain;
            self.facts.retain(|atom| !domain.is_derived(atom.predicate));
            self.derive();
        }
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

/// Sorts axioms into levels: a predicate comes after those it negates, and not before those it asks
/// for.
fn levels(axioms: &[Axiom]) -> Vec<Vec<&Axiom>> {
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
    let mut levels = vec![Vec::new(); count];
    for (axiom, &level) in axioms.iter().zip(&level) {
        levels[level].push(axiom);
    }
    levels
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
