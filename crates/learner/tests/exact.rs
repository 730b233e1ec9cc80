//! The same seed gives the same bytes: whatever the threads, and however often a run is stopped.

mod common;

use common::{finish, fixture, hasty, parse_texts, root, task, text, train};
use homing_learner::{
    BucketBy, CapacityOf, Learned, Mdp, Model, Policy, Reward, StepRecord, Tabular, TrainConfig,
    TrainError, Trainer,
};
use homing_nlm::SplitMix64;
use homing_planner::{Costs, Heuristic, HeuristicKind, Registry, StateId, States, Task};

fn bytes(model: &Model) -> Vec<u8> {
    model.to_file().expect("a model")
}

/// Several problems of several sizes: more than one bucket.
fn blocks() -> Vec<Task> {
    fixture("blocks")
}

#[test]
fn one_thread_or_several_give_the_same_model() {
    for (tasks, seed) in [(blocks(), 0), (fixture("gripper"), 7)] {
        let config = TrainConfig {
            steps: 150,
            ..TrainConfig::reference()
        };
        let one = bytes(&train(&tasks, &config, seed, 1));
        assert!(one == bytes(&train(&tasks, &config, seed, 2)));
        assert!(one == bytes(&train(&tasks, &config, seed, 3)));
        assert!(one == bytes(&train(&tasks, &config, seed, 1)));
        assert!(one != bytes(&train(&tasks, &config, seed + 1, 1)));
    }
}

/// Stops a run at a step, and goes on from its checkpoint; what is left must be as if nothing had
/// happened.
fn stop_at(tasks: &[Task], config: &TrainConfig, stops: impl Iterator<Item = u64>) {
    let (records, model) = finish(Trainer::new(tasks, config.clone(), 3, 1).expect("it begins"));
    let expected = bytes(&model);
    for stop in stops {
        let mut trainer = Trainer::new(tasks, config.clone(), 3, 1).expect("it begins");
        while trainer.steps() < stop {
            trainer.step().expect("it goes on");
        }
        let checkpoint = trainer.checkpoint().expect("a checkpoint");
        drop(trainer);
        let trainer = Trainer::resume(tasks, &checkpoint, 2).expect("it is taken up");
        assert_eq!(trainer.steps(), stop);
        // A checkpoint taken again says the same.
        assert!(
            trainer.checkpoint().expect("a checkpoint") == checkpoint,
            "{stop}"
        );
        let (rest, model) = finish(trainer);
        assert_eq!(rest, records[stop as usize..], "stopped at {stop}");
        assert!(bytes(&model) == expected, "stopped at {stop}: {config:?}");
    }
}

/// That the steps to be stopped at are there: before SGD, within episodes, at their ends, after the
/// memory has overflown.
fn assert_eventful(records: &[StepRecord], config: &TrainConfig) {
    assert!(records.iter().any(|record| record.sgd.is_none()));
    assert!(records.iter().any(|record| record.goals > 0));
    assert!(records.last().expect("steps").resets > 5);
    let stored: Vec<u64> = records.iter().map(|record| record.stored).collect();
    let full = stored.windows(2).filter(|pair| pair[0] >= pair[1]).count();
    assert!(full > 5, "{stored:?}");
    let sgd = records.iter().filter(|record| record.sgd.is_some()).count() as u64;
    assert!(config.target_every == 0 || sgd > 2 * config.target_every);
}

#[test]
fn a_run_stopped_after_any_step_ends_the_same() {
    let tasks = blocks();
    let config = TrainConfig {
        replay_capacity: 24,
        warm_up: 15,
        ..hasty()
    };
    let (records, _) = finish(Trainer::new(&tasks, config.clone(), 3, 1).expect("it begins"));
    assert_eventful(&records, &config);
    stop_at(&tasks, &config, 0..=config.steps);
}

#[test]
fn a_run_with_other_settings_ends_the_same() {
    let configs = [
        TrainConfig {
            capacity_of: CapacityOf::Memory,
            bucket_by: BucketBy::ObjectCount,
            ..hasty()
        },
        TrainConfig {
            capacity_of: CapacityOf::Memory,
            target_every: 0,
            policy: Policy::Greedy,
            heuristic: HeuristicKind::Blind,
            gamma: 0.999_999,
            reward: Reward::Cost,
            ..hasty()
        },
        TrainConfig {
            unit_cost: false,
            heuristic: HeuristicKind::Add,
            types_as_predicates: true,
            temperature: 0.3,
            learning_rate: 0.013,
            ..hasty()
        },
        TrainConfig {
            reward: Reward::Goal,
            heuristic: HeuristicKind::Max,
            ..hasty()
        },
    ];
    for config in &configs {
        for folder in ["blocks", "delivery", "dead-ends", "night-watch"] {
            // Before SGD, where it begins, around renewals of the target network, and any.
            let stops = [1, 13, 19, 20, 21, 29, 30, 31, 50, 77, 99];
            stop_at(&fixture(folder), config, stops.into_iter());
        }
    }
}

