//! How a state is packed into words.
//!
//! Propositions that exclude one another share a variable: log2 of their number in bits instead of
//! a bit each. A proposition in no group is a variable of one bit. Conditions and effects become
//! masks over words, so that testing and applying an action are a few word operations.

use crate::apply::Full;
use crate::csr::Csr;
use crate::task::{ActionId, PropId, Task};
use crate::watch::{Pace, Stop, Watch};

/// Some bits of one word: `word & mask == value` as a condition, `word & !mask | value` as an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Masked {
    pub(crate) word: u32,
    pub(crate) mask: u32,
    pub(crate) value: u32,
}

impl Masked {
    #[inline]
    pub(crate) fn holds(self, state: &[u32]) -> bool {
        state[self.word as usize] & self.mask == self.value
    }

    #[inline]
    pub(crate) fn write(self, state: &mut [u32]) {
        let word = &mut state[self.word as usize];
        *word = *word & !self.mask | self.value;
    }
}

/// Where a variable stands in a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    pub(crate) word: u32,
    pub(crate) shift: u32,
    /// Mask of its bits, not shifted.
    pub(crate) mask: u32,
    /// Where its values start in the table of values.
    first_value: u32,
}

impl Variable {
    #[inline]
    pub(crate) fn value(&self, state: &[u32]) -> u32 {
        state[self.word as usize] >> self.shift & self.mask
    }
}

/// Words of a state that are copied without an allocation.
const FEW_WORDS: usize = 32;

/// Marks the value of a variable that makes no proposition true.
const NONE: u32 = u32::MAX;

/// How the states of a task are packed.
#[derive(Clone, Debug, Default)]
pub struct Encoding {
    words: usize,
    variables: Vec<Variable>,
    /// The proposition that each value of each variable makes true, or `NONE`.
    values: Vec<u32>,
    /// Variable and value that make each proposition true.
    place: Vec<(u32, u32)>,
    pub(crate) goal: Vec<Masked>,
    pub(crate) effects: Csr<Masked>,
    /// By bit of a state: its variable.
    variable_of_bit: Vec<u32>,
    /// Where there are conditional effects or axioms.
    pub(crate) full: Option<Box<Full>>,
}

impl Encoding {
    /// Packs the propositions of a task, given which of them exclude one another.
    pub(crate) fn new(
        task: &Task,
        groups: &[Vec<PropId>],
        watch: &mut dyn Watch,
    ) -> Result<Self, Stop> {
        let mut pace = Pace::building(watch, "state variables")?;
        let mut encoding = Self::default();
        let variables = match task.is_strips() {
            true => cover(task, groups, &mut pace)?,
            false => cover(task, &[groups, &pairs(task)].concat(), &mut pace)?,
        };
        encoding.lay_out(task.propositions.len(), &variables);
        encoding.goal = encoding.condition(&task.goal);
        let mut row = Vec::new();
        for action in task.actions() {
            pace.work(4)?;
            encoding.effect(task.del(action), task.add(action), &mut row);
            encoding.effects.push_row(row.iter().copied());
        }
        if !task.is_strips() {
            encoding.full = Some(Box::new(Full::new(task, &encoding)));
        }
        Ok(encoding)
    }

    /// Applies an action with conditional effects, and derives what follows.
    pub(crate) fn apply_in_full(&self, task: &Task, action: ActionId, state: &mut [u32]) {
        let full = self.full.as_deref().expect("made with the task's rules");
        let effects = task.effects.of(action.index());
        let mut few = [0; FEW_WORDS];
        let many: Vec<u32>;
        let old: &[u32] = if full.axioms.is_empty() {
            &[]
        } else if state.len() <= FEW_WORDS {
            few[..state.len()].copy_from_slice(state);
            &few[..state.len()]
        } else {
            many = state.to_vec();
            &many
        };
        if effects.is_empty() {
            for effect in self.effects.row(action.index()) {
                effect.write(state);
            }
        } else {
            full.apply(action.index(), effects, state);
        }
        if !full.axioms.is_empty() {
            full.axioms.close(self, old, state);
        }
    }

