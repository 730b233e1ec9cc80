#!/usr/bin/env python3
"""Measure homing beside Fast Downward and pyperplan on the same problems.

Every run is one process pinned to one core, one after the other on that core;
times are CPU seconds of the child. Prints one table and writes all runs as
JSON. What each measure means and how it is taken: README.md.

`planner.py lama`, `anytime`, `parts` and `tables` are another part: many problems under limits,
beside lama-first and lama, and what each part of homing's search brings (coverage.py).
"""

import argparse
import json
import math
import os
import platform
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
PACKAGES = ["up-fast-downward==1.0.0", "pyperplan==2.1"]

sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
import coverage  # noqa: E402
import environment  # noqa: E402
import problems  # noqa: E402
from runs import (Failed, FastDownward, execute, homing_search, processor, pyperplan_search,  # noqa: E402
                  revision, version_of)

HOMING, DOWNWARD, PYPERPLAN = "homing", "Fast Downward", "pyperplan"
PLANNERS = [HOMING, DOWNWARD, PYPERPLAN]
HEURISTICS = ["ff", "add"]
BLIND_STATES = 1_000_000
SHORT = 0.02  # seconds of search below which a rate is marked
RESOLVED = 1e-4  # and below which there is none

# measure -> (title, whether more is better, digits)
MEASURES = {
    "ready": ("files to ready task, CPU s", False, 4),
    "ff_evaluations": ("GBFS h_FF, evaluations per CPU s", True, 0),
    "ff_generated": ("GBFS h_FF, generated per CPU s", True, 0),
    "add_evaluations": ("GBFS h_add, evaluations per CPU s", True, 0),
    "add_generated": ("GBFS h_add, generated per CPU s", True, 0),
    "blind_generated": ("blind A*, generated per CPU s", True, 0),
    "state_bytes": ("bytes per stored state", False, 0),
    "blind_peak": ("blind A*, peak resident MB", False, 1),
    "blind_bytes": ("blind A*, peak resident bytes per stored state", False, 0),
}


def repeat(jobs, repeats, notes):
    """Run the jobs in turn; short searches more often, until half a second of search or 15 runs."""
    runs = {planner: [] for planner in jobs}
    waiting = dict(jobs)
    while waiting:
        for planner, job in list(waiting.items()):
            try:
                runs[planner].append(job())
            except Failed as reason:
                notes.append(f"{planner}: {reason}")
                del waiting[planner]
                continue
            done = runs[planner]
            searched = sum(run["search"] for run in done)
            enough = searched >= 0.5 or len(done) >= 15 or planner == PYPERPLAN
            if len(done) >= repeats and enough:
                del waiting[planner]
    return runs


def best(runs, value, more):
    """The best value of some runs and their spread, (most - least) / best; None without runs."""
    values = [v for run in runs if (v := value(run)) is not None]
    if not values:
        return None
    chosen = max(values) if more else min(values)
    return {"value": chosen, "spread": (max(values) - min(values)) / chosen if chosen else 0.0, "runs": len(values)}


def rate(key):
    """Per CPU second; None where the clock cannot have resolved the search."""
    return lambda run: run[key] / run["search"] if run["search"] >= RESOLVED else None


