#!/usr/bin/env python3
"""What each part of learning brings: the same runs with one thing changed at a time.

    ablations.py here RESULTS FOLDER... [--third TRACK]   learning from the problem at hand
    ablations.py train RESULTS TRACK                      learning from training problems
    ablations.py gbfs RESULTS                             plain GBFS in the paper's eight domains
    ablations.py tables RESULTS... [--into PAGE]          tables, as Markdown

`here` solves problems with `homing solve` and each change (`--learn-config`), three seeds. To save
time, `--learn never` goes first, and only problems that it does not solve within a second of CPU
time are compared: those that it does are solved before learning begins.

`train` trains on the smaller two thirds of each domain's problems, with each change, three seeds and
no choice among candidates; and solves problems of the largest third and larger ones (larger.py),
which were used for nothing, by the learned order alone.

`gbfs` trains a model for each of the eight domains and each of three seeds by the commands of
models/README.md, and takes problems of the suite `paper-test` through plain GBFS with 100,000
evaluations, beside h_add and h_FF. With `--residual` h_FF and h_add are features of the model, which
then corrects them, as the paper's network does. `--budget` is for training and solving together; the
runs in progress when it ends are finished.

RESULTS is a file of JSON lines, with a line after each run; started again, it makes the runs that
are missing. Only python3 and the binary are needed.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import many  # noqa: E402

SEEDS = (0, 1, 2)
SOON = 1.0  # CPU seconds within which a problem needs no learning
START, END = "<!-- tables: {} -->", "<!-- end of tables -->"

# name -> settings over the usual ones, and flags
CHANGES_HERE = {
    "as it comes": ({}, []),
    "without learning": ({}, ["--learn", "never"]),
    "without repair": ({"cut.repair": False}, []),
    "only the chosen goals": ({"cut.all_goals": 0.0}, []),
    "one goal a cut": ({"cut.goals": 1, "cut.all_goals": 0.0}, []),
    "without random costs": ({"cut.spreads": [0.0, 0.0]}, []),
    "without growing": ({"cut.grow": False}, []),
    "without trails": ({"cut.from_trails": 0.0, "cut.from_plans": 0.7}, []),
    "only trails": ({"cut.from_trails": 1.0, "cut.from_plans": 0.0}, []),
    "20 cuts": ({"cut.cuts": 20}, []),
    "50 cuts": ({"cut.cuts": 50}, []),
    "400 cuts": ({"cut.cuts": 400, "cut.tries": 8000, "cut.states": 4_000_000}, []),
    "a fifth of the work": ({}, ["--share", "0.2"]),
    "four fifths of the work": ({}, ["--share", "0.8"]),
    "learning first": ({}, ["--learn", "first"]),
    "a quarter of the first budget": ({"first_work": 100_000_000}, []),
    "four times the first budget": ({"first_work": 1_600_000_000}, []),
}

# name -> settings over the usual ones
CHANGES_TRAIN = {
    "as configured": {},
    "one round": {"function.rounds": 1},
    "three rounds": {"function.rounds": 3},
    "one order, no static relations late": {"function.second_head": False},
    "without cuts": {"data.cut_from": 0},
    "only cuts": {"data.states": 1, "data.patience": 1},
    "without dead-end pairs": {"objective.dead_pairs": 0},
    "one pair a state": {"objective.pairs_per_state": 1},
    "a sixth of the samples": {"data.samples": 10},
    "five problems walked through": {"data.problems": 5},
    "an eighth of the epochs": {"objective.epochs": 5},
    "h_FF as a feature": {"function.heuristics": ["ff"]},
}

# How a model's order is followed alone: one queue, or the queues of the learned worker.
ALONE = {
    "gbfs": ["--search", "gbfs"],
    "worker": ["--share", "1", "--novelty", "0", "--serial", "0", "--no-landmarks"],
}

EIGHT = ("blocks", "ferry", "gripper", "logistics", "miconic", "parking", "satellite", "visitall")


def toml(settings):
    """Settings with dots in their names, as TOML."""
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())


def settings_file(folder, name, settings):
    path = Path(folder) / f"{name.replace(' ', '-')}.toml"
    path.write_text(toml(settings))
    return path


def domain_of(problem):
    return problem.with_name("domain.pddl")


def common(options):
    return {"seconds": options.seconds, "memory_mb": options.memory, **many.origin(options.homing, options.revision),
            "machine": many.processor()}


# --- learning from the problem at hand ---------------------------------------------------------

def sets_of_problems(options):
    """(set, domain, problem) of everything that is named."""
    for folder in options.folders:
        for domain, problems in many.problems_in(folder).items():
            yield from ((folder.name, domain, p) for p in many.spread(problems, options.most_first))
    for track in options.third:
        for domain, problems in many.problems_in(track).items():
            third = many.spread(many.thirds(problems)[1], options.most_first)
            yield from ((track.name, domain, p) for p in third)


def run_here(options):
    log = many.Log(options.results, {"part": "here", **common(options)})
    problems = list(sets_of_problems(options))
    changes = [name for name in CHANGES_HERE if not options.only or name in options.only]

    def act(problem, settings, flags, seed):
        arguments = ["--seed", seed, *flags]
        if settings:
            arguments += ["--learn-config", settings]
        return lambda: many.solve(options.homing, arguments, domain_of(problem), problem, options.seconds,
                                  options.memory)

    with tempfile.TemporaryDirectory() as folder:
        files = {name: settings_file(folder, name, settings) if settings else None
                 for name, (settings, _) in CHANGES_HERE.items()}
        first = [(f"without learning/0/{s}/{d}/{p.name}", act(p, None, ["--learn", "never"], 0)) for s, d, p in problems]
        left = many.work_through(log, options.jobs, first, options.budget)
        if left:
            sys.exit(f"{left} of the first runs are left: start it again")
        hard = {}
        for where, domain, problem in problems:
            run = log.runs[f"without learning/0/{where}/{domain}/{problem.name}"]
            if not (run["solved"] and run["cpu"] <= SOON):
                hard.setdefault((where, domain), []).append(problem)
        hard = [(s, d, p) for (s, d), found in hard.items() for p in many.spread(found, options.most)]
        tasks = []
        # Seed by seed: whenever it ends, all changes are as far.
        for seed in SEEDS[: options.seeds]:
            for where, domain, problem in hard:
                tasks += [(f"{name}/{seed}/{where}/{domain}/{problem.name}",
                           act(problem, files[name], CHANGES_HERE[name][1], seed)) for name in changes]
        print(f"{len(problems)} problems, {len(hard)} compared, {len(tasks)} runs", file=sys.stderr)
        left = many.work_through(log, options.jobs, tasks, options.budget)
    print(f"{len(log.runs)} runs in {options.results}, {left} left for another time")


def agile(run, limit):
    if not run["solved"]:
        return 0.0
    return 1.0 if run["cpu"] <= 1 else max(0.0, 1 - math.log(run["cpu"]) / math.log(limit))


def compared(runs, names):
    """By seed, the problems for which every one of the names has a run."""
    by_seed = {}
    for key in runs:
        name, seed, problem = key.split("/", 2)
        if name in names:
            by_seed.setdefault(int(seed), {}).setdefault(problem, set()).add(name)
    return {seed: sorted(p for p, there in found.items() if there >= set(names))
            for seed, found in sorted(by_seed.items())}


def numbers(values):
    return " ".join(str(v) for v in values)


def head_of(settings, what):
    text = (f"{what} {settings['seconds']} CPU seconds and {settings['memory_mb'] / 1024:.0f} GB a run, one core each; "
            f"revision {settings['revision']}, {settings['machine']}.")
    return textwrap.fill(text, 99) + "\n"


def tables_here(settings, runs):
    names = [n for n in CHANGES_HERE if any(k.startswith(n + "/1/") or k.startswith(n + "/0/") for k in runs)]
    # Problems that were solved at once have one run only.
    seeds = {seed: problems for seed, problems in compared(runs, names).items() if problems}
    every = sorted(set().union(*seeds.values())) if seeds else []
    first = sum(k.startswith("without learning/0/") for k in runs)
    text = [head_of(settings, f"{first} problems; {len(every)} that `--learn never` does not solve within a second are "
                    f"compared ({numbers(len(p) for p in seeds.values())} with seeds {numbers(seeds)}).")]
    text += ["| change | solved, by seed | mean | agile score, mean | found by the learned worker |",
             "|---|---|---:|---:|---:|"]
    for name in names:
        rows = [[runs[f"{name}/{seed}/{p}"] for p in problems] for seed, problems in seeds.items()]
        solved = [sum(r["solved"] for r in row) for row in rows]
        scores = [sum(agile(r, settings["seconds"]) for r in row) for row in rows]
        learned = [sum(r["solved"] and r.get("found_by") == "learned" for r in row) for row in rows]
        text.append(f"| {name} | {numbers(solved)} | {statistics.mean(solved):.1f} | {statistics.mean(scores):.1f} | "
                    f"{statistics.mean(learned):.1f} |")
    text += ["", *by_domain(runs, names, seeds), "", *phases(runs, seeds)]
    return "\n".join(text) + "\n"


def by_domain(runs, names, seeds):
    """Solved in each domain, the mean over seeds; only domains where the changes differ."""
    domains = sorted({tuple(p.split("/")[:2]) for problems in seeds.values() for p in problems})
    lines = ["| solved, mean over seeds | problems | " + " | ".join(names) + " |", "|---|---:|" + "---:|" * len(names)]
    for domain in domains:
        own = {seed: [p for p in problems if tuple(p.split("/")[:2]) == domain] for seed, problems in seeds.items()}
        cells = [statistics.mean(sum(runs[f"{n}/{s}/{p}"]["solved"] for p in ps) for s, ps in own.items()) for n in names]
        if max(cells) > min(cells):
            count = max(len(ps) for ps in own.values())
            lines.append(f"| {domain[1]} ({domain[0]}) | {count} | " + " | ".join(f"{c:.1f}" for c in cells) + " |")
    return lines


def phases(runs, seeds):
    """What learning takes where it was reached."""
    learned = [runs[f"as it comes/{s}/{p}"] for s, ps in seeds.items() for p in ps]
    learned = [r["learned"] for r in learned if r.get("learned")]
    lines = [f"Where learning began ({len(learned)} runs of all seeds), as it comes:", "",
             "| phase | median | 9 of 10 below | most |", "|---|---:|---:|---:|"]
    kinds = [("classical search before, s", "first_seconds"), ("cutting, s", "cut_seconds"),
             ("of it walking through spaces, s", "walk_seconds"), ("sampling and fit, s", "fit_seconds"),
             ("cuts", "cuts"), ("states walked through", "states"), ("features", "features"), ("pairs", "pairs")]
    for title, field in kinds:
        values = sorted(r[field] for r in learned)
        if values:
            shown = [many.median(values), values[min(len(values) - 1, len(values) * 9 // 10)], values[-1]]
            digits = 2 if field.endswith("seconds") else 0
            lines.append(f"| {title} | " + " | ".join(f"{v:,.{digits}f}" for v in shown) + " |")
    return lines


# --- learning from training problems ------------------------------------------------------------

def train_one(options, config, seed, out, problems):
    """One training, without a choice among candidates."""
    command = [options.homing, "train", "--json", "--jobs", 1, "--seed", seed, "--out", out]
    if config:
        command += ["--config", config]
    code, text, cost = many.execute([*command, domain_of(problems[0]), *problems], 1800, 16384)
    result = {"code": code, **cost}
    if code == 0:
        report = json.loads(text.splitlines()[-1])["report"]
        result |= {"walked": report["data"]["walked"], "cuts": report["data"]["cuts"],
                   "features": report["fit"]["features"], "pairs": report["fit"]["pairs"],
                   "accuracy": report["fit"]["accuracy"], "held_out": report["held_out"],
                   "candidate": report["candidates"][report["chosen"]]["name"] if report["candidates"] else None}
    else:
        # Something to see and not to try again: nothing could be learnt so.
        out.unlink(missing_ok=True)
    return result


def run_train(options):
    settings = {"part": "train", "evaluations": options.evaluations, **common(options)}
    log = many.Log(options.results, settings)
    work = options.results.resolve().with_suffix("")
    models, larger = work / "models", work / "larger"
    models.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, HERE / "larger.py", options.track, larger, "--problems", str(options.larger)],
                   check=True, stdout=subprocess.DEVNULL)
    track = many.problems_in(options.track)
    domains = options.domains or list(track)
    changes = [name for name in CHANGES_TRAIN if not options.only or name in options.only]
    tests = {}
    for domain in domains:
        drawn = many.problems_in(larger).get(domain, [])
        tests[domain] = [("third", p) for p in many.spread(many.thirds(track[domain])[1], options.third)]
        tests[domain] += [("larger", p) for p in many.by_size(drawn)]
    trainings, solves = [], []
    for seed in SEEDS[: options.seeds]:
        for name in changes:
            config = settings_file(models, name, {"selection.candidates": False, **CHANGES_TRAIN[name]})
            for domain in domains:
                model = models / f"{domain}-{name.replace(' ', '-')}-{seed}.safetensors"
                small = many.thirds(track[domain])[0]
                trainings.append((f"training/{name}/{seed}/{domain}",
                                  lambda c=config, s=seed, m=model, p=small: train_one(options, c, s, m, p)))
                for where, problem in tests[domain]:
                    searches = ALONE if name in ("as configured", "one order, no static relations late") else ["gbfs"]
                    for search in searches:
                        key = f"{search}, {name}/{seed}/{where}/{domain}/{problem.name}"
                        solves.append((key, lambda m=model, s=search, p=problem: alone(options, m, s, p)))
    left = many.work_through(log, options.jobs, trainings, options.budget)
    print(f"{len(trainings) - left} trainings, {len(solves)} runs", file=sys.stderr)
    left += many.work_through(log, options.jobs, solves, options.budget)
    print(f"{len(log.runs)} runs in {options.results}, {left} left for another time")


def alone(options, model, search, problem):
    """Solves a problem by a model's order alone."""
    if not model.exists():
        return {"solved": False, "code": None, "cpu": 0.0, "wall": 0.0, "memory_mb": 0}
    arguments = ["--improve", "no", "--model", model, "--max-evaluations", options.evaluations, *ALONE[search]]
    return many.solve(options.homing, arguments, domain_of(problem), problem, options.seconds, options.memory)


