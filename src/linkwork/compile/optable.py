"""The scalar operations that a graph consists of: one row each, for every target.

A row gives the arity, what the operation means in NumPy and in C, and the emitter of its vector
code. JavaScript is read from the C expression (`js_source.py`). The names are CasADi's without
"OP_", so that a graph can be replayed there.

Sine, cosine and the angle of a point are vector code of our own. An angle is a constant plus a
number, each with its low part, so that it is rounded once. What a rounding takes away is kept in
pairs of numbers, and added later (T. J. Dekker, "A floating-point technique for extending the
available precision", 1971; J.-M. Muller et al., "Handbook of floating-point arithmetic", chapters
4 and 5). Conditions are the numbers 1 and 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from linkwork.compile.emit import F64, Emitter
from linkwork.errors import UnsupportedFeatureError
from linkwork.ops.graph import NUMERIC


@dataclass(frozen=True, slots=True)
class Op:
    """One operation."""

    name: str
    arity: int
    numpy: Callable[..., Any]
    emit: Callable[..., Any]  # (emitter, *values) -> value
    c: str  # a C99 expression of {0} and {1}, which are names or literals


# --- elementary functions ---


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The statements about a function."""

    ulp: float
    range: str  # where the vector code computes it


ACCURACY: dict[str, Accuracy] = {
    "SIN": Accuracy(0.9, "|x| <= 1e5"),
    "COS": Accuracy(0.9, "|x| <= 1e5"),
    "ATAN2": Accuracy(0.9, "larger of |y|, |x| in 2^-900 ... 2^900, smaller above 2^-900 or 0"),
    "SQRT": Accuracy(0.5, "everywhere"),
}
"""Largest errors by the names of the op table, with fused multiply-adds and without.

Beyond the ranges a lane takes the C library's value. The tests compare with 100-digit values.
"""

FAR = 1.0e5
"""Beyond this angle (radians) the functions come from the C library, lane by lane."""

FAR_32, ERROR_32 = 6.0e3, 1.0e-7
"""The same at float32, and the largest error of sine and cosine there."""

_MAGIC = 1.5 * 2.0**52  # adding it rounds to the nearest whole number, kept in the low bits
# pi/2 in parts. The first two have 37 bits, so that their products with a whole number below 2**16
# are exact, with a fused multiply-add or without one. All parts are positive, so that the sine of
# -0 stays -0.
_PARTS = (
    float.fromhex("0x1.921fb5444p+0"),
    float.fromhex("0x1.68c234c4cp-39"),
    float.fromhex("0x1.98a2e03707345p-77"),
)
# Minimax coefficients of the Cephes library (S. Moshier, netlib.org/cephes, sin.c), |x| <= pi/4:
# sin x = x - x³ S(x²), cos x = 1 - x²/2 + x⁴ C(x²).
_SIN = (
    -1.58962301576546568060e-10,
    2.50507477628578072866e-8,
    -2.75573136213857245213e-6,
    1.98412698295885395996e-4,
    -8.33333333332211858878e-3,
    1.66666666666666307295e-1,
)
_COS = (
    -1.13585365213876817300e-11,
    2.08757008419747316778e-9,
    -2.75573141792967388112e-7,
    2.48015872888517045348e-5,
    -1.38888888888730564116e-3,
    4.16666666666665929218e-2,
)
# The same for float32. Parts of 12 bits, for whole numbers below 2**12. Cephes, sinf.c:
# sin x = x + x³ S(x²), cos x = 1 - x²/2 + x⁴ C(x²).
_MAGIC_32 = 1.5 * 2.0**23
_PARTS_32 = tuple(map(float.fromhex, ("0x1.92p+0", "0x1.fb4p-12", "0x1.4442d2p-24")))
_SIN_32 = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS_32 = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_LARGEST, _SMALLEST = 2.0**900, 2.0**-900
_EIGHTH = math.sqrt(2.0) - 1.0  # the tangent of pi/8
# pi/4 in two parts; the first has 50 bits, so that its product with 3 is exact
_QUARTER = (float.fromhex("0x1.921fb54442d18p-1"), float.fromhex("0x1.1a62633145c07p-55"))
# tools/minimax.py: atan q = q + q³ A(q²) for q² <= (sqrt(2) - 1)²
_ATAN = (
    0.015193199371293502,
    -0.03347192493521744,
    0.04503412173961434,
    -0.052183629578356566,
    0.058770140499688435,
    -0.06666225818118794,
    0.07692282683934436,
    -0.09090908140675528,
    0.11111111088053999,
    -0.14285714285385714,
    0.19999999999997647,
    -0.33333333333333326,
)


