//! Running heuristics and models on many problems, one process and one record a run.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use homing_lab::DomainName;
use homing_lab::experiment::NamedText;
use homing_lab::layout::MODEL_EXTENSION;
use homing_lab::properties::{PROPERTIES, properties};
use homing_lab::record::{self, Appender, Evaluation, ModelOfRun};
use homing_lab::schedule::{self, Entry, Executed, Status};
use homing_lab::suite::text_hash;
use homing_learner::{AnyModel, ValueKind};
use homing_planner::search::SearchOptions;
use homing_planner::{HeuristicKind, SearchKind};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::error::Error;
use crate::files::{make_folder, parent, write_whole};
use crate::input::{ProblemFiles, ProblemSource, entries, load_problem, read_bytes};
use crate::model::load_model_for;
use crate::observe::Observer;
use crate::resources::{REVISION, machine, threads};
use crate::solve::{SearchConfig, SolveLimits, SolveRecord, SolveRequest, needs_policy};

/// Searches to be made: every search with every heuristic and every model, on every problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluateRequest {
    /// The domain, if it is not beside the problems, then problems and folders of them.
    pub files: Vec<PathBuf>,
    /// The heuristics.
    #[serde(default)]
    pub heuristics: Vec<HeuristicKind>,
    /// Model files, and folders of them.
    #[serde(default)]
    pub models: Vec<PathBuf>,
    /// The searches.
    #[serde(default = "default_searches")]
    pub searches: Vec<SearchKind>,
    /// The weight of the heuristic, where a search has one.
    #[serde(default = "default_weight")]
    pub weight: f64,
    /// Whether every action costs 1, whatever the problem says.
    #[serde(default)]
    pub unit_cost: bool,
    /// When to give up. There is no limit on expansions here.
    #[serde(default)]
    pub limits: SolveLimits,
    /// Runs at a time; as many as cores by default.
    #[serde(default)]
    pub jobs: Option<NonZeroUsize>,
    /// The file of records. What is in it is not run again, failures aside.
    pub records: PathBuf,
    /// A folder for the plans.
    #[serde(default)]
    pub plans: Option<PathBuf>,
    /// The command `homing`, which makes each run.
    pub command: PathBuf,
}

fn default_searches() -> Vec<SearchKind> {
    vec![SearchKind::default()]
}

