//! Which goals and objects a cut has: first drawn, then changed where the space was too large or had
//! no plan.

use homing_nlm::SplitMix64;
use homing_pddl::model::ObjectId;
use homing_planner::{ActionId, PropId};

use super::build::Draft;
use super::config::CutConfig;
use super::index::Index;
use super::kept::Kept;
use super::relaxed::{Explorations, Explorer};
use super::trail::{Trail, Window, achieved, taking_place, walk};
use crate::exact::shuffle;

/// Where ways to goals come from.
pub(super) struct Ways<'t> {
    pub(super) explorer: Explorer<'t>,
    pub(super) explorations: Explorations,
    pub(super) trails: Vec<Trail>,
}

/// Draws drafts of cuts.
pub(super) struct Drawer<'a, 't> {
    pub(super) index: &'a Index<'t>,
    pub(super) ways: &'a mut Ways<'t>,
    pub(super) config: &'a CutConfig,
    pub(super) random: &'a mut SplitMix64,
}

impl Drawer<'_, '_> {
    pub(super) fn chance(&mut self, share: f64) -> bool {
        self.random.unit() < share
    }

    /// A number of states above which a space is too large: every doubling of the smallest one up
    /// to the largest is as likely as the next.
    pub(super) fn space(&mut self, largest: usize) -> usize {
        let smallest = self.config.space.0;
        let largest = largest.max(smallest).max(1);
        let smallest = smallest.clamp(1, largest);
        let doublings = (largest / smallest).ilog2() as usize + 1;
        let from = smallest << self.random.below(doublings);
        let to = (2 * from).min(largest + 1);
        from + self.random.below((to - from).max(1))
    }

    /// Goals and objects for a cut of a task that has goals; `None` where a trail leads nowhere.
    pub(super) fn draft(&mut self) -> Option<Draft> {
        let objects = self.index.problem().objects.len();
        let mut draft = Draft {
            goals: self.goals(),
            moved: Vec::new(),
            kept: Kept::new(objects, self.index.constants),
            all_goals: false,
            plans: Vec::new(),
            window: None,
            start: None,
            preferred: Vec::new(),
        };
        let kind = self.random.unit();
        if kind < self.config.from_trails {
            let window = self.window(&draft.goals)?;
            return self.take_window(&mut draft, window).then_some(draft);
        }
        if kind < self.config.from_trails + self.config.from_plans {
            self.take_plans(&mut draft);
        } else {
            self.keep(&mut draft);
            for _ in 0..self.random.below(self.config.neighbours + 1) {
                self.grow(&mut draft.kept);
            }
        }
        Some(draft)
    }

    /// What every draft gets once its size is settled: more objects, more goals.
    pub(super) fn round_off(&mut self, draft: &mut Draft) {
        if self.chance(self.config.whole_types) {
            self.whole_types(&mut draft.kept);
        }
        for _ in 0..self.random.below(self.config.extras + 1) {
            self.grow(&mut draft.kept);
        }
        draft.all_goals = draft.moved.is_empty() && self.chance(self.config.all_goals);
    }

    fn goals(&mut self) -> Vec<usize> {
        let index = self.index;
        let wanted = 1 + self.random.below(self.config.goals.max(1));
        let mut chosen = vec![index.open_goals[self.random.below(index.open_goals.len())]];
        for _ in 1..wanted {
            let mut next = self.random.below(index.goal_props.len());
            if self.chance(self.config.goals_nearby) {
                let from = chosen[self.random.below(chosen.len())];
                let objects = index.goal_objects(from);
                if !objects.is_empty() {
                    let object = objects[self.random.below(objects.len())];
                    let near = index.goals_with.of(object.index());
                    next = near[self.random.below(near.len())] as usize;
                }
            }
            if !chosen.contains(&next) {
                chosen.push(next);
            }
        }
        chosen
    }

    /// A trail for the goals, or a known one once enough work was spent on them; the whole of it or
    /// a part.
    fn window(&mut self, goals: &[usize]) -> Option<Window> {
        let ways = &mut *self.ways;
        let spent = ways.explorer.work >= self.config.exploration_work + self.config.trail_work;
        if !spent {
            let (index, config) = (self.index, self.config);
            let trail = walk(&mut ways.explorer, index, config, goals, self.random)?;
            ways.trails.push(trail);
        }
        let last = ways.trails.len().checked_sub(1)?;
        let trail = match spent {
            true => self.random.below(last + 1),
            false => last,
        };
        let mut window = Window {
            trail,
            from: 0,
            to: self.ways.trails[trail].actions.len(),
        };
        if self.chance(self.config.trail_parts) {
            self.narrow(&mut window);
        }
        Some(window)
    }

