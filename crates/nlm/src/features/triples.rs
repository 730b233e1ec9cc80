//! The engine with features in lanes at arity 3.

use super::classes::Finite;
use super::{FeatureEngine, Job, to_sums};
use crate::buffer::Buffer;
use crate::engine::{orbit_index, slots_of, ternary};
use crate::index::Index;
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::look_up::LookUp;
use crate::kernels::orbit::{RHO, SIGN, SIX, orbit_count};
use crate::kernels::orbit_rows::{OrbitRows, Part, Step};
use crate::kernels::rows::{EndRows, StartRows};
use crate::plan::{BLOCK, ComposePlan, Plan};
use std::ops::Range;
use std::ptr::null;

/// Coefficients of triples are stored up to this many bytes; beyond, every layer
/// recomputes those of the layers before it.
const STORED_BYTES: usize = 192 << 20;
/// The orbits a kernel works on at once.
const TILE_ORBITS: usize = 4;

/// Where the coefficients of `own[3]` lie: the input in blocks of eight columns, then the layers
/// that are kept, without those that are finite.
#[derive(Clone, Copy)]
struct Columns {
    inputs: usize,
    input_columns: usize,
    /// Columns of the finite layers.
    finite: usize,
    total: usize,
}

impl Columns {
    fn new(plan: &Plan, finite: Finite) -> Self {
        let inputs = plan.inputs(3);
        let finite = finite.columns(plan);
        let input_columns = inputs.next_multiple_of(BLOCK);
        Self {
            inputs,
            input_columns,
            finite,
            total: input_columns + plan.own_columns[3] - inputs - finite,
        }
    }

    /// The place of a column of the plan that is not of a finite layer.
    fn place(&self, column: usize) -> usize {
        if column < self.inputs {
            column
        } else {
            self.input_columns + column - self.inputs - self.finite
        }
    }

    /// What a compose operation reads.
    fn parts(&self, compose: &ComposePlan, weights: &[f32]) -> Vec<Part> {
        let Some(map) = &compose.own else {
            return Vec::new();
        };
        let learned = self.inputs + self.finite;
        let mut parts = Vec::new();
        let end = map.columns.end;
        for range in [
            map.columns.start..self.inputs.min(end),
            learned.max(map.columns.start)..end,
        ] {
            if !range.is_empty() {
                parts.push(Part {
                    from: self.place(range.start),
                    columns: range.len(),
                    weights: weights
                        .as_ptr()
                        .wrapping_add((range.start - map.columns.start) * SIX * BLOCK),
                });
            }
        }
        parts
    }
}

impl FeatureEngine {
    /// Whether the coefficients of every orbit are kept.
    fn stored(&self, orbits: usize, columns: &Columns) -> bool {
        !self.always_recompute && orbits * columns.total * SIX * 4 <= STORED_BYTES
    }

