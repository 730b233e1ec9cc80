//! Triples a class of orbits, forward and backward. See `docs/nlm.md`, "The finite first layers".
//!
//! Coefficients and slots are `[class][column block][6][8]`.
//!
//! In the tree of `docs/nlm.md`: by class; the forward part for values and gradients.

use super::orbit::{
    AC, BC, SIX, add_six, coefficients_len, fourier, fourier_gradient, inverse, inverse_gradient,
    load_six, pair_slots, product, store_six,
};
use super::rows_gradient::{add, slope};
use super::vector::{Kernel, Vector, sigmoids, tiles};
use super::view::{Rows, RowsMut, all_below, times};
use crate::plan::BLOCK;

/// Coefficients of classes that a map reads, from the first column read on.
#[derive(Clone, Copy)]
pub(crate) struct Coefficients<'a> {
    pub(crate) of: Rows<'a>,
    pub(crate) columns: usize,
    /// From the first column read on: `[feature block][width][6][8]`.
    pub(crate) weights: &'a [f32],
    pub(crate) width: usize,
}

/// Compose at arity 3, a class at a time.
pub(crate) struct ClassCompose<'a> {
    /// The classes of the pairs xy, xz, yz of each class.
    pub(crate) classes: &'a [[u32; 3]],
    /// What a class of pairs adds, `[2][3][features]` a row, and how many there are.
    pub(crate) pairs: Option<(Rows<'a>, usize)>,
    pub(crate) from: Option<Coefficients<'a>>,
    pub(crate) features: usize,
    /// Activations where `activate`, else pre-activations.
    pub(crate) slots: RowsMut<'a>,
    pub(crate) activate: bool,
    /// Where the coefficients of the activations go.
    pub(crate) output: Option<RowsMut<'a>>,
}

// SAFETY: the tiles cover all classes and features, which `check` asks for.
unsafe impl Kernel for ClassCompose<'_> {
    #[inline(always)]
    fn check(&self) {
        let (count, features) = (self.classes.len(), self.features);
        assert!(features.is_multiple_of(BLOCK));
        if let Some((pairs, classes)) = self.pairs {
            all_below(self.classes.as_flattened(), classes);
            pairs.check(classes, times(6, features));
        }
        if let Some(from) = self.from {
            from.of.check(count, coefficients_len(from.columns));
            let weights = Rows::new(from.weights, times(from.width, SIX * BLOCK));
            weights.check(features / BLOCK, times(from.columns, SIX * BLOCK));
            assert!(from.columns <= from.width);
        }
        self.slots.check(count, times(features, SIX));
        if let Some(output) = self.output {
            output.check(count, features * SIX);
        }
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles cover all classes.
        unsafe {
            tiles!(i of self.classes.len();
                4 if V::WIDE => self.tile::<V, 4>(i),
                1 if true => self.tile::<V, 1>(i),
            );
        }
    }
}

impl ClassCompose<'_> {
    /// Classes i .. i + T. Each has its own sums, so that T changes no bit.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize>(&self, i: usize) {
        let features = self.features;
        // SAFETY: the caller gives classes that exist.
        unsafe {
            for f in (0..features).step_by(BLOCK) {
                let mut acc = [[V::splat(0.0); SIX]; T];
                if let Some(from) = self.from {
                    let mut g = [from.of.row(i); T];
                    for (t, g) in g.iter_mut().enumerate() {
                        *g = from.of.row(i + t);
                    }
                    let weights = from.weights.as_ptr().add(f * from.width * SIX);
                    acc = product(g, from.columns, weights, acc);
                }
                for (t, acc) in acc.into_iter().enumerate() {
                    let mut slots = inverse(acc);
                    if let Some((pairs, _)) = self.pairs {
                        let reverse = 3 * features;
                        let class = self.classes.get_unchecked(i + t);
                        let [xy, xz, yz] = class.map(|pair| pairs.row(pair as usize));
                        let [yx, zx, zy] = [xy, xz, yz].map(|at| at.wrapping_add(reverse));
                        let of_pairs = pair_slots([xy, xz, yx, yz, zx, zy], features, f);
                        slots = match self.from {
                            Some(_) => add_six(of_pairs, slots),
                            None => of_pairs,
                        };
                    }
                    if self.activate {
                        slots = sigmoids(slots);
                    }
                    if let Some(output) = self.output {
                        store_six(fourier(slots), output.row(i + t).add(f * SIX));
                    }
                    store_six(slots, self.slots.row(i + t).add(f * SIX));
                }
            }
        }
    }
}

