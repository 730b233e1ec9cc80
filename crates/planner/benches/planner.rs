//! What each part of the planner costs, on three problems made here from a seed: blocks (many
//! actions with several preconditions), logistics (few) and parking (many ground actions).
//!
//! `cargo bench -p homing-planner -- evaluate` runs the heuristics alone. Rates are per state,
//! except for reading and grounding. The open list has no door of its own: `search` measures it
//! together with the successor generator and the registry.

#[path = "../tests/common/random.rs"]
mod random;

use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use homing_pddl::{Problem, Source, read_problem};
use homing_planner::heuristic::{Add, Blind, Ff, Max};
use homing_planner::search::{Limits, astar, dijkstra, gbfs};
use homing_planner::{
    ActionId, Costs, Heuristic, Registry, StateId, SuccessorGenerator, Task, ground,
};

use random::Random;

const BLOCKS: &str = "(define (domain blocks)
  (:predicates (clear ?x) (on-table ?x) (arm-empty) (holding ?x) (on ?x ?y))
  (:action pickup :parameters (?b)
    :precondition (and (clear ?b) (on-table ?b) (arm-empty))
    :effect (and (holding ?b) (not (clear ?b)) (not (on-table ?b)) (not (arm-empty))))
  (:action putdown :parameters (?b)
    :precondition (holding ?b)
    :effect (and (clear ?b) (arm-empty) (on-table ?b) (not (holding ?b))))
  (:action stack :parameters (?b ?under)
    :precondition (and (clear ?under) (holding ?b))
    :effect (and (arm-empty) (clear ?b) (on ?b ?under) (not (clear ?under)) (not (holding ?b))))
  (:action unstack :parameters (?b ?under)
    :precondition (and (on ?b ?under) (clear ?b) (arm-empty))
    :effect (and (holding ?b) (clear ?under)
                 (not (on ?b ?under)) (not (clear ?b)) (not (arm-empty)))))";

const LOGISTICS: &str = "(define (domain logistics)
  (:requirements :strips :typing)
  (:types package vehicle - thing truck airplane - vehicle airport - location city)
  (:predicates (at ?x - thing ?l - location) (in ?p - package ?v - vehicle)
               (in-city ?l - location ?c - city))
  (:action load :parameters (?p - package ?v - vehicle ?l - location)
    :precondition (and (at ?v ?l) (at ?p ?l))
    :effect (and (in ?p ?v) (not (at ?p ?l))))
  (:action unload :parameters (?p - package ?v - vehicle ?l - location)
    :precondition (and (at ?v ?l) (in ?p ?v))
    :effect (and (at ?p ?l) (not (in ?p ?v))))
  (:action drive :parameters (?t - truck ?from ?to - location ?c - city)
    :precondition (and (at ?t ?from) (in-city ?from ?c) (in-city ?to ?c))
    :effect (and (at ?t ?to) (not (at ?t ?from))))
  (:action fly :parameters (?a - airplane ?from ?to - airport)
    :precondition (at ?a ?from)
    :effect (and (at ?a ?to) (not (at ?a ?from)))))";

const PARKING: &str = "(define (domain parking)
  (:requirements :strips :typing)
  (:types car curb)
  (:predicates (first ?c - car) (at ?c - car ?k - curb) (behind ?c ?front - car)
               (car-clear ?c - car) (curb-clear ?k - curb))
  (:action curb-to-curb :parameters (?c - car ?from ?to - curb)
    :precondition (and (car-clear ?c) (curb-clear ?to) (at ?c ?from))
    :effect (and (not (curb-clear ?to)) (curb-clear ?from) (at ?c ?to) (not (at ?c ?from))))
  (:action curb-to-car :parameters (?c - car ?from - curb ?to - car)
    :precondition (and (car-clear ?c) (car-clear ?to) (at ?c ?from) (first ?to))
    :effect (and (not (car-clear ?to)) (curb-clear ?from) (behind ?c ?to) (not (at ?c ?from))
                 (not (first ?c))))
  (:action car-to-curb :parameters (?c ?from - car ?to - curb)
    :precondition (and (car-clear ?c) (curb-clear ?to) (behind ?c ?from))
    :effect (and (not (curb-clear ?to)) (car-clear ?from) (at ?c ?to) (not (behind ?c ?from))
                 (first ?c)))
  (:action car-to-car :parameters (?c ?from ?to - car)
    :precondition (and (car-clear ?c) (car-clear ?to) (behind ?c ?from) (first ?to))
    :effect (and (not (car-clear ?to)) (car-clear ?from) (behind ?c ?to)
                 (not (behind ?c ?from)))))";

/// The text of a problem as it grows.
#[derive(Default)]
struct Draft {
    objects: String,
    init: String,
    goal: String,
}

/// Adds `(words...)` to a list of facts.
macro_rules! fact {
    ($list:expr, $($words:tt)*) => {{
        let _ = writeln!($list, "    ({})", format_args!($($words)*));
    }};
}

