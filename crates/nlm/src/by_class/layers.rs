//! The forward pass. Here the layers over rows: all of arities 0 and 1, pairs from the second layer
//! on, and what pairs add to triples that are no function of their class.
//!
//! In the tree of `docs/nlm.md`: by class, values and gradients.

use super::Network;
use super::orbits::Orbits;
use super::sparse::Sparse;
use super::tables::{Reader, Tables};
use crate::by_tuple::sum;
use crate::classes::Classes;
use crate::index::Index;
use crate::inputs::Inputs;
use crate::kernels::buffer::Buffer;
use crate::kernels::orbit::SIX;
use crate::kernels::rows::{PairMap, ReduceRows, RowMap, Source};
use crate::kernels::view::Rows;
use crate::plan::{BLOCK, ComposePlan, MapPlan};
use crate::structure::Structure;
use std::ops::Range;

/// Some columns of a map, of rows that begin with column `first`.
pub(super) fn source<'a>(
    x: Rows<'a>,
    first: usize,
    map: &MapPlan,
    columns: Range<usize>,
    weights: &'a [f32],
) -> Source<'a> {
    let skipped = (columns.start - map.columns.start) * BLOCK;
    Source {
        x: x.from(columns.start - first),
        columns: columns.len(),
        weights: &weights[skipped..],
        width: map.columns.len(),
    }
}

/// All columns of a map.
pub(super) fn whole<'a>(x: Rows<'a>, map: &MapPlan, weights: &'a [f32]) -> Source<'a> {
    source(x, 0, map, map.columns.clone(), weights)
}

/// The structures at work: so many of those that the index has room for.
#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    pub(super) index: &'a Index,
    pub(super) count: usize,
}

impl Group<'_> {
    pub(super) fn rows(&self, n: usize) -> usize {
        self.count * self.index.rows(n)
    }
}

#[derive(Default)]
pub(super) struct Layers {
    /// Whether no output is kept for a backward pass.
    pub(super) values_only: bool,
    pub(super) inputs: Inputs,
    pub(super) classes: Classes,
    pub(super) orbits: Orbits,
    pub(super) sparse: Sparse,
    /// For values: the class of each orbit, unless pairs go with their neighbours.
    pub(super) orbit_classes: Vec<u32>,
    pub(super) tables: Tables,
    /// `[row][columns]`, pairs as sums and differences, without the columns that classes know.
    pub(super) own: [Buffer; 3],
    /// `[row][columns]`, pairs as sums and differences.
    pub(super) red: [Buffer; 3],
    /// `[layer][arity]`: what reduce reads of a layer's output, where that is not in `own`.
    outputs: Vec<[Buffer; 3]>,
    /// `[row of n - 1][n Q']`, of the compose operation at work.
    expanded: Buffer,
    /// What pairs contribute to triples that are no function of a class: `[row][3][Q']`.
    pub(super) pairs: Buffer,
    /// `[layer]`: extrema of triples, `[row][Q' for each quantifier]`.
    pub(super) best: Vec<Buffer>,
    /// See [`Classes::members`].
    pub(super) members: Vec<u32>,
}

impl Layers {
    /// Makes room for the tensors over rows.
    pub(super) fn reserve(&mut self, network: &Network<'_>, index: &Index) {
        let plan = network.plan;
        let layers = plan.layers.len().max(self.outputs.len());
        self.outputs.resize_with(layers, Default::default);
        self.best.resize_with(layers, Buffer::default);
        for n in 0..=plan.max_arity.min(2) {
            let rows = index.group_rows(n);
            self.own[n].reserve(rows * own_stride(network, n));
            self.red[n].reserve(rows * plan.red_columns[n]);
        }
    }

    /// Forgets all classes.
    pub(super) fn restart(&mut self) {
        self.classes.clear();
        self.tables.restart();
    }

    /// Runs the network on a group of structures.
    pub(super) fn forward(
        &mut self,
        network: &Network<'_>,
        index: &Index,
        structures: &[&Structure],
    ) {
        let count = structures.len();
        let group = Group { index, count };
        for (at, structure) in structures.iter().enumerate() {
            self.enter(network, index, at, structure);
        }
        if network.plan.max_arity == 3 && !self.values_only {
            let width = network.plan.features * SIX;
            self.orbits.find(&mut self.classes, index, width);
        }
        // Fills the tables, now that all classes of the group are found.
        self.classes.check();
        self.tables.fill(network, &self.classes);
        for (layer, composes) in network.plan.layers.iter().enumerate() {
            for n in 0..composes.len().min(3) {
                self.compose(network, group, [layer, n]);
            }
            if composes.len() > 3 {
                self.triples(network, group, layer);
            }
        }
    }

