//! Experiments: generate, train, select, evaluate and report as a file says.
//!
//! [`load`] makes a plan of the file, [`Done`] knows what of it is done already, and [`experiment`]
//! does the rest, each task in a process of its own. Several processes, on one machine or many, may
//! share the work ([`Share`]); [`slurm`] hands it to a cluster, and [`status()`] says how far it is.

mod chunk;
mod done;
mod part;
mod runner;
pub mod slurm;
mod status;
mod training;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use homing_lab::experiment::{OwnFiles, Plan, ProblemFile, Spec, Stage, Task};
use homing_lab::layout::ExperimentFolder;
use homing_learner::Signature;
use serde::{Deserialize, Serialize};

pub use self::chunk::ChunkNumber;
use self::chunk::agree;
pub use self::done::{Done, Trained};
use self::part::FileLock;
pub use self::part::{AtWork, FolderLock};
use self::runner::{Runner, Work};
pub use self::status::{ExperimentStatus, StageStatus, load_of_folder, status};
use crate::error::Error;
use crate::files::{make_folder, write_whole};
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
    /// How much of it: all by default.
    #[serde(default)]
    pub share: Share,
    /// Begin nothing after so many seconds, and end what is at hand.
    #[serde(default)]
    pub stop_after: Option<u64>,
    /// Bytes of memory that a task may take, whatever the experiment says: one that needs more
    /// fails, and can be tried again.
    #[serde(default)]
    pub task_memory: Option<u64>,
}

/// How much of an experiment a process does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// All of it, with the folder to itself.
    #[default]
    All,
    /// One chunk, of all tasks or of those of one stage, beside others who do other chunks.
    Chunk {
        /// The chunk.
        chunk: ChunkNumber,
        /// The stage.
        stage: Option<Stage>,
    },
    /// No task: the records are brought together, and reported.
    Report,
}

/// What came of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentRecord {
    /// All tasks, of the experiment or of the chunk.
    pub total: usize,
    /// Tasks that are not done.
    pub missing: usize,
    /// What failed, in words.
    pub failures: Vec<String>,
    /// The report, if there is anything to report, and it was asked for.
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

/// Where the file of an experiment is: paths in it are relative to its own.
#[derive(Serialize, Deserialize)]
struct Source {
    file: PathBuf,
}

/// Keeps the file of the experiment in the folder.
fn write_source(
    folder: &ExperimentFolder,
    file: &Path,
    loaded: &LoadedExperiment,
) -> Result<(), Error> {
    make_folder(&folder.path)?;
    let file = file
        .canonicalize()
        .map_err(|error| Error::read(file, error))?;
    let source = serde_json::to_vec(&Source { file }).map_err(Error::bug)?;
    for (path, bytes) in [(folder.spec(), &loaded.bytes), (folder.source(), &source)] {
        // Many may come with the same.
        if !std::fs::read(&path).is_ok_and(|there| there == *bytes) {
            write_whole(&path, bytes)?;
        }
    }
    Ok(())
}

/// Does what is missing of an experiment, or its share of it, and reports.
///
/// # Errors
///
/// If the experiment cannot be planned, or its folder cannot be written. A task that fails is told
/// in the record and leaves the others alone.
pub fn experiment(
    request: &ExperimentRequest,
    observer: &dyn Observer,
) -> Result<ExperimentRecord, Error> {
    let until = request
        .stop_after
        .map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let loaded = load(&request.file, observer)?;
    let session = Session {
        request,
        folder: ExperimentFolder::new(&request.folder),
        loaded: &loaded,
        until,
        observer,
    };
    match request.share {
        Share::All => session.all(),
        Share::Chunk { chunk, stage } => session.chunk(chunk, stage),
        Share::Report => session.report(),
    }
}

/// What one process does for an experiment.
struct Session<'a> {
    request: &'a ExperimentRequest,
    folder: ExperimentFolder,
    loaded: &'a LoadedExperiment,
    until: Option<Instant>,
    observer: &'a dyn Observer,
}

impl Session<'_> {
    fn plan(&self) -> &Plan {
        &self.loaded.plan
    }

    fn done(&self) -> Result<Done, Error> {
        Done::read(&self.folder, self.plan())
    }

    /// Takes the folder alone, and removes what killed processes left behind.
    fn take(&self) -> Result<FolderLock, Error> {
        let lock = FolderLock::take(&self.folder)?;
        self.done()?.remove_working_files(&self.folder, self.plan());
        Ok(lock)
    }

    fn all(&self) -> Result<ExperimentRecord, Error> {
        let _lock = self.take()?;
        write_source(&self.folder, &self.request.file, self.loaded)?;
        let done = self.done()?;
        done.tidy(&self.folder, self.plan())?;
        let tasks: Vec<Task> = self.plan().tasks().collect();
        let failures = self.work(&done, &tasks, None)?;
        self.gather(failures)
    }

    fn chunk(&self, number: ChunkNumber, stage: Option<Stage>) -> Result<ExperimentRecord, Error> {
        let _lock = FolderLock::share(&self.folder)?;
        write_source(&self.folder, &self.request.file, self.loaded)?;
        let done = self.done()?;
        let costs = agree(&self.folder, self.plan(), &done, stage, number.of)?;
        let mut chunks = self.plan().chunks(stage, number.of.get(), &costs);
        let tasks = chunks.swap_remove(number.number.get() - 1).tasks;
        let label = format!("{} {number}", stage.map_or("chunk", Stage::name));
        let failures = self.work(&done, &tasks, Some(&label))?;
        Ok(summary(&self.done()?, &tasks, failures, None))
    }

    fn report(&self) -> Result<ExperimentRecord, Error> {
        // Tidied up if nobody is at work; then others may begin while the records are read.
        drop(self.take().ok());
        let _lock = FolderLock::share(&self.folder)?;
        write_source(&self.folder, &self.request.file, self.loaded)?;
        self.gather(Vec::new())
    }

    /// Does what is missing of these tasks. Who shares the folder with others says what he does.
    fn work(&self, done: &Done, tasks: &[Task], share: Option<&str>) -> Result<Vec<String>, Error> {
        let work = Work {
            folder: &self.folder,
            plan: self.plan(),
            done,
            command: &self.request.command,
            workers: threads(self.request.jobs),
            until: self.until,
            memory: self.request.task_memory,
        };
        Ok(Runner::open(&work, share, self.observer)?.work(tasks))
    }

    /// Brings the records together and reports what there is.
    fn gather(&self, failures: Vec<String>) -> Result<ExperimentRecord, Error> {
        let lock = FileLock::wait(&self.folder.gather_lock(), self.observer)?;
        let done = self.done()?;
        let tasks: Vec<Task> = self.plan().tasks().collect();
        let mut written = None;
        // Without the lock the work was stopped: somebody else is bringing them together.
        if lock.is_some() {
            done.tidy(&self.folder, self.plan())?;
            if done.missing() < tasks.len() {
                written = Some(report(&ReportRequest::of(&self.request.folder))?);
            }
        }
        Ok(summary(&done, &tasks, failures, written))
    }
}

fn summary(
    done: &Done,
    tasks: &[Task],
    failures: Vec<String>,
    report: Option<ReportRecord>,
) -> ExperimentRecord {
    ExperimentRecord {
        total: tasks.len(),
        missing: tasks.iter().filter(|&&task| !done.is_done(task)).count(),
        failures,
        report,
    }
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
