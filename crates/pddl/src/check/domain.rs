//! `(define (domain ...))`.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::model::{
    Domain, Function, FunctionId, Object, ObjectId, Parameter, Predicate, PredicateId, Requirement,
    Term,
};
use crate::source::Place;
use crate::tree::{Kind, NodeId, Tree};

use super::formula::Uses;
use super::sections::{Definition, Sections};
use super::types::typed_list;
use super::vocabulary::{Vocabulary, is_total_cost};

/// Checks a domain. It is there, as far as it could be understood, whenever the file defines one;
/// use it only if the messages say so ([`Diagnostics::usable`]).
pub fn check_domain(tree: &Tree) -> (Option<Domain>, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let Some(sections) = Sections::read(tree, Definition::Domain, &mut diagnostics) else {
        return (None, diagnostics);
    };
    let mut vocabulary = Vocabulary::empty(sections.name.clone(), sections.name_place.clone());
    let mut uses = Uses::default();
    let mut requirements_known = true;
    if let Some(section) = sections.get(":requirements") {
        let (declared, sound) = requirements(tree, section, &mut diagnostics);
        vocabulary.domain.requirements = declared;
        requirements_known = sound;
    }
    if let Some(section) = sections.get(":types") {
        uses.note(Requirement::Typing, || tree.head_place(section));
        vocabulary.declare_types(tree, section, &mut diagnostics);
    }
    if let Some(section) = sections.get(":constants") {
        vocabulary.declare_objects(tree, section, &mut diagnostics);
        vocabulary.domain.constants = vocabulary.objects.clone();
        vocabulary.domain.places.constants = vocabulary.object_places.clone();
    }
    if let Some(section) = sections.get(":functions") {
        vocabulary.declare_functions(tree, section, &mut diagnostics);
    }
    match sections.get(":predicates") {
        Some(section) => vocabulary.declare_predicates(tree, section, &mut diagnostics),
        None => vocabulary.first_undeclared = Some(OnceCell::new()),
    }
    let heads = vocabulary.derived_heads(tree, &sections.derived, &mut diagnostics);
    let axioms = vocabulary.derived_rules(tree, heads, &mut uses, &mut diagnostics);
    vocabulary.check_strata(&axioms, &mut diagnostics);
    vocabulary.domain.axioms = axioms;
    let mut action_places: HashMap<String, Place> = HashMap::new();
    for &section in &sections.actions {
        if let Some((schema, place)) = vocabulary.action(tree, section, &mut uses, &mut diagnostics)
        {
            if let Some(first) = action_places.get(&schema.name) {
                diagnostics.push(
                    Diagnostic::warning(
                        place,
                        format!("action `{}` is declared twice", schema.name),
                    )
                    .label("both count; a step of a plan is whichever fits")
                    .note(first.clone(), "first declared here"),
                );
            } else {
                action_places.insert(schema.name.clone(), place);
            }
            vocabulary.domain.actions.push(schema);
        }
    }
    if let Some(place) = vocabulary.first_undeclared.and_then(OnceCell::into_inner) {
        diagnostics.push(
            Diagnostic::error(
                sections.name_place,
                "the domain has no `:predicates` section",
            )
            .note(place, "a predicate is used here")
            .help("declare all predicates: `(:predicates (name ?x ?y) ...)`"),
        );
    }
    if requirements_known {
        uses.warn(&vocabulary.domain.requirements, &mut diagnostics);
    }
    diagnostics.sort();
    (Some(vocabulary.domain), diagnostics)
}

/// Reads `(:requirements ...)` into canonical order, and says whether all of it was understood.
pub(super) fn requirements(
    tree: &Tree,
    section: NodeId,
    diagnostics: &mut Diagnostics,
) -> (Vec<Requirement>, bool) {
    let mut declared = Vec::new();
    let mut entries = 0;
    for node in tree.children(section).skip(1) {
        entries += 1;
        let word = tree.word(node);
        if tree.kind(node) != Kind::Keyword {
            diagnostics.push(
                Diagnostic::error(
                    tree.head_place(node),
                    "a requirement such as `:typing` is expected here",
                )
                .maybe_help(
                    (tree.kind(node) == Kind::Name).then(|| format!("did you mean `:{word}`?")),
                ),
            );
        } else if let Some(known) = Requirement::ALL.iter().find(|r| r.keyword() == word) {
            declared.push(*known);
        } else {
            let known = Requirement::ALL.iter().map(|r| r.keyword());
            diagnostics.push(
                Diagnostic::warning(tree.place(node), format!("unknown requirement `{word}`"))
                    .maybe_help(diagnostics.did_you_mean(&word, known)),
            );
        }
    }
    let sound = declared.len() == entries;
    declared.sort_unstable();
    declared.dedup();
    (declared, sound)
}

