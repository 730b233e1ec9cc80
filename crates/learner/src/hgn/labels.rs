//! Labels: the states of an optimal plan, each with the steps that remain.

use std::sync::Arc;

use homing_planner::search::{Limit, Limits, Outcome, SearchOptions};
use homing_planner::{ActionId, Costs, HeuristicKind, Plan, SearchKind, Stop, Task, Watch};
use serde::{Deserialize, Serialize};

use crate::teamwork::for_all;

/// What became of the training problems.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LabelReport {
    /// Problems with an optimal plan.
    pub solved: usize,
    /// Problems whose search reached its limit.
    pub too_large: usize,
    /// Problems without a plan.
    pub unsolvable: usize,
    /// States with a label.
    pub samples: usize,
    /// The greatest label.
    pub longest: usize,
}

/// A state of a problem, and how far it is from a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Labelled {
    /// Which problem.
    pub(crate) problem: usize,
    pub(crate) state: Vec<u32>,
    /// Steps of an optimal plan.
    pub(crate) steps: usize,
}

/// Solves every problem by A* with h_max, every action at cost 1. The number of threads changes
/// nothing.
pub(crate) fn label(
    tasks: &[Arc<Task>],
    max_evaluations: u64,
    threads: usize,
    watch: &mut dyn Watch,
) -> Result<(Vec<Labelled>, LabelReport), Stop> {
    let numbered: Vec<(usize, &Task)> = tasks.iter().map(|task| &**task).enumerate().collect();
    let found = for_all(&numbered, threads, watch, |&(problem, task), watch| {
        let options = SearchOptions {
            costs: Costs::Unit,
            limits: Limits {
                max_evaluations: Some(max_evaluations),
                max_expansions: None,
            },
            ..SearchOptions::default()
        };
        let mut heuristic = HeuristicKind::Max.build(task, Costs::Unit);
        let result = SearchKind::Astar.run(task, &mut *heuristic, &options, watch);
        match result.outcome {
            Outcome::Solved(plan) => Ok(Some(Some(states_of(problem, task, &plan)))),
            Outcome::Unsolvable => Ok(Some(None)),
            Outcome::LimitReached(Limit::Stopped(stop)) => Err(stop),
            Outcome::LimitReached(_) => Ok(None),
        }
    })?;
    let mut report = LabelReport::default();
    let mut samples = Vec::new();
    for outcome in found {
        match outcome {
            Some(Some(states)) => {
                report.solved += 1;
                samples.extend(states);
            }
            Some(None) => report.unsolvable += 1,
            None => report.too_large += 1,
        }
    }
    report.samples = samples.len();
    report.longest = samples.iter().map(|sample| sample.steps).max().unwrap_or(0);
    Ok((samples, report))
}

/// Every state along a plan, the goal included.
fn states_of(problem: usize, task: &Task, plan: &Plan) -> Vec<Labelled> {
    let mut state = task.initial_state();
    let mut samples = Vec::with_capacity(plan.steps.len() + 1);
    for (at, step) in plan.steps.iter().enumerate() {
        samples.push(Labelled {
            problem,
            state: state.clone(),
            steps: plan.steps.len() - at,
        });
        let text = step.to_string();
        let is_it = |action: &ActionId| task.action_name(*action).to_string() == text;
        let action = task
            .actions()
            .find(is_it)
            .expect("a plan is made of the task's actions");
        task.apply(action, &mut state);
    }
    debug_assert!(task.is_goal(&state), "the plan leads to a goal");
    samples.push(Labelled {
        problem,
        state,
        steps: 0,
    });
    samples
}
