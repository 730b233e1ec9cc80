//! Triples, forward and backward.

use super::backward::find_active;
use super::forward::{own_stride, source};
use super::orbits::Orbits;
use super::shape::Triples;
use super::weights::add_orbit;
use super::{Batch, GradientsByClass, split};
use crate::index::Index;
use crate::kernels::buffer::Buffer;
use crate::kernels::classes::{
    ClassCompose, ClassInputGradient, ClassToPre, ClassWeightGradient, Coefficients,
};
use crate::kernels::orbit::SIX;
use crate::kernels::rows::{EndRows, PairMap};
use crate::kernels::rows_gradient::PairsToPre;
use crate::kernels::thirds::{ExtremaGradient, ReduceThirds, ThirdsGradient, Tuples};
use crate::plan::BLOCK;

/// The tuples of a layer's triples: `slots` a class, and what pairs add.
fn tuples<'a>(
    batch: &Batch<'_>,
    index: &'a Index,
    layer: usize,
    orbits: &'a Orbits,
    slots: &'a Buffer,
    pairs: &'a Buffer,
) -> Tuples<'a> {
    let features = batch.plan.features;
    let slots = has_table(batch, layer).then(|| slots.as_slice());
    Tuples {
        structures: index.group(),
        objects: index.objects(),
        distinct: index.distinct(),
        rows: index.rows(2),
        row_of: index.row_of(),
        places: &orbits.places,
        table: slots.map(|slots| &slots[..orbits.len() * features * SIX]),
        expanded: (kind(batch, layer) == Triples::WithPairs).then(|| pairs.as_slice()),
        features,
    }
}

fn kind(batch: &Batch<'_>, layer: usize) -> Triples {
    batch.shape.triples[layer].expect("the layer has triples")
}

/// Whether the triples of a layer have values a class, or add something a class.
fn has_table(batch: &Batch<'_>, layer: usize) -> bool {
    kind(batch, layer) == Triples::ByClass || batch.plan.layers[layer][3].own.is_some()
}

impl GradientsByClass {
    /// Compose at arity 3 and its reduction.
    pub(super) fn triples(&mut self, batch: &Batch<'_>, index: &Index, layer: usize) {
        let plan = batch.plan;
        let compose = &plan.layers[layer][3];
        let rows = index.group_rows(2);
        let columns = plan.features * plan.quantifiers;
        self.best[layer].reserve(rows * columns);
        if index.has_triples() {
            match kind(batch, layer) {
                Triples::ByClass => self.expand_classes(batch, layer),
                Triples::WithPairs => self.expand_rows(batch, index, layer),
            }
            self.compose_classes(batch, layer);
            let slots = &self.of_classes.slots[layer];
            batch.level.run(&ReduceThirds {
                tuples: tuples(batch, index, layer, &self.orbits, slots, &self.pairs),
                both: plan.quantifiers == 2,
                best: self.best[layer].view_mut(columns),
            });
        }
        let column = compose.red_column.expect("triples are reduced");
        batch.level.run(&EndRows {
            pairs: rows / 2,
            empty: !index.has_triples(),
            activate: compose.column.is_none(),
            features: plan.features,
            columns,
            best: self.best[layer].view(columns),
            red: self.red[2].view_mut(plan.red_columns[2]).from(column),
        });
    }

    /// What classes of pairs contribute to the triples of a layer.
    fn expand_classes(&mut self, batch: &Batch<'_>, layer: usize) {
        let weights = &batch.weights[layer][3];
        let width = 3 * batch.plan.features;
        let classes = self.classes.pairs();
        let of = &mut self.of_classes;
        of.expanded.reserve(classes * 2 * width);
        let Some(map) = &batch.plan.layers[layer][3].expand else {
            // Nothing but the bias.
            let rows = of.expanded.as_mut_slice()[..classes * 2 * width].chunks_exact_mut(width);
            for row in rows {
                let (bias, others) = row.split_at_mut(weights.bias.len());
                bias.copy_from_slice(&weights.bias);
                others.fill(0.0);
            }
            return;
        };
        let own = of.own.view(batch.shape.known);
        batch.level.run(&PairMap {
            pairs: classes,
            bias: Some(&weights.expand_bias),
            starts: None,
            expanded: None,
            sources: &[source(own, 0, map, map.columns.clone(), &weights.expand)],
            outputs: width,
            activate: false,
            y: of.expanded.view_mut(width),
            sums: None,
        });
    }

    /// What pairs contribute to the triples of a layer, where these are no function of the class.
    fn expand_rows(&mut self, batch: &Batch<'_>, index: &Index, layer: usize) {
        let weights = &batch.weights[layer][3];
        let map = batch.plan.layers[layer][3].expand.as_ref();
        let map = map.expect("or they were a function of the class");
        let rows = index.group_rows(2);
        self.pairs.reserve(rows * map.outputs);
        let [known, others] = split(map, batch.shape);
        let of = (&self.classes.of_pairs[..], self.classes.pairs());
        let starts = self
            .of_classes
            .start(batch, of, map, known, &weights.expand);
        let own = self.own[2].view(own_stride(batch, 2));
        batch.level.run(&PairMap {
            pairs: rows / 2,
            bias: Some(&weights.expand_bias),
            starts,
            expanded: None,
            sources: &[source(own, batch.shape.known, map, others, &weights.expand)],
            outputs: map.outputs,
            activate: false,
            y: self.pairs.view_mut(map.outputs),
            sums: None,
        });
    }

