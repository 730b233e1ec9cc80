//! Reachable actions, effects and axioms with their conditions over numbered facts.
//!
//! Conditions become conjunctions of facts. A negated fact becomes its complement, a fact of its
//! own. What is still a disjunction once the arguments are known makes a few actions of one, or a
//! helper: a fact without a name that axioms derive from each of its parts.

use std::collections::HashMap;
use std::ops::Range;

use homing_pddl::model::{
    ActionSchema, Atom, CostTerm, FunctionId, Literal, ObjectId, PredicateId, SchemaId, Term,
};
use homing_pddl::{Problem, ShownFormula};

use super::GroundError;
use super::circuit::{Builder, FALSE, Node, NodeId, TRUE};
use super::definitions::Definitions;
use super::program::{Origin, Program, Rule};
use super::reach::{Reachable, instantiate as object};
use crate::csr::Csr;
use crate::watch::{Pace, Progress, Watch};

/// A numbered fact: reachable atoms by predicate, then complements and helpers.
pub(super) type Fact = u32;

/// What a fact says.
pub(super) struct RawFact {
    /// Of a helper: no domain has this predicate.
    pub(super) atom: Atom<ObjectId>,
    /// `false` for a complement.
    pub(super) positive: bool,
    pub(super) is_helper: bool,
    /// The fact that a complement negates.
    pub(super) complement_of: Option<Fact>,
    /// The level of a fact that axioms derive: it depends on negations of lower levels only.
    pub(super) level: Option<u32>,
}

/// Actions and goals over facts, before simplification.
#[derive(Default)]
pub(super) struct Raw {
    pub(super) facts: Vec<RawFact>,
    pub(super) in_init: Vec<bool>,
    pub(super) schema: Vec<SchemaId>,
    pub(super) arguments: Csr<ObjectId>,
    pub(super) pre: Csr<Fact>,
    pub(super) add: Csr<Fact>,
    pub(super) del: Csr<Fact>,
    pub(super) cost: Vec<u32>,
    pub(super) effects: RawEffects,
    pub(super) axioms: RawAxioms,
    pub(super) goal: Vec<Fact>,
    /// Goals that are no literals, as PDDL.
    pub(super) goal_texts: Vec<(Fact, String)>,
    /// Whether any complement exists.
    pub(super) has_complements: bool,
    /// Whether the joins had to leave conditions aside.
    pub(super) has_formulas: bool,
    /// Derived facts whose negation was written out, with what it became.
    pub(super) negated: Vec<(Fact, Vec<Fact>)>,
}

/// Conditional effects in the order of their actions.
#[derive(Default)]
pub(super) struct RawEffects {
    pub(super) action: Vec<u32>,
    pub(super) condition: Csr<Fact>,
    pub(super) add: Csr<Fact>,
    pub(super) del: Csr<Fact>,
}

/// Axioms: where the body holds, so does the head.
#[derive(Default)]
pub(super) struct RawAxioms {
    pub(super) head: Vec<Fact>,
    pub(super) body: Csr<Fact>,
}

/// The most actions that disjunctions may make of one ground action, and the most effects of one.
const MAX_ALTERNATIVES: usize = 4;

/// Facts that one conjunction may take in all conditions that list it.
const MAX_LISTED: usize = 20_000;

/// The watch is asked once in so many actions and effects.
const POLL_EVERY: usize = 4_096;

