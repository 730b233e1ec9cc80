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
//! Three savings change nothing but the work. Edges of one source that look alike have one e'
//! ([`draw`](super::draw)), and since B is a sum of a part of v_j and a part of e', their maximum is
//! that of the parts of v_j, and the part of e'. Nodes, edges and graphs that look alike, in
//! whatever graphs of a batch, have one row at every step ([`Kinds`]). And up to the tanh the policy
//! is linear: it comes down to one dot product a node, an edge and a graph.

use std::sync::Arc;

use homing_tape::{Layout, Linear, Matrix, NONE, Segments, Tape, Var};

use super::draw::{Batch, BatchEffect};
use super::kinds::{Kinds, Level};
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

/// Vectors of nodes, edges and graphs on a tape.
#[derive(Clone, Copy)]
struct Vectors {
    nodes: Var,
    edges: Var,
    globals: Var,
}

/// A matrix of data.
struct Input {
    rows: usize,
    columns: usize,
    values: Vec<f32>,
}

impl Input {
    fn put(&self, tape: &mut Tape<'_>) -> Var {
        tape.input(self.rows, self.columns, &self.values)
    }
}

/// What a block tells apart, as the tape takes it.
struct LevelIndex {
    targets: Segments,
    /// By class: its edge, and the set it goes to.
    edge_of: Arc<[u32]>,
    targets_of: Arc<[u32]>,
    views: Segments,
    /// By node: its view, its graph, and the node that went in.
    view_of: Arc<[u32]>,
    graph_of: Arc<[u32]>,
    node_of: Arc<[u32]>,
    /// By graph: the graph that went in, and its nodes.
    before: Arc<[u32]>,
    nodes_of: Segments,
}

impl LevelIndex {
    fn new(level: &Level) -> Self {
        Self {
            targets: level.targets.segments(0),
            edge_of: level.classes.column(0),
            targets_of: level.classes.column(1),
            views: level.views.segments(0),
            view_of: level.nodes.column(0),
            graph_of: level.nodes.column(1),
            node_of: level.nodes.column(2),
            before: level.graphs.column(0),
            nodes_of: level.graphs.segments(1),
        }
    }
}

/// Which rows an effect has of a matrix: by effect, a row or none.
type Picks = Arc<[u32]>;

/// A batch as the tape takes it; made once, recorded as often as parameters move.
pub(crate) struct Index {
    nodes: Input,
    combinations: Input,
    graphs: Input,
    first: LevelIndex,
    /// By edge of the second block: the node it leaves, and its combination.
    source_of: Arc<[u32]>,
    combination_of: Arc<[u32]>,
    second: LevelIndex,
    /// By graph of the batch.
    graph: Arc<[u32]>,
    // By effect: the graph, the node, the ends, the edge.
    of_graph: Picks,
    of_node: Picks,
    of_source: Picks,
    of_target: Picks,
    of_edge: Picks,
    /// By arity: the predicate if it is added, if it is deleted, and row 0 for every effect.
    predicates: [[Picks; 3]; 3],
    /// By action: its effects.
    effects: Segments,
}

/// Segments of consecutive rows.
fn runs(starts: &[u32]) -> Segments {
    Segments::of_sizes(starts.windows(2).map(|ends| (ends[1] - ends[0]) as usize))
}

