//! The training problems of STRIPS-HGN, after its authors: few and small.
//!
//! Blocks of 3, 4 and 5, ten of each; a ferry with 2 to 4 locations and 1 to 3 cars, one of each;
//! gripper with 1 to 3 balls, the classic ones, where all balls start in one room and must get to
//! the other. Test problems have balls in either room: a shift that the original had too.

use std::collections::BTreeMap;

use homing_learner::HgnConfig;
use serde::{Deserialize, Serialize};

use super::plan::ProblemFile;
use super::spec::SpecError;
use crate::domains::{DomainName, Parameters, blocks, ferry};
use crate::problem_builder::ProblemBuilder;
use crate::suite::{Draw, draw};

/// Seeds of drawn problems: no suite has them.
const FIRST_SEED: u64 = 9_000_000;

/// How hypergraph networks are trained in an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HgnSpec {
    /// How many networks are trained for each domain.
    pub seeds: u64,
    /// Settings over the usual ones.
    pub config: toml::Table,
    /// Settings over these, by domain.
    pub domain: BTreeMap<String, toml::Table>,
}

impl Default for HgnSpec {
    fn default() -> Self {
        Self {
            seeds: 1,
            config: toml::Table::new(),
            domain: BTreeMap::new(),
        }
    }
}

impl HgnSpec {
    /// The settings for a domain.
    ///
    /// # Errors
    ///
    /// If a setting is wrong.
    pub fn config(&self, domain: &str) -> Result<HgnConfig, SpecError> {
        let wrong = |error: &dyn std::fmt::Display| SpecError::one(format!("[hgn]: {error}"));
        let usual = toml::Table::try_from(HgnConfig::default());
        let mut table = usual.map_err(|error| wrong(&error))?;
        table.extend(self.config.clone());
        if let Some(own) = self.domain.get(domain) {
            table.extend(own.clone());
        }
        let config: HgnConfig = table.try_into().map_err(|error| wrong(&error))?;
        let problems = config.problems();
        if problems.is_empty() {
            Ok(config)
        } else {
            Err(wrong(&problems.join("; ")))
        }
    }
}

/// The problems to train on; `None` for a domain that the authors did not have.
pub(super) fn training_problems(domain: DomainName) -> Option<Vec<ProblemFile>> {
    match domain {
        DomainName::Blocks => Some(drawn(
            &[3, 4, 5].map(|blocks| blocks::Parameters { blocks }.into()),
            10,
        )),
        DomainName::Ferry => {
            let all = [2, 3, 4].into_iter().flat_map(|locations| {
                [1, 2, 3].map(|cars| ferry::Parameters { locations, cars }.into())
            });
            Some(drawn(&all.collect::<Vec<_>>(), 1))
        }
        DomainName::Gripper => Some([1, 2, 3].map(classic_gripper).to_vec()),
        _ => None,
    }
}

/// The first so many problems of each setting that are worth a plan, all different.
fn drawn(settings: &[Parameters], each: usize) -> Vec<ProblemFile> {
    let mut files = Vec::new();
    for &parameters in settings {
        let draws: Vec<Draw> = (FIRST_SEED..FIRST_SEED + 1_000)
            .map(|seed| Draw { parameters, seed })
            .collect();
        let all = draw(&draws, |_| {}).expect("small settings that can be drawn");
        files.extend(all.instances.iter().take(each).map(ProblemFile::from));
    }
    files
}

fn classic_gripper(balls: usize) -> ProblemFile {
    let mut builder = ProblemBuilder::new(DomainName::Gripper.domain());
    let rooms = ["rooma", "roomb"].map(|name| builder.object(name.to_owned(), "object"));
    let grippers = ["left", "right"].map(|name| builder.object(name.to_owned(), "object"));
    let all = builder.objects("ball", 1, balls, "object");
    builder.each("room", &rooms);
    builder.each("gripper", &grippers);
    builder.each("ball", &all);
    builder.each("free", &grippers);
    builder.fact("at-robby", &[rooms[0]]);
    for &ball in &all {
        builder.fact("at", &[ball, rooms[0]]);
        builder.goal("at", &[ball, rooms[1]]);
    }
    let problem = builder.finish(format!("gripper-classic-{balls}"));
    ProblemFile {
        file: format!("classic-{balls}.pddl"),
        text: problem.to_string(),
        objects: problem.objects.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_problems_as_the_authors_had() {
        let count = |domain| training_problems(domain).map(|problems| problems.len());
        assert_eq!(count(DomainName::Blocks), Some(30));
        assert_eq!(count(DomainName::Ferry), Some(9));
        assert_eq!(count(DomainName::Gripper), Some(3));
        assert_eq!(count(DomainName::Visitall), None);
        let largest = training_problems(DomainName::Ferry).unwrap().pop().unwrap();
        assert_eq!(largest.objects, 7);
    }

    #[test]
    fn settings_of_a_domain_go_over_those_of_all() {
        let spec: HgnSpec =
            toml::from_str("config.bins = 5\nconfig.epochs = 7\ndomain.gripper.bins = 3").unwrap();
        let gripper = spec.config("gripper").unwrap();
        assert_eq!((gripper.bins, gripper.epochs), (3, 7));
        assert_eq!(spec.config("blocks").unwrap().bins, 5);
        let wrong: HgnSpec = toml::from_str("config.folds = 1").unwrap();
        assert!(wrong.config("blocks").is_err());
    }
}
