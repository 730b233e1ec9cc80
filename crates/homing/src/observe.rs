//! Looking on while work is done, and ending it from outside.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use homing_lab::record::Evaluation;
use homing_lab::schedule;
use homing_learner::{GatherReport, HgnProgress, IterationRecord, LearnProgress, StepRecord};
use homing_pddl::Diagnostics;
use homing_planner::{GroundError, Met, Progress, Stop, Task, Watch};

use crate::better::PlanFound;
use crate::here::LearnedHere;
use crate::resources::MemoryGauge;
use crate::solve::TaskSize;
use crate::underway::Underway;

/// Is told what happens, and may end it. Every method has a default that does nothing; `&()` looks
/// away. Work on several threads tells of all of them.
pub trait Observer: Sync {
    /// Whether the work is to end as soon as it can, with what it has.
    fn stopped(&self) -> bool {
        false
    }

    /// Something that a person may want to know.
    fn notice(&self, _notice: &Notice) {}

    /// A request to solve a problem has come to its next part: reading, grounding, or the search.
    fn underway(&self, _underway: &Underway) {}

    /// The work has seen that it is to end, and writes what it has.
    fn finishing(&self) {}

    /// How far grounding or a search is; ten times a second at the most.
    fn planning(&self, _progress: &PlanningProgress) {}

    /// A search has looked at a state; for those who draw searches. Many thousand times a second.
    fn met(&self, _task: &Task, _met: Met) {}

    /// Whether there is a point in [`met`](Self::met): asked once, before a search.
    fn looks_at_states(&self) -> bool {
        true
    }

    /// Whether hints on what else could be done are of use: looking for them takes a moment.
    fn takes_hints(&self) -> bool {
        true
    }

    /// A plan was found that is better than all before it; `number` counts them from 1. Only where
    /// better and better plans are asked for.
    fn plan_found(&self, _number: usize, _plan: &PlanFound) {}

    /// A step of training has been taken.
    fn training_step(&self, _seed: u64, _record: &StepRecord) {}

    /// An iteration of training the graph network is done, of so many.
    fn iteration(&self, _seed: u64, _record: &IterationRecord, _of: u64) {}

    /// Training by ranking has come further.
    fn learning(&self, _seed: u64, _progress: &LearnProgress) {}

    /// Every fold of a hypergraph network has been trained for one more epoch.
    fn epoch(&self, _seed: u64, _progress: &HgnProgress) {}

    /// A task of several has ended.
    fn task_ended(&self, _progress: schedule::Progress) {}

    /// A search of several has ended, and its record is written.
    fn evaluated(&self, _record: &Evaluation) {}
}

impl Observer for () {
    fn looks_at_states(&self) -> bool {
        false
    }

    fn takes_hints(&self) -> bool {
        false
    }
}

/// Something that a person may want to know.
#[derive(Clone, Debug)]
pub enum Notice {
    /// The input can be used, but some of it may be wrong.
    Warnings(Diagnostics),
    /// The problem is grounded; the search follows.
    Grounded {
        /// What came of it.
        size: TaskSize,
        /// The time that reading took.
        reading: Duration,
        /// The time that grounding took.
        grounding: Duration,
    },
    /// The search has learnt from small problems cut out of the given one, and goes on with that.
    LearnedHere(LearnedHere),
    /// Grounding shows that there is no plan.
    Unsolvable(GroundError),
    /// A limit ended grounding; the error says which action is to blame.
    NotGrounded(GroundError),
    /// A problem is not trained on.
    LeftOut {
        /// Its file.
        file: PathBuf,
        /// Why.
        error: GroundError,
    },
    /// A setting is raised to the least with which a network can read the domain.
    Raised {
        /// The setting.
        field: &'static str,
        /// Its new value.
        value: usize,
    },
    /// A search without a model begins, and one ships for this domain.
    ModelShips {
        /// The model's name.
        name: &'static str,
    },
    /// A model has seen little of what is in this problem.
    LowTrust {
        /// The share of what is in its initial state that the model has seen in training.
        share: f64,
    },
    /// Few of the training problems could be walked through, since many are too large.
    FewWalked(GatherReport),
    /// Snapshots are tried on problems of a suite.
    SelectsBySuite {
        /// How many problems.
        taken: usize,
        /// Of how many.
        of: usize,
        /// The domain, one of the eight.
        domain: homing_lab::DomainName,
    },
}

