//! The one index of classes: types of objects, classes of pairs, classes of orbits.
//!
//! Inputs are boolean. The type of an object is the set of its unary propositions; the pattern of a
//! pair {a, b} the binary propositions of (a, b) and those of (b, a); the class of a pair a <= b
//! the types of both and its pattern; the class of an orbit x <= y <= z the classes of {x, y},
//! {x, z}, {y, z}. Where ternary propositions hold of an orbit, the first of the three is a marked
//! class: it is like the other, but its pattern says what holds of the orbit. Each is numbered as
//! it comes up. Values keep the numbers from structure to structure and depend on none of them;
//! gradients count afresh in every group, so that their bits follow from the batch alone.
//!
//! In the tree of `docs/nlm.md`: by class, values and gradients; before every layer.

use crate::index::Index;
use crate::inputs::{Inputs, Sides, Triple};
use crate::interner::Interner;
use crate::kernels::orbit::SIX;

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
    types: Interner<u64>,
    /// Each a mark before it, an order and the ternary propositions of that.
    marks: Interner<[u64; 3]>,
    /// Each a mark and the binary propositions of both sides.
    patterns: Interner<[u64; 3]>,
    pairs: Interner<u64>,
    pub(crate) orbits: Interner<u64>,
    /// The type of each object of the structure read last.
    type_of: Vec<u32>,
    /// The class of each pair of the structures at hand.
    pub(crate) of_pairs: Vec<u32>,
}

impl Classes {
    pub(crate) fn clear(&mut self) {
        for interner in [&mut self.types, &mut self.pairs, &mut self.orbits] {
            interner.clear();
        }
        for interner in [&mut self.marks, &mut self.patterns] {
            interner.clear();
            // What is empty is the first.
            interner.number([0; 3]);
        }
    }

    /// The types of the objects of a structure, the `at`-th at hand, and the classes of its pairs.
    pub(crate) fn find(&mut self, inputs: &Inputs, index: &Index, at: usize) {
        self.type_of.clear();
        let types = inputs.types().map(|bits| self.types.number(bits));
        self.type_of.extend(types);
        let pairs = index.rows(2) / 2;
        self.of_pairs.resize((at + 1) * pairs, 0);
        let (mut to, mut from) = (&mut self.of_pairs[at * pairs..], inputs.pairs(index));
        for (a, &a_type) in self.type_of.iter().enumerate() {
            let others = &self.type_of[index.after(a)..];
            let keys = others.iter().zip(from).map(|(&b_type, &[ab, ba])| {
                // Most pairs are empty.
                let pattern = if ab | ba == 0 {
                    0
                } else {
                    self.patterns.number([0, ab, ba])
                };
                key([a_type, b_type, pattern])
            });
            self.pairs.numbers(keys, to);
            (to, from) = (&mut to[others.len()..], &from[others.len()..]);
        }
    }

    /// # Panics
    ///
    /// If there are more classes of pairs than a key can name: two million, which no structure of
    /// up to a thousand objects has.
    pub(crate) fn check(&self) {
        let most = self.patterns.len().max(self.pairs.len());
        assert!(most < 1 << 21, "two million classes of pairs");
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
        let [_, ab, ba] = self.patterns.keys()[pattern as usize];
        [ab, ba]
    }

    /// The class of a class of pairs the other way round, of objects of one type.
    pub(crate) fn reversed(&mut self, class: u32) -> u32 {
        let [a, b, pattern] = self.pair(class);
        debug_assert_eq!(a, b);
        let [_, ab, ba] = self.patterns.keys()[pattern as usize];
        let pattern = self.patterns.number([0, ba, ab]);
        self.pairs.number(key([a, a, pattern]))
    }

    /// The key of an orbit of which these ternary propositions hold, of the `at`-th structure.
    pub(crate) fn marked(&mut self, index: &Index, at: usize, (orbit, six): &Triple) -> u64 {
        let mut mark = 0;
        for (s, &bits) in (0..).zip(six).filter(|(_, bits)| **bits != 0) {
            mark = self.marks.number([u64::from(mark), s, bits]);
        }
        let (of, [x, y, z]) = (&self.of_pairs[at * index.rows(2) / 2..], *orbit);
        let [xy, xz, yz] = [(x, y), (x, z), (y, z)].map(|(a, b)| of[index.pair(a, b)]);
        let [a, b, pattern] = self.pair(xy);
        let [_, ab, ba] = self.patterns.keys()[pattern as usize];
        let pattern = self.patterns.number([u64::from(mark), ab, ba]);
        let xy = self.pairs.number(key([a, b, pattern]));
        key([xy, xz, yz])
    }

    /// What ternary propositions hold of the orders of an orbit whose first pair has this class.
    pub(crate) fn ternary(&self, class: u32) -> [u64; SIX] {
        let [.., pattern] = self.pair(class);
        let [mut mark, ..] = self.patterns.keys()[pattern as usize];
        let mut six = [0; SIX];
        while mark != 0 {
            let [before, s, bits] = self.marks.keys()[mark as usize];
            six[s as usize] = bits;
            mark = before;
        }
        six
    }

    /// The members of reductions of pairs, as rows of a table over classes of pairs, which has two
    /// rows a class.
    pub(crate) fn members(&self, index: &Index, to: &mut Vec<u32>) {
        let structures = self
            .of_pairs
            .len()
            .checked_div(index.rows(2) / 2)
            .unwrap_or(0);
        let count = structures * index.objects() * index.per_target(2);
        let own = index.members(2)[..count].iter();
        let of = &self.of_pairs;
        to.clear();
        to.extend(own.map(|&row| of[row as usize / 2] * 2 + row % 2));
    }
}
