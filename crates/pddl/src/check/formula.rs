//! Conditions.
//!
//! A condition is read into negation normal form: `imply` becomes a disjunction, `not` moves inwards
//! to atoms and equalities, `and` in `and` and `or` in `or` become one. The result is a conjunction
//! of literals, equalities, and whatever else is asked for.

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::model::{Condition, Equality, Formula, Literal, Parameter, Requirement, Term};
use crate::source::Place;
use crate::tree::{Kind, NodeId, Tree};

use super::vocabulary::Vocabulary;

/// What to do about a number where homing reads none.
pub(super) const NUMBERS: &str = "homing can minimise `total-cost`, increased by whole numbers or by functions whose values the initial state gives; no other number can change or be asked for";

/// Disjunctions and quantifiers may be nested so deep: what works on conditions is recursive.
const MAX_DEPTH: usize = 100;

/// Which requirements a file makes use of, and where first.
#[derive(Default)]
pub(super) struct Uses(Vec<(Requirement, Place)>);

impl Uses {
    pub(super) fn note(&mut self, requirement: Requirement, place: impl FnOnce() -> Place) {
        if self.0.iter().all(|(used, _)| *used != requirement) {
            self.0.push((requirement, place()));
        }
    }

    /// Warns about each that is not declared.
    pub(super) fn warn(self, declared: &[Requirement], diagnostics: &mut Diagnostics) {
        for (requirement, place) in self.0 {
            if !declared.iter().any(|known| known.includes(requirement)) {
                let keyword = requirement.keyword();
                diagnostics.push(
                    Diagnostic::warning(
                        place,
                        format!("this needs `{keyword}`, which is not declared"),
                    )
                    .help(format!("add `{keyword}` to `(:requirements ...)`")),
                );
            }
        }
    }
}

/// Why a word at the head of a condition is not read.
fn unsupported_condition(tree: &Tree, node: NodeId, head: &str) -> Option<Diagnostic> {
    let unsupported = |construct: String| Diagnostic::unsupported(tree.head_place(node), construct);
    match head {
        "preference" => Some(unsupported("a preference".to_owned())),
        "<" | "<=" | ">" | ">=" => {
            Some(unsupported(format!("a numeric condition (`{head}`)")).help(NUMBERS))
        }
        _ => None,
    }
}

/// Reads conditions and effects, with the variables in scope.
pub(super) struct Reader<'a> {
    pub(super) vocabulary: &'a Vocabulary,
    pub(super) tree: &'a Tree,
    pub(super) scope: Vec<Parameter>,
    pub(super) uses: &'a mut Uses,
    pub(super) diagnostics: &'a mut Diagnostics,
}

