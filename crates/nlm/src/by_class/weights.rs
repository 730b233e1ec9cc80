//! Weights as the backward pass reads them, and gradients back to the flat buffer.
//!
//! In the tree of `docs/nlm.md`: by class, gradients alone.

use crate::kernels::orbit::SIX;
use crate::params::factorial;
use crate::plan::{BLOCK, ComposePlan, MapPlan, Plan};
use crate::prepared::{ComposeWeights, fourier_of_weights};

/// The transposed weights of one compose operation, for the columns that are learned.
#[derive(Clone, Debug)]
pub(crate) struct Transposed {
    /// `[column block][output][8]`; at arity 2 `[2][column block][output][8]`, for sums and then
    /// for differences; at arity 3 `[column block][output][6][8]`, matrices transposed.
    pub(super) expand: Vec<f32>,
    pub(super) own: Vec<f32>,
    pub(super) red: Vec<f32>,
}

impl Transposed {
    fn new(plan: &ComposePlan, weights: &ComposeWeights) -> Self {
        let of = |map: &Option<MapPlan>, rows: &[f32]| match map {
            Some(map) if map.arity == 3 => transposed_orbit(map, rows),
            Some(map) => transposed(map, rows, factorial(map.arity)),
            None => Vec::new(),
        };
        Self {
            expand: of(&plan.expand, &weights.expand),
            own: of(&plan.own, &weights.own),
            red: of(&plan.red, &weights.red),
        }
    }
}

/// `[layer][arity]`, of a network up to arity 3.
pub(crate) fn transpose(plan: &Plan, weights: &[Vec<ComposeWeights>]) -> Vec<Vec<Transposed>> {
    plan.layers
        .iter()
        .zip(weights)
        .map(|(plans, weights)| {
            let pairs = plans.iter().zip(weights);
            pairs.map(|(p, w)| Transposed::new(p, w)).collect()
        })
        .collect()
}

/// From `[output block][half][column][8]` to `[half][column block][output][8]`, of the columns that
/// are learned.
fn transposed(map: &MapPlan, rows: &[f32], halves: usize) -> Vec<f32> {
    let columns = map.columns.len();
    let first = map.learned_from - map.columns.start;
    let half_len = (columns - first) * map.outputs;
    let mut to = vec![0.0; halves * half_len];
    for (f, block) in rows.chunks_exact(halves * columns * BLOCK).enumerate() {
        for (half, block) in block.chunks_exact(columns * BLOCK).enumerate() {
            let learned = block[first * BLOCK..].chunks_exact(BLOCK * BLOCK);
            for (c, from) in learned.enumerate() {
                let at = half * half_len + (c * map.outputs + f * BLOCK) * BLOCK;
                transpose_block(from, &mut to[at..at + BLOCK * BLOCK]);
            }
        }
    }
    to
}

/// Eight rows of eight, transposed.
fn transpose_block(from: &[f32], to: &mut [f32]) {
    for (f, to) in to.chunks_exact_mut(BLOCK).enumerate() {
        for (c, to) in to.iter_mut().enumerate() {
            *to = from[c * BLOCK + f];
        }
    }
}

/// From `[output block][column][6][8]` to `[column block][output][6][8]`, matrices transposed.
fn transposed_orbit(map: &MapPlan, rows: &[f32]) -> Vec<f32> {
    let columns = map.columns.len();
    let first = map.learned_from - map.columns.start;
    let mut to = vec![0.0; (columns - first) * map.outputs * SIX];
    for (f, block) in rows.chunks_exact(columns * SIX * BLOCK).enumerate() {
        for (c, six) in block.chunks_exact(SIX * BLOCK).skip(first).enumerate() {
            for (k, from) in [0, 1, 2, 4, 3, 5].into_iter().enumerate() {
                for q in 0..BLOCK {
                    let output = f * BLOCK + q;
                    let at = ((c / BLOCK * map.outputs + output) * SIX + k) * BLOCK + c % BLOCK;
                    to[at] = six[from * BLOCK + q];
                }
            }
        }
    }
    to
}

/// Adds the gradient of a map, `[π][column][output]`.
pub(super) fn add_rows(map: &MapPlan, dw: &[f32], gradient: &mut [f32]) {
    for (params, d) in map.blocks.iter().zip(dw.as_chunks::<BLOCK>().0) {
        params.add(d, gradient);
    }
}

/// Adds the gradients of columns of a map over pairs from `first` on: those that belong to sums,
/// and those that belong to differences, `[column][output]` each.
pub(super) fn add_pairs(
    map: &MapPlan,
    first: usize,
    (sums, differences): (&[f32], &[f32]),
    gradient: &mut [f32],
) {
    let (as_is, permuted) = map.blocks.split_at(map.blocks.len() / 2);
    let start = (first - map.columns.start) * (map.outputs / BLOCK);
    let places = as_is[start..].iter().zip(&permuted[start..]);
    let halves = sums
        .as_chunks::<BLOCK>()
        .0
        .iter()
        .zip(differences.as_chunks::<BLOCK>().0);
    for ((p, q), (s, d)) in places.zip(halves) {
        p.add(&std::array::from_fn(|i| 0.5 * (s[i] + d[i])), gradient);
        q.add(&std::array::from_fn(|i| 0.5 * (s[i] - d[i])), gradient);
    }
}

/// Adds the gradient of a map over triples, `[column][6][output]` in the Fourier basis.
pub(super) fn add_orbit(map: &MapPlan, dw: &[f32], gradient: &mut [f32]) {
    let (columns, blocks) = (map.columns.len(), map.outputs / BLOCK);
    let dw = dw.as_chunks::<BLOCK>().0;
    let permutations = map.blocks.chunks_exact(columns * blocks);
    for (row, permutation) in fourier_of_weights().iter().zip(permutations) {
        for (at, params) in permutation.iter().enumerate() {
            let (c, f) = (at / blocks, at % blocks);
            let mut sum = [0.0; BLOCK];
            for (k, m) in row.iter().enumerate() {
                let d = &dw[(c * SIX + k) * blocks + f];
                for (sum, d) in sum.iter_mut().zip(d) {
                    *sum += m * d;
                }
            }
            params.add(&sum, gradient);
        }
    }
}
