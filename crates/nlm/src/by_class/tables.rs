//! Tables over types of objects, classes of pairs and classes of orbits.
//!
//! A pair of the first layer is a function of its class, and so is what it adds to the triples of
//! the first two layers, and its part in every later map that reads pairs. A triple of the first
//! layer reads its ternary propositions and the pairs of its orbit and nothing else; one of the
//! second reads triples and pairs of the first. So the triples of these layers, and whatever later
//! layers compute from them by a linear map, are functions of the class of their orbit.
//!
//! The tables depend on the weights alone. An entry is computed by the same operations whatever was
//! there before it.
//!
//! In the tree of `docs/nlm.md`: by class, values and gradients; what finite layers are.

use super::Network;
use super::layers::{source, whole};
use super::shape::Triples;
use crate::classes::{Classes, parts};
use crate::inputs::{bit, write, write_sums};
use crate::kernels::buffer::Buffer;
use crate::kernels::classes::{ClassCompose, Coefficients};
use crate::kernels::orbit::{RHO, SIGN, SIX, Table};
use crate::kernels::rows::{PairMap, RowMap, Source, Starts};
use crate::kernels::view::{Rows, RowsMut};
use crate::plan::{BLOCK, MapPlan};

/// Which operation of a layer reads pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Pairs,
    Triples,
}

/// A class of pairs has two rows, as a pair has.
#[derive(Default)]
pub(super) struct Tables {
    /// Whether triples that are a function of their class are activated, also where nothing but
    /// reduce reads them: a class is activated once, rows are in every structure. Where it is not
    /// so, reduce reads pre-activations, which tie less often, for the backward pass.
    pub(super) activated: bool,
    /// `[type][unary channels]`, and `[type][2][Q']`, what objects contribute to pairs of the first
    /// layer; and how many types there are.
    pub(super) types: Buffer,
    expanded_types: Buffer,
    type_count: usize,
    /// The types of the objects of each class of pairs.
    pub(super) ends: Vec<[u32; 2]>,
    /// `[row][known columns]`, `[row][reduced ternary propositions]`: sums and differences.
    pub(super) own: Buffer,
    pub(super) red: Buffer,
    /// `[row][Q']`: the first layer's pairs.
    pub(super) output: Buffer,
    /// `[layer]`, `[row][3][Q']`: what pairs contribute to triples that are a function of a class.
    parts: Vec<Buffer>,
    /// `[layer][reader]`, `[row][outputs]`: what known columns contribute to a map, u and v.
    starts: Vec<[Buffer; 2]>,
    /// The classes of the pairs of each class of orbits.
    pub(super) members: Vec<[u32; 3]>,
    /// `[class][column block][6][8]`: coefficients of the input and of the triples that are kept.
    pub(super) coefficients: Buffer,
    /// `[layer]`, `[class][feature block][6][8]`: values of the triples, or what is added to them;
    /// behind all classes NaN, for triples that do not count.
    pub(super) slots: Vec<Buffer>,
}

/// The map of a layer that reads pairs which are in rows, if there is one.
fn reader<'a>(network: &Network<'a>, (layer, by): (usize, Reader)) -> Option<&'a MapPlan> {
    let composes = &network.plan.layers[layer];
    match by {
        Reader::Pairs => composes.get(2).filter(|_| layer > 0)?.own.as_ref(),
        Reader::Triples => {
            let with_pairs = network.shape.triples[layer] == Some(Triples::WithPairs);
            composes.get(3).filter(|_| with_pairs)?.expand.as_ref()
        }
    }
}

/// One map over new rows of pairs, without a sigmoid.
fn map_pairs(
    network: &Network<'_>,
    rows: usize,
    bias: Option<&[f32]>,
    source: Source<'_>,
    y: RowsMut<'_>,
    outputs: usize,
) {
    network.level.run(&PairMap {
        pairs: rows / 2,
        bias,
        starts: None,
        expanded: None,
        sources: &[source],
        outputs,
        activate: false,
        y,
        sums: None,
    });
}

impl Tables {
    /// Forgets all classes.
    pub(super) fn restart(&mut self) {
        self.type_count = 0;
        self.ends.clear();
        self.members.clear();
    }

