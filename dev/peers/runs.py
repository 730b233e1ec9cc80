"""Single runs of each planner: a process, and what it printed and took."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent


class Failed(Exception):
    """A run that gave no measurement, with the reason."""


def execute(command, stdin=None, variables=None, wall_limit=600):
    """Run to the end: (exit status, standard output, CPU seconds, peak resident KB).

    The guard is a wall clock on purpose. Under a CPU limit (RLIMIT_CPU) and
    with output to a file, a child's CPU clock was seen to advance in scheduler
    ticks of 4 ms, search times of 2 ms reading 0 or 4; without the limit never.
    Every planner here times its search with that clock.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        source = open(stdin, "rb") if stdin else subprocess.DEVNULL
        child = subprocess.Popen([str(c) for c in command], stdin=source, stdout=out, stderr=err,
                                 env={**os.environ, **(variables or {})}, cwd=tempfile.gettempdir())
        start = time.monotonic()
        guard = threading.Timer(wall_limit, os.kill, (child.pid, signal.SIGKILL))
        guard.start()
        # look first, reap after the guard is off: it can then hit no other process of this number
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        guard.cancel()
        guard.join()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if stdin:
            source.close()
        out.seek(0)
        err.seek(0)
        text, complaint = out.read().decode(errors="replace"), err.read().decode(errors="replace")
    if child.returncode < 0:
        if child.returncode == -signal.SIGKILL and time.monotonic() - start >= wall_limit:
            raise Failed(f"not done within {wall_limit:g} s")
        raise Failed(f"ended by signal {-child.returncode} after {usage.ru_utime + usage.ru_stime:.1f} CPU s")
    if complaint and child.returncode not in (0, 11, 12, 22, 23):
        raise Failed(complaint.strip().splitlines()[-1])
    return child.returncode, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


class FastDownward:
    """A built Fast Downward: a translator in Python and a binary. Without a folder, the one inside the wheel."""

    def __init__(self, folder=None):
        if not folder:
            spec = importlib.util.find_spec("up_fast_downward")
            folder = Path(spec.submodule_search_locations[0]) / "downward"
        self.folder = Path(folder).resolve()
        self.home = self.folder / "builds/release/bin"
        self.binary = self.home / "downward"
        self.sas = None

    def version(self):
        text = (self.folder / "driver/version.py").read_text()
        return re.search(r'__version__ = "(.*)"', text)[1]

    def working_in(self, folder):
        """The same planner with a translator's output of its own."""
        other = FastDownward(self.folder)
        folder.mkdir(parents=True, exist_ok=True)
        other.sas = folder / "output.sas"
        return other

    def translate(self, domain, problem):
        command = [sys.executable, "-m", "fast_downward.translate", domain, problem, "--sas-file", self.sas]
        status, text, cpu, memory = execute(command, variables={"PYTHONPATH": str(self.home)})
        if status != 0:
            raise Failed(text.strip().splitlines()[-1])
        return {"outcome": "translated", "ready": cpu, "search": cpu, "peak_kb": memory}

    def search(self, configuration, limit):
        """`configuration` holds {} where the search's own options go."""
        option = configuration.replace("{}", f"max_time={limit:.3f}")
        # an option of the search, so that the statistics are printed at the limit too
        plan = ["--internal-plan-file", self.sas.with_name("sas_plan")]
        status, text, cpu, memory = execute([self.binary, "--search", option, *plan], stdin=self.sas)

        def number(pattern):
            found = re.search(pattern, text, re.MULTILINE)
            if not found:
                raise Failed(f"no line {pattern!r} in the log, exit code {status}")
            return float(found[1])

        return {
            "outcome": {0: "solved", 11: "unsolvable", 12: "time-limit"}.get(status, f"exit {status}"),
            "evaluations": int(number(r"Evaluated (\d+) state")),
            "generated": int(number(r"Generated (\d+) state")),
            "expansions": int(number(r"Expanded (\d+) state")),
            "stored": int(number(r"Number of registered states: (\d+)")),
            "state_bytes": int(number(r"Bytes per state: (\d+)")),
            "search": number(r"\] Search time: ([\d.e-]+)s"),
            "prepare": number(r"Total time: ([\d.e-]+)s") - number(r"\] Search time: ([\d.e-]+)s"),
            "peak_kb": memory,
            "peak_kb_own": int(number(r"^Peak memory: (\d+) KB")),
            "cpu": cpu,
        }

    def blind(self, states):
        """The CPU limit at which blind A* has stored about so many states."""
        limit = 0.5
        for _ in range(3):
            run = self.search("astar(blind(), {})", limit)
            if run["outcome"] != "time-limit" or abs(run["stored"] / states - 1) < 0.03:
                break
            limit *= states / run["stored"]
        return limit


def homing_search(binary, domain, problem, options):
    command = [binary, "solve", domain, problem, *options, "--json"]
    status, text, cpu, memory = execute(command)
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        raise Failed(f"exit code {status} and no JSON object") from None
    return {
        "outcome": found["outcome"],
        "evaluations": found["evaluations"],
        "generated": found["generated"],
        "expansions": found["expansions"],
        "stored": found["stored"],
        "actions": found["actions"],
        "state_bytes": found["bytes_per_state"],
        "search": found["search_cpu_seconds"],
        "ready": found["ready_cpu_seconds"],
        "peak_kb": memory,
        "peak_kb_own": found["peak_memory_kb"],
        "cpu": cpu,
    }


def pyperplan_search(domain, problem, heuristic, limit, ready_limit, python_path):
    command = [sys.executable, HERE / "pyperplan_run.py", domain, problem, f"h{heuristic}", limit]
    # fixed, for the order of its sets decides ties
    variables = {"PYTHONHASHSEED": "0"}
    if python_path:
        variables["PYTHONPATH"] = str(python_path)
    status, text, cpu, memory = execute(command, variables=variables, wall_limit=limit + ready_limit)
    if status != 0:
        raise Failed(f"exit code {status}")
    found = json.loads(text)
    return {
        "outcome": found["outcome"],
        "evaluations": found["evaluations"],
        "generated": found["generated"],
        "search": found["search_cpu_seconds"],
        "ready": found["ready_cpu_seconds"],
        "peak_kb": memory,
        "cpu": cpu,
    }


def version_of(binary):
    done = subprocess.run([binary, "--version"], capture_output=True, text=True)
    return done.stdout.strip() or None


def revision(given=None):
    """What git calls this revision, unless it is given."""
    if given:
        return given
    done = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=REPOSITORY)
    return done.stdout.strip() or None


def processor():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return model[1] if model else None
