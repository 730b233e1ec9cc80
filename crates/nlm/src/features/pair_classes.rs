//! The first layer's pairs.
//!
//! Where inputs are boolean and the first layer's triples are finite (see `classes`), its pairs are
//! too: a pair is a function of the unary propositions of both objects, their types, and of
//! its pattern. So is what it adds to the triples of the first two layers.

use super::classes::{MOST_KINDS, may_be_finite as triples_may_be_finite};
use super::patterns::{KNOWN_PATTERNS, PATTERNS, Patterns};
use super::{FeatureEngine, Job};
use crate::bits::{bit, differences, sums};
use crate::buffer::Buffer;
use crate::index::Index;
use crate::kernels::class_tables::KindParts;
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::pair_tables::CopyPairs;
use crate::kernels::rows::{PairMap, RowMap, RowRun, Starts};
use crate::object_order::ObjectOrder;
use crate::plan::{BLOCK, ComposePlan, MapPlan, Plan};
use std::ptr::{null, null_mut};

/// More types than this in one structure, and its pairs are computed one by one.
pub(super) const TYPES: usize = 16;
/// As many are numbered before numbers start afresh.
const KNOWN_TYPES: usize = 1 << TYPE_BITS;
const TYPE_BITS: u32 = 6;
/// The classes a structure can have.
const OWN_CLASSES: usize = TYPES * (TYPES + 1) / 2 * PATTERNS;
/// No class yet, and no row of classes.
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
    /// `[type of a][type of b]`: where in `class_of` these begin.
    row_of: Vec<u32>,
    /// `[row][pattern]`.
    class_of: Vec<u32>,
    /// The types and the pattern of each class.
    members: Vec<[u16; 3]>,
    /// `[type][2][Q']`: what an object adds to pairs.
    of_types: Vec<f32>,
    /// How many classes have a record.
    filled: usize,
    record: Record,
    /// `[class][record]`.
    table: Buffer,
    /// The inputs and outputs of maps over the pairs of new classes.
    scratch: [Vec<f32>; 2],
    /// The class of each pair of the structures at hand.
    of_pair: Vec<u32>,
    type_of: Vec<u16>,
}

/// What is kept of a class of pairs, one after the other: the rows of (a, b) and (b, a), what both add to
/// triples of the first and the second layer (unless the second has none), and for every map of a later layer what
/// it reads of them and of the input, u and v.
#[derive(Default)]
struct Record {
    len: usize,
    /// Where what it adds to the triples of the first two layers begins.
    parts: Option<[usize; 2]>,
    /// `[layer]`: where u and v of the layer's pairs, of its triples, begin.
    starts: Vec<[Option<usize>; 2]>,
}

impl Record {
    fn new(plan: &Plan) -> Self {
        let mut record = Self {
            len: 2 * plan.features,
            ..Self::default()
        };
        let mut take = |len: usize| {
            record.len += len;
            record.len - len
        };
        let six = 6 * plan.features;
        record.parts = expand(plan).map(|_| [take(six), take(six)]);
        record.starts = (0..plan.layers.len())
            .map(|layer| {
                [Reader::Pairs, Reader::Triples]
                    .map(|by| reader(plan, layer, by).map(|map| take(2 * map.outputs)))
            })
            .collect();
        record
    }
}

/// Which operation of a layer reads pairs.
#[derive(Clone, Copy)]
pub(super) enum Reader {
    Pairs,
    Triples,
}

/// The map from the pairs of the first layer to the triples of the second.
pub(super) fn expand(plan: &Plan) -> Option<&MapPlan> {
    let map = plan.layers.get(1)?.get(3)?.expand.as_ref()?;
    (map.columns.end <= plan.inputs(2) + plan.features).then_some(map)
}

/// Columns of pairs that classes know: the input and the first layer.
fn known(plan: &Plan) -> usize {
    plan.inputs(2) + plan.features
}

