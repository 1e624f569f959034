"""Dicts in and out of native code: what goes through, what does not, and what is left behind."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from collections import OrderedDict
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.native_call import DictShape, Part, bind_dict_call, emit_dict_call
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.target import host, new_module

ABI = array_abi()
pytestmark = pytest.mark.skipif(ABI is None, reason="the layout of objects is not known here")

DOUBLES = ctypes.POINTER(ctypes.c_double)
ROWS = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *[DOUBLES] * 4, ctypes.c_void_p
)
GIVEN = (Part(None, ("a",), (1,)), Part("joint", ("x", "y"), (0, 2)))
FOUND = (Part("arm", ("p", "q"), (0, 2)), Part(None, ("r",), (1,)))
STATE = {"a": 2.0, "joint": {"x": 1.0, "y": 4.0}}


def plain(first: int, last: int, given: Any, near: Any, numbers: Any, row: Any, none: Any) -> int:
    """Ten times what is given, and all is well where `near` is not below zero."""
    for k in range(3):
        row[k] = 10 * given[k] + numbers[k]
    row[3] = near[0]
    return 0 if near[0] < -1 else -1


class Owner:
    """Where calls go on; it keeps alive what the function uses."""

    def __init__(self, *kept: Any) -> None:
        self.kept = kept

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return ("general", args, keywords)


def call(near: float = 1.0, shape: DictShape | None = None) -> Any:
    shape = shape or DictShape(GIVEN, FOUND, n_row=4, good=3)
    module = new_module("dicts", host())
    assert ABI is not None
    emit_dict_call(module, shape, ABI)
    code = MachineCode(object_code(module, host(), simplify=True))
    rows, numbers = ROWS(plain), np.array([0.25, 0.5, 0.75])
    start = np.array([near])
    return bind_dict_call(
        code,
        ABI,
        Owner(code, rows, numbers, start),
        shape,
        rows=int(ctypes.cast(rows, ctypes.c_void_p).value or 0),
        near=start.ctypes.data,
        numbers=numbers.ctypes.data,
    )


@pytest.fixture(scope="module")
def mapping() -> Any:
    return call()


def test_there_and_back(mapping: Any):
    assert type(mapping).__name__ == "builtin_function_or_method"
    assert mapping(STATE) == {"arm": {"p": 10.25, "q": 40.75}, "r": 20.5}
    assert mapping({**STATE, "more": None}) == mapping(STATE)
    assert list(mapping(STATE)) == ["arm", "r"]


class Float(float):
    pass


class Dict(dict[str, Any]):
    pass


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"a": 2.0},
        {"a": 2.0, "joint": {"x": 1.0}},
        {"a": 2, "joint": {"x": 1.0, "y": 4.0}},
        {"a": np.float64(2.0), "joint": {"x": 1.0, "y": 4.0}},
        {"a": Float(2.0), "joint": {"x": 1.0, "y": 4.0}},
        {"a": 2.0, "joint": MappingProxyType({"x": 1.0, "y": 4.0})},
        {"a": 2.0, "joint": 1.0},
        Dict(STATE),
        OrderedDict(STATE),
        [2.0],
        None,
    ],
    ids=repr,
)
def test_all_else_goes_the_general_way(mapping: Any, state: Any):
    assert mapping(state) == ("general", (state,), {})


def test_other_arguments_go_the_general_way(mapping: Any):
    assert mapping() == ("general", (), {})
    assert mapping(STATE, 1) == ("general", (STATE, 1), {})
    assert mapping(STATE, tips=2) == ("general", (STATE,), {"tips": 2})
    assert mapping(state=STATE) == ("general", (), {"state": STATE})


def test_rows_without_an_answer_go_the_general_way():
    for near in (-2.0, -0.5, 0.0, float("nan")):
        assert call(near)(STATE)[0] == "general"


def test_nothing_is_kept_or_lost(mapping: Any):
    inner = {"x": 1.5, "y": 4.5}
    state = {"a": 2.5, "joint": inner}
    things = [state, inner, state["a"], inner["x"], "arm", "p"]
    before = [sys.getrefcount(thing) for thing in things]
    for _ in range(1000):
        mapping(state)
        mapping({"a": 1})
    assert [sys.getrefcount(thing) for thing in things] == before
    found = mapping(state)
    assert (sys.getrefcount(found["r"]), sys.getrefcount(found["arm"]["p"])) == (2, 2)
    assert sys.getrefcount(found) == 2
    gc.collect()
    count = len(gc.get_objects())
    for _ in range(1000):
        mapping(state)
    assert len(gc.get_objects()) - count < 50


def test_a_key_that_takes_its_dict_away(mapping: Any):
    state: dict[Any, Any] = {"a": 2.0}

    class Key:
        def __hash__(self) -> int:
            return hash("x")

        def __eq__(self, other: object) -> bool:
            state.pop("joint", None)
            return False

    state["joint"] = {Key(): 0.0, "y": 4.0}
    assert mapping(state)[0] == "general"
    assert "joint" not in state


def test_it_is_freed():
    mapping = call()
    owner = weakref.ref(mapping.__self__[0])
    del mapping
    gc.collect()
    assert owner() is None


def test_the_code_depends_on_no_key():
    other = DictShape(
        (Part(None, ("z",), (1,)), Part("k", ("u", "v"), (0, 2))), FOUND, n_row=4, good=3
    )
    assert other.layout == DictShape(GIVEN, FOUND, n_row=4, good=3).layout
    assert other._replace(good=2).layout != other.layout
    assert call(shape=other)({"z": 2.0, "k": {"u": 1.0, "v": 4.0}})["r"] == 20.5
