//! States that make something true for the first time.
//!
//! A step is novel if, among all steps so far with as many goals left and as far along the last
//! relaxed plan, it is the first to make some proposition true. The worker that goes by novelty
//! takes novel steps only, those with the fewest goals left first. So it looks at no more states than
//! there are propositions, goals and steps of a relaxed plan to multiply: it ends soon, with a plan
//! or with nothing left. Heuristics that look at everything cost much in large tasks; this one looks
//! at what a step changes. (Best-first width search of Lipovetzky and Geffner, with width 1; the
//! relaxed plan is made anew whenever a goal is reached.)

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::registry::StateId;
use crate::task::{ActionId, PropId, Task};

use super::changes::Changes;
use super::queue::Waiting;

/// The worker gives up when its tables take more: it is one of several, and memory is for all.
const MOST_BYTES: usize = 512 << 20;

/// Not in the relaxed plan.
const NONE: u32 = u32::MAX;

/// What the worker knows of a state it has expanded.
#[derive(Clone, Copy, Debug)]
struct Known {
    goals_left: u32,
    /// Which relaxed plan it goes along.
    plan: u32,
    /// How many propositions of that were made true on the way.
    reached: u32,
    /// Where the bits of those begin.
    bits: usize,
}

/// A step in the queue, the best first: by goals left, then by how much of the relaxed plan is still
/// to come, then first in, first out.
type Entry = Reverse<(u32, u32, u64, StateId, ActionId, u32)>;

/// A step to take, with what is known of its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct NovelStep {
    pub(super) step: Waiting,
    goals_left: u32,
    /// The parent; [`NONE`] at the root.
    known: u32,
}

/// What the worker remembers.
#[derive(Debug)]
pub(super) struct Novelty {
    is_goal: Vec<bool>,
    queue: BinaryHeap<Entry>,
    arrivals: u64,
    root: bool,
    known: Vec<Known>,
    /// Bits of what was made true, by state.
    bits: Vec<u64>,
    /// Relaxed plans: propositions to make true.
    plans: Vec<Box<[PropId]>>,
    /// By goals left and propositions reached: those that were made true there before.
    seen: HashMap<(u32, u32), Box<[u64]>>,
    /// By proposition: its place in the relaxed plan that was loaded last.
    place: Vec<u32>,
    loaded: u32,
    /// What a step changes.
    changes: Changes,
    props: Vec<PropId>,
}

impl Novelty {
    pub(super) fn new(task: &Task) -> Self {
        let count = task.propositions().len();
        let mut is_goal = vec![false; count];
        for goal in task.goal() {
            is_goal[goal.index()] = true;
        }
        Self {
            is_goal,
            queue: BinaryHeap::new(),
            arrivals: 0,
            root: true,
            known: Vec::new(),
            bits: Vec::new(),
            plans: Vec::new(),
            seen: HashMap::new(),
            place: vec![NONE; count],
            loaded: NONE,
            changes: Changes::default(),
            props: Vec::new(),
        }
    }

    /// The next step, if there is one left and there is still room.
    pub(super) fn pop(&mut self, task: &Task) -> Option<NovelStep> {
        if std::mem::take(&mut self.root) {
            let init = task.init();
            let reached = task.goal().iter().filter(|goal| init.contains(goal));
            return Some(NovelStep {
                step: Waiting::ROOT,
                goals_left: (task.goal().len() - reached.count()) as u32,
                known: NONE,
            });
        }
        let tables = self.seen.len() * self.place.len().div_ceil(64);
        if (tables + self.bits.len()) * size_of::<u64>() > MOST_BYTES {
            return None;
        }
        let Reverse((goals_left, _, _, parent, action, known)) = self.queue.pop()?;
        Some(NovelStep {
            step: Waiting { parent, action },
            goals_left,
            known,
        })
    }

    /// Whether the state a step leads to needs a new relaxed plan: one goal fewer is left.
    pub(super) fn wants_plan(&self, step: &NovelStep) -> bool {
        step.known == NONE || step.goals_left < self.known[step.known as usize].goals_left
    }

    /// Whether the state entered last has as many goals left as the one before, and as much of the
    /// same relaxed plan behind it: then what could be done there is new nowhere.
    pub(super) fn is_level(&self, step: &NovelStep) -> bool {
        let Some(before) = self.known.get(step.known as usize) else {
            return false;
        };
        let known = self.known.last().expect("a state was entered");
        let level = |known: &Known| (known.goals_left, known.plan, known.reached);
        level(known) == level(before)
    }

