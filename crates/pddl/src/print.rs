//! Domains and problems back to PDDL text: reading it again gives an equal one.

use std::fmt::{self, Display, Formatter};

use crate::model::{
    ActionSchema, Atom, Axiom, Condition, ConditionalEffect, CostTerm, Domain, Equality, Formula,
    Literal, Object, ObjectId, Parameter, Problem, Term, TypeId,
};

/// Writes ` - type`, or nothing for `object`.
fn write_type(f: &mut Formatter<'_>, domain: &Domain, types: &[TypeId]) -> fmt::Result {
    let name = |t: &TypeId| domain.types[t.index()].name.as_str();
    match types {
        [Domain::OBJECT] if domain.types.len() == 1 => Ok(()),
        [only] => write!(f, " - {}", name(only)),
        several => {
            write!(f, " - (either")?;
            for t in several {
                write!(f, " {}", name(t))?;
            }
            write!(f, ")")
        }
    }
}

fn write_parameters(
    f: &mut Formatter<'_>,
    domain: &Domain,
    parameters: &[Parameter],
    before: &str,
) -> fmt::Result {
    let mut before = before;
    for parameter in parameters {
        write!(f, "{before}?{}", parameter.name)?;
        write_type(f, domain, &parameter.types)?;
        before = " ";
    }
    Ok(())
}

/// Writes `(predicate argument...)`; `term` writes an argument.
fn write_atom<T>(
    f: &mut Formatter<'_>,
    domain: &Domain,
    atom: &Atom<T>,
    term: &impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    write!(f, "({}", domain.predicates[atom.predicate.index()].name)?;
    for argument in &atom.arguments {
        write!(f, " ")?;
        term(f, argument)?;
    }
    write!(f, ")")
}

/// How the arguments of literals and equalities are written: objects by their names, variables by
/// the names in scope.
struct Names<'a> {
    domain: &'a Domain,
    objects: &'a [Object],
    scope: Vec<&'a str>,
}

trait Named {
    fn write(&self, f: &mut Formatter<'_>, names: &Names<'_>) -> fmt::Result;
}

impl Named for ObjectId {
    fn write(&self, f: &mut Formatter<'_>, names: &Names<'_>) -> fmt::Result {
        write!(f, "{}", names.objects[self.index()].name)
    }
}

impl Named for Term {
    fn write(&self, f: &mut Formatter<'_>, names: &Names<'_>) -> fmt::Result {
        match self {
            Self::Parameter(at) => write!(f, "?{}", names.scope[*at]),
            Self::Object(object) => object.write(f, names),
        }
    }
}

impl<'a> Names<'a> {
    fn atom<T: Named>(&self, f: &mut Formatter<'_>, atom: &Atom<T>) -> fmt::Result {
        let term = |f: &mut Formatter<'_>, term: &T| term.write(f, self);
        write_atom(f, self.domain, atom, &term)
    }

    fn literal<T: Named>(&self, f: &mut Formatter<'_>, literal: &Literal<T>) -> fmt::Result {
        if literal.positive {
            return self.atom(f, &literal.atom);
        }
        write!(f, "(not ")?;
        self.atom(f, &literal.atom)?;
        write!(f, ")")
    }

    fn equality<T: Named>(&self, f: &mut Formatter<'_>, equality: &Equality<T>) -> fmt::Result {
        write!(f, "{}(= ", if equality.equal { "" } else { "(not " })?;
        equality.left.write(f, self)?;
        write!(f, " ")?;
        equality.right.write(f, self)?;
        write!(f, "){}", if equality.equal { "" } else { ")" })
    }

