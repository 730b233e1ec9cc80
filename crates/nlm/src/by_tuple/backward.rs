//! The backward pass tuple by tuple.

use super::{ByTuple, OfMap, Task, Tuples, copy, output, source};
use crate::by_class::{add_rows, find_active};
use crate::kernels::Level;
use crate::kernels::buffer::{Buffer, copy_blocks};
use crate::kernels::rows_gradient::{
    Active, AddByClass, InputGradient, ReduceGradient, RowsToPre, WeightGradient,
};
use crate::params::factorial;
use crate::plan::MapPlan;
use crate::tuning::ROWS_AT_ONCE;

/// One map backward: the tensor it reads and where its gradients go.
struct MapBackward<'a> {
    map: &'a MapPlan,
    weights: &'a OfMap,
    tuples: &'a Tuples,
    x: &'a Buffer,
    stride: usize,
    dx: &'a mut Buffer,
}

/// What maps backward work in.
struct Scratch<'a> {
    level: Level,
    copies: &'a mut Buffer,
    d_copies: &'a mut Buffer,
    active: &'a mut Vec<u32>,
    dy: &'a mut Buffer,
    dw: &'a mut Buffer,
    counted: &'a [u32],
}

impl MapBackward<'_> {
    /// Given the gradients of its outputs: its weights into `gradient`, its input into `dx`. A
    /// maximum gives its gradient to few entries, so many rows have none: they are left out.
    fn run(self, dy: &Buffer, scratch: &mut Scratch<'_>, gradient: &mut [f32]) {
        let (map, tuples, level) = (self.map, self.tuples, scratch.level);
        let permutations = factorial(map.arity);
        let (columns, outputs) = (permutations * map.columns.len(), map.outputs);
        let learned = map.columns.end - map.learned_from;
        let dy = &dy.as_slice()[..tuples.rows * outputs];
        find_active(dy, outputs, scratch.active);
        scratch.dw.reserve(columns * outputs);
        scratch.dy.reserve(ROWS_AT_ONCE * outputs);
        for active in scratch.active.chunks(ROWS_AT_ONCE) {
            let rows = active.iter().map(|&row| row as usize);
            for (row, to) in rows
                .clone()
                .zip(scratch.dy.as_mut_slice().chunks_exact_mut(outputs))
            {
                copy_blocks(&dy[row * outputs..(row + 1) * outputs], to);
            }
            copy(
                self.x,
                self.stride,
                map,
                tuples,
                rows.clone(),
                scratch.copies,
            );
            let of = Active {
                rows: &scratch.counted[..active.len()],
                count: active.len(),
                dy: scratch.dy.view(outputs),
                outputs,
            };
            level.run(&WeightGradient {
                of,
                x: source(scratch.copies, map, self.weights).x,
                columns,
                dw: scratch.dw.view_mut(outputs),
            });
            add_rows(map, &scratch.dw.as_slice()[..columns * outputs], gradient);
            if learned == 0 {
                continue;
            }
            let width = permutations * learned;
            scratch.d_copies.zeroed(active.len() * width);
            level.run(&InputGradient {
                of,
                weights: &self.weights.backward,
                columns: width,
                dx: scratch.d_copies.view_mut(width),
            });
            let copies = scratch.d_copies.as_slice().chunks_exact(width);
            for (row, d) in rows.zip(copies) {
                for (permuted, d) in tuples.permuted.iter().zip(d.chunks_exact(learned)) {
                    let at = permuted[row] as usize * self.stride + map.learned_from;
                    let to = &mut self.dx.as_mut_slice()[at..at + learned];
                    for (to, d) in to.iter_mut().zip(d) {
                        *to += d;
                    }
                }
            }
        }
    }
}

impl ByTuple {
    /// Adds to `gradient` the gradient of `d_value` times the value, after the forward pass on the
    /// same structure.
    pub(crate) fn backward(&mut self, task: &Task<'_>, d_value: f32, gradient: &mut [f32]) {
        let plan = task.plan;
        let tuples = self.tuples(task);
        for buffers in [&mut self.d_own, &mut self.d_red] {
            buffers.resize_with(buffers.len().max(tuples.len()), Buffer::default);
        }
        for (n, table) in tuples.iter().enumerate() {
            self.d_own[n].zeroed(table.rows * plan.own_columns[n]);
            self.d_red[n].zeroed(table.rows * plan.red_columns[n]);
        }
        for (layer, composes) in plan.layers.iter().enumerate().rev() {
            for n in 0..composes.len() {
                self.output_gradient(task, &tuples, [layer, n]);
                if layer + 1 == plan.layers.len() {
                    self.d_output.set(0, d_value);
                }
                self.compose_gradient(task, &tuples, [layer, n], gradient);
            }
        }
    }

