//! Domains and problems.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use homing::ProblemSource;
use homing::input::{domain_beside, read_bytes};
use homing_pddl::{Diagnostics, Source, check_domain, check_problem, parse, read_problem};
use homing_planner::Plan;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::diagnostics::{Diagnostic, objects};
use crate::errors::{bug, pddl, raise, request};

fn source_of_file(path: &Path) -> PyResult<Arc<Source>> {
    let bytes = read_bytes(path).map_err(raise)?;
    source(path.display().to_string(), bytes)
}

fn source(name: String, bytes: Vec<u8>) -> PyResult<Arc<Source>> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(request(format!("{name} is larger than 4 GiB")));
    }
    Ok(Source::new(name, bytes))
}

/// A planning domain.
///
/// Read once, it serves any number of problems: `domain.problem(path)`.
#[pyclass(frozen, module = "homing")]
pub(crate) struct Domain {
    pub(crate) inner: Arc<homing_pddl::Domain>,
    pub(crate) source: Arc<Source>,
    warnings: Diagnostics,
}

impl Domain {
    fn read(source: Arc<Source>) -> PyResult<Self> {
        let (tree, mut diagnostics) = parse(&source);
        let (domain, messages) = check_domain(&tree);
        diagnostics.append(messages);
        match domain {
            Some(domain) if diagnostics.usable() => Ok(Self {
                inner: Arc::new(domain),
                source,
                warnings: diagnostics,
            }),
            _ => Err(pddl(&diagnostics)),
        }
    }
}

#[pymethods]
impl Domain {
    /// Reads a domain's file.
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        Self::read(source_of_file(&path)?)
    }

    /// Reads a domain from text; `name` is what messages call it.
    #[staticmethod]
    #[pyo3(signature = (text, name = "domain"))]
    fn from_text(text: String, name: &str) -> PyResult<Self> {
        Self::read(source(name.to_owned(), text.into_bytes())?)
    }

    /// Reads a problem of this domain from a file.
    fn problem(&self, path: PathBuf) -> PyResult<Problem> {
        Problem::of_domain(self, source_of_file(&path)?)
    }

    /// Reads a problem of this domain from text; `name` is what messages call it.
    #[pyo3(signature = (text, name = "problem"))]
    fn problem_from_text(&self, text: String, name: &str) -> PyResult<Problem> {
        Problem::of_domain(self, source(name.to_owned(), text.into_bytes())?)
    }

    /// The domain's name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// The text it was read from.
    #[getter]
    fn text(&self) -> &str {
        self.source.text()
    }

    /// The names of the types, `object` first.
    #[getter]
    fn types(&self) -> Vec<&str> {
        let types = self.inner.types.iter();
        types.map(|one| one.name.as_str()).collect()
    }

    /// The arity of each predicate, by its name.
    #[getter]
    fn predicates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for predicate in &self.inner.predicates {
            dict.set_item(&predicate.name, predicate.parameters.len())?;
        }
        Ok(dict)
    }

    /// The number of parameters of each action, by its name.
    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for action in &self.inner.actions {
            dict.set_item(&action.name, action.parameters.len())?;
        }
        Ok(dict)
    }

    /// What may be wrong with it; nothing that keeps it from being used.
    #[getter]
    fn warnings(&self) -> Vec<Diagnostic> {
        objects(&self.warnings)
    }

    fn __repr__(&self) -> String {
        format!(
            "<Domain {}: {} predicates, {} actions>",
            self.inner.name,
            self.inner.predicates.len(),
            self.inner.actions.len()
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let make = py.get_type::<Self>().getattr("from_text")?;
        let arguments = (self.source.text().to_owned(), self.source.name().to_owned());
        Ok((make, arguments))
    }
}

/// A problem of a domain.
#[pyclass(frozen, module = "homing")]
pub(crate) struct Problem {
    pub(crate) inner: Arc<homing_pddl::Problem>,
    pub(crate) domain: Arc<Source>,
    pub(crate) source: Arc<Source>,
    warnings: Diagnostics,
}

impl Problem {
    fn of_domain(domain: &Domain, source: Arc<Source>) -> PyResult<Self> {
        let (tree, mut diagnostics) = parse(&source);
        let (problem, messages) = check_problem(&tree, &domain.inner);
        diagnostics.append(messages);
        match problem {
            Some(problem) if diagnostics.usable() => Ok(Self {
                inner: Arc::new(problem),
                domain: Arc::clone(&domain.source),
                source,
                warnings: diagnostics,
            }),
            _ => Err(pddl(&diagnostics)),
        }
    }

    fn read(domain: Arc<Source>, source: Arc<Source>) -> PyResult<Self> {
        let (problem, diagnostics) = read_problem(&domain, &source);
        match problem {
            Some(problem) if diagnostics.usable() => Ok(Self {
                inner: Arc::new(problem),
                domain,
                source,
                warnings: diagnostics,
            }),
            _ => Err(pddl(&diagnostics)),
        }
    }

    /// What a request names as its problem: the text that was read and checked.
    pub(crate) fn request_source(&self) -> ProblemSource {
        ProblemSource::Text {
            domain: self.domain.text().to_owned(),
            problem: self.source.text().to_owned(),
        }
    }
}

#[pymethods]
impl Problem {
    /// Reads a problem's file and that of its domain, which is `domain.pddl` beside it where none
    /// is given.
    #[new]
    #[pyo3(signature = (problem, domain = None))]
    fn new(problem: PathBuf, domain: Option<PathBuf>) -> PyResult<Self> {
        let domain = match domain {
            Some(domain) => domain,
            None => domain_beside(&problem).map_err(raise)?,
        };
        Self::read(source_of_file(&domain)?, source_of_file(&problem)?)
    }

