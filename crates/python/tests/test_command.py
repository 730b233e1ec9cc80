"""The command in the wheel, Ctrl-C, and other threads."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import homing
import pytest
from conftest import ROOT


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "homing", *map(str, arguments)],
        capture_output=True,
        text=True,
        **options,
    )


def test_the_command_is_the_command(warehouse):
    problem = warehouse / "small" / "3-5-3-s1.pddl"
    done = run("solve", "--json", warehouse / "domain.pddl", problem)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["plan"] == homing.solve(problem, warehouse / "domain.pddl")["plan"]
    assert run("--version").stdout.split()[-1] == homing.__version__
    assert run("solve", "nowhere.pddl").returncode == 33


def test_evaluations_start_the_command_again(warehouse, tmp_path):
    records = tmp_path / "records.jsonl"
    done = run(
        "evaluate", "--heuristic", "ff", "--max-evaluations", 500, "--out", records,
        warehouse / "domain.pddl", warehouse / "small" / "3-5-3-s1.pddl",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(records.read_text().splitlines()[0])["outcome"] == "solved"


LONG = """
import sys, homing
print("ready", flush=True)
try:
    homing.solve(sys.argv[1], sys.argv[2], search="dijkstra", unit_cost=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def largest(warehouse):
    return max((warehouse / "large").glob("*.pddl"), key=lambda path: path.stat().st_size)


def test_ctrl_c_ends_a_long_call(warehouse):
    child = subprocess.Popen(
        [sys.executable, "-c", LONG, largest(warehouse), warehouse / "domain.pddl"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    os.kill(child.pid, signal.SIGINT)
    output, _ = child.communicate(timeout=20)
    assert output == "interrupted\n"


def test_other_threads_run_meanwhile(warehouse):
    def work():
        homing.solve(
            largest(warehouse), warehouse / "domain.pddl", search="dijkstra", time_limit=0.5
        )

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
        time.sleep(0.01)
    thread.join()
    assert turns > 5


def test_records_are_read_by_the_reports_of_lab(warehouse, tmp_path):
    absolute = pytest.importorskip("downward.reports.absolute")
    folder = tmp_path / "lab-eval"
    problems = sorted((warehouse / "small").glob("3-5-3-*.pddl"))
    done = run(
        "evaluate", "--heuristic", "blind,ff", "--max-evaluations", 500, "--lab", folder,
        "--out", tmp_path / "records.jsonl", warehouse / "domain.pddl", *problems,
    )
    assert done.returncode == 0, done.stderr
    runs = json.loads((folder / "properties").read_text()).values()
    assert len(runs) == 2 * len(problems)
    report = tmp_path / "report.tex"
    absolute.AbsoluteReport(attributes=["coverage", "evaluations"], format="tex")(
        str(folder), str(report)
    )
    for algorithm in ("gbfs-blind", "gbfs-ff"):
        covered = sum(one["coverage"] for one in runs if one["algorithm"] == algorithm)
        assert algorithm in report.read_text() and covered > 0
