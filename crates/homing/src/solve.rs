//! Solving a problem: a request, the search, and the record of it.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use homing_lab::record;
use homing_learner::{AnyModel, Simd};
use homing_pddl::Problem;
use homing_planner::search::{
    self, Finder, Limit, Limits, SearchOptions, SearchResult, Statistics, Walk,
};
use homing_planner::{
    Costs, GroundError, Heuristic, HeuristicKind, Progress, SearchKind, Spare, Stop, Task, Watch,
    ground_sparing,
};
use serde::{Deserialize, Serialize};

use crate::better::{Better, PlanFound, better};
use crate::compute::{compute, simd_name};
use crate::error::Error;
use crate::here::{LearnHereConfig, LearnedHere};
use crate::input::ProblemSource;
use crate::lazy::{self, LazyConfig, LazyResult, LearnWhen};
use crate::model::load_model_for;
use crate::models;
use crate::observe::{LimitWatch, Notice, Observer};
use crate::resources::resident_bytes;
use crate::underway::Underway;

/// A model that has seen a smaller share of a problem than this is not to be trusted far: in
/// problems of the kind it was trained on, it has seen all but a few in a thousand.
const LEAST_TRUST: f64 = 0.95;

/// A problem to solve, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolveRequest {
    /// The domain and the problem.
    pub problem: ProblemSource,
    /// How it is searched for a plan.
    #[serde(default)]
    pub search: SearchConfig,
    /// When to give up.
    #[serde(default)]
    pub limits: SolveLimits,
}

impl SolveRequest {
    /// A problem with the usual search and no limits.
    pub fn new(problem: ProblemSource) -> Self {
        Self {
            problem,
            search: SearchConfig::default(),
            limits: SolveLimits::default(),
        }
    }
}

/// How a plan is searched for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// The search.
    pub search: SearchKind,
    /// The heuristic, where there is no model.
    pub heuristic: HeuristicKind,
    /// A trained model in its place: its file, or [`AUTO`](crate::models::AUTO).
    pub model: Option<PathBuf>,
    /// The weight of the heuristic, where the search has one.
    pub weight: f64,
    /// Whether every action costs 1, whatever the problem says.
    pub unit_cost: bool,
    /// Threads that evaluate a model; all cores by default.
    pub threads: Option<NonZeroUsize>,
    /// Settings of the lazy search.
    pub lazy: LazyConfig,
    /// How walks go, where a policy guides the search.
    pub walk: Walk,
    /// When the lazy search learns from the problem at hand.
    pub learn: LearnWhen,
    /// A TOML file that says how, over the usual settings ([`LearnHereConfig`]); for experiments.
    pub learn_config: Option<PathBuf>,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// Whether a plan is made shorter before it is returned, where that costs little.
    pub improve: bool,
    /// Whether better plans are looked for after the first, until a limit or until there is none.
    pub anytime: bool,
    /// Vector instructions that evaluate a model; the best the processor has by default.
    #[serde(with = "simd_name")]
    pub simd: Option<Simd>,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            search: SearchKind::Lazy,
            heuristic: HeuristicKind::default(),
            model: None,
            weight: SearchOptions::DEFAULT_WEIGHT,
            unit_cost: false,
            threads: None,
            lazy: LazyConfig::default(),
            walk: Walk::default(),
            learn: LearnWhen::default(),
            learn_config: None,
            seed: 0,
            improve: true,
            anytime: false,
            simd: None,
        }
    }
}

impl SearchConfig {
    /// How to learn from the problem at hand: as the file says, if one is named.
    fn learn_here(&self) -> Result<LearnHereConfig, Error> {
        match &self.learn_config {
            Some(path) => LearnHereConfig::read(path),
            None => Ok(LearnHereConfig::default()),
        }
    }

