//! Groups of propositions of which at most one is true at a time.
//!
//! A template names predicates and says of each argument whether it is a key or counted: with the
//! key x, {on(x, *), on-table(x), holding(x)} says that a block is in one place. A template is
//! guessed from one predicate and checked against the actions: each may add to a group no more
//! than it takes from it for certain, that is, has as a precondition and deletes. A conditional
//! effect counts for itself, with its condition among what it needs; two parts of one action may not
//! live on the same proposition taken, since both may take place. An action that adds too much suggests which predicate is missing: one that it takes away. Groups with at most
//! one member in the initial state then keep at most one for ever.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::csr::Csr;
use crate::task::{PropId, Task};
use crate::watch::{Pace, Stop, Watch};

/// One predicate of a template, with the argument positions of the keys, in the order of the keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Part {
    predicate: u32,
    key_positions: Vec<u8>,
}

/// Actions looked at between two counts of work.
const ACTIONS_BETWEEN_POLLS: usize = 64;

/// Templates tried at the most: real domains need a few dozen.
const MAX_TEMPLATES: usize = 300;

/// Finds groups of propositions that exclude one another. A proposition may be in several.
pub(crate) fn mutex_groups(task: &Task, watch: &mut dyn Watch) -> Result<Vec<Vec<PropId>>, Stop> {
    let mut pace = Pace::building(watch, "mutex groups")?;
    let finder = Finder::new(task);
    let mut queue: VecDeque<Vec<Part>> = VecDeque::new();
    let mut seen: HashSet<Vec<Part>> = HashSet::new();
    for (predicate, props) in finder.by_predicate.rows().enumerate() {
        let Some(prop) = props.first() else { continue };
        let arity = task.propositions[prop.index()].atom.arguments.len();
        for counted in 0..=arity {
            let key_positions = (0..arity)
                .filter(|&position| position != counted)
                .map(|position| position as u8)
                .collect();
            queue.push_back(vec![Part {
                predicate: predicate as u32,
                key_positions,
            }]);
        }
    }
    let mut groups = Vec::new();
    let mut tried = 0;
    while let Some(template) = queue.pop_front() {
        if tried == MAX_TEMPLATES || !seen.insert(template.clone()) {
            continue;
        }
        tried += 1;
        match finder.check(&template, &mut pace)? {
            Ok(found) => groups.extend(found),
            Err(refined) => queue.extend(refined),
        }
    }
    groups.sort_unstable();
    groups.dedup();
    Ok(groups)
}

/// The groups that propositions belong to.
fn groups_of<'p>(group_of: &'p [u32], props: &'p [PropId]) -> impl Iterator<Item = u32> + 'p {
    props
        .iter()
        .map(|prop| group_of[prop.index()])
        .filter(|&group| group != NO_GROUP)
}

/// The groups of a template, or the templates to try instead.
type Checked = Result<Vec<Vec<PropId>>, Vec<Vec<Part>>>;

struct Finder<'a> {
    task: &'a Task,
    by_predicate: Csr<PropId>,
    /// pre(a) ∩ del(a): what an action takes away for certain; then the same of its effects.
    taken: Csr<PropId>,
    in_init: Vec<bool>,
    /// Actions in an order that meets every schema early.
    order: Vec<usize>,
}

const NO_GROUP: u32 = u32::MAX;

impl<'a> Finder<'a> {
    fn new(task: &'a Task) -> Self {
        let by_predicate = Csr::from_pairs(task.problem.domain.predicates.len(), PropId(0), || {
            task.propositions
                .iter()
                .enumerate()
                // What axioms derive changes without an action that says so.
                .filter(|(index, prop)| {
                    prop.positive && !task.is_derived(PropId::from_index(*index))
                })
                .map(|(index, prop)| (prop.atom.predicate.index(), PropId::from_index(index)))
        });
        let mut taken = Csr::default();
        for (rule, pre) in task.rule_pre().rows().enumerate() {
            let is_pre = |prop: &&PropId| pre.binary_search(prop).is_ok();
            taken.push_row(task.rule_del(rule).iter().filter(is_pre).copied());
        }
        let mut in_init = vec![false; task.propositions.len()];
        task.init
            .iter()
            .for_each(|prop| in_init[prop.index()] = true);
        // Most templates fail on some schema as a whole: a few of its actions show it.
        let samples = 4;
        let mut met = vec![0; task.problem.domain.actions.len()];
        let (early, late): (Vec<usize>, Vec<usize>) =
            (0..task.action_count()).partition(|&action| {
                let count = &mut met[task.actions.schema[action].index()];
                *count += 1;
                *count <= samples
            });
        let order = early.into_iter().chain(late).collect();
        Self {
            task,
            by_predicate,
            taken,
            in_init,
            order,
        }
    }