    fn formula(&mut self, f: &mut Formatter<'_>, formula: &'a Formula) -> fmt::Result {
        match formula {
            Formula::Literal(literal) => self.literal(f, literal),
            Formula::Equality(equality) => self.equality(f, equality),
            Formula::And(parts) | Formula::Or(parts) => {
                let word = if matches!(formula, Formula::And(_)) {
                    "and"
                } else {
                    "or"
                };
                write!(f, "({word}")?;
                for part in parts {
                    write!(f, " ")?;
                    self.formula(f, part)?;
                }
                write!(f, ")")
            }
            Formula::Forall(variables, body) | Formula::Exists(variables, body) => {
                let word = if matches!(formula, Formula::Forall(..)) {
                    "forall"
                } else {
                    "exists"
                };
                write!(f, "({word} (")?;
                write_parameters(f, self.domain, variables, "")?;
                write!(f, ") ")?;
                let outer = self.scope.len();
                self.scope.extend(variables.iter().map(|v| v.name.as_str()));
                self.formula(f, body)?;
                self.scope.truncate(outer);
                write!(f, ")")
            }
        }
    }

    fn condition<T: Named>(
        &mut self,
        f: &mut Formatter<'_>,
        condition: &'a Condition<T>,
        indent: &str,
    ) -> fmt::Result {
        write!(f, "(and")?;
        for literal in &condition.literals {
            write!(f, "{indent}")?;
            self.literal(f, literal)?;
        }
        for equality in &condition.equalities {
            write!(f, "{indent}")?;
            self.equality(f, equality)?;
        }
        for formula in &condition.formulas {
            write!(f, "{indent}")?;
            self.formula(f, formula)?;
        }
        write!(f, ")")
    }

    fn changes(
        &self,
        f: &mut Formatter<'_>,
        add: &[Atom<Term>],
        del: &[Atom<Term>],
        indent: &str,
    ) -> fmt::Result {
        for atom in add {
            write!(f, "{indent}")?;
            self.atom(f, atom)?;
        }
        for atom in del {
            write!(f, "{indent}(not ")?;
            self.atom(f, atom)?;
            write!(f, ")")?;
        }
        Ok(())
    }

    fn conditional(&mut self, f: &mut Formatter<'_>, effect: &'a ConditionalEffect) -> fmt::Result {
        let outer = self.scope.len();
        if !effect.parameters.is_empty() {
            write!(f, "(forall (")?;
            write_parameters(f, self.domain, &effect.parameters, "")?;
            write!(f, ") ")?;
            let names = effect.parameters.iter().map(|p| p.name.as_str());
            self.scope.extend(names);
        }
        let always = effect.condition == Condition::default();
        if !always {
            write!(f, "(when ")?;
            self.condition(f, &effect.condition, " ")?;
            write!(f, " ")?;
        }
        write!(f, "(and")?;
        self.changes(f, &effect.add, &effect.del, " ")?;
        write!(f, ")")?;
        self.scope.truncate(outer);
        let open = usize::from(!effect.parameters.is_empty()) + usize::from(!always);
        write!(f, "{}", ")".repeat(open))
    }
}

/// A formula as PDDL, with names for the objects and for the variables in scope.
pub struct ShownFormula<'a> {
    /// What is shown.
    pub formula: &'a Formula,
    /// Its domain.
    pub domain: &'a Domain,
    /// The objects it may name.
    pub objects: &'a [Object],
    /// The names of the variables it does not bind itself.
    pub scope: &'a [&'a str],
}

impl Display for ShownFormula<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut names = Names {
            domain: self.domain,
            objects: self.objects,
            scope: self.scope.to_vec(),
        };
        names.formula(f, self.formula)
    }
}

impl Display for Domain {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "(define (domain {})", self.name)?;
        if !self.requirements.is_empty() {
            write!(f, "  (:requirements")?;
            for requirement in &self.requirements {
                write!(f, " {}", requirement.keyword())?;
            }
            writeln!(f, ")")?;
        }
        if self.types.len() > 1 {
            write!(f, "  (:types")?;
            for declared in &self.types[1..] {
                write!(f, "\n    {}", declared.name)?;
                write_type(f, self, &declared.parents)?;
            }
            writeln!(f, ")")?;
        }
        if !self.constants.is_empty() {
            write!(f, "  (:constants")?;
            for constant in &self.constants {
                write!(f, "\n    {}", constant.name)?;
                write_type(f, self, &constant.types)?;
            }
            writeln!(f, ")")?;
        }
        if !self.predicates.is_empty() {
            write!(f, "  (:predicates")?;
            for predicate in &self.predicates {
                write!(f, "\n    ({}", predicate.name)?;
                write_parameters(f, self, &predicate.parameters, " ")?;
                write!(f, ")")?;
            }
            writeln!(f, ")")?;
        }
        let costs = self.actions.iter().any(|action| action.cost.is_some());
        if costs || !self.functions.is_empty() {
            write!(f, "  (:functions\n    (total-cost) - number")?;
            for function in &self.functions {
                write!(f, "\n    ({}", function.name)?;
                write_parameters(f, self, &function.parameters, " ")?;
                write!(f, ") - number")?;
            }
            writeln!(f, ")")?;
        }
        for axiom in &self.axioms {
            write_axiom(f, self, axiom)?;
        }
        for action in &self.actions {
            write_action(f, self, action)?;
        }
        writeln!(f, ")")
    }
}

