//! Small problems cut out of a large one.
//!
//! A problem teaches how to solve it: what is learned from its small parts holds for the whole. A
//! part has a few of the goals, the objects that a way to them needs, and what the initial state says
//! about these. Goals, objects and ways are drawn by chance, so that parts differ as the situations
//! of the whole do:
//!
//! 1. the delete relaxation is explored under random costs, several times ([`relaxed`]);
//! 2. goals are chosen, then objects: those of relaxed plans, or of the goals and their neighbours
//!    ([`draw`]);
//! 3. a problem is built over them, and mutex groups that lost their true atom are repaired
//!    ([`build`]);
//! 4. a problem that looks like an earlier one is dropped ([`colours`]); the others are grounded and
//!    walked through. Too large: fewer objects; no plan: more.
//!
//! What is left are problems with a plan and the true distance of every state. All bounds are
//! counters, so that a seed gives the same cuts on every machine.

mod build;
mod colours;
mod config;
mod draw;
mod index;
mod kept;
mod lists;
mod relaxed;
mod sizes;
mod statistics;
mod trail;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use homing_nlm::SplitMix64;
use homing_pddl::Problem;
use homing_planner::{GroundError, Progress, Stop, Task, Watch, ground};

pub use config::CutConfig;
pub use statistics::CutStatistics;

use crate::exact::{Distance, ExactSpace, WalkEnd, WalkLimits};
use crate::ranking::{TrainingProblem, TrainingSet};
use build::{Builder, Draft};
use draw::{Drawer, Ways};
use index::Index;
use relaxed::{Explorations, Explorer};
use sizes::Sizes;

/// A small problem with a plan, and its whole state space.
pub struct Cut {
    /// The problem: some objects and goals of the task it was cut out of.
    pub problem: Arc<Problem>,
    /// The problem, grounded.
    pub task: Arc<Task>,
    /// Its states, with their distances to the goal.
    pub space: ExactSpace,
}

impl Cut {
    /// The problem as PDDL; the domain is that of the task.
    pub fn to_pddl(&self) -> String {
        self.problem.to_string()
    }

    /// About so many of its states; `None` where there is nothing to learn.
    fn sample(self, samples: usize, random: &mut SplitMix64) -> Option<TrainingProblem> {
        let samples = self.space.sample(samples, random);
        let task = self.task;
        (!samples.is_empty()).then_some(TrainingProblem {
            task,
            samples,
            is_cut: true,
        })
    }
}

/// What there is to learn from the cuts of a task.
pub struct SampledCuts {
    /// One problem for each cut.
    pub set: TrainingSet,
    /// What was tried.
    pub statistics: CutStatistics,
    /// Set where the watch ended it before its time.
    pub stopped: Option<Stop>,
}

/// All cuts of a task, and what was tried for them.
pub struct CutReport {
    /// In the order in which they were found.
    pub cuts: Vec<Cut>,
    /// What was tried.
    pub statistics: CutStatistics,
    /// Wall-clock time of walking through state spaces; for information, nothing depends on it.
    pub walking: Duration,
    /// Set where the watch ended it before its time.
    pub stopped: Option<Stop>,
}

impl CutReport {
    /// The cuts as a training set, with about so many states sampled in each.
    pub fn into_training_set(self, samples: usize, seed: u64) -> TrainingSet {
        let mut random = SplitMix64::new(seed);
        let mut set = TrainingSet::default();
        for cut in self.cuts {
            set.problems.extend(cut.sample(samples, &mut random));
        }
        set
    }
}

/// Cuts small problems out of a task, one at a time.
///
/// ```
/// # use std::sync::Arc;
/// # use homing_pddl::{Source, read_problem};
/// # let domain = b"(define (domain lamp) (:predicates (on)) (:action press :effect (on)))";
/// # let problem = b"(define (problem dark) (:domain lamp) (:init) (:goal (on)))";
/// # let (problem, _) = read_problem(
/// #     &Source::new("domain.pddl", domain.to_vec()),
/// #     &Source::new("dark.pddl", problem.to_vec()),
/// # );
/// # let task = homing_planner::ground(&Arc::new(problem.unwrap()), &mut ()).unwrap();
/// use homing_learner::{CutConfig, Cutter};
/// let report = Cutter::new(&task, CutConfig::default(), 1).cut(&mut ());
/// assert!(report.cuts.iter().all(|cut| cut.space.is_solvable()));
/// ```
pub struct Cutter<'t> {
    config: CutConfig,
    random: SplitMix64,
    index: Index<'t>,
    builder: Builder,
    /// Made when the first cut is asked for.
    ways: Option<Ways<'t>>,
    /// Fingerprints of what was tried.
    seen: HashSet<u64>,
    sizes: Sizes,
    /// The most objects that a cut has had.
    most_objects: usize,
    statistics: CutStatistics,
    walking: Duration,
}

