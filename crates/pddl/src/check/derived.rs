//! `(:derived (p ?x ...) condition)`: rules of derived predicates, and whether they are stratified.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::model::{
    Atom, Axiom, Condition, Formula, Literal, Parameter, PredicateId, Requirement, Term,
};
use crate::source::Place;
use crate::tree::{Kind, NodeId, Tree};

use super::formula::{Reader, Uses as Requirements};
use super::vocabulary::Vocabulary;

/// A rule whose head is read and whose condition is not yet.
pub(super) struct Head {
    predicate: PredicateId,
    parameters: Vec<Parameter>,
    condition: NodeId,
}

impl Vocabulary {
    /// Where the first rule of a derived predicate stands.
    pub(super) fn rule_of(&self, predicate: PredicateId) -> Option<&Place> {
        self.domain.places.rules.get(&predicate)
    }

    /// Reads the heads of all `(:derived ...)` sections, so that everything else knows which
    /// predicates are derived.
    pub(super) fn derived_heads(
        &mut self,
        tree: &Tree,
        sections: &[NodeId],
        diagnostics: &mut Diagnostics,
    ) -> Vec<Head> {
        let mut heads = Vec::new();
        for &section in sections {
            let parts: Vec<NodeId> = tree.children(section).skip(1).collect();
            let &[head, condition] = parts.as_slice() else {
                let message = Diagnostic::error(
                    match parts.get(2) {
                        Some(&third) => tree.head_place(third),
                        None => tree.head_place(section),
                    },
                    "`:derived` takes a predicate and a condition",
                );
                diagnostics.push(match parts.len() {
                    0 | 1 => message.help("write `(:derived (name ?x ...) condition)`"),
                    _ => message
                        .label("this is one too many")
                        .help("put several conditions into `(and ...)`"),
                });
                // What it derives is known all the same.
                if let [head, ..] = parts[..]
                    && let Some((predicate, _)) = self.derived_head(tree, head, diagnostics)
                {
                    let places = &mut self.domain.places.rules;
                    places.entry(predicate).or_insert(tree.head_place(head));
                }
                continue;
            };
            if let Some((predicate, parameters)) = self.derived_head(tree, head, diagnostics) {
                let places = &mut self.domain.places.rules;
                places.entry(predicate).or_insert(tree.head_place(head));
                heads.push(Head {
                    predicate,
                    parameters,
                    condition,
                });
            }
        }
        heads
    }

    /// Reads `(name ?x ?y - type)`, where the predicate is declared already.
    fn derived_head(
        &self,
        tree: &Tree,
        node: NodeId,
        diagnostics: &mut Diagnostics,
    ) -> Option<(PredicateId, Vec<Parameter>)> {
        let head = (tree.kind(node) == Kind::List)
            .then(|| tree.children(node).next())
            .flatten()
            .filter(|&head| tree.kind(head) == Kind::Name);
        let Some(head) = head else {
            diagnostics.push(
                Diagnostic::error(
                    tree.head_place(node),
                    "a derived predicate is written as `(name ?x ?y)`",
                )
                .maybe_help(
                    (tree.kind(node) == Kind::Name)
                        .then(|| format!("write `({})`", tree.text(node))),
                ),
            );
            return None;
        };
        let name = tree.word(head);
        let predicate = self.predicate_of(tree, head, &name, diagnostics)?;
        let parameters = self.parameters(
            tree,
            tree.children(node).skip(1),
            &format!("derived predicate `{name}`"),
            Severity::Error,
            diagnostics,
        );
        let declared = &self.domain.predicates[predicate.index()].parameters;
        let place = &self.domain.places.predicates[predicate.index()];
        if parameters.len() != declared.len() {
            let plural = if declared.len() == 1 { "" } else { "s" };
            diagnostics.push(
                Diagnostic::error(
                    tree.place(head),
                    format!(
                        "predicate `{name}` takes {} argument{plural}, but {} given",
                        declared.len(),
                        super::formula::count_are(parameters.len()),
                    ),
                )
                .note(place.clone(), "declared here"),
            );
            return None;
        }
        for (parameter, expected) in parameters.iter().zip(declared) {
            let unknown = parameter.types.is_empty() || expected.types.is_empty();
            if !unknown && !self.overlap(&parameter.types, &expected.types) {
                diagnostics.push(
                    Diagnostic::error(
                        tree.head_place(node),
                        format!(
                            "`?{}` is of type `{}`, but `{}` is expected",
                            parameter.name,
                            self.type_names(&parameter.types),
                            self.type_names(&expected.types)
                        ),
                    )
                    .note(place.clone(), "declared here"),
                );
                return None;
            }
        }
        Some((predicate, parameters))
    }

