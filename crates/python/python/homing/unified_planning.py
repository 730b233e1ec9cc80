"""Engines for Unified Planning.

Importing this module registers them in the global environment; :func:`register` does so in any
other. Without a line of code, an ``up.ini`` in the folder of a program or above it does::

    [engine homing]
    module_name: homing.unified_planning
    class_name: Homing

- ``homing`` finds a plan.
- ``homing-anytime`` finds better and better plans, as long as it is let.
- ``homing-opt`` finds a cheapest plan, by A* with h_max.
- ``homing-learned`` finds a plan with what was learnt: ``params={"model": FILE}``, or
  ``params={"problems": [...]}``, from which it learns first.
- ``homing-validator`` replays plans.
"""

from __future__ import annotations

import math
import queue
import re
import sys
import threading
import warnings
from fractions import Fraction
from functools import lru_cache
from typing import IO, Any, Callable, Iterable, Iterator

import unified_planning as up
import unified_planning.engines as engines
from unified_planning.engines.mixins import (
    AnytimePlannerMixin,
    OneshotPlannerMixin,
    PlanValidatorMixin,
)
from unified_planning.engines.mixins.anytime_planner import AnytimeGuarantee
from unified_planning.engines.mixins.oneshot_planner import OptimalityGuarantee
from unified_planning.engines.results import (
    LogLevel,
    LogMessage,
    PlanGenerationResult,
    PlanGenerationResultStatus as Status,
    ValidationResult,
    ValidationResultStatus,
)
from unified_planning.io import PDDLReader, PDDLWriter
from unified_planning.model import AbstractProblem, ProblemKind
from unified_planning.model.problem_kind_versioning import LATEST_PROBLEM_KIND_VERSION
from unified_planning.plans import PlanKind, SequentialPlan

import homing
from homing import Model, Problem

__all__ = [
    "Homing",
    "HomingAnytime",
    "HomingLearned",
    "HomingOptimal",
    "HomingValidator",
    "register",
    "to_problem",
]

_CREDITS = engines.Credits(
    "homing",
    "the authors of homing",
    "",
    "",
    "MIT OR Apache-2.0",
    "A planner that learns: corrections to classical heuristics.",
    "A planner that learns: for a domain and small problems of it, homing trains a correction to a "
    "classical heuristic, and guides search on larger problems with it.",
)

# A domain with a gap for a precondition and one for an effect. What the reader takes is what the
# engines support: no list that could fall behind.
_PROBE = """
(define (domain probe)
  (:requirements :strips :typing :negative-preconditions :equality)
  (:types thing)
  (:predicates (p ?x - thing) (q))
  (:action a :parameters (?x ?y - thing) :precondition {condition} :effect {effect}))
"""

_CONDITIONS = {
    "NEGATIVE_CONDITIONS": "(not (q))",
    "EQUALITIES": "(not (= ?x ?y))",
    "DISJUNCTIVE_CONDITIONS": "(or (q) (p ?x))",
    "EXISTENTIAL_CONDITIONS": "(exists (?z - thing) (p ?z))",
    "UNIVERSAL_CONDITIONS": "(forall (?z - thing) (p ?z))",
}

_EFFECTS = {
    "CONDITIONAL_EFFECTS": "(when (p ?x) (q))",
    "FORALL_EFFECTS": "(forall (?z - thing) (p ?z))",
}


def _reads(condition: str = "(p ?x)", effect: str = "(q)") -> bool:
    text = _PROBE.format(condition=condition, effect=effect)
    messages = homing.check(text, text=True)
    return all(message.severity == "warning" for message in messages)


@lru_cache(maxsize=None)
def _features() -> frozenset[str]:
    """The features of Unified Planning that this homing reads."""
    features = {
        "ACTION_BASED",
        "FLAT_TYPING",
        "HIERARCHICAL_TYPING",
        "ACTIONS_COST",
        "PLAN_LENGTH",
        "INT_NUMBERS_IN_ACTIONS_COST",
        # Scaled to whole numbers.
        "REAL_NUMBERS_IN_ACTIONS_COST",
        "STATIC_FLUENTS_IN_ACTIONS_COST",
        # Costs that no plan can come to need no value.
        "UNDEFINED_INITIAL_NUMERIC",
    }
    features |= {name for name, text in _CONDITIONS.items() if _reads(condition=text)}
    features |= {name for name, text in _EFFECTS.items() if _reads(effect=text)}
    return frozenset(features)


