#!/usr/bin/env python3
"""Train on domains with ADL and derived predicates, and search with what was learnt.

First ten domains of a folder: the paper's network for 200 steps and the default
learner, on all problems but the last, which is then searched with h_FF and with
each model. Then two domains whose problems are drawn here, small ones for
training, larger ones for the test.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent

TEN = [
    "assembly",
    "maintenance-opt14-adl",
    "miconic-fulladl",
    "miconic-simpleadl",
    "nurikabe-opt18-adl",
    "openstacks-opt08-adl",
    "rubiks-cube-opt23-adl",
    "schedule",
    "storage",
    "trucks",
]


def briefcase(name, size, rng):
    places = [f"p{i}" for i in range(2 + size // 2)]
    things = [f"t{i}" for i in range(size)]
    somewhere = lambda: [f"(at {t} {rng.choice(places)})" for t in things] + [f"(briefcase-at {rng.choice(places)})"]
    return (
        f"(define (problem {name}) (:domain briefcase)\n"
        f"  (:objects {' '.join(places)} - place {' '.join(things)} - thing)\n"
        f"  (:init {' '.join(somewhere())})\n"
        f"  (:goal (and {' '.join(somewhere())} (forall (?t - thing) (not (inside ?t))))))\n"
    )


def towers(name, size, rng):
    blocks = [f"b{i}" for i in range(size)]

    def arrangement():
        order = rng.sample(blocks, size)
        return [(block, order[i - 1] if i and rng.random() < 0.7 else None) for i, block in enumerate(order)]

    init = [f"(on {x} {y})" if y else f"(on-table {x})" for x, y in arrangement()]
    goal = [f"(on {x} {y})" for x, y in arrangement() if y]
    return (
        f"(define (problem {name}) (:domain towers)\n"
        f"  (:objects {' '.join(blocks)})\n"
        f"  (:init {' '.join(init)})\n"
        f"  (:goal (and {' '.join(goal)})))\n"
    )


DRAWN = {
    "briefcase": (briefcase, [1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4], [8, 10, 12, 14, 16, 18, 20, 24, 28, 32]),
    "towers": (towers, [2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5], [8, 10, 12, 14, 16, 18, 20, 22, 24, 26]),
}


def run(program, *arguments):
    command = [program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return {"outcome": f"failed ({done.returncode})", "said": lines[-1] if lines else ""}


def train(program, kind, steps, seed, model, files):
    own = {
        "nlm": ["--learner", "nlm", "--steps", steps, "--heuristic", "ff", "--no-log", "--jobs", 1],
        "counts": ["--budget", 30, "--jobs", 1],
    }[kind]
    record = run(program, "train", "--json", "--seed", seed, "--out", model, *own, *files)
    record["model"] = model if Path(model).exists() else None
    return record


def search(program, evaluations, files, *options):
    limits = ["--search", "gbfs", "--max-evaluations", evaluations, "--time-limit", 300]
    record = run(program, "solve", "--json", *limits, *options, *files)
    return {key: record.get(key) for key in ["outcome", "evaluations", "expansions", "search_cpu_seconds", "plan_cost", "said"]}


def searches(program, evaluations, files, models):
    found = {"ff": search(program, evaluations, files, "--heuristic", "ff")}
    for kind, trained in models.items():
        if trained["model"]:
            found[kind] = search(program, evaluations, files, "--model", trained["model"])
    return found


def cell(found):
    if not found:
        return "no model"
    if found["outcome"] == "solved":
        return f"{found['evaluations']:,}"
    return {"limit": f"– ({found['evaluations'] or 0:,})", "time-limit": "– (time)"}.get(found["outcome"], found["outcome"])


def seconds(found):
    return sum(item["search_cpu_seconds"] or 0 for item in found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=REPOSITORY.parent / "shared/benchmarks-adl")
    parser.add_argument("--only", action="append", default=[], help="a domain of these; may be given several times")
    parser.add_argument("--homing", default=str(REPOSITORY / "target/release/homing"))
    parser.add_argument("--steps", type=int, default=200, help="of the paper's network (200)")
    parser.add_argument("--evaluations", type=int, default=10_000, help="for each search (10000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, default=REPOSITORY / "target/adl-train.jsonl")
    arguments = parser.parse_args()
    program = arguments.homing
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with open(arguments.output, "w", encoding="utf-8") as output, tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)

        def models_for(name, files):
            return {
                kind: train(program, kind, arguments.steps, arguments.seed, scratch / f"{name}-{kind}.safetensors", files)
                for kind in ["nlm", "counts"]
            }

        def note(record):
            print(json.dumps(record, default=str), file=output, flush=True)
            print(record["domain"], {k: cell(v) for k, v in record["searches"].items()}, file=sys.stderr, flush=True)

        print("| Domain | Trained on | Tested on | nlm, 200 steps | counts | h_FF | with nlm | with counts |")
        print("|---|---:|---|---|---|---:|---:|---:|")
        for name in [name for name in TEN if not arguments.only or name in arguments.only]:
            domain = arguments.folder / name / "domain.pddl"
            problems = sorted(path for path in (arguments.folder / name).glob("*.pddl") if path != domain)
            files = [domain, *problems[:-1]]
            models = models_for(name, files)
            found = searches(program, arguments.evaluations, [domain, problems[-1]], models)
            note({"domain": name, "models": models, "searches": found})
            said = {kind: "trained" if models[kind]["model"] else models[kind].get("said", "") for kind in models}
            print(
                f"| {name} | {len(problems) - 1} | `{problems[-1].name}` | {said['nlm']} | {said['counts']} | "
                f"{cell(found['ff'])} | {cell(found.get('nlm'))} | {cell(found.get('counts'))} |",
                flush=True,
            )
        print()
        print("| Domain, drawn | Search | Solved | Evaluations where h_FF solves too | CPU seconds of these |")
        print("|---|---|---:|---:|---:|")
        for name, (draw, small, large) in DRAWN.items():
            if arguments.only and name not in arguments.only:
                continue
            rng = random.Random(arguments.seed)
            domain = HERE / "domains" / f"{name}.pddl"
            folders = {}
            for kind, sizes in [("train", small), ("test", large)]:
                folders[kind] = scratch / name / kind
                folders[kind].mkdir(parents=True)
                for i, size in enumerate(sizes):
                    (folders[kind] / f"p{i:02}.pddl").write_text(draw(f"{kind}-{i}", size, rng))
            models = models_for(name, [domain, folders["train"]])
            all_found = []
            for problem in sorted(folders["test"].glob("*.pddl")):
                found = searches(program, arguments.evaluations, [domain, problem], models)
                all_found.append(found)
                note({"domain": name, "problem": problem.name, "models": models, "searches": found})
            for kind in ["ff", "nlm", "counts"]:
                mine = [found[kind] for found in all_found if kind in found]
                both = [f[kind] for f in all_found if kind in f and f[kind]["outcome"] == f["ff"]["outcome"] == "solved"]
                solved = sum(item["outcome"] == "solved" for item in mine)
                title = {"ff": "h_FF", "nlm": "h_FF and the network", "counts": "counts"}[kind]
                print(
                    f"| {name} | {title} | {solved} of {len(all_found)} | {sum(item['evaluations'] for item in both):,} "
                    f"({len(both)} problems) | {seconds(both):.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