    /// Reads the conditions of all rules.
    pub(super) fn derived_rules(
        &self,
        tree: &Tree,
        heads: Vec<Head>,
        uses: &mut Requirements,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Axiom> {
        let mut axioms = Vec::new();
        for head in heads {
            uses.note(Requirement::DerivedPredicates, || {
                self.domain.places.rules[&head.predicate].clone()
            });
            let mut reader = Reader {
                vocabulary: self,
                tree,
                scope: head.parameters.clone(),
                uses,
                diagnostics,
            };
            axioms.push(Axiom {
                predicate: head.predicate,
                condition: reader.condition(head.condition),
                parameters: head.parameters,
            });
        }
        axioms
    }

    /// Complains about derived predicates that depend on their own negation. Where that is so for
    /// any arguments, what they mean would not be settled: an error. Where it depends on the
    /// arguments, grounding will tell: a warning.
    pub(super) fn check_strata(&self, axioms: &[Axiom], diagnostics: &mut Diagnostics) {
        let certain = self.dependencies(axioms, &|axiom, atom| {
            let own = (0..axiom.parameters.len()).map(Term::Parameter);
            own.eq(atom.arguments.iter().copied())
        });
        let possible = self.dependencies(axioms, &|_, _| true);
        let mut reported: Vec<PredicateId> = Vec::new();
        for (uses, severity) in [(certain, Severity::Error), (possible, Severity::Warning)] {
            for axiom in axioms {
                let from = axiom.predicate;
                let negated = uses[&from].iter().filter(|(_, positive)| !positive);
                for &(to, _) in negated {
                    let Some(way) = way_back(&uses, to, from) else {
                        continue;
                    };
                    if way.iter().any(|predicate| reported.contains(predicate)) {
                        continue;
                    }
                    diagnostics.push(self.circle(severity, from, &way));
                    reported.extend(way);
                }
            }
        }
    }

    /// By derived predicate: the derived predicates that its rules ask for, each with its sign, as
    /// far as they `count`.
    fn dependencies(&self, axioms: &[Axiom], count: &dyn Fn(&Axiom, &Atom<Term>) -> bool) -> Uses {
        let mut uses = Uses::new();
        for axiom in axioms {
            let list = uses.entry(axiom.predicate).or_default();
            literals(&axiom.condition, &mut |literal| {
                let used = (literal.atom.predicate, literal.positive);
                if self.domain.places.rules.contains_key(&used.0)
                    && !list.contains(&used)
                    && count(axiom, &literal.atom)
                {
                    list.push(used);
                }
            });
        }
        uses
    }

    /// The message about a predicate that asks for the negation of one which leads back to it.
    fn circle(&self, severity: Severity, from: PredicateId, way: &[PredicateId]) -> Diagnostic {
        let name = |predicate: &PredicateId| &self.domain.predicates[predicate.index()].name;
        let shown: Vec<String> = way
            .iter()
            .map(|predicate| format!("`{}`", name(predicate)))
            .collect();
        let mut message = Diagnostic::new(
            severity,
            self.domain.places.rules[&from].clone(),
            match severity {
                Severity::Warning => format!(
                    "derived predicate `{}` may depend on its own negation",
                    name(&from)
                ),
                _ => format!(
                    "derived predicate `{}` depends on its own negation",
                    name(&from)
                ),
            },
        )
        .label(format!(
            "`{}` asks for not {}",
            name(&from),
            shown.join(", which asks for ")
        ));
        for predicate in way.iter().filter(|predicate| **predicate != from) {
            message = message.note(
                self.domain.places.rules[predicate].clone(),
                format!("`{}` is derived here", name(predicate)),
            );
        }
        match severity {
            Severity::Warning => {
                message.help("a problem can be planned with where this is so of no objects")
            }
            _ => message,
        }
    }
}

/// By derived predicate: what its rules ask for, each with its sign.
type Uses = HashMap<PredicateId, Vec<(PredicateId, bool)>>;

/// The shortest way from a predicate to another one by what rules ask for, both ends included.
fn way_back(uses: &Uses, from: PredicateId, to: PredicateId) -> Option<Vec<PredicateId>> {
    let mut ways: Vec<(PredicateId, usize)> = vec![(from, usize::MAX)];
    let mut next = 0;
    while let Some(&(at, _)) = ways.get(next) {
        if at == to {
            let mut way = vec![at];
            let mut step = ways[next].1;
            while step != usize::MAX {
                way.push(ways[step].0);
                step = ways[step].1;
            }
            way.reverse();
            return Some(way);
        }
        for &(used, _) in uses.get(&at).into_iter().flatten() {
            if ways.iter().all(|(known, _)| *known != used) {
                ways.push((used, next));
            }
        }
        next += 1;
    }
    None
}

/// Every literal in a condition.
fn literals<'c>(condition: &'c Condition<Term>, found: &mut dyn FnMut(&'c Literal<Term>)) {
    condition.literals.iter().for_each(&mut *found);
    for formula in &condition.formulas {
        formula_literals(formula, found);
    }
}

fn formula_literals<'c>(formula: &'c Formula, found: &mut dyn FnMut(&'c Literal<Term>)) {
    match formula {
        Formula::Literal(literal) => found(literal),
        Formula::Equality(_) => {}
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter().for_each(|part| formula_literals(part, found));
        }
        Formula::Forall(_, body) | Formula::Exists(_, body) => formula_literals(body, found),
    }
}