    /// Writes the coefficients of the ternary propositions and their reductions.
    pub(super) fn load_triples(&mut self, job: &Job<'_>, index: &Index, finite: Finite) {
        let plan = job.plan;
        let (objects, distinct) = (index.objects, plan.distinct);
        let columns = Columns::new(plan, finite);
        let orbits = orbit_count(objects, distinct);
        let stored = self.stored(orbits, &columns);
        let room = if stored {
            index.group * orbits
        } else {
            TILE_ORBITS
        };
        self.coefficients.reserve(room * columns.total * SIX);
        let channels = plan.inputs(3);
        if channels == 0 {
            return;
        }
        let (to, stride) = if stored {
            (&mut self.coefficients, columns.total * SIX)
        } else {
            let stride = columns.input_columns * SIX;
            self.inputs.reserve(orbits * stride);
            (&mut self.inputs, stride)
        };
        for orbit in 0..orbits {
            to.fill(orbit * stride, columns.input_columns * SIX, 0.0);
        }
        let red = &mut self.red[2];
        let red_columns = plan.red_columns[2];
        for (channel, tuple) in ternary(job.structure, distinct) {
            let (sorted, slots) = slots_of(tuple);
            let orbit = orbit_index(objects, distinct, sorted);
            let at = orbit * stride + channel / BLOCK * SIX * BLOCK + channel % BLOCK;
            for s in slots {
                let [r11, r12, r21, r22] = RHO[s];
                for (k, c) in [1.0, SIGN[s], r11, r12, r21, r22].into_iter().enumerate() {
                    to.add(at + k * BLOCK, c);
                }
            }
            let row = index.row(tuple[0], tuple[1]);
            // Both rows of (a, a) hold the same tuple.
            for row in row..=row + usize::from(tuple[0] == tuple[1]) {
                red.set(row * red_columns + channel, 1.0);
                if plan.quantifiers == 2 {
                    red.add(row * red_columns + channels + channel, 1.0);
                }
            }
        }
        if plan.quantifiers == 2 {
            let all = if distinct {
                objects.saturating_sub(2)
            } else {
                objects
            };
            for row in 0..index.rows(2) {
                let at = row * red_columns + channels;
                for i in at..at + channels {
                    let holds = red.at(i) == all as f32;
                    red.set(i, f32::from(u8::from(holds)));
                }
            }
        }
        to_sums(
            red,
            0..index.rows(2),
            red_columns,
            channels * plan.quantifiers,
        );
    }

    /// Compose at arity 3 and its reduction.
    pub(super) fn triples(&mut self, job: &Job<'_>, index: &Index, layer: usize, finite: Finite) {
        let plan = job.plan;
        let features = plan.features;
        let columns = 0..features * plan.quantifiers;
        let table = self.class_table(plan, layer, finite);
        if layer < finite.layers {
            if finite.sparse {
                self.near(job, index, table, None);
                self.end(job, index, layer, false, columns);
            } else if layer == 0 {
                // All finite layers at once.
                self.look_up_finite(job, index, finite);
            }
            return;
        }
        let compose = &plan.layers[layer][3];
        let rows = index.rows(2);
        let mut expanded = null();
        if let Some(map) = &compose.expand {
            while self.pairs.len() <= layer {
                self.pairs.push(Buffer::default());
            }
            self.pairs[layer].reserve(index.group * rows * map.outputs);
            let to = self.pairs[layer].as_mut_ptr();
            // For all structures at once.
            if self.at == 0 {
                self.expand(job, index, [layer, 3], map, to);
            }
            expanded = to.cast_const().wrapping_add(self.at * rows * map.outputs);
        }
        let pure = compose.column.is_none();
        let parts = Columns::new(plan, finite).parts(compose, &job.weights[layer][3].orbit.rows);
        if !pure || !parts.is_empty() || table.is_null() {
            self.start(job, index, 1);
            self.steps(job, index, layer, finite);
        } else if finite.sparse && !expanded.is_null() {
            self.near(job, index, table, Some(layer));
        } else {
            self.start(job, index, 1);
            let best = self.best.as_mut_ptr();
            dispatch(
                job.simd,
                &LookUp {
                    pairs: index.pairs(),
                    classes: self.classes_of_orbits(index),
                    tables: &[table],
                    expanded,
                    features,
                    both: plan.quantifiers == 2,
                    best,
                },
            );
        }
        self.end(job, index, layer, pure, columns);
    }

    /// The reductions of the finite layers, whose triples are in tables.
    fn look_up_finite(&mut self, job: &Job<'_>, index: &Index, finite: Finite) {
        let plan = job.plan;
        self.start(job, index, finite.layers);
        let best = self.best.as_mut_ptr();
        let classes = self.classes(finite);
        let tables = [0, finite.layers - 1].map(|layer| classes.slots(layer));
        dispatch(
            job.simd,
            &LookUp {
                pairs: index.pairs(),
                classes: self.classes_of_orbits(index),
                tables: &tables[..finite.layers],
                expanded: null(),
                features: plan.features,
                both: plan.quantifiers == 2,
                best,
            },
        );
        let columns = plan.features * plan.quantifiers;
        for layer in 0..finite.layers {
            let of_layer = layer * columns..finite.layers * columns;
            self.end(job, index, layer, false, of_layer);
        }
    }

