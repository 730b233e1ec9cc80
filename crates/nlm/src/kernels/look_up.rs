//! Reductions over triples whose pre-activations are sums: a table over classes of orbits, and what
//! pairs add. See `docs/nlm.md`, "The finite first layers".

use super::orbit::{SIX, load_six};
use super::orbit_rows::{Pairs, keep, six_parts};
use super::vector::{Kernel, Vector};
use crate::plan::BLOCK;

/// The extrema over the last object of what a table says of the class of each orbit, plus what
/// pairs contribute. No products and no sigmoids.
pub(crate) struct LookUp<'a> {
    pub(crate) pairs: Pairs<'a>,
    /// The class of each orbit.
    pub(crate) classes: &'a [u32],
    /// `[class][feature block][6][8]`.
    pub(crate) table: *const f32,
    /// `[row][3][features]`, or null for nothing.
    pub(crate) expanded: *const f32,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// `[row][features for each quantifier]`, maxima then minima, started at ∓infinity.
    pub(crate) best: *mut f32,
}

impl Kernel for LookUp<'_> {
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
            for f in (0..self.features).step_by(V::LANES) {
                match (self.both, self.expanded.is_null()) {
                    (false, false) => self.pass::<V, F, false, true>(f),
                    (true, false) => self.pass::<V, F, true, true>(f),
                    (false, true) => self.pass::<V, F, false, false>(f),
                    (true, true) => self.pass::<V, F, true, false>(f),
                }
            }
        }
    }

    /// Features f .. f + 8 of every orbit. F is the number of features, or 0.
    #[inline(always)]
    unsafe fn pass<V: Vector, const F: usize, const BOTH: bool, const PAIRS: bool>(
        &self,
        f: usize,
    ) {
        let n = self.pairs.orbits.objects;
        let mut class = self.classes.as_ptr();
        // SAFETY: orbits are counted in the order of storage.
        unsafe {
            for x in 0..n {
                let mut y = self.pairs.orbits.after(x);
                while y < n {
                    // As many at once as there are registers for.
                    if V::WIDE && !PAIRS && y + 4 <= n {
                        class = self.block::<V, F, BOTH, PAIRS, 4>(f, x, y, class);
                        y += 4;
                    } else if V::WIDE && y + 2 <= n {
                        class = self.block::<V, F, BOTH, PAIRS, 2>(f, x, y, class);
                        y += 2;
                    } else {
                        class = self.block::<V, F, BOTH, PAIRS, 1>(f, x, y, class);
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
        const BOTH: bool,
        const PAIRS: bool,
        const Y: usize,
    >(
        &self,
        f: usize,
        x: usize,
        y: usize,
        mut class: *const u32,
    ) -> *const u32 {
        let (n, orbits) = (self.pairs.orbits.objects, self.pairs.orbits);
        let features = if F > 0 { F } else { self.features };
        let columns = features * (1 + usize::from(BOTH));
        let (part, pair) = (6 * features, 2 * columns);
        // SAFETY: rows and features are within the tensors; where y has no orbit its
        // places are not read.
        unsafe {
            let table = self.table.add(f * SIX);
            let expanded = self.expanded.wrapping_add(f);
            let best = self.best.add(f);
            let xz = self.pairs.index(x, 0);
            let step = Look {
                table,
                expanded: expanded.wrapping_add(xz.wrapping_mul(part)),
                best: best.wrapping_add(xz.wrapping_mul(pair)),
                features,
            };
            let last = orbits.after(y + Y - 1);
            let mut rows = [Row::start(class); Y];
            for (k, row) in rows.iter_mut().enumerate() {
                let first = orbits.after(y + k);
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
                keep::<V, BOTH>(at, features, row.max[0], row.min[0]);
                keep::<V, BOTH>(at.add(columns), features, row.max[1], row.min[1]);
            }
        }
        class
    }
}

/// The orbits of one x and y: what {x, y} adds, its extrema so far, and what belongs to {y, z} of
/// the next z.
#[derive(Clone, Copy)]
struct Row<V> {
    parts: ([V; 3], [V; 3]),
    max: [V; 2],
    min: [V; 2],
    class: *const u32,
    expanded: *const f32,
    best: *mut f32,
}

impl<V: Vector> Row<V> {
    #[inline(always)]
    unsafe fn start(class: *const u32) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe {
            let zero = [V::splat(0.0); 3];
            Self {
                parts: (zero, zero),
                max: [V::splat(f32::NEG_INFINITY); 2],
                min: [V::splat(f32::INFINITY); 2],
                class,
                expanded: std::ptr::null(),
                best: std::ptr::null_mut(),
            }
        }
    }
}

/// Where the table lies, and what belongs to {x, z} from z = 0 on.
struct Look {
    table: *const f32,
    expanded: *const f32,
    best: *mut f32,
    features: usize,
}

impl Look {
    /// The next orbit of each row, with this z.
    #[inline(always)]
    unsafe fn at<V: Vector, const F: usize, const BOTH: bool, const PAIRS: bool, const Y: usize>(
        &self,
        z: usize,
        rows: &mut [Row<V>; Y],
    ) {
        let features = if F > 0 { F } else { self.features };
        let columns = features * (1 + usize::from(BOTH));
        // SAFETY: the caller gives orbits that exist.
        unsafe {
            let zero = [V::splat(0.0); 3];
            let (mut xz, mut zx) = (zero, zero);
            if PAIRS {
                (xz, zx) = six_parts(self.expanded.wrapping_add(z * 6 * features), features);
            }
            let mut max = [V::splat(f32::NEG_INFINITY); 2];
            let mut min = [V::splat(f32::INFINITY); 2];
            for row in rows {
                let mut slots = load_six::<V>(self.table.add(*row.class as usize * features * SIX));
                row.class = row.class.wrapping_add(1);
                if PAIRS {
                    let ([yz0, yz1, yz2], [zy0, zy1, zy2]) = six_parts::<V>(row.expanded, features);
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
                row.max = [slots[0].max(row.max[0]), slots[2].max(row.max[1])];
                max = [slots[1].max(max[0]), slots[4].max(max[1])];
                if BOTH {
                    row.min = [slots[0].min(row.min[0]), slots[2].min(row.min[1])];
                    min = [slots[1].min(min[0]), slots[4].min(min[1])];
                }
                keep::<V, BOTH>(row.best, features, slots[3], slots[3]);
                keep::<V, BOTH>(row.best.add(columns), features, slots[5], slots[5]);
                row.expanded = row.expanded.wrapping_add(6 * features);
                row.best = row.best.wrapping_add(2 * columns);
            }
            let at = self.best.wrapping_add(z * 2 * columns);
            keep::<V, BOTH>(at, features, max[0], min[0]);
            keep::<V, BOTH>(at.add(columns), features, max[1], min[1]);
        }
    }
}
