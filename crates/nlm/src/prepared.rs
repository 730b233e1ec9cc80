//! Weights in the order the kernels read them, made once per update.
//!
//! In the tree of `docs/nlm.md`: by class, values and gradients; made once an update of weights.

use crate::kernels::orbit::{INVERSE, RHO, SIGN, SIX};
use crate::plan::{BLOCK, ComposePlan, MapPlan, ParamBlock, Plan, padded};

/// The weights of one compose operation. Those of a map are
///
/// - `[output block][column][BLOCK]` up to arity 1,
/// - `[output block][2][column][BLOCK]` at arity 2: half the sum of the weights of a channel and of
///   its permuted copy, then half the difference,
/// - `[output block][column][6][BLOCK]` at arity 3: Ŵ, in the Fourier basis of S3.
#[derive(Clone, Debug)]
pub(crate) struct ComposeWeights {
    pub(crate) expand: Vec<f32>,
    pub(crate) own: Vec<f32>,
    pub(crate) red: Vec<f32>,
    /// `[outputs]`.
    pub(crate) bias: Vec<f32>,
    /// At arity 3, what pairs add to triples starts from: the bias for the pair without position 0,
    /// zero for the others.
    pub(crate) expand_bias: Vec<f32>,
}

/// M[π][k]: what W_π adds to coefficient k of Ŵ.
pub(crate) fn fourier_of_weights() -> [[f32; SIX]; 6] {
    std::array::from_fn(|p| {
        let [r11, r12, r21, r22] = RHO[INVERSE[p]].map(|r| r / 3.0);
        // The divisors are those of the inverse transform, d / |S3|.
        [1.0 / 6.0, SIGN[p] / 6.0, r11, r12, r21, r22]
    })
}

fn of_orbits(map: &MapPlan, flat: &[f32]) -> Vec<f32> {
    let (columns, blocks) = (map.columns.len(), map.outputs / BLOCK);
    let mut rows = vec![0.0; columns * map.outputs * SIX];
    let permutations = map.blocks.chunks_exact(columns * blocks);
    for (table, permutation) in fourier_of_weights().into_iter().zip(permutations) {
        for (at, params) in permutation.iter().enumerate() {
            let w = params.values(flat);
            let (c, f) = (at / blocks, at % blocks);
            let hat = &mut rows[(f * columns + c) * SIX * BLOCK..][..SIX * BLOCK];
            for (hat, m) in hat.chunks_exact_mut(BLOCK).zip(table) {
                for (h, w) in hat.iter_mut().zip(w) {
                    *h += m * w;
                }
            }
        }
    }
    rows
}

fn of_map(map: Option<&MapPlan>, flat: &[f32]) -> Vec<f32> {
    let Some(map) = map else {
        return Vec::new();
    };
    if map.arity == 3 {
        return of_orbits(map, flat);
    }
    let (columns, blocks) = (map.columns.len(), map.outputs / BLOCK);
    let mut rows = Vec::with_capacity(map.blocks.len() * BLOCK);
    let (as_is, permuted) = map.blocks.split_at(columns * blocks);
    for f in 0..blocks {
        let column = |half: &[ParamBlock], c: usize| half[c * blocks + f].values(flat);
        if permuted.is_empty() {
            for c in 0..columns {
                rows.extend(column(as_is, c));
            }
            continue;
        }
        for sign in [1.0, -1.0] {
            for c in 0..columns {
                let (p, q) = (column(as_is, c), column(permuted, c));
                let both = p.iter().zip(&q);
                rows.extend(both.map(|(p, q)| 0.5 * (p + sign * q)));
            }
        }
    }
    rows
}

impl ComposeWeights {
    fn new(plan: &ComposePlan, flat: &[f32]) -> Self {
        let mut bias = flat[plan.bias.clone()].to_vec();
        bias.resize(padded(bias.len()), 0.0);
        let mut expand_bias = bias.clone();
        expand_bias.resize(3 * bias.len(), 0.0);
        Self {
            expand: of_map(plan.expand.as_ref(), flat),
            own: of_map(plan.own.as_ref(), flat),
            red: of_map(plan.red.as_ref(), flat),
            bias,
            expand_bias,
        }
    }
}

/// `[layer][arity]` weights.
pub(crate) fn prepare(plan: &Plan, flat: &[f32]) -> Vec<Vec<ComposeWeights>> {
    let new = |compose| ComposeWeights::new(compose, flat);
    let layers = plan.layers.iter();
    layers
        .map(|layer| layer.iter().map(new).collect())
        .collect()
}
