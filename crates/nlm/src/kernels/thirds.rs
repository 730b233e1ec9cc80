//! Reductions over the third object of a triple, tuple by tuple, for several structures, and
//! their gradients.
//!
//! A tuple (a, b, z) has the value
//!
//! ```text
//! expanded(b, z)[0] + expanded(a, z)[1] + expanded(a, b)[2] + table[class and order of the tuple]
//! ```
//!
//! in this order of additions whatever the tuple is, so that unlike tuples that tie exactly do so
//! in f32 too. All tuples of one (a, b) are taken together: ties are counted and their shares given
//! in one place, and each tuple counts once. One that does not count has its place where the table
//! holds NaN, which is no extremum: to leave it out takes longer there, but not where shares are
//! given.
//!
//! In the tree of `docs/nlm.md`: by class, gradients alone, every tuple.

use super::orbit::{SIX, Table};
use super::rows_gradient::add;
use super::vector::{Kernel, Vector};
use super::view::{Rows, RowsMut, all_below, times};
use crate::plan::BLOCK;

/// The tuples, what their values are made of, and what is done with them.
pub(crate) struct Thirds<'a> {
    pub(crate) structures: usize,
    pub(crate) objects: usize,
    /// Leave out pairs that repeat an object.
    pub(crate) distinct: bool,
    /// Rows of pairs a structure has.
    pub(crate) rows: usize,
    /// `[a][b]`: the row of (a, b), in the first structure.
    pub(crate) row_of: &'a [u32],
    /// `[structure][a][b][z]`: where in the table the tuple's class and order lie.
    pub(crate) places: &'a [u32],
    pub(crate) table: Table<'a>,
    /// `[row][3][features]`.
    pub(crate) expanded: Option<&'a [f32]>,
    pub(crate) features: usize,
    /// Whether there are minima too.
    pub(crate) both: bool,
    pub(crate) to: To<'a>,
}

/// What is done with all tuples (a, b, ·).
pub(crate) enum To<'a> {
    /// Their extrema are taken. `[row]`: features for each quantifier.
    Best(RowsMut<'a>),
    /// The gradients of the extrema go to the tuples that attain them, in equal parts, and on to
    /// what their values are made of.
    Gradient(ThirdsGradient<'a>),
}

pub(crate) struct ThirdsGradient<'a> {
    /// `[row]`: features for each quantifier, the extrema and their gradients.
    pub(crate) best: Rows<'a>,
    pub(crate) d_best: Rows<'a>,
    /// As the table, added to.
    pub(crate) d_table: RowsMut<'a>,
    /// `[row][3 features]`, added to, where pairs contribute.
    pub(crate) d_expanded: RowsMut<'a>,
}

/// All tuples (a, b, ·), for eight features.
struct Run<'a, V, const F: usize> {
    a: usize,
    b: usize,
    /// The rows of (a, ·) and (b, ·).
    rows: [&'a [u32]; 2],
    places: &'a [u32],
    table: *const f32,
    expanded: *const f32,
    ab: V,
    width: usize,
}

impl<V: Vector, const F: usize> Run<'_, V, F> {
    #[inline(always)]
    unsafe fn value<const PAIRS: bool>(&self, z: usize) -> V {
        // SAFETY: the caller gives a tuple that exists.
        unsafe {
            let t = V::load(self.table.add(*self.places.get_unchecked(z) as usize));
            if PAIRS {
                let [az, bz] = self.parts(z);
                let (az, bz) = (self.expanded.add(az), self.expanded.add(bz));
                V::load(bz).add(V::load(az)).add(self.ab).add(t)
            } else {
                t
            }
        }
    }

    /// Where (a, z) without position 1 and (b, z) without position 0 lie in `expanded`.
    #[inline(always)]
    unsafe fn parts(&self, z: usize) -> [usize; 2] {
        // SAFETY: the caller gives a tuple that exists.
        unsafe {
            let az = *self.rows[0].get_unchecked(z) as usize;
            let bz = *self.rows[1].get_unchecked(z) as usize;
            let width = if F > 0 { F } else { self.width };
            [az * 3 * width + width, bz * 3 * width]
        }
    }
}

