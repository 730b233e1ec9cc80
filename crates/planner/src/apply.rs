//! Applying actions with conditional effects, and deriving what follows by axioms.
//!
//! Conditions are tested on the state as it was. Then all that is deleted goes, and after that all
//! that is added comes, so that an atom both deleted and added ends up true. Axioms run last: the
//! derived propositions are forgotten and built up again, level by level.

use std::ops::Range;

use crate::csr::Csr;
use crate::encoding::{Encoding, Masked};
use crate::task::{PropId, Task};

/// What the plain masks of an [`Encoding`] cannot say.
#[derive(Clone, Debug)]
pub(crate) struct Full {
    /// By action with conditional effects: what deleting atoms does in any case, and what adding
    /// them does.
    weak: Csr<Masked>,
    strong: Csr<Masked>,
    /// By conditional effect.
    condition: Csr<Masked>,
    effect_weak: Csr<Masked>,
    effect_strong: Csr<Masked>,
    pub(crate) axioms: Closure,
}

/// Effects that an action may have before a list of those that take place is allocated.
const FEW: usize = 256;

impl Full {
    pub(crate) fn new(task: &Task, encoding: &Encoding) -> Self {
        let mut full = Self {
            weak: Csr::default(),
            strong: Csr::default(),
            condition: Csr::default(),
            effect_weak: Csr::default(),
            effect_strong: Csr::default(),
            axioms: Closure::new(task, encoding),
        };
        let mut row = Vec::new();
        // A complement becomes true by deleting, and false by adding its atom.
        let mut write = |add: &[PropId], del: &[PropId], strong: bool, masks: &mut Csr<Masked>| {
            let pick = |props: &[PropId], positive: bool| -> Vec<PropId> {
                let props = props.iter().copied();
                props
                    .filter(|prop| task.propositions[prop.index()].positive == positive)
                    .collect()
            };
            encoding.effect(&pick(del, !strong), &pick(add, strong), &mut row);
            masks.push_row(row.iter().copied());
        };
        for action in task.actions() {
            let (add, del): (&[PropId], &[PropId]) = match task.effects.of(action.index()) {
                effects if effects.is_empty() => (&[], &[]),
                _ => (task.add(action), task.del(action)),
            };
            write(add, del, false, &mut full.weak);
            write(add, del, true, &mut full.strong);
        }
        for effect in 0..task.effects.condition.len() {
            let condition = encoding.condition(task.effects.condition.row(effect));
            full.condition.push_row(condition);
            let (add, del) = (task.effects.add.row(effect), task.effects.del.row(effect));
            write(add, del, false, &mut full.effect_weak);
            write(add, del, true, &mut full.effect_strong);
        }
        full
    }

    /// Applies an action with the given conditional effects.
    pub(crate) fn apply(&self, action: usize, effects: Range<usize>, state: &mut [u32]) {
        let mut few = [0u64; FEW / 64];
        let mut many = Vec::new();
        let takes_place: &mut [u64] = if effects.len() <= FEW {
            &mut few
        } else {
            many.resize(effects.len().div_ceil(64), 0);
            &mut many
        };
        for (at, effect) in effects.clone().enumerate() {
            let holds = self.condition.row(effect).iter().all(|c| c.holds(state));
            takes_place[at / 64] |= u64::from(holds) << (at % 64);
        }
        let chosen = |at: usize| takes_place[at / 64] >> (at % 64) & 1 == 1;
        for (always, under) in [
            (&self.weak, &self.effect_weak),
            (&self.strong, &self.effect_strong),
        ] {
            always.row(action).iter().for_each(|mask| mask.write(state));
            for (at, effect) in effects.clone().enumerate() {
                if chosen(at) {
                    under.row(effect).iter().for_each(|mask| mask.write(state));
                }
            }
        }
    }
}

/// One axiom.
#[derive(Clone, Copy, Debug)]
struct Derivation {
    /// Its head among the derived propositions.
    head: u32,
    /// How many propositions of its own level its body has.
    within: u32,
}

