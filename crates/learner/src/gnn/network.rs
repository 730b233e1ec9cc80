//! The graph network (Rivlin, Hazan and Karpas 2020), as operations on a tape.
//!
//! A block computes, for edges i→j, nodes and the graph, with one linear map each:
//!
//! - e'(i→j) = ReLU(A [v_i, e(i→j)]): the source only;
//! - v'_i = ReLU(C [max over j of B [v_j, e'(i→j)], u]): over the edges that leave i;
//! - u' = ReLU(D [u, mean of v']).
//!
//! There are two blocks. The second reads what the first gives; heads read the sum of both. An
//! action is the sum of its effects, each a linear function of what it changes, of the predicate
//! and of whether it is added or deleted, and then 10 tanh; π is the softmax over the applicable
//! actions. V is the logistic function of a map of two layers of the graph's vector.
//!
//! Two savings change nothing but the work. Edges of one source that look alike have one e'
//! ([`draw`](super::draw)), and since B is a sum of a part of v_j and a part of e', their maximum is
//! that of the parts of v_j, and the part of e'. And up to the tanh the policy is linear: it comes
//! down to one dot product a node, a class of edges and a graph.

use std::sync::Arc;

use homing_tape::{Layout, Linear, Matrix, NONE, Segments, Tape, Var};

use super::draw::Batch;
use super::kinds::Kinds;
use super::shape::GraphShape;

/// Logits are 10 tanh of what the last map gives.
pub(crate) const LOGIT_SCALE: f32 = 10.0;

/// The linear maps of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// A: source, edge.
    pub(crate) edge: Linear,
    /// B: target, edge.
    pub(crate) message: Linear,
    /// C: maximum, graph.
    pub(crate) node: Linear,
    /// D: graph, mean of nodes.
    pub(crate) global: Linear,
}

/// A map of the policy. What multiplies vectors of the network stands transposed, `[outputs,
/// inputs]`, so that the last map can be folded into it; what multiplies the predicate is
/// `[predicates, outputs]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffectMap {
    pub(crate) of: Matrix,
    pub(crate) predicate: Matrix,
    pub(crate) bias: Matrix,
}

/// The maps of the policy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicyHead {
    /// L₀[u, w]
    pub(crate) nullary: EffectMap,
    /// L₁[v_x, w]
    pub(crate) unary: EffectMap,
    /// L₂[v_x, w, v_y], the part of v_x and the rest.
    pub(crate) ends: EffectMap,
    /// The part of v_y.
    pub(crate) to: Matrix,
    /// L₃[e_xy, L₂]: the part of e, transposed.
    pub(crate) edge: Matrix,
    /// The part of L₂, transposed.
    pub(crate) inner: Matrix,
    pub(crate) edge_bias: Matrix,
    /// The last map, one row.
    pub(crate) last: Matrix,
    pub(crate) last_bias: Matrix,
}

/// The maps of the network and where they lie among its parameters.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) shape: GraphShape,
    pub(crate) width: usize,
    pub(crate) layout: Layout,
    pub(crate) blocks: [Block; 2],
    pub(crate) policy: PolicyHead,
    pub(crate) value: [Linear; 2],
}

fn block(layout: &mut Layout, name: &str, [g, n, e]: [usize; 3], width: usize) -> Block {
    let mut linear = |part: &str, inputs| layout.linear(&format!("{name}.{part}"), inputs, width);
    Block {
        edge: linear("edge", n + e),
        message: linear("message", n + width),
        node: linear("node", width + g),
        global: linear("global", g + width),
    }
}