    /// What grounding can do without. Searches that are compared by what they look at have every
    /// action.
    fn spare(&self) -> Spare {
        let is_lazy = self.search == SearchKind::Lazy;
        Spare {
            like: is_lazy && self.lazy.interchange,
            doomed: is_lazy && self.lazy.doomed,
        }
    }
}

/// When to give up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SolveLimits {
    /// Heuristic evaluations at the most.
    pub max_evaluations: Option<u64>,
    /// Expansions at the most.
    pub max_expansions: Option<u64>,
    /// Seconds of wall-clock time at the most, reading and grounding included.
    pub time_limit: Option<f64>,
    /// Bytes of memory at the most.
    pub memory_limit: Option<u64>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// With a plan that was replayed.
    Solved,
    /// With the proof that there is none.
    Unsolvable,
    /// At the limit on evaluations or expansions.
    Limit,
    /// At the time limit.
    TimeLimit,
    /// At the memory limit.
    MemoryLimit,
    /// From outside.
    #[default]
    Interrupted,
}

impl Outcome {
    /// What a record of an evaluation calls it; `None` for one that was interrupted, which leaves
    /// no record.
    pub fn recorded(self) -> Option<record::Outcome> {
        Some(match self {
            Self::Solved => record::Outcome::Solved,
            Self::Unsolvable => record::Outcome::Unsolvable,
            Self::Limit => record::Outcome::Limit,
            Self::TimeLimit => record::Outcome::TimeLimit,
            Self::MemoryLimit => record::Outcome::MemoryLimit,
            Self::Interrupted => return None,
        })
    }
}

impl From<&search::Outcome> for Outcome {
    fn from(outcome: &search::Outcome) -> Self {
        match outcome {
            search::Outcome::Solved(_) => Self::Solved,
            search::Outcome::Unsolvable => Self::Unsolvable,
            search::Outcome::LimitReached(limit) => match limit {
                Limit::Evaluations | Limit::Expansions | Limit::Work => Self::Limit,
                Limit::Stopped(Stop::Time) => Self::TimeLimit,
                Limit::Stopped(Stop::Memory) => Self::MemoryLimit,
                Limit::Stopped(Stop::Interrupted) => Self::Interrupted,
            },
        }
    }
}

/// What came of a request: what `homing solve --json` prints and what runs of an experiment are
/// read back from. A field that does not apply is null. `docs/formats.md` describes each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolveRecord {
    /// How the search ended.
    pub outcome: Outcome,
    /// The domain's name.
    pub domain: String,
    /// The problem's name.
    pub problem: String,
    /// The heuristic; `H-` before it where a network corrects it; `counts` where a model of
    /// counts takes its place.
    pub heuristic: Option<String>,
    /// The model's file.
    pub model: Option<String>,
    /// The search.
    pub search: SearchKind,
    /// The weight of the heuristic, where the search has one.
    pub weight: Option<f64>,
    /// Whether every action was taken to cost 1.
    pub unit_cost: bool,
    /// The plan: an action each.
    pub plan: Option<Vec<String>>,
    /// Its actions.
    pub plan_length: Option<usize>,
    /// Its cost.
    pub plan_cost: Option<u64>,
    /// Every plan on the way to the best one, which is the last; only where better plans were asked
    /// for.
    #[serde(default)]
    pub plans: Option<Vec<PlanFound>>,
    /// Whether the plan is known to be optimal; only where better plans were asked for.
    #[serde(default)]
    pub optimal: Option<bool>,
    /// Whether it was replayed from the lifted actions and holds.
    pub validated: bool,
    /// The estimate of the initial state.
    pub initial_h: Option<f64>,
    /// States evaluated.
    pub evaluations: u64,
    /// Successors scored by what was learned, without being built.
    #[serde(default)]
    pub scored: u64,
    /// States expanded.
    pub expansions: u64,
    /// Successors generated, repeated ones included.
    pub generated: u64,
    /// States expanded again on a cheaper path.
    pub reopened: u64,
    /// Evaluated states that are dead ends.
    pub dead_ends: u64,
    /// States stored.
    pub stored: u64,
    /// The most entries the open list had.
    pub peak_open: u64,
    /// Bytes of one packed state.
    pub bytes_per_state: u64,
    /// |O|
    pub objects: usize,
    /// Ground actions.
    pub actions: usize,
    /// Propositions that change.
    pub propositions: usize,
    /// Variables that states are packed into.
    pub variables: usize,
    /// Which worker of a lazy search found the plan.
    #[serde(default)]
    pub found_by: Option<Finder>,
    /// What a lazy search learnt from the problem itself.
    #[serde(default)]
    pub learned: Option<LearnedHere>,
    /// Wall-clock seconds of reading.
    pub parse_seconds: f64,
    /// Wall-clock seconds of grounding.
    pub ground_seconds: f64,
    /// Wall-clock seconds of the search.
    pub search_seconds: f64,
    /// Wall-clock seconds of all of it.
    pub total_seconds: f64,
    /// CPU seconds of the process before the search.
    pub ready_cpu_seconds: f64,
    /// CPU seconds of the search.
    pub search_cpu_seconds: f64,
    /// CPU seconds of the request.
    pub total_cpu_seconds: f64,
    /// Peak memory of the process in KiB, where the system tells.
    pub peak_memory_kb: Option<u64>,
    /// The version of homing.
    pub version: String,
    /// The text of a plan file; no part of the JSON object.
    #[serde(skip)]
    pub plan_text: Option<String>,
    /// The limit that ended the search; no part of the JSON object, where `outcome` tells.
    #[serde(skip)]
    pub limit: Option<Limit>,
}

