#!/usr/bin/env python3
"""Run homing beside Fast Downward's LAMA on folders of problems.

    lama.py FOLDER... --homing BINARY --fast-downward DIR --out runs.json

FOLDER has a folder for each domain, with domain.pddl and problems. Each problem is solved by each
planner, one core, `--limit` CPU seconds and 4 GB a run. Prints problems solved and the agile score
by domain, and how long the planners take where both find a plan. With `--anytime`, `lama` runs
beside `homing solve --anytime` for `--limit` seconds of the clock, and plan costs are compared.
"""

import argparse
import json
import math
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MEMORY = 4 << 30
SOLVE = "{homing} solve --time-limit {limit} --memory-limit 4G"
DOWNWARD = "{python} {downward}/fast-downward.py"
PLANNERS = {
    "lama-first": DOWNWARD + " --alias lama-first {domain} {problem}",
    "classical": SOLVE + " --learn never {domain} {problem}",
    "homing": SOLVE + " {domain} {problem}",
    "model": SOLVE + " --model auto {domain} {problem}",
}
ANYTIME = {
    "lama": DOWNWARD + " --overall-time-limit {limit}s --alias lama {domain} {problem}",
    "homing": SOLVE + " --anytime {domain} {problem}",
}


def problems(folders, every):
    for folder in folders:
        for domain in sorted(path.parent for path in folder.glob("*/domain.pddl")):
            files = sorted(p for p in domain.glob("*.pddl") if not p.name.startswith("domain"))
            yield from ((domain, file) for file in files[::every])


def run(command, limit, anytime):
    """CPU seconds, whether there is a plan, and the costs of all plans."""
    def prepare():
        os.setsid()
        if not anytime:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/out", "w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, cwd=folder,
                                 preexec_fn=prepare)
        # A machine that is busy may give a run less than a core.
        timer = threading.Timer(limit * 1.6 + 10, lambda: os.killpg(child.pid, signal.SIGKILL))
        timer.start()
        _, child.returncode, used = os.wait4(child.pid, 0)
        timer.cancel()
        out.seek(0)
        text = out.read()
    cpu = used.ru_utime + used.ru_stime
    solved = "Solution found" in text and (anytime or cpu <= limit * 1.02)
    costs = re.findall(r"(?:Plan cost: |^Plan \d+: cost )(\d+)", text, re.M)
    return {"cpu": round(cpu, 3), "solved": solved, "memory_kb": used.ru_maxrss,
            "cost": min(map(int, costs)) if costs else None}


def agile(record, limit):
    if not record["solved"]:
        return 0.0
    return 1.0 if record["cpu"] <= 1 else max(0.0, 1 - math.log(record["cpu"]) / math.log(limit))


def show(title, runs, planners, limit):
    cells = []
    for planner in planners:
        mine = [record for record in runs if record["planner"] == planner]
        score = sum(agile(record, limit) for record in mine)
        cells.append(f"{sum(r['solved'] for r in mine)}/{len(mine)} ({score:.1f})")
    print(f"{title:36}", *(f"{cell:>18}" for cell in cells))


def compare_times(runs, planners, limit):
    print(f"{'solved (agile score)':36}", *(f"{planner:>18}" for planner in planners))
    for domain in sorted({record["domain"] for record in runs}):
        show(domain, [r for r in runs if r["domain"] == domain], planners, limit)
    show("all", runs, planners, limit)
    by_problem = {}
    for record in runs:
        by_problem.setdefault(record["problem"], {})[record["planner"]] = record
    first = planners[0]
    for other in planners[1:]:
        both = [(p[first], p[other]) for p in by_problem.values()
                if p[first]["solved"] and p[other]["solved"]]
        # Below a hundredth of a second the kernel's count says little.
        ratios = [math.log(max(b["cpu"], 0.01) / max(a["cpu"], 0.01)) for a, b in both]
        if ratios:
            mean = math.exp(sum(ratios) / len(ratios))
            print(f"time of {other} / {first}, geometric mean over {len(both)}: {mean:.3f}")


def compare_costs(runs, planners):
    by_problem = {}
    for record in runs:
        by_problem.setdefault(record["problem"], {})[record["planner"]] = record["cost"]
    sums = dict.fromkeys(planners, 0.0)
    for costs in by_problem.values():
        found = [cost for cost in costs.values() if cost is not None]
        for planner, cost in costs.items():
            if cost is not None:
                sums[planner] += 1.0 if cost == min(found) else min(found) / cost
    for planner, value in sums.items():
        print(f"sum of cost ratios of {planner}: {value:.1f} of {len(by_problem)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--homing", type=Path, required=True)
    parser.add_argument("--fast-downward", type=Path, required=True, help="the folder `downward`")
    parser.add_argument("--planners", default="lama-first,classical,homing",
                        help=", ".join(PLANNERS))
    parser.add_argument("--anytime", action="store_true")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="every so many problems of a domain")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    commands = ANYTIME if options.anytime else {
        name: PLANNERS[name] for name in options.planners.split(",")}
    work = list(problems(options.folders, options.every))
    random.Random(1).shuffle(work)

    def one(job):
        planner, (domain, problem) = job
        words = {"homing": options.homing.resolve(), "downward": options.fast_downward.resolve(),
                 "python": sys.executable, "limit": options.limit, "problem": problem.resolve(),
                 "domain": (domain / "domain.pddl").resolve()}
        command = [word.format(**words) for word in commands[planner].split()]
        return {"planner": planner, "domain": domain.name, "problem": str(problem),
                **run(command, options.limit, options.anytime)}

    with ThreadPoolExecutor(options.jobs) as pool:
        runs = list(pool.map(one, [(planner, job) for job in work for planner in commands]))
    if options.out:
        options.out.write_text(json.dumps(runs))
    if options.anytime:
        compare_costs(runs, list(commands))
    else:
        compare_times(runs, list(commands), options.limit)


if __name__ == "__main__":
    main()
