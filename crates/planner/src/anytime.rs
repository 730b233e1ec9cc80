//! Better and better plans, for as long as there is time.
//!
//! Two ways share the work, as it is counted:
//!
//! - The best plan is made shorter by elimination and windows ([`improve`](crate::improve)).
//! - Weighted A* looks for plans that cost less than the best one ([`Bounded`]), first under a
//!   large weight, with a smaller one after each plan it finds. Under the last weight it goes on
//!   until nothing is left: then the best plan is optimal.
//!
//! A plan from either bounds the other.

use crate::heuristic::{Costs, Ff, Heuristic, LandmarkCount, Landmarks};
use crate::improve::Improver;
use crate::search::{Bounded, BoundedOutcome, Limit};
use crate::successors::SuccessorGenerator;
use crate::task::{ActionId, Task};
use crate::watch::{Stop, Watch};

/// Work of one way before it is the other's turn, in rough nanoseconds.
const SLICE: u64 = 50_000_000;

/// Work at the most of making the first plan shorter before anything else is built.
const HEAD_START: u64 = 300_000_000;

/// How better plans are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnytimeConfig {
    /// What actions cost.
    pub costs: Costs,
    /// The weights of weighted A*, one after the other.
    pub weights: Vec<u64>,
    /// Whether plans are made shorter beside.
    pub improve: bool,
    /// Work at the most, in rough nanoseconds; without it, until the watch says stop or nothing
    /// better is left.
    pub max_work: Option<u64>,
    /// Seed of what is drawn.
    pub seed: u64,
}

impl Default for AnytimeConfig {
    fn default() -> Self {
        Self {
            costs: Costs::Task,
            weights: vec![5, 3, 2, 1],
            improve: true,
            max_work: None,
            seed: 0,
        }
    }
}

/// Why no better plan is looked for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnytimeEnd {
    /// There is none: the last plan is optimal.
    Optimal,
    /// [`AnytimeConfig::max_work`]
    Work,
    /// The watch said so.
    Stopped(Stop),
}

/// What came of looking for better plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anytime {
    /// The best plan.
    pub actions: Vec<ActionId>,
    /// Its cost.
    pub cost: u64,
    /// Why it ended.
    pub end: AnytimeEnd,
    /// States that weighted A* and windows evaluated.
    pub evaluations: u64,
    /// States that weighted A* expanded.
    pub expansions: u64,
    /// All work, in rough nanoseconds.
    pub work: u64,
}

/// Looks for plans that cost less than the first one, which must be one, and tells of each.
pub fn anytime(
    task: &Task,
    first: &[ActionId],
    config: &AnytimeConfig,
    watch: &mut dyn Watch,
    found: &mut dyn FnMut(&[ActionId], u64),
) -> Anytime {
    let generator = SuccessorGenerator::new(task);
    let mut looking = Looking::new(task, &generator, first, config, found);
    let end = looking.run(watch);
    looking.end(end)
}

struct Looking<'a, 'f> {
    task: &'a Task,
    generator: &'a SuccessorGenerator,
    config: &'a AnytimeConfig,
    found: &'f mut dyn FnMut(&[ActionId], u64),
    best: Vec<ActionId>,
    cost: u64,
    improver: Option<Improver<'a>>,
    landmarks: Option<Landmarks>,
    search: Option<Bounded<'a>>,
    /// The weight of the search that runs, or comes next.
    weight: usize,
    /// Of searches that have ended.
    evaluations: u64,
    expansions: u64,
    work: u64,
}

impl<'a, 'f> Looking<'a, 'f> {
    fn new(
        task: &'a Task,
        generator: &'a SuccessorGenerator,
        first: &[ActionId],
        config: &'a AnytimeConfig,
        found: &'f mut dyn FnMut(&[ActionId], u64),
    ) -> Self {
        let own_costs = first.iter().map(|&action| config.costs.of(task, action));
        let improver = config.improve.then(|| {
            let mut improver = Improver::new(task, generator, config.costs, config.seed);
            improver.start(first);
            improver
        });
        Self {
            task,
            generator,
            config,
            found,
            best: first.to_vec(),
            cost: own_costs.map(u64::from).sum(),
            improver,
            landmarks: None,
            search: None,
            weight: 0,
            evaluations: 0,
            expansions: 0,
            work: 0,
        }
    }

    fn total_work(&self) -> u64 {
        let improving = self.improver.as_ref().map(|i| i.statistics().work);
        self.work + self.search_work() + improving.unwrap_or(0)
    }

    fn search_work(&self) -> u64 {
        self.search.as_ref().map_or(0, Bounded::work)
    }