fn write_axiom(f: &mut Formatter<'_>, domain: &Domain, axiom: &Axiom) -> fmt::Result {
    let name = &domain.predicates[axiom.predicate.index()].name;
    write!(f, "  (:derived ({name}")?;
    write_parameters(f, domain, &axiom.parameters, " ")?;
    write!(f, ")\n    ")?;
    let mut names = Names {
        domain,
        objects: &domain.constants,
        scope: axiom.parameters.iter().map(|p| p.name.as_str()).collect(),
    };
    names.condition(f, &axiom.condition, "\n      ")?;
    writeln!(f, ")")
}

fn write_action(f: &mut Formatter<'_>, domain: &Domain, action: &ActionSchema) -> fmt::Result {
    let mut names = Names {
        domain,
        objects: &domain.constants,
        scope: action.parameters.iter().map(|p| p.name.as_str()).collect(),
    };
    write!(f, "  (:action {}\n    :parameters (", action.name)?;
    write_parameters(f, domain, &action.parameters, "")?;
    write!(f, ")\n    :precondition ")?;
    names.condition(f, &action.precondition, "\n      ")?;
    write!(f, "\n    :effect (and")?;
    names.changes(f, &action.add, &action.del, "\n      ")?;
    for effect in &action.conditional {
        write!(f, "\n      ")?;
        names.conditional(f, effect)?;
    }
    if let Some(cost) = &action.cost {
        write!(f, "\n      (increase (total-cost) ")?;
        match cost {
            CostTerm::Constant(value) => write!(f, "{value}")?,
            CostTerm::Function(function, arguments) => {
                write!(f, "({}", domain.functions[function.index()].name)?;
                for argument in arguments {
                    write!(f, " ")?;
                    argument.write(f, &names)?;
                }
                write!(f, ")")?;
            }
        }
        write!(f, ")")?;
    }
    writeln!(f, "))")
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let domain = &self.domain;
        let term = |f: &mut Formatter<'_>, object: &ObjectId| {
            write!(f, "{}", self.objects[object.index()].name)
        };
        writeln!(f, "(define (problem {})", self.name)?;
        writeln!(f, "  (:domain {})", domain.name)?;
        write!(f, "  (:objects")?;
        for object in &self.objects[domain.constants.len()..] {
            write!(f, "\n    {}", object.name)?;
            write_type(f, domain, &object.types)?;
        }
        write!(f, ")\n  (:init")?;
        for atom in &self.init {
            write!(f, "\n    ")?;
            write_atom(f, domain, atom, &term)?;
        }
        for value in &self.values {
            write!(
                f,
                "\n    (= ({}",
                domain.functions[value.function.index()].name
            )?;
            for argument in &value.arguments {
                write!(f, " ")?;
                term(f, argument)?;
            }
            write!(f, ") {})", value.value)?;
        }
        write!(f, ")\n  (:goal ")?;
        let mut names = Names {
            domain,
            objects: &self.objects,
            scope: Vec::new(),
        };
        names.condition(f, &self.goal, "\n    ")?;
        write!(f, ")")?;
        if self.minimize_cost {
            write!(f, "\n  (:metric minimize (total-cost))")?;
        }
        writeln!(f, ")")
    }
}
