#!/usr/bin/env python3
"""Writes the evaluations stored beside docs/results/training.md as records for `homing report`.

    dev/training/records.py docs/results OUT
    homing report OUT

They were made before there were records. What was not kept is made up: a hash of a file is the hash of its name, and
of a model its domain, heuristic and seed. The report shows counts and seconds, which are those of the runs.
"""

import gzip
import hashlib
import json
import sys
from pathlib import Path


def digest(*parts):
    return hashlib.sha256(" ".join(map(str, parts)).encode()).hexdigest()


def objects(domain, size):
    """Of a problem of a size: places and cars; balls, rooms and grippers."""
    return {"blocks": size, "ferry": 2 * size, "gripper": size + 4}[domain]


def record(run):
    answer = json.loads(run["out"])
    domain, heuristic, seed = run["domain"], run["heuristic"], run["seed"]
    base = heuristic.removeprefix("H-")
    model = digest("model", domain, base, seed)
    return {
        "format": 1,
        "key": digest(run["key"]),
        "domain": domain,
        "domain_sha256": digest(domain),
        "problem": run["problem"],
        "problem_sha256": digest(domain, run["problem"]),
        "objects": objects(domain, run["size"]),
        "heuristic": base,
        "model": None if seed is None else {"file": f"{domain}-{base}-{seed}", "sha256": model, "seed": seed, "steps": 10000},
        "search": "gbfs",
        "weight": None,
        "unit_cost": False,
        "max_evaluations": 100000,
        "time_limit": None,
        "memory_limit": None,
        "outcome": answer["outcome"],
        "error": None,
        **{name: answer[name] for name in ("evaluations", "generated", "expansions", "plan_length", "plan_cost", "validated", "search_cpu_seconds")},
        "cpu_seconds": run["cpu"],
        "memory_bytes": run["rss_kb"] * 1024,
        "revision": "of docs/results/training.md",
        "machine": "those of docs/results/training.md",
    }


def main():
    source, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    with gzip.open(source / "training-eval.jsonl.gz", "rt") as lines, (out / "evaluations.jsonl").open("w") as written:
        for line in lines:
            written.write(json.dumps(record(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
