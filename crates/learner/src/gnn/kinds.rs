//! Nodes and edges that look the same, once.
//!
//! Of all nodes of all graphs of a batch, few differ in their input; so do edges, and pairs of a node
//! and an edge that leaves it (combinations). What the first block of the network computes of them
//! alone, it computes once for each.

use std::collections::HashMap;

/// Sets of features, each stored once; numbered in the order in which they come.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    width: usize,
    stride: usize,
    bits: Vec<u64>,
    ids: HashMap<Box<[u64]>, u32>,
}

/// Words of so many features.
pub(crate) fn words(width: usize) -> usize {
    width.div_ceil(64)
}

impl Keys {
    fn new(width: usize) -> Self {
        Self {
            width,
            stride: words(width),
            bits: Vec::new(),
            ids: HashMap::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn id(&mut self, bits: &[u64]) -> u32 {
        debug_assert_eq!(bits.len(), self.stride);
        if let Some(&id) = self.ids.get(bits) {
            return id;
        }
        let id = self.ids.len() as u32;
        self.ids.insert(bits.into(), id);
        self.bits.extend_from_slice(bits);
        id
    }

    /// The features of a set as numbers, 0 or 1, appended.
    pub(crate) fn append_dense(&self, id: u32, to: &mut Vec<f32>) {
        let bits = &self.bits[id as usize * self.stride..][..self.stride];
        to.extend((0..self.width).map(|at| (bits[at / 64] >> (at % 64) & 1) as f32));
    }
}

/// Kinds of nodes, kinds of edges, and combinations of a node's kind and an edge's.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    pub(crate) nodes: Keys,
    pub(crate) edges: Keys,
    /// By combination: the kind of its source, the kind of its edge.
    pub(crate) combinations: Vec<(u32, u32)>,
    ids: HashMap<(u32, u32), u32>,
}

impl Kinds {
    pub(crate) fn new(node_width: usize, edge_width: usize) -> Self {
        Self {
            nodes: Keys::new(node_width),
            edges: Keys::new(edge_width),
            combinations: Vec::new(),
            ids: HashMap::new(),
        }
    }

    pub(crate) fn combination(&mut self, source: u32, edge: u32) -> u32 {
        *self.ids.entry((source, edge)).or_insert_with(|| {
            self.combinations.push((source, edge));
            self.combinations.len() as u32 - 1
        })
    }
}