def measure(name, group, domain, problem, arguments, downward):
    """All runs of one problem and the measures taken from them."""
    notes, runs, cells = [], {}, {}
    load = os.getloadavg()

    def take(measure_name, source, value):
        more = MEASURES[measure_name][1]
        cells[measure_name] = {p: b for p in source if (b := best(source[p], value, more))}

    jobs = {DOWNWARD: lambda: downward.translate(domain, problem)}
    runs["translate"] = repeat(jobs, arguments.repeats, notes)
    translated = bool(runs["translate"][DOWNWARD])
    for heuristic in HEURISTICS:
        jobs = {}
        if not arguments.peers_only:
            options = ["--heuristic", heuristic, "--search", "gbfs", "--time-limit", f"{arguments.time_limit:g}"]
            jobs[HOMING] = lambda: homing_search(arguments.homing, domain, problem, options)
        if translated:
            search = f"eager_greedy([{heuristic}()], {{}})"
            jobs[DOWNWARD] = lambda: downward.search(search, arguments.time_limit)
        if arguments.pyperplan_limit > 0 and not any(note.startswith(PYPERPLAN) for note in notes):
            jobs[PYPERPLAN] = lambda: pyperplan_search(domain, problem, heuristic, arguments.pyperplan_limit,
                                                       arguments.pyperplan_ready, arguments.python_path)
        runs[heuristic] = repeat(jobs, arguments.repeats, notes)
        for key in ("evaluations", "generated"):
            take(f"{heuristic}_{key}", runs[heuristic], rate(key))
    ready = {p: [r for h in HEURISTICS for r in runs[h].get(p, [])] for p in (HOMING, PYPERPLAN)}
    take("ready", {**ready, **runs["translate"]}, lambda run: run["ready"])

    # Fast Downward first; homing then stores as many states as it did in that round
    jobs, stored = {}, arguments.states
    if translated:
        limit = downward.blind(arguments.states)

        def blind_downward():
            nonlocal stored
            run = downward.search("astar(blind(), {})", limit)
            stored = run["stored"]
            return run

        jobs[DOWNWARD] = blind_downward
    if not arguments.peers_only:
        options = ["--heuristic", "blind", "--search", "astar", "--time-limit", "120"]
        jobs[HOMING] = lambda: homing_search(arguments.homing, domain, problem,
                                             [*options, "--max-evaluations", stored])
    runs["blind"] = repeat(jobs, arguments.repeats, notes)
    counts = {p: [run["stored"] for run in runs["blind"][p]] for p in jobs if runs["blind"][p]}
    if len(counts) == 2 and not 0.95 < min(counts[HOMING]) / min(counts[DOWNWARD]) < 1.05:
        notes.append(f"blind A*: peaks not comparable, {HOMING} stored {min(counts[HOMING])} states, "
                     f"{DOWNWARD} {min(counts[DOWNWARD])}")
    take("blind_generated", runs["blind"], rate("generated"))
    take("state_bytes", runs["blind"], lambda run: run["state_bytes"])
    take("blind_peak", runs["blind"], lambda run: run["peak_kb"] / 1024)
    take("blind_bytes", runs["blind"], lambda run: run["peak_kb"] * 1024 / max(run["stored"], 1))
    short = [m for h in HEURISTICS for m in (f"{h}_evaluations", f"{h}_generated")
             if any(r["search"] < SHORT for p in runs[h] for r in runs[h][p])]
    return {"problem": name, "group": group, "measures": cells, "short": short, "notes": sorted(set(notes)),
            "load_before": load, "runs": runs}


def ratio(cells, measure_name, peer):
    """How many times better homing is than a peer; above 1 is better whatever the measure."""
    if HOMING not in cells or peer not in cells:
        return None
    ours, theirs = cells[HOMING]["value"], cells[peer]["value"]
    if ours <= 0 or theirs <= 0:
        return None
    return ours / theirs if MEASURES[measure_name][1] else theirs / ours


def geometric_mean(values):
    values = [v for v in values if v is not None]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def table(results):
    """Rows of text, and the geometric means by measure and group of problems."""
    def number(value, digits):
        return "-" if value is None else f"{value:,.{digits}f}"

    rows = [["measure", "problem", *PLANNERS, "x FD", "x pyperplan", "spread %"]]
    means = {}
    for name, (title, _, digits) in MEASURES.items():
        groups = {}
        for result in results:
            cells = result["measures"].get(name, {})
            ratios = [ratio(cells, name, peer) for peer in (DOWNWARD, PYPERPLAN)]
            values = {p: cells[p]["value"] for p in cells}
            small = result["group"] != "competition"
            for group in (result["group"], "the eight domains" if small else None, "all"):
                if group:
                    groups.setdefault(group, []).append((values, ratios))
            spread = "/".join(f"{100 * cells[p]['spread']:.0f}" for p in PLANNERS if p in cells)
            mark = " *" if name in result["short"] else ""
            rows.append([title, result["problem"] + mark, *[number(values.get(p), digits) for p in PLANNERS],
                         *[number(r, 2) for r in ratios], spread])
        overall = ["the eight domains", "competition", "all"]
        for group in [g for g in groups if g not in overall] + [g for g in overall if g in groups]:
            members = groups[group]
            mean = {p: geometric_mean(v.get(p) for v, _ in members) for p in PLANNERS}
            by_peer = [geometric_mean(r[i] for _, r in members) for i in (0, 1)]
            means.setdefault(name, {})[group] = {**mean, "x FD": by_peer[0], "x pyperplan": by_peer[1]}
            rows.append([title, f"geometric mean, {group}", *[number(mean[p], digits) for p in PLANNERS],
                         *[number(r, 2) for r in by_peer], ""])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rows.insert(1, ["-" * w for w in widths])
    lines = ["| " + " | ".join(cell.ljust(w) if i < 2 else cell.rjust(w)
                               for i, (cell, w) in enumerate(zip(row, widths))) + " |" for row in rows]
    return lines, means


