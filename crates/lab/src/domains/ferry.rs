//! Ferry: where each car is, where it must go and where the ferry is are drawn at random, each
//! place as likely as any other. A car may already be where it must go.
//!
//! Solvable: fetch the cars one after the other.

use homing_pddl::Problem;
use serde::{Deserialize, Serialize};

use super::{ParameterError, check};

/// What a problem is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Places.
    pub locations: usize,
    /// Cars.
    pub cars: usize,
}

impl Parameters {
    pub(super) fn label(self) -> String {
        format!("{}-{}", self.locations, self.cars)
    }
}

/// Draws a problem.
///
/// # Errors
///
/// If there are fewer than two places or no car.
pub fn generate(parameters: &Parameters, seed: u64) -> Result<Problem, ParameterError> {
    check("locations", parameters.locations, 2)?;
    check("cars", parameters.cars, 1)?;
    let all = super::Parameters::from(*parameters);
    let mut random = all.random(seed);
    let mut builder = all.builder();
    let places = builder.objects("l", 0, parameters.locations, "object");
    let cars = builder.objects("c", 0, parameters.cars, "object");
    builder.each("location", &places);
    builder.each("car", &cars);
    for (index, &one) in places.iter().enumerate() {
        for &other in &places[index + 1..] {
            builder.fact("not-eq", &[one, other]);
            builder.fact("not-eq", &[other, one]);
        }
    }
    builder.fact("empty-ferry", &[]);
    for &car in &cars {
        builder.fact("at", &[car, places[random.below(places.len())]]);
    }
    for &car in &cars {
        builder.goal("at", &[car, places[random.below(places.len())]]);
    }
    builder.fact("at-ferry", &[places[random.below(places.len())]]);
    Ok(builder.finish(all.problem_name(seed)))
}
