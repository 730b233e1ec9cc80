//! From goals and objects to a problem.
//!
//! The initial atoms over kept objects stay. That alone would leave a block whose support is gone
//! in no place at all, so groups are repaired: where at most one atom of a group can be true and the
//! true one was dropped, another one takes its place. The one with the fewest arguments is the
//! likeliest to make sense: it says where something is without naming anything else.

use homing_nlm::SplitMix64;
use homing_pddl::Problem;
use homing_pddl::model::{Atom, Condition, FunctionValue, Literal, ObjectId};
use homing_planner::PropId;

use super::index::Index;
use super::kept::Kept;
use super::trail::Window;
use crate::exact::shuffle;

/// What a cut is to contain.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// Goals chosen, by their place in the task's goal.
    pub(super) goals: Vec<usize>,
    pub(super) kept: Kept,
    /// Whether all goals over kept objects are goals of the cut.
    pub(super) all_goals: bool,
    /// Further goals of the cut that are none of the task, but of the same kind.
    pub(super) moved: Vec<PropId>,
    /// What is left of the relaxed plan of each chosen goal, by rules, where objects come from these.
    pub(super) plans: Vec<Vec<u32>>,
    /// The part of a trail that objects come from, if they do.
    pub(super) window: Option<Window>,
    /// The state it begins in, if that is not the initial state.
    pub(super) start: Option<Vec<u32>>,
    /// Atoms to repair with before others, sorted: those that what is kept of a plan begins with.
    pub(super) preferred: Vec<PropId>,
}

impl Draft {
    fn holds(&self, index: &Index<'_>, prop: PropId) -> bool {
        match &self.start {
            Some(state) => index.task.encoding().holds(prop, state),
            None => index.in_init[prop.index()],
        }
    }
}

/// Makes problems of drafts.
#[derive(Debug)]
pub(super) struct Builder {
    /// By group: its atoms true in the problem being built. All 0 in between.
    true_atoms: Vec<u32>,
    repair: bool,
}

impl Builder {
    pub(super) fn new(index: &Index<'_>, repair: bool) -> Self {
        Self {
            true_atoms: vec![0; index.groups.len()],
            repair,
        }
    }

    /// The problem of a draft.
    pub(super) fn build(
        &mut self,
        index: &Index<'_>,
        draft: &Draft,
        name: String,
        random: &mut SplitMix64,
    ) -> Problem {
        let problem = index.problem();
        let renaming = Renaming::new(problem.objects.len(), index.constants, &draft.kept);
        let fixed = index
            .fixed
            .over(&draft.kept, |atom| &problem.init[atom as usize].arguments);
        let mut init: Vec<Atom<ObjectId>> = fixed
            .into_iter()
            .map(|atom| renaming.atom(&problem.init[atom as usize]))
            .collect();
        let propositions = index.task.propositions();
        for prop in self.true_props(index, draft, random) {
            init.push(renaming.atom(&propositions[prop as usize].atom));
        }
        let values = index
            .values
            .over(&draft.kept, |value| {
                &problem.values[value as usize].arguments
            })
            .into_iter()
            .map(|value| renaming.value(&problem.values[value as usize]))
            .collect();
        let chosen = goals(index, draft).into_iter().map(|goal| {
            let goal = index.goal(goal);
            (&goal.atom, goal.positive)
        });
        let moved = draft.moved.iter().map(|prop| {
            let prop = &propositions[prop.index()];
            (&prop.atom, prop.positive)
        });
        let literals = chosen
            .chain(moved)
            .map(|(atom, positive)| Literal {
                atom: renaming.atom(atom),
                positive,
            })
            .collect();
        Problem {
            name,
            domain: problem.domain.clone(),
            objects: renaming
                .objects
                .iter()
                .map(|o| problem.objects[o.index()].clone())
                .collect(),
            init,
            values,
            goal: Condition {
                literals,
                equalities: Vec::new(),
                formulas: Vec::new(),
            },
            minimize_cost: problem.minimize_cost,
        }
    }

    /// The positive propositions true at the start of a cut.
    fn true_props(
        &mut self,
        index: &Index<'_>,
        draft: &Draft,
        random: &mut SplitMix64,
    ) -> Vec<u32> {
        let propositions = index.task.propositions();
        let inside = index.props.over(&draft.kept, |prop| {
            &propositions[prop as usize].atom.arguments
        });
        let holds = |prop: &u32| draft.holds(index, PropId(*prop));
        let mut now: Vec<u32> = inside.iter().copied().filter(holds).collect();
        if self.repair {
            for &prop in &now {
                self.count(index, prop);
            }
            self.mend(index, draft, &inside, &mut now, random);
            for &prop in &inside {
                for &group in index.groups_of.of(prop as usize) {
                    self.true_atoms[group as usize] = 0;
                }
            }
            now.sort_unstable();
        }
        now
    }

