//! What the planner's tests share: loading problems, random small problems, and an explorer that
//! is plainly right and plainly slow.

// Each test file uses its own part of this.
#![allow(dead_code, unreachable_pub)]

pub mod explorer;
pub mod random;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing_pddl::model::{Atom, Condition, CostTerm, Literal, ObjectId, Term};
use homing_pddl::{Problem, Source, read_problem};
use homing_planner::search::{Outcome, SearchResult};
use homing_planner::{
    ActionId, Estimate, Heuristic, PropId, Registry, StateId, States, SuccessorGenerator, Task,
};

use explorer::key;
pub use random::Random;

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of shared problems beside the repository, if it is there.
pub fn shared() -> Option<PathBuf> {
    let shared = root().join("../shared");
    if shared.is_dir() {
        Some(shared)
    } else {
        eprintln!("skipped: there is no `shared` folder beside the repository");
        None
    }
}

pub fn load(domain: &Path, problem: &Path) -> Arc<Problem> {
    let read = |path: &Path| {
        let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Source::new(path.display().to_string(), bytes)
    };
    let (problem, messages) = read_problem(&read(domain), &read(problem));
    Arc::new(problem.unwrap_or_else(|| panic!("{messages}")))
}

pub fn parse_texts(domain: &str, problem: &str) -> Arc<Problem> {
    let (problem, messages) = read_problem(
        &Source::new("domain.pddl", domain.as_bytes().to_vec()),
        &Source::new("problem.pddl", problem.as_bytes().to_vec()),
    );
    Arc::new(problem.unwrap_or_else(|| panic!("{messages}\n{domain}")))
}

/// Every problem under `fixtures/valid`, as (name, problem).
pub fn valid_fixtures() -> Vec<(String, Arc<Problem>)> {
    let mut problems = Vec::new();
    for folder in sorted_entries(&root().join("fixtures/valid")) {
        for path in problem_files(&folder) {
            let name = format!(
                "{}/{}",
                folder.file_name().unwrap().to_string_lossy(),
                path.file_stem().unwrap().to_string_lossy()
            );
            problems.push((name, load(&folder.join("domain.pddl"), &path)));
        }
    }
    assert!(problems.len() >= 10, "fixtures/valid is missing");
    problems
}

pub fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    entries
}

/// The problem files of a domain's folder.
pub fn problem_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = sorted_entries(folder);
    files.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with(".pddl") && !name.starts_with("domain")
    });
    files
}

/// A random domain with two types, negative conditions, equalities and costs, and a problem of it.
pub fn random_problem(seed: u64) -> Arc<Problem> {
    let mut random = Random(seed);
    let arities = [0, 1, 1, 2, 2];
    let predicates = 2 + random.below(arities.len() - 1);
    let types = ["t", "u", "object"];
    let costs = random.chance(50);
    let negatives = random.chance(60);
    let mut domain = String::from(
        "(define (domain random) (:requirements :strips :typing :equality :negative-preconditions :action-costs)\n\
         (:types t u) (:constants c - t)\n(:predicates",
    );
    for (predicate, &arity) in arities.iter().enumerate().take(predicates) {
        domain += &format!(" (p{predicate}{})", &" ?a ?b"[..3 * arity]);
    }
    domain += ") (:functions (total-cost) - number (price ?a) - number)\n";
    for action in 0..2 + random.below(3) {
        let parameters = random.below(4);
        let declared: Vec<String> = (0..parameters)
            .map(|index| format!("?v{index} - {}", types[random.below(3)]))
            .collect();
        domain += &format!("(:action a{action} :parameters ({})", declared.join(" "));
        let term = |random: &mut Random| match random.below(parameters + 1) {
            0 => "c".to_owned(),
            index => format!("?v{}", index - 1),
        };
        let atom = |random: &mut Random| {
            let predicate = random.below(predicates);
            let mut text = format!("(p{predicate}");
            for _ in 0..arities[predicate] {
                text += " ";
                text += &term(random);
            }
            text + ")"
        };
        domain += " :precondition (and";
        for _ in 0..random.below(4) {
            let atom = atom(&mut random);
            if negatives && random.chance(30) {
                domain += &format!(" (not {atom})");
            } else {
                domain += &format!(" {atom}");
            }
        }
        if parameters >= 2 && random.chance(40) {
            let equality = format!("(= ?v0 ?v{})", 1 + random.below(parameters - 1));
            if random.chance(70) {
                domain += &format!(" (not {equality})");
            } else {
                domain += &format!(" {equality}");
            }
        }
        domain += ") :effect (and";
        for _ in 0..1 + random.below(3) {
            let atom = atom(&mut random);
            if random.chance(45) {
                domain += &format!(" (not {atom})");
            } else {
                domain += &format!(" {atom}");
            }
        }
        if costs {
            if parameters > 0 && random.chance(50) {
                domain += " (increase (total-cost) (price ?v0))";
            } else {
                domain += &format!(" (increase (total-cost) {})", random.below(4));
            }
        }
        domain += "))\n";
    }
    domain += ")";

    let objects = ["c", "o1", "o2", "o3"];
    let count = 2 + random.below(3);
    let mut problem = String::from("(define (problem p) (:domain random) (:objects");
    for (index, object) in objects.iter().enumerate().take(count).skip(1) {
        problem += &format!(" {object} - {}", types[index % 2]);
    }
    problem += ") (:init";
    let ground_atom = |random: &mut Random| {
        let predicate = random.below(predicates);
        let mut text = format!("(p{predicate}");
        for _ in 0..arities[predicate] {
            text += &format!(" {}", objects[random.below(count)]);
        }
        text + ")"
    };
    for _ in 0..random.below(6) {
        problem += &format!(" {}", ground_atom(&mut random));
    }
    for (index, object) in objects.iter().enumerate().take(count) {
        problem += &format!(" (= (price {object}) {})", (index * 2 + 1) % 4);
    }
    problem += ") (:goal (and";
    for _ in 0..1 + random.below(3) {
        let atom = ground_atom(&mut random);
        if negatives && random.chance(25) {
            problem += &format!(" (not {atom})");
        } else {
            problem += &format!(" {atom}");
        }
    }
    problem += "))";
    if costs {
        problem += " (:metric minimize (total-cost))";
    }
    problem += ")";
    parse_texts(&domain, &problem)
}