    /// Reads a structure, the `at`-th of a group: finds the classes of its pairs, and writes what
    /// is no function of them.
    fn enter(&mut self, network: &Network<'_>, index: &Index, at: usize, structure: &Structure) {
        let plan = network.plan;
        self.inputs.read(structure, index, plan);
        let (own, red) = (&mut self.own, &mut self.red);
        self.inputs.write(structure, plan, index, at, own, red);
        if plan.max_arity >= 2 {
            self.classes.find(&self.inputs, index, at);
        }
        if plan.max_arity == 3 {
            self.find_orbits(network, index, at);
        }
    }

    /// Which of `outputs` and of `best` a layer has.
    pub(super) fn output_of(&self, layer: usize) -> usize {
        if self.values_only { 0 } else { layer }
    }

    /// The values of the group, after the last layer. A row has [`BLOCK`] features of which one is
    /// real.
    pub(super) fn values(&self, network: &Network<'_>, index: &Index) -> impl Iterator<Item = f32> {
        let layers = &network.plan.layers;
        let outputs = &self.outputs[self.output_of(layers.len() - 1)];
        let summed = layers[layers.len() - 1].len() > 1;
        let per = index.rows(1);
        let rows = outputs[0].as_slice().chunks_exact(BLOCK).enumerate();
        rows.map(move |(at, row)| {
            if !summed {
                return row[0];
            }
            let unary = &outputs[1].as_slice()[at * per * BLOCK..(at + 1) * per * BLOCK];
            sum(row[0], unary.chunks_exact(BLOCK).map(|row| row[0]))
        })
    }

    /// The first layer's pairs, which are in the table: their reduction.
    fn reduce_known(&mut self, network: &Network<'_>, group: Group<'_>) {
        let plan = network.plan;
        self.classes.members(group.index, &mut self.members);
        let x = self.tables.output.view(plan.features);
        let rows = (2 * self.classes.pairs(), &self.members[..]);
        let compose = &plan.layers[0][2];
        reduce(network, group, 2, compose, x, rows, &mut self.red[1]);
    }

    /// What a compose operation takes from the arity below, up to arity 1.
    fn expand(&mut self, network: &Network<'_>, group: Group<'_>, map: &MapPlan, weights: &[f32]) {
        let n = map.arity;
        let rows = group.rows(n);
        self.expanded.reserve(rows * map.outputs);
        let own = self.own[n].view(own_stride(network, n));
        network.level.run(&RowMap {
            rows,
            in_parts: n == 0,
            bias: None,
            expanded: None,
            sources: &[whole(own, map, weights)],
            y: self.expanded.view_mut(map.outputs),
            outputs: map.outputs,
            activate: false,
        });
    }

