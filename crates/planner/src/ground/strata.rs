//! Axioms level by level: each level is closed before the next one asks what is false in it.

use homing_pddl::Domain;
use homing_pddl::model::{Condition, Formula, PredicateId, Term};

use super::instantiate::{Fact, Raw};
use crate::csr::Csr;

/// The level of each derived predicate: above those that it negates, not below those it asks for.
/// Nothing where a predicate depends on its own negation: then levels are of facts
/// ([`Definitions::levels`](super::definitions::Definitions::levels)).
pub(super) fn predicate_levels(domain: &Domain) -> Option<Vec<Option<u32>>> {
    let mut levels: Vec<Option<u32>> = (0..domain.predicates.len())
        .map(|index| {
            domain
                .is_derived(PredicateId::from_index(index))
                .then_some(0)
        })
        .collect();
    // Without a circle of negations levels stop to rise.
    let most = domain.predicates.len() as u32;
    let mut changed = true;
    while changed {
        changed = false;
        for axiom in &domain.axioms {
            let mut level = levels[axiom.predicate.index()];
            each_literal(&axiom.condition, &mut |predicate, positive| {
                let needed = levels[predicate.index()].map(|known| known + u32::from(!positive));
                level = level.max(needed);
            });
            if level > levels[axiom.predicate.index()] {
                if level > Some(most) {
                    return None;
                }
                levels[axiom.predicate.index()] = level;
                changed = true;
            }
        }
    }
    Some(levels)
}

fn each_literal(condition: &Condition<Term>, found: &mut dyn FnMut(PredicateId, bool)) {
    fn walk(formula: &Formula, found: &mut dyn FnMut(PredicateId, bool)) {
        match formula {
            Formula::Literal(literal) => found(literal.atom.predicate, literal.positive),
            Formula::Equality(_) => {}
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().for_each(|part| walk(part, found));
            }
            Formula::Forall(_, body) | Formula::Exists(_, body) => walk(body, found),
        }
    }
    for literal in &condition.literals {
        found(literal.atom.predicate, literal.positive);
    }
    for formula in &condition.formulas {
        walk(formula, found);
    }
}

/// The axioms of each level.
pub(super) fn by_level(raw: &Raw) -> Csr<u32> {
    let level = |head: &Fact| raw.facts[*head as usize].level.unwrap_or(0) as usize;
    let levels = raw.axioms.head.iter().map(level).max().map_or(0, |m| m + 1);
    Csr::from_pairs(levels, 0u32, || {
        let heads = raw.axioms.head.iter().enumerate();
        heads.map(|(axiom, head)| (level(head), axiom as u32))
    })
}

/// Makes true what axioms of one level derive, given what is true below it.
pub(super) fn close(raw: &Raw, axioms: &[u32], truth: &mut [bool]) {
    let body = |at: usize| raw.axioms.body.row(axioms[at] as usize);
    // First who waits for what, by what is true before anything is derived; then what follows.
    let mut missing: Vec<u32> = Vec::with_capacity(axioms.len());
    let mut waits: Vec<(usize, u32)> = Vec::new();
    for at in 0..axioms.len() {
        let unmet = body(at).iter().filter(|&&fact| !truth[fact as usize]);
        let before = waits.len();
        waits.extend(unmet.map(|&fact| (fact as usize, at as u32)));
        missing.push((waits.len() - before) as u32);
    }
    let waiting = Csr::from_pairs(raw.facts.len(), 0, || waits.iter().copied());
    let mut open: Vec<Fact> = Vec::new();
    let derive = |at: usize, truth: &mut [bool], open: &mut Vec<Fact>| {
        let head = raw.axioms.head[axioms[at] as usize];
        if !std::mem::replace(&mut truth[head as usize], true) {
            open.push(head);
        }
    };
    for (at, _) in missing
        .iter()
        .enumerate()
        .filter(|(_, missing)| **missing == 0)
    {
        derive(at, truth, &mut open);
    }
    while let Some(fact) = open.pop() {
        for &at in waiting.row(fact as usize) {
            missing[at as usize] -= 1;
            if missing[at as usize] == 0 {
                derive(at as usize, truth, &mut open);
            }
        }
    }
}

/// The complements of derived facts, each with its fact, in the order of levels.
pub(super) fn derived_complements(raw: &Raw) -> Vec<(Fact, Fact, u32)> {
    let mut complements: Vec<(Fact, Fact, u32)> = raw
        .facts
        .iter()
        .enumerate()
        .filter_map(|(complement, fact)| {
            let negated = fact.complement_of?;
            let level = raw.facts[negated as usize].level?;
            Some((complement as Fact, negated, level))
        })
        .collect();
    complements.sort_by_key(|&(complement, _, level)| (level, complement));
    complements
}

/// Finds out which derived facts are true in the initial state.
pub(super) fn derive_initial(raw: &mut Raw) {
    let levels = by_level(raw);
    let complements = derived_complements(raw);
    let mut truth = std::mem::take(&mut raw.in_init);
    for (complement, _, _) in &complements {
        truth[*complement as usize] = false;
    }
    for (level, axioms) in levels.rows().enumerate() {
        close(raw, axioms, &mut truth);
        for &(complement, fact, of) in &complements {
            if of as usize == level {
                truth[complement as usize] = !truth[fact as usize];
            }
        }
    }
    // Facts of levels that no axiom reaches are false.
    for &(complement, fact, of) in &complements {
        if of as usize >= levels.len() {
            truth[complement as usize] = !truth[fact as usize];
        }
    }
    raw.in_init = truth;
}
