//! Searches that a policy guides, with policies whose every answer is known.

mod common;

use std::sync::Arc;

use common::explorer::Space;
use common::valid_fixtures;
use homing_pddl::{Problem, Source, read_problem};
use homing_planner::search::{
    Limit, Limits, Outcome, Policy, PolicyKey, PolicySearch, SearchKind, SearchOptions,
    SearchResult, Walk, policy_search,
};
use homing_planner::{ActionId, GroundError, PropId, Task, ground};

/// The same probability for all, the same value everywhere.
struct Uniform;

impl Policy for Uniform {
    fn evaluate(
        &mut self,
        _: &[u32],
        _: &[u32],
        actions: &[ActionId],
        probabilities: &mut Vec<f64>,
    ) -> f64 {
        probabilities.clear();
        probabilities.resize(actions.len(), 1.0 / actions.len() as f64);
        0.5
    }

    fn values(&mut self, previous: &[u32], states: &[u32], values: &mut Vec<f64>) {
        values.clear();
        values.resize(states.len() / previous.len().max(1), 0.5);
    }
}

#[test]
fn every_search_with_an_ignorant_policy_solves_every_valid_fixture() {
    let mut plans = 0;
    for (name, problem) in valid_fixtures() {
        let space = Space::explore(&problem, 50_000).expect("a small fixture");
        let optimum = space.perfect()[0];
        let task = match ground(&problem, &mut ()) {
            Ok(task) => task,
            Err(GroundError::Unsolvable { .. }) => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        for search in [
            SearchKind::GbfsH,
            SearchKind::GbfsV,
            SearchKind::GbflsH,
            SearchKind::GbflsV,
        ] {
            for walk in Walk::ALL {
                let options = SearchOptions {
                    walk,
                    ..SearchOptions::default()
                };
                let result = search.run_by_policy(&task, &mut Uniform, &options, &mut ());
                let place = format!("{name}, {search}, {}", walk.name());
                match result.outcome {
                    Outcome::Solved(plan) => {
                        let cost = plan.validate(&problem).expect("it holds").cost;
                        assert!(cost >= optimum.expect("unsolvable"), "{place}");
                        plans += 1;
                    }
                    Outcome::Unsolvable => assert_eq!(optimum, None, "{place}"),
                    Outcome::LimitReached(limit) => panic!("{place}: {limit:?}"),
                }
            }
        }
    }
    assert!(plans >= 80, "{plans} plans");
}

const ROOMS: usize = 6;

/// A corridor of rooms r0 to r5, with the goal in the last one.
fn corridor(start: usize) -> (Arc<Problem>, Task) {
    let domain = "(define (domain corridor) (:predicates (at ?r) (next ?r ?q))
      (:action go :parameters (?r ?q) :precondition (and (at ?r) (next ?r ?q))
        :effect (and (not (at ?r)) (at ?q))))";
    let rooms: Vec<String> = (0..ROOMS).map(|room| format!("r{room}")).collect();
    let doors: Vec<String> = (1..ROOMS)
        .map(|room| format!("(next r{} r{room}) (next r{room} r{})", room - 1, room - 1))
        .collect();
    let problem = format!(
        "(define (problem p) (:domain corridor) (:objects {}) (:init (at r{start}) {})
           (:goal (at r{})))",
        rooms.join(" "),
        doors.join(" "),
        ROOMS - 1
    );
    let source = |text: &str| Source::new("file", text.as_bytes().to_vec());
    let (problem, messages) = read_problem(&source(domain), &source(&problem));
    let problem = Arc::new(problem.unwrap_or_else(|| panic!("{messages}")));
    let task = ground(&problem, &mut ()).expect("it has a plan");
    (problem, task)
}

/// For each room its value and the probability of going on to the next one.
struct ByRoom<'t> {
    task: &'t Task,
    value: [f64; ROOMS],
    onwards: [f64; ROOMS],
    /// Rooms whose value was asked, with the room before.
    asked: Vec<(usize, usize)>,
}

impl<'t> ByRoom<'t> {
    fn new(task: &'t Task, value: [f64; ROOMS], onwards: [f64; ROOMS]) -> Self {
        Self {
            task,
            value,
            onwards,
            asked: Vec::new(),
        }
    }

    fn room(&self, state: &[u32]) -> usize {
        let mut props = self.task.propositions().iter().enumerate();
        let holds = |at: usize| self.task.encoding().holds(PropId::from_index(at), state);
        let (_, prop) = props.find(|(at, _)| holds(*at)).expect("one is");
        prop.atom.arguments[0].index()
    }
}

