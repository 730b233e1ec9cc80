#!/usr/bin/env python3
"""The learning track's protocol: train on the smaller problems, solve the larger ones.

For each domain of TRACK (a folder with a folder for each domain: domain.pddl and problems) the
smaller two thirds of the problems are trained on, and the largest third and still larger ones
(larger.py) are solved within a limit of CPU time and memory, by

    homing      homing solve --model, with the model trained here
    auto        homing solve without a model: it learns from the problem at hand
    ff          homing solve --search gbfs --heuristic ff
    lama        Fast Downward's lama-first, where --fast-downward names its driver
    prototype   the prototype of the design notes (its example rank3), where --prototype names it: trained on the
                same problems; its limit is in seconds of the clock, and its time that of grounding and search

Results go to one JSON file after each run. Killed, or out of its wall-clock budget, it goes on
where it was when started again; what is there is not made again.

    dev/learning/run.py run TRACK RESULTS.json --homing target/release/homing \\
        --fast-downward .../fast-downward.py --jobs 8 --budget 3600
    dev/learning/run.py tables RESULTS.json [--into docs/results/learning.md]
"""

import argparse
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from many import execute, median, spread, thirds  # noqa: E402

SOLVERS = ("homing", "auto", "ff", "lama", "prototype")
NAMES = {"homing": "homing, trained", "auto": "homing, untrained", "ff": "h_FF, GBFS", "lama": "lama-first",
         "prototype": "prototype"}
SETS = {"third": "largest third", "larger": "larger"}
START, END = "<!-- tables: dev/learning/run.py -->", "<!-- end of tables -->"


def split(folder):
    """The smaller two thirds of the problems of a domain and the largest third, each in order."""
    return thirds([p for p in folder.glob("*.pddl") if not p.name.startswith("domain")])


class Results:
    """One JSON file, whole at any time."""

    def __init__(self, path, settings):
        self.path, self.lock = path, threading.Lock()
        self.data = {"settings": settings, "trainings": {}, "runs": {}}
        if path.exists():
            self.data = json.loads(path.read_text())
            there = self.data["settings"]
            if there != settings:
                changed = [k for k in settings if there.get(k) != settings[k]]
                sys.exit(f"{path} was made with other settings ({', '.join(changed)}): name another file")

    def put(self, part, key, value):
        with self.lock:
            self.data[part][key] = value
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(self.data, indent=1, sort_keys=True) + "\n")
            new.replace(self.path)


def train(options, results, domain, small, models):
    """Trains on the smaller problems; the model's path."""
    model = models / f"{domain}.safetensors"
    if domain in results.data["trainings"] and model.exists():
        return model
    command = [options.homing, "train", "--json", "--jobs", 1, "--seed", options.seed, "--out", model,
               small[0].with_name("domain.pddl"), *small]
    code, text, cost = execute(command, 3600, 65536, own_limits=True)
    record = json.loads(text.splitlines()[-1]) if code == 0 else None
    result = {"code": code, **cost, "problems": len(small)}
    if record:
        report = record["report"]
        result |= {"walked": report["data"]["walked"], "features": report["fit"]["features"],
                   "candidate": report["candidates"][report["chosen"]]["name"],
                   "solved": report["candidates"][report["chosen"]]["solved"], "held_out": report["held_out"],
                   "bytes": model.stat().st_size, "sha256": hashlib.sha256(model.read_bytes()).hexdigest()}
    results.put("trainings", domain, result)
    return model if record else None


def of_homing(options, solver, problem, model, plan):
    command = [options.homing, "solve", "--json", "--threads", 1, "--time-limit", 3 * options.seconds,
               "--memory-limit", f"{options.memory}M", "--plan-file", plan]
    if solver == "homing":
        command += ["--model", model]
    elif solver == "ff":
        command += ["--search", "gbfs", "--heuristic", "ff"]
    return [*command, problem.with_name("domain.pddl"), problem]


