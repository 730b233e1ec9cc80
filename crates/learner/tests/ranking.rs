//! Training by ranking: what is gathered, what is fitted, and that it carries over.

mod common;

use std::sync::Arc;

use common::{fixture, fixtures, hasty, parse_texts, root, task, text};
use homing_learner::{
    AnyModel, CountsConfig, CountsFunction, CountsHeuristic, ExactConfig, FeatureCounter,
    GraphSpec, Learned, Model, NetworkObjective, NetworkReadout, RankingConfig, RankingTrainer,
    TrainConfig, Trainer, TrainingSet, ValueKind, WEIGHT_SCALE, fit, gather,
};
use homing_nlm::SplitMix64;
use homing_planner::heuristic::HeuristicKind;
use homing_planner::search::{Deferred, DeferredConfig, Limits, Outcome, Trust};
use homing_planner::{
    ActionId, Costs, Estimate, Heuristic, Progress, Registry, StateId, States, Stop,
    SuccessorGenerator, Task, Watch,
};

/// A random problem of so many blocks: towers into other towers.
fn blocks(count: usize, seed: u64) -> Arc<Task> {
    let mut random = SplitMix64::new(seed);
    let mut towers = || {
        let mut order: Vec<usize> = (0..count).collect();
        for index in (1..count).rev() {
            order.swap(index, random.below(index + 1));
        }
        let mut atoms = String::new();
        for (place, &block) in order.iter().enumerate() {
            if place == 0 || random.below(4) == 0 {
                if place > 0 {
                    atoms += &format!("(clear b{})", order[place - 1]);
                }
                atoms += &format!("(on-table b{block})");
            } else {
                atoms += &format!("(on b{block} b{})", order[place - 1]);
            }
        }
        atoms + &format!("(clear b{})", order[count - 1])
    };
    let names: String = (0..count).map(|block| format!("b{block} ")).collect();
    let problem = format!(
        "(define (problem p) (:domain blocks) (:objects {names}) (:init (arm-empty) {})
           (:goal (and {})))",
        towers(),
        towers()
    );
    let domain = text(&root().join("fixtures/valid/blocks/domain.pddl"));
    Arc::new(task(&parse_texts(&domain, &problem)).expect("it has a plan"))
}

fn gathered(tasks: &[Arc<Task>], threads: usize) -> TrainingSet {
    let config = ExactConfig::default();
    let (set, _) = gather(tasks, &config, 1, threads, &mut ()).expect("nothing stops it");
    set
}

fn spec(set: &TrainingSet) -> GraphSpec {
    let tasks: Vec<&Task> = set.problems.iter().map(|p| &*p.task).collect();
    GraphSpec::of_tasks(&tasks, 2, true)
}

#[test]
fn what_is_learnt_on_five_blocks_builds_towers_of_forty() {
    let training: Vec<Arc<Task>> = (0..20)
        .map(|seed| blocks(3 + seed as usize % 3, seed))
        .collect();
    let set = gathered(&training, 2);
    let (function, report) = fit(
        &set,
        &spec(&set),
        &CountsConfig::default(),
        &RankingConfig::default(),
        1,
    );
    assert!(report.accuracy[0] > 0.95, "{report:?}");
    for seed in 100..105 {
        let task = blocks(40, seed);
        let config = DeferredConfig::default();
        let mut search = Deferred::new(&task, Vec::new(), config);
        search.add_scorer(function.scorer(&task), Trust::High);
        let limits = Limits {
            max_expansions: Some(2000),
            ..Limits::default()
        };
        let outcome = search.run(limits, None, &mut ());
        let Outcome::Solved(plan) = outcome else {
            panic!("seed {seed}: {outcome:?}");
        };
        plan.validate(task.problem()).expect("a plan");
    }
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let tasks: Vec<Arc<Task>> = fixture("logistics")
        .into_iter()
        .chain(fixture("logistics"))
        .map(Arc::new)
        .collect();
    let (one, four) = (gathered(&tasks, 1), gathered(&tasks, 4));
    for (a, b) in one.problems.iter().zip(&four.problems) {
        assert_eq!(a.samples, b.samples);
    }
    let config = RankingConfig::default();
    let fitted =
        |set: &TrainingSet, seed| fit(set, &spec(set), &CountsConfig::default(), &config, seed).0;
    assert_eq!(fitted(&one, 1), fitted(&four, 1));
    assert_ne!(fitted(&one, 1), fitted(&one, 2));
}

