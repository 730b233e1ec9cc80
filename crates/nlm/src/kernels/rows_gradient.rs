//! Backward through maps and reductions with features in lanes.
//!
//! Pairs are kept as sums and differences, see [`rows`](super::rows); there the gradient of u, the
//! sum of the gradients of (a, b) and (b, a), meets sums alone, and that of v, their difference,
//! differences alone. So a map over pairs is two maps over rows, the even and the odd ones, and
//! needs no kernel of its own.
//!
//! In the tree of `docs/nlm.md`: by class, gradients alone.

use super::vector::{Kernel, Vector, cover, tiles};
use super::view::{Rows, RowsMut, all_below, times};
use crate::plan::BLOCK;

/// Rows and the gradients that meet them.
#[derive(Clone, Copy)]
pub(crate) struct Active<'a> {
    /// The rows whose gradient is not zero.
    pub(crate) rows: &'a [u32],
    /// How many rows there are.
    pub(crate) count: usize,
    pub(crate) dy: Rows<'a>,
    /// A multiple of 8.
    pub(crate) outputs: usize,
}

impl Active<'_> {
    #[inline(always)]
    fn check(&self) {
        assert!(self.outputs.is_multiple_of(BLOCK));
        all_below(self.rows, self.count);
        self.dy.check(self.count, self.outputs);
    }
}

/// dw[c][f] = Σ_t x[t][c] dy[t][f].
pub(crate) struct WeightGradient<'a> {
    pub(crate) of: Active<'a>,
    /// From the first column on.
    pub(crate) x: Rows<'a>,
    pub(crate) columns: usize,
    /// `[columns][outputs]`.
    pub(crate) dw: RowsMut<'a>,
}

// SAFETY: the tiles stay within columns, outputs and the rows that `check` has seen.
unsafe impl Kernel for WeightGradient<'_> {
    #[inline(always)]
    fn check(&self) {
        self.of.check();
        self.x.check(self.of.count, self.columns);
        self.dw.check(self.columns, self.of.outputs);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles stay within columns and outputs.
        unsafe {
            for f in (0..self.of.outputs).step_by(BLOCK) {
                let done = tiles!(c of self.columns;
                    16 if V::WIDE => self.tile::<V, 16>(c, f),
                );
                // A tile of few columns waits for its own sums.
                cover!(c of done, self.columns;
                    8 if true => self.tile::<V, 8>(c, f),
                    4 if true => self.tile::<V, 4>(c, f),
                    1 if true => self.tile::<V, 1>(c, f),
                );
            }
        }
    }
}

impl WeightGradient<'_> {
    /// Columns c .. c + C and features f .. f + 8.
    #[inline(always)]
    unsafe fn tile<V: Vector, const C: usize>(&self, c: usize, f: usize) {
        // SAFETY: the caller gives columns and features that exist.
        unsafe {
            let mut acc = [V::splat(0.0); C];
            for &row in self.of.rows {
                let x = self.x.row(row as usize).add(c);
                let d = V::load(self.of.dy.row(row as usize).add(f));
                for (k, a) in acc.iter_mut().enumerate() {
                    *a = V::splat(*x.add(k)).mul_add(d, *a);
                }
            }
            for (k, a) in acc.iter().enumerate() {
                a.store(self.dw.row(c + k).add(f));
            }
        }
    }
}

/// dx[t][c] += Σ_f w[c][f] dy[t][f].
pub(crate) struct InputGradient<'a> {
    pub(crate) of: Active<'a>,
    /// `[column block][output][8]`.
    pub(crate) weights: &'a [f32],
    /// A multiple of 8.
    pub(crate) columns: usize,
    /// From the first of these columns on.
    pub(crate) dx: RowsMut<'a>,
}

// SAFETY: the passes cover all columns and outputs, which are whole blocks, of rows that `check`
// has seen.
unsafe impl Kernel for InputGradient<'_> {
    #[inline(always)]
    fn check(&self) {
        self.of.check();
        assert!(self.columns.is_multiple_of(BLOCK));
        assert!(self.weights.len() >= times(self.columns, self.of.outputs));
        self.dx.check(self.of.count, self.columns);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the passes cover all columns and outputs, which are whole blocks.
        unsafe {
            for f in (0..self.of.outputs).step_by(BLOCK) {
                // As many weights as there are registers for.
                tiles!(block of self.columns / BLOCK;
                    3 if V::WIDE => self.pass::<V, 3>(block * BLOCK, f),
                    2 if V::WIDE => self.pass::<V, 2>(block * BLOCK, f),
                    1 if true => self.pass::<V, 1>(block * BLOCK, f),
                );
            }
        }
    }
}

