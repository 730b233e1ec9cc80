//! Plans made shorter, and better and better plans: never worse, always plans, optimal in the end.

mod common;

use common::{PlainSpace, Random, load, parse_texts, random_problem, root};
use homing_pddl::Problem;
use homing_planner::improve::{eliminate, improve};
use homing_planner::search::{Limits, Outcome, dijkstra};
use homing_planner::{
    ActionId, AnytimeConfig, AnytimeEnd, Costs, Plan, Progress, Stop, SuccessorGenerator, Task,
    Watch, anytime, ground,
};

/// Spaces larger than this are left out.
const LARGEST: usize = 2_000;
const SEEDS: u64 = 700;

/// A plan found by walking at random, past the first goals: usually much too long.
fn stroll(task: &Task, seed: u64) -> Option<Vec<ActionId>> {
    let generator = SuccessorGenerator::new(task);
    let mut random = Random(seed);
    let mut state = task.initial_state();
    let (mut applicable, mut actions) = (Vec::new(), Vec::new());
    while actions.len() < 25 || !task.is_goal(&state) {
        generator.applicable(&state, &mut applicable);
        if applicable.is_empty() || actions.len() == 3_000 {
            return None;
        }
        let action = applicable[random.below(applicable.len())];
        task.apply(action, &mut state);
        actions.push(action);
    }
    Some(actions)
}

fn validated(task: &Task, problem: &Problem, actions: &[ActionId]) -> u64 {
    let plan = Plan::from_actions(task, actions);
    plan.validate(problem).expect("it is a plan").cost
}

/// Small solvable tasks with a wasteful plan and the least cost.
fn strolls(mut check: impl FnMut(u64, &Problem, &Task, &[ActionId], u64)) {
    let mut checked = 0;
    for seed in 0..SEEDS {
        let problem = random_problem(seed);
        let Some(space) = PlainSpace::explore(&problem, LARGEST) else {
            continue;
        };
        let (Some(optimum), Ok(task)) = (space.perfect()[0], ground(&problem, &mut ())) else {
            continue;
        };
        if let Some(actions) = stroll(&task, seed) {
            check(seed, &problem, &task, &actions, optimum);
            checked += 1;
        }
    }
    let folder = root().join("examples/warehouse");
    for path in common::problem_files(&folder.join("small")) {
        let problem = load(&folder.join("domain.pddl"), &path);
        let task = ground(&problem, &mut ()).expect("it can be solved");
        let found = dijkstra(&task, Costs::Task, Limits::default(), &mut ());
        let Outcome::Solved(best) = found.outcome else {
            panic!("it can be solved");
        };
        if let Some(actions) = stroll(&task, 1) {
            let optimum = best.validate(&problem).expect("it is a plan").cost;
            check(SEEDS, &problem, &task, &actions, optimum);
            checked += 1;
        }
    }
    assert!(checked >= 100, "{checked} tasks");
}

#[test]
fn shorter_plans_are_plans_and_cost_no_more() {
    let (mut eliminated, mut shortened, mut optimal, mut all) = (0, 0, 0, 0);
    strolls(|seed, problem, task, actions, optimum| {
        let before = validated(task, problem, actions);
        let left = eliminate(task, actions, Costs::Task, u64::MAX, &mut ());
        let between = validated(task, problem, &left.actions);
        assert!(between <= before, "seed {seed}");
        // Nothing that is left can go.
        let again = eliminate(task, &left.actions, Costs::Task, u64::MAX, &mut ());
        assert_eq!(again.actions, left.actions, "seed {seed}");

        let improved = improve(task, actions, Costs::Task, 20_000_000, &mut ());
        let after = validated(task, problem, &improved.actions);
        assert_eq!(after, improved.cost, "seed {seed}");
        assert!((optimum..=between).contains(&after), "seed {seed}");
        let again = improve(task, actions, Costs::Task, 20_000_000, &mut ());
        assert_eq!(again, improved, "seed {seed}: the same every time");

        eliminated += usize::from(between < before);
        shortened += usize::from(after < between);
        optimal += usize::from(after == optimum);
        all += 1;
    });
    println!("{all}: {eliminated} by elimination, {shortened} by windows, {optimal} optimal");
    assert!(eliminated > all / 2 && shortened >= 5 && optimal > all * 3 / 4);
}

#[test]
fn little_work_leaves_a_plan() {
    strolls(|seed, problem, task, actions, _| {
        for work in [0, 1, 1_000, 100_000] {
            let improved = improve(task, actions, Costs::Task, work, &mut ());
            let (before, after) = (actions, &improved.actions);
            let [before, after] = [before, after].map(|plan| validated(task, problem, plan));
            assert!(after <= before, "seed {seed}, work {work}");
        }
    });
}

#[test]
fn anytime_ends_with_an_optimal_plan() {
    for improve in [true, false] {
        strolls(|seed, problem, task, actions, optimum| {
            let config = AnytimeConfig {
                improve,
                ..AnytimeConfig::default()
            };
            let mut last = validated(task, problem, actions);
            let found = anytime(task, actions, &config, &mut (), &mut |better, cost| {
                assert_eq!(validated(task, problem, better), cost, "seed {seed}");
                assert!(
                    cost < last,
                    "seed {seed}: every plan is better than the last"
                );
                last = cost;
            });
            assert_eq!(found.end, AnytimeEnd::Optimal, "seed {seed}");
            assert_eq!((found.cost, last), (optimum, optimum), "seed {seed}");
            assert_eq!(validated(task, problem, &found.actions), optimum);
        });
    }
}

