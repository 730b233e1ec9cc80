//! The state space of a training problem, as far as it was met: states, each with its successors
//! and its base heuristic, computed once; and the encodings of those in the replay memory.

use homing_nlm::Structure;
use homing_planner::{
    ActionId, Costs, Estimate, Heuristic, HeuristicKind, Registry, StateId, SuccessorGenerator,
    Task,
};

use crate::encode::{Channels, Encoder};
use crate::encodings::Encodings;
use crate::shaping::Mdp;

/// A way from one state to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Successor {
    pub(crate) node: u32,
    pub(crate) cost: u32,
}

/// What is known of a state, whatever the network says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// h(s), undiscounted; infinite for a dead end.
    pub(crate) h: f64,
    /// φ(s)
    pub(crate) potential: f64,
    pub(crate) is_goal: bool,
    /// Where its successors are, once they have been asked for.
    successors: Option<SuccessorRange>,
    /// The target network's residual, and the network it is of (0: none).
    pub(crate) target: f32,
    pub(crate) target_version: u32,
}

/// A state of a training run: a problem's state space and the node in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) space: u32,
    pub(crate) node: u32,
}

/// Where the successors of a node are in the list of all.
#[derive(Clone, Copy, Debug)]
struct SuccessorRange {
    first: u32,
    end: u32,
}

/// The states of a problem met so far.
pub(crate) struct StateSpace<'t> {
    pub(crate) task: &'t Task,
    pub(crate) bucket: usize,
    costs: Costs,
    mdp: Mdp,
    encoder: Encoder,
    encodings: Encodings,
    generator: SuccessorGenerator,
    heuristic: Box<dyn Heuristic + Send + 't>,
    /// Blind takes a deadlock for any other state; the delete relaxation of one has no plan, so
    /// that the other heuristics know it.
    sees_no_deadlocks: bool,
    registry: Registry,
    nodes: Vec<Node>,
    successors: Vec<Successor>,
    actions: Vec<ActionId>,
    applicable: Vec<ActionId>,
    estimates: Vec<Estimate>,
    words: Vec<u32>,
}

pub(crate) const INITIAL: u32 = 0;

impl<'t> StateSpace<'t> {
    pub(crate) fn new(
        task: &'t Task,
        bucket: usize,
        heuristic: HeuristicKind,
        costs: Costs,
        mdp: Mdp,
        channels: &Channels,
    ) -> Self {
        let mut space = Self {
            task,
            bucket,
            costs,
            mdp,
            encoder: Encoder::new(task, channels),
            encodings: Encodings::default(),
            generator: SuccessorGenerator::new(task),
            heuristic: heuristic.build(task, costs),
            registry: Registry::new(task.encoding().words()),
            nodes: Vec::new(),
            successors: Vec::new(),
            sees_no_deadlocks: !heuristic.sees_deadlocks(),
            actions: Vec::new(),
            applicable: Vec::new(),
            estimates: Vec::new(),
            words: Vec::new(),
        };
        space.node_of(&task.initial_state());
        space
    }

    pub(crate) fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    pub(crate) fn node_mut(&mut self, node: u32) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    pub(crate) fn state(&self, node: u32) -> &[u32] {
        self.registry.state(StateId(node))
    }

    /// The node of a packed state, made if there is none.
    pub(crate) fn node_of(&mut self, state: &[u32]) -> u32 {
        let (id, is_new) = self.registry.insert(state);
        if is_new {
            self.describe_new();
        }
        id.0
    }

    /// Evaluates the states stored since the last call.
    fn describe_new(&mut self) {
        let from = StateId::from_index(self.nodes.len());
        let states = self.registry.range(from, self.registry.next_id());
        self.estimates.clear();
        self.heuristic.evaluate(states, &mut self.estimates);
        for (state, estimate) in states.iter().zip(&self.estimates) {
            let is_goal = self.task.is_goal(state);
            let mut h = estimate.finite().unwrap_or(f64::INFINITY);
            if self.sees_no_deadlocks && !is_goal {
                self.generator.applicable(state, &mut self.applicable);
                if self.applicable.is_empty() {
                    h = f64::INFINITY;
                }
            }
            self.nodes.push(Node {
                h,
                potential: if h.is_finite() {
                    self.mdp.potential(h, is_goal)
                } else {
                    f64::NAN
                },
                is_goal,
                successors: None,
                target: 0.0,
                target_version: 0,
            });
        }
    }

    /// The successors of a state in the order of actions, dead ends left out.
    pub(crate) fn expand(&mut self, node: u32) -> &[Successor] {
        let SuccessorRange { first, end } = match self.nodes[node as usize].successors {
            Some(range) => range,
            None => {
                let range = self.find_successors(node);
                self.nodes[node as usize].successors = Some(range);
                range
            }
        };
        &self.successors[first as usize..end as usize]
    }

