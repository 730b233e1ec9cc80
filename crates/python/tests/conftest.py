"""Files of the repository that the tests use."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def warehouse() -> Path:
    return ROOT / "examples" / "warehouse"


@pytest.fixture(scope="session")
def fixtures() -> Path:
    return ROOT / "fixtures"


BLOCKS = """
(define (domain blocks)
  (:predicates (on ?x ?y) (ontable ?x) (clear ?x) (handempty) (holding ?x))
  (:action pick-up :parameters (?x)
    :precondition (and (clear ?x) (ontable ?x) (handempty))
    :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
  (:action put-down :parameters (?x)
    :precondition (holding ?x)
    :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
  (:action stack :parameters (?x ?y)
    :precondition (and (holding ?x) (clear ?y))
    :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
  (:action unstack :parameters (?x ?y)
    :precondition (and (on ?x ?y) (clear ?x) (handempty))
    :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y)))))
"""


def tower(names: str) -> str:
    """All blocks on the table, to be stacked: the first name on top."""
    table = " ".join(f"(ontable {x}) (clear {x})" for x in names)
    goal = " ".join(f"(on {x} {y})" for x, y in zip(names, names[1:]))
    return (
        f"(define (problem tower-{names}) (:domain blocks) (:objects {' '.join(names)})"
        f" (:init (handempty) {table}) (:goal (and {goal})))"
    )


@pytest.fixture(scope="session")
def blocks():
    import homing

    return homing.Domain.from_text(BLOCKS)


@pytest.fixture(scope="session")
def abc(blocks):
    return blocks.problem_from_text(tower("abc"))
