//! Ground conditions as a graph of conjunctions and disjunctions over facts, each stored once.
//!
//! Formulas are instantiated against what can be reached: a fact that is out of reach is false, one
//! that holds from the start and is never deleted is true. Quantifiers go over the objects of their
//! types, but where a literal decides for most objects (`(imply (requires ?x ?y) ...)`), over the
//! facts that match it only.

use std::collections::HashMap;

use hashbrown::HashTable;
use homing_pddl::Problem;
use homing_pddl::model::{Equality, Formula, Literal, ObjectId, Parameter, Term};

use super::instantiate::Fact;
use super::reach::Reachable;
use crate::hash::hash_words;

/// A node of the circuit.
pub(super) type NodeId = u32;

/// What a node says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node<'c> {
    /// A fact, or its negation.
    Literal(Fact, bool),
    /// Sorted; none of them a conjunction. Empty: true.
    And(&'c [NodeId]),
    /// Sorted; none of them a disjunction. Empty: false.
    Or(&'c [NodeId]),
}

pub(super) const TRUE: NodeId = 0;
pub(super) const FALSE: NodeId = 1;

/// A literal that has no node yet.
const NONE: NodeId = NodeId::MAX;

/// A node as it is stored: parts stand in one list for all of them.
#[derive(Clone, Copy)]
enum Stored {
    Literal(Fact, bool),
    And { start: u32, end: u32 },
    Or { start: u32, end: u32 },
}

/// The nodes so far.
pub(super) struct Circuit {
    nodes: Vec<Stored>,
    parts: Vec<NodeId>,
    /// Conjunctions and disjunctions by what they say.
    index: HashTable<NodeId>,
    /// By fact: its node, and that of its negation.
    literals: Vec<[NodeId; 2]>,
}

impl Default for Circuit {
    fn default() -> Self {
        let mut circuit = Self {
            nodes: Vec::new(),
            parts: Vec::new(),
            index: HashTable::new(),
            literals: Vec::new(),
        };
        circuit.node(true, &[]);
        circuit.node(false, &[]);
        circuit
    }
}

fn hash_node(conjunction: bool, parts: &[NodeId]) -> u64 {
    hash_words(
        [u32::from(conjunction), parts.len() as u32]
            .into_iter()
            .chain(parts.iter().copied()),
    )
}

impl Circuit {
    pub(super) fn get(&self, node: NodeId) -> Node<'_> {
        let range = |start: u32, end: u32| &self.parts[start as usize..end as usize];
        match self.nodes[node as usize] {
            Stored::Literal(fact, positive) => Node::Literal(fact, positive),
            Stored::And { start, end } => Node::And(range(start, end)),
            Stored::Or { start, end } => Node::Or(range(start, end)),
        }
    }

    /// The part of this index of a conjunction, if there are so many.
    pub(super) fn conjunct(&self, node: NodeId, at: usize) -> Option<NodeId> {
        match self.get(node) {
            Node::And(parts) => parts.get(at).copied(),
            _ => None,
        }
    }

    fn push(&mut self, node: Stored) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).expect("fewer than 2^32 conditions");
        self.nodes.push(node);
        id
    }

    /// The conjunction or disjunction of these parts.
    fn node(&mut self, conjunction: bool, parts: &[NodeId]) -> NodeId {
        let hash = hash_node(conjunction, parts);
        let wanted = match conjunction {
            true => Node::And(parts),
            false => Node::Or(parts),
        };
        if let Some(&known) = self.index.find(hash, |&node| self.get(node) == wanted) {
            return known;
        }
        let number = |length: usize| u32::try_from(length).expect("fewer than 2^32 conditions");
        let start = number(self.parts.len());
        self.parts.extend_from_slice(parts);
        let end = number(self.parts.len());
        let id = self.push(match conjunction {
            true => Stored::And { start, end },
            false => Stored::Or { start, end },
        });
        let Self {
            nodes,
            parts,
            index,
            ..
        } = self;
        index.insert_unique(hash, id, |&node| match nodes[node as usize] {
            Stored::And { start, end } => hash_node(true, &parts[start as usize..end as usize]),
            Stored::Or { start, end } => hash_node(false, &parts[start as usize..end as usize]),
            Stored::Literal(..) => unreachable!("literals have a table of their own"),
        });
        id
    }

    pub(super) fn literal(&mut self, fact: Fact, positive: bool) -> NodeId {
        let at = fact as usize;
        if self.literals.len() <= at {
            self.literals.resize(at + 1, [NONE; 2]);
        }
        let known = self.literals[at][usize::from(positive)];
        if known != NONE {
            return known;
        }
        let id = self.push(Stored::Literal(fact, positive));
        self.literals[at][usize::from(positive)] = id;
        id
    }

    /// The conjunction or disjunction of nodes.
    pub(super) fn join(&mut self, conjunction: bool, parts: &[NodeId]) -> NodeId {
        let (neutral, decisive) = match conjunction {
            true => (TRUE, FALSE),
            false => (FALSE, TRUE),
        };
        let mut all: Vec<NodeId> = Vec::with_capacity(parts.len());
        for &part in parts {
            match (self.get(part), conjunction) {
                (Node::And(inner), true) | (Node::Or(inner), false) => all.extend(inner),
                _ => all.push(part),
            }
        }
        all.sort_unstable();
        all.dedup();
        all.retain(|&part| part != neutral);
        let contradictory = all.iter().any(|&part| match self.get(part) {
            Node::Literal(fact, true) => {
                let [opposite, _] = self.literals[fact as usize];
                opposite != NONE && all.binary_search(&opposite).is_ok()
            }
            _ => false,
        });
        if contradictory || all.contains(&decisive) {
            return decisive;
        }
        match all[..] {
            [only] => only,
            _ => self.node(conjunction, &all),
        }
    }

    /// The negation of a node. The depth of nodes is that of formulas.
    pub(super) fn negation(&mut self, node: NodeId) -> NodeId {
        let (conjunction, parts) = match self.get(node) {
            Node::Literal(fact, positive) => return self.literal(fact, !positive),
            Node::And(parts) => (true, parts.to_vec()),
            Node::Or(parts) => (false, parts.to_vec()),
        };
        let parts: Vec<NodeId> = parts.iter().map(|&part| self.negation(part)).collect();
        self.join(!conjunction, &parts)
    }

    /// What holds where none of some nodes does. What all of them ask for is put first: without it
    /// the rest does not matter.
    pub(super) fn none_of(&mut self, nodes: &[NodeId]) -> NodeId {
        let parts = |circuit: &Self, node: NodeId| -> Vec<NodeId> {
            match circuit.get(node) {
                Node::And(parts) => parts.to_vec(),
                _ => vec![node],
            }
        };
        let mut common = match nodes {
            [first, _, ..] => parts(self, *first),
            _ => Vec::new(),
        };
        for &node in nodes {
            let own = parts(self, node);
            common.retain(|part| own.binary_search(part).is_ok());
        }
        let mut denied = Vec::with_capacity(nodes.len());
        for &node in nodes {
            let mut own = parts(self, node);
            own.retain(|part| common.binary_search(part).is_err());
            let rest = self.join(true, &own);
            denied.push(self.negation(rest));
        }
        let rest = self.join(true, &denied);
        let mut ways: Vec<NodeId> = common.iter().map(|&part| self.negation(part)).collect();
        ways.push(rest);
        self.join(false, &ways)
    }
}

