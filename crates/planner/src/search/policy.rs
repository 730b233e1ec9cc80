//! Greedy best first searches that a policy guides: GBFS-H, GBFS-V, GBFLS-H and GBFLS-V (paper, Sec.
//! "Comparison with other learning-based methods" and Alg. "GBFLS"; Rivlin, Hazan and Karpas 2020).
//!
//! The open list holds pairs of a state and an action: what a policy says of a successor depends on
//! the state it comes from. H orders pairs by −π(a|s) V(s) / (1 + entropy of π(.|s)), which one run
//! of the network gives for all successors of s; V by −V(a(s)), one run a successor. The paper's
//! formula for H lacks both minus signs. With a lookahead, a walk goes on from each expanded state;
//! nothing on it is queued, and a goal on it ends the search.
//!
//! Two readings of these searches are here, and they differ in more than taste:
//!
//! | | as the paper writes them | as found in the program |
//! |---|---|---|
//! | key of V | the successor's value | the parent's: all actions of a state tie |
//! | states met again | closed once expanded | expanded again and again |
//! | goals | noticed when generated | noticed when an action is taken |
//! | depth of a walk | 5 h_FF(I) steps | 300 steps from the initial state |
//! | evaluations | every generated successor, on walks too | on walks only the states gone to |
//!
//! In both, `expansions` counts the states gone to, on walks too, which is the count of the program
//! found; `evaluations` is the paper's.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::gbfls::depth_limit;
use super::{Limit, Limits, Outcome, SearchResult, Statistics};
use crate::plan::Plan;
use crate::random::Random;
use crate::registry::{Registry, StateId};
use crate::successors::SuccessorGenerator;
use crate::task::{ActionId, Task};
use crate::watch::{Met, Progress, Stop, Verdict, Watch, ask_for_room};

/// How far from the initial state a walk may go, as found.
const DEPTH_AS_FOUND: usize = 300;

/// A policy π and a value V of states. Both may depend on the state before: a network may be told
/// one step of history.
pub trait Policy {
    /// V(s), and π(.|s) over these applicable actions into `probabilities`. At the initial state
    /// `previous` is that state too.
    fn evaluate(
        &mut self,
        previous: &[u32],
        state: &[u32],
        actions: &[ActionId],
        probabilities: &mut Vec<f64>,
    ) -> f64;

    /// V of states that were reached from `previous`, one behind the other in `states`.
    fn values(&mut self, previous: &[u32], states: &[u32], values: &mut Vec<f64>);
}

/// What orders the open list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyKey {
    /// H: the value, times the probability of the action, over one plus the entropy.
    Adjusted,
    /// V: the value alone.
    Value,
}

/// How a walk chooses its next action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Walk {
    /// Drawn from π, as the program found does.
    #[default]
    Sample,
    /// The pair of least key, as the paper writes.
    Best,
}

impl Walk {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Sample, Self::Best];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sample => "sample",
            Self::Best => "best",
        }
    }

    /// What it is, in a line.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Sample => "Draw each action from the policy",
            Self::Best => "Take the action of least key",
        }
    }
}

/// How a policy guides a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicySearch {
    /// What orders the open list.
    pub key: PolicyKey,
    /// Whether a walk follows each expansion.
    pub lookahead: bool,
    /// How walks go.
    pub walk: Walk,
    /// Whether to do as the program found does, not as the paper writes.
    pub as_found: bool,
    /// The seed of walks.
    pub seed: u64,
}

/// A state that was expanded. With duplicates kept, a state may have several.
#[derive(Clone, Copy)]
struct Node {
    state: StateId,
    /// The root is its own parent.
    parent: u32,
    action: ActionId,
    depth: u32,
}

/// A pair that waits: least key first, then first in, first out.
struct Waiting {
    key: f64,
    arrival: u64,
    node: u32,
    action: ActionId,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = self.key.total_cmp(&other.key);
        by_key.then(self.arrival.cmp(&other.arrival))
    }
}

/// Why a search ends.
enum End {
    /// The plan goes to a node, then along these actions.
    Goal {
        node: u32,
        then: Vec<ActionId>,
    },
    Limit(Limit),
}

