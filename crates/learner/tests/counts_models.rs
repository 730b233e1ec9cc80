//! Models of counts: from problems to a file and back, compared, explained, and trusted or not.

mod common;

use std::sync::{Arc, OnceLock};

use common::{fixture, hasty, parse_texts, root, task, text, train};
use homing_learner::{
    AnyModel, CountsModel, DataSource, ExactConfig, LearnConfig, LearnError, LearnProgress, Model,
    ModelError, SelectionConfig, ValueFunction, ValueKind, learn,
};
use homing_nlm::SplitMix64;
use homing_planner::search::{Limits, Outcome, gbfs};
use homing_planner::{States, Task};

/// A line of blocks that is to become a tower, some of it already built.
fn blocks(count: usize, built: usize) -> Arc<Task> {
    let names: String = (0..count).map(|block| format!("b{block} ")).collect();
    let mut init = String::from("(arm-empty)");
    for block in 0..count {
        if block > 0 && block <= built {
            init += &format!("(on b{} b{block})", block - 1);
        } else {
            init += &format!("(clear b{})", if block == 0 { 0 } else { block });
        }
        if block >= built {
            init += &format!("(on-table b{block})");
        }
    }
    let goal: String = (1..count)
        .map(|block| format!("(on b{block} b{})", block - 1))
        .collect();
    let problem = format!(
        "(define (problem p) (:domain blocks) (:objects {names}) (:init {init})
           (:goal (and {goal})))"
    );
    let domain = text(&root().join("fixtures/valid/blocks/domain.pddl"));
    Arc::new(task(&parse_texts(&domain, &problem)).expect("it has a plan"))
}

fn training() -> Vec<Arc<Task>> {
    let mut tasks: Vec<Arc<Task>> = fixture("blocks").into_iter().map(Arc::new).collect();
    for count in 3..6 {
        tasks.extend((0..count).map(|built| blocks(count, built)));
    }
    tasks.extend([blocks(9, 4), blocks(12, 5)]);
    tasks
}

fn learnt(threads: usize) -> CountsModel {
    let mut told = 0;
    let model = learn(
        &training(),
        &LearnConfig::default(),
        1,
        threads,
        &mut (),
        &mut |progress| told += i32::from(matches!(progress, LearnProgress::Compared { .. })),
    )
    .expect("it learns");
    assert_eq!(told as usize, model.header.report.candidates.len());
    model
}

fn model() -> &'static CountsModel {
    static MODEL: OnceLock<CountsModel> = OnceLock::new();
    MODEL.get_or_init(|| learnt(1))
}

#[test]
fn there_and_back_and_the_same_on_any_number_of_threads() {
    let bytes = model().to_file().expect("a file");
    let read = CountsModel::from_file(&bytes).expect("a model");
    assert_eq!(read, *model());
    assert!(read.to_file().expect("a file") == bytes);
    assert!(learnt(3).to_file().expect("a file") == bytes);
    // Small enough to be sent by mail.
    assert!(bytes.len() < 200_000, "{}", bytes.len());
}

#[test]
fn what_is_read_scores_as_what_was_written() {
    let bytes = model().to_file().expect("a file");
    let any = AnyModel::from_file(&bytes).expect("a model");
    assert_eq!(any.function().kind(), ValueKind::Counts);
    let task = blocks(7, 3);
    let mut read = any
        .function()
        .scorer(&task)
        .expect("this domain")
        .expect("it can");
    let mut written = model().function.scorer(&task);
    read.enter(&task.initial_state());
    written.enter(&task.initial_state());
    assert_eq!(read.scores(), written.scores());
    assert_ne!(read.scores(), [0; 2]);
}

/// Plain search in batches, as the paper's, takes any model.
#[test]
fn any_model_is_a_heuristic() {
    let network = train(&fixture("blocks"), &hasty(), 1, 1);
    let models = [
        AnyModel::from(network.clone()),
        AnyModel::from(model().clone()),
    ];
    for model in models {
        let bytes = model.function().to_file().expect("a file");
        assert_eq!(AnyModel::from_file(&bytes).expect("a model"), model);
        let task = blocks(5, 3);
        let mut heuristic = model
            .function()
            .heuristic(&task, 1.into())
            .expect("this domain");
        let result = gbfs(&task, &mut *heuristic, Limits::default(), &mut ());
        assert!(matches!(result.outcome, Outcome::Solved(_)));
        let mut estimates = Vec::new();
        heuristic.evaluate(States::one(&task.initial_state()), &mut estimates);
        assert_eq!(estimates.len(), 1);
    }
    let network = AnyModel::from(network);
    let task = blocks(3, 0);
    assert!(
        network
            .function()
            .scorer(&task)
            .expect("this domain")
            .is_none()
    );
}

