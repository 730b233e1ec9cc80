//! Triples of a group: their reduction, tuple by tuple or by neighbours, and backward.
//!
//! In the tree of `docs/nlm.md`: by class, where values and gradients part: look-ups or neighbours
//! for the one, tuple by tuple for the other.

use super::backward::find_active;
use super::layers::{Group, Layers};
use super::shape::Triples;
use super::weights::add_orbit;
use super::{GradientsByClass, Network};
use crate::classes::{Classes, key};
use crate::index::Index;
use crate::inputs::Inputs;
use crate::kernels::classes::{ClassInputGradient, ClassToPre, ClassWeightGradient};
use crate::kernels::look_up::LookUp;
use crate::kernels::orbit::SIX;
use crate::kernels::rows::EndRows;
use crate::kernels::rows_gradient::{FromSums, PairsToPre};
use crate::kernels::thirds::{Thirds, ThirdsGradient, To};

fn kind(network: &Network<'_>, layer: usize) -> Triples {
    network.shape.triples[layer].expect("the layer has triples")
}

impl Layers {
    /// Finds the classes of the orbits of a structure, the `at`-th at work, or the neighbours of
    /// its pairs. Gradients have what they need once all pairs of the group have classes.
    pub(super) fn find_orbits(&mut self, network: &Network<'_>, index: &Index, at: usize) {
        if !self.values_only {
            return self.orbits.mark(&self.inputs);
        }
        let classes = &mut self.classes;
        // Where there are objects enough a structure is alone in its group.
        let alone = index.group() == 1 || self.sparse.always;
        let may = alone && network.plan.inputs(3) == 0;
        self.sparse.at_work = may && self.sparse.suits(classes, index);
        if self.sparse.at_work {
            self.sparse.list(classes, index);
        } else {
            of_orbits(classes, &self.inputs, index, at, &mut self.orbit_classes);
        }
    }

    /// Does something with the tuples of a layer's triples.
    fn thirds(&self, network: &Network<'_>, group: Group<'_>, layer: usize, to: To<'_>) {
        let (index, with_pairs) = (group.index, kind(network, layer) == Triples::WithPairs);
        let mut table = self.tables.table(layer);
        // With the row that is behind those of classes.
        table.classes += 1;
        network.level.run(&Thirds {
            structures: group.count,
            objects: index.objects(),
            distinct: index.distinct(),
            rows: index.rows(2),
            row_of: index.row_of(),
            places: &self.orbits.places,
            table,
            expanded: with_pairs.then(|| self.pairs.as_slice()),
            features: network.plan.features,
            both: network.plan.quantifiers == 2,
            to,
        });
    }

    /// Compose at arity 3 and its reduction.
    pub(super) fn triples(&mut self, network: &Network<'_>, group: Group<'_>, layer: usize) {
        let plan = network.plan;
        let (compose, index) = (&plan.layers[layer][3], group.index);
        let rows = group.rows(2);
        let columns = plan.features * plan.quantifiers;
        let (at, by_class) = (
            self.output_of(layer),
            kind(network, layer) == Triples::ByClass,
        );
        let mut best = std::mem::take(&mut self.best[at]);
        best.reserve(rows * columns);
        if index.has_triples() {
            if !by_class {
                self.expand_pairs(network, group, layer);
            }
            let to = best.view_mut(columns);
            if self.sparse.at_work {
                let (table, pairs) = (self.tables.table(layer), self.pairs.as_slice());
                let pairs = (!by_class).then_some(pairs);
                self.sparse.near(network, index, table, pairs, to);
            } else if self.values_only {
                let (rows, orbits) = (index.rows(2), index.orbits());
                for at in 0..group.count {
                    let pairs = at * rows * 3 * plan.features;
                    network.level.run(&LookUp {
                        index,
                        classes: &self.orbit_classes[at * orbits..(at + 1) * orbits],
                        table: self.tables.table(layer),
                        expanded: (!by_class).then(|| &self.pairs.as_slice()[pairs..]),
                        features: plan.features,
                        both: plan.quantifiers == 2,
                        best: to.after(at * rows),
                    });
                }
            } else {
                self.thirds(network, group, layer, To::Best(to));
            }
        }
        let column = compose.red_column.expect("triples are reduced");
        network.level.run(&EndRows {
            pairs: rows / 2,
            empty: !index.has_triples(),
            activate: compose.column.is_none() && !(by_class && self.tables.activated),
            features: plan.features,
            columns,
            best: best.view(columns),
            red: self.red[2].view_mut(plan.red_columns[2]).from(column),
        });
        self.best[at] = best;
    }
}

/// The class of every orbit of the `at`-th structure, in the order of the kernels.
fn of_orbits(classes: &mut Classes, inputs: &Inputs, index: &Index, at: usize, to: &mut Vec<u32>) {
    let (n, orbits) = (index.objects(), index.orbits());
    to.resize((at + 1) * orbits, 0);
    let to = &mut to[at * orbits..];
    let own = std::mem::take(&mut classes.of_pairs);
    let of = &own[at * index.rows(2) / 2..];
    let mut next = 0;
    for x in 0..n {
        for y in index.after(x)..n {
            let first = index.after(y);
            let len = n.saturating_sub(first);
            if len == 0 {
                continue;
            }
            let xy = of[index.pair(x, y)];
            let (xz, yz) = (index.pair(x, first), index.pair(y, first));
            let (xz, yz) = (&of[xz..xz + len], &of[yz..yz + len]);
            let keys = xz.iter().zip(yz).map(|(&xz, &yz)| key([xy, xz, yz]));
            classes.orbits.numbers(keys, &mut to[next..next + len]);
            next += len;
        }
    }
    classes.of_pairs = own;
    for triple in inputs.triples() {
        let key = classes.marked(index, at, triple);
        to[index.orbit(triple.0)] = classes.orbits.number(key);
    }
}

