//! Reading domains and problems, from files and from text.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing_lab::layout::DOMAIN_FILE;
use homing_pddl::{Diagnostics, Domain, Problem, Source, check_domain, parse, read_problem};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Where a domain and a problem of it come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemSource {
    /// Files. Without a domain, it is the one beside the problem ([`domain_beside`]).
    Files {
        /// The domain's file.
        domain: Option<PathBuf>,
        /// The problem's file.
        problem: PathBuf,
    },
    /// PDDL itself.
    Text {
        /// The domain.
        domain: String,
        /// The problem.
        problem: String,
    },
}

impl ProblemSource {
    /// A problem's file, with its domain beside it ([`domain_beside`]).
    pub fn file(problem: impl Into<PathBuf>) -> Self {
        Self::Files {
            domain: None,
            problem: problem.into(),
        }
    }

    /// A domain's and a problem's file.
    pub fn files(domain: impl Into<PathBuf>, problem: impl Into<PathBuf>) -> Self {
        Self::Files {
            domain: Some(domain.into()),
            problem: problem.into(),
        }
    }

    /// Reads and checks both.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or the PDDL cannot be used.
    pub fn load(&self) -> Result<Loaded<Arc<Problem>>, Error> {
        match self {
            Self::Files { domain, problem } => {
                let domain = match domain {
                    Some(domain) => domain.clone(),
                    None => domain_beside(problem)?,
                };
                load_problem(&domain, problem)
            }
            Self::Text { domain, problem } => {
                let source = |name: &str, text: &str| Source::new(name, text.as_bytes().to_vec());
                checked(&source("domain", domain), &source("problem", problem))
            }
        }
    }
}

/// What was read, and the warnings about it.
#[derive(Clone, Debug)]
pub struct Loaded<T> {
    /// What was read.
    pub value: T,
    /// What may be wrong with it; nothing that keeps it from being used.
    pub warnings: Diagnostics,
}

/// Reads a whole file.
///
/// # Errors
///
/// If it cannot be read, or is a folder.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    if path.is_dir() {
        return Err(Error::Request(format!(
            "{} is a folder, where a file is expected",
            path.display()
        )));
    }
    std::fs::read(path).map_err(|error| Error::read(path, error))
}

/// The entries of a folder, in the order of their names.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| Error::read(folder, error))? {
        paths.push(entry.map_err(|error| Error::read(folder, error))?.path());
    }
    paths.sort();
    Ok(paths)
}

fn read_source(path: &Path) -> Result<Arc<Source>, Error> {
    let bytes = read_bytes(path)?;
    if u32::try_from(bytes.len()).is_err() {
        return Err(Error::Request(format!(
            "{} is larger than 4 GiB",
            path.display()
        )));
    }
    Ok(Source::new(path.display().to_string(), bytes))
}

/// What the domain of a problem `p01.pddl` may be called, in the order in which it is looked for:
/// `domain-p01.pddl`, `domain_p01.pddl` and `p01-domain.pddl`, which are this problem's own, then
/// `domain.pddl`. A problem `p01-airport.pddl` may also have a `p01-domain.pddl`.
fn domain_names(problem: &Path) -> Vec<String> {
    let name = problem.file_name().unwrap_or_default().to_string_lossy();
    let stem = problem.file_stem().unwrap_or_default().to_string_lossy();
    let mut names = vec![
        format!("domain-{name}"),
        format!("domain_{name}"),
        format!("{stem}-{DOMAIN_FILE}"),
    ];
    if let Some((number, _)) = stem.split_once('-') {
        names.push(format!("{number}-{DOMAIN_FILE}"));
    }
    names.push(DOMAIN_FILE.to_owned());
    names
}

/// Whether a file in a folder of problems is named as a domain.
fn is_named_as_domain(name: &str) -> bool {
    name.starts_with("domain") || name.ends_with(&format!("-{DOMAIN_FILE}"))
}

