//! STRIPS-HGN: gradients, the quick evaluation, names of objects, threads, kills, files.

mod common;

use std::fmt::Write as _;
use std::sync::Arc;

use homing_learner::{
    AnyModel, Compute, HgnConfig, HgnError, HgnHeuristic, HgnModel, HgnProbe, HgnTrainer,
    ModelError, Simd, ValueFunction,
};
use homing_planner::search::{Outcome, SearchOptions};
use homing_planner::{Heuristic, Progress, SearchKind, States, Stop, Task, Watch};

use common::{fixture, fixtures, parse_texts, root, task, text};

/// Towers of blocks, the last one down; to be one tower in another order.
fn blocks(names: &[&str], goal: &[usize]) -> Arc<Task> {
    let domain = text(&root().join("domains/blocks/domain.pddl"));
    let mut init = String::from("(arm-empty)");
    for name in names {
        let _ = write!(init, " (on-table {name}) (clear {name})");
    }
    let wanted: String = goal
        .windows(2)
        .map(|pair| format!(" (on {} {})", names[pair[0]], names[pair[1]]))
        .collect();
    let problem = format!(
        "(define (problem p) (:domain blocksworld-4ops) (:objects {}) (:init {init}) (:goal (and{wanted})))",
        names.join(" ")
    );
    Arc::new(task(&parse_texts(&domain, &problem)).expect("it has a plan"))
}

fn small_blocks() -> Vec<Arc<Task>> {
    vec![
        blocks(&["a", "b"], &[0, 1]),
        blocks(&["a", "b", "c"], &[2, 0, 1]),
        blocks(&["a", "b", "c"], &[0, 1]),
        blocks(&["a", "b", "c", "d"], &[0, 1, 2, 3]),
    ]
}

fn hasty() -> HgnConfig {
    HgnConfig {
        width: 8,
        rounds: 3,
        folds: 3,
        epochs: 3,
        ..HgnConfig::default()
    }
}

fn trained(config: &HgnConfig, threads: usize) -> HgnModel {
    let tasks = small_blocks();
    let mut trainer = HgnTrainer::new(&tasks, config, 7, threads, &mut ()).expect("it begins");
    while !trainer.is_finished() {
        trainer.train_epoch(&mut ()).expect("nobody stops it");
    }
    trainer.model()
}

#[test]
fn the_network_has_the_parameters_of_the_original() {
    let config = HgnConfig::default();
    let count = |task: Arc<Task>, config: &HgnConfig| {
        HgnProbe::new(task, config, 0, Simd::best())
            .parameters
            .len()
    };
    assert_eq!(count(blocks(&["a", "b", "c"], &[0, 1]), &config), 27_201);
    let with = HgnConfig {
        global_features: true,
        ..config.clone()
    };
    assert_eq!(count(blocks(&["a", "b", "c"], &[0, 1]), &with), 30_401);
    let gripper = fixture("gripper").into_iter().next().expect("a problem");
    assert_eq!(count(Arc::new(gripper), &config), 25_153);
}

#[test]
fn the_gradient_of_the_whole_network_is_that_by_finite_differences() {
    for global_features in [false, true] {
        let config = HgnConfig {
            width: 6,
            rounds: 3,
            global_features,
            ..HgnConfig::default()
        };
        let task = blocks(&["a", "b", "c"], &[2, 0, 1]);
        // A start whose output is above 0.
        let mut probe = (0..)
            .map(|seed| HgnProbe::new(Arc::clone(&task), &config, seed, Simd::best()))
            .find_map(|mut probe| (probe.evaluate() > 0.2).then_some(probe))
            .expect("there is one");
        let label = 4.0;
        let (_, gradient) = probe.gradient(label);
        let start = probe.parameters.clone();
        let (mut checked, mut off) = (0, 0);
        let largest = gradient.iter().fold(0.0_f32, |most, g| most.max(g.abs()));
        assert!(largest > 0.0);
        for at in 0..start.len() {
            let step = 1e-3;
            let mut loss = |value: f32| {
                probe.parameters[at] = value;
                let loss = probe.gradient(label).0;
                probe.parameters[at] = start[at];
                loss
            };
            let slope = (loss(start[at] + step) - loss(start[at] - step)) / (2.0 * f64::from(step));
            let found = f64::from(gradient[at]);
            checked += 1;
            if (found - slope).abs() > 0.02 * slope.abs().max(f64::from(largest) * 0.02) {
                off += 1;
            }
        }
        // A step across a rectifier's kink is off; hardly any is.
        assert!(off * 50 <= checked, "{off} of {checked} are off");
    }
}

