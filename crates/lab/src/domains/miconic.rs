//! Miconic: every passenger waits on any floor and wants to any other; the lift starts on the
//! lowest floor.
//!
//! Solvable: serve the passengers one after the other. Nobody is served at the start, so no
//! problem is trivial.

use homing_pddl::Problem;
use serde::{Deserialize, Serialize};

use super::{ParameterError, check};

/// What a problem is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Floors.
    pub floors: usize,
    /// Passengers.
    pub passengers: usize,
}

impl Parameters {
    pub(super) fn label(self) -> String {
        format!("{}-{}", self.floors, self.passengers)
    }
}

/// Draws a problem.
///
/// # Errors
///
/// If there are fewer than two floors or no passenger.
pub fn generate(parameters: &Parameters, seed: u64) -> Result<Problem, ParameterError> {
    check("floors", parameters.floors, 2)?;
    check("passengers", parameters.passengers, 1)?;
    let all = super::Parameters::from(*parameters);
    let mut random = all.random(seed);
    let mut builder = all.builder();
    let passengers = builder.objects("p", 0, parameters.passengers, "passenger");
    let floors = builder.objects("f", 0, parameters.floors, "floor");
    for (index, &lower) in floors.iter().enumerate() {
        for &upper in &floors[index + 1..] {
            builder.fact("above", &[lower, upper]);
        }
    }
    for &passenger in &passengers {
        let origin = random.below(floors.len());
        let other = random.below(floors.len() - 1);
        let destination = other + usize::from(other >= origin);
        builder.fact("origin", &[passenger, floors[origin]]);
        builder.fact("destin", &[passenger, floors[destination]]);
    }
    builder.fact("lift-at", &[floors[0]]);
    for &passenger in &passengers {
        builder.goal("served", &[passenger]);
    }
    Ok(builder.finish(all.problem_name(seed)))
}
