//! Cuts: small problems out of large ones, the same for a seed, with a plan each.

mod common;

use std::fmt::Write as _;
use std::sync::Arc;

use common::{fixture, fixtures, load, parse_texts, problem_files, root, shared, task, text};
use homing_learner::{Cut, CutConfig, CutReport, Cutter};
use homing_planner::{
    ActionId, Plan, PlanStep, Progress, Stop, SuccessorGenerator, Task, Watch, ground,
};

fn cuts_of(task: &Task, config: &CutConfig, seed: u64) -> CutReport {
    Cutter::new(task, config.clone(), seed).cut(&mut ())
}

/// Few cuts and little work: enough to see every part at work.
fn quick() -> CutConfig {
    CutConfig {
        cuts: 30,
        tries: 300,
        states: 300_000,
        ..CutConfig::default()
    }
}

/// A tower of so many blocks, to be turned over.
fn tower(blocks: usize) -> Task {
    let mut init = String::from("(arm-empty) (clear b0)");
    let mut goal = String::new();
    let mut names = String::new();
    for block in 0..blocks {
        write!(names, " b{block}").expect("text grows");
        if block + 1 < blocks {
            write!(init, " (on b{block} b{})", block + 1).expect("text grows");
            write!(goal, " (on b{} b{block})", block + 1).expect("text grows");
        } else {
            write!(init, " (on-table b{block})").expect("text grows");
        }
    }
    let problem = format!(
        "(define (problem tower) (:domain blocks) (:objects{names}) (:init {init}) (:goal (and{goal})))"
    );
    let domain = text(&root().join("fixtures/valid/blocks/domain.pddl"));
    task(&parse_texts(&domain, &problem)).expect("a plan")
}

/// A plan along least distances, by names.
fn shortest_plan(cut: &Cut) -> Plan {
    let task = &cut.task;
    let generator = SuccessorGenerator::new(task);
    let mut actions: Vec<ActionId> = Vec::new();
    let mut steps = Vec::new();
    let mut at = 0u32;
    while let Some(distance) = cut.space.distance(at).filter(|d| d.steps > 0) {
        generator.applicable(cut.space.state(at), &mut actions);
        let children = cut.space.successors(at);
        assert_eq!(children.len(), actions.len());
        let next = (0..children.len())
            .find(|&child| {
                let far = cut.space.distance(children[child]);
                far.is_some_and(|d| d.steps + 1 == distance.steps)
            })
            .expect("a step along a shortest plan");
        let objects = task.arguments(actions[next]);
        steps.push(PlanStep {
            name: cut.problem.domain.actions[task.schema(actions[next]).index()]
                .name
                .clone(),
            arguments: objects
                .iter()
                .map(|o| cut.problem.objects[o.index()].name.clone())
                .collect(),
        });
        at = children[next];
    }
    Plan { steps }
}

#[test]
fn a_seed_gives_the_same_cuts_and_another_seed_others() {
    let task = tower(12);
    let texts = |seed| {
        let report = cuts_of(&task, &quick(), seed);
        let texts: Vec<String> = report.cuts.iter().map(Cut::to_pddl).collect();
        (texts, report.statistics)
    };
    let (first, counts) = texts(1);
    assert!(first.len() >= 10, "{counts}");
    assert_eq!((first.clone(), counts), texts(1));
    assert_ne!(first, texts(2).0);
}

#[test]
fn cuts_one_at_a_time_are_the_cuts_of_a_report() {
    let task = tower(9);
    let all = cuts_of(&task, &quick(), 5);
    let mut cutter = Cutter::new(&task, quick(), 5);
    let mut number = 0;
    while let Some(cut) = cutter.next_cut(&mut ()).expect("nothing stops it") {
        assert_eq!(cut.problem, all.cuts[number].problem);
        number += 1;
    }
    assert_eq!(number, all.cuts.len());
    assert_eq!(cutter.statistics(), &all.statistics);
}

