from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from linkwork.errors import ShapeError
from linkwork.faces.pykdl import Equal, Vector, scalars
from linkwork.faces.pykdl.scalars import ElementError, WrongTypeError


@pytest.mark.parametrize(
    "given", [3, 3.0, True + 2, np.float32(3), np.int8(3), np.array(3.0), Fraction(3), Decimal(3)]
)
def test_numbers_become_floats(given: object):
    taken = scalars.number(given, "x")
    assert taken == 3.0
    assert type(taken) is float


@pytest.mark.parametrize(
    "given", ["3", b"3", None, 3j, [3], (3,), {}, 10**400, np.array(["a"]), np.array([1j])]
)
def test_anything_else_is_refused(given: object):
    with pytest.raises(WrongTypeError, match="an angle"):
        scalars.number(given, "an angle")


def test_where_one_is_an_array_all_are():
    one, two = scalars.numbers((1, np.arange(3)), "x")
    assert one.tolist() == [1.0, 1.0, 1.0]
    assert two.dtype == np.float64
    assert scalars.numbers((1, 2), "x") == (1.0, 2.0)
    with pytest.raises(ShapeError, match=r"x: these shapes do not fit together: \(2,\), \(3,\)"):
        scalars.numbers((np.ones(2), np.ones(3)), "x")
    assert [type(x) for x in scalars.replaced((1.0, 2.0), 1, 5, "x")] == [float, float]
    assert scalars.replaced((1.0, 2.0), 1, np.ones(2), "x")[0].tolist() == [1.0, 1.0]


def test_indices():
    assert scalars.index(np.int64(2), 3, "Vector") == 2
    with pytest.raises(ElementError, match="elements of a Vector have the indices 0 to 2, not 3"):
        scalars.index(3, 3, "Vector")
    with pytest.raises(WrongTypeError, match="have an integer 0 to 2, not float"):
        scalars.index(1.0, 3, "Vector")
    assert scalars.pair_index((np.int8(1), 2), 3, "Rotation") == (1, 2)
    with pytest.raises(ElementError, match=r"columns\) have the indices 0 to 3"):
        scalars.pair_index((0, 4), 4, "Frame")


def test_division_by_zero_is_infinite():
    assert scalars.quotients((1.0, -2.0), 0.0) == (math.inf, -math.inf)
    assert scalars.quotients((1.0,), -0.0) == (-math.inf,)
    assert math.isnan(scalars.quotients((0.0,), 0)[0])


@pytest.mark.row("S3-015")
def test_equal_takes_eps():
    a, b = Vector(1, 2, 3), Vector(1, 2, 3.5)
    assert not Equal(a, b)
    assert Equal(a, b, 0.6)
    assert not Equal(a, b, 0.5)
    assert not Equal(a, a, 0.0)
    assert Equal(a, b, eps=0.6)


def test_close_is_decided_by_each_number():
    a = tuple(float(k) for k in range(18))
    for k in range(18):
        for off, near in ((0.999e-6, True), (1.001e-6, False), (4e-6, False), (1.0, False)):
            b = tuple(x + off * (j == k) for j, x in enumerate(a))
            assert scalars.close(a, b, 1e-6) is near
    every = tuple(x + 0.99e-6 for x in a)
    assert scalars.close(a, every, 1e-6) is True
    assert scalars.close((math.inf,), (math.inf,), 1e-6) is False
    assert scalars.close((1.0, np.ones(2)), (1.0, np.array([1.0, 2.0])), 1e-6).tolist() == [
        True,
        False,
    ]


def test_arguments_by_either_name():
    names = (("M", "T"), ("p", "t"))
    assert scalars.two_arguments("f", (1,), {"t": 2}, names) == [1, 2]
    assert scalars.two_arguments("f", (), {"p": 2, "M": 1}, names) == [1, 2]
    for given, named in (((1, 2, 3), {}), ((1,), {"M": 2}), ((), {"x": 1})):
        with pytest.raises(WrongTypeError, match="at most two arguments"):
            scalars.two_arguments("f", given, named, names)
