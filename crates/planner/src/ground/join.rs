//! How a rule's arguments are found: a sequence of look-ups, planned once.
//!
//! A plan begins with the arguments of one fact (the trigger) and binds the remaining parameters
//! literal by literal, the most selective first, testing everything as soon as it can be tested.

use homing_pddl::model::{Atom, ObjectId, Term};

use super::program::Rule;
use super::relation::{IndexId, Relation};

/// What the planner of joins needs to know of the problem.
pub(super) struct Context<'a> {
    pub(super) relations: &'a mut [Relation],
    /// Predicates that some rule adds: their relations grow while joins run.
    pub(super) grows: &'a [bool],
    /// Predicates that some rule deletes.
    pub(super) deleted: &'a [bool],
    /// For each parameter of the rule, the objects that fit its types.
    pub(super) candidates: &'a [Vec<ObjectId>],
}

/// Where the facts of a step come from.
#[derive(Debug)]
pub(super) enum Lookup {
    /// Some arguments are known: a list of an index.
    Index(IndexId, Vec<Term>),
    /// No argument is known: all facts.
    All,
}

#[derive(Debug)]
pub(super) enum Step {
    /// Look whether facts are there all of whose arguments are known, one literal after the other.
    /// A rule may have many of these, and as many plans: they take little room.
    Known(Vec<KnownLiteral>),
    /// Match a positive literal of the condition.
    Match {
        literal: usize,
        lookup: Lookup,
        /// Argument positions that bind a parameter.
        binds: Vec<(usize, usize)>,
        /// Argument positions that repeat a parameter bound in the same literal.
        repeats: Vec<(usize, usize)>,
        /// Whether the trigger itself may not match here: it is listed as an earlier literal's.
        not_trigger: bool,
    },
    /// Bind a parameter to what an equality says.
    Assign { parameter: usize, from: Term },
    /// Bind a parameter to each object of its type.
    Enumerate { parameter: usize },
}

/// A positive literal of the condition.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownLiteral {
    pub(super) literal: u32,
    /// As of [`Step::Match`].
    pub(super) not_trigger: bool,
}

/// A test on bound parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// The object must fit the parameter's types.
    Fits(usize),
    /// The equality of this index must hold.
    Equality(usize),
    /// The negative literal of this index must not contradict facts that never go away.
    Negative(usize),
}

/// All steps, each with the tests that become possible after it; `tests[0]` come after the trigger.
#[derive(Debug)]
pub(super) struct JoinPlan {
    pub(super) steps: Vec<Step>,
    pub(super) tests: Vec<Vec<Test>>,
}

impl JoinPlan {
    /// Plans the join of a rule, begun by a fact that matches literal `trigger`.
    pub(super) fn new(rule: &Rule, trigger: Option<usize>, context: &mut Context<'_>) -> Self {
        let literals = &rule.condition.literals;
        let mut planner = Planner {
            rule,
            context,
            bound: vec![false; rule.parameters.len()],
            tested_equality: vec![false; rule.condition.equalities.len()],
            tested_negative: vec![false; literals.len()],
            plan: Self {
                steps: Vec::new(),
                tests: Vec::new(),
            },
        };
        let mut open: Vec<usize> = (0..literals.len())
            .filter(|&index| literals[index].positive && Some(index) != trigger)
            .collect();
        let mut fresh = Vec::new();
        if let Some(trigger) = trigger {
            fresh.extend(parameters(&literals[trigger].atom));
        }
        planner.bind(fresh);
        loop {
            if let Some((parameter, from)) = planner.assignable() {
                planner.plan.steps.push(Step::Assign { parameter, from });
                planner.bind(vec![parameter]);
                continue;
            }
            let best_literal = open
                .iter()
                .enumerate()
                .map(|(at, &index)| (planner.estimate(&literals[index].atom), at))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let Some((_, at)) = best_literal else { break };
            let index = open.remove(at);
            planner.add_match(index, trigger);
        }
        // Parameters that no positive literal mentions.
        while let Some(parameter) = planner.bound.iter().position(|&bound| !bound) {
            planner.plan.steps.push(Step::Enumerate { parameter });
            planner.bind(vec![parameter]);
            while let Some((parameter, from)) = planner.assignable() {
                planner.plan.steps.push(Step::Assign { parameter, from });
                planner.bind(vec![parameter]);
            }
        }
        planner.plan
    }
}

fn parameters(atom: &Atom<Term>) -> impl Iterator<Item = usize> {
    atom.arguments.iter().filter_map(|term| match term {
        Term::Parameter(parameter) => Some(*parameter),
        Term::Object(_) => None,
    })
}

