//! The backward pass at arities 0, 1 and 2.

use super::forward::own_stride;
use super::weights::{add_pairs, add_rows};
use super::{Batch, GradientEngine, split};
use crate::buffer::Buffer;
use crate::index::Index;
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::orbit::SIX;
use crate::kernels::rows_gradient::{
    AddByClass, CopyRows, FromSums, InputGradient, PairsToPre, ReduceGradient, RowsToPre,
    WeightGradient,
};
use crate::plan::{ComposePlan, MapPlan};
use crate::simd::Simd;
use std::ops::Range;
use std::ptr::{null, null_mut};

/// Rows and the gradients that meet them. Of pairs, sums and differences count as one row.
#[derive(Clone, Copy)]
struct Rows<'a> {
    /// Those whose gradient is not zero.
    active: &'a [u32],
    /// The first column of the map, of row 0.
    x: *const f32,
    x_stride: usize,
    dy: *const f32,
    /// The first learned column of the map, of row 0.
    dx: *mut f32,
    dx_stride: usize,
}

impl GradientEngine {
    /// Adds to `gradient` the gradient of Σ d_values[i] * value(i), after the forward pass.
    pub(super) fn backward(
        &mut self,
        batch: &Batch<'_>,
        index: &Index,
        d_values: &[f32],
        gradient: &mut [f32],
    ) {
        let plan = batch.plan;
        for n in 0..=plan.max_arity.min(2) {
            let rows = index.group_rows(n);
            self.d_own[n].zeroed(rows * own_stride(batch, n));
            self.d_red[n].zeroed(rows * plan.red_columns[n]);
        }
        let of = &mut self.of_classes;
        of.d_own
            .zeroed(self.classes.pairs() * 2 * batch.shape.known);
        if plan.max_arity == 3 {
            of.d_own_triples
                .zeroed(self.classes.orbits() * plan.own_columns[3] * SIX);
        }
        for (layer, composes) in plan.layers.iter().enumerate().rev() {
            for (n, compose) in composes.iter().enumerate() {
                match (layer, n) {
                    (_, 3) => self.triples_gradient(batch, index, layer, gradient),
                    (0, 2) => self.first_pairs_gradient(batch, index, gradient),
                    _ => self.compose_gradient(batch, index, [layer, n], d_values, gradient),
                }
                debug_assert!(n < 4 && compose.bias.end <= gradient.len());
            }
        }
    }

    /// Adds the sums over rows to the gradient of a bias.
    pub(super) fn add_bias(&self, compose: &ComposePlan, gradient: &mut [f32]) {
        let sums = self.d_bias.as_slice();
        for (g, d) in gradient[compose.bias.clone()].iter_mut().zip(sums) {
            *g += d;
        }
    }

