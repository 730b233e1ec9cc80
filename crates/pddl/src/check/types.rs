//! Typed lists (`a b - block c`), and the hierarchy of types.

use std::collections::{BTreeSet, HashMap};

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::model::{Domain, Parameter, Type, TypeId};
use crate::source::Place;
use crate::tree::{Kind, NodeId, Tree};

use super::vocabulary::Vocabulary;

/// One entry of a typed list: what is named, and the node of its type where one is written.
pub(super) struct Typed {
    pub(super) node: NodeId,
    /// In lower case, without the question mark; empty for a list.
    pub(super) name: String,
    pub(super) type_node: Option<NodeId>,
}

/// Splits a typed list into its entries. `entry` says what an entry may be.
pub(super) fn typed_list(
    tree: &Tree,
    nodes: impl Iterator<Item = NodeId>,
    entry: Kind,
    diagnostics: &mut Diagnostics,
) -> Vec<Typed> {
    let mut entries: Vec<Typed> = Vec::new();
    let mut untyped_from = 0;
    let list: Vec<NodeId> = nodes.collect();
    let mut nodes = list.iter().copied().peekable();
    while let Some(node) = nodes.next() {
        let kind = tree.kind(node);
        let text = match kind {
            Kind::List => "",
            _ => tree.text(node),
        };
        let named = |name: &str, type_node| Typed {
            node,
            name: name.trim_start_matches('?').to_ascii_lowercase(),
            type_node,
        };
        if kind == Kind::Dash {
            let Some(type_node) = nodes.next() else {
                diagnostics.push(
                    Diagnostic::error(tree.place(node), "a type is missing after `-`")
                        .label("nothing follows"),
                );
                break;
            };
            if untyped_from == entries.len() {
                diagnostics.push(
                    Diagnostic::error(
                        tree.place(node),
                        "there is nothing before `-` to give a type to",
                    )
                    .label("names come before the dash, their type behind it"),
                );
                if entry == Kind::Variable {
                    // Most likely one name was forgotten: count it, lest every use be wrong.
                    entries.push(named("", None));
                }
            }
            if is_glued_type(tree, type_node) {
                diagnostics.push(Diagnostic::error(
                    tree.place(type_node),
                    "a type is expected after `-`, not a second dash",
                ));
            }
            for typed in &mut entries[untyped_from..] {
                typed.type_node = Some(type_node);
            }
            untyped_from = entries.len();
        } else if is_glued_type(tree, node) && untyped_from < entries.len() {
            diagnostics.push(
                Diagnostic::warning(tree.place(node), "a blank is missing behind the dash")
                    .help(format!("write `- {}`", &text[1..])),
            );
            for typed in &mut entries[untyped_from..] {
                typed.type_node = Some(node);
            }
            untyped_from = entries.len();
        } else if kind == entry
            && let Some(name) = text.strip_suffix('-')
            && is_type_behind(tree, nodes.clone())
            && let Some(type_node) = nodes.next()
        {
            diagnostics.push(
                Diagnostic::error(tree.place(node), "a blank is missing before the dash")
                    .help(format!("write `{name} - {}`", tree.text(type_node))),
            );
            entries.push(named(name, None));
            for typed in &mut entries[untyped_from..] {
                typed.type_node = Some(type_node);
            }
            untyped_from = entries.len();
        } else if kind == entry {
            entries.push(named(text, None));
        } else {
            diagnostics.push(
                Diagnostic::error(
                    tree.head_place(node),
                    match entry {
                        Kind::Variable => "a variable such as `?x` is expected here",
                        Kind::List => "a list in parentheses is expected here",
                        _ => "a name is expected here",
                    },
                )
                .maybe_help(
                    (entry == Kind::Variable && kind == Kind::Name)
                        .then(|| format!("did you mean `?{text}`?")),
                ),
            );
            if entry == Kind::Variable && kind == Kind::Name {
                entries.push(named(text, None));
            }
        }
    }
    entries
}

/// Whether a name comes next that can be the type of what ends in a dash, as in `a- block`. Names
/// may end in a dash: `a- b- - block` declares two.
fn is_type_behind(tree: &Tree, mut next: impl Iterator<Item = NodeId>) -> bool {
    let is_name = next
        .next()
        .is_some_and(|node| tree.kind(node) == Kind::Name && !tree.text(node).ends_with('-'));
    is_name && next.next().is_none_or(|node| tree.kind(node) != Kind::Dash)
}

/// `-block`: a dash and a type with no blank between.
fn is_glued_type(tree: &Tree, node: NodeId) -> bool {
    tree.kind(node) == Kind::Name
        && tree.text(node).starts_with('-')
        && tree.text(node).parse::<f64>().is_err()
}

