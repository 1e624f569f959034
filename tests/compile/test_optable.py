"""Every operation, compiled at both widths, against CasADi's machine and its NumPy meaning."""

from __future__ import annotations

import itertools

import casadi as cs
import numpy as np
import pytest

from linkwork.compile.graph import graph_of
from linkwork.compile.kernel import CompiledRows
from linkwork.compile.optable import OP_TABLE
from linkwork.errors import UnsupportedFeatureError

EDGES = np.array(
    "0 -0 1 -1 0.5 -0.5 2 3.7 -8.25 1e-300 5e-324 1e300 -1e300 1e16 inf -inf nan "
    "1.5707963267948966 1e6 0.1 -0.9999999 1.0000001".split(),
    dtype=float,
)

UNARY = {op.name: code for code, op in OP_TABLE.items() if op.arity == 1}
BINARY = {op.name: code for code, op in OP_TABLE.items() if op.arity == 2}


def evaluate(function, *columns):
    """The graph as scalar code and as vector code, with no regard to what is finite."""
    rows = CompiledRows("op", graph_of(function, fuse=True), [(1,)])
    n = columns[0].size
    inputs = [np.ascontiguousarray(c.reshape(-1, 1)) for c in columns]
    many, one = np.zeros((n, 1)), np.zeros((n, 1))
    tile = rows.width
    for start in range(0, n, tile):  # tile by tile: a tile with an infinity ends a call
        part = [np.resize(a[start : start + tile], (tile, 1)) for a in inputs]
        out = np.zeros((tile, 1))
        rows(part, [out])
        many[start : start + tile] = out[: min(tile, n - start)]
    for k in range(n):
        rows([a[k : k + 1] for a in inputs], [one[k : k + 1]])
    return many.ravel(), one.ravel()


def agree(name, found, expected):
    """Equal, or within the C library's last digits; which zero fmin and fmax take is open."""
    with np.errstate(all="ignore"):
        scale = np.spacing(np.abs(expected))
        close = np.abs(found - expected) <= 4 * np.where(np.isfinite(scale), scale, 0)
    same = (found == expected) | close | (np.isnan(found) & np.isnan(expected))
    assert same.all(), (name, found[~same], expected[~same])


@pytest.mark.parametrize("name", sorted(UNARY))
def test_unary(name):
    x = cs.SX.sym("x")
    function = cs.Function("f", [x], [cs.SX.unary(UNARY[name], x)])
    expected = np.array([float(function(v)) for v in EDGES])
    many, one = evaluate(function, EDGES)
    agree(name, many, expected)
    assert np.array_equal(many, one, equal_nan=True)
    op = next(op for op in OP_TABLE.values() if op.name == name)
    with np.errstate(all="ignore"):
        agree(name, np.array([float(op.numpy(v)) for v in EDGES]), expected)


@pytest.mark.parametrize("name", sorted(BINARY))
def test_binary(name):
    x, y = cs.SX.sym("x"), cs.SX.sym("y")
    function = cs.Function("f", [x, y], [cs.SX.binary(BINARY[name], x, y)])
    pairs = np.array(list(itertools.product(EDGES, EDGES)))
    expected = np.array([float(function(a, b)) for a, b in pairs])
    many, one = evaluate(function, pairs[:, 0], pairs[:, 1])
    agree(name, many, expected)
    assert np.array_equal(many, one, equal_nan=True)


def test_what_is_not_in_the_table_is_refused_by_name():
    x = cs.SX.sym("x")
    function = cs.Function("f", [x], [cs.erfinv(x)])
    with pytest.raises(UnsupportedFeatureError, match="cannot be compiled"):
        graph_of(function, fuse=True)
