//! States and goals as the network sees them (paper, Sec. "Value Function as NLMs").
//!
//! Each predicate of arity n is a channel of the array z/n: first for what is true in the state,
//! static propositions included, then once more for what the goal wants. Types may be added as
//! unary predicates that never change. In domains whose goals say what must not hold, each predicate
//! is a channel a third time, for that.

use homing_nlm::Structure;
use homing_pddl::model::{Atom, ObjectId, PredicateId, TypeId};
use homing_planner::{PropId, Task};

use crate::signature::Signature;

/// Which channel a predicate has, in the array of its arity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// By predicate; a goal's channel comes `goal_offset` later.
    state: Vec<usize>,
    /// By arity.
    goal_offset: Vec<usize>,
    /// By arity, where what a goal forbids has channels of its own.
    negative_goal_offset: Option<Vec<usize>>,
    /// By type, `object` left out; empty if the network is not to know them.
    types: Vec<usize>,
    /// By arity.
    count: Vec<usize>,
}

impl Channels {
    /// The channels of a domain's predicates, and of its types if the network is to know them.
    pub fn new(signature: &Signature, types_as_predicates: bool, negative_goals: bool) -> Self {
        let arities = || signature.predicates.iter().map(|(_, arity)| *arity);
        let widest = arities()
            .chain(types_as_predicates.then_some(1))
            .max()
            .unwrap_or(0);
        let mut count = vec![0; widest + 1];
        let mut next = |arity: usize| {
            count[arity] += 1;
            count[arity] - 1
        };
        let state: Vec<usize> = arities().map(&mut next).collect();
        let types: Vec<usize> = if types_as_predicates {
            signature.types.iter().map(|_| next(1)).collect()
        } else {
            Vec::new()
        };
        // A goal never asks for a type: its channels are those of the predicates alone.
        let goal_offset = count.clone();
        arities().for_each(|arity| count[arity] += 1);
        // Last, so that all others stand where they stand without these.
        let negative_goal_offset = negative_goals.then(|| count.clone());
        if negative_goals {
            arities().for_each(|arity| count[arity] += 1);
        }
        Self {
            state,
            goal_offset,
            negative_goal_offset,
            types,
            count,
        }
    }

    /// The number of channels of each arity.
    pub fn count(&self) -> &[usize] {
        &self.count
    }

    fn state(&self, predicate: PredicateId) -> usize {
        self.state[predicate.index()]
    }

    /// The channel of an atom that the goal wants, or forbids; `None` where it has none.
    fn goal(&self, predicate: PredicateId, arity: usize, wanted: bool) -> Option<usize> {
        let offset = match wanted {
            true => &self.goal_offset,
            false => self.negative_goal_offset.as_ref()?,
        };
        Some(offset[arity] + self.state[predicate.index()])
    }
}

/// The propositions of one arity that may change.
#[derive(Default)]
struct Inputs {
    /// The proposition of the task that decides, and whether it must hold or not.
    when: Vec<(u32, bool)>,
    /// What the network is told then, flat: `[channel, x_1, ..., x_n]` for each of `when`.
    rows: Vec<u16>,
}

/// Encodes the states of one task.
pub struct Encoder {
    /// What every state shares: static propositions, types, the goal.
    fixed: Structure,
    /// By arity.
    inputs: Vec<Inputs>,
    props: Vec<PropId>,
    holds: Vec<bool>,
    encoding: Vec<u16>,
}

fn objects(atom: &Atom<ObjectId>) -> Vec<usize> {
    atom.arguments.iter().map(|object| object.index()).collect()
}

/// What the goal says of atoms, and whether it wants them or forbids them: its literals, then what
/// the rest of it became in grounding.
pub(crate) fn goal_literals(task: &Task) -> Vec<(&Atom<ObjectId>, bool)> {
    let literals = task.problem().goal.literals.iter();
    let mut all: Vec<(&Atom<ObjectId>, bool)> = literals.map(|l| (&l.atom, l.positive)).collect();
    if !task.problem().goal.formulas.is_empty() {
        let mut known: std::collections::HashSet<_> = all.iter().copied().collect();
        for prop in task.goal_parts() {
            let proposition = &task.propositions()[prop.index()];
            let literal = (&proposition.atom, proposition.positive);
            if known.insert(literal) {
                all.push(literal);
            }
        }
    }
    all
}

/// Whether the goal of a task forbids anything.
pub(crate) fn has_negative_goals(task: &Task) -> bool {
    goal_literals(task).iter().any(|(_, wanted)| !wanted)
}

impl Encoder {
    /// For a task of the domain that the channels were made for.
    pub fn new(task: &Task, channels: &Channels) -> Self {
        let problem = task.problem();
        // A network has no arrays of no objects: one of which nothing is true stands in.
        let mut fixed = Structure::new(problem.objects.len().max(1));
        for atom in task.statics() {
            fixed.insert(channels.state(atom.predicate), &objects(atom));
        }
        for (atom, wanted) in goal_literals(task) {
            let objects = objects(atom);
            if let Some(channel) = channels.goal(atom.predicate, objects.len(), wanted) {
                fixed.insert(channel, &objects);
            }
        }
        for (index_of_type, channel) in channels.types.iter().enumerate() {
            let wanted = TypeId::from_index(index_of_type + 1);
            for (index, object) in problem.objects.iter().enumerate() {
                if problem.domain.fits(&object.types, &[wanted]) {
                    fixed.insert(*channel, &[index]);
                }
            }
        }
        let has_positive: std::collections::HashSet<&Atom<ObjectId>> = task
            .propositions()
            .iter()
            .filter(|p| p.positive)
            .map(|p| &p.atom)
            .collect();
        let mut inputs: Vec<Inputs> = Vec::new();
        for (index, proposition) in task.propositions().iter().enumerate() {
            // A helper says nothing that others do not. A complement speaks for its atom only where
            // the atom itself was left out.
            if proposition.is_helper
                || (!proposition.positive && has_positive.contains(&proposition.atom))
            {
                continue;
            }
            let objects = objects(&proposition.atom);
            if inputs.len() <= objects.len() {
                inputs.resize_with(objects.len() + 1, Inputs::default);
            }
            let inputs = &mut inputs[objects.len()];
            inputs.when.push((index as u32, proposition.positive));
            let channel = channels.state(proposition.atom.predicate);
            let row = std::iter::once(channel).chain(objects);
            inputs.rows.extend(row.map(|number| {
                // As `Structure` takes them.
                u16::try_from(number).expect("channels and objects fit 16 bits")
            }));
        }
        Self {
            fixed,
            inputs,
            props: Vec::new(),
            holds: vec![false; task.propositions().len()],
            encoding: Vec::new(),
        }
    }

