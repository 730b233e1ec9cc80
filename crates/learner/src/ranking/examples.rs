//! Where examples come from: problems that can be walked through.

use std::sync::Arc;

use homing_nlm::SplitMix64;
use homing_planner::{Costs, Stop, Task, Watch};
use serde::{Deserialize, Serialize};

use crate::exact::{ExactSpace, Sample, WalkEnd, WalkLimits};
use crate::teamwork::for_all;

/// How problems are walked through. Counters bound it, no clock does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExactConfig {
    /// States of one problem at the most.
    pub states: usize,
    /// States of all problems together, those given up included; the problem at which the sum
    /// passes this is the last.
    pub total_states: usize,
    /// Problems walked through at the most, the smallest first.
    pub problems: usize,
    /// After so many problems in a row that are too large, larger ones are not tried.
    pub patience: usize,
    /// States sampled in each problem, about.
    pub samples: usize,
    /// Problems that small ones are cut out of, spread over the larger half; 0 for none.
    pub cut_from: usize,
    /// Small problems cut out of each of them at the most.
    pub cuts: usize,
    /// Whether every action costs 1, whatever the problem says.
    pub unit_cost: bool,
}

impl Default for ExactConfig {
    fn default() -> Self {
        Self {
            states: 100_000,
            total_states: 6_000_000,
            problems: 100,
            patience: 12,
            samples: 60,
            cut_from: 8,
            cuts: 50,
            unit_cost: true,
        }
    }
}

/// A problem and what there is to learn from it.
#[derive(Clone, Debug)]
pub struct TrainingProblem {
    /// The task.
    pub task: Arc<Task>,
    /// States with their children and true distances.
    pub samples: Vec<Sample>,
    /// Whether it was cut out of a larger one. Its goals are a few of those that people ask for, so
    /// that what is a dead end there need not be one here.
    pub is_cut: bool,
}

/// Problems with examples, all of one domain.
#[derive(Clone, Debug, Default)]
pub struct TrainingSet {
    /// In the order they were added.
    pub problems: Vec<TrainingProblem>,
}

impl TrainingSet {
    /// The problems of some sets, each with its first `count` samples.
    pub(crate) fn with_samples(sets: &[&Self], count: usize) -> Self {
        let problems = sets.iter().flat_map(|set| &set.problems);
        let problems = problems.map(|problem| TrainingProblem {
            task: Arc::clone(&problem.task),
            samples: problem.samples.iter().take(count).cloned().collect(),
            is_cut: problem.is_cut,
        });
        Self {
            problems: problems.collect(),
        }
    }
}

/// What became of the problems that were to be learnt from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GatherReport {
    /// Walked through, with something to learn from.
    pub walked: usize,
    /// Too large to be walked through, or not tried since smaller ones were.
    pub too_large: usize,
    /// Without a plan, or with nothing to do.
    pub unsolvable: usize,
    /// Not tried, since enough were walked through.
    pub not_needed: usize,
    /// States walked through, in all.
    pub states: usize,
    /// Dead ends among them.
    pub dead_ends: usize,
    /// States sampled, with their children.
    pub samples: usize,
    /// Indices of the problems that were walked through.
    pub walked_problems: Vec<usize>,
    /// Small problems cut out of larger ones.
    pub cuts: usize,
}

/// Problems worked on before the bounds are looked at again: a constant, so that the number of
/// threads changes nothing.
const WAVE: usize = 8;

/// How much there is to a task, roughly: problems are taken in this order.
pub(crate) fn size_of(task: &Task) -> (usize, usize) {
    (task.propositions().len(), task.action_count())
}

/// What walking through one problem came to.
enum Walked {
    Done {
        samples: Vec<Sample>,
        states: usize,
        dead_ends: usize,
        solvable: bool,
    },
    TooLarge {
        states: usize,
    },
}

/// Walks through problems, the smallest first, and samples examples from them.
///
/// # Errors
///
/// If the watch says stop.
pub fn gather(
    tasks: &[Arc<Task>],
    config: &ExactConfig,
    seed: u64,
    threads: usize,
    watch: &mut dyn Watch,
) -> Result<(TrainingSet, GatherReport), Stop> {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|&index| (size_of(&tasks[index]), index));
    let mut set = TrainingSet::default();
    let mut report = GatherReport::default();
    let (mut total, mut in_a_row) = (0, 0);
    let mut rest = &order[..];
    while !rest.is_empty() {
        if report.walked >= config.problems || total >= config.total_states {
            report.not_needed += rest.len();
            break;
        }
        if in_a_row >= config.patience {
            report.too_large += rest.len();
            break;
        }
        let (wave, behind) = rest.split_at(rest.len().min(WAVE));
        rest = behind;
        let outcomes = for_all(wave, threads, watch, |&index, watch| {
            walk(&tasks[index], index, config, seed, watch)
        })?;
        for (&index, walked) in wave.iter().zip(outcomes) {
            match walked {
                Walked::TooLarge { states } => {
                    total += states;
                    in_a_row += 1;
                    report.too_large += 1;
                }
                Walked::Done {
                    samples,
                    states,
                    dead_ends,
                    solvable,
                } => {
                    total += states;
                    in_a_row = 0;
                    if !solvable || samples.is_empty() {
                        report.unsolvable += 1;
                        continue;
                    }
                    if report.walked == config.problems {
                        report.not_needed += 1;
                        continue;
                    }
                    report.walked += 1;
                    report.walked_problems.push(index);
                    report.states += states;
                    report.dead_ends += dead_ends;
                    report.samples += samples.len();
                    set.problems.push(TrainingProblem {
                        task: Arc::clone(&tasks[index]),
                        samples,
                        is_cut: false,
                    });
                }
            }
        }
    }
    Ok((set, report))
}

fn walk(
    task: &Task,
    index: usize,
    config: &ExactConfig,
    seed: u64,
    watch: &mut dyn Watch,
) -> Result<Walked, Stop> {
    let costs = Costs::unit_if(config.unit_cost);
    match ExactSpace::walk(task, costs, WalkLimits::states(config.states), watch) {
        Err(WalkEnd::TooLarge { states }) => Ok(Walked::TooLarge { states }),
        Err(WalkEnd::Stopped(stop)) => Err(stop),
        Ok(space) => {
            // A stream of its own: what is sampled here does not depend on other problems.
            let mut random = SplitMix64::new(seed ^ (index as u64 + 1).wrapping_mul(0x5851_F42D));
            Ok(Walked::Done {
                samples: space.sample(config.samples, &mut random),
                states: space.len(),
                dead_ends: space.dead_ends(),
                solvable: space.is_solvable(),
            })
        }
    }
}
