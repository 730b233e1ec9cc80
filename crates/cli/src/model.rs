//! `homing model`.

use std::fmt::Write as _;

use homing::load_model;
use homing_learner::Model;

use crate::args::ModelCommand;
use crate::exit::Exit;
use crate::output::print;
use crate::train::args::ModelAction;

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