impl InputGradient<'_> {
    /// Columns c .. c + 8 B from outputs f .. f + 8, row by row: the weights stay in registers.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // one index runs over several arrays
    unsafe fn pass<V: Vector, const B: usize>(&self, c: usize, f: usize) {
        // SAFETY: the caller gives columns and outputs that exist.
        unsafe {
            let mut w = [[V::splat(0.0); B]; BLOCK];
            for k in 0..BLOCK {
                for b in 0..B {
                    let at = (c + b * BLOCK) * self.of.outputs + (f + k) * BLOCK;
                    w[k][b] = V::load(self.weights.as_ptr().add(at));
                }
            }
            for &row in self.of.rows {
                let dy = self.of.dy.row(row as usize).add(f);
                let dx = self.dx.row(row as usize).add(c);
                let mut acc = [V::splat(0.0); B];
                for b in 0..B {
                    acc[b] = V::load(dx.add(b * BLOCK));
                }
                for k in 0..BLOCK {
                    let d = V::splat(*dy.add(k));
                    for b in 0..B {
                        acc[b] = d.mul_add(w[k][b], acc[b]);
                    }
                }
                for b in 0..B {
                    acc[b].store(dx.add(b * BLOCK));
                }
            }
        }
    }
}

/// Gives the gradient of maxima (and minima) over the members of each target to the members that
/// attain them, in equal parts.
pub(crate) struct ReduceGradient<'a> {
    /// `[target][per]`: the rows reduced into each target.
    pub(crate) members: &'a [u32],
    pub(crate) targets: usize,
    /// From the first column on, and how many rows there are.
    pub(crate) x: Rows<'a>,
    pub(crate) rows: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// The reductions, where x are pre-activations.
    pub(crate) red: Option<Rows<'a>>,
    pub(crate) d_red: Rows<'a>,
    /// `[row][features]`, added to.
    pub(crate) d: RowsMut<'a>,
}

// SAFETY: every target has an equal part of the members, all of them rows, which `check` asks for.
unsafe impl Kernel for ReduceGradient<'_> {
    #[inline(always)]
    fn check(&self) {
        assert!(self.features.is_multiple_of(BLOCK) && self.targets > 0);
        all_below(self.members, self.rows);
        self.x.check(self.rows, self.features);
        self.d.check(self.rows, self.features);
        let columns = self.features * (1 + usize::from(self.both));
        self.d_red.check(self.targets, columns);
        if let Some(red) = self.red {
            red.check(self.targets, columns);
        }
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let per = self.members.len() / self.targets;
        // SAFETY: every target has as many members.
        unsafe {
            for t in 0..self.targets {
                let members = self.members.get_unchecked(t * per..(t + 1) * per);
                for f in (0..self.features).step_by(BLOCK) {
                    if self.both {
                        self.target::<V, true>(members, t, f);
                    } else {
                        self.target::<V, false>(members, t, f);
                    }
                }
            }
        }
    }
}

impl ReduceGradient<'_> {
    /// Features f .. f + 8 of target t.
    #[inline(always)]
    unsafe fn target<V: Vector, const BOTH: bool>(&self, members: &[u32], t: usize, f: usize) {
        // SAFETY: every member is a row.
        unsafe {
            let (zero, one) = (V::splat(0.0), V::splat(1.0));
            let value = |row: u32| V::load(self.x.row(row as usize).add(f));
            let (mut max, mut min) = (V::splat(f32::NEG_INFINITY), V::splat(f32::INFINITY));
            for &row in members {
                max = value(row).max(max);
                if BOTH {
                    min = value(row).min(min);
                }
            }
            let (mut ties_max, mut ties_min) = (zero, zero);
            for &row in members {
                ties_max = ties_max.add(value(row).where_equal(max, one));
                if BOTH {
                    ties_min = ties_min.add(value(row).where_equal(min, one));
                }
            }
            let share = |column: usize, ties: V| {
                let share = V::load(self.d_red.row(t).add(column)).div(ties);
                let slope = |red: Rows<'_>| slope(V::load(red.row(t).add(column)));
                self.red.map_or(share, |red| share.mul(slope(red)))
            };
            let (share_max, mut share_min) = (share(f, ties_max), zero);
            if BOTH {
                share_min = share(self.features + f, ties_min);
            }
            for &row in members {
                let to = self.d.row(row as usize).add(f);
                let mut d = V::load(to).add(value(row).where_equal(max, share_max));
                if BOTH {
                    d = d.add(value(row).where_equal(min, share_min));
                }
                d.store(to);
            }
        }
    }
}

