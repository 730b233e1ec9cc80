//! The states-in-lanes engine, backward.

use super::weights::{ComposeWeights, MapWeights};
use super::{Engine, Group};
use crate::buffer::Buffer;
use crate::kernels::dispatch;
use crate::kernels::map::{ComposeGradient, Map, MapGradient, Run, Start};
use crate::kernels::orbit::{SIX, orbit_count};
use crate::kernels::reduce::{ActivationGradient, NullaryGradient};
use crate::params::factorial;
use crate::plan::{ComposePlan, MapPlan, NONE, TILE};
use crate::tuples::Tuples;
use std::sync::Arc;

impl Engine {
    /// Adds to `gradient` the gradient of Σ d_values[i] * value(i), after
    /// [`Engine::forward`] on the same group.
    pub(crate) fn backward(&mut self, group: &Group<'_>, d_values: &[f32], gradient: &mut [f32]) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let tuples = self.all_tuples(group);
        let arities = plan.max_arity + 1;
        for buffers in [&mut self.d_own, &mut self.d_red] {
            buffers.resize_with(arities.max(buffers.len()), Buffer::default);
        }
        let mut d_pre = 0;
        for n in 0..arities {
            let rows = if n <= plan.table_arity() {
                group.objects.pow(n as u32) * lanes
            } else {
                orbit_count(group.objects, plan.distinct) * SIX * lanes
            };
            self.d_own[n].zeroed(rows * plan.own_columns[n]);
            self.d_red[n].zeroed(rows * plan.red_columns[n]);
            d_pre = d_pre.max(rows * plan.features);
        }
        self.d_pre.reserve(d_pre);
        for (layer, composes) in plan.layers.iter().enumerate().rev() {
            for (n, compose) in composes.iter().enumerate() {
                let weights = &group.weights[layer][n];
                if n > plan.table_arity() {
                    self.triples_gradient(group, &tuples[2], compose, weights, gradient);
                    self.expand_gradient(group, &tuples, compose, weights, gradient);
                    continue;
                }
                if layer + 1 == plan.layers.len() {
                    self.d_pre.fill(0, weights.bias.len() * lanes, 0.0);
                    for (lane, &d) in d_values.iter().enumerate() {
                        self.d_pre.set(lane, d);
                    }
                } else {
                    self.activation_gradient(group, &tuples, n, compose, weights);
                }
                self.compose_gradient(group, &tuples, n, compose, weights, gradient);
            }
        }
    }

