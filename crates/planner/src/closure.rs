//! What follows by axioms, kept right from one state to the next.
//!
//! Derived propositions have numbers here, and levels: each stands above all that it depends on, but
//! for those that depend on it in turn, which share its level. After an action each level is settled
//! by difference (delete and rederive). First goes what had an axiom, true before, that asks for
//! something now gone; then comes back what still follows; then what follows anew. Where much of a
//! level goes it is quicker to forget all of it and to derive it from what is below. What changed is
//! told to the levels above, and a level that is told nothing costs nothing.

use std::cell::RefCell;
use std::ops::Range;

use crate::components::components;
use crate::csr::Csr;
use crate::encoding::{Encoding, Masked};
use crate::task::{PropId, Task};

/// How derived propositions follow from the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closure {
    /// By derived proposition: which one it is.
    prop: Vec<PropId>,
    /// By derived proposition: what is true where it is not, if something is.
    complement: Vec<Option<PropId>>,
    /// By derived proposition: what makes it true, and tells that it is.
    truth: Vec<Masked>,
    /// By derived proposition: what makes it false.
    falsity: Vec<Masked>,
    /// By derived proposition.
    level: Vec<u32>,
    levels: Vec<Level>,
    /// By derived proposition: its axioms, which stand together.
    axioms: Vec<Range<u32>>,
    /// By axiom.
    head: Vec<u32>,
    /// By axiom: when it applies.
    body: Csr<Masked>,
    /// By derived proposition: the axioms of its level that ask for it.
    within: Csr<u32>,
    /// By proposition of the task: the axioms of higher levels that ask for it.
    above: Csr<u32>,
    /// By word of a state: the bits that axioms look at, those of derived propositions left out.
    looked_at: Vec<u32>,
}

/// Derived propositions that are settled together.
#[derive(Clone, Debug, Default)]
struct Level {
    props: Vec<u32>,
    /// What makes all of them false.
    forget: Vec<Masked>,
    /// Their axioms that ask for nothing of the level itself.
    entries: Vec<u32>,
}

impl Level {
    fn set_forget(&mut self, falsity: &[Masked]) {
        let mut all: Vec<Masked> = self.props.iter().map(|&p| falsity[p as usize]).collect();
        all.sort_by_key(|masked| masked.word);
        for next in all {
            match self.forget.last_mut() {
                Some(last) if last.word == next.word => {
                    last.mask |= next.mask;
                    last.value |= next.value;
                }
                _ => self.forget.push(next),
            }
        }
    }
}

/// One in so many propositions of a level may go before all of it is derived anew.
const MUCH: usize = 8;

/// Lists that are empty between two calls, kept for their room.
#[derive(Default)]
struct Scratch {
    levels: Vec<Pending>,
    deleted: Vec<u32>,
    derived: Vec<u32>,
}

