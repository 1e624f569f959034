"""The texts of assembling: what is given comes back, what is not moved stays."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.ops.numpy import NUMPY
from linkwork.solve.closed.assembly_texts import assembly_texts, given_positions
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks.closed import Closed


def made():
    m = lw.load("excavator").mechanism
    names = ("stick_slide", "swing", "boom_slide")
    given = given_positions(m, names)
    passive = [n for n in m.joint_names if n not in names]
    problem = make_problem(m, Closed(), joints=passive)
    return m, given, assembly_texts(problem, given), problem


def test_places_of_the_given_positions():
    m, given, texts, _ = made()
    assert [m.joint_names[k] for k in given] == ["stick_slide", "swing", "boom_slide"]
    assert texts.targets == ((3,),) and texts.n_q == 7 and texts.n == 4


def test_what_is_given_comes_back():
    _, given, texts, problem = made()
    q0, target = np.arange(7.0) / 10, np.array([0.3, 0.2, 0.1])
    start = texts.prepare(NUMPY, target, q0)
    np.testing.assert_array_equal(start["x0"], q0[list(problem.moved)])
    assert start["fault"][0] <= 0 and start["features"].shape == (0,)
    done = texts.verify(NUMPY, start["x0"], q0, start["parameters"], np.zeros(0))
    np.testing.assert_array_equal(done["q"][list(given)], target)
    np.testing.assert_array_equal(done["q"][list(problem.moved)], start["x0"])
    assert done["measures"].shape == (sum(len(t.groups) for t in problem.tasks) + 1,)
    assert done["measures"][-1] == 0.0


def test_a_position_outside_of_its_limits_is_told():
    m, _, texts, problem = made()
    q0 = np.zeros(m.n_q)
    target = np.array([0.0, 0.0, 0.6])
    start = texts.prepare(NUMPY, target, q0)
    done = texts.verify(NUMPY, start["x0"], q0, start["parameters"], np.zeros(0))
    assert done["measures"][-1] == np.float64(0.6) - m.upper[m.joint("boom_slide")]
    assert problem.mechanism is m
