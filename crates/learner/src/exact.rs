//! The whole state space of a small task, with the true distance of every state to the goal.
//!
//! Where a space can be walked through there is no need to guess: a search backward from all goals
//! labels each state with what a perfect planner would know, dead ends included. Siblings that are
//! equally good get equal labels, which plans as data cannot give.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt;

use homing_nlm::SplitMix64;
use homing_planner::{
    ActionId, Costs, Progress, Registry, StateId, Stop, SuccessorGenerator, Task, Watch,
};

/// How far a state is from the nearest goal. What is cheaper is less; of equally cheap ways the
/// shorter one counts, so that steps that cost nothing still lead somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distance {
    /// The cost of a cheapest plan.
    pub cost: u64,
    /// The length of a shortest one among these.
    pub steps: u32,
}

impl Distance {
    pub(crate) const GOAL: Self = Self { cost: 0, steps: 0 };

    fn one_more(self, cost: u32) -> Self {
        Self {
            cost: self.cost + u64::from(cost),
            steps: self.steps + 1,
        }
    }
}

/// When to give a space up as too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkLimits {
    /// States at the most.
    pub states: usize,
    /// Transitions at the most: a few states with very many actions take memory as well.
    pub transitions: usize,
}

impl WalkLimits {
    /// So many states, and 64 transitions a state on average.
    pub fn states(states: usize) -> Self {
        Self {
            states,
            transitions: states.saturating_mul(64),
        }
    }
}

/// Why a space was not walked through to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkEnd {
    /// There is more of it than the limits allow.
    TooLarge {
        /// States met when it was given up.
        states: usize,
    },
    /// The outside ended it.
    Stopped(Stop),
}

impl fmt::Display for WalkEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { states } => {
                write!(f, "the state space is too large ({states} states and more)")
            }
            Self::Stopped(_) => write!(f, "the walk through the state space was stopped"),
        }
    }
}

impl std::error::Error for WalkEnd {}

/// States walked through between two looks at the watch.
const POLL_EVERY: usize = 256;

/// The states that can be reached in a task, their successors, and their distances to the goal.
pub struct ExactSpace {
    registry: Registry,
    /// The successors of state `s` are `successors[first[s]..first[s + 1]]`, in the order of
    /// actions.
    first: Vec<u32>,
    successors: Vec<u32>,
    /// By transition; empty where all cost 1.
    costs: Vec<u32>,
    distances: Vec<Option<Distance>>,
}

impl ExactSpace {
    /// Walks through all that can be reached from the initial state, then back from the goals.
    ///
    /// # Errors
    ///
    /// If there is too much, or the watch says stop.
    pub fn walk(
        task: &Task,
        costs: Costs,
        limits: WalkLimits,
        watch: &mut dyn Watch,
    ) -> Result<Self, WalkEnd> {
        let unit = costs == Costs::Unit || task.is_unit_cost();
        let generator = SuccessorGenerator::new(task);
        let mut registry = Registry::new(task.encoding().words());
        registry.insert(&task.initial_state());
        let mut space = Self {
            registry,
            first: vec![0],
            successors: Vec::new(),
            costs: Vec::new(),
            distances: Vec::new(),
        };
        let (mut actions, mut words): (Vec<ActionId>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < space.registry.len() {
            if at.is_multiple_of(POLL_EVERY) {
                let progress = Progress::Search {
                    evaluations: 0,
                    expansions: at as u64,
                    best: None,
                };
                if let Some(stop) = watch.poll(progress) {
                    return Err(WalkEnd::Stopped(stop));
                }
            }
            let id = StateId::from_index(at);
            generator.applicable(space.registry.state(id), &mut actions);
            for &action in &actions {
                words.clear();
                words.extend_from_slice(space.registry.state(id));
                task.apply(action, &mut words);
                let (to, _) = space.registry.insert(&words);
                space.successors.push(to.0);
                if !unit {
                    space.costs.push(costs.of(task, action));
                }
            }
            let states = space.registry.len();
            if states > limits.states || space.successors.len() > limits.transitions {
                return Err(WalkEnd::TooLarge { states });
            }
            space.first.push(space.successors.len() as u32);
            at += 1;
        }
        space.measure(task);
        Ok(space)
    }

    /// Searches backward from all goals.
    fn measure(&mut self, task: &Task) {
        let states = self.registry.len();
        self.distances = vec![None; states];
        let goals: Vec<u32> = (0..states as u32)
            .filter(|&state| task.is_goal(self.registry.state(StateId(state))))
            .collect();
        for &goal in &goals {
            self.distances[goal as usize] = Some(Distance::GOAL);
        }
        let backward = Backward::new(states, &self.first, &self.successors);
        if self.costs.is_empty() {
            let mut queue = VecDeque::from(goals);
            while let Some(state) = queue.pop_front() {
                let Some(distance) = self.distances[state as usize] else {
                    continue;
                };
                for &(from, _) in backward.of(state) {
                    let known = &mut self.distances[from as usize];
                    if known.is_none() {
                        *known = Some(distance.one_more(1));
                        queue.push_back(from);
                    }
                }
            }
        } else {
            let mut queue: BinaryHeap<Reverse<(Distance, u32)>> = goals
                .into_iter()
                .map(|goal| Reverse((Distance::GOAL, goal)))
                .collect();
            while let Some(Reverse((distance, state))) = queue.pop() {
                if self.distances[state as usize] != Some(distance) {
                    continue;
                }
                for &(from, transition) in backward.of(state) {
                    let way = distance.one_more(self.costs[transition as usize]);
                    let known = &mut self.distances[from as usize];
                    if known.is_none_or(|known| way < known) {
                        *known = Some(way);
                        queue.push(Reverse((way, from)));
                    }
                }
            }
        }
    }

    /// The number of states; 0 is the initial one.
    pub fn len(&self) -> usize {
        self.registry.len()
    }

    /// Whether there is none; there always is one.
    pub fn is_empty(&self) -> bool {
        self.registry.is_empty()
    }

    /// The number of transitions.
    pub fn transitions(&self) -> usize {
        self.successors.len()
    }

    /// A state's words.
    pub fn state(&self, state: u32) -> &[u32] {
        self.registry.state(StateId(state))
    }

    /// The successors of a state in the order of actions; a state may stand there twice.
    pub fn successors(&self, state: u32) -> &[u32] {
        let (from, to) = (self.first[state as usize], self.first[state as usize + 1]);
        &self.successors[from as usize..to as usize]
    }

    /// How far a state is from the goal; `None` for a dead end.
    pub fn distance(&self, state: u32) -> Option<Distance> {
        self.distances[state as usize]
    }

    /// Whether the task has a plan.
    pub fn is_solvable(&self) -> bool {
        self.distances[0].is_some()
    }

    /// The number of dead ends.
    pub fn dead_ends(&self) -> usize {
        self.distances.iter().filter(|d| d.is_none()).count()
    }

    /// Samples states with a way to the goal that are no goals, each with its distinct children:
    /// those along an optimal plan from the start, ties by chance, and others by chance. About
    /// `count` of them; none where the start is a goal or a dead end and nothing else is solvable.
    pub fn sample(&self, count: usize, random: &mut SplitMix64) -> Vec<Sample> {
        let mut chosen = self.optimal_path(random);
        if chosen.len() > count {
            shuffle(&mut chosen, random);
            chosen.truncate(count);
        }
        let others = count.saturating_sub(chosen.len()).max(count / 2);
        let alive: Vec<u32> = (0..self.len() as u32)
            .filter(|&state| self.distance(state).is_some_and(|d| d != Distance::GOAL))
            .collect();
        if !alive.is_empty() {
            chosen.extend((0..others).map(|_| alive[random.below(alive.len())]));
        }
        let mut seen = vec![false; self.len()];
        chosen
            .into_iter()
            .filter(|&state| !std::mem::replace(&mut seen[state as usize], true))
            .map(|state| self.sample_of(state))
            .collect()
    }

    /// The states of an optimal plan from the start, the goal left out.
    fn optimal_path(&self, random: &mut SplitMix64) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = 0u32;
        while let Some(distance) = self.distance(at).filter(|&d| d != Distance::GOAL) {
            path.push(at);
            let first = self.first[at as usize] as usize;
            let best: Vec<u32> = self
                .successors(at)
                .iter()
                .enumerate()
                .filter(|&(index, &next)| {
                    let cost = self.costs.get(first + index).copied().unwrap_or(1);
                    self.distance(next).map(|d| d.one_more(cost)) == Some(distance)
                })
                .map(|(_, &next)| next)
                .collect();
            at = best[random.below(best.len())];
        }
        path
    }