fn default_weight() -> f64 {
    SearchOptions::DEFAULT_WEIGHT
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluateRecord {
    /// The runs that were asked for.
    pub total: usize,
    /// Of these, the runs whose records were there.
    pub before: usize,
    /// The records of the runs that were made, in the order in which they ended.
    pub made: Vec<Evaluation>,
}

impl EvaluateRecord {
    /// The runs that are missing, since the work was stopped.
    pub fn missing(&self) -> usize {
        self.total - self.before - self.made.len()
    }
}

/// A run to be made.
pub(crate) struct Run {
    pub(crate) domain: PathBuf,
    pub(crate) problem: PathBuf,
    pub(crate) model: Option<PathBuf>,
    pub(crate) plan: Option<PathBuf>,
    /// The record, as far as it is known.
    pub(crate) planned: Evaluation,
    /// Bytes of memory that there are, if that is known.
    pub(crate) memory: Option<u64>,
}

impl Run {
    fn request(&self) -> Result<SolveRequest, Error> {
        let planned = &self.planned;
        let unknown = |error: homing_planner::UnknownName| Error::Request(error.to_string());
        let heuristic = match &planned.heuristic {
            Some(name) if self.model.is_none() => name.parse().map_err(unknown)?,
            _ => HeuristicKind::default(),
        };
        Ok(SolveRequest {
            problem: ProblemSource::files(&self.domain, &self.problem),
            search: SearchConfig {
                search: planned.search.parse().map_err(unknown)?,
                heuristic,
                threads: self.model.as_ref().map(|_| NonZeroUsize::MIN),
                model: self.model.clone(),
                weight: planned.weight.unwrap_or(SearchOptions::DEFAULT_WEIGHT),
                unit_cost: planned.unit_cost,
                // Records are of what a search finds.
                improve: false,
                ..SearchConfig::default()
            },
            limits: SolveLimits {
                max_evaluations: planned.max_evaluations,
                max_expansions: None,
                time_limit: planned.time_limit,
                memory_limit: match (planned.memory_limit, self.memory) {
                    (Some(limit), Some(there)) => Some(limit.min(there)),
                    (limit, there) => limit.or(there),
                },
            },
        })
    }

    /// Whether a run that ended so ended for want of memory that it may have.
    fn starved(&self, outcome: record::Outcome) -> bool {
        let allowed = |there| self.planned.memory_limit.is_none_or(|limit| limit > there);
        outcome == record::Outcome::MemoryLimit && self.memory.is_some_and(allowed)
    }

    /// Makes the run. `None` if it was stopped. A run that fails leaves a record that says so.
    pub(crate) fn make(
        &self,
        command: &Path,
        observer: &dyn Observer,
    ) -> Result<Option<Evaluation>, Error> {
        let mut record = self.planned.clone();
        record.revision = REVISION.to_owned();
        record.machine = machine().to_owned();
        let arguments = child::solve_arguments(&self.request()?, self.plan.as_deref());
        let finished = child::run(command, &arguments, self.planned.time_limit, observer)
            .map_err(|error| Error::Request(error.to_string()))?;
        let Some(finished) = finished else {
            return Ok(None);
        };
        if finished.interrupted() {
            return Ok(None);
        }
        let answer = finished.record::<SolveRecord>();
        let outcome = answer.as_ref().and_then(|answer| answer.outcome.recorded());
        let (Some(answer), Some(outcome)) = (answer, outcome) else {
            record.error = Some(finished.reason());
            return Ok(Some(record));
        };
        if self.starved(outcome) {
            let there = self.memory.unwrap_or(0) >> 20;
            record.error = Some(format!(
                "it needs more memory than the {there} MiB there are"
            ));
            return Ok(Some(record));
        }
        record.outcome = outcome;
        record.evaluations = answer.evaluations;
        record.generated = answer.generated;
        record.expansions = answer.expansions;
        record.plan_length = answer.plan_length;
        record.plan_cost = answer.plan_cost;
        record.validated = answer.validated;
        record.search_cpu_seconds = answer.search_cpu_seconds;
        record.cpu_seconds = answer.total_cpu_seconds;
        record.memory_bytes = answer.peak_memory_kb.map(|kilobytes| kilobytes * 1024);
        Ok(Some(record))
    }
}

/// Where the plan of a run goes: `p01-gbfs-H-ff-0.plan`.
pub(crate) fn plan_file(folder: &Path, planned: &Evaluation) -> PathBuf {
    let stem = planned.problem.trim_end_matches(".pddl");
    let seed = planned
        .model
        .as_ref()
        .map(|model| format!("-{}", model.seed));
    folder.join(format!(
        "{stem}-{}-{}{}.plan",
        planned.search,
        planned.configuration(),
        seed.unwrap_or_default()
    ))
}

/// Records that are there and need not be made again: failures are tried again.
fn records_there(path: &Path) -> Result<Vec<Evaluation>, Error> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut there: Vec<Evaluation> = record::read(path)?;
    there.retain(|record| record.outcome != record::Outcome::Failed);
    Ok(there)
}

