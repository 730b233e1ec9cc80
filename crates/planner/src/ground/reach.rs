//! Relaxed reachability: which facts and actions can ever come about if nothing is deleted.
//!
//! Facts wait in a queue. When one is revealed, every precondition literal it matches begins a
//! join over the facts revealed so far. An action is found when the last of its facts is revealed,
//! and only then: each is listed once.

use std::collections::VecDeque;

use homing_pddl::Problem;
use homing_pddl::model::{Atom, ObjectId, PredicateId, Term};

use super::join::{Context, JoinPlan, Lookup, Step, Test};
use super::program::{Program, Rule};
use super::relation::Relation;
use crate::csr::Csr;
use crate::watch::{Progress, Stop, Watch};

/// What can be reached.
pub(super) struct Reachable {
    /// By predicate, then by marker. The first `init_len` facts of each are those of the initial state.
    pub(super) relations: Vec<Relation>,
    pub(super) init_len: Vec<u32>,
    /// By rule: the arguments with which it can be reached, sorted.
    pub(super) arguments: Vec<Csr<ObjectId>>,
}

/// The watch is asked once in so many actions.
const POLL_EVERY: usize = 4_096;

struct RulePlans<'a> {
    rule: &'a Rule,
    fits: Vec<Vec<bool>>,
    candidates: Vec<Vec<ObjectId>>,
    /// The plan without a trigger, for rules whose facts are all there from the beginning.
    untriggered: Option<JoinPlan>,
    /// Literals that a new fact can match, each with its plan.
    triggered: Vec<(usize, JoinPlan)>,
}

pub(super) fn reach(
    problem: &Problem,
    program: &Program,
    watch: &mut dyn Watch,
) -> Result<Reachable, Stop> {
    let mut relations: Vec<Relation> = program
        .arities
        .iter()
        .map(|&arity| Relation::new(arity))
        .collect();
    let mut grows = vec![false; relations.len()];
    let mut deleted = vec![false; relations.len()];
    for rule in &program.rules {
        rule.add
            .iter()
            .for_each(|atom| grows[atom.predicate.index()] = true);
        rule.del
            .iter()
            .for_each(|atom| deleted[atom.predicate.index()] = true);
    }
    for atom in &problem.init {
        relations[atom.predicate.index()].insert(&atom.arguments);
    }
    let init_len: Vec<u32> = relations.iter().map(Relation::len).collect();
    let rules: Vec<RulePlans<'_>> = program
        .rules
        .iter()
        .map(|rule| plan_rule(problem, rule, &mut relations, &grows, &deleted))
        .collect();
    // For each predicate: the rules and plans its facts trigger.
    let mut triggers: Vec<Vec<(usize, usize)>> = vec![Vec::new(); relations.len()];
    for (rule, plans) in rules.iter().enumerate() {
        for (plan, (literal, _)) in plans.triggered.iter().enumerate() {
            let atom = &plans.rule.condition.literals[*literal].atom;
            triggers[atom.predicate.index()].push((rule, plan));
        }
    }
    let mut queue: VecDeque<PredicateId> = VecDeque::new();
    for (predicate, relation) in relations.iter_mut().enumerate() {
        for _ in 0..relation.len() {
            if grows[predicate] {
                queue.push_back(PredicateId::from_index(predicate));
            } else {
                relation.reveal_next();
            }
        }
    }

    let mut found: Vec<Csr<ObjectId>> = vec![Csr::default(); rules.len()];
    let mut polled = 0;
    let mut total = 0;
    let mut scratch = Scratch::default();
    for (rule, plans) in rules.iter().enumerate() {
        let Some(plan) = &plans.untriggered else {
            continue;
        };
        let join = Join {
            plans,
            plan,
            relations: &relations,
            init_len: &init_len,
            trigger: None,
        };
        let rows = &mut found[rule];
        scratch
            .bound
            .resize(plans.rule.parameters.len(), ObjectId(0));
        join.go_on(0, &mut scratch, &mut |arguments| {
            rows.push_row(arguments.iter().copied());
        });
        for arguments in rows.rows() {
            add_effects(plans.rule, arguments, &mut relations, &mut queue);
        }
        total += rows.len();
    }
    while let Some(predicate) = queue.pop_front() {
        let row = relations[predicate.index()].revealed();
        relations[predicate.index()].reveal_next();
        for &(rule, plan) in &triggers[predicate.index()] {
            let plans = &rules[rule];
            let (literal, plan) = &plans.triggered[plan];
            let atom = &plans.rule.condition.literals[*literal].atom;
            scratch
                .bound
                .resize(plans.rule.parameters.len(), ObjectId(0));
            let fact = relations[predicate.index()].row(row);
            if !match_trigger(atom, fact, &mut scratch.bound) {
                continue;
            }
            let rows = &mut found[rule];
            let before = rows.len();
            let join = Join {
                plans,
                plan,
                relations: &relations,
                init_len: &init_len,
                trigger: Some(row),
            };
            join.go_on(0, &mut scratch, &mut |arguments| {
                rows.push_row(arguments.iter().copied());
            });
            for index in before..rows.len() {
                add_effects(plans.rule, rows.row(index), &mut relations, &mut queue);
            }
            total += rows.len() - before;
        }
        if total >= polled + POLL_EVERY {
            polled = total;
            if let Some(stop) = watch.poll(Progress::Grounding { actions: total }) {
                return Err(stop);
            }
        }
    }
    let arguments = found.into_iter().map(|rows| sorted(&rows)).collect();
    Ok(Reachable {
        relations,
        init_len,
        arguments,
    })
}

