//! The network's run without a tape, for search and for episodes.
//!
//! What depends on kinds of nodes and edges alone (all edges of the first block, and what the second
//! makes of them) is kept in tables that grow as new kinds come; the policy's maps are folded into
//! one vector for each thing that an effect changes. Batches, and the order in which kinds come,
//! change no bit of a result.

use std::sync::Arc;

use homing_nlm::{Simd, multiply_add};
use homing_tape::{Linear, Matrix, sigmoid, tanh};

use super::draw::{Batch, BatchEffect, Lists};
use super::kinds::Kinds;
use super::network::{LOGIT_SCALE, Network};

/// The network with fixed parameters, and what it has computed of kinds.
pub(crate) struct Evaluator {
    network: Arc<Network>,
    parameters: Arc<[f32]>,
    simd: Simd,
    pub(crate) kinds: Kinds,
    tables: Tables,
    head: Folded,
}

/// Rows of the network's width, by kind of node or by combination.
#[derive(Default)]
struct Tables {
    /// B's part of a target, by kind.
    targets: Vec<f32>,
    /// e' of the first block, by combination.
    edges: Vec<f32>,
    /// B's part of it.
    messages: Vec<f32>,
    /// A's part of it in the second block.
    second: Vec<f32>,
}

/// The policy's maps with the last one folded in.
#[derive(Default)]
struct Folded {
    /// `[width, 1]`
    graph: Vec<f32>,
    /// `[width, 3]`: of the node of a unary effect, of the source and of the target of an edge.
    nodes: Vec<f32>,
    /// `[width, 1]`
    edge: Vec<f32>,
    /// By arity: what its predicates give when added.
    predicates: [Vec<f32>; 3],
    /// By arity: what every effect gives.
    always: [f32; 3],
    bias: f32,
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn relu(values: &mut [f32]) {
    for value in values {
        *value = if *value > 0.0 { *value } else { 0.0 };
    }
}

fn row(values: &[f32], width: usize, at: u32) -> &[f32] {
    &values[at as usize * width..][..width]
}

impl Evaluator {
    pub(crate) fn new(network: Arc<Network>, parameters: Arc<[f32]>, simd: Simd) -> Self {
        let kinds = Kinds::new(network.shape.width(1), network.shape.width(2));
        let mut evaluator = Self {
            network,
            parameters,
            simd,
            kinds,
            tables: Tables::default(),
            head: Folded::default(),
        };
        evaluator.fold();
        evaluator
    }

    fn matrix(&self, matrix: Matrix) -> &[f32] {
        &self.parameters[matrix.range()]
    }

    fn fold(&mut self) {
        let policy = self.network.policy;
        let h = self.network.width;
        let fold = |from: &[f32], map: Matrix| {
            let mut folded = vec![0.0; h];
            let shape = [1, h, h];
            multiply_add(self.simd, from, self.matrix(map), &mut folded, shape);
            folded
        };
        let last = self.matrix(policy.last);
        let inner = fold(last, policy.inner);
        let maps = [policy.nullary, policy.unary, policy.ends];
        let nodes = [
            fold(last, policy.unary.of),
            fold(&inner, policy.ends.of),
            fold(&inner, policy.to),
        ];
        let mut head = Folded {
            graph: fold(last, policy.nullary.of),
            nodes: (0..h)
                .flat_map(|at| [0, 1, 2].map(|map| nodes[map][at]))
                .collect(),
            edge: fold(last, policy.edge),
            bias: self.matrix(policy.last_bias)[0],
            ..Folded::default()
        };
        for (arity, map) in maps.into_iter().enumerate() {
            let from = if arity == 2 { &inner } else { last };
            let rows = self.matrix(map.predicate).chunks_exact(h);
            head.predicates[arity] = rows.map(|row| dot(row, from)).collect();
            head.always[arity] = dot(self.matrix(map.bias), from);
        }
        head.always[2] += dot(self.matrix(policy.edge_bias), last);
        self.head = head;
    }

    /// x W + b, or x W: `[rows, inputs]` to `[rows, outputs]`.
    fn linear(&self, x: &[f32], weight: Matrix, bias: Option<Matrix>) -> Vec<f32> {
        let (inputs, outputs) = (weight.rows(), weight.columns());
        let rows = x.len() / inputs;
        let mut out = match bias {
            Some(bias) => self.matrix(bias).repeat(rows),
            None => vec![0.0; rows * outputs],
        };
        let shape = [rows, inputs, outputs];
        multiply_add(self.simd, x, self.matrix(weight), &mut out, shape);
        out
    }

