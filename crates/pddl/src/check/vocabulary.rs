//! The names known so far, and how words become terms and atoms.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{
    Atom, Domain, DomainPlaces, FunctionId, Object, ObjectId, Parameter, PredicateId, Term, Type,
    TypeId,
};
use crate::source::Place;

use crate::tree::{Kind, NodeId, Tree};

/// Is this `total-cost`? Some competition domains spell it with an underscore.
pub(super) fn is_total_cost(name: &str) -> bool {
    matches!(name, "total-cost" | "total_cost")
}

pub(super) struct Vocabulary {
    pub(super) domain: Domain,
    pub(super) type_index: HashMap<String, TypeId>,
    pub(super) predicate_index: HashMap<String, PredicateId>,
    pub(super) function_index: HashMap<String, FunctionId>,
    /// The domain's constants, then the problem's objects.
    pub(super) objects: Vec<Object>,
    pub(super) object_places: Vec<Place>,
    pub(super) object_index: HashMap<String, ObjectId>,
    /// Whether `(total-cost)` is declared.
    pub(super) total_cost_declared: bool,
    /// In a domain without a `:predicates` section: where a predicate is first used.
    pub(super) first_undeclared: Option<OnceCell<Place>>,
    /// Whether a problem is being read, not a domain.
    in_problem: bool,
}

impl Vocabulary {
    pub(super) fn empty(name: String, place: Place) -> Self {
        let object = Type {
            name: "object".to_owned(),
            parents: Vec::new(),
        };
        Self {
            domain: Domain {
                name,
                requirements: Vec::new(),
                types: vec![object],
                constants: Vec::new(),
                predicates: Vec::new(),
                functions: Vec::new(),
                actions: Vec::new(),
                axioms: Vec::new(),
                places: DomainPlaces {
                    name: place,
                    types: vec![None],
                    constants: Vec::new(),
                    predicates: Vec::new(),
                    functions: Vec::new(),
                    rules: HashMap::new(),
                },
                ancestors: vec![vec![Domain::OBJECT]],
            },
            type_index: HashMap::from([("object".to_owned(), Domain::OBJECT)]),
            predicate_index: HashMap::new(),
            function_index: HashMap::new(),
            objects: Vec::new(),
            object_places: Vec::new(),
            object_index: HashMap::new(),
            total_cost_declared: false,
            first_undeclared: None,
            in_problem: false,
        }
    }

    /// The vocabulary of a checked domain, ready for a problem's objects.
    pub(super) fn of(domain: &Arc<Domain>) -> Self {
        fn index<T>(
            names: impl Iterator<Item = String>,
            id: impl Fn(usize) -> T,
        ) -> HashMap<String, T> {
            names.enumerate().map(|(at, name)| (name, id(at))).collect()
        }
        Self {
            type_index: index(
                domain.types.iter().map(|t| t.name.clone()),
                TypeId::from_index,
            ),
            predicate_index: index(
                domain.predicates.iter().map(|p| p.name.clone()),
                PredicateId::from_index,
            ),
            function_index: index(
                domain.functions.iter().map(|f| f.name.clone()),
                FunctionId::from_index,
            ),
            object_index: index(
                domain.constants.iter().map(|o| o.name.clone()),
                ObjectId::from_index,
            ),
            objects: domain.constants.clone(),
            object_places: domain.places.constants.clone(),
            total_cost_declared: true,
            first_undeclared: None,
            in_problem: true,
            domain: Domain::clone(domain),
        }
    }

    /// Whether something declared with `declared` fits `expected`; unknown types fit everywhere.
    fn fits(&self, declared: &[TypeId], expected: &[TypeId]) -> bool {
        declared.is_empty() || expected.is_empty() || self.domain.fits(declared, expected)
    }

    /// Whether any type lies below both: without one, no object can ever fit.
    pub(super) fn overlap(&self, declared: &[TypeId], expected: &[TypeId]) -> bool {
        (0..self.domain.types.len())
            .map(TypeId::from_index)
            .any(|t| {
                let below =
                    |types: &[TypeId]| types.iter().any(|&sup| self.domain.is_subtype(t, sup));
                below(declared) && below(expected)
            })
    }

    pub(super) fn type_names(&self, types: &[TypeId]) -> String {
        let names: Vec<&str> = types
            .iter()
            .map(|t| self.domain.types[t.index()].name.as_str())
            .collect();
        names.join("` or `")
    }