    /// Writes a packed state into `structure`.
    pub fn encode(&mut self, task: &Task, state: &[u32], structure: &mut Structure) {
        let mut encoding = std::mem::take(&mut self.encoding);
        encoding.clear();
        self.append(task, state, &mut encoding);
        self.decode(&encoding, structure);
        self.encoding = encoding;
    }

    /// Appends what a packed state does not share with all others, flat: for each arity that may
    /// change the number of propositions (low half, high half), then so many rows `[channel, x_1,
    /// ..., x_n]`.
    pub(crate) fn append(&mut self, task: &Task, state: &[u32], encoding: &mut Vec<u16>) {
        self.props.clear();
        task.encoding().unpack(state, &mut self.props);
        for prop in &self.props {
            self.holds[prop.index()] = true;
        }
        for (arity, inputs) in self.inputs.iter().enumerate() {
            let head = encoding.len();
            encoding.extend([0, 0]);
            let mut count = 0_u32;
            for (&(prop, when), row) in inputs.when.iter().zip(inputs.rows.chunks_exact(arity + 1))
            {
                if self.holds[prop as usize] == when {
                    encoding.extend_from_slice(row);
                    count += 1;
                }
            }
            encoding[head] = count as u16;
            encoding[head + 1] = (count >> 16) as u16;
        }
        for prop in &self.props {
            self.holds[prop.index()] = false;
        }
    }

    /// Writes what [`append`](Self::append) made of a state into `structure`.
    pub(crate) fn decode(&self, encoding: &[u16], structure: &mut Structure) {
        structure.clone_from(&self.fixed);
        let mut rest = encoding;
        for arity in 0..self.inputs.len() {
            let count = usize::from(rest[0]) | usize::from(rest[1]) << 16;
            let (rows, behind) = rest[2..].split_at(count * (arity + 1));
            structure.extend(arity, rows);
            rest = behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use homing_pddl::{Source, read_problem};

    use super::*;

    fn task(goal: &str) -> Task {
        let domain = "(define (domain lamps) (:requirements :adl) (:predicates (on ?x) (hot))
          (:action press :parameters (?x) :effect (and (hot) (when (on ?x) (not (on ?x)))
            (when (not (on ?x)) (on ?x)))))";
        let problem = format!(
            "(define (problem p) (:domain lamps) (:objects a b) (:init (on a)) (:goal {goal}))"
        );
        let source = |text: &str| Source::new("file", text.as_bytes().to_vec());
        let (problem, messages) = read_problem(&source(domain), &source(&problem));
        let problem = Arc::new(problem.unwrap_or_else(|| panic!("{messages}")));
        homing_planner::ground(&problem, &mut ()).expect("it has a plan")
    }

    fn encoded(task: &Task, channels: &Channels) -> Structure {
        let mut structure = Structure::new(task.problem().objects.len());
        let mut encoder = Encoder::new(task, channels);
        encoder.encode(task, &task.initial_state(), &mut structure);
        structure
    }

    #[test]
    fn what_a_goal_forbids_has_channels_where_there_is_such_a_goal() {
        let wanted = task("(and (on b) (hot))");
        let forbidden = task("(and (on b) (not (on a)))");
        assert!(!has_negative_goals(&wanted) && has_negative_goals(&forbidden));
        let signature = Signature::of(&wanted.problem().domain);
        let (plain, with) = (
            Channels::new(&signature, false, false),
            Channels::new(&signature, false, true),
        );
        assert_eq!((plain.count(), with.count()), (&[2, 2][..], &[3, 3][..]));
        let unary = |structure: &Structure| {
            let all = structure.propositions(1);
            let mut all: Vec<_> = all.map(|(channel, o)| (channel, o.to_vec())).collect();
            all.sort();
            all
        };
        // True is a, wanted b; that a is forbidden is said in the last channel, and nothing moves.
        let mut expected = vec![(0, vec![0]), (1, vec![1])];
        assert_eq!(unary(&encoded(&forbidden, &plain)), expected);
        expected.push((2, vec![0]));
        assert_eq!(unary(&encoded(&forbidden, &with)), expected);
    }

    #[test]
    fn a_goal_that_is_no_conjunction_shows_what_it_is_made_of() {
        let channels = Channels::new(&Signature::of(&task("(hot)").problem().domain), false, true);
        let every = task("(forall (?x) (not (on ?x)))");
        let listed = task("(and (not (on a)) (not (on b)))");
        assert_eq!(encoded(&every, &channels), encoded(&listed, &channels));
        let some = task("(or (and (on b) (hot)) (not (on a)))");
        let parts = task("(and (on b) (hot) (not (on a)))");
        assert_eq!(encoded(&some, &channels), encoded(&parts, &channels));
    }
}