    /// Enters the state of a step, with its relaxed plan if there is a new one: the propositions it
    /// makes true.
    pub(super) fn enter(
        &mut self,
        task: &Task,
        step: &NovelStep,
        state: &[u32],
        plan: Option<Vec<PropId>>,
    ) {
        let bits = self.bits.len();
        let goes_on = plan.is_none();
        let known = match plan {
            Some(mut plan) => {
                plan.retain(|&prop| !task.encoding().holds(prop, state));
                self.bits.resize(bits + plan.len().div_ceil(64), 0);
                self.plans.push(plan.into());
                Known {
                    goals_left: step.goals_left,
                    plan: self.plans.len() as u32 - 1,
                    reached: 0,
                    bits,
                }
            }
            None => {
                let parent = self.known[step.known as usize];
                let words = self.plans[parent.plan as usize].len().div_ceil(64);
                self.bits
                    .extend_from_within(parent.bits..parent.bits + words);
                Known {
                    goals_left: step.goals_left,
                    bits,
                    ..parent
                }
            }
        };
        self.known.push(known);
        self.load(known.plan);
        if goes_on {
            self.note_reached(task, state);
        }
        if step.known == NONE {
            self.note_all(task, state);
        }
    }

    /// Marks what holds in the state entered last and is in its relaxed plan.
    fn note_reached(&mut self, task: &Task, state: &[u32]) {
        let known = self.known.last_mut().expect("a state was entered");
        let plan = &self.plans[known.plan as usize];
        for (place, &prop) in plan.iter().enumerate() {
            let word = &mut self.bits[known.bits + place / 64];
            if *word >> (place % 64) & 1 == 0 && task.encoding().holds(prop, state) {
                *word |= 1 << (place % 64);
                known.reached += 1;
            }
        }
    }

    /// Marks what holds in the initial state as seen.
    fn note_all(&mut self, task: &Task, state: &[u32]) {
        let known = self.known.last().expect("a state was entered");
        let table = seen_at(
            &mut self.seen,
            known.goals_left,
            known.reached,
            self.place.len(),
        );
        self.props.clear();
        task.encoding().unpack(state, &mut self.props);
        self.props.iter().for_each(|&prop| _ = mark(table, prop));
    }

    fn load(&mut self, plan: u32) {
        if self.loaded == plan {
            return;
        }
        if self.loaded != NONE {
            for prop in &self.plans[self.loaded as usize] {
                self.place[prop.index()] = NONE;
            }
        }
        for (place, prop) in self.plans[plan as usize].iter().enumerate() {
            self.place[prop.index()] = place as u32;
        }
        self.loaded = plan;
    }

    /// Looks at a step from the state entered last and queues it if it is novel; `true` if it may
    /// lead to the goal.
    pub(super) fn offer(
        &mut self,
        task: &Task,
        parent: StateId,
        state: &[u32],
        action: ActionId,
    ) -> bool {
        let known = *self.known.last().expect("a state was entered");
        let goals_left = self.goals_left(task, state, action, known.goals_left);
        if goals_left == 0 {
            return true;
        }
        let mut reached = known.reached;
        if goals_left < known.goals_left {
            // There will be a new relaxed plan, of which nothing is reached yet.
            reached = 0;
        } else {
            for prop in &self.changes.added {
                let place = self.place[prop.index()];
                if place != NONE {
                    let place = place as usize;
                    let before = self.bits[known.bits + place / 64] >> (place % 64) & 1;
                    reached += 1 - before as u32;
                }
            }
        }
        let table = seen_at(&mut self.seen, goals_left, reached, self.place.len());
        let mut novel = false;
        for &prop in &self.changes.added {
            novel |= mark(table, prop);
        }
        if novel {
            let size = self.plans[known.plan as usize].len() as u32;
            let entry = (
                goals_left,
                size.saturating_sub(reached),
                self.arrivals,
                parent,
                action,
                self.known.len() as u32 - 1,
            );
            self.arrivals += 1;
            self.queue.push(Reverse(entry));
        }
        false
    }

    /// Lists what a step changes; the goals that are left after it.
    fn goals_left(&mut self, task: &Task, state: &[u32], action: ActionId, before: u32) -> u32 {
        self.changes.list(task, state, action);
        let goals = |props: &[PropId]| {
            let goals = props.iter().filter(|prop| self.is_goal[prop.index()]);
            goals.count() as u32
        };
        before + goals(&self.changes.removed) - goals(&self.changes.added)
    }

    /// Rough nanoseconds of listing changes since the last call, beyond looking at the lists of
    /// actions.
    pub(super) fn take_work(&mut self) -> u64 {
        std::mem::take(&mut self.changes.work)
    }

    /// Steps that wait.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }
}

fn seen_at(
    seen: &mut HashMap<(u32, u32), Box<[u64]>>,
    goals_left: u32,
    reached: u32,
    propositions: usize,
) -> &mut [u64] {
    seen.entry((goals_left, reached))
        .or_insert_with(|| vec![0; propositions.div_ceil(64)].into())
}

/// Marks a proposition; `true` if it was not.
fn mark(table: &mut [u64], prop: PropId) -> bool {
    let (word, bit) = (prop.index() / 64, 1 << (prop.index() % 64));
    let is_new = table[word] & bit == 0;
    table[word] |= bit;
    is_new
}
