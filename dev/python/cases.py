"""Unified Planning's own test cases on the engines of homing.

    python dev/python/cases.py

runs `up_test_cases/report.py`, which comes with Unified Planning, for the four engines, and prints how
often each engine ended how, then what was skipped and why. Ends with 1 if that report finds a failure.
`--report` prints all that it says, too.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import unified_planning

ENGINES = ["homing", "homing-opt", "homing-anytime", "homing-validator"]
CASES = Path(unified_planning.__file__).parents[1] / "up_test_cases"

# The report knows the engines of an `up.ini` above it, or those that are registered before.
RUN = """
import runpy, sys
import homing.unified_planning
sys.path.insert(0, sys.argv[1])
sys.argv = ["report.py", *sys.argv[2:]]
runpy.run_path(sys.path[0] + "/report.py", run_name="__main__")
"""


def packages() -> tuple[list[str], list[str]]:
    """The packages of test cases that can be loaded, and those that cannot."""
    sys.path.insert(0, str(CASES))
    found, missing = ["unified_planning.test"], []
    for path in sorted((CASES / "builtin").rglob("*.py")):
        name = ".".join(path.relative_to(CASES).with_suffix("").parts).removesuffix(".__init__")
        if "functools import partial" in path.read_text() and "pddl" not in path.read_text():
            continue  # gathers those below it
        try:
            importlib.import_module(name).get_test_cases()
        except AttributeError:
            continue
        except (AssertionError, FileNotFoundError, ImportError):
            # The wheel of Unified Planning has these cases without the PDDL that they read.
            missing.append(name)
        else:
            found.append(name)
    return found, missing


def report(names: list[str], timeout: float) -> subprocess.CompletedProcess[str]:
    modes = ["oneshot", "anytime", "validation"]
    command = [sys.executable, "-c", RUN, str(CASES), *ENGINES, "-m", *modes]
    command += ["-t", str(timeout), "-p", *names]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def ends(text: str) -> dict[str, collections.Counter[str]]:
    """How often each engine ended how, by the mode of the report."""
    found: dict[str, collections.Counter[str]] = {}
    mode = ""
    for line in text.splitlines():
        if heading := re.match(r"(ONESHOT|ANYTIME|VALIDATION)", line):
            mode = heading.group(1).lower()
        elif row := re.match(r"\|\s+(\S+)\s+(\S+)", line):
            engine = found.setdefault(f"{row.group(1)}, {mode}", collections.Counter())
            engine[row.group(2)] += 1
    return found


def skipped(names: list[str]) -> list[tuple[str, list[str]]]:
    """The cases that are not supported, and the features that are missing."""
    from homing.unified_planning import Homing

    supported = Homing.supported_kind().features
    found = []
    for name in names:
        for case, test in importlib.import_module(name).get_test_cases().items():
            needed = sorted(test.problem.kind.features - supported)
            if needed:
                found.append((f"{name}:{case}", needed))
    return found


# What a feature belongs to; the first that a case needs is told.
REASONS = {
    "another class of problems": ["TAMP", "HIERARCHICAL", "ACTION_BASED_MULTI_AGENT", "SCHEDULING"],
    "time": ["CONTINUOUS_TIME", "DISCRETE_TIME", "PROCESSES", "EVENTS", "TIMED_EFFECTS"],
    "numbers that change": ["SIMPLE_NUMERIC_PLANNING", "GENERAL_NUMERIC_PLANNING"],
}


def reasons(cases: list[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """The cases by the reason why they are skipped."""
    found: dict[str, list[str]] = {}
    for case, needed in cases:
        reason = next(
            (
                f"{reason}: {feature}" if reason.startswith("another") else reason
                for reason, features in REASONS.items()
                for feature in features
                if feature in needed
            ),
            ", ".join(needed),
        )
        found.setdefault(reason, []).append(case.split(":", 1)[-1])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--report", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    names, missing = packages()
    done = report(names, arguments.timeout)
    if arguments.report or done.returncode:
        print(done.stdout, done.stderr)
    print("| engine, mode | cases | how they ended |\n|---|---:|---|")
    for engine, counts in ends(done.stdout).items():
        told = ", ".join(f"{count} {end}" for end, count in sorted(counts.items()))
        print(f"| {engine} | {sum(counts.values())} | {told} |")
    print(f"\nFailures: {'none' if done.returncode == 0 else 'see above'}.\n")
    print("| skipped for | cases | |\n|---|---:|---|")
    for reason, cases in reasons(skipped(names)).items():
        print(f"| {reason} | {len(cases)} | {', '.join(cases)} |")
    print(f"\nNot in the wheel of Unified Planning: {', '.join(missing) or 'none'}.")
    return done.returncode


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