/// The map of a later layer that reads pairs, if it reads those of the first.
fn reader(plan: &Plan, layer: usize, by: Reader) -> Option<&MapPlan> {
    let composes = &plan.layers[layer];
    let map = match by {
        Reader::Pairs => composes.get(2)?.own.as_ref()?,
        Reader::Triples => composes.get(3)?.expand.as_ref()?,
    };
    (layer > 0 && map.columns.start < known(plan) && known(plan) <= map.columns.end).then_some(map)
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
        self.table.bytes()
            + (self.row_of.capacity() + self.class_of.capacity() + self.of_pair.capacity()) * 4
    }

    /// Whether the first layer's pairs come from the table.
    pub(super) fn used(&self) -> bool {
        self.used
    }

    /// Tells this numbering, and the weights it goes with, from those before.
    pub(super) fn numbering(&self) -> u64 {
        self.restarts
    }

    /// The type of each object of the structure at hand.
    pub(super) fn type_of(&self) -> &[u16] {
        &self.type_of
    }

    /// The pattern of a class.
    pub(super) fn pattern(&self, class: u32) -> usize {
        usize::from(self.members[class as usize][2])
    }

    /// The class of each pair of the structures at hand.
    pub(super) fn of_pair(&self) -> &[u32] {
        &self.of_pair
    }

    /// What pairs add to the triples of the first and of the second layer; none where the second
    /// has no triples or they read more than pairs of the first.
    pub(super) fn parts(&self) -> Option<[KindParts; 2]> {
        self.record.parts.map(|parts| {
            parts.map(|at| KindParts {
                parts: self.table.as_ptr().wrapping_add(at),
                stride: self.record.len,
            })
        })
    }

    /// Takes what the table knows out of what a layer reads of pairs.
    pub(super) fn start(
        &self,
        plan: &Plan,
        layer: usize,
        by: Reader,
        run: &mut RowRun,
        map: &MapPlan,
    ) -> Starts<'_> {
        if !self.used {
            return Starts::NONE;
        }
        let Some(at) = self.record.starts[layer][by as usize] else {
            return Starts::NONE;
        };
        let known = known(plan) - map.columns.start;
        run.x = run.x.wrapping_add(known);
        run.columns -= known;
        run.weights = run.weights.wrapping_add(known * BLOCK);
        Starts {
            classes: &self.of_pair,
            table: self.table.as_ptr().wrapping_add(at),
            record: self.record.len,
        }
    }

    fn restart(&mut self, plan: &Plan, patterns: u64) {
        self.patterns = patterns;
        self.record = Record::new(plan);
        self.restarts += 1;
        self.types.clear();
        self.row_of.clear();
        self.row_of.resize(KNOWN_TYPES * KNOWN_TYPES, NONE);
        self.class_of.clear();
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
        names: &ObjectOrder,
        patterns: &Patterns,
    ) {
        let full = self.members.len() + OWN_CLASSES > MOST_KINDS;
        if full || self.patterns != patterns.numbering() {
            self.restart(job.plan, patterns.numbering());
        }
        self.used = may_be_finite(job.plan)
            && (self.know_types(names) || self.learn_types(job.plan, names));
        if self.used {
            self.classify(index, at, patterns);
            self.fill(job, patterns);
        }
    }

    /// The type of each object; false where one is new.
    fn know_types(&mut self, names: &ObjectOrder) -> bool {
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
    fn learn_types(&mut self, plan: &Plan, names: &ObjectOrder) -> bool {
        let mut own: Vec<u64> = names.types().collect();
        own.dedup();
        if own.len() > TYPES {
            return false;
        }
        let new = own.iter().filter(|b| !self.types.contains(b)).count();
        if self.types.len() + new > KNOWN_TYPES {
            self.restart(plan, self.patterns);
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
                let row = &mut self.row_of[usize::from(a_type) << TYPE_BITS | usize::from(b_type)];
                if *row == NONE {
                    *row = self.class_of.len() as u32;
                    let end = self.class_of.len() + KNOWN_PATTERNS;
                    self.class_of.resize(end, NONE);
                }
                let class = &mut self.class_of[*row as usize + pattern as usize];
                if *class == NONE {
                    *class = self.members.len() as u32;
                    self.members.push([a_type, b_type, pattern as u16]);
                }
                self.of_pair.push(*class);
            }
        }
    }

    /// What objects of new types add to pairs.
    fn fill_types(&mut self, job: &Job<'_>) {
        let plan = job.plan;
        let Some(map) = &plan.layers[0][2].expand else {
            return;
        };
        let weights = &job.weights[0][2];
        let done = self.of_types.len() / map.outputs;
        let new = &self.types[done..];
        self.of_types.resize(self.types.len() * map.outputs, 0.0);
        let inputs = &mut self.scratch[0];
        inputs.clear();
        for &bits in new {
            inputs.extend((0..plan.inputs(1)).map(|c| bit(bits, c)));
        }
        let bias = &weights.expand_bias;
        dispatch(
            job.simd,
            &RowMap {
                rows: new.len(),
                in_parts: false,
                owners: &[],
                bias: if bias.is_empty() {
                    null()
                } else {
                    bias.as_ptr()
                },
                expanded: null(),
                runs: &[RowRun {
                    x: inputs.as_ptr().wrapping_add(map.columns.start),
                    stride: plan.inputs(1),
                    columns: map.columns.len(),
                    weights: weights.expand.rows.as_ptr(),
                    width: map.columns.len(),
                }],
                y: self.of_types[done * map.outputs..].as_mut_ptr(),
                y_stride: map.outputs,
                outputs: map.outputs,
                activate: false,
            },
        );
    }

    /// The records of new classes.
    fn fill(&mut self, job: &Job<'_>, patterns: &Patterns) {
        let plan = job.plan;
        let done = self.filled;
        if done == self.members.len() {
            return;
        }
        self.fill_types(job);
        self.filled = self.members.len();
        let len = self.record.len;
        self.table.extend(done * len, self.filled * len);
        let table = &mut self.table.as_mut_slice()[done * len..self.filled * len];
        let new = &self.members[done..];
        let [own, y] = &mut self.scratch;
        let (channels, features) = (plan.inputs(2), plan.features);
        let columns = known(plan);
        // The pairs of these classes, as if they were those of a structure with an object a type.
        own.clear();
        for &[.., pattern] in new {
            let bits = patterns.known()[usize::from(pattern)];
            own.extend(sums(bits, channels));
            own.resize(own.len() + features, 0.0);
            own.extend(differences(bits, channels));
            own.resize(own.len() + features, 0.0);
        }
        let ends: Vec<[u32; 2]> = new.iter().map(|&[a, b, _]| [a.into(), b.into()]).collect();
        let (compose, weights) = (&plan.layers[0][2], &job.weights[0][2]);
        let own_at = own.as_mut_ptr();
        let run = |map: &MapPlan, weights: &[f32]| RowRun {
            x: own_at.wrapping_add(map.columns.start),
            stride: columns,
            columns: map.columns.end.min(columns) - map.columns.start,
            weights: weights.as_ptr(),
            width: map.columns.len(),
        };
        let map = compose.own.as_ref().expect("checked before");
        y.resize(new.len() * 2 * features, 0.0);
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
                runs: &[run(map, &weights.own.rows)],
                outputs: features,
                activate: true,
                y: y.as_mut_ptr(),
                y_stride: features,
                sums: own_at.wrapping_add(channels),
                sums_stride: columns,
            },
        );
        let copy = |table: &mut [f32], at: usize, y: &[f32], each: usize| {
            for (to, y) in table.chunks_exact_mut(len).zip(y.chunks_exact(each)) {
                to[at..at + each].copy_from_slice(y);
            }
        };
        copy(table, 0, y, 2 * features);
        let linear = |y: &mut Vec<f32>, run: RowRun, bias: &[f32], outputs: usize| {
            y.resize(new.len() * 2 * outputs, 0.0);
            let kernel = PairMap {
                pairs: new.len(),
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
        };
        if let (Some([first, second]), Some(map)) = (self.record.parts, expand(plan)) {
            for (to, &[.., pattern]) in table.chunks_exact_mut(len).zip(new) {
                let part = patterns.expanded(usize::from(pattern), features);
                to[first..first + part.len()].copy_from_slice(part);
            }
            let weights = &job.weights[1][3];
            let run = run(map, &weights.expand.rows);
            linear(y, run, &weights.expand_bias, map.outputs);
            copy(table, second, y, 2 * map.outputs);
        }
        for (layer, starts) in self.record.starts.iter().enumerate() {
            for (by, at) in [Reader::Pairs, Reader::Triples].into_iter().zip(starts) {
                let (Some(at), Some(map)) = (at, reader(plan, layer, by)) else {
                    continue;
                };
                let weights = match by {
                    Reader::Pairs => &job.weights[layer][2].own.rows,
                    Reader::Triples => &job.weights[layer][3].expand.rows,
                };
                linear(y, run(map, weights), &[], map.outputs);
                // From u + v and u - v back to u and v.
                for pair in y.chunks_exact_mut(2 * map.outputs) {
                    let (ab, ba) = pair.split_at_mut(map.outputs);
                    for (ab, ba) in ab.iter_mut().zip(ba) {
                        (*ab, *ba) = (0.5 * (*ab + *ba), 0.5 * (*ab - *ba));
                    }
                }
                copy(table, *at, y, 2 * map.outputs);
            }
        }
    }
}

impl FeatureEngine {
    /// The first layer's compose at arity 2: its reduction. The table has whatever else reads it.
    pub(super) fn pairs_by_class(&mut self, job: &Job<'_>, index: &Index, compose: &ComposePlan) {
        dispatch(
            job.simd,
            &CopyPairs {
                classes: &self.pair_classes.of_pair,
                table: self.pair_classes.table.as_ptr(),
                record: self.pair_classes.record.len,
                features: job.plan.features,
                y: self.raw.as_mut_ptr(),
            },
        );
        let y = self.raw.as_ptr();
        self.reduce(job, index, 2, compose, y, job.plan.features);
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
            for c in (0..8).filter(|c| (x % types + shift) >> c & 1 == 1) {
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
                input_channels: vec![1, 8, 2],
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
                    (16, 16, 60),
                    (17, 16, 90),
                    (16, 16, 120),
                    (12, 16, 150),
                    (12, 8, 0),
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
                assert_eq!((by_class, one_by_one), (11, 1));
                assert!(used.pair_classes.numbering() > 1, "types numbered afresh");
            }
        }
    }
}
