"""The polynomial that an expression is, where it is one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from linkwork.mechanism.expressions import Expression

Powers = tuple[int, ...]
"""The power of each input."""
Polynomial = Mapping[Powers, float]
"""Factors by the powers that they multiply."""

_MOST_TERMS = 1000
_OF_NUMBERS: Mapping[str, Callable[..., float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "sqrt": math.sqrt,
    "arctan2": math.atan2,
}


def polynomial(function: Expression) -> Polynomial | None:
    """The terms of an expression, multiplied out; None for one that is no polynomial."""
    none = (0,) * function.n_inputs
    found: list[Polynomial | None] = []
    for operation, arguments in function.nodes:
        if operation == "constant":
            found.append({none: float(arguments[0])})
        elif operation == "input":
            own = int(arguments[0])
            found.append({tuple(int(k == own) for k in range(function.n_inputs)): 1.0})
        else:
            found.append(_made(operation, [found[int(place)] for place in arguments], none))
    last = found[-1]
    if last is None or not all(map(math.isfinite, last.values())):
        return None
    return {powers: factor for powers, factor in last.items() if factor}


def _made(operation: str, given: list[Polynomial | None], none: Powers) -> Polynomial | None:
    terms = [each for each in given if each is not None]
    if len(terms) < len(given):
        return None
    made = _POLYNOMIALS.get(operation)
    if made is not None:
        return made(*terms)
    values = [number for each in terms if (number := _number(each)) is not None]
    try:
        value = _OF_NUMBERS[operation](*values) if len(values) == len(terms) else None
    except ValueError:  # the root of a negative number
        value = None
    return None if value is None else {none: value}


def _sum(one: Polynomial, two: Polynomial, factor: float) -> Polynomial:
    found = dict(one)
    for powers, value in two.items():
        found[powers] = found.get(powers, 0.0) + factor * value
    return found


def _product(one: Polynomial, two: Polynomial) -> Polynomial | None:
    if len(one) * len(two) > _MOST_TERMS:
        return None
    found: dict[Powers, float] = {}
    for a, x in one.items():
        for b, y in two.items():
            powers = tuple(i + j for i, j in zip(a, b, strict=True))
            found[powers] = found.get(powers, 0.0) + x * y
    return {powers: value for powers, value in found.items() if value}


def _quotient(one: Polynomial, two: Polynomial) -> Polynomial | None:
    number = _number(two)
    return _sum({}, one, 1.0 / number) if number else None


def _number(terms: Polynomial) -> float | None:
    """The value of a polynomial without inputs."""
    left = {powers: value for powers, value in terms.items() if value}
    return None if any(map(any, left)) else sum(left.values())


_POLYNOMIALS: Mapping[str, Callable[..., Polynomial | None]] = {
    "negative": lambda one: _sum({}, one, -1.0),
    "add": lambda one, two: _sum(one, two, 1.0),
    "subtract": lambda one, two: _sum(one, two, -1.0),
    "multiply": _product,
    "divide": _quotient,
}
"""Operations that make polynomials of polynomials."""