/// Rows of a relation by the arguments at some positions.
type Index = HashMap<Vec<ObjectId>, Vec<u32>>;

/// Instantiates formulas.
pub(super) struct Builder<'a> {
    problem: &'a Problem,
    reachable: &'a Reachable,
    /// The number of the first fact of each predicate.
    first: &'a [Fact],
    /// Facts of the initial state that nothing deletes.
    is_static: Vec<bool>,
    pub(super) circuit: Circuit,
    /// What a formula became under given values of its free variables.
    known: HashMap<(*const Formula, Vec<ObjectId>), NodeId>,
    /// The variables free in a quantified formula.
    free: HashMap<*const Formula, Vec<usize>>,
    /// By predicate and positions.
    indices: HashMap<(usize, Vec<usize>), Index>,
    fits: HashMap<Vec<u32>, Vec<ObjectId>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        reachable: &'a Reachable,
        first: &'a [Fact],
        is_static: Vec<bool>,
    ) -> Self {
        Self {
            problem,
            reachable,
            first,
            is_static,
            circuit: Circuit::default(),
            known: HashMap::new(),
            free: HashMap::new(),
            indices: HashMap::new(),
            fits: HashMap::new(),
        }
    }

    /// The node of a fact, which is reachable, or of its negation.
    pub(super) fn fact(&mut self, fact: Fact, positive: bool) -> NodeId {
        if self.is_static[fact as usize] {
            return if positive { TRUE } else { FALSE };
        }
        self.circuit.literal(fact, positive)
    }

    pub(super) fn literal(&mut self, literal: &Literal<Term>, env: &[Option<ObjectId>]) -> NodeId {
        let arguments = literal.atom.arguments.iter();
        let key: Vec<ObjectId> = arguments.map(|&term| value(term, env)).collect();
        let predicate = literal.atom.predicate.index();
        match self.reachable.relations[predicate].find(&key) {
            Some(row) => self.fact(self.first[predicate] + row, literal.positive),
            None if literal.positive => FALSE,
            None => TRUE,
        }
    }

    /// Instantiates a formula whose free variables have values.
    pub(super) fn formula(
        &mut self,
        formula: &'a Formula,
        env: &mut Vec<Option<ObjectId>>,
    ) -> NodeId {
        match formula {
            Formula::Literal(literal) => self.literal(literal, env),
            Formula::Equality(Equality { left, right, equal }) => {
                match (value(*left, env) == value(*right, env)) == *equal {
                    true => TRUE,
                    false => FALSE,
                }
            }
            Formula::And(parts) => self.parts(true, parts, env),
            Formula::Or(parts) => self.parts(false, parts, env),
            Formula::Forall(variables, body) => self.quantified(formula, variables, body, env),
            Formula::Exists(variables, body) => self.quantified(formula, variables, body, env),
        }
    }

    fn parts(
        &mut self,
        conjunction: bool,
        parts: &'a [Formula],
        env: &mut Vec<Option<ObjectId>>,
    ) -> NodeId {
        let decisive = if conjunction { FALSE } else { TRUE };
        let mut nodes = Vec::with_capacity(parts.len());
        for part in parts {
            let node = self.formula(part, env);
            if node == decisive {
                return decisive;
            }
            nodes.push(node);
        }
        self.circuit.join(conjunction, &nodes)
    }

    fn quantified(
        &mut self,
        formula: &'a Formula,
        variables: &'a [Parameter],
        body: &'a Formula,
        env: &mut Vec<Option<ObjectId>>,
    ) -> NodeId {
        let conjunction = matches!(formula, Formula::Forall(..));
        let outer = env.len();
        let free = self.free.entry(formula).or_insert_with(|| {
            let mut free = Vec::new();
            free_variables(body, outer, &mut free);
            free.sort_unstable();
            free.dedup();
            free
        });
        let values = free.iter().map(|&at| env[at].expect("it has a value"));
        let key = (std::ptr::from_ref(formula), values.collect::<Vec<_>>());
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        env.resize(outer + variables.len(), None);
        let mut nodes = Vec::new();
        let all: Vec<usize> = (0..variables.len()).collect();
        let scope = Quantifier {
            outer,
            variables,
            body,
            conjunction,
        };
        self.bind(&scope, &all, env, &mut nodes);
        env.truncate(outer);
        let node = self.circuit.join(conjunction, &nodes);
        self.known.insert(key, node);
        node
    }

    /// Gives values to the variables that are left and instantiates the body for each way; `false`
    /// as soon as the outcome is decided.
    fn bind(
        &mut self,
        scope: &Quantifier<'a>,
        left: &[usize],
        env: &mut Vec<Option<ObjectId>>,
        nodes: &mut Vec<NodeId>,
    ) -> bool {
        if left.is_empty() {
            let node = self.formula(scope.body, env);
            let decisive = if scope.conjunction { FALSE } else { TRUE };
            if node == decisive {
                nodes.clear();
            }
            nodes.push(node);
            return node != decisive;
        }
        if let Some(guard) = scope.guard(env) {
            return self.bind_by(scope, guard, left, env, nodes);
        }
        let (&variable, rest) = left.split_first().expect("some are left");
        for object in self.objects(&scope.variables[variable]) {
            env[scope.outer + variable] = Some(object);
            if !self.bind(scope, rest, env, nodes) {
                return false;
            }
        }
        env[scope.outer + variable] = None;
        true
    }

    /// Binds the variables of a literal to the arguments of each fact that matches it: under all
    /// other values the body is decided by the literal.
    fn bind_by(
        &mut self,
        scope: &Quantifier<'a>,
        guard: &'a Literal<Term>,
        left: &[usize],
        env: &mut Vec<Option<ObjectId>>,
        nodes: &mut Vec<NodeId>,
    ) -> bool {
        let predicate = guard.atom.predicate.index();
        let mut positions = Vec::new();
        let mut key = Vec::new();
        let mut binds: Vec<(usize, usize)> = Vec::new();
        for (position, &term) in guard.atom.arguments.iter().enumerate() {
            match term {
                Term::Parameter(at) if env[at].is_none() => binds.push((position, at)),
                term => {
                    positions.push(position);
                    key.push(value(term, env));
                }
            }
        }
        let relation = &self.reachable.relations[predicate];
        let index = self
            .indices
            .entry((predicate, positions))
            .or_insert_with_key(|(_, positions)| {
                let mut index = Index::new();
                for row in 0..relation.len() {
                    let fact = relation.row(row);
                    let key = positions.iter().map(|&at| fact[at]).collect();
                    index.entry(key).or_default().push(row);
                }
                index
            });
        let rows = index.get(&key).cloned().unwrap_or_default();
        let rest: Vec<usize> = left
            .iter()
            .copied()
            .filter(|variable| binds.iter().all(|&(_, at)| at != scope.outer + variable))
            .collect();
        for row in rows {
            binds.iter().for_each(|&(_, at)| env[at] = None);
            let fact = self.reachable.relations[predicate].row(row);
            let fits = binds.iter().all(|&(position, at)| {
                let object = fact[position];
                let parameter = &scope.variables[at - scope.outer];
                let declared = &self.problem.objects[object.index()].types;
                let repeated = env[at].replace(object);
                repeated.is_none_or(|earlier| earlier == object)
                    && self.problem.domain.fits(declared, &parameter.types)
            });
            if fits && !self.bind(scope, &rest, env, nodes) {
                return false;
            }
        }
        binds.iter().for_each(|&(_, at)| env[at] = None);
        true
    }

    /// The objects that fit a variable.
    fn objects(&mut self, variable: &Parameter) -> Vec<ObjectId> {
        let key: Vec<u32> = variable.types.iter().map(|t| t.0).collect();
        let problem = self.problem;
        self.fits
            .entry(key)
            .or_insert_with(|| {
                let objects = (0..problem.objects.len()).map(ObjectId::from_index);
                objects
                    .filter(|object| {
                        let declared = &problem.objects[object.index()].types;
                        problem.domain.fits(declared, &variable.types)
                    })
                    .collect()
            })
            .clone()
    }
}

