//! States and goals as the network sees them (paper, Sec. "Value Function as NLMs").
//!
//! Each predicate of arity n is a channel of the array z/n: first for what is true in the state,
//! static propositions included, then once more for what the goal wants. Types may be added as
//! unary predicates that never change.

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
    /// By type, `object` left out; empty if the network is not to know them.
    types: Vec<usize>,
    /// By arity.
    count: Vec<usize>,
}

impl Channels {
    /// The channels of a domain's predicates, and of its types if the network is to know them.
    pub fn new(signature: &Signature, types_as_predicates: bool) -> Self {
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
        Self {
            state,
            goal_offset,
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

    fn goal(&self, predicate: PredicateId, arity: usize) -> usize {
        self.goal_offset[arity] + self.state[predicate.index()]
    }
}

/// A proposition as the network sees it.
struct Input {
    channel: usize,
    objects: Vec<usize>,
}

/// Encodes the states of one task.
pub struct Encoder {
    /// What every state shares: static propositions, types, the goal.
    fixed: Structure,
    /// By proposition of the task; `None` for those that another one speaks for.
    inputs: Vec<Option<(Input, bool)>>,
    props: Vec<PropId>,
    holds: Vec<bool>,
}

fn objects(atom: &Atom<ObjectId>) -> Vec<usize> {
    atom.arguments.iter().map(|object| object.index()).collect()
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
        for literal in problem
            .goal
            .literals
            .iter()
            .filter(|literal| literal.positive)
        {
            let objects = objects(&literal.atom);
            fixed.insert(
                channels.goal(literal.atom.predicate, objects.len()),
                &objects,
            );
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
        let inputs = task
            .propositions()
            .iter()
            .map(|proposition| {
                // A complement speaks for its atom only where the atom itself was left out.
                let speaks = proposition.positive || !has_positive.contains(&proposition.atom);
                speaks.then(|| {
                    let input = Input {
                        channel: channels.state(proposition.atom.predicate),
                        objects: objects(&proposition.atom),
                    };
                    (input, proposition.positive)
                })
            })
            .collect::<Vec<_>>();
        Self {
            fixed,
            holds: vec![false; inputs.len()],
            inputs,
            props: Vec::new(),
        }
    }

    /// Writes a packed state into `structure`.
    pub fn encode(&mut self, task: &Task, state: &[u32], structure: &mut Structure) {
        structure.clone_from(&self.fixed);
        self.props.clear();
        task.encoding().unpack(state, &mut self.props);
        for prop in &self.props {
            self.holds[prop.index()] = true;
        }
        for (input, holds) in self.inputs.iter().zip(&mut self.holds) {
            let holds = std::mem::take(holds);
            if let Some((input, when)) = input
                && holds == *when
            {
                structure.insert(input.channel, &input.objects);
            }
        }
    }
}