impl Policy for ByRoom<'_> {
    fn evaluate(
        &mut self,
        previous: &[u32],
        state: &[u32],
        actions: &[ActionId],
        probabilities: &mut Vec<f64>,
    ) -> f64 {
        let room = self.room(state);
        self.asked.push((self.room(previous), room));
        probabilities.clear();
        probabilities.extend(actions.iter().map(|&action| {
            let to = self.task.arguments(action)[1].index();
            match actions.len() {
                1 => 1.0,
                _ if to > room => self.onwards[room],
                _ => 1.0 - self.onwards[room],
            }
        }));
        self.value[room]
    }

    fn values(&mut self, previous: &[u32], states: &[u32], values: &mut Vec<f64>) {
        values.clear();
        for state in states.chunks_exact(previous.len()) {
            let room = self.room(state);
            self.asked.push((self.room(previous), room));
            values.push(self.value[room]);
        }
    }
}

const PLAIN: PolicySearch = PolicySearch {
    key: PolicyKey::Adjusted,
    lookahead: false,
    walk: Walk::Sample,
    as_found: false,
    seed: 0,
};

fn limited(evaluations: u64) -> Limits {
    Limits {
        max_evaluations: Some(evaluations),
        ..Limits::default()
    }
}

fn run(policy: &mut ByRoom<'_>, config: PolicySearch, most: u64) -> SearchResult {
    policy_search(policy.task, policy, config, limited(most), &mut ())
}

fn length(problem: &Problem, result: &SearchResult) -> Option<usize> {
    match &result.outcome {
        Outcome::Solved(plan) => {
            plan.validate(problem).expect("it holds");
            Some(plan.steps.len())
        }
        _ => None,
    }
}

#[test]
fn a_sure_policy_leads_straight_to_the_goal() {
    let (problem, task) = corridor(0);
    let mut policy = ByRoom::new(&task, [0.5; ROOMS], [1.0; ROOMS]);
    let result = run(&mut policy, PLAIN, 1_000);
    assert_eq!(length(&problem, &result), Some(5));
    let counts = result.statistics;
    // Rooms 0 to 4 are expanded; their successors are 1 + 2 * 4, of which the goal is not evaluated,
    // and the initial state is.
    assert_eq!((counts.expansions, counts.generated), (5, 9));
    assert_eq!(counts.evaluations, 9);
    assert_eq!(counts.initial_estimate, Some(-0.5));
    // The policy is told where a state was reached from: first of all, from itself.
    let walked = [(0, 0), (0, 0), (0, 1), (1, 2), (2, 3), (3, 4)];
    // The goal is noticed before the policy is asked about room 4.
    assert_eq!(policy.asked, walked[..5]);
}

#[test]
fn the_adjusted_key_is_value_times_probability_over_entropy() {
    // From room 2, room 1 is behind with 0.6. Its value is so low that what comes after it waits
    // behind room 3, unless values are left out.
    let (_, task) = corridor(2);
    let mut onwards = [1.0; ROOMS];
    onwards[2] = 0.4;
    let value = [0.1, 0.1, 0.8, 0.8, 0.8, 0.8];
    let mut policy = ByRoom::new(&task, value, onwards);
    run(&mut policy, PLAIN, 1_000);
    let rooms: Vec<usize> = policy.asked.iter().map(|&(_, room)| room).collect();
    assert_eq!(rooms, [2, 2, 1, 3]);
    // The same probabilities, told apart by entropy: of the two pairs left, that of room 3 has the
    // key -0.4 * 0.8 / (1 + 0.673), that of room 0 has -0.5 * 0.5 / (1 + 0.693).
    onwards[1] = 0.5;
    let mut policy = ByRoom::new(&task, [0.5, 0.5, 0.8, 0.8, 0.8, 0.8], onwards);
    run(&mut policy, PLAIN, 1_000);
    let rooms: Vec<usize> = policy.asked.iter().map(|&(_, room)| room).collect();
    assert_eq!(rooms, [2, 2, 1, 3]);
    // A little more value there, and it is the other way round: -0.5 * 0.7 / 1.693 is less.
    let mut policy = ByRoom::new(&task, [0.5, 0.7, 0.8, 0.8, 0.8, 0.8], onwards);
    run(&mut policy, PLAIN, 1_000);
    let rooms: Vec<usize> = policy.asked.iter().map(|&(_, room)| room).collect();
    assert_eq!(rooms, [2, 2, 1, 0, 3]);
}

