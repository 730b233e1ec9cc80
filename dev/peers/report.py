#!/usr/bin/env python3
"""Write docs/results/planner.md from what planner.py and scaling.py stored.

    dev/peers/report.py PLANNER.json SCALING.json > docs/results/planner.md

A pure function of the two files: nothing is measured here.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import planner  # noqa: E402
import problems  # noqa: E402
import scaling  # noqa: E402
from planner import DOWNWARD, HOMING, PYPERPLAN, geometric_mean, ratio  # noqa: E402

# What Fast Downward does better where homing is behind: (measure, problem) -> a sentence. A shortfall
# without one says that its reason is not known.
REASONS = {}
BUSY = 0.5  # load above the script's own that is worth a warning


def markdown(header, rows, text_columns=1):
    lines = ["| " + " | ".join(header) + " |",
             "|" + "|".join("---" if i < text_columns else "---:" for i in range(len(header))) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def number(value, digits=0):
    return "-" if value is None else f"{value:,.{digits}f}"


def times(value):
    return "-" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


class Results:
    """The stored measurements of some problems, asked by measure."""

    def __init__(self, results):
        self.results = results

    def where(self, test):
        return Results([r for r in self.results if test(r)])

    def group(self, name):
        return self.where(lambda r: r["group"] == name)

    def named(self, name):
        return self.where(lambda r: r["problem"] == name)

    def ratios(self, measure, peer=DOWNWARD):
        """(problem, how many times better homing is) where both have the number."""
        pairs = [(r["problem"], ratio(r["measures"].get(measure, {}), measure, peer)) for r in self.results]
        return [(name, value) for name, value in pairs if value is not None]

    def mean_ratio(self, measure, peer=DOWNWARD):
        return geometric_mean([value for _, value in self.ratios(measure, peer)])

    def least_ratio(self, measure, peer=DOWNWARD):
        values = [value for _, value in self.ratios(measure, peer)]
        return min(values) if values else None

    def mean(self, measure, of):
        cells = [r["measures"].get(measure, {}).get(of) for r in self.results]
        return geometric_mean([c["value"] for c in cells if c and c["value"] > 0])

    def spreads(self, measure, of):
        cells = [r["measures"].get(measure, {}).get(of) for r in self.results]
        return [c["spread"] for c in cells if c and c["runs"] > 1]


def stored(result, of):
    """States that the blind search kept, in the run of least memory: the one the tables show."""
    runs = result["runs"]["blind"].get(of)
    return min(runs, key=lambda run: run["peak_kb"])["stored"] if runs else None


def middle(domain):
    """The name of a domain's middle size."""
    sizes = problems.SIZES[domain]
    return f"{domain}-{'x'.join(map(str, sizes[len(sizes) // 2]))}"


def verdicts(eight, competition, domains):
    """Rows (wanted, measured, met) of what the planner is to show, and the shortfalls."""
    rows, short = [], []
    both = Results(eight.results + competition.results)

    def check(wanted, value, least, text):
        if value is None:
            rows.append([wanted, "not measured", "?"])
        else:
            rows.append([wanted, text.format(value), "yes" if value >= least else "**no**"])

    def miss(measure, name, value):
        reason = REASONS.get((measure, name), "The reason is not known.")
        short.append(f"- {planner.MEASURES[measure][0]}, {name}: {value:.2f} times Fast Downward. {reason}")

    for heuristic, sign in (("ff", "h_FF"), ("add", "h_add")):
        measure = f"{heuristic}_evaluations"
        by_domain = {d: eight.group(d).mean_ratio(measure) for d in domains}
        by_domain = {d: v for d, v in by_domain.items() if v is not None}
        worst = min(by_domain, key=by_domain.get, default=None)
        check(f"evaluations per CPU second, {sign}: at least 1.0 times Fast Downward on each domain",
              by_domain.get(worst), 1.0, f"least {{:.2f}} ({worst})")
        check("the same: at least 1.5 times in the geometric mean", geometric_mean(by_domain.values()), 1.5,
              f"{{:.2f}} (competition problems: {times(competition.mean_ratio(measure))})")
        for name, value in both.ratios(measure):
            if value < 1.0:
                miss(measure, name, value)
    check("files to ready task: at least 20 times faster than the translator in the geometric mean",
          eight.mean_ratio("ready"), 20, f"{{:.0f}} (competition problems: {times(competition.mean_ratio('ready'))})")
    check("the same: never slower", both.least_ratio("ready"), 1, "least {:.0f}")
    check("bytes per stored state: no more than Fast Downward's", both.least_ratio("state_bytes"), 1,
          "least ratio {:.2f}")
    for name, value in both.ratios("state_bytes"):
        if value < 1:
            miss("state_bytes", name, value)
    middles = eight.where(lambda r: r["problem"] == middle(r["group"]))
    check("peak memory of a blind search of 1,000,000 states, middle sizes: no more than Fast Downward's",
          middles.least_ratio("blind_peak"), 1, "least ratio {:.2f}")
    for name, value in both.ratios("blind_peak"):
        if value < 1:
            miss("blind_peak", name, value)
    return rows, short