/// Writes out every reachable action, effect and axiom.
pub(super) fn instantiate(
    problem: &Problem,
    program: &Program,
    reachable: &Reachable,
    watch: &mut dyn Watch,
) -> Result<Raw, GroundError> {
    let mut raw = Raw::default();
    let mut first = Vec::new();
    let mut pace = Pace::building(watch, "facts")?;
    let predicates = problem.domain.predicates.len();
    pace.room(least_size(predicates, program, reachable))?;
    for (predicate, relation) in reachable.relations.iter().enumerate().take(predicates) {
        first.push(u32::try_from(raw.facts.len()).expect("fewer than 2^32 facts"));
        for row in 0..relation.len() {
            pace.work(4)?;
            raw.facts.push(RawFact {
                atom: Atom {
                    predicate: PredicateId::from_index(predicate),
                    arguments: relation.row(row).to_vec(),
                },
                positive: true,
                is_helper: false,
                complement_of: None,
                level: None,
            });
            raw.in_init.push(row < reachable.init_len[predicate]);
        }
    }
    let mut rules = program.rules.iter();
    raw.has_formulas = rules.any(|rule| !rule.condition.formulas.is_empty());
    let is_static = static_facts(problem, program, reachable, &first, &raw);
    let mut writer = Writer {
        problem,
        program,
        reachable,
        first: &first,
        complement: vec![None; raw.facts.len()],
        builder: Builder::new(problem, reachable, &first, is_static),
        definitions: Definitions::default(),
        helpers: HashMap::new(),
        uses: HashMap::new(),
        copies: HashMap::new(),
        key: Vec::new(),
        raw,
    };
    writer.axioms(watch)?;
    writer.actions(watch)?;
    writer.effects(watch)?;
    writer.goal()?;
    writer.write_complements();
    Ok(writer.raw)
}

/// The bytes that the actions take at the least, written out.
fn least_size(predicates: usize, program: &Program, reachable: &Reachable) -> usize {
    let rules = program.rules.iter().zip(&reachable.arguments);
    let actions = rules.filter(|(rule, _)| matches!(rule.origin, Origin::Action(_)));
    let numbers: usize = actions
        .map(|(rule, rows)| {
            let positive = rule.condition.literals.iter().filter(|l| l.positive);
            // What it needs and adds, and where each of four lists ends.
            rows.len() * (positive.count() + rule.add.len() + 4)
        })
        .sum();
    let facts = reachable.relations.iter().take(predicates);
    let facts: usize = facts.map(|relation| relation.len() as usize).sum();
    numbers * size_of::<Fact>() + facts * size_of::<RawFact>()
}

/// Facts of the initial state that nothing deletes; looked for only where formulas ask.
fn static_facts(
    problem: &Problem,
    program: &Program,
    reachable: &Reachable,
    first: &[Fact],
    raw: &Raw,
) -> Vec<bool> {
    if !raw.has_formulas && problem.domain.axioms.is_empty() && problem.goal.formulas.is_empty() {
        return vec![false; raw.facts.len()];
    }
    let mut is_static = raw.in_init.clone();
    let mut key = Vec::new();
    for (rule, rows) in program.rules.iter().zip(&reachable.arguments) {
        for atom in &rule.del {
            let predicate = atom.predicate.index();
            for arguments in rows.rows() {
                key.clear();
                key.extend(atom.arguments.iter().map(|&term| object(term, arguments)));
                if let Some(row) = reachable.relations[predicate].find(&key) {
                    is_static[(first[predicate] + row) as usize] = false;
                }
            }
        }
    }
    is_static
}

/// What became of a condition.
enum Ground {
    /// It can never hold.
    Never,
    /// It holds where all facts of one list do, in nearly all cases: the list that was handed in.
    One,
    /// It holds where all facts of one of these do.
    Alternatives(Vec<Vec<Fact>>),
}

struct Writer<'a> {
    problem: &'a Problem,
    program: &'a Program,
    reachable: &'a Reachable,
    /// The number of the first fact of each predicate.
    first: &'a [Fact],
    /// The complement of each fact that needs one.
    complement: Vec<Option<Fact>>,
    builder: Builder<'a>,
    definitions: Definitions,
    /// The helpers of disjunctions, and of conjunctions that many share.
    helpers: HashMap<NodeId, Fact>,
    /// How many conditions have asked for a conjunction.
    uses: HashMap<NodeId, usize>,
    /// By action rule with conditional effects and row of its marker: the actions it became.
    copies: HashMap<usize, Vec<Range<u32>>>,
    key: Vec<ObjectId>,
    raw: Raw,
}

impl<'a> Writer<'a> {
    fn find(&mut self, atom: &Atom<Term>, arguments: &[ObjectId]) -> Option<Fact> {
        self.key.clear();
        self.key
            .extend(atom.arguments.iter().map(|&term| object(term, arguments)));
        let predicate = atom.predicate.index();
        let row = self.reachable.relations[predicate].find(&self.key)?;
        Some(self.first[predicate] + row)
    }

