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
from linkwork.compile.libm import LIBM_NAMES
from linkwork.compile.optable import C_HELPERS, OP_TABLE
from traced_functions import NAMES, SAID_BY_OTHERS

EDGES = np.array(
    "0 -0 1 -1 0.5 -0.5 2 3.7 -8.25 1e-300 5e-324 -5e-324 2.2250738585072014e-308 1e-310 1e300 "
    "-1e300 1.7976931348623157e308 1e16 inf -inf nan 1.5707963267948966 3.141592653589793 1e6 "
    "-1e22 0.1 -0.9999999 1.0000001 709 -745.2 1e5 100000.1".split(),
    dtype=float,
)
CODES = {name: code for code, name in NAMES.items()}
READ = {"CONST", "INPUT", "OUTPUT", "CALL", "ASSIGN", "LIFT", "PARAMETER", "PRINTME"}  # no numbers
MATRIX = set(
    "FIND LOW MAP MTIMES SOLVE TRANSPOSE DETERMINANT INVERSE DOT BILIN RANK1 HORZCAT VERTCAT "
    "DIAGCAT HORZSPLIT VERTSPLIT DIAGSPLIT RESHAPE SUBREF SUBASSIGN GETNONZEROS "
    "GETNONZEROS_PARAM ADDNONZEROS ADDNONZEROS_PARAM SETNONZEROS SETNONZEROS_PARAM PROJECT "
    "ASSERTION MONITOR NORM2 NORM1 NORMINF NORMF MMIN MMAX HORZREPMAT HORZREPSUM EINSTEIN BSPLINE "
    "CONVEXIFY SPARSITY_CAST LOGSUMEXP DUMP KRON KRON_CONTRACT".split()
)  # only in MX functions
ZERO_OF_EITHER_SIGN = {"FMIN", "FMAX"}  # the C standard leaves it open


def write(op):
    """What loops.py does with a row."""
    if op.emit is not None:
        return op.emit
    return lambda e, *values: e.lanes(op.libm, *values)


def columns(arity):
    return list(np.array(list(itertools.product(EDGES, repeat=arity))).T)


def by_casadi(name, arrays):
    symbols = [cs.SX.sym(f"x{k}") for k in range(len(arrays))]
    make = cs.SX.unary if len(arrays) == 1 else cs.SX.binary
    function = cs.Function("f", symbols, [make(CODES[name], *symbols)])
    return np.array([float(function(*row)) for row in zip(*arrays, strict=True)])


def agree(name, found, expected):
    """Equal with the sign of zero, or within the last digits."""
    if name == "ERFINV":  # CasADi has five digits near 1; test_error_function.py asks for all
        finite = np.isfinite(expected)
        np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-5)
        assert same_bits(found[~finite], expected[~finite])
        return
    with np.errstate(all="ignore"):
        close = np.abs(found - expected) <= 4 * np.spacing(np.abs(expected))
    zero = (found == 0) & (expected == 0)
    same = (found == expected) | close | (np.isnan(found) & np.isnan(expected))
    if name not in ZERO_OF_EITHER_SIGN:
        same &= ~zero | (np.signbit(found) == np.signbit(expected))
    assert same.all(), (name, found[~same], expected[~same])


def test_every_scalar_operation_of_casadi_has_a_place():
    """A new CasADi with a new operation fails here: decide what it is."""
    places = [set(OP_TABLE), set(SAID_BY_OTHERS), READ, MATRIX]
    assert set(NAMES.values()) == set().union(*places)
    assert sum(map(len, places)) == len(NAMES)
    assert all(op.name == name for name, op in OP_TABLE.items())


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", sorted(OP_TABLE))
def test_values_are_casadis_at_every_width(name):
    op = OP_TABLE[name]
    arrays = columns(op.arity)
    expected = by_casadi(name, arrays)
    found = [compiled(write(op), op.arity, width)(*arrays) for width in WIDTHS]
    agree(name, found[0], expected)
    assert all(same_bits(found[0], f) for f in found[1:])
    plain = [compiled(write(op), op.arity, width, fused=False)(*arrays) for width in WIDTHS]
    agree(name, plain[0], expected)
    assert all(same_bits(plain[0], f) for f in plain[1:])


@pytest.mark.parametrize("name", sorted(OP_TABLE))
def test_the_numpy_meaning_is_the_same(name):
    op = OP_TABLE[name]
    arrays = columns(op.arity)
    with np.errstate(all="ignore"):
        meant = np.array([float(op.numpy(*row)) for row in zip(*arrays, strict=True)])
    agree(name, meant, compiled(write(op), op.arity, 1)(*arrays))


def test_what_c_lacks_is_defined():
    for op in OP_TABLE.values():
        called = op.c.partition("(")[0]
        assert not called.startswith("lw_") or called in C_HELPERS
        assert op.arity == 1 or "{1}" in op.c
        assert op.emit is not None or op.libm in LIBM_NAMES


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
