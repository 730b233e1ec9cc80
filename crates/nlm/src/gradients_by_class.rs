//! Gradients by class, up to arity 3.
//!
//! A group of structures with equally many objects goes through the network at once, rows of one
//! structure after those of another. What is a function of classes (see `docs/nlm.md`, "Gradients
//! by classes") is computed once a class, forward and backward; what rows give to it is added up
//! first.

mod backward;
mod forward;
mod orbits;
mod shape;
mod triples;
mod weights;

pub(crate) use backward::find_active;
pub(crate) use shape::Shape;
pub(crate) use weights::{Transposed, add_rows, transpose, transposed};

use crate::classes::Classes;
use crate::index::Index;
use crate::inputs::Inputs;
use crate::kernels::Level;
use crate::kernels::buffer::Buffer;
use crate::plan::{MapPlan, Plan};
use crate::prepared::ComposeWeights;
use crate::structure::Structure;
use orbits::Orbits;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// One group: structures with equally many objects.
pub(crate) struct Batch<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) shape: &'a Shape,
    pub(crate) weights: &'a [Vec<ComposeWeights>],
    pub(crate) transposed: &'a [Vec<Transposed>],
    pub(crate) level: Level,
    pub(crate) structures: &'a [&'a Structure],
}

/// The tensors of a group; kept between groups to save allocations.
#[derive(Default)]
pub(crate) struct GradientsByClass {
    indices: BTreeMap<(usize, usize, bool), Arc<Index>>,
    inputs: Inputs,
    classes: Classes,
    /// The types of the objects of each class of pairs.
    ends: Vec<[u32; 2]>,
    /// See [`Classes::members`].
    members: Vec<u32>,
    orbits: Orbits,
    /// `[row][columns]`, pairs as sums and differences, without the columns that classes know.
    own: [Buffer; 3],
    d_own: [Buffer; 3],
    /// `[row][columns]`, pairs as sums and differences.
    red: [Buffer; 3],
    d_red: [Buffer; 3],
    /// `[layer][arity]`: what reduce reads of a layer's output, where that is not in `own`.
    outputs: Vec<[Buffer; 3]>,
    /// The gradient of the output of the compose operation at work: `[row][Q']`.
    d_output: Buffer,
    /// The rows that have a gradient, of the map at work.
    active: Vec<u32>,
    /// `[row of n - 1][n Q']`, of the compose operation at work.
    expanded: Buffer,
    d_expanded: Buffer,
    /// What pairs contribute to triples that are no function of a class: `[row][3][Q']`.
    pairs: Buffer,
    /// Extrema of triples, one a layer: `[row][Q' for each quantifier]`.
    best: Vec<Buffer>,
    d_best: Buffer,
    of_classes: OfClasses,
    /// The gradient of the weights of the map at work.
    dw: Buffer,
    d_bias: Buffer,
    /// See [`ThirdsGradient`](crate::kernels::thirds::ThirdsGradient).
    values: Buffer,
}

/// Tensors over types, classes of pairs and classes of orbits. A class of pairs has two rows, as a
/// pair has.
#[derive(Default)]
struct OfClasses {
    /// `[type][unary channels]`.
    types: Buffer,
    /// `[type][2][Q']`: what objects contribute to pairs of the first layer.
    expanded_types: Buffer,
    /// `[row][known columns]`: sums and differences.
    own: Buffer,
    d_own: Buffer,
    /// `[row][Q']`: the first layer's pairs.
    output: Buffer,
    /// `[row][outputs]`: what known columns contribute to the map at work, u and v.
    starts: Buffer,
    d_starts: Buffer,
    /// `[row][3][Q']`: what pairs contribute to triples, of the layer at work.
    expanded: Buffer,
    /// `[class][column block][6][8]`: coefficients of the triples that are kept.
    own_triples: Buffer,
    d_own_triples: Buffer,
    /// One a layer, `[class][feature block][6][8]`: values of the triples, or of the table.
    slots: Vec<Buffer>,
    d_slots: Buffer,
}

/// The columns of a map over pairs: those that classes know, and the others.
fn split(map: &MapPlan, shape: &Shape) -> [Range<usize>; 2] {
    let known = shape.known.clamp(map.columns.start, map.columns.end);
    [map.columns.start..known, known..map.columns.end]
}

impl GradientsByClass {
    pub(crate) fn bytes(&self) -> usize {
        let of = &self.of_classes;
        let several = [&self.own, &self.d_own, &self.red, &self.d_red]
            .into_iter()
            .chain(&self.outputs)
            .flatten()
            .chain(&self.best)
            .chain(&of.slots);
        let singles = [
            &self.d_output,
            &self.expanded,
            &self.d_expanded,
            &self.pairs,
            &self.d_best,
            &self.dw,
            &self.d_bias,
            &self.values,
            &of.types,
            &of.expanded_types,
            &of.own,
            &of.d_own,
            &of.output,
            &of.starts,
            &of.d_starts,
            &of.expanded,
            &of.own_triples,
            &of.d_own_triples,
            &of.d_slots,
        ];
        several.chain(singles).map(Buffer::bytes).sum::<usize>()
            + self.inputs.bytes()
            + self.classes.bytes()
            + self.orbits.bytes()
            + (2 * self.ends.capacity() + self.members.capacity()) * 4
    }

    fn index(&mut self, batch: &Batch<'_>) -> Arc<Index> {
        // Few sizes are in use at a time; bound what is kept.
        if self.indices.len() > 16 {
            self.indices.clear();
        }
        let (count, distinct) = (batch.structures.len(), batch.plan.distinct);
        let objects = batch.structures[0].objects();
        self.indices
            .entry((count, objects, distinct))
            .or_insert_with(|| Arc::new(Index::new(objects, distinct, count)))
            .clone()
    }

    /// The value of each structure, and the gradient of the loss added to `gradient`;
    /// `d_value(i, v)` is the derivative of the loss with respect to the value v of structure i of
    /// the group.
    pub(crate) fn run(
        &mut self,
        batch: &Batch<'_>,
        d_value: impl Fn(usize, f32) -> f32,
        gradient: &mut [f32],
    ) -> Vec<f32> {
        let index = self.index(batch);
        self.forward(batch, &index);
        let last = batch.plan.layers.len() - 1;
        let stride = batch.weights[last][0].bias.len();
        let values: Vec<f32> = (0..batch.structures.len())
            .map(|i| self.outputs[last][0].at(i * stride))
            .collect();
        let d_values: Vec<f32> = values
            .iter()
            .enumerate()
            .map(|(i, &v)| d_value(i, v))
            .collect();
        self.backward(batch, &index, &d_values, gradient);
        values
    }
}
