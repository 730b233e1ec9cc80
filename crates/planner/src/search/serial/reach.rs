//! Which goals can still be reached, with nothing deleted and no goal undone that is kept.

use super::Attempt;
use super::goals::{Goals, Step};
use crate::search::enabled::Enabled;
use crate::task::{ActionId, PropId, Task};

/// Rough nanoseconds of one condition in a relaxed exploration.
const CONDITION_WORK: u64 = 2;

/// What holds to begin with is reached by no action.
pub(super) const NO_ACTION: ActionId = ActionId(u32::MAX);

/// Of so many goals without a relaxed plan each is looked at alone.
const FEW: usize = 16;

/// The first of a list leads nowhere.
const NO_LINK: u32 = u32::MAX;

/// A relaxed plan: what it does, and what it needs to begin with.
#[derive(Clone, Debug, Default)]
pub(super) struct Relaxed {
    actions: Vec<ActionId>,
    needs: Vec<PropId>,
    /// What it makes true, the goal aside.
    pub(super) facts: Vec<PropId>,
}

/// What can be reached if nothing is deleted and no goal that is kept is undone.
pub(super) struct Reach {
    /// By action: how many preconditions it has.
    conditions: Vec<u8>,
    /// Actions without any.
    free: Vec<ActionId>,
    /// By action: how many of them are not reached yet.
    missing: Vec<u8>,
    /// By proposition: the exploration that reached it last, and the action by which.
    seen: Vec<u32>,
    by: Vec<ActionId>,
    /// By proposition: the last exploration that looked for it.
    wanted: Vec<u32>,
    exploration: u32,
    /// By proposition: the last relaxed plan that has it.
    listed: Vec<u32>,
    plan: u32,
    queue: Vec<PropId>,
    /// By proposition: the last exploration of a goal alone in which one of its own actions needs it,
    /// and the last of these; each leads to the one before.
    needing: Vec<(u32, u32)>,
    links: Vec<(ActionId, u32)>,
    pub(super) work: u64,
}

impl Reach {
    pub(super) fn new(task: &Task) -> Self {
        let propositions = task.propositions().len();
        let conditions = task.actions().map(|action| task.pre(action).len());
        let conditions = conditions.map(|count| u8::try_from(count).expect("not too many"));
        let free = task.actions().filter(|&action| task.pre(action).is_empty());
        Self {
            conditions: conditions.collect(),
            free: free.collect(),
            missing: Vec::new(),
            seen: vec![0; propositions],
            by: vec![NO_ACTION; propositions],
            wanted: vec![0; propositions],
            exploration: 0,
            listed: vec![0; propositions],
            plan: 0,
            queue: Vec::new(),
            needing: vec![(0, NO_LINK); propositions],
            links: Vec::new(),
            work: 0,
        }
    }

    /// Whether every open goal can be reached. A relaxed plan of before still shows it if all its
    /// actions are allowed and what it needs to begin with can be reached.
    pub(super) fn open(
        &mut self,
        task: &Task,
        enabled: &Enabled,
        goals: &Goals,
        attempt: &mut Attempt,
    ) -> bool {
        let open = (0..goals.all.len()).filter(|&goal| !goals.holds(goal, task, &attempt.state));
        let open: Vec<usize> = open.collect();
        let mut without: Vec<usize> = Vec::new();
        let mut lost: Vec<PropId> = Vec::new();
        for &goal in &open {
            let Relaxed { actions, needs, .. } = &attempt.relaxed[goal];
            self.work += (actions.len() + needs.len()) as u64 * CONDITION_WORK;
            if actions.is_empty() || !actions.iter().all(|&action| attempt.allows(action)) {
                without.push(goal);
            } else {
                let needs = needs.iter().copied();
                lost.extend(needs.filter(|&prop| !task.encoding().holds(prop, &attempt.state)));
            }
        }
        if without.len() <= FEW {
            // A relaxed plan that moves nothing else holds longer.
            without.retain(|&goal| !self.explore_alone(task, goals, attempt, goal));
        }
        // What was lost is mostly near: the truck is elsewhere, the robot on another side of the box.
        let free = |prop: PropId| goals.free.row(prop.index());
        if without.is_empty() && self.explore(task, free, attempt, &lost) {
            return true;
        }
        let mut wanted = lost;
        wanted.extend(without.iter().map(|&goal| goals.all[goal].prop));
        let all = |prop| enabled.needing(prop);
        if !self.explore(task, all, attempt, &wanted) {
            // Some may be reached in another way.
            without = open;
            wanted.clear();
            wanted.extend(without.iter().map(|&goal| goals.all[goal].prop));
            if !self.explore(task, all, attempt, &wanted) {
                return false;
            }
        }
        for goal in without {
            self.note(task, attempt, goal, goals.all[goal].prop);
        }
        true
    }

