//! `homing model`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use homing::models::SHIPPED;
use homing::{Error, load_model, load_model_for};
use homing_learner::{
    AnyModel, CountsModel, GnnModel, HgnModel, HgnReport, Model, Signature, WEIGHT_SCALE,
};
use homing_planner::ground;

use crate::args::ModelCommand;
use crate::exit::{Exit, Failure};
use crate::input::problem_source;
use crate::output::print;
use crate::train::args::ModelAction;
use crate::train::candidates;

pub(crate) fn run(arguments: &ModelCommand) -> anyhow::Result<Exit> {
    match &arguments.action {
        ModelAction::Show { file, features } => {
            let text = match load_model(file)? {
                AnyModel::Nlm(model) => of_network(&model)?,
                AnyModel::Counts(model) => of_counts(&model, *features)?,
                AnyModel::Gnn(model) => of_gnn(&model)?,
                AnyModel::Hgn(model) => of_hypergraph(&model)?,
            };
            print(&text)?;
        }
        ModelAction::List => print(&list()?)?,
        ModelAction::Trust { model, files, json } => print(&trust(model, files, *json)?)?,
    }
    Ok(Exit::Success)
}

/// Rows of a name and a value.
#[derive(Default)]
struct Rows(String);

impl Rows {
    fn row(&mut self, name: &str, value: impl std::fmt::Display) {
        let _ = writeln!(self.0, "{name:<18} {value}");
    }

    /// Format, version and domain.
    fn origin(&mut self, format: u32, revision: &str, signature: &Signature) {
        self.row("format", format);
        self.row("trained by homing", revision);
        self.signature(signature);
    }

    /// All rows, then the settings.
    fn configured(mut self, config: &impl serde::Serialize) -> anyhow::Result<String> {
        let _ = writeln!(self.0, "\n# configuration");
        self.0.push_str(&toml::to_string(config)?);
        Ok(self.0)
    }

    fn signature(&mut self, signature: &Signature) {
        let shapes = |list: &[(String, usize)]| {
            let names: Vec<String> = list.iter().map(|(name, n)| format!("{name}/{n}")).collect();
            names.join(" ")
        };
        self.row("predicates", shapes(&signature.predicates));
        self.row("actions", shapes(&signature.actions));
        let types: Vec<&str> = signature
            .types
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        self.row(
            "types",
            if types.is_empty() {
                "none".to_owned()
            } else {
                types.join(" ")
            },
        );
    }
}

fn of_network(model: &Model) -> anyhow::Result<String> {
    let header = &model.header;
    let mut rows = Rows::default();
    rows.row("domain", &header.domain);
    rows.row("corrects", format!("h_{}", header.config.heuristic.name()));
    rows.row("seed", header.seed);
    rows.row("steps", header.steps);
    rows.row("goals reached", header.summary.goals);
    rows.row("episodes", header.summary.episodes);
    rows.row("problems", header.summary.problems);
    rows.row("last loss", format!("{:.6}", header.summary.loss));
    rows.row("parameters", model.parameters.len());
    rows.origin(header.format_version, &header.revision, &header.signature);
    rows.configured(&header.config)
}

fn of_gnn(model: &GnnModel) -> anyhow::Result<String> {
    let (header, summary) = (&model.header, &model.header.summary);
    let mut rows = Rows::default();
    rows.row("domain", &header.domain);
    rows.row("learner", "gnn, a graph network by PPO");
    rows.row("seed", header.seed);
    rows.row("iterations", header.config.iterations);
    rows.row("problems", summary.problems);
    rows.row("episodes", summary.episodes);
    rows.row("goals reached", summary.solved);
    let last = format!("{:.1} %", 100.0 * summary.last_rate);
    rows.row("in the last", format!("{last} of its episodes"));
    rows.row("steps", summary.steps);
    rows.row("updates", summary.updates);
    rows.row("parameters", model.parameters.len());
    rows.origin(header.format_version, &header.revision, &header.signature);
    rows.configured(&header.config)
}

fn of_hypergraph(model: &HgnModel) -> anyhow::Result<String> {
    let header = &model.header;
    let report = &header.report;
    let mut rows = Rows::default();
    rows.row("domain", &header.domain);
    rows.row("learner", "hgn, a hypergraph network, on optimal plans");
    rows.row("seed", header.seed);
    rows.row("parameters", model.parameter_count());
    let places = header.places;
    rows.row(
        "places",
        format!(
            "{} effects, {} conditions",
            places.receivers, places.senders
        ),
    );
    rows.row(
        "trained on",
        format!(
            "{} states of {} optimal plans, the longest of {} steps",
            report.labels.samples, report.labels.solved, report.labels.longest
        ),
    );
    rows.origin(header.format_version, &header.revision, &header.signature);
    let _ = write!(rows.0, "\n# folds\n{}", folds(report));
    rows.configured(&header.config)
}

