"""Run a development script inside a virtual environment of its own.

The scripts under dev/ need packages that the planner itself never needs. Each
keeps them in a folder `.venv` beside it (ignored by git), made on first use.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path


def enter(folder, packages, environment=None):
    """Continue this script under `folder`/.venv with `packages` installed.

    Returns when the interpreter is already that one; otherwise makes what is
    missing and replaces the process. `environment` holds variables that must
    be set before the interpreter starts (PYTHONHASHSEED and the like).
    """
    home = Path(folder).resolve() / ".venv"
    environment = environment or {}
    inside = Path(sys.prefix).resolve() == home
    if inside and all(os.environ.get(k) == v for k, v in environment.items()):
        return
    python = home / "bin" / "python"
    stamp = home / "packages.txt"
    wanted = "\n".join(packages) + "\n"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"making {home} with {', '.join(packages)}", file=sys.stderr)
        venv.create(home, with_pip=True)
        # the stamp goes in last, so that an interrupted installation is redone
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
            check=True,
            stdout=sys.stderr,
        )
        stamp.write_text(wanted)
    os.execve(python, [str(python), *sys.argv], {**os.environ, **environment})
