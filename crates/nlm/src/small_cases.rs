//! Every way over structures of a few objects, for tools that watch memory: Miri, sanitizers,
//! valgrind (`dev/nlm/memory`). Small, since these are slow; exact, since what they watch must be
//! the right computation.
//!
//! In the tree of `docs/nlm.md`: every leaf.

use crate::by_class::ValuesByClass;
use crate::reference::Reference;
use crate::{Nlm, NlmConfig, Quantifiers, Readout, Simd, SplitMix64, Structure, Way, Workspace};

/// About every third proposition is true.
fn structure(rng: &mut SplitMix64, channels: &[usize], objects: usize) -> Structure {
    let mut s = Structure::new(objects);
    for (arity, &channels) in channels.iter().enumerate() {
        for index in 0..objects.pow(arity as u32) {
            let t: Vec<usize> = (0..arity as u32)
                .map(|i| index / objects.pow(i) % objects)
                .collect();
            for channel in (0..channels).filter(|_| rng.below(3) == 0) {
                s.insert(channel, &t);
            }
        }
    }
    s
}

/// The levels of this processor.
pub(crate) fn levels() -> impl Iterator<Item = Simd> {
    let all = [Simd::Portable, Simd::Avx2, Simd::Avx512];
    all.into_iter().filter(|simd| simd.supported())
}

/// Within the tolerance of values.
pub(crate) fn close(value: f32, right: f64, what: &str) {
    let error = (f64::from(value) - right).abs();
    assert!(
        error <= 1e-5 * right.abs().max(1.0),
        "{value} {right} {what}"
    );
}

/// Largest arity, layers, features and channels of a network.
type Case = (usize, usize, usize, &'static [usize]);

#[test]
fn small_structures_up_to_arity_two() {
    every_way(0, (3, 4, 2, &[1, 1]));
    every_way(3, (2, 3, 3, &[1, 1, 1]));
    every_way(4, (1, 2, 9, &[1, 2]));
    every_way(5, (0, 2, 2, &[3]));
}

#[test]
fn small_structures_by_class() {
    every_way(0, (3, 4, 3, &[1, 2, 1]));
    every_way(1, (3, 5, 9, &[1, 1, 2]));
    every_way(2, (3, 6, 3, &[0, 2, 1]));
    every_way(7, (3, 5, 9, &[1, 2, 1]));
}

#[test]
fn small_structures_with_ternary_propositions() {
    every_way(5, (3, 5, 3, &[0, 1, 1, 1]));
}

#[test]
fn small_structures_by_tuple() {
    every_way(3, (3, 7, 2, &[1, 1, 1]));
    every_way(6, (4, 5, 1, &[0, 1, 1]));
}

/// Values and gradients of random structures by every way and at every level. Which quantifiers
/// there are, whether objects are distinct and whether connections skip follows from the number.
fn every_way(case: usize, (max_arity, layers, features, channels): Case) {
    let mut rng = SplitMix64::new(7 + case as u64);
    // Under Miri, which takes a thousand times as long, one structure of two objects, and two
    // blocks of features up to arity 2 only.
    let features = match (cfg!(miri), max_arity) {
        (false, _) => features,
        (true, 0..=2) => 9,
        (true, _) => 1,
    };
    let (least, most, count) = if cfg!(miri) { (2, 2, 1) } else { (1, 3, 2) };
    let nlm = Nlm::new(NlmConfig {
        input_channels: channels.to_vec(),
        max_arity,
        layers,
        features,
        quantifiers: [Quantifiers::ExistsForall, Quantifiers::Exists][case % 2],
        distinct: case % 3 == 1,
        skip_connections: case % 4 != 3,
        readout: [Readout::Nullary, Readout::Sum][usize::from(max_arity > 0 && case % 5 == 2)],
    })
    .unwrap();
    let by_class = max_arity <= 3 && layers <= 6;
    let parameters = nlm.init(case as u64);
    let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
    for objects in least..=most {
        let all: Vec<Structure> = (0..count)
            .map(|_| structure(&mut rng, channels, objects))
            .collect();
        let batch: Vec<&Structure> = all.iter().collect();
        let right: Vec<f64> = all
            .iter()
            .map(|s| Reference::forward(&nlm, &exact, s).value())
            .collect();
        for simd in levels() {
            let what = format!("{:?} {objects} objects {simd}", nlm.config());
            let prepared = nlm.prepare(&parameters, simd);
            let mut workspace = Workspace::default();
            let ways = [Way::ByTuple, Way::Quickest];
            for way in ways.into_iter().take(1 + usize::from(by_class)) {
                let prepared = prepared.clone().with_way(way);
                let mut gradient = vec![0.0; parameters.len()];
                let trained = prepared
                    .backward(&batch, &mut workspace, |_, v| v, &mut gradient)
                    .unwrap();
                let values = prepared.evaluate(&batch, &mut workspace).unwrap();
                for got in [trained, values] {
                    for (value, &right) in got.into_iter().zip(&right) {
                        close(value, right, &what);
                    }
                }
                assert!(gradient.iter().all(|g| g.is_finite()), "{what}");
            }
            if by_class {
                for mut way in ValuesByClass::for_tests() {
                    for (structure, &right) in batch.iter().zip(&right) {
                        close(prepared.value(&mut way, structure), right, &what);
                    }
                }
            }
        }
    }
}