    /// Backward through a compose operation over rows.
    fn compose_gradient(
        &mut self,
        batch: &Batch<'_>,
        index: &Index,
        [layer, n]: [usize; 2],
        d_values: &[f32],
        gradient: &mut [f32],
    ) {
        let plan = batch.plan;
        let compose = &plan.layers[layer][n];
        let rows = index.group_rows(n);
        let outputs = batch.weights[layer][n].bias.len();
        self.output_gradient(batch, index, [layer, n], d_values);
        let (y, y_stride) = match compose.column {
            Some(_) => self.reduced_output(batch, layer, n, compose),
            None => (null(), 0),
        };
        self.d_bias.zeroed(outputs);
        let mut d_expanded = null_mut();
        if let Some(map) = &compose.expand {
            self.d_expanded
                .zeroed(index.group_rows(n - 1) * map.outputs);
            d_expanded = self.d_expanded.as_mut_ptr();
        }
        let d = self.d_output.as_mut_ptr();
        let d_bias = self.d_bias.as_mut_ptr();
        if n == 2 {
            dispatch(
                batch.simd,
                &PairsToPre {
                    pairs: rows / 2,
                    y,
                    features: outputs,
                    d,
                    ends: &index.ends,
                    d_expanded,
                    d_bias,
                },
            );
        } else {
            dispatch(
                batch.simd,
                &RowsToPre {
                    rows,
                    per: index.rows(n),
                    y,
                    y_stride,
                    features: outputs,
                    d,
                    d_expanded,
                    d_bias,
                },
            );
        }
        self.add_bias(compose, gradient);
        let transposed = &batch.transposed[layer][n];
        let mut active = std::mem::take(&mut self.active);
        let width = if n == 2 { 2 * outputs } else { outputs };
        find_active(
            &self.d_output.as_slice()[..rows * outputs],
            width,
            &mut active,
        );
        if let Some(map) = &compose.own {
            if n == 2 {
                self.pair_map_gradient(batch, map, &transposed.own, &active, d, gradient);
            } else {
                let rows = self.own_rows(batch, &active, n, map, d);
                row_map_gradient(
                    batch.simd,
                    map,
                    &transposed.own,
                    &rows,
                    &mut self.dw,
                    gradient,
                );
            }
        }
        if let Some(map) = &compose.red {
            let stride = plan.red_columns[n];
            let rows = Rows {
                active: &active,
                x: self.red[n].as_ptr().wrapping_add(map.columns.start),
                x_stride: stride,
                dy: d,
                dx: self.d_red[n].as_mut_ptr().wrapping_add(map.learned_from),
                dx_stride: stride,
            };
            if n == 2 {
                let columns = map.columns.clone();
                pair_columns_gradient(
                    batch.simd,
                    map,
                    columns,
                    &transposed.red,
                    &rows,
                    &mut self.dw,
                    gradient,
                );
            } else {
                row_map_gradient(
                    batch.simd,
                    map,
                    &transposed.red,
                    &rows,
                    &mut self.dw,
                    gradient,
                );
            }
        }
        if let Some(map) = &compose.expand {
            let d_expanded = &self.d_expanded.as_slice()[..index.group_rows(n - 1) * map.outputs];
            find_active(d_expanded, map.outputs, &mut active);
            let dy = self.d_expanded.as_ptr();
            let rows = self.own_rows(batch, &active, n - 1, map, dy);
            row_map_gradient(
                batch.simd,
                map,
                &transposed.expand,
                &rows,
                &mut self.dw,
                gradient,
            );
        }
        self.active = active;
    }

