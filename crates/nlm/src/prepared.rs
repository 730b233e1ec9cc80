//! Weights in the order the kernels read them, made once per update.

use crate::kernels::orbit::{INVERSE, RHO, SIGN, SIX};
use crate::plan::{BLOCK, ComposePlan, MapPlan, ParamBlock, Plan, padded};

/// The weights of one [`MapPlan`].
#[derive(Clone, Debug, Default)]
pub(crate) struct MapWeights {
    /// `[output block][column][BLOCK]` up to arity 1, at arity 2
    /// `[output block][2][column][BLOCK]`: half the sum of the weights of a channel and of its
    /// permuted copy, then half the difference.
    pub(crate) rows: Vec<f32>,
}

/// M[π][k]: what W_π adds to coefficient k of Ŵ.
pub(crate) fn fourier_of_weights() -> [[f32; SIX]; 6] {
    std::array::from_fn(|p| {
        let r = RHO[INVERSE[p]];
        // The divisors are those of the inverse transform, d / |S3|.
        [
            1.0 / 6.0,
            SIGN[p] / 6.0,
            r[0] / 3.0,
            r[1] / 3.0,
            r[2] / 3.0,
            r[3] / 3.0,
        ]
    })
}

/// The weights Ŵ of compose at arity 3, in the Fourier basis of S3.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrbitWeights {
    /// `[output block][column][6][BLOCK]`.
    pub(crate) rows: Vec<f32>,
}

impl OrbitWeights {
    pub(crate) fn new(map: &MapPlan, flat: &[f32]) -> Self {
        let (columns, blocks) = (map.columns.len(), map.outputs / BLOCK);
        let mut rows = vec![0.0; columns * map.outputs * SIX];
        let mut permutations = map.blocks.chunks_exact(columns * blocks);
        for table in fourier_of_weights() {
            let permutation = permutations.next().expect("six of them");
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
        Self { rows }
    }
}

/// The weights of one compose operation.
#[derive(Clone, Debug)]
pub(crate) struct ComposeWeights {
    pub(crate) expand: MapWeights,
    pub(crate) own: MapWeights,
    pub(crate) red: MapWeights,
    /// What `own` is at arity 3.
    pub(crate) orbit: OrbitWeights,
    /// `[outputs]`.
    pub(crate) bias: Vec<f32>,
    /// At arity 3, what pairs add to triples starts from: the bias for the pair without position 0,
    /// zero for the others.
    pub(crate) expand_bias: Vec<f32>,
}

/// The bias of a compose operation, with zeros for padding.
pub(crate) fn bias(plan: &ComposePlan, flat: &[f32]) -> Vec<f32> {
    let mut bias = flat[plan.bias.clone()].to_vec();
    bias.resize(padded(bias.len()), 0.0);
    bias
}

impl MapWeights {
    fn new(map: Option<&MapPlan>, flat: &[f32]) -> Self {
        let Some(map) = map.filter(|map| map.arity <= 2) else {
            return Self::default();
        };
        let (columns, blocks) = (map.columns.len(), map.outputs / BLOCK);
        let mut rows = Vec::with_capacity(map.params.len());
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
        Self { rows }
    }
}

/// The weights of a map at any arity, `[output block][π][column][BLOCK]`.
pub(crate) fn by_permutation(map: &MapPlan, flat: &[f32]) -> Vec<f32> {
    let blocks = map.outputs / BLOCK;
    let mut rows = Vec::with_capacity(map.params.len());
    for f in 0..blocks {
        for params in map.blocks.chunks_exact(blocks) {
            rows.extend(params[f].values(flat));
        }
    }
    rows
}

impl ComposeWeights {
    fn new(plan: &ComposePlan, by_orbit: bool, flat: &[f32]) -> Self {
        let own = plan.own.as_ref();
        let mut expand_bias = bias(plan, flat);
        expand_bias.resize(3 * expand_bias.len(), 0.0);
        Self {
            expand: MapWeights::new(plan.expand.as_ref(), flat),
            own: MapWeights::new(own, flat),
            orbit: own
                .filter(|_| by_orbit)
                .map_or_else(OrbitWeights::default, |map| OrbitWeights::new(map, flat)),
            red: MapWeights::new(plan.red.as_ref(), flat),
            bias: bias(plan, flat),
            expand_bias,
        }
    }
}

/// `[layer][arity]` weights.
pub(crate) fn prepare(plan: &Plan, flat: &[f32]) -> Vec<Vec<ComposeWeights>> {
    plan.layers
        .iter()
        .map(|layer| {
            let composes = layer.iter().enumerate();
            let new = |(n, compose)| ComposeWeights::new(compose, n == 3 && plan.orbits(), flat);
            composes.map(new).collect()
        })
        .collect()
}