    /// Makes the relaxed plan for a goal anew, from where the attempt stands; `false` if the goal is out
    /// of reach.
    pub(super) fn renew(
        &mut self,
        task: &Task,
        enabled: &Enabled,
        attempt: &mut Attempt,
        goal: usize,
        prop: PropId,
    ) -> bool {
        let all = |prop| enabled.needing(prop);
        let is_reached = self.explore(task, all, attempt, &[prop]);
        if is_reached {
            self.note(task, attempt, goal, prop);
        }
        is_reached
    }

    /// Makes the relaxed plan for a goal anew, from where the attempt stands and without a change of any
    /// other goal's variable. How many steps of the goal's own variable each of its values is away then,
    /// none if the goal is out of reach.
    pub(super) fn alone(
        &mut self,
        task: &Task,
        goals: &Goals,
        attempt: &mut Attempt,
        goal: usize,
    ) -> Option<Vec<u32>> {
        if !self.explore_alone(task, goals, attempt, goal) {
            return None;
        }
        let is_met = |step: &&Step| {
            let action = step.action;
            self.missing[action.index()] == 0 && attempt.allows(action)
        };
        let steps = goals.own.row(goal).iter().filter(is_met);
        Some(goals.distances_by(goal, task, steps))
    }

    /// Makes the relaxed plan for a goal anew without a change of any other goal's variable; `false` if the
    /// goal is out of reach. All that can be reached so is explored.
    fn explore_alone(
        &mut self,
        task: &Task,
        goals: &Goals,
        attempt: &mut Attempt,
        goal: usize,
    ) -> bool {
        self.begin(task, attempt);
        let own = goals.own.row(goal);
        self.links.clear();
        for step in own {
            for prop in task.pre(step.action) {
                let (last, first) = &mut self.needing[prop.index()];
                if std::mem::replace(last, self.exploration) != self.exploration {
                    *first = NO_LINK;
                }
                self.links.push((step.action, *first));
                *first = self.links.len() as u32 - 1;
            }
        }
        let mut looked_at = self.queue.len() + self.links.len() + self.missing.len() / 16;
        for index in 0..self.free.len() {
            let action = self.free[index];
            let touched = goals.touched.row(action.index());
            if touched.iter().all(|touch| touch.goal as usize == goal) {
                self.apply(task, attempt, action);
            }
        }
        let mut next = 0;
        while let Some(&prop) = self.queue.get(next) {
            next += 1;
            let (last, mut link) = self.needing[prop.index()];
            while last == self.exploration && link != NO_LINK {
                let (action, before) = self.links[link as usize];
                link = before;
                self.meet(task, attempt, action);
            }
            let free = goals.free.row(prop.index());
            looked_at += free.len();
            for &action in free {
                self.meet(task, attempt, action);
            }
        }
        self.work += looked_at as u64 * CONDITION_WORK;
        let prop = goals.all[goal].prop;
        let is_reached = self.seen[prop.index()] == self.exploration;
        if is_reached {
            self.note(task, attempt, goal, prop);
        }
        is_reached
    }

