//! What derived facts are defined by, and which of them depend on themselves.

use std::collections::HashMap;

use super::circuit::{Circuit, Node, NodeId};
use super::instantiate::Fact;
use crate::components::components;

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
        for (fact, list) in bodies.iter_mut().enumerate() {
            tidy(fact as Fact, list, circuit);
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

    /// The level of each fact: above those that it negates, not below those it asks for.
    ///
    /// # Errors
    ///
    /// With a circle of facts, each of which asks for the next, the first for the negation of the
    /// second; the last is the first again.
    pub(super) fn levels(&self, circuit: &Circuit) -> Result<Vec<u32>, Vec<Fact>> {
        let mut facts: Vec<Fact> = (0..self.bodies.len() as Fact).collect();
        facts.sort_by_key(|&fact| self.order[fact as usize]);
        let mut levels = vec![0u32; self.bodies.len()];
        let together =
            |one: &Fact, other: &Fact| self.order[*one as usize] == self.order[*other as usize];
        for component in facts.chunk_by(together) {
            let mut level = 0;
            for &fact in component {
                let mut circle = None;
                self.each_use(fact, circuit, &mut |used, positive| {
                    let within = together(&fact, &used);
                    if within && !positive {
                        circle = circle.or(Some(used));
                    }
                    if !within {
                        level = level.max(levels[used as usize] + u32::from(!positive));
                    }
                });
                if let Some(used) = circle {
                    return Err(self.circle(fact, used, circuit));
                }
            }
            for &fact in component {
                levels[fact as usize] = level;
            }
        }
        Ok(levels)
    }

    /// The derived facts that the axioms of a fact ask for, with their signs.
    fn each_use(&self, fact: Fact, circuit: &Circuit, found: &mut dyn FnMut(Fact, bool)) {
        for &body in self.bodies(fact) {
            literals(circuit, body, &mut |used, positive| {
                if !self.bodies.get(used as usize).is_none_or(Vec::is_empty) {
                    found(used, positive);
                }
            });
        }
    }

    /// The shortest way back to a fact from one of its component that it uses, the fact before it.
    fn circle(&self, fact: Fact, used: Fact, circuit: &Circuit) -> Vec<Fact> {
        let mut ways: Vec<(Fact, usize)> = vec![(used, usize::MAX)];
        let mut seen = std::collections::HashSet::from([used]);
        let mut next = 0;
        while ways[next].0 != fact {
            let at = ways[next].0;
            self.each_use(at, circuit, &mut |used, _| {
                if seen.insert(used) {
                    ways.push((used, next));
                }
            });
            next += 1;
        }
        let mut circle = Vec::new();
        while next != usize::MAX {
            circle.push(ways[next].0);
            next = ways[next].1;
        }
        circle.push(fact);
        circle.reverse();
        circle
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

/// The parts that a node is a conjunction of; it alone where it is none.
fn conjuncts<'c>(circuit: &'c Circuit, node: &'c NodeId) -> &'c [NodeId] {
    match circuit.get(*node) {
        Node::And(parts) => parts,
        _ => std::slice::from_ref(node),
    }
}

/// How often two bodies of one fact are compared, for each body it has.
const COMPARISONS: usize = 64;

/// Drops the bodies of a fact that derive nothing the others do not: those that ask for the fact
/// itself, and those that ask for all that another one asks for and more.
fn tidy(fact: Fact, bodies: &mut Vec<NodeId>, circuit: &Circuit) {
    bodies.sort_unstable();
    bodies.dedup();
    bodies.retain(|body| {
        let mut parts = conjuncts(circuit, body).iter();
        !parts.any(|&part| circuit.get(part) == Node::Literal(fact, true))
    });
    if bodies.len() < 2 {
        return;
    }
    // By part: the bodies that ask for it.
    let mut asking: HashMap<NodeId, Vec<usize>> = HashMap::new();
    for (at, body) in bodies.iter().enumerate() {
        for &part in conjuncts(circuit, body) {
            asking.entry(part).or_default().push(at);
        }
    }
    let mut left = COMPARISONS * bodies.len();
    let mut dropped = vec![false; bodies.len()];
    for (at, body) in bodies.iter().enumerate() {
        let parts = conjuncts(circuit, body);
        // A body without parts holds always.
        let rarest = parts
            .iter()
            .map(|part| &asking[part])
            .min_by_key(|list| list.len());
        let candidates: Vec<usize> = match rarest {
            Some(list) => list.clone(),
            None => (0..bodies.len()).collect(),
        };
        for other in candidates.into_iter().filter(|&other| other != at) {
            if left == 0 {
                break;
            }
            left -= 1;
            let all = conjuncts(circuit, &bodies[other]);
            dropped[other] |= parts.iter().all(|part| all.binary_search(part).is_ok());
        }
    }
    let mut at = 0;
    bodies.retain(|_| {
        at += 1;
        !dropped[at - 1]
    });
}

/// Every literal of a node.
fn literals(circuit: &Circuit, node: NodeId, found: &mut dyn FnMut(Fact, bool)) {
    match circuit.get(node) {
        Node::Literal(fact, positive) => found(fact, positive),
        Node::And(parts) | Node::Or(parts) => {
            for &part in parts {
                literals(circuit, part, found);
            }
        }
    }
}
