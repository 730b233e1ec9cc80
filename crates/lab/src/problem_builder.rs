//! A problem in the making: objects, facts and goals by name.

use std::sync::Arc;

use homing_pddl::model::{Atom, Condition, Literal, Object, ObjectId, TypeId};
use homing_pddl::{Domain, Problem};

/// Collects what a generator decides. Names are those of our own domain files, so a wrong one is a
/// mistake of ours and panics.
pub(crate) struct ProblemBuilder {
    domain: Arc<Domain>,
    objects: Vec<Object>,
    init: Vec<Atom<ObjectId>>,
    goal: Vec<Atom<ObjectId>>,
}

impl ProblemBuilder {
    pub(crate) fn new(domain: &Arc<Domain>) -> Self {
        Self {
            domain: Arc::clone(domain),
            objects: Vec::new(),
            init: Vec::new(),
            goal: Vec::new(),
        }
    }

    /// Declares an object of a type.
    pub(crate) fn object(&mut self, name: String, of: &str) -> ObjectId {
        let found = self.domain.types.iter().position(|t| t.name == of);
        let of = TypeId::from_index(found.unwrap_or_else(|| panic!("no type `{of}`")));
        self.objects.push(Object {
            name,
            types: vec![of],
        });
        ObjectId::from_index(self.objects.len() - 1)
    }

    /// Declares objects of a type, numbered from `first` on.
    pub(crate) fn objects(
        &mut self,
        prefix: &str,
        first: usize,
        count: usize,
        of: &str,
    ) -> Vec<ObjectId> {
        (first..first + count)
            .map(|number| self.object(format!("{prefix}{number}"), of))
            .collect()
    }

    fn atom(&self, predicate: &str, arguments: &[ObjectId]) -> Atom<ObjectId> {
        let found = self.domain.predicate(predicate);
        let predicate = found.unwrap_or_else(|| panic!("no predicate `{predicate}`"));
        debug_assert_eq!(
            self.domain.predicates[predicate.index()].parameters.len(),
            arguments.len()
        );
        Atom {
            predicate,
            arguments: arguments.to_vec(),
        }
    }

    /// A proposition of the initial state.
    pub(crate) fn fact(&mut self, predicate: &str, arguments: &[ObjectId]) {
        let atom = self.atom(predicate, arguments);
        self.init.push(atom);
    }

    /// The same proposition for each of several objects.
    pub(crate) fn each(&mut self, predicate: &str, objects: &[ObjectId]) {
        for &object in objects {
            self.fact(predicate, &[object]);
        }
    }

    /// A goal.
    pub(crate) fn goal(&mut self, predicate: &str, arguments: &[ObjectId]) {
        let atom = self.atom(predicate, arguments);
        self.goal.push(atom);
    }

    /// The problem.
    pub(crate) fn finish(self, name: String) -> Problem {
        let literal = |atom| Literal {
            atom,
            positive: true,
        };
        Problem {
            name,
            domain: self.domain,
            objects: self.objects,
            init: self.init,
            values: Vec::new(),
            goal: Condition {
                literals: self.goal.into_iter().map(literal).collect(),
                formulas: Vec::new(),
                equalities: Vec::new(),
            },
            minimize_cost: false,
        }
    }
}
