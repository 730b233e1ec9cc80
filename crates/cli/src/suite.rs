//! `homing suite`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use homing::files::write_whole;
use homing::input::{entries, read_bytes};
use homing_lab::layout::DOMAIN_FILE;
use homing_lab::suite::{Dropped, FileProblem, MANIFEST_FILE, Manifest, Reason, manifest_of_files};
use homing_pddl::{Diagnostics, Domain, Severity, Source, check_problem, parse};

use crate::exit::{Exit, Failure};
use crate::folder::{Counter, summary};
use crate::input::load_domain;
use crate::output::{print, say};

/// Check a folder of problems and write its manifest
///
/// Checks every problem of the folder against the `domain.pddl` in it and writes `manifest.json`:
/// what there is, how large, with hashes; and which problems are trivial or equal to another. Where
/// the folder has no `domain.pddl`, its folders that have one are taken one by one.
#[derive(Debug, Args)]
#[command(
    override_usage = "homing suite DIR",
    after_help = "Example:\n  homing suite my-problems",
    after_long_help = "Example:\n  homing suite my-problems\n\n\
                       The fields of the manifest are in docs/formats.md. No manifest is written \
                       if a problem cannot be used (exit code 31 or 34)."
)]
pub(crate) struct Suite {
    /// The folder: `domain.pddl` and problems, `*.pddl`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run(arguments: &Suite) -> anyhow::Result<Exit> {
    let folder = &arguments.folder;
    let found = entries(folder)?;
    if folder.join(DOMAIN_FILE).is_file() {
        return suite_of(folder, &found);
    }
    let inner: Vec<PathBuf> = found
        .into_iter()
        .filter(|path| path.join(DOMAIN_FILE).is_file())
        .collect();
    if inner.is_empty() {
        return Err(Failure::because(
            Exit::BadInput,
            format!(
                "there is no {DOMAIN_FILE} in {}, nor in a folder in it",
                folder.display()
            ),
        ));
    }
    for folder in inner {
        suite_of(&folder, &entries(&folder)?)?;
    }
    Ok(Exit::Success)
}

/// Checks the problems of one folder and writes its manifest.
fn suite_of(folder: &Path, found: &[PathBuf]) -> anyhow::Result<Exit> {
    let domain_path = folder.join(DOMAIN_FILE);
    let domain = Arc::new(load_domain(&domain_path)?);
    let domain_text = String::from_utf8_lossy(&read_bytes(&domain_path)?).into_owned();
    let files: Vec<&PathBuf> = found
        .iter()
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "pddl")
                && **path != domain_path
                && path.is_file()
        })
        .collect();
    if files.is_empty() {
        return Err(Failure::because(
            Exit::BadInput,
            format!(
                "there is no problem (a file *.pddl) in {}",
                folder.display()
            ),
        ));
    }
    let problems = check_all(&files, &domain, folder)?;
    let earlier = earlier_manifest(&folder.join(MANIFEST_FILE));
    let manifest = manifest_of_files(&domain.name, &domain_text, &problems, earlier.as_ref());
    write_whole(&folder.join(MANIFEST_FILE), manifest.to_json().as_bytes())?;
    let present: Vec<Dropped> = manifest
        .dropped
        .iter()
        .filter(|dropped| problems.iter().any(|problem| problem.file == dropped.file))
        .cloned()
        .collect();
    let kept = summary(manifest.problems.len(), &present);
    let mut text = format!("{}: {kept}\n", folder.display());
    for dropped in &present {
        let why = match &dropped.reason {
            Reason::Trivial => "its goal holds at the start".to_owned(),
            Reason::Duplicate { of } => format!("it equals {of}"),
        };
        text.push_str(&format!("  {} is left out: {why}\n", dropped.file));
    }
    print(&text)?;
    Ok(Exit::Success)
}

/// Reads and checks every file; shows everything that is wrong with any of them.
fn check_all(
    files: &[&PathBuf],
    domain: &Arc<Domain>,
    folder: &Path,
) -> anyhow::Result<Vec<FileProblem>> {
    let mut problems = Vec::new();
    let (mut warnings, mut bad, mut unsupported) = (0, 0, 0);
    let mut counter = Counter::new(folder.display().to_string(), files.len());
    let mut messages = String::new();
    for (index, path) in files.iter().enumerate() {
        let bytes = read_bytes(path)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let source = Source::new(path.display().to_string(), bytes);
        let (tree, mut diagnostics): (_, Diagnostics) = parse(&source);
        let (problem, more) = check_problem(&tree, domain);
        diagnostics.append(more);
        warnings += diagnostics.count(Severity::Warning);
        match (problem, diagnostics.worst()) {
            (Some(problem), Some(Severity::Warning) | None) => problems.push(FileProblem {
                file: name(path),
                text,
                problem,
            }),
            (_, worst) => {
                match worst {
                    Some(Severity::Unsupported) => unsupported += 1,
                    _ => bad += 1,
                }
                messages.push_str(&format!("{diagnostics}\n"));
            }
        }
        counter.update(index + 1);
    }
    drop(counter);
    if bad + unsupported > 0 {
        say(&messages);
        let exit = if bad > 0 {
            Exit::BadPddl
        } else {
            Exit::Unsupported
        };
        return Err(Failure::because(
            exit,
            format!(
                "{} of {} problems cannot be used; no manifest is written",
                bad + unsupported,
                files.len()
            ),
        ));
    }
    if warnings > 0 {
        let plural = if warnings == 1 { "" } else { "s" };
        say(&format!(
            "{warnings} warning{plural} about the problems; `homing check` shows them\n"
        ));
    }
    Ok(problems)
}

fn name(path: &Path) -> String {
    path.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// What a manifest in the folder says about the origin of its problems. One that cannot be read
/// says nothing.
fn earlier_manifest(path: &Path) -> Option<Manifest> {
    let text = std::fs::read(path).ok()?;
    serde_json::from_slice(&text).ok()
}
