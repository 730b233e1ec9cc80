//! Choosing among snapshots of a run: the one that solves most validation problems.

use homing_learner::{Learned, Model};
use homing_planner::Task;
use homing_planner::search::{Limits, Outcome, gbfs};

use crate::exit::{Exit, Failure};

pub(crate) struct Selection<'a> {
    tasks: &'a [Task],
    limits: Limits,
    threads: usize,
    best: Option<(Score, Model)>,
}

/// Problems solved, then evaluations saved.
type Score = (usize, std::cmp::Reverse<u64>);

impl<'a> Selection<'a> {
    pub(crate) fn new(tasks: &'a [Task], evaluations: u64, threads: usize) -> Self {
        let limits = Limits {
            max_evaluations: Some(evaluations),
            max_expansions: None,
        };
        Self {
            tasks,
            limits,
            threads,
            best: None,
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
            self.best = Some((score, model));
        }
        Ok(())
    }

    pub(crate) fn best(self) -> anyhow::Result<Model> {
        let best = self.best.map(|(_, model)| model);
        best.ok_or_else(|| Failure::because(Exit::Bug, "no snapshot was considered"))
    }
}
