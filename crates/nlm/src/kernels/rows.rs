//! Maps and reductions with features in lanes: a row `[columns]` of f32 a tuple, and one
//! structure at a time. Every vector is full whatever the number of objects or structures.
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

use super::vector::{Kernel, Vector, sigmoids};

/// One tensor a map reads.
#[derive(Clone, Copy)]
pub(crate) struct RowRun {
    /// The first column read, of row 0.
    pub(crate) x: *const f32,
    /// f32 from one row to the next.
    pub(crate) stride: usize,
    pub(crate) columns: usize,
    /// `[output block][column][8]`; for pairs `[output block][2][column][8]`, (P + Q)/2
    /// and then (P - Q)/2.
    pub(crate) weights: *const f32,
    /// Columns the weights have, of which the first `columns` from there on are used.
    pub(crate) width: usize,
}

impl RowRun {
    pub(crate) const NONE: Self = Self {
        x: std::ptr::null(),
        stride: 0,
        columns: 0,
        weights: std::ptr::null(),
        width: 0,
    };
}

/// Where the sums of a map over pairs start: at what a table says of the class of each pair.
#[derive(Clone, Copy)]
pub(crate) struct Starts<'a> {
    pub(crate) classes: &'a [u32],
    /// `[class][record]`, of which the first are u and v, `[2][outputs]`; null for zero.
    pub(crate) table: *const f32,
    pub(crate) record: usize,
}

impl Starts<'_> {
    pub(crate) const NONE: Self = Self {
        classes: &[],
        table: std::ptr::null(),
        record: 0,
    };
}

/// y[t] = bias + expanded + Σ_c w[c] x[t][c], for tuples of arity 0 and 1.
pub(crate) struct RowMap<'a> {
    pub(crate) rows: usize,
    /// Whether a row is added up in four parts. A structure has one row of arity 0: its products would
    /// wait for one another. Follows from the arity alone, so that a row does not depend on
    /// how many there are.
    pub(crate) in_parts: bool,
    /// `[outputs]`, or null for zero.
    pub(crate) bias: *const f32,
    /// `[owner][outputs]`, what a row takes from the arity below, or null.
    pub(crate) expanded: *const f32,
    /// The owner of each row.
    pub(crate) owners: &'a [u32],
    pub(crate) runs: &'a [RowRun],
    pub(crate) y: *mut f32,
    pub(crate) y_stride: usize,
    /// A multiple of 8.
    pub(crate) outputs: usize,
    pub(crate) activate: bool,
}

impl Kernel for RowMap<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let n = self.rows;
        let mut i = 0;
        // SAFETY: the tiles cover 0..n; the engine vouches for the tensors.
        unsafe {
            if self.in_parts {
                while V::WIDE && i + 4 <= n {
                    self.tile::<V, 4, 4>(i);
                    i += 4;
                }
                while i + 2 <= n {
                    self.tile::<V, 2, 4>(i);
                    i += 2;
                }
                if i < n {
                    self.tile::<V, 1, 4>(i);
                }
                return;
            }
            while i + 8 <= n {
                self.tile::<V, 8, 1>(i);
                i += 8;
            }
            if i + 6 <= n {
                self.tile::<V, 6, 1>(i);
                i += 6;
            }
            if i + 3 <= n {
                self.tile::<V, 3, 1>(i);
                i += 3;
            }
            while i < n {
                self.tile::<V, 1, 1>(i);
                i += 1;
            }
        }
    }
}

