//! The finite first layer.
//!
//! Inputs are boolean. Where no proposition has arity 3, a triple of the first layer reads only the
//! pairs of its orbit, and these have one of few patterns of bits. So the first layer's triples, and
//! whatever later layers compute from them by a linear map, are tables over classes of
//! orbits: the patterns of (x, y), (x, z) and (y, z), x <= y <= z.
//!
//! The tables depend on the weights alone and are kept from structure to structure. An
//! entry is computed by the same operations whatever was there before it.

use super::FeatureEngine;
use super::Job;
use super::index::Index;
use crate::kernels::class_tables::{ClassSlots, ClassTable};
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::orbit::{SIX, orbit_count};

use crate::kernels::rows::{PairMap, RowRun, Starts};
use crate::plan::{BLOCK, Plan};
use std::ptr::{null, null_mut};

/// More patterns than this in one structure, and its first layer is computed orbit by orbit.
pub(super) const PATTERNS: usize = 1 << PATTERN_BITS;
pub(super) const PATTERN_BITS: u32 = 5;
/// No class yet.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Classes {
    /// The weights these tables belong to.
    generation: u64,
    /// How often the patterns were numbered afresh.
    pub(super) restarts: u64,
    /// Bits of (a, b) from 0 on, of (b, a) from the number of binary channels on.
    pub(super) patterns: Vec<u64>,
    /// `[xy][xz][yz]`, [`PATTERNS`] each way.
    class_of: Vec<u32>,
    /// The patterns of each class.
    members: Vec<[u16; 3]>,
    /// `[pattern][2][channels]`, sums and differences.
    inputs: Vec<f32>,
    /// `[pattern][2][3][Q']`.
    expanded: Vec<f32>,
    /// `[class][Q' / 8][6][8]`: activations and their coefficients.
    slots: Vec<f32>,
    coefficients: Vec<f32>,
    /// For each layer, what it reads of them.
    tables: Vec<Vec<f32>>,
    /// The bits of each pair of the structure at hand, then its pattern.
    bits: Vec<u64>,
    pub(super) pattern_of: Vec<u16>,
    /// The pairs a <= b that are not empty, and their indices.
    pub(super) related: Vec<[u32; 2]>,
    touched: Vec<u32>,
}

/// Whether the first layer has triples that read boolean pairs and nothing else.
pub(super) fn may_be_finite(plan: &Plan) -> bool {
    plan.max_arity == 3
        && plan.inputs(3) == 0
        && (1..=32).contains(&plan.inputs(2))
        && plan.layers[0].get(3).is_some_and(|c| c.expand.is_some())
}

impl Classes {
    pub(crate) fn bytes(&self) -> usize {
        let tables: usize = self.tables.iter().map(Vec::capacity).sum();
        let floats = [
            &self.inputs,
            &self.expanded,
            &self.slots,
            &self.coefficients,
        ];
        let floats = tables + floats.iter().map(|v| v.capacity()).sum::<usize>();
        floats * 4 + self.class_of.capacity() * 4 + self.bits.capacity() * 8
    }

    pub(super) fn slots(&self) -> *const f32 {
        self.slots.as_ptr()
    }

    pub(super) fn table(&self, layer: usize) -> *const f32 {
        self.tables[layer].as_ptr()
    }

    fn restart(&mut self, generation: u64) {
        self.generation = generation;
        self.restarts += 1;
        // Pattern 0 is the empty one.
        self.patterns.clear();
        self.patterns.push(0);
        self.class_of.clear();
        self.class_of.resize(PATTERNS.pow(3), NONE);
        self.members.clear();
        self.inputs.clear();
        self.expanded.clear();
        self.slots.clear();
        self.coefficients.clear();
        self.tables.clear();
    }

