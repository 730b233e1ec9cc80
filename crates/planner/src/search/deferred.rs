//! Search with deferred evaluation, several queues, and workers that share the work.
//!
//! Steps wait in queues and become states only when their turn comes. Up to five workers take
//! turns:
//!
//! - The **guided** worker evaluates the state it has popped with every heuristic, and queues the
//!   steps from it under the state's own estimates (deferred evaluation). Each heuristic has a
//!   queue for all steps and one for those by preferred actions. Queues alternate; those of
//!   preferred actions get a head start (boost) whenever an estimate is the best so far.
//! - The **learned** worker orders steps by a learned score of the state they lead to, and never
//!   calls a heuristic. It exists only if there is a [`SuccessorScorer`]. It looks at the successors
//!   of a state in parts: after a part it puts the rest back under the parent's own score, so that
//!   one state with a hundred thousand successors does not hold up the search. It has two lanes,
//!   and takes turns: one is its own, from the initial state on; in the other are steps from states
//!   that the guided worker expanded. A score tells siblings apart. Far from what it was learnt on
//!   it may favour whole regions that are dead ends; were there one lane, the guided worker could
//!   lead the learned one into such a region, and it would never come back.
//! - **Descents** go by the same score, but from one state to a better one near by, and off plateaus
//!   by width 1: see [`descent`](super::descent). They have more of the work as long as they get
//!   on.
//! - The **serial** worker reaches one goal after another and keeps each: see
//!   [`serial`](super::serial). It has most of the work as long as it reaches more goals than ever.
//! - The **novel** worker takes steps that make something true for the first time, and only those:
//!   see [`novelty`](super::novelty). It joins when the others have not found a plan soon, and ends
//!   when nothing new is left.
//!
//! All but the serial worker use the same states. They get fixed shares of *work*, not of steps: one call of h_FF can
//! cost as much as ten thousand learned scores. Work is counted, not timed, so that runs repeat. A
//! bad score therefore costs at most its share, and so does a slow heuristic.
//!
//! Of steps that differ only in objects that nothing tells apart, the first is enough: see
//! [`Interchangeable`].

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::descent::Descent;
use super::enabled::Enabled;
use super::guided::{GuidedKind, GuidedQueue, GuidedRun, Manner};
use super::novelty::Novelty;
use super::queue::{LIST_WORK, PART, QUEUE_WORK, STORE_WORK, ScoreQueue, Waiting};
use super::scorer::{SCORER_HEADS, SuccessorScorer};
use super::serial::{Serial, SerialTurn};
use super::{Limit, Limits, Outcome, Statistics};
use crate::heuristic::{Estimate, Evaluation, Heuristic, Node};
use crate::interchange::Interchangeable;
use crate::plan::Plan;
use crate::registry::StateId;
use crate::successors::SuccessorGenerator;
use crate::task::{ActionId, Task};
use crate::visited::Visited;
use crate::watch::{Met, Pace, Progress, Stop, Verdict, Watch, ask_for_room};

/// Which worker found the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finder {
    /// The one that asks heuristics.
    Guided,
    /// The one that goes by the learned score.
    Learned,
    /// The one that looks for what is new.
    Novel,
    /// The one that reaches one goal after another.
    Serial,
}

/// How far a learned score is to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The guided worker takes steps in its order, too: for a model that was tried before it was kept.
    High,
    /// Only the learned worker does: what was learnt in a second may lead astray.
    Low,
}

/// How a deferred search works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeferredConfig {
    /// Whether steps by preferred actions have queues of their own.
    pub preferred: bool,
    /// How many turns ahead queues of preferred actions get on a new best estimate.
    pub boost: i64,
    /// Whether a queue that draws by type helps off plateaus.
    pub by_type: bool,
    /// Work of the guided worker, in rough nanoseconds, after which it begins anew if no estimate was
    /// the best for half of it; twice as much the next time. 0: never.
    pub patience: u64,
    /// The part of the work for the learned worker, 0 to 1.
    pub share: f64,
    /// The part of the work for the worker that looks for what is new, 0 to 1, once there is one; the
    /// others share the rest.
    pub novelty: f64,
    /// The part of the work for the worker that reaches one goal after another, 0 to 1, once there is
    /// one; the others share the rest.
    pub serial: f64,
    /// Successors the learned worker looks at before the rest of a state goes back into its queue.
    pub part: usize,
    /// The part of the work for descents by the learned score as long as they get on, 0 to 1: see
    /// [`descent`](super::descent).
    pub descent: f64,
    /// Whether of steps that differ only in objects that nothing tells apart one is enough.
    pub interchange: bool,
    /// Seed of what is drawn.
    pub seed: u64,
}

impl Default for DeferredConfig {
    fn default() -> Self {
        Self {
            preferred: true,
            boost: 1000,
            by_type: false,
            patience: 1_000_000_000,
            share: 0.4,
            novelty: 0.25,
            serial: 0.7,
            part: 1000,
            descent: 0.5,
            interchange: true,
            seed: 0,
        }
    }
}

/// The watch is asked again after so many successors of one state.
const POLL_EVERY: usize = 1024;

/// Marks of a state. Its successors are scored, all or a part of them.
const BY_LEARNED: u8 = 1;
/// The guided worker has expanded it.
const BY_GUIDED: u8 = 2;
/// Some of its successors are still to be scored.
const IN_PARTS: u8 = 4;
/// The same two for what the learned worker was told of.
const BY_TOLD: u8 = 8;
const TOLD_IN_PARTS: u8 = 16;
/// The novel worker has expanded it.
const BY_NOVEL: u8 = 32;
/// It is a dead end.
const DEAD: u8 = 64;
/// A descent began there.
const BASE: u8 = 128;

/// Of so many turns of the learned worker, one is for what it was told of.
const OWN_TURNS: usize = 4;

/// What a step has made possible is looked up if it is one of at most so many times the successors of
/// another state; otherwise all successors are listed and looked through.
const CANDIDATES: usize = 4;

/// Kinds of workers.
const WORKERS: usize = 5;

/// Descents get on if the best state of all so far was found within so much of their work, or half
/// of it.
const DESCENT_PATIENCE: u64 = 300_000_000;

/// The part of their part that they have otherwise.
const DESCENT_WAITS: f64 = 0.25;

/// The part of its part that the serial worker has when it does not get on, and if it once came near.
const SERIAL_WAITS: f64 = 0.25;
const SERIAL_IS_NEAR: f64 = 0.5;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Worker {
    Learned,
    Guided,
    Novel,
    Descent,
    Serial,
}

/// Which queue of the learned worker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    /// From the initial state on.
    Own { head: usize },
    /// What the guided worker tells of.
    Told,
}

impl Lane {
    /// The mark of a state whose successors are scored here, all or a part of them.
    fn scored(self) -> u8 {
        match self {
            Self::Own { .. } => BY_LEARNED,
            Self::Told => BY_TOLD,
        }
    }

    /// The mark of a state with successors that are still to be scored here.
    fn in_parts(self) -> u8 {
        match self {
            Self::Own { .. } => IN_PARTS,
            Self::Told => TOLD_IN_PARTS,
        }
    }

    fn head(self) -> usize {
        match self {
            Self::Own { head } => head,
            Self::Told => 0,
        }
    }
}

/// What a turn came to.
enum Turn {
    Goal(StateId),
    Plan(Vec<ActionId>),
    GoOn,
    NothingLeft,
}

