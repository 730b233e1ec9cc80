//! Which action grew too large when grounding was ended, and how far it had come.

use std::fmt;

use homing_pddl::Problem;

use super::program::{Origin, Program};
use super::reach::{Found, Reachable};

/// The action that grounding spent most on.
#[derive(Clone, Debug, PartialEq)]
pub struct LargestAction {
    /// Its name in the domain.
    pub action: String,
    /// Its ground actions found so far.
    pub found: usize,
    /// Arguments tried so far, in part or in full.
    pub tried: u64,
    /// Its parameters, and how many objects fit each.
    pub parameters: Vec<(String, usize)>,
}

impl LargestAction {
    /// The rule with the most ways tried, as far as rules belong to actions.
    pub(super) fn of(problem: &Problem, program: &Program, found: &[Found]) -> Option<Self> {
        let (rule, most) = program
            .rules
            .iter()
            .zip(found)
            .max_by_key(|(_, found)| found.tried)?;
        let schema = match rule.origin {
            Origin::Action(schema) => schema,
            Origin::Effect(action) => match program.rules[action].origin {
                Origin::Action(schema) => schema,
                _ => return None,
            },
            Origin::Axiom => return None,
        };
        let domain = &problem.domain;
        let fitting = |types: &_| {
            let objects = problem.objects.iter();
            objects
                .filter(|object| domain.fits(&object.types, types))
                .count()
        };
        let parameters = rule.parameters.iter();
        Some(Self {
            action: domain.actions[schema.index()].name.clone(),
            found: most.rows,
            tried: most.tried,
            parameters: parameters
                .map(|parameter| (format!("?{}", parameter.name), fitting(&parameter.types)))
                .collect(),
        })
    }

    /// The rule with the most arguments, once all are found.
    pub(super) fn in_all(
        problem: &Problem,
        program: &Program,
        reachable: &Reachable,
    ) -> Option<Self> {
        let found: Vec<Found> = reachable
            .arguments
            .iter()
            .map(|rows| Found {
                rows: rows.len(),
                tried: rows.len() as u64,
            })
            .collect();
        Self::of(problem, program, &found)
    }

    /// How many there would be if every combination of objects were reachable.
    pub fn combinations(&self) -> f64 {
        let parameters = self.parameters.iter();
        parameters.map(|&(_, objects)| objects as f64).product()
    }
}

/// A number as people read it: `12345` or `4.7e10`.
fn readable(number: f64) -> String {
    if number < 1e9 {
        format!("{number:.0}")
    } else {
        format!("{number:.1e}")
    }
}

impl fmt::Display for LargestAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "action `{}` has {} ground actions so far, after {} partial or full combinations of \
             objects out of up to {}",
            self.action,
            self.found,
            readable(self.tried as f64),
            readable(self.combinations()),
        )?;
        for (index, (name, objects)) in self.parameters.iter().enumerate() {
            let before = if index == 0 { " (" } else { ", " };
            write!(f, "{before}{name}: {objects}")?;
        }
        let after = if self.parameters.is_empty() { "" } else { ")" };
        write!(
            f,
            "{after}; narrower types, preconditions that nothing changes, or an action split in two \
             would keep it small"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_which_action_and_how_far() {
        let largest = LargestAction {
            action: "spin".to_owned(),
            found: 12,
            tried: 3_400_000_000,
            parameters: vec![("?x".to_owned(), 60), ("?y".to_owned(), 50)],
        };
        assert_eq!(
            largest.to_string(),
            "action `spin` has 12 ground actions so far, after 3.4e9 partial or full combinations \
             of objects out of up to 3000 (?x: 60, ?y: 50); narrower types, preconditions that \
             nothing changes, or an action split in two would keep it small"
        );
    }
}