def sine(e: Emitter, x: Any) -> Any:
    """The sine of an angle in radians."""
    return sincos(e, x)[0]


def cosine(e: Emitter, x: Any) -> Any:
    """The cosine of an angle in radians."""
    return sincos(e, x)[1]


def sincos(e: Emitter, x: Any) -> tuple[Any, Any]:
    """Sine and cosine of an angle in radians; computed once for each value."""
    return e.once("sincos", x, lambda: _sincos(e, x))


def _sincos(e: Emitter, x: Any) -> tuple[Any, Any]:
    b = e.builder
    s, c, quarters = _first_octants(e, x) if e.real == F64 else _first_octants_32(e, x)
    odd, to_the_sign = _is_odd(e, quarters), e.whole(e.n_bits - 2)
    turn = b.shl(quarters, to_the_sign)
    near_sine = e.flip_sign(b.select(odd, c, s), turn)
    turn = b.shl(b.add(quarters, e.whole(1)), to_the_sign)
    near_cosine = e.flip_sign(b.select(odd, s, c), turn)
    chosen = e.rarely(
        _is_far(e, x),
        [near_sine, near_cosine],
        lambda: [e.lanes("sin", x), e.lanes("cos", x)],
    )
    return chosen[0], chosen[1]


def _is_odd(e: Emitter, quarters: Any) -> Any:
    b = e.builder
    return b.icmp_unsigned("!=", b.and_(quarters, e.whole(1)), e.whole(0))


def _is_far(e: Emitter, x: Any) -> Any:
    return e.builder.fcmp_ordered(">", e.fabs(x), e.const(FAR if e.real == F64 else FAR_32))


def _first_octants(e: Emitter, x: Any) -> tuple[Any, Any, Any]:
    """x = k pi/2 + r with abs(r) <= pi/4: sin r, cos r, and k in the low bits of the last.

    Reduction by parts: W. J. Cody, W. Waite, "Software manual for the elementary functions" (1980).
    r has a low part: high - (k P2 - ...) is exact, since x - k P1 is, and is a multiple of the last
    bit of k P2.
    """
    shifted = e.fma(x, e.const(2.0 / math.pi), e.const(_MAGIC))
    k = e.sub(shifted, e.const(_MAGIC))
    first, second, third = (e.const(part) for part in _PARTS)
    near = e.fnma(k, first, x)
    r = e.fnma(k, second, near)
    excess = e.fma(k, third, e.fma(k, second, e.sub(r, near)))  # r less excess is x - k pi/2
    z = e.mul(r, r)
    below = e.fma(e.polynomial(z, _SIN), e.mul(z, r), excess)
    head = e.fma(z, e.const(-0.5), e.const(1.0))
    rest = e.fma(z, e.const(-0.5), e.sub(e.const(1.0), head))
    rest = e.fma(e.mul(z, z), e.polynomial(z, _COS), e.fma(excess, r, rest))
    quarters = e.bits(shifted)
    return e.sub(r, below), e.add(head, rest), quarters


def _first_octants_32(e: Emitter, x: Any) -> tuple[Any, Any, Any]:
    """`_first_octants` at float32: x - k P1 and k P2 are exact, and so is their difference."""
    shifted = e.fma(x, e.const(2.0 / math.pi), e.const(_MAGIC_32))
    k = e.sub(shifted, e.const(_MAGIC_32))
    r = x
    for part in _PARTS_32:
        r = e.fnma(k, e.const(part), r)
    z = e.mul(r, r)
    s = e.fma(e.polynomial(z, _SIN_32), e.mul(z, r), r)
    c = e.fma(e.polynomial(z, _COS_32), e.mul(z, z), e.fma(z, e.const(-0.5), e.const(1.0)))
    return s, c, e.bits(shifted)


def _on_top(e: Emitter, base: tuple[Any, Any], value: Any, low: Any) -> Any:
    """base + (value + low), where the base is 0 or larger than the value."""
    total, lost = fast_two_sum(e, base[0], value)
    return e.add(total, e.add(lost, e.add(base[1], low)))


