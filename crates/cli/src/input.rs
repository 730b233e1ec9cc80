//! Reading files, and showing what is wrong with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing_pddl::{
    Diagnostics, Domain, Problem, Severity, Source, check_domain, parse, read_problem,
};

use crate::exit::{Exit, Failure};
use crate::output::say;

/// Reads a whole file; a failure names the file and what to do.
pub(crate) fn read_bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path.is_dir() {
        return Err(Failure::because(
            Exit::BadInput,
            format!("{} is a folder, where a file is expected", path.display()),
        ));
    }
    std::fs::read(path).map_err(|error| cannot_read(path, &error))
}

/// The entries of a folder, in the order of their names.
pub(crate) fn entries(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| cannot_read(folder, &error))? {
        paths.push(entry.map_err(|error| cannot_read(folder, &error))?.path());
    }
    paths.sort();
    Ok(paths)
}

pub(crate) fn cannot_read(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let message = format!("cannot read {}: {}", path.display(), reason(error));
    Failure::because(Exit::BadInput, message)
}

/// What an input or output error means to a person.
pub(crate) fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
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

fn read_source(path: &Path) -> anyhow::Result<Arc<Source>> {
    let bytes = read_bytes(path)?;
    if u32::try_from(bytes.len()).is_err() {
        return Err(Failure::because(
            Exit::BadInput,
            format!("{} is larger than 4 GiB", path.display()),
        ));
    }
    Ok(Source::new(path.display().to_string(), bytes))
}

/// The domain that belongs to a problem: `domain.pddl` beside it.
fn domain_beside(problem: &Path) -> anyhow::Result<PathBuf> {
    let domain = problem.with_file_name("domain.pddl");
    if !problem.is_file() {
        // The more helpful complaint is about the file that was named.
        read_bytes(problem)?;
    }
    if domain.is_file() {
        return Ok(domain);
    }
    Err(Failure::because(
        Exit::BadInput,
        format!(
            "no domain is given, and there is no {} beside the problem",
            domain.display()
        ),
    ))
}

/// The domain and problem files of `[DOMAIN] PROBLEM`.
pub(crate) fn domain_and_problem(files: &[PathBuf]) -> anyhow::Result<(PathBuf, PathBuf)> {
    match files {
        [domain, problem] => Ok((domain.clone(), problem.clone())),
        [problem] => Ok((domain_beside(problem)?, problem.clone())),
        _ => Err(Failure::because(
            Exit::BadInput,
            "expected a domain and a problem",
        )),
    }
}

/// How many messages of each kind are worth a line, and the exit code they call for.
fn conclude(diagnostics: &Diagnostics) -> anyhow::Result<()> {
    match diagnostics.worst() {
        Some(Severity::Error) => Err(Failure::silent(Exit::BadPddl)),
        Some(Severity::Unsupported) => Err(Failure::silent(Exit::Unsupported)),
        Some(Severity::Warning) | None => Ok(()),
    }
}

/// How much to say about files that can be used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Warnings {
    Show,
    Count,
    Hide,
}

/// Shows messages on standard error and fails if they leave nothing to work with.
fn show(diagnostics: &Diagnostics, warnings: Warnings) -> anyhow::Result<()> {
    let count = diagnostics.count(Severity::Warning);
    if diagnostics.usable() && warnings != Warnings::Show {
        if count > 0 && warnings == Warnings::Count {
            let plural = if count == 1 { "" } else { "s" };
            say(&format!(
                "{count} warning{plural} about the input; `homing check` shows them\n"
            ));
        }
        return Ok(());
    }
    if !diagnostics.messages().is_empty() {
        say(&format!("{diagnostics}\n"));
    }
    conclude(diagnostics)
}

/// Reads and checks a domain and a problem.
pub(crate) fn load_problem(
    domain: &Path,
    problem: &Path,
    warnings: Warnings,
) -> anyhow::Result<Arc<Problem>> {
    let domain_source = read_source(domain)?;
    let problem_source = read_source(problem)?;
    let (checked, diagnostics) = read_problem(&domain_source, &problem_source);
    if !diagnostics.usable() {
        let defines = |source| parse(source).0.defines();
        let swapped = defines(&domain_source).as_deref() == Some("problem")
            && defines(&problem_source).as_deref() == Some("domain");
        if swapped {
            return Err(Failure::because(
                Exit::BadInput,
                format!(
                    "the files are swapped: {} holds a problem and {} a domain; the domain comes first",
                    domain.display(),
                    problem.display()
                ),
            ));
        }
    }
    show(&diagnostics, warnings)?;
    let problem =
        checked.ok_or_else(|| Failure::because(Exit::Bug, "no problem and no message"))?;
    Ok(Arc::new(problem))
}

/// What a file defines: `domain`, `problem`, or nothing that could be told.
pub(crate) fn defines(path: &Path) -> anyhow::Result<Option<String>> {
    Ok(parse(&read_source(path)?).0.defines())
}

/// Reads and checks a domain alone.
pub(crate) fn load_domain(path: &Path) -> anyhow::Result<Domain> {
    let (tree, mut diagnostics) = parse(&read_source(path)?);
    let (domain, messages) = check_domain(&tree);
    diagnostics.append(messages);
    show(&diagnostics, Warnings::Show)?;
    domain.ok_or_else(|| Failure::because(Exit::Bug, "no domain and no message"))
}

/// The problem files among `[DOMAIN] PROBLEMS...`, and their domain: the one named, else that beside
/// the first problem, else `otherwise`.
pub(crate) fn expand(
    files: &[PathBuf],
    otherwise: Option<&Path>,
) -> anyhow::Result<(PathBuf, Vec<PathBuf>)> {
    let mut problems = Vec::new();
    let mut domain = None;
    for (index, path) in files.iter().enumerate() {
        if path.is_dir() {
            let mut found = entries(path)?;
            found.retain(|path| {
                let name = path
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                name.is_some_and(|name| name.ends_with(".pddl") && !name.starts_with("domain"))
            });
            problems.extend(found);
        } else if index == 0 && files.len() > 1 && defines(path)?.as_deref() != Some("problem") {
            domain = Some(path.clone());
        } else {
            problems.push(path.clone());
        }
    }
    let Some(first) = problems.first() else {
        let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        return Err(Failure::because(
            Exit::BadInput,
            format!("there are no problems in {}", files.join(", ")),
        ));
    };
    let domain = domain.unwrap_or_else(|| {
        let beside = first.with_file_name("domain.pddl");
        match otherwise {
            Some(otherwise) if !beside.is_file() => otherwise.to_owned(),
            _ => beside,
        }
    });
    Ok((domain, problems))
}
