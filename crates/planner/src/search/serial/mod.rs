//! One goal after another, each kept once it is reached.
//!
//! A box is pushed to its place; then it stays there, and the next one is pushed. Most tasks of many
//! goals fall apart like that, if the order is right and nothing is in the way of what comes later.
//! The worker that goes by this makes *attempts*. From the initial state on, it looks for a way to one
//! goal, the nearest first. A way is taken if afterwards every open goal can still be reached with
//! nothing deleted and without the actions that would undo a goal which is kept. When no goal has such
//! a way, the attempt is over; the goals that it left open come first in the next one, in an order that
//! is drawn anew.
//!
//! A way to one goal is looked for by novelty. The goal is a value of a variable: the place of a box.
//! A table beside says how many steps of that variable alone each value is away. States of fewer such
//! steps come first; among those the ones that have more of a relaxed plan for the goal behind them. Of
//! all states that are alike in both only those are looked at that make something true for the first
//! time: the robot walks to each cell once for each place of the box. So the states are at most as many
//! as values, steps of the relaxed plan and propositions to multiply. There are two passes over the
//! open goals: in the first, no variable of another goal may change.
//!
//! (Serialised iterated width of Lipovetzky and Geffner, with goals that are kept, ways that are
//! checked, and distances of one variable.)

use std::cmp::Reverse;

use super::enabled::Enabled;
use super::queue::{LIST_WORK, QUEUE_WORK};
use crate::random::Random;
use crate::successors::SuccessorGenerator;
use crate::task::{ActionId, Task};
use crate::watch::{Pace, Stop};
use goals::Goals;
use reach::{Reach, Relaxed};
use ways::{Request, Ways};

mod goals;
mod reach;
mod ways;

/// Work that looking for one way may take in the first attempt, in rough nanoseconds; half as much
/// again in each further one, up to the most.
const FIRST_WORK: u64 = 20_000_000;
const MOST_WORK: u64 = 1_000_000_000;

/// The worker gets on if more goals than ever were reached within so much work, or a quarter of all.
const PATIENCE: u64 = 100_000_000;

/// Passes over the open goals.
const PASSES: usize = 2;

/// Bytes of an action in the tables: goals it touches, and in which order; what it undoes; conditions;
/// what it makes true.
const BYTES_AN_ACTION: usize = 32;

/// What a turn came to.
pub(super) enum SerialTurn {
    Plan(Vec<ActionId>),
    GoOn,
}

/// An attempt to reach one goal after another.
struct Attempt {
    state: Vec<u32>,
    plan: Vec<ActionId>,
    kept: Vec<bool>,
    /// By action: how many of the goals that are kept it would undo.
    undoes: Vec<u16>,
    /// By goal: how it was last seen that it can be reached.
    relaxed: Vec<Relaxed>,
    /// The open goals in the order in which they are tried, and where this stands.
    order: Vec<usize>,
    at: usize,
    pass: usize,
    /// By goal: how often no way to it was found or taken.
    in_vain: Vec<u32>,
    /// By goal: by how much its distance counts for more.
    noise: Vec<f64>,
    /// Work that looking for one way may take, and whether one was given up for that since this was
    /// raised.
    most_work: u64,
    is_cut_short: bool,
    /// All work when it began, and when it reached a goal last.
    begun_work: u64,
    reached_work: u64,
}

impl Attempt {
    fn keep(&mut self, goal: usize, kept: bool, goals: &Goals) {
        if std::mem::replace(&mut self.kept[goal], kept) == kept {
            return;
        }
        for action in goals.undoing.row(goal) {
            let undoes = &mut self.undoes[action.index()];
            *undoes = if kept { *undoes + 1 } else { *undoes - 1 };
        }
    }

    fn allows(&self, action: ActionId) -> bool {
        self.undoes[action.index()] == 0
    }
}

