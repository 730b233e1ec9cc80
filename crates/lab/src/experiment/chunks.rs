//! Cutting the tasks of an experiment into chunks of about equal cost.
//!
//! Whoever cuts the same plan into the same number of chunks by the same costs gets the same
//! chunks: that is all that processes on different machines have to agree on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::plan::Plan;
use super::task::{Costs, Stage, Task};

/// What goes into one chunk together. A model and the searches with it stay together, so that no
/// chunk has to wait for another one, unless training and searching are cut apart.
struct Bundle {
    /// Whole microseconds: sums of these do not depend on their order.
    cost: u64,
    tasks: Vec<Task>,
}

impl Bundle {
    fn add(&mut self, task: Task, seconds: f64) {
        // What a process costs that does nothing.
        const LEAST: f64 = 0.01;
        self.cost += (seconds.max(LEAST) * 1e6) as u64;
        self.tasks.push(task);
    }

    fn new() -> Self {
        Self {
            cost: 0,
            tasks: Vec::new(),
        }
    }
}

/// A part of an experiment: its tasks, and what they are thought to cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// The tasks, in the order of the plan.
    pub tasks: Vec<Task>,
    /// CPU seconds that they are thought to take.
    pub seconds: f64,
}

impl Plan {
    /// Cuts the tasks of a stage, or all, into so many chunks; every task is in one of them.
    pub fn chunks(&self, stage: Option<Stage>, count: usize, costs: &Costs) -> Vec<Chunk> {
        let mut bundles: Vec<Bundle> = Vec::new();
        for task in self.tasks_of(stage) {
            // Models come first in the plan, and then their place here is that in the plan.
            let with = match (stage, task) {
                (None, Task::Search(at)) => self.evaluations[at].training,
                _ => None,
            };
            let place = with.unwrap_or(bundles.len());
            if place == bundles.len() {
                bundles.push(Bundle::new());
            }
            bundles[place].add(task, costs.of(self, task));
        }
        // The dearest first, each into the chunk that has the least.
        bundles.sort_by_key(|bundle| (Reverse(bundle.cost), bundle.tasks[0]));
        let mut loads: BinaryHeap<Reverse<(u64, usize)>> =
            (0..count.max(1)).map(|chunk| Reverse((0, chunk))).collect();
        let mut chunks = vec![Chunk::default(); count.max(1)];
        for bundle in bundles {
            let Reverse((load, chunk)) = loads.pop().expect("there is a chunk");
            loads.push(Reverse((load + bundle.cost, chunk)));
            chunks[chunk].tasks.extend(bundle.tasks);
        }
        for Reverse((load, chunk)) in loads {
            chunks[chunk].seconds = load as f64 * 1e-6;
            chunks[chunk].tasks.sort_unstable();
        }
        chunks
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::experiment::Spec;

    fn plan() -> Plan {
        let text = r#"
            title = "chunks"
            domains = ["blocks", "ferry", "gripper"]
            heuristics = ["add", "ff"]
            seeds = 3
            [train]
            problems = 5
            [evaluate]
            problems = 7
        "#;
        Plan::new(&Spec::parse(text).unwrap(), &BTreeMap::new()).unwrap()
    }

    #[test]
    fn every_task_is_in_one_chunk() {
        let plan = plan();
        for stage in [None, Some(Stage::Train), Some(Stage::Search)] {
            for count in [1, 2, 7, 100] {
                let chunks = plan.chunks(stage, count, &Costs::default());
                assert_eq!(chunks.len(), count);
                let mut tasks: Vec<Task> = chunks.iter().flat_map(|c| &c.tasks).copied().collect();
                tasks.sort();
                assert_eq!(tasks, plan.tasks_of(stage).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn searches_are_where_their_model_is_trained() {
        let plan = plan();
        for chunk in plan.chunks(None, 5, &Costs::default()) {
            for task in &chunk.tasks {
                let Task::Search(at) = *task else { continue };
                if let Some(training) = plan.evaluations[at].training {
                    assert!(chunk.tasks.contains(&Task::Train(training)));
                }
            }
        }
    }

    #[test]
    fn chunks_cost_about_the_same() {
        let plan = plan();
        let seconds: Vec<f64> = plan
            .chunks(Some(Stage::Search), 4, &Costs::default())
            .iter()
            .map(|chunk| chunk.seconds)
            .collect();
        let (least, most) = (
            seconds.iter().copied().fold(f64::MAX, f64::min),
            seconds.iter().copied().fold(0.0, f64::max),
        );
        assert!(most < 1.1 * least, "{seconds:?}");
    }

    #[test]
    fn costs_come_from_what_was_measured() {
        let plan = plan();
        let first = Task::Train(0);
        let kind = plan.kind(first);
        let other = plan
            .tasks()
            .find(|&task| matches!(task, Task::Train(_)) && plan.kind(task) != kind);
        let costs = Costs::measured(&plan, [(first, 3.0 * plan.cost(first))]);
        assert!((costs.of(&plan, first) / plan.cost(first) - 3.0).abs() < 1e-9);
        // Alike at least in being training.
        let other = other.unwrap();
        assert!((costs.of(&plan, other) / plan.cost(other) - 3.0).abs() < 1e-9);
        let search = Task::Search(0);
        assert_eq!(costs.of(&plan, search), plan.cost(search));
        // A table that went through a file gives the same chunks.
        let text = serde_json::to_string(&costs).unwrap();
        let read: Costs = serde_json::from_str(&text).unwrap();
        assert_eq!(read, costs);
        assert_eq!(plan.chunks(None, 4, &read), plan.chunks(None, 4, &costs));
    }
}