    /// The first and the second part of a map's inputs.
    fn parts(map: Linear, first: usize) -> [Matrix; 2] {
        let rows = map.weight.rows();
        [map.weight.part(0..first), map.weight.part(first..rows)]
    }

    /// Fills the tables up for kinds that are new.
    fn extend_tables(&mut self) {
        let h = self.network.width;
        let n = self.network.shape.width(1);
        let [first, second] = self.network.blocks;
        let mut dense = Vec::new();
        let known = self.tables.targets.len() / h;
        for id in known..self.kinds.nodes.len() {
            self.kinds.nodes.append_dense(id as u32, &mut dense);
        }
        let [of_target, of_edge] = Self::parts(first.message, n);
        let more = self.linear(&dense, of_target, None);
        self.tables.targets.extend(more);
        dense.clear();
        let known = self.tables.edges.len() / h;
        for &(source, edge) in &self.kinds.combinations[known..] {
            self.kinds.nodes.append_dense(source, &mut dense);
            self.kinds.edges.append_dense(edge, &mut dense);
        }
        let mut edges = self.linear(&dense, first.edge.weight, Some(first.edge.bias));
        relu(&mut edges);
        let messages = self.linear(&edges, of_edge, Some(first.message.bias));
        let of_second = self.linear(&edges, Self::parts(second.edge, h)[1], None);
        self.tables.edges.extend(edges);
        self.tables.messages.extend(messages);
        self.tables.second.extend(of_second);
    }

    /// The logits of all actions and the values of all graphs of a batch that was drawn with these
    /// kinds.
    pub(crate) fn evaluate(&mut self, batch: &Batch, logits: &mut Vec<f32>, values: &mut Vec<f32>) {
        self.extend_tables();
        let h = self.network.width;
        let [first, second] = self.network.blocks;
        let combinations = &batch.classes.items;
        let (tables, nodes_of) = (&self.tables, &batch.nodes);
        // The first block: its edges are in the tables.
        let greatest = greatest_message(h, batch, &batch.member_kinds, &tables.targets, |class| {
            row(&tables.messages, h, combinations[class])
        });
        let g = self.network.shape.width(0);
        let (mut nodes, mut globals) = self.nodes_and_globals(
            &greatest,
            &batch.globals,
            g,
            first.node,
            first.global,
            nodes_of,
        );
        // The second.
        let sources = self.linear(
            &nodes,
            Self::parts(second.edge, h)[0],
            Some(second.edge.bias),
        );
        let mut edges = Vec::with_capacity(combinations.len() * h);
        for node in 0..batch.classes.len() {
            for &combination in batch.classes.list(node) {
                let source = row(&sources, h, node as u32).iter();
                let old = row(&tables.second, h, combination);
                edges.extend(source.zip(old).map(|(a, b)| a + b));
            }
        }
        relu(&mut edges);
        let [of_target, of_edge] = Self::parts(second.message, h);
        let targets = self.linear(&nodes, of_target, None);
        let messages = self.linear(&edges, of_edge, Some(second.message.bias));
        let greatest = greatest_message(h, batch, &batch.members, &targets, |class| {
            row(&messages, h, class as u32)
        });
        let (more_nodes, more_globals) =
            self.nodes_and_globals(&greatest, &globals, h, second.node, second.global, nodes_of);
        add(&mut nodes, &more_nodes);
        add(&mut globals, &more_globals);
        self.values(&globals, values);
        for (class, &combination) in combinations.iter().enumerate() {
            let first = row(&self.tables.edges, h, combination);
            add(&mut edges[class * h..][..h], first);
        }
        self.logits(batch, &nodes, &edges, &globals, logits);
    }

