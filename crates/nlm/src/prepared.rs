//! Weights in the order the kernels read them, made once per update.

use crate::kernels::map::Start;
use crate::kernels::orbit::{INVERSE, RHO, SIGN, SIX};
use crate::params::factorial;
use crate::plan::{BLOCK, ComposePlan, MapPlan, NONE, Plan, TILE, padded};

/// The weights of one [`MapPlan`].
#[derive(Clone, Debug, Default)]
pub(crate) struct MapWeights {
    /// `[output tile][π][column][TILE]`.
    pub(crate) forward: Vec<f32>,
    /// `[learned column tile][π][output][TILE]`.
    pub(crate) transposed: Vec<f32>,
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
    /// `[output tile][column][TILE][6]`.
    pub(crate) forward: Vec<f32>,
    /// `[learned column tile][output][TILE][6]`, matrices transposed.
    pub(crate) transposed: Vec<f32>,
    /// `[output block][column][6][BLOCK]`.
    pub(crate) rows: Vec<f32>,
}

impl OrbitWeights {
    fn new(map: &MapPlan, flat: &[f32]) -> Self {
        let (columns, outputs) = (map.columns.len(), map.outputs);
        let table = fourier_of_weights();
        // [column][output][6]
        let mut hat = vec![[0.0f32; SIX]; columns * outputs];
        for (p, row) in table.iter().enumerate() {
            for (at, hat) in hat.iter_mut().enumerate() {
                let w = weight(map, flat, p * columns * outputs + at);
                for (h, m) in hat.iter_mut().zip(row) {
                    *h += m * w;
                }
            }
        }
        let mut forward = Vec::with_capacity(hat.len() * SIX);
        for f in (0..outputs).step_by(TILE) {
            for c in 0..columns {
                for j in 0..TILE {
                    forward.extend(hat[c * outputs + f + j]);
                }
            }
        }
        let first = map.learned_from - map.columns.start;
        let mut transposed = Vec::with_capacity((columns - first) * outputs * SIX);
        for c in (first..columns).step_by(TILE) {
            for f in 0..outputs {
                for j in 0..TILE {
                    let [t, s, w11, w12, w21, w22] = hat[(c + j) * outputs + f];
                    transposed.extend([t, s, w11, w21, w12, w22]);
                }
            }
        }
        let mut rows = Vec::with_capacity(hat.len() * SIX);
        for f in (0..outputs).step_by(BLOCK) {
            for c in 0..columns {
                let block = &hat[c * outputs + f..][..BLOCK];
                for k in 0..SIX {
                    rows.extend(block.iter().map(|hat| hat[k]));
                }
            }
        }
        Self {
            forward,
            transposed,
            rows,
        }
    }
}

/// The weights of one compose operation.
#[derive(Clone, Debug)]
pub(crate) struct ComposeWeights {
    pub(crate) expand: MapWeights,
    pub(crate) own: MapWeights,
    pub(crate) red: MapWeights,
    /// What `own` is at arity 3, where triples are handled by orbits.
    pub(crate) orbit: OrbitWeights,
    /// `[outputs]`.
    pub(crate) bias: Vec<f32>,
    /// Where triples are handled by orbits, what `expand` starts from: the
    /// bias for the pair without position 0, zero for the others.
    pub(crate) expand_bias: Vec<f32>,
}

fn weight(map: &MapPlan, flat: &[f32], at: usize) -> f32 {
    match map.params[at] {
        NONE => 0.0,
        p => flat[p as usize],
    }
}

impl MapWeights {
    fn new(map: Option<&MapPlan>, flat: &[f32]) -> Self {
        let Some(map) = map else {
            return Self::default();
        };
        let (perms, columns) = (factorial(map.arity), map.columns.len());
        let mut forward = Vec::with_capacity(map.params.len());
        for f in (0..map.outputs).step_by(TILE) {
            for row in 0..perms * columns {
                for j in 0..TILE {
                    forward.push(weight(map, flat, row * map.outputs + f + j));
                }
            }
        }
        let first = map.learned_from - map.columns.start;
        let mut transposed = Vec::with_capacity(perms * (columns - first) * map.outputs);
        for c in (first..columns).step_by(TILE) {
            for p in 0..perms {
                for f in 0..map.outputs {
                    for j in 0..TILE {
                        let row = p * columns + c + j;
                        transposed.push(weight(map, flat, row * map.outputs + f));
                    }
                }
            }
        }
        let mut rows = Vec::new();
        if map.arity <= 2 {
            rows.reserve(map.params.len());
            let at = |p: usize, c: usize, f: usize| {
                weight(map, flat, (p * columns + c) * map.outputs + f)
            };
            for f in (0..map.outputs).step_by(BLOCK) {
                for p in 0..perms {
                    for c in 0..columns {
                        rows.extend((f..f + BLOCK).map(|f| match (perms, p) {
                            (1, _) => at(0, c, f),
                            (_, 0) => 0.5 * (at(0, c, f) + at(1, c, f)),
                            _ => 0.5 * (at(0, c, f) - at(1, c, f)),
                        }));
                    }
                }
            }
        }
        Self {
            forward,
            transposed,
            rows,
        }
    }
}

impl ComposeWeights {
    fn new(plan: &ComposePlan, orbits: bool, flat: &[f32]) -> Self {
        let by_orbit = |map: &&MapPlan| orbits && map.arity == 3;
        let mut bias = flat[plan.bias.clone()].to_vec();
        bias.resize(padded(bias.len()), 0.0);
        let mut expand_bias = Vec::new();
        if let Some(map) = plan.expand.as_ref().filter(|map| orbits && map.arity == 2) {
            expand_bias.clone_from(&bias);
            expand_bias.resize(map.outputs, 0.0);
        }
        Self {
            expand_bias,
            expand: MapWeights::new(plan.expand.as_ref(), flat),
            own: MapWeights::new(plan.own.as_ref().filter(|map| !by_orbit(map)), flat),
            orbit: plan
                .own
                .as_ref()
                .filter(by_orbit)
                .map_or_else(OrbitWeights::default, |map| OrbitWeights::new(map, flat)),
            red: MapWeights::new(plan.red.as_ref(), flat),
            bias,
        }
    }
}

impl ComposeWeights {
    /// What the map that expands starts from.
    pub(crate) fn expand_start(&self) -> Start {
        if self.expand_bias.is_empty() {
            return Start::Zero;
        }
        Start::Compose {
            bias: self.expand_bias.as_ptr(),
            expanded: std::ptr::null(),
        }
    }
}

/// `[layer][arity]` weights.
pub(crate) fn prepare(plan: &Plan, flat: &[f32]) -> Vec<Vec<ComposeWeights>> {
    plan.layers
        .iter()
        .map(|layer| {
            let compose = |c| ComposeWeights::new(c, plan.orbits(), flat);
            layer.iter().map(compose).collect()
        })
        .collect()
}