impl GradientsByClass {
    /// Backward through compose at arity 3 and its reduction.
    pub(super) fn triples_gradient(
        &mut self,
        network: &Network<'_>,
        index: &Index,
        layer: usize,
        gradient: &mut [f32],
    ) {
        if !index.has_triples() {
            return;
        }
        let compose = &network.plan.layers[layer][3];
        let kind = kind(network, layer);
        let width = 3 * network.plan.features;
        self.share(network, index, layer);
        // What the tuples gave to a class of pairs, or to a pair, follows from what they gave to
        // `d_expanded`.
        let pairs = match kind {
            Triples::ByClass => self.layers.classes.pairs(),
            Triples::WithPairs => index.group_rows(2) / 2,
        };
        self.classes_gradient(network, layer, gradient);
        self.d_bias.zeroed(width);
        let mut d_expanded = std::mem::take(&mut self.d_expanded);
        network.level.run(&PairsToPre {
            pairs,
            y: None,
            features: width,
            d: d_expanded.view_mut(width),
            d_expanded: None,
            d_bias: self.d_bias.view_mut(0),
        });
        // The bias is in what pairs without position 0 contribute.
        self.add_bias(compose, gradient);
        if let Some(map) = &compose.expand {
            let transposed = &network.transposed[layer][3].expand;
            let dy = d_expanded.view(width);
            match kind {
                Triples::ByClass => {
                    self.known_gradient(
                        network,
                        map,
                        map.columns.clone(),
                        transposed,
                        dy,
                        gradient,
                    );
                }
                Triples::WithPairs => {
                    let mut active = std::mem::take(&mut self.active);
                    let d = &d_expanded.as_slice()[..pairs * 2 * width];
                    find_active(d, 2 * width, &mut active);
                    self.pair_map_gradient(network, map, transposed, &active, dy, gradient);
                    self.active = active;
                }
            }
        }
        self.d_expanded = d_expanded;
    }

    /// From the gradients of reductions to those of classes, and, where pairs contribute, of these.
    fn share(&mut self, network: &Network<'_>, index: &Index, layer: usize) {
        let plan = network.plan;
        let compose = &plan.layers[layer][3];
        let rows = index.group_rows(2);
        let columns = plan.features * plan.quantifiers;
        let column = compose.red_column.expect("triples are reduced");
        self.d_best.reserve(rows * columns);
        let red = self.layers.red[2].view(plan.red_columns[2]).from(column);
        network.level.run(&FromSums {
            pairs: rows / 2,
            columns,
            sums: compose.column.is_none().then_some(red),
            d_sums: self.d_red[2].view(plan.red_columns[2]).from(column),
            d: self.d_best.view_mut(columns),
        });
        let width = plan.features * SIX;
        let mut d_slots = std::mem::take(&mut self.d_slots);
        d_slots.zeroed((self.layers.classes.orbits.len() + 1) * width);
        let expanded = match kind(network, layer) {
            Triples::WithPairs => rows,
            Triples::ByClass => 2 * self.layers.classes.pairs(),
        };
        let mut d_expanded = std::mem::take(&mut self.d_expanded);
        d_expanded.zeroed(expanded * 3 * plan.features);
        let count = index.group();
        let group = Group { index, count };
        let to = To::Gradient(ThirdsGradient {
            best: self.layers.best[layer].view(columns),
            d_best: self.d_best.view(columns),
            d_table: d_slots.view_mut(width),
            d_expanded: d_expanded.view_mut(3 * plan.features),
        });
        self.layers.thirds(network, group, layer, to);
        (self.d_slots, self.d_expanded) = (d_slots, d_expanded);
    }

    /// From the gradients of slots to the weights, to the triples a layer reads, and to what
    /// classes of pairs contribute.
    fn classes_gradient(&mut self, network: &Network<'_>, layer: usize, gradient: &mut [f32]) {
        let plan = network.plan;
        let compose = &plan.layers[layer][3];
        let features = plan.features;
        let classes = self.layers.classes.orbits.len();
        let (width, stride) = (features * SIX, plan.own_columns[3] * SIX);
        let of = &self.layers.tables;
        let d_own = self.d_coefficients.view_mut(stride);
        let d_pre = self.d_slots.view_mut(width);
        let by_class = kind(network, layer) == Triples::ByClass;
        let d_pairs = (
            self.d_expanded.view_mut(6 * features),
            self.layers.classes.pairs(),
        );
        let slots = of.slots[layer].view(width);
        network.level.run(&ClassToPre {
            classes: &of.members,
            features,
            d: d_pre,
            output: compose
                .column
                .map(|column| (slots, d_own.read().from(column * SIX))),
            d_pairs: by_class.then_some(d_pairs),
        });
        let Some(map) = &compose.own else { return };
        let columns = map.columns.len();
        let len = columns * SIX * features;
        self.dw.reserve(len);
        network.level.run(&ClassWeightGradient {
            classes,
            features,
            from: of.coefficients.view(stride).from(map.columns.start * SIX),
            columns,
            d_pre: d_pre.read(),
            dw: self.dw.view_mut(features),
        });
        add_orbit(map, &self.dw.as_slice()[..len], gradient);
        network.level.run(&ClassInputGradient {
            classes,
            features,
            d_pre: d_pre.read(),
            weights: &network.transposed[layer][3].own,
            to: d_own.from(map.learned_from * SIX),
            columns: map.columns.end - map.learned_from,
        });
    }
}
