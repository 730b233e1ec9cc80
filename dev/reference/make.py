#!/usr/bin/env python3
"""Make reference values of h_add, h_max and h_FF with pyperplan.

For every problem: the initial state and seeded random walks from it; at every
state the three heuristics of pyperplan, each checked against a second, small
implementation in this script (label correcting instead of Dijkstra) over
pyperplan's grounded task. One JSON object a line, one walk an object; see
README.md for the fields and for what is known about pyperplan's rules.
"""

import argparse
import json
import logging
import random
import re
import sys
import time
from collections import defaultdict, deque
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
PACKAGES = ["pyperplan==2.1"]

sys.path.insert(0, str(HERE.parent))
import environment  # noqa: E402

# Folder -> problems. Chosen by hand from what pyperplan can read and ground in
# a few seconds (it enumerates all argument tuples), small to large.
SHARED = {
    "../shared/instances/blocks": "2-s1 3-s0 4-s0 4-s7 5-s0 5-s8 6-s0 6-s11",
    "../shared/instances/ferry": "2-2-s0 2-6-s0 3-4-s1 4-4-s0 5-3-s2 5-6-s1 6-2-s0 6-6-s2",
    "../shared/instances/gripper": "2-s1 4-s1 6-s1 6-s8 8-s0 8-s7 10-s0 10-s11",
    "../shared/instances/logistics": "1-1-2-1-s0 1-2-2-2-s0 1-3-3-3-s0 2-2-2-2-s0 2-3-3-1-s0 3-2-1-3-s0 3-3-2-2-s0 3-3-3-3-s0",
    "../shared/instances/miconic": "2-2-s0 2-4-s1 3-2-s3 3-3-s0 3-4-s6 4-2-s7 4-3-s1 4-4-s7",
    "../shared/instances/parking": "2-2-s2 3-3-s1 3-4-s0 4-4-s0 4-6-s3 5-5-s1 6-4-s2 6-6-s3",
    "../shared/instances/satellite": "1-1-1-1-1-s0 1-2-3-3-2-s0 1-3-3-3-3-s0 2-2-2-2-1-s0 2-3-3-3-2-s0 3-1-3-3-3-s0 3-2-3-2-3-s0 3-3-3-3-1-s0",
    "../shared/instances/visitall": "3-05-s0 3-10-s1 4-05-s1 4-10-s0 4-10-s9 5-05-s4 5-10-s0 5-10-s9",
    "../shared/benchmarks/blocks": "probBLOCKS-4-1 probBLOCKS-6-1 probBLOCKS-10-0 probBLOCKS-12-0 probBLOCKS-15-0 probBLOCKS-16-2",
    "../shared/benchmarks/depot": "p01 p04 p07 p10 p13 p16 p19",
    "../shared/benchmarks/driverlog": "p01 p04 p07 p10 p13 p16 p19",
    "../shared/benchmarks/freecell": "p01 p04",
    "../shared/benchmarks/gripper": "prob01 prob04 prob10 prob19",
    "../shared/benchmarks/hanoi": "p01 p04 p07 p10 p16 p28",
    "../shared/benchmarks/logistics00": "probLOGISTICS-4-0 probLOGISTICS-6-9 probLOGISTICS-8-0 probLOGISTICS-10-0 probLOGISTICS-14-1",
    "../shared/benchmarks/miconic": "s1-0 s10-1 s11-2 s12-3 s14-2",
    "../shared/benchmarks/mystery": "prob01 prob04 prob07 prob13 prob16 prob19 prob25 prob28",
    "../shared/benchmarks/pipesworld-notankage": "p01-net1-b6-g2 p04-net1-b8-g5 p10-net1-b14-g8 p16-net2-b14-g6 p22-net3-b12-g4 p28-net3-b18-g7",
    "../shared/benchmarks/pipesworld-tankage": "p01-net1-b6-g2-t50 p04-net1-b8-g5-t80",
    "../shared/benchmarks/rovers": "p01 p04 p07 p10 p16 p22 p28",
    "../shared/benchmarks/satellite": "p01-pfile1 p04-pfile4 p07-pfile7 p10-pfile10 p16-pfile16 p22-HC-pfile2",
    "../shared/benchmarks/tpp": "p01 p04 p07 p10 p13 p16 p19",
    "../shared/benchmarks/zenotravel": "p01 p04 p07 p10 p13",
}