/// Words that mean something else at the head of a condition or an effect.
pub(super) const RESERVED: [&str; 9] = [
    "and", "or", "not", "imply", "forall", "exists", "when", "increase", "=",
];

/// The message for a second declaration: harmless where it says the same.
fn declared_twice(
    kind: &str,
    name: &str,
    place: Place,
    first: &[Parameter],
    second: &[Parameter],
) -> Diagnostic {
    let types = |list: &[Parameter]| -> Vec<_> { list.iter().map(|p| p.types.clone()).collect() };
    if types(first) == types(second) {
        Diagnostic::warning(place, format!("{kind} `{name}` is declared twice alike"))
    } else {
        Diagnostic::error(place, format!("{kind} `{name}` is declared twice"))
    }
}

/// One declaration for two that differ in types alone, as in `(at ?x - truck)` and `(at ?x - box)`:
/// other planners read both as one predicate. None where they are alike, or differ in more.
fn widened(first: &[Parameter], second: &[Parameter]) -> Option<Vec<Parameter>> {
    if first.len() != second.len() {
        return None;
    }
    let mut wider = first.to_vec();
    for (parameter, other) in wider.iter_mut().zip(second) {
        for &id in &other.types {
            if !parameter.types.contains(&id) {
                parameter.types.push(id);
            }
        }
    }
    let grown = wider
        .iter()
        .zip(first.iter().zip(second))
        .any(|(all, (one, other))| all.types != one.types || one.types != other.types);
    grown.then_some(wider)
}

impl Vocabulary {
    /// Reads `(:constants ...)` or `(:objects ...)`.
    pub(super) fn declare_objects(
        &mut self,
        tree: &Tree,
        section: NodeId,
        diagnostics: &mut Diagnostics,
    ) {
        let entries = typed_list(
            tree,
            tree.children(section).skip(1),
            Kind::Name,
            diagnostics,
        );
        let mut last_type = None;
        for typed in entries {
            let name = typed.name;
            let place = tree.place(typed.node);
            let types = match &last_type {
                Some((node, types)) if *node == typed.type_node => Vec::clone(types),
                _ => self.types_of(tree, typed.type_node, diagnostics),
            };
            last_type = Some((typed.type_node, types.clone()));
            if let Some(&first) = self.object_index.get(&name) {
                // A problem may repeat a constant of its domain, as some old files do.
                let constant = first.index() < self.domain.constants.len();
                let message = if self.objects[first.index()].types == types {
                    let message = if constant {
                        format!("`{name}` is a constant of the domain already")
                    } else {
                        format!("`{name}` is declared twice alike")
                    };
                    Diagnostic::warning(place, message)
                } else {
                    Diagnostic::error(place, format!("object `{name}` is declared twice"))
                };
                diagnostics.push(message.note(
                    self.object_places[first.index()].clone(),
                    "first declared here",
                ));
                continue;
            }
            self.object_index
                .insert(name.clone(), ObjectId::from_index(self.objects.len()));
            self.objects.push(Object { name, types });
            self.object_places.push(place);
        }
    }

    fn declare_predicates(&mut self, tree: &Tree, section: NodeId, diagnostics: &mut Diagnostics) {
        for node in tree.children(section).skip(1) {
            let Some((name, place, parameters)) =
                self.declaration(tree, node, "predicate", diagnostics)
            else {
                continue;
            };
            if name == "=" && parameters.len() == 2 {
                diagnostics.push(
                    Diagnostic::warning(place, "`=` needs no declaration")
                        .label("equality of two objects is always there"),
                );
                continue;
            }
            if RESERVED.contains(&name.as_str()) {
                diagnostics.push(
                    Diagnostic::error(place, format!("a predicate cannot be called `{name}`"))
                        .label("this word has a meaning of its own"),
                );
                continue;
            }
            if let Some(&first) = self.predicate_index.get(&name) {
                let known = &mut self.domain.predicates[first.index()].parameters;
                let message = if let Some(wider) = widened(known, &parameters) {
                    *known = wider;
                    Diagnostic::warning(
                        place,
                        format!("predicate `{name}` is declared twice, for other types"),
                    )
                    .label("each parameter takes the types of both declarations")
                } else {
                    declared_twice("predicate", &name, place, known, &parameters)
                };
                diagnostics.push(message.note(
                    self.domain.places.predicates[first.index()].clone(),
                    "first declared here",
                ));
                continue;
            }
            let id = PredicateId::from_index(self.domain.predicates.len());
            self.predicate_index.insert(name.clone(), id);
            self.domain.predicates.push(Predicate { name, parameters });
            self.domain.places.predicates.push(place);
        }
    }