#[test]
fn every_cut_is_small_and_has_a_plan_that_validates() {
    let mut met = 0;
    for (name, task) in fixtures() {
        let config = quick();
        for cut in cuts_of(&task, &config, 1).cuts {
            assert!(cut.space.is_solvable(), "{name}");
            assert!(cut.space.len() <= config.space_if_few, "{name}");
            assert!(cut.problem.objects.len() <= task.problem().objects.len());
            assert_eq!(cut.problem.domain, task.problem().domain);
            let plan = shortest_plan(&cut);
            plan.validate(&cut.problem)
                .unwrap_or_else(|e| panic!("{name}: {e}\n{}", cut.to_pddl()));
            met += 1;
        }
    }
    assert!(met >= 100, "{met} cuts");
}

#[test]
fn a_printed_cut_is_read_back_as_the_same_problem_and_task() {
    let mut met = 0;
    for (name, task) in fixtures() {
        let domain = task.problem().domain.to_string();
        for cut in cuts_of(&task, &quick(), 2).cuts {
            let again = parse_texts(&domain, &cut.to_pddl());
            assert_eq!(*again, *cut.problem, "{name}");
            let grounded = ground(&again, &mut ()).expect("it was grounded before");
            assert_eq!(grounded.propositions(), cut.task.propositions());
            assert_eq!(grounded.init(), cut.task.init());
            assert_eq!(grounded.goal(), cut.task.goal());
            assert_eq!(grounded.action_count(), cut.task.action_count());
            for action in grounded.actions() {
                assert_eq!(grounded.pre(action), cut.task.pre(action));
                assert_eq!(grounded.cost(action), cut.task.cost(action));
            }
            met += 1;
        }
    }
    assert!(met >= 100, "{met} cuts");
}

#[test]
fn blocks_are_in_one_place_and_below_one_block_after_repair() {
    let task = tower(14);
    let domain = &task.problem().domain;
    let predicate = |name: &str| domain.predicate(name).expect("a predicate of blocks");
    let (on, on_table) = (predicate("on"), predicate("on-table"));
    let (holding, clear) = (predicate("holding"), predicate("clear"));
    let report = cuts_of(&task, &quick(), 1);
    assert!(report.cuts.len() >= 10, "{}", report.statistics);
    // Some cut must have needed repair: blocks that lay on a block lie on the table now.
    let mut repaired = 0;
    for cut in &report.cuts {
        let init = &cut.problem.init;
        for block in 0..cut.problem.objects.len() {
            let count = |wanted, position: usize| {
                let here = |atom: &&homing_pddl::model::Atom<_>| {
                    let object: &homing_pddl::model::ObjectId = &atom.arguments[position];
                    atom.predicate == wanted && object.index() == block
                };
                init.iter()
                    .filter(|atom| atom.arguments.len() > position)
                    .filter(here)
                    .count()
            };
            assert_eq!(count(on, 0) + count(on_table, 0) + count(holding, 0), 1);
            assert_eq!(count(on, 1) + count(clear, 0) + count(holding, 0), 1);
            let name = &cut.problem.objects[block].name;
            repaired += usize::from(count(on_table, 0) == 1 && name != "b13");
        }
    }
    assert!(repaired > 0);
}

#[test]
fn without_repair_blocks_hang_in_the_air() {
    let config = CutConfig {
        repair: false,
        ..quick()
    };
    let task = tower(14);
    let domain = &task.problem().domain;
    let places: Vec<_> = ["on", "on-table", "holding"]
        .iter()
        .map(|name| domain.predicate(name).expect("a predicate of blocks"))
        .collect();
    let lost = |cut: &Cut| {
        let placed = cut.problem.init.iter();
        let placed = placed
            .filter(|atom| places.contains(&atom.predicate))
            .count();
        placed < cut.problem.objects.len()
    };
    assert!(cuts_of(&task, &config, 1).cuts.iter().any(lost));
}

#[test]
fn no_two_cuts_differ_in_names_only() {
    // All balls are alike: a few dozen cuts is all there is, however long it tries.
    let report = cuts_of(&fixture("gripper")[0], &CutConfig::default(), 1);
    let mut texts: Vec<String> = report.cuts.iter().map(Cut::to_pddl).collect();
    let number = texts.len();
    // Names of problems are numbered.
    for text in &mut texts {
        *text = text.lines().skip(1).collect();
    }
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), number);
    assert!(
        report.statistics.duplicates > number,
        "{}",
        report.statistics
    );
}