/// A deferred search that can be run, given more to go by, and run on.
pub struct Deferred<'a> {
    task: &'a Task,
    heuristics: Vec<Box<dyn Heuristic + 'a>>,
    scorer: Option<Box<dyn SuccessorScorer + 'a>>,
    config: DeferredConfig,
    limits: Limits,
    /// Built when the search first runs.
    generator: Option<SuccessorGenerator>,
    /// With the generator, where objects are alike.
    interchangeable: Option<Interchangeable>,
    /// Built when descents or the novel worker first run; the inner one only where it can be.
    enabled: Option<Option<Enabled>>,
    /// Successors of the state all of whose successors were listed last.
    listed: usize,
    visited: Visited,
    marks: Vec<u8>,
    /// Steps from the initial state, for types; empty without a queue by type.
    depths: Vec<u32>,
    guided: Vec<GuidedQueue>,
    learned: [ScoreQueue; SCORER_HEADS],
    told: ScoreQueue,
    heads: usize,
    learned_turns: usize,
    /// One for each head, or none.
    descents: Vec<Descent>,
    descent_turns: usize,
    /// The fewest open goals of a base, with its score, and the work of descents when it was found.
    best_base: (usize, i64),
    best_base_work: u64,
    novelty: Option<Novelty>,
    serial: Option<Serial>,
    /// Whether the serial worker is to join in the next run.
    serial_joins: bool,
    /// Work of each worker since the last one joined, in rough nanoseconds.
    work: [u64; WORKERS],
    /// Of the learned worker's, that of scoring what the guided worker tells of.
    told_work: u64,
    /// Work counted by heuristics and scorer that is already charged.
    counted: u64,
    /// All work, since the beginning.
    total_work: u64,
    statistics: Statistics,
    best_estimates: Vec<f64>,
    guided_run: GuidedRun,
    manner: Manner,
    /// How often the guided worker has begun anew because it did not get on.
    beginnings: usize,
    best_score: i64,
    /// Of the heuristics that are asked now.
    evaluations: Vec<Evaluation>,
    applicable: Vec<ActionId>,
    /// Scored steps on their way into a queue: by head, and those by preferred actions.
    scored: [Vec<(i64, ActionId)>; SCORER_HEADS],
    scored_preferred: Vec<(i64, ActionId)>,
    /// By action: whether it is preferred in the state being expanded.
    is_preferred: Vec<bool>,
    words: Vec<u32>,
    waiting: u64,
    found_by: Option<Finder>,
}

impl<'a> Deferred<'a> {
    /// A search guided by heuristics.
    pub fn new(
        task: &'a Task,
        heuristics: Vec<Box<dyn Heuristic + 'a>>,
        config: DeferredConfig,
    ) -> Self {
        let visited = Visited::new(task);
        let statistics = Statistics {
            bytes_per_state: visited.registry().bytes_per_state() as u64,
            ..Statistics::default()
        };
        let manner = Manner::of(0, heuristics.len(), &config);
        let guided = manner.queues(config.preferred);
        Self {
            task,
            evaluations: vec![Evaluation::default(); heuristics.len()],
            best_estimates: vec![f64::INFINITY; heuristics.len()],
            guided_run: GuidedRun::new(config.patience),
            manner,
            beginnings: 0,
            heuristics,
            scorer: None,
            config,
            limits: Limits::default(),
            generator: None,
            interchangeable: None,
            enabled: None,
            listed: 0,
            visited,
            marks: vec![0],
            depths: vec![0],
            guided,
            learned: [ScoreQueue::default(), ScoreQueue::default()],
            told: ScoreQueue::default(),
            heads: 0,
            learned_turns: 0,
            descents: Vec::new(),
            descent_turns: 0,
            best_base: (usize::MAX, i64::MAX),
            best_base_work: 0,
            novelty: None,
            serial: None,
            serial_joins: false,
            work: [0; WORKERS],
            told_work: 0,
            counted: 0,
            total_work: 0,
            statistics,
            best_score: i64::MAX,
            applicable: Vec::new(),
            scored: [Vec::new(), Vec::new()],
            scored_preferred: Vec::new(),
            is_preferred: vec![false; task.action_count()],
            words: Vec::new(),
            waiting: 0,
            found_by: None,
        }
    }

    /// Adds a learned worker, which starts from the initial state over the states already met, or
    /// lets it begin anew with another scorer. From here on the workers share the work.
    pub fn add_scorer(&mut self, scorer: Box<dyn SuccessorScorer + 'a>, trust: Trust) {
        self.heads = scorer.heads();
        self.counted += scorer.work();
        if let Some(before) = self.scorer.replace(scorer) {
            self.counted -= before.work();
        }
        self.forget_shares();
        self.best_score = i64::MAX;
        self.best_base = (usize::MAX, i64::MAX);
        if self.config.descent > 0.0 {
            let task = self.task;
            self.descents = (0..self.heads).map(|_| Descent::new(task)).collect();
        }
        for queue in &mut self.learned {
            *queue = ScoreQueue::default();
            queue.push(0, Waiting::ROOT);
        }
        self.told = ScoreQueue::default();
        for mark in &mut self.marks {
            *mark &= BY_GUIDED | BY_NOVEL | DEAD;
        }
        self.guided
            .retain(|queue| !matches!(queue.kind, GuidedKind::Score(_) | GuidedKind::Learned));
        if !self.heuristics.is_empty() && trust == Trust::High {
            // A new queue does not owe the turns that the others had.
            let turns = self.guided.iter().map(|queue| queue.turns).min();
            let mut add = |kind, only_preferred| {
                let mut queue = GuidedQueue::new(kind, only_preferred);
                queue.turns = turns.unwrap_or(0);
                self.guided.push(queue);
            };
            if self.config.preferred {
                add(GuidedKind::Score(ScoreQueue::default()), true);
            }
            add(GuidedKind::Learned, false);
        }
    }

    /// Lets the guided worker begin anew at the initial state, by its heuristics alone: a score that
    /// led it astray does so no longer.
    pub fn begin_guided_anew(&mut self) {
        self.guided = self.manner.queues(self.config.preferred);
        self.guided_run.begin();
        self.best_estimates.fill(f64::INFINITY);
        for mark in &mut self.marks {
            if *mark & DEAD == 0 {
                *mark &= !BY_GUIDED;
            }
        }
    }

    /// Lets the guided worker begin anew, in another manner, where it has found nothing better for
    /// long: its estimates have led it to a place that they see no way out of.
    fn leave_plateau(&mut self) {
        self.beginnings += 1;
        self.manner = Manner::of(self.beginnings, self.heuristics.len(), &self.config);
        self.evaluations
            .resize(self.manner.heuristics, Evaluation::default());
        self.guided_run.begin_patiently();
        self.begin_guided_anew();
    }

    /// Adds a worker that looks for what is new, from the initial state on, unless its part of the
    /// work is 0. From here on it shares the work with the others.
    pub fn add_novelty(&mut self) {
        if self.config.novelty <= 0.0 {
            return;
        }
        self.novelty = Some(Novelty::new(self.task));
        self.forget_shares();
    }

    /// Adds a worker that reaches one goal after another, unless its part of the work is 0 or actions
    /// have conditional effects. From here on it shares the work with the others.
    pub fn add_serial(&mut self) {
        self.serial_joins = self.config.serial > 0.0;
    }

    /// Whether descents by the learned score have found a better state than ever, not long ago.
    pub fn descends(&self) -> bool {
        !self.descents.is_empty() && self.gets_on()
    }

    /// Nobody owes work for the time before.
    fn forget_shares(&mut self) {
        self.work = [0; WORKERS];
        self.told_work = 0;
        self.best_base_work = 0;
    }

    /// All work so far in rough nanoseconds: counted, so that runs repeat.
    pub fn work(&self) -> u64 {
        self.total_work
    }

    /// Which worker found the plan, if one did.
    pub fn found_by(&self) -> Option<Finder> {
        self.found_by
    }