impl SolveRecord {
    /// The record of a request that had found these plans when it was ended, each better than the
    /// one before.
    #[must_use]
    pub fn with_plans(mut self, plans: &[PlanFound]) -> Self {
        if let Some(best) = plans.last() {
            let steps = best.text.lines().filter(|line| line.starts_with('('));
            self.outcome = Outcome::Solved;
            self.plan = Some(steps.map(str::to_owned).collect());
            self.plan_length = Some(best.length);
            self.plan_cost = Some(best.cost);
            self.validated = true;
            self.plans = Some(plans.to_vec());
            self.optimal = Some(false);
            self.plan_text = Some(best.text.clone());
        }
        self
    }
}

/// The size of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskSize {
    /// Ground actions.
    pub actions: usize,
    /// Propositions that change.
    pub propositions: usize,
    /// Variables that states are packed into.
    pub variables: usize,
    /// Bytes of one packed state.
    pub bytes_per_state: usize,
}

impl From<&Task> for TaskSize {
    fn from(task: &Task) -> Self {
        Self {
            actions: task.action_count(),
            propositions: task.propositions().len(),
            variables: task.encoding().variable_count(),
            bytes_per_state: task.encoding().words() * 4,
        }
    }
}

/// Reads, grounds and solves a problem. A plan is replayed before it is returned.
///
/// # Errors
///
/// If the input cannot be read or the model does not fit it. That there is no plan, or that a limit
/// was reached, is no error.
pub fn solve(request: &SolveRequest, observer: &dyn Observer) -> Result<SolveRecord, Error> {
    let mut underway = Underway::begin(&request.search);
    request.limits.check()?;
    let here = request.search.learn_here()?;
    // Made here, so that reading counts against the time limit.
    let mut watch = request.limits.watch(observer);
    observer.underway(&underway);
    let loaded = request.problem.load()?;
    if !loaded.warnings.messages().is_empty() {
        observer.notice(&Notice::Warnings(loaded.warnings));
    }
    let problem = loaded.value;
    let config = &request.search;
    let model = model_for(config, &problem, observer)?;
    underway.read(&problem, model.as_ref());
    observer.underway(&underway);
    // Reading itself cannot be ended, but nothing follows it.
    let grounded = match watch.poll(Progress::Reading) {
        Some(stop) => Err(stop.into()),
        // Other searches are compared by what they look at: they have every action.
        None => ground_sparing(&problem, config.spare(), &mut watch),
    };
    underway.grounded(grounded.as_ref().ok());
    let (result, better) = match grounded {
        Ok(task) => {
            let (reading, grounding) = underway.durations();
            observer.underway(&underway);
            observer.notice(&Notice::Grounded {
                size: TaskSize::from(&task),
                reading,
                grounding,
            });
            if let Some(AnyModel::Counts(model)) = &model {
                let share = model.trust_at_first(&task).share();
                if share < LEAST_TRUST {
                    observer.notice(&Notice::LowTrust { share });
                }
            }
            let limits = &request.limits;
            let model = model.as_ref();
            let mut result = run(&task, model, config, &here, limits, &mut watch, observer)?;
            let better = better(&task, &mut result, config, &underway, &mut watch, observer)?;
            (result, better)
        }
        Err(error) => (without_task(error, observer)?, Better::default()),
    };
    make_record(&underway, &problem, &result, better)
}