#[test]
fn bounds_hold() {
    let task = tower(20);
    let config = CutConfig {
        states: 5_000,
        space: (100, 1_000),
        space_if_few: 1_000,
        ..CutConfig::default()
    };
    let report = cuts_of(&task, &config, 1);
    assert!(report.statistics.states <= 6_001, "{}", report.statistics);
    assert!(report.cuts.iter().all(|cut| cut.space.len() <= 1_000));
    let config = CutConfig {
        tries: 7,
        ..CutConfig::default()
    };
    assert!(cuts_of(&task, &config, 1).statistics.tries <= 7);
    let config = CutConfig {
        cuts: 3,
        ..CutConfig::default()
    };
    assert_eq!(cuts_of(&task, &config, 1).cuts.len(), 3);
    let config = CutConfig {
        exploration_work: 0,
        trail_work: 0,
        ..quick()
    };
    let report = cuts_of(&task, &config, 1);
    assert_eq!(
        (report.statistics.explorations, report.statistics.trails),
        (1, 0)
    );
    assert!(!report.cuts.is_empty());
}

#[test]
fn nothing_asked_for_is_nothing_done() {
    let config = CutConfig {
        cuts: 0,
        explorations: 0,
        goals: 0,
        space: (0, 0),
        attempts: 0,
        ..CutConfig::default()
    };
    for (name, task) in fixtures() {
        assert!(cuts_of(&task, &config, 1).cuts.is_empty(), "{name}");
    }
}

/// Says stop after so many looks.
struct Impatient(usize);

impl Watch for Impatient {
    fn poll(&mut self, progress: Progress) -> Option<Stop> {
        assert!(matches!(progress, Progress::Cutting { .. }));
        self.0 = self.0.checked_sub(1)?;
        (self.0 == 0).then_some(Stop::Time)
    }
}

#[test]
fn a_watch_ends_it_and_what_was_found_stays() {
    let task = tower(12);
    let whole = cuts_of(&task, &quick(), 1);
    let part = Cutter::new(&task, quick(), 1).cut(&mut Impatient(80));
    assert_eq!(part.stopped, Some(Stop::Time));
    assert!(part.cuts.len() < whole.cuts.len());
    for (a, b) in part.cuts.iter().zip(&whole.cuts) {
        assert_eq!(a.problem, b.problem);
    }
}

const SWITCHES: &str = "(define (domain switches)
  (:requirements :typing :negative-preconditions)
  (:types switch)
  (:constants main - switch)
  (:predicates (on ?s - switch) (dark) (wired ?a ?b - switch))
  (:action press :parameters (?s - switch) :precondition (not (on ?s))
    :effect (and (on ?s) (not (dark))))
  (:action release :parameters (?s - switch) :precondition (on ?s) :effect (not (on ?s)))
  (:action night :parameters () :precondition (not (on main)) :effect (dark)))";

#[test]
fn odd_goals_are_no_trouble() {
    let problems = [
        ("no goal", "", "(and)"),
        ("a goal that holds", "(dark)", "(dark)"),
        ("a goal without arguments", "", "(dark)"),
        (
            "a negative goal",
            "(on a) (on main)",
            "(and (not (on a)) (not (on main)))",
        ),
        ("a goal over a constant", "", "(on main)"),
        (
            "a goal that always holds",
            "(wired a b)",
            "(and (wired a b) (on a))",
        ),
        (
            "goals of all kinds",
            "(on b)",
            "(and (on a) (not (on b)) (dark))",
        ),
        ("an equality", "", "(and (on a) (not (on b)))"),
    ];
    for (name, init, goal) in problems {
        for objects in ["a b - switch", "a b c d e f g - switch"] {
            let problem = format!(
                "(define (problem p) (:domain switches) (:objects {objects}) (:init {init}) (:goal {goal}))"
            );
            let task = task(&parse_texts(SWITCHES, &problem)).expect("a plan");
            for seed in 0..4 {
                let report = cuts_of(&task, &quick(), seed);
                for cut in &report.cuts {
                    shortest_plan(cut)
                        .validate(&cut.problem)
                        .unwrap_or_else(|e| panic!("{name}: {e}"));
                }
                if name == "no goal" {
                    assert!(report.cuts.is_empty());
                } else if name != "a goal that holds" {
                    assert!(!report.cuts.is_empty(), "{name}: {}", report.statistics);
                }
            }
        }
    }
}

