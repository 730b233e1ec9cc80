//! An explorer of lifted problems that is plainly right: every formula by its definition, derived
//! predicates as their well-founded model, which for stratified axioms is the one that counts.

use std::collections::{BTreeSet, HashMap};

use homing_pddl::Problem;
use homing_pddl::model::{
    Atom, Condition, CostTerm, Formula, ObjectId, Parameter, PredicateId, Term,
};

pub type Fact = (u32, Vec<u32>);
pub type State = BTreeSet<Fact>;

pub fn key(atom: &Atom<ObjectId>) -> Fact {
    let arguments = atom.arguments.iter();
    (atom.predicate.0, arguments.map(|o| o.0).collect())
}

fn value(term: Term, env: &[u32]) -> u32 {
    match term {
        Term::Object(object) => object.0,
        Term::Parameter(index) => env[index],
    }
}

fn fact(atom: &Atom<Term>, env: &[u32]) -> Fact {
    let terms = atom.arguments.iter();
    (atom.predicate.0, terms.map(|&t| value(t, env)).collect())
}

/// Every way to give values to parameters, behind those in `env`.
fn assignments(problem: &Problem, parameters: &[Parameter], env: &[u32]) -> Vec<Vec<u32>> {
    let mut all = vec![env.to_vec()];
    for parameter in parameters {
        let mut longer = Vec::new();
        for env in &all {
            for (index, object) in problem.objects.iter().enumerate() {
                if problem.domain.fits(&object.types, &parameter.types) {
                    let mut env = env.clone();
                    env.push(index as u32);
                    longer.push(env);
                }
            }
        }
        all = longer;
    }
    all
}

/// Truth in a state, where a positive literal looks at `positive` and a negative one at `negative`.
struct View<'a> {
    problem: &'a Problem,
    positive: &'a State,
    negative: &'a State,
}

impl View<'_> {
    fn holds(&self, formula: &Formula, env: &[u32]) -> bool {
        match formula {
            Formula::Literal(literal) => {
                let fact = fact(&literal.atom, env);
                match literal.positive {
                    true => self.positive.contains(&fact),
                    false => !self.negative.contains(&fact),
                }
            }
            Formula::Equality(e) => (value(e.left, env) == value(e.right, env)) == e.equal,
            Formula::And(parts) => parts.iter().all(|part| self.holds(part, env)),
            Formula::Or(parts) => parts.iter().any(|part| self.holds(part, env)),
            Formula::Forall(variables, body) => assignments(self.problem, variables, env)
                .iter()
                .all(|env| self.holds(body, env)),
            Formula::Exists(variables, body) => assignments(self.problem, variables, env)
                .iter()
                .any(|env| self.holds(body, env)),
        }
    }

    fn satisfies(&self, condition: &Condition<Term>, env: &[u32]) -> bool {
        let literals = condition.literals.iter().cloned().map(Formula::Literal);
        let equalities = condition.equalities.iter().cloned().map(Formula::Equality);
        let mut parts = literals
            .chain(equalities)
            .chain(condition.formulas.iter().cloned());
        parts.all(|part| self.holds(&part, env))
    }
}

/// What axioms derive if exactly `negative` counts as true under a negation.
fn least(problem: &Problem, base: &State, negative: &State) -> State {
    let mut state = base.clone();
    loop {
        let mut new = state.clone();
        for axiom in &problem.domain.axioms {
            for env in assignments(problem, &axiom.parameters, &[]) {
                let view = View {
                    problem,
                    positive: &state,
                    negative,
                };
                if view.satisfies(&axiom.condition, &env) {
                    new.insert((axiom.predicate.0, env));
                }
            }
        }
        if new == state {
            return state;
        }
        state = new;
    }
}

/// A state with what is derived in it.
pub fn close(problem: &Problem, base: &State) -> State {
    if problem.domain.axioms.is_empty() {
        return base.clone();
    }
    // What is certain and what is possible come together from both sides.
    let mut certain = base.clone();
    loop {
        let possible = least(problem, base, &certain);
        let more = least(problem, base, &possible);
        if more == certain {
            assert_eq!(certain, possible, "stratified axioms leave nothing open");
            return certain;
        }
        certain = more;
    }
}

fn successor(problem: &Problem, full: &State, action: usize, env: &[u32]) -> State {
    let schema = &problem.domain.actions[action];
    let view = View {
        problem,
        positive: full,
        negative: full,
    };
    let (mut add, mut del) = (State::new(), State::new());
    add.extend(schema.add.iter().map(|atom| fact(atom, env)));
    del.extend(schema.del.iter().map(|atom| fact(atom, env)));
    for effect in &schema.conditional {
        for env in assignments(problem, &effect.parameters, env) {
            if view.satisfies(&effect.condition, &env) {
                add.extend(effect.add.iter().map(|atom| fact(atom, &env)));
                del.extend(effect.del.iter().map(|atom| fact(atom, &env)));
            }
        }
    }
    let derived = |fact: &Fact| problem.domain.is_derived(PredicateId(fact.0));
    let mut next: State = full.iter().filter(|f| !derived(f)).cloned().collect();
    del.iter().for_each(|fact| _ = next.remove(fact));
    next.extend(add);
    next
}