def origin(arguments, downward, cores, floor):
    """Where the numbers come from."""
    return {
        "revision": revision(arguments.revision),
        "homing": None if arguments.peers_only else version_of(arguments.homing),
        "command": " ".join(["dev/peers/planner.py", *arguments.shown]),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "processor": processor(),
        "processors": os.cpu_count(),
        "cores": cores,
        "fast_downward": downward.version(),
        "packages": PACKAGES,
        "seed": arguments.seed,
        "repeats": arguments.repeats,
        "time_limit": arguments.time_limit,
        "pyperplan_limit": arguments.pyperplan_limit,
        "blind_states": arguments.states,
        "resident_floor_kb": floor,
        "load_before": os.getloadavg(),
    }


def pick_cores(jobs, chosen):
    """So many processors, no two of them threads of one core; the last ones allowed."""
    allowed = sorted(os.sched_getaffinity(0), reverse=True)
    if chosen is not None:
        allowed = [chosen]
    cores, met = [], set()
    for core in allowed:
        path = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
        siblings = path.read_text().strip() if path.exists() else str(core)
        if siblings not in met:
            met.add(siblings)
            cores.append(core)
    return cores[:jobs]


def show(document):
    lines, _ = table(document["results"])
    print("\n".join(lines))
    print(f"\n* a search below {SHORT} s; x: times better than the peer; spread: (most - least) / best of "
          f"{document['origin']['repeats']} or more runs, {'/'.join(PLANNERS)}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--homing", type=Path, default=REPOSITORY / "target/release/homing",
                        help="the planner's binary (default: target/release/homing)")
    parser.add_argument("--peers-only", action="store_true", help="leave homing out")
    parser.add_argument("--only", metavar="REGEX", default="", help="only problems whose name matches, e.g. '^blocks|depot'")
    parser.add_argument("--repeats", type=int, default=3, help="least number of runs of each kind (default: %(default)s)")
    parser.add_argument("--time-limit", type=float, default=10, help="seconds of one search (default: %(default)s)")
    parser.add_argument("--states", type=int, default=BLIND_STATES,
                        help="states that the blind search shall store (default: %(default)s)")
    parser.add_argument("--pyperplan-limit", type=float, default=3,
                        help="CPU seconds of one search of pyperplan, 0 leaves it out (default: %(default)s)")
    parser.add_argument("--pyperplan-ready", type=float, default=10,
                        help="seconds that pyperplan may ground (default: %(default)s)")
    parser.add_argument("--core", type=int, help="processor to run on (default: the last one allowed)")
    parser.add_argument("--jobs", type=int, default=1, help="problems measured side by side, each on a core of its "
                        "own (default: %(default)s)")
    parser.add_argument("--wall-limit", type=float, default=math.inf, metavar="SECONDS",
                        help="begin no further problem after so long")
    parser.add_argument("--seed", type=int, default=1, help="seed of the generated problems (default: %(default)s)")
    parser.add_argument("--shared", type=Path, help="folder with instances/ and benchmarks/ (default: ../shared)")
    parser.add_argument("--fast-downward", type=Path, metavar="DIR", help="a built Fast Downward with driver/ and "
                        "builds/release/bin/ (default: that of the wheel)")
    parser.add_argument("--python-path", type=Path, metavar="DIR", help="folder that holds the package pyperplan; "
                        "together with --fast-downward nothing is installed")
    parser.add_argument("--revision", help="revision of homing, where there is no git to ask")
    parser.add_argument("--work", type=Path, help="folder for generated problems and the translator's output "
                        "(default: a temporary one, removed at the end)")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    parser.add_argument("--from-json", type=Path, metavar="FILE", help="print the table of a stored JSON file and end")
    parser.add_argument("--list", action="store_true", help="print the names of the problems and end")
    arguments = parser.parse_args()
    # as typed, without what only says where things lie
    arguments.shown = [f"--{name.replace('_', '-')} {value:g}" if isinstance(value, float)
                       else f"--{name.replace('_', '-')} {value}"
                       for name in ("only", "repeats", "time_limit", "states", "pyperplan_limit", "pyperplan_ready",
                                    "jobs", "seed")
                       if (value := getattr(arguments, name)) != parser.get_default(name)]
    return arguments