    /// Leaves out a random part at one end of a window; `false` if there is nothing to leave out.
    fn narrow(&mut self, window: &mut Window) -> bool {
        let length = window.to - window.from;
        if length < 2 {
            return false;
        }
        let less = 1 + self.random.below(length / 2 + 1).min(length - 2);
        if self.chance(0.5) {
            window.from += less;
        } else {
            window.to -= less;
        }
        true
    }

    /// Makes a draft of a part of a trail: its goals, or what looks like goals and comes true there.
    /// `false` if there is neither.
    fn take_window(&mut self, draft: &mut Draft, window: Window) -> bool {
        let index = self.index;
        let trail = &self.ways.trails[window.trail];
        let (before, after) = (&trail.states[window.from], &trail.states[window.to]);
        draft.goals = achieved(index, &trail.goals, before, after);
        draft.moved.clear();
        if draft.goals.is_empty() {
            draft.moved = moved(index, &trail.actions[window.from..window.to], before, after);
            shuffle(&mut draft.moved, self.random);
            draft.moved.truncate(self.config.goals);
        }
        draft.start = (window.from > 0).then(|| before.clone());
        draft.kept.clear();
        for at in window.from..window.to {
            let action = trail.actions[at];
            draft.kept.insert_all(index.task.arguments(action));
            for effect in taking_place(index.task, action, &trail.states[at]) {
                for prop in effect.condition.iter().chain(effect.add) {
                    let atom = &index.task.propositions()[prop.index()].atom;
                    draft.kept.insert_all(&atom.arguments);
                }
            }
        }
        for &goal in &draft.goals {
            draft.kept.insert_all(index.goal_objects(goal));
        }
        draft.window = Some(window);
        !(draft.goals.is_empty() && draft.moved.is_empty())
    }

    /// Takes a relaxed plan for each goal, each from an exploration of its own, and keeps their
    /// objects.
    pub(super) fn take_plans(&mut self, draft: &mut Draft) {
        draft.plans = draft.goals.iter().map(|&goal| self.plan(goal)).collect();
        self.keep(draft);
    }

    fn plan(&mut self, goal: usize) -> Vec<u32> {
        let Some(prop) = self.index.goal_props[goal] else {
            return Vec::new();
        };
        let ways = &*self.ways;
        ways.explorations
            .plan(&ways.explorer.rules, prop, self.random)
    }

    /// Keeps the objects of goals and plans and nothing else, and prefers what the plans begin with.
    fn keep(&mut self, draft: &mut Draft) {
        let rules = &self.ways.explorer.rules;
        draft.kept.clear();
        for &goal in &draft.goals {
            draft.kept.insert_all(self.index.goal_objects(goal));
        }
        draft.preferred.clear();
        for plan in &draft.plans {
            let mut added: Vec<PropId> = Vec::new();
            for &rule in plan {
                rules.objects(rule, &mut |objects| draft.kept.insert_all(objects));
                let pre = rules.pre(rule).iter();
                draft
                    .preferred
                    .extend(pre.filter(|prop| !added.contains(prop)));
                added.extend(rules.add(rule));
            }
        }
        draft.preferred.sort_unstable();
        draft.preferred.dedup();
    }

    /// Keeps every object of a small type of which one is kept.
    fn whole_types(&mut self, kept: &mut Kept) {
        for alike in &self.index.alike {
            if alike.len() <= self.config.small_type && alike.iter().any(|&o| kept.contains(o)) {
                kept.insert_all(alike);
            }
        }
    }

    /// Keeps one more object, or the few of one more atom: next to a kept one, or like one.
    pub(super) fn grow(&mut self, kept: &mut Kept) {
        let index = self.index;
        let kind = self.random.below(20);
        let near = match kind {
            0..6 => index.neighbours(true, kept, self.random),
            6..9 => index.neighbours(false, kept, self.random),
            9..14 => index.goal_neighbours(kept, self.random),
            _ => None,
        };
        if let Some(objects) = near {
            kept.insert_all(objects);
        } else if let Some(object) = kept.any(self.random)
            && let Some(other) = index.another_like(object, kept, self.random)
        {
            kept.insert(other);
        }
    }