    fn count(&mut self, index: &Index<'_>, prop: u32) {
        for &group in index.groups_of.of(prop as usize) {
            self.true_atoms[group as usize] += 1;
        }
    }

    /// Gives a true atom to each group that has lost its own, in random order.
    fn mend(
        &mut self,
        index: &Index<'_>,
        draft: &Draft,
        inside: &[u32],
        now: &mut Vec<u32>,
        random: &mut SplitMix64,
    ) {
        // Atoms over kept objects, by group.
        let mut members: Vec<(u32, u32)> = Vec::new();
        for &prop in inside {
            let groups = index.groups_of.of(prop as usize).iter();
            let empty = groups.filter(|&&group| self.true_atoms[group as usize] == 0);
            members.extend(empty.map(|&group| (group, prop)));
        }
        members.sort_unstable();
        // A group without a true atom in the whole state stays without.
        let had_one = |members: &&[(u32, u32)]| {
            let mut group = index.groups[members[0].0 as usize].iter();
            group.any(|&prop| draft.holds(index, prop))
        };
        let groups = members.chunk_by(|a, b| a.0 == b.0);
        let mut lost: Vec<&[(u32, u32)]> = groups.filter(had_one).collect();
        shuffle(&mut lost, random);
        for members in lost {
            if self.true_atoms[members[0].0 as usize] == 0
                && let Some(prop) = self.substitute(index, draft, members, random)
            {
                self.count(index, prop);
                now.push(prop);
            }
        }
    }

    /// The atom of a group over kept objects that is to be true: one that excludes nothing true, a
    /// preferred one if there is one, else one with the fewest arguments.
    fn substitute(
        &self,
        index: &Index<'_>,
        draft: &Draft,
        members: &[(u32, u32)],
        random: &mut SplitMix64,
    ) -> Option<u32> {
        let free = |&group: &u32| self.true_atoms[group as usize] == 0;
        let possible = members.iter().map(|&(_, prop)| prop).filter(|&prop| {
            let mut groups = index.groups_of.of(prop as usize).iter();
            groups.all(free)
        });
        let rank = |prop: u32| {
            let atom = &index.task.propositions()[prop as usize].atom;
            let preferred = draft.preferred.binary_search(&PropId(prop)).is_ok();
            (!preferred, atom.arguments.len())
        };
        let best = possible.clone().map(rank).min()?;
        let equal: Vec<u32> = possible.filter(|&prop| rank(prop) == best).collect();
        Some(equal[random.below(equal.len())])
    }
}

/// The goals of a draft, by their place in the task's goal.
fn goals(index: &Index<'_>, draft: &Draft) -> Vec<usize> {
    let mut goals = draft.goals.clone();
    if draft.all_goals {
        let over = index
            .goals
            .over(&draft.kept, |goal| index.goal_objects(goal as usize));
        goals.extend(over.into_iter().map(|goal| goal as usize));
    }
    goals.sort_unstable();
    goals.dedup();
    goals
}

/// Objects of the task and their places in the cut.
struct Renaming {
    /// Constants first, then kept objects as the task has them.
    objects: Vec<ObjectId>,
    place: Vec<u32>,
}

impl Renaming {
    fn new(objects: usize, constants: usize, kept: &Kept) -> Self {
        let mut own = kept.list().to_vec();
        own.sort_unstable();
        let all: Vec<ObjectId> = (0..constants)
            .map(ObjectId::from_index)
            .chain(own)
            .collect();
        let mut place = vec![u32::MAX; objects];
        for (at, object) in all.iter().enumerate() {
            place[object.index()] = at as u32;
        }
        Self {
            objects: all,
            place,
        }
    }

    fn arguments(&self, arguments: &[ObjectId]) -> Vec<ObjectId> {
        let place = |object: &ObjectId| ObjectId(self.place[object.index()]);
        arguments.iter().map(place).collect()
    }

    fn atom(&self, atom: &Atom<ObjectId>) -> Atom<ObjectId> {
        Atom {
            predicate: atom.predicate,
            arguments: self.arguments(&atom.arguments),
        }
    }

    fn value(&self, value: &FunctionValue) -> FunctionValue {
        FunctionValue {
            arguments: self.arguments(&value.arguments),
            ..value.clone()
        }
    }
}