    fn run(&mut self, watch: &mut dyn Watch) -> AnytimeEnd {
        let most = self.config.max_work.unwrap_or(u64::MAX);
        let mut first = true;
        loop {
            if self.cost == 0 {
                return AnytimeEnd::Optimal;
            }
            let work = if first { HEAD_START } else { SLICE };
            if let Err(stop) = self.improve(work.min(most), first, watch) {
                return AnytimeEnd::Stopped(stop);
            }
            first = false;
            if self.total_work() >= most {
                return AnytimeEnd::Work;
            }
            match self.search(SLICE.min(most - self.total_work()), watch) {
                Ok(false) => {}
                Ok(true) => return AnytimeEnd::Optimal,
                Err(stop) => return AnytimeEnd::Stopped(stop),
            }
            if self.total_work() >= most {
                return AnytimeEnd::Work;
            }
        }
    }

    /// Makes the best plan shorter, with so much work; `briefly`: at the most until small windows
    /// are tried.
    fn improve(&mut self, work: u64, briefly: bool, watch: &mut dyn Watch) -> Result<(), Stop> {
        let Some(mut improver) = self.improver.take() else {
            return Ok(());
        };
        let most = improver.statistics().work + work;
        let mut stopped = Ok(());
        while improver.statistics().work < most
            && stopped.is_ok()
            && !(briefly && improver.has_tried_small())
            && !improver.plan().is_empty()
        {
            let left = most - improver.statistics().work;
            if let Limit::Stopped(stop) = improver.run(left, watch) {
                stopped = Err(stop);
            }
            if improver.take_improvement() && improver.cost() < self.cost {
                self.better(improver.plan().to_vec(), improver.cost());
            }
        }
        self.improver = Some(improver);
        stopped
    }

    /// Lets the search go on, with so much work; `true` if nothing better is left.
    fn search(&mut self, work: u64, watch: &mut dyn Watch) -> Result<bool, Stop> {
        if self.config.weights.is_empty() {
            return Ok(false);
        }
        let mut search = match self.search.take() {
            Some(search) => search,
            None => self.new_search(watch)?,
        };
        search.lower_bound_to(self.cost);
        let outcome = search.run(work, watch);
        let is_last = self.weight + 1 >= self.config.weights.len();
        match outcome {
            BoundedOutcome::Exhausted => {
                self.retire(&search);
                return Ok(true);
            }
            BoundedOutcome::LimitReached(Limit::Stopped(stop)) => {
                self.search = Some(search);
                return Err(stop);
            }
            BoundedOutcome::LimitReached(_) => self.search = Some(search),
            BoundedOutcome::Better(actions) => {
                let costs = actions.iter().map(|&a| self.config.costs.of(self.task, a));
                let cost = costs.map(u64::from).sum();
                // Under the last weight the search goes on from here.
                if is_last {
                    self.search = Some(search);
                } else {
                    self.retire(&search);
                    self.weight += 1;
                }
                if let Some(improver) = &mut self.improver {
                    improver.start(&actions);
                }
                self.better(actions, cost);
            }
        }
        Ok(false)
    }

    fn retire(&mut self, search: &Bounded<'a>) {
        let statistics = search.statistics();
        self.evaluations += statistics.evaluations;
        self.expansions += statistics.expansions;
        self.work += search.work();
    }

    fn new_search(&mut self, watch: &mut dyn Watch) -> Result<Bounded<'a>, Stop> {
        let landmarks = match &self.landmarks {
            Some(landmarks) => landmarks.clone(),
            None => Landmarks::find(self.task, watch)?,
        };
        self.landmarks = Some(landmarks.clone());
        // Actions that cost nothing are not free to go by: a search that thinks so wanders.
        let costs = match self.config.costs {
            Costs::Task if !self.task.is_unit_cost() => Costs::Scaled { factor: 1 },
            costs => costs,
        };
        let heuristics: Vec<Box<dyn Heuristic + 'a>> = vec![
            Box::new(Ff::new(self.task, costs)),
            Box::new(LandmarkCount::with_costs(self.task, landmarks, costs)),
        ];
        let weight = self.config.weights[self.weight];
        let costs = self.config.costs;
        let (task, generator) = (self.task, self.generator);
        Ok(Bounded::new(
            task, generator, heuristics, costs, weight, self.cost,
        ))
    }

    fn better(&mut self, actions: Vec<ActionId>, cost: u64) {
        (self.found)(&actions, cost);
        self.best = actions;
        self.cost = cost;
    }

    fn end(mut self, end: AnytimeEnd) -> Anytime {
        let work = self.total_work();
        if let Some(search) = self.search.take() {
            self.retire(&search);
        }
        let improving = self.improver.as_ref().map(|i| i.statistics().evaluations);
        Anytime {
            actions: self.best,
            cost: self.cost,
            end,
            evaluations: self.evaluations + improving.unwrap_or(0),
            expansions: self.expansions,
            work,
        }
    }
}
