//! The paper's tables as data, to stand beside ours.
//!
//! Coverage is of GBFS with 100,000 evaluations (its table of coverage), wins are those of the best
//! of 20 seeds (its figure of evaluations, left), goals are those reached in training (its table of
//! goals). Heuristics come in the order [`HEURISTICS`].

use homing_learner::ValueKind;
use homing_planner::{HeuristicKind, SearchKind};

/// The base heuristics of the paper.
pub const HEURISTICS: [HeuristicKind; 3] =
    [HeuristicKind::Blind, HeuristicKind::Add, HeuristicKind::Ff];

/// The search of the paper's table of coverage.
pub const SEARCH: SearchKind = SearchKind::Gbfs;

/// Its limit on evaluations.
pub const MAX_EVALUATIONS: u64 = 100_000;

/// Its number of seeds.
pub const SEEDS: usize = 20;

/// Coverage of H over the paper's seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// Mean over the seeds.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Of the best seed.
    pub best: u32,
}

/// Whether records of this name are of a learned heuristic that the paper compares with.
pub fn is_prior(name: &str) -> bool {
    name == ValueKind::Hgn.name()
}

/// Coverage of the learned heuristics that the paper compares with; `None` where it has no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorWork {
    /// GBFS with the hypergraph network.
    pub gbfs_hgn: Option<u32>,
    /// GBFS with the graph network's adjusted value function.
    pub gbfs_h: u32,
    /// GBFS with the graph network's value function.
    pub gbfs_v: u32,
    /// The lookahead search with the former.
    pub gbfls_h: u32,
    /// The lookahead search with the latter.
    pub gbfls_v: u32,
}

impl PriorWork {
    /// The number of the heuristic that records call so.
    pub fn of(&self, name: &str) -> Option<u32> {
        (name == ValueKind::Hgn.name())
            .then_some(self.gbfs_hgn)
            .flatten()
    }
}

/// What the paper says about a domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperDomain {
    /// The domain as the paper calls it.
    pub name: &'static str,
    /// Names that it has in PDDL.
    pub also: &'static [&'static str],
    /// Test problems.
    pub problems: u32,
    /// Coverage of the bases.
    pub base: [u32; 3],
    /// Coverage of H.
    pub learned: [Learned; 3],
    /// Problems where H, and where h, had fewer evaluations.
    pub wins: [(u32, u32); 3],
    /// Goals reached in training: mean and standard deviation.
    pub goals: [(f64, f64); 3],
    /// Coverage of prior work.
    pub prior: PriorWork,
}

const fn learned(mean: f64, standard_error: f64, best: u32) -> Learned {
    Learned {
        mean,
        standard_error,
        best,
    }
}

const fn prior(gbfs_hgn: Option<u32>, rest: [u32; 4]) -> PriorWork {
    let [gbfs_h, gbfs_v, gbfls_h, gbfls_v] = rest;
    PriorWork {
        gbfs_hgn,
        gbfs_h,
        gbfs_v,
        gbfls_h,
        gbfls_v,
    }
}

