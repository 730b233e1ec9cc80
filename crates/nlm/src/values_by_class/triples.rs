//! Triples: looked up where they are a function of classes, else orbit by orbit with products.

use super::{Finite, Job, ValuesByClass, to_sums, tuning};
use crate::index::Index;
use crate::kernels::buffer::Buffer;
use crate::kernels::look_up::LookUp;
use crate::kernels::orbit::{RHO, SIGN, SIX};
use crate::kernels::orbit_rows::{OrbitRows, Part, Step, TILE_ORBITS};
use crate::kernels::rows::EndRows;
use crate::params::permutations;
use crate::plan::{BLOCK, ComposePlan, Plan};
use crate::structure::Structure;
use std::ops::Range;

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
    fn parts<'a>(&self, compose: &ComposePlan, weights: &'a [f32]) -> Vec<Part<'a>> {
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
                    weights: &weights[(range.start - map.columns.start) * SIX * BLOCK..],
                    width: map.columns.len(),
                });
            }
        }
        parts
    }
}

/// The true propositions of arity 3, once each.
fn ternary(structure: &Structure, distinct: bool) -> Vec<(usize, [usize; 3])> {
    let mut all: Vec<(usize, [usize; 3])> = structure
        .propositions(3)
        .map(|(channel, x)| (channel, std::array::from_fn(|i| usize::from(x[i]))))
        .filter(|(_, [x, y, z])| !distinct || (x != y && y != z && x != z))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The slots of the sorted orbit that hold this tuple (several where objects repeat).
fn slots_of(tuple: [usize; 3]) -> ([usize; 3], Vec<usize>) {
    let mut sorted = tuple;
    sorted.sort_unstable();
    let slots = permutations(3)
        .iter()
        .enumerate()
        .filter(|(_, p)| (0..3).all(|i| sorted[p[i]] == tuple[i]))
        .map(|(s, _)| s)
        .collect();
    (sorted, slots)
}

impl ValuesByClass {
    /// Whether the coefficients of every orbit are kept.
    fn stored(&self, orbits: usize, columns: &Columns) -> bool {
        !self.always_recompute && orbits * columns.total * SIX * 4 <= tuning::STORED_BYTES
    }

    /// Writes the coefficients of the ternary propositions and their reductions. Objects keep
    /// their names where there are such propositions.
    pub(super) fn load_triples(&mut self, job: &Job<'_>, index: &Index) {
        let plan = job.plan;
        let (objects, distinct) = (index.objects(), plan.distinct);
        let columns = Columns::new(plan, self.finite);
        let orbits = index.pairs().orbits();
        let stored = self.stored(orbits, &columns);
        let room = if stored {
            index.group() * orbits
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
            self.coefficient_inputs.reserve(orbits * stride);
            (&mut self.coefficient_inputs, stride)
        };
        for orbit in 0..orbits {
            to.fill(orbit * stride, columns.input_columns * SIX, 0.0);
        }
        let red = &mut self.red[2];
        let red_columns = plan.red_columns[2];
        red.clear_columns(index.rows(2), red_columns, channels * plan.quantifiers);
        for (channel, tuple) in ternary(job.structure, distinct) {
            let (sorted, slots) = slots_of(tuple);
            let orbit = index.pairs().orbit(sorted);
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
    pub(super) fn triples(&mut self, job: &Job<'_>, index: &Index, layer: usize) {
        let (plan, finite) = (job.plan, self.finite);
        let columns = 0..plan.features * plan.quantifiers;
        if layer < finite.layers {
            if finite.sparse {
                self.near(job, index, layer, false);
                self.end(job, index, layer, false, columns);
            } else if layer == 0 {
                // All finite layers at once.
                self.look_up(job, index, 0..finite.layers);
                for layer in 0..finite.layers {
                    let of_layer = layer * columns.end..finite.layers * columns.end;
                    self.end(job, index, layer, false, of_layer);
                }
            }
            return;
        }
        let compose = &plan.layers[layer][3];
        if let Some(map) = &compose.expand {
            while self.pairs.len() <= layer {
                self.pairs.push(Buffer::default());
            }
            self.pairs[layer].reserve(index.group_rows(2) * map.outputs);
            // For all structures at once.
            if self.at == 0 {
                self.expand_pairs(job, index, layer, map);
            }
        }
        let pure = compose.column.is_none();
        let parts = Columns::new(plan, finite).parts(compose, &job.weights[layer][3].orbit.rows);
        let table = self.orbit_tables.table(plan, layer, finite);
        if !pure || !parts.is_empty() || table.is_none() {
            self.steps(job, index, layer);
        } else if finite.sparse && compose.expand.is_some() {
            self.near(job, index, layer, true);
        } else {
            self.look_up(job, index, layer..layer + 1);
        }
        self.end(job, index, layer, pure, columns);
    }

    /// The reductions of layers whose triples are in tables, but for what pairs add.
    fn look_up(&mut self, job: &Job<'_>, index: &Index, layers: Range<usize>) {
        let plan = job.plan;
        self.start(job, index, layers.len());
        let table = |layer| self.orbit_tables.table(plan, layer, self.finite);
        let tables = [layers.start, layers.end - 1].map(|layer| table(layer).expect("a table"));
        let adds = layers.start >= self.finite.layers;
        let pairs = plan.layers[layers.start][3].expand.as_ref();
        job.level.run(&LookUp {
            pairs: index.pairs(),
            classes: of_structure(&self.orbit_classes, index, self.at),
            tables: &tables[..layers.len()],
            expanded: pairs.filter(|_| adds).map(|map| {
                let from = self.at * index.rows(2) * map.outputs;
                &self.pairs[layers.start].as_slice()[from..]
            }),
            features: plan.features,
            both: plan.quantifiers == 2,
            best: self
                .best
                .view_mut(layers.len() * plan.features * plan.quantifiers),
        });
    }

    /// Ends the reduction of a layer's triples. `best` is where rows have its extrema, up to the
    /// end of the row.
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
        let red = self.red[2].view_mut(plan.red_columns[2]);
        job.level.run(&EndRows {
            pairs: index.rows(2) / 2,
            empty: !index.has_triples(),
            activate,
            features: plan.features,
            columns: plan.features * plan.quantifiers,
            best: self.best.view(best.end).from(best.start),
            red: red.after(self.at * index.rows(2)).from(column),
        });
    }

    /// Starts the reductions of so many layers at ∓infinity.
    fn start(&mut self, job: &Job<'_>, index: &Index, layers: usize) {
        let features = job.plan.features;
        let rows = index.rows(2) * layers * job.plan.quantifiers;
        let best = &mut self.best.as_mut_slice()[..rows * features];
        if job.plan.quantifiers == 1 {
            return best.fill(f32::NEG_INFINITY);
        }
        let (blocks, _) = best.as_chunks_mut::<BLOCK>();
        for both in blocks.chunks_exact_mut(2 * features / BLOCK) {
            let (max, min) = both.split_at_mut(features / BLOCK);
            max.iter_mut()
                .for_each(|max| *max = [f32::NEG_INFINITY; BLOCK]);
            min.iter_mut().for_each(|min| *min = [f32::INFINITY; BLOCK]);
        }
    }

    /// Orbit by orbit, with products.
    fn steps(&mut self, job: &Job<'_>, index: &Index, layer: usize) {
        let plan = job.plan;
        self.start(job, index, 1);
        let columns = Columns::new(plan, self.finite);
        let orbits = index.pairs().orbits();
        let stored = self.stored(orbits, &columns);
        let from = if stored { layer } else { self.finite.layers };
        let steps: Vec<Step<'_>> = (from..=layer)
            .filter(|&k| plan.layers[k].len() > 3)
            .map(|k| {
                let (compose, weights) = (&plan.layers[k][3], &job.weights[k][3]);
                let rows = self.at * index.rows(2);
                Step {
                    parts: columns.parts(compose, &weights.orbit.rows),
                    table: self.orbit_tables.table(plan, k, self.finite),
                    expanded: compose.expand.as_ref().map(|map| {
                        let pairs = self.pairs[k].view(map.outputs);
                        pairs.after(rows)
                    }),
                    bias: &weights.bias,
                    output: compose.column.map(|c| columns.place(c)),
                }
            })
            .collect();
        let stride = columns.total * SIX;
        let inputs = columns.input_columns * SIX;
        let own = self.coefficients.view_mut(stride);
        job.level.run(&OrbitRows {
            pairs: index.pairs(),
            classes: of_structure(&self.orbit_classes, index, self.at),
            features: plan.features,
            both: plan.quantifiers == 2,
            steps: &steps,
            own: if stored {
                own.after(self.at * orbits)
            } else {
                own
            },
            inputs: (!stored).then(|| self.coefficient_inputs.view(inputs)),
            input_columns: columns.input_columns,
            best: self.best.view_mut(plan.features * plan.quantifiers),
        });
    }
}

/// The classes of the orbits of the `at`-th structure, if orbits have classes.
fn of_structure<'a>(classes: &'a [u32], index: &Index, at: usize) -> &'a [u32] {
    let count = index.pairs().orbits();
    classes.get(at * count..(at + 1) * count).unwrap_or(&[])
}