def angle_of(e: Emitter, y: Any, x: Any) -> Any:
    """The angle of the point (x, y), as atan2(y, x) has it; of float64 numbers alone.

    Raises: UnsupportedFeatureError.
    """
    if e.real != F64:
        raise UnsupportedFeatureError("ATAN2 is compiled for float64 alone, not for float32")
    b = e.builder
    across, up = e.fabs(x), e.fabs(y)
    steep = b.fcmp_ordered(">", up, across)
    larger, smaller = b.select(steep, up, across), b.select(steep, across, up)
    behind = b.icmp_signed("<", e.bits(x), e.whole(0))
    value = _octants(e, (smaller, larger), steep, behind)
    # a larger one of NaN is not within the range either, and a smaller one of NaN makes a NaN
    within = b.and_(
        b.fcmp_ordered("<=", larger, e.const(_LARGEST)),
        b.fcmp_ordered(">=", larger, e.const(_SMALLEST)),
    )
    small = b.fcmp_ordered("<", smaller, e.const(_SMALLEST))
    small = b.and_(small, b.fcmp_ordered(">", smaller, e.const(0.0)))
    rare = b.or_(b.not_(within), small)
    value = e.flip_sign(value, e.bits(y))
    return e.rarely(rare, [value], lambda: [e.lanes("atan2", y, x)])[0]


def _octants(e: Emitter, sides: tuple[Any, Any], steep: Any, behind: Any) -> Any:
    """The angle in 0 ... pi of a triangle with a smaller and a larger side.

    It is m pi/4 + atan q with abs(q) <= tan(pi/8); ``steep`` where the larger side is y, ``behind``
    where x has a minus sign.
    """
    b = e.builder
    smaller, larger = sides
    zero = e.const(0.0)
    wide = b.fcmp_ordered(">", smaller, e.mul(larger, e.const(_EIGHTH)))
    shift, scale = b.select(wide, larger, zero), b.select(wide, smaller, zero)
    # (smaller - larger) / (larger + smaller), or smaller / larger
    below = fast_two_sum(e, larger, scale)
    difference = e.sub(smaller, shift)
    lost = e.sub(smaller, e.add(difference, shift))
    ratio, low = quotient(e, (difference, lost), below)
    m = b.select(wide, e.const(1.0), zero)
    turned = b.select(steep, e.whole(e.sign_bit), e.whole(0))
    m = b.select(steep, e.sub(e.const(2.0), m), m)
    m = b.select(behind, e.sub(e.const(4.0), m), m)
    turned = b.xor(turned, b.select(behind, e.whole(e.sign_bit), e.whole(0)))
    ratio, low = e.flip_sign(ratio, turned), e.flip_sign(low, turned)
    z = e.mul(ratio, ratio)
    tail = e.fma(e.polynomial(z, _ATAN), e.mul(z, ratio), low)
    base = (e.mul(m, e.const(_QUARTER[0])), e.mul(m, e.const(_QUARTER[1])))
    return _on_top(e, base, ratio, tail)


# pairs

_SPLIT = 2.0**27 + 1.0


