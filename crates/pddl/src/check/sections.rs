//! The frame of a file: `(define (domain NAME) section...)`.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::source::Place;
use crate::suggest::nearest;
use crate::tree::{Kind, NodeId, Tree};

/// What kind of definition a file should hold.
#[derive(Clone, Copy)]
pub(super) enum Definition {
    Domain,
    Problem,
}

impl Definition {
    fn word(self) -> &'static str {
        match self {
            Self::Domain => "domain",
            Self::Problem => "problem",
        }
    }

    fn known_sections(self) -> &'static [&'static str] {
        match self {
            Self::Domain => &[
                ":requirements",
                ":types",
                ":constants",
                ":predicates",
                ":functions",
                ":derived",
                ":action",
            ],
            Self::Problem => &[
                ":domain",
                ":requirements",
                ":objects",
                ":init",
                ":goal",
                ":metric",
            ],
        }
    }
}

/// A file's name and sections, each section by its keyword.
pub(super) struct Sections {
    pub(super) name: String,
    pub(super) name_place: Place,
    /// Sections that stand at most once, by keyword.
    single: HashMap<String, NodeId>,
    /// The `:action` sections in order.
    pub(super) actions: Vec<NodeId>,
    /// The `:derived` sections in order.
    pub(super) derived: Vec<NodeId>,
}

impl Sections {
    pub(super) fn get(&self, keyword: &str) -> Option<NodeId> {
        self.single.get(keyword).copied()
    }

    /// Reads the frame. `None` where there is nothing to check.
    pub(super) fn read(
        tree: &Tree,
        definition: Definition,
        diagnostics: &mut Diagnostics,
    ) -> Option<Self> {
        let root = tree.root()?;
        let mut children = tree.children(root).skip(1).peekable();
        let word = definition.word();
        let header = children
            .next_if(|&node| tree.kind(node) == Kind::List && !tree.head(node).starts_with(':'));
        let (name, name_place) = match header {
            Some(header) => {
                let found = tree.head(header);
                if let Some(message) = wrong_definition(tree, header, definition) {
                    diagnostics.push(message);
                    if matches!(found.as_str(), "domain" | "problem") {
                        return None;
                    }
                }
                let mut words = tree.children(header).skip(1);
                match words.next() {
                    Some(name) if tree.kind(name) == Kind::Name => {
                        if let Some(second) = words.next() {
                            diagnostics.push(
                                Diagnostic::error(
                                    tree.head_place(second),
                                    format!("the name of a {word} is one word"),
                                )
                                .label("not expected here"),
                            );
                        }
                        (tree.word(name), tree.place(name))
                    }
                    _ => {
                        diagnostics.push(Diagnostic::error(
                            tree.place(header),
                            format!("the {word} has no name"),
                        ));
                        (String::new(), tree.place(header))
                    }
                }
            }
            None => {
                diagnostics.push(
                    Diagnostic::error(
                        tree.head_place(root),
                        format!("`(define` is not followed by `({word} NAME)`"),
                    )
                    .label(format!("`({word} NAME)` belongs here")),
                );
                (String::new(), tree.head_place(root))
            }
        };
        let mut sections = Self {
            name,
            name_place,
            single: HashMap::new(),
            actions: Vec::new(),
            derived: Vec::new(),
        };
        let mut misspelt = Vec::new();
        for node in children {
            if let Some(keyword) = sections.add(tree, node, definition, diagnostics) {
                misspelt.push((keyword, node));
            }
        }
        // What was most likely meant is read as such, lest all that uses it be wrong.
        for (keyword, node) in misspelt {
            if keyword == ":action" {
                sections.actions.push(node);
            } else if keyword == ":derived" {
                sections.derived.push(node);
            } else {
                sections.single.entry(keyword.to_owned()).or_insert(node);
            }
        }
        Some(sections)
    }

