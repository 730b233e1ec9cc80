//! Where the tuples of a group lie: those of one structure after those of another.

/// The rows of several structures with equally many objects.
///
/// Within a structure, pairs a <= b (a < b with `distinct`) are counted by a, then b; pair p has
/// row 2p for (a, b) and row 2p + 1 for (b, a). Both rows of (a, a) hold the same tuple.
#[derive(Debug)]
pub(crate) struct GroupIndex {
    pub(super) structures: usize,
    pub(super) objects: usize,
    pub(super) distinct: bool,
    /// Pairs of one structure.
    pub(super) pairs: usize,
    /// `[a][b]`: the row of (a, b) in the first structure; 0 for (a, a) with `distinct`.
    pub(super) row_of: Vec<u32>,
    /// The objects a and b of each pair of the group.
    pub(super) ends: Vec<[u32; 2]>,
    /// The structure of each object.
    pub(super) owners: Vec<u32>,
    /// The rows of arity 1 and 2 that are reduced into each row of the arity below.
    members: [Vec<u32>; 2],
}

impl GroupIndex {
    pub(super) fn new(structures: usize, objects: usize, distinct: bool) -> Self {
        let n = objects;
        let mut row_of = vec![0; n * n];
        let mut ends = Vec::new();
        for a in 0..n {
            for b in a + usize::from(distinct)..n {
                let row = 2 * ends.len() as u32;
                row_of[b * n + a] = row + 1;
                row_of[a * n + b] = row;
                ends.push([a as u32, b as u32]);
            }
        }
        let pairs = ends.len();
        let of_all = (0..structures * n).step_by(n);
        let of_all = of_all.flat_map(|first| ends.iter().map(move |e| e.map(|x| first as u32 + x)));
        let of_all = of_all.collect();
        let owners = (0..structures * n).map(|x| (x / n) as u32).collect();
        let mut members = [Vec::new(), Vec::new()];
        for s in 0..structures {
            members[0].extend((0..n).map(|x| (s * n + x) as u32));
            let first = (s * 2 * pairs) as u32;
            for a in 0..n {
                let others = (0..n).filter(|&b| !distinct || a != b);
                members[1].extend(others.map(|b| first + row_of[a * n + b]));
            }
        }
        Self {
            structures,
            objects,
            distinct,
            pairs,
            row_of,
            ends: of_all,
            owners,
            members,
        }
    }

    /// How many rows an arity has, of all structures.
    pub(super) fn rows(&self, arity: usize) -> usize {
        self.structures * self.per(arity)
    }

    /// How many rows an arity has, of one structure.
    pub(super) fn per(&self, arity: usize) -> usize {
        [1, self.objects, 2 * self.pairs][arity]
    }

    pub(super) fn members(&self, arity: usize) -> &[u32] {
        &self.members[arity - 1]
    }

    /// Whether there is a triple.
    pub(super) fn has_triples(&self) -> bool {
        !self.distinct || self.objects >= 3
    }
}
