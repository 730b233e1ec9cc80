#!/usr/bin/env python3
"""Run homing over all shared problems and write the table of docs/pddl-support.md.

For each problem: h_add and h_FF of the initial state (60 seconds and 4 GiB
allowed), then greedy best first search with h_FF under a time limit; a plan is
written to a file and replayed by `homing validate`.

Results go to --out as they come in. A run that is started again goes on where
the last one stopped; --fresh begins anew. Needs Python and the binary, nothing
else.

  dev/survey/run.py --out survey.json --markdown survey.md
  dev/survey/run.py --jobs 16 --homing ./homing --shared ../shared --out survey.json --markdown survey.md
  dev/survey/run.py --most 2 'benchmarks/d*' instances/ferry
"""

import argparse
import fnmatch
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
FAMILIES = ["benchmarks", "instances"]
FIRST_EVALUATION_LIMIT = 60
# what homing may take beyond its own time limit before it is killed
GRACE = 30
SAVE_EVERY = 5
# what a record keeps of `homing solve --json`
KEPT = [
    "outcome", "plan_length", "plan_cost", "validated", "initial_h", "evaluations", "expansions", "generated",
    "dead_ends", "stored", "bytes_per_state", "objects", "actions", "propositions", "variables", "parse_seconds",
    "ground_seconds", "search_seconds", "total_seconds", "peak_memory_kb",
]


def problems(shared, patterns, most):
    """(name, domain file, problem file), the name as in `benchmarks/blocks/p01`."""
    found = []
    for family in FAMILIES:
        if not (shared / family).is_dir():
            sys.exit(f"no folder {shared / family}")
        for folder in sorted(path for path in (shared / family).iterdir() if path.is_dir()):
            domain = f"{family}/{folder.name}"
            if patterns and not any(fnmatch.fnmatch(domain, pattern) for pattern in patterns):
                continue
            files = sorted(path for path in folder.glob("*.pddl") if not path.name.startswith("domain"))
            found += [(f"{domain}/{path.stem}", folder / "domain.pddl", path) for path in files[:most]]
    return found


def solve(homing, files, limit, memory, *options):
    """The kept fields of a run, its exit code and whatever went wrong."""
    command = [homing, "solve", "--json", "--time-limit", str(limit), "--memory-limit", memory, *options, *files]
    began = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit + GRACE)
    except subprocess.TimeoutExpired:
        return {"outcome": "killed", "exit_code": None, "wall_seconds": time.monotonic() - began}
    record = {"exit_code": done.returncode, "wall_seconds": round(time.monotonic() - began, 6)}
    try:
        said = json.loads(done.stdout)
        record |= {key: said[key] for key in KEPT}
    except (ValueError, KeyError):
        record |= {"outcome": "failed", "stderr": done.stderr[-2000:]}
    return record


def survey(homing, domain, problem, limit, memory):
    """Everything about one problem."""
    files = [str(domain), str(problem)]
    record = {
        name: solve(homing, files, FIRST_EVALUATION_LIMIT, memory, "--heuristic", name, "--max-evaluations", "1")
        for name in ("add", "ff")
    }
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan"
        record["gbfs"] = solve(
            homing, files, limit, memory, "--search", "gbfs", "--heuristic", "ff", "--plan-file", str(plan)
        )
        if record["gbfs"]["outcome"] == "solved":
            done = subprocess.run([homing, "validate", *files, str(plan)], capture_output=True, text=True)
            value = [line[7:] for line in done.stdout.splitlines() if line.startswith("Value: ")]
            record["gbfs"]["replayed"] = (
                done.returncode == 0
                and done.stdout.startswith("Plan valid\n")
                and value == [str(record["gbfs"]["plan_cost"])]
            )
    return record


def save(path, text):
    """Written whole or not at all."""
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(text)
    os.replace(temporary, path)


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def revision():
    command = ["git", "-C", REPOSITORY, "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def seconds(value):
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def span(values):
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} – {high:,}"


def first_evaluation_fails(record):
    """Why h_add or h_FF of the initial state is not there, or None."""
    for name in ("add", "ff"):
        run = record[name]
        if run["outcome"] == "unsolvable":
            continue
        if run["exit_code"] not in (0, 12) or run.get("evaluations", 0) < 1 and run["outcome"] != "solved":
            return f"h_{name}: {run['outcome']} {run.get('stderr', '').partition(chr(10))[0]}".strip()
    return None


def solved(record):
    return record["gbfs"]["outcome"] == "solved" and record["gbfs"].get("replayed", False)


def row(title, records):
    runs = [record[name] for record in records for name in ("add", "ff")]
    actions = [record["ff"]["actions"] for record in records if record["ff"].get("actions")]
    slowest = max((run["total_seconds"] for run in runs if "total_seconds" in run), default=None)
    memory = max((run["peak_memory_kb"] for run in runs if run.get("peak_memory_kb")), default=None)
    unsolvable = sum(record["gbfs"]["outcome"] == "unsolvable" for record in records)
    cells = [
        title,
        str(len(records)),
        span(actions) if actions else "–",
        seconds(slowest) if slowest is not None else "–",
        f"{memory / 1024:,.0f} MiB" if memory else "–",
        str(sum(map(solved, records))) + (f" (and {unsolvable} unsolvable)" if unsolvable else ""),
    ]
    return "| " + " | ".join(cells) + " |"


