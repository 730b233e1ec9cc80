"""The engines of Unified Planning, on the problems that come with it."""

import subprocess
import sys
from pathlib import Path

import pytest

up = pytest.importorskip("unified_planning")

from unified_planning.engines import PlanGenerationResultStatus as Status  # noqa: E402
from unified_planning.engines import ValidationResultStatus  # noqa: E402
from unified_planning.io import PDDLReader  # noqa: E402
from unified_planning.plans import SequentialPlan  # noqa: E402
from unified_planning.shortcuts import (  # noqa: E402
    AnytimePlanner,
    BoolType,
    CompilationKind,
    Compiler,
    Fluent,
    InstantaneousAction,
    MinimizeActionCosts,
    OneshotPlanner,
    PlanValidator,
    Problem,
    Real,
)
from unified_planning.test.examples import get_example_problems  # noqa: E402

import homing.unified_planning as engines  # noqa: E402
from conftest import BLOCKS, ROOT, tower  # noqa: E402

up.shortcuts.get_environment().credits_stream = None

CASES = Path(up.__file__).parents[1] / "up_test_cases" / "report.py"
EXAMPLES = get_example_problems()


def supported(example):
    problem = example.problem
    return isinstance(problem, Problem) and engines.Homing.supports(problem.kind)


SUPPORTED = sorted(name for name, example in EXAMPLES.items() if supported(example))


def test_enough_examples_are_supported():
    assert len(SUPPORTED) >= 12, SUPPORTED


@pytest.mark.parametrize("name", SUPPORTED)
@pytest.mark.parametrize("engine", ["homing", "homing-opt"])
def test_examples_are_solved_and_found_valid_by_others(name, engine):
    example = EXAMPLES[name]
    with OneshotPlanner(name=engine) as planner:
        result = planner.solve(example.problem, timeout=60)
    if not example.solvable:
        assert result.status == Status.UNSOLVABLE_PROVEN
        return
    assert result.status in (Status.SOLVED_SATISFICING, Status.SOLVED_OPTIMALLY), result
    with PlanValidator(name="sequential_plan_validator") as validator:
        validator.skip_checks = True
        assert validator.validate(example.problem, result.plan).status == ValidationResultStatus.VALID
    with PlanValidator(name="homing-validator") as validator:
        assert validator.validate(example.problem, result.plan).status == ValidationResultStatus.VALID
        # A shortest plan does not reach the goal without its last step. Where actions have costs,
        # the last one may cost nothing.
        if engine == "homing-opt" and result.plan.actions and not example.problem.quality_metrics:
            short = SequentialPlan(result.plan.actions[:-1])
            cut = validator.validate(example.problem, short)
            assert cut.status == ValidationResultStatus.INVALID and cut.log_messages


@pytest.mark.parametrize(
    ("name", "metric"),
    [("basic_with_costs", True), ("locations_connected_cost_minimize", True), ("robot_loader", False)],
)
def test_better_and_better_plans(name, metric):
    example = EXAMPLES[name]
    assert bool(example.problem.quality_metrics) == metric
    with AnytimePlanner(name="homing-anytime") as planner:
        results = list(planner.get_solutions(example.problem, timeout=60))
    costs = [int(result.metrics["plan_cost"]) for result in results[:-1]]
    assert costs == sorted(set(costs), reverse=True) and costs
    assert [result.status for result in results[:-1]] == [Status.INTERMEDIATE] * len(costs)
    # Unified Planning's rule: without a metric nothing is optimal.
    known = Status.SOLVED_OPTIMALLY if metric else Status.SOLVED_SATISFICING
    assert results[-1].status == known
    with PlanValidator(name="sequential_plan_validator") as validator:
        for result in results:
            assert validator.validate(example.problem, result.plan)


def test_nobody_has_to_wait_for_the_last_plan(warehouse):
    problem = PDDLReader().parse_problem(
        str(warehouse / "domain.pddl"), str(sorted((warehouse / "large").glob("*.pddl"))[-1])
    )
    with AnytimePlanner(name="homing-anytime") as planner:
        for result in planner.get_solutions(problem):
            assert result.plan is not None
            break


