"""What a report must say about the records of the tests, computed anew with NumPy and SciPy.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scipy==1.17.1
    /tmp/venv/bin/python dev/report/reference.py crates/lab/tests/report/records > crates/lab/tests/report/reference.json

Shares nothing with the report but the definitions in docs/report.md.
"""
import collections
import json
import pathlib
import sys

import numpy
import scipy.stats

NAMES = {"blocksworld-4ops": "blocks", "gripper-strips": "gripper"}


def load(name):
    path = pathlib.Path(sys.argv[1]) / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def standard_error(values):
    return float(scipy.stats.sem(values)) if len(values) > 1 else None


def counted(runs):
    """Of runs of the same on the same problem, one that ended by itself."""
    best = {}
    for run in runs:
        seed = run["model"]["seed"] if run["model"] else None
        place = (run["domain"], run["heuristic"], seed, run["problem"])
        decided = run["outcome"] in ("solved", "unsolvable", "limit")
        if place not in best or decided:
            best[place] = run
    return best


def main():
    best = counted(load("evaluations"))
    columns = collections.defaultdict(lambda: collections.defaultdict(dict))
    problems = collections.defaultdict(set)
    for (domain, heuristic, seed, problem), run in best.items():
        columns[domain, heuristic][seed][problem] = run
        problems[domain].add(problem)
    out = {"scipy": scipy.__version__, "coverage": {}, "wins": {}, "objects": {}, "time": {}, "goals": {}}
    for (domain, heuristic), by_seed in sorted(columns.items()):
        base = by_seed.pop(None)
        ranked = sorted(by_seed, key=lambda seed: (-len(by_seed[seed]), seed))
        choices = []
        for k in range(1, len(ranked) + 1):
            common = set(base).intersection(*(by_seed[seed] for seed in ranked[:k]))
            choices.append((len(common) * k, k, common))
        _, k, common = max(choices, key=lambda choice: choice[:2])
        seeds, common = sorted(ranked[:k]), sorted(common)
        name = f"{NAMES.get(domain, domain)}/{heuristic}"
        solved = lambda runs, among=common: sum(runs[p]["outcome"] == "solved" for p in among)
        counts = [solved(by_seed[seed]) for seed in seeds]
        h, n = solved(base), len(common)
        mean, error = float(numpy.mean(counts)), standard_error(counts)
        if min(h, mean) >= 0.9 * n:
            mark = "caution"
        elif error is not None and mean - h > error:
            mark = "better"
        elif error is not None and h - mean > error:
            mark = "worse"
        else:
            mark = ""
        short = lambda runs: sum(runs[p]["outcome"] in ("failed", "time-limit", "memory-limit") for p in common)
        there = len(base) + sum(map(len, by_seed.values()))
        out["coverage"][name] = {
            "problems": n, "base_solved": h, "seeds": k, "mean_solved": mean, "standard_error": error,
            "best_solved": max(counts), "best_seed": seeds[int(numpy.argmax(counts))], "mark": mark,
            "base_stopped_short": short(base), "learned_stopped_short": sum(short(by_seed[s]) for s in seeds),
            "missing_runs": len(problems[domain]) * (1 + len(by_seed)) - there,
        }
        cost = lambda run, failed: run["evaluations"] if run["outcome"] == "solved" else failed
        limit = base[common[0]]["max_evaluations"]
        sums = [sum(cost(by_seed[seed][p], limit) for p in common) for seed in seeds]
        def wins(seed):
            ours = numpy.array([cost(by_seed[seed][p], numpy.inf) for p in common])
            theirs = numpy.array([cost(base[p], numpy.inf) for p in common])
            return int((ours < theirs).sum()), int((theirs < ours).sum())
        champion = seeds[int(numpy.argmin(sums))]
        every = numpy.mean([wins(seed) for seed in seeds], axis=0)
        out["wins"][name] = {
            "best_seed": champion, "learned_wins": wins(champion)[0], "base_wins": wins(champion)[1],
            "mean_learned_wins": float(every[0]), "mean_base_wins": float(every[1]),
        }
        sizes = collections.defaultdict(list)
        everything = {p: run["objects"] for (d, _, _, p), run in best.items() if d == domain}
        different = sorted(set(everything.values()))
        width = -(-(different[-1] - different[0] + 1) // 10)
        for p in common:
            size = everything[p]
            if len(different) > 16:
                size = different[0] + (size - different[0]) // width * width
            sizes[size].append(p)
        out["objects"][name] = {}
        for size, here in sorted(sizes.items()):
            each = [solved(by_seed[seed], here) for seed in seeds]
            out["objects"][name][size] = {
                "problems": len(here), "base_solved": solved(base, here), "learned_least": min(each),
                "learned_mean": float(numpy.mean(each)), "learned_most": max(each),
            }
        both = [(base[p]["cpu_seconds"], by_seed[s][p]["cpu_seconds"]) for s in seeds for p in common
                if base[p]["outcome"] == by_seed[s][p]["outcome"] == "solved"]
        total = lambda runs, field: sum(run[field] for run in runs)
        h_runs = [base[p] for p in common]
        our_runs = [by_seed[s][p] for s in seeds for p in common]
        medians = numpy.median(both, axis=0).tolist() if both else [None, None]
        out["time"][name] = {
            "pairs_both_solved": len(both),
            "base_median_cpu_seconds": medians[0], "learned_median_cpu_seconds": medians[1],
            "base_evaluations_per_second": total(h_runs, "evaluations") / total(h_runs, "search_cpu_seconds"),
            "learned_evaluations_per_second": total(our_runs, "evaluations") / total(our_runs, "search_cpu_seconds"),
        }
    goals = collections.defaultdict(dict)
    seconds = collections.defaultdict(list)
    for run in sorted(load("training"), key=lambda run: run["seed"]):
        goals[run["domain"]].setdefault(run["heuristic"], []).append(run["goals"])
    for domain, row in goals.items():
        top = max(row, key=lambda heuristic: numpy.mean(row[heuristic]))
        for heuristic, values in row.items():
            p = method = None
            if heuristic != top:
                pooled = values + row[top]
                method = "exact" if len(set(pooled)) == len(pooled) else "asymptotic"
                p = float(scipy.stats.mannwhitneyu(values, row[top], method=method).pvalue)
            out["goals"][f"{NAMES.get(domain, domain)}/{heuristic}"] = {
                "seeds": len(values), "mean_goals": float(numpy.mean(values)),
                "standard_deviation": float(numpy.std(values, ddof=1)) if len(values) > 1 else None,
                "best": p is None or p >= 0.05, "p_against_best": p, "test": method,
            }
    json.dump(out, sys.stdout, indent=1, sort_keys=True)
    print()


main()
