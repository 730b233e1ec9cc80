//! Boolean inputs as sets of bits: the unary propositions of an object, its type, and the binary ones of a pair,
//! its pattern, those of (a, b) from 0 on and those of (b, a) from the number of channels on.

/// Whether a set of bits has this one.
pub(crate) fn bit(bits: u64, c: usize) -> f32 {
    f32::from((bits >> c & 1) as u8)
}

/// Writes a set of bits, one a column.
pub(crate) fn write(to: &mut [f32], bits: u64) {
    for (c, to) in to.iter_mut().enumerate() {
        *to = bit(bits, c);
    }
}

/// Whether a pattern is the same both ways.
pub(crate) fn is_symmetric(bits: u64, channels: usize) -> bool {
    bits >> channels == bits & ((1 << channels) - 1)
}

/// What the channels of (a, b) and (b, a) add up to, given the pattern of the pair.
pub(crate) fn sums(bits: u64, channels: usize) -> impl Iterator<Item = f32> {
    (0..channels).map(move |c| bit(bits, c) + bit(bits, c + channels))
}

/// How they differ.
pub(crate) fn differences(bits: u64, channels: usize) -> impl Iterator<Item = f32> {
    (0..channels).map(move |c| bit(bits, c) - bit(bits, c + channels))
}
