//! From numbered facts to a [`Task`]: what never changes leaves, what repeats is merged.

use std::sync::Arc;

use hashbrown::HashTable;
use homing_pddl::Problem;

use super::GroundError;
use super::instantiate::{Fact, Raw, show};
use crate::csr::Csr;
use crate::encoding::Encoding;
use crate::hash::hash_words;
use crate::task::{Actions, PropId, Proposition, Task};

/// Drops actions that negative conditions make unreachable. Without complements the joins have
/// found exactly the reachable ones.
pub(super) fn prune_unreachable(raw: &mut Raw) {
    if !raw.has_complements {
        return;
    }
    let needed_by = Csr::from_pairs(raw.atoms.len(), 0u32, || {
        raw.pre
            .rows()
            .enumerate()
            .flat_map(|(action, pre)| pre.iter().map(move |&fact| (fact as usize, action as u32)))
    });
    let mut missing: Vec<usize> = raw.pre.rows().map(<[Fact]>::len).collect();
    let mut reached = raw.in_init.clone();
    let mut queue: Vec<Fact> = (0..raw.atoms.len())
        .filter(|&fact| reached[fact])
        .map(|fact| fact as Fact)
        .collect();
    let mut keep = vec![false; raw.pre.len()];
    let mut fire = |action: usize, queue: &mut Vec<Fact>, reached: &mut Vec<bool>| {
        keep[action] = true;
        for &fact in raw.add.row(action) {
            if !std::mem::replace(&mut reached[fact as usize], true) {
                queue.push(fact);
            }
        }
    };
    for (action, _) in missing
        .iter()
        .enumerate()
        .filter(|(_, missing)| **missing == 0)
    {
        fire(action, &mut queue, &mut reached);
    }
    while let Some(fact) = queue.pop() {
        for &action in needed_by.row(fact as usize) {
            let action = action as usize;
            missing[action] -= 1;
            if missing[action] == 0 {
                fire(action, &mut queue, &mut reached);
            }
        }
    }
    retain(raw, |action| keep[action]);
}

fn retain(raw: &mut Raw, keep: impl Fn(usize) -> bool) {
    raw.schema = kept_items(&raw.schema, &keep);
    raw.cost = kept_items(&raw.cost, &keep);
    raw.arguments = kept_rows(&raw.arguments, &keep);
    raw.pre = kept_rows(&raw.pre, &keep);
    raw.add = kept_rows(&raw.add, &keep);
    raw.del = kept_rows(&raw.del, &keep);
}

fn kept_rows<T: Copy>(rows: &Csr<T>, keep: &impl Fn(usize) -> bool) -> Csr<T> {
    let mut kept = Csr::default();
    for index in (0..rows.len()).filter(|&index| keep(index)) {
        kept.push_row(rows.row(index).iter().copied());
    }
    kept
}

fn kept_items<T: Copy>(items: &[T], keep: &impl Fn(usize) -> bool) -> Vec<T> {
    let kept = items.iter().enumerate().filter(|(index, _)| keep(*index));
    kept.map(|(_, &item)| item).collect()
}

/// What becomes of a fact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// True in every reachable state.
    Static,
    /// False in every reachable state.
    Never,
    /// No way to the goal depends on it.
    Irrelevant,
    Dynamic(PropId),
}

pub(super) fn simplify(problem: &Arc<Problem>, raw: &Raw) -> Result<Task, GroundError> {
    let (fate, order) = decide(raw);
    let mut goal = Vec::new();
    for &fact in &raw.goal {
        match fate[fact as usize] {
            Fate::Static | Fate::Irrelevant => {}
            Fate::Dynamic(prop) => goal.push(prop),
            Fate::Never => {
                let (atom, positive) = &raw.atoms[fact as usize];
                return Err(GroundError::Unsolvable {
                    goal: show(problem, atom, *positive),
                });
            }
        }
    }
    goal.sort_unstable();
    goal.dedup();
    let statics = (0..raw.atoms.len())
        .filter(|&fact| raw.atoms[fact].1 && fate[fact] == Fate::Static)
        .map(|fact| raw.atoms[fact].0.clone())
        .collect();
    let propositions = order
        .iter()
        .map(|&fact| {
            let (atom, positive) = &raw.atoms[fact as usize];
            Proposition {
                atom: atom.clone(),
                positive: *positive,
            }
        })
        .collect();
    let init = order
        .iter()
        .enumerate()
        .filter(|&(_, &fact)| raw.in_init[fact as usize])
        .map(|(prop, _)| PropId::from_index(prop))
        .collect();
    Ok(Task {
        problem: Arc::clone(problem),
        propositions,
        statics,
        actions: merged_actions(raw, &fate),
        init,
        goal,
        groups: Csr::default(),
        encoding: Encoding::default(),
    })
}