#[test]
fn without_costs_every_action_counts() {
    strolls(|seed, _, task, actions, _| {
        let config = AnytimeConfig {
            costs: Costs::Unit,
            ..AnytimeConfig::default()
        };
        let found = anytime(task, actions, &config, &mut (), &mut |_, _| {});
        assert_eq!(found.cost, found.actions.len() as u64, "seed {seed}");
        assert!(found.actions.len() <= actions.len(), "seed {seed}");
    });
}

/// Says stop after so many looks.
struct Patience(u64);

impl Watch for Patience {
    fn poll(&mut self, _: Progress) -> Option<Stop> {
        self.0 = self.0.saturating_sub(1);
        (self.0 == 0).then_some(Stop::Time)
    }
}

#[test]
fn whoever_looks_on_can_end_it_with_the_best_so_far() {
    let folder = root().join("examples/warehouse");
    let problems = common::problem_files(&folder.join("small"));
    let problem = load(&folder.join("domain.pddl"), &problems[0]);
    let task = ground(&problem, &mut ()).expect("it can be solved");
    let actions = (0..).find_map(|seed| stroll(&task, seed)).expect("a plan");
    let before = validated(&task, &problem, &actions);
    let config = AnytimeConfig {
        max_work: Some(3_000_000_000),
        ..AnytimeConfig::default()
    };
    let mut costs = Vec::new();
    for patience in [1, 5, 50, 500] {
        let watch = &mut Patience(patience);
        let found = anytime(&task, &actions, &config, watch, &mut |_, _| {});
        assert_eq!(validated(&task, &problem, &found.actions), found.cost);
        costs.push(found.cost);
        if patience == 1 {
            assert_eq!(found.end, AnytimeEnd::Stopped(Stop::Time));
        }
    }
    assert!(
        costs[0] <= before && costs.is_sorted_by(|a, b| a >= b),
        "{costs:?}"
    );
    assert!(costs[3] < before, "{costs:?}");
}

/// Two carriers take turns in the plan, and each takes a detour: no window of the plan as it stands
/// holds a detour alone, but the actions of one carrier can be brought together.
#[test]
fn what_is_apart_in_the_plan_is_brought_together() {
    let domain = "(define (domain d) (:requirements :strips :typing) (:types carrier place)
        (:predicates (at ?c - carrier ?p - place) (road ?p ?q - place))
        (:action go :parameters (?c - carrier ?p ?q - place)
         :precondition (and (at ?c ?p) (road ?p ?q)) :effect (and (at ?c ?q) (not (at ?c ?p)))))";
    let places: Vec<String> = (0..24).map(|index| format!("p{index}")).collect();
    let carriers = ["a", "b", "c", "d", "e", "f"];
    let mut init = String::new();
    for pair in places.windows(2) {
        init += &format!("(road {} {})", pair[0], pair[1]);
    }
    // Twelve steps from the first place to the last, in place of twenty-three.
    for index in (0..22).step_by(2) {
        init += &format!("(road p{index} p{})", index + 2);
    }
    let mut goal = String::new();
    for carrier in carriers {
        init += &format!("(at {carrier} p0)");
        goal += &format!("(at {carrier} p23)");
    }
    let problem = format!(
        "(define (problem p) (:domain d) (:objects {} - carrier {} - place) (:init {init}) (:goal (and {goal})))",
        carriers.join(" "),
        places.join(" ")
    );
    let problem = parse_texts(domain, &problem);
    let task = ground(&problem, &mut ()).expect("it can be solved");
    let mut text = String::new();
    for step in 0..23 {
        for carrier in carriers {
            text += &format!("(go {carrier} p{step} p{})\n", step + 1);
        }
    }
    let plan = Plan::parse(&text).expect("a plan");
    let actions = plan.to_actions(&task).expect("its actions are there");
    assert_eq!(Plan::from_actions(&task, &actions), plan);
    let improved = improve(&task, &actions, Costs::Task, 2_000_000_000, &mut ());
    assert_eq!(improved.cost, 6 * 12, "{:?}", improved.statistics);
}

#[test]
fn a_plan_that_is_none_has_no_actions() {
    let folder = root().join("examples/warehouse");
    let problems = common::problem_files(&folder.join("small"));
    let problem = load(&folder.join("domain.pddl"), &problems[0]);
    let task = ground(&problem, &mut ()).expect("it can be solved");
    let actions = (0..).find_map(|seed| stroll(&task, seed)).expect("a plan");
    let plan = Plan::from_actions(&task, &actions);
    assert_eq!(plan.to_actions(&task).as_deref(), Some(&*actions));
    let mut backwards = plan.clone();
    backwards.steps.reverse();
    assert_eq!(backwards.to_actions(&task), None);
    let mut unknown = plan;
    unknown.steps[0].name = "teleport".to_owned();
    assert_eq!(unknown.to_actions(&task), None);
}
