//! Reachable actions with their preconditions and effects over numbered facts.

use std::collections::HashMap;

use homing_pddl::Problem;
use homing_pddl::model::{ActionSchema, Atom, CostTerm, FunctionId, ObjectId, SchemaId, Term};

use super::GroundError;
use super::reach::{Reachable, instantiate as object};
use crate::csr::Csr;

/// A numbered fact: reachable atoms by predicate, then the complements of some of them.
pub(super) type Fact = u32;

/// Actions and goals over facts, before simplification.
#[derive(Default)]
pub(super) struct Raw {
    /// The atom of each fact, and whether it is the atom itself or its complement.
    pub(super) atoms: Vec<(Atom<ObjectId>, bool)>,
    pub(super) in_init: Vec<bool>,
    pub(super) schema: Vec<SchemaId>,
    pub(super) arguments: Csr<ObjectId>,
    pub(super) pre: Csr<Fact>,
    pub(super) add: Csr<Fact>,
    pub(super) del: Csr<Fact>,
    pub(super) cost: Vec<u32>,
    pub(super) goal: Vec<Fact>,
    /// Whether any complement exists.
    pub(super) has_complements: bool,
}

struct Facts<'a> {
    reachable: &'a Reachable,
    /// The number of the first fact of each predicate.
    first: Vec<Fact>,
    /// The complement of each fact that needs one.
    complement: Vec<Option<Fact>>,
    key: Vec<ObjectId>,
}

impl Facts<'_> {
    fn find(&mut self, atom: &Atom<Term>, arguments: &[ObjectId]) -> Option<Fact> {
        self.key.clear();
        self.key
            .extend(atom.arguments.iter().map(|&term| object(term, arguments)));
        let predicate = atom.predicate.index();
        let row = self.reachable.relations[predicate].find(&self.key)?;
        Some(self.first[predicate] + row)
    }

    fn find_ground(&self, atom: &Atom<ObjectId>) -> Option<Fact> {
        let predicate = atom.predicate.index();
        let row = self.reachable.relations[predicate].find(&atom.arguments)?;
        Some(self.first[predicate] + row)
    }
}

/// Numbers the facts, gives complements to those that a condition negates, and writes out every
/// reachable action.
pub(super) fn instantiate(problem: &Problem, reachable: &Reachable) -> Result<Raw, GroundError> {
    let mut raw = Raw::default();
    let mut first = Vec::new();
    for (predicate, relation) in reachable.relations.iter().enumerate() {
        first.push(u32::try_from(raw.atoms.len()).expect("fewer than 2^32 facts"));
        for row in 0..relation.len() {
            let atom = Atom {
                predicate: homing_pddl::model::PredicateId::from_index(predicate),
                arguments: relation.row(row).to_vec(),
            };
            raw.atoms.push((atom, true));
            raw.in_init.push(row < reachable.init_len[predicate]);
        }
    }
    let mut facts = Facts {
        reachable,
        first,
        complement: vec![None; raw.atoms.len()],
        key: Vec::new(),
    };
    add_complements(problem, &mut facts, &mut raw);

    let costs = CostTable::new(problem);
    for (index, schema) in problem.domain.actions.iter().enumerate() {
        for arguments in reachable.arguments[index].rows() {
            write_action(schema, arguments, &mut facts, &mut raw);
            raw.schema.push(SchemaId::from_index(index));
            raw.arguments.push_row(arguments.iter().copied());
            raw.cost.push(costs.cost(problem, schema, arguments)?);
        }
    }
    write_goal(problem, &facts, &mut raw)?;
    Ok(raw)
}

fn add_complements(problem: &Problem, facts: &mut Facts<'_>, raw: &mut Raw) {
    let mut negated: Vec<Fact> = Vec::new();
    for (index, schema) in problem.domain.actions.iter().enumerate() {
        for literal in schema
            .precondition
            .literals
            .iter()
            .filter(|literal| !literal.positive)
        {
            for arguments in facts.reachable.arguments[index].rows() {
                negated.extend(facts.find(&literal.atom, arguments));
            }
        }
    }
    for literal in problem
        .goal
        .literals
        .iter()
        .filter(|literal| !literal.positive)
    {
        negated.extend(facts.find_ground(&literal.atom));
    }
    negated.sort_unstable();
    negated.dedup();
    raw.has_complements = !negated.is_empty();
    for fact in negated {
        facts.complement[fact as usize] =
            Some(u32::try_from(raw.atoms.len()).expect("fewer than 2^32 facts"));
        raw.atoms.push((raw.atoms[fact as usize].0.clone(), false));
        raw.in_init.push(!raw.in_init[fact as usize]);
    }
}

fn write_action(
    schema: &ActionSchema,
    arguments: &[ObjectId],
    facts: &mut Facts<'_>,
    raw: &mut Raw,
) {
    for literal in &schema.precondition.literals {
        let fact = facts.find(&literal.atom, arguments);
        if literal.positive {
            raw.pre
                .push_item(fact.expect("the precondition of a reachable action is reachable"));
        } else if let Some(fact) = fact {
            let complement = facts.complement[fact as usize];
            raw.pre
                .push_item(complement.expect("every negated fact has a complement"));
        }
        // A negated atom that is never reached holds always.
    }
    raw.pre.end_row();
    let add: Vec<Fact> = schema
        .add
        .iter()
        .map(|atom| {
            facts
                .find(atom, arguments)
                .expect("added facts are reachable")
        })
        .collect();
    let mut del: Vec<Fact> = Vec::new();
    for atom in &schema.del {
        // Deleted and added: it ends up true.
        del.extend(
            facts
                .find(atom, arguments)
                .filter(|fact| !add.contains(fact)),
        );
    }
    let complement = |&fact: &Fact| facts.complement[fact as usize];
    raw.add
        .push_row(add.iter().copied().chain(del.iter().filter_map(complement)));
    raw.del
        .push_row(del.iter().copied().chain(add.iter().filter_map(complement)));
}

fn write_goal(problem: &Problem, facts: &Facts<'_>, raw: &mut Raw) -> Result<(), GroundError> {
    let name = |object: ObjectId| problem.objects[object.index()].name.as_str();
    for equality in &problem.goal.equalities {
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
    for literal in &problem.goal.literals {
        let fact = facts.find_ground(&literal.atom);
        if literal.positive {
            let unreachable = || GroundError::Unsolvable {
                goal: show(problem, &literal.atom, true),
            };
            raw.goal.push(fact.ok_or_else(unreachable)?);
        } else if let Some(fact) = fact {
            raw.goal
                .push(facts.complement[fact as usize].expect("negated facts have complements"));
        }
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
        let mut total = 0u32;
        for term in &schema.cost {
            let amount = match term {
                CostTerm::Constant(amount) => *amount,
                CostTerm::Function(function, terms) => {
                    let key: Vec<ObjectId> =
                        terms.iter().map(|&term| object(term, arguments)).collect();
                    *self
                        .values
                        .get(&(*function, key.as_slice()))
                        .ok_or_else(|| {
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
                                function: names(
                                    &problem.domain.functions[function.index()].name,
                                    &key,
                                ),
                            }
                        })?
                }
            };
            total = total.saturating_add(amount);
        }
        Ok(total)
    }
}
