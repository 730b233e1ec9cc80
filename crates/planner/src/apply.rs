//! Applying actions with conditional effects.
//!
//! Conditions are tested on the state as it was. Then all that is deleted goes, and after that all
//! that is added comes, so that an atom both deleted and added ends up true. Axioms run last
//! ([`Closure`]).

use std::ops::Range;

use crate::closure::Closure;
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
