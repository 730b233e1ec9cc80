//! The states-in-lanes engine at arity 3, where triples come orbit by orbit.

use super::weights::ComposeWeights;
use super::{Engine, Group};
use crate::kernels::dispatch;
use crate::kernels::orbit::{RHO, SIGN, SIX, orbit_count};
use crate::kernels::triples::{EndReduction, Orbits, StartReduction, Triples};
use crate::kernels::triples_gradient::{CountTies, OrbitWeightGradient, Shares, TriplesGradient};
use crate::params::permutations;
use crate::plan::{ComposePlan, NONE};
use crate::prepared::fourier_of_weights;
use crate::structure::Structure;
use crate::tuples::Tuples;
use std::ptr::{null, null_mut};

/// The place of the orbit (x <= y <= z), or (x < y < z) with `distinct`, in the
/// order of storage.
pub(crate) fn orbit_index(objects: usize, distinct: bool, [x, y, z]: [usize; 3]) -> usize {
    let pairs_from = |n: usize| {
        if distinct {
            n * n.saturating_sub(1) / 2
        } else {
            n * (n + 1) / 2
        }
    };
    let skip = usize::from(distinct);
    let before_x: usize = (0..x).map(|x| pairs_from(objects - x - skip)).sum();
    let before_y: usize = (x + skip..y).map(|y| objects - y - skip).sum();
    before_x + before_y + z - y - skip
}