impl RowMap<'_> {
    /// Rows i .. i + T, with S partial sums each.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize, const S: usize>(&self, i: usize) {
        // SAFETY: i + T <= rows; columns and outputs are within the tensors.
        unsafe {
            for f in (0..self.outputs).step_by(V::LANES) {
                let mut bias = V::splat(0.0);
                if !self.bias.is_null() {
                    bias = V::load(self.bias.add(f));
                }
                let mut acc = [[V::splat(0.0); S]; T];
                for run in self.runs {
                    let weights = run.weights.add(f * run.columns);
                    acc = sweep(
                        acc,
                        run.x.add(i * run.stride),
                        run.stride,
                        run.columns,
                        weights,
                    );
                }
                let mut sums = [bias; T];
                for (t, acc) in acc.iter().enumerate() {
                    if !self.expanded.is_null() {
                        let owner = *self.owners.get_unchecked(i + t) as usize;
                        sums[t] = bias.add(V::load(self.expanded.add(owner * self.outputs + f)));
                    }
                    for a in acc {
                        sums[t] = sums[t].add(*a);
                    }
                }
                if self.activate {
                    sums = sigmoids(sums);
                }
                for (t, sum) in sums.iter().enumerate() {
                    sum.store(self.y.add((i + t) * self.y_stride + f));
                }
            }
        }
    }
}

/// Columns a loop takes at once: the rows of a tile lie at distances the compiler does not know, and
/// this way each place is computed once for so many columns.
const UNROLL: usize = 4;

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
                let weight = V::load(w.add(k * V::LANES));
                for t in 0..T {
                    let v = V::splat(*x.add(t * stride + c + k));
                    acc[t][k % S] = v.mul_add(weight, acc[t][k % S]);
                }
            }
            c += UNROLL;
            w = w.add(UNROLL * V::LANES);
        }
        while c < columns {
            let weight = V::load(w);
            for t in 0..T {
                let v = V::splat(*x.add(t * stride + c));
                acc[t][0] = v.mul_add(weight, acc[t][0]);
            }
            c += 1;
            w = w.add(V::LANES);
        }
    }
    acc
}

/// The permutation-summed map over pairs.
pub(crate) struct PairMap<'a> {
    pub(crate) pairs: usize,
    /// The objects a and b of each pair.
    pub(crate) ends: &'a [[u32; 2]],
    /// `[outputs]`, or null for zero.
    pub(crate) bias: *const f32,
    pub(crate) starts: Starts<'a>,
    /// `[object][2][outputs]`, or null for nothing.
    pub(crate) expanded: *const f32,
    /// Rows hold sums and differences.
    pub(crate) runs: &'a [RowRun],
    pub(crate) outputs: usize,
    pub(crate) activate: bool,
    /// The rows of (a, b) and (b, a).
    pub(crate) y: *mut f32,
    pub(crate) y_stride: usize,
    /// Where their sums and differences go, or null.
    pub(crate) sums: *mut f32,
    pub(crate) sums_stride: usize,
}

impl Kernel for PairMap<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: the tiles cover all pairs; the engine vouches for the tensors.
        unsafe {
            // What pairs add to triples comes in threes of blocks.
            let threes = self.outputs.is_multiple_of(3 * V::LANES);
            if V::WIDE && threes && self.pairs >= 4 {
                self.tiles::<V, 4, 3>();
            } else if V::WIDE && self.pairs >= 8 {
                self.tiles::<V, 8, 1>();
            } else if self.pairs >= 4 {
                self.tiles::<V, 4, 1>();
            } else {
                self.tiles::<V, 1, 1>();
            }
        }
    }
}

