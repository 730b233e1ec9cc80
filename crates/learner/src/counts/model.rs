//! Weights of colours, and the scores that they give.

use homing_planner::Task;
use homing_planner::heuristic::HeuristicKind;
use homing_planner::search::SuccessorScorer;

use super::difference::{DifferenceScorer, MAX_ROUNDS};
use super::graph::TaskGraph;
use super::making::Making;
use super::refine::FeatureCounter;
use super::relations::GraphSpec;
use super::scratch::ScratchScorer;
use super::table::{HEADS, WeightTable, Weights};

/// A weight of 1 is stored as this number.
pub const WEIGHT_SCALE: i32 = 4096;

/// What was learnt about the colours of a domain: integer weights, one or two for each.
#[derive(Clone, Debug)]
pub struct CountsFunction {
    spec: GraphSpec,
    heads: usize,
    /// The head that a search with one queue goes by.
    main_head: usize,
    /// Colours in ascending order, each with its weights; those that weigh nothing were seen too.
    weights: Vec<(u64, Weights)>,
    /// Classical heuristics that are features too, each with its weights.
    heuristics: Vec<(HeuristicKind, Weights)>,
    /// How colours were made, each after what it was made of; empty where nobody has kept that.
    makings: Vec<Making>,
    table: WeightTable,
}

impl PartialEq for CountsFunction {
    fn eq(&self, other: &Self) -> bool {
        self.spec == other.spec
            && self.heads == other.heads
            && self.main_head == other.main_head
            && self.weights == other.weights
            && self.heuristics == other.heuristics
            && self.makings == other.makings
    }
}

impl CountsFunction {
    /// From weights by colour. With one head the second weight of each must be 0.
    ///
    /// # Panics
    ///
    /// If there are no heads or more than two, or a colour comes twice.
    pub fn new(spec: GraphSpec, heads: usize, mut weights: Vec<(u64, [i32; 2])>) -> Self {
        assert!((1..=HEADS).contains(&heads), "one or two heads");
        weights.sort_unstable_by_key(|&(colour, _)| colour);
        assert!(
            weights.windows(2).all(|pair| pair[0].0 < pair[1].0),
            "a colour comes twice"
        );
        let table = WeightTable::new(weights.iter().copied());
        Self {
            spec,
            heads,
            main_head: 0,
            weights,
            heuristics: Vec::new(),
            makings: Vec::new(),
            table,
        }
    }

    /// The same with classical heuristics as further features.
    #[must_use]
    pub fn with_heuristics(mut self, heuristics: Vec<(HeuristicKind, [i32; 2])>) -> Self {
        self.heuristics = heuristics;
        self
    }

    /// Classical heuristics that are features too, each with its weights by head.
    pub fn heuristics(&self) -> &[(HeuristicKind, [i32; 2])] {
        &self.heuristics
    }

    /// The same with another head for searches with one queue.
    ///
    /// # Panics
    ///
    /// If there is no such head.
    #[must_use]
    pub fn with_main_head(mut self, head: usize) -> Self {
        assert!(head < self.heads, "no such head");
        self.main_head = head;
        self
    }

    /// The head that a search with one queue goes by.
    pub fn main_head(&self) -> usize {
        self.main_head
    }

    /// The same with how its colours were made.
    pub(crate) fn with_makings(mut self, makings: Vec<Making>) -> Self {
        self.makings = makings;
        self
    }

    pub(crate) fn makings(&self) -> &[Making] {
        &self.makings
    }

    /// How graphs are drawn.
    pub fn spec(&self) -> &GraphSpec {
        &self.spec
    }

    /// How many orders it offers.
    pub fn heads(&self) -> usize {
        self.heads
    }

    /// Colours in ascending order, each with its weights by head times [`WEIGHT_SCALE`].
    pub fn weights(&self) -> &[(u64, [i32; 2])] {
        &self.weights
    }

    /// The weights of a colour by head; 0 if it was never seen.
    pub fn weight(&self, colour: u64) -> [i32; 2] {
        self.weights
            .binary_search_by_key(&colour, |&(colour, _)| colour)
            .map_or([0; HEADS], |at| self.weights[at].1)
    }

    /// Whether a colour was seen in training, whatever it weighs.
    pub fn has_seen(&self, colour: u64) -> bool {
        self.weights
            .binary_search_by_key(&colour, |&(colour, _)| colour)
            .is_ok()
    }

    /// One head alone.
    ///
    /// # Panics
    ///
    /// If there is no such head.
    #[must_use]
    pub fn one_head(&self, head: usize) -> Self {
        assert!(head < self.heads, "no such head");
        let alone = |weights: Weights| [weights[head], 0];
        let mut spec = self.spec.clone();
        if head == 0 && self.heads > 1 {
            // The first of two has no weights for these.
            spec.deep.clear();
        }
        let weights = self.weights.iter().map(|&(c, w)| (c, alone(w))).collect();
        let heuristics = self
            .heuristics
            .iter()
            .map(|&(k, w)| (k, alone(w)))
            .collect();
        Self::new(spec, 1, weights)
            .with_heuristics(heuristics)
            .with_makings(self.makings.clone())
    }

    /// Scores the states of a task: by difference where that is possible.
    pub fn scorer<'t>(&self, task: &'t Task) -> Box<dyn SuccessorScorer + Send + 't> {
        if self.spec.rounds <= MAX_ROUNDS {
            let graph = TaskGraph::new(task, &self.spec);
            let table = self.table.clone();
            Box::new(DifferenceScorer::new(task, &graph, table, self.heads))
        } else {
            self.scratch_scorer(task)
        }
    }

    /// Scores the states of a task, each from scratch: the same numbers, more slowly.
    pub fn scratch_scorer<'t>(&self, task: &'t Task) -> Box<dyn SuccessorScorer + Send + 't> {
        let counter = FeatureCounter::new(task, &self.spec);
        let table = self.table.clone();
        Box::new(ScratchScorer::new(task, counter, table, self.heads))
    }
}
