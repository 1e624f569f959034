"""The exponential function, and less one."""

from __future__ import annotations

import math
from typing import Any

from linkwork.compile.elementary.pairs import fast_two_sum
from linkwork.compile.emit import Emitter

_MAGIC = 1.5 * 2.0**52  # adding it rounds to the nearest whole number, kept in the low bits
# ln 2 in two parts; the first has 42 bits, so that its product with a whole number below 2**11 is
# exact, with a fused multiply-add or without one
_LN2 = (float.fromhex("0x1.62e42fefa38p-1"), float.fromhex("0x1.ef35793c7673p-45"))
_FAR, _FAR_LESS_ONE = 708.0, 700.0  # up to here 2**k is a normal number
# tools/minimax.py: exp r = 1 + r + r² E(r) for abs(r) <= ln(2) / 2
_EXP = (
    2.0926911075367297e-09,
    2.5112240453018658e-08,
    2.7557233469733133e-07,
    2.7557234234924163e-06,
    2.4801587373603696e-05,
    0.00019841269897060977,
    0.0013888888888858517,
    0.008333333333316737,
    0.04166666666666673,
    0.16666666666666685,
    0.5,
)


def _parts(e: Emitter, x: Any) -> tuple[Any, Any, Any]:
    """exp x = 2**k (1 + r + q): r, q, and k in the low bits."""
    shifted = e.fma(x, e.const(1.0 / math.log(2.0)), e.const(_MAGIC))
    k = e.sub(shifted, e.const(_MAGIC))
    near = e.fnma(k, e.const(_LN2[0]), x)
    lost = e.mul(k, e.const(_LN2[1]))
    r = e.sub(near, lost)
    low = e.sub(e.sub(near, r), lost)
    return r, e.fma(e.polynomial(r, _EXP), e.mul(r, r), low), e.bits(shifted)


def exponential(e: Emitter, x: Any) -> Any:
    """The exponential function."""
    b = e.builder
    r, q, k = _parts(e, x)
    total, lost = fast_two_sum(e, e.const(1.0), r)
    value = e.add(total, e.add(lost, q))
    value = e.number(b.add(e.bits(value), b.shl(k, e.whole(52))))
    far = b.fcmp_unordered(">", e.fabs(x), e.const(_FAR))
    return e.rarely(far, [value], lambda: [e.lanes("exp", x)])[0]


def exponential_less_one(e: Emitter, x: Any) -> Any:
    """exp(x) - 1, exact to the last digit also for small x."""
    b = e.builder
    r, q, k = _parts(e, x)
    power = e.number(b.add(e.bits(e.const(1.0)), b.shl(k, e.whole(52))))
    high, low = fast_two_sum(e, r, q)
    total, lost = fast_two_sum(e, e.sub(power, e.const(1.0)), e.mul(power, high))
    value = e.add(total, e.fma(power, low, lost))
    value = e.copysign(value, x)  # for the sign of zero
    far = b.fcmp_unordered(">", e.fabs(x), e.const(_FAR_LESS_ONE))
    return e.rarely(far, [value], lambda: [e.lanes("expm1", x)])[0]