    /// Reads a domain and a problem of it from text.
    #[staticmethod]
    #[pyo3(signature = (domain, problem, names = ("domain".to_owned(), "problem".to_owned())))]
    fn from_text(domain: String, problem: String, names: (String, String)) -> PyResult<Self> {
        Self::read(
            source(names.0, domain.into_bytes())?,
            source(names.1, problem.into_bytes())?,
        )
    }

    /// The problem's name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Its domain.
    #[getter]
    fn domain(&self) -> PyResult<Domain> {
        Domain::read(Arc::clone(&self.domain))
    }

    /// The text of the domain.
    #[getter]
    fn domain_text(&self) -> &str {
        self.domain.text()
    }

    /// The text it was read from.
    #[getter]
    fn text(&self) -> &str {
        self.source.text()
    }

    /// The names of the objects: the domain's constants first.
    #[getter]
    fn objects(&self) -> Vec<&str> {
        let objects = self.inner.objects.iter();
        objects.map(|object| object.name.as_str()).collect()
    }

    /// What may be wrong with it; nothing that keeps it from being used.
    #[getter]
    fn warnings(&self) -> Vec<Diagnostic> {
        objects(&self.warnings)
    }

    fn __repr__(&self) -> String {
        format!(
            "<Problem {} of {}: {} objects>",
            self.inner.name,
            self.inner.domain.name,
            self.inner.objects.len()
        )
    }

    #[allow(clippy::type_complexity)]
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (String, String, (String, String)))> {
        let make = py.get_type::<Self>().getattr("from_text")?;
        let names = (self.domain.name().to_owned(), self.source.name().to_owned());
        let arguments = (
            self.domain.text().to_owned(),
            self.source.text().to_owned(),
            names,
        );
        Ok((make, arguments))
    }
}

/// Everything that is wrong with a domain, or with a domain and a problem: an empty list where all
/// is well. Both are files; with `text=True` they are PDDL itself.
#[pyfunction]
#[pyo3(signature = (domain, problem = None, *, text = false))]
pub(crate) fn check(
    domain: PathBuf,
    problem: Option<PathBuf>,
    text: bool,
) -> PyResult<Vec<Diagnostic>> {
    let read = |path: PathBuf, name: &str| {
        if text {
            let content = path.into_os_string().into_encoded_bytes();
            source(name.to_owned(), content)
        } else {
            source_of_file(&path)
        }
    };
    let domain = read(domain, "domain")?;
    let diagnostics = match problem {
        Some(problem) => read_problem(&domain, &read(problem, "problem")?).1,
        None => {
            let (tree, mut diagnostics) = parse(&domain);
            diagnostics.append(check_domain(&tree).1);
            diagnostics
        }
    };
    Ok(objects(&diagnostics))
}

/// What the replay of a plan came to.
#[pyclass(frozen, get_all, module = "homing")]
pub(crate) struct Validation {
    /// Whether every action is applicable and the goal holds at the end.
    valid: bool,
    /// The plan's cost, where it is valid.
    cost: Option<u64>,
    /// Why it is not.
    reason: Option<String>,
}

#[pymethods]
impl Validation {
    fn __bool__(&self) -> bool {
        self.valid
    }

    fn __repr__(&self) -> String {
        match (&self.reason, self.cost) {
            (Some(reason), _) => format!("<invalid plan: {reason}>"),
            (None, Some(cost)) => format!("<valid plan of cost {cost}>"),
            (None, None) => "<valid plan>".to_owned(),
        }
    }
}

/// A plan as a list of actions such as `"(stack a b)"`, or the text of a plan file.
#[derive(FromPyObject)]
pub(crate) enum PlanInput {
    /// A plan file's text.
    Text(String),
    /// An action each.
    Actions(Vec<String>),
}

/// Replays a plan from the actions of the domain, step by step.
#[pyfunction]
pub(crate) fn validate(problem: &Problem, plan: PlanInput) -> PyResult<Validation> {
    let text = match plan {
        PlanInput::Text(text) => text,
        PlanInput::Actions(actions) => actions.join("\n"),
    };
    let plan = Plan::parse(&text).map_err(request)?;
    Ok(match plan.validate(&problem.inner) {
        Ok(validated) => Validation {
            valid: true,
            cost: Some(validated.cost),
            reason: None,
        },
        Err(error) => Validation {
            valid: false,
            cost: None,
            reason: Some(error.to_string()),
        },
    })
}

/// The names of files for problems that are trained on, in their order.
pub(crate) fn numbered(index: usize) -> String {
    format!("{index:06}.pddl")
}

/// Writes the domain and the problems to a folder, since training reads files.
pub(crate) fn write_files(
    folder: &Path,
    problems: &[PyRef<'_, Problem>],
) -> PyResult<Vec<PathBuf>> {
    let write = |path: &PathBuf, text: &str| {
        std::fs::write(path, text).map_err(|error| bug(format!("{}: {error}", path.display())))
    };
    let domain = folder.join("domain.pddl");
    let Some(first) = problems.first() else {
        return Err(request("there are no problems to train on"));
    };
    write(&domain, first.domain.text())?;
    let mut files = vec![domain];
    for (index, problem) in problems.iter().enumerate() {
        let path = folder.join(numbered(index));
        write(&path, problem.source.text())?;
        files.push(path);
    }
    Ok(files)
}