    /// Reads `(predicate argument...)`.
    pub(super) fn atom(
        &self,
        tree: &Tree,
        node: NodeId,
        parameters: &[Parameter],
        diagnostics: &mut Diagnostics,
    ) -> Option<Atom<Term>> {
        let mut children = tree.children(node);
        let Some(head) = children.next() else {
            diagnostics.push(
                Diagnostic::error(tree.place(node), "empty parentheses")
                    .label("a predicate belongs here"),
            );
            return None;
        };
        if tree.kind(head) != Kind::Name {
            diagnostics.push(
                Diagnostic::error(tree.head_place(head), "a predicate's name is expected here")
                    .label(match tree.kind(head) {
                        Kind::Variable => "this is a variable",
                        Kind::Keyword => "this is a keyword",
                        Kind::List => "this is a list; one parenthesis too many?",
                        _ => "this is not a name",
                    }),
            );
            return None;
        }
        let name = tree.lower(head);
        let predicate = self.predicate_of(tree, head, &name, diagnostics)?;
        let declaration = &self.domain.predicates[predicate.index()];
        let arguments = self.arguments(
            tree,
            head,
            children,
            &declaration.parameters,
            (
                "predicate",
                &name,
                &self.domain.places.predicates[predicate.index()],
            ),
            parameters,
            diagnostics,
        )?;
        Some(Atom {
            predicate,
            arguments,
        })
    }

