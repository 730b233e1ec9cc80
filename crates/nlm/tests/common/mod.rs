//! Random networks and structures for the tests, from one seed.
#![allow(dead_code)]

use homing_nlm::{Nlm, NlmConfig, Quantifiers, Readout, Simd, Structure};

pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in 0..n.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Uniform in (-1, 1).
    pub(crate) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }
}

/// Every level this processor supports.
pub(crate) fn levels() -> Vec<Simd> {
    [Simd::Portable, Simd::Avx2, Simd::Avx512]
        .into_iter()
        .filter(|s| s.supported())
        .collect()
}

pub(crate) fn random_config(rng: &mut Rng, max_arity: usize) -> NlmConfig {
    let input_arity = rng.below(max_arity + 1);
    let mut input_channels: Vec<usize> = (0..=input_arity)
        .map(|_| if rng.chance(25) { 0 } else { 1 + rng.below(4) })
        .collect();
    if input_channels.iter().all(|&c| c == 0) {
        input_channels[input_arity] = 1;
    }
    let features = match rng.below(10) {
        0 => 1,
        1 => 13,
        2 => 3,
        3 => 16,
        _ => 1 + rng.below(9),
    };
    NlmConfig {
        input_channels,
        max_arity,
        layers: max_arity + 1 + rng.below(4),
        features,
        quantifiers: if rng.chance(50) {
            Quantifiers::Exists
        } else {
            Quantifiers::ExistsForall
        },
        distinct: rng.chance(50),
        skip_connections: rng.chance(75),
        // Sums have tests of their own, in `readout.rs`.
        readout: Readout::Nullary,
    }
}

/// Each proposition true with the given chance; every second structure gives
/// some objects the same propositions as others (twins, hence ties).
pub(crate) fn random_structure(rng: &mut Rng, config: &NlmConfig, objects: usize) -> Structure {
    let percent = [5, 30, 70, 100][rng.below(4)];
    let models = if rng.chance(50) {
        1 + rng.below(objects)
    } else {
        objects
    };
    let model: Vec<usize> = (0..objects)
        .map(|x| if x < models { x } else { rng.below(models) })
        .collect();
    let mut s = Structure::new(objects);
    for (arity, &channels) in config.input_channels.iter().enumerate() {
        for channel in 0..channels {
            let truth: Vec<bool> = (0..models.pow(arity as u32))
                .map(|_| rng.chance(percent))
                .collect();
            for index in 0..objects.pow(arity as u32) {
                let t = tuple(index, arity, objects);
                let m = t.iter().fold(0, |at, &x| at * models + model[x]);
                if truth[m] {
                    s.insert(channel, &t);
                    if rng.chance(5) {
                        s.insert(channel, &t);
                    }
                }
            }
        }
    }
    s
}

pub(crate) fn tuple(mut index: usize, arity: usize, objects: usize) -> Vec<usize> {
    let mut t = vec![0; arity];
    for x in t.iter_mut().rev() {
        *x = index % objects;
        index /= objects;
    }
    t
}

/// How the weights are drawn: most seeds as at the start of training, some with
/// saturated sigmoids, some all zero in places, some in halves (exact ties).
pub(crate) fn random_parameters(rng: &mut Rng, nlm: &Nlm) -> Vec<f32> {
    let mut p = nlm.init(rng.next());
    match rng.below(6) {
        0 => p.iter_mut().for_each(|w| *w *= 30.0),
        1 => {
            for view in nlm.views() {
                if rng.chance(20) {
                    p[view.range.clone()].fill(0.0);
                }
            }
        }
        2 => p.iter_mut().for_each(|w| *w = (*w * 4.0).round() / 2.0),
        3 => p.iter_mut().for_each(|w| *w += 0.3 * rng.unit()),
        _ => {}
    }
    p
}

pub(crate) fn blocks(layers: usize, quantifiers: Quantifiers) -> NlmConfig {
    NlmConfig {
        input_channels: vec![2, 6, 2],
        layers,
        quantifiers,
        ..NlmConfig::default()
    }
}

/// Blocks in towers, now and in the goal: channels as [`blocks`] has them.
pub(crate) fn towers(rng: &mut Rng, objects: usize) -> Structure {
    let mut s = Structure::new(objects);
    for goal in 0..2 {
        if rng.chance(80) {
            s.insert(goal, &[]);
        }
        let mut under = None;
        for x in 0..objects {
            if let Some(y) = under {
                s.insert(goal, &[x, y]);
            } else {
                s.insert(goal * 3, &[x]);
            }
            let top = rng.chance(40) || x + 1 == objects;
            if top {
                s.insert(goal * 3 + 1, &[x]);
            }
            under = (!top).then_some(x);
        }
    }
    s
}
