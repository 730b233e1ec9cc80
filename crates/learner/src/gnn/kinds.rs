//! What looks the same to the network, once.
//!
//! A row of the network is a function of few things: that of a node after the first block, say, of
//! what it sees along its edges and of the graph's features. Nodes that agree in these have one row,
//! in whatever graphs they are, and it is computed once. So with every step of the network: things
//! that agree in what the step reads get one number here, and what they agree in is kept under it.
//! Numbers are given in the order in which things come.

use homing_tape::Segments;

/// Where no list has its place.
const FREE: u32 = u32::MAX;

/// Lists of numbers, each once, under numbers of their own.
#[derive(Clone, Debug)]
pub(crate) struct Numbered {
    starts: Vec<u32>,
    items: Vec<u32>,
    /// A power of two of places, at most half of them taken.
    places: Vec<u32>,
}

impl Default for Numbered {
    fn default() -> Self {
        Self {
            starts: vec![0],
            items: Vec::new(),
            places: vec![FREE; 64],
        }
    }
}

/// Every bit of the result depends on every word.
fn hash(list: &[u32]) -> u64 {
    let mut hash = list.len() as u64;
    for &word in list {
        let product = u128::from(hash ^ u64::from(word)) * 0x9E37_79B9_7F4A_7C15;
        hash = (product as u64) ^ ((product >> 64) as u64) ^ 0x2545_F491_4F6C_DD1D;
    }
    hash
}

impl Numbered {
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn list(&self, id: u32) -> &[u32] {
        let id = id as usize;
        &self.items[self.starts[id] as usize..self.starts[id + 1] as usize]
    }

    /// Drops all lists; their memory stays.
    pub(crate) fn clear(&mut self) {
        self.starts.truncate(1);
        self.items.clear();
        self.places.fill(FREE);
    }

    /// The lists from this number on.
    pub(crate) fn from(&self, first: usize) -> impl Iterator<Item = &[u32]> {
        (first..self.len()).map(|id| self.list(id as u32))
    }

    /// The number of a list, a new one if it has none.
    pub(crate) fn id(&mut self, list: &[u32]) -> u32 {
        let place = self.place(list);
        if self.places[place] != FREE {
            return self.places[place];
        }
        let id = self.len() as u32;
        self.items.extend_from_slice(list);
        self.starts.push(self.items.len() as u32);
        self.places[place] = id;
        if 2 * self.len() > self.places.len() {
            self.places = vec![FREE; 4 * self.places.len()];
            for id in 0..self.len() as u32 {
                let place = self.place(self.list(id));
                self.places[place] = id;
            }
        }
        id
    }

    /// The place of a list, or the free one where it belongs.
    fn place(&self, list: &[u32]) -> usize {
        let last = self.places.len() - 1;
        let mut at = hash(list) as usize & last;
        while self.places[at] != FREE && self.list(self.places[at]) != list {
            at = (at + 1) & last;
        }
        at
    }

    /// One entry of every list.
    pub(crate) fn column(&self, at: usize) -> std::sync::Arc<[u32]> {
        self.from(0).map(|list| list[at]).collect()
    }

    /// All lists without their first so many entries.
    pub(crate) fn segments(&self, without: usize) -> Segments {
        Segments::from_lists(self.from(0).map(|list| &list[without..]))
    }
}

/// Words of so many features, a bit each.
pub(crate) fn words(width: usize) -> usize {
    width.div_ceil(32)
}

/// Sets of features.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    width: usize,
    sets: Numbered,
}

