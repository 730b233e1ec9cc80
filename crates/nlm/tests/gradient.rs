//! Gradients by class and by tuple against the plain reference.

mod common;

use common::{Rng, blocks, levels, random_config, random_parameters, random_structure, towers};
use homing_nlm::reference::Reference;
use homing_nlm::{Nlm, NlmConfig, Quantifiers, Structure, Way, Workspace};

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// What the reference says of a batch.
struct Expected {
    values: Vec<f64>,
    gradient: Vec<f64>,
    /// See `ReferenceGradient`.
    at_stake: f64,
}

fn d_value(i: usize) -> f32 {
    (i as f32 * 0.7 + 0.3).sin()
}

fn expected(nlm: &Nlm, parameters: &[f32], batch: &[&Structure]) -> Expected {
    let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
    let mut all = Expected {
        values: Vec::new(),
        gradient: vec![0.0; exact.len()],
        at_stake: 0.0,
    };
    for (i, s) in batch.iter().enumerate() {
        let run = Reference::forward(nlm, &exact, s);
        all.values.push(run.value());
        let g = run.backward(f64::from(d_value(i)));
        all.at_stake += g.at_stake;
        for (sum, g) in all.gradient.iter_mut().zip(&g.gradient) {
            *sum += g;
        }
    }
    all
}

/// Checks every level and both ways; returns whether f32 can decide the gradient.
fn check(nlm: &Nlm, parameters: &[f32], batch: &[&Structure]) -> bool {
    let right = expected(nlm, parameters, batch);
    let scale = norm(&right.gradient);
    let decided = right.at_stake <= 1e-6 * scale;
    let mut workspace = Workspace::default();
    for simd in levels() {
        for way in [Way::Quickest, Way::ByTuple] {
            let prepared = nlm.prepare(parameters, simd).with_way(way);
            let what = format!("{:?} O={} {simd} {way:?}", nlm.config(), batch[0].objects());
            let mut gradient = vec![0.0; parameters.len()];
            let values = prepared
                .backward(batch, &mut workspace, |i, _| d_value(i), &mut gradient)
                .unwrap();
            for (v, r) in values.iter().zip(&right.values) {
                let error = (f64::from(*v) - r).abs();
                assert!(error <= 1e-5 * r.abs().max(1.0), "{v} for {r}: {what}");
            }
            let pairs = gradient.iter().zip(&right.gradient);
            let error: Vec<f64> = pairs.map(|(f, g)| f64::from(*f) - g).collect();
            assert!(gradient.iter().all(|g| g.is_finite()), "{what}");
            if decided {
                assert!(
                    norm(&error) <= 1e-4 * scale + 1e-7,
                    "gradient off by {} of {scale}: {what}",
                    norm(&error)
                );
            }
        }
    }
    decided
}

#[test]
fn towers_have_the_gradient_of_the_reference() {
    let mut rng = Rng(21);
    let mut decided = 0;
    let mut all = 0;
    for layers in [4, 5, 6, 7] {
        for quantifiers in [Quantifiers::Exists, Quantifiers::ExistsForall] {
            for distinct in [false, true] {
                for objects in [1, 2, 3, 5] {
                    let nlm = Nlm::new(NlmConfig {
                        distinct,
                        ..blocks(layers, quantifiers)
                    })
                    .unwrap();
                    let structures: Vec<Structure> =
                        (0..3).map(|_| towers(&mut rng, objects)).collect();
                    let batch: Vec<&Structure> = structures.iter().collect();
                    let parameters = nlm.init(rng.next());
                    decided += usize::from(check(&nlm, &parameters, &batch));
                    all += 1;
                }
            }
        }
    }
    assert!(2 * decided > all, "{decided} of {all}");
}

/// Every entry of a reduction ties with every other, like or unlike.
#[test]
fn where_everything_ties_every_tuple_has_its_share() {
    let mut rng = Rng(22);
    let (mut decided, mut all) = (0, 0);
    for layers in [4, 5, 6] {
        for distinct in [false, true] {
            for skip_connections in [false, true] {
                for objects in [1, 2, 3, 4, 6] {
                    let nlm = Nlm::new(NlmConfig {
                        distinct,
                        skip_connections,
                        ..blocks(layers, Quantifiers::ExistsForall)
                    })
                    .unwrap();
                    let structures: Vec<Structure> =
                        (0..2).map(|_| towers(&mut rng, objects)).collect();
                    let batch: Vec<&Structure> = structures.iter().collect();
                    assert!(check(&nlm, &vec![0.0; nlm.parameter_count()], &batch));
                    // Zero in the first layer alone: later layers tie, and their weights matter.
                    let mut parameters = nlm.init(rng.next());
                    for view in nlm.views() {
                        if view.name.starts_with("layer1.") {
                            parameters[view.range.clone()].fill(0.0);
                        }
                    }
                    decided += usize::from(check(&nlm, &parameters, &batch));
                    all += 1;
                }
            }
        }
    }
    assert!(2 * decided > all, "{decided} of {all}");
}

