//! The backward pass at arities 0, 1 and 2.

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
#[derive(Clone, Copy)]
struct MapRows<'a> {
    /// Those whose gradient is not zero, of so many.
    active: &'a [u32],
    count: usize,
    /// From the first column of the map on.
    x: Rows<'a>,
    dy: Rows<'a>,
    /// From the first learned column of the map on, if any is.
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
                match (layer, n) {
                    (_, 3) => self.triples_gradient(network, index, layer, gradient),
                    (0, 2) => self.first_pairs_gradient(network, index, gradient),
                    _ => self.compose_gradient(network, index, [layer, n], d_values, gradient),
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

    /// Backward through a compose operation over rows.
    fn compose_gradient(
        &mut self,
        network: &Network<'_>,
        index: &Index,
        [layer, n]: [usize; 2],
        d_values: &[f32],
        gradient: &mut [f32],
    ) {
        let (plan, level) = (network.plan, network.level);
        let compose = &plan.layers[layer][n];
        let rows = index.group_rows(n);
        let outputs = network.weights[layer][n].bias.len();
        self.output_gradient(network, index, [layer, n], d_values);
        self.pre_gradient(network, index, [layer, n]);
        self.add_bias(compose, gradient);
        let transposed = &network.transposed[layer][n];
        let mut active = std::mem::take(&mut self.active);
        let width = if n == 2 { 2 * outputs } else { outputs };
        let d = &self.d_output.as_slice()[..rows * outputs];
        find_active(d, width, &mut active);
        if let Some(map) = &compose.own {
            if n == 2 {
                let d_output = std::mem::take(&mut self.d_output);
                let dy = d_output.view(outputs);
                self.pair_map_gradient(network, map, &transposed.own, &active, dy, gradient);
                self.d_output = d_output;
            } else {
                let stride = own_stride(network, n);
                let rows = MapRows {
                    active: &active,
                    count: rows,
                    x: self.layers.own[n].view(stride).from(map.columns.start),
                    dy: self.d_output.view(outputs),
                    dx: Some(self.d_own[n].view_mut(stride).from(map.learned_from)),
                };
                let (map, dw) = ((map, map.columns.clone()), &mut self.dw);
                map_gradient(level, map, &transposed.own, &rows, dw, gradient);
            }
        }
        if let Some(map) = &compose.red {
            let stride = plan.red_columns[n];
            let rows = MapRows {
                active: &active,
                count: if n == 2 { rows / 2 } else { rows },
                x: self.layers.red[n].view(stride).from(map.columns.start),
                dy: self.d_output.view(outputs),
                dx: Some(self.d_red[n].view_mut(stride).from(map.learned_from)),
            };
            let (map, dw) = ((map, map.columns.clone()), &mut self.dw);
            map_gradient(level, map, &transposed.red, &rows, dw, gradient);
        }
        if let Some(map) = &compose.expand {
            let count = index.group_rows(n - 1);
            let d_expanded = &self.d_expanded.as_slice()[..count * map.outputs];
            find_active(d_expanded, map.outputs, &mut active);
            let stride = own_stride(network, n - 1);
            let rows = MapRows {
                active: &active,
                count,
                x: self.layers.own[n - 1].view(stride).from(map.columns.start),
                dy: self.d_expanded.view(map.outputs),
                dx: Some(self.d_own[n - 1].view_mut(stride).from(map.learned_from)),
            };
            let (map, dw) = ((map, map.columns.clone()), &mut self.dw);
            map_gradient(level, map, &transposed.expand, &rows, dw, gradient);
        }
        self.active = active;
    }

    /// From the gradient of the output of a compose operation over rows to that of its
    /// pre-activations, of its bias, and of what it took from the arity below.
    fn pre_gradient(&mut self, network: &Network<'_>, index: &Index, [layer, n]: [usize; 2]) {
        let compose = &network.plan.layers[layer][n];
        let features = network.weights[layer][n].bias.len();
        self.d_bias.zeroed(features);
        if let Some(map) = &compose.expand {
            self.d_expanded
                .zeroed(index.group_rows(n - 1) * map.outputs);
        }
        let output = self.layers.output(network, [layer, n]);
        let (d, d_bias) = (self.d_output.view_mut(features), self.d_bias.view_mut(0));
        if n == 2 {
            let d_expanded = compose.expand.as_ref().map(|map| {
                let to = self.d_expanded.view_mut(map.outputs);
                (to, index.group_rows(1), index.ends())
            });
            network.level.run(&PairsToPre {
                pairs: index.group_rows(2) / 2,
                y: compose.column.map(|_| output),
                features,
                d,
                d_expanded,
                d_bias,
            });
        } else {
            let d_expanded = compose.expand.as_ref();
            network.level.run(&RowsToPre {
                structures: index.group(),
                per: index.rows(n),
                y: compose.column.map(|_| output),
                features,
                d,
                d_expanded: d_expanded.map(|map| self.d_expanded.view_mut(map.outputs)),
                d_bias,
            });
        }
    }

    /// Fills `d_output` from what later layers read of an output and of its reductions.
    fn output_gradient(
        &mut self,
        network: &Network<'_>,
        index: &Index,
        [layer, n]: [usize; 2],
        d_values: &[f32],
    ) {
        let plan = network.plan;
        let compose = &plan.layers[layer][n];
        let rows = index.group_rows(n);
        let features = network.weights[layer][n].bias.len();
        self.d_output.reserve(rows * features);
        let stride = own_stride(network, n);
        let d_own = self.d_own[n].as_slice();
        match compose.column {
            Some(column) if n == 2 => {
                let d_own = self.d_own[2]
                    .view(stride)
                    .from(column - network.shape.known);
                network.level.run(&FromSums {
                    pairs: rows / 2,
                    columns: features,
                    sums: None,
                    d_sums: d_own,
                    d: self.d_output.view_mut(features),
                });
            }
            Some(column) => {
                let all = self.d_output.as_mut_slice().chunks_exact_mut(features);
                for (to, from) in all.zip(d_own[..rows * stride].chunks_exact(stride)) {
                    copy_blocks(&from[column..column + features], to);
                }
            }
            None => self.d_output.fill(0, rows * features, 0.0),
        }
        if layer + 1 == plan.layers.len() {
            // One row a structure, or one for each of its objects.
            let per = index.rows(n);
            for (i, &d) in d_values.iter().enumerate() {
                for row in i * per..(i + 1) * per {
                    self.d_output.set(row * features, d);
                }
            }
        }
        if compose.red_column.is_some() {
            let mut d_output = std::mem::take(&mut self.d_output);
            let x = self.layers.output(network, [layer, n]);
            let members = (rows, index.members(n));
            self.reduce_gradient(network, index, n, compose, members, x, &mut d_output);
            self.d_output = d_output;
        }
    }

    /// Adds to `d_output` what the reductions of an output give to it: of so many rows, these
    /// members.
    #[allow(clippy::too_many_arguments)]
    fn reduce_gradient(
        &self,
        network: &Network<'_>,
        index: &Index,
        n: usize,
        compose: &ComposePlan,
        (rows, members): (usize, &[u32]),
        x: Rows<'_>,
        d_output: &mut Buffer,
    ) {
        let plan = network.plan;
        let column = compose.red_column.expect("an output that is reduced");
        let stride = plan.red_columns[n - 1];
        let red = self.layers.red[n - 1].view(stride).from(column);
        network.level.run(&ReduceGradient {
            members,
            targets: index.group_rows(n - 1),
            x,
            rows,
            features: plan.features,
            both: plan.quantifiers == 2,
            red: compose.column.is_none().then_some(red),
            d_red: self.d_red[n - 1].view(stride).from(column),
            d: d_output.view_mut(plan.features),
        });
    }

    /// Backward through the first layer's pairs, a class of pairs at a time.
    fn first_pairs_gradient(&mut self, network: &Network<'_>, index: &Index, gradient: &mut [f32]) {
        let plan = network.plan;
        let compose = &plan.layers[0][2];
        let features = plan.features;
        let pairs = self.layers.classes.pairs();
        let mut d_output = std::mem::take(&mut self.d_output);
        d_output.reserve(pairs * 2 * features);
        let of = &self.layers.tables;
        match compose.column {
            Some(column) => {
                let d_known = self.d_known.view(network.shape.known).from(column);
                network.level.run(&FromSums {
                    pairs,
                    columns: features,
                    sums: None,
                    d_sums: d_known,
                    d: d_output.view_mut(features),
                });
            }
            None => d_output.fill(0, pairs * 2 * features, 0.0),
        }
        let (x, members) = (
            of.output.view(features),
            (2 * pairs, &self.layers.members[..]),
        );
        self.reduce_gradient(network, index, 2, compose, members, x, &mut d_output);
        self.d_bias.zeroed(features);
        let types = self.layers.classes.types().len();
        if let Some(map) = &compose.expand {
            self.d_expanded.zeroed(types * map.outputs);
        }
        let d_expanded = compose.expand.as_ref().map(|map| {
            let to = self.d_expanded.view_mut(map.outputs);
            (to, types, &of.ends[..])
        });
        network.level.run(&PairsToPre {
            pairs,
            y: compose.column.map(|_| x),
            features,
            d: d_output.view_mut(features),
            d_expanded,
            d_bias: self.d_bias.view_mut(0),
        });
        self.add_bias(compose, gradient);
        let transposed = &network.transposed[0][2];
        if let Some(map) = &compose.own {
            let dy = d_output.view(features);
            let columns = map.columns.clone();
            self.known_gradient(network, map, columns, &transposed.own, dy, gradient);
        }
        if let Some(map) = &compose.red {
            let all: Vec<u32> = (0..pairs as u32).collect();
            let rows = MapRows {
                active: &all,
                count: pairs,
                x: self
                    .layers
                    .tables
                    .red
                    .view(plan.inputs(3) * plan.quantifiers),
                dy: d_output.view(features),
                dx: None,
            };
            let (level, map, dw) = (network.level, (map, map.columns.clone()), &mut self.dw);
            map_gradient(level, map, &transposed.red, &rows, dw, gradient);
        }
        self.d_output = d_output;
        if let Some(map) = &compose.expand {
            let all: Vec<u32> = (0..types as u32).collect();
            let inputs = self.layers.tables.types.view(plan.inputs(1));
            let rows = MapRows {
                active: &all,
                count: types,
                x: inputs.from(map.columns.start),
                dy: self.d_expanded.view(map.outputs),
                dx: None,
            };
            let (level, map, dw) = (network.level, (map, map.columns.clone()), &mut self.dw);
            map_gradient(level, map, &transposed.expand, &rows, dw, gradient);
        }
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
            let first = others.start.max(map.learned_from);
            let place = |column: usize| column - network.shape.known;
            let rows = MapRows {
                active,
                count: of_pairs.len(),
                x: self.layers.own[2].view(stride).from(place(others.start)),
                dy,
                dx: Some(self.d_own[2].view_mut(stride).from(place(first))),
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
        let first = columns.start.max(map.learned_from);
        let all: Vec<u32> = (0..self.layers.classes.pairs() as u32).collect();
        let rows = MapRows {
            active: &all,
            count: all.len(),
            x: self.layers.tables.own.view(known).from(columns.start),
            dy,
            dx: Some(self.d_known.view_mut(known).from(first)),
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
            x: rows.x.after(kind).every(kinds),
            columns: columns.len(),
            dw: dw.view_mut(outputs).from(kind * len),
        });
        if let Some(dx) = rows.dx.filter(|_| learned > 0) {
            level.run(&InputGradient {
                of,
                weights: &transposed[kind * transposed.len() / kinds + skipped..],
                columns: learned,
                dx: dx.after(kind).every(kinds),
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
