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
    let mut scene = all.scene();
    let rooms = ["rooma", "roomb"].map(|name| scene.object(name.to_owned(), "object"));
    let grippers = ["left", "right"].map(|name| scene.object(name.to_owned(), "object"));
    let balls = scene.objects("ball", 1, parameters.balls, "object");
    scene.each("room", &rooms);
    scene.each("gripper", &grippers);
    scene.each("ball", &balls);
    scene.each("free", &grippers);
    for &ball in &balls {
        scene.fact("at", &[ball, rooms[random.below(2)]]);
    }
    for &ball in &balls {
        scene.goal("at", &[ball, rooms[random.below(2)]]);
    }
    scene.fact("at-robby", &[rooms[random.below(2)]]);
    Ok(scene.finish(all.problem_name(seed)))
}
