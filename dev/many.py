"""Many runs under limits: side by side, each kept as soon as it is made.

A log is a file of JSON lines: the settings first, then a line for each run. A script that is killed,
or out of its wall-clock budget, makes the runs that are missing when it is started again.
"""

import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


class Log:
    """Runs by key, in a file that is whole after each of them."""

    def __init__(self, path, settings):
        self.path, self.lock, self.runs = path, threading.Lock(), {}
        self.settings = json.loads(json.dumps(settings))
        if path.exists() and path.stat().st_size:
            there, self.runs = read(path)
            changed = [k for k in self.settings if there.get(k) != self.settings[k]]
            if changed:
                sys.exit(f"{path} was made with other settings ({', '.join(changed)}): name another file")
            # A line that was cut off goes.
            text = path.read_bytes()
            if not text.endswith(b"\n"):
                path.write_bytes(text[: text.rfind(b"\n") + 1])
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"settings": self.settings}) + "\n")

    def put(self, key, value):
        with self.lock:
            self.runs[key] = value
            with self.path.open("a") as file:
                file.write(json.dumps({"key": key, **value}, sort_keys=True) + "\n")


def read(path):
    """The settings and the runs of a log."""
    lines = Path(path).read_text().split("\n")
    settings, runs = json.loads(lines[0])["settings"], {}
    for line in lines[1:-1]:
        run = json.loads(line)
        runs[run.pop("key")] = run
    return settings, runs


def execute(command, seconds, memory_mb, own_limits=False, cwd=None):
    """Runs a command in a process group of its own: exit status, standard output, what it took.

    With `own_limits` the program limits itself (Fast Downward's driver starts others). A busy machine
    may need more wall-clock than CPU time, but one that hangs must end."""

    def limit():
        os.setsid()
        if not own_limits:
            # Exceeding the soft limit is a signal, the hard one is the end.
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
            most = (memory_mb + 1024) << 20
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.DEVNULL, preexec_fn=limit, cwd=cwd)
        timer = threading.Timer(3 * seconds + 30, lambda: os.killpg(child.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    return child.returncode, text, {
        "cpu": round(usage.ru_utime + usage.ru_stime, 3), "wall": round(time.monotonic() - begin, 3),
        "memory_mb": usage.ru_maxrss // 1024}


def solve(homing, arguments, domain, problem, seconds, memory_mb):
    """`homing solve --json`: what the record says, and what the system counted."""
    command = [homing, "solve", "--json", "--threads", 1, "--time-limit", 3 * seconds, "--memory-limit",
               f"{memory_mb}M", *arguments, domain, problem]
    code, text, cost = execute(command, seconds, memory_mb)
    try:
        record = json.loads(text)
    except json.JSONDecodeError:
        record = {}
    solved = record.get("outcome") == "solved" and record.get("validated", False) and cost["cpu"] <= seconds
    kept = ("evaluations", "expansions", "scored", "found_by", "plan_length", "plan_cost", "learned",
            "actions", "ready_cpu_seconds", "outcome")
    return {"solved": solved, "code": code, **cost, **{k: record[k] for k in kept if record.get(k) is not None}}


def work_through(log, jobs, tasks, budget=None):
    """Makes the runs that are missing, `tasks` a list of (key, function); how many are left."""
    end = time.monotonic() + (budget if budget is not None else float("inf"))
    left, done, lock = 0, 0, threading.Lock()
    todo = [(key, act) for key, act in tasks if key not in log.runs]

    def one(task):
        nonlocal left, done
        key, act = task
        if time.monotonic() > end:
            left += 1
            return
        result = act()
        if result is None:
            left += 1
            return
        log.put(key, result)
        with lock:
            done += 1
            if done % 50 == 0:
                print(f"{done} of {len(todo)} runs", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(one, task) for task in todo]:
            future.result()
    return left


def problems_in(folder):
    """Domains of a folder, each with its problems in order."""
    found = {}
    for domain in sorted(path.parent for path in Path(folder).glob("*/domain.pddl")):
        files = sorted(p for p in domain.glob("*.pddl") if not p.name.startswith("domain"))
        found[domain.name] = [p.resolve() for p in files]
    return found


def objects(problem):
    """How many objects a problem declares."""
    text = re.sub(r";.*", "", problem.read_text()).lower()
    found = re.search(r"\(:objects(.*?)\)\s*\(:", text, re.DOTALL)
    words = re.sub(r"-\s+(\([^)]*\)|[^\s()]+)", " ", found[1]).split() if found else []
    return len(words)


def by_size(problems):
    return sorted(problems, key=lambda p: (objects(p), p.stat().st_size, p.name))


def thirds(problems):
    """The smaller two thirds and the largest third, each in order of size."""
    ordered = by_size(problems)
    cut = -(-len(ordered) * 2 // 3)
    return ordered[:cut], ordered[cut:]


def spread(items, count):
    """So many of a list at equal distances, the last included; all without a count."""
    if not count or count >= len(items):
        return list(items)
    return [items[(i + 1) * len(items) // count - 1] for i in range(count)]


def origin(homing, revision=None):
    """What says which program ran: its version, revision and bytes."""
    version = subprocess.check_output([homing, "--version"], text=True).strip()
    if not revision:
        place = Path(__file__).resolve().parent
        asked = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=place,
                               check=False)
        revision = asked.stdout.strip() or None
    return {"homing": version, "revision": revision,
            "homing_sha256": hashlib.sha256(Path(homing).read_bytes()).hexdigest()[:16]}


def processor():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    return f"{model[1].strip() if model else 'unknown processor'}, {os.cpu_count()} cores"


def median(values):
    values = sorted(values)
    if not values:
        return None
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
