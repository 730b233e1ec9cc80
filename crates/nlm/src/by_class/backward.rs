//! The backward pass at arities 0, 1 and 2.
//!
//! In the tree of `docs/nlm.md`: by class, gradients alone.

use super::layers::own_stride;
use super::weights::{add_pairs, add_rows};
use super::{GradientsByClass, Network};
use crate::index::Index;
use crate::kernels::Level;
use crate::kernels::buffer::{Buffer, copy_blocks};
use crate::kernels::orbit::SIX;
use crate::kernels::rows_gradient::{
    Active, AddByClass, FromSums, InputGradient, PairsToPre, ReduceGradient, RowsToPre,
    WeightGradient,
};
use crate::kernels::view::{Rows, RowsMut};
use crate::params::factorial;
use crate::plan::{ComposePlan, MapPlan};
use std::ops::Range;

/// Rows of a map and the gradients that meet them. Of pairs, sums and differences count as one row.
struct MapRows<'a> {
    /// Those whose gradient is not zero, of so many.
    active: &'a [u32],
    count: usize,
    /// The column that rows begin with.
    first: usize,
    x: Rows<'a>,
    dy: Rows<'a>,
    /// Where the gradients of x go, if any is learned.
    dx: Option<RowsMut<'a>>,
}

impl GradientsByClass {
    /// Adds to `gradient` the gradient of Σ d_values[i] * value(i), after the forward pass.
    pub(super) fn backward(
        &mut self,
        network: &Network<'_>,
        index: &Index,
        d_values: &[f32],
        gradient: &mut [f32],
    ) {
        let plan = network.plan;
        for n in 0..=plan.max_arity.min(2) {
            let rows = index.group_rows(n);
            self.d_own[n].zeroed(rows * own_stride(network, n));
            self.d_red[n].zeroed(rows * plan.red_columns[n]);
        }
        self.d_known
            .zeroed(self.layers.classes.pairs() * 2 * network.shape.known);
        if plan.max_arity == 3 {
            self.d_coefficients
                .zeroed(self.layers.classes.orbits.len() * plan.own_columns[3] * SIX);
        }
        for (layer, composes) in plan.layers.iter().enumerate().rev() {
            for n in 0..composes.len() {
                if n == 3 {
                    self.triples_gradient(network, index, layer, gradient);
                } else {
                    self.compose_gradient(network, index, [layer, n], d_values, gradient);
                }
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

    /// Backward through a compose operation over rows, or, of the first layer's pairs, over classes.
    fn compose_gradient(
        &mut self,
        network: &Network<'_>,
        index: &Index,
        at: [usize; 2],
        d_values: &[f32],
        gradient: &mut [f32],
    ) {
        let (plan, level, [layer, n]) = (network.plan, network.level, at);
        let (compose, transposed) = (&plan.layers[layer][n], &network.transposed[layer][n]);
        let outputs = network.weights[layer][n].bias.len();
        let (rows, _) = self.layers.reduced(index, at);
        self.output_gradient(network, index, at, d_values);
        let below = self.pre_gradient(network, index, at);
        self.add_bias(compose, gradient);
        let (count, width) = match n {
            2 => (rows / 2, 2 * outputs),
            _ => (rows, outputs),
        };
        let mut active = std::mem::take(&mut self.active);
        let d_output = std::mem::take(&mut self.d_output);
        let dy = d_output.view(outputs);
        find_active(&d_output.as_slice()[..rows * outputs], width, &mut active);
        if let Some(map) = &compose.own {
            let (columns, transposed) = (map.columns.clone(), &transposed.own);
            if at == [0, 2] {
                self.known_gradient(network, map, columns, transposed, dy, gradient);
            } else if n == 2 {
                self.pair_map_gradient(network, map, transposed, &active, dy, gradient);
            } else {
                let stride = own_stride(network, n);
                let rows = MapRows {
                    active: &active,
                    count,
                    first: 0,
                    x: self.layers.own[n].view(stride),
                    dy,
                    dx: Some(self.d_own[n].view_mut(stride)),
                };
                map_gradient(
                    level,
                    (map, columns),
                    transposed,
                    &rows,
                    &mut self.dw,
                    gradient,
                );
            }
        }
        if let Some(map) = &compose.red {
            let stride = plan.red_columns[n];
            let (mut x, mut dx) = (self.layers.red[n].view(stride), None);
            if at == [0, 2] {
                x = self
                    .layers
                    .tables
                    .red
                    .view(plan.inputs(3) * plan.quantifiers);
            } else {
                dx = Some(self.d_red[n].view_mut(stride));
            }
            let rows = MapRows {
                active: &active,
                count,
                first: 0,
                x,
                dy,
                dx,
            };
            let map = (map, map.columns.clone());
            map_gradient(level, map, &transposed.red, &rows, &mut self.dw, gradient);
        }
        if let Some(map) = &compose.expand {
            let d_expanded = &self.d_expanded.as_slice()[..below * map.outputs];
            find_active(d_expanded, map.outputs, &mut active);
            let stride = own_stride(network, n - 1);
            let (mut x, mut dx) = (self.layers.own[n - 1].view(stride), None);
            if at == [0, 2] {
                x = self.layers.tables.types.view(plan.inputs(1));
            } else {
                dx = Some(self.d_own[n - 1].view_mut(stride));
            }
            let rows = MapRows {
                active: &active,
                count: below,
                first: 0,
                x,
                dy: self.d_expanded.view(map.outputs),
                dx,
            };
            let map = (map, map.columns.clone());
            map_gradient(
                level,
                map,
                &transposed.expand,
                &rows,
                &mut self.dw,
                gradient,
            );
        }
        (self.active, self.d_output) = (active, d_output);
    }

    /// From the gradient of an output to that of its pre-activations, of its bias, and of what it
    /// took from the arity below. Returns how many rows, or types of objects, that has.
    fn pre_gradient(
        &mut self,
        network: &Network<'_>,
        index: &Index,
        [layer, n]: [usize; 2],
    ) -> usize {
        let compose = &network.plan.layers[layer][n];
        let features = network.weights[layer][n].bias.len();
        let (below, ends) = match [layer, n] {
            [0, 2] => {
                let types = self.layers.classes.types().len();
                (types, &self.layers.tables.ends[..])
            }
            _ => (index.group_rows(n.saturating_sub(1)), index.ends()),
        };
        self.d_bias.zeroed(features);
        if let Some(map) = &compose.expand {
            self.d_expanded.zeroed(below * map.outputs);
        }
        let y = self.layers.output(network, [layer, n]);
        let y = compose.column.map(|_| y);
        let (d, d_bias) = (self.d_output.view_mut(features), self.d_bias.view_mut(0));
        let expand = compose.expand.as_ref();
        let d_expanded = expand.map(|map| self.d_expanded.view_mut(map.outputs));
        if n == 2 {
            network.level.run(&PairsToPre {
                pairs: self.layers.reduced(index, [layer, n]).0 / 2,
                y,
                features,
                d,
                d_expanded: d_expanded.map(|to| (to, below, ends)),
                d_bias,
            });
        } else {
            network.level.run(&RowsToPre {
                structures: index.group(),
                per: index.rows(n),
                y,
                features,
                d,
                d_expanded,
                d_bias,
            });
        }
        below
    }

    /// Fills `d_output` from what later layers read of an output and of its reductions.
    fn output_gradient(
        &mut self,
        network: &Network<'_>,
        index: &Index,
        [layer, n]: [usize; 2],
        d_values: &[f32],
    ) {
        let (plan, known) = (network.plan, network.shape.known);
        let compose = &plan.layers[layer][n];
        let features = network.weights[layer][n].bias.len();
        let (rows, members) = self.layers.reduced(index, [layer, n]);
        self.d_output.reserve(rows * features);
        let (d_own, stride, first) = match [layer, n] {
            [0, 2] => (&self.d_known, known, 0),
            [_, 2] => (&self.d_own[2], own_stride(network, 2), known),
            _ => (&self.d_own[n], own_stride(network, n), 0),
        };
        match compose.column {
            Some(column) if n == 2 => network.level.run(&FromSums {
                pairs: rows / 2,
                columns: features,
                sums: None,
                d_sums: d_own.view(stride).from(column - first),
                d: self.d_output.view_mut(features),
            }),
            Some(column) => {
                let all = self.d_output.as_mut_slice().chunks_exact_mut(features);
                for (to, from) in all.zip(d_own.as_slice()[..rows * stride].chunks_exact(stride)) {
                    copy_blocks(&from[column..column + features], to);
                }
            }
            None => self.d_output.as_mut_slice()[..rows * features].fill(0.0),
        }
        if layer + 1 == plan.layers.len() {
            // One row a structure, or one for each of its objects.
            let per = index.rows(n);
            for (i, &d) in d_values.iter().enumerate() {
                for row in i * per..(i + 1) * per {
                    self.d_output.as_mut_slice()[row * features] = d;
                }
            }
        }
        let Some(column) = compose.red_column else {
            return;
        };
        let stride = plan.red_columns[n - 1];
        let red = self.layers.red[n - 1].view(stride).from(column);
        network.level.run(&ReduceGradient {
            members,
            targets: index.group_rows(n - 1),
            x: self.layers.output(network, [layer, n]),
            rows,
            features,
            both: plan.quantifiers == 2,
            red: compose.column.is_none().then_some(red),
            d_red: self.d_red[n - 1].view(stride).from(column),
            d: self.d_output.view_mut(features),
        });
    }

    /// The gradients of a map from `own[2]`, given those of u and v, rows of `dy`, of the pairs
    /// that have any.
    pub(super) fn pair_map_gradient(
        &mut self,
        network: &Network<'_>,
        map: &MapPlan,
        transposed: &[f32],
        active: &[u32],
        dy: Rows<'_>,
        gradient: &mut [f32],
    ) {
        let [known, others] = network.shape.split(map);
        let of_pairs = &self.layers.classes.of_pairs;
        if !others.is_empty() {
            let stride = own_stride(network, 2);
            let rows = MapRows {
                active,
                count: of_pairs.len(),
                first: network.shape.known,
                x: self.layers.own[2].view(stride),
                dy,
                dx: Some(self.d_own[2].view_mut(stride)),
            };
            let (level, dw) = (network.level, &mut self.dw);
            map_gradient(level, (map, others), transposed, &rows, dw, gradient);
        }
        if !known.is_empty() {
            let (width, count) = (2 * map.outputs, self.layers.classes.pairs());
            let mut sums = std::mem::take(&mut self.d_starts);
            sums.zeroed(count * width);
            network.level.run(&AddByClass {
                rows: active,
                classes: of_pairs,
                count,
                d: dy.every(2),
                width,
                sums: sums.view_mut(width),
            });
            let dy = sums.view(map.outputs);
            self.known_gradient(network, map, known, transposed, dy, gradient);
            self.d_starts = sums;
        }
    }

    /// The gradients of known columns of a map from `own[2]`, given those of u and v of every class
    /// of pairs.
    pub(super) fn known_gradient(
        &mut self,
        network: &Network<'_>,
        map: &MapPlan,
        columns: Range<usize>,
        transposed: &[f32],
        dy: Rows<'_>,
        gradient: &mut [f32],
    ) {
        let known = network.shape.known;
        let all: Vec<u32> = (0..self.layers.classes.pairs() as u32).collect();
        let rows = MapRows {
            active: &all,
            count: all.len(),
            first: 0,
            x: self.layers.tables.own.view(known),
            dy,
            dx: Some(self.d_known.view_mut(known)),
        };
        let (level, dw) = (network.level, &mut self.dw);
        map_gradient(level, (map, columns), transposed, &rows, dw, gradient);
    }
}

/// The gradients of some columns of a map: its weights into `gradient`, its input into `dx`. Of
/// pairs even rows are sums and meet u, odd rows are differences and meet v.
fn map_gradient(
    level: Level,
    (map, columns): (&MapPlan, Range<usize>),
    transposed: &[f32],
    rows: &MapRows<'_>,
    dw: &mut Buffer,
    gradient: &mut [f32],
) {
    let (outputs, kinds) = (map.outputs, factorial(map.arity));
    let len = columns.len() * outputs;
    dw.reserve(kinds * len);
    let first_learned = columns.start.max(map.learned_from);
    let learned = columns.end.saturating_sub(first_learned);
    let skipped = (first_learned - map.learned_from) * outputs;
    for kind in 0..kinds {
        let of = Active {
            rows: rows.active,
            count: rows.count,
            dy: rows.dy.after(kind).every(kinds),
            outputs,
        };
        level.run(&WeightGradient {
            of,
            x: rows
                .x
                .from(columns.start - rows.first)
                .after(kind)
                .every(kinds),
            columns: columns.len(),
            dw: dw.view_mut(outputs).from(kind * len),
        });
        if let Some(dx) = rows.dx.filter(|_| learned > 0) {
            level.run(&InputGradient {
                of,
                weights: &transposed[kind * transposed.len() / kinds + skipped..],
                columns: learned,
                dx: dx.from(first_learned - rows.first).after(kind).every(kinds),
            });
        }
    }
    let dw = &dw.as_slice()[..kinds * len];
    if kinds == 1 {
        return add_rows(map, dw, gradient);
    }
    add_pairs(map, columns.start, dw.split_at(len), gradient);
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
