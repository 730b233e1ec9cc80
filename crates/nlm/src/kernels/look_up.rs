//! Reductions over triples whose pre-activations are sums: a table over classes of orbits, and
//! what pairs add. No products and no sigmoids. See `docs/nlm.md`, "The finite first layers".
//!
//! For a pair a <= b the objects z fall into three spans, by where z stands among the three; in
//! each the tuples (a, b, z) and (b, a, z) are the same two slots of their orbit.

use super::orbit::{SIX, Table};
use super::vector::{Kernel, Vector};
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
    /// The rows of (a, ·) and (b, ·).
    rows: [&'a [u32]; 2],
    expanded: *const f32,
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
        let (n, features) = (self.index.objects(), self.features);
        let expanded = expanded.as_ptr().wrapping_add(f);
        // SAFETY: rows, orbits and features are within the tensors.
        unsafe {
            for (p, &[a, b]) in self.index.ends()[..self.index.rows(2) / 2]
                .iter()
                .enumerate()
            {
                let (a, b) = (a as usize, b as usize);
                let mut pair = Pair {
                    rows: [self.index.rows_of(a), self.index.rows_of(b)],
                    expanded,
                    own: [V::splat(0.0); 2],
                    max: [V::splat(f32::NEG_INFINITY); 2],
                    min: [V::splat(f32::INFINITY); 2],
                };
                if PAIRS {
                    let own = |row: usize| V::load(expanded.add((row * 3 + 2) * features));
                    pair.own = [own(2 * p), own(2 * p + 1)];
                }
                let (first_a, first_b) = (self.index.orbits_of(a), self.index.after(b));
                let column = self.index.orbits_with(a);
                let last = *first_a.get_unchecked(b);
                let place = |z: usize| column.get_unchecked(z).wrapping_add(b as u32);
                pair = self.span::<V, BOTH, PAIRS, 1>(f, pair, 0..a, place);
                let place = |z: usize| first_a.get_unchecked(z).wrapping_add(b as u32);
                let middle = self.index.after(a)..b;
                pair = self.span::<V, BOTH, PAIRS, 2>(f, pair, middle, place);
                let place = |z: usize| last.wrapping_add(z as u32);
                pair = self.span::<V, BOTH, PAIRS, 3>(f, pair, first_b..n, place);
                for (row, (max, min)) in (2 * p..).zip(pair.max.into_iter().zip(pair.min)) {
                    let to = self.best.row(row).add(f);
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
    unsafe fn span<'p, V: Vector, const BOTH: bool, const PAIRS: bool, const SPAN: usize>(
        &self,
        f: usize,
        mut pair: Pair<'p, V>,
        span: Range<usize>,
        place: impl Fn(usize) -> u32,
    ) -> Pair<'p, V> {
        let slots = [[3, 5], [1, 4], [0, 2]][SPAN - 1];
        // SAFETY: the caller gives orbits that exist.
        unsafe {
            let table = self.table.slots.as_ptr().wrapping_add(f * SIX);
            for z in span {
                let class = *self.classes.get_unchecked(place(z) as usize) as usize;
                let at = table.add(class * self.features * SIX);
                let mut v = slots.map(|slot| V::load(at.add(slot * BLOCK)));
                if PAIRS {
                    // What (a, z) and (b, z) contribute without position k.
                    let part = |i: usize, k: usize| {
                        let row = *pair.rows[i].get_unchecked(z) as usize;
                        V::load(pair.expanded.add((row * 3 + k) * self.features))
                    };
                    let (a, b) = ([part(0, 1), part(0, 0)], [part(1, 0), part(1, 1)]);
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
        pair
    }
}