    /// What writes a proposition as false.
    pub(crate) fn falsity(&self, prop: PropId, complement: Option<PropId>) -> Masked {
        let (variable, value) = self.place[prop.index()];
        let other = match complement {
            // Both share a variable: one of the two is always true.
            Some(complement) => {
                let (shared, value) = self.place[complement.index()];
                assert_eq!(shared, variable, "a derived proposition and its complement");
                value
            }
            None => 0,
        };
        debug_assert_ne!(value, other);
        self.masked(variable, other)
    }

    /// What writes a proposition as true.
    pub(crate) fn truth(&self, prop: PropId) -> Masked {
        let (variable, value) = self.place[prop.index()];
        self.masked(variable, value)
    }

    /// Gives each variable its bits: the widest first, each into the first word with room.
    fn lay_out(&mut self, propositions: usize, variables: &[Planned]) {
        let mut order: Vec<usize> = (0..variables.len()).collect();
        let bits = |planned: &Planned| {
            let values = planned.members.len() + usize::from(planned.can_be_none);
            usize::BITS - (values - 1).leading_zeros()
        };
        order.sort_by_key(|&index| std::cmp::Reverse(bits(&variables[index])));
        let mut used: Vec<u32> = Vec::new();
        self.place = vec![(NONE, NONE); propositions];
        // Words with little room left are not looked at again.
        let mut first_open = 0;
        for index in order {
            let planned = &variables[index];
            let width = bits(planned);
            while first_open < used.len() && used[first_open] == u32::BITS {
                first_open += 1;
            }
            let word = (first_open..used.len())
                .find(|&word| used[word] + width <= u32::BITS)
                .unwrap_or_else(|| {
                    used.push(0);
                    used.len() - 1
                });
            let variable = self.variables.len() as u32;
            self.variables.push(Variable {
                word: word as u32,
                shift: used[word],
                mask: ((1u64 << width) - 1) as u32,
                first_value: self.values.len() as u32,
            });
            used[word] += width;
            // Value 0 is `NONE` where that can be, so that an empty word is an empty state.
            if planned.can_be_none {
                self.values.push(NONE);
            }
            for &prop in &planned.members {
                let value =
                    self.values.len() as u32 - self.variables[variable as usize].first_value;
                self.place[prop.index()] = (variable, value);
                self.values.push(prop.0);
            }
        }
        self.words = used.len();
        self.number_bits();
    }

    fn number_bits(&mut self) {
        self.variable_of_bit = vec![NONE; self.words * u32::BITS as usize];
        for (index, variable) in self.variables.iter().enumerate() {
            let first = variable.word as usize * u32::BITS as usize + variable.shift as usize;
            let bits = first..first + variable.mask.count_ones() as usize;
            self.variable_of_bit[bits].fill(index as u32);
        }
    }

    /// The number of words of a state.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The number of variables.
    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    pub(crate) fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Variable and value that make a proposition true.
    pub(crate) fn place(&self, prop: PropId) -> (usize, u32) {
        let (variable, value) = self.place[prop.index()];
        (variable as usize, value)
    }

    /// The proposition that a value of a variable is; the value that stands for none of them is none.
    pub(crate) fn prop(&self, variable: usize, value: u32) -> Option<PropId> {
        let variable = &self.variables[variable];
        let prop = self.values[(variable.first_value + value) as usize];
        (prop != NONE).then_some(PropId(prop))
    }

