//! The one index of classes: types of objects, classes of pairs, classes of orbits.
//!
//! Inputs are boolean. The type of an object is the set of its unary propositions; the pattern of a
//! pair {a, b} the binary propositions of (a, b) and those of (b, a); the class of a pair a <= b
//! the types of both and its pattern; the class of an orbit x <= y <= z the classes of {x, y},
//! {x, z}, {y, z}. Each is numbered as it comes up. Values keep the numbers from structure to
//! structure and depend on none of them; gradients count afresh in every group, so that their bits
//! follow from the batch alone.

use crate::index::Index;
use crate::inputs::{Inputs, Sides};
use crate::interner::Interner;

/// How far to the left the three numbers of a key stand: 21 bits each.
pub(crate) const IN_KEY: [u32; 3] = [42, 21, 0];

/// Three numbers below 2^21 in one key.
#[inline]
pub(crate) fn key([a, b, c]: [u32; 3]) -> u64 {
    u64::from(a) << IN_KEY[0] | u64::from(b) << IN_KEY[1] | u64::from(c)
}

/// The three numbers of a key.
pub(crate) fn parts(key: u64) -> [u32; 3] {
    IN_KEY.map(|shift| (key >> shift) as u32 & ((1 << 21) - 1))
}

#[derive(Default)]
pub(crate) struct Classes {
    types: Interner,
    /// The sets of binary propositions of (a, b), and pairs of these numbers.
    sides: Interner,
    patterns: Interner,
    pairs: Interner,
    pub(crate) orbits: Interner,
    /// The type of each object of the structure read last.
    type_of: Vec<u32>,
    /// The class of each pair of the structures at hand.
    pub(crate) of_pairs: Vec<u32>,
}

impl Classes {
    pub(crate) fn clear(&mut self) {
        let Self {
            types,
            sides,
            patterns,
            pairs,
            orbits,
            ..
        } = self;
        for interner in [types, sides, patterns, pairs, orbits] {
            interner.clear();
        }
        // The empty pattern is the first.
        self.sides.number(0);
        self.patterns.number(0);
    }

    /// The types of the objects of a structure, the `at`-th at hand, and the classes of its pairs.
    pub(crate) fn find(&mut self, inputs: &Inputs, index: &Index, at: usize) {
        self.type_of.clear();
        let mut last = None;
        for bits in inputs.types() {
            // Objects of one type follow one another.
            let of = match last {
                Some((same, of)) if same == bits => of,
                _ => self.types.number(bits),
            };
            last = Some((bits, of));
            self.type_of.push(of);
        }
        self.of_pairs.truncate(at * index.rows(2) / 2);
        let mut pairs = inputs.pairs(index);
        for (a, &a_type) in self.type_of.iter().enumerate() {
            let others = &self.type_of[index.pairs().after(a)..];
            let (own, rest) = pairs.split_at(others.len());
            pairs = rest;
            for (&b_type, &[ab, ba]) in others.iter().zip(own) {
                // Most pairs are empty.
                let pattern = if ab | ba == 0 {
                    0
                } else {
                    let [ab, ba] = [self.sides.number(ab), self.sides.number(ba)];
                    self.patterns.number(key([0, ab, ba]))
                };
                let class = self.pairs.number(key([a_type, b_type, pattern]));
                self.of_pairs.push(class);
            }
        }
    }

    /// The type of each object of the structure read last.
    pub(crate) fn type_of(&self) -> &[u32] {
        &self.type_of
    }

    /// The bits of each type.
    pub(crate) fn types(&self) -> &[u64] {
        self.types.keys()
    }

    /// How many classes of pairs there are.
    pub(crate) fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// The types of the objects of a class of pairs, and its pattern.
    pub(crate) fn pair(&self, class: u32) -> [u32; 3] {
        parts(self.pairs.keys()[class as usize])
    }

    /// The propositions of the pairs of a class.
    pub(crate) fn sides(&self, class: u32) -> Sides {
        let [.., pattern] = self.pair(class);
        let [_, ab, ba] = parts(self.patterns.keys()[pattern as usize]);
        [ab, ba].map(|side| self.sides.keys()[side as usize])
    }

    /// The class of a class of pairs the other way round, of objects of one type.
    pub(crate) fn reversed(&mut self, class: u32) -> u32 {
        let [a, b, pattern] = self.pair(class);
        debug_assert_eq!(a, b);
        let [_, ab, ba] = parts(self.patterns.keys()[pattern as usize]);
        let pattern = self.patterns.number(key([0, ba, ab]));
        self.pairs.number(key([a, a, pattern]))
    }

    /// The members of reductions of pairs, as rows of a table over classes of pairs: where each
    /// class has so many rows, of which the first two are those of (a, b) and (b, a).
    pub(crate) fn members(&self, index: &Index, rows: usize, to: &mut Vec<u32>) {
        let structures = self
            .of_pairs
            .len()
            .checked_div(index.rows(2) / 2)
            .unwrap_or(0);
        let count = structures * index.objects() * index.per_target(2);
        let own = index.members(2)[..count].iter();
        let (of, rows) = (&self.of_pairs, rows as u32);
        to.clear();
        to.extend(own.map(|&row| of[row as usize / 2] * rows + row % 2));
    }

    pub(crate) fn bytes(&self) -> usize {
        let interners = [
            &self.types,
            &self.sides,
            &self.patterns,
            &self.pairs,
            &self.orbits,
        ];
        interners.into_iter().map(Interner::bytes).sum::<usize>() + self.of_pairs.capacity() * 4
    }
}