#[test]
fn saturated_sigmoids_give_finite_gradients() {
    let mut rng = Rng(23);
    for factor in [10.0, 100.0, 10_000.0] {
        for layers in [4, 5, 6] {
            let nlm = Nlm::new(blocks(layers, Quantifiers::ExistsForall)).unwrap();
            let parameters: Vec<f32> = nlm.init(rng.next()).iter().map(|w| w * factor).collect();
            let structures: Vec<Structure> = (0..3).map(|_| towers(&mut rng, 4)).collect();
            check(&nlm, &parameters, &structures.iter().collect::<Vec<_>>());
        }
    }
}

/// Networks of every shape up to arity 3, inputs of some arities missing.
#[test]
fn random_networks_have_the_gradient_of_the_reference() {
    let mut rng = Rng(24);
    let mut decided = 0;
    for case in 0..150 {
        let max_arity = [1, 2, 3, 3][case % 4];
        let mut config = random_config(&mut rng, max_arity);
        // Seldom what is computed by tuple in any case.
        config.layers = config.layers.min(6);
        if config.input_channels.len() == 4 && rng.chance(80) {
            config.input_channels[3] = 0;
        }
        if config.input_channels.iter().all(|&c| c == 0) {
            config.input_channels[0] = 1;
        }
        let nlm = Nlm::new(config.clone()).unwrap();
        let parameters = random_parameters(&mut rng, &nlm);
        let objects = 1 + rng.below(5);
        let structures: Vec<Structure> = (0..1 + rng.below(5))
            .map(|_| random_structure(&mut rng, &config, objects))
            .collect();
        let batch: Vec<&Structure> = structures.iter().collect();
        decided += usize::from(check(&nlm, &parameters, &batch));
    }
    assert!(decided > 100, "{decided}");
}

/// More structures than a group holds; threads and earlier work change no bit.
#[test]
fn the_bits_of_a_gradient_follow_from_the_batch() {
    let mut rng = Rng(25);
    let sizes = [(6, 4, 70), (5, 3, 33), (6, 12, 40), (4, 1, 3)];
    // Distinct tuples have no place for those with an object twice: nothing may be left there.
    let sizes = sizes.map(|size| (size, false)).into_iter();
    for ((layers, objects, count), distinct) in sizes.chain([((6, 4, 9), true), ((5, 5, 3), true)])
    {
        let nlm = Nlm::new(NlmConfig {
            distinct,
            ..blocks(layers, Quantifiers::ExistsForall)
        })
        .unwrap();
        let parameters = nlm.init(rng.next());
        let structures: Vec<Structure> = (0..count).map(|_| towers(&mut rng, objects)).collect();
        let batch: Vec<&Structure> = structures.iter().collect();
        let others: Vec<Structure> = (0..9).map(|_| towers(&mut rng, objects + 2)).collect();
        let others: Vec<&Structure> = others.iter().collect();
        for simd in levels() {
            let prepared = nlm.prepare(&parameters, simd);
            let mut seen = Vec::new();
            for threads in [1, 2, 5] {
                let mut workspace = Workspace::new(threads);
                for _ in 0..2 {
                    let mut gradient = vec![f32::NAN; parameters.len()];
                    let values = prepared
                        .backward(&batch, &mut workspace, |i, v| v + i as f32, &mut gradient)
                        .unwrap();
                    seen.push((bits(&values), bits(&gradient)));
                    // Leaves other classes and other sizes behind.
                    prepared
                        .backward(&others, &mut workspace, |_, v| v, &mut gradient)
                        .unwrap();
                    prepared.evaluate(&batch, &mut workspace).unwrap();
                }
            }
            assert!(seen.windows(2).all(|w| w[0] == w[1]), "{simd}");
        }
        if objects < 12 {
            check(&nlm, &parameters, &batch[..8.min(count)]);
        }
    }
}
