//! Weights in the order the states-in-lanes kernels read them.

use crate::kernels::map::Start;
use crate::kernels::orbit::SIX;
use crate::params::factorial;
use crate::plan::{ComposePlan, MapPlan, NONE, Plan, TILE};
use crate::prepared::{self, bias, expand_bias};

/// The weights of one [`MapPlan`].
#[derive(Clone, Debug, Default)]
pub(crate) struct MapWeights {
    /// `[output tile][π][column][TILE]`.
    pub(super) forward: Vec<f32>,
    /// `[learned column tile][π][output][TILE]`.
    pub(super) transposed: Vec<f32>,
}

/// The weights Ŵ of compose at arity 3, in the Fourier basis of S3.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrbitWeights {
    /// `[output tile][column][TILE][6]`.
    pub(super) forward: Vec<f32>,
    /// `[learned column tile][output][TILE][6]`, matrices transposed.
    pub(super) transposed: Vec<f32>,
}

impl OrbitWeights {
    fn new(map: &MapPlan, flat: &[f32]) -> Self {
        let (columns, outputs) = (map.columns.len(), map.outputs);
        let hat = prepared::OrbitWeights::new(map, flat);
        let mut forward = Vec::with_capacity(columns * outputs * SIX);
        for f in (0..outputs).step_by(TILE) {
            for c in 0..columns {
                for j in 0..TILE {
                    forward.extend(hat.at(map, c, f + j));
                }
            }
        }
        let first = map.learned_from - map.columns.start;
        let mut transposed = Vec::with_capacity((columns - first) * outputs * SIX);
        for c in (first..columns).step_by(TILE) {
            for f in 0..outputs {
                for j in 0..TILE {
                    let [t, s, w11, w12, w21, w22] = hat.at(map, c + j, f);
                    transposed.extend([t, s, w11, w21, w12, w22]);
                }
            }
        }
        Self {
            forward,
            transposed,
        }
    }
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
        Self {
            forward,
            transposed,
        }
    }
}

/// The weights of one compose operation.
#[derive(Clone, Debug)]
pub(crate) struct ComposeWeights {
    pub(super) expand: MapWeights,
    pub(super) own: MapWeights,
    pub(super) red: MapWeights,
    /// What `own` is at arity 3, where triples are handled by orbits.
    pub(super) orbit: OrbitWeights,
    /// `[outputs]`.
    pub(super) bias: Vec<f32>,
    /// Where triples are handled by orbits, what `expand` starts from: the
    /// bias for the pair without position 0, zero for the others.
    expand_bias: Vec<f32>,
}

impl ComposeWeights {
    fn new(plan: &ComposePlan, orbits: bool, flat: &[f32]) -> Self {
        let by_orbit = |map: &&MapPlan| orbits && map.arity == 3;
        let own = plan.own.as_ref();
        Self {
            expand: MapWeights::new(plan.expand.as_ref(), flat),
            own: MapWeights::new(own.filter(|map| !by_orbit(map)), flat),
            orbit: own
                .filter(by_orbit)
                .map_or_else(OrbitWeights::default, |map| OrbitWeights::new(map, flat)),
            red: MapWeights::new(plan.red.as_ref(), flat),
            bias: bias(plan, flat),
            expand_bias: expand_bias(plan, orbits, flat),
        }
    }

    /// What the map that expands starts from.
    pub(super) fn expand_start(&self) -> Start {
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
