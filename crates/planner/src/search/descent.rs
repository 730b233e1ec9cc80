//! Going down by a learned score, from a state to one that scores less.
//!
//! A score that sees two steps far has plateaus and hollows: a robot must cross the floor before
//! anything changes, a truck must first go and fetch something. A queue of all states explores a
//! hollow in every combination of what can move. A descent explores it by *width 1*: from its base,
//! first in, first out, it takes only steps that make something true for the first time since the
//! base. So one thing moves while the others stay, and a hollow costs no more states than there are
//! propositions. The first state that scores less than the base becomes the base. At each state it
//! looks only at steps that the last one has made possible: the others were looked at before.
//!
//! Some ways out need two things of one object at once: a robot must be at the wall *and* hold the
//! other colour. Where width 1 finds nothing, the descent begins at its base again and also takes
//! steps that make two things true together for the first time, if they are of one object and both
//! were false in the base. (Pairs of two objects, places of two robots, are what it must not try.)
//!
//! Where there is none, the base was the bottom of a hollow. The next base is then the state of
//! least score among all that left fewer goals open than the base from which they were met: such a
//! state is progress even if the score does not say so, and the score says which of them are not
//! dead ends. Without any, the descent is over, and begins again at a state that the queue of all
//! states offers.
//!
//! (Iterated width of Lipovetzky and Geffner, with a learned score beside the count of goals.)

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};

use super::changes::Changes;
use super::queue::{PART, Waiting};
use crate::registry::StateId;
use crate::task::{ActionId, PropId, Task};

/// Steps kept for later bases at the most: memory is for all.
const MOST_NEARER: usize = 1 << 18;

/// With pairs, a descent looks at so many states a proposition at the most.
const LOOKS: usize = 4;

/// Rough nanoseconds of looking at a pair, and of one that shares an object.
const PAIR_WORK: u64 = 3;
const SHARED_PAIR_WORK: u64 = 25;

/// What a descent is to beat.
#[derive(Clone, Copy, Debug)]
struct Base {
    id: StateId,
    score: i64,
    open_goals: usize,
}

/// One descent: where it is, and what it has seen since its base.
#[derive(Debug)]
pub(super) struct Descent {
    /// `None` where it is over.
    base: Option<Base>,
    base_state: Vec<u32>,
    /// By proposition: the number of the last base since which it was true.
    seen: Vec<u32>,
    /// The number of the base.
    number: u32,
    /// Pairs seen together since the base, once single propositions have not been enough.
    pairs: Option<HashSet<(PropId, PropId)>>,
    /// States that may still be looked at with pairs.
    looks_left: usize,
    /// What is true in the state being expanded and was not in the base.
    moved: Vec<PropId>,
    queue: VecDeque<Waiting>,
    /// Steps from the state being expanded that score less than the base.
    pub(super) better: Vec<(i64, ActionId)>,
    /// Steps that leave fewer goals open than their base: score, arrival, step.
    nearer: BinaryHeap<Reverse<(i64, u64, Waiting)>>,
    arrivals: u64,
    changes: Changes,
    props: Vec<PropId>,
    /// Rough nanoseconds of looking at pairs.
    pair_work: u64,
}

impl Descent {
    pub(super) fn new(task: &Task) -> Self {
        Self {
            base: None,
            base_state: Vec::new(),
            seen: vec![0; task.propositions().len()],
            number: 0,
            pairs: None,
            looks_left: 0,
            moved: Vec::new(),
            queue: VecDeque::new(),
            better: Vec::new(),
            nearer: BinaryHeap::new(),
            arrivals: 0,
            changes: Changes::default(),
            props: Vec::new(),
            pair_work: 0,
        }
    }

    /// Rough nanoseconds of telling what is new since the last call, beyond looking at the lists of
    /// actions.
    pub(super) fn take_work(&mut self) -> u64 {
        std::mem::take(&mut self.pair_work) + std::mem::take(&mut self.changes.work)
    }

    /// Whether it waits for a base.
    pub(super) fn is_over(&self) -> bool {
        self.base.is_none()
    }

    /// Whether it looks at all successors of the state a step leads to, not only at those that the
    /// step has made possible: at the base, and for pairs.
    pub(super) fn looks_at_all(&self, step: Waiting) -> bool {
        self.pairs.is_some() || step.action.0 & PART != 0
    }

