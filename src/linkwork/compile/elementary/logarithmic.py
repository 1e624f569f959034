"""The natural logarithm, and that of one more."""

from __future__ import annotations

from typing import Any

from linkwork.compile.elementary.pairs import fast_two_sum, two_sum
from linkwork.compile.emit import Emitter

_TINY, _HUGE = 2.0**-1022, 2.0**1000
_LARGEST = 1.7976931348623157e308
_BIAS = 1023
_TWO_52 = 0x433 << 52  # the bits of 2**52: a whole number below it goes into the low bits
_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2)
# ln 2 in two parts; the first has 42 bits, so that its product with a whole number below 2**11 is
# exact
_LN2 = (float.fromhex("0x1.62e42fefa38p-1"), float.fromhex("0x1.ef35793c7673p-45"))
# tools/minimax.py: 2 atanh s = 2 s + s³ L(s²) for abs(s) <= 3 - 2 sqrt(2)
_LOG = (
    0.14796105836513976,
    0.15314035813637344,
    0.18183564866760527,
    0.22222198563501147,
    0.28571428742474464,
    0.39999999999414326,
    0.6666666666666734,
)


def _split(e: Emitter, x: Any) -> tuple[Any, Any]:
    """x = 2**k m with m between sqrt(1/2) and sqrt(2): m, and k + 1023 as a whole number."""
    b = e.builder
    bits = e.bits(x)
    moved = b.add(bits, e.whole((_BIAS << 52) - _ROOT_HALF))
    k = b.lshr(moved, e.whole(52))
    return e.number(b.sub(bits, b.shl(b.sub(k, e.whole(_BIAS)), e.whole(52)))), k


def _assemble(e: Emitter, k: Any, f: Any, low: Any) -> Any:
    """k ln 2 + log(1 + f) + low.

    With s = f / (2 + f), log(1 + f) = 2 atanh s = f - f²/2 + s (f²/2 + s² L(s²)).
    """
    b = e.builder
    whole = e.number(b.or_(k, e.whole(_TWO_52)))
    exponent = e.sub(whole, e.const(2.0**52 + _BIAS))
    s = e.div(f, e.add(e.const(2.0), f))
    z = e.mul(s, s)
    half = e.mul(e.mul(f, e.const(0.5)), f)
    more = e.fma(e.polynomial(z, _LOG), z, half)
    total, lost = fast_two_sum(e, e.mul(exponent, e.const(_LN2[0])), f)
    low = e.fma(exponent, e.const(_LN2[1]), e.add(lost, low))
    return e.sub(total, e.sub(half, e.fma(s, more, low)))


def logarithm(e: Emitter, x: Any) -> Any:
    """The natural logarithm."""
    b = e.builder
    m, k = _split(e, x)
    value = _assemble(e, k, e.sub(m, e.const(1.0)), e.const(0.0))
    normal = b.and_(
        b.fcmp_ordered(">=", x, e.const(_TINY)), b.fcmp_ordered("<=", x, e.const(_LARGEST))
    )
    return e.rarely(b.not_(normal), [value], lambda: [e.lanes("log", x)])[0]


def logarithm_of_one_more(e: Emitter, x: Any) -> Any:
    """log(1 + x), exact to the last digit also for small x."""
    b = e.builder
    total, lost = two_sum(e, e.const(1.0), x)
    m, k = _split(e, total)
    scale = e.number(b.shl(b.sub(e.whole(2 * _BIAS), k), e.whole(52)))
    f, low = two_sum(e, e.sub(m, e.const(1.0)), e.mul(lost, scale))
    value = e.copysign(_assemble(e, k, f, low), x)  # for the sign of zero
    usual = b.and_(b.fcmp_ordered(">", x, e.const(-1.0)), b.fcmp_ordered("<=", x, e.const(_HUGE)))
    return e.rarely(b.not_(usual), [value], lambda: [e.lanes("log1p", x)])[0]
