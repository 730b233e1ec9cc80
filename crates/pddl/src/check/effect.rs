//! Effects: what an action adds, deletes and costs, some of it under conditions.
//!
//! `(forall ...)` and `(when ...)` nest; each way from the outside to a few literals becomes one
//! [`ConditionalEffect`] with all variables and all conditions on the way.

use crate::diagnostic::Diagnostic;
use crate::model::{
    ActionSchema, Atom, Condition, ConditionalEffect, CostTerm, Equality, Formula, Literal,
    Requirement, Term,
};
use crate::tree::{Kind, NodeId};

use super::formula::{NUMBERS, Reader, count_are, name_apart, name_parameters_apart, only_child};
use super::vocabulary::{cost, is_total_cost};

/// `forall` and `when` may be nested so deep in an effect.
const MAX_DEPTH: usize = 100;

/// Why a word at the head of an effect is not read.
fn unsupported_effect(head: &str) -> Option<(String, Option<&'static str>)> {
    let construct = match head {
        "assign" | "decrease" | "scale-up" | "scale-down" => {
            return Some((format!("a numeric effect (`{head}`)"), Some(NUMBERS)));
        }
        "probabilistic" => "a probabilistic effect",
        "oneof" => "a nondeterministic effect (`oneof`)",
        "or" | "exists" | "imply" => return Some((format!("`{head}` in an effect"), None)),
        _ => return None,
    };
    Some((construct.to_owned(), None))
}

/// Where a part of an effect stands: the conditions around it.
struct Frame {
    condition: Condition<Term>,
    /// Whether anything is around it at all.
    is_conditional: bool,
    depth: usize,
}

