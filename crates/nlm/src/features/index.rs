//! Where tuples lie when features are in lanes.

use crate::kernels::orbit_rows::Pairs;
use crate::kernels::triples::Orbits;

/// Index tables for the tuples of one arity.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// 0, 1, 2, ...
    pub(crate) live: Vec<u32>,
    /// `[π][row]`.
    pub(crate) permuted: Vec<u32>,
    /// `[k][row]`: the row without position k, one arity below.
    pub(crate) without: Vec<u32>,
}

/// The rows of a structure with so many objects.
///
/// Unordered pairs a <= b (a < b with `distinct`) are counted by a, then b; the pair p has rows
/// 2p for (a, b) and 2p + 1 for (b, a). Both rows of (a, a) hold the same tuple.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) objects: usize,
    pub(crate) distinct: bool,
    pub(crate) tables: [Table; 3],
    starts: Vec<usize>,
    /// `[x][other object]`: the rows of the pairs (x, ·).
    pair_members: Vec<u32>,
}

impl Index {
    pub(crate) fn new(objects: usize, distinct: bool) -> Self {
        let orbits = Orbits { objects, distinct };
        let mut starts = Vec::with_capacity(objects);
        let mut pairs = 0usize;
        let mut ends = Vec::new();
        for a in 0..objects {
            let first = orbits.after(a);
            starts.push(pairs.wrapping_sub(first));
            pairs += objects - first.min(objects);
            ends.extend((first..objects).map(|b| [a as u32, b as u32]));
        }
        let count = |n: usize| (0..n as u32).collect::<Vec<u32>>();
        let nullary = Table {
            live: count(1),
            permuted: count(1),
            without: Vec::new(),
        };
        let unary = Table {
            live: count(objects),
            permuted: count(objects),
            without: vec![0; objects],
        };
        let mut binary = Table {
            live: count(2 * pairs),
            permuted: count(2 * pairs),
            // (a, b) without position 0 is b; (b, a) without it is a.
            without: ends.iter().flat_map(|&[a, b]| [b, a]).collect(),
        };
        binary
            .permuted
            .extend((0..2 * pairs as u32).map(|row| row ^ 1));
        binary.without.extend(ends.iter().flatten());
        let mut index = Self {
            objects,
            distinct,
            tables: [nullary, unary, binary],
            starts,
            pair_members: Vec::new(),
        };
        for x in 0..objects {
            for y in 0..objects {
                if !(distinct && x == y) {
                    index.pair_members.push(index.row(x, y) as u32);
                }
            }
        }
        index
    }

    pub(crate) fn orbits(&self) -> Orbits {
        Orbits {
            objects: self.objects,
            distinct: self.distinct,
        }
    }

    pub(crate) fn pairs(&self) -> Pairs<'_> {
        Pairs {
            orbits: self.orbits(),
            starts: &self.starts,
        }
    }

    /// The row of a pair (x, y).
    pub(crate) fn row(&self, x: usize, y: usize) -> usize {
        if x <= y {
            2 * self.pairs().index(x, y)
        } else {
            2 * self.pairs().index(y, x) + 1
        }
    }

    /// The rows of arity n that are reduced, for each row of arity n - 1.
    pub(crate) fn members(&self, n: usize) -> &[u32] {
        match n {
            1 => &self.tables[1].live,
            _ => &self.pair_members,
        }
    }
}
