//! Triples orbit by orbit, with products: where they are no function of a class.
//!
//! Pairs come in twos: row 2p is (a, b) with a <= b, row 2p + 1 is (b, a), and for one a the
//! pairs follow one another over b. So an orbit (x, y, z) reads two runs over z and one fixed
//! place. An orbit that repeats an object is computed like any other: slots that name one tuple are
//! equal as functions, and a maximum takes an entry twice without harm.

use super::orbit::{
    SIX, coefficients_len, fourier, inverse, load_six, pair_slots, product, store_six,
};
use super::vector::{Kernel, Vector, sigmoids};
use super::view::{Rows, RowsMut, all_below, times};
use crate::index::Pairs;
use crate::plan::BLOCK;

/// Keeps the greater of a maximum and the lesser of a minimum.
#[inline(always)]
pub(super) unsafe fn keep<V: Vector, const BOTH: bool>(
    at: *mut f32,
    features: usize,
    max: V,
    min: V,
) {
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
pub(super) unsafe fn six_parts<V: Vector>(at: *const f32, features: usize) -> ([V; 3], [V; 3]) {
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

/// Coefficients a step reads: `columns` of them from this column on.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// A multiple of 8.
    pub(crate) from: usize,
    pub(crate) columns: usize,
    /// From the first column read on: `[feature block][width][6][8]`.
    pub(crate) weights: &'a [f32],
    pub(crate) width: usize,
}

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

/// One layer's compose at arity 3.
pub(crate) struct Step<'a> {
    pub(crate) parts: Vec<Part<'a>>,
    pub(crate) table: Option<Table<'a>>,
    /// `[row][3][features]`, the bias in the first of the three; else there is the bias alone.
    pub(crate) expanded: Option<Rows<'a>>,
    pub(crate) bias: &'a [f32],
    /// The column where the coefficients of the activations go, if any.
    pub(crate) output: Option<usize>,
}

/// The last of `steps` over every orbit; the steps before it recompute what the last
/// reads where it is not stored.
pub(crate) struct OrbitRows<'a> {
    pub(crate) pairs: Pairs<'a>,
    /// The class of each orbit, where a step has a table.
    pub(crate) classes: &'a [u32],
    pub(crate) features: usize,
    pub(crate) both: bool,
    pub(crate) steps: &'a [Step<'a>],
    /// `[orbit][column block][6][8]`; or, with the input columns of every orbit beside it, room for
    /// four orbits.
    pub(crate) own: RowsMut<'a>,
    pub(crate) inputs: Option<Rows<'a>>,
    /// How many of these there are.
    pub(crate) input_columns: usize,
    /// `[row][features for each quantifier]`, maxima then minima, started at ∓infinity.
    pub(crate) best: RowsMut<'a>,
}

/// The orbits a kernel works on at once.
pub(crate) const TILE_ORBITS: usize = 4;

// SAFETY: every orbit of the pairs once, and of each the columns and rows that `check` asks for.
unsafe impl Kernel for OrbitRows<'_> {
    #[inline(always)]
    fn check(&self) {
        let (orbits, rows, features) = (self.pairs.orbits(), self.pairs.rows(), self.features);
        assert!(features.is_multiple_of(BLOCK) && !self.steps.is_empty());
        let stored = match self.inputs {
            Some(inputs) => {
                let len = times(self.input_columns, SIX);
                inputs.check(orbits, len);
                self.own.check(TILE_ORBITS, len);
                TILE_ORBITS
            }
            None => orbits,
        };
        for step in self.steps {
            for part in &step.parts {
                let len = coefficients_len(part.columns);
                self.own.check(stored, times(part.from, SIX) + len);
                let weights = Rows::new(part.weights, times(part.width, SIX * BLOCK));
                weights.check(features / BLOCK, times(part.columns, SIX * BLOCK));
                assert!(part.columns <= part.width);
            }
            if let Some(table) = step.table {
                table.check(&self.classes[..orbits], features);
            }
            match step.expanded {
                Some(expanded) => expanded.check(rows, 3 * features),
                None => assert!(step.bias.len() >= features),
            }
            if let Some(column) = step.output {
                self.own.check(stored, times(column + features, SIX));
            }
        }
        self.best
            .check(rows, features * (1 + usize::from(self.both)));
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: see `rows`.
        unsafe {
            // Eight features are the rule, and then offsets are constants.
            match (self.features == BLOCK, self.both) {
                (true, false) => self.rows::<V, BLOCK, false>(),
                (true, true) => self.rows::<V, BLOCK, true>(),
                (false, false) => self.rows::<V, 0, false>(),
                (false, true) => self.rows::<V, 0, true>(),
            }
        }
    }
}

