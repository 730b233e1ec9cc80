//! Maps and reductions over rows `[columns]` of f32, one a tuple, with features in lanes.
//!
//! A pair {a, b} has two rows. Its channels are kept as sum and difference of those of (a, b) and
//! (b, a): with P the weights of a channel as it is and Q of its permuted copy,
//!
//! ```text
//! P x(ab) + Q x(ba) = u + v,   P x(ba) + Q x(ab) = u - v,
//! u = (P + Q)/2 (x(ab) + x(ba)),   v = (P - Q)/2 (x(ab) - x(ba)),
//! ```
//!
//! which is half the products. (The Fourier basis of S2, as `orbit` has that of S3.)
//!
//! In the tree of `docs/nlm.md`: by class, values and gradients; by tuple the sigmoids alone.

use super::vector::{Kernel, Vector, cover, sigmoids, tiles};
use super::view::{Rows, RowsMut, all_below, times};
use crate::plan::BLOCK;
use crate::tuning::UNROLL;

/// One tensor a map reads.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// From the first column read on.
    pub(crate) x: Rows<'a>,
    pub(crate) columns: usize,
    /// From the first column read on: `[output block][column][8]`; for pairs
    /// `[output block][2][column][8]`, (P + Q)/2 and then (P - Q)/2.
    pub(crate) weights: &'a [f32],
    /// Columns the weights have, of which the first `columns` are used.
    pub(crate) width: usize,
}

impl Source<'_> {
    pub(crate) const NONE: Self = Self {
        x: Rows::NONE,
        columns: 0,
        weights: &[],
        width: 0,
    };

    /// # Panics
    ///
    /// Unless there are so many rows, and weights for them (`halves` is 2 for pairs).
    #[inline(always)]
    fn check(&self, rows: usize, outputs: usize, halves: usize) {
        self.x.check(rows, self.columns);
        assert!(self.columns <= self.width);
        let weights = Rows::new(self.weights, times(self.width, BLOCK));
        weights.check(times(outputs / BLOCK, halves), self.columns * BLOCK);
    }
}

/// Where the sums of a map over pairs start: at what a table says of the class of each pair.
#[derive(Clone, Copy)]
pub(crate) struct Starts<'a> {
    pub(crate) classes: &'a [u32],
    /// `[class][record]`, of which the first are u and v, `[2][outputs]`.
    pub(crate) table: Rows<'a>,
    /// How many classes the table has.
    pub(crate) count: usize,
}

/// y[t] = bias + expanded + Σ_c w[c] x[t][c].
pub(crate) struct RowMap<'a> {
    pub(crate) rows: usize,
    /// Whether a row is added up in four parts. A structure has one row of arity 0: its products
    /// would wait for one another. Follows from the arity alone, so that a row does not depend on
    /// how many there are.
    pub(crate) in_parts: bool,
    /// `[outputs]`, or zero.
    pub(crate) bias: Option<&'a [f32]>,
    /// `[owner][outputs]`, what a row takes from the arity below, and the owner of each row.
    pub(crate) expanded: Option<(&'a [f32], &'a [u32])>,
    pub(crate) sources: &'a [Source<'a>],
    pub(crate) y: RowsMut<'a>,
    /// A multiple of 8.
    pub(crate) outputs: usize,
    pub(crate) activate: bool,
}

// SAFETY: the tiles cover the rows 0..rows and all outputs, which `check` asks for.
unsafe impl Kernel for RowMap<'_> {
    #[inline(always)]
    fn check(&self) {
        assert!(self.outputs.is_multiple_of(BLOCK));
        assert!(self.bias.is_none_or(|bias| bias.len() >= self.outputs));
        if let Some((expanded, owners)) = self.expanded {
            all_below(&owners[..self.rows], expanded.len() / self.outputs.max(1));
        }
        for source in self.sources {
            source.check(self.rows, self.outputs, 1);
        }
        self.y.check(self.rows, self.outputs);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let n = self.rows;
        // SAFETY: the tiles cover 0..n.
        unsafe {
            if self.in_parts {
                tiles!(i of n;
                    4 if V::WIDE => self.tile::<V, 4, 4>(i),
                    2 if true => self.tile::<V, 2, 4>(i),
                    1 if true => self.tile::<V, 1, 4>(i),
                );
            } else {
                cover!(i of 0, n;
                    8 if true => self.tile::<V, 8, 1>(i),
                    1 if true => self.tile::<V, 1, 1>(i),
                );
            }
        }
    }
}