/// The domain that belongs to a problem: a file beside it, `domain.pddl` or `domain-p01.pddl`,
/// `domain_p01.pddl` or `p01-domain.pddl` of a problem `p01.pddl`.
///
/// # Errors
///
/// If there is none, or no such problem.
pub fn domain_beside(problem: &Path) -> Result<PathBuf, Error> {
    if !problem.is_file() {
        // The more helpful complaint is about the file that was named.
        read_bytes(problem)?;
    }
    find_domain(problem).ok_or_else(|| {
        Error::Request(format!(
            "no domain is given, and there is no {} beside the problem, nor a {}",
            problem.with_file_name(DOMAIN_FILE).display(),
            domain_names(problem)[0]
        ))
    })
}

/// The same, if it is there; the problem need not be a file yet.
pub fn find_domain(problem: &Path) -> Option<PathBuf> {
    let names = domain_names(problem);
    let mut paths = names.iter().map(|name| problem.with_file_name(name));
    paths.find(|path| path.is_file())
}

fn checked(domain: &Arc<Source>, problem: &Arc<Source>) -> Result<Loaded<Arc<Problem>>, Error> {
    let (checked, diagnostics) = read_problem(domain, problem);
    if !diagnostics.usable() {
        let defines = |source| parse(source).0.defines();
        let swapped = defines(domain).as_deref() == Some("problem")
            && defines(problem).as_deref() == Some("domain");
        return Err(if swapped {
            Error::Swapped {
                domain: domain.name().to_owned(),
                problem: problem.name().to_owned(),
            }
        } else {
            Error::Pddl(diagnostics)
        });
    }
    let problem = checked.ok_or_else(|| Error::bug("no problem and no message"))?;
    Ok(Loaded {
        value: Arc::new(problem),
        warnings: diagnostics,
    })
}

/// Reads and checks a domain and a problem.
///
/// # Errors
///
/// If a file cannot be read, or the PDDL cannot be used.
pub fn load_problem(domain: &Path, problem: &Path) -> Result<Loaded<Arc<Problem>>, Error> {
    checked(&read_source(domain)?, &read_source(problem)?)
}

/// Reads and checks a domain alone.
///
/// # Errors
///
/// If the file cannot be read, or the PDDL cannot be used.
pub fn load_domain(path: &Path) -> Result<Loaded<Domain>, Error> {
    let (tree, mut diagnostics) = parse(&read_source(path)?);
    let (domain, messages) = check_domain(&tree);
    diagnostics.append(messages);
    if !diagnostics.usable() {
        return Err(Error::Pddl(diagnostics));
    }
    Ok(Loaded {
        value: domain.ok_or_else(|| Error::bug("no domain and no message"))?,
        warnings: diagnostics,
    })
}

/// What a file defines: `domain`, `problem`, or nothing that could be told.
///
/// # Errors
///
/// If the file cannot be read.
pub fn defines(path: &Path) -> Result<Option<String>, Error> {
    Ok(parse(&read_source(path)?).0.defines())
}

/// A domain's file and those of problems of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemFiles {
    /// The domain's file.
    pub domain: PathBuf,
    /// The problems' files.
    pub problems: Vec<PathBuf>,
}

impl ProblemFiles {
    /// The problem files among `[DOMAIN] PROBLEMS...`, folders of problems included, and their
    /// domain: the one named, else that beside the first problem, else `otherwise`.
    ///
    /// # Errors
    ///
    /// If a file or folder cannot be read, or there are no problems.
    pub fn find(files: &[PathBuf], otherwise: Option<&Path>) -> Result<Self, Error> {
        let mut problems = Vec::new();
        let mut domain = None;
        for (index, path) in files.iter().enumerate() {
            if path.is_dir() {
                let mut found = entries(path)?;
                found.retain(|path| {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    name.ends_with(".pddl") && !is_named_as_domain(&name)
                });
                problems.extend(found);
            } else if index == 0 && files.len() > 1 && defines(path)?.as_deref() != Some("problem")
            {
                domain = Some(path.clone());
            } else {
                problems.push(path.clone());
            }
        }
        let Some(first) = problems.first() else {
            let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
            return Err(Error::Request(format!(
                "there are no problems in {}",
                files.join(", ")
            )));
        };
        let domain = domain.unwrap_or_else(|| match (domain_beside(first), otherwise) {
            (Ok(beside), _) => beside,
            (Err(_), Some(otherwise)) => otherwise.to_owned(),
            // Reading it says that it is not there.
            (Err(_), None) => first.with_file_name(DOMAIN_FILE),
        });
        Ok(Self { domain, problems })
    }
}