def tables_train(settings, runs):
    trained = {k: r for k, r in runs.items() if k.startswith("training/")}
    runs = {k: r for k, r in runs.items() if not k.startswith("training/")}
    names = [f"{s}, {n}" for n in CHANGES_TRAIN for s in ALONE if any(k.startswith(f"{s}, {n}/") for k in runs)]
    seeds = {seed: problems for seed, problems in compared(runs, names).items() if problems}
    text = [head_of(settings, f"At most {settings['evaluations']:,} evaluations,"),
            f"Problems: {numbers(len(p) for p in seeds.values())} with seeds {numbers(seeds)}.", "",
            "| change | largest third, by seed | larger, by seed | all, mean | CPU s to train, median | pairs in order |",
            "|---|---|---|---:|---:|---:|"]
    for name in names:
        change = name.split(", ", 1)[1]

        def solved(where, seed, change=name):
            return sum(runs[f"{change}/{seed}/{p}"]["solved"] for p in seeds[seed] if p.startswith(where))
        third, larger = ([solved(w, s) for s in seeds] for w in ("third/", "larger/"))
        own = [r for k, r in trained.items() if k.startswith(f"training/{change}/") and r["code"] == 0]
        accuracy = [r["accuracy"][0] for r in own if r["accuracy"]]
        title = change if name.startswith("gbfs") else f"{change}; learned worker alone"
        text.append(f"| {title} | {numbers(third)} | {numbers(larger)} | "
                    f"{statistics.mean(a + b for a, b in zip(third, larger)):.1f} | "
                    f"{many.median([r['cpu'] for r in own]) or 0:.1f} | {100 * statistics.mean(accuracy or [0]):.2f} % |")
    text += ["", *by_domain_trained(runs, names, seeds)]
    return "\n".join(text) + "\n"


