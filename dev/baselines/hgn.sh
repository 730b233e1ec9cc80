#!/bin/sh
# The column GBFS-HGN, by a release binary and nothing else: trains on the authors' three domains and runs GBFS on
# problems of the paper's test suite. What is there is not done again, so the same command goes on after a stop.
#
#     dev/baselines/hgn.sh target/release/homing OUT [JOBS [EVALUATIONS [PROBLEMS]]]
#
# JOBS: processes at a time, one core each (16). EVALUATIONS: the limit (100000). PROBLEMS: a domain (24). With the
# defaults about four hours of a core, nearly all of it in searches that reach the limit; one with 50 blocks takes up to
# 20 minutes, so half an hour on 16.
# Results: OUT/evaluations.jsonl, OUT/training.jsonl, OUT/models and OUT/report; the table is printed.
set -eu
homing=$1
out=$2
jobs=${3:-16}
evaluations=${4:-100000}
problems=${5:-24}
mkdir -p "$out"
cat > "$out/hgn.toml" <<END
title = "Table 1, GBFS-HGN: $problems problems a domain, $evaluations evaluations"
domains = ["blocks", "ferry", "gripper"]
heuristics = ["blind"]
seeds = 0

[hgn]
seeds = 1

[hgn.domain.ferry]
least_samples = 0

[hgn.domain.gripper]
bins = 3

[evaluate]
problems = $problems
bases = false
max_evaluations = $evaluations
END
# Stopped short of its end, what is there is still told.
"$homing" experiment "$out/hgn.toml" --out "$out" --jobs "$jobs" || echo "not finished: the same command goes on"
python3 - "$out/evaluations.jsonl" <<'END'
import collections, json, sys

runs = [json.loads(line) for line in open(sys.argv[1])]
cells = collections.defaultdict(lambda: [0, 0, 0.0, 0])
for run in runs:
    if run.get("heuristic") == "hgn":
        for size in (str(run["objects"]), "all"):
            cell = cells[run["domain"], size]
            cell[0] += run["outcome"] == "solved"
            cell[1] += 1
            cell[2] += run["search_cpu_seconds"]
            cell[3] += run["evaluations"]
print("| domain | objects | solved | of | CPU ms an evaluation |\n|---|---:|---:|---:|---:|")
for (domain, size), (solved, of, seconds, count) in sorted(cells.items(), key=lambda at: (at[0][0], at[0][1].rjust(5))):
    print(f"| {domain} | {size} | {solved} | {of} | {1e3 * seconds / max(count, 1):.2f} |")
END
