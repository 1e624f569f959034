"""Every operation at every width, against CasADi's machine, its NumPy meaning and the C library."""

from __future__ import annotations

import ast
import ctypes
import importlib
import inspect
import itertools
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import casadi as cs
import llvmlite.binding as llvm
import mpmath
import numpy as np
import pytest
from llvmlite import ir

from linkwork.compile.emit import I64, POINTER, Emitter
from linkwork.compile.machine_code import LIBM_NAMES
from linkwork.compile.optable import (
    ACCURACY,
    FAR,
    OP_TABLE,
    angle_of,
    cosine,
    sincos,
    sine,
)
from linkwork.compile.target import host
from linkwork.ops.graph import GraphOps
from seeds import rng
from traced_functions import NAMES

WIDTHS = (1, 2, 4, 8)


def compiled(
    write: Callable[..., Any], arity: int, width: int, *, fused: bool = True, results: int = 1
) -> Callable[..., Any]:
    """``write(emitter, *values)`` as a function of ``arity`` arrays with any number of elements."""
    target = host()
    library = ctypes.CDLL(None) if hasattr(ctypes.CDLL(None), "atan2") else ctypes.CDLL("libm.so.6")
    for name in LIBM_NAMES:
        address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        llvm.add_symbol(f"lw_{name}", address)
    module = ir.Module("emitted")
    module.triple = target.triple
    _write_loop(module, write, arity, width, fused=fused, results=results)
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=2, jit=True
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(str(module)), machine)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * (arity + results))
    native = kind(engine.get_function_address("each"))

    def call(*arrays: Any) -> Any:
        columns = [np.asarray(a, dtype=float).ravel() for a in arrays]
        n = columns[0].size
        padded = -(-n // width) * width
        inputs = [np.resize(c, padded) for c in columns]
        outputs = [np.empty(padded) for _ in range(results)]
        native(padded, *(a.ctypes.data for a in (*inputs, *outputs)))
        found = [o[:n] for o in outputs]
        return found[0] if results == 1 else found

    call.engine = engine  # the code lives as long as the function
    return call


def _write_loop(
    module: Any, write: Callable[..., Any], arity: int, width: int, *, fused: bool, results: int
) -> None:
    kind = ir.FunctionType(ir.VoidType(), [I64] + [POINTER] * (arity + results))
    function = ir.Function(module, kind, "each")
    entry, head, done = (function.append_basic_block(n) for n in ("entry", "head", "done"))
    b = ir.IRBuilder(entry)
    b.branch(head)
    b.position_at_end(head)
    at = b.phi(I64)
    at.add_incoming(ir.Constant(I64, 0), entry)
    e = Emitter(b, width, fused=fused)
    pointers = [b.bitcast(b.gep(a, [at]), e.type.as_pointer()) for a in function.args[1:]]
    values = [b.load(p, align=8) for p in pointers[:arity]]
    written = write(e, *values)
    for value, p in zip([written] if results == 1 else written, pointers[arity:], strict=True):
        b.store(value, p, align=8)
    following = b.add(at, ir.Constant(I64, width))
    at.add_incoming(following, b.block)
    b.cbranch(b.icmp_signed("<", following, function.args[0]), head, done)
    ir.IRBuilder(done).ret_void()


def same_bits(a: Any, b: Any) -> bool:
    """Equal to the last bit; any NaN is like any other."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return bool(np.all((a.view(np.int64) == b.view(np.int64)) | (np.isnan(a) & np.isnan(b))))


def ulps(found: Any, exact: Callable[..., Any], *arrays: Any, digits: int = 100) -> Any:
    """The error of each value in units in the last place of the exact one.

    The unit of a number below the smallest normal one is 2**-1074.
    """
    errors = np.empty(len(found))
    with mpmath.workdps(digits):
        columns = zip(found.tolist(), *(np.asarray(a).tolist() for a in arrays), strict=True)
        for k, (value, *arguments) in enumerate(columns):
            true = exact(*(mpmath.mpf(a) for a in arguments))
            unit = mpmath.ldexp(1, max(-1074, _exponent(true) - 53))
            errors[k] = float(abs(mpmath.mpf(value) - true) / unit)
    return errors


def _exponent(value: Any) -> int:
    return int(mpmath.frexp(value)[1]) if value else -1074


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
def test_the_numpy_meaning_is_casadis(name):
    op = OP_TABLE[name]
    arrays = columns(op.arity)
    with np.errstate(all="ignore"):
        meant = np.array([float(op.numpy(*row)) for row in zip(*arrays, strict=True)])
    agree(name, meant, by_casadi(name, arrays))


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
    foreign = {n for n in outside if n.split(".")[0] not in sys.stdlib_module_names}
    assert foreign <= {"llvmlite", "numpy"}


# --- What is stated about the elementary functions, on ladders, random values and special ones ---


def both_signs(a):
    return np.concatenate([a, -a])


def around(*points, steps=3):
    """Each point and its nearest neighbours."""
    found = list(points)
    for p in points:
        up, down = p, p
        for _ in range(steps):
            up, down = np.nextafter(up, np.inf), np.nextafter(down, -np.inf)
            found += [up, down]
    return np.array(found)


def angles(g):
    k = np.concatenate([np.arange(1, 120), [1000, 10007, 63661]]) * (np.pi / 4)
    small = [5e-324, 1e-310, 1e-300, 1e-160, 1e-30]
    random = np.concatenate([g.uniform(0, 4, 600), g.uniform(0, 100, 300), g.uniform(0, 1e5, 300)])
    ladder = np.logspace(-12, 5, 200)
    far = np.concatenate([around(1e5), np.logspace(5.1, 22, 30), [1e300]])
    return both_signs(np.concatenate([small, ladder, k, np.nextafter(k, 0), random, far]))


def positives(g):
    ends = around(1.0, np.sqrt(0.5), np.sqrt(2), 2.0, 2.0**-1022, steps=5)
    near_one = 1 + both_signs(np.logspace(-15, -1, 200))
    ladder = np.concatenate([np.logspace(-307, 308, 300), [5e-324, 1e-310, 1.7976931348623157e308]])
    random = np.concatenate([g.uniform(0.5, 2, 1000), g.uniform(0, 10, 500)])
    return np.concatenate([ends, near_one, ladder, random])


def pairs(g):
    spread = np.exp(g.uniform(-700, 700, (2, 600))) * g.choice([-1.0, 1.0], (2, 600))
    level = spread[0], spread[0] * g.normal(size=600)
    normal = g.normal(size=(2, 1500))
    tiny = (
        np.array([1e-310, 5e-324, 3.0, 1e-300, 2.0**-900]),
        np.array([2.0, 1e-310, -1e-310, -2, 1]),
    )
    return tuple(np.concatenate(c) for c in zip(spread, level, normal, tiny, strict=True))


CASES = {
    "SIN": (angles, mpmath.sin),
    "COS": (angles, mpmath.cos),
    "ATAN2": (pairs, mpmath.atan2),
    "SQRT": (positives, mpmath.sqrt),
}
INF, NAN = np.inf, np.nan
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, INF, -INF, NAN, 5e-324, -5e-324, 1e308, -1e308, 2.0**-1000]
)


def arguments(name):
    made = CASES[name][0](rng(name))
    return made if isinstance(made, tuple) else (made,)


def test_every_statement_is_tested():
    assert set(CASES) == set(ACCURACY)


@pytest.mark.sweep(7)
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", sorted(CASES))
def test_error_is_within_what_is_stated(name, fused):
    arrays = arguments(name)
    function = compiled(OP_TABLE[name].emit, len(arrays), 8, fused=fused)
    errors = ulps(function(*arrays), CASES[name][1], *arrays)
    worst = int(np.argmax(errors))
    print(name, errors[worst], [a[worst] for a in arrays])
    assert errors[worst] <= ACCURACY[name].ulp


@pytest.mark.sweep(18)
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", sorted(CASES))
def test_every_width_gives_the_same_bits(name, fused):
    arrays = [np.concatenate([a, SPECIAL]) for a in arguments(name)]
    found = [
        compiled(OP_TABLE[name].emit, len(arrays), width, fused=fused)(*arrays) for width in WIDTHS
    ]
    assert all(same_bits(found[0], f) for f in found[1:])


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("name", sorted(CASES))
def test_special_values_are_those_of_c(name, fused):
    """Infinities, NaN and the signs of zeros as the C library (annex F of the C standard)."""
    arity = OP_TABLE[name].arity
    arrays = [a.ravel() for a in np.meshgrid(*[SPECIAL] * arity)]
    library = getattr(ctypes.CDLL(None), name.lower())
    library.restype, library.argtypes = ctypes.c_double, [ctypes.c_double] * arity
    expected = np.array([library(*row) for row in zip(*arrays, strict=True)])
    found = compiled(OP_TABLE[name].emit, arity, 8, fused=fused)(*arrays)
    exact = ~np.isfinite(expected) | (expected == 0)
    assert same_bits(found[exact], expected[exact])
    found, expected = found[~exact], expected[~exact]
    assert (np.abs(found - expected) <= 2 * np.spacing(np.abs(expected))).all()


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_rare_lane_does_not_touch_its_neighbours(name):
    arity = OP_TABLE[name].arity
    usual = [rng(f"{name}{k}").uniform(0.1, 0.9, 16) for k in range(arity)]
    for value in (INF, NAN, 1e300, 5e-324):
        mixed = [a.copy() for a in usual]
        for a in mixed:
            a[5] = value
        function = compiled(OP_TABLE[name].emit, arity, 8)
        found, expected = function(*mixed), function(*usual)
        assert same_bits(np.delete(found, 5), np.delete(expected, 5))


# sine and cosine

BITS = 500  # of pi/2 below the point


def nearest_to_quarter_turns():
    """All numbers up to FAR that are next to a multiple of pi/2, with the multiple."""
    k = np.arange(1, int(FAR * 2 / np.pi) + 1)
    near = k * (np.pi / 2)
    x = np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, np.inf)])
    k = np.tile(k, 3)
    return x[x <= FAR], k[x <= FAR]


def exact_rest(x, k, half_pi):
    """sin(x - k pi/2) times 2**BITS, a whole number; the difference is below 2e-11."""
    above, below = x.as_integer_ratio()
    r = (above << BITS) // below - k * half_pi
    return r - ((r * r * r // 6) >> 2 * BITS)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("fused", [True, False])
def test_small_values_next_to_every_quarter_turn(fused):
    with mpmath.workprec(BITS + 60):
        half_pi = int(mpmath.floor(mpmath.ldexp(mpmath.pi / 2, BITS)))
    x, k = nearest_to_quarter_turns()
    sines, cosines = compiled(sincos, 1, 8, fused=fused, results=2)(x)
    small = np.where(k % 2 == 0, sines, cosines) * np.array([1, -1, -1, 1])[k % 4]
    exponents = np.frexp(small)[1]
    worst = 0.0
    for a, n, value, exponent in zip(
        x.tolist(), k.tolist(), small.tolist(), exponents.tolist(), strict=True
    ):
        above, below = value.as_integer_ratio()
        error = abs((above << BITS) // below - exact_rest(a, n, half_pi))
        worst = max(worst, error / 2 ** (BITS + exponent - 53))
    assert worst <= ACCURACY["SIN"].ulp


def test_sine_and_cosine_of_one_value_share_the_work():
    lines = []
    for functions in ([sine], [sine, cosine], [cosine, sine, cosine]):

        def write(e, x, functions=functions):
            values = [f(e, x) for f in functions]
            lines.append(sum(len(b.instructions) for b in e.builder.function.blocks))
            return values[0]

        compiled(write, 1, 4)
    assert lines[0] == lines[1] == lines[2]


def test_beyond_the_reduction_it_is_the_librarys_value():
    x = np.nextafter(FAR, np.inf) * np.array([1.0, 1e3, 1e100])
    for name in ("SIN", "COS"):
        with_library = compiled(lambda e, v, n=name: e.lanes(n.lower(), v), 1, 4)
        assert same_bits(compiled(OP_TABLE[name].emit, 1, 4)(x), with_library(x))


# the angle of a point

ATAN2 = compiled(angle_of, 2, 8)


def test_axes_and_diagonals_are_the_rounded_angles():
    """The nearest numbers to multiples of pi/4, with the signs of zeros and at infinity."""
    sides = [0.0, -0.0, 1.0, -1.0, 3e200, -3e200, 1e-310, -1e-310, math.inf, -math.inf]
    y, x = np.array(list(itertools.product(sides, sides))).T
    expected = [math.atan2(*row) for row in zip(y.tolist(), x.tolist(), strict=True)]
    assert same_bits(ATAN2(y, x), expected)


def test_a_point_and_its_mirror_images():
    y, x = np.abs(rng("mirrors").normal(size=(2, 500)))
    angle = ATAN2(y, x)
    assert same_bits(ATAN2(-y, x), -angle)
    assert same_bits(ATAN2(-y, -x), -ATAN2(y, -x))
    np.testing.assert_allclose(ATAN2(y, -x), np.pi - angle, rtol=5e-16)
    np.testing.assert_allclose(ATAN2(x, y), np.pi / 2 - angle, atol=3e-16)


# plain arithmetic


def multiply_adds(e, a, b, c):
    return [e.fma(a, b, c), e.fms(a, b, c), e.fnma(a, b, c)]


@pytest.mark.parametrize("width", WIDTHS)
def test_multiply_adds_round_once_where_fused_and_twice_where_not(width):
    a, b, c = rng("multiply-adds").normal(size=(3, 400))
    plain = compiled(multiply_adds, 3, width, fused=False, results=3)(a, b, c)
    assert all(map(same_bits, plain, [a * b + c, a * b - c, c - a * b]))
    if not host().fused:
        pytest.skip("this processor has no fused multiply-add")
    fused = compiled(multiply_adds, 3, width, results=3)(a, b, c)
    for k, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        product = Fraction(x) * Fraction(y)
        true = [product + Fraction(z), product - Fraction(z), Fraction(z) - product]
        assert [f[k] for f in fused] == [float(t) for t in true]


def test_nothing_is_contracted_or_reordered():
    """A product and a sum that are written apart stay apart, in the order that is written."""
    a, b, c = rng("apart").normal(size=(3, 400))
    found = compiled(lambda e, *v: e.add(e.mul(v[0], v[1]), v[2]), 3, 8)(a, b, c)
    assert same_bits(found, a * b + c)
    found = compiled(lambda e, *v: e.sub(e.add(v[0], v[1]), v[0]), 3, 8)(a, b, c)
    assert same_bits(found, (a + b) - a)


@pytest.mark.parametrize("width", WIDTHS)
def test_rare_lanes_take_the_slow_value_and_the_others_the_fast_one(width):
    x = np.arange(24.0)

    def write(e, v):
        rare = e.builder.fcmp_ordered(">", v, e.const(20.0))
        return e.rarely(rare, [v, e.neg(v)], lambda: [e.const(-1.0), e.mul(v, v)])

    first, second = compiled(write, 1, width, results=2)(x)
    assert same_bits(first, np.where(x > 20, -1.0, x))
    assert same_bits(second, np.where(x > 20, x * x, -x))
