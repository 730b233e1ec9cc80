//! Experiments: generate, train, select, evaluate and report as a file says.
//!
//! [`load`] makes a plan of the file, [`Done`] knows what of it is done already, and [`Runner`]
//! does the rest, each task in a process of its own. [`experiment`] is all of this together.

mod done;
mod runner;
mod training;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use homing_lab::experiment::{OwnFiles, Plan, ProblemFile, Spec};
use homing_lab::layout::ExperimentFolder;
use homing_learner::Signature;
use serde::{Deserialize, Serialize};

pub use self::done::Done;
pub use self::runner::{FolderLock, Runner};
use crate::error::Error;
use crate::files::write_whole;
use crate::input::{ProblemFiles, load_domain, load_problem, read_bytes};
use crate::observe::{Notice, Observer};
use crate::report::{ReportRecord, ReportRequest, report};
use crate::resources::threads;

/// An experiment to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentRequest {
    /// The file that describes it.
    pub file: PathBuf,
    /// The folder for everything it makes.
    pub folder: PathBuf,
    /// Tasks at a time; as many as cores by default.
    #[serde(default)]
    pub jobs: Option<NonZeroUsize>,
    /// The command `homing`, which does each task.
    pub command: PathBuf,
}

/// What came of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentRecord {
    /// All tasks.
    pub total: usize,
    /// Tasks that are not done.
    pub missing: usize,
    /// What failed, in words.
    pub failures: Vec<String>,
    /// The report, if there is anything to report.
    pub report: Option<ReportRecord>,
}

/// An experiment's file, read, and the plan made of it.
#[derive(Clone, Debug)]
pub struct LoadedExperiment {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// What it says.
    pub spec: Spec,
    /// What is to be done.
    pub plan: Plan,
}

/// Reads an experiment's file and plans its tasks.
///
/// # Errors
///
/// If a file cannot be read, or the experiment cannot be planned.
pub fn load(file: &Path, observer: &dyn Observer) -> Result<LoadedExperiment, Error> {
    let bytes = read_bytes(file)?;
    let wrong = |error| Error::Spec {
        path: file.to_owned(),
        error,
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| Error::bad_file(file, error))?;
    let spec = Spec::parse(text).map_err(wrong)?;
    let own = own_files(file, &spec, observer)?;
    let plan = Plan::new(&spec, &own).map_err(wrong)?;
    Ok(LoadedExperiment { bytes, spec, plan })
}

/// Does what is missing of an experiment, and reports.
///
/// # Errors
///
/// If the experiment cannot be planned, or its folder cannot be written. A task that fails is told
/// in the record and leaves the others alone.
pub fn experiment(
    request: &ExperimentRequest,
    observer: &dyn Observer,
) -> Result<ExperimentRecord, Error> {
    let LoadedExperiment { bytes, plan, .. } = load(&request.file, observer)?;
    let folder = ExperimentFolder::new(&request.folder);
    let _lock = FolderLock::take(&folder)?;
    write_whole(&folder.spec(), &bytes)?;
    Done::read(&folder, &plan)?.tidy(&folder, &plan)?;
    let runner = Runner::open(&folder, &plan, &request.command, observer)?;
    let failures = runner.work(threads(request.jobs));
    let done = Done::read(&folder, &plan)?;
    done.tidy(&folder, &plan)?;
    let (total, missing) = (
        plan.trainings.len() + plan.evaluations.len(),
        done.missing(),
    );
    let report = if missing < total {
        Some(report(&ReportRequest::of(&request.folder))?)
    } else {
        None
    };
    Ok(ExperimentRecord {
        total,
        missing,
        failures,
        report,
    })
}

/// Reads and checks the files of domains that are not ours.
fn own_files(
    file: &Path,
    spec: &Spec,
    observer: &dyn Observer,
) -> Result<BTreeMap<String, OwnFiles>, Error> {
    let around = file.parent().unwrap_or(Path::new(""));
    let mut all = BTreeMap::new();
    for (name, own) in &spec.own {
        let domain = around.join(&own.domain);
        let problems = |folder: Option<&PathBuf>| match folder {
            Some(folder) => problem_files(&domain, &around.join(folder)),
            None => Ok(Vec::new()),
        };
        let loaded = load_domain(&domain)?;
        if !loaded.warnings.messages().is_empty() {
            observer.notice(&Notice::Warnings(loaded.warnings));
        }
        let files = OwnFiles {
            domain_text: String::from_utf8_lossy(&read_bytes(&domain)?).into_owned(),
            signature: Signature::of(&loaded.value),
            train: problems(Some(&own.train))?,
            select: problems(own.select.as_ref())?,
            evaluate: problems(own.evaluate.as_ref())?,
        };
        all.insert(name.clone(), files);
    }
    Ok(all)
}

fn problem_files(domain: &Path, folder: &Path) -> Result<Vec<ProblemFile>, Error> {
    let files = ProblemFiles::find(&[domain.to_owned(), folder.to_owned()], None)?;
    let read = |path: &PathBuf| {
        let problem = load_problem(domain, path)?.value;
        let name = path.file_name().unwrap_or_default();
        Ok(ProblemFile {
            file: name.to_string_lossy().into_owned(),
            text: String::from_utf8_lossy(&read_bytes(path)?).into_owned(),
            objects: problem.objects.len(),
        })
    };
    files.problems.iter().map(read).collect()
}
