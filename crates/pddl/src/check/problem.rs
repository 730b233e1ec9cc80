//! `(define (problem ...))`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::model::{
    Atom, Condition, CostTerm, Domain, Equality, FunctionId, FunctionValue, Literal, ObjectId,
    Problem, Requirement, Term,
};
use crate::tree::{Kind, NodeId, Tree};

use super::domain::requirements;
use super::formula::{NUMBERS, Reader, Uses};
use super::sections::{Definition, Sections};
use super::vocabulary::{Vocabulary, cost, is_total_cost};

/// Checks a problem against its domain. It is there, as far as it could be understood, whenever
/// the file defines one; use it only if the messages say so ([`Diagnostics::usable`]).
pub fn check_problem(tree: &Tree, domain: &Arc<Domain>) -> (Option<Problem>, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let Some(sections) = Sections::read(tree, Definition::Problem, &mut diagnostics) else {
        return (None, diagnostics);
    };
    let mut checker = Checker {
        tree,
        vocabulary: Vocabulary::of(domain),
        diagnostics,
    };
    let mut declared = domain.requirements.clone();
    if let Some(section) = sections.get(":requirements") {
        let (more, sound) = requirements(tree, section, &mut checker.diagnostics);
        declared.extend(more);
        if !sound {
            // What was meant is not known: warn about nothing.
            declared.extend(Requirement::ALL);
        }
    }
    checker.check_domain_name(&sections, domain);
    if let Some(section) = sections.get(":objects") {
        checker
            .vocabulary
            .declare_objects(tree, section, &mut checker.diagnostics);
    }
    let mut init = Initial::default();
    match sections.get(":init") {
        Some(section) => init = checker.init(section),
        None => checker.missing(&sections, ":init"),
    }
    let mut goal = Condition::default();
    match sections.get(":goal") {
        Some(section) => goal = checker.goal(section, &declared),
        None => checker.missing(&sections, ":goal"),
    }
    let minimize_cost = sections
        .get(":metric")
        .is_some_and(|section| checker.metric(section));
    checker.diagnostics.sort();
    let problem = Problem {
        name: sections.name,
        domain: Arc::clone(domain),
        objects: checker.vocabulary.objects,
        init: init.atoms,
        values: init.values,
        goal,
        minimize_cost,
    };
    (Some(problem), checker.diagnostics)
}

#[derive(Default)]
struct Initial {
    atoms: Vec<Atom<ObjectId>>,
    values: Vec<FunctionValue>,
}

struct Checker<'a> {
    tree: &'a Tree,
    vocabulary: Vocabulary,
    diagnostics: Diagnostics,
}