    /// Fills `d_pre` of one compose operation.
    fn activation_gradient(
        &mut self,
        group: &Group<'_>,
        tuples: &[Arc<Tuples>],
        n: usize,
        compose: &ComposePlan,
        weights: &ComposeWeights,
    ) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let features = weights.bias.len();
        let (x, d_own, x_stride) = match compose.column {
            Some(column) => (
                self.own[n].as_ptr().wrapping_add(column * lanes),
                self.d_own[n].as_ptr().wrapping_add(column * lanes),
                plan.own_columns[n] * lanes,
            ),
            None => (self.pure[n].as_ptr(), std::ptr::null(), features * lanes),
        };
        let Some(column) = compose.red_column else {
            dispatch(
                group.simd,
                &NullaryGradient {
                    s: x,
                    d_own,
                    features,
                    d_pre: self.d_pre.as_mut_ptr(),
                },
            );
            return;
        };
        dispatch(
            group.simd,
            &ActivationGradient {
                live: &tuples[n - 1].live,
                dead: &tuples[n].dead,
                objects: group.objects,
                features,
                both: plan.quantifiers == 2,
                x,
                x_stride,
                d_own,
                red: self.red[n - 1].as_ptr().wrapping_add(column * lanes),
                d_red: self.d_red[n - 1].as_ptr().wrapping_add(column * lanes),
                red_stride: plan.red_columns[n - 1] * lanes,
                d_pre: self.d_pre.as_mut_ptr(),
            },
        );
    }

    /// From `d_pre` to the weights and to what the compose operation read.
    fn compose_gradient(
        &mut self,
        group: &Group<'_>,
        tuples: &[Arc<Tuples>],
        n: usize,
        compose: &ComposePlan,
        weights: &ComposeWeights,
        gradient: &mut [f32],
    ) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let outputs = weights.bias.len();
        let mut d_bias = vec![0.0; outputs];
        let d_expanded = match &compose.expand {
            Some(map) => {
                let rows = group.objects.pow(map.arity as u32) * lanes;
                self.d_expanded.zeroed(rows * map.outputs);
                self.d_expanded.as_mut_ptr()
            }
            None => std::ptr::null_mut(),
        };
        dispatch(
            group.simd,
            &ComposeGradient {
                live: &tuples[n].live,
                without: &tuples[n].without,
                arity: n,
                dy: self.d_pre.as_ptr(),
                outputs,
                d_expanded,
                d_bias: d_bias.as_mut_ptr(),
            },
        );
        for (g, d) in gradient[compose.bias.clone()].iter_mut().zip(&d_bias) {
            *g += d;
        }
        let d_pre = self.d_pre.as_ptr();
        if let Some(map) = &compose.own {
            let x = self.own_run(plan, map, &weights.own, lanes);
            let dx = self.d_own[map.arity].as_mut_ptr();
            map_gradient(
                group,
                &tuples[n],
                map,
                &weights.own,
                &x,
                dx,
                d_pre,
                gradient,
            );
        }
        if let Some(map) = &compose.red {
            let x = self.red_run(plan, map, &weights.red, lanes);
            let dx = self.d_red[map.arity].as_mut_ptr();
            map_gradient(
                group,
                &tuples[n],
                map,
                &weights.red,
                &x,
                dx,
                d_pre,
                gradient,
            );
        }
        self.expand_gradient(group, tuples, compose, weights, gradient);
    }

    /// From `d_expanded` to the arity below.
    fn expand_gradient(
        &mut self,
        group: &Group<'_>,
        tuples: &[Arc<Tuples>],
        compose: &ComposePlan,
        weights: &ComposeWeights,
        gradient: &mut [f32],
    ) {
        let lanes = group.simd.lanes();
        if let Some(map) = &compose.expand {
            let x = self.own_run(group.plan, map, &weights.expand, lanes);
            let dx = self.d_own[map.arity].as_mut_ptr();
            let dy = self.d_expanded.as_ptr();
            map_gradient(
                group,
                &tuples[map.arity],
                map,
                &weights.expand,
                &x,
                dx,
                dy,
                gradient,
            );
        }
    }
}

/// The gradients of one map: its weights into `gradient`, its input into `dx`
/// (column 0 of tuple 0 of the whole tensor).
#[allow(clippy::too_many_arguments)]
fn map_gradient(
    group: &Group<'_>,
    table: &Tuples,
    map: &MapPlan,
    weights: &MapWeights,
    x: &Run,
    dx: *mut f32,
    dy: *const f32,
    gradient: &mut [f32],
) {
    let lanes = group.simd.lanes();
    let mut dw = vec![0.0; map.params.len()];
    dispatch(
        group.simd,
        &MapGradient {
            live: &table.live,
            permuted: &table.permuted,
            x: x.x,
            x_stride: x.stride,
            columns: x.columns,
            dy,
            dy_stride: map.outputs * lanes,
            outputs: map.outputs,
            dw: dw.as_mut_ptr(),
        },
    );
    for (&p, d) in map.params.iter().zip(&dw) {
        if p != NONE {
            gradient[p as usize] += d;
        }
    }
    let learned = map.columns.end - map.learned_from;
    if learned > 0 {
        let run = Run {
            x: dy,
            stride: map.outputs * lanes,
            columns: map.outputs,
            weights: weights.transposed.as_ptr(),
            tile_stride: factorial(map.arity) * map.outputs * TILE,
        };
        dispatch(
            group.simd,
            &Map {
                live: &table.live,
                permuted: &table.inverse,
                without: &[],
                arity: map.arity,
                start: Start::Output,
                runs: &[run],
                y: dx.wrapping_add(map.learned_from * lanes),
                y_stride: x.stride,
                outputs: learned,
                activate: false,
            },
        );
    }
}