#[test]
fn the_value_of_the_parent_sends_a_search_to_and_fro() {
    let (problem, task) = corridor(0);
    // Two rooms of high value near the start, as a network that has not learnt enough may have.
    let value = [0.9, 0.9, 0.2, 0.3, 0.4, 0.5];
    let by_value = PolicySearch {
        key: PolicyKey::Value,
        ..PLAIN
    };
    let mut policy = ByRoom::new(&task, value, [0.5; ROOMS]);
    let plain = run(&mut policy, by_value, 10_000);
    assert_eq!(length(&problem, &plain), Some(5));
    let found = PolicySearch {
        as_found: true,
        ..by_value
    };
    let result = run(&mut policy, found, 10_000);
    assert_eq!(result.outcome, Outcome::LimitReached(Limit::Evaluations));
    assert_eq!(result.statistics.evaluations, 10_000);
    // It has never been further than one room behind those two.
    assert_eq!(result.statistics.stored, 3);
    // H tells actions apart, and gets through even as found.
    let adjusted = PolicySearch {
        key: PolicyKey::Adjusted,
        ..found
    };
    let mut sure = ByRoom::new(&task, value, [1.0; ROOMS]);
    let result = run(&mut sure, adjusted, 10_000);
    assert_eq!(length(&problem, &result), Some(5));
}

#[test]
fn a_walk_follows_the_policy_and_queues_nothing() {
    let (problem, task) = corridor(0);
    let walking = PolicySearch {
        lookahead: true,
        ..PLAIN
    };
    let mut policy = ByRoom::new(&task, [0.5; ROOMS], [1.0; ROOMS]);
    for key in [PolicyKey::Adjusted, PolicyKey::Value] {
        let result = run(&mut policy, PolicySearch { key, ..walking }, 1_000);
        assert_eq!(length(&problem, &result), Some(5), "{key:?}");
        // One state is expanded from the open list, and one pair waits.
        assert_eq!(
            (result.statistics.stored, result.statistics.peak_open),
            (1, 1)
        );
        assert_eq!(
            (result.statistics.expansions, result.statistics.evaluations),
            (5, 9)
        );
    }
    // As found, only the states gone to are counted on the way.
    let found = PolicySearch {
        as_found: true,
        ..walking
    };
    let result = run(&mut policy, found, 1_000);
    assert_eq!(length(&problem, &result), Some(5));
    assert_eq!(
        (result.statistics.expansions, result.statistics.evaluations),
        (5, 7)
    );
}

#[test]
fn a_walk_by_the_best_key_ends_where_it_would_repeat() {
    let (problem, task) = corridor(1);
    // Back and forth between rooms 1 and 0: the walk is left after it has come round.
    let mut policy = ByRoom::new(&task, [0.9, 0.9, 0.5, 0.5, 0.5, 0.5], [0.4; ROOMS]);
    let best = PolicySearch {
        lookahead: true,
        walk: Walk::Best,
        ..PLAIN
    };
    let result = run(&mut policy, best, 1_000);
    assert!(length(&problem, &result).is_some());
    assert!(result.statistics.expansions < 20, "{:?}", result.statistics);
}

#[test]
fn walks_go_as_deep_as_the_relaxed_plan_allows() {
    // Room 4 is one step from the goal, by the relaxed plan as well: five steps of a walk, the
    // expansion included. All of them go back and forth, and the walk is left.
    let (_, task) = corridor(4);
    let mut onwards = [0.0; ROOMS];
    onwards[3] = 1.0;
    let mut policy = ByRoom::new(&task, [0.5; ROOMS], onwards);
    let walking = PolicySearch {
        lookahead: true,
        ..PLAIN
    };
    let limits = Limits {
        max_expansions: Some(1),
        ..Limits::default()
    };
    let one = policy_search(&task, &mut policy, walking, limits, &mut ());
    // The goal is noticed at once: it is a successor of the first state.
    assert!(matches!(one.outcome, Outcome::Solved(_)));
    // As found it is not, and the walk goes on to depth 300.
    let found = PolicySearch {
        as_found: true,
        ..walking
    };
    policy.asked.clear();
    let limits = limited(290);
    let result = policy_search(&task, &mut policy, found, limits, &mut ());
    assert_eq!(result.outcome, Outcome::LimitReached(Limit::Evaluations));
    assert!(policy.asked.len() > 280, "{}", policy.asked.len());
}

#[test]
fn the_same_seed_draws_the_same_walks() {
    let (_, task) = corridor(0);
    let mut policy = ByRoom::new(&task, [0.5; ROOMS], [0.5; ROOMS]);
    let walking = |seed| PolicySearch {
        lookahead: true,
        seed,
        ..PLAIN
    };
    let first = run(&mut policy, walking(1), 1_000);
    assert_eq!(run(&mut policy, walking(1), 1_000), first);
    let others = (2..12).map(|seed| run(&mut policy, walking(seed), 1_000).statistics.generated);
    assert!(
        others
            .into_iter()
            .any(|other| other != first.statistics.generated)
    );
}