struct Planner<'a, 'b> {
    rule: &'a Rule,
    context: &'a mut Context<'b>,
    bound: Vec<bool>,
    tested_equality: Vec<bool>,
    tested_negative: Vec<bool>,
    plan: JoinPlan,
}

impl Planner<'_, '_> {
    fn is_known(&self, term: Term) -> bool {
        match term {
            Term::Parameter(parameter) => self.bound[parameter],
            Term::Object(_) => true,
        }
    }

    /// Marks parameters as bound and lists the tests this makes possible.
    fn bind(&mut self, fresh: Vec<usize>) {
        let mut tests = Vec::new();
        for parameter in fresh {
            if !std::mem::replace(&mut self.bound[parameter], true) {
                tests.push(Test::Fits(parameter));
            }
        }
        for (index, equality) in self.rule.condition.equalities.iter().enumerate() {
            let known = self.is_known(equality.left) && self.is_known(equality.right);
            if known && !std::mem::replace(&mut self.tested_equality[index], true) {
                tests.push(Test::Equality(index));
            }
        }
        for (index, literal) in self.rule.condition.literals.iter().enumerate() {
            let testable = !literal.positive
                && !self.context.deleted[literal.atom.predicate.index()]
                && literal
                    .atom
                    .arguments
                    .iter()
                    .all(|&term| self.is_known(term));
            if testable && !std::mem::replace(&mut self.tested_negative[index], true) {
                tests.push(Test::Negative(index));
            }
        }
        self.plan.tests.push(tests);
    }

    /// A parameter that an equality gives, now that the other side is known.
    fn assignable(&self) -> Option<(usize, Term)> {
        self.rule
            .condition
            .equalities
            .iter()
            .filter(|equality| equality.equal)
            .flat_map(|equality| {
                [
                    (equality.left, equality.right),
                    (equality.right, equality.left),
                ]
            })
            .find_map(|(unknown, known)| match unknown {
                Term::Parameter(parameter) if !self.bound[parameter] && self.is_known(known) => {
                    Some((parameter, known))
                }
                _ => None,
            })
    }

    /// About how many facts will match a literal, given what is bound.
    fn estimate(&self, atom: &Atom<Term>) -> f64 {
        let unbound = || parameters(atom).filter(|&parameter| !self.bound[parameter]);
        if unbound().next().is_none() {
            return 0.0;
        }
        let by_types: f64 = unbound()
            .map(|parameter| self.context.candidates[parameter].len() as f64)
            .product();
        let predicate = atom.predicate.index();
        if self.context.grows[predicate] {
            return by_types;
        }
        let relation = &self.context.relations[predicate];
        let selectivity: f64 = atom
            .arguments
            .iter()
            .enumerate()
            .filter(|&(_, &term)| self.is_known(term))
            .map(|(position, _)| relation.distinct(position).max(1) as f64)
            .product();
        (f64::from(relation.len()) / selectivity).min(by_types)
    }

    fn add_match(&mut self, literal: usize, trigger: Option<usize>) {
        let atom = &self.rule.condition.literals[literal].atom;
        let mut known = Vec::new();
        let mut key = Vec::new();
        let mut binds: Vec<(usize, usize)> = Vec::new();
        let mut repeats = Vec::new();
        for (position, &term) in atom.arguments.iter().enumerate() {
            match term {
                Term::Parameter(parameter) if !self.bound[parameter] => {
                    if binds.iter().any(|&(_, earlier)| earlier == parameter) {
                        repeats.push((position, parameter));
                    } else {
                        binds.push((position, parameter));
                    }
                }
                _ => {
                    known.push(position);
                    key.push(term);
                }
            }
        }
        let same_predicate = trigger.is_some_and(|trigger| {
            self.rule.condition.literals[trigger].atom.predicate == atom.predicate
        });
        let not_trigger = same_predicate && trigger.is_some_and(|trigger| literal < trigger);
        if binds.is_empty() {
            let literal = KnownLiteral {
                literal: literal as u32,
                not_trigger,
            };
            if let Some(Step::Known(literals)) = self.plan.steps.last_mut() {
                literals.push(literal);
            } else {
                self.plan.steps.push(Step::Known(vec![literal]));
                self.bind(Vec::new());
            }
            return;
        }
        let lookup = if known.is_empty() {
            Lookup::All
        } else {
            let relation = &mut self.context.relations[atom.predicate.index()];
            Lookup::Index(relation.index_by(&known), key)
        };
        let fresh = binds.iter().map(|&(_, parameter)| parameter).collect();
        self.plan.steps.push(Step::Match {
            literal,
            lookup,
            binds,
            repeats,
            not_trigger,
        });
        self.bind(fresh);
    }
}
