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
//! There are two passes over the open goals. In the first, no variable of another goal may change. Most
//! goals that have no way then are told by a relaxed exploration of what is left
//! ([`Reach::alone`]), which also says how many steps of the goal's variable each of its values is away
//! past all that stands around. A way is looked for
//!
//! - by novelty ([`Ways`]), which goes straight on where the relaxed plan is right;
//! - in the first pass, if that takes long, *leg by leg* ([`Legs`]): everything that can be reached without
//!   a step of the goal's variable is explored at once, and so are all places of a box that a robot can
//!   push it to. If no way is found there is none, mostly;
//! - by novelty again, at greater length.
//!
//! A check goes by relaxed plans, so it may be wrong: a goal that could be reached at first cannot be any
//! more. Before an attempt is given up it goes back for such a goal, to the latest place from which it
//! can still be reached, and goes on from there.
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
use attempt::{Attempt, Mending};
use goals::{Goal, Goals};
use legs::{Found, Legs};
use reach::Reach;
use ways::{Request, Ways};

mod attempt;
mod goals;
mod legs;
mod reach;
mod ways;

/// Work that looking for one way may take in the first attempt, in rough nanoseconds; half as much
/// again in each further one, up to the most.
const FIRST_WORK: u64 = 20_000_000;
const MOST_WORK: u64 = 1_000_000_000;

/// Work of looking for a way by novelty before it is looked for leg by leg, likewise.
const HASTY_WORK: u64 = 2_000_000;

/// The worker gets on if more goals than ever were reached within so much work, or a quarter of all.
const PATIENCE: u64 = 100_000_000;

/// Passes over the open goals.
const PASSES: usize = 2;

/// How often an attempt goes back for the same goal.
const MENDINGS: u8 = 2;

/// Bytes of an action in the tables: goals it touches, and in which order; what it undoes; conditions;
/// what it makes true.
const BYTES_AN_ACTION: usize = 56;

/// Bytes of a proposition in the tables: when and by what it was reached, in explorations and in legs.
const BYTES_A_PROPOSITION: usize = 44;

/// What looking for a way takes.
struct Tools<'t, 'p> {
    task: &'t Task,
    generator: &'t SuccessorGenerator,
    enabled: &'t mut Enabled,
    most_states: usize,
    pace: &'t mut Pace<'p>,
}

/// What a turn came to.
pub(super) enum SerialTurn {
    Plan(Vec<ActionId>),
    GoOn,
}

