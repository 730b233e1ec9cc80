//! Scores from scratch: for any number of rounds, and to compare with.

use homing_planner::search::{ChildScore, SCORER_HEADS, SuccessorScorer};
use homing_planner::{ActionId, Task};

use super::refine::FeatureCounter;
use super::table::{HEADS, WeightTable};

/// Rough nanoseconds of a colour, by which work is counted.
const COLOUR: u64 = 15;

/// Colours every state anew.
pub(crate) struct ScratchScorer<'t> {
    task: &'t Task,
    counter: FeatureCounter<'t>,
    table: WeightTable,
    heads: usize,
    parent: Vec<u32>,
    child: Vec<u32>,
    scores: [i64; SCORER_HEADS],
    work: u64,
}

impl<'t> ScratchScorer<'t> {
    pub(crate) fn new(
        task: &'t Task,
        counter: FeatureCounter<'t>,
        table: WeightTable,
        heads: usize,
    ) -> Self {
        Self {
            task,
            counter,
            table,
            heads,
            parent: Vec::new(),
            child: Vec::new(),
            scores: [0; SCORER_HEADS],
            work: 0,
        }
    }

    fn score(&mut self, state: &[u32]) -> [i64; SCORER_HEADS] {
        self.counter.colour(state);
        let mut scores = [0; HEADS];
        self.counter.for_each(|colour| {
            self.work += COLOUR;
            for (score, weight) in scores.iter_mut().zip(self.table.get(colour)) {
                *score += i64::from(weight);
            }
        });
        if self.heads == 1 {
            scores[1] = scores[0];
        }
        scores
    }
}

impl SuccessorScorer for ScratchScorer<'_> {
    fn heads(&self) -> usize {
        self.heads
    }

    fn enter(&mut self, state: &[u32]) {
        self.parent.clear();
        self.parent.extend_from_slice(state);
        self.scores = self.score(state);
    }

    fn scores(&self) -> [i64; SCORER_HEADS] {
        self.scores
    }

    fn child(&mut self, action: ActionId) -> ChildScore {
        let mut child = std::mem::take(&mut self.child);
        child.clear();
        child.extend_from_slice(&self.parent);
        self.task.apply(action, &mut child);
        let scores = self.score(&child);
        let open_goals = self.task.open_goals(&child);
        self.child = child;
        ChildScore { scores, open_goals }
    }

    fn work(&self) -> u64 {
        self.work
    }
}
