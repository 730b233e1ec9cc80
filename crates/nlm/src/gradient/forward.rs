//! The forward pass, keeping what the backward pass reads.

use super::classes::Inputs;
use super::{Batch, GradientEngine, OfClasses, split};
use crate::buffer::Buffer;
use crate::index::Index;
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::rows::{PairMap, ReduceRows, RowMap, RowRun, Starts};
use crate::plan::{BLOCK, ComposePlan, MapPlan, Plan};
use crate::prepared::{ComposeWeights, MapWeights};
use std::ops::Range;
use std::ptr::{null, null_mut};

/// Some columns of a map, of rows with this stride that begin with column `first`.
pub(super) fn run(
    x: &Buffer,
    stride: usize,
    first: usize,
    map: &MapPlan,
    columns: Range<usize>,
    weights: &MapWeights,
) -> RowRun {
    RowRun {
        x: x.as_ptr().wrapping_add(columns.start - first),
        stride,
        columns: columns.len(),
        weights: weights
            .rows
            .as_ptr()
            .wrapping_add((columns.start - map.columns.start) * BLOCK),
        width: map.columns.len(),
    }
}

impl GradientEngine {
    pub(super) fn forward(&mut self, batch: &Batch<'_>, index: &Index) {
        let plan = batch.plan;
        self.reserve(batch, index);
        self.classes.find(
            plan,
            index,
            batch.structures,
            &mut Inputs {
                own: &mut self.own,
                red: &mut self.red,
            },
        );
        if plan.max_arity >= 2 {
            self.first_pairs(batch);
        }
        for (layer, composes) in plan.layers.iter().enumerate() {
            for (n, compose) in composes.iter().enumerate() {
                match (layer, n) {
                    (_, 3) => self.triples(batch, index, layer),
                    (0, 2) => {
                        let x = self.of_classes.output.as_ptr();
                        let members = &self.classes.members;
                        reduce(
                            batch,
                            index,
                            2,
                            compose,
                            members,
                            x,
                            plan.features,
                            &mut self.red[1],
                        );
                    }
                    _ => self.compose(batch, index, [layer, n], compose),
                }
            }
        }
    }

    /// Makes room for the tensors over rows, inputs false.
    fn reserve(&mut self, batch: &Batch<'_>, index: &Index) {
        let plan = batch.plan;
        let layers = plan.layers.len();
        self.outputs
            .resize_with(layers.max(self.outputs.len()), Default::default);
        self.best
            .resize_with(layers.max(self.best.len()), Buffer::default);
        let slots = &mut self.of_classes.slots;
        slots.resize_with(layers.max(slots.len()), Buffer::default);
        for n in 0..=plan.max_arity.min(2) {
            let rows = index.group_rows(n);
            self.own[n].reserve(rows * own_stride(batch, n));
            self.red[n].reserve(rows * plan.red_columns[n]);
        }
        self.own[0].clear_columns(index.group_rows(0), plan.own_columns[0], plan.inputs(0));
        if plan.max_arity >= 1 {
            let inputs = plan.inputs(2) * plan.quantifiers;
            self.red[1].clear_columns(index.group_rows(1), plan.red_columns[1], inputs);
        }
    }

