//! Ground tasks, states and successors, for those who write their own search.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock};

use homing::LimitWatch;
use homing_learner::{Channels, Encoder, Signature};
use homing_nlm::Structure;
use homing_pddl::model::{Atom, ObjectId};
use homing_planner::{ActionId, GroundError, PropId, SuccessorGenerator, ground};
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use crate::convert::{options, record, with_options};
use crate::errors::{bug, raise, request, unsolvable};
use crate::heuristic::Heuristic;
use crate::input::Problem;
use crate::model::Model;
use crate::observe::PythonObserver;

/// A task and what is built of it once.
pub(crate) struct Ground {
    pub(crate) task: Arc<homing_planner::Task>,
    pub(crate) successors: SuccessorGenerator,
    /// The atoms that may change: the proposition that decides, and whether it must hold or not.
    atoms: Vec<(PropId, bool)>,
    by_name: OnceLock<HashMap<String, u32>>,
    names: PyOnceLock<Py<PyTuple>>,
    atom_tuples: PyOnceLock<Vec<Py<PyTuple>>>,
    channels: Channels,
    encoder: Mutex<(Encoder, Structure)>,
}

impl Ground {
    fn new(task: homing_planner::Task) -> Self {
        let successors = SuccessorGenerator::new(&task);
        let positive: std::collections::HashSet<&Atom<ObjectId>> = task
            .propositions()
            .iter()
            .filter(|one| one.positive)
            .map(|one| &one.atom)
            .collect();
        // A complement speaks for its atom only where the atom itself was left out.
        let atoms = task
            .propositions()
            .iter()
            .enumerate()
            .filter(|(_, one)| one.positive || !positive.contains(&one.atom))
            .map(|(index, one)| (PropId::from_index(index), one.positive))
            .collect();
        let channels = Channels::new(&Signature::of(&task.problem().domain), true, false);
        let encoder = Encoder::new(&task, &channels);
        Self {
            successors,
            atoms,
            by_name: OnceLock::new(),
            names: PyOnceLock::new(),
            atom_tuples: PyOnceLock::new(),
            channels,
            encoder: Mutex::new((encoder, Structure::default())),
            task: Arc::new(task),
        }
    }

    /// An atom as a tuple of names.
    fn tuple<'py>(&self, py: Python<'py>, atom: &Atom<ObjectId>) -> PyResult<Bound<'py, PyTuple>> {
        let problem = self.task.problem();
        let head = problem.domain.predicates[atom.predicate.index()]
            .name
            .as_str();
        let objects = atom.arguments.iter();
        let objects = objects.map(|object| problem.objects[object.index()].name.as_str());
        PyTuple::new(py, std::iter::once(head).chain(objects).collect::<Vec<_>>())
    }

    fn atom_tuples(&self, py: Python<'_>) -> PyResult<&Vec<Py<PyTuple>>> {
        self.atom_tuples.get_or_try_init(py, || {
            self.atoms
                .iter()
                .map(|&(prop, _)| {
                    let atom = &self.task.propositions()[prop.index()].atom;
                    Ok(self.tuple(py, atom)?.unbind())
                })
                .collect()
        })
    }

    /// For each atom whether it holds.
    pub(crate) fn holding(&self, words: &[u32]) -> impl Iterator<Item = bool> {
        let encoding = self.task.encoding();
        let atoms = self.atoms.iter();
        atoms.map(move |&(prop, when)| encoding.holds(prop, words) == when)
    }

    pub(crate) fn applicable(&self, action: ActionId, state: &[u32]) -> bool {
        let encoding = self.task.encoding();
        let pre = self.task.pre(action).iter();
        pre.copied().all(|prop| encoding.holds(prop, state))
    }
}

/// A ground task: the states of a problem and the actions between them.
///
/// Atoms that no way to the goal depends on are left out of states, and so are actions that can
/// never be applied.
#[pyclass(frozen, module = "homing")]
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) ground: Arc<Ground>,
}

impl Task {
    pub(crate) fn of(state: &State) -> Self {
        Self {
            ground: Arc::clone(&state.ground),
        }
    }

    pub(crate) fn planner_task(&self) -> Arc<homing_planner::Task> {
        Arc::clone(&self.ground.task)
    }

    /// Words of a packed state.
    pub(crate) fn words(&self) -> usize {
        self.ground.task.encoding().words()
    }

    fn state(&self, words: impl Into<Box<[u32]>>) -> State {
        State {
            ground: Arc::clone(&self.ground),
            words: words.into(),
        }
    }

    fn action(&self, action: usize) -> PyResult<ActionId> {
        let count = self.ground.task.action_count();
        if action < count {
            return Ok(ActionId::from_index(action));
        }
        Err(PyIndexError::new_err(format!(
            "action {action} of a task with {count} actions"
        )))
    }

