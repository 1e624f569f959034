"""NumPy's back end, and which back end blocks belong to."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from fresh_python import python
from linkwork.ops import Ops, ops_of
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
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


def test_numbers_arrays_and_sequences_are_numpys():
    assert ops_of() is NUMPY
    assert ops_of(1.0, 2, np.zeros(3), [1.0, 2.0], np.float64(1)) is NUMPY


def test_expressions_are_their_graphs_and_arrays_may_stand_beside_them():
    o = GraphOps()
    assert ops_of(np.zeros(3), o.input(0, 3), 1.0).graph is o.graph


def test_arrays_and_tracers_are_jaxs():
    jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
    from linkwork.ops.jax import JAX  # noqa: PLC0415 -- only where JAX is installed

    seen = []

    def function(x):
        seen.append(ops_of(x))
        return x * 2.0

    function(jax.numpy.ones(3))
    jax.jit(function)(jax.numpy.ones(3))
    jax.vmap(jax.grad(function))(jax.numpy.ones(3))
    assert seen == [JAX] * 3
    assert ops_of(np.zeros(3), jax.numpy.ones(3)) is JAX


@pytest.mark.parametrize("block", [ca.SX.sym("x"), ca.MX.sym("x", 3), ca.DM([1.0, 2.0])])
def test_types_of_casadi_are_refused_with_the_way_out(block):
    with pytest.raises(TypeError, match=r"type (SX|MX|DM): Robot\.symbolic"):
        ops_of(block)


def test_two_libraries_in_one_call_are_refused():
    jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
    with pytest.raises(TypeError, match="a graph and of JAX"):
        ops_of(GraphOps().input(0, 1), jax.numpy.ones(1))


def test_the_package_loads_neither_casadi_nor_jax():
    code = """
import sys
import numpy as np
from linkwork.ops import ops_of
import linkwork.spatial.se3, linkwork.spatial.inertias, linkwork.spatial.poses
ops_of(np.zeros(3))
loaded = {"casadi", "jax"} & set(sys.modules)
assert not loaded, loaded
"""
    python(code)