/// What became of one try.
enum Tried {
    Cut(Cut),
    TooLarge,
    NoPlan,
    /// Not worth another attempt.
    Useless,
}

impl<'t> Cutter<'t> {
    /// For a task; the same seed gives the same cuts.
    pub fn new(task: &'t Task, config: CutConfig, seed: u64) -> Self {
        let index = Index::new(task);
        let builder = Builder::new(&index, config.repair);
        Self {
            config,
            random: SplitMix64::new(seed),
            index,
            builder,
            ways: None,
            seen: HashSet::new(),
            sizes: Sizes::default(),
            most_objects: 3,
            statistics: CutStatistics::default(),
            walking: Duration::ZERO,
        }
    }

    /// What was tried so far.
    pub fn statistics(&self) -> &CutStatistics {
        &self.statistics
    }

    /// All cuts, until enough are found or enough was tried.
    pub fn cut(mut self, watch: &mut dyn Watch) -> CutReport {
        let mut cuts = Vec::new();
        let stopped = loop {
            match self.next_cut(watch) {
                Ok(Some(cut)) => cuts.push(cut),
                Ok(None) => break None,
                Err(stop) => break Some(stop),
            }
        };
        CutReport {
            cuts,
            statistics: self.statistics,
            walking: self.walking,
            stopped,
        }
    }

    /// All cuts as a training set, with about so many states sampled in each. State spaces are not
    /// kept, so that this takes little memory; the set is that of
    /// [`CutReport::into_training_set`].
    pub fn training_set(mut self, samples: usize, seed: u64, watch: &mut dyn Watch) -> SampledCuts {
        let mut random = SplitMix64::new(seed);
        let mut set = TrainingSet::default();
        let stopped = loop {
            match self.next_cut(watch) {
                Ok(Some(cut)) => set.problems.extend(cut.sample(samples, &mut random)),
                Ok(None) => break None,
                Err(stop) => break Some(stop),
            }
        };
        SampledCuts {
            set,
            statistics: self.statistics,
            stopped,
        }
    }

    /// The next cut; `None` once enough are found or enough was tried.
    ///
    /// # Errors
    ///
    /// If the watch says stop.
    pub fn next_cut(&mut self, watch: &mut dyn Watch) -> Result<Option<Cut>, Stop> {
        if self.index.goal_props.is_empty() {
            return Ok(None);
        }
        let mut ways = match self.ways.take() {
            Some(ways) => ways,
            None => self.explore(watch)?,
        };
        let mut found = Ok(None);
        while !self.is_spent() {
            found = self.one_choice(&mut ways, watch);
            if !matches!(found, Ok(None)) {
                break;
            }
        }
        self.statistics.trails = ways.trails.len();
        self.ways = Some(ways);
        found
    }

    fn is_spent(&self) -> bool {
        let done = &self.statistics;
        done.cuts >= self.config.cuts
            || done.tries >= self.config.tries
            || done.states >= self.config.states
            || done.transitions >= self.config.transitions
            || done.actions >= self.config.all_actions
    }

    /// The largest space to be walked through; larger once it is plain that cuts are few.
    fn largest_space(&self) -> usize {
        let half = self.statistics.states >= self.config.states / 2;
        match half && self.statistics.cuts < self.config.few {
            true => self.config.space_if_few,
            false => self.config.space.1,
        }
    }