    /// The rows of `own[n]`, up to arity 1.
    fn own_rows<'a>(
        &mut self,
        batch: &Batch<'_>,
        active: &'a [u32],
        n: usize,
        map: &MapPlan,
        dy: *const f32,
    ) -> Rows<'a> {
        let stride = own_stride(batch, n);
        Rows {
            active,
            x: self.own[n].as_ptr().wrapping_add(map.columns.start),
            x_stride: stride,
            dy,
            dx: self.d_own[n].as_mut_ptr().wrapping_add(map.learned_from),
            dx_stride: stride,
        }
    }

    /// Fills `d_output` from what later layers read of an output and of its reductions.
    fn output_gradient(
        &mut self,
        batch: &Batch<'_>,
        index: &Index,
        [layer, n]: [usize; 2],
        d_values: &[f32],
    ) {
        let plan = batch.plan;
        let compose = &plan.layers[layer][n];
        let rows = index.group_rows(n);
        let features = batch.weights[layer][n].bias.len();
        self.d_output.reserve(rows * features);
        let d = self.d_output.as_mut_ptr();
        match compose.column {
            Some(column) if n == 2 => dispatch(
                batch.simd,
                &FromSums {
                    pairs: rows / 2,
                    d_sums: self.d_own[2]
                        .as_ptr()
                        .wrapping_add(column - batch.shape.known),
                    stride: own_stride(batch, 2),
                    features,
                    d,
                },
            ),
            Some(column) => dispatch(
                batch.simd,
                &CopyRows {
                    rows,
                    from: self.d_own[n].as_ptr().wrapping_add(column),
                    stride: own_stride(batch, n),
                    features,
                    to: d,
                },
            ),
            None => self.d_output.fill(0, rows * features, 0.0),
        }
        if layer + 1 == plan.layers.len() {
            for (i, &d) in d_values.iter().enumerate() {
                self.d_output.set(i * features, d);
            }
        }
        if n > 0 {
            let (x, x_stride) = self.reduced_output(batch, layer, n, compose);
            self.reduce_gradient(batch, index, n, compose, index.members(n), x, x_stride);
        }
    }

    /// Adds to `d_output` what the reductions of an output give to it.
    #[allow(clippy::too_many_arguments)]
    fn reduce_gradient(
        &mut self,
        batch: &Batch<'_>,
        index: &Index,
        n: usize,
        compose: &ComposePlan,
        members: &[u32],
        x: *const f32,
        x_stride: usize,
    ) {
        let plan = batch.plan;
        let column = compose.red_column.expect("above arity 0");
        dispatch(
            batch.simd,
            &ReduceGradient {
                members,
                targets: index.group_rows(n - 1),
                x,
                x_stride,
                features: plan.features,
                both: plan.quantifiers == 2,
                red: match compose.column {
                    Some(_) => null(),
                    None => self.red[n - 1].as_ptr().wrapping_add(column),
                },
                d_red: self.d_red[n - 1].as_ptr().wrapping_add(column),
                red_stride: plan.red_columns[n - 1],
                d: self.d_output.as_mut_ptr(),
            },
        );
    }

    /// Backward through the first layer's pairs, a class of pairs at a time.
    fn first_pairs_gradient(&mut self, batch: &Batch<'_>, index: &Index, gradient: &mut [f32]) {
        let plan = batch.plan;
        let compose = &plan.layers[0][2];
        let features = plan.features;
        let pairs = self.classes.pairs();
        let known = batch.shape.known;
        self.d_output.reserve(pairs * 2 * features);
        match compose.column {
            Some(column) => dispatch(
                batch.simd,
                &FromSums {
                    pairs,
                    d_sums: self.of_classes.d_own.as_ptr().wrapping_add(column),
                    stride: known,
                    features,
                    d: self.d_output.as_mut_ptr(),
                },
            ),
            None => self.d_output.fill(0, pairs * 2 * features, 0.0),
        }
        let members = std::mem::take(&mut self.classes.members);
        let x = self.of_classes.output.as_ptr();
        self.reduce_gradient(batch, index, 2, compose, &members, x, features);
        self.classes.members = members;
        self.d_bias.zeroed(features);
        let mut d_expanded = null_mut();
        if let Some(map) = &compose.expand {
            self.d_expanded.zeroed(self.classes.types() * map.outputs);
            d_expanded = self.d_expanded.as_mut_ptr();
        }
        dispatch(
            batch.simd,
            &PairsToPre {
                pairs,
                y: match compose.column {
                    Some(_) => self.of_classes.output.as_ptr(),
                    None => null(),
                },
                features,
                d: self.d_output.as_mut_ptr(),
                ends: &self.classes.ends,
                d_expanded,
                d_bias: self.d_bias.as_mut_ptr(),
            },
        );
        self.add_bias(compose, gradient);
        let transposed = &batch.transposed[0][2];
        if let Some(map) = &compose.own {
            let dy = self.d_output.as_ptr();
            let columns = map.columns.clone();
            self.known_gradient(batch, map, columns, &transposed.own, dy, gradient);
        }
        if let Some(map) = &compose.expand {
            let active: Vec<u32> = (0..self.classes.types() as u32).collect();
            let rows = Rows {
                active: &active,
                x: self
                    .of_classes
                    .types
                    .as_ptr()
                    .wrapping_add(map.columns.start),
                x_stride: plan.inputs(1),
                dy: self.d_expanded.as_ptr(),
                dx: null_mut(),
                dx_stride: 0,
            };
            row_map_gradient(
                batch.simd,
                map,
                &transposed.expand,
                &rows,
                &mut self.dw,
                gradient,
            );
        }
    }

    /// The gradients of a map from `own[2]`, given those of u and v of the pairs
    /// that have any.
    pub(super) fn pair_map_gradient(
        &mut self,
        batch: &Batch<'_>,
        map: &MapPlan,
        transposed: &[f32],
        active: &[u32],
        dy: *const f32,
        gradient: &mut [f32],
    ) {
        let [known, others] = split(map, batch.shape);
        if !others.is_empty() {
            let stride = own_stride(batch, 2);
            let first = others.start.max(map.learned_from);
            let place = |column: usize| column - batch.shape.known;
            let rows = Rows {
                active,
                x: self.own[2].as_ptr().wrapping_add(place(others.start)),
                x_stride: stride,
                dy,
                dx: self.d_own[2].as_mut_ptr().wrapping_add(place(first)),
                dx_stride: stride,
            };
            let (simd, dw) = (batch.simd, &mut self.dw);
            pair_columns_gradient(simd, map, others, transposed, &rows, dw, gradient);
        }
        if !known.is_empty() {
            let width = 2 * map.outputs;
            let sums = &mut self.of_classes.d_starts;
            sums.zeroed(self.classes.pairs() * width);
            dispatch(
                batch.simd,
                &AddByClass {
                    pairs: active,
                    classes: &self.classes.of_pairs,
                    d: dy,
                    width,
                    sums: sums.as_mut_ptr(),
                },
            );
            let dy = sums.as_ptr();
            self.known_gradient(batch, map, known, transposed, dy, gradient);
        }
    }

    /// The gradients of known columns of a map from `own[2]`, given those of u and v of every class of pairs.
    pub(super) fn known_gradient(
        &mut self,
        batch: &Batch<'_>,
        map: &MapPlan,
        columns: Range<usize>,
        transposed: &[f32],
        dy: *const f32,
        gradient: &mut [f32],
    ) {
        let known = batch.shape.known;
        let of = &mut self.of_classes;
        let first = columns.start.max(map.learned_from);
        let all: Vec<u32> = (0..self.classes.pairs() as u32).collect();
        let rows = Rows {
            active: &all,
            x: of.own.as_ptr().wrapping_add(columns.start),
            x_stride: known,
            dy,
            dx: of.d_own.as_mut_ptr().wrapping_add(first),
            dx_stride: known,
        };
        let (simd, dw) = (batch.simd, &mut self.dw);
        pair_columns_gradient(simd, map, columns, transposed, &rows, dw, gradient);
    }
}