/// The model that is asked for. Where none is and one ships, that is worth a word.
fn model_for(
    config: &SearchConfig,
    problem: &Problem,
    observer: &dyn Observer,
) -> Result<Option<AnyModel>, Error> {
    let domain = &problem.domain;
    match &config.model {
        Some(path) if path.as_os_str() == models::AUTO => match models::find(domain) {
            Some((_, model)) => Ok(Some(model)),
            None => Err(Error::NoShippedModel {
                domain: domain.name.clone(),
            }),
        },
        Some(path) => Ok(Some(load_model_for(path, domain)?)),
        None => {
            if observer.takes_hints()
                && let Some((shipped, _)) = models::find(domain)
            {
                observer.notice(&Notice::ModelShips { name: shipped.name });
            }
            Ok(None)
        }
    }
}

/// Solves a task that is there already, with a model that is: a long-lived program keeps both.
/// What `config` says of a model's file goes into the record and is not read.
///
/// # Errors
///
/// If the model does not fit the task.
pub fn solve_task(
    task: &Arc<Task>,
    model: Option<&AnyModel>,
    config: &SearchConfig,
    limits: &SolveLimits,
    observer: &dyn Observer,
) -> Result<SolveRecord, Error> {
    let mut underway = Underway::begin(config);
    limits.check()?;
    let here = config.learn_here()?;
    let mut watch = limits.watch(observer);
    underway.read(task.problem(), model);
    underway.grounded(Some(task));
    observer.underway(&underway);
    let mut result = run(task, model, config, &here, limits, &mut watch, observer)?;
    let better = better(task, &mut result, config, &underway, &mut watch, observer)?;
    make_record(&underway, task.problem(), &result, better)
}