impl OrbitRows<'_> {
    /// Every orbit. F is the number of features, or 0.
    #[inline(always)]
    unsafe fn rows<V: Vector, const F: usize, const BOTH: bool>(&self) {
        let n = self.pairs.objects();
        let mut orbit = 0;
        // SAFETY: orbits are counted in the order of storage, tiles end with the row.
        unsafe {
            for x in 0..n {
                for y in self.pairs.after(x)..n {
                    let mut z = self.pairs.after(y);
                    while z < n {
                        let at = [x, y, z];
                        let taken = if V::WIDE && z + 4 <= n {
                            self.tile::<V, TILE_ORBITS, F, BOTH>(orbit, at)
                        } else if V::WIDE && z + 2 <= n {
                            self.tile::<V, 2, F, BOTH>(orbit, at)
                        } else {
                            self.tile::<V, 1, F, BOTH>(orbit, at)
                        };
                        (orbit, z) = (orbit + taken, z + taken);
                    }
                }
            }
        }
    }

    /// Orbits (x, y, z) .. (x, y, z + T). Returns T.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize, const F: usize, const BOTH: bool>(
        &self,
        orbit: usize,
        [x, y, z]: [usize; 3],
    ) -> usize {
        let features = if F > 0 { F } else { self.features };
        // SAFETY: the orbits exist.
        unsafe {
            let mut own = [self.own.row(0); T];
            for (t, own) in own.iter_mut().enumerate() {
                match self.inputs {
                    None => *own = self.own.row(orbit + t),
                    Some(inputs) => {
                        *own = self.own.row(t);
                        let from = inputs.row(orbit + t);
                        std::ptr::copy_nonoverlapping(from, *own, self.input_columns * SIX);
                    }
                }
            }
            let last = self.steps.len() - 1;
            for (i, step) in self.steps.iter().enumerate() {
                for f in (0..features).step_by(BLOCK) {
                    let mut acc = [[V::splat(0.0); SIX]; T];
                    for part in &step.parts {
                        let weights = part.weights.as_ptr().add(f * part.width * SIX);
                        let mut from = [own[0].cast_const(); T];
                        for (from, own) in from.iter_mut().zip(own) {
                            *from = own.add(part.from * SIX);
                        }
                        acc = product(from, part.columns, weights, acc);
                    }
                    for t in 0..T {
                        let rows = self.pairs.six_rows(x, y, z + t);
                        let mut slots = match step.expanded {
                            Some(e) => pair_slots::<V>(rows.map(|row| e.row(row)), features, f),
                            None => [V::load(step.bias.as_ptr().add(f)); SIX],
                        };
                        if !step.parts.is_empty() {
                            slots = add_six(slots, inverse(acc[t]));
                        }
                        if let Some(table) = step.table {
                            let class = *self.classes.get_unchecked(orbit + t) as usize;
                            let at = (class * features + f) * SIX;
                            slots = add_six(slots, load_six(table.slots.as_ptr().add(at)));
                        }
                        if let Some(column) = step.output {
                            slots = sigmoids(slots);
                            store_six(fourier(slots), own[t].add((column + f) * SIX));
                        }
                        if i == last {
                            for (row, slot) in rows.into_iter().zip(slots) {
                                let best = self.best.row(row).add(f);
                                keep::<V, BOTH>(best, features, slot, slot);
                            }
                        }
                    }
                }
            }
        }
        T
    }
}

/// The sum of both, slot by slot.
#[inline(always)]
pub(super) unsafe fn add_six<V: Vector>(mut a: [V; SIX], b: [V; SIX]) -> [V; SIX] {
    for (a, b) in a.iter_mut().zip(b) {
        // SAFETY: the caller has the instructions.
        *a = unsafe { a.add(b) };
    }
    a
}