impl Checker<'_> {
    fn missing(&mut self, sections: &Sections, keyword: &str) {
        let example = match keyword {
            ":domain" => format!("(:domain {})", self.vocabulary.domain.name),
            ":goal" => "(:goal (and ...))".to_owned(),
            _ => format!("({keyword} ...)"),
        };
        self.diagnostics.push(
            Diagnostic::error(
                sections.name_place.clone(),
                format!("the problem has no `{keyword}` section"),
            )
            .help(format!("add `{example}`")),
        );
    }

    fn check_domain_name(&mut self, sections: &Sections, domain: &Domain) {
        let Some(section) = sections.get(":domain") else {
            self.missing(sections, ":domain");
            return;
        };
        let mut words = self.tree.children(section).skip(1);
        match words.next() {
            Some(node) if self.tree.kind(node) == Kind::Name => {
                let name = self.tree.word(node);
                if name != domain.name {
                    self.diagnostics.push(
                        Diagnostic::error(
                            self.tree.place(node),
                            format!(
                                "this problem is for the domain `{name}`, not for `{}`",
                                domain.name
                            ),
                        )
                        .note(domain.places.name.clone(), "the domain given is this one"),
                    );
                }
                if let Some(second) = words.next() {
                    self.diagnostics.push(
                        Diagnostic::error(
                            self.tree.head_place(second),
                            "the name of a domain is one word",
                        )
                        .label("not expected here"),
                    );
                }
            }
            _ => self.diagnostics.push(Diagnostic::error(
                self.tree.place(section),
                format!("the name of the domain is missing: `{}`", domain.name),
            )),
        }
    }

    fn init(&mut self, section: NodeId) -> Initial {
        let mut initial = Initial::default();
        let mut seen: HashMap<Atom<ObjectId>, NodeId> = HashMap::new();
        let mut negated: Vec<(Atom<ObjectId>, NodeId)> = Vec::new();
        let mut given: HashMap<(FunctionId, Vec<ObjectId>), (u32, NodeId)> = HashMap::new();
        // `(:init (and ...))` is not PDDL but common: the conjuncts count.
        let mut pending: Vec<NodeId> = self.tree.children(section).skip(1).collect();
        pending.reverse();
        while let Some(node) = pending.pop() {
            if self.tree.kind(node) != Kind::List {
                let mut last = node;
                while let Some(&next) = pending.last()
                    && self.tree.kind(next) != Kind::List
                {
                    pending.pop();
                    last = next;
                }
                let place = self.tree.run_place(node, last);
                let text = &place.source.text()[place.span.range()];
                let help = format!("write `({text})`");
                let short = !text.contains(['(', ')', '\n']);
                self.diagnostics.push(
                    Diagnostic::error(place, "a fact in parentheses is expected here")
                        .maybe_help(short.then_some(help)),
                );
                continue;
            }
            let first = self.tree.children(node).next();
            let is = |word| first.is_some_and(|first| self.tree.is_word(first, word));
            if is("=") {
                self.assignment(node, &mut given, &mut initial);
            } else if is("and") {
                let from = pending.len();
                pending.extend(self.tree.children(node).skip(1));
                pending[from..].reverse();
            } else if is("not") {
                if let Some(inner) = self.tree.children(node).nth(1)
                    && self.tree.kind(inner) == Kind::List
                    && let Some(atom) = self.ground_atom(inner)
                {
                    negated.push((atom, node));
                } else {
                    self.diagnostics.push(Diagnostic::error(
                        self.tree.head_place(node),
                        "`not` takes one fact here",
                    ));
                }
            } else if is("at") && self.is_timed(node) {
                self.diagnostics.push(Diagnostic::unsupported(
                    self.tree.head_place(node),
                    "a timed initial literal",
                ));
            } else if (is("or") || is("oneof") || is("unknown") || is("forall"))
                && !self
                    .vocabulary
                    .predicate_index
                    .contains_key(&self.tree.head(node))
            {
                self.diagnostics.push(Diagnostic::unsupported(
                    self.tree.head_place(node),
                    format!("`{}` in the initial state", self.tree.head(node)),
                ));
            } else if let Some(atom) = self.ground_atom(node)
                && !self.is_derived_fact(node, &atom)
                && let Entry::Vacant(entry) = seen.entry(atom.clone())
            {
                entry.insert(node);
                initial.atoms.push(atom);
            }
        }
        for (atom, node) in negated {
            if let Some(&given) = seen.get(&atom) {
                self.diagnostics.push(
                    Diagnostic::error(
                        self.tree.place(node),
                        "this fact is given both as true and as false",
                    )
                    .note(self.tree.place(given), "given as true here"),
                );
            }
        }
        initial
    }

    /// Complains about a fact that only rules can make true.
    fn is_derived_fact(&mut self, node: NodeId, atom: &Atom<ObjectId>) -> bool {
        let Some(rule) = self.vocabulary.rule_of(atom.predicate) else {
            return false;
        };
        self.diagnostics.push(
            Diagnostic::error(
                self.tree.head_place(node),
                format!(
                    "the derived predicate `{}` cannot be given in the initial state",
                    self.tree.head(node)
                ),
            )
            .note(rule.clone(), "it is derived here"),
        );
        true
    }

    /// `(at 5 (open))`, as against a predicate called `at`.
    fn is_timed(&self, node: NodeId) -> bool {
        self.tree
            .children(node)
            .any(|child| self.tree.kind(child) == Kind::List)
    }

    fn ground_atom(&mut self, node: NodeId) -> Option<Atom<ObjectId>> {
        let atom = self
            .vocabulary
            .atom(self.tree, node, &[], &mut self.diagnostics)?;
        Some(ground(&atom))
    }

    /// Reads `(= (function argument...) number)`.
    fn assignment(
        &mut self,
        node: NodeId,
        given: &mut HashMap<(FunctionId, Vec<ObjectId>), (u32, NodeId)>,
        initial: &mut Initial,
    ) {
        let sides: Vec<NodeId> = self.tree.children(node).skip(1).collect();
        let &[target, amount] = sides.as_slice() else {
            self.diagnostics.push(Diagnostic::error(
                self.tree.place(node),
                "a value is given as `(= (function ...) number)`",
            ));
            return;
        };
        let target_name = match self.tree.kind(target) {
            Kind::List => self.tree.head(target),
            _ => self.tree.word(target),
        };
        if self.tree.kind(amount) == Kind::List {
            self.diagnostics.push(Diagnostic::error(
                self.tree.head_place(amount),
                "a number is expected here",
            ));
            return;
        }
        if is_total_cost(&target_name) {
            // Plans are compared by what they add to it: where it starts does not matter.
            if self.tree.text(amount).parse::<f64>().is_err() {
                cost(self.tree, amount, &mut self.diagnostics);
            }
            return;
        }
        if self.tree.kind(target) != Kind::List {
            self.diagnostics.push(Diagnostic::error(
                self.tree.place(target),
                "a function in parentheses is expected here",
            ));
            return;
        }
        let term = self
            .vocabulary
            .function_term(self.tree, target, &[], &mut self.diagnostics);
        if let Some((function, _)) = &term
            && !self.is_a_cost(*function)
            && self.tree.text(amount).parse::<f64>().is_ok()
            && cost(self.tree, amount, &mut Diagnostics::default()).is_none()
        {
            // A number that nothing asks for may be any number.
            return;
        }
        let value = cost(self.tree, amount, &mut self.diagnostics);
        let (Some((function, arguments)), Some(value)) = (term, value) else {
            return;
        };
        let arguments: Vec<ObjectId> = arguments.into_iter().map(object).collect();
        match given.get(&(function, arguments.clone())) {
            Some(&(earlier, first)) if earlier != value => self.diagnostics.push(
                Diagnostic::error(
                    self.tree.place(node),
                    format!("`{target_name}` has two values here"),
                )
                .note(self.tree.place(first), "the first one is here"),
            ),
            Some(_) => {}
            None => {
                given.insert((function, arguments.clone()), (value, node));
                initial.values.push(FunctionValue {
                    function,
                    arguments,
                    value,
                });
            }
        }
    }

    /// Whether some action's cost depends on a function.
    fn is_a_cost(&self, function: FunctionId) -> bool {
        let mut costs = self.vocabulary.domain.actions.iter().flat_map(|a| &a.cost);
        costs.any(|term| matches!(term, CostTerm::Function(used, _) if *used == function))
    }

    fn goal(&mut self, section: NodeId, declared: &[Requirement]) -> Condition<ObjectId> {
        let mut nodes = self.tree.children(section).skip(1);
        let Some(node) = nodes.next() else {
            self.diagnostics.push(
                Diagnostic::error(self.tree.place(section), "the goal is missing")
                    .help("write `(:goal (and ...))`"),
            );
            return Condition::default();
        };
        if let Some(extra) = nodes.next() {
            self.diagnostics.push(
                Diagnostic::error(self.tree.head_place(extra), "the goal is one condition")
                    .label("this is a second one")
                    .help("put several into `(and ...)`"),
            );
        }
        let mut uses = Uses::default();
        let goal = Reader {
            vocabulary: &self.vocabulary,
            tree: self.tree,
            scope: Vec::new(),
            uses: &mut uses,
            diagnostics: &mut self.diagnostics,
        }
        .condition(node);
        uses.warn(declared, &mut self.diagnostics);
        Condition {
            literals: goal
                .literals
                .iter()
                .map(|literal| Literal {
                    atom: ground(&literal.atom),
                    positive: literal.positive,
                })
                .collect(),
            equalities: goal
                .equalities
                .iter()
                .map(|equality| Equality {
                    left: object(equality.left),
                    right: object(equality.right),
                    equal: equality.equal,
                })
                .collect(),
            formulas: goal.formulas,
        }
    }

    /// Reads `(:metric minimize (total-cost))`.
    fn metric(&mut self, section: NodeId) -> bool {
        let nodes: Vec<NodeId> = self.tree.children(section).skip(1).collect();
        let &[direction, what] = nodes.as_slice() else {
            self.diagnostics.push(
                Diagnostic::error(
                    self.tree.place(section),
                    "a metric is a direction and an expression",
                )
                .help("write `(:metric minimize (total-cost))`"),
            );
            return false;
        };
        let name = match self.tree.kind(what) {
            Kind::List => self.tree.head(what),
            _ => self.tree.word(what),
        };
        if self.tree.is_word(direction, "maximize") {
            self.diagnostics.push(Diagnostic::unsupported(
                self.tree.head_place(direction),
                "a metric to `maximize`",
            ));
        } else if !self.tree.is_word(direction, "minimize") {
            self.diagnostics.push(
                Diagnostic::error(
                    self.tree.head_place(direction),
                    "a metric begins with `minimize`",
                )
                .help("write `(:metric minimize (total-cost))`"),
            );
        } else if !is_total_cost(&name) {
            self.diagnostics.push(
                Diagnostic::unsupported(
                    self.tree.head_place(what),
                    "a metric other than `(total-cost)`",
                )
                .help(NUMBERS),
            );
        }
        true
    }
}

fn ground(atom: &Atom<Term>) -> Atom<ObjectId> {
    Atom {
        predicate: atom.predicate,
        arguments: atom.arguments.iter().copied().map(object).collect(),
    }
}

/// Without parameters in scope every term that was resolved is an object.
fn object(term: Term) -> ObjectId {
    match term {
        Term::Object(object) => object,
        Term::Parameter(_) => unreachable!("a ground atom has no parameters"),
    }
}
