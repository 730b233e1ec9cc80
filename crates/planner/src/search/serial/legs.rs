//! A way to one goal, leg by leg.
//!
//! A robot walks around a box, then it pushes. A *leg* is a step of the goal's variable and the free steps
//! before it: such as change no goal's variable. All that free steps can reach from a state is explored at
//! once, with nothing deleted. Where one thing moves freely that is exact, and elsewhere each leg is
//! tried before it is taken. States of fewer steps to the goal come first, then those of shorter ways.
//!
//! From a state that lies within what was explored from another, and is else as that one, the same legs
//! can be taken; so it is left out. The robot's side of the box counts, but not where it stands on that
//! side. When no state is left there is no way without moving what belongs to other goals, unless a leg
//! could not be taken as explored.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::goals::{FAR, Goals, Step};
use super::reach::NO_ACTION;
use super::ways::Request;
use crate::csr::Csr;
use crate::search::queue::{LIST_WORK, STORE_WORK};
use crate::task::{ActionId, PropId, Task};
use crate::watch::{Pace, Stop};

/// Rough nanoseconds of one condition that is looked up, with the fact that it belongs to.
const CONDITION_WORK: u64 = 3;

/// Bytes that the states of one way may take, and what was explored from them.
const MOST_BYTES: usize = 1 << 27;

/// No free step makes a proposition true.
const NOT_FREE: u32 = u32::MAX;

/// What looking for legs came to.
pub(super) enum Found {
    Way(Vec<ActionId>),
    /// There is no way without moving what belongs to other goals.
    NoWay,
    /// It took too long, or a leg could not be taken.
    Unknown,
}

/// A state after a leg.
struct Place {
    parent: u32,
    leg: Vec<ActionId>,
    length: u32,
}

/// A state that waits, the best first: by steps to the goal, by the length of the way to it, first in first
/// out.
type Entry = Reverse<(u32, u32, u32)>;

/// Looks for ways leg by leg; its tables are kept from one to the next.
pub(super) struct Legs {
    /// By proposition: its number among those that free steps make true.
    free: Vec<u32>,
    free_count: usize,
    states: Vec<u32>,
    places: Vec<Place>,
    queue: BinaryHeap<Entry>,
    /// By what holds and is made true by no free step: what was explored from each such state.
    regions: HashMap<u64, Vec<Box<[u64]>>>,
    region_count: usize,
    /// By value of the goal's variable: steps from there; in a last row those from any value.
    steps: Csr<Step>,
    /// By proposition: the exploration that reached it last, when, and the action by which.
    seen: Vec<(u32, u32)>,
    by: Vec<ActionId>,
    exploration: u32,
    reached: Vec<PropId>,
    /// By proposition: the last leg that was made for it.
    listed: Vec<u32>,
    legs: u32,
    applicable: Vec<ActionId>,
    /// The state at hand; of what holds there, what free steps make true, and the rest as a number.
    state: Vec<u32>,
    props: Vec<PropId>,
    rest: u64,
    pub(super) expanded: u64,
    pub(super) work: u64,
}

impl Legs {
    pub(super) fn new(task: &Task, goals: &Goals) -> Self {
        let propositions = task.propositions().len();
        let mut free = vec![NOT_FREE; propositions];
        let mut free_count = 0;
        for action in { task.actions() }.filter(|action| goals.is_free(*action)) {
            for prop in task.add(action) {
                if free[prop.index()] == NOT_FREE {
                    free[prop.index()] = free_count;
                    free_count += 1;
                }
            }
        }
        Self {
            free,
            free_count: free_count as usize,
            states: Vec::new(),
            places: Vec::new(),
            queue: BinaryHeap::new(),
            regions: HashMap::new(),
            region_count: 0,
            steps: Csr::default(),
            seen: vec![(0, 0); propositions],
            by: vec![NO_ACTION; propositions],
            exploration: 0,
            reached: Vec::new(),
            listed: vec![0; propositions],
            legs: 0,
            applicable: Vec::new(),
            state: Vec::new(),
            props: Vec::new(),
            rest: 0,
            expanded: 0,
            work: 0,
        }
    }