    /// What was done so far.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.statistics;
        statistics.stored = self.visited.len() as u64;
        statistics
    }

    /// Searches until a plan is found, there is none, or a limit is reached: a count over all runs,
    /// so much more work in this run, or the watch. After a limit the search can go on.
    ///
    /// # Panics
    ///
    /// If there is neither a heuristic nor a scorer.
    pub fn run(
        &mut self,
        limits: Limits,
        more_work: Option<u64>,
        watch: &mut dyn Watch,
    ) -> Outcome {
        assert!(
            !self.heuristics.is_empty() || self.scorer.is_some(),
            "nothing to search by"
        );
        self.limits = limits;
        if self.task.is_goal(self.visited.state(Visited::INITIAL)) {
            self.show(Visited::INITIAL, Verdict::Goal, watch);
            return Outcome::Solved(Plan::from_actions(self.task, &[]));
        }
        if let Err(stop) = self.build_tables(watch) {
            return Outcome::LimitReached(Limit::Stopped(stop));
        }
        let work_limit = more_work.map(|more| self.total_work.saturating_add(more));
        while work_limit.is_none_or(|most| self.total_work < most) {
            let worker = self.next_worker();
            let turn = match worker {
                Worker::Guided => self.guided_turn(watch),
                Worker::Learned => self.learned_turn(watch),
                Worker::Novel => self.novel_turn(watch),
                Worker::Descent => self.descent_turn(watch),
                Worker::Serial => self.serial_turn(watch),
            };
            match turn {
                Ok(Turn::GoOn) => {}
                Ok(Turn::Goal(goal)) => {
                    self.show(goal, Verdict::Goal, watch);
                    self.found_by = Some(match worker {
                        Worker::Guided => Finder::Guided,
                        Worker::Learned | Worker::Descent => Finder::Learned,
                        Worker::Novel => Finder::Novel,
                        Worker::Serial => Finder::Serial,
                    });
                    let actions = self.visited.actions_to(goal);
                    return Outcome::Solved(Plan::from_actions(self.task, &actions));
                }
                Ok(Turn::Plan(actions)) => {
                    self.found_by = Some(Finder::Serial);
                    return Outcome::Solved(Plan::from_actions(self.task, &actions));
                }
                Ok(Turn::NothingLeft) => return Outcome::Unsolvable,
                Err(limit) => return Outcome::LimitReached(limit),
            }
        }
        Outcome::LimitReached(Limit::Work)
    }

    /// Builds what lists successors, the first time.
    fn build_tables(&mut self, watch: &mut dyn Watch) -> Result<(), Stop> {
        if self.generator.is_none() {
            self.generator = Some(SuccessorGenerator::watched(self.task, watch)?);
            if self.config.interchange {
                self.interchangeable = Interchangeable::of(self.task, watch)?;
            }
        }
        let looks_for_new =
            self.novelty.is_some() || self.serial_joins || !self.descents.is_empty();
        if self.enabled.is_none() && looks_for_new {
            self.enabled = Some(Enabled::of(self.task, watch)?);
        }
        if std::mem::take(&mut self.serial_joins)
            && let Some(Some(_)) = self.enabled
        {
            ask_for_room(Serial::bytes(self.task), watch)?;
            self.serial = Serial::of(self.task, self.config.seed);
            self.forget_shares();
        }
        Ok(())
    }

    /// Whose turn it is: the one that is most behind its share of the work.
    fn next_worker(&self) -> Worker {
        let novelty = match self.novelty {
            Some(_) => self.config.novelty,
            None => 0.0,
        };
        let learned = match (self.heads > 0, self.heuristics.is_empty()) {
            (true, true) => 1.0,
            (true, false) => self.config.share,
            (false, _) => 0.0,
        };
        let descent = match self.descents.iter().all(Descent::is_over) {
            true => 0.0,
            false if self.gets_on() => self.config.descent,
            false => self.config.descent * DESCENT_WAITS,
        };
        let serial = match &self.serial {
            Some(serial) if serial.gets_on() => self.config.serial,
            Some(serial) if serial.came_near() => self.config.serial * SERIAL_IS_NEAR,
            Some(_) => self.config.serial * SERIAL_WAITS,
            None => 0.0,
        };
        let rest = (1.0 - novelty) * (1.0 - descent);
        let shares = [
            (Worker::Serial, serial / (1.0 - serial).max(1e-6)),
            (Worker::Learned, learned * rest),
            (Worker::Guided, (1.0 - learned) * rest),
            (Worker::Novel, novelty * (1.0 - descent)),
            (Worker::Descent, descent),
        ];
        let mut next = shares[0];
        for other in shares {
            let [own, others] = [next, other].map(|(worker, _)| self.work[worker as usize] as f64);
            // own / share > others / share, without a division by 0.
            if own * other.1 > others * next.1 || next.1 <= 0.0 {
                next = other;
            }
        }
        next.0
    }

    /// Whether descents have found a better state than ever, not long ago.
    fn gets_on(&self) -> bool {
        let work = self.work[Worker::Descent as usize];
        work - self.best_base_work < DESCENT_PATIENCE.max(work / 2)
    }

    /// Counts what was done since the last call to a worker; how much that is.
    fn charge(&mut self, worker: Worker, own: u64) -> u64 {
        let mut counted = self.scorer.as_ref().map_or(0, |scorer| scorer.work());
        counted += self
            .heuristics
            .iter()
            .map(|heuristic| heuristic.work())
            .sum::<u64>();
        let work = own + (counted - self.counted);
        self.work[worker as usize] += work;
        if worker == Worker::Guided {
            self.guided_run.work += work;
        }
        self.total_work += work;
        self.counted = counted;
        work
    }

    /// Takes the step that waits and stores its state; the state, and the part of its successors
    /// that is next.
    fn take(&mut self, step: Waiting) -> (StateId, Option<usize>) {
        if step == Waiting::ROOT {
            return (Visited::INITIAL, None);
        }
        if step.action.0 & PART != 0 {
            return (step.parent, Some((step.action.0 & !PART) as usize));
        }
        self.words.clear();
        self.words
            .extend_from_slice(self.visited.state(step.parent));
        self.task.apply(step.action, &mut self.words);
        let (id, is_new) = self.visited.insert(&self.words, step.parent, step.action);
        if is_new {
            self.marks.push(0);
            self.depths.push(self.depths[step.parent.index()] + 1);
        }
        (id, None)
    }

    fn learned_turn(&mut self, watch: &mut dyn Watch) -> Result<Turn, Limit> {
        let Some((step, lane)) = self.pop_learned() else {
            if self.heuristics.is_empty() {
                return Ok(Turn::NothingLeft);
            }
            return self.guided_turn(watch);
        };
        self.waiting = self.waiting.saturating_sub(1);
        let (id, part) = self.take(step);
        self.learned_step(id, part, lane, Worker::Learned, watch)
    }

    /// Goes on with a descent: heads take turns.
    fn descent_turn(&mut self, watch: &mut dyn Watch) -> Result<Turn, Limit> {
        self.descent_turns += 1;
        let mut descents = std::mem::take(&mut self.descents);
        let first = self.descent_turns % descents.len();
        let heads = (first..descents.len()).chain(0..first);
        let head = { heads }.find(|&head| !descents[head].is_over());
        let head = head.expect("a descent has its turn only if one is under way");
        let turn = self.descent_step(&mut descents[head], head, watch);
        self.descents = descents;
        turn
    }

    /// Takes the next step of a descent, or chooses its next base.
    fn descent_step(
        &mut self,
        descent: &mut Descent,
        head: usize,
        watch: &mut dyn Watch,
    ) -> Result<Turn, Limit> {
        let Some(step) = descent.pop(self.task) else {
            while let Some((score, step)) = descent.pop_nearer() {
                self.charge(Worker::Descent, STORE_WORK);
                let (id, _) = self.take(step);
                if self.begin_descent(descent, id, score) {
                    break;
                }
            }
            return Ok(Turn::GoOn);
        };
        let (id, _) = self.take(step);
        if self.marks[id.index()] & DEAD != 0 {
            self.charge(Worker::Descent, STORE_WORK);
            return Ok(Turn::GoOn);
        }
        let listed = match descent.looks_at_all(step) {
            true => self.begin_expansion(id, watch)?,
            false => self.begin_expansion_after(step, id, watch)?,
        };
        let (looked_at, goal) = self.descent_expansion(descent, id, head, watch)?;
        let own =
            STORE_WORK + (listed + looked_at) as u64 * LIST_WORK + looked_at as u64 * QUEUE_WORK;
        self.charge(Worker::Descent, own + descent.take_work());
        if let Some(goal) = goal {
            return Ok(Turn::Goal(goal));
        }
        let mut better = std::mem::take(&mut descent.better);
        better.sort_by_key(|&(score, _)| score);
        for &(score, action) in &better {
            let (child, _) = self.take(Waiting { parent: id, action });
            if self.begin_descent(descent, child, score) {
                break;
            }
        }
        better.clear();
        descent.better = better;
        Ok(Turn::GoOn)
    }

    /// Shows a descent the successors of a state: how many, and the goal if one is.
    fn descent_expansion(
        &mut self,
        descent: &mut Descent,
        id: StateId,
        head: usize,
        watch: &mut dyn Watch,
    ) -> Result<(usize, Option<StateId>), Limit> {
        let scorer = self.scorer.as_mut().expect("descents have a scorer");
        scorer.enter(self.visited.state(id));
        descent.enter(self.task, self.visited.state(id));
        let all = self.applicable.len();
        let part = self.config.part.max(1);
        let stride = if all > part { spread_over(all) } else { 1 };
        for index in 0..all {
            let action = self.applicable[index * stride % all];
            let step = Waiting { parent: id, action };
            let scorer = self.scorer.as_mut().expect("descents have a scorer");
            let child = scorer.child(action);
            self.count_score()?;
            if child.is_goal() {
                return Ok((index + 1, Some(self.take(step).0)));
            }
            let state = self.visited.state(id);
            descent.offer(self.task, step, state, child.scores[head], child.open_goals);
            // Of very many successors those seen so far will do.
            if (index + 1) % part == 0 {
                self.poll(watch)?;
                if !descent.better.is_empty() {
                    return Ok((index + 1, None));
                }
            }
        }
        Ok((all, None))
    }

    /// Lets a descent that waits for a base begin at a state that is being expanded.
    fn offer_base(&mut self, id: StateId, head: usize, score: i64) {
        if self.descents.get(head).is_some_and(Descent::is_over) {
            let mut descents = std::mem::take(&mut self.descents);
            self.begin_descent(&mut descents[head], id, score);
            self.descents = descents;
        }
    }

    /// Lets a descent begin at a state, unless one began there before.
    fn begin_descent(&mut self, descent: &mut Descent, id: StateId, score: i64) -> bool {
        let mark = &mut self.marks[id.index()];
        let may_begin = *mark & (DEAD | BASE) == 0;
        if may_begin {
            *mark |= BASE;
            let open_goals = descent.begin(self.task, id, self.visited.state(id), score);
            if (open_goals, score) < self.best_base {
                self.best_base = (open_goals, score);
                self.best_base_work = self.work[Worker::Descent as usize];
            }
        }
        may_begin
    }

    /// The next step of the lane whose turn it is: heads take turns, and so do the lanes.
    fn pop_learned(&mut self) -> Option<(Waiting, Lane)> {
        self.learned_turns += 1;
        let told = self.learned_turns / OWN_TURNS;
        let first = (self.learned_turns - told - 1) % self.heads;
        let own = [first, (first + 1) % self.heads].map(|head| Lane::Own { head });
        let lanes = match self.learned_turns % OWN_TURNS {
            0 => [Lane::Told, own[0], own[1]],
            _ => [own[0], own[1], Lane::Told],
        };
        lanes.into_iter().find_map(|lane| {
            let step = match lane {
                Lane::Own { head } => self.learned[head].pop(),
                Lane::Told => self.told.pop(),
            };
            step.map(|step| (step, lane))
        })
    }

    /// Expands a state for the learned worker, or the next part of it, unless that is done.
    fn learned_step(
        &mut self,
        id: StateId,
        part: Option<usize>,
        lane: Lane,
        worker: Worker,
        watch: &mut dyn Watch,
    ) -> Result<Turn, Limit> {
        let mark = self.marks[id.index()];
        let done = match part {
            Some(_) => mark & lane.in_parts() == 0,
            None => mark & lane.scored() != 0,
        };
        if done || self.scorer.is_none() {
            self.charge(worker, STORE_WORK);
            return Ok(Turn::GoOn);
        }
        self.begin_expansion(id, watch)?;
        self.marks[id.index()] |= lane.scored();
        let own = self.learned_expansion(id, part.unwrap_or(0), lane, watch)?;
        match own {
            Ok(own) => {
                self.charge(worker, STORE_WORK + own);
                Ok(Turn::GoOn)
            }
            Err(goal) => Ok(Turn::Goal(goal)),
        }
    }

    /// Scores one part of the successors; the work it was, or the goal that was found.
    fn learned_expansion(
        &mut self,
        id: StateId,
        part: usize,
        lane: Lane,
        watch: &mut dyn Watch,
    ) -> Result<Result<u64, StateId>, Limit> {
        let scorer = self.scorer.as_mut().expect("a learned worker has a scorer");
        scorer.enter(self.visited.state(id));
        let parent_score = scorer.scores()[lane.head()];
        if part == 0 {
            self.show(id, Verdict::Score(parent_score), watch);
            if let Lane::Own { head } = lane {
                self.offer_base(id, head, parent_score);
            }
        }
        let all = self.applicable.len();
        let size = self.config.part.max(1);
        let in_parts = all > size;
        let range = match in_parts {
            true => part * size..((part + 1) * size).min(all),
            false => 0..all,
        };
        let stride = if in_parts { spread_over(all) } else { 1 };
        if range.end < all {
            self.marks[id.index()] |= lane.in_parts();
            let rest = Waiting::rest_of(id, (part + 1) as u32);
            match lane {
                Lane::Own { head } => self.learned[head].push_first(parent_score, rest),
                Lane::Told => self.told.push_first(parent_score, rest),
            }
        } else {
            self.marks[id.index()] &= !lane.in_parts();
        }
        let own = (all + range.len()) as u64 * LIST_WORK + range.len() as u64 * QUEUE_WORK;
        let goal = self.score_steps(id, range, stride, watch);
        self.queue_scored(id, Some(lane));
        self.statistics.peak_open = self.statistics.peak_open.max(self.waiting);
        Ok(match goal? {
            Some(goal) => Err(goal),
            None => Ok(own),
        })
    }

    /// Scores these of the applicable actions, in strides; the goal, if one leads to it.
    fn score_steps(
        &mut self,
        id: StateId,
        range: Range<usize>,
        stride: usize,
        watch: &mut dyn Watch,
    ) -> Result<Option<StateId>, Limit> {
        let all = self.applicable.len();
        for index in range {
            let action = self.applicable[index * stride % all];
            let scorer = self.scorer.as_mut().expect("a learned worker has a scorer");
            let child = scorer.child(action);
            self.count_score()?;
            if child.is_goal() {
                let step = Waiting { parent: id, action };
                return Ok(Some(self.take(step).0));
            }
            for (steps, score) in self.scored[..self.heads].iter_mut().zip(child.scores) {
                steps.push((score, action));
            }
            self.waiting += 1;
            if index % POLL_EVERY == POLL_EVERY - 1 {
                self.poll(watch)?;
            }
        }
        Ok(None)
    }

    fn novel_turn(&mut self, watch: &mut dyn Watch) -> Result<Turn, Limit> {
        let mut novelty = self.novelty.take().expect("a novel worker has its memory");
        let turn = self.novel_step(&mut novelty, watch);
        self.statistics.peak_open = self
            .statistics
            .peak_open
            .max(self.waiting + novelty.waiting() as u64);
        // Without a step left the worker is done, and its share goes to the others.
        if !matches!(turn, Ok(Turn::NothingLeft)) {
            self.novelty = Some(novelty);
            return turn;
        }
        Ok(Turn::GoOn)
    }

    /// Takes the next novel step and offers those that follow.
    fn novel_step(&mut self, novelty: &mut Novelty, watch: &mut dyn Watch) -> Result<Turn, Limit> {
        let Some(step) = novelty.pop(self.task) else {
            return Ok(Turn::NothingLeft);
        };
        let (id, _) = self.take(step.step);
        let mark = &mut self.marks[id.index()];
        if *mark & (BY_NOVEL | DEAD) != 0 {
            self.charge(Worker::Novel, STORE_WORK);
            return Ok(Turn::GoOn);
        }
        *mark |= BY_NOVEL;
        let mut plan = None;
        if novelty.wants_plan(&step) {
            let mut facts = Vec::new();
            let state = self.visited.state(id);
            let relaxed = self.heuristics.first_mut();
            if let Some(Estimate::DEAD_END) =
                relaxed.and_then(|first| first.relaxed_plan(state, &mut facts))
            {
                self.marks[id.index()] |= DEAD;
                self.statistics.dead_ends += 1;
                self.charge(Worker::Novel, STORE_WORK);
                return Ok(Turn::GoOn);
            }
            plan = Some(facts);
        }
        novelty.enter(self.task, &step, self.visited.state(id), plan);
        let listed = match novelty.is_level(&step) {
            true => self.begin_expansion_after(step.step, id, watch)?,
            false => self.begin_expansion(id, watch)?,
        };
        let state = self.visited.state(id);
        let mut goal = None;
        for (index, &action) in self.applicable.iter().enumerate() {
            if novelty.offer(self.task, id, state, action) {
                goal = Some(action);
                break;
            }
            if index % POLL_EVERY == POLL_EVERY - 1 {
                self.poll(watch)?;
            }
        }
        self.statistics.generated += self.applicable.len() as u64;
        let looked_at = self.applicable.len() as u64;
        let own = STORE_WORK + listed as u64 * LIST_WORK + looked_at * QUEUE_WORK;
        self.charge(Worker::Novel, own + novelty.take_work());
        Ok(match goal {
            Some(action) => Turn::Goal(self.take(Waiting { parent: id, action }).0),
            None => Turn::GoOn,
        })
    }

    fn serial_turn(&mut self, watch: &mut dyn Watch) -> Result<Turn, Limit> {
        let most = self.limits.max_expansions.unwrap_or(u64::MAX);
        let most = most.saturating_sub(self.statistics.expansions);
        if most == 0 {
            return Err(Limit::Expansions);
        }
        let progress = self.progress();
        let serial = self.serial.as_mut().expect("it has a part of the work");
        let generator = self.generator.as_ref().expect("built before a run");
        let enabled = self.enabled.iter_mut().flatten().next();
        let enabled = enabled.expect("there is no serial worker without");
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let before = serial.work();
        let turn = Pace::new(watch, progress)
            .and_then(|mut pace| serial.turn(self.task, generator, enabled, most, &mut pace));
        let (expanded, generated) = serial.take_counts();
        let work = serial.work() - before;
        self.statistics.expansions += expanded;
        self.statistics.generated += generated;
        self.charge(Worker::Serial, work);
        Ok(match turn.map_err(Limit::Stopped)? {
            SerialTurn::Plan(plan) => Turn::Plan(plan),
            SerialTurn::GoOn => Turn::GoOn,
        })
    }

    fn guided_turn(&mut self, watch: &mut dyn Watch) -> Result<Turn, Limit> {
        if self.guided_run.is_stuck() && !self.heuristics.is_empty() {
            self.leave_plateau();
        }
        let Some(step) = self.pop_guided() else {
            // The learned worker may still have steps, unless it has none either.
            let left = if self.heads > 0 {
                self.pop_learned()
            } else {
                None
            };
            let Some((step, lane)) = left else {
                return Ok(Turn::NothingLeft);
            };
            return self.guided_step(step, lane, watch);
        };
        self.guided_step(step.0, step.1, watch)
    }

    /// The next step of the queue whose turn it is, and the lane in which the learned worker is to
    /// be told of it.
    fn pop_guided(&mut self) -> Option<(Waiting, Lane)> {
        let mut order: Vec<usize> = (0..self.guided.len()).collect();
        order.sort_by_key(|&index| self.guided[index].turns);
        for index in order {
            let queue = &mut self.guided[index];
            let mut lane = Lane::Told;
            let step = match &mut queue.kind {
                GuidedKind::Estimate { queue, .. } => queue.pop(),
                GuidedKind::Score(queue) => queue.pop(),
                GuidedKind::Learned => {
                    lane = Lane::Own { head: 0 };
                    self.learned[0].pop()
                }
                GuidedKind::Type(queue) => queue.pop(),
            };
            if let Some(step) = step {
                queue.turns += 1;
                self.waiting = self.waiting.saturating_sub(1);
                return Some((step, lane));
            }
        }
        None
    }

    fn guided_step(
        &mut self,
        step: Waiting,
        lane: Lane,
        watch: &mut dyn Watch,
    ) -> Result<Turn, Limit> {
        let stored = self.visited.len();
        let (id, part) = self.take(step);
        if self.marks[id.index()] & BY_GUIDED != 0 {
            // What was taken out of the learned worker's queue is done for it.
            if lane == Lane::Told {
                self.charge(Worker::Guided, STORE_WORK);
                return Ok(Turn::GoOn);
            }
            return self.learned_step(id, part, lane, Worker::Guided, watch);
        }
        if self.visited.len() > stored && self.task.is_goal(self.visited.state(id)) {
            return Ok(Turn::Goal(id));
        }
        let alive = self.evaluate(id)?;
        let verdict = match self.evaluations.first() {
            Some(first) if alive => Verdict::Estimate(first.estimate.finite().unwrap_or(0.0)),
            _ => Verdict::DeadEnd,
        };
        self.show(id, verdict, watch);
        if !alive {
            self.marks[id.index()] |= BY_GUIDED | BY_LEARNED | BY_TOLD | DEAD;
            self.statistics.dead_ends += 1;
            self.charge(Worker::Guided, STORE_WORK);
            return Ok(Turn::GoOn);
        }
        self.begin_expansion(id, watch)?;
        self.list_preferred();
        self.manner.arrange(&mut self.applicable);
        self.charge(Worker::Guided, STORE_WORK);
        let tells = self.tells(lane);
        let mark = &mut self.marks[id.index()];
        let known = *mark & (lane.scored() | lane.in_parts()) == lane.scored();
        *mark |= BY_GUIDED;
        if tells {
            // What follows scores all successors: nothing is left to do in this lane.
            *mark = (*mark | lane.scored()) & !lane.in_parts();
        }
        self.note_progress(id, tells);
        let goal = self.guided_expansion(id, tells, watch);
        self.queue_scored(id, (!known).then_some(lane));
        let goal = goal?;
        // Scores are for the learned worker, which pays for them.
        self.told_work += self.charge(Worker::Learned, 0);
        for evaluation in &self.evaluations {
            for action in &evaluation.preferred {
                self.is_preferred[action.index()] = false;
            }
        }
        let successors = self.applicable.len() as u64;
        let own = successors * (LIST_WORK + QUEUE_WORK * self.guided.len() as u64);
        self.charge(Worker::Guided, own);
        Ok(goal.map_or(Turn::GoOn, Turn::Goal))
    }

    /// Whether the successors of a state that the guided worker expands are scored: always where it
    /// goes by scores itself; for the other lane only while that is a small part of what the
    /// learned worker does. Where an action changes much a score is dearer than h_FF, and telling of
    /// every state would leave the guided worker little of its part.
    fn tells(&self, lane: Lane) -> bool {
        let goes_by_scores =
            |queue: &GuidedQueue| matches!(queue.kind, GuidedKind::Score(_) | GuidedKind::Learned);
        self.scorer.is_some()
            && (lane != Lane::Told
                || self.told_work <= self.work[Worker::Learned as usize] / OWN_TURNS as u64
                || self.guided.iter().any(goes_by_scores))
    }

    /// Evaluates a state with every heuristic; `false` for a dead end.
    fn evaluate(&mut self, id: StateId) -> Result<bool, Limit> {
        let most = self.limits.max_evaluations.unwrap_or(u64::MAX);
        if self.statistics.evaluations >= most {
            return Err(Limit::Evaluations);
        }
        self.statistics.evaluations += 1;
        let visited = &self.visited;
        let asked = self.heuristics.iter_mut().zip(&mut self.evaluations);
        for (index, (heuristic, evaluation)) in asked.enumerate() {
            heuristic.evaluate_node(Node { visited, id }, evaluation);
            let finite = evaluation.estimate.finite();
            if id == Visited::INITIAL && index == 0 {
                self.statistics.initial_estimate = finite;
            }
            if finite.is_none() {
                return Ok(false);
            }
        }
        if self.config.preferred {
            for evaluation in &self.evaluations {
                for action in &evaluation.preferred {
                    self.is_preferred[action.index()] = true;
                }
            }
        }
        Ok(true)
    }

    /// Lists all preferred actions, also those that are like another one: a relaxed plan does not
    /// know who is the first of those alike.
    fn list_preferred(&mut self) {
        if self.interchangeable.is_some() && self.config.preferred {
            let listed = self.applicable.len();
            for action in self.evaluations.iter().flat_map(|found| &found.preferred) {
                if self.applicable[..listed].binary_search(action).is_err() {
                    self.applicable.push(*action);
                }
            }
            if self.applicable.len() > listed {
                self.applicable.sort_unstable();
                self.applicable.dedup();
            }
        }
    }

    /// Gives queues of preferred actions a head start: those of heuristics if an estimate is the best
    /// yet, that of the learned score if the score is. A score that goes down and down far from what
    /// it was learnt on must not decide whose turn it is among heuristics.
    fn note_progress(&mut self, id: StateId, tells: bool) {
        let mut by_estimate = false;
        for (best, evaluation) in self.best_estimates.iter_mut().zip(&self.evaluations) {
            let estimate = evaluation.estimate.finite().unwrap_or(f64::INFINITY);
            if estimate < *best {
                *best = estimate;
                by_estimate = true;
            }
        }
        if by_estimate {
            self.guided_run.best = self.guided_run.work;
        }
        let mut by_score = false;
        if let Some(scorer) = self.scorer.as_mut().filter(|_| tells) {
            scorer.enter(self.visited.state(id));
            let score = scorer.scores()[0];
            if score < self.best_score {
                self.best_score = score;
                by_score = true;
            }
        }
        if by_estimate || by_score {
            // At most so far ahead: head starts that added up would starve the other queues.
            let others = self.guided.iter().filter(|queue| !queue.only_preferred);
            let ahead = others.map(|queue| queue.turns).min().unwrap_or(0) - self.manner.boost;
            for queue in self.guided.iter_mut().filter(|queue| queue.only_preferred) {
                let progress = match queue.kind {
                    GuidedKind::Score(_) => by_score,
                    _ => by_estimate,
                };
                if progress {
                    queue.turns = queue.turns.min(ahead);
                }
            }
        }
    }

    /// Puts the scored steps from a state into their queues: those of a lane, if there is one, and
    /// that of preferred actions.
    fn queue_scored(&mut self, id: StateId, lane: Option<Lane>) {
        match lane {
            Some(Lane::Own { .. }) => {
                let queues = self.learned[..self.heads].iter_mut();
                queues
                    .zip(&self.scored)
                    .for_each(|(queue, steps)| queue.push_all(id, steps));
            }
            Some(Lane::Told) => self.told.push_all(id, &self.scored[0]),
            None => {}
        }
        self.scored.iter_mut().for_each(Vec::clear);
        for queue in &mut self.guided {
            if let GuidedKind::Score(queue) = &mut queue.kind {
                queue.push_all(id, &self.scored_preferred);
            }
        }
        self.scored_preferred.clear();
    }

    /// Queues all successors, and scores them if it `tells` of them, the scored ones aside; the goal,
    /// if the scorer notices one.
    fn guided_expansion(
        &mut self,
        id: StateId,
        tells: bool,
        watch: &mut dyn Watch,
    ) -> Result<Option<StateId>, Limit> {
        let depth = self.depths[id.index()];
        for index in 0..self.applicable.len() {
            let action = self.applicable[index];
            let step = Waiting { parent: id, action };
            let preferred = self.is_preferred[action.index()];
            if let Some(scorer) = self.scorer.as_mut().filter(|_| tells) {
                let child = scorer.child(action);
                self.count_score()?;
                if child.is_goal() {
                    return Ok(Some(self.take(step).0));
                }
                for (steps, score) in self.scored[..self.heads].iter_mut().zip(child.scores) {
                    steps.push((score, action));
                }
                if preferred {
                    self.scored_preferred.push((child.scores[0], action));
                }
            }
            for queue in &mut self.guided {
                if queue.only_preferred && !preferred {
                    continue;
                }
                match &mut queue.kind {
                    GuidedKind::Estimate { heuristic, queue } => {
                        queue.push(whole_key(&self.evaluations[*heuristic]), step);
                    }
                    GuidedKind::Score(_) | GuidedKind::Learned => {}
                    GuidedKind::Type(queue) => {
                        queue.push((whole_key(&self.evaluations[0]), depth), step);
                    }
                }
                self.waiting += 1;
            }
            if index % POLL_EVERY == POLL_EVERY - 1 {
                self.poll(watch)?;
            }
        }
        self.statistics.peak_open = self.statistics.peak_open.max(self.waiting);
        self.statistics.generated += self.applicable.len() as u64;
        Ok(None)
    }

    fn count_score(&mut self) -> Result<(), Limit> {
        self.statistics.scored += 1;
        let most = self.limits.max_evaluations.unwrap_or(u64::MAX);
        if self.statistics.evaluations + self.statistics.scored > most {
            return Err(Limit::Evaluations);
        }
        Ok(())
    }

    /// Shows a state to the watch.
    fn show(&self, state: StateId, verdict: Verdict, watch: &mut dyn Watch) {
        let met = Met {
            state,
            reached: self.visited.reached_from(state),
            verdict,
        };
        watch.met(self.task, met);
    }

    fn progress(&self) -> Progress {
        let best = self.best_estimates.first().copied();
        Progress::Search {
            evaluations: self.statistics.evaluations + self.statistics.scored,
            expansions: self.statistics.expansions,
            best: best.filter(|best| best.is_finite()),
        }
    }

    fn poll(&self, watch: &mut dyn Watch) -> Result<(), Limit> {
        match watch.poll(self.progress()) {
            Some(stop) => Err(Limit::Stopped(stop)),
            None => Ok(()),
        }
    }

    /// Counts an expansion and lists the applicable actions; how many were looked at for that.
    fn begin_expansion(&mut self, id: StateId, watch: &mut dyn Watch) -> Result<usize, Limit> {
        self.count_expansion(watch)?;
        self.list_all(id);
        Ok(self.applicable.len())
    }

    /// Like [`begin_expansion`](Self::begin_expansion), but lists only what the step to the state
    /// has made possible.
    fn begin_expansion_after(
        &mut self,
        step: Waiting,
        id: StateId,
        watch: &mut dyn Watch,
    ) -> Result<usize, Limit> {
        self.count_expansion(watch)?;
        let [before, after] = [step.parent, id].map(|state| self.visited.state(state));
        // Objects are compared only where there is a table: a step may change who is the first of
        // those alike.
        let enabled = self.enabled.as_mut().and_then(Option::as_mut);
        let enabled = enabled.filter(|_| {
            let alike = self.interchangeable.as_mut();
            alike.is_none_or(|alike| alike.keeps_firsts(self.task, before, after))
        });
        let Some(enabled) = enabled else {
            self.list_all(id);
            return Ok(self.applicable.len());
        };
        enabled.look_at(self.task, before, step.action);
        let candidates = enabled.candidates();
        if candidates <= self.listed * CANDIDATES {
            enabled.list(self.task, after, &mut self.applicable);
            if let Some(alike) = &self.interchangeable {
                alike.keep_firsts(self.task, &mut self.applicable);
            }
            return Ok(candidates);
        }
        self.list_all(id);
        let enabled = self.enabled.iter().flatten().next().expect("it is there");
        let task = self.task;
        { &mut self.applicable }.retain(|&action| enabled.needs_added(task, action));
        Ok(self.listed)
    }

    fn count_expansion(&mut self, watch: &mut dyn Watch) -> Result<(), Limit> {
        let most = self.limits.max_expansions.unwrap_or(u64::MAX);
        if self.statistics.expansions >= most {
            return Err(Limit::Expansions);
        }
        self.poll(watch)?;
        self.statistics.expansions += 1;
        ask_for_room(self.visited.registry().growth(1), watch).map_err(Limit::Stopped)
    }

    /// Lists the applicable actions of a state, of those alike the first.
    fn list_all(&mut self, id: StateId) {
        let generator = self.generator.as_ref().expect("built before a run");
        let state = self.visited.state(id);
        let actions = &mut self.applicable;
        match &mut self.interchangeable {
            Some(alike) => alike.applicable(self.task, generator, state, actions),
            None => generator.applicable(state, actions),
        }
        self.listed = actions.len();
    }
}

