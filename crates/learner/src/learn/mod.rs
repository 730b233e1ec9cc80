//! Learning from training problems, from problems to a model: gather examples, fit candidates,
//! compare them by searches on larger problems, keep the best.

mod config;
mod select;

use std::fmt;
use std::sync::Arc;

use homing_planner::{Costs, Stop, Task, Watch};
use serde::{Deserialize, Serialize};

pub use self::config::{DataSource, FunctionConfig, LearnConfig, Objective, SelectionConfig};
use self::select::{Candidate, Choice, HEURISTICS_ALONE, compare, one_alone};
use crate::counts::{CountsConfig, CountsFunction, CountsModel, GraphSpec, WEIGHT_SCALE};
use crate::cut::{CutConfig, Cutter};
use crate::ranking::{ExactConfig, FitReport, GatherReport, TrainingSet, fit, gather, size_of};
use crate::signature::{MixedDomains, Signature};
use crate::teamwork::for_all;

/// What there is to learn from.
#[derive(Clone, Debug, Default)]
pub struct Examples {
    /// From problems that were walked through.
    pub walked: TrainingSet,
    /// From small problems that were cut out of larger ones.
    pub cuts: TrainingSet,
    /// What became of the training problems.
    pub report: GatherReport,
}

/// What a run of learning came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnReport {
    /// What became of the training problems.
    pub data: GatherReport,
    /// What the fit of the chosen candidate came to.
    pub fit: FitReport,
    /// Problems kept out of the fit, on which candidates were compared.
    pub held_out: usize,
    /// All candidates, in the order they were tried.
    pub candidates: Vec<CandidateRecord>,
    /// The index of the one that was kept.
    pub chosen: usize,
}

/// How a candidate did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CandidateRecord {
    /// What is special about it.
    pub name: String,
    /// Rounds of colours.
    pub rounds: usize,
    /// Orders it offers.
    pub heads: usize,
    /// States sampled in each problem, about.
    pub samples: usize,
    /// The seed of its fit.
    pub seed: u64,
    /// What its fit came to.
    pub fit: FitReport,
    /// Problems solved by the learned order alone.
    pub solved: usize,
    /// What these searches took, in rough nanoseconds: counted, not timed.
    pub work: u64,
}

/// How far learning is.
#[derive(Clone, Debug, PartialEq)]
pub enum LearnProgress {
    /// Problems were walked through.
    Gathered(GatherReport),
    /// A candidate was fitted.
    Fitted {
        /// What is special about it.
        name: String,
        /// What its fit came to.
        fit: FitReport,
    },
    /// A candidate has had its searches.
    Compared {
        /// How it did.
        record: CandidateRecord,
        /// How many candidates there are.
        of: usize,
    },
}

/// Why nothing can be learnt.
#[derive(Debug, PartialEq)]
pub enum LearnError {
    /// There is nothing to learn from.
    NoProblems,
    /// A problem is of another domain than the first.
    MixedDomains(MixedDomains),
    /// The configuration is wrong.
    Config(Vec<String>),
    /// No problem could be walked through.
    NothingWalked(GatherReport),
    /// The outside ended it.
    Stopped(Stop),
}

impl From<MixedDomains> for LearnError {
    fn from(mixed: MixedDomains) -> Self {
        Self::MixedDomains(mixed)
    }
}

impl fmt::Display for LearnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProblems => write!(f, "there are no problems to learn from"),
            Self::MixedDomains(mixed) => write!(f, "{mixed}"),
            Self::Config(problems) => write!(f, "{}", problems.join("; ")),
            Self::NothingWalked(report) => write!(
                f,
                "no problem could be walked through: {} too large, {} without a plan or with nothing \
                 to do; give smaller problems, or raise `states`",
                report.too_large, report.unsolvable
            ),
            Self::Stopped(_) => write!(f, "learning was stopped"),
        }
    }
}

impl std::error::Error for LearnError {}

