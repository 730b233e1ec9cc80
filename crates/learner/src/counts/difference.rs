//! Scores by difference, for up to two rounds.
//!
//! An action changes a few atoms. The colour of an atom after one round depends on its truth alone
//! (objects start with colours that never change), so what it tells its arguments in the first two
//! rounds are constants, one for each truth value. An object keeps the sum of the distinct things
//! it is told, and how often it is told each: the sum changes only where such a number leaves 0 or
//! comes back to it. Then the changed atoms' arguments get new colours, and where the first of
//! these really differs, so do the atoms around them. Do, read, undo.
//!
//! Weights are whole numbers: every sum equals the one from scratch, whatever the order. A model of
//! one round needs no code of its own, since no colour of the second has a weight in it.

use homing_planner::search::{ChildScore, SCORER_HEADS, SuccessorScorer};
use homing_planner::{ActionId, PropId, Task};

use super::colour::{Colour, mix};
use super::graph::{NO_ATOM, TaskGraph};
use super::layout::{AtomState, Counter, Layout, Slot};
use super::table::{HEADS, WeightTable, Weights};

/// Rounds for which this works.
pub(crate) const MAX_ROUNDS: usize = 2;

/// Rough nanoseconds of the parts of an evaluation, by which work is counted.
mod nanoseconds {
    pub(super) const CALL: u64 = 25;
    pub(super) const SLOT: u64 = 20;
    pub(super) const OBJECT: u64 = 15;
    pub(super) const ATOM: u64 = 12;
}

struct ObjectState {
    /// The first colour.
    first: Colour,
    /// Sums of what it is told in the first and in the second round.
    sums: [u64; 2],
    /// The colour after one round.
    second: Colour,
    /// Weights of its colours after one and after two rounds.
    weights: Weights,
    stamp: u32,
}

#[derive(Clone, Copy)]
struct PropState {
    atom: u32,
    is_goal: bool,
    holds: bool,
}

/// A touched object, with what it was.
struct Touched {
    object: u32,
    second: Colour,
    sums: [u64; 2],
}

/// An atom next to an object, and at which of its arguments.
#[derive(Clone, Copy)]
struct Neighbour {
    atom: u32,
    slot: u32,
}

/// Scores states of one task, each by what differs from the one before.
pub(crate) struct DifferenceScorer<'t> {
    task: &'t Task,
    table: WeightTable,
    heads: usize,
    props: Vec<PropState>,
    atoms: Vec<AtomState>,
    slots: Vec<Slot>,
    objects: Vec<ObjectState>,
    counters: [Vec<Counter>; 2],
    /// Atoms shown next to each object that have late colours: object `o` has
    /// `neighbours[first[o]..first[o] + lengths[o]]`.
    neighbours: Vec<Neighbour>,
    first: Vec<u32>,
    lengths: Vec<u32>,
    /// By slot: its place among its object's neighbours.
    places: Vec<u32>,
    score: [i64; HEADS],
    open_goals: usize,
    /// The parent's words; empty before the first one.
    words: Vec<u32>,
    /// The words of a child, where an action is not all that decides it.
    child_words: Vec<u32>,
    clock: u32,
    changes: Vec<PropId>,
    touched: Vec<Touched>,
    work: u64,
}

#[inline]
fn add(score: &mut [i64; HEADS], weights: Weights) {
    for (score, weight) in score.iter_mut().zip(weights) {
        *score += i64::from(weight);
    }
}

#[inline]
fn subtract(score: &mut [i64; HEADS], weights: Weights) {
    for (score, weight) in score.iter_mut().zip(weights) {
        *score -= i64::from(weight);
    }
}

impl<'t> DifferenceScorer<'t> {
    /// For the states of a task. A table of more than two rounds is not for it.
    pub(crate) fn new(task: &'t Task, graph: &TaskGraph, table: WeightTable, heads: usize) -> Self {
        let mut goal = vec![false; task.propositions().len()];
        for prop in task.goal() {
            goal[prop.index()] = true;
        }
        let Layout {
            atoms,
            slots,
            counters,
            first,
        } = Layout::new(graph, &table);
        let props = graph.atom_of.iter().zip(&goal);
        let mut scorer = Self {
            task,
            table,
            heads,
            props: props
                .map(|(&(atom, _), &is_goal)| PropState {
                    atom,
                    is_goal,
                    holds: false,
                })
                .collect(),
            atoms,
            slots,
            objects: Vec::with_capacity(graph.objects.len()),
            counters,
            neighbours: vec![Neighbour { atom: 0, slot: 0 }; graph.arguments.len()],
            first,
            lengths: vec![0; graph.objects.len()],
            places: vec![0; graph.arguments.len()],
            score: [0; HEADS],
            open_goals: task.goal().len(),
            words: Vec::new(),
            child_words: Vec::new(),
            clock: 0,
            changes: Vec::new(),
            touched: Vec::new(),
            work: 0,
        };
        scorer.start(graph);
        scorer
    }

