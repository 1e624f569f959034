"""The built-in function: the kernel's answers at the kernel's refusals, without its overhead."""

from __future__ import annotations

import gc
import itertools
import pickle
import sys
import weakref

import numpy as np
import pytest

from linkwork.compile import kernel as kernel_module
from linkwork.compile.kernel import build
from linkwork.compile.numpy_abi import array_abi
from linkwork.errors import InputError, ShapeError
from native_rows import BATCH_ROWS, Bound, reference
from seeds import rng
from traced_functions import mixed, traced

pytestmark = pytest.mark.skipif(
    array_abi() is None, reason="this Python does not lay out arrays as the fast call needs"
)


@pytest.fixture(scope="module")
def pair():
    kernel = build(traced("mixed", {"x": 3, "y": 2}, mixed))
    return kernel, kernel.bound()


@pytest.fixture
def bound():
    made = Bound()
    made.connect()
    return made


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


# small batches


def test_batches_wait_for_the_vector_code():
    made = Bound()
    x, y = np.ones((4, 3)), np.ones((4, 2))
    assert made.fast(x, y) == "general"
    made.connect()
    assert np.array_equal(made.fast(x, y), reference(x, y))
    assert made.batches == 1
    assert isinstance(made.fast(x[0], y[0]), np.ndarray)
    assert made.batches == 1  # one configuration goes through the scalar code


def test_a_limit_of_no_rows_leaves_batches_to_the_general_way():
    made = Bound(batch_rows=0)
    made.connect()
    assert made.fast(np.ones((4, 3)), np.ones((4, 2))) == "general"
    assert isinstance(made.fast(np.ones(3), np.ones(2)), np.ndarray)


def leads():
    """Leading shapes around the limit of rows, of up to five axes, with what NumPy says of them."""
    g = rng("leads")
    fixed = [(1,), (BATCH_ROWS,), (BATCH_ROWS + 1,), (5, 10), (10, 6), (1, 1, 1), (0,), (3, 0)]
    fixed += [(0, 2**40), (2**31, 0), (1,) * 15, (1,) * 16, (1,) * 17, (2,) * 5, (2,) * 6]
    drawn = [tuple(g.integers(0, 9, size=g.integers(1, 6)).tolist()) for _ in range(200)]
    return fixed + drawn


def test_batches_of_every_shape(bound):
    g = rng("batches")
    for lead in leads():
        x, y = (g.normal(size=1) * np.ones((*lead, n)) for n in (3, 2))
        before = bound.batches
        result = bound.fast(x, y)
        small = len(lead) <= 15 and 0 < np.prod(lead, dtype=object) <= BATCH_ROWS
        assert (bound.batches - before) == small, lead
        if small:
            assert result.shape == (*lead, 3)
            assert result.flags.owndata
            assert result.flags.c_contiguous
            assert np.array_equal(result, reference(x, y))
        else:
            assert isinstance(result, str)
            assert result == "general"


def test_unequal_leading_shapes_go_the_general_way(bound):
    shapes = [(), (1,), (2,), (3,), (2, 1), (1, 2), (2, 2), (1, 1, 2)]
    for one, other in itertools.product(shapes, shapes):
        x, y = np.ones((*one, 3)), np.ones((*other, 2))
        result = bound.fast(x, y)
        assert isinstance(result, np.ndarray) == (one == other), (one, other)


def test_the_last_axis_counts(bound):
    for n, m in itertools.product(range(6), range(6)):
        for lead in ((), (4,), (2, 3)):
            result = bound.fast(np.ones((*lead, n)), np.ones((*lead, m)))
            assert isinstance(result, np.ndarray) == ((n, m) == (3, 2))


def test_batches_not_in_order_or_of_other_types_go_the_general_way(bound):
    y = np.ones((4, 2))
    odd = [
        np.ones((4, 6))[:, ::2], np.ones((8, 3))[::2], np.ones((4, 3))[::-1],
        np.asfortranarray(np.ones((4, 3))), np.broadcast_to(np.ones(3), (4, 3)),
        np.ones((4, 3), np.float32), np.ones((4, 3), ">f8"), np.ones((4, 3)).view(Sub),
        np.ma.masked_array(np.ones((4, 3))), np.ones((4, 3)).tolist(), np.ones((4, 3), np.int64),
        np.frombuffer(b"x" + np.ones(12).tobytes(), np.float64, 12, 1).reshape(4, 3),
    ]  # fmt: skip
    for x in odd:
        assert isinstance(bound.fast(x, y), str)
    assert bound.batches == 0


def test_a_row_that_is_not_finite_sends_the_batch_the_general_way(bound):
    x, y = np.ones((4, 3)), np.ones((4, 2))
    x[2, 1] = np.nan
    assert bound.fast(x, y) == "general"
    assert bound.owner.calls[-1][0] == (x, y)
    assert bound.batches == 1