fn policy_head(layout: &mut Layout, shape: &GraphShape, h: usize) -> PolicyHead {
    let mut effect = |name: &str, inputs: usize, arity: usize| {
        let predicates = shape.count(arity);
        let fan_in = inputs * h + predicates;
        EffectMap {
            of: layout.matrix(&format!("policy.{name}.of"), h, h, fan_in),
            predicate: layout.matrix(&format!("policy.{name}.predicate"), predicates, h, fan_in),
            bias: layout.matrix(&format!("policy.{name}.bias"), 1, h, fan_in),
        }
    };
    let (nullary, unary) = (effect("nullary", 1, 0), effect("unary", 1, 1));
    let ends = effect("ends", 2, 2);
    let of_ends = 2 * h + shape.count(2);
    PolicyHead {
        nullary,
        unary,
        ends,
        to: layout.matrix("policy.ends.to", h, h, of_ends),
        edge: layout.matrix("policy.binary.edge", h, h, 2 * h),
        inner: layout.matrix("policy.binary.ends", h, h, 2 * h),
        edge_bias: layout.matrix("policy.binary.bias", 1, h, 2 * h),
        last: layout.matrix("policy.last.weight", 1, h, h),
        last_bias: layout.matrix("policy.last.bias", 1, 1, h),
    }
}

/// What the network says of a batch.
pub(crate) struct Outputs {
    /// `[actions, 1]`
    pub(crate) logits: Var,
    /// `[graphs, 1]`
    pub(crate) values: Var,
}

/// Vectors of nodes, edges and graphs on a tape. Edges stand by combination after the first block
/// and by class after the second.
#[derive(Clone, Copy)]
struct Vectors {
    nodes: Var,
    edges: Var,
    globals: Var,
}

/// A batch as the tape takes it.
struct Index {
    /// By node: its graph.
    graph_of: Arc<[u32]>,
    /// By class: its source.
    source_of: Arc<[u32]>,
    /// By class: its combination.
    combination_of: Arc<[u32]>,
    /// By class: itself.
    classes: Arc<[u32]>,
    /// By class: the nodes, and the kinds of nodes, that its edges go to.
    members: Segments,
    member_kinds: Segments,
    /// By node: its classes.
    classes_of: Segments,
    /// By graph: its nodes.
    nodes_of: Segments,
}

/// By item, the list that it is in.
fn owners(starts: &[u32]) -> Arc<[u32]> {
    let lists = starts.windows(2).enumerate();
    lists
        .flat_map(|(list, ends)| (ends[0]..ends[1]).map(move |_| list as u32))
        .collect()
}

/// Segments of consecutive rows.
fn runs(starts: &[u32]) -> Segments {
    Segments::of_sizes(starts.windows(2).map(|ends| (ends[1] - ends[0]) as usize))
}

impl Index {
    fn new(batch: &Batch) -> Self {
        let classes = batch.classes.items.len() as u32;
        Self {
            graph_of: owners(&batch.nodes.starts),
            source_of: owners(&batch.classes.starts),
            combination_of: batch.classes.items.as_slice().into(),
            classes: (0..classes).collect(),
            members: Segments::new(batch.members.starts.clone(), batch.members.items.clone()),
            member_kinds: Segments::new(
                batch.member_kinds.starts.clone(),
                batch.member_kinds.items.clone(),
            ),
            classes_of: runs(&batch.classes.starts),
            nodes_of: runs(&batch.nodes.starts),
        }
    }
}

impl Network {
    pub(crate) fn new(shape: &GraphShape, width: usize) -> Self {
        let mut layout = Layout::default();
        let first = block(
            &mut layout,
            "first",
            [0, 1, 2].map(|arity| shape.width(arity)),
            width,
        );
        let second = block(&mut layout, "second", [width; 3], width);
        let policy = policy_head(&mut layout, shape, width);
        let value = [
            layout.linear("value.first", width, width),
            layout.linear("value.last", width, 1),
        ];
        Self {
            shape: shape.clone(),
            width,
            layout,
            blocks: [first, second],
            policy,
            value,
        }
    }

