"""The loop around a graph: tiles, constants and the test for what is not finite."""

from __future__ import annotations

import ctypes

import casadi as cs
import numpy as np
import pytest

from linkwork.compile.graph import graph_of
from linkwork.compile.loops import emit_rows
from linkwork.compile.target import Engine, host, new_module


def rows_of(function, width):
    module = new_module("rows", host())
    emit_rows(module, graph_of(function, fuse=True), width, "rows", fused=host().fused)
    engine = Engine(module, host())
    pointers = [ctypes.c_void_p] * (function.n_in() + function.n_out())
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *pointers)
    native = call(engine.address("rows"))

    def run(first, last, *arrays):
        return engine and native(first, last, *[a.ctypes.data for a in arrays])

    return run


def function():
    """Two inputs, one of them partly unused; two outputs, with zeros and constants in them."""
    x, y = cs.SX.sym("x", 3), cs.SX.sym("y", 2)
    out = cs.SX(4, 1)
    out[1] = x[0] + y[1]
    out[2] = 2.5
    return cs.Function("f", [x, y], [out, cs.vertcat(x[1], 0, x[0] * x[1])])


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_only_the_asked_rows_are_written_constants_included(width):
    n = 8 * 3
    x, y = np.arange(3.0 * n).reshape(n, 3), -np.arange(2.0 * n).reshape(n, 2)
    a, b = np.full((n, 4), 7.0), np.full((n, 3), 7.0)
    assert rows_of(function(), width)(8, 16, x, y, a, b) == -1
    expected_a = np.stack([0 * x[:, 0], x[:, 0] + y[:, 1], 0 * x[:, 0] + 2.5, 0 * x[:, 0]], 1)
    expected_b = np.stack([x[:, 1], 0 * x[:, 0], x[:, 0] * x[:, 1]], 1)
    for found, expected in ((a, expected_a), (b, expected_b)):
        assert np.array_equal(found[8:16], expected[8:16])
        assert (found[:8] == 7.0).all()
        assert (found[16:] == 7.0).all()


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("element", [0, 1, 2])
def test_the_first_tile_with_a_bad_input_is_reported_even_where_it_is_unused(width, element):
    x, y = np.ones((16, 3)), np.ones((16, 2))
    a, b = np.zeros((16, 4)), np.zeros((16, 3))
    x[13, element] = np.nan
    assert rows_of(function(), width)(0, 16, x, y, a, b) == 13 - 13 % width


def test_a_bad_result_is_reported():
    x, y = np.full((8, 3), 1e200), np.ones((8, 2))
    assert rows_of(function(), 8)(0, 8, x, y, np.zeros((8, 4)), np.zeros((8, 3))) == 0


def test_no_rows():
    x, y = np.ones((8, 3)), np.ones((8, 2))
    assert rows_of(function(), 8)(3, 3, x, y, np.zeros((8, 4)), np.zeros((8, 3))) == -1