/// From the gradients of slots to those of P, and to what classes took from their pairs.
pub(crate) struct ClassToPre<'a> {
    pub(crate) classes: &'a [[u32; 3]],
    pub(crate) features: usize,
    /// The gradients of slots on entry, of P on return.
    pub(crate) d: RowsMut<'a>,
    /// Activations and the gradients of their coefficients, unless `d` is of pre-activations.
    pub(crate) output: Option<(Rows<'a>, Rows<'a>)>,
    /// `[2][3][features]` a class of pairs, added to, and how many there are.
    pub(crate) d_pairs: Option<(RowsMut<'a>, usize)>,
}

// SAFETY: all classes, features and classes of pairs, which `check` asks for.
unsafe impl Kernel for ClassToPre<'_> {
    #[inline(always)]
    fn check(&self) {
        let (count, len) = (self.classes.len(), times(self.features, SIX));
        assert!(self.features.is_multiple_of(BLOCK));
        self.d.check(count, len);
        if let Some((slots, d_output)) = self.output {
            slots.check(count, len);
            d_output.check(count, len);
        }
        if let Some((d_pairs, classes)) = self.d_pairs {
            all_below(self.classes.as_flattened(), classes);
            d_pairs.check(classes, len);
        }
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let features = self.features;
        // SAFETY: classes and features are within the tensors.
        unsafe {
            for (i, class) in self.classes.iter().enumerate() {
                for f in (0..features).step_by(BLOCK) {
                    let at = self.d.row(i).add(f * SIX);
                    let mut d = load_six::<V>(at);
                    if let Some((slots, d_output)) = self.output {
                        let more = load_six::<V>(d_output.row(i).add(f * SIX));
                        let more = fourier_gradient(more);
                        let slots = load_six::<V>(slots.row(i).add(f * SIX));
                        for s in 0..SIX {
                            d[s] = d[s].add(more[s]).mul(slope(slots[s]));
                        }
                    }
                    if let Some((d_pairs, _)) = self.d_pairs {
                        let reverse = 3 * features;
                        let [xy, xz, yz] = class.map(|pair| d_pairs.row(pair as usize).add(f));
                        let [yx, zx, zy] = [xy, xz, yz].map(|at| at.wrapping_add(reverse));
                        let rows = [xy, xz, yx, yz, zx, zy];
                        for s in 0..SIX {
                            add(rows[BC[s]], d[s]);
                            add(rows[AC[s]].add(features), d[s]);
                            add(rows[s].add(2 * features), d[s]);
                        }
                    }
                    store_six(inverse_gradient(d), at);
                }
            }
        }
    }
}

/// dĝ_c += Σ_q dP_q Ŵ_{c,q}ᵀ.
pub(crate) struct ClassInputGradient<'a> {
    pub(crate) classes: usize,
    pub(crate) features: usize,
    pub(crate) d_pre: Rows<'a>,
    /// `[column block][feature][6][8]`, matrices transposed.
    pub(crate) weights: &'a [f32],
    pub(crate) to: RowsMut<'a>,
    /// A multiple of 8.
    pub(crate) columns: usize,
}

// SAFETY: the tiles cover all classes and columns, which `check` asks for.
unsafe impl Kernel for ClassInputGradient<'_> {
    #[inline(always)]
    fn check(&self) {
        assert!(self.features.is_multiple_of(BLOCK) && self.columns.is_multiple_of(BLOCK));
        self.d_pre.check(self.classes, times(self.features, SIX));
        assert!(self.weights.len() >= times(self.columns, self.features * SIX));
        self.to.check(self.classes, times(self.columns, SIX));
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles cover every class once.
        unsafe {
            tiles!(i of self.classes;
                4 if V::WIDE => self.tile::<V, 4>(i),
                1 if true => self.tile::<V, 1>(i),
            );
        }
    }
}

