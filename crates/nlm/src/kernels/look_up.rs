//! Reductions over triples whose pre-activations are sums: a table over classes of orbits, and
//! what pairs add. See `docs/nlm.md`, "The finite first layers".

use super::orbit::{SIX, load_six};
use super::vector::{Kernel, Vector};
use super::view::{RowsMut, all_below, times};
use crate::index::Pairs;
use crate::plan::BLOCK;

/// A table over classes of orbits, `[class][feature block][6][8]`, and how many there are.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    pub(crate) slots: &'a [f32],
    pub(crate) classes: usize,
}

impl Table<'_> {
    /// # Panics
    ///
    /// Unless it has an entry for each of these classes.
    #[inline(always)]
    pub(super) fn check(&self, classes: &[u32], features: usize) {
        assert!(self.slots.len() >= times(self.classes, features * SIX));
        all_below(classes, self.classes);
    }
}

/// The extrema over the last object of what a table says of the class of each orbit, plus what
/// pairs contribute. No products and no sigmoids.
pub(crate) struct LookUp<'a> {
    pub(crate) pairs: Pairs<'a>,
    /// The class of each orbit.
    pub(crate) classes: &'a [u32],
    /// One or, where pairs contribute nothing, two.
    pub(crate) tables: &'a [Table<'a>],
    /// `[row][3][features]`.
    pub(crate) expanded: Option<&'a [f32]>,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// `[row][table][features for each quantifier]`, maxima then minima, started at ∓infinity.
    pub(crate) best: RowsMut<'a>,
}

// SAFETY: every orbit of the pairs once, and the rows of these pairs, which `check` asks for.
unsafe impl Kernel for LookUp<'_> {
    #[inline(always)]
    fn check(&self) {
        let (orbits, rows, features) = (self.pairs.orbits(), self.pairs.rows(), self.features);
        assert!(features.is_multiple_of(BLOCK));
        let one = self.tables.len() == 1;
        assert!(one || (self.tables.len() == 2 && self.expanded.is_none()));
        for table in self.tables {
            table.check(&self.classes[..orbits], features);
        }
        let expanded = self.expanded.map(<[f32]>::len);
        assert!(expanded.is_none_or(|len| len >= times(rows, 3 * features)));
        let columns = features * (1 + usize::from(self.both)) * self.tables.len();
        assert_eq!(self.best.stride(), columns);
        self.best.check(rows, columns);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: see `pass`.
        unsafe {
            // Eight features are the rule, and then every offset is a constant.
            if self.features == BLOCK {
                self.passes::<V, BLOCK>();
            } else {
                self.passes::<V, 0>();
            }
        }
    }
}