/// The true propositions of arity 3, once each.
pub(crate) fn ternary(structure: &Structure, distinct: bool) -> Vec<(usize, [usize; 3])> {
    let mut all: Vec<(usize, [usize; 3])> = structure
        .propositions(3)
        .map(|(channel, x)| (channel, std::array::from_fn(|i| usize::from(x[i]))))
        .filter(|(_, [x, y, z])| !distinct || (x != y && y != z && x != z))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The slots of the sorted orbit that hold this tuple (several where objects repeat).
pub(crate) fn slots_of(tuple: [usize; 3]) -> ([usize; 3], Vec<usize>) {
    let mut sorted = tuple;
    sorted.sort_unstable();
    let slots = permutations(3)
        .iter()
        .enumerate()
        .filter(|(_, p)| (0..3).all(|i| sorted[p[i]] == tuple[i]))
        .map(|(s, _)| s)
        .collect();
    (sorted, slots)
}

impl Engine {
    /// Writes the coefficients of the ternary propositions and their reductions.
    pub(crate) fn load_triples(&mut self, group: &Group<'_>, training: bool) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let (objects, distinct) = (group.objects, plan.distinct);
        let orbits = orbit_count(objects, distinct);
        let columns = plan.own_columns[3];
        self.own[3].reserve(orbits * columns * SIX * lanes);
        if training {
            self.slots.reserve(orbits * columns * SIX * lanes);
            self.pure[3].reserve(orbits * plan.features * SIX * lanes);
        }
        let channels = plan.inputs(3);
        if channels == 0 {
            return;
        }
        for orbit in 0..orbits {
            let at = orbit * columns * SIX * lanes;
            self.own[3].fill(at, channels * SIX * lanes, 0.0);
        }
        let red_columns = plan.red_columns[2];
        for (lane, structure) in group.structures.iter().enumerate() {
            for (channel, tuple) in ternary(structure, distinct) {
                let (sorted, slots) = slots_of(tuple);
                let orbit = orbit_index(objects, distinct, sorted);
                let at = (orbit * columns + channel) * SIX * lanes + lane;
                for s in slots {
                    let [r11, r12, r21, r22] = RHO[s];
                    for (k, c) in [1.0, SIGN[s], r11, r12, r21, r22].into_iter().enumerate() {
                        let at = at + k * lanes;
                        self.own[3].add(at, c);
                    }
                }
                let row = (tuple[0] * objects + tuple[1]) * red_columns;
                self.red[2].set((row + channel) * lanes + lane, 1.0);
                if plan.quantifiers == 2 {
                    let at = (row + channels + channel) * lanes + lane;
                    self.red[2].add(at, 1.0);
                }
            }
        }
        if plan.quantifiers == 2 {
            let all = if distinct {
                objects.saturating_sub(2)
            } else {
                objects
            };
            for row in 0..objects * objects {
                let at = (row * red_columns + channels) * lanes;
                for i in at..at + channels * lanes {
                    let holds = self.red[2].at(i) == all as f32;
                    self.red[2].set(i, f32::from(u8::from(holds)));
                }
            }
        }
    }

    /// Compose at arity 3 and its reduction.
    pub(crate) fn compose_triples(
        &mut self,
        group: &Group<'_>,
        pairs: &Tuples,
        compose: &ComposePlan,
        weights: &ComposeWeights,
        training: bool,
    ) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let features = plan.features;
        let both = plan.quantifiers == 2;
        let own_stride = plan.own_columns[3] * SIX * lanes;
        let column = compose.red_column.expect("triples are reduced");
        let red = self.red[2].as_mut_ptr().wrapping_add(column * lanes);
        let red_stride = plan.red_columns[2] * lanes;
        dispatch(
            group.simd,
            &StartReduction {
                rows: group.objects * group.objects,
                features,
                both,
                red,
                red_stride,
            },
        );
        let (own, columns) = match &compose.own {
            Some(map) => (map.columns.start, map.columns.len()),
            None => (0, 0),
        };
        let at = |column: usize| column * SIX * lanes;
        let (slots, slots_stride) = match compose.column {
            _ if !training => (null_mut(), 0),
            Some(column) => (self.slots.as_mut_ptr().wrapping_add(at(column)), own_stride),
            None => (self.pure[3].as_mut_ptr(), at(features)),
        };
        dispatch(
            group.simd,
            &Triples {
                orbits: Orbits {
                    objects: group.objects,
                    distinct: plan.distinct,
                },
                own: self.own[3].as_ptr().wrapping_add(at(own)),
                own_stride,
                columns,
                weights: weights.orbit.forward.as_ptr(),
                expanded: match &compose.expand {
                    Some(_) => self.expanded.as_ptr(),
                    None => null(),
                },
                bias: weights.bias.as_ptr(),
                features,
                both,
                output: match compose.column {
                    Some(column) => self.own[3].as_mut_ptr().wrapping_add(at(column)),
                    None => null_mut(),
                },
                slots,
                slots_stride,
                red,
                red_stride,
            },
        );
        let pure = compose.column.is_none();
        let best = if training && pure {
            let rows = group.objects * group.objects * lanes;
            self.best.reserve(rows * features * plan.quantifiers);
            self.best.as_mut_ptr()
        } else {
            null_mut()
        };
        dispatch(
            group.simd,
            &EndReduction {
                live: &pairs.live,
                empty: plan.distinct && group.objects < 3,
                activate: pure,
                features,
                both,
                red,
                red_stride,
                best,
            },
        );
    }

    /// Backward through compose at arity 3, down to `d_expanded`.
    pub(crate) fn triples_gradient(
        &mut self,
        group: &Group<'_>,
        pairs: &Tuples,
        compose: &ComposePlan,
        weights: &ComposeWeights,
        gradient: &mut [f32],
    ) {
        let plan = group.plan;
        let lanes = group.simd.lanes();
        let features = plan.features;
        let both = plan.quantifiers == 2;
        let red_columns = features * plan.quantifiers;
        let rows = group.objects * group.objects;
        let count = orbit_count(group.objects, plan.distinct);
        let orbits = Orbits {
            objects: group.objects,
            distinct: plan.distinct,
        };
        let own_stride = plan.own_columns[3] * SIX * lanes;
        let at = |column: usize| column * SIX * lanes;
        let pure = compose.column.is_none();
        let red_at = compose.red_column.expect("triples are reduced") * lanes;
        let red_stride = plan.red_columns[2] * lanes;
        let red = self.red[2].as_ptr().wrapping_add(red_at);
        let (slots, slots_stride) = match compose.column {
            Some(column) => (self.slots.as_ptr().wrapping_add(at(column)), own_stride),
            None => (self.pure[3].as_ptr(), at(features)),
        };
        let (best, best_stride) = if pure {
            (self.best.as_ptr(), red_columns * lanes)
        } else {
            (red, red_stride)
        };
        self.shares.zeroed(rows * red_columns * lanes);
        dispatch(
            group.simd,
            &CountTies {
                orbits,
                slots,
                slots_stride,
                features,
                both,
                best,
                best_stride,
                ties: self.shares.as_mut_ptr(),
            },
        );
        dispatch(
            group.simd,
            &Shares {
                live: &pairs.live,
                columns: red_columns,
                red,
                d_red: self.d_red[2].as_ptr().wrapping_add(red_at),
                red_stride,
                activate: pure,
                shares: self.shares.as_mut_ptr(),
            },
        );
        let d_expanded = match &compose.expand {
            Some(map) => {
                self.d_expanded.zeroed(rows * map.outputs * lanes);
                self.d_expanded.as_mut_ptr()
            }
            None => null_mut(),
        };
        let mut d_bias = vec![0.0; features * lanes];
        self.d_pre.reserve(count * at(features));
        let (learned_from, learned) = match &compose.own {
            Some(map) => (map.learned_from, map.columns.end - map.learned_from),
            None => (0, 0),
        };
        dispatch(
            group.simd,
            &TriplesGradient {
                orbits,
                slots,
                slots_stride,
                features,
                both,
                best,
                best_stride,
                shares: self.shares.as_ptr(),
                d_output: match compose.column {
                    Some(column) => self.d_own[3].as_ptr().wrapping_add(at(column)),
                    None => null(),
                },
                own_stride,
                d_expanded,
                d_bias: d_bias.as_mut_ptr(),
                d_pre: self.d_pre.as_mut_ptr(),
                d_own: self.d_own[3].as_mut_ptr().wrapping_add(at(learned_from)),
                learned,
                transposed: weights.orbit.transposed.as_ptr(),
            },
        );
        for (q, g) in gradient[compose.bias.clone()].iter_mut().enumerate() {
            *g += d_bias[q * lanes..(q + 1) * lanes].iter().sum::<f32>();
        }
        let Some(map) = &compose.own else { return };
        let columns = map.columns.len();
        let mut dw = vec![0.0; columns * features * SIX];
        dispatch(
            group.simd,
            &OrbitWeightGradient {
                orbits: count,
                own: self.own[3].as_ptr().wrapping_add(at(map.columns.start)),
                own_stride,
                columns,
                d_pre: self.d_pre.as_ptr(),
                features,
                dw: dw.as_mut_ptr(),
            },
        );
        for (p, row) in fourier_of_weights().iter().enumerate() {
            let params = &map.params[p * columns * features..(p + 1) * columns * features];
            for (&param, d) in params.iter().zip(dw.chunks_exact(SIX)) {
                if param != NONE {
                    let sum: f32 = d.iter().zip(row).map(|(d, m)| d * m).sum();
                    gradient[param as usize] += sum;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orbits_are_counted_in_the_order_of_the_kernels() {
        for distinct in [false, true] {
            for objects in 1..7 {
                let orbits = Orbits { objects, distinct };
                let mut next = 0;
                for x in 0..objects {
                    for y in orbits.after(x)..objects {
                        for z in orbits.after(y)..objects {
                            assert_eq!(orbit_index(objects, distinct, [x, y, z]), next);
                            next += 1;
                        }
                    }
                }
                assert_eq!(orbit_count(objects, distinct), next);
            }
        }
    }
}
