"""The exceptions of homing.

``HomingError`` is the base of all. That a problem has no plan, or that a limit was reached, is no
error but an outcome, in the record that :func:`homing.solve` returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from homing._homing import Diagnostic

__all__ = [
    "HomingError",
    "PddlError",
    "UnsupportedError",
    "ModelError",
    "RequestError",
    "UnsolvableError",
]


class HomingError(Exception):
    """Something keeps a request from being carried out."""

    #: Everything that is wrong with the PDDL, where that is the cause.
    diagnostics: list[Diagnostic]
    #: The file of the first mistake, or the name that was given to a text.
    file: str | None
    #: Its line, counted from 1.
    line: int | None
    #: Its column, counted from 1.
    column: int | None

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics = list(diagnostics)
        # A warning may stand before the mistake that matters.
        serious = [one for one in self.diagnostics if one.severity != "warning"]
        first = (serious or self.diagnostics or [None])[0]
        self.file = first.file if first else None
        self.line = first.line if first else None
        self.column = first.column if first else None


class PddlError(HomingError):
    """The PDDL is wrong."""


class UnsupportedError(PddlError):
    """The PDDL may be right, but homing does not read what it uses."""


class ModelError(HomingError):
    """A model cannot be used: it is damaged, or was trained for another domain."""


class RequestError(HomingError, ValueError):
    """Something in a request is missing or does not fit."""


class UnsolvableError(HomingError):
    """Grounding shows that there is no plan, so that there is no task."""
