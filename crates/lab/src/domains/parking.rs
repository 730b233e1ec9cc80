//! Parking: at the start a random number of cars, as many as are possible at the most and half of
//! them at the least, stand at the first curbs; the rest stand behind the first of those; which
//! car is where is a random order. The goal is always the same: car 0 at curb 0, car 1 at curb 1
//! and so on, the rest behind car 0, car 1 and so on.
//!
//! Solvable for three curbs or more and at most 2 (curbs - 1) cars: two places are free, so one
//! car can be moved to leave one curb empty and all others full at worst. Over the empty curb, the
//! two cars of a curb change their order and cars of two curbs change places, hence every
//! arrangement is reached. (A test explores all of 3 curbs with 4 cars.) With two curbs and two
//! cars the cars cannot change places: such starts are drawn again, although the field's
//! generators give them out.

use homing_pddl::Problem;
use serde::{Deserialize, Serialize};

use super::{ParameterError, check};
use crate::random::Random;

/// What a problem is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Curbs.
    pub curbs: usize,
    /// Cars.
    pub cars: usize,
}

impl Parameters {
    pub(super) fn label(self) -> String {
        format!("{}-{}", self.curbs, self.cars)
    }
}

/// How many cars there can be.
pub(crate) fn most_cars(curbs: usize) -> usize {
    2 * curbs.saturating_sub(1)
}

/// Cars in order: first those at the curbs, then those behind the first of them.
struct Arrangement {
    cars: Vec<usize>,
    at_curbs: usize,
}

impl Arrangement {
    fn goal(parameters: Parameters) -> Self {
        Self {
            cars: (0..parameters.cars).collect(),
            at_curbs: parameters.cars.min(parameters.curbs),
        }
    }

    fn random(parameters: Parameters, random: &mut Random) -> Self {
        let least = parameters.cars.div_ceil(2);
        let most = parameters.cars.min(parameters.curbs);
        let at_curbs = least + random.below(most - least + 1);
        let mut cars: Vec<usize> = (0..parameters.cars).collect();
        random.shuffle(&mut cars);
        Self { cars, at_curbs }
    }

    /// Whether the goal is out of reach: with two curbs and two cars, car 1 at curb 0 cannot give
    /// way to car 0 and get past it.
    fn is_stuck(&self, parameters: Parameters) -> bool {
        parameters.curbs == 2 && parameters.cars == 2 && self.cars[0] != 0
    }

    fn behind(&self, curb: usize) -> Option<usize> {
        self.cars.get(self.at_curbs + curb).copied()
    }
}

/// Numbers with leading zeros, so that names sort as numbers do.
fn names(prefix: &str, count: usize) -> impl Iterator<Item = String> {
    let width = (count - 1).to_string().len();
    (0..count).map(move |number| format!("{prefix}{number:0width$}"))
}

/// Draws a problem.
///
/// # Errors
///
/// If there are fewer than two curbs or cars, or too many cars.
pub fn generate(parameters: &Parameters, seed: u64) -> Result<Problem, ParameterError> {
    let Parameters { curbs, cars } = *parameters;
    check("curbs", curbs, 2)?;
    check("cars", cars, 2)?;
    if cars > most_cars(curbs) {
        return Err(ParameterError::TooManyCars { cars, curbs });
    }
    let all = super::Parameters::from(*parameters);
    let mut random = all.random(seed);
    let mut builder = all.builder();
    let car: Vec<_> = names("car_", cars)
        .map(|name| builder.object(name, "car"))
        .collect();
    let curb: Vec<_> = names("curb_", curbs)
        .map(|name| builder.object(name, "curb"))
        .collect();
    let mut start = Arrangement::random(*parameters, &mut random);
    while start.is_stuck(*parameters) {
        start = Arrangement::random(*parameters, &mut random);
    }
    for at in 0..curbs {
        if at >= start.at_curbs {
            builder.fact("curb-clear", &[curb[at]]);
            continue;
        }
        let front = car[start.cars[at]];
        builder.fact("at-curb", &[front]);
        builder.fact("at-curb-num", &[front, curb[at]]);
        match start.behind(at) {
            Some(behind) => {
                builder.fact("behind-car", &[car[behind], front]);
                builder.fact("car-clear", &[car[behind]]);
            }
            None => builder.fact("car-clear", &[front]),
        }
    }
    let goal = Arrangement::goal(*parameters);
    for at in 0..goal.at_curbs {
        let front = car[goal.cars[at]];
        builder.goal("at-curb-num", &[front, curb[at]]);
        if let Some(behind) = goal.behind(at) {
            builder.goal("behind-car", &[car[behind], front]);
        }
    }
    Ok(builder.finish(all.problem_name(seed)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The cars at each curb, the front one first.
    type Street = Vec<Vec<usize>>;

    /// Moves the hindmost car of any curb to any other curb with room.
    fn neighbours(street: &Street) -> Vec<Street> {
        let mut all = Vec::new();
        for from in (0..street.len()).filter(|&curb| !street[curb].is_empty()) {
            for to in (0..street.len()).filter(|&curb| curb != from && street[curb].len() < 2) {
                let mut next = street.clone();
                let car = next[from].pop().expect("there is a car");
                next[to].push(car);
                all.push(next);
            }
        }
        all
    }

    fn reachable(curbs: usize, cars: usize) -> usize {
        let mut goal: Street = vec![Vec::new(); curbs];
        for car in 0..cars {
            goal[car % curbs].push(car);
        }
        let mut seen = BTreeSet::from([goal.clone()]);
        let mut open = vec![goal];
        while let Some(street) = open.pop() {
            for next in neighbours(&street) {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        seen.len()
    }

    /// Ways to choose `few` of `many` in order.
    fn ordered(many: usize, few: usize) -> usize {
        (many - few + 1..=many).product()
    }

    /// All arrangements: k curbs are in use, k cars stand at them, the others behind.
    fn arrangements(curbs: usize, cars: usize) -> usize {
        (cars.div_ceil(2)..=cars.min(curbs))
            .map(|k| {
                let used = ordered(curbs, k) / ordered(k, k);
                used * ordered(cars, k) * ordered(k, cars - k)
            })
            .sum()
    }

    #[test]
    fn from_three_curbs_on_every_arrangement_is_in_reach() {
        for (curbs, cars) in [(3, 2), (3, 3), (3, 4), (4, 5), (4, 6)] {
            assert_eq!(reachable(curbs, cars), arrangements(curbs, cars));
        }
        assert_eq!(arrangements(4, 6), 7200);
    }

    #[test]
    fn two_cars_on_two_curbs_cannot_change_places() {
        assert_eq!((reachable(2, 2), arrangements(2, 2)), (3, 6));
        let parameters = Parameters { curbs: 2, cars: 2 };
        for seed in 0..50 {
            let problem = generate(&parameters, seed).unwrap();
            // (at-curb-num car_0 curb_0)
            let front = &problem.init[1].arguments;
            assert_eq!((front[0].0, front[1].0), (0, 2));
        }
    }
}
