//! Which static relations the graph shows, by a rule computed from the training problems.
//!
//! Predicates of one argument that no action changes are properties of objects: they are part of
//! the first colours. Relations of two and more arguments can help or drown everything else:
//!
//! - Those that relate nearly everything to everything (`not-eq`, `above`) say nothing locally and
//!   cost the most: they are not shown.
//! - Those with a few atoms an object (a road map) may have features of their own past the first
//!   round: a second model with these stands beside the first.
//! - In a third way of drawing, relations are quiet, and what hubs change is not counted.

use std::collections::{BTreeMap, BTreeSet};

use homing_pddl::Domain;
use homing_pddl::model::{Atom, ObjectId};
use homing_planner::{PropId, Task};
use serde::{Deserialize, Serialize};

/// Relations with at least this share of all possible pairs are not shown.
const DENSE: f64 = 0.4;

/// Relations with at most so many atoms an object may have features past the first round.
const FEW: f64 = 6.0;

/// How the graphs of a domain are drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSpec {
    /// How often colours take in those next to them.
    pub rounds: usize,
    /// Static relations of two and more arguments that the graph shows, by name, sorted.
    pub shown: Vec<String>,
    /// Those of them with features past the first round, by name, sorted.
    pub deep: Vec<String>,
    /// Whether the relations of `deep` are quiet: they look at their objects and tell them nothing.
    /// An object then has the same colour wherever it stands, and a relation shows what is true of
    /// the objects that it joins: few colours, all of which small problems have.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quiet: bool,
    /// Predicates of which no atom is a feature past the first round, by name, sorted. An object
    /// that many of their atoms share, a hub, would change all of these features in one step, the
    /// more the larger the problem, and one such step would outweigh all else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hubs: Vec<String>,
}

impl GraphSpec {
    /// The specification that fits some training problems, all of one domain. `deep` says whether
    /// static relations with few atoms an object get features past the first round.
    ///
    /// # Panics
    ///
    /// If there is no task.
    pub fn of_tasks(tasks: &[&Task], rounds: usize, deep: bool) -> Self {
        let domain = &tasks[0].problem().domain;
        let is_static = static_predicates(domain);
        let mut spec = Self {
            rounds,
            shown: Vec::new(),
            deep: Vec::new(),
            quiet: false,
            hubs: Vec::new(),
        };
        for (index, predicate) in domain.predicates.iter().enumerate() {
            if !is_static[index] || predicate.parameters.len() < 2 {
                continue;
            }
            let shapes: Vec<Shape> = tasks.iter().map(|task| Shape::of(task, index)).collect();
            if mean(shapes.iter().filter_map(Shape::density)).is_some_and(|d| d >= DENSE) {
                continue;
            }
            spec.shown.push(predicate.name.clone());
            let degree = mean(shapes.iter().filter_map(|shape| shape.degree));
            if deep && degree.is_none_or(|degree| degree <= FEW) {
                spec.deep.push(predicate.name.clone());
            }
        }
        spec.shown.sort_unstable();
        spec.deep.sort_unstable();
        spec
    }
}

impl GraphSpec {
    /// The same with quiet relations and without the features of hubs, as far as it has any
    /// relations with features past the first round. `tasks` are those of
    /// [`of_tasks`](Self::of_tasks).
    #[must_use]
    pub fn quiet(mut self, tasks: &[&Task]) -> Self {
        self.quiet = !self.deep.is_empty();
        if self.quiet {
            let names = tasks[0].problem().domain.predicates.iter();
            let most = most_atoms_of_one(tasks);
            let shared = names.zip(most).filter(|&(_, most)| most as f64 > FEW);
            self.hubs = shared
                .map(|(predicate, _)| predicate.name.clone())
                .collect();
            self.hubs.sort_unstable();
        }
        self
    }
}

/// By predicate: the most of its atoms that have one object at one place, at the beginning or in the
/// goal of some problem.
fn most_atoms_of_one(tasks: &[&Task]) -> Vec<usize> {
    let mut most = vec![0; tasks[0].problem().domain.predicates.len()];
    for task in tasks {
        let atoms_of = |props: &[PropId]| -> Vec<&Atom<ObjectId>> {
            let props = props.iter().map(|prop| &task.propositions()[prop.index()]);
            let atoms = props.filter(|prop| prop.positive && !prop.is_helper);
            atoms.map(|prop| &prop.atom).collect()
        };
        let statics = task.statics().iter().collect();
        for atoms in [atoms_of(task.init()), atoms_of(task.goal()), statics] {
            let mut counts = BTreeMap::new();
            for atom in atoms {
                let predicate = atom.predicate.index();
                for (position, object) in atom.arguments.iter().enumerate() {
                    let count = counts.entry((predicate, position, object)).or_insert(0);
                    *count += 1;
                    most[predicate] = most[predicate].max(*count);
                }
            }
        }
    }
    most
}

/// By predicate of a domain: whether no action ever changes it.
pub(crate) fn static_predicates(domain: &Domain) -> Vec<bool> {
    let mut is_static = vec![true; domain.predicates.len()];
    for action in &domain.actions {
        let conditional = action.conditional.iter();
        let changed = conditional.flat_map(|effect| effect.add.iter().chain(&effect.del));
        for atom in action.add.iter().chain(&action.del).chain(changed) {
            is_static[atom.predicate.index()] = false;
        }
    }
    for axiom in &domain.axioms {
        is_static[axiom.predicate.index()] = false;
    }
    is_static
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// What a static relation looks like in one task.
struct Shape {
    atoms: usize,
    /// The objects at each position.
    objects: Vec<BTreeSet<usize>>,
    /// Atoms an object, at the position with most of them among those where objects stand of which
    /// something changes. `None` where the relation has no atoms.
    degree: Option<f64>,
}

impl Shape {
    fn of(task: &Task, predicate: usize) -> Self {
        let arity = task.problem().domain.predicates[predicate].parameters.len();
        let mut objects = vec![BTreeSet::new(); arity];
        let mut atoms = 0;
        let of_predicate = |atom: &&homing_pddl::model::Atom<_>| {
            let found: homing_pddl::model::PredicateId = atom.predicate;
            found.index() == predicate
        };
        for atom in task.statics().iter().filter(of_predicate) {
            atoms += 1;
            for (position, object) in atom.arguments.iter().enumerate() {
                objects[position].insert(object.index());
            }
        }
        let moving: BTreeSet<usize> = task
            .propositions()
            .iter()
            .flat_map(|p| p.atom.arguments.iter().map(|object| object.index()))
            .collect();
        let degree = (atoms > 0).then(|| {
            objects
                .iter()
                .filter(|at| !at.is_disjoint(&moving))
                .map(|at| atoms as f64 / at.len() as f64)
                .fold(0.0, f64::max)
        });
        Self {
            atoms,
            objects,
            degree,
        }
    }

    /// The share of all pairs that are related; `None` where that says nothing: few objects, more
    /// than two positions, or positions of different things (a table of data is no order).
    fn density(&self) -> Option<f64> {
        let [left, right] = &self.objects[..] else {
            return None;
        };
        let both = left.intersection(right).count();
        let telling =
            left.len() >= 3 && right.len() >= 3 && 2 * both >= left.len().max(right.len());
        telling.then(|| self.atoms as f64 / (left.len() * right.len()) as f64)
    }
}