/// A state as the plain explorer sees it.
pub type PlainState = BTreeSet<(u32, Vec<u32>)>;

fn value(term: Term, arguments: &[ObjectId]) -> ObjectId {
    match term {
        Term::Parameter(index) => arguments[index],
        Term::Object(object) => object,
    }
}

fn ground(atom: &Atom<Term>, arguments: &[ObjectId]) -> Atom<ObjectId> {
    Atom {
        predicate: atom.predicate,
        arguments: atom
            .arguments
            .iter()
            .map(|&term| value(term, arguments))
            .collect(),
    }
}

pub fn satisfies(condition: &Condition<ObjectId>, state: &PlainState) -> bool {
    condition
        .literals
        .iter()
        .all(|Literal { atom, positive }| state.contains(&key(atom)) == *positive)
        && condition
            .equalities
            .iter()
            .all(|e| (e.left == e.right) == e.equal)
}

/// Applies a lifted action, given as `(name object...)`, without looking at its precondition.
pub fn plain_apply(problem: &Problem, state: &PlainState, action: &str) -> PlainState {
    let mut words = action.trim_matches(['(', ')']).split_whitespace();
    let name = words.next().expect("an action has a name");
    let schema = problem
        .domain
        .actions
        .iter()
        .find(|schema| schema.name == name)
        .expect(name);
    let arguments: Vec<ObjectId> = words
        .map(|word| {
            let found = problem
                .objects
                .iter()
                .position(|object| object.name == word);
            ObjectId::from_index(found.expect(word))
        })
        .collect();
    let mut next = state.clone();
    for atom in &schema.del {
        next.remove(&key(&ground(atom, &arguments)));
    }
    for atom in &schema.add {
        next.insert(key(&ground(atom, &arguments)));
    }
    next
}

/// The initial state of a problem.
pub fn plain_initial(problem: &Problem) -> PlainState {
    problem.init.iter().map(key).collect()
}

/// Packs a state for a task without negative conditions.
pub fn pack(task: &Task, state: &PlainState) -> Vec<u32> {
    let props: Vec<PropId> = (0..task.propositions().len())
        .filter(|&index| state.contains(&key(&task.propositions()[index].atom)))
        .map(PropId::from_index)
        .collect();
    task.encoding().pack(&props)
}

/// Successors by trying every tuple of objects for every action: (successor, cost).
pub fn plain_successors(problem: &Problem, state: &PlainState) -> Vec<(PlainState, u64)> {
    let mut successors = Vec::new();
    for schema in &problem.domain.actions {
        let mut tuples: Vec<Vec<ObjectId>> = vec![Vec::new()];
        for parameter in &schema.parameters {
            tuples = tuples
                .iter()
                .flat_map(|tuple| {
                    problem
                        .objects
                        .iter()
                        .enumerate()
                        .filter(|(_, object)| {
                            object.types.iter().any(|&t| {
                                parameter
                                    .types
                                    .iter()
                                    .any(|&s| problem.domain.is_subtype(t, s))
                            })
                        })
                        .map(|(index, _)| {
                            let mut longer = tuple.clone();
                            longer.push(ObjectId(index as u32));
                            longer
                        })
                })
                .collect();
        }
        for arguments in tuples {
            let holds = schema.precondition.literals.iter().all(|literal| {
                state.contains(&key(&ground(&literal.atom, &arguments))) == literal.positive
            }) && schema.precondition.equalities.iter().all(|equality| {
                (value(equality.left, &arguments) == value(equality.right, &arguments))
                    == equality.equal
            });
            if !holds {
                continue;
            }
            let mut next = state.clone();
            for atom in &schema.del {
                next.remove(&key(&ground(atom, &arguments)));
            }
            for atom in &schema.add {
                next.insert(key(&ground(atom, &arguments)));
            }
            let cost = if problem.minimize_cost {
                schema
                    .cost
                    .iter()
                    .map(|term| match term {
                        CostTerm::Constant(amount) => u64::from(*amount),
                        CostTerm::Function(function, terms) => {
                            let wanted: Vec<ObjectId> =
                                terms.iter().map(|&term| value(term, &arguments)).collect();
                            let found = problem
                                .values
                                .iter()
                                .find(|v| v.function == *function && v.arguments == wanted);
                            u64::from(found.expect("every value is given").value)
                        }
                    })
                    .sum()
            } else {
                1
            };
            successors.push((next, cost));
        }
    }
    successors
}