#[test]
fn a_model_of_another_kind_or_domain_is_refused() {
    let bytes = model().to_file().expect("a file");
    let error = Model::from_file(&bytes).expect_err("no network");
    assert_eq!(
        error.to_string(),
        "the model is of kind `counts`, not `nlm`"
    );
    let network = train(&fixture("blocks"), &hasty(), 1, 1)
        .to_file()
        .expect("a file");
    let error = CountsModel::from_file(&network).expect_err("no counts");
    assert_eq!(
        error.to_string(),
        "the model is of kind `nlm`, not `counts`"
    );
    let gripper = &fixture("gripper")[0];
    let refused = model().scorer(gripper).err().expect("another domain");
    assert!(
        matches!(refused, ModelError::OtherDomain { .. }),
        "{refused}"
    );
}

#[test]
fn the_order_of_declarations_does_not_matter() {
    let domain = text(&root().join("fixtures/valid/blocks/domain.pddl"));
    let mixed = domain.replacen("(clear ?x)\n", "(on ?x ?y)\n", 1).replacen(
        "(on ?x ?y))\n",
        "(clear ?x))\n",
        1,
    );
    let problem = text(&root().join("fixtures/valid/blocks/p02.pddl"));
    let score = |domain: &str| {
        let task = task(&parse_texts(domain, &problem)).expect("it has a plan");
        let mut scorer = model().scorer(&task).expect("this domain").expect("it can");
        scorer.enter(&task.initial_state());
        scorer.scores()
    };
    assert_eq!(score(&domain), score(&mixed));
}

#[test]
fn damaged_files_are_refused_and_never_a_panic() {
    let bytes = model().to_file().expect("a file");
    let mut random = SplitMix64::new(5);
    for case in 0..3000 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(damaged.len());
            match random.below(3) {
                0 => damaged[at] ^= 1 << random.below(8),
                1 => damaged[at] = random.next_u64() as u8,
                _ => damaged.truncate(at.max(1)),
            }
        }
        if let Ok(read) = CountsModel::from_file(&damaged) {
            assert_eq!(read, *model(), "case {case}");
        }
    }
}