    fn find_successors(&mut self, node: u32) -> SuccessorRange {
        let first = self.successors.len() as u32;
        self.generator
            .applicable(self.registry.state(StateId(node)), &mut self.actions);
        for index in 0..self.actions.len() {
            let action = self.actions[index];
            self.words.clear();
            self.words
                .extend_from_slice(self.registry.state(StateId(node)));
            self.task.apply(action, &mut self.words);
            let (id, _) = self.registry.insert(&self.words);
            self.successors.push(Successor {
                node: id.0,
                cost: self.costs.of(self.task, action),
            });
        }
        self.describe_new();
        let nodes = &self.nodes;
        let mut kept = first as usize;
        for index in first as usize..self.successors.len() {
            if nodes[self.successors[index].node as usize].h.is_finite() {
                self.successors[kept] = self.successors[index];
                kept += 1;
            }
        }
        self.successors.truncate(kept);
        SuccessorRange {
            first,
            end: kept as u32,
        }
    }

    /// Whether there is provably no way on: a dead end, or all successors are. A goal is none.
    pub(crate) fn is_dead(&mut self, node: u32) -> bool {
        let known = *self.node(node);
        !known.is_goal && (!known.h.is_finite() || self.expand(node).is_empty())
    }

    /// Encodes a state that enters the replay memory and its successors, where that is not done.
    /// A goal's successors are never asked for.
    pub(crate) fn enter(&mut self, node: u32) {
        if !self.node(node).is_goal {
            self.expand(node);
        }
        self.for_each_encoded(node, |space, node| {
            space.encodings.keep(node, |encoding| {
                let state = space.registry.state(StateId(node));
                space.encoder.append(space.task, state, encoding);
            });
        });
    }

    /// Forgets the encodings that only this state, which leaves the replay memory, had use for.
    pub(crate) fn leave(&mut self, node: u32) {
        self.for_each_encoded(node, |space, node| space.encodings.release(node));
    }

    /// A stored state, and its successors if they are known: those of a goal are not.
    fn for_each_encoded(&mut self, node: u32, mut act: impl FnMut(&mut Self, u32)) {
        act(self, node);
        if self.node(node).is_goal {
            return;
        }
        for index in 0..self.expand(node).len() {
            let successor = self.expand(node)[index].node;
            act(self, successor);
        }
    }

    /// Writes the encoding of a stored state or of a successor of one into `structure`.
    pub(crate) fn encode(&self, node: u32, structure: &mut Structure) {
        self.encoder.decode(self.encodings.of(node), structure);
    }
}

#[cfg(test)]
mod tests {
    use homing_pddl::{Source, read_problem};

    use super::*;
    use crate::config::Reward;
    use crate::signature::Signature;

    /// Down the shaft without the rope nothing can be done any more. Its value is never learnt, so
    /// that it must not be taken for a way on.
    #[test]
    fn no_heuristic_walks_into_a_deadlock() {
        let read = |name: &str| {
            let folder = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../fixtures/valid/dead-ends"
            );
            let text = std::fs::read(format!("{folder}/{name}")).expect("a fixture");
            Source::new(name, text)
        };
        let (problem, _) = read_problem(&read("domain.pddl"), &read("p01.pddl"));
        let problem = std::sync::Arc::new(problem.expect("a problem"));
        let task = homing_planner::ground(&problem, &mut ()).expect("it has a plan");
        let channels = Channels::new(&Signature::of(&problem.domain), false, false);
        let mdp = Mdp {
            gamma: 0.999,
            reward: Reward::Cost,
        };
        for heuristic in HeuristicKind::ALL {
            let mut space = StateSpace::new(&task, 0, heuristic, Costs::Unit, mdp, &channels);
            let names: Vec<String> = space
                .expand(INITIAL)
                .iter()
                .map(|successor| successor.node)
                .collect::<Vec<u32>>()
                .into_iter()
                .map(|node| {
                    let mut props = Vec::new();
                    task.encoding().unpack(space.state(node), &mut props);
                    let held = props.iter().map(|prop| {
                        let atom = &task.propositions()[prop.index()].atom;
                        let objects = atom.arguments.iter();
                        let names = objects.map(|o| problem.objects[o.index()].name.as_str());
                        names.collect::<Vec<_>>().join(" ")
                    });
                    held.collect::<Vec<_>>().join(",")
                })
                .collect();
            // To the hut, not down the shaft.
            assert_eq!(names.len(), 1, "{heuristic:?}: {names:?}");
            assert!(!names[0].contains("shaft-floor"), "{names:?}");
            assert!(!space.is_dead(INITIAL));
        }
    }
}
