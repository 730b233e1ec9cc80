#!/usr/bin/env python3
"""Print the tables of docs/results/training.md from the records of sweep.py.

    dev/training/report.py RESULTS         # of a folder that sweep.py writes
    dev/training/report.py docs/results    # of the records beside the page
"""

import gzip
import json
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path

# The paper's table of goals reached in training: mean and standard deviation over 20 seeds.
PAPER = {
    "blocks": ((362, 42), (527, 58), (621, 31)), "ferry": ((516, 52), (976, 19), (949, 21)),
    "gripper": ((275, 33), (673, 18), (600, 20)), "logistics": ((93, 21), (502, 33), (488, 32)),
    "miconic": ((542, 18), (708, 9), (722, 9)), "parking": ((400, 51), (809, 24), (814, 27)),
    "satellite": ((212, 37), (658, 34), (654, 26)), "visitall": ((211, 22), (198, 20), (350, 17)),
}
HEURISTICS = ("blind", "add", "ff")
SUMMARY = re.compile(r"(\d+) goals in (\d+) episodes, loss ([\d.]+), network ([\d.]+) s, planning ([\d.]+) s")


PHASES = {"train": "goals", "extra": "extra", "eval": "eval", "domains": "domains"}


def rows(folder, phase):
    """The records of a phase: as sweep.py writes them, or as it packs them."""
    plain, packed = folder / f"{phase}.jsonl", folder / f"training-{PHASES[phase]}.jsonl.gz"
    if not plain.exists() and not packed.exists():
        return []
    with plain.open() if plain.exists() else gzip.open(packed, "rt") as file:
        found = [json.loads(line) for line in file]
    failed = [row["key"] for row in found if row["rc"] != 0 and not (phase == "eval" and row["out"])]
    if failed:
        print(f"{phase}: {len(failed)} runs failed: {', '.join(failed)}\n")
    origins = {(row.get("revision"), row.get("machine"), row.get("at_a_time")) for row in found}
    for revision, machine, at_a_time in sorted((origin for origin in origins if all(origin)), key=str):
        print(f"{phase}: revision {revision}, {machine}, {at_a_time} runs at a time\n")
    return [row for row in found if row["key"] not in failed]


def summary(row):
    goals, _, _, network, planning = SUMMARY.search(row["out"]).groups()
    return int(goals), row["cpu"], float(network), float(planning), row["rss_kb"], row["wall"]


def goals_cell(runs, paper, steps):
    """Mean and deviation beside the paper's; bold: further apart than the two deviations together."""
    if not runs:
        return ["-", f"{paper[0]} ± {paper[1]}"]
    goals = [run[0] for run in runs]
    ours, deviation = statistics.mean(goals), statistics.stdev(goals) if len(goals) > 1 else 0
    mark = "**" if steps == {10_000} and abs(ours - paper[0]) > paper[1] + deviation else ""
    return [f"{mark}{ours:.0f} ± {deviation:.0f}{mark}", f"{paper[0]} ± {paper[1]}"]


def training(records):
    runs = defaultdict(list)
    for row in records:
        runs[row["domain"], row["heuristic"]].append(summary(row))
    steps = {row.get("steps", 10_000) for row in records}
    print("| domain | blind | paper | add | paper | FF | paper |\n|---|---:|---:|---:|---:|---:|---:|")
    for domain, paper in PAPER.items():
        cells = [cell for h, theirs in zip(HEURISTICS, paper) for cell in goals_cell(runs[domain, h], theirs, steps)]
        print(f"| {domain} | " + " | ".join(cells) + " |")
    print("\n| domain | CPU s per 1,000 steps: blind | add | FF | network | planning | rest | peak memory |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    for domain in PAPER:
        every = [run for h in HEURISTICS for run in runs[domain, h]]
        if not every:
            continue
        thousands = max(steps) / 1000
        cells = [f"{statistics.mean(run[1] for run in runs[domain, h]) / thousands:.2f}" if runs[domain, h] else "-" for h in HEURISTICS]
        wall = sum(run[5] for run in every)
        network, planning = (sum(run[i] for run in every) / wall for i in (2, 3))
        memory = max(run[4] for run in every) / 1024
        print(f"| {domain} | " + " | ".join(cells) + f" | {network:.0%} | {planning:.0%} | {1 - network - planning:.0%} | {memory:.0f} MiB |")


def extra(records):
    runs, problems = defaultdict(list), {}
    for row in records:
        runs[row["set"], row["heuristic"]].append(summary(row))
        problems[row["set"]] = row["problems"], row["domain"]
    steps = {row["steps"] for row in records}
    print("\n| trained on | problems | seeds | blind | paper | add | paper | FF | paper |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, (count, domain) in sorted(problems.items()):
        cells = [cell for h, theirs in zip(HEURISTICS, PAPER[domain]) for cell in goals_cell(runs[name, h], theirs, steps)]
        print(f"| {name} | {count} | {max(len(runs[name, h]) for h in HEURISTICS)} | " + " | ".join(cells) + " |")


def domains(records):
    print("\n| domain | problems | objects | steps | CPU s | network | peak memory |\n|---|---|---|---:|---:|---:|---:|")
    for row in sorted(records, key=lambda row: row["domain"]):
        _, cpu, network, _, memory, wall = summary(row)
        names = ", ".join(name.removesuffix(".pddl") for name in row["problems"])
        print(f"| {row['domain']} | {names} | {', '.join(map(str, row['objects']))} | {row['steps']} | {cpu:.1f} | {network / wall:.0%} | {memory / 1024:.0f} MiB |")


def evaluation(records):
    runs = defaultdict(dict)
    sizes = defaultdict(set)
    learned_seeds = sorted({row["seed"] for row in records if row["seed"] is not None})
    for row in records:
        found = json.loads(row["out"])
        key = row["domain"], row["size"], row["problem"]
        runs[key][row["heuristic"], row["seed"]] = (found["outcome"] == "solved", found["evaluations"], row["cpu"])
        sizes[row["domain"]].add(row["size"])
    print("\n| domain | size | problems | " + " | ".join(f"{h} | H-{h} (seeds)" for h in HEURISTICS) + " |\n|---|---:|---:|" + "---:|" * 6)
    for domain in sizes:
        for size in [*sorted(sizes[domain]), None]:
            keys = [key for key in runs if key[0] == domain and size in (None, key[1])]
            cells = []
            for heuristic in HEURISTICS:
                for name, seeds in ((heuristic, [None]), (f"H-{heuristic}", learned_seeds)):
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
                for seed in learned_seeds:
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


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/results")
    for phase, table in (("train", training), ("extra", extra), ("eval", evaluation), ("domains", domains)):
        records = rows(folder, phase)
        if records:
            table(records)
            print()


if __name__ == "__main__":
    main()
