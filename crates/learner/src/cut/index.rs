//! What a task says about its objects, by object.
//!
//! A cut has a few objects of a task that may have thousands. Everything over the kept objects is
//! found without a look at the rest: an atom is listed once, under the one of its objects that
//! occurs least often, so that an object which occurs everywhere costs nothing.

use std::collections::{BTreeMap, HashSet};

use homing_nlm::SplitMix64;
use homing_pddl::Problem;
use homing_pddl::model::{Atom, Literal, ObjectId, PredicateId, TypeId};
use homing_planner::{PropId, Task};

use super::kept::Kept;
use super::lists::Lists;

/// Tuples of objects, found by those kept.
#[derive(Debug)]
pub(super) struct ByObject {
    /// Under the object of a tuple that occurs in the fewest tuples; constants aside.
    under: Lists,
    /// Tuples of constants only, and the empty one.
    always: Vec<u32>,
}

impl ByObject {
    fn new<'a>(
        objects: usize,
        constants: usize,
        tuples: impl Iterator<Item = (u32, &'a [ObjectId])> + Clone,
    ) -> Self {
        let mut occurs = vec![0u32; objects];
        for (_, arguments) in tuples.clone() {
            for object in arguments {
                occurs[object.index()] += 1;
            }
        }
        let place = |arguments: &[ObjectId]| {
            let own = arguments
                .iter()
                .filter(|object| object.index() >= constants);
            own.min_by_key(|object| (occurs[object.index()], **object))
                .copied()
        };
        let under = Lists::new(objects, |pair| {
            for (tuple, arguments) in tuples.clone() {
                if let Some(object) = place(arguments) {
                    pair(object.index(), tuple);
                }
            }
        });
        let always = tuples
            .filter(|(_, arguments)| place(arguments).is_none())
            .map(|(tuple, _)| tuple)
            .collect();
        Self { under, always }
    }

    /// The tuples all of whose objects are kept, in ascending order.
    pub(super) fn over<'a>(
        &self,
        kept: &Kept,
        arguments: impl Fn(u32) -> &'a [ObjectId],
    ) -> Vec<u32> {
        let mut found = self.always.clone();
        for object in kept.list() {
            let here = self.under.of(object.index()).iter().copied();
            found.extend(here.filter(|&tuple| kept.contains_all(arguments(tuple))));
        }
        found.sort_unstable();
        found
    }
}

/// What a literal looks like: predicate, sign, and the kinds of its objects.
type Shape = (PredicateId, bool, Vec<u32>);

/// A task by its objects.
#[derive(Debug)]
pub(super) struct Index<'t> {
    pub(super) task: &'t Task,
    pub(super) constants: usize,
    /// Atoms of the initial state that no action changes as far as the task is concerned.
    pub(super) fixed: ByObject,
    /// Positive propositions, derived ones left out.
    pub(super) props: ByObject,
    pub(super) values: ByObject,
    pub(super) goals: ByObject,
    /// Goals by each object they name.
    pub(super) goals_with: Lists,
    /// Initial atoms with two objects or more, by each of them: those that change, and all.
    changing_with: Lists,
    initial_with: Lists,
    /// By proposition, its mutex groups.
    pub(super) groups_of: Lists,
    pub(super) groups: Vec<&'t [PropId]>,
    /// By object, the list of its like in `alike`; constants have none.
    class: Vec<u32>,
    /// Objects declared with the same types, or of the same kind where there are no types.
    pub(super) alike: Vec<Vec<ObjectId>>,
    /// By object: its types and static properties as one number.
    kind: Vec<u32>,
    /// What goals look like: predicate, sign, and kinds of objects.
    goal_shapes: HashSet<Shape>,
    /// The proposition of each goal, if it is one that changes.
    pub(super) goal_props: Vec<Option<PropId>>,
    /// Goals to choose from: those that do not hold at the start, or all where there are none.
    pub(super) open_goals: Vec<usize>,
    pub(super) in_init: Vec<bool>,
}

