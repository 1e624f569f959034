"""Words about mechanisms that cannot be assembled."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.solve.closed.words import AssemblyWords, open_parts
from linkwork.solve.tasks.base import Group

GROUPS = (Group("rod", "m", 0, 1), Group("hinge rotation", "rad", 1, 3, chord=True))


def test_what_stays_open_is_named():
    assert open_parts(GROUPS, np.array([0.04, 1.0])) == [
        "'rod' 0.2 m",
        "'hinge rotation' 1.05 rad",
    ]
    assert open_parts(GROUPS, np.array([1e-26, 0.0])) == []
    assert open_parts(GROUPS, np.array([0.04, 0.0]), within=0.3) == []


def test_a_whole_sentence():
    m = lw.load("five_bar").mechanism
    words = AssemblyWords(m, GROUPS)
    q = np.array([1.5, 0.0, 0.0, 0.0])
    text = words(q, np.array([0.04, 0.0, 0.5]), np.zeros(2))
    assert text == (
        "it cannot be assembled from there: 'rod' 0.2 m open; a joint would be outside of its "
        "limits; at a limit there: left (upper)"
    )
