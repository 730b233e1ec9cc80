//! Values and gradients tuple by tuple: the way of networks that classes do not serve.
//!
//! As the paper writes it: the permuted copies of what a tuple reads are laid side by side, one map
//! over rows follows. Exact for every arity, and slower than by class: every triple has its own
//! products, 36 a channel and orbit where the Fourier basis has 10. One structure at a time.

mod backward;
mod tuples;

use crate::by_class::transposed;
use crate::kernels::Level;
use crate::kernels::buffer::Buffer;
use crate::kernels::rows::{ReduceRows, RowMap, Source};
use crate::kernels::view::Rows;
use crate::params::factorial;
use crate::plan::{ComposePlan, MapPlan, Plan};
use crate::prepared::{bias, by_permutation};
use crate::structure::Structure;
use crate::tuning::{ROWS_AT_ONCE, TUPLE_INDICES};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use tuples::Tuples;

/// The weights of one map.
#[derive(Clone, Debug, Default)]
struct OfMap {
    /// `[output block][π][column][8]`.
    forward: Vec<f32>,
    /// `[π][column block][output][8]`, of the columns that are learned.
    backward: Vec<f32>,
}

impl OfMap {
    fn new(map: Option<&MapPlan>, flat: &[f32]) -> Self {
        map.map_or_else(Self::default, |map| {
            let forward = by_permutation(map, flat);
            Self {
                backward: transposed(map, &forward, factorial(map.arity)),
                forward,
            }
        })
    }
}

/// The weights of one compose operation.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    expand: OfMap,
    own: OfMap,
    red: OfMap,
    bias: Vec<f32>,
}

/// `[layer][arity]` weights.
pub(crate) fn prepare(plan: &Plan, flat: &[f32]) -> Vec<Vec<Weights>> {
    let new = |compose: &ComposePlan| Weights {
        expand: OfMap::new(compose.expand.as_ref(), flat),
        own: OfMap::new(compose.own.as_ref(), flat),
        red: OfMap::new(compose.red.as_ref(), flat),
        bias: bias(compose, flat),
    };
    let layers = plan.layers.iter();
    layers
        .map(|layer| layer.iter().map(new).collect())
        .collect()
}

/// What one run needs.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) weights: &'a [Vec<Weights>],
    pub(crate) level: Level,
    pub(crate) structure: &'a Structure,
}

/// The tensors of one structure; kept between structures to save allocations.
#[derive(Default)]
pub(crate) struct ByTuple {
    tables: BTreeMap<(usize, usize, bool), Arc<Vec<Tuples>>>,
    /// `[row][own columns]`, `[row][red columns]`, by arity.
    own: Vec<Buffer>,
    red: Vec<Buffer>,
    /// `[layer][arity]`: pre-activations that only reduce reads, `[row][Q']`.
    pure: Vec<Vec<Buffer>>,
    /// `[row of n - 1][n Q']`, and their sums over positions, of the compose operation at work.
    expanded: Buffer,
    sums: Buffer,
    /// Permuted copies side by side, of the rows at work: of `own` and of `red`.
    copies: [Buffer; 2],
    d_own: Vec<Buffer>,
    d_red: Vec<Buffer>,
    d_output: Buffer,
    d_expanded: Buffer,
    d_copies: Buffer,
    /// The rows that have a gradient, of the map at work, and these gradients.
    active: Vec<u32>,
    dy: Buffer,
    d_bias: Buffer,
    dw: Buffer,
    /// 0, 1, 2, ...
    counted: Vec<u32>,
}

/// Lays the permuted copies of the columns a map reads side by side, for some rows.
#[inline]
fn copy(
    x: &Buffer,
    stride: usize,
    map: &MapPlan,
    tuples: &Tuples,
    rows: impl Iterator<Item = usize>,
    to: &mut Buffer,
) {
    let columns = map.columns.len();
    let width = factorial(map.arity) * columns;
    to.reserve(ROWS_AT_ONCE * width);
    let x = x.as_slice();
    for (row, to) in rows.zip(to.as_mut_slice().chunks_exact_mut(width)) {
        for (permuted, to) in tuples.permuted.iter().zip(to.chunks_exact_mut(columns)) {
            let from = permuted[row] as usize * stride;
            to.copy_from_slice(&x[from + map.columns.start..from + map.columns.end]);
        }
    }
}

