"""Compiled functions of Python floats: what they take and build, and what they leave to others."""

from __future__ import annotations

import gc
import math
import sys
from typing import Any

import numpy as np
import pytest

from linkwork.compile import native_call as calls
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.compile.native_call import Made, Number, Numbers, Several, Vector, number_call
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.recipe import text_recipe

pytestmark = pytest.mark.skipif(
    array_abi() is None, reason="this Python does not lay out objects as compiled code needs"
)
X, Y, BY = (1.0, 2.0, 3.0), (0.5, -1.0, 4.0), 2.0
SUM = [3.0, 2.0, 14.0]  # 2 x + 2 y


class Pair:
    __slots__ = ("left", "right")


class Triple:
    __slots__ = ("pair", "third")


def text(o: Any, x: Any, y: Any, by: Any) -> dict[str, Any]:
    return {"sum": by[0] * x + by[0] * y}


def otherwise(*given: Any, **named: Any) -> tuple[str, Any]:
    """What is compiled does this."""
    return "otherwise", given


def made(result: Any, key: tuple[str, ...] = (), **more: Any) -> Any:
    recipe = text_recipe(key, "sum", {"x": 3, "y": 3, "by": 1}, text)
    compiler = more.pop("compiler", Compiler())
    return number_call(recipe, result, compiler, more.pop("otherwise", otherwise), **more)


def test_every_kind_of_argument():
    call = made(Numbers(3))
    assert type(call).__name__ == "builtin_function_or_method"
    assert call.__doc__ == otherwise.__doc__
    for x in (X, np.array(X)):
        for y in (Y, np.array(Y)):
            for by in (BY, (BY,), np.array([BY])):
                assert call(x, y, by) == tuple(SUM)


def test_every_kind_of_result():
    assert made(Several((Number(), Numbers(2))))(X, Y, BY) == (SUM[0], tuple(SUM[1:]))
    array = made(Vector(3))(X, Y, BY)
    assert type(array) is np.ndarray
    assert array.dtype == np.float64
    assert array.flags.owndata
    assert array.tolist() == SUM
    several = made(Several((Vector(2), Number())))(X, Y, BY)
    assert several[0].tolist() == SUM[:2]
    assert several[1] == SUM[2]
    pair = Made(Pair, (("right", Number()), ("left", Number())))
    triple = made(Made(Triple, (("third", Number()), ("pair", pair))))(X, Y, BY)
    assert type(triple) is Triple
    assert type(triple.pair) is Pair
    assert [triple.third, triple.pair.right, triple.pair.left] == SUM


def test_objects_are_taken_slot_by_slot():
    takes = [Made(Pair, (("right", Numbers(3)), ("left", Numbers(3)))), Number()]
    call = made(Numbers(3), takes=takes)
    pair = Pair()
    assert call(pair, BY) == ("otherwise", (pair, BY))  # its slots are empty
    pair.left, pair.right = Y, X
    assert call(pair, BY) == tuple(SUM)
    pair.left = list(Y)
    assert call(pair, BY) == ("otherwise", (pair, BY))
    other = Triple()
    assert call(other, BY) == ("otherwise", (other, BY))


class Float(float):
    pass


@pytest.mark.parametrize(
    "x",
    [
        (1, 2.0, 3.0), (1.0, 2.0), (1.0, 2.0, 3.0, 4.0), [1.0, 2.0, 3.0], None, 1.0, "abc",
        (1.0, None, 2.0), (Float(1.0), 2.0, 3.0), np.array([1, 2, 3]), np.zeros((1, 3)),
        np.zeros(6)[::2], np.zeros(3, np.float32), np.zeros(3, ">f8"), np.float64(1.0),
        (1.0, math.nan, 2.0), (1.0, math.inf, 2.0), np.array([1.0, math.nan, 0.0]),
        (1e308, 1.0, 1.0),
    ],
    ids=repr,
)  # fmt: skip
def test_all_else_is_left_to_the_general_way(x: Any):
    call = made(Numbers(3))
    word, given = call(x, Y, BY)
    assert word == "otherwise"
    assert given[0] is x
    assert given[1:] == (Y, BY)


def test_other_counts_and_names_are_left_too():
    call = made(Numbers(3))
    assert call() == ("otherwise", ())
    assert call(X, Y) == ("otherwise", (X, Y))
    assert call(X, Y, BY, BY) == ("otherwise", (X, Y, BY, BY))
    assert call(X, Y, BY, out=None) == ("otherwise", (X, Y, BY))


def test_errors_of_the_general_way_come_through():
    def refuse(*given: Any) -> Any:
        raise ZeroDivisionError("here")

    call = made(Numbers(3), otherwise=refuse)
    with pytest.raises(ZeroDivisionError, match="here"):
        call(None, Y, BY)
    assert call(X, Y, BY) == tuple(SUM)


def test_types_without_fixed_slots_are_left_to_the_general_way():
    class Loose:
        pass

    class Listed(list[float]):
        __slots__ = ("x",)

    for kind in (Loose, Listed, int):
        assert calls.slot_offset(kind, "x") == 0
        assert made(Made(kind, (("x", Numbers(3)),))) is otherwise
    assert calls.slot_offset(Pair, "left") > 0
    assert calls.slot_offset(Pair, "other") == 0


def test_no_reference_is_lost_or_kept():
    pair = Made(Pair, (("left", Numbers(2)), ("right", Number())))
    call = made(pair)
    x, names = np.array(X), (Pair, tuple, float)
    for _ in range(10):
        call(x, Y, BY)
    gc.collect()
    before = [sys.getrefcount(name) for name in names], sys.getrefcount(x), len(gc.get_objects())
    results = [call(x, Y, BY) for _ in range(1000)]
    results += [call(None, Y, BY) for _ in range(1000)]
    del results
    gc.collect()
    after = [sys.getrefcount(name) for name in names], sys.getrefcount(x), len(gc.get_objects())
    assert abs(after[0][0] - before[0][0]) < 5
    assert after[1] == before[1]
    assert abs(after[2] - before[2]) < 50


def test_what_was_compiled_is_found_again(tmp_path: Any):
    def compiler() -> Compiler:
        return Compiler(cache=Cache(tmp_path / "kernels"))

    first = made(Numbers(3), ("a sum",), compiler=compiler())
    files = sorted(path.name for path in (tmp_path / "kernels").rglob("*") if path.is_file())
    again = made(Numbers(3), ("a sum",), compiler=compiler())
    assert files == sorted(
        path.name for path in (tmp_path / "kernels").rglob("*") if path.is_file()
    )
    assert first(X, Y, BY) == again(X, Y, BY) == tuple(SUM)
    made(Vector(3), ("a sum",), compiler=compiler())  # another result is other code
    assert len([p for p in (tmp_path / "kernels").rglob("*") if p.is_file()]) > len(files)


def test_unfused_code_rounds_as_python_does():
    def product(o: Any, a: Any) -> dict[str, Any]:
        return {"x": o.vector([a[0] * a[1] - a[2] * a[3]])}

    recipe = text_recipe((), "product", {"a": 4}, product)
    a = (1.0 + 2.0**-30, 1.0 - 2.0**-30, 1.0, 1.0)
    plain = number_call(recipe, Number(), Compiler(), otherwise, fused=False)
    assert plain(a) == a[0] * a[1] - a[2] * a[3] == 0.0


def test_without_a_known_layout_it_is_the_general_way(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(calls, "array_abi", lambda: None)
    assert made(Numbers(3)) is otherwise
