//! Derivatives, from the end of the tape to its beginning.

use homing_nlm::{multiply_transposed_add, transposed_multiply_add};

use crate::layout::Matrix;
use crate::segments::NONE;
use crate::tape::{Map, Onto, Op, Tape, Var, add_row, share_of, softmax, surrogates};

/// The derivatives by each matrix of the tape; empty where nothing has come yet.
struct Slopes(Vec<Vec<f32>>);

impl Tape<'_> {
    /// Adds to `gradient` the derivative, by each parameter, of the sum over `outputs` of the sum
    /// of all its entries times its weight.
    pub fn backward(&mut self, outputs: &[(Var, f32)], gradient: &mut [f32]) {
        assert_eq!(gradient.len(), self.parameters.len(), "the gradient");
        let mut slopes = Slopes(vec![Vec::new(); self.nodes.len()]);
        for &(output, weight) in outputs {
            if self.nodes[output.0].learns {
                for slope in self.slope_of(&mut slopes, output).unwrap_or_default() {
                    *slope += weight;
                }
            }
        }
        for at in (0..self.nodes.len()).rev() {
            let slope = std::mem::take(&mut slopes.0[at]);
            if !slope.is_empty() {
                self.pass_on(at, &slope, &mut slopes, gradient);
                self.buffers.give(slope);
            }
        }
    }

    /// Where derivatives by a matrix are added up; `None` if no parameter has a part in it.
    fn slope_of<'s>(&mut self, slopes: &'s mut Slopes, var: Var) -> Option<&'s mut [f32]> {
        let node = &self.nodes[var.0];
        if !node.learns {
            return None;
        }
        let slope = &mut slopes.0[var.0];
        if slope.is_empty() {
            *slope = self.buffers.zeros(node.values.len());
        }
        Some(slope)
    }

    fn add_slope(&mut self, var: Var, dy: &[f32], slopes: &mut Slopes) {
        if let Some(dx) = self.slope_of(slopes, var) {
            add_row(dx, dy);
        }
    }

    /// From the derivative by one matrix to those by what it was made of.
    fn pass_on(&mut self, at: usize, dy: &[f32], slopes: &mut Slopes, gradient: &mut [f32]) {
        // Taken out for the time: what it names is on the tape too.
        let op = std::mem::replace(&mut self.nodes[at].op, Op::Input);
        let columns = self.nodes[at].columns;
        match &op {
            Op::Input => {}
            Op::Parameter(matrix) => add_row(&mut gradient[matrix.range()], dy),
            Op::Linear { parts, onto } => {
                match onto {
                    Onto::Zeros => {}
                    Onto::Bias(bias) => {
                        let sum = &mut gradient[bias.range()];
                        dy.chunks_exact(columns).for_each(|row| add_row(sum, row));
                    }
                    Onto::Sum(sum) => self.add_slope(*sum, dy, slopes),
                }
                for &(x, weight) in parts {
                    self.linear_part(x, weight, dy, slopes, gradient);
                }
            }
            Op::Add(a, b) => {
                self.add_slope(*a, dy, slopes);
                self.add_slope(*b, dy, slopes);
            }
            Op::Map(map, x) => self.mapped(*map, *x, at, dy, slopes),
            Op::GatherSum(parts, onto) => {
                if let Some(sum) = onto {
                    self.add_slope(*sum, dy, slopes);
                }
                for (x, index) in parts {
                    if let Some(dx) = self.slope_of(slopes, *x) {
                        for (dy, &row) in dy.chunks_exact(columns).zip(index.iter()) {
                            if row != NONE {
                                add_row(&mut dx[row as usize * columns..][..columns], dy);
                            }
                        }
                    }
                }
            }
            Op::SegmentSum(x, segments, mean) => {
                let dx = self.slope_of(slopes, *x).unwrap_or_default();
                for (dy, rows) in dy.chunks_exact(columns).zip(segments.iter()) {
                    let share = if *mean { share_of(rows) } else { 1.0 };
                    for &row in rows {
                        add_scaled(&mut dx[row as usize * columns..][..columns], dy, share);
                    }
                }
            }
            Op::SegmentMax(x, winners) => {
                let dx = self.slope_of(slopes, *x).unwrap_or_default();
                let rows = winners.chunks_exact(columns).zip(dy.chunks_exact(columns));
                for (winners, dy) in rows {
                    for (column, (&row, dy)) in winners.iter().zip(dy).enumerate() {
                        if row != NONE {
                            dx[row as usize * columns + column] += dy;
                        }
                    }
                }
            }
            Op::LogSoftmaxPick(x, segments, picks) => {
                let dx = self.slope_of(slopes, *x).unwrap_or_default();
                let values = &self.nodes[x.0].values;
                let mut powers = Vec::new();
                for ((list, &pick), &dy) in segments.iter().zip(picks.iter()).zip(dy) {
                    let all = list.iter().map(|&row| values[row as usize]);
                    let total = softmax(all, &mut powers).1;
                    for (row, power) in list.iter().zip(&powers) {
                        dx[*row as usize] -= dy * (power / total) as f32;
                    }
                    dx[list[pick as usize] as usize] += dy;
                }
            }
            Op::RowDot(a, b) => self.dots(*a, *b, dy, slopes),
            Op::SquaredError(x, targets) => {
                let dx = self.slope_of(slopes, *x).unwrap_or_default();
                let values = self.nodes[x.0].values.iter().zip(targets.iter());
                for ((dx, (x, target)), dy) in dx.iter_mut().zip(values).zip(dy) {
                    *dx += 2.0 * (x - target) * dy;
                }
            }
            Op::ClippedSurrogate(log, old, advantage, clip) => {
                let dx = self.slope_of(slopes, *log).unwrap_or_default();
                let values = self.nodes[log.0].values.iter();
                let data = values.zip(old.iter()).zip(advantage.iter());
                for ((dx, ((log, old), a)), dy) in dx.iter_mut().zip(data).zip(dy) {
                    let (free, held) = surrogates(*log, *old, *a, *clip);
                    // The derivative of exp is itself; what is held at its bound has none.
                    if free <= held {
                        *dx -= free * dy;
                    }
                }
            }
        }
        self.nodes[at].op = op;
    }

    /// dW += xᵀ dy and dx += dy Wᵀ.
    fn linear_part(
        &mut self,
        x: Var,
        weight: Matrix,
        dy: &[f32],
        slopes: &mut Slopes,
        gradient: &mut [f32],
    ) {
        let (rows, inputs) = (self.nodes[x.0].rows, self.nodes[x.0].columns);
        let outputs = weight.columns();
        transposed_multiply_add(
            self.simd,
            &self.nodes[x.0].values,
            dy,
            &mut gradient[weight.range()],
            [inputs, rows, outputs],
        );
        if !self.nodes[x.0].learns {
            return;
        }
        let (simd, parameters) = (self.simd, self.parameters);
        if let Some(dx) = self.slope_of(slopes, x) {
            let weight = &parameters[weight.range()];
            multiply_transposed_add(simd, dy, weight, dx, [rows, outputs, inputs]);
        }
    }

    fn dots(&mut self, a: Var, b: Var, dy: &[f32], slopes: &mut Slopes) {
        let columns = self.nodes[a.0].columns;
        if let Some(da) = self.slope_of(slopes, a) {
            let b = self.nodes[b.0].values.chunks_exact(columns).cycle();
            for ((da, b), &dy) in da.chunks_exact_mut(columns).zip(b).zip(dy) {
                add_scaled(da, b, dy);
            }
        }
        if let Some(db) = self.slope_of(slopes, b) {
            let one = db.len() == columns;
            let rows = self.nodes[a.0].values.chunks_exact(columns).zip(dy);
            for (row, (a, &dy)) in rows.enumerate() {
                let at = if one { 0 } else { row * columns };
                add_scaled(&mut db[at..][..columns], a, dy);
            }
        }
    }

    fn mapped(&mut self, map: Map, x: Var, at: usize, dy: &[f32], slopes: &mut Slopes) {
        let dx = self.slope_of(slopes, x).unwrap_or_default();
        let (x, y) = (&self.nodes[x.0].values, &self.nodes[at].values);
        let all = dx.iter_mut().zip(dy).zip(x.iter().zip(y));
        match map {
            Map::LeakyRelu(slope) => {
                all.for_each(|((dx, dy), (x, _))| *dx += if *x > 0.0 { *dy } else { slope * dy });
            }
            Map::Tanh => all.for_each(|((dx, dy), (_, y))| *dx += dy * (1.0 - y * y)),
            Map::Sigmoid => all.for_each(|((dx, dy), (_, y))| *dx += dy * y * (1.0 - y)),
            Map::Scale(factor) => all.for_each(|((dx, dy), _)| *dx += factor * dy),
        }
    }
}

fn add_scaled(to: &mut [f32], from: &[f32], factor: f32) {
    for (to, x) in to.iter_mut().zip(from) {
        *to += factor * x;
    }
}