    fn apply_words(&self, state: &State, action: ActionId) -> Box<[u32]> {
        let mut words = state.words.clone();
        self.ground.task.apply(action, &mut words);
        words
    }
}

/// An action by its number or its name.
#[derive(FromPyObject)]
enum ActionInput {
    Number(usize),
    Name(String),
}

#[pymethods]
impl Task {
    /// Grounds a problem. Raises `UnsolvableError` where that shows that there is no plan.
    #[new]
    fn new(py: Python<'_>, problem: &Problem) -> PyResult<Self> {
        let problem = Arc::clone(&problem.inner);
        let observer = PythonObserver::new(None);
        let grounded = py.detach(|| {
            let task = ground(&problem, &mut LimitWatch::new(None, None, &observer))?;
            Ok::<_, GroundError>(Ground::new(task))
        });
        observer.check()?;
        match grounded {
            Ok(ground) => Ok(Self {
                ground: Arc::new(ground),
            }),
            Err(error @ GroundError::Unsolvable { .. }) => Err(unsolvable(&error.to_string())),
            Err(error) => Err(raise(homing::Error::Ground { file: None, error })),
        }
    }

    /// The initial state.
    #[getter]
    fn initial_state(&self) -> State {
        self.state(self.ground.task.initial_state())
    }

    /// The number of ground actions.
    #[getter]
    fn action_count(&self) -> usize {
        self.ground.task.action_count()
    }

    /// The names of the ground actions, such as `"(stack a b)"`, by their numbers.
    #[getter]
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names = self.ground.names.get_or_try_init(py, || {
            let task = &self.ground.task;
            let names = task
                .actions()
                .map(|action| task.action_name(action).to_string());
            PyTuple::new(py, names.collect::<Vec<_>>()).map(Bound::unbind)
        })?;
        Ok(names.bind(py).clone())
    }

    /// The number of the action of a name.
    fn action_number(&self, name: &str) -> PyResult<u32> {
        let by_name = self.ground.by_name.get_or_init(|| {
            let task = &self.ground.task;
            let names = task
                .actions()
                .map(|action| task.action_name(action).to_string());
            names.zip(0..).collect()
        });
        let wanted = name.trim().to_lowercase();
        let number = by_name.get(&wanted).copied();
        number.ok_or_else(|| PyKeyError::new_err(format!("the task has no action `{name}`")))
    }

    /// The cost of an action.
    fn cost(&self, action: usize) -> PyResult<u32> {
        Ok(self.ground.task.cost(self.action(action)?))
    }

    /// The numbers of the actions that are applicable in a state, in ascending order.
    fn applicable<'py>(&self, py: Python<'py>, state: &State) -> PyResult<Bound<'py, PyList>> {
        state.check_task(self)?;
        let mut actions = Vec::new();
        self.ground
            .successors
            .applicable(&state.words, &mut actions);
        PyList::new(py, actions.into_iter().map(ActionId::index))
    }

    /// The state after an action, given by its number or its name. Raises `RequestError` where it
    /// is not applicable.
    fn apply(&self, state: &State, action: ActionInput) -> PyResult<State> {
        state.check_task(self)?;
        let action = match action {
            ActionInput::Number(number) => self.action(number)?,
            ActionInput::Name(name) => ActionId::from_index(self.action_number(&name)? as usize),
        };
        if !self.ground.applicable(action, &state.words) {
            let name = self.ground.task.action_name(action);
            return Err(request(format!("{name} is not applicable in this state")));
        }
        Ok(self.state(self.apply_words(state, action)))
    }

    /// The numbers of the applicable actions, each with the state that it leads to.
    fn successors<'py>(&self, py: Python<'py>, state: &State) -> PyResult<Bound<'py, PyList>> {
        state.check_task(self)?;
        let mut actions = Vec::new();
        self.ground
            .successors
            .applicable(&state.words, &mut actions);
        let mut pairs = Vec::with_capacity(actions.len());
        for action in actions {
            let next = self.state(self.apply_words(state, action));
            pairs.push((action.index(), Py::new(py, next)?));
        }
        PyList::new(py, pairs)
    }

    /// Whether the goal holds in a state.
    fn is_goal(&self, state: &State) -> PyResult<bool> {
        state.check_task(self)?;
        Ok(self.ground.task.is_goal(&state.words))
    }

    /// A heuristic of the planner: `"blind"`, `"max"`, `"add"`, `"ff"`, `"landmarks"`.
    #[pyo3(signature = (name = "ff", *, unit_cost = false))]
    fn heuristic(&self, name: &str, unit_cost: bool) -> PyResult<Heuristic> {
        Heuristic::of_name(name, self, unit_cost)
    }

    /// The atoms that may change, as tuples of a predicate and objects; a state is a subset.
    #[getter]
    fn atoms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.ground.atom_tuples(py)?)
    }

    /// The atoms that hold in every state.
    #[getter]
    fn static_atoms<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let statics = self.ground.task.statics().iter();
        statics.map(|atom| self.ground.tuple(py, atom)).collect()
    }

    /// The atoms that the goal wants true, those that never change left out.
    #[getter]
    fn goal<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let task = &self.ground.task;
        let wanted = task
            .goal()
            .iter()
            .map(|prop| &task.propositions()[prop.index()]);
        wanted
            .filter(|proposition| proposition.positive)
            .map(|proposition| self.ground.tuple(py, &proposition.atom))
            .collect()
    }

    /// The number of channels of each arity in `tensor_rows`.
    #[getter]
    fn channels(&self) -> Vec<usize> {
        self.ground.channels.count().to_vec()
    }

    /// The number of objects.
    #[getter]
    fn object_count(&self) -> usize {
        self.ground.task.problem().objects.len()
    }

    /// A state and the goal as the network reads them: for each arity n the true entries of an
    /// array with n axes of objects and one of channels, as native 16-bit numbers
    /// `channel, x_1, ..., x_n` one behind the other.
    fn tensor_rows<'py>(
        &self,
        py: Python<'py>,
        state: &State,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        state.check_task(self)?;
        let mut guard = self.ground.encoder.lock().expect("no thread panics here");
        let (encoder, structure) = &mut *guard;
        encoder.encode(&self.ground.task, &state.words, structure);
        let arities = 0..self.ground.channels.count().len();
        let bytes = |arity: usize| {
            let rows = structure.rows(arity).iter();
            let bytes: Vec<u8> = rows.flat_map(|number| number.to_ne_bytes()).collect();
            PyBytes::new(py, &bytes)
        };
        Ok(arities.map(bytes).collect())
    }

    /// Solves the task, with the options of `homing.solve`.
    #[pyo3(signature = (model = None, callback = None, **keywords))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        model: Option<&Model>,
        callback: Option<Py<PyAny>>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        /// The parts of a request that a task does not have already.
        #[derive(Default, serde::Serialize, serde::Deserialize)]
        struct Options {
            search: homing::SearchConfig,
            limits: homing::SolveLimits,
        }
        let Options { search, limits } =
            with_options(&Options::default(), options(keywords)?, &["/search/model"])?;
        let observer = PythonObserver::new(callback);
        let model = model.map(|model| &model.inner);
        let task = self.planner_task();
        let solved = py.detach(|| homing::solve_task(&task, model, &search, &limits, &observer));
        observer.check()?;
        record(py, &solved.map_err(raise)?)
    }

    fn __repr__(&self) -> String {
        let task = &self.ground.task;
        format!(
            "<Task {}: {} actions, {} atoms that change>",
            task.problem().name,
            task.action_count(),
            self.ground.atoms.len()
        )
    }
}