    fn new_fact(&mut self, fact: RawFact) -> Fact {
        let number = u32::try_from(self.raw.facts.len()).expect("fewer than 2^32 facts");
        self.raw.facts.push(fact);
        // What axioms derive is known once all axioms are.
        self.raw.in_init.push(false);
        self.complement.push(None);
        number
    }

    /// The complement of a fact.
    fn complement(&mut self, fact: Fact) -> Fact {
        if let Some(known) = self.complement[fact as usize] {
            return known;
        }
        let complement = self.new_fact(RawFact {
            atom: self.raw.facts[fact as usize].atom.clone(),
            positive: false,
            is_helper: false,
            complement_of: Some(fact),
            level: None,
        });
        self.raw.in_init[complement as usize] = !self.raw.in_init[fact as usize];
        self.complement[fact as usize] = Some(complement);
        self.raw.has_complements = true;
        complement
    }

    fn new_helper(&mut self) -> Fact {
        let predicate = PredicateId::from_index(self.problem.domain.predicates.len());
        self.new_fact(RawFact {
            atom: Atom {
                predicate,
                arguments: Vec::new(),
            },
            positive: true,
            is_helper: true,
            complement_of: None,
            level: Some(0),
        })
    }

    fn add_axiom(&mut self, head: Fact, body: Vec<Fact>) {
        self.raw.axioms.head.push(head);
        self.raw.axioms.body.push_row(body);
    }

    /// The lowest level at which all of these are known.
    fn level_of(&self, body: &[Fact]) -> u32 {
        let level = |&fact: &Fact| {
            let fact = &self.raw.facts[fact as usize];
            match fact.complement_of {
                Some(negated) => self.raw.facts[negated as usize]
                    .level
                    .map(|level| level + 1),
                None => fact.level,
            }
        };
        body.iter().filter_map(level).max().unwrap_or(0)
    }

    /// Writes the axioms of derived predicates.
    fn axioms(&mut self, watch: &mut dyn Watch) -> Result<(), GroundError> {
        if self.problem.domain.axioms.is_empty() {
            return Ok(());
        }
        let mut pace = Pace::building(watch, "axioms")?;
        let levels = super::strata::predicate_levels(&self.problem.domain);
        for fact in &mut self.raw.facts {
            let predicate = fact.atom.predicate;
            fact.level = match &levels {
                Some(levels) => levels[predicate.index()],
                None => self.problem.domain.is_derived(predicate).then_some(0),
            };
        }
        let mut bodies: Vec<Vec<NodeId>> = vec![Vec::new(); self.raw.facts.len()];
        for (rule, rows) in self.program.rules.iter().zip(&self.reachable.arguments) {
            if rule.origin != Origin::Axiom {
                continue;
            }
            for arguments in rows.rows() {
                pace.work(8)?;
                let head = self.find(&rule.add[0], arguments);
                let body = self.node(rule, arguments);
                bodies[head.expect("what an axiom adds is reachable") as usize].push(body);
            }
        }
        self.definitions = Definitions::new(bodies, &self.builder.circuit, |fact| {
            self.raw.facts[fact as usize].level.is_some()
        });
        if levels.is_none() {
            self.level_facts()?;
        }
        for fact in 0..self.definitions.len() as Fact {
            for at in 0..self.definitions.bodies(fact).len() {
                pace.work(8)?;
                let node = self.definitions.bodies(fact)[at];
                let mut body = Vec::new();
                if self.lower(node, &mut body) {
                    self.add_axiom(fact, body);
                }
            }
        }
        Ok(())
    }

    /// Gives derived facts levels of their own, where their predicates have none.
    fn level_facts(&mut self) -> Result<(), GroundError> {
        let levels = self.definitions.levels(&self.builder.circuit);
        let levels = levels.map_err(|circle| GroundError::Unstratified {
            circle: circle
                .iter()
                .map(|&fact| show(self.problem, &self.raw.facts[fact as usize].atom, true))
                .collect(),
        })?;
        for (fact, level) in self.raw.facts.iter_mut().zip(levels) {
            fact.level = fact.level.map(|_| level);
        }
        Ok(())
    }