def _kind() -> ProblemKind:
    return ProblemKind(set(_features()), version=LATEST_PROBLEM_KIND_VERSION)


def _missing(kind: ProblemKind) -> list[str]:
    """The features of a kind that are not supported."""
    return sorted(kind.features - _features())


_NUMBER = re.compile(r"(?<![\w?.-])-?\d+(?:\.\d+)?(?![\w.-])")


def _scaled(texts: tuple[str, str]) -> tuple[str, str]:
    """Whole numbers in place of fractions: every number in these texts is a cost or a part of one,
    so that the order of plans stays as it is."""
    numbers = [Fraction(number) for text in texts for number in _NUMBER.findall(text)]
    factor = math.lcm(*(number.denominator for number in numbers))

    def whole(match: "re.Match[str]") -> str:
        return str(int(Fraction(match.group()) * factor))

    return _NUMBER.sub(whole, texts[0]), _NUMBER.sub(whole, texts[1])


class _Written:
    """A problem of Unified Planning as one of homing, and the names back."""

    def __init__(self, problem: AbstractProblem) -> None:
        self.writer = PDDLWriter(problem)
        domain, instance = _scaled((self.writer.get_domain(), self.writer.get_problem()))
        # The writer names the domain after the problem; problems of one domain are to have one.
        domain = re.sub(r"\(define \(domain [^()]*\)", "(define (domain up)", domain, count=1)
        instance = re.sub(r"\(:domain [^()]*\)", "(:domain up)", instance, count=1)
        self.problem = Problem.from_text(domain, instance)
        self.up_problem = problem

    def plan(self, actions: Iterable[str]) -> SequentialPlan:
        reader = PDDLReader(self.up_problem.environment)
        text = "".join(f"{action}\n" for action in actions)
        return reader.parse_plan_string(self.up_problem, text, self.writer.get_item_named)

    def actions(self, plan: SequentialPlan) -> list[str]:
        lines = []
        for action in plan.actions:
            names = [self.writer.get_pddl_name(action.action)]
            names += [self.writer.get_pddl_name(one.object()) for one in action.actual_parameters]
            lines.append(f"({' '.join(names)})")
        return lines


def to_problem(problem: AbstractProblem) -> Problem:
    """A problem of Unified Planning as a :class:`homing.Problem`."""
    return _Written(problem).problem


_STATUS = {
    "unsolvable": Status.UNSOLVABLE_PROVEN,
    "limit": Status.UNSOLVABLE_INCOMPLETELY,
    "time-limit": Status.TIMEOUT,
    "memory-limit": Status.MEMOUT,
    "interrupted": Status.TIMEOUT,
}


class _Engine(engines.Engine):
    """What the engines have in common."""

    @staticmethod
    def supported_kind() -> ProblemKind:
        return _kind()

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        return problem_kind <= _kind()

    @staticmethod
    def get_credits(**kwargs: Any) -> engines.Credits:
        return _CREDITS