@pytest.mark.parametrize("shape", [(3,), (3, 1), (1, 3, 1), (1, 1, 1, 3)])
def test_results_of_any_shape(shape):
    made = Bound(shape=shape)
    made.connect()
    for lead in ((), (4,), (2, 2)):
        x, y = np.ones((*lead, 3)), np.ones((*lead, 2))
        result = made.fast(x, y)
        assert result.shape == (*lead, *shape)
        assert np.array_equal(result.reshape(*lead, 3), reference(x, y))


@pytest.mark.parametrize("inputs", [((3, 1), 2), (3, (1, 2)), ((1, 3), (2, 1, 1)), ((3,), (2,))])
def test_arguments_of_any_shape(inputs):
    made = Bound(inputs=inputs)
    made.connect()
    x_shape, y_shape = [(s,) if isinstance(s, int) else s for s in inputs]
    g = rng("arguments of any shape")
    for lead in ((), (4,), (2, 2)):
        x, y = g.normal(size=(*lead, 3)), g.normal(size=(*lead, 2))
        before = made.batches
        result = made.fast(x.reshape(*lead, *x_shape), y.reshape(*lead, *y_shape))
        assert np.array_equal(result, reference(x, y))
        assert made.batches - before == (len(lead) > 0)
        out = np.zeros_like(result)
        assert made.fast(x.reshape(*lead, *x_shape), y.reshape(*lead, *y_shape), out=out) is out
        assert np.array_equal(out, result)
    x, y = np.ones(x_shape), np.ones(y_shape)
    several = len(x_shape) > 1 or len(y_shape) > 1
    assert isinstance(made.fast(x.ravel(), y.ravel()), str) == several
    assert isinstance(made.fast(np.ones((4, *x_shape)), y), str)
    assert isinstance(made.fast(x, np.ones((4, *y_shape))), str)
    assert isinstance(made.fast(np.ones((*x_shape[:-1], x_shape[-1] + 1)), y), str)
    assert isinstance(made.fast(np.ones((x_shape[0] + 1, *x_shape[1:])), y), str)
    if x_shape == (3, 1):
        assert isinstance(made.fast(np.ones((1, 3)), y), str)
    memory = np.ones(9)
    x, out = memory[:3].reshape(x_shape), memory[2:5]
    assert isinstance(made.fast(x, y, out=out), str), "out begins inside x"
    assert made.fast(x, y, out=memory[3:6]).base is memory


def test_float64_under_another_dtype_object(bound):
    x, y = pickle.loads(pickle.dumps((np.ones(3), np.ones(2))))
    assert x.dtype is not np.dtype(float)
    assert np.array_equal(bound.fast(x, y), reference(x, y))
    told = np.dtype(float, metadata={"unit": "rad"})
    assert isinstance(bound.fast(np.ones(3, told), np.ones(2)), np.ndarray)
    assert isinstance(bound.fast(np.ones(3, np.dtype(">f8", metadata={})), np.ones(2)), str)


# out


@pytest.mark.parametrize("lead", [(), (4,), (2, 3)])
def test_out_is_written_and_returned(bound, lead):
    g = rng("out")
    x, y, out = g.normal(size=(*lead, 3)), g.normal(size=(*lead, 2)), np.zeros((*lead, 3))
    before = sys.getrefcount(out)
    result = bound.fast(x, y, out=out)
    assert result is out
    del result
    assert np.array_equal(out, reference(x, y))
    assert bound.owner.calls == []
    assert sys.getrefcount(out) == before


def test_out_that_does_not_fit_goes_the_general_way(bound):
    x, y = np.ones(3), np.ones(2)
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    memory = np.ones(10)
    wrong = [
        "out", [0.0] * 3, np.zeros(2), np.zeros(4), np.zeros((1, 3)), np.zeros((3, 1)),
        np.zeros(()), np.zeros(3, np.float32), np.zeros(3, ">f8"), np.zeros(6)[::2],
        np.zeros(3).view(Sub), frozen, np.zeros((0, 3)), np.broadcast_to(np.zeros(1), 3),
    ]  # fmt: skip
    for out in wrong:
        assert bound.fast(x, y, out=out) == "general"
        assert bound.owner.calls[-1][1]["out"] is out
    assert bound.fast(memory[:3], y, out=memory[2:5]) == "general"
    assert bound.fast(memory[:3], memory[4:6], out=memory[5:8]) == "general"
    assert isinstance(bound.fast(memory[:3], memory[6:8], out=memory[3:6]), np.ndarray)
    assert bound.fast(np.ones((4, 3)), np.ones((4, 2)), out=np.zeros((5, 3))) == "general"
    assert bound.fast(x, y, out=np.zeros(3), threads=None) == "general"
    assert bound.fast(x, y, threads=None) == "general"
    assert bound.fast(x, y, other=np.zeros(3)) == "general"
    assert bound.fast(x, y=y) == "general"
    x[0] = np.inf
    out = np.zeros(3)
    count = sys.getrefcount(out)
    assert bound.fast(x, y, out=out) == "general"
    bound.owner.calls.clear()
    assert sys.getrefcount(out) == count


# memory


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
