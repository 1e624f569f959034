"""What compiled code decides by itself, and what it leaves to singular values."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.compile.compiler import Compiler
from linkwork.errors import InputError, ShapeError
from linkwork.models import MODELS
from linkwork.solve.closed.quick_rates import Asked, QuickRates
from linkwork.solve.closed.rates import Rates

CLOSED = [name for name in MODELS if MODELS[name].closed]


def solved(robot, n: int) -> np.ndarray:
    m = robot.mechanism
    at = [m.q_start[m.joint(name)] for name in m.actuated]
    middle = robot.neutral()[at]
    inwards = np.where(middle + 0.02 > robot.limits.upper[at], -1.0, 1.0)
    given = middle + np.linspace(0.0, 0.02, n)[:, None] * inwards
    found = robot.assemble(given, q0=robot.neutral())
    assert found.success.all()
    return found.q


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", CLOSED)
def test_ordinary_configurations_are_not_in_doubt(name: str):
    robot, tip = lw.load(name), MODELS[name].tip
    q = solved(robot, 20)[3:]
    for asked in (None, Asked(tip, "local")):
        quick = QuickRates(robot.mechanism, asked, robot.mobility().passive_freedoms, Compiler())
        whole = quick(q)
        assert whole is not None and whole.doubtful is None
        assert whole.rates.shape == (17, robot.n_v if asked is None else 6, len(robot.actuated))
        one = quick(q[4])
        assert one is not None and one.doubtful is None
        np.testing.assert_array_equal(one.rates, whole.rates[4])


def test_what_is_in_doubt():
    robot = lw.load("slider_crank")
    q = robot.assemble([[0.0], [1e-6], [0.5]]).q
    quick = QuickRates(robot.with_actuated("slider").mechanism, None, 0, Compiler())
    found = quick(q)
    assert found is not None and found.doubtful is not None
    assert found.doubtful.tolist() == [True, False, False]
    ordinary = QuickRates(robot.mechanism, None, 0, Compiler())
    apart = ordinary(q + np.array([[0.0], [1e-5], [1e-8]]))
    assert apart is not None and apart.doubtful is not None
    assert apart.doubtful.tolist() == [False, True, False]
    assert ordinary(np.full(robot.n_q, np.nan)) is None
    assert ordinary(np.zeros(robot.n_q + 1)) is None


def test_singular_values_decide_what_is_in_doubt():
    robot = lw.load("slider_crank")
    q = robot.assemble([[0.3], [1e-5], [0.5]]).q
    driven, tip = robot.with_actuated("slider"), MODELS["slider_crank"].tip
    careful = Rates(driven.mechanism)._carefully(q)
    assert np.abs(careful).max() > 1e4
    scale = np.abs(careful).max(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(driven.passive_rates(q) / scale, careful / scale, atol=1e-10)
    for row, own in zip(q, careful, strict=True):
        np.testing.assert_allclose(driven.passive_rates(row), own, atol=1e-10 * np.abs(own).max())
        J = driven.actuation_jacobian(row, tip)
        np.testing.assert_allclose(J, driven.jacobian(row, tip) @ own, atol=1e-10 * np.abs(J).max())
    whole = driven.actuation_jacobian(q, tip)
    assert whole.shape == (3, 6, 1)
    np.testing.assert_allclose(whole[1], driven.actuation_jacobian(q[1], tip), rtol=1e-10)


def test_words():
    robot = lw.load("five_bar")
    q, tip = solved(robot, 3), MODELS["five_bar"].tip
    two = np.stack([q[0], np.ones(robot.n_q)])
    for call in (robot.passive_rates, lambda q: robot.actuation_jacobian(q, tip)):
        with pytest.raises(InputError, match=r"q of row \[1\] is not assembled: 'hinge"):
            call(two)
        with pytest.raises(InputError, match="q is not assembled"):
            call(two[1])
        with pytest.raises(InputError, match=r"q\[1, 2\] is not a finite number"):
            call(np.where(np.arange(8).reshape(2, 4) == 6, np.nan, two))
        with pytest.raises(ShapeError):
            call(np.zeros(9))
        assert call(q[:0]).shape[0] == 0
        np.testing.assert_array_equal(call(q[1].tolist()), call(q[1]))
    with pytest.raises(InputError, match="does not say which joints are actuated"):
        robot.with_actuated([]).passive_rates(q[0])
    held = lw.load("four_bar")
    at = held.assemble([0.3]).q
    with pytest.raises(InputError, match="cannot move independently"):
        held.with_actuated(["crank", "rocker"]).actuation_jacobian(at, "rocker_end")
