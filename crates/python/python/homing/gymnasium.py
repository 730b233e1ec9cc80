"""Environments for Gymnasium: a PDDL domain and problems of it.

>>> import gymnasium, homing.gymnasium
>>> env = gymnasium.make("homing/Planning-v0", domain="domain.pddl", problems="small")

or, without the second import, ``gymnasium.make("homing.gymnasium:homing/Planning-v0", ...)``.

A step applies an action and is rewarded with minus its cost. ``shaping`` names a heuristic h whose
potential φ = −h is added: γ φ(s') − φ(s), as in the paper. Actions and atoms have numbers that are
common to all problems, so that the same number means the same everywhere; ``action_masks()`` and
``info["action_mask"]`` say which actions are applicable.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Iterable, SupportsFloat

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from homing import Domain, Heuristic, Problem, RequestError, State, Task, UnsolvableError
from homing._homing import Walks

__all__ = ["PlanningEnv", "PlanningVectorEnv", "register"]

PathLike = str | os.PathLike[str]
Problems = PathLike | Problem | Iterable[PathLike | Problem]


def _read(domain: Domain | PathLike | None, problems: Problems) -> list[tuple[str, Task]]:
    """The tasks of problems, each with its name; those without a plan are left out."""
    if isinstance(problems, (str, os.PathLike, Problem)):
        problems = [problems]
    found: list[tuple[str, Problem]] = []
    for one in problems:
        if isinstance(one, Problem):
            found.append((one.name, one))
            continue
        path = Path(one)
        files = [path]
        if path.is_dir():
            files = sorted(
                file for file in path.glob("*.pddl") if not file.name.startswith("domain")
            )
        if files and domain is None:
            domain = files[0].with_name("domain.pddl")
        if not isinstance(domain, Domain) and domain is not None:
            domain = Domain(domain)
        found += [(file.stem, domain.problem(file)) for file in files]
    tasks = []
    for name, problem in found:
        try:
            tasks.append((name, Task(problem)))
        except UnsolvableError:
            continue
    if not tasks:
        raise RequestError(f"there are no problems with a plan in {problems}")
    return tasks


class _Numbers:
    """Numbers for actions and atoms that are common to all tasks, in the order of first sight."""

    def __init__(self, tasks: list[Task]) -> None:
        self.actions: dict[str, int] = {}
        self.atoms: dict[tuple[str, ...], int] = {}
        self.of_action: list[np.ndarray] = []
        self.of_atom: list[np.ndarray] = []
        for task in tasks:
            self.of_action.append(self._number(self.actions, task.actions))
            self.of_atom.append(self._number(self.atoms, task.atoms))

    @staticmethod
    def _number(known: dict[Any, int], names: Iterable[Any]) -> np.ndarray:
        return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)

    def goal(self, task: Task) -> np.ndarray:
        bits = np.zeros(len(self.atoms), dtype=np.int8)
        bits[[self.atoms[atom] for atom in task.goal]] = 1
        return bits


class _Atoms:
    """A state as the set of its atoms, and the goal as another: a byte for each atom."""

    def __init__(self, tasks: list[Task], numbers: _Numbers) -> None:
        self.numbers = numbers
        self.goals = [numbers.goal(task) for task in tasks]
        count = len(numbers.atoms)
        self.space = spaces.Dict(
            {"state": spaces.MultiBinary(count), "goal": spaces.MultiBinary(count)}
        )

    def __call__(self, index: int, state: State) -> dict[str, np.ndarray]:
        bits = np.zeros(len(self.numbers.atoms), dtype=np.int8)
        bits[self.numbers.of_atom[index]] = np.frombuffer(state.bits(), dtype=np.int8)
        return {"state": bits, "goal": self.goals[index].copy()}


def _rows(state: State) -> list[np.ndarray]:
    """By arity: a row [channel, x_1, ..., x_n] for each true entry."""
    rows = state.task.tensor_rows(state)
    return [
        np.frombuffer(row, dtype=np.uint16).reshape(-1, arity + 1).astype(np.int64)
        for arity, row in enumerate(rows)
    ]


class _Tensors:
    """A state and the goal as the network reads them: for each arity n an array with n axes of
    objects and one of channels, filled up to the largest problem."""

    def __init__(self, tasks: list[Task], numbers: _Numbers) -> None:
        self.objects = max(task.object_count for task in tasks)
        self.channels = tasks[0].channels
        parts: dict[str, spaces.Space[Any]] = {"objects": spaces.MultiBinary(self.objects)}
        for arity, channels in enumerate(self.channels):
            if channels:
                shape = (self.objects,) * arity + (channels,)
                parts[f"z{arity}"] = spaces.Box(0.0, 1.0, shape, np.float32)
        self.space = spaces.Dict(parts)

    def __call__(self, index: int, state: State) -> dict[str, np.ndarray]:
        there = np.zeros(self.objects, dtype=np.int8)
        there[: state.task.object_count] = 1
        observation = {"objects": there}
        for arity, rows in enumerate(_rows(state)):
            if self.channels[arity]:
                shape = (self.objects,) * arity + (self.channels[arity],)
                array = np.zeros(shape, dtype=np.float32)
                array[(*rows[:, 1:].T, rows[:, 0])] = 1.0
                observation[f"z{arity}"] = array
        return observation


class _Graph:
    """A state and the goal as a graph: objects and atoms are nodes, and an edge from an atom to an
    object has the place of the object in it."""

    def __init__(self, tasks: list[Task], numbers: _Numbers) -> None:
        self.channels = tasks[0].channels
        # A node is an object, or an atom of one of the channels.
        self.features = 1 + sum(self.channels)
        places = max(len(self.channels) - 1, 1)
        self.space = spaces.Graph(
            spaces.Box(0.0, 1.0, (self.features,), np.float32), spaces.Discrete(places)
        )

    def __call__(self, index: int, state: State) -> spaces.GraphInstance:
        objects = state.task.object_count
        kinds = [np.zeros(objects, dtype=np.int64)]
        links, labels = [], []
        offset, node = 1, objects
        for arity, rows in enumerate(_rows(state)):
            kinds.append(offset + rows[:, 0])
            atoms = np.arange(node, node + len(rows))
            for place in range(arity):
                links.append(np.stack([atoms, rows[:, 1 + place]], axis=1))
                labels.append(np.full(len(rows), place, dtype=np.int64))
            offset += self.channels[arity]
            node += len(rows)
        kind = np.concatenate(kinds)
        nodes = np.zeros((len(kind), self.features), dtype=np.float32)
        nodes[np.arange(len(kind)), kind] = 1.0
        if not links or not sum(map(len, links)):
            return spaces.GraphInstance(nodes, None, None)
        return spaces.GraphInstance(nodes, np.concatenate(labels), np.concatenate(links))


_OBSERVATIONS = {"atoms": _Atoms, "tensors": _Tensors, "graph": _Graph}


class PlanningEnv(gymnasium.Env[Any, np.int64]):
    """A PDDL domain and problems of it.

    :param domain: the domain or its file; ``domain.pddl`` beside the problems by default.
    :param problems: problems, files, or folders of files. A reset draws one of them.
    :param observation: ``"atoms"``, ``"tensors"`` or ``"graph"``.
    :param shaping: a heuristic whose potential is added to the reward: ``"ff"``, ``"add"``, ...
    :param gamma: the discount, told in ``info["discount"]`` and used by the potential.
    :param unit_cost: whether every action costs 1, whatever the problem says.
    :param max_steps: an episode is truncated after so many steps.
    :param dead_end_cost: what the potential takes for a dead end, at which an episode ends.

    An action that is not applicable changes nothing and costs 1; ``info["applicable"]`` tells.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self,
        domain: Domain | PathLike | None = None,
        problems: Problems = (),
        *,
        observation: str = "atoms",
        shaping: str | None = None,
        gamma: float = 1.0,
        unit_cost: bool = False,
        max_steps: int = 1_000,
        dead_end_cost: float = 1_000.0,
        render_mode: str | None = None,
    ) -> None:
        if observation not in _OBSERVATIONS:
            known = ", ".join(_OBSERVATIONS)
            raise RequestError(f"there is no observation `{observation}`; there are {known}")
        read = _read(domain, problems)
        self.problem_names = [name for name, _ in read]
        self.tasks = [task for _, task in read]
        self.render_mode = render_mode
        self._numbers = _Numbers(self.tasks)
        #: The names of the actions, by their numbers.
        self.action_names = list(self._numbers.actions)
        self._own_action = [
            {int(number): own for own, number in enumerate(numbers)}
            for numbers in self._numbers.of_action
        ]
        self._observe = _OBSERVATIONS[observation](self.tasks, self._numbers)
        self.observation_space = self._observe.space
        self.action_space = spaces.Discrete(max(len(self.action_names), 1))
        self._shaping = shaping
        self._heuristics: dict[int, Heuristic] = {}
        self._gamma = gamma
        self._unit_cost = unit_cost
        self._max_steps = max_steps
        self._dead_end_cost = dead_end_cost
        self._index = 0
        self._begin(0)

    def _begin(self, index: int) -> None:
        self._index = index
        self._steps = 0
        self.state = self.tasks[index].initial_state
        self._potential = self._potential_of(self.state)

    def _potential_of(self, state: State) -> float:
        if self._shaping is None:
            return 0.0
        h = self._heuristics.get(self._index)
        if h is None:
            h = state.task.heuristic(self._shaping, unit_cost=self._unit_cost)
            self._heuristics[self._index] = h
        return -min(h(state), self._dead_end_cost)

    def action_masks(self) -> np.ndarray:
        """Which actions are applicable, as MaskablePPO asks for it."""
        mask = np.zeros(self.action_space.n, dtype=bool)
        numbers = self._numbers.of_action[self._index]
        mask[numbers[self.tasks[self._index].applicable(self.state)]] = True
        return mask

    def _info(self, **more: Any) -> dict[str, Any]:
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "discount": self._gamma,
            "problem": self.problem_names[self._index],
            "potential": self._potential,
            **more,
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in a problem that is drawn, or in ``options["problem"]``: its number
        or its name."""
        super().reset(seed=seed)
        wanted = (options or {}).get("problem")
        if wanted is None:
            index = int(self.np_random.integers(len(self.tasks)))
        elif isinstance(wanted, str):
            index = self.problem_names.index(wanted)
        else:
            index = range(len(self.tasks))[wanted]
        self._begin(index)
        goal = self.state.task.is_goal(self.state)
        return self._observe(self._index, self.state), self._info(goal=goal)

    def step(self, action: np.int64) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """Applies an action."""
        task = self.tasks[self._index]
        own = self._own_action[self._index].get(int(action))
        self._steps += 1
        applicable = False
        reward = -1.0
        if own is not None:
            try:
                after = task.apply(self.state, own)
                applicable = True
            except RequestError:
                pass
        if applicable:
            self.state = after
            potential = self._potential_of(after)
            if not self._unit_cost:
                reward = -float(task.cost(own))
            reward += self._gamma * potential - self._potential
            self._potential = potential
        goal = task.is_goal(self.state)
        dead_end = not goal and self._potential <= -self._dead_end_cost
        terminated = goal or dead_end
        truncated = not terminated and self._steps >= self._max_steps
        info = self._info(goal=goal, dead_end=dead_end, applicable=applicable)
        return self._observe(self._index, self.state), reward, terminated, truncated, info

    def render(self) -> str | None:
        """The atoms of the state, a line each."""
        if self.render_mode != "ansi":
            return None
        return "\n".join(f"({' '.join(atom)})" for atom in self.state.atoms())


class PlanningVectorEnv(gymnasium.vector.VectorEnv[Any, Any, np.ndarray]):
    """Many walks through problems at the same time, stepped by threads without Python.

    The parameters are those of :class:`PlanningEnv`, whose observation here is ``"atoms"``, and
    ``num_envs`` and ``threads``. A walk that has ended begins anew at the next step.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        domain: Domain | PathLike | None = None,
        problems: Problems = (),
        *,
        num_envs: int = 1,
        shaping: str | None = None,
        gamma: float = 1.0,
        unit_cost: bool = False,
        max_steps: int = 1_000,
        dead_end_cost: float = 1_000.0,
        threads: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        read = _read(domain, problems)
        self.problem_names = [name for name, _ in read]
        self.tasks = [task for _, task in read]
        self.num_envs = num_envs
        self.render_mode = render_mode
        numbers = _Numbers(self.tasks)
        self.action_names = list(numbers.actions)
        self._goals = np.stack([numbers.goal(task) for task in self.tasks])
        self._atom_count = len(numbers.atoms)
        self.single_observation_space = _Atoms(self.tasks, numbers).space
        self.single_action_space = spaces.Discrete(max(len(self.action_names), 1))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._gamma = gamma
        self._walks = Walks(
            self.tasks,
            [list(map(int, one)) for one in numbers.of_action],
            [list(map(int, one)) for one in numbers.of_atom],
            num_envs,
            action_count=int(self.single_action_space.n),
            atom_count=self._atom_count,
            shaping=shaping,
            gamma=gamma,
            unit_cost=unit_cost,
            dead_end_cost=dead_end_cost,
            max_steps=max_steps,
            threads=threads or os.cpu_count() or 1,
        )

    def _draw(self) -> bytes:
        return self.np_random.integers(len(self.tasks), size=self.num_envs, dtype=np.int64).tobytes()

    def _observe(self) -> dict[str, np.ndarray]:
        bits = np.frombuffer(self._walks.atoms(), dtype=np.int8)
        tasks = np.frombuffer(self._walks.tasks(), dtype=np.int64)
        state = bits.reshape(self.num_envs, self._atom_count).copy()
        return {"goal": self._goals[tasks], "state": state}

    def action_masks(self) -> np.ndarray:
        """Which actions are applicable: a row for each walk."""
        masks = np.frombuffer(self._walks.masks(), dtype=bool)
        return masks.reshape(self.num_envs, -1)

    def _info(self, **more: Any) -> dict[str, Any]:
        mask = self.action_masks().astype(np.int8)
        return {"action_mask": mask, "discount": np.full(self.num_envs, self._gamma), **more}

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins all walks anew. One seed is for all of them."""
        if isinstance(seed, list):
            seed = seed[0]
        super().reset(seed=seed)
        self._walks.reset(self._draw())
        return self._observe(), self._info()

    def step(
        self, actions: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Applies an action in each walk."""
        wanted = np.ascontiguousarray(actions, dtype=np.int64)
        rewards, flags = self._walks.step(wanted.tobytes(), self._draw())
        reward = np.frombuffer(rewards, dtype=np.float64).copy()
        flag = np.frombuffer(flags, dtype=np.uint8)
        info = self._info(goal=(flag & 4) != 0)
        return self._observe(), reward, (flag & 1) != 0, (flag & 2) != 0, info


def register() -> None:
    """Registers ``homing/Planning-v0``; importing this module does."""
    if "homing/Planning-v0" not in gymnasium.registry:
        gymnasium.register(
            "homing/Planning-v0",
            entry_point="homing.gymnasium:PlanningEnv",
            vector_entry_point="homing.gymnasium:PlanningVectorEnv",
        )


register()