    /// From the greatest messages of nodes and the vectors of graphs, of `inputs` columns, to the
    /// vectors of nodes and graphs.
    fn nodes_and_globals(
        &self,
        greatest: &[f32],
        globals: &[f32],
        inputs: usize,
        node: Linear,
        global: Linear,
        nodes_of: &Lists<u32>,
    ) -> (Vec<f32>, Vec<f32>) {
        let h = self.network.width;
        let [own, shared] = Self::parts(node, h);
        let mut nodes = self.linear(greatest, own, Some(node.bias));
        let shared = self.linear(globals, shared, None);
        let mut means = vec![0.0; nodes_of.len() * h];
        for (graph, mean) in means.chunks_exact_mut(h).enumerate() {
            let (from, to) = (nodes_of.starts[graph], nodes_of.starts[graph + 1]);
            let rows = &mut nodes[from as usize * h..to as usize * h];
            for node in rows.chunks_exact_mut(h) {
                add(node, row(&shared, h, graph as u32));
                relu(node);
                add(mean, node);
            }
            let share = 1.0 / (to - from).max(1) as f32;
            mean.iter_mut().for_each(|x| *x *= share);
        }
        let [old, of_mean] = Self::parts(global, inputs);
        let mut out = self.linear(globals, old, Some(global.bias));
        let shape = [nodes_of.len(), h, h];
        multiply_add(self.simd, &means, self.matrix(of_mean), &mut out, shape);
        relu(&mut out);
        (nodes, out)
    }

    fn values(&self, globals: &[f32], values: &mut Vec<f32>) {
        let [first, last] = self.network.value;
        let mut hidden = self.linear(globals, first.weight, Some(first.bias));
        relu(&mut hidden);
        let value = self.linear(&hidden, last.weight, Some(last.bias));
        values.clear();
        values.extend(value.iter().map(|&x| sigmoid(f64::from(x)) as f32));
    }

    fn logits(
        &self,
        batch: &Batch,
        nodes: &[f32],
        edges: &[f32],
        globals: &[f32],
        logits: &mut Vec<f32>,
    ) {
        logits.clear();
        if batch.effects.len() == 0 {
            return;
        }
        let (h, head) = (self.network.width, &self.head);
        let dots = |rows: &[f32], with: &[f32]| {
            let (count, columns) = (rows.len() / h, with.len() / h);
            let mut out = vec![0.0; count * columns];
            multiply_add(self.simd, rows, with, &mut out, [count, h, columns]);
            out
        };
        let graph = dots(globals, &head.graph);
        let (nodes, edge) = (dots(nodes, &head.nodes), dots(edges, &head.edge));
        let node = |at: u32, map: usize| nodes[at as usize * 3 + map];
        let effect = |effect: &BatchEffect| {
            let subject = effect.subject as usize;
            let of = match effect.arity {
                0 => graph[subject],
                1 => node(effect.subject, 0),
                _ => node(effect.ends.0, 1) + node(effect.ends.1, 2) + edge[subject],
            };
            let predicate = head.predicates[effect.arity][effect.at];
            let predicate = if effect.adds { predicate } else { -predicate };
            of + predicate + head.always[effect.arity]
        };
        for action in 0..batch.effects.len() {
            let sum: f32 = batch.effects.list(action).iter().map(effect).sum();
            let squashed = tanh(f64::from(sum + head.bias)) as f32;
            logits.push(LOGIT_SCALE * squashed);
        }
    }
}

fn add(to: &mut [f32], from: &[f32]) {
    for (to, x) in to.iter_mut().zip(from) {
        *to += x;
    }
}

/// By node, the greatest over its classes of the class's own part and the greatest part of those
/// it goes to; zeros where there is no class.
fn greatest_message<'m>(
    h: usize,
    batch: &Batch,
    members: &Lists<u32>,
    targets: &[f32],
    own: impl Fn(usize) -> &'m [f32],
) -> Vec<f32> {
    let mut out = vec![0.0; batch.classes.len() * h];
    let mut most = vec![0.0; h];
    for (node, out) in out.chunks_exact_mut(h).enumerate() {
        let (from, to) = (batch.classes.starts[node], batch.classes.starts[node + 1]);
        for class in from..to {
            let (first, others) = members
                .list(class as usize)
                .split_first()
                .expect("a class has a member");
            most.copy_from_slice(row(targets, h, *first));
            for &other in others {
                keep_greater(&mut most, row(targets, h, other));
            }
            add(&mut most, own(class as usize));
            if class == from {
                out.copy_from_slice(&most);
            } else {
                keep_greater(out, &most);
            }
        }
    }
    out
}

fn keep_greater(to: &mut [f32], from: &[f32]) {
    for (to, &x) in to.iter_mut().zip(from) {
        *to = if x > *to { x } else { *to };
    }
}
