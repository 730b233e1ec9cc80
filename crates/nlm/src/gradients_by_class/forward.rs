//! The forward pass, keeping what the backward pass reads.

use super::{Batch, GradientsByClass, OfClasses, split};
use crate::index::Index;
use crate::inputs::{write, write_sums};
use crate::kernels::buffer::Buffer;
use crate::kernels::rows::{PairMap, ReduceRows, RowMap, Source, Starts};
use crate::kernels::view::Rows;
use crate::plan::{BLOCK, ComposePlan, MapPlan};
use crate::prepared::{ComposeWeights, MapWeights};
use crate::values_by_class::to_halves;
use std::ops::Range;

/// Some columns of a map, of rows that begin with column `first`.
pub(super) fn source<'a>(
    x: Rows<'a>,
    first: usize,
    map: &MapPlan,
    columns: Range<usize>,
    weights: &'a MapWeights,
) -> Source<'a> {
    let skipped = (columns.start - map.columns.start) * BLOCK;
    Source {
        x: x.from(columns.start - first),
        columns: columns.len(),
        weights: &weights.rows[skipped.min(weights.rows.len())..],
        width: map.columns.len(),
    }
}

impl GradientsByClass {
    pub(super) fn forward(&mut self, batch: &Batch<'_>, index: &Index) {
        let plan = batch.plan;
        self.reserve(batch, index);
        self.find_classes(batch, index);
        if plan.max_arity >= 2 {
            self.first_pairs(batch);
        }
        for (layer, composes) in plan.layers.iter().enumerate() {
            for (n, compose) in composes.iter().enumerate() {
                match (layer, n) {
                    (_, 3) => self.triples(batch, index, layer),
                    (0, 2) => {
                        let x = self.of_classes.output.view(plan.features);
                        let rows = (2 * self.classes.pairs(), &self.members[..]);
                        reduce(batch, index, 2, compose, x, rows, &mut self.red[1]);
                    }
                    _ => self.compose(batch, index, [layer, n], compose),
                }
            }
        }
    }

    /// Finds the classes of a group, and writes what is no function of them: the propositions of
    /// arity 0 and 1 and all reductions.
    fn find_classes(&mut self, batch: &Batch<'_>, index: &Index) {
        let plan = batch.plan;
        self.classes.clear();
        self.orbits.clear();
        for (at, structure) in batch.structures.iter().enumerate() {
            self.inputs.read(structure, index, true);
            let (own, red) = (&mut self.own, &mut self.red);
            self.inputs.write(structure, plan, index, at, own, red);
            if plan.max_arity >= 2 {
                self.classes.find(&self.inputs, index, at);
            }
        }
        if plan.max_arity == 3 {
            let width = plan.features * crate::kernels::orbit::SIX;
            self.orbits.find(&mut self.classes, index, width);
        }
        self.ends.clear();
        let all = (0..self.classes.pairs() as u32).map(|class| self.classes.pair(class));
        self.ends.extend(all.map(|[a, b, _]| [a, b]));
        if plan.max_arity >= 2 {
            self.classes.members(index, 2, &mut self.members);
        }
    }

