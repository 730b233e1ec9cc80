//! Operations, computed as they are recorded.

use std::sync::Arc;

use homing_nlm::{Simd, exp, ln, multiply_add, sigmoid, tanh};

use crate::layout::{Layout, Linear, Matrix};
use crate::segments::{NONE, Segments};

/// A matrix on a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Var(pub(crate) usize);

/// Memory of tapes that are no longer needed, for the next one.
#[derive(Clone, Debug, Default)]
pub struct Buffers(Vec<Vec<f32>>);

impl Buffers {
    /// Zeros.
    pub(crate) fn zeros(&mut self, len: usize) -> Vec<f32> {
        let mut buffer = self.0.pop().unwrap_or_default();
        buffer.clear();
        buffer.resize(len, 0.0);
        buffer
    }

    /// Nothing yet.
    pub(crate) fn empty(&mut self) -> Vec<f32> {
        self.zeros(0)
    }

    pub(crate) fn give(&mut self, buffer: Vec<f32>) {
        self.0.push(buffer);
    }
}

/// A function of each entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Map {
    /// Also ReLU, with slope 0.
    LeakyRelu(f32),
    Tanh,
    Sigmoid,
    Scale(f32),
}

/// What a linear map starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Onto {
    Zeros,
    Bias(Matrix),
    Sum(Var),
}

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Input,
    Parameter(Matrix),
    /// The sum of inputs times their weights, onto a matrix or a bias.
    Linear {
        parts: Vec<(Var, Matrix)>,
        onto: Onto,
    },
    Add(Var, Var),
    Map(Map, Var),
    /// The sum of one row of each part, onto a matrix.
    GatherSum(Vec<(Var, Arc<[u32]>)>, Option<Var>),
    /// Or their means.
    SegmentSum(Var, Segments, bool),
    /// With the row that gave each entry.
    SegmentMax(Var, Vec<u32>),
    LogSoftmaxPick(Var, Segments, Arc<[u32]>),
    RowDot(Var, Var),
    SquaredError(Var, Arc<[f32]>),
    /// With the logarithms before, the advantages, and the clip.
    ClippedSurrogate(Var, Arc<[f32]>, Arc<[f32]>, f32),
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) op: Op,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) values: Vec<f32>,
    /// Whether a parameter has a part in it.
    pub(crate) learns: bool,
}

/// A record of operations and their values. An operation panics where the shapes of what it is given
/// do not fit.
#[derive(Debug)]
pub struct Tape<'p> {
    pub(crate) parameters: &'p [f32],
    pub(crate) simd: Simd,
    pub(crate) nodes: Vec<Node>,
    pub(crate) buffers: Buffers,
}

impl<'p> Tape<'p> {
    /// An empty tape over the parameters of a layout, with memory from earlier ones.
    pub fn new(layout: &Layout, parameters: &'p [f32], simd: Simd, buffers: Buffers) -> Self {
        assert_eq!(parameters.len(), layout.len(), "parameters of the layout");
        Self {
            parameters,
            simd,
            nodes: Vec::new(),
            buffers,
        }
    }

    /// Ends the tape and gives its memory to another.
    pub fn into_buffers(mut self) -> Buffers {
        // The next tape, likely one of the same shapes, then takes each buffer for the same use.
        let old = self.nodes.into_iter().rev().map(|node| node.values);
        self.buffers.0.extend(old);
        self.buffers
    }

    /// The values of a matrix, row by row.
    pub fn value(&self, var: Var) -> &[f32] {
        &self.nodes[var.0].values
    }

    /// Rows and columns of a matrix.
    pub fn shape(&self, var: Var) -> [usize; 2] {
        [self.nodes[var.0].rows, self.nodes[var.0].columns]
    }

    fn push(&mut self, op: Op, [rows, columns]: [usize; 2], values: Vec<f32>, of: &[Var]) -> Var {
        debug_assert_eq!(values.len(), rows * columns);
        let learns = of.iter().any(|var| self.nodes[var.0].learns)
            || matches!(op, Op::Parameter(_) | Op::Linear { .. });
        self.nodes.push(Node {
            op,
            rows,
            columns,
            values,
            learns,
        });
        Var(self.nodes.len() - 1)
    }

    /// A matrix of data, `[rows, columns]`.
    pub fn input(&mut self, rows: usize, columns: usize, values: &[f32]) -> Var {
        assert_eq!(values.len(), rows * columns, "values of an input");
        let mut copy = self.buffers.empty();
        copy.extend_from_slice(values);
        self.push(Op::Input, [rows, columns], copy, &[])
    }

