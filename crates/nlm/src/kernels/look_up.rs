//! Reductions over triples whose pre-activations are sums: a table over classes of orbits, and
//! what pairs add. No products and no sigmoids. See `docs/nlm.md`, "The finite first layers".
//!
//! For a pair a <= b the objects z fall into three spans, by where z stands among the three; in
//! each the tuples (a, b, z) and (b, a, z) are the same two slots of their orbit.
//!
//! In the tree of `docs/nlm.md`: by class, values alone, every orbit.

use super::orbit::{SIX, Table};
use super::vector::{Kernel, Vector, tiles};
use super::view::{RowsMut, all_below, times};
use crate::index::Index;
use crate::plan::BLOCK;
use std::ops::Range;

/// The extrema over the last object, of one structure.
pub(crate) struct LookUp<'a> {
    pub(crate) index: &'a Index,
    /// The class of each orbit.
    pub(crate) classes: &'a [u32],
    pub(crate) table: Table<'a>,
    /// `[row][3][features]`.
    pub(crate) expanded: Option<&'a [f32]>,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// `[row]`: features for each quantifier.
    pub(crate) best: RowsMut<'a>,
}

// SAFETY: every orbit of the index, and the rows of its pairs, which `check` asks for.
unsafe impl Kernel for LookUp<'_> {
    #[inline(always)]
    fn check(&self) {
        let (rows, features) = (self.index.rows(2), self.features);
        assert!(features.is_multiple_of(BLOCK));
        self.table.check(features);
        let orbits = self.index.orbits();
        assert!(u32::try_from(orbits).is_ok());
        all_below(&self.classes[..orbits], self.table.classes);
        let expanded = self.expanded.map(<[f32]>::len);
        assert!(expanded.is_none_or(|len| len >= times(rows, 3 * features)));
        let columns = features * (1 + usize::from(self.both));
        self.best.check(rows, columns);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: see `pass`.
        unsafe {
            for f in (0..self.features).step_by(BLOCK) {
                match (self.both, self.expanded) {
                    (false, Some(e)) => self.pass::<V, false, true>(f, e),
                    (true, Some(e)) => self.pass::<V, true, true>(f, e),
                    (false, None) => self.pass::<V, false, false>(f, &[]),
                    (true, None) => self.pass::<V, true, false>(f, &[]),
                }
            }
        }
    }
}

/// A pair a <= b, what it adds, and the extrema of both its rows so far.
#[derive(Clone, Copy)]
struct Pair<'a, V> {
    b: u32,
    /// The rows of (b, ·).
    rows: &'a [u32],
    own: [V; 2],
    max: [V; 2],
    min: [V; 2],
}

