//! A way to one goal, by novelty.
//!
//! The goal is a value of a variable: the place of a box. States of fewer steps of that variable to the
//! goal come first; among those the ones that have more of a relaxed plan for the goal behind them. Of
//! all states that are alike in both only those are looked at that make something true for the first
//! time: the robot walks to each cell once for each place of the box. So the states are at most as many
//! as values, steps of the relaxed plan and propositions to multiply.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::Attempt;
use super::goals::{FAR, Goals};
use super::reach::NO_ACTION;
use crate::encoding::Variable;
use crate::search::enabled::Enabled;
use crate::search::queue::{LIST_WORK, QUEUE_WORK, STORE_WORK};
use crate::successors::SuccessorGenerator;
use crate::task::{ActionId, PropId, Task};
use crate::watch::{Pace, Stop};

/// Bytes that the states of one way may take, and what was seen on the way.
const MOST_BYTES: usize = 1 << 27;

/// What a step has made possible is looked up if it is one of at most so many times the successors of
/// another state.
const CANDIDATES: usize = 4;

/// Successors by which the relaxed plan gets on are looked at first if they are found among one in so
/// many of the actions that all successors are found among.
const FEWER: usize = 4;

/// Steps of some ten nanoseconds of storing a state.
const STEPS_A_STATE: usize = 25;

/// A way to look for.
pub(super) struct Request<'a> {
    pub(super) task: &'a Task,
    pub(super) goals: &'a Goals,
    pub(super) attempt: &'a Attempt,
    pub(super) generator: &'a SuccessorGenerator,
    pub(super) goal: usize,
    /// By value of the goal's variable: how many steps of it lead to the goal.
    pub(super) distance: &'a [u32],
    /// Whether variables of other open goals may change.
    pub(super) moves_others: bool,
    /// Propositions to make true on the way.
    pub(super) relaxed: &'a [PropId],
    pub(super) most_states: usize,
    pub(super) most_work: u64,
}

impl Request<'_> {
    /// The goal's variable.
    pub(super) fn variable(&self) -> Variable {
        self.task.encoding().variables()[self.goals.all[self.goal].variable]
    }

    /// Words of a state, and of what it has behind it of the relaxed plan.
    fn words(&self) -> (usize, usize) {
        (
            self.task.encoding().words(),
            self.relaxed.len().div_ceil(32),
        )
    }

    /// What is still to be made true, with the actions that do so.
    fn to_come<'a>(&'a self, behind: &'a [u32]) -> impl Iterator<Item = &'a [ActionId]> {
        let relaxed = self.relaxed.iter().enumerate();
        let open = relaxed.filter(|&(place, _)| behind[place / 32] >> (place % 32) & 1 == 0);
        let goal = self.goals.all[self.goal].prop;
        let open = open.map(|(_, &prop)| prop).chain([goal]);
        open.map(|prop| self.goals.achieving.row(prop.index()))
    }

    /// The value that an allowed action gives the goal's variable; none if it disturbs another goal
    /// and is not to.
    fn value_after(&self, action: ActionId, value: u32) -> Option<u32> {
        let (task, encoding) = (self.task, self.task.encoding());
        let variable = self.goals.all[self.goal].variable;
        let mut to = value;
        for touch in self.goals.touched.row(action.index()) {
            if touch.goal as usize != self.goal {
                if !touch.reaches && !self.moves_others {
                    return None;
                }
                continue;
            }
            let added = task.add(action).iter().map(|&prop| encoding.place(prop));
            let mut added = added.filter(|place| place.0 == variable);
            to = match added.next() {
                Some((_, value)) => value,
                None => {
                    let del = task.del(action).iter();
                    let mut del = del.map(|&prop| encoding.place(prop));
                    let is_lost = del.any(|place| place == (variable, value));
                    if is_lost { 0 } else { value }
                }
            };
        }
        Some(to)
    }
}

/// A step in the queue, the best first: by the distance of the goal's variable, by how much of the
/// relaxed plan is still to come, first in first out; with the number of its parent. Or the other
/// successors of a state, by the same measures of its own.
type Entry = Reverse<(u32, u32, bool, u32, u32, ActionId)>;