class Homing(_Engine, OneshotPlannerMixin):
    """Finds a plan. ``params`` are options of :func:`homing.solve`."""

    def __init__(self, **options: Any) -> None:
        engines.Engine.__init__(self)
        OneshotPlannerMixin.__init__(self)
        self._options = options

    @property
    def name(self) -> str:
        return "homing"

    @staticmethod
    def satisfies(optimality_guarantee: OptimalityGuarantee) -> bool:
        return optimality_guarantee == OptimalityGuarantee.SATISFICING

    def _optimal(self, record: dict[str, Any]) -> bool:
        """Whether the plan in a record is known to be a best one."""
        return bool(record["optimal"])

    def _status(self, problem: AbstractProblem, record: dict[str, Any]) -> Status:
        if record["outcome"] != "solved":
            return _STATUS[record["outcome"]]
        # Nothing is optimal by no measure.
        if self._optimal(record) and getattr(problem, "quality_metrics", ()):
            return Status.SOLVED_OPTIMALLY
        return Status.SOLVED_SATISFICING

    def _solve_options(self, written: _Written) -> dict[str, Any]:
        return dict(self._options)

    def _solve(
        self,
        problem: AbstractProblem,
        heuristic: Callable[[up.model.State], float | None] | None = None,
        timeout: float | None = None,
        output_stream: IO[str] | None = None,
    ) -> PlanGenerationResult:
        return self._solve_with_params(problem, heuristic, timeout, output_stream)

    def _solve_with_params(
        self,
        problem: AbstractProblem,
        heuristic: Callable[[up.model.State], float | None] | None = None,
        timeout: float | None = None,
        output_stream: IO[str] | None = None,
        warm_start_plan: up.plans.Plan | None = None,
        **kwargs: Any,
    ) -> PlanGenerationResult:
        if heuristic is not None:
            warnings.warn(f"{self.name} does not take a heuristic of Unified Planning")
        missing = _missing(problem.kind)
        if missing:
            return self._refused(f"{self.name} does not support {', '.join(missing)}")
        try:
            written = _Written(problem)
            options = self._solve_options(written)
            options.update(kwargs)
            if timeout is not None:
                options["time_limit"] = timeout
            record = homing.solve(written.problem, **options)
        except homing.UnsupportedError as error:
            return self._refused(str(error))
        if output_stream is not None:
            output_stream.write(f"{record['outcome']}, {record['evaluations']} evaluations\n")
        return self._result(written, record)

    def _result(self, written: _Written, record: dict[str, Any]) -> PlanGenerationResult:
        names = ("evaluations", "expansions", "plan_cost", "heuristic")
        metrics = {name: str(record[name]) for name in names}
        # The name by which Unified Planning's reports know it.
        metrics["engine_internal_time"] = str(record["total_seconds"])
        plan = written.plan(record["plan"]) if record["outcome"] == "solved" else None
        status = self._status(written.up_problem, record)
        return PlanGenerationResult(status, plan, self.name, metrics=metrics)

    def _refused(self, reason: str) -> PlanGenerationResult:
        message = LogMessage(LogLevel.ERROR, reason)
        return PlanGenerationResult(
            Status.UNSUPPORTED_PROBLEM, None, self.name, log_messages=[message]
        )


class HomingAnytime(Homing, AnytimePlannerMixin):
    """Finds better and better plans, until the time is up or there is none better."""

    def __init__(self, **options: Any) -> None:
        Homing.__init__(self, **options)
        AnytimePlannerMixin.__init__(self)

    @property
    def name(self) -> str:
        return "homing-anytime"

    @staticmethod
    def ensures(anytime_guarantee: AnytimeGuarantee) -> bool:
        return anytime_guarantee == AnytimeGuarantee.INCREASING_QUALITY

    def _get_solutions(
        self,
        problem: AbstractProblem,
        timeout: float | None = None,
        output_stream: IO[str] | None = None,
    ) -> Iterator[PlanGenerationResult]:
        yield from self._get_solutions_with_params(problem, timeout, output_stream)

    def _get_solutions_with_params(
        self,
        problem: AbstractProblem,
        timeout: float | None = None,
        output_stream: IO[str] | None = None,
        warm_start_plan: up.plans.Plan | None = None,
        **kwargs: Any,
    ) -> Iterator[PlanGenerationResult]:
        missing = _missing(problem.kind)
        if missing:
            yield self._refused(f"{self.name} does not support {', '.join(missing)}")
            return
        try:
            written = _Written(problem)
        except homing.UnsupportedError as error:
            yield self._refused(str(error))
            return
        options = {**self._solve_options(written), **kwargs, "anytime": True}
        if timeout is not None:
            options["time_limit"] = timeout
        # The search has a thread of its own, so that a plan is handed on as soon as it is found.
        found: queue.Queue[dict[str, Any] | Exception] = queue.Queue()
        wanted = threading.Event()
        wanted.set()

        def tell(progress: dict[str, Any]) -> bool:
            if progress["phase"] == "plan":
                found.put(progress)
            return wanted.is_set()

        def search() -> None:
            try:
                found.put(homing.solve(written.problem, callback=tell, **options))
            except Exception as error:
                found.put(error)

        thread = threading.Thread(target=search, daemon=True)
        thread.start()
        try:
            while True:
                told = found.get()
                if isinstance(told, Exception):
                    raise told
                if "outcome" in told:
                    break
                plan = written.plan(told["plan"])
                metrics = {"plan_cost": str(told["cost"]), "seconds": str(told["seconds"])}
                yield PlanGenerationResult(Status.INTERMEDIATE, plan, self.name, metrics=metrics)
            yield self._result(written, told)
        finally:
            wanted.clear()
            thread.join()


