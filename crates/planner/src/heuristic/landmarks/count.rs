//! The heuristic that counts landmarks.
//!
//! A landmark is accepted on a path once it is true and all that comes before it was accepted
//! earlier. The estimate is the number of landmarks not accepted, and of those accepted that are
//! needed again: false now, and either a goal, or needed just before a landmark not accepted yet.
//! It depends on the path, and may call a state with a plan 0 steps from the goal, or one near the
//! goal far; it never calls a state a dead end.

use super::graph::Landmarks;
use crate::csr::Csr;
use crate::heuristic::{Costs, Estimate, Evaluation, Heuristic, HeuristicKind, Node};
use crate::registry::{StateId, States};
use crate::task::{ActionId, PropId, Task};
use crate::visited::Visited;
use crate::watch::{Stop, Watch};

/// Rough nanoseconds a landmark costs in one evaluation.
const LANDMARK_WORK: u64 = 4;

/// Landmarks with more achievers than this name no preferred actions: looking would cost more than
/// it brings.
const MAX_ACHIEVERS: usize = 200;

/// Counts the landmarks still to come.
pub struct LandmarkCount<'a> {
    task: &'a Task,
    landmarks: Landmarks,
    /// By landmark: the landmarks that it must be true just before.
    just_after: Csr<u32>,
    achievers: Csr<ActionId>,
    /// What each landmark counts.
    weights: Vec<u32>,
    words: usize,
    /// Bits of accepted landmarks by state, for those evaluated or passed on the way to one.
    accepted: Vec<u32>,
    known: Vec<bool>,
    path: Vec<StateId>,
    work: u64,
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

    /// Lets each landmark count as much as its cheapest achiever costs, in place of 1.
    pub fn with_costs(task: &'a Task, landmarks: Landmarks, costs: Costs) -> Self {
        let mut heuristic = Self::with(task, landmarks);
        for (index, weight) in heuristic.weights.iter_mut().enumerate() {
            let achievers = heuristic.achievers.row(index).iter();
            // What nothing achieves is true at the start, and stays so.
            *weight = achievers
                .map(|&action| costs.of(task, action))
                .min()
                .unwrap_or(1);
        }
        heuristic
    }

    fn with(task: &'a Task, landmarks: Landmarks) -> Self {
        let all = landmarks.all();
        let just_after = Csr::from_pairs(all.len(), 0u32, || {
            all.iter().enumerate().flat_map(|(later, landmark)| {
                let pairs = landmark.just_before.iter();
                pairs.map(move |&earlier| (earlier as usize, later as u32))
            })
        });
        let mut landmarks_of: Vec<Vec<u32>> = vec![Vec::new(); task.propositions().len()];
        for (index, landmark) in all.iter().enumerate() {
            for fact in &landmark.facts {
                landmarks_of[fact.index()].push(index as u32);
            }
        }
        let achievers = Csr::from_pairs(all.len(), ActionId(0), || {
            task.actions().flat_map(|action| {
                let landmarks_of = &landmarks_of;
                task.add(action).iter().flat_map(move |prop| {
                    let achieved = landmarks_of[prop.index()].iter();
                    achieved.map(move |&index| (index as usize, action))
                })
            })
        });
        let words = all.len().div_ceil(32);
        Self {
            task,
            weights: vec![1; all.len()],
            landmarks,
            just_after,
            achievers,
            words,
            accepted: Vec::new(),
            known: Vec::new(),
            path: Vec::new(),
            work: 0,
        }
    }

    /// The landmarks it counts.
    pub fn landmarks(&self) -> &Landmarks {
        &self.landmarks
    }

    fn holds_one(&self, facts: &[PropId], state: &[u32]) -> bool {
        let mut facts = facts.iter();
        facts.any(|&fact| self.task.encoding().holds(fact, state))
    }

    fn is_accepted(&self, id: StateId, landmark: usize) -> bool {
        let word = self.accepted[id.index() * self.words + landmark / 32];
        word >> (landmark % 32) & 1 == 1
    }

    /// Works out what is accepted at a state, from the nearest state before it that is known.
    fn accept_along(&mut self, visited: &Visited, id: StateId) {
        if self.known.len() <= id.index() {
            self.known.resize(id.index() + 1, false);
            self.accepted.resize((id.index() + 1) * self.words, 0);
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
        let state = visited.state(id);
        let parent = visited.reached_from(id).map(|(parent, _)| parent);
        let mut bits = match parent {
            Some(parent) => {
                let first = parent.index() * self.words;
                self.accepted[first..first + self.words].to_vec()
            }
            None => vec![0; self.words],
        };
        for (index, landmark) in self.landmarks.all().iter().enumerate() {
            let was = parent.is_some_and(|parent| self.is_accepted(parent, index));
            // What is true at the start is there too early if something is to be done before it.
            let earlier = |&before: &u32| match parent {
                Some(parent) => self.is_accepted(parent, before as usize),
                None => {
                    let facts = &self.landmarks.all()[before as usize].facts;
                    self.holds_one(facts, state)
                }
            };
            if !was && self.holds_one(&landmark.facts, state) && landmark.before.iter().all(earlier)
            {
                bits[index / 32] |= 1 << (index % 32);
            }
        }
        let first = id.index() * self.words;
        self.accepted[first..first + self.words].copy_from_slice(&bits);
        self.known[id.index()] = true;
        self.work += self.landmarks.all().len() as u64 * LANDMARK_WORK;
    }

    /// The weight of the landmarks to come, and of those needed again.
    fn count(&self, id: StateId, state: &[u32]) -> f64 {
        let all = self.landmarks.all();
        let missing = |&index: &usize| {
            if !self.is_accepted(id, index) {
                return true;
            }
            let landmark = &all[index];
            let mut later = self.just_after.row(index).iter();
            let needed =
                landmark.is_goal || later.any(|&later| !self.is_accepted(id, later as usize));
            needed && !self.holds_one(&landmark.facts, state)
        };
        let weights = (0..all.len())
            .filter(missing)
            .map(|index| self.weights[index]);
        weights.map(f64::from).sum()
    }

    /// Applicable actions that achieve a landmark whose turn it is.
    fn prefer(&self, id: StateId, state: &[u32], preferred: &mut Vec<ActionId>) {
        for (index, landmark) in self.landmarks.all().iter().enumerate() {
            let mut before = landmark.before.iter();
            let achievers = self.achievers.row(index);
            if self.is_accepted(id, index)
                || achievers.len() > MAX_ACHIEVERS
                || !before.all(|&before| self.is_accepted(id, before as usize))
            {
                continue;
            }
            let encoding = self.task.encoding();
            let applicable = |action: &&ActionId| {
                let mut pre = self.task.pre(**action).iter();
                pre.all(|&prop| encoding.holds(prop, state))
            };
            preferred.extend(achievers.iter().filter(applicable));
        }
    }
}

impl Heuristic for LandmarkCount<'_> {
    fn name(&self) -> &str {
        HeuristicKind::Landmarks.name()
    }

    /// Without the way to a state, what is true in it is all that is accepted.
    fn evaluate(&mut self, states: States<'_>, estimates: &mut Vec<Estimate>) {
        for state in states.iter() {
            let all = self.landmarks.all();
            let false_now = all
                .iter()
                .zip(&self.weights)
                .filter(|(landmark, _)| !self.holds_one(&landmark.facts, state));
            let count = false_now.map(|(_, &weight)| f64::from(weight)).sum();
            self.work += all.len() as u64 * LANDMARK_WORK;
            estimates.push(Estimate::new(count));
        }
    }

    fn evaluate_node(&mut self, node: Node<'_>, evaluation: &mut Evaluation) {
        self.accept_along(node.visited, node.id);
        let state = node.state();
        evaluation.estimate = Estimate::new(self.count(node.id, state));
        evaluation.preferred.clear();
        self.prefer(node.id, state, &mut evaluation.preferred);
        self.work += self.landmarks.all().len() as u64 * LANDMARK_WORK;
    }

    fn work(&self) -> u64 {
        self.work
    }
}