    /// Ends the reduction of a layer's triples. `best` is where rows have its extrema, up to the end of the row.
    fn end(
        &mut self,
        job: &Job<'_>,
        index: &Index,
        layer: usize,
        activate: bool,
        best: Range<usize>,
    ) {
        let plan = job.plan;
        let column = plan.layers[layer][3].red_column;
        let column = column.expect("triples are reduced");
        let from = self.at * index.rows(2) * plan.red_columns[2];
        dispatch(
            job.simd,
            &EndRows {
                pairs: index.rows(2) / 2,
                empty: !index.has_triples(),
                activate,
                features: plan.features,
                columns: plan.features * plan.quantifiers,
                best: self.best.as_ptr().wrapping_add(best.start),
                best_stride: best.end,
                red: self.red[2].as_mut_ptr().wrapping_add(from + column),
                red_stride: plan.red_columns[2],
            },
        );
    }

    /// What a table over classes of orbits says of a layer's triples: their activations where they are finite, else what
    /// they read of finite layers; null for nothing.
    fn class_table(&self, plan: &Plan, layer: usize, finite: Finite) -> *const f32 {
        let classes = self.classes(finite);
        if layer < finite.layers {
            classes.slots(layer)
        } else if finite.read_by(plan, layer).is_empty() {
            null()
        } else {
            classes.table(layer)
        }
    }

    /// The class of each orbit of the structure at work, if orbits have classes.
    fn classes_of_orbits(&self, index: &Index) -> &[u32] {
        let count = orbit_count(index.objects, index.distinct);
        let own = self.at * count..(self.at + 1) * count;
        self.orbit_classes.get(own).unwrap_or(&[])
    }

    /// Starts the reductions of so many layers at ∓infinity.
    fn start(&mut self, job: &Job<'_>, index: &Index, layers: usize) {
        dispatch(
            job.simd,
            &StartRows {
                rows: index.rows(2) * layers,
                features: job.plan.features,
                both: job.plan.quantifiers == 2,
                best: self.best.as_mut_ptr(),
            },
        );
    }

    /// Orbit by orbit, with products.
    fn steps(&mut self, job: &Job<'_>, index: &Index, layer: usize, finite: Finite) {
        let plan = job.plan;
        let columns = Columns::new(plan, finite);
        let stored = self.stored(orbit_count(index.objects, plan.distinct), &columns);
        let from = if stored { layer } else { finite.layers };
        let steps: Vec<Step> = (from..=layer)
            .filter(|&k| plan.layers[k].len() > 3)
            .map(|k| {
                let (compose, weights) = (&plan.layers[k][3], &job.weights[k][3]);
                Step {
                    parts: columns.parts(compose, &weights.orbit.rows),
                    block_stride: compose.own.as_ref().map_or(0, |m| m.columns.len()) * SIX * BLOCK,
                    table: self.class_table(plan, k, finite),
                    expanded: match &compose.expand {
                        Some(_) => self.pairs[k]
                            .as_ptr()
                            .wrapping_add(self.at * index.rows(2) * 3 * plan.features),
                        None => null(),
                    },
                    bias: weights.bias.as_ptr(),
                    output: compose.column.map(|c| columns.place(c)),
                }
            })
            .collect();
        let own_stride = if stored { columns.total * SIX } else { 0 };
        let orbits = orbit_count(index.objects, plan.distinct);
        let own = self.coefficients.as_mut_ptr();
        let own = own.wrapping_add(self.at * orbits * own_stride);
        let best = self.best.as_mut_ptr();
        dispatch(
            job.simd,
            &OrbitRows {
                pairs: index.pairs(),
                classes: self.classes_of_orbits(index),
                features: plan.features,
                both: plan.quantifiers == 2,
                steps: &steps,
                own,
                own_stride,
                columns: columns.total,
                inputs: self.inputs.as_ptr(),
                input_columns: columns.input_columns,
                best,
            },
        );
    }
}
