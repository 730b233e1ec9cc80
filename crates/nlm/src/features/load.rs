//! The inputs of a structure whose pairs are finite.
//!
//! What pairs hold is in the table of their classes. What is left are the propositions of objects and of the structure itself, and what
//! reduce makes of pairs: sets of bits, already at hand.

use super::patterns::bit;
use super::{FeatureEngine, Job};
use crate::index::Index;

/// Writes a set of bits, one a column.
fn write(to: &mut [f32], bits: u64) {
    for (c, to) in to.iter_mut().enumerate() {
        *to = bit(bits, c);
    }
}

impl FeatureEngine {
    /// Writes the true propositions up to arity 1, and what reduce makes of those up to arity 2.
    pub(super) fn load_bits(&mut self, job: &Job<'_>, index: &Index) {
        let plan = job.plan;
        let both = plan.quantifiers == 2;
        let [nullary, unary, binary] = [0, 1, 2].map(|n| plan.inputs(n));
        let at = self.at * plan.own_columns[0];
        let own = &mut self.own[0].as_mut_slice()[at..at + nullary];
        own.fill(0.0);
        for row in job.structure.rows(0) {
            own[usize::from(*row)] = 1.0;
        }
        let (stride, first) = (plan.own_columns[1], self.at * index.objects);
        let mut rows = self.own[1].as_mut_slice()[first * stride..].chunks_exact_mut(stride.max(1));
        let (mut some, mut every) = (0, u64::MAX);
        for bits in self.names.types() {
            if let Some(row) = rows.next() {
                write(&mut row[..unary], bits);
            }
            some |= bits;
            every &= bits;
        }
        let at = self.at * plan.red_columns[0];
        let red = &mut self.red[0].as_mut_slice()[at..];
        write(&mut red[..unary], some);
        if both {
            write(&mut red[unary..2 * unary], every);
        }
        let others = index.objects - usize::from(index.distinct);
        let stride = plan.red_columns[1];
        let rows = self.red[1].as_mut_slice()[first * stride..].chunks_exact_mut(stride);
        for (row, reduced) in rows.zip(self.patterns.reduced()) {
            write(&mut row[..binary], reduced.some);
            if both {
                write(&mut row[binary..2 * binary], reduced.every(others));
            }
        }
    }
}
