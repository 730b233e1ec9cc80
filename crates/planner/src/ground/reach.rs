//! Relaxed reachability: which facts and actions can ever come about if nothing is deleted.
//!
//! Facts wait in a queue. When one is revealed, every precondition literal it matches begins a
//! join over the facts revealed so far. An action is found when the last of its facts is revealed,
//! and only then: each is listed once.

use std::collections::VecDeque;

use homing_pddl::Problem;
use homing_pddl::model::{Atom, ObjectId, PredicateId, Term};

use super::join::{Context, JoinPlan, KnownLiteral, Lookup, Step, Test};
use super::program::{Program, Rule};
use super::relation::Relation;
use crate::csr::Csr;
use crate::watch::{Pace, Progress, Stop, Watch};

/// What can be reached.
pub(super) struct Reachable {
    /// By predicate, then by marker. The first `init_len` facts of each are those of the initial state.
    pub(super) relations: Vec<Relation>,
    pub(super) init_len: Vec<u32>,
    /// By rule: the arguments with which it can be reached, sorted.
    pub(super) arguments: Vec<Csr<ObjectId>>,
}

struct RulePlans<'a> {
    rule: &'a Rule,
    fits: Vec<Vec<bool>>,
    candidates: Vec<Vec<ObjectId>>,
    /// The plan without a trigger, for rules whose facts are all there from the beginning.
    untriggered: Option<JoinPlan>,
    /// Literals that a new fact can match, each with its plan.
    triggered: Vec<(usize, JoinPlan)>,
}

/// How many arguments each rule was found to have when a watch ended it, and how many were tried.
pub(super) struct Ended {
    pub(super) stop: Stop,
    /// By rule.
    pub(super) found: Vec<Found>,
}

impl Ended {
    fn at_start(stop: Stop) -> Self {
        Self {
            stop,
            found: Vec::new(),
        }
    }
}

/// How far the joins of a rule have come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    /// Arguments with which it can be reached.
    pub(super) rows: usize,
    /// Ways tried.
    pub(super) tried: u64,
}

pub(super) fn reach(
    problem: &Problem,
    program: &Program,
    watch: &mut dyn Watch,
) -> Result<Reachable, Ended> {
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
    insert_initial(problem, &mut relations, watch).map_err(Ended::at_start)?;
    for pair in &program.pairs {
        let relation = relations.last_mut().expect("pairs are the last relation");
        relation.insert(pair);
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
    let queue = reveal_fixed(&mut relations, &grows, watch).map_err(Ended::at_start)?;
    let mut exploration = Exploration {
        rules: &rules,
        triggers: &triggers,
        init_len: &init_len,
        relations,
        queue,
        arguments: vec![Csr::default(); rules.len()],
        found: vec![Found::default(); rules.len()],
        total: 0,
    };
    let ended = exploration.run(watch);
    let rows = exploration.arguments.iter().map(Csr::len);
    for (found, rows) in exploration.found.iter_mut().zip(rows) {
        found.rows = rows;
    }
    let arguments = ended.and_then(|()| exploration.sorted(watch));
    match arguments {
        Ok(arguments) => Ok(Reachable {
            relations: exploration.relations,
            init_len,
            arguments,
        }),
        Err(stop) => Err(Ended {
            stop,
            found: exploration.found,
        }),
    }
}

fn insert_initial(
    problem: &Problem,
    relations: &mut [Relation],
    watch: &mut dyn Watch,
) -> Result<(), Stop> {
    let mut pace = Pace::new(watch, Progress::Grounding { actions: 0 })?;
    for atom in &problem.init {
        let relation = &mut relations[atom.predicate.index()];
        pace.work(2)?;
        pace.room(relation.growth())?;
        relation.insert(&atom.arguments);
    }
    Ok(())
}

/// Reveals the facts of predicates that do not grow; the others are queued.
fn reveal_fixed(
    relations: &mut [Relation],
    grows: &[bool],
    watch: &mut dyn Watch,
) -> Result<VecDeque<PredicateId>, Stop> {
    let mut pace = Pace::new(watch, Progress::Grounding { actions: 0 })?;
    let mut queue: VecDeque<PredicateId> = VecDeque::new();
    for (predicate, relation) in relations.iter_mut().enumerate() {
        for _ in 0..relation.len() {
            pace.work(2)?;
            if grows[predicate] {
                queue.push_back(PredicateId::from_index(predicate));
            } else {
                relation.reveal_next();
            }
        }
    }
    Ok(queue)
}

/// Reachability under way.
struct Exploration<'a> {
    rules: &'a [RulePlans<'a>],
    /// By predicate: the rules and plans its facts trigger.
    triggers: &'a [Vec<(usize, usize)>],
    init_len: &'a [u32],
    relations: Vec<Relation>,
    /// The predicates of facts to be revealed.
    queue: VecDeque<PredicateId>,
    /// By rule: arguments found.
    arguments: Vec<Csr<ObjectId>>,
    /// By rule: how many, and what it took.
    found: Vec<Found>,
    total: usize,
}

