"""Every operation at every width, against CasADi's machine, its NumPy meaning and the C library."""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import sys

import casadi as cs
import numpy as np
import pytest

from emitted import WIDTHS, compiled, same_bits
from linkwork.compile.optable import OP_TABLE
from linkwork.ops.graph import GraphOps
from traced_functions import NAMES

EDGES = np.array(
    "0 -0 1 -1 0.5 -0.5 2 3.7 -8.25 1e-300 5e-324 -5e-324 2.2250738585072014e-308 1e-310 1e300 "
    "-1e300 1.7976931348623157e308 1e16 inf -inf nan 1.5707963267948966 3.141592653589793 1e6 "
    "-1e22 0.1 -0.9999999 1.0000001 709 -745.2 1e5 100000.1".split(),
    dtype=float,
)
CODES = {name: code for code, name in NAMES.items()}
ZERO_OF_EITHER_SIGN = {"FMIN", "FMAX"}  # the C standard leaves it open


def columns(arity):
    return list(np.array(list(itertools.product(EDGES, repeat=arity))).T)


def by_casadi(name, arrays):
    symbols = [cs.SX.sym(f"x{k}") for k in range(len(arrays))]
    make = cs.SX.unary if len(arrays) == 1 else cs.SX.binary
    function = cs.Function("f", symbols, [make(CODES[name], *symbols)])
    return np.array([float(function(*row)) for row in zip(*arrays, strict=True)])


def agree(name, found, expected):
    """Equal with the sign of zero, or within the last digits."""
    with np.errstate(all="ignore"):
        close = np.abs(found - expected) <= 4 * np.spacing(np.abs(expected))
    zero = (found == 0) & (expected == 0)
    same = (found == expected) | close | (np.isnan(found) & np.isnan(expected))
    if name not in ZERO_OF_EITHER_SIGN:
        same &= ~zero | (np.signbit(found) == np.signbit(expected))
    assert same.all(), (name, found[~same], expected[~same])


def test_every_operation_of_a_graph_has_a_row():
    o = GraphOps()
    x, y = o.input(0, 1)[0], o.input(1, 1)[0]
    made = [x + y, x - y, x * y, x / y, -x, o.sin(x), o.cos(x), o.atan2(x, y), o.sqrt(x)]
    made += [o.floor(x), o.absolute(x), o.minimum(x, y), o.maximum(x, y), o.less(x, y)]
    made += [o.both(x, y), o.either(x, y), o.negate(x), o.select(x, y, 0.0)]
    assert {o.graph.operations[block.numbers[0]] for block in made} == set(OP_TABLE)
    assert all(op.name == name for name, op in OP_TABLE.items())


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", sorted(OP_TABLE))
def test_values_are_casadis_at_every_width(name):
    op = OP_TABLE[name]
    arrays = columns(op.arity)
    expected = by_casadi(name, arrays)
    found = [compiled(op.emit, op.arity, width)(*arrays) for width in WIDTHS]
    agree(name, found[0], expected)
    assert all(same_bits(found[0], f) for f in found[1:])
    plain = [compiled(op.emit, op.arity, width, fused=False)(*arrays) for width in WIDTHS]
    agree(name, plain[0], expected)
    assert all(same_bits(plain[0], f) for f in plain[1:])


@pytest.mark.parametrize("name", sorted(OP_TABLE))
def test_the_numpy_meaning_is_the_same(name):
    op = OP_TABLE[name]
    arrays = columns(op.arity)
    with np.errstate(all="ignore"):
        meant = np.array([float(op.numpy(*row)) for row in zip(*arrays, strict=True)])
    agree(name, meant, compiled(op.emit, op.arity, 1)(*arrays))


def test_needs_no_casadi():
    """What the table imports, directly or through what it imports of ours."""
    outside, waiting, seen = set(), ["linkwork.compile.optable"], set()
    while waiting:
        module = waiting.pop()
        seen.add(module)
        for node in ast.walk(ast.parse(inspect.getsource(importlib.import_module(module)))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [n.name for n in node.names] if isinstance(node, ast.Import) else []
            ours = {n for n in names if n.startswith("linkwork")}
            outside.update(set(names) - ours)
            waiting += sorted(ours - seen)
    assert {n for n in outside if n.split(".")[0] not in sys.stdlib_module_names} <= {
        "llvmlite",
        "numpy",
    }