#[test]
fn the_report_says_what_became_of_each_problem() {
    let tasks: Vec<Arc<Task>> = [3, 4, 5, 6].map(|count| blocks(count, 1)).into();
    let config = ExactConfig {
        states: 1000,
        ..ExactConfig::default()
    };
    let (set, report) = gather(&tasks, &config, 1, 2, &mut ()).expect("nothing stops it");
    assert_eq!((report.walked, report.too_large), (3, 1), "{report:?}");
    assert_eq!(report.walked_problems, [0, 1, 2]);
    assert_eq!(set.problems.len(), 3);
    // 22 + 125 + 866 states: all ways to pile up 3, 4 and 5 blocks, one in the hand or none.
    assert_eq!(report.states, 22 + 125 + 866);

    let few = ExactConfig {
        problems: 2,
        ..config.clone()
    };
    let (_, report) = gather(&tasks, &few, 1, 1, &mut ()).expect("nothing stops it");
    assert_eq!((report.walked, report.not_needed), (2, 1), "{report:?}");
}

#[test]
fn the_watch_ends_it_in_every_thread() {
    struct Impatient(u32);
    impl Watch for Impatient {
        fn poll(&mut self, _: Progress) -> Option<Stop> {
            self.0 += 1;
            (self.0 > 3).then_some(Stop::Memory)
        }
    }
    let tasks: Vec<Arc<Task>> = (0..8).map(|seed| blocks(6, seed)).collect();
    for threads in [1, 3] {
        let end = gather(
            &tasks,
            &ExactConfig::default(),
            1,
            threads,
            &mut Impatient(0),
        );
        assert_eq!(end.err(), Some(Stop::Memory), "{threads}");
    }
}

/// Every kind of task that is read can be learnt from: constants, negation, costs, no objects.
#[test]
fn every_fixture_can_be_learnt_from() {
    let mut fitted = 0;
    for (name, task) in fixtures() {
        for unit_cost in [true, false] {
            let config = ExactConfig {
                unit_cost,
                ..ExactConfig::default()
            };
            let tasks = [Arc::new(task.clone())];
            let (set, _) = gather(&tasks, &config, 1, 1, &mut ()).expect("nothing stops it");
            if set.problems.is_empty() {
                continue;
            }
            let (function, report) = fit(
                &set,
                &spec(&set),
                &CountsConfig::default(),
                &RankingConfig::default(),
                1,
            );
            assert!(
                report.pairs > 0 && report.accuracy[0] > 0.6,
                "{name}: {report:?}"
            );
            assert_eq!(function.heads(), report.accuracy.len());
            fitted += 1;
        }
    }
    assert!(fitted > 20, "{fitted}");
}

#[test]
fn heuristics_as_features_get_weights_of_their_own() {
    let tasks: Vec<Arc<Task>> = (0..6).map(|seed| blocks(4, seed)).collect();
    let set = gathered(&tasks, 1);
    let config = CountsConfig {
        heuristics: vec![HeuristicKind::Ff, HeuristicKind::Add],
        ..CountsConfig::default()
    };
    let (function, _) = fit(&set, &spec(&set), &config, &RankingConfig::default(), 1);
    let heuristics = function.heuristics();
    assert_eq!(heuristics.len(), 2);
    assert!(
        heuristics
            .iter()
            .any(|(_, weights)| weights[0] > WEIGHT_SCALE / 100)
    );
    // And they count in what the heuristic says.
    let task = blocks(6, 9);
    let mut learned = CountsHeuristic::new(&function, &task);
    assert_eq!(learned.name(), "counts-ff-add");
    let initial = task.initial_state();
    let mut estimates = Vec::new();
    learned.evaluate(States::one(&initial), &mut estimates);
    let mut scorer = function.scorer(&task);
    scorer.enter(&initial);
    let mut expected = scorer.scores()[0] as f64;
    for &(kind, weights) in heuristics {
        let mut estimates = Vec::new();
        let mut base = kind.build(&task, Costs::Unit);
        base.evaluate(States::one(&initial), &mut estimates);
        expected += f64::from(weights[0]) * estimates[0].finite().expect("a way");
    }
    let found = estimates[0].finite().expect("a way") * f64::from(WEIGHT_SCALE);
    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
}