def by_domain_trained(runs, names, seeds):
    domains = sorted({p.split("/")[1] for problems in seeds.values() for p in problems})
    lines = ["| solved, mean over seeds | " + " | ".join(domains) + " |", "|---|" + "---:|" * len(domains)]
    for name in names:
        cells = []
        for domain in domains:
            own = [(s, p) for s, ps in seeds.items() for p in ps if p.split("/")[1] == domain]
            cells.append(sum(runs[f"{name}/{s}/{p}"]["solved"] for s, p in own) / len(seeds))
        lines.append(f"| {name} | " + " | ".join(f"{c:.1f}" for c in cells) + " |")
    counts = [max(sum(p.split("/")[1] == d for p in ps) for ps in seeds.values()) for d in domains] if seeds else []
    return [*lines, "| problems | " + " | ".join(map(str, counts)) + " |"]


# --- plain GBFS in the paper's eight domains ----------------------------------------------------

def run_gbfs(options):
    part = "residual" if options.residual else "gbfs"
    settings = {"part": part, "evaluations": options.evaluations, "problems": options.problems, **common(options)}
    log = many.Log(options.results, settings)
    work = options.results.with_suffix("").resolve()
    work.mkdir(parents=True, exist_ok=True)
    for suite in ("paper-train", "paper-test"):
        if not (work / suite).exists():
            # Made whole or not at all.
            subprocess.run([options.homing, "generate", "--suite", suite, "--out", work / suite], check=True,
                           stdout=subprocess.DEVNULL)
    train, test = many.problems_in(work / "paper-train"), many.problems_in(work / "paper-test")
    domains = options.domains or EIGHT
    config = work / "residual.toml" if options.residual else None
    if config:
        config.write_text('[function]\nkind = "counts"\nheuristics = ["ff", "add"]\n[selection]\nheld_out = 50\n')
    trainings, solves = [], []
    seeds = SEEDS[: options.seeds]
    models = {(seed, domain): work / f"{domain}-{seed}.safetensors" for seed in seeds for domain in domains}
    for (seed, domain), model in models.items():
        trainings.append((f"training/{seed}/{domain}",
                          lambda m=model, s=seed, d=domain: train_one(options, config, s, m, train[d])))
    # Problem by problem, spread over the sizes: a run that ends early has seen all, in every column.
    chosen = {d: scattered(many.spread(many.by_size(test[d]), options.problems)) for d in domains}
    for index in range(max(map(len, chosen.values()))):
        for domain in (d for d in domains if index < len(chosen[d])):
            problem = chosen[domain][index]
            solves += [(f"model/{seed}/{domain}/{problem.name}",
                        lambda m=models[seed, domain], p=problem: alone(options, m, "gbfs", p)) for seed in seeds]
            solves += [(f"h_{heuristic}/0/{domain}/{problem.name}",
                        lambda h=heuristic, p=problem: by_heuristic(options, h, p)) for heuristic in ("ff", "add")]
    begin = time.monotonic()
    left = many.work_through(log, options.jobs, trainings, options.budget)
    if left:
        sys.exit(f"{left} models are left to train: start it again")
    # The budget is for both steps together.
    rest = options.budget and options.budget - (time.monotonic() - begin)
    left = many.work_through(log, options.jobs, solves, rest)
    print(f"{len(log.runs)} runs in {options.results}, {left} left for another time")


