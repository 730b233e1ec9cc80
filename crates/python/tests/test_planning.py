"""Domains, problems, tasks, states, solving, validating."""

import pickle

import homing
import pytest

from conftest import BLOCKS, tower


def test_a_domain_is_read_once_for_many_problems(blocks):
    assert blocks.name == "blocks"
    assert blocks.predicates == {"on": 2, "ontable": 1, "clear": 1, "handempty": 0, "holding": 1}
    assert blocks.actions["stack"] == 2
    problems = [blocks.problem_from_text(tower(names)) for names in ("ab", "abc", "abcd")]
    assert [len(problem.objects) for problem in problems] == [2, 3, 4]


def test_solving_gives_a_record_with_a_plan(abc):
    record = homing.solve(abc)
    assert record["outcome"] == "solved"
    assert record["plan_length"] == record["plan_cost"] == len(record["plan"])
    assert record["validated"] is True
    validation = homing.validate(abc, record["plan"])
    assert validation and validation.cost == record["plan_cost"]


def test_files_are_solved_with_the_domain_beside_them_or_given(warehouse):
    problem = warehouse / "small" / "3-5-3-s1.pddl"
    domain = warehouse / "domain.pddl"
    by_path = homing.solve(problem, domain, search="astar", heuristic="max")
    by_object = homing.solve(homing.Domain(domain).problem(problem), search="astar", heuristic="max")
    assert by_path["plan"] == by_object["plan"]
    assert by_path["search"] == "astar"


def test_options_are_those_of_the_library(abc):
    limited = homing.solve(abc, max_evaluations=1, heuristic="blind")
    assert limited["outcome"] == "limit" and limited["plan"] is None
    with pytest.raises(TypeError, match="no option `max_evalutions`; there are .*max_evaluations"):
        homing.solve(abc, max_evalutions=1)
    with pytest.raises(ValueError, match="unknown variant"):
        homing.solve(abc, heuristic="best")
    # `search` is a part of the request and a field of that part.
    part = homing.solve(abc, search={"search": "astar", "heuristic": "max"}, unit_cost=True)
    assert part == {**part, "search": "astar", "heuristic": "max", "unit_cost": True}
    # `None` is "as usual".
    assert homing.solve(abc, heuristic=None, time_limit=None)["outcome"] == "solved"


def test_an_unsolvable_problem_is_an_outcome(blocks):
    text = tower("ab").replace("(handempty)", "")
    problem = blocks.problem_from_text(text)
    assert homing.solve(problem)["outcome"] == "unsolvable"
    with pytest.raises(homing.UnsolvableError):
        homing.Task(problem)


def test_mistakes_have_their_place(blocks):
    text = tower("ab").replace("(on a b)", "(onn a b)")
    with pytest.raises(homing.PddlError) as caught:
        blocks.problem_from_text(text, "mine.pddl")
    error = caught.value
    assert (error.file, error.line) == ("mine.pddl", 1)
    assert text[error.column - 1 :].startswith("onn")
    assert "onn" in error.diagnostics[0].message and error.diagnostics[0].severity == "error"
    assert "mine.pddl:1:" in str(error)


def test_check_tells_everything_at_once():
    assert homing.check(BLOCKS, tower("ab"), text=True) == []
    wrong = tower("ab").replace("(on a b)", "(onn a b)").replace("(clear a)", "(clear)")
    messages = homing.check(BLOCKS, wrong, text=True)
    assert len(messages) == 2
    assert all(message.file == "problem" and message.line == 1 for message in messages)


def test_what_is_not_supported_says_so():
    domain = BLOCKS.replace("(:predicates", "(:functions (weight ?x)) (:predicates").replace(
        "(clear ?x) (ontable ?x) (handempty))", "(clear ?x) (> (weight ?x) 3))"
    )
    with pytest.raises(homing.UnsupportedError):
        homing.Domain.from_text(domain)


def test_missing_files_are_missing_files():
    with pytest.raises(FileNotFoundError, match="nowhere"):
        homing.Domain("nowhere.pddl")


def test_validation_gives_the_reason(abc):
    validation = homing.validate(abc, ["(pick-up a)", "(stack a a)"])
    assert not validation and "step 2" in validation.reason
    with pytest.raises(homing.RequestError):
        homing.validate(abc, "not a plan")


def test_objects_can_be_pickled(blocks, abc):
    assert pickle.loads(pickle.dumps(abc)).text == abc.text
    assert pickle.loads(pickle.dumps(blocks)).name == "blocks"