/// Searches as `config` says.
pub fn policy_search(
    task: &Task,
    policy: &mut dyn Policy,
    config: PolicySearch,
    limits: Limits,
    watch: &mut dyn Watch,
) -> SearchResult {
    let depth = match (config.lookahead, config.as_found) {
        (false, _) => 0,
        (true, false) => depth_limit(task, watch),
        (true, true) => DEPTH_AS_FOUND,
    };
    let mut space = Space::new(task, policy, config, limits, watch);
    let outcome = match space.run(depth) {
        Ok(()) => Outcome::Unsolvable,
        Err(End::Limit(limit)) => Outcome::LimitReached(limit),
        Err(End::Goal { node, then }) => Outcome::Solved(space.plan(node, &then)),
    };
    space.statistics.stored = space.registry.len() as u64;
    SearchResult {
        outcome,
        statistics: space.statistics,
    }
}

struct Space<'a> {
    task: &'a Task,
    policy: &'a mut dyn Policy,
    config: PolicySearch,
    limits: Limits,
    watch: &'a mut dyn Watch,
    stopped: Option<Stop>,
    generator: SuccessorGenerator,
    registry: Registry,
    /// By state.
    closed: Vec<bool>,
    nodes: Vec<Node>,
    open: BinaryHeap<Reverse<Waiting>>,
    arrivals: u64,
    random: Random,
    statistics: Statistics,
    best: Option<f64>,
    // Of the state that was looked at last.
    actions: Vec<ActionId>,
    successors: Vec<u32>,
    probabilities: Vec<f64>,
    keys: Vec<f64>,
}

const ROOT: u32 = 0;

