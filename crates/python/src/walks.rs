//! Many problems walked through at the same time: the vector environment of Gymnasium.
//!
//! Actions and atoms have numbers that are common to all tasks, given from outside. Arrays come and
//! go as bytes, since the stable ABI of Python 3.10 has no buffers.

use std::sync::OnceLock;

use homing_planner::{ActionId, States};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::request;
use crate::heuristic::Heuristic;
use crate::task::{State, Task};

/// Marks an action that a task does not have.
const NONE: u32 = u32::MAX;

/// A task, with the numbers of its actions and atoms among those of all tasks.
struct Place {
    task: Task,
    /// Number of an action among those of all tasks, by its own.
    actions: Vec<u32>,
    /// The other way round; `NONE` where the task has no such action.
    own_actions: Vec<u32>,
    atoms: Vec<u32>,
}

/// One walk.
#[derive(Clone)]
struct Walk {
    place: usize,
    words: Box<[u32]>,
    potential: f64,
    steps: u32,
    ended: bool,
}

/// What a step is rewarded with, and when a walk ends.
struct Rules {
    shaping: Option<String>,
    gamma: f64,
    unit_cost: bool,
    dead_end_cost: f64,
    max_steps: u32,
}

/// What came of a step, in the bits of a byte.
const TERMINATED: u8 = 1;
const TRUNCATED: u8 = 2;
const GOAL: u8 = 4;

/// The heuristics of one thread, by task, made when they are first asked for.
type Heuristics = Vec<OnceLock<Heuristic>>;

/// Many walks through problems, stepped at the same time by threads.
#[pyclass(module = "homing")]
pub(crate) struct Walks {
    places: Vec<Place>,
    walks: Vec<Walk>,
    rules: Rules,
    heuristics: Vec<Heuristics>,
    action_count: usize,
    atom_count: usize,
}

impl Rules {
    /// φ(s) = −h(s).
    fn potential(&self, place: usize, task: &Task, words: &[u32], own: &Heuristics) -> f64 {
        let Some(name) = &self.shaping else {
            return 0.0;
        };
        let h = own[place].get_or_init(|| {
            Heuristic::of_name(name, task, self.unit_cost).expect("the name was tried before")
        });
        -h.estimates(States::one(words))[0].min(self.dead_end_cost)
    }

    fn begin(&self, place: usize, places: &[Place], own: &Heuristics) -> Walk {
        let task = &places[place].task;
        let words = task.ground.task.initial_state();
        Walk {
            place,
            potential: self.potential(place, task, &words, own),
            words: words.into(),
            steps: 0,
            ended: false,
        }
    }

    /// Takes a step; the reward and what came of it. An action that is not applicable changes
    /// nothing and costs 1.
    fn step(&self, walk: &mut Walk, action: u32, places: &[Place], own: &Heuristics) -> (f64, u8) {
        let place = &places[walk.place];
        let task = &place.task.ground.task;
        walk.steps += 1;
        let own_action = place.own_actions[action as usize];
        let mut reward = -1.0;
        if own_action != NONE {
            let id = ActionId::from_index(own_action as usize);
            if place.task.ground.applicable(id, &walk.words) {
                task.apply(id, &mut walk.words);
                let potential = self.potential(walk.place, &place.task, &walk.words, own);
                if !self.unit_cost {
                    reward = -f64::from(task.cost(id));
                }
                reward += self.gamma * potential - walk.potential;
                walk.potential = potential;
            }
        }
        let mut flags = 0;
        if task.is_goal(&walk.words) {
            flags = TERMINATED | GOAL;
        } else if walk.potential <= -self.dead_end_cost {
            flags = TERMINATED;
        } else if walk.steps >= self.max_steps {
            flags = TRUNCATED;
        }
        walk.ended = flags != 0;
        (reward, flags)
    }
}

