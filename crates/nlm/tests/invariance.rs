//! What must not change a value: batches, threads, ways, names of objects, twins.

mod common;

use common::{Rng, levels, random_config, random_parameters, random_structure, tuple};
use homing_nlm::{InputError, Nlm, NlmConfig, Simd, Structure, Way, Workspace};
use proptest::prelude::*;

struct Case {
    nlm: Nlm,
    parameters: Vec<f32>,
    structures: Vec<Structure>,
}

impl Case {
    fn new(rng: &mut Rng, max_arity: usize, objects: usize, count: usize) -> Self {
        let config = random_config(rng, max_arity);
        let nlm = Nlm::new(config.clone()).unwrap();
        let parameters = random_parameters(rng, &nlm);
        let structures = (0..count)
            .map(|_| random_structure(rng, &config, objects))
            .collect();
        Self {
            nlm,
            parameters,
            structures,
        }
    }

    fn batch(&self) -> Vec<&Structure> {
        self.structures.iter().collect()
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn neither_batches_nor_threads_change_a_bit_and_ways_agree() {
    let mut rng = Rng(11);
    for case in 0..40 {
        let objects = 1 + rng.below(if case % 8 == 0 { 20 } else { 9 });
        let count = 1 + rng.below(40);
        let case = Case::new(&mut rng, case % 4, objects, count);
        let batch = case.batch();
        for simd in levels() {
            let prepared = case.nlm.prepare(&case.parameters, simd);
            let mut one = Workspace::new(1);
            let together = prepared.evaluate(&batch, &mut one).unwrap();
            let threaded = prepared.evaluate(&batch, &mut Workspace::new(3)).unwrap();
            assert_eq!(bits(&together), bits(&threaded));
            for (s, v) in batch.iter().zip(&together) {
                let alone = prepared.evaluate(&[s], &mut one).unwrap();
                assert_eq!(alone[0].to_bits(), v.to_bits(), "{:?}", case.nlm.config());
            }
            let forced = prepared.clone().with_way(Way::ByTuple);
            let values = forced.evaluate(&batch, &mut one).unwrap();
            for (a, b) in values.iter().zip(&together) {
                let close = (a - b).abs() <= 1e-5 * b.abs().max(1.0);
                assert!(close, "{a} {b} {simd} {:?}", case.nlm.config());
            }
            let mut gradients = Vec::new();
            for threads in [1, 2, 5] {
                let mut gradient = vec![0.0; case.parameters.len()];
                let mut workspace = Workspace::new(threads);
                prepared
                    .backward(&batch, &mut workspace, |i, v| v - i as f32, &mut gradient)
                    .unwrap();
                gradients.push(bits(&gradient));
            }
            assert!(gradients.windows(2).all(|w| w[0] == w[1]));
        }
    }
}

#[test]
fn a_workspace_may_serve_any_network_and_object_count_in_turn() {
    let mut rng = Rng(12);
    let mut shared = Workspace::default();
    for case in 0..60 {
        let objects = 1 + rng.below(18);
        let case = Case::new(&mut rng, 1 + case % 3, objects, 3);
        let prepared = case.nlm.prepare(&case.parameters, Simd::best());
        let fresh = prepared
            .evaluate(&case.batch(), &mut Workspace::default())
            .unwrap();
        let reused = prepared.evaluate(&case.batch(), &mut shared).unwrap();
        assert_eq!(bits(&fresh), bits(&reused));
        let (mut a, mut b) = (case.parameters.clone(), case.parameters.clone());
        let batch = case.batch();
        prepared
            .backward(&batch, &mut Workspace::default(), |_, v| v, &mut a)
            .unwrap();
        prepared
            .backward(&batch, &mut shared, |_, v| v, &mut b)
            .unwrap();
        assert_eq!(bits(&a), bits(&b));
    }
}

/// Small structures are computed several at once where tables serve all of them. Here some have
/// many types of objects and some few, one stretch after the other.
#[test]
fn structures_beside_it_change_no_bit_of_a_value() {
    for (layers, distinct) in [(5, false), (6, true), (7, false)] {
        let nlm = Nlm::new(NlmConfig {
            input_channels: vec![1, 7, 3],
            layers,
            distinct,
            ..NlmConfig::default()
        })
        .unwrap();
        let mut rng = Rng(layers as u64);
        let all: Vec<Structure> = (0..96)
            .map(|k| {
                let mut s = Structure::new(if k % 24 == 23 { 19 } else { 5 + k % 2 });
                // Few kinds of objects in one stretch, many in the next.
                let kinds = if k / 16 % 2 == 0 { 2 } else { 7 };
                for x in 0..s.objects() {
                    for channel in 0..kinds {
                        if rng.below(2) == 0 {
                            s.insert(channel, &[x]);
                        }
                    }
                    s.insert(rng.below(3), &[x, rng.below(5)]);
                }
                s
            })
            .collect();
        for simd in levels() {
            let prepared = nlm.prepare(&nlm.init(9), simd);
            let mut workspace = Workspace::default();
            for objects in [5, 6, 19] {
                let batch: Vec<&Structure> =
                    all.iter().filter(|s| s.objects() == objects).collect();
                let together = prepared.evaluate(&batch, &mut workspace).unwrap();
                for (structure, value) in batch.iter().zip(together) {
                    let alone = prepared
                        .evaluate(&[structure], &mut Workspace::default())
                        .unwrap();
                    assert_eq!(bits(&alone), bits(&[value]), "{simd} {objects}");
                }
            }
        }
    }
}

/// The same structure with objects renamed by a permutation, propositions in
/// another order.
fn renamed(s: &Structure, config: &NlmConfig, names: &[usize]) -> Structure {
    let mut out = Structure::new(s.objects());
    for arity in (0..config.input_channels.len()).rev() {
        let mut all: Vec<(usize, Vec<usize>)> = s
            .propositions(arity)
            .map(|(c, x)| (c, x.iter().map(|&x| names[usize::from(x)]).collect()))
            .collect();
        all.reverse();
        for (c, x) in all {
            out.insert(c, &x);
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn names_and_order_of_objects_do_not_matter(seed: u64, max_arity in 0usize..5) {
        let mut rng = Rng(seed);
        let objects = 1 + rng.below(if max_arity == 4 { 5 } else { 12 });
        let case = Case::new(&mut rng, max_arity, objects, 1);
        let mut names: Vec<usize> = (0..objects).collect();
        for i in (1..objects).rev() {
            names.swap(i, rng.below(i + 1));
        }
        let other = renamed(&case.structures[0], case.nlm.config(), &names);
        let mut workspace = Workspace::default();
        for simd in levels() {
            let prepared = case.nlm.prepare(&case.parameters, simd);
            let v = prepared.evaluate(&[&case.structures[0], &other], &mut workspace).unwrap();
            prop_assert!((v[0] - v[1]).abs() <= 1e-5 * v[0].abs().max(1.0), "{} {}", v[0], v[1]);
        }
    }

    #[test]
    fn the_quotient_by_twins_has_the_same_value(seed: u64, max_arity in 0usize..4, distinct: bool) {
        let mut rng = Rng(seed);
        let mut config = random_config(&mut rng, max_arity);
        config.distinct = distinct;
        let nlm = Nlm::new(config.clone()).unwrap();
        let parameters = random_parameters(&mut rng, &nlm);
        // Few kinds of object, many of each: large classes of twins.
        let kinds = 1 + rng.below(3);
        let objects = kinds + rng.below(12);
        let kind: Vec<usize> = (0..objects)
            .map(|x| if x < kinds { x } else { rng.below(kinds) })
            .collect();
        let mut s = Structure::new(objects);
        for (arity, &channels) in config.input_channels.iter().enumerate() {
            for c in 0..channels {
                let truth: Vec<bool> = (0..kinds.pow(arity as u32))
                    .map(|_| rng.chance(40))
                    .collect();
                for i in 0..objects.pow(arity as u32) {
                    let t = tuple(i, arity, objects);
                    if truth[t.iter().fold(0, |at, &x| at * kinds + kind[x])] {
                        s.insert(c, &t);
                    }
                }
            }
        }
        let mut workspace = Workspace::default();
        for simd in levels() {
            let quotient = nlm.prepare(&parameters, simd);
            let full = quotient.clone().with_twins(false);
            let q = quotient.evaluate(&[&s], &mut workspace).unwrap()[0];
            let f = full.evaluate(&[&s], &mut workspace).unwrap()[0];
            prop_assert!((q - f).abs() <= 1e-5 * f.abs().max(1.0), "{q} for {f}, {config:?}");
        }
    }
}

#[test]
fn a_batch_that_does_not_fit_is_refused_with_a_reason() {
    let nlm = Nlm::new(NlmConfig {
        input_channels: vec![0, 2],
        ..NlmConfig::default()
    })
    .unwrap();
    let prepared = nlm.prepare(&nlm.init(0), Simd::Portable);
    let mut workspace = Workspace::default();
    let (two, three) = (Structure::new(2), Structure::new(3));
    let error = prepared
        .evaluate(&[&two, &three], &mut workspace)
        .unwrap_err();
    assert_eq!(
        error,
        InputError::MixedObjectCounts {
            state: 1,
            objects: 3,
            expected: 2
        }
    );
    let mut wrong = Structure::new(2);
    wrong.insert(2, &[0]);
    let error = prepared.evaluate(&[&wrong], &mut workspace).unwrap_err();
    assert_eq!(
        error.to_string(),
        "structure 0 of the batch uses channel 2 of arity 1, where the network has 2"
    );
    let error = prepared
        .evaluate(&[&Structure::new(0)], &mut workspace)
        .unwrap_err();
    assert!(error.to_string().contains("between 1 and"));
    assert_eq!(prepared.evaluate(&[], &mut workspace).unwrap(), []);
}