    /// The state in which no proposition holds: there may be no such state, but every one can be
    /// reached from it by changes.
    fn start(&mut self, graph: &TaskGraph) {
        for &(atom, positive) in graph.atom_of.iter().filter(|(atom, _)| *atom != NO_ATOM) {
            self.atoms[atom as usize].truth = !positive;
        }
        self.objects = graph
            .objects
            .iter()
            .map(|&first| ObjectState {
                first,
                sums: [0; 2],
                second: 0,
                weights: [0; HEADS],
                stamp: 0,
            })
            .collect();
        for atom in 0..self.atoms.len() {
            let truth = usize::from(self.atoms[atom].truth);
            if self.atoms[atom].second[truth] == 0 {
                continue;
            }
            add(&mut self.score, self.atoms[atom].early[truth]);
            let tells = graph.tells(atom);
            for slot in graph.slots(atom) {
                if tells {
                    self.tell(slot, truth);
                }
                if self.atoms[atom].deep {
                    self.link(atom, slot);
                }
            }
        }
        for object in 0..self.objects.len() {
            add(&mut self.score, self.table.get(self.objects[object].first));
            let (second, weights) = self.recolour_object(object);
            self.objects[object].second = second;
            self.objects[object].weights = weights;
            add(&mut self.score, weights);
        }
        for atom in 0..self.atoms.len() {
            let truth = usize::from(self.atoms[atom].truth);
            if self.atoms[atom].deep && self.atoms[atom].second[truth] != 0 {
                let late = self.recolour_atom(atom, truth);
                self.atoms[atom].late = late;
                add(&mut self.score, late);
            }
        }
    }

    /// An object is told what an atom of this truth has to say at a slot.
    #[inline]
    fn tell(&mut self, slot: usize, truth: usize) {
        let Slot { object, counters } = self.slots[slot];
        let sums = &mut self.objects[object as usize].sums;
        for round in [0, 1] {
            let counter = &mut self.counters[round][counters[truth][round] as usize];
            if counter.count == 0 {
                sums[round] = sums[round].wrapping_add(counter.value);
            }
            counter.count += 1;
        }
    }

    /// Takes back what was told.
    #[inline]
    fn untell(&mut self, slot: usize, truth: usize) {
        let Slot { object, counters } = self.slots[slot];
        let sums = &mut self.objects[object as usize].sums;
        for round in [0, 1] {
            let counter = &mut self.counters[round][counters[truth][round] as usize];
            counter.count -= 1;
            if counter.count == 0 {
                sums[round] = sums[round].wrapping_sub(counter.value);
            }
        }
    }

    /// Puts an atom among the neighbours of the object at one of its arguments.
    fn link(&mut self, atom: usize, slot: usize) {
        let object = self.slots[slot].object as usize;
        let place = self.first[object] + self.lengths[object];
        self.neighbours[place as usize] = Neighbour {
            atom: atom as u32,
            slot: slot as u32,
        };
        self.places[slot] = place;
        self.lengths[object] += 1;
    }

    fn unlink(&mut self, slot: usize) {
        let object = self.slots[slot].object as usize;
        self.lengths[object] -= 1;
        let last = self.neighbours[(self.first[object] + self.lengths[object]) as usize];
        let place = self.places[slot];
        self.neighbours[place as usize] = last;
        self.places[last.slot as usize] = place;
    }

    /// The colour of an object after one round, and the weights of its colours after one and two.
    #[inline]
    fn recolour_object(&self, object: usize) -> (Colour, Weights) {
        let state = &self.objects[object];
        let second = mix(state.first, state.sums[0]);
        let early = self.table.get(second);
        let late = self.table.get(mix(second, state.sums[1]));
        (second, std::array::from_fn(|head| early[head] + late[head]))
    }

