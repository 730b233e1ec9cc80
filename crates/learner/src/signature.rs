//! What a model expects of a domain.

use std::fmt;

use homing_pddl::Domain;
use homing_planner::Task;
use serde::{Deserialize, Serialize};

use crate::model::ModelError;

/// The names and shapes a model was trained with. A problem of any domain with the same signature
/// can be given to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// Predicates with their arities, in the order of channels.
    pub predicates: Vec<(String, usize)>,
    /// Types with their supertypes.
    pub types: Vec<(String, Vec<String>)>,
    /// Action schemas with the number of their parameters.
    pub actions: Vec<(String, usize)>,
}

impl Signature {
    /// The signature of a domain.
    pub fn of(domain: &Domain) -> Self {
        let type_name = |t: &homing_pddl::model::TypeId| domain.types[t.index()].name.clone();
        Self {
            predicates: domain
                .predicates
                .iter()
                .map(|predicate| (predicate.name.clone(), predicate.parameters.len()))
                .collect(),
            types: domain.types[1..]
                .iter()
                .map(|t| (t.name.clone(), t.parents.iter().map(type_name).collect()))
                .collect(),
            actions: domain
                .actions
                .iter()
                .map(|action| (action.name.clone(), action.parameters.len()))
                .collect(),
        }
    }

    /// The signature that all tasks share, of which this is the first.
    pub(crate) fn shared<'t>(
        first: &Task,
        tasks: impl IntoIterator<Item = &'t Task>,
    ) -> Result<Self, MixedDomains> {
        let signature = Self::of(&first.problem().domain);
        for (problem, task) in tasks.into_iter().enumerate() {
            let differences = signature.differences(&Self::of(&task.problem().domain));
            if !differences.is_empty() {
                return Err(MixedDomains {
                    problem,
                    differences,
                });
            }
        }
        Ok(signature)
    }

    /// Whether a domain is the one that this was taken from.
    ///
    /// # Errors
    ///
    /// With everything that differs.
    pub(crate) fn check(&self, domain: &Domain) -> Result<(), ModelError> {
        none(self.differences(&Self::of(domain)))
    }

    /// Like [`check`](Self::check), where the order of declarations does not matter.
    pub(crate) fn check_names(&self, domain: &Domain) -> Result<(), ModelError> {
        let mut differences = self.differences(&Self::of(domain));
        differences.retain(|difference| !matches!(difference, Difference::Order { .. }));
        none(differences)
    }

    /// Every difference to another signature, in words.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        fn compare<T: PartialEq>(
            kind: &'static str,
            ours: &[(String, T)],
            theirs: &[(String, T)],
            describe: impl Fn(&T) -> String,
            found: &mut Vec<Difference>,
        ) {
            let before = found.len();
            for (name, shape) in ours {
                match theirs.iter().find(|(other, _)| other == name) {
                    None => found.push(Difference::Missing {
                        kind,
                        name: name.clone(),
                    }),
                    Some((_, other)) if other != shape => found.push(Difference::Changed {
                        kind,
                        name: name.clone(),
                        expected: describe(shape),
                        found: describe(other),
                    }),
                    Some(_) => {}
                }
            }
            for (name, _) in theirs {
                if ours.iter().all(|(other, _)| other != name) {
                    found.push(Difference::Unknown {
                        kind,
                        name: name.clone(),
                    });
                }
            }
            let same_names = found.len() == before;
            if same_names && ours.iter().zip(theirs).any(|(a, b)| a.0 != b.0) {
                found.push(Difference::Order { kind });
            }
        }
        let mut found = Vec::new();
        let (mine, theirs) = (&self.predicates, &other.predicates);
        compare(
            "predicate",
            mine,
            theirs,
            |n| format!("of arity {n}"),
            &mut found,
        );
        let under = |parents: &Vec<String>| format!("under {}", parents.join(", "));
        compare("type", &self.types, &other.types, under, &mut found);
        let (mine, theirs) = (&self.actions, &other.actions);
        compare(
            "action",
            mine,
            theirs,
            |n| format!("of {n} parameters"),
            &mut found,
        );
        found
    }
}

/// One way in which a domain is not the one a model was trained for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The domain lacks something.
    Missing {
        /// What kind of thing.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// The domain has something more.
    Unknown {
        /// What kind of thing.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// Something has another arity or other supertypes.
    Changed {
        /// What kind of thing.
        kind: &'static str,
        /// Its name.
        name: String,
        /// What the model has.
        expected: String,
        /// What the domain has.
        found: String,
    },
    /// The same names come in another order.
    Order {
        /// What kind of thing.
        kind: &'static str,
    },
}

fn none(differences: Vec<Difference>) -> Result<(), ModelError> {
    if differences.is_empty() {
        Ok(())
    } else {
        Err(ModelError::OtherDomain { differences })
    }
}

/// A problem is of another domain than the first.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedDomains {
    /// Which problem, counted from 0.
    pub problem: usize,
    /// What differs.
    pub differences: Vec<Difference>,
}

impl fmt::Display for MixedDomains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.problem + 1;
        write!(f, "problem {number} is of another domain than the first:")?;
        let mut differences = self.differences.iter();
        differences.try_for_each(|difference| write!(f, "\n  {difference}"))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { kind, name } => write!(f, "the domain has no {kind} `{name}`"),
            Self::Unknown { kind, name } => write!(f, "the model knows no {kind} `{name}`"),
            Self::Changed {
                kind,
                name,
                expected,
                found,
            } => {
                write!(
                    f,
                    "{kind} `{name}` is {expected} in the model, {found} in the domain"
                )
            }
            Self::Order { kind } => write!(f, "the {kind}s are declared in another order"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_difference_is_named() {
        let names = |list: &[(&str, usize)]| -> Vec<(String, usize)> {
            list.iter()
                .map(|(name, n)| ((*name).to_owned(), *n))
                .collect()
        };
        let of_type = |name: &str, parent: &str| (name.to_owned(), vec![parent.to_owned()]);
        let model = Signature {
            predicates: names(&[("on", 2), ("clear", 1), ("held", 1)]),
            types: vec![of_type("block", "object")],
            actions: names(&[("stack", 2), ("lift", 1)]),
        };
        let domain = Signature {
            predicates: names(&[("on", 3), ("clear", 1), ("wet", 0)]),
            types: vec![of_type("block", "thing")],
            actions: names(&[("lift", 1), ("stack", 2)]),
        };
        let found: Vec<String> = model
            .differences(&domain)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            found,
            [
                "predicate `on` is of arity 2 in the model, of arity 3 in the domain",
                "the domain has no predicate `held`",
                "the model knows no predicate `wet`",
                "type `block` is under object in the model, under thing in the domain",
                "the actions are declared in another order",
            ]
        );
        assert_eq!(model.differences(&model), []);
    }
}
