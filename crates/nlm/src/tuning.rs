//! The constants that were set by measurement or by size, and what set each.
//!
//! Times are CPU times of blocks states on an AMD EPYC (Zen 4) with AVX-512. A constant that is
//! changed wants `cargo bench -p homing-nlm -- --table` before and after. None changes a value
//! beyond rounding. How many rows and columns a kernel takes at once is in the kernel: it follows
//! from the number of registers.
//!
//! In the tree of `docs/nlm.md`: what decides between branches by class, and how much is done at
//! once.

/// So many structures go to a thread at once. Set by size, as [`PAIRS_AT_ONCE`].
pub(crate) const STRUCTURES_AT_ONCE: usize = 16;
/// Of which so many pairs are worked on at once. Set by size: 384 pairs of two rows of some 40
/// columns are 120 KiB, which the second-level cache holds.
pub(crate) const PAIRS_AT_ONCE: usize = 384;

/// So many triples of structures, and no more structures than this, are worked on at once for
/// gradients. Set by training: 25 states of 6 objects, a batch, are one group and share classes; at
/// 12 objects a group of 32 has places for 55,000 tuples, 220 KiB.
pub(crate) const TRIPLES_AT_ONCE: usize = 1 << 16;
pub(crate) const GRADIENTS_AT_ONCE: usize = 32;

/// So many indices of rows are kept, by object count. Set by use: a search has one object count, or
/// a few where twins are left out, training a few dozen.
pub(crate) const INDICES: usize = 64;

/// With fewer objects it takes longer to list neighbours than to go through all orbits. At 50
/// objects a state takes 0.181 ms with neighbours and 0.237 without (L = 5, maximum and minimum;
/// L = 6: 0.397 and 0.453); with the maximum alone 0.163 and 0.172 (L = 6: 0.328 and 0.318).
pub(crate) const FEW_OBJECTS: usize = 36;
/// Pairs go with their neighbours where at most one in so many ordered pairs is not of the common
/// class: each makes O objects near for O pairs, and the sum must stay below the O^3 / 6 orbits.
pub(crate) const MANY_NEIGHBOURS: usize = 6;
/// And where objects have no more types than this: sixteen counts fill a vector.
pub(crate) const SEGMENTS: usize = 16;

/// Beyond so many classes of pairs, or of orbits times features, tables start afresh. Set by
/// memory: with eight features a class of pairs has about 1 KiB, a class of orbits three or four
/// tables of 192 bytes.
pub(crate) const PAIR_ROOM: usize = 1 << 13;
pub(crate) const ORBIT_ROOM: usize = 1 << 18;

/// Up to so many objects are searched for twins by comparing hashes, beyond they are sorted. Set by
/// size: a cache line or two of hashes.
pub(crate) const FEW_TO_COMPARE: usize = 16;

/// Columns a map over rows takes at once: the rows of a tile lie at distances the compiler does not
/// know, and this way each place is computed once for so many columns.
pub(crate) const UNROLL: usize = 4;
/// How much of the summed index a product of matrices does at a time. Set by size: a panel of two
/// vectors and 256 rows is 16 KiB, which the nearest cache holds.
pub(crate) const DEPTH: usize = 256;