/// The name of a type in lower case, without a dash glued to it.
fn type_word(tree: &Tree, node: NodeId) -> String {
    let word = tree.word(node);
    match word.strip_prefix('-') {
        Some(name) if is_glued_type(tree, node) => name.to_owned(),
        _ => word,
    }
}

/// The names in a type: one, or those of `(either a b)`.
fn type_name_nodes(tree: &Tree, node: NodeId, diagnostics: &mut Diagnostics) -> Vec<NodeId> {
    match tree.kind(node) {
        Kind::Name => vec![node],
        Kind::List if tree.head(node) == "either" => {
            let (names, others): (Vec<_>, Vec<_>) = tree
                .children(node)
                .skip(1)
                .partition(|&child| tree.kind(child) == Kind::Name);
            for other in &others {
                diagnostics.push(Diagnostic::error(
                    tree.head_place(*other),
                    "the name of a type is expected here",
                ));
            }
            if names.is_empty() && others.is_empty() {
                diagnostics.push(Diagnostic::error(
                    tree.place(node),
                    "`either` needs at least one type",
                ));
            }
            names
        }
        _ => {
            diagnostics.push(
                Diagnostic::error(tree.head_place(node), "a type is expected after `-`")
                    .label("the name of a type, or `(either ...)`"),
            );
            Vec::new()
        }
    }
}

impl Vocabulary {
    /// Resolves a type; no types where it is unknown, `object` where none is written.
    pub(super) fn types_of(
        &self,
        tree: &Tree,
        type_node: Option<NodeId>,
        diagnostics: &mut Diagnostics,
    ) -> Vec<TypeId> {
        let Some(node) = type_node else {
            return vec![Domain::OBJECT];
        };
        let mut types = Vec::new();
        for name_node in type_name_nodes(tree, node, diagnostics) {
            let name = type_word(tree, name_node);
            match self.type_index.get(&name) {
                Some(&found) if types.contains(&found) => {}
                Some(&found) => types.push(found),
                None => {
                    let names = self.domain.types.iter().map(|t| t.name.as_str());
                    diagnostics.push(
                        Diagnostic::error(tree.place(name_node), format!("unknown type `{name}`"))
                            .label("not declared in `:types`")
                            .maybe_help(diagnostics.did_you_mean(&name, names)),
                    );
                    // One unknown alternative leaves the whole type unknown.
                    return Vec::new();
                }
            }
        }
        types
    }

    /// Reads `?x ?y - block ...`, the parameters of `owner`. How bad a repeated name is depends on
    /// whether anything refers to it: in an action, yes; in the declaration of a predicate, no.
    pub(super) fn parameters(
        &self,
        tree: &Tree,
        nodes: impl Iterator<Item = NodeId>,
        owner: &str,
        repetition: Severity,
        diagnostics: &mut Diagnostics,
    ) -> Vec<Parameter> {
        let mut parameters: Vec<Parameter> = Vec::new();
        let mut places: HashMap<String, Place> = HashMap::new();
        let mut last_type = None;
        for typed in typed_list(tree, nodes, Kind::Variable, diagnostics) {
            let name = typed.name;
            let place = tree.place(typed.node);
            if name.is_empty() && tree.kind(typed.node) == Kind::Variable {
                diagnostics.push(Diagnostic::error(place.clone(), "a variable needs a name"));
            }
            if let Some(first) = places.get(&name) {
                diagnostics.push(
                    Diagnostic::new(
                        repetition,
                        place,
                        format!("second parameter `?{name}` of {owner}"),
                    )
                    .note(first.clone(), "the first one is here"),
                );
            } else {
                places.insert(name.clone(), place);
            }
            // Names that share a type share its node: resolve it, and complain about it, once.
            let types = match &last_type {
                Some((node, types)) if *node == typed.type_node => Vec::clone(types),
                _ => self.types_of(tree, typed.type_node, diagnostics),
            };
            last_type = Some((typed.type_node, types.clone()));
            parameters.push(Parameter { name, types });
        }
        parameters
    }