    /// The whole condition of a rule as a node.
    fn node(&mut self, rule: &'a Rule, arguments: &[ObjectId]) -> NodeId {
        let mut env: Vec<Option<ObjectId>> = arguments.iter().map(|&o| Some(o)).collect();
        let mut nodes = Vec::new();
        for literal in &rule.condition.literals {
            nodes.push(self.builder.literal(literal, &env));
        }
        for formula in &rule.condition.formulas {
            nodes.push(self.builder.formula(formula, &mut env));
        }
        self.builder.circuit.join(true, &nodes)
    }

    fn is_derived(&self, fact: Fact) -> bool {
        self.raw.facts[fact as usize].level.is_some()
    }

    /// Appends the facts that make a node true; `false` if nothing can.
    fn lower(&mut self, node: NodeId, into: &mut Vec<Fact>) -> bool {
        match self.builder.circuit.get(node) {
            Node::Literal(fact, true) => into.push(fact),
            Node::Literal(fact, false) if self.is_derived(fact) => {
                return self.lower_negation(fact, into);
            }
            Node::Literal(fact, false) => {
                let complement = self.complement(fact);
                into.push(complement);
            }
            Node::And(_) => {
                let mut at = 0;
                while let Some(part) = self.builder.circuit.conjunct(node, at) {
                    if !self.lower(part, into) {
                        return false;
                    }
                    at += 1;
                }
            }
            Node::Or([]) => return false,
            Node::Or(parts) => {
                let parts = parts.to_vec();
                let helper = self.helper(node, &parts);
                into.push(helper);
            }
        }
        true
    }

    /// The fact that is true where one of `parts` is.
    fn helper(&mut self, node: NodeId, parts: &[NodeId]) -> Fact {
        if let Some(&known) = self.helpers.get(&node) {
            return known;
        }
        let helper = self.new_helper();
        self.helpers.insert(node, helper);
        let mut level = 0;
        for &part in parts {
            let mut body = Vec::new();
            if self.lower(part, &mut body) {
                level = level.max(self.level_of(&body));
                self.add_axiom(helper, body);
            }
        }
        self.raw.facts[helper as usize].level = Some(level);
        helper
    }

    /// Appends the facts that make a derived fact false.
    ///
    /// A fact that does not depend on itself is false where none of its axioms applies, and that is
    /// a condition like any other. One that does is false where it cannot be derived: its complement
    /// has no axioms, and its value follows from the fact's.
    fn lower_negation(&mut self, fact: Fact, into: &mut Vec<Fact>) -> bool {
        if self.definitions.is_recursive(fact) {
            let complement = self.complement(fact);
            into.push(complement);
            return true;
        }
        for needed in self
            .definitions
            .negations_needed(fact, &self.builder.circuit)
        {
            let bodies = self.definitions.bodies(needed).to_vec();
            let none = self.builder.circuit.none_of(&bodies);
            let mut facts = Vec::new();
            let negation = self.lower(none, &mut facts).then_some(facts);
            let negation = negation.map(|facts| {
                if facts.len() <= 1 {
                    return facts;
                }
                // What others build on stays small.
                let helper = self.new_helper();
                self.raw.facts[helper as usize].level = Some(self.level_of(&facts));
                self.add_axiom(helper, facts);
                vec![helper]
            });
            if let Some(facts) = &negation {
                self.raw.negated.push((needed, facts.clone()));
            }
            self.definitions.set_negation(needed, negation);
        }
        match self.definitions.negation(fact) {
            Some(facts) => {
                into.extend_from_slice(facts);
                true
            }
            None => false,
        }
    }

