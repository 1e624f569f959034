"""Sine, cosine and tangent."""

from __future__ import annotations

import math
from typing import Any

from linkwork.compile.elementary.pairs import fast_two_sum, quotient
from linkwork.compile.emit import Emitter

FAR = 1.0e5
"""Beyond this angle (radians) the functions come from the C library, lane by lane."""

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


def sine(e: Emitter, x: Any) -> Any:
    """The sine of an angle in radians."""
    return sincos(e, x)[0]


def cosine(e: Emitter, x: Any) -> Any:
    """The cosine of an angle in radians."""
    return sincos(e, x)[1]


def sincos(e: Emitter, x: Any) -> tuple[Any, Any]:
    """Sine and cosine of an angle in radians; computed once for each value."""
    return e.once("sincos", x, lambda: _sincos(e, x))


def tangent(e: Emitter, x: Any) -> Any:
    """The tangent of an angle in radians."""
    b = e.builder
    high, below, head, rest, quarters = _reduced(e, x)
    s = fast_two_sum(e, high, e.neg(below))
    c = fast_two_sum(e, head, rest)
    odd = _is_odd(e, quarters)
    above = (b.select(odd, c[0], s[0]), b.select(odd, c[1], s[1]))
    under = (b.select(odd, s[0], c[0]), b.select(odd, s[1], c[1]))
    ratio, low = quotient(e, above, under)
    value = e.copysign(e.add(ratio, low), ratio)  # for the sign of zero
    value = e.flip_sign(value, b.shl(quarters, e.whole(63)))
    return e.rarely(_is_far(e, x), [value], lambda: [e.lanes("tan", x)])[0]


def _sincos(e: Emitter, x: Any) -> tuple[Any, Any]:
    b = e.builder
    high, below, head, rest, quarters = _reduced(e, x)
    s, c = e.sub(high, below), e.add(head, rest)
    odd = _is_odd(e, quarters)
    turn = b.shl(quarters, e.whole(62))
    near_sine = e.flip_sign(b.select(odd, c, s), turn)
    turn = b.shl(b.add(quarters, e.whole(1)), e.whole(62))
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
    return e.builder.fcmp_ordered(">", e.fabs(x), e.const(FAR))


def _reduced(e: Emitter, x: Any) -> tuple[Any, Any, Any, Any, Any]:
    """x = k pi/2 + r with abs(r) <= pi/4: sin r = first - second, cos r = third + fourth; and k.

    The low bits of the last hold k. Reduction by parts: W. J. Cody, W. Waite, "Software manual for
    the elementary functions" (1980). r has a low part: high - (k P2 - ...) is exact, since x - k P1
    is, and is a multiple of the last bit of k P2.
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
    return r, below, head, rest, e.bits(shifted)
