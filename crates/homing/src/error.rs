//! What keeps a request from being carried out.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use homing_lab::experiment::SpecError;
use homing_lab::record::RecordError;
use homing_lab::{DomainName, ParameterError};
use homing_learner::{HgnError, LearnError, ModelError, TrainError};
use homing_pddl::{Diagnostics, Severity};
use homing_planner::{GroundError, PlanError};

/// Why a request was not carried out. That a problem has no plan, or that a limit was reached, is
/// no error but an outcome.
#[derive(Debug)]
pub enum Error {
    /// The PDDL cannot be used; with everything that is wrong with it.
    Pddl(Diagnostics),
    /// The domain was given for the problem, and the problem for the domain.
    Swapped {
        /// The file that should hold the domain.
        domain: String,
        /// The file that should hold the problem.
        problem: String,
    },
    /// The problem cannot be grounded.
    Ground {
        /// The problem's file, where several are read.
        file: Option<PathBuf>,
        /// Why.
        error: GroundError,
    },
    /// A file or folder cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file or folder cannot be written.
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is not what it should be.
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A model cannot be used.
    Model {
        /// Its file, where it has one.
        path: Option<PathBuf>,
        /// Why.
        error: ModelError,
    },
    /// Training cannot begin or go on.
    Train {
        /// The checkpoint that is to blame.
        checkpoint: Option<PathBuf>,
        /// Why.
        error: TrainError,
    },
    /// Nothing can be learnt by ranking.
    Learn(LearnError),
    /// A hypergraph network cannot be trained.
    Hgn {
        /// The checkpoint that is to blame.
        checkpoint: Option<PathBuf>,
        /// Why.
        error: HgnError,
    },
    /// The place of a model is taken by a folder, which only several seeds need.
    ModelIsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A checkpoint is of a run with other settings.
    OtherSettings {
        /// The checkpoint.
        checkpoint: PathBuf,
        /// The settings that differ, as `name (one, not other)`.
        differences: Vec<String>,
    },
    /// A problem to select a snapshot by is of another domain.
    Selection {
        /// The problem's name.
        problem: String,
        /// Why.
        error: ModelError,
    },
    /// The domain is none of the eight that have a suite to select by.
    NoValidationSuite {
        /// The domain's name.
        domain: String,
    },
    /// No model ships for the domain.
    NoShippedModel {
        /// The domain's name.
        domain: String,
    },
    /// Records cannot be read or written.
    Record(RecordError),
    /// An experiment cannot be planned.
    Spec {
        /// Its file.
        path: PathBuf,
        /// What is wrong.
        error: SpecError,
    },
    /// Something in the request is missing or does not fit.
    Request(String),
    /// The search returned a plan that does not hold.
    FalsePlan(PlanError),
    /// Something that cannot happen did.
    Bug(String),
}

/// Who has to do something about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// Who wrote the PDDL.
    Pddl,
    /// Nobody: homing does not read this part of PDDL.
    Unsupported,
    /// Who made the request: its settings, or the files it names.
    Request,
    /// Who wrote homing.
    Homing,
    /// Who ended the work from outside.
    Stopped,
}

impl Error {
    /// Who has to do something about it.
    pub fn blame(&self) -> Blame {
        match self {
            Self::Pddl(diagnostics) => match diagnostics.worst() {
                Some(Severity::Unsupported) => Blame::Unsupported,
                _ => Blame::Pddl,
            },
            Self::Ground {
                error: GroundError::Stopped { .. },
                ..
            } => Blame::Stopped,
            Self::Ground { .. } => Blame::Pddl,
            Self::FalsePlan(_) | Self::Bug(_) => Blame::Homing,
            _ => Blame::Request,
        }
    }

    pub(crate) fn read(path: &Path, error: io::Error) -> Self {
        Self::Read {
            path: path.to_owned(),
            error,
        }
    }

    pub(crate) fn write(path: &Path, error: io::Error) -> Self {
        Self::Write {
            path: path.to_owned(),
            error,
        }
    }

    pub(crate) fn bad_file(path: &Path, reason: impl fmt::Display) -> Self {
        Self::BadFile {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }

    pub(crate) fn train(error: TrainError) -> Self {
        Self::Train {
            checkpoint: None,
            error,
        }
    }

    pub(crate) fn bug(error: impl fmt::Display) -> Self {
        Self::Bug(error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pddl(diagnostics) => write!(f, "{diagnostics}"),
            Self::Swapped { domain, problem } => write!(
                f,
                "the files are swapped: {domain} holds a problem and {problem} a domain; the domain comes first"
            ),
            Self::Ground { file: None, error } => write!(f, "{error}"),
            Self::Ground {
                file: Some(file),
                error,
            } => write!(f, "{}: {error}", file.display()),
            Self::Read { path, error } => {
                write!(f, "cannot read {}: {}", path.display(), reason(error))
            }
            Self::Write { path, error } => {
                write!(f, "cannot write {}: {}", path.display(), reason(error))
            }
            Self::BadFile { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Model { path: None, error } => write!(f, "{error}"),
            Self::Model {
                path: Some(path),
                error,
            } => write!(f, "{}: {error}", path.display()),
            Self::Train {
                checkpoint: None,
                error,
            } => write!(f, "{error}"),
            Self::Train {
                checkpoint: Some(path),
                error,
            } => write!(f, "{}: {error}", path.display()),
            Self::Learn(error) => write!(f, "{error}"),
            Self::Hgn {
                checkpoint: None,
                error,
            } => write!(f, "{error}"),
            Self::Hgn {
                checkpoint: Some(path),
                error,
            } => write!(f, "{}: {error}", path.display()),
            Self::ModelIsFolder { path } => {
                write!(f, "cannot write {}: it is a folder", path.display())
            }
            Self::OtherSettings {
                checkpoint,
                differences,
            } => write!(
                f,
                "{} is of a run with other settings: {}",
                checkpoint.display(),
                differences.join(", ")
            ),
            Self::Selection { problem, error } => {
                write!(f, "problem {problem}, to select by: {error}")
            }
            Self::NoValidationSuite { domain } => write!(
                f,
                "domain {domain} has no validation problems: its predicates, types and actions are \
                 not those of {}",
                DomainName::ALL.map(DomainName::as_str).join(", ")
            ),
            Self::NoShippedModel { domain } => write!(
                f,
                "no model ships for domain {domain}: none was made for these predicates, types and \
                 actions; `homing train` makes one"
            ),
            Self::Record(error) => write!(f, "{error}"),
            Self::Spec { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Request(reason) => f.write_str(reason),
            Self::FalsePlan(error) => {
                write!(f, "the search returned a plan that does not hold: {error}")
            }
            Self::Bug(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}

impl From<RecordError> for Error {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

impl From<ParameterError> for Error {
    fn from(error: ParameterError) -> Self {
        Self::bug(error)
    }
}

/// What an error of input or output means to a person.
pub fn reason(error: &io::Error) -> String {
    use io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::NotADirectory => "part of the path is a file, not a folder".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::InvalidFilename => "the name is too long or not allowed".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::QuotaExceeded => "the disk quota is used up".to_owned(),
        ErrorKind::FileTooLarge => "files may not be that large here".to_owned(),
        _ => error.to_string(),
    }
}