#[test]
fn a_checkpoint_that_is_damaged_or_of_another_run_is_refused() {
    let tasks = fixture("blocks");
    let mut trainer = Trainer::new(&tasks, hasty(), 3, 1).expect("it begins");
    for _ in 0..30 {
        trainer.step().expect("it goes on");
    }
    let checkpoint = trainer.checkpoint().expect("a checkpoint");
    let refused = |tasks: &[Task], bytes: &[u8]| match Trainer::resume(tasks, bytes, 1) {
        Err(error @ TrainError::Checkpoint(_)) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was taken up"),
    };
    for length in (0..checkpoint.len()).step_by(97) {
        refused(&tasks, &checkpoint[..length]);
    }
    let mut random = SplitMix64::new(5);
    for _ in 0..1000 {
        let mut damaged = checkpoint.clone();
        let at = random.below(damaged.len());
        damaged[at] ^= 1 << random.below(8);
        // A different blank at the end of the header is no damage.
        if let Ok(trainer) = Trainer::resume(&tasks, &damaged, 1) {
            assert!(
                trainer.checkpoint().expect("a checkpoint") == checkpoint,
                "{at}"
            );
        }
    }
    assert_eq!(
        refused(&tasks[1..], &checkpoint),
        "the checkpoint cannot be used: it is of a run on other problems, or in another order"
    );
    let model = bytes(&trainer.model());
    assert_eq!(
        refused(&tasks, &model),
        "the checkpoint cannot be used: it is damaged or cut short (no header)"
    );
}

/// Every state that can be reached.
fn states(task: &Task) -> Registry {
    let mdp = Mdp {
        gamma: 0.999,
        reward: Reward::Cost,
    };
    let table = Tabular::explore(task, None, Costs::Unit, mdp, 50_000).expect("a small task");
    let mut registry = Registry::new(task.encoding().words());
    for state in 0..table.len() {
        registry.insert(table.state(state));
    }
    registry
}

fn estimates(model: &Model, task: &Task, threads: usize) -> Vec<Option<f64>> {
    let registry = states(task);
    let mut learned = Learned::new(model, task, threads).expect("a model of this domain");
    let mut estimates = Vec::new();
    let all = registry.range(StateId(0), registry.next_id());
    learned.evaluate(all, &mut estimates);
    estimates.iter().map(|estimate| estimate.finite()).collect()
}

#[test]
fn neither_batches_nor_threads_change_an_estimate() {
    for folder in ["blocks", "dead-ends", "delivery", "night-watch", "lamp"] {
        let tasks = fixture(folder);
        let model = train(&tasks, &hasty(), 1, 1);
        for task in &tasks {
            let together = estimates(&model, task, 1);
            for threads in [2, 3] {
                assert_eq!(together, estimates(&model, task, threads), "{folder}");
            }
            let registry = states(task);
            let mut learned = Learned::new(&model, task, 2).expect("a model of this domain");
            let mut one_by_one = Vec::new();
            for state in 0..registry.len() {
                let state = registry.state(StateId::from_index(state));
                learned.evaluate(States::one(state), &mut one_by_one);
            }
            let one_by_one: Vec<Option<f64>> = one_by_one.iter().map(|e| e.finite()).collect();
            assert_eq!(together, one_by_one, "{folder}");
        }
    }
}

#[test]
fn a_dead_end_stays_one_and_a_goal_is_zero() {
    let tasks = fixture("dead-ends");
    let model = train(&tasks, &hasty(), 1, 1);
    let mut dead_ends = 0;
    for task in &tasks {
        let registry = states(task);
        let found = estimates(&model, task, 1);
        dead_ends += found.iter().filter(|estimate| estimate.is_none()).count();
        for (index, estimate) in found.iter().enumerate() {
            if task.is_goal(registry.state(StateId::from_index(index))) {
                assert_eq!(*estimate, Some(0.0));
            }
        }
    }
    assert!(dead_ends > 0);
}