/// In place of an action: the successors of a state that were not looked at first.
const OTHERS: ActionId = ActionId(u32::MAX - 1);

/// A state while its successors are looked at.
#[derive(Clone, Copy)]
struct Here {
    id: u32,
    /// Of the goal's variable.
    value: u32,
    /// How much of the relaxed plan it has behind it.
    reached: u32,
}

/// What looking at successors came to.
enum Looked {
    /// This one reaches the goal.
    Goal(ActionId),
    /// The least distance and rest of the relaxed plan of those queued.
    Best(Option<(u32, u32)>),
}

/// Looks for ways to single goals; its tables are kept from one to the next.
#[derive(Default)]
pub(super) struct Ways {
    /// States, each followed by the bits of what it has behind it of the relaxed plan.
    states: Vec<u32>,
    /// By state: its parent, and the step from there.
    steps: Vec<(u32, ActionId)>,
    queue: BinaryHeap<Entry>,
    arrivals: u32,
    /// By value and by how much of the relaxed plan was reached: what was made true there.
    seen: HashMap<(u32, u32), Seen>,
    /// By proposition: where the relaxed plan has it.
    place: HashMap<PropId, usize>,
    /// By variable: whether the goal or the relaxed plan sets it.
    own: Vec<bool>,
    /// Whether the last way was given up before all was looked at.
    pub(super) is_cut_short: bool,
    /// The successors of the state whose successors were listed last.
    listed: usize,
    applicable: Vec<ActionId>,
    words: Vec<u32>,
    props: Vec<PropId>,
    pub(super) expanded: u64,
    pub(super) generated: u64,
    pub(super) work: u64,
}

impl Ways {
    /// A way from where the attempt stands, if one is found.
    pub(super) fn find(
        &mut self,
        request: &Request<'_>,
        enabled: &mut Enabled,
        pace: &mut Pace<'_>,
    ) -> Result<Option<Vec<ActionId>>, Stop> {
        let (task, goal) = (request.task, &request.goals.all[request.goal]);
        let variable = request.variable();
        let (words, _) = request.words();
        self.states.clear();
        self.steps.clear();
        self.queue.clear();
        self.seen.clear();
        self.place.clear();
        self.place.extend(request.relaxed.iter().copied().zip(0..));
        self.own.clear();
        self.own.resize(task.encoding().variable_count(), false);
        self.own[goal.variable] = true;
        for &fact in request.relaxed {
            self.own[task.encoding().place(fact).0] = true;
        }
        self.arrivals = 0;
        self.is_cut_short = false;
        let propositions = task.propositions().len();
        let most_work = self.work + request.most_work;
        let mut next = Some((u32::MAX, NO_ACTION));
        while let Some((number, step)) = next {
            let bytes = self.states.len() * 4 + self.seen.len() * propositions / 8;
            let ends = self.steps.len() >= request.most_states
                || self.work >= most_work
                || bytes > MOST_BYTES;
            if ends {
                self.is_cut_short = true;
                return Ok(None);
            }
            let (id, is_level) = match step {
                OTHERS => (number, self.load(request, enabled, number)),
                step => self.add(request, enabled, number, step),
            };
            let (state, behind) = self.words.split_at(words);
            let here = Here {
                id,
                value: variable.value(state),
                reached: behind.iter().map(|word| word.count_ones()).sum(),
            };
            // Where nothing but the rest has changed, what the step made possible is enough.
            let candidates = match is_level {
                true => enabled.candidates(),
                false => usize::MAX,
            };
            let candidates = (candidates <= self.listed * CANDIDATES).then_some(candidates);
            if step != OTHERS && self.list_on(request, candidates.unwrap_or(self.listed)) {
                let own = (
                    request.distance[here.value as usize],
                    request.relaxed.len() as u32 - here.reached,
                );
                match self.look(request, here) {
                    Looked::Goal(action) => return Ok(Some(self.path(id, action))),
                    Looked::Best(Some(best)) if best < own => {
                        let (distance, left) = own;
                        self.push(distance, left, false, id, OTHERS);
                        pace.work(STEPS_A_STATE + self.applicable.len())?;
                        next = self.pop();
                        continue;
                    }
                    Looked::Best(_) => {}
                }
            }
            let state = &self.words[..words];
            match candidates {
                Some(candidates) => {
                    enabled.list(task, state, &mut self.applicable);
                    self.work += candidates as u64 * LIST_WORK;
                }
                None => {
                    request.generator.applicable(state, &mut self.applicable);
                    self.listed = self.applicable.len();
                    self.work += self.listed as u64 * LIST_WORK;
                    if is_level {
                        { &mut self.applicable }
                            .retain(|&action| enabled.needs_added(task, action));
                    }
                }
            }
            self.work += STORE_WORK;
            pace.work(STEPS_A_STATE + self.applicable.len())?;
            if let Looked::Goal(action) = self.look(request, here) {
                return Ok(Some(self.path(id, action)));
            }
            self.expanded += 1;
            next = self.pop();
        }
        Ok(None)
    }

