//! The first layer's pairs.
//!
//! Where inputs are boolean and the first layer's triples are finite (see `classes`), its pairs are
//! too: a pair is a function of the unary propositions of both objects, their types, and of
//! its pattern. So is what it adds to the triples of the second layer.

use super::classes::{Classes, First, NONE, PATTERN_BITS, PATTERNS, differences, sums};
use super::index::Index;
use super::{FeatureEngine, Job};
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::pair_tables::CopyPairs;
use crate::kernels::rows::{PairMap, RowMap, RowRun, Starts};
use crate::plan::{BLOCK, ComposePlan, MapPlan, Plan};
use std::ptr::{null, null_mut};

/// More types than this in one structure, and its pairs are computed one by one.
const TYPES: usize = 1 << TYPE_BITS;
const TYPE_BITS: u32 = 4;

#[derive(Default)]
pub(crate) struct PairClasses {
    /// Whether the structure at hand is one of few types.
    used: bool,
    /// Whether records have what the second layer's triples read.
    expands: bool,
    /// The numbering of patterns these tables belong to, and so the weights.
    restarts: u64,
    own_restarts: u64,
    /// The bits of each type.
    types: Vec<u64>,
    /// `[type of a][type of b][pattern]`.
    class_of: Vec<u32>,
    /// The types and the pattern of each class.
    members: Vec<[u16; 3]>,
    /// `[type][2][Q']`: what an object adds to pairs.
    of_types: Vec<f32>,
    /// `[class][record]`: what [`CopyPairs`] copies, then for each later layer what its
    /// pairs read of it, u and v.
    table: Vec<f32>,
    /// The class of each pair of the structure at hand.
    class: Vec<u32>,
    bits: Vec<u64>,
    type_of: Vec<u16>,
}

/// The map from the pairs of the first layer to the triples of the second.
fn expand(plan: &Plan) -> Option<&MapPlan> {
    let map = plan.layers.get(1)?.get(3)?.expand.as_ref()?;
    (map.columns.end <= plan.inputs(2) + plan.features).then_some(map)
}

/// The map from pairs to the pairs of a later layer, if it reads those of the first.
fn later_pairs(plan: &Plan, layer: usize) -> Option<&MapPlan> {
    let map = plan.layers[layer].get(2)?.own.as_ref()?;
    let known = plan.inputs(2) + plan.features;
    (layer > 0 && map.columns.start < known && known <= map.columns.end).then_some(map)
}

fn may_be_finite(plan: &Plan) -> bool {
    plan.inputs(1) <= 64
        && plan.layers[0].get(2).is_some_and(|compose| {
            compose.red.is_none() && compose.own.is_some() && compose.column == Some(plan.inputs(2))
        })
}

impl PairClasses {
    pub(crate) fn bytes(&self) -> usize {
        (self.table.capacity() + self.class_of.capacity() + self.class.capacity()) * 4
    }

    /// Whether the first layer's pairs come from the table.
    pub(super) fn used(&self) -> bool {
        self.used
    }

    /// Whether what pairs add to this layer's triples comes from the table.
    pub(super) fn expanded_in(&self, layer: usize) -> bool {
        self.used && self.expands && layer == 1
    }

    fn record(&self, plan: &Plan) -> usize {
        let starts = 2 * (plan.layers.len() - 1);
        plan.features * (starts + if self.expands { 10 } else { 4 })
    }

    /// Where in a record a layer's pairs find what they read of the first layer's, if they do.
    pub(super) fn starts(&self, plan: &Plan, layer: usize) -> Option<usize> {
        let before = if self.expands { 10 } else { 4 };
        (self.used && later_pairs(plan, layer).is_some())
            .then(|| plan.features * (before + 2 * (layer - 1)))
    }