    /// Records the network's run on a batch.
    pub(crate) fn record(&self, tape: &mut Tape<'_>, kinds: &Kinds, batch: &Batch) -> Outputs {
        let index = Index::new(batch);
        let first = self.first_block(tape, kinds, batch, &index);
        let second = self.second_block(tape, &index, first);
        let sum = Vectors {
            nodes: tape.add(first.nodes, second.nodes),
            edges: tape.gather_sum(&[
                (first.edges, index.combination_of.clone()),
                (second.edges, index.classes.clone()),
            ]),
            globals: tape.add(first.globals, second.globals),
        };
        let hidden = tape.linear(self.value[0], &[sum.globals]);
        let hidden = tape.relu(hidden);
        let value = tape.linear(self.value[1], &[hidden]);
        Outputs {
            logits: self.logits(tape, batch, sum),
            values: tape.sigmoid(value),
        }
    }

    /// Edges by combination.
    fn first_block(
        &self,
        tape: &mut Tape<'_>,
        kinds: &Kinds,
        batch: &Batch,
        index: &Index,
    ) -> Vectors {
        let [n, e] = [1, 2].map(|arity| self.shape.width(arity));
        let maps = self.blocks[0];
        let mut dense = Vec::new();
        (0..kinds.nodes.len()).for_each(|id| kinds.nodes.append_dense(id as u32, &mut dense));
        let nodes = tape.input(kinds.nodes.len(), n, &dense);
        dense.clear();
        let combinations = kinds.combinations.iter();
        combinations.for_each(|&(source, edge)| {
            kinds.nodes.append_dense(source, &mut dense);
            kinds.edges.append_dense(edge, &mut dense);
        });
        let both = tape.input(kinds.combinations.len(), n + e, &dense);
        let globals = tape.input(batch.graphs(), self.shape.width(0), &batch.globals);
        let edges = tape.linear(maps.edge, &[both]);
        let edges = tape.relu(edges);
        let of_targets = tape.linear_parts(&[(nodes, maps.message.weight.part(0..n))], None);
        let rest = maps.message.weight.part(n..n + self.width);
        let of_edges = tape.linear_parts(&[(edges, rest)], Some(maps.message.bias));
        let greatest = tape.segment_max(of_targets, &index.member_kinds);
        let messages = tape.gather_sum(&[
            (of_edges, index.combination_of.clone()),
            (greatest, index.classes.clone()),
        ]);
        let (nodes, globals) = self.nodes_and_globals(tape, maps, messages, globals, index);
        Vectors {
            nodes,
            edges,
            globals,
        }
    }

    /// Edges by class.
    fn second_block(&self, tape: &mut Tape<'_>, index: &Index, input: Vectors) -> Vectors {
        let h = self.width;
        let maps = self.blocks[1];
        let parts = |map: Linear| [map.weight.part(0..h), map.weight.part(h..2 * h)];
        let [of_source, of_edge] = parts(maps.edge);
        let sources = tape.linear_parts(&[(input.nodes, of_source)], Some(maps.edge.bias));
        let old_edges = tape.linear_parts(&[(input.edges, of_edge)], None);
        let edges = tape.gather_sum(&[
            (sources, index.source_of.clone()),
            (old_edges, index.combination_of.clone()),
        ]);
        let edges = tape.relu(edges);
        let [of_target, of_edge] = parts(maps.message);
        let targets = tape.linear_parts(&[(input.nodes, of_target)], None);
        let of_edges = tape.linear_parts(&[(edges, of_edge)], Some(maps.message.bias));
        let greatest = tape.segment_max(targets, &index.members);
        let messages = tape.add(of_edges, greatest);
        let (nodes, globals) = self.nodes_and_globals(tape, maps, messages, input.globals, index);
        Vectors {
            nodes,
            edges,
            globals,
        }
    }