    /// A compose operation up to arity 2 and its reduction.
    fn compose(&mut self, network: &Network<'_>, group: Group<'_>, [layer, n]: [usize; 2]) {
        if [layer, n] == [0, 2] {
            return self.reduce_known(network, group);
        }
        let plan = network.plan;
        let (compose, weights) = (&plan.layers[layer][n], &network.weights[layer][n]);
        let (rows, outputs) = (group.rows(n), weights.bias.len());
        if let Some(map) = &compose.expand {
            self.expand(network, group, map, &weights.expand);
        }
        let expanded = compose.expand.as_ref().map(|_| self.expanded.as_slice());
        let at = self.output_of(layer);
        self.outputs[at][n].reserve(rows * outputs);
        let output = self.outputs[at][n].view_mut(outputs);
        let own = self.own[n].view_mut(own_stride(network, n));
        let (mut starts, mut sources) = (None, [Source::NONE; 2]);
        if let Some(map) = &compose.own {
            if n == 2 {
                let by = (layer, Reader::Pairs);
                let tables = &self.tables;
                (starts, sources[0]) =
                    tables.start(network, &self.classes, by, own.read(), &weights.own);
            } else {
                sources[0] = whole(own.read(), map, &weights.own);
            }
        }
        if let Some(map) = &compose.red {
            let red = self.red[n].view(plan.red_columns[n]);
            sources[1] = whole(red, map, &weights.red);
        }
        if !self.values_only {
            // In this order gradients have always been added up: training repeats to the bit.
            sources.reverse();
        }
        let activate = compose.column.is_some();
        if n == 2 {
            let first = network.shape.known;
            network.level.run(&PairMap {
                pairs: rows / 2,
                bias: Some(&weights.bias),
                starts,
                expanded: expanded.map(|expanded| (expanded, group.index.ends())),
                sources: &sources,
                outputs,
                activate,
                y: output,
                sums: compose.column.map(|column| own.from(column - first)),
            });
        } else {
            network.level.run(&RowMap {
                rows,
                in_parts: n == 0,
                bias: Some(&weights.bias),
                expanded: expanded.map(|expanded| (expanded, group.index.owners())),
                sources: &sources,
                y: compose.column.map_or(output, |column| own.from(column)),
                outputs,
                activate,
            });
        }
        if compose.red_column.is_some() {
            let x = match compose.column {
                Some(column) if n < 2 => own.from(column),
                _ => output,
            };
            let rows = (rows, group.index.members(n));
            let red = &mut self.red[n - 1];
            reduce(network, group, n, compose, x.read(), rows, red);
        }
    }

    /// What reduce reads of the output of a compose operation up to arity 2: rows, or, of the first
    /// layer's pairs, a table over classes.
    pub(super) fn output(&self, network: &Network<'_>, [layer, n]: [usize; 2]) -> Rows<'_> {
        let outputs = network.weights[layer][n].bias.len();
        match network.plan.layers[layer][n].column {
            _ if [layer, n] == [0, 2] => self.tables.output.view(outputs),
            Some(column) if n < 2 => self.own[n].view(own_stride(network, n)).from(column),
            _ => self.outputs[self.output_of(layer)][n].view(outputs),
        }
    }

    /// How many rows that is, and which of them reduce takes together.
    pub(super) fn reduced<'a>(
        &'a self,
        index: &'a Index,
        [layer, n]: [usize; 2],
    ) -> (usize, &'a [u32]) {
        if [layer, n] == [0, 2] {
            return (2 * self.classes.pairs(), &self.members);
        }
        (index.group_rows(n), index.members(n))
    }

    /// What pairs contribute to the triples of a layer, where these are no function of the class.
    pub(super) fn expand_pairs(&mut self, network: &Network<'_>, group: Group<'_>, layer: usize) {
        let weights = &network.weights[layer][3];
        let outputs = weights.expand_bias.len();
        let rows = group.rows(2);
        self.pairs.reserve(rows * outputs);
        let own = self.own[2].view(own_stride(network, 2));
        let by = (layer, Reader::Triples);
        let tables = &self.tables;
        let (starts, others) = tables.start(network, &self.classes, by, own, &weights.expand);
        network.level.run(&PairMap {
            pairs: rows / 2,
            bias: Some(&weights.expand_bias),
            starts,
            expanded: None,
            sources: &[others],
            outputs,
            activate: false,
            y: self.pairs.view_mut(outputs),
            sums: None,
        });
    }
}

/// f32 from one row of `own[n]` to the next.
pub(super) fn own_stride(network: &Network<'_>, n: usize) -> usize {
    let columns = network.plan.own_columns[n];
    if n == 2 {
        columns - network.shape.known
    } else {
        columns
    }
}

/// Reduces an output into the arity below: of so many rows, these members.
fn reduce(
    network: &Network<'_>,
    group: Group<'_>,
    n: usize,
    compose: &ComposePlan,
    x: Rows<'_>,
    (rows, members): (usize, &[u32]),
    red: &mut Buffer,
) {
    let plan = network.plan;
    let column = compose.red_column.expect("an output that is reduced");
    network.level.run(&ReduceRows {
        members,
        per: group.index.per_target(n),
        targets: group.rows(n - 1),
        x,
        rows,
        features: plan.features,
        both: plan.quantifiers == 2,
        activate: compose.column.is_none(),
        red: red.view_mut(plan.red_columns[n - 1]).from(column),
    });
}
