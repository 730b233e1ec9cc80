"""Environment steps and successors per CPU second, beside other packages.

    python dev/python/speed.py --seconds 3 PYTHON_WITH_THE_PACKAGES

draws a problem of blocks, logistics and gripper, lets each package walk and expand in a process of
its own, and prints tables. A step is a random applicable action: the applicable actions are found,
one is taken. A step of an environment gives an observation, the mask of actions and a reward, too. A successor is one that a breadth first search generates, repeated ones included; states
are kept in a set, as such a search needs it. Walks begin anew after 100 steps.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WALK = 100
STATES = 200_000

PROBLEMS = {
    "blocks": ["blocks", "--blocks", "8"],
    "logistics": "logistics --airplanes 1 --cities 3 --city-size 3 --packages 5".split(),
    "gripper": ["gripper", "--balls", "10"],
}


class Homing:
    """The states of homing."""

    def __init__(self, domain: Path, problem: Path) -> None:
        import homing

        self.task = homing.Task(homing.Problem(problem, domain))
        self.initial = self.task.initial_state

    def applicable(self, state):
        return self.task.applicable(state)

    def apply(self, state, action):
        return self.task.apply(state, action)

    def successors(self, state):
        return [after for _, after in self.task.successors(state)]


class Mimir:
    """pymimir, grounded where it can be."""

    def __init__(self, domain: Path, problem: Path, mode: str = "grounded") -> None:
        import pymimir

        self.domain = pymimir.Domain(str(domain))
        self.problem = pymimir.Problem(self.domain, str(problem), mode=mode)
        self.initial = self.problem.get_initial_state()

    def applicable(self, state):
        return state.generate_applicable_actions()

    def apply(self, state, action):
        return action.apply(state)

    def successors(self, state):
        return [action.apply(state) for action in state.generate_applicable_actions()]


class MimirLifted(Mimir):
    """pymimir as it is by default."""

    def __init__(self, domain: Path, problem: Path) -> None:
        super().__init__(domain, problem, mode="lifted")


class Simulator:
    """Unified Planning's simulator."""

    def __init__(self, domain: Path, problem: Path) -> None:
        from unified_planning.engines import UPSequentialSimulator
        from unified_planning.engines.compilers.grounder import GrounderHelper
        from unified_planning.io import PDDLReader

        # Version 1.3 removes an object twice, and fails, where two static conditions rule it out, as in
        # logistics: one condition at a time it is right.
        purge = GrounderHelper._purge_items_list

        def purge_one_by_one(helper, items_list, params, conds):
            for condition in conds:
                items_list = purge(helper, items_list, params, [condition])
            return items_list

        GrounderHelper._purge_items_list = purge_one_by_one
        parsed = PDDLReader().parse_problem(str(domain), str(problem))
        self.simulator = UPSequentialSimulator(parsed, error_on_failed_checks=False)
        self.initial = self.simulator.get_initial_state()

    def applicable(self, state):
        return list(self.simulator.get_applicable_actions(state))

    def apply(self, state, action):
        return self.simulator.apply(state, *action)

    def successors(self, state):
        return [self.simulator.apply(state, *action) for action in self.applicable(state)]


class Pddlgym:
    """pddlgym, with its functions on states."""

    def __init__(self, domain: Path, problem: Path) -> None:
        import shutil

        import pddlgym.core

        folder = Path(tempfile.mkdtemp())
        shutil.copy(problem, folder)
        self.core = pddlgym.core
        self.env = pddlgym.core.PDDLEnv(
            str(domain), str(folder), operators_as_actions=True, dynamic_action_space=True
        )
        self.initial, _ = self.env.reset()

    def applicable(self, state):
        return list(self.env.action_space.all_ground_literals(state))

    def apply(self, state, action):
        return self.core.get_successor_state(state, action, self.env.domain)

    def successors(self, state):
        return [self.apply(state, action) for action in self.applicable(state)]


PACKAGES = {
    "homing": Homing,
    "pymimir (grounded)": Mimir,
    "pymimir (lifted)": MimirLifted,
    "Unified Planning": Simulator,
    "pddlgym": Pddlgym,
}


def steps(space, seconds: float) -> float:
    chance = random.Random(0)
    start, count = time.process_time(), 0
    while True:
        state = space.initial
        for _ in range(WALK):
            actions = space.applicable(state)
            if not actions:
                break
            state = space.apply(state, chance.choice(actions))
            count += 1
            spent = time.process_time() - start
            if spent > seconds:
                return count / spent


