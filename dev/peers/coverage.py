"""homing beside LAMA on many problems: what is solved, how soon, and what plans cost.

A part of planner.py: `planner.py lama`, `planner.py anytime`, `planner.py parts`, `planner.py tables`.
"""

import argparse
import collections
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import environment  # noqa: E402
import many  # noqa: E402
from runs import FastDownward  # noqa: E402

PACKAGES = ["up-fast-downward==1.0.0"]

# name -> flags of `homing solve`; None for Fast Downward
PLANNERS = {
    "lama-first": None,
    "classical": ["--learn", "never"],
    "homing": [],
    "homing, seed 1": ["--seed", "1"],
    "homing, seed 2": ["--seed", "2"],
    "model": ["--model", "auto"],
}
ANYTIME = {"lama": None, "homing": ["--anytime"]}
PARTS = {
    "all parts": [],
    "without landmarks": ["--no-landmarks"],
    "without preferred actions": ["--no-preferred"],
    "without landmarks and preferred actions": ["--no-landmarks", "--no-preferred"],
    "preferred actions without a head start": ["--boost", "0"],
    "without the novel worker": ["--novelty", "0"],
    "without the serial worker": ["--serial", "0"],
    "without leaving out like steps": ["--no-interchange"],
    "without learning": ["--learn", "never"],
    "with a queue by type": ["--by-type"],
    "eager: plain GBFS with h_FF": ["--search", "gbfs"],
}


def choose(options):
    """(set, domain, problem) of what is asked for: all of benchmarks, the largest third of
    learning-track, and drawn problems of the paper's eight domains at its test sizes."""
    found = []

    def take(name, domains):
        for domain, problems in domains.items():
            found.extend((name, domain, p) for p in many.spread(problems, options.most))

    shared = options.shared
    if "benchmarks" in options.sets:
        take("benchmarks", many.problems_in(shared / "benchmarks"))
    if "track" in options.sets:
        track = many.problems_in(shared / "learning-track")
        take("track", {domain: many.thirds(problems)[1] for domain, problems in track.items()})
    if "paper" in options.sets:
        drawn = options.out.with_suffix("").resolve() / "paper-test"
        if not drawn.exists():
            drawn.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([options.homing, "generate", "--suite", "paper-test", "--out", drawn], check=True,
                           stdout=subprocess.DEVNULL)
        suite = many.problems_in(drawn)
        take("paper", {domain: many.spread(many.by_size(problems), options.paper) for domain, problems in suite.items()})
    for folder in options.folders:
        take(folder.resolve().name, many.problems_in(folder))
    return found


def downward(options, alias, problem):
    """lama-first until its first plan, lama until the limit."""
    driver = FastDownward(options.fast_downward).folder / "fast-downward.py"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, driver, "--overall-time-limit", f"{options.seconds}s", "--overall-memory-limit",
                   f"{options.memory}M", "--alias", alias, problem.with_name("domain.pddl"), problem]
        code, text, cost = many.execute(command, options.seconds, options.memory, own_limits=True, cwd=folder)
        costs = [int(c) for c in re.findall(r"Plan cost: (\d+)", text)]
        solved = "Solution found" in text and (alias == "lama" or cost["cpu"] <= options.seconds)
        plans = sorted(Path(folder).glob("sas_plan*"), key=lambda p: p.stat().st_mtime_ns)
        if solved and plans and options.validate:
            valid = subprocess.run([options.homing, "validate", problem.with_name("domain.pddl"), problem, plans[-1]],
                                   capture_output=True, check=False)
            solved = valid.returncode == 0
    return {"solved": solved, "code": code, **cost, "plan_cost": min(costs) if costs else None}


def anytime(options, flags, problem):
    """homing until the limit of the clock."""
    with tempfile.TemporaryDirectory() as folder:
        command = [options.homing, "solve", "--json", "--threads", 1, "--time-limit", options.seconds, "--memory-limit",
                   f"{options.memory}M", *flags, problem.with_name("domain.pddl"), problem]
        code, text, cost = many.execute(command, options.seconds, options.memory, own_limits=True, cwd=folder)
    try:
        record = json.loads(text)
    except json.JSONDecodeError:
        record = {}
    return {"solved": record.get("outcome") == "solved", "code": code, **cost, "plan_cost": record.get("plan_cost")}