/// A line for each fold.
pub(crate) fn folds(report: &HgnReport) -> String {
    let mut text = format!(
        "{:>4} {:>8} {:>9} {:>6} {:>10} {:>8}\n",
        "fold", "trained", "left out", "epoch", "loss", "redrawn"
    );
    for (number, fold) in report.folds.iter().enumerate() {
        let chosen = if number == report.chosen {
            "  kept"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "{:>4} {:>8} {:>9} {:>6} {:>10.4} {:>8}{chosen}",
            number + 1,
            fold.samples[0],
            fold.samples[1],
            fold.epoch,
            fold.loss,
            fold.redrawn
        );
    }
    text
}

fn of_counts(model: &CountsModel, features: usize) -> anyhow::Result<String> {
    let header = &model.header;
    let report = &header.report;
    let mut rows = Rows::default();
    rows.row("domain", &header.domain);
    rows.row("learner", "counts, by ranking");
    rows.row("seed", header.seed);
    rows.row("features", model.function.weights().len());
    rows.row("rounds", header.graph.rounds);
    rows.row("heads", header.heads);
    if !header.heuristics.is_empty() {
        let weighted = header.heuristics.iter().map(|(kind, weights)| {
            let of_heads = weights[..header.heads].iter();
            let weights =
                of_heads.map(|&w| format!("{:.3}", f64::from(w) / f64::from(WEIGHT_SCALE)));
            format!(
                "{} ({})",
                kind.name(),
                weights.collect::<Vec<_>>().join(", ")
            )
        });
        let weighted: Vec<String> = weighted.collect();
        rows.row(
            "heuristics",
            format!("{}, each with its weight", weighted.join(" ")),
        );
    }
    rows.row("pairs", report.fit.pairs);
    rows.row("trained on", candidates::data(report));
    rows.origin(header.format_version, &header.revision, &header.signature);
    let _ = writeln!(
        rows.0,
        "\n# candidates, compared on the {} largest problems\n{}",
        report.held_out,
        candidates::table(report)
    );
    let _ = writeln!(
        rows.0,
        "# features that weigh most; less is better, so a search strives for those below 0"
    );
    for feature in model.features_in_words(features) {
        let weights: Vec<String> = feature
            .weights
            .iter()
            .map(|w| format!("{w:>8.3}"))
            .collect();
        let _ = writeln!(rows.0, "{}  {}", weights.join(" "), feature.text);
    }
    rows.configured(&header.config)
}

/// The models that ship.
fn list() -> anyhow::Result<String> {
    let mut text = format!(
        "{:<22} {:>8} {:>7}  predicates\n",
        "model", "features", "bytes"
    );
    for shipped in &SHIPPED {
        let AnyModel::Counts(model) = shipped.load()? else {
            return Err(Failure::because(Exit::Bug, "models of counts ship"));
        };
        let names = model.header.signature.predicates.iter();
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        let _ = writeln!(
            text,
            "{:<22} {:>8} {:>7}  {}",
            shipped.name,
            model.function.weights().len(),
            shipped.bytes.len(),
            names.join(" ")
        );
    }
    Ok(text)
}

/// How much of a problem a model has seen.
fn trust(path: &Path, files: &[PathBuf], json: bool) -> anyhow::Result<String> {
    let problem = problem_source(files)?.load()?.value;
    let AnyModel::Counts(model) = load_model_for(path, &problem.domain)? else {
        return Err(Failure::because(
            Exit::BadInput,
            format!(
                "{} is a network: only models of counts can tell what they have seen",
                path.display()
            ),
        ));
    };
    let task = ground(&problem, &mut ()).map_err(|error| Error::Ground { file: None, error })?;
    let trust = model.trust(&task);
    if json {
        let object = serde_json::json!({
            "all": trust.all, "known": trust.known, "share": trust.share(),
        });
        return Ok(format!("{object}\n"));
    }
    let mut text = String::new();
    for (round, (known, all)) in trust.known.iter().zip(&trust.all).enumerate() {
        let share = 100.0 * *known as f64 / (*all).max(1) as f64;
        let _ = writeln!(
            text,
            "round {round}: {share:.2} % of colours seen in training"
        );
    }
    let _ = writeln!(text, "in all:  {:.2} %", 100.0 * trust.share());
    Ok(text)
}