def solve(options, results, solver, where, domain, problem, model):
    key = f"{solver}/{where}/{domain}/{problem.name}"
    if key in results.data["runs"]:
        return
    if solver == "homing" and model is None:
        results.put("runs", key, {"solved": False, "code": None, "cpu": 0.0, "wall": 0.0, "memory_mb": 0})
        return
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan"
        if solver == "lama":
            command = [options.fast_downward, "--alias", "lama-first", "--overall-time-limit", f"{options.seconds}s",
                       "--overall-memory-limit", f"{options.memory}M", "--plan-file", plan,
                       problem.with_name("domain.pddl"), problem]
        else:
            command = of_homing(options, solver, problem, model, plan)
        code, text, cost = execute(command, options.seconds, options.memory, solver == "lama", folder)
        solved = plan.exists() and cost["cpu"] <= options.seconds
        steps = None
        if solved:
            # Whoever found it: a plan counts if it replays.
            valid = subprocess.run([options.homing, "validate", problem.with_name("domain.pddl"), problem, plan],
                                   capture_output=True, text=True, check=False)
            solved = valid.returncode == 0
            steps = sum(line.startswith("(") for line in plan.read_text().splitlines())
    result = {"solved": solved, "code": code, **cost, "steps": steps}
    if solver != "lama" and text.startswith("{"):
        record = json.loads(text)
        result |= {k: record[k] for k in ("evaluations", "expansions", "found_by") if k in record}
    results.put("runs", key, result)
    print(f"{key}: {'solved' if solved else 'not solved'}, {cost['cpu']:.1f} s", flush=True)


def by_prototype(options, results, domain, small, tests):
    """The prototype trains once and solves one problem after the other; a line tells of each."""
    tests = [(f"prototype/{where}/{domain}/{problem.name}", problem) for where, problem in tests]
    tests = [test for test in tests if test[0] not in results.data["runs"]]
    if not tests:
        return
    with tempfile.TemporaryDirectory() as folder:
        lists = [Path(folder) / "train.txt", Path(folder) / "test.txt"]
        for path, problems in zip(lists, (small, [problem for _, problem in tests])):
            path.write_text("".join(f"{problem}\n" for problem in problems))
        command = [options.prototype, small[0].with_name("domain.pddl"), *lists, "share=0.5,two=1"]
        limits = {"SECS": str(options.seconds), "GB": str(options.memory / 1024), "SPACE": "100000", "DEAD": "3"}
        # Its domain file is that of the training problems; the larger ones have a copy of it.
        process = subprocess.Popen(command, env=os.environ | limits, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   text=True)
        told = (line for line in process.stdout if "not loaded" in line or "(ground" in line)
        for (key, _), line in zip(tests, told):
            words = re.search(r" (ok|--) +([0-9.]+)s \(ground ([0-9.]+)\) len +([0-9]+)", line)
            result = {"solved": bool(words) and words[1] == "ok", "cpu": 0.0, "steps": None}
            if words:
                result |= {"cpu": float(words[2]) + float(words[3]), "steps": int(words[4])}
            results.put("runs", key, result)
            print(f"{key}: {'solved' if result['solved'] else 'not solved'}, {result['cpu']:.1f} s", flush=True)
        process.wait()


def run(options):
    track = options.track.resolve()
    options.homing = options.homing.resolve()
    for program in (options.homing, options.fast_downward, options.prototype):
        if program and not program.is_file():
            sys.exit(f"there is no {program}")
    settings = {"seconds": options.seconds, "memory_mb": options.memory, "seed": options.seed,
                "homing": subprocess.check_output([options.homing, "--version"], text=True).strip(),
                "homing_sha256": hashlib.sha256(options.homing.read_bytes()).hexdigest()}
    options.results.parent.mkdir(parents=True, exist_ok=True)
    results = Results(options.results, settings)
    work = options.results.resolve().with_suffix("")
    models, larger = work / "models", work / "larger"
    models.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, Path(__file__).with_name("larger.py"), track, larger,
                    "--problems", str(options.larger)], check=True)
    needs = {"lama": options.fast_downward, "prototype": options.prototype}
    solvers = [s for s in options.solvers if needs.get(s, True)]
    domains = options.domains or sorted(p.name for p in track.iterdir() if p.is_dir())
    end = time.monotonic() + options.budget
    left_out = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        parts = {domain: split(track / domain) for domain in domains}
        trained = {d: pool.submit(train, options, results, d, parts[d][0], models) for d in domains}
        tasks, beside = [], []
        for domain in domains:
            tests = [("third", p) for p in spread(parts[domain][1], options.third)]
            tests += [("larger", p) for p in sorted((larger / domain).glob("[0-9]*.pddl"))]
            for index, (where, problem) in enumerate(tests):
                # Round and round: whenever it ends, all domains and solvers are as far.
                tasks += [((index, solver, domain), (solver, where, domain, problem)) for solver in solvers
                          if solver != "prototype"]
            if "prototype" in solvers:
                beside.append(pool.submit(by_prototype, options, results, domain, parts[domain][0], tests))
        tasks.sort(key=lambda task: task[0])

        def one(task):
            nonlocal left_out
            solver, where, domain, problem = task
            if time.monotonic() > end:
                left_out += 1
                return
            solve(options, results, solver, where, domain, problem, trained[domain].result())

        for future in [*beside, *(pool.submit(one, task) for _, task in tasks)]:
            future.result()
    print(f"{len(results.data['runs'])} runs in {options.results}, {left_out} left for another time")