    fn declare_functions(&mut self, tree: &Tree, section: NodeId, diagnostics: &mut Diagnostics) {
        let entries = typed_list(
            tree,
            tree.children(section).skip(1),
            Kind::List,
            diagnostics,
        );
        for typed in entries {
            if let Some(type_node) = typed.type_node
                && !tree.is_word(type_node, "number")
            {
                diagnostics.push(Diagnostic::unsupported(
                    tree.head_place(type_node),
                    "a function that is no `number`",
                ));
            }
            let Some((name, place, parameters)) =
                self.declaration(tree, typed.node, "function", diagnostics)
            else {
                continue;
            };
            if is_total_cost(&name) {
                if !parameters.is_empty() {
                    diagnostics.push(Diagnostic::error(
                        place,
                        format!("`{name}` takes no arguments"),
                    ));
                }
                self.total_cost_declared = true;
                continue;
            }
            if let Some(&first) = self.function_index.get(&name) {
                let known = &self.domain.functions[first.index()].parameters;
                diagnostics.push(
                    declared_twice("function", &name, place, known, &parameters).note(
                        self.domain.places.functions[first.index()].clone(),
                        "first declared here",
                    ),
                );
                continue;
            }
            let id = FunctionId::from_index(self.domain.functions.len());
            self.function_index.insert(name.clone(), id);
            self.domain.functions.push(Function { name, parameters });
            self.domain.places.functions.push(place);
        }
    }

    /// Reads `(name ?x ?y - type)`.
    fn declaration(
        &self,
        tree: &Tree,
        node: NodeId,
        kind: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<(String, Place, Vec<Parameter>)> {
        let mut children = tree.children(node);
        let head = (tree.kind(node) == Kind::List)
            .then(|| children.next())
            .flatten();
        match head {
            Some(head) if tree.kind(head) == Kind::Name => {
                let name = tree.word(head);
                let owner = format!("{kind} `{name}`");
                let parameters =
                    self.parameters(tree, children, &owner, Severity::Warning, diagnostics);
                Some((name, tree.place(head), parameters))
            }
            _ => {
                diagnostics.push(
                    Diagnostic::error(
                        tree.head_place(node),
                        format!("a {kind} is declared as `(name ?x ?y)`"),
                    )
                    .maybe_help(
                        (tree.kind(node) == Kind::Name)
                            .then(|| format!("write `({})`", tree.text(node))),
                    ),
                );
                None
            }
        }
    }

    /// Reads `(function argument...)`.
    pub(super) fn function_term(
        &self,
        tree: &Tree,
        node: NodeId,
        parameters: &[Parameter],
        diagnostics: &mut Diagnostics,
    ) -> Option<(FunctionId, Vec<Term>)> {
        let mut children = tree.children(node);
        let head = children
            .next()
            .filter(|&head| tree.kind(head) == Kind::Name);
        let Some(head) = head else {
            diagnostics.push(Diagnostic::error(
                tree.head_place(node),
                "a function's name is expected here",
            ));
            return None;
        };
        let name = tree.word(head);
        let Some(&function) = self.function_index.get(&name) else {
            let known = self.domain.functions.iter().map(|f| f.name.as_str());
            diagnostics.push(
                Diagnostic::error(tree.place(head), format!("unknown function `{name}`"))
                    .label("not declared in `:functions`")
                    .maybe_help(diagnostics.did_you_mean(&name, known)),
            );
            return None;
        };
        let declared_at = &self.domain.places.functions[function.index()];
        let arguments = self.arguments(
            tree,
            head,
            children,
            &self.domain.functions[function.index()].parameters,
            ("function", &name, declared_at),
            parameters,
            diagnostics,
        )?;
        Some((function, arguments))
    }
}
