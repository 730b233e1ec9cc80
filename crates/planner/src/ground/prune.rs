//! What the joins let through although it can never be reached.

use super::instantiate::{Fact, Raw, RawAxioms, RawEffects};
use super::simplify::{kept_items, kept_rows};
use super::strata::derived_complements;
use crate::csr::Csr;

/// What can be reached if nothing is ever deleted, by a pass over ground rules: actions, effects
/// together with their actions, axioms.
struct Reached {
    actions: Vec<bool>,
    effects: Vec<bool>,
    axioms: Vec<bool>,
}

/// Drops actions, effects and axioms that negative conditions and formulas make unreachable. Without
/// any of these the joins have found exactly the reachable ones.
pub(super) fn prune_unreachable(raw: &mut Raw) {
    let plain = raw.axioms.head.is_empty() && raw.effects.action.is_empty();
    if !raw.has_complements && plain && !raw.has_formulas {
        return;
    }
    let reached = reach(raw);
    let keep = |index: usize| reached.actions[index];
    // The number of each action that stays.
    let mut number = 0;
    let numbers: Vec<u32> = reached
        .actions
        .iter()
        .map(|&kept| {
            number += u32::from(kept);
            number.wrapping_sub(1)
        })
        .collect();
    raw.schema = kept_items(&raw.schema, &keep);
    raw.cost = kept_items(&raw.cost, &keep);
    raw.arguments = kept_rows(&raw.arguments, &keep);
    raw.pre = kept_rows(&raw.pre, &keep);
    raw.add = kept_rows(&raw.add, &keep);
    raw.del = kept_rows(&raw.del, &keep);
    let keep = |index: usize| reached.effects[index];
    let mut action = kept_items(&raw.effects.action, &keep);
    action
        .iter_mut()
        .for_each(|action| *action = numbers[*action as usize]);
    raw.effects = RawEffects {
        action,
        condition: kept_rows(&raw.effects.condition, &keep),
        add: kept_rows(&raw.effects.add, &keep),
        del: kept_rows(&raw.effects.del, &keep),
    };
    let keep = |index: usize| reached.axioms[index];
    raw.axioms = RawAxioms {
        head: kept_items(&raw.axioms.head, &keep),
        body: kept_rows(&raw.axioms.body, &keep),
    };
}

fn reach(raw: &Raw) -> Reached {
    // Rules one behind the other: actions, effects, axioms. An effect waits for its action too.
    let (actions, effects) = (raw.pre.len(), raw.effects.action.len());
    let rules = actions + effects + raw.axioms.head.len();
    let body = |rule: usize| -> &[Fact] {
        if rule < actions {
            raw.pre.row(rule)
        } else if rule < actions + effects {
            raw.effects.condition.row(rule - actions)
        } else {
            raw.axioms.body.row(rule - actions - effects)
        }
    };
    let needed_by = Csr::from_pairs(raw.facts.len(), 0u32, || {
        (0..rules).flat_map(|rule| {
            let body = body(rule).iter();
            body.map(move |&fact| (fact as usize, rule as u32))
        })
    });
    let effects_of = Csr::from_pairs(actions, 0u32, || {
        let effects = raw.effects.action.iter().enumerate();
        effects.map(|(effect, &action)| (action as usize, effect as u32))
    });
    let mut missing: Vec<usize> = (0..rules)
        .map(|rule| {
            let is_effect = (actions..actions + effects).contains(&rule);
            body(rule).len() + usize::from(is_effect)
        })
        .collect();
    let mut facts = raw.in_init.clone();
    // What may be underivable at some time is not known here: all of it counts as reached.
    for (complement, _, _) in derived_complements(raw) {
        facts[complement as usize] = true;
    }
    let mut open: Vec<Fact> = (0..facts.len() as Fact)
        .filter(|&fact| facts[fact as usize])
        .collect();
    let mut fired = vec![false; rules];
    let mut ready: Vec<usize> = (0..rules).filter(|&rule| missing[rule] == 0).collect();
    loop {
        while let Some(rule) = ready.pop() {
            fired[rule] = true;
            let added = if rule < actions {
                for &effect in effects_of.row(rule) {
                    let effect = actions + effect as usize;
                    missing[effect] -= 1;
                    if missing[effect] == 0 {
                        ready.push(effect);
                    }
                }
                raw.add.row(rule)
            } else if rule < actions + effects {
                raw.effects.add.row(rule - actions)
            } else {
                std::slice::from_ref(&raw.axioms.head[rule - actions - effects])
            };
            for &fact in added {
                if !std::mem::replace(&mut facts[fact as usize], true) {
                    open.push(fact);
                }
            }
        }
        let Some(fact) = open.pop() else { break };
        for &rule in needed_by.row(fact as usize) {
            let rule = rule as usize;
            missing[rule] -= 1;
            if missing[rule] == 0 {
                ready.push(rule);
            }
        }
    }
    let axioms = fired.split_off(actions + effects);
    let effects = fired.split_off(actions);
    Reached {
        actions: fired,
        effects,
        axioms,
    }
}
