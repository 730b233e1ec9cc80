//! The objects-in-lanes engine at arity 3.

use super::{Job, LANES, WideEngine, lanes_of};
use crate::buffer::Buffer;
use crate::engine::{slots_of, ternary};
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::max_plus::MaxPlus;
use crate::kernels::orbit::{RHO, SIGN, SIX};
use crate::kernels::triples::EndReduction;
use crate::kernels::windows::{Step, Windows};
use crate::plan::{ComposePlan, Plan};
use std::ptr::null;

impl WideEngine {
    /// Writes the coefficients of the ternary propositions and their reductions.
    pub(super) fn load_triples(&mut self, job: &Job<'_>) {
        let plan = job.plan;
        let (objects, blocks, distinct) = (self.objects, self.blocks(), plan.distinct);
        let channels = plan.inputs(3);
        let stored = self.stored(plan);
        let columns = if stored {
            plan.own_columns[3]
        } else {
            channels
        };
        if stored {
            self.coefficients
                .reserve(self.windows * columns * SIX * LANES);
        }
        if channels == 0 {
            return;
        }
        let to = if stored {
            &mut self.coefficients
        } else {
            self.inputs.reserve(self.windows * columns * SIX * LANES);
            &mut self.inputs
        };
        for window in 0..self.windows {
            to.fill(window * columns * SIX * LANES, channels * SIX * LANES, 0.0);
        }
        let red_columns = plan.red_columns[2];
        let pair = |x: usize, y: usize, c: usize| {
            ((x * blocks + y / LANES) * red_columns + c) * LANES + y % LANES
        };
        for (channel, tuple) in ternary(job.structure, distinct) {
            let ([x, y, z], slots) = slots_of(tuple);
            let offset = z - y - usize::from(distinct);
            let window = self.window_of[x * objects + y] + offset / LANES;
            let at = (window * columns + channel) * SIX * LANES + offset % LANES;
            for s in slots {
                let [r11, r12, r21, r22] = RHO[s];
                for (k, c) in [1.0, SIGN[s], r11, r12, r21, r22].into_iter().enumerate() {
                    to.add(at + k * LANES, c);
                }
            }
            let [a, b, _] = tuple;
            self.red[2].set(pair(a, b, channel), 1.0);
            self.red_t.set(pair(b, a, channel), 1.0);
            if plan.quantifiers == 2 {
                self.red[2].add(pair(a, b, channels + channel), 1.0);
                self.red_t.add(pair(b, a, channels + channel), 1.0);
            }
        }
        if plan.quantifiers == 2 {
            let all = if distinct {
                objects.saturating_sub(2)
            } else {
                objects
            };
            for row in 0..objects * blocks {
                let at = (row * red_columns + channels) * LANES;
                for buffer in [&mut self.red[2], &mut self.red_t] {
                    for i in at..at + channels * LANES {
                        let holds = buffer.at(i) == all as f32;
                        buffer.set(i, f32::from(u8::from(holds)));
                    }
                }
            }
        }
    }

    /// Lays out what pairs contribute to triples with z running along rows.
    fn lay_out_pairs(&mut self, layer: usize, features: usize) {
        let (objects, blocks, width) = (self.objects, self.blocks(), self.width());
        while self.pairs.len() <= layer {
            self.pairs.push(Buffer::default());
        }
        self.pairs[layer].reserve(objects * SIX * features * width);
        let from = self.expanded.as_slice();
        let to = self.pairs[layer].as_mut_slice();
        let outputs = 3 * features;
        for x_block in 0..blocks {
            for z_block in 0..blocks {
                for c in 0..outputs {
                    for x in lanes_of(x_block, objects) {
                        let row = (x * blocks + z_block) * outputs + c;
                        let source = &from[row * LANES..][..LANES];
                        let at = (x * 2 * outputs + c) * width + z_block * LANES;
                        to[at..at + LANES].copy_from_slice(source);
                        for (z, &v) in lanes_of(z_block, objects).zip(source) {
                            to[(z * 2 * outputs + outputs + c) * width + x] = v;
                        }
                    }
                }
            }
        }
    }

    pub(super) fn triples(&mut self, job: &Job<'_>, layer: usize) {
        let plan = job.plan;
        let features = plan.features;
        let quantified = features * plan.quantifiers;
        let both = plan.quantifiers == 2;
        let (objects, width) = (self.objects, self.width());
        if plan.layers[layer][3].expand.is_some() {
            self.lay_out_pairs(layer, features);
        }
        let compose = &plan.layers[layer][3];
        if compose.own.is_none() && compose.column.is_none() && compose.expand.is_some() {
            self.max_plus(job, layer);
            self.end_triples(job, compose);
            return;
        }
        let stored = self.stored(plan);
        let first = if stored { layer } else { 0 };
        let steps: Vec<Step> = (first..=layer)
            .filter(|&k| plan.layers[k].len() > 3)
            .map(|k| {
                let (compose, weights) = (&plan.layers[k][3], &job.weights[k][3]);
                let (from, columns) = match &compose.own {
                    Some(map) => (map.columns.start, map.columns.len()),
                    None => (0, 0),
                };
                Step {
                    from,
                    columns,
                    weights: weights.orbit.forward.as_ptr(),
                    bias: weights.bias.as_ptr(),
                    pairs: match &compose.expand {
                        Some(_) => self.pairs[k].as_ptr(),
                        None => null(),
                    },
                    output: compose.column,
                }
            })
            .collect();
        self.red_pairs.reserve(objects * 2 * quantified * width);
        for row in 0..objects * 2 {
            let at = row * quantified * width;
            let red = &mut self.red_pairs;
            red.fill(at, features * width, f32::NEG_INFINITY);
            if both {
                red.fill(at + features * width, features * width, f32::INFINITY);
            }
        }
        let scratch = self.scratch.as_mut_ptr();
        let (own, own_stride) = if stored {
            let stride = plan.own_columns[3] * SIX * LANES;
            (self.coefficients.as_mut_ptr(), stride)
        } else {
            (scratch.wrapping_add(4 * features * LANES), 0)
        };
        dispatch(
            job.simd,
            &Windows {
                orbits: self.orbits(),
                features,
                both,
                width,
                steps: &steps,
                own,
                own_stride,
                inputs: self.inputs.as_ptr(),
                input_columns: plan.inputs(3),
                red: self.red_pairs.as_mut_ptr(),
                row: scratch,
                penalties: self.penalties.as_ptr(),
            },
        );
        self.end_triples(job, compose);
    }