    /// A way from where the attempt stands, on which nothing of another goal moves.
    pub(super) fn find(
        &mut self,
        request: &Request<'_>,
        pace: &mut Pace<'_>,
    ) -> Result<Found, Stop> {
        self.states.clear();
        self.places.clear();
        self.queue.clear();
        self.regions.clear();
        self.region_count = 0;
        self.sort_steps(request);
        let most_work = self.work + request.most_work;
        self.state.clone_from(&request.attempt.state);
        self.put(request, 0, Vec::new(), 0);
        let mut is_exact = true;
        while let Some(Reverse((.., id))) = self.queue.pop() {
            let bytes = self.states.len() * 4 + self.region_count * self.free_count / 8;
            let ends = self.region_count >= request.most_states
                || self.work >= most_work
                || bytes > MOST_BYTES;
            if ends {
                return Ok(Found::Unknown);
            }
            let before = self.work;
            let words = request.task.encoding().words();
            let first = id as usize * words;
            self.state.clear();
            self.state
                .extend_from_slice(&self.states[first..first + words]);
            if self.is_known(request.task) {
                continue;
            }
            self.explore(request);
            self.note_region();
            if let Some(last) = self.take_legs(request, id, &mut is_exact) {
                return Ok(Found::Way(self.path(id, &last)));
            }
            self.expanded += 1;
            pace.work(((self.work - before) / 10) as usize)?;
        }
        Ok(if is_exact {
            Found::NoWay
        } else {
            Found::Unknown
        })
    }

    fn sort_steps(&mut self, request: &Request<'_>) {
        let own = request.goals.own.row(request.goal);
        let Some(&fill) = own.first() else {
            self.steps = Csr::default();
            return;
        };
        let values = request.distance.len();
        let steps = || {
            let good = own.iter().filter(|step| {
                request.distance[step.to as usize] != FAR && request.attempt.allows(step.action)
            });
            good.map(|step| (step.from.map_or(values, |from| from as usize), *step))
        };
        self.steps = Csr::from_pairs(values + 1, fill, steps);
        self.work += (2 * own.len() + values) as u64 * CONDITION_WORK;
    }

    /// Stores the state at hand after a leg, and lets it wait.
    fn put(&mut self, request: &Request<'_>, parent: u32, leg: Vec<ActionId>, length: u32) {
        let id = self.places.len() as u32;
        let distance = request.distance[request.variable().value(&self.state) as usize];
        self.states.extend_from_slice(&self.state);
        self.places.push(Place {
            parent,
            leg,
            length,
        });
        self.queue.push(Reverse((distance, length, id)));
        self.work += STORE_WORK;
    }

    /// Whether the state at hand lies within what was explored from one that is else like it.
    fn is_known(&mut self, task: &Task) -> bool {
        self.props.clear();
        task.encoding().unpack(&self.state, &mut self.props);
        self.work += self.props.len() as u64 * CONDITION_WORK;
        let mut rest = 0;
        let free = &self.free;
        self.props.retain(|prop| {
            let is_free = free[prop.index()] != NOT_FREE;
            if !is_free {
                rest ^= number(*prop);
            }
            is_free
        });
        self.rest = rest;
        let holds = |region: &[u64], prop: &PropId| {
            let place = self.free[prop.index()] as usize;
            region[place / 64] >> (place % 64) & 1 == 1
        };
        let regions = self.regions.get(&rest);
        let mut regions = regions.into_iter().flatten();
        regions.any(|region| self.props.iter().all(|prop| holds(region, prop)))
    }

    /// Keeps what was explored from the state at hand.
    fn note_region(&mut self) {
        let mut region: Box<[u64]> = vec![0; self.free_count.div_ceil(64)].into();
        for prop in self.props.iter().chain(&self.reached) {
            let place = self.free[prop.index()] as usize;
            region[place / 64] |= 1 << (place % 64);
        }
        self.regions.entry(self.rest).or_default().push(region);
        self.region_count += 1;
    }

