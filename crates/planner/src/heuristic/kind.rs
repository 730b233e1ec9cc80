//! The list of heuristics. Whoever offers a choice of heuristics, reads the name of one or shows
//! them in an order takes it from here: the command line, training, experiments and reports.

use serde::{Deserialize, Serialize};

use super::{Add, Blind, Costs, Ff, Heuristic, LandmarkCount, Max};
use crate::names::named_list;
use crate::task::Task;
use crate::watch::{Stop, Watch};

/// A heuristic of the planner, before it is built for a task. The order is that of lists, tables
/// and legends.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum HeuristicKind {
    /// [`Blind`]
    Blind,
    /// [`Max`]
    Max,
    /// [`Add`]
    Add,
    /// [`Ff`]
    #[default]
    Ff,
    /// [`LandmarkCount`]
    Landmarks,
}

/// What is known of a heuristic without a task.
struct Entry {
    name: &'static str,
    label: &'static str,
    description: &'static str,
    admissible: bool,
    sees_deadlocks: bool,
}

impl HeuristicKind {
    /// All heuristics.
    pub const ALL: [Self; 5] = [Self::Blind, Self::Max, Self::Add, Self::Ff, Self::Landmarks];

    const fn entry(self) -> Entry {
        match self {
            Self::Blind => Entry {
                name: "blind",
                label: "blind",
                description: "1 everywhere but at a goal",
                // 1 is too much before a last step that costs nothing.
                admissible: false,
                sees_deadlocks: false,
            },
            Self::Max => Entry {
                name: "max",
                label: "max",
                description: "The most expensive goal of the delete relaxation (admissible)",
                admissible: true,
                sees_deadlocks: true,
            },
            Self::Add => Entry {
                name: "add",
                label: "add",
                description: "The sum over the goals of the delete relaxation",
                admissible: false,
                sees_deadlocks: true,
            },
            Self::Ff => Entry {
                name: "ff",
                label: "FF",
                description: "The cost of a relaxed plan",
                admissible: false,
                sees_deadlocks: true,
            },
            Self::Landmarks => Entry {
                name: "landmarks",
                label: "LM",
                description: "The number of landmarks still to come",
                admissible: false,
                sees_deadlocks: false,
            },
        }
    }

    /// The heuristic for a task.
    pub fn build(self, task: &Task, costs: Costs) -> Box<dyn Heuristic + Send + '_> {
        self.build_watched(task, costs, &mut ())
            .expect("nothing says stop")
    }

    /// The heuristic for a task, unless the watch says stop first.
    ///
    /// # Errors
    ///
    /// If it does.
    pub fn build_watched<'t>(
        self,
        task: &'t Task,
        costs: Costs,
        watch: &mut dyn Watch,
    ) -> Result<Box<dyn Heuristic + Send + 't>, Stop> {
        Ok(match self {
            Self::Blind => Box::new(Blind::new(task)),
            Self::Max => Box::new(Max::watched(task, costs, watch)?),
            Self::Add => Box::new(Add::watched(task, costs, watch)?),
            Self::Ff => Box::new(Ff::watched(task, costs, watch)?),
            Self::Landmarks => Box::new(LandmarkCount::new(task, watch)?),
        })
    }

    /// Whether it never says more than the least cost to the goal.
    pub const fn is_admissible(self) -> bool {
        self.entry().admissible
    }

    /// Whether every state without applicable actions is a dead end to it, the goal aside.
    pub const fn sees_deadlocks(self) -> bool {
        self.entry().sees_deadlocks
    }
}

named_list!(HeuristicKind, "heuristic");