#[test]
fn the_quick_evaluation_is_that_of_the_tape_to_the_last_bit() {
    for (name, task) in fixtures() {
        let task = Arc::new(task);
        for global_features in [false, true] {
            let config = HgnConfig {
                width: 8,
                rounds: 4,
                global_features,
                ..HgnConfig::default()
            };
            for simd in [Simd::Portable, Simd::best()] {
                for seed in 0..3 {
                    let mut probe = HgnProbe::new(Arc::clone(&task), &config, seed, simd);
                    assert_eq!(probe.evaluate(), probe.on_tape(), "{name}, seed {seed}");
                }
            }
        }
    }
}

/// The estimates of all states on a plan of a problem.
fn values(model: &HgnModel, task: &Task, threads: usize) -> Vec<f64> {
    let compute = Compute {
        threads,
        simd: Simd::best(),
    };
    let mut heuristic = HgnHeuristic::new(model, task, compute).expect("it fits");
    let mut state = task.initial_state();
    let mut values = Vec::new();
    for _ in 0..6 {
        let mut estimates = Vec::new();
        heuristic.evaluate(States::one(&state), &mut estimates);
        values.push(estimates[0].finite().expect("no dead ends"));
        let next = task.actions().find(|&action| {
            task.pre(action)
                .iter()
                .all(|&p| task.encoding().holds(p, &state))
        });
        task.apply(next.expect("something can be done"), &mut state);
    }
    values
}

#[test]
fn names_of_objects_change_nothing() {
    let model = trained(&hasty(), 2);
    let ours = values(&model, &blocks(&["a", "b", "c", "d"], &[0, 1, 2, 3]), 1);
    assert!(ours.iter().any(|&value| value > 0.0));
    // The same with other names in the same order of declaration, and declared in another order.
    let renamed = values(&model, &blocks(&["z", "k", "y", "b"], &[0, 1, 2, 3]), 1);
    assert_eq!(ours, renamed);
    let turned = blocks(&["d", "c", "b", "a"], &[3, 2, 1, 0]);
    let straight = blocks(&["a", "b", "c", "d"], &[0, 1, 2, 3]);
    let (one, other) = (
        values(&model, &straight, 1)[0],
        values(&model, &turned, 1)[0],
    );
    // Sums come in another order: equal but for rounding.
    assert!(
        (one - other).abs() <= 1e-4 * one.abs().max(1.0),
        "{one} {other}"
    );
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let one = trained(&hasty(), 1);
    for threads in [2, 5] {
        assert_eq!(one, trained(&hasty(), threads));
    }
    assert_eq!(
        one.to_file().expect("a file"),
        trained(&hasty(), 3).to_file().expect("a file")
    );
    let task = blocks(&["a", "b", "c", "d"], &[0, 1, 2, 3]);
    assert_eq!(values(&one, &task, 1), values(&one, &task, 3));
}