def run(options):
    if options.part != "parts" and not options.fast_downward:
        environment.enter(HERE, PACKAGES)
    settings = {"part": options.part, "seconds": options.seconds, "memory_mb": options.memory,
                **many.origin(options.homing, options.revision), "machine": many.processor()}
    if options.part != "parts":
        settings["fast_downward"] = FastDownward(options.fast_downward).version()
    log = many.Log(options.out, settings)
    named = {"lama": PLANNERS, "anytime": ANYTIME, "parts": PARTS}[options.part]
    named = {name: flags for name, flags in named.items() if not options.only or name in options.only}

    def act(name, flags, problem):
        if flags is None:
            return lambda: downward(options, "lama" if options.part == "anytime" else "lama-first", problem)
        if options.part == "anytime":
            return lambda: anytime(options, flags, problem)
        return lambda: many.solve(options.homing, flags, problem.with_name("domain.pddl"), problem, options.seconds,
                                  options.memory)

    tasks = []
    problems = choose(options)
    # Round and round the domains: whenever it ends, all are about as far, and planners take turns.
    seen, rank = collections.Counter(), {}
    for where, domain, problem in problems:
        rank[problem] = seen[where, domain]
        seen[where, domain] += 1
    problems.sort(key=lambda item: rank[item[2]])
    for where, domain, problem in problems:
        tasks += [(f"{name}/{where}/{domain}/{problem.name}", act(name, flags, problem)) for name, flags in named.items()
                  # Models ship for the paper's domains and the learning track's.
                  if name != "model" or where != "benchmarks"]
    print(f"{len(problems)} problems, {len(tasks)} runs", file=sys.stderr)
    left = many.work_through(log, options.jobs, tasks, options.budget)
    print(f"{len(log.runs)} runs in {options.out}, {left} left for another time")
    show(options.out)


def agile(record, limit):
    """1 up to a second, then less with the logarithm of the time, 0 at the limit."""
    if not record["solved"]:
        return 0.0
    return 1.0 if record["cpu"] <= 1 else max(0.0, 1 - math.log(record["cpu"]) / math.log(limit))


def sorted_runs(path):
    """Settings, and by set the names of planners and the problems that each of them has had."""
    settings, runs = many.read(path)
    every = [*PLANNERS, *ANYTIME, *PARTS]
    names, problems = {}, {}
    for key, record in runs.items():
        name, where, problem = key.split("/", 2)
        names.setdefault(where, set()).add(name)
        problems.setdefault(where, {}).setdefault(problem, {})[name] = record
    names = {where: sorted(found, key=every.index) for where, found in sorted(names.items())}
    problems = {where: {p: found for p, found in problems[where].items() if len(found) == len(names[where])}
                for where in names}
    return settings, names, problems


def show(path, brief=False):
    """Tables of a log, as Markdown."""
    settings, names, problems = sorted_runs(path)
    print(f"\n{settings['seconds']} CPU seconds, {settings['memory_mb'] / 1024:.0f} GB, one core a run; revision "
          f"{settings['revision']}, {settings['machine']}.\n")
    shared = [n for n in next(iter(names.values()), []) if all(n in found for found in names.values())]
    everything = [c for found in problems.values() for c in found.values()]
    if settings["part"] == "anytime":
        show_costs(shared, everything)
        return
    limit = settings["seconds"]
    head("solved (agile score)", shared)
    for where, found in problems.items():
        row(f"all of {where}", list(found.values()), shared, limit)
    row("**all**", everything, shared, limit)
    print()
    show_ratios(shared, everything)
    if brief:
        return
    for where, found in problems.items():
        print()
        head(where, names[where])
        for domain in sorted({p.split("/")[0] for p in found}):
            row(domain, [c for p, c in found.items() if p.startswith(f"{domain}/")], names[where], limit)
        row("all", list(found.values()), names[where], limit)
        if where == "paper":
            show_medians(names[where], found)


def head(title, names):
    print(f"| {title} | problems | " + " | ".join(names) + " |\n|---|---:|" + "---:|" * len(names))