def origin_lines(head, what):
    load = head["load_before"][0]
    processors = head.get("processors") or 1
    lines = [f"- {what}: revision {head['revision']}, {head['date']}, {head['processor']}, {processors} processors, "
             f"load {load:.1f} before the start."]
    if load > BUSY * processors:
        lines.append("  **The machine was busy with other work**: times are long and spreads wide. Ratios of planners, "
                     "which take turns, suffer less.")
    return lines


def speed_table(eight, competition, domains):
    header = ["", "h_FF homing", "Fast Downward", "ratio", "least of its sizes", "h_add homing", "Fast Downward",
              "ratio", "least of its sizes"]
    rows = []

    def row(title, some):
        cells = [title]
        for heuristic in ("ff", "add"):
            measure = f"{heuristic}_evaluations"
            cells += [number(some.mean(measure, HOMING)), number(some.mean(measure, DOWNWARD)),
                      times(some.mean_ratio(measure)), times(some.least_ratio(measure))]
        rows.append(cells)

    for domain in domains:
        row(domain, eight.group(domain))
    row("**the eight domains**", eight)
    if competition.results:
        row("**competition problems**", competition)
    return markdown(header, rows)


def mean_table(eight, competition, domains, measures, digits, peer=DOWNWARD):
    """One row a domain: homing, the peer and the ratio for each measure."""
    header = [""]
    for _, title in measures:
        header += [f"{title}: homing", peer, "ratio"]
    rows = []
    groups = [(d, eight.group(d)) for d in domains] + [("**the eight domains**", eight)]
    if competition.results:
        groups.append(("**competition problems**", competition))
    for title, some in groups:
        cells = [title]
        for measure, _ in measures:
            cells += [number(some.mean(measure, HOMING), digits), number(some.mean(measure, peer), digits),
                      times(some.mean_ratio(measure, peer))]
        rows.append(cells)
    return markdown(header, rows)


def problem_table(results):
    """Every problem: what it took both planners."""
    header = ["problem", "actions", "files, ms", "x FD", "h_FF ev/s", "x FD", "h_add ev/s", "x FD", "blind gen/s",
              "x FD", "bytes", "FD", "stored, millions", "peak MB", "FD"]
    rows = []
    for result in results.results:
        cells = result["measures"]

        def value(measure, of, digits=0, scale=1):
            cell = cells.get(measure, {}).get(of)
            return number(cell and cell["value"] * scale, digits)

        def against(measure):
            return times(ratio(cells.get(measure, {}), measure, DOWNWARD))

        runs = result["runs"]["ff"].get(HOMING) or [{}]
        mark = " *" if {"ff_evaluations", "add_evaluations"} & set(result["short"]) else ""
        states = stored(result, HOMING)
        rows.append([
            result["problem"] + mark, number(runs[0].get("actions")),
            value("ready", HOMING, 1, 1000), against("ready"),
            value("ff_evaluations", HOMING), against("ff_evaluations"),
            value("add_evaluations", HOMING), against("add_evaluations"),
            value("blind_generated", HOMING), against("blind_generated"),
            value("state_bytes", HOMING), value("state_bytes", DOWNWARD),
            number(states and states / 1e6, 2),
            value("blind_peak", HOMING, 1), value("blind_peak", DOWNWARD, 1),
        ])
    return markdown(header, rows)


def spread_table(results):
    header = ["measure", "homing, median", "most", "Fast Downward, median", "most"]
    rows = []
    for measure in ("ready", "ff_evaluations", "add_evaluations", "blind_generated", "blind_peak"):
        cells = [planner.MEASURES[measure][0]]
        for of in (HOMING, DOWNWARD):
            spreads = results.spreads(measure, of)
            cells += [f"{100 * statistics.median(spreads):.0f} %", f"{100 * max(spreads):.0f} %"] if spreads else ["-", "-"]
        rows.append(cells)
    return markdown(header, rows)


def memory_table(eight, domains):
    header = ["middle size", "states stored", "Fast Downward", "bytes per state", "Fast Downward", "peak resident MB", "Fast Downward",
              "ratio"]
    rows = []
    for domain in domains:
        some = eight.named(middle(domain))
        if not some.results:
            continue
        rows.append([middle(domain), number(stored(some.results[0], HOMING)),
                     number(stored(some.results[0], DOWNWARD)), number(some.mean("state_bytes", HOMING)),
                     number(some.mean("state_bytes", DOWNWARD)), number(some.mean("blind_peak", HOMING), 1),
                     number(some.mean("blind_peak", DOWNWARD), 1), times(some.mean_ratio("blind_peak"))])
    return markdown(header, rows)