    /// What is known of a layer's triples: their values, or what is added to what pairs contribute.
    pub(super) fn table(&self, layer: usize) -> Table<'_> {
        Table {
            slots: self.slots[layer].as_slice(),
            classes: self.members.len(),
        }
    }

    /// What a layer reads of pairs: from the table where classes know it, from `own` otherwise.
    pub(super) fn start<'a>(
        &'a self,
        network: &Network<'_>,
        classes: &'a Classes,
        by: (usize, Reader),
        own: Rows<'a>,
        weights: &'a [f32],
    ) -> (Option<Starts<'a>>, Source<'a>) {
        let map = reader(network, by).expect("a map that reads pairs");
        let [known, others] = network.shape.split(map);
        let starts = (!known.is_empty()).then(|| Starts {
            classes: &classes.of_pairs,
            table: self.starts[by.0][by.1 as usize].view(2 * map.outputs),
            count: self.ends.len(),
        });
        let mut rest = Source::NONE;
        if !others.is_empty() {
            rest = source(own, network.shape.known, map, others, weights);
        }
        (starts, rest)
    }

    /// Fills in what is missing.
    pub(super) fn fill(&mut self, network: &Network<'_>, classes: &Classes) {
        let layers = network.plan.layers.len();
        self.parts.resize_with(layers, Buffer::default);
        self.starts.resize_with(layers, Default::default);
        self.slots.resize_with(layers, Buffer::default);
        self.fill_types(network, classes);
        self.fill_pairs(network, classes);
        self.fill_orbits(network, classes);
    }

    /// What objects of new types contribute to pairs.
    fn fill_types(&mut self, network: &Network<'_>, classes: &Classes) {
        let pairs = network.plan.layers[0].get(2);
        let Some(map) = pairs.and_then(|compose| compose.expand.as_ref()) else {
            return;
        };
        let channels = network.plan.inputs(1);
        let (done, all) = (self.type_count, classes.types().len());
        if done == all {
            return;
        }
        self.type_count = all;
        self.types.extend(done * channels, all * channels);
        let new = &mut self.types.as_mut_slice()[done * channels..];
        for (row, &bits) in new.chunks_exact_mut(channels).zip(&classes.types()[done..]) {
            write(row, bits);
        }
        self.expanded_types
            .extend(done * map.outputs, all * map.outputs);
        let types = self.types.view(channels).after(done);
        network.level.run(&RowMap {
            rows: all - done,
            in_parts: false,
            bias: None,
            expanded: None,
            sources: &[whole(types, map, &network.weights[0][2].expand)],
            y: self.expanded_types.view_mut(map.outputs).after(done),
            outputs: map.outputs,
            activate: false,
        });
    }

    fn fill_pairs(&mut self, network: &Network<'_>, classes: &Classes) {
        let (plan, known) = (network.plan, network.shape.known);
        let (done, all) = (2 * self.ends.len(), 2 * classes.pairs());
        if done == all {
            return;
        }
        let new = (done / 2..all / 2).map(|class| class as u32);
        self.ends.extend(new.clone().map(|class| {
            let [a, b, _] = classes.pair(class);
            [a, b]
        }));
        let reduced = plan.inputs(3) * plan.quantifiers;
        self.own.extend(done * known, all * known);
        self.red.extend(done * reduced, all * reduced);
        let channels = plan.inputs(2);
        for class in new {
            let (sides, row) = (classes.sides(class), 2 * class as usize);
            let own = &mut self.own.as_mut_slice()[row * known..(row + 2) * known];
            let (sums, differences) = own.split_at_mut(known);
            write_sums(&mut sums[..channels], differences, sides);
            if reduced > 0 {
                let red = &mut self.red.as_mut_slice()[row * reduced..(row + 2) * reduced];
                let (sums, differences) = red.split_at_mut(reduced);
                write_sums(sums, differences, sides.map(|side| side >> channels));
            }
        }
        if plan.layers[0].len() > 2 {
            self.first_layer(network, done);
        }
        let own = self.own.view(known).after(done);
        for layer in 0..plan.layers.len() {
            let weights = &network.weights[layer];
            if network.shape.triples[layer] == Some(Triples::ByClass) {
                let weights = &weights[3];
                let outputs = weights.expand_bias.len();
                let map = plan.layers[layer][3].expand.as_ref();
                let from = map.map_or(Source::NONE, |map| whole(own, map, &weights.expand));
                let parts = &mut self.parts[layer];
                parts.extend(done * outputs, all * outputs);
                let to = parts.view_mut(outputs).after(done);
                let bias = Some(&weights.expand_bias[..]);
                map_pairs(network, all - done, bias, from, to, outputs);
            }
            for by in [Reader::Pairs, Reader::Triples] {
                let Some(map) = reader(network, (layer, by)) else {
                    continue;
                };
                let [columns, _] = network.shape.split(map);
                if columns.is_empty() {
                    continue;
                }
                let of = match by {
                    Reader::Pairs => &weights[2].own,
                    Reader::Triples => &weights[3].expand,
                };
                let (outputs, starts) = (map.outputs, &mut self.starts[layer][by as usize]);
                starts.extend(done * outputs, all * outputs);
                let to = starts.view_mut(outputs).after(done);
                let from = source(own, 0, map, columns, of);
                map_pairs(network, all - done, None, from, to, outputs);
                to_halves(
                    &mut starts.as_mut_slice()[done * outputs..all * outputs],
                    outputs,
                );
            }
        }
    }

    /// The first layer's pairs, of the rows from `done` on.
    fn first_layer(&mut self, network: &Network<'_>, done: usize) {
        let (plan, known) = (network.plan, network.shape.known);
        let (compose, weights) = (&plan.layers[0][2], &network.weights[0][2]);
        let all = 2 * self.ends.len();
        self.output
            .extend(done * plan.features, all * plan.features);
        let own = self.own.view_mut(known).after(done);
        let mut sources = [Source::NONE; 2];
        if let Some(map) = &compose.own {
            sources[0] = whole(own.read(), map, &weights.own);
        }
        if let Some(map) = &compose.red {
            let red = self.red.view(plan.inputs(3) * plan.quantifiers);
            sources[1] = whole(red.after(done), map, &weights.red);
        }
        let expanded = (self.expanded_types.as_slice(), &self.ends[done / 2..]);
        network.level.run(&PairMap {
            pairs: (all - done) / 2,
            bias: Some(&weights.bias),
            starts: None,
            expanded: compose.expand.as_ref().map(|_| expanded),
            sources: &sources,
            outputs: plan.features,
            activate: compose.column.is_some(),
            y: self.output.view_mut(plan.features).after(done),
            sums: compose.column.map(|column| own.from(column)),
        });
    }

    /// Values and coefficients of the triples of new classes of orbits, and what later layers read
    /// of these.
    fn fill_orbits(&mut self, network: &Network<'_>, classes: &Classes) {
        let plan = network.plan;
        let (done, all) = (self.members.len(), classes.orbits.len());
        if done == all {
            return;
        }
        let new = &classes.orbits.keys()[done..];
        self.members.extend(new.iter().map(|&key| parts(key)));
        let (width, stride) = (plan.features * SIX, plan.own_columns[3] * SIX);
        self.coefficients.extend(done * stride, all * stride);
        if plan.inputs(3) > 0 {
            for (class, [first, ..]) in self.members.iter().enumerate().skip(done) {
                let to = &mut self.coefficients.as_mut_slice()[class * stride..][..stride];
                let inputs = &mut to[..plan.input_columns(3) * SIX];
                write_coefficients(inputs, classes.ternary(*first), plan.inputs(3));
            }
        }
        for (layer, kind) in network.shape.triples.iter().enumerate() {
            let Some(kind) = kind else { continue };
            let (compose, weights) = (&plan.layers[layer][3], &network.weights[layer][3]);
            let by_class = *kind == Triples::ByClass;
            let parts = (
                self.parts[layer].view(2 * weights.expand_bias.len()),
                self.ends.len(),
            );
            let own = self.coefficients.view_mut(stride).after(done);
            self.slots[layer].extend(done * width, (all + 1) * width);
            self.slots[layer].as_mut_slice()[all * width..][..width].fill(f32::NAN);
            network.level.run(&ClassCompose {
                classes: &self.members[done..],
                pairs: by_class.then_some(parts),
                from: compose.own.as_ref().map(|map| Coefficients {
                    of: own.read().from(map.columns.start * SIX),
                    columns: map.columns.len(),
                    weights: &weights.own,
                    width: map.columns.len(),
                }),
                features: plan.features,
                slots: self.slots[layer].view_mut(width).after(done),
                activate: by_class && (self.activated || compose.column.is_some()),
                output: compose.column.map(|column| own.from(column * SIX)),
            });
        }
    }
}

/// From u + v and u - v, rows of so many outputs, back to u and v.
fn to_halves(rows: &mut [f32], outputs: usize) {
    for pair in rows.chunks_exact_mut(2 * outputs) {
        let (ab, ba) = pair.split_at_mut(outputs);
        for (u, v) in ab.iter_mut().zip(ba) {
            (*u, *v) = (0.5 * (*u + *v), 0.5 * (*u - *v));
        }
    }
}

/// The coefficients of so many channels, given what holds of each order.
fn write_coefficients(to: &mut [f32], six: [u64; SIX], channels: usize) {
    to.fill(0.0);
    for (s, bits) in six.into_iter().enumerate().filter(|(_, bits)| *bits != 0) {
        let [r11, r12, r21, r22] = RHO[s];
        let of_order = [1.0, SIGN[s], r11, r12, r21, r22];
        for channel in 0..channels {
            let at = channel / BLOCK * SIX * BLOCK + channel % BLOCK;
            for (k, c) in of_order.into_iter().enumerate() {
                to[at + k * BLOCK] += c * bit(bits, channel);
            }
        }
    }
}