impl LookUp<'_> {
    #[inline(always)]
    unsafe fn passes<V: Vector, const F: usize>(&self) {
        // SAFETY: see `pass`.
        unsafe {
            for f in (0..self.features).step_by(BLOCK) {
                match (self.tables, self.both, self.expanded) {
                    (&[t], false, Some(e)) => self.pass::<V, F, 1, false, true>(f, [t], e),
                    (&[t], true, Some(e)) => self.pass::<V, F, 1, true, true>(f, [t], e),
                    (&[t], false, None) => self.pass::<V, F, 1, false, false>(f, [t], &[]),
                    (&[t], true, None) => self.pass::<V, F, 1, true, false>(f, [t], &[]),
                    (&[t, u], false, _) => self.pass::<V, F, 2, false, false>(f, [t, u], &[]),
                    (&[t, u], true, _) => self.pass::<V, F, 2, true, false>(f, [t, u], &[]),
                    _ => unreachable!("one table or two"),
                }
            }
        }
    }

    /// Features f .. f + 8 of every orbit. F is the number of features, or 0.
    #[inline(always)]
    unsafe fn pass<
        V: Vector,
        const F: usize,
        const N: usize,
        const BOTH: bool,
        const PAIRS: bool,
    >(
        &self,
        f: usize,
        tables: [Table<'_>; N],
        expanded: &[f32],
    ) {
        let n = self.pairs.objects();
        let mut class = self.classes.as_ptr();
        let look = Look {
            tables: tables.map(|table| table.slots.as_ptr().wrapping_add(f * SIX)),
            expanded: expanded.as_ptr().wrapping_add(f),
            best: self.best.row(0).wrapping_add(f),
            features: self.features,
        };
        // SAFETY: orbits are counted in the order of storage.
        unsafe {
            for x in 0..n {
                let mut y = self.pairs.after(x);
                while y < n {
                    // As many at once as there are registers for.
                    let at = [x, y];
                    if V::WIDE && y + 2 <= n {
                        class = self.block::<V, F, N, BOTH, PAIRS, 2>(&look, at, class);
                        y += 2;
                    } else {
                        class = self.block::<V, F, N, BOTH, PAIRS, 1>(&look, at, class);
                        y += 1;
                    }
                }
            }
        }
    }

    /// The orbits (x, y, z) .. (x, y + Y - 1, z), so that what belongs to {x, z} is loaded
    /// and stored once for Y of them. Returns the place of the next class.
    #[inline(always)]
    unsafe fn block<
        V: Vector,
        const F: usize,
        const N: usize,
        const BOTH: bool,
        const PAIRS: bool,
        const Y: usize,
    >(
        &self,
        all: &Look<N>,
        [x, y]: [usize; 2],
        mut class: *const u32,
    ) -> *const u32 {
        let n = self.pairs.objects();
        let features = if F > 0 { F } else { self.features };
        let columns = features * (1 + usize::from(BOTH));
        let (part, pair) = (6 * features, 2 * N * columns);
        // SAFETY: rows and features are within the tensors; where y has no orbit its
        // places are not read.
        unsafe {
            let (expanded, best) = (all.expanded, all.best);
            let xz = self.pairs.index(x, 0);
            let step = Look {
                tables: all.tables,
                expanded: expanded.wrapping_add(xz.wrapping_mul(part)),
                best: best.wrapping_add(xz.wrapping_mul(pair)),
                features,
            };
            let last = self.pairs.after(y + Y - 1);
            let mut rows = [Row::start(class); Y];
            for (k, row) in rows.iter_mut().enumerate() {
                let first = self.pairs.after(y + k);
                let yz = self.pairs.index(y + k, first);
                row.class = class;
                row.expanded = expanded.wrapping_add(yz.wrapping_mul(part));
                row.best = best.wrapping_add(yz.wrapping_mul(pair));
                class = class.wrapping_add(n - first);
                if PAIRS {
                    let xy = self.pairs.index(x, y + k);
                    row.parts = six_parts(expanded.add(xy * part), features);
                }
                for z in first..last {
                    step.at::<V, F, BOTH, PAIRS, 1>(z, std::array::from_mut(row));
                }
            }
            for z in last..n {
                step.at::<V, F, BOTH, PAIRS, Y>(z, &mut rows);
            }
            for (k, row) in rows.iter().enumerate() {
                let at = best.add(self.pairs.index(x, y + k) * pair);
                row.best_xy.keep::<BOTH>(at, features);
            }
        }
        class
    }
}

/// Keeps the greater of a maximum and the lesser of a minimum.
#[inline(always)]
unsafe fn keep<V: Vector, const BOTH: bool>(at: *mut f32, features: usize, max: V, min: V) {
    // SAFETY: the caller gives a place for both.
    unsafe {
        max.max(V::load(at)).store(at);
        if BOTH {
            let at = at.add(features);
            min.min(V::load(at)).store(at);
        }
    }
}

/// What (a, b) and (b, a) contribute as the pair without position 0, 1, 2.
#[inline(always)]
unsafe fn six_parts<V: Vector>(at: *const f32, features: usize) -> ([V; 3], [V; 3]) {
    // SAFETY: the caller gives the two rows of a pair.
    unsafe {
        let ba = at.add(3 * features);
        let (ab1, ab2) = (at.add(features), at.add(2 * features));
        let (ba1, ba2) = (ba.add(features), ba.add(2 * features));
        (
            [V::load(at), V::load(ab1), V::load(ab2)],
            [V::load(ba), V::load(ba1), V::load(ba2)],
        )
    }
}

/// The orbits of one x and y: what {x, y} adds, its extrema so far, and what belongs to {y, z} of
/// the next z.
#[derive(Clone, Copy)]
struct Row<V, const N: usize> {
    parts: ([V; 3], [V; 3]),
    best_xy: Best<V, N>,
    class: *const u32,
    expanded: *const f32,
    best: *mut f32,
}

/// The extrema of both rows of a pair, by each table.
#[derive(Clone, Copy)]
struct Best<V, const N: usize> {
    max: [[V; 2]; N],
    min: [[V; 2]; N],
}

