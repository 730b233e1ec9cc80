#!/usr/bin/env python3
"""Print the tables of docs/results/training.md from the records of sweep.py.

    dev/training/report.py RESULTS/train.jsonl RESULTS/eval.jsonl
"""

import json
import re
import statistics
import sys
from collections import defaultdict

# The paper's table of goals reached in training: mean and standard deviation over 20 seeds.
PAPER = {
    "blocks": ((362, 42), (527, 58), (621, 31)), "ferry": ((516, 52), (976, 19), (949, 21)),
    "gripper": ((275, 33), (673, 18), (600, 20)), "logistics": ((93, 21), (502, 33), (488, 32)),
    "miconic": ((542, 18), (708, 9), (722, 9)), "parking": ((400, 51), (809, 24), (814, 27)),
    "satellite": ((212, 37), (658, 34), (654, 26)), "visitall": ((211, 22), (198, 20), (350, 17)),
}
HEURISTICS = ("blind", "add", "ff")
SUMMARY = re.compile(r"(\d+) goals in (\d+) episodes, loss ([\d.]+), network ([\d.]+) s, planning ([\d.]+) s")


def rows(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def training(path):
    runs = defaultdict(list)
    for row in rows(path):
        goals, _, _, network, planning = SUMMARY.search(row["out"]).groups()
        runs[row["domain"], row["heuristic"]].append((int(goals), row["cpu"], float(network), float(planning), row["rss_kb"], row["wall"]))
    print("| domain | blind | paper | add | paper | FF | paper |\n|---|---:|---:|---:|---:|---:|---:|")
    for domain, paper in PAPER.items():
        cells = []
        for heuristic, (mean, spread) in zip(HEURISTICS, paper):
            goals = [run[0] for run in runs[domain, heuristic]]
            ours, deviation = statistics.mean(goals), statistics.stdev(goals)
            mark = "**" if abs(ours - mean) > spread + deviation else ""
            cells += [f"{mark}{ours:.0f} ± {deviation:.0f}{mark}", f"{mean} ± {spread}"]
        print(f"| {domain} | " + " | ".join(cells) + " |")
    print("\n| domain | CPU s per 1,000 steps: blind | add | FF | network | planning | rest | peak memory |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for domain in PAPER:
        cells = [f"{statistics.mean(run[1] for run in runs[domain, h]) / 10:.2f}" for h in HEURISTICS]
        every = [run for h in HEURISTICS for run in runs[domain, h]]
        wall = sum(run[5] for run in every)
        network, planning = (sum(run[i] for run in every) / wall for i in (2, 3))
        memory = max(run[4] for run in every) / 1024
        print(f"| {domain} | " + " | ".join(cells) + f" | {network:.0%} | {planning:.0%} | {1 - network - planning:.0%} | {memory:.0f} MiB |")


def evaluation(path):
    runs = defaultdict(dict)
    sizes = defaultdict(set)
    for row in rows(path):
        found = json.loads(row["out"])
        key = row["domain"], row["size"], row["problem"]
        runs[key][row["heuristic"], row["seed"]] = (found["outcome"] == "solved", found["evaluations"], row["cpu"])
        sizes[row["domain"]].add(row["size"])
    print("\n| domain | size | problems | " + " | ".join(f"{h} | H-{h} (seeds)" for h in HEURISTICS) + " |\n|---|---:|---:|" + "---:|" * 6)
    for domain in sizes:
        totals = defaultdict(lambda: [0, 0])
        for size in [*sorted(sizes[domain]), None]:
            keys = [key for key in runs if key[0] == domain and size in (None, key[1])]
            cells = []
            for heuristic in HEURISTICS:
                for name, seeds in ((heuristic, [None]), (f"H-{heuristic}", [0, 1, 2])):
                    counts = []
                    for seed in seeds:
                        results = [runs[key].get((name, seed)) for key in keys]
                        known = [r for r in results if r]
                        counts.append(f"{sum(r[0] for r in known)}" + ("" if len(known) == len(results) else f" of {len(known)}") if known else "-")
                    cells.append(" / ".join(counts))
            print(f"| {domain} | {size or 'all'} | {len(keys)} | " + " | ".join(cells) + " |")
    print("\nMedians over the problems that both solve, base and learned (all seeds together): evaluations and CPU seconds of the process; and how often each needs fewer evaluations (a failure needs more than any success):\n")
    print("| domain | heuristic | both solve | base | learned | base, CPU s | learned, CPU s | learned fewer | base fewer |\n|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for domain in sizes:
        for heuristic in HEURISTICS:
            pairs, wins, losses = [], 0, 0
            for key in (key for key in runs if key[0] == domain):
                base = runs[key].get((heuristic, None))
                for seed in range(3):
                    learned = runs[key].get((f"H-{heuristic}", seed))
                    if not base or not learned or not (base[0] or learned[0]):
                        continue
                    if base[0] and learned[0]:
                        pairs.append((base[1], learned[1], base[2], learned[2]))
                    better = learned[0] and (not base[0] or learned[1] < base[1])
                    worse = base[0] and (not learned[0] or base[1] < learned[1])
                    wins, losses = wins + better, losses + worse
            if pairs or wins or losses:
                sides = [statistics.median(side) for side in zip(*pairs)]
                medians = [f"{sides[0]:,.0f}", f"{sides[1]:,.0f}", f"{sides[2]:.3f}", f"{sides[3]:.3f}"] if pairs else ["-"] * 4
                print(f"| {domain} | {heuristic} | {len(pairs)} | " + " | ".join(medians) + f" | {wins} | {losses} |")


training(sys.argv[1])
evaluation(sys.argv[2])
