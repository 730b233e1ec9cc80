#!/usr/bin/env python3
"""How homing's costs grow with the size of a problem.

Takes each of the eight domains through its generator's range, from toys past
the largest test sizes of the paper, and measures two things against the number
of ground actions: CPU seconds from files to a task ready for search, and
microseconds per evaluation of h_FF (the whole search loop of A* around it).
Writes the numbers as JSON and a log-log plot as SVG, and prints the exponents.
Needs nothing but homing and Python.
"""

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import planner  # noqa: E402
import problems  # noqa: E402
import runs as single  # noqa: E402

# domain -> sizes, in the words of the generators; past the paper's largest test sizes
SIZES = {
    "blocks": [(n,) for n in (4, 6, 10, 15, 20, 30, 40, 50, 75, 100, 150)],
    "ferry": [(n, n) for n in (2, 4, 7, 10, 15, 20, 30, 45, 60, 100)],
    "gripper": [(n,) for n in (4, 10, 20, 40, 60, 100, 200, 400, 1000, 2500)],
    "logistics": [(n,) * 4 for n in (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)],
    "miconic": [(n, n) for n in (3, 5, 10, 20, 30, 50, 80, 120, 200)],
    "parking": [(n, n) for n in (3, 4, 6, 8, 10, 15, 20, 25, 32, 40)],
    "satellite": [(n,) * 5 for n in (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)],
    "visitall": [(n,) for n in (3, 4, 5, 6, 8, 12, 20, 30, 40, 60, 90)],
}

SEARCH = 0.3  # CPU seconds that a measured search shall take
FITTED = 4  # the largest sizes, which the exponents are fitted to
PANELS = [
    ("ready", "files to ready task, CPU seconds"),
    ("evaluation", "one evaluation of h_FF, microseconds"),
]


def measure(homing, domain, problem, repeats):
    """Ground actions, seconds to a ready task, microseconds per evaluation; the best of some runs."""
    def run(evaluations):
        options = ["--search", "astar", "--heuristic", "ff", "--max-evaluations", evaluations]
        return single.homing_search(homing, domain, problem, options)

    first = run(500)
    rate = first["evaluations"] / max(first["search"], 1e-5)
    evaluations = max(500, int(rate * SEARCH))
    runs = [run(evaluations) for _ in range(repeats)]
    times = [1e6 * r["search"] / r["evaluations"] for r in runs]
    ready = [r["ready"] for r in (first, *runs)]
    return {
        "actions": first["actions"],
        "ready": min(ready),
        "ready_spread": max(ready) / min(ready) - 1,
        "evaluation": min(times),
        "evaluation_spread": max(times) / min(times) - 1,
        "evaluations": runs[0]["evaluations"],
        "state_bytes": first["state_bytes"],
    }


def exponent(points, key):
    """Slope of a straight line through the largest points, both axes logarithmic.

    The smaller ones show what does not grow: starting a process, opening files.
    """
    upper = points[-FITTED:]
    xs = [math.log(p["actions"]) for p in upper]
    ys = [math.log(p[key]) for p in upper]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((a - x) ** 2 for a in xs)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / spread if spread else None


# Mid tones that stand out from white and from near black; a shape each for those who tell few colours apart.
COLOURS = ["#3b82d0", "#d9772b", "#2f9e62", "#c94f4f", "#8b6fd1", "#a07a52", "#d061a8", "#3aa3ad"]
SHAPES = ["circle", "square", "triangle", "diamond", "down", "circle", "square", "triangle"]
STYLE = """
    .ground { fill: #ffffff; } .ink { fill: #24292f; } .soft { fill: #57606a; }
    .axis { stroke: #57606a; stroke-width: 1; fill: none; } .grid { stroke: #d8dee4; stroke-width: 1; }
    .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
    text { font-family: system-ui, "DejaVu Sans", Helvetica, Arial, sans-serif; font-size: 12px; }
    .title { font-size: 14px; font-weight: 600; }
    @media (prefers-color-scheme: dark) {
      .ground { fill: #0d1117; } .ink { fill: #e6edf3; } .soft { fill: #9da7b3; }
      .axis { stroke: #9da7b3; } .grid { stroke: #2b323b; }
    }
"""


