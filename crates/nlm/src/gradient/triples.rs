//! Triples, forward and backward.

use super::backward::find_active;
use super::forward::{own_stride, run};
use super::shape::Triples;
use super::weights::add_orbit;
use super::{Batch, GradientEngine, split};
use crate::index::Index;
use crate::kernels::class_gradient::{
    ClassCompose, ClassInputGradient, ClassToPre, ClassWeightGradient, Coefficients,
};
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::orbit::SIX;
use crate::kernels::rows::{EndRows, PairMap, Starts};
use crate::kernels::rows_gradient::PairsToPre;
use crate::kernels::thirds::{ExtremaGradient, ReduceThirds, ThirdsGradient, Tuples};
use crate::plan::BLOCK;
use std::ptr::{null, null_mut};

impl GradientEngine {
    /// Compose at arity 3 and its reduction.
    pub(super) fn triples(&mut self, batch: &Batch<'_>, index: &Index, layer: usize) {
        let plan = batch.plan;
        let compose = &plan.layers[layer][3];
        let rows = index.group_rows(2);
        let columns = plan.features * plan.quantifiers;
        self.best[layer].reserve(rows * columns);
        if index.has_triples() {
            match self.kind(batch, layer) {
                Triples::ByClass => self.expand_classes(batch, layer),
                Triples::WithPairs => self.expand_rows(batch, index, layer),
            }
            self.compose_classes(batch, layer);
            dispatch(
                batch.simd,
                &ReduceThirds {
                    tuples: self.tuples(batch, index, layer),
                    both: plan.quantifiers == 2,
                    best: self.best[layer].as_ptr().cast_mut(),
                },
            );
        }
        let column = compose.red_column.expect("triples are reduced");
        dispatch(
            batch.simd,
            &EndRows {
                pairs: rows / 2,
                empty: !index.has_triples(),
                activate: compose.column.is_none(),
                features: plan.features,
                columns,
                best: self.best[layer].as_ptr(),
                best_stride: columns,
                red: self.red[2].as_mut_ptr().wrapping_add(column),
                red_stride: plan.red_columns[2],
            },
        );
    }

    fn kind(&self, batch: &Batch<'_>, layer: usize) -> Triples {
        batch.shape.triples[layer].expect("the layer has triples")
    }

    /// Whether the triples of a layer have values a class, or add something a class.
    fn has_table(&self, batch: &Batch<'_>, layer: usize) -> bool {
        self.kind(batch, layer) == Triples::ByClass || batch.plan.layers[layer][3].own.is_some()
    }

