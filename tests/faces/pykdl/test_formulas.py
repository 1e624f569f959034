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
from linkwork.faces.pykdl.formulas import OFTEN, Formula
from linkwork.faces.pykdl.values import filled, flat
from seeds import rng

ALL = {one.name: one for one in gc.get_objects() if isinstance(one, Formula)}
EVERY = pytest.mark.parametrize("name", sorted(ALL))
ODD = (0.0, -0.0, 1.0, -1.0, 1e-300, 5e-324, 1e150, 1 / 3)


def fresh(name: str) -> Formula:
    one = ALL[name]
    return Formula(name, one.plain, one.takes, one.gives)


def bits(result: Any) -> bytes:
    """All numbers, in turn."""
    return b"".join([struct.pack("d", x) for x in flat(result)])


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
    one, random = fresh(name), rng(f"formula {name}")
    one.compile()
    if array_abi() is not None:
        assert type(one.call).__name__ == "builtin_function_or_method"
    for k in range(300):
        numbers = random.normal(size=60).tolist()
        if k % 3 == 0:
            numbers = [ODD[int(random.integers(len(ODD)))] if x < 0 else x for x in numbers]
        source = iter(numbers)
        given = [filled(kind, source) for kind in one.takes]
        try:
            expected = one.plain(*given)
        except ZeroDivisionError:
            continue  # callers keep zeros away
        got = one.call(*given)
        assert bits(got) == bits(expected), numbers
        assert kinds(got) == kinds(expected)


def test_it_is_compiled_that_was_called_often():
    one = fresh("cross")
    given = [filled(kind, iter([0.5] * 60)) for kind in one.takes]
    for _ in range(OFTEN - 1):
        one.call(*given)
    assert not one.compiled
    one.call(*given)
    assert one.compiled


@pytest.mark.skipif(array_abi() is None, reason="compiled code does not know this Python")
def test_compiled_code_leaves_what_is_not_plain_to_python():
    calls: list[Any] = []

    def times(v: Any, factor: Any) -> Any:
        calls.append(factor)
        return tuple([x * factor for x in v])

    one = Formula("test", times, (pykdl.Vector, float), (float, float, float))
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
    one = fresh("FrameVel inverse")
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
