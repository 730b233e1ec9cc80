//! Domains and problems back to PDDL text: reading it again gives an equal one.

use std::fmt::{self, Display, Formatter};

use crate::model::{
    ActionSchema, Atom, Condition, CostTerm, Domain, ObjectId, Parameter, Problem, Term, TypeId,
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

fn write_condition<T>(
    f: &mut Formatter<'_>,
    domain: &Domain,
    condition: &Condition<T>,
    indent: &str,
    term: &impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    write!(f, "(and")?;
    for literal in &condition.literals {
        write!(
            f,
            "\n{indent}{}",
            if literal.positive { "" } else { "(not " }
        )?;
        write_atom(f, domain, &literal.atom, term)?;
        write!(f, "{}", if literal.positive { "" } else { ")" })?;
    }
    for equality in &condition.equalities {
        write!(
            f,
            "\n{indent}{}(= ",
            if equality.equal { "" } else { "(not " }
        )?;
        term(f, &equality.left)?;
        write!(f, " ")?;
        term(f, &equality.right)?;
        write!(f, "){}", if equality.equal { "" } else { ")" })?;
    }
    write!(f, ")")
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
        let costs = self.actions.iter().any(|action| !action.cost.is_empty());
        if costs || !self.functions.is_empty() {
            write!(f, "  (:functions\n    (total-cost) - number")?;
            for function in &self.functions {
                write!(f, "\n    ({}", function.name)?;
                write_parameters(f, self, &function.parameters, " ")?;
                write!(f, ") - number")?;
            }
            writeln!(f, ")")?;
        }
        for action in &self.actions {
            write_action(f, self, action)?;
        }
        writeln!(f, ")")
    }
}

fn write_action(f: &mut Formatter<'_>, domain: &Domain, action: &ActionSchema) -> fmt::Result {
    let term = |f: &mut Formatter<'_>, term: &Term| match term {
        Term::Parameter(at) => write!(f, "?{}", action.parameters[*at].name),
        Term::Object(object) => write!(f, "{}", domain.constants[object.index()].name),
    };
    write!(f, "  (:action {}\n    :parameters (", action.name)?;
    write_parameters(f, domain, &action.parameters, "")?;
    write!(f, ")\n    :precondition ")?;
    write_condition(f, domain, &action.precondition, "      ", &term)?;
    write!(f, "\n    :effect (and")?;
    for atom in &action.add {
        write!(f, "\n      ")?;
        write_atom(f, domain, atom, &term)?;
    }
    for atom in &action.del {
        write!(f, "\n      (not ")?;
        write_atom(f, domain, atom, &term)?;
        write!(f, ")")?;
    }
    for cost in &action.cost {
        write!(f, "\n      (increase (total-cost) ")?;
        match cost {
            CostTerm::Constant(value) => write!(f, "{value}")?,
            CostTerm::Function(function, arguments) => {
                write!(f, "({}", domain.functions[function.index()].name)?;
                for argument in arguments {
                    write!(f, " ")?;
                    term(f, argument)?;
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
        write_condition(f, domain, &self.goal, "    ", &term)?;
        write!(f, ")")?;
        if self.minimize_cost {
            write!(f, "\n  (:metric minimize (total-cost))")?;
        }
        writeln!(f, ")")
    }
}
