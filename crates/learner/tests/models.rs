//! Model files: there and back, and every way in which one can be wrong.

mod common;

use std::sync::OnceLock;

use common::{fixture, hasty, parse_texts, root, task, text, train};
use homing_learner::{FORMAT_VERSION, Learned, Model, ModelError, NetworkReadout, TrainConfig};
use homing_nlm::SplitMix64;
use homing_planner::{Heuristic, States};

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| train(&fixture("blocks"), &hasty(), 1, 1))
}

fn file() -> Vec<u8> {
    model().to_file().expect("a file")
}

#[track_caller]
fn refused(bytes: &[u8]) -> ModelError {
    match Model::from_file(bytes) {
        Ok(_) => panic!("it was read"),
        Err(error) => error,
    }
}

/// The file with its metadata changed as text, lengths made to fit.
fn with_header(bytes: &[u8], change: impl FnOnce(String) -> String) -> Vec<u8> {
    let length = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
    let header = String::from_utf8(bytes[8..8 + length].to_vec()).expect("JSON");
    let mut header = change(header).into_bytes();
    while !header.len().is_multiple_of(8) {
        header.push(b' ');
    }
    let mut changed = (header.len() as u64).to_le_bytes().to_vec();
    changed.extend(header);
    changed.extend(&bytes[8 + length..]);
    changed
}

/// Replaces text in the metadata, where quotes are escaped.
fn replaced(from: &str, to: &str) -> Vec<u8> {
    let escape = |text: &str| text.replace('"', "\\\"");
    with_header(&file(), |header| {
        assert!(header.contains(&escape(from)), "no {from} in {header}");
        header.replacen(&escape(from), &escape(to), 1)
    })
}

#[test]
fn there_and_back() {
    let bytes = file();
    let read = Model::from_file(&bytes).expect("a model");
    assert_eq!(read, *model());
    assert!(read.to_file().expect("a file") == bytes);
}

/// The readout is in the file, and only where it is not the paper's.
#[test]
fn a_network_that_sums_over_objects_comes_back_as_one() {
    let tasks = fixture("blocks");
    let config = TrainConfig {
        readout: NetworkReadout::Sum,
        ..hasty()
    };
    let summed = train(&tasks, &config, 1, 1);
    assert_eq!(summed, train(&tasks, &config, 1, 3));
    let bytes = summed.to_file().expect("a file");
    let read = Model::from_file(&bytes).expect("a model");
    assert_eq!(read, summed);
    assert_eq!(read.header.config.readout, NetworkReadout::Sum);
    assert!(read.parameters.len() > model().parameters.len());
    let values = |model: &Model| {
        let mut learned = Learned::new(model, &tasks[0], 1).expect("this domain");
        let mut estimates = Vec::new();
        learned.evaluate(States::one(&tasks[0].initial_state()), &mut estimates);
        estimates
    };
    assert_eq!(values(&read), values(&summed));
    assert_ne!(values(&read), values(model()));
    let papers = serde_json::to_string(&model().header).expect("text");
    assert!(!papers.contains("readout"));
}

#[test]
fn a_run_that_ends_before_the_first_sgd_step_has_loss_0() {
    let config = TrainConfig {
        steps: 5,
        ..hasty()
    };
    let loss = train(&fixture("blocks"), &config, 1, 1).header.summary.loss;
    assert!(loss == 0.0 && loss.is_sign_positive(), "{loss:?}");
}

/// Numbers that a careless reader of decimals gets wrong in the last bit.
#[test]
fn numbers_in_the_header_come_back_to_the_last_bit() {
    let mut random = SplitMix64::new(2);
    let mut model = model().clone();
    for _ in 0..3000 {
        model.header.summary.loss = random.unit() * 10f64.powi(random.below(40) as i32 - 20);
        model.header.config.gamma = random.unit().max(1e-9);
        model.header.config.learning_rate = random.unit() as f32 + 1e-9;
        let read = Model::from_file(&model.to_file().expect("a file")).expect("a model");
        assert_eq!(read.header, model.header);
    }
}

#[test]
fn a_file_cut_short_is_refused_at_every_length() {
    let bytes = file();
    for length in 0..bytes.len() {
        if length < 200 || length % 13 == 0 || bytes.len() - length < 50 {
            assert!(
                matches!(refused(&bytes[..length]), ModelError::Broken(_)),
                "{length}"
            );
        }
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(refused(&longer), ModelError::Broken(_)));
}

/// Every file like it is refused, or holds the very same model: the header of the format may be
/// written with other blanks.
#[test]
fn damaged_files_are_refused_and_never_a_panic() {
    let bytes = file();
    let mut random = SplitMix64::new(3);
    let mut refusals = 0;
    for case in 0..6000 {
        let mut damaged = bytes.clone();
        let header = case % 3 == 0;
        for _ in 0..1 + random.below(3) {
            let at = random.below(if header {
                2500.min(bytes.len())
            } else {
                bytes.len()
            });
            match random.below(5) {
                0 => damaged[at] ^= 1 << random.below(8),
                1 => damaged[at] = random.next_u64() as u8,
                2 => damaged[at] = b"0123456789\"{}[],:-e."[random.below(20)],
                3 => {
                    damaged.remove(at);
                }
                _ => damaged.insert(at, random.next_u64() as u8),
            }
        }
        if damaged == bytes {
            continue;
        }
        match Model::from_file(&damaged) {
            Ok(read) => assert_eq!(read, *model(), "case {case}"),
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refusals += 1;
            }
        }
    }
    assert!(refusals > 5900, "{refusals}");
}

