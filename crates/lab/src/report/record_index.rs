//! Records put in order: which domains, problems, searches and ways of training there are.
//!
//! Everything here is sorted by what the records say, never by where they came from, so that the
//! order of records cannot change a byte of a report.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use homing_planner::SearchKind;

use super::heuristics::{NO_HEURISTIC, heuristic_order};
use super::variants::variants;
use crate::paper::{self, PaperDomain};
use crate::record::{Evaluation, Outcome, Training};

/// A domain, as the report calls it.
pub(super) struct Domain {
    /// The paper's name for it if it has one; a piece of the file's hash follows where two files
    /// bear the same name.
    pub(super) label: String,
    pub(super) paper: Option<&'static PaperDomain>,
    pub(super) problems: Vec<Problem>,
}

pub(super) struct Problem {
    pub(super) name: String,
    sha256: String,
    pub(super) objects: usize,
}

/// What runs must have in common to be compared, beside how they were trained.
#[derive(Clone, PartialEq)]
pub(super) struct Search {
    pub(super) name: String,
    pub(super) weight: Option<f64>,
    pub(super) unit_cost: bool,
    pub(super) max_evaluations: Option<u64>,
}

impl Search {
    fn of(run: &Evaluation) -> Self {
        Self {
            name: run.search.clone(),
            weight: run.weight,
            unit_cost: run.unit_cost,
            max_evaluations: run.max_evaluations,
        }
    }

    fn order(&self, other: &Self) -> Ordering {
        // Names that are not in the list come last.
        let place = |search: &Self| {
            let kind = SearchKind::from_name(&search.name);
            (kind.is_none(), kind)
        };
        let weight = |search: &Self| search.weight.unwrap_or(0.0);
        place(self)
            .cmp(&place(other))
            .then_with(|| self.name.cmp(&other.name))
            .then(weight(self).total_cmp(&weight(other)))
            .then(self.unit_cost.cmp(&other.unit_cost))
            .then(self.max_evaluations.cmp(&other.max_evaluations))
    }

    fn label(&self) -> String {
        let mut label = match SearchKind::from_name(&self.name) {
            Some(kind) => kind.label().to_owned(),
            None => self.name.to_uppercase(),
        };
        if let Some(weight) = self.weight {
            label.push_str(&format!(", weight {weight}"));
        }
        if self.unit_cost {
            label.push_str(", unit costs");
        }
        match self.max_evaluations {
            Some(limit) => label.push_str(&format!(
                ", at most {} evaluations",
                super::text::integer(limit)
            )),
            None => label.push_str(", no limit on evaluations"),
        }
        label
    }

    /// Whether the paper's tables of coverage and of wins are of this search.
    pub(super) fn as_in_paper(&self) -> bool {
        self.name == paper::SEARCH.name() && self.max_evaluations == Some(paper::MAX_EVALUATIONS)
    }
}

/// Runs that are compared with one another.
pub(super) struct Group {
    pub(super) search: usize,
    /// The way of training; `None` where nothing was trained.
    pub(super) variant: Option<usize>,
    pub(super) label: String,
}

/// A run of a search in its place.
pub(super) struct Run<'a> {
    pub(super) record: &'a Evaluation,
    pub(super) domain: usize,
    pub(super) problem: usize,
    pub(super) search: usize,
    pub(super) variant: Option<usize>,
    /// Another run of the same search on the same problem stands for it.
    pub(super) superseded: bool,
}

impl Run<'_> {
    pub(super) fn heuristic(&self) -> &str {
        self.record.heuristic.as_deref().unwrap_or(NO_HEURISTIC)
    }
}

/// A run of training in its place.
pub(super) struct TrainingRun<'a> {
    pub(super) record: &'a Training,
    pub(super) domain: usize,
    pub(super) variant: usize,
}

/// All records in order.
pub(super) struct RecordIndex<'a> {
    pub(super) domains: Vec<Domain>,
    pub(super) searches: Vec<Search>,
    /// Ways of training, in words; a single one has none.
    pub(super) variants: Vec<String>,
    pub(super) groups: Vec<Group>,
    pub(super) runs: Vec<Run<'a>>,
    pub(super) trainings: Vec<TrainingRun<'a>>,
}

