//! The list of searches. Whoever offers a choice of searches, reads the name of one or shows them
//! in an order takes it from here: the command line, experiments and reports.

use serde::{Deserialize, Serialize};

use super::{
    Deferred, DeferredConfig, Limits, Policy, PolicyKey, PolicySearch, SearchResult, Walk, astar,
    dijkstra, gbfls, gbfs, policy_search, weighted_astar,
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
    /// [`policy_search`] by [`PolicyKey::Adjusted`]
    GbfsH,
    /// [`policy_search`] by [`PolicyKey::Value`]
    GbfsV,
    /// [`policy_search`] by [`PolicyKey::Adjusted`], with a lookahead
    GbflsH,
    /// [`policy_search`] by [`PolicyKey::Value`], with a lookahead
    GbflsV,
    /// [`SearchKind::GbfsH`] as found
    GbfsHFound,
    /// [`SearchKind::GbfsV`] as found
    GbfsVFound,
    /// [`SearchKind::GbflsH`] as found
    GbflsHFound,
    /// [`SearchKind::GbflsV`] as found
    GbflsVFound,
}

/// What is known of a search without a task.
struct Entry {
    name: &'static str,
    label: &'static str,
    description: &'static str,
    uses_heuristic: bool,
    uses_weight: bool,
    /// How a policy guides it.
    policy: Option<ByPolicy>,
}

/// How a policy guides a search: all that the list decides.
#[derive(Clone, Copy)]
struct ByPolicy {
    key: PolicyKey,
    lookahead: bool,
    as_found: bool,
}

impl Entry {
    /// A search that a policy guides.
    const fn by_policy(
        name: &'static str,
        label: &'static str,
        description: &'static str,
        policy: ByPolicy,
    ) -> Self {
        Self {
            name,
            label,
            description,
            uses_heuristic: false,
            uses_weight: false,
            policy: Some(policy),
        }
    }
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
    /// How walks go, where a policy guides the search.
    pub walk: Walk,
    /// The seed of what is drawn.
    pub seed: u64,
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
            walk: Walk::default(),
            seed: 0,
        }
    }
}

impl SearchKind {
    /// All searches.
    pub const ALL: [Self; 14] = [
        Self::Gbfs,
        Self::Gbfls,
        Self::Astar,
        Self::Wastar,
        Self::Dijkstra,
        Self::Lazy,
        Self::GbfsH,
        Self::GbfsV,
        Self::GbflsH,
        Self::GbflsV,
        Self::GbfsHFound,
        Self::GbfsVFound,
        Self::GbflsHFound,
        Self::GbflsVFound,
    ];

    const fn entry(self) -> Entry {
        match self {
            Self::Gbfs => Entry {
                name: "gbfs",
                label: "GBFS",
                description: "Greedy best first search",
                uses_heuristic: true,
                uses_weight: false,
                policy: None,
            },
            Self::Gbfls => Entry {
                name: "gbfls",
                label: "GBFLS",
                description: "Greedy best first search with lookahead",
                uses_heuristic: true,
                uses_weight: false,
                policy: None,
            },
            Self::Astar => Entry {
                name: "astar",
                label: "A*",
                description: "A*",
                uses_heuristic: true,
                uses_weight: false,
                policy: None,
            },
            Self::Wastar => Entry {
                name: "wastar",
                label: "WA*",
                description: "Weighted A*",
                uses_heuristic: true,
                uses_weight: true,
                policy: None,
            },
            Self::Dijkstra => Entry {
                name: "dijkstra",
                label: "Dijkstra",
                description: "Dijkstra's algorithm (uses no heuristic)",
                uses_heuristic: false,
                uses_weight: false,
                policy: None,
            },
            Self::Lazy => Entry {
                name: "lazy",
                label: "lazy",
                description: "Greedy search with deferred evaluation and preferred actions",
                uses_heuristic: true,
                uses_weight: false,
                policy: None,
            },
            Self::GbfsH => Entry::by_policy(
                "gbfs-h",
                "GBFS-H",
                "Greedy best first search by a policy's adjusted value",
                ByPolicy {
                    key: PolicyKey::Adjusted,
                    lookahead: false,
                    as_found: false,
                },
            ),
            Self::GbfsV => Entry::by_policy(
                "gbfs-v",
                "GBFS-V",
                "Greedy best first search by the value of a policy's network",
                ByPolicy {
                    key: PolicyKey::Value,
                    lookahead: false,
                    as_found: false,
                },
            ),
            Self::GbflsH => Entry::by_policy(
                "gbfls-h",
                "GBFLS-H",
                "GBFS-H with walks of the policy",
                ByPolicy {
                    key: PolicyKey::Adjusted,
                    lookahead: true,
                    as_found: false,
                },
            ),
            Self::GbflsV => Entry::by_policy(
                "gbfls-v",
                "GBFLS-V",
                "GBFS-V with walks of the policy",
                ByPolicy {
                    key: PolicyKey::Value,
                    lookahead: true,
                    as_found: false,
                },
            ),
            Self::GbfsHFound => Entry::by_policy(
                "gbfs-h-found",
                "GBFS-H (as found)",
                "GBFS-H as the program found does it",
                ByPolicy {
                    key: PolicyKey::Adjusted,
                    lookahead: false,
                    as_found: true,
                },
            ),
            Self::GbfsVFound => Entry::by_policy(
                "gbfs-v-found",
                "GBFS-V (as found)",
                "GBFS-V as the program found does it",
                ByPolicy {
                    key: PolicyKey::Value,
                    lookahead: false,
                    as_found: true,
                },
            ),
            Self::GbflsHFound => Entry::by_policy(
                "gbfls-h-found",
                "GBFLS-H (as found)",
                "GBFLS-H as the program found does it",
                ByPolicy {
                    key: PolicyKey::Adjusted,
                    lookahead: true,
                    as_found: true,
                },
            ),
            Self::GbflsVFound => Entry::by_policy(
                "gbfls-v-found",
                "GBFLS-V (as found)",
                "GBFLS-V as the program found does it",
                ByPolicy {
                    key: PolicyKey::Value,
                    lookahead: true,
                    as_found: true,
                },
            ),
        }
    }

    /// Searches. A search that uses no heuristic leaves the one it is given alone.
    ///
    /// # Panics
    ///
    /// If the search has a weight, and it is negative or not finite; or if a policy guides it.
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
            ..
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
            _ => panic!("{self} is guided by a policy, not by a heuristic"),
        }
    }

    /// Searches as a policy guides.
    ///
    /// # Panics
    ///
    /// If no policy guides this search.
    pub fn run_by_policy(
        self,
        task: &Task,
        guide: &mut dyn Policy,
        options: &SearchOptions,
        watch: &mut dyn Watch,
    ) -> SearchResult {
        let Some(policy) = self.entry().policy else {
            panic!("no policy guides {self}");
        };
        let config = PolicySearch {
            key: policy.key,
            lookahead: policy.lookahead,
            walk: options.walk,
            as_found: policy.as_found,
            seed: options.seed,
        };
        policy_search(task, guide, config, options.limits, watch)
    }

    /// The searches that ask a heuristic, or nothing: all that [`run`](Self::run) can do.
    pub fn without_policy() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kind| !kind.uses_policy())
    }

    /// Whether it asks a policy.
    pub const fn uses_policy(self) -> bool {
        self.entry().policy.is_some()
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
