#!/usr/bin/env python3
"""The runs of docs/results/training.md that no experiment makes: other training sets, and the competition's domains.

    dev/training/sweep.py extra --out RESULTS     # other training sets, which explain differences to the paper
    dev/training/sweep.py domains --out RESULTS   # 200 steps with the reference network in every competition domain
    dev/training/sweep.py pack --out RESULTS      # all records of the page, packed, to docs/results
    dev/training/report.py RESULTS                # the tables

RESULTS may be the folder of the experiment that made the rest. One JSON line a run (extra.jsonl, domains.jsonl), with revision,
machine, CPU seconds and peak memory of the process. Killed and started again it does only what is missing. Needs Python 3.9
and the release binary, nothing else; `extra` reads problems of the field's generators and `domains` competition problems,
from folders that --instances and --benchmarks name.
"""

import argparse
import gzip
import json
import os
import platform
import queue
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

# As in the paper: four layers where memory was short.
LAYERS = {"logistics": "4", "satellite": "4"}
# Of 50 draws of the field's generator in visitall so many have every goal in reach (expected number, by 4,000 draws a setting).
REACHABLE = {(3, 0.5): 31, (3, 1.0): 25, (4, 0.5): 39, (4, 1.0): 34, (5, 0.5): 43, (5, 1.0): 40}
# Packed beside the page: the record files of a folder, and their names there.
PACKED = {"training.jsonl": "training", "fresh/evaluations.jsonl": "training-evaluations", "extra.jsonl": "training-extra", "domains.jsonl": "training-domains"}


def field(name):
    """The problems of the field's own generator, as a training set."""
    return lambda args: args.instances / name


def at_most(objects):
    """The problems of the suite with so many objects at the most."""
    return lambda problem: problem["objects"] <= objects


def reachable(problem):
    """As if unsolvable draws had been dropped where our generator draws again."""
    parameters = problem["parameters"]
    return problem["seed"] - 1_000_000 < REACHABLE[parameters["size"], parameters["ratio"]]


# Other training sets: name, domain, where the set comes from, further flags, and how many seeds for which heuristics.
EXTRA = [
    ("ferry, at most 7 objects", "ferry", at_most(7), [], {"blind": 5, "add": 5, "ff": 5}),
    ("blocks, the field's problems", "blocks", field("blocks"), [], {"blind": 5, "add": 5, "ff": 5}),
    ("satellite, at most 13 objects", "satellite", at_most(13), [], {"blind": 3, "add": 3, "ff": 3}),
    # The names of targets and observations are random: by names there are almost as many buckets as problems.
    ("satellite, at most 13 objects, buckets by object count", "satellite", at_most(13), ["--bucket-by", "object-count"],
     {"blind": 3, "add": 3, "ff": 3}),
    ("parking, the field's problems", "parking", field("parking"), [], {"blind": 3, "add": 2, "ff": 2}),
    ("logistics, at most 13 objects", "logistics", at_most(13), [], {"add": 2, "ff": 2}),
    ("visitall, unsolvable draws dropped", "visitall", reachable, [], {"ff": 2}),
]


def run(command, seconds):
    """Runs a command for at most so many seconds; None if it was cut off."""
    start = time.time()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    timer = threading.Timer(max(1, seconds), process.kill)
    timer.start()
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    code = os.waitstatus_to_exitcode(status)
    if code == -9:
        return None
    return {"rc": code, "out": out, "err": err[-300:], "cpu": usage.ru_utime + usage.ru_stime,
            "rss_kb": usage.ru_maxrss, "wall": time.time() - start}


