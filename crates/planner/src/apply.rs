//! Applying actions with conditional effects, and deriving what follows by axioms.
//!
//! Conditions are tested on the state as it was. Then all that is deleted goes, and after that all
//! that is added comes, so that an atom both deleted and added ends up true. Axioms run last, level
//! by level: the derived propositions that what has changed can reach are forgotten and built up
//! again.

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

/// How derived propositions follow from the others. Derived propositions have numbers here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closure {
    /// By derived proposition: what makes it true, and tells that it is.
    truth: Vec<Masked>,
    /// By derived proposition: what makes it false.
    falsity: Vec<Masked>,
    /// What makes all of them false.
    forget: Vec<Masked>,
    /// By word of a state: the bits that axioms look at, those of derived propositions left out.
    looked_at: Vec<u32>,
    /// Where the axioms of each level end.
    level_ends: Vec<u32>,
    /// By derived proposition.
    level: Vec<u32>,
    /// The derived propositions of each level.
    levels: Csr<u32>,
    /// By axiom: its head. Axioms stand level by level, those of one head together.
    head: Vec<u32>,
    /// By derived proposition: its axioms.
    axioms: Vec<Range<u32>>,
    /// By axiom: what of its body is settled before its level begins.
    below: Csr<Masked>,
    /// By axiom: the propositions of its own level in its body.
    within: Csr<u32>,
    /// By derived proposition: the axioms of its level that wait for it.
    waiting: Csr<u32>,
    /// By bit of a state: the heads of axioms that look at it in what is settled before.
    looking: Csr<u32>,
}

/// An axiom that cannot apply in this state.
const IDLE: u32 = u32::MAX;

/// With fewer axioms it is quicker to close all of them than to find out which ones matter.
const MANY: usize = 1_024;

impl Closure {
    fn new(task: &Task, encoding: &Encoding) -> Self {
        let axioms = &task.axioms;
        let complement = |prop: PropId| {
            let at = axioms
                .complements
                .binary_search_by_key(&prop, |pair| pair.0);
            at.ok().map(|at| axioms.complements[at].1)
        };
        let mut level = vec![0u32; axioms.derived.len()];
        let number = |prop: PropId| axioms.derived.binary_search(&prop).ok();
        let head_of = |axiom: usize| number(axioms.head[axiom]).expect("heads are derived");
        for axiom in 0..axioms.head.len() {
            let ends = &axioms.level_ends;
            level[head_of(axiom)] = ends.partition_point(|&end| end <= axiom as u32) as u32;
        }
        let derived = axioms.derived.iter();
        let mut closure = Self {
            truth: derived.clone().map(|&p| encoding.truth(p)).collect(),
            falsity: derived
                .map(|&p| encoding.falsity(p, complement(p)))
                .collect(),
            axioms: vec![0..0; level.len()],
            levels: Csr::from_pairs(axioms.level_ends.len().max(1), 0, || {
                level
                    .iter()
                    .enumerate()
                    .map(|(prop, &level)| (level as usize, prop as u32))
            }),
            level,
            ..Self::default()
        };
        let mut order: Vec<usize> = (0..axioms.head.len()).collect();
        // They stand level by level already.
        order.sort_by_key(|&axiom| (closure.level[head_of(axiom)], head_of(axiom)));
        let mut waits: Vec<(usize, u32)> = Vec::new();
        let mut looks: Vec<(usize, u32)> = Vec::new();
        for axiom in order {
            let place = closure.head.len() as u32;
            let head = head_of(axiom);
            let own_level = closure.level[head];
            let (mut below, mut within) = (Vec::new(), Vec::new());
            for &prop in axioms.body.row(axiom) {
                match number(prop).filter(|&number| closure.level[number] == own_level) {
                    Some(number) => within.push(number as u32),
                    None => below.push(prop),
                }
            }
            let below = encoding.condition(&below);
            for masked in &below {
                looks.extend(bits(masked.word, masked.mask).map(|bit| (bit, head as u32)));
            }
            waits.extend(within.iter().map(|&prop| (prop as usize, place)));
            closure.below.push_row(below);
            closure.within.push_row(within);
            let range = &mut closure.axioms[head];
            if range.start == range.end {
                range.start = place;
            }
            range.end = place + 1;
            closure.head.push(head as u32);
        }
        closure.level_ends.clone_from(&axioms.level_ends);
        for &falsity in &closure.falsity {
            crate::encoding::merge(&mut closure.forget, falsity);
        }
        closure.looked_at = vec![0; encoding.words()];
        for masked in closure.below.items() {
            closure.looked_at[masked.word as usize] |= masked.mask;
        }
        for masked in &closure.truth {
            closure.looked_at[masked.word as usize] &= !masked.mask;
        }
        looks.sort_unstable();
        looks.dedup();
        let bits = encoding.words() * u32::BITS as usize;
        closure.looking = Csr::from_pairs(bits, 0, || looks.iter().copied());
        closure.waiting = Csr::from_pairs(closure.level.len(), 0, || waits.iter().copied());
        closure
    }

    /// Whether nothing is derived.
    pub(crate) fn is_empty(&self) -> bool {
        self.truth.is_empty()
    }

    /// Sets the derived propositions of a state to what follows from the others. They are right for
    /// `old`, and `state` has them from there.
    pub(crate) fn close(&self, old: &[u32], state: &mut [u32]) {
        let words = old.iter().zip(state.iter()).zip(&self.looked_at);
        if words
            .map(|((old, new), mask)| (old ^ new) & mask)
            .all(|changed| changed == 0)
        {
            return;
        }
        if self.head.len() < MANY {
            debug_assert!(self.both_agree(old, state), "two ways to close axioms");
            self.close_all(state);
        } else {
            self.close_changed(old, state);
        }
    }