/// The worker that reaches one goal after another.
pub(super) struct Serial {
    goals: Goals,
    reach: Reach,
    ways: Ways,
    random: Random,
    /// By goal: how many attempts left it open.
    failed: Vec<u32>,
    /// The fewest goals that were ever open, and the work until then.
    fewest_open: usize,
    fewest_open_work: u64,
    attempts: usize,
    most_work: u64,
    attempt: Option<Attempt>,
    work: u64,
}

impl Serial {
    /// None for tasks with conditional effects or axioms, with a single goal, or with an action of more
    /// conditions than are counted.
    pub(super) fn of(task: &Task, seed: u64) -> Option<Self> {
        let most = usize::from(u8::MAX);
        let fits = task.is_strips()
            && task.goal().len() > 1
            && task.actions().all(|action| task.pre(action).len() <= most);
        if !fits {
            return None;
        }
        let goals = Goals::of(task);
        Some(Self {
            reach: Reach::new(task),
            ways: Ways::default(),
            random: Random::new(seed),
            failed: vec![0; goals.all.len()],
            fewest_open: usize::MAX,
            fewest_open_work: 0,
            attempts: 0,
            most_work: FIRST_WORK,
            attempt: None,
            work: task.action_count() as u64 * LIST_WORK,
            goals,
        })
    }

    /// Bytes that a worker takes, about, before it begins.
    pub(super) fn bytes(task: &Task) -> usize {
        task.action_count() * BYTES_AN_ACTION
    }

    /// Whether more goals than ever were reached, not long ago.
    pub(super) fn gets_on(&self) -> bool {
        let work = self.work();
        work - self.fewest_open_work < PATIENCE.max(work / 4)
    }

    /// All its work so far, in rough nanoseconds.
    pub(super) fn work(&self) -> u64 {
        self.work + self.reach.work + self.ways.work
    }

    /// States expanded since the last call, and successors generated.
    pub(super) fn take_counts(&mut self) -> (u64, u64) {
        (
            std::mem::take(&mut self.ways.expanded),
            std::mem::take(&mut self.ways.generated),
        )
    }

    /// Looks for a way to one goal, of so many states at the most.
    ///
    /// # Errors
    ///
    /// If the watch says stop.
    pub(super) fn turn(
        &mut self,
        task: &Task,
        generator: &SuccessorGenerator,
        enabled: &mut Enabled,
        most_states: usize,
        pace: &mut Pace<'_>,
    ) -> Result<SerialTurn, Stop> {
        let mut attempt = match self.attempt.take() {
            Some(attempt) => attempt,
            None => self.begin(task, enabled),
        };
        let Some(&goal) = attempt.order.get(attempt.at) else {
            attempt.at = 0;
            attempt.pass += 1;
            if attempt.pass == PASSES && self.goes_on(&attempt) {
                attempt.pass = 0;
                attempt.is_cut_short = false;
                attempt.most_work = (attempt.most_work * 2).min(MOST_WORK);
            }
            match attempt.pass < PASSES && !attempt.order.is_empty() {
                true => self.attempt = Some(attempt),
                false => self.give_up(&attempt),
            }
            return Ok(SerialTurn::GoOn);
        };
        attempt.at += 1;
        attempt.in_vain[goal] += 1;
        let prop = self.goals.all[goal].prop;
        if !self.reach.renew(task, enabled, &mut attempt, goal, prop) {
            self.attempt = Some(attempt);
            return Ok(SerialTurn::GoOn);
        }
        let mut relaxed = attempt.relaxed[goal].facts.clone();
        relaxed.retain(|&fact| !task.encoding().holds(fact, &attempt.state));
        let request = Request {
            task,
            goals: &self.goals,
            attempt: &attempt,
            generator,
            goal,
            moves_others: attempt.pass > 0,
            relaxed: &relaxed,
            most_states,
            most_work: attempt.most_work,
        };
        let way = self.ways.find(&request, enabled, pace)?;
        attempt.is_cut_short |= self.ways.is_cut_short;
        if let Some(way) = way {
            let mut end = attempt.state.clone();
            way.iter().for_each(|&action| task.apply(action, &mut end));
            let before = std::mem::replace(&mut attempt.state, end);
            if self.keep_all(task, enabled, &mut attempt, goal) {
                attempt.plan.extend(way);
                if task.is_goal(&attempt.state) {
                    return Ok(SerialTurn::Plan(attempt.plan));
                }
                attempt.reached_work = self.work();
                self.order(task, &mut attempt);
            } else {
                attempt.state = before;
            }
        }
        self.attempt = Some(attempt);
        Ok(SerialTurn::GoOn)
    }