impl Draft {
    fn text(&self, domain: &str) -> String {
        let Self {
            objects,
            init,
            goal,
        } = self;
        format!(
            "(define (problem p) (:domain {domain})\n  (:objects{objects})\n  (:init\n{init})\n  (:goal (and\n{goal})))"
        )
    }
}

/// Towers: each block on a free top or on the table, in a random order.
fn towers(count: usize, random: &mut Random) -> (Vec<(usize, Option<usize>)>, Vec<usize>) {
    let (mut places, mut tops) = (Vec::new(), Vec::new());
    for block in random.shuffled(count) {
        let place = random.below(tops.len() + 1);
        if place == tops.len() {
            places.push((block, None));
            tops.push(block);
        } else {
            places.push((block, Some(tops[place])));
            tops[place] = block;
        }
    }
    (places, tops)
}

fn blocks(count: usize, random: &mut Random) -> String {
    let mut draft = Draft::default();
    for block in 0..count {
        let _ = write!(draft.objects, " b{block}");
    }
    let (start, tops) = towers(count, random);
    fact!(draft.init, "arm-empty");
    for (block, under) in start {
        match under {
            Some(under) => fact!(draft.init, "on b{block} b{under}"),
            None => fact!(draft.init, "on-table b{block}"),
        }
    }
    for block in tops {
        fact!(draft.init, "clear b{block}");
    }
    for (block, under) in towers(count, random).0 {
        if let Some(under) = under {
            fact!(draft.goal, "on b{block} b{under}");
        }
    }
    draft.text("blocks")
}

/// So many airplanes, cities, locations a city, and packages.
fn logistics(n: usize, random: &mut Random) -> String {
    let mut draft = Draft::default();
    for city in 0..n {
        let _ = write!(
            draft.objects,
            " c{city} - city t{city} - truck a{city} - airplane p{city} - package l{city}-0 - airport"
        );
        for location in 1..n {
            let _ = write!(draft.objects, " l{city}-{location} - location");
        }
        for location in 0..n {
            fact!(draft.init, "in-city l{city}-{location} c{city}");
        }
        fact!(draft.init, "at t{city} l{city}-{}", random.below(n));
        fact!(draft.init, "at a{city} l{}-0", random.below(n));
        fact!(
            draft.init,
            "at p{city} l{}-{}",
            random.below(n),
            random.below(n)
        );
        fact!(
            draft.goal,
            "at p{city} l{}-{}",
            random.below(n),
            random.below(n)
        );
    }
    draft.text("logistics")
}

/// Pairs of cars at the first curbs; in the goal every curb gets a first car before a second.
fn parking(curbs: usize, cars: usize, random: &mut Random) -> String {
    let mut draft = Draft::default();
    for car in 0..cars {
        let _ = write!(draft.objects, " car{car} - car");
    }
    let order = random.shuffled(cars);
    let mut pairs = order.chunks(2);
    for curb in 0..curbs {
        let _ = write!(draft.objects, " curb{curb} - curb");
        match pairs.next() {
            None => fact!(draft.init, "curb-clear curb{curb}"),
            Some(pair) => {
                fact!(draft.init, "at car{} curb{curb}", pair[0]);
                fact!(draft.init, "first car{}", pair[0]);
                fact!(draft.init, "car-clear car{}", pair[pair.len() - 1]);
                if let [front, behind] = pair {
                    fact!(draft.init, "behind car{behind} car{front}");
                }
            }
        }
    }
    for car in 0..cars {
        if car < curbs {
            fact!(draft.goal, "at car{car} curb{car}");
        } else {
            fact!(draft.goal, "behind car{car} car{}", car - curbs);
        }
    }
    draft.text("parking")
}

/// A problem to measure on.
struct Case {
    name: &'static str,
    domain: Arc<Source>,
    text: Arc<Source>,
    problem: Arc<Problem>,
}

impl Case {
    fn new(name: &'static str, domain: &str, text: String) -> Self {
        let domain = Source::new("domain.pddl", domain.as_bytes().to_vec());
        let text = Source::new("problem.pddl", text.into_bytes());
        let (problem, messages) = read_problem(&domain, &text);
        let problem = Arc::new(problem.unwrap_or_else(|| panic!("{messages}")));
        Self {
            name,
            domain,
            text,
            problem,
        }
    }

    fn all() -> Vec<Self> {
        let random = &mut Random(1);
        vec![
            Self::new("blocks-30", BLOCKS, blocks(30, random)),
            Self::new("logistics-6", LOGISTICS, logistics(6, random)),
            Self::new("parking-15x20", PARKING, parking(15, 20, random)),
        ]
    }

    fn task(&self) -> Task {
        ground(&self.problem, &mut ()).expect("it is solvable")
    }
}