/// The whole state space of a small problem.
pub struct Space {
    /// Each with what is derived in it.
    pub states: Vec<State>,
    pub goals: Vec<bool>,
    /// (from, to, cost)
    pub edges: Vec<(usize, usize, u64)>,
}

impl Space {
    /// `None` if there are more than `limit` states.
    pub fn explore(problem: &Problem, limit: usize) -> Option<Self> {
        let mut space = Self {
            states: Vec::new(),
            goals: Vec::new(),
            edges: Vec::new(),
        };
        let mut index: HashMap<State, usize> = HashMap::new();
        let base: State = problem.init.iter().map(key).collect();
        index.insert(base.clone(), 0);
        let mut bases = vec![base];
        let mut at = 0;
        while at < bases.len() {
            let full = close(problem, &bases[at]);
            space.goals.push(is_goal(problem, &full));
            for (action, schema) in problem.domain.actions.iter().enumerate() {
                for env in assignments(problem, &schema.parameters, &[]) {
                    let view = View {
                        problem,
                        positive: &full,
                        negative: &full,
                    };
                    if !view.satisfies(&schema.precondition, &env) {
                        continue;
                    }
                    let next = successor(problem, &full, action, &env);
                    let to = *index.entry(next.clone()).or_insert_with(|| {
                        bases.push(next);
                        bases.len() - 1
                    });
                    let costs = schema.cost.iter().map(|term| match term {
                        CostTerm::Constant(amount) => u64::from(*amount),
                        CostTerm::Function(function, terms) => {
                            let wanted: Vec<u32> = terms.iter().map(|&t| value(t, &env)).collect();
                            let given = problem.values.iter().find(|given| {
                                let arguments = given.arguments.iter().map(|o| o.0);
                                given.function == *function && arguments.eq(wanted.iter().copied())
                            });
                            u64::from(given.expect("every value is given").value)
                        }
                    });
                    let cost = match problem.minimize_cost {
                        true => costs.sum(),
                        false => 1,
                    };
                    space.edges.push((at, to, cost));
                }
            }
            space.states.push(full);
            if bases.len() > limit {
                return None;
            }
            at += 1;
        }
        Some(space)
    }

    /// h*(s) of every state.
    pub fn perfect(&self) -> Vec<Option<u64>> {
        perfect(&self.goals, &self.edges)
    }
}

fn is_goal(problem: &Problem, full: &State) -> bool {
    let goal = &problem.goal;
    let view = View {
        problem,
        positive: full,
        negative: full,
    };
    goal.literals
        .iter()
        .all(|literal| full.contains(&key(&literal.atom)) == literal.positive)
        && goal
            .equalities
            .iter()
            .all(|e| (e.left == e.right) == e.equal)
        && goal.formulas.iter().all(|formula| view.holds(formula, &[]))
}

/// An action with its arguments, by their indexes.
pub type Step = (usize, Vec<u32>);

/// Every way to write an action of the problem down, applicable or not.
pub fn all_steps(problem: &Problem) -> Vec<Step> {
    let actions = problem.domain.actions.iter().enumerate();
    let steps = actions.flat_map(|(action, schema)| {
        let arguments = assignments(problem, &schema.parameters, &[]);
        arguments.into_iter().map(move |env| (action, env))
    });
    steps.collect()
}

/// How a replay ends: at a step that is not applicable (from 1), short of the goal, or at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    StopsAt(usize),
    MissesGoal,
    ReachesGoal,
}

/// Replays actions from the initial state.
pub fn replay(problem: &Problem, steps: &[Step]) -> Replay {
    let base: State = problem.init.iter().map(key).collect();
    let mut full = close(problem, &base);
    for (index, (action, env)) in steps.iter().enumerate() {
        let view = View {
            problem,
            positive: &full,
            negative: &full,
        };
        if !view.satisfies(&problem.domain.actions[*action].precondition, env) {
            return Replay::StopsAt(index + 1);
        }
        full = close(problem, &successor(problem, &full, *action, env));
    }
    if is_goal(problem, &full) {
        Replay::ReachesGoal
    } else {
        Replay::MissesGoal
    }
}

/// h*(s) of every state, by relaxing all edges (from, to, cost) until nothing changes.
pub fn perfect(goals: &[bool], edges: &[(usize, usize, u64)]) -> Vec<Option<u64>> {
    let mut h: Vec<Option<u64>> = goals.iter().map(|&goal| goal.then_some(0)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for &(from, to, cost) in edges {
            if let Some(way) = h[to].map(|rest| rest + cost)
                && h[from].is_none_or(|known| way < known)
            {
                h[from] = Some(way);
                changed = true;
            }
        }
    }
    h
}
