//! The last round's estimate of states of one task, as searches ask for it.
//!
//! The same sums in the same order as on the tape, so the same bits; but nothing is kept for a
//! gradient, edges go through all their maps a block at a time, and what the encodings add is
//! looked up: four rows a place for nodes, one a shape for edges.

use homing_nlm::{Simd, multiply_add};
use homing_planner::{Estimate, Heuristic, States, Task};
use homing_tape::{Buffers, Linear, NONE, Tape};

use super::graph::{Hypergraph, KINDS};
use super::model::HgnModel;
use super::network::{Network, Perceptron, SLOPE, shape_features};
use crate::compute::Compute;
use crate::model::ModelError;

/// Edges or nodes that go through their maps together: they stay in the nearest cache.
const BLOCK: usize = 48;

/// Work of a batch, in rows times rounds, below which more threads only cost time.
const WORTH_A_THREAD: usize = 20_000;

/// An estimate larger than every other, for sums beyond what a number can hold.
const BEYOND: f64 = 1e30;

/// The network of a model, ready for the states of one task.
#[derive(Clone, Debug)]
pub(crate) struct Evaluator {
    graph: Hypergraph,
    simd: Simd,
    width: usize,
    rounds: usize,
    /// The encodings: of the four kinds of nodes, of each shape of edges.
    four: Vec<f32>,
    shapes: Vec<f32>,
    /// What they add to the first map of edges: by shape, and by kind and place; of nodes: by kind.
    edge_of_shape: Vec<f32>,
    edge_of_kind: Vec<f32>,
    node_of_kind: Vec<f32>,
    /// From nodes to the first map of edges.
    runs: Vec<Run>,
    /// The row that stands in each place of each edge, among those of all runs.
    mapped_row: Vec<u32>,
    /// How many rows these have.
    mapped_rows: usize,
    edge_own: Vec<f32>,
    edge_second: Map,
    node_received: Vec<f32>,
    node_own: Vec<f32>,
    node_second: Map,
    global: [Map; 2],
    decode: [Map; 2],
    output: Map,
    /// Where there are global features: their encoding.
    start: Option<Vec<f32>>,
}

/// Nodes that stand in a place, some that do not between them: neighbours mapped together.
#[derive(Clone, Debug)]
struct Run {
    /// The weights of the place.
    weight: Vec<f32>,
    first: usize,
    count: usize,
}

/// Nodes that no edge has in a place, but that lie between two that are: mapping them is cheaper
/// than beginning again.
const GAP: usize = 12;

/// For a place, runs of nodes that cover those that stand in it: most propositions stand in few
/// places, and those of a predicate lie together.
fn runs_of(places: impl Iterator<Item = u32>, nodes: usize) -> Vec<(usize, usize)> {
    let mut stands = vec![false; nodes];
    places
        .filter(|&node| node != NONE)
        .for_each(|node| stands[node as usize] = true);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for node in (0..nodes).filter(|&node| stands[node]) {
        match runs.last_mut() {
            Some((first, count)) if node <= *first + *count + GAP => *count = node + 1 - *first,
            _ => runs.push((node, 1)),
        }
    }
    runs
}

/// A linear map, out of the buffer of parameters.
#[derive(Clone, Debug)]
struct Map {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Map {
    fn of(parameters: &[f32], map: Linear) -> Self {
        Self {
            weight: parameters[map.weight.range()].to_vec(),
            bias: parameters[map.bias.range()].to_vec(),
        }
    }

    /// out = x W + b, one row of x for each row of out.
    fn apply(&self, simd: Simd, x: &[f32], out: &mut [f32]) {
        let columns = self.bias.len();
        for row in out.chunks_exact_mut(columns) {
            row.copy_from_slice(&self.bias);
        }
        let (rows, inputs) = (out.len() / columns, self.weight.len() / columns);
        multiply_add(simd, x, &self.weight, out, [rows, inputs, columns]);
    }
}

/// Matrices for one state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    kinds: Vec<u32>,
    nodes: Vec<f32>,
    edges: Vec<f32>,
    edge_start: Vec<f32>,
    mapped: Vec<f32>,
    received: Vec<f32>,
    hidden: Vec<f32>,
}