    fn push(&mut self, distance: u32, left: u32, strays: bool, id: u32, action: ActionId) {
        let arrival = self.arrivals;
        self.queue
            .push(Reverse((distance, left, strays, arrival, id, action)));
        self.arrivals += 1;
    }

    fn pop(&mut self) -> Option<(u32, ActionId)> {
        let Reverse((.., id, action)) = self.queue.pop()?;
        Some((id, action))
    }

    /// Builds and stores the state that a step leads to, or the first one; its number, and whether the
    /// goal's variable and what is behind are as before the step.
    fn add(
        &mut self,
        request: &Request<'_>,
        enabled: &mut Enabled,
        parent: u32,
        step: ActionId,
    ) -> (u32, bool) {
        let (words, more) = request.words();
        let variable = request.variable();
        let id = self.steps.len() as u32;
        self.steps.push((parent, step));
        self.words.clear();
        let mut is_level = false;
        if step == NO_ACTION {
            self.words.extend_from_slice(&request.attempt.state);
            self.words.resize(words + more, 0);
            self.note_all(request.task, variable.value(&request.attempt.state));
        } else {
            let first = parent as usize * (words + more);
            self.words
                .extend_from_slice(&self.states[first..first + words + more]);
            let before = variable.value(&self.words);
            enabled.look_at(request.task, &self.words[..words], step);
            request.task.apply(step, &mut self.words[..words]);
            is_level = before == variable.value(&self.words);
            for prop in enabled.added() {
                if let Some(&place) = self.place.get(prop) {
                    let word = &mut self.words[words + place / 32];
                    is_level &= *word >> (place % 32) & 1 == 1;
                    *word |= 1 << (place % 32);
                }
            }
        }
        self.states.extend_from_slice(&self.words);
        (id, is_level)
    }

    /// Looks at a stored state and its last step again; whether that left the goal's variable and what
    /// is behind as they were.
    fn load(&mut self, request: &Request<'_>, enabled: &mut Enabled, id: u32) -> bool {
        let (words, more) = request.words();
        let stored = |id: u32| id as usize * (words + more)..(id as usize + 1) * (words + more);
        self.words.clear();
        self.words.extend_from_slice(&self.states[stored(id)]);
        let (parent, step) = self.steps[id as usize];
        if step == NO_ACTION {
            return false;
        }
        let before = &self.states[stored(parent)];
        enabled.look_at(request.task, &before[..words], step);
        let variable = request.variable();
        variable.value(before) == variable.value(&self.words)
            && before[words..] == self.words[words..]
    }

