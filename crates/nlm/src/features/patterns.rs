//! The binary propositions of a pair.
//!
//! The pattern of a pair {a, b} is the set of binary propositions that hold of (a, b) and of (b, a).
//! Patterns are numbered as they come up; nothing that is computed depends on the numbers.

use super::Job;
use crate::bits::{differences, sums};
use crate::index::Index;
use crate::kernels::class_tables::KindParts;
use crate::kernels::dispatch_half as dispatch;
use crate::kernels::rows::{PairMap, RowRun, Starts};
use crate::object_order::ObjectOrder;
use std::ptr::{null, null_mut};

/// More patterns than this in one structure, and its first layer is computed orbit by orbit.
pub(super) const PATTERNS: usize = 32;
/// As many are numbered before numbers start afresh.
pub(super) const KNOWN_PATTERNS: usize = 128;

#[derive(Default)]
pub(crate) struct Patterns {
    /// The weights the tables belong to.
    generation: u64,
    /// How often patterns were numbered afresh.
    restarts: u64,
    /// Bits of (a, b) from 0 on, of (b, a) from the number of binary channels on.
    known: Vec<u64>,
    /// `[pattern][2][channels]`, sums and differences.
    inputs: Vec<f32>,
    /// `[pattern][2][3][Q']`: what such a pair adds to first-layer triples.
    expanded: Vec<f32>,
    /// The bits of each pair of the structure at hand; zero between structures.
    bits: Vec<u64>,
    of_pair: Vec<u32>,
    /// The pairs a <= b that are not empty, and their indices.
    related: Vec<[u32; 2]>,
    touched: Vec<u32>,
    /// What holds of (x, y) for some y and for all y, by x.
    reduced: Vec<Reduced>,
}

#[derive(Clone, Copy)]
pub(super) struct Reduced {
    /// The propositions that hold for some y.
    pub(super) some: u64,
    /// Those that hold for every y met.
    of_met: u64,
    met: usize,
}

impl Reduced {
    const START: Self = Self {
        some: 0,
        of_met: u64::MAX,
        met: 0,
    };

    fn meet(&mut self, bits: u64) {
        self.some |= bits;
        self.of_met &= bits;
        self.met += 1;
    }

    /// The propositions that hold for every y, of which there are so many.
    pub(super) fn every(self, count: usize) -> u64 {
        // Where some pair is empty nothing holds of all.
        if self.met == count { self.of_met } else { 0 }
    }
}

impl Patterns {
    pub(crate) fn bytes(&self) -> usize {
        (self.inputs.capacity() + self.expanded.capacity() + self.of_pair.capacity()) * 4
            + self.bits.capacity() * 8
            + self.related.capacity() * 12
    }

    /// Tells this numbering, and the weights it goes with, from those before.
    pub(super) fn numbering(&self) -> u64 {
        self.restarts
    }

    /// The bits of every pattern met.
    pub(super) fn known(&self) -> &[u64] {
        &self.known
    }

    /// The pattern of each pair of the structure at hand.
    pub(super) fn of_pair(&self) -> &[u32] {
        &self.of_pair
    }

    /// What holds of (x, y) for some y and for all y of the structure at hand, by x.
    pub(super) fn reduced(&self) -> &[Reduced] {
        &self.reduced
    }

    /// What a pair of this pattern adds to first-layer triples: `[2][3][Q']`.
    pub(super) fn expanded(&self, pattern: usize, features: usize) -> &[f32] {
        &self.expanded[pattern * 6 * features..][..6 * features]
    }

    /// The same of all patterns.
    pub(super) fn parts(&self, features: usize) -> KindParts {
        KindParts {
            parts: self.expanded.as_ptr(),
            stride: 6 * features,
        }
    }

    fn restart(&mut self, generation: u64) {
        self.generation = generation;
        self.restarts += 1;
        // Pattern 0 is the empty one.
        self.known.clear();
        self.known.push(0);
        self.inputs.clear();
        self.expanded.clear();
    }