    /// The weights of an atom's colour after two rounds.
    #[inline]
    fn recolour_atom(&self, atom: usize, truth: usize) -> Weights {
        let state = &self.atoms[atom];
        let slots = &self.slots[state.slots.0 as usize..state.slots.1 as usize];
        let colour = slots.iter().fold(state.second[truth], |colour, slot| {
            mix(colour, self.objects[slot.object as usize].second)
        });
        self.table.get(colour)
    }

    /// Makes the changes, reads scores and open goals, and takes the changes back unless they are
    /// to stay.
    fn run<const STAY: bool>(&mut self) -> ([i64; HEADS], usize) {
        let changes = std::mem::take(&mut self.changes);
        let mut touched = std::mem::take(&mut self.touched);
        touched.clear();
        if self.clock == u32::MAX {
            self.forget_stamps();
        }
        self.clock += 1;
        let (mut score, mut open_goals) = (self.score, self.open_goals);
        let mut slots = 0;
        for prop in &changes {
            let state = self.props[prop.index()];
            if state.is_goal && state.holds {
                open_goals += 1;
            } else if state.is_goal {
                open_goals -= 1;
            }
            if state.atom != NO_ATOM {
                slots += self.flip(state.atom as usize, &mut score, &mut touched);
            }
        }
        for was in &touched {
            let object = was.object as usize;
            let (second, weights) = self.recolour_object(object);
            let state = &mut self.objects[object];
            subtract(&mut score, state.weights);
            add(&mut score, weights);
            state.second = second;
            if STAY {
                state.weights = weights;
            }
        }
        let recoloured = self.recolour_atoms::<STAY>(&changes, &touched, &mut score);
        if STAY {
            self.settle(&changes);
            self.score = score;
            self.open_goals = open_goals;
        } else {
            self.undo(&changes, &touched);
        }
        self.work += nanoseconds::CALL
            + nanoseconds::SLOT * slots
            + nanoseconds::OBJECT * touched.len() as u64
            + nanoseconds::ATOM * recoloured;
        self.changes = changes;
        self.touched = touched;
        (score, open_goals)
    }

    /// An atom changes its truth: early weights, and what its arguments are told. Returns how many
    /// arguments it has.
    #[inline]
    fn flip(&mut self, atom: usize, score: &mut [i64; HEADS], touched: &mut Vec<Touched>) -> u64 {
        let state = &self.atoms[atom];
        let old = usize::from(state.truth);
        let new = 1 - old;
        subtract(score, state.early[old]);
        add(score, state.early[new]);
        let shown = state.second.map(|colour| colour != 0);
        let range = state.slots.0 as usize..state.slots.1 as usize;
        for slot in range.clone() {
            let object = self.slots[slot].object;
            let state = &mut self.objects[object as usize];
            if state.stamp != self.clock {
                state.stamp = self.clock;
                touched.push(Touched {
                    object,
                    second: state.second,
                    sums: state.sums,
                });
            }
            if shown[old] {
                self.untell(slot, old);
            }
            if shown[new] {
                self.tell(slot, new);
            }
        }
        range.len() as u64
    }

    /// Late weights of the changed atoms and of those around objects with another colour. Returns
    /// how many of these last there were.
    #[inline]
    fn recolour_atoms<const STAY: bool>(
        &mut self,
        changes: &[PropId],
        touched: &[Touched],
        score: &mut [i64; HEADS],
    ) -> u64 {
        for prop in changes {
            let atom = self.props[prop.index()].atom as usize;
            if atom == NO_ATOM as usize {
                continue;
            }
            let new = usize::from(!self.atoms[atom].truth);
            let late = if self.atoms[atom].second[new] == 0 {
                [0; HEADS]
            } else {
                self.recolour_atom(atom, new)
            };
            let state = &mut self.atoms[atom];
            state.stamp = self.clock;
            subtract(score, state.late);
            add(score, late);
            if STAY {
                state.late = late;
            }
        }
        let mut recoloured = 0;
        for was in touched {
            let object = was.object as usize;
            if self.objects[object].second == was.second {
                continue;
            }
            let from = self.first[object] as usize;
            for index in from..from + self.lengths[object] as usize {
                let atom = self.neighbours[index].atom as usize;
                if self.atoms[atom].stamp == self.clock {
                    continue;
                }
                let late = self.recolour_atom(atom, usize::from(self.atoms[atom].truth));
                let state = &mut self.atoms[atom];
                state.stamp = self.clock;
                subtract(score, state.late);
                add(score, late);
                if STAY {
                    state.late = late;
                }
                recoloured += 1;
            }
        }
        recoloured
    }