/// Makes the runs that are missing and appends their records.
///
/// # Errors
///
/// If there is nothing to evaluate, a file cannot be used, or a record cannot be written. A run that
/// fails is a record that says so.
pub fn evaluate(
    request: &EvaluateRequest,
    observer: &dyn Observer,
) -> Result<EvaluateRecord, Error> {
    if request.heuristics.is_empty() && request.models.is_empty() {
        return Err(Error::Request(
            "nothing to evaluate: no heuristic and no model is named".to_owned(),
        ));
    }
    let runs = planned(request)?;
    make_folder(parent(&request.records))?;
    if let Some(folder) = &request.plans {
        make_folder(folder)?;
    }
    let there = records_there(&request.records)?;
    let there: HashSet<&str> = there.iter().map(|record| record.key.as_str()).collect();
    let total = runs.len();
    let missing: Vec<Run> = runs
        .into_iter()
        .filter(|run| !there.contains(run.planned.key.as_str()))
        .collect();
    let appender = Mutex::new(Appender::open(&request.records)?);
    Ok(EvaluateRecord {
        total,
        before: total - missing.len(),
        made: make_all(&missing, request, &appender, observer)?,
    })
}

/// Writes the `properties` file that the reports of downward-lab read, of all records in a file.
///
/// # Errors
///
/// If the records cannot be read, or the file cannot be written.
pub fn write_properties(records: &Path, folder: &Path) -> Result<(), Error> {
    make_folder(folder)?;
    // The records of runs that failed, too: Lab's reports show what went wrong.
    let text = properties(&record::read::<Evaluation>(records)?);
    write_whole(&folder.join(PROPERTIES), text.as_bytes())
}

fn make_all(
    runs: &[Run],
    request: &EvaluateRequest,
    appender: &Mutex<Appender>,
    observer: &dyn Observer,
) -> Result<Vec<Evaluation>, Error> {
    let made = Mutex::new(Vec::new());
    let entries: Vec<Entry<&Run>> = runs
        .iter()
        .map(|run| Entry {
            task: run,
            needs: Vec::new(),
            cost: 1.0,
            // Runs of one configuration, most likely on problems of like size, are alike.
            group: usize::from(run.model.is_some()),
        })
        .collect();
    let execute = |run: &&Run| match run.make(&request.command, observer) {
        Ok(Some(record)) => {
            let appended = appender.lock().expect("no worker panics").append(&record);
            observer.evaluated(&record);
            made.lock().expect("no worker panics").push(record);
            match appended {
                Ok(()) => Executed::Done,
                Err(error) => Executed::Failed(error.to_string()),
            }
        }
        Ok(None) => Executed::Stopped,
        Err(error) => Executed::Failed(error.to_string()),
    };
    let workers = threads(request.jobs);
    let stopped = || observer.stopped();
    let statuses = schedule::run(&entries, workers, &stopped, &execute, &|now| {
        observer.task_ended(now);
    });
    // Not a run that failed, which is a record, but a record that cannot be written.
    let unwritten = statuses.into_iter().find_map(|status| match status {
        Status::Failed(reason) => Some(reason),
        _ => None,
    });
    match unwritten {
        Some(reason) => Err(Error::Request(reason)),
        None => Ok(made.into_inner().expect("no worker panics")),
    }
}

/// A domain's name in records: the short one of the eight, else that of its PDDL.
fn domain_name(text: &[u8], pddl: &str) -> String {
    let ours = DomainName::ALL
        .into_iter()
        .find(|name| name.text().as_bytes() == text);
    ours.map_or_else(|| pddl.to_owned(), |name| name.as_str().to_owned())
}

/// Model files: those named, and those in folders that are named.
fn model_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut found = entries(path)?;
        found.retain(|file| file.extension().is_some_and(|end| end == MODEL_EXTENSION));
        if found.is_empty() {
            return Err(Error::Request(format!(
                "there are no models (*.{MODEL_EXTENSION}) in {}",
                path.display()
            )));
        }
        files.extend(found);
    }
    Ok(files)
}

/// A model that was read.
struct LoadedModel {
    file: PathBuf,
    of_run: ModelOfRun,
    /// What records call its heuristic.
    heuristic: &'static str,
}

