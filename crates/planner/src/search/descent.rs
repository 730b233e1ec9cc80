//! Going down by a learned score, from a state to one that scores less.
//!
//! A score that sees two steps far has plateaus and hollows: a robot must cross the floor before
//! anything changes, a truck must first go and fetch something. A queue of all states explores a
//! hollow in every combination of what can move. A descent explores it by *width 1*: from its base,
//! first in, first out, it takes only steps that make something true for the first time since the
//! base. So one thing moves while the others stay, and a hollow costs no more states than there are
//! propositions. The first state that scores less than the base becomes the base.
//!
//! Where there is none, the base was the bottom of a hollow. The next base is then the state of
//! least score among all that left fewer goals open than the base from which they were met: such a
//! state is progress even if the score does not say so, and the score says which of them are not
//! dead ends. Without any, the descent is over, and begins again at a state that the queue of all
//! states offers.
//!
//! (Iterated width of Lipovetzky and Geffner, with a learned score beside the count of goals.)

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::queue::Waiting;
use crate::registry::StateId;
use crate::task::{ActionId, PropId, Task};

/// Steps kept for later bases at the most: memory is for all.
const MOST_NEARER: usize = 1 << 18;

/// What a descent is to beat.
#[derive(Clone, Copy, Debug)]
struct Base {
    score: i64,
    open_goals: usize,
}

/// One descent: where it is, and what it has seen since its base.
#[derive(Debug)]
pub(super) struct Descent {
    /// `None` where it is over.
    base: Option<Base>,
    /// By proposition: the number of the last base since which it was true.
    seen: Vec<u32>,
    /// The number of the base.
    number: u32,
    queue: VecDeque<Waiting>,
    /// Steps from the state being expanded that score less than the base.
    pub(super) better: Vec<(i64, ActionId)>,
    /// Steps that leave fewer goals open than their base: score, arrival, step.
    nearer: BinaryHeap<Reverse<(i64, u64, Waiting)>>,
    arrivals: u64,
    words: Vec<u32>,
    props: Vec<PropId>,
}

impl Descent {
    pub(super) fn new(task: &Task) -> Self {
        Self {
            base: None,
            seen: vec![0; task.propositions().len()],
            number: 0,
            queue: VecDeque::new(),
            better: Vec::new(),
            nearer: BinaryHeap::new(),
            arrivals: 0,
            words: Vec::new(),
            props: Vec::new(),
        }
    }

    /// Whether it waits for a base.
    pub(super) fn is_over(&self) -> bool {
        self.base.is_none()
    }

    /// Takes a state for its base; the goals it leaves open.
    pub(super) fn begin(&mut self, task: &Task, id: StateId, state: &[u32], score: i64) -> usize {
        if self.number == u32::MAX {
            self.seen.fill(0);
            self.number = 0;
        }
        self.number += 1;
        let open_goals = task.open_goals(state);
        self.base = Some(Base { score, open_goals });
        self.queue.clear();
        self.queue.push_back(Waiting::rest_of(id, 0));
        self.props.clear();
        task.encoding().unpack(state, &mut self.props);
        for prop in &self.props {
            self.seen[prop.index()] = self.number;
        }
        open_goals
    }

    /// The next step to look at.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
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

    /// Marks what a step makes true; whether one of it was not true since the base.
    fn is_new(&mut self, task: &Task, state: &[u32], action: ActionId) -> bool {
        let encoding = task.encoding();
        let mut is_new = false;
        let mut note = |prop: PropId| {
            let seen = &mut self.seen[prop.index()];
            is_new |= *seen != self.number;
            *seen = self.number;
        };
        if task.is_strips() {
            task.add(action).iter().for_each(|&prop| note(prop));
        } else {
            // What conditional effects and axioms do depends on the state.
            self.words.clear();
            self.words.extend_from_slice(state);
            task.apply(action, &mut self.words);
            self.props.clear();
            encoding.difference(state, &self.words, &mut self.props);
            let words = &self.words;
            let added = self
                .props
                .iter()
                .filter(|prop| encoding.holds(**prop, words));
            added.for_each(|&prop| note(prop));
        }
        is_new
    }
}