    /// The condition of a rule without its markers, in `facts` if that can hold it.
    fn condition(
        &mut self,
        rule: &'a Rule,
        arguments: &[ObjectId],
        facts: &mut Vec<Fact>,
    ) -> Ground {
        facts.clear();
        let mut nodes = Vec::new();
        for literal in &rule.condition.literals[rule.markers..] {
            let Literal { atom, positive } = literal;
            match (self.find(atom, arguments), positive) {
                (fact, true) => facts.push(fact.expect("what a join matched is reachable")),
                // A negated atom that is never reached holds always.
                (None, false) => {}
                (Some(fact), false) if self.is_derived(fact) => {
                    if !self.lower_negation(fact, facts) {
                        return Ground::Never;
                    }
                }
                (Some(fact), false) => {
                    let complement = self.complement(fact);
                    facts.push(complement);
                }
            }
        }
        if !rule.condition.formulas.is_empty() {
            let mut env: Vec<Option<ObjectId>> = arguments.iter().map(|&o| Some(o)).collect();
            for formula in &rule.condition.formulas {
                match self.builder.formula(formula, &mut env) {
                    FALSE => return Ground::Never,
                    TRUE => {}
                    node => nodes.push(self.shared(node)),
                }
            }
        }
        if nodes.is_empty() {
            return Ground::One;
        }
        self.alternatives(facts.clone(), &nodes)
    }

    /// A long conjunction that many actions ask for becomes a helper, lest each of them list it.
    fn shared(&mut self, node: NodeId) -> NodeId {
        let Node::And(parts) = self.builder.circuit.get(node) else {
            return node;
        };
        let length = parts.len();
        let uses = self.uses.entry(node).or_insert(0);
        *uses += 1;
        if *uses * length <= MAX_LISTED {
            return node;
        }
        let helper = self.helper(node, &[node]);
        self.builder.circuit.literal(helper, true)
    }

    /// Facts and nodes that must all hold, with few disjunctions multiplied out.
    fn alternatives(&mut self, facts: Vec<Fact>, nodes: &[NodeId]) -> Ground {
        let all = self.builder.circuit.join(true, nodes);
        let parts: Vec<NodeId> = match self.builder.circuit.get(all) {
            Node::And(parts) => parts.to_vec(),
            _ if all == FALSE => return Ground::Never,
            _ => vec![all],
        };
        let choices: Vec<Vec<NodeId>> = parts
            .iter()
            .map(|&part| match self.builder.circuit.get(part) {
                Node::Or(choices) => choices.to_vec(),
                _ => vec![part],
            })
            .collect();
        let count = choices
            .iter()
            .fold(1usize, |count, list| count.saturating_mul(list.len()));
        let choices = match count <= MAX_ALTERNATIVES {
            true => choices,
            false => parts.into_iter().map(|part| vec![part]).collect(),
        };
        let mut alternatives = vec![facts];
        for list in choices {
            let mut longer = Vec::new();
            for &choice in &list {
                for facts in &alternatives {
                    let mut facts = facts.clone();
                    if self.lower(choice, &mut facts) {
                        longer.push(facts);
                    }
                }
            }
            alternatives = longer;
        }
        if alternatives.is_empty() {
            return Ground::Never;
        }
        Ground::Alternatives(alternatives)
    }

    /// Puts what a rule adds and deletes into `add` and `del`, without complements; what it adds it
    /// does not delete.
    fn changes(
        &mut self,
        rule: &Rule,
        arguments: &[ObjectId],
        add: &mut Vec<Fact>,
        del: &mut Vec<Fact>,
    ) {
        let predicates = self.first.len();
        add.clear();
        del.clear();
        for atom in &rule.add {
            // Markers are no facts.
            if atom.predicate.index() < predicates {
                let fact = self.find(atom, arguments);
                add.push(fact.expect("added facts are reachable"));
            }
        }
        for atom in &rule.del {
            let fact = self.find(atom, arguments);
            del.extend(fact.filter(|fact| !add.contains(fact)));
        }
    }

    /// The marker that an action rule with conditional effects adds.
    fn marker_of(&self, rule: &Rule) -> Option<usize> {
        let last = rule.add.last()?.predicate.index();
        (last >= self.first.len()).then_some(last)
    }