fn leaky(values: &mut [f32]) {
    for x in values {
        *x = if *x > 0.0 { *x } else { SLOPE * *x };
    }
}

fn add_row(to: &mut [f32], from: &[f32]) {
    for (to, x) in to.iter_mut().zip(from) {
        *to += x;
    }
}

fn row(values: &[f32], width: usize, at: usize) -> &[f32] {
    &values[at * width..(at + 1) * width]
}

/// The sum of all rows.
fn sum_rows(values: &[f32], width: usize) -> Vec<f32> {
    let mut sum = vec![0.0; width];
    for row in values.chunks_exact(width) {
        add_row(&mut sum, row);
    }
    sum
}

impl Evaluator {
    pub(crate) fn new(
        network: &Network,
        parameters: &[f32],
        graph: Hypergraph,
        simd: Simd,
    ) -> Self {
        let width = network.width;
        let places = network.places.total();
        let mut tape = Tape::new(&network.layout, parameters, simd, Buffers::default());
        let mut encode = |with: Perceptron, rows: usize, columns: usize, values: &[f32]| {
            let input = tape.input(rows, columns, values);
            let hidden = tape.linear(with.first, &[input]);
            let hidden = tape.leaky_relu(hidden, SLOPE);
            let out = tape.linear(with.second, &[hidden]);
            let out = tape.leaky_relu(out, SLOPE);
            tape.value(out).to_vec()
        };
        let four = encode(network.encode_node, 4, 2, &KINDS);
        let features = shape_features(&graph);
        let shapes = encode(network.encode_edge, graph.shapes.len(), 3, &features);
        let counts = [graph.nodes as f32, graph.edges as f32];
        let start = network
            .encode_global
            .map(|with| encode(with, 1, 2, &counts));
        let weight = |part: homing_tape::Matrix| &parameters[part.range()];
        let table = |values: &[f32], of: homing_tape::Matrix, bias: Option<Linear>| {
            let rows = values.len() / width;
            let mut out = match bias {
                Some(map) => parameters[map.bias.range()].repeat(rows),
                None => vec![0.0; rows * width],
            };
            multiply_add(simd, values, weight(of), &mut out, [rows, width, width]);
            out
        };
        let (edge, node) = (network.edge, network.node);
        let (mut runs, mut mapped_rows) = (Vec::new(), 0);
        let mut mapped_row = vec![NONE; graph.places.len()];
        let mut edge_of_kind = Vec::new();
        for place in 0..places {
            edge_of_kind.extend(table(&four, edge.part(2 + 2 * place), None));
            let mine = graph.places.iter().copied().skip(place).step_by(places);
            let rows = mapped_row.iter_mut().skip(place).step_by(places);
            let found = runs_of(mine.clone(), graph.nodes);
            let mut row_of = vec![NONE; graph.nodes];
            for (first, count) in found {
                for row in &mut row_of[first..first + count] {
                    *row = mapped_rows as u32;
                    mapped_rows += 1;
                }
                let weight = weight(edge.part(3 + 2 * place)).to_vec();
                runs.push(Run {
                    weight,
                    first,
                    count,
                });
            }
            for (row, node) in rows.zip(mine).filter(|(_, node)| *node != NONE) {
                *row = row_of[node as usize];
            }
        }
        let both = |with: Perceptron| [with.first, with.second].map(|map| Map::of(parameters, map));
        Self {
            simd,
            width,
            rounds: network.rounds,
            edge_of_shape: table(&shapes, edge.part(0), Some(edge.first)),
            edge_of_kind,
            node_of_kind: table(&four, node.part(1), Some(node.first)),
            runs,
            mapped_row,
            mapped_rows,
            edge_own: weight(edge.part(1)).to_vec(),
            edge_second: Map::of(parameters, edge.second),
            node_received: weight(node.part(0)).to_vec(),
            node_own: weight(node.part(2)).to_vec(),
            node_second: Map::of(parameters, node.second),
            global: both(network.global),
            decode: both(network.decode),
            output: Map::of(parameters, network.output),
            four,
            shapes,
            start,
            graph,
        }
    }