/// The copies of what a map reads, as a source of a map over rows.
fn source<'a>(copies: &'a Buffer, map: &MapPlan, weights: &'a OfMap) -> Source<'a> {
    let width = factorial(map.arity) * map.columns.len();
    Source {
        x: copies.view(width),
        columns: width,
        weights: &weights.forward,
        width,
    }
}

/// So many rows, some at a time.
fn some_rows(rows: usize) -> impl Iterator<Item = Range<usize>> {
    (0..rows)
        .step_by(ROWS_AT_ONCE)
        .map(move |from| from..rows.min(from + ROWS_AT_ONCE))
}

impl ByTuple {
    pub(crate) fn bytes(&self) -> usize {
        let several = [&self.own, &self.red, &self.d_own, &self.d_red];
        let several = several.into_iter().chain(&self.pure).flatten();
        let singles = [
            &self.expanded,
            &self.sums,
            &self.d_output,
            &self.d_expanded,
            &self.d_copies,
            &self.dy,
            &self.dw,
        ];
        let all = several.chain(singles).chain(&self.copies);
        all.map(Buffer::bytes).sum()
    }

    fn tuples(&mut self, task: &Task<'_>) -> Arc<Vec<Tuples>> {
        // Tables of large object counts are rarely shared; bound what is kept.
        if self.tables.len() > TUPLE_INDICES {
            self.tables.clear();
        }
        let (objects, plan) = (task.structure.objects(), task.plan);
        let make = || {
            let mut all: Vec<Tuples> = Vec::new();
            for arity in 0..=plan.max_arity {
                all.push(Tuples::new(objects, plan.distinct, all.last(), arity));
            }
            Arc::new(all)
        };
        let key = (objects, plan.max_arity, plan.distinct);
        self.tables.entry(key).or_insert_with(make).clone()
    }

    /// Makes room for the tensors, and writes the true propositions and what reduce makes of them.
    fn load(&mut self, task: &Task<'_>, tuples: &[Tuples]) {
        let (plan, objects) = (task.plan, task.structure.objects());
        for buffers in [&mut self.own, &mut self.red] {
            buffers.resize_with(buffers.len().max(tuples.len()), Buffer::default);
        }
        self.pure
            .resize_with(self.pure.len().max(plan.layers.len()), Vec::new);
        for pure in &mut self.pure {
            pure.resize_with(pure.len().max(tuples.len()), Buffer::default);
        }
        for (n, table) in tuples.iter().enumerate() {
            let (own, red) = (plan.own_columns[n], plan.red_columns[n]);
            self.own[n].reserve(table.rows * own);
            self.red[n].reserve(table.rows * red);
            self.own[n].clear_columns(table.rows, own, plan.input_columns(n));
            let reduced = plan.inputs(n + 1) * plan.quantifiers;
            self.red[n].clear_columns(table.rows, red, reduced);
        }
        for (n, table) in tuples.iter().enumerate() {
            for (channel, x) in task.structure.propositions(n) {
                let Some(row) = table.row(x, objects) else {
                    continue;
                };
                let at = row * plan.own_columns[n] + channel;
                let known = self.own[n].at(at) != 0.0;
                self.own[n].set(at, 1.0);
                if known || n == 0 {
                    continue;
                }
                let per = table.rows / tuples[n - 1].rows;
                let at = row / per * plan.red_columns[n - 1] + channel;
                self.red[n - 1].set(at, 1.0);
                if plan.quantifiers == 2 {
                    self.red[n - 1].add(at + plan.inputs(n), 1.0);
                }
            }
            if n > 0 && plan.quantifiers == 2 {
                let per = table.rows.checked_div(tuples[n - 1].rows).unwrap_or(0);
                self.mark_all(plan, n, tuples[n - 1].rows, per);
            }
        }
    }

    /// From how many of `per` tuples hold to whether all do.
    fn mark_all(&mut self, plan: &Plan, n: usize, rows: usize, per: usize) {
        let (channels, stride) = (plan.inputs(n), plan.red_columns[n - 1]);
        for row in 0..rows {
            for i in row * stride + channels..row * stride + 2 * channels {
                let holds = self.red[n - 1].at(i) == per as f32;
                self.red[n - 1].set(i, f32::from(u8::from(holds)));
            }
        }
    }

