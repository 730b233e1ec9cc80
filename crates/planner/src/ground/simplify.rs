//! From numbered facts to a [`Task`]: what never changes leaves, what repeats is merged.

use std::sync::Arc;

use hashbrown::HashTable;
use homing_pddl::Problem;

use super::GroundError;
use super::instantiate::{Fact, Raw, show};
use super::strata::{by_level, close, derived_complements};
use crate::csr::Csr;
use crate::encoding::Encoding;
use crate::hash::hash_words;
use crate::task::{Actions, Axioms, Effects, PropId, Proposition, Rules, Task};
use crate::watch::{Pace, Stop, Watch, table_growth};

pub(super) fn kept_rows<T: Copy>(rows: &Csr<T>, keep: &impl Fn(usize) -> bool) -> Csr<T> {
    let mut kept = Csr::default();
    for index in (0..rows.len()).filter(|&index| keep(index)) {
        kept.push_row(rows.row(index).iter().copied());
    }
    kept
}

pub(super) fn kept_items<T: Copy>(items: &[T], keep: &impl Fn(usize) -> bool) -> Vec<T> {
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

pub(super) fn simplify(
    problem: &Arc<Problem>,
    raw: &mut Raw,
    watch: &mut dyn Watch,
) -> Result<Task, GroundError> {
    let (fate, order) = decide(raw);
    let mut goal = Vec::new();
    for &fact in &raw.goal {
        match fate[fact as usize] {
            Fate::Static | Fate::Irrelevant => {}
            Fate::Dynamic(prop) => goal.push(prop),
            Fate::Never => {
                let text = raw.goal_texts.iter().find(|(known, _)| *known == fact);
                let known = &raw.facts[fact as usize];
                return Err(GroundError::Unsolvable {
                    goal: match text {
                        Some((_, text)) => text.clone(),
                        None => show(problem, &known.atom, known.positive),
                    },
                });
            }
        }
    }
    goal.sort_unstable();
    goal.dedup();
    let statics = (0..raw.facts.len())
        .filter(|&fact| {
            let known = &raw.facts[fact];
            known.positive && !known.is_helper && fate[fact] == Fate::Static
        })
        .map(|fact| raw.facts[fact].atom.clone())
        .collect();
    let propositions = order
        .iter()
        .map(|&fact| {
            let known = &raw.facts[fact as usize];
            Proposition {
                atom: known.atom.clone(),
                positive: known.positive,
                is_helper: known.is_helper,
            }
        })
        .collect();
    let init = order
        .iter()
        .enumerate()
        .filter(|&(_, &fact)| raw.in_init[fact as usize])
        .map(|(prop, _)| PropId::from_index(prop))
        .collect();
    let (actions, effects) = merged_actions(raw, &fate, &order, watch)?;
    let axioms = Axioms::new(raw, &fate);
    let rules = Rules::new(&actions, &effects, &axioms);
    Ok(Task {
        problem: Arc::clone(problem),
        propositions,
        statics,
        actions,
        effects,
        axioms,
        rules,
        init,
        goal,
        groups: Csr::default(),
        encoding: Encoding::default(),
    })
}

/// The facts that a way to the goal may depend on: the goals, the conditions of everything that
/// changes such a fact, and the bodies of the axioms that derive one. An action that adds its own
/// precondition changes nothing by that: where it keeps a resource which it only claims for a
/// moment, it would otherwise make all that it needs look relevant.
fn relevant_facts(raw: &Raw) -> Vec<bool> {
    let changed_by = Csr::from_pairs(raw.facts.len(), 0u32, || {
        (0..raw.pre.len()).flat_map(|action| {
            let pre = raw.pre.row(action);
            let added = raw.add.row(action).iter();
            let changed = added
                .filter(move |&fact| !pre.contains(fact))
                .chain(raw.del.row(action));
            changed.map(move |&fact| (fact as usize, action as u32))
        })
    });
    let changed_under = Csr::from_pairs(raw.facts.len(), 0u32, || {
        (0..raw.effects.action.len()).flat_map(|effect| {
            let added = raw.effects.add.row(effect).iter();
            let changed = added.chain(raw.effects.del.row(effect));
            changed.map(move |&fact| (fact as usize, effect as u32))
        })
    });
    let derived_by = Csr::from_pairs(raw.facts.len(), 0u32, || {
        let heads = raw.axioms.head.iter().enumerate();
        heads.map(|(axiom, &head)| (head as usize, axiom as u32))
    });
    let mut relevant = vec![false; raw.facts.len()];
    let mut action_seen = vec![false; raw.pre.len()];
    let mut queue: Vec<Fact> = Vec::new();
    let mark = |fact: Fact, relevant: &mut Vec<bool>, queue: &mut Vec<Fact>| {
        if !std::mem::replace(&mut relevant[fact as usize], true) {
            queue.push(fact);
        }
    };
    raw.goal
        .iter()
        .for_each(|&fact| mark(fact, &mut relevant, &mut queue));
    loop {
        while let Some(fact) = queue.pop() {
            let known = &raw.facts[fact as usize];
            if let Some(negated) = known.complement_of
                && raw.facts[negated as usize].level.is_some()
            {
                // Its value follows from that of the derived fact.
                mark(negated, &mut relevant, &mut queue);
            }
            let fact = fact as usize;
            let mut actions = changed_by.row(fact).to_vec();
            for &effect in changed_under.row(fact) {
                actions.push(raw.effects.action[effect as usize]);
                for &needed in raw.effects.condition.row(effect as usize) {
                    mark(needed, &mut relevant, &mut queue);
                }
            }
            for &axiom in derived_by.row(fact) {
                for &needed in raw.axioms.body.row(axiom as usize) {
                    mark(needed, &mut relevant, &mut queue);
                }
            }
            for action in actions {
                if std::mem::replace(&mut action_seen[action as usize], true) {
                    continue;
                }
                for &needed in raw.pre.row(action as usize) {
                    mark(needed, &mut relevant, &mut queue);
                }
            }
        }
        // Where the negation of a derived fact matters, the fact is worth knowing too.
        for (fact, negation) in &raw.negated {
            if negation.iter().all(|&part| relevant[part as usize]) {
                mark(*fact, &mut relevant, &mut queue);
            }
        }
        if queue.is_empty() {
            return relevant;
        }
    }
}

/// Which derived facts hold in every state, and which may hold in some.
fn decide_derived(raw: &Raw, always: &mut [bool], possible: &mut [bool]) {
    let levels = by_level(raw);
    let complements = derived_complements(raw);
    let highest = complements.iter().map(|&(_, _, level)| level as usize + 1);
    let count = levels.len().max(highest.max().unwrap_or(0));
    for level in 0..count {
        if level < levels.len() {
            close(raw, levels.row(level), always);
            close(raw, levels.row(level), possible);
        }
        for &(complement, fact, of) in &complements {
            if of as usize == level {
                always[complement as usize] = !possible[fact as usize];
                possible[complement as usize] = !always[fact as usize];
            }
        }
    }
}

/// Decides what becomes of each fact, and lists the dynamic ones in the order of propositions.
fn decide(raw: &Raw) -> (Vec<Fate>, Vec<Fact>) {
    let mut added = vec![false; raw.facts.len()];
    let mut deleted = vec![false; raw.facts.len()];
    for items in [raw.add.items(), raw.effects.add.items()] {
        items.iter().for_each(|&fact| added[fact as usize] = true);
    }
    for items in [raw.del.items(), raw.effects.del.items()] {
        items.iter().for_each(|&fact| deleted[fact as usize] = true);
    }
    let is_derived = |fact: usize| {
        let known = &raw.facts[fact];
        let negated = known.complement_of.map(|fact| &raw.facts[fact as usize]);
        known.level.is_some() || negated.is_some_and(|fact| fact.level.is_some())
    };
    let all = 0..raw.facts.len();
    let mut always: Vec<bool> = all
        .clone()
        .map(|fact| !is_derived(fact) && raw.in_init[fact] && !deleted[fact])
        .collect();
    let mut possible: Vec<bool> = all
        .map(|fact| !is_derived(fact) && (raw.in_init[fact] || added[fact]))
        .collect();
    if !raw.axioms.head.is_empty() || raw.facts.iter().any(|fact| fact.level.is_some()) {
        decide_derived(raw, &mut always, &mut possible);
    }
    let mut fate = Vec::with_capacity(raw.facts.len());
    let mut order: Vec<Fact> = Vec::new();
    let relevant = relevant_facts(raw);
    for fact in 0..raw.facts.len() {
        fate.push(if always[fact] {
            Fate::Static
        } else if !possible[fact] {
            Fate::Never
        } else if !relevant[fact] {
            Fate::Irrelevant
        } else {
            order.push(fact as Fact);
            // Numbered below, once the order is known.
            Fate::Dynamic(PropId(0))
        });
    }
    order.sort_unstable_by_key(|&number| {
        let fact = &raw.facts[number as usize];
        let atom = &fact.atom;
        (
            fact.is_helper,
            !fact.positive,
            atom.predicate,
            &atom.arguments,
            number,
        )
    });
    for (prop, &fact) in order.iter().enumerate() {
        fate[fact as usize] = Fate::Dynamic(PropId::from_index(prop));
    }
    (fate, order)
}

/// The dynamic propositions among facts, sorted; `None` if one can never be true.
fn dynamic(facts: &[Fact], fate: &[Fate]) -> Option<Vec<PropId>> {
    let mut props = Vec::with_capacity(facts.len());
    dynamic_into(facts, fate, &mut props).then_some(props)
}

/// Puts the dynamic propositions among facts into `props`, sorted; `false` if one can never be true.
fn dynamic_into(facts: &[Fact], fate: &[Fate], props: &mut Vec<PropId>) -> bool {
    props.clear();
    for &fact in facts {
        match fate[fact as usize] {
            Fate::Dynamic(prop) => props.push(prop),
            Fate::Never => return false,
            Fate::Static | Fate::Irrelevant => {}
        }
    }
    props.sort_unstable();
    props.dedup();
    true
}

/// The actions over propositions: those without effect dropped, and of several that differ in
/// nothing but name and cost the cheapest kept, the first among equals. What they were made of goes.
fn merged_actions(
    raw: &mut Raw,
    fate: &[Fate],
    order: &[Fact],
    watch: &mut dyn Watch,
) -> Result<(Actions, Effects), Stop> {
    let mut pace = Pace::building(watch, "ground actions")?;
    let positive = |prop: PropId| raw.facts[order[prop.index()] as usize].positive;
    let changed = |facts: &[Fact], into: &mut Vec<PropId>| {
        into.clear();
        into.extend(facts.iter().filter_map(|&fact| match fate[fact as usize] {
            Fate::Dynamic(prop) => Some(prop),
            Fate::Static | Fate::Never | Fate::Irrelevant => None,
        }));
        into.sort_unstable();
        into.dedup();
    };
    let mut all = Actions::default();
    // By action: which one of `raw` it is. Names are copied last, when conditions are gone from there.
    let mut source: Vec<u32> = Vec::new();
    let mut effects = Effects::default();
    let (mut pre, mut add, mut del) = (Vec::new(), Vec::new(), Vec::new());
    let mut next_effect = 0;
    for index in 0..raw.pre.len() {
        pace.work(8)?;
        let first_effect = next_effect;
        while raw.effects.action.get(next_effect) == Some(&(index as u32)) {
            next_effect += 1;
        }
        if !dynamic_into(raw.pre.row(index), fate, &mut pre) {
            continue;
        }
        changed(raw.add.row(index), &mut add);
        changed(raw.del.row(index), &mut del);
        let mut parts = Vec::new();
        if first_effect < next_effect {
            let mut always = Changes::of(&add, &del, &positive);
            for effect in first_effect..next_effect {
                let Some(mut condition) = dynamic(raw.effects.condition.row(effect), fate) else {
                    continue;
                };
                condition.retain(|prop| pre.binary_search(prop).is_err());
                let (mut more_add, mut more_del) = (Vec::new(), Vec::new());
                changed(raw.effects.add.row(effect), &mut more_add);
                changed(raw.effects.del.row(effect), &mut more_del);
                let changes = Changes::of(&more_add, &more_del, &positive);
                parts.push((condition, changes));
            }
            parts = merge_parts(&pre, &mut always, parts);
            (add, del) = always.lists();
        }
        del.retain(|prop| add.binary_search(prop).is_err());
        add.retain(|prop| pre.binary_search(prop).is_err());
        if add.is_empty() && del.is_empty() && parts.is_empty() {
            continue;
        }
        all.pre.push_row(pre.iter().copied());
        all.add.push_row(add.iter().copied());
        all.del.push_row(del.iter().copied());
        source.push(index as u32);
        all.cost.push(raw.cost[index]);
        for (condition, changes) in parts {
            let (add, del) = changes.lists();
            effects.push(all.cost.len() - 1, condition, add, del);
        }
    }
    effects.finish(all.cost.len());
    let keep = cheapest_of_twins(&all, &effects, &mut pace)?;
    (raw.pre, raw.add, raw.del) = Default::default();
    if !keep.iter().all(|&keep| keep) {
        let kept = |index: usize| keep[index];
        source = kept_items(&source, &kept);
        all.pre = kept_rows(&all.pre, &kept);
        all.add = kept_rows(&all.add, &kept);
        all.del = kept_rows(&all.del, &kept);
        all.cost = kept_items(&all.cost, &kept);
        effects = effects.kept(&keep);
    }
    let source = || source.iter().map(|&index| index as usize);
    all.schema = source().map(|index| raw.schema[index]).collect();
    for index in source() {
        let arguments = raw.arguments.row(index);
        all.arguments.push_row(arguments.iter().copied());
    }
    Ok((all, effects))
}

/// What an action does to propositions. To add an atom counts for more than to delete it: the
/// strong changes are those of adding (the atom becomes true, its complement false), the weak ones
/// those of deleting. Sorted, each proposition at most once.
#[derive(Clone, Default)]
struct Changes {
    strong: Vec<(PropId, bool)>,
    weak: Vec<(PropId, bool)>,
}

fn has(changes: &[(PropId, bool)], prop: PropId) -> bool {
    changes
        .binary_search_by_key(&prop, |&(prop, _)| prop)
        .is_ok()
}

impl Changes {
    fn of(add: &[PropId], del: &[PropId], positive: &impl Fn(PropId) -> bool) -> Self {
        let mut changes = Self::default();
        let added = add.iter().map(|&prop| (prop, true));
        for (prop, value) in added.chain(del.iter().map(|&prop| (prop, false))) {
            let list = match positive(prop) == value {
                true => &mut changes.strong,
                false => &mut changes.weak,
            };
            list.push((prop, value));
        }
        changes.settle();
        changes
    }

    fn settle(&mut self) {
        for list in [&mut self.strong, &mut self.weak] {
            list.sort_unstable();
            list.dedup();
        }
        self.weak.retain(|&(prop, _)| !has(&self.strong, prop));
    }

    fn join(&mut self, other: &Self) {
        self.strong.extend_from_slice(&other.strong);
        self.weak.extend_from_slice(&other.weak);
        self.settle();
    }

    fn is_empty(&self) -> bool {
        self.strong.is_empty() && self.weak.is_empty()
    }

    /// What is added and what is deleted, sorted.
    fn lists(&self) -> (Vec<PropId>, Vec<PropId>) {
        let list = |value: bool| {
            let all = self.strong.iter().chain(&self.weak);
            let mut list: Vec<PropId> = all
                .filter(|change| change.1 == value)
                .map(|change| change.0)
                .collect();
            list.sort_unstable();
            list
        };
        (list(true), list(false))
    }
}

/// Conditional effects of one action: those that take place always join what it does anyway, those
/// under the same condition each other, and what changes nothing goes.
fn merge_parts(
    pre: &[PropId],
    always: &mut Changes,
    mut parts: Vec<(Vec<PropId>, Changes)>,
) -> Vec<(Vec<PropId>, Changes)> {
    for (_, changes) in parts.iter().filter(|(condition, _)| condition.is_empty()) {
        always.join(changes);
    }
    parts.retain(|(condition, _)| !condition.is_empty());
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    let mut merged: Vec<(Vec<PropId>, Changes)> = Vec::new();
    for (condition, changes) in parts {
        match merged.last_mut() {
            Some((last, joined)) if *last == condition => joined.join(&changes),
            _ => merged.push((condition, changes)),
        }
    }
    for (_, changes) in &mut merged {
        let in_any_case = |prop: PropId| has(&always.strong, prop);
        changes.strong.retain(|&(prop, _)| !in_any_case(prop));
        changes
            .weak
            .retain(|&(prop, _)| !in_any_case(prop) && !has(&always.weak, prop));
    }
    // To add what is true already matters only where something deletes it.
    let weak = |changes: &Changes| changes.weak.clone();
    let mut deleted: Vec<(PropId, bool)> = merged
        .iter()
        .flat_map(|(_, changes)| weak(changes))
        .collect();
    deleted.extend(weak(always));
    deleted.sort_unstable();
    for (condition, changes) in &mut merged {
        changes.strong.retain(|&(prop, value)| {
            let known = pre.binary_search(&prop).is_ok() || condition.binary_search(&prop).is_ok();
            !value || !known || has(&deleted, prop)
        });
    }
    merged.retain(|(_, changes)| !changes.is_empty());
    merged
}

fn cheapest_of_twins(
    actions: &Actions,
    effects: &Effects,
    pace: &mut Pace<'_>,
) -> Result<Vec<bool>, Stop> {
    let rows = |index: usize| {
        [
            actions.pre.row(index),
            actions.add.row(index),
            actions.del.row(index),
        ]
    };
    let hash = |index: usize| {
        let hashes = rows(index).map(|row| hash_words(row.iter().map(|prop| prop.0)));
        let [pre, add, del] = hashes;
        pre ^ add.rotate_left(21) ^ del.rotate_left(42)
    };
    let same = |a: usize, b: usize| rows(a) == rows(b) && effects.are_alike(a, b);
    let mut keep = vec![true; actions.pre.len()];
    let mut best: HashTable<u32> = HashTable::new();
    // Twins are few: nearly all actions will be in the table, which then never grows.
    pace.room(table_growth(&best, keep.len()))?;
    best.reserve(keep.len(), |&other| hash(other as usize));
    for index in 0..keep.len() {
        pace.work(4)?;
        let own = hash(index);
        let twin = best.find_mut(own, |&other| same(other as usize, index));
        match twin {
            Some(other) if actions.cost[index] < actions.cost[*other as usize] => {
                keep[*other as usize] = false;
                *other = index as u32;
            }
            Some(_) => keep[index] = false,
            None => {
                best.insert_unique(own, index as u32, |&other| hash(other as usize));
            }
        }
    }
    Ok(keep)
}

impl Axioms {
    /// The axioms over propositions, level by level.
    fn new(raw: &Raw, fate: &[Fate]) -> Self {
        let mut axioms = Self::default();
        let prop = |fact: Fact| match fate[fact as usize] {
            Fate::Dynamic(prop) => Some(prop),
            Fate::Static | Fate::Never | Fate::Irrelevant => None,
        };
        for level in by_level(raw).rows() {
            let mut found: Vec<(PropId, Vec<PropId>)> = Vec::new();
            for &axiom in level {
                let axiom = axiom as usize;
                if let Some(head) = prop(raw.axioms.head[axiom])
                    && let Some(body) = dynamic(raw.axioms.body.row(axiom), fate)
                    && !body.contains(&head)
                {
                    found.push((head, body));
                }
            }
            found.sort_unstable();
            found.dedup();
            for (head, body) in found {
                axioms.head.push(head);
                axioms.body.push_row(body);
            }
        }
        for (fact, known) in raw.facts.iter().enumerate() {
            if known.level.is_some() {
                axioms.derived.extend(prop(fact as Fact));
            }
        }
        axioms.derived.sort_unstable();
        for (complement, fact, _) in derived_complements(raw) {
            if let (Some(complement), Some(fact)) = (prop(complement), prop(fact)) {
                axioms.complements.push((fact, complement));
            }
        }
        axioms.complements.sort_unstable();
        axioms
    }
}