    /// Lists the successors by which the relaxed plan gets on, or the goal is reached, if they are found
    /// among far fewer actions than `others`.
    fn list_on(&mut self, request: &Request<'_>, others: usize) -> bool {
        let (state, behind) = self.words.split_at(request.words().0);
        let mut candidates = request.relaxed.len();
        if candidates * FEWER > others {
            return false;
        }
        candidates += request.to_come(behind).map(<[_]>::len).sum::<usize>();
        if candidates * FEWER > others {
            return false;
        }
        self.work += candidates as u64 * LIST_WORK;
        let (task, encoding) = (request.task, request.task.encoding());
        let actions = request.to_come(behind).flatten().copied();
        self.applicable.clear();
        self.applicable.extend(actions.filter(|&action| {
            let mut pre = task.pre(action).iter();
            pre.all(|needed| encoding.holds(*needed, state))
        }));
        true
    }

    /// Queues those of the successors listed last that make something true for the first time.
    fn look(&mut self, request: &Request<'_>, here: Here) -> Looked {
        self.generated += self.applicable.len() as u64;
        self.work += self.applicable.len() as u64 * QUEUE_WORK;
        let (task, encoding) = (request.task, request.task.encoding());
        let propositions = task.propositions().len();
        let Here { id, value, reached } = here;
        // Most steps stay beside what was seen here.
        let mut seen_here = seen_at(&mut self.seen, (value, reached), propositions).take();
        let mut best = None;
        for index in 0..self.applicable.len() {
            let action = self.applicable[index];
            if !request.attempt.allows(action) {
                continue;
            }
            let Some(to) = request.value_after(action, value) else {
                continue;
            };
            let distance = request.distance[to as usize];
            if distance == 0 {
                // Nothing more is looked up.
                return Looked::Goal(action);
            }
            if distance == FAR {
                continue;
            }
            let (state, behind) = self.words.split_at(encoding.words());
            self.props.clear();
            let added = task.add(action).iter();
            self.props
                .extend(added.filter(|prop| !encoding.holds(**prop, state)));
            let mut then = reached;
            for prop in &self.props {
                if let Some(&place) = self.place.get(prop) {
                    then += u32::from(behind[place / 32] >> (place % 32) & 1 == 0);
                }
            }
            let seen = match (to, then) == (value, reached) {
                true => &mut seen_here,
                false => seen_at(&mut self.seen, (to, then), propositions),
            };
            let seen = seen.as_mut().expect("only this table is taken");
            let mut is_new = false;
            for prop in &self.props {
                let (word, bit) = (prop.index() / 64, 1 << (prop.index() % 64));
                is_new |= seen[word] & bit == 0;
                seen[word] |= bit;
            }
            if is_new {
                let left = request.relaxed.len() as u32 - then;
                let strays = { self.props.iter() }.any(|&prop| !self.own[encoding.place(prop).0]);
                self.push(distance, left, strays, id, action);
                let this = (distance, left);
                best = Some(best.map_or(this, |best: (u32, u32)| best.min(this)));
            }
        }
        *seen_at(&mut self.seen, (value, reached), propositions) = seen_here;
        Looked::Best(best)
    }

    /// What holds where the attempt stands is not new there.
    fn note_all(&mut self, task: &Task, value: u32) {
        self.props.clear();
        task.encoding()
            .unpack(&self.words[..task.encoding().words()], &mut self.props);
        let seen = seen_at(&mut self.seen, (value, 0), task.propositions().len());
        let seen = seen.as_mut().expect("none is taken");
        for prop in &self.props {
            seen[prop.index() / 64] |= 1 << (prop.index() % 64);
        }
    }

    /// The steps to a state, and one more.
    fn path(&self, mut id: u32, last: ActionId) -> Vec<ActionId> {
        let mut path = vec![last];
        while id != 0 {
            let (parent, step) = self.steps[id as usize];
            path.push(step);
            id = parent;
        }
        path.reverse();
        path
    }
}

/// Bits of propositions; none while the table is in use.
type Seen = Option<Box<[u64]>>;

fn seen_at(
    seen: &mut HashMap<(u32, u32), Seen>,
    key: (u32, u32),
    propositions: usize,
) -> &mut Seen {
    seen.entry(key)
        .or_insert_with(|| Some(vec![0; propositions.div_ceil(64)].into()))
}