    /// Takes what the table knows out of what a layer's pairs read.
    pub(super) fn start(
        &self,
        plan: &Plan,
        layer: usize,
        run: &mut RowRun,
        map: &MapPlan,
    ) -> Starts<'_> {
        let Some(at) = self.starts(plan, layer) else {
            return Starts::NONE;
        };
        let known = plan.inputs(2) + plan.features - map.columns.start;
        run.x = run.x.wrapping_add(known);
        run.columns -= known;
        run.weights = run.weights.wrapping_add(known * BLOCK);
        Starts {
            classes: &self.class,
            table: self.table.as_ptr().wrapping_add(at),
            record: self.record(plan),
        }
    }

    /// How often these tables and those of triples started afresh.
    pub(super) fn all_restarts(&self) -> u64 {
        self.own_restarts
    }

    fn restart(&mut self, restarts: u64) {
        self.restarts = restarts;
        self.own_restarts += 1;
        self.types.clear();
        self.class_of.clear();
        self.class_of.resize(TYPES * TYPES * PATTERNS, NONE);
        self.members.clear();
        self.of_types.clear();
        self.table.clear();
    }

    /// The type of each object and the class of each pair; false where there are too many types.
    fn find(&mut self, job: &Job<'_>, index: &Index, at: usize, classes: &Classes) -> bool {
        if self.restarts != classes.restarts {
            self.restart(classes.restarts);
        }
        self.bits.clear();
        self.bits.resize(index.objects, 0);
        for (c, x) in job.structure.propositions(1) {
            self.bits[usize::from(x[0])] |= 1 << c;
        }
        if !self.know_types() {
            let mut own: Vec<u64> = Vec::with_capacity(TYPES);
            for &bits in &self.bits {
                if !own.contains(&bits) {
                    own.push(bits);
                    if own.len() > TYPES {
                        return false;
                    }
                }
            }
            own.retain(|bits| !self.types.contains(bits));
            if self.types.len() + own.len() > TYPES {
                self.restart(classes.restarts);
                self.types.extend_from_slice(&self.bits);
                self.types.sort_unstable();
                self.types.dedup();
            } else {
                self.types.append(&mut own);
            }
            self.know_types();
        }
        self.class.truncate(at * index.rows(2) / 2);
        let mut patterns = classes.pattern_of.iter();
        for a in 0..index.objects {
            let a_type = usize::from(self.type_of[a]) << TYPE_BITS;
            for b in index.orbits().after(a)..index.objects {
                let types = a_type | usize::from(self.type_of[b]);
                let pattern = *patterns.next().expect("one for each pair");
                let key = types << PATTERN_BITS | usize::from(pattern);
                let mut class = self.class_of[key];
                if class == NONE {
                    class = self.members.len() as u32;
                    self.class_of[key] = class;
                    self.members
                        .push([self.type_of[a], self.type_of[b], pattern]);
                }
                self.class.push(class);
            }
        }
        true
    }

    /// The type of each object; false where one is new.
    fn know_types(&mut self) -> bool {
        self.type_of.clear();
        for &bits in &self.bits {
            let Some(of) = self.types.iter().position(|&b| b == bits) else {
                return false;
            };
            self.type_of.push(of as u16);
        }
        true
    }

    /// What objects of new types add to pairs. One by one, since a map of several rows may
    /// add in another order.
    fn fill_types(&mut self, job: &Job<'_>) {
        let plan = job.plan;
        let Some(map) = &plan.layers[0][2].expand else {
            return;
        };
        let weights = &job.weights[0][2];
        let done = self.of_types.len() / map.outputs;
        self.of_types.resize(self.types.len() * map.outputs, 0.0);
        for (t, &bits) in self.types.iter().enumerate().skip(done) {
            let inputs: Vec<f32> = sums(bits, plan.inputs(1)).collect();
            let run = RowRun {
                x: inputs[map.columns.start..].as_ptr(),
                stride: inputs.len(),
                columns: map.columns.len(),
                weights: weights.expand.rows.as_ptr(),
                width: map.columns.len(),
            };
            let bias = &weights.expand_bias;
            dispatch(
                job.simd,
                &RowMap {
                    rows: 1,
                    in_parts: false,
                    owners: &[],
                    bias: if bias.is_empty() {
                        null()
                    } else {
                        bias.as_ptr()
                    },
                    expanded: null(),
                    runs: &[run],
                    y: self.of_types[t * map.outputs..].as_mut_ptr(),
                    y_stride: map.outputs,
                    outputs: map.outputs,
                    activate: false,
                },
            );
        }
    }

    /// The records of new classes.
    fn fill(&mut self, job: &Job<'_>, classes: &Classes) {
        let plan = job.plan;
        let record = self.record(plan);
        let done = self.table.len() / record;
        if done == self.members.len() {
            return;
        }
        self.fill_types(job);
        let new = &self.members[done..];
        let (channels, features) = (plan.inputs(2), plan.features);
        let columns = channels + features;
        // The pairs of these classes, as if they were those of a structure with an object a type.
        let mut own = Vec::with_capacity(new.len() * 2 * columns);
        for &[.., pattern] in new {
            let bits = classes.patterns[usize::from(pattern)];
            own.extend(sums(bits, channels));
            own.resize(own.len() + features, 0.0);
            own.extend(differences(bits, channels));
            own.resize(own.len() + features, 0.0);
        }
        let ends: Vec<[u32; 2]> = new.iter().map(|&[a, b, _]| [a.into(), b.into()]).collect();
        let (compose, weights) = (&plan.layers[0][2], &job.weights[0][2]);
        let map = compose.own.as_ref().expect("checked before");
        let own_at = own.as_mut_ptr();
        let mut y = vec![0.0; new.len() * 2 * features];
        dispatch(
            job.simd,
            &PairMap {
                pairs: new.len(),
                ends: &ends,
                bias: weights.bias.as_ptr(),
                starts: Starts::NONE,
                expanded: match compose.expand {
                    Some(_) => self.of_types.as_ptr(),
                    None => null(),
                },
                runs: &[RowRun {
                    x: own_at.wrapping_add(map.columns.start),
                    stride: columns,
                    columns: map.columns.len(),
                    weights: weights.own.rows.as_ptr(),
                    width: map.columns.len(),
                }],
                outputs: features,
                activate: true,
                y: y.as_mut_ptr(),
                y_stride: features,
                sums: own_at.wrapping_add(channels),
                sums_stride: columns,
            },
        );
        let run = |map: &MapPlan, end: usize, weights: &[f32]| RowRun {
            x: own_at.wrapping_add(map.columns.start),
            stride: columns,
            columns: end - map.columns.start,
            weights: weights.as_ptr(),
            width: map.columns.len(),
        };
        let count = new.len();
        let plain = |run: RowRun, bias: &[f32], outputs: usize| {
            let mut y = vec![0.0; count * 2 * outputs];
            let kernel = PairMap {
                pairs: count,
                ends: &[],
                bias: if bias.is_empty() {
                    null()
                } else {
                    bias.as_ptr()
                },
                starts: Starts::NONE,
                expanded: null(),
                runs: &[run],
                outputs,
                activate: false,
                y: y.as_mut_ptr(),
                y_stride: outputs,
                sums: null_mut(),
                sums_stride: 0,
            };
            dispatch(job.simd, &kernel);
            y
        };
        let expanded = expand(plan).map(|map| {
            let weights = &job.weights[1][3];
            let run = run(map, map.columns.end, &weights.expand.rows);
            plain(run, &weights.expand_bias, map.outputs)
        });
        let starts: Vec<_> = (1..plan.layers.len())
            .map(|layer| {
                let map = later_pairs(plan, layer)?;
                let run = run(map, columns, &job.weights[layer][2].own.rows);
                Some(plain(run, &[], features))
            })
            .collect();
        let two = 2 * features;
        for (i, own) in own.chunks_exact(2 * columns).enumerate() {
            self.table.extend_from_slice(&y[i * two..(i + 1) * two]);
            self.table.extend_from_slice(&own[channels..columns]);
            self.table.extend_from_slice(&own[columns + channels..]);
            if let Some(expanded) = &expanded {
                self.table
                    .extend_from_slice(&expanded[i * 3 * two..(i + 1) * 3 * two]);
            }
            for start in &starts {
                let at = self.table.len();
                self.table.resize(at + two, 0.0);
                if let Some(start) = start {
                    // From u + v and u - v back to u and v.
                    let (ab, ba) = start[i * two..(i + 1) * two].split_at(features);
                    let (u, v) = self.table[at..].split_at_mut(features);
                    for f in 0..features {
                        u[f] = 0.5 * (ab[f] + ba[f]);
                        v[f] = 0.5 * (ab[f] - ba[f]);
                    }
                }
            }
        }
    }
}