    fn actions(&mut self, watch: &mut dyn Watch) -> Result<(), GroundError> {
        let costs = CostTable::new(self.problem);
        let (mut facts, mut add, mut del) = (Vec::new(), Vec::new(), Vec::new());
        let rules = self.program.rules.iter().zip(&self.reachable.arguments);
        for (index, (rule, rows)) in rules.enumerate() {
            let Origin::Action(schema_id) = rule.origin else {
                continue;
            };
            let schema = &self.problem.domain.actions[schema_id.index()];
            let marker = self.marker_of(rule);
            if marker.is_some() {
                self.copies.insert(index, vec![0..0; rows.len()]);
            }
            for arguments in rows.rows() {
                let from = self.raw.cost.len();
                let ground = self.condition(rule, arguments, &mut facts);
                let alternatives = match &ground {
                    Ground::Never => continue,
                    Ground::One => std::slice::from_ref(&facts),
                    Ground::Alternatives(lists) => lists,
                };
                self.changes(rule, arguments, &mut add, &mut del);
                let shown = &arguments[..schema.parameters.len()];
                let cost = costs.cost(self.problem, schema, shown)?;
                for pre in alternatives {
                    let raw = &mut self.raw;
                    raw.pre.push_row(pre.iter().copied());
                    raw.add.push_row(add.iter().copied());
                    raw.del.push_row(del.iter().copied());
                    raw.schema.push(schema_id);
                    raw.arguments.push_row(shown.iter().copied());
                    raw.cost.push(cost);
                    poll(raw.cost.len(), raw.cost.len(), watch)?;
                }
                if let Some(marker) = marker {
                    let row = self.reachable.relations[marker].find(arguments);
                    let row = row.expect("a reachable action has its marker") as usize;
                    let copies = self.copies.get_mut(&index).expect("made above");
                    copies[row] = from as u32..self.raw.cost.len() as u32;
                }
            }
        }
        Ok(())
    }

    fn effects(&mut self, watch: &mut dyn Watch) -> Result<(), GroundError> {
        let mut found: Vec<(u32, [Vec<Fact>; 3])> = Vec::new();
        let copies = std::mem::take(&mut self.copies);
        let (mut facts, mut add, mut del) = (Vec::new(), Vec::new(), Vec::new());
        for (rule, rows) in self.program.rules.iter().zip(&self.reachable.arguments) {
            let Origin::Effect(action) = rule.origin else {
                continue;
            };
            let marker = rule.condition.literals[0].atom.predicate.index();
            let copies = &copies[&action];
            let own = self.program.arities[marker];
            for arguments in rows.rows() {
                let row = self.reachable.relations[marker].find(&arguments[..own]);
                let copies = copies[row.expect("its action is reachable") as usize].clone();
                if copies.is_empty() {
                    continue;
                }
                let ground = self.condition(rule, arguments, &mut facts);
                let alternatives = match &ground {
                    Ground::Never => continue,
                    Ground::One => std::slice::from_ref(&facts),
                    Ground::Alternatives(lists) => lists,
                };
                self.changes(rule, arguments, &mut add, &mut del);
                for condition in alternatives {
                    for action in copies.clone() {
                        found.push((action, [condition.clone(), add.clone(), del.clone()]));
                    }
                }
                poll(found.len(), self.raw.cost.len(), watch)?;
            }
        }
        found.sort_by_key(|effect| effect.0);
        let effects = &mut self.raw.effects;
        for (action, [condition, add, del]) in found {
            effects.action.push(action);
            effects.condition.push_row(condition);
            effects.add.push_row(add);
            effects.del.push_row(del);
        }
        Ok(())
    }

    fn goal(&mut self) -> Result<(), GroundError> {
        let problem = self.problem;
        let goal = &problem.goal;
        let name = |object: ObjectId| problem.objects[object.index()].name.as_str();
        for equality in &goal.equalities {
            if (equality.left == equality.right) != equality.equal {
                let text = format!("(= {} {})", name(equality.left), name(equality.right));
                let goal = if equality.equal {
                    text
                } else {
                    format!("(not {text})")
                };
                return Err(GroundError::Unsolvable { goal });
            }
        }
        for literal in &goal.literals {
            let atom = &literal.atom;
            let predicate = atom.predicate.index();
            let row = self.reachable.relations[predicate].find(&atom.arguments);
            let fact = row.map(|row| self.first[predicate] + row);
            let unreachable = || GroundError::Unsolvable {
                goal: show(problem, atom, literal.positive),
            };
            match (fact, literal.positive) {
                (Some(fact), true) => self.raw.goal.push(fact),
                (None, true) => return Err(unreachable()),
                (None, false) => {}
                (Some(fact), false) if self.is_derived(fact) => {
                    let mut facts = Vec::new();
                    if !self.lower_negation(fact, &mut facts) {
                        return Err(unreachable());
                    }
                    let text = show(problem, atom, false);
                    let texts = facts.iter().map(|&fact| (fact, text.clone()));
                    self.raw.goal_texts.extend(texts);
                    self.raw.goal.append(&mut facts);
                }
                (Some(fact), false) => {
                    let complement = self.complement(fact);
                    self.raw.goal.push(complement);
                }
            }
        }
        for formula in &goal.formulas {
            let shown = ShownFormula {
                formula,
                domain: &problem.domain,
                objects: &problem.objects,
                scope: &[],
            };
            let text = shown.to_string();
            let node = self.builder.formula(formula, &mut Vec::new());
            let mut facts = Vec::new();
            if !self.lower(node, &mut facts) {
                return Err(GroundError::Unsolvable { goal: text });
            }
            let texts = facts.iter().map(|&fact| (fact, text.clone()));
            self.raw.goal_texts.extend(texts);
            self.raw.goal.append(&mut facts);
        }
        Ok(())
    }