impl Reader<'_> {
    /// Reads a condition.
    pub(super) fn condition(&mut self, node: NodeId) -> Condition<Term> {
        let mut formula = self.formula(node, true, 0);
        let mut names = self.scope.iter().map(|p| p.name.clone()).collect();
        name_apart(&mut formula, &mut names);
        into_condition(formula)
    }

    /// What a formula that is wrong stands for: nothing, so that nothing follows from it.
    fn nothing() -> Formula {
        Formula::And(Vec::new())
    }

    /// Reads a formula, or its negation.
    fn formula(&mut self, node: NodeId, positive: bool, depth: usize) -> Formula {
        let Some((node, positive)) = self.without_negations(node, positive) else {
            return Self::nothing();
        };
        let tree = self.tree;
        if tree.kind(node) != Kind::List {
            self.diagnostics.push(
                Diagnostic::error(
                    tree.place(node),
                    "a condition in parentheses is expected here",
                )
                .maybe_help(
                    (tree.kind(node) == Kind::Name)
                        .then(|| format!("write `({})`", tree.text(node))),
                ),
            );
            return Self::nothing();
        }
        let head = tree.head(node);
        match head.as_str() {
            // `()` is the empty conjunction.
            "" if tree.children(node).next().is_none() => join(Vec::new(), positive),
            "and" | "or" | "imply" | "forall" | "exists" if depth > MAX_DEPTH => {
                self.diagnostics.push(Diagnostic::unsupported(
                    tree.head_place(node),
                    format!("a condition with more than {MAX_DEPTH} disjunctions and quantifiers inside one another"),
                ));
                Self::nothing()
            }
            "and" | "or" | "imply" => self.connective(node, positive, depth),
            "forall" | "exists" => self.quantified(node, &head, positive, depth),
            "=" => match self.equality(node, positive) {
                Some(equality) => {
                    self.uses
                        .note(Requirement::Equality, || tree.head_place(node));
                    Formula::Equality(equality)
                }
                None => Self::nothing(),
            },
            "when" => {
                self.diagnostics.push(
                    Diagnostic::error(tree.head_place(node), "`when` cannot stand in a condition")
                        .help("in a condition, write `(imply ...)`"),
                );
                Self::nothing()
            }
            _ => {
                if !self.vocabulary.predicate_index.contains_key(&head)
                    && let Some(message) = unsupported_condition(tree, node, &head)
                {
                    self.diagnostics.push(message);
                    return Self::nothing();
                }
                match self
                    .vocabulary
                    .atom(tree, node, &self.scope, self.diagnostics)
                {
                    Some(atom) => Formula::Literal(Literal { atom, positive }),
                    None => Self::nothing(),
                }
            }
        }
    }

    /// The formula inside all `(not ...)` around it; `None` where one of them is wrong.
    fn without_negations(&mut self, node: NodeId, positive: bool) -> Option<(NodeId, bool)> {
        let (mut node, mut positive) = (node, positive);
        while self.tree.kind(node) == Kind::List && self.tree.head(node) == "not" {
            node = only_child(self.tree, node, self.diagnostics)?;
            positive = !positive;
            self.note_negation(node);
        }
        Some((node, positive))
    }

    /// The child of a `not` says what the negation needs.
    fn note_negation(&mut self, child: NodeId) {
        let tree = self.tree;
        let requirement = match tree.head(child).as_str() {
            "and" => Requirement::DisjunctivePreconditions,
            name if self.vocabulary.predicate_index.contains_key(name) => {
                Requirement::NegativePreconditions
            }
            _ => return,
        };
        self.uses.note(requirement, || tree.head_place(child));
    }

    /// Reads `(and ...)`, `(or ...)` or `(imply ...)`; those of the same kind inside it join it.
    fn connective(&mut self, node: NodeId, positive: bool, depth: usize) -> Formula {
        let conjunction = self.is_conjunction(node, positive);
        let mut parts = Vec::new();
        let mut pending = vec![(node, positive)];
        while let Some((node, positive)) = pending.pop() {
            let Some((node, positive)) = self.without_negations(node, positive) else {
                continue;
            };
            if self.is_conjunction(node, positive) != conjunction || conjunction.is_none() {
                match self.formula(node, positive, depth + 1) {
                    Formula::And(inner) if conjunction == Some(true) => parts.extend(inner),
                    Formula::Or(inner) if conjunction == Some(false) => parts.extend(inner),
                    part => parts.push(part),
                }
                continue;
            }
            let tree = self.tree;
            let mut children: Vec<(NodeId, bool)> = tree
                .children(node)
                .skip(1)
                .map(|child| (child, positive))
                .collect();
            match tree.head(node).as_str() {
                "imply" => {
                    self.note_disjunction(node);
                    if children.len() != 2 {
                        self.wrong_count(node, "`imply` takes 2 conditions", children.len());
                        continue;
                    }
                    children[0].1 = !positive;
                }
                "or" => self.note_disjunction(node),
                _ => {}
            }
            pending.extend(children.into_iter().rev());
        }
        join(parts, conjunction == Some(true))
    }

    fn note_disjunction(&mut self, node: NodeId) {
        let tree = self.tree;
        self.uses.note(Requirement::DisjunctivePreconditions, || {
            tree.head_place(node)
        });
    }

    /// Whether a list with its sign is a conjunction or a disjunction; `None` for anything else.
    fn is_conjunction(&self, node: NodeId, positive: bool) -> Option<bool> {
        if self.tree.kind(node) != Kind::List {
            return None;
        }
        match self.tree.head(node).as_str() {
            "and" => Some(positive),
            "or" | "imply" => Some(!positive),
            _ => None,
        }
    }

    /// Reads `(forall (?x - type ...) condition)` or `(exists ...)`.
    fn quantified(&mut self, node: NodeId, head: &str, positive: bool, depth: usize) -> Formula {
        let tree = self.tree;
        let requirement = match head {
            "forall" => Requirement::UniversalPreconditions,
            _ => Requirement::ExistentialPreconditions,
        };
        self.uses.note(requirement, || tree.head_place(node));
        let Some((parameters, body)) = self.binder(node, head, "a condition") else {
            return Self::nothing();
        };
        let outer = self.scope.len();
        self.scope.extend(parameters.iter().cloned());
        let body = self.formula(body, positive, depth + 1);
        self.scope.truncate(outer);
        match (parameters.is_empty(), (head == "forall") == positive) {
            (true, _) => body,
            (_, true) => Formula::Forall(parameters, Box::new(body)),
            (_, false) => Formula::Exists(parameters, Box::new(body)),
        }
    }

    /// Reads the variables of a quantifier, and finds what they are bound in.
    pub(super) fn binder(
        &mut self,
        node: NodeId,
        head: &str,
        body: &str,
    ) -> Option<(Vec<Parameter>, NodeId)> {
        let tree = self.tree;
        let children: Vec<NodeId> = tree.children(node).skip(1).collect();
        let (list, bodies) = match children.split_first() {
            Some((&list, bodies)) if self.is_variable_list(list) => (list, bodies),
            _ => {
                self.diagnostics.push(
                    Diagnostic::error(
                        tree.head_place(node),
                        format!("`{head}` begins with a list of variables"),
                    )
                    .help(format!("write `({head} (?x - type) ...)`")),
                );
                return None;
            }
        };
        let parameters = self.vocabulary.parameters(
            tree,
            tree.children(list),
            &format!("this `{head}`"),
            Severity::Error,
            self.diagnostics,
        );
        let &[inner] = bodies else {
            let message = match bodies {
                [] => Diagnostic::error(
                    tree.place(node),
                    format!("{body} is missing after the variables of `{head}`"),
                ),
                [_, second, ..] => Diagnostic::error(
                    tree.head_place(*second),
                    format!("`{head}` takes a list of variables and {body}"),
                )
                .label("this is one too many")
                .help("put several into `(and ...)`"),
                [_] => unreachable!("one is what is asked for"),
            };
            self.diagnostics.push(message);
            return None;
        };
        Some((parameters, inner))
    }

    /// `(?x ?y - type)` or `()`, as against a condition.
    fn is_variable_list(&self, node: NodeId) -> bool {
        let tree = self.tree;
        if tree.kind(node) != Kind::List {
            return false;
        }
        match tree.children(node).next() {
            None => true,
            Some(first) => match tree.kind(first) {
                Kind::Variable | Kind::Dash => true,
                // A question mark forgotten, unless it is a condition.
                Kind::Name => {
                    let name = tree.word(first);
                    !self.vocabulary.predicate_index.contains_key(&name)
                        && !super::domain::RESERVED.contains(&name.as_str())
                }
                _ => false,
            },
        }
    }

    pub(super) fn wrong_count(&mut self, node: NodeId, takes: &str, count: usize) {
        self.diagnostics.push(Diagnostic::error(
            self.tree.place(node),
            format!("{takes}, but {} given", count_are(count)),
        ));
    }

    fn equality(&mut self, node: NodeId, equal: bool) -> Option<Equality<Term>> {
        let tree = self.tree;
        let sides: Vec<NodeId> = tree.children(node).skip(1).collect();
        let numeric = |&side: &NodeId| {
            tree.kind(side) == Kind::List
                || (tree.text(side).parse::<f64>().is_ok()
                    && !self.vocabulary.object_index.contains_key(&tree.word(side)))
        };
        if sides.iter().any(numeric) {
            self.diagnostics.push(
                Diagnostic::unsupported(
                    tree.head_place(node),
                    "a numeric condition (`=` of numbers)",
                )
                .help(NUMBERS),
            );
            return None;
        }
        let &[left, right] = sides.as_slice() else {
            self.wrong_count(node, "`=` takes 2 arguments", sides.len());
            return None;
        };
        let left = self
            .vocabulary
            .term(tree, left, &self.scope, self.diagnostics);
        let right = self
            .vocabulary
            .term(tree, right, &self.scope, self.diagnostics);
        Some(Equality {
            left: left?,
            right: right?,
            equal,
        })
    }
}