/// The states of a random walk, one behind the other; from a deadlock it begins anew.
fn walk(task: &Task, steps: usize) -> Vec<Vec<u32>> {
    let random = &mut Random(2);
    let generator = SuccessorGenerator::new(task);
    let mut state = task.initial_state();
    let mut actions: Vec<ActionId> = Vec::new();
    let mut states = Vec::with_capacity(steps);
    for _ in 0..steps {
        generator.applicable(&state, &mut actions);
        if actions.is_empty() {
            state = task.initial_state();
        } else {
            task.apply(actions[random.below(actions.len())], &mut state);
        }
        states.push(state.clone());
    }
    states
}

fn read_and_ground(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    for case in Case::all() {
        group.bench_function(case.name, |b| {
            b.iter(|| black_box(read_problem(&case.domain, &case.text)));
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group("ground");
    for case in Case::all() {
        group.throughput(Throughput::Elements(case.task().action_count() as u64));
        group.bench_function(case.name, |b| b.iter(|| black_box(case.task())));
    }
    group.finish();
}

fn successors(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("successors");
    for case in Case::all() {
        let task = case.task();
        let generator = SuccessorGenerator::new(&task);
        let states = walk(&task, 1_000);
        let mut actions = Vec::new();
        let mut child = task.initial_state();
        let mut generated = 0;
        for state in &states {
            generator.applicable(state, &mut actions);
            generated += actions.len();
        }
        group.throughput(Throughput::Elements(generated as u64));
        group.bench_function(case.name, |b| {
            b.iter(|| {
                for state in &states {
                    generator.applicable(state, &mut actions);
                    for &action in &actions {
                        child.copy_from_slice(state);
                        task.apply(action, &mut child);
                        black_box(&child);
                    }
                }
            });
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group("successor generator, built");
    for case in Case::all() {
        let task = case.task();
        group.bench_function(case.name, |b| {
            b.iter(|| black_box(SuccessorGenerator::new(&task)));
        });
    }
    group.finish();
}

fn heuristics(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("evaluate");
    for case in Case::all() {
        let task = case.task();
        let mut registry = Registry::new(task.encoding().words());
        for state in walk(&task, 200) {
            registry.insert(&state);
        }
        let batch = registry.range(StateId(0), registry.next_id());
        group.throughput(Throughput::Elements(batch.len() as u64));
        let mut measured: [Box<dyn Heuristic + '_>; 4] = [
            Box::new(Blind::new(&task)),
            Box::new(Max::new(&task, Costs::Task)),
            Box::new(Add::new(&task, Costs::Task)),
            Box::new(Ff::new(&task, Costs::Task)),
        ];
        for heuristic in &mut measured {
            let id = BenchmarkId::new(heuristic.name(), case.name);
            let mut estimates = Vec::new();
            group.bench_function(id, |b| {
                b.iter(|| {
                    estimates.clear();
                    heuristic.evaluate(batch, &mut estimates);
                    black_box(&estimates);
                });
            });
        }
    }
    group.finish();
}

fn registry(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("registry");
    for case in Case::all() {
        let task = case.task();
        let states = walk(&task, 100_000);
        let words = task.encoding().words();
        group.throughput(Throughput::Elements(states.len() as u64));
        group.bench_function(BenchmarkId::new("insert", case.name), |b| {
            b.iter_batched_ref(
                || Registry::new(words),
                |registry| {
                    for state in &states {
                        black_box(registry.insert(state));
                    }
                },
                BatchSize::PerIteration,
            );
        });
        let mut full = Registry::new(words);
        for state in &states {
            full.insert(state);
        }
        group.bench_function(BenchmarkId::new("look up", case.name), |b| {
            b.iter(|| {
                for state in &states {
                    black_box(full.insert(state));
                }
            });
        });
    }
    group.finish();
}

/// Whole searches, where generating, storing and queueing meet; per expansion.
fn search(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("search");
    const EXPANSIONS: u64 = 20_000;
    let limits = Limits {
        max_expansions: Some(EXPANSIONS),
        ..Limits::default()
    };
    group.throughput(Throughput::Elements(EXPANSIONS));
    for case in Case::all() {
        let task = case.task();
        group.bench_function(BenchmarkId::new("dijkstra", case.name), |b| {
            b.iter(|| black_box(dijkstra(&task, Costs::Unit, limits, &mut ())));
        });
        group.bench_function(BenchmarkId::new("astar blind", case.name), |b| {
            b.iter(|| {
                let mut blind = Blind::new(&task);
                black_box(astar(&task, &mut blind, Costs::Unit, limits, &mut ()))
            });
        });
        group.bench_function(BenchmarkId::new("gbfs blind", case.name), |b| {
            b.iter(|| black_box(gbfs(&task, &mut Blind::new(&task), limits, &mut ())));
        });
    }
    group.finish();
}

/// A noisy machine gains nothing from the default of a hundred samples over five seconds.
fn short() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
}

criterion_group! {
    name = benches;
    config = short();
    targets = read_and_ground, successors, heuristics, registry, search
}
criterion_main!(benches);