class HomingOptimal(Homing):
    """Finds a cheapest plan, by A* with h_max."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"search": "astar", "heuristic": "max", **options})

    @property
    def name(self) -> str:
        return "homing-opt"

    @staticmethod
    def satisfies(optimality_guarantee: OptimalityGuarantee) -> bool:
        return True

    def _optimal(self, record: dict[str, Any]) -> bool:
        return True


class HomingLearned(Homing):
    """Finds a plan with what was learnt.

    ``params`` has ``model``, a :class:`homing.Model` or its file; or ``problems``, small problems of
    the same domain (of Unified Planning, or files), from which a model is learnt at the first
    problem, with the settings in ``training``. Whatever else it has is for :func:`homing.solve`.
    """

    def __init__(
        self,
        model: Model | str | None = None,
        problems: Iterable[AbstractProblem | str] = (),
        training: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if model is not None and not isinstance(model, Model):
            model = Model.load(model)
        self.model = model
        self._problems = list(problems)
        self._training = dict(training or {})

    @property
    def name(self) -> str:
        return "homing-learned"

    def _solve_options(self, written: _Written) -> dict[str, Any]:
        if self.model is None:
            if not self._problems:
                raise up.exceptions.UPUsageError(
                    "homing-learned needs a model or problems to learn from: "
                    'params={"model": FILE} or params={"problems": [...]}'
                )
            small = []
            for one in self._problems:
                if isinstance(one, AbstractProblem):
                    small.append(to_problem(one))
                else:
                    small.append(written.problem.domain.problem(one))
            self.model = homing.train(None, small, **self._training)
        return {**self._options, "model": self.model}


class HomingValidator(_Engine, PlanValidatorMixin):
    """Replays plans from the actions of the domain."""

    def __init__(self, **options: Any) -> None:
        engines.Engine.__init__(self)

    @property
    def name(self) -> str:
        return "homing-validator"

    @staticmethod
    def supports_plan(plan_kind: PlanKind) -> bool:
        return plan_kind == PlanKind.SEQUENTIAL_PLAN

    def _validate(self, problem: AbstractProblem, plan: up.plans.Plan) -> ValidationResult:
        assert isinstance(plan, SequentialPlan)
        missing = _missing(problem.kind)
        if missing:
            message = LogMessage(
                LogLevel.ERROR, f"{self.name} does not support {', '.join(missing)}"
            )
            return ValidationResult(ValidationResultStatus.UNKNOWN, self.name, [message])
        written = _Written(problem)
        validation = homing.validate(written.problem, written.actions(plan))
        if validation:
            return ValidationResult(ValidationResultStatus.VALID, self.name)
        message = LogMessage(LogLevel.INFO, validation.reason)
        return ValidationResult(ValidationResultStatus.INVALID, self.name, [message])


_ENGINES = {
    "homing": "Homing",
    "homing-anytime": "HomingAnytime",
    "homing-opt": "HomingOptimal",
    "homing-learned": "HomingLearned",
    "homing-validator": "HomingValidator",
}


def register(environment: up.environment.Environment | None = None) -> None:
    """Makes the engines known to an environment, the global one by default."""
    factory = up.environment.get_environment(environment).factory
    for name, class_name in _ENGINES.items():
        if name in factory.engines:
            continue
        factory.add_engine(name, __name__, class_name)
        if name == "homing-learned":
            # It needs a model: asked for by name, never found by itself.
            factory.preference_list.remove(name)


def _loaded_by_a_factory() -> bool:
    """Whether an ``up.ini`` has this module loaded, while the factory is being made: the factory
    takes from it what the file names, and there is none yet to register in."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "unified_planning.engines.factory":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


if not _loaded_by_a_factory():
    register()