    /// The pattern of each pair of the structure, with a table for all of them; false where there
    /// are too many.
    pub(super) fn find(&mut self, job: &Job<'_>, index: &Index, names: &ObjectOrder) -> bool {
        if self.generation != job.generation {
            self.restart(job.generation);
        }
        let pairs = index.rows(2) / 2;
        self.gather(job, index, names);
        self.of_pair.clear();
        self.of_pair.resize(pairs, 0);
        let few = self.number() || (self.learn(job.generation) && self.number());
        self.reduce(index.objects, job.plan.inputs(2));
        if few {
            self.fill(job);
        }
        few
    }

    fn gather(&mut self, job: &Job<'_>, index: &Index, names: &ObjectOrder) {
        let channels = job.plan.inputs(2);
        self.bits.resize(self.bits.len().max(index.rows(2) / 2), 0);
        self.related.clear();
        self.touched.clear();
        for row in job.structure.rows(2).chunks_exact(3) {
            let (x, y) = (names.of(row[1]), names.of(row[2]));
            if index.distinct && x == y {
                continue;
            }
            let at = index.row(x, y);
            let bit = 1u64 << (usize::from(row[0]) + (at % 2) * channels);
            // Both rows of (x, x) hold the same tuple.
            let twin = if x == y { bit << channels } else { 0 };
            let bits = &mut self.bits[at / 2];
            if *bits == 0 {
                self.touched.push(at as u32 / 2);
                self.related.push([x.min(y) as u32, x.max(y) as u32]);
            }
            *bits |= bit | twin;
        }
    }

    /// What holds for some object and for all, and no bits any more.
    fn reduce(&mut self, objects: usize, channels: usize) {
        self.reduced.clear();
        self.reduced.resize(objects, Reduced::START);
        for (&pair, &[a, b]) in self.touched.iter().zip(&self.related) {
            let bits = std::mem::take(&mut self.bits[pair as usize]);
            self.reduced[a as usize].meet(bits & ((1 << channels) - 1));
            if a != b {
                self.reduced[b as usize].meet(bits >> channels);
            }
        }
    }

    /// The number of each pattern; false where one is new.
    fn number(&mut self) -> bool {
        for &pair in &self.touched {
            let bits = self.bits[pair as usize];
            let Some(pattern) = self.known.iter().position(|&b| b == bits) else {
                return false;
            };
            self.of_pair[pair as usize] = pattern as u32;
        }
        true
    }

    /// Numbers the new patterns of the structure, afresh where all do not fit; false where it has
    /// too many itself.
    #[cold]
    fn learn(&mut self, generation: u64) -> bool {
        let mut own: Vec<u64> = vec![0];
        for &pair in &self.touched {
            let bits = self.bits[pair as usize];
            if !own.contains(&bits) {
                own.push(bits);
                if own.len() > PATTERNS {
                    return false;
                }
            }
        }
        let new = own.iter().filter(|b| !self.known.contains(b)).count();
        if self.known.len() + new > KNOWN_PATTERNS {
            self.restart(generation);
        }
        own.retain(|b| !self.known.contains(b));
        self.known.append(&mut own);
        true
    }

    /// What the pairs of new patterns add to first-layer triples.
    fn fill(&mut self, job: &Job<'_>) {
        let channels = job.plan.inputs(2);
        let weights = &job.weights[0][3];
        let map = job.plan.layers[0][3].expand.as_ref();
        let map = map.expect("a finite first layer expands pairs");
        let done = self.inputs.len() / (2 * channels);
        if done == self.known.len() {
            return;
        }
        for &bits in &self.known[done..] {
            self.inputs.extend(sums(bits, channels));
            self.inputs.extend(differences(bits, channels));
        }
        self.expanded
            .resize(self.known.len() * 2 * map.outputs, 0.0);
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
                pairs: self.known.len() - done,
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
}
