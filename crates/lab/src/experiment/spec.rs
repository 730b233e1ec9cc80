//! The file that describes an experiment.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use homing_learner::TrainConfig;
use homing_planner::{HeuristicKind, SearchKind};
use serde::{Deserialize, Serialize};

use super::gnn::GnnSpec;
use super::hgn::{HgnSpec, training_problems};
use crate::domains::DomainName;
use crate::suite::Suite;

/// An experiment: what is trained on what, and evaluated on what. `docs/experiments.md` describes
/// the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What a report is headed with.
    pub title: String,
    /// Of the eight domains, these.
    #[serde(default)]
    pub domains: Vec<DomainName>,
    /// Domains of one's own, by name.
    #[serde(default)]
    pub own: BTreeMap<String, OwnDomain>,
    /// The base heuristics h.
    #[serde(default = "paper_heuristics")]
    pub heuristics: Vec<HeuristicKind>,
    /// How many models are trained for each domain and heuristic.
    #[serde(default)]
    pub seeds: u64,
    /// The seed of the first of them; the others follow.
    #[serde(default)]
    pub first_seed: u64,
    /// How they are trained.
    #[serde(default)]
    pub train: TrainSpec,
    /// How a snapshot is chosen; without it the last one is taken.
    pub select: Option<SelectSpec>,
    /// Hypergraph networks, trained and evaluated beside the rest.
    pub hgn: Option<HgnSpec>,
    /// Graph networks, trained beside the rest, each evaluated with the searches that it guides.
    pub gnn: Option<GnnSpec>,
    /// What is solved with them.
    pub evaluate: Option<EvaluateSpec>,
}

fn paper_heuristics() -> Vec<HeuristicKind> {
    crate::paper::HEURISTICS.to_vec()
}

/// Files of a domain of one's own. Paths are relative to the file of the experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnDomain {
    /// The domain.
    pub domain: PathBuf,
    /// A folder of problems to train on.
    pub train: PathBuf,
    /// A folder of problems to select with.
    pub select: Option<PathBuf>,
    /// A folder of problems to evaluate on.
    pub evaluate: Option<PathBuf>,
}

/// How models are trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrainSpec {
    /// The suite of the eight domains.
    pub suite: Suite,
    /// So many of its problems, spread over it; all by default.
    pub problems: Option<usize>,
    /// Where settings start from: `reference`, `paper` or `default`.
    pub preset: String,
    /// Settings over the preset's.
    pub config: toml::Table,
    /// Settings over these, by domain.
    pub domain: BTreeMap<String, toml::Table>,
}

impl Default for TrainSpec {
    fn default() -> Self {
        Self {
            suite: Suite::PaperTrain,
            problems: None,
            preset: "default".to_owned(),
            config: toml::Table::new(),
            domain: BTreeMap::new(),
        }
    }
}

/// How a snapshot is chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelectSpec {
    /// The suite of the eight domains.
    pub suite: Suite,
    /// So many of its problems, spread over it; all by default.
    pub problems: Option<usize>,
    /// Steps between snapshots.
    pub every: u64,
    /// Evaluations of each search.
    pub max_evaluations: u64,
}

impl Default for SelectSpec {
    fn default() -> Self {
        Self {
            suite: Suite::Validation,
            problems: None,
            every: 1_000,
            max_evaluations: 2_000,
        }
    }
}

/// What is solved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EvaluateSpec {
    /// The suite of the eight domains.
    pub suite: Suite,
    /// So many of its problems, spread over it; all by default.
    pub problems: Option<usize>,
    /// The searches.
    pub searches: Vec<SearchKind>,
    /// Whether the base heuristics are run alone as well.
    pub bases: bool,
    /// Limit on evaluations.
    pub max_evaluations: Option<u64>,
    /// Limit on wall-clock seconds.
    pub time_limit: Option<f64>,
    /// Limit on memory in MiB.
    pub memory_limit: Option<u64>,
}

impl Default for EvaluateSpec {
    fn default() -> Self {
        Self {
            suite: Suite::PaperTest,
            problems: None,
            searches: vec![SearchKind::Gbfs],
            bases: true,
            max_evaluations: Some(100_000),
            time_limit: None,
            memory_limit: None,
        }
    }
}

/// Whether a heuristic guides the search, and nothing else needs to be said about it.
fn guided(search: SearchKind) -> bool {
    search.uses_heuristic() && !search.uses_weight()
}

/// What is wrong with an experiment: everything, each in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError(pub Vec<String>);

