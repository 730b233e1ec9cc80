//! Graph networks in an experiment: how they are trained, and the searches that their policies guide.

use std::collections::BTreeMap;

use homing_learner::GnnConfig;
use homing_planner::SearchKind;
use serde::{Deserialize, Serialize};

use super::spec::SpecError;
use crate::suite::Suite;

/// How graph networks are trained in an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GnnSpec {
    /// How many networks are trained for each domain.
    pub seeds: u64,
    /// The suite of the eight domains.
    pub suite: Suite,
    /// So many of its problems, spread over it; all by default.
    pub problems: Option<usize>,
    /// The searches that they guide.
    pub searches: Vec<SearchKind>,
    /// Settings over the usual ones.
    pub config: toml::Table,
    /// Settings over these, by domain.
    pub domain: BTreeMap<String, toml::Table>,
}

impl Default for GnnSpec {
    fn default() -> Self {
        Self {
            seeds: 1,
            suite: Suite::PaperTrain,
            problems: None,
            searches: vec![
                SearchKind::GbfsH,
                SearchKind::GbfsV,
                SearchKind::GbflsH,
                SearchKind::GbflsV,
            ],
            config: toml::Table::new(),
            domain: BTreeMap::new(),
        }
    }
}

impl GnnSpec {
    /// The settings for a domain.
    ///
    /// # Errors
    ///
    /// If a setting is wrong.
    pub fn config(&self, domain: &str) -> Result<GnnConfig, SpecError> {
        let wrong = |error: &dyn std::fmt::Display| SpecError::one(format!("[gnn]: {error}"));
        let usual = toml::Table::try_from(GnnConfig::default());
        let mut table = usual.map_err(|error| wrong(&error))?;
        table.extend(self.config.clone());
        if let Some(own) = self.domain.get(domain) {
            table.extend(own.clone());
        }
        let config: GnnConfig = table.try_into().map_err(|error| wrong(&error))?;
        let problems = config.problems();
        if problems.is_empty() {
            Ok(config)
        } else {
            Err(wrong(&problems.join("; ")))
        }
    }

    /// What is wrong with it in an experiment that has these domains.
    pub(super) fn problems(&self, has: impl Fn(&str) -> bool) -> Vec<String> {
        let mut problems = Vec::new();
        for search in self.searches.iter().filter(|search| !search.uses_policy()) {
            let all = SearchKind::ALL
                .into_iter()
                .filter(|kind| kind.uses_policy());
            let all: Vec<&str> = all.map(SearchKind::name).collect();
            problems.push(format!(
                "`searches` of [gnn] names {search}; a policy guides {}",
                all.join(", ")
            ));
        }
        for name in self.domain.keys().filter(|name| !has(name)) {
            problems.push(format!(
                "[gnn.domain.{name}] is for a domain that the experiment does not have"
            ));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_searches_are_checked() {
        let spec: GnnSpec =
            toml::from_str("config.width = 64\nconfig.episodes = 7\ndomain.ferry.width = 32")
                .unwrap();
        let ferry = spec.config("ferry").unwrap();
        assert_eq!((ferry.width, ferry.episodes), (32, 7));
        assert_eq!(spec.config("blocks").unwrap().width, 64);
        assert_eq!(spec.problems(|_| true), Vec::<String>::new());
        assert_eq!(spec.problems(|name| name == "blocks").len(), 1);
        let wrong: GnnSpec = toml::from_str("searches = [\"gbfs\", \"gbfs-h\"]").unwrap();
        assert_eq!(wrong.problems(|_| true).len(), 1);
        let wrong: GnnSpec = toml::from_str("config.width = 0").unwrap();
        assert!(wrong.config("blocks").is_err());
    }
}