/// The worker that reaches one goal after another.
pub(super) struct Serial {
    goals: Goals,
    reach: Reach,
    ways: Ways,
    legs: Legs,
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
            legs: Legs::new(task, &goals),
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
        task.action_count() * BYTES_AN_ACTION + task.propositions().len() * BYTES_A_PROPOSITION
    }

    /// Whether more goals than ever were reached, not long ago.
    pub(super) fn gets_on(&self) -> bool {
        let work = self.work();
        work - self.fewest_open_work < PATIENCE.max(work / 4)
    }

    /// Whether all goals but a tenth were reached once.
    pub(super) fn came_near(&self) -> bool {
        self.fewest_open * 10 <= self.goals.all.len()
    }

    /// All its work so far, in rough nanoseconds.
    pub(super) fn work(&self) -> u64 {
        self.work + self.reach.work + self.ways.work + self.legs.work
    }

    /// States expanded since the last call, and successors generated.
    pub(super) fn take_counts(&mut self) -> (u64, u64) {
        (
            std::mem::take(&mut self.ways.expanded) + std::mem::take(&mut self.legs.expanded),
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
        let mut tools = Tools {
            task,
            generator,
            enabled,
            most_states,
            pace,
        };
        let reached = match (attempt.mending.take(), attempt.order.get(attempt.at)) {
            (Some(mending), _) => self.mend(&mut tools, &mut attempt, mending)?,
            (None, Some(&goal)) => {
                attempt.at += 1;
                attempt.in_vain[goal] += 1;
                let moves_others = attempt.pass > 0;
                let before = attempt.checkpoint();
                match self.reach(&mut tools, &mut attempt, goal, moves_others)? {
                    Some(way) => {
                        attempt.commit(before, way);
                        true
                    }
                    None => false,
                }
            }
            (None, None) => {
                if self.next_pass(&mut attempt) {
                    self.attempt = Some(attempt);
                }
                return Ok(SerialTurn::GoOn);
            }
        };
        if reached {
            if task.is_goal(&attempt.state) {
                return Ok(SerialTurn::Plan(attempt.plan));
            }
            self.order(task, &mut attempt);
        }
        self.attempt = Some(attempt);
        Ok(SerialTurn::GoOn)
    }

    /// When no open goal has a way in this pass: the next one, going back for a goal, or looking at greater
    /// length; `false` if the attempt is over.
    fn next_pass(&mut self, attempt: &mut Attempt) -> bool {
        if attempt.order.is_empty() {
            self.give_up(attempt);
            return false;
        }
        if attempt.pass + 1 < PASSES {
            attempt.pass += 1;
            attempt.at = 0;
            return true;
        }
        if attempt.begin_mending(MENDINGS) {
            return true;
        }
        if self.goes_on(attempt) {
            attempt.look_longer(MOST_WORK);
            return true;
        }
        self.give_up(attempt);
        false
    }

    /// Goes to a goal from where the attempt stands, if there is a way that may be taken: this way.
    fn reach(
        &mut self,
        tools: &mut Tools<'_, '_>,
        attempt: &mut Attempt,
        goal: usize,
        moves_others: bool,
    ) -> Result<Option<Vec<ActionId>>, Stop> {
        let task = tools.task;
        let Some(way) = self.way(tools, attempt, goal, moves_others)? else {
            return Ok(None);
        };
        let before = attempt.state.clone();
        way.iter()
            .for_each(|&action| task.apply(action, &mut attempt.state));
        if self.keep_all(task, tools.enabled, attempt, goal) {
            return Ok(Some(way));
        }
        attempt.state = before;
        Ok(None)
    }

    /// A way to a goal from where the attempt stands.
    fn way(
        &mut self,
        tools: &mut Tools<'_, '_>,
        attempt: &mut Attempt,
        goal: usize,
        moves_others: bool,
    ) -> Result<Option<Vec<ActionId>>, Stop> {
        let task = tools.task;
        let distance = match moves_others {
            true => self.renew(task, tools.enabled, attempt, goal),
            false => self.reach.alone(task, &self.goals, attempt, goal),
        };
        let Some(distance) = distance else {
            return Ok(None);
        };
        let mut relaxed = attempt.relaxed[goal].facts.clone();
        relaxed.retain(|&fact| !task.encoding().holds(fact, &attempt.state));
        let mut request = Request {
            task,
            goals: &self.goals,
            attempt,
            generator: tools.generator,
            goal,
            distance: &distance,
            moves_others,
            relaxed: &relaxed,
            most_states: tools.most_states,
            most_work: attempt.most_work,
        };
        if !moves_others {
            // Where the relaxed plan is right, novelty goes straight on.
            request.most_work = HASTY_WORK.min(attempt.most_work);
            let way = self.ways.find(&request, tools.enabled, tools.pace)?;
            if way.is_some() || !self.ways.is_cut_short {
                return Ok(way);
            }
            request.most_work = attempt.most_work;
            match self.legs.find(&request, tools.pace)? {
                Found::Way(way) => return Ok(Some(way)),
                Found::NoWay => return Ok(None),
                Found::Unknown => {}
            }
        }
        let way = self.ways.find(&request, tools.enabled, tools.pace)?;
        attempt.is_cut_short |= self.ways.is_cut_short;
        Ok(way)
    }

    /// Goes on looking for the latest place from which a goal could still be reached, by halves; whether
    /// it was reached from there.
    fn mend(
        &mut self,
        tools: &mut Tools<'_, '_>,
        attempt: &mut Attempt,
        mending: Mending,
    ) -> Result<bool, Stop> {
        let place = mending.next_place();
        attempt.go_back(place, &self.goals);
        match self.reach(tools, attempt, mending.goal, false)? {
            Some(way) if mending.is_latest(place) => {
                attempt.commit_from(place, way);
                return Ok(true);
            }
            way => attempt.come_back(mending, (place, way.is_some()), &self.goals),
        }
        Ok(false)
    }

    /// Makes the relaxed plan for a goal anew; how many steps of its variable each value is away, none if
    /// it is out of reach.
    fn renew(
        &mut self,
        task: &Task,
        enabled: &Enabled,
        attempt: &mut Attempt,
        goal: usize,
    ) -> Option<Vec<u32>> {
        let Goal { prop, distance, .. } = &self.goals.all[goal];
        let is_reached = self.reach.renew(task, enabled, attempt, goal, *prop);
        is_reached.then(|| distance.clone())
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
        let noise = (0..count).map(|_| scale * self.random.unit()).collect();
        let mut attempt = Attempt::new(task, noise, self.most_work, self.work());
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

    /// The open goals: those first that were not tried in vain, and of these those that earlier attempts
    /// have not reached; then those that are near.
    fn order(&mut self, task: &Task, attempt: &mut Attempt) {
        let open =
            (0..self.goals.all.len()).filter(|&goal| !self.goals.holds(goal, task, &attempt.state));
        let mut keyed: Vec<((u32, Reverse<u32>), f64, usize)> = open
            .map(|goal| {
                let distance = self.goals.distance(goal, task, &attempt.state);
                let distance = f64::from(distance) * (1.0 + attempt.noise[goal]);
                let turns = (attempt.in_vain[goal], Reverse(self.failed[goal]));
                (turns, distance, goal)
            })
            .collect();
        keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        attempt.order.clear();
        attempt.order.extend(keyed.iter().map(|&(_, _, goal)| goal));
        attempt.at = 0;
        attempt.pass = 0;
        if keyed.len() < attempt.fewest_open {
            attempt.fewest_open = keyed.len();
            attempt.reached_work = self.work();
        }
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
    use crate::test_tasks::{prop_name, task};

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
    fn an_attempt_goes_back_for_a_goal_that_it_has_lost() {
        // `near` is soonest had for one of two coins, `far` takes both. A relaxed plan pays twice with one.
        let task = task(
            "(:predicates (coin ?c) (ready) (half) (near) (far))
             (:action buy :parameters (?c) :precondition (coin ?c)
              :effect (and (near) (not (coin ?c))))
             (:action prepare :parameters () :precondition (not (ready)) :effect (ready))
             (:action make :parameters () :precondition (ready) :effect (near))
             (:action pay :parameters (?c) :precondition (coin ?c)
              :effect (and (half) (not (coin ?c))))
             (:action pay-off :parameters (?c) :precondition (and (half) (coin ?c))
              :effect (and (far) (not (coin ?c))))",
            "(:objects a b) (:init (coin a) (coin b)) (:goal (and (near) (far)))",
        );
        let (plan, attempts) = solve(&task, 1);
        assert_eq!((plan.map(|plan| plan.len()), attempts), (Some(4), 0));
    }

    #[test]
    fn legs_are_found_and_that_none_is_left_is_certain() {
        // A robot pushes along a lane: it is on the wrong side of the box `x`, which the relaxed plan, in
        // which it is still where it began, does not see. To `y` it walks, and pushes.
        let task = task(
            "(:predicates (robot ?c) (box ?x ?c) (free ?c) (next ?c ?d) (line ?c ?d ?e))
             (:action walk :parameters (?c ?d)
              :precondition (and (robot ?c) (next ?c ?d) (free ?d))
              :effect (and (not (robot ?c)) (robot ?d) (free ?c) (not (free ?d))))
             (:action push :parameters (?x ?c ?d ?e)
              :precondition (and (robot ?c) (line ?c ?d ?e) (box ?x ?d) (free ?e))
              :effect (and (not (robot ?c)) (robot ?d) (not (box ?x ?d)) (box ?x ?e) (free ?c)
                           (not (free ?e))))",
            "(:objects x y c1 c2 c3 c4 c5 d1 d2 d3 d4)
             (:init (robot c1) (box x c2) (free c3) (free c4) (free c5)
                    (next c1 c2) (next c2 c3) (next c3 c4) (next c4 c5)
                    (next c5 c4) (next c4 c3) (next c3 c2) (next c2 c1)
                    (line c1 c2 c3) (line c2 c3 c4) (line c3 c4 c5)
                    (line c5 c4 c3) (line c4 c3 c2) (line c3 c2 c1)
                    (box y d2) (free d1) (free d3) (free d4) (next c1 d1)
                    (line d1 d2 d3) (line d2 d3 d4))
             (:goal (and (box x c1) (box y d4)))",
        );
        let generator = SuccessorGenerator::new(&task);
        let enabled = Enabled::of(&task, &mut ()).expect("nothing says stop");
        let mut enabled = enabled.expect("a task without conditional effects");
        let mut serial = Serial::of(&task, 1).expect("several goals");
        let mut watch = ();
        let mut pace = Pace::building(&mut watch, "ways").expect("nothing says stop");
        let mut attempt = serial.begin(&task, &enabled);
        for (name, steps) in [("box x c1", None), ("box y d4", Some(3))] {
            let prop = |goal: usize| serial.goals.all[goal].prop;
            let goal = (0..2).find(|&goal| prop_name(&task, prop(goal)) == name);
            let goal = goal.expect("it is a goal");
            let distance = serial.reach.alone(&task, &serial.goals, &mut attempt, goal);
            let request = Request {
                task: &task,
                goals: &serial.goals,
                attempt: &attempt,
                generator: &generator,
                goal,
                distance: &distance.expect("reached with nothing deleted"),
                moves_others: false,
                relaxed: &[],
                most_states: usize::MAX,
                most_work: u64::MAX / 2,
            };
            let found = serial.legs.find(&request, &mut pace);
            let length = match found.expect("nothing says stop") {
                Found::Way(way) => Some(way.len()),
                Found::NoWay => None,
                Found::Unknown => panic!("{name} is not unknown"),
            };
            assert_eq!(length, steps, "{name}");
            let way = serial.ways.find(&request, &mut enabled, &mut pace);
            let length = way.expect("nothing says stop").map(|way| way.len());
            assert_eq!(length, steps, "{name}");
        }
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
