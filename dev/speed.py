#!/usr/bin/env python3
"""Compare what two builds of homing spend on the same searches: instructions and memory.

    dev/speed.py BEFORE AFTER [BENCHMARKS]

BEFORE and AFTER are release builds of the command. BENCHMARKS is the folder of competition problems,
`../shared/benchmarks` unless it is given. Instructions are those of the whole run, counted by
valgrind (callgrind): they do not depend on what else the machine does. The peak is the resident set
as the system tells it. Both must count the same evaluations, expansions and successors, or the
comparison ends with an error.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Name, problem, search, heuristic, the limit that ends it.
RUNS = [
    ("depot p04, GBFS h_FF", "depot/p04.pddl", "gbfs", "ff", "--max-evaluations=3000"),
    ("depot p07, GBFS h_FF", "depot/p07.pddl", "gbfs", "ff", "--max-evaluations=1000"),
    ("elevators-sat11 p04, GBFS h_FF", "elevators-sat11-strips/p04.pddl", "gbfs", "ff", "--max-evaluations=200"),
    ("pipesworld-notankage p22, GBFS h_FF", "pipesworld-notankage/p22-net3-b12-g4.pddl", "gbfs", "ff", "--max-evaluations=2000"),
    ("satellite p10, GBFS h_add", "satellite/p10-pfile10.pddl", "gbfs", "add", "--max-evaluations=3000"),
    ("rovers p28, A* h_add", "rovers/p28.pddl", "astar", "add", "--max-evaluations=1500"),
    ("logistics00, A* h_max", "logistics00/*3", "astar", "max", "--max-evaluations=5000"),
    ("blocks, GBFS blind", "blocks/*5", "gbfs", "blind", "--max-expansions=20000"),
    ("gripper, A* blind", "gripper/*3", "astar", "blind", "--max-expansions=20000"),
    ("satellite p16, grounding, 20 of h_add", "satellite/p16-pfile16.pddl", "gbfs", "add", "--max-evaluations=20"),
    ("parking-sat11, grounding", "parking-sat11-strips/*1", "gbfs", "blind", "--max-expansions=1"),
    ("zenotravel p16, grounding, h_FF", "zenotravel/p16.pddl", "gbfs", "ff", "--max-evaluations=1"),
    ("freecell p10, grounding, h_FF", "freecell/p10.pddl", "gbfs", "ff", "--max-evaluations=1"),
    ("tpp p19, grounding", "tpp/p19.pddl", "gbfs", "blind", "--max-expansions=1"),
]

# What is looked at for memory: enough states to see them.
MEMORY = [
    ("blocks, A* blind, 1,000,000 states", "blocks/*5", "astar", "blind", "--max-evaluations=1000000"),
    ("gripper, A* blind, 1,000,000 states", "gripper/*5", "astar", "blind", "--max-evaluations=1000000"),
    ("depot p16, GBFS h_FF", "depot/p16.pddl", "gbfs", "ff", "--max-evaluations=10000"),
    ("parking-sat11, GBFS h_FF", "parking-sat11-strips/*1", "gbfs", "ff", "--max-evaluations=100"),
    ("scanalyzer p28, grounding", "scanalyzer-08-strips/p28.pddl", "gbfs", "blind", "--max-expansions=1"),
]

COUNTS = ["outcome", "evaluations", "expansions", "generated", "plan_cost"]


def problem(benchmarks, path):
    """A path, where `folder/*3` is the third problem of a folder."""
    folder, name = path.split("/")
    if name.startswith("*"):
        problems = sorted(p for p in (benchmarks / folder).iterdir() if "domain" not in p.name)
        return problems[int(name[1:]) - 1]
    return benchmarks / folder / name


def command(program, benchmarks, run):
    _, path, search, heuristic, limit = run
    words = [program, "solve", "--json", f"--search={search}", f"--heuristic={heuristic}", limit]
    # An older command does not know the option.
    if "--improve" in subprocess.run([program, "solve", "--help"], capture_output=True, text=True).stdout:
        words += ["--improve=no"]
    return words + [str(problem(benchmarks, path))]


def instructions(words):
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        done = subprocess.run(valgrind + words, capture_output=True, text=True)
    counted = re.search(r"refs:\s+([\d,]+)", done.stderr)
    return int(counted[1].replace(",", "")), json.loads(done.stdout)


def peak(words):
    """Peak resident kilobytes, and the record."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(child.pid, 0)
        out.seek(0)
        return usage.ru_maxrss, json.loads(out.read())


def compared(programs, benchmarks, run, measure):
    """The measure of both programs on a run, and the second one's record."""
    values, records = zip(*(measure(command(p, benchmarks, run)) for p in programs))
    counts = [[record.get(name) for name in COUNTS] for record in records]
    if counts[0] != counts[1]:
        sys.exit(f"{run[0]}: not the same search: {counts}")
    return values, records[1]


def main():
    programs = sys.argv[1:3]
    benchmarks = Path(sys.argv[3] if len(sys.argv) > 3 else "../shared/benchmarks")
    print("| run | instructions before | after | ratio |\n|---|---:|---:|---:|")
    for run in RUNS:
        (before, after), _ = compared(programs, benchmarks, run, instructions)
        print(f"| {run[0]} | {before / 1e6:.1f} M | {after / 1e6:.1f} M | {after / before:.3f} |", flush=True)
    print("\n| run | bytes a state | peak before, MB | after |\n|---|---:|---:|---:|")
    for run in MEMORY:
        (before, after), record = compared(programs, benchmarks, run, peak)
        size = record["bytes_per_state"]
        print(f"| {run[0]} | {size} | {before / 1e3:.1f} | {after / 1e3:.1f} |", flush=True)


main()