impl FeatureEngine {
    /// Finds the classes of the first layer's pairs, with a table for all of them.
    pub(super) fn classify_pairs(&mut self, job: &Job<'_>, index: &Index, first: First) {
        let classes = &mut self.pair_classes;
        classes.used = first != First::NotFinite
            && may_be_finite(job.plan)
            && classes.find(job, index, self.at, &self.classes);
        if classes.used {
            classes.expands = expand(job.plan).is_some();
            classes.fill(job, &self.classes);
        }
    }

    /// The first layer's compose at arity 2 and its reduction, and what the second layer's triples
    /// read of it.
    pub(super) fn pairs_by_class(&mut self, job: &Job<'_>, index: &Index, compose: &ComposePlan) {
        let plan = job.plan;
        let column = compose.column.expect("checked before");
        let mut expanded = null_mut();
        if self.pair_classes.expands {
            self.pairs
                .resize_with(self.pairs.len().max(2), Default::default);
            self.pairs[1].reserve(index.group * index.rows(2) * 3 * plan.features);
            expanded = self.pairs[1].as_mut_ptr();
        }
        dispatch(
            job.simd,
            &CopyPairs {
                classes: &self.pair_classes.class,
                table: self.pair_classes.table.as_ptr(),
                record: self.pair_classes.record(plan),
                features: plan.features,
                y: self.raw.as_mut_ptr(),
                sums: self.own[2].as_mut_ptr().wrapping_add(column),
                sums_stride: plan.own_columns[2],
                expanded,
            },
        );
        let y = self.raw.as_ptr();
        self.reduce(job, index, 2, compose, y, plan.features);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;
    use crate::{Nlm, NlmConfig, Quantifiers, Simd, Structure};

    /// Objects with one of `types` sets of unary propositions, from `shift` on.
    fn structure(objects: usize, types: usize, shift: usize) -> Structure {
        let mut s = Structure::new(objects);
        for x in 0..objects {
            for c in (0..6).filter(|c| ((x * x + x) % types + shift) >> c & 1 == 1) {
                s.insert(c, &[x]);
            }
            s.insert(0, &[x, (x * x + shift) % objects]);
            s.insert(1, &[(3 * x) % objects, x]);
        }
        s
    }

    /// Few types, more than the table holds, and so many in all that it starts afresh.
    #[test]
    fn pairs_by_class_are_exact_whatever_came_before() {
        for (distinct, skip_connections, layers, features) in [
            (false, true, 5, 8),
            (true, true, 5, 8),
            (true, true, 6, 11),
            (false, false, 6, 8),
            (false, true, 4, 3),
        ] {
            let nlm = Nlm::new(NlmConfig {
                input_channels: vec![1, 6, 2],
                layers,
                features,
                quantifiers: Quantifiers::ExistsForall,
                distinct,
                skip_connections,
                ..NlmConfig::default()
            })
            .unwrap();
            let parameters = nlm.init(7);
            let exact: Vec<f64> = parameters.iter().map(|&w| f64::from(w)).collect();
            let levels = [Simd::Portable, Simd::Avx2, Simd::Avx512];
            for simd in levels.into_iter().filter(|s| s.supported()) {
                let prepared = nlm.prepare(&parameters, simd);
                let mut used = FeatureEngine::default();
                let (mut by_class, mut one_by_one) = (0, 0);
                for (objects, types, shift) in [
                    (1, 1, 0),
                    (2, 2, 1),
                    (12, 8, 0),
                    (13, 9, 20),
                    (24, 61, 3),
                    (12, 8, 0),
                    (11, 16, 40),
                ] {
                    let structure = structure(objects, types, shift);
                    let job = prepared.job(&structure);
                    let value = used.value(&job);
                    let fresh = FeatureEngine::default().value(&job);
                    assert_eq!(value.to_bits(), fresh.to_bits(), "{simd} {objects}");
                    let right = Reference::forward(&nlm, &exact, &structure).value();
                    let error = (f64::from(value) - right).abs();
                    assert!(
                        error <= 1e-5 * right.abs().max(1.0),
                        "{value} {right} {simd}"
                    );
                    if used.pair_classes.used() {
                        by_class += 1;
                    } else {
                        one_by_one += 1;
                    }
                }
                assert_eq!((by_class, one_by_one), (6, 1));
            }
        }
    }
}
