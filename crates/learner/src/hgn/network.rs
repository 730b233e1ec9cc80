//! The network, on a tape.
//!
//! Each part φ is two linear maps with a leaky rectifier after both. An edge's first map reads the
//! edge and the node in every place, each as it was encoded and as the last round left it; it is
//! applied to nodes, place by place, and gathered for edges, which is the same sum. What the
//! encodings add is the same in every round and is computed once: a node has one of four, an edge
//! one for each shape.

use std::sync::Arc;

use homing_nlm::{Simd, SplitMix64};
use homing_tape::{Buffers, Layout, Linear, Matrix, NONE, Segments, Tape, Var};

use super::config::HgnConfig;
use super::graph::{Hypergraph, KINDS, Places};

/// Of the leaky rectifiers.
pub(crate) const SLOPE: f32 = 0.01;

/// Two linear maps, with a leaky rectifier after both.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Perceptron {
    pub(crate) first: Linear,
    pub(crate) second: Linear,
}

impl Perceptron {
    fn new(layout: &mut Layout, name: &str, inputs: usize, width: usize) -> Self {
        Self {
            first: layout.linear(&format!("{name}.0"), inputs, width),
            second: layout.linear(&format!("{name}.1"), width, width),
        }
    }

    fn apply(self, tape: &mut Tape<'_>, inputs: &[Var]) -> Var {
        let hidden = tape.linear(self.first, inputs);
        self.rest(tape, hidden)
    }

    /// From what the first map gives.
    fn rest(self, tape: &mut Tape<'_>, hidden: Var) -> Var {
        let hidden = tape.leaky_relu(hidden, SLOPE);
        let out = tape.linear(self.second, &[hidden]);
        tape.leaky_relu(out, SLOPE)
    }

    /// The `at`th run of `width` rows of the first weight.
    pub(crate) fn part(self, at: usize) -> Matrix {
        let width = self.second.weight.rows();
        self.first.weight.part(at * width..(at + 1) * width)
    }
}

/// The parameters of a network.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) layout: Layout,
    pub(crate) places: Places,
    pub(crate) width: usize,
    pub(crate) rounds: usize,
    pub(crate) encode_edge: Perceptron,
    pub(crate) encode_node: Perceptron,
    /// Where there are global features.
    pub(crate) encode_global: Option<Perceptron>,
    pub(crate) edge: Perceptron,
    pub(crate) node: Perceptron,
    pub(crate) global: Perceptron,
    pub(crate) decode: Perceptron,
    pub(crate) output: Linear,
}

/// Indices into the matrices of a graph, as the tape reads them.
#[derive(Clone, Debug)]
pub(crate) struct Indices {
    /// The node in each place, one list of edges a place.
    places: Vec<Arc<[u32]>>,
    /// What is mapped for each place, and what an edge takes of it.
    mapped: Vec<Mapped>,
    shape_of: Arc<[u32]>,
    shapes: Vec<f32>,
    all_edges: Segments,
    all_nodes: Segments,
}

impl Indices {
    pub(crate) fn new(graph: &Hypergraph) -> Self {
        let count = graph.places.len().checked_div(graph.edges).unwrap_or(0);
        let place = |at: usize| graph.places.iter().skip(at).step_by(count).copied();
        let places: Vec<Arc<[u32]>> = (0..count).map(|at| place(at).collect()).collect();
        Self {
            mapped: places
                .iter()
                .map(|nodes| Mapped::new(nodes, graph.nodes))
                .collect(),
            places,
            shape_of: graph.shape_of.clone().into(),
            shapes: shape_features(graph),
            all_edges: Segments::of_sizes([graph.edges]),
            all_nodes: Segments::of_sizes([graph.nodes]),
        }
    }
}

/// The nodes whose last round a place reads: most stand in few places.
#[derive(Clone, Debug)]
struct Mapped {
    /// Those that stand in it; `None` for all nodes, where so many do that taking them out costs more
    /// than it saves.
    nodes: Option<Arc<[u32]>>,
    /// Which of these an edge has there.
    of_edge: Arc<[u32]>,
}

