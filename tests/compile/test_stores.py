"""Which stores a tile has: every number once or with the same value, none outside."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest
from llvmlite import ir

from graph_rows import GraphRows
from linkwork.compile.emit import Emitter
from linkwork.compile.graph import graph_of
from linkwork.compile.stores import Stores
from seeds import rng
from traced_functions import read


def placed(n_out, computed, label):
    """Results of which the elements ``computed`` are products, in a random order of completion."""
    random = rng(f"placed {label}")
    x = cs.SX.sym("x", 2)
    results = cs.SX(n_out, 1)
    for e in random.permutation(computed):
        results[int(e)] = x[0] * float(e) + x[1]
    constant = np.setdiff1d(np.arange(n_out), computed)
    for e in constant[::3]:
        results[int(e)] = 0.5 + float(e)
    return cs.Function("f", [x], [results])


PATTERNS = {
    "none": lambda n: range(0),
    "all": range,
    "first half of each eight": lambda n: [e for e in range(n) if e % 8 < 4],
    "last two of each sixteen": lambda n: [e for e in range(n) if e % 16 > 13],
    "a few together": lambda n: range(n // 3, n // 3 + 9),
    "one in five": lambda n: range(2, n, 5),
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("n_out", [30, 64, 511, 600])
def test_constants_and_computed_columns_land_where_they_belong(pattern, n_out):
    function = placed(n_out, list(PATTERNS[pattern](n_out)), pattern)
    x = np.arange(26.0).reshape(13, 2)
    wanted = np.stack([np.array(function(row)).ravel() for row in x])
    for width in (1, 4, 8):
        found = np.full((15, n_out), 7.0)
        assert GraphRows(function, width)(1, 13, x, found) == -1
        assert np.array_equal(found[1:13], wanted[1:])
        assert (found[[0, 13, 14]] == 7.0).all()


def test_results_that_never_change_are_found_where_they_are_not_finite():
    x = cs.SX.sym("x", 1)
    graph = graph_of(read(cs.Function("f", [x], [cs.vertcat(x, cs.inf, 1, 0)])), fuse=True)
    function = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), []), "f")
    builder = ir.IRBuilder(function.append_basic_block())
    stores = Stores(Emitter(builder, 4, fused=True), graph, [None])
    assert stores.constants_not_finite() == [np.inf]