impl PairMap<'_> {
    #[inline(always)]
    unsafe fn tiles<V: Vector, const T: usize, const B: usize>(&self) {
        let mut i = 0;
        // SAFETY: there are at least T pairs, and outputs are whole groups of B blocks. The last tile may compute pairs again: no
        // output is an input.
        unsafe {
            while i < self.pairs {
                let from = i.min(self.pairs - T);
                for f in (0..self.outputs).step_by(B * V::LANES) {
                    self.tile::<V, T, B>(from, f);
                }
                i += T;
            }
        }
    }

    /// B blocks of features from f on, of the pairs i .. i + T.
    #[inline(always)]
    unsafe fn tile<V: Vector, const T: usize, const B: usize>(&self, i: usize, f: usize) {
        // SAFETY: pairs, columns and outputs are within the tensors.
        unsafe {
            let mut u = [[V::splat(0.0); B]; T];
            let mut v = u;
            if !self.starts.table.is_null() {
                for t in 0..T {
                    let class = *self.starts.classes.get_unchecked(i + t) as usize;
                    let at = self.starts.table.add(class * self.starts.record + f);
                    for b in 0..B {
                        let at = at.add(b * V::LANES);
                        u[t][b] = V::load(at);
                        v[t][b] = V::load(at.add(self.outputs));
                    }
                }
            }
            for run in self.runs {
                let mut run = *run;
                run.x = run.x.add(2 * i * run.stride);
                run.weights = run.weights.add(f * 2 * run.width);
                (u, v) = sweep_pairs(u, v, &run);
            }
            for t in 0..T {
                for b in 0..B {
                    let [ab, ba] = self.rows(2 * (i + t), f + b * V::LANES, u[t][b], v[t][b]);
                    (u[t][b], v[t][b]) = (ab, ba);
                }
            }
            if self.activate {
                // Four at a time: a sigmoid is a long chain.
                let mut t = 0;
                while t + 2 <= T {
                    for b in 0..B {
                        [u[t][b], v[t][b], u[t + 1][b], v[t + 1][b]] =
                            sigmoids([u[t][b], v[t][b], u[t + 1][b], v[t + 1][b]]);
                    }
                    t += 2;
                }
                if t < T {
                    for b in 0..B {
                        [u[t][b], v[t][b]] = sigmoids([u[t][b], v[t][b]]);
                    }
                }
            }
            for t in 0..T {
                for b in 0..B {
                    self.store(2 * (i + t), f + b * V::LANES, u[t][b], v[t][b]);
                }
            }
        }
    }

    /// Features f .. f + 8 of (a, b) and (b, a), from u and v.
    #[inline(always)]
    unsafe fn rows<V: Vector>(&self, row: usize, f: usize, u: V, v: V) -> [V; 2] {
        // SAFETY: pairs and outputs are within the tensors.
        unsafe {
            let mut ab = u.add(v);
            let mut ba = u.sub(v);
            if !self.bias.is_null() {
                let bias = V::load(self.bias.add(f));
                (ab, ba) = (ab.add(bias), ba.add(bias));
            }
            if !self.expanded.is_null() {
                let [a, b] = self.ends.get_unchecked(row / 2).map(|x| x as usize);
                let a = self.expanded.add(a * 2 * self.outputs + f);
                let b = self.expanded.add(b * 2 * self.outputs + f);
                ab = ab.add(V::load(b).add(V::load(a.add(self.outputs))));
                ba = ba.add(V::load(a).add(V::load(b.add(self.outputs))));
            }
            [ab, ba]
        }
    }

    #[inline(always)]
    unsafe fn store<V: Vector>(&self, row: usize, f: usize, ab: V, ba: V) {
        // SAFETY: pairs and outputs are within the tensors.
        unsafe {
            ab.store(self.y.add(row * self.y_stride + f));
            ba.store(self.y.add((row + 1) * self.y_stride + f));
            if !self.sums.is_null() {
                let at = self.sums.add(row * self.sums_stride + f);
                ab.add(ba).store(at);
                ab.sub(ba).store(at.add(self.sums_stride));
            }
        }
    }
}

/// u and v of T pairs and B blocks of features, one channel after the other.
#[inline(always)]
unsafe fn sweep_pairs<V: Vector, const T: usize, const B: usize>(
    mut u: [[V; B]; T],
    mut v: [[V; B]; T],
    run: &RowRun,
) -> ([[V; B]; T], [[V; B]; T]) {
    // SAFETY: the caller gives 2 T rows, `columns` columns and B blocks of weights.
    unsafe {
        let mut c = 0;
        while c + UNROLL <= run.columns {
            for k in 0..UNROLL {
                (u, v) = sweep_channel(u, v, run, c + k);
            }
            c += UNROLL;
        }
        while c < run.columns {
            (u, v) = sweep_channel(u, v, run, c);
            c += 1;
        }
    }
    (u, v)
}

