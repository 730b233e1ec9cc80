//! The Python package `homing`: a thin shell over the library. The module of this crate,
//! `homing._homing`, is wrapped by what stands in `python/homing`.

// What comes from Python comes by value.
#![allow(clippy::needless_pass_by_value)]

mod convert;
mod diagnostics;
mod errors;
mod heuristic;
mod input;
mod model;
mod observe;
mod solve;
mod task;
mod walks;

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// The command `homing`, with its arguments, the name of the program first; the exit code.
/// `command` is a file that starts it.
#[pyfunction]
fn main(py: Python<'_>, command: PathBuf, arguments: Vec<OsString>) -> u8 {
    py.detach(|| homing_cli::run_within(command, arguments))
}

#[pymodule(gil_used = true)]
mod _homing {
    #[pymodule_export]
    use super::diagnostics::Diagnostic;
    #[pymodule_export]
    use super::heuristic::Heuristic;
    #[pymodule_export]
    use super::input::{Domain, Problem, Validation, check, validate};
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::solve::{solve, train};
    #[pymodule_export]
    use super::task::{State, Task};
    #[pymodule_export]
    use super::walks::Walks;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = homing::resources::VERSION;
}
