//! The search that `homing solve` takes by itself: lazy, with all that is known or can be learnt.
//!
//! A model joins as a second worker. Without one the classical search begins alone. If it has not
//! found a plan at once, a worker joins that reaches one goal after another. If there is
//! no plan after a little work, small problems are cut out of the given one, the order of their
//! states is learnt, and both go on with the states already met. Then a worker that looks for what is
//! new joins as well. Where what was learnt does not lead on, other small problems are cut out and
//! another order is learnt: a further lesson. All bounds are counters, so that the same seed gives the
//! same plan on any machine.

use std::time::Instant;

use homing_learner::{AnyModel, CountsFunction};
use homing_planner::search::{
    Deferred, DeferredConfig, Finder, Limit, Limits, Outcome, SearchResult, Statistics, Trust,
};
use homing_planner::{Costs, Heuristic, HeuristicKind, Stop, Task, Watch};
use serde::{Deserialize, Serialize};

use crate::better::work_of;
use crate::compute::compute;
use crate::error::Error;
use crate::here::{LearnHereConfig, LearnedHere, learn_here};
use crate::observe::{Notice, Observer};
use crate::solve::SearchConfig;

/// Work of the guided worker before the serial one joins, in rough nanoseconds: what is solved at once
/// needs no tables for another.
const ALONE_WORK: u64 = 20_000_000;

/// Settings of the lazy search. Each part can be switched off, to see what it brings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LazyConfig {
    /// Whether landmarks are counted, beside the heuristic.
    pub landmarks: bool,
    /// Whether steps by preferred actions have queues of their own.
    pub preferred: bool,
    /// Whether a queue that draws by type helps off plateaus.
    pub by_type: bool,
    /// Whether of steps that differ only in objects that nothing tells apart one is enough.
    pub interchange: bool,
    /// Whether actions that no plan can have are left out while grounding.
    pub doomed: bool,
    /// How many turns ahead queues of preferred actions get on a new best estimate.
    pub boost: i64,
    /// The part of the work for the learned worker, 0 to 1.
    pub share: f64,
    /// The part of the work for the worker that looks for what is new, 0 to 1; without it if 0.
    pub novelty: f64,
    /// The part of the work for the worker that reaches one goal after another, 0 to 1; without it if
    /// 0.
    pub serial: f64,
    /// The part of the work for descents by the learned score as long as they get on, 0 to 1; without
    /// them if 0.
    pub descent: f64,
}

impl Default for LazyConfig {
    fn default() -> Self {
        let DeferredConfig {
            preferred,
            boost,
            by_type,
            interchange,
            share,
            novelty,
            serial,
            descent,
            ..
        } = DeferredConfig::default();
        Self {
            landmarks: true,
            preferred,
            by_type,
            interchange,
            doomed: true,
            boost,
            share,
            novelty,
            serial,
            descent,
        }
    }
}

/// When a search without a model learns from the problem at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearnWhen {
    /// Never.
    Never,
    /// When the classical search has not found a plan soon.
    #[default]
    Auto,
    /// Before anything else.
    First,
}

impl LearnWhen {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Never, Self::Auto, Self::First];

    /// What it means, in a line.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Never => "Never",
            Self::Auto => "When the classical search has not found a plan soon",
            Self::First => "Before anything else",
        }
    }

    /// Its name, as users type it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Auto => "auto",
            Self::First => "first",
        }
    }
}

/// What a lazy search came to.
pub(crate) struct LazyResult {
    pub(crate) result: SearchResult,
    pub(crate) learned: Option<LearnedHere>,
    pub(crate) found_by: Option<Finder>,
    /// The work of the search, in rough nanoseconds: counted, not timed.
    pub(crate) work: u64,
}

