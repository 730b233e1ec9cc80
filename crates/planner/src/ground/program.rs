//! Actions, conditional effects and axioms as rules of one shape, ready for joins.
//!
//! A rule has a conjunction of literals and equalities, which joins work on, and formulas, which
//! are looked at once its arguments are known. Disjunctions and existential quantifiers move into
//! the conjunction where that helps: a disjunction makes several rules of one, a variable bound by
//! `exists` becomes a parameter that plans do not show. How far this goes depends on what it costs:
//! a rule more for an axiom or an effect is cheap, a ground action more is not.

use homing_pddl::Problem;
use homing_pddl::model::{
    Atom, Condition, ConditionalEffect, Equality, Formula, Literal, ObjectId, Parameter,
    PredicateId, SchemaId, Term,
};

use super::pairing::Pairing;

/// What a rule stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// An action, whose first parameters are those of the schema.
    Action(SchemaId),
    /// A conditional effect of the action rule of this index, whose parameters come first. Its first
    /// literal is the marker of that rule.
    Effect(usize),
    /// A rule of a derived predicate, the one atom it adds.
    Axiom,
}

/// Something that adds facts where its condition holds.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) origin: Origin,
    pub(super) parameters: Vec<Parameter>,
    pub(super) condition: Condition<Term>,
    /// The first literals of the condition that are no facts of the problem: markers, and pairs.
    pub(super) markers: usize,
    pub(super) add: Vec<Atom<Term>>,
    pub(super) del: Vec<Atom<Term>>,
}

/// All rules of a problem.
pub(super) struct Program {
    /// Actions in the order of their schemas, then effects, then axioms.
    pub(super) rules: Vec<Rule>,
    /// The arities of the domain's predicates, then of markers: one for each action rule with
    /// conditional effects, true of the arguments with which it can be reached; last that of pairs,
    /// if there are any.
    pub(super) arities: Vec<usize>,
    /// What is made of what, where [`Pairing`] leaves out the rest.
    pub(super) pairs: Vec<[ObjectId; 2]>,
}

/// The most rules that disjunctions may make of one action.
const MAX_ACTIONS: usize = 8;
/// The most rules that disjunctions may make of one conditional effect.
const MAX_EFFECTS: usize = 16;
/// The most rules that disjunctions may make of one axiom.
const MAX_AXIOMS: usize = 1024;

impl Program {
    pub(super) fn new(problem: &Problem) -> Self {
        let domain = &problem.domain;
        let mut program = Self {
            rules: Vec::new(),
            arities: domain
                .predicates
                .iter()
                .map(|p| p.parameters.len())
                .collect(),
            pairs: Vec::new(),
        };
        for (index, schema) in domain.actions.iter().enumerate() {
            let own = schema.parameters.len();
            let split = |formula: &Formula| asks_for_own(formula, own);
            for (parameters, condition) in variants(
                &schema.parameters,
                &schema.precondition,
                MAX_ACTIONS,
                &split,
            ) {
                program.rules.push(Rule {
                    origin: Origin::Action(SchemaId::from_index(index)),
                    parameters,
                    condition,
                    markers: 0,
                    add: schema.add.clone(),
                    del: schema.del.clone(),
                });
            }
        }
        for action in 0..program.rules.len() {
            let Origin::Action(schema) = program.rules[action].origin else {
                unreachable!("only actions so far");
            };
            let schema = &domain.actions[schema.index()];
            if schema.conditional.is_empty() {
                continue;
            }
            let marker = program.mark(action);
            for effect in &schema.conditional {
                program.add_effect(action, schema.parameters.len(), &marker, effect);
            }
        }
        for axiom in &domain.axioms {
            let head = Atom {
                predicate: axiom.predicate,
                arguments: (0..axiom.parameters.len()).map(Term::Parameter).collect(),
            };
            let all = |_: &Formula| true;
            for (parameters, condition) in
                variants(&axiom.parameters, &axiom.condition, MAX_AXIOMS, &all)
            {
                program.rules.push(Rule {
                    origin: Origin::Axiom,
                    parameters,
                    condition,
                    markers: 0,
                    add: vec![head.clone()],
                    del: Vec::new(),
                });
            }
        }
        program
    }

    /// Leaves out ground actions that a [`Pairing`] does without.
    pub(super) fn pair(&mut self, pairing: Pairing) {
        let predicate = PredicateId::from_index(self.arities.len());
        self.arities.push(2);
        self.pairs = pairing.pairs;
        for (schema, parameters) in pairing.actions {
            let rules = self.rules.iter_mut();
            for rule in rules.filter(|rule| rule.origin == Origin::Action(schema)) {
                let atom = Atom {
                    predicate,
                    arguments: parameters.map(Term::Parameter).to_vec(),
                };
                let literal = Literal {
                    atom,
                    positive: true,
                };
                rule.condition.literals.insert(0, literal);
                rule.markers = 1;
            }
        }
    }

