"""The length of a vector of two numbers."""

from __future__ import annotations

from typing import Any

from linkwork.compile.elementary.pairs import product_less
from linkwork.compile.emit import Emitter

_LARGEST, _SMALLEST = 2.0**500, 2.0**-450
_TINY = 2.0**-1022


def hypotenuse(e: Emitter, a: Any, b: Any) -> Any:
    """sqrt(a² + b²): C. F. Borges, "An improved algorithm for hypot(a, b)" (2019)."""
    builder = e.builder
    first, second = e.fabs(a), e.fabs(b)
    swapped = builder.fcmp_ordered(">", second, first)
    larger = builder.select(swapped, second, first)
    smaller = builder.select(swapped, first, second)
    square, rest = e.mul(larger, larger), e.mul(smaller, smaller)
    root = e.sqrt(e.add(square, rest))
    # root² - larger² - smaller², each product to its last digit
    excess = product_less(e, root, root, square)
    excess = e.sub(excess, product_less(e, larger, larger, square))
    excess = e.neg(product_less(e, smaller, smaller, excess))
    divisor = e.add(root, root)
    value = e.sub(root, e.div(excess, divisor))
    usual = builder.and_(
        builder.fcmp_ordered("<=", larger, e.const(_LARGEST)),
        builder.fcmp_ordered(">=", larger, e.const(_SMALLEST)),
    )
    return e.rarely(builder.not_(usual), [value], lambda: [e.lanes("hypot", a, b)])[0]
