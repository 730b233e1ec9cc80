//! The tasks of a plan one by one: their keys, kinds and costs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plan::{Plan, key};

/// One thing to do, by its place in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// A model to train.
    Train(usize),
    /// A problem to solve.
    Search(usize),
}

/// The part of an experiment that a task belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Models are trained, and snapshots of them selected.
    Train,
    /// Problems are solved.
    Search,
}

impl Stage {
    /// Both, in the order in which they are done.
    pub const ALL: [Self; 2] = [Self::Train, Self::Search];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Search => "search",
        }
    }
}

impl Task {
    /// The part of the experiment that it belongs to.
    pub fn stage(self) -> Stage {
        match self {
            Self::Train(_) => Stage::Train,
            Self::Search(_) => Stage::Search,
        }
    }
}

impl Plan {
    /// All tasks, what others need before these.
    pub fn tasks(&self) -> impl Iterator<Item = Task> + use<> {
        let trainings = (0..self.trainings.len()).map(Task::Train);
        trainings.chain((0..self.evaluations.len()).map(Task::Search))
    }

    /// The tasks of a part of the experiment, or all.
    pub fn tasks_of(&self, stage: Option<Stage>) -> impl Iterator<Item = Task> + use<> {
        self.tasks()
            .filter(move |task| stage.is_none_or(|stage| task.stage() == stage))
    }

    /// What identifies the result of a task.
    pub fn key(&self, task: Task) -> &str {
        match task {
            Task::Train(at) => &self.trainings[at].key,
            Task::Search(at) => &self.evaluations[at].planned.key,
        }
    }

    /// CPU seconds that a task is thought to take, by sizes alone.
    pub fn cost(&self, task: Task) -> f64 {
        match task {
            Task::Train(at) => self.trainings[at].cost,
            Task::Search(at) => self.evaluations[at].cost,
        }
    }

    /// What tasks have in common that are alike: `train blocks, ff` or `gbfs blocks, H-ff`.
    pub fn kind(&self, task: Task) -> String {
        match task {
            Task::Train(at) => {
                let task = &self.trainings[at];
                let domain = &self.sets[task.problems].domain;
                let select = task.select.as_ref().map_or("", |_| " and select");
                format!("train{select} {domain}, {}", task.config.heuristic())
            }
            Task::Search(at) => {
                let planned = &self.evaluations[at].planned;
                let configuration = planned.configuration();
                format!("{} {}, {configuration}", planned.search, planned.domain)
            }
        }
    }

    /// A task, as a person would call it.
    pub fn name(&self, task: Task) -> String {
        match task {
            Task::Train(at) => format!("training {}", self.trainings[at].model),
            Task::Search(at) => {
                let planned = &self.evaluations[at].planned;
                let seed = planned.model.as_ref().map(|m| format!(" seed {}", m.seed));
                format!(
                    "{} of {} {} with {}{}",
                    planned.search,
                    planned.domain,
                    planned.problem,
                    planned.configuration(),
                    seed.unwrap_or_default()
                )
            }
        }
    }

    /// What identifies the plan: a hash of the keys of its tasks.
    pub fn identity(&self) -> String {
        let keys: Vec<&str> = self.tasks().map(|task| self.key(task)).collect();
        key(&("plan", keys))
    }

    /// Kinds of tasks that cost about the same share of what their sizes say.
    fn wide_kind(&self, task: Task) -> &'static str {
        match task {
            Task::Train(_) => "train",
            Task::Search(at) if self.evaluations[at].training.is_some() => "search with a model",
            Task::Search(_) => "search",
        }
    }
}

/// What tasks really cost: for each kind, the share of what their sizes say. Kinds of which nothing
/// is known go by their wider kind, and without that by their sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Costs {
    shares: BTreeMap<String, f64>,
}

impl Costs {
    /// Learns from tasks that are done, and the CPU seconds that they took.
    pub fn measured(plan: &Plan, done: impl IntoIterator<Item = (Task, f64)>) -> Self {
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for (task, took) in done {
            for kind in [plan.kind(task), plan.wide_kind(task).to_owned()] {
                let (thought, really) = sums.entry(kind).or_default();
                *thought += plan.cost(task);
                *really += took;
            }
        }
        let known = sums.into_iter();
        let known = known.filter(|(_, (thought, really))| *thought > 0.0 && *really > 0.0);
        Self {
            shares: known
                .map(|(kind, (thought, really))| (kind, really / thought))
                .collect(),
        }
    }

    /// CPU seconds that a task is thought to take.
    pub fn of(&self, plan: &Plan, task: Task) -> f64 {
        if self.shares.is_empty() {
            return plan.cost(task);
        }
        let share = self.shares.get(&plan.kind(task));
        let share = share.or_else(|| self.shares.get(plan.wide_kind(task)));
        plan.cost(task) * share.copied().unwrap_or(1.0)
    }
}
