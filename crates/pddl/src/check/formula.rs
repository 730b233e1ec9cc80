//! Conditions and effects.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{
    ActionSchema, Condition, CostTerm, Equality, Literal, Parameter, Requirement, Term,
};
use crate::source::Place;
use crate::tree::{Kind, NodeId, Tree};

use super::vocabulary::{Vocabulary, cost, is_total_cost};

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
            if !declared.contains(&requirement) {
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
fn unsupported_condition(head: &str) -> Option<String> {
    let construct = match head {
        "or" => "a disjunction (`or`)",
        "imply" => "an implication (`imply`)",
        "forall" => "a universal quantifier (`forall`)",
        "exists" => "an existential quantifier (`exists`)",
        "preference" => "a preference",
        "<" | "<=" | ">" | ">=" => return Some(format!("a numeric condition (`{head}`)")),
        _ => return None,
    };
    Some(construct.to_owned())
}

/// Why a word at the head of an effect is not read.
fn unsupported_effect(head: &str) -> Option<String> {
    let construct = match head {
        "when" => "a conditional effect (`when`)",
        "forall" => "a universal effect (`forall`)",
        "assign" | "decrease" | "scale-up" | "scale-down" => {
            return Some(format!("a numeric effect (`{head}`)"));
        }
        "probabilistic" => "a probabilistic effect",
        "oneof" => "a nondeterministic effect (`oneof`)",
        "or" | "exists" | "imply" => return Some(format!("`{head}` in an effect")),
        _ => return None,
    };
    Some(construct.to_owned())
}

impl Vocabulary {
    /// Reads a condition: a conjunction of literals and equalities.
    pub(super) fn condition(
        &self,
        tree: &Tree,
        node: NodeId,
        parameters: &[Parameter],
        uses: &mut Uses,
        diagnostics: &mut Diagnostics,
    ) -> Condition<Term> {
        let mut condition = Condition::default();
        let mut pending = vec![(node, true)];
        while let Some((node, positive)) = pending.pop() {
            if tree.kind(node) != Kind::List {
                diagnostics.push(
                    Diagnostic::error(
                        tree.place(node),
                        "a condition in parentheses is expected here",
                    )
                    .maybe_help(
                        (tree.kind(node) == Kind::Name)
                            .then(|| format!("write `({})`", tree.text(node))),
                    ),
                );
                continue;
            }
            let head = tree.head(node);
            match head.as_str() {
                // `()` is the empty conjunction.
                "" if tree.children(node).next().is_none() && positive => {}
                "and" if positive => {
                    let from = pending.len();
                    pending.extend(tree.children(node).skip(1).map(|child| (child, true)));
                    pending[from..].reverse();
                }
                "and" => diagnostics.push(Diagnostic::unsupported(
                    tree.head_place(node),
                    "a negated conjunction (a disjunction)",
                )),
                "not" => {
                    if let Some(child) = only_child(tree, node, diagnostics) {
                        pending.push((child, !positive));
                    }
                }
                "=" => {
                    let equality = self.equality(tree, node, positive, parameters, diagnostics);
                    if equality.is_some() {
                        uses.note(Requirement::Equality, || tree.head_place(node));
                    }
                    condition.equalities.extend(equality);
                }
                "when" => diagnostics.push(Diagnostic::error(
                    tree.head_place(node),
                    "`when` cannot stand in a condition",
                )),
                _ => {
                    if !self.predicate_index.contains_key(&head)
                        && let Some(construct) = unsupported_condition(&head)
                    {
                        diagnostics.push(Diagnostic::unsupported(tree.head_place(node), construct));
                        continue;
                    }
                    if !positive {
                        uses.note(Requirement::NegativePreconditions, || tree.head_place(node));
                    }
                    let atom = self.atom(tree, node, parameters, diagnostics);
                    condition
                        .literals
                        .extend(atom.map(|atom| Literal { atom, positive }));
                }
            }
        }
        condition
    }

    fn equality(
        &self,
        tree: &Tree,
        node: NodeId,
        equal: bool,
        parameters: &[Parameter],
        diagnostics: &mut Diagnostics,
    ) -> Option<Equality<Term>> {
        let sides: Vec<NodeId> = tree.children(node).skip(1).collect();
        let numeric = |&side: &NodeId| {
            tree.kind(side) == Kind::List
                || (tree.text(side).parse::<f64>().is_ok()
                    && !self.object_index.contains_key(&tree.word(side)))
        };
        if sides.iter().any(numeric) {
            diagnostics.push(Diagnostic::unsupported(
                tree.head_place(node),
                "a numeric condition (`=` of numbers)",
            ));
            return None;
        }
        let &[left, right] = sides.as_slice() else {
            diagnostics.push(Diagnostic::error(
                tree.place(node),
                format!(
                    "`=` takes 2 arguments, but {} given",
                    count_are(sides.len())
                ),
            ));
            return None;
        };
        let left = self.term(tree, left, parameters, diagnostics);
        let right = self.term(tree, right, parameters, diagnostics);
        Some(Equality {
            left: left?,
            right: right?,
            equal,
        })
    }

    /// Reads an effect into the schema's `add`, `del` and `cost`.
    pub(super) fn effect(
        &self,
        tree: &Tree,
        node: NodeId,
        schema: &mut ActionSchema,
        uses: &mut Uses,
        diagnostics: &mut Diagnostics,
    ) {
        let mut pending = vec![(node, true)];
        while let Some((node, positive)) = pending.pop() {
            if tree.kind(node) != Kind::List {
                diagnostics.push(
                    Diagnostic::error(
                        tree.place(node),
                        "an effect in parentheses is expected here",
                    )
                    .maybe_help(
                        (tree.kind(node) == Kind::Name)
                            .then(|| format!("write `({})`", tree.text(node))),
                    ),
                );
                continue;
            }
            let head = tree.head(node);
            match head.as_str() {
                "" if tree.children(node).next().is_none() => {}
                "and" if positive => {
                    let from = pending.len();
                    pending.extend(tree.children(node).skip(1).map(|child| (child, true)));
                    pending[from..].reverse();
                }
                "not" if positive => {
                    if let Some(child) = only_child(tree, node, diagnostics) {
                        pending.push((child, false));
                    }
                }
                "and" | "not" => diagnostics.push(Diagnostic::error(
                    tree.head_place(node),
                    "an effect can only negate one predicate",
                )),
                "=" => diagnostics.push(Diagnostic::error(
                    tree.head_place(node),
                    "an effect cannot make two things equal",
                )),
                "increase" => {
                    let term = self.increase(tree, node, &schema.parameters, diagnostics);
                    if term.is_some() {
                        uses.note(Requirement::ActionCosts, || tree.head_place(node));
                    }
                    schema.cost.extend(term);
                }
                _ => {
                    if !self.predicate_index.contains_key(&head)
                        && let Some(construct) = unsupported_effect(&head)
                    {
                        diagnostics.push(Diagnostic::unsupported(tree.head_place(node), construct));
                        continue;
                    }
                    let atom = self.atom(tree, node, &schema.parameters, diagnostics);
                    let list = if positive {
                        &mut schema.add
                    } else {
                        &mut schema.del
                    };
                    list.extend(atom);
                }
            }
        }
    }

    /// Reads `(increase (total-cost) 3)` or `(increase (total-cost) (distance ?a ?b))`.
    fn increase(
        &self,
        tree: &Tree,
        node: NodeId,
        parameters: &[Parameter],
        diagnostics: &mut Diagnostics,
    ) -> Option<CostTerm> {
        let sides: Vec<NodeId> = tree.children(node).skip(1).collect();
        let &[target, amount] = sides.as_slice() else {
            diagnostics.push(Diagnostic::error(
                tree.place(node),
                format!(
                    "`increase` takes 2 arguments, but {} given",
                    count_are(sides.len())
                ),
            ));
            return None;
        };
        let target_name = match tree.kind(target) {
            Kind::List => tree.head(target),
            _ => tree.word(target),
        };
        if !is_total_cost(&target_name) {
            diagnostics.push(Diagnostic::unsupported(
                tree.head_place(target),
                format!("increasing `{target_name}` (only `total-cost` can change)"),
            ));
            return None;
        }
        if !self.total_cost_declared {
            diagnostics.push(
                Diagnostic::error(
                    tree.head_place(target),
                    format!("unknown function `{target_name}`"),
                )
                .label("not declared in `:functions`")
                .help("declare it: `(:functions (total-cost) - number)`"),
            );
            return None;
        }
        if tree.kind(amount) != Kind::List {
            return cost(tree, amount, diagnostics).map(CostTerm::Constant);
        }
        let name = tree.head(amount);
        if matches!(name.as_str(), "+" | "-" | "*" | "/") {
            diagnostics.push(Diagnostic::unsupported(
                tree.head_place(amount),
                "an arithmetic expression",
            ));
            return None;
        }
        let (function, arguments) = self.function_term(tree, amount, parameters, diagnostics)?;
        Some(CostTerm::Function(function, arguments))
    }
}

/// The one child of `(not ...)`.
fn only_child(tree: &Tree, node: NodeId, diagnostics: &mut Diagnostics) -> Option<NodeId> {
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

fn count_are(count: usize) -> String {
    format!("{count} {}", if count == 1 { "is" } else { "are" })
}
