//! Where objects, pairs and orbits lie when features are in lanes.
//!
//! The kernels rely on it: fields are private, and whatever it gives is within the counts it gives.
//!
//! In the tree of `docs/nlm.md`: by class, values and gradients; before every layer.

/// The rows of a structure with so many objects, and of a group of such structures, one
/// structure after the other.
///
/// Unordered pairs a <= b (a < b with `distinct`) are counted by a, then b; the pair p has rows
/// 2p for (a, b) and 2p + 1 for (b, a). Both rows of (a, a) hold the same tuple.
#[derive(Debug)]
pub(crate) struct Index {
    objects: usize,
    distinct: bool,
    /// The structures of a group.
    group: usize,
    /// How many rows each arity has, of one structure.
    rows: [usize; 3],
    /// The objects of each pair of the group.
    ends: Vec<[u32; 2]>,
    /// The structure of each object of the group.
    owners: Vec<u32>,
    starts: Vec<usize>,
    objects_in_order: Vec<u32>,
    /// `[x][y]`: the row of (x, y); 0 for (x, x) with `distinct`.
    row_of: Vec<u32>,
    orbits: usize,
    /// `[x][y]` and `[y][x]`: where the orbits (x <= y <= z) would begin with z = 0.
    orbits_of: Vec<u32>,
    orbits_with: Vec<u32>,
    /// `[x][other object]`: the rows of the pairs (x, ·), for the objects of the group.
    pair_members: Vec<u32>,
}

impl Index {
    pub(crate) fn new(objects: usize, distinct: bool, group: usize) -> Self {
        let mut starts = Vec::with_capacity(objects);
        let mut ends: Vec<[u32; 2]> = Vec::new();
        for a in 0..objects {
            let first = a + usize::from(distinct);
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
            orbits: 0,
            orbits_of: vec![0; objects * objects],
            orbits_with: vec![0; objects * objects],
            pair_members: Vec::new(),
        };
        for x in 0..objects {
            for y in 0..objects {
                if !(distinct && x == y) {
                    let pair = index.pair(x.min(y), x.max(y));
                    let row = (2 * pair + usize::from(x > y)) as u32;
                    index.row_of[x * objects + y] = row;
                    index.pair_members.push(row);
                }
            }
        }
        for x in 0..objects {
            for y in index.after(x)..objects {
                let first = index.after(y);
                let start = (index.orbits as u32).wrapping_sub(first as u32);
                index.orbits_of[x * objects + y] = start;
                index.orbits_with[y * objects + x] = start;
                index.orbits += objects - first.min(objects);
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

    /// The first object that may come after x.
    #[inline(always)]
    pub(crate) fn after(&self, x: usize) -> usize {
        x + usize::from(self.distinct)
    }

    /// The index of the pair a <= b.
    #[inline(always)]
    pub(crate) fn pair(&self, a: usize, b: usize) -> usize {
        self.starts[a].wrapping_add(b)
    }

    /// How many orbits a structure has: x <= y <= z, or x < y < z with `distinct`, in this order.
    pub(crate) fn orbits(&self) -> usize {
        self.orbits
    }

    /// The index of the orbit (x <= y <= z).
    pub(crate) fn orbit(&self, [x, y, z]: [usize; 3]) -> usize {
        self.orbits_of(x)[y].wrapping_add(z as u32) as usize
    }

    /// By y: the orbit (x <= y <= z) has the index of y plus z.
    pub(crate) fn orbits_of(&self, x: usize) -> &[u32] {
        &self.orbits_of[x * self.objects..(x + 1) * self.objects]
    }

    /// By x: the orbit (x <= y <= z) has the index of x plus z.
    pub(crate) fn orbits_with(&self, y: usize) -> &[u32] {
        &self.orbits_with[y * self.objects..(y + 1) * self.objects]
    }

    pub(crate) fn objects(&self) -> usize {
        self.objects
    }

    pub(crate) fn distinct(&self) -> bool {
        self.distinct
    }

    /// How many structures a group has.
    pub(crate) fn group(&self) -> usize {
        self.group
    }

    /// The objects of each pair of the group.
    pub(crate) fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// The structure of each object of the group.
    pub(crate) fn owners(&self) -> &[u32] {
        &self.owners
    }

    /// `[x][y]`: the row of (x, y); 0 for (x, x) with `distinct`.
    pub(crate) fn row_of(&self) -> &[u32] {
        &self.row_of
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernels go by these without looking.
    #[test]
    fn pairs_and_orbits_are_counted_in_the_order_of_the_kernels() {
        for distinct in [false, true] {
            for objects in 1..7 {
                let index = Index::new(objects, distinct, 2);
                let (mut orbit, mut pair) = (0, 0);
                for x in 0..objects {
                    for y in index.after(x)..objects {
                        assert_eq!(index.pair(x, y), pair);
                        pair += 1;
                        for z in index.after(y)..objects {
                            assert_eq!(index.orbit([x, y, z]), orbit);
                            orbit += 1;
                        }
                    }
                }
                assert_eq!((index.orbits(), index.rows(2)), (orbit, 2 * pair));
                for n in 1..=2 {
                    let most = index.members(n).iter().max();
                    assert!(most.is_none_or(|&row| (row as usize) < index.group_rows(n)));
                }
            }
        }
    }
}