impl RowMap<'_> {
    /// Rows i .. i + T, with S partial sums each.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize, const S: usize>(&self, i: usize) {
        // SAFETY: i + T <= rows.
        unsafe {
            for f in (0..self.outputs).step_by(BLOCK) {
                let mut bias = V::splat(0.0);
                if let Some(all) = self.bias {
                    bias = V::load(all.as_ptr().add(f));
                }
                let mut acc = [[V::splat(0.0); S]; T];
                for source in self.sources {
                    let weights = source.weights.as_ptr().wrapping_add(f * source.width);
                    let (x, stride) = (source.x.row(i), source.x.stride());
                    acc = sweep(acc, x, stride, source.columns, weights);
                }
                let mut sums = [bias; T];
                for (t, acc) in acc.iter().enumerate() {
                    if let Some((expanded, owners)) = self.expanded {
                        let owner = *owners.get_unchecked(i + t) as usize;
                        let at = expanded.as_ptr().add(owner * self.outputs + f);
                        sums[t] = bias.add(V::load(at));
                    }
                    for a in acc {
                        sums[t] = sums[t].add(*a);
                    }
                }
                if self.activate {
                    sums = sigmoids(sums);
                }
                for (t, sum) in sums.iter().enumerate() {
                    sum.store(self.y.row(i + t).add(f));
                }
            }
        }
    }
}

/// acc[t] + Σ_c w[c] x[t][c], column c into partial sum c mod S. By value, so that the
/// accumulators stay in registers.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // one index runs over several arrays
unsafe fn sweep<V: Vector, const T: usize, const S: usize>(
    mut acc: [[V; S]; T],
    x: *const f32,
    stride: usize,
    columns: usize,
    mut w: *const f32,
) -> [[V; S]; T] {
    // SAFETY: the caller gives T rows and `columns` columns.
    unsafe {
        let mut c = 0;
        while c + UNROLL <= columns {
            for k in 0..UNROLL {
                let weight = V::load(w.add(k * BLOCK));
                for t in 0..T {
                    let v = V::splat(*x.add(t * stride + c + k));
                    acc[t][k % S] = v.mul_add(weight, acc[t][k % S]);
                }
            }
            c += UNROLL;
            w = w.add(UNROLL * BLOCK);
        }
        while c < columns {
            let weight = V::load(w);
            for t in 0..T {
                let v = V::splat(*x.add(t * stride + c));
                acc[t][0] = v.mul_add(weight, acc[t][0]);
            }
            c += 1;
            w = w.add(BLOCK);
        }
    }
    acc
}

/// The permutation-summed map over pairs.
pub(crate) struct PairMap<'a> {
    pub(crate) pairs: usize,
    /// `[outputs]`, or zero.
    pub(crate) bias: Option<&'a [f32]>,
    pub(crate) starts: Option<Starts<'a>>,
    /// `[object][2][outputs]`, and the objects a and b of each pair.
    pub(crate) expanded: Option<(&'a [f32], &'a [[u32; 2]])>,
    /// Rows hold sums and differences.
    pub(crate) sources: &'a [Source<'a>],
    pub(crate) outputs: usize,
    pub(crate) activate: bool,
    /// The rows of (a, b) and (b, a).
    pub(crate) y: RowsMut<'a>,
    /// Where their sums and differences go, if anywhere.
    pub(crate) sums: Option<RowsMut<'a>>,
}

// SAFETY: the tiles cover the pairs 0..pairs, two rows each, and all outputs, which `check` asks
// for.
unsafe impl Kernel for PairMap<'_> {
    #[inline(always)]
    fn check(&self) {
        let (rows, outputs) = (times(2, self.pairs), self.outputs);
        assert!(outputs.is_multiple_of(BLOCK));
        assert!(self.bias.is_none_or(|bias| bias.len() >= outputs));
        if let Some(starts) = self.starts {
            all_below(&starts.classes[..self.pairs], starts.count);
            starts.table.check(starts.count, 2 * outputs);
        }
        if let Some((expanded, ends)) = self.expanded {
            let objects = expanded.len() / (2 * outputs).max(1);
            all_below(ends[..self.pairs].as_flattened(), objects);
        }
        for source in self.sources {
            source.check(rows, outputs, 2);
        }
        self.y.check(rows, outputs);
        if let Some(sums) = self.sums {
            sums.check(rows, outputs);
        }
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles cover the pairs.
        unsafe {
            cover!(i of 0, self.pairs;
                8 if V::WIDE => self.tile::<V, 8>(i),
                4 if true => self.tile::<V, 4>(i),
                1 if true => self.tile::<V, 1>(i),
            );
        }
    }
}