def successors(space, seconds: float) -> float:
    start, count = time.process_time(), 0
    seen, queue = {space.initial}, [space.initial]
    for state in queue:
        for after in space.successors(state):
            count += 1
            if after not in seen:
                seen.add(after)
                queue.append(after)
        spent = time.process_time() - start
        if spent > seconds or len(queue) > STATES:
            break
    return count / (time.process_time() - start)


def environment(domain: Path, problem: Path, seconds: float) -> dict[str, float]:
    """The environments of Gymnasium, where a step includes the observation and the mask."""
    import homing.gymnasium
    import numpy as np

    env = homing.gymnasium.PlanningEnv(domain, problem, max_steps=WALK)
    chance = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    start, count = time.process_time(), 0
    while (spent := time.process_time() - start) < seconds:
        action = chance.choice(np.flatnonzero(info["action_mask"]))
        _, _, terminated, truncated, info = env.step(action)
        count += 1
        if terminated or truncated:
            _, info = env.reset()
    one = count / spent
    size = 1_000
    many = homing.gymnasium.PlanningVectorEnv(
        domain, problem, num_envs=size, max_steps=WALK, threads=1
    )
    _, info = many.reset(seed=0)
    start, count = time.process_time(), 0
    while (spent := time.process_time() - start) < seconds:
        mask = info["action_mask"]
        drawn = (chance.random(mask.shape, dtype=np.float32) * mask).argmax(axis=1)
        _, _, _, _, info = many.step(drawn)
        count += size
    return {"steps of one environment": one, "steps of 1,000 environments": count / spent}


def pddlgym_environment(domain: Path, problem: Path, seconds: float) -> dict[str, float]:
    """pddlgym's environment, by its own `sample` and `step`."""
    env = Pddlgym(domain, problem).env
    observation, _ = env.reset()
    env.action_space.seed(0)
    start, count = time.process_time(), 0
    while (spent := time.process_time() - start) < seconds:
        action = env.action_space.sample(observation)
        observation, _, terminated, *_ = env.step(action)
        count += 1
        if terminated or count % WALK == 0:
            observation, _ = env.reset()
    return {"steps of one environment": count / spent}


def measure(package: str, domain: Path, problem: Path, seconds: float) -> dict[str, float]:
    if package in ENVIRONMENTS:
        return ENVIRONMENTS[package](domain, problem, seconds)
    space = PACKAGES[package](domain, problem)
    # Some ground the problem here.
    space.applicable(space.initial)
    result = {"steps": steps(space, seconds)}
    result["successors"] = successors(space, seconds)
    return result


ENVIRONMENTS = {
    "homing, environment": environment,
    "pddlgym, environment": pddlgym_environment,
}


def table(rows: dict[str, dict[str, dict[str, float]]], what: str) -> None:
    print(f"| {what} per CPU second | " + " | ".join(PROBLEMS) + " |")
    print("|---|" + "---:|" * len(PROBLEMS))
    for package, domains in rows.items():
        cells = [
            f"{domains[name][what]:,.0f}" if what in domains.get(name, {}) else "-"
            for name in PROBLEMS
        ]
        if any(cell != "-" for cell in cells):
            print(f"| {package} | " + " | ".join(cells) + " |")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", nargs="?", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--one", nargs=3, metavar=("PACKAGE", "DOMAIN", "PROBLEM"))
    arguments = parser.parse_args()
    if arguments.one:
        package, domain, problem = arguments.one
        print(json.dumps(measure(package, Path(domain), Path(problem), arguments.seconds)))
        return
    rows: dict[str, dict[str, dict[str, float]]] = {}
    root = Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as folder:
        for name, parameters in PROBLEMS.items():
            out = Path(folder) / name
            generate = [arguments.python, "-m", "homing", "generate", *parameters]
            subprocess.run([*generate, "--seeds", "1", "--out", out], check=True)
            problem = next(path for path in sorted(out.rglob("*.pddl")) if path.stem != "domain")
            domain = next(out.rglob("domain.pddl"), root / "domains" / name / "domain.pddl")
            for package in [*PACKAGES, *ENVIRONMENTS]:
                done = subprocess.run(
                    [arguments.python, __file__, "--seconds", str(arguments.seconds)]
                    + ["--one", package, str(domain), str(problem)],
                    capture_output=True,
                    text=True,
                    env={**os.environ, "PYTHONHASHSEED": "0"},
                )
                if done.returncode:
                    print(f"{package} on {name}: {done.stderr.strip().splitlines()[-1]}")
                    continue
                result = json.loads(done.stdout.strip().splitlines()[-1])
                rows.setdefault(package, {})[name] = result
    table(rows, "steps")
    table(rows, "successors")
    for what in ("steps of one environment", "steps of 1,000 environments"):
        table(rows, what)


if __name__ == "__main__":
    main()