def fast_two_sum(e: Emitter, a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as a rounded sum and its error; for abs(a) >= abs(b), or a = 0."""
    total = e.add(a, b)
    return total, e.add(e.sub(a, total), b)


def product_less(e: Emitter, a: Any, b: Any, c: Any) -> Any:
    """a b - c where c is near a b, with nothing lost before the subtraction."""
    if e.fused:
        return e.fms(a, b, c)
    product = e.mul(a, b)
    (a_high, a_low), (b_high, b_low) = _halves(e, a), _halves(e, b)
    low = e.sub(e.mul(a_high, b_high), product)
    low = e.add(e.add(low, e.mul(a_high, b_low)), e.mul(a_low, b_high))
    return e.add(e.sub(product, c), e.add(low, e.mul(a_low, b_low)))


def _halves(e: Emitter, a: Any) -> tuple[Any, Any]:
    """A as two numbers of 26 bits."""
    scaled = e.mul(a, e.const(_SPLIT))
    high = e.sub(scaled, e.sub(scaled, a))
    return high, e.sub(a, high)


def quotient(e: Emitter, above: tuple[Any, Any], below: tuple[Any, Any]) -> tuple[Any, Any]:
    """The quotient of two pairs as a pair, with one division."""
    inverse = e.div(e.const(1.0), below[0])
    ratio = e.mul(above[0], inverse)
    rest = e.neg(product_less(e, ratio, below[0], above[0]))
    rest = e.fnma(ratio, below[1], e.add(rest, above[1]))
    return ratio, e.mul(rest, inverse)


# conditions


def _number(e: Emitter, bit: Any) -> Any:
    return e.builder.select(bit, e.const(1.0), e.const(0.0))


def _bit(e: Emitter, a: Any) -> Any:
    return e.builder.fcmp_unordered("!=", a, e.const(0.0))


def less(e: Emitter, a: Any, b: Any) -> Any:
    """1 where a < b, 0 elsewhere and for NaN."""
    return _number(e, e.builder.fcmp_ordered("<", a, b))


def negate(e: Emitter, a: Any) -> Any:
    """1 where a is 0."""
    return _number(e, e.builder.fcmp_ordered("==", a, e.const(0.0)))


def both(e: Emitter, a: Any, b: Any) -> Any:
    """1 where neither is 0."""
    return _number(e, e.builder.and_(_bit(e, a), _bit(e, b)))


def either(e: Emitter, a: Any, b: Any) -> Any:
    """1 where one is not 0."""
    return _number(e, e.builder.or_(_bit(e, a), _bit(e, b)))


def if_else_zero(e: Emitter, condition: Any, a: Any) -> Any:
    """A where the condition is not 0, else 0."""
    return e.builder.select(_bit(e, condition), a, e.const(0.0))


# --- the table ---


def _intrinsic(name: str) -> Callable[..., Any]:
    def emit(e: Emitter, *args: Any) -> Any:
        return e.intrinsic(name, *args)

    return emit


_ROWS: tuple[Op, ...] = (
    # Arithmetic
    Op("ADD", 2, NUMERIC["ADD"], Emitter.add, "{0} + {1}"),
    Op("SUB", 2, NUMERIC["SUB"], Emitter.sub, "{0} - {1}"),
    Op("MUL", 2, NUMERIC["MUL"], Emitter.mul, "{0} * {1}"),
    Op("DIV", 2, NUMERIC["DIV"], Emitter.div, "{0} / {1}"),
    Op("NEG", 1, NUMERIC["NEG"], Emitter.neg, "-({0})"),
    Op("SQRT", 1, NUMERIC["SQRT"], Emitter.sqrt, "sqrt({0})"),
    Op("FABS", 1, NUMERIC["FABS"], Emitter.fabs, "fabs({0})"),
    Op("FLOOR", 1, NUMERIC["FLOOR"], _intrinsic("floor"), "floor({0})"),
    Op("FMIN", 2, NUMERIC["FMIN"], _intrinsic("minnum"), "fmin({0}, {1})"),
    Op("FMAX", 2, NUMERIC["FMAX"], _intrinsic("maxnum"), "fmax({0}, {1})"),
    # Conditions: the numbers 1 and 0
    Op("LT", 2, NUMERIC["LT"], less, "(double)({0} < {1})"),
    Op("NOT", 1, NUMERIC["NOT"], negate, "(double)({0} == 0)"),
    Op("AND", 2, NUMERIC["AND"], both, "(double)({0} != 0 && {1} != 0)"),
    Op("OR", 2, NUMERIC["OR"], either, "(double)({0} != 0 || {1} != 0)"),
    Op("IF_ELSE_ZERO", 2, NUMERIC["IF_ELSE_ZERO"], if_else_zero, "({0} != 0 ? {1} : 0.0)"),
    # Elementary functions: `ACCURACY` states their errors
    Op("SIN", 1, NUMERIC["SIN"], sine, "sin({0})"),
    Op("COS", 1, NUMERIC["COS"], cosine, "cos({0})"),
    Op("ATAN2", 2, NUMERIC["ATAN2"], angle_of, "atan2({0}, {1})"),
)

OP_TABLE: dict[str, Op] = {op.name: op for op in _ROWS}
"""Every scalar operation that a graph holds."""

PAIRED: dict[str, Op] = {
    "FMA": Op("FMA", 3, lambda a, b, c: a * b + c, Emitter.fma, "{0} * {1} + {2}"),
    "FMS": Op("FMS", 3, lambda a, b, c: a * b - c, Emitter.fms, "{0} * {1} - {2}"),
    "FNMA": Op("FNMA", 3, lambda a, b, c: c - a * b, Emitter.fnma, "{2} - {0} * {1}"),
}
"""The operations that products and sums are paired into (`graph.py`), rounded once if possible."""
