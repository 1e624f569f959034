from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from kdl_small import array
from linkwork.errors import InputError, ShapeError
from linkwork.faces.pykdl import (
    Add,
    Divide,
    Equal,
    JntArray,
    JntArrayVel,
    Multiply,
    SetToZero,
    Subtract,
)


@pytest.mark.row("S3-115")
def test_elements():
    q = JntArray(3)
    q[1] = 2
    assert list(q) == [0.0, 2.0, 0.0]
    assert (q.rows(), q.columns(), len(q)) == (3, 1, 3)
    assert repr(q) == "[           0           2           0]"
    assert repr(JntArray()) == "[]"
    for k in (3, -1):
        with pytest.raises(IndexError):
            q[k]
    with pytest.raises(TypeError):
        q[0] = "1"


@pytest.mark.row("S3-115")
def test_copies_and_sizes():
    q = array(1, 2, 3)
    other = JntArray(q)
    q.resize(2)
    q.resize(4)
    assert list(q) == [1, 2, 0, 0]
    assert list(other) == [1, 2, 3]
    assert other == array(1, 2, 3 + 1e-7) and other != array(1, 2, 3.1) and other != q
    assert Equal(other, array(1, 2, 3.1), 0.2)
    for same in (copy.copy(other), copy.deepcopy(other), pickle.loads(pickle.dumps(other))):
        assert same == other and same is not other
    SetToZero(other)
    assert list(other) == [0, 0, 0]


def test_arrays():
    q = JntArray.FromArray([1, 2])
    taken = np.asarray(q)
    taken[0] = 5.0
    q.ToArray()[1] = 5.0
    assert list(q) == [1, 2]
    with pytest.raises(ShapeError):
        JntArray.FromArray([[1.0]])


@pytest.mark.row("S3-116")
def test_velocities():
    q = array(1, 2)
    both = JntArrayVel(q)
    q[0] = 5
    assert list(both.q) == [1, 2] and list(both.qdot) == [0, 0]
    live = both.q
    both.q[1] = 7
    assert live[1] == 7
    both.q = q
    assert list(live) == [5, 2]
    both.value()[0] = both.deriv()[0] = 9
    assert list(both.q) == [5, 2] and list(both.qdot) == [0, 0]
    assert Equal(both, JntArrayVel(array(5, 2), array(0, 0)))
    assert both != JntArrayVel(array(5, 2), array(0, 1))
    assert pickle.loads(pickle.dumps(both)) == copy.deepcopy(both) == both
    both.resize(3)
    assert list(both.qdot) == [0, 0, 0]
    SetToZero(both)
    assert list(both.q) == [0, 0, 0]
    with pytest.raises(ShapeError, match="3 and 2"):
        JntArrayVel(array(1, 2), array(1, 2, 3))


@pytest.mark.row("S3-135")
def test_sums_and_products():
    a, b, out = array(1, 2), array(3, 5), JntArray(2)
    Add(a, b, out)
    assert list(out) == [4, 7]
    Subtract(a, out, out)
    assert list(out) == [-3, -5]
    Multiply(a, 2, out)
    assert list(out) == [2, 4]
    Divide(b, 2, out)
    assert list(out) == [1.5, 2.5]
    Divide(array(1, -1), 0, out)
    assert list(out) == [np.inf, -np.inf]
    both = JntArrayVel(2)
    Add(JntArrayVel(a, b), JntArrayVel(b, a), both)
    assert list(both.q) == list(both.qdot) == [4, 7]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: JntArray(1.5), TypeError),
        (lambda: JntArray(-1), InputError),
        (lambda: Add(array(1), 2, array(1)), TypeError),
        (lambda: Add(array(1), array(1, 2), array(1)), ShapeError),
        (lambda: hash(array(1)), TypeError),
    ],
)
def test_refused(call: Any, kind: type[Exception]):
    with pytest.raises(kind):
        call()
