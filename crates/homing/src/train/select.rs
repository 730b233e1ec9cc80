//! Choosing among snapshots of a run: the one that solves most validation problems.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use homing_learner::{Compute, Learned, Model, ValueFunction};
use homing_planner::Task;
use homing_planner::search::{Limits, Outcome, gbfs};

use crate::error::Error;
use crate::files::write_whole;

/// How good a snapshot is.
pub(super) trait Judge<M> {
    fn score(&self, model: &M) -> Result<Score, Error>;
}

/// The larger the better: problems solved first, then what it took for all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Score {
    pub(super) solved: usize,
    pub(super) spent: Reverse<u64>,
}

pub(super) struct Selection<M, J> {
    judge: J,
    best: Option<Scored<M>>,
    /// Where the best one is kept while the run lasts. It is written before the checkpoint that
    /// follows, and taking up one that is ahead of the checkpoint changes nothing: the steps
    /// between are taken again with the same snapshots, of which none is better than it.
    file: PathBuf,
}

/// A snapshot and how good it is.
struct Scored<M> {
    score: Score,
    model: M,
}

impl<M: ValueFunction, J: Judge<M>> Selection<M, J> {
    pub(super) fn new(judge: J, file: PathBuf) -> Self {
        Self {
            judge,
            best: None,
            file,
        }
    }

    /// Keeps the model if it is better than all before it.
    pub(super) fn consider(&mut self, model: M) -> Result<(), Error> {
        let score = self.judge.score(&model)?;
        if self.best.as_ref().is_none_or(|best| score > best.score) {
            write_whole(&self.file, &model.to_file().map_err(Error::bug)?)?;
            self.best = Some(Scored { score, model });
        }
        Ok(())
    }

    pub(super) fn best(self) -> Result<M, Error> {
        let best = self.best.map(|best| best.model);
        best.ok_or_else(|| Error::bug("no snapshot was considered"))
    }
}

/// The paper's network is judged by the searches it guides.
pub(super) struct BySearch<'a> {
    pub(super) tasks: &'a [Arc<Task>],
    pub(super) max_evaluations: u64,
    pub(super) compute: Compute,
}

impl Judge<Model> for BySearch<'_> {
    fn score(&self, model: &Model) -> Result<Score, Error> {
        let limits = Limits {
            max_evaluations: Some(self.max_evaluations),
            max_expansions: None,
        };
        let mut solved = 0;
        let mut evaluations = 0;
        for task in self.tasks {
            let mut heuristic = Learned::new(model, task, self.compute)
                .map_err(|error| Error::Model { path: None, error })?;
            let result = gbfs(task, &mut heuristic, limits, &mut ());
            solved += usize::from(matches!(result.outcome, Outcome::Solved(_)));
            evaluations += result.statistics.evaluations;
        }
        Ok(Score {
            solved,
            spent: Reverse(evaluations),
        })
    }
}