    fn tuples<'a>(&'a self, batch: &Batch<'_>, index: &'a Index, layer: usize) -> Tuples<'a> {
        Tuples {
            structures: index.group,
            objects: index.objects,
            distinct: index.distinct,
            rows: index.rows(2),
            row_of: &index.row_of,
            places: &self.classes.places,
            table: if self.has_table(batch, layer) {
                self.of_classes.slots[layer].as_ptr()
            } else {
                null()
            },
            expanded: match self.kind(batch, layer) {
                Triples::ByClass => null(),
                Triples::WithPairs => self.pairs.as_ptr(),
            },
            features: batch.plan.features,
        }
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
        let columns = map.columns.clone();
        dispatch(
            batch.simd,
            &PairMap {
                pairs: classes,
                ends: &[],
                bias: weights.expand_bias.as_ptr(),
                starts: Starts::NONE,
                expanded: null(),
                runs: &[run(
                    &of.own,
                    batch.shape.known,
                    0,
                    map,
                    columns,
                    &weights.expand,
                )],
                outputs: width,
                activate: false,
                y: of.expanded.as_mut_ptr(),
                y_stride: width,
                sums: null_mut(),
                sums_stride: 0,
            },
        );
    }

    /// What pairs contribute to the triples of a layer.
    fn expand_rows(&mut self, batch: &Batch<'_>, index: &Index, layer: usize) {
        let weights = &batch.weights[layer][3];
        let map = batch.plan.layers[layer][3].expand.as_ref();
        let map = map.expect("or they were a function of the class");
        let rows = index.group_rows(2);
        self.pairs.reserve(rows * map.outputs);
        let [known, others] = split(map, batch.shape);
        let starts = self.of_classes.start(
            batch,
            &self.classes.of_pairs,
            self.classes.pairs(),
            map,
            known,
            &weights.expand,
        );
        let (stride, first) = (own_stride(batch, 2), batch.shape.known);
        dispatch(
            batch.simd,
            &PairMap {
                pairs: rows / 2,
                ends: &[],
                bias: weights.expand_bias.as_ptr(),
                starts,
                expanded: null(),
                runs: &[run(
                    &self.own[2],
                    stride,
                    first,
                    map,
                    others,
                    &weights.expand,
                )],
                outputs: map.outputs,
                activate: false,
                y: self.pairs.as_mut_ptr(),
                y_stride: map.outputs,
                sums: null_mut(),
                sums_stride: 0,
            },
        );
    }

    /// Coefficients of classes from this column on.
    fn coefficients(
        batch: &Batch<'_>,
        at: *mut f32,
        column: usize,
        columns: usize,
    ) -> Coefficients {
        Coefficients {
            at: at.wrapping_add(column * SIX),
            stride: batch.plan.own_columns[3] * SIX,
            columns,
        }
    }

    /// The values of triples, or what a layer reads of the triples before it, a class at a time.
    fn compose_classes(&mut self, batch: &Batch<'_>, layer: usize) {
        if !self.has_table(batch, layer) {
            return;
        }
        let plan = batch.plan;
        let compose = &plan.layers[layer][3];
        let classes = self.classes.orbits();
        let kind = self.kind(batch, layer);
        let of = &mut self.of_classes;
        of.slots[layer].reserve(classes * plan.features * SIX);
        of.own_triples.reserve(classes * plan.own_columns[3] * SIX);
        let own = of.own_triples.as_mut_ptr();
        let (first, columns) = match &compose.own {
            Some(map) => (map.columns.start, map.columns.len()),
            None => (0, 0),
        };
        dispatch(
            batch.simd,
            &ClassCompose {
                classes: &self.classes.orbit_members,
                expanded: match kind {
                    Triples::ByClass => of.expanded.as_ptr(),
                    Triples::WithPairs => null(),
                },
                from: Self::coefficients(batch, own, first, columns),
                weights: batch.weights[layer][3].orbit.rows.as_ptr(),
                features: plan.features,
                slots: of.slots[layer].as_mut_ptr(),
                output: match compose.column {
                    Some(column) => own.wrapping_add(column * SIX),
                    None => null_mut(),
                },
            },
        );
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
        let plan = batch.plan;
        let compose = &plan.layers[layer][3];
        let kind = self.kind(batch, layer);
        let width = 3 * plan.features;
        self.share(batch, index, layer);
        // What the tuples gave to a class of pairs, or to a pair, follows from what they gave to `d_expanded`.
        let pairs = match kind {
            Triples::ByClass => self.classes.pairs(),
            Triples::WithPairs => index.group_rows(2) / 2,
        };
        if self.has_table(batch, layer) {
            self.classes_gradient(batch, layer, gradient);
        }
        self.d_bias.zeroed(width);
        dispatch(
            batch.simd,
            &PairsToPre {
                pairs,
                y: null(),
                features: width,
                d: self.d_expanded.as_mut_ptr(),
                ends: &[],
                d_expanded: null_mut(),
                d_bias: self.d_bias.as_mut_ptr(),
            },
        );
        // The bias is in what pairs without position 0 contribute.
        self.add_bias(compose, gradient);
        if let Some(map) = &compose.expand {
            let transposed = &batch.transposed[layer][3].expand;
            let dy = self.d_expanded.as_ptr();
            match kind {
                Triples::ByClass => {
                    self.known_gradient(batch, map, map.columns.clone(), transposed, dy, gradient);
                }
                Triples::WithPairs => {
                    let mut active = std::mem::take(&mut self.active);
                    let d = &self.d_expanded.as_slice()[..pairs * 2 * width];
                    find_active(d, 2 * width, &mut active);
                    self.pair_map_gradient(batch, map, transposed, &active, dy, gradient);
                    self.active = active;
                }
            }
        }
    }

    /// From the gradients of reductions to those of classes, and, where pairs contribute, of these.
    fn share(&mut self, batch: &Batch<'_>, index: &Index, layer: usize) {
        let plan = batch.plan;
        let compose = &plan.layers[layer][3];
        let rows = index.group_rows(2);
        let columns = plan.features * plan.quantifiers;
        let column = compose.red_column.expect("triples are reduced");
        self.d_best.reserve(rows * columns);
        dispatch(
            batch.simd,
            &ExtremaGradient {
                pairs: rows / 2,
                slope: compose.column.is_none(),
                columns,
                red: self.red[2].as_ptr().wrapping_add(column),
                d_red: self.d_red[2].as_ptr().wrapping_add(column),
                red_stride: plan.red_columns[2],
                d_best: self.d_best.as_mut_ptr(),
            },
        );
        let of = &mut self.of_classes;
        of.d_slots
            .zeroed(self.classes.orbits() * plan.features * SIX);
        let pairs = batch.shape.triples[layer] == Some(Triples::WithPairs);
        let expanded = if pairs {
            rows
        } else {
            2 * self.classes.pairs()
        };
        self.d_expanded.zeroed(expanded * 3 * plan.features);
        self.values.reserve(index.objects * BLOCK);
        let d_table = of.d_slots.as_mut_ptr();
        let d_expanded = self.d_expanded.as_mut_ptr();
        let values = self.values.as_mut_ptr();
        dispatch(
            batch.simd,
            &ThirdsGradient {
                tuples: self.tuples(batch, index, layer),
                both: plan.quantifiers == 2,
                best: self.best[layer].as_ptr(),
                d_best: self.d_best.as_ptr(),
                d_table,
                d_expanded: if pairs { d_expanded } else { null_mut() },
                values,
            },
        );
    }

    /// From the gradients of slots to the weights, to the triples a layer reads, and to what classes of pairs contribute.
    fn classes_gradient(&mut self, batch: &Batch<'_>, layer: usize, gradient: &mut [f32]) {
        let plan = batch.plan;
        let compose = &plan.layers[layer][3];
        let kind = self.kind(batch, layer);
        let features = plan.features;
        let classes = self.classes.orbits();
        let of = &mut self.of_classes;
        let d_own = of.d_own_triples.as_mut_ptr();
        let d_pre = of.d_slots.as_mut_ptr();
        dispatch(
            batch.simd,
            &ClassToPre {
                classes: &self.classes.orbit_members,
                features,
                d: d_pre,
                slots: match compose.column {
                    Some(_) => of.slots[layer].as_ptr(),
                    None => null(),
                },
                d_output: d_own.wrapping_add(compose.column.unwrap_or(0) * SIX),
                stride: plan.own_columns[3] * SIX,
                d_expanded: match kind {
                    Triples::ByClass => self.d_expanded.as_mut_ptr(),
                    Triples::WithPairs => null_mut(),
                },
            },
        );
        let Some(map) = &compose.own else { return };
        let columns = map.columns.len();
        let len = columns * SIX * features;
        self.dw.reserve(len);
        let own = of.own_triples.as_mut_ptr();
        dispatch(
            batch.simd,
            &ClassWeightGradient {
                classes,
                features,
                from: Self::coefficients(batch, own, map.columns.start, columns),
                d_pre,
                dw: self.dw.as_mut_ptr(),
            },
        );
        add_orbit(map, &self.dw.as_slice()[..len], gradient);
        let learned = map.columns.end - map.learned_from;
        dispatch(
            batch.simd,
            &ClassInputGradient {
                classes,
                features,
                d_pre,
                weights: batch.transposed[layer][3].orbit.as_ptr(),
                to: Self::coefficients(batch, d_own, map.learned_from, learned),
            },
        );
    }
}