/// From the gradients of the outputs of (a, b) and (b, a) to those of u and v, and to what the
/// pairs took from their objects.
pub(crate) struct PairsToPre<'a> {
    pub(crate) pairs: usize,
    /// Activations, unless d is of pre-activations already.
    pub(crate) y: Option<Rows<'a>>,
    pub(crate) features: usize,
    /// `[row][features]`: the gradients of (a, b), (b, a) on entry, of u, v on return.
    pub(crate) d: RowsMut<'a>,
    /// `[object][2 features]`, added to, how many objects there are, and which each pair has.
    pub(crate) d_expanded: Option<(RowsMut<'a>, usize, &'a [[u32; 2]])>,
    /// `[features]`, added to.
    pub(crate) d_bias: RowsMut<'a>,
}

// SAFETY: two rows a pair and all features, and objects that are there, which `check` asks for.
unsafe impl Kernel for PairsToPre<'_> {
    #[inline(always)]
    fn check(&self) {
        let (rows, features) = (times(2, self.pairs), self.features);
        assert!(features.is_multiple_of(BLOCK));
        if let Some(y) = self.y {
            y.check(rows, features);
        }
        self.d.check(rows, features);
        self.d_bias.check(1, features);
        if let Some((d_expanded, objects, ends)) = self.d_expanded {
            d_expanded.check(objects, 2 * features);
            all_below(ends[..self.pairs].as_flattened(), objects);
        }
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let features = self.features;
        // SAFETY: pairs, objects and features are within the tensors.
        unsafe {
            for f in (0..features).step_by(BLOCK) {
                let d_bias = self.d_bias.row(0).add(f);
                let mut bias = V::load(d_bias);
                for row in (0..2 * self.pairs).step_by(2) {
                    let (to_u, to_v) = (self.d.row(row).add(f), self.d.row(row + 1).add(f));
                    let (mut ab, mut ba) = (V::load(to_u), V::load(to_v));
                    if let Some(y) = self.y {
                        ab = ab.mul(slope(V::load(y.row(row).add(f))));
                        ba = ba.mul(slope(V::load(y.row(row + 1).add(f))));
                    }
                    if let Some((d_expanded, _, ends)) = self.d_expanded {
                        let [a, b] = ends.get_unchecked(row / 2).map(|x| x as usize);
                        let b = d_expanded.row(b).add(f);
                        add(b, ab);
                        add(b.add(features), ba);
                        let a = d_expanded.row(a).add(f);
                        add(a, ba);
                        add(a.add(features), ab);
                    }
                    let u = ab.add(ba);
                    u.store(to_u);
                    ab.sub(ba).store(to_v);
                    bias = bias.add(u);
                }
                bias.store(d_bias);
            }
        }
    }
}

/// From the gradients of the sums and differences of pairs to those of (a, b) and (b, a).
pub(crate) struct FromSums<'a> {
    pub(crate) pairs: usize,
    /// A multiple of 8.
    pub(crate) columns: usize,
    /// Sums and differences, where gradients of pre-activations are asked for.
    pub(crate) sums: Option<Rows<'a>>,
    pub(crate) d_sums: Rows<'a>,
    /// `[row][columns]`.
    pub(crate) d: RowsMut<'a>,
}

// SAFETY: two rows a pair and all columns, which `check` asks for.
unsafe impl Kernel for FromSums<'_> {
    #[inline(always)]
    fn check(&self) {
        assert!(self.columns.is_multiple_of(BLOCK));
        let rows = times(2, self.pairs);
        self.d_sums.check(rows, self.columns);
        self.d.check(rows, self.columns);
        if let Some(sums) = self.sums {
            sums.check(rows, self.columns);
        }
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: pairs and columns are within the tensors.
        unsafe {
            let half = V::splat(0.5);
            for row in (0..2 * self.pairs).step_by(2) {
                for c in (0..self.columns).step_by(BLOCK) {
                    let sum = V::load(self.d_sums.row(row).add(c));
                    let difference = V::load(self.d_sums.row(row + 1).add(c));
                    let (mut ab, mut ba) = (sum.add(difference), sum.sub(difference));
                    if let Some(sums) = self.sums {
                        let sum = V::load(sums.row(row).add(c)).mul(half);
                        let difference = V::load(sums.row(row + 1).add(c)).mul(half);
                        ab = ab.mul(slope(sum.add(difference)));
                        ba = ba.mul(slope(sum.sub(difference)));
                    }
                    ab.store(self.d.row(row).add(c));
                    ba.store(self.d.row(row + 1).add(c));
                }
            }
        }
    }
}