/// The share of states with a best child that scores less than they do.
fn descending(function: &CountsFunction, set: &TrainingSet) -> f64 {
    let (mut down, mut all) = (0, 0);
    for problem in &set.problems {
        let mut heuristic = CountsHeuristic::new(function, &problem.task);
        let mut score = |state: &[u32]| {
            let mut estimates = Vec::new();
            heuristic.evaluate(States::one(state), &mut estimates);
            estimates[0].finite()
        };
        for sample in &problem.samples {
            let best = sample.best_child();
            let mut good =
                (1..sample.len()).filter(|&p| best.is_some() && sample.distance(p) == best);
            all += 1;
            let before = score(sample.state(0));
            down += u32::from(good.any(|place| score(sample.state(place)) < before));
        }
    }
    f64::from(down) / f64::from(all)
}

/// What a search with one queue needs first of all is a child that scores less.
#[test]
fn with_heuristics_steps_down_weigh_more_than_siblings() {
    let tasks: Vec<Arc<Task>> = (0..8).map(|seed| blocks(5, seed)).collect();
    let set = gathered(&tasks, 1);
    let fitted = |heuristics: &[HeuristicKind], descent: Option<f64>| {
        let counts = CountsConfig {
            heuristics: heuristics.to_vec(),
            rounds: 0,
            ..CountsConfig::default()
        };
        let ranking = RankingConfig {
            descent,
            ..RankingConfig::default()
        };
        let spec = spec(&set).configured(&counts, &[]);
        fit(&set, &spec, &counts, &ranking, 1)
    };
    let both = [HeuristicKind::Ff, HeuristicKind::Add];
    let (usual, weighted) = (fitted(&both, None), fitted(&both, Some(30.0)));
    let alike = fitted(&both, Some(1.0));
    assert_eq!(usual.0, weighted.0);
    assert_ne!(usual.0, alike.0);
    let (more, less) = (descending(&usual.0, &set), descending(&alike.0, &set));
    assert!(more > less, "{more} {less}");
    // Without heuristics all pairs weigh the same, as ever.
    assert_eq!(fitted(&[], None), fitted(&[], Some(1.0)));
}

#[test]
fn a_step_down_must_weigh_something() {
    let config = RankingConfig {
        descent: Some(0.0),
        ..RankingConfig::default()
    };
    let problems = config.problems().join(" ");
    assert!(problems.contains("descent"), "{problems}");
}

/// A search by batches sees the same numbers, whichever way it asks.
#[test]
fn the_heuristic_says_what_the_scorer_says() {
    let tasks: Vec<Arc<Task>> = fixture("logistics").into_iter().map(Arc::new).collect();
    let set = gathered(&tasks, 1);
    let (function, _) = fit(
        &set,
        &spec(&set),
        &CountsConfig::default(),
        &RankingConfig::default(),
        1,
    );
    let task = &tasks[1];
    let mut scorer = function.scorer(task);
    let mut heuristic = CountsHeuristic::new(&function, task);
    let parent = task.initial_state();
    let mut actions = Vec::new();
    SuccessorGenerator::new(task).applicable(&parent, &mut actions);
    let mut registry = Registry::new(task.encoding().words());
    for &action in &actions {
        let mut child = parent.clone();
        task.apply(action, &mut child);
        assert!(registry.insert(&child).1, "children differ");
    }
    let states = registry.range(StateId(0), registry.next_id());
    scorer.enter(&parent);
    let scale = f64::from(WEIGHT_SCALE);
    let expected: Vec<Estimate> = actions
        .iter()
        .map(|&action| Estimate::new(scorer.child(action).scores[0] as f64 / scale))
        .collect();
    let mut estimates = Vec::new();
    heuristic.evaluate(states, &mut estimates);
    assert_eq!(estimates, expected);
    estimates.clear();
    heuristic.evaluate_successors(&parent, &actions, states, &mut estimates);
    assert_eq!(estimates, expected);
    assert!(heuristic.work() > 0);
}