#[test]
fn a_flipped_bit_in_a_weight_is_noticed() {
    let bytes = file();
    for back in [1, 2, 3, 4, 100, 1001] {
        let mut damaged = bytes.clone();
        let at = bytes.len() - back;
        damaged[at] ^= 1;
        let error = refused(&damaged);
        assert!(
            matches!(error, ModelError::Corrupted | ModelError::Weights { .. }),
            "{error}"
        );
    }
}

#[test]
fn messages() {
    let mut messages = String::new();
    let mut note = |what: &str, error: &ModelError| {
        messages += &format!("{what}:\n  {error}\n");
    };
    let bytes = file();
    note("an empty file", &refused(&[]));
    note("a text", &refused(b"(define (domain blocks))"));
    note("cut short", &refused(&bytes[..bytes.len() / 2]));
    note("cut short in the header", &refused(&bytes[..100]));

    let numbers: Vec<u8> = vec![0; 16];
    let tensor =
        safetensors::tensor::TensorView::new(safetensors::tensor::Dtype::F32, vec![2, 2], &numbers);
    let foreign = safetensors::serialize([("lm_head", tensor.expect("a tensor"))], None);
    note("somebody else's", &refused(&foreign.expect("a file")));

    let newer = format!("\"format_version\":{}", FORMAT_VERSION + 1);
    let version = format!("\"format_version\":{FORMAT_VERSION}");
    note("a newer format", &refused(&replaced(&version, &newer)));
    note(
        "no version",
        &refused(&replaced(&version, "\"no_version\":1")),
    );
    note(
        "another seed",
        &refused(&replaced("\"seed\":1", "\"seed\":2")),
    );
    note(
        "a word for a number",
        &refused(&replaced("\"seed\":1", "\"seed\":\"one\"")),
    );
    note(
        "an unknown field",
        &refused(&replaced("\"seed\":1", "\"sead\":1")),
    );
    note(
        "too few layers",
        &refused(&replaced("\"layers\":4", "\"layers\":2")),
    );
    note(
        "more layers",
        &refused(&replaced("\"layers\":4", "\"layers\":6")),
    );
    note(
        "layers beyond reason",
        &refused(&replaced("\"layers\":4", "\"layers\":4000000000000")),
    );
    note(
        "a wrong gamma",
        &refused(&replaced("\"gamma\":0.999", "\"gamma\":1.5")),
    );

    let mut infinite = bytes.clone();
    let end = infinite.len();
    infinite[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    note("a weight that is no number", &refused(&infinite));
    let mut flipped = bytes;
    flipped[end - 4] ^= 1;
    note("a flipped bit", &refused(&flipped));
    insta::assert_snapshot!(messages);
}

#[test]
fn another_domain_is_refused_with_all_that_differs() {
    let folder = root().join("fixtures/valid/blocks");
    let domain = text(&folder.join("domain.pddl"));
    let problem = text(&folder.join("p01.pddl"));
    let mut messages = String::new();
    let mut other = |what: &str, domain: &str, problem: &str| {
        let task = task(&parse_texts(domain, problem)).expect("it has a plan");
        match Learned::new(model(), &task, 1).err() {
            Some(error) => messages += &format!("{what}:\n  {error}\n"),
            None => messages += &format!("{what}: taken\n"),
        }
    };
    other("the same", &domain, &problem);
    // The name is not what a network reads.
    let renamed = domain.replacen("(domain blocks", "(domain towers", 1);
    let renamed_problem = problem.replace("(:domain blocks", "(:domain towers");
    other("another name", &renamed, &renamed_problem);
    let more = domain.replacen(
        "(:predicates",
        "(:predicates (painted ?x ?colour) (dry ?x)",
        1,
    );
    other("more predicates", &more, &problem);
    other(
        "another word",
        &domain.replace("holding", "carrying"),
        &problem.replace("holding", "carrying"),
    );
    let gripper = root().join("fixtures/valid/gripper");
    other(
        "another domain",
        &text(&gripper.join("domain.pddl")),
        &text(&gripper.join("p01.pddl")),
    );
    insta::assert_snapshot!(messages);
}

/// Weights may be numbers and still too large to add up.
#[test]
fn absurd_weights_leave_the_base_heuristic() {
    let mut model = model().clone();
    for (index, weight) in model.parameters.iter_mut().enumerate() {
        *weight = if index % 2 == 0 { f32::MAX } else { -f32::MAX };
    }
    let model = Model::from_file(&model.to_file().expect("a file")).expect("a model");
    for task in fixture("blocks") {
        let mut learned = Learned::new(&model, &task, 1).expect("a model of this domain");
        let mut estimates = Vec::new();
        learned.evaluate(States::one(&task.initial_state()), &mut estimates);
        assert!(estimates[0].finite().is_some());
    }
}