    /// The first layer's pairs, a class of pairs at a time.
    fn first_pairs(&mut self, batch: &Batch<'_>) {
        let plan = batch.plan;
        let known = batch.shape.known;
        let OfClasses {
            types,
            expanded_types,
            own,
            output,
            ..
        } = &mut self.of_classes;
        let classes = self.classes.pairs();
        own.reserve(classes * 2 * known);
        self.classes.pair_inputs(plan.inputs(2), known, own);
        let Some(compose) = plan.layers[0].get(2) else {
            return;
        };
        let weights = &batch.weights[0][2];
        let mut expanded = null();
        if let Some(map) = &compose.expand {
            let channels = plan.inputs(1);
            self.classes.type_inputs(channels, types);
            expanded_types.reserve(self.classes.types() * map.outputs);
            dispatch(
                batch.simd,
                &RowMap {
                    rows: self.classes.types(),
                    in_parts: false,
                    bias: null(),
                    expanded: null(),
                    owners: &[],
                    runs: &[run(
                        types,
                        channels,
                        0,
                        map,
                        map.columns.clone(),
                        &weights.expand,
                    )],
                    y: expanded_types.as_mut_ptr(),
                    y_stride: map.outputs,
                    outputs: map.outputs,
                    activate: false,
                },
            );
            expanded = expanded_types.as_ptr();
        }
        output.reserve(classes * 2 * plan.features);
        let runs: Vec<RowRun> = compose
            .own
            .iter()
            .map(|map| run(own, known, 0, map, map.columns.clone(), &weights.own))
            .collect();
        dispatch(
            batch.simd,
            &PairMap {
                pairs: classes,
                ends: &self.classes.ends,
                bias: weights.bias.as_ptr(),
                starts: Starts::NONE,
                expanded,
                runs: &runs,
                outputs: plan.features,
                activate: compose.column.is_some(),
                y: output.as_mut_ptr(),
                y_stride: plan.features,
                sums: match compose.column {
                    Some(column) => own.as_mut_ptr().wrapping_add(column),
                    None => null_mut(),
                },
                sums_stride: known,
            },
        );
    }

    /// What a compose operation takes from the arity below, up to arity 1.
    fn expand(
        &mut self,
        batch: &Batch<'_>,
        index: &Index,
        map: &MapPlan,
        weights: &ComposeWeights,
    ) -> *const f32 {
        let n = map.arity;
        let rows = index.group_rows(n);
        self.expanded.reserve(rows * map.outputs);
        let stride = own_stride(batch, n);
        dispatch(
            batch.simd,
            &RowMap {
                rows,
                in_parts: n == 0,
                bias: null(),
                expanded: null(),
                owners: &[],
                runs: &[run(
                    &self.own[n],
                    stride,
                    0,
                    map,
                    map.columns.clone(),
                    &weights.expand,
                )],
                y: self.expanded.as_mut_ptr(),
                y_stride: map.outputs,
                outputs: map.outputs,
                activate: false,
            },
        );
        self.expanded.as_ptr()
    }

    fn compose(
        &mut self,
        batch: &Batch<'_>,
        index: &Index,
        [layer, n]: [usize; 2],
        compose: &ComposePlan,
    ) {
        let plan = batch.plan;
        let weights = &batch.weights[layer][n];
        let rows = index.group_rows(n);
        let outputs = weights.bias.len();
        let expanded = match &compose.expand {
            Some(map) => self.expand(batch, index, map, weights),
            None => null(),
        };
        let mut runs = Vec::with_capacity(2);
        if let Some(map) = &compose.red {
            runs.push(run(
                &self.red[n],
                plan.red_columns[n],
                0,
                map,
                map.columns.clone(),
                &weights.red,
            ));
        }
        let stride = own_stride(batch, n);
        if n == 2 {
            let mut starts = Starts::NONE;
            if let Some(map) = &compose.own {
                let [known, others] = split(map, batch.shape);
                starts = self.of_classes.start(
                    batch,
                    &self.classes.of_pairs,
                    self.classes.pairs(),
                    map,
                    known,
                    &weights.own,
                );
                if !others.is_empty() {
                    let first = batch.shape.known;
                    runs.push(run(&self.own[2], stride, first, map, others, &weights.own));
                }
            }
            self.outputs[layer][2].reserve(rows * outputs);
            dispatch(
                batch.simd,
                &PairMap {
                    pairs: rows / 2,
                    ends: &index.ends,
                    bias: weights.bias.as_ptr(),
                    starts,
                    expanded,
                    runs: &runs,
                    outputs,
                    activate: compose.column.is_some(),
                    y: self.outputs[layer][2].as_mut_ptr(),
                    y_stride: outputs,
                    sums: match compose.column {
                        Some(column) => self.own[2]
                            .as_mut_ptr()
                            .wrapping_add(column - batch.shape.known),
                        None => null_mut(),
                    },
                    sums_stride: stride,
                },
            );
        } else {
            if let Some(map) = &compose.own {
                let columns = map.columns.clone();
                runs.push(run(&self.own[n], stride, 0, map, columns, &weights.own));
            }
            self.outputs[layer][n].reserve(rows * outputs);
            let (y, y_stride) = match compose.column {
                Some(column) => (self.own[n].as_mut_ptr().wrapping_add(column), stride),
                None => (self.outputs[layer][n].as_mut_ptr(), outputs),
            };
            dispatch(
                batch.simd,
                &RowMap {
                    rows,
                    in_parts: n == 0,
                    bias: weights.bias.as_ptr(),
                    expanded,
                    owners: &index.owners,
                    runs: &runs,
                    y,
                    y_stride,
                    outputs,
                    activate: compose.column.is_some(),
                },
            );
        }
        if n > 0 {
            let (x, stride) = self.reduced_output(batch, layer, n, compose);
            let members = index.members(n);
            reduce(
                batch,
                index,
                n,
                compose,
                members,
                x,
                stride,
                &mut self.red[n - 1],
            );
        }
    }

