//! Where tuples lie when features are in lanes.

use crate::kernels::orbit_rows::Pairs;
use crate::kernels::triples::Orbits;

/// The rows of a structure with so many objects.
///
/// Unordered pairs a <= b (a < b with `distinct`) are counted by a, then b; the pair p has rows
/// 2p for (a, b) and 2p + 1 for (b, a). Both rows of (a, a) hold the same tuple.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) objects: usize,
    pub(crate) distinct: bool,
    /// How many rows each arity has.
    rows: [usize; 3],
    /// `[k][row]`: the object of a pair without position k.
    pub(crate) without: Vec<u32>,
    starts: Vec<usize>,
    objects_in_order: Vec<u32>,
    /// `[x][y]`: the row of (x, y); 0 for (x, x) with `distinct`.
    row_of: Vec<u32>,
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
        // (a, b) without position 0 is b; (b, a) without it is a.
        let mut without: Vec<u32> = ends.iter().flat_map(|&[a, b]| [b, a]).collect();
        without.extend(ends.iter().flatten());
        let mut index = Self {
            objects,
            distinct,
            rows: [1, objects, 2 * pairs],
            without,
            starts,
            objects_in_order: (0..objects as u32).collect(),
            row_of: vec![0; objects * objects],
            pair_members: Vec::new(),
        };
        for x in 0..objects {
            for y in 0..objects {
                if !(distinct && x == y) {
                    let pair = index.pairs().index(x.min(y), x.max(y));
                    let row = (2 * pair + usize::from(x > y)) as u32;
                    index.row_of[x * objects + y] = row;
                    index.pair_members.push(row);
                }
            }
        }
        index
    }

    /// How many rows this arity has.
    pub(crate) fn rows(&self, arity: usize) -> usize {
        self.rows[arity]
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
    #[inline]
    pub(crate) fn row(&self, x: usize, y: usize) -> usize {
        self.row_of[x * self.objects + y] as usize
    }

    /// The rows of the pairs (x, 0), (x, 1), ...
    pub(crate) fn rows_of(&self, x: usize) -> &[u32] {
        &self.row_of[x * self.objects..(x + 1) * self.objects]
    }

    /// The rows of arity n that are reduced, for each row of arity n - 1.
    pub(crate) fn members(&self, n: usize) -> &[u32] {
        match n {
            1 => &self.objects_in_order,
            _ => &self.pair_members,
        }
    }
}