def measure_all(chosen, arguments, work, downward, cores, head):
    """Measure the problems, as many at a time as there are cores; results in the order of the problems."""
    begin, results = time.monotonic(), {}
    free = list(cores)

    def one(name, group, domain, problem):
        if time.monotonic() - begin > arguments.wall_limit:
            return None
        start = time.monotonic()
        core = free.pop()
        os.sched_setaffinity(0, {core})  # of this thread, and so of the children it starts
        domain, problem = Path(os.path.realpath(domain)), Path(os.path.realpath(problem))
        try:
            result = measure(name, group, domain, problem, arguments, downward.working_in(work / f"core-{core}"))
        finally:
            free.append(core)
        return {**result, "core": core, "wall": time.monotonic() - start}

    with ThreadPoolExecutor(len(cores)) as pool:
        waiting = {pool.submit(one, *problem): number for number, problem in enumerate(chosen)}
        for done in as_completed(waiting):
            number, result = waiting[done], done.result()
            name = chosen[number][0]
            if result is None:
                print(f"{name}: left out, no time", file=sys.stderr)
                continue
            results[number] = result
            print(f"[{len(results)}/{len(chosen)}] {name}: {result['wall']:.0f} s", file=sys.stderr)
            for note in result["notes"]:
                print(f"    {note}", file=sys.stderr)
            ordered = [results[number] for number in sorted(results)]
            document = {"origin": head, "means": table(ordered)[1], "results": ordered}
            if arguments.out:
                # after every problem, so that an interrupted run leaves what it has
                arguments.out.parent.mkdir(parents=True, exist_ok=True)
                partial = arguments.out.with_name(arguments.out.name + ".partial")
                partial.write_text(json.dumps(document, indent=1) + "\n")
                partial.replace(arguments.out)
    if not results:
        sys.exit("no problem was measured")
    return document


def main():
    if len(sys.argv) > 1 and sys.argv[1] in ("lama", "anytime", "parts", "tables"):
        coverage.main(sys.argv[1:])
        return
    arguments = parse_arguments()
    if arguments.from_json:
        show(json.loads(arguments.from_json.read_text()))
        return
    if not (arguments.fast_downward and (arguments.python_path or arguments.pyperplan_limit == 0)):
        environment.enter(HERE, PACKAGES)
    if arguments.shared:
        problems.look_in(arguments.shared)
    if arguments.python_path:
        arguments.python_path = arguments.python_path.resolve()

    if not arguments.peers_only and not arguments.list:
        arguments.homing = arguments.homing.resolve()
        if not os.access(arguments.homing, os.X_OK):
            sys.exit(f"no binary {arguments.homing}: build it with `cargo build --release`, or --peers-only")
    work = arguments.work or Path(tempfile.mkdtemp(prefix="homing-peers-"))
    work = work.resolve()
    if REPOSITORY in [work, *work.parents]:
        sys.exit("--work lies inside the repository; give another folder")
    try:
        chosen = [p for p in problems.write(work, arguments.seed) if re.search(arguments.only, p[0])]
        if arguments.list:
            print("\n".join(p[0] for p in chosen))
            return
        if not chosen:
            sys.exit("no problem matches --only")
        downward = FastDownward(arguments.fast_downward)
        floor = execute(["true"])[3]
        cores = pick_cores(arguments.jobs, arguments.core)
        head = origin(arguments, downward, cores, floor)
        document = measure_all(chosen, arguments, work, downward, cores, head)
        show(document)
        print(json.dumps(head), file=sys.stderr)
    finally:
        if not arguments.work:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
