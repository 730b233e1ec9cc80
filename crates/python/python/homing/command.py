"""The command ``homing``: the same program as the binary, in this process."""

from __future__ import annotations

import os
import shutil
import sys

from homing import _homing

__all__ = ["main"]


def _command_file() -> str:
    """A file that starts the command: `homing evaluate` makes each run a process."""
    beside = os.path.join(os.path.dirname(sys.executable), "homing")
    candidates = [sys.argv[0], beside, shutil.which("homing")]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK) and not candidate.endswith(".py"):
            return os.path.abspath(candidate)
    # Told when a run is to be started, and only then.
    return beside


def main() -> None:
    """Does what the command line says, and ends the process with the exit code."""
    sys.stdout.flush()
    sys.exit(_homing.main(_command_file(), ["homing", *sys.argv[1:]]))
