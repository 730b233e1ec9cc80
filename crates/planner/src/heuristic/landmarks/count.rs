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
    /// What each landmark counts, and all of them together.
    weights: Vec<u32>,
    total: u64,
    each_counts_one: bool,
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

    /// Lets each landmark count as much as its cheapest achiever costs, in place of 1.
    pub fn with_costs(task: &'a Task, landmarks: Landmarks, costs: Costs) -> Self {
        let mut heuristic = Self::with(task, landmarks);
        for (index, weight) in heuristic.weights.iter_mut().enumerate() {
            let achievers = heuristic.achievers.row(index).iter();
            let least = achievers.map(|&action| costs.of(task, action)).min();
            // What nothing achieves is true at the start, and stays so.
            *weight = least.unwrap_or(1);
        }
        heuristic.total = heuristic.weights.iter().map(|&w| u64::from(w)).sum();
        heuristic.each_counts_one = heuristic.weights.iter().all(|&weight| weight == 1);
        heuristic
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
            weights: vec![1; all.len()],
            total: all.len() as u64,
            each_counts_one: true,
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

    /// What a set of landmarks counts.
    fn weight(&self, set: &[u32]) -> u64 {
        if self.each_counts_one {
            return set.iter().map(|bits| u64::from(bits.count_ones())).sum();
        }
        let weights = members(set.iter().copied()).map(|index| self.weights[index]);
        weights.map(u64::from).sum()
    }

    /// What the landmarks to come, and those needed again, count. The state has been looked at.
    fn count(&mut self, id: StateId) -> u64 {
        let accepted = &self.accepted[self.place(id.index())];
        let reached = self.weight(accepted);
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
            .map(|index| u64::from(self.weights[index]))
            .sum::<u64>();
        self.work += (looked_at * self.words) as u64 * WORD_WORK;
        self.total - reached + needed_again
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
            let count = self.total - self.weight(&self.holding);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heuristic::landmarks::graph::tests::DOOR;
    use crate::test_tasks::{action, action_name, task};

    /// The estimates along a path, the initial state's first, and the names of the preferred
    /// actions of each state.
    fn along(task: &Task, path: &[&str]) -> (Vec<f64>, Vec<Vec<String>>) {
        let mut heuristic = LandmarkCount::new(task, &mut ()).expect("nothing stops it");
        let mut visited = Visited::new(task);
        let (mut estimates, mut preferred) = (Vec::new(), Vec::new());
        let mut id = Visited::INITIAL;
        for step in 0..=path.len() {
            let mut evaluation = Evaluation::default();
            let node = Node {
                visited: &visited,
                id,
            };
            heuristic.evaluate_node(node, &mut evaluation);
            estimates.push(evaluation.estimate.finite().expect("never a dead end"));
            let names = evaluation.preferred.iter();
            preferred.push(names.map(|&action| action_name(task, action)).collect());
            if let Some(name) = path.get(step) {
                let action = action(task, name);
                let mut state = visited.state(id).to_vec();
                task.apply(action, &mut state);
                id = visited.insert(&state, id, action).0;
            }
        }
        (estimates, preferred)
    }

    #[test]
    fn landmarks_are_counted_along_the_path_and_the_next_one_is_preferred() {
        let task = task(DOOR[0], DOOR[1]);
        let (estimates, preferred) = along(&task, &["walk", "take", "unlock", "enter"]);
        assert_eq!(estimates, [4.0, 3.0, 2.0, 1.0, 0.0]);
        assert_eq!(preferred[0], ["walk"]);
        assert_eq!(preferred[1], ["take"]);
        assert_eq!(preferred[2], ["unlock"]);
        assert_eq!(preferred[3], ["enter"]);
        assert!(preferred[4].is_empty());
    }

    #[test]
    fn a_landmark_that_is_needed_again_counts_again() {
        let task = task(DOOR[0], DOOR[1]);
        // Back from the door with the key: to be at the door is needed again, and the start is
        // needed no more.
        let (estimates, preferred) = along(&task, &["walk", "take", "return"]);
        assert_eq!(estimates, [4.0, 3.0, 2.0, 3.0]);
        // What was accepted is not preferred again.
        assert!(preferred[3].is_empty());
    }

    #[test]
    fn a_goal_that_is_lost_counts_again() {
        let task = task(
            DOOR[0],
            "(:init (at-start)) (:goal (and (has-key) (at-start)))",
        );
        let (estimates, _) = along(&task, &["walk", "take", "return"]);
        assert_eq!(estimates, [2.0, 2.0, 1.0, 0.0]);
    }

    #[test]
    fn without_a_path_what_is_true_is_all_that_is_known() {
        let task = task(DOOR[0], DOOR[1]);
        let mut heuristic = LandmarkCount::new(&task, &mut ()).expect("nothing stops it");
        let mut estimates = Vec::new();
        heuristic.evaluate(States::one(&task.initial_state()), &mut estimates);
        let at_door = crate::test_tasks::state_after(&task, &["walk", "take"]);
        heuristic.evaluate(States::one(&at_door), &mut estimates);
        // Of five, the start at first; the door and the key then.
        assert_eq!(estimates, [Estimate::new(4.0), Estimate::new(3.0)]);
        assert!(heuristic.work() > 0);
    }

    #[test]
    fn with_costs_a_landmark_counts_what_its_cheapest_achiever_costs() {
        let task = task(
            "(:predicates (a) (b)) (:functions (total-cost))
             (:action dear :effect (and (a) (increase (total-cost) 7)))
             (:action cheap :effect (and (a) (increase (total-cost) 3)))
             (:action last :precondition (a) :effect (and (b) (increase (total-cost) 2)))",
            "(:init (= (total-cost) 0)) (:goal (b)) (:metric minimize (total-cost))",
        );
        let landmarks = Landmarks::find(&task, &mut ()).expect("nothing stops it");
        let mut heuristic = LandmarkCount::with_costs(&task, landmarks, Costs::Task);
        let mut estimates = Vec::new();
        heuristic.evaluate(States::one(&task.initial_state()), &mut estimates);
        assert_eq!(estimates, [Estimate::new(5.0)]);
    }
}