impl<'t> Index<'t> {
    pub(super) fn new(task: &'t Task) -> Self {
        let problem: &Problem = task.problem();
        let (objects, constants) = (problem.objects.len(), problem.domain.constants.len());
        let propositions = task.propositions();
        let mut in_init = vec![false; propositions.len()];
        for prop in task.init() {
            in_init[prop.index()] = true;
        }
        let changes: Vec<bool> = problem
            .init
            .iter()
            .map(|atom| find(task, atom, true).is_some())
            .collect();
        let init = problem.init.iter().enumerate();
        let fixed = init
            .clone()
            .filter(|(atom, _)| !changes[*atom])
            .map(|(index, atom)| (index as u32, atom.arguments.as_slice()));
        // What axioms derive is no part of an initial state.
        let given = |index: usize| !task.is_derived(PropId::from_index(index));
        let positive = propositions.iter().enumerate();
        let positive = positive.filter(|(index, p)| p.positive && given(*index));
        let positive = positive.map(|(index, p)| (index as u32, p.atom.arguments.as_slice()));
        let values = problem.values.iter().enumerate();
        let values = values.map(|(index, value)| (index as u32, value.arguments.as_slice()));
        let literals = &problem.goal.literals;
        let goals = literals.iter().enumerate();
        let goals = goals.map(|(index, goal)| (index as u32, goal.atom.arguments.as_slice()));
        let groups: Vec<&[PropId]> = task.mutex_groups().collect();
        let goal_props: Vec<Option<PropId>> = literals
            .iter()
            .map(|goal| find(task, &goal.atom, goal.positive))
            .collect();
        let kind = kinds(problem, &changes);
        let typed = problem.domain.types.len() > 1;
        let (class, alike) = classes(problem, |object: usize| match typed {
            true => problem.objects[object].types.iter().map(|t| t.0).collect(),
            false => vec![kind[object]],
        });
        let shapes = literals
            .iter()
            .map(|goal| shape(&kind, &goal.atom, goal.positive));
        Self {
            task,
            constants,
            fixed: ByObject::new(objects, constants, fixed),
            props: ByObject::new(objects, constants, positive),
            values: ByObject::new(objects, constants, values),
            goals_with: with_each(objects, 1, literals.iter().map(|goal| &goal.atom), |_| true),
            goals: ByObject::new(objects, constants, goals),
            changing_with: with_each(objects, 2, problem.init.iter(), |atom| changes[atom]),
            initial_with: with_each(objects, 2, problem.init.iter(), |_| true),
            groups_of: Lists::new(propositions.len(), |pair| {
                for (group, props) in groups.iter().enumerate() {
                    for prop in *props {
                        pair(prop.index(), group as u32);
                    }
                }
            }),
            groups,
            class,
            alike,
            goal_shapes: shapes.collect(),
            kind,
            open_goals: open_goals(&goal_props, &in_init),
            goal_props,
            in_init,
        }
    }

    pub(super) fn problem(&self) -> &'t Problem {
        self.task.problem()
    }

    pub(super) fn goal(&self, goal: usize) -> &'t Literal<ObjectId> {
        &self.problem().goal.literals[goal]
    }

    /// The objects a goal names.
    pub(super) fn goal_objects(&self, goal: usize) -> &'t [ObjectId] {
        &self.goal(goal).atom.arguments
    }

    /// How many objects of each class are kept.
    pub(super) fn counts(&self, kept: &Kept) -> Vec<u32> {
        let mut counts = vec![0; self.alike.len()];
        for object in kept.list() {
            counts[self.class[object.index()] as usize] += 1;
        }
        counts
    }

    /// Whether a proposition looks like a goal.
    pub(super) fn could_be_goal(&self, prop: PropId) -> bool {
        let prop = &self.task.propositions()[prop.index()];
        self.goal_shapes
            .contains(&shape(&self.kind, &prop.atom, prop.positive))
    }

    /// An object of the same types that is not kept, if there is one.
    pub(super) fn another_like(
        &self,
        object: ObjectId,
        kept: &Kept,
        random: &mut SplitMix64,
    ) -> Option<ObjectId> {
        let alike = self.alike.get(self.class[object.index()] as usize)?;
        let turn = random.below(alike.len());
        let (before, from) = alike.split_at(turn);
        let mut rest = from.iter().chain(before);
        rest.find(|&&object| !kept.contains(object)).copied()
    }

    /// The objects of an initial atom that has one kept object and others that are not, if a few
    /// looks find one.
    pub(super) fn neighbours(
        &self,
        changing: bool,
        kept: &Kept,
        random: &mut SplitMix64,
    ) -> Option<&'t [ObjectId]> {
        let lists = match changing {
            true => &self.changing_with,
            false => &self.initial_with,
        };
        let init = &self.problem().init;
        self.sharing(lists, kept, random, |atom| &init[atom].arguments)
    }

    /// The same with a goal.
    pub(super) fn goal_neighbours(
        &self,
        kept: &Kept,
        random: &mut SplitMix64,
    ) -> Option<&'t [ObjectId]> {
        self.sharing(&self.goals_with, kept, random, |goal| {
            self.goal_objects(goal)
        })
    }

    fn sharing(
        &self,
        lists: &Lists,
        kept: &Kept,
        random: &mut SplitMix64,
        arguments: impl Fn(usize) -> &'t [ObjectId],
    ) -> Option<&'t [ObjectId]> {
        for _ in 0..LOOKS {
            let list = lists.of(kept.any(random)?.index());
            if list.is_empty() {
                continue;
            }
            let objects = arguments(list[random.below(list.len())] as usize);
            if !kept.contains_all(objects) {
                return Some(objects);
            }
        }
        None
    }
}

