//! Gradients by class.
//!
//! Classes are counted afresh in every group, so that a gradient's bits follow from the batch
//! alone. What is a function of classes is computed once a class, forward and backward; what rows
//! give to it is added up first.
//!
//! In the tree of `docs/nlm.md`: by class, where `backward` goes in.

use super::layers::Layers;
use super::{Indices, Network};
use crate::kernels::buffer::Buffer;
use crate::structure::Structure;

/// The tensors of a group; kept between groups to save allocations.
#[derive(Default)]
pub(crate) struct GradientsByClass {
    indices: Indices,
    pub(super) layers: Layers,
    pub(super) d_own: [Buffer; 3],
    pub(super) d_red: [Buffer; 3],
    /// The gradient of the output of the compose operation at work: `[row][Q']`.
    pub(super) d_output: Buffer,
    /// The rows that have a gradient, of the map at work.
    pub(super) active: Vec<u32>,
    pub(super) d_expanded: Buffer,
    pub(super) d_best: Buffer,
    /// The gradients of `own`, `starts`, `coefficients` and `slots` of the tables.
    pub(super) d_known: Buffer,
    pub(super) d_starts: Buffer,
    pub(super) d_coefficients: Buffer,
    pub(super) d_slots: Buffer,
    /// The gradient of the weights of the map at work.
    pub(super) dw: Buffer,
    pub(super) d_bias: Buffer,
}

impl GradientsByClass {
    /// The value of each structure, and the gradient of the loss added to `gradient`;
    /// `d_value(i, v)` is the derivative of the loss with respect to the value v of structure i of
    /// the group.
    pub(crate) fn run(
        &mut self,
        network: &Network<'_>,
        structures: &[&Structure],
        d_value: impl Fn(usize, f32) -> f32,
        gradient: &mut [f32],
    ) -> Vec<f32> {
        let (count, distinct) = (structures.len(), network.plan.distinct);
        let index = self.indices.get(count, structures[0].objects(), distinct);
        self.layers.reserve(network, &index);
        self.layers.restart();
        self.layers.orbits.clear();
        self.layers.forward(network, &index, structures);
        let values = self.layers.values(network, &index).take(count);
        let values: Vec<f32> = values.collect();
        let each = values.iter().enumerate();
        let d_values: Vec<f32> = each.map(|(i, &v)| d_value(i, v)).collect();
        self.backward(network, &index, &d_values, gradient);
        values
    }
}
