"""Sums of two numbers that stand for one: what a rounding took away is kept and added later.

T. J. Dekker, "A floating-point technique for extending the available precision" (1971); J.-M.
Muller et al., "Handbook of floating-point arithmetic", chapters 4 and 5.
"""

from __future__ import annotations

from typing import Any

from linkwork.compile.emit import Emitter

_SPLIT = 2.0**27 + 1.0


def fast_two_sum(e: Emitter, a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as a rounded sum and its error; for abs(a) >= abs(b), or a = 0."""
    total = e.add(a, b)
    return total, e.add(e.sub(a, total), b)


def two_sum(e: Emitter, a: Any, b: Any) -> tuple[Any, Any]:
    """a + b as a rounded sum and its error."""
    total = e.add(a, b)
    of_b = e.sub(total, a)
    return total, e.add(e.sub(a, e.sub(total, of_b)), e.sub(b, of_b))


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