    /// Whatever adds a fact deletes its complement, and the other way round.
    fn write_complements(&mut self) {
        if !self.raw.has_complements {
            return;
        }
        let complement = &self.complement;
        let raw = &mut self.raw;
        for (add, del) in [
            (&mut raw.add, &mut raw.del),
            (&mut raw.effects.add, &mut raw.effects.del),
        ] {
            let (mut new_add, mut new_del) = (Csr::default(), Csr::default());
            for (add, del) in add.rows().zip(del.rows()) {
                let complements = |facts: &[Fact]| -> Vec<Fact> {
                    let facts = facts.iter();
                    facts
                        .filter_map(|&fact| complement[fact as usize])
                        .collect()
                };
                new_add.push_row(add.iter().copied().chain(complements(del)));
                new_del.push_row(del.iter().copied().chain(complements(add)));
            }
            (*add, *del) = (new_add, new_del);
        }
    }
}

/// Asks the watch now and then, by a count of work.
fn poll(work: usize, actions: usize, watch: &mut dyn Watch) -> Result<(), GroundError> {
    if work.is_multiple_of(POLL_EVERY)
        && let Some(stop) = watch.poll(Progress::Grounding { actions })
    {
        return Err(stop.into());
    }
    Ok(())
}

/// A ground literal as PDDL.
pub(super) fn show(problem: &Problem, atom: &Atom<ObjectId>, positive: bool) -> String {
    let mut text = format!(
        "({}",
        problem.domain.predicates[atom.predicate.index()].name
    );
    for argument in &atom.arguments {
        text.push(' ');
        text.push_str(&problem.objects[argument.index()].name);
    }
    text.push(')');
    if positive {
        text
    } else {
        format!("(not {text})")
    }
}

/// The function values of the initial state.
struct CostTable<'a> {
    values: HashMap<(FunctionId, &'a [ObjectId]), u32>,
}

impl<'a> CostTable<'a> {
    fn new(problem: &'a Problem) -> Self {
        let values = problem
            .values
            .iter()
            .map(|value| ((value.function, value.arguments.as_slice()), value.value))
            .collect();
        Self { values }
    }

    fn cost(
        &self,
        problem: &Problem,
        schema: &ActionSchema,
        arguments: &[ObjectId],
    ) -> Result<u32, GroundError> {
        if !problem.minimize_cost {
            return Ok(1);
        }
        let (function, terms) = match &schema.cost {
            None => return Ok(0),
            Some(CostTerm::Constant(amount)) => return Ok(*amount),
            Some(CostTerm::Function(function, terms)) => (*function, terms),
        };
        let key: Vec<ObjectId> = terms.iter().map(|&term| object(term, arguments)).collect();
        let given = self.values.get(&(function, key.as_slice()));
        given.copied().ok_or_else(|| {
            let names = |head: &str, objects: &[ObjectId]| {
                let mut text = format!("({head}");
                for object in objects {
                    text.push(' ');
                    text.push_str(&problem.objects[object.index()].name);
                }
                text + ")"
            };
            GroundError::MissingCost {
                action: names(&schema.name, arguments),
                function: names(&problem.domain.functions[function.index()].name, &key),
            }
        })
    }
}