/// The gradients of a map up to arity 1: its weights into `gradient`, its input into `dx`.
fn row_map_gradient(
    simd: Simd,
    map: &MapPlan,
    transposed: &[f32],
    rows: &Rows<'_>,
    dw: &mut Buffer,
    gradient: &mut [f32],
) {
    let (columns, outputs) = (map.columns.len(), map.outputs);
    dw.reserve(columns * outputs);
    dispatch(
        simd,
        &WeightGradient {
            rows: rows.active,
            x: rows.x,
            x_stride: rows.x_stride,
            columns,
            dy: rows.dy,
            dy_stride: outputs,
            outputs,
            dw: dw.as_mut_ptr(),
        },
    );
    add_rows(map, &dw.as_slice()[..columns * outputs], gradient);
    let learned = map.columns.end - map.learned_from;
    if learned > 0 {
        dispatch(
            simd,
            &InputGradient {
                rows: rows.active,
                dy: rows.dy,
                dy_stride: outputs,
                outputs,
                weights: transposed.as_ptr(),
                columns: learned,
                dx: rows.dx,
                dx_stride: rows.dx_stride,
            },
        );
    }
}

/// The gradients of some columns of a map over pairs. Even rows are sums and meet u, odd rows are differences
/// and meet v.
fn pair_columns_gradient(
    simd: Simd,
    map: &MapPlan,
    columns: Range<usize>,
    transposed: &[f32],
    rows: &Rows<'_>,
    dw: &mut Buffer,
    gradient: &mut [f32],
) {
    let outputs = map.outputs;
    let len = columns.len() * outputs;
    dw.reserve(2 * len);
    let first_learned = columns.start.max(map.learned_from);
    let learned = columns.end.saturating_sub(first_learned);
    let half = transposed.len() / 2;
    for parity in 0..2 {
        let dy = rows.dy.wrapping_add(parity * outputs);
        dispatch(
            simd,
            &WeightGradient {
                rows: rows.active,
                x: rows.x.wrapping_add(parity * rows.x_stride),
                x_stride: 2 * rows.x_stride,
                columns: columns.len(),
                dy,
                dy_stride: 2 * outputs,
                outputs,
                dw: dw.as_mut_ptr().wrapping_add(parity * len),
            },
        );
        if learned > 0 {
            let skipped = (first_learned - map.learned_from) * outputs;
            dispatch(
                simd,
                &InputGradient {
                    rows: rows.active,
                    dy,
                    dy_stride: 2 * outputs,
                    outputs,
                    weights: transposed.as_ptr().wrapping_add(parity * half + skipped),
                    columns: learned,
                    dx: rows.dx.wrapping_add(parity * rows.dx_stride),
                    dx_stride: 2 * rows.dx_stride,
                },
            );
        }
    }
    let (sums, differences) = dw.as_slice()[..2 * len].split_at(len);
    add_pairs(map, columns.start, [sums, differences], gradient);
}

/// The rows of this width that are not all zero.
pub(super) fn find_active(rows: &[f32], width: usize, active: &mut Vec<u32>) {
    active.clear();
    active.resize(rows.len() / width, 0);
    let mut count = 0;
    for (i, row) in rows.chunks_exact(width).enumerate() {
        active[count] = i as u32;
        let bits = row.iter().fold(0, |bits, x| bits | x.to_bits());
        // Neither zero has other bits than the sign.
        count += usize::from(bits << 1 != 0);
    }
    active.truncate(count);
}