/// Rows in the order of their items: actions in the order of their arguments.
fn sorted(rows: &Csr<ObjectId>) -> Csr<ObjectId> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_unstable_by_key(|&row| rows.row(row));
    let mut result = Csr::default();
    for row in order {
        result.push_row(rows.row(row).iter().copied());
    }
    result
}

fn plan_rule<'a>(
    problem: &Problem,
    rule: &'a Rule,
    relations: &mut [Relation],
    grows: &[bool],
    deleted: &[bool],
) -> RulePlans<'a> {
    let fits: Vec<Vec<bool>> = rule
        .parameters
        .iter()
        .map(|parameter| {
            problem
                .objects
                .iter()
                .map(|object| problem.domain.fits(&object.types, &parameter.types))
                .collect()
        })
        .collect();
    let candidates: Vec<Vec<ObjectId>> = fits
        .iter()
        .map(|fits| {
            (0..problem.objects.len())
                .filter(|&object| fits[object])
                .map(ObjectId::from_index)
                .collect()
        })
        .collect();
    let mut context = Context {
        relations,
        grows,
        deleted,
        candidates: &candidates,
    };
    let growing: Vec<usize> = rule
        .condition
        .literals
        .iter()
        .enumerate()
        .filter(|(_, literal)| literal.positive && grows[literal.atom.predicate.index()])
        .map(|(index, _)| index)
        .collect();
    let untriggered = growing
        .is_empty()
        .then(|| JoinPlan::new(rule, None, &mut context));
    let triggered = growing
        .into_iter()
        .map(|literal| (literal, JoinPlan::new(rule, Some(literal), &mut context)))
        .collect();
    RulePlans {
        rule,
        fits,
        candidates,
        untriggered,
        triggered,
    }
}

/// An argument with its parameters replaced.
pub(super) fn instantiate(term: Term, arguments: &[ObjectId]) -> ObjectId {
    match term {
        Term::Parameter(parameter) => arguments[parameter],
        Term::Object(object) => object,
    }
}

fn add_effects(
    rule: &Rule,
    arguments: &[ObjectId],
    relations: &mut [Relation],
    queue: &mut VecDeque<PredicateId>,
) {
    let mut ground = Vec::new();
    for atom in &rule.add {
        ground.clear();
        ground.extend(
            atom.arguments
                .iter()
                .map(|&term| instantiate(term, arguments)),
        );
        if relations[atom.predicate.index()].insert(&ground) {
            queue.push_back(atom.predicate);
        }
    }
}