/// Gives other names to variables that hide one of `scope` or one another, so that a name says which
/// one is meant wherever a formula may move.
pub(super) fn name_apart(formula: &mut Formula, scope: &mut Vec<String>) {
    match formula {
        Formula::Literal(_) | Formula::Equality(_) => {}
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter_mut().for_each(|part| name_apart(part, scope));
        }
        Formula::Forall(variables, body) | Formula::Exists(variables, body) => {
            let outer = scope.len();
            name_parameters_apart(variables, scope);
            name_apart(body, scope);
            scope.truncate(outer);
        }
    }
}

/// Gives other names to parameters that hide one of `scope`, and adds them to it.
pub(super) fn name_parameters_apart(parameters: &mut [Parameter], scope: &mut Vec<String>) {
    for parameter in parameters {
        if scope.contains(&parameter.name) {
            let free = (2..).map(|number| format!("{}-{number}", parameter.name));
            let mut free = free.filter(|name| !scope.contains(name));
            parameter.name = free.next().expect("there are more numbers than names");
        }
        scope.push(parameter.name.clone());
    }
}

/// A conjunction or disjunction of parts; one part stands for itself.
fn join(mut parts: Vec<Formula>, conjunction: bool) -> Formula {
    match (parts.len(), conjunction) {
        (1, _) => parts.remove(0),
        (_, true) => Formula::And(parts),
        (_, false) => Formula::Or(parts),
    }
}

/// A formula as a conjunction, literals and equalities apart.
fn into_condition(formula: Formula) -> Condition<Term> {
    let mut condition = Condition::default();
    let parts = match formula {
        Formula::And(parts) => parts,
        other => vec![other],
    };
    for part in parts {
        match part {
            Formula::Literal(literal) => condition.literals.push(literal),
            Formula::Equality(equality) => condition.equalities.push(equality),
            other => condition.formulas.push(other),
        }
    }
    condition
}

/// The one child of `(not ...)`.
pub(super) fn only_child(
    tree: &Tree,
    node: NodeId,
    diagnostics: &mut Diagnostics,
) -> Option<NodeId> {
    let mut children = tree.children(node).skip(1);
    let first = children.next();
    let count = usize::from(first.is_some()) + children.count();
    if count != 1 {
        diagnostics.push(Diagnostic::error(
            tree.place(node),
            format!("`not` takes 1 argument, but {} given", count_are(count)),
        ));
        return None;
    }
    first
}

pub(super) fn count_are(count: usize) -> String {
    format!("{count} {}", if count == 1 { "is" } else { "are" })
}