#[test]
fn threads_share_a_batch_without_changing_it() {
    let model = trained(&hasty(), 1);
    let names: Vec<String> = (0..12).map(|n| format!("b{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let task = blocks(&names, &(0..12).collect::<Vec<_>>());
    let mut registry = homing_planner::Registry::new(task.encoding().words());
    let first = registry.next_id();
    for action in task.actions() {
        let mut state = task.initial_state();
        if task
            .pre(action)
            .iter()
            .all(|&p| task.encoding().holds(p, &state))
        {
            task.apply(action, &mut state);
            registry.insert(&state);
        }
    }
    let states = registry.range(first, registry.next_id());
    let all = |threads| {
        let mut estimates = Vec::new();
        let mut heuristic = HgnHeuristic::new(&model, &task, threads).expect("it fits");
        heuristic.evaluate(states, &mut estimates);
        estimates
    };
    assert_eq!(all(1).len(), states.len());
    assert_eq!(all(1), all(4));
}

/// Says stop after so many questions.
struct After(usize);

impl Watch for After {
    fn poll(&mut self, _: Progress) -> Option<Stop> {
        self.0 = self.0.saturating_sub(1);
        (self.0 == 0).then_some(Stop::Interrupted)
    }
}

#[test]
fn a_run_that_was_killed_comes_to_the_same_model() {
    let whole = trained(&hasty(), 2);
    let tasks = small_blocks();
    let config = hasty();
    let mut trainer = HgnTrainer::new(&tasks, &config, 7, 1, &mut ()).expect("it begins");
    trainer.train_epoch(&mut ()).expect("nobody stops it");
    let saved = trainer.checkpoint().expect("a checkpoint");
    // An epoch that is cut off leaves nothing behind.
    assert_eq!(trainer.train_epoch(&mut After(5)), Err(Stop::Interrupted));
    assert_eq!(trainer.checkpoint().expect("a checkpoint"), saved);
    let mut again = HgnTrainer::resume(&tasks, &config, 7, 2, &mut (), &saved).expect("it goes on");
    assert_eq!(again.epoch(), 1);
    while !again.is_finished() {
        again.train_epoch(&mut ()).expect("nobody stops it");
    }
    assert_eq!(again.model(), whole);
    // Of another run, or damaged.
    let other = HgnTrainer::resume(&tasks, &config, 8, 1, &mut (), &saved);
    assert!(matches!(other, Err(HgnError::Checkpoint(_))));
    let mut damaged = saved.clone();
    *damaged.last_mut().expect("a byte") ^= 1;
    let broken = HgnTrainer::resume(&tasks, &config, 7, 1, &mut (), &damaged);
    assert!(matches!(broken, Err(HgnError::Checkpoint(_))));
}

#[test]
fn a_model_goes_to_a_file_and_back() {
    let model = trained(&hasty(), 1);
    let bytes = model.to_file().expect("a file");
    let AnyModel::Hgn(back) = AnyModel::from_file(&bytes).expect("it is whole") else {
        panic!("of another kind");
    };
    assert_eq!(*back, model);
    let mut damaged = bytes.clone();
    *damaged.last_mut().expect("a byte") ^= 1;
    assert!(matches!(
        AnyModel::from_file(&damaged),
        Err(ModelError::Corrupted | ModelError::Weights { .. })
    ));
    let gripper = fixture("gripper").into_iter().next().expect("a problem");
    assert!(matches!(
        model.heuristic(&gripper, Compute::from(1)).err(),
        Some(ModelError::OtherDomain { .. })
    ));
}

#[test]
fn what_is_learnt_guides_a_search() {
    let config = HgnConfig {
        width: 16,
        rounds: 5,
        epochs: 40,
        ..hasty()
    };
    let model = trained(&config, 2);
    let report = &model.header.report;
    assert_eq!((report.labels.solved, report.labels.unsolvable), (4, 0));
    assert_eq!(report.labels.longest, 6);
    let best = report.folds[report.chosen].loss;
    assert!(report.folds.iter().all(|fold| fold.loss >= best));
    // Labels go up to 6: far better than the best constant, whose mean square is some 4.
    assert!(best < 1.0, "{best}");
    let task = blocks(&["e", "d", "c", "b", "a"], &[1, 3, 0, 2, 4]);
    for search in [SearchKind::Gbfs, SearchKind::Astar] {
        let mut heuristic = model.heuristic(&task, Compute::from(1)).expect("it fits");
        let result = search.run(&task, &mut *heuristic, &SearchOptions::default(), &mut ());
        let Outcome::Solved(plan) = result.outcome else {
            panic!("{search} finds no plan");
        };
        plan.validate(task.problem()).expect("it is one");
    }
}

#[test]
fn what_cannot_be_learnt_from_is_told() {
    let begin = |tasks: &[Arc<Task>], config: &HgnConfig| {
        HgnTrainer::new(tasks, config, 0, 1, &mut ())
            .err()
            .expect("an error")
    };
    assert_eq!(begin(&[], &hasty()), HgnError::NoProblems);
    let wrong = HgnConfig {
        folds: 1,
        epochs: 0,
        ..hasty()
    };
    let text = begin(&small_blocks(), &wrong).to_string();
    assert!(
        text.contains("`folds`") && text.contains("`epochs`"),
        "{text}"
    );
    let short = HgnConfig {
        label_evaluations: 1,
        ..hasty()
    };
    assert!(matches!(
        begin(&small_blocks(), &short),
        HgnError::TooFewSamples(report) if report.too_large > 0
    ));
}