/// An estimate as a key: whole estimates are their own.
fn whole_key(evaluation: &Evaluation) -> u64 {
    evaluation.estimate.finite().unwrap_or(0.0).max(0.0) as u64
}

/// A stride that visits `count` places once each, far apart: near the golden section, and with no
/// divisor in common.
fn spread_over(count: usize) -> usize {
    let mut stride = (count as f64 * 0.618_033_988_749_895) as usize | 1;
    while greatest_common_divisor(stride, count) != 1 {
        stride += 2;
    }
    stride
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heuristic::Blind;
    use crate::search::scorer::ChildScore;
    use crate::test_tasks::{action, prop, task};

    /// Scores states by what is true in them.
    struct Scorer<'a, S> {
        task: &'a Task,
        heads: usize,
        score: S,
        parent: Vec<u32>,
        work: u64,
    }

    impl<'a, S: Fn(&[u32]) -> i64> Scorer<'a, S> {
        fn new(task: &'a Task, heads: usize, score: S) -> Self {
            Self {
                task,
                heads,
                score,
                parent: Vec::new(),
                work: 0,
            }
        }
    }

    impl<S: Fn(&[u32]) -> i64> SuccessorScorer for Scorer<'_, S> {
        fn heads(&self) -> usize {
            self.heads
        }

        fn enter(&mut self, state: &[u32]) {
            self.parent = state.to_vec();
        }

        fn scores(&self) -> [i64; SCORER_HEADS] {
            [(self.score)(&self.parent); SCORER_HEADS]
        }

        fn child(&mut self, action: ActionId) -> ChildScore {
            let mut state = self.parent.clone();
            self.task.apply(action, &mut state);
            self.work += 100;
            ChildScore {
                scores: [(self.score)(&state); SCORER_HEADS],
                open_goals: self.task.open_goals(&state),
            }
        }

        fn work(&self) -> u64 {
            self.work
        }
    }

    /// A hall with three rooms, one of which leads to the goal.
    fn rooms() -> Task {
        task(
            "(:predicates (at ?r) (way ?a ?b))
             (:action go :parameters (?a ?b) :precondition (and (at ?a) (way ?a ?b))
                         :effect (and (at ?b) (not (at ?a))))",
            "(:objects hall x y z end)
             (:init (at hall) (way hall x) (way hall y) (way hall z) (way x end) (way y hall)
                    (way z hall))
             (:goal (at end))",
        )
    }

    /// Ready to take turns: a blind heuristic, and a scorer to which all states are alike.
    fn search(task: &Task, heads: usize, part: usize) -> Deferred<'_> {
        let config = DeferredConfig {
            part,
            descent: 0.0,
            ..DeferredConfig::default()
        };
        let mut search = Deferred::new(task, vec![Box::new(Blind::new(task))], config);
        search.add_scorer(Box::new(Scorer::new(task, heads, |_| 0)), Trust::High);
        search.generator = Some(SuccessorGenerator::new(task));
        search
    }

    fn parents(queue: &mut ScoreQueue) -> Vec<StateId> {
        let steps = std::iter::from_fn(|| queue.pop());
        steps.map(|step| step.parent).collect()
    }

    #[test]
    fn heads_and_lanes_take_turns() {
        let task = rooms();
        let mut search = search(&task, 2, 1000);
        let step = |parent: u32| Waiting {
            parent: StateId(parent),
            action: ActionId(0),
        };
        for queue in &mut search.learned {
            *queue = ScoreQueue::default();
        }
        (0..4).for_each(|index| search.told.push(0, step(100 + index)));
        (0..2).for_each(|index| search.learned[0].push(0, step(index)));
        (0..3).for_each(|index| search.learned[1].push(0, step(10 + index)));
        let mut order = Vec::new();
        while let Some((step, lane)) = search.pop_learned() {
            let expected = match step.parent.0 {
                0..10 => Lane::Own { head: 0 },
                10..100 => Lane::Own { head: 1 },
                _ => Lane::Told,
            };
            assert!(lane == expected, "{step:?}");
            order.push(step.parent.0);
        }
        // Where a queue is empty the next one has its turn.
        assert_eq!(order, [0, 10, 1, 100, 11, 12, 101, 102, 103]);
    }

    #[test]
    fn a_stuck_guided_worker_begins_anew_with_a_queue_by_type_and_then_without() {
        let task = rooms();
        let config = DeferredConfig {
            patience: 1,
            ..DeferredConfig::default()
        };
        let mut search = Deferred::new(&task, vec![Box::new(Blind::new(&task))], config);
        search.run(Limits::default(), Some(1), &mut ());
        let by_type = |search: &Deferred<'_>| {
            let mut queues = search.guided.iter();
            queues.any(|queue| matches!(queue.kind, GuidedKind::Type(_)))
        };
        assert!(!by_type(&search));
        assert!(search.marks.iter().any(|mark| mark & BY_GUIDED != 0));
        search.leave_plateau();
        assert!(by_type(&search));
        assert!(search.marks.iter().all(|mark| mark & BY_GUIDED == 0));
        search.leave_plateau();
        assert!(!by_type(&search));
        // However often it begins anew, it gets there.
        let outcome = search.run(Limits::default(), None, &mut ());
        let Outcome::Solved(plan) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(plan.steps.len(), 2);
    }

    #[test]
    fn with_another_scorer_the_learned_worker_begins_anew() {
        let task = rooms();
        let mut search = search(&task, 1, 1000);
        let first = search.run(Limits::default(), Some(1), &mut ());
        assert_eq!(first, Outcome::LimitReached(Limit::Work));
        let (work, queues) = (search.work(), search.guided.len());
        assert!(work > 0);
        search.add_scorer(Box::new(Scorer::new(&task, 1, |_| 7)), Trust::High);
        assert_eq!(search.guided.len(), queues, "no queue comes twice");
        assert_eq!(search.marks[0] & BY_LEARNED, 0);
        assert_eq!(search.learned[0].pop(), Some(Waiting::ROOT));
        search.add_scorer(Box::new(Scorer::new(&task, 1, |_| 7)), Trust::Low);
        assert_eq!(
            search.guided.len(),
            queues - 2,
            "the guided worker does not go by it"
        );
        let found = search.run(Limits::default(), None, &mut ());
        assert!(matches!(found, Outcome::Solved(plan) if plan.steps.len() == 2));
        assert!(
            search.work() > work,
            "the work of the first scorer is charged once"
        );
    }

    #[test]
    fn what_the_guided_worker_expands_waits_in_the_lane_of_what_is_told() {
        let task = rooms();
        let mut search = search(&task, 1, 1000);
        let initial = Visited::INITIAL;
        assert!(matches!(search.guided_turn(&mut ()), Ok(Turn::GoOn)));
        assert_eq!(search.marks[initial.index()], BY_GUIDED | BY_TOLD);
        assert_eq!(parents(&mut search.told), [initial; 3]);
        // The learned worker has not moved, and expands the state again in its own lane.
        assert_eq!(search.learned[0].pop(), Some(Waiting::ROOT));
        let own = Lane::Own { head: 0 };
        let turn = search.learned_step(initial, None, own, Worker::Learned, &mut ());
        assert!(matches!(turn, Ok(Turn::GoOn)));
        let marks = BY_GUIDED | BY_TOLD | BY_LEARNED;
        assert_eq!(search.marks[initial.index()], marks);
        assert_eq!(parents(&mut search.learned[0]), [initial; 3]);
        assert_eq!(parents(&mut search.told), []);
    }

    #[test]
    fn what_is_taken_from_the_learned_queue_stays_in_its_lane() {
        let task = rooms();
        let mut search = search(&task, 1, 1000);
        let initial = Visited::INITIAL;
        let (root, lane) = search.pop_guided().expect("the initial state waits");
        assert!(root == Waiting::ROOT && lane == Lane::Told);
        // The queues of estimates are empty now: the one that both share is next.
        assert!(matches!(search.guided_turn(&mut ()), Ok(Turn::GoOn)));
        assert_eq!(search.marks[initial.index()], BY_GUIDED | BY_LEARNED);
        assert_eq!(parents(&mut search.learned[0]), [initial; 3]);
        assert_eq!(parents(&mut search.told), []);
    }

    #[test]
    fn parts_of_a_state_are_scored_once_in_each_lane() {
        let task = rooms();
        let mut search = search(&task, 1, 1);
        let initial = Visited::INITIAL;
        let own = Lane::Own { head: 0 };
        search.learned[0] = ScoreQueue::default();
        let take = |search: &mut Deferred<'_>, part, lane| {
            let turn = search.learned_step(initial, part, lane, Worker::Learned, &mut ());
            assert!(matches!(turn, Ok(Turn::GoOn)));
            search.marks[initial.index()]
        };
        assert_eq!(take(&mut search, None, own), BY_LEARNED | IN_PARTS);
        let first = BY_LEARNED | IN_PARTS | BY_TOLD | TOLD_IN_PARTS;
        assert_eq!(take(&mut search, None, Lane::Told), first);
        assert_eq!(take(&mut search, Some(1), own), first);
        let done = first & !IN_PARTS;
        assert_eq!(take(&mut search, Some(2), own), done);
        // What is done is not done again.
        let scored = search.statistics.scored;
        assert_eq!(take(&mut search, Some(2), own), done);
        assert_eq!(take(&mut search, None, own), done);
        assert_eq!(search.statistics.scored, scored);
        // Three successors, and twice the rest of a state; the other lane has one of each.
        let steps = std::iter::from_fn(|| search.learned[0].pop());
        let (parts, mut actions): (Vec<u32>, Vec<u32>) = steps
            .map(|step| step.action.0)
            .partition(|action| action & PART != 0);
        actions.sort_unstable();
        actions.dedup();
        assert_eq!((parts.len(), actions.len()), (2, 3));
        assert_eq!(parents(&mut search.told).len(), 2);
    }

    #[test]
    fn a_region_that_the_score_favours_wrongly_does_not_hold_up_the_other_lane() {
        // A way of thirty steps, and a trap beside its first: a thousand states without a way out,
        // each of which scores better than the whole way. The trap's door scores worst: only the
        // guided worker, which is blind, goes in. `leave` can be applied in no state, but keeps
        // the trap relevant.
        let between: Vec<String> = (2..30).map(|place| format!("p{place}")).collect();
        let next: Vec<String> = (0..30)
            .map(|place| format!("(next p{place} p{})", place + 1))
            .collect();
        let task = task(
            "(:types place switch) (:constants p0 p1 p30 - place)
             (:predicates (at ?p - place) (next ?a ?b - place) (trapped) (on ?s - switch))
             (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (next ?a ?b))
                         :effect (and (at ?b) (not (at ?a))))
             (:action fall :precondition (at p0) :effect (and (trapped) (not (at p0))))
             (:action turn :parameters (?s - switch) :precondition (trapped) :effect (on ?s))
             (:action undo :parameters (?s - switch) :precondition (and (trapped) (on ?s))
                           :effect (not (on ?s)))
             (:action leave :parameters (?s - switch)
                            :precondition (and (trapped) (at p1) (on ?s)) :effect (at p30))",
            &format!(
                "(:objects {} - place s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 - switch)
                 (:init (at p0) {}) (:goal (at p30))",
                between.join(" "),
                next.join(" ")
            ),
        );
        let trapped = prop(&task, "trapped");
        let fall = action(&task, "fall");
        let mut door = task.initial_state();
        task.apply(fall, &mut door);
        let encoding = task.encoding();
        let score = |state: &[u32]| match encoding.holds(trapped, state) {
            true if state == door => 1000,
            true => -1000,
            false => 0,
        };
        let config = DeferredConfig::default();
        let mut search = Deferred::new(&task, vec![Box::new(Blind::new(&task))], config);
        search.add_scorer(Box::new(Scorer::new(&task, 1, score)), Trust::High);
        let outcome = search.run(Limits::default(), None, &mut ());
        assert!(matches!(outcome, Outcome::Solved(plan) if plan.steps.len() == 30));
        assert_eq!(search.found_by(), Some(Finder::Learned));
        let statistics = search.statistics();
        assert!(statistics.expansions < 200, "{statistics:?}");
    }

    #[test]
    fn a_descent_moves_one_thing_while_the_others_stay() {
        // Four walkers, each at the end of a way of its own; the score is the number of open goals,
        // so that nothing changes before one of them has arrived.
        let places: Vec<String> = (0..12).map(|place| format!("p{place}")).collect();
        let next: Vec<String> = (1..12)
            .map(|place| format!("(next p{} p{place})", place - 1))
            .collect();
        let task = task(
            "(:types place walker) (:predicates (at ?w - walker ?p - place) (next ?a ?b - place))
             (:action go :parameters (?w - walker ?a ?b - place)
                         :precondition (and (at ?w ?a) (next ?a ?b))
                         :effect (and (at ?w ?b) (not (at ?w ?a))))
             (:action back :parameters (?w - walker ?a ?b - place)
                         :precondition (and (at ?w ?b) (next ?a ?b))
                         :effect (and (at ?w ?a) (not (at ?w ?b))))",
            &format!(
                "(:objects {} - place a b c d - walker)
                 (:init (at a p0) (at b p0) (at c p0) (at d p0) {})
                 (:goal (and (at a p11) (at b p11) (at c p11) (at d p11)))",
                places.join(" "),
                next.join(" ")
            ),
        );
        let expansions = |descent: f64| {
            let config = DeferredConfig {
                descent,
                // The walkers are alike, which would do as well here.
                interchange: false,
                ..DeferredConfig::default()
            };
            let mut search = Deferred::new(&task, Vec::new(), config);
            let score = |state: &[u32]| task.open_goals(state) as i64;
            search.add_scorer(Box::new(Scorer::new(&task, 1, score)), Trust::High);
            let outcome = search.run(Limits::default(), None, &mut ());
            assert!(matches!(outcome, Outcome::Solved(_)));
            search.statistics().expansions
        };
        let [without, with] = [0.0, 0.5].map(expansions);
        // Four ways of twelve places, a hollow each.
        assert!(with < 4 * 4 * 12 * 2, "{with}");
        assert!(without > 3 * with, "{without} {with}");
    }

    #[test]
    fn a_descent_finds_two_things_of_one_object() {
        // Five painters with the wrong colour, each to paint the far end of one way: nobody gets
        // there with the other colour by steps that make one thing new each. The score is the
        // number of open goals.
        let places: Vec<String> = (0..12).map(|place| format!("p{place}")).collect();
        let next: Vec<String> = (1..12)
            .map(|place| format!("(next p{} p{place})", place - 1))
            .collect();
        let task = task(
            "(:types place painter colour)
             (:predicates (at ?w - painter ?p - place) (next ?a ?b - place)
                          (has ?w - painter ?c - colour) (painted ?c - colour ?by - painter)
                          (end ?p - place))
             (:action go :parameters (?w - painter ?a ?b - place)
                         :precondition (and (at ?w ?a) (next ?a ?b))
                         :effect (and (at ?w ?b) (not (at ?w ?a))))
             (:action back :parameters (?w - painter ?a ?b - place)
                         :precondition (and (at ?w ?b) (next ?a ?b))
                         :effect (and (at ?w ?a) (not (at ?w ?b))))
             (:action change :parameters (?w - painter ?c ?d - colour)
                         :precondition (has ?w ?c)
                         :effect (and (has ?w ?d) (not (has ?w ?c))))
             (:action paint :parameters (?w - painter ?p - place ?c - colour)
                         :precondition (and (at ?w ?p) (has ?w ?c) (end ?p))
                         :effect (painted ?c ?w))",
            &format!(
                "(:objects {} - place a b c d e - painter red blue - colour)
                 (:init (at a p0) (at b p0) (at c p0) (at d p0) (at e p0) (end p11) (has a red)
                        (has b red) (has c red) (has d red) (has e red) {})
                 (:goal (and (painted blue a) (painted blue b) (painted blue c) (painted blue d)
                             (painted blue e)))",
                places.join(" "),
                next.join(" ")
            ),
        );
        let config = DeferredConfig {
            interchange: false,
            ..DeferredConfig::default()
        };
        let mut search = Deferred::new(&task, Vec::new(), config);
        let score = |state: &[u32]| task.open_goals(state) as i64;
        search.add_scorer(Box::new(Scorer::new(&task, 1, score)), Trust::High);
        let limits = Limits {
            max_expansions: Some(20_000),
            ..Limits::default()
        };
        let outcome = search.run(limits, None, &mut ());
        assert!(matches!(outcome, Outcome::Solved(_)));
        // Five painters, twelve places, two colours, five hollows, and the other worker's turns.
        let expansions = search.statistics().expansions;
        assert!(expansions < 5 * 12 * 2 * 5 * 4, "{expansions}");
    }

    #[test]
    fn a_descent_without_a_better_state_goes_by_open_goals() {
        let task = task(
            "(:predicates (at ?p) (next ?a ?b) (been ?p))
             (:action go :parameters (?a ?b) :precondition (and (at ?a) (next ?a ?b))
                         :effect (and (at ?b) (not (at ?a))))
             (:action stamp :parameters (?a) :precondition (at ?a) :effect (been ?a))",
            "(:objects p0 p1) (:init (at p0) (next p0 p1)) (:goal (and (been p0) (been p1)))",
        );
        let mut descent = Descent::new(&task);
        let initial = task.initial_state();
        let root = Waiting::rest_of(Visited::INITIAL, 0);
        let step = |name| Waiting {
            parent: Visited::INITIAL,
            action: action(&task, name),
        };
        assert_eq!(descent.begin(&task, Visited::INITIAL, &initial, 7), 2);
        assert_eq!(descent.pop(&task), Some(root));
        // Worse than the base and no goal more: it waits, once.
        descent.enter(&task, &initial);
        descent.offer(&task, step("go p0 p1"), &initial, 9, 2);
        descent.offer(&task, step("go p0 p1"), &initial, 9, 2);
        assert!(descent.better.is_empty());
        assert_eq!(descent.pop(&task), Some(step("go p0 p1")));
        // Nothing is left: it begins again, with pairs.
        assert_eq!(descent.pop(&task), Some(root));
        // A worse score with one goal fewer may be the next base.
        descent.enter(&task, &initial);
        descent.offer(&task, step("stamp p0"), &initial, 99, 1);
        assert!(descent.better.is_empty());
        assert_eq!(descent.pop(&task), Some(step("stamp p0")));
        assert_eq!(descent.pop(&task), None);
        assert_eq!(descent.pop_nearer(), Some((99, step("stamp p0"))));
        assert!(!descent.is_over());
        assert_eq!(descent.pop_nearer(), None);
        assert!(descent.is_over());
    }

    #[test]
    fn a_stride_visits_every_place_once() {
        for count in [1, 2, 3, 10, 999, 1000, 1001, 4096] {
            let stride = spread_over(count);
            let mut seen = vec![false; count];
            (0..count).for_each(|index| seen[index * stride % count] = true);
            assert!(seen.iter().all(|&seen| seen), "{count}");
        }
    }
}
