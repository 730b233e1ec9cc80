#!/usr/bin/env python3
"""What one child costs: its score by difference beside h_FF, in every domain there is.

    cargo build --release -p homing-learner --example children
    children.py FOLDER... [--problems 2] [--example target/release/examples/children]

FOLDER has a folder for each domain, with domain.pddl (or a domain file for each problem) and
problems; so many of each are taken, spread over their sizes. With `--named`, the five problems that
a million children a second are asked for are drawn first (blocks-50, ferry 30x30, logistics,
satellite, parking; needs dev/peers/problems.py and the domains of the paper under --shared). Prints a
table as Markdown. Weights are random: what a look-up costs does not depend on them.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / "peers"))
import many  # noqa: E402
import problems as drawn  # noqa: E402

LINE = re.compile(r"objects +(\d+) propositions +(\d+) colours +(\d+) \| by difference ([\d.]+) us a child "
                  r"\(counted as ([\d.]+)\), from scratch ([\d.]+), h_FF ([\d.]+)")
NAMED = [("blocks-50", "blocks", (50,)), ("ferry 30x30", "ferry", (30, 30)), ("logistics 8x8x8x8", "logistics", (8, 8, 8, 8)),
         ("satellite 8x8x8x8x8", "satellite", (8, 8, 8, 8, 8)), ("parking 25, 25 cars", "parking", (25, 25))]


def domain_of(problem):
    for name in (f"domain-{problem.name}", f"{problem.stem}-domain.pddl", "domain.pddl"):
        if problem.with_name(name).exists():
            return problem.with_name(name)
    return None


def in_folder(folder, count):
    """(name, domain, problem) of some problems of each domain of a folder."""
    for place in sorted(p for p in folder.iterdir() if p.is_dir()):
        files = [p for p in place.glob("*.pddl") if "domain" not in p.name and domain_of(p)]
        for problem in many.spread(many.by_size(files), count):
            yield f"{place.name} {problem.stem}", domain_of(problem), problem


def measure(example, seconds, name, domain, problem):
    try:
        done = subprocess.run([example, domain, problem], capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return name, None
    found = LINE.search(done.stdout)
    return name, [float(x) for x in found.groups()] if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--shared", type=Path, default=HERE.parent.parent / "../shared")
    parser.add_argument("--problems", type=int, default=2, help="so many of a domain, spread over the sizes")
    parser.add_argument("--example", type=Path, default=Path("target/release/examples/children"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one problem")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chosen = []
        if options.named:
            drawn.look_in(options.shared)
            for name, domain, size in NAMED:
                path = Path(folder) / f"{domain}.pddl"
                path.write_text(drawn.generate(domain, size, 1))
                chosen.append((name, drawn.INSTANCES / domain / "domain.pddl", path))
        for place in options.folders:
            chosen += in_folder(place, options.problems)
        with ThreadPoolExecutor(options.jobs) as pool:
            rows = list(pool.map(lambda item: measure(options.example, options.timeout, *item), chosen))
    print("| problem | objects | propositions | by difference, µs a child | children a second | from scratch, µs | h_FF, µs | "
          "h_FF / by difference |\n|---|---:|---:|---:|---:|---:|---:|---:|")
    missing, dearer = [], []
    for name, row in rows:
        if row is None:
            missing.append(name)
            continue
        objects, propositions, _, difference, _, scratch, ff = row
        print(f"| {name} | {objects:.0f} | {propositions:,.0f} | {difference:.3f} | {1e6 / difference:,.0f} | {scratch:.1f} | "
              f"{ff:.1f} | {ff / difference:,.0f} |")
        if difference >= ff:
            dearer.append(name)
    print(f"\n{len(rows) - len(missing)} problems measured; dearer than h_FF: {', '.join(dearer) or 'none'}; "
          f"not measured (no time, or not grounded): {', '.join(missing) or 'none'}.")


if __name__ == "__main__":
    main()