impl Exploration<'_> {
    fn run(&mut self, watch: &mut dyn Watch) -> Result<(), Stop> {
        let mut pace = Pace::new(watch, Progress::Grounding { actions: 0 })?;
        let mut scratch = Scratch::default();
        for (rule, plans) in self.rules.iter().enumerate() {
            let Some(plan) = &plans.untriggered else {
                continue;
            };
            scratch
                .bound
                .resize(plans.rule.parameters.len(), ObjectId(0));
            self.join((rule, plan), None, &mut scratch, &mut pace)?;
        }
        while let Some(predicate) = self.queue.pop_front() {
            let relation = &mut self.relations[predicate.index()];
            let row = relation.revealed();
            relation.reveal_next();
            pace.work(1)?;
            for &(rule, plan) in &self.triggers[predicate.index()] {
                let plans = &self.rules[rule];
                let (literal, plan) = &plans.triggered[plan];
                let atom = &plans.rule.condition.literals[*literal].atom;
                scratch
                    .bound
                    .resize(plans.rule.parameters.len(), ObjectId(0));
                let fact = self.relations[predicate.index()].row(row);
                if match_trigger(atom, fact, &mut scratch.bound) {
                    self.join((rule, plan), Some(row), &mut scratch, &mut pace)?;
                }
            }
        }
        Ok(())
    }

    /// Finds the arguments of a rule, and what it adds with them.
    fn join(
        &mut self,
        (rule, plan): (usize, &JoinPlan),
        trigger: Option<u32>,
        scratch: &mut Scratch,
        pace: &mut Pace<'_>,
    ) -> Result<(), Stop> {
        let plans = &self.rules[rule];
        let join = Join {
            plans,
            plan,
            relations: &self.relations,
            init_len: self.init_len,
            trigger,
        };
        let rows = &mut self.arguments[rule];
        let before = rows.len();
        let mut out = Out {
            rows,
            found: &mut self.found[rule],
            others: self.total - before,
            pace,
        };
        join.go_on(0, scratch, &mut out)?;
        for index in before..rows.len() {
            let arguments = rows.row(index);
            add_effects(
                plans.rule,
                arguments,
                &mut self.relations,
                &mut self.queue,
                &mut scratch.key,
                pace,
            )?;
        }
        self.total += rows.len() - before;
        pace.show(Progress::Grounding {
            actions: self.total,
        });
        Ok(())
    }

    /// The arguments found, those of each rule in their order.
    fn sorted(&mut self, watch: &mut dyn Watch) -> Result<Vec<Csr<ObjectId>>, Stop> {
        let progress = Progress::Grounding {
            actions: self.total,
        };
        let mut pace = Pace::new(watch, progress)?;
        let arity = |rule: usize| self.rules[rule].rule.parameters.len();
        let objects = self.rules.iter().flat_map(|plans| &plans.fits);
        let objects = objects.map(Vec::len).max().unwrap_or(0);
        // Taken out one by one, so that few are there twice.
        let mut arguments = Vec::with_capacity(self.arguments.len());
        for rule in 0..self.arguments.len() {
            let rows = std::mem::take(&mut self.arguments[rule]);
            arguments.push(sorted(&rows, arity(rule), objects, &mut pace)?);
        }
        Ok(arguments)
    }
}

