"""The largest error of each elementary function, in units in the last place of the exact value.

It holds with fused multiply-adds and without, on the whole domain of the function; the tests
compare with 100-digit values. Beyond the ranges named here a lane takes the C library's value.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What is stated about a function."""

    ulp: float
    range: str  # where the vector code computes it


ACCURACY: dict[str, Accuracy] = {
    "SIN": Accuracy(0.9, "|x| <= 1e5"),
    "COS": Accuracy(0.9, "|x| <= 1e5"),
    "TAN": Accuracy(1.2, "|x| <= 1e5"),
    "ASIN": Accuracy(0.9, "everywhere"),
    "ACOS": Accuracy(0.9, "everywhere"),
    "ATAN": Accuracy(0.9, "|x| <= 2^900, |x| >= 2^-900 or 0"),
    "ATAN2": Accuracy(0.9, "larger of |y|, |x| in 2^-900 ... 2^900, smaller above 2^-900 or 0"),
    "EXP": Accuracy(0.9, "|x| <= 708"),
    "EXPM1": Accuracy(1.0, "|x| <= 700"),
    "LOG": Accuracy(0.9, "normal positive numbers"),
    "LOG1P": Accuracy(0.9, "-1 < x <= 2^1000"),
    "SQRT": Accuracy(0.5, "everywhere"),
    "ERFINV": Accuracy(3.0, "everywhere; with the C library's erf and erfc"),
    "HYPOT": Accuracy(0.9, "larger of |a|, |b| in 2^-450 ... 2^500"),
}
"""By CasADi's names. An operation that is not here and has ``libm`` is the C library's."""