    fn explore(&mut self, watch: &mut dyn Watch) -> Result<Ways<'t>, Stop> {
        let mut poll = || watch.poll(Progress::Cutting { cuts: 0, states: 0 });
        let mut explorer = Explorer::new(self.index.task);
        let explorations =
            Explorations::new(&mut explorer, &self.config, &mut self.random, &mut poll)?;
        self.statistics.explorations = explorations.len();
        Ok(Ways {
            explorer,
            explorations,
            trails: Vec::new(),
        })
    }

    /// Chooses goals and objects, and changes them until there is a cut or no hope.
    fn one_choice(
        &mut self,
        ways: &mut Ways<'t>,
        watch: &mut dyn Watch,
    ) -> Result<Option<Cut>, Stop> {
        let largest = self.largest_space();
        let mut drawer = Drawer {
            index: &self.index,
            ways: &mut *ways,
            config: &self.config,
            random: &mut self.random,
        };
        let limit = drawer.space(largest);
        let Some(mut draft) = drawer.draft() else {
            self.statistics.tries += 1;
            self.statistics.no_trail += 1;
            return Ok(None);
        };
        // Too many objects to be walked through, as far as is known.
        let much = 2 * self.most_objects + 4;
        if self.statistics.too_large > 10
            && draft.kept.list().len() > much
            && !drawer.fit(&mut draft, self.most_objects)
        {
            self.statistics.tries += 1;
            self.statistics.too_large += 1;
            return Ok(None);
        }
        drawer.round_off(&mut draft);
        for attempt in 0..self.config.attempts {
            let foreseen = self.sizes.foresee(&self.index, &draft.kept, limit)
                && self.random.unit() >= self.config.doubt;
            let tried = if foreseen {
                self.statistics.tries += 1;
                self.statistics.foreseen += 1;
                Tried::TooLarge
            } else {
                self.attempt(&draft, limit, watch)?
            };
            let mut drawer = Drawer {
                index: &self.index,
                ways: &mut *ways,
                config: &self.config,
                random: &mut self.random,
            };
            let again = match tried {
                Tried::Cut(cut) => {
                    self.statistics.cuts += 1;
                    return Ok(Some(cut));
                }
                Tried::Useless => false,
                Tried::TooLarge => drawer.shrink(&mut draft, attempt),
                Tried::NoPlan => drawer.mend(&mut draft, attempt),
            };
            if !again || self.is_spent() {
                break;
            }
        }
        Ok(None)
    }

    /// Builds, grounds and walks through one problem.
    fn attempt(
        &mut self,
        draft: &Draft,
        limit: usize,
        watch: &mut dyn Watch,
    ) -> Result<Tried, Stop> {
        self.statistics.tries += 1;
        let name = format!(
            "{}-cut-{}",
            self.index.problem().name,
            self.statistics.cuts + 1
        );
        let problem = self
            .builder
            .build(&self.index, draft, name, &mut self.random);
        if !self.seen.insert(colours::fingerprint(&problem)) {
            self.statistics.duplicates += 1;
            return Ok(Tried::Useless);
        }
        let mut look = Look {
            watch,
            cuts: self.statistics.cuts,
            states: self.statistics.states,
            actions: self.config.actions,
            too_many: false,
        };
        let problem = Arc::new(problem);
        let task = match ground(&problem, &mut look) {
            Ok(task) => task,
            Err(GroundError::Unsolvable { .. }) => {
                self.statistics.unreachable += 1;
                return Ok(Tried::NoPlan);
            }
            Err(GroundError::MissingCost { .. } | GroundError::Unstratified { .. }) => {
                self.statistics.not_grounded += 1;
                return Ok(Tried::Useless);
            }
            Err(GroundError::Stopped { .. }) if look.too_many => {
                self.statistics.too_large += 1;
                self.statistics.actions += self.config.actions as u64;
                self.sizes.note(&self.index, &draft.kept, usize::MAX);
                return Ok(Tried::TooLarge);
            }
            Err(GroundError::Stopped { stop, .. }) => return Err(stop),
        };
        self.statistics.actions += task.action_count() as u64;
        let limits = WalkLimits {
            states: limit,
            transitions: limit.saturating_mul(self.config.branching),
        };
        let begin = Instant::now();
        let walked = ExactSpace::walk(&task, self.config.costs, limits, &mut look);
        self.walking += begin.elapsed();
        if let Err(WalkEnd::TooLarge { .. }) = walked {
            self.sizes.note(&self.index, &draft.kept, limit);
        }
        self.judge(problem, task, walked)
    }

    fn judge(
        &mut self,
        problem: Arc<Problem>,
        task: Task,
        walked: Result<ExactSpace, WalkEnd>,
    ) -> Result<Tried, Stop> {
        let done = &mut self.statistics;
        let space = match walked {
            Ok(space) => space,
            Err(WalkEnd::TooLarge { states }) => {
                done.too_large += 1;
                done.states += states as u64;
                done.transitions += states as u64;
                return Ok(Tried::TooLarge);
            }
            Err(WalkEnd::Stopped(stop)) => return Err(stop),
        };
        done.states += space.len() as u64;
        done.transitions += space.transitions() as u64;
        if !space.is_solvable() {
            done.unsolvable += 1;
            return Ok(Tried::NoPlan);
        }
        let is_open = |state: u32| space.distance(state).is_some_and(|d| d != Distance::GOAL);
        if !(0..space.len() as u32).any(is_open) {
            done.trivial += 1;
            return Ok(Tried::Useless);
        }
        self.most_objects = self.most_objects.max(problem.objects.len());
        Ok(Tried::Cut(Cut {
            problem,
            task: Arc::new(task),
            space,
        }))
    }
}

/// Shows the outside one count that only grows, and ends groundings that list too many actions.
struct Look<'w> {
    watch: &'w mut dyn Watch,
    cuts: usize,
    states: u64,
    actions: usize,
    too_many: bool,
}

impl Watch for Look<'_> {
    fn poll(&mut self, progress: Progress) -> Option<Stop> {
        let walked = match progress {
            Progress::Grounding { actions } => {
                if actions > self.actions {
                    self.too_many = true;
                    return Some(Stop::Memory);
                }
                0
            }
            Progress::Search { expansions, .. } => expansions,
            _ => 0,
        };
        self.watch.poll(Progress::Cutting {
            cuts: self.cuts,
            states: self.states + walked,
        })
    }

    fn room(&mut self, bytes: usize) -> Option<Stop> {
        self.watch.room(bytes)
    }
}
