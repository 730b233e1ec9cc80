"""One task with about a million ground actions, through homing and through Fast Downward.

Trucks drive between any two places and carry packages. Measured are CPU seconds and the peak
resident set from files to the first evaluations: homing solves with the same greedy search and
h_FF as Fast Downward, whose translator and search are two processes.

    python3 dev/peers/large.py --homing target/release/homing --fast-downward DIR
"""

import argparse
import json
import tempfile
from pathlib import Path

from runs import REPOSITORY, FastDownward, homing_search

DOMAIN = """(define (domain haulage) (:requirements :strips :typing)
  (:types truck package place)
  (:predicates (at ?t - truck ?x - place) (lies ?p - package ?x - place) (in ?p - package ?t - truck)
               (road ?x ?y - place))
  (:action drive :parameters (?t - truck ?x ?y - place) :precondition (and (at ?t ?x) (road ?x ?y))
   :effect (and (at ?t ?y) (not (at ?t ?x))))
  (:action load :parameters (?p - package ?t - truck ?x - place) :precondition (and (at ?t ?x) (lies ?p ?x))
   :effect (and (in ?p ?t) (not (lies ?p ?x))))
  (:action unload :parameters (?p - package ?t - truck ?x - place) :precondition (and (at ?t ?x) (in ?p ?t))
   :effect (and (lies ?p ?x) (not (in ?p ?t)))))
"""


def problem(trucks, packages, places):
    """Every place has a road to every other; a package each at the first places goes to the last."""
    names = lambda letter, count: [f"{letter}{i}" for i in range(count)]
    t, p, x = names("t", trucks), names("p", packages), names("x", places)
    init = [f"(at {t[i]} {x[i % places]})" for i in range(trucks)]
    init += [f"(lies {p[i]} {x[i % places]})" for i in range(packages)]
    init += [f"(road {a} {b})" for a in x for b in x if a != b]
    goal = [f"(lies {p[i]} {x[places - 1 - i % places]})" for i in range(packages)]
    return (f"(define (problem large) (:domain haulage)\n(:objects {' '.join(t)} - truck {' '.join(p)} - package "
            f"{' '.join(x)} - place)\n(:init {' '.join(init)})\n(:goal (and {' '.join(goal)})))\n")


def show(planner, part, **measures):
    print(json.dumps({"planner": planner, "part": part, **measures}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--homing", type=Path, default=REPOSITORY / "target/release/homing")
    parser.add_argument("--fast-downward", type=Path, help="a folder with driver/ and builds/; else the wheel's")
    parser.add_argument("--trucks", type=int, default=70)
    parser.add_argument("--packages", type=int, default=20)
    parser.add_argument("--places", type=int, default=100)
    parser.add_argument("--time-limit", type=float, default=60, help="CPU seconds of a search")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        domain, instance = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
        domain.write_text(DOMAIN)
        instance.write_text(problem(arguments.trucks, arguments.packages, arguments.places))
        options = ["--search", "gbfs", "--heuristic", "ff", "--time-limit", str(arguments.time_limit)]
        run = homing_search(arguments.homing.resolve(), domain, instance, options)
        show("homing", "all", actions=run["actions"], ready=run["ready"], search=run["search"],
             evaluations=run["evaluations"], peak_kb=run["peak_kb"], outcome=run["outcome"])
        downward = FastDownward(arguments.fast_downward).working_in(Path(folder, "downward"))
        run = downward.translate(domain, instance)
        show("Fast Downward", "translator", ready=run["ready"], peak_kb=run["peak_kb"])
        run = downward.search("eager_greedy([ff()], {})", arguments.time_limit)
        show("Fast Downward", "search", prepare=run["prepare"], search=run["search"],
             evaluations=run["evaluations"], peak_kb=run["peak_kb"], outcome=run["outcome"])


if __name__ == "__main__":
    main()
