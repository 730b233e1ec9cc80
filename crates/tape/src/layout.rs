//! What a network learns: one flat buffer, cut into named matrices.

use std::ops::Range;

use homing_nlm::SplitMix64;

/// Some rows of a matrix of the buffer. A weight has a row for each input and a column for each
/// output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    start: usize,
    rows: usize,
    columns: usize,
}

impl Matrix {
    /// How many rows.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// How many columns.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// Where it lies in the buffer, row by row.
    pub fn range(self) -> Range<usize> {
        self.start..self.start + self.rows * self.columns
    }

    /// Some of its rows: the weights of one input of several. Panics if it has no such rows.
    pub fn part(self, rows: Range<usize>) -> Self {
        assert!(rows.start <= rows.end && rows.end <= self.rows, "rows");
        Self {
            start: self.start + rows.start * self.columns,
            rows: rows.len(),
            columns: self.columns,
        }
    }
}

/// A linear map: y = x W + b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// W, inputs by outputs.
    pub weight: Matrix,
    /// b, one row.
    pub bias: Matrix,
}

/// A matrix of the buffer under its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name, as a model file has it.
    pub name: String,
    /// Where it is.
    pub matrix: Matrix,
    /// How many inputs its map has: how wide the start is drawn.
    fan_in: usize,
}

/// The matrices of a network in the order they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    named: Vec<Named>,
    len: usize,
}

impl Layout {
    /// Adds a matrix. `fan_in` is how many inputs the map has that it is part of.
    pub fn matrix(&mut self, name: &str, rows: usize, columns: usize, fan_in: usize) -> Matrix {
        debug_assert!(self.named.iter().all(|other| other.name != name), "{name}");
        let matrix = Matrix {
            start: self.len,
            rows,
            columns,
        };
        self.len += rows * columns;
        self.named.push(Named {
            name: name.to_owned(),
            matrix,
            fan_in,
        });
        matrix
    }

    /// Adds a linear map: `NAME.weight` and `NAME.bias`.
    pub fn linear(&mut self, name: &str, inputs: usize, outputs: usize) -> Linear {
        Linear {
            weight: self.matrix(&format!("{name}.weight"), inputs, outputs, inputs),
            bias: self.matrix(&format!("{name}.bias"), 1, outputs, inputs),
        }
    }

    /// How many parameters there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All matrices, in order; they tile the buffer.
    pub fn named(&self) -> &[Named] {
        &self.named
    }

    /// A start, as PyTorch draws one for linear maps: weights and biases uniform between
    /// ±1/√(fan-in).
    pub fn init(&self, random: &mut SplitMix64) -> Vec<f32> {
        let mut buffer = Vec::with_capacity(self.len);
        for named in &self.named {
            let bound = 1.0 / (named.fan_in.max(1) as f64).sqrt();
            let range = named.matrix.range();
            buffer.extend(range.map(|_| (bound * (2.0 * random.unit() - 1.0)) as f32));
        }
        buffer
    }
}