    /// Keeps the goals that hold; if then another one is out of reach, those of before and one more;
    /// `false` if even so one is.
    fn keep_all(
        &mut self,
        task: &Task,
        enabled: &Enabled,
        attempt: &mut Attempt,
        goal: usize,
    ) -> bool {
        let new = (0..self.goals.all.len())
            .filter(|&other| !attempt.kept[other] && self.goals.holds(other, task, &attempt.state));
        let new: Vec<usize> = new.collect();
        for &other in &new {
            attempt.keep(other, true, &self.goals);
        }
        if self.reach.open(task, enabled, &self.goals, attempt) {
            return true;
        }
        for &other in new.iter().filter(|&&other| other != goal) {
            attempt.keep(other, false, &self.goals);
        }
        if new.len() > 1 && self.reach.open(task, enabled, &self.goals, attempt) {
            return true;
        }
        attempt.keep(goal, false, &self.goals);
        false
    }

    fn begin(&mut self, task: &Task, enabled: &Enabled) -> Attempt {
        let count = self.goals.all.len();
        // The first attempt goes by distances alone.
        let scale = f64::from(u8::from(self.attempts > 0));
        let mut attempt = Attempt {
            state: task.initial_state(),
            plan: Vec::new(),
            kept: vec![false; count],
            undoes: vec![0; task.action_count()],
            relaxed: vec![Relaxed::default(); count],
            order: Vec::new(),
            at: 0,
            pass: 0,
            in_vain: vec![0; count],
            noise: (0..count).map(|_| scale * self.random.unit()).collect(),
            most_work: self.most_work,
            is_cut_short: false,
            begun_work: self.work(),
            reached_work: self.work(),
        };
        for goal in 0..count {
            if self.goals.holds(goal, task, &attempt.state) {
                attempt.keep(goal, true, &self.goals);
            }
        }
        if !self.reach.open(task, enabled, &self.goals, &mut attempt) {
            for goal in 0..count {
                attempt.keep(goal, false, &self.goals);
            }
        }
        self.order(task, &mut attempt);
        attempt
    }

    /// The open goals: those first that earlier attempts have not reached, then those that were not
    /// tried in vain, then those that are near.
    fn order(&mut self, task: &Task, attempt: &mut Attempt) {
        let open =
            (0..self.goals.all.len()).filter(|&goal| !self.goals.holds(goal, task, &attempt.state));
        let mut keyed: Vec<((Reverse<u32>, u32), f64, usize)> = open
            .map(|goal| {
                let distance = self.goals.distance(goal, task, &attempt.state);
                let distance = f64::from(distance) * (1.0 + attempt.noise[goal]);
                let turns = (Reverse(self.failed[goal]), attempt.in_vain[goal]);
                (turns, distance, goal)
            })
            .collect();
        keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        attempt.order.clear();
        attempt.order.extend(keyed.iter().map(|&(_, _, goal)| goal));
        attempt.at = 0;
        attempt.pass = 0;
        if keyed.len() < self.fewest_open {
            self.fewest_open = keyed.len();
            self.fewest_open_work = self.work();
        }
        self.work += keyed.len() as u64 * QUEUE_WORK;
    }

