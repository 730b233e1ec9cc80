"""The type stubs say what the native module has."""

import ast
import inspect
from pathlib import Path

import homing
from homing import _homing

STUB = ast.parse((Path(homing.__file__).parent / "_homing.pyi").read_text(encoding="utf-8"))


def names(node):
    """The parameters of a function in the stub, without `self` and `cls`."""
    parts = node.args
    every = [*parts.posonlyargs, *parts.args, parts.vararg, *parts.kwonlyargs, parts.kwarg]
    return [one.arg for one in every if one is not None and one.arg not in ("self", "cls")]


def functions(node):
    return [one for one in node.body if isinstance(one, ast.FunctionDef)]


def compare(where, stub, real):
    if any(getattr(one, "id", None) == "property" for one in stub.decorator_list):
        assert inspect.isgetsetdescriptor(real), where
        return
    if stub.name in ("__eq__", "__hash__", "__bool__", "__call__"):
        return
    found = list(inspect.signature(real).parameters)
    assert [one for one in found if one not in ("self", "cls")] == names(stub), where


def test_every_function_and_class_is_as_the_stub_says():
    classes = [one for one in STUB.body if isinstance(one, ast.ClassDef)]
    for one in functions(STUB):
        compare(one.name, one, getattr(_homing, one.name))
    for one in classes:
        real = getattr(_homing, one.name)
        for method in functions(one):
            place = real if method.name == "__new__" else inspect.getattr_static(real, method.name)
            compare(f"{one.name}.{method.name}", method, getattr(place, "__func__", place))
    told = {one.name for one in (*functions(STUB), *classes)} | {"__version__"}
    assert told == set(_homing.__all__)


def test_the_stub_leaves_nothing_out():
    for one in STUB.body:
        if isinstance(one, ast.ClassDef):
            real = {name for name in vars(getattr(_homing, one.name)) if not name.startswith("_")}
            assert real == {method.name for method in functions(one) if method.name[0] != "_"}