    /// Lists what free steps reach from the state at hand, with nothing deleted.
    fn explore(&mut self, request: &Request<'_>) {
        let Request { task, goals, .. } = *request;
        self.exploration += 1;
        self.reached.clear();
        request
            .generator
            .applicable(&self.state, &mut self.applicable);
        let mut looked_at = 0;
        for index in 0..self.applicable.len() {
            let action = self.applicable[index];
            if goals.is_free(action) {
                self.add(task, action);
            }
        }
        let mut next = 0;
        while let Some(&prop) = self.reached.get(next) {
            next += 1;
            let needing = goals.free.row(prop.index());
            looked_at += needing.len();
            for &action in needing {
                let mut pre = task.pre(action).iter();
                if pre.all(|needed| self.is_met(task, *needed)) {
                    self.add(task, action);
                }
            }
        }
        self.work += self.applicable.len() as u64 * LIST_WORK;
        self.work += (looked_at + self.reached.len()) as u64 * CONDITION_WORK;
    }

    fn add(&mut self, task: &Task, action: ActionId) {
        for &prop in task.add(action) {
            if !self.is_met(task, prop) {
                self.seen[prop.index()] = (self.exploration, self.reached.len() as u32);
                self.by[prop.index()] = action;
                self.reached.push(prop);
            }
        }
    }

    /// Whether a proposition holds in the state at hand or was reached from it.
    fn is_met(&self, task: &Task, prop: PropId) -> bool {
        self.seen[prop.index()].0 == self.exploration || task.encoding().holds(prop, &self.state)
    }

    /// Takes all legs from a state that was explored; one that reaches the goal, if there is one. If one
    /// that was reached cannot be taken, what was explored is not exact.
    fn take_legs(
        &mut self,
        request: &Request<'_>,
        id: u32,
        is_exact: &mut bool,
    ) -> Option<Vec<ActionId>> {
        let task = request.task;
        let value = request.variable().value(&self.state);
        if self.steps.len() == 0 {
            return None;
        }
        let rows = [value as usize, self.steps.len() - 1];
        let steps: Vec<Step> = { rows.iter() }
            .flat_map(|&row| self.steps.row(row))
            .copied()
            .collect();
        let origin = self.state.clone();
        for step in steps {
            let pre = task.pre(step.action);
            self.work += pre.len() as u64 * CONDITION_WORK;
            if step.to == value || !pre.iter().all(|needed| self.is_met(task, *needed)) {
                continue;
            }
            let leg = self.leg(task, step.action);
            self.work += leg.len() as u64 * LIST_WORK;
            let is_taken = leg.iter().all(|&action| {
                let mut pre = task.pre(action).iter();
                let can_be_taken = pre.all(|needed| task.encoding().holds(*needed, &self.state));
                if can_be_taken {
                    task.apply(action, &mut self.state);
                }
                can_be_taken
            });
            if is_taken {
                if request.distance[step.to as usize] == 0 {
                    return Some(leg);
                }
                let length = self.places[id as usize].length + leg.len() as u32;
                if !self.is_known(task) {
                    self.put(request, id, leg, length);
                }
            } else {
                *is_exact = false;
            }
            self.state.clone_from(&origin);
        }
        None
    }

    /// The free steps by which what an action needs was reached, in the order in which they did so, and the
    /// action.
    fn leg(&mut self, task: &Task, last: ActionId) -> Vec<ActionId> {
        self.legs += 1;
        let mut steps: Vec<(u32, ActionId)> = Vec::new();
        let mut open: Vec<PropId> = task.pre(last).to_vec();
        while let Some(prop) = open.pop() {
            let (seen, when) = self.seen[prop.index()];
            let listed = std::mem::replace(&mut self.listed[prop.index()], self.legs);
            if seen == self.exploration && listed != self.legs {
                let by = self.by[prop.index()];
                steps.push((when, by));
                open.extend_from_slice(task.pre(by));
            }
        }
        steps.sort_unstable();
        let mut leg: Vec<ActionId> = steps.into_iter().map(|(_, action)| action).collect();
        leg.dedup();
        leg.push(last);
        leg
    }

    /// All legs to a state, and one more.
    fn path(&self, mut id: u32, last: &[ActionId]) -> Vec<ActionId> {
        let mut legs = vec![last];
        while id != 0 {
            let place = &self.places[id as usize];
            legs.push(&place.leg);
            id = place.parent;
        }
        legs.into_iter().rev().flatten().copied().collect()
    }
}

/// A number for a proposition, so that those of several can be put together.
fn number(prop: PropId) -> u64 {
    let mut bits = (u64::from(prop.0) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
