//! What a model is, for its page.

use homing::Error;
use homing::models::SHIPPED;
use homing_learner::{AnyModel, Signature};
use serde_json::{Value, json};

use crate::job::ModelPlace;
use crate::model_records;

/// So many features are told in words.
const FEATURES: usize = 20;

/// Tells what a model was trained on, how that went, and what it learnt.
pub(crate) fn describe(place: &ModelPlace) -> Result<Value, Error> {
    let model = match place {
        ModelPlace::Shipped(name) => {
            let shipped = SHIPPED.iter().find(|shipped| shipped.name == name);
            let missing = || Error::Request(format!("no model `{name}` ships"));
            shipped.ok_or_else(missing)?.load()?
        }
        ModelPlace::File(path) => homing::load_model(path)?,
    };
    let mut told = of_model(&model);
    if let ModelPlace::File(path) = place {
        // They are not the model: without them it can still be shown.
        if model_records::add(&mut told, path).is_err() {
            told["note"] = json!("the log or the records beside its file cannot be read");
        }
    }
    Ok(told)
}

/// What the file itself says.
fn of_model(model: &AnyModel) -> Value {
    match model {
        AnyModel::Nlm(model) => {
            let header = &model.header;
            json!({
                "learner": "nlm", "domain": header.domain, "seed": header.seed,
                "revision": header.revision, "signature": signature(&header.signature),
                "corrects": header.config.heuristic.name(), "steps": header.steps,
                "goals": header.summary.goals, "episodes": header.summary.episodes,
                "problems": header.summary.problems, "loss": header.summary.loss,
                "parameters": model.parameters.len(), "config": header.config,
            })
        }
        AnyModel::Gnn(model) => {
            let header = &model.header;
            json!({
                "learner": "gnn", "domain": header.domain, "seed": header.seed,
                "revision": header.revision, "signature": signature(&header.signature),
                "steps": header.summary.steps, "goals": header.summary.solved,
                "episodes": header.summary.episodes, "problems": header.summary.problems,
                "parameters": model.parameters.len(), "config": header.config,
            })
        }
        AnyModel::Hgn(model) => {
            let header = &model.header;
            json!({
                "learner": "hgn", "domain": header.domain, "seed": header.seed,
                "revision": header.revision, "signature": signature(&header.signature),
                "parameters": model.parameter_count(), "report": header.report,
                "config": header.config,
            })
        }
        AnyModel::Counts(model) => {
            let header = &model.header;
            let report = &header.report;
            let words = model.features_in_words(FEATURES).into_iter();
            let features = words.map(|one| json!({"weights": one.weights, "text": one.text}));
            let candidates = report.candidates.iter().enumerate().map(|(index, record)| {
                json!({
                    "name": record.name, "rounds": record.rounds, "heads": record.heads,
                    "features": record.fit.features, "solved": record.solved,
                    "ordered": record.fit.accuracy.iter().copied().fold(0.0, f64::max),
                    "chosen": index == report.chosen,
                })
            });
            json!({
                "learner": "counts", "domain": header.domain, "seed": header.seed,
                "revision": header.revision, "signature": signature(&header.signature),
                "walked": report.data.walked, "states": report.data.states,
                "too_large": report.data.too_large, "samples": report.data.samples,
                "pairs": report.fit.pairs, "held_out": report.held_out,
                "weights": model.function.weights().len(),
                "candidates": candidates.collect::<Vec<_>>(),
                "features": features.collect::<Vec<_>>(), "config": header.config,
            })
        }
    }
}

fn signature(signature: &Signature) -> Value {
    let shapes = |list: &[(String, usize)]| -> Vec<String> {
        list.iter().map(|(name, n)| format!("{name}/{n}")).collect()
    };
    json!({"predicates": shapes(&signature.predicates), "actions": shapes(&signature.actions)})
}
