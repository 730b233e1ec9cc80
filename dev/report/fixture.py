"""Makes the records that the tests of the report read: plausible, small, and full of odd cases.

    python3 dev/report/fixture.py crates/lab/tests/report/records

- blocks: three heuristics, four seeds; a run of h and runs of H are missing, one seed has run two
  problems only, one run failed, one ended at the limit on time, one at the limit on memory, and one
  problem was run again with more time.
- gripper: everything is solved, some with equal evaluations.
- warehouse: a domain that the paper does not know; H is worse than h.
- ferry: trained, never evaluated, once with a single seed.
"""
import hashlib
import json
import pathlib
import random
import sys

LIMIT = 100_000
PDDL = {"blocks": "blocksworld-4ops", "gripper": "gripper-strips"}
draw = random.Random(20)


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def model(domain, heuristic, seed):
    return {
        "file": f"models/{domain}-{heuristic}-{seed}.safetensors",
        "sha256": sha(f"model {domain} {heuristic} {seed}"),
        "seed": seed,
        "steps": 10_000,
    }


def evaluation(domain, number, objects, heuristic, seed, needed, **change):
    """A run that needs so many evaluations; None where it reaches the limit."""
    solved = needed is not None
    count = needed if solved else LIMIT
    per_second = 90_000 if seed is None else 4_000
    search = round(count / per_second * draw.uniform(0.9, 1.1), 6)
    record = {
        "format": 1,
        "key": sha(f"run {domain} {number} {heuristic} {seed} {sorted(change.items())}"),
        "domain": PDDL.get(domain, domain),
        "domain_sha256": sha(f"domain {domain}"),
        "problem": f"{domain}-{number:02}.pddl",
        "problem_sha256": sha(f"problem {domain} {number}"),
        "objects": objects,
        "heuristic": heuristic,
        "model": None if seed is None else model(domain, heuristic, seed),
        "search": "gbfs",
        "weight": None,
        "unit_cost": False,
        "max_evaluations": LIMIT,
        "time_limit": None,
        "memory_limit": None,
        "outcome": "solved" if solved else "limit",
        "error": None,
        "evaluations": count,
        "generated": count * 2,
        "expansions": count // 3,
        "plan_length": objects * 3 if solved else None,
        "plan_cost": objects * 3 if solved else None,
        "validated": solved,
        "search_cpu_seconds": search,
        "cpu_seconds": round(search + 0.002 * objects, 6),
        "memory_bytes": 20_000_000 + 1_000 * count,
        "revision": "0.1.0 (abc1234)",
        "machine": "2-core test machine",
    }
    record.update(change)
    if record["outcome"] != "solved":
        record.update(plan_length=None, plan_cost=None, validated=False)
    return record


def effort(scale, objects, growth):
    count = int(scale * growth**objects * draw.lognormvariate(0, 0.7)) + objects
    return count if count < LIMIT else None


def blocks():
    for number in range(12):
        objects = 10 + 5 * (number // 3)
        if number != 11:
            yield evaluation("blocks", number, objects, "ff", None, effort(40, objects, 1.47))
        yield evaluation("blocks", number, objects, "add", None, effort(40, objects, 1.43))
        yield evaluation("blocks", number, objects, "blind", None, None)
        for seed in range(4):
            if number != 10:
                yield evaluation("blocks", number, objects, "blind", seed, effort(30, objects, 1.5))
            if seed != 3 or number < 2:
                yield evaluation("blocks", number, objects, "add", seed, effort(20, objects, 1.36))
            change = {}
            count = effort(20, objects, 1.40)
            if (number, seed) == (9, 0):
                change = {"outcome": "failed", "error": "the process was killed", "evaluations": 0}
            if (number, seed) == (9, 1):
                change = {"outcome": "time-limit", "time_limit": 60.0, "evaluations": 31_000}
            if (number, seed) == (9, 2):
                change = {"outcome": "memory-limit", "memory_limit": 1 << 30, "evaluations": 44_000}
            yield evaluation("blocks", number, objects, "ff", seed, count, **change)
    # Run again without the limit on time: this one counts.
    yield evaluation("blocks", 9, 25, "ff", 1, 52_345)


def gripper():
    for number in range(6):
        objects = 12 + 2 * number
        for heuristic in ("add", "ff"):
            base = 30 * objects + number
            yield evaluation("gripper", number, objects, heuristic, None, base)
            for seed in range(5):
                count = base if (number + seed) % 3 == 0 else base + draw.choice([-60, -40, 25])
                yield evaluation("gripper", number, objects, heuristic, seed, count)


def warehouse():
    for number in range(20):
        objects = 7 + number
        yield evaluation("warehouse", number, objects, "ff", None, effort(10, objects, 1.35))
        for seed in range(2):
            yield evaluation("warehouse", number, objects, "ff", seed, effort(30, objects, 1.5))


def training(domain, heuristic, seed, goals):
    steps = 10_000
    curve = [[steps * k // 20, round(goals * (k / 20) ** 1.5)] for k in range(1, 21)]
    seconds = round(draw.uniform(4, 6), 3)
    return {
        "format": 1,
        "key": sha(f"training {domain} {heuristic} {seed}"),
        "domain": PDDL.get(domain, domain),
        "domain_sha256": sha(f"domain {domain}"),
        "problems_sha256": sha(f"training problems {domain}"),
        "problems": 200,
        "heuristic": heuristic,
        "seed": seed,
        "config": {"seed": seed, "layers": 4 if domain == "gripper" else 5, "gamma": 0.999999},
        "steps": steps,
        "goals": goals,
        "episodes": goals + 100,
        "loss": round(draw.uniform(0.1, 0.5), 4),
        "curve": curve,
        "selected_step": None,
        "model": f"models/{domain}-{heuristic}-{seed}.safetensors",
        "model_sha256": sha(f"model {domain} {heuristic} {seed}"),
        "cpu_seconds": seconds,
        "network_seconds": round(seconds * 0.9, 3),
        "planning_seconds": round(seconds * 0.07, 3),
        "memory_bytes": 17_000_000,
        "revision": "0.1.0 (abc1234)",
        "machine": "2-core test machine",
    }


def trainings():
    # Six seeds without ties: the exact test.
    for heuristic, goals in {
        "blind": [296, 310, 251, 340, 275, 305],
        "add": [498, 520, 471, 560, 455, 533],
        "ff": [544, 530, 561, 512, 570, 548],
    }.items():
        for seed, count in enumerate(goals):
            yield training("blocks", heuristic, seed, count)
    # Ties: the normal approximation.
    for heuristic, goals in {
        "add": [690, 690, 701, 673, 688, 695, 702, 690],
        "ff": [627, 640, 627, 690, 655, 632, 618, 640],
    }.items():
        for seed, count in enumerate(goals):
            yield training("gripper", heuristic, seed, count)
    # Too few seeds for any difference to be significant.
    for heuristic, goals in {"blind": [75], "add": [487, 470, 499], "ff": [454, 430, 461]}.items():
        for seed, count in enumerate(goals):
            yield training("ferry", heuristic, seed, count)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    evaluations = [*blocks(), *gripper(), *warehouse()]
    for name, records in ("evaluations", evaluations), ("training", [*trainings()]):
        lines = [json.dumps(record, separators=(",", ":")) for record in records]
        draw.shuffle(lines)
        (folder / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))


main()
