//! Trained models.

use std::path::PathBuf;

use homing::load_model;
use homing::resources::threads;
use homing_learner::AnyModel;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::record;
use crate::errors::{model as model_error, raise, request};
use crate::heuristic::Heuristic;
use crate::task::{State, Task};

/// What was learnt for a domain: a heuristic for any problem of it.
#[pyclass(frozen, module = "homing")]
pub(crate) struct Model {
    pub(crate) inner: AnyModel,
    file: Option<PathBuf>,
    /// What the run of training came to.
    record: Option<homing::TrainRecord>,
}

impl Model {
    pub(crate) fn new(
        inner: AnyModel,
        file: Option<PathBuf>,
        record: Option<homing::TrainRecord>,
    ) -> Self {
        Self {
            inner,
            file,
            record,
        }
    }

    /// The bytes of its file.
    pub(crate) fn bytes(&self) -> PyResult<Vec<u8>> {
        self.inner.function().to_file().map_err(model_error)
    }

    /// Its file, where it has one.
    pub(crate) fn file(&self) -> Option<String> {
        Some(self.file.as_ref()?.display().to_string())
    }
}

#[pymethods]
impl Model {
    /// Reads a model's file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let inner = load_model(&path).map_err(raise)?;
        Ok(Self::new(inner, Some(path), None))
    }

    /// A model of the bytes that `to_bytes` gave.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let inner = AnyModel::from_file(bytes).map_err(model_error)?;
        Ok(Self::new(inner, None, None))
    }

    /// Writes the model to a file, whole or not at all.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        homing::files::write_whole(&path, &self.bytes()?).map_err(raise)
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.bytes()?))
    }

    /// Everything about the model but its weights, as a dictionary.
    #[getter]
    fn header<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.inner {
            AnyModel::Nlm(model) => record(py, &model.header),
            AnyModel::Counts(model) => record(py, &model.header),
            AnyModel::Gnn(model) => record(py, &model.header),
            AnyModel::Hgn(model) => record(py, &model.header),
        }
    }

    /// What the run of training came to, as a dictionary, where the model comes from one.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let run = self.record.as_ref();
        run.map(|run| record(py, run)).transpose()
    }

    /// The name of the domain that it was trained for.
    #[getter]
    fn domain(&self) -> &str {
        self.inner.function().domain()
    }

    /// The kind of function that was learnt: `"nlm"` or `"hgn"`, networks, or `"counts"`.
    #[getter]
    fn kind(&self) -> &'static str {
        self.inner.function().kind().name()
    }

    /// The model as a heuristic for a task: quicker than `evaluate` where it is asked often.
    #[pyo3(signature = (task, threads = None))]
    fn heuristic(
        &self,
        task: &Task,
        threads: Option<std::num::NonZeroUsize>,
    ) -> PyResult<Heuristic> {
        Heuristic::learned(&self.inner, task, self::threads(threads))
    }

    /// An estimate for each state, in one batch; infinite for a dead end. The states are of one
    /// task.
    fn evaluate(&self, py: Python<'_>, states: Vec<PyRef<'_, State>>) -> PyResult<Vec<f64>> {
        let Some(first) = states.first() else {
            return Ok(Vec::new());
        };
        if states.iter().any(|state| !state.same_task(first)) {
            return Err(request("the states are of several tasks"));
        }
        let task = Task::of(first);
        Heuristic::learned(&self.inner, &task, threads(None))?.evaluate(py, states)
    }

    fn __repr__(&self) -> String {
        let function = self.inner.function();
        format!("<Model ({}) for {}>", function.kind(), function.domain())
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }
}