    /// The kept objects that no chosen goal names.
    pub(super) fn free(&self, draft: &Draft) -> Vec<ObjectId> {
        let needed = |object: &&ObjectId| {
            let mut goals = draft.goals.iter();
            goals.any(|&goal| self.index.goal_objects(goal).contains(object))
        };
        let kept = draft.kept.list().iter();
        kept.filter(|object| !needed(object)).copied().collect()
    }

    /// Makes a draft smaller; `false` if it cannot be.
    pub(super) fn shrink(&mut self, draft: &mut Draft, attempt: usize) -> bool {
        if let Some(mut window) = draft.window.clone() {
            return self.narrow(&mut window) && self.take_window(draft, window);
        }
        if attempt >= 2 && draft.goals.len() > 1 {
            self.drop_goal(draft);
            return true;
        }
        let longest = draft.plans.iter().map(Vec::len).max().unwrap_or(0);
        if longest > 1 && self.chance(self.config.shrink_plans) {
            self.shorten(draft);
            return true;
        }
        let mut free = self.free(draft);
        if free.is_empty() {
            if draft.goals.len() > 1 {
                self.drop_goal(draft);
                return true;
            }
            return false;
        }
        shuffle(&mut free, self.random);
        free.truncate(1 + (free.len() as f64 * self.config.shrink) as usize);
        for object in free {
            draft.kept.remove(object);
        }
        true
    }

    fn drop_goal(&mut self, draft: &mut Draft) {
        let at = self.random.below(draft.goals.len());
        draft.goals.swap_remove(at);
        if draft.plans.is_empty() {
            self.take_plans(draft);
        } else {
            draft.plans.swap_remove(at);
            self.keep(draft);
        }
    }

    /// Keeps the last part of each plan: what is left of a way still leads to the goal, and begins
    /// where repair puts what moves along it.
    fn shorten(&mut self, draft: &mut Draft) {
        for plan in &mut draft.plans {
            let left = (plan.len() as f64 * self.config.shorten).ceil() as usize;
            plan.drain(..plan.len() - left.min(plan.len()));
        }
        self.keep(draft);
    }

    /// What to change in a draft that has no plan; `false` if nothing would help.
    pub(super) fn mend(&mut self, draft: &mut Draft, attempt: usize) -> bool {
        if draft.window.is_some() {
            // The goals of the trail have a plan: the others are to blame.
            return std::mem::take(&mut draft.all_goals);
        }
        if attempt == 0 && draft.plans.is_empty() {
            self.take_plans(draft);
            return true;
        }
        if self.config.grow {
            self.grow(&mut draft.kept);
        }
        self.config.grow
    }

    /// Brings a draft down to about so many objects before anything is built; `false` if it cannot be.
    pub(super) fn fit(&mut self, draft: &mut Draft, objects: usize) -> bool {
        while draft.kept.list().len() > objects {
            if draft.window.is_some() {
                if !self.shrink(draft, 0) {
                    return false;
                }
            } else if draft.plans.iter().any(|plan| plan.len() > 2) {
                self.shorten(draft);
            } else {
                break;
            }
        }
        let mut free = self.free(draft);
        shuffle(&mut free, self.random);
        free.truncate(draft.kept.list().len().saturating_sub(objects));
        for object in free {
            draft.kept.remove(object);
        }
        true
    }
}

/// What looks like goals and comes true in a part of a trail, for good.
fn moved(index: &Index<'_>, actions: &[ActionId], before: &[u32], after: &[u32]) -> Vec<PropId> {
    let encoding = index.task.encoding();
    let task = index.task;
    let mut won: Vec<PropId> = actions
        .iter()
        .flat_map(|&action| {
            let under = task.conditional_effects(action);
            let under = under.flat_map(|effect| effect.add);
            task.add(action).iter().chain(under)
        })
        .copied()
        .filter(|&prop| encoding.holds(prop, after) && !encoding.holds(prop, before))
        .filter(|&prop| index.could_be_goal(prop))
        .collect();
    won.sort_unstable();
    won.dedup();
    won
}