    /// Makes room for the tensors over rows.
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
        for class in 0..classes {
            let rows = &mut own.as_mut_slice()[2 * class * known..2 * (class + 1) * known];
            let (sums, differences) = rows.split_at_mut(known);
            let sides = self.classes.sides(class as u32);
            write_sums(&mut sums[..plan.inputs(2)], differences, sides);
        }
        let Some(compose) = plan.layers[0].get(2) else {
            return;
        };
        let weights = &batch.weights[0][2];
        if let Some(map) = &compose.expand {
            let (channels, all) = (plan.inputs(1), self.classes.types());
            types.reserve(all.len() * channels);
            for (row, &bits) in types.as_mut_slice().chunks_exact_mut(channels).zip(all) {
                write(row, bits);
            }
            expanded_types.reserve(all.len() * map.outputs);
            let columns = map.columns.clone();
            let types = types.view(channels);
            batch.level.run(&RowMap {
                rows: all.len(),
                in_parts: false,
                bias: None,
                expanded: None,
                sources: &[source(types, 0, map, columns, &weights.expand)],
                y: expanded_types.view_mut(map.outputs),
                outputs: map.outputs,
                activate: false,
            });
        }
        output.reserve(classes * 2 * plan.features);
        let own = own.view_mut(known);
        let sources: Vec<Source<'_>> = compose
            .own
            .iter()
            .map(|map| source(own.read(), 0, map, map.columns.clone(), &weights.own))
            .collect();
        let expanded = (expanded_types.as_slice(), &self.ends[..]);
        batch.level.run(&PairMap {
            pairs: classes,
            bias: Some(&weights.bias),
            starts: None,
            expanded: compose.expand.as_ref().map(|_| expanded),
            sources: &sources,
            outputs: plan.features,
            activate: compose.column.is_some(),
            y: output.view_mut(plan.features),
            sums: compose.column.map(|column| own.from(column)),
        });
    }

    /// What a compose operation takes from the arity below, up to arity 1.
    fn expand(
        &mut self,
        batch: &Batch<'_>,
        index: &Index,
        map: &MapPlan,
        weights: &ComposeWeights,
    ) {
        let n = map.arity;
        let rows = index.group_rows(n);
        self.expanded.reserve(rows * map.outputs);
        let own = self.own[n].view(own_stride(batch, n));
        batch.level.run(&RowMap {
            rows,
            in_parts: n == 0,
            bias: None,
            expanded: None,
            sources: &[source(own, 0, map, map.columns.clone(), &weights.expand)],
            y: self.expanded.view_mut(map.outputs),
            outputs: map.outputs,
            activate: false,
        });
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
        if let Some(map) = &compose.expand {
            self.expand(batch, index, map, weights);
        }
        let expanded = compose.expand.as_ref().map(|_| self.expanded.as_slice());
        let mut sources = Vec::with_capacity(2);
        if let Some(map) = &compose.red {
            let red = self.red[n].view(plan.red_columns[n]);
            sources.push(source(red, 0, map, map.columns.clone(), &weights.red));
        }
        let own = self.own[n].view_mut(own_stride(batch, n));
        let output = &mut self.outputs[layer][n];
        output.reserve(rows * outputs);
        let output = output.view_mut(outputs);
        let activate = compose.column.is_some();
        if n == 2 {
            let (first, classes) = (batch.shape.known, &self.classes);
            let mut starts = None;
            if let Some(map) = &compose.own {
                let [known, others] = split(map, batch.shape);
                let of = (&classes.of_pairs[..], classes.pairs());
                starts = self.of_classes.start(batch, of, map, known, &weights.own);
                if !others.is_empty() {
                    sources.push(source(own.read(), first, map, others, &weights.own));
                }
            }
            batch.level.run(&PairMap {
                pairs: rows / 2,
                bias: Some(&weights.bias),
                starts,
                expanded: expanded.map(|expanded| (expanded, index.ends())),
                sources: &sources,
                outputs,
                activate,
                y: output,
                sums: compose.column.map(|column| own.from(column - first)),
            });
        } else {
            if let Some(map) = &compose.own {
                let columns = map.columns.clone();
                sources.push(source(own.read(), 0, map, columns, &weights.own));
            }
            batch.level.run(&RowMap {
                rows,
                in_parts: n == 0,
                bias: Some(&weights.bias),
                expanded: expanded.map(|expanded| (expanded, index.owners())),
                sources: &sources,
                y: compose.column.map_or(output, |column| own.from(column)),
                outputs,
                activate,
            });
        }
        if n > 0 {
            let x = match compose.column {
                Some(column) if n < 2 => own.from(column),
                _ => output,
            };
            let rows = (rows, index.members(n));
            reduce(
                batch,
                index,
                n,
                compose,
                x.read(),
                rows,
                &mut self.red[n - 1],
            );
        }
    }

    /// What reduce reads of the output of a compose operation over rows.
    pub(super) fn reduced_output(
        &self,
        batch: &Batch<'_>,
        layer: usize,
        n: usize,
        compose: &ComposePlan,
    ) -> Rows<'_> {
        match compose.column {
            Some(column) if n < 2 => self.own[n].view(own_stride(batch, n)).from(column),
            _ => self.outputs[layer][n].view(batch.weights[layer][n].bias.len()),
        }
    }
}

impl OfClasses {
    /// What the known columns of a map over pairs contribute, for each class of pairs; and the
    /// class of each pair.
    pub(super) fn start<'a>(
        &'a mut self,
        batch: &Batch<'_>,
        (of_pairs, classes): (&'a [u32], usize),
        map: &MapPlan,
        known: Range<usize>,
        weights: &MapWeights,
    ) -> Option<Starts<'a>> {
        if known.is_empty() {
            return None;
        }
        let outputs = map.outputs;
        self.starts.reserve(classes * 2 * outputs);
        let own = self.own.view(batch.shape.known);
        batch.level.run(&PairMap {
            pairs: classes,
            bias: None,
            starts: None,
            expanded: None,
            sources: &[source(own, 0, map, known, weights)],
            outputs,
            activate: false,
            y: self.starts.view_mut(outputs),
            sums: None,
        });
        to_halves(
            &mut self.starts.as_mut_slice()[..classes * 2 * outputs],
            outputs,
        );
        Some(Starts {
            classes: of_pairs,
            table: self.starts.view(2 * outputs),
            count: classes,
        })
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

/// Reduces an output into the arity below: of so many rows, these members.
fn reduce(
    batch: &Batch<'_>,
    index: &Index,
    n: usize,
    compose: &ComposePlan,
    x: Rows<'_>,
    (rows, members): (usize, &[u32]),
    red: &mut Buffer,
) {
    let plan = batch.plan;
    let column = compose.red_column.expect("above arity 0");
    batch.level.run(&ReduceRows {
        members,
        per: index.per_target(n),
        targets: index.group_rows(n - 1),
        x,
        rows,
        features: plan.features,
        both: plan.quantifiers == 2,
        activate: compose.column.is_none(),
        red: red.view_mut(plan.red_columns[n - 1]).from(column),
    });
}
