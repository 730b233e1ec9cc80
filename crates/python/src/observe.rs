//! Looking on from Python while the library works without the interpreter's lock.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use homing::train::LogLine;
use homing::{Notice, Observer, PlanFound, PlanningProgress};
use homing_learner::{LearnProgress, StepRecord};
use homing_planner::Progress;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::record;

/// Milliseconds between looks at signals.
const BETWEEN_LOOKS: u64 = 50;

/// Passes on to a callback what happens, and ends the work where a signal such as Ctrl-C or the
/// callback says so.
pub(crate) struct PythonObserver {
    callback: Option<Py<PyAny>>,
    start: Instant,
    last_look: AtomicU64,
    stop: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl PythonObserver {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self {
            callback,
            start: Instant::now(),
            last_look: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            raised: Mutex::new(None),
        }
    }

    fn end_with(&self, error: PyErr) {
        // The first exception is the cause; later ones are of work on its way out.
        let mut raised = self.raised.lock().expect("no thread panics here");
        raised.get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The exception that ended the work, if one did.
    pub(crate) fn check(&self) -> PyResult<()> {
        match self.raised.lock().expect("no thread panics here").take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn call<'py>(&self, py: Python<'py>, argument: PyResult<Bound<'py, PyAny>>) {
        let Some(callback) = &self.callback else {
            return;
        };
        let answer = argument.and_then(|argument| callback.bind(py).call1((argument,)));
        match answer {
            // `False` itself: a callback without a return value says nothing.
            Ok(answer) if answer.is(pyo3::types::PyBool::new(py, false)) => {
                self.stop.store(true, Ordering::Relaxed);
            }
            Ok(_) => {}
            Err(error) => self.end_with(error),
        }
    }

    fn log(&self, level: &str, message: &str) {
        Python::attach(|py| {
            let logged = || -> PyResult<()> {
                let logger = py
                    .import("logging")?
                    .call_method1("getLogger", ("homing",))?;
                logger.call_method1(level, (message,))?;
                Ok(())
            };
            if let Err(error) = logged() {
                self.end_with(error);
            }
        });
    }
}

impl Observer for PythonObserver {
    fn stopped(&self) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return true;
        }
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.last_look.load(Ordering::Relaxed);
        if now - last.min(now) < BETWEEN_LOOKS {
            return false;
        }
        self.last_look.store(now, Ordering::Relaxed);
        // The method itself is not general enough for the compiler.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let checked = Python::attach(|py| py.check_signals());
        if let Err(error) = checked {
            self.end_with(error);
        }
        self.stop.load(Ordering::Relaxed)
    }

    fn notice(&self, notice: &Notice) {
        match notice {
            Notice::LeftOut { file, error } => self.log(
                "warning",
                &format!("{} is left out: {error}", file.display()),
            ),
            Notice::Raised { field, value } => self.log(
                "info",
                &format!(
                    "{field} is raised to {value}, the least with which a network can read this domain"
                ),
            ),
            Notice::LowTrust { share } => self.log(
                "warning",
                &format!(
                    "the model has seen {:.0} % of what is in this problem",
                    100.0 * share
                ),
            ),
            Notice::FewWalked(data) => self.log(
                "warning",
                &format!(
                    "only {} of the problems could be walked through, {} are too large: what was \
                     learnt may say little; smaller problems help, and so may a larger budget",
                    data.walked, data.too_large
                ),
            ),
            Notice::NotGrounded(error) => self.log("info", &error.to_string()),
            Notice::Unsolvable(error) => self.log("info", &error.to_string()),
            // Warnings are in `Problem.warnings`, sizes in the record.
            _ => {}
        }
    }

    fn planning(&self, progress: &PlanningProgress) {
        if self.callback.is_none() {
            return;
        }
        Python::attach(|py| {
            let dict = || -> PyResult<Bound<'_, PyAny>> {
                let dict = PyDict::new(py);
                dict.set_item("elapsed", progress.elapsed.as_secs_f64())?;
                match progress.progress {
                    Progress::Search {
                        evaluations,
                        expansions,
                        best,
                    } => {
                        dict.set_item("phase", "search")?;
                        dict.set_item("evaluations", evaluations)?;
                        dict.set_item("expansions", expansions)?;
                        dict.set_item("best", best)?;
                    }
                    Progress::Grounding { actions } => {
                        dict.set_item("phase", "grounding")?;
                        dict.set_item("actions", actions)?;
                    }
                    _ => dict.set_item("phase", "preparing")?,
                }
                Ok(dict.into_any())
            };
            self.call(py, dict());
        });
    }

    fn plan_found(&self, number: usize, plan: &PlanFound) {
        if self.callback.is_none() {
            return;
        }
        Python::attach(|py| {
            let dict = || -> PyResult<Bound<'_, PyAny>> {
                let told = record(py, plan)?;
                told.set_item("phase", "plan")?;
                told.set_item("number", number)?;
                // A file's last line is a comment with the cost.
                let lines = plan.text.lines().filter(|line| line.starts_with('('));
                told.set_item("plan", lines.collect::<Vec<_>>())?;
                Ok(told)
            };
            self.call(py, dict());
        });
    }

    fn training_step(&self, _seed: u64, step: &StepRecord) {
        if self.callback.is_none() {
            return;
        }
        Python::attach(|py| self.call(py, record(py, &LogLine::from(step))));
    }

    fn learning(&self, _seed: u64, progress: &LearnProgress) {
        if self.callback.is_none() {
            return;
        }
        Python::attach(|py| {
            let dict = || -> PyResult<Bound<'_, PyAny>> {
                let (phase, told) = match progress {
                    LearnProgress::Gathered(report) => ("gathered", record(py, report)?),
                    LearnProgress::Fitted { name, fit } => {
                        let told = record(py, fit)?;
                        told.set_item("name", name)?;
                        ("fitted", told)
                    }
                    LearnProgress::Compared {
                        record: candidate,
                        of,
                    } => {
                        let told = record(py, candidate)?;
                        told.set_item("of", of)?;
                        ("compared", told)
                    }
                };
                told.set_item("phase", phase)?;
                Ok(told)
            };
            self.call(py, dict());
        });
    }
}