impl Mapped {
    fn new(of_edge: &Arc<[u32]>, count: usize) -> Self {
        let mut row = vec![NONE; count];
        for &node in of_edge.iter().filter(|&&node| node != NONE) {
            row[node as usize] = 0;
        }
        let nodes: Vec<u32> = (0..count as u32)
            .filter(|&node| row[node as usize] != NONE)
            .collect();
        if 2 * nodes.len() > count {
            return Self {
                nodes: None,
                of_edge: Arc::clone(of_edge),
            };
        }
        for (at, &node) in nodes.iter().enumerate() {
            row[node as usize] = at as u32;
        }
        let at = |&node: &u32| row.get(node as usize).copied().unwrap_or(NONE);
        Self {
            of_edge: of_edge.iter().map(at).collect(),
            nodes: Some(nodes.into()),
        }
    }
}

/// The three features of each shape: cost, senders, receivers.
pub(crate) fn shape_features(graph: &Hypergraph) -> Vec<f32> {
    let shapes = graph.shapes.iter();
    shapes
        .flat_map(|&[senders, receivers]| [1.0, senders as f32, receivers as f32])
        .collect()
}

impl Network {
    pub(crate) fn new(config: &HgnConfig, places: Places) -> Self {
        let width = config.width;
        let mut layout = Layout::default();
        let mut part = |name: &str, inputs| Perceptron::new(&mut layout, name, inputs, width);
        let encode_edge = part("encode.edge", 3);
        let encode_node = part("encode.node", 2);
        let encode_global = config.global_features.then(|| part("encode.global", 2));
        let edge = part("edge", 2 * width * (1 + places.total()));
        let node = part("node", 3 * width);
        let of_global = if config.global_features { 4 } else { 2 };
        let global = part("global", of_global * width);
        let decode = part("decode", width);
        let output = layout.linear("output", width, 1);
        Self {
            layout,
            places,
            width,
            rounds: config.rounds,
            encode_edge,
            encode_node,
            encode_global,
            edge,
            node,
            global,
            decode,
            output,
        }
    }

    /// A start.
    pub(crate) fn init(&self, random: &mut SplitMix64) -> Vec<f32> {
        self.layout.init(random)
    }

