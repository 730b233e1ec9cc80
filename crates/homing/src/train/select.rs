//! Choosing among snapshots of a run: the one that solves most validation problems.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use homing_learner::{Compute, Learned, Model};
use homing_planner::Task;
use homing_planner::search::{Limits, Outcome, gbfs};

use crate::error::Error;
use crate::files::write_whole;

pub(super) struct Selection<'a> {
    tasks: &'a [Arc<Task>],
    limits: Limits,
    compute: Compute,
    best: Option<Scored>,
    /// Where the best one is kept while the run lasts. It is written before the checkpoint that
    /// follows, and taking up one that is ahead of the checkpoint changes nothing: the steps
    /// between are taken again with the same snapshots, of which none is better than it.
    file: PathBuf,
}

/// A snapshot and how good it is.
struct Scored {
    score: Score,
    model: Model,
}

/// The larger the better: problems solved first, then evaluations saved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Score {
    solved: usize,
    evaluations: Reverse<u64>,
}

impl<'a> Selection<'a> {
    pub(super) fn new(
        tasks: &'a [Arc<Task>],
        max_evaluations: u64,
        compute: Compute,
        file: PathBuf,
    ) -> Self {
        let limits = Limits {
            max_evaluations: Some(max_evaluations),
            max_expansions: None,
        };
        Self {
            tasks,
            limits,
            compute,
            best: None,
            file,
        }
    }

    /// Keeps the model if it is better than all before it.
    pub(super) fn consider(&mut self, model: Model) -> Result<(), Error> {
        let score = self.score(&model)?;
        if self.best.as_ref().is_none_or(|best| score > best.score) {
            write_whole(&self.file, &model.to_file().map_err(Error::bug)?)?;
            self.best = Some(Scored { score, model });
        }
        Ok(())
    }

    fn score(&self, model: &Model) -> Result<Score, Error> {
        let mut solved = 0;
        let mut evaluations = 0;
        for task in self.tasks {
            let mut heuristic = Learned::new(model, task, self.compute)
                .map_err(|error| Error::Model { path: None, error })?;
            let result = gbfs(task, &mut heuristic, self.limits, &mut ());
            solved += usize::from(matches!(result.outcome, Outcome::Solved(_)));
            evaluations += result.statistics.evaluations;
        }
        Ok(Score {
            solved,
            evaluations: Reverse(evaluations),
        })
    }

    pub(super) fn best(self) -> Result<Model, Error> {
        let best = self.best.map(|best| best.model);
        best.ok_or_else(|| Error::bug("no snapshot was considered"))
    }
}