/// A quantifier being expanded.
struct Quantifier<'a> {
    /// How many variables are in scope outside.
    outer: usize,
    variables: &'a [Parameter],
    body: &'a Formula,
    /// Whether it is universal.
    conjunction: bool,
}

impl<'a> Quantifier<'a> {
    /// A literal that decides the body wherever no reachable fact matches it, and that has a
    /// variable without a value.
    fn guard(&self, env: &[Option<ObjectId>]) -> Option<&'a Literal<Term>> {
        let parts = match (self.body, self.conjunction) {
            (Formula::Or(parts), true) | (Formula::And(parts), false) => parts.as_slice(),
            (body, _) => std::slice::from_ref(body),
        };
        parts.iter().find_map(|part| match part {
            Formula::Literal(literal) if literal.positive != self.conjunction => {
                let unbound =
                    |term: &Term| matches!(term, Term::Parameter(at) if env[*at].is_none());
                literal
                    .atom
                    .arguments
                    .iter()
                    .any(unbound)
                    .then_some(literal)
            }
            _ => None,
        })
    }
}

fn value(term: Term, env: &[Option<ObjectId>]) -> ObjectId {
    match term {
        Term::Object(object) => object,
        Term::Parameter(at) => env[at].expect("every variable has a value"),
    }
}

/// Collects the variables below `outer` that a formula mentions.
fn free_variables(formula: &Formula, outer: usize, found: &mut Vec<usize>) {
    let mut add = |term: &Term| match term {
        Term::Parameter(at) if *at < outer => found.push(*at),
        _ => {}
    };
    match formula {
        Formula::Literal(literal) => literal.atom.arguments.iter().for_each(add),
        Formula::Equality(equality) => {
            add(&equality.left);
            add(&equality.right);
        }
        Formula::And(parts) | Formula::Or(parts) => {
            for part in parts {
                free_variables(part, outer, found);
            }
        }
        Formula::Forall(_, body) | Formula::Exists(_, body) => free_variables(body, outer, found),
    }
}