    /// The value of a structure, keeping what the backward pass reads.
    pub(crate) fn forward(&mut self, task: &Task<'_>) -> f32 {
        let tuples = self.tuples(task);
        self.load(task, &tuples);
        let most = tuples.iter().map(|t| t.rows).max().unwrap_or(0);
        self.counted.clear();
        self.counted.extend(0..most as u32);
        for (layer, composes) in task.plan.layers.iter().enumerate() {
            for n in 0..composes.len() {
                self.compose(task, &tuples, [layer, n]);
            }
        }
        let last = task.plan.layers.len() - 1;
        self.pure[last][0].at(0)
    }

    /// What a compose operation takes from the arity below, added up over positions, into `sums`.
    fn expand(&mut self, task: &Task<'_>, tuples: &[Tuples], [layer, n]: [usize; 2]) {
        let plan = task.plan;
        let Some(map) = &plan.layers[layer][n].expand else {
            return;
        };
        let (table, weights) = (&tuples[n - 1], &task.weights[layer][n]);
        self.expanded.reserve(table.rows * map.outputs);
        for rows in some_rows(table.rows) {
            let stride = plan.own_columns[n - 1];
            let copies = &mut self.copies[0];
            copy(&self.own[n - 1], stride, map, table, rows.clone(), copies);
            task.level.run(&RowMap {
                rows: rows.len(),
                in_parts: true,
                bias: None,
                expanded: None,
                sources: &[source(copies, map, &weights.expand)],
                y: self.expanded.view_mut(map.outputs).after(rows.start),
                outputs: map.outputs,
                activate: false,
            });
        }
        let features = weights.bias.len();
        self.sums.zeroed(tuples[n].rows * features);
        let sums = self.sums.as_mut_slice().chunks_exact_mut(features);
        for (row, sums) in sums.take(tuples[n].rows).enumerate() {
            for (k, without) in tuples[n].without.iter().enumerate() {
                let at = without[row] as usize * map.outputs + k * features;
                let from = &self.expanded.as_slice()[at..at + features];
                for (sum, from) in sums.iter_mut().zip(from) {
                    *sum += from;
                }
            }
        }
    }

    fn compose(&mut self, task: &Task<'_>, tuples: &[Tuples], [layer, n]: [usize; 2]) {
        let plan = task.plan;
        let (compose, weights) = (&plan.layers[layer][n], &task.weights[layer][n]);
        let (table, outputs) = (&tuples[n], weights.bias.len());
        self.expand(task, tuples, [layer, n]);
        self.pure[layer][n].reserve(table.rows * outputs);
        for rows in some_rows(table.rows) {
            let mut sources = Vec::with_capacity(2);
            let [own, red] = &mut self.copies;
            if let Some(map) = &compose.own {
                copy(
                    &self.own[n],
                    plan.own_columns[n],
                    map,
                    table,
                    rows.clone(),
                    own,
                );
                sources.push(source(own, map, &weights.own));
            }
            if let Some(map) = &compose.red {
                copy(
                    &self.red[n],
                    plan.red_columns[n],
                    map,
                    table,
                    rows.clone(),
                    red,
                );
                sources.push(source(red, map, &weights.red));
            }
            let y = match compose.column {
                Some(column) => self.own[n].view_mut(plan.own_columns[n]).from(column),
                None => self.pure[layer][n].view_mut(outputs),
            };
            let sums = (self.sums.as_slice(), &self.counted[rows.clone()]);
            task.level.run(&RowMap {
                rows: rows.len(),
                in_parts: true,
                bias: Some(&weights.bias),
                expanded: compose.expand.as_ref().map(|_| sums),
                sources: &sources,
                y: y.after(rows.start),
                outputs,
                activate: compose.column.is_some(),
            });
        }
        let Some(column) = compose.red_column else {
            return;
        };
        let targets = tuples[n - 1].rows;
        task.level.run(&ReduceRows {
            members: &table.members,
            per: table.members.len().checked_div(targets).unwrap_or(0),
            targets,
            x: output(plan, compose, &self.own[n], &self.pure[layer][n], n),
            rows: table.rows,
            features: plan.features,
            both: plan.quantifiers == 2,
            activate: compose.column.is_none(),
            red: self.red[n - 1]
                .view_mut(plan.red_columns[n - 1])
                .from(column),
        });
    }
}

/// The output of a compose operation.
fn output<'a>(
    plan: &Plan,
    compose: &ComposePlan,
    own: &'a Buffer,
    pure: &'a Buffer,
    n: usize,
) -> Rows<'a> {
    match compose.column {
        Some(column) => own.view(plan.own_columns[n]).from(column),
        None => pure.view(plan.features),
    }
}