    /// The pattern of each pair of the structure; false where there are too many.
    fn find_patterns(&mut self, job: &Job<'_>, index: &Index) -> bool {
        let channels = job.plan.inputs(2);
        let pairs = index.rows(2) / 2;
        self.bits.clear();
        self.bits.resize(pairs, 0);
        self.related.clear();
        let mut touched = std::mem::take(&mut self.touched);
        touched.clear();
        for (c, x) in job.structure.propositions(2) {
            let (x, y) = (usize::from(x[0]), usize::from(x[1]));
            if index.distinct && x == y {
                continue;
            }
            let row = index.row(x, y);
            let bit = 1u64 << (c + (row % 2) * channels);
            let twin = if x == y { bit << channels } else { 0 };
            let bits = &mut self.bits[row / 2];
            if *bits == 0 {
                touched.push(row as u32 / 2);
                self.related.push([x.min(y) as u32, x.max(y) as u32]);
            }
            *bits |= bit | twin;
        }
        self.pattern_of.clear();
        self.pattern_of.resize(pairs, 0);
        let mut own: Vec<u64> = vec![0];
        for &pair in &touched {
            let bits = self.bits[pair as usize];
            if !own.contains(&bits) {
                own.push(bits);
                if own.len() > PATTERNS {
                    return false;
                }
            }
        }
        let new = own.iter().filter(|&b| !self.patterns.contains(b)).count();
        if self.patterns.len() + new > PATTERNS {
            self.restart(job.generation);
        }
        for &pair in &touched {
            let bits = self.bits[pair as usize];
            let known = self.patterns.iter().position(|&b| b == bits);
            let pattern = known.unwrap_or_else(|| {
                self.patterns.push(bits);
                self.patterns.len() - 1
            });
            self.pattern_of[pair as usize] = pattern as u16;
        }
        self.touched = touched;
        true
    }

    /// The pattern of the pair with this row.
    #[inline]
    pub(super) fn pattern_of_row(&self, row: u32) -> u16 {
        self.pattern_of[row as usize / 2]
    }

    /// The class with these patterns: `xy << 2 * PATTERN_BITS | xz << PATTERN_BITS | yz`.
    #[inline]
    pub(super) fn class(&mut self, key: usize) -> u32 {
        let class = self.class_of[key];
        if class == NONE {
            return self.add(key);
        }
        class
    }

    #[cold]
    fn add(&mut self, key: usize) -> u32 {
        let class = self.members.len() as u32;
        self.class_of[key] = class;
        let pattern = |k: u32| (key >> (k * PATTERN_BITS) & (PATTERNS - 1)) as u16;
        self.members.push([pattern(2), pattern(1), pattern(0)]);
        class
    }

    /// The class of every orbit, in the order of the kernels.
    fn of_orbits(&mut self, index: &Index, at: usize, to: &mut Vec<u32>) {
        let n = index.objects;
        let (pairs, orbits) = (index.pairs(), index.orbits());
        let count = orbit_count(n, index.distinct);
        to.resize((at + 1) * count, NONE);
        let mut next = at * count;
        for x in 0..n {
            for y in orbits.after(x)..n {
                let first = orbits.after(y);
                let len = n - first;
                if len == 0 {
                    continue;
                }
                let xy = usize::from(self.pattern_of[pairs.index(x, y)]) << (2 * PATTERN_BITS);
                let (xz, yz) = (pairs.index(x, first), pairs.index(y, first));
                let xz = &self.pattern_of[xz..xz + len];
                let yz = &self.pattern_of[yz..yz + len];
                let key = |xz: u16, yz: u16| usize::from(xz) << PATTERN_BITS | usize::from(yz);
                let known: &[u32; PATTERNS * PATTERNS] = self.class_of[xy..]
                    .first_chunk()
                    .expect("as many after each pattern");
                let run = &mut to[next..next + len];
                next += len;
                // Nearly always every class is known; then nothing branches.
                let mut top = 0;
                for ((to, &xz), &yz) in run.iter_mut().zip(xz).zip(yz) {
                    *to = known[key(xz, yz) % known.len()];
                    top = top.max(*to);
                }
                if top == NONE {
                    for (k, to) in run.iter_mut().enumerate() {
                        let (xz, yz) = (pairs.index(x, first + k), pairs.index(y, first + k));
                        let (xz, yz) = (self.pattern_of[xz], self.pattern_of[yz]);
                        *to = self.class(xy | key(xz, yz));
                    }
                }
            }
        }
    }