    fn sample_of(&self, state: u32) -> Sample {
        let mut children: Vec<u32> = self.successors(state).to_vec();
        children.sort_unstable();
        children.dedup();
        children.retain(|&child| child != state);
        let mut sample = Sample {
            words: Vec::new(),
            distances: Vec::new(),
        };
        for id in std::iter::once(state).chain(children) {
            sample.words.extend_from_slice(self.state(id));
            sample.distances.push(self.distance(id));
        }
        sample
    }
}

/// A state and its distinct children, with their distances to the goal: what there is to learn at
/// one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Packed states one behind the other: the parent, then its children.
    words: Vec<u32>,
    /// Of each; `None` for a dead end.
    distances: Vec<Option<Distance>>,
}

impl Sample {
    /// The number of states: the parent and its children.
    pub fn len(&self) -> usize {
        self.distances.len()
    }

    /// Whether there is none; there always is the parent.
    pub fn is_empty(&self) -> bool {
        self.distances.is_empty()
    }

    /// A state's words; 0 is the parent.
    pub fn state(&self, index: usize) -> &[u32] {
        let stride = self.words.len() / self.distances.len();
        &self.words[index * stride..(index + 1) * stride]
    }

    /// A state's distance to the goal, `None` for a dead end; 0 is the parent.
    pub fn distance(&self, index: usize) -> Option<Distance> {
        self.distances[index]
    }

    /// The least distance among the children.
    pub fn best_child(&self) -> Option<Distance> {
        self.distances[1..].iter().flatten().min().copied()
    }
}

/// Puts items into a random order.
pub(crate) fn shuffle<T>(items: &mut [T], random: &mut SplitMix64) {
    for index in (1..items.len()).rev() {
        items.swap(index, random.below(index + 1));
    }
}

/// Transitions by the state they lead to: (from, index of the transition).
struct Backward {
    first: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

impl Backward {
    fn new(states: usize, first: &[u32], successors: &[u32]) -> Self {
        let mut start = vec![0u32; states + 1];
        for &to in successors {
            start[to as usize + 1] += 1;
        }
        for state in 0..states {
            start[state + 1] += start[state];
        }
        let mut next = start.clone();
        let mut edges = vec![(0, 0); successors.len()];
        for from in 0..states {
            for transition in first[from]..first[from + 1] {
                let place = &mut next[successors[transition as usize] as usize];
                edges[*place as usize] = (from as u32, transition);
                *place += 1;
            }
        }
        Self {
            first: start,
            edges,
        }
    }

    fn of(&self, state: u32) -> &[(u32, u32)] {
        let (from, to) = (self.first[state as usize], self.first[state as usize + 1]);
        &self.edges[from as usize..to as usize]
    }
}