    /// The group of each proposition, and the keys of each group.
    fn group_of(
        &self,
        template: &[Part],
        pace: &mut Pace<'_>,
    ) -> Result<(Vec<u32>, Vec<Vec<u32>>), Stop> {
        let mut group_of = vec![NO_GROUP; self.task.propositions.len()];
        let mut keys: Vec<Vec<u32>> = Vec::new();
        let mut index: HashMap<Vec<u32>, u32> = HashMap::new();
        for part in template {
            for &prop in self.by_predicate.row(part.predicate as usize) {
                pace.work(8)?;
                let arguments = &self.task.propositions[prop.index()].atom.arguments;
                let key: Vec<u32> = part
                    .key_positions
                    .iter()
                    .map(|&at| arguments[at as usize].0)
                    .collect();
                let group = *index.entry(key).or_insert_with_key(|key| {
                    keys.push(key.clone());
                    keys.len() as u32 - 1
                });
                group_of[prop.index()] = group;
            }
        }
        Ok((group_of, keys))
    }

    /// The template's groups, or the templates to try instead.
    fn check(&self, template: &[Part], pace: &mut Pace<'_>) -> Result<Checked, Stop> {
        let (group_of, keys) = self.group_of(template, pace)?;
        // What an action adds to a group, less what it takes from it.
        let mut balance = vec![0i32; keys.len()];
        let rule_add = self.task.rule_add();
        let groups = |props| groups_of(&group_of, props);
        // The group of which a rule adds too much.
        let mut broken_by = |rule: usize| {
            let (added, taken) = (rule_add.row(rule), self.taken.row(rule));
            groups(added).for_each(|group| balance[group as usize] += 1);
            groups(taken).for_each(|group| balance[group as usize] -= 1);
            let broken = groups(added).find(|&group| balance[group as usize] > 0);
            groups(added).for_each(|group| balance[group as usize] = 0);
            groups(taken).for_each(|group| balance[group as usize] = 0);
            broken
        };
        let is_strips = self.task.is_strips();
        for actions in self.order.chunks(ACTIONS_BETWEEN_POLLS) {
            pace.work(2 * actions.len())?;
            for &action in actions {
                let broken = match is_strips {
                    true => broken_by(action).map(|group| (action, group)),
                    false => self
                        .task
                        .rules_of(action)
                        .find_map(|rule| broken_by(rule).map(|group| (rule, group))),
                };
                if let Some((rule, group)) = broken {
                    let taken = self.taken.row(rule);
                    let refined = self.refine(template, taken, &keys[group as usize]);
                    return Ok(Err(refined));
                }
                if !is_strips && !self.parts_live_apart(action, &group_of) {
                    return Ok(Err(Vec::new()));
                }
            }
        }
        let mut members: Vec<Vec<PropId>> = vec![Vec::new(); keys.len()];
        for (prop, &group) in group_of.iter().enumerate() {
            if group != NO_GROUP {
                members[group as usize].push(PropId::from_index(prop));
            }
        }
        members.retain(|group| {
            group.len() > 1
                && group
                    .iter()
                    .filter(|prop| self.in_init[prop.index()])
                    .count()
                    <= 1
        });
        Ok(Ok(members))
    }

    /// Whether no two parts of an action that add to a group take the same proposition from it: of
    /// those that take different ones, one at the most takes place.
    fn parts_live_apart(&self, action: usize, group_of: &[u32]) -> bool {
        if self.task.effects.of(action).is_empty() {
            return true;
        }
        let mut used: HashSet<PropId> = HashSet::new();
        self.task.rules_of(action).all(|rule| {
            let added: HashSet<u32> = groups_of(group_of, self.task.rule_add().row(rule)).collect();
            let mut taken = self.taken.row(rule).iter();
            taken.all(|prop| !added.contains(&group_of[prop.index()]) || used.insert(*prop))
        })
    }

    /// Templates with one more part, which covers something the action takes away.
    fn refine(&self, template: &[Part], taken: &[PropId], key: &[u32]) -> Vec<Vec<Part>> {
        let mut refined = Vec::new();
        for prop in taken {
            let proposition = &self.task.propositions[prop.index()];
            let predicate = proposition.atom.predicate.0;
            let arguments = &proposition.atom.arguments;
            let known = template.iter().any(|part| part.predicate == predicate);
            if !proposition.positive
                || known
                || arguments.len() > key.len() + 1
                || arguments.len() < key.len()
            {
                continue;
            }
            let mut assignments: Vec<Vec<u8>> = vec![Vec::new()];
            for &object in key {
                assignments = assignments
                    .iter()
                    .flat_map(|chosen| {
                        (0..arguments.len() as u8)
                            .filter(|at| {
                                !chosen.contains(at) && arguments[*at as usize].0 == object
                            })
                            .map(|at| {
                                let mut longer = chosen.clone();
                                longer.push(at);
                                longer
                            })
                    })
                    .collect();
            }
            for key_positions in assignments {
                let mut parts = template.to_vec();
                parts.push(Part {
                    predicate,
                    key_positions,
                });
                parts.sort_unstable();
                refined.push(parts);
            }
        }
        refined
    }
}
