//! Tables over classes of pairs.
//!
//! A pair of the first layer is a function of its class, and so is what it adds to the triples of
//! the first two layers, and its part in every later map that reads pairs.

use super::{Job, ValuesByClass, finite_layers};
use crate::classes::Classes;
use crate::index::Index;
use crate::inputs::{write, write_sums};
use crate::kernels::buffer::Buffer;
use crate::kernels::rows::{PairMap, ReduceRows, RowMap, Source, Starts};
use crate::kernels::view::{Rows, RowsMut};
use crate::plan::{BLOCK, ComposePlan, MapPlan, Plan};

#[derive(Default)]
pub(crate) struct PairTables {
    record: Record,
    /// `[class][record]`.
    table: Buffer,
    /// How many classes have a record.
    filled: usize,
    /// `[type][2][Q']`: what an object adds to pairs.
    of_types: Vec<f32>,
    /// The inputs and outputs of maps over new types and the pairs of new classes.
    scratch: [Vec<f32>; 2],
    /// See [`Classes::members`].
    members: Vec<u32>,
}

/// What is kept of a class of pairs, one after the other: the rows of (a, b) and (b, a), what both
/// add to triples of the finite layers, and for every map of a later layer what it reads of them
/// and of the input, u and v. All are multiples of Q'.
#[derive(Default)]
struct Record {
    len: usize,
    /// `[layer]`: where what it adds to the triples of a finite layer begins.
    parts: Vec<usize>,
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
        let finite = finite_layers(plan);
        record.parts = (0..finite).map(|_| take(6 * plan.features)).collect();
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

/// Columns of pairs that classes know: the input and the first layer.
pub(super) fn known(plan: &Plan) -> usize {
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

impl PairTables {
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes() + self.members.capacity() * 4
    }

    /// What pairs add to the triples of a finite layer, and for how many classes.
    pub(super) fn parts(&self, layer: usize) -> (Rows<'_>, usize) {
        let table = self.table.view(self.record.len);
        (table.from(self.record.parts[layer]), self.filled)
    }

    /// Takes what the tables know out of what a layer reads of pairs.
    pub(super) fn start<'a>(
        &'a self,
        plan: &Plan,
        [layer, by]: [usize; 2],
        classes: &'a [u32],
        source: Source<'a>,
        map: &MapPlan,
    ) -> (Option<Starts<'a>>, Source<'a>) {
        let Some(at) = self.record.starts[layer][by] else {
            return (None, source);
        };
        let known = known(plan) - map.columns.start;
        let rest = Source {
            x: source.x.from(known),
            columns: source.columns - known,
            weights: &source.weights[known * BLOCK..],
            ..source
        };
        let starts = Starts {
            classes,
            table: self.table.view(self.record.len).from(at),
            count: self.filled,
        };
        (Some(starts), rest)
    }

    pub(super) fn restart(&mut self, plan: &Plan) {
        self.record = Record::new(plan);
        self.of_types.clear();
        self.filled = 0;
    }

    /// What objects of new types add to pairs.
    fn fill_types(&mut self, job: &Job<'_>, classes: &Classes) {
        let Some(map) = &job.plan.layers[0][2].expand else {
            return;
        };
        let channels = job.plan.inputs(1);
        let done = self.of_types.len() / map.outputs;
        let new = &classes.types()[done..];
        self.of_types
            .resize(classes.types().len() * map.outputs, 0.0);
        let inputs = &mut self.scratch[0];
        inputs.clear();
        inputs.resize(new.len() * channels, 0.0);
        for (row, &bits) in inputs.chunks_exact_mut(channels).zip(new) {
            write(row, bits);
        }
        job.level.run(&RowMap {
            rows: new.len(),
            in_parts: false,
            bias: None,
            expanded: None,
            sources: &[Source {
                x: Rows::new(inputs, channels).from(map.columns.start),
                columns: map.columns.len(),
                weights: &job.weights[0][2].expand.rows,
                width: map.columns.len(),
            }],
            y: RowsMut::new(&mut self.of_types[done * map.outputs..], map.outputs),
            outputs: map.outputs,
            activate: false,
        });
    }

    /// The records of new classes.
    pub(super) fn fill(&mut self, job: &Job<'_>, classes: &Classes) {
        let plan = job.plan;
        let (done, all) = (self.filled, classes.pairs());
        if done == all {
            return;
        }
        self.fill_types(job, classes);
        self.filled = all;
        let len = self.record.len;
        self.table.extend(done * len, all * len);
        let [own, y] = &mut self.scratch;
        // The pairs of these classes, as if they were those of a structure with an object a type.
        let mut new = NewPairs::new(job, classes, done, own);
        let mut copy = |at: usize, y: &[f32], each: usize| {
            let table = &mut self.table.as_mut_slice()[done * len..all * len];
            for (to, y) in table.chunks_exact_mut(len).zip(y.chunks_exact(each)) {
                to[at..at + each].copy_from_slice(y);
            }
        };
        new.first_layer(&self.of_types, y);
        copy(0, y, 2 * plan.features);
        for (layer, &at) in self.record.parts.iter().enumerate() {
            let map = plan.layers[layer][3].expand.as_ref();
            let map = map.expect("a finite layer expands pairs");
            let weights = &job.weights[layer][3];
            new.map(map, &weights.expand.rows, Some(&weights.expand_bias), y);
            copy(at, y, 2 * map.outputs);
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
                new.map(map, weights, None, y);
                to_halves(y, map.outputs);
                copy(*at, y, 2 * map.outputs);
            }
        }
    }
}

