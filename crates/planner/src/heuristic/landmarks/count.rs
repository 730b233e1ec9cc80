//! The heuristic that counts landmarks.
//!
//! A landmark is accepted on a path once it is true and all that comes before it was accepted
//! earlier. The estimate is the number of landmarks not accepted, and of those accepted that are
//! needed again: false now, and either a goal, or needed just before a landmark not accepted yet.
//! It depends on the path, and may call a state with a plan 0 steps from the goal, or one near the
//! goal far; it never calls a state a dead end.

use super::graph::Landmarks;
use crate::csr::Csr;
use crate::heuristic::{Estimate, Evaluation, Heuristic, HeuristicKind, Node};
use crate::registry::{StateId, States};
use crate::task::{ActionId, Task};
use crate::visited::Visited;
use crate::watch::{Stop, Watch};

/// Rough nanoseconds of looking at one landmark of a state, and of one word of a set of landmarks.
const LANDMARK_WORK: u64 = 5;
const WORD_WORK: u64 = 1;

/// Landmarks with more achievers than this name no preferred actions: looking would cost more than
/// it brings.
const MAX_ACHIEVERS: usize = 200;

/// Counts the landmarks still to come.
pub struct LandmarkCount<'a> {
    task: &'a Task,
    landmarks: Landmarks,
    /// Sets of landmarks are words of bits, one set behind the other.
    words: usize,
    /// By landmark: those that come before it.
    before: Vec<u32>,
    /// By landmark: those that it must be true just before.
    just_after: Vec<u32>,
    goals: Vec<u32>,
    achievers: Csr<ActionId>,
    /// Accepted landmarks by state, for states evaluated or passed on the way to one.
    accepted: Vec<u32>,
    known: Vec<bool>,
    path: Vec<StateId>,
    /// The landmarks true in the state looked at.
    holding: Vec<u32>,
    work: u64,
}

/// The landmarks of a set, in order.
fn members(set: impl Iterator<Item = u32>) -> impl Iterator<Item = usize> {
    set.enumerate().flat_map(|(word, mut bits)| {
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros())?;
            bits &= bits - 1;
            Some(word * 32 + bit as usize)
        })
    })
}

impl<'a> LandmarkCount<'a> {
    /// Finds the landmarks of a task.
    ///
    /// # Errors
    ///
    /// If the watch says stop.
    pub fn new(task: &'a Task, watch: &mut dyn Watch) -> Result<Self, Stop> {
        Ok(Self::with(task, Landmarks::find(task, watch)?))
    }

    fn with(task: &'a Task, landmarks: Landmarks) -> Self {
        let all = landmarks.all();
        let words = all.len().div_ceil(32);
        let mut before = vec![0; all.len() * words];
        let mut just_after = vec![0; all.len() * words];
        let mut goals = vec![0; words];
        let insert = |sets: &mut [u32], of: usize, member: usize| {
            sets[of * words + member / 32] |= 1 << (member % 32);
        };
        let mut landmarks_of: Vec<Vec<u32>> = vec![Vec::new(); task.propositions().len()];
        for (index, landmark) in all.iter().enumerate() {
            for &earlier in &landmark.before {
                insert(&mut before, index, earlier as usize);
            }
            for &earlier in &landmark.just_before {
                insert(&mut just_after, earlier as usize, index);
            }
            if landmark.is_goal {
                insert(&mut goals, 0, index);
            }
            for fact in &landmark.facts {
                landmarks_of[fact.index()].push(index as u32);
            }
        }
        let achievers = Csr::from_pairs(all.len(), ActionId(0), || {
            let rules = task.rule_add().rows().enumerate();
            rules.flat_map(|(rule, added)| {
                let landmarks_of = &landmarks_of;
                let action = task.rule_action(rule).into_iter();
                action.flat_map(move |action| {
                    added.iter().flat_map(move |prop| {
                        let achieved = landmarks_of[prop.index()].iter();
                        achieved.map(move |&index| (index as usize, action))
                    })
                })
            })
        });
        Self {
            task,
            landmarks,
            words,
            before,
            just_after,
            goals,
            achievers,
            accepted: Vec::new(),
            known: Vec::new(),
            path: Vec::new(),
            holding: vec![0; words],
            work: 0,
        }
    }

    /// The landmarks it counts.
    pub fn landmarks(&self) -> &Landmarks {
        &self.landmarks
    }

    /// Notes which landmarks are true in a state.
    fn look(&mut self, state: &[u32]) {
        let encoding = self.task.encoding();
        self.holding.fill(0);
        for (index, landmark) in self.landmarks.all().iter().enumerate() {
            let mut facts = landmark.facts.iter();
            if facts.any(|&fact| encoding.holds(fact, state)) {
                self.holding[index / 32] |= 1 << (index % 32);
            }
        }
        self.work += self.landmarks.all().len() as u64 * LANDMARK_WORK;
    }

