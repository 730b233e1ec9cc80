//! Learning from the problem at hand: small problems are cut out of it, and the order of their states
//! is learnt.

use std::path::Path;
use std::time::Instant;

use homing_learner::{
    CountsConfig, CountsFunction, CutConfig, CutStatistics, Cutter, FitReport, GraphSpec,
    RankingConfig, TrainingSet, fit_watched,
};
use homing_planner::{Stop, Task, Watch};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::input::read_bytes;
use crate::settings;

/// How a search learns from the problem at hand. The defaults are what `homing solve` does; other
/// settings are for experiments, as TOML (`docs/cutting.md`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnHereConfig {
    /// Work of the classical search before the problem is learnt from, in rough nanoseconds: most
    /// problems that it solves at all within a minute are solved by then.
    pub first_work: u64,
    /// Work of the same search together with the worker that looks for what is new, likewise, before
    /// the first lesson: what that worker finds it mostly finds soon, and in large problems a lesson
    /// takes seconds.
    pub novel_work: u64,
    /// Work of the search with what was learnt, likewise, after which it learns anew from other cuts
    /// if it does not get on; half as much again after each lesson. 0: it learns once.
    pub lesson_work: u64,
    /// The least work of a search between two lessons, for each rough nanosecond that the lesson took:
    /// where cuts are dear, lessons are rare.
    pub lesson_pays: f64,
    /// Work of a search with a model before that, in first lessons: a model is given longer.
    pub model_lessons: u64,
    /// Cuts of every other lesson; the others have as many as `cut` says. Few teach most of what many
    /// do in a third of the time, and now and then something simpler that is better.
    pub few_cuts: usize,
    /// Problems with more objects than this begin with a lesson of many cuts: they have more to teach,
    /// and a wrong lesson costs them more.
    pub large: usize,
    /// States sampled in each cut, about.
    pub samples: usize,
    /// How small problems are cut out of the given one.
    pub cut: CutConfig,
    /// What is learnt. One order: there is little to tell two apart by.
    pub function: CountsConfig,
    /// An order with quiet relations and without hubs is fitted, too, and taken if it makes less
    /// than this share of the mistakes; 0: no such order.
    pub quiet_below: f64,
    /// How it is fitted. Fewer passes than for a model that is kept, since somebody waits.
    pub fit: RankingConfig,
}

impl Default for LearnHereConfig {
    fn default() -> Self {
        Self {
            first_work: 400_000_000,
            novel_work: 600_000_000,
            lesson_work: 1_500_000_000,
            lesson_pays: 1.0,
            model_lessons: 10,
            few_cuts: 60,
            large: 100,
            samples: 60,
            cut: CutConfig::default(),
            function: CountsConfig {
                second_head: false,
                ..CountsConfig::default()
            },
            quiet_below: 0.75,
            fit: RankingConfig {
                epochs: 16,
                ..RankingConfig::default()
            },
        }
    }
}

impl LearnHereConfig {
    /// The settings of a TOML file, over the usual ones.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or with everything that is wrong with its settings.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = read_bytes(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let bad = |reason: String| Error::bad_file(path, reason);
        let config: Self = settings::over(&Self::default(), &text).map_err(bad)?;
        match config.problems() {
            problems if problems.is_empty() => Ok(config),
            problems => Err(bad(problems.join("; "))),
        }
    }

    /// Everything that is wrong with it, in words.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = self.cut.problems();
        problems.extend(self.function.problems());
        problems.extend(self.fit.problems());
        if !(0.0..=1.0).contains(&self.quiet_below) {
            problems.push("`quiet_below` must be between 0 and 1".to_owned());
        }
        if !self.lesson_pays.is_finite() || self.lesson_pays < 0.0 {
            problems.push("`lesson_pays` must not be negative".to_owned());
        }
        if self.few_cuts == 0 {
            problems.push("`few_cuts` must be at least 1".to_owned());
        }
        if self.samples == 0 {
            problems.push("`samples` must be at least 1".to_owned());
        }
        if !self.function.heuristics.is_empty() {
            problems.push(
                "`heuristics` must be empty: what is learnt here orders steps before a state is there"
                    .to_owned(),
            );
        }
        problems
    }

    /// How many cuts a lesson has, the first one being 0.
    pub(crate) fn cuts_of_lesson(&self, lesson: usize, task: &Task) -> usize {
        let begins_with_many = task.problem().objects.len() > self.large;
        match begins_with_many == lesson.is_multiple_of(2) {
            true => self.cut.cuts,
            false => self.few_cuts.min(self.cut.cuts),
        }
    }
}