/// Axioms of a level that ask for what has changed below it.
#[derive(Default)]
struct Pending {
    lost: Vec<u32>,
    gained: Vec<u32>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Closure {
    pub(crate) fn new(task: &Task, encoding: &Encoding) -> Self {
        let axioms = &task.axioms;
        let prop = axioms.derived.clone();
        let number = |wanted: PropId| prop.binary_search(&wanted).ok();
        let complement: Vec<Option<PropId>> = prop
            .iter()
            .map(|&derived| {
                let pairs = &axioms.complements;
                let at = pairs.binary_search_by_key(&derived, |pair| pair.0);
                at.ok().map(|at| pairs[at].1)
            })
            .collect();
        // By proposition: the derived one that decides it, if one does.
        let mut decided_by: Vec<Option<u32>> = vec![None; task.propositions.len()];
        for (at, (&derived, &complement)) in prop.iter().zip(&complement).enumerate() {
            for decided in [Some(derived), complement].into_iter().flatten() {
                decided_by[decided.index()] = Some(at as u32);
            }
        }
        let heads: Vec<u32> = axioms
            .head
            .iter()
            .map(|&head| number(head).expect("heads are derived") as u32)
            .collect();
        let level = levels(&heads, &axioms.body, &decided_by, prop.len());
        let mut closure = Self {
            truth: prop.iter().map(|&p| encoding.truth(p)).collect(),
            falsity: prop
                .iter()
                .zip(&complement)
                .map(|(&prop, &complement)| encoding.falsity(prop, complement))
                .collect(),
            axioms: vec![0..0; prop.len()],
            levels: vec![Level::default(); level.iter().max().map_or(0, |&top| top as usize + 1)],
            looked_at: vec![0; encoding.words()],
            prop,
            complement,
            level,
            ..Self::default()
        };
        let mut order: Vec<u32> = (0..heads.len() as u32).collect();
        order.sort_by_key(|&axiom| heads[axiom as usize]);
        let mut within: Vec<(u32, u32)> = Vec::new();
        let mut above: Vec<(u32, u32)> = Vec::new();
        for axiom in order.into_iter().map(|axiom| axiom as usize) {
            let place = closure.head.len() as u32;
            let head = heads[axiom];
            let body = axioms.body.row(axiom);
            let outside = within.len();
            for &asked in body {
                match decided_by[asked.index()] {
                    Some(lower)
                        if closure.level[lower as usize] == closure.level[head as usize] =>
                    {
                        within.push((lower, place));
                    }
                    _ => above.push((asked.0, place)),
                }
            }
            if within.len() == outside {
                let level = closure.level[head as usize];
                closure.levels[level as usize].entries.push(place);
            }
            closure.add(head, encoding.condition(body));
        }
        for (prop, &level) in closure.level.iter().enumerate() {
            closure.levels[level as usize].props.push(prop as u32);
        }
        for level in &mut closure.levels {
            level.set_forget(&closure.falsity);
        }
        let rows = |pairs: &[(u32, u32)], count: usize| {
            let pairs = || pairs.iter().map(|&(row, axiom)| (row as usize, axiom));
            Csr::from_pairs(count, 0, pairs)
        };
        closure.within = rows(&within, closure.prop.len());
        closure.above = rows(&above, task.propositions.len());
        for masked in &closure.truth {
            closure.looked_at[masked.word as usize] &= !masked.mask;
        }
        closure
    }

    /// Adds an axiom; those of a head come one after the other.
    fn add(&mut self, head: u32, body: Vec<Masked>) {
        let place = self.head.len() as u32;
        for masked in &body {
            self.looked_at[masked.word as usize] |= masked.mask;
        }
        self.head.push(head);
        self.body.push_row(body);
        let range = &mut self.axioms[head as usize];
        if range.start == range.end {
            range.start = place;
        }
        range.end = place + 1;
    }

    /// Whether nothing is derived.
    pub(crate) fn is_empty(&self) -> bool {
        self.truth.is_empty()
    }

    /// Sets the derived propositions of a state to what follows from the others. They are right for
    /// `old`, and `state` has them from there.
    pub(crate) fn close(&self, encoding: &Encoding, old: &[u32], state: &mut [u32]) {
        let words = old.iter().zip(state.iter()).zip(&self.looked_at);
        if words
            .map(|((old, new), mask)| (old ^ new) & mask)
            .all(|changed| changed == 0)
        {
            return;
        }
        SCRATCH.with_borrow_mut(|scratch| {
            if scratch.levels.len() < self.levels.len() {
                scratch
                    .levels
                    .resize_with(self.levels.len(), Pending::default);
            }
            self.tell_changes(encoding, old, state, &mut scratch.levels);
            for level in 0..self.levels.len() {
                self.settle(level, old, state, scratch);
            }
        });
        debug_assert!(
            self.head.len() > 256 || self.is_closed(state),
            "axioms closed by difference"
        );
    }

    /// Tells each level what an action changed.
    fn tell_changes(
        &self,
        encoding: &Encoding,
        old: &[u32],
        state: &[u32],
        levels: &mut [Pending],
    ) {
        for (word, &looked_at) in self.looked_at.iter().enumerate() {
            let changed = (old[word] ^ state[word]) & looked_at;
            for variable in encoding.variables_in(word, changed) {
                let [before, after] = [old, state].map(|state| encoding.true_prop(variable, state));
                self.tell(before, levels, |pending| &mut pending.lost);
                self.tell(after, levels, |pending| &mut pending.gained);
            }
        }
    }

    /// Tells the levels above of a proposition that became true or false.
    fn tell(
        &self,
        prop: Option<PropId>,
        levels: &mut [Pending],
        list: impl Fn(&mut Pending) -> &mut Vec<u32>,
    ) {
        let Some(prop) = prop else { return };
        for &axiom in self.above.row(prop.index()) {
            let level = self.level[self.head[axiom as usize] as usize];
            list(&mut levels[level as usize]).push(axiom);
        }
    }

    fn applies(&self, axiom: u32, state: &[u32]) -> bool {
        let body = self.body.row(axiom as usize);
        body.iter().all(|masked| masked.holds(state))
    }

    /// Makes a level right, given that those below it are.
    fn settle(&self, level: usize, old: &[u32], state: &mut [u32], scratch: &mut Scratch) {
        let Scratch {
            levels,
            deleted,
            derived,
        } = scratch;
        if levels[level].lost.is_empty() && levels[level].gained.is_empty() {
            return;
        }
        let mut told = std::mem::take(&mut levels[level]);
        let most = self.levels[level].props.len() / MUCH;
        if self.delete(&told.lost, old, state, deleted, most) {
            self.rederive(state, deleted, derived);
            self.derive(&told.gained, state, derived);
        } else {
            let Level {
                props,
                forget,
                entries,
            } = &self.levels[level];
            forget.iter().for_each(|masked| masked.write(state));
            self.derive(entries, state, derived);
            deleted.clear();
            deleted.extend(
                props
                    .iter()
                    .filter(|&&prop| self.truth[prop as usize].holds(old)),
            );
        }
        told.lost.clear();
        told.gained.clear();
        levels[level] = told;
        for prop in deleted.drain(..).map(|prop| prop as usize) {
            if !self.truth[prop].holds(state) {
                self.tell(Some(self.prop[prop]), levels, |pending| &mut pending.lost);
                self.tell(self.complement[prop], levels, |pending| &mut pending.gained);
            }
        }
        for prop in derived.drain(..).map(|prop| prop as usize) {
            if !self.truth[prop].holds(old) {
                self.tell(Some(self.prop[prop]), levels, |pending| &mut pending.gained);
                self.tell(self.complement[prop], levels, |pending| &mut pending.lost);
            }
        }
    }

    /// Makes false all of a level that may have rested on what is gone; `false` if there is so much
    /// of it that it was given up.
    fn delete(
        &self,
        lost: &[u32],
        old: &[u32],
        state: &mut [u32],
        deleted: &mut Vec<u32>,
        most: usize,
    ) -> bool {
        let mut look = |axioms: &[u32], deleted: &mut Vec<u32>| {
            for &axiom in axioms {
                let head = self.head[axiom as usize];
                if self.truth[head as usize].holds(state) && self.applies(axiom, old) {
                    self.falsity[head as usize].write(state);
                    deleted.push(head);
                }
            }
        };
        look(lost, deleted);
        let mut next = 0;
        while let Some(&prop) = deleted.get(next) {
            look(self.within.row(prop as usize), deleted);
            next += 1;
            if deleted.len() > most && next < deleted.len() {
                return false;
            }
        }
        true
    }

    /// Makes true again what was deleted and follows from what is left.
    fn rederive(&self, state: &mut [u32], deleted: &[u32], derived: &mut Vec<u32>) {
        for &prop in deleted {
            if self.axioms[prop as usize]
                .clone()
                .any(|axiom| self.applies(axiom, state))
            {
                self.truth[prop as usize].write(state);
                derived.push(prop);
            }
        }
    }

    /// Makes true what follows by some axioms, and from that and from what is derived already.
    fn derive(&self, axioms: &[u32], state: &mut [u32], derived: &mut Vec<u32>) {
        let mut look = |axioms: &[u32], derived: &mut Vec<u32>| {
            for &axiom in axioms {
                let head = self.head[axiom as usize];
                if !self.truth[head as usize].holds(state) && self.applies(axiom, state) {
                    self.truth[head as usize].write(state);
                    derived.push(head);
                }
            }
        };
        look(axioms, derived);
        let mut next = 0;
        while let Some(&prop) = derived.get(next) {
            look(self.within.row(prop as usize), derived);
            next += 1;
        }
    }

    /// Whether all is as if it were derived from nothing: slow, to be sure.
    fn is_closed(&self, state: &[u32]) -> bool {
        let mut anew = state.to_vec();
        for masked in &self.falsity {
            masked.write(&mut anew);
        }
        for level in 0..self.levels.len() as u32 {
            let mut changed = true;
            while changed {
                changed = false;
                for axiom in 0..self.head.len() as u32 {
                    let head = self.head[axiom as usize] as usize;
                    let is_new = self.level[head] == level && !self.truth[head].holds(&anew);
                    if is_new && self.applies(axiom, &anew) {
                        self.truth[head].write(&mut anew);
                        changed = true;
                    }
                }
            }
        }
        anew == state
    }
}

/// The level of each derived proposition: above all that it depends on, but for those that depend on
/// it in turn.
fn levels(
    heads: &[u32],
    bodies: &Csr<PropId>,
    decided_by: &[Option<u32>],
    derived: usize,
) -> Vec<u32> {
    let mut uses: Vec<Vec<u32>> = vec![Vec::new(); derived];
    for (&head, body) in heads.iter().zip(bodies.rows()) {
        uses[head as usize].extend(body.iter().filter_map(|asked| decided_by[asked.index()]));
    }
    for used in &mut uses {
        used.sort_unstable();
        used.dedup();
    }
    let (component, _) = components(&uses);
    let mut order: Vec<u32> = (0..derived as u32).collect();
    order.sort_by_key(|&prop| component[prop as usize]);
    let mut levels = vec![0; derived];
    let together = |&one: &u32, &other: &u32| component[one as usize] == component[other as usize];
    for members in order.chunk_by(together) {
        let outside = members
            .iter()
            .flat_map(|&member| &uses[member as usize])
            .filter(|used| !together(used, &members[0]));
        let level = outside.map(|&used| levels[used as usize] + 1).max();
        for &member in members {
            levels[member as usize] = level.unwrap_or(0);
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use crate::random::Random;
    use crate::task::ActionId;
    use crate::test_tasks::task;

    /// Ways in a net that come and go, what cannot be reached, and two levels above that.
    #[test]
    fn by_difference_all_is_as_if_it_were_derived_from_nothing() {
        let domain = "(:requirements :adl :derived-predicates) (:constants a)
          (:predicates (e ?x ?y) (r ?x ?y) (far ?x) (near ?x) (alone))
          (:derived (r ?x ?y) (or (e ?x ?y) (exists (?z) (and (e ?x ?z) (r ?z ?y)))))
          (:derived (far ?x) (exists (?y) (not (r ?y ?x))))
          (:derived (near ?x) (and (not (far ?x)) (r a ?x)))
          (:derived (alone) (forall (?x) (and (far ?x) (not (near ?x)))))
          (:action link :parameters (?x ?y) :precondition (or (alone) (not (near ?x)) (far ?y)) :effect (e ?x ?y))
          (:action cut :parameters (?x ?y) :effect (not (e ?x ?y)))";
        let task = task(
            domain,
            "(:objects b c d e f g h i) (:init (e a b) (e b c) (e c a)) (:goal (and (near a) (not (alone))))",
        );
        let closure = &task.encoding.full.as_deref().unwrap().axioms;
        assert!(closure.levels.len() > 2 && closure.levels.iter().any(|l| l.props.len() > 70));
        let mut random = Random::new(17);
        let mut state = task.initial_state();
        let mut seen = [0; 2];
        for step in 0..4_000 {
            // Long times of building and of taking down; few edges, then many.
            let links = |action: &ActionId| task.schema(*action).index() == 0;
            let wanted = random.below(10) < if step / 200 % 2 == 0 { 7 } else { 3 };
            let of_kind: Vec<ActionId> = task.actions().filter(|a| links(a) == wanted).collect();
            let old = state.clone();
            task.apply(of_kind[random.below(of_kind.len())], &mut state);
            assert!(closure.is_closed(&state), "step {step}");
            let differing: u32 = old
                .iter()
                .zip(&state)
                .map(|(a, b)| (a ^ b).count_ones())
                .sum();
            seen[usize::from(differing > 12)] += 1;
        }
        assert!(
            seen.iter().all(|&times| times > 50),
            "small and large changes: {seen:?}"
        );
    }
}
