//! The replay memory: states in buckets, each first in, first out.

use std::collections::VecDeque;

use homing_nlm::SplitMix64;

use crate::config::CapacityOf;
use crate::state_space::Position;

/// A stored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) position: Position,
    /// Whether SGD has used it.
    pub(crate) seen: bool,
    /// When it came, counted over all buckets.
    arrival: u64,
}

#[derive(Clone, Debug, Default)]
struct Bucket {
    entries: VecDeque<Entry>,
    /// Entries removed so far: the position of the first one in the whole history.
    removed: u64,
    /// Positions in the history of entries that SGD has not used, oldest first.
    unseen: VecDeque<u64>,
}

impl Bucket {
    fn remove_oldest(&mut self) -> Option<Entry> {
        let oldest = self.entries.pop_front();
        if self.unseen.front() == Some(&self.removed) {
            self.unseen.pop_front();
        }
        self.removed += 1;
        oldest
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Replay {
    buckets: Vec<Bucket>,
    capacity: usize,
    capacity_of: CapacityOf,
    len: usize,
    arrivals: u64,
}

impl Replay {
    pub(crate) fn new(buckets: usize, capacity: usize, capacity_of: CapacityOf) -> Self {
        Self {
            buckets: vec![Bucket::default(); buckets],
            capacity,
            capacity_of,
            len: 0,
            arrivals: 0,
        }
    }

    /// States stored.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Stores a state; returns the one that had to leave for it.
    pub(crate) fn push(&mut self, bucket: usize, position: Position, seen: bool) -> Option<Entry> {
        let target = &mut self.buckets[bucket];
        if !seen {
            target
                .unseen
                .push_back(target.removed + target.entries.len() as u64);
        }
        target.entries.push_back(Entry {
            position,
            seen,
            arrival: self.arrivals,
        });
        self.arrivals += 1;
        self.len += 1;
        let full = match self.capacity_of {
            CapacityOf::Bucket => (target.entries.len() > self.capacity).then_some(target),
            CapacityOf::Memory if self.len > self.capacity => self
                .buckets
                .iter_mut()
                .filter(|bucket| !bucket.entries.is_empty())
                .min_by_key(|bucket| bucket.entries[0].arrival),
            CapacityOf::Memory => None,
        };
        let left = full.and_then(Bucket::remove_oldest);
        self.len -= usize::from(left.is_some());
        left
    }

    /// Draws a bucket among those with at least a batch, then a batch without repetition: states
    /// SGD has not used first, the rest by chance. `None` if no bucket has enough.
    pub(crate) fn draw(&mut self, batch: usize, random: &mut SplitMix64) -> Option<Vec<Entry>> {
        let full: Vec<usize> = (0..self.buckets.len())
            .filter(|&bucket| self.buckets[bucket].entries.len() >= batch)
            .collect();
        if full.is_empty() {
            return None;
        }
        let bucket = &mut self.buckets[full[random.below(full.len())]];
        let mut chosen: Vec<usize> = Vec::with_capacity(batch);
        while chosen.len() < batch
            && let Some(position) = bucket.unseen.pop_front()
        {
            let index = (position - bucket.removed) as usize;
            bucket.entries[index].seen = true;
            chosen.push(index);
        }
        while chosen.len() < batch {
            let index = random.below(bucket.entries.len());
            if !chosen.contains(&index) {
                chosen.push(index);
            }
        }
        Some(
            chosen
                .into_iter()
                .map(|index| bucket.entries[index])
                .collect(),
        )
    }

    /// All entries, oldest first: pushing them again gives the same memory.
    pub(crate) fn history(&self) -> Vec<Entry> {
        let entries = self.buckets.iter().flat_map(|bucket| &bucket.entries);
        let mut all: Vec<Entry> = entries.copied().collect();
        all.sort_by_key(|entry| entry.arrival);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(node: u32) -> Position {
        Position { space: 0, node }
    }

    #[test]
    fn unseen_states_come_first_and_no_state_twice() {
        let mut replay = Replay::new(1, 100, CapacityOf::Bucket);
        let mut random = SplitMix64::new(1);
        for node in 0..30 {
            replay.push(0, at(node), false);
        }
        let nodes =
            |entries: Vec<Entry>| entries.iter().map(|e| e.position.node).collect::<Vec<_>>();
        let first = nodes(replay.draw(25, &mut random).unwrap());
        assert_eq!(first, (0..25).collect::<Vec<_>>());
        let mut second = nodes(replay.draw(25, &mut random).unwrap());
        assert_eq!(second[..5], [25, 26, 27, 28, 29]);
        second.sort_unstable();
        second.dedup();
        assert_eq!(second.len(), 25);
    }

    #[test]
    fn the_oldest_leaves_its_bucket_or_the_memory() {
        let mut random = SplitMix64::new(1);
        let mut replay = Replay::new(2, 3, CapacityOf::Memory);
        for node in 0..4 {
            replay.push(usize::from(node > 0), at(node), false);
        }
        assert_eq!(replay.len(), 3);
        let left: Vec<u32> = replay
            .history()
            .iter()
            .map(|entry| entry.position.node)
            .collect();
        assert_eq!(left, [1, 2, 3]);

        let mut replay = Replay::new(2, 3, CapacityOf::Bucket);
        for node in 0..8 {
            replay.push((node % 2) as usize, at(node), false);
        }
        let left: Vec<u32> = replay
            .history()
            .iter()
            .map(|entry| entry.position.node)
            .collect();
        assert_eq!(left, [2, 3, 4, 5, 6, 7]);
        assert!(replay.draw(4, &mut random).is_none());
        assert!(replay.draw(3, &mut random).is_some());
    }
}