impl<V: Vector, const N: usize> Best<V, N> {
    #[inline(always)]
    unsafe fn start() -> Self {
        // SAFETY: the caller has the instructions.
        unsafe {
            Self {
                max: [[V::splat(f32::NEG_INFINITY); 2]; N],
                min: [[V::splat(f32::INFINITY); 2]; N],
            }
        }
    }

    /// With the values of one more triple of each row.
    #[inline(always)]
    unsafe fn with<const BOTH: bool>(&mut self, table: usize, values: [V; 2]) {
        // SAFETY: the caller has the instructions.
        unsafe {
            let (max, min) = (&mut self.max[table], &mut self.min[table]);
            *max = [values[0].max(max[0]), values[1].max(max[1])];
            if BOTH {
                *min = [values[0].min(min[0]), values[1].min(min[1])];
            }
        }
    }

    /// Keeps them with those of the pair that lies here.
    #[inline(always)]
    unsafe fn keep<const BOTH: bool>(&self, at: *mut f32, features: usize) {
        let columns = features * (1 + usize::from(BOTH));
        // SAFETY: the caller gives the two rows of a pair.
        unsafe {
            for table in 0..N {
                for row in 0..2 {
                    let at = at.wrapping_add((row * N + table) * columns);
                    keep::<V, BOTH>(at, features, self.max[table][row], self.min[table][row]);
                }
            }
        }
    }
}

impl<V: Vector, const N: usize> Row<V, N> {
    #[inline(always)]
    unsafe fn start(class: *const u32) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe {
            let zero = [V::splat(0.0); 3];
            Self {
                parts: (zero, zero),
                best_xy: Best::start(),
                class,
                expanded: std::ptr::null(),
                best: std::ptr::null_mut(),
            }
        }
    }
}

/// Where tables and rows lie; in a block, from {x, 0} on.
struct Look<const N: usize> {
    tables: [*const f32; N],
    expanded: *const f32,
    best: *mut f32,
    features: usize,
}

impl<const N: usize> Look<N> {
    /// The next orbit of each row, with this z.
    #[inline(always)]
    unsafe fn at<V: Vector, const F: usize, const BOTH: bool, const PAIRS: bool, const Y: usize>(
        &self,
        z: usize,
        rows: &mut [Row<V, N>; Y],
    ) {
        let features = if F > 0 { F } else { self.features };
        let pair = 2 * N * features * (1 + usize::from(BOTH));
        // SAFETY: the caller gives orbits that exist.
        unsafe {
            let zero = [V::splat(0.0); 3];
            let (mut xz, mut zx) = (zero, zero);
            if PAIRS {
                (xz, zx) = six_parts(self.expanded.wrapping_add(z * 6 * features), features);
            }
            let mut best_xz = Best::<V, N>::start();
            for row in rows {
                let class = *row.class as usize * features * SIX;
                row.class = row.class.wrapping_add(1);
                let mut yz = [[V::splat(0.0); 2]; N];
                for (table, yz) in yz.iter_mut().enumerate() {
                    let mut slots = load_six::<V>(self.tables[table].add(class));
                    if PAIRS {
                        let ([yz0, yz1, yz2], [zy0, zy1, zy2]) =
                            six_parts::<V>(row.expanded, features);
                        let ([xy0, xy1, xy2], [yx0, yx1, yx2]) = row.parts;
                        let [t0, t1, t2, t3, t4, t5] = slots;
                        slots = [
                            t0.add(xy2).add(yz0).add(xz[1]),
                            t1.add(xy1).add(zy0).add(xz[2]),
                            t2.add(yx2).add(xz[0]).add(yz1),
                            t3.add(yx1).add(zx[0]).add(yz2),
                            t4.add(xy0).add(zy1).add(zx[2]),
                            t5.add(yx0).add(zx[1]).add(zy2),
                        ];
                    }
                    row.best_xy.with::<BOTH>(table, [slots[0], slots[2]]);
                    best_xz.with::<BOTH>(table, [slots[1], slots[4]]);
                    *yz = [slots[3], slots[5]];
                }
                Best { max: yz, min: yz }.keep::<BOTH>(row.best, features);
                row.expanded = row.expanded.wrapping_add(6 * features);
                row.best = row.best.wrapping_add(pair);
            }
            best_xz.keep::<BOTH>(self.best.wrapping_add(z * pair), features);
        }
    }
}