/// What was learnt from the problem at hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LearnedHere {
    /// How often an order was learnt. Seconds are of all lessons, the rest is of the last.
    #[serde(default)]
    pub lessons: usize,
    /// Small problems cut out of the given one.
    pub cuts: usize,
    /// States walked through, all tries included.
    pub states: u64,
    /// Features that were met.
    pub features: usize,
    /// Pairs of states that were learnt from.
    pub pairs: usize,
    /// The share of them in the right order.
    pub accuracy: f64,
    /// Whether the order is one with quiet relations and without hubs.
    #[serde(default)]
    pub quiet: bool,
    /// What the last lesson took, in rough nanoseconds: counted, not timed.
    #[serde(skip)]
    pub(crate) work: u64,
    /// Wall-clock seconds of the search before.
    pub first_seconds: f64,
    /// Wall-clock seconds of cutting, walking through the cuts included.
    pub cut_seconds: f64,
    /// Wall-clock seconds of walking through them.
    #[serde(default)]
    pub walk_seconds: f64,
    /// Wall-clock seconds of sampling, pairing and fitting.
    pub fit_seconds: f64,
}

impl LearnedHere {
    /// A further lesson after those before.
    pub(crate) fn after(self, before: &Self) -> Self {
        Self {
            lessons: before.lessons + 1,
            first_seconds: before.first_seconds,
            cut_seconds: before.cut_seconds + self.cut_seconds,
            walk_seconds: before.walk_seconds + self.walk_seconds,
            fit_seconds: before.fit_seconds + self.fit_seconds,
            ..self
        }
    }
}

/// What one pair costs in all passes of the fits, in rough nanoseconds.
const PAIR_WORK: u64 = 20_000;

/// What cutting took, in rough nanoseconds, from what was counted on the way.
fn work_of_cutting(done: &CutStatistics) -> u64 {
    let explorations = done.explorations as u64 * 20_000_000;
    done.states * 1_000 + done.actions * 1_500 + done.tries as u64 * 100_000 + explorations
}

/// Cuts so many small problems out of a task and learns the order of their states; no function if
/// none could be cut.
pub(crate) fn learn_here(
    task: &Task,
    config: &LearnHereConfig,
    cuts: usize,
    seed: u64,
    watch: &mut dyn Watch,
) -> Result<(Option<CountsFunction>, LearnedHere), Stop> {
    let begin = Instant::now();
    let cut = CutConfig {
        cuts,
        ..config.cut.clone()
    };
    let report = Cutter::new(task, cut, seed).cut(watch);
    if let Some(stop) = report.stopped {
        return Err(stop);
    }
    let mut record = LearnedHere {
        cuts: report.cuts.len(),
        states: report.statistics.states,
        work: work_of_cutting(&report.statistics),
        cut_seconds: begin.elapsed().as_secs_f64(),
        walk_seconds: report.walking.as_secs_f64(),
        ..LearnedHere::default()
    };
    let begin = Instant::now();
    let set = report.into_training_set(config.samples, seed);
    if set.problems.is_empty() {
        return Ok((None, record));
    }
    let (fitted, report) = fit_here(task, &set, config, seed, watch)?;
    record.quiet = fitted.spec().quiet;
    record.features = report.features;
    record.pairs = report.pairs;
    record.work += report.pairs as u64 * PAIR_WORK;
    record.accuracy = report.accuracy.first().copied().unwrap_or(0.0);
    record.fit_seconds = begin.elapsed().as_secs_f64();
    Ok((Some(fitted), record))
}

/// Fits the order as configured; and one with quiet relations, which is kept if it makes clearly
/// fewer mistakes.
fn fit_here(
    task: &Task,
    set: &TrainingSet,
    config: &LearnHereConfig,
    seed: u64,
    watch: &mut dyn Watch,
) -> Result<(CountsFunction, FitReport), Stop> {
    // The given problem, not its small parts, tells which relations are dense.
    let spec = |function: &CountsConfig| {
        let drawn = GraphSpec::of_tasks(&[task], function.rounds, function.second_head);
        drawn.configured(function, &[task])
    };
    let function = &config.function;
    let plain = fit_watched(set, &spec(function), function, &config.fit, seed, watch)?;
    if config.quiet_below == 0.0 || function.quiet || function.rounds < 2 {
        return Ok(plain);
    }
    let quiet_function = CountsConfig {
        second_head: true,
        quiet: true,
        hubs: false,
        ..function.clone()
    };
    let quiet_spec = spec(&quiet_function);
    if !quiet_spec.quiet {
        return Ok(plain);
    }
    let quiet = fit_watched(set, &quiet_spec, &quiet_function, &config.fit, seed, watch)?;
    let mistakes = |report: &FitReport| 1.0 - report.accuracy[0];
    Ok(
        match mistakes(&quiet.1) < config.quiet_below * mistakes(&plain.1) {
            true => quiet,
            false => plain,
        },
    )
}