impl SpecError {
    pub(crate) fn one(problem: impl Into<String>) -> Self {
        Self(vec![problem.into()])
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for SpecError {}

impl Spec {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// If it is not TOML or has fields that are not known; else with everything in it that is wrong
    /// or asks for nothing.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let spec: Self = toml::from_str(text).map_err(|error| SpecError::one(error.to_string()))?;
        let problems = spec.problems();
        if problems.is_empty() {
            Ok(spec)
        } else {
            Err(SpecError(problems))
        }
    }

    /// Everything that is wrong with it.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut wrong = |what: &str| problems.push(what.to_owned());
        if self.domains.is_empty() && self.own.is_empty() {
            wrong("no domain is named: `domains` or `[own.NAME]`");
        }
        if self.heuristics.is_empty() {
            wrong("`heuristics` names none");
        }
        let evaluate = self.evaluate.as_ref();
        let baselines = self.hgn.as_ref().is_some_and(|hgn| hgn.seeds > 0)
            || self.gnn.as_ref().is_some_and(|gnn| gnn.seeds > 0);
        if self.seeds == 0 && !baselines && !evaluate.is_some_and(|evaluate| evaluate.bases) {
            wrong("there is nothing to do: `seeds` is 0 and no base is evaluated");
        }
        if evaluate.is_some_and(|evaluate| evaluate.searches.is_empty()) {
            wrong("`searches` names none");
        }
        for &search in evaluate.iter().flat_map(|evaluate| &evaluate.searches) {
            if !guided(search) {
                let all = SearchKind::ALL.into_iter().filter(|&kind| guided(kind));
                let all: Vec<&str> = all.map(SearchKind::name).collect();
                wrong(&format!(
                    "`searches` names {search}; an experiment can have {}",
                    all.join(", ")
                ));
            }
        }
        for name in self.train.domain.keys() {
            let known = self.own.contains_key(name)
                || self.domains.iter().any(|domain| domain.as_str() == name);
            if !known {
                wrong(&format!(
                    "[train.domain.{name}] is for a domain that the experiment does not have"
                ));
            }
        }
        if let Some(hgn) = &self.hgn {
            for domain in &self.domains {
                if training_problems(*domain).is_none() {
                    wrong(&format!(
                        "[hgn] has no training problems for `{domain}`: there are some for blocks, \
                         ferry, gripper and domains of your own"
                    ));
                }
            }
            for name in hgn.domain.keys() {
                let known = self.own.contains_key(name)
                    || self.domains.iter().any(|domain| domain.as_str() == name);
                if !known {
                    wrong(&format!(
                        "[hgn.domain.{name}] is for a domain that the experiment does not have"
                    ));
                }
            }
        }
        let has = |name: &str| {
            let mut domains = self.domains.iter();
            self.own.contains_key(name) || domains.any(|domain| domain.as_str() == name)
        };
        for problem in self.gnn.iter().flat_map(|gnn| gnn.problems(has)) {
            wrong(&problem);
        }
        for domain in &self.domains {
            if self.own.contains_key(domain.as_str()) {
                wrong(&format!(
                    "`{domain}` is named twice: give your own another name"
                ));
            }
        }
        let ours = self.domains.iter().map(|domain| domain.as_str());
        for name in ours.chain(self.own.keys().map(String::as_str)) {
            // What is wrong for all domains is told once.
            if let Err(error) = self.config(name, HeuristicKind::default()) {
                problems.extend(error.0);
                problems.dedup();
            }
            let hgn = self.hgn.as_ref().map(|hgn| hgn.config(name).map(|_| ()));
            let gnn = self.gnn.as_ref().map(|gnn| gnn.config(name).map(|_| ()));
            for error in [hgn, gnn].into_iter().flatten().filter_map(Result::err) {
                problems.extend(error.0);
                problems.dedup();
            }
        }
        problems
    }

    /// Whether a setting of training is given for a domain, not left to the preset.
    pub(crate) fn sets(&self, domain: &str, field: &str) -> bool {
        let own = self.train.domain.get(domain);
        self.train.config.contains_key(field) || own.is_some_and(|own| own.contains_key(field))
    }

    /// The settings of training for a domain and a heuristic.
    ///
    /// # Errors
    ///
    /// If there is no such preset, or a setting is wrong.
    pub fn config(&self, domain: &str, heuristic: HeuristicKind) -> Result<TrainConfig, SpecError> {
        let preset = TrainConfig::preset(&self.train.preset).ok_or_else(|| {
            SpecError::one(format!(
                "there is no preset `{}`; there are default, reference, paper",
                self.train.preset
            ))
        })?;
        let wrong = |error: &dyn fmt::Display| SpecError::one(format!("[train.config]: {error}"));
        let mut table = toml::Table::try_from(&preset).map_err(|error| wrong(&error))?;
        table.extend(self.train.config.clone());
        if let Some(own) = self.train.domain.get(domain) {
            table.extend(own.clone());
        }
        let mut config: TrainConfig = table.try_into().map_err(|error| wrong(&error))?;
        config.heuristic = heuristic;
        Ok(config)
    }
}
