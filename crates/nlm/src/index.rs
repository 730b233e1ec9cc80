//! Where tuples lie when features are in lanes.

use crate::kernels::orbit_rows::Pairs;
use crate::kernels::triples::Orbits;

/// The rows of a structure with so many objects, and of a group of such structures, one
/// structure after the other.
///
/// Unordered pairs a <= b (a < b with `distinct`) are counted by a, then b; the pair p has rows
/// 2p for (a, b) and 2p + 1 for (b, a). Both rows of (a, a) hold the same tuple.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) objects: usize,
    pub(crate) distinct: bool,
    /// The structures of a group.
    pub(crate) group: usize,
    /// How many rows each arity has, of one structure.
    rows: [usize; 3],
    /// The objects of each pair of the group.
    pub(crate) ends: Vec<[u32; 2]>,
    /// The structure of each object of the group.
    pub(crate) owners: Vec<u32>,
    starts: Vec<usize>,
    objects_in_order: Vec<u32>,
    /// `[x][y]`: the row of (x, y); 0 for (x, x) with `distinct`.
    pub(crate) row_of: Vec<u32>,
    /// `[x][other object]`: the rows of the pairs (x, ·), for the objects of the group.
    pair_members: Vec<u32>,
}

impl Index {
    pub(crate) fn new(objects: usize, distinct: bool, group: usize) -> Self {
        let orbits = Orbits { objects, distinct };
        let mut starts = Vec::with_capacity(objects);
        let mut ends: Vec<[u32; 2]> = Vec::new();
        for a in 0..objects {
            let first = orbits.after(a);
            starts.push(ends.len().wrapping_sub(first));
            ends.extend((first..objects).map(|b| [a as u32, b as u32]));
        }
        let pairs = ends.len();
        for g in 1..group {
            let first = (g * objects) as u32;
            ends.extend_from_within(..pairs);
            for end in ends[g * pairs..].iter_mut().flatten() {
                *end += first;
            }
        }
        let all = (group * objects) as u32;
        let mut index = Self {
            objects,
            distinct,
            group,
            rows: [1, objects, 2 * pairs],
            ends,
            owners: (0..all).map(|x| x / objects as u32).collect(),
            starts,
            objects_in_order: (0..all).collect(),
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
        let members = index.pair_members.len();
        for g in 1..group {
            index.pair_members.extend_from_within(..members);
            for row in &mut index.pair_members[g * members..] {
                *row += (g * 2 * pairs) as u32;
            }
        }
        index
    }

    /// How many rows of this arity a structure has.
    pub(crate) fn rows(&self, arity: usize) -> usize {
        self.rows[arity]
    }

    /// How many rows of this arity all structures of the group have.
    pub(crate) fn group_rows(&self, arity: usize) -> usize {
        self.group * self.rows[arity]
    }

    /// Whether there is a triple.
    pub(crate) fn has_triples(&self) -> bool {
        !self.distinct || self.objects >= 3
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

    /// How many rows of arity n are reduced into one of arity n - 1.
    pub(crate) fn per_target(&self, n: usize) -> usize {
        match n {
            1 => self.objects,
            _ => self.objects - usize::from(self.distinct),
        }
    }

    /// The rows of arity n that are reduced, for each row of arity n - 1.
    pub(crate) fn members(&self, n: usize) -> &[u32] {
        match n {
            1 => &self.objects_in_order,
            _ => &self.pair_members,
        }
    }
}
