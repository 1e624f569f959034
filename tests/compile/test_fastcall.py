"""The built-in function: the kernel's answers at the kernel's refusals, without its overhead."""

from __future__ import annotations

import gc
import sys
import weakref

import numpy as np
import pytest

from linkwork.compile import kernel as kernel_module
from linkwork.compile.kernel import build
from linkwork.compile.numpy_abi import array_abi
from linkwork.errors import InputError, ShapeError
from seeds import rng
from traced_functions import mixed, traced

pytestmark = pytest.mark.skipif(
    array_abi() is None, reason="this Python does not lay out arrays as the fast call needs"
)


@pytest.fixture(scope="module")
def pair():
    kernel = build(traced("mixed", {"x": 3, "y": 2}, mixed))
    return kernel, kernel.bound()


def test_is_built_in_and_gives_the_same_bits(pair):
    kernel, fast = pair
    assert type(fast).__name__ == "builtin_function_or_method"
    g = rng("fast")
    for _ in range(200):
        x, y = g.normal(size=3), g.normal(size=2)
        result = fast(x, y)
        assert result.flags.owndata
        assert result.flags.c_contiguous
        assert np.array_equal(result, kernel(x, y))


class Sub(np.ndarray):
    pass


ODD = [
    [1.0, 2.0, 3.0],
    (1, 2, 3),
    np.array([1, 2, 3]),
    np.array([1, 2, 3], np.float32),
    np.array([1.0, 2.0, 3.0], ">f8"),
    np.arange(6.0)[::2],
    np.arange(3.0)[::-1],
    np.arange(3.0).view(Sub),
    np.ma.masked_array(np.arange(3.0)),
    np.frombuffer(b"x" + np.arange(3.0).tobytes(), np.float64, 3, 1),
    np.arange(6.0).reshape(2, 3),
    np.arange(12.0).reshape(2, 2, 3),
    np.zeros((0, 3)),
    np.arange(3.0)[None],
]


@pytest.mark.parametrize("x", ODD, ids=range(len(ODD)))
def test_anything_else_goes_the_general_way(pair, x):
    kernel, fast = pair
    y = np.array([0.5, -0.25])
    assert np.array_equal(fast(x, y), kernel(x, y))


WRONG = [
    None, "abc", 3.0, object(), np.zeros(2), np.zeros(4), np.zeros(3, complex), {}, b"123",
    np.zeros((3, 2)), np.array(["a"] * 3), np.array([None] * 3), np.float64(3),
]  # fmt: skip


@pytest.mark.parametrize("x", WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_converted_is_refused(pair, x):
    with pytest.raises((InputError, ShapeError)):
        pair[1](x, np.zeros(2))


def test_counts_and_keywords(pair):
    _, fast = pair
    x, y = np.ones(3), np.ones(2)
    for args in ((), (x,), (x, y, y)):
        with pytest.raises(ShapeError, match="takes 2 arrays"):
            fast(*args)
    out = np.zeros((2, 3))
    assert fast(x, y, out=out) is out
    with pytest.raises(TypeError):
        fast(x, y, nothing=1)
    with pytest.raises(InputError, match="is nan"):
        fast(np.array([0.0, np.nan, 0.0]), y)


def test_reference_counts_stay_flat(pair):
    _, fast = pair
    x, y = np.ones(3), np.ones(2)
    bad = np.array([np.nan, 0.0, 0.0])

    def counts():
        gc.collect()
        return sys.getrefcount(x), sys.getrefcount(y), sys.getrefcount(fast), len(gc.get_objects())

    for _ in range(10):
        fast(x, y)
    before = counts()
    for _ in range(100_000):
        fast(x, y)
    for _ in range(200):
        with pytest.raises(InputError):
            fast(bad, y)
    after = counts()
    assert after[:3] == before[:3]
    assert abs(after[3] - before[3]) < 50


def test_the_code_lives_as_long_as_the_function():
    kernel = build(traced("short", {"x": 3, "y": 2}, mixed))
    fast = kernel.bound()
    watch = weakref.ref(kernel._rows)
    expected = kernel(np.ones(3), np.ones(2))
    del kernel
    gc.collect()
    assert watch() is not None
    assert np.array_equal(fast(np.ones(3), np.ones(2)), expected)
    del fast
    gc.collect()
    assert watch() is None


def test_the_general_path_stands_in_where_layouts_are_unknown(monkeypatch):
    monkeypatch.setattr(kernel_module, "array_abi", lambda: None)
    kernel = build(traced("general", {"x": 3, "y": 2}, mixed))
    assert kernel.bound() is kernel
    assert kernel(np.ones(3), np.ones(2)).shape == (2, 3)