    /// The estimate of a state.
    pub(crate) fn evaluate(&self, task: &Task, state: &[u32], scratch: &mut Scratch) -> f32 {
        self.begin(task, state, scratch);
        let mut whole = self.start.clone();
        for round in 1..=self.rounds {
            self.edges(scratch);
            self.nodes(scratch);
            if round == self.rounds || whole.is_some() {
                let sum = self.whole(scratch, whole.as_deref());
                if round == self.rounds {
                    return self.decoded(&sum);
                }
                whole = Some(sum);
            }
        }
        unreachable!("there is a last round")
    }

    /// The encodings, and what they add to every round.
    fn begin(&self, task: &Task, state: &[u32], scratch: &mut Scratch) {
        let (graph, width) = (&self.graph, self.width);
        graph.kinds(task, state, &mut scratch.kinds);
        scratch.nodes.clear();
        for &kind in &scratch.kinds {
            let encoded = row(&self.four, width, kind as usize);
            scratch.nodes.extend_from_slice(encoded);
        }
        scratch.edges.clear();
        scratch.edge_start.clear();
        let places = graph.places.len().checked_div(graph.edges).unwrap_or(0);
        for (at, &shape) in graph.shape_of.iter().enumerate() {
            let shape = shape as usize;
            scratch
                .edges
                .extend_from_slice(row(&self.shapes, width, shape));
            let from = scratch.edge_start.len();
            let of_shape = row(&self.edge_of_shape, width, shape);
            scratch.edge_start.extend_from_slice(of_shape);
            let start = &mut scratch.edge_start[from..];
            let mine = &graph.places[at * places..(at + 1) * places];
            for (place, &node) in mine.iter().enumerate() {
                if node != NONE {
                    let kind = scratch.kinds[node as usize] as usize;
                    add_row(start, row(&self.edge_of_kind, width, place * 4 + kind));
                }
            }
        }
    }

    /// One round for the edges; what nodes receive is added up on the way.
    fn edges(&self, scratch: &mut Scratch) {
        let (graph, width) = (&self.graph, self.width);
        let places = graph.places.len().checked_div(graph.edges).unwrap_or(0);
        scratch.mapped.clear();
        scratch.mapped.resize(self.mapped_rows * width, 0.0);
        let mut rest = &mut scratch.mapped[..];
        for run in &self.runs {
            let to;
            (to, rest) = rest.split_at_mut(run.count * width);
            let from = &scratch.nodes[run.first * width..][..run.count * width];
            let shape = [run.count, width, width];
            multiply_add(self.simd, from, &run.weight, to, shape);
        }
        scratch.received.clear();
        scratch.received.resize(graph.nodes * width, 0.0);
        for first in (0..graph.edges).step_by(BLOCK) {
            let rows = BLOCK.min(graph.edges - first);
            let range = first * width..(first + rows) * width;
            scratch.hidden.clear();
            let start = &scratch.edge_start[range.clone()];
            scratch.hidden.extend_from_slice(start);
            for (at, to) in scratch.hidden.chunks_exact_mut(width).enumerate() {
                for &mapped in &self.mapped_row[(first + at) * places..][..places] {
                    if mapped != NONE {
                        add_row(to, row(&scratch.mapped, width, mapped as usize));
                    }
                }
            }
            let edges = &mut scratch.edges[range];
            let shape = [rows, width, width];
            multiply_add(self.simd, edges, &self.edge_own, &mut scratch.hidden, shape);
            leaky(&mut scratch.hidden);
            self.edge_second.apply(self.simd, &scratch.hidden, edges);
            leaky(edges);
            for (at, from) in edges.chunks_exact(width).enumerate() {
                let mine = &graph.places[(first + at) * places..][..graph.receivers];
                for &node in mine {
                    if node != NONE {
                        let to = node as usize * width;
                        add_row(&mut scratch.received[to..to + width], from);
                    }
                }
            }
        }
    }

