//! The library's errors as exceptions. Their classes are Python's own (`homing/errors.py`), which
//! lets them have attributes: the file, the line, the column, and all that is wrong.

use homing::{Blame, Error};
use homing_pddl::Diagnostics;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::diagnostics::Diagnostic;

/// An exception of a class in `homing.errors`.
fn exception(class: &str, message: &str, diagnostics: Option<&Diagnostics>) -> PyErr {
    Python::attach(|py| {
        let made = || -> PyResult<PyErr> {
            let list = PyList::empty(py);
            for message in diagnostics.map_or(&[][..], Diagnostics::messages) {
                list.append(Py::new(py, Diagnostic::new(message.clone()))?)?;
            }
            let class = py.import("homing.errors")?.getattr(class)?;
            Ok(PyErr::from_value(class.call1((message, list))?))
        };
        made().unwrap_or_else(|error| error)
    })
}

/// The exception of an error.
pub(crate) fn raise(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Pddl(diagnostics) => pddl(&diagnostics),
        Error::Read { error, .. } | Error::Write { error, .. } => {
            // Python's own classes for files that are missing and the like, with our sentence.
            let like = PyErr::from(std::io::Error::from(error.kind()));
            Python::attach(|py| match like.get_type(py).call1((&message,)) {
                Ok(value) => PyErr::from_value(value),
                Err(error) => error,
            })
        }
        Error::Model { .. } | Error::Selection { .. } => exception("ModelError", &message, None),
        error => match error.blame() {
            Blame::Pddl => exception("PddlError", &message, None),
            Blame::Unsupported => exception("UnsupportedError", &message, None),
            Blame::Homing => bug(message),
            Blame::Stopped => pyo3::exceptions::PyKeyboardInterrupt::new_err(message),
            Blame::Request => exception("RequestError", &message, None),
        },
    }
}

/// The exception of input that cannot be used.
pub(crate) fn pddl(diagnostics: &Diagnostics) -> PyErr {
    let class = match diagnostics.worst() {
        Some(homing_pddl::Severity::Unsupported) => "UnsupportedError",
        _ => "PddlError",
    };
    exception(class, diagnostics.to_string().trim_end(), Some(diagnostics))
}

/// A problem that has no plan, where a task was asked for.
pub(crate) fn unsolvable(message: &str) -> PyErr {
    exception("UnsolvableError", message, None)
}

/// A model that cannot be used.
pub(crate) fn model(error: impl std::fmt::Display) -> PyErr {
    exception("ModelError", &error.to_string(), None)
}

/// A request that makes no sense.
pub(crate) fn request(error: impl std::fmt::Display) -> PyErr {
    exception("RequestError", &error.to_string(), None)
}

/// A mistake of our own.
pub(crate) fn bug(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!(
        "this is a bug in homing, please report it: {error}"
    ))
}