    /// Notes how a goal was reached last.
    fn note(&mut self, task: &Task, attempt: &mut Attempt, goal: usize, prop: PropId) {
        let mut relaxed = std::mem::take(&mut attempt.relaxed[goal]);
        relaxed.actions.clear();
        relaxed.needs.clear();
        relaxed.facts.clear();
        self.list(task, prop, |reached, by| match by {
            Some(action) => {
                relaxed.actions.push(action);
                if reached != prop {
                    relaxed.facts.push(reached);
                }
            }
            None => relaxed.needs.push(reached),
        });
        attempt.relaxed[goal] = relaxed;
    }

    /// Lists what a proposition that was reached last is made of: propositions with the actions that
    /// reached them, each once; without an action what held to begin with.
    fn list(&mut self, task: &Task, prop: PropId, mut note: impl FnMut(PropId, Option<ActionId>)) {
        self.plan += 1;
        self.listed[prop.index()] = self.plan;
        let mut open = vec![prop];
        while let Some(prop) = open.pop() {
            let by = self.by[prop.index()];
            if by == NO_ACTION {
                note(prop, None);
                continue;
            }
            note(prop, Some(by));
            for &needed in task.pre(by) {
                self.work += CONDITION_WORK;
                if std::mem::replace(&mut self.listed[needed.index()], self.plan) != self.plan {
                    open.push(needed);
                }
            }
        }
    }

    /// Goes on until all of these are reached, by actions that are listed under what they need.
    fn explore<'a>(
        &mut self,
        task: &Task,
        needing: impl Fn(PropId) -> &'a [ActionId],
        attempt: &Attempt,
        wanted: &[PropId],
    ) -> bool {
        let mut left = 0;
        for prop in wanted {
            let now = std::mem::replace(&mut self.wanted[prop.index()], self.exploration + 1);
            left += usize::from(now != self.exploration + 1);
        }
        self.begin(task, attempt);
        let held =
            { self.queue.iter() }.filter(|prop| self.wanted[prop.index()] == self.exploration);
        left -= held.count();
        if left == 0 {
            return true;
        }
        let mut looked_at = self.free.len() + self.queue.len() + self.missing.len() / 16;
        for index in 0..self.free.len() {
            left -= self.apply(task, attempt, self.free[index]);
        }
        let mut next = 0;
        while left > 0 && next < self.queue.len() {
            let needing = needing(self.queue[next]);
            next += 1;
            looked_at += needing.len();
            for &action in needing {
                left -= self.meet(task, attempt, action);
            }
        }
        self.work += looked_at as u64 * CONDITION_WORK;
        left == 0
    }

    /// Begins an exploration with what holds where the attempt stands.
    fn begin(&mut self, task: &Task, attempt: &Attempt) {
        self.exploration += 1;
        self.queue.clear();
        task.encoding().unpack(&attempt.state, &mut self.queue);
        for prop in &self.queue {
            self.seen[prop.index()] = self.exploration;
            self.by[prop.index()] = NO_ACTION;
        }
        self.missing.clear();
        self.missing.extend_from_slice(&self.conditions);
    }

    /// Meets one more condition of an action; how much it then reaches of what was looked for.
    fn meet(&mut self, task: &Task, attempt: &Attempt, action: ActionId) -> usize {
        let missing = &mut self.missing[action.index()];
        *missing -= 1;
        match *missing {
            0 => self.apply(task, attempt, action),
            _ => 0,
        }
    }

    /// Reaches what an action adds, unless it would undo a goal; how much of it was looked for.
    fn apply(&mut self, task: &Task, attempt: &Attempt, action: ActionId) -> usize {
        if !attempt.allows(action) {
            return 0;
        }
        let mut reached = 0;
        for &prop in task.add(action) {
            if self.seen[prop.index()] != self.exploration {
                self.seen[prop.index()] = self.exploration;
                self.by[prop.index()] = action;
                self.queue.push(prop);
                reached += usize::from(self.wanted[prop.index()] == self.exploration);
            }
        }
        reached
    }
}