/// Looks for something next to a kept object.
const LOOKS: usize = 12;

/// The proposition of a ground literal. They are sorted, complements after atoms, helpers last.
pub(super) fn find(task: &Task, atom: &Atom<ObjectId>, positive: bool) -> Option<PropId> {
    let found = task.propositions().binary_search_by(|prop| {
        let (atom_of, kind) = (&prop.atom, (prop.is_helper, !prop.positive));
        let known = (kind, atom_of.predicate, &atom_of.arguments);
        known.cmp(&((false, !positive), atom.predicate, &atom.arguments))
    });
    found.ok().map(PropId::from_index)
}

/// Atoms with `least` arguments or more, by each of them.
fn with_each<'a>(
    objects: usize,
    least: usize,
    atoms: impl Iterator<Item = &'a Atom<ObjectId>> + Clone,
    wanted: impl Fn(usize) -> bool,
) -> Lists {
    Lists::new(objects, |pair| {
        for (index, atom) in atoms.clone().enumerate() {
            if atom.arguments.len() >= least && wanted(index) {
                for object in &atom.arguments {
                    pair(object.index(), index as u32);
                }
            }
        }
    })
}

fn shape(kind: &[u32], atom: &Atom<ObjectId>, positive: bool) -> Shape {
    let kinds = atom.arguments.iter().map(|object| kind[object.index()]);
    (atom.predicate, positive, kinds.collect())
}

/// Numbers objects by their types and the properties that never change.
fn kinds(problem: &Problem, changes: &[bool]) -> Vec<u32> {
    let mut properties: Vec<Vec<PredicateId>> = vec![Vec::new(); problem.objects.len()];
    for (atom, &changes) in problem.init.iter().zip(changes) {
        if let ([object], false) = (atom.arguments.as_slice(), changes) {
            properties[object.index()].push(atom.predicate);
        }
    }
    let mut known: BTreeMap<(&[TypeId], Vec<PredicateId>), u32> = BTreeMap::new();
    let all = problem
        .objects
        .iter()
        .zip(properties)
        .map(|(object, mut own)| {
            own.sort_unstable();
            (object.types.as_slice(), own)
        });
    all.map(|key| {
        let next = known.len() as u32;
        *known.entry(key).or_insert(next)
    })
    .collect()
}

/// Objects with the same key: the number of each object's class, and the members of each.
fn classes(problem: &Problem, key: impl Fn(usize) -> Vec<u32>) -> (Vec<u32>, Vec<Vec<ObjectId>>) {
    let mut known: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    let mut alike: Vec<Vec<ObjectId>> = Vec::new();
    let mut class = vec![u32::MAX; problem.objects.len()];
    for object in problem.domain.constants.len()..problem.objects.len() {
        let number = *known.entry(key(object)).or_insert_with(|| {
            alike.push(Vec::new());
            alike.len() as u32 - 1
        });
        class[object] = number;
        alike[number as usize].push(ObjectId::from_index(object));
    }
    (class, alike)
}

fn open_goals(goal_props: &[Option<PropId>], in_init: &[bool]) -> Vec<usize> {
    let is_open = |&goal: &usize| goal_props[goal].is_some_and(|prop| !in_init[prop.index()]);
    let open: Vec<usize> = (0..goal_props.len()).filter(is_open).collect();
    if open.is_empty() {
        (0..goal_props.len()).collect()
    } else {
        open
    }
}
