//! What the benchmarks run: random blocks-world states with a goal, and a clock
//! of CPU seconds.
#![allow(dead_code)]

use homing_nlm::{Nlm, NlmConfig, Quantifiers, Simd, Structure};

/// The blocks network: clear/1 on-table/1 arm-empty/0 holding/1 on/2, for the
/// state and again for the goal.
pub(crate) fn blocks(layers: usize, quantifiers: Quantifiers) -> Nlm {
    Nlm::new(NlmConfig {
        input_channels: vec![2, 6, 2],
        layers,
        quantifiers,
        ..NlmConfig::default()
    })
    .expect("a valid configuration")
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Blocks stacked at random: insert in random order, each on the table or on a
/// clear block; the goal is another such state's `on`.
fn stack(rng: &mut Rng, objects: usize) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..objects).collect();
    for i in (1..objects).rev() {
        order.swap(i, rng.below(i + 1));
    }
    let mut below = vec![None; objects];
    let mut clear: Vec<usize> = Vec::new();
    for x in order {
        if !clear.is_empty() && rng.below(4) > 0 {
            let k = rng.below(clear.len());
            below[x] = Some(clear[k]);
            clear[k] = x;
        } else {
            clear.push(x);
        }
    }
    below
}

/// The structure of a state and a goal, given by what each block stands on.
fn structure(state: &[Option<usize>], goal: &[Option<usize>]) -> Structure {
    let mut s = Structure::new(state.len());
    s.insert(0, &[]);
    for (x, below) in state.iter().enumerate() {
        if !state.contains(&Some(x)) {
            s.insert(0, &[x]);
        }
        match below {
            Some(y) => s.insert(0, &[x, *y]),
            None => s.insert(1, &[x]),
        }
        if let Some(y) = goal[x] {
            s.insert(1, &[x, y]);
        }
    }
    s
}

fn rng(seed: u64) -> Rng {
    Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
}

/// `count` random states of `objects` blocks.
pub(crate) fn states(objects: usize, count: usize, seed: u64) -> Vec<Structure> {
    let mut rng = rng(seed);
    (0..count)
        .map(|_| {
            let state = stack(&mut rng, objects);
            let goal = stack(&mut rng, objects);
            structure(&state, &goal)
        })
        .collect()
}

/// `count` successors of one random state of `objects` blocks: a clear block moved onto the table
/// or onto another clear block. This is what a search evaluates at once.
pub(crate) fn successors(objects: usize, count: usize, seed: u64) -> Vec<Structure> {
    let mut rng = rng(seed);
    let state = stack(&mut rng, objects);
    let goal = stack(&mut rng, objects);
    let clear: Vec<usize> = (0..objects)
        .filter(|&x| !state.contains(&Some(x)))
        .collect();
    (0..count)
        .map(|_| {
            let x = clear[rng.below(clear.len())];
            let y = clear[rng.below(clear.len())];
            let mut next = state.clone();
            next[x] = (x != y).then_some(y);
            structure(&next, &goal)
        })
        .collect()
}

/// CPU seconds of this thread.
#[allow(unsafe_code)] // one call of the C library
pub(crate) fn cpu_seconds() -> f64 {
    let mut t = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `t` is a writable timespec.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut t) };
    assert_eq!(status, 0, "the system has a clock of CPU time");
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// The least CPU seconds of `work` over repeats filling about `budget` seconds.
pub(crate) fn least_cpu_seconds(budget: f64, mut work: impl FnMut()) -> f64 {
    // Enough calls in a sample that the clock's grain does not matter.
    let mut calls = 1;
    loop {
        let before = cpu_seconds();
        for _ in 0..calls {
            work();
        }
        if cpu_seconds() - before > 2e-3 || calls > 1 << 20 {
            break;
        }
        calls *= 2;
    }
    let mut least = f64::INFINITY;
    let from = cpu_seconds();
    let mut samples = 0;
    while samples < 5 || cpu_seconds() - from < budget {
        let before = cpu_seconds();
        for _ in 0..calls {
            work();
        }
        least = least.min((cpu_seconds() - before) / f64::from(calls));
        samples += 1;
    }
    least
}

/// Floating-point operations of one forward pass as the paper writes it: every
/// permuted copy concatenated, one product a weight and tuple.
pub(crate) fn naive_flops(nlm: &Nlm, objects: usize) -> f64 {
    nlm.views()
        .iter()
        .filter(|view| view.shape.len() == 2)
        .map(|view| {
            let weights: usize = view.shape.iter().product();
            2.0 * weights as f64 * (objects as f64).powi(view.arity as i32)
        })
        .sum()
}

/// Measured peak of this core in floating-point operations a second: independent
/// fused multiply-adds in registers.
pub(crate) fn peak_flops(simd: Simd) -> f64 {
    const ROUNDS: u32 = 100_000;
    let flops = f64::from(ROUNDS)
        * match simd {
            Simd::Portable => 8.0 * 4.0 * 2.0,
            Simd::Avx2 => 12.0 * 8.0 * 2.0,
            Simd::Avx512 => 24.0 * 16.0 * 2.0,
        };
    flops / least_cpu_seconds(0.3, || peak::rounds(simd, ROUNDS))
}

#[allow(unsafe_code)] // vector instructions, behind a check of the processor
mod peak {
    use homing_nlm::Simd;
    use std::hint::black_box;

    pub(super) fn rounds(simd: Simd, rounds: u32) {
        assert!(simd.supported());
        match simd {
            // SAFETY: the level is supported.
            #[cfg(target_arch = "x86_64")]
            Simd::Avx512 => unsafe { avx512(rounds) },
            // SAFETY: the level is supported.
            #[cfg(target_arch = "x86_64")]
            Simd::Avx2 => unsafe { avx2(rounds) },
            _ => {
                let mut a = black_box([[1.0f32; 4]; 8]);
                let (x, y) = (black_box(0.999_f32), black_box(1e-3_f32));
                for _ in 0..rounds {
                    for v in a.iter_mut().flatten() {
                        *v = *v * x + y;
                    }
                }
                black_box(a);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn avx512(rounds: u32) {
        use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_set1_ps};
        let mut a = black_box([_mm512_set1_ps(1.0); 24]);
        let (x, y) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(1e-3));
        for _ in 0..rounds {
            for v in &mut a {
                *v = _mm512_fmadd_ps(*v, x, y);
            }
        }
        black_box(a);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn avx2(rounds: u32) {
        use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps};
        let mut a = black_box([_mm256_set1_ps(1.0); 12]);
        let (x, y) = (_mm256_set1_ps(black_box(0.999)), _mm256_set1_ps(1e-3));
        for _ in 0..rounds {
            for v in &mut a {
                *v = _mm256_fmadd_ps(*v, x, y);
            }
        }
        black_box(a);
    }
}