/// The problem with its objects renamed and listed in another order, and its facts shuffled.
fn shuffled(problem: &str, random: &mut SplitMix64) -> String {
    let without_comments: Vec<&str> = problem
        .lines()
        .map(|line| line.split(';').next().unwrap_or_default())
        .collect();
    let spaced = without_comments
        .join(" ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    // The objects, each with its type.
    let start = words
        .iter()
        .position(|w| *w == ":objects")
        .expect("objects");
    let length = words[start..]
        .iter()
        .position(|w| *w == ")")
        .expect("an end");
    let mut objects: Vec<(&str, &str)> = Vec::new();
    let mut untyped = 0;
    let mut list = words[start + 1..start + length].iter();
    while let Some(word) = list.next() {
        if *word == "-" {
            let of_type = list.next().expect("a type");
            objects[untyped..].iter_mut().for_each(|o| o.1 = of_type);
            untyped = objects.len();
        } else {
            objects.push((word, "object"));
        }
    }
    let names: Vec<&str> = objects.iter().map(|object| object.0).collect();
    let mut shuffle = |count: usize| {
        let mut order: Vec<usize> = (0..count).collect();
        for index in (1..count).rev() {
            order.swap(index, random.below(index + 1));
        }
        order
    };
    let new_names = shuffle(names.len());
    let rename = |word: &str| match names.iter().position(|name| *name == word) {
        Some(index) => format!("n{}", new_names[index]),
        None => word.to_owned(),
    };
    let mut text: Vec<String> = words[..=start].iter().map(|w| (*w).to_owned()).collect();
    for index in shuffle(objects.len()) {
        let (name, of_type) = objects[index];
        // An untyped domain has only `object`, and may not know how to say it.
        let typed = format!("{} - {of_type}", rename(name));
        text.push(if of_type == "object" {
            rename(name)
        } else {
            typed
        });
    }
    text.extend(words[start + length..].iter().map(|word| rename(word)));
    text.join(" ")
}

#[test]
fn names_and_the_order_of_objects_do_not_matter() {
    let mut random = SplitMix64::new(11);
    for folder in ["blocks", "gripper", "logistics", "delivery", "night-watch"] {
        let tasks = fixture(folder);
        let config = TrainConfig {
            types_as_predicates: folder == "logistics",
            // The sum over goals is unique; a relaxed plan depends on which of equal supporters
            // comes first.
            heuristic: HeuristicKind::Add,
            ..TrainConfig::reference()
        };
        let model = train(
            &tasks,
            &TrainConfig {
                steps: 110,
                ..config
            },
            1,
            1,
        );
        let path = root().join("fixtures/valid").join(folder);
        let domain = text(&path.join("domain.pddl"));
        for problem in ["p01.pddl", "p02.pddl"] {
            let problem = text(&path.join(problem));
            let Some(original) = task(&parse_texts(&domain, &problem)) else {
                continue;
            };
            let sorted = |task: &Task| {
                let found = estimates(&model, task, 1);
                let first = found[0];
                let mut found: Vec<f64> = found.into_iter().flatten().collect();
                found.sort_by(f64::total_cmp);
                (first, found)
            };
            let (first, all) = sorted(&original);
            for _ in 0..3 {
                let other = parse_texts(&domain, &shuffled(&problem, &mut random));
                let (other_first, others) = sorted(&task(&other).expect("it still has a plan"));
                assert_eq!(all.len(), others.len());
                let first = (first.expect("finite"), other_first.expect("finite"));
                let pairs = all.iter().copied().zip(others).chain([first]);
                for (one, other) in pairs {
                    assert!(
                        (one - other).abs() <= 1e-5 * one.abs().max(1.0),
                        "{one} {other}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_run_that_diverges_stops_and_names_the_step() {
    let tasks = blocks();
    for (learning_rate, gamma) in [(f32::MAX, 0.999), (1e36, 0.999), (1e25, 0.999_999)] {
        let config = TrainConfig {
            learning_rate,
            gamma,
            ..hasty()
        };
        let mut trainer = Trainer::new(&tasks, config, 0, 1).expect("it begins");
        let error = loop {
            match trainer.step() {
                Ok(record) => assert!(record.step < 100, "{learning_rate} did not diverge"),
                Err(error) => break error,
            }
        };
        let TrainError::Diverged { step, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(step, trainer.steps());
        let message = error.to_string();
        assert!(message.contains(&format!("at step {step}")), "{message}");
        assert!(message.contains("not a finite number"), "{message}");
    }
}