impl<'a> RecordIndex<'a> {
    pub(super) fn new(evaluations: &'a [Evaluation], trainings: &'a [Training]) -> Self {
        let evaluations = distinct(evaluations, |run| &run.key, preference);
        let trainings = distinct(trainings, |run| &run.key, |_| (0, 0.0));
        let labels = Labels::new(&evaluations, &trainings);
        let mut domains = labels.domains();
        let searches = searches(&evaluations);
        let (variants, of_training, of_model) = variants(&evaluations, &trainings, &labels);

        let mut problems: Vec<BTreeMap<(&str, &str), usize>> = vec![BTreeMap::new(); domains.len()];
        for run in &evaluations {
            let domain = labels.place(&run.domain, &run.domain_sha256);
            problems[domain].insert((&run.problem, &run.problem_sha256), run.objects);
        }
        for (domain, found) in domains.iter_mut().zip(&problems) {
            domain.problems = found
                .iter()
                .map(|((name, sha256), objects)| Problem {
                    name: (*name).to_owned(),
                    sha256: (*sha256).to_owned(),
                    objects: *objects,
                })
                .collect();
        }

        let mut runs: Vec<Run<'a>> = evaluations
            .iter()
            .map(|&record| {
                let domain = labels.place(&record.domain, &record.domain_sha256);
                let wanted = (record.problem.as_str(), record.problem_sha256.as_str());
                Run {
                    record,
                    domain,
                    problem: domains[domain]
                        .problems
                        .binary_search_by(|problem| {
                            (problem.name.as_str(), problem.sha256.as_str()).cmp(&wanted)
                        })
                        .unwrap_or_default(),
                    search: searches
                        .binary_search_by(|search| search.order(&Search::of(record)))
                        .unwrap_or_default(),
                    variant: record
                        .model
                        .as_ref()
                        .map(|model| of_model[model.sha256.as_str()]),
                    superseded: false,
                }
            })
            .collect();
        runs.sort_by(|a, b| identity(a).cmp(&identity(b)).then(prefer(a, b)));
        for place in 1..runs.len() {
            let repeats = identity(&runs[place - 1]) == identity(&runs[place]);
            runs[place].superseded = repeats;
        }

        let mut trainings: Vec<TrainingRun<'a>> = trainings
            .iter()
            .map(|&record| TrainingRun {
                record,
                domain: labels.place(&record.domain, &record.domain_sha256),
                variant: of_training[record.key.as_str()],
            })
            .collect();
        trainings.sort_by_key(|run| {
            let record = run.record;
            let heuristic = heuristic_order(&record.heuristic);
            (run.variant, run.domain, heuristic, record.seed, &record.key)
        });
        Self {
            groups: groups(&searches, &variants, &runs),
            domains,
            searches,
            variants,
            runs,
            trainings,
        }
    }
}

/// What a run is of. Two runs of the same differ only in limits on time and memory.
fn identity<'b>(run: &'b Run<'_>) -> impl Ord + use<'b> {
    let model = run.record.model.as_ref();
    (
        run.domain,
        run.problem,
        run.search,
        heuristic_order(run.heuristic()),
        run.variant,
        model.map(|model| (model.seed, model.sha256.as_str())),
    )
}

/// How far a run may be trusted to be the last word: it ended by itself, or had more time.
fn preference(run: &Evaluation) -> (u8, f64) {
    let decided = matches!(
        run.outcome,
        Outcome::Solved | Outcome::Unsolvable | Outcome::Limit
    );
    (u8::from(!decided), -run.time_limit.unwrap_or(f64::INFINITY))
}

fn prefer(a: &Run<'_>, b: &Run<'_>) -> Ordering {
    let ((a_late, a_time), (b_late, b_time)) = (preference(a.record), preference(b.record));
    a_late
        .cmp(&b_late)
        .then(a_time.total_cmp(&b_time))
        .then_with(|| a.record.key.cmp(&b.record.key))
}