/// Binds the parameters of the trigger's literal; `false` if the fact does not match it.
fn match_trigger(atom: &Atom<Term>, fact: &[ObjectId], bound: &mut [ObjectId]) -> bool {
    for (position, &term) in atom.arguments.iter().enumerate() {
        match term {
            Term::Object(object) if object != fact[position] => return false,
            Term::Object(_) => {}
            Term::Parameter(parameter) => {
                let earlier = atom.arguments[..position].contains(&term);
                if earlier && bound[parameter] != fact[position] {
                    return false;
                }
                bound[parameter] = fact[position];
            }
        }
    }
    true
}

/// Buffers that joins reuse.
#[derive(Default)]
struct Scratch {
    /// The objects of the parameters bound so far; others hold leftovers.
    bound: Vec<ObjectId>,
    key: Vec<ObjectId>,
}

/// One join under way.
struct Join<'a> {
    plans: &'a RulePlans<'a>,
    plan: &'a JoinPlan,
    relations: &'a [Relation],
    init_len: &'a [u32],
    trigger: Option<u32>,
}

impl Join<'_> {
    /// Whether the tests before a step hold.
    fn passes(&self, step: usize, scratch: &mut Scratch) -> bool {
        let condition = &self.plans.rule.condition;
        self.plan.tests[step].iter().all(|test| match *test {
            Test::Fits(parameter) => self.plans.fits[parameter][scratch.bound[parameter].index()],
            Test::Equality(index) => {
                let equality = &condition.equalities[index];
                let left = instantiate(equality.left, &scratch.bound);
                let right = instantiate(equality.right, &scratch.bound);
                (left == right) == equality.equal
            }
            // The predicate is never deleted: what holds in the initial state holds for ever.
            Test::Negative(index) => {
                let atom = &condition.literals[index].atom;
                scratch.fill_key(&atom.arguments);
                let predicate = atom.predicate.index();
                self.relations[predicate]
                    .find(&scratch.key)
                    .is_none_or(|row| row >= self.init_len[predicate])
            }
        })
    }

    /// Tests what is bound before `step`, then does it and all that follow; every way through is
    /// reported to `found`.
    fn go_on(&self, step: usize, scratch: &mut Scratch, found: &mut dyn FnMut(&[ObjectId])) {
        if !self.passes(step, scratch) {
            return;
        }
        let Some(current) = self.plan.steps.get(step) else {
            found(&scratch.bound);
            return;
        };
        match current {
            Step::Assign { parameter, from } => {
                scratch.bound[*parameter] = instantiate(*from, &scratch.bound);
                self.go_on(step + 1, scratch, found);
            }
            Step::Enumerate { parameter } => {
                for &object in &self.plans.candidates[*parameter] {
                    scratch.bound[*parameter] = object;
                    self.go_on(step + 1, scratch, found);
                }
            }
            Step::Match {
                literal,
                lookup,
                binds,
                repeats,
                not_trigger,
            } => {
                let atom = &self.plans.rule.condition.literals[*literal].atom;
                let relation = &self.relations[atom.predicate.index()];
                let excluded = if *not_trigger { self.trigger } else { None };
                let mut try_row = |row: u32, scratch: &mut Scratch| {
                    if Some(row) == excluded {
                        return;
                    }
                    let fact = relation.row(row);
                    for &(position, parameter) in binds {
                        scratch.bound[parameter] = fact[position];
                    }
                    if repeats
                        .iter()
                        .all(|&(position, p)| scratch.bound[p] == fact[position])
                    {
                        self.go_on(step + 1, scratch, found);
                    }
                };
                match lookup {
                    Lookup::Member => {
                        scratch.fill_key(&atom.arguments);
                        let row = relation.find(&scratch.key);
                        if let Some(row) = row.filter(|&row| row < relation.revealed()) {
                            try_row(row, scratch);
                        }
                    }
                    Lookup::Index(index, terms) => {
                        scratch.fill_key(terms);
                        for &row in relation.look_up(*index, &scratch.key) {
                            try_row(row, scratch);
                        }
                    }
                    Lookup::All => {
                        for row in 0..relation.revealed() {
                            try_row(row, scratch);
                        }
                    }
                }
            }
        }
    }
}

impl Scratch {
    fn fill_key(&mut self, terms: &[Term]) {
        self.key.clear();
        self.key
            .extend(terms.iter().map(|&term| instantiate(term, &self.bound)));
    }
}
