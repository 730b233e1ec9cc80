//! Queues that a search composes: by whole key, by score, by type.
//!
//! Entries are steps not yet taken (parent and action), so that a state is built only when its turn
//! comes. Among equal keys the first in is the first out.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use crate::random::Random;
use crate::registry::StateId;
use crate::task::ActionId;

/// A step that waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waiting {
    pub(super) parent: StateId,
    pub(super) action: ActionId,
}

impl Waiting {
    /// The step to the initial state.
    pub(super) const ROOT: Self = Self {
        parent: StateId(u32::MAX),
        action: ActionId(u32::MAX),
    };

    /// Not a step, but a part of the successors of a state that are still to be looked at.
    pub(super) fn rest_of(parent: StateId, part: u32) -> Self {
        Self {
            parent,
            action: ActionId(PART | part),
        }
    }
}

/// An action with this bit is no action: it says which part of its parent's successors is next.
pub(super) const PART: u32 = 1 << 31;

/// Rough nanoseconds of building and storing a state, of listing a successor, and of queueing one.
pub(super) const STORE_WORK: u64 = 250;
pub(super) const LIST_WORK: u64 = 15;
pub(super) const QUEUE_WORK: u64 = 25;

/// Steps by a small whole key: heuristics with whole estimates.
#[derive(Default)]
pub(super) struct KeyQueue {
    buckets: Vec<VecDeque<Waiting>>,
    /// The first bucket that may hold something.
    lowest: usize,
    /// Keys past the buckets, by key and arrival.
    far: BinaryHeap<Reverse<(u64, u64, Waiting)>>,
    arrivals: u64,
    len: usize,
}

/// Keys below this have a bucket each.
const BUCKETS: u64 = 1 << 16;

impl KeyQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn push(&mut self, key: u64, step: Waiting) {
        self.len += 1;
        if key >= BUCKETS {
            self.far.push(Reverse((key, self.arrivals, step)));
            self.arrivals += 1;
            return;
        }
        let bucket = key as usize;
        if bucket >= self.buckets.len() {
            self.buckets.resize_with(bucket + 1, VecDeque::new);
        }
        self.buckets[bucket].push_back(step);
        self.lowest = self.lowest.min(bucket);
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        self.len = self.len.saturating_sub(1);
        while let Some(bucket) = self.buckets.get_mut(self.lowest) {
            if let Some(step) = bucket.pop_front() {
                return Some(step);
            }
            // What a long queue held is given back: another key will grow in its place.
            *bucket = VecDeque::new();
            self.lowest += 1;
        }
        self.far.pop().map(|Reverse((_, _, step))| step)
    }
}

/// Steps by a learned score.
///
/// The steps from one state are sorted among themselves when they come, and only the first of them
/// is in the heap: scoring a step takes a fifth of a microsecond, and so must queueing it. A heap
/// of all steps would be hundreds of times as large, and none of it in the cache.
#[derive(Default)]
pub(super) struct ScoreQueue {
    /// Score and arrival of the first step of a list, and the list.
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    lists: Vec<List>,
    /// Lists that are empty.
    free: Vec<u32>,
    arrivals: u32,
}

/// Steps from one state.
struct List {
    parent: StateId,
    arrival: u32,
    /// Scores and actions, the best last; of equal ones, the first to come last.
    rest: Vec<(u32, ActionId)>,
}

impl ScoreQueue {
    /// A score as a word of the same order. Scores far outside the usual range share an end.
    fn word(score: i64) -> u32 {
        let score = score.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        score.cast_unsigned() ^ 0x8000_0000
    }

    /// Queues the steps from one state, as they come.
    pub(super) fn push_all(&mut self, parent: StateId, steps: &[(i64, ActionId)]) {
        self.arrivals = self.arrivals.wrapping_add(1).max(1);
        self.push_list(parent, self.arrivals, steps);
    }

    pub(super) fn push(&mut self, score: i64, step: Waiting) {
        self.push_all(step.parent, &[(score, step.action)]);
    }

    /// Queues a step ahead of all others of its score.
    pub(super) fn push_first(&mut self, score: i64, step: Waiting) {
        self.push_list(step.parent, 0, &[(score, step.action)]);
    }

    fn push_list(&mut self, parent: StateId, arrival: u32, steps: &[(i64, ActionId)]) {
        let words = steps.iter().rev();
        let mut rest: Vec<_> = words.map(|&(s, action)| (Self::word(s), action)).collect();
        rest.sort_by_key(|&(score, _)| Reverse(score));
        let Some(&(best, _)) = rest.last() else {
            return;
        };
        let list = List {
            parent,
            arrival,
            rest,
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.lists[place as usize] = list;
                place
            }
            None => {
                self.lists.push(list);
                self.lists.len() as u32 - 1
            }
        };
        self.enqueue(best, arrival, place);
    }

    fn enqueue(&mut self, score: u32, arrival: u32, place: u32) {
        let key = u64::from(score) << 32 | u64::from(arrival);
        self.heap.push(Reverse((key, place)));
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let Reverse((_, place)) = self.heap.pop()?;
        let list = &mut self.lists[place as usize];
        let (_, action) = list.rest.pop()?;
        let step = Waiting {
            parent: list.parent,
            action,
        };
        match list.rest.last() {
            Some(&(score, _)) => {
                let arrival = list.arrival;
                self.enqueue(score, arrival, place);
            }
            None => {
                // What a long list held is given back.
                list.rest = Vec::new();
                self.free.push(place);
            }
        }
        Some(step)
    }
}