/// One record for each key. Files that were merged may hold a run twice; which one is kept must not
/// depend on the order of the files.
fn distinct<'a, R: serde::Serialize>(
    records: &'a [R],
    key: impl Fn(&'a R) -> &'a str,
    preference: impl Fn(&R) -> (u8, f64),
) -> Vec<&'a R> {
    let mut sorted: Vec<&R> = records.iter().collect();
    sorted.sort_by(|a, b| {
        key(a).cmp(key(b)).then_with(|| {
            let ((a_late, a_time), (b_late, b_time)) = (preference(a), preference(b));
            let bytes = |record: &R| serde_json::to_string(record).unwrap_or_default();
            a_late
                .cmp(&b_late)
                .then(a_time.total_cmp(&b_time))
                .then_with(|| bytes(a).cmp(&bytes(b)))
        })
    });
    sorted.dedup_by(|a, b| key(a) == key(b));
    sorted
}

/// The names of domains, which their files' hashes tell apart where needed.
pub(super) struct Labels<'a> {
    /// (name, hash of the file) to the domain's place.
    places: BTreeMap<(&'a str, &'a str), usize>,
    labels: Vec<String>,
}

impl<'a> Labels<'a> {
    fn new(evaluations: &[&'a Evaluation], trainings: &[&'a Training]) -> Self {
        let found: BTreeSet<(&str, &str)> = evaluations
            .iter()
            .map(|run| (run.domain.as_str(), run.domain_sha256.as_str()))
            .chain(
                trainings
                    .iter()
                    .map(|run| (run.domain.as_str(), run.domain_sha256.as_str())),
            )
            .collect();
        let plain = |name: &str| {
            paper::domain(name).map_or_else(|| name.to_owned(), |domain| domain.name.to_owned())
        };
        let mut files: BTreeMap<String, usize> = BTreeMap::new();
        for (name, _) in &found {
            *files.entry(plain(name)).or_default() += 1;
        }
        let mut labelled: Vec<(String, (&str, &str))> = found
            .into_iter()
            .map(|(name, sha256)| {
                let mut label = plain(name);
                if files[&label] > 1 {
                    label.push_str(&format!(" {}", sha256.chars().take(6).collect::<String>()));
                }
                (label, (name, sha256))
            })
            .collect();
        labelled.sort();
        Self {
            places: labelled
                .iter()
                .enumerate()
                .map(|(place, (_, key))| (*key, place))
                .collect(),
            labels: labelled.into_iter().map(|(label, _)| label).collect(),
        }
    }

    pub(super) fn place(&self, name: &str, sha256: &str) -> usize {
        self.places[&(name, sha256)]
    }

    fn domains(&self) -> Vec<Domain> {
        let mut domains: Vec<Domain> = Vec::new();
        let mut named: Vec<(usize, &str)> = self
            .places
            .iter()
            .map(|((name, _), place)| (*place, *name))
            .collect();
        named.sort_unstable();
        for (place, name) in named {
            domains.push(Domain {
                label: self.labels[place].clone(),
                paper: paper::domain(name),
                problems: Vec::new(),
            });
        }
        domains
    }
}

fn searches(evaluations: &[&Evaluation]) -> Vec<Search> {
    let mut searches: Vec<Search> = Vec::new();
    for run in evaluations {
        let search = Search::of(run);
        if let Err(place) = searches.binary_search_by(|other| other.order(&search)) {
            searches.insert(place, search);
        }
    }
    searches
}

fn groups(searches: &[Search], variants: &[String], runs: &[Run<'_>]) -> Vec<Group> {
    let mut trained: BTreeSet<(usize, usize)> = BTreeSet::new();
    for run in runs {
        trained.extend(run.variant.map(|variant| (run.search, variant)));
    }
    let mut groups = Vec::new();
    for (search, known) in searches.iter().enumerate() {
        let here: Vec<usize> = trained
            .range((search, 0)..(search + 1, 0))
            .map(|(_, variant)| *variant)
            .collect();
        if here.is_empty() {
            groups.push(Group {
                search,
                variant: None,
                label: known.label(),
            });
        }
        for variant in here {
            let mut label = known.label();
            if !variants[variant].is_empty() {
                label.push_str(&format!("; trained with {}", variants[variant]));
            }
            groups.push(Group {
                search,
                variant: Some(variant),
                label,
            });
        }
    }
    groups
}