/// All runs that are asked for. Every file is read once here, so that what is wrong with one shows
/// before hours of work.
fn planned(request: &EvaluateRequest) -> Result<Vec<Run>, Error> {
    let files = ProblemFiles::find(&request.files, None)?;
    let domain_text = read_bytes(&files.domain)?;
    let models = model_files(&request.models)?;
    if let Some(search) = request.searches.iter().find(|search| search.uses_policy())
        && models.is_empty()
    {
        return Err(Error::Request(needs_policy(*search)));
    }
    let mut loaded: Vec<LoadedModel> = Vec::new();
    let mut runs = Vec::new();
    let mut name = String::new();
    for (index, path) in files.problems.iter().enumerate() {
        let problem = load_problem(&files.domain, path)?.value;
        if index == 0 {
            name = domain_name(&domain_text, &problem.domain.name);
            for file in &models {
                let (heuristic, seed, steps) = match load_model_for(file, &problem.domain)? {
                    AnyModel::Nlm(model) => {
                        let header = &model.header;
                        (header.config.heuristic.name(), header.seed, header.steps)
                    }
                    AnyModel::Counts(model) => (ValueKind::Counts.name(), model.header.seed, 0),
                    AnyModel::Gnn(model) => {
                        let header = &model.header;
                        (ValueKind::Gnn.name(), header.seed, header.config.iterations)
                    }
                    AnyModel::Hgn(model) => (ValueKind::Hgn.name(), model.header.seed, 0),
                };
                loaded.push(LoadedModel {
                    file: file.clone(),
                    of_run: ModelOfRun {
                        file: file.display().to_string(),
                        sha256: text_hash(&read_bytes(file)?),
                        seed,
                        steps,
                    },
                    heuristic,
                });
            }
        }
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = read_bytes(path)?;
        let domain = NamedText {
            name: &name,
            text: &String::from_utf8_lossy(&domain_text),
        };
        let text = NamedText {
            name: &file,
            text: &String::from_utf8_lossy(&bytes),
        };
        let mut planned = Evaluation::planned(domain, text, problem.objects.len());
        planned.unit_cost = request.unit_cost;
        planned.max_evaluations = request.limits.max_evaluations;
        planned.time_limit = request.limits.time_limit;
        planned.memory_limit = request.limits.memory_limit;
        let variants = variants(request, &loaded, &planned);
        runs.extend(variants.into_iter().map(|(planned, model)| {
            Run {
                domain: files.domain.clone(),
                problem: path.clone(),
                model,
                plan: request
                    .plans
                    .as_deref()
                    .map(|folder| plan_file(folder, &planned)),
                planned,
                memory: None,
            }
        }));
    }
    Ok(runs)
}

/// The runs on one problem: their records as far as they are known, and their models.
fn variants(
    request: &EvaluateRequest,
    models: &[LoadedModel],
    of_problem: &Evaluation,
) -> Vec<(Evaluation, Option<PathBuf>)> {
    let mut variants = Vec::new();
    for search in &request.searches {
        let mut planned = of_problem.clone();
        planned.search = search.name().to_owned();
        planned.weight = search.uses_weight().then_some(request.weight);
        if search.uses_policy() {
            let policies = models.iter();
            let policies = policies.filter(|model| model.heuristic == ValueKind::Gnn.name());
            for model in policies {
                planned.heuristic = Some(model.heuristic.to_owned());
                planned.model = Some(model.of_run.clone());
                planned.key = planned.key_for(Some(&model.of_run.sha256));
                variants.push((planned.clone(), Some(model.file.clone())));
            }
            continue;
        }
        if !search.uses_heuristic() {
            planned.key = planned.key_for(None);
            variants.push((planned, None));
            continue;
        }
        for heuristic in &request.heuristics {
            planned.heuristic = Some(heuristic.name().to_owned());
            planned.key = planned.key_for(None);
            variants.push((planned.clone(), None));
        }
        for model in models {
            planned.heuristic = Some(model.heuristic.to_owned());
            planned.model = Some(model.of_run.clone());
            planned.key = planned.key_for(Some(&model.of_run.sha256));
            variants.push((planned.clone(), Some(model.file.clone())));
        }
    }
    variants
}
