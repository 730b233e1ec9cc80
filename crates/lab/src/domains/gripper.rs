//! Gripper: the room each ball is in, the room it must get to and the robot's room are drawn at
//! random. Where the robot ends does not matter.
//!
//! Solvable: carry the balls over one after the other.

use homing_pddl::Problem;
use serde::{Deserialize, Serialize};

use super::{ParameterError, check};

/// What a problem is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Balls.
    pub balls: usize,
}

impl Parameters {
    pub(super) fn label(self) -> String {
        self.balls.to_string()
    }
}

/// Draws a problem.
///
/// # Errors
///
/// If there is no ball.
pub fn generate(parameters: &Parameters, seed: u64) -> Result<Problem, ParameterError> {
    check("balls", parameters.balls, 1)?;
    let all = super::Parameters::from(*parameters);
    let mut random = all.random(seed);
    let mut builder = all.builder();
    let rooms = ["rooma", "roomb"].map(|name| builder.object(name.to_owned(), "object"));
    let grippers = ["left", "right"].map(|name| builder.object(name.to_owned(), "object"));
    let balls = builder.objects("ball", 1, parameters.balls, "object");
    builder.each("room", &rooms);
    builder.each("gripper", &grippers);
    builder.each("ball", &balls);
    builder.each("free", &grippers);
    for &ball in &balls {
        builder.fact("at", &[ball, rooms[random.below(2)]]);
    }
    for &ball in &balls {
        builder.goal("at", &[ball, rooms[random.below(2)]]);
    }
    builder.fact("at-robby", &[rooms[random.below(2)]]);
    Ok(builder.finish(all.problem_name(seed)))
}