    /// The changes stay: truth, and who is whose neighbour.
    fn settle(&mut self, changes: &[PropId]) {
        for prop in changes {
            let state = &mut self.props[prop.index()];
            state.holds = !state.holds;
            if state.atom == NO_ATOM {
                continue;
            }
            let atom = state.atom as usize;
            let state = &mut self.atoms[atom];
            let old = usize::from(state.truth);
            state.truth = !state.truth;
            let (was, is) = (state.second[old] != 0, state.second[1 - old] != 0);
            for slot in state.slots.0 as usize..state.slots.1 as usize {
                match (was, is) {
                    (false, true) => self.link(atom, slot),
                    (true, false) => self.unlink(slot),
                    _ => {}
                }
            }
        }
    }

    /// The changes are taken back.
    #[inline]
    fn undo(&mut self, changes: &[PropId], touched: &[Touched]) {
        for prop in changes {
            let atom = self.props[prop.index()].atom as usize;
            if atom == NO_ATOM as usize {
                continue;
            }
            let state = &self.atoms[atom];
            let old = usize::from(state.truth);
            let (was, is) = (state.second[old] != 0, state.second[1 - old] != 0);
            for slot in state.slots.0 as usize..state.slots.1 as usize {
                let Slot { counters, .. } = self.slots[slot];
                for round in [0, 1] {
                    if is {
                        self.counters[round][counters[1 - old][round] as usize].count -= 1;
                    }
                    if was {
                        self.counters[round][counters[old][round] as usize].count += 1;
                    }
                }
            }
        }
        for was in touched {
            let state = &mut self.objects[was.object as usize];
            state.second = was.second;
            state.sums = was.sums;
        }
    }

    /// Stamps have run full circle.
    #[cold]
    fn forget_stamps(&mut self) {
        self.clock = 0;
        self.objects.iter_mut().for_each(|object| object.stamp = 0);
        self.atoms.iter_mut().for_each(|atom| atom.stamp = 0);
    }

    fn answer(&self, scores: [i64; HEADS]) -> [i64; SCORER_HEADS] {
        if self.heads == 1 {
            [scores[0]; SCORER_HEADS]
        } else {
            scores
        }
    }
}

impl DifferenceScorer<'_> {
    /// The score of the child that `changes` lead to.
    fn answer_for_child(&mut self) -> ChildScore {
        let (scores, open_goals) = self.run::<false>();
        ChildScore {
            scores: self.answer(scores),
            open_goals,
        }
    }
}

impl SuccessorScorer for DifferenceScorer<'_> {
    fn heads(&self) -> usize {
        self.heads
    }

    fn enter(&mut self, state: &[u32]) {
        self.changes.clear();
        if self.words.is_empty() {
            self.task.encoding().unpack(state, &mut self.changes);
            self.words.extend_from_slice(state);
        } else {
            let encoding = self.task.encoding();
            encoding.difference(&self.words, state, &mut self.changes);
            self.words.copy_from_slice(state);
        }
        self.run::<true>();
    }

    fn scores(&self) -> [i64; SCORER_HEADS] {
        self.answer(self.score)
    }

    fn child(&mut self, action: ActionId) -> ChildScore {
        self.changes.clear();
        if !self.task.is_strips() {
            // What conditional effects and axioms do depends on the state.
            self.child_words.clone_from(&self.words);
            self.task.apply(action, &mut self.child_words);
            let encoding = self.task.encoding();
            encoding.difference(&self.words, &self.child_words, &mut self.changes);
            self.work += self.task.change_work(action);
            return self.answer_for_child();
        }
        let holds = |prop: &&PropId| self.props[prop.index()].holds;
        let del = self.task.del(action).iter().filter(holds);
        self.changes.extend(del);
        let add = self.task.add(action).iter().filter(|prop| !holds(prop));
        self.changes.extend(add);
        self.answer_for_child()
    }

    fn work(&self) -> u64 {
        self.work
    }
}
