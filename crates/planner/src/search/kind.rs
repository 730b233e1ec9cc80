//! The list of searches. Whoever offers a choice of searches, reads the name of one or shows them
//! in an order takes it from here: the command line, experiments and reports.

use serde::{Deserialize, Serialize};

use super::{
    Deferred, DeferredConfig, Limits, SearchResult, astar, dijkstra, gbfls, gbfs, weighted_astar,
};
use crate::heuristic::{Costs, Heuristic};
use crate::names::named_list;
use crate::task::Task;
use crate::watch::Watch;

/// A search. The order is that of lists and tables.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum SearchKind {
    /// [`gbfs`]
    #[default]
    Gbfs,
    /// [`gbfls`]
    Gbfls,
    /// [`astar`]
    Astar,
    /// [`weighted_astar`]
    Wastar,
    /// [`dijkstra`]
    Dijkstra,
    /// [`Deferred`]
    Lazy,
}

/// What is known of a search without a task.
struct Entry {
    name: &'static str,
    label: &'static str,
    description: &'static str,
    uses_heuristic: bool,
    uses_weight: bool,
}

/// What a search is told beside its task and its heuristic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// What actions cost.
    pub costs: Costs,
    /// The weight of the heuristic, where the search has one.
    pub weight: f64,
    /// When to give up.
    pub limits: Limits,
}

impl SearchOptions {
    /// The weight of weighted A* where none is given.
    pub const DEFAULT_WEIGHT: f64 = 2.0;
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            costs: Costs::default(),
            weight: Self::DEFAULT_WEIGHT,
            limits: Limits::default(),
        }
    }
}

impl SearchKind {
    /// All searches.
    pub const ALL: [Self; 6] = [
        Self::Gbfs,
        Self::Gbfls,
        Self::Astar,
        Self::Wastar,
        Self::Dijkstra,
        Self::Lazy,
    ];

    const fn entry(self) -> Entry {
        match self {
            Self::Gbfs => Entry {
                name: "gbfs",
                label: "GBFS",
                description: "Greedy best first search",
                uses_heuristic: true,
                uses_weight: false,
            },
            Self::Gbfls => Entry {
                name: "gbfls",
                label: "GBFLS",
                description: "Greedy best first search with lookahead",
                uses_heuristic: true,
                uses_weight: false,
            },
            Self::Astar => Entry {
                name: "astar",
                label: "A*",
                description: "A*",
                uses_heuristic: true,
                uses_weight: false,
            },
            Self::Wastar => Entry {
                name: "wastar",
                label: "WA*",
                description: "Weighted A*",
                uses_heuristic: true,
                uses_weight: true,
            },
            Self::Dijkstra => Entry {
                name: "dijkstra",
                label: "Dijkstra",
                description: "Dijkstra's algorithm (uses no heuristic)",
                uses_heuristic: false,
                uses_weight: false,
            },
            Self::Lazy => Entry {
                name: "lazy",
                label: "lazy",
                description: "Greedy search with deferred evaluation and preferred actions",
                uses_heuristic: true,
                uses_weight: false,
            },
        }
    }

    /// Searches. A search that uses no heuristic leaves the one it is given alone.
    ///
    /// # Panics
    ///
    /// If the search has a weight, and it is negative or not finite.
    pub fn run(
        self,
        task: &Task,
        heuristic: &mut dyn Heuristic,
        options: &SearchOptions,
        watch: &mut dyn Watch,
    ) -> SearchResult {
        let &SearchOptions {
            costs,
            weight,
            limits,
        } = options;
        match self {
            Self::Gbfs => gbfs(task, heuristic, limits, watch),
            Self::Gbfls => gbfls(task, heuristic, limits, watch),
            Self::Astar => astar(task, heuristic, costs, limits, watch),
            Self::Wastar => weighted_astar(task, heuristic, weight, costs, limits, watch),
            Self::Dijkstra => dijkstra(task, costs, limits, watch),
            Self::Lazy => {
                let heuristics: Vec<Box<dyn Heuristic + '_>> = vec![Box::new(heuristic)];
                let mut search = Deferred::new(task, heuristics, DeferredConfig::default());
                let outcome = search.run(limits, None, watch);
                SearchResult {
                    outcome,
                    statistics: search.statistics(),
                }
            }
        }
    }

    /// Whether it asks a heuristic.
    pub const fn uses_heuristic(self) -> bool {
        self.entry().uses_heuristic
    }

    /// Whether [`SearchOptions::weight`] means something to it.
    pub const fn uses_weight(self) -> bool {
        self.entry().uses_weight
    }
}

named_list!(SearchKind, "search");
