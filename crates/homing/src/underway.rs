//! A request to solve a problem, from its beginning to its end: what is known of it when, and when
//! its parts were done.

use std::time::{Duration, Instant};

use homing_learner::AnyModel;
use homing_pddl::Problem;
use homing_planner::{Progress, Task};

use crate::resources::{VERSION, cpu_seconds, peak_bytes};
use crate::solve::{Outcome, SearchConfig, SolveRecord, TaskSize};

/// Wall-clock and CPU time.
#[derive(Clone, Copy, Debug)]
struct Moment {
    wall: Instant,
    cpu: f64,
}

impl Moment {
    fn now() -> Self {
        Self {
            wall: Instant::now(),
            cpu: cpu_seconds(),
        }
    }

    fn since(&self, earlier: &Self) -> Duration {
        self.wall - earlier.wall
    }
}

/// Without the digits that subtraction makes up.
fn whole_nanoseconds(seconds: f64) -> f64 {
    (seconds * 1e9).round() / 1e9
}

/// A request that is being carried out.
#[derive(Clone, Debug)]
pub struct Underway {
    /// What is known of it already.
    record: SolveRecord,
    start: Moment,
    /// When reading was done.
    read: Option<Moment>,
    /// When grounding was done.
    ready: Option<Moment>,
}

impl Underway {
    /// Nothing is read yet.
    pub(crate) fn begin(config: &SearchConfig) -> Self {
        let named = config.search.uses_heuristic() && config.model.is_none();
        Self {
            record: SolveRecord {
                heuristic: named.then(|| config.heuristic.name().to_owned()),
                model: config.model.as_ref().map(|path| path.display().to_string()),
                weight: config.search.uses_weight().then_some(config.weight),
                unit_cost: config.unit_cost,
                version: VERSION.to_owned(),
                search: config.search,
                ..SolveRecord::default()
            },
            start: Moment::now(),
            read: None,
            ready: None,
        }
    }

    /// The problem is read, and the model is.
    pub(crate) fn read(&mut self, problem: &Problem, model: Option<&AnyModel>) {
        let record = &mut self.record;
        record.domain.clone_from(&problem.domain.name);
        record.problem.clone_from(&problem.name);
        record.objects = problem.objects.len();
        if let Some(model) = model
            && (record.search.uses_heuristic() || record.search.uses_policy())
        {
            record.heuristic = Some(model_name(model));
        }
        self.read = Some(Moment::now());
    }

    /// Grounding is over; with its task, if there is one.
    pub(crate) fn grounded(&mut self, task: Option<&Task>) {
        if let Some(size) = task.map(TaskSize::from) {
            self.record.actions = size.actions;
            self.record.propositions = size.propositions;
            self.record.variables = size.variables;
        }
        self.ready = Some(Moment::now());
    }

    /// How long reading and grounding took.
    pub(crate) fn durations(&self) -> (Duration, Duration) {
        let read = self.read.unwrap_or(self.start);
        let ready = self.ready.unwrap_or(read);
        (read.since(&self.start), ready.since(&read))
    }

    /// Wall-clock and CPU seconds since the beginning.
    pub(crate) fn elapsed(&self) -> (f64, f64) {
        let now = Moment::now();
        let wall = now.since(&self.start).as_secs_f64();
        (wall, whole_nanoseconds(now.cpu - self.start.cpu))
    }

    /// The record if it ends now, without a plan. What was counted is taken from the last progress
    /// seen.
    pub fn ended(&self, outcome: Outcome, progress: Option<&Progress>) -> SolveRecord {
        let end = Moment::now();
        let read = self.read.unwrap_or(end);
        let ready = self.ready.unwrap_or(end);
        let mut record = self.record.clone();
        if let Some(&Progress::Search {
            evaluations,
            expansions,
            ..
        }) = progress
        {
            record.evaluations = evaluations;
            record.expansions = expansions;
        }
        let seconds = |from: &Moment, to: &Moment| to.since(from).as_secs_f64();
        SolveRecord {
            outcome,
            parse_seconds: seconds(&self.start, &read),
            ground_seconds: seconds(&read, &ready),
            search_seconds: seconds(&ready, &end),
            total_seconds: seconds(&self.start, &end),
            ready_cpu_seconds: whole_nanoseconds(ready.cpu),
            search_cpu_seconds: whole_nanoseconds(end.cpu - ready.cpu),
            // Not what ran in this process before, as `cargo run` does.
            total_cpu_seconds: whole_nanoseconds(end.cpu - self.start.cpu),
            peak_memory_kb: peak_bytes().map(|bytes| bytes / 1024),
            ..record
        }
    }
}

/// What a learned heuristic is called in records.
fn model_name(model: &AnyModel) -> String {
    match model {
        AnyModel::Nlm(model) => format!("H-{}", model.header.config.heuristic),
        AnyModel::Counts(_) | AnyModel::Hgn(_) | AnyModel::Gnn(_) => {
            model.function().kind().name().to_owned()
        }
    }
}