/// Trains a network to rank, to the end.
fn ranked(set: &TrainingSet, config: &TrainConfig, threads: usize) -> Model {
    let mut trainer = RankingTrainer::new(set, config.clone(), 1, threads).expect("it begins");
    while trainer.steps() < config.steps {
        trainer.step().expect("it goes on");
    }
    trainer.model()
}

/// A run that was stopped goes on to the same bytes, on any number of threads, with either readout.
#[test]
fn a_network_that_ranks_goes_on_from_a_checkpoint() {
    let tasks: Vec<Arc<Task>> = (0..3).map(|seed| blocks(4, seed)).collect();
    let set = gathered(&tasks, 1);
    for readout in [NetworkReadout::Nullary, NetworkReadout::Sum] {
        let config = TrainConfig {
            steps: 40,
            objective: NetworkObjective::Ranking,
            readout,
            ..hasty()
        };
        let model = ranked(&set, &config, 1);
        let mut trainer = RankingTrainer::new(&set, config.clone(), 1, 1).expect("it begins");
        while trainer.steps() < 17 {
            trainer.step().expect("it goes on");
        }
        let checkpoint = trainer.checkpoint().expect("a checkpoint");
        let mut again = RankingTrainer::resume(&set, &checkpoint, 2).expect("it is taken up");
        assert!(again.checkpoint().expect("a checkpoint") == checkpoint);
        while again.steps() < config.steps {
            // The same record, too: what a step tells does not depend on the stop.
            let record = again.step().expect("it goes on");
            assert_eq!(record, trainer.step().expect("it goes on"));
            assert!(record.sgd.is_none_or(|sgd| sgd.target.is_none()));
        }
        assert_eq!(again.model(), model);
        let other = gathered(&tasks[..2], 1);
        let refused = RankingTrainer::resume(&other, &checkpoint, 1).err();
        let text = refused.expect("other problems").to_string();
        assert!(text.contains("other problems"), "{text}");
        let mut damaged = checkpoint.clone();
        let end = damaged.len() - 3;
        damaged[end] ^= 16;
        let refused = RankingTrainer::resume(&set, &damaged, 1).err();
        let text = refused.expect("damaged").to_string();
        assert!(text.contains("checksum"), "{text}");
        // Neither kind of run takes up what the other left, and both say why.
        let paper = Trainer::new(&tasks, hasty(), 1, 1).expect("it begins");
        let paper = paper.checkpoint().expect("a checkpoint");
        let refused = [
            Trainer::resume(&tasks, &checkpoint, 1).err(),
            RankingTrainer::resume(&set, &paper, 1).err(),
        ];
        for error in refused {
            let text = error.expect("another objective").to_string();
            assert!(text.contains("another objective"), "{text}");
        }
    }
}