/// How derived propositions follow from the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closure {
    /// Makes all derived propositions false.
    forget: Vec<Masked>,
    /// By derived proposition: what makes it true, and tells that it is.
    truth: Vec<Masked>,
    /// Level by level.
    axioms: Vec<Derivation>,
    level_ends: Vec<u32>,
    /// By axiom: what of its body is settled before its level begins.
    below: Csr<Masked>,
    /// By derived proposition: the axioms of its level that wait for it.
    waiting: Csr<u32>,
}

/// An axiom that cannot apply in this state.
const IDLE: u32 = u32::MAX;

impl Closure {
    fn new(task: &Task, encoding: &Encoding) -> Self {
        let axioms = &task.axioms;
        let complement = |prop: PropId| {
            let at = axioms
                .complements
                .binary_search_by_key(&prop, |pair| pair.0);
            at.ok().map(|at| axioms.complements[at].1)
        };
        let mut level = vec![0; axioms.derived.len()];
        let number = |prop: PropId| axioms.derived.binary_search(&prop).ok();
        let level_of = |axiom: usize| {
            axioms
                .level_ends
                .partition_point(|&end| end <= axiom as u32)
        };
        for (axiom, &head) in axioms.head.iter().enumerate() {
            level[number(head).expect("heads are derived")] = level_of(axiom);
        }
        let mut closure = Self {
            truth: axioms.derived.iter().map(|&p| encoding.truth(p)).collect(),
            level_ends: axioms.level_ends.clone(),
            ..Self::default()
        };
        for &prop in &axioms.derived {
            crate::encoding::merge(
                &mut closure.forget,
                encoding.falsity(prop, complement(prop)),
            );
        }
        let mut waits: Vec<(usize, u32)> = Vec::new();
        for (axiom, (&head, body)) in axioms.head.iter().zip(axioms.body.rows()).enumerate() {
            let own_level = level_of(axiom);
            let within = |prop: PropId| number(prop).filter(|&number| level[number] == own_level);
            let below: Vec<PropId> = body
                .iter()
                .copied()
                .filter(|&prop| within(prop).is_none())
                .collect();
            closure.below.push_row(encoding.condition(&below));
            let inner: Vec<usize> = body.iter().filter_map(|&prop| within(prop)).collect();
            closure.axioms.push(Derivation {
                head: number(head).expect("heads are derived") as u32,
                within: inner.len() as u32,
            });
            waits.extend(inner.into_iter().map(|prop| (prop, axiom as u32)));
        }
        closure.waiting = Csr::from_pairs(axioms.derived.len(), 0, || waits.iter().copied());
        closure
    }

    /// Sets the derived propositions of a state to what follows from the others.
    pub(crate) fn close(&self, state: &mut [u32]) {
        if self.truth.is_empty() {
            return;
        }
        self.forget.iter().for_each(|mask| mask.write(state));
        let mut missing: Vec<u32> = vec![IDLE; self.axioms.len()];
        let mut open: Vec<u32> = Vec::new();
        let mut from = 0;
        for &end in &self.level_ends {
            let level = from as usize..end as usize;
            for axiom in level.clone() {
                if self.below.row(axiom).iter().all(|mask| mask.holds(state)) {
                    missing[axiom] = self.axioms[axiom].within;
                }
            }
            for axiom in level {
                if missing[axiom] == 0 {
                    self.derive(self.axioms[axiom].head, state, &mut open);
                }
            }
            while let Some(prop) = open.pop() {
                for &axiom in self.waiting.row(prop as usize) {
                    let missing = &mut missing[axiom as usize];
                    if *missing != IDLE {
                        *missing -= 1;
                        if *missing == 0 {
                            self.derive(self.axioms[axiom as usize].head, state, &mut open);
                        }
                    }
                }
            }
            from = end;
        }
    }

    fn derive(&self, prop: u32, state: &mut [u32], open: &mut Vec<u32>) {
        let truth = self.truth[prop as usize];
        if !truth.holds(state) {
            truth.write(state);
            open.push(prop);
        }
    }
}