/// From u + v and u - v, rows of so many outputs, back to u and v.
pub(crate) fn to_halves(rows: &mut [f32], outputs: usize) {
    for pair in rows.chunks_exact_mut(2 * outputs) {
        let (ab, ba) = pair.split_at_mut(outputs);
        for (u, v) in ab.iter_mut().zip(ba) {
            (*u, *v) = (0.5 * (*u + *v), 0.5 * (*u - *v));
        }
    }
}

/// The pairs of new classes.
struct NewPairs<'a> {
    job: &'a Job<'a>,
    /// The types of their objects.
    ends: Vec<[u32; 2]>,
    /// `[row][known columns]`, sums and differences.
    own: &'a mut [f32],
}

impl<'a> NewPairs<'a> {
    fn new(job: &'a Job<'a>, classes: &Classes, done: usize, own: &'a mut Vec<f32>) -> Self {
        let new = done as u32..classes.pairs() as u32;
        let columns = known(job.plan);
        own.clear();
        own.resize(new.len() * 2 * columns, 0.0);
        for (class, rows) in new.clone().zip(own.chunks_exact_mut(2 * columns)) {
            let (sums, differences) = rows.split_at_mut(columns);
            write_sums(
                &mut sums[..job.plan.inputs(2)],
                differences,
                classes.sides(class),
            );
        }
        let ends = new.map(|class| {
            let [a, b, _] = classes.pair(class);
            [a, b]
        });
        Self {
            job,
            ends: ends.collect(),
            own,
        }
    }

    /// Their rows in the first layer, which go to the known columns too.
    fn first_layer(&mut self, of_types: &[f32], y: &mut Vec<f32>) {
        let plan = self.job.plan;
        let (compose, weights) = (&plan.layers[0][2], &self.job.weights[0][2]);
        let map = compose.own.as_ref().expect("pairs have propositions");
        y.resize(self.ends.len() * 2 * plan.features, 0.0);
        let own = RowsMut::new(self.own, known(plan));
        self.job.level.run(&PairMap {
            pairs: self.ends.len(),
            bias: Some(&weights.bias),
            starts: None,
            expanded: compose.expand.as_ref().map(|_| (of_types, &self.ends[..])),
            sources: &[Source {
                x: own.read().from(map.columns.start),
                columns: map.columns.len().min(known(plan) - map.columns.start),
                weights: &weights.own.rows,
                width: map.columns.len(),
            }],
            outputs: plan.features,
            activate: true,
            y: RowsMut::new(y, plan.features),
            sums: Some(own.from(plan.inputs(2))),
        });
    }

    /// What a map reads of them.
    fn map(&self, map: &MapPlan, weights: &[f32], bias: Option<&[f32]>, y: &mut Vec<f32>) {
        let columns = known(self.job.plan);
        y.resize(self.ends.len() * 2 * map.outputs, 0.0);
        self.job.level.run(&PairMap {
            pairs: self.ends.len(),
            bias,
            starts: None,
            expanded: None,
            sources: &[Source {
                x: Rows::new(self.own, columns).from(map.columns.start),
                columns: map.columns.end.min(columns) - map.columns.start,
                weights,
                width: map.columns.len(),
            }],
            outputs: map.outputs,
            activate: false,
            y: RowsMut::new(y, map.outputs),
            sums: None,
        });
    }
}

impl ValuesByClass {
    /// The first layer's compose at arity 2: its reduction. The table has whatever else reads it.
    pub(super) fn pairs_by_class(&mut self, job: &Job<'_>, index: &Index, compose: &ComposePlan) {
        let (plan, tables) = (job.plan, &mut self.pair_tables);
        let rows = tables.record.len / plan.features;
        self.classes.members(index, rows, &mut tables.members);
        let column = compose.red_column.expect("above arity 0");
        job.level.run(&ReduceRows {
            members: &tables.members,
            per: index.per_target(2),
            targets: self.count * index.rows(1),
            x: tables.table.view(plan.features),
            rows: tables.filled * rows,
            features: plan.features,
            both: plan.quantifiers == 2,
            activate: compose.column.is_none(),
            red: self.red[1].view_mut(plan.red_columns[1]).from(column),
        });
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

    /// Few classes, more than tables hold, and so many in all that they start afresh.
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
                let with_room = || {
                    let mut fresh = ValuesByClass::default();
                    fresh.room.pairs = 150;
                    fresh
                };
                let mut used = with_room();
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
                    let fresh = with_room().value(&job);
                    assert_eq!(value.to_bits(), fresh.to_bits(), "{simd} {objects}");
                    let right = Reference::forward(&nlm, &exact, &structure).value();
                    let error = (f64::from(value) - right).abs();
                    assert!(
                        error <= 1e-5 * right.abs().max(1.0),
                        "{value} {right} {simd}"
                    );
                    if used.finite.layers > 0 {
                        by_class += 1;
                    } else {
                        one_by_one += 1;
                    }
                }
                assert_eq!((by_class, one_by_one), (11, 1));
                assert!(used.restarts > 2, "numbered afresh");
            }
        }
    }
}