def marker(shape, hollow, x, y, colour):
    r = 3.6
    fill = f'class="ground" stroke="{colour}" stroke-width="1.6"' if hollow else f'fill="{colour}"'
    corners = {
        "square": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        "triangle": [(0, -1.2), (1.15, 0.9), (-1.15, 0.9)],
        "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
        "down": [(0, 1.2), (1.15, -0.9), (-1.15, -0.9)],
    }.get(shape)
    if corners is None:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" {fill}/>'
    points = " ".join(f"{x + r * a:.1f},{y + r * b:.1f}" for a, b in corners)
    return f'<polygon points="{points}" {fill}/>'


def power(value):
    """A power of ten as people write it."""
    names = {-3: "0.001", -2: "0.01", -1: "0.1"}
    if value in names:
        return names[value]
    return f"{10 ** value:,}" if 0 <= value <= 5 else f"10^{value}"


def plot(document):
    """Two panels with common horizontal axis and a legend with the exponents."""
    series = document["series"]
    width, height, top, bottom = 1120, 480, 52, 60
    panel, gap, left = 380, 76, 66
    everything = [p for points in series.values() for p in points]
    low = math.floor(math.log10(min(p["actions"] for p in everything)))
    high = math.log10(max(p["actions"] for p in everything)) + 0.08
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             f'role="img" aria-label="Cost against the number of ground actions, by domain">',
             f"<style>{STYLE}</style>", f'<rect class="ground" width="{width}" height="{height}"/>']
    floor = height - bottom
    for number, (key, title) in enumerate(PANELS):
        x0 = left + number * (panel + gap)
        values = [math.log10(p[key]) for p in everything]
        y_low, y_high = min(values) - 0.12, max(values) + 0.12

        def place(actions, value):
            x = x0 + panel * (math.log10(actions) - low) / (high - low)
            y = floor - (floor - top) * (math.log10(value) - y_low) / (y_high - y_low)
            return x, y

        parts.append(f'<text class="ink title" x="{x0}" y="{top - 22}">{title}</text>')
        for decade in range(low, math.floor(high) + 1):
            x, _ = place(10 ** decade, 10 ** y_low)
            parts.append(f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{floor}"/>')
            parts.append(f'<text class="soft" x="{x:.1f}" y="{floor + 20}" text-anchor="middle">{power(decade)}</text>')
        for decade in range(math.ceil(y_low), math.floor(y_high) + 1):
            _, y = place(10 ** low, 10 ** decade)
            parts.append(f'<line class="grid" x1="{x0}" y1="{y:.1f}" x2="{x0 + panel}" y2="{y:.1f}"/>')
            parts.append(f'<text class="soft" x="{x0 - 8}" y="{y + 4:.1f}" text-anchor="end">{power(decade)}</text>')
        parts.append(f'<path class="axis" d="M{x0},{top} V{floor} H{x0 + panel}"/>')
        parts.append(f'<text class="soft" x="{x0 + panel / 2}" y="{floor + 42}" text-anchor="middle">ground actions</text>')
        # what growth in proportion looks like, below the large points
        end = max(p["actions"] for p in everything)
        begin = end / 40
        slope = 0.5 * min(p[key] / p["actions"] for p in everything if p["actions"] >= begin)
        (xa, ya), (xb, yb) = (place(n, slope * n) for n in (begin, end))
        parts.append(f'<line class="axis" stroke-dasharray="4 4" x1="{xa:.1f}" y1="{ya:.1f}" x2="{xb:.1f}" y2="{yb:.1f}"/>')
        parts.append(f'<text class="soft" x="{(xa + xb) / 2 + 8:.1f}" y="{(ya + yb) / 2 + 14:.1f}">exponent 1</text>')
        for index, points in enumerate(series.values()):
            places = [place(p["actions"], p[key]) for p in points]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            parts.append(f'<polyline class="line" stroke="{COLOURS[index]}" points="{path}"/>')
            parts += [marker(SHAPES[index], index > 4, x, y, COLOURS[index]) for x, y in places]
    x = left + 2 * panel + gap + 28
    parts.append(f'<text class="ink title" x="{x}" y="{top - 22}">exponents</text>')
    parts.append(f'<text class="soft" x="{x + 116}" y="{top}" text-anchor="end">files</text>')
    parts.append(f'<text class="soft" x="{x + 160}" y="{top}" text-anchor="end">h_FF</text>')
    for index, (domain, exponents) in enumerate(document["exponents"].items()):
        y = top + 26 + 24 * index
        parts.append(f'<line class="line" stroke="{COLOURS[index]}" x1="{x - 8}" y1="{y - 4}" x2="{x + 8}" y2="{y - 4}"/>')
        parts.append(marker(SHAPES[index], index > 4, x, y - 4, COLOURS[index]))
        parts.append(f'<text class="ink" x="{x + 14}" y="{y}">{domain}</text>')
        for offset, (key, _) in zip((116, 160), PANELS):
            parts.append(f'<text class="ink" x="{x + offset}" y="{y}" text-anchor="end">{exponents[key]:.2f}</text>')
    note = top + 26 + 24 * len(series) + 12
    parts.append(f'<text class="soft" x="{x - 8}" y="{note}">fitted to the {FITTED} largest</text>')
    parts.append(f'<text class="soft" x="{x - 8}" y="{note + 16}">sizes of each domain</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--homing", type=Path, default=planner.REPOSITORY / "target/release/homing",
                        help="the planner's binary (default: target/release/homing)")
    parser.add_argument("--only", default="", metavar="DOMAIN", help="one domain")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each kind (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generated problems (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="domains side by side, each on a core of its own "
                        "(default: %(default)s)")
    parser.add_argument("--shared", type=Path, help="folder with instances/ (default: ../shared)")
    parser.add_argument("--revision", help="revision of homing, where there is no git to ask")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    parser.add_argument("--svg", type=Path, help="plot to write")
    parser.add_argument("--from-json", type=Path, metavar="FILE", help="take the numbers from a stored JSON file")
    arguments = parser.parse_args()
    if arguments.from_json:
        document = json.loads(arguments.from_json.read_text())
    else:
        document = take(arguments)
    document["exponents"] = {domain: {key: exponent(points, key) for key, _ in PANELS}
                             for domain, points in document["series"].items()}
    if arguments.out:
        arguments.out.write_text(json.dumps(document, indent=1) + "\n")
    if arguments.svg:
        arguments.svg.write_text(plot(document))
    print(f"exponents over the {FITTED} largest sizes of each domain")
    for domain, exponents in document["exponents"].items():
        print(f"{domain:10} files to ready task {exponents['ready']:.2f}  h_FF {exponents['evaluation']:.2f}")


def take(arguments):
    """All measurements."""
    if arguments.shared:
        problems.look_in(arguments.shared)
    homing = arguments.homing.resolve()
    if not os.access(homing, os.X_OK):
        sys.exit(f"no binary {homing}: build it with `cargo build --release`")
    load = os.getloadavg()
    cores = planner.pick_cores(arguments.jobs, None)
    free = list(cores)

    def domain_points(domain, work):
        core = free.pop()
        os.sched_setaffinity(0, {core})
        points = []
        for size in SIZES[domain]:
            path = work / f"{domain}-{'x'.join(map(str, size))}.pddl"
            path.write_text(problems.generate(domain, size, arguments.seed))
            domain_file = Path(os.path.realpath(problems.INSTANCES / domain / "domain.pddl"))
            point = measure(homing, domain_file, path, arguments.repeats)
            points.append({"size": size, **point})
            print(f"{path.stem}: {point['actions']} actions, {point['ready']:.4f} s, "
                  f"{point['evaluation']:.1f} us", file=sys.stderr)
        free.append(core)
        return points

    work = Path(tempfile.mkdtemp(prefix="homing-scaling-"))
    try:
        with ThreadPoolExecutor(len(cores)) as pool:
            chosen = [domain for domain in SIZES if arguments.only in domain]
            series = dict(zip(chosen, pool.map(lambda domain: domain_points(domain, work), chosen)))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    head = {
        "revision": single.revision(arguments.revision),
        "homing": single.version_of(homing),
        "processor": single.processor(),
        "processors": os.cpu_count(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "seed": arguments.seed,
        "repeats": arguments.repeats,
        "jobs": arguments.jobs,
        "load_before": load,
    }
    return {"origin": head, "series": series}


if __name__ == "__main__":
    main()
