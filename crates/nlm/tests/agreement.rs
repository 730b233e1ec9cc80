//! The fast kernels against the plain f64 reference.

mod common;

use common::{Rng, levels, random_config, random_parameters, random_structure};
use homing_nlm::reference::Reference;
use homing_nlm::{Nlm, Structure, Workspace};

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[derive(Default)]
struct Tally {
    values: usize,
    gradients: usize,
    undecided: usize,
}

/// How near kernels must come to the reference.
#[derive(Clone, Copy, PartialEq)]
enum Bounds {
    /// The same for every network.
    Plain,
    /// Wider by what rounding moves the reference itself. With weights of 30 and more, what f32
    /// rounds off grows from layer to layer; and where unlike functions tie exactly, as they do with
    /// weights in halves, the gradient goes one way or the other, in the kernels too, which have sums
    /// and Fourier coefficients of weights.
    ByRounding,
}

/// One random network and batch, every level, twins on and off.
fn compare(rng: &mut Rng, max_arity: usize, max_objects: usize, bounds: Bounds, tally: &mut Tally) {
    let config = random_config(rng, max_arity);
    let nlm = Nlm::new(config.clone()).unwrap();
    let parameters = random_parameters(rng, &nlm);
    let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
    let objects = 1 + rng.below(max_objects);
    let count = 1 + rng.below(4);
    let structures: Vec<Structure> = (0..count)
        .map(|_| random_structure(rng, &config, objects))
        .collect();
    let batch: Vec<&Structure> = structures.iter().collect();
    let d_values: Vec<f32> = batch.iter().map(|_| rng.unit()).collect();
    let reference = |weights: &[f64]| {
        let mut values = Vec::new();
        let mut gradient = vec![0.0; weights.len()];
        let mut at_stake = 0.0;
        for (s, &d) in structures.iter().zip(&d_values) {
            let run = Reference::forward(&nlm, weights, s);
            values.push(run.value());
            let g = run.backward(f64::from(d));
            at_stake += g.at_stake;
            for (sum, g) in gradient.iter_mut().zip(&g.gradient) {
                *sum += g;
            }
        }
        (values, gradient, at_stake)
    };
    let (values, gradient, at_stake) = reference(&exact);
    let scale = norm(&gradient);
    let mut undecided = at_stake > 1e-6 * scale;
    let mut slack = vec![0.0; values.len()];
    if bounds == Bounds::ByRounding {
        let nearby: Vec<f64> = exact
            .iter()
            .map(|w| w * (1.0 + 1e-7 * f64::from(rng.unit())))
            .collect();
        let (moved_values, moved, _) = reference(&nearby);
        let moved: Vec<f64> = moved.iter().zip(&gradient).map(|(m, g)| m - g).collect();
        undecided |= norm(&moved) > 1e-5 * scale + 1e-8;
        let moved = moved_values.iter().zip(&values);
        slack = moved.map(|(m, v)| 10.0 * (m - v).abs()).collect();
    }
    let mut workspace = Workspace::default();
    for simd in levels() {
        for twins in [false, true] {
            let prepared = nlm.prepare(&parameters, simd).with_twins(twins);
            let what = format!("{config:?} O={objects} {simd} twins={twins}");
            let mut fast = vec![0.0; exact.len()];
            let trained = prepared
                .backward(&batch, &mut workspace, |i, _| d_values[i], &mut fast)
                .unwrap();
            let evaluated = prepared.evaluate(&batch, &mut workspace).unwrap();
            for got in [&trained, &evaluated] {
                for ((v, r), slack) in got.iter().zip(&values).zip(&slack) {
                    let error = (f64::from(*v) - r).abs();
                    let most = 1e-5 * r.abs().max(1.0) + slack;
                    assert!(error <= most, "{v} for {r}: {what}");
                    tally.values += 1;
                }
            }
            // A maximum that f32 cannot decide may rightly go either way.
            if undecided {
                tally.undecided += 1;
                continue;
            }
            let error: Vec<f64> = fast
                .iter()
                .zip(&gradient)
                .map(|(f, g)| f64::from(*f) - g)
                .collect();
            assert!(
                norm(&error) <= 1e-4 * scale + 1e-7,
                "gradient off by {} of {scale}: {what}",
                norm(&error)
            );
            tally.gradients += 1;
        }
    }
}