def test_cases_of_unified_planning_pass_its_own_report():
    if not CASES.exists():
        pytest.skip("no up_test_cases in this Unified Planning")
    done = subprocess.run(
        [sys.executable, ROOT / "dev" / "python" / "cases.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| homing, oneshot | 26 | 25 SOLVED_SATISFICING, 1 UNSOLVABLE_PROVEN |" in done.stdout
    assert "| homing-validator, validation | 28 | 3 INVALID, 25 VALID |" in done.stdout


@pytest.mark.parametrize("name", ["robot_fluent_of_user_type", "basic_with_default_values"])
def test_what_is_not_supported_may_be_compiled_away(name):
    problem = EXAMPLES[name].problem
    assert "OBJECT_FLUENTS" in problem.kind.features
    kind = CompilationKind.USERTYPE_FLUENTS_REMOVING
    with Compiler(problem_kind=problem.kind, compilation_kind=kind) as compiler:
        compiled = compiler.compile(problem, kind)
    with OneshotPlanner(name="homing") as planner:
        plan = planner.solve(compiled.problem).plan
    plan = plan.replace_action_instances(compiled.map_back_action_instance)
    with PlanValidator(name="sequential_plan_validator") as validator:
        assert validator.validate(problem, plan).status == ValidationResultStatus.VALID


def test_a_refusal_names_the_feature():
    unsupported = [
        (name, example)
        for name, example in EXAMPLES.items()
        if isinstance(example.problem, Problem) and not supported(example)
    ]
    assert unsupported
    for name, example in unsupported:
        engine = engines.Homing()
        engine.skip_checks = True
        result = engine.solve(example.problem)
        assert result.status == Status.UNSUPPORTED_PROBLEM, name
        assert "does not support" in result.log_messages[0].message
        feature = result.log_messages[0].message.split("support ")[1].split(",")[0]
        assert feature in example.problem.kind.features


def test_the_environment_finds_the_engine_by_itself():
    problem = PDDLReader().parse_problem_string(BLOCKS, tower("abc"))
    names = up.shortcuts.get_environment().factory.preference_list
    assert "homing" in names and "homing-learned" not in names
    with OneshotPlanner(problem_kind=problem.kind) as planner:
        assert planner.solve(problem).plan is not None


def test_costs_that_are_no_whole_numbers():
    problem = Problem("fractions")
    done, half = Fluent("done", BoolType()), Fluent("half", BoolType())
    problem.add_fluent(done, default_initial_value=False)
    problem.add_fluent(half, default_initial_value=False)
    direct, first, second = (InstantaneousAction(name) for name in ("direct", "first", "second"))
    direct.add_effect(done, True)
    first.add_effect(half, True)
    second.add_precondition(half)
    second.add_effect(done, True)
    problem.add_actions([direct, first, second])
    problem.add_goal(done)
    from fractions import Fraction

    costs = {direct: Real(Fraction(5, 4)), first: Real(Fraction(1, 2)), second: Real(Fraction(7, 10))}
    problem.add_quality_metric(MinimizeActionCosts(costs))
    with OneshotPlanner(name="homing-opt") as planner:
        result = planner.solve(problem)
    assert [action.action.name for action in result.plan.actions] == ["first", "second"]


def test_the_learned_engine_learns_from_problems():
    reader = PDDLReader()
    small = [reader.parse_problem_string(BLOCKS, tower(names)) for names in ("ab", "abc", "bca")]
    large = reader.parse_problem_string(BLOCKS, tower("abcdef"))
    params = {"problems": small, "training": {"budget": 5}}
    with OneshotPlanner(name="homing-learned", params=params) as planner:
        result = planner.solve(large)
        assert result.status == Status.SOLVED_SATISFICING
        assert result.metrics["heuristic"] == "counts"
        again = planner.solve(small[1])
        assert again.status == Status.SOLVED_SATISFICING
    with OneshotPlanner(name="homing-learned") as planner:
        with pytest.raises(up.exceptions.UPUsageError, match="needs a model"):
            planner.solve(large)


def test_a_time_limit_is_kept(warehouse):
    problem = PDDLReader().parse_problem(
        str(warehouse / "domain.pddl"), str(sorted((warehouse / "large").glob("*.pddl"))[-1])
    )
    with OneshotPlanner(name="homing", params={"search": "dijkstra"}) as planner:
        assert planner.solve(problem, timeout=0.5).status == Status.TIMEOUT


def test_up_ini_registers_engines(tmp_path):
    (tmp_path / "up.ini").write_text(
        "[engine mine]\nmodule_name: homing.unified_planning\nclass_name: Homing\n"
    )
    script = tmp_path / "script.py"
    script.write_text(
        "from unified_planning.shortcuts import *\n"
        "get_environment().credits_stream = None\n"
        "print('mine' in get_environment().factory.engines)\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.stdout == "True\n", done.stderr