    /// One round for the nodes.
    fn nodes(&self, scratch: &mut Scratch) {
        let (graph, width) = (&self.graph, self.width);
        for first in (0..graph.nodes).step_by(BLOCK) {
            let rows = BLOCK.min(graph.nodes - first);
            let range = first * width..(first + rows) * width;
            scratch.hidden.clear();
            for &kind in &scratch.kinds[first..first + rows] {
                let start = row(&self.node_of_kind, width, kind as usize);
                scratch.hidden.extend_from_slice(start);
            }
            let shape = [rows, width, width];
            let (hidden, simd) = (&mut scratch.hidden, self.simd);
            let received = &scratch.received[range.clone()];
            multiply_add(simd, received, &self.node_received, hidden, shape);
            let nodes = &mut scratch.nodes[range];
            multiply_add(simd, nodes, &self.node_own, hidden, shape);
            leaky(hidden);
            self.node_second.apply(simd, hidden, nodes);
            leaky(nodes);
        }
    }

    /// One round for the whole.
    fn whole(&self, scratch: &Scratch, whole: Option<&[f32]>) -> Vec<f32> {
        let mut inputs = sum_rows(&scratch.edges, self.width);
        inputs.extend(sum_rows(&scratch.nodes, self.width));
        if let (Some(start), Some(whole)) = (&self.start, whole) {
            inputs.extend_from_slice(start);
            inputs.extend_from_slice(whole);
        }
        self.both(&self.global, &inputs)
    }

    fn both(&self, maps: &[Map; 2], x: &[f32]) -> Vec<f32> {
        let mut hidden = vec![0.0; self.width];
        maps[0].apply(self.simd, x, &mut hidden);
        leaky(&mut hidden);
        let mut out = vec![0.0; self.width];
        maps[1].apply(self.simd, &hidden, &mut out);
        leaky(&mut out);
        out
    }

    fn decoded(&self, sum: &[f32]) -> f32 {
        let decoded = self.both(&self.decode, sum);
        let mut out = [0.0];
        self.output.apply(self.simd, &decoded, &mut out);
        // A comparison that is false for what is no number lets it through.
        if out[0] <= 0.0 { 0.0 } else { out[0] }
    }
}

/// A hypergraph network as a heuristic: the raw output of the last round, at goals too. It knows no
/// dead ends.
pub struct HgnHeuristic<'t> {
    task: &'t Task,
    evaluator: Evaluator,
    scratch: Vec<Scratch>,
}

impl<'t> HgnHeuristic<'t> {
    /// Makes the heuristic of a model for a task. The number of threads never changes a value.
    ///
    /// # Errors
    ///
    /// If the model was trained for another domain, or an action has more conditions or effects
    /// than it has places for.
    pub fn new(
        model: &HgnModel,
        task: &'t Task,
        compute: impl Into<Compute>,
    ) -> Result<Self, ModelError> {
        let Compute { threads, simd } = compute.into();
        let graph = model.graph_of(task)?;
        let network = model.network();
        Ok(Self {
            task,
            evaluator: Evaluator::new(&network, &model.parameters, graph, simd),
            scratch: vec![Scratch::default(); threads.max(1)],
        })
    }
}

impl Heuristic for HgnHeuristic<'_> {
    fn name(&self) -> &str {
        "hgn"
    }

    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        let (task, evaluator) = (self.task, &self.evaluator);
        let one = |state: &[u32], scratch: &mut Scratch| {
            let value = f64::from(evaluator.evaluate(task, state, scratch));
            Estimate::new(if value.is_finite() { value } else { BEYOND })
        };
        let rows = evaluator.graph.nodes + evaluator.graph.edges;
        let work = states.len() * rows * evaluator.rounds;
        let threads = self.scratch.len().min(work / WORTH_A_THREAD);
        let threads = threads.clamp(1, states.len().max(1));
        if threads == 1 {
            let scratch = &mut self.scratch[0];
            estimates.extend(states.iter().map(|state| one(state, scratch)));
            return;
        }
        let share = states.len().div_ceil(threads);
        let mut all = vec![Estimate::new(0.0); states.len()];
        std::thread::scope(|scope| {
            let parts = all.chunks_mut(share).zip(&mut self.scratch);
            for (part, (to, scratch)) in parts.enumerate() {
                let one = &one;
                scope.spawn(move || {
                    for (at, to) in to.iter_mut().enumerate() {
                        *to = one(states.get(part * share + at), scratch);
                    }
                });
            }
        });
        estimates.extend(all);
    }
}
