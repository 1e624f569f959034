"""Words about mechanisms that cannot be assembled."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.solve.closed.words import AssemblyWords, open_parts, valueless
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


def test_couplings_without_a_value_are_named_with_where_their_leaders_are():
    robot = lw.load("planar_3r").with_coupling("joint3", ["joint1", "joint2"], lambda a, b: a / b)
    m = robot.mechanism
    assert valueless(m, np.array([0.5, 0.1, 7.0])) == ""
    text = "the coupling of joint3 has no value at joint1 = 0.5, joint2 = 0"
    assert valueless(m, np.array([0.5, 0.0, 7.0])) == text
    m = lw.load("planar_3r").with_coupling("joint3", "joint1", np.sqrt).mechanism
    assert valueless(m, np.zeros(3)) == "the coupling of joint3 has no slope at joint1 = 0"
    assert valueless(lw.load("four_bar").mechanism, np.zeros(3)) == ""