/// How far grounding or a search is.
#[derive(Clone, Copy, Debug)]
pub struct PlanningProgress {
    /// What is being done.
    pub progress: Progress,
    /// Since the beginning.
    pub elapsed: Duration,
    /// Since the search began.
    pub searching: Duration,
}

/// The clock is read at most once in so many evaluations or expansions, more often where these are
/// slow.
const WORK_BETWEEN_LOOKS: u64 = 64;

/// Looks at the clock come about this often.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// Progress is told at most this often.
const BETWEEN_TELLING: Duration = Duration::from_millis(100);

/// Memory is looked at no more often than this, and no less often than the second.
const BETWEEN_MEMORY_LOOKS: [Duration; 2] =
    [Duration::from_micros(500), Duration::from_millis(100)];

/// No program fills memory faster: so many bytes a second.
const FASTEST_GROWTH: f64 = 8e9;

/// Watches time and memory for a search, and passes on to an observer what it sees.
pub struct LimitWatch<'o> {
    observer: &'o dyn Observer,
    start: Instant,
    time_limit: Option<Duration>,
    memory_limit: Option<u64>,
    memory: MemoryGauge,
    last_work: u64,
    /// Evaluations or expansions until the next look.
    stride: u64,
    last_look: Instant,
    next_memory_look: Instant,
    last_told: Instant,
    search_start: Option<Instant>,
}

impl<'o> LimitWatch<'o> {
    /// Begins to count the time. Limits are in seconds and in bytes.
    pub fn new(
        time_limit: Option<f64>,
        memory_limit: Option<u64>,
        observer: &'o dyn Observer,
    ) -> Self {
        let now = Instant::now();
        Self {
            observer,
            start: now,
            // A limit past the end of all clocks is none.
            time_limit: time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok()),
            memory_limit,
            memory: MemoryGauge::default(),
            last_work: 0,
            stride: 1,
            last_look: now,
            next_memory_look: now,
            last_told: now,
            search_start: None,
        }
    }
}

impl LimitWatch<'_> {
    /// Looks more often where work is slow, and less often where it is fast.
    fn adapt(&mut self, now: Instant) {
        let since = now - self.last_look;
        self.last_look = now;
        if since > BETWEEN_LOOKS {
            self.stride = (self.stride / 2).max(1);
        } else if since < BETWEEN_LOOKS / 4 {
            self.stride = (self.stride * 2).min(WORK_BETWEEN_LOOKS);
        }
    }

    /// Whether memory is used up; the next look comes before it can be.
    fn memory_used_up(&mut self, now: Instant) -> bool {
        let Some(limit) = self.memory_limit else {
            return false;
        };
        if now < self.next_memory_look {
            return false;
        }
        let Some(resident) = self.memory.resident() else {
            return false;
        };
        let room = limit.saturating_sub(resident);
        let [least, most] = BETWEEN_MEMORY_LOOKS;
        let soonest = Duration::from_secs_f64(room as f64 / FASTEST_GROWTH);
        self.next_memory_look = now + soonest.clamp(least, most);
        room == 0
    }
}

impl Watch for LimitWatch<'_> {
    fn poll(&mut self, progress: Progress) -> Option<Stop> {
        if let Progress::Search {
            evaluations,
            expansions,
            ..
        } = progress
        {
            let work = evaluations.max(expansions);
            if self.search_start.is_none() {
                self.search_start = Some(Instant::now());
            } else if (self.last_work..self.last_work + self.stride).contains(&work) {
                return None;
            }
            self.last_work = work;
        }
        if self.observer.stopped() {
            return Some(Stop::Interrupted);
        }
        let now = Instant::now();
        self.adapt(now);
        if self
            .time_limit
            .is_some_and(|limit| now - self.start >= limit)
        {
            return Some(Stop::Time);
        }
        if self.memory_used_up(now) {
            return Some(Stop::Memory);
        }
        if now - self.last_told >= BETWEEN_TELLING {
            self.last_told = now;
            self.observer.planning(&PlanningProgress {
                progress,
                elapsed: now - self.start,
                searching: self
                    .search_start
                    .map_or(Duration::ZERO, |start| now - start),
            });
        }
        None
    }

    fn room(&mut self, bytes: usize) -> Option<Stop> {
        let limit = self.memory_limit?;
        let resident = self.memory.resident()?;
        (resident.saturating_add(bytes as u64) > limit).then_some(Stop::Memory)
    }

    fn met(&mut self, task: &Task, met: Met) {
        self.observer.met(task, met);
    }

    fn looks_at_states(&self) -> bool {
        self.observer.looks_at_states()
    }
}