/// y (1 - y).
#[inline(always)]
pub(super) unsafe fn slope<V: Vector>(y: V) -> V {
    // SAFETY: the caller has the instructions.
    unsafe { y.mul(V::splat(1.0).sub(y)) }
}

/// Adds to what lies there.
#[inline(always)]
pub(super) unsafe fn add<V: Vector>(to: *mut f32, x: V) {
    // SAFETY: the caller gives a place for a vector.
    unsafe { V::load(to).add(x).store(to) }
}

/// From the gradients of outputs of arity 0 and 1 to those of pre-activations, and to what the rows
/// of a structure took from the arity below.
pub(crate) struct RowsToPre<'a> {
    pub(crate) structures: usize,
    /// Rows of a structure.
    pub(crate) per: usize,
    /// Activations, from the first column on, unless d is of pre-activations already.
    pub(crate) y: Option<Rows<'a>>,
    pub(crate) features: usize,
    /// `[row][features]`.
    pub(crate) d: RowsMut<'a>,
    /// `[structure][features]`.
    pub(crate) d_expanded: Option<RowsMut<'a>>,
    /// `[features]`, added to.
    pub(crate) d_bias: RowsMut<'a>,
}

// SAFETY: `per` rows a structure and all features, which `check` asks for.
unsafe impl Kernel for RowsToPre<'_> {
    #[inline(always)]
    fn check(&self) {
        let (rows, features) = (times(self.structures, self.per), self.features);
        assert!(features.is_multiple_of(BLOCK));
        self.d.check(rows, features);
        self.d_bias.check(1, features);
        if let Some(y) = self.y {
            y.check(rows, features);
        }
        if let Some(d_expanded) = self.d_expanded {
            d_expanded.check(self.structures, features);
        }
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: rows and features are within the tensors.
        unsafe {
            for f in (0..self.features).step_by(BLOCK) {
                let d_bias = self.d_bias.row(0).add(f);
                let mut bias = V::load(d_bias);
                for structure in 0..self.structures {
                    let mut sum = V::splat(0.0);
                    for row in structure * self.per..(structure + 1) * self.per {
                        let at = self.d.row(row).add(f);
                        let mut d = V::load(at);
                        if let Some(y) = self.y {
                            d = d.mul(slope(V::load(y.row(row).add(f))));
                            d.store(at);
                        }
                        sum = sum.add(d);
                    }
                    if let Some(d_expanded) = self.d_expanded {
                        sum.store(d_expanded.row(structure).add(f));
                    }
                    bias = bias.add(sum);
                }
                bias.store(d_bias);
            }
        }
    }
}

/// Adds what belongs to each row to what belongs to its class.
pub(crate) struct AddByClass<'a> {
    /// The rows to add.
    pub(crate) rows: &'a [u32],
    pub(crate) classes: &'a [u32],
    /// How many classes there are.
    pub(crate) count: usize,
    pub(crate) d: Rows<'a>,
    /// A multiple of 8.
    pub(crate) width: usize,
    pub(crate) sums: RowsMut<'a>,
}

// SAFETY: rows that have a class, and classes that are there, which `check` asks for.
unsafe impl Kernel for AddByClass<'_> {
    #[inline(always)]
    fn check(&self) {
        assert!(self.width.is_multiple_of(BLOCK));
        all_below(self.rows, self.classes.len());
        all_below(self.classes, self.count);
        self.d.check(self.classes.len(), self.width);
        self.sums.check(self.count, self.width);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: rows and classes are within the tensors.
        unsafe {
            for &row in self.rows {
                let class = *self.classes.get_unchecked(row as usize) as usize;
                let (from, to) = (self.d.row(row as usize), self.sums.row(class));
                for f in (0..self.width).step_by(BLOCK) {
                    add(to.add(f), V::load(from.add(f)));
                }
            }
        }
    }
}
