//! The inputs of a structure whose pairs are finite.
//!
//! What pairs hold is in the table of their classes. What is left are the propositions of objects and of the structure itself, and what
//! reduce makes of pairs: sets of bits, already at hand.

use super::{FeatureEngine, Job};
use crate::bits::write;
use crate::index::Index;

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
        let at = self.at * plan.red_columns[0];
        self.names.write_types(
            unary,
            &mut self.own[1].as_mut_slice()[first * stride..],
            stride,
            &mut self.red[0].as_mut_slice()[at..],
            both,
        );
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