impl<'a> Thirds<'a> {
    /// The tuples (a, b, ·) of one structure, features f .. f + 8.
    #[inline(always)]
    unsafe fn tuples<V: Vector, const F: usize, const PAIRS: bool>(
        &self,
        structure: usize,
        a: usize,
        b: usize,
        f: usize,
    ) -> Run<'a, V, F> {
        let n = self.objects;
        // SAFETY: rows and features are within the tensors.
        unsafe {
            let mut ab = V::splat(0.0);
            let mut expanded = self.expanded.unwrap_or(&[]).as_ptr();
            if PAIRS {
                expanded = expanded.add(structure * self.rows * 3 * self.features + f);
                let row = *self.row_of.get_unchecked(a * n + b) as usize;
                ab = V::load(expanded.add((row * 3 + 2) * self.features));
            }
            let places = ((structure * n + a) * n + b) * n;
            Run {
                a,
                b,
                rows: [
                    self.row_of.get_unchecked(a * n..(a + 1) * n),
                    self.row_of.get_unchecked(b * n..(b + 1) * n),
                ],
                places: self.places.get_unchecked(places..places + n),
                table: self.table.slots.as_ptr().wrapping_add(f * SIX),
                expanded,
                ab,
                width: self.features,
            }
        }
    }
}

// SAFETY: all tuples of all structures, their rows and places, which `check` asks for.
unsafe impl Kernel for Thirds<'_> {
    #[inline(always)]
    fn check(&self) {
        let (n, features) = (self.objects, self.features);
        assert!(features.is_multiple_of(BLOCK));
        all_below(&self.row_of[..times(n, n)], self.rows);
        // The second row of (a, a) follows the first.
        assert!(self.distinct || (0..n).all(|a| (self.row_of[a * n + a] as usize) + 1 < self.rows));
        let (rows, width) = (times(self.structures, self.rows), features * SIX);
        if let Some(expanded) = self.expanded {
            assert!(expanded.len() >= times(rows, 3 * features));
        }
        self.table.check(features);
        let places = times(times(self.structures, n), times(n, n));
        // A place is one of the first features of a class; the others lie so far behind it.
        let behind = times(features - BLOCK, SIX) + BLOCK - 1;
        let len = self.table.classes * width;
        all_below(&self.places[..places], len.saturating_sub(behind));
        let columns = features * (1 + usize::from(self.both));
        match &self.to {
            To::Best(best) => best.check(rows, columns),
            To::Gradient(to) => {
                to.best.check(rows, columns);
                to.d_best.check(rows, columns);
                to.d_table.check(self.table.classes, width);
                assert_eq!(to.d_table.stride(), width);
                if self.expanded.is_some() {
                    assert_eq!(to.d_expanded.stride(), 3 * features);
                    to.d_expanded.check(rows, 3 * features);
                }
            }
        }
    }

    /// Chooses the constants by what is there, and goes through all runs.
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: as the caller's.
        unsafe {
            // Eight features are the rule, and then every offset is a constant.
            match (self.features == BLOCK, self.expanded.is_some(), self.both) {
                (true, false, false) => self.pass::<V, BLOCK, false, false>(),
                (true, false, true) => self.pass::<V, BLOCK, false, true>(),
                (true, true, false) => self.pass::<V, BLOCK, true, false>(),
                (true, true, true) => self.pass::<V, BLOCK, true, true>(),
                (false, false, false) => self.pass::<V, 0, false, false>(),
                (false, false, true) => self.pass::<V, 0, false, true>(),
                (false, true, false) => self.pass::<V, 0, true, false>(),
                (false, true, true) => self.pass::<V, 0, true, true>(),
            }
        }
    }
}