impl Index {
    pub(crate) fn new(kinds: &Kinds, batch: &Batch) -> Self {
        let input = |rows: usize, columns: usize, values: Vec<f32>| Input {
            rows,
            columns,
            values,
        };
        let pick = |row: &dyn Fn(&BatchEffect) -> Option<u32>| -> Picks {
            let effects = batch.effects.items.iter();
            effects.map(|effect| row(effect).unwrap_or(NONE)).collect()
        };
        let of_arity = |arity: usize| {
            let place =
                |adds: bool| pick(&|e| (e.arity == arity && e.adds == adds).then_some(e.at as u32));
            let always = pick(&|e| (e.arity == arity).then_some(0));
            [place(true), place(false), always]
        };
        let both = kinds.nodes.width() + kinds.edges.width();
        Self {
            nodes: input(kinds.nodes.len(), kinds.nodes.width(), kinds.nodes.dense(0)),
            combinations: input(kinds.combinations.len(), both, kinds.dense_combinations(0)),
            graphs: input(
                kinds.graphs.len(),
                kinds.graphs.width(),
                kinds.graphs.dense(0),
            ),
            first: LevelIndex::new(&kinds.first),
            source_of: kinds.second_edges.column(0),
            combination_of: kinds.second_edges.column(1),
            second: LevelIndex::new(&kinds.second),
            graph: batch.graphs.as_slice().into(),
            of_graph: pick(&|e| (e.arity == 0).then_some(e.subject)),
            of_node: pick(&|e| (e.arity == 1).then_some(e.subject)),
            of_source: pick(&|e| (e.arity == 2).then_some(e.ends.0)),
            of_target: pick(&|e| (e.arity == 2).then_some(e.ends.1)),
            of_edge: pick(&|e| (e.arity == 2).then_some(e.subject)),
            predicates: [0, 1, 2].map(of_arity),
            effects: runs(&batch.effects.starts),
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

    /// No kinds of what it reads yet.
    pub(crate) fn kinds(&self) -> Kinds {
        Kinds::new([0, 1, 2].map(|arity| self.shape.width(arity)))
    }

    /// Records the network's run on a batch.
    pub(crate) fn record(&self, tape: &mut Tape<'_>, index: &Index) -> Outputs {
        let first = self.first_block(tape, index);
        let second = self.second_block(tape, index, first);
        let level = &index.second;
        let sum = Vectors {
            nodes: tape.gather_onto(second.nodes, &[(first.nodes, level.node_of.clone())]),
            edges: tape.gather_onto(second.edges, &[(first.edges, index.combination_of.clone())]),
            globals: tape.gather_onto(second.globals, &[(first.globals, level.before.clone())]),
        };
        let hidden = tape.linear(self.value[0], &[sum.globals]);
        let hidden = tape.relu(hidden);
        let value = tape.linear(self.value[1], &[hidden]);
        let value = tape.sigmoid(value);
        Outputs {
            logits: self.logits(tape, index, sum),
            values: tape.gather(value, index.graph.clone()),
        }
    }

    fn first_block(&self, tape: &mut Tape<'_>, index: &Index) -> Vectors {
        let maps = self.blocks[0];
        let n = index.nodes.columns;
        let nodes = index.nodes.put(tape);
        let both = index.combinations.put(tape);
        let globals = index.graphs.put(tape);
        let edges = tape.linear(maps.edge, &[both]);
        let edges = tape.relu(edges);
        let of_targets = tape.linear_parts(&[(nodes, maps.message.weight.part(0..n))], None);
        let rest = maps.message.weight.part(n..n + self.width);
        let of_edges = tape.linear_parts(&[(edges, rest)], Some(maps.message.bias));
        let messages = [of_targets, of_edges];
        let (nodes, globals) = self.nodes_and_globals(tape, maps, messages, globals, &index.first);
        Vectors {
            nodes,
            edges,
            globals,
        }
    }

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
        let of_targets = tape.linear_parts(&[(input.nodes, of_target)], None);
        let of_edges = tape.linear_parts(&[(edges, of_edge)], Some(maps.message.bias));
        let messages = [of_targets, of_edges];
        let (nodes, globals) =
            self.nodes_and_globals(tape, maps, messages, input.globals, &index.second);
        Vectors {
            nodes,
            edges,
            globals,
        }
    }

    /// From the parts of messages that targets and edges have, and the vectors of graphs, to the
    /// vectors of nodes and graphs.
    fn nodes_and_globals(
        &self,
        tape: &mut Tape<'_>,
        maps: Block,
        [of_targets, of_edges]: [Var; 2],
        globals: Var,
        level: &LevelIndex,
    ) -> (Var, Var) {
        let greatest = tape.segment_max(of_targets, &level.targets);
        let messages = tape.gather_sum(&[
            (of_edges, level.edge_of.clone()),
            (greatest, level.targets_of.clone()),
        ]);
        let greatest = tape.segment_max(messages, &level.views);
        let (h, rows) = (self.width, maps.node.weight.rows());
        let own = maps.node.weight.part(0..h);
        let own = tape.linear_parts(&[(greatest, own)], Some(maps.node.bias));
        let shared = tape.linear_parts(&[(globals, maps.node.weight.part(h..rows))], None);
        let nodes = tape.gather_sum(&[
            (own, level.view_of.clone()),
            (shared, level.graph_of.clone()),
        ]);
        let nodes = tape.relu(nodes);
        let mean = tape.segment_mean(nodes, &level.nodes_of);
        let before = tape.gather(globals, level.before.clone());
        let globals = tape.linear(maps.global, &[before, mean]);
        (nodes, tape.relu(globals))
    }

    /// 10 tanh of the sum of each action's effects.
    fn logits(&self, tape: &mut Tape<'_>, index: &Index, vectors: Vectors) -> Var {
        let head = self.policy;
        let last = tape.parameter(head.last);
        let inner = tape.linear_parts(&[(last, head.inner)], None);
        // What an effect has of a vector: the dot product with a folded one.
        let of = |tape: &mut Tape<'_>, from: Var, map: Matrix, vectors: Var| {
            let folded = tape.linear_parts(&[(from, map)], None);
            tape.row_dot(vectors, folded)
        };
        let mut parts = vec![
            (
                of(tape, last, head.nullary.of, vectors.globals),
                index.of_graph.clone(),
            ),
            (
                of(tape, last, head.unary.of, vectors.nodes),
                index.of_node.clone(),
            ),
            (
                of(tape, inner, head.ends.of, vectors.nodes),
                index.of_source.clone(),
            ),
            (
                of(tape, inner, head.to, vectors.nodes),
                index.of_target.clone(),
            ),
            (
                of(tape, last, head.edge, vectors.edges),
                index.of_edge.clone(),
            ),
        ];
        // What it has of its predicate, and always.
        let maps = [(head.nullary, last), (head.unary, last), (head.ends, inner)];
        for ((map, from), [if_added, if_deleted, every]) in maps.into_iter().zip(&index.predicates)
        {
            let weights = tape.parameter(map.predicate);
            let added = tape.row_dot(weights, from);
            let deleted = tape.scale(added, -1.0);
            let bias = tape.parameter(map.bias);
            let always = tape.row_dot(bias, from);
            parts.extend([
                (added, if_added.clone()),
                (deleted, if_deleted.clone()),
                (always, every.clone()),
            ]);
        }
        let bias = tape.parameter(head.edge_bias);
        parts.push((tape.row_dot(bias, last), index.predicates[2][2].clone()));
        let effects = tape.gather_sum(&parts);
        let actions = tape.segment_sum(effects, &index.effects);
        let bias = tape.parameter(head.last_bias);
        let zeros = vec![0; index.effects.len()].into();
        let sums = tape.gather_onto(actions, &[(bias, zeros)]);
        let squashed = tape.tanh(sums);
        tape.scale(squashed, LOGIT_SCALE)
    }
}
