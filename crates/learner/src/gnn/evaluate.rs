//! The network without a tape, for searches and episodes: the same numbers, up to rounding, of a batch
//! at a time.
//!
//! What is computed of anything that has a number among the [`Kinds`] is kept under it: states that
//! are met one after the other differ in little, and most of their rows are there already. When
//! there is too much of it, it is dropped, and begins anew.

use std::sync::Arc;

use homing_nlm::{Simd, multiply_add, sigmoid, tanh};
use homing_tape::{Linear, Matrix, dot};

use super::draw::{Batch, BatchEffect};
use super::kinds::{Kinds, Level};
use super::network::{Block, LOGIT_SCALE, Network};

/// Numbers that are kept at the most, about: 64 MiB.
const MOST_KEPT: usize = 1 << 24;

/// Evaluates a network, with what was computed of kinds.
pub(crate) struct Evaluator {
    network: Arc<Network>,
    parameters: Arc<[f32]>,
    simd: Simd,
    pub(crate) kinds: Kinds,
    tables: Tables,
    head: Folded,
}

/// What is known by number: rows of the network's width where nothing else is said.
#[derive(Default)]
struct Tables {
    /// By kind of node: B's part of a target.
    targets: Vec<f32>,
    /// By kind of graph: C's part, and D's.
    shared: Vec<f32>,
    old: Vec<f32>,
    /// By combination: B's part of an edge, A's part in the second block, and one number, what the
    /// edge gives an effect.
    messages: Vec<f32>,
    edges: Vec<f32>,
    edge_dots: Vec<f32>,
    first: LevelTables,
    /// By node of the first block: A's part of a source, B's part of a target.
    second_sources: Vec<f32>,
    second_targets: Vec<f32>,
    /// By graph of the first block: C's part, and D's.
    second_shared: Vec<f32>,
    second_old: Vec<f32>,
    /// By edge of the second block: B's part, and what it gives an effect.
    second_messages: Vec<f32>,
    second_edge_dots: Vec<f32>,
    second: LevelTables,
    /// By graph of the second block: its value, and what it gives an effect.
    values: Vec<f32>,
    graph_dots: Vec<f32>,
    // Of a batch, for the memory alone.
    rows: Vec<f32>,
    hidden: Vec<f32>,
}

impl Tables {
    /// Drops everything; the memory stays.
    fn clear(&mut self) {
        let all = [
            &mut self.targets,
            &mut self.shared,
            &mut self.old,
            &mut self.messages,
            &mut self.edges,
            &mut self.edge_dots,
            &mut self.second_sources,
            &mut self.second_targets,
            &mut self.second_shared,
            &mut self.second_old,
            &mut self.second_messages,
            &mut self.second_edge_dots,
            &mut self.values,
            &mut self.graph_dots,
        ];
        all.into_iter().for_each(Vec::clear);
        for level in [&mut self.first, &mut self.second] {
            let all = [
                &mut level.targets,
                &mut level.views,
                &mut level.nodes,
                &mut level.node_dots,
                &mut level.graphs,
            ];
            all.into_iter().for_each(Vec::clear);
        }
    }
}

/// What is known of a block.
#[derive(Default)]
struct LevelTables {
    /// By set of targets: the greatest of their parts.
    targets: Vec<f32>,
    /// By view: C's part of the greatest message.
    views: Vec<f32>,
    nodes: Vec<f32>,
    /// By node, three numbers: what it gives an effect in each role, both blocks together.
    node_dots: Vec<f32>,
    graphs: Vec<f32>,
    // Of a batch, for the memory alone.
    rows: Vec<f32>,
}

/// The policy's maps with the last one folded in.
#[derive(Default)]
struct Folded {
    graph: Vec<f32>,
    /// Of the node of a unary effect, of the source and of the target of an edge.
    nodes: [Vec<f32>; 3],
    edge: Vec<f32>,
    /// By arity: what its predicates give when added.
    predicates: [Vec<f32>; 3],
    /// By arity: what every effect gives.
    always: [f32; 3],
    bias: f32,
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
        let kinds = network.kinds();
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
            nodes,
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