def table_of(data, where, domains, solvers):
    lines = [f"| solved, {SETS[where]} | problems | " + " | ".join(NAMES[s] for s in solvers) + " |",
             "|---|---:|" + "---:|" * len(solvers)]
    sums = {s: 0 for s in solvers}
    count = 0
    for domain in domains:
        runs = {s: {k.split("/")[3]: r for k, r in data["runs"].items()
                    if k.startswith(f"{s}/{where}/{domain}/")} for s in solvers}
        # Only problems that every solver has had.
        common = set.intersection(*(set(r) for r in runs.values()))
        if not common:
            continue
        count += len(common)
        cells = []
        for solver in solvers:
            times = [runs[solver][p]["cpu"] for p in common if runs[solver][p]["solved"]]
            sums[solver] += len(times)
            cells.append(f"{len(times)}" + (f" ({median(times):.1f} s)" if times else ""))
        lines.append(f"| {domain} | {len(common)} | " + " | ".join(cells) + " |")
    lines.append(f"| all | {count} | " + " | ".join(f"**{sums[s]}**" for s in solvers) + " |")
    return "\n".join(lines)


def tables(options):
    data = json.loads(options.results.read_text())
    domains = sorted(data["trainings"])
    solvers = [s for s in SOLVERS if any(k.startswith(s + "/") for k in data["runs"])]
    text = [f"{data['settings']['seconds']} CPU seconds and {data['settings']['memory_mb'] / 1024:.0f} GB a problem, files to"
            f" plan, one core each; in brackets the median of those solved. {data['settings']['homing']}.\n"]
    text += [table_of(data, where, domains, solvers) + "\n" for where in SETS]
    text.append("| trained | problems | walked through | features | candidate | held-out solved | CPU s | bytes |")
    text.append("|---|---:|---:|---:|---|---:|---:|---:|")
    for domain in domains:
        t = data["trainings"][domain]
        if "walked" not in t:
            text.append(f"| {domain} | {t['problems']} | - | - | failed | - | {t['cpu']:.1f} | - |")
            continue
        text.append(f"| {domain} | {t['problems']} | {t['walked']} | {t['features']} | {t['candidate']} |"
                    f" {t['solved']} of {t['held_out']} | {t['cpu']:.1f} | {t['bytes']} |")
    text = "\n".join(text) + "\n"
    if not options.into:
        print(text, end="")
        return
    page = options.into.read_text()
    before, rest = page.split(START, 1)
    after = rest.split(END, 1)[1]
    options.into.write_text(f"{before}{START}\n\n{text}\n{END}{after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser("run", help="train and solve")
    runs.add_argument("track", type=Path)
    runs.add_argument("results", type=Path, help="a JSON file; models go into a folder of its name")
    runs.add_argument("--homing", type=Path, default=Path("target/release/homing"))
    runs.add_argument("--fast-downward", type=Path, help="the driver; without it, no lama-first")
    runs.add_argument("--prototype", type=Path, help="the prototype's program; without it, none of its runs")
    runs.add_argument("--jobs", type=int, default=1, help="runs at a time")
    runs.add_argument("--budget", type=float, default=math.inf, help="seconds, after which no run begins")
    runs.add_argument("--seconds", type=int, default=60, help="CPU seconds a problem")
    runs.add_argument("--memory", type=int, default=4096, help="MiB a problem")
    runs.add_argument("--seed", type=int, default=0)
    runs.add_argument("--third", type=int, default=0, help="so many of the largest third [all]")
    runs.add_argument("--larger", type=int, default=9, help="so many larger problems a domain")
    runs.add_argument("--domains", nargs="+")
    runs.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    runs.set_defaults(act=run)
    shows = commands.add_parser("tables", help="tables of the results, as Markdown")
    shows.add_argument("results", type=Path)
    shows.add_argument("--into", type=Path, help="a page with marks, in place of standard output")
    shows.set_defaults(act=tables)
    options = parser.parse_args()
    for program in ("fast_downward", "prototype"):
        if getattr(options, program, None):
            setattr(options, program, getattr(options, program).resolve())
    options.act(options)


if __name__ == "__main__":
    main()
