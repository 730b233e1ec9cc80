//! `homing model`, and models as heuristics.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::Path;

use homing_learner::{Learned, Model};
use homing_pddl::Domain;
use homing_planner::Task;

use crate::args::ModelCommand;
use crate::exit::{Exit, Failure};
use crate::input::read_bytes;
use crate::output::print;
use crate::train::args::ModelAction;

/// Reads a model file.
pub(crate) fn load_model(path: &Path) -> anyhow::Result<Model> {
    Model::from_file(&read_bytes(path)?)
        .map_err(|error| Failure::because(Exit::BadInput, format!("{}: {error}", path.display())))
}

/// Reads a model file and makes sure it was trained for this domain.
pub(crate) fn load_model_for(path: &Path, domain: &Domain) -> anyhow::Result<Model> {
    let model = load_model(path)?;
    model.check_domain(domain).map_err(|error| {
        Failure::because(Exit::BadInput, format!("{}: {error}", path.display()))
    })?;
    Ok(model)
}

/// Threads to use: as asked for, else all cores.
pub(crate) fn threads(asked: Option<NonZeroUsize>) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    asked.map_or_else(all, NonZeroUsize::get)
}

/// A model as a heuristic for a task.
pub(crate) fn learned<'t>(
    model: &Model,
    task: &'t Task,
    asked: Option<NonZeroUsize>,
) -> anyhow::Result<Learned<'t>> {
    Learned::new(model, task, threads(asked))
        .map_err(|error| Failure::because(Exit::BadInput, error.to_string()))
}

pub(crate) fn run(arguments: &ModelCommand) -> anyhow::Result<Exit> {
    let ModelAction::Show { file } = &arguments.action;
    let model = load_model(file)?;
    print(&text(&model)?)?;
    Ok(Exit::Success)
}

fn text(model: &Model) -> anyhow::Result<String> {
    let header = &model.header;
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<18} {value}");
    };
    row("domain", header.domain.clone());
    row("corrects", format!("h_{}", header.config.heuristic.name()));
    row("seed", header.seed.to_string());
    row("steps", header.steps.to_string());
    row("goals reached", header.summary.goals.to_string());
    row("episodes", header.summary.episodes.to_string());
    row("problems", header.summary.problems.to_string());
    row("last loss", format!("{:.6}", header.summary.loss));
    row("parameters", model.parameters.len().to_string());
    row("format", header.format_version.to_string());
    row("trained by homing", header.revision.clone());
    let shapes = |list: &[(String, usize)]| {
        let names: Vec<String> = list.iter().map(|(name, n)| format!("{name}/{n}")).collect();
        names.join(" ")
    };
    row("predicates", shapes(&header.signature.predicates));
    row("actions", shapes(&header.signature.actions));
    let types: Vec<&str> = header
        .signature
        .types
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    row(
        "types",
        if types.is_empty() {
            "none".to_owned()
        } else {
            types.join(" ")
        },
    );
    let _ = writeln!(text, "\n# configuration");
    text.push_str(&toml::to_string(&header.config)?);
    Ok(text)
}