def scaling_section(document):
    rows = []
    for domain, exponents in document["exponents"].items():
        points = document["series"][domain]
        first, last = points[0], points[-1]
        rows.append([domain, f"{'x'.join(map(str, first['size']))} to {'x'.join(map(str, last['size']))}",
                     f"{first['actions']:,} to {last['actions']:,}",
                     f"{1000 * first['ready']:.1f} to {1000 * last['ready']:,.1f}", f"{exponents['ready']:.2f}",
                     f"{first['evaluation']:.1f} to {last['evaluation']:,.1f}", f"{exponents['evaluation']:.2f}"])
    head = document["origin"]
    return [
        "## Cost against size", "",
        "![Files to ready task, and one evaluation of h_FF, against ground actions](planner-scaling.svg)", "",
        "<!-- not run: takes minutes -->", "```console",
        "python3 dev/peers/scaling.py --out scaling.json --svg docs/results/planner-scaling.svg", "```", "",
        *origin_lines(head, "Measured at"), "",
        *markdown(["domain", "sizes", "ground actions", "files to ready, ms", "exponent", "h_FF, microseconds",
                   "exponent"], rows, 2), "",
        f"An exponent is the slope of a line through the {scaling.FITTED} largest sizes of a domain, both axes logarithmic. One "
        "millisecond of the time from files to a task is the start of the process. Reading and grounding do work in "
        "proportion to initial facts plus ground actions, so 1 is what to expect: below it part of the floor is still in "
        "the fit, above it the tables have left a cache. An evaluation visits the actions whose preconditions are all "
        "reached, once for every precondition: 1 again while every action is reached, less where the goals are settled early, "
        "more, probably, where the tables of a pass outgrow a cache level (they hold megabytes for the largest of blocks and parking).",
    ]


def report(measured, scaled):
    head = measured["origin"]
    results = Results(measured["results"])
    domains = [d for d in problems.SIZES if results.group(d).results]
    eight = results.where(lambda r: r["group"] in domains)
    competition = results.group("competition")
    rows, short = verdicts(eight, competition, domains)
    lines = [
        "# The planner beside Fast Downward and pyperplan", "",
        "Written by `dev/peers/report.py` from stored measurements; [dev/peers](../../dev/peers/README.md) says what each "
        "measure is and how it is taken. A ratio says how many times better homing is, whatever the direction of the measure.",
        "", *markdown(["wanted", "measured", "met"], rows, 3), "",
        "## Shortfalls", "", *(short or ["None."]), "",
        "## Where the numbers come from", "",
        "<!-- not run: needs Fast Downward and pyperplan -->", "```console",
        "cargo build --release", f"python3 {head['command']} --out planner.json",
        "python3 dev/peers/scaling.py --out scaling.json --svg docs/results/planner-scaling.svg",
        "python3 dev/peers/report.py planner.json scaling.json > docs/results/planner.md", "```", "",
        *origin_lines(head, "Measured at"),
        f"- Fast Downward {head['fast_downward']} (release build of {head['packages'][0]}), {head['packages'][1]}, Python "
        f"{head['python']}; seed {head['seed']} of the generated problems.",
        f"- Problems at a time: {len(head['cores'])}, each pinned to a core of its own; {head['repeats']} or more runs of each kind, the best "
        f"counts; {head['time_limit']:g} s for a search, {head['pyperplan_limit']:g} s for pyperplan's.",
        "- Spread, (most - least) / best, over the runs of a problem:", "",
        *spread_table(results), "",
        "## Evaluations per CPU second", "",
        "Greedy best first search; geometric means over the sizes of a domain.", "",
        *speed_table(eight, competition, domains), "",
        "## Files to a task ready for search", "",
        "CPU seconds; Fast Downward's translator alone, without what its search needs to read the output.", "",
        *mean_table(eight, competition, domains, [("ready", "CPU s")], 4), "",
        "## Memory", "",
        "A* with the blind heuristic, until about a million states are stored.", "",
        *memory_table(eight, domains), "",
        "## Generated states per CPU second", "",
        *mean_table(eight, competition, domains, [("blind_generated", "blind A*"), ("ff_generated", "GBFS h_FF"),
                                                  ("add_generated", "GBFS h_add")], 0), "",
    ]
    if any(PYPERPLAN in r["measures"].get("ff_evaluations", {}) for r in results.results):
        lines += [
            "## pyperplan", "",
            "Python throughout: a second opinion on what is counted, not a race. It evaluates repeated states too.", "",
            *mean_table(eight, competition, domains, [("ready", "CPU s")], 4, PYPERPLAN), "",
            *mean_table(eight, competition, domains, [("ff_evaluations", "h_FF evaluations/s"),
                                                      ("add_evaluations", "h_add evaluations/s")], 0, PYPERPLAN), "",
        ]
    lines += [
        "## All problems", "",
        f"`*`: a search below {planner.SHORT} s, where starting up weighs in.", "",
        *problem_table(results), "",
    ]
    notes = [f"- {r['problem']}: {note}" for r in results.results for note in r["notes"]]
    if notes:
        lines += ["Runs without a result:", "", *notes, ""]
    if scaled:
        lines += scaling_section(scaled)
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("planner", type=Path, help="JSON file of planner.py")
    parser.add_argument("scaling", type=Path, nargs="?", help="JSON file of scaling.py")
    arguments = parser.parse_args()
    scaled = json.loads(arguments.scaling.read_text()) if arguments.scaling else None
    print(report(json.loads(arguments.planner.read_text()), scaled), end="")


if __name__ == "__main__":
    main()
