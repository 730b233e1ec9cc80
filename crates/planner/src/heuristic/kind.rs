//! The list of heuristics. Whoever offers a choice of heuristics, reads the name of one or shows
//! them in an order takes it from here: the command line, training, experiments and reports.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Add, Blind, Costs, Ff, Heuristic, LandmarkCount, Max};
use crate::names::UnknownName;
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

    /// Its name, as users type it and as files have it.
    pub const fn name(self) -> &'static str {
        self.entry().name
    }

    /// Its name in tables: the index of h.
    pub const fn label(self) -> &'static str {
        self.entry().label
    }

    /// What it is, in a line.
    pub const fn description(self) -> &'static str {
        self.entry().description
    }

    /// Whether it never says more than the least cost to the goal.
    pub const fn is_admissible(self) -> bool {
        self.entry().admissible
    }

    /// Whether every state without applicable actions is a dead end to it, the goal aside.
    pub const fn sees_deadlocks(self) -> bool {
        self.entry().sees_deadlocks
    }

    /// The heuristic of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for HeuristicKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for HeuristicKind {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::from_name(name)
            .ok_or_else(|| UnknownName::new("heuristic", name, Self::ALL.map(Self::name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for kind in HeuristicKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
            let text = serde_json::to_string(&kind).expect("a name");
            assert_eq!(text, format!("\"{kind}\""));
        }
        let error = "ffx".parse::<HeuristicKind>().expect_err("no such name");
        assert_eq!(
            error.to_string(),
            "there is no heuristic `ffx`; there are blind, max, add, ff, landmarks"
        );
    }

    /// The message of serde names every variant, so that none can be missing in the list.
    #[test]
    fn the_list_is_complete() {
        let message = serde_json::from_str::<HeuristicKind>("\"\"")
            .expect_err("no such name")
            .to_string();
        let names = HeuristicKind::ALL.map(|kind| format!("`{kind}`"));
        assert!(message.contains(&names.join(", ")), "{message}");
    }
}