/// A state of a task. Equal states are equal and hash alike.
#[pyclass(frozen, module = "homing")]
pub(crate) struct State {
    pub(crate) ground: Arc<Ground>,
    pub(crate) words: Box<[u32]>,
}

impl State {
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    pub(crate) fn same_task(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.ground, &other.ground)
    }

    pub(crate) fn check_task(&self, task: &Task) -> PyResult<()> {
        if Arc::ptr_eq(&self.ground, &task.ground) {
            Ok(())
        } else {
            Err(request("the state is of another task"))
        }
    }
}

#[pymethods]
impl State {
    /// The atoms that hold, as tuples of a predicate and objects, in the order of `Task.atoms`.
    fn atoms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let tuples = self.ground.atom_tuples(py)?;
        let holding = self.ground.holding(&self.words).zip(tuples);
        let holding: Vec<&Py<PyTuple>> = holding
            .filter_map(|(holds, tuple)| holds.then_some(tuple))
            .collect();
        PyList::new(py, holding)
    }

    /// For each atom of `Task.atoms` a byte: 1 where it holds, else 0.
    fn bits<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bits: Vec<u8> = self.ground.holding(&self.words).map(u8::from).collect();
        PyBytes::new(py, &bits)
    }

    /// Its task.
    #[getter]
    fn task(&self) -> Task {
        Task::of(self)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            self.same_task(other) && self.words == other.words
        })
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.words.hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = String::from("<State");
        for atom in self.atoms(py)? {
            let words: Vec<String> = atom.extract::<Vec<String>>().map_err(bug)?;
            text.push_str(&format!(" ({})", words.join(" ")));
        }
        Ok(text + ">")
    }
}