    /// Begins a batch. What is known of kinds is kept, unless there is too much of it.
    pub(crate) fn begin(&mut self, batch: &mut Batch) {
        batch.clear();
        if self.kinds.rows() * self.network.width > MOST_KEPT {
            self.forget();
        }
    }

    /// Drops all that is known of kinds.
    pub(crate) fn forget(&mut self) {
        self.kinds.clear();
        self.tables.clear();
    }

    /// Appends x W + b, or x W, to `out`: `[rows, inputs]` to `[rows, outputs]`.
    fn linear(&self, x: &[f32], weight: Matrix, bias: Option<Matrix>, out: &mut Vec<f32>) {
        let (inputs, outputs) = (weight.rows(), weight.columns());
        let (rows, from) = (x.len() / inputs, out.len());
        match bias {
            Some(bias) => (0..rows).for_each(|_| out.extend_from_slice(self.matrix(bias))),
            None => out.resize(from + rows * outputs, 0.0),
        }
        let shape = [rows, inputs, outputs];
        let to = &mut out[from..];
        multiply_add(self.simd, x, self.matrix(weight), to, shape);
    }

    /// The first and the second part of a map's inputs.
    fn parts(map: Linear, first: usize) -> [Matrix; 2] {
        let rows = map.weight.rows();
        [map.weight.part(0..first), map.weight.part(first..rows)]
    }

    /// Computes what is new.
    fn extend(&mut self) {
        let mut tables = std::mem::take(&mut self.tables);
        self.extend_features(&mut tables);
        let [first, second] = self.network.blocks;
        let inputs = LevelInputs {
            targets: &tables.targets,
            messages: &tables.messages,
            shared: &tables.shared,
            old: &tables.old,
            old_dots: &[],
        };
        let (nodes, graphs) =
            self.extend_level(&self.kinds.first, inputs, first, &mut tables.first);
        self.extend_between(&mut tables, nodes, graphs);
        let inputs = LevelInputs {
            targets: &tables.second_targets,
            messages: &tables.second_messages,
            shared: &tables.second_shared,
            old: &tables.second_old,
            old_dots: &tables.first.node_dots,
        };
        let (_, graphs) = self.extend_level(&self.kinds.second, inputs, second, &mut tables.second);
        self.extend_values(&mut tables, graphs);
        self.tables = tables;
    }

    /// What depends on features alone.
    fn extend_features(&self, tables: &mut Tables) {
        let h = self.network.width;
        let kinds = &self.kinds;
        let [first, second] = self.network.blocks;
        let [of_target, of_edge] = Self::parts(first.message, kinds.nodes.width());
        let dense = kinds.nodes.dense(tables.targets.len() / h);
        self.linear(&dense, of_target, None, &mut tables.targets);
        let dense = kinds.graphs.dense(tables.shared.len() / h);
        let shared = Self::parts(first.node, h)[1];
        self.linear(&dense, shared, None, &mut tables.shared);
        let old = Self::parts(first.global, kinds.graphs.width())[0];
        self.linear(&dense, old, Some(first.global.bias), &mut tables.old);
        let dense = kinds.dense_combinations(tables.edge_dots.len());
        let edges = &mut tables.rows;
        edges.clear();
        self.linear(&dense, first.edge.weight, Some(first.edge.bias), edges);
        relu(edges);
        let bias = Some(first.message.bias);
        self.linear(edges, of_edge, bias, &mut tables.messages);
        let of_second = Self::parts(second.edge, h)[1];
        self.linear(edges, of_second, None, &mut tables.edges);
        let rows = edges.chunks_exact(h);
        tables
            .edge_dots
            .extend(rows.map(|row| dot(row, &self.head.edge)));
    }