    /// Files a section under its keyword; gives the keyword that was likely meant where it is
    /// misspelt.
    fn add(
        &mut self,
        tree: &Tree,
        node: NodeId,
        definition: Definition,
        diagnostics: &mut Diagnostics,
    ) -> Option<&'static str> {
        let place = tree.head_place(node);
        if tree.kind(node) != Kind::List {
            diagnostics.push(
                Diagnostic::error(
                    place,
                    format!("stray `{}` between sections", tree.text(node)),
                )
                .label("sections are lists such as `(:action ...)`"),
            );
            return None;
        }
        let keyword = tree.head(node);
        if keyword == ":action" && matches!(definition, Definition::Domain) {
            self.actions.push(node);
        } else if keyword == ":derived" && matches!(definition, Definition::Domain) {
            self.derived.push(node);
        } else if definition.known_sections().contains(&keyword.as_str()) {
            if let Some(&first) = self.single.get(&keyword) {
                diagnostics.push(
                    Diagnostic::error(place, format!("second `{keyword}` section"))
                        .label("only one is allowed")
                        .note(tree.head_place(first), "the first one is here"),
                );
            } else {
                self.single.insert(keyword, node);
            }
        } else if let Some(construct) = unsupported_section(&keyword) {
            let help = match keyword.as_str() {
                ":durative-action" => {
                    Some("homing plans with actions that take no time: write `:action`")
                }
                ":axiom" => Some("write `(:derived (name ?x ...) condition)`"),
                _ => None,
            };
            diagnostics.push(
                Diagnostic::unsupported(place, format!("`{keyword}` ({construct})"))
                    .maybe_help(help.map(str::to_owned)),
            );
        } else {
            let other = match definition {
                Definition::Domain => Definition::Problem,
                Definition::Problem => Definition::Domain,
            };
            let mut meant = None;
            let message = if keyword.is_empty() {
                Diagnostic::error(place, "a section begins with a keyword such as `:action`")
            } else if other.known_sections().contains(&keyword.as_str()) {
                Diagnostic::error(
                    place,
                    format!(
                        "`{keyword}` belongs in a {}, not in a {}",
                        other.word(),
                        definition.word()
                    ),
                )
            } else {
                meant = diagnostics.nearest(&keyword, definition.known_sections().iter().copied());
                Diagnostic::error(place, format!("unknown section `{keyword}`"))
                    .maybe_help(meant.map(|name| format!("did you mean `{name}`?")))
            };
            diagnostics.push(message);
            return meant;
        }
        None
    }
}

/// The message for `(define (problem ...` where a domain was asked for, and the like.
fn wrong_definition(tree: &Tree, header: NodeId, wanted: Definition) -> Option<Diagnostic> {
    let found = tree.head(header);
    let word = wanted.word();
    if found == word {
        return None;
    }
    let message = match (found.as_str(), wanted) {
        ("problem", Definition::Domain) => Diagnostic::error(
            tree.head_place(header),
            "this file holds a problem, where a domain is expected",
        )
        .help("the domain file comes first, then the problem file"),
        ("domain", Definition::Problem) => Diagnostic::error(
            tree.head_place(header),
            "this file holds a domain, where a problem is expected",
        )
        .help("the domain file comes first, then the problem file"),
        _ => Diagnostic::error(
            tree.head_place(header),
            format!("expected `({word} NAME)` here"),
        )
        .maybe_help(nearest(&found, [word]).map(|_| format!("did you mean `{word}`?"))),
    };
    Some(message)
}

fn unsupported_section(keyword: &str) -> Option<&'static str> {
    Some(match keyword {
        ":durative-action" => "durative actions",
        ":axiom" => "derived predicates as early PDDL wrote them",
        ":constraints" => "trajectory constraints",
        ":process" | ":event" => "processes and events",
        ":class" | ":modules" => "modular domains",
        ":task" | ":method" | ":htn" | ":tasks" => "hierarchical planning",
        ":observe" | ":sensor" | ":observable" => "partial observability",
        ":timeless" | ":safety" | ":length" | ":situation" | ":extends" => {
            "a section of early PDDL"
        }
        _ => return None,
    })
}
