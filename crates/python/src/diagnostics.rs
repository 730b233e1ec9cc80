//! Messages about PDDL, as objects.

use homing_pddl::{Place, Severity};
use pyo3::prelude::*;

/// A message about PDDL: what is wrong, where, and what to do about it.
///
/// `str()` of it is the message as the command shows it, with the line and a marker.
#[pyclass(frozen, module = "homing")]
pub(crate) struct Diagnostic {
    inner: homing_pddl::Diagnostic,
}

impl Diagnostic {
    pub(crate) fn new(inner: homing_pddl::Diagnostic) -> Self {
        Self { inner }
    }
}

fn line_column(place: &Place) -> (usize, usize) {
    place.source.line_column(place.span.start)
}

#[pymethods]
impl Diagnostic {
    /// `"error"`, `"not supported"` or `"warning"`.
    #[getter]
    fn severity(&self) -> &'static str {
        match self.inner.severity {
            Severity::Warning => "warning",
            Severity::Unsupported => "not supported",
            Severity::Error => "error",
        }
    }

    /// One sentence.
    #[getter]
    fn message(&self) -> &str {
        &self.inner.message
    }

    /// The file, or the name given to a text.
    #[getter]
    fn file(&self) -> &str {
        self.inner.place.source.name()
    }

    /// The line, counted from 1.
    #[getter]
    fn line(&self) -> usize {
        line_column(&self.inner.place).0
    }

    /// The column, counted from 1, in characters.
    #[getter]
    fn column(&self) -> usize {
        line_column(&self.inner.place).1
    }

    /// What stands beside the marker; may be empty.
    #[getter]
    fn label(&self) -> &str {
        &self.inner.label
    }

    /// What to do about it, where that is known.
    #[getter]
    fn help(&self) -> Option<&str> {
        self.inner.help.as_deref()
    }

    /// Other places that have a part in it: tuples of file, line, column and text.
    #[getter]
    fn notes(&self) -> Vec<(String, usize, usize, String)> {
        let note = |(place, text): &(Place, String)| {
            let (line, column) = line_column(place);
            (place.source.name().to_owned(), line, column, text.clone())
        };
        self.inner.notes.iter().map(note).collect()
    }

    fn __str__(&self) -> String {
        self.inner.to_string().trim_end().to_owned()
    }

    fn __repr__(&self) -> String {
        let (line, column) = line_column(&self.inner.place);
        format!(
            "<{} {}:{line}:{column}: {}>",
            self.severity(),
            self.file(),
            self.inner.message
        )
    }
}

/// The messages as objects.
pub(crate) fn objects(diagnostics: &homing_pddl::Diagnostics) -> Vec<Diagnostic> {
    let messages = diagnostics.messages().iter();
    messages.cloned().map(Diagnostic::new).collect()
}
