"""How rows are measured: plain lengths, and angles by their chords."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwork.algorithms.residuals.residual import Group


def test_chords_and_plain_lengths():
    plain, chord = Group("a", "rad", 0, 3), Group("a", "rad", 0, 3, chord=True)
    for angle in (1e-9, 1e-4, 0.5, 3.0):
        assert plain.error(np.array(angle**2)) == pytest.approx(angle, rel=1e-12)
        squared = (2 * math.sin(angle / 2)) ** 2
        assert chord.error(np.array(squared)) == pytest.approx(angle, rel=1e-12)
        assert chord.threshold(angle) == pytest.approx(squared, rel=1e-12)
        assert plain.threshold(angle) == pytest.approx(angle**2, rel=1e-12)
    # half a turn is the most that there is, and rounding goes no further
    assert chord.threshold(10.0) == pytest.approx(4.0)
    assert chord.error(np.array([4.0 + 1e-15, -1e-30])).tolist() == [math.pi, 0.0]