    /// The values of triples, or what a layer reads of the triples before it, a class at a time.
    fn compose_classes(&mut self, batch: &Batch<'_>, layer: usize) {
        if !has_table(batch, layer) {
            return;
        }
        let plan = batch.plan;
        let compose = &plan.layers[layer][3];
        let classes = self.orbits.len();
        let (width, stride) = (plan.features * SIX, plan.own_columns[3] * SIX);
        let of = &mut self.of_classes;
        of.slots[layer].reserve(classes * width);
        of.own_triples.reserve(classes * stride);
        let own = of.own_triples.view_mut(stride);
        let pairs = (
            of.expanded.view(2 * 3 * plan.features),
            self.classes.pairs(),
        );
        batch.level.run(&ClassCompose {
            classes: &self.orbits.members,
            pairs: (kind(batch, layer) == Triples::ByClass).then_some(pairs),
            from: compose.own.as_ref().map(|map| Coefficients {
                of: own.read().from(map.columns.start * SIX),
                columns: map.columns.len(),
                weights: &batch.weights[layer][3].orbit.rows,
                width: map.columns.len(),
            }),
            features: plan.features,
            slots: of.slots[layer].view_mut(width),
            activate: compose.column.is_some(),
            output: compose.column.map(|column| own.from(column * SIX)),
        });
    }

    /// Backward through compose at arity 3 and its reduction.
    pub(super) fn triples_gradient(
        &mut self,
        batch: &Batch<'_>,
        index: &Index,
        layer: usize,
        gradient: &mut [f32],
    ) {
        if !index.has_triples() {
            return;
        }
        let compose = &batch.plan.layers[layer][3];
        let kind = kind(batch, layer);
        let width = 3 * batch.plan.features;
        self.share(batch, index, layer);
        // What the tuples gave to a class of pairs, or to a pair, follows from what they gave to
        // `d_expanded`.
        let pairs = match kind {
            Triples::ByClass => self.classes.pairs(),
            Triples::WithPairs => index.group_rows(2) / 2,
        };
        if has_table(batch, layer) {
            self.classes_gradient(batch, layer, gradient);
        }
        self.d_bias.zeroed(width);
        let mut d_expanded = std::mem::take(&mut self.d_expanded);
        batch.level.run(&PairsToPre {
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
            let transposed = &batch.transposed[layer][3].expand;
            let dy = d_expanded.view(width);
            match kind {
                Triples::ByClass => {
                    self.known_gradient(batch, map, map.columns.clone(), transposed, dy, gradient);
                }
                Triples::WithPairs => {
                    let mut active = std::mem::take(&mut self.active);
                    let d = &d_expanded.as_slice()[..pairs * 2 * width];
                    find_active(d, 2 * width, &mut active);
                    self.pair_map_gradient(batch, map, transposed, &active, dy, gradient);
                    self.active = active;
                }
            }
        }
        self.d_expanded = d_expanded;
    }

    /// From the gradients of reductions to those of classes, and, where pairs contribute, of these.
    fn share(&mut self, batch: &Batch<'_>, index: &Index, layer: usize) {
        let plan = batch.plan;
        let compose = &plan.layers[layer][3];
        let rows = index.group_rows(2);
        let columns = plan.features * plan.quantifiers;
        let column = compose.red_column.expect("triples are reduced");
        self.d_best.reserve(rows * columns);
        let red = self.red[2].view(plan.red_columns[2]).from(column);
        batch.level.run(&ExtremaGradient {
            pairs: rows / 2,
            columns,
            red: compose.column.is_none().then_some(red),
            d_red: self.d_red[2].view(plan.red_columns[2]).from(column),
            d_best: self.d_best.view_mut(columns),
        });
        let width = plan.features * SIX;
        self.of_classes.d_slots.zeroed(self.orbits.len() * width);
        let expanded = match kind(batch, layer) {
            Triples::WithPairs => rows,
            Triples::ByClass => 2 * self.classes.pairs(),
        };
        self.d_expanded.zeroed(expanded * 3 * plan.features);
        self.values.reserve(index.objects() * BLOCK);
        let slots = &self.of_classes.slots[layer];
        batch.level.run(&ThirdsGradient {
            tuples: tuples(batch, index, layer, &self.orbits, slots, &self.pairs),
            both: plan.quantifiers == 2,
            best: self.best[layer].view(columns),
            d_best: self.d_best.view(columns),
            d_table: self.of_classes.d_slots.view_mut(width),
            d_expanded: self.d_expanded.view_mut(3 * plan.features),
            values: self.values.view_mut(BLOCK),
        });
    }

    /// From the gradients of slots to the weights, to the triples a layer reads, and to what
    /// classes of pairs contribute.
    fn classes_gradient(&mut self, batch: &Batch<'_>, layer: usize, gradient: &mut [f32]) {
        let plan = batch.plan;
        let compose = &plan.layers[layer][3];
        let features = plan.features;
        let classes = self.orbits.len();
        let (width, stride) = (features * SIX, plan.own_columns[3] * SIX);
        let of = &mut self.of_classes;
        let d_own = of.d_own_triples.view_mut(stride);
        let d_pre = of.d_slots.view_mut(width);
        let by_class = kind(batch, layer) == Triples::ByClass;
        let d_pairs = (self.d_expanded.view_mut(6 * features), self.classes.pairs());
        let slots = of.slots[layer].view(width);
        batch.level.run(&ClassToPre {
            classes: &self.orbits.members,
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
        batch.level.run(&ClassWeightGradient {
            classes,
            features,
            from: of.own_triples.view(stride).from(map.columns.start * SIX),
            columns,
            d_pre: d_pre.read(),
            dw: self.dw.view_mut(features),
        });
        add_orbit(map, &self.dw.as_slice()[..len], gradient);
        batch.level.run(&ClassInputGradient {
            classes,
            features,
            d_pre: d_pre.read(),
            weights: &batch.transposed[layer][3].orbit,
            to: d_own.from(map.learned_from * SIX),
            columns: map.columns.end - map.learned_from,
        });
    }
}