def scattered(items):
    """The items in another order: every beginning of it is spread over the list."""
    order = sorted(range(len(items)), key=lambda i: int(f"{i:016b}"[::-1], 2))
    return [items[i] for i in order]


def by_heuristic(options, heuristic, problem):
    arguments = ["--improve", "no", "--search", "gbfs", "--heuristic", heuristic, "--max-evaluations",
                 options.evaluations]
    return many.solve(options.homing, arguments, domain_of(problem), problem, options.seconds, options.memory)


def tables_gbfs(settings, runs):
    domains = sorted({k.split("/")[2] for k in runs})
    columns = [("h_FF", "h_ff/0"), ("h_add", "h_add/0"), *((f"model, seed {s}", f"model/{s}") for s in SEEDS
                                                           if any(k.startswith(f"model/{s}/") for k in runs))]
    text = [head_of(settings, f"At most {settings['evaluations']:,} evaluations,"),
            "Solved of those run; a domain's last column counts the problems that all columns have.", "",
            "| domain | " + " | ".join(name for name, _ in columns) + " | on the same problems |",
            "|---|" + "---:|" * len(columns) + "---|"]
    sums = [[0, 0] for _ in columns]
    shared_sums = [0] * len(columns)
    shared_count = 0
    for domain in domains:
        own = [{k.rsplit("/", 1)[1]: r for k, r in runs.items() if k.startswith(f"{start}/{domain}/")}
               for _, start in columns]
        cells = []
        for sum_, found in zip(sums, own):
            solved = sum(r["solved"] for r in found.values())
            sum_[0] += solved
            sum_[1] += len(found)
            cells.append(f"{solved} of {len(found)}")
        shared = set.intersection(*(set(found) for found in own))
        shared_count += len(shared)
        counts = [sum(found[p]["solved"] for p in shared) for found in own]
        shared_sums = [a + b for a, b in zip(shared_sums, counts)]
        text.append(f"| {domain} | " + " | ".join(cells) + f" | {numbers(counts)} of {len(shared)} |")
    text.append("| all | " + " | ".join(f"{a} of {b}" for a, b in sums) + f" | {numbers(shared_sums)} of {shared_count} |")
    at_limit = [k for k, r in runs.items() if not r.get("solved", True) and r["cpu"] > settings["seconds"] * 0.95]
    if at_limit:
        kinds = sorted({k.split("/")[0] for k in at_limit})
        text += ["", f"{len(at_limit)} runs ({', '.join(kinds)}) ended at the limit of CPU time, before that of evaluations."]
    text += ["", "| domain | evaluations, median where all solve: " + " | ".join(name for name, _ in columns) + " |",
             "|---|" + "---:|" * len(columns)]
    for domain in domains:
        own = [{k.rsplit("/", 1)[1]: r for k, r in runs.items() if k.startswith(f"{start}/{domain}/") and r["solved"]}
               for _, start in columns]
        shared = set.intersection(*(set(found) for found in own))
        medians = [many.median([found[p]["evaluations"] for p in shared]) for found in own]
        text.append(f"| {domain} ({len(shared)}) | " + " | ".join("-" if m is None else f"{m:,.0f}" for m in medians) + " |")
    return "\n".join(text) + "\n"


