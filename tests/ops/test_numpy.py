"""NumPy's back end: always float64, and nothing shared with what was given."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.ops import Ops
from linkwork.ops.numpy import NUMPY as o


@pytest.mark.parametrize("value", [3, True, np.float32(0.5), np.int8(3), np.array(2)])
def test_scalars_come_out_as_float64(value):
    assert type(o.const(value)) is np.float64
    for function in (o.sin, o.cos, o.sqrt, o.floor, o.absolute):
        assert type(function(value)) is np.float64
    for function in (o.atan2, o.minimum, o.maximum):
        assert type(function(value, 2)) is np.float64
    assert type(o.select(np.True_, value, 2)) is np.float64
    assert type(o.dot(o.const([1, 2]), o.const([3, 4]))) is np.float64


def test_vectors_and_matrices_of_integers_are_float64():
    assert o.vector([1, 2]).dtype == np.float64
    assert o.matrix([[1, 2], [3, 4]]).dtype == np.float64
    assert o.concat([[1, 2], [3]]).dtype == np.float64
    assert o.cross([1, 0, 0], [0, 1, 0]).dtype == np.float64
    assert o.select(np.False_, [1, 2], [3, 4]).dtype == np.float64


def test_a_constant_is_a_copy():
    given = np.array([1.0, 2.0])
    constant = o.const(given)
    given[0] = 9.0
    assert constant[0] == 1.0


def test_no_warning_where_both_sides_of_a_choice_are_finite():
    with np.errstate(all="raise"):
        assert o.select(o.less(0.0, 1.0), o.sqrt(2.0), o.atan2(0.0, 0.0)) == np.sqrt(2.0)


def test_it_is_the_protocol():
    typed: Ops = o
    assert typed.name == "numpy"