impl Reader<'_> {
    /// Reads an effect into the schema's `add`, `del`, `conditional` and `cost`.
    pub(super) fn effect(&mut self, node: NodeId, schema: &mut ActionSchema) {
        let frame = Frame {
            condition: Condition::default(),
            is_conditional: false,
            depth: 0,
        };
        self.effect_in(node, &frame, schema);
    }

    /// Reads an effect under the conditions of `frame`.
    fn effect_in(&mut self, node: NodeId, frame: &Frame, schema: &mut ActionSchema) {
        let tree = self.tree;
        let (mut add, mut del) = (Vec::new(), Vec::new());
        // Its place among the conditional effects is before those inside it.
        let at = schema.conditional.len();
        let mut pending = vec![(node, true)];
        while let Some((node, positive)) = pending.pop() {
            if tree.kind(node) != Kind::List {
                self.diagnostics.push(
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
                    if let Some(child) = only_child(tree, node, self.diagnostics) {
                        pending.push((child, false));
                    }
                }
                "and" | "not" | "forall" | "when" if !positive => {
                    self.diagnostics.push(Diagnostic::error(
                        tree.head_place(node),
                        "an effect can only negate one predicate",
                    ));
                }
                "forall" => self.universal(node, frame, schema),
                "when" => self.when(node, frame, schema),
                "=" => self.diagnostics.push(Diagnostic::error(
                    tree.head_place(node),
                    "an effect cannot make two things equal",
                )),
                "increase" => self.cost_effect(node, frame, schema),
                _ => {
                    if let Some(atom) = self.changed_atom(node, &head) {
                        if positive { &mut add } else { &mut del }.push(atom);
                    }
                }
            }
        }
        if !frame.is_conditional {
            schema.add.append(&mut add);
            schema.del.append(&mut del);
        } else if !add.is_empty() || !del.is_empty() {
            let mut parameters = self.scope[schema.parameters.len()..].to_vec();
            let mut condition = frame.condition.clone();
            let mut names = schema.parameters.iter().map(|p| p.name.clone()).collect();
            name_parameters_apart(&mut parameters, &mut names);
            for formula in &mut condition.formulas {
                name_apart(formula, &mut names);
            }
            let effect = ConditionalEffect {
                parameters,
                condition,
                add,
                del,
            };
            schema.conditional.insert(at, effect);
        }
    }

    /// An atom that an effect adds or deletes.
    fn changed_atom(&mut self, node: NodeId, head: &str) -> Option<Atom<Term>> {
        let tree = self.tree;
        if !self.vocabulary.predicate_index.contains_key(head)
            && let Some((construct, help)) = unsupported_effect(head)
        {
            self.diagnostics.push(
                Diagnostic::unsupported(tree.head_place(node), construct)
                    .maybe_help(help.map(str::to_owned)),
            );
            return None;
        }
        let atom = self
            .vocabulary
            .atom(tree, node, &self.scope, self.diagnostics)?;
        if let Some(rule) = self.vocabulary.rule_of(atom.predicate) {
            self.diagnostics.push(
                Diagnostic::error(
                    tree.head_place(node),
                    format!("an effect cannot change the derived predicate `{head}`"),
                )
                .note(rule.clone(), "it is derived here")
                .help("change what its rule asks for instead"),
            );
            return None;
        }
        Some(atom)
    }

    /// Reads `(forall (?x - type ...) effect)`.
    fn universal(&mut self, node: NodeId, frame: &Frame, schema: &mut ActionSchema) {
        let tree = self.tree;
        self.uses
            .note(Requirement::ConditionalEffects, || tree.head_place(node));
        let Some((parameters, body)) = self.binder(node, "forall", "an effect") else {
            return;
        };
        if self.is_too_deep(node, frame) {
            return;
        }
        let outer = self.scope.len();
        let inner = Frame {
            // What the conditions around it bind comes after its variables.
            condition: shifted(&frame.condition, outer, parameters.len()),
            is_conditional: frame.is_conditional || !parameters.is_empty(),
            depth: frame.depth + 1,
        };
        self.scope.extend(parameters);
        self.effect_in(body, &inner, schema);
        self.scope.truncate(outer);
    }

    /// Reads `(when condition effect)`.
    fn when(&mut self, node: NodeId, frame: &Frame, schema: &mut ActionSchema) {
        let tree = self.tree;
        self.uses
            .note(Requirement::ConditionalEffects, || tree.head_place(node));
        let children: Vec<NodeId> = tree.children(node).skip(1).collect();
        let &[condition, body] = children.as_slice() else {
            self.wrong_count(
                node,
                "`when` takes a condition and an effect",
                children.len(),
            );
            return;
        };
        if self.is_too_deep(node, frame) {
            return;
        }
        let more = self.condition(condition);
        let mut condition = frame.condition.clone();
        condition.literals.extend(more.literals);
        condition.equalities.extend(more.equalities);
        condition.formulas.extend(more.formulas);
        let always = condition == Condition::default();
        let inner = Frame {
            condition,
            is_conditional: frame.is_conditional || !always,
            depth: frame.depth + 1,
        };
        self.effect_in(body, &inner, schema);
    }

    fn is_too_deep(&mut self, node: NodeId, frame: &Frame) -> bool {
        let too_deep = frame.depth >= MAX_DEPTH;
        if too_deep {
            self.diagnostics.push(Diagnostic::unsupported(
                self.tree.head_place(node),
                format!(
                    "an effect with more than {MAX_DEPTH} `forall` and `when` inside one another"
                ),
            ));
        }
        too_deep
    }

    /// Reads an increase of the total cost, which depends on nothing.
    fn cost_effect(&mut self, node: NodeId, frame: &Frame, schema: &mut ActionSchema) {
        let tree = self.tree;
        if frame.is_conditional {
            self.diagnostics.push(
                Diagnostic::unsupported(
                    tree.head_place(node),
                    "an increase inside `when` or `forall`",
                )
                .help("homing reads a cost that an action has in every state; write one action for each case"),
            );
            return;
        }
        let Some(term) = self.increase(node) else {
            return;
        };
        self.uses
            .note(Requirement::ActionCosts, || tree.head_place(node));
        if schema.cost.replace(term).is_some() {
            self.diagnostics.push(
                Diagnostic::warning(tree.place(node), "a second increase in one action")
                    .label("only the last one counts")
                    .help("write one increase, by their sum, if both are meant"),
            );
        }
    }

    /// Reads `(increase (total-cost) 3)` or `(increase (total-cost) (distance ?a ?b))`.
    fn increase(&mut self, node: NodeId) -> Option<CostTerm> {
        let tree = self.tree;
        let sides: Vec<NodeId> = tree.children(node).skip(1).collect();
        let &[target, amount] = sides.as_slice() else {
            self.diagnostics.push(Diagnostic::error(
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
            self.diagnostics.push(
                Diagnostic::unsupported(
                    tree.head_place(target),
                    format!("increasing `{target_name}` (only `total-cost` can change)"),
                )
                .help(NUMBERS),
            );
            return None;
        }
        if !self.vocabulary.total_cost_declared {
            self.diagnostics.push(
                Diagnostic::warning(
                    tree.head_place(target),
                    format!("`{target_name}` is not declared"),
                )
                .label("taken as the cost of a plan")
                .help("declare it: `(:functions (total-cost) - number)`"),
            );
        }
        if tree.kind(amount) != Kind::List {
            return cost(tree, amount, self.diagnostics).map(CostTerm::Constant);
        }
        let name = tree.head(amount);
        if matches!(name.as_str(), "+" | "-" | "*" | "/") {
            self.diagnostics.push(
                Diagnostic::unsupported(tree.head_place(amount), "an arithmetic expression")
                    .help(NUMBERS),
            );
            return None;
        }
        let (function, arguments) =
            self.vocabulary
                .function_term(tree, amount, &self.scope, self.diagnostics)?;
        Some(CostTerm::Function(function, arguments))
    }
}

/// A condition as it reads with `by` more variables in scope: those it binds itself, numbered from
/// `from`, move on.
fn shifted(condition: &Condition<Term>, from: usize, by: usize) -> Condition<Term> {
    let mut condition = condition.clone();
    for formula in &mut condition.formulas {
        shift(formula, from, by);
    }
    condition
}

fn shift(formula: &mut Formula, from: usize, by: usize) {
    let move_on = |term: &mut Term| match term {
        Term::Parameter(index) if *index >= from => *index += by,
        _ => {}
    };
    match formula {
        Formula::Literal(Literal { atom, .. }) => atom.arguments.iter_mut().for_each(move_on),
        Formula::Equality(Equality { left, right, .. }) => {
            [left, right].into_iter().for_each(move_on);
        }
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter_mut().for_each(|part| shift(part, from, by));
        }
        Formula::Forall(_, body) | Formula::Exists(_, body) => shift(body, from, by),
    }
}