    /// Reads `(:types ...)`. A supertype that is used but not declared becomes a child of `object`.
    pub(super) fn declare_types(
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
        let mut parents: HashMap<TypeId, Vec<NodeId>> = HashMap::new();
        for typed in &entries {
            let name = typed.name.clone();
            let place = tree.place(typed.node);
            if name == "object" {
                // `object` may be named; it cannot get a supertype.
                if let Some(type_node) = typed.type_node
                    && !tree.is_word(type_node, "object")
                {
                    diagnostics.push(Diagnostic::error(
                        place,
                        "`object` is the root of all types and has no supertype",
                    ));
                }
                continue;
            }
            if let Some(&first) = self.type_index.get(&name) {
                let more = match typed.type_node {
                    Some(type_node) => type_name_nodes(tree, type_node, diagnostics),
                    None => Vec::new(),
                };
                let known = parents.entry(first).or_default();
                let names = |nodes: &[NodeId]| -> BTreeSet<String> {
                    let names = nodes.iter().map(|&node| type_word(tree, node));
                    names.filter(|name| name != "object").collect()
                };
                let (before, now) = (names(known), names(&more));
                let alike = before == now || before.is_empty() || now.is_empty();
                known.extend(more);
                let message =
                    Diagnostic::warning(place, format!("type `{name}` is declared twice"));
                let message = message.label(if alike {
                    "both declarations count"
                } else {
                    "it is below the supertypes of both declarations"
                });
                diagnostics.push(match &self.domain.places.types[first.index()] {
                    Some(first) => message.note(first.clone(), "first declared here"),
                    None => message,
                });
                continue;
            }
            let id = self.add_type(name, Some(place));
            if let Some(type_node) = typed.type_node {
                parents.insert(id, type_name_nodes(tree, type_node, diagnostics));
            }
        }
        for index in 1..self.domain.types.len() {
            let id = TypeId::from_index(index);
            for &node in parents.get(&id).into_iter().flatten() {
                let name = type_word(tree, node);
                let parent = self.type_index.get(&name).copied().unwrap_or_else(|| {
                    let known = self.domain.types.iter().map(|t| t.name.as_str());
                    diagnostics.push(
                        Diagnostic::warning(
                            tree.place(node),
                            format!("supertype `{name}` is not declared"),
                        )
                        .label("taken as a type of its own")
                        .maybe_help(diagnostics.did_you_mean(&name, known)),
                    );
                    self.add_type(name, Some(tree.place(node)))
                });
                let list = &mut self.domain.types[index].parents;
                if !list.contains(&parent) {
                    list.push(parent);
                }
            }
            let list = &mut self.domain.types[index].parents;
            if list.is_empty() {
                list.push(Domain::OBJECT);
            }
        }
        for index in 1..self.domain.types.len() {
            // Types added on the way, as undeclared supertypes, come after those declared.
            let list = &mut self.domain.types[index].parents;
            if list.is_empty() {
                list.push(Domain::OBJECT);
            }
        }
        self.close_hierarchy(diagnostics);
    }

    fn add_type(&mut self, name: String, place: Option<Place>) -> TypeId {
        let id = TypeId::from_index(self.domain.types.len());
        self.type_index.insert(name.clone(), id);
        self.domain.types.push(Type {
            name,
            parents: Vec::new(),
        });
        self.domain.places.types.push(place);
        id
    }

    /// Fills in all ancestors. Types on a cycle are above one another: what is of one of them is of
    /// all.
    fn close_hierarchy(&mut self, diagnostics: &mut Diagnostics) {
        let types = &self.domain.types;
        let mut ancestors: Vec<Vec<TypeId>> = Vec::with_capacity(types.len());
        let mut cyclic = vec![false; types.len()];
        let mut seen_from = vec![usize::MAX; types.len()];
        for start in 0..types.len() {
            seen_from[start] = start;
            let mut found = vec![TypeId::from_index(start)];
            let mut next = 0;
            while let Some(&current) = found.get(next) {
                next += 1;
                for &parent in &types[current.index()].parents {
                    cyclic[start] |= parent.index() == start;
                    if seen_from[parent.index()] != start {
                        seen_from[parent.index()] = start;
                        found.push(parent);
                    }
                }
            }
            found.sort_unstable();
            ancestors.push(found);
        }
        let is_above = |sup: usize, sub: usize| {
            ancestors[sub]
                .binary_search(&TypeId::from_index(sup))
                .is_ok()
        };
        // Report each cycle once, at its first type.
        for index in 0..types.len() {
            let on_same_cycle =
                |&other: &usize| cyclic[other] && is_above(other, index) && is_above(index, other);
            if !cyclic[index] || (0..index).any(|other| on_same_cycle(&other)) {
                continue;
            }
            let mut path = vec![types[index].name.as_str()];
            let mut at = index;
            loop {
                let next = types[at]
                    .parents
                    .iter()
                    .map(|p| p.index())
                    .find(|other| on_same_cycle(other));
                match next {
                    Some(next) if next != index && path.len() <= types.len() => {
                        path.push(types[next].name.as_str());
                        at = next;
                    }
                    _ => break,
                }
            }
            path.push(types[index].name.as_str());
            if let Some(place) = self.domain.places.types[index].clone() {
                diagnostics.push(
                    Diagnostic::warning(
                        place,
                        format!("type `{}` is its own supertype", types[index].name),
                    )
                    .label(format!(
                        "`{}`: one type by several names",
                        path.join("` - `")
                    )),
                );
            }
        }
        self.domain.ancestors = ancestors;
    }
}