    /// The extrema of triples that read no triples: everything is in the rows
    /// of (x, z), nothing in those of (z, x).
    fn max_plus(&mut self, job: &Job<'_>, layer: usize) {
        let plan = job.plan;
        let features = plan.features;
        let (objects, width) = (self.objects, self.width());
        let quantified = features * plan.quantifiers;
        self.red_pairs.reserve(objects * 2 * quantified * width);
        let stride = SIX * features * width;
        for quantifier in 0..plan.quantifiers {
            let minimum = quantifier == 1;
            let worst = if minimum {
                f32::INFINITY
            } else {
                f32::NEG_INFINITY
            };
            for x in 0..objects {
                let at = ((x * 2 + 1) * quantified + quantifier * features) * width;
                self.red_pairs.fill(at, features * width, worst);
                if plan.distinct {
                    for q in 0..features {
                        let diagonal = x * stride + (3 * features + q) * width + x;
                        self.pairs[layer].set(diagonal, worst);
                    }
                }
            }
            let pairs = self.pairs[layer].as_ptr();
            let red = self
                .red_pairs
                .as_mut_ptr()
                .wrapping_add(quantifier * features * width);
            if minimum {
                dispatch(job.simd, &self.max_plus_kernel::<true>(plan, pairs, red));
            } else {
                dispatch(job.simd, &self.max_plus_kernel::<false>(plan, pairs, red));
            }
        }
        if plan.distinct {
            // The next structure may lay out its rows elsewhere in this
            // buffer, and must find nothing infinite in the padding.
            self.pairs[layer].fill(0, objects * stride, 0.0);
        }
    }

    fn max_plus_kernel<const MINIMUM: bool>(
        &self,
        plan: &Plan,
        pairs: *const f32,
        red: *mut f32,
    ) -> MaxPlus<MINIMUM> {
        let (features, width) = (plan.features, self.width());
        MaxPlus {
            objects: self.objects,
            distinct: plan.distinct,
            features,
            width,
            b: pairs.wrapping_add(features * width),
            a: pairs.wrapping_add(2 * features * width),
            c: pairs.wrapping_add(3 * features * width),
            stride: SIX * features * width,
            red,
            red_stride: 2 * features * plan.quantifiers * width,
        }
    }

    /// From the extrema in rows to `red[2]` and its transpose, ended.
    fn end_triples(&mut self, job: &Job<'_>, compose: &ComposePlan) {
        let plan = job.plan;
        let features = plan.features;
        let both = plan.quantifiers == 2;
        let objects = self.objects;
        let column = compose.red_column.expect("triples are reduced");
        self.collect_pairs(plan, column);
        for red in [&mut self.red[2], &mut self.red_t] {
            dispatch(
                job.simd,
                &EndReduction {
                    live: &self.rows,
                    empty: plan.distinct && objects < 3,
                    activate: compose.column.is_none(),
                    features,
                    both,
                    red: red.as_mut_ptr().wrapping_add(column * LANES),
                    red_stride: plan.red_columns[2] * LANES,
                    best: std::ptr::null_mut(),
                },
            );
        }
    }

    /// From the extrema of (x, z) and (z, x) to `red[2]` and its transpose.
    fn collect_pairs(&mut self, plan: &Plan, column: usize) {
        let (objects, blocks, width) = (self.objects, self.blocks(), self.width());
        let features = plan.features;
        let quantified = features * plan.quantifiers;
        let columns = plan.red_columns[2];
        let from = self.red_pairs.as_slice();
        let red = self.red[2].as_mut_slice();
        let red_t = self.red_t.as_mut_slice();
        for a_block in 0..blocks {
            for b_block in 0..blocks {
                for c in 0..quantified {
                    for a in lanes_of(a_block, objects) {
                        let to = ((a * blocks + b_block) * columns + column + c) * LANES;
                        for b in lanes_of(b_block, objects) {
                            let v = from[(a * 2 * quantified + c) * width + b];
                            let w = from[((b * 2 + 1) * quantified + c) * width + a];
                            let mut best = if (v > w) == (c < features) { v } else { w };
                            if plan.distinct && a == b {
                                // Dead, but kernels pass over it: keep it finite.
                                best = 0.0;
                            }
                            red[to + b % LANES] = best;
                            let to_t = (b * blocks + a_block) * columns + column + c;
                            red_t[to_t * LANES + a % LANES] = best;
                        }
                    }
                }
            }
        }
    }
}