impl Thirds<'_> {
    #[inline(always)]
    unsafe fn pass<V: Vector, const F: usize, const PAIRS: bool, const BOTH: bool>(&self) {
        let n = self.objects;
        let features = if F > 0 { F } else { self.features };
        // SAFETY: rows and features are within the tensors.
        unsafe {
            for structure in 0..self.structures {
                for a in 0..n {
                    for b in (0..n).filter(|&b| !self.distinct || a != b) {
                        for f in (0..features).step_by(BLOCK) {
                            let run = self.tuples::<V, F, PAIRS>(structure, a, b, f);
                            match &self.to {
                                To::Best(best) => {
                                    self.reduce::<V, F, PAIRS, BOTH>(best, &run, structure, f);
                                }
                                To::Gradient(to) => {
                                    self.share::<V, F, PAIRS, BOTH>(to, &run, structure, f);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The extrema of a run.
    #[inline(always)]
    unsafe fn reduce<V: Vector, const F: usize, const PAIRS: bool, const BOTH: bool>(
        &self,
        best: &RowsMut<'_>,
        run: &Run<'_, V, F>,
        structure: usize,
        f: usize,
    ) {
        let features = if F > 0 { F } else { self.features };
        // SAFETY: rows and features are within the tensors.
        unsafe {
            let mut max = V::splat(f32::NEG_INFINITY);
            let mut min = V::splat(f32::INFINITY);
            for z in 0..self.objects {
                let v = run.value::<PAIRS>(z);
                max = v.max(max);
                if BOTH {
                    min = v.min(min);
                }
            }
            let row = structure * self.rows + *run.rows[0].get_unchecked(run.b) as usize;
            // Both rows of (a, a) hold the same tuple.
            for row in row..=row + usize::from(run.a == run.b) {
                let to = best.row(row).add(f);
                max.store(to);
                if BOTH {
                    min.store(to.add(features));
                }
            }
        }
    }

    /// The gradients of the extrema of a run.
    #[inline(always)]
    unsafe fn share<V: Vector, const F: usize, const PAIRS: bool, const BOTH: bool>(
        &self,
        to: &ThirdsGradient<'_>,
        run: &Run<'_, V, F>,
        structure: usize,
        f: usize,
    ) {
        let features = if F > 0 { F } else { self.features };
        let n = self.objects;
        // SAFETY: rows and features are within the tensors.
        unsafe {
            let one = V::splat(1.0);
            let zero = V::splat(0.0);
            let local = *run.rows[0].get_unchecked(run.b) as usize;
            let row = structure * self.rows + local;
            let (best, d_best) = (to.best.row(row).add(f), to.d_best.row(row).add(f));
            let (max, mut min) = (V::load(best), zero);
            let (mut share_max, mut share_min) = (V::load(d_best), zero);
            if BOTH {
                min = V::load(best.add(features));
                share_min = V::load(d_best.add(features));
            }
            if run.a == run.b {
                // The second row of (a, a) is the same tuple.
                let d_best = to.d_best.row(row + 1).add(f);
                share_max = share_max.add(V::load(d_best));
                if BOTH {
                    share_min = share_min.add(V::load(d_best.add(features)));
                }
            }
            if share_max.all_zero() && share_min.all_zero() {
                return;
            }
            // Without tuples that do not count: they lie at one place, and sums there would wait
            // for one another.
            let (low, high) = (run.a.min(run.b), run.a.max(run.b));
            let spans = match self.distinct {
                true => [0..low, low + 1..high, high + 1..n],
                false => [0..n, n..n, n..n],
            };
            let (mut ties_max, mut ties_min) = (zero, zero);
            for span in spans.clone() {
                for z in span {
                    let v = run.value::<PAIRS>(z);
                    ties_max = ties_max.add(v.where_equal(max, one));
                    if BOTH {
                        ties_min = ties_min.add(v.where_equal(min, one));
                    }
                }
            }
            share_max = share_max.div(ties_max);
            if BOTH {
                share_min = share_min.div(ties_min);
            }
            let d_table = to.d_table.row(0).wrapping_add(f * SIX);
            let d_expanded = to.d_expanded.row(structure * self.rows).wrapping_add(f);
            let mut total = zero;
            for span in spans {
                for z in span {
                    let v = run.value::<PAIRS>(z);
                    let mut d = v.where_equal(max, share_max);
                    if BOTH {
                        d = d.add(v.where_equal(min, share_min));
                    }
                    add(d_table.add(*run.places.get_unchecked(z) as usize), d);
                    if PAIRS {
                        let [az, bz] = run.parts(z);
                        add(d_expanded.add(az), d);
                        add(d_expanded.add(bz), d);
                        total = total.add(d);
                    }
                }
            }
            if PAIRS {
                add(d_expanded.add((local * 3 + 2) * features), total);
            }
        }
    }
}
