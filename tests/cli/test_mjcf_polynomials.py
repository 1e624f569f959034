"""Expressions as polynomials: the same values, and None for what is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwork.cli.mjcf_polynomials import polynomial
from linkwork.mechanism.expressions import Expression, traced
from linkwork.ops.numpy import NumpyOps
from seeds import rng


def value(terms: Any, x: Any) -> float:
    return sum(f * np.prod([a**k for a, k in zip(x, powers, strict=True)])
               for powers, f in terms.items())  # fmt: skip


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: 1.5,
        lambda a, b: 2.0 * a - b / 4.0 + 1.0,
        lambda a, b: (a + b) * (a - b) * 0.5 - a**3,
        lambda a, b: -((1.0 - a * b) ** 4) / 3.0,
        lambda a, b: a * np.sqrt(2.0) + np.arctan2(1.0, 2.0) * b,
    ],
)
def test_values_are_those_of_the_expression(function: Any):
    expression = traced(function, 2)
    terms = polynomial(expression)
    assert terms is not None
    for x in rng("polynomial").normal(size=(5, 2)):
        assert value(terms, x) == pytest.approx(function(*x), rel=1e-12, abs=1e-12)


def test_terms_that_cancel_are_gone():
    assert polynomial(traced(lambda a: a**9 + 2 * a - a**9, 1)) == {(1,): 2.0}
    assert polynomial(traced(lambda a: a - a, 1)) == {}


def test_functions_of_numbers_are_numbers():
    """What locking a joint leaves."""
    locked = traced(lambda a, b: np.sin(a) * b + np.cos(a), 2).with_input(0, 0.3)
    terms = polynomial(locked)
    assert terms == {(1,): pytest.approx(np.sin(0.3)), (0,): pytest.approx(np.cos(0.3))}
    assert locked.value(NumpyOps(), [0.5]) == pytest.approx(value(terms, [0.5]))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: np.sin(a),
        lambda a, b: a / b,
        lambda a, b: np.sqrt(a * a) + b,
        lambda a, b: np.arctan2(a, 1.0),
    ],
)
def test_others_are_none(function: Any):
    assert polynomial(traced(function, 2)) is None


def test_what_has_no_value_is_none():
    root = Expression(1, (("constant", (-1.0,)), ("sqrt", (0.0,))))
    by_zero = Expression(1, (("input", (0.0,)), ("subtract", (0.0, 0.0)), ("divide", (0.0, 1.0))))
    large = Expression(1, (("constant", (1e200,)), ("multiply", (0.0, 0.0))))
    assert polynomial(root) is polynomial(by_zero) is polynomial(large) is None


def test_what_would_have_too_many_terms_is_none():
    assert polynomial(traced(lambda *x: sum(x) ** 40, 6)) is None
