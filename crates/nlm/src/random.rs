//! A small seeded generator, so that a seed gives the same weights everywhere.
//!
//! In the tree of `docs/nlm.md`: nowhere. First weights and tests use it.

use crate::functions::ln;

/// SplitMix64: one 64-bit state, a full period, no weak seeds. The one source of chance in homing:
/// a seed gives the same numbers on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// From a seed, or from the [`state`](Self::state) of another one.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// What [`new`](Self::new) continues from.
    pub fn state(&self) -> u64 {
        self.0
    }

    /// Uniform in `0..n`, every number equally likely.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "a number below 0");
        let n = n as u64;
        // The high half of a 128-bit product, with the few words that would favour some numbers
        // drawn again.
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= n.wrapping_neg() % n {
                return (product >> 64) as usize;
            }
        }
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in the open interval (-1, 1), never 0.
    fn symmetric(&mut self) -> f64 {
        let bits = (self.next_u64() >> 11) as f64 + 0.5;
        bits * (2.0 / (1u64 << 53) as f64) - 1.0
    }

    /// Standard normal, cut at two standard deviations and rescaled to unit
    /// variance: polar method, then rejection.
    pub(crate) fn truncated_normal(&mut self) -> f64 {
        // The standard deviation of a normal cut at +-2.
        const CUT_DEVIATION: f64 = 0.879_625_661_034_239_8;
        loop {
            let (u, v) = (self.symmetric(), self.symmetric());
            let s = u * u + v * v;
            if s >= 1.0 {
                continue;
            }
            let x = u * (-2.0 * ln(s) / s).sqrt();
            if x.abs() <= 2.0 {
                return x / CUT_DEVIATION;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_words_are_those_of_splitmix64() {
        // From the published C program, seed 1234567.
        let mut g = SplitMix64::new(1_234_567);
        assert_eq!(g.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(g.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn truncated_normal_has_unit_variance_and_a_cut() {
        let mut g = SplitMix64::new(1);
        let n = 100_000;
        let xs: Vec<f64> = (0..n).map(|_| g.truncated_normal()).collect();
        let mean = xs.iter().sum::<f64>() / f64::from(n);
        let var = xs.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((var - 1.0).abs() < 0.02, "{var}");
        assert!(xs.iter().all(|x| x.abs() <= 2.0 / 0.8796));
    }
}