    /// A matrix of the parameters themselves.
    pub fn parameter(&mut self, matrix: Matrix) -> Var {
        let mut copy = self.buffers.empty();
        copy.extend_from_slice(&self.parameters[matrix.range()]);
        let shape = [matrix.rows(), matrix.columns()];
        self.push(Op::Parameter(matrix), shape, copy, &[])
    }

    /// [x₁, x₂, ...] W + b, the inputs side by side: `[rows, inputs]` each to `[rows, outputs]`.
    /// Each input is multiplied by its own rows of W, so that they are never put together.
    pub fn linear(&mut self, map: Linear, inputs: &[Var]) -> Var {
        let mut from = 0;
        let parts: Vec<(Var, Matrix)> = inputs
            .iter()
            .map(|&input| {
                let to = from + self.nodes[input.0].columns;
                let part = map.weight.part(from..to);
                from = to;
                (input, part)
            })
            .collect();
        assert_eq!(from, map.weight.rows(), "columns of the inputs");
        self.linear_parts(&parts, Some(map.bias))
    }

    /// x₁ W₁ + x₂ W₂ + ... + b: `[rows, inputs]` each, and its `[inputs, outputs]`, to
    /// `[rows, outputs]`.
    pub fn linear_parts(&mut self, parts: &[(Var, Matrix)], bias: Option<Matrix>) -> Var {
        self.linear_from(parts, bias.map_or(Onto::Zeros, Onto::Bias))
    }

    /// s + x₁ W₁ + x₂ W₂ + ...: the same added to what is there, `[rows, outputs]`.
    pub fn linear_onto(&mut self, sum: Var, parts: &[(Var, Matrix)]) -> Var {
        self.linear_from(parts, Onto::Sum(sum))
    }

    fn linear_from(&mut self, parts: &[(Var, Matrix)], onto: Onto) -> Var {
        let (rows, columns) = (self.nodes[parts[0].0.0].rows, parts[0].1.columns());
        let mut out = self.buffers.zeros(rows * columns);
        match onto {
            Onto::Zeros => {}
            Onto::Bias(bias) => {
                assert_eq!([bias.rows(), bias.columns()], [1, columns], "the bias");
                let bias = &self.parameters[bias.range()];
                for row in out.chunks_exact_mut(columns) {
                    row.copy_from_slice(bias);
                }
            }
            Onto::Sum(sum) => {
                assert_eq!(self.shape(sum), [rows, columns], "what is there");
                out.copy_from_slice(self.value(sum));
            }
        }
        for &(x, weight) in parts {
            let node = &self.nodes[x.0];
            assert_eq!(node.rows, rows, "rows of the inputs");
            assert_eq!(
                [node.columns, columns],
                [weight.rows(), weight.columns()],
                "the weight"
            );
            let shape = [rows, node.columns, columns];
            let weight = &self.parameters[weight.range()];
            multiply_add(self.simd, &node.values, weight, &mut out, shape);
        }
        let parts = parts.to_vec();
        self.push(Op::Linear { parts, onto }, [rows, columns], out, &[])
    }

    /// a + b, of one shape.
    pub fn add(&mut self, a: Var, b: Var) -> Var {
        let shape = self.shape(a);
        assert_eq!(shape, self.shape(b), "shapes of a sum");
        let mut out = self.buffers.empty();
        let pairs = self.value(a).iter().zip(self.value(b));
        out.extend(pairs.map(|(a, b)| a + b));
        self.push(Op::Add(a, b), shape, out, &[a, b])
    }

    fn map(&mut self, map: Map, x: Var) -> Var {
        let mut out = self.buffers.empty();
        let values = self.value(x).iter();
        let wide = |f: fn(f64) -> f64| move |&x: &f32| f(f64::from(x)) as f32;
        match map {
            Map::LeakyRelu(slope) => {
                out.extend(values.map(|&x| if x > 0.0 { x } else { slope * x }));
            }
            Map::Tanh => out.extend(values.map(wide(tanh))),
            Map::Sigmoid => out.extend(values.map(wide(sigmoid))),
            Map::Scale(factor) => out.extend(values.map(|x| factor * x)),
        }
        self.push(Op::Map(map, x), self.shape(x), out, &[x])
    }

    /// max(x, 0); its derivative at 0 is 0.
    pub fn relu(&mut self, x: Var) -> Var {
        self.map(Map::LeakyRelu(0.0), x)
    }

    /// x where it is positive, `slope` x elsewhere. The slope must not be negative.
    pub fn leaky_relu(&mut self, x: Var, slope: f32) -> Var {
        self.map(Map::LeakyRelu(slope), x)
    }