impl PairMap<'_> {
    /// The pairs i .. i + T.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize>(&self, i: usize) {
        for f in (0..self.outputs).step_by(BLOCK) {
            // SAFETY: the caller gives pairs that exist.
            unsafe { self.features::<V, T>(i, f) };
        }
    }

    /// Features f .. f + 8 of the pairs i .. i + T.
    #[inline(always)]
    unsafe fn features<V: Vector, const T: usize>(&self, i: usize, f: usize) {
        // SAFETY: the caller gives pairs and outputs that exist.
        unsafe {
            let mut u = [V::splat(0.0); T];
            let mut v = u;
            if let Some(starts) = self.starts {
                for t in 0..T {
                    let class = *starts.classes.get_unchecked(i + t) as usize;
                    let at = starts.table.row(class).add(f);
                    (u[t], v[t]) = (V::load(at), V::load(at.add(self.outputs)));
                }
            }
            for source in self.sources {
                let weights = source.weights.as_ptr().wrapping_add(f * 2 * source.width);
                (u, v) = sweep_pairs(u, v, source, source.x.row(2 * i), weights);
            }
            for t in 0..T {
                let mut rows = self.rows(2 * (i + t), f, u[t], v[t]);
                if self.activate {
                    rows = sigmoids(rows);
                }
                self.store(2 * (i + t), f, rows[0], rows[1]);
            }
        }
    }

    /// Features f .. f + 8 of (a, b) and (b, a), from u and v.
    #[inline(always)]
    unsafe fn rows<V: Vector>(&self, row: usize, f: usize, u: V, v: V) -> [V; 2] {
        // SAFETY: the caller gives pairs and outputs that exist.
        unsafe {
            let mut ab = u.add(v);
            let mut ba = u.sub(v);
            if let Some(bias) = self.bias {
                let bias = V::load(bias.as_ptr().add(f));
                (ab, ba) = (ab.add(bias), ba.add(bias));
            }
            if let Some((expanded, ends)) = self.expanded {
                let [a, b] = ends.get_unchecked(row / 2).map(|x| x as usize);
                let a = expanded.as_ptr().add(a * 2 * self.outputs + f);
                let b = expanded.as_ptr().add(b * 2 * self.outputs + f);
                ab = ab.add(V::load(b).add(V::load(a.add(self.outputs))));
                ba = ba.add(V::load(a).add(V::load(b.add(self.outputs))));
            }
            [ab, ba]
        }
    }

    #[inline(always)]
    unsafe fn store<V: Vector>(&self, row: usize, f: usize, ab: V, ba: V) {
        // SAFETY: the caller gives pairs and outputs that exist.
        unsafe {
            ab.store(self.y.row(row).add(f));
            ba.store(self.y.row(row + 1).add(f));
            if let Some(sums) = self.sums {
                ab.add(ba).store(sums.row(row).add(f));
                ab.sub(ba).store(sums.row(row + 1).add(f));
            }
        }
    }
}

/// u and v of T pairs, one channel after the other.
#[inline(always)]
unsafe fn sweep_pairs<V: Vector, const T: usize>(
    mut u: [V; T],
    mut v: [V; T],
    source: &Source<'_>,
    x: *const f32,
    w: *const f32,
) -> ([V; T], [V; T]) {
    let (stride, half) = (source.x.stride(), source.width * BLOCK);
    // SAFETY: the caller gives 2 T rows and `columns` columns.
    unsafe {
        let mut c = 0;
        while c + UNROLL <= source.columns {
            for k in 0..UNROLL {
                (u, v) = sweep_channel(u, v, x.add(c + k), stride, w.add((c + k) * BLOCK), half);
            }
            c += UNROLL;
        }
        while c < source.columns {
            (u, v) = sweep_channel(u, v, x.add(c), stride, w.add(c * BLOCK), half);
            c += 1;
        }
    }
    (u, v)
}

#[inline(always)]
unsafe fn sweep_channel<V: Vector, const T: usize>(
    mut u: [V; T],
    mut v: [V; T],
    x: *const f32,
    stride: usize,
    w: *const f32,
    half: usize,
) -> ([V; T], [V; T]) {
    // SAFETY: as for `sweep_pairs`.
    unsafe {
        let (sum, difference) = (V::load(w), V::load(w.add(half)));
        for t in 0..T {
            let at = x.add(2 * t * stride);
            u[t] = V::splat(*at).mul_add(sum, u[t]);
            v[t] = V::splat(*at.add(stride)).mul_add(difference, v[t]);
        }
    }
    (u, v)
}