    /// Gives an action rule its marker.
    fn mark(&mut self, action: usize) -> Atom<Term> {
        let arity = self.rules[action].parameters.len();
        let marker = Atom {
            predicate: PredicateId::from_index(self.arities.len()),
            arguments: (0..arity).map(Term::Parameter).collect(),
        };
        self.arities.push(arity);
        self.rules[action].add.push(marker.clone());
        marker
    }

    /// The rules of one conditional effect of an action rule, `own` of whose parameters are the
    /// schema's.
    fn add_effect(
        &mut self,
        action: usize,
        own: usize,
        marker: &Atom<Term>,
        effect: &ConditionalEffect,
    ) {
        let rule = &self.rules[action];
        // Between the schema's parameters and the effect's come those that plans do not show.
        let hidden = rule.parameters.len() - own;
        let mut parameters = rule.parameters.clone();
        parameters.extend(effect.parameters.iter().cloned());
        let moved = |term: &Term| match *term {
            Term::Parameter(index) if index >= own => Term::Parameter(index + hidden),
            term => term,
        };
        let atom = |atom: &Atom<Term>| Atom {
            predicate: atom.predicate,
            arguments: atom.arguments.iter().map(moved).collect(),
        };
        let condition = Condition {
            literals: std::iter::once(Literal {
                atom: marker.clone(),
                positive: true,
            })
            .chain(effect.condition.literals.iter().map(|literal| Literal {
                atom: atom(&literal.atom),
                positive: literal.positive,
            }))
            .collect(),
            equalities: effect
                .condition
                .equalities
                .iter()
                .map(|equality| Equality {
                    left: moved(&equality.left),
                    right: moved(&equality.right),
                    equal: equality.equal,
                })
                .collect(),
            formulas: Vec::new(),
        };
        let scope: Vec<Term> = (0..own + effect.parameters.len())
            .map(|index| moved(&Term::Parameter(index)))
            .collect();
        let formulas = effect.condition.formulas.iter();
        let condition = Condition {
            formulas: formulas
                .map(|formula| renamed(formula, &mut scope.clone(), parameters.len()))
                .collect(),
            ..condition
        };
        let add: Vec<Atom<Term>> = effect.add.iter().map(atom).collect();
        let del: Vec<Atom<Term>> = effect.del.iter().map(atom).collect();
        let needed = rule.condition.literals.clone();
        let origin = Origin::Effect(action);
        let all = |_: &Formula| true;
        for (parameters, condition) in variants(&parameters, &condition, MAX_EFFECTS, &all) {
            let is_needed = |atom: &&Atom<Term>| {
                let mut literals = condition.literals.iter().chain(&needed);
                literals.any(|literal| literal.positive && literal.atom == **atom)
            };
            let (taken, others): (Vec<_>, Vec<_>) = del.iter().partition(is_needed);
            // To delete what is false is nothing: where it is not known to be true, that is asked
            // for, so that only facts which can be reached are looked at.
            for atom in others {
                let mut condition = condition.clone();
                condition.literals.push(Literal {
                    atom: atom.clone(),
                    positive: true,
                });
                self.rules.push(Rule {
                    origin,
                    parameters: parameters.clone(),
                    condition,
                    markers: 1,
                    add: Vec::new(),
                    del: vec![atom.clone()],
                });
            }
            if !add.is_empty() || !taken.is_empty() {
                self.rules.push(Rule {
                    origin,
                    parameters,
                    condition,
                    markers: 1,
                    add: add.clone(),
                    del: taken.into_iter().cloned().collect(),
                });
            }
        }
    }
}

/// Whether a join can make use of a formula: it asks for a fact about one of the first `own`
/// parameters, whichever way it is made true.
fn asks_for_own(formula: &Formula, own: usize) -> bool {
    let is_own = |term: &Term| matches!(term, Term::Parameter(index) if *index < own);
    match formula {
        Formula::Literal(literal) => literal.positive && literal.atom.arguments.iter().any(is_own),
        Formula::Equality(equality) => {
            equality.equal && (is_own(&equality.left) || is_own(&equality.right))
        }
        Formula::And(parts) => parts.iter().any(|part| asks_for_own(part, own)),
        Formula::Or(parts) => !parts.is_empty() && parts.iter().all(|part| asks_for_own(part, own)),
        Formula::Exists(_, body) => asks_for_own(body, own),
        Formula::Forall(..) => false,
    }
}

/// How many conjunctions a formula is a disjunction of, universal quantifiers left alone.
fn disjuncts(formula: &Formula) -> usize {
    match formula {
        Formula::Literal(_) | Formula::Equality(_) | Formula::Forall(..) => 1,
        Formula::And(parts) => parts.iter().map(disjuncts).fold(1, usize::saturating_mul),
        Formula::Or(parts) => parts.iter().map(disjuncts).fold(0, usize::saturating_add),
        Formula::Exists(_, body) => disjuncts(body),
    }
}

