//! Choosing among snapshots of a run: the one that solves most validation problems.

use std::path::PathBuf;

use homing_learner::{Learned, Model};
use homing_planner::Task;
use homing_planner::search::{Limits, Outcome, gbfs};

use crate::exit::{Exit, Failure};
use crate::output::write_whole;

pub(crate) struct Selection<'a> {
    tasks: &'a [Task],
    limits: Limits,
    threads: usize,
    best: Option<(Score, Model)>,
    /// Where the best one is kept while the run lasts. It is written before the checkpoint that
    /// follows, and taking up one that is ahead of the checkpoint changes nothing: the steps
    /// between are taken again with the same snapshots, of which none is better than it.
    file: PathBuf,
}

/// Problems solved, then evaluations saved.
type Score = (usize, std::cmp::Reverse<u64>);

impl<'a> Selection<'a> {
    pub(crate) fn new(tasks: &'a [Task], evaluations: u64, threads: usize, file: PathBuf) -> Self {
        let limits = Limits {
            max_evaluations: Some(evaluations),
            max_expansions: None,
        };
        Self {
            tasks,
            limits,
            threads,
            best: None,
            file,
        }
    }

    /// Keeps the model if it is better than all before it.
    pub(crate) fn consider(&mut self, model: Model) -> anyhow::Result<()> {
        let mut solved = 0;
        let mut evaluations = 0;
        for task in self.tasks {
            let mut heuristic = Learned::new(&model, task, self.threads)
                .map_err(|error| Failure::because(Exit::BadInput, error.to_string()))?;
            let result = gbfs(task, &mut heuristic, self.limits, &mut ());
            solved += usize::from(matches!(result.outcome, Outcome::Solved(_)));
            evaluations += result.statistics.evaluations;
        }
        let score = (solved, std::cmp::Reverse(evaluations));
        if self.best.as_ref().is_none_or(|(best, _)| score > *best) {
            let bytes = model
                .to_file()
                .map_err(|error| Failure::because(Exit::Bug, error.to_string()))?;
            write_whole(&self.file, &bytes)?;
            self.best = Some((score, model));
        }
        Ok(())
    }

    pub(crate) fn best(self) -> anyhow::Result<Model> {
        let best = self.best.map(|(_, model)| model);
        best.ok_or_else(|| Failure::because(Exit::Bug, "no snapshot was considered"))
    }
}