/// The inverse of a numbering.
fn inverse(numbers: &[u32], count: usize) -> PyResult<Vec<u32>> {
    let mut own = vec![NONE; count];
    for (index, &number) in numbers.iter().enumerate() {
        let place = own.get_mut(number as usize);
        *place.ok_or_else(|| request("a number is too large"))? = index as u32;
    }
    Ok(own)
}

fn numbers<const N: usize>(bytes: &[u8], count: usize) -> PyResult<&[[u8; N]]> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    if chunks.len() == count && rest.is_empty() {
        Ok(chunks)
    } else {
        Err(request(format!("expected {count} numbers of {N} bytes")))
    }
}

/// Calls `work` with each walk and its number, on as many threads as there are sets of heuristics;
/// the rewards and what came of it.
fn each(
    walks: &mut [Walk],
    heuristics: &[Heuristics],
    work: impl Fn(usize, &mut Walk, &Heuristics) -> (f64, u8) + Sync,
) -> (Vec<f64>, Vec<u8>) {
    let mut done = vec![(0.0, 0); walks.len()];
    let chunk = walks.len().div_ceil(heuristics.len()).max(1);
    let work = &work;
    let part = |first: usize, walks: &mut [Walk], done: &mut [(f64, u8)], own: &Heuristics| {
        for (offset, (walk, done)) in walks.iter_mut().zip(done).enumerate() {
            *done = work(first + offset, walk, own);
        }
    };
    std::thread::scope(|scope| {
        let rows = walks.chunks_mut(chunk).zip(done.chunks_mut(chunk));
        let mut parts = rows.zip(heuristics).enumerate();
        let own_part = parts.next();
        for (index, ((walks, done), own)) in parts {
            scope.spawn(move || part(index * chunk, walks, done, own));
        }
        if let Some((_, ((walks, done), own))) = own_part {
            part(0, walks, done, own);
        }
    });
    done.into_iter().unzip()
}