#[test]
fn a_problem_without_objects_is_cut_into_itself() {
    let problem = "(define (problem p) (:domain switches) (:init) (:goal (dark)))";
    let task = task(&parse_texts(SWITCHES, problem)).expect("a plan");
    let report = cuts_of(&task, &quick(), 1);
    assert_eq!(report.cuts.len(), 1);
    assert_eq!(report.cuts[0].problem.init, task.problem().init);
    assert_eq!(report.cuts[0].problem.goal, task.problem().goal);
}

#[test]
fn costs_come_along() {
    let tasks = fixture("delivery");
    let task = tasks
        .iter()
        .find(|task| task.problem().minimize_cost && !task.problem().values.is_empty())
        .expect("a fixture with costs that depend on objects");
    let report = cuts_of(task, &quick(), 1);
    assert!(!report.cuts.is_empty());
    assert_eq!(report.statistics.not_grounded, 0);
    for cut in &report.cuts {
        assert!(cut.problem.minimize_cost);
        for value in &cut.problem.values {
            let name = |o: &homing_pddl::model::ObjectId| &cut.problem.objects[o.index()].name;
            let names: Vec<&String> = value.arguments.iter().map(name).collect();
            let all = &task.problem().objects;
            assert!(task.problem().values.iter().any(|whole| {
                let same = whole.arguments.iter().map(|o| &all[o.index()].name);
                whole.function == value.function
                    && whole.value == value.value
                    && same.eq(names.iter().copied())
            }));
        }
    }
}

#[test]
fn a_resource_that_is_used_up_is_scarce_in_some_cuts() {
    // One match a lamp: with as many matches as lamps nothing may be wasted.
    let domain = "(define (domain matches)
      (:types lamp match)
      (:predicates (lit ?l - lamp) (fresh ?m - match))
      (:action light :parameters (?l - lamp ?m - match) :precondition (fresh ?m)
        :effect (and (lit ?l) (not (fresh ?m))))
      (:action waste :parameters (?m - match) :precondition (fresh ?m)
        :effect (not (fresh ?m))))";
    let mut names = String::new();
    let (mut init, mut goal) = (String::new(), String::new());
    for number in 0..9 {
        write!(names, " l{number} - lamp m{number} - match").expect("text grows");
        write!(init, " (fresh m{number})").expect("text grows");
        write!(goal, " (lit l{number})").expect("text grows");
    }
    let problem = format!(
        "(define (problem p) (:domain matches) (:objects{names}) (:init{init}) (:goal (and{goal})))"
    );
    let task = task(&parse_texts(domain, &problem)).expect("a plan");
    let report = cuts_of(&task, &quick(), 1);
    let scarce = |cut: &&Cut| {
        cut.problem.goal.literals.len() > 1
            && cut.problem.goal.literals.len() == cut.problem.init.len()
    };
    assert!(report.cuts.iter().filter(scarce).count() > 0);
}

#[test]
fn a_way_through_a_map_stays_whole() {
    // Thirty places in a row and one cart: cuts must be connected to have a plan at all.
    let domain = "(define (domain row)
      (:types place thing)
      (:predicates (next ?a ?b - place) (cart ?p - place) (at ?t - thing ?p - place) (in ?t - thing))
      (:action go :parameters (?a ?b - place) :precondition (and (next ?a ?b) (cart ?a))
        :effect (and (cart ?b) (not (cart ?a))))
      (:action take :parameters (?t - thing ?p - place) :precondition (and (cart ?p) (at ?t ?p))
        :effect (and (in ?t) (not (at ?t ?p))))
      (:action put :parameters (?t - thing ?p - place) :precondition (and (cart ?p) (in ?t))
        :effect (and (at ?t ?p) (not (in ?t)))))";
    let mut names = String::from(" a b c d e f - thing");
    let mut init = String::from(" (cart p0)");
    let mut goal = String::new();
    for number in 0..30 {
        write!(names, " p{number} - place").expect("text grows");
        if number > 0 {
            let before = number - 1;
            write!(
                init,
                " (next p{before} p{number}) (next p{number} p{before})"
            )
            .expect("text");
        }
    }
    for (number, thing) in ["a", "b", "c", "d", "e", "f"].iter().enumerate() {
        write!(init, " (at {thing} p{})", 4 * number + 3).expect("text grows");
        write!(goal, " (at {thing} p{})", 29 - 3 * number).expect("text grows");
    }
    let problem = format!(
        "(define (problem p) (:domain row) (:objects{names}) (:init{init}) (:goal (and{goal})))"
    );
    let task = task(&parse_texts(domain, &problem)).expect("a plan");
    let config = CutConfig {
        space: (100, 400),
        space_if_few: 400,
        ..quick()
    };
    let report = cuts_of(&task, &config, 1);
    assert!(report.cuts.len() >= 10, "{}", report.statistics);
    let far = |cut: &&Cut| cut.space.distance(0).is_some_and(|d| d.steps >= 6);
    assert!(report.cuts.iter().filter(far).count() >= 3);
}

