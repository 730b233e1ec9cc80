//! The first layer's pairs.
//!
//! Where inputs are boolean and the first layer's triples are finite (see `classes`), its pairs are
//! too: a pair is a function of the unary propositions of both objects, their types, and of
//! its pattern. So is what it adds to the triples of the first two layers.

use super::classes::{Finite, may_be_finite as triples_may_be_finite};
use super::index::Index;
use super::names::Names;
use super::patterns::{PATTERN_BITS, PATTERNS, Patterns, bit, differences, sums};
use super::{FeatureEngine, Job};
use crate::buffer::Buffer;
use crate::kernels::class_tables::KindParts;
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::pair_tables::CopyPairs;
use crate::kernels::rows::{PairMap, RowMap, RowRun, Starts};
use crate::plan::{BLOCK, ComposePlan, MapPlan, Plan};
use std::ptr::{null, null_mut};

/// More types than this in one structure, and its pairs are computed one by one.
const TYPES: usize = 1 << TYPE_BITS;
const TYPE_BITS: u32 = 4;
/// No class yet.
const NONE: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct PairClasses {
    /// Whether the structure at hand is one of few types.
    used: bool,
    /// The numbering of patterns these tables belong to, and so the weights.
    patterns: u64,
    /// How often classes were numbered afresh.
    restarts: u64,
    /// The bits of each type.
    types: Vec<u64>,
    /// `[type of a][type of b][pattern]`.
    class_of: Vec<u32>,
    /// The types and the pattern of each class.
    members: Vec<[u16; 3]>,
    /// `[type][2][Q']`: what an object adds to pairs.
    of_types: Vec<f32>,
    /// How many classes have a record.
    filled: usize,
    /// `[class][record]`, see [`Record`].
    table: Buffer,
    /// The class of each pair of the structures at hand.
    of_pair: Vec<u32>,
    type_of: Vec<u16>,
}

/// What is kept of a class of pairs, one after the other: the rows of (a, b) and (b, a), their sum and difference, what
/// both add to triples of the first and the second layer, and for every later layer what its pairs
/// read of them, u and v.
#[derive(Clone, Copy)]
struct Record {
    features: usize,
    layers: usize,
    /// Whether it has what triples read.
    expands: bool,
}

impl Record {
    fn new(plan: &Plan) -> Self {
        Self {
            features: plan.features,
            layers: plan.layers.len(),
            expands: expand(plan).is_some(),
        }
    }

    /// Where what it adds to a layer's triples begins.
    fn parts(self, layer: usize) -> usize {
        (4 + 6 * layer) * self.features
    }

    /// Where what a layer's pairs read of it begins.
    fn starts(self, layer: usize) -> usize {
        let before = if self.expands { 16 } else { 4 };
        (before + 2 * (layer - 1)) * self.features
    }

    fn len(self) -> usize {
        self.starts(self.layers)
    }
}

/// The map from the pairs of the first layer to the triples of the second.
pub(super) fn expand(plan: &Plan) -> Option<&MapPlan> {
    let map = plan.layers.get(1)?.get(3)?.expand.as_ref()?;
    (map.columns.end <= plan.inputs(2) + plan.features).then_some(map)
}

/// The map from pairs to the pairs of a later layer, if it reads those of the first.
fn later_pairs(plan: &Plan, layer: usize) -> Option<&MapPlan> {
    let map = plan.layers[layer].get(2)?.own.as_ref()?;
    let known = plan.inputs(2) + plan.features;
    (layer > 0 && map.columns.start < known && known <= map.columns.end).then_some(map)
}

/// Whether the first layer's pairs are a function of patterns and types.
pub(super) fn may_be_finite(plan: &Plan) -> bool {
    triples_may_be_finite(plan)
        && plan.inputs(1) <= 64
        && plan.layers[0].get(2).is_some_and(|compose| {
            compose.red.is_none() && compose.own.is_some() && compose.column == Some(plan.inputs(2))
        })
}

