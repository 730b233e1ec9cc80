//! The guided worker of a deferred search: its queues, and how it begins anew.
//!
//! A head start for preferred actions, or landmarks, can lead into a part of the space where no
//! estimate gets better, and queues then hold that part and little else. How long a greedy search
//! takes has a long tail: with other settings, or only another order of equals, the same problem is
//! often solved at once. So a worker that does not get on begins anew at the initial state, in
//! another [`Manner`], each time with twice the patience. What it would have found without new
//! beginnings it still finds, a small factor later.

use super::deferred::DeferredConfig;
use super::queue::{KeyQueue, ScoreQueue, TypeQueue, Waiting};
use crate::random::Random;
use crate::task::ActionId;

/// How much more patience there is after each new beginning: what is lost by them stays a part.
const PATIENCE_GROWS: u64 = 2;

/// What the guided worker has done since it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct GuidedRun {
    pub(super) work: u64,
    /// Its work at the last best estimate.
    pub(super) best: u64,
    patience: u64,
}

impl GuidedRun {
    pub(super) fn new(patience: u64) -> Self {
        Self {
            work: 0,
            best: 0,
            patience,
        }
    }

    pub(super) fn begin(&mut self) {
        *self = Self::new(self.patience);
    }

    /// Begins with more patience than before.
    pub(super) fn begin_patiently(&mut self) {
        *self = Self::new(self.patience.saturating_mul(PATIENCE_GROWS));
    }

    pub(super) fn is_stuck(&self) -> bool {
        self.patience > 0 && self.work >= self.patience && self.work - self.best > self.work / 2
    }
}

/// How the guided worker goes about it from one beginning to the next.
pub(super) struct Manner {
    /// How many heuristics it asks, the first ones: the last is left out by turns.
    pub(super) heuristics: usize,
    /// How many turns ahead queues of preferred actions get on a new best estimate.
    pub(super) boost: i64,
    /// Whether a queue draws by type.
    by_type: bool,
    /// What puts successors into a random order; at first they come in their own.
    random: Option<Random>,
    seed: u64,
}

impl Manner {
    /// That of the first beginning, and of each further one. All heuristics and none but the first
    /// ones take turns, beginnings with and without a head start go in pairs.
    pub(super) fn of(beginning: usize, heuristics: usize, config: &DeferredConfig) -> Self {
        let [without_last, without_head_start] = [beginning % 2 == 1, (beginning / 2) % 2 == 1];
        let seed = config.seed.wrapping_add(beginning as u64);
        Self {
            heuristics: match without_last {
                true => heuristics.saturating_sub(1).max(heuristics.min(1)),
                false => heuristics,
            },
            boost: match without_head_start {
                true => 0,
                false => config.boost,
            },
            by_type: config.by_type != without_last,
            random: (beginning > 0).then(|| Random::new(seed)),
            seed,
        }
    }

    /// Puts successors into the order in which they are to be queued.
    pub(super) fn arrange(&mut self, successors: &mut [ActionId]) {
        if let Some(random) = &mut self.random {
            random.shuffle(successors);
        }
    }

    /// Its queues, in the order in which they break ties. In the first the initial state waits.
    pub(super) fn queues(&self, preferred: bool) -> Vec<GuidedQueue> {
        let mut queues = Vec::new();
        for heuristic in 0..self.heuristics {
            for only_preferred in [false, true] {
                if only_preferred && !preferred {
                    continue;
                }
                let queue = KeyQueue::default();
                let kind = GuidedKind::Estimate { heuristic, queue };
                queues.push(GuidedQueue::new(kind, only_preferred));
            }
        }
        if self.by_type && self.heuristics > 0 {
            let kind = GuidedKind::Type(TypeQueue::new(self.seed));
            queues.push(GuidedQueue::new(kind, false));
        }
        if let Some(first) = queues.first_mut() {
            first.push_root();
        }
        queues
    }
}

/// One queue of the guided worker.
pub(super) struct GuidedQueue {
    pub(super) kind: GuidedKind,
    pub(super) only_preferred: bool,
    /// Turns taken, less head starts: the queue with the least is next.
    pub(super) turns: i64,
}

pub(super) enum GuidedKind {
    /// By the estimate that a heuristic gave the parent.
    Estimate { heuristic: usize, queue: KeyQueue },
    /// By the learned score of the state itself.
    Score(ScoreQueue),
    /// Shares the queue of the learned worker.
    Learned,
    /// By type.
    Type(TypeQueue),
}

impl GuidedQueue {
    pub(super) fn new(kind: GuidedKind, only_preferred: bool) -> Self {
        Self {
            kind,
            only_preferred,
            turns: 0,
        }
    }

    fn push_root(&mut self) {
        if let GuidedKind::Estimate { queue, .. } = &mut self.kind {
            queue.push(0, Waiting::ROOT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guided_run_is_stuck_after_as_much_work_again_without_a_better_estimate() {
        let run = |work, best, patience| GuidedRun {
            work,
            best,
            patience,
        };
        assert!(!run(99, 0, 100).is_stuck(), "there is patience left");
        assert!(run(100, 49, 100).is_stuck());
        assert!(!run(100, 50, 100).is_stuck(), "it gets on");
        assert!(!run(1000, 0, 0).is_stuck(), "no patience: never");
        let mut next = run(100, 0, 100);
        next.begin_patiently();
        assert_eq!((next.work, next.patience), (0, 200));
    }

    #[test]
    fn beginnings_differ_in_heuristics_head_start_and_order() {
        let config = DeferredConfig::default();
        let of = |beginning, heuristics| {
            let manner = Manner::of(beginning, heuristics, &config);
            let queues = manner.queues(true);
            let by_type = { queues.iter() }.any(|queue| matches!(queue.kind, GuidedKind::Type(_)));
            (manner.heuristics, manner.boost > 0, by_type)
        };
        let four: Vec<_> = (0..4).map(|beginning| of(beginning, 2)).collect();
        let [all, first] = [(2, true, false), (1, true, true)];
        assert_eq!(four, [all, first, (2, false, false), (1, false, true)]);
        assert_eq!(of(4, 2), all);
        // The only heuristic stays.
        assert_eq!(of(1, 1), first);
        let order = |beginning| {
            let mut actions: Vec<ActionId> = (0..20).map(ActionId).collect();
            Manner::of(beginning, 2, &config).arrange(&mut actions);
            actions
        };
        assert!(order(0).is_sorted());
        assert!(!order(1).is_sorted() && order(1) != order(2));
        assert_eq!(order(1), order(1), "the same seed, the same order");
    }
}