# --- tables and flags -----------------------------------------------------------------------------

def run_tables(options):
    kinds = {"here": tables_here, "train": tables_train, "gbfs": tables_gbfs, "residual": tables_gbfs}
    for path in options.results:
        settings, runs = many.read(path)
        text = kinds[settings["part"]](settings, runs)
        if not options.into:
            print(text)
            continue
        page = options.into.read_text()
        before, rest = page.split(START.format(settings["part"]), 1)
        after = rest.split(END, 1)[1]
        options.into.write_text(f"{before}{START.format(settings['part'])}\n{text}{END}{after}")


def flags(parser, seconds):
    parser.add_argument("--homing", type=Path, default=Path("target/release/homing"))
    parser.add_argument("--revision", help="revision of homing, where there is no git to ask")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--budget", type=float, help="seconds for each step (gbfs: for all), after which no run begins")
    parser.add_argument("--seconds", type=int, default=seconds, help="CPU seconds a run")
    parser.add_argument("--memory", type=int, default=4096, help="MiB a run")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="so many seeds")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    here = commands.add_parser("here", help="learning from the problem at hand")
    here.add_argument("results", type=Path)
    here.add_argument("folders", nargs="*", type=Path, help="a folder of folders with domain.pddl and problems")
    here.add_argument("--third", nargs="*", type=Path, default=[], help="such folders of which the largest third is taken")
    here.add_argument("--most-first", type=int, default=0, help="so many problems a domain to begin with [all]")
    here.add_argument("--most", type=int, default=0, help="so many problems a domain to compare on [all]")
    here.add_argument("--only", nargs="+", choices=list(CHANGES_HERE), metavar="CHANGE")
    flags(here, 10)
    here.set_defaults(act=run_here)
    train = commands.add_parser("train", help="learning from training problems")
    train.add_argument("results", type=Path)
    train.add_argument("track", type=Path)
    train.add_argument("--third", type=int, default=4, help="so many of the largest third of a domain")
    train.add_argument("--larger", type=int, default=4, help="so many larger problems of a domain")
    train.add_argument("--domains", nargs="+")
    train.add_argument("--only", nargs="+", choices=list(CHANGES_TRAIN), metavar="CHANGE")
    train.add_argument("--evaluations", type=int, default=1_000_000)
    flags(train, 10)
    train.set_defaults(act=run_train)
    gbfs = commands.add_parser("gbfs", help="plain GBFS in the paper's eight domains")
    gbfs.add_argument("results", type=Path)
    gbfs.add_argument("--problems", type=int, default=100, help="so many a domain, spread over the sizes; 0: all")
    gbfs.add_argument("--domains", nargs="+", choices=EIGHT)
    gbfs.add_argument("--residual", action="store_true", help="h_FF and h_add are features of the model")
    gbfs.add_argument("--evaluations", type=int, default=100_000)
    flags(gbfs, 120)
    gbfs.set_defaults(act=run_gbfs)
    tables = commands.add_parser("tables", help="tables of results, as Markdown")
    tables.add_argument("results", nargs="+", type=Path)
    tables.add_argument("--into", type=Path, help="a page with marks, in place of standard output")
    tables.set_defaults(act=run_tables)
    options = parser.parse_args()
    if hasattr(options, "homing"):
        options.homing = options.homing.resolve()
        if not options.homing.is_file():
            sys.exit(f"there is no {options.homing}")
    options.act(options)


if __name__ == "__main__":
    main()