class Relaxation:
    """Delete relaxation of a grounded task; unit costs; None is a dead end."""

    def __init__(self, task):
        names = sorted(task.facts)
        self.index = {name: i for i, name in enumerate(names)}
        operators = sorted(task.operators, key=lambda op: op.name)
        self.pre = [[self.index[f] for f in op.preconditions] for op in operators]
        self.add = [[self.index[f] for f in op.add_effects] for op in operators]
        self.users = [[] for _ in names]
        self.achievers = [[] for _ in names]
        for i, pre in enumerate(self.pre):
            for fact in pre:
                self.users[fact].append(i)
        for i, add in enumerate(self.add):
            for fact in add:
                self.achievers[fact].append(i)
        self.goals = [self.index[f] for f in task.goals]

    def action_cost(self, action, cost, combine):
        """1 + the combined cost of the preconditions, None while one is open."""
        values = [cost[f] for f in self.pre[action]]
        if None in values:
            return None
        return 1 + combine(values)

    def costs(self, state, combine):
        """The fixpoint of the cost equations, by relabelling until nothing changes."""
        cost = [None] * len(self.users)
        for fact in state:
            cost[self.index[fact]] = 0
        work = deque(i for i, pre in enumerate(self.pre) if all(cost[f] == 0 for f in pre))
        waiting = set(work)
        while work:
            action = work.popleft()
            waiting.discard(action)
            value = self.action_cost(action, cost, combine)
            if value is None:
                continue
            for fact in self.add[action]:
                if cost[fact] is None or value < cost[fact]:
                    cost[fact] = value
                    for user in self.users[fact]:
                        if user not in waiting:
                            waiting.add(user)
                            work.append(user)
        return cost

    def goal_cost(self, cost, combine):
        values = [cost[f] for f in self.goals]
        return None if None in values else combine(values)

    def relaxed_plan(self, cost):
        """(actions, unique): cheapest supporters under h_add from the goals down.

        `unique` says that every proposition met has exactly one cheapest
        achiever, so that no tie was broken on the way.
        """
        plan, unique = set(), True
        seen = set(self.goals)
        stack = list(self.goals)
        while stack:
            fact = stack.pop()
            if cost[fact] == 0:
                continue
            cheapest = [a for a in self.achievers[fact] if self.action_cost(a, cost, sum) == cost[fact]]
            unique = unique and len(cheapest) == 1
            action = cheapest[0]
            plan.add(action)
            for pre in self.pre[action]:
                if pre not in seen:
                    seen.add(pre)
                    stack.append(pre)
        return plan, unique


def maximum(values):
    return max(values, default=0)


class Evaluator:
    """Both implementations side by side; raises where they disagree."""

    def __init__(self, task):
        from pyperplan.heuristics.relaxation import hAddHeuristic, hFFHeuristic, hMaxHeuristic

        self.own = Relaxation(task)
        self.peers = [hAddHeuristic(task), hMaxHeuristic(task), hFFHeuristic(task)]

    def __call__(self, state):
        """(add, max, ff, unique) of a state."""
        from pyperplan.search.searchspace import make_root_node

        node = make_root_node(state)
        add, high, ff = (None if (v := h(node)) == float("inf") else int(v) for h in self.peers)
        cost = self.own.costs(state, sum)
        expect(self.own.goal_cost(cost, sum) == add, "h_add differs")
        expect(self.own.goal_cost(self.own.costs(state, maximum), maximum) == high, "h_max differs")
        if add is None:
            expect(high is None and ff is None, "dead ends differ")
            return None, None, None, True
        plan, unique = self.own.relaxed_plan(cost)
        expect(not unique or len(plan) == ff, "h_FF differs although supporters are unique")
        expect(high <= ff <= add, "h_FF outside h_max .. h_add")
        return add, high, ff, unique


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def walk(task, operators, rng, length, values, evaluate):
    """Actions and states of one random walk, evaluated into `values`.

    Prefers states not seen before; ends in a deadlock and in the first dead
    end, for nothing but dead ends would follow.
    """
    state = task.initial_state
    if state not in values:
        values[state] = evaluate(state)
    actions, states = [], [state]
    while len(actions) < length and values[state][0] is not None:
        applicable = [op for op in operators if op.applicable(state)]
        if not applicable:
            break
        rng.shuffle(applicable)
        successors = ((op, op.apply(state)) for op in applicable)
        first = None
        for op, successor in successors:
            first = first or (op, successor)
            if successor not in values:
                break
        else:
            op, successor = first
        state = successor
        if state not in values:
            values[state] = evaluate(state)
        actions.append(op.name)
        states.append(state)
    return actions, states


def read(domain, problem):
    from pyperplan import grounding
    from pyperplan.pddl.parser import Parser

    parser = Parser(str(domain), str(problem))
    return canonical(grounding.ground(parser.parse_problem(parser.parse_domain())))


def canonical(task):
    """The same task with every set filled in sorted order.

    A set's order hangs on the order of insertion where hashes collide, and
    pyperplan inserts in an order that hangs on addresses in memory.
    """
    from pyperplan.task import Operator, Task

    operators = [
        Operator(op.name, sorted(op.preconditions), sorted(op.add_effects), sorted(op.del_effects))
        for op in sorted(task.operators, key=lambda op: op.name)
    ]
    initial, goals = frozenset(sorted(task.initial_state)), frozenset(sorted(task.goals))
    return Task(task.name, set(sorted(task.facts)), initial, goals, operators)


