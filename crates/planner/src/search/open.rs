//! The open list: states by key, first in, first out among equal keys.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use crate::heuristic::Estimate;
use crate::registry::StateId;

/// Whole keys below this have a queue each; all others share a heap.
const BUCKETS: usize = 1 << 16;

/// An entry of the heap: by key, then by order of arrival.
struct Entry {
    key: f64,
    arrival: u64,
    state: StateId,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key
            .total_cmp(&other.key)
            .then(self.arrival.cmp(&other.arrival))
    }
}

/// States waiting to be expanded. Equal keys always go to the same place, so that they leave in
/// the order they came.
#[derive(Default)]
pub(super) struct OpenList {
    buckets: Vec<VecDeque<StateId>>,
    /// The first bucket that may hold something.
    lowest: usize,
    heap: BinaryHeap<Reverse<Entry>>,
    arrivals: u64,
    len: u64,
    peak: u64,
}

impl OpenList {
    pub(super) fn push(&mut self, key: f64, state: StateId) {
        debug_assert!(key.is_finite());
        self.len += 1;
        self.peak = self.peak.max(self.len);
        let bucket = key as usize;
        if key >= 0.0 && bucket < BUCKETS && bucket as f64 == key {
            if bucket >= self.buckets.len() {
                self.buckets.resize_with(bucket + 1, VecDeque::new);
            }
            self.buckets[bucket].push_back(state);
            self.lowest = self.lowest.min(bucket);
        } else {
            // -0.0 and 0.0 are one key.
            let key = key + 0.0;
            self.heap.push(Reverse(Entry {
                key,
                arrival: self.arrivals,
                state,
            }));
            self.arrivals += 1;
        }
    }

    /// Queues a state under its estimate, unless it is a dead end.
    pub(super) fn push_estimate(&mut self, estimate: Estimate, state: StateId) {
        if let Some(key) = estimate.finite() {
            self.push(key, state);
        }
    }

    pub(super) fn pop(&mut self) -> Option<StateId> {
        while self
            .buckets
            .get(self.lowest)
            .is_some_and(VecDeque::is_empty)
        {
            self.lowest += 1;
        }
        let in_bucket = self.lowest < self.buckets.len();
        let heap_first = match self.heap.peek() {
            Some(Reverse(entry)) => !in_bucket || entry.key < self.lowest as f64,
            None => false,
        };
        let state = if heap_first {
            self.heap.pop().map(|Reverse(entry)| entry.state)
        } else {
            self.buckets
                .get_mut(self.lowest)
                .and_then(VecDeque::pop_front)
        };
        self.len -= u64::from(state.is_some());
        state
    }

    pub(super) fn peak(&self) -> u64 {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_leave_in_order_and_equal_keys_as_they_came() {
        let keys = [2.0, 0.5, -1.0, 2.0, 1e9, 0.5, 0.0, 3.0, -0.0];
        let mut open = OpenList::default();
        for (index, &key) in keys.iter().enumerate() {
            open.push(key, StateId::from_index(index));
        }
        let order: Vec<u32> = std::iter::from_fn(|| open.pop())
            .map(|state| state.0)
            .collect();
        assert_eq!(order, [2, 6, 8, 1, 5, 0, 3, 7, 4]);
        assert_eq!(open.peak(), 9);
    }
}