    /// The hyperbolic tangent.
    pub fn tanh(&mut self, x: Var) -> Var {
        self.map(Map::Tanh, x)
    }

    /// 1 / (1 + exp(−x)).
    pub fn sigmoid(&mut self, x: Var) -> Var {
        self.map(Map::Sigmoid, x)
    }

    /// `factor` x.
    pub fn scale(&mut self, x: Var, factor: f32) -> Var {
        self.map(Map::Scale(factor), x)
    }

    /// Row `index[i]` of x as row i; zeros for [`NONE`].
    pub fn gather(&mut self, x: Var, index: Arc<[u32]>) -> Var {
        self.gather_sum(&[(x, index)])
    }

    /// As row i the sum over parts of row `index[i]` of each; [`NONE`] adds nothing.
    pub fn gather_sum(&mut self, parts: &[(Var, Arc<[u32]>)]) -> Var {
        self.gather_from(parts, None)
    }

    /// The same added to what is there.
    pub fn gather_onto(&mut self, sum: Var, parts: &[(Var, Arc<[u32]>)]) -> Var {
        self.gather_from(parts, Some(sum))
    }

    fn gather_from(&mut self, parts: &[(Var, Arc<[u32]>)], onto: Option<Var>) -> Var {
        let (rows, columns) = (parts[0].1.len(), self.nodes[parts[0].0.0].columns);
        let mut out = self.buffers.zeros(rows * columns);
        if let Some(sum) = onto {
            assert_eq!(self.shape(sum), [rows, columns], "what is there");
            out.copy_from_slice(self.value(sum));
        }
        for (x, index) in parts {
            let node = &self.nodes[x.0];
            assert_eq!([index.len(), node.columns], [rows, columns], "parts");
            for (to, &row) in out.chunks_exact_mut(columns).zip(index.iter()) {
                if row != NONE {
                    add_row(to, row_of(&node.values, columns, row));
                }
            }
        }
        let of: Vec<Var> = parts.iter().map(|part| part.0).chain(onto).collect();
        let op = Op::GatherSum(parts.to_vec(), onto);
        self.push(op, [rows, columns], out, &of)
    }

    /// The sum of each segment's rows, in the order of its list; zeros for none:
    /// `[rows, columns]` to `[segments, columns]`.
    pub fn segment_sum(&mut self, x: Var, segments: &Segments) -> Var {
        self.sums(x, segments, false)
    }

    /// The mean of each segment's rows; zeros for none.
    pub fn segment_mean(&mut self, x: Var, segments: &Segments) -> Var {
        self.sums(x, segments, true)
    }

    fn sums(&mut self, x: Var, segments: &Segments, mean: bool) -> Var {
        let columns = self.nodes[x.0].columns;
        let mut out = self.buffers.zeros(segments.len() * columns);
        let values = &self.nodes[x.0].values;
        for (to, rows) in out.chunks_exact_mut(columns).zip(segments.iter()) {
            for &row in rows {
                add_row(to, row_of(values, columns, row));
            }
            if mean {
                let share = share_of(rows);
                to.iter_mut().for_each(|x| *x *= share);
            }
        }
        let shape = [segments.len(), columns];
        self.push(Op::SegmentSum(x, segments.clone(), mean), shape, out, &[x])
    }

    /// The greatest entry of each column among a segment's rows; zeros for none. The derivative
    /// goes to the first row of the list that has it.
    pub fn segment_max(&mut self, x: Var, segments: &Segments) -> Var {
        let columns = self.nodes[x.0].columns;
        let mut out = self.buffers.zeros(segments.len() * columns);
        let mut winners = vec![NONE; out.len()];
        let values = &self.nodes[x.0].values;
        let each = out.chunks_exact_mut(columns).zip(segments.iter());
        for ((to, rows), winners) in each.zip(winners.chunks_exact_mut(columns)) {
            for (place, &row) in rows.iter().enumerate() {
                let from = row_of(values, columns, row);
                for ((to, &x), winner) in to.iter_mut().zip(from).zip(&mut *winners) {
                    let better = place == 0 || x > *to;
                    *to = if better { x } else { *to };
                    *winner = if better { row } else { *winner };
                }
            }
        }
        let shape = [segments.len(), columns];
        self.push(Op::SegmentMax(x, winners), shape, out, &[x])
    }