    /// The variables that have one of these bits of a word.
    #[inline]
    pub(crate) fn variables_in(&self, word: usize, mut bits: u32) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros())?;
            let variable = self.variable_of_bit[word * u32::BITS as usize + bit as usize];
            let Variable { shift, mask, .. } = self.variables[variable as usize];
            bits &= !(mask << shift);
            Some(variable)
        })
    }

    /// The proposition of a variable that is true in a state, if one is.
    #[inline]
    pub(crate) fn true_prop(&self, variable: u32, state: &[u32]) -> Option<PropId> {
        self.prop(
            variable as usize,
            self.variables[variable as usize].value(state),
        )
    }

    fn masked(&self, variable: u32, value: u32) -> Masked {
        let variable = self.variables[variable as usize];
        Masked {
            word: variable.word,
            mask: variable.mask << variable.shift,
            value: value << variable.shift,
        }
    }

    /// Packs a set of propositions.
    ///
    /// # Panics
    ///
    /// If two of them exclude one another.
    pub fn pack(&self, props: &[PropId]) -> Vec<u32> {
        let mut state = vec![0; self.words];
        let mut set = vec![false; self.variables.len()];
        for prop in props {
            let (variable, value) = self.place[prop.index()];
            assert!(
                !std::mem::replace(&mut set[variable as usize], true),
                "propositions that exclude one another"
            );
            let masked = self.masked(variable, value);
            state[masked.word as usize] |= masked.value;
        }
        state
    }

    /// Appends the propositions true in a state, in no particular order.
    #[inline]
    pub fn unpack(&self, state: &[u32], into: &mut Vec<PropId>) {
        for variable in &self.variables {
            let prop = self.values[(variable.first_value + variable.value(state)) as usize];
            if prop != NONE {
                into.push(PropId(prop));
            }
        }
    }

    /// Appends the propositions whose truth differs between two states, in no particular order.
    #[inline]
    pub fn difference(&self, old: &[u32], new: &[u32], into: &mut Vec<PropId>) {
        for (word, (old_word, new_word)) in old.iter().zip(new).enumerate() {
            for variable in self.variables_in(word, old_word ^ new_word) {
                let props = [old, new].map(|state| self.true_prop(variable, state));
                into.extend(props.into_iter().flatten());
            }
        }
    }

    /// Whether a proposition is true in a state.
    #[inline]
    pub fn holds(&self, prop: PropId, state: &[u32]) -> bool {
        let (variable, value) = self.place[prop.index()];
        self.variables[variable as usize].value(state) == value
    }

    /// A conjunction as masks, one a word.
    pub(crate) fn condition(&self, props: &[PropId]) -> Vec<Masked> {
        let mut masks: Vec<Masked> = Vec::new();
        for prop in props {
            let (variable, value) = self.place[prop.index()];
            merge(&mut masks, self.masked(variable, value));
        }
        masks
    }

    pub(crate) fn effect(&self, del: &[PropId], add: &[PropId], masks: &mut Vec<Masked>) {
        masks.clear();
        for prop in add {
            let (variable, value) = self.place[prop.index()];
            merge(masks, self.masked(variable, value));
        }
        for prop in del {
            let (variable, _) = self.place[prop.index()];
            let set = add
                .iter()
                .any(|added| self.place[added.index()].0 == variable);
            if !set {
                merge(masks, self.masked(variable, 0));
            }
        }
    }
}

fn merge(masks: &mut Vec<Masked>, new: Masked) {
    match masks.iter_mut().find(|masked| masked.word == new.word) {
        // Two different values of one variable: kept apart, so that the condition never holds.
        Some(masked) if masked.mask & new.mask & (masked.value ^ new.value) != 0 => masks.push(new),
        Some(masked) => {
            masked.mask |= new.mask;
            masked.value |= new.value;
        }
        None => masks.push(new),
    }
}

/// Propositions with their complements: one of the two is always true.
fn pairs(task: &Task) -> Vec<Vec<PropId>> {
    let mut atoms = std::collections::HashMap::new();
    let mut pairs = Vec::new();
    // Atoms come before complements.
    for (index, prop) in task.propositions.iter().enumerate() {
        if prop.is_helper {
            continue;
        } else if prop.positive {
            atoms.insert(&prop.atom, PropId::from_index(index));
        } else if let Some(&atom) = atoms.get(&prop.atom) {
            pairs.push(vec![atom, PropId::from_index(index)]);
        }
    }
    pairs
}

/// A variable before it has its bits.
struct Planned {
    members: Vec<PropId>,
    can_be_none: bool,
}