/// Rows in the order of their items: actions in the order of their arguments. Sorted by the last
/// argument first, and by each before it in turn, by counting.
fn sorted(
    rows: &Csr<ObjectId>,
    arity: usize,
    objects: usize,
    pace: &mut Pace<'_>,
) -> Result<Csr<ObjectId>, Stop> {
    let count = rows.len();
    let items = rows.items();
    let mut order: Vec<u32> = (0..count as u32).collect();
    if count < objects {
        order.sort_unstable_by_key(|&row| rows.row(row as usize));
    } else {
        let mut next = order.clone();
        for position in (0..arity).rev() {
            let object = |row: u32| items[row as usize * arity + position].index();
            let mut starts = vec![0u32; objects + 1];
            for chunk in order.chunks(CHUNK) {
                pace.work(chunk.len())?;
                chunk.iter().for_each(|&row| starts[object(row) + 1] += 1);
            }
            for object in 0..objects {
                starts[object + 1] += starts[object];
            }
            for chunk in order.chunks(CHUNK) {
                pace.work(chunk.len())?;
                for &row in chunk {
                    let place = &mut starts[object(row)];
                    next[*place as usize] = row;
                    *place += 1;
                }
            }
            std::mem::swap(&mut order, &mut next);
        }
    }
    let mut result = Csr::with_capacity(count, items.len());
    for row in order {
        pace.work(1)?;
        result.push_row(rows.row(row as usize).iter().copied());
    }
    Ok(result)
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
    ground: &mut Vec<ObjectId>,
    pace: &mut Pace<'_>,
) -> Result<(), Stop> {
    for atom in &rule.add {
        ground.clear();
        ground.extend(
            atom.arguments
                .iter()
                .map(|&term| instantiate(term, arguments)),
        );
        let relation = &mut relations[atom.predicate.index()];
        pace.work(2)?;
        pace.room(relation.growth())?;
        if relation.insert(ground) {
            queue.push_back(atom.predicate);
        }
    }
    Ok(())
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

/// What a watch is shown is brought up to date once in so many arguments found by one join.
const SHOW_EVERY: usize = 1 << 10;

/// Items sorted between two questions to a watch.
const CHUNK: usize = 1 << 12;

/// Where what a join finds goes.
struct Out<'o, 'w> {
    rows: &'o mut Csr<ObjectId>,
    found: &'o mut Found,
    /// What was found of other rules, and of this one before.
    others: usize,
    pace: &'o mut Pace<'w>,
}

impl Out<'_, '_> {
    fn push(&mut self, arguments: &[ObjectId]) -> Result<(), Stop> {
        // More than can be numbered is more than any memory holds once it is written out.
        if !self.rows.has_room(arguments.len()) {
            return Err(Stop::Memory);
        }
        self.rows.push_row(arguments.iter().copied());
        if self.rows.len().is_multiple_of(SHOW_EVERY) {
            let actions = self.others + self.rows.len();
            self.pace.show(Progress::Grounding { actions });
        }
        Ok(())
    }
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

    /// Whether the facts of literals are there all of whose arguments are known.
    fn are_there(
        &self,
        literals: &[KnownLiteral],
        scratch: &mut Scratch,
        out: &mut Out<'_, '_>,
    ) -> Result<bool, Stop> {
        for (at, known) in literals.iter().enumerate() {
            if at > 0 {
                out.found.tried += 1;
                out.pace.work(1)?;
            }
            let atom = &self.plans.rule.condition.literals[known.literal as usize].atom;
            let relation = &self.relations[atom.predicate.index()];
            scratch.fill_key(&atom.arguments);
            let row = relation.find(&scratch.key);
            let Some(row) = row.filter(|&row| row < relation.revealed()) else {
                return Ok(false);
            };
            if known.not_trigger && Some(row) == self.trigger {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tests what is bound before `step`, then does it and all that follow; every way through goes to
    /// `out`.
    fn go_on(&self, step: usize, scratch: &mut Scratch, out: &mut Out<'_, '_>) -> Result<(), Stop> {
        out.found.tried += 1;
        out.pace.work(1)?;
        if !self.passes(step, scratch) {
            return Ok(());
        }
        let Some(current) = self.plan.steps.get(step) else {
            return out.push(&scratch.bound);
        };
        match current {
            Step::Assign { parameter, from } => {
                scratch.bound[*parameter] = instantiate(*from, &scratch.bound);
                self.go_on(step + 1, scratch, out)?;
            }
            Step::Enumerate { parameter } => {
                for &object in &self.plans.candidates[*parameter] {
                    scratch.bound[*parameter] = object;
                    self.go_on(step + 1, scratch, out)?;
                }
            }
            Step::Known(literals) => {
                if self.are_there(literals, scratch, out)? {
                    self.go_on(step + 1, scratch, out)?;
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
                        return Ok(());
                    }
                    let fact = relation.row(row);
                    for &(position, parameter) in binds {
                        scratch.bound[parameter] = fact[position];
                    }
                    if repeats
                        .iter()
                        .all(|&(position, p)| scratch.bound[p] == fact[position])
                    {
                        self.go_on(step + 1, scratch, out)
                    } else {
                        out.found.tried += 1;
                        out.pace.work(1)
                    }
                };
                match lookup {
                    Lookup::Index(index, terms) => {
                        scratch.fill_key(terms);
                        for &row in relation.look_up(*index, &scratch.key) {
                            try_row(row, scratch)?;
                        }
                    }
                    Lookup::All => {
                        for row in 0..relation.revealed() {
                            try_row(row, scratch)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl Scratch {
    fn fill_key(&mut self, terms: &[Term]) {
        self.key.clear();
        self.key
            .extend(terms.iter().map(|&term| instantiate(term, &self.bound)));
    }
}
