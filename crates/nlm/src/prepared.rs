//! Weights in the order the kernels read them, made once per update.

use crate::params::factorial;
use crate::plan::{ComposePlan, MapPlan, NONE, Plan, TILE};

/// The weights of one [`MapPlan`].
#[derive(Clone, Debug, Default)]
pub(crate) struct MapWeights {
    /// `[output tile][π][column][TILE]`.
    pub(crate) forward: Vec<f32>,
    /// `[learned column tile][π][output][TILE]`.
    pub(crate) transposed: Vec<f32>,
}

/// The weights of one compose operation.
#[derive(Clone, Debug)]
pub(crate) struct ComposeWeights {
    pub(crate) expand: MapWeights,
    pub(crate) own: MapWeights,
    pub(crate) red: MapWeights,
    /// `[outputs]`.
    pub(crate) bias: Vec<f32>,
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

impl ComposeWeights {
    pub(crate) fn new(plan: &ComposePlan, flat: &[f32]) -> Self {
        let mut bias = flat[plan.bias.clone()].to_vec();
        bias.resize(bias.len().next_multiple_of(TILE), 0.0);
        Self {
            expand: MapWeights::new(plan.expand.as_ref(), flat),
            own: MapWeights::new(plan.own.as_ref(), flat),
            red: MapWeights::new(plan.red.as_ref(), flat),
            bias,
        }
    }
}

/// `[layer][arity]` weights.
pub(crate) fn prepare(plan: &Plan, flat: &[f32]) -> Vec<Vec<ComposeWeights>> {
    plan.layers
        .iter()
        .map(|layer| layer.iter().map(|c| ComposeWeights::new(c, flat)).collect())
        .collect()
}