    /// From the messages of classes and the vectors of graphs to those of nodes and graphs.
    fn nodes_and_globals(
        &self,
        tape: &mut Tape<'_>,
        maps: Block,
        messages: Var,
        globals: Var,
        index: &Index,
    ) -> (Var, Var) {
        let greatest = tape.segment_max(messages, &index.classes_of);
        let (h, rows) = (self.width, maps.node.weight.rows());
        let own = maps.node.weight.part(0..h);
        let own = tape.linear_parts(&[(greatest, own)], Some(maps.node.bias));
        let shared = tape.linear_parts(&[(globals, maps.node.weight.part(h..rows))], None);
        let each = (0..index.graph_of.len() as u32).collect();
        let nodes = tape.gather_sum(&[(own, each), (shared, index.graph_of.clone())]);
        let nodes = tape.relu(nodes);
        let mean = tape.segment_mean(nodes, &index.nodes_of);
        let globals = tape.linear(maps.global, &[globals, mean]);
        (nodes, tape.relu(globals))
    }

    /// 10 tanh of the sum of each action's effects.
    fn logits(&self, tape: &mut Tape<'_>, batch: &Batch, vectors: Vectors) -> Var {
        let head = self.policy;
        let last = tape.parameter(head.last);
        let inner = tape.linear_parts(&[(last, head.inner)], None);
        // What an effect has of a vector: the dot product with a folded one.
        let of = |tape: &mut Tape<'_>, from: Var, map: Matrix, vectors: Var| {
            let folded = tape.linear_parts(&[(from, map)], None);
            let [rows, _] = tape.shape(vectors);
            let spread = tape.gather(folded, vec![0; rows].into());
            tape.row_dot(vectors, spread)
        };
        let of_graph = of(tape, last, head.nullary.of, vectors.globals);
        let of_node = of(tape, last, head.unary.of, vectors.nodes);
        let of_source = of(tape, inner, head.ends.of, vectors.nodes);
        let of_target = of(tape, inner, head.to, vectors.nodes);
        let of_edge = of(tape, last, head.edge, vectors.edges);
        // What it has of its predicate, and always.
        let maps = [(head.nullary, last), (head.unary, last), (head.ends, inner)];
        let mut parts = vec![
            (
                of_graph,
                pick(batch, |e| (e.arity == 0).then_some(e.subject)),
            ),
            (
                of_node,
                pick(batch, |e| (e.arity == 1).then_some(e.subject)),
            ),
            (
                of_source,
                pick(batch, |e| (e.arity == 2).then_some(e.ends.0)),
            ),
            (
                of_target,
                pick(batch, |e| (e.arity == 2).then_some(e.ends.1)),
            ),
            (
                of_edge,
                pick(batch, |e| (e.arity == 2).then_some(e.subject)),
            ),
        ];
        for (arity, (map, from)) in maps.into_iter().enumerate() {
            let weights = tape.parameter(map.predicate);
            let spread = tape.gather(from, vec![0; map.predicate.rows()].into());
            let added = tape.row_dot(weights, spread);
            let deleted = tape.scale(added, -1.0);
            let bias = tape.parameter(map.bias);
            let always = tape.row_dot(bias, from);
            for (var, adds) in [(added, true), (deleted, false)] {
                let rows = pick(batch, |e| {
                    (e.arity == arity && e.adds == adds).then_some(e.at as u32)
                });
                parts.push((var, rows));
            }
            parts.push((always, pick(batch, |e| (e.arity == arity).then_some(0))));
        }
        let bias = tape.parameter(head.edge_bias);
        let always = tape.row_dot(bias, last);
        parts.push((always, pick(batch, |e| (e.arity == 2).then_some(0))));
        let effects = tape.gather_sum(&parts);
        let actions = tape.segment_sum(effects, &runs(&batch.effects.starts));
        let bias = tape.parameter(head.last_bias);
        let each: Arc<[u32]> = (0..batch.effects.len() as u32).collect();
        let zeros = vec![0; each.len()].into();
        let sums = tape.gather_sum(&[(actions, each), (bias, zeros)]);
        let squashed = tape.tanh(sums);
        tape.scale(squashed, LOGIT_SCALE)
    }
}

/// By effect: a row, or none.
fn pick(batch: &Batch, row: impl Fn(&super::draw::BatchEffect) -> Option<u32>) -> Arc<[u32]> {
    let effects = batch.effects.items.iter();
    effects.map(|effect| row(effect).unwrap_or(NONE)).collect()
}
