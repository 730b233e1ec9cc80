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
    let mut scene = all.scene();
    let places = scene.objects("l", 0, parameters.locations, "object");
    let cars = scene.objects("c", 0, parameters.cars, "object");
    scene.each("location", &places);
    scene.each("car", &cars);
    for (index, &one) in places.iter().enumerate() {
        for &other in &places[index + 1..] {
            scene.fact("not-eq", &[one, other]);
            scene.fact("not-eq", &[other, one]);
        }
    }
    scene.fact("empty-ferry", &[]);
    for &car in &cars {
        scene.fact("at", &[car, places[random.below(places.len())]]);
    }
    for &car in &cars {
        scene.goal("at", &[car, places[random.below(places.len())]]);
    }
    scene.fact("at-ferry", &[places[random.below(places.len())]]);
    Ok(scene.finish(all.problem_name(seed)))
}
