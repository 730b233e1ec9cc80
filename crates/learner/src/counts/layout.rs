//! The tables of a scorer by difference: atoms, their arguments, and a counter for each thing that
//! each object may be told.
//!
//! Objects times colours would be a table of millions in a large problem, nearly all of it 0. An
//! object can only be told what one of the atoms around it has to say, so counters are numbered
//! object by object: there are no more of them than arguments of atoms, times two truth values.

use super::colour::{Colour, aged, mix, told};
use super::graph::TaskGraph;
use super::table::{HEADS, WeightTable, Weights};

/// Marks the absence of a counter.
const NONE: u32 = u32::MAX;

/// How often an object is told one thing.
#[derive(Clone, Copy)]
pub(super) struct Counter {
    /// What is told, as it enters the object's sum.
    pub(super) value: u64,
    pub(super) count: u32,
}

/// An argument of an atom.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    pub(super) object: u32,
    /// Counters of what the object is told here: `[truth of the atom][round]`.
    pub(super) counters: [[u32; 2]; 2],
}

/// An atom: constants, and what it is in the parent.
pub(super) struct AtomState {
    /// The colour after one round, [where false, where true], aged for the next; 0: not shown.
    pub(super) second: [Colour; 2],
    /// Weights of its first two colours.
    pub(super) early: [Weights; 2],
    /// Weights of its colour after two rounds, as it is in the parent.
    pub(super) late: Weights,
    /// Where its arguments stand.
    pub(super) slots: (u32, u32),
    pub(super) stamp: u32,
    pub(super) truth: bool,
    /// Whether it has features past the first round.
    pub(super) deep: bool,
}

/// Tables made once for a task and a model.
pub(super) struct Layout {
    pub(super) atoms: Vec<AtomState>,
    pub(super) slots: Vec<Slot>,
    /// By round.
    pub(super) counters: [Vec<Counter>; 2],
    /// By object: how many slots there are of objects before it.
    pub(super) first: Vec<u32>,
}

impl Layout {
    pub(super) fn new(graph: &TaskGraph, table: &WeightTable) -> Self {
        let seconds: Vec<[Colour; 2]> = (0..graph.atom_count())
            .map(|atom| graph.colours[atom].map(|first| after_one_round(graph, atom, first)))
            .collect();
        let atoms = graph.colours.iter().zip(&seconds).enumerate();
        let atoms = atoms.map(|(atom, (firsts, seconds))| {
            let range = graph.slots(atom);
            AtomState {
                second: seconds.map(|second| if second == 0 { 0 } else { aged(second) }),
                early: [0, 1].map(|truth| {
                    let weights = [firsts[truth], seconds[truth]].map(|colour| table.get(colour));
                    std::array::from_fn(|head| weights[0][head] + weights[1][head])
                }),
                late: [0; HEADS],
                slots: (range.start as u32, range.end as u32),
                stamp: 0,
                truth: true,
                deep: atom < graph.shallow,
            }
        });
        let mut layout = Self {
            atoms: atoms.collect(),
            slots: Vec::with_capacity(graph.arguments.len()),
            counters: [Vec::new(), Vec::new()],
            first: Vec::with_capacity(graph.objects.len()),
        };
        let values = layout.make_slots(graph, &seconds);
        layout.number_counters(graph.objects.len(), &values);
        layout
    }

    /// A slot for each argument, counters aside; what is told there: `[truth][round]`, 0 where the
    /// atom is not shown or says nothing.
    fn make_slots(&mut self, graph: &TaskGraph, seconds: &[[Colour; 2]]) -> Vec<[[u64; 2]; 2]> {
        let mut values = Vec::with_capacity(graph.arguments.len());
        for (atom, (firsts, seconds)) in graph.colours.iter().zip(seconds).enumerate() {
            for (position, slot) in graph.slots(atom).enumerate() {
                self.slots.push(Slot {
                    object: graph.arguments[slot],
                    counters: [[NONE; 2]; 2],
                });
                values.push([0, 1].map(|truth| {
                    if firsts[truth] == 0 || !graph.tells(atom) {
                        [0; 2]
                    } else {
                        [firsts[truth], seconds[truth]].map(|colour| told(colour, position))
                    }
                }));
            }
        }
        values
    }

    /// Gives every slot its counters: the slots of one object share those of equal values.
    fn number_counters(&mut self, objects: usize, values: &[[[u64; 2]; 2]]) {
        let mut order: Vec<u32> = (0..self.slots.len() as u32).collect();
        order.sort_by_key(|&slot| self.slots[slot as usize].object);
        let mut rest = order.as_slice();
        let mut distinct: Vec<u64> = Vec::new();
        for object in 0..objects as u32 {
            self.first.push((order.len() - rest.len()) as u32);
            let end = rest.partition_point(|&slot| self.slots[slot as usize].object == object);
            let (mine, behind) = rest.split_at(end);
            rest = behind;
            for round in [0, 1] {
                let told = mine.iter().flat_map(|&slot| values[slot as usize]);
                distinct.clear();
                distinct.extend(told.map(|rounds| rounds[round]).filter(|&v| v != 0));
                distinct.sort_unstable();
                distinct.dedup();
                let base = self.counters[round].len() as u32;
                for &slot in mine {
                    for (truth, rounds) in values[slot as usize].iter().enumerate() {
                        if let Ok(index) = distinct.binary_search(&rounds[round]) {
                            let counters = &mut self.slots[slot as usize].counters;
                            counters[truth][round] = base + index as u32;
                        }
                    }
                }
                let new = distinct.iter().map(|&value| Counter { value, count: 0 });
                self.counters[round].extend(new);
            }
        }
    }
}

/// The colour of an atom after one round: a constant, as the first colours of objects are.
fn after_one_round(graph: &TaskGraph, atom: usize, first: Colour) -> Colour {
    if first == 0 {
        return 0;
    }
    let arguments = graph.arguments[graph.slots(atom)].iter();
    arguments.fold(aged(first), |colour, &object| {
        mix(colour, graph.objects[object as usize])
    })
}
