"""homing: a planner that learns.

>>> import homing
>>> domain = homing.Domain("domain.pddl")
>>> model = homing.train(domain, "small")
>>> record = homing.solve(domain.problem("large/p01.pddl"), model=model)
>>> record["plan"]

Domains and problems are read once and kept; requests take any option that the command has; records
are dictionaries with the fields that ``docs/formats.md`` describes.
"""

from __future__ import annotations

from homing._api import TrainingStopped, solve, train
from homing._homing import (
    Diagnostic,
    Domain,
    Heuristic,
    Model,
    Problem,
    State,
    Task,
    Validation,
    __version__,
    check,
    validate,
)
from homing.errors import (
    HomingError,
    ModelError,
    PddlError,
    RequestError,
    UnsolvableError,
    UnsupportedError,
)

__all__ = [
    "Diagnostic",
    "Domain",
    "Heuristic",
    "HomingError",
    "Model",
    "ModelError",
    "PddlError",
    "Problem",
    "RequestError",
    "State",
    "Task",
    "TrainingStopped",
    "UnsolvableError",
    "UnsupportedError",
    "Validation",
    "__version__",
    "check",
    "solve",
    "train",
    "validate",
]