#[inline(always)]
#[allow(clippy::needless_range_loop)] // one index runs over several arrays
unsafe fn sweep_channel<V: Vector, const T: usize, const B: usize>(
    mut u: [[V; B]; T],
    mut v: [[V; B]; T],
    run: &RowRun,
    c: usize,
) -> ([[V; B]; T], [[V; B]; T]) {
    let (x, stride, w) = (run.x, run.stride, run.weights);
    // SAFETY: as for `sweep_pairs`.
    unsafe {
        let half = run.width * V::LANES;
        let mut sum = [V::splat(0.0); B];
        let mut difference = sum;
        for b in 0..B {
            let at = w.add(2 * b * half + c * V::LANES);
            sum[b] = V::load(at);
            difference[b] = V::load(at.add(half));
        }
        for t in 0..T {
            let at = x.add(2 * t * stride + c);
            let (s, d) = (V::splat(*at), V::splat(*at.add(stride)));
            for b in 0..B {
                u[t][b] = s.mul_add(sum[b], u[t][b]);
                v[t][b] = d.mul_add(difference[b], v[t][b]);
            }
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
    /// The first column, of row 0.
    pub(crate) x: *const f32,
    pub(crate) x_stride: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// Whether x are pre-activations.
    pub(crate) activate: bool,
    /// The first output column, of target 0: maxima, then minima.
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
}

impl Kernel for ReduceRows<'_> {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        let per = self.per;
        // SAFETY: every index is a row of the tensors.
        unsafe {
            for t in 0..self.targets {
                let red = self.red.add(t * self.red_stride);
                let members = self.members.get_unchecked(t * per..(t + 1) * per);
                for f in (0..self.features).step_by(V::LANES) {
                    let mut max = V::splat(f32::NEG_INFINITY);
                    let mut min = V::splat(f32::INFINITY);
                    for &row in members {
                        let v = V::load(self.x.add(row as usize * self.x_stride + f));
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

/// Starts a reduction into rows at ∓infinity.
pub(crate) struct StartRows {
    pub(crate) rows: usize,
    pub(crate) features: usize,
    pub(crate) both: bool,
    /// `[row][features for each quantifier]`.
    pub(crate) best: *mut f32,
}

impl Kernel for StartRows {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: rows and features are within the tensor.
        unsafe {
            let columns = self.features * (1 + usize::from(self.both));
            for row in 0..self.rows {
                let at = self.best.add(row * columns);
                for f in (0..self.features).step_by(V::LANES) {
                    V::splat(f32::NEG_INFINITY).store(at.add(f));
                    if self.both {
                        V::splat(f32::INFINITY).store(at.add(self.features + f));
                    }
                }
            }
        }
    }
}

/// Ends the reduction of triples into pairs: over no tuple it is 0 and 1; over pre-activations a
/// sigmoid is due; and pairs are kept as sums and differences.
pub(crate) struct EndRows {
    pub(crate) pairs: usize,
    /// Whether the reductions were over no tuple.
    pub(crate) empty: bool,
    pub(crate) activate: bool,
    pub(crate) features: usize,
    /// Columns: features for each quantifier.
    pub(crate) columns: usize,
    /// The first of these columns, of row 0.
    pub(crate) best: *const f32,
    pub(crate) best_stride: usize,
    pub(crate) red: *mut f32,
    pub(crate) red_stride: usize,
}

impl Kernel for EndRows {
    #[inline(always)]
    unsafe fn run<V: Vector>(&self) {
        // SAFETY: rows and features are within the tensors.
        unsafe {
            for pair in 0..self.pairs {
                for c in (0..self.columns).step_by(V::LANES) {
                    let from = self.best.add(2 * pair * self.best_stride + c);
                    let mut ab = V::load(from);
                    let mut ba = V::load(from.add(self.best_stride));
                    if self.empty {
                        ab = V::splat(f32::from(u8::from(c >= self.features)));
                        ba = ab;
                    } else if self.activate {
                        [ab, ba] = sigmoids([ab, ba]);
                    }
                    let to = self.red.add(2 * pair * self.red_stride + c);
                    ab.add(ba).store(to);
                    ab.sub(ba).store(to.add(self.red_stride));
                }
            }
        }
    }
}