/// A formula with the terms that its variables stand for.
type Open<'a> = (&'a Formula, Vec<Term>);

/// A conjunction under construction.
#[derive(Clone)]
struct Variant<'a> {
    parameters: Vec<Parameter>,
    literals: Vec<Literal<Term>>,
    equalities: Vec<Equality<Term>>,
    kept: Vec<Open<'a>>,
}

/// The conjunctions that a condition is a disjunction of, as far as formulas may be `split` and
/// there are no more than `limit` of them; each with its parameters.
fn variants(
    parameters: &[Parameter],
    condition: &Condition<Term>,
    limit: usize,
    split: &dyn Fn(&Formula) -> bool,
) -> Vec<(Vec<Parameter>, Condition<Term>)> {
    let scope: Vec<Term> = (0..parameters.len()).map(Term::Parameter).collect();
    let mut start = Variant {
        parameters: parameters.to_vec(),
        literals: condition.literals.clone(),
        equalities: condition.equalities.clone(),
        kept: Vec::new(),
    };
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut count = 1usize;
    for formula in &condition.formulas {
        let product = count.saturating_mul(disjuncts(formula));
        if split(formula) && product <= limit {
            count = product;
            open.push((formula, scope.clone()));
        } else {
            start.kept.push((formula, scope.clone()));
        }
    }
    open.reverse();
    let mut finished = Vec::new();
    open_up(start, open, &mut finished);
    let finished = finished.into_iter().map(|variant| {
        let next = variant.parameters.len();
        let kept = variant.kept.into_iter();
        let condition = Condition {
            literals: variant.literals,
            equalities: variant.equalities,
            formulas: kept
                .map(|(formula, mut scope)| renamed(formula, &mut scope, next))
                .collect(),
        };
        (variant.parameters, condition)
    });
    finished.collect()
}

/// Moves formulas into the conjunction; each way to choose among disjunctions is one of `finished`.
fn open_up<'a>(mut variant: Variant<'a>, mut open: Vec<Open<'a>>, finished: &mut Vec<Variant<'a>>) {
    while let Some((formula, mut scope)) = open.pop() {
        match formula {
            Formula::Literal(literal) => variant.literals.push(renamed_literal(literal, &scope)),
            Formula::Equality(equality) => {
                variant.equalities.push(renamed_equality(equality, &scope));
            }
            Formula::And(parts) => {
                open.extend(parts.iter().rev().map(|part| (part, scope.clone())));
            }
            Formula::Exists(variables, body) => {
                let from = variant.parameters.len();
                variant.parameters.extend(variables.iter().cloned());
                scope.extend((from..variant.parameters.len()).map(Term::Parameter));
                open.push((body, scope));
            }
            Formula::Or(parts) => {
                for part in parts {
                    let mut open = open.clone();
                    open.push((part, scope.clone()));
                    open_up(variant.clone(), open, finished);
                }
                return;
            }
            Formula::Forall(..) => variant.kept.push((formula, scope)),
        }
    }
    finished.push(variant);
}

fn renamed_term(term: Term, scope: &[Term]) -> Term {
    match term {
        Term::Parameter(index) => scope[index],
        object @ Term::Object(_) => object,
    }
}

fn renamed_literal(literal: &Literal<Term>, scope: &[Term]) -> Literal<Term> {
    let arguments = literal.atom.arguments.iter();
    Literal {
        atom: Atom {
            predicate: literal.atom.predicate,
            arguments: arguments.map(|&term| renamed_term(term, scope)).collect(),
        },
        positive: literal.positive,
    }
}

fn renamed_equality(equality: &Equality<Term>, scope: &[Term]) -> Equality<Term> {
    Equality {
        left: renamed_term(equality.left, scope),
        right: renamed_term(equality.right, scope),
        equal: equality.equal,
    }
}

/// A formula with the variables of `scope` replaced; those it binds itself are numbered from `next`.
fn renamed(formula: &Formula, scope: &mut Vec<Term>, next: usize) -> Formula {
    match formula {
        Formula::Literal(literal) => Formula::Literal(renamed_literal(literal, scope)),
        Formula::Equality(equality) => Formula::Equality(renamed_equality(equality, scope)),
        Formula::And(parts) => Formula::And(
            parts
                .iter()
                .map(|part| renamed(part, scope, next))
                .collect(),
        ),
        Formula::Or(parts) => Formula::Or(
            parts
                .iter()
                .map(|part| renamed(part, scope, next))
                .collect(),
        ),
        Formula::Forall(variables, body) | Formula::Exists(variables, body) => {
            let outer = scope.len();
            let inner = next + variables.len();
            scope.extend((next..inner).map(Term::Parameter));
            let body = Box::new(renamed(body, scope, inner));
            scope.truncate(outer);
            match formula {
                Formula::Forall(..) => Formula::Forall(variables.clone(), body),
                _ => Formula::Exists(variables.clone(), body),
            }
        }
    }
}