impl Features {
    fn new(width: usize) -> Self {
        Self {
            width,
            sets: Numbered::default(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn id(&mut self, bits: &[u32]) -> u32 {
        debug_assert_eq!(bits.len(), words(self.width));
        self.sets.id(bits)
    }

    /// The features of a set as numbers, 0 or 1, appended.
    pub(crate) fn append_dense(&self, id: u32, to: &mut Vec<f32>) {
        append_dense(self.sets.list(id), self.width, to);
    }

    /// Those of all sets from this number on.
    pub(crate) fn dense(&self, first: usize) -> Vec<f32> {
        let mut dense = Vec::new();
        let sets = self.sets.from(first);
        sets.for_each(|set| append_dense(set, self.width, &mut dense));
        dense
    }
}

/// Bits as numbers, 0 or 1, appended.
pub(crate) fn append_dense(bits: &[u32], width: usize, to: &mut Vec<f32>) {
    to.extend((0..width).map(|at| (bits[at / 32] >> (at % 32) & 1) as f32));
}

/// What a block of the network tells apart. Nodes, edges and graphs that go into it have numbers
/// already.
#[derive(Clone, Debug, Default)]
pub(crate) struct Level {
    /// Sets of nodes that edges go to, ascending.
    pub(crate) targets: Numbered,
    /// An edge, and the set that edges like it go to.
    pub(crate) classes: Numbered,
    /// All that a node sees: a set of classes, ascending.
    pub(crate) views: Numbered,
    /// A view, the graph, and the node that went in.
    pub(crate) nodes: Numbered,
    /// The graph that went in, then its nodes as they come out, in their order.
    pub(crate) graphs: Numbered,
}

impl Level {
    fn clear(&mut self) {
        self.targets.clear();
        self.classes.clear();
        self.views.clear();
        self.nodes.clear();
        self.graphs.clear();
    }

    /// How many rows of the network's width this takes.
    fn rows(&self) -> usize {
        let lists = [&self.targets, &self.views, &self.nodes, &self.graphs];
        lists.iter().map(|list| list.len()).sum()
    }
}

/// Everything that the network tells apart.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    /// Nodes, by their features.
    pub(crate) nodes: Features,
    /// Edges, by their features.
    pub(crate) edges: Features,
    /// Graphs, by their features.
    pub(crate) graphs: Features,
    /// The kind of a node and that of an edge that leaves it: what the first block has of edges.
    pub(crate) combinations: Numbered,
    pub(crate) first: Level,
    /// A node of the first block and a combination: what the second block has of edges.
    pub(crate) second_edges: Numbered,
    pub(crate) second: Level,
}

impl Kinds {
    /// By the widths of graphs, nodes and edges.
    pub(crate) fn new([graphs, nodes, edges]: [usize; 3]) -> Self {
        Self {
            nodes: Features::new(nodes),
            edges: Features::new(edges),
            graphs: Features::new(graphs),
            combinations: Numbered::default(),
            first: Level::default(),
            second_edges: Numbered::default(),
            second: Level::default(),
        }
    }

    /// Drops everything; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.nodes.sets.clear();
        self.edges.sets.clear();
        self.graphs.sets.clear();
        self.combinations.clear();
        self.first.clear();
        self.second_edges.clear();
        self.second.clear();
    }

    /// How many rows of the network's width all of it takes, about.
    pub(crate) fn rows(&self) -> usize {
        let others = self.nodes.len() + self.combinations.len() + self.second_edges.len();
        others + self.first.rows() + self.second.rows()
    }

    /// The features of the node and the edge of each combination from this number on.
    pub(crate) fn dense_combinations(&self, first: usize) -> Vec<f32> {
        let mut dense = Vec::new();
        for list in self.combinations.from(first) {
            self.nodes.append_dense(list[0], &mut dense);
            self.edges.append_dense(list[1], &mut dense);
        }
        dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_have_one_number() {
        let mut numbered = Numbered::default();
        let list = |at: u32| vec![at % 7; (at % 5) as usize + usize::from(at > 500)];
        let ids: Vec<u32> = (0..1_000).map(|at| numbered.id(&list(at))).collect();
        for (at, &id) in ids.iter().enumerate() {
            assert_eq!(numbered.list(id), list(at as u32));
            assert_eq!(numbered.id(&list(at as u32)), id);
        }
        let mut known: Vec<_> = (0..numbered.len())
            .map(|id| numbered.list(id as u32))
            .collect();
        known.sort();
        known.dedup();
        assert_eq!(known.len(), numbered.len());
        assert_eq!(numbered.id(&[]), 0);
    }
}