impl ClassInputGradient<'_> {
    /// Classes i .. i + T.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize>(&self, i: usize) {
        // SAFETY: the caller gives classes that exist.
        unsafe {
            let mut from = [self.d_pre.row(i); T];
            for (t, from) in from.iter_mut().enumerate() {
                *from = self.d_pre.row(i + t);
            }
            for c in (0..self.columns).step_by(BLOCK) {
                let mut acc = [[V::splat(0.0); SIX]; T];
                for (t, acc) in acc.iter_mut().enumerate() {
                    *acc = load_six(self.to.row(i + t).add(c * SIX));
                }
                let weights = self.weights.as_ptr().add(c * self.features * SIX);
                acc = product(from, self.features, weights, acc);
                for (t, acc) in acc.into_iter().enumerate() {
                    store_six(acc, self.to.row(i + t).add(c * SIX));
                }
            }
        }
    }
}

/// dŴ_{c,q} = Σ over classes of ĝ_cᵀ dP_q.
pub(crate) struct ClassWeightGradient<'a> {
    pub(crate) classes: usize,
    pub(crate) features: usize,
    pub(crate) from: Rows<'a>,
    pub(crate) columns: usize,
    pub(crate) d_pre: Rows<'a>,
    /// `[column][6][features]`.
    pub(crate) dw: RowsMut<'a>,
}

// SAFETY: the tiles stay within columns and features, which `check` asks for.
unsafe impl Kernel for ClassWeightGradient<'_> {
    #[inline(always)]
    fn check(&self) {
        assert!(self.features.is_multiple_of(BLOCK));
        self.from
            .check(self.classes, coefficients_len(self.columns));
        self.d_pre.check(self.classes, times(self.features, SIX));
        self.dw.check(times(self.columns, SIX), self.features);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles stay within columns and features.
        unsafe {
            for f in (0..self.features).step_by(BLOCK) {
                // Four columns are of one block: the first of all begins one.
                tiles!(c of self.columns;
                    4 if V::WIDE => self.tile::<V, 4>(c, f),
                    1 if true => self.tile::<V, 1>(c, f),
                );
            }
        }
    }
}

impl ClassWeightGradient<'_> {
    /// Columns c .. c + C, which are of one block, and features f .. f + 8.
    #[inline(always)]
    unsafe fn tile<V: Vector, const C: usize>(&self, c: usize, f: usize) {
        // SAFETY: the caller gives columns and features that exist.
        unsafe {
            let mut acc = [[V::splat(0.0); SIX]; C];
            for i in 0..self.classes {
                let g = self.from.row(i).add(c / BLOCK * SIX * BLOCK + c % BLOCK);
                let d = load_six::<V>(self.d_pre.row(i).add(f * SIX));
                for (k, a) in acc.iter_mut().enumerate() {
                    let g = |i: usize| V::splat(*g.add(i * BLOCK + k));
                    a[0] = g(0).mul_add(d[0], a[0]);
                    a[1] = g(1).mul_add(d[1], a[1]);
                    a[2] = g(2).mul_add(d[2], a[2]);
                    a[3] = g(2).mul_add(d[3], a[3]);
                    a[4] = g(3).mul_add(d[2], a[4]);
                    a[5] = g(3).mul_add(d[3], a[5]);
                    a[2] = g(4).mul_add(d[4], a[2]);
                    a[3] = g(4).mul_add(d[5], a[3]);
                    a[4] = g(5).mul_add(d[4], a[4]);
                    a[5] = g(5).mul_add(d[5], a[5]);
                }
            }
            for (j, a) in acc.iter().enumerate() {
                for (k, a) in a.iter().enumerate() {
                    a.store(self.dw.row((c + j) * SIX + k).add(f));
                }
            }
        }
    }
}