#[test]
fn fast_equals_reference_up_to_arity_three() {
    let mut rng = Rng(1);
    let mut tally = Tally::default();
    for case in 0..400 {
        compare(&mut rng, case % 4, 6, Bounds::Plain, &mut tally);
    }
    // Most cases must be decided, or the comparison says little.
    assert!(
        tally.gradients > 3 * tally.undecided,
        "{} {}",
        tally.gradients,
        tally.undecided
    );
}

#[test]
fn fast_equals_reference_whatever_the_seed() {
    let mut tally = Tally::default();
    for seed in [1, 100, 101, 102, 103, 104, 105] {
        let mut rng = Rng(seed);
        for case in 0..80 {
            compare(&mut rng, case % 4, 6, Bounds::ByRounding, &mut tally);
        }
    }
    assert!(
        tally.gradients > 10 * tally.undecided,
        "{} {}",
        tally.gradients,
        tally.undecided
    );
}

#[test]
fn fast_equals_reference_at_arity_four() {
    let mut rng = Rng(2);
    let mut tally = Tally::default();
    for _ in 0..25 {
        compare(&mut rng, 4, 4, Bounds::Plain, &mut tally);
    }
    assert!(
        tally.gradients > tally.undecided,
        "{} {}",
        tally.gradients,
        tally.undecided
    );
}

#[test]
fn fast_equals_reference_with_more_objects() {
    let mut rng = Rng(3);
    let mut tally = Tally::default();
    for _ in 0..12 {
        compare(&mut rng, 3, 10, Bounds::Plain, &mut tally);
    }
    assert!(tally.gradients > 0);
}

#[test]
fn reference_gradient_equals_finite_differences() {
    let mut rng = Rng(4);
    let mut checked = 0;
    for case in 0..60 {
        let config = random_config(&mut rng, case % 4);
        let nlm = Nlm::new(config.clone()).unwrap();
        // Generic weights: at an exact tie of unlike functions there is no derivative.
        let mut weights: Vec<f64> = nlm
            .init(case as u64)
            .iter()
            .map(|&w| 2.0 * f64::from(w))
            .collect();
        let structure = random_structure(&mut rng, &config, 1 + case % 4);
        let gradient = Reference::forward(&nlm, &weights, &structure).backward(1.0);
        if gradient.at_stake > 0.0 {
            continue;
        }
        let scale = norm(&gradient.gradient).max(1e-3);
        for _ in 0..12 {
            let i = rng.below(weights.len());
            let step = 1e-6;
            let old = weights[i];
            weights[i] = old + step;
            let above = Reference::forward(&nlm, &weights, &structure).value();
            weights[i] = old - step;
            let below = Reference::forward(&nlm, &weights, &structure).value();
            weights[i] = old;
            let slope = (above - below) / (2.0 * step);
            assert!(
                (slope - gradient.gradient[i]).abs() <= 1e-6 * scale,
                "{slope} for {}: {config:?}",
                gradient.gradient[i]
            );
            checked += 1;
        }
    }
    assert!(checked > 300, "{checked}");
}

#[test]
fn fast_equals_reference_at_the_ends_of_the_ranges() {
    let mut rng = Rng(5);
    for (max_arity, layers, features, objects) in [
        (3, 4, 64, 3),
        (3, 5, 61, 2),
        (3, 12, 2, 3),
        (0, 3, 64, 300),
        (1, 3, 5, 300),
        (2, 3, 4, 40),
        (3, 4, 1, 17),
        (5, 6, 1, 2),
    ] {
        let mut config = random_config(&mut rng, max_arity);
        (config.layers, config.features) = (layers, features);
        let nlm = Nlm::new(config.clone()).unwrap();
        let parameters = nlm.init(9);
        let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
        let s = random_structure(&mut rng, &config, objects);
        let value = Reference::forward(&nlm, &exact, &s).value();
        for simd in levels() {
            let prepared = nlm.prepare(&parameters, simd);
            let mut gradient = vec![0.0; parameters.len()];
            let mut workspace = Workspace::default();
            let trained = prepared
                .backward(&[&s], &mut workspace, |_, _| 1.0, &mut gradient)
                .unwrap();
            let evaluated = prepared.evaluate(&[&s], &mut workspace).unwrap();
            for v in [trained[0], evaluated[0]] {
                let error = (f64::from(v) - value).abs();
                assert!(
                    error <= 1e-5 * value.abs().max(1.0),
                    "{v} for {value}: {config:?}"
                );
            }
            assert!(gradient.iter().all(|g| g.is_finite()));
        }
    }
}