impl From<Stop> for LearnError {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

/// Learns a value function from problems of one domain. The number of threads changes no bit.
///
/// The largest problems are kept out of the fit, to compare candidates on.
///
/// # Errors
///
/// If the problems or the configuration are of no use, or the watch says stop.
pub fn learn(
    tasks: &[Arc<Task>],
    config: &LearnConfig,
    seed: u64,
    threads: usize,
    watch: &mut dyn Watch,
    tell: &mut dyn FnMut(&LearnProgress),
) -> Result<CountsModel, LearnError> {
    let first = tasks.first().ok_or(LearnError::NoProblems)?;
    let problems = config.problems();
    if !problems.is_empty() {
        return Err(LearnError::Config(problems));
    }
    Signature::shared(first, tasks.iter().map(Arc::as_ref))?;
    let (to_fit, held_out) = hold_out(tasks, &config.selection);
    let DataSource::Exact(data) = &config.data;
    // Candidates may want more samples than the rest: those of all others are the first of these.
    let data = ExactConfig {
        samples: data.samples * config.selection.most_samples(),
        ..data.clone()
    };
    let (walked, mut report) = gather(&to_fit, &data, seed, threads, watch)?;
    let cuts = cut_out(&to_fit, &data, seed, threads, watch)?;
    report.cuts = cuts.problems.len();
    tell(&LearnProgress::Gathered(report.clone()));
    let examples = Examples {
        walked,
        cuts,
        report,
    };
    learn_from(
        &to_fit, &examples, &held_out, config, seed, threads, watch, tell,
    )
}

/// Cuts small problems out of some of the larger ones: these have more in them than the few that
/// can be walked through whole.
fn cut_out(
    tasks: &[Arc<Task>],
    config: &ExactConfig,
    seed: u64,
    threads: usize,
    watch: &mut dyn Watch,
) -> Result<TrainingSet, Stop> {
    let mut order: Vec<&Arc<Task>> = tasks.iter().collect();
    order.sort_by_key(|task| size_of(task));
    let larger = &order[order.len() / 2..];
    let count = config.cut_from.min(larger.len());
    let chosen: Vec<(u64, &Task)> = (0..count)
        .map(|index| (index as u64, &**larger[index * larger.len() / count]))
        .collect();
    let sets = for_all(&chosen, threads, watch, |&(index, task), watch| {
        let settings = CutConfig {
            cuts: config.cuts,
            costs: Costs::unit_if(config.unit_cost),
            ..CutConfig::default()
        };
        // A stream of its own each, so that the number of threads changes nothing.
        let seed = seed.wrapping_add(index);
        let cutter = Cutter::new(task, settings, seed);
        let sampled = cutter.training_set(config.samples, !seed, watch);
        match sampled.stopped {
            Some(stop) => Err(stop),
            None => Ok(sampled.set),
        }
    })?;
    Ok(TrainingSet {
        problems: sets.into_iter().flat_map(|set| set.problems).collect(),
    })
}

/// As [`learn`], with examples that are already there, which came from `tasks`.
///
/// # Errors
///
/// If there are none, or the watch says stop.
#[allow(clippy::too_many_arguments)]
pub fn learn_from(
    tasks: &[Arc<Task>],
    examples: &Examples,
    held_out: &[Arc<Task>],
    config: &LearnConfig,
    seed: u64,
    threads: usize,
    watch: &mut dyn Watch,
    tell: &mut dyn FnMut(&LearnProgress),
) -> Result<CountsModel, LearnError> {
    let all = examples.walked.problems.iter();
    let Some(first) = all.chain(&examples.cuts.problems).next() else {
        return Err(LearnError::NothingWalked(examples.report.clone()));
    };
    let domain = Arc::clone(&first.task.problem().domain);
    let candidates = candidates(tasks, examples, config, seed, tell);
    let Choice {
        candidate,
        records,
        index,
    } = compare(
        candidates,
        held_out,
        &config.selection,
        threads,
        watch,
        tell,
    )?;
    let report = LearnReport {
        data: examples.report.clone(),
        fit: candidate.fit,
        held_out: held_out.len(),
        candidates: records,
        chosen: index,
    };
    let function = candidate.function;
    Ok(CountsModel::new(
        function,
        &domain,
        config.clone(),
        seed,
        report,
    ))
}

/// Splits problems into those to fit and the largest, which are kept out.
fn hold_out(tasks: &[Arc<Task>], config: &SelectionConfig) -> (Vec<Arc<Task>>, Vec<Arc<Task>>) {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|&index| (size_of(&tasks[index]), index));
    // A problem or two are all needed for the fit.
    let kept_out = (tasks.len() / 4).min(config.held_out);
    let (small, large) = order.split_at(order.len() - kept_out);
    let mut to_fit: Vec<usize> = small.to_vec();
    to_fit.sort_unstable();
    let take = |indices: &[usize]| indices.iter().map(|&i| Arc::clone(&tasks[i])).collect();
    (take(&to_fit), take(large))
}

