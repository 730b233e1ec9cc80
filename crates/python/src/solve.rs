//! Solving and training.

use std::path::PathBuf;

use homing::train::within_budget;
use homing::{Learner, NlmTraining, SolveRequest, TrainEnd, TrainRequest, load_model};
use homing_learner::{LearnConfig, TrainConfig};
use homing_planner::Stop;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use crate::convert::{options, record, with_options};
use crate::errors::{bug, raise, request};
use crate::input::{Problem, write_files};
use crate::model::Model;
use crate::observe::PythonObserver;

/// Carries out a request to solve a problem.
#[pyfunction]
#[pyo3(signature = (problem, model, callback, keywords))]
pub(crate) fn solve<'py>(
    py: Python<'py>,
    problem: &Problem,
    model: Option<&Model>,
    callback: Option<Py<PyAny>>,
    keywords: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = options(Some(keywords))?;
    let mut asked = with_options(
        &SolveRequest::new(problem.request_source()),
        options,
        &["/problem"],
    )?;
    // The library reads models from files.
    let mut file = None;
    if let Some(model) = model {
        let folder = tempfile::tempdir().map_err(bug)?;
        let path = folder.path().join("model.safetensors");
        std::fs::write(&path, model.bytes()?).map_err(bug)?;
        asked.search.model = Some(path);
        file = Some(folder);
    }
    let observer = PythonObserver::new(callback);
    let mut solved = py
        .detach(|| homing::solve(&asked, &observer))
        .map_err(|error| observer.check().err().unwrap_or_else(|| raise(error)))?;
    observer.check()?;
    if file.is_some() {
        solved.model = model.and_then(Model::file);
    }
    record(py, &solved)
}

/// What learns, with the settings that the request leaves open.
fn learner(
    name: Option<&str>,
    preset: Option<&str>,
    budget: Option<f64>,
    options: &Map<String, Value>,
    keep: bool,
) -> PyResult<Learner> {
    let usual = if preset.is_some() { "nlm" } else { "counts" };
    match name.unwrap_or(usual) {
        "counts" if preset.is_some() => Err(request("a preset is for the learner `nlm`")),
        "counts" => {
            let config = budget.map_or_else(LearnConfig::default, within_budget);
            Ok(Learner::Counts(Box::new(config)))
        }
        "nlm" if budget.is_some() => Err(request("a budget is for the learner `counts`")),
        "nlm" => {
            let mut training = NlmTraining::default();
            if let Some(name) = preset {
                training.config = TrainConfig::preset(name)
                    .ok_or_else(|| request(format!("there is no preset `{name}`")))?;
            }
            // What is given is not raised to fit the domain.
            training.may_raise.max_arity = !options.contains_key("max_arity");
            training.may_raise.layers = !options.contains_key("layers");
            if !keep {
                training.log = false;
                training.checkpoint_every = 0;
            }
            Ok(Learner::Nlm(Box::new(training)))
        }
        name => Err(request(format!(
            "there is no learner `{name}`; there are counts, nlm"
        ))),
    }
}

/// What ended a run, in the words of `homing.TrainingStopped`.
fn reason(by: Stop) -> &'static str {
    match by {
        Stop::Time => "time",
        Stop::Memory => "memory",
        // Ctrl-C is an exception of its own: what is left is the callback.
        Stop::Interrupted => "callback",
    }
}

/// Carries out a request to train a model. Returns the model, or where the run was ended how
/// far it came and by what.
#[pyfunction]
#[pyo3(signature = (files, problems, out, kind, callback, keywords))]
pub(crate) fn train<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    problems: Vec<PyRef<'py, Problem>>,
    out: Option<PathBuf>,
    kind: (Option<String>, Option<String>, Option<f64>),
    callback: Option<Py<PyAny>>,
    keywords: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let folder = tempfile::tempdir().map_err(bug)?;
    let files = if problems.is_empty() {
        files
    } else {
        write_files(folder.path(), &problems)?
    };
    let model = match &out {
        Some(out) => out.clone(),
        None => folder.path().join("model.safetensors"),
    };
    let options = options(Some(keywords))?;
    let mut asked = TrainRequest::new(files, model);
    let (name, preset, budget) = kind;
    asked.learner = learner(
        name.as_deref(),
        preset.as_deref(),
        budget,
        &options,
        out.is_some(),
    )?;
    let closed = ["/files", "/model", "/learner/kind", "/learner/may_raise"];
    let asked = with_options(&asked, options, &closed)?;
    let observer = PythonObserver::new(callback);
    let end = py
        .detach(|| homing::train(&asked, &observer))
        .map_err(|error| observer.check().err().unwrap_or_else(|| raise(error)))?;
    observer.check()?;
    let answer = PyDict::new(py);
    match end {
        TrainEnd::Trained(run) | TrainEnd::AlreadyThere(run) => {
            let model = load_model(&asked.model).map_err(raise)?;
            answer.set_item("model", Py::new(py, Model::new(model, out, Some(run)))?)?;
        }
        TrainEnd::Stopped {
            steps,
            checkpoint,
            by,
        } => {
            answer.set_item("steps", steps)?;
            answer.set_item("reason", reason(by))?;
            answer.set_item("checkpoint", out.is_some().then_some(checkpoint))?;
        }
    }
    Ok(answer.into_any())
}
