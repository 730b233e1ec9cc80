//! The constants that choose between ways of computing values, and what set each.
//!
//! Times are CPU times of blocks states on an AMD EPYC (Zen 4) with AVX-512. A constant that is
//! changed wants `cargo bench -p homing-nlm -- --table` before and after.

/// So many pairs of structures are worked on at once. Set by size: 384 pairs of two rows of some 40
/// columns are 120 KiB, which the second-level cache holds.
pub(super) const PAIRS_AT_ONCE: usize = 384;
/// And no more structures than this: as many as go to a thread at once.
pub(super) const STRUCTURES_AT_ONCE: usize = 16;

/// With fewer objects it takes longer to list neighbours than to go through all orbits. At 20
/// objects a state takes 0.036 ms orbit by orbit (L = 6); at 50 objects, with 14 times as many
/// orbits, 0.31 ms with neighbours, 8 times as long.
pub(super) const FEW_OBJECTS: usize = 36;
/// Pairs go with their neighbours where at most one in so many ordered pairs is not of the common
/// class: each makes O objects near for O pairs, and the sum must stay below the O^3 / 6 orbits.
pub(super) const MANY_NEIGHBOURS: usize = 6;

/// Coefficients of triples are stored up to this many bytes; beyond, every layer recomputes those
/// of the layers before it. Set by memory: 250 objects stay below 1 GiB (tested).
pub(super) const STORED_BYTES: usize = 192 << 20;

/// Classes of pairs that tables hold, and classes of orbits times features. Set by memory: with
/// eight features a class of pairs has a record of about 1 KiB, a class of orbits three or four
/// tables of 192 bytes. Up to 50 objects have 1,275 pairs and 22,100 orbits, which always fit.
pub(super) const PAIR_ROOM: usize = 1 << 13;
pub(super) const ORBIT_ROOM: usize = 1 << 18;