/// What one fit is to be like.
#[derive(Clone, Copy)]
struct Plan {
    name: &'static str,
    rounds: usize,
    samples: usize,
    cuts: bool,
    quiet: bool,
    hubs: bool,
    counts: bool,
    seed: u64,
}

/// Fits all candidates: the plain one first, which wins where nothing else does.
fn candidates(
    tasks: &[Arc<Task>],
    examples: &Examples,
    config: &LearnConfig,
    seed: u64,
    tell: &mut dyn FnMut(&LearnProgress),
) -> Vec<Candidate> {
    let FunctionConfig::Counts(function) = &config.function;
    let Objective::Ranking(ranking) = &config.objective;
    let DataSource::Exact(data) = &config.data;
    let rounds = function.rounds;
    let plain = Plan {
        name: "as configured",
        rounds,
        samples: data.samples,
        cuts: true,
        quiet: function.quiet,
        hubs: function.hubs,
        counts: true,
        seed,
    };
    // The given problems, not their small parts, tell which relations are dense.
    let tasks: Vec<&Task> = tasks.iter().map(AsRef::as_ref).collect();
    let drawn = GraphSpec::of_tasks(&tasks, rounds, function.second_head);
    let mut plans = vec![plain];
    if config.selection.candidates {
        let Examples { walked, cuts, .. } = examples;
        if !walked.problems.is_empty() && !cuts.problems.is_empty() {
            plans.push(Plan {
                name: "without cuts",
                cuts: false,
                ..plain
            });
        }
        plans.push(Plan {
            name: "another seed",
            seed: seed.wrapping_add(1),
            ..plain
        });
        plans.push(Plan {
            name: "more samples",
            samples: data.samples * 3,
            ..plain
        });
        if rounds == 2 && !function.quiet && !drawn.deep.is_empty() {
            let quiet = Plan {
                name: "quiet relations",
                quiet: true,
                hubs: false,
                ..plain
            };
            plans.push(quiet);
            if !walked.problems.is_empty() && !cuts.problems.is_empty() {
                plans.push(Plan {
                    name: "quiet relations without cuts",
                    cuts: false,
                    ..quiet
                });
            }
        }
        if rounds == 2 {
            plans.push(Plan {
                name: "one round",
                rounds: 1,
                ..plain
            });
        }
        if !function.heuristics.is_empty() {
            plans.push(Plan {
                name: HEURISTICS_ALONE,
                counts: false,
                ..plain
            });
        }
    }
    let mut candidates = Vec::new();
    for plan in plans {
        let sets = [&examples.walked, &examples.cuts];
        let sets = if plan.cuts { &sets[..] } else { &sets[..1] };
        let set = TrainingSet::with_samples(sets, plan.samples);
        let function = CountsConfig {
            rounds: plan.rounds,
            quiet: plan.quiet,
            hubs: plan.hubs,
            max_features: if plan.counts {
                function.max_features
            } else {
                0
            },
            ..function.clone()
        };
        let spec = drawn.clone().configured(&function, &tasks);
        let (fitted, fit) = fit(&set, &spec, &function, ranking, plan.seed);
        tell(&LearnProgress::Fitted {
            name: plan.name.to_owned(),
            fit: fit.clone(),
        });
        let mut add = |name: String, function: CountsFunction, fit: FitReport| {
            candidates.push(Candidate {
                name,
                rounds: plan.rounds,
                samples: plan.samples,
                seed: plan.seed,
                function,
                fit,
            });
        };
        // Each head alone, to know which of them a search with one queue should go by.
        if config.selection.candidates && fitted.heads() == 2 && plan.seed == seed {
            for (head, name) in ["first", "second"].iter().enumerate() {
                let fit = FitReport {
                    accuracy: vec![fit.accuracy[head]],
                    ..fit.clone()
                };
                let name = format!("{}, {name} head alone", plan.name);
                add(name, fitted.one_head(head), fit);
            }
        }
        add(plan.name.to_owned(), fitted, fit);
        // Of several heuristics each alone: one queue goes by it whatever it weighs.
        if plan.name == HEURISTICS_ALONE && function.heuristics.len() > 1 {
            for &kind in &function.heuristics {
                let alone = CountsFunction::new(spec.clone(), 1, Vec::new());
                let alone = alone.with_heuristics(vec![(kind, [WEIGHT_SCALE, 0])]);
                add(one_alone(kind), alone, FitReport::default());
            }
        }
    }
    // Of two that do equally well the first is kept: both heads before one.
    candidates.sort_by_key(|candidate| candidate.name.contains(", "));
    candidates
}