    /// Finds a predicate by its name, which stands at `head`.
    pub(super) fn predicate_of(
        &self,
        tree: &Tree,
        head: NodeId,
        name: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<PredicateId> {
        let found = self.predicate_index.get(name).copied();
        if found.is_none() {
            match &self.first_undeclared {
                Some(first) => _ = first.get_or_init(|| tree.place(head)),
                None => diagnostics.push(self.unknown_predicate(tree, head, name, diagnostics)),
            }
        }
        found
    }

    fn unknown_predicate(
        &self,
        tree: &Tree,
        head: NodeId,
        name: &str,
        diagnostics: &Diagnostics,
    ) -> Diagnostic {
        let message = Diagnostic::error(tree.place(head), format!("unknown predicate `{name}`"));
        if self.function_index.contains_key(name) || is_total_cost(name) {
            message.label("this is a numeric function, not a predicate")
        } else if let Some(t) = self.type_index.get(name) {
            let message = message.label("this is a type, not a predicate");
            match &self.domain.places.types[t.index()] {
                Some(place) => message.note(place.clone(), "declared here"),
                None => message,
            }
        } else {
            message.label("not declared in `:predicates`").maybe_help(
                diagnostics
                    .did_you_mean(name, self.domain.predicates.iter().map(|p| p.name.as_str())),
            )
        }
    }

    /// Reads the arguments of a predicate or function and checks their number and types.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn arguments(
        &self,
        tree: &Tree,
        head: NodeId,
        nodes: impl Iterator<Item = NodeId>,
        expected: &[Parameter],
        (kind, name, declared_at): (&str, &str, &Place),
        parameters: &[Parameter],
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Term>> {
        let mut terms = Vec::with_capacity(expected.len());
        let mut sound = true;
        let mut given = 0;
        for node in nodes {
            given += 1;
            match self.term(tree, node, parameters, diagnostics) {
                Some(term) => {
                    if let Some(parameter) = expected.get(given - 1) {
                        let message =
                            self.check_type(tree, node, term, parameter, parameters, declared_at);
                        sound &= message.as_ref().is_none_or(|message| {
                            message.severity == crate::diagnostic::Severity::Warning
                        });
                        message.into_iter().for_each(|m| diagnostics.push(m));
                    }
                    terms.push(term);
                }
                None => sound = false,
            }
        }
        if given != expected.len() {
            let plural = if expected.len() == 1 { "" } else { "s" };
            diagnostics.push(
                Diagnostic::error(
                    tree.place(head),
                    format!(
                        "{kind} `{name}` takes {} argument{plural}, but {given} {} given",
                        expected.len(),
                        if given == 1 { "is" } else { "are" },
                    ),
                )
                .note(declared_at.clone(), "declared here"),
            );
            return None;
        }
        sound.then_some(terms)
    }

    /// Reads a variable or the name of an object.
    pub(super) fn term(
        &self,
        tree: &Tree,
        node: NodeId,
        parameters: &[Parameter],
        diagnostics: &mut Diagnostics,
    ) -> Option<Term> {
        match tree.kind(node) {
            Kind::Variable => {
                let word = tree.lower(node);
                let name = &word[1..];
                // The innermost variable of a name hides those further out.
                let found = parameters.iter().rposition(|p| p.name == name);
                if found.is_none() {
                    let message =
                        Diagnostic::error(tree.place(node), format!("unknown variable `{word}`"));
                    let names = parameters.iter().map(|p| p.name.as_str());
                    diagnostics.push(if self.in_problem && parameters.is_empty() {
                        message.label("a problem has objects, not variables")
                    } else if parameters.is_empty() {
                        message.label("there are no parameters here")
                    } else {
                        message
                            .label("neither a parameter nor bound by a quantifier")
                            .maybe_help(
                                diagnostics
                                    .nearest(name, names)
                                    .map(|near| format!("did you mean `?{near}`?")),
                            )
                    });
                }
                found.map(Term::Parameter)
            }
            Kind::Name => {
                let name = tree.lower(node);
                let found = self.object_index.get(&*name).copied();
                if found.is_none() {
                    let message =
                        Diagnostic::error(tree.place(node), format!("unknown object `{name}`"));
                    let variable = parameters.iter().any(|p| p.name == *name);
                    diagnostics.push(
                        message
                            .label(if self.in_problem {
                                "not declared in `:objects` or `:constants`"
                            } else {
                                "not declared in `:constants`"
                            })
                            .maybe_help(if variable {
                                Some(format!("did you mean the parameter `?{name}`?"))
                            } else {
                                diagnostics.did_you_mean(
                                    &name,
                                    self.objects.iter().map(|o| o.name.as_str()),
                                )
                            }),
                    );
                }
                found.map(Term::Object)
            }
            Kind::List => {
                diagnostics.push(
                    Diagnostic::error(tree.head_place(node), "an argument is expected here")
                        .label("this is a list; is a parenthesis misplaced?"),
                );
                None
            }
            Kind::Keyword | Kind::Dash => {
                diagnostics.push(
                    Diagnostic::error(tree.place(node), "an argument is expected here")
                        .label("this is neither an object nor a variable"),
                );
                None
            }
        }
    }

    /// An object of a wrong type is an error; a variable only where no object could ever fit, and
    /// a warning where its type is wider than what the predicate takes.
    fn check_type(
        &self,
        tree: &Tree,
        node: NodeId,
        term: Term,
        expected: &Parameter,
        parameters: &[Parameter],
        declared_at: &Place,
    ) -> Option<Diagnostic> {
        let (declared, object) = match term {
            Term::Parameter(at) => (&parameters[at].types, None),
            Term::Object(object) => (&self.objects[object.index()].types, Some(object)),
        };
        if self.fits(declared, &expected.types) {
            return None;
        }
        let place = tree.place(node);
        let is = self.type_names(declared);
        let wants = self.type_names(&expected.types);
        if object.is_none() && self.overlap(declared, &expected.types) {
            return Some(
                Diagnostic::warning(
                    place,
                    format!(
                        "`{}` may be any `{is}`, but `{wants}` is expected",
                        tree.text(node)
                    ),
                )
                .note(declared_at.clone(), "declared here"),
            );
        }
        let message = Diagnostic::error(
            place,
            format!(
                "`{}` is of type `{is}`, but `{wants}` is expected",
                tree.text(node)
            ),
        )
        .note(
            declared_at.clone(),
            format!("its parameter `?{}` is declared here", expected.name),
        );
        Some(match object {
            Some(object) => message.note(
                self.object_places[object.index()].clone(),
                "the object is declared here",
            ),
            None => message,
        })
    }
}

/// A number of PDDL as a cost: whole and not negative.
pub(super) fn cost(tree: &Tree, node: NodeId, diagnostics: &mut Diagnostics) -> Option<u32> {
    let text = tree.text(node);
    match text.parse::<f64>() {
        Ok(value) if value < 0.0 => {
            diagnostics.push(Diagnostic::unsupported(tree.place(node), "a negative cost"));
            None
        }
        Ok(value) if value.fract() != 0.0 => {
            diagnostics.push(
                Diagnostic::unsupported(tree.place(node), "a cost that is not a whole number")
                    .help("multiply all costs by the same factor"),
            );
            None
        }
        // Plans of a billion steps at this cost still fit 64 bits.
        Ok(value) if value <= f64::from(u32::MAX / 2) => Some(value as u32),
        Ok(_) => {
            diagnostics.push(Diagnostic::unsupported(
                tree.place(node),
                format!("a cost above {}", u32::MAX / 2),
            ));
            None
        }
        Err(_) => {
            diagnostics.push(
                Diagnostic::error(tree.place(node), "a number is expected here")
                    .label("this is not a number"),
            );
            None
        }
    }
}
