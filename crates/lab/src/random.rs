//! Random numbers that are the same on every machine.
//!
//! xoshiro256++ (Blackman and Vigna), its state filled by SplitMix64. Integer arithmetic only, and
//! IEEE division and multiplication where a real number is needed: no mathematical library, whose
//! last digits differ between systems.

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

/// One step of SplitMix64.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// FNV-1a, 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

impl Random {
    /// The stream of a name and a seed. Streams of different names or seeds have nothing to do
    /// with each other.
    pub fn new(name: &str, seed: u64) -> Self {
        let mut start = seed;
        let mut mixer = split_mix(&mut start) ^ hash(name);
        Self {
            state: std::array::from_fn(|_| split_mix(&mut mixer)),
        }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number from 0 up to, not including, `bound`; every one equally likely.
    ///
    /// # Panics
    ///
    /// If `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "no number is below 0");
        let bound = bound as u64;
        // Lemire's method: the high half of a product, the few low halves that would favour some
        // numbers drawn again.
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            if product as u64 >= threshold {
                return (product >> 64) as usize;
            }
        }
    }

    /// A number from 0 up to, not including, 1, in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An index, with probability in proportion to its weight.
    ///
    /// # Panics
    ///
    /// If there is no weight above 0.
    pub fn weighted(&mut self, weights: &[f64]) -> usize {
        let total: f64 = weights.iter().sum();
        let mut rest = self.unit() * total;
        for (index, &weight) in weights.iter().enumerate() {
            if rest < weight {
                return index;
            }
            rest -= weight;
        }
        // Rounding may leave a trace of `rest`.
        weights
            .iter()
            .rposition(|&weight| weight > 0.0)
            .expect("a weight above 0")
    }

    /// Puts the items in a random order, every order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// So many different numbers below `bound`, in random order; all of them if there are fewer.
    pub fn distinct(&mut self, count: usize, bound: usize) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..bound).collect();
        for at in 0..count.min(bound) {
            let other = at + self.below(bound - at);
            numbers.swap(at, other);
        }
        numbers.truncate(count);
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut random = Random::new("blocks-4", 7);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(
            first,
            [
                4_937_411_581_446_509_320,
                1_202_460_745_340_376_654,
                16_849_148_999_444_812_719
            ]
        );
    }

    #[test]
    fn xoshiro_is_the_published_one() {
        // The first outputs from the state 1, 2, 3, 4, as the authors' C code gives them.
        let mut random = Random {
            state: [1, 2, 3, 4],
        };
        assert_eq!(
            (0..4).map(|_| random.bits()).collect::<Vec<_>>(),
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386
            ]
        );
    }

    #[test]
    fn bounded_numbers_are_even() {
        let mut random = Random::new("even", 1);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7)] += 1;
        }
        let chi_square: f64 = counts
            .iter()
            .map(|&count| (f64::from(count) - 10_000.0).powi(2) / 10_000.0)
            .sum();
        // 6 degrees of freedom: above 27.9 once in 10,000.
        assert!(chi_square < 27.9, "{counts:?}");
    }

    #[test]
    fn weights_are_kept() {
        let mut random = Random::new("weights", 1);
        let mut counts = [0_u32; 3];
        for _ in 0..60_000 {
            counts[random.weighted(&[1.0, 0.0, 2.0])] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!(
            (f64::from(counts[0]) - 20_000.0).abs() < 500.0,
            "{counts:?}"
        );
    }

    #[test]
    fn distinct_numbers_are_distinct() {
        let mut random = Random::new("distinct", 1);
        for _ in 0..100 {
            let mut numbers = random.distinct(5, 8);
            numbers.sort_unstable();
            numbers.dedup();
            assert!(numbers.len() == 5 && numbers[4] < 8);
        }
        assert_eq!(random.distinct(9, 3).len(), 3);
    }
}
