//! What derived facts are defined by, and which of them depend on themselves.

use super::circuit::{Circuit, Node, NodeId};
use super::instantiate::Fact;

/// What is known of the negation of a derived fact.
#[derive(Clone, Debug)]
enum Negation {
    Unknown,
    /// It never holds.
    Never,
    /// It holds where all of these do.
    Facts(Vec<Fact>),
}

/// The bodies of the axioms of each fact, none for facts that are not derived.
#[derive(Default)]
pub(super) struct Definitions {
    bodies: Vec<Vec<NodeId>>,
    /// By fact: its place in an order in which facts come after what they depend on.
    order: Vec<u32>,
    recursive: Vec<bool>,
    negations: Vec<Negation>,
}

impl Definitions {
    pub(super) fn new(
        mut bodies: Vec<Vec<NodeId>>,
        circuit: &Circuit,
        is_derived: impl Fn(Fact) -> bool,
    ) -> Self {
        for list in &mut bodies {
            list.sort_unstable();
            list.dedup();
        }
        let uses: Vec<Vec<Fact>> = bodies
            .iter()
            .map(|list| {
                let mut used = Vec::new();
                for &body in list {
                    literals(circuit, body, &mut |fact, _| {
                        if is_derived(fact) {
                            used.push(fact);
                        }
                    });
                }
                used.sort_unstable();
                used.dedup();
                used
            })
            .collect();
        let (order, recursive) = components(&uses);
        Self {
            negations: vec![Negation::Unknown; bodies.len()],
            bodies,
            order,
            recursive,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bodies.len()
    }

    pub(super) fn bodies(&self, fact: Fact) -> &[NodeId] {
        &self.bodies[fact as usize]
    }

    /// Whether a fact depends on itself.
    pub(super) fn is_recursive(&self, fact: Fact) -> bool {
        self.recursive[fact as usize]
    }

    /// The facts whose negations are to be written out for that of `fact`, in an order in which
    /// each comes after those it needs. Facts that depend on themselves are not among them.
    pub(super) fn negations_needed(&self, fact: Fact, circuit: &Circuit) -> Vec<Fact> {
        let is_open = |fact: Fact| {
            !self.recursive[fact as usize]
                && matches!(self.negations[fact as usize], Negation::Unknown)
        };
        let mut needed = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut open = vec![fact];
        while let Some(fact) = open.pop() {
            if !is_open(fact) || !seen.insert(fact) {
                continue;
            }
            needed.push(fact);
            for &body in self.bodies(fact) {
                literals(circuit, body, &mut |fact, positive| {
                    let is_derived = !self.bodies.get(fact as usize).is_none_or(Vec::is_empty);
                    if positive && is_derived {
                        open.push(fact);
                    }
                });
            }
        }
        needed.sort_unstable_by_key(|&fact| self.order[fact as usize]);
        needed
    }

    /// `None` where the negation never holds.
    pub(super) fn set_negation(&mut self, fact: Fact, facts: Option<Vec<Fact>>) {
        self.negations[fact as usize] = facts.map_or(Negation::Never, Negation::Facts);
    }

    /// What makes a fact false; `None` if nothing does.
    pub(super) fn negation(&self, fact: Fact) -> Option<&[Fact]> {
        match &self.negations[fact as usize] {
            Negation::Facts(facts) => Some(facts),
            Negation::Never => None,
            Negation::Unknown => unreachable!("it was asked for first"),
        }
    }
}

/// Every literal of a node.
fn literals(circuit: &Circuit, node: NodeId, found: &mut dyn FnMut(Fact, bool)) {
    match circuit.get(node) {
        Node::Literal(fact, positive) => found(*fact, *positive),
        Node::And(parts) | Node::Or(parts) => {
            for &part in parts {
                literals(circuit, part, found);
            }
        }
    }
}

/// Strongly connected components (Tarjan, with a stack of its own): the order in which they are
/// completed, and whether each node lies on a cycle.
fn components(uses: &[Vec<Fact>]) -> (Vec<u32>, Vec<bool>) {
    const NEW: u32 = u32::MAX;
    let mut index = vec![NEW; uses.len()];
    let mut low = vec![0u32; uses.len()];
    let mut on_stack = vec![false; uses.len()];
    let mut order = vec![0u32; uses.len()];
    let mut recursive = vec![false; uses.len()];
    let mut stack: Vec<Fact> = Vec::new();
    let mut calls: Vec<(Fact, usize)> = Vec::new();
    let (mut next, mut completed) = (0, 0);
    for start in 0..uses.len() as Fact {
        if index[start as usize] != NEW {
            continue;
        }
        calls.push((start, 0));
        while let Some(&mut (fact, ref mut at)) = calls.last_mut() {
            let here = fact as usize;
            if *at == 0 {
                index[here] = next;
                low[here] = next;
                next += 1;
                stack.push(fact);
                on_stack[here] = true;
            }
            if let Some(&used) = uses[here].get(*at) {
                *at += 1;
                recursive[here] |= used == fact;
                if index[used as usize] == NEW {
                    calls.push((used, 0));
                } else if on_stack[used as usize] {
                    low[here] = low[here].min(index[used as usize]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(caller, _)) = calls.last() {
                low[caller as usize] = low[caller as usize].min(low[here]);
            }
            if low[here] == index[here] {
                let several = stack.last() != Some(&fact);
                while let Some(member) = stack.pop() {
                    on_stack[member as usize] = false;
                    order[member as usize] = completed;
                    recursive[member as usize] |= several;
                    if member == fact {
                        break;
                    }
                }
                completed += 1;
            }
        }
    }
    (order, recursive)
}