/// Chooses groups that cover the propositions, the largest first, and gives a bit to the rest.
fn cover(task: &Task, groups: &[Vec<PropId>], pace: &mut Pace<'_>) -> Result<Vec<Planned>, Stop> {
    let mut covered = vec![false; task.propositions.len()];
    let mut planned = Vec::new();
    let mut uncovered: Vec<usize> = groups.iter().map(Vec::len).collect();
    let containing = Csr::from_pairs(task.propositions.len(), 0u32, || {
        groups
            .iter()
            .enumerate()
            .flat_map(|(index, group)| group.iter().map(move |prop| (prop.index(), index as u32)))
    });
    let mut queue: std::collections::BTreeSet<(std::cmp::Reverse<usize>, usize)> = uncovered
        .iter()
        .enumerate()
        .map(|(index, &size)| (std::cmp::Reverse(size), index))
        .collect();
    let usage = Usage::new(task);
    while let Some((std::cmp::Reverse(size), index)) = queue.pop_first() {
        if size < 2 {
            break;
        }
        let members: Vec<PropId> = groups[index]
            .iter()
            .copied()
            .filter(|prop| !covered[prop.index()])
            .collect();
        let variable = usage.variable(&groups[index], members, pace)?;
        for prop in &variable.members {
            covered[prop.index()] = true;
            for &other in containing.row(prop.index()) {
                let other = other as usize;
                if queue.remove(&(std::cmp::Reverse(uncovered[other]), other)) {
                    uncovered[other] -= 1;
                    queue.insert((std::cmp::Reverse(uncovered[other]), other));
                }
            }
        }
        if !variable.members.is_empty() {
            planned.push(variable);
        }
    }
    for (prop, _) in covered.iter().enumerate().filter(|(_, covered)| !**covered) {
        planned.push(Planned {
            members: vec![PropId::from_index(prop)],
            can_be_none: true,
        });
    }
    Ok(planned)
}

/// Which rules delete a proposition: actions, and conditional effects for themselves.
struct Usage<'a> {
    task: &'a Task,
    deleters: Csr<u32>,
}

impl<'a> Usage<'a> {
    fn new(task: &'a Task) -> Self {
        // Axioms come last and delete nothing.
        let rules = task.action_count() + task.effects.condition.len();
        let deleters = Csr::from_pairs(task.propositions.len(), 0u32, || {
            (0..rules).flat_map(|rule| {
                let props = task.rule_del(rule).iter();
                props.map(move |prop| (prop.index(), rule as u32))
            })
        });
        Self { task, deleters }
    }

    /// Makes a variable of those members of a group whose deletion is always certain.
    ///
    /// An action that deletes p sets the variable to "none". That is right if p is known to be the
    /// true one: it is a precondition, or the action adds another member of the group (the one true
    /// before is then gone). Where neither holds, p gets a bit of its own.
    fn variable(
        &self,
        group: &[PropId],
        members: Vec<PropId>,
        pace: &mut Pace<'_>,
    ) -> Result<Planned, Stop> {
        let in_group = |prop: &PropId| group.binary_search(prop).is_ok();
        let mut certain = Vec::with_capacity(members.len());
        for prop in members {
            let deleters = self.deleters.row(prop.index());
            pace.work(4 * deleters.len() + 1)?;
            let is_certain = deleters.iter().all(|&rule| {
                let rule = rule as usize;
                let pre = self.task.rule_pre().row(rule);
                pre.binary_search(&prop).is_ok()
                    || self.task.rule_add().row(rule).iter().any(in_group)
            });
            if is_certain {
                certain.push(prop);
            }
        }
        let members = certain;
        let is_member = |prop: &PropId| members.binary_search(prop).is_ok();
        let starts_none = !self.task.init.iter().any(is_member);
        let mut becomes_none = false;
        for prop in &members {
            let deleters = self.deleters.row(prop.index());
            pace.work(4 * deleters.len() + 1)?;
            becomes_none |= deleters.iter().any(|&rule| {
                let added = self.task.rule_add().row(rule as usize);
                !added.iter().any(is_member)
            });
            if becomes_none {
                break;
            }
        }
        Ok(Planned {
            can_be_none: starts_none || becomes_none,
            members,
        })
    }
}