    /// What the pairs of new patterns contribute to triples.
    fn expand_patterns(&mut self, job: &Job<'_>) {
        let plan = job.plan;
        let channels = plan.inputs(2);
        let compose = &plan.layers[0][3];
        let weights = &job.weights[0][3];
        let map = compose.expand.as_ref().expect("checked before");
        let done = self.inputs.len() / (2 * channels);
        if done == self.patterns.len() {
            return;
        }
        for &bits in &self.patterns[done..] {
            self.inputs.extend(sums(bits, channels));
            self.inputs.extend(differences(bits, channels));
        }
        self.expanded
            .resize(self.patterns.len() * 2 * map.outputs, 0.0);
        let run = RowRun {
            x: self.inputs[2 * done * channels..]
                .as_ptr()
                .wrapping_add(map.columns.start),
            stride: channels,
            columns: map.columns.len(),
            weights: weights.expand.rows.as_ptr(),
            width: map.columns.len(),
        };
        dispatch(
            job.simd,
            &PairMap {
                pairs: self.patterns.len() - done,
                ends: &[],
                bias: weights.expand_bias.as_ptr(),
                starts: Starts::NONE,
                expanded: null(),
                runs: &[run],
                outputs: map.outputs,
                activate: false,
                y: self.expanded[2 * done * map.outputs..].as_mut_ptr(),
                y_stride: map.outputs,
                sums: null_mut(),
                sums_stride: 0,
            },
        );
    }

    /// Activations, coefficients and tables of new classes.
    fn fill_tables(&mut self, job: &Job<'_>) {
        let plan = job.plan;
        let stride = plan.features * SIX;
        let done = self.slots.len() / stride;
        self.tables.resize_with(plan.layers.len(), Vec::new);
        if done == self.members.len() {
            return;
        }
        self.expand_patterns(job);
        let len = self.members.len() * stride;
        self.slots.resize(len, 0.0);
        self.coefficients.resize(len, 0.0);
        dispatch(
            job.simd,
            &ClassSlots {
                classes: &self.members[done..],
                expanded: self.expanded.as_ptr(),
                features: plan.features,
                slots: self.slots[done * stride..].as_mut_ptr(),
                coefficients: self.coefficients[done * stride..].as_mut_ptr(),
            },
        );
        for (layer, table) in self.tables.iter_mut().enumerate().skip(1) {
            if !reads_first(plan, layer) {
                continue;
            }
            table.resize(len, 0.0);
            let weights = &job.weights[layer][3].orbit.rows;
            let columns = plan.layers[layer][3]
                .own
                .as_ref()
                .map_or(0, |m| m.columns.len());
            dispatch(
                job.simd,
                &ClassTable {
                    classes: self.members.len() - done,
                    features: plan.features,
                    coefficients: self.coefficients[done * stride..].as_ptr(),
                    weights: weights.as_ptr(),
                    block_stride: columns * SIX * BLOCK,
                    table: table[done * stride..].as_mut_ptr(),
                },
            );
        }
    }
}

fn bit(bits: u64, c: usize) -> f32 {
    f32::from((bits >> c & 1) as u8)
}

/// What the channels of (a, b) and (b, a) add up to, given the pattern of the pair.
pub(super) fn sums(bits: u64, channels: usize) -> impl Iterator<Item = f32> {
    (0..channels).map(move |c| bit(bits, c) + bit(bits, c + channels))
}

/// How they differ.
pub(super) fn differences(bits: u64, channels: usize) -> impl Iterator<Item = f32> {
    (0..channels).map(move |c| bit(bits, c) - bit(bits, c + channels))
}

/// Whether a layer's triples read those of the first layer.
pub(super) fn reads_first(plan: &Plan, layer: usize) -> bool {
    plan.layers[layer]
        .get(3)
        .and_then(|compose| compose.own.as_ref())
        .is_some_and(|map| map.columns.start == 0)
}

/// How the first layer's triples are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// By classes, pairs with their neighbours.
    Sparse,
    /// By classes, orbit by orbit.
    Dense,
    /// As every other layer.
    NotFinite,
}

impl FeatureEngine {
    /// Finds the classes of the first layer, with tables for all of them.
    pub(super) fn classify(&mut self, job: &Job<'_>, index: &Index) -> First {
        if !may_be_finite(job.plan) {
            return First::NotFinite;
        }
        let classes = &mut self.classes;
        if classes.generation != job.generation {
            classes.restart(job.generation);
        }
        if !classes.find_patterns(job, index) {
            return First::NotFinite;
        }
        let first = if self.sparse.find(classes, index) {
            First::Sparse
        } else {
            First::Dense
        };
        if first == First::Dense || orbit_by_orbit(job.plan) {
            classes.of_orbits(index, self.at, &mut self.orbit_classes);
        }
        classes.fill_tables(job);
        first
    }
}

/// Whether some layer reads or keeps triples beyond the first layer's, so that orbits need their class.
fn orbit_by_orbit(plan: &Plan) -> bool {
    plan.layers[1..]
        .iter()
        .filter_map(|layer| layer.get(3))
        .any(|compose| compose.column.is_some())
}
