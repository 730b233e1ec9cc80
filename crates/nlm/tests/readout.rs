//! The readout that sums over objects.

mod common;

use common::{Rng, blocks, levels, random_structure};
use homing_nlm::reference::Reference;
use homing_nlm::{Nlm, NlmConfig, Quantifiers, Readout, Simd, Structure, Way, Workspace};

fn summed(layers: usize, distinct: bool) -> Nlm {
    Nlm::new(NlmConfig {
        distinct,
        readout: Readout::Sum,
        ..blocks(layers, Quantifiers::ExistsForall)
    })
    .unwrap()
}

#[test]
fn the_last_layer_has_weights_for_objects_too() {
    let nlm = summed(5, true);
    let names: Vec<&str> = nlm.views().iter().map(|v| v.name.as_str()).collect();
    let last = names.iter().filter(|name| name.starts_with("layer5."));
    assert_eq!(
        last.collect::<Vec<_>>(),
        [
            &"layer5.arity0.weight",
            &"layer5.arity0.bias",
            &"layer5.arity1.weight",
            &"layer5.arity1.bias"
        ]
    );
    // All before it is as in the paper's network.
    let papers = Nlm::new(blocks(5, Quantifiers::ExistsForall)).unwrap();
    assert_eq!(nlm.views()[..papers.views().len()], *papers.views());
}

/// Objects of which nothing is true add the same each: no quotient may take them for one.
#[test]
fn a_value_grows_with_every_object() {
    for layers in [5, 7] {
        let nlm = summed(layers, false);
        let parameters = nlm.init(3);
        for simd in levels() {
            let prepared = nlm.prepare(&parameters, simd);
            let mut workspace = Workspace::default();
            let values = [2, 3, 4, 40].map(|objects| {
                let structure = Structure::new(objects);
                prepared.evaluate(&[&structure], &mut workspace).unwrap()[0]
            });
            let step = values[1] - values[0];
            assert!(step.abs() > 1e-3, "{step}");
            for (value, times) in values[2..].iter().zip([2.0, 38.0]) {
                let right = values[0] + times * step;
                let close = (value - right).abs() <= 1e-4 * right.abs().max(1.0);
                assert!(close, "{value} {right} {simd}");
            }
        }
    }
}

/// Differences of the f64 reference against every gradient.
#[test]
fn gradients_are_those_of_finite_differences() {
    const EPSILON: f64 = 1e-6;
    let mut rng = Rng(31);
    // By class, and by tuple.
    for (layers, distinct) in [(5, true), (6, false), (7, true)] {
        let nlm = summed(layers, distinct);
        let parameters = nlm.init(rng.next());
        let structure = random_structure(&mut rng, nlm.config(), 4);
        let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
        let value = |parameters: &[f64]| Reference::forward(&nlm, parameters, &structure).value();
        let last = format!("layer{layers}.");
        let last = nlm.views().iter().find(|v| v.name.starts_with(&last));
        let readout = last.expect("a last layer").range.start..exact.len();
        let some = (0..60).map(|_| rng.below(parameters.len()));
        let slope = |at: usize| {
            let mut moved = exact.clone();
            moved[at] += EPSILON;
            let above = value(&moved);
            moved[at] -= 2.0 * EPSILON;
            (above - value(&moved)) / (2.0 * EPSILON)
        };
        let slopes = some.chain(readout).map(|at| (at, slope(at)));
        let slopes: Vec<(usize, f64)> = slopes.collect();
        for simd in levels() {
            for way in [Way::Quickest, Way::ByTuple] {
                let prepared = nlm.prepare(&parameters, simd).with_way(way);
                let mut gradient = vec![0.0; parameters.len()];
                prepared
                    .backward(
                        &[&structure],
                        &mut Workspace::default(),
                        |_, _| 1.0,
                        &mut gradient,
                    )
                    .unwrap();
                for &(at, slope) in &slopes {
                    let error = (f64::from(gradient[at]) - slope).abs();
                    assert!(
                        error <= 1e-4 * slope.abs().max(1.0),
                        "{} {slope} at {at}: {simd} {way:?} {layers} layers",
                        gradient[at]
                    );
                }
            }
        }
    }
}

#[test]
fn names_of_objects_do_not_matter_and_levels_agree() {
    let mut rng = Rng(32);
    for layers in [4, 5, 6, 7] {
        for distinct in [false, true] {
            let nlm = summed(layers, distinct);
            let prepared = nlm.prepare(&nlm.init(rng.next()), Simd::best());
            let parameters = nlm.init(rng.next());
            let structure = random_structure(&mut rng, nlm.config(), 9);
            let mut renamed = Structure::new(9);
            for arity in 0..3 {
                for (channel, x) in structure.propositions(arity) {
                    let x: Vec<usize> = x.iter().map(|&x| (usize::from(x) * 4 + 5) % 9).collect();
                    renamed.insert(channel, &x);
                }
            }
            let mut workspace = Workspace::default();
            let [a, b] = prepared
                .evaluate(&[&structure, &renamed], &mut workspace)
                .unwrap()[..]
            else {
                panic!("two values");
            };
            assert!((a - b).abs() <= 1e-5 * a.abs().max(1.0), "{a} {b}");
            let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
            let right = Reference::forward(&nlm, &exact, &structure).value();
            for simd in levels() {
                for way in [Way::Quickest, Way::ByTuple] {
                    let prepared = nlm.prepare(&parameters, simd).with_way(way);
                    let value = prepared.evaluate(&[&structure], &mut workspace).unwrap()[0];
                    let error = (f64::from(value) - right).abs();
                    assert!(
                        error <= 1e-5 * right.abs().max(1.0),
                        "{value} {right} {simd}"
                    );
                }
            }
        }
    }
}