    /// Takes a state for its base; the goals it leaves open.
    pub(super) fn begin(&mut self, task: &Task, id: StateId, state: &[u32], score: i64) -> usize {
        let open_goals = task.open_goals(state);
        self.base = Some(Base {
            id,
            score,
            open_goals,
        });
        self.base_state.clear();
        self.base_state.extend_from_slice(state);
        self.pairs = None;
        self.start(task, id);
        open_goals
    }

    /// Begins at the base, with nothing seen but what is true there.
    fn start(&mut self, task: &Task, base: StateId) {
        if self.number == u32::MAX {
            self.seen.fill(0);
            self.number = 0;
        }
        self.number += 1;
        self.queue.clear();
        self.queue.push_back(Waiting::rest_of(base, 0));
        self.props.clear();
        task.encoding().unpack(&self.base_state, &mut self.props);
        for prop in &self.props {
            self.seen[prop.index()] = self.number;
        }
    }

    /// The next step to look at.
    pub(super) fn pop(&mut self, task: &Task) -> Option<Waiting> {
        let base = self.base?;
        if self.pairs.is_some() {
            self.looks_left = self.looks_left.checked_sub(1)?;
            return self.queue.pop_front();
        }
        if let Some(step) = self.queue.pop_front() {
            return Some(step);
        }
        self.pairs = Some(HashSet::new());
        self.looks_left = LOOKS * self.seen.len();
        self.start(task, base.id);
        self.queue.pop_front()
    }

    /// Where nothing scores less than the base: the step to the best state with fewer open goals,
    /// and its score. Without one the descent is over.
    pub(super) fn pop_nearer(&mut self) -> Option<(i64, Waiting)> {
        let Some(Reverse((score, _, step))) = self.nearer.pop() else {
            self.base = None;
            return None;
        };
        Some((score, step))
    }

    /// Says which state the next steps are from.
    pub(super) fn enter(&mut self, task: &Task, state: &[u32]) {
        self.moved.clear();
        if self.pairs.is_some() {
            self.props.clear();
            let encoding = task.encoding();
            encoding.difference(&self.base_state, state, &mut self.props);
            let moved = self
                .props
                .iter()
                .filter(|prop| encoding.holds(**prop, state));
            self.moved.extend(moved);
        }
    }

    /// Looks at a step from a state, with the score and the open goals of where it leads: it may be
    /// better than the base, and waits if it is the first to make something true.
    pub(super) fn offer(
        &mut self,
        task: &Task,
        step: Waiting,
        state: &[u32],
        score: i64,
        open_goals: usize,
    ) {
        let Some(base) = self.base else {
            return;
        };
        if score < base.score {
            self.better.push((score, step.action));
        } else if open_goals < base.open_goals && self.nearer.len() < MOST_NEARER {
            self.arrivals += 1;
            self.nearer.push(Reverse((score, self.arrivals, step)));
        }
        if self.is_new(task, state, step.action) {
            self.queue.push_back(step);
        }
    }

    /// Marks what a step makes true; whether one of it is new.
    fn is_new(&mut self, task: &Task, state: &[u32], action: ActionId) -> bool {
        self.changes.list(task, state, action);
        let Changes { added, removed, .. } = &self.changes;
        let mut is_new = false;
        for (place, prop) in added.iter().enumerate() {
            is_new |= std::mem::replace(&mut self.seen[prop.index()], self.number) != self.number;
            let Some(pairs) = &mut self.pairs else {
                continue;
            };
            let stayed = self.moved.iter().filter(|other| !removed.contains(other));
            for other in stayed.chain(&added[..place]) {
                self.pair_work += PAIR_WORK;
                if share_object(task, *prop, *other) {
                    self.pair_work += SHARED_PAIR_WORK;
                    is_new |= pairs.insert((*prop.min(other), *prop.max(other)));
                }
            }
        }
        is_new
    }
}

/// Whether two propositions say something of the same object.
fn share_object(task: &Task, one: PropId, other: PropId) -> bool {
    let [one, other] = [one, other].map(|prop| &task.propositions()[prop.index()].atom.arguments);
    one.iter().any(|object| other.contains(object))
}
