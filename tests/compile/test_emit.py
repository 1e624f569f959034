"""Plain arithmetic, constants, conditions and calls, the same at every width."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from llvmlite import ir

from emitted import WIDTHS, compiled, same_bits
from linkwork.compile.emit import Emitter
from linkwork.compile.target import host
from seeds import rng

CONSTANTS = [
    0.0,
    -0.0,
    1.0,
    1 / 3,
    -math.pi,
    5e-324,
    -5e-324,
    2.2250738585072009e-308,
    2.0**-1022,
    1.7976931348623157e308,
    math.inf,
    -math.inf,
    math.nan,
    0.1,
    1e22,
    np.float64(2.5),
]
NUMBERS = np.array([0.0, -0.0, 1.0, -2.5, 5e-324, 1e308, math.inf, -math.inf, math.nan])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("value", CONSTANTS)
def test_constants_go_through_the_text_unchanged(value, width):
    found = compiled(lambda e, _: e.const(value), 1, width)(np.zeros(8))
    assert same_bits(found, np.full(8, value))


@pytest.mark.parametrize("width", WIDTHS)
def test_whole_numbers_have_their_bits(width):
    for value in (0, 1, -1, 2**62, -(2**63), 0x3FF0000000000000):
        found = compiled(lambda e, _, v=value: e.number(e.whole(v)), 1, width)(np.zeros(8))
        assert np.array_equal(found.view(np.int64), np.full(8, value))


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
def test_signs(width):
    a, b = (m.ravel() for m in np.meshgrid(NUMBERS[:-1], NUMBERS[:-1]))

    def write(e, x, y):
        return [e.flip_sign(x, e.bits(y)), e.neg(x), e.fabs(x)]

    flipped = np.where(np.signbit(b), -a, a)
    expected = [flipped, -a, np.abs(a)]
    assert all(map(same_bits, compiled(write, 2, width, results=3)(a, b), expected))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_polynomial_is_horners_scheme(width):
    x = rng("polynomial").normal(size=50)
    found = compiled(lambda e, v: e.polynomial(v, (2.0, -3.0, 0.5)), 1, width, fused=False)(x)
    assert same_bits(found, (2.0 * x - 3.0) * x + 0.5)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_call_of_the_c_library_in_each_lane(width):
    x, y = rng("lanes").normal(size=(2, 41))
    assert same_bits(
        compiled(lambda e, a, b: e.lanes("atan2", a, b), 2, width)(x, y),
        [math.atan2(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)],
    )


def test_calls_of_one_function_share_their_text():
    modules = []

    def write(e, x):
        modules.append(e.module)
        return e.lanes("cos", e.add(e.lanes("cos", x), e.lanes("cos", e.neg(x))))

    compiled(write, 1, 8)
    assert [f.name for f in modules[0].functions] == ["each", "lw_cos", "lw.cos.v8"]


@pytest.mark.parametrize("width", WIDTHS)
def test_rare_lanes_take_the_slow_value_and_the_others_the_fast_one(width):
    x = np.arange(24.0)

    def write(e, v):
        rare = e.builder.fcmp_ordered(">", v, e.const(20.0))
        return e.rarely(rare, [v, e.neg(v)], lambda: [e.const(-1.0), e.mul(v, v)])

    first, second = compiled(write, 1, width, results=2)(x)
    assert same_bits(first, np.where(x > 20, -1.0, x))
    assert same_bits(second, np.where(x > 20, x * x, -x))


def test_a_value_that_is_known_is_not_written_again():
    made = []

    def write(e, x):
        results = [e.once("square", x, lambda: made.append(1) or e.mul(x, x)) for _ in range(3)]
        other = e.once("square", results[0], lambda: made.append(2) or e.mul(x, x))
        assert results[0] is results[1] is results[2]
        return other

    compiled(write, 1, 4)
    assert made == [1, 2]


def test_the_width_decides_the_type():
    for width, text in ((1, "double"), (4, "<4 x double>")):
        builder = ir.IRBuilder(
            ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), []), "f").append_basic_block()
        )
        assert str(Emitter(builder, width, fused=True).type) == text
