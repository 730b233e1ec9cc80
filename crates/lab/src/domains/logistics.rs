//! Logistics: each city has its truck at any of its places and its airport at the first; packages
//! start and end at any place of any city, airplanes start at any airport. A package may already
//! be where it must go.
//!
//! Solvable: a truck brings a package to the airport, an airplane to the other city, a truck to
//! its place; each is a round trip at worst.

use homing_pddl::Problem;
use homing_pddl::model::ObjectId;
use serde::{Deserialize, Serialize};

use super::{MOST, ParameterError, check};
use crate::random::Random;

/// What a problem is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Airplanes.
    pub airplanes: usize,
    /// Cities, each with a truck.
    pub cities: usize,
    /// Places in each city.
    pub city_size: usize,
    /// Packages.
    pub packages: usize,
}

impl Parameters {
    pub(super) fn label(self) -> String {
        format!(
            "{}-{}-{}-{}",
            self.airplanes, self.cities, self.city_size, self.packages
        )
    }
}

/// Draws a problem.
///
/// # Errors
///
/// If there is no city, no place in a city, no package, or no airplane between several cities.
pub fn generate(parameters: &Parameters, seed: u64) -> Result<Problem, ParameterError> {
    let Parameters {
        airplanes,
        cities,
        city_size,
        packages,
    } = *parameters;
    check("airplanes", airplanes, 0)?;
    check("cities", cities, 1)?;
    check("locations in a city", city_size, 1)?;
    check("packages", packages, 1)?;
    if airplanes == 0 && cities > 1 {
        return Err(ParameterError::NoAirplane { cities });
    }
    if cities * city_size > MOST {
        return Err(ParameterError::OutOfRange {
            name: "locations in all cities",
            given: cities * city_size,
            least: 1,
            most: MOST,
        });
    }
    let all = super::Parameters::from(*parameters);
    let mut random = all.random(seed);
    let mut builder = all.builder();
    let airplanes = builder.objects("a", 0, airplanes, "object");
    let city_objects = builder.objects("c", 0, cities, "object");
    let trucks = builder.objects("t", 0, cities, "object");
    let places: Vec<Vec<ObjectId>> = (0..cities)
        .map(|city| builder.objects(&format!("l{city}-"), 0, city_size, "object"))
        .collect();
    let packages = builder.objects("p", 0, packages, "object");
    builder.each("airplane", &airplanes);
    builder.each("city", &city_objects);
    builder.each("truck", &trucks);
    for (city, places) in city_objects.iter().zip(&places) {
        for &place in places {
            builder.fact("location", &[place]);
            builder.fact("in-city", &[place, *city]);
        }
    }
    for places in &places {
        builder.fact("airport", &[places[0]]);
    }
    builder.each("obj", &packages);
    for (&truck, places) in trucks.iter().zip(&places) {
        builder.fact("at", &[truck, places[random.below(city_size)]]);
    }
    let anywhere = |random: &mut Random| places[random.below(cities)][random.below(city_size)];
    for &package in &packages {
        builder.fact("at", &[package, anywhere(&mut random)]);
    }
    for &package in &packages {
        builder.goal("at", &[package, anywhere(&mut random)]);
    }
    for &airplane in &airplanes {
        builder.fact("at", &[airplane, places[random.below(cities)][0]]);
    }
    Ok(builder.finish(all.problem_name(seed)))
}
