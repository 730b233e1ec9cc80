//! One hash for states, facts and keys: fast on short runs of words, the same on every machine.

const FIRST: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND: u64 = 0xD1B5_4A32_D192_ED03;

/// Multiplies to 128 bits and folds: every bit of the product depends on every lower bit.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Hashes a run of words. Runs that are compared must be of equal length.
#[inline]
pub(crate) fn hash_words(words: impl Iterator<Item = u32>) -> u64 {
    let mut hash = FIRST;
    for word in words {
        hash = fold(hash ^ u64::from(word), SECOND);
    }
    fold(hash, FIRST)
}

/// Hashes a slice of words, two at a time.
#[inline]
pub(crate) fn hash_slice(words: &[u32]) -> u64 {
    let mut hash = FIRST;
    let (pairs, rest) = words.as_chunks::<2>();
    for [low, high] in pairs {
        let pair = u64::from(*low) | u64::from(*high) << 32;
        hash = fold(hash ^ pair, SECOND);
    }
    if let [last] = rest {
        hash = fold(hash ^ u64::from(*last), SECOND);
    }
    fold(hash, FIRST)
}
