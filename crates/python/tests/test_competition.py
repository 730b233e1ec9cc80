"""The scripts of the learning competition."""

import os
import signal
import subprocess
import sys
import time

import homing
import pytest

from conftest import ROOT

SCRIPTS = ROOT / "dev" / "competition"


@pytest.fixture
def environment(tmp_path):
    command = tmp_path / "homing"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m homing "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "HOMING": str(command)}


def tasks(warehouse):
    return sorted((warehouse / "small").glob("*.pddl"))


def test_learn_then_plan(warehouse, tmp_path, environment):
    knowledge, plan = tmp_path / "dk", tmp_path / "plan"
    domain = warehouse / "domain.pddl"
    subprocess.run(
        [SCRIPTS / "learn", knowledge, domain, *tasks(warehouse)[:3]],
        env={**environment, "BUDGETS": "5"},
        check=True,
        capture_output=True,
    )
    assert homing.Model.load(knowledge).kind == "counts"
    for known in (knowledge, tmp_path / "none"):
        plan.unlink(missing_ok=True)
        subprocess.run(
            [SCRIPTS / "plan", known, domain, tasks(warehouse)[0], plan],
            env=environment,
            check=True,
            capture_output=True,
        )
        problem = homing.Problem(tasks(warehouse)[0], domain)
        assert homing.validate(problem, plan.read_text())


def test_learning_that_is_ended_leaves_the_last_stage(warehouse, tmp_path):
    knowledge, second = tmp_path / "dk", tmp_path / "second"
    command = tmp_path / "homing"
    # The second stage takes for ever.
    command.write_text(
        f'#!/bin/sh\n[ ! -e "{second}" ] || exec sleep 600\n'
        f'touch "{second}"\nexec "{sys.executable}" -m homing "$@"\n'
    )
    command.chmod(0o755)
    child = subprocess.Popen(
        [SCRIPTS / "learn", knowledge, warehouse / "domain.pddl", *tasks(warehouse)[:3]],
        env={**os.environ, "HOMING": str(command), "BUDGETS": "5 10"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 120
    while not knowledge.exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=20) == 0
    assert homing.Model.load(knowledge).kind == "counts"


def test_planning_that_is_ended_leaves_the_best_plan(warehouse, tmp_path, environment):
    plan, domain = tmp_path / "plan", warehouse / "domain.pddl"
    task = sorted((warehouse / "large").glob("*.pddl"))[-1]
    child = subprocess.Popen(
        [SCRIPTS / "plan", tmp_path / "none", domain, task, plan],
        env={**environment, "ANYTIME": "yes"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 120
    while not (tmp_path / "plan.1").exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert child.poll() is None, "a large problem takes long to be solved best"
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=20) == 0
    problem = homing.Problem(task, domain)
    costs = [homing.validate(problem, one.read_text()).cost for one in tmp_path.glob("plan.*")]
    assert homing.validate(problem, plan.read_text()).cost == min(costs)
