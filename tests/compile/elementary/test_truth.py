"""Conditions are those of C, at every width and for NaN."""

from __future__ import annotations

import math

import numpy as np
import pytest

from emitted import WIDTHS, compiled, same_bits
from linkwork.compile.elementary.truth import (
    both,
    compare,
    differs,
    either,
    if_else_zero,
    negate,
)

NUMBERS = np.array([0.0, -0.0, 1.0, -2.5, 5e-324, 1e308, math.inf, -math.inf, math.nan])


def conditions(e, a, b):
    return [
        compare(e, "<", a, b),
        compare(e, "==", a, b),
        differs(e, a, b),
        negate(e, a),
        both(e, a, b),
        either(e, a, b),
        if_else_zero(e, a, b),
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_conditions_are_those_of_c(width):
    a, b = (m.ravel() for m in np.meshgrid(NUMBERS, NUMBERS))
    expected = [
        a < b,
        a == b,
        a != b,
        a == 0,
        (a != 0) & (b != 0),
        (a != 0) | (b != 0),
        np.where(a != 0, b, 0.0),
    ]
    found = compiled(conditions, 2, width, results=7)(a, b)
    assert all(same_bits(f, np.asarray(x, float)) for f, x in zip(found, expected, strict=True))