impl SolveLimits {
    fn check(&self) -> Result<(), Error> {
        if self.memory_limit.is_some() && resident_bytes().is_none() {
            return Err(Error::Request(
                "a memory limit needs /proc/self/status, which this system does not have"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    fn watch<'o>(&self, observer: &'o dyn Observer) -> LimitWatch<'o> {
        LimitWatch::new(self.time_limit, self.memory_limit, observer)
    }
}

/// The outcome of a problem that never got to search.
fn without_task(error: GroundError, observer: &dyn Observer) -> Result<LazyResult, Error> {
    let outcome = match error {
        GroundError::Unsolvable { .. } => {
            observer.notice(&Notice::Unsolvable(error));
            search::Outcome::Unsolvable
        }
        GroundError::MissingCost { .. } | GroundError::Unstratified { .. } => {
            return Err(Error::Ground { file: None, error });
        }
        GroundError::Stopped { stop, .. } => {
            if stop != Stop::Interrupted {
                observer.notice(&Notice::NotGrounded(error));
            }
            search::Outcome::LimitReached(Limit::Stopped(stop))
        }
    };
    Ok(LazyResult::plain(SearchResult {
        outcome,
        statistics: Statistics::default(),
    }))
}

/// What is said where a search has no policy to go by.
pub(crate) fn needs_policy(search: SearchKind) -> String {
    format!(
        "--search {search} is guided by a policy: it needs --model with a file that `homing train \
         --learner gnn` wrote"
    )
}

fn run(
    task: &Task,
    model: Option<&AnyModel>,
    config: &SearchConfig,
    here: &LearnHereConfig,
    limits: &SolveLimits,
    watch: &mut LimitWatch<'_>,
    observer: &dyn Observer,
) -> Result<LazyResult, Error> {
    let counts = Limits {
        max_evaluations: limits.max_evaluations,
        max_expansions: limits.max_expansions,
    };
    if config.search == SearchKind::Lazy {
        return lazy::search(task, model, config, here, counts, watch, observer);
    }
    let costs = Costs::unit_if(config.unit_cost);
    let options = SearchOptions {
        costs,
        weight: config.weight,
        limits: counts,
        walk: config.walk,
        seed: config.seed,
    };
    if config.search.uses_policy() {
        let Some(AnyModel::Gnn(model)) = model else {
            return Err(Error::Request(needs_policy(config.search)));
        };
        let simd = compute(config.threads, config.simd).simd;
        let of_model = |error| Error::Model { path: None, error };
        let mut policy = model.policy(task, simd).map_err(of_model)?;
        let result = config
            .search
            .run_by_policy(task, policy.as_mut(), &options, watch);
        return Ok(LazyResult::plain(result));
    }
    let mut heuristic: Box<dyn Heuristic + '_> = match model {
        Some(model) => {
            let compute = compute(config.threads, config.simd);
            let learned = model.function().heuristic(task, compute);
            learned.map_err(|error| Error::Model { path: None, error })?
        }
        None => match config.heuristic.build_watched(task, costs, watch) {
            Ok(heuristic) => heuristic,
            Err(stop) => return Ok(LazyResult::stopped(stop)),
        },
    };
    let result = config.search.run(task, heuristic.as_mut(), &options, watch);
    let mut result = LazyResult::plain(result);
    result.work += heuristic.work();
    Ok(result)
}

fn make_record(
    underway: &Underway,
    problem: &Arc<Problem>,
    found: &LazyResult,
    better: Better,
) -> Result<SolveRecord, Error> {
    let result = &found.result;
    let (plan, limit) = match &result.outcome {
        search::Outcome::Solved(plan) => (Some(plan), None),
        search::Outcome::Unsolvable => (None, None),
        search::Outcome::LimitReached(limit) => (None, Some(*limit)),
    };
    // The time of the search is over; what follows is not part of it.
    let ended = underway.ended(Outcome::from(&result.outcome), None);
    let cost = match plan {
        Some(plan) => Some(plan.validate(problem).map_err(Error::FalsePlan)?.cost),
        None => None,
    };
    let statistics = &result.statistics;
    Ok(SolveRecord {
        plan: plan.map(|plan| plan.steps.iter().map(ToString::to_string).collect()),
        plan_length: plan.map(|plan| plan.steps.len()),
        plan_cost: cost,
        plans: better.plans,
        optimal: better.optimal,
        validated: cost.is_some(),
        initial_h: statistics.initial_estimate,
        evaluations: statistics.evaluations,
        scored: statistics.scored,
        expansions: statistics.expansions,
        generated: statistics.generated,
        reopened: statistics.reopened,
        dead_ends: statistics.dead_ends,
        stored: statistics.stored,
        peak_open: statistics.peak_open,
        bytes_per_state: statistics.bytes_per_state,
        found_by: found.found_by,
        learned: found.learned.clone(),
        plan_text: plan
            .zip(cost)
            .map(|(plan, cost)| plan.file_text(cost, !problem.minimize_cost)),
        limit,
        ..ended
    })
}
