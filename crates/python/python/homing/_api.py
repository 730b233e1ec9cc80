"""Solving and training: what the native functions leave to Python."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterable, Union

from homing import _homing
from homing._homing import Domain, Model, Problem
from homing.errors import RequestError

__all__ = ["TrainingStopped", "solve", "train"]

PathLike = Union[str, "os.PathLike[str]"]


def _bar(total: int | None, what: str) -> Any | None:
    """A progress bar, if tqdm is there."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=what, unit="step", mininterval=0.2)


def _model(model: Model | PathLike | None) -> Model | None:
    if model is None or isinstance(model, Model):
        return model
    return Model.load(model)


def solve(
    problem: Problem | PathLike,
    domain: Domain | PathLike | None = None,
    *,
    model: Model | PathLike | None = None,
    callback: Callable[[dict[str, Any]], Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Solves a problem and returns the record of it, a dictionary.

    ``record["outcome"]`` is ``"solved"``, ``"unsolvable"``, ``"limit"``, ``"time-limit"``,
    ``"memory-limit"`` or ``"interrupted"``; ``record["plan"]`` is the list of actions, which have
    been replayed. ``problem`` is a :class:`Problem` or a file; without a domain, the file is read
    with ``domain.pddl`` beside it. ``model`` is a :class:`Model`, its file, or ``"auto"``: the one that
    ships for the domain.

    ``options`` are fields of the request: ``search``, ``heuristic``, ``weight``, ``unit_cost``,
    ``threads``, ``max_evaluations``, ``max_expansions``, ``time_limit`` (seconds),
    ``memory_limit`` (bytes), and whatever else the library offers. ``callback`` is told of the
    progress some ten times a second; where it returns ``False``, the search ends.
    """
    if not isinstance(problem, Problem):
        if domain is None:
            problem = Problem(problem)
        elif isinstance(domain, Domain):
            problem = domain.problem(problem)
        else:
            problem = Problem(problem, domain)
    elif domain is not None:
        raise RequestError("a Problem has its domain already")
    if model == "auto":
        model, options = None, {**options, "model": "auto"}
    return _homing.solve(problem, _model(model), callback, options)


def train(
    domain: Domain | PathLike | None,
    problems: PathLike | Problem | Iterable[PathLike | Problem],
    out: PathLike | None = None,
    *,
    learner: str | None = None,
    preset: str | None = None,
    budget: float | None = None,
    callback: Callable[[dict[str, Any]], Any] | None = None,
    progress: bool = False,
    **options: Any,
) -> Model:
    """Trains a model on small problems of a domain.

    ``problems`` are files, folders of files, or :class:`Problem` objects. With ``out``, the model is
    written there, and beside it the log, the settings and, while the run lasts, a checkpoint.
    ``model.record`` of the returned model says what the run came to.

    ``learner`` is ``"counts"``, which ranks states by features counted in them and takes seconds;
    ``budget`` is about the seconds it may take. Or it is ``"nlm"``, the paper's network, by
    reinforcement learning; ``preset`` is one of its presets. ``options`` are the settings of either
    and fields of the request: ``seed``, ``threads``, ``resume``; ``heuristic``, ``steps``,
    ``gamma``, ... for the network.

    ``callback`` is told how training goes, as a dictionary: the network's every step. Where it
    returns ``False`` the run ends, and :class:`homing.TrainingStopped` is raised; so it is where the
    option ``memory_limit``, in bytes, is reached, and its ``reason`` says which. ``progress`` shows a
    bar, if tqdm is installed.
    """
    if isinstance(problems, (str, os.PathLike, Problem)):
        problems = [problems]
    problems = list(problems)
    objects = [one for one in problems if isinstance(one, Problem)]
    paths = [Path(one) for one in problems if not isinstance(one, Problem)]
    if objects and paths:
        raise RequestError("problems are either files or Problem objects, not both")
    bar = _bar(options.get("steps"), "training") if progress else None

    def step(record: dict[str, Any]) -> Any:
        if bar is not None:
            bar.update(record["step"] - bar.n if "step" in record else 1)
            if record.get("step", 1) % 100 == 0:
                bar.set_postfix(goals=record["goals"], loss=record["loss"], refresh=False)
        return callback(record) if callback is not None else None

    watched = step if bar is not None or callback is not None else None
    with tempfile.TemporaryDirectory(prefix="homing-") as folder:
        if isinstance(domain, Domain) and paths:
            kept = Path(folder) / "domain.pddl"
            kept.write_text(domain.text, encoding="utf-8")
            paths.insert(0, kept)
        elif domain is not None and paths:
            paths.insert(0, Path(domain))
        try:
            end = _homing.train(paths, objects, out, (learner, preset, budget), watched, options)
        finally:
            if bar is not None:
                bar.close()
    if "model" not in end:
        raise TrainingStopped(end["steps"], end["checkpoint"], end["reason"])
    return end["model"]


_REASONS = {"callback": "by the callback", "memory": "at the memory limit", "time": "at the time limit"}


class TrainingStopped(Exception):
    """A run of training was ended before its time. With ``out`` it can go on: ``resume=True``.

    ``reason`` is ``"callback"``, where the callback returned ``False``, or ``"memory"``, where
    ``memory_limit`` was reached. ``steps`` were done, and ``checkpoint`` is the file to go on from.
    """

    def __init__(self, steps: int, checkpoint: str | None, reason: str = "callback") -> None:
        super().__init__(f"training was stopped {_REASONS.get(reason, reason)}, after {steps} steps")
        self.steps = steps
        self.checkpoint = checkpoint
        self.reason = reason
