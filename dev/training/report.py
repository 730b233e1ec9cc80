#!/usr/bin/env python3
"""Print the tables of docs/results/training.md from the records of `homing experiment`, fresh.sh and sweep.py.

    dev/training/report.py RESULTS         # of the folder that they write to
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


def rows(folder, plain, packed):
    """Records as they were written, or as they are packed beside the page. Runs that failed are named and left out."""
    plain, packed = folder / plain, folder / f"{packed}.jsonl.gz"
    if not plain.exists() and not packed.exists():
        return []
    with plain.open() if plain.exists() else gzip.open(packed, "rt") as file:
        found = [json.loads(line) for line in file]
    failed = [row["key"] for row in found if row.get("rc", 0) != 0 or row.get("outcome") == "failed"]
    if failed:
        print(f"{plain.name}: {len(failed)} runs failed: {', '.join(failed)}\n")
    for revision, machine in sorted({(row["revision"], row["machine"]) for row in found}):
        print(f"{plain.name}: revision {revision}, {machine}\n")
    return [row for row in found if row["key"] not in failed]


def summary(row):
    """Goals, CPU seconds, those of the network and of planning, and peak memory in MiB, of a record of either kind."""
    if "out" not in row:
        return row["goals"], row["cpu_seconds"], row["network_seconds"], row["planning_seconds"], (row["memory_bytes"] or 0) / 2**20
    goals, _, _, network, planning = SUMMARY.search(row["out"]).groups()
    return int(goals), row["cpu"], float(network), float(planning), row["rss_kb"] / 1024


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
    steps = {row["steps"] for row in records}
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
        network, planning = (sum(run[i] for run in every) / sum(run[1] for run in every) for i in (2, 3))
        memory = max(run[4] for run in every)
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
        print(f"| {name} | {count} | {' / '.join(str(len(runs[name, h])) for h in HEURISTICS)} | " + " | ".join(cells) + " |")


def domains(records):
    print("\n| domain | problems | objects | steps | CPU s | network | peak memory |\n|---|---|---|---:|---:|---:|---:|")
    for row in sorted(records, key=lambda row: row["domain"]):
        _, cpu, network, _, memory = summary(row)
        # Known to a tenth of a second.
        share = f"{min(1, network / row['wall']):.0%}" if row["wall"] >= 1 else "-"
        names = ", ".join(name.removesuffix(".pddl") for name in row["problems"])
        print(f"| {row['domain']} | {names} | {', '.join(map(str, row['objects']))} | {row['steps']} | {cpu:.1f} | {share} | {memory:.0f} MiB |")


def solved(records):
    runs = defaultdict(dict)
    sizes = defaultdict(set)
    learned_seeds = sorted({row["model"]["seed"] for row in records if row["model"]})
    for row in sorted(records, key=lambda row: row["domain"]):
        # Names begin with what the problem was drawn with: blocks, balls, places.
        size = int(row["problem"].partition("-")[0])
        name, seed = (f"H-{row['heuristic']}", row["model"]["seed"]) if row["model"] else (row["heuristic"], None)
        runs[row["domain"], size, row["problem"]][name, seed] = (row["outcome"] == "solved", row["evaluations"], row["cpu_seconds"])
        sizes[row["domain"]].add(size)
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
    print("\nMedians over the problems that both solve, base and learned (all seeds together): evaluations and CPU seconds of the process; and how often each needs fewer (a failure needs more than any success):\n")
    print("| domain | heuristic | both solve | evaluations: base | learned | learned fewer | base fewer | CPU s: base | learned | learned fewer | base fewer |\n|---|---|" + "---:|" * 9)
    for domain in sizes:
        for heuristic in HEURISTICS:
            # Evaluations, then CPU seconds: medians, and who needs fewer.
            both, cells = 0, []
            for measure, form in ((1, ",.0f"), (2, ".3f")):
                pairs, wins, losses = [], 0, 0
                for key in (key for key in runs if key[0] == domain):
                    base = runs[key].get((heuristic, None))
                    for learned in (runs[key].get((f"H-{heuristic}", seed)) for seed in learned_seeds):
                        if not base or not learned:
                            continue
                        ours, theirs = (run[measure] if run[0] else float("inf") for run in (learned, base))
                        wins, losses = wins + (ours < theirs), losses + (theirs < ours)
                        if base[0] and learned[0]:
                            pairs.append((theirs, ours))
                both = len(pairs)
                cells += [f"{statistics.median(side):{form}}" for side in zip(*pairs)] or ["-", "-"]
                cells += [str(wins), str(losses)]
            print(f"| {domain} | {heuristic} | {both} | " + " | ".join(cells) + " |")


def costs(records):
    """Microseconds of an evaluation, by size: medians of searches with at least 100."""
    names = [name for h in HEURISTICS for name in (h, f"H-{h}")]
    cost = defaultdict(list)
    for row in records:
        if row["evaluations"] >= 100:
            name = f"H-{row['heuristic']}" if row["model"] else row["heuristic"]
            cost[row["domain"], row["objects"], name].append(row["search_cpu_seconds"] / row["evaluations"] * 1e6)
    print("\n| domain | objects | " + " | ".join(names) + " |\n|---|---:|" + "---:|" * len(names))
    for domain, objects in sorted({key[:2] for key in cost}):
        medians = [statistics.median(cost[domain, objects, name]) if cost[domain, objects, name] else None for name in names]
        cells = ["-" if median is None else f"{median:.1f}" if median < 10 else f"{median:.0f}" for median in medians]
        print(f"| {domain} | {objects} | " + " | ".join(cells) + " |")


def evaluations(records):
    solved(records)
    costs(records)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/results")
    for table, plain, packed in (
        (training, "training.jsonl", "training"),
        (extra, "extra.jsonl", "training-extra"),
        (evaluations, "fresh/evaluations.jsonl", "training-evaluations"),
        (domains, "domains.jsonl", "training-domains"),
    ):
        records = rows(folder, plain, packed)
        if records:
            table(records)
            print()


if __name__ == "__main__":
    main()