/// The paper's network can be asked for the same order; its file is of the same kind.
#[test]
fn a_network_trained_to_rank_orders_siblings() {
    let tasks: Vec<Arc<Task>> = (0..6).map(|seed| blocks(4, seed)).collect();
    let set = gathered(&tasks, 1);
    let config = TrainConfig {
        steps: 300,
        learning_rate: 0.01,
        objective: NetworkObjective::Ranking,
        ..hasty()
    };
    let model = ranked(&set, &config, 1);
    assert_eq!(model, ranked(&set, &config, 3));
    let bytes = model.to_file().expect("a file");
    let read = AnyModel::from_file(&bytes).expect("a model");
    assert_eq!(read.function().kind(), ValueKind::Nlm);
    // Below log 2, which no order at all would give.
    assert!(
        model.header.summary.loss < 0.55,
        "{:?}",
        model.header.summary
    );
    let untrained = TrainConfig { steps: 0, ..config };
    let untrained = ranked(&set, &untrained, 1);
    let order = |model: &Model| {
        let (mut right, mut all) = (0, 0);
        for problem in &set.problems {
            let mut learned = Learned::new(model, &problem.task, 1).expect("this domain");
            for sample in &problem.samples {
                let mut estimates = Vec::new();
                for place in 0..sample.len() {
                    learned.evaluate(States::one(sample.state(place)), &mut estimates);
                }
                let best = sample.best_child().expect("a way on");
                for good in (1..sample.len()).filter(|&p| sample.distance(p) == Some(best)) {
                    // Goals are 0 by definition, whatever the network says.
                    if best.steps == 0 {
                        continue;
                    }
                    for bad in (0..sample.len()).filter(|&p| sample.distance(p) > Some(best)) {
                        all += 1;
                        right += i32::from(estimates[good] < estimates[bad]);
                    }
                }
            }
        }
        f64::from(right) / f64::from(all)
    };
    let (before, after) = (order(&untrained), order(&model));
    assert!(after > before + 0.05 && after > 0.75, "{before} {after}");
}

/// Walks of its own cannot teach an order on true distances.
#[test]
fn the_papers_training_refuses_another_objective() {
    let config = TrainConfig {
        objective: NetworkObjective::Ranking,
        ..hasty()
    };
    let refused = Trainer::new(&fixture("blocks"), config, 1, 1).err();
    let text = refused.expect("refused").to_string();
    assert_eq!(
        text,
        "`objective` must be `temporal-difference` to learn from walks"
    );
    // And files of the paper's learning do not name an objective.
    let text = serde_json::to_string(&hasty()).expect("text");
    assert!(!text.contains("objective"));
}

/// A floor of columns to be painted by one who may not step on paint, and paints only the tile above
/// or below: what is above paint stays bare for ever.
fn floor(rows: usize, columns: usize) -> Arc<Task> {
    let domain = "(define (domain floor)
        (:constants red)
        (:predicates (at ?t) (bare ?t) (painted ?t ?c) (above ?a ?b) (beside ?a ?b))
        (:action paint-above :parameters (?t ?p)
            :precondition (and (at ?t) (above ?p ?t) (bare ?p))
            :effect (and (painted ?p red) (not (bare ?p))))
        (:action paint-below :parameters (?t ?p)
            :precondition (and (at ?t) (above ?t ?p) (bare ?p))
            :effect (and (painted ?p red) (not (bare ?p))))
        (:action up :parameters (?t ?n) :precondition (and (at ?t) (above ?n ?t) (bare ?n))
            :effect (and (at ?n) (not (at ?t))))
        (:action down :parameters (?t ?n) :precondition (and (at ?t) (above ?t ?n) (bare ?n))
            :effect (and (at ?n) (not (at ?t))))
        (:action go :parameters (?t ?n) :precondition (and (at ?t) (beside ?t ?n) (bare ?n))
            :effect (and (at ?n) (not (at ?t)))))";
    let tile = |row: usize, column: usize| format!("t{row}-{column}");
    let (mut names, mut init, mut goal) = (String::new(), String::new(), String::new());
    for row in 0..=rows {
        for column in 0..columns {
            let here = tile(row, column);
            names += &format!("{here} ");
            init += &format!("(bare {here})");
            if row > 0 {
                init += &format!("(above {here} {})", tile(row - 1, column));
                goal += &format!("(painted {here} red)");
            }
            if column > 0 {
                let left = tile(row, column - 1);
                init += &format!("(beside {here} {left})(beside {left} {here})");
            }
        }
    }
    let problem = format!(
        "(define (problem p) (:domain floor) (:objects {names}) (:init (at t0-0) {init})
           (:goal (and {goal})))"
    );
    Arc::new(task(&parse_texts(domain, &problem)).expect("it has a plan"))
}