def search(task, start):
    """A breadth first search, as somebody might write one."""
    parents = {start: None}
    queue = [start]
    for state in queue:
        if task.is_goal(state):
            plan = []
            while parents[state] is not None:
                state, action = parents[state]
                plan.append(task.actions[action])
            return plan[::-1]
        for action, successor in task.successors(state):
            if successor not in parents:
                parents[successor] = (state, action)
                queue.append(successor)
    return None


def test_a_search_of_ones_own(abc):
    task = homing.Task(abc)
    plan = search(task, task.initial_state)
    best = homing.solve(abc, search="astar", heuristic="max")
    assert len(plan) == best["plan_length"] == 4
    assert homing.validate(abc, plan)


def test_states_and_actions(abc):
    task = homing.Task(abc)
    state = task.initial_state
    applicable = task.applicable(state)
    assert [task.actions[action] for action in applicable] == [
        "(pick-up a)",
        "(pick-up b)",
        "(pick-up c)",
    ]
    assert task.action_number("(PICK-UP B)") == applicable[1]
    held = task.apply(state, "(pick-up a)")
    assert held != state and held == task.apply(state, applicable[0])
    assert hash(held) == hash(task.apply(state, applicable[0]))
    assert ("holding", "a") in held.atoms() and ("handempty",) not in held.atoms()
    assert set(state.atoms()) <= set(task.atoms)
    assert sum(held.bits()) == len(held.atoms())
    assert task.apply(held, "(put-down a)") == state
    assert task.goal == [("on", "a", "b"), ("on", "b", "c")]
    with pytest.raises(homing.RequestError, match="not applicable"):
        task.apply(state, "(stack a b)")
    with pytest.raises(KeyError):
        task.apply(state, "(fly a)")
    with pytest.raises(IndexError):
        task.cost(10_000)
    with pytest.raises(homing.RequestError, match="another task"):
        homing.Task(abc).applicable(state)


def test_heuristics(abc):
    task = homing.Task(abc)
    states = [task.initial_state] + [state for _, state in task.successors(task.initial_state)]
    for name in ("blind", "max", "add", "ff", "landmarks"):
        h = task.heuristic(name)
        assert h.evaluate(states) == [h(state) for state in states]
    best = task.solve(search="astar", heuristic="max")["plan_cost"]
    assert task.heuristic("max")(task.initial_state) <= best
    # A state twice has its value twice.
    assert len(set(task.heuristic("ff").evaluate([states[0]] * 3))) == 1
    with pytest.raises(homing.RequestError, match="no heuristic `best`"):
        task.heuristic("best")


def test_tensors_have_a_row_for_each_true_entry(abc):
    task = homing.Task(abc)
    rows = [memoryview(rows).cast("H") for rows in task.tensor_rows(task.initial_state)]
    # handempty; three clear, three on the table; two goals of `on`.
    assert [len(row) for row in rows] == [1, 6 * 2, 2 * 3]
    assert len(task.channels) == 3


def test_a_callback_is_told_and_may_end_the_search(warehouse):
    calls = []

    def stop(progress):
        calls.append(progress)
        return False

    problem = sorted((warehouse / "large").glob("*.pddl"))[-1]
    record = homing.solve(
        problem, warehouse / "domain.pddl", search="dijkstra", callback=stop, time_limit=60
    )
    assert record["outcome"] == "interrupted"
    assert calls and calls[0]["phase"] in ("grounding", "search", "preparing")


def test_better_plans_are_told(warehouse):
    told = []
    problem = warehouse / "small" / "3-5-3-s1.pddl"
    record = homing.solve(
        problem, warehouse / "domain.pddl", anytime=True, callback=told.append, max_evaluations=10**6
    )
    plans = [one for one in told if one["phase"] == "plan"]
    assert [one["number"] for one in plans] == list(range(1, len(plans) + 1))
    assert plans[-1]["plan"] == record["plan"] and plans[-1]["cost"] == record["plan_cost"]
    assert len(record["plans"]) == len(plans)
    best = homing.solve(problem, warehouse / "domain.pddl", search="astar", heuristic="max")
    assert record["plan_cost"] >= best["plan_cost"]
    assert not record["optimal"] or record["plan_cost"] == best["plan_cost"]


def test_an_exception_of_a_callback_comes_through(warehouse):
    def fail(progress):
        raise LookupError("enough")

    problem = sorted((warehouse / "large").glob("*.pddl"))[-1]
    with pytest.raises(LookupError, match="enough"):
        homing.solve(problem, warehouse / "domain.pddl", search="dijkstra", callback=fail)