/// The whole state space of a small problem, explored plainly.
pub struct PlainSpace {
    pub states: Vec<PlainState>,
    pub index: HashMap<PlainState, usize>,
    /// (from, to, cost)
    pub edges: Vec<(usize, usize, u64)>,
    pub goals: Vec<bool>,
}

impl PlainSpace {
    /// `None` if there are more than `limit` states.
    pub fn explore(problem: &Problem, limit: usize) -> Option<Self> {
        let initial = plain_initial(problem);
        let mut space = Self {
            states: vec![initial.clone()],
            index: HashMap::from([(initial, 0)]),
            edges: Vec::new(),
            goals: Vec::new(),
        };
        let mut at = 0;
        while at < space.states.len() {
            let state = space.states[at].clone();
            space.goals.push(satisfies(&problem.goal, &state));
            for (next, cost) in plain_successors(problem, &state) {
                let to = *space.index.entry(next.clone()).or_insert_with(|| {
                    space.states.push(next);
                    space.states.len() - 1
                });
                space.edges.push((at, to, cost));
            }
            if space.states.len() > limit {
                return None;
            }
            at += 1;
        }
        Some(space)
    }

    /// h*(s) of every state.
    pub fn perfect(&self) -> Vec<Option<u64>> {
        explorer::perfect(&self.goals, &self.edges)
    }
}

/// The true atoms of a packed state, as far as the task keeps them.
pub fn plain(task: &Task, state: &[u32]) -> PlainState {
    let holds = |index| task.encoding().holds(PropId::from_index(index), state);
    let props = task.propositions().iter().enumerate();
    let dynamic = props.filter(|(index, prop)| !prop.is_helper && holds(*index) == prop.positive);
    dynamic
        .map(|(_, prop)| key(&prop.atom))
        .chain(task.statics().iter().map(key))
        .collect()
}

/// States without what is irrelevant to the goal, each with its distance to it.
pub fn projected(
    task: &Task,
    states: &[PlainState],
    distances: &[Option<u64>],
) -> HashMap<PlainState, Option<u64>> {
    let props = task.propositions().iter().filter(|prop| !prop.is_helper);
    let props = props.map(|prop| &prop.atom);
    let kept: HashSet<_> = props.chain(task.statics()).map(key).collect();
    let mut projected = HashMap::new();
    for (state, &distance) in states.iter().zip(distances) {
        let atoms = state.iter().filter(|atom| kept.contains(*atom));
        let known = projected.insert(atoms.cloned().collect(), distance);
        assert!(
            known.is_none_or(|known| known == distance),
            "something relevant was dropped"
        );
    }
    projected
}

/// All reachable states of a ground task, where `apply` says what an action does.
pub fn explore_by(task: &Task, apply: impl Fn(&[u32], ActionId) -> Vec<u32>) -> Registry {
    let generator = SuccessorGenerator::new(task);
    let mut registry = Registry::new(task.encoding().words());
    registry.insert(&task.initial_state());
    let mut at = 0;
    let mut actions = Vec::new();
    while at < registry.len() {
        let state = registry.state(StateId::from_index(at)).to_vec();
        generator.applicable(&state, &mut actions);
        assert!(actions.is_sorted());
        for &action in &actions {
            registry.insert(&apply(&state, action));
        }
        at += 1;
    }
    registry
}

/// The cost of the plan, `None` where there is none.
pub fn cost(problem: &Problem, result: &SearchResult) -> Option<u64> {
    match &result.outcome {
        Outcome::Solved(plan) => Some(plan.validate(problem).expect("plans hold").cost),
        Outcome::Unsolvable => None,
        Outcome::LimitReached(limit) => panic!("there was no limit: {limit:?}"),
    }
}

/// What a heuristic says of one state.
pub fn evaluate(heuristic: &mut dyn Heuristic, state: &[u32]) -> Estimate {
    let mut estimates = Vec::new();
    heuristic.evaluate(States::one(state), &mut estimates);
    estimates[0]
}
