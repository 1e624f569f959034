"""Arcsine, arccosine, arctangent, and the angle of a point.

Each result is a constant plus a number, each with its low part, so that it is rounded once.
"""

from __future__ import annotations

import math
from typing import Any

from linkwork.compile.elementary.pairs import fast_two_sum, product_less, quotient
from linkwork.compile.emit import SIGN_BIT, Emitter

_LARGEST, _SMALLEST = 2.0**900, 2.0**-900
_TINY = 2.0**-1022
_EIGHTH = math.sqrt(2.0) - 1.0  # the tangent of pi/8
# pi/4 in two parts; the first has 50 bits, so that its product with 3 is exact
_QUARTER = (float.fromhex("0x1.921fb54442d18p-1"), float.fromhex("0x1.1a62633145c07p-55"))
_HALF = (2.0 * _QUARTER[0], 2.0 * _QUARTER[1])
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
# tools/minimax.py: asin w = w + w³ A(w²) for w² <= 1/4
_ASIN = (
    0.032631296671581586,
    -0.0210032538702007,
    0.02171035051776976,
    0.003705239202874148,
    0.010780556245113012,
    0.01139885914220946,
    0.013980826912917707,
    0.01735161149236758,
    0.022372215016125848,
    0.0303819427067937,
    0.044642857174631956,
    0.0749999999997078,
    0.1666666666666676,
)


def _on_top(e: Emitter, base: tuple[Any, Any], value: Any, low: Any) -> Any:
    """base + (value + low), where the base is 0 or larger than the value."""
    total, lost = fast_two_sum(e, base[0], value)
    return e.add(total, e.add(lost, e.add(base[1], low)))


def angle_of(e: Emitter, y: Any, x: Any) -> Any:
    """The angle of the point (x, y), as atan2(y, x) has it."""
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


def arctangent(e: Emitter, x: Any) -> Any:
    """The arctangent."""
    b = e.builder
    up, one = e.fabs(x), e.const(1.0)
    steep = b.fcmp_ordered(">", up, one)
    larger, smaller = b.select(steep, up, one), b.select(steep, one, up)
    value = e.flip_sign(_octants(e, (smaller, larger), steep, None), e.bits(x))
    small = b.fcmp_ordered("<", up, e.const(_SMALLEST))
    small = b.and_(small, b.fcmp_ordered(">", up, e.const(0.0)))
    rare = b.or_(b.fcmp_unordered(">", up, e.const(_LARGEST)), small)
    return e.rarely(rare, [value], lambda: [e.lanes("atan", x)])[0]


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
    turned = b.select(steep, e.whole(SIGN_BIT), e.whole(0))
    m = b.select(steep, e.sub(e.const(2.0), m), m)
    if behind is not None:
        m = b.select(behind, e.sub(e.const(4.0), m), m)
        turned = b.xor(turned, b.select(behind, e.whole(SIGN_BIT), e.whole(0)))
    ratio, low = e.flip_sign(ratio, turned), e.flip_sign(low, turned)
    z = e.mul(ratio, ratio)
    tail = e.fma(e.polynomial(z, _ATAN), e.mul(z, ratio), low)
    base = (e.mul(m, e.const(_QUARTER[0])), e.mul(m, e.const(_QUARTER[1])))
    return _on_top(e, base, ratio, tail)


def arcsine(e: Emitter, x: Any) -> Any:
    """The arcsine; NaN beyond 1."""
    b = e.builder
    far, w, tail = _half_angle(e, x)
    zero = e.const(0.0)
    base = (
        b.select(far, e.const(_HALF[0]), zero),
        b.select(far, e.const(_HALF[1]), zero),
    )
    w, tail = (b.select(far, e.mul(v, e.const(-2.0)), v) for v in (w, tail))
    return e.flip_sign(_on_top(e, base, w, tail), e.bits(x))


def arccosine(e: Emitter, x: Any) -> Any:
    """The arccosine; NaN beyond 1."""
    b = e.builder
    far, w, tail = _half_angle(e, x)
    sign = e.bits(x)
    negative = b.icmp_signed("<", sign, e.whole(0))
    # near 0: pi/2 - asin x; far: 2 asin(w), or pi less that
    m = b.select(negative, e.const(4.0), e.const(0.0))
    m = b.select(far, m, e.const(2.0))
    base = (e.mul(m, e.const(_QUARTER[0])), e.mul(m, e.const(_QUARTER[1])))
    scale = b.select(far, e.const(2.0), e.const(-1.0))
    scale = e.flip_sign(scale, sign)
    return _on_top(e, base, e.mul(w, scale), e.mul(tail, scale))


def _half_angle(e: Emitter, x: Any) -> tuple[Any, Any, Any]:
    """Whether abs(x) > 1/2, and the arcsine of w as w + tail.

    w is abs(x), or where that is larger than 1/2, the sine of half of what is missing to pi/2.
    """
    b = e.builder
    size = e.fabs(x)
    far = b.fcmp_ordered(">", size, e.const(0.5))
    missing = e.mul(e.sub(e.const(1.0), size), e.const(0.5))
    z = b.select(far, missing, e.mul(size, size))
    root = e.sqrt(missing)
    # missing - root²: a root has at most 53 bits, so this is exact where it can be
    rest = e.neg(product_less(e, root, root, missing))
    divisor = e.add(root, root)
    divisor = b.select(b.fcmp_ordered(">", divisor, e.const(_TINY)), divisor, e.const(_TINY))
    low = e.div(rest, divisor)
    w = b.select(far, root, size)
    low = b.select(far, low, e.const(0.0))
    return far, w, e.fma(e.polynomial(z, _ASIN), e.mul(z, w), low)
