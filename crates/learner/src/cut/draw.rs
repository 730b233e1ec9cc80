//! Which goals and objects a cut has: first drawn, then changed where the space was too large or had
//! no plan.

use homing_nlm::SplitMix64;
use homing_pddl::model::ObjectId;
use homing_planner::{ActionId, PropId};

use super::build::Draft;
use super::config::CutConfig;
use super::index::Index;
use super::kept::Kept;
use super::relaxed::Explorations;
use crate::exact::shuffle;

/// Draws drafts of cuts.
pub(super) struct Drawer<'a, 't> {
    pub(super) index: &'a Index<'t>,
    pub(super) explorations: &'a Explorations,
    pub(super) config: &'a CutConfig,
    pub(super) random: &'a mut SplitMix64,
}

impl Drawer<'_, '_> {
    fn chance(&mut self, share: f64) -> bool {
        self.random.unit() < share
    }

    /// A number of states above which a space is too large: every doubling of the smallest one up
    /// to the largest is as likely as the next.
    pub(super) fn space(&mut self) -> usize {
        let (smallest, largest) = self.config.space;
        let largest = largest.max(smallest).max(1);
        let smallest = smallest.clamp(1, largest);
        let doublings = (largest / smallest).ilog2() as usize + 1;
        let from = smallest << self.random.below(doublings);
        let to = (2 * from).min(largest + 1);
        from + self.random.below((to - from).max(1))
    }

    /// Goals and objects for a cut of a task that has goals.
    pub(super) fn draft(&mut self) -> Draft {
        let objects = self.index.problem().objects.len();
        let mut draft = Draft {
            goals: self.goals(),
            kept: Kept::new(objects, self.index.constants),
            all_goals: false,
            plans: Vec::new(),
            preferred: Vec::new(),
        };
        if self.chance(self.config.from_plans) {
            self.take_plans(&mut draft);
        } else {
            self.keep(&mut draft);
            for _ in 0..self.random.below(self.config.neighbours + 1) {
                self.grow(&mut draft.kept);
            }
        }
        draft
    }

    /// What every draft gets once its size is settled: more objects, more goals.
    pub(super) fn round_off(&mut self, draft: &mut Draft) {
        if self.chance(self.config.whole_types) {
            self.whole_types(&mut draft.kept);
        }
        for _ in 0..self.random.below(self.config.extras + 1) {
            self.grow(&mut draft.kept);
        }
        draft.all_goals = self.chance(self.config.all_goals);
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

    /// Takes a relaxed plan for each goal, each from an exploration of its own, and keeps their
    /// objects.
    pub(super) fn take_plans(&mut self, draft: &mut Draft) {
        draft.plans = draft.goals.iter().map(|&goal| self.plan(goal)).collect();
        self.keep(draft);
    }

    fn plan(&mut self, goal: usize) -> Vec<ActionId> {
        let Some(prop) = self.index.goal_props[goal] else {
            return Vec::new();
        };
        let exploration = self.random.below(self.explorations.len());
        self.explorations
            .plan(self.index.task, exploration, prop, self.random)
    }

    /// Keeps the objects of goals and plans and nothing else, and prefers what the plans begin with.
    fn keep(&mut self, draft: &mut Draft) {
        let task = self.index.task;
        draft.kept.clear();
        for &goal in &draft.goals {
            draft.kept.insert_all(self.index.goal_objects(goal));
        }
        draft.preferred.clear();
        for plan in &draft.plans {
            let mut added: Vec<PropId> = Vec::new();
            for &action in plan {
                draft.kept.insert_all(task.arguments(action));
                let pre = task.pre(action).iter();
                draft
                    .preferred
                    .extend(pre.filter(|prop| !added.contains(prop)));
                added.extend(task.add(action));
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

    /// Brings a draft down to about so many objects before anything is built.
    pub(super) fn fit(&mut self, draft: &mut Draft, objects: usize) {
        for _ in 0..4 {
            if draft.kept.list().len() <= objects {
                return;
            }
            if draft.plans.iter().any(|plan| plan.len() > 1) {
                self.shorten(draft);
            }
        }
        let mut free = self.free(draft);
        shuffle(&mut free, self.random);
        free.truncate(draft.kept.list().len().saturating_sub(objects));
        for object in free {
            draft.kept.remove(object);
        }
    }
}
