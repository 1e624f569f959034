"""Rows by CasADi's machine: the contract of compiled rows."""

from __future__ import annotations

import casadi as cs
import numpy as np

from linkwork.compile.interpreted import InterpretedRows
from seeds import rng
from traced_functions import mixed, reference, traced


def test_agrees_with_a_call_and_names_the_first_bad_row():
    t = traced("mixed", {"x": 3, "y": 2}, mixed)
    rows = InterpretedRows(t)
    x, y = rng("interpreted").normal(size=(9, 3)), rng("y").normal(size=(9, 2))
    out = np.full((9, 6), 7.0)
    assert rows([x, y], [out]) == -1
    assert np.array_equal(out.reshape(9, 2, 3), reference(t, x, y))
    x[4, 0] = np.inf
    assert rows([x, y], [out]) == 4


def test_elements_that_are_always_zero_are_written():
    def sparse(x):
        result = cs.SX(3, 1)
        result[1] = x[0] * x[1]
        return result

    out = np.full((2, 3), 7.0)
    rows = InterpretedRows(traced("f", {"x": 2}, sparse))
    assert rows([np.array([[2.0, 3.0], [4.0, 5.0]])], [out]) == -1
    assert np.array_equal(out, [[0, 6, 0], [0, 20, 0]])
