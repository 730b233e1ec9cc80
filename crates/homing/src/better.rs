//! From the plan that a search has found to a better one: made shorter at little cost, or, where
//! that is asked for, looked for as long as there is time.

use homing_planner::improve::improve;
use homing_planner::search::{Outcome, Statistics};
use homing_planner::{
    ActionId, AnytimeConfig, AnytimeEnd, Costs, Plan, Task, Watch, anytime as look_for_better,
};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::lazy::LazyResult;
use crate::observe::Observer;
use crate::solve::SearchConfig;
use crate::underway::Underway;

/// Making a plan shorter may cost this part of the work of the search that found it.
const PART: u64 = 10;

/// So much work is too little to be noticed, in rough nanoseconds.
const UNNOTICED: u64 = 200_000;

/// Rough nanoseconds of an expansion and of a successor, where the search does not count its work.
const EXPANSION_WORK: u64 = 500;
const SUCCESSOR_WORK: u64 = 100;

/// A plan that was found on the way to the best one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanFound {
    /// Its cost.
    pub cost: u64,
    /// Its actions.
    pub length: usize,
    /// Wall-clock seconds from the beginning of the request.
    pub seconds: f64,
    /// CPU seconds from there.
    pub cpu_seconds: f64,
    /// The text of a plan file; no part of the JSON object.
    #[serde(skip)]
    pub text: String,
}

/// What became of a plan.
#[derive(Default)]
pub(crate) struct Better {
    /// Every plan, the best one last; for anytime only.
    pub(crate) plans: Option<Vec<PlanFound>>,
    /// Whether the best plan is known to be optimal; for anytime only.
    pub(crate) optimal: Option<bool>,
}

/// The work of a search that counts only what it does.
pub(crate) fn work_of(statistics: &Statistics) -> u64 {
    statistics.expansions * EXPANSION_WORK + statistics.generated * SUCCESSOR_WORK
}

/// Puts a better plan in the place of the one that was found, as far as that was asked for.
pub(crate) fn better(
    task: &Task,
    found: &mut LazyResult,
    config: &SearchConfig,
    underway: &Underway,
    watch: &mut dyn Watch,
    observer: &dyn Observer,
) -> Result<Better, Error> {
    let Outcome::Solved(plan) = &found.result.outcome else {
        return Ok(Better::default());
    };
    let costs = if config.unit_cost {
        Costs::Unit
    } else {
        Costs::Task
    };
    // A plan names actions of the task: a search found it there.
    let Some(first) = plan.to_actions(task) else {
        return Ok(Better::default());
    };
    if config.anytime {
        let (actions, better) = anytime(task, &first, costs, config, underway, watch, observer)?;
        found.result.outcome = Outcome::Solved(Plan::from_actions(task, &actions));
        return Ok(better);
    }
    if config.improve {
        let work = (found.work / PART).max(UNNOTICED);
        let improved = improve(task, &first, costs, work, watch);
        found.result.outcome = Outcome::Solved(Plan::from_actions(task, &improved.actions));
    }
    Ok(Better::default())
}

fn anytime(
    task: &Task,
    first: &[ActionId],
    costs: Costs,
    config: &SearchConfig,
    underway: &Underway,
    watch: &mut dyn Watch,
    observer: &dyn Observer,
) -> Result<(Vec<ActionId>, Better), Error> {
    let mut plans: Vec<PlanFound> = Vec::new();
    let mut failed = None;
    let mut tell = |actions: &[ActionId]| {
        let problem = task.problem();
        let plan = Plan::from_actions(task, actions);
        let cost = match plan.validate(problem) {
            Ok(validated) => validated.cost,
            Err(error) => {
                failed.get_or_insert(error);
                return;
            }
        };
        let (seconds, cpu_seconds) = underway.elapsed();
        plans.push(PlanFound {
            cost,
            length: actions.len(),
            seconds,
            cpu_seconds,
            text: plan.file_text(cost, !problem.minimize_cost),
        });
        observer.plan_found(plans.len(), &plans[plans.len() - 1]);
    };
    tell(first);
    let settings = AnytimeConfig {
        costs,
        improve: config.improve,
        seed: config.seed,
        ..AnytimeConfig::default()
    };
    let found = look_for_better(task, first, &settings, watch, &mut |better, _| tell(better));
    match failed {
        Some(error) => Err(Error::FalsePlan(error)),
        None => {
            let better = Better {
                plans: Some(plans),
                optimal: Some(found.end == AnytimeEnd::Optimal),
            };
            Ok((found.actions, better))
        }
    }
}
