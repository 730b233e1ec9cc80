#!/usr/bin/env python3
"""Write five problems of each of 29 domains of the planning competitions, always the same ones.

    draw.py OUT [--only REGEX]

OUT/<domain>/ receives domain.pddl and p01.pddl to p05.pddl; with --only the domains in whose names
the expression is found.
"""

import argparse
import random
import re
import shutil
from pathlib import Path

import grids
import making
import processes
import puzzles
import transport

MODULES = (grids, making, processes, puzzles, transport)


def text(name, domain, objects, init, goal, costs):
    """A problem in PDDL; objects of the type None are written without a type."""
    groups = "\n".join(f"    {' '.join(members)}{f' - {kind}' if kind else ''}"
                       for kind, members in objects)
    if costs:
        init = ["= (total-cost) 0", *init]
    facts = "\n".join(f"    ({fact})" for fact in init)
    goals = "\n".join(f"    ({fact})" for fact in goal)
    metric = "\n (:metric minimize (total-cost))" if costs else ""
    return (f"(define (problem {name})\n (:domain {domain})\n (:objects\n{groups})\n"
            f" (:init\n{facts})\n (:goal (and\n{goals})){metric})\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", metavar="REGEX", help="of the domains' names")
    options = parser.parse_args()
    domains = {name: row for module in MODULES for name, row in module.DOMAINS.items()}
    for domain, (make, seed, sizes) in sorted(domains.items()):
        if not re.search(options.only, domain):
            continue
        source = Path(__file__).parent / "domains" / f"{domain}.pddl"
        folder = options.out / domain
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, folder / "domain.pddl")
        header = source.read_text()
        own = header.split("(domain", 1)[1].split(")")[0].strip()
        for index, size in enumerate(sizes):
            problem = make(random.Random(seed + index), *size)
            name = f"p{index + 1:02}"
            (folder / f"{name}.pddl").write_text(
                text(f"{domain}-{name}", own, *problem, "(total-cost)" in header))


if __name__ == "__main__":
    main()
