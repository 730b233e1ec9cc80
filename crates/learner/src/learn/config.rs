//! What can be set about learning: where data come from, what is asked of the function, the kind of
//! function, and how candidates are compared. Each is a part of its own.

use serde::{Deserialize, Serialize};

use crate::counts::CountsConfig;
use crate::faults::Faults;
use crate::ranking::{ExactConfig, RankingConfig};

/// Where examples come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DataSource {
    /// True distances in problems that can be walked through.
    Exact(ExactConfig),
}

impl Default for DataSource {
    fn default() -> Self {
        Self::Exact(ExactConfig::default())
    }
}

/// What is asked of the function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Objective {
    /// The order of siblings.
    Ranking(RankingConfig),
}

impl Default for Objective {
    fn default() -> Self {
        Self::Ranking(RankingConfig::default())
    }
}

/// The kind of function, and its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FunctionConfig {
    /// Counts of colours.
    Counts(CountsConfig),
}

impl Default for FunctionConfig {
    fn default() -> Self {
        Self::Counts(CountsConfig::default())
    }
}

/// How candidates are compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SelectionConfig {
    /// Whether there is more than one candidate.
    pub candidates: bool,
    /// The largest problems that are kept out of the fit, to compare candidates on; a quarter of
    /// all at the most.
    pub held_out: usize,
    /// What one search may take, in rough nanoseconds: counted, so that runs repeat.
    pub work: u64,
}

impl Default for SelectionConfig {
    fn default() -> Self {
        Self {
            candidates: true,
            held_out: 10,
            work: 500_000_000,
        }
    }
}

impl SelectionConfig {
    /// How many times the samples of one candidate another one may want.
    pub(crate) fn most_samples(&self) -> usize {
        if self.candidates { 3 } else { 1 }
    }
}

/// How a value function is learnt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearnConfig {
    /// Where examples come from.
    pub data: DataSource,
    /// What is asked of the function.
    pub objective: Objective,
    /// The kind of function, and its settings.
    pub function: FunctionConfig,
    /// How candidates are compared.
    pub selection: SelectionConfig,
}

impl LearnConfig {
    /// Everything that is wrong with it, in words.
    pub fn problems(&self) -> Vec<String> {
        let DataSource::Exact(data) = &self.data;
        let Objective::Ranking(ranking) = &self.objective;
        let FunctionConfig::Counts(function) = &self.function;
        let mut faults = Faults::default();
        faults.and(function.problems());
        faults.at_least_one("states", data.states as u64);
        faults.at_least_one("samples", data.samples as u64);
        faults.at_least_one("problems", data.problems as u64);
        faults.and(ranking.problems());
        faults.all()
    }
}
