#!/usr/bin/env python3
"""Markdown tables of a report beside the paper's: coverage and wins, heuristic by heuristic.

    dev/report/beside_paper.py DIR/report [DIR2/report ...] > tables.md

Reads coverage.csv and wins.csv of `homing report`. Of several reports, a later one's rows replace those of the same domain
and heuristic. Rates agree if they differ by no more than two standard errors of the
difference: that of drawing problems (both sides), and, for learned heuristics, that of the seeds (both sides).
"""

import csv
import math
import sys
from pathlib import Path

NAMES = {"blind": "blind", "add": "h_add", "ff": "h_FF"}


def rows(folders, name):
    found = {}
    for folder in folders:
        with (folder / name).open() as file:
            for row in csv.DictReader(file):
                found[(row["domain"], row["heuristic"])] = row
    return list(found.values())


def number(text):
    return float(text) if text else None


def sampling_error(ours, n, paper, m):
    """Standard error of the difference of two rates, if the true ones are equal."""
    pooled = (ours * n + paper * m) / (n + m)
    return math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))


def percent(rate):
    return f"{100 * rate:.0f} %"


def coverage(folders):
    agree = {"base": 0, "learned": 0}
    total = 0
    for heuristic, name in NAMES.items():
        print(f"\n**{name}**\n")
        print("| domain | problems | seeds | h, ours | h, paper | | H, ours (± s.e. over seeds; best) | H, paper | |")
        print("|---|---:|---:|---:|---:|---|---:|---:|---|")
        for row in rows(folders, "coverage.csv"):
            if row["heuristic"] != heuristic:
                continue
            n, m = int(row["problems"]), int(row["paper_problems"])
            total += 1
            base, paper_base = float(row["base_solved"]) / n, float(row["paper_base"]) / m
            base_agrees = abs(base - paper_base) <= 2 * sampling_error(base, n, paper_base, m) + 1e-12
            mean = float(row["mean_solved"]) / n
            error = (number(row["standard_error"]) or 0) / n
            paper_mean = float(row["paper_mean"]) / m
            paper_error = float(row["paper_standard_error"]) / m
            spread = math.sqrt(sampling_error(mean, n, paper_mean, m) ** 2 + error**2 + paper_error**2)
            learned_agrees = abs(mean - paper_mean) <= 2 * spread + 1e-12
            agree["base"] += base_agrees
            agree["learned"] += learned_agrees
            print(f"| {row['domain']} | {n} | {row['seeds']} | {percent(base)} | {percent(paper_base)} | {'' if base_agrees else '**differs**'} "
                  f"| {percent(mean)} ± {100 * error:.0f} ({percent(float(row['best_solved']) / n)}) "
                  f"| {percent(paper_mean)} ± {100 * paper_error:.1f} ({percent(float(row['paper_best']) / m)}) "
                  f"| {'' if learned_agrees else '**differs**'} |")
    print(f"\n{agree['base']} of {total} rates of the bases agree, {agree['learned']} of {total} of the learned ones.")


def wins(folders):
    print("\n| domain | | " + " | ".join(f"H, {name} | {name}" for name in NAMES.values()) + " |")
    print("|---|---|" + "---:|" * 6)
    table = {(row["domain"], row["heuristic"]): row for row in rows(folders, "wins.csv")}
    for domain in sorted({domain for domain, _ in table}):
        for who, learned, base, of in (("ours", "learned_wins", "base_wins", "problems"), ("paper", "paper_learned_wins", "paper_base_wins", None)):
            cells = []
            for heuristic in NAMES:
                row = table[(domain, heuristic)]
                n = int(row["problems"]) if of else PAPER_TOTALS[domain]
                cells += [percent(int(row[learned]) / n), percent(int(row[base]) / n)]
            print(f"| {domain if who == 'ours' else ''} | {who} | " + " | ".join(cells) + " |")


PAPER_TOTALS = {}

if __name__ == "__main__":
    folders = [Path(name) for name in sys.argv[1:]]
    for row in rows(folders, "coverage.csv"):
        PAPER_TOTALS[row["domain"]] = int(row["paper_problems"])
    coverage(folders)
    wins(folders)