    /// The rows of a block; gives how many nodes and graphs were known before.
    fn extend_level(
        &self,
        level: &Level,
        inputs: LevelInputs<'_>,
        maps: Block,
        tables: &mut LevelTables,
    ) -> (usize, usize) {
        let h = self.network.width;
        for set in level.targets.from(tables.targets.len() / h) {
            let from = tables.targets.len();
            tables
                .targets
                .extend_from_slice(row(inputs.targets, h, set[0]));
            for &other in &set[1..] {
                keep_greater(&mut tables.targets[from..], row(inputs.targets, h, other));
            }
        }
        let mut greatest = std::mem::take(&mut tables.rows);
        greatest.clear();
        for view in level.views.from(tables.views.len() / h) {
            let from = greatest.len();
            greatest.resize(from + h, f32::NEG_INFINITY);
            if view.is_empty() {
                greatest[from..].fill(0.0);
            }
            for &class in view {
                let class = level.classes.list(class);
                let own = row(inputs.messages, h, class[0]);
                let others = row(&tables.targets, h, class[1]);
                for ((to, a), b) in greatest[from..].iter_mut().zip(own).zip(others) {
                    let sum = a + b;
                    *to = if sum > *to { sum } else { *to };
                }
            }
        }
        let own = Self::parts(maps.node, h)[0];
        self.linear(&greatest, own, Some(maps.node.bias), &mut tables.views);
        let nodes = tables.nodes.len() / h;
        for list in level.nodes.from(nodes) {
            let own = row(&tables.views, h, list[0]).iter();
            let sums = own.zip(row(inputs.shared, h, list[1])).map(|(a, b)| a + b);
            tables
                .nodes
                .extend(sums.map(|x| if x > 0.0 { x } else { 0.0 }));
            let new = &tables.nodes[tables.nodes.len() - h..];
            let old = list[2] as usize;
            for (role, head) in self.head.nodes.iter().enumerate() {
                let old = inputs.old_dots.get(3 * old + role).unwrap_or(&0.0);
                tables.node_dots.push(old + dot(new, head));
            }
        }
        let graphs = tables.graphs.len() / h;
        let mut means = greatest;
        means.clear();
        for list in level.graphs.from(graphs) {
            let from = means.len();
            means.resize(from + h, 0.0);
            let mean = &mut means[from..];
            for &node in &list[1..] {
                add(mean, row(&tables.nodes, h, node));
            }
            let share = 1.0 / (list.len() - 1).max(1) as f32;
            mean.iter_mut().for_each(|x| *x *= share);
            tables.graphs.extend_from_slice(row(inputs.old, h, list[0]));
        }
        let rows = maps.global.weight.rows();
        let of_mean = self.matrix(maps.global.weight.part(rows - h..rows));
        let to = &mut tables.graphs[graphs * h..];
        let shape = [to.len() / h, h, h];
        multiply_add(self.simd, &means, of_mean, to, shape);
        relu(to);
        tables.rows = means;
        (nodes, graphs)
    }

    /// What the second block reads of the nodes and graphs of the first that are new, and its edges.
    fn extend_between(&self, tables: &mut Tables, nodes: usize, graphs: usize) {
        let h = self.network.width;
        let maps = self.network.blocks[1];
        let rows = &tables.first.nodes[nodes * h..];
        let of_source = Self::parts(maps.edge, h)[0];
        let bias = Some(maps.edge.bias);
        self.linear(rows, of_source, bias, &mut tables.second_sources);
        let [of_target, of_edge] = Self::parts(maps.message, h);
        self.linear(rows, of_target, None, &mut tables.second_targets);
        let rows = &tables.first.graphs[graphs * h..];
        let shared = Self::parts(maps.node, h)[1];
        self.linear(rows, shared, None, &mut tables.second_shared);
        let old = Self::parts(maps.global, h)[0];
        let bias = Some(maps.global.bias);
        self.linear(rows, old, bias, &mut tables.second_old);
        let known = tables.second_edge_dots.len();
        let edges = &mut tables.rows;
        edges.clear();
        for list in self.kinds.second_edges.from(known) {
            let source = row(&tables.second_sources, h, list[0]).iter();
            let old = row(&tables.edges, h, list[1]);
            edges.extend(source.zip(old).map(|(a, b)| a + b));
            let from = edges.len() - h;
            relu(&mut edges[from..]);
            let first = tables.edge_dots[list[1] as usize];
            let second = dot(&edges[from..], &self.head.edge);
            tables.second_edge_dots.push(first + second);
        }
        let bias = Some(maps.message.bias);
        self.linear(edges, of_edge, bias, &mut tables.second_messages);
    }

