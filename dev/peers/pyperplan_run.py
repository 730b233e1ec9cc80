"""One search with pyperplan, counted: called by planner.py, prints one JSON object.

    pyperplan_run.py DOMAIN PROBLEM hff|hadd LIMIT

LIMIT is in CPU seconds of the search. The heuristic is wrapped so that its
calls are counted and the clock is read; the search itself is pyperplan's own.
"""

import json
import logging
import sys
import time


class OutOfTime(Exception):
    pass


def main(domain, problem, heuristic, limit):
    logging.disable(logging.CRITICAL)
    from pyperplan import grounding, planner
    from pyperplan.pddl.parser import Parser

    parser = Parser(domain, problem)
    task = grounding.ground(parser.parse_problem(parser.parse_domain()))
    inner = planner.HEURISTICS[heuristic](task)
    ready = time.process_time()
    evaluations = 0

    def counted(node):
        nonlocal evaluations
        if time.process_time() - ready > limit:
            raise OutOfTime
        evaluations += 1
        return inner(node)

    try:
        plan = planner.SEARCHES["gbf"](task, counted)
        outcome = "unsolvable" if plan is None else "solved"
    except OutOfTime:
        outcome = "time-limit"
    # pyperplan evaluates every successor it generates, and the initial state
    print(json.dumps({
        "outcome": outcome,
        "evaluations": evaluations,
        "generated": evaluations - 1,
        "search_cpu_seconds": time.process_time() - ready,
        "ready_cpu_seconds": ready,
    }))


if __name__ == "__main__":
    main(*sys.argv[1:4], float(sys.argv[4]))
