"""Formulas that are compiled once they have been called often: the same bits as before."""

from __future__ import annotations

import gc
import math
import struct
import sys
from typing import Any

import numpy as np
import pytest

from linkwork.compile.numpy_abi import array_abi
from linkwork.faces import pykdl
from linkwork.faces.pykdl import (
    frame,
    frame_vel,
    inertias,
    rotation,
    rotation_vel,
    twist_vel,
    vector_vel,
)
from linkwork.faces.pykdl.swift import OFTEN, Swift
from seeds import rng

MODULES = (frame, frame_vel, inertias, rotation, rotation_vel, twist_vel, vector_vel)
ALL = {
    f"{module.__name__.rsplit('.', 1)[1]}{name}": found
    for module in MODULES
    for name, found in vars(module).items()
    if isinstance(found, Swift)
}
EVERY = pytest.mark.parametrize("name", ALL)
ODD = (0.0, -0.0, 1.0, -1.0, 1e-300, 5e-324, 1e150, 1 / 3)


def fresh(name: str) -> Swift:
    one = ALL[name]
    return Swift(one._plain, one._takes, one._gives)


def filled(kind: Any, numbers: Any) -> Any:
    if kind is float:
        return next(numbers)
    if isinstance(kind, int):
        return tuple(next(numbers) for _ in range(kind))
    made = object.__new__(kind)
    for slot, each in kind._held:
        setattr(made, slot, filled(each, numbers))
    return made


def bits(result: Any) -> bytes:
    """Of all numbers, in turn."""
    if isinstance(result, tuple):
        return b"".join(map(bits, result))
    return struct.pack("d", result) if isinstance(result, float) else bits(result._numbers())


def kinds(result: Any) -> Any:
    if isinstance(result, (tuple, float)):
        return type(result), [kinds(x) for x in result] if isinstance(result, tuple) else 0
    slots = [slot for slot, _ in type(result)._held]
    return type(result), [kinds(getattr(result, slot)) for slot in slots]


def test_there_are_some():
    assert len(ALL) >= 24


@pytest.mark.sweep(7)
@EVERY
def test_bits_and_types_are_those_of_python(name: str):
    one, random = fresh(name), rng(f"swift {name}")
    one.compile()
    if array_abi() is not None:
        assert type(one.call).__name__ == "builtin_function_or_method"
    for k in range(300):
        numbers = random.normal(size=60).tolist()
        if k % 3 == 0:
            numbers = [ODD[int(random.integers(len(ODD)))] if x < 0 else x for x in numbers]
        source = iter(numbers)
        given = [filled(kind, source) for kind in one._takes]
        try:
            expected = one._plain(*given)
        except ZeroDivisionError:
            continue  # callers keep zeros away
        got = one.call(*given)
        assert bits(got) == bits(expected), numbers
        assert kinds(got) == kinds(expected)


@EVERY
def test_it_is_compiled_that_was_called_often(name: str, monkeypatch: pytest.MonkeyPatch):
    one, compiled = fresh(name), []
    monkeypatch.setattr(Swift, "compile", lambda self: compiled.append(self))  # noqa: PLW0108  a method
    given = [filled(kind, iter([0.5] * 60)) for kind in one._takes]
    for _ in range(OFTEN - 1):
        one.call(*given)
    assert not compiled
    one.call(*given)
    assert compiled == [one]


@pytest.mark.skipif(array_abi() is None, reason="compiled code does not know this Python")
def test_compiled_code_leaves_what_is_not_plain_to_python():
    calls: list[Any] = []

    def times(v: Any, factor: Any) -> Any:
        calls.append(factor)
        return tuple([x * factor for x in v._v])

    one = Swift(times, (pykdl.Vector, float), (float, float, float))
    one.compile()
    calls.clear()
    v = pykdl.Vector(1.0, 2.0, 3.0)
    assert one.call(v, 2.0) == (2.0, 4.0, 6.0)
    assert not calls

    class Own(pykdl.Vector):
        __slots__ = ()

    batch = pykdl.Vector(np.ones(2), 2.0, 3.0)
    assert one.call(Own(v), 2.0) == (2.0, 4.0, 6.0)
    assert one.call(v, 2) == (2.0, 4.0, 6.0)
    assert one.call(batch, 2.0)[0].tolist() == [2.0, 2.0]
    assert one.call(v, math.inf) == (math.inf,) * 3
    assert one.call(v, 1e308)[1] == math.inf
    assert len(calls) == 5
    with pytest.raises(AttributeError):
        one.call(object.__new__(pykdl.Vector), 2.0)
    with pytest.raises(TypeError):
        one.call(v)
    with pytest.raises(TypeError):
        one.call(v, by=2.0)


def test_nothing_is_kept_of_what_was_made():
    one = fresh("frame_vel_INVERSE")
    one.compile()
    value = pykdl.FrameVel(pykdl.Frame(pykdl.Vector(1.0, 2.0, 3.0)), pykdl.Twist())
    for _ in range(100):
        one.call(value)
    gc.collect()
    before = sys.getrefcount(pykdl.FrameVel), sys.getrefcount(pykdl.Vector), len(gc.get_objects())
    for _ in range(1000):
        one.call(value)
    gc.collect()
    after = sys.getrefcount(pykdl.FrameVel), sys.getrefcount(pykdl.Vector), len(gc.get_objects())
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 50