    /// The logarithm of the softmax of one row of each segment, `picks` by its place in the list:
    /// `[rows, 1]` to `[segments, 1]`. No row may be in two segments.
    pub fn log_softmax_pick(&mut self, x: Var, segments: &Segments, picks: Arc<[u32]>) -> Var {
        assert_eq!(self.nodes[x.0].columns, 1, "one column");
        assert_eq!(picks.len(), segments.len(), "one pick a segment");
        let mut out = self.buffers.empty();
        let values = &self.nodes[x.0].values;
        let mut powers = Vec::new();
        for (list, &pick) in segments.iter().zip(picks.iter()) {
            let all = list.iter().map(|&row| values[row as usize]);
            let (greatest, total) = softmax(all, &mut powers);
            let picked = values[list[pick as usize] as usize];
            out.push((f64::from(picked) - greatest - ln(total)) as f32);
        }
        let op = Op::LogSoftmaxPick(x, segments.clone(), picks);
        self.push(op, [segments.len(), 1], out, &[x])
    }

    /// The dot product of equal rows, `[rows, columns]` twice to `[rows, 1]`, or of each row of a
    /// with the one row of b.
    pub fn row_dot(&mut self, a: Var, b: Var) -> Var {
        let [rows, columns] = self.shape(a);
        let [others, same] = self.shape(b);
        assert!(columns == same && (others == rows || others == 1), "shapes");
        let mut out = self.buffers.empty();
        let both = self.value(a).chunks_exact(columns);
        let both = both.zip(self.value(b).chunks_exact(columns).cycle());
        out.extend(both.map(|(a, b)| dot(a, b)));
        self.push(Op::RowDot(a, b), [rows, 1], out, &[a, b])
    }

    /// (x − target)², entry by entry.
    pub fn squared_error(&mut self, x: Var, targets: Arc<[f32]>) -> Var {
        let mut out = self.buffers.empty();
        let values = self.value(x);
        assert_eq!(values.len(), targets.len(), "targets");
        out.extend(values.iter().zip(&*targets).map(|(x, t)| (x - t) * (x - t)));
        self.push(Op::SquaredError(x, targets), self.shape(x), out, &[x])
    }

    /// PPO's loss, entry by entry: −min(r A, clamp(r, 1 − clip, 1 + clip) A), where r = exp(log −
    /// old) is the ratio of the probabilities now and before, and A the advantage.
    pub fn clipped_surrogate(
        &mut self,
        log: Var,
        old: Arc<[f32]>,
        advantage: Arc<[f32]>,
        clip: f32,
    ) -> Var {
        let mut out = self.buffers.empty();
        let values = self.value(log);
        assert_eq!(values.len(), old.len(), "probabilities before");
        assert_eq!(values.len(), advantage.len(), "advantages");
        for ((log, old), a) in values.iter().zip(&*old).zip(&*advantage) {
            let (free, held) = surrogates(*log, *old, *a, clip);
            out.push(-free.min(held));
        }
        let shape = self.shape(log);
        let op = Op::ClippedSurrogate(log, old, advantage, clip);
        self.push(op, shape, out, &[log])
    }
}

/// What one row of a segment has of its mean.
pub(crate) fn share_of(rows: &[u32]) -> f32 {
    1.0 / rows.len().max(1) as f32
}

/// r A and clamp(r) A.
pub(crate) fn surrogates(log: f32, old: f32, advantage: f32, clip: f32) -> (f32, f32) {
    let ratio = exp(f64::from(log) - f64::from(old)) as f32;
    let held = ratio.clamp(1.0 - clip, 1.0 + clip);
    (ratio * advantage, held * advantage)
}

/// exp(x − greatest) of each to `powers`; gives the greatest and the sum of the powers.
pub(crate) fn softmax(
    values: impl Iterator<Item = f32> + Clone,
    powers: &mut Vec<f64>,
) -> (f64, f64) {
    let greatest = f64::from(values.clone().fold(f32::NEG_INFINITY, f32::max));
    powers.clear();
    powers.extend(values.map(|x| exp(f64::from(x) - greatest)));
    (greatest, powers.iter().sum())
}

pub(crate) fn row_of(values: &[f32], columns: usize, row: u32) -> &[f32] {
    &values[row as usize * columns..][..columns]
}

/// The dot product, in eight chains, so that they can go side by side.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (eights, rest) = a.as_chunks::<8>();
    let (others, other_rest) = b.as_chunks::<8>();
    for (a, b) in eights.iter().zip(others) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest = rest.iter().zip(other_rest).map(|(a, b)| a * b);
    sums.into_iter().sum::<f32>() + rest.sum::<f32>()
}

pub(crate) fn add_row(to: &mut [f32], from: &[f32]) {
    for (to, x) in to.iter_mut().zip(from) {
        *to += x;
    }
}
