//! Satellite: each satellite has 1 to i instruments; an instrument supports 1 to 3 modes (all if
//! there are fewer) and has 1 to max(1, t/3) of the targets to calibrate on; a mode that no
//! instrument supports is given to any one. A satellite points anywhere, at targets and
//! observations alike; with probability 2/5 it must point somewhere in the end (perhaps where it
//! points already). Of each observation an image is wanted in 1 to max(1, m/3) modes.
//!
//! Solvable: for an image take an instrument that supports the mode, switch the others of its
//! satellite off and it on, calibrate it on a target of its own, turn and take the image; at the
//! end turn each satellite where it must point. An image is wanted of every observation and none
//! is there at the start, so no problem is trivial.

use homing_pddl::Problem;
use homing_pddl::model::ObjectId;
use serde::{Deserialize, Serialize};

use super::{MOST, ParameterError, check};

/// What a problem is drawn from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Satellites.
    pub satellites: usize,
    /// Instruments on a satellite at the most.
    pub instruments: usize,
    /// Modes.
    pub modes: usize,
    /// Targets to calibrate on.
    pub targets: usize,
    /// Things to observe.
    pub observations: usize,
}

impl Parameters {
    pub(super) fn label(self) -> String {
        format!(
            "{}-{}-{}-{}-{}",
            self.satellites, self.instruments, self.modes, self.targets, self.observations
        )
    }
}

/// An instrument supports so many modes at the most.
const MODES_OF_AN_INSTRUMENT: usize = 3;

const MODE_NAMES: [&str; 4] = ["infrared", "image", "spectrograph", "thermograph"];
const TARGET_NAMES: [&str; 2] = ["star", "groundstation"];
const OBSERVATION_NAMES: [&str; 3] = ["star", "phenomenon", "planet"];

/// Draws a problem.
///
/// # Errors
///
/// If there is none of some kind.
pub fn generate(parameters: &Parameters, seed: u64) -> Result<Problem, ParameterError> {
    check("satellites", parameters.satellites, 1)?;
    check("instruments", parameters.instruments, 1)?;
    check("modes", parameters.modes, 1)?;
    check("targets", parameters.targets, 1)?;
    check("observations", parameters.observations, 1)?;
    let most = parameters.satellites * parameters.instruments;
    if most > MOST {
        return Err(ParameterError::OutOfRange {
            name: "instruments on all satellites",
            given: most,
            least: 1,
            most: MOST,
        });
    }
    let all = super::Parameters::from(*parameters);
    let mut random = all.random(seed);
    let mut builder = all.builder();

    // Which satellite has which instruments, and what each can do.
    let fleet: Vec<usize> = (0..parameters.satellites)
        .map(|_| 1 + random.below(parameters.instruments))
        .collect();
    let count: usize = fleet.iter().sum();
    let mut supports: Vec<Vec<usize>> = (0..count)
        .map(|_| {
            let modes = 1 + random.below(MODES_OF_AN_INSTRUMENT);
            random.distinct(modes, parameters.modes)
        })
        .collect();
    let first: Vec<usize> = fleet
        .iter()
        .scan(0, |next, &count| {
            Some(std::mem::replace(next, *next + count))
        })
        .collect();
    for mode in 0..parameters.modes {
        if !supports.iter().any(|modes| modes.contains(&mode)) {
            let satellite = random.below(parameters.satellites);
            let instrument = first[satellite] + random.below(fleet[satellite]);
            supports[instrument].push(mode);
        }
    }

    let mut satellites = Vec::new();
    let mut instruments = Vec::new();
    for (satellite, &count) in fleet.iter().enumerate() {
        satellites.push(builder.object(format!("satellite{satellite}"), "satellite"));
        instruments.extend(builder.objects("instrument", instruments.len(), count, "instrument"));
    }
    let modes: Vec<ObjectId> = (0..parameters.modes)
        .map(|mode| {
            let name = MODE_NAMES[random.below(MODE_NAMES.len())];
            builder.object(format!("{name}{mode}"), "mode")
        })
        .collect();
    let directions: Vec<ObjectId> = (0..parameters.targets + parameters.observations)
        .map(|at| {
            let names: &[&str] = if at < parameters.targets {
                &TARGET_NAMES
            } else {
                &OBSERVATION_NAMES
            };
            let name = names[random.below(names.len())];
            builder.object(format!("{name}{at}"), "direction")
        })
        .collect();

    for (satellite, &count) in fleet.iter().enumerate() {
        let own = first[satellite]..first[satellite] + count;
        for instrument in own.clone() {
            for &mode in &supports[instrument] {
                builder.fact("supports", &[instruments[instrument], modes[mode]]);
            }
            let targets = 1 + random.below((parameters.targets / 3).max(1));
            for target in random.distinct(targets, parameters.targets) {
                let arguments = [instruments[instrument], directions[target]];
                builder.fact("calibration_target", &arguments);
            }
        }
        for instrument in own {
            builder.fact(
                "on_board",
                &[instruments[instrument], satellites[satellite]],
            );
        }
        builder.fact("power_avail", &[satellites[satellite]]);
        let start = directions[random.below(directions.len())];
        builder.fact("pointing", &[satellites[satellite], start]);
        if random.below(5) < 2 {
            let end = directions[random.below(directions.len())];
            builder.goal("pointing", &[satellites[satellite], end]);
        }
    }
    for &observation in &directions[parameters.targets..] {
        let images = 1 + random.below((parameters.modes / 3).max(1));
        for mode in random.distinct(images, parameters.modes) {
            builder.goal("have_image", &[observation, modes[mode]]);
        }
    }
    Ok(builder.finish(all.problem_name(seed)))
}