def records(domain, problem, arguments):
    """The lines of one problem and its number of different states."""
    task = read(REPOSITORY / domain, REPOSITORY / problem)
    operators = sorted(task.operators, key=lambda op: op.name)
    evaluate = Evaluator(task)
    values = {}
    lines = []
    for number in range(arguments.walks):
        rng = random.Random(f"{arguments.seed} {problem} {number}")
        length = rng.randint(*arguments.length)
        actions, states = walk(task, operators, rng, length, values, evaluate)
        columns = zip(*(values[state] for state in states))
        record = {"problem": problem, "domain": domain, "walk": actions}
        record.update(zip(("add", "max", "ff", "unique"), map(list, columns)))
        lines.append(json.dumps(record, separators=(",", ":")))
        if not actions:
            break
    return lines, values.values(), len(operators)


def shared_pairs():
    for folder, names in SHARED.items():
        for name in names.split():
            yield f"{folder}/domain.pddl", f"{folder}/{name}.pddl"


def own_pairs():
    """Problems under fixtures/valid with the domain that carries their domain's name.

    Of several such domains the one in the same folder with the longest common
    beginning of the file name is taken.
    """
    domains, problems = defaultdict(list), []
    for path in sorted((REPOSITORY / "fixtures/valid").rglob("*.pddl")):
        text = re.sub(r";[^\n]*", "", path.read_bytes().decode("utf-8", "replace")).lower()
        if found := re.search(r"\(\s*define\s*\(\s*domain\s+([^\s()]+)", text):
            domains[found[1]].append(path)
        elif found := re.search(r"\(\s*:domain\s+([^\s()]+)", text):
            problems.append((path, found[1]))
    for path, name in problems:
        def nearness(domain):
            common = len([1 for a, b in zip(domain.name, path.name) if a == b])
            return domain.parent == path.parent, common

        if domains[name]:
            domain = max(domains[name], key=nearness)
            yield str(domain.relative_to(REPOSITORY)), str(path.relative_to(REPOSITORY))
        else:
            print(f"skipped {path.name}: no domain named {name}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=["shared", "own"], default="shared",
                        help="shared: the table in this script over ../shared; own: what pyperplan can "
                        "read under fixtures/valid (default: %(default)s)")
    parser.add_argument("--problem", nargs=2, action="append", metavar=("DOMAIN", "PROBLEM"),
                        help="this problem instead of a set; paths relative to the repository; repeatable")
    parser.add_argument("--out", type=Path, help="file to write (default: fixtures/reference/SET.jsonl, "
                        "standard output with --problem)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the walks (default: %(default)s)")
    parser.add_argument("--walks", type=int, default=4, help="walks a problem (default: %(default)s)")
    parser.add_argument("--length", type=int, nargs=2, default=[10, 15], metavar=("LEAST", "MOST"),
                        help="actions a walk (default: 10 15)")
    arguments = parser.parse_args()
    # pyperplan breaks ties by the order of its sets: fix the order of strings.
    environment.enter(HERE, PACKAGES, {"PYTHONHASHSEED": "0"})
    logging.disable(logging.INFO)

    if arguments.problem:
        pairs = arguments.problem
    else:
        pairs = list(shared_pairs() if arguments.set == "shared" else own_pairs())
        arguments.out = arguments.out or REPOSITORY / "fixtures/reference" / f"{arguments.set}.jsonl"
    lines = []
    table = defaultdict(lambda: [0, 0, 0, 0])
    for domain, problem in pairs:
        start = time.process_time()
        try:
            new, values, operators = records(domain, problem, arguments)
        except AssertionError as error:
            sys.exit(f"{problem}: {error}")
        except (Exception, SystemExit) as error:
            if arguments.set == "own" and not arguments.problem:
                print(f"skipped {problem}: {type(error).__name__} {error}", file=sys.stderr)
                continue
            raise
        lines += new
        row = table[str(Path(problem).parent)]
        row[0] += 1
        row[1] += len(values)
        row[2] += sum(unique for *_, unique in values)
        row[3] += sum(add is None for add, *_ in values)
        print(f"{problem}: {len(values)} states, {operators} operators, "
              f"{time.process_time() - start:.1f} s", file=sys.stderr)
    text = "".join(line + "\n" for line in lines)
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(text)
    else:
        sys.stdout.write(text)
    print(f"{'folder':44} {'problems':>8} {'states':>7} {'unique':>7} {'dead ends':>9}", file=sys.stderr)
    for folder, row in [*table.items(), ("all", [sum(c) for c in zip(*table.values())])]:
        print(f"{folder:44} {row[0]:8} {row[1]:7} {row[2]:7} {row[3]:9}", file=sys.stderr)


if __name__ == "__main__":
    main()