#[pymethods]
impl Walks {
    /// Walks through tasks. `actions` and `atoms` give for each task the numbers of its own among
    /// those of all tasks.
    #[new]
    #[pyo3(signature = (tasks, actions, atoms, count, *, action_count, atom_count, shaping, gamma,
                        unit_cost, dead_end_cost, max_steps, threads))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        tasks: Vec<PyRef<'_, Task>>,
        actions: Vec<Vec<u32>>,
        atoms: Vec<Vec<u32>>,
        count: usize,
        action_count: usize,
        atom_count: usize,
        shaping: Option<String>,
        gamma: f64,
        unit_cost: bool,
        dead_end_cost: f64,
        max_steps: u32,
        threads: usize,
    ) -> PyResult<Self> {
        let Some(first) = tasks.first() else {
            return Err(request("there are no problems"));
        };
        if let Some(name) = &shaping {
            Heuristic::of_name(name, first, unit_cost)?;
        }
        let mut places = Vec::new();
        for ((task, actions), atoms) in tasks.iter().zip(actions).zip(atoms) {
            let own_actions = inverse(&actions, action_count)?;
            inverse(&atoms, atom_count)?;
            places.push(Place {
                task: Task::clone(task),
                actions,
                own_actions,
                atoms,
            });
        }
        if places.len() != tasks.len() {
            return Err(request("numbers are missing"));
        }
        let own = || tasks.iter().map(|_| OnceLock::new()).collect();
        let rules = Rules {
            shaping,
            gamma,
            unit_cost,
            dead_end_cost,
            max_steps,
        };
        let heuristics: Vec<Heuristics> =
            (0..threads.clamp(1, count.max(1))).map(|_| own()).collect();
        let walks = vec![rules.begin(0, &places, &heuristics[0]); count];
        Ok(Self {
            places,
            walks,
            rules,
            heuristics,
            action_count,
            atom_count,
        })
    }

    /// Begins every walk anew, in the tasks of these numbers (64 bits each).
    fn reset(&mut self, py: Python<'_>, tasks: &[u8]) -> PyResult<()> {
        let tasks = self.task_numbers(tasks)?;
        let (places, rules) = (&self.places, &self.rules);
        let (walks, heuristics) = (&mut self.walks, &self.heuristics);
        py.detach(|| {
            each(walks, heuristics, |index, walk, own| {
                *walk = rules.begin(tasks[index], places, own);
                (0.0, 0)
            })
        });
        Ok(())
    }

    /// Takes a step in every walk: the numbers of the actions, and of the tasks in which walks that
    /// have ended begin anew instead (64 bits each). Returns the rewards (64-bit floats) and a byte
    /// each: 1 terminated, 2 truncated, 4 at the goal.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: &[u8],
        tasks: &[u8],
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let tasks = self.task_numbers(tasks)?;
        let mut wanted = Vec::with_capacity(tasks.len());
        for bytes in numbers::<8>(actions, self.walks.len())? {
            let action = i64::from_ne_bytes(*bytes);
            match u32::try_from(action) {
                Ok(action) if (action as usize) < self.action_count => wanted.push(action),
                _ => return Err(request(format!("there is no action {action}"))),
            }
        }
        let (places, rules) = (&self.places, &self.rules);
        let (walks, heuristics) = (&mut self.walks, &self.heuristics);
        let (rewards, flags) = py.detach(|| {
            each(walks, heuristics, |index, walk, own| {
                if walk.ended {
                    *walk = rules.begin(tasks[index], places, own);
                    return (0.0, 0);
                }
                rules.step(walk, wanted[index], places, own)
            })
        });
        let rewards: Vec<u8> = rewards.into_iter().flat_map(f64::to_ne_bytes).collect();
        Ok((PyBytes::new(py, &rewards), PyBytes::new(py, &flags)))
    }

    /// A row of bytes for each walk: 1 for an action that is applicable, else 0.
    fn masks<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut masks = vec![0; self.walks.len() * self.action_count];
        let mut applicable = Vec::new();
        for (walk, row) in self
            .walks
            .iter()
            .zip(masks.chunks_mut(self.action_count.max(1)))
        {
            let place = &self.places[walk.place];
            place
                .task
                .ground
                .successors
                .applicable(&walk.words, &mut applicable);
            for action in &applicable {
                row[place.actions[action.index()] as usize] = 1;
            }
        }
        PyBytes::new(py, &masks)
    }

    /// A row of bytes for each walk: 1 for an atom that holds, else 0.
    fn atoms<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut bits = vec![0; self.walks.len() * self.atom_count];
        for (walk, row) in self
            .walks
            .iter()
            .zip(bits.chunks_mut(self.atom_count.max(1)))
        {
            let place = &self.places[walk.place];
            let own = place.task.ground.holding(&walk.words);
            for (holds, &atom) in own.zip(&place.atoms) {
                row[atom as usize] = u8::from(holds);
            }
        }
        PyBytes::new(py, &bits)
    }

    /// The numbers of the tasks that the walks are in (64 bits each).
    fn tasks<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let places = self.walks.iter().map(|walk| walk.place as u64);
        let bytes: Vec<u8> = places.flat_map(u64::to_ne_bytes).collect();
        PyBytes::new(py, &bytes)
    }

    /// The state of a walk.
    fn state(&self, walk: usize) -> PyResult<State> {
        let walk = self.walks.get(walk);
        let walk = walk.ok_or_else(|| request("there is no such walk"))?;
        Ok(State {
            ground: std::sync::Arc::clone(&self.places[walk.place].task.ground),
            words: walk.words.clone(),
        })
    }
}

impl Walks {
    fn task_numbers(&self, bytes: &[u8]) -> PyResult<Vec<usize>> {
        let mut tasks = Vec::with_capacity(self.walks.len());
        for bytes in numbers::<8>(bytes, self.walks.len())? {
            let task = i64::from_ne_bytes(*bytes);
            match usize::try_from(task) {
                Ok(task) if task < self.places.len() => tasks.push(task),
                _ => return Err(request(format!("there is no problem {task}"))),
            }
        }
        Ok(tasks)
    }
}