/// Searches as the module says.
pub(crate) fn search(
    task: &Task,
    model: Option<&AnyModel>,
    config: &SearchConfig,
    here: &LearnHereConfig,
    limits: Limits,
    watch: &mut dyn Watch,
    observer: &dyn Observer,
) -> Result<LazyResult, Error> {
    let model_error = |error| Error::Model { path: None, error };
    let scorer = match model {
        Some(model) => model.function().scorer(task).map_err(model_error)?,
        None => None,
    };
    let mut heuristics: Vec<Box<dyn Heuristic + '_>> = Vec::new();
    if let (Some(model), None) = (model, &scorer) {
        let learned = model
            .function()
            .heuristic(task, compute(config.threads, config.simd));
        heuristics.push(learned.map_err(model_error)?);
    }
    let mut kinds = vec![config.heuristic];
    if config.lazy.landmarks && config.heuristic != HeuristicKind::Landmarks {
        kinds.push(HeuristicKind::Landmarks);
    }
    for kind in kinds {
        // A step counts, whatever it costs: what is near in steps is found first.
        match kind.build_watched(task, Costs::Unit, watch) {
            Ok(heuristic) => heuristics.push(heuristic),
            Err(stop) => return Ok(LazyResult::stopped(stop)),
        }
    }
    let mut search = Deferred::new(task, heuristics, config.lazy.deferred(config.seed));
    let has_scorer = scorer.is_some();
    if let Some(scorer) = scorer {
        search.add_scorer(scorer, Trust::High);
    }
    let mut lessons = Lessons::new(task, here, config.seed);
    let begin = Instant::now();
    let mut outcome = match config.learn {
        LearnWhen::First if model.is_none() => Outcome::LimitReached(Limit::Work),
        _ => search.run(limits, Some(ALONE_WORK.min(here.first_work)), watch),
    };
    let is_open = |outcome: &Outcome| *outcome == Outcome::LimitReached(Limit::Work);
    if is_open(&outcome) {
        search.add_serial();
        let work = here.first_work.saturating_sub(search.work());
        if config.learn != LearnWhen::First || model.is_some() {
            outcome = search.run(limits, Some(work), watch);
        }
    }
    if is_open(&outcome) {
        search.add_novelty();
        let learns = config.learn != LearnWhen::Never;
        match model {
            Some(_) => {
                if has_scorer {
                    search.begin_guided_anew();
                }
                let most = here.lesson_work.saturating_mul(here.model_lessons);
                let more_work = (learns && has_scorer && most > 0).then_some(most);
                outcome = run_while_it_gets_on(&mut search, limits, more_work, watch);
            }
            None if !learns => outcome = search.run(limits, None, watch),
            None if config.learn == LearnWhen::Auto => {
                outcome = search.run(limits, Some(here.novel_work), watch);
            }
            None => {}
        }
        if is_open(&outcome) {
            lessons.record.first_seconds = begin.elapsed().as_secs_f64();
            outcome = lessons.search(&mut search, limits, watch, observer);
        }
    }
    Ok(LazyResult {
        found_by: search.found_by(),
        result: SearchResult {
            outcome,
            statistics: search.statistics(),
        },
        learned: (lessons.record.lessons > 0).then_some(lessons.record),
        work: search.work(),
    })
}

/// Searches until so much work is done and descents no longer find anything better.
fn run_while_it_gets_on(
    search: &mut Deferred<'_>,
    limits: Limits,
    more_work: Option<u64>,
    watch: &mut dyn Watch,
) -> Outcome {
    loop {
        let outcome = search.run(limits, more_work, watch);
        if outcome != Outcome::LimitReached(Limit::Work) || !search.descends() {
            return outcome;
        }
    }
}

/// Learning from the problem at hand, and again where the search does not get on.
struct Lessons<'t> {
    task: &'t Task,
    here: &'t LearnHereConfig,
    seed: u64,
    record: LearnedHere,
}

impl<'t> Lessons<'t> {
    fn new(task: &'t Task, here: &'t LearnHereConfig, seed: u64) -> Self {
        let record = LearnedHere::default();
        Self {
            task,
            here,
            seed,
            record,
        }
    }

    /// Learns and searches. What cuts are drawn is chance, and some orders lead astray: a search that
    /// has stopped getting on begins anew with what other cuts teach, each time after half as much
    /// work again, and after at least as much as pays for the lesson.
    fn search(
        &mut self,
        search: &mut Deferred<'t>,
        limits: Limits,
        watch: &mut dyn Watch,
        observer: &dyn Observer,
    ) -> Outcome {
        let mut work = self.here.lesson_work;
        loop {
            let function = match self.learn(watch) {
                Ok(function) => function,
                Err(stop) => return Outcome::LimitReached(Limit::Stopped(stop)),
            };
            observer.notice(&Notice::LearnedHere(self.record.clone()));
            let learned = function.is_some();
            if let Some(function) = function {
                search.add_scorer(function.scorer(self.task), Trust::Low);
            }
            let pays = (self.record.work as f64 * self.here.lesson_pays) as u64;
            let more_work = (learned && work > 0).then_some(work.max(pays));
            let outcome = run_while_it_gets_on(search, limits, more_work, watch);
            if outcome != Outcome::LimitReached(Limit::Work) {
                return outcome;
            }
            work = work.saturating_add(work.div_ceil(2));
        }
    }

    fn learn(&mut self, watch: &mut dyn Watch) -> Result<Option<CountsFunction>, Stop> {
        let seed = self.seed.wrapping_add(self.record.lessons as u64);
        let cuts = self.here.cuts_of_lesson(self.record.lessons, self.task);
        let (function, lesson) = learn_here(self.task, self.here, cuts, seed, watch)?;
        self.record = lesson.after(&self.record);
        Ok(function)
    }
}

impl LazyConfig {
    fn deferred(&self, seed: u64) -> DeferredConfig {
        DeferredConfig {
            preferred: self.preferred,
            boost: self.boost,
            by_type: self.by_type,
            interchange: self.interchange,
            share: self.share,
            novelty: self.novelty,
            serial: self.serial,
            descent: self.descent,
            seed,
            ..DeferredConfig::default()
        }
    }
}

impl LazyResult {
    /// Of a search that does not learn.
    pub(crate) fn plain(result: SearchResult) -> Self {
        Self {
            work: work_of(&result.statistics),
            result,
            learned: None,
            found_by: None,
        }
    }

    /// Ended before the search began.
    pub(crate) fn stopped(stop: Stop) -> Self {
        Self::plain(SearchResult {
            outcome: Outcome::LimitReached(Limit::Stopped(stop)),
            statistics: Statistics::default(),
        })
    }
}