    /// The estimate of a state after every round, `[1, 1]` each; with `last`, that of the last only.
    pub(crate) fn forward(
        &self,
        tape: &mut Tape<'_>,
        graph: &Hypergraph,
        indices: &Indices,
        kinds: &Arc<[u32]>,
        last: bool,
    ) -> Vec<Var> {
        let input = tape.input(graph.shapes.len(), 3, &indices.shapes);
        let shapes = self.encode_edge.apply(tape, &[input]);
        let input = tape.input(4, 2, &KINDS);
        let four = self.encode_node.apply(tape, &[input]);
        // What the encodings add to the first maps of every round.
        let of_shape =
            tape.linear_parts(&[(shapes, self.edge.part(0))], Some(self.edge.first.bias));
        let mut parts = vec![(of_shape, Arc::clone(&indices.shape_of))];
        for (place, nodes) in indices.places.iter().enumerate() {
            let table = tape.linear_parts(&[(four, self.edge.part(2 + 2 * place))], None);
            parts.push((table, of_kinds(nodes, kinds)));
        }
        let edge_start = tape.gather_sum(&parts);
        let table = tape.linear_parts(&[(four, self.node.part(1))], Some(self.node.first.bias));
        let node_start = tape.gather(table, Arc::clone(kinds));

        let mut edges = tape.gather(shapes, Arc::clone(&indices.shape_of));
        let mut nodes = tape.gather(four, Arc::clone(kinds));
        let counts = [graph.nodes as f32, graph.edges as f32];
        let start = self.encode_global.map(|encode| {
            let input = tape.input(1, 2, &counts);
            encode.apply(tape, &[input])
        });
        let mut whole = start;
        let mut estimates = Vec::new();
        for round in 1..=self.rounds {
            let parts: Vec<(Var, Arc<[u32]>)> = indices
                .mapped
                .iter()
                .enumerate()
                .map(|(place, mapped)| {
                    let weight = self.edge.part(3 + 2 * place);
                    let standing = match &mapped.nodes {
                        Some(standing) => tape.gather(nodes, Arc::clone(standing)),
                        None => nodes,
                    };
                    let to = tape.linear_parts(&[(standing, weight)], None);
                    (to, Arc::clone(&mapped.of_edge))
                })
                .collect();
            let mut hidden = edge_start;
            if !parts.is_empty() {
                hidden = tape.gather_onto(hidden, &parts);
            }
            let hidden = tape.linear_onto(hidden, &[(edges, self.edge.part(1))]);
            edges = self.edge.rest(tape, hidden);
            let received = tape.segment_sum(edges, &graph.into);
            let hidden = tape.linear_onto(
                node_start,
                &[(received, self.node.part(0)), (nodes, self.node.part(2))],
            );
            nodes = self.node.rest(tape, hidden);
            if last && round < self.rounds && whole.is_none() {
                continue;
            }
            let mut inputs = vec![
                tape.segment_sum(edges, &indices.all_edges),
                tape.segment_sum(nodes, &indices.all_nodes),
            ];
            inputs.extend(start);
            inputs.extend(whole);
            let sum = self.global.apply(tape, &inputs);
            whole = whole.map(|_| sum);
            if !last || round == self.rounds {
                let decoded = self.decode.apply(tape, &[sum]);
                let output = tape.linear(self.output, &[decoded]);
                estimates.push(tape.relu(output));
            }
        }
        estimates
    }

    /// The mean, over the rounds, of the squared distance to the label; its gradient is added, if
    /// one is wanted. Also tells whether any round gave more than 0.
    pub(crate) fn loss(
        &self,
        parameters: &[f32],
        example: &Example<'_>,
        simd: Simd,
        buffers: &mut Buffers,
        gradient: Option<&mut [f32]>,
    ) -> Loss {
        let memory = std::mem::take(buffers);
        let mut tape = Tape::new(&self.layout, parameters, simd, memory);
        let estimates = self.forward(
            &mut tape,
            example.graph,
            example.indices,
            example.kinds,
            false,
        );
        let share = 1.0 / estimates.len() as f32;
        let target: Arc<[f32]> = [example.label].as_slice().into();
        let mut losses = Vec::new();
        let mut sum = 0.0;
        let mut alive = false;
        for estimate in estimates {
            alive |= tape.value(estimate)[0] > 0.0;
            let loss = tape.squared_error(estimate, Arc::clone(&target));
            sum += f64::from(tape.value(loss)[0]);
            losses.push((loss, share));
        }
        if let Some(gradient) = gradient {
            tape.backward(&losses, gradient);
        }
        *buffers = tape.into_buffers();
        Loss {
            mean: sum * f64::from(share),
            alive,
        }
    }
}

/// The kinds of the nodes in a place; empty places stay so.
fn of_kinds(nodes: &[u32], kinds: &[u32]) -> Arc<[u32]> {
    let kind = |&node: &u32| kinds.get(node as usize).copied().unwrap_or(node);
    nodes.iter().map(kind).collect()
}

/// One state, and how far it is.
#[derive(Clone, Copy)]
pub(crate) struct Example<'a> {
    pub(crate) graph: &'a Hypergraph,
    pub(crate) indices: &'a Indices,
    pub(crate) kinds: &'a Arc<[u32]>,
    pub(crate) label: f32,
}

/// How far off the network is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub(crate) mean: f64,
    /// Whether any round gave more than 0: where none ever does, nothing is learnt.
    pub(crate) alive: bool,
}