    /// Where the set of a state or landmark stands.
    fn place(&self, index: usize) -> std::ops::Range<usize> {
        index * self.words..(index + 1) * self.words
    }

    fn is_within(&self, set: &[u32], other: &[u32]) -> bool {
        set.iter().zip(other).all(|(&a, &b)| a & !b == 0)
    }

    /// Works out what is accepted at a state, from the nearest state before it that is known.
    fn accept_along(&mut self, visited: &Visited, id: StateId) {
        if self.known.len() < visited.len() {
            self.known.resize(visited.len(), false);
            self.accepted.resize(visited.len() * self.words, 0);
        }
        self.path.clear();
        let mut at = id;
        while !self.known[at.index()] {
            self.path.push(at);
            match visited.reached_from(at) {
                Some((parent, _)) => at = parent,
                None => break,
            }
        }
        while let Some(at) = self.path.pop() {
            self.accept(visited, at);
        }
    }

    fn accept(&mut self, visited: &Visited, id: StateId) {
        self.look(visited.state(id));
        let parent = visited.reached_from(id).map(|(parent, _)| parent);
        // What is true at the start is there too early if something is to be done before it.
        let earlier: Vec<u32> = match parent {
            Some(parent) => self.accepted[self.place(parent.index())].to_vec(),
            None => self.holding.clone(),
        };
        let mut bits = match parent {
            Some(_) => earlier.clone(),
            None => vec![0; self.words],
        };
        let new = self
            .holding
            .iter()
            .zip(&bits)
            .map(|(&now, &was)| now & !was);
        let new: Vec<usize> = members(new).collect();
        self.work += (new.len() * self.words) as u64 * WORD_WORK;
        for index in new {
            if self.is_within(&self.before[self.place(index)], &earlier) {
                bits[index / 32] |= 1 << (index % 32);
            }
        }
        let place = self.place(id.index());
        self.accepted[place].copy_from_slice(&bits);
        self.known[id.index()] = true;
    }

    /// Landmarks to come, and those needed again. The state has been looked at.
    fn count(&mut self, id: StateId) -> usize {
        let accepted = &self.accepted[self.place(id.index())];
        let reached: u32 = accepted.iter().map(|bits| bits.count_ones()).sum();
        let gone = accepted
            .iter()
            .zip(&self.holding)
            .map(|(&was, &now)| was & !now);
        let mut looked_at = 0;
        let needed_again = members(gone)
            .filter(|&index| {
                looked_at += 1;
                let is_goal = self.goals[index / 32] >> (index % 32) & 1 == 1;
                is_goal || !self.is_within(&self.just_after[self.place(index)], accepted)
            })
            .count();
        self.work += (looked_at * self.words) as u64 * WORD_WORK;
        self.landmarks.all().len() - reached as usize + needed_again
    }

    /// Applicable actions that achieve a landmark whose turn it is.
    fn prefer(&mut self, id: StateId, state: &[u32], preferred: &mut Vec<ActionId>) {
        let accepted = &self.accepted[self.place(id.index())];
        let encoding = self.task.encoding();
        let mut looked_at = 0;
        for index in 0..self.landmarks.all().len() {
            let is_accepted = accepted[index / 32] >> (index % 32) & 1 == 1;
            let achievers = self.achievers.row(index);
            if is_accepted
                || achievers.len() > MAX_ACHIEVERS
                || !self.is_within(&self.before[self.place(index)], accepted)
            {
                continue;
            }
            looked_at += achievers.len() as u64;
            let applicable = |action: &&ActionId| {
                let mut pre = self.task.pre(**action).iter();
                pre.all(|&prop| encoding.holds(prop, state))
            };
            preferred.extend(achievers.iter().filter(applicable));
        }
        self.work += (self.landmarks.all().len() as u64 + looked_at) * LANDMARK_WORK;
    }
}

impl Heuristic for LandmarkCount<'_> {
    fn name(&self) -> &str {
        HeuristicKind::Landmarks.name()
    }

    /// Without the way to a state, what is true in it is all that is accepted.
    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        for state in states.iter() {
            self.look(state);
            let held: u32 = self.holding.iter().map(|bits| bits.count_ones()).sum();
            let count = self.landmarks.all().len() - held as usize;
            estimates.push(Estimate::new(count as f64));
        }
    }

    fn evaluate_node(&mut self, node: Node<'_>, evaluation: &mut Evaluation) {
        self.accept_along(node.visited, node.id);
        let state = node.state();
        self.look(state);
        evaluation.estimate = Estimate::new(self.count(node.id) as f64);
        evaluation.preferred.clear();
        self.prefer(node.id, state, &mut evaluation.preferred);
    }

    fn work(&self) -> u64 {
        self.work
    }
}