    /// V of graphs, and what they give effects.
    fn extend_values(&self, tables: &mut Tables, graphs: usize) {
        let h = self.network.width;
        let (sums, hidden) = (&mut tables.rows, &mut tables.hidden);
        sums.clear();
        sums.extend_from_slice(&tables.second.graphs[graphs * h..]);
        let lists = self.kinds.second.graphs.from(graphs);
        for (sum, list) in sums.chunks_exact_mut(h).zip(lists) {
            add(sum, row(&tables.first.graphs, h, list[0]));
            tables.graph_dots.push(dot(sum, &self.head.graph));
        }
        let [first, last] = self.network.value;
        hidden.clear();
        self.linear(sums, first.weight, Some(first.bias), hidden);
        relu(hidden);
        let (weight, bias) = (self.matrix(last.weight), self.matrix(last.bias)[0]);
        for hidden in hidden.chunks_exact(h) {
            let value = f64::from(dot(hidden, weight) + bias);
            tables.values.push(sigmoid(value) as f32);
        }
    }

    /// The logits of all actions and the values of all graphs of a batch that was drawn with these
    /// kinds.
    pub(crate) fn evaluate(&mut self, batch: &Batch, logits: &mut Vec<f32>, values: &mut Vec<f32>) {
        self.extend();
        let tables = &self.tables;
        values.clear();
        let graphs = batch.graphs.iter();
        values.extend(graphs.map(|&graph| tables.values[graph as usize]));
        let node = |at: u32, role: usize| tables.second.node_dots[3 * at as usize + role];
        let head = &self.head;
        let effect = |effect: &BatchEffect| {
            let subject = effect.subject as usize;
            let of = match effect.arity {
                0 => tables.graph_dots[subject],
                1 => node(effect.subject, 0),
                _ => {
                    let ends = node(effect.ends.0, 1) + node(effect.ends.1, 2);
                    ends + tables.second_edge_dots[subject]
                }
            };
            let predicate = head.predicates[effect.arity][effect.at];
            let predicate = if effect.adds { predicate } else { -predicate };
            of + predicate + head.always[effect.arity]
        };
        logits.clear();
        for action in 0..batch.effects.len() {
            let sum: f32 = batch.effects.list(action).iter().map(effect).sum();
            let squashed = tanh(f64::from(sum + head.bias)) as f32;
            logits.push(LOGIT_SCALE * squashed);
        }
    }
}

/// What goes into a block, by number.
#[derive(Clone, Copy)]
struct LevelInputs<'a> {
    /// B's parts of targets and of edges.
    targets: &'a [f32],
    messages: &'a [f32],
    /// C's and D's part of graphs.
    shared: &'a [f32],
    old: &'a [f32],
    /// What nodes have given effects so far; empty before the first block.
    old_dots: &'a [f32],
}

fn add(to: &mut [f32], from: &[f32]) {
    for (to, x) in to.iter_mut().zip(from) {
        *to += x;
    }
}

fn keep_greater(to: &mut [f32], from: &[f32]) {
    for (to, &x) in to.iter_mut().zip(from) {
        *to = if x > *to { x } else { *to };
    }
}
