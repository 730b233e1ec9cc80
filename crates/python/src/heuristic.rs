//! Heuristics as objects that keep what they have built for a task.

use std::sync::{Arc, Mutex};

use homing_learner::AnyModel;
use homing_planner::{Costs, Estimate, HeuristicKind, Registry, StateId, States, UnknownName};
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::errors::{model as model_error, request};
use crate::task::{State, Task};

type Boxed<'t> = Box<dyn homing_planner::Heuristic + Send + 't>;

self_cell!(
    /// A heuristic together with the task that it borrows from.
    struct Built {
        owner: Arc<homing_planner::Task>,

        #[not_covariant]
        dependent: Boxed,
    }
);

/// A heuristic for the states of one task. `h(state)` is an estimate of the cost to the goal,
/// infinite where there is no way.
#[pyclass(frozen, module = "homing")]
pub(crate) struct Heuristic {
    task: Task,
    name: String,
    built: Mutex<Built>,
}

impl Heuristic {
    fn new(task: &Task, built: Built) -> Self {
        let name = built.with_dependent(|_, heuristic| heuristic.name().to_owned());
        Self {
            task: task.clone(),
            name,
            built: Mutex::new(built),
        }
    }

    /// A heuristic of the planner by its name.
    pub(crate) fn of_name(name: &str, task: &Task, unit_cost: bool) -> PyResult<Self> {
        let kind: HeuristicKind = name.parse().map_err(|error: UnknownName| request(error))?;
        let costs = if unit_cost { Costs::Unit } else { Costs::Task };
        let built = Built::new(task.planner_task(), |task| kind.build(task, costs));
        Ok(Self::new(task, built))
    }

    /// A model as a heuristic.
    pub(crate) fn learned(model: &AnyModel, task: &Task, threads: usize) -> PyResult<Self> {
        let built = Built::try_new(task.planner_task(), |task| {
            model.function().heuristic(task, threads.into())
        });
        Ok(Self::new(task, built.map_err(model_error)?))
    }

    /// Estimates for packed states.
    pub(crate) fn estimates(&self, states: States<'_>) -> Vec<f64> {
        let mut estimates: Vec<Estimate> = Vec::with_capacity(states.len());
        let mut built = self.built.lock().expect("no thread panics here");
        built.with_dependent_mut(|_, heuristic| heuristic.evaluate(states, &mut estimates));
        let number = |estimate: Estimate| estimate.finite().unwrap_or(f64::INFINITY);
        estimates.into_iter().map(number).collect()
    }
}

#[pymethods]
impl Heuristic {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The estimate of one state.
    fn __call__(&self, state: &State) -> PyResult<f64> {
        state.check_task(&self.task)?;
        Ok(self.estimates(States::one(state.words()))[0])
    }

    /// An estimate for each state, in one batch.
    pub(crate) fn evaluate(
        &self,
        py: Python<'_>,
        states: Vec<PyRef<'_, State>>,
    ) -> PyResult<Vec<f64>> {
        // One behind the other, as heuristics read them; repeated states are evaluated once.
        let mut registry = Registry::new(self.task.words());
        let mut ids = Vec::with_capacity(states.len());
        for state in &states {
            state.check_task(&self.task)?;
            ids.push(registry.insert(state.words()).0);
        }
        let all = registry.range(StateId::from_index(0), registry.next_id());
        let estimates = py.detach(|| self.estimates(all));
        Ok(ids.into_iter().map(|id| estimates[id.index()]).collect())
    }

    fn __repr__(&self) -> String {
        format!("<Heuristic {}>", self.name)
    }
}