def markdown(result):
    settings, by_domain = result["settings"], {}
    for name, record in sorted(result["problems"].items()):
        by_domain.setdefault(name.rsplit("/", 1)[0], []).append(record)
    limit = settings["time_limit"]
    lines = [
        f"| Domain | Problems | Ground actions | Slowest first evaluation | Most memory | Solved within {limit:g} s |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [row(f"`{domain}`", records) for domain, records in sorted(by_domain.items())]
    if len(by_domain) > 1:
        lines.append(row("all", [record for records in by_domain.values() for record in records]))
    origin = f"homing {settings['version']}" + (f" at {settings['revision']}" if settings["revision"] else "")
    lines += [
        "",
        "First evaluation: wall-clock time from the start of the program to h_add or h_FF of the initial state, reading and grounding included, and the"
        " peak memory of these runs. Solved: greedy best first search with h_FF,"
        f" {limit:g} seconds and {settings['memory_limit']} of memory a problem, every plan replayed by `homing validate`.",
        "",
        f"Origin: {origin}, `dev/survey/run.py --jobs {settings['jobs']}`, {settings['processor']} ({settings['cores']} cores).",
    ]
    failures = [
        f"- `{name}`: {why}"
        for name, record in sorted(result["problems"].items())
        if (why := first_evaluation_fails(record))
    ]
    failures += [
        f"- `{name}`: GBFS: " + ("plan not accepted" if record["gbfs"]["outcome"] == "solved" else record["gbfs"]["outcome"])
        for name, record in sorted(result["problems"].items())
        if record["gbfs"]["outcome"] in ("killed", "failed")
        or record["gbfs"]["outcome"] == "solved" and not solved(record)
    ]
    if failures:
        lines += ["", "Failures:", "", *failures]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("domains", nargs="*", metavar="DOMAIN", help="only these, such as `instances/ferry` or 'benchmarks/d*'")
    parser.add_argument("--homing", type=Path, default=REPOSITORY / "target/release/homing", help="the binary")
    parser.add_argument("--shared", type=Path, default=REPOSITORY / "../shared", help="the folder with benchmarks/ and instances/")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.json", help="all results; read first, if it is there")
    parser.add_argument("--markdown", type=Path, metavar="FILE.md", help="the table; without it, standard output")
    parser.add_argument("--jobs", type=int, default=2, help="problems at a time (2)")
    parser.add_argument("--time-limit", type=float, default=30, metavar="S", help="seconds for a search (30)")
    parser.add_argument("--memory-limit", default="4G", metavar="SIZE", help="for each run of homing (4G)")
    parser.add_argument("--most", type=int, metavar="N", help="at most so many problems of a domain")
    parser.add_argument("--stop-after", type=float, metavar="S", help="begin no further problem after so many seconds")
    parser.add_argument("--revision", help="of the binary, for the record, where there is no git to ask")
    parser.add_argument("--fresh", action="store_true", help="forget the results in --out")
    arguments = parser.parse_args()

    homing = arguments.homing.resolve()
    if not homing.is_file():
        parser.error(f"no binary {homing}; cargo build --release makes it")
    wanted = problems(arguments.shared.resolve(), arguments.domains, arguments.most)
    if not wanted:
        parser.error("no such domain")
    settings = {
        "version": subprocess.run([homing, "--version"], capture_output=True, text=True, check=True).stdout.split()[1],
        "revision": arguments.revision or revision(),
        "time_limit": arguments.time_limit,
        "memory_limit": arguments.memory_limit,
        "jobs": arguments.jobs,
        "processor": processor(),
        "cores": os.cpu_count(),
    }
    result = {"settings": settings, "problems": {}}
    if arguments.out.exists() and not arguments.fresh:
        earlier = json.loads(arguments.out.read_text())
        if earlier["settings"] != settings:
            sys.exit(f"{arguments.out} was made with other settings; --fresh forgets it:\n{earlier['settings']}\n{settings}")
        result["problems"] = earlier["problems"]

    left = [item for item in wanted if item[0] not in result["problems"]]
    print(f"{len(wanted)} problems, {len(wanted) - len(left)} known from {arguments.out}", file=sys.stderr)
    began, saved = time.monotonic(), 0.0
    over = threading.Event()

    def work(item):
        name, domain, problem = item
        if over.is_set() or arguments.stop_after and time.monotonic() - began > arguments.stop_after:
            return name, None
        return name, survey(homing, domain, problem, arguments.time_limit, arguments.memory_limit)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        futures = [pool.submit(work, item) for item in left]
        try:
            for number, future in enumerate(as_completed(futures), 1):
                name, record = future.result()
                if record is None:
                    continue
                result["problems"][name] = record
                gbfs = record["gbfs"]
                outcome = gbfs["outcome"] if gbfs["outcome"] != "solved" or solved(record) else "PLAN NOT ACCEPTED"
                why = first_evaluation_fails(record)
                print(
                    f"{number}/{len(left)} {name}: {outcome}, {gbfs['wall_seconds']:.1f} s" + (f"; {why}" if why else ""),
                    file=sys.stderr,
                )
                if time.monotonic() - saved > SAVE_EVERY:
                    save(arguments.out, json.dumps(result, indent=1))
                    saved = time.monotonic()
        except KeyboardInterrupt:
            over.set()
            print("stopping; what is running comes to its end first", file=sys.stderr)
    save(arguments.out, json.dumps(result, indent=1))
    missing = sum(item[0] not in result["problems"] for item in wanted)
    if missing:
        sys.exit(f"{missing} problems left; the same command goes on with them")
    names = {item[0] for item in wanted}
    result["problems"] = {name: record for name, record in result["problems"].items() if name in names}
    if arguments.markdown:
        save(arguments.markdown, markdown(result))
    else:
        print(markdown(result), end="")


if __name__ == "__main__":
    main()