impl LookUp<'_> {
    /// Features f .. f + 8 of every pair.
    #[inline(always)]
    unsafe fn pass<V: Vector, const BOTH: bool, const PAIRS: bool>(
        &self,
        f: usize,
        expanded: &[f32],
    ) {
        let n = self.index.objects();
        // SAFETY: pairs of objects.
        unsafe {
            for a in 0..n {
                let first = self.index.after(a);
                tiles!(i of n.saturating_sub(first);
                    2 if V::WIDE => self.pairs::<V, BOTH, PAIRS, 2>(f, expanded, [a, first + i]),
                    1 if true => self.pairs::<V, BOTH, PAIRS, 1>(f, expanded, [a, first + i]),
                );
            }
        }
    }

    /// The pairs (a, b), (a, b + 1), .., T of them.
    #[inline(always)]
    unsafe fn pairs<V: Vector, const BOTH: bool, const PAIRS: bool, const T: usize>(
        &self,
        f: usize,
        expanded: &[f32],
        [a, b]: [usize; 2],
    ) {
        let (n, features, index) = (self.index.objects(), self.features, self.index);
        let expanded = expanded.as_ptr().wrapping_add(f);
        let first = index.pair(a, b);
        // SAFETY: rows, orbits and features are within the tensors.
        unsafe {
            let mut pairs = [Pair {
                b: b as u32,
                rows: &[],
                own: [V::splat(0.0); 2],
                max: [V::splat(f32::NEG_INFINITY); 2],
                min: [V::splat(f32::INFINITY); 2],
            }; T];
            for (t, pair) in pairs.iter_mut().enumerate() {
                pair.b += t as u32;
                pair.rows = index.rows_of(b + t);
                if PAIRS {
                    let own = |row: usize| V::load(expanded.add((row * 3 + 2) * features));
                    pair.own = [own(2 * (first + t)), own(2 * (first + t) + 1)];
                }
            }
            let (of_a, with_a) = (index.orbits_of(a), index.orbits_with(a));
            let low = |b: u32, z: usize| with_a.get_unchecked(z).wrapping_add(b);
            let middle = |b: u32, z: usize| of_a.get_unchecked(z).wrapping_add(b);
            let high = |b: u32, z: usize| of_a.get_unchecked(b as usize).wrapping_add(z as u32);
            let at = (f, a, expanded);
            let last = index.after(b + T - 1);
            pairs = self.span::<V, BOTH, PAIRS, 1, T>(at, pairs, 0..a, low);
            pairs = self.span::<V, BOTH, PAIRS, 2, T>(at, pairs, index.after(a)..b, middle);
            for (t, pair) in pairs.iter_mut().enumerate() {
                [*pair] = self.span::<V, BOTH, PAIRS, 2, 1>(at, [*pair], b..b + t, middle);
                let between = index.after(b + t)..last;
                [*pair] = self.span::<V, BOTH, PAIRS, 3, 1>(at, [*pair], between, high);
            }
            pairs = self.span::<V, BOTH, PAIRS, 3, T>(at, pairs, last..n, high);
            for (t, pair) in pairs.iter().enumerate() {
                for (i, (max, min)) in pair.max.into_iter().zip(pair.min).enumerate() {
                    let to = self.best.row(2 * (first + t) + i).add(f);
                    max.store(to);
                    if BOTH {
                        min.store(to.add(features));
                    }
                }
            }
        }
    }

    /// With the objects z of a span, the orbit of each at this place. By value, so that extrema
    /// stay in registers.
    #[inline(always)]
    unsafe fn span<'p, V, const BOTH: bool, const PAIRS: bool, const SPAN: usize, const T: usize>(
        &self,
        (f, a, expanded): (usize, usize, *const f32),
        mut pairs: [Pair<'p, V>; T],
        span: Range<usize>,
        place: impl Fn(u32, usize) -> u32,
    ) -> [Pair<'p, V>; T]
    where
        V: Vector,
    {
        let slots = [[3, 5], [1, 4], [0, 2]][SPAN - 1];
        let of_a = self.index.rows_of(a);
        // SAFETY: the caller gives orbits that exist.
        unsafe {
            let table = self.table.slots.as_ptr().wrapping_add(f * SIX);
            // What (a, z) or (b, z) contributes without position k.
            let part = |rows: &[u32], z: usize, k: usize| {
                let row = *rows.get_unchecked(z) as usize;
                V::load(expanded.add((row * 3 + k) * self.features))
            };
            for z in span {
                let mut a = [V::splat(0.0); 2];
                if PAIRS {
                    a = [part(of_a, z, 1), part(of_a, z, 0)];
                }
                for pair in &mut pairs {
                    let class = *self.classes.get_unchecked(place(pair.b, z) as usize) as usize;
                    let at = table.add(class * self.features * SIX);
                    let mut v = slots.map(|slot| V::load(at.add(slot * BLOCK)));
                    if PAIRS {
                        let b = [part(pair.rows, z, 0), part(pair.rows, z, 1)];
                        // In these orders sums have always been added up: values repeat to the bit.
                        v = if SPAN == 3 {
                            let [own_ab, own_ba] = pair.own;
                            [
                                v[0].add(own_ab).add(b[0]).add(a[0]),
                                v[1].add(own_ba).add(a[1]).add(b[1]),
                            ]
                        } else {
                            [0, 1].map(|i| v[i].add(a[i]).add(b[i]).add(pair.own[i]))
                        };
                    }
                    pair.max = [v[0].max(pair.max[0]), v[1].max(pair.max[1])];
                    if BOTH {
                        pair.min = [v[0].min(pair.min[0]), v[1].min(pair.min[1])];
                    }
                }
            }
        }
        pairs
    }
}