    /// Fills `d_output` from what later layers read of an output and of its reductions.
    fn output_gradient(&mut self, task: &Task<'_>, tuples: &[Tuples], [layer, n]: [usize; 2]) {
        let plan = task.plan;
        let compose = &plan.layers[layer][n];
        let (rows, features) = (tuples[n].rows, task.weights[layer][n].bias.len());
        self.d_output.zeroed(rows * features);
        if let Some(column) = compose.column {
            let stride = plan.own_columns[n];
            let from = self.d_own[n].as_slice()[..rows * stride].chunks_exact(stride);
            let to = self.d_output.as_mut_slice().chunks_exact_mut(features);
            for (to, from) in to.zip(from) {
                to.copy_from_slice(&from[column..column + features]);
            }
        }
        let Some(column) = compose.red_column.filter(|_| rows > 0) else {
            return;
        };
        let stride = plan.red_columns[n - 1];
        let red = self.red[n - 1].view(stride).from(column);
        task.level.run(&ReduceGradient {
            members: &tuples[n].members,
            targets: tuples[n - 1].rows,
            x: output(plan, compose, &self.own[n], &self.pure[layer][n], n),
            rows,
            features,
            both: plan.quantifiers == 2,
            red: compose.column.is_none().then_some(red),
            d_red: self.d_red[n - 1].view(stride).from(column),
            d: self.d_output.view_mut(features),
        });
    }

    /// From `d_output` to the weights and to what the compose operation read.
    fn compose_gradient(
        &mut self,
        task: &Task<'_>,
        tuples: &[Tuples],
        [layer, n]: [usize; 2],
        gradient: &mut [f32],
    ) {
        let (plan, level) = (task.plan, task.level);
        let (compose, weights) = (&plan.layers[layer][n], &task.weights[layer][n]);
        let (rows, features) = (tuples[n].rows, weights.bias.len());
        let own = self.own[n].view(plan.own_columns[n]);
        self.d_bias.zeroed(features);
        level.run(&RowsToPre {
            structures: 1,
            per: rows,
            y: compose.column.map(|column| own.from(column)),
            features,
            d: self.d_output.view_mut(features),
            d_expanded: None,
            d_bias: self.d_bias.view_mut(0),
        });
        let bias = gradient[compose.bias.clone()].iter_mut();
        for (g, d) in bias.zip(self.d_bias.as_slice()) {
            *g += d;
        }
        let mut scratch = Scratch {
            level,
            copies: &mut self.copies[0],
            d_copies: &mut self.d_copies,
            active: &mut self.active,
            dy: &mut self.dy,
            dw: &mut self.dw,
            counted: &self.counted,
        };
        let own = (
            &compose.own,
            &weights.own,
            &self.own[n],
            plan.own_columns[n],
        );
        let red = (
            &compose.red,
            &weights.red,
            &self.red[n],
            plan.red_columns[n],
        );
        let parts = [(own, &mut self.d_own), (red, &mut self.d_red)];
        for ((map, weights, x, stride), dx) in parts {
            let Some(map) = map else { continue };
            let of = MapBackward {
                map,
                weights,
                tuples: &tuples[n],
                x,
                stride,
                dx: &mut dx[n],
            };
            of.run(&self.d_output, &mut scratch, gradient);
        }
        let Some(map) = &compose.expand else { return };
        let below = &tuples[n - 1];
        self.d_expanded.zeroed(below.rows * map.outputs);
        for (k, without) in tuples[n].without.iter().enumerate() {
            level.run(&AddByClass {
                rows: &self.counted[..rows],
                classes: without,
                count: below.rows,
                d: self.d_output.view(features),
                width: features,
                sums: self.d_expanded.view_mut(map.outputs).from(k * features),
            });
        }
        let of = MapBackward {
            map,
            weights: &weights.expand,
            tuples: below,
            x: &self.own[n - 1],
            stride: plan.own_columns[n - 1],
            dx: &mut self.d_own[n - 1],
        };
        of.run(&self.d_expanded, &mut scratch, gradient);
    }
}