#[test]
fn conditional_effects_and_goals_for_all_are_cut() {
    let domain = "(define (domain lift)
      (:requirements :adl)
      (:types person floor)
      (:predicates (from ?p - person ?f - floor) (to ?p - person ?f - floor) (at ?f - floor)
        (boarded ?p - person) (served ?p - person))
      (:action go :parameters (?a ?b - floor) :precondition (and (at ?a) (not (= ?a ?b)))
        :effect (and (at ?b) (not (at ?a))))
      (:action stop :parameters (?f - floor) :precondition (at ?f)
        :effect (and
          (forall (?p - person) (when (and (boarded ?p) (to ?p ?f)) (and (served ?p) (not (boarded ?p)))))
          (forall (?p - person) (when (and (from ?p ?f) (not (served ?p))) (boarded ?p))))))";
    let (mut names, mut init) = (String::new(), String::from(" (at f0)"));
    for number in 0..9 {
        write!(names, " p{number} - person f{number} - floor").expect("text grows");
        let (from, to) = (number, (number + 4) % 9);
        write!(init, " (from p{number} f{from}) (to p{number} f{to})").expect("text grows");
    }
    let problem = format!(
        "(define (problem p) (:domain lift) (:objects{names}) (:init{init})
           (:goal (forall (?p - person) (served ?p))))"
    );
    let task = task(&parse_texts(domain, &problem)).expect("a plan");
    let report = cuts_of(&task, &quick(), 1);
    assert!(report.cuts.len() >= 20, "{}", report.statistics);
    for cut in &report.cuts {
        shortest_plan(cut)
            .validate(&cut.problem)
            .unwrap_or_else(|e| panic!("{e}\n{}", cut.to_pddl()));
    }
    let several = |cut: &&Cut| cut.problem.goal.literals.len() > 1;
    assert!(report.cuts.iter().filter(several).count() > 0);
}

#[test]
fn a_training_set_is_the_same_with_and_without_spaces_kept() {
    let task = tower(9);
    let kept = cuts_of(&task, &quick(), 4).into_training_set(20, 7);
    let dropped = Cutter::new(&task, quick(), 4).training_set(20, 7, &mut ());
    assert_eq!(kept.problems.len(), dropped.set.problems.len());
    assert_eq!(dropped.statistics.cuts, kept.problems.len());
    for (a, b) in kept.problems.iter().zip(&dropped.set.problems) {
        assert_eq!(a.samples, b.samples);
    }
}

#[test]
fn problems_of_the_field_are_cut() {
    for folder in ["benchmarks", "benchmarks-adl", "learning-track"] {
        let Some(folder) = shared(folder) else {
            return;
        };
        let mut domains: Vec<_> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        domains.sort();
        for domain in domains {
            let files = problem_files(&domain);
            let Some(file) = files.get(files.len() / 4) else {
                continue;
            };
            // Some folders have a domain for each problem.
            let mut own = "domain-".to_owned();
            own.push_str(&file.file_name().expect("a name").to_string_lossy());
            let own = [own.as_str(), "domain.pddl"].map(|name| domain.join(name));
            let own = own.iter().find(|path| path.is_file());
            let Some(task) = task(&load(own.expect("a domain"), file)) else {
                continue;
            };
            let report = cuts_of(&task, &quick(), 1);
            for cut in &report.cuts {
                shortest_plan(cut)
                    .validate(&cut.problem)
                    .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
                assert!(Arc::strong_count(&cut.task) == 1);
            }
            eprintln!("{}: {}", file.display(), report.statistics);
        }
    }
}