/// The eight domains of the paper.
pub const DOMAINS: [PaperDomain; 8] = [
    PaperDomain {
        name: "blocks",
        also: &["blocksworld-4ops", "blocksworld", "blocks-4-operators"],
        problems: 250,
        base: [0, 126, 87],
        learned: [
            learned(73.1, 2.8, 94),
            learned(186.6, 7.5, 229),
            learned(104.0, 1.5, 114),
        ],
        wins: [(94, 0), (224, 5), (109, 9)],
        goals: [(362.0, 42.0), (527.0, 58.0), (621.0, 31.0)],
        prior: prior(Some(3), [208, 0, 250, 250]),
    },
    PaperDomain {
        name: "ferry",
        also: &[],
        problems: 250,
        base: [0, 138, 250],
        learned: [
            learned(40.4, 3.2, 62),
            learned(233.9, 4.0, 249),
            learned(250.0, 0.0, 250),
        ],
        wins: [(62, 0), (249, 0), (250, 0)],
        goals: [(516.0, 52.0), (976.0, 19.0), (949.0, 21.0)],
        prior: prior(Some(27), [240, 0, 250, 250]),
    },
    PaperDomain {
        name: "gripper",
        also: &["gripper-strips"],
        problems: 250,
        base: [0, 250, 250],
        learned: [
            learned(47.5, 5.0, 85),
            learned(250.0, 0.0, 250),
            learned(250.0, 0.0, 250),
        ],
        wins: [(85, 0), (250, 0), (200, 50)],
        goals: [(275.0, 33.0), (673.0, 18.0), (600.0, 20.0)],
        prior: prior(Some(63), [139, 0, 250, 250]),
    },
    PaperDomain {
        name: "logistics",
        also: &["logistics-strips"],
        problems: 250,
        base: [0, 106, 243],
        learned: [
            learned(0.0, 0.0, 0),
            learned(54.1, 6.8, 115),
            learned(79.8, 12.9, 189),
        ],
        wins: [(0, 0), (108, 14), (167, 77)],
        goals: [(93.0, 21.0), (502.0, 33.0), (488.0, 32.0)],
        prior: prior(None, [0, 0, 30, 33]),
    },
    PaperDomain {
        name: "miconic",
        also: &[],
        problems: 442,
        base: [171, 442, 442],
        learned: [
            learned(143.3, 6.8, 246),
            learned(442.0, 0.0, 442),
            learned(440.8, 1.3, 442),
        ],
        wins: [(234, 17), (381, 61), (442, 0)],
        goals: [(542.0, 18.0), (708.0, 9.0), (722.0, 9.0)],
        prior: prior(None, [0, 0, 442, 442]),
    },
    PaperDomain {
        name: "parking",
        also: &[],
        problems: 700,
        base: [0, 607, 700],
        learned: [
            learned(0.9, 0.2, 3),
            learned(619.0, 32.4, 689),
            learned(696.9, 0.5, 700),
        ],
        wins: [(2, 0), (508, 105), (484, 173)],
        goals: [(400.0, 51.0), (809.0, 24.0), (814.0, 27.0)],
        prior: prior(None, [333, 0, 403, 357]),
    },
    PaperDomain {
        name: "satellite",
        also: &[],
        problems: 250,
        base: [0, 249, 222],
        learned: [
            learned(26.5, 5.0, 99),
            learned(233.3, 5.2, 250),
            learned(163.2, 11.0, 205),
        ],
        wins: [(93, 0), (115, 110), (155, 63)],
        goals: [(212.0, 37.0), (658.0, 34.0), (654.0, 26.0)],
        prior: prior(None, [9, 0, 137, 135]),
    },
    PaperDomain {
        name: "visitall",
        also: &["grid-visit-all"],
        problems: 252,
        base: [252, 252, 252],
        learned: [
            learned(207.6, 5.3, 238),
            learned(251.9, 0.1, 252),
            learned(252.0, 0.0, 252),
        ],
        wins: [(192, 60), (216, 36), (192, 59)],
        goals: [(211.0, 22.0), (198.0, 20.0), (350.0, 17.0)],
        prior: prior(None, [101, 0, 249, 249]),
    },
];

/// The paper's domain of this name, its own or one in PDDL.
pub fn domain(name: &str) -> Option<&'static PaperDomain> {
    let name = name.to_ascii_lowercase();
    DOMAINS
        .iter()
        .find(|domain| domain.name == name || domain.also.contains(&name.as_str()))
}

/// The place of a heuristic in the paper's columns.
pub fn column(heuristic: &str) -> Option<usize> {
    HEURISTICS
        .iter()
        .position(|&known| known.name() == heuristic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domains::DomainName;

    #[test]
    fn our_domain_files_bear_names_that_are_known() {
        for name in DomainName::ALL {
            let ours = name.to_string();
            let in_pddl = &name.domain().name;
            let known = domain(in_pddl).unwrap_or_else(|| panic!("{in_pddl}"));
            assert_eq!(known.name, ours);
        }
    }

    #[test]
    fn no_number_exceeds_its_total() {
        for domain in &DOMAINS {
            for column in 0..3 {
                assert!(domain.base[column] <= domain.problems);
                let learned = domain.learned[column];
                assert!(learned.mean <= f64::from(learned.best), "{}", domain.name);
                assert!(learned.best <= domain.problems);
                let (ours, base) = domain.wins[column];
                assert!(ours + base <= domain.problems);
            }
        }
    }
}