/// red[t] = max (and min) over the members of t.
pub(crate) struct ReduceRows<'a> {
    /// `[target][per]`: the rows reduced into each target.
    pub(crate) members: &'a [u32],
    pub(crate) per: usize,
    pub(crate) targets: usize,
    /// From the first column on, and how many rows there are.
    pub(crate) x: Rows<'a>,
    pub(crate) rows: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// Whether x are pre-activations.
    pub(crate) activate: bool,
    /// From the first output column on: maxima, then minima.
    pub(crate) red: RowsMut<'a>,
}

// SAFETY: the targets 0..targets have `per` members each, all of them rows, which `check` asks
// for.
unsafe impl Kernel for ReduceRows<'_> {
    #[inline(always)]
    fn check(&self) {
        assert!(self.features.is_multiple_of(BLOCK));
        all_below(&self.members[..times(self.targets, self.per)], self.rows);
        self.x.check(self.rows, self.features);
        let columns = self.features * (1 + usize::from(self.both));
        self.red.check(self.targets, columns);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let per = self.per;
        // SAFETY: every member is a row.
        unsafe {
            for t in 0..self.targets {
                let red = self.red.row(t);
                let members = self.members.get_unchecked(t * per..(t + 1) * per);
                for f in (0..self.features).step_by(BLOCK) {
                    let mut max = V::splat(f32::NEG_INFINITY);
                    let mut min = V::splat(f32::INFINITY);
                    for &row in members {
                        let v = V::load(self.x.row(row as usize).add(f));
                        max = v.max(max);
                        min = v.min(min);
                    }
                    if members.is_empty() {
                        // Nothing exists; everything holds of nothing.
                        max = V::splat(0.0);
                        min = V::splat(1.0);
                    } else if self.activate {
                        max = max.sigmoid();
                        min = min.sigmoid();
                    }
                    max.store(red.add(f));
                    if self.both {
                        min.store(red.add(self.features + f));
                    }
                }
            }
        }
    }
}

/// Ends the reduction of triples into pairs: over no tuple it is 0 and 1; over pre-activations a
/// sigmoid is due; and pairs are kept as sums and differences.
pub(crate) struct EndRows<'a> {
    pub(crate) pairs: usize,
    /// Whether the reductions were over no tuple.
    pub(crate) empty: bool,
    pub(crate) activate: bool,
    pub(crate) features: usize,
    /// Columns: features for each quantifier.
    pub(crate) columns: usize,
    /// From the first of these columns on.
    pub(crate) best: Rows<'a>,
    pub(crate) red: RowsMut<'a>,
}

// SAFETY: two rows a pair and all columns, which `check` asks for.
unsafe impl Kernel for EndRows<'_> {
    #[inline(always)]
    fn check(&self) {
        assert!(self.columns.is_multiple_of(BLOCK));
        self.best.check(times(2, self.pairs), self.columns);
        self.red.check(2 * self.pairs, self.columns);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: pairs and columns are within the tensors.
        unsafe {
            for row in (0..2 * self.pairs).step_by(2) {
                for c in (0..self.columns).step_by(BLOCK) {
                    let mut ab = V::load(self.best.row(row).add(c));
                    let mut ba = V::load(self.best.row(row + 1).add(c));
                    if self.empty {
                        ab = V::splat(f32::from(u8::from(c >= self.features)));
                        ba = ab;
                    } else if self.activate {
                        [ab, ba] = sigmoids([ab, ba]);
                    }
                    ab.add(ba).store(self.red.row(row).add(c));
                    ab.sub(ba).store(self.red.row(row + 1).add(c));
                }
            }
        }
    }
}

/// The sigmoid of each, in place.
pub(crate) struct Sigmoids<'a> {
    pub(crate) x: RowsMut<'a>,
    /// A multiple of 8.
    pub(crate) len: usize,
}

// SAFETY: whole vectors, which `check` asks for.
unsafe impl Kernel for Sigmoids<'_> {
    #[inline(always)]
    fn check(&self) {
        assert!(self.len.is_multiple_of(BLOCK));
        self.x.check(1, self.len);
    }

    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: whole vectors.
        unsafe {
            for i in (0..self.len).step_by(BLOCK) {
                let at = self.x.row(0).add(i);
                V::load(at).sigmoid().store(at);
            }
        }
    }
}