def row(title, chosen, names, limit):
    cells = [f"{sum(c[n]['solved'] for c in chosen)} ({sum(agile(c[n], limit) for c in chosen):.1f})" for n in names]
    print(f"| {title} | {len(chosen)} | " + " | ".join(cells) + " |")


def show_ratios(names, chosen):
    """How long the others take where they and the first both find a plan."""
    for other in names[1:]:
        both = [c for c in chosen if c[names[0]]["solved"] and c[other]["solved"]]
        # Below a hundredth of a second the kernel's count says little.
        ratios = [math.log(max(c[other]["cpu"], 0.01) / max(c[names[0]]["cpu"], 0.01)) for c in both]
        if ratios:
            print(f"- time of {other} / {names[0]}, geometric mean over the {len(both)} that both solve: "
                  f"{math.exp(sum(ratios) / len(ratios)):.3f}")


def show_medians(names, found):
    """CPU seconds in the paper's domains, files to plan."""
    print("\n| median CPU s, files to plan | " + " | ".join(names) + " |\n|---|" + "---:|" * len(names))
    for domain in sorted({p.split("/")[0] for p in found}):
        own = [c for p, c in found.items() if p.startswith(f"{domain}/")]
        print(f"| {domain} | " + " | ".join(f"{many.median([c[n]['cpu'] for c in own]):.3f}" for n in names) + " |")


def show_costs(names, problems):
    """Sum of cost ratios: the better plan over one's own."""
    sums, better = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0)
    for costs in ({n: r["plan_cost"] for n, r in found.items()} for found in problems):
        known = [c for c in costs.values() if c is not None]
        for name, cost in costs.items():
            if cost is not None:
                sums[name] += 1.0 if cost == min(known) else min(known) / cost
                better[name] += cost == min(known) and list(costs.values()).count(cost) == 1
    print("| after the limit | sum of cost ratios | strictly cheapest |\n|---|---:|---:|")
    for name in names:
        print(f"| {name} | {sums[name]:.1f} of {len(problems)} | {better[name]} |")


def main(words):
    parser = argparse.ArgumentParser(prog="planner.py", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, dest="part")
    for part, text in [("lama", "homing beside lama-first"), ("anytime", "homing --anytime beside lama"),
                       ("parts", "what each part of the search brings")]:
        one = commands.add_parser(part, help=text)
        one.add_argument("folders", nargs="*", type=Path, help="further folders of folders with problems")
        one.add_argument("--sets", nargs="*", choices=["benchmarks", "track", "paper"],
                         default=["benchmarks", "track", "paper"])
        one.add_argument("--shared", type=Path, default=HERE.parent.parent / "../shared", metavar="DIR",
                         help="folder with benchmarks/ and learning-track/ (default: ../shared)")
        one.add_argument("--paper", type=int, default=50, help="so many problems of each of the eight domains")
        one.add_argument("--most", type=int, default=0, help="so many problems of a domain, spread [all]")
        one.add_argument("--only", nargs="+", metavar="NAME", help="only these planners or parts")
        one.add_argument("--homing", type=Path, default=HERE.parent.parent / "target/release/homing")
        one.add_argument("--fast-downward", type=Path, metavar="DIR", help="a built one (default: that of the wheel)")
        one.add_argument("--revision", help="revision of homing, where there is no git to ask")
        one.add_argument("--seconds", type=int, default=60, help="CPU seconds a run; of the clock for anytime")
        one.add_argument("--memory", type=int, default=4096, help="MiB a run")
        one.add_argument("--jobs", type=int, default=1, help="runs at a time")
        one.add_argument("--budget", type=float, help="seconds, after which no run begins")
        one.add_argument("--validate", action="store_true", help="replay the peers' plans, too")
        one.add_argument("--out", type=Path, required=True, help="file of JSON lines")
    tables = commands.add_parser("tables", help="tables of a log, as Markdown")
    tables.add_argument("out", type=Path)
    tables.add_argument("--brief", action="store_true", help="without domains")
    options = parser.parse_args(words)
    if options.part == "tables":
        show(options.out, options.brief)
        return
    options.homing = options.homing.resolve()
    run(options)