def revision():
    """The revision of the sources beside this script; `+` behind one that was changed."""
    found = subprocess.run(["git", "describe", "--always", "--abbrev=7", "--dirty=+"], cwd=Path(__file__).parent, capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def machine():
    try:
        names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        names = []
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def work(jobs, path, args, deadline):
    done = {json.loads(line)["key"] for line in path.open()} if path.exists() else set()
    waiting = queue.Queue()
    for job in jobs:
        if job["key"] not in done:
            waiting.put(job)
    lock = threading.Lock()
    origin = {"revision": args.revision or revision(), "machine": machine(), "at_a_time": args.jobs}

    def loop():
        while deadline - time.time() > 5:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            result = run(job.pop("command"), deadline - time.time())
            if result is not None:
                # Where it was run is nobody's business.
                result["out"] = result["out"].replace(f"{args.out}{os.sep}", "")
                with lock, path.open("a") as file:
                    file.write(json.dumps({**job, **result, **origin}) + "\n")

    threads = [threading.Thread(target=loop) for _ in range(args.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{path}: {waiting.qsize()} jobs not begun")


def generate(homing, folder, *arguments):
    if not folder.is_dir():
        subprocess.run([homing, "generate", *arguments, "--out", folder], check=True, stdout=subprocess.DEVNULL)


def suite(args, domain):
    folder = args.out / f"train-{domain}"
    generate(args.homing, folder, "--suite", "paper-train", "--domain", domain)
    return folder / domain


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name)


def part_of_suite(args, name, domain, wanted):
    """A folder with those problems of the suite that are wanted."""
    whole = suite(args, domain)
    part = args.out / f"extra-{slug(name)}"
    if not part.is_dir():
        part.mkdir()
        shutil.copy(whole / "domain.pddl", part)
        for problem in json.loads((whole / "manifest.json").read_text())["problems"]:
            if wanted(problem):
                shutil.copy(whole / problem["file"], part)
    return part


def training(args, problems, domain, heuristic, seed, model):
    return [args.homing, "train", "--learner", "nlm", problems, "--preset", "reference", "--steps", str(args.steps),
            "--layers", LAYERS.get(domain, "5"), "--heuristic", heuristic, "--seed", str(seed), "--jobs", "1",
            "--no-log", "--checkpoint-every", "0", "--out", model]


def extra_jobs(args):
    (args.out / "models").mkdir(exist_ok=True)
    for name, domain, source, flags, runs in EXTRA:
        # A set of the field's is a folder; any other is a part of the suite.
        problems = source(args) if name.endswith("the field's problems") else part_of_suite(args, name, domain, source)
        if not problems.is_dir():
            print(f"{name}: left out, there is no {problems}")
            continue
        count = sum(file.name != "domain.pddl" for file in problems.glob("*.pddl"))
        for heuristic, seeds in runs.items():
            for seed in range(seeds):
                model = args.out / "models" / f"extra-{slug(name)}-{heuristic}-{seed}"
                yield {"key": f"{name}/{heuristic}/{seed}", "set": name, "problems": count, "domain": domain, "heuristic": heuristic,
                       "seed": seed, "steps": args.steps,
                       "command": [*training(args, problems, domain, heuristic, seed, model), *flags]}


def objects(homing, problem):
    """How many objects a problem has, and whether it can be solved as far as grounding knows."""
    said = subprocess.run([homing, "check", problem.with_name("domain.pddl"), problem], capture_output=True, text=True).stdout
    found = re.search(r"^ +objects +(\d+)", said, re.MULTILINE)
    return int(found[1]) if found and "ground task" in said else None


def domain_jobs(args):
    (args.out / "models").mkdir(exist_ok=True)
    jobs = []
    if not args.benchmarks.is_dir():
        print(f"domains: left out, there is no {args.benchmarks}")
        return jobs
    for folder in sorted(args.benchmarks.iterdir()):
        problems = [problem for problem in folder.glob("*.pddl") if not problem.name.startswith("domain")]
        # Few have few objects: the smallest files, then by objects.
        problems = sorted(problems, key=lambda problem: (problem.stat().st_size, problem.name))[:12]
        sizes = sorted((size, problem.name) for problem in problems if (size := objects(args.homing, problem)))
        # The second as well, where a network over its objects is cheap.
        chosen = sizes[:1] + [entry for entry in sizes[1:2] if entry[0] <= 30]
        model = args.out / "models" / f"domain-{folder.name}"
        jobs.append({"key": folder.name, "domain": folder.name, "problems": [name for _, name in chosen], "objects": [size for size, _ in chosen],
                     "steps": args.domain_steps,
                     "command": [args.homing, "train", "--learner", "nlm", "--preset", "reference", "--unit-cost", "false", "--heuristic", "add", "--steps", str(args.domain_steps),
                                 "--jobs", "1", "--no-log", "--checkpoint-every", "0", "--out", model,
                                 folder / "domain.pddl", *(folder / name for _, name in chosen)]})
    # The dear ones last.
    return sorted(jobs, key=lambda job: job["objects"][-1])


def order(record):
    return record["domain"], record.get("problem", ""), record.get("heuristic", ""), record["key"]


def pack(args):
    """The records as they stand beside the page; the same records give the same bytes."""
    for source, name in PACKED.items():
        records = args.out / source
        if records.exists():
            # Neighbours that are alike pack well.
            lines = sorted(records.read_text().splitlines(keepends=True), key=lambda line: order(json.loads(line)))
            target = args.to / f"{name}.jsonl.gz"
            target.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
            print(f"{target}: {len(lines)} records")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phase", choices=["extra", "domains", "pack"])
    parser.add_argument("--homing", default="target/release/homing", help="the binary (default: %(default)s)")
    parser.add_argument("--revision", help="what it was built from (default: the sources beside this script)")
    parser.add_argument("--out", type=Path, required=True, help="folder for problems, models and records")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time (default: all cores)")
    parser.add_argument("--steps", type=int, default=10_000, help="steps in the phase `extra` (default: %(default)s)")
    parser.add_argument("--domain-steps", type=int, default=200, help="steps in the phase `domains` (default: %(default)s)")
    parser.add_argument("--instances", type=Path, default=Path("../shared/instances"), help="problems of the field's generators (default: %(default)s)")
    parser.add_argument("--benchmarks", type=Path, default=Path("../shared/benchmarks"), help="competition problems (default: %(default)s)")
    parser.add_argument("--to", type=Path, default=Path("docs/results"), help="where `pack` puts the records (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so many seconds; what is done is kept")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.phase == "pack":
        return pack(args)
    deadline = time.time() + args.seconds
    jobs = {"extra": extra_jobs, "domains": domain_jobs}[args.phase](args)
    work(jobs, args.out / f"{args.phase}.jsonl", args, deadline)


if __name__ == "__main__":
    main()