/// The facts that a way to the goal may depend on: the goals, and the preconditions of every
/// action that changes such a fact. An action that adds its own precondition changes nothing by
/// that: where it keeps a resource which it only claims for a moment, it would otherwise make all
/// that it needs look relevant.
fn relevant_facts(raw: &Raw) -> Vec<bool> {
    let changed_by = Csr::from_pairs(raw.atoms.len(), 0u32, || {
        (0..raw.pre.len()).flat_map(|action| {
            let pre = raw.pre.row(action);
            let added = raw.add.row(action).iter();
            let changed = added
                .filter(move |&fact| !pre.contains(fact))
                .chain(raw.del.row(action));
            changed.map(move |&fact| (fact as usize, action as u32))
        })
    });
    let mut relevant = vec![false; raw.atoms.len()];
    let mut action_seen = vec![false; raw.pre.len()];
    let mut queue: Vec<Fact> = raw.goal.clone();
    raw.goal
        .iter()
        .for_each(|&fact| relevant[fact as usize] = true);
    while let Some(fact) = queue.pop() {
        for &action in changed_by.row(fact as usize) {
            if std::mem::replace(&mut action_seen[action as usize], true) {
                continue;
            }
            for &needed in raw.pre.row(action as usize) {
                if !std::mem::replace(&mut relevant[needed as usize], true) {
                    queue.push(needed);
                }
            }
        }
    }
    relevant
}

/// Decides what becomes of each fact, and lists the dynamic ones in the order of propositions.
fn decide(raw: &Raw) -> (Vec<Fate>, Vec<Fact>) {
    let mut added = vec![false; raw.atoms.len()];
    let mut deleted = vec![false; raw.atoms.len()];
    raw.add
        .items()
        .iter()
        .for_each(|&fact| added[fact as usize] = true);
    raw.del
        .items()
        .iter()
        .for_each(|&fact| deleted[fact as usize] = true);
    let mut fate = Vec::with_capacity(raw.atoms.len());
    let mut order: Vec<Fact> = Vec::new();
    let relevant = relevant_facts(raw);
    for fact in 0..raw.atoms.len() {
        fate.push(match (raw.in_init[fact], added[fact], deleted[fact]) {
            (true, _, false) => Fate::Static,
            (false, false, _) => Fate::Never,
            _ if !relevant[fact] => Fate::Irrelevant,
            _ => {
                order.push(fact as Fact);
                // Numbered below, once the order is known.
                Fate::Dynamic(PropId(0))
            }
        });
    }
    order.sort_unstable_by_key(|&fact| {
        let (atom, positive) = &raw.atoms[fact as usize];
        (!positive, atom.predicate, &atom.arguments)
    });
    for (prop, &fact) in order.iter().enumerate() {
        fate[fact as usize] = Fate::Dynamic(PropId::from_index(prop));
    }
    (fate, order)
}

/// The actions over propositions: those without effect dropped, and of several that differ in
/// nothing but name and cost the cheapest kept, the first among equals.
fn merged_actions(raw: &Raw, fate: &[Fate]) -> Actions {
    let dynamic = |facts: &[Fact], into: &mut Vec<PropId>| {
        into.clear();
        into.extend(facts.iter().filter_map(|&fact| match fate[fact as usize] {
            Fate::Dynamic(prop) => Some(prop),
            Fate::Static | Fate::Never | Fate::Irrelevant => None,
        }));
        into.sort_unstable();
        into.dedup();
    };
    let mut all = Actions::default();
    let (mut pre, mut add, mut del) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..raw.pre.len() {
        if raw
            .pre
            .row(index)
            .iter()
            .any(|&fact| fate[fact as usize] == Fate::Never)
        {
            continue;
        }
        dynamic(raw.pre.row(index), &mut pre);
        dynamic(raw.add.row(index), &mut add);
        dynamic(raw.del.row(index), &mut del);
        del.retain(|prop| add.binary_search(prop).is_err());
        add.retain(|prop| pre.binary_search(prop).is_err());
        if add.is_empty() && del.is_empty() {
            continue;
        }
        all.pre.push_row(pre.iter().copied());
        all.add.push_row(add.iter().copied());
        all.del.push_row(del.iter().copied());
        all.schema.push(raw.schema[index]);
        all.arguments
            .push_row(raw.arguments.row(index).iter().copied());
        all.cost.push(raw.cost[index]);
    }
    let keep = cheapest_of_twins(&all);
    if keep.iter().all(|&keep| keep) {
        return all;
    }
    let keep = |index: usize| keep[index];
    Actions {
        schema: kept_items(&all.schema, &keep),
        arguments: kept_rows(&all.arguments, &keep),
        pre: kept_rows(&all.pre, &keep),
        add: kept_rows(&all.add, &keep),
        del: kept_rows(&all.del, &keep),
        cost: kept_items(&all.cost, &keep),
    }
}

fn cheapest_of_twins(actions: &Actions) -> Vec<bool> {
    let rows = |index: usize| {
        [
            actions.pre.row(index),
            actions.add.row(index),
            actions.del.row(index),
        ]
    };
    let hash = |index: usize| {
        let lengths = rows(index).map(|row| row.len() as u32);
        let items = rows(index).into_iter().flatten().map(|prop| prop.0);
        hash_words(lengths.into_iter().chain(items))
    };
    let mut keep = vec![true; actions.pre.len()];
    let mut best: HashTable<u32> = HashTable::new();
    for index in 0..keep.len() {
        let twin = best.find_mut(hash(index), |&other| rows(other as usize) == rows(index));
        match twin {
            Some(other) if actions.cost[index] < actions.cost[*other as usize] => {
                keep[*other as usize] = false;
                *other = index as u32;
            }
            Some(_) => keep[index] = false,
            None => {
                best.insert_unique(hash(index), index as u32, |&other| hash(other as usize));
            }
        }
    }
    keep
}
