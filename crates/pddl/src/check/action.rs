//! `(:action NAME :parameters (...) :precondition ... :effect ...)`.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::model::{ActionSchema, Condition, Parameter};
use crate::source::Place;
use crate::tree::{Kind, NodeId, Tree};

use super::formula::{Reader, Uses};
use super::vocabulary::Vocabulary;

impl Vocabulary {
    /// Reads `(:action NAME :parameters (...) :precondition ... :effect ...)`.
    pub(super) fn action(
        &self,
        tree: &Tree,
        section: NodeId,
        uses: &mut Uses,
        diagnostics: &mut Diagnostics,
    ) -> Option<(ActionSchema, Place)> {
        let mut children = tree.children(section).skip(1).peekable();
        let Some(name) = children.next_if(|&node| tree.kind(node) == Kind::Name) else {
            diagnostics.push(
                Diagnostic::error(tree.head_place(section), "an action needs a name")
                    .label("the name belongs behind this"),
            );
            return None;
        };
        let mut parts: HashMap<String, (NodeId, NodeId)> = HashMap::new();
        while let Some(key) = children.next() {
            if tree.kind(key) != Kind::Keyword {
                diagnostics.push(Diagnostic::error(
                    tree.head_place(key),
                    "expected `:parameters`, `:precondition` or `:effect` here",
                ));
                continue;
            }
            let word = tree.word(key);
            let Some(value) = children.next_if(|&node| tree.kind(node) != Kind::Keyword) else {
                diagnostics.push(
                    Diagnostic::error(tree.place(key), format!("nothing follows `{word}`"))
                        .help(format!("leave it out, or write `{word} ()` for none")),
                );
                parts.entry(word).or_insert((key, key));
                continue;
            };
            let second = children.next_if(|&node| tree.kind(node) != Kind::Keyword);
            let mut last = second.unwrap_or(value);
            while let Some(more) = children.next_if(|&node| tree.kind(node) != Kind::Keyword) {
                last = more;
            }
            if let Some(message) = part_in_pieces(tree, &word, value, second, last) {
                diagnostics.push(message);
                if tree.kind(value) != Kind::List {
                    parts.entry(word).or_insert((key, key));
                    continue;
                }
            }
            match word.as_str() {
                ":parameters" | ":precondition" | ":effect" => {
                    if let Some(&(first, _)) = parts.get(&word) {
                        diagnostics.push(
                            Diagnostic::error(
                                tree.place(key),
                                format!("second `{word}` of this action"),
                            )
                            .note(tree.place(first), "the first one is here"),
                        );
                    } else {
                        parts.insert(word, (key, value));
                    }
                }
                ":vars" | ":duration" | ":condition" | ":observe" | ":only-in-expansions" => {
                    diagnostics.push(Diagnostic::unsupported(
                        tree.place(key),
                        format!("`{word}`"),
                    ));
                }
                _ => {
                    let meant =
                        diagnostics.nearest(&word, [":parameters", ":precondition", ":effect"]);
                    diagnostics.push(
                        Diagnostic::error(
                            tree.place(key),
                            format!("unknown part `{word}` of an action"),
                        )
                        .maybe_help(meant.map(|name| format!("did you mean `{name}`?"))),
                    );
                    if let Some(meant) = meant {
                        parts.entry(meant.to_owned()).or_insert((key, value));
                    }
                }
            }
        }
        let mut schema = ActionSchema {
            name: tree.word(name),
            parameters: Vec::new(),
            precondition: Condition::default(),
            add: Vec::new(),
            del: Vec::new(),
            conditional: Vec::new(),
            cost: None,
        };
        // A part that is no list was complained about above.
        let list = |part: &str| {
            let &(_, value) = parts.get(part)?;
            (tree.kind(value) == Kind::List).then_some(value)
        };
        if let Some(value) = list(":parameters") {
            let owner = format!("action `{}`", schema.name);
            schema.parameters = self.parameters(
                tree,
                tree.children(value),
                &owner,
                Severity::Error,
                diagnostics,
            );
        } else {
            let bodies = [list(":precondition"), list(":effect")];
            let free = free_variables(tree, bodies.into_iter().flatten());
            if let (Some(&first), None) = (free.first(), parts.get(":parameters")) {
                let names: Vec<&str> = free.iter().map(|&node| tree.text(node)).collect();
                diagnostics.push(
                    Diagnostic::error(
                        tree.place(first),
                        format!(
                            "`{}` is used, but action `{}` has no `:parameters`",
                            names[0], schema.name
                        ),
                    )
                    .help(format!("add `:parameters ({})`", names.join(" "))),
                );
            }
            schema.parameters = free
                .iter()
                .map(|&node| Parameter {
                    name: tree.word(node)[1..].to_owned(),
                    types: Vec::new(),
                })
                .collect();
        }
        let mut reader = Reader {
            vocabulary: self,
            tree,
            scope: schema.parameters.clone(),
            uses,
            diagnostics,
        };
        if let Some(value) = list(":precondition") {
            schema.precondition = reader.condition(value);
        }
        match parts.get(":effect") {
            Some(_) => {
                if let Some(value) = list(":effect") {
                    reader.effect(value, &mut schema);
                }
            }
            None => diagnostics.push(Diagnostic::warning(
                tree.place(name),
                format!("action `{}` has no effect", schema.name),
            )),
        }
        Some((schema, tree.place(name)))
    }
}

/// The message for a part of an action that is not exactly one list. It goes from `value` over
/// `second` to `last`.
fn part_in_pieces(
    tree: &Tree,
    part: &str,
    value: NodeId,
    second: Option<NodeId>,
    last: NodeId,
) -> Option<Diagnostic> {
    if tree.kind(value) != Kind::List {
        let place = tree.run_place(value, last);
        let text = &place.source.text()[place.span.range()];
        let help = format!("write `{part} ({text})`");
        let short = !text.contains(['(', ')', '\n']);
        return Some(
            Diagnostic::error(
                place,
                format!("what follows `{part}` stands in parentheses"),
            )
            .maybe_help(short.then_some(help)),
        );
    }
    let second = second?;
    let message = Diagnostic::error(
        tree.head_place(second),
        format!("only one list can follow `{part}`"),
    )
    .label("this is a second one");
    Some(match (part, tree.head(value).as_str()) {
        (":precondition" | ":effect", "and") => {
            message.help("the `(and ...)` before it ends too early: one `)` too many?")
        }
        (":precondition" | ":effect", _) => message.help("put several into `(and ...)`"),
        _ => message,
    })
}

/// Each variable in `bodies` that no quantifier binds, where it first stands.
fn free_variables(tree: &Tree, bodies: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
    let mut pending: Vec<NodeId> = bodies.collect();
    pending.reverse();
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    while let Some(node) = pending.pop() {
        match tree.kind(node) {
            Kind::Variable if seen.insert(tree.word(node)) => found.push(node),
            Kind::List if !matches!(tree.head(node).as_str(), "forall" | "exists") => {
                let from = pending.len();
                pending.extend(tree.children(node));
                pending[from..].reverse();
            }
            _ => {}
        }
    }
    found
}