    /// What reduce reads of the output of a compose operation over rows, and its stride.
    pub(super) fn reduced_output(
        &self,
        batch: &Batch<'_>,
        layer: usize,
        n: usize,
        compose: &ComposePlan,
    ) -> (*const f32, usize) {
        match compose.column {
            Some(column) if n < 2 => (
                self.own[n].as_ptr().wrapping_add(column),
                own_stride(batch, n),
            ),
            _ => (
                self.outputs[layer][n].as_ptr(),
                batch.weights[layer][n].bias.len(),
            ),
        }
    }
}

impl OfClasses {
    /// What the known columns of a map over pairs contribute, for each class of pairs.
    pub(super) fn start<'a>(
        &mut self,
        batch: &Batch<'_>,
        of_pairs: &'a [u32],
        classes: usize,
        map: &MapPlan,
        known: Range<usize>,
        weights: &MapWeights,
    ) -> Starts<'a> {
        if known.is_empty() {
            return Starts::NONE;
        }
        let outputs = map.outputs;
        self.starts.reserve(classes * 2 * outputs);
        dispatch(
            batch.simd,
            &PairMap {
                pairs: classes,
                ends: &[],
                bias: null(),
                starts: Starts::NONE,
                expanded: null(),
                runs: &[run(&self.own, batch.shape.known, 0, map, known, weights)],
                outputs,
                activate: false,
                y: self.starts.as_mut_ptr(),
                y_stride: outputs,
                sums: null_mut(),
                sums_stride: 0,
            },
        );
        // From u + v and u - v back to u and v.
        let starts = &mut self.starts.as_mut_slice()[..classes * 2 * outputs];
        for pair in starts.chunks_exact_mut(2 * outputs) {
            let (ab, ba) = pair.split_at_mut(outputs);
            for (u, v) in ab.iter_mut().zip(ba) {
                (*u, *v) = (0.5 * (*u + *v), 0.5 * (*u - *v));
            }
        }
        Starts {
            classes: of_pairs,
            table: self.starts.as_ptr(),
            record: 2 * outputs,
        }
    }
}

/// f32 from one row of `own[n]` to the next.
pub(super) fn own_stride(batch: &Batch<'_>, n: usize) -> usize {
    let columns = batch.plan.own_columns[n];
    if n == 2 {
        columns - batch.shape.known
    } else {
        columns
    }
}

/// Reduces an output into the arity below.
#[allow(clippy::too_many_arguments)]
fn reduce(
    batch: &Batch<'_>,
    index: &Index,
    n: usize,
    compose: &ComposePlan,
    members: &[u32],
    x: *const f32,
    x_stride: usize,
    red: &mut Buffer,
) {
    let plan: &Plan = batch.plan;
    let column = compose.red_column.expect("above arity 0");
    dispatch(
        batch.simd,
        &ReduceRows {
            members,
            per: index.per_target(n),
            targets: index.group_rows(n - 1),
            x,
            x_stride,
            features: plan.features,
            both: plan.quantifiers == 2,
            activate: compose.column.is_none(),
            red: red.as_mut_ptr().wrapping_add(column),
            red_stride: plan.red_columns[n - 1],
        },
    );
}