impl<'a> Space<'a> {
    fn new(
        task: &'a Task,
        policy: &'a mut dyn Policy,
        config: PolicySearch,
        limits: Limits,
        watch: &'a mut dyn Watch,
    ) -> Self {
        let mut registry = Registry::new(task.encoding().words());
        let (state, _) = registry.insert(&task.initial_state());
        let (generator, stopped) = match SuccessorGenerator::watched(task, watch) {
            Ok(generator) => (generator, None),
            Err(stop) => (SuccessorGenerator::without_actions(), Some(stop)),
        };
        let root = Node {
            state,
            parent: ROOT,
            action: ActionId(0),
            depth: 0,
        };
        Self {
            task,
            policy,
            config,
            limits,
            watch,
            stopped,
            generator,
            statistics: Statistics {
                bytes_per_state: registry.bytes_per_state() as u64,
                ..Statistics::default()
            },
            registry,
            closed: vec![true],
            nodes: vec![root],
            open: BinaryHeap::new(),
            arrivals: 0,
            random: Random::new(config.seed),
            best: None,
            actions: Vec::new(),
            successors: Vec::new(),
            probabilities: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Until nothing waits.
    fn run(&mut self, depth: usize) -> Result<(), End> {
        let initial = self.task.initial_state();
        if self.task.is_goal(&initial) {
            self.show(ROOT, Verdict::Goal);
            return Err(self.goal(ROOT, Vec::new()));
        }
        let value = self
            .policy
            .evaluate(&initial, &initial, &[], &mut Vec::new());
        self.statistics.initial_estimate = Some(-value);
        self.show(ROOT, Verdict::Estimate(-value));
        self.count_evaluation().map_err(End::Limit)?;
        self.visit(ROOT, depth)?;
        while let Some(Reverse(pair)) = self.open.pop() {
            let parent = self.nodes[pair.node as usize];
            let mut words = self.registry.state(parent.state).to_vec();
            self.task.apply(pair.action, &mut words);
            let is_goal = self.task.is_goal(&words);
            let (state, is_new) = self.registry.insert(&words);
            if is_new {
                self.closed.push(false);
            }
            // As found, a state that was expanded is expanded again.
            let was_closed = std::mem::replace(&mut self.closed[state.index()], true);
            if was_closed && !self.config.as_found {
                continue;
            }
            let node = self.nodes.len() as u32;
            self.nodes.push(Node {
                state,
                parent: pair.node,
                action: pair.action,
                depth: parent.depth + 1,
            });
            if is_goal {
                self.show(node, Verdict::Goal);
                return Err(self.goal(node, Vec::new()));
            }
            if is_new {
                self.show(node, Verdict::Estimate(pair.key));
            }
            self.visit(node, depth)?;
        }
        Ok(())
    }

    /// Expands a node, queues its pairs, and walks on from it.
    fn visit(&mut self, node: u32, depth: usize) -> Result<(), End> {
        let Node { state, parent, .. } = self.nodes[node as usize];
        let words = self.registry.state(state).to_vec();
        let before = self
            .registry
            .state(self.nodes[parent as usize].state)
            .to_vec();
        self.look(&before, &words, true)
            .map_err(|end| self.ended(node, &[], end))?;
        let mut pairs: Vec<(f64, ActionId)> = self
            .keys
            .iter()
            .copied()
            .zip(self.actions.iter().copied())
            .collect();
        if !self.config.as_found {
            // Those that are closed would be dropped when their turn comes.
            let mut at = 0;
            pairs.retain(|_| {
                let next = &self.successors[at..at + words.len()];
                at += words.len();
                let known = self.registry.find(next);
                !known.is_some_and(|id| self.closed[id.index()])
            });
        }
        for (key, action) in pairs {
            if self.best.is_none_or(|best| key < best) {
                self.best = Some(key);
            }
            self.open.push(Reverse(Waiting {
                key,
                arrival: self.arrivals,
                node,
                action,
            }));
            self.arrivals += 1;
        }
        self.statistics.peak_open = self.statistics.peak_open.max(self.open.len() as u64);
        if self.config.lookahead {
            self.walk(node, before, words, depth)?;
        }
        Ok(())
    }

    /// Goes on from a node that was just looked at.
    fn walk(
        &mut self,
        node: u32,
        mut before: Vec<u32>,
        mut words: Vec<u32>,
        depth: usize,
    ) -> Result<(), End> {
        let mut path = Vec::new();
        // A walk by the best key depends on nothing else: back where it was, it would only repeat.
        let mut seen = Registry::new(2 * words.len());
        let begun = if self.config.as_found {
            self.nodes[node as usize].depth as usize
        } else {
            // The expansion was the first step.
            1
        };
        for _ in begun..depth {
            if self.config.walk == Walk::Best {
                let both: Vec<u32> = before.iter().chain(&words).copied().collect();
                if !seen.insert(&both).1 {
                    break;
                }
            }
            let Some(action) = self.choose() else {
                break;
            };
            path.push(action);
            before.copy_from_slice(&words);
            self.task.apply(action, &mut words);
            if self.config.as_found {
                self.count_evaluation().map_err(End::Limit)?;
                if self.task.is_goal(&words) {
                    return Err(self.goal(node, path));
                }
            }
            self.look(&before, &words, false)
                .map_err(|end| self.ended(node, &path, end))?;
        }
        Ok(())
    }

    /// What `look` found: a goal by one more action, or a limit.
    fn ended(&self, node: u32, path: &[ActionId], end: Result<ActionId, Limit>) -> End {
        match end {
            Ok(action) => self.goal(node, path.iter().copied().chain([action]).collect()),
            Err(limit) => End::Limit(limit),
        }
    }

    /// Lists the actions of a state, with their probabilities and keys; `queued` says whether keys
    /// are for the open list. Stops with the action that leads to a goal, or with a limit.
    fn look(
        &mut self,
        before: &[u32],
        words: &[u32],
        queued: bool,
    ) -> Result<(), Result<ActionId, Limit>> {
        if self
            .limits
            .max_expansions
            .is_some_and(|most| self.statistics.expansions >= most)
        {
            return Err(Err(Limit::Expansions));
        }
        self.poll().map_err(Err)?;
        self.statistics.expansions += 1;
        self.generator.applicable(words, &mut self.actions);
        let growth = self.registry.growth(self.actions.len());
        ask_for_room(growth, self.watch).map_err(|stop| Err(Limit::Stopped(stop)))?;
        if self.config.as_found {
            if queued {
                for _ in 0..self.actions.len() {
                    self.count_evaluation().map_err(Err)?;
                }
            }
        } else {
            self.generate(words)?;
        }
        let best_walk = self.config.lookahead && self.config.walk == Walk::Best;
        self.evaluate(before, words, queued || best_walk);
        Ok(())
    }

    /// Generates all successors of a state.
    fn generate(&mut self, words: &[u32]) -> Result<(), Result<ActionId, Limit>> {
        self.successors.clear();
        for index in 0..self.actions.len() {
            let action = self.actions[index];
            let at = self.successors.len();
            self.successors.extend_from_slice(words);
            self.task.apply(action, &mut self.successors[at..]);
            self.statistics.generated += 1;
            if self.task.is_goal(&self.successors[at..]) {
                return Err(Ok(action));
            }
            self.count_evaluation().map_err(Err)?;
        }
        Ok(())
    }

    /// π and V of a state, and the keys of its pairs if they are wanted.
    fn evaluate(&mut self, before: &[u32], words: &[u32], with_keys: bool) {
        let sampled = self.config.lookahead && self.config.walk == Walk::Sample;
        let by_value = self.config.key == PolicyKey::Value;
        let by_successors = by_value && !self.config.as_found;
        self.keys.clear();
        let mut value = 0.0;
        if sampled || !by_successors {
            let probabilities = &mut self.probabilities;
            value = self
                .policy
                .evaluate(before, words, &self.actions, probabilities);
            assert_eq!(probabilities.len(), self.actions.len(), "one an action");
        }
        if !with_keys {
            return;
        }
        if by_successors {
            self.policy.values(words, &self.successors, &mut self.keys);
            assert_eq!(self.keys.len(), self.actions.len(), "one a successor");
            self.keys.iter_mut().for_each(|value| *value = -*value);
        } else if by_value {
            self.keys.resize(self.actions.len(), -value);
        } else {
            let share = value / (1.0 + entropy(&self.probabilities));
            let keys = self.probabilities.iter().map(|p| -p * share);
            self.keys.extend(keys);
        }
    }

    /// The next action of a walk; `None` where there is none.
    fn choose(&mut self) -> Option<ActionId> {
        let index = match self.config.walk {
            Walk::Sample => sample(&self.probabilities, self.random.unit())?,
            Walk::Best => {
                let mut best: Option<usize> = None;
                for (index, key) in self.keys.iter().enumerate() {
                    if best.is_none_or(|best| *key < self.keys[best]) {
                        best = Some(index);
                    }
                }
                best?
            }
        };
        Some(self.actions[index])
    }

    fn count_evaluation(&mut self) -> Result<(), Limit> {
        let most = self.limits.max_evaluations.unwrap_or(u64::MAX);
        if self.statistics.evaluations >= most {
            return Err(Limit::Evaluations);
        }
        self.statistics.evaluations += 1;
        Ok(())
    }

    fn poll(&mut self) -> Result<(), Limit> {
        let progress = Progress::Search {
            evaluations: self.statistics.evaluations,
            expansions: self.statistics.expansions,
            best: self.best,
        };
        let stopped = self.stopped.or_else(|| self.watch.poll(progress));
        stopped.map_or(Ok(()), |stop| Err(Limit::Stopped(stop)))
    }

    /// Shows a node's state to the watch.
    fn show(&mut self, node: u32, verdict: Verdict) {
        let Node {
            state,
            parent,
            action,
            ..
        } = self.nodes[node as usize];
        let reached = (node != ROOT).then(|| (self.nodes[parent as usize].state, action));
        let met = Met {
            state,
            reached,
            verdict,
        };
        self.watch.met(self.task, met);
    }

    fn goal(&self, node: u32, then: Vec<ActionId>) -> End {
        End::Goal { node, then }
    }

    fn plan(&self, mut node: u32, then: &[ActionId]) -> Plan {
        let mut actions: Vec<ActionId> = then.iter().rev().copied().collect();
        while node != ROOT {
            let Node { parent, action, .. } = self.nodes[node as usize];
            actions.push(action);
            node = parent;
        }
        actions.reverse();
        Plan::from_actions(self.task, &actions)
    }
}

/// −Σ p ln p
fn entropy(probabilities: &[f64]) -> f64 {
    let terms = probabilities.iter().filter(|&&p| p > 0.0);
    -terms.map(|p| p * p.ln()).sum::<f64>()
}

/// The place in a distribution of a number drawn evenly from [0, 1); `None` where there is none.
pub fn sample(probabilities: &[f64], drawn: f64) -> Option<usize> {
    let mut sum = 0.0;
    let mut last = None;
    for (index, &p) in probabilities.iter().enumerate() {
        if p > 0.0 {
            last = Some(index);
        }
        sum += p;
        if drawn < sum {
            return Some(index);
        }
    }
    // Rounding may leave the sum a little below 1.
    last
}