    /// Whether an attempt that has found no way to any open goal looks for them at greater length: where
    /// that may help, and until it has taken as long for nothing as for all before.
    fn goes_on(&self, attempt: &Attempt) -> bool {
        let before = attempt.reached_work - attempt.begun_work;
        attempt.is_cut_short && self.work() - attempt.reached_work < before
    }

    fn give_up(&mut self, attempt: &Attempt) {
        for &goal in &attempt.order {
            self.failed[goal] += 1;
        }
        self.attempts += 1;
        self.most_work = (self.most_work * 3 / 2).min(MOST_WORK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::test_tasks::task;

    /// Runs turns until there is a plan, or so many attempts have ended without.
    fn solve(task: &Task, attempts: usize) -> (Option<Vec<ActionId>>, usize) {
        let generator = SuccessorGenerator::new(task);
        let enabled = Enabled::of(task, &mut ()).expect("nothing says stop");
        let mut enabled = enabled.expect("a task without conditional effects");
        let mut serial = Serial::of(task, 1).expect("several goals");
        let mut watch = ();
        let mut pace = Pace::building(&mut watch, "ways").expect("nothing says stop");
        while serial.attempts < attempts {
            let turn = serial.turn(task, &generator, &mut enabled, usize::MAX, &mut pace);
            if let SerialTurn::Plan(plan) = turn.expect("nothing says stop") {
                return (Some(plan), serial.attempts);
            }
        }
        (None, attempts)
    }

    /// A dead end street: cars come in at its mouth, and none passes another.
    const STREET: &str = "(:predicates (at ?x ?c) (free ?c) (next ?c ?d))
        (:action drive :parameters (?x ?c ?d)
         :precondition (and (at ?x ?c) (next ?c ?d) (free ?d))
         :effect (and (not (at ?x ?c)) (at ?x ?d) (free ?c) (not (free ?d))))";

    #[test]
    fn what_would_be_in_the_way_comes_later() {
        // The nearest goal, that of `a`, would shut the others out.
        let task = task(
            STREET,
            "(:objects a b c - object mouth1 mouth2 mouth3 in1 in2 in3 - object)
             (:init (at a mouth1) (at b mouth2) (at c mouth3) (free in1) (free in2) (free in3)
                    (next mouth1 in1) (next mouth2 in1) (next mouth3 in1) (next in1 in2)
                    (next in2 in3))
             (:goal (and (at a in1) (at b in2) (at c in3)))",
        );
        let (plan, attempts) = solve(&task, 1);
        let plan = plan.expect("one goal after another is all it takes");
        assert_eq!((plan.len(), attempts), (6, 0));
        let plan = Plan::from_actions(&task, &plan);
        plan.validate(task.problem()).expect("it is a plan");
    }

    #[test]
    fn a_way_that_cuts_off_another_goal_is_not_taken() {
        // Nobody comes back from the near goal; the far one is on another way there.
        let task = task(
            "(:predicates (at ?c) (been ?c) (road ?c ?d))
             (:action walk :parameters (?c ?d) :precondition (and (at ?c) (road ?c ?d))
              :effect (and (not (at ?c)) (at ?d) (been ?d)))",
            "(:objects home far1 far2 near)
             (:init (at home) (road home near) (road home far1) (road far1 far2) (road far2 near))
             (:goal (and (been near) (been far2)))",
        );
        let (plan, attempts) = solve(&task, 3);
        assert_eq!((plan.map(|plan| plan.len()), attempts), (Some(3), 0));
    }

    #[test]
    fn without_a_plan_attempts_end() {
        // Two cars change places in a street where nobody can pass.
        let task = task(
            STREET,
            "(:objects a b l m r)
             (:init (at a l) (at b m) (free r) (next l m) (next m l) (next m r) (next r m))
             (:goal (and (at a m) (at b l)))",
        );
        assert_eq!(solve(&task, 5).0, None);
    }
}
