//! A priority queue of propositions by integer cost.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Costs below this have a bucket each; costs from here on share a heap.
const BUCKETS: usize = 1 << 14;

/// Pops by ascending cost; costs pushed are never below the last one popped.
#[derive(Default)]
pub(super) struct CostQueue {
    buckets: Vec<Vec<u32>>,
    /// The first bucket that may hold something.
    current: usize,
    heap: BinaryHeap<Reverse<(u32, u32)>>,
}

impl CostQueue {
    #[inline]
    pub(super) fn push(&mut self, cost: u32, item: u32) {
        let bucket = cost as usize;
        if bucket >= BUCKETS {
            self.heap.push(Reverse((cost, item)));
            return;
        }
        if bucket >= self.buckets.len() {
            self.buckets.resize_with(bucket + 1, Vec::new);
        }
        self.buckets[bucket].push(item);
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u32, u32)> {
        while let Some(bucket) = self.buckets.get_mut(self.current) {
            if let Some(item) = bucket.pop() {
                return Some((self.current as u32, item));
            }
            self.current += 1;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }

    pub(super) fn clear(&mut self) {
        for bucket in self.buckets.iter_mut().skip(self.current) {
            bucket.clear();
        }
        self.current = 0;
        self.heap.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_costs_come_out_in_order() {
        let mut queue = CostQueue::default();
        let costs = [5, 70_000, 0, 3_000_000, 5, 16_383, 16_384];
        for (item, &cost) in costs.iter().enumerate() {
            queue.push(cost, item as u32);
        }
        let popped: Vec<u32> = std::iter::from_fn(|| queue.pop())
            .map(|(cost, _)| cost)
            .collect();
        assert_eq!(popped, [0, 5, 5, 16_383, 16_384, 70_000, 3_000_000]);
    }
}