/// Steps by type: a type is drawn first, then a step of it, so that rare types are tried as often as
/// common ones. A way off plateaus.
pub(super) struct TypeQueue {
    places: HashMap<Type, usize>,
    types: Vec<(Type, Vec<Waiting>)>,
    random: Random,
}

/// What makes two states alike: their estimate, and how deep they are.
pub(super) type Type = (u64, u32);

impl TypeQueue {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            places: HashMap::new(),
            types: Vec::new(),
            random: Random::new(seed),
        }
    }

    pub(super) fn push(&mut self, key: Type, step: Waiting) {
        let types = &mut self.types;
        let place = *self.places.entry(key).or_insert_with(|| {
            types.push((key, Vec::new()));
            types.len() - 1
        });
        types[place].1.push(step);
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        if self.types.is_empty() {
            return None;
        }
        let place = self.random.below(self.types.len());
        let index = self.random.below(self.types[place].1.len());
        let steps = &mut self.types[place].1;
        let step = steps.swap_remove(index);
        if steps.is_empty() {
            let (key, _) = self.types.swap_remove(place);
            self.places.remove(&key);
            if let Some((moved, _)) = self.types.get(place) {
                self.places.insert(*moved, place);
            }
        }
        Some(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(index: u32) -> Waiting {
        Waiting {
            parent: StateId(index),
            action: ActionId(index),
        }
    }

    fn drain(mut pop: impl FnMut() -> Option<Waiting>) -> Vec<u32> {
        std::iter::from_fn(&mut pop)
            .map(|step| step.parent.0)
            .collect()
    }

    #[test]
    fn keys_leave_in_order_and_equal_keys_as_they_came() {
        let mut queue = KeyQueue::default();
        for (index, key) in [7, 3, 100_000, 3, 70_000, 0, 100_000]
            .into_iter()
            .enumerate()
        {
            queue.push(key, step(index as u32));
        }
        assert_eq!(drain(|| queue.pop()), [5, 1, 3, 0, 4, 2, 6]);
    }

    #[test]
    fn scores_below_zero_leave_first_and_parts_before_their_equals() {
        let mut queue = ScoreQueue::default();
        for (index, score) in [5, -3, 0, -3, i64::MAX, i64::MIN].into_iter().enumerate() {
            queue.push(score, step(index as u32));
        }
        queue.push_first(-3, step(9));
        assert_eq!(drain(|| queue.pop()), [5, 9, 1, 3, 2, 0, 4]);
    }

    #[test]
    fn lists_leave_as_single_steps_would() {
        let mut random = Random::new(7);
        let (mut lists, mut expected) = (ScoreQueue::default(), Vec::new());
        let mut found = Vec::new();
        for parent in 0..60 {
            let steps: Vec<(i64, ActionId)> = (0..random.below(9))
                .map(|action| (random.below(12) as i64 - 6, ActionId(action as u32)))
                .collect();
            lists.push_all(StateId(parent), &steps);
            let steps = steps.iter().map(|&(s, action)| (s, parent, action.0));
            expected.extend(steps);
            for _ in 0..random.below(5) {
                expected.sort_unstable();
                if !expected.is_empty() {
                    let (_, parent, action) = expected.remove(0);
                    found.push((lists.pop(), parent, action));
                }
            }
        }
        expected.sort_unstable();
        let rest = expected.iter();
        found.extend(rest.map(|&(_, parent, action)| (lists.pop(), parent, action)));
        assert_eq!(lists.pop(), None);
        assert!(found.len() > 100);
        for (step, parent, action) in found {
            let step = step.expect("a step");
            assert_eq!((step.parent.0, step.action.0), (parent, action));
        }
    }

    #[test]
    fn a_rare_type_is_drawn_as_often_as_a_common_one() {
        let mut rare_first = 0;
        for seed in 0..200 {
            let mut queue = TypeQueue::new(seed);
            for index in 0..100 {
                queue.push((1, 0), step(index));
            }
            queue.push((2, 0), step(1000));
            rare_first += u32::from(queue.pop() == Some(step(1000)));
            let mut rest = drain(|| queue.pop());
            rest.sort_unstable();
            assert_eq!(rest.len(), 100);
        }
        assert!((60..140).contains(&rare_first), "{rare_first} of 200");
    }
}
