#!/usr/bin/env python3
"""Counts of colours beside wlplan: the same states, the same features, how many a second.

homing (the example `features` of homing-learner) walks through a problem at random and prints the
states with their features. wlplan (PyPI) embeds the same states: its instance learning graph, the
same number of rounds, sets of neighbours. Where the two definitions agree, in domains without types
and static atoms, the counts must be equal: the script fails if they are not. Elsewhere they differ
in what a first colour says, and times are compared only.

    cargo build --release -p homing-learner --example features
    dev/peers/features.py [--shared ../shared] [--states 1000] [--rounds 2]
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))
import environment  # noqa: E402

PACKAGES = ["wlplan==2.1.0"]

# (domain folder, problem), where definitions agree
SAME = [("benchmarks/blocks", "probBLOCKS-16-2.pddl"), ("learning-track/blocksworld", "p60.pddl"),
        ("learning-track/blocksworld", "p99.pddl")]
OTHER = [("learning-track/ferry", "p99.pddl"), ("learning-track/miconic", "p99.pddl"),
         ("learning-track/rovers", "p99.pddl"), ("learning-track/satellite", "p99.pddl"),
         ("learning-track/spanner", "p90.pddl"), ("learning-track/transport", "p99.pddl"),
         ("benchmarks/gripper", "prob10.pddl"), ("benchmarks/logistics00", "probLOGISTICS-11-1.pddl")]


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def microseconds(count, work):
    """CPU microseconds of one of `count`; the work is done again and again for a second."""
    begin, times = cpu(), 0
    while cpu() - begin < 1:
        work()
        times += 1
    return (cpu() - begin) * 1e6 / (times * count)


class Peer:
    """wlplan with the features of these states collected."""

    def __init__(self, domain, problem, states, rounds):
        from _wlplan.planning import Atom, State
        from wlplan.data import DomainDataset, ProblemDataset
        from wlplan.feature_generator import init_feature_generator
        from wlplan.planning import parse_domain, parse_problem

        # Static atoms are no part of the states either way.
        own = parse_domain(str(domain), keep_statics=False)
        self.problem = parse_problem(str(domain), str(problem), keep_statics=False)
        predicates = {p.name: p for p in own.predicates}
        self.states = [State([Atom(predicate=predicates[words[0]], objects=words[1:])
                              for words in map(str.split, state)]) for state in states]
        self.features = init_feature_generator("wl", own, iterations=rounds)
        self.data = DomainDataset(domain=own, data=[ProblemDataset(problem=self.problem, states=self.states)])
        self.features.collect(self.data)

    def counts(self):
        return [[int(x) for x in row] for row in self.features.embed(self.data)]

    def embed_microseconds(self):
        return microseconds(len(self.states), lambda: self.features.embed(self.data))

    def predict_microseconds(self):
        """The score of a state: nothing goes to Python but a number."""
        self.features.set_weights([0.5] * self.features.get_n_features())
        self.features.set_problem(self.problem)

        def work():
            for state in self.states:
                self.features.predict(state)
        return microseconds(len(self.states), work)


def columns(rows):
    """Features by what they count in each state, whatever their names."""
    return Counter(tuple(column) for column in zip(*rows))


def dense(counts):
    names = sorted({name for row in counts for name, _ in row})
    place = {name: i for i, name in enumerate(names)}
    rows = []
    for row in counts:
        rows.append([0] * len(names))
        for name, count in row:
            rows[-1][place[name]] = count
    return rows


def lower(path, place):
    """A copy in lower case: the peer's parser knows no other keywords."""
    copy = Path(place) / path.name
    copy.write_text(path.read_text().lower())
    return copy


@contextlib.contextmanager
def quietly():
    """wlplan tells of its progress on standard output; the table is to stand there alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def compare(options, folder, name, same, place):
    domain, problem = (lower(options.shared / folder / file, place) for file in ("domain.pddl", name))
    command = [options.example, domain, problem, options.states, options.rounds]
    ours = json.loads(subprocess.check_output([str(word) for word in command]))
    begin = time.monotonic()
    with quietly():
        peer = Peer(domain, problem, ours["states"], options.rounds)
        theirs = peer.counts()
    equal = columns(dense(ours["counts"])) == columns(theirs)
    if same and not equal:
        sys.exit(f"{folder}/{name}: the counts differ")
    nodes = ours["nodes"] / len(ours["states"])
    with quietly():
        embed, predict = peer.embed_microseconds(), peer.predict_microseconds()
    print(f"{folder}/{name}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    shown = "yes" if equal else "no: types or static atoms" if not same else "no"
    return (f"| {folder.split('/')[1]} {Path(name).stem} | {len(ours['states'])} | {ours['colours']} | {len(theirs[0])} "
            f"| {shown} | {predict:.1f} | {embed:.1f} | {ours['count']:.1f} | {ours['score']:.1f} | "
            f"{ours['difference']:.3f} | {nodes / predict:.1f} | {nodes / ours['score']:.1f} | "
            f"{nodes / ours['difference']:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shared", type=Path, default=REPOSITORY / "../shared")
    parser.add_argument("--example", type=Path, default=REPOSITORY / "target/release/examples/features")
    parser.add_argument("--states", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    environment.enter(HERE / "wlplan", PACKAGES)
    print("| problem | states | colours, homing | colours, wlplan | equal counts | wlplan score, µs | wlplan embedding, µs "
          "| homing counts, µs | homing score, µs | by difference, µs | features a µs: wlplan | homing | by difference |")
    print("|---|---:|---:|---:|---|" + "---:|" * 8)
    with tempfile.TemporaryDirectory() as place:
        for same, chosen in ((True, SAME), (False, OTHER)):
            for folder, name in chosen:
                print(compare(options, folder, name, same, place), flush=True)


if __name__ == "__main__":
    main()