impl PairClasses {
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes() + (self.class_of.capacity() + self.of_pair.capacity()) * 4
    }

    /// Whether the first layer's pairs come from the table.
    pub(super) fn used(&self) -> bool {
        self.used
    }

    /// Tells this numbering, and the weights it goes with, from those before.
    pub(super) fn numbering(&self) -> u64 {
        self.restarts
    }

    /// The class of each pair of the structures at hand.
    pub(super) fn of_pair(&self) -> &[u32] {
        &self.of_pair
    }

    /// Whether what pairs add to the second layer's triples comes from the table.
    pub(super) fn expanded(&self, plan: &Plan) -> bool {
        self.used && expand(plan).is_some()
    }

    /// What pairs add to the triples of the first or the second layer.
    pub(super) fn parts(&self, plan: &Plan, layer: usize) -> KindParts {
        let record = Record::new(plan);
        KindParts {
            parts: self.table.as_ptr().wrapping_add(record.parts(layer)),
            stride: record.len(),
        }
    }

    /// Whether a layer's pairs read the first layer's from the table.
    pub(super) fn starts(&self, plan: &Plan, layer: usize) -> bool {
        self.used && later_pairs(plan, layer).is_some()
    }

    /// Takes what the table knows out of what a layer's pairs read.
    pub(super) fn start(
        &self,
        plan: &Plan,
        layer: usize,
        run: &mut RowRun,
        map: &MapPlan,
    ) -> Starts<'_> {
        if !self.starts(plan, layer) {
            return Starts::NONE;
        }
        let known = plan.inputs(2) + plan.features - map.columns.start;
        run.x = run.x.wrapping_add(known);
        run.columns -= known;
        run.weights = run.weights.wrapping_add(known * BLOCK);
        let record = Record::new(plan);
        Starts {
            classes: &self.of_pair,
            table: self.table.as_ptr().wrapping_add(record.starts(layer)),
            record: record.len(),
        }
    }

    fn restart(&mut self, patterns: u64) {
        self.patterns = patterns;
        self.restarts += 1;
        self.types.clear();
        self.class_of.clear();
        self.class_of.resize(TYPES * TYPES * PATTERNS, NONE);
        self.members.clear();
        self.of_types.clear();
        self.filled = 0;
    }

    /// For a structure whose first layer is not finite.
    pub(super) fn leave(&mut self) {
        self.used = false;
    }

    /// The type of each object and the class of each pair, with a record for all of them. Where there are too many
    /// types, pairs are not [`used`](Self::used). The structure is the one at this place of its group.
    pub(super) fn find(
        &mut self,
        job: &Job<'_>,
        index: &Index,
        at: usize,
        names: &Names,
        patterns: &Patterns,
    ) {
        if self.patterns != patterns.numbering() {
            self.restart(patterns.numbering());
        }
        self.used = may_be_finite(job.plan) && (self.know_types(names) || self.learn_types(names));
        if self.used {
            self.classify(index, at, patterns);
            self.fill(job, patterns);
        }
    }

    /// The type of each object; false where one is new.
    fn know_types(&mut self, names: &Names) -> bool {
        self.type_of.clear();
        let mut last = None;
        for bits in names.types() {
            // Objects of one type follow one another.
            let of = match last {
                Some((same, of)) if same == bits => of,
                _ => match self.types.iter().position(|&b| b == bits) {
                    Some(of) => of as u16,
                    None => return false,
                },
            };
            last = Some((bits, of));
            self.type_of.push(of);
        }
        true
    }

    /// Numbers the new types of the structure, afresh where all do not fit; false where it
    /// has too many itself.
    #[cold]
    fn learn_types(&mut self, names: &Names) -> bool {
        let mut own: Vec<u64> = names.types().collect();
        own.dedup();
        if own.len() > TYPES {
            return false;
        }
        let new = own.iter().filter(|b| !self.types.contains(b)).count();
        if self.types.len() + new > TYPES {
            self.restart(self.patterns);
        }
        own.retain(|b| !self.types.contains(b));
        self.types.append(&mut own);
        self.know_types(names)
    }

    /// The class of each pair.
    fn classify(&mut self, index: &Index, at: usize, patterns: &Patterns) {
        self.of_pair.truncate(at * index.rows(2) / 2);
        let mut patterns = patterns.of_pair();
        for (a, &a_type) in self.type_of.iter().enumerate() {
            let others = &self.type_of[index.orbits().after(a)..];
            let (own, rest) = patterns.split_at(others.len());
            patterns = rest;
            for (&b_type, &pattern) in others.iter().zip(own) {
                let types = usize::from(a_type) << TYPE_BITS | usize::from(b_type);
                let class = &mut self.class_of[types << PATTERN_BITS | pattern as usize];
                if *class == NONE {
                    *class = self.members.len() as u32;
                    self.members.push([a_type, b_type, pattern as u16]);
                }
                self.of_pair.push(*class);
            }
        }
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
            let inputs: Vec<f32> = (0..plan.inputs(1)).map(|c| bit(bits, c)).collect();
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
    fn fill(&mut self, job: &Job<'_>, patterns: &Patterns) {
        let plan = job.plan;
        let record = Record::new(plan);
        let done = self.filled;
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
            let bits = patterns.known()[usize::from(pattern)];
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
        let (len, two) = (record.len(), 2 * features);
        self.filled = self.members.len();
        self.table.extend(done * len, self.filled * len);
        let to = self.table.as_mut_slice()[done * len..].chunks_exact_mut(len);
        let own = own.chunks_exact(2 * columns);
        for (i, ((to, own), member)) in to.zip(own).zip(&self.members[done..]).enumerate() {
            to[..two].copy_from_slice(&y[i * two..(i + 1) * two]);
            to[two..3 * features].copy_from_slice(&own[channels..columns]);
            to[3 * features..4 * features].copy_from_slice(&own[columns + channels..]);
            if let Some(expanded) = &expanded {
                let (first, second) = (record.parts(0), record.parts(1));
                let pattern = usize::from(member[2]);
                to[first..second].copy_from_slice(patterns.expanded(pattern, features));
                let second = &mut to[second..second + 3 * two];
                second.copy_from_slice(&expanded[i * 3 * two..(i + 1) * 3 * two]);
            }
            for (layer, start) in (1..).zip(&starts) {
                if let Some(start) = start {
                    // From u + v and u - v back to u and v.
                    let (ab, ba) = start[i * two..(i + 1) * two].split_at(features);
                    let (u, v) = to[record.starts(layer)..].split_at_mut(features);
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
    /// The first layer's compose at arity 2 and its reduction, and, unless they are finite, what the second
    /// layer's triples read of it.
    pub(super) fn pairs_by_class(
        &mut self,
        job: &Job<'_>,
        index: &Index,
        compose: &ComposePlan,
        finite: Finite,
    ) {
        let plan = job.plan;
        let column = compose.column.expect("checked before");
        let mut expanded = null_mut();
        let record = Record::new(plan);
        if record.expands && finite.layers < 2 {
            self.pairs
                .resize_with(self.pairs.len().max(2), Default::default);
            self.pairs[1].reserve(index.group * index.rows(2) * 3 * plan.features);
            expanded = self.pairs[1].as_mut_ptr();
        }
        dispatch(
            job.simd,
            &CopyPairs {
                classes: &self.pair_classes.of_pair,
                table: self.pair_classes.table.as_ptr(),
                record: record.len(),
                features: plan.features,
                y: self.raw.as_mut_ptr(),
                sums: self.own[2].as_mut_ptr().wrapping_add(column),
                sums_stride: plan.own_columns[2],
                parts: record.parts(1),
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