    fn both_agree(&self, old: &[u32], state: &[u32]) -> bool {
        let (mut one, mut other) = (state.to_vec(), state.to_vec());
        self.close_all(&mut one);
        self.close_changed(old, &mut other);
        one == other
    }

    /// Forgets all and derives it again.
    fn close_all(&self, state: &mut [u32]) {
        self.forget.iter().for_each(|mask| mask.write(state));
        let mut missing: Vec<u32> = vec![IDLE; self.head.len()];
        let mut open: Vec<u32> = Vec::new();
        let mut from = 0;
        for &end in &self.level_ends {
            let level = from as usize..end as usize;
            for axiom in level.clone() {
                if self.below.row(axiom).iter().all(|mask| mask.holds(state)) {
                    missing[axiom] = self.within.row(axiom).len() as u32;
                }
            }
            for axiom in level {
                if missing[axiom] == 0 {
                    self.derive(self.head[axiom], state, &mut open);
                }
            }
            while let Some(prop) = open.pop() {
                for &axiom in self.waiting.row(prop as usize) {
                    let missing = &mut missing[axiom as usize];
                    if *missing != IDLE {
                        *missing -= 1;
                        if *missing == 0 {
                            self.derive(self.head[axiom as usize], state, &mut open);
                        }
                    }
                }
            }
            from = end;
        }
    }

    /// Forgets what a difference can reach and derives that again.
    fn close_changed(&self, old: &[u32], state: &mut [u32]) {
        let mut doubt = Doubt {
            listed: vec![false; self.truth.len()],
            by_level: vec![Vec::new(); self.levels.len()],
        };
        for (word, (old, new)) in old.iter().zip(state.iter()).enumerate() {
            for bit in bits(word as u32, old ^ new) {
                doubt.add(self.looking.row(bit), &self.level);
            }
        }
        let mut missing = Vec::new();
        for level in 0..self.levels.len() {
            if doubt.by_level[level].is_empty() {
                continue;
            }
            missing.resize(self.head.len(), 0);
            let props = self.spread(level, &mut doubt);
            self.close_level(&props, &doubt.listed, &mut missing, state);
            for &prop in &props {
                let Masked { word, mask, .. } = self.truth[prop as usize];
                let changed = (old[word as usize] ^ state[word as usize]) & mask;
                for bit in bits(word, changed) {
                    doubt.add(self.looking.row(bit), &self.level);
                }
            }
        }
    }

    /// All propositions of a level that may change: those in doubt, and what follows from them. Where
    /// that is most of the level it is all of it.
    fn spread(&self, level: usize, doubt: &mut Doubt) -> Vec<u32> {
        let all = self.levels.row(level);
        let mut props = std::mem::take(&mut doubt.by_level[level]);
        let mut next = 0;
        while next < props.len() && 2 * props.len() <= all.len() {
            for &axiom in self.waiting.row(props[next] as usize) {
                let head = self.head[axiom as usize];
                if !std::mem::replace(&mut doubt.listed[head as usize], true) {
                    props.push(head);
                }
            }
            next += 1;
        }
        if next < props.len() {
            for &prop in all {
                if !std::mem::replace(&mut doubt.listed[prop as usize], true) {
                    props.push(prop);
                }
            }
        }
        props
    }

    /// Forgets some propositions of a level and derives them again. The others of the level follow
    /// from none of them.
    fn close_level(&self, props: &[u32], listed: &[bool], missing: &mut [u32], state: &mut [u32]) {
        for &prop in props {
            self.falsity[prop as usize].write(state);
        }
        let axioms = |prop: u32| {
            let range = &self.axioms[prop as usize];
            range.start as usize..range.end as usize
        };
        let mut ready: Vec<u32> = Vec::new();
        for &prop in props {
            for axiom in axioms(prop) {
                missing[axiom] = IDLE;
                if self.below.row(axiom).iter().all(|mask| mask.holds(state)) {
                    let within = self.within.row(axiom).iter();
                    let unmet = within.filter(|&&prop| !self.truth[prop as usize].holds(state));
                    missing[axiom] = unmet.count() as u32;
                    if missing[axiom] == 0 {
                        ready.push(prop);
                        break;
                    }
                }
            }
        }
        let mut open: Vec<u32> = Vec::new();
        for prop in ready {
            self.derive(prop, state, &mut open);
        }
        while let Some(prop) = open.pop() {
            for &axiom in self.waiting.row(prop as usize) {
                let head = self.head[axiom as usize];
                if !listed[head as usize] || self.truth[head as usize].holds(state) {
                    continue;
                }
                let missing = &mut missing[axiom as usize];
                if *missing != IDLE {
                    *missing -= 1;
                    if *missing == 0 {
                        self.derive(head, state, &mut open);
                    }
                }
            }
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

/// The bits of a mask, numbered through the words of a state.
fn bits(word: u32, mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < u32::BITS).then(|| (word * u32::BITS + bit) as usize)
    })
}

/// Derived propositions that may have to change.
struct Doubt {
    listed: Vec<bool>,
    by_level: Vec<Vec<u32>>,
}

impl Doubt {
    fn add(&mut self, props: &[u32], level: &[u32]) {
        for &prop in props {
            if !std::mem::replace(&mut self.listed[prop as usize], true) {
                self.by_level[level[prop as usize] as usize].push(prop);
            }
        }
    }
}