/// The checksum aside: what a file says must not make us panic.
#[test]
fn files_without_a_checksum_are_refused_or_read() {
    let bytes = model().to_file().expect("a file");
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let header = String::from_utf8(bytes[8..8 + length].to_vec()).expect("JSON");
    let at = header.find(",\\\"crc32c").expect("a checksum");
    let end = at + header[at..].find('}').expect("its end");
    let mut plain = format!("{}{}", &header[..at], &header[end..]).into_bytes();
    while !plain.len().is_multiple_of(8) {
        plain.push(b' ');
    }
    let mut file = (plain.len() as u64).to_le_bytes().to_vec();
    file.extend(plain);
    let body = file.len();
    file.extend(&bytes[8 + length..]);
    assert_eq!(CountsModel::from_file(&file).expect("a model"), *model());
    let mut random = SplitMix64::new(6);
    let mut refused = 0;
    for _ in 0..3000 {
        let mut damaged = file.clone();
        let at = body + random.below(file.len() - body);
        damaged[at] = random.next_u64() as u8;
        if let Ok(read) = CountsModel::from_file(&damaged) {
            read.features_in_words(5);
        } else {
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn features_are_told_in_words() {
    let features = model().features_in_words(8);
    let lines: Vec<String> = features
        .iter()
        .map(|f| format!("{:+.2} [{}] {}", f.weights[0], f.round, f.text))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_larger_problem_of_the_same_kind_is_trusted_and_another_kind_is_not() {
    let near = model().trust(&blocks(20, 8));
    assert!(near.share() > 0.95, "{near:?}");
    let domain = text(&root().join("fixtures/valid/blocks/domain.pddl"));
    // No training problem asks for a block in the hand.
    let other = "(define (problem p) (:domain blocks) (:objects a b c)
        (:init (arm-empty) (on-table a) (on b a) (on c b) (clear c))
        (:goal (and (holding a) (clear a))))";
    let far = model().trust(&task(&parse_texts(&domain, other)).expect("it has a plan"));
    assert!(far.share() < near.share() - 0.1, "{far:?}");
}

#[test]
fn the_report_holds_the_table_of_candidates() {
    let report = &model().header.report;
    assert!(report.candidates.len() >= 4, "{report:?}");
    assert!(report.held_out >= 2);
    let chosen = &report.candidates[report.chosen];
    for other in &report.candidates {
        assert!(chosen.solved >= other.solved, "{report:?}");
    }
    assert_eq!(chosen.solved, report.held_out);
    assert_eq!(chosen.fit, report.fit);
}

/// Where no problem can be walked through, small ones are cut out of them.
#[test]
fn problems_that_are_too_large_are_cut() {
    let config = LearnConfig {
        data: DataSource::Exact(ExactConfig {
            states: 5,
            cuts: 20,
            ..ExactConfig::default()
        }),
        ..LearnConfig::default()
    };
    let tasks = [blocks(9, 4), blocks(12, 5), blocks(14, 7), blocks(16, 3)];
    let model = learn(&tasks, &config, 1, 1, &mut (), &mut |_| ()).expect("it learns");
    let data = &model.header.report.data;
    assert_eq!((data.walked, data.too_large), (0, 3), "{data:?}");
    assert!(data.cuts >= 20, "{data:?}");
    let chosen = &model.header.report.candidates[model.header.report.chosen];
    assert_eq!(
        chosen.solved, 1,
        "the largest is kept out of the fit, and solved"
    );
}

#[test]
fn what_cannot_be_learnt_from_is_told() {
    let try_to = |tasks: &[Arc<Task>], config: &LearnConfig| {
        learn(tasks, config, 1, 1, &mut (), &mut |_| ()).expect_err("nothing to learn")
    };
    let default = LearnConfig::default();
    assert_eq!(try_to(&[], &default), LearnError::NoProblems);
    let tiny = LearnConfig {
        data: DataSource::Exact(ExactConfig {
            states: 5,
            cut_from: 0,
            ..ExactConfig::default()
        }),
        ..LearnConfig::default()
    };
    let error = try_to(&[blocks(4, 0), blocks(5, 0)], &tiny);
    assert_eq!(
        error.to_string(),
        "no problem could be walked through: 2 too large, 0 without a plan or with nothing to do; \
         give smaller problems, or raise `states`"
    );
    let mixed = [blocks(3, 0), Arc::new(fixture("gripper").remove(0))];
    let error = try_to(&mixed, &default);
    assert!(
        matches!(&error, LearnError::MixedDomains(mixed) if mixed.problem == 1),
        "{error}"
    );
    let wrong = LearnConfig {
        data: DataSource::Exact(ExactConfig {
            states: 0,
            samples: 0,
            ..ExactConfig::default()
        }),
        ..LearnConfig::default()
    };
    let error = try_to(&[blocks(3, 0)], &wrong);
    assert_eq!(
        error.to_string(),
        "`states` must be at least 1; `samples` must be at least 1"
    );
}

/// One candidate needs no searches.
#[test]
fn without_candidates_the_configured_fit_is_the_model() {
    let config = LearnConfig {
        selection: SelectionConfig {
            candidates: false,
            ..SelectionConfig::default()
        },
        ..LearnConfig::default()
    };
    let model = learn(&training(), &config, 1, 1, &mut (), &mut |_| ()).expect("it learns");
    assert_eq!(model.header.report.candidates.len(), 1);
    assert_eq!(model.header.report.candidates[0].work, 0);
}

/// Configurations are plain data, each part on its own.
#[test]
fn a_configuration_is_read_from_its_parts() {
    let text = r#"{"function": {"kind": "counts", "rounds": 1},
                   "data": {"kind": "exact", "states": 500}}"#;
    let config: LearnConfig = serde_json::from_str(text).expect("a configuration");
    let again: LearnConfig =
        serde_json::from_str(&serde_json::to_string(&config).expect("text")).expect("the same");
    assert_eq!(config, again);
    let DataSource::Exact(data) = &config.data;
    assert_eq!((data.states, data.samples), (500, 60));
    let unknown = r#"{"function": {"kind": "counts", "round": 1}}"#;
    assert!(serde_json::from_str::<LearnConfig>(unknown).is_err());
}