#[test]
fn what_only_dead_ends_have_outweighs_all_else() {
    let sizes = [(1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (2, 3), (4, 1)];
    let tasks: Vec<Arc<Task>> = sizes.iter().map(|&(r, c)| floor(r, c)).collect();
    let set = gathered(&tasks, 2);
    // The given problems tell which objects have many atoms: here the one colour.
    let larger = floor(3, 3);
    let spec = spec(&set).quiet().without_hubs(&[&larger]);
    assert!(spec.quiet);
    assert_eq!(spec.hubs, ["painted"]);
    let fitted = |trap| {
        let ranking = RankingConfig {
            trap,
            ..RankingConfig::default()
        };
        fit(&set, &spec, &CountsConfig::default(), &ranking, 1).0
    };
    let function = fitted(RankingConfig::default().trap);
    let is_trap = |weights: [i32; 2]| weights[0] > 500 * WEIGHT_SCALE;
    assert!(function.weights().iter().any(|&(_, w)| is_trap(w)));
    assert!(!fitted(0.0).weights().iter().any(|&(_, w)| is_trap(w)));
    let mut dead_ends_seen = 0;
    for problem in &set.problems {
        let mut counter = FeatureCounter::new(&problem.task, &spec);
        for sample in &problem.samples {
            for place in 0..sample.len() {
                let counts = counter.count(sample.state(place));
                let trapped = counts.iter().any(|&(c, _)| is_trap(function.weight(c)));
                assert!(!trapped || sample.distance(place).is_none());
                dead_ends_seen += usize::from(trapped);
            }
        }
    }
    assert!(dead_ends_seen > 50, "{dead_ends_seen}");
    // A floor far larger than any of them.
    let task = floor(9, 8);
    let mut search = Deferred::new(&task, Vec::new(), DeferredConfig::default());
    search.add_scorer(function.scorer(&task), Trust::High);
    let limits = Limits {
        max_expansions: Some(20_000),
        ..Limits::default()
    };
    let outcome = search.run(limits, None, &mut ());
    let Outcome::Solved(plan) = outcome else {
        panic!("{outcome:?}");
    };
    plan.validate(task.problem()).expect("a plan");
}

#[test]
fn the_first_stroke_weighs_the_same_on_a_large_floor() {
    let sizes = [(1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (2, 3), (4, 1)];
    let tasks: Vec<Arc<Task>> = sizes.iter().map(|&(r, c)| floor(r, c)).collect();
    let set = gathered(&tasks, 2);
    let quiet = spec(&set).quiet().without_hubs(&[&floor(3, 3)]);
    let loud = GraphSpec {
        hubs: Vec::new(),
        ..quiet.clone()
    };
    // The painter goes up the first column and paints its top: by how much the score rises, in
    // units of weight.
    let stroke = |function: &CountsFunction, rows: usize, columns: usize| {
        let task = floor(rows, columns);
        let step = |name: String| {
            let of_name = |action: &ActionId| task.action_name(*action).to_string() == name;
            task.actions().find(of_name).expect("an action")
        };
        let mut state = task.initial_state();
        for row in 1..rows {
            task.apply(step(format!("(up t{}-0 t{row}-0)", row - 1)), &mut state);
        }
        let paint = step(format!("(paint-above t{}-0 t{rows}-0)", rows - 1));
        let mut scorer = function.scorer(&task);
        scorer.enter(&state);
        let change = scorer.child(paint).scores[0] - scorer.scores()[0];
        change as f64 / f64::from(WEIGHT_SCALE)
    };
    let [without, with] = [&quiet, &loud].map(|spec| {
        let config = (CountsConfig::default(), RankingConfig::default());
        let (function, _) = fit(&set, spec, &config.0, &config.1, 1);
        stroke(&function, 20, 20) - stroke(&function, 4, 3)
    });
    assert!(without.abs() < 0.01, "{without}");
    // All bare tiles ask for the one colour, and see that it was used.
    assert!(with.abs() > 5.0, "{with}");
}
